"""sklearn_predtron."""

from math import sqrt
from typing import Any

from sklearn.multiclass import OneVsRestClassifier

from benchmarks.contestants.base import Contestant, PartialFitContestant
from benchmarks.tasks import Task
from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
)
from sklearn_predtron.updates import PerceptronUpdate

PLAIN = {"norm": "l2", "average": False, "intercept_scaling": 1.0}


class Ours(PartialFitContestant):
    """The classifier of the task's number of classes, with the given parameters."""

    module = "sklearn_predtron"

    def __init__(self, name: str = "ours", **params: Any):
        self.name = name
        self.params = params

    def family(self, task: Task) -> type:
        return PredtronBinaryClassifier if task.n_classes == 2 else PredtronClassifier

    def make(self, task: Task) -> Any:
        family: Any = self.family(task)
        one = {"cv": 0} if task.epochs is not None and "cv" in family._get_param_names() else {}  # the peers' work
        return family(**{"max_iter": task.epochs, **one, **self.params}, shuffle=task.shuffle, random_state=task.seed)


class OursOrdinal(Ours):
    """The classifier of labels with an order."""

    def __init__(self, name: str = "ours, ordinal", **params: Any):
        super().__init__(name, **params)

    def family(self, task: Task) -> type:
        return PredtronOrdinalClassifier


class OursBipartite(Ours):
    """The classifier of two classes by measures of batches."""

    def __init__(self, name: str = "ours, batches", **params: Any):
        super().__init__(name, **params)

    def family(self, task: Task) -> type:
        return PredtronBipartiteClassifier


class OursMultilabel(Ours):
    """The classifier of sets of labels; the task's number of classes is that of labels."""

    def __init__(self, name: str = "ours, multilabel", **params: Any):
        super().__init__(name, **params)

    def family(self, task: Task) -> type:
        return PredtronMultilabelClassifier


class OursMultilabelPerceptron(OursMultilabel):
    """The plain perceptron, in the units of scikit-learn's."""

    def __init__(self, name: str = "ours, multilabel perceptron", **params: Any):
        super().__init__(name, **{**PLAIN, **params})

    def make(self, task: Task) -> Any:
        return super().make(task).set_params(update=PerceptronUpdate(sqrt(task.n_classes) / 2))


class OursPerceptron(Ours):
    """The plain perceptron, in the units of scikit-learn's."""

    def __init__(self, name: str = "ours, perceptron", **params: Any):
        super().__init__(name, **{**PLAIN, **params})

    def make(self, task: Task) -> Any:
        eta = 0.5 if task.n_classes == 2 else 1.0
        return super().make(task).set_params(update=PerceptronUpdate(eta))


class OursOneVsRest(Contestant):
    """One binary perceptron for each class: the same work as scikit-learn's Perceptron."""

    module = "sklearn_predtron"

    def __init__(self, name: str = "ours, one-vs-rest", **params: Any):
        self.name = name
        self.params = params

    def make(self, task: Task) -> Any:
        return OneVsRestClassifier(OursPerceptron(**self.params).make(Task(2, task.epochs, task.shuffle, task.seed)))
