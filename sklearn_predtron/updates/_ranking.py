"""The updates of rankings; they take their direction from pairs of items."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_predtron._core.problem import Problem
from sklearn_predtron._core.rule import Rule
from sklearn_predtron._support import types
from sklearn_predtron._support.capabilities import ITEM_WEIGHTS, RANKED_LABELS, RANKINGS
from sklearn_predtron._support.compat import StrOptions
from sklearn_predtron.updates._basic_updates import POSITIVE, Update
from sklearn_predtron.updates._comparator import Comparator
from sklearn_predtron.updates._ranking_rules import ListNetRule, MaxPairRule, MMPRule, SlamRule
from sklearn_predtron.updates._shared_bounds import bound_of_fixed_step, bound_of_step, check_fixed_step, largest_total


class Slam(Update):
    """SLAM perceptron (alias "slam").

    It steps along the subgradient of a large-margin surrogate that bounds the list's loss.

    On a mistake t <- t - eta sum_i v_i (e_k(i) - e_i), over the items i with a less relevant item whose score is not 1 below;
    k(i) is the best of those.  The weights v are those of loss="ndcg" (also with k) or loss="ap", averaged within each grade
    (Chaudhuri and Tewari 2015, eq. 9 to 11 and 16, Algorithm 1).

    Parameters
    ----------
    eta : float, "theory" or "invsqrt", default="theory"
        The step; "theory" is v / (D^2 R^2), with the least positive weight v, the largest length R of a document so far and
        D^2 = 4; for rankings of labels, R is the length of a row and D^2 = 2.  "invsqrt" is 1 / sqrt(t) in round t.

    See Also
    --------
    MaxPair : The worst pair alone, for any loss.
    sklearn_predtron.losses.NDCG : A loss with weights of the items.
    sklearn_predtron.losses.AveragePrecision : Another such loss.

    Notes
    -----
    Use it for lists that can be ranked nearly without loss.  On long noisy lists one of the many irrelevant items has the best
    score by chance; every round steps away from it, and the learned ranking is little better than chance.

    `loss_bound` is D^2 R^2 / (v gamma^2) for eta = "theory", with the least positive weight v (for c_L) of the lists with a loss.
    R is the largest length of a document, and D^2 = 4; for ranked labels R is that of a row, and D^2 = 2.  gamma is the margin
    of pairs.  For a number below 2 v / (D R)^2 the same proof gives 1 / (eta gamma^2 (2 - eta D^2 R^2 / v)).

    `comparator_bound` is (|U|^2 + 2 eta sum f(U)) / (eta (2 - eta D^2 R^2 / v)), f being the surrogate (Chaudhuri and
    Tewari 2015, Theorem 6).

    Examples
    --------
    >>> from sklearn_predtron import PredtronRanker
    >>> from sklearn_predtron.updates import Slam
    >>> PredtronRanker(update=Slam(eta=0.1)).get_params()["update__eta"]
    0.1
    """

    alias = "slam"
    synonyms = ("slam_perceptron",)
    needs = (RANKINGS, ITEM_WEIGHTS)
    pairwise = True
    _parameter_constraints = {"eta": [POSITIVE, StrOptions({"theory", "invsqrt"})]}

    def __init__(self, eta: types.StepOfRankingName | float = "theory"):
        self.eta: Any = eta

    def build(self, problem: Problem) -> Rule:
        self._validate_params()
        number = 1.0 if isinstance(self.eta, str) else self.eta
        return SlamRule(number, self.eta == "invsqrt", self.eta == "theory")

    def theorem(self, problem: Problem) -> str:
        if self.eta == "invsqrt":
            return super().theorem(problem)
        return f"{'Corollary 7' if getattr(problem.ranking_loss, 'k', None) is None else 'Theorem 8'} (Chaudhuri and Tewari 2015)"

    def loss_bound(self, problem: Problem, margin: float, radius: float, c_L: float) -> float:
        if not np.isfinite(c_L):
            raise ValueError("loss_bound knows the least weight v with update='slam' only after a mistake; there was none.")
        return bound_of_step(self.eta, c_L, 1.0, margin, problem.D2_of_pairs * radius**2)

    def comparator_bound(self, problem: Problem, against: Comparator, c_L: float) -> float:
        check_fixed_step(self)
        if not np.isfinite(c_L):
            raise ValueError("c_L=None is the least weight v with update='slam', known only after a mistake; there was none.")
        excess = float(against.slam_surrogates().sum())
        return bound_of_fixed_step(self.eta, c_L, against.length, excess, problem.D2_of_pairs * against.radius**2)


class MaxPair(Update):
    """Updates by the worst pair of items (alias "max_pair").

    On a mistake, it is the pair that is furthest from the right order.

    t <- t + eta L (e_i - e_j), with (i, j) = argmax t_j - t_i over pairs in which i is more relevant (Chaudhuri and Tewari 2015,
    section 4).

    Parameters
    ----------
    eta : float, default=1.0
        The step.  It scales the weights and changes no ranking.
    weighted : bool, default=True
        Whether the step is multiplied by the list's loss L.

    See Also
    --------
    Slam : All items that are not ahead by 1, weighted by the loss.
    MMP : All pairs of labels in the wrong order.

    Notes
    -----
    `loss_bound` is 4 R^2 / gamma^2, with the largest length R of a document and gamma over pairs; 2 R^2 / gamma^2 for
    ranked labels.

    `comparator_bound` is the largest S with S - E <= D R |U| sqrt(S), where E = sum max(0, 1 - margin of U) over lists.

    Examples
    --------
    >>> from sklearn_predtron.updates import MaxPair
    >>> MaxPair(weighted=False)
    MaxPair(weighted=False)
    """

    alias = "max_pair"
    needs = (RANKINGS,)
    pairwise = True
    _parameter_constraints = {"eta": [POSITIVE], "weighted": ["boolean"]}

    def __init__(self, eta: float = 1.0, weighted: bool = True):
        self.eta = eta
        self.weighted = weighted

    def build(self, problem: Problem) -> Rule:
        self._validate_params()
        return MaxPairRule(self.eta, self.weighted)

    def theorem(self, problem: Problem) -> str:
        return "Theorem 10 (Chaudhuri and Tewari 2015)"

    def loss_bound(self, problem: Problem, margin: float, radius: float, c_L: float) -> float:
        return problem.D2_of_pairs * radius**2 / margin**2

    def comparator_bound(self, problem: Problem, against: Comparator, c_L: float) -> float:
        excess = float(against.shortfalls().sum())
        return largest_total(excess, problem.D2_of_pairs * (against.radius * against.length) ** 2)


class ListNet(Update):
    """Online ListNet (alias "listnet").

    It steps along the gradient of the cross entropy of softmax(relevance) and softmax(scores):

    t <- t - eta (softmax(t) - softmax(y)) (Chaudhuri and Tewari 2015, section 6).  Every list has an
    update, even if ranked right, unless all of its relevances are equal.  There is no bound on the loss.

    Parameters
    ----------
    eta : float or "invsqrt", default="invsqrt"
        The step; "invsqrt" is 1 / sqrt(t) in round t.  It depends on the scale of X.

    See Also
    --------
    Slam : Steps on mistakes only, with a bound on the loss.
    sklearn_predtron.PredtronRanker : Trains with it.

    Examples
    --------
    >>> from sklearn_predtron.updates import ListNet
    >>> ListNet(eta=0.01)
    ListNet(eta=0.01)
    """

    alias = "listnet"
    needs = (RANKINGS,)
    _parameter_constraints = {"eta": [POSITIVE, StrOptions({"invsqrt"})]}

    def __init__(self, eta: types.FadingStepName | float = "invsqrt"):
        self.eta: Any = eta

    def build(self, problem: Problem) -> Rule:
        self._validate_params()
        fading = isinstance(self.eta, str)
        return ListNetRule(1.0 if fading else self.eta, fading)


class MMP(Update):
    """Multiclass multilabel perceptron for label rankings (alias "mmp").

    See Crammer and Singer (2003).

    E is the set of pairs of labels whose more relevant label does not lead.  If E is not empty, a total weight c is spread over
    E, and t <- t + eta sum of the weights times (e_i - e_j).

    Parameters
    ----------
    cost : {"is_error", "error_set", "normalised"}, default="is_error"
        c: 1, |E|, or the share of E among all pairs of different relevance.
    weights : {"uniform", "max", "random"}, default="uniform"
        How c is spread: evenly, on the pair furthest from the right order, or at random (always the same numbers).
    eta : float, default=1.0
        The step.  It scales the weights and changes no ranking.

    See Also
    --------
    MaxPair : The worst pair alone; also for documents.
    sklearn_predtron.PredtronLabelRanker : Trains with it.

    Notes
    -----
    `loss_bound` is 2 R^2 C / gamma^2, with gamma over pairs of labels.  C is 1 for "is_error" and m (m - 1) / 2, the number of
    pairs, for the others.  The costs c sum to 2 R^2 / gamma^2 times the largest c.  The losses are at most 1, and so at most c;
    only with "normalised" c may be as small as 2 / (m (m - 1)).

    `comparator_bound` is the largest S with S - C E <= R |U| sqrt(2 C S), where E = sum max(0, 1 - margin of U), and C is
    1, or m (m - 1) / 2 for "error_set"; for "normalised" it is m (m - 1) / 2 times that.

    Examples
    --------
    >>> from sklearn_predtron import PredtronLabelRanker
    >>> from sklearn_predtron.updates import MMP
    >>> PredtronLabelRanker(update=MMP(weights="max")).get_params()["update__weights"]
    'max'
    """

    alias = "mmp"
    needs = (RANKED_LABELS,)
    pairwise = True
    _parameter_constraints = {
        "cost": [StrOptions({"is_error", "error_set", "normalised"})],
        "weights": [StrOptions({"uniform", "max", "random"})],
        "eta": [POSITIVE],
    }

    def __init__(self, cost: types.LabelCostName = "is_error", weights: types.PairWeightsName = "uniform", eta: float = 1.0):
        self.cost = cost
        self.weights = weights
        self.eta = eta

    def build(self, problem: Problem) -> Rule:
        self._validate_params()
        return MMPRule(self.eta, self.cost, self.weights)

    def theorem(self, problem: Problem) -> str:
        return "the bound of MMP (Crammer and Singer 2003)"

    def loss_bound(self, problem: Problem, margin: float, radius: float, c_L: float) -> float:
        pairs = 1 if self.cost == "is_error" else problem.d * (problem.d - 1) / 2
        return 2 * radius**2 * pairs / margin**2

    def comparator_bound(self, problem: Problem, against: Comparator, c_L: float) -> float:
        pairs, excess = problem.d * (problem.d - 1) / 2, float(against.shortfalls().sum())
        most = pairs if self.cost == "error_set" else 1.0
        found = largest_total(most * excess, 2 * most * (against.radius * against.length) ** 2)
        return found * (pairs if self.cost == "normalised" else 1.0)
