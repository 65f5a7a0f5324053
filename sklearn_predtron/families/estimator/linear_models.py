"""Fitted linear models of scikit-learn, from which an estimator can start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._core.rows import Rows, csr_rows, dense_rows
from sklearn_predtron._support.compat import linear_classifier
from sklearn_predtron._support.names import series
from sklearn_predtron._support.parts import kinds, resolve
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.families.estimator.model import Model
from sklearn_predtron.families.input.reading import Columns
from sklearn_predtron.families.training.composition import BEGAN, chosen_norm, fixed_parameters, loss_of, new_learner
from sklearn_predtron.norms import Norm

SEVERAL = (OneVsRestClassifier, MultiOutputClassifier, MultiOutputRegressor)
SAME = 1e-9  # of the largest weight: by so much rounding sets equal directions apart


class Linear(NamedTuple):
    """Weights of scores, and offsets: a class, a label or a target each, or the second of two classes."""

    coef: NDArray
    intercept: NDArray


def begin_at(estimator: Any, model: Any) -> None:
    """Begin at a model, before anything was learned."""
    if estimator.features is not None:
        raise ValueError(f"features={estimator.features!r} cannot begin at the weights of a model, whose columns are its own.")
    norm = chosen_norm(estimator, sparse=True)
    part = resolve(Norm, norm, "norm")
    if not part.takes_weights:
        accepted = series([repr(kind.alias) for kind in kinds(Norm) if kind.takes_weights])
        raise ValueError(f"norm={estimator.norm!r} cannot begin at the weights of a model; accepted are {accepted}.")
    check_is_fitted(model)
    labels, scores = estimator._read_linear(model)
    if not (np.isfinite(scores.coef).all() and np.isfinite(scores.intercept).all()):
        raise ValueError(f"model={shortened(model)} has weights that are not finite.")
    names = np.array(model.feature_names_in_) if hasattr(model, "feature_names_in_") else None
    columns, problem = Columns(scores.coef.shape[1], names), estimator._build_problem(labels)
    rows = empty_rows(columns.n, is_sparse=sparse.issparse(getattr(model, "coef_", None)))
    observer = estimator._decision(labels).observer(problem, None)
    learner = new_learner(estimator, labels, problem, rows, norm, observer, partial=True)
    scores = Linear(*problem.score_map.learnable(*scores))
    learner.weights.begin_at(*scores)
    if not is_same(learner.read(lambda weights: weights.last()), scores):
        raise ValueError(
            f"norm={estimator.norm!r} cannot hold the weights of the model, of which it takes powers: the largest is "
            f"{np.abs(scores.coef).max():.3g}; scale the features, or take norm='l2'."
        )
    fixed = fixed_parameters(estimator, norm)
    estimator._model = Model(type(estimator).__name__, learner, labels, columns, norm, loss_of(estimator), fixed, BEGAN)


def with_own_intercept(estimator: Any, model: Any, scores: Linear) -> Linear:
    """Return scores, without offsets if the estimator has none, and refuse those that matter."""
    if not estimator.fit_intercept and scores.intercept.any():
        raise ValueError(f"fit_intercept=False leaves out the intercept of model={shortened(model)}; accepted is True.")
    return scores


def refused(estimator: Any, model: Any) -> ValueError:
    """Return the error of a model at which a family cannot begin."""
    return ValueError(
        f"model={shortened(model)} is none that {type(estimator).__name__} can begin at; accepted are fitted "
        f"{estimator._linear_models}."
    )


def of_classes(estimator: Any, model: Any) -> Linear:
    """Return the scores of the classes, of two that of the second; refuse what is no linear classifier of classes."""
    if isinstance(model, OneVsRestClassifier):
        good = not model.multilabel_
    else:
        good = isinstance(model, linear_classifier()) and not of_label_sets(model)
    if not good:
        raise refused(estimator, model)
    return stacked(estimator, model, linear_classifier())


def stacked(estimator: Any, model: Any, kind: Any) -> Linear:
    """Return the scores of a model, or of each of several, which must be of a kind of linear models."""
    parts = model.estimators_ if isinstance(model, SEVERAL) else [model]
    if not all(isinstance(part, kind) or is_constant(part) for part in parts) or all(map(is_constant, parts)):
        raise refused(estimator, model)
    width = next(np.shape(part.coef_)[-1] for part in parts if not is_constant(part))
    read = [scores_of(part, width) for part in parts]
    return Linear(*(np.concatenate(arrays) for arrays in zip(*read, strict=True)))


def empty_rows(p: int, *, is_sparse: bool) -> Rows:
    """Return no rows of p features, for weights that are laid for sparse ones or for dense ones."""
    return csr_rows(sparse.csr_matrix((0, p))) if is_sparse else dense_rows(np.empty((0, p)))


def scores_of(model: Any, width: int) -> Linear:
    """Return the scores of a model without others in it; one that saw a label of one value alone is an offset."""
    if is_constant(model):
        return Linear(np.zeros((1, width)), 2.0 * np.ravel(model.y_)[:1] - 1)
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    coef = np.array(np.atleast_2d(coef), dtype=np.float64)
    return Linear(coef, np.array(np.broadcast_to(np.ravel(model.intercept_), len(coef)), dtype=np.float64))


def is_constant(model: Any) -> bool:
    """Return whether it is what OneVsRestClassifier has for a label that is always on or off."""
    return type(model).__name__ == "_ConstantPredictor"


def of_label_sets(model: Any) -> bool:
    """Return whether it is a RidgeClassifier of sets of labels, which has the attributes of one of classes."""
    return getattr(getattr(model, "_label_binarizer", None), "y_type_", "").startswith("multilabel")


def of_each_class(scores: Linear, half: float) -> Linear:
    """Return a score for each class, of two classes `half` the score of the second and its opposite."""
    if len(scores.coef) > 1:
        return scores
    signs = np.array([-half, half])
    return Linear(signs[:, None] * scores.coef, signs * scores.intercept)


def encoder(decode: Callable[[NDArray], NDArray], d: int, k: int) -> NDArray | None:
    """Return the matrix that makes d scores of the decoded ones of k classes, but for what they have in common; None for none."""
    code = decode(np.eye(d))[:, :k].T
    exact = np.linalg.pinv(code)
    if np.allclose(code @ exact, np.eye(k)):
        return exact
    centre = np.eye(k) - 1 / k
    found = np.linalg.pinv(centre @ code)
    return found if np.allclose(centre @ code @ found, centre) else None


def of_thresholds(model: Any) -> Linear:
    """Return the decoded scores of ranks by one direction with r - 1 ordered thresholds, `theta_`."""
    theta = np.asarray(model.theta_, dtype=np.float64)
    if (np.diff(theta) < 0).any():
        raise ValueError(f"model={shortened(model)} has theta_={shortened(theta)}; thresholds must not fall.")
    d = len(theta)
    code = (2.0 * np.tri(d + 1, d, -1) - 1) / np.sqrt(d)
    coef = np.array(model.coef_, dtype=np.float64)
    return Linear(np.outer(code.sum(axis=1), coef), -code @ theta)


def is_same(found: tuple[Any, NDArray], given: Linear) -> bool:
    """Return whether weights are those given, but for rounding."""
    W, b = found
    apart = [np.abs((W.toarray() if sparse.issparse(W) else W) - given.coef), np.abs(b - given.intercept)]
    largest = max(np.abs(array).max() for array in given)
    return all((differences <= SAME * largest).all() for differences in apart)


def is_one_direction(scores: Linear) -> bool:
    """Return whether all scores have the same weights, but for rounding, and offsets that fall."""
    apart, largest = np.ptp(scores.coef, axis=0).max(), np.abs(scores.coef).max()
    return bool(apart <= SAME * largest and (np.diff(scores.intercept) <= 0).all())


def sets_of(model: Any, m: int) -> Any:
    """Return an empty set of m labels, in the form in which a linear model predicts sets."""
    if isinstance(model, MultiOutputClassifier):
        return np.zeros((1, m), dtype=np.result_type(*model.classes_))
    binarizer = getattr(model, "label_binarizer_", getattr(model, "_label_binarizer", None))
    empty = np.zeros((1, m), dtype=int)
    return sparse.csr_matrix(empty) if getattr(binarizer, "sparse_input_", False) else empty
