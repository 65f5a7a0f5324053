"""Parameters, problem and tags of both rankers; they rank lists of items by scores."""

from __future__ import annotations

import copy
from typing import Any

from numpy.typing import NDArray

from sklearn_predtron._core.problem import Problem
from sklearn_predtron._support.parts import checked_build
from sklearn_predtron.losses import RankingLoss, ranking_loss
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.representations import RankingRepresentation, ranking_representation

CONSTRAINTS: dict[str, list] = {"loss": [str, RankingLoss], "representation": [str, callable, RankingRepresentation]}


def ranking_problem(loss: Any, representation: Any, n: int) -> Problem:
    """Build the compiled problem of rankings.

    It follows from the parameters `loss` and `representation`, for n items; 0 is any number.
    """
    loss = copy.copy(ranking_loss(loss))
    representation = copy.copy(ranking_representation(representation, lambda found: loss.build(found, n)))
    problem, d = loss.build(representation, n), representation._n_scores(n)
    return checked_build(loss, problem, representation._problem, d=d, n_labels=n)


def losses_of_lists(problem: Any, scores: NDArray, relevance: NDArray, start: NDArray) -> NDArray:
    """Return the loss of each list of rows; the problem is compiled; `start` has the first row of each list."""
    return problem.losses(scores, Relevances(relevance, start))


def ranker_tags(tags: Any) -> Any:
    """Return the tags, set to those of a ranker."""
    tags.estimator_type = "ranker"
    tags.target_tags.positive_only = True
    return tags
