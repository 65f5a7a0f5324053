"""The options of each command."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from sklearn_predtron._support.one_line import one_line
from sklearn_predtron._support.version import __version__
from sklearn_predtron.cli._names import DECISIONS, FORMATS, LOSSES, MAPS, MOST_FEATURES, NORMS

HELP = """\
usage: predtron fit TRAIN ...        train a model on files
       predtron predict MODEL FILE   predict rows
       predtron score MODEL FILE     score predictions of rows with labels
       predtron demo                 compare with scikit-learn on bundled data

Cost-sensitive online learning on files of any size.

examples:
  predtron fit train.csv --label churned --holdout .2 --save churn.model
  predtron predict churn.model new.csv > predictions
  predtron score churn.model test.csv --compare train.csv
  predtron COMMAND --help

short form:
  predtron TRAIN ... [--test TEST] [--save MODEL]   as fit
  predtron --load MODEL FILE                        as predict, without labels
  predtron --load MODEL --test FILE                 as score
  predtron                                          as demo

Files are svmlight, csv, conll, json or vw, also .gz and .bz2, or - for standard
input.  Up to 256 MiB are trained in memory, and more in one pass of chunks.

exit codes:
  0  success
  1  a file, a line or a disk ended a part of the job early
  2  wrong arguments, or no rows to train on
  130, 143  Ctrl-C and SIGTERM: the model so far is kept
  141  nobody reads the output
"""
EXAMPLES = {
    "fit": """\
examples:
  predtron fit train.csv --label churned --holdout .2
  predtron fit train.svm --test test.svm --save model
  zcat big.svm.gz | predtron fit - --grow --save model
""",
    "predict": """\
examples:
  predtron predict model new.csv --id customer > predictions
  cut -d' ' -f2- test.svm | predtron predict model - --proba
""",
    "score": """\
examples:
  predtron score model test.csv
  predtron score model test.csv --compare train.csv --plot confusion.png
""",
    "demo": """\
example:
  predtron demo --plot ratios.png
""",
}
COMMANDS = tuple(EXAMPLES)
SHORT = ""  # the name of the short form


class Parser(argparse.ArgumentParser):
    """Parser whose error messages are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {one_line(message)} (--help shows the options)\n")


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help with one line for each option."""

    def __init__(self, prog: str):
        super().__init__(prog, max_help_position=22)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if isinstance(action, argparse.BooleanOptionalAction):
            return f"--[no-]{action.dest}"
        names = ", ".join(action.option_strings) or str(action.metavar)
        value = "" if action.nargs == 0 or not action.option_strings else f" {action.metavar or (action.dest).upper()}"
        return names + value + ("..." if action.nargs in ("+", "*") and action.option_strings else "")


class ShortParser(Parser):
    """Parser of the short form, whose help is that of the commands."""

    def format_help(self) -> str:
        return HELP


def costs(text: str) -> Any:
    """Return the parameter `loss` from the command line."""
    names = list(dict.fromkeys(name for known in LOSSES.values() for name in known))
    if text in names:
        return text
    try:
        return {pair: float(cost) for pair, cost in pairs_in(text).items()}
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not known; accepted are {', '.join(names)} and TRUE:PREDICTED=COST,..."
        ) from None


def columns(text: str) -> dict[tuple[str, str], str]:
    """Return the columns of the costs by pair."""
    try:
        return pairs_in(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not known; accepted is TRUE:PREDICTED=COLUMN,...") from None


def pairs_in(text: str) -> dict[tuple[str, str], str]:
    """Return the values of pairs of labels."""
    found = [re.fullmatch("([^:=]+):([^:=]+)=([^:=]+)", item) for item in text.split(",")]
    if None in found:
        raise ValueError(text)
    return {(pair[1], pair[2]): pair[3] for pair in found if pair}


def integer(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a parser of integers from `least` to `most`."""
    accepted = f"of at least {least}" if most is None else f"from {least} to {most}"

    def parsed(text: str) -> int:
        value = int(text) if re.fullmatch(r"\d{1,99}", text) else -1
        if value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"{text!r} must be an integer {accepted}")
        return value

    return parsed


