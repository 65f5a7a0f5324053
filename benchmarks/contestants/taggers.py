"""What the runner needs to know of a tagger."""

from typing import Any

from numpy.typing import NDArray

from benchmarks.contestants.base import Contestant


class TaggingContestant(Contestant):
    """A tagger: rows are tokens, those of a sequence one after the other, and labels are text."""

    def convert(self, X: Any, sid: NDArray) -> Any:
        """Sequences as the learner takes them."""
        raise TypeError(f"{type(self).__name__} does not define convert(); an adapter must.")

    def load(self, sequences: Any, y: NDArray) -> Any:
        """What `learn` learns from, as often as it is called."""
        raise TypeError(f"{type(self).__name__} does not define load(); an adapter must.")

    def load_one_by_one(self, X: Any, y: NDArray, sid: NDArray) -> Any:
        """The same, with no more of X converted at a time than it must be."""
        return self.load(self.convert(X, sid), y)

    def learn(self, loaded: Any, epochs: int | None) -> Any:
        """A model that is learned anew in some epochs; None is as the learner does by default."""
        raise TypeError(f"{type(self).__name__} does not define learn(); an adapter must.")

    def log_loss(self, model: Any, sequences: Any, y: NDArray) -> float | None:
        """The mean log loss of the labels of tokens; None of a learner without probabilities."""
        return None

    def tag(self, model: Any, sequences: Any) -> NDArray:
        """The label of each token."""
        raise TypeError(f"{type(self).__name__} does not define tag(); an adapter must.")
