"""Scores and predictions in blocks of rows, over the threads that joblib gives."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.rows import OVERFLOW, Rows
from sklearn_predtron.families._validation import Validated

BLOCK = 1 << 16  # scores that stay near the processor until they are decoded
MANY_BLOCKS = 64  # the least that threads are worth, whose start takes as long as some blocks


class Predicting(Validated):
    """Scores rows and decodes their scores; a row's are the same, to the last bit, in any block and any thread."""

    def _shift(self, learner: Learner) -> NDArray | None:
        """Return what predictions take off the scores, of shape (d,); None takes nothing off."""
        return None

    def _raw_predict(self, X: Any) -> Any:
        """Return what `_loss_of` compares with labels, one entry for each row."""
        raise TypeError(f"{type(self).__name__} does not define _raw_predict(); a family must.")

    def _loss_of(self, predicted: Any, y: Any) -> NDArray:
        """Return the family's own loss of what was predicted of each round."""
        raise TypeError(f"{type(self).__name__} does not define _loss_of(); a family must.")

    def _scores(self, X: Any, *, shifted: bool = True) -> NDArray:
        """Return scores of shape (n_samples, d) under the weights that predict, or as they were learned."""
        return self._scored(X, shifted=shifted)[1]

    def _scored(self, X: Any, *, shifted: bool = True) -> tuple[Learner, NDArray]:
        """Return the learner of now, and the scores under its weights."""
        learner, X, rows = self._read_rows_to_predict(X)
        shift = self._shift(learner) if shifted else None
        scores = np.empty((rows.n, learner.problem.d))
        source = of_one_moment(learner, rows)
        in_blocks(learner, rows, lambda first, last: self._score(source, X, rows, first, scores[first:last]))
        return learner, scores if shift is None else scores - shift

    def _scored_beside(self, X: Any, reader: Callable[[Any], Any]) -> tuple[Learner, NDArray, Any]:
        """Return the learner of now, the scores, and what a reader finds in the same weights, if any try is within a round."""
        with self._learner.lock.reading():
            return *self._scored(X), self._learner.read(reader)

    def _decoded(self, X: Any, pack: Callable[[NDArray], Any] = np.asarray) -> Any:
        """Return the problem's predictions, one for each row; a block of them is packed before the next one is made."""
        learner, X, rows = self._read_rows_to_predict(X)
        problem, shift = learner.problem, self._shift(learner)
        source = of_one_moment(learner, rows)

        def decode(first: int, last: int) -> Any:
            scores = self._score(source, X, rows, first, np.empty((last - first, problem.d)))
            return pack(problem.predict(scores if shift is None else scores - shift))

        parts = in_blocks(learner, rows, decode)
        if len(parts) == 1:
            return parts[0]
        # SciPy before 1.12 stacks sparse arrays to a matrix, whose product is another.
        return type(parts[0])(sparse.vstack(parts, "csr")) if sparse.issparse(parts[0]) else np.concatenate(parts)

    def _read_rows_to_predict(self, X: Any) -> tuple[Learner, Any, Rows]:
        """Return the learner of now, which another thread may replace, X and its rows."""
        if "_learner" not in self.__dict__:
            check_is_fitted(self)
        learner = self._learner
        X, rows = self._read_rows(X, reset=False)
        if learner.weights.expansion is not None:  # a kernel may be finite where X is not
            self._check_finite(X, rows)
        return learner, X, rows

    def _score(self, learner: Any, X: Any, rows: Rows, first: int, scores: NDArray) -> NDArray:
        """Fill the scores of the rows from the first on."""
        if not learner.scores(rows, scores, first=first):
            self._check_finite(X, rows)
            raise ValueError(OVERFLOW)
        return scores


def of_one_moment(learner: Learner, rows: Rows) -> Any:
    """Return what scores the rows: in several blocks, by what predicts now."""
    if rows.n == 1 or rows.n <= BLOCK // learner.problem.d or learner.weights.expansion is not None:
        return learner
    return learner.predictor()


def in_blocks(learner: Learner, rows: Rows, work: Callable[[int, int], Any]) -> list[Any]:
    """Return work(first, last) for blocks of the rows."""
    n, size = rows.n, max(1, BLOCK // learner.problem.d)
    if n <= size or learner.weights.expansion is not None:  # an expansion has blocks of its own
        return [work(0, n)]
    blocks = [(first, min(first + size, n)) for first in range(0, n, size)]
    n_jobs = effective_n_jobs(None) if len(blocks) >= MANY_BLOCKS else 1
    done = [work(*blocks[0])]  # writes down, once, what the others predict by
    if n_jobs == 1:
        return done + worked(work, blocks[1:])
    cuts = np.linspace(1, len(blocks), n_jobs + 1).astype(int)
    shares = (blocks[begin:end] for begin, end in itertools.pairwise(cuts))
    return sum(Parallel(n_jobs, require="sharedmem")(delayed(worked)(work, share) for share in shares), done)


def worked(work: Callable[[int, int], Any], blocks: list[tuple[int, int]]) -> list[Any]:
    """Return work(first, last) for some blocks."""
    return [work(*block) for block in blocks]
