"""The methods of the board.

A method is a function of a task, whose rows are for training.  It returns a function that decides the rows of another task, or
None if it has no decision for such tasks.  Decisions are the classes 0, ..., k - 1, and k for an abstention.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

from benchmarks.board.task import Task
from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.decisions import AtMost, ExpectedCost
from sklearn_predtron.losses import Reject

Decide = Callable[[Task], NDArray]
Method = Callable[[Task], Decide | None]
MOST_CATEGORIES = 250  # of a column: HistGradientBoostingClassifier takes at most 255
FEWEST_ROWS = 5  # of a category with a column of its own
CATEGORIES = make_column_selector(dtype_exclude="number")


# ----------------------------------------------------------------------------------------------------------------- columns


def numbers() -> ColumnTransformer:
    """Columns of a linear model: one-hot, imputed, standardised."""
    categories = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=FEWEST_ROWS, sparse_output=False)
    return make_column_transformer((categories, CATEGORIES), remainder=make_pipeline(SimpleImputer(), StandardScaler()))


def codes() -> ColumnTransformer:
    """Columns of trees: first the categories, as codes; blanks stay."""
    coded = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan, max_categories=MOST_CATEGORIES
    )
    return make_column_transformer((coded, CATEGORIES), remainder="passthrough")


def logistic_regression(train: Task, **params: Any) -> Pipeline:
    """Fit scikit-learn's logistic regression with its default penalty."""
    return make_pipeline(numbers(), LogisticRegression(max_iter=2000, **params)).fit(train.X, train.y)


def hist_gradient_boosting(train: Task) -> Pipeline:
    """Fit scikit-learn's boosted trees."""
    coded = [*range(len(CATEGORIES(train.X)))]
    trees = HistGradientBoostingClassifier(categorical_features=coded, random_state=0)
    return make_pipeline(codes(), trees).fit(train.X, train.y)


def light(train: Task) -> Any:
    """Make LightGBM's boosted trees."""
    from lightgbm import LGBMClassifier

    coded = [*range(len(CATEGORIES(train.X)))]
    columns = {"categorical_feature": coded} if coded else {}
    return LGBMClassifier(n_jobs=1, verbose=-1, random_state=0, deterministic=True, force_row_wise=True, **columns)


def light_trees(train: Task) -> Pipeline:
    """Fit LightGBM's boosted trees."""
    return make_pipeline(codes(), light(train)).fit(train.X, train.y)


def between_two(train: Task) -> bool:
    """Whether there are two decisions, without other conditions."""
    return train.costs.shape[-2:] == (2, 2) and train.capacity is None and train.risk is None


# ----------------------------------------------------------------------------------------------------------------- methods


def ours(train: Task, on_costs: bool = False, linear: bool = False) -> Decide | None:
    """sklearn_predtron: `predict` has the costs; with `on_costs` training has them, too."""
    by_row, k = train.costs.ndim == 3, train.k
    columns = numbers() if linear else FunctionTransformer()
    model = (PredtronBinaryClassifier if k == 2 else PredtronClassifier)(reject=train.price, random_state=0)
    model.set_params(features=None if linear else "auto")
    if train.risk is not None:
        return None if on_costs else certified(train, columns, model)
    if train.capacity is not None:
        model.set_params(decision=ExpectedCost(subject_to=[AtMost("predicted_rate", train.capacity, label=1)]))
    if on_costs and not by_row:
        model.set_params(loss=train.costs[:, :k])
    costs = {"costs": train.pairs} if on_costs and by_row else {}
    model.fit(columns.fit_transform(train.X), train.y, **costs)

    def decide(test: Task) -> NDArray:
        decided = model.predict(columns.transform(test.X), costs=test.pairs)
        return np.where(decided == -1, k, decided)

    return decide


def certified(train: Task, columns: Any, model: Any) -> Decide:
    """Keep a promise with 95 % confidence: half of the rows are for the certificate."""
    first, held = train.halves()
    model.set_params(reject=Reject(risk=train.risk)).fit(columns.fit_transform(first.X), first.y)
    model.certify(columns.transform(held.X), held.y)

    def decide(test: Task) -> NDArray:
        decided = model.predict(columns.transform(test.X))
        return np.where(decided == -1, test.k, decided)

    return decide


