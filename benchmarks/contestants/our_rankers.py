"""sklearn_predtron's rankers."""

from typing import Any

from numpy.typing import NDArray

from benchmarks.contestants.base import Contestant
from benchmarks.contestants.queries import RankingContestant
from benchmarks.tasks import Task
from sklearn_predtron import PredtronLabelRanker, PredtronRanker


class OursRanker(RankingContestant):
    """The ranker of the documents of queries, with the given parameters."""

    module = "sklearn_predtron"

    def __init__(self, name: str = "ours, ranker", **params: Any):
        self.name = name
        self.params = params

    def make(self, task: Task) -> PredtronRanker:
        return PredtronRanker(**self.params, max_iter=task.epochs, shuffle=task.shuffle, random_state=task.seed)


class OursLabelRanker(Contestant):
    """The ranker of labels: `predict` gives their scores."""

    module = "sklearn_predtron"

    def __init__(self, name: str = "ours, label ranker", **params: Any):
        self.name = name
        self.params = params

    def make(self, task: Task) -> PredtronLabelRanker:
        return PredtronLabelRanker(**self.params, max_iter=task.epochs, shuffle=task.shuffle, random_state=task.seed)

    def predict(self, model: Any, X: Any) -> NDArray:
        return model.decision_function(X)
