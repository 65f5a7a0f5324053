"""python -m benchmarks run: choose suites, print their tables, write them into the README."""

import argparse
from pathlib import Path

from benchmarks.report import README, environment, replace
from benchmarks.suites import SUITES
from benchmarks.tasks import Options

HELP = "run suites beside the peers, all unless some are named"
QUICK = 0.02
FEWEST_REPEATS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suites", nargs="*", metavar="SUITE", type=suite, help=", ".join(SUITES))
    parser.add_argument("--data", type=Path, help="a folder of data sets with a load.py")
    parser.add_argument("--repeats", type=enough, default=FEWEST_REPEATS, help=f"at least {FEWEST_REPEATS}")
    parser.add_argument("--quick", action="store_true", help="small sizes: shows that all runs, not how fast")
    parser.add_argument("--write", action="store_true", help="replace the tables of the README")


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
        body = section(name, options)
        print(f"## {name}\n\n{body}", flush=True)
        if arguments.write:
            README.write_text(replace(README.read_text(), name, body))


def choose(arguments: argparse.Namespace) -> Options:
    """Options from the arguments."""
    small = {"scale": QUICK, "seeds": 2} if arguments.quick else {}
    return Options(repeats=arguments.repeats, data=arguments.data, **small)


def section(name: str, options: Options) -> str:
    """The tables of one suite, with what they were measured on."""
    tables = SUITES[name].run(options)
    return "\n".join([environment(options.repeats, options.scale) + "\n", *(table.markdown() for table in tables)])
