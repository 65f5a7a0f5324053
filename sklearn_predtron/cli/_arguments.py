"""The arguments of ``predtron``."""

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
from sklearn_predtron.cli._names import (
    FORMATS,
    LOSSES,
    MAPS,
    MAX_CLASSES,
    MOST_BYTES,
    MOST_FEATURES,
    NORMS,
    RANKING_REPRESENTATIONS,
    RANKING_UPDATES,
    UPDATES,
)

EPILOG = (
    "Without files the job compares estimators with scikit-learn's, on bundled and generated data.  "
    "Files are read in chunks, so that memory does not grow with them; a first pass over TRAIN finds width and labels unless "
    "--load, --grow, or --features and --classes (for rankings --features) give them.  A pipe is copied to a temporary file "
    "(TMPDIR names its folder) if it must be read more than once: for the first pass, and for several epochs.  Features of TEST "
    "that training did not have are left out.  A line that cannot be read ends the job; the model of the rows before it is "
    "kept, scored and saved.  Exit codes: 0 all was done; 1 a file, a line or a disk ended a part of it early; 2 the arguments "
    "do not fit, or TRAIN has no rows; 130 Ctrl-C; 141 nobody reads the output; 143 SIGTERM, which keeps the model as Ctrl-C "
    "does.  The table of files: rounds/s counts training only; progressive loss has each row of the first epoch predicted "
    "before its update; last iterate is the same by the last weights, without averages."
)


class Parser(argparse.ArgumentParser):
    """Parser whose error messages are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {one_line(message)} (--help shows the options)\n")


def average(text: str) -> Any:
    """Return the parameter `average` from the command line."""
    if text in ("auto", "linear", "uniform", "none"):
        return False if text == "none" else text
    try:
        half_life = float(text)
    except ValueError:
        half_life = math.nan
    if not 0 < half_life < math.inf:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not known; accepted are auto, linear, uniform, none and a half-life in rounds"
        )
    return half_life


def costs(text: str) -> Any:
    """Return the parameter `loss` from the command line."""
    names = list(dict.fromkeys(name for known in LOSSES.values() for name in known))
    if text in names:
        return text
    pairs = [re.fullmatch("([^:=]+):([^:=]+)=([^:=]+)", item) for item in text.split(",")]
    try:
        return {(pair[1], pair[2]): float(pair[3]) for pair in pairs}  # type: ignore[index]
    except (TypeError, ValueError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not known; accepted are {', '.join(names)} and TRUE:PREDICTED=COST,..."
        ) from None


def integer(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a parser of integers from `least` to `most`."""
    accepted = f"of at least {least}" if most is None else f"from {least} to {most}"

    def parsed(text: str) -> int:
        value = int(text) if re.fullmatch(r"\d{1,99}", text) else -1
        if value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"{text!r} must be an integer {accepted}")
        return value

    return parsed


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


def add_formats(parser: Parser) -> None:
    """Add the options of formats other than svmlight."""
    formats = parser.add_argument_group("other formats")
    formats.add_argument(
        "--format",
        choices=FORMATS,
        help="of all files (default: what the name of one ends in, .csv, .tsv, .conll, .jsonl, .ndjson or .vw, also before .gz "
        "and .bz2; else svmlight; with --load that of the saved estimator).  csv: tables, with commas, semicolons or tabs "
        "between columns; conll: tokens in columns with white space between them, the last of which is the label, and empty "
        "lines between sequences; json: an object a line, of features by name; vw: lines as Vowpal Wabbit has them",
    )
    formats.add_argument(
        "--label",
        metavar="COLUMN",
        help="of csv, the column of the labels: its name in the first line, or its number from 1, if there are no names; first; "
        "or last (default); of json, its name (default label); of conll its number from 1, first, or last (default)",
    )
    formats.add_argument(
        "--comment",
        metavar="PREFIX",
        help="of conll, how lines of comment begin, which stand before the tokens of a sequence (default: '# ' where the first "
        "sequence begins with such a line that is no token)",
    )
    formats.add_argument(
        "--sep", type=separator, metavar="TEXT", help="of conll, the text between columns; tab is a tab (default: white space)"
    )
    formats.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first line of csv names the columns (default: if it has no number, or a word where the second line "
        "has a number)",
    )
    formats.add_argument(
        "--drop", nargs="+", metavar="COLUMN", help="of csv, columns that are no features, by name or number, as --label has them"
    )
    formats.add_argument(
        "--id", metavar="COLUMN", help="of csv, a column that is no feature and stands before each prediction, with a tab"
    )
    formats.add_argument(
        "--skip-unlabelled",
        action="store_true",
        default=None,
        help="of csv, json and vw, leave out rows of TRAIN and TEST that have no label among others that do, and say how many",
    )
    formats.add_argument("--encoding", type=encoding, metavar="NAME", help="of text other than svmlight (default utf-8)")
    formats.add_argument(
        "--template",
        metavar="FILE",
        help="of conll, what features are made of tokens, in lines as those of CRF++: U01:%%x[-1,0]/%%x[0,0:suffix3]; or words "
        "(default): the usual ones",
    )


