"""Promises about predictions, and their tests on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrik
from sklearn.utils import column_or_1d

from sklearn_predtron._support.names import refuse_class
from sklearn_predtron._support.numbers import LARGEST_LOSS, real_number
from sklearn_predtron._support.queries import is_missing_id, shortened, shortened_list
from sklearn_predtron.decisions._measures import CONDITIONS, NEEDS_LABEL

LEVELS = 1000  # limits of the expected cost that are tested, if the tests are exact
N_BETTING_LEVELS = 100  # if not, as each takes longer
DRAWS = 40  # simulations of the labels of held-out rows, to choose the first limit
LEAST_DRAWS = 5  # for many rows
MOST_DRAWN = 5000  # rows up to which there are all of these simulations
NEIGHBOURS = 10  # a label is that of one of the tenth of the rows on either side
LITTLE = 1e-9  # rows that are answered where a test fails
NEARLY = 0.98  # of the most rows answered
LARGEST_BET = 0.9  # share of the possible loss
IMAGINED = 5  # rows that were seen before the first
LEAST_SQUARE = 1e-12
NEVER = -1.0  # the limit of an answer that is not given
BEYOND = 1 + 1e-9  # a limit of the largest cost times this is none: sums of probabilities are rounded


@dataclass(frozen=True)
class Promise:
    """Base of promises: a bound of a measure of the predictions."""

    measure: str | Callable[[NDArray], float]
    bound: float
    _: KW_ONLY
    label: Any = None
    predicted: Any = None
    group: Any = None

    def __post_init__(self) -> None:
        """Raise ValueError if a value is not accepted."""
        measure, bound = self.measure, real_number(self.bound)
        refuse_class("measure", measure)
        if callable(measure):
            self._check_function(bound)
            return
        if not isinstance(measure, str) or measure not in CONDITIONS:
            known = ", ".join(map(repr, CONDITIONS))
            raise ValueError(f"measure={shortened(measure)} is not known; accepted are {known} and a function.")
        most, what = (LARGEST_LOSS, "above 0") if measure == "risk" else (1.0, "above 0 and below 1")
        if bound is None or not 0 < bound < most:
            raise ValueError(f"bound={shortened(self.bound)} of {measure!r} must be a number {what}.")
        for name in ("label", "predicted", "group"):
            if getattr(self, name) is not None and is_missing_id(getattr(self, name)):
                raise ValueError(f"{name}={shortened(getattr(self, name))} is missing; accepted are None and a value.")
        for name in ("label", "predicted"):
            if getattr(self, name) is not None and name not in CONDITIONS[measure]:
                raise ValueError(f"{name}={shortened(getattr(self, name))} does not go with {measure!r}; accepted is None.")
        if self.label is None and measure in NEEDS_LABEL:
            raise ValueError(f"label=None does not go with {measure!r}, which is of one label; accepted is a class.")
        if self.label is not None and self.predicted is not None:
            raise ValueError(
                f"label={shortened(self.label)} does not go with predicted={shortened(self.predicted)}: the cost of a row with "
                "both is fixed; accepted is one of them."
            )

    def _check_function(self, bound: Any) -> None:
        """Raise ValueError if a function's bound is not accepted; the function must have a name of its own, and no condition."""
        name = getattr(self.measure, "__qualname__", None)
        if name is None or "<lambda>" in name:
            raise ValueError(
                f"measure={shortened(self.measure)} has no name, by which a model recognises its measure; accepted is a function "
                "that is defined by def."
            )
        if bound is None or not np.isfinite(bound):
            raise ValueError(f"bound={shortened(self.bound)} of {name} must be a finite number.")
        for one in ("label", "predicted", "group"):
            if getattr(self, one) is not None:
                raise ValueError(
                    f"{one}={shortened(getattr(self, one))} does not go with the function {name}, which gets the "
                    "confusion matrix of all rows; accepted is None."
                )

    def __repr__(self) -> str:
        """Return the call that makes the promise."""
        what = self.measure.__qualname__ if callable(self.measure) else repr(self.measure)
        given = [f"{name}={getattr(self, name)!r}" for name in ("label", "predicted", "group") if getattr(self, name) is not None]
        return f"{type(self).__name__}({', '.join([what, f'{self.bound:g}', *given])})"


