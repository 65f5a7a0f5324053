"""Losses of rankings."""

from __future__ import annotations

import copy
from collections.abc import Callable
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import sklearn_predtron.problems._ranking_losses as core
from sklearn_predtron._support import types
from sklearn_predtron._support.capabilities import ITEM_WEIGHTS
from sklearn_predtron._support.compat import Interval, StrOptions
from sklearn_predtron._support.numbers import real_numbers
from sklearn_predtron._support.parts import Part, resolve
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.problems._ranking import RankingProblem
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.representations import LogRank, RankingRepresentation, check_no_length

if TYPE_CHECKING:
    from sklearn_predtron._core.problem import Problem

MOST_RELEVANT = 30


class RankingLoss(Part):
    """Base of the losses of rankings.

    The loss is 0 for a list whose items all have the same relevance.

    See Also
    --------
    NDCG : Takes gains and discounts, without a class for them.
    sklearn_predtron.PredtronRanker : Trains with it.
    sklearn_predtron.estimator_checks.check_loss : Checks the contract of a loss.

    Examples
    --------
    Each loss says which lists it accepts, and which values it can have on some of them:

    >>> from sklearn_predtron.losses import NDCG, AveragePrecision, RankingLoss
    >>> from sklearn_predtron.theory import loss_constants
    >>> isinstance(NDCG(), RankingLoss), NDCG().takes([2, 1, 0]), AveragePrecision().takes([2, 1, 0])
    (True, True, False)
    >>> least, largest = loss_constants(AveragePrecision(), y=[1, 0, 0])
    >>> round(least, 3), round(largest, 3)
    (0.5, 1.0)
    """

    constants_of = "y"  # the argument on which the constants depend
    _strict = False  # whether relevances that differ must differ in their gains

    def gains(self, labels: Relevances) -> NDArray:
        """Compute the gains of the relevances of all lists.

        Parameters
        ----------
        labels : Relevances
            Relevances of the lists.

        Returns
        -------
        ndarray
            A gain for each of `labels.values`.
        """
        return np.zeros(len(labels.values))

    def gain_table(self, labels: Relevances) -> NDArray:
        """Compute the gains and check their number.

        Parameters
        ----------
        labels : Relevances
            Relevances of the lists.

        Returns
        -------
        ndarray
            `gains(labels)`.
        """
        found = self.gains(labels)
        plain = isinstance(found, np.ndarray) and found.dtype == np.float64
        gains = np.ascontiguousarray(found) if plain else real_numbers(found)
        if gains is None:
            raise ValueError(f"loss={self!r} gives gains {shortened(found)}; it must give numbers.")
        if gains.shape != labels.values.shape:
            raise ValueError(f"loss={self!r} gives gains of shape {gains.shape}; it must give {labels.values.shape}.")
        if type(self).gains.__module__ != __name__:
            self._check_gains(gains, labels)
        return gains

    def _check_gains(self, gains: NDArray, labels: Relevances) -> None:
        """Raise ValueError unless gains follow the relevances' order."""
        strange = gains[~(np.isfinite(gains) & (gains >= 0))]
        if len(strange):
            raise ValueError(f"loss={self!r} gives the gain {strange[0]}; it must give finite numbers that are not negative.")
        values, within = labels.values, np.ones(len(gains), dtype=bool)
        within[labels.starts[:-1] + np.arange(labels.n)] = False  # a list's first grade is its highest
        change = np.diff(gains)
        wrong = np.flatnonzero(within[1:] & (np.diff(values) < 0) & ((change >= 0) if self._strict else (change > 0)))
        if len(wrong):
            i = wrong[0]
            raise ValueError(
                f"loss={self!r} gives the relevance {values[i]:g} the gain {gains[i]:g}, and {values[i + 1]:g} the gain "
                f"{gains[i + 1]:g}; the larger relevance must have {'the larger' if self._strict else 'no smaller'} gain."
            )

    def takes(self, relevances: ArrayLike) -> bool:
        """Return whether the loss is defined for a list.

        Parameters
        ----------
        relevances : array-like of shape (m,)
            The relevances of the items.

        Returns
        -------
        bool
            Whether `gains` accepts them.
        """
        try:
            self.gain_table(list_of(relevances))
        except ValueError:
            return False
        return True

    def constants(self, lists: Relevances) -> tuple[float, float]:
        """Return the loss constants c_L and C_L of lists.

        Parameters
        ----------
        lists : Relevances
            Relevances of the lists.

        Returns
        -------
        c_L : float
            The least loss of a wrong ranking of these lists.
        C_L : float
            The largest loss, which is 1.
        """
        problem = copy.copy(self).build(LogRank(), 0)
        least = float(problem.least_losses(lists).min(initial=np.inf))
        if not np.isfinite(least):
            raise ValueError("y holds no list that can be ranked wrongly.")
        return least, float(problem.C_L)

    def build(self, representation: RankingRepresentation, n_labels: int) -> Problem:
        """Build the compiled problem.

        Parameters
        ----------
        representation : RankingRepresentation
            The representation of the rankings.
        n_labels : int
            Number of labels that are ranked; 0 for the documents of queries.

        Returns
        -------
        RankingProblem, or PreferencesProblem of representation="pairwise"
            The compiled problem.
        """
        raise TypeError(f"{type(self).__name__} does not define build(); a loss of rankings must.")


