"""python -m benchmarks run: choose suites, print their tables, keep them."""

import argparse
from pathlib import Path

from benchmarks.record import Record
from benchmarks.report import environment
from benchmarks.suites import SUITES
from benchmarks.tasks import Options

HELP = "run suites beside the baselines, all unless some are named"
QUICK = 0.02
FEWEST_REPEATS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suites", nargs="*", metavar="SUITE", type=suite, help=", ".join(SUITES))
    parser.add_argument("--data", type=Path, help="a folder of data sets with a load.py")
    parser.add_argument("--repeats", type=enough, default=FEWEST_REPEATS, help=f"at least {FEWEST_REPEATS}")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--quick", action="store_true", help="small sizes: shows that all runs, not how fast")
    kinds.add_argument("--record", action="store_true", help="keep the tables in benchmarks/results")


def suite(name: str) -> str:
    """A name of a suite."""
    if name not in SUITES:
        raise argparse.ArgumentTypeError(f"no suite {name!r}; there are {', '.join(SUITES)}")
    return name


def enough(number: str) -> int:
    """A number of repeats that has a median worth printing."""
    if int(number) < FEWEST_REPEATS:
        raise argparse.ArgumentTypeError(f"{number} is below {FEWEST_REPEATS}")
    return int(number)


def execute(arguments: argparse.Namespace) -> None:
    """Run the suites that are named, or all."""
    options = choose(arguments)
    for name in arguments.suites or SUITES:
        tables = SUITES[name].run(options)
        print("\n".join([f"## {name}\n\n{environment(options)}\n", *(table.markdown() for table in tables)]), flush=True)
        if arguments.record:
            Record.now(name, tables, options.repeats).save()


def choose(arguments: argparse.Namespace) -> Options:
    """Options from the arguments."""
    small = {"scale": QUICK, "seeds": 2} if arguments.quick else {}
    return Options(repeats=arguments.repeats, data=arguments.data, **small)
