"""Losses of sets of labels: functions of hits and misses."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sklearn_predtron.problems._at_k as at_k
import sklearn_predtron.problems._counts as counts
import sklearn_predtron.problems._label_sets as subset
from sklearn_predtron._support import types
from sklearn_predtron._support.compat import Interval, StrOptions
from sklearn_predtron._support.numbers import LARGEST_LOSS, real_numbers
from sklearn_predtron._support.parts import Part, resolve
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.representations import SignVector, SubsetRepresentation

# What NumPy says where an array is used as a number, by `if`, max, math.sqrt or float.
OF_ARRAYS = ("truth value of an array", "arrays can be converted to Python scalars", "only integer scalar arrays")


class SubsetLoss(Part):
    """Base of the losses of sets by counts.

    A set has m labels, and the loss depends on hits and misses.

    The counts are a labels both in the prediction and in y, b in the prediction only (false positives), c in y only (false
    negatives), and d in neither (Jain et al. 2015, supplement, C.2).  `c_L` and `C_L`, the least positive and the largest loss,
    are used by the steps and bounds of the theorems; None means unknown.

    See Also
    --------
    CountLoss : A function of the counts, without a class for it.
    sklearn_predtron.PredtronMultilabelClassifier : Trains with it.
    sklearn_predtron.estimator_checks.check_loss : Checks the contract of a loss.

    Examples
    --------
    A missed label costs three times as much as a false one:

    >>> from sklearn_predtron.losses import SubsetLoss
    >>> class Missed(SubsetLoss):
    ...     def of_counts(self, a, b, c, d):
    ...         return (b + 3 * c) / (a + b + c + d)
    >>> Missed().evaluate([1, 1], [1, 0], [0, 1], [2, 2])
    array([0.25, 0.75])
    >>> Missed().constants(4)
    (0.25, 3.0)
    """

    constants_of = "n_labels"  # the argument on which the constants depend
    balance = 0.0  # how much a batch makes of its rarer class, by default
    c_L: float | None = None
    C_L: float | None = None
    _parameter_constraints: dict[str, list] = {}

    def of_counts(self, a: NDArray, b: NDArray, c: NDArray, d: NDArray) -> NDArray:
        """Evaluate the loss.

        Parameters
        ----------
        a, b, c, d : ndarray of shape (n,)
            True positives, false positives, false negatives and true negatives.

        Returns
        -------
        ndarray of shape (n,)
            L(sigma, y).
        """
        raise TypeError(f"{type(self).__name__} does not define of_counts(); a subset loss must.")

    def evaluate(self, a: NDArray, b: NDArray, c: NDArray, d: NDArray) -> NDArray:
        """Evaluate the loss and check it.

        Parameters
        ----------
        a, b, c, d : ndarray of shape (n,)
            True positives, false positives, false negatives and true negatives.

        Returns
        -------
        ndarray of shape (n,)
            `of_counts(a, b, c, d)`: numbers from 0 to 1e100, and 0 without a mistake.
        """
        counts = [np.array(count) for count in (a, b, c, d)]
        try:
            found = self.of_counts(*(count.copy() for count in counts))
        except (TypeError, ValueError) as error:
            if not any(said in str(error) for said in OF_ARRAYS):
                raise
            raise ValueError(
                f"{type(self).__name__}.of_counts() gets arrays a, b, c and d, of shape {counts[0].shape}, and takes them for "
                f"numbers ({error}); use np.where for if, and np.maximum for max, or CountLoss(function), whose function gets "
                "numbers."
            ) from error
        return checked_values(self, found, counts)

    def constants(self, n_labels: int) -> tuple[float, float]:
        """Return the loss constants c_L and C_L.

        These are the least positive loss and the largest.

        Parameters
        ----------
        n_labels : int
            Number of labels.

        Returns
        -------
        c_L : float
            The value stated by the compiled problem; without one, the least positive loss over all counts of hits and misses.
        C_L : float
            The value stated by the compiled problem; without one, the largest loss over all counts.
        """
        m, problem = n_labels, self.build(SignVector(), n_labels)
        if np.isfinite(problem.c_L) and np.isfinite(problem.C_L):
            return float(problem.c_L), float(problem.C_L)
        a, b, c = (part.ravel() for part in np.indices((m + 1, m + 1, m + 1)))
        kept = a + b + c <= m
        a, b, c = a[kept], b[kept], c[kept]
        values = self.evaluate(a, b, c, m - a - b - c)
        if not values.any():
            raise ValueError(f"loss={self!r} is 0 for all sets of {m} labels; its constants are those of positive losses.")
        return float(values[values > 0].min()), float(values.max())

    def build(self, representation: SubsetRepresentation, m: int) -> subset.LabelSets:
        """Build the compiled problem for sets of m labels.

        Parameters
        ----------
        representation : SubsetRepresentation
            The representation of the sets.
        m : int
            Number of labels.

        Returns
        -------
        LabelSets
            The compiled problem; by default one that searches all counts.
        """
        nan = float("nan")
        return counts.EvaluatedSetLoss(m, self, nan if self.c_L is None else self.c_L, nan if self.C_L is None else self.C_L)


def separable_costs(loss: SubsetLoss, m: int) -> tuple[float, float] | None:
    """Return the costs of false and missed labels, if additive."""
    some = np.unique(np.linspace(0, m, min(m, 8) + 1).round().astype(int))
    a, b, c = (part.ravel() for part in np.meshgrid(some, np.append(some, 1), np.append(some, 1), indexing="ij"))
    kept = a + b + c <= m
    a, b, c = (np.append(part[kept], more) for part, more in zip((a, b, c), ((0, 0), (1, 0), (0, 1)), strict=True))
    values = loss.evaluate(a, b, c, m - a - b - c)
    false, missed = values[-2:]
    separable = np.allclose(values, false * b + missed * c, rtol=1e-9, atol=1e-12 * values.max()) and false + missed > 0
    return (float(false), float(missed)) if separable else None


def checked_values(loss: SubsetLoss, found: Any, counts: list[NDArray]) -> NDArray:
    """Return a loss's `of_counts` for some counts, checked."""
    values, shape = real_numbers(found), counts[0].shape
    accepted = f"accepted is an array of shape {shape} of numbers from 0 to {LARGEST_LOSS:g}, and 0 where b = c = 0"
    if values is None:
        raise ValueError(f"{type(loss).__name__}.of_counts() returned {shortened(found)}; {accepted}.")
    if values.shape != shape:
        raise ValueError(f"{type(loss).__name__}.of_counts() returned shape {values.shape}; {accepted}.")
    wrong = ~((values >= 0) & (values <= LARGEST_LOSS))
    if not isinstance(loss, AtK):  # whose predictions have k labels, whatever the counts that are asked for
        wrong |= (counts[1] == 0) & (counts[2] == 0) & (values != 0)
    if wrong.any():
        i = int(wrong.argmax())
        place = ", ".join(str(count[i]) for count in counts)
        raise ValueError(f"{type(loss).__name__}.of_counts() returned {values[i]} at (a, b, c, d) = ({place}); {accepted}.")
    return values