class AtMost(Promise):
    """Promise that a measure of the predictions is at most a bound.

    Parameters
    ----------
    measure : {"risk", "precision", "recall", "false_positive_rate", "predicted_rate", "abstention_rate"} or callable
        "risk" is the mean loss of the answered rows, in units of `loss`; for the 0-1 loss it is the share of wrong answers.
        "precision" is the share of rows with the label among those predicted as such; "recall" the share of the rows with the
        label that are predicted as such, so that abstained rows count as not found; "false_positive_rate" the share of the
        other rows that are predicted as the label; "predicted_rate" the share of all rows that are predicted as the label;
        "abstention_rate" the share of rows that are not answered.

        In ``ExpectedCost(subject_to=...)`` for two classes it may be a function.  It gets the confusion matrix in the form of
        :func:`sklearn.metrics.confusion_matrix` and returns a number; nan is beyond any bound.
    bound : float
        The bound, above 0; below 1 except for "risk".  For a function, any finite number.
    label : label, default=None
        The label of "precision", "recall", "false_positive_rate" and "predicted_rate".  For the other measures, the true label
        of the rows that count; None counts all rows.
    predicted : label, default=None
        For "risk", the predicted label of the rows that count; None counts all answered rows.
    group : str or number, default=None
        The group of the rows that count, by the ``groups`` of `certify`; None counts all rows.

    See Also
    --------
    AtLeast : Promises the other direction.
    Certificate : The result of testing promises.
    ExpectedCost : Decisions of lowest cost within such bounds.

    Examples
    --------
    >>> from sklearn_predtron.decisions import AtMost
    >>> AtMost("risk", 0.02, predicted="well")
    AtMost('risk', 0.02, predicted='well')
    >>> AtMost("recall", 2, label="ill")
    Traceback (most recent call last):
        ...
    ValueError: bound=2 of 'recall' must be a number above 0 and below 1.
    """


class AtLeast(Promise):
    """Promise that a measure of the predictions is at least a bound.

    Parameters
    ----------
    measure : {"risk", "precision", "recall", "false_positive_rate", "predicted_rate", "abstention_rate"} or callable
        As for `AtMost`.
    bound : float
        The bound, above 0; below 1 except for "risk".
    label, predicted, group : default=None
        As for `AtMost`.

    See Also
    --------
    AtMost : Promises the other direction.
    Certificate : The result of testing promises.

    Examples
    --------
    >>> from sklearn_predtron.decisions import AtLeast
    >>> AtLeast("precision", 0.9, label="ill")
    AtLeast('precision', 0.9, label='ill')
    """


class EncodedPromise(NamedTuple):
    """A promise with the numbers of its labels, as it is saved.

    A function as the measure is saved by its name, and is the last field.
    """

    at_least: bool
    measure: str
    bound: float
    label: int | None = None
    predicted: int | None = None
    group: Any = None
    function: Any = None

    @property
    def terms(self) -> tuple[Any, ...]:
        """What is saved."""
        return tuple(self)[:-1]

    def named(self, classes: NDArray) -> Promise:
        """Return the promise with its labels."""
        names = classes.tolist()
        label, predicted = (None if code is None else names[code] for code in (self.label, self.predicted))
        kind = AtLeast if self.at_least else AtMost
        return kind(self.measure, self.bound, label=label, predicted=predicted, group=self.group)

    def answer(self) -> int | None:
        """Return the only answer that the promise depends on, or None."""
        if self.measure == "precision":
            return self.label
        return self.predicted if self.measure == "risk" else None

    def possible(self, costs: NDArray) -> NDArray:
        """Return the losses that a row can have."""
        if self.measure != "risk":
            return np.array([0.0, 1.0])
        rows = costs if self.label is None else costs[[self.label]]
        return rows if self.predicted is None else rows[:, [self.predicted]]

    def parts(self, costs: NDArray) -> tuple[NDArray, NDArray]:
        """Return two tables, whose means over rows have the measure as ratio; each has shape (k, n_predictions)."""
        (k, n), label = costs.shape, self.label
        hits, scope = np.zeros((k, n)), np.zeros((k, n))
        true = np.ones(k, bool) if label is None else np.arange(k) == label
        if self.measure == "risk":
            answers = slice(k) if self.predicted is None else self.predicted
            scope[true, answers], hits[true, answers] = 1, costs[true, answers]
        elif self.measure == "precision":
            scope[:, label], hits[label, label] = 1, 1
        elif self.measure == "abstention_rate":
            scope[true], hits[true, k] = 1, 1
        elif self.measure == "predicted_rate":
            scope[:], hits[:, label] = 1, 1
        else:
            true = true if self.measure == "recall" else ~true
            scope[true], hits[true, label] = 1, 1
        return hits, scope


