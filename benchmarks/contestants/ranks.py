"""What some learners of ranks need around them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class PresentRanks:
    """A model that must see every rank: it learns those which the training part has, numbered 0, 1, ... without gaps."""

    def __init__(self, model: Any):
        self.model = model

    def fit(self, X: NDArray, y: NDArray) -> "PresentRanks":
        self.ranks, codes = np.unique(y, return_inverse=True)
        self.model.fit(X, codes)
        return self

    def predict(self, X: NDArray) -> NDArray:
        return self.ranks[self.model.predict(X)]