def list_of(relevances: ArrayLike) -> Relevances:
    """Return a single list."""
    values = np.array(relevances, dtype=np.float64)
    return Relevances(values, np.array([0, len(values)], dtype=np.intp))


class NDCG(RankingLoss):
    """1 - normalised discounted cumulative gain (alias "ndcg").

    L = 1 - DCG(sigma, y) / max DCG.

    DCG = sum over the items of G(y_i) D(position of i), with G(y) = 2^y - 1 and D(j) = 1 / log2(1 + j) (Jain et al. 2015, section
    4, corrected; Chaudhuri and Tewari 2015, eq. 1).

    Parameters
    ----------
    k : int or None, default=None
        Number of top positions that count; None is all.  A list may be shorter.
    gain : {"exponential", "linear"} or callable, default="exponential"
        Gain G: "exponential" is 2^y - 1, for relevances up to 30; "linear" is y.  A function takes an array of relevances; its
        values must be finite, not negative and larger for the larger relevance.
    discount : "log" or callable, default="log"
        Discount D: "log" is 1 / log2(1 + j).  A function takes the positions 1, 2, ... as an array.  Its values must be finite,
        not negative and never rise, the first one positive.  With a constant discount, gain="linear" and relevances 0 and 1,
        the loss is 1 - hits / min(k, P) for P relevant items: precision at k, scaled so that the best ranking has loss 0.

    See Also
    --------
    AveragePrecision : For relevances 0 and 1.
    sklearn_predtron.representations.LogRank : The representation with this discount.
    sklearn_predtron.metrics.ndcg : Measures it.

    Examples
    --------
    >>> from sklearn_predtron import PredtronRanker
    >>> from sklearn_predtron.losses import NDCG
    >>> PredtronRanker(loss=NDCG(k=10)).get_params()["loss__k"]
    10

    One of two relevant documents is among the first three, so precision at 3 is 1/3:

    >>> import numpy as np
    >>> hits = NDCG(k=3, gain="linear", discount=np.ones_like)
    >>> X, y = [[4.0], [3.0], [2.0], [1.0]], [0, 1, 0, 1]
    >>> PredtronRanker(loss=hits).fit(X, [3, 2, 1, 0], qid="one").sample_loss(X, y, qid="one")
    array([0.5])
    """

    alias = "ndcg"
    offers = (ITEM_WEIGHTS,)
    synonyms = ("dcg",)
    _strict = True
    _parameter_constraints = {
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "gain": [StrOptions({"exponential", "linear"}), callable],
        "discount": [StrOptions({"log"}), callable],
    }

    def __init__(
        self,
        k: int | None = None,
        gain: types.GainName | Callable[[NDArray], Any] = "exponential",
        discount: types.DiscountName | Callable[[NDArray], Any] = "log",
    ):
        self.k = k
        self.gain = gain
        self.discount = discount

    def gains(self, labels: Relevances) -> NDArray:
        gains = self._gains_of(labels.values)
        if not np.isfinite(gains.max(initial=0) * labels.longest):
            raise ValueError(
                f"y holds the relevance {labels.values.max():g}; the gains of a list are so large that they overflow."
            )
        return gains

    def _gains_of(self, values: NDArray) -> NDArray:
        if not isinstance(self.gain, str):
            return checked_gains(self.gain, values)
        if self.gain == "linear":
            return values.copy()
        if values.max(initial=0) > MOST_RELEVANT:
            raise ValueError(
                f"y holds the relevance {values.max():g}; with gain='exponential', 2^y - 1, at most {MOST_RELEVANT} is "
                "accepted (loss=NDCG(gain='linear') takes any)."
            )
        return np.where(values < 0.5, np.expm1(values * np.log(2)), np.exp2(values) - 1)

    def discounts(self, m: int) -> NDArray:
        """Return the discounts of the positions.

        Parameters
        ----------
        m : int
            Number of positions.

        Returns
        -------
        ndarray of shape (m,)
            D(1), ..., D(m); 0 beyond k.
        """
        j = np.arange(1, m + 1, dtype=np.float64)
        D = 1 / np.log2(1 + j) if isinstance(self.discount, str) else checked_discounts(self.discount, self.discount(j), m)
        if self.k is not None:
            D[self.k :] = 0
        return D

    def discount_table(self, m: int) -> NDArray:
        """Tabulate the discounts and check them.

        Parameters
        ----------
        m : int
            Number of positions.

        Returns
        -------
        ndarray of shape (m,)
            `discounts(m)`, which are finite, not negative, never rise and do not depend on m.
        """
        D = checked_discounts(self, self.discounts(m), m)
        check_no_length("discount", self, self.discounts, D)
        return D

    def build(self, representation: RankingRepresentation, n_labels: int) -> RankingProblem:
        self._validate_params()
        return core.NDCGProblem(n_labels, representation, self)


