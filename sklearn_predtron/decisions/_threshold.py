"""A cut of the scores that a measure chooses; the measure is of all rows together, and has its lowest loss at the cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.problem import Problem
from sklearn_predtron._support.names import refuse_class
from sklearn_predtron._support.numbers import real_number, real_numbers
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.decisions._base import Decision, HeldOut, UnseenRows
from sklearn_predtron.decisions._fixed_threshold import CutAt
from sklearn_predtron.losses.subset import AtK, BalancedError, FBeta, SubsetLoss

Loss = Callable[..., NDArray]


class Measure(NamedTuple):
    """The measure by which a cut is chosen; it is a loss of the counts, of each score alone or of all scores pooled."""

    name: Any  # distinguishes it from others
    loss: Loss
    pooled: bool = False


OF_TWO_CLASSES = {"f1": Measure("f1", FBeta().of_counts), "balanced": Measure("balanced", BalancedError().of_counts)}


class CutBy(Decision):
    """Cut the scores by a measure on held-out rows.

    The cut has the lowest loss on these rows.

    Parameters
    ----------
    measure : Measure
        The measure that chooses the cut.
    at : object
        The parameter that names it, for errors.
    calibration : Calibration
        Calibrates probabilities from the same scores, those that are cut.
    """

    value_name = "cut"
    needs_scores = shifts = True

    def __init__(self, measure: Measure, at: Any, calibration: Any):
        self.of, self.measure, self.at, self.calibration = calibration.of, measure, at, calibration
        self.terms = measure.name

    def fit(self, problem: Problem, held: HeldOut) -> tuple[float, ...]:
        """Return the cuts of lowest loss on unseen rows."""
        scores, positive = self.of.scores(problem, held.scores), held.values == 1
        weight = np.ones((len(scores), 1), dtype=np.int64) if held.weight is None else held.weight[:, None]
        if self.measure.pooled:
            there = positive.any(axis=0) | scores.any(axis=0)  # labels of which something was learned
            parts = (part[:, there].ravel() for part in (scores, positive * weight, ~positive * weight))
            cut = best_cut(self.measure.loss, *parts)
            return tuple(np.where(there, cut, max(cut, 0.0)).tolist())  # others have score 0, and are not predicted
        cuts = best_cuts(self.measure, scores, positive * weight, ~positive * weight)
        # A single row of a label is scored by a model that was trained without the label.
        rows = [np.count_nonzero(side & (weight > 0), axis=0) for side in (positive, ~positive)]
        cuts[np.minimum(rows[0], rows[1]) < 2] = 0.0
        return tuple(cuts.tolist())

    def fitted(self, unseen: UnseenRows) -> CutAt:
        """Return the present cuts."""
        if not self.calibration.knows(unseen.observer):
            raise ValueError(
                f"decision={self.at!r} is chosen while the estimator learns; call fit or partial_fit after setting it."
            )
        found = np.array(self.value(unseen))
        others = self.of.count(unseen.problem) - len(found)  # labels since, as labels of which no row was seen
        return CutAt(self.of, np.append(found, np.full(others, max(found[-1], 0.0) if self.measure.pooled else 0.0)))


def measure_of_cut(rule: Any, reject: Any, names: tuple[str, ...]) -> Measure | None:
    """Return the measure that cuts the score.

    It is the score of two classes.  None for a number; raise ValueError if the rule is invalid.
    """
    at = rule.at
    if not names:
        raise ValueError(
            f"decision={rule!r} is for two classes (PredtronBinaryClassifier) and for sets of labels; accepted are None, "
            "'learned', 'expected_cost' and ExpectedCost(...)."
        )
    refuse_class("decision", at)
    if isinstance(at, AtK):
        raise ValueError(f"decision={rule!r} is for sets of k labels; accepted are losses of the counts of any cut.")
    if isinstance(at, SubsetLoss) or callable(at):
        measure: Measure | None = measure_of_loss(at)
    else:
        measure = number_or_measure(at, OF_TWO_CLASSES, "'f1', 'balanced', a loss of counts and a finite number")
    if reject is not None:
        raise ValueError(
            f"decision={rule!r} does not go with reject={reject!r}: the one moves the boundary for a measure of all "
            "rows, the other leaves rows undecided by their cost; accepted are decision=None and reject=None."
        )
    return measure


def number_or_measure(at: Any, names: dict[str, Measure], accepted: str) -> Measure | None:
    """Return the measure with a given name; None for a finite number; raise ValueError for anything else."""
    number = None if isinstance(at, (str, bool, np.bool_)) else real_number(at)
    if number is not None and np.isfinite(number):
        return None
    if isinstance(at, str) and at in names:
        return names[at]
    raise ValueError(f"decision={at!r} is not known; accepted are {accepted}.")


def measure_of_loss(loss: Any) -> Measure:
    """Return the measure of a loss of counts; the loss may also be a function of the counts."""
    if isinstance(loss, SubsetLoss):
        return Measure((f"{type(loss).__module__}.{type(loss).__qualname__}", str(loss.get_params())), loss.evaluate)
    check_counts(loss)
    return Measure(
        loss, lambda *counts: np.array([value_at(loss, *row) for row in zip(*(c.tolist() for c in counts), strict=True)])
    )


# Counts of true and false positives, false and true negatives: all right, all wrong, and of some constant predictions.
RIGHT, WRONG, OTHERS = (2, 0, 0, 2), (0, 2, 2, 0), [(2, 2, 0, 0), (0, 0, 2, 2), (1, 1, 1, 1)]


def check_counts(function: Any) -> None:
    """Raise ValueError for a function that is no loss of counts.

    Scores of probabilities, such as ROC AUC, and gains, such as F1, are examples.
    """
    shown = f"decision={shortened(function)}"
    try:
        right, wrong, *others = (value_at(function, *counts) for counts in (RIGHT, WRONG, *OTHERS))
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(
            f"{shown} must be a function of four counts (true positives, false positives, false negatives, true negatives); at "
            f"{RIGHT} it raised {type(error).__name__}: {error}"
        ) from error
    if all(value == right for value in (wrong, *others)):
        raise ValueError(f"{shown} is {right:g} for right and for wrong predictions; accepted are losses that depend on the cut.")
    if right > wrong:
        raise ValueError(
            f"{shown} is {right:g} for right predictions and {wrong:g} for wrong ones; a loss must be lower for right ones, as "
            "1 - F1."
        )


def value_at(function: Any, *counts: float) -> float:
    """Return the value of a user's function of counts; raise ValueError if it is not a finite number."""
    value = function(*counts)
    number = real_number(value)
    if number is None or not np.isfinite(number):
        raise ValueError(
            f"decision={shortened(function)} must return finite numbers; at (a, b, c, d) = {counts} it is {shortened(value)}."
        )
    return number


