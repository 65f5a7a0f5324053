"""Fitted linear models from which an estimator starts; they are models of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor

from sklearn_predtron._support.compat import linear_classifier
from sklearn_predtron._support.queries import shortened

SEVERAL = (OneVsRestClassifier, MultiOutputClassifier, MultiOutputRegressor)
SAME = 1e-9  # relative to the largest weight: directions that differ by less are equal up to rounding


class Linear(NamedTuple):
    """Weights and offsets of scores; there is a row for each class, label or target, or one row for the second of two classes."""

    coef: NDArray
    intercept: NDArray

    def is_finite(self) -> bool:
        """Return whether all numbers are finite."""
        return bool(np.isfinite(self.coef).all() and np.isfinite(self.intercept).all())

    def is_close_to(self, found: tuple[Any, NDArray]) -> bool:
        """Return whether others are equal up to rounding; weights and offsets are compared."""
        W, b = found
        apart = [np.abs((W.toarray() if sparse.issparse(W) else W) - self.coef), np.abs(b - self.intercept)]
        largest = max(np.abs(array).max() for array in self)
        return all((differences <= SAME * largest).all() for differences in apart)

    def is_one_direction(self) -> bool:
        """Return whether scores have the same weights; they are equal up to rounding, and the offsets do not rise."""
        apart, largest = np.ptp(self.coef, axis=0).max(), np.abs(self.coef).max()
        return bool(apart <= SAME * largest and (np.diff(self.intercept) <= 0).all())

    def of_each_class(self, half: float) -> Linear:
        """Return a score for each class; of two classes it is `half` the score of the second, and its opposite."""
        if len(self.coef) > 1:
            return self
        signs = np.array([-half, half])
        return Linear(signs[:, None] * self.coef, signs * self.intercept)


@dataclass(frozen=True)
class LinearModelReader:
    """Reads the scores of a fitted linear model.

    A family is to start from the model.

    Parameters
    ----------
    model : estimator
        The linear model.
    family : str
        The class name of the family's estimator.
    accepted : str
        The models that the family accepts, for errors.
    """

    model: Any
    family: str
    accepted: str

    def refused(self) -> ValueError:
        """Return the error for an unsuitable model."""
        return ValueError(
            f"model={shortened(self.model)} is none that {self.family} can begin at; accepted are fitted {self.accepted}."
        )

    def of_classes(self) -> Linear:
        """Return the scores of the classes.

        Of two classes it is that of the second; raise ValueError if the model is no linear classifier.
        """
        if isinstance(self.model, OneVsRestClassifier):
            good = not self.model.multilabel_
        else:
            good = isinstance(self.model, linear_classifier()) and not self.is_ridge_of_label_sets
        if not good:
            raise self.refused()
        return self.stacked(linear_classifier())

    def stacked(self, kind: Any) -> Linear:
        """Return the scores of the model or its parts; raise ValueError if they are not of this kind."""
        parts = self.model.estimators_ if isinstance(self.model, SEVERAL) else [self.model]
        if not all(isinstance(part, kind) or is_constant(part) for part in parts) or all(map(is_constant, parts)):
            raise self.refused()
        width = next(np.shape(part.coef_)[-1] for part in parts if not is_constant(part))
        read = [scores_of(part, width) for part in parts]
        return Linear(*(np.concatenate(arrays) for arrays in zip(*read, strict=True)))

    def of_thresholds(self) -> Linear:
        """Return the decoded scores of ranks; one direction has r - 1 ordered thresholds, `theta_`."""
        theta = np.asarray(self.model.theta_, dtype=np.float64)
        if (np.diff(theta) < 0).any():
            raise ValueError(f"model={shortened(self.model)} has theta_={shortened(theta)}; thresholds must not fall.")
        d = len(theta)
        code = (2.0 * np.tri(d + 1, d, -1) - 1) / np.sqrt(d)
        coef = np.array(self.model.coef_, dtype=np.float64)
        return Linear(np.outer(code.sum(axis=1), coef), -code @ theta)

    def check_intercept(self, scores: Linear, *, fit_intercept: bool) -> Linear:
        """Return the scores; raise ValueError if they have offsets and the estimator has no intercept."""
        if not fit_intercept and scores.intercept.any():
            raise ValueError(f"fit_intercept=False leaves out the intercept of model={shortened(self.model)}; accepted is True.")
        return scores

    @property
    def is_ridge_of_label_sets(self) -> bool:
        """Whether it is a RidgeClassifier of label sets; such a model has the attributes of a model of classes."""
        return getattr(getattr(self.model, "_label_binarizer", None), "y_type_", "").startswith("multilabel")

    @property
    def predicts_label_sets(self) -> bool:
        """Whether it predicts label sets."""
        several = isinstance(self.model, MultiOutputClassifier) or getattr(self.model, "multilabel_", False)
        return several or self.is_ridge_of_label_sets

    def empty_set(self, m: int) -> Any:
        """Return an empty set of m labels; it has the form in which the model predicts sets."""
        if isinstance(self.model, MultiOutputClassifier):
            return np.zeros((1, m), dtype=np.result_type(*self.model.classes_))
        binarizer = getattr(self.model, "label_binarizer_", getattr(self.model, "_label_binarizer", None))
        empty = np.zeros((1, m), dtype=int)
        return sparse.csr_matrix(empty) if getattr(binarizer, "sparse_input_", False) else empty


def scores_of(part: Any, width: int) -> Linear:
    """Return the scores of one linear model; a constant model, of a label with one value, has only an offset."""
    if is_constant(part):
        return Linear(np.zeros((1, width)), 2.0 * np.ravel(part.y_)[:1] - 1)
    coef = part.coef_.toarray() if sparse.issparse(part.coef_) else part.coef_
    coef = np.array(np.atleast_2d(coef), dtype=np.float64)
    return Linear(coef, np.array(np.broadcast_to(np.ravel(part.intercept_), len(coef)), dtype=np.float64))


def is_constant(part: Any) -> bool:
    """Return whether it is a constant predictor; OneVsRestClassifier has one for a label that is always on or off."""
    return type(part).__name__ == "_ConstantPredictor"


def encoder(decode: Callable[[NDArray], NDArray], d: int, k: int) -> NDArray | None:
    """Return the matrix that encodes decoded scores.

    It turns scores of k classes into d scores, up to a common offset; None if there is none.
    """
    code = decode(np.eye(d))[:, :k].T
    exact = np.linalg.pinv(code)
    if np.allclose(code @ exact, np.eye(k)):
        return exact
    centre = np.eye(k) - 1 / k
    found = np.linalg.pinv(centre @ code)
    return found if np.allclose(centre @ code @ found, centre) else None
