"""A data set for each family, and all estimators that can be mixed, by discovery."""

import copy
import inspect
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from cases import Hours, pairwise
from joint_cases import Tables, tables

import sklearn_predtron
from sklearn_predtron import Predtron, PredtronBinaryClassifier, PredtronMultilabelClassifier, PredtronOrdinalClassifier
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.mixing._total import ContributionSum
from sklearn_predtron.norms import RKHS, Norm, PNorm
from sklearn_predtron.updates import MMP, LossAugmented, Update

N = 120  # rows
GROUP = np.arange(N) // 4  # of each row
AVERAGES = ["linear", "uniform", False]
SCALINGS = [1.0, "auto"]


class ShardBatch(NamedTuple):
    """Rows for a family."""

    X: Any
    y: Any
    given: dict  # ids
    classes: Any = None

    def part(self, first, last):
        """Return some of the rows, as `partial_fit` takes them."""
        given = {name: ids[first:last] for name, ids in self.given.items()}
        return self.X[first:last], self.y[first:last], given

    def first(self, first, last):
        """Return what the first call of `partial_fit` takes."""
        X, y, given = self.part(first, last)
        return X, y, given if self.classes is None else {**given, "classes": self.classes}

    def laid_out(self, layout):
        """Return the same rows in another layout."""
        return self._replace(X=layout(self.X))


def families():
    """Return the estimators of rows of features, by discovery."""
    found = (getattr(sklearn_predtron, name) for name in sklearn_predtron.__all__)
    return [kind for kind in found if inspect.isclass(kind) and issubclass(kind, BasePredtron)]


def lesson_for(family, n=N, seed=0):
    """Return rows that a family learns."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 7)) * [1, 2, 0.5, 1, 3, 1, 0]
    X[random.random((n, 7)) < 0.2] = 0
    scores = X @ random.standard_normal((7, 4)) + random.standard_normal((n, 4))
    group = np.arange(n) // 4
    name = family.__name__.removeprefix("Predtron")
    codes = scores.argmax(axis=1)
    codes[:4] = np.arange(4)
    if name == "":
        return ShardBatch(X, codes * 3, {})
    return {
        "Classifier": ShardBatch(X, codes, {}, range(4)),
        "OrdinalClassifier": ShardBatch(X, codes, {}, range(4)),
        "BinaryClassifier": ShardBatch(X, codes % 2, {}, range(2)),
        "BipartiteClassifier": ShardBatch(X, codes % 2, {"groups": group}, range(2)),
        "MultilabelClassifier": ShardBatch(X, (scores > 0).astype(int), {}),
        "LabelRanker": ShardBatch(X, np.clip(scores.astype(int), 0, 3), {}),
        "Ranker": ShardBatch(X, np.clip(codes, 0, 3), {"qid": group}),
        "SequenceTagger": ShardBatch(X, codes, {"sid": group}, range(4)),
    }[name]


def add_all(contributions):
    """Return the total of contributions, whose arrays stay theirs."""
    total = ContributionSum()
    for number, contribution in enumerate(contributions):
        total.put(number, copy.deepcopy(contribution))
    return total.finish()


def made(family, **parameters):
    """Return an estimator of a family."""
    return Predtron(Hours(), **parameters) if family is Predtron else family(**parameters)


def joint():
    """Return an estimator of joint features, and a lesson."""
    X, y = tables(n=N)
    return Predtron(Tables(4), average="linear"), ShardBatch(X, y, {})


def norms():
    """Return the norms that can be mixed."""
    return [kind() for kind in kinds(Norm) if kind is not RKHS] + [PNorm(q=3.0)]


def updates():
    """Return all updates, and parameters with a state of their own."""
    return [*(kind() for kind in kinds(Update)), LossAugmented(eta="theory"), MMP(weights="random")]


def works(model, lesson):
    """Return whether the parts of an estimator go together."""
    X, y, given = lesson.first(0, 8)
    try:
        model.partial_fit(X, y, **given)
    except (ValueError, TypeError):
        return False
    return True


@cache
def mixed_estimators(family):
    """Return the parameters of a family's estimators, with every two parts of theirs that go together."""
    lesson, options = lesson_for(family), inspect.signature(family).parameters
    ways = {"norm": norms(), "update": updates(), "average": AVERAGES, "intercept_scaling": SCALINGS}
    if family is PredtronOrdinalClassifier:
        ways["representation"] = ["thermometer", "shared"]
    if family in (PredtronBinaryClassifier, PredtronMultilabelClassifier):
        ways["decision"] = [0.0, "f1"]
    ways = {name: values for name, values in ways.items() if name in options}
    possible = [[value for value in ways[name] if works(made(family, **{name: value}), lesson)] for name in ways]
    found = (dict(zip(ways, case, strict=True)) for case in pairwise(*possible))
    return [parameters for parameters in found if works(made(family, **parameters), lesson)]
