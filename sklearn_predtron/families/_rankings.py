"""What both rankers share."""

from __future__ import annotations

import copy
from typing import Any

from numpy.typing import NDArray

from sklearn_predtron._parts import checked_build, resolve
from sklearn_predtron.families._base import BasePredtron
from sklearn_predtron.families._sparse_coef import SparseCoef
from sklearn_predtron.losses import RankingLoss, ranking_loss
from sklearn_predtron.problems._base import Problem
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.representations import RankingRepresentation, ranking_representation
from sklearn_predtron.updates import Update


class BaseRanker(SparseCoef):
    """Lists of items with relevances are learned, and ranked by their scores."""

    _parameter_constraints: dict[str, list] = {
        **BasePredtron._parameter_constraints,
        "loss": [str, RankingLoss],
        "representation": [str, callable, RankingRepresentation],
    }
    loss: Any
    representation: Any
    _n_labels = 0  # stands for the documents of queries

    def _build_problem(self) -> Problem:
        loss, n = copy.copy(ranking_loss(self.loss)), self._n_labels
        representation = copy.copy(ranking_representation(self.representation, lambda found: loss.build(found, n)))
        problem, d = loss.build(representation, n), representation._n_scores(n)
        return checked_build(loss, problem, representation._problem, d=d, n_labels=n)

    def _losses(self, scores: NDArray, labels: Relevances) -> NDArray:
        """Return the learned loss of each list."""
        return self._own_problem().losses(scores, labels)

    def _own_problem(self) -> Problem:
        """Return the problem with scratch memory of its own: the caller may be one of several threads."""
        return copy.copy(self._learner.problem)

    def _list_margins(self, scores: NDArray, labels: Relevances) -> NDArray:
        pairwise = resolve(Update, self.update, "update").pairwise
        return self._at_unit_norm(self._own_problem().margins(scores, labels, pairwise))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ranker"
        tags.target_tags.positive_only = True
        return tags
