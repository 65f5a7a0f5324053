"""Predtron for rankings (Jain, Natarajan and Tewari, 2015) as printed, in plain NumPy.

Its members of Sigma_y are arbitrary: here documents of one relevance are ranked by their index.  `PredtronRanker` ranks them as
the competitor does, for by index Predtron does not learn unless such documents score the same.
"""

from collections.abc import Callable
from math import floor, log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Rule = Callable[[NDArray, NDArray], NDArray]


def by_index(y: NDArray, competitor: NDArray) -> NDArray:
    """The position of each document in the right ranking that does not look at the competitor's."""
    return positions(np.argsort(-y, kind="stable"))


def positions(order: NDArray) -> NDArray:
    """Of each document, 0 is the first, from the documents in their order."""
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return places


class PlainPredtron:
    """Algorithm 1 (norm="l2") and Algorithm 3 for l1 margins (norm="l1"), eta = 1, for the NDCG loss with the gain 2^y - 1."""

    def __init__(self, representation: Any, norm: str = "l2", right: Rule = by_index):
        self.representation = representation
        self.norm = norm
        self.right = right

    def partial_fit(self, X: NDArray, y: NDArray, *, qid: NDArray) -> "PlainPredtron":
        """Learn from one query after another."""
        if not hasattr(self, "dual"):
            self.dual = np.zeros(X.shape[1])
        starts = np.flatnonzero(np.diff(qid)) + 1
        for documents, relevance in zip(np.split(X, starts), np.split(y, starts), strict=True):
            self._learn(documents, relevance)
        return self

    def predict(self, X: NDArray) -> NDArray:
        """Scores."""
        return X @ self._weights()

    def _learn(self, X: NDArray, y: NDArray) -> None:
        """A step where a ranking that the scores allow is wrong: documents of different relevance are swapped, or tie."""
        scores = self.predict(X)
        order = np.lexsort((y, -scores))
        if (np.diff(y[order]) <= 0).all():
            return
        f = self.representation.values(len(y))
        f = f / np.linalg.norm(f)
        competitor = loss_augmented(scores, y, f)
        self.dual += X.T @ (f[self.right(y, competitor)] - f[competitor])

    def _weights(self) -> NDArray:
        """The gradient of half the squared q-norm at the dual weights, with the theorem's q; under l2 those themselves."""
        q = max(2, 2 * floor(log(len(self.dual)))) if self.norm == "l1" else 2
        length = np.linalg.norm(self.dual, q)
        return self.dual if q == 2 or length == 0 else np.sign(self.dual) * np.abs(self.dual) ** (q - 1) * length ** (2 - q)


def loss_augmented(scores: NDArray, y: NDArray, f: NDArray) -> NDArray:
    """Positions of the documents that maximise L(sigma, y) + <rep(sigma), scores>: an assignment problem (Lemma 3)."""
    discounts = 1 / np.log2(np.arange(2, len(y) + 2))
    gains = np.exp2(y) - 1
    ideal = np.sort(gains)[::-1] @ discounts
    return linear_sum_assignment(np.outer(scores, f) - np.outer(gains / ideal, discounts), maximize=True)[1]
