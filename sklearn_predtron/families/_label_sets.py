"""Sets of labels as indicators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from sklearn_predtron.families._fast_path import IndicatorReader, indicator_rows
from sklearn_predtron.families._labels import ClassReader
from sklearn_predtron.problems._base import Labels
from sklearn_predtron.problems._label_sets import Indicators, SparseIndicators


class SetReader(IndicatorReader):
    """Reads indicators of m labels, or one label that is on for the second of two classes."""

    def __init__(self, m: int, classes: NDArray | None = None):
        self.one = None if classes is None else ClassReader(classes)
        super().__init__(m, self.one)

    def read_any(self, y: Any) -> Labels:
        """Return sets in any form, of checked shape; refuse what is neither 0 nor 1."""
        if self.one is not None:
            return Indicators(self.one.read_any(flat(y, warn=True)).array.astype(np.uint8)[:, None])
        if sparse.issparse(y):
            return sparse_indicators(y)
        y = as_array(y)
        rows = indicator_rows(y)
        if rows is None:
            raise ValueError(f"y must hold zeros and ones, an indicator for each label; got {strange_values(y)}.")
        return Indicators(rows)


def as_array(y: Any) -> NDArray:
    """Return the labels as an array."""
    if isinstance(y, np.ma.MaskedArray):
        raise ValueError("y is a masked array; it must hold zeros and ones everywhere.")
    try:
        return np.asarray(y)
    except ValueError:
        raise ValueError(
            "y has rows of different lengths; it must be an indicator matrix (sklearn.preprocessing.MultiLabelBinarizer)."
        ) from None


def flat(y: Any, *, warn: bool) -> NDArray:
    """Return one label as an array of shape (n_samples,)."""
    return column_or_1d(y.toarray() if sparse.issparse(y) else y, warn=warn)


def sparse_indicators(y: Any) -> SparseIndicators:
    """Return what a CSR matrix of zeros and ones holds."""
    if not np.isin(y.data, (0, 1)).all():
        raise ValueError(f"y must hold zeros and ones, an indicator for each label; got {strange_values(y.data)}.")
    SparseIndicators(y.indptr.astype(np.intp), y.indices.astype(np.intp), y.shape[1])  # checks what the next lines trust
    y = y.astype(np.int64)
    y.sum_duplicates()
    y.eliminate_zeros()
    if y.data.size and y.data.max() > 1:
        raise ValueError("y must hold zeros and ones, an indicator for each label; got the same place twice.")
    return SparseIndicators(y.indptr.astype(np.intp), y.indices.astype(np.intp), y.shape[1])


def strange_values(y: NDArray) -> list[Any]:
    """Return some of what is neither 0 nor 1."""
    values = [value for value in np.ravel(y).tolist() if not (isinstance(value, (int, float, complex)) and value in (0, 1))]
    return list(dict.fromkeys(map(str, values)))[:5] if y.dtype.kind == "O" else values[:5]
