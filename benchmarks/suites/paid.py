"""What a row costs where a miss costs twenty false alarms: by the most probable class, by least expected cost, by ours."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.report import Table
from benchmarks.tasks import Options
from sklearn_predtron import PredtronBinaryClassifier

TITLE = "What a row costs"
MISS, ASK, REJECTED = 20.0, 0.5, -1
COSTS = np.array([[0.0, 1.0], [MISS, 0.0]])
USUAL, DECIDED, TREES, OURS, ASKING = "usual", "least expected", "trees, least expected", "ours", "ours, or to ask"
FOLDS = 5
Data = tuple[NDArray, NDArray]


def run(options: Options) -> list[Table]:
    """The mean cost of a held-out row, by five ways to decide."""
    table = Table(
        TITLE,
        ["data", "rows", "share of the second class", USUAL, DECIDED, TREES, OURS, ASKING, "asked"],
        note=f"A missed row of the second class costs {MISS:.0f}, a false alarm 1, to ask {ASK}: mean cost of a row that was not "
        f"learned, by {FOLDS} folds.  {USUAL}: `predict` of `LogisticRegression`, standardised, the most probable class; "
        f"{DECIDED}: its class of least expected cost; {TREES}: the same of `HistGradientBoostingClassifier`; {OURS}: "
        "`PredtronBinaryClassifier(loss=costs)`, and with `reject` as well.",
    )
    for name, (X, y) in data(options):
        X, y = X[: options.rows(len(X))], y[: options.rows(len(X))]
        *costs, asked = found(X, y)
        table.rows.append([name, len(y), float(y.mean()), *costs, asked])
    return [table]


def data(options: Options) -> Iterator[tuple[str, Data]]:
    """Sets of scikit-learn's, of which the second class is what must not be missed, and generated ones."""
    tumours, benign = load_breast_cancer(return_X_y=True)
    digits, number = load_digits(return_X_y=True)
    patients, progress = load_diabetes(return_X_y=True)
    yield "tumours", (tumours, 1 - benign)
    yield "eights", (digits, (number == 8).astype(int))
    yield "diabetes", (patients, (progress > np.quantile(progress, 0.8)).astype(int))
    yield "noisy", make_classification(4000, n_informative=8, flip_y=0.15, random_state=0)
    yield "rare", make_classification(4000, n_informative=10, weights=[0.95], class_sep=0.6, random_state=0)


def found(X: NDArray, y: NDArray) -> list[float]:
    """Mean costs of a row, and the share of the rows that are asked about."""
    linear = likely(make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)), X, y)
    trees = likely(HistGradientBoostingClassifier(random_state=0), X, y)
    ours, asking = (
        cross_val_predict(PredtronBinaryClassifier(loss=COSTS, reject=reject, random_state=0), X, y, cv=folds())
        for reject in (None, ASK)
    )
    decided = [linear.argmax(axis=1), (linear @ COSTS).argmin(axis=1), (trees @ COSTS).argmin(axis=1), ours, asking]
    return [*(paid(predicted, y) for predicted in decided), float((asking == REJECTED).mean())]


def likely(estimator: BaseEstimator, X: NDArray, y: NDArray) -> NDArray:
    """Probabilities of rows that were not learned."""
    return cross_val_predict(estimator, X, y, cv=folds(), method="predict_proba")


def folds() -> StratifiedKFold:
    """The same for all."""
    return StratifiedKFold(FOLDS, shuffle=True, random_state=0)


def paid(predicted: NDArray, y: NDArray) -> float:
    """The mean cost of a row."""
    return float(np.where(predicted == REJECTED, ASK, COSTS[y, np.maximum(predicted, 0)]).mean())
