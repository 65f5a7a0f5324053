"""What the reject option buys: coverage, risk and loss by the cost of a rejected row."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification

from benchmarks.contestants import Ours, SklearnLogisticRegression
from benchmarks.read import NO_DATA, Dataset, elec2_in_order, svmlight
from benchmarks.report import Table
from benchmarks.tasks import Options, Task
from sklearn_predtron.losses import Reject

COSTS = (0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
REJECT = -9
FIFTH = 0.8
CHOW_COSTS = (0.05, 0.1, 0.2)
# Rows, features, classes, the share of flipped labels, and how far apart the classes are.
GENERATED = (
    *((300, 10, 2, 0.01, 1.0), (500, 20, 2, 0.05, 1.0), (1000, 10, 2, 0.01, 1.5)),
    *((2000, 20, 2, 0.02, 0.7), (600, 10, 3, 0.01, 1.0)),
)


def datasets(options: Options) -> Iterator[Dataset]:
    """A small set, a sparse one, and one that drifts."""
    yield Dataset("breast_cancer", *load_breast_cancer(return_X_y=True))
    if options.data is not None:
        yield svmlight("a9a", options)
        yield elec2_in_order(options)


def run(options: Options) -> list[Table]:
    """One table of all costs, one of the goals, one beside Chow's rule."""
    curves = {data.name: curve(data, options) for data in datasets(options)}
    return [_cost_table(curves, options), _goal_table(curves), _chow_table(options)]


def curve(data: Dataset, options: Options) -> NDArray:
    """Rows: costs; columns: coverage, risk, reject loss, loss without reject, standard error of the reject loss."""
    seeds = 1 if data.name == "elec2" else options.seeds
    return np.mean([_one_seed(data.split(seed, options), seed) for seed in range(seeds)], axis=0)


def _one_seed(split: tuple, seed: int) -> list[list[float]]:
    X, y, X_test, y_test = split
    ours = Ours(reject=Reject(COSTS[0], REJECT))
    model = ours.fit(ours.make(Task(seed=seed)), X, y)
    wrong = model.set_params(reject=None).predict(X_test) != y_test
    return [_at_cost(model, Reject(cost, REJECT), X_test, y_test, wrong) for cost in COSTS]


def _at_cost(model: Any, reject: Reject, X: Any, y: NDArray, wrong: NDArray) -> list[float]:
    model.set_params(reject=reject)
    accepted = model.predict(X) != REJECT
    loss = model.sample_loss(X, y)
    risk = wrong[accepted].mean() if accepted.any() else 0.0
    return [accepted.mean(), risk, loss.mean(), wrong.mean(), loss.std(ddof=1) / np.sqrt(len(loss))]


def _cost_table(curves: dict[str, NDArray], options: Options) -> Table:
    measures = ["coverage", "risk of the accepted", "loss", "loss without reject", "ratio", "standard error"]
    table = Table(
        "Reject option",
        ["data", "cost", *measures],
        note=f"Means over {options.seeds} splits (breast_cancer) or seeds (a9a); elec2 learns from its first 70 % and is tested "
        "on the rest.  The standard error is that of the mean loss over the rows of a test part.  "
        + ("" if options.data else NO_DATA),
    )
    for data, found in curves.items():
        for cost, (coverage, risk, loss, without, error) in zip(COSTS, found.tolist(), strict=True):
            ratio = loss / without if without else None
            table.rows.append([data, cost, coverage, risk, loss, without, ratio, error])
    return table


def _goal_table(curves: dict[str, NDArray]) -> Table:
    columns = ["coverage falls with the cost", "risk falls with the cost", "loss never above by more than its error"]
    table = Table("Reject option, goals", ["data", *columns, f"loss below by a fifth at {COSTS[-1]}"])
    for data, found in curves.items():
        coverage, risk, loss, without, error = found.T
        met = [np.diff(coverage) <= 0, np.diff(risk) <= 0, loss <= without + error, loss[-1:] <= FIFTH * without[-1:]]
        table.rows.append([data, *(bool(goal.all()) for goal in met)])
    return table


def small(options: Options) -> Iterator[Dataset]:
    """Sets of a few hundred rows, scikit-learn's own and generated."""
    loads = (load_breast_cancer, load_wine, load_iris, load_digits)
    for load in loads:
        yield Dataset(load.__name__.removeprefix("load_"), *load(return_X_y=True))
    for n, p, k, flipped, apart in GENERATED:
        n = options.rows(n)
        X, y = make_classification(
            n, p, n_informative=p // 2, n_redundant=2, n_classes=k, flip_y=flipped, class_sep=apart, random_state=0
        )
        yield Dataset(f"generated, {n} x {p}, {k} classes", X, y)


def _chow_table(options: Options) -> Table:
    """Mean reject losses beside those of Chow's rule: reject where the likeliest class is less likely than 1 - beta."""
    table = Table(
        "Reject loss beside logistic regression with Chow's rule",
        ["data", "cost", "LogisticRegression + Chow", "reject=", "reject= / Chow"],
        note=f"Means over {options.many_held_back('splits')}.  Below, geometric means over the sets, and the "
        "largest mean of a set's ratios over the costs.",
    )
    ratios = {}
    for data in small(options):
        losses = np.mean([_losses(data.split(seed, options), seed) for seed in options.held_back], axis=0)
        ratios[data.name] = losses[1] / losses[0]
        for cost, (chow, ours) in zip(CHOW_COSTS, losses.T.tolist(), strict=True):
            table.rows.append([data.name, cost, chow, ours, ours / chow])
    found = np.array(list(ratios.values()))
    for cost, mean in zip(CHOW_COSTS, np.exp(np.log(found).mean(axis=0)).tolist(), strict=True):
        table.rows.append(["geometric mean", cost, None, None, mean])
    table.rows.append(["geometric mean", "all", None, None, float(np.exp(np.log(found).mean()))])
    table.rows.append(["worst set", "all", None, None, float(found.mean(axis=1).max())])
    return table


def _losses(split: tuple, seed: int) -> list[list[float]]:
    """Mean reject losses on the test part, of Chow's rule and of ours, at each cost."""
    X, y, X_test, y_test = split
    peer, ours = SklearnLogisticRegression(), Ours()
    logistic = peer.fit(peer.make(Task(seed=seed)), X, y)
    likeliest, wrong = logistic.predict_proba(X_test).max(axis=1), logistic.predict(X_test) != y_test
    losses = [[np.where(likeliest < 1 - cost, cost, wrong).mean() for cost in CHOW_COSTS]]
    model = ours.make(Task(n_classes=len(np.unique(y)), seed=seed)).set_params(reject=Reject(0.1, REJECT))
    ours.fit(model, X, y)
    return [*losses, [model.set_params(reject__cost=cost).sample_loss(X_test, y_test).mean() for cost in CHOW_COSTS]]
