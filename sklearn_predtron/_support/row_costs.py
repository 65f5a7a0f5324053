"""Costs of predictions, row by row: reading, validation and expectation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.numbers import LARGEST_LOSS, real_numbers
from sklearn_predtron._support.queries import shortened

FORMS = (
    "an array of shape (n_samples, n_classes, n_predictions), a pandas data frame whose columns are pairs (true, predicted), and "
    "a dict {(true, predicted): a number or an array of shape (n_samples,)}"
)
SIDES = ("missed", "false")  # of a label of a set
FORMS_OF_SETS = (
    "an array of shape (n_samples, n_labels, 2), missed and false, a pandas data frame whose columns are pairs (label, 'missed') "
    "and (label, 'false'), and a dict {(label, 'missed' or 'false'): a number or an array of shape (n_samples,)}"
)
MISSING = (
    "; where a class may be missing, as from a fold, let each have all (StratifiedKFold), or declare them: by `categories` of "
    "ranks, by `classes` of partial_fit"
)


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


def costs_by_row(
    costs: Any, classes: NDArray, answers: list[Any], otherwise: NDArray, n: int, codes: NDArray | None = None
) -> NDArray:
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
    codes : ndarray of shape (n,), default=None
        The numbers of the true labels; costs may then be those of the answers in each row, of shape (n, m), which are known once
        the true label is.  Those of other labels are nan.

    Returns
    -------
    ndarray of shape (n, k, m)
        Costs, not negative.

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
    if found.shape == (n, len(answers)):
        return realised_costs(found, codes, shape, answers)
    if found.shape != shape:
        raise ValueError(
            f"costs has shape {found.shape}; accepted here is {shape}, {axes_of_costs(classes, answers)}"
            f"{advice_on_numbers(found, n, (answers[-1 if len(answers) == len(classes) else -2], answers[0]))}."
        )
    for i, true in enumerate(classes.tolist()):
        for j, answer in enumerate(answers):
            check_column(found[:, i, j], (true, answer), right_is_free=i == j)
    return found


def costs_of_answers(model: Any, costs: Any, classes: NDArray, n: int, codes: NDArray | None = None) -> NDArray:
    """Return the costs of a classifier's predictions in each row, as `costs_by_row`; abstention is last if it may abstain.

    Pairs that are not named cost 0 if they are right and 1 otherwise, and abstentions what they cost the classifier.
    """
    k, named = len(classes), getattr(model, "_named", None)
    answers, otherwise = classes if named is None else named(classes), 1.0 - np.eye(k)
    if len(answers) == k:
        return costs_by_row(costs, classes, answers.tolist(), otherwise, n, codes)
    rejected = model._costs_otherwise(classes)[:, k:]
    if np.shape(costs) == (n, k, k):
        table = costs_by_row(costs, classes, classes.tolist(), otherwise, n)
        return np.concatenate([table, np.broadcast_to(rejected, (n, k, 1))], axis=2)
    return costs_by_row(costs, classes, answers.tolist(), np.column_stack([otherwise, rejected]), n, codes)


def are_of_predictions(costs: Any) -> bool:
    """Return whether costs are an array of two dimensions: what each prediction costs given the true label of the row."""
    return np.ndim(costs) == 2 and not hasattr(costs, "columns")


def realised_costs(costs: NDArray, codes: NDArray | None, shape: tuple[int, int, int], answers: list[Any]) -> NDArray:
    """Return the costs of the answers in each row by its true label, and nan by the others."""
    if codes is None:
        raise ValueError(
            f"costs has shape {costs.shape}: what each prediction costs in a row is known with its true label, and accepted by "
            f"fit, partial_fit and scores.  Accepted here is {shape}, what it costs under each label that may be the true one."
        )
    for j, answer in enumerate(answers):
        check_column(costs[:, j], ("the true label", answer), right_is_free=False)
    table = np.full(shape, np.nan)
    table[np.arange(len(costs)), codes] = costs
    return table


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


class Capacity(NamedTuple):
    """The largest share of the rows that may have an answer.

    Parameters
    ----------
    answer : int
        The number of the answer.
    share : float
        The share.
    limit : float or None
        The saving that the answer must exceed in a call of so few rows that the share is less than one; None if it is not known.
    """

    answer: int
    share: float
    limit: float | None = None

    def savings(self, expected: NDArray) -> tuple[NDArray, NDArray]:
        """Return the best other answer of each row, and what the answer saves in expectation over it."""
        others = expected.copy()
        others[:, self.answer] = np.inf
        other = others.argmin(axis=1)
        return other, others[np.arange(len(other)), other] - expected[:, self.answer]

    def within(self, expected: NDArray) -> NDArray:
        """Return the answers of lowest expected cost in which the share is not exceeded.

        The rows that save most have the answer, the first ones of those that save as much.
        """
        best = expected.argmin(axis=1)
        other, saving = self.savings(expected)
        wanted = np.flatnonzero(best == self.answer)
        most = int(self.share * len(expected) * (1 + 1e-12))
        if most > 0:
            left = wanted[np.argsort(-saving[wanted], kind="stable")][most:]
        elif self.limit is not None:
            left = wanted[saving[wanted] <= self.limit]
        else:
            raise ValueError(
                f"X has {len(expected)} rows, of which the share {self.share:g} in decision.subject_to is less than one.  Calls "
                "of so few rows need the least saving of such a prediction, which fit(X, y, costs=...) with costs by row finds "
                "on held-out rows under the present decision; "
                f"accepted here are {int(np.ceil(1 / self.share))} rows or more."
            )
        best[left] = other[left]
        return best


def classes_of_least_cost(probabilities: NDArray, costs: NDArray, capacity: Capacity | None = None) -> NDArray:
    """Return the number of the answer with the lowest expected cost in each row, within a capacity if there is one."""
    expected = expected_costs(probabilities, costs)
    found: NDArray = expected.argmin(axis=1) if capacity is None else capacity.within(expected)
    return found


def sets_of_least_cost(probabilities: NDArray, table: NDArray) -> NDArray:
    """Return indicators of labels cheaper to predict than omit; costs are in expectation; the shape is (n, m)."""
    return (probabilities * table[:, :, 0] > (1 - probabilities) * table[:, :, 1]).astype(np.uint8)