def checked_gains(gain: Callable, values: NDArray) -> NDArray:
    """Return custom gains of the relevances, checked."""
    if len(values) == 0:
        return values
    distinct, place = np.unique(values, return_inverse=True)
    given = gain(distinct.copy())
    found = real_numbers(given)
    if found is None:
        raise ValueError(f"gain={gain!r} must give an array of numbers; it gives {shortened(given)}.")
    good = found.shape == distinct.shape and np.isfinite(found).all() and (found >= 0).all() and (np.diff(found) > 0).all()
    if not good:
        raise ValueError(
            f"gain={gain!r} must give an array of finite numbers, not negative and larger for the larger relevance; for the "
            f"relevances {distinct[:5].tolist()} it gives {found[:5].tolist() if found.ndim else found.tolist()}."
        )
    return found[place.ravel()]


def checked_discounts(discount: Any, values: Any, m: int) -> NDArray:
    """Return the discounts of m positions, checked."""
    D = real_numbers(values)
    if D is None:
        raise ValueError(f"discount={discount!r} must give an array of numbers; it gives {shortened(values)}.")
    good = D.shape == (m,) and np.isfinite(D).all() and (D >= 0).all() and (np.diff(D) <= 0).all() and D[0] > 0
    if not good:
        raise ValueError(
            f"discount={discount!r} must give an array of finite numbers, not negative and never rising, of which the first is "
            f"positive; for {m} positions it begins with {D[:5].tolist() if D.ndim else D.tolist()}."
        )
    return D


class AveragePrecision(RankingLoss):
    """1 - average precision (alias "ap").

    Average precision is the mean, over the relevant items, of the share of relevant ones down to each.

    For relevances 0 and 1 (Chaudhuri and Tewari 2015, section 2).

    See Also
    --------
    NDCG : For grades of relevance.
    sklearn_predtron.metrics.average_precision : Measures it.

    Examples
    --------
    >>> from sklearn_predtron import PredtronRanker
    >>> X, y = [[2.0], [1.0], [0.0]], [0, 1, 1]
    >>> PredtronRanker(loss="ap").fit(X, y, qid="one").sample_loss(X, y, qid="one")
    array([0.])
    """

    alias = "ap"
    offers = (ITEM_WEIGHTS,)
    synonyms = ("map", "mean_average_precision")

    def gains(self, labels: Relevances) -> NDArray:
        strange = labels.values[~np.isin(labels.values, (0, 1))]
        if len(strange):
            raise ValueError(f"y holds the relevance {strange[0]:g}; loss='ap' takes 0 and 1 (loss='ndcg' takes grades).")
        return labels.values.copy()

    def build(self, representation: RankingRepresentation, n_labels: int) -> RankingProblem:
        return core.AveragePrecisionProblem(n_labels, representation, self)


