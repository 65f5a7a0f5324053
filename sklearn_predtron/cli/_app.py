"""The command line, from its arguments to the exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn_predtron._support.quiet_start import raise_interrupts
from sklearn_predtron.cli._console import UsageError, complain, report, terminable, warnings_in_a_line
from sklearn_predtron.cli._options import COMMANDS, SHORT, build_parser
from sklearn_predtron.cli._progress import ProgressBar

if TYPE_CHECKING:
    from sklearn_predtron.cli._settings import Job


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    command = words.pop(0) if words and words[0] in COMMANDS else SHORT
    bar = None
    try:
        parser = build_parser(command)
        args = parsed(parser, words)
        bar = ProgressBar(quiet=bool(args.quiet))
        # Help and errors of single arguments have ended by now, without these imports, which take long.
        from sklearn_predtron.cli._predict import predict

        raise_interrupts()
        job = job_of(command, args)
        with terminable(), warnings_in_a_line(bar.clear):
            found = predict(job, args_given(args), bar)
        if isinstance(found, int):
            return found
        from sklearn_predtron.cli._checks import check_job  # all other jobs need scikit-learn
        from sklearn_predtron.cli._run import run

        check_job(job, args_given(args))
        with terminable(), warnings_in_a_line(bar.clear):
            if job.source.train or job.model.load:
                return run(job, bar, found)
            from sklearn_predtron.cli._demo import run_demo  # scikit-learn's data sets, which files do without

            return run_demo(job, bar)
    except UsageError as error:
        if bar is not None:
            bar.clear()
        parser.error(str(error))
    except KeyboardInterrupt as stop:
        if bar is not None:
            bar.clear()
        return complain(stop)


def parsed(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """Return the parsed arguments; end the program after --help, which has been written, if somebody reads it."""
    try:
        return parser.parse_args(words)
    except SystemExit as stop:
        raise SystemExit(report("") or stop.code) from None


def args_given(args: argparse.Namespace) -> frozenset[str]:
    """Return the names of the arguments that were given."""
    return frozenset(name for name, value in vars(args).items() if not (value is None or value == []))


def job_of(command: str, args: argparse.Namespace) -> Job:
    """Return the job of parsed arguments."""
    from sklearn_predtron.cli._settings import Job, ModelSettings, Output, Source, typed_labels
    from sklearn_predtron.datasets.formats.base import CHUNK_ROWS

    given = {name: value for name, value in vars(args).items() if value is not None}
    if given.get("scores") and given.get("proba"):
        raise UsageError("--scores and --proba are two things to write in the place of predictions; accepted is one of them")
    options = {name: given[name] for name in OF_FORMATS if name in given}
    parameters: dict[str, Any] = {name: given[name] for name in ("loss", "norm", "decision") if name in given}
    if "features" in given:
        (parameters if isinstance(given["features"], str) else options).update(
            {"features" if isinstance(given["features"], str) else "n_features": given["features"]}
        )
    source = Source(
        train=tuple(given.get("train", ())),
        test=given.get("test"),
        holdout=given.get("holdout", 0.0),
        costs=given.get("costs"),
        format=given.get("format"),
        options=options,
        classes=typed_labels(given["classes"]) if "classes" in given else None,
        chunk_rows=given.get("chunk", CHUNK_ROWS),
    )
    given["reject_cost"], given["reject_label"] = given.get("reject_cost", (None, None))
    names = ("load", "task", "reject_cost", "reject_label", *TRAINING)
    model = ModelSettings(
        parameters=parameters,
        **{name: given[name] for name in names if name in given},
    )
    written = "scores" if "scores" in given else "probabilities" if "proba" in given else "predictions"
    output = Output(written=written, **{name: given[name] for name in WRITING if name in given})
    return Job(command, source, model, output)


OF_FORMATS = ("label", "drop", "template", "sep", "header", "encoding", "skip_unlabelled", "id")
TRAINING = ("epochs", "stream", "shuffle", "seed", "grow", "jobs")
WRITING = ("save", "predictions", "compare", "plot", "json", "quiet")
