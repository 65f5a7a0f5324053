"""Class labels and their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from sklearn_predtron._queries import shortened, shortened_list
from sklearn_predtron.families._fast_path import CodeReader
from sklearn_predtron.problems._base import Codes, presence

NUMBERED = "  If a meta-estimator has numbered them (calibration, bagging, voting), number the labels before it is fitted."


class ClassReader(CodeReader):
    """Reads class labels, each as its number among the classes."""

    def __init__(self, classes: NDArray, class_weight: NDArray | None = None):
        super().__init__({label: code for code, label in enumerate(classes.tolist())}, class_weight)
        self.classes = classes

    def read_any(self, y: Any) -> Codes:
        """Return the numbers of labels in any form; refuse what is no class."""
        return Codes(encode(one_dimensional(y), self.classes))


def one_dimensional(y: Any) -> NDArray:
    """Return the labels as an array of shape (n,); what already is one passes."""
    return y if type(y) is np.ndarray and y.ndim == 1 else column_or_1d(y, warn=True)


def class_list(classes: Any) -> NDArray:
    """Return the parameter `classes` as an array of shape (n_classes,)."""
    try:
        found = np.asarray(classes)
    except ValueError:  # rows of different lengths
        found = np.empty(())
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1 or len(found) == 0:
        raise ValueError(f"classes={shortened(classes)} must be a list of all labels that will occur.")
    return found


def find_classes(y: NDArray, *, targets: bool = True) -> tuple[NDArray, NDArray]:
    """Return the sorted distinct labels, and the number of each row's; without a sort of all rows.

    y may be a list of classes in place of the targets of rows.
    """
    if len(y) == 0:
        raise ValueError("y is empty; it must have a label for each row of X.")
    if y.dtype.kind not in "iub":
        with np.errstate(invalid="ignore"):  # nan, which is refused
            check_classification_targets(y if targets else np.repeat(y, 3))  # no label twice: no regression
    if y.dtype.kind in "OUST":
        return _find_hashed(y)
    lowest, highest = y.min(), y.max()
    span = float(highest) - float(lowest) + 1
    if span > max(1024, 4 * len(y)) or abs(float(highest)) > 2**53:
        return np.unique(y, return_inverse=True)
    lowest, span = int(lowest), int(span)
    values = np.ascontiguousarray(y, dtype=np.int64)
    present = presence(values, lowest, span)
    classes = (np.flatnonzero(present) + lowest).astype(y.dtype)
    codes = (values - lowest).astype(np.intp, copy=False)
    return classes, codes if len(classes) == span else (np.cumsum(present) - 1)[codes]


def _find_hashed(y: NDArray) -> tuple[NDArray, NDArray]:
    labels = y.tolist()
    classes = np.unique(np.array(list(dict.fromkeys(labels)), dtype=y.dtype))
    place = {label: code for code, label in enumerate(classes.tolist())}
    return classes, np.array([place[label] for label in labels], dtype=np.intp)


def encode(y: NDArray, classes: NDArray, parameter: str = "y") -> NDArray:
    """Return the number of each label among known classes, in any order."""
    order = np.argsort(classes)
    try:
        codes = order[np.minimum(np.searchsorted(classes, y, sorter=order), len(classes) - 1)]
        known = classes[codes] == y
    except TypeError:
        place = {label: code for code, label in enumerate(classes.tolist())}
        codes = np.array([place.get(label, -1) for label in y.tolist()], dtype=np.intp)
        known = codes >= 0
    if not np.all(known):
        unknown = _distinct(y[~known])
        numbered = classes.dtype.kind in "OUST" and all(isinstance(i, int) and 0 <= i < len(classes) for i in unknown)
        raise ValueError(
            f"{parameter} contains labels that are not in classes_: {shortened_list(unknown)}; accepted are "
            f"{shortened_list(classes.tolist())}.{NUMBERED if numbered else ''}"
        )
    return codes


def _distinct(labels: NDArray) -> list[Any]:
    return list(dict.fromkeys(labels.tolist()))[:10]


def column_names(y: Any) -> NDArray | None:
    """Return the names of the columns of a data frame, or of an Arrow table, if they are text."""
    names = np.asarray(getattr(y, "column_names", getattr(y, "columns", [])), dtype=object)
    return names if len(names) > 0 and all(isinstance(name, str) for name in names) else None


def check_same_classes(classes: Any, known: NDArray) -> None:
    """Refuse other classes than those of the first call."""
    if classes is not None and set(class_list(classes).tolist()) != set(known.tolist()):
        raise ValueError(
            f"classes={shortened_list(class_list(classes).tolist())} is not the same as on the first call: "
            f"{shortened_list(known.tolist())}."
        )