def share_of_rows(text: str) -> float:
    """Parse a share of the rows."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number between 0 and 1")
    return value


def width_or_map(text: str) -> int | str:
    """Parse the width of the data, or a feature map."""
    if text in MAPS:
        return text
    try:
        return integer(1, MOST_FEATURES)(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}, or {' or '.join(map(repr, MAPS))}") from None


def label(text: str) -> str:
    """Parse a label: a finite number or one line of text."""
    try:
        is_label = math.isfinite(float(text))
    except ValueError:
        is_label = bool(text.strip()) and "\n" not in text and "\r" not in text
    if not is_label:
        raise argparse.ArgumentTypeError(f"{text!r} must be a finite number, or a word")
    return text


def cost_and_label(text: str) -> tuple[float, str | None]:
    """Parse the cost of an abstention, and its label if it is given."""
    cost, colon, name = text.partition(":")
    try:
        return float(cost), label(name) if colon else None
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be a cost, such as .2, or a cost and a label, .2:unsure") from None


def encoding(text: str) -> str:
    """Parse the encoding, in which line ends must be ASCII."""
    try:
        if "\n,0a".encode(text) == b"\n,0a":
            return text
    except LookupError:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is no encoding of Python in which ASCII is ASCII, as in utf-8 and latin-1")


def separator(text: str) -> str:
    """Parse the text between columns."""
    found = "\t" if text in ("tab", "\\t") else text
    if not found.strip("\r\n"):
        raise argparse.ArgumentTypeError(f"{text!r} must be a text, as between two columns, or tab")
    return found


def program() -> str:
    """Return the command as the user has typed it."""
    return "predtron" if Path(sys.argv[0]).stem == "predtron" else "python -m sklearn_predtron"


def build_parser(command: str) -> Parser:
    """Return the parser of a command; None is "not given"."""
    if command == SHORT:
        parser: Parser = ShortParser(prog=program())
        parser.add_argument("--version", action="version", version=__version__)
    else:
        usage = {"fit": "TRAIN ...", "predict": "MODEL FILE", "score": "MODEL FILE", "demo": ""}[command]
        parser = Parser(
            prog=f"{program()} {command}",
            usage=f"%(prog)s {usage} [options]".replace("  ", " "),
            epilog=EXAMPLES[command],
            formatter_class=Formatter,
        )
    if command == "demo":
        add_demo(parser)
    elif command in ("predict", "score"):
        parser.add_argument("load", metavar="MODEL", help=argparse.SUPPRESS)
        parser.add_argument("test", metavar="FILE", help=argparse.SUPPRESS)
        add_prediction(parser, command)
        add_reading(parser, command)
    else:
        parser.add_argument("train", nargs="*" if command == SHORT else "+", metavar="TRAIN", help=argparse.SUPPRESS)
        add_training(parser)
        add_reading(parser, command)
        if command == SHORT:
            parser.add_argument("--predictions", metavar="FILE")
            add_prediction(parser, command)
    report = parser.add_argument_group("report") if command != "demo" else parser
    if command != "predict":
        report.add_argument("--json", action="store_true", default=None, help="results as JSON instead of the table")
    report.add_argument("--quiet", action="store_true", default=None, help="no table and no progress")
    return parser


def add_demo(parser: Parser) -> None:
    """Add the options of the demo."""
    parser.add_argument("--seed", type=integer(0, 2**32 - 1), metavar="N", help="of the splits (default 0)")
    parser.add_argument("--plot", metavar="FILE", help="draw the ratios: .png, .svg or .pdf (extra plot)")


def add_prediction(parser: Parser, command: str) -> None:
    """Add the options of predictions and scores."""
    if command != "score":
        if command == "predict":
            parser.add_argument("--predictions", "-o", metavar="FILE", help="default: standard output")
        parser.add_argument("--scores", action="store_true", default=None, help="write scores (decision_function)")
        parser.add_argument("--proba", action="store_true", default=None, help="write probabilities, in the order of the labels")
        parser.add_argument("--id", metavar="COLUMN", help="column of csv to write before each prediction")
    if command != "predict":
        parser.add_argument("--plot", metavar="FILE", help="draw the confusion matrix (extra plot)")
        parser.add_argument("--compare", metavar="TRAIN", help="score a linear model of scikit-learn trained on TRAIN")


def add_training(parser: Parser) -> None:
    """Add the options of the model and its training."""
    group = parser.add_argument_group("score and model file")
    group.add_argument("--test", metavar="FILE", help="score on these rows")
    group.add_argument("--holdout", type=share_of_rows, metavar="SHARE", help="score on this share of TRAIN, such as .2")
    group.add_argument("--save", metavar="MODEL", help="write the model")
    group.add_argument("--load", metavar="MODEL", help="continue with a saved model")
    group = parser.add_argument_group("model")
    group.add_argument("--task", choices=list(LOSSES), metavar="NAME", help="ordinal, multilabel, rank, sequence, bipartite, ...")
    group.add_argument("--loss", type=costs, help="name of a loss, or TRUE:PREDICTED=COST,...")
    group.add_argument("--costs", type=columns, metavar="T:P=COL", help="columns with the costs of predicting P for T, ...")
    group.add_argument("--reject-cost", type=cost_and_label, metavar="COST", help="abstain where that costs less; or COST:LABEL")
    group.add_argument("--decision", choices=DECISIONS, metavar="NAME", help="f1, balanced, expected_cost, learned, ...")
    group.add_argument("--features", type=width_or_map, metavar="MAP", help="piecewise, auto or fourier; or the width")
    group.add_argument("--norm", choices=NORMS, metavar="NAME", help=", ".join(NORMS))
    ordered = "all labels; ordinal text in its order"
    group.add_argument("--classes", type=label, nargs="+", action="extend", metavar="LABEL", help=ordered)
    group = parser.add_argument_group("training")
    group.add_argument("--epochs", type=integer(1), metavar="N", help="passes over TRAIN (default: chosen by fit)")
    group.add_argument("--stream", action="store_true", default=None, help="one pass in chunks, as from standard input")
    group.add_argument("--seed", type=integer(0, 2**32 - 1), metavar="N", help="of shuffles and --holdout (default 0)")
    group.add_argument("--no-shuffle", dest="shuffle", action="store_false", default=None, help="keep the order of the rows")
    group.add_argument("--grow", action="store_true", default=None, help="svmlight: one pass; widen with new features")
    group.add_argument("--jobs", type=integer(1), metavar="N", help="svmlight: train files in parallel and mix")


def add_reading(parser: Parser, command: str) -> None:
    """Add the options of files."""
    group = parser.add_argument_group("files")
    group.add_argument("--format", choices=FORMATS, metavar="NAME", help=f"{', '.join(FORMATS)} (default: ending)")
    group.add_argument("--drop", nargs="+", action="extend", metavar="COLUMN", help="columns of csv that are no features")
    if command in ("fit", SHORT):
        group.add_argument("--label", metavar="COLUMN", help="column of the labels: name, number, first, last")
        group.add_argument("--template", metavar="FILE", help="conll: features of tokens, as for CRF++")
        group.add_argument("--sep", type=separator, metavar="TEXT", help="csv, conll: between columns (tab, ';', ...)")
    group.add_argument("--header", action=argparse.BooleanOptionalAction, help="csv: the first line has names")
    group.add_argument("--encoding", type=encoding, metavar="NAME", help="of the text (default utf-8)")
    if command != "predict":
        group.add_argument("--skip-unlabelled", action="store_true", default=None, help="leave out rows without a label")
    group.add_argument("--chunk", type=integer(1), metavar="ROWS", help="rows read at once (default 10000)")
