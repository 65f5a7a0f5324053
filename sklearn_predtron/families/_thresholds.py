"""The decision threshold: the cut of the scores that loses least by a measure of all rows together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Learner, Observer
from sklearn_predtron._core.score_histogram import PLACES, ScoreHistogram
from sklearn_predtron._parts import real_number
from sklearn_predtron._queries import shortened
from sklearn_predtron.families._base import BasePredtron
from sklearn_predtron.families._fitted import learned, read_only
from sklearn_predtron.families._held_out import HeldOut
from sklearn_predtron.families._validation import Batch
from sklearn_predtron.losses.subset import SubsetLoss

Loss = Callable[..., NDArray]


class Measure(NamedTuple):
    """What a cut is chosen by: a loss of the counts, of each score alone or of all scores pooled."""

    name: Any  # what it is told from others by
    loss: Loss
    pooled: bool = False


class Shifted(BasePredtron):
    """Takes cuts off its scores: a shift of what predicts, of which learning knows nothing."""

    threshold: Any

    def _cuts(self, learner: Learner) -> NDArray | None:
        """Return the cuts of the present threshold, one or one for each score; None where it is 0 as ever."""
        raise TypeError(f"{type(self).__name__} does not define _cuts(); a family must.")

    def _shift_by(self, learner: Learner, cuts: NDArray) -> NDArray:
        """Return what is taken off the scores t, of shape (d,)."""
        return cuts

    def _given_cut(self) -> NDArray:
        """Return the numbers that the parameter `threshold` gives."""
        return np.array([float(self.threshold)])

    def _shift(self, learner: Learner) -> NDArray | None:
        cuts = self._cuts(learner)
        return None if cuts is None else self._shift_by(learner, cuts)

    @learned
    def intercept_(self) -> NDArray:
        """Offsets of the scores that predict, of shape (d,), less what `threshold_` takes off."""
        now = self._as_of_now()
        shift, offsets = now._shift(now._learner), super(Shifted, now).intercept_
        return offsets if shift is None else read_only(offsets - shift)


class Thresholded(HeldOut, Shifted):
    """Cuts its scores where a measure says."""

    _cut: Any  # the last exact cut: the measure's name, the rounds that the observer had seen, the cuts

    # ------------------------------------------------------------------------------------------- what a family defines

    def _threshold_measure(self) -> Measure | None:
        """Return the measure that the parameter `threshold` names; None if it names none; refuse what it cannot be."""
        raise TypeError(f"{type(self).__name__} does not define _threshold_measure(); a family must.")

    def _new_histogram(self, problem: Any) -> ScoreHistogram:
        """Make the observer of the scores that are cut."""
        raise TypeError(f"{type(self).__name__} does not define _new_histogram(); a family must.")

    def _cut_scores(self, learner: Learner, scores: NDArray) -> NDArray:
        """Return the scores that are cut, of shape (n_samples, n_cuts)."""
        return scores

    def _positive(self, labels: Any) -> NDArray:
        """Return which of them should be above their cuts, of shape (n_samples, n_cuts)."""
        raise TypeError(f"{type(self).__name__} does not define _positive(); a family must.")

    # ------------------------------------------------------------------------------------------------------ choosing it

    def _validate_params(self) -> None:
        self._threshold_measure()
        super()._validate_params()

    def _build_observer(self, problem: Any, observer: Observer | None) -> Observer | None:
        if self._threshold_measure() is None:
            return super()._build_observer(problem, None if isinstance(observer, ScoreHistogram) else observer)
        if isinstance(observer, ScoreHistogram):
            return observer
        self.__dict__.pop("_cut", None)
        return self._new_histogram(problem)

    def _note_held_out(self, scores: NDArray, batch: Batch, there: NDArray) -> None:
        measure, learner = self._threshold_measure(), self._learner
        if measure is not None:
            weight = np.ones(batch.rows.n, dtype=np.int64) if batch.weight is None else batch.weight / batch.weight.max()
            positive, weight = self._positive(batch.labels)[there], weight[there, None]
            cuts = best_cuts(measure, self._cut_scores(learner, scores)[there], positive * weight, ~positive * weight)
            self._cut = measure.name, learner.observer.rounds, cuts.tolist()

    def _cuts(self, learner: Learner) -> NDArray | None:
        if self.threshold is None:
            return None
        measure = self._threshold_measure()
        if measure is None:
            return self._given_cut()
        observer = learner.observer
        if not isinstance(observer, ScoreHistogram):
            raise ValueError(
                f"threshold={self.threshold!r} is chosen while the estimator learns; call fit or partial_fit after setting it."
            )
        known = self.__dict__.get("_cut")
        if known is None or known[:2] != (measure.name, observer.rounds):
            known = observer.kept
        if known is None or known[:2] != (measure.name, observer.rounds):
            rounds, weights = observer.rounds, observer.weights()
            places = np.broadcast_to(PLACES[:, None], (len(PLACES), len(weights)))
            known = measure.name, rounds, best_cuts(measure, places, weights[:, :, 1].T, weights[:, :, 0].T)
            observer.kept = known
        return np.array(known[2])

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over a saved state, in which there may be no threshold."""
        state = dict(state)
        state.setdefault("threshold", None)
        super().__setstate__(state)