class EvaluatedRows(NamedTuple):
    """Held-out rows: what is answered unless the model abstains.

    Parameters
    ----------
    best : ndarray of shape (n,)
        The numbers of the labels with the lowest expected cost.
    cost : ndarray of shape (n,)
        These expected costs.
    codes : ndarray of shape (n,)
        The numbers of the true labels.
    groups : list of length n or None
        The groups.
    """

    best: NDArray
    cost: NDArray
    codes: NDArray
    groups: Any = None

    def repeated(self, n: int) -> EvaluatedRows:
        """Return n times as many rows like these."""
        groups = None if self.groups is None else self.groups * n
        return EvaluatedRows(np.tile(self.best, n), np.tile(self.cost, n), np.tile(self.codes, n), groups)


class TestSequence(NamedTuple):
    """Limits of the expected cost of answers, in the order of their tests, from the strictest.

    Parameters
    ----------
    answer : int or None
        The label whose answers are limited, by number; None limits all.
    promises : tuple of EncodedPromise
        The promises that must hold at each limit.
    limits : ndarray
        The largest expected costs.
    """

    answer: int | None
    promises: tuple[EncodedPromise, ...]
    limits: NDArray


def checked_promises(promises: Any) -> list[Promise]:
    """Return a list of promises; raise ValueError for others."""
    found = list(promises) if isinstance(promises, (list, tuple)) else []
    if not found or not all(isinstance(promise, Promise) for promise in found):
        raise ValueError(
            f"promises={shortened(promises)} must be a list of AtMost(...) and AtLeast(...), at least one; None are those of "
            "reject.risk."
        )
    return found


def checked_groups(groups: Any, named: list[Any], n: int) -> list[Any] | None:
    """Return the group of each row; raise ValueError unless all named groups have rows."""
    named = [group for group in named if group is not None]
    if groups is None and named:
        raise ValueError(f"groups=None does not go with a promise of group={named[0]!r}; accepted is the group of each row.")
    if groups is None:
        return None
    if not named:
        raise ValueError(
            "groups are given, and no promise has one; accepted are promises with group=..., as AtMost('risk', 0.1, group=...), "
            "and groups=None."
        )
    try:
        found = column_or_1d(groups).tolist()
    except (TypeError, ValueError):
        raise ValueError(f"groups={shortened(groups)} must hold one group for each row, of shape ({n},).") from None
    if len(found) != n:
        raise ValueError(f"groups has {len(found)} values for {n} rows; both must be the same number.")
    for row, group in enumerate(found):
        if is_missing_id(group):
            raise ValueError(f"groups[{row}]={group!r} is missing; accepted is the group of each row.")
    for group in named:
        if group not in found:
            known = shortened_list(sorted(set(found), key=str))
            raise ValueError(f"promises name group={group!r}, which is none of the groups {known}.")
    return found