def expected_cost(fit: Callable[[Task], Any], train: Task) -> Decide:
    """The lowest expected cost under the probabilities of a model."""
    if train.risk is not None:
        return threshold(fit, train)
    model = fit(train)
    return lambda test: test.cheapest(model.predict_proba(test.X))


def threshold(fit: Callable[[Task], Any], train: Task) -> Decide:
    """Answer the most certain rows, as many as keep the promise on half of the rows."""
    first, held = train.halves()
    model = fit(first)
    P = model.predict_proba(held.X)
    order = np.argsort(-P.max(axis=1), kind="stable")
    wrong = (P.argmax(axis=1) != held.y)[order]
    keeps = np.flatnonzero(np.cumsum(wrong) <= held.risk * np.arange(1, len(wrong) + 1))
    limit = P.max(axis=1)[order[keeps[-1]]] if len(keeps) else np.inf

    def decide(test: Task) -> NDArray:
        P = model.predict_proba(test.X)
        return np.where(P.max(axis=1) >= limit, P.argmax(axis=1), test.k)

    return decide


def tuned_threshold(train: Task) -> Decide | None:
    """One threshold for all rows, with the lowest cost in cross-validation."""
    if not between_two(train):
        return None

    def cost(y: NDArray, decided: NDArray, costs: NDArray) -> float:
        return float(costs[np.arange(len(y)), y, decided].sum())

    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer(cost, greater_is_better=False).set_score_request(costs=True)
        logistic = make_pipeline(numbers(), LogisticRegression(max_iter=2000))
        model = TunedThresholdClassifierCV(logistic, scoring=scorer).fit(train.X, train.y, costs=train.by_row)
    return lambda test: model.predict(test.X)


def class_weights(train: Task) -> Decide | None:
    """Logistic regression that weights each class by the mean cost of its mistakes, with its own predictions."""
    if train.price is not None or train.capacity is not None or train.risk is not None:
        return None
    mean = train.mean_costs()
    extra = (mean.sum(axis=1) - train.k * mean.diagonal()).clip(min=0)
    model = logistic_regression(train, class_weight=dict(enumerate(extra / extra.mean())))
    return lambda test: model.predict(test.X)


def empulse(name: str, train: Task) -> Decide | None:
    """empulse's models of two classes, trained on costs by row, with their own predictions."""
    if not between_two(train):
        return None
    from empulse import models

    boosts = name == "CSBoostClassifier"
    model = models.CSBoostClassifier(light(train)) if boosts else models.CSLogitClassifier()
    columns = make_pipeline(codes(), SimpleImputer(strategy="most_frequent")) if boosts else numbers()
    costs = train.by_row
    of_mistakes = {"tp_cost": costs[:, 1, 1], "fn_cost": costs[:, 1, 0], "fp_cost": costs[:, 0, 1], "tn_cost": costs[:, 0, 0]}
    model.fit(np.asarray(columns.fit_transform(train.X), float), train.y, **of_mistakes)
    return lambda test: model.predict(np.asarray(columns.transform(test.X), float))


def constant(train: Task) -> Decide | None:
    """The decision with the lowest cost on the training rows, for every row."""
    decision = train.constant()
    return None if train.risk is not None else lambda test: np.full(len(test.y), decision)


# Of each method its name, its function and the package that it needs.
ALL: dict[str, tuple[Method, str]] = {
    "predtron, default": (ours, "sklearn_predtron"),
    "predtron, trained on costs": (partial(ours, on_costs=True), "sklearn_predtron"),
    "predtron, linear": (partial(ours, linear=True), "sklearn_predtron"),
    "LogisticRegression": (partial(expected_cost, logistic_regression), "sklearn"),
    "HistGradientBoosting": (partial(expected_cost, hist_gradient_boosting), "sklearn"),
    "LightGBM": (partial(expected_cost, light_trees), "lightgbm"),
    "TunedThreshold": (tuned_threshold, "sklearn"),
    "CSLogit": (partial(empulse, "CSLogitClassifier"), "empulse"),
    "CSBoost": (partial(empulse, "CSBoostClassifier"), "empulse"),
    "class weights": (class_weights, "sklearn"),
    "best constant": (constant, "sklearn"),
}
METHODS = {name: function for name, (function, needs) in ALL.items() if find_spec(needs) is not None}
LEFT_OUT = {name: needs for name, (_, needs) in ALL.items() if name not in METHODS}