def number_or_measure(threshold: Any, names: dict[str, Measure], accepted: str) -> Measure | None:
    """Return the measure that a threshold names; None for None and a finite number; refuse the rest, by what is accepted."""
    number = None if isinstance(threshold, (str, bool, np.bool_)) else real_number(threshold)
    if threshold is None or (number is not None and np.isfinite(number)):
        return None
    if isinstance(threshold, str) and threshold in names:
        return names[threshold]
    raise ValueError(f"threshold={threshold!r} is not known; accepted are {accepted}.")


def measure_of_loss(loss: Any) -> Measure:
    """Return the measure of a loss of counts, or of a function of them."""
    if isinstance(loss, SubsetLoss):
        return Measure((type(loss), str(loss.get_params())), loss.evaluate)
    return Measure(
        loss, lambda *counts: np.array([value_at(loss, *row) for row in zip(*(c.tolist() for c in counts), strict=True)])
    )


def value_at(function: Any, *counts: float) -> float:
    """Return what a user's function says of some counts."""
    value = function(*counts)
    number = real_number(value)
    if number is None or not np.isfinite(number):
        raise ValueError(
            f"threshold={shortened(function)} must return finite numbers; at (a, b, c, d) = {counts} it is {shortened(value)}."
        )
    return number


def best_cuts(measure: Measure, scores: NDArray, positive: NDArray, negative: NDArray) -> NDArray:
    """Return the cut of each column of the scores, or of all of them; of weights of the rows that should be above and below."""
    if measure.pooled:
        return np.full(scores.shape[1], best_cut(measure.loss, scores.ravel(), positive.ravel(), negative.ravel()))
    return np.array([best_cut(measure.loss, *column) for column in zip(scores.T, positive.T, negative.T, strict=True)])


def best_cut(loss: Loss, scores: NDArray, positive: NDArray, negative: NDArray) -> float:
    """Return the cut of least loss, scores above it being positive; of several the nearest to 0.

    It is in the middle between two scores, or beyond all of them.  Equal scores are on the same side.
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
    """Return the cut of least mean loss of groups, whose rows are scores[start[i]:start[i + 1]], by their weights."""
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
    """Return the cut of least loss of falling scores; `between` marks where there may be one, the losses are those."""
    beyond = (t[0] - t[-1]) / len(t) or 1.0
    upper, lower = np.append(t[0] + 2 * beyond, t)[between], np.append(t, t[-1] - 2 * beyond)[between]
    cuts = lower + (upper - lower) / 2
    cuts = np.where(cuts < upper, cuts, lower)  # where there is no number between them
    best = np.flatnonzero(losses == losses.min())
    return float(cuts[best[np.abs(cuts[best]).argmin()]])
