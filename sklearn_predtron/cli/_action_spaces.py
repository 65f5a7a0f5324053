"""Action spaces: possible predictions and their cost in each row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_predtron._support.encoding import encode
from sklearn_predtron.cli._lines import format_label
from sklearn_predtron.families.multilabel import PredtronMultilabelClassifier
from sklearn_predtron.families.ordinal import PredtronOrdinalClassifier
from sklearn_predtron.losses._by_row import (
    SIDES,
    costs_by_row,
    costs_of_labels,
    costs_of_sets,
    expected_costs,
    sets_of_least_cost,
)

MAX_COSTS = 2**22  # in memory at once


class RowsWithCosts:
    """Rows with the costs of the named pairs.

    Parameters
    ----------
    values : CSR matrix of shape (n, p)
        The rows.
    pairs : list of tuples
        The pairs that have costs, in the estimators' form.
    columns : ndarray of shape (n, number of pairs)
        The costs.
    """

    def __init__(self, values: Any, pairs: list[tuple[Any, Any]], columns: NDArray):
        self.values, self.pairs, self.columns = values, pairs, columns

    def __getitem__(self, rows: slice | NDArray) -> RowsWithCosts:
        return RowsWithCosts(self.values[rows], self.pairs, self.columns[rows])

    @property
    def shape(self) -> tuple[int, int]:
        """Return the shape of the rows."""
        return self.values.shape

    @property
    def costs(self) -> dict[tuple[Any, Any], NDArray]:
        """Return the costs as the estimators accept them."""
        return dict(zip(self.pairs, self.columns.T, strict=True))


def values_of(X: Any) -> Any:
    """Return the rows, with or without costs."""
    return X.values if isinstance(X, RowsWithCosts) else X


class ActionSpace(ABC):
    """Base of the action spaces: predictions as numbers or indicators."""

    size: int  # costs of a row

    def parts(self, n: int) -> Iterator[slice]:
        """Yield rows in parts whose costs fit into memory."""
        step = max(1, MAX_COSTS // self.size)
        return (slice(start, start + step) for start in range(0, n, step))

    @abstractmethod
    def parse_pair(self, text: str) -> tuple[Any, Any] | None:
        """Return a column of a header as a pair of labels.

        None if it names no pair.
        """

    @property
    @abstractmethod
    def accepted_pairs(self) -> tuple[str, list[Any]]:
        """Return the accepted columns as text, and the labels to list."""

    def missing_pair(self, pairs: list[tuple[Any, Any]]) -> str | None:
        """Return a required pair without a column, if any."""
        return None

    @abstractmethod
    def codes(self, labels: Any) -> NDArray:
        """Return labels or predictions as numbers or indicators."""

    @abstractmethod
    def labels(self, codes: NDArray) -> Any:
        """Return the labels of numbers or indicators."""

    @abstractmethod
    def prior_probabilities(self, n: int) -> NDArray:
        """Return the probabilities of rows before any training."""

    @abstractmethod
    def table(self, X: RowsWithCosts) -> NDArray:
        """Return the cost of every action in each row."""

    @abstractmethod
    def least_cost_actions(self, probabilities: NDArray, table: NDArray) -> NDArray:
        """Return the actions of least expected cost."""

    @abstractmethod
    def realised_costs(self, chosen: NDArray, true: NDArray, table: NDArray) -> NDArray:
        """Return the realised cost of each row."""

    @abstractmethod
    def constant_costs(self, true: NDArray, table: NDArray) -> NDArray:
        """Return the total costs of the constant actions.

        The minimum along the last axis is the best.
        """

    @abstractmethod
    def scores(self, chosen: NDArray, true: NDArray) -> NDArray:
        """Return the score of each row."""

    def rejected(self, chosen: NDArray) -> int:
        """Return the number of abstained rows."""
        return 0


class ClassActions(ActionSpace):
    """Classes, and abstention if it is available.

    Parameters
    ----------
    estimator : estimator
        A classifier, or one of ranks, fitted or not.
    classes : ndarray of shape (k,)
        The labels.
    """

    def __init__(self, estimator: Any, classes: NDArray):
        self.classes, self.named = classes, estimator._named(classes)
        self.otherwise = estimator._costs(classes)
        self.size = self.otherwise.size

    def parse_pair(self, text: str) -> tuple[Any, Any] | None:
        true, _, answer = text.partition(":")
        found = label_of(true, self.classes.tolist()), label_of(answer, self.named.tolist())
        return None if None in found else found

    @property
    def accepted_pairs(self) -> tuple[str, list[Any]]:
        return "TRUE:PREDICTED of the labels", self.named.tolist()

    def codes(self, labels: Any) -> NDArray:
        return encode(np.asarray(labels), self.named)

    def labels(self, codes: NDArray) -> Any:
        return self.named[codes]

    def prior_probabilities(self, n: int) -> NDArray:
        return np.full((n, len(self.classes)), 1 / len(self.classes))

    def table(self, X: RowsWithCosts) -> NDArray:
        return costs_by_row(X.costs, self.classes, self.named.tolist(), self.otherwise, X.shape[0])

    def least_cost_actions(self, probabilities: NDArray, table: NDArray) -> NDArray:
        return expected_costs(probabilities, table).argmin(axis=1)

    def realised_costs(self, chosen: NDArray, true: NDArray, table: NDArray) -> NDArray:
        return table[np.arange(len(true)), true, chosen]

    def constant_costs(self, true: NDArray, table: NDArray) -> NDArray:
        return table[np.arange(len(true)), true].sum(axis=0)

    def scores(self, chosen: NDArray, true: NDArray) -> NDArray:
        return chosen == true

    def rejected(self, chosen: NDArray) -> int:
        return int(np.sum(chosen == len(self.classes)))


class RankActions(ClassActions):
    """Ranks, and abstention if it is available.

    Abstention counts as the largest error in the mean distance.
    """

    def scores(self, chosen: NDArray, true: NDArray) -> NDArray:
        most = len(self.classes) - 1
        return 1 - np.where(chosen <= most, np.abs(chosen - true), most) / most


class SetActions(ActionSpace):
    """Sets of labels.

    Parameters
    ----------
    estimator : PredtronMultilabelClassifier
        The estimator, fitted or not.
    names : ndarray of shape (m,)
        The labels as the files have them.
    """

    def __init__(self, estimator: Any, names: NDArray):
        self.names = names
        self.columns = np.asarray(getattr(estimator, "label_names_", np.arange(len(names)))).tolist()
        self.otherwise = estimator._costs_otherwise(len(names))
        self.size = self.otherwise.size

    def parse_pair(self, text: str) -> tuple[Any, Any] | None:
        name, _, side = text.partition(":")
        label = label_of(name, self.names.tolist())
        return None if label is None or side not in SIDES else (self.columns[self.names.tolist().index(label)], side)

    @property
    def accepted_pairs(self) -> tuple[str, list[Any]]:
        return "LABEL:missed and LABEL:false of the labels", self.names.tolist()

    def missing_pair(self, pairs: list[tuple[Any, Any]]) -> str | None:
        absent = [(i, side) for i, side in np.argwhere(np.isnan(self.otherwise)) if (self.columns[i], SIDES[side]) not in pairs]
        return None if not absent else f"{format_label(self.names[absent[0][0]])}:{SIDES[absent[0][1]]}"

    def codes(self, labels: Any) -> NDArray:
        return labels.toarray() if sparse.issparse(labels) else np.asarray(labels)

    def labels(self, codes: NDArray) -> Any:
        return codes

    def prior_probabilities(self, n: int) -> NDArray:
        return np.full((n, len(self.names)), 0.5)

    def table(self, X: RowsWithCosts) -> NDArray:
        return costs_of_labels(X.costs, self.columns, self.otherwise, X.shape[0])

    def least_cost_actions(self, probabilities: NDArray, table: NDArray) -> NDArray:
        return sets_of_least_cost(probabilities, table)

    def realised_costs(self, chosen: NDArray, true: NDArray, table: NDArray) -> NDArray:
        return costs_of_sets(chosen, true, table)

    def constant_costs(self, true: NDArray, table: NDArray) -> NDArray:
        on = true.astype(bool)
        return np.column_stack([np.where(on, table[:, :, 0], 0).sum(axis=0), np.where(on, 0, table[:, :, 1]).sum(axis=0)])

    def scores(self, chosen: NDArray, true: NDArray) -> NDArray:
        return (chosen == true).mean(axis=1)


def label_of(text: str, labels: list[Any]) -> Any:
    """Return the label with this text; None without one."""
    if text in labels:
        return text
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value in labels else None


def action_space_of(estimator: Any, classes: NDArray) -> ActionSpace:
    """Return the action space of an estimator."""
    if isinstance(estimator, PredtronMultilabelClassifier):
        return SetActions(estimator, classes)
    return (RankActions if isinstance(estimator, PredtronOrdinalClassifier) else ClassActions)(estimator, classes)
