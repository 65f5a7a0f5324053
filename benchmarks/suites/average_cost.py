"""The average cost per row if a miss costs as much as twenty false alarms, of six decision rules."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.contestants.logistic_regression_cv import WITHOUT_WARNING
from benchmarks.report import Table
from benchmarks.tasks import Options
from sklearn_predtron import PredtronBinaryClassifier

TITLE = "Average cost per row"
MISS, REJECT, REJECTED = 20.0, 0.5, -1
COSTS = np.array([[0.0, 1.0], [MISS, 0.0]])
RANGES = "Least and largest average cost of the splits"
PROBABLE, DECIDED, TREES = "most probable class", "lowest expected cost", "trees, lowest expected cost"
TUNED = "tuned, lowest expected cost"
OURS, REJECTING = "ours", "ours, with abstention"
FOLDS, SPLITS = 5, 5
RULES = [PROBABLE, DECIDED, TUNED, TREES, OURS, REJECTING]
Data = tuple[NDArray, NDArray]


def run(options: Options) -> list[Table]:
    """Return the average cost per held-out row of six decision rules."""
    table = Table(
        TITLE,
        ["data", "rows", "share of the second class", *RULES, "abstained"],
        note=f"A missed row of the second class costs {MISS:.0f}, a false alarm 1, an abstention {REJECT}.  Average cost per "
        f"held-out row, mean over {SPLITS} splits into {FOLDS} folds.  {PROBABLE}: `predict` of `LogisticRegression`, "
        f"standardised; {DECIDED}: its class with the lowest expected cost; {TUNED}: the same for `LogisticRegressionCV` by log "
        f"loss; {TREES}: the same for `HistGradientBoostingClassifier`; {OURS}: `PredtronBinaryClassifier(loss=costs)`; "
        f"{REJECTING}: the same with `reject={REJECT}`.",
    )
    ranges = Table(RANGES, ["data", *RULES])
    for name, (X, y) in data(options):
        X, y = X[: options.rows(len(X))], y[: options.rows(len(X))]
        found = np.array([measured(X, y, seed) for seed in range(SPLITS)])
        table.rows.append([name, len(y), float(y.mean()), *found.mean(axis=0).tolist()])
        ends = zip(found.min(axis=0)[:-1], found.max(axis=0)[:-1], strict=True)
        ranges.rows.append([name, *(f"{least:.3g}-{most:.3g}" for least, most in ends)])
    return [table, ranges]


def data(options: Options) -> Iterator[tuple[str, Data]]:
    """Yield data sets of scikit-learn, whose second class must not be missed, and generated ones."""
    tumours, benign = load_breast_cancer(return_X_y=True)
    digits, number = load_digits(return_X_y=True)
    patients, progress = load_diabetes(return_X_y=True)
    yield "tumours", (tumours, 1 - benign)
    yield "eights", (digits, (number == 8).astype(int))
    yield "diabetes", (patients, (progress > np.quantile(progress, 0.8)).astype(int))
    yield "noisy", make_classification(4000, n_informative=8, flip_y=0.15, random_state=0)
    yield "rare", make_classification(4000, n_informative=10, weights=[0.95], class_sep=0.6, random_state=0)


def measured(X: NDArray, y: NDArray, seed: int) -> list[float]:
    """Return the average costs on one split into folds, and the share of abstained rows."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)

    def probabilities(estimator: BaseEstimator) -> NDArray:
        return cross_val_predict(estimator, X, y, cv=folds, method="predict_proba")

    linear = probabilities(make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)))
    tuned = LogisticRegressionCV(max_iter=1000, scoring="neg_log_loss", **WITHOUT_WARNING)
    tuned = probabilities(make_pipeline(StandardScaler(), tuned))
    trees = probabilities(HistGradientBoostingClassifier(random_state=0))
    ours, rejecting = (
        cross_val_predict(PredtronBinaryClassifier(loss=COSTS, reject=reject, random_state=0), X, y, cv=folds)
        for reject in (None, REJECT)
    )
    decided = [linear.argmax(axis=1), *((found @ COSTS).argmin(axis=1) for found in (linear, tuned, trees)), ours, rejecting]
    return [*(average_cost(predicted, y) for predicted in decided), float((rejecting == REJECTED).mean())]


def average_cost(predicted: NDArray, y: NDArray) -> float:
    """Return the average cost per row."""
    return float(np.where(predicted == REJECTED, REJECT, COSTS[y, np.maximum(predicted, 0)]).mean())
