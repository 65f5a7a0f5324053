"""Lines that cannot be read: which, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.one_line import one_line
from sklearn_predtron.datasets._svmlight import MOST_FEATURES

LONGEST_REASON = 200  # characters: it may repeat a field


class BrokenLineError(ValueError):
    """A line of a data file cannot be read.

    Parameters
    ----------
    path : str
        The file.
    line_number : int
        The line, counted from 1.
    reason : str
        The reason of the error.

    See Also
    --------
    SvmlightReader : Raises it.
    SvmlightSummary : Holds the first one of a file.

    Examples
    --------
    >>> from sklearn_predtron.datasets import BrokenLineError
    >>> print(BrokenLineError("train.svm", 17, "expected INDEX:VALUE"))
    train.svm, line 17: expected INDEX:VALUE
    """

    def __init__(self, path: str, line_number: int, reason: str):
        super().__init__(path, line_number, reason)
        self.path = path
        self.line_number = line_number
        self.reason = reason

    def __str__(self) -> str:
        return one_line(f"{self.path}, line {self.line_number}: {self.reason}")


@dataclass(frozen=True)
class LineRules:
    """The form of a line, which explains errors by field."""

    n_features: int | None
    zero_based: bool
    classes: NDArray[np.float64] | None
    multilabel: bool
    relevance: bool
    dtype: np.dtype

    def check(self, line: bytes) -> None:
        """Raise an error if the line cannot be read."""
        from sklearn.datasets import load_svmlight_file  # a tenth of the import of the package, and few lines are broken

        X, y = load_svmlight_file(
            BytesIO(line), n_features=self.n_features, zero_based=self.zero_based, multilabel=self.multilabel, dtype=self.dtype
        )
        labels = np.array(y, dtype=np.float64).ravel()
        if not np.isfinite(labels).all():
            raise ValueError("the label is not finite")
        if self.relevance and (labels < 0).any():
            raise ValueError("the relevance is negative")
        if X.shape[1] > MOST_FEATURES:
            raise ValueError("the index is too large")
        if not np.isfinite(X.data).all():
            raise ValueError(f"the value is not a finite {self.dtype}")
        if self.classes is not None and not np.isin(labels, self.classes).all():
            raise ValueError(f"the label is not one of the classes {shortened(self.classes)}")

    def error(self, line: bytes) -> str | None:
        """Return why the line is unreadable, if it is."""
        try:
            self.check(line)
        except (ValueError, OverflowError) as error:
            return str(error)
        return None

    def explain(self, line: bytes) -> str:
        """Return the error of a line and its position in the line."""
        fields = line.partition(b"#")[0].split()
        wrong = first_true(len(fields), lambda n: self.error(b" ".join(fields[:n])) is not None)
        reason = self.error(b" ".join(fields[: wrong + 1]))
        if reason is None or "to unpack" in reason:
            reason = "expected INDEX:VALUE"
        elif "Invalid index" in reason:
            reason = f"the indices count from {0 if self.zero_based else 1} (zero_based={self.zero_based})"
        elif "too large" in reason:
            reason = f"the index is beyond {MOST_FEATURES - bool(self.zero_based)}"
        return f"{at_field(fields[wrong])}: {one_line(reason, LONGEST_REASON)}"


def first_true(n: int, holds: Callable[[int], bool]) -> int:
    """Return the least i for which holds(i + 1); it must hold for some i < n, and from there on."""
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return low


def shortened(labels: NDArray) -> str:
    """Return the first ten labels for a message."""
    return "[" + ", ".join(f"{label:g}" for label in labels[:10]) + (", ...]" if len(labels) > 10 else "]")


def at_field(field: bytes) -> str:
    """Return the position in a line, for a message."""
    return f"at {field[:40].decode(errors='replace')!r}"
