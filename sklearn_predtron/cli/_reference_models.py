"""Common scikit-learn models for each benchmark, with their decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Perceptron, Ridge, SGDClassifier
from sklearn.metrics import precision_recall_curve
from sklearn.model_selection import cross_val_predict
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron.cli._demo_data import BLOCK, DatasetSplit


def fit(estimator: Any, split: DatasetSplit) -> Any:
    """Learn rows."""
    return estimator.fit(split.X, split.y)


def predict_split(estimator: Any, split: DatasetSplit) -> NDArray:
    """Predict rows."""
    return estimator.predict(split.X_test)


def predict_ahead(estimator: Any, split: DatasetSplit) -> NDArray:
    """Train on a stream; return predictions made before each block."""
    found: list[NDArray] = []
    for start in range(0, len(split.y), BLOCK):
        X, y = split.X[start : start + BLOCK], split.y[start : start + BLOCK]
        if start:
            found.append(estimator.predict(X))
        estimator.partial_fit(X, y, **({} if start else {"classes": np.unique(split.y)}))
    return np.concatenate(found)


def predicted_ahead(predictions: NDArray, split: DatasetSplit) -> NDArray:
    """Return the predictions made during training."""
    return predictions


@dataclass(frozen=True)
class ReferenceModel:
    """A reference model of a data set: how it fits and predicts."""

    name: str
    make: Callable[[int], Any]
    learn: Callable[[Any, DatasetSplit], Any] = fit
    predict: Callable[[Any, DatasetSplit], NDArray] = predict_split


def in_units(kind: type, **parameters: Any) -> Callable[[int], Any]:
    """Return a factory of linear models on standardised columns."""
    return lambda seed: make_pipeline(StandardScaler(), kind(**parameters))


def seeded(kind: type, **parameters: Any) -> Callable[[int], Any]:
    """Return a factory of models with a random seed."""
    return lambda seed: kind(**parameters, random_state=seed)


# ----------------------------------------------------------------------------------------------- decisions by probabilities


def cheapest(costs: NDArray, answers: NDArray, estimator: Any, split: DatasetSplit) -> NDArray:
    """Return the columns of lowest expected cost (Chow's rule)."""
    return answers[(estimator.predict_proba(split.X_test) @ costs).argmin(axis=1)]


def medians(estimator: Any, split: DatasetSplit) -> NDArray:
    """Return the median ranks, which minimise expected distance."""
    return estimator.classes_[(estimator.predict_proba(split.X_test).cumsum(axis=1) < 0.5).sum(axis=1)]


def rounded(estimator: Any, split: DatasetSplit) -> NDArray:
    """Return the ranks nearest to a regression of them."""
    return np.clip(np.rint(estimator.predict(split.X_test)), split.y.min(), split.y.max()).astype(np.int64)


def fit_and_cut(estimator: Any, split: DatasetSplit) -> tuple[Any, float]:
    """Fit, and choose the cut of largest F1 by folds."""
    ahead = cross_val_predict(estimator, split.X, split.y, method="predict_proba")[:, 1]
    precision, recall, cuts = precision_recall_curve(split.y, ahead)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    return fit(estimator, split), cuts[f1[:-1].argmax()]


def above_cut(learned: tuple[Any, float], split: DatasetSplit) -> NDArray:
    """Return the rows whose probability reaches the cut."""
    estimator, cut = learned
    return (estimator.predict_proba(split.X_test)[:, 1] >= cut).astype(np.int64)


# -------------------------------------------------------------------------------------------------------------- tokens in windows


def windows(X: NDArray, ids: NDArray) -> NDArray:
    """Return each token's features with those of its neighbours."""
    ends = ids[1:] != ids[:-1]
    before, after = np.zeros_like(X), np.zeros_like(X)
    before[1:], after[:-1] = X[:-1], X[1:]
    before[1:][ends], after[:-1][ends] = 0, 0
    return np.hstack([before, X, after])


def fit_windows(estimator: Any, split: DatasetSplit) -> Any:
    """Train on the windows of tokens."""
    assert split.ids is not None
    return estimator.fit(windows(split.X, split.ids), split.y)


def predict_windows(estimator: Any, split: DatasetSplit) -> NDArray:
    """Predict the windows of tokens."""
    assert split.ids_test is not None
    return estimator.predict(windows(split.X_test, split.ids_test))


# --------------------------------------------------------------------------------------------------------------------- learners

LOGISTIC = ReferenceModel("LogisticRegression", in_units(LogisticRegression))
TREES = "HistGradientBoosting"
OF_RANKS = (
    ReferenceModel("LogisticRegression, median", LOGISTIC.make, predict=medians),
    ReferenceModel("Ridge, rounded", in_units(Ridge), predict=rounded),
)
OF_SETS = (
    ReferenceModel(
        "LogisticRegression per label", lambda seed: make_pipeline(StandardScaler(), MultiOutputClassifier(LogisticRegression()))
    ),
)
OF_QUERIES = (ReferenceModel("Ridge", in_units(Ridge)), ReferenceModel(TREES, seeded(HistGradientBoostingRegressor)))
OF_TOKENS = (LOGISTIC, ReferenceModel("LogisticRegression, window", LOGISTIC.make, fit_windows, predict_windows))
OF_RARE = (
    ReferenceModel("LogisticRegression, balanced", in_units(LogisticRegression, class_weight="balanced")),
    ReferenceModel("LogisticRegression, tuned cut", LOGISTIC.make, fit_and_cut, above_cut),
)
OF_TABLES = (ReferenceModel(TREES, seeded(HistGradientBoostingClassifier)),)
OF_STREAMS = (
    ReferenceModel("Perceptron", seeded(Perceptron), predict_ahead, predicted_ahead),
    ReferenceModel("SGDClassifier", seeded(SGDClassifier), predict_ahead, predicted_ahead),
)


def of_costs(costs: NDArray, answers: NDArray) -> tuple[ReferenceModel, ...]:
    """Return the model that minimises expected cost."""
    return (ReferenceModel("LogisticRegression, Chow", LOGISTIC.make, predict=partial(cheapest, costs, answers)),)