def coded(promises: Iterable[Promise], classes: NDArray, costs: NDArray, parameter: str) -> tuple[EncodedPromise, ...]:
    """Return promises with the numbers of their labels.

    Raise ValueError if a label is not a class, or if any model keeps a promise.
    """
    names, found = classes.tolist(), []
    for promise in promises:
        if callable(promise.measure):
            found.append(coded_function(promise, classes, parameter))
            continue
        numbers = {}
        for name in ("label", "predicted"):
            label = getattr(promise, name)
            if label is not None and label not in names:
                raise ValueError(f"{parameter} names {label!r}, which is none of the classes {shortened(names)}.")
            numbers[name] = None if label is None else names.index(label)
        group = promise.group.item() if isinstance(promise.group, np.generic) else promise.group
        if not isinstance(group, (str, int, float, bool, type(None))):
            raise ValueError(f"{parameter} has group={shortened(group)}; accepted are strings and numbers.")
        one = EncodedPromise(isinstance(promise, AtLeast), promise.measure, float(promise.bound), **numbers, group=group)
        largest = float(one.possible(costs).max())
        if not one.bound < largest:
            of = "" if promise.predicted is None else f" of predicting {promise.predicted!r}"
            raise ValueError(
                f"{parameter}={shortened(promise if parameter == 'promises' else promise.bound)} must be below the largest "
                f"loss{of}, {largest:g}: {'no' if one.at_least else 'any'} model keeps it."
            )
        found.append(one)
    return tuple(found)


def coded_function(promise: Promise, classes: NDArray, parameter: str) -> EncodedPromise:
    """Return a bound of a function; raise ValueError unless it is of two classes."""
    function: Any = promise.measure
    if parameter == "promises":
        raise ValueError(
            f"promises has {promise!r}; a function goes with ExpectedCost(subject_to=...), and accepted here are the measures "
            f"{', '.join(map(repr, CONDITIONS))}."
        )
    if len(classes) != 2:
        raise ValueError(f"{parameter} has {promise!r} for {len(classes)} classes; a function is accepted for two classes.")
    name = f"{function.__module__}.{function.__qualname__}"
    return EncodedPromise(isinstance(promise, AtLeast), name, float(promise.bound), function=function)


def losses_if_answered(promise: EncodedPromise, rows: EvaluatedRows, costs: NDArray) -> tuple[NDArray, NDArray]:
    """Return the losses of rows if they are answered, and if not.

    The promise is that the mean of these losses is at most its bound (see `bound_of`); nan does not count.
    """
    hits, scope = promise.parts(np.column_stack([costs, np.zeros(len(costs))]))  # the last column is that of abstentions
    losses = promise.possible(costs).max() - hits if promise.at_least else hits
    losses = np.where(scope > 0, losses, np.nan)
    answered, abstained = losses[rows.codes, rows.best], losses[rows.codes, -1]
    if rows.groups is not None and promise.group is not None:
        others = np.array([group != promise.group for group in rows.groups], dtype=bool)
        answered[others] = abstained[others] = np.nan
    return answered, abstained


def bound_of(promise: EncodedPromise, costs: NDArray) -> tuple[float, float, bool]:
    """Return the bound of the mean loss, the largest loss, and whether all losses are 0 or the largest."""
    possible = promise.possible(costs)
    largest = float(possible.max())
    bound = largest - promise.bound if promise.at_least else promise.bound
    return bound, largest, bool(np.isin(possible, (0, largest)).all())


def p_values(promise: EncodedPromise, rows: EvaluatedRows, costs: NDArray, limits: NDArray, level: float) -> NDArray:
    """Return the p-value of a promise at each limit of the expected cost.

    The hypothesis is that the promise is broken.  The p-value is exact if all losses are 0 or the largest; otherwise it is by a
    betting test at the level (Waudby-Smith and Ramdas 2024).
    """
    answered, abstained = losses_if_answered(promise, rows, costs)
    bound, largest, exact = bound_of(promise, costs)
    if exact:
        order = np.argsort(rows.cost, kind="stable")
        at = np.searchsorted(rows.cost[order], limits, side="right")
        answered, abstained = answered[order], abstained[order]
        n = totals(~np.isnan(answered), ~np.isnan(abstained), at)
        lost = totals(np.nan_to_num(answered) / largest, np.nan_to_num(abstained) / largest, at)
        return np.where(n > 0, bdtr(np.round(lost), np.maximum(n, 1).astype(int), bound / largest), 1.0)
    found = np.ones(len(limits))
    for i, limit in enumerate(limits):
        x = np.where(rows.cost <= limit, answered, abstained)
        found[i] = p_of_bets(x[~np.isnan(x)] / largest, bound / largest, level)
    return found


