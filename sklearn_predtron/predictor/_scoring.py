"""Scores of rows in blocks, and the predictions of a decision."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.predictors import are_few
from sklearn_predtron._core.rows import OVERFLOW, Rows, issparse
from sklearn_predtron.decisions._base import PLAIN, Decision, UnseenRows

BLOCK = 1 << 16  # scores of a block, which fit the processor's cache
MANY_BLOCKS = 64  # from which on threads are used: their start takes as long as some blocks


@dataclass(slots=True)  # made for each call, and four times as fast as a frozen one
class Scorer:
    """Rows, and the learner that scores them.

    Parameters
    ----------
    learner : Learner
        The learner.
    fitted_decision : dict or None
        The fitted values of decisions, by name.
    rows : Rows
        The rows.
    check_finite : callable
        Raises ValueError if the rows hold NaN or infinity; called if the scores are not finite.
    """

    learner: Learner
    fitted_decision: Any
    rows: Rows
    check_finite: Callable[[], None]

    def scores(self, decision: Decision = PLAIN) -> NDArray:
        """Return the scores, minus the shift of a decision."""
        decision = decision if decision.shifts else PLAIN
        if not self._has_blocks():
            return self._current_scores(decision)[1]
        scores = np.empty((self.rows.n, self.learner.problem.d))

        def fill(first: int, last: int, decision: Decision, found: NDArray) -> None:
            scores[first:last] = found

        self._in_blocks(decision, fill)
        return scores

    def decoded(self, decision: Decision, pack: Callable[[Any], Any] = np.asarray) -> Any:
        """Return a decision's predictions, one for each row; each block of predictions is packed before the next."""
        problem = self.learner.problem
        if not self._has_blocks():
            decision, scores = self._current_scores(decision)
            return pack(decision.predict(problem, scores))

        def decode(first: int, last: int, decision: Decision, scores: NDArray) -> Any:
            return pack(decision.predict(problem, scores))

        parts = self._in_blocks(decision, decode)
        if not issparse(parts[0]):
            return np.concatenate(parts)
        from scipy import sparse  # predictions that are arrays do without SciPy

        # SciPy before 1.12 stacks sparse arrays to a matrix, whose `*` is the matrix product.
        return type(parts[0])(sparse.vstack(parts, "csr"))

    def fill(self, predictor: Any, first: int, scores: NDArray) -> NDArray:
        """Fill in the scores of rows from `first`; they are computed by a learner or by its predictor."""
        if not predictor.scores(self.rows, scores, first=first):
            self.check_finite()
            raise ValueError(OVERFLOW)
        return scores

    def _has_blocks(self) -> bool:
        """Return whether rows are scored in several blocks.

        An expansion has blocks of its own.

        To score blocks, all weights are written out first, which takes longer than to score few rows among many weights.
        """
        learner, rows = self.learner, self.rows
        return rows.n > 1 and rows.n > size_of_block(learner) and learner.weights.expansion is None and not are_few(rows, 0)

    def _current_scores(self, decision: Decision) -> tuple[Decision, NDArray]:
        """Return the current decision and the shifted scores; both are as of one round."""
        learner = self.learner
        scores = np.empty((self.rows.n, learner.problem.d))
        if not decision.needs_scores:
            self.fill(learner, 0, scores)
            decision = decision.fitted(UnseenRows.of(learner, self.fitted_decision))
        else:
            with learner.lock.reading():
                self.fill(learner, 0, scores)
                decision = decision.fitted(UnseenRows.of(learner, self.fitted_decision))
        shift = decision.shift(learner.problem)
        if shift is not None:
            scores -= shift
        return decision, scores

    def _in_blocks(self, decision: Decision, work: Callable[..., Any]) -> list[Any]:
        """Return work(first, last, decision, scores) for blocks.

        All blocks are as of one round; joblib's threads compute them.
        """
        learner = self.learner
        with learner.lock.reading():
            predictor, decision = learner.predictor(), decision.fitted(UnseenRows.of(learner, self.fitted_decision))
        shift = decision.shift(learner.problem)

        def work_on(first: int, last: int) -> Any:
            scores = self.fill(predictor, first, np.empty((last - first, learner.problem.d)))
            if shift is not None:
                scores -= shift
            return work(first, last, decision, scores)

        return map_blocks(self.rows.n, size_of_block(learner), work_on)


def size_of_block(learner: Learner) -> int:
    """Return the number of rows to score together."""
    return max(1, BLOCK // learner.problem.d)


def map_blocks(n: int, size: int, work: Callable[[int, int], Any]) -> list[Any]:
    """Return work(first, last) for blocks of n rows."""
    blocks = [(first, min(first + size, n)) for first in range(0, n, size)]
    n_jobs = count_threads(is_long=True) if len(blocks) >= MANY_BLOCKS else 1
    if n_jobs == 1:
        return map_some(work, blocks)
    from joblib import Parallel, delayed  # one thread does without it

    cuts = np.linspace(0, len(blocks), n_jobs + 1).astype(int)
    shares = (blocks[begin:end] for begin, end in itertools.pairwise(cuts))
    found = Parallel(n_jobs, require="sharedmem")(delayed(map_some)(work, share) for share in shares)
    return list(itertools.chain.from_iterable(found))


def map_some(work: Callable[[int, int], Any], blocks: list[tuple[int, int]]) -> list[Any]:
    """Return work(first, last) for some blocks."""
    return [work(*block) for block in blocks]


def count_threads(*, is_long: bool) -> int:
    """Return the number of threads of a computation.

    A configuration of joblib says it.  By default a long computation has as many threads as the parallel loops of scikit-learn:
    ``OMP_NUM_THREADS`` and limits of threadpoolctl are respected, and a job of joblib has one thread.
    """
    if "joblib" not in sys.modules:  # as in a program with a predictor alone, which does without these imports
        return 1
    from joblib import effective_n_jobs
    from joblib.parallel import get_active_backend
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

    backend, n_jobs = get_active_backend()
    if n_jobs is None and backend.nesting_level == 0:
        return _openmp_effective_n_threads() if is_long else 1
    return effective_n_jobs(None)