def share(part: NDArray, whole: NDArray) -> NDArray:
    """Return the quotient; 0 / 0 is 1."""
    return np.divide(part, whole, out=np.ones(np.shape(whole)), where=np.asarray(whole) > 0)


class Hamming(SubsetLoss):
    """The share of wrong labels, L = (b + c) / m.

    Jain et al. 2015, section 3.

    See Also
    --------
    SubsetZeroOne : Counts rows instead of labels.
    sklearn.metrics.hamming_loss : Its mean over rows.

    Examples
    --------
    >>> from sklearn_predtron.losses import Hamming
    >>> float(Hamming().of_counts(1, 1, 0, 2))
    0.25
    """

    alias = "hamming"
    synonyms = ("hamming_loss",)

    def of_counts(self, a: NDArray, b: NDArray, c: NDArray, d: NDArray) -> NDArray:
        return (np.asarray(b) + c) / (np.asarray(a) + b + c + d)

    def build(self, representation: SubsetRepresentation, m: int) -> subset.LabelSets:
        return subset.HammingProblem(m)


class SubsetZeroOne(SubsetLoss):
    """Whether any label is wrong, L = 1[b + c > 0].

    Jain et al. 2015, section 3; printed with the sign reversed.

    See Also
    --------
    Hamming : Counts labels instead of rows.
    sklearn.metrics.zero_one_loss : Its mean over rows.

    Examples
    --------
    >>> from sklearn_predtron.losses import SubsetZeroOne
    >>> float(SubsetZeroOne().of_counts(1, 1, 0, 2))
    1.0
    """

    alias = "subset_zero_one"
    synonyms = ("zero_one", "0-1", "accuracy")

    def of_counts(self, a: NDArray, b: NDArray, c: NDArray, d: NDArray) -> NDArray:
        return np.asarray(np.asarray(b) + c > 0, dtype=np.float64)

    def build(self, representation: SubsetRepresentation, m: int) -> subset.LabelSets:
        return subset.SubsetZeroOneProblem(m)


