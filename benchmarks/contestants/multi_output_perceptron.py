"""scikit-learn's Perceptron, one for each label; it reads and checks X once for each."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.multioutput import MultiOutputClassifier

from benchmarks.contestants.base import PartialFitContestant, PerLabelContestant
from benchmarks.contestants.perceptron import SklearnPerceptron
from benchmarks.tasks import Task


class MultiOutputPerceptron(PerLabelContestant, PartialFitContestant):
    name = "MultiOutputClassifier(Perceptron)"
    wrapper = MultiOutputClassifier
    single = SklearnPerceptron()

    def start(self, model: Any, row: tuple, task: Task) -> None:
        model.partial_fit(*row, classes=[np.arange(2)] * task.n_classes)


class UncheckedMultiOutputPerceptron(MultiOutputPerceptron):
    """Without the passes over X that look for nan and infinity, and without the checks of parameters."""

    name = "MultiOutputClassifier(Perceptron), no checks"

    def fit(self, model: Any, X: Any, y: NDArray) -> Any:
        with config_context(assume_finite=True, skip_parameter_validation=True):
            return super().fit(model, X, y)
