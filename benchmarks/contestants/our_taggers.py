"""The sequence tagger of this package, in its variants."""

from typing import Any

import numpy as np
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

    def learn(self, loaded: tuple, epochs: int | None) -> PredtronSequenceTagger:
        X, sid, y = loaded
        how = {} if epochs is None else {"cv": 0, "max_iter": epochs}  # one learner
        return PredtronSequenceTagger(**{**how, **self.params}, random_state=0).fit(X, y, sid=sid)

    def tag(self, model: PredtronSequenceTagger, sequences: tuple) -> NDArray:
        X, sid = sequences
        return model.predict(X, sid=sid)

    def log_loss(self, model: PredtronSequenceTagger, sequences: tuple, y: NDArray) -> float | None:
        if not hasattr(model, "predict_proba"):
            return None  # of fewer than twenty sequences
        X, sid = sequences
        places = np.searchsorted(model.classes_, y)
        return float(-np.log(model.predict_proba(X, sid=sid)[np.arange(len(y)), places]).mean())