class ErrorSetSize(SubsetLoss):
    """The share of wrong pairs of labels, L = b c / (P N).

    A pair is of a label of y and another that are both wrong (Jain et al. 2015, section 3).

    P labels are in y and N are not; the loss is 0 if P or N is 0.  Predicting all labels, or none, has no loss.  Updates that
    step on mistakes only learn no more than that; use an update that also steps when the margin is too small.

    See Also
    --------
    Hamming : Counts labels instead of pairs.
    sklearn.metrics.label_ranking_loss : The share of pairs that scores put in the wrong order.

    Examples
    --------
    >>> from sklearn_predtron.losses import ErrorSetSize
    >>> float(ErrorSetSize().of_counts(1, 1, 1, 3))
    0.125
    """

    alias = "error_set_size"
    synonyms = ("ranking_loss", "error_set")

    def of_counts(self, a: NDArray, b: NDArray, c: NDArray, d: NDArray) -> NDArray:
        pairs = (np.asarray(a) + c) * (np.asarray(b) + d)
        return np.asarray(b) * c / np.maximum(pairs, 1)

    def build(self, representation: SubsetRepresentation, m: int) -> subset.LabelSets:
        if m == 1:
            raise ValueError(
                f"loss='error_set_size' is about pairs of labels, and there is {m} label; 'hamming' takes any number."
            )
        return subset.ErrorSetSizeProblem(m)


class FBeta(SubsetLoss):
    """1 - F measure of a row's labels (alias "f1").

    L = 1 - (1 + beta^2) a / ((1 + beta^2) a + b + beta^2 c).

    The loss is 0 if neither y nor the prediction has a label.

    Parameters
    ----------
    beta : float, default=1.0
        Weight of recall against precision.

    See Also
    --------
    Jaccard : Counts each mistake once, and a hit once.
    sklearn_predtron.metrics.subset_scorer : Scores by the mean F measure.
    sklearn.metrics.fbeta_score : With average="samples" and zero_division=1, 1 - its mean over rows.

    Examples
    --------
    >>> from sklearn_predtron.losses import FBeta
    >>> float(FBeta().of_counts(1, 1, 1, 3)), float(FBeta(beta=2.0).of_counts(3, 2, 0, 0))
    (0.5, 0.11764705882352944)
    """

    alias = "f1"
    balance = 0.5
    synonyms = ("f", "f_measure", "f_score")
    variants = {"f2": {"beta": 2.0}, "f0.5": {"beta": 0.5}}
    _parameter_constraints = {"beta": [Interval(Real, 0, None, closed="neither")]}

    def __init__(self, beta: float = 1.0):
        self.beta = beta

    def of_counts(self, a: NDArray, b: NDArray, c: NDArray, d: NDArray) -> NDArray:
        hits = (1 + self.beta**2) * np.asarray(a, dtype=np.float64)
        return 1 - share(hits, hits + b + self.beta**2 * np.asarray(c))

    def build(self, representation: SubsetRepresentation, m: int) -> subset.LabelSets:
        self._validate_params()
        if not 0 < self.beta * self.beta < np.inf:
            raise ValueError(f"beta={self.beta} must have a positive finite square.")
        return subset.FBetaProblem(m, self.beta)