class SwappedPairs(RankingLoss):
    """The share of wrongly ordered pairs, 1 - AUC.

    Relevances have two grades.

    The exact loss, with the representation's own margin; use `KendallTau` for more than two grades or for hinges on pairs.

    See Also
    --------
    KendallTau : For any grades, learned by hinges on pairs.
    sklearn.metrics.roc_auc_score : Measures a list.

    Examples
    --------
    >>> from sklearn_predtron import PredtronRanker
    >>> from sklearn_predtron.losses import SwappedPairs
    >>> X, y = [[2.0], [1.0], [0.0]], [0, 1, 0]
    >>> PredtronRanker(loss=SwappedPairs()).fit(X, y, qid="one").sample_loss(X, y, qid="one")
    array([0.5])
    """

    alias = "swapped_pairs"
    synonyms = ("auc", "roc_auc")

    def gains(self, labels: Relevances) -> NDArray:
        most = labels.grades.max(initial=0)
        if most > 2:
            raise ValueError(
                f"y has a list of {most} different relevances; loss='swapped_pairs' takes two a list (loss='kendall_tau' any)."
            )
        return labels.top_grades.astype(np.float64)

    def build(self, representation: RankingRepresentation, n_labels: int) -> RankingProblem:
        return core.SwappedPairsProblem(n_labels, representation, self)


class RankingZeroOne(RankingLoss):
    """Zero if a ranking is right, else one.

    It is wrong if any item is below a less relevant one (alias "ranking_zero_one").

    The competitor is the order by score.  If that order is right, it is the best other one, in which two neighbours of different
    relevance change places.

    See Also
    --------
    SwappedPairs : Counts pairs instead of rankings.
    NDCG : Gives more weight to the top positions.

    Examples
    --------
    >>> from sklearn_predtron import PredtronRanker
    >>> X, y = [[2.0], [1.0], [0.0]], [2, 0, 1]
    >>> PredtronRanker(loss="ranking_zero_one").fit(X, y, qid="one").sample_loss(X, y, qid="one")
    array([1.])
    """

    alias = "ranking_zero_one"
    synonyms = ("zero_one", "0-1", "exact")

    def build(self, representation: RankingRepresentation, n_labels: int) -> RankingProblem:
        return core.RankingZeroOneProblem(n_labels, representation, self)


class KendallTau(RankingLoss):
    """The share of wrongly ordered pairs, with pairwise hinges.

    Pairs have different relevance.

    The surrogate is the mean of max(0, 1 - (s_i - s_j)) over the pairs with y_i > y_j (UML 17.4).  The representation matters
    only if it is "pairwise": each pair of labels then has its own score and learner.  During training, items with equal scores
    count as wrongly ordered; `sample_loss` counts them as half wrong.

    See Also
    --------
    SwappedPairs : The exact loss, for two grades a list.
    sklearn_predtron.representations.Pairwise : A learner for each pair of labels.
    sklearn_predtron.metrics.kendall_tau : Measures it.

    Examples
    --------
    >>> from sklearn_predtron import PredtronLabelRanker
    >>> X, y = [[0.0], [1.0], [2.0]], [[2, 1, 0], [1, 2, 0], [0, 1, 2]]
    >>> bool(PredtronLabelRanker(loss="kendall_tau", random_state=0).fit(X, y).sample_loss(X, y).mean() < 0.2)
    True
    """

    alias = "kendall_tau"
    synonyms = ("kendall", "tau", "hinge", "ranking_loss")

    def build(self, representation: RankingRepresentation, n_labels: int) -> Problem:
        return representation._pairs_problem(n_labels, self)


def ranking_loss(value: Any) -> RankingLoss:
    """Return the ranking loss that `loss` denotes."""
    return resolve(RankingLoss, value, "loss")
