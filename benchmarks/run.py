"""The runner: choose suites, print their tables, write them into the README."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import README, environment, replace
from benchmarks.suites import SUITES
from benchmarks.tasks import Options

QUICK = 0.02
FEWEST_REPEATS = 5


def main(argv: Sequence[str] | None = None) -> None:
    """Run the suites that are named, or all."""
    arguments = parse(argv)
    options = choose(arguments)
    for name in arguments.suites or SUITES:
        body = section(name, options)
        print(f"## {name}\n\n{body}", flush=True)
        if arguments.write:
            README.write_text(replace(README.read_text(), name, body))


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Benchmarks of sklearn_predtron.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(SUITES))
    parser.add_argument("--data", type=Path, help="a folder of data sets with a load.py")
    parser.add_argument("--repeats", type=int, default=FEWEST_REPEATS, help="at least 5")
    parser.add_argument("--quick", action="store_true", help="small sizes: shows that all runs, not how fast")
    parser.add_argument("--write", action="store_true", help="replace the tables of the README")
    arguments = parser.parse_args(argv)
    unknown = [name for name in arguments.suites if name not in SUITES]
    if unknown:
        parser.error(f"no suite {', '.join(unknown)}; there are {', '.join(SUITES)}")
    if arguments.repeats < FEWEST_REPEATS:
        parser.error(f"--repeats {arguments.repeats} is below {FEWEST_REPEATS}")
    return arguments


def choose(arguments: argparse.Namespace) -> Options:
    """Options from the arguments."""
    small = {"scale": QUICK, "seeds": 2} if arguments.quick else {}
    return Options(repeats=arguments.repeats, data=arguments.data, **small)


def section(name: str, options: Options) -> str:
    """The tables of one suite, with what they were measured on."""
    tables = SUITES[name].run(options)
    return "\n".join([environment(options.repeats, options.scale) + "\n", *(table.markdown() for table in tables)])
