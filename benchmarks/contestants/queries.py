"""What the rankers of documents share: queries, and pairs of their documents."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contestants.base import Contestant
from benchmarks.tasks import Task


class RankingContestant(Contestant):
    """A ranker of the documents of queries: `predict` gives a score for each; the documents of a query are side by side."""

    def fit(self, model: Any, X: Any, y: NDArray, qid: NDArray) -> Any:
        return model.fit(X, y, qid=qid)


class PointwiseContestant(RankingContestant):
    """A regression on the relevance, which does not look at the queries."""

    def fit(self, model: Any, X: Any, y: NDArray, qid: NDArray) -> Any:
        return model.fit(X, y)


class PairwiseContestant(RankingContestant):
    """A linear classifier of differences, of one pair for each document; the scores are those of the documents themselves."""

    estimator: type
    params: dict[str, Any] = {}

    def make(self, task: Task) -> Any:
        return self.estimator(**self.params, fit_intercept=False, random_state=task.seed)

    def fit(self, model: Any, X: Any, y: NDArray, qid: NDArray) -> Any:
        return model.fit(*differences(X, y, qid, model.random_state))

    def predict(self, model: Any, X: Any) -> NDArray:
        return X @ model.coef_.ravel()


def differences(X: Any, y: NDArray, qid: NDArray, seed: int) -> tuple[Any, NDArray]:
    """Of the pairs: one row less the other, and whether the first is the more relevant (1) or the other (-1)."""
    first, second = pairs(y, qid, seed)
    return X[first] - X[second], np.where(y[first] > y[second], 1, -1)


def pairs(y: NDArray, qid: NDArray, seed: int) -> tuple[NDArray, NDArray]:
    """Each document with one of another relevance in its query, drawn at random; those that have none are left out."""
    order = np.lexsort((y, qid))
    y, qid = y[order], qid[order]
    new_query = np.r_[True, qid[1:] != qid[:-1]]
    new_grade = new_query | np.r_[True, y[1:] != y[:-1]]
    query, query_end = _runs(new_query)
    grade, grade_end = _runs(new_grade)
    others = query_end - query - (grade_end - grade)
    first = np.flatnonzero(others)
    second = query[first] + np.random.default_rng(seed).integers(others[first])
    second += np.where(second >= grade[first], (grade_end - grade)[first], 0)
    return order[first], order[second]


def _runs(new: NDArray) -> tuple[NDArray, NDArray]:
    """For each place, where its run starts and where it ends."""
    start = np.flatnonzero(new)
    run = np.cumsum(new) - 1
    return start[run], np.r_[start[1:], len(new)][run]
