"""Whole fits of several learners on one set, timed beside each other."""

from collections.abc import Iterable
from functools import partial
from statistics import median
from typing import Any

from numpy.typing import NDArray

from benchmarks.contestants import OursOneVsRest, OursPerceptron, SklearnPerceptron
from benchmarks.contestants.base import Contestant
from benchmarks.measure import Case, Measured, interleave, ratios
from benchmarks.report import spread
from benchmarks.tasks import Options, Task

COLUMNS = ["classes", "columns", "X in MB", "dtype", "learner", "us per row", "times faster (ratio)", "goal", "met", "accuracy"]
NOTE = (
    "Whole calls of `fit`, one epoch in the given order, without averaging; the ratio is scikit-learn's `Perceptron` on the "
    "same array over the learner: median (least-greatest) over the repeats.  Accuracy on held-out rows."
)


def fit_case(contestant: Contestant, task: Task, X: Any, y: NDArray) -> Case:
    """The fit of a new estimator."""
    return Case(contestant.name, partial(contestant.fit, X=X, y=y), partial(contestant.make, task))


def perceptrons(task: Task, intercept_scaling: float) -> list[Contestant]:
    """scikit-learn's, ours, and as many binary ones of ours as there are classes."""
    params = {"intercept_scaling": intercept_scaling}
    contestants: list[Contestant] = [SklearnPerceptron(), OursPerceptron(**params)]
    return contestants if task.n_classes == 2 else [*contestants, OursOneVsRest(**params)]


def perceptron_rows(
    task: Task, contestants: list[Contestant], data: tuple, about: list, goal: float | None, options: Options
) -> list[list]:
    """The rows of the perceptrons; the goal is for the second."""
    X, y, X_test, y_test = data
    theirs, ours, *_ = contestants
    measured = interleave([fit_case(contestant, task, X, y) for contestant in contestants], options.repeats)
    goals = {ours.name: goal}
    rows = []
    for contestant in contestants:
        found = measured[contestant.name]
        ratio = ratios(measured[theirs.name], found)
        accuracy = float((contestant.predict(found.result, X_test) == y_test).mean())
        rows.append(
            [*about, contestant.name, us_per_row(found, X), spread(ratio), *verdict(ratio, goals.get(contestant.name)), accuracy]
        )
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
