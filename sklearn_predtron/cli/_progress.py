"""The progress bar of the main job."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, TextIO

from sklearn_predtron._support.one_line import one_line

if TYPE_CHECKING:
    from sklearn_predtron.cli._evaluation import ResultRow

LONGEST_NAME = 60  # of a file, in a line with other things


class ProgressBar:
    """A progress bar of one line, only on terminals."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False):
        self.stream = sys.stderr if stream is None else stream
        self.shown = not quiet and self.stream is not None and self.stream.isatty()
        self.drawn = -1.0

    def __call__(self, label: str, fraction: float | None, result: ResultRow | None = None) -> None:
        if not self.shown or monotonic() - self.drawn < 0.1:
            return
        self.drawn = monotonic()
        done = "" if fraction is None else f" [{'#' * round(20 * fraction):20}] {fraction:4.0%}"
        loss = f"  {result.rounds:,} rounds, loss {result.mean_loss(result.loss)}" if result else ""
        self.stream.write(f"\r{one_line(label, LONGEST_NAME)}{done}{loss}\x1b[K")
        self.stream.flush()

    def clear(self) -> None:
        """Clear the line."""
        if self.drawn >= 0:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
