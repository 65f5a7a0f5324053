"""Label sets as indicators."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from sklearn_predtron._core.problem import Labels
from sklearn_predtron._support.encoding import refuse_missing
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.classes import ClassReader, MissingClasses, class_list, column_names, find_classes
from sklearn_predtron.families.labels.label_readers import IndicatorReader, indicator_rows
from sklearn_predtron.problems._label_sets import Indicators, SparseIndicators

MANY = 20_000  # rows
INDICATORS = "an indicator matrix, which sklearn.preprocessing.MultiLabelBinarizer makes of sets of labels"


class Sets(Codec):
    """The codec of sets of m labels.

    A single label has two classes.

    Parameters
    ----------
    n_labels : int
        Number m of labels.
    names : ndarray of shape (m,) or None
        Their names, if they have any.
    two : ndarray of shape (2,) or None
        If y has one dimension, the two values of the label, the second of which is on; otherwise None.
    kind : {"ndarray", "csr_array", "csr_matrix"}
        The type of predictions.
    dtype : str
        The dtype of predictions.
    """

    plan_kind = "sets"

    def __init__(self, n_labels: int, names: NDArray | None, two: NDArray | None, kind: str, dtype: str):
        self.n_labels, self.names, self.two, self.kind, self.dtype = n_labels, names, two, kind, dtype

    def check_saved(self, problem: Any) -> None:
        """Raise TypeError if a saved codec is damaged, or of another number of labels than the problem."""
        if self.n_labels != problem.n_labels:
            raise TypeError(f"the labels are {shortened(self.n_labels)}, and {problem.n_labels} are expected")
        if self.names is not None:
            self.check_array(self.names, self.n_labels, "names")
        if self.two is not None:
            self.check_array(self.two, 2, "classes")
        np.dtype(self.dtype)
        if self.kind != "ndarray" and not issubclass(getattr(sparse, self.kind), (sparse.spmatrix, sparse.sparray)):
            raise TypeError(f"where a type of matrices is expected there is {shortened(self.kind)}")

    @classmethod
    def first(cls, y: Any, names: NDArray | None, classes: Any, *, partial: bool) -> Sets:
        """Return the codec, and the encoded sets.

        The codec is that of the first label sets; `classes` are the values of one label.
        """
        dtype = "int64" if y.dtype.kind not in "iufb" else y.dtype.str
        if not is_one_label(y):
            kind = "ndarray"
            if sparse.issparse(y):
                kind = "csr_array" if isinstance(y, sparse.sparray) else "csr_matrix"
            return cls(y.shape[1], names, None, kind, dtype)
        if partial and classes is None:
            raise MissingClasses(" where y is one label")
        found = find_classes(classes if partial else flat(y, warn=False), targets=not partial, accepted=INDICATORS)[0]
        if len(found) != 2:
            what, where = "multiclass" if len(found) > 2 else "a single class", "classes" if partial else "y"
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{what}: one label must have two values, and {where} holds {len(found)} class(es); several labels make an "
                "indicator matrix (sklearn.preprocessing.MultiLabelBinarizer)."
            )
        return cls(1, None, found, "ndarray", dtype)

    @property
    def classes(self) -> NDArray:
        """The labels' numbers, or one label's values."""
        return np.arange(self.n_labels) if self.two is None else self.two

    @cached_property
    def _reader(self) -> SetReader:
        return SetReader(self.n_labels, self.two)

    def encode(self, y: Any) -> Labels:
        """Return label sets as indicators; raise ValueError for other labels."""
        names = column_names(y)
        y = as_sets(y)
        self.check_shape(y)
        if names is not None and not np.array_equal(names, names if self.names is None else self.names):
            raise ValueError(f"y has the columns {names.tolist()}, and learning began with {self.names.tolist()}.")  # type: ignore[union-attr]
        return self._reader.labels(y)

    def check_shape(self, y: Any) -> None:
        """Raise ValueError for another number of labels."""
        if (1 if y.ndim == 1 else y.shape[1]) != self.n_labels:
            hint = "; a single row has shape (1, n_labels)" if y.ndim == 1 else ""
            raise ValueError(f"y has shape {y.shape}, and learning began with {self.n_labels} label(s){hint}.")

    @property
    def pack(self) -> Any:
        """Return the function that stores a block of predicted indicators."""
        return np.asarray if self.kind == "ndarray" else sparse.csr_array

    def decode(self, predicted: Any) -> Any:
        """Return indicators in the form of the first labels."""
        if self.two is not None:
            return self.two[predicted[:, 0]]
        return (predicted if self.kind == "ndarray" else getattr(sparse, self.kind)(predicted)).astype(self.dtype)

    def extended(self, classes: Any) -> tuple[Codec, list[int]]:
        """Return the codec of more labels, and places.

        New labels follow the known ones; the places are those of the known ones.
        """
        known, names = self.n_labels, self.names
        given = list(classes) if np.iterable(classes) and not isinstance(classes, str) else []
        begin = list(range(known)) if names is None else names.tolist()
        rest = given[known:]
        follows = all(isinstance(name, str) for name in rest) if names is not None else rest == list(range(known, len(given)))
        if self.two is not None or given[:known] != begin or not follows or len(set(given)) < len(given):
            accepted = f"numbers 0, 1, ... of all labels to come, at least {known}"
            if names is not None:
                accepted = f"different names of all labels to come, which begin with those known, {shortened(begin)}"
            if self.two is not None:
                accepted = f"one label's, {self.two.tolist()}: a stream of several labels begins with an indicator matrix"
            raise ValueError(f"classes={shortened(classes)} must be {accepted}.")
        wider = None if names is None else np.array(given, dtype=object)
        return Sets(len(given), wider, None, self.kind, self.dtype), list(range(known))

    def strata(self, labels: Any, rows: NDArray) -> NDArray:
        """Return each row's rarest label as its stratum; there is one stratum for all if there are many rows."""
        if len(rows) > MANY:
            return np.zeros(len(rows), dtype=np.intp)
        positive = labels.dense()[rows] == 1
        return np.where(positive, positive.sum(axis=0), len(positive) + 1).argmin(axis=1)

    def short(self) -> SetReader:
        """Return the compiled reader of plain labels."""
        return self._reader


