"""Our linear learner on scikit-learn's Nystroem features, which approximate the Gaussian kernel."""

from typing import Any

from numpy.typing import NDArray
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline, make_pipeline

from benchmarks.contestants.base import Contestant
from benchmarks.contestants.ours import Ours
from benchmarks.tasks import Task


class NystroemOurs(Contestant):
    """As many features as `components`, or as there are rows if these are fewer."""

    def __init__(self, components: int = 100, gamma: float | None = None, linear: Ours | None = None):
        self.name = f"Nystroem {components} + ours"
        self.components = components
        self.gamma = gamma
        self.linear = linear or Ours()

    def make(self, task: Task) -> Pipeline:
        return make_pipeline(Nystroem(gamma=self.gamma, random_state=task.seed), self.linear.make(task))

    def fit(self, model: Pipeline, X: Any, y: NDArray) -> Pipeline:
        return model.set_params(nystroem__n_components=min(self.components, X.shape[0])).fit(X, y)
