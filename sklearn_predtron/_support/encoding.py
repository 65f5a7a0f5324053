"""Label encoding with known classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.problem import presence
from sklearn_predtron._support.queries import shortened_list

NUMBERED = "  If a meta-estimator has numbered them (calibration, bagging, voting), number the labels before it is fitted."


def encode(y: NDArray, classes: NDArray, parameter: str = "y") -> NDArray:
    """Return each label's number among classes in any order."""
    order = np.argsort(classes)
    try:
        codes = order[np.minimum(np.searchsorted(classes, y, sorter=order), len(classes) - 1)]
        known = classes[codes] == y
    except TypeError:
        place = {label: code for code, label in enumerate(classes.tolist())}
        codes = np.array([place.get(label, -1) for label in y.tolist()], dtype=np.intp)
        known = codes >= 0
    if not np.all(known):
        refuse_missing(y, parameter, classes)
        unknown = _distinct(y[~known])
        numbered = classes.dtype.kind in "OUST" and all(isinstance(i, int) and 0 <= i < len(classes) for i in unknown)
        raise ValueError(
            f"{parameter} contains labels that are not in classes_: {shortened_list(unknown)}; accepted are "
            f"{shortened_list(classes.tolist())}.{NUMBERED if numbered else ''}"
        )
    return codes


def distinct(values: NDArray) -> tuple[NDArray, NDArray]:
    """Return the distinct numbers, sorted, and the place of each value among them."""
    return distinct_in_range(values) or np.unique(values, return_inverse=True)


def distinct_in_range(values: NDArray) -> tuple[NDArray, NDArray] | None:
    """Return the same without sorting the values; return None if there are none, or if their range is wide."""
    if len(values) == 0:
        return None
    lowest, highest = values.min(), values.max()
    span = float(highest) - float(lowest) + 1
    if span > max(1024, 4 * len(values)) or abs(float(highest)) > 2**53:
        return None
    lowest, span = int(lowest), int(span)
    whole = np.ascontiguousarray(values, dtype=np.int64)
    present = presence(whole, lowest, span)
    found = (np.flatnonzero(present) + lowest).astype(values.dtype)
    places = (whole - lowest).astype(np.intp, copy=False)
    return found, places if len(found) == span else (np.cumsum(present) - 1)[places]


def plain_texts(y: Any) -> Any:
    """Return an array of NumPy's StringDType as one that scikit-learn takes, and others unchanged."""
    if getattr(getattr(y, "dtype", None), "kind", "") != "T":
        return y
    found = y.astype(object)
    return found.astype(str) if are_texts(found.ravel()) else found


def refuse_missing(y: Any, parameter: str = "y", classes: NDArray | None = None) -> None:
    """Raise ValueError for a missing label; None, NaN, NaT and pandas.NA are missing; other faults pass."""
    if isinstance(y, (list, tuple)):
        values: Any = y
    else:
        found = np.asarray(y)
        looked_at = found.dtype.kind == "O" or (found.dtype.kind == "f" and bool(np.isnan(found).any()))
        values = found.ravel() if looked_at else ()
    for i, value in enumerate(values):
        if is_missing_label(value):
            accepted = "strings or numbers, none of which is missing" if classes is None else shortened_list(classes.tolist())
            raise ValueError(f"{parameter} contains NaN: {value!r} at place {i} is a missing label; accepted are {accepted}.")


def are_texts(labels: NDArray) -> bool:
    """Return whether all labels are strings; they may be in an array of strings or of objects."""
    return all(isinstance(label, str) for label in labels.tolist())


def is_missing_label(label: Any) -> bool:
    """Return whether a label is missing."""
    return label is None or (isinstance(label, float) and label != label) or type(label).__name__ in ("NAType", "NaTType")


def _distinct(labels: NDArray) -> list[Any]:
    return list(dict.fromkeys(labels.tolist()))[:10]


def check_lengths(n_rows: int, n_labels: int) -> None:
    """Raise ValueError for rows and labels of different numbers."""
    if n_rows != n_labels:
        raise ValueError(f"X has {n_rows} rows and y has {n_labels}; both must have the same number.")
