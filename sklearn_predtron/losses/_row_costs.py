"""Row-dependent costs: reading, validation and expectation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.state import accept, reals, shown
from sklearn_predtron._support.numbers import LARGEST_LOSS, real_numbers
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.warning import warn

FORMS = (
    "an array of shape (n_samples, n_classes, n_predictions), a pandas data frame whose columns are pairs (true, predicted), and "
    "a dict {(true, predicted): a number or an array of shape (n_samples,)}"
)
SIDES = ("missed", "false")  # of a label of a set
FORMS_OF_SETS = (
    "an array of shape (n_samples, n_labels, 2), missed and false, a pandas data frame whose columns are pairs (label, 'missed') "
    "and (label, 'false'), and a dict {(label, 'missed' or 'false'): a number or an array of shape (n_samples,)}"
)

POWERS = (0.0, 0.5, 1.0)  # of a row's mean cost, by which the row is weighted in training; the others must beat the first
LEAST_REVEALING = 10  # rows: fewer may have costs of the true label alone by chance
LEAST_OTHERS = 100  # rows: fewer may have one cost by chance
NEARLY_ALL = 0.95  # of the rows in which a mistake can be made
STREAM_POWER = 0.5  # where there are no held-out rows to compare powers on
MISSING = (
    "; where a class may be missing, as from a fold, let each have all (StratifiedKFold), or declare them: by `categories` of "
    "ranks, by `classes` of partial_fit"
)


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
        predicted = expected_costs(probabilities, table).argmin(axis=1)
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
        """Add further rows one by one; the sums are the same for any split of a stream."""
        weight = np.ones((len(table), 1, 1)) if frequency is None else frequency[:, None, None]
        total = np.cumsum(np.concatenate([self.total[None], weight * table]), axis=0)[-1]
        rows = np.cumsum(np.concatenate([self.rows[None], np.broadcast_to(weight, table.shape)]), axis=0)[-1]
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


def sets_of_least_cost(probabilities: NDArray, table: NDArray) -> NDArray:
    """Return indicators of labels cheaper to predict than omit; costs are in expectation; the shape is (n, m)."""
    return (probabilities * table[:, :, 0] > (1 - probabilities) * table[:, :, 1]).astype(np.uint8)


def costs_of_sets(predicted: NDArray, on: NDArray, table: NDArray) -> NDArray:
    """Return the costs of the predicted sets."""
    chosen, true = predicted.astype(bool), on.astype(bool)
    return np.where(true & ~chosen, table[:, :, 0], np.where(chosen & ~true, table[:, :, 1], 0.0)).sum(axis=1)


def costs_of_labels(costs: Any, labels: list[Any], otherwise: NDArray, n: int) -> NDArray:
    """Return each label's miss and false-alarm costs, (n, m, 2).

    `otherwise` has the costs of pairs that are not named, of shape (m, 2); nan where they must be named.
    """
    pairs = pairs_of(costs)
    if pairs is not None:
        found = of_pairs(pairs, labels, list(SIDES), otherwise, n, FORMS_OF_SETS)
        if np.isnan(found).any():
            label, side = np.argwhere(np.isnan(found[0]))[0]
            raise ValueError(f"costs does not name {(labels[label], SIDES[side])!r}, and loss is no sum of costs of labels.")
        return found
    check_frame_columns(costs, FORMS_OF_SETS)
    table, shape = real_numbers(costs), (n, len(labels), 2)
    if table is None:
        raise ValueError(f"costs={shortened(costs)} does not hold numbers; accepted are {FORMS_OF_SETS}.")
    if table.shape != shape:
        raise ValueError(
            f"costs has shape {table.shape}; accepted here is {shape}, rows, labels, and missed and false"
            f"{advice_on_numbers(table, n, (labels[0], 'missed'))}."
        )
    for i, label in enumerate(labels):
        for j, side in enumerate(SIDES):
            check_column(table[:, i, j], (label, side), right_is_free=False)
    return table


def costs_by_row(costs: Any, classes: NDArray, answers: list[Any], otherwise: NDArray, n: int) -> NDArray:
    """Return the cost of each answer in each row.

    Parameters
    ----------
    costs : array-like of shape (n, k, m), data frame or dict
        An array may not have costs of right answers, which a pair must name.
    classes : ndarray of shape (k,)
        The true labels.
    answers : list of length m
        The classes in their order, then the label of abstained rows, if there is one.
    otherwise : ndarray of shape (k, m)
        Costs of the pairs that are not named.
    n : int
        Number of rows.

    Returns
    -------
    ndarray of shape (n, k, m)
        Finite costs, not negative.

    Raises
    ------
    ValueError
        If the costs have another form, or one is not a number from 0 to 1e100; the message names the pair and the row.
    """
    pairs = pairs_of(costs)
    if pairs is not None:
        return of_pairs(pairs, classes.tolist(), answers, otherwise, n)
    check_frame_columns(costs, FORMS)
    found, shape = real_numbers(costs), (n, len(classes), len(answers))
    if found is None:
        raise ValueError(f"costs={shortened(costs)} does not hold numbers; accepted are {FORMS}.")
    if found.shape != shape:
        raise ValueError(
            f"costs has shape {found.shape}; accepted here is {shape}, {axes_of_costs(classes, answers)}"
            f"{advice_on_numbers(found, n, (answers[-1 if len(answers) == len(classes) else -2], answers[0]))}."
        )
    for i, true in enumerate(classes.tolist()):
        for j, answer in enumerate(answers):
            check_column(found[:, i, j], (true, answer), right_is_free=i == j)
    return found


def check_not_revealing(table: NDArray, codes: NDArray) -> None:
    """Raise ValueError for costs of classes that reveal the true label; warn if those of one pair do.

    In each row they are 0 for all other true labels, as costs are that are known only after the decision.
    """
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


def pairs_of(costs: Any) -> list[tuple[Any, Any]] | None:
    """Return pairs and their costs; None for an array."""
    if isinstance(costs, Mapping):
        return list(costs.items())
    columns = getattr(costs, "columns", None)
    if columns is None or not isinstance(columns, Iterable):
        return None
    return [(pair, np.asarray(costs.iloc[:, place])) for place, pair in enumerate(columns)] if hasattr(costs, "iloc") else None


def check_frame_columns(costs: Any, forms: str) -> None:
    """Raise ValueError for a frame without pairs as columns.

    Columns of polars and Arrow are an example: their names are strings.
    """
    if isinstance(getattr(costs, "columns", None), Iterable):
        kind = f"{type(costs).__module__.partition('.')[0]} {type(costs).__name__}"
        raise ValueError(f"costs is a {kind}, whose columns cannot have pairs as names; accepted are {forms}.")


def of_pairs(
    pairs: list[tuple[Any, Any]], classes: list[Any], answers: list[Any], otherwise: NDArray, n: int, forms: str = FORMS
) -> NDArray:
    """Return the costs of named pairs, and of others."""
    found = np.repeat(otherwise[None], n, axis=0)
    seen = set()
    for pair, given in pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise ValueError(f"costs names {pair!r}, which is no pair; accepted are {forms}.")
        true, answer = pair
        if true not in classes or answer not in answers:
            missing = MISSING if forms is FORMS else ""
            raise ValueError(
                f"costs names the pair {pair!r}; accepted are pairs of one of the labels {classes} and one of {answers}{missing}."
            )
        place = classes.index(true), answers.index(answer)
        if place in seen:
            raise ValueError(f"costs names the pair {pair!r} twice.")
        seen.add(place)
        column = real_numbers(given)
        if column is None or column.shape not in ((), (n,)):
            what = shortened(given) if column is None else f"an array of shape {column.shape}"
            raise ValueError(
                f"costs[{pair!r}] is {what}; accepted are a number and an array of shape ({n},), a number for each row.  (A dict "
                "is not cut into folds: in a search give a pandas data frame whose columns are the pairs.)"
            )
        check_column(np.atleast_1d(column), pair, right_is_free=False)
        found[:, place[0], place[1]] = column
    return found


def check_column(column: NDArray, pair: tuple[Any, Any], *, right_is_free: bool) -> None:
    """Raise ValueError for invalid costs of a pair."""
    strange = np.flatnonzero(~((column >= 0) & (column <= LARGEST_LOSS)))
    if len(strange):
        raise ValueError(
            f"costs has {column[strange[0]]:g} for the pair {pair!r} in row {strange[0]}; accepted are numbers from 0 to "
            f"{LARGEST_LOSS:g}."
        )
    if right_is_free and column.any():
        row = np.flatnonzero(column)[0]
        raise ValueError(
            f"costs has {column[row]:g} for the right answer {pair!r} in row {row}; accepted is 0, and where right answers do "
            "cost something, a data frame or a dict that names the pair."
        )


def advice_on_numbers(costs: NDArray, n: int, pair: tuple[Any, Any]) -> str:
    """Return the advice for a single number per row."""
    if costs.shape not in ((n,), (n, 1)):
        return ""
    return f".  One number for each row is the cost of one mistake: name it in a dict, as {{{pair!r}: costs}}"


def axes_of_costs(classes: NDArray, answers: list[Any]) -> str:
    """Return a description of the axes of an array of costs."""
    return f"rows, true labels {classes.tolist()} and answers {answers}"


def expected_costs(probabilities: NDArray, costs: NDArray) -> NDArray:
    """Return the expected cost of each action in each row; the shape is (n, m); a row's bits depend on no other row."""
    found = np.zeros((costs.shape[0], costs.shape[2]))
    for i in range(costs.shape[1]):
        found += probabilities[:, i, None] * costs[:, i]
    return found
