"""What the runner needs to know of a learner."""

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.tasks import Task


class Contestant:
    """A learner: how it is made for a task, fitted, and fed a stream row by row.

    Labels are 0, ..., n_classes - 1.  What is not supported is not called.
    """

    name = ""
    module = "sklearn"
    sparse = True
    stream = False

    @property
    def installed(self) -> bool:
        return find_spec(self.module) is not None

    def make(self, task: Task) -> Any:
        """A new estimator."""
        raise TypeError(f"{type(self).__name__} does not define make(); an adapter must.")

    def fit(self, model: Any, X: Any, y: NDArray) -> Any:
        """Learn from a set, in the epochs of the model's task; return the model."""
        return model.fit(X, y)

    def predict(self, model: Any, X: Any) -> NDArray:
        """Labels of many rows."""
        return model.predict(X)

    def convert(self, model: Any, X: NDArray, y: NDArray) -> list:
        """The rows of a stream as the learner takes them."""
        return [(X[i : i + 1], y[i : i + 1]) for i in range(len(y))]

    def start(self, model: Any, row: Any, task: Task) -> None:
        """Take the first row of a stream."""
        self.take(model, row)

    def take(self, model: Any, row: Any) -> None:
        """Learn from one row of a stream."""
        raise TypeError(f"{type(self).__name__} does not define take(); an adapter with stream = True must.")

    def guess(self, model: Any, row: Any) -> Any:
        """Predict one row of a stream."""
        raise TypeError(f"{type(self).__name__} does not define guess(); an adapter with stream = True must.")


class BatchContestant(Contestant):
    """An estimator of scikit-learn's that fits by a solver."""

    estimator: type
    params: dict[str, Any] = {}

    def make(self, task: Task) -> Any:
        return self.estimator(**self.params, random_state=task.seed)


class PartialFitContestant(Contestant):
    """An estimator with partial_fit: one row is an array of shape (1, p)."""

    stream = True

    def start(self, model: Any, row: tuple, task: Task) -> None:
        model.partial_fit(*row, classes=np.arange(task.n_classes))

    def take(self, model: Any, row: tuple) -> None:
        model.partial_fit(*row)

    def guess(self, model: Any, row: tuple) -> Any:
        return model.predict(row[0])


class OnlineContestant(PartialFitContestant, BatchContestant):
    """An estimator of scikit-learn's that fits in epochs."""

    def make(self, task: Task) -> Any:
        model = super().make(task).set_params(shuffle=task.shuffle)
        return model if task.epochs is None else model.set_params(max_iter=task.epochs, tol=None)


class PerLabelContestant(Contestant):
    """One of scikit-learn's wrappers around a learner of two classes, which it fits once for each label."""

    wrapper: Callable[[Any], Any]
    single: Contestant

    def make(self, task: Task) -> Any:
        return type(self).wrapper(self.single.make(task))


class RowContestant(Contestant):
    """A learner outside scikit-learn that only takes row after row."""

    sparse = False
    stream = True

    def fit(self, model: Any, X: NDArray, y: NDArray) -> Any:
        for row in self.convert(model, X, y):
            self.take(model, row)
        return model

    def predict(self, model: Any, X: NDArray) -> NDArray:
        return np.array([self.guess(model, row) for row in self._inputs(model, X)])

    def _inputs(self, model: Any, X: NDArray) -> Iterable:
        return self.convert(model, X, np.zeros(len(X), dtype=int))
