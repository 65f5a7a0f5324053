"""Lowest cost at a recall: bounds of a decision compared with a threshold of logistic regression that is chosen by hand."""

from collections.abc import Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, train_test_split

from benchmarks import read
from benchmarks.measure import Case, interleave, ratios
from benchmarks.read import standardised
from benchmarks.report import Table, spread
from benchmarks.suites.costs_sets import SMALL_TWO
from benchmarks.suites.fits import at_most
from benchmarks.tasks import Options, gaussian_classes
from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.decisions import AtLeast, ExpectedCost

RECALLS = (0.8, 0.9, 0.95)
BY_HAND, OURS, SAFE = "threshold by hand", "subject_to", "subject_to, confidence=0.9"
MOST_ROWS = 3000
# Rows, columns, the share of the second class, how far apart the classes are; a mistake costs an amount of its row.
WITH_AMOUNTS = ((3000, 15, 0.1, 0.8), (2000, 20, 0.3, 0.6), (3000, 10, 0.05, 1.2))
ALARM = 10.0  # costs of a false alarm, where a miss costs the amount
TIMES, TIMED_ROWS, GOAL = "to unconstrained (ratio)", 300, 1.1


def datasets(options: Options) -> Iterator[tuple[str, NDArray, NDArray, NDArray]]:
    """Yield names, rows, classes, and the costs of a false alarm and a miss of each row."""
    given = [("breast_cancer", load_breast_cancer, 0), ("digits, 8 or not", load_digits, 8), ("wine, 1 or not", load_wine, 1)]
    for name, load, label in given:
        X, y = load(return_X_y=True)
        yield name, *some(X, y == label, options), None
    X, target = load_diabetes(return_X_y=True)
    yield "diabetes, highest 30 %", *some(X, target > np.quantile(target, 0.7), options), None
    for i, (n, p, share, apart) in enumerate(WITH_AMOUNTS):
        X, y = make_classification(
            *(options.rows(n), p), n_informative=p // 2, weights=[1 - share], class_sep=apart, flip_y=0.02, random_state=i
        )
        amount = np.random.default_rng(i).lognormal(3.5 + 0.3 * X[:, 0] / X[:, 0].std(), 1.0)
        yield f"generated with amounts, {n} x {p}, {share:.0%}", X, y, amount
    if options.data is not None:
        table = read.reader(options.data).table
        for family, name, label in (*(("small", name, None) for name in SMALL_TWO), ("multiclass", "letter", 1)):
            X, y = table(family, name)
            yield (f"{name}, one or not" if label else name), *some(X, y == (y.max() if label is None else label), options), None


def some(X: NDArray, y: NDArray, options: Options) -> tuple[NDArray, NDArray]:
    """Return rows at this scale, drawn by chance, and 0 or 1."""
    rows = np.random.default_rng(0).permutation(len(y))[: options.rows(min(len(y), MOST_ROWS))]
    return X[rows], y[rows].astype(int)


def cost_table(options: Options) -> Table:
    """Return costs and recalls on test rows, by set and bound."""
    names = (BY_HAND, OURS, SAFE)
    table = Table(
        "Lowest cost at a recall",
        ["data", "recall at least", *(f"cost, {name}" for name in names), *(f"{name} / by hand" for name in names[1:])]
        + [f"recall, {name}" for name in names]
        + [f"kept, {name}" for name in names],
        note=f"Test rows; means over {options.many_held_back('splits')}, 30 % of the rows each.  Mistakes cost 1, or with "
        f"amounts a miss the amount of its row and a false alarm {ALARM:g}.  By hand: logistic regression, and the cheapest "
        "threshold at which its scores in 5 folds reach the recall.  Kept: the share of splits whose test rows reach the "
        "recall.  Splits in which `fit` found no decision with enough confidence are left out of the columns of confidence=0.9.  "
        "The last rows have geometric means of ratios, and means of recalls and shares.",
    )
    found = []
    for name, X, y, amount in datasets(options):
        for recall in RECALLS:
            measured = np.array([one_split(X, y, amount, recall, seed) for seed in options.held_back])
            cost, reached = np.nanmean(measured, axis=0)
            kept = [float((own[~np.isnan(own)] >= recall).mean()) for own in measured[:, 1].T]
            ratio = [float(one / cost[0]) for one in cost[1:]]
            found.append([recall, *ratio, *reached.tolist(), *kept])
            table.rows.append([name, recall, *cost.tolist(), *ratio, *reached.tolist(), *kept])
    for recall in RECALLS:
        own = np.array([row[1:] for row in found if row[0] == recall])
        ratio = np.exp(np.log(own[:, :2]).mean(axis=0)).tolist()
        table.rows.append(["geometric mean", recall, None, None, None, *ratio, *own[:, 2:].mean(axis=0).tolist()])
    return table


