"""Vowpal Wabbit, on examples that are parsed before (optional)."""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from benchmarks.contestants.base import RowContestant
from benchmarks.tasks import Task


class Model(NamedTuple):
    """A workspace, and whether its labels are -1 and 1 or 1, ..., k."""

    workspace: Any
    binary: bool


class VowpalWabbit(RowContestant):
    """Its default learner with hinge loss, one-against-all for more than two classes."""

    name = "Vowpal Wabbit"
    module = "vowpalwabbit"

    def make(self, task: Task) -> Model:
        from vowpalwabbit import Workspace

        binary = task.n_classes == 2
        labels = "--binary" if binary else f"--oaa {task.n_classes}"
        return Model(Workspace(f"--quiet --loss_function hinge {labels} --random_seed {task.seed}"), binary)

    def convert(self, model: Model, X: NDArray, y: NDArray) -> list:
        labels = 2 * y - 1 if model.binary else y + 1
        return [model.workspace.example(_text(x, label)) for x, label in zip(X.tolist(), labels.tolist(), strict=True)]

    def take(self, model: Model, row: Any) -> None:
        model.workspace.learn(row)

    def guess(self, model: Model, row: Any) -> int:
        predicted = model.workspace.predict(row)
        return int(predicted > 0) if model.binary else predicted - 1


def _text(x: list, label: int) -> str:
    return f"{label} | " + " ".join(f"{j}:{value!r}" for j, value in enumerate(x))