def build_parser() -> Parser:
    """Return the parser; None is "not given"."""
    parser = Parser(prog=program(), description="Mistake-driven online learning.", epilog=EPILOG)
    switch = argparse.BooleanOptionalAction
    parser.add_argument(
        "train",
        nargs="*",
        metavar="TRAIN",
        help="files to train on, one after the other, in svmlight format unless --format says another; .gz and .bz2 "
        "are read as they are, and - is standard input.  "
        "With --load a file whose first row has no label (sets of labels: none of the first 100 rows) is predicted",
    )
    parser.add_argument("--test", metavar="TEST", help="file for the held-out score, or without labels to predict")
    parser.add_argument("--save", metavar="MODEL", help="write the estimator, for --load and sklearn_predtron.load")
    parser.add_argument("--load", metavar="MODEL", help="go on with a saved estimator")
    parser.add_argument(
        "--pickle",
        action="store_true",
        default=None,
        help="MODEL of --load is a pickle, as joblib.dump writes it; it can run any program: load only what you trust",
    )
    parser.add_argument(
        "--predictions",
        metavar="FILE",
        help="write the prediction of each row of TEST, with commas if it is several labels; for rankings its score; to - with "
        "the table on standard error, as is the default for rows without labels",
    )
    parser.add_argument("--scores", action="store_true", default=None, help="write scores in the place of predicted labels")
    parser.add_argument(
        "--proba",
        action="store_true",
        default=None,
        help="write probabilities in the place of predicted labels: of each label in order, or, with --task multilabel, of each "
        "label to be there",
    )
    parser.add_argument("--json", action="store_true", default=None, help="write the results as JSON in the place of the table")
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="without TRAIN: draw the ratios of losses and times to those of peers, to a .png, .svg or .pdf (extra plot)",
    )
    parser.add_argument("--quiet", action="store_true", default=None, help="show neither table nor progress")
    learner = parser.add_argument_group("the learner")
    learner.add_argument(
        "--task",
        choices=list(LOSSES),
        help="default: rank if the first row has qid:, else binary for two labels, else multiclass; labels are numbers, "
        "or words if the first is one; ordinal: labels are ranks, in the order of the numbers or of --classes; multilabel: a row "
        "has any number of labels, with commas between them (1,3 5:0.2); rank: rows are documents of queries, with a relevance "
        "each (2 qid:10 5:0.2), and a run of rows with one id is a query; sequence: rows are tokens of sequences, with a label "
        "each (3 qid:10 5:0.2), and a run of rows with one id is a sequence; bipartite: two labels, "
        "for a measure of batches of 200 rows (the last of a chunk is shorter).  Tasks but rank and sequence skip qid:",
    )
    learner.add_argument(
        "--loss",
        type=costs,
        help=f"{', '.join(LOSSES['ordinal'])} (of ranks), or TRUE:PREDICTED=COST,... where other errors cost 1 "
        f"(--loss=-1:1=5); with --task multilabel {', '.join(LOSSES['multilabel'])}; with --task rank "
        f"{', '.join(LOSSES['rank'])}; with --task sequence {', '.join(LOSSES['sequence'])}; with --task "
        f"bipartite {', '.join(LOSSES['bipartite'])}",
    )
    learner.add_argument("--representation", choices=RANKING_REPRESENTATIONS, help="of rankings (default log)")
    learner.add_argument(
        "--update",
        choices=UPDATES,
        help=f"{', '.join(RANKING_UPDATES)} are for rankings only",
    )
    learner.add_argument("--norm", choices=NORMS)
    learner.add_argument("--average", type=average, help="auto (default), linear, uniform, none, or a half-life in rounds")
    learner.add_argument("--reject-cost", type=float, metavar="COST", help="may reject a row at this cost")
    learner.add_argument(
        "--reject-label", type=label, metavar="LABEL", help="what a rejected row is predicted as (-1, or reject for words)"
    )
    learner.add_argument(
        "--decision",
        choices=["learned", "expected_cost", "f1", "balanced", "macro_f1", "micro_f1", "fitted"],
        help="what becomes of scores; expected_cost, which costs and rejects imply, predicts what costs least in expectation",
    )
    learner.add_argument(
        "--costs",
        metavar="FILE",
        help="what answers cost in each row of TRAIN: a first line of pairs TRUE:PREDICTED (--task multilabel: LABEL:missed and "
        "LABEL:false), and a line of costs for each row, with white space or commas between them; pairs left out cost what "
        "--loss says.  What is predicted costs least in expectation; with --load and rows without labels, by the costs of these",
    )
    learner.add_argument("--test-costs", metavar="FILE", help="the same of the rows of TEST")
    learner.add_argument("--compare", action=switch, help="a learner of scikit-learn's beside it (default, except with --load)")
    stream = parser.add_argument_group("the stream")
    stream.add_argument("--epochs", type=integer(1), metavar="N", help="passes over TRAIN (default 1)")
    stream.add_argument("--shuffle", action=switch, help="shuffle the rounds within chunks (default)")
    stream.add_argument("--seed", type=integer(0, 2**32 - 1), help="of the shuffles (default 0)")
    stream.add_argument(
        "--grow",
        action="store_true",
        default=None,
        help="no first pass: features and, of tasks other than binary, ordinal, multilabel and sequence, labels that appear in "
        "mid-file make the estimator wider; --task is multiclass if the first row has no qid:, and --compare is not for it",
    )
    stream.add_argument(
        "--jobs",
        type=integer(1),
        metavar="N",
        help="train on the files of TRAIN in parallel, on N threads, and mix the models (ParameterMixing) in --epochs rounds",
    )
    stream.add_argument(
        "--cluster", metavar="ADDRESS", help="as --jobs, on the workers of a Dask scheduler: tcp://HOST:PORT (extra cluster)"
    )
    stream.add_argument(
        "--checkpoint", metavar="FILE", help="of --jobs and --cluster: written after each round, and gone on from if it is there"
    )
    stream.add_argument(
        "--cache",
        action="store_true",
        default=None,
        help="keep what is parsed in FILE.cache, for later epochs and later runs, which need not parse it again",
    )
    stream.add_argument(
        "--features",
        type=width_or_map,
        metavar="P",
        help="width of the data (what features with names are hashed to: of json and vw 2^18, of conll 2^20); or piecewise, auto "
        "or fourier, for tables: the features that are made of their columns.  What a line of svmlight leaves out is then 0; "
        "cells of csv may then be missing, or (piecewise, auto) words",
    )
    stream.add_argument(
        "--classes", type=label, nargs="+", metavar="LABEL", help="all labels, for ranks that are words in their order"
    )
    stream.add_argument(
        "--max-classes",
        type=integer(2),
        metavar="N",
        help=f"distinct labels that --grow, or a first pass, may find in TRAIN (default {MAX_CLASSES}): ids and measurements "
        "that are read as labels end the job, before they fill the memory",
    )
    add_formats(parser)
    stream.add_argument("--zero-based", action=switch, help="whether indices count from 0 (default: whether the index 0 occurs)")
    stream.add_argument(
        "--chunk",
        type=integer(1),
        metavar="LINES",
        help="lines in a chunk, whose last query or sequence is whole (default 10000)",
    )
    stream.add_argument(
        "--chunk-bytes",
        type=integer(1, MOST_BYTES),
        metavar="N",
        help="length of a chunk, and of a line, query or sequence, at most (default 8 MiB)",
    )
    parser.add_argument("--version", action="version", version=__version__)
    return parser
