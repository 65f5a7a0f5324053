"""Whole fits of several learners on one set, timed beside each other."""

from collections.abc import Iterable
from functools import partial
from statistics import median
from typing import Any

from numpy.typing import NDArray

from benchmarks.measure import Case, Measured, interleave, ratios
from benchmarks.peers import OursOneVsRest, OursPerceptron, SklearnPerceptron
from benchmarks.peers.base import Peer
from benchmarks.report import spread
from benchmarks.tasks import Options, Task

COLUMNS = ["classes", "columns", "X in MB", "dtype", "learner", "us per row", "times faster (ratio)", "goal", "met", "accuracy"]
NOTE = (
    "Whole calls of `fit`, one epoch in the given order, without averaging; the ratio is scikit-learn's `Perceptron` on the "
    "same array over the learner: median (least-greatest) over the repeats.  Accuracy on held-out rows."
)


def fit_case(peer: Peer, task: Task, X: Any, y: NDArray) -> Case:
    """The fit of a new estimator."""
    return Case(peer.name, partial(peer.fit, X=X, y=y), partial(peer.make, task))


def perceptrons(task: Task, intercept_scaling: float) -> list[Peer]:
    """scikit-learn's, ours, and as many binary ones of ours as there are classes."""
    params = {"intercept_scaling": intercept_scaling}
    peers: list[Peer] = [SklearnPerceptron(), OursPerceptron(**params)]
    return peers if task.n_classes == 2 else [*peers, OursOneVsRest(**params)]


def perceptron_rows(task: Task, peers: list[Peer], data: tuple, about: list, goal: float | None, options: Options) -> list[list]:
    """The rows of the perceptrons; the goal is for the second."""
    X, y, X_test, y_test = data
    theirs, ours, *_ = peers
    measured = interleave([fit_case(peer, task, X, y) for peer in peers], options.repeats)
    goals = {ours.name: goal}
    rows = []
    for peer in peers:
        found = measured[peer.name]
        ratio = ratios(measured[theirs.name], found)
        accuracy = float((peer.predict(found.result, X_test) == y_test).mean())
        rows.append([*about, peer.name, us_per_row(found, X), spread(ratio), *verdict(ratio, goals.get(peer.name)), accuracy])
    return rows


def us_per_row(found: Measured, X: Any) -> float:
    """Microseconds of a row in one epoch."""
    return found.seconds / X.shape[0] * 1e6


def verdict(ratio: Iterable[float], goal: float | None) -> list:
    """Cells for a goal that the median ratio should reach."""
    if goal is None:
        return [None, None]
    return [f"{goal:g}", median(ratio) >= goal]


def at_most(value: float | None, goal: float | None) -> list:
    """Cells for a goal that a value should not pass."""
    if value is None or goal is None:
        return [None, None]
    return [f"at most {goal:g}", value <= goal]
