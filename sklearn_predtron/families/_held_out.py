"""Scores of rows that were held out: what predicts, as it meets rows that it has not learned."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from sklearn_predtron.families._base import BasePredtron
from sklearn_predtron.families._validation import Batch

FOLDS = 5
# A fit of more rows, or of more values times scores, shows its observer the first epoch alone; with a kernel, whose rounds
# cost as much as there are rows, of fewer.
MOST_ROWS, MOST_WORK = 20_000, 10**7
MOST_KERNEL_ROWS = 2_000


class HeldOut(BasePredtron):
    """Shows an observer, in `fit`, each row as learners predict it that have learned the other folds alone, for as many epochs.

    They learn at last, when it is known after which epoch `fit` is best; until then the observer of its first epoch serves.
    """

    def _hold_out(self, batch: Batch) -> None:
        rows, (problem, update, average, _) = batch.rows, self._learner.parts()
        there = np.arange(rows.n) if batch.order is None else batch.order
        epochs = self._learner.t // len(there)  # a callback may have gone back to an earlier one
        random = self._fold_generator()
        fold = folds_of(self._strata(batch.labels)[there], random)
        scores = np.empty((rows.n, problem.d))
        for number in range(fold.max() + 1):
            learner = self._new_learner(problem, rows, None)
            self._run_unseen(learner, batch._replace(order=there[fold != number]), random, epochs)
            out = there[fold == number]
            scores[out] = self._score(learner, batch.X, rows, 0, np.empty_like(scores))[out]
        weight = None if batch.weight is None else batch.weight / batch.weight.max()
        observer: Any = self._build_observer(problem, None)
        observer.show(problem, scores, batch.labels, there, weight)
        observer.scale_to(average.mass(self._learner.t))
        self._learner = self._learner.with_parts(problem, update, average, observer)
        self._note_held_out(scores, batch, there)

    def _note_held_out(self, scores: NDArray, batch: Batch, there: NDArray) -> None:
        """Take note of the scores of rows held out."""

    def _strata(self, labels: Any) -> NDArray:
        """Return the number of the stratum of each row, of which all folds have as many."""
        return labels.array

    def _holds_out(self, batch: Batch) -> bool:
        X, n = batch.X, batch.rows.n if batch.order is None else len(batch.order)
        if self._learner.observer is None:
            return False
        work = (X.nnz if sparse.issparse(X) else X.size) * self._learner.problem.d
        most = MOST_ROWS if self._learner.weights.expansion is None else MOST_KERNEL_ROWS
        return 1 < n <= most and work <= MOST_WORK

    def _fold_generator(self) -> np.random.Generator | None:
        """Return a source of its own, so that `fit` draws what it draws without folds."""
        if not self.shuffle:
            return None
        return np.random.default_rng([copy.deepcopy(check_random_state(self.random_state)).randint(2**31), FOLDS])


def folds_of(codes: NDArray, random: np.random.Generator | None) -> NDArray:
    """Return the number of the fold of each row: of about the same size, with about as many rows of each class."""
    order = np.arange(len(codes)) if random is None else random.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(len(codes), dtype=np.intp)
    fold[order] = np.arange(len(codes)) % FOLDS
    return fold
