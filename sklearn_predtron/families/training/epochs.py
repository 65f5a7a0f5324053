"""The drawing of epochs, and learners that train; epochs have numbers and rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sklearn_predtron._core.learner import Learner
from sklearn_predtron.families.estimator.model import Model
from sklearn_predtron.families.input.reading import Batch, RowReader


def learn_epoch(model: Model, learner: Learner, batch: Batch, drawn: dict[str, Any], **how: Any) -> float:
    """Train a learner on the drawn rounds; return their mean progressive loss."""
    loss, t = learner.cumulative_loss, learner.t
    refused = learner.learn(batch.rows, batch.labels, **drawn, **how)
    if refused >= 0:
        model.check_rows(batch.X, batch.rows)
        raise ValueError(f"{learner.why_refused(refused, learner.t)}  The fit is undone.")
    return (learner.cumulative_loss - loss) / (learner.t - t)


def seed_of(estimator: Any) -> int | None:
    """Return the seed of a fit's random draws; None if the fit draws nothing."""
    return check_random_state(estimator.random_state).randint(2**31) if estimator.shuffle else None


def generator_of(seed: int | None, *what: int) -> np.random.Generator | None:
    """Return the random generator for a seed; different purposes have different generators."""
    return None if seed is None else np.random.default_rng([seed, *what] if what else seed)


def epochs_of(reader: RowReader, batch: Batch, random: np.random.Generator | None, learner: Learner) -> Any:
    """Return the epochs of a fit; a reader makes rounds of rows."""
    return reader.epochs(Epochs(batch, random), whole=learner.weights.expansion is not None)


def folds_of(codes: NDArray, random: np.random.Generator | None, n_folds: int) -> NDArray:
    """Return the fold number of each row; folds have about the same size, with about as many rows of each class."""
    order = np.arange(len(codes)) if random is None else random.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(len(codes), dtype=np.intp)
    fold[order] = np.arange(len(codes)) % n_folds
    return fold


class Epochs:
    """Rounds for `Learner.learn`, epoch by epoch.

    Rows in the given order keep their weights.  In shuffled epochs weights are frequencies: each epoch is a systematic sample,
    with as many rounds as there are rows of positive weight, in which a row appears in proportion to its weight, rounded up
    or down at random.

    Parameters
    ----------
    batch : Batch
        The rows and labels to train on.
    random : Generator or None
        Shuffles the rows; None keeps the given order.
    """

    def __init__(self, batch: Batch, random: np.random.Generator | None):
        self.batch, self.there, self.weight, self.random = batch, batch.order, batch.weight, random
        if batch.costs is not None and batch.weight is not None and not batch.weight.all():
            present = np.arange(batch.rows.n) if batch.order is None else batch.order
            self.there = present[batch.weight[present] > 0]  # rows that cost something; the others are held out only
        self.rows = np.arange(batch.rows.n) if self.there is None else self.there
        self.usual = 1.0  # the weight of a round if rows appear in proportion to their weights
        self.ends: NDArray | None = None
        if random is not None and batch.weight is not None:
            self._resample(batch.weight[self.rows], random)

    def _resample(self, weight: NDArray, random: np.random.Generator) -> None:
        """Lay the rows on a line; they are in random order, and the length of each is its expected number of appearances."""
        most = weight.max()  # relative to it no sum overflows
        self.weight, self.usual = None, float(most)
        if weight.min() < most:
            self.usual *= float(np.mean(weight / most))
            places = random.permutation(len(weight))
            self.rows = self.rows[places]
            self.ends = np.cumsum(weight[places] / most)
            self.ends *= len(weight) / self.ends[-1]
            np.minimum(self.ends, len(weight), out=self.ends)  # rounding
            self.ends[-1] = len(weight)

    def draw(self, *, observed: bool = False) -> tuple[Batch, dict[str, Any]]:
        """Return the next epoch's batch and arguments.

        The arguments are the other ones of the learner.  The epoch's rows, if new, are known ahead of its rounds.

        By default an observer sees no row if rows repeat, because repeated rows are no longer new.  If they are `observed`, it
        sees each row once, before its first update, counted as often as the row occurs.  These occurrences follow each other: in
        a shuffled epoch the first ones of large weights would be early, when little is learned.
        """
        return self.batch, self._drawn(observed)

    def _drawn(self, observed: bool) -> dict[str, Any]:
        important = observed and self.batch.has_importance
        if self.random is None:
            counts = {"counts": self.batch.frequencies(self.rows)} if important else {}
            return {"order": self.there, "weight": self.weight, "counted_first": self.rows, **counts}
        order = self._sample(self.random)
        if self.ends is None or not observed:
            order = self.random.permutation(order)
        order = order.astype(np.intp, copy=False)
        if self.ends is None:
            counts = {"counts": self.batch.frequencies(order)} if important else {}
            return {"order": order, "usual": self.usual, "counted_first": order, **counts}
        if not observed:
            return {"order": order, "usual": self.usual, "counted_first": order, "observed": False}
        appeared = first_appearances(order)
        if important:
            weight: Any = self.batch.weight
            appeared *= self.batch.frequencies(order) / weight[order]  # rows appear in proportion to their weights
        return {"order": order, "usual": self.usual, "counted_first": order, "counts": appeared}

    def _sample(self, random: np.random.Generator) -> NDArray:
        """Return the rows of an epoch."""
        if self.ends is None:
            return self.rows
        marks = np.ceil(self.ends - random.random())  # how many of the points 0, 1, ... + offset lie before each end
        return np.repeat(self.rows, np.diff(marks, prepend=0).astype(np.intp))


def first_appearances(order: NDArray) -> NDArray:
    """Return the number of appearances of rows.

    The number stands at a row's first round, and is 0 at later ones, where the row is no longer new.
    """
    times, first = np.bincount(order), np.zeros(order.max(initial=-1) + 1, dtype=np.intp)
    first[order[::-1]] = np.arange(len(order))[::-1]
    counts = np.zeros(len(order))
    counts[first[times > 0]] = times[times > 0]
    return counts
