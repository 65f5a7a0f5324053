"""Output lines of the job: predictions or scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.cli._console import OutputClosedError, emit
from sklearn_predtron.datasets._broken_lines import BrokenLineError
from sklearn_predtron.datasets.formats.files import STANDARD, FileError, named

Write = Callable[[Iterable[str]], bool]


class RejectedChunkError(ValueError):
    """The model rejects a chunk, or there is none."""


ENDINGS = (BrokenLineError, RejectedChunkError, FileError, OutputClosedError, KeyboardInterrupt)  # of a job, before its end


def error_at(place: str, error: Exception) -> RejectedChunkError:
    """Return an error with the reason and the place."""
    return RejectedChunkError(f"{place}: {str(error).removesuffix('.')}")


@contextmanager
def lines_to(path: str | None) -> Iterator[Write]:
    """Yield a function that writes lines to a file or stdout; it returns whether somebody reads them."""
    if path is None:
        yield lambda lines: True
    elif path == STANDARD:
        yield write_out
    else:
        with lines_to_file(path) as write:
            yield write


def write_out(lines: Iterable[str]) -> bool:
    """Write lines to standard output."""
    with named("standard output"):
        try:
            emit("".join(lines))
        except BrokenPipeError:
            return False
    return True


@contextmanager
def lines_to_file(path: str) -> Iterator[Write]:
    """Yield a function that writes lines to a file or pipe."""
    what = f"--predictions={path!r}"
    with named(what):
        file = open(path, "w", encoding="utf-8", errors="surrogateescape")  # noqa: SIM115

    def write(lines: Iterable[str]) -> bool:
        with named(what):
            try:
                file.writelines(lines)
            except BrokenPipeError:
                return False
        return True

    try:
        yield write
    finally:
        with named(what), suppress(BrokenPipeError):
            file.close()


def format_predictions(predicted: Any, labels: NDArray | None) -> Iterator[str]:
    """Yield the predictions as lines of labels."""
    if labels is None:
        yield from (f"{format_label(label)}\n" for label in predicted)
        return
    dense = isinstance(predicted, np.ndarray)
    for on in map(np.flatnonzero, predicted) if dense else np.split(predicted.indices, predicted.indptr[1:-1]):
        yield ",".join(map(format_label, labels[on])) + "\n"


def format_scores(scores: NDArray) -> Iterator[str]:
    """Yield the scores of rows as lines."""
    for row in scores.reshape(len(scores), -1).tolist():
        yield " ".join(f"{score:.17g}" for score in row) + "\n"


def with_ids(ids: Sequence[str], lines: Iterable[str]) -> Iterator[str]:
    """Return lines that begin with ids; raise RejectedChunkError for ids that would be several cells or lines."""
    for name in ids:
        if any(end in name for end in "\t\r\n"):
            raise RejectedChunkError(f"the id {shortened(name)} has a tab or a line break, which end an id in predictions")
    return (f"{name}\t{line}" for name, line in zip(ids, lines, strict=True))


def with_empty_lines(lines: Iterable[str], start: NDArray, gaps: NDArray) -> Iterator[str]:
    """Yield lines of tokens, with an empty line for each line of the file that has no token."""
    tokens = iter(lines)
    yield "\n" * int(gaps[0])
    for n, gap in zip(np.diff(start).tolist(), gaps[1:].tolist(), strict=True):
        yield from islice(tokens, n)
        yield "\n" * gap


def format_label(label: str | float) -> str:
    """Return a label as in the files."""
    return label if isinstance(label, str) else f"{label:.17g}"