def totals(answered: NDArray, abstained: NDArray, at: NDArray) -> NDArray:
    """Return the sums over rows of which the first `at` are answered, and the others are not."""
    left = sums(abstained)
    return sums(answered)[at] + left[-1] - left[at]


def sums(x: NDArray) -> NDArray:
    """Return the sums of the first 0, 1, 2, ... numbers."""
    return np.append(0.0, np.cumsum(x))


def p_of_bets(x: NDArray, mean: float, level: float) -> float:
    """Return the p-value of a mean by bets, for a test at a level.

    The hypothesis is that the mean of numbers from 0 to 1 is at least `mean`; they are tested in their order.  The p-value is
    1 / the largest wealth of a betting strategy.

    The strategy bets a share of its wealth on each number being below the mean, and the share depends on the numbers before.
    Its wealth grows n-fold with a probability of at most 1 / n (Ville 1939).  With the share sqrt(2 log(1 / level) / (n v)) the
    test finds the smallest differences that n numbers of variance v show (Waudby-Smith and Ramdas 2024).  The variance is that
    of the numbers before and of some at half the mean, either 0 or 1.
    """
    n = len(x)
    if n == 0:
        return 1.0
    seen = IMAGINED + np.arange(n)
    means = (IMAGINED * mean / 2 + sums(x)[:-1]) / seen
    variance = (IMAGINED * mean / 2 + sums(x**2)[:-1]) / seen - means**2
    share = np.sqrt(-2 * np.log(level) / (n * np.maximum(variance, LEAST_SQUARE)))
    gained = np.cumsum(np.log1p(np.minimum(share, LARGEST_BET / (1 - mean)) * (mean - x)))
    return float(np.exp(-max(gained.max(), 0.0)))


def chains_of(promises: Sequence[EncodedPromise], recorded: EvaluatedRows, costs: NDArray) -> list[TestSequence]:
    """Return the chains of tests.

    There is one for each label if each promise depends on the answers of a single label, and otherwise one for all.  The limits
    are quantiles of the recorded rows' expected costs.
    """
    by_answer: dict[int | None, list[EncodedPromise]] = {}
    for promise in promises:
        by_answer.setdefault(promise.answer(), []).append(promise)
    if None in by_answer:
        by_answer = {None: list(promises)}
    chains = []
    for answer, own in by_answer.items():
        cost = recorded.cost if answer is None else recorded.cost[recorded.best == answer]
        levels = LEVELS if all(bound_of(promise, costs)[2] for promise in own) else N_BETTING_LEVELS
        quantiles = np.quantile(cost, np.arange(1, levels) / levels) if len(cost) else []
        last = BEYOND * float(costs.max() if answer is None else costs[:, answer].max())
        chains.append(TestSequence(answer, tuple(own), np.unique(np.append(quantiles, last))))
    return chains


def p_of_chain(chain: TestSequence, rows: EvaluatedRows, costs: NDArray, level: float, first: int = 0) -> NDArray:
    """Return the p-values of limits from a first one on.

    The hypothesis is that at least one promise is broken.  Its p-value is the largest one of the promises (Berger 1982), so that
    several promises about the same answers need no correction.
    """
    return np.max([p_values(promise, rows, costs, chain.limits[first:], level) for promise in chain.promises], axis=0)