def best_cuts(measure: Measure, scores: NDArray, positive: NDArray, negative: NDArray) -> NDArray:
    """Return the cut of each column of the scores; the weights are those of rows that should be above and below."""
    return np.array([best_cut(measure.loss, *column) for column in zip(scores.T, positive.T, negative.T, strict=True)])


def best_cut(loss: Loss, scores: NDArray, positive: NDArray, negative: NDArray) -> float:
    """Return the best cut by a loss.

    It has the lowest loss, scores above it being positive.  Of several cuts it is the one nearest to 0.

    The cut is in the middle between two scores, or beyond all of them.  Equal scores are on the same side.
    """
    there = (positive > 0) | (negative > 0)
    order = np.flatnonzero(there)[np.argsort(-scores[there], kind="stable")]
    t = scores[order]
    if len(t) == 0:
        return 0.0
    above, alarms = (np.append(0, np.cumsum(weight[order])) for weight in (positive, negative))
    between = np.append(True, np.append(t[1:] < t[:-1], True))
    a, b = above[between], alarms[between]
    return cut_between(t, between, loss(a, b, np.maximum(above[-1] - a, 0), np.maximum(alarms[-1] - b, 0)))


def best_cut_of_groups(loss: Loss, scores: NDArray, positive: NDArray, start: NDArray, weight: NDArray | None) -> float:
    """Return the best cut of groups.

    Their mean loss is lowest.  The rows of group i are scores[start[i]:start[i + 1]]; groups have weights.
    """
    group = np.repeat(np.arange(len(start) - 1), np.diff(start))
    order = np.lexsort((-scores, group))
    on, first = positive[order].astype(np.float64), start[:-1]
    above, alarms = np.cumsum(on), np.cumsum(1 - on)
    P, N = (np.diff(np.append(0, total[start[1:] - 1])) for total in (above, alarms))
    a, b = above - (np.cumsum(P) - P)[group], alarms - (np.cumsum(N) - N)[group]
    losses, none = loss(a, b, P[group] - a, N[group] - b), loss(0 * P, 0 * N, P, N)
    change = np.diff(losses, prepend=0)
    change[first] = losses[first] - none  # from one row on to the next in its group, whatever groups lie between
    share = np.ones(len(P)) if weight is None else weight / weight.max()
    by_score = np.argsort(-scores[order], kind="stable")
    t = scores[order][by_score]
    total = (share * none).sum() + np.append(0, np.cumsum((share[group] * change)[by_score]))
    between = np.append(True, np.append(t[1:] < t[:-1], True))
    return cut_between(t, between, total[between])


def cut_between(t: NDArray, between: NDArray, losses: NDArray) -> float:
    """Return the cut of lowest loss.

    The losses are given.  Scores are in descending order; `between` marks the places where a cut may be.
    """
    beyond = (t[0] - t[-1]) / len(t) or 1.0
    upper, lower = np.append(t[0] + 2 * beyond, t)[between], np.append(t, t[-1] - 2 * beyond)[between]
    cuts = lower + (upper - lower) / 2
    cuts = np.where(cuts < upper, cuts, lower)  # where there is no number between them
    if t[0] < 0 or not t.any():  # where no score is above, 0 does as well
        cuts[0] = 0.0
    if t[-1] > 0:
        cuts[-1] = 0.0
    best = np.flatnonzero(losses == losses.min())
    return float(cuts[best[np.abs(cuts[best]).argmin()]])


def given_cuts(at: Any, m: int) -> NDArray:
    """Return the given cut of each of m labels."""
    cuts = real_numbers(at)
    if cuts is None or not np.isfinite(cuts).all() or cuts.shape not in ((), (m,)):
        raise ValueError(f"decision=Cut({shortened(at)}) must hold a finite number, or one for each of the {m} labels.")
    return np.broadcast_to(cuts, m)
