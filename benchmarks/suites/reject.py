"""What the reject option buys: coverage, risk and loss by the cost of a rejected row."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

from benchmarks.contestants import Ours
from benchmarks.read import NO_DATA, Dataset, elec2_in_order, svmlight
from benchmarks.report import Table
from benchmarks.tasks import Options, Task
from sklearn_predtron.losses import Reject

COSTS = (0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
RULES = ("online", "margin")
REJECT = -9
FIFTH = 0.8


def datasets(options: Options) -> Iterator[Dataset]:
    """A small set, a sparse one, and one that drifts."""
    yield Dataset("breast_cancer", *load_breast_cancer(return_X_y=True))
    if options.data is not None:
        yield svmlight("a9a", options)
        yield elec2_in_order(options)


def run(options: Options) -> list[Table]:
    """One table of all costs, one of the goals."""
    curves = {(data.name, rule): curve(data, rule, options) for data in datasets(options) for rule in RULES}
    return [_cost_table(curves, options), _goal_table(curves)]


def curve(data: Dataset, rule: str, options: Options) -> NDArray:
    """Rows: costs; columns: coverage, risk, reject loss, loss without reject, standard error of the reject loss."""
    seeds = 1 if data.name == "elec2" else options.seeds
    return np.mean([_one_seed(data.split(seed, options), rule, seed) for seed in range(seeds)], axis=0)


def _one_seed(split: tuple, rule: str, seed: int) -> list[list[float]]:
    X, y, X_test, y_test = split
    ours = Ours(reject=Reject(COSTS[0], REJECT, rule=rule))
    model = ours.fit(ours.make(Task(seed=seed)), X, y)
    wrong = model.set_params(reject=None).predict(X_test) != y_test
    return [_at_cost(model, Reject(cost, REJECT, rule), X_test, y_test, wrong) for cost in COSTS]


def _at_cost(model: Any, reject: Reject, X: Any, y: NDArray, wrong: NDArray) -> list[float]:
    model.set_params(reject=reject)
    accepted = model.predict(X) != REJECT
    loss = model.sample_loss(X, y)
    risk = wrong[accepted].mean() if accepted.any() else 0.0
    return [accepted.mean(), risk, loss.mean(), wrong.mean(), loss.std(ddof=1) / np.sqrt(len(loss))]


def _cost_table(curves: dict[tuple[str, str], NDArray], options: Options) -> Table:
    measures = ["coverage", "risk of the accepted", "loss", "loss without reject", "ratio", "standard error"]
    table = Table(
        "Reject option",
        ["data", "rule", "cost", *measures],
        note=f"Means over {options.seeds} splits (breast_cancer) or seeds (a9a); elec2 learns from its first 70 % and is tested "
        "on the rest.  The standard error is that of the mean loss over the rows of a test part.  "
        + ("" if options.data else NO_DATA),
    )
    for (data, rule), found in curves.items():
        for cost, (coverage, risk, loss, without, error) in zip(COSTS, found.tolist(), strict=True):
            ratio = loss / without if without else None
            table.rows.append([data, rule, cost, coverage, risk, loss, without, ratio, error])
    return table


def _goal_table(curves: dict[tuple[str, str], NDArray]) -> Table:
    columns = ["coverage falls with the cost", "risk falls with the cost", "loss never above by more than its error"]
    table = Table("Reject option, goals", ["data", "rule", *columns, f"loss below by a fifth at {COSTS[-1]}"])
    for (data, rule), found in curves.items():
        coverage, risk, loss, without, error = found.T
        met = [np.diff(coverage) <= 0, np.diff(risk) <= 0, loss <= without + error, loss[-1:] <= FIFTH * without[-1:]]
        table.rows.append([data, rule, *(bool(goal.all()) for goal in met)])
    return table
