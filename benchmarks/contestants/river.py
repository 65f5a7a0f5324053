"""river's linear models, on dictionaries (optional)."""

from typing import Any

from numpy.typing import NDArray

from benchmarks.contestants.base import RowContestant
from benchmarks.tasks import Task


class River(RowContestant):
    """A linear model of river's, one-vs-rest for more than two classes."""

    module = "river"

    def __init__(self, model: str):
        self.model = model
        self.name = f"river {model}"

    def make(self, task: Task) -> Any:
        from river import linear_model, multiclass

        model = getattr(linear_model, self.model)()
        return model if task.n_classes == 2 else multiclass.OneVsRestClassifier(model)

    def convert(self, model: Any, X: NDArray, y: NDArray) -> list:
        return [(dict(enumerate(x)), label) for x, label in zip(X.tolist(), y.tolist(), strict=True)]

    def take(self, model: Any, row: tuple) -> None:
        model.learn_one(*row)

    def guess(self, model: Any, row: tuple) -> Any:
        return model.predict_one(row[0])