def as_sets(y: Any) -> Any:
    """Return label sets in the form of y; it is a CSR matrix or an array of one or two dimensions."""
    y = y.tocsr() if sparse.issparse(y) else set_array(y)
    if y.ndim not in (1, 2) or (y.ndim == 2 and y.shape[1] == 0):
        raise ValueError(f"y must have shape (n_samples, n_labels), or (n_samples,) for one label; got shape {y.shape}.")
    return y


def is_one_label(y: Any) -> bool:
    """Return whether y has a single label."""
    return y.shape[-1] == 1 or y.ndim == 1


def check_label_numbers(classes: Any, m: int) -> None:
    """Raise ValueError for invalid `classes` of indicators; they must be the m labels or the values 0 and 1."""
    given = [np.asarray(each, dtype=object).tolist() for each in classes] if np.iterable(classes) else []
    numbers = given == list(range(m))
    values = are_values(given) and len(set(given)) == 2
    if not (numbers or values or (len(given) == m and all(map(are_values, given)))):
        raise ValueError(
            f"classes={shortened(classes)} must be None, the numbers of the {m} labels, 0 to {m - 1}, their values, [0, 1], or a "
            "list of the values of each."
        )


def are_values(given: Any) -> bool:
    """Return whether it is a list of zeros and ones."""
    return isinstance(given, list) and len(given) > 0 and all(value in (0, 1) for value in given)


def values_of_one(classes: Any) -> NDArray:
    """Return the values of one label; they may be in a list, as in scikit-learn's multi-output classifiers."""
    alone = isinstance(classes, (list, tuple, np.ndarray)) and len(classes) == 1 and np.iterable(classes[0])
    return class_list(classes[0] if alone and not isinstance(classes[0], str) else classes)


class SetReader(IndicatorReader):
    """Reads indicators of m labels; a single label is on for the second of two classes."""

    def __init__(self, m: int, classes: NDArray | None = None):
        self.one = None if classes is None else ClassReader(classes)
        super().__init__(m, self.one)

    def read_any(self, y: Any) -> Labels:
        """Return label sets in any form; raise ValueError for an invalid shape, and for values other than 0 and 1."""
        if self.one is not None:
            return Indicators(self.one.read_any(flat(y, warn=True)).array.astype(np.uint8)[:, None])
        if sparse.issparse(y):
            return sparse_indicators(y)
        y = set_array(y)
        rows = indicator_rows(y)
        if rows is None:
            how = f"; accepted is {INDICATORS}" if y.dtype.kind in "OUST" else ""
            raise ValueError(f"y must hold zeros and ones, an indicator for each label; got {strange_values(y)}{how}.")
        return Indicators(rows)


def set_array(y: Any) -> NDArray:
    """Return the labels as an array."""
    if isinstance(y, np.ma.MaskedArray):
        raise ValueError("y is a masked array; it must hold zeros and ones everywhere.")
    if isinstance(y, (list, tuple)):
        refuse_missing(y)  # which NumPy would convert to the string "nan" among strings
    try:
        return np.asarray(y)
    except ValueError:
        raise ValueError(f"y has rows of different lengths; accepted is {INDICATORS}.") from None


def flat(y: Any, *, warn: bool) -> NDArray:
    """Return one label as an array of shape (n_samples,)."""
    if not sparse.issparse(y):
        refuse_missing(y)
    return column_or_1d(y.toarray() if sparse.issparse(y) else y, warn=warn)


def sparse_indicators(y: Any) -> SparseIndicators:
    """Return indicators from a CSR matrix; it holds zeros and ones."""
    if not np.isin(y.data, (0, 1)).all():
        raise ValueError(f"y must hold zeros and ones, an indicator for each label; got {strange_values(y.data)}.")
    SparseIndicators(y.indptr.astype(np.intp), y.indices.astype(np.intp), y.shape[1])  # the next lines rely on its checks
    y = y.astype(np.int64)
    y.sum_duplicates()
    y.eliminate_zeros()
    if y.data.size and y.data.max() > 1:
        raise ValueError("y must hold zeros and ones, an indicator for each label; got the same place twice.")
    return SparseIndicators(y.indptr.astype(np.intp), y.indices.astype(np.intp), y.shape[1])


def strange_values(y: NDArray) -> list[Any]:
    """Return some values that are neither 0 nor 1."""
    values = [value for value in np.ravel(y).tolist() if not (isinstance(value, (int, float, complex)) and value in (0, 1))]
    return list(dict.fromkeys(map(str, values)))[:5] if y.dtype.kind == "O" else values[:5]
