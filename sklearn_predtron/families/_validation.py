"""What a call is given: rows, labels, weights and their lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import validate_data

from sklearn_predtron._compat import check_sample_weight
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.rows import LARGEST_LENGTH, LEAST_LENGTH, Rows, csr_rows, dense_rows
from sklearn_predtron._parts import resolve
from sklearn_predtron.families._fast_path import plain_rows
from sklearn_predtron.families._row_formats import warn_of_format
from sklearn_predtron.norms import Auto, Norm
from sklearn_predtron.norms._base import euclidean_length
from sklearn_predtron.problems._base import Labels


class MissingClasses(ValueError):
    """Says that a stream must be told all labels."""

    def __init__(self, where: str = ""):
        super().__init__(f"classes must be passed on the first call to partial_fit{where}.")


class Batch(NamedTuple):
    """What a call learns from, checked."""

    X: Any
    rows: Rows
    labels: Labels
    weight: NDArray | None
    order: NDArray | None  # the rows of positive weight; None is all


class Validated:
    """Reads and checks what `fit`, `partial_fit` and predictions are given."""

    _learner: Learner
    norm: Any
    n_features_in_: Any
    _first_sparse: bool | None
    _shown_norm: Callable[[], Any]
    _read_labels: Callable[..., Labels]
    _label_weight: Callable[..., NDArray | None]

    def _read(
        self, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None, fresh: bool, partial: bool = False
    ) -> Batch:
        """Check the arguments and return what they hold."""
        self._check_labels_given(y)
        X, rows = self._read_rows(X, reset=fresh)
        labels = self._read_labels(y, classes, fresh=fresh, partial=partial)
        check_lengths(rows.n, labels.n)
        weight = None
        if sample_weight is not None:
            weight = np.ascontiguousarray(check_sample_weight(sample_weight, X))
        of_label = self._label_weight(labels, weight, partial=partial)
        if of_label is not None:
            weight = of_label if weight is None else product(weight, of_label)
        order = None
        if weight is not None and not weight.all():
            order = np.flatnonzero(weight)
            if len(order) == 0 and not partial:
                raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
        return Batch(X, rows, labels, weight, order)

    def _read_rows(self, X: Any, *, reset: bool) -> tuple[Any, Rows]:
        """Check X and read it in place; its values may still be NaN or infinite."""
        rows = plain_rows(X)
        if rows is not None and reset:
            self.n_features_in_ = rows.p
            self.__dict__.pop("feature_names_in_", None)
        elif rows is None or rows.p != self.n_features_in_ or hasattr(self, "feature_names_in_"):
            X = validate_data(
                self,
                X,
                reset=reset,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                order="C",
                ensure_all_finite=False,
            )
            rows = as_rows(X)
        return X, rows

    def _note_format(self, rows: Rows) -> None:
        """Warn once of rows in another format than those that fixed "auto"."""
        first = self.__dict__.get("_first_sparse")
        if first is not None and rows.sparse != first and isinstance(resolve(Norm, self.norm, "norm"), Auto):
            warn_of_format(first, self._shown_norm(), rows.sparse)
            self._first_sparse = None
            self.__dict__.pop("_stream", None)  # which takes rows of the first format only

    def _rows_and_labels(self, X: Any, y: Any) -> tuple[Any, Labels]:
        """Return rows, finite, and labels, in the order of the rounds."""
        X, rows = self._read_rows(X, reset=False)
        self._check_finite(X, rows)
        labels = self._read_labels(y, None, fresh=False, partial=True)
        check_lengths(rows.n, labels.n)
        return X, labels

    def _check_labels_given(self, y: Any) -> None:
        """Refuse y=None as scikit-learn does."""
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")

    def _check_finite(self, X: Any, rows: Rows) -> None:
        """Refuse NaN and infinity."""
        if not rows.finite():
            with np.errstate(invalid="ignore"):  # it adds up all values first
                assert_all_finite(X.data if sparse.issparse(X) else X, estimator_name=type(self).__name__, input_name="X")

    def _check_rows(self, X: Any, rows: Rows) -> None:
        """Refuse rows that cannot be learned from, whatever the weights."""
        row = self._learner.weights.first_refused(rows)
        if row >= 0:
            self._check_finite(X, rows)
            raise ValueError(self._length_refused(rows, row))

    def _length_refused(self, rows: Rows, row: int) -> str:
        """Say what is wrong with the length of a row."""
        values = rows.matrix()[[row]]
        if sparse.issparse(values):
            values.sum_duplicates()
        values = np.asarray(values.data if sparse.issparse(values) else values, dtype=np.float64)
        number, length = row if rows.row_numbers is None else rows.row_numbers[row], euclidean_length(values)
        return (
            f"X[{number}] has the length {length:.3g}, and {np.abs(values).max():.3g} is its largest magnitude; "
            f"norm={self._shown_norm()!r} learns from rows of lengths from {LEAST_LENGTH:g} to {LARGEST_LENGTH:g}, and of zeros: "
            "scale the features."
        )


def check_lengths(n_rows: int, n_labels: int) -> None:
    """Refuse rows and labels of different numbers."""
    if n_rows != n_labels:
        raise ValueError(f"X has {n_rows} rows and y has {n_labels}; both must have the same number.")


def product(sample_weight: NDArray, of_label: NDArray) -> NDArray:
    """Return the weights of rows that have one each and one of their class."""
    with np.errstate(over="ignore"):
        weight = sample_weight * of_label
    if not np.isfinite(weight).all():
        raise ValueError(f"sample_weight={sample_weight.max():g} times the weight of a class overflows; scale the weights down.")
    return weight


def mean_loss(losses: NDArray, sample_weight: Any) -> float:
    """Return the weighted mean."""
    if sample_weight is None:
        return float(losses.mean())
    weight = check_sample_weight(sample_weight, losses)
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
    return float(np.average(losses, weights=weight))


def as_rows(X: Any) -> Rows:
    """Return the rows of a validated X, read in place but for CSR rows in which a feature stands twice, which are summed."""
    return csr_rows(X) if sparse.issparse(X) else dense_rows(X)


def refuse_dicts(X: list) -> None:
    """Refuse tokens, or sentences of them, that are no rows yet."""
    tokens = X[0] if X and isinstance(X[0], list) else X
    if tokens and isinstance(tokens[0], Mapping):
        raise ValueError(
            "X holds dicts; accepted are rows of numbers: datasets.stack_sequences makes one list of tokens of a list of "
            "sentences, and DictVectorizer or FeatureHasher makes rows of them."
        )
