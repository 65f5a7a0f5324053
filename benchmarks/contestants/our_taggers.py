"""The sequence tagger of this package, in its variants."""

from typing import Any

from numpy.typing import NDArray

from benchmarks.contestants.taggers import TaggingContestant
from sklearn_predtron import PredtronSequenceTagger


class OursTagger(TaggingContestant):
    module = "sklearn_predtron"

    def __init__(self, name: str = "ours, default", **params: Any):
        self.name = name
        self.params = params

    def convert(self, X: Any, sid: NDArray) -> tuple:
        return X, sid

    def load(self, sequences: tuple, y: NDArray) -> tuple:
        return *sequences, y

    def learn(self, loaded: tuple, epochs: int) -> PredtronSequenceTagger:
        X, sid, y = loaded
        return PredtronSequenceTagger(**self.params, max_iter=epochs, random_state=0).fit(X, y, sid=sid)

    def tag(self, model: PredtronSequenceTagger, sequences: tuple) -> NDArray:
        X, sid = sequences
        return model.predict(X, sid=sid)