def first_limit(chain: TestSequence, rows: EvaluatedRows, recorded: EvaluatedRows, costs: NDArray, level: float) -> int:
    """Return the number of the limit with which the tests begin.

    With simulated labels, nearly most rows are answered from it on; of such limits it is the middle one.  If no simulated test
    is passed, it is one with low p-values.  The labels of the rows are not read.

    Then it is lowered as far as the tests allow the same number of mistakes: the fewest rows pass most easily.
    """
    total = np.zeros(len(chain.limits))
    if len(recorded.cost) == 0:
        return 0
    random, answered = np.random.default_rng(0), n_up_to(chain, rows)
    for _ in range(draws_for(len(rows.codes))):
        p = p_of_chain(chain, rows._replace(codes=simulated(rows, recorded, random)), costs, level)
        # A run of passes ends before the next failure; the rows answered are those of its last limit.
        fails = np.append(np.flatnonzero(p > level), len(p))
        last = fails[np.searchsorted(fails, np.arange(len(p)))] - 1
        total += np.where(p <= level, answered[last], LITTLE * (1 - p))
    good = np.flatnonzero(total >= NEARLY * total.max())
    mistakes = allowed(chain, rows, costs, level)
    return int(np.searchsorted(mistakes, mistakes[good[len(good) // 2]]))


def allowed(chain: TestSequence, rows: EvaluatedRows, costs: NDArray, level: float) -> NDArray:
    """Return the most mistakes with which tests are passed.

    They are those at each limit, plus a constant.  If the number of tested rows depends on the labels, or a test is by bets,
    the numbers of the limits are returned.
    """
    total = np.zeros(len(chain.limits))
    for promise in chain.promises:
        bound, largest, exact = bound_of(promise, costs)
        if not exact or promise.measure not in ("risk", "precision") or (promise.measure == "risk" and promise.label is not None):
            return np.arange(len(chain.limits))
        cost = np.sort(rows.cost[~np.isnan(losses_if_answered(promise, rows, costs)[0])])
        n = np.searchsorted(cost, chain.limits, side="right")
        total += mistakes_of(n, bound / largest, level)
    return total


def mistakes_of(n: NDArray, bound: float, level: float) -> NDArray:
    """Return the most mistakes with which a test is passed; it is the binomial test of n rows; -1 if none is few enough."""
    n = np.maximum(n, 1)
    most = np.floor(np.nan_to_num(bdtrik(level, n, bound))).clip(0, n)
    return most + (bdtr(np.minimum(most + 1, n), n, bound) <= level) - (bdtr(most, n, bound) > level)


def draws_for(n: int) -> int:
    """Return the number of simulations; many rows need fewer."""
    return max(LEAST_DRAWS, min(DRAWS, DRAWS * MOST_DRAWN // max(n, 1)))


def n_up_to(chain: TestSequence, rows: EvaluatedRows) -> NDArray:
    """Return the number of rows of the chain's answer up to each limit."""
    cost = rows.cost if chain.answer is None else rows.cost[rows.best == chain.answer]
    return np.searchsorted(np.sort(cost), chain.limits, side="right")


def simulated(rows: EvaluatedRows, recorded: EvaluatedRows, random: Any) -> NDArray:
    """Return simulated labels of rows, by number.

    The label of a row is that of a recorded row with the same answer and a similar expected cost.  A single similar row would not
    do: few recorded rows without a mistake would make their limit look safe.
    """
    codes = recorded.codes[random.integers(0, len(recorded.codes), len(rows.codes))]  # if no recorded row has the answer
    for answer in np.unique(recorded.best):
        own, here = np.flatnonzero(recorded.best == answer), np.flatnonzero(rows.best == answer)
        own = own[np.argsort(recorded.cost[own], kind="stable")]
        within = max(len(own) // NEIGHBOURS, 1)
        place = np.searchsorted(recorded.cost[own], rows.cost[here]) + random.integers(-within, within + 1, len(here))
        codes[here] = recorded.codes[own[np.clip(place, 0, len(own) - 1)]]
    return codes


def passed(sequences: Sequence[NDArray], level: float) -> list[int]:
    """Return how many tests of each sequence are passed.

    Each sequence ends with its first p-value above its share of the level.  The shares are equal (Bonferroni).  A sequence that
    is passed to its end leaves its share to the others (Holm 1979; Bretz et al. 2009).
    """
    found = [0] * len(sequences)
    while True:
        open_ones = [i for i, p in enumerate(sequences) if found[i] < len(p)]
        before = list(found)
        for i in open_ones:
            fails = np.flatnonzero(sequences[i] > level / len(open_ones))
            found[i] = int(fails[0]) if len(fails) else len(sequences[i])
        if found == before or not any(found[i] == len(sequences[i]) for i in open_ones):
            return found
