"""The terms of additive scores as functions of columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.families.model.explanation import Additive

POINTS, PAIR_POINTS, BINS = 101, 61, 20
TAIL = 0.005  # of the numbers of a column, below and above, that are not drawn
MOST_CATEGORIES = 12  # that are drawn


class TermColumn(NamedTuple):
    """A column as it is drawn.

    Parameters
    ----------
    name : str
        The column's name.
    at : ndarray
        The numbers, rising, or the names of the categories.
    edges : ndarray
        The edges of the bins of the histogram; none for categories.
    shares : ndarray
        How many of the rows are in each bin, or have each category.
    missing : float
        How many of the rows miss it.
    """

    name: str
    at: NDArray
    edges: NDArray
    shares: NDArray
    missing: float

    @property
    def of_numbers(self) -> bool:
        """Whether it holds numbers."""
        return len(self.edges) > 0


class Effect(NamedTuple):
    """A term as a function of its column, or of its two columns.

    Parameters
    ----------
    name : str
        The name of the term.
    columns : tuple of TermColumn
        The columns.
    values : ndarray
        The effect at the values of the column, or of both, (first, second).
    missing : float or None
        The effect of a missing value, and of a pair where either value is missing; None where none is.
    strength : float
        The mean size of the effect over the rows.
    """

    name: str
    columns: tuple[TermColumn, ...]
    values: NDArray
    missing: float | None
    strength: float


class CentredScore:
    """An additive score, centred on a table.

    Parameters
    ----------
    additive : Additive
        One score.
    X : ndarray of shape (n, p)
        Rows as `additive` has read them.
    columns : list of str
        The names of the columns.
    """

    def __init__(self, additive: Additive, X: NDArray, columns: list[str]):
        self.additive, self.X, self.columns = additive, np.asarray(X), columns
        explanation = additive.explain(self.X)
        self.means = explanation.values.mean(axis=0)
        self.strengths = np.abs(explanation.values - self.means).mean(axis=0)
        self.base = explanation.base + float(self.means.sum())

    def chosen(self, features: Iterable[Any] | None, n_terms: int) -> list[int]:
        """Return the requested terms, or the strongest."""
        if features is not None:
            return [self.number_of(term) for term in features]
        strongest = np.argsort(-self.strengths, kind="stable")[:n_terms]
        return [int(t) for t in strongest if self.strengths[t] > 0]

    def number_of(self, term: Any) -> int:
        """Return the term number of a column or pair."""
        wanted = tuple(term) if isinstance(term, (tuple, list)) else (term,)
        known: dict[Any, int] = {j: j for j in range(len(self.columns))}
        known.update((name, j) for j, name in enumerate(self.columns))
        found = tuple(sorted(known.get(column, -1) if is_column(column) else -1 for column in wanted))
        if found not in self.additive.terms:
            pairs = [self.name(other) for other in self.additive.terms if len(other) > 1]
            raise ValueError(
                f"features has {shortened(term)}, which is no term of the scores; accepted are the columns "
                f"{shortened(self.columns)}, and the pairs {shortened(pairs)}, of names or numbers."
            )
        return self.additive.terms.index(found)

    def name(self, term: tuple[int, ...]) -> str:
        """Return the name of a term."""
        return " x ".join(self.columns[j] for j in term)

    def effect(self, t: int) -> Effect:
        """Return a term as a function."""
        term = self.additive.terms[t]
        columns, places = zip(*(self.column(j, pair=len(term) > 1) for j in term), strict=True)
        values = self.at(t, np.stack(np.meshgrid(*places, indexing="ij"), axis=-1).reshape(-1, len(term)))
        missing = None
        if any(column.missing > 0 for column in columns):
            missing = float(self.at(t, np.full((1, len(term)), np.nan))[0])
        return Effect(self.name(term), columns, values.reshape([len(at) for at in places]), missing, float(self.strengths[t]))

    def at(self, t: int, values: NDArray) -> NDArray:
        """Return the effect of a term at some values."""
        rows = np.zeros((len(values), self.X.shape[1]))
        rows[:, list(self.additive.terms[t])] = values
        return self.additive.explain(rows).values[:, t] - self.means[t]

    def column(self, j: int, *, pair: bool) -> tuple[TermColumn, NDArray]:
        """Return a drawable column, and its values as numbers."""
        values, known = self.X[:, j], getattr(self.additive.map, "categories_", [None] * len(self.columns))[j]
        there = values[~np.isnan(values)].astype(np.float64)
        missing = (len(values) - len(there)) / len(values)
        if known is not None:
            codes = np.arange(min(len(known), MOST_CATEGORIES))
            shares = np.bincount(there[there >= 0].astype(np.intp), minlength=len(known))[codes] / len(values)
            return TermColumn(
                self.columns[j], np.asarray(known[codes], dtype=object), np.zeros(0), shares, missing
            ), codes.astype(float)
        at = self.points(j, there, pair=pair)
        counts, edges = np.histogram(there, bins=BINS, range=(at[0], at[-1]))
        return TermColumn(self.columns[j], at, edges, counts / len(values), missing), at

    def points(self, j: int, there: NDArray, *, pair: bool) -> NDArray:
        """Return numbers that span a column's range; they are its knots and the points between, or the ends of a line."""
        low, high = np.quantile(there, [TAIL, 1 - TAIL]) if len(there) else (0.0, 0.0)
        if self.additive.map is None or low == high:
            return np.unique([low, high])
        points = np.linspace(low, high, PAIR_POINTS if pair else POINTS)
        knots = getattr(self.additive.map, "knots_", {j: points})[j]
        return points if pair else np.unique(np.concatenate([points, knots[(low < knots) & (knots < high)]]))


def is_column(name: Any) -> bool:
    """Return whether a value can name or number a column."""
    return isinstance(name, (str, int, np.integer)) and not isinstance(name, bool)
