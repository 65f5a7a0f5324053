"""Row-dependent costs in training: weights, means, and checks that costs do not reveal the label."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.state import accept, reals, shown
from sklearn_predtron._support.row_costs import classes_of_least_cost, sets_of_least_cost
from sklearn_predtron._support.row_costs import costs_by_row as costs_by_row
from sklearn_predtron._support.row_costs import expected_costs as expected_costs
from sklearn_predtron._support.warning import warn

POWERS = (0.0, 0.5, 1.0)  # of a row's mean cost, by which the row is weighted in training; the others must beat the first
LEAST_REVEALING = 10  # rows: fewer may have costs of the true label alone by chance
LEAST_OTHERS = 100  # rows: fewer may have one cost by chance
NEARLY_ALL = 0.95  # of the rows in which a mistake can be made
STREAM_POWER = 0.5  # where there are no held-out rows to compare powers on


class RowCosts(NamedTuple):
    """Costs by row in training, and the row weights.

    Parameters
    ----------
    table : ndarray of shape (n, k, m)
        The cost of each prediction for each true class.
    codes : ndarray of shape (n,)
        The numbers of the true classes.
    power : float, default=0.5
        The weight of a row is its mean cost of a mistake to this power.
    """

    table: NDArray
    codes: NDArray
    power: float = STREAM_POWER

    def mistakes(self) -> NDArray:
        """Return the mean cost of a mistake in each row.

        It does not depend on the true class: weights that do would change P(y | x) in a way that no calibration undoes.
        """
        k = self.table.shape[1]
        between = self.table[:, :, :k].sum(axis=(1, 2)) - np.einsum("nii->n", self.table[:, :, :k])
        return np.maximum(between, 0.0) / (k * (k - 1))

    def weights(self) -> NDArray:
        """Return the weight of each row by its costs."""
        return self.mistakes() ** self.power

    def realised(self, probabilities: NDArray, rows: NDArray) -> NDArray:
        """Return the realised cost of minimum-expected-cost predictions."""
        table = self.table[rows]
        predicted = classes_of_least_cost(probabilities, table)
        return table[np.arange(len(rows)), self.codes[rows], predicted]


class SetCosts(NamedTuple):
    """Costs by label and row in training, and the weights.

    Parameters
    ----------
    table : ndarray of shape (n, m, 2)
        The cost of each label where it is missed, and where it is predicted falsely.
    on : ndarray of shape (n, m)
        The true labels.
    power : float, default=0.5
        The weight of a row is the mean cost of its labels to this power.
    """

    table: NDArray
    on: NDArray
    power: float = STREAM_POWER

    def weights(self) -> NDArray:
        """Return the weight of each row by its costs; it does not depend on its true labels."""
        return self.table.mean(axis=(1, 2)) ** self.power

    def realised(self, probabilities: NDArray, rows: NDArray) -> NDArray:
        """Return the realised cost of minimum-expected-cost predictions."""
        predicted = sets_of_least_cost(probabilities, self.table[rows])
        return costs_of_sets(predicted, self.on[rows], self.table[rows])


class KnownCosts(NamedTuple):
    """Sums of training costs by pair of classes or label.

    Decisions use the means where `predict` gets no costs.

    Parameters
    ----------
    total : ndarray of shape (k, m) or (m, 2)
        The sum of the costs, as frequent as the rows were.
    rows : ndarray of that shape
        The number of rows in each sum.
    class_weight : ndarray of shape (k,) or None
        The weights of ``class_weight="balanced"``.
    """

    total: NDArray
    rows: NDArray
    class_weight: NDArray | None = None

    @classmethod
    def none(cls, shape: tuple[int, ...], class_weight: NDArray | None = None) -> KnownCosts:
        """Return the costs of no rows."""
        return cls(np.zeros(shape), np.zeros(shape), class_weight)

    @classmethod
    def restored(cls, saved: Any) -> KnownCosts | None:
        """Return saved sums, or None if there were none; raise ValueError if they are not valid."""
        if saved is None:
            return None
        shape = np.shape(saved[0]) if isinstance(saved, (tuple, list)) and len(saved) == 3 else ()
        if len(shape) != 2:
            raise ValueError(f"where sums of costs are expected there is {shown(saved)}")
        sums, weights = reals(*shape, least=0), reals(shape[0], least=0)
        return cls(*accept(saved, (sums, sums, lambda value: None if value is None else weights(value))))

    def plus(self, table: NDArray, frequency: NDArray | None) -> KnownCosts:
        """Add further rows one by one, without costs that are nan; the sums are the same for any split of a stream."""
        weight = np.ones((len(table), 1, 1)) if frequency is None else frequency[:, None, None]
        known = weight * ~np.isnan(table)
        total = np.cumsum(np.concatenate([self.total[None], known * np.nan_to_num(table)]), axis=0)[-1]
        rows = np.cumsum(np.concatenate([self.rows[None], known]), axis=0)[-1]
        return self._replace(total=total, rows=rows)

    def widened(self, places: list[int], k: int, *, of_sets: bool) -> KnownCosts:
        """Return the sums for k classes or labels; the present ones get the given places, and no row had the new ones."""
        before, m = self.total.shape
        columns = list(range(m)) if of_sets else [*places, *range(k, k + m - before)]  # a rejection stays the last column
        total, rows = np.zeros((2, k, 2 if of_sets else k + m - before))
        total[np.ix_(places, columns)], rows[np.ix_(places, columns)] = self.total, self.rows
        return KnownCosts(total, rows)

    def means(self, otherwise: NDArray) -> NDArray:
        """Return the mean costs; `otherwise` is for unseen pairs."""
        if self.total.shape != otherwise.shape:
            return otherwise
        return np.where(self.rows > 0, self.total / np.where(self.rows > 0, self.rows, 1.0), otherwise)


def costs_of_sets(predicted: NDArray, on: NDArray, table: NDArray) -> NDArray:
    """Return the costs of the predicted sets."""
    chosen, true = predicted.astype(bool), on.astype(bool)
    return np.where(true & ~chosen, table[:, :, 0], np.where(chosen & ~true, table[:, :, 1], 0.0)).sum(axis=1)


def are_realised(table: NDArray) -> bool:
    """Return whether costs are known by the true labels alone; those by others are nan."""
    return bool(np.isnan(table).any())


def check_not_revealing(table: NDArray, codes: NDArray) -> None:
    """Raise ValueError for costs of classes that reveal the true label; warn if those of one pair do.

    In each row they are 0 for all other true labels, as costs are that are known only after the decision.  Costs that are known
    by the true labels alone decide nothing.
    """
    if are_realised(table):
        return
    k = table.shape[1]
    true: NDArray = np.equal(np.arange(k), codes[:, None])
    check_costs_elsewhere(np.asarray(table[:, :, :k].any(axis=2)), true)
    for i, j in product(range(k), repeat=2) if len(table) >= LEAST_REVEALING + LEAST_OTHERS else ():
        if i != j and tells_label(table[:, i, j], true[:, i]):
            warn_of_costs(f"costs[:, {i}, {j}]", f"rows that are not of label {i}", "rows of this label")


def check_sets_not_revealing(table: NDArray, on: NDArray) -> None:
    """Raise ValueError for costs of labels that reveal whether each label is on."""
    on = on.astype(bool)
    check_costs_elsewhere(table.reshape(-1, 2) > 0, np.column_stack([on.ravel(), ~on.ravel()]))
    for i, side in product(range(table.shape[1]), (0, 1)):
        if tells_label(table[:, i, side], on[:, i] == (side == 0)):
            without, those = ("without", "with") if side == 0 else ("with", "without")
            warn_of_costs(f"costs[:, {i}, {side}]", f"rows {without} label {i}", f"rows {those} it")


def check_costs_elsewhere(costly: NDArray, true: NDArray) -> None:
    """Raise ValueError if mistakes have costs under the true labels alone.

    Both arguments are masks of shape (n, k): whether a mistake has a cost if the label is true, and which label is.
    """
    own = costly & true
    if not (costly & ~true).any() and own.any(axis=0).sum() > 1 and own.any(axis=1).sum() >= LEAST_REVEALING:
        raise ValueError(
            "costs of every row are 0 for all true labels but that of y, so they reveal y: predictions by them seem to cost "
            "nothing.  Accepted are costs that are known before y is, for each label that may turn out to be true; estimate "
            "those that are not known, as by their mean."
        )


def tells_label(costs: NDArray, own: NDArray) -> bool:
    """Return whether the costs of a mistake tell in which rows it can be made.

    They are one number in all other rows, and larger in nearly all of its own rows, where they vary.  A number between, such as
    their mean, is an estimate, and costs of two values may be those of a feature.
    """
    n = np.count_nonzero(own)
    if n < LEAST_REVEALING or len(own) - n < LEAST_OTHERS:
        return False
    for rows in (slice(n + LEAST_OTHERS), slice(None)):  # the first ones mostly suffice
        others = costs[rows][~own[rows]]
        if (others != others[0]).any():
            return False
    larger = costs[own & (costs > others[0])]
    return bool(len(larger) >= NEARLY_ALL * n and (larger != larger[0]).any())


def warn_of_costs(costs: str, others: str, own: str) -> None:
    """Warn of costs of a mistake that tell the label."""
    warn(
        f"{costs} are one number in all {others} and larger in {own}, so they tell the label, as costs that are known only "
        "afterwards do: predictions by them seem to cost less than they will.  Give all rows costs that are known before y is; "
        "estimate those that are not known, as by their mean."
    )
