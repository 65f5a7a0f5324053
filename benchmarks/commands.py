"""The commands of python -m benchmarks."""

import argparse
from collections.abc import Sequence

from benchmarks import check, run, summary
from benchmarks.compare import command as compare

COMMANDS = {"run": run, "check": check, "compare": compare, "report": summary}


def main(argv: Sequence[str] | None = None) -> None:
    """Do what the arguments say."""
    arguments = parse(argv)
    arguments.execute(arguments)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments of the command that is named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Benchmarks of sklearn_predtron.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        one = commands.add_parser(name, help=command.HELP, description=command.HELP)
        command.add_arguments(one)
        one.set_defaults(execute=command.execute)
    return parser.parse_args(argv)