class Jaccard(SubsetLoss):
    """1 - intersection over union of a row's labels.

    L = 1 - a / (a + b + c), or 0 if the union is empty.

    See Also
    --------
    FBeta : Counts a hit twice, and lets you choose the weight of recall.
    sklearn.metrics.jaccard_score : With average="samples" and zero_division=1, 1 - its mean over rows.

    Examples
    --------
    >>> from sklearn_predtron.losses import Jaccard
    >>> float(Jaccard().of_counts(1, 1, 2, 0))
    0.75
    """

    alias = "jaccard"
    balance = 0.5
    synonyms = ("iou", "jaccard_score")

    def of_counts(self, a: NDArray, b: NDArray, c: NDArray, d: NDArray) -> NDArray:
        return 1 - share(np.asarray(a), np.asarray(a) + b + c)

    def build(self, representation: SubsetRepresentation, m: int) -> subset.LabelSets:
        return subset.JaccardProblem(m)


class BalancedError(SubsetLoss):
    """1 - balanced accuracy of a row's labels (alias "balanced").

    L = (c / P + b / N) / 2.

    P labels are in y and N are not.  The loss is the mean of both error rates; if P or N is 0, it is the other rate alone.

    See Also
    --------
    GMean : The geometric instead of the arithmetic mean.
    sklearn.metrics.balanced_accuracy_score : The measure of the labels of one row.

    Examples
    --------
    >>> from sklearn_predtron.losses import BalancedError
    >>> float(BalancedError().of_counts(1, 1, 1, 3)), float(BalancedError().of_counts(0, 1, 0, 3))
    (0.375, 0.25)
    """

    alias = "balanced"
    balance = 1.0
    synonyms = ("balanced_accuracy", "balanced_error_rate", "ber")

    def of_counts(self, a: NDArray, b: NDArray, c: NDArray, d: NDArray) -> NDArray:
        missed, alarms = 1 - share(np.asarray(a), np.add(a, c)), 1 - share(np.asarray(d), np.add(b, d))
        both = (np.add(a, c) > 0) & (np.add(b, d) > 0)
        return (missed + alarms) / (1.0 + both)

    def build(self, representation: SubsetRepresentation, m: int) -> subset.LabelSets:
        return subset.BalancedErrorProblem(m)


class GMean(SubsetLoss):
    """1 - geometric mean of sensitivity and specificity (alias "g_mean").

    L = 1 - sqrt(a d / (P N)).

    P labels are in y and N are not; if P or N is 0, its factor is 1.

    See Also
    --------
    BalancedError : The arithmetic instead of the geometric mean.
    FBeta : The harmonic mean of precision and recall.

    Examples
    --------
    >>> from sklearn_predtron.losses import GMean
    >>> float(GMean().of_counts(1, 3, 0, 1))
    0.5
    """

    alias = "g_mean"
    balance = 1.0
    synonyms = ("gm", "geometric_mean")

    def of_counts(self, a: NDArray, b: NDArray, c: NDArray, d: NDArray) -> NDArray:
        sensitivity, specificity = share(np.asarray(a), np.add(a, c)), share(np.asarray(d), np.add(b, d))
        return 1 - np.sqrt(sensitivity * specificity)

    def build(self, representation: SubsetRepresentation, m: int) -> subset.LabelSets:
        return counts.EvaluatedSetLoss(m, self, 1 - np.sqrt(1 - 1 / m) if m > 0 else np.nan, 1.0)