def one_split(X: NDArray, y: NDArray, amount: NDArray | None, recall: float, seed: int) -> list[list[float]]:
    """Return mean costs on test rows, and recalls: by hand, of ours, and of ours with a confidence."""
    rows, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
    X_train, X_test = standardised(X[rows], X[test])
    miss = np.ones(len(y)) if amount is None else amount
    alarm = 1.0 if amount is None else ALARM
    more = {} if amount is None else {"costs": tables_of(amount[rows])}
    given = [by_hand(X_train, y[rows], X_test, miss[rows], alarm, recall)]
    for confidence in (None, 0.9):
        decision = ExpectedCost(subject_to=[AtLeast("recall", recall, label=1)], confidence=confidence)
        try:
            model = PredtronBinaryClassifier(decision=decision, random_state=seed).fit(X_train, y[rows], **more)
        except ValueError:
            given.append(None)
        else:
            given.append(model.predict(X_test))
    nan = float("nan")
    costs = [nan if one is None else cost_of(one, y[test], miss[test], alarm) for one in given]
    return [costs, [nan if one is None else float(one[y[test] == 1].mean()) for one in given]]


def tables_of(amount: NDArray) -> NDArray:
    """Return the costs of each row, costs[i, y, sigma]."""
    costs = np.zeros((len(amount), 2, 2))
    costs[:, 0, 1], costs[:, 1, 0] = ALARM, amount
    return costs


def cost_of(predicted: NDArray, y: NDArray, miss: NDArray, alarm: float) -> float:
    """Return the mean cost of predictions."""
    return float(np.where(y == 1, miss * (predicted == 0), alarm * (predicted == 1)).mean())


def by_hand(X: NDArray, y: NDArray, X_test: NDArray, miss: NDArray, alarm: float, recall: float) -> NDArray:
    """Return the predictions of logistic regression with the cheapest threshold at which enough of the rows are found."""
    model = LogisticRegression(max_iter=2000)
    p = cross_val_predict(model, X, y, method="predict_proba")[:, 1]
    cuts = np.unique(p)
    good = [cut for cut in cuts if (p[y == 1] >= cut).mean() >= recall]
    best = min(good, key=lambda cut: cost_of((p >= cut).astype(int), y, miss, alarm))
    return (model.fit(X, y).predict_proba(X_test)[:, 1] >= best).astype(int)


def time_table(options: Options) -> Table:
    """Return the times of single rows, with and without bounds."""
    table = Table(
        "A decision within bounds, one row at a time",
        ["classes", "decision", "us per row", TIMES, "goal", "met"],
        note=f"{options.rows(TIMED_ROWS)} calls of `predict` with one row; {options.many} repeats, ratios within a repeat: "
        "median (least-greatest).",
    )
    for k in (2, 5):
        X, y = gaussian_classes(2000, 20, k, distance=2.0)
        rows = [X[i : i + 1] for i in range(options.rows(TIMED_ROWS))]
        decisions = {"expected_cost": ExpectedCost(), "subject_to": ExpectedCost(subject_to=[AtLeast("recall", 0.9, label=1)])}
        cases = [
            Case(name, partial(predict_all, fitted(k, one, X, y)), lambda rows=rows: rows) for name, one in decisions.items()
        ]
        measured = interleave(cases, options.many)
        for name, found in measured.items():
            ratio = ratios(found, measured["expected_cost"])
            goal = at_most(median(ratio), None if name == "expected_cost" else GOAL)
            table.rows.append([k, name, found.seconds / len(rows) * 1e6, spread(ratio), *goal])
    return table


def timed_case(name: str, model: Any, rows: list[NDArray]) -> Case:
    """Return the predictions of single rows as a case."""
    return Case(name, partial(predict_all, model), lambda: rows)


def fitted(k: int, decision: ExpectedCost, X: NDArray, y: NDArray) -> Any:
    """Return a fitted classifier whose predictions are by probabilities."""
    kind = PredtronBinaryClassifier if k == 2 else PredtronClassifier
    return kind(decision=decision, random_state=0).fit(X, y)


def predict_all(model: Any, rows: list[NDArray]) -> None:
    """Predict one row after the other."""
    for row in rows:
        model.predict(row)