class AtK(SubsetLoss):
    """Base of the losses with k predicted labels; another `rule` predicts at least or at most k."""

    k: float
    rule: str
    _recall: bool
    _parameter_constraints = {
        "k": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="neither")],
    }

    def size(self, m: int) -> int:
        """Return k of m labels.

        Parameters
        ----------
        m : int
            Number of labels.

        Returns
        -------
        int
            `k`, or that share of the labels, rounded, but at least 1.
        """
        return max(1, round(self.k * m)) if self.k < 1 else int(self.k)

    def sizes(self, m: int) -> tuple[int, int]:
        """Return the number of labels that a prediction may have.

        Parameters
        ----------
        m : int
            Number of labels.

        Returns
        -------
        least : int
            Smallest number of labels.
        most : int
            Largest number of labels.
        """
        k = self.size(m)
        return 0 if self.rule == "at_most" else k, m if self.rule == "at_least" else k

    def build(self, representation: SubsetRepresentation, m: int) -> subset.LabelSets:
        self._validate_params()
        if 0 < m < self.k:
            raise ValueError(f"loss={self} predicts {self.k} labels of each row, and there are {m}; k must be at most {m}.")
        k = self.size(m) if m > 0 else self.k  # of batches, whose numbers of rows differ, the share itself
        return at_k.AtKProblem(m, k, self._recall, self.rule != "exactly")

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a saved state, with or without a rule."""
        super().__setstate__({"rule": "exactly", **state})


class PrecisionAtK(AtK):
    """Share of wrong labels among the k predicted: L = b / k.

    Predictions have exactly or at least k labels.

    If y has fewer than k labels, every prediction has a loss; updates then use the excess over the least loss.

    Parameters
    ----------
    k : int or float, default=1
        Number of labels in a prediction; below 1, the share of all labels, rounded, but at least one label.
    rule : {"exactly", "at_least"}, default="exactly"
        With "at_least", a prediction has the labels with positive scores, but at least the k largest, and L = b / (a + b).

    See Also
    --------
    RecallAtK : The share of the labels of y that are missed.
    sklearn_predtron.metrics.precision_at_k : The precision of a ranking.

    Examples
    --------
    >>> from sklearn_predtron.losses import PrecisionAtK
    >>> float(PrecisionAtK(k=2).of_counts(1, 1, 0, 2)), float(PrecisionAtK(k=2, rule="at_least").of_counts(3, 1, 0, 2))
    (0.5, 0.25)
    """

    alias = "precision_at_k"
    synonyms = ("precision", "prec", "p")
    _recall = False
    _parameter_constraints = {**AtK._parameter_constraints, "rule": [StrOptions({"exactly", "at_least"})]}

    def __init__(self, k: float = 1, rule: types.AtLeastName = "exactly"):
        self.k = k
        self.rule = rule

    def of_counts(self, a: NDArray, b: NDArray, c: NDArray, d: NDArray) -> NDArray:
        a = np.asarray(a)
        return 1 - share(a, a + b)


class RecallAtK(AtK):
    """Share of the labels of y not predicted: L = c / P.

    Predictions have exactly or at most k labels.

    The loss is 0 if y has no label.  If y has more than k, every prediction has a loss; updates use the excess over the least.

    Parameters
    ----------
    k : int or float, default=1
        Number of labels in a prediction; below 1, the share of all labels, rounded, but at least one label.
    rule : {"exactly", "at_most"}, default="exactly"
        With "at_most", a prediction has the labels with positive scores, but at most the k largest.

    See Also
    --------
    PrecisionAtK : The share of the predicted labels that are wrong.
    BreakEven : Predicts as many rows as are positive.

    Examples
    --------
    >>> from sklearn_predtron.losses import RecallAtK
    >>> float(RecallAtK(k=2).of_counts(1, 1, 3, 2)), float(RecallAtK(k=2, rule="at_most").of_counts(1, 0, 1, 4))
    (0.75, 0.5)
    """

    alias = "recall_at_k"
    synonyms = ("recall", "r")
    _recall = True
    _parameter_constraints = {**AtK._parameter_constraints, "rule": [StrOptions({"exactly", "at_most"})]}

    def __init__(self, k: float = 1, rule: types.AtMostName = "exactly"):
        self.k = k
        self.rule = rule

    def of_counts(self, a: NDArray, b: NDArray, c: NDArray, d: NDArray) -> NDArray:
        return 1 - share(np.asarray(a), np.asarray(a) + c)


class BreakEven(AtK):
    """Precision at the break-even point of batches: L = c / P.

    As many rows are predicted as are positive.

    For `PredtronBipartiteClassifier`, which predicts as positive the share of rows that were positive in training.

    See Also
    --------
    PrecisionAtK : Predicts a given number or share of rows.
    sklearn_predtron.PredtronBipartiteClassifier : Trains with it.

    Examples
    --------
    >>> from sklearn_predtron.losses import BreakEven
    >>> float(BreakEven().of_counts(3, 1, 1, 5))
    0.25
    """

    _recall = True
    _parameter_constraints: dict[str, list] = {}
    rule = "exactly"

    def sizes(self, m: int) -> tuple[int, int]:
        raise ValueError(f"loss={self} is of batches of rows: nothing says how many of {m} labels of a row are predicted.")

    def of_counts(self, a: NDArray, b: NDArray, c: NDArray, d: NDArray) -> NDArray:
        return 1 - share(np.asarray(a), np.asarray(a) + c)

    def build(self, representation: SubsetRepresentation, m: int) -> subset.LabelSets:
        if m > 0:
            self.sizes(m)
        return at_k.AtKProblem(0, 0, self._recall)


class CountLoss(SubsetLoss):
    """Any function of the counts: L = function(a, b, c, d).

    The search over all b and c is exact.

    Parameters
    ----------
    function : callable
        Takes true positives, false positives, false negatives and true negatives as integers; returns the loss, finite, not
        negative, at most 1e100, and 0 where b = c = 0.  Called once for each possible combination.
    c_L, C_L : float or None, default=None
        The least positive and the largest loss, needed for the steps and bounds of the theorems; values that contradict them
        raise ValueError.

    See Also
    --------
    SubsetLoss : Base, for losses with parameters, evaluated for many counts at once.
    sklearn_predtron.metrics.subset_scorer : Scores by any such function.

    Examples
    --------
    >>> from sklearn_predtron import PredtronMultilabelClassifier
    >>> from sklearn_predtron.losses import CountLoss
    >>> def balanced_error(a, b, c, d):
    ...     return (b / (b + d) if b else 0) / 2 + (c / (a + c) if c else 0) / 2
    >>> PredtronMultilabelClassifier(loss=CountLoss(balanced_error)).fit([[0.0], [1.0]], [[0, 1], [1, 0]]).predict([[1.0]])
    array([[1, 0]])
    """

    _parameter_constraints = {
        "function": [callable],
        "c_L": [Interval(Real, 0, None, closed="neither"), None],
        "C_L": [Interval(Real, 0, None, closed="neither"), None],
    }

    def __init__(self, function: Callable[[int, int, int, int], float], c_L: float | None = None, C_L: float | None = None):
        self.function = function
        self.c_L = c_L
        self.C_L = C_L

    def of_counts(self, a: NDArray, b: NDArray, c: NDArray, d: NDArray) -> NDArray:
        rows, place = np.unique(np.column_stack([a, b, c, d]), axis=0, return_inverse=True)
        losses = [counts.checked_loss(self.function, *row, *self._stated()) for row in rows.tolist()]
        return np.array(losses, dtype=np.float64)[place.ravel()]

    def _stated(self) -> tuple[float, float]:
        """Return c_L and C_L, NaN if not stated."""
        nan = float("nan")
        return nan if self.c_L is None else self.c_L, nan if self.C_L is None else self.C_L

    def build(self, representation: SubsetRepresentation, m: int) -> subset.LabelSets:
        self._validate_params()
        c_L, C_L = self._stated()
        if c_L > C_L:
            raise ValueError(f"c_L={self.c_L} is the least positive loss and must be at most C_L={self.C_L}.")
        if np.isinf(c_L) or np.isinf(C_L):
            raise ValueError(f"c_L={self.c_L} and C_L={self.C_L} must be finite, or None.")
        return counts.TabulatedSetLoss(m, self.function, c_L, C_L)


OF_FUNCTIONS = "functions of the true positives, false positives, false negatives and true negatives of a set"


def subset_loss(value: Any, build: Callable[[SubsetLoss], Any] | None = None) -> SubsetLoss:
    """Return the set loss that `loss` denotes."""
    if callable(value) and not isinstance(value, (type, SubsetLoss)):
        return CountLoss(value)
    return resolve(SubsetLoss, value, "loss", build, also=OF_FUNCTIONS)
