"""Feature maps as nodes of a graph."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.cells import category_text
from sklearn_predtron.features import CLIP, FeatureMap, PiecewiseLinear, RandomFourier
from sklearn_predtron.features._layout import DIRECT, NUMBERS, FeatureLayout
from sklearn_predtron.onnx._graph import Graph

FAR = 1e9  # standardised numbers of cosines, as the compiled map has them
ACCEPTED = "accepted are columns of numbers, NaN where they are missing, and categories that are numbers, up to 256 in a column"


class ColumnNodes(Protocol):
    """Columns that a graph computes from a table."""

    features: NDArray  # the number of the feature that each column is; -1 is none

    def draw(self, graph: Graph, X: str, missing: str) -> list[str]:
        """Return the columns as adjacent matrices."""


def column_nodes(fitted: Any) -> ColumnNodes:
    """Return the column nodes of a map."""
    if not isinstance(fitted, FeatureMap):
        raise ValueError(
            "The map of features is not made yet, of the first rows of a stream; accepted is what fit has made, or partial_fit "
            "of 500 rows."
        )
    fitted._fitted()
    if isinstance(fitted, RandomFourier):
        return FourierColumns(*fitted._state)
    if isinstance(fitted, PiecewiseLinear):
        return PiecewiseColumns(fitted._layout(), values_of(fitted))
    raise ValueError(f"{type(fitted).__name__} is not converted; accepted are PiecewiseLinear, Auto and RandomFourier.")


def values_of(fitted: PiecewiseLinear) -> list[NDArray]:
    """Return the numeric categories of each column."""
    if any(fitted._hashed) or (fitted._layout().hashed != DIRECT).any():
        raise ValueError(f"The map finds the places of categories, or of their products, by a hash; {ACCEPTED}.")
    found = []
    for known in fitted.categories_:
        texts = [] if known is None else known.tolist()
        values = [number(text) for text in texts]
        if not np.isfinite(values).all():
            raise ValueError(f"The map has the categories {texts[:5]}; {ACCEPTED}.")
        found.append(np.array(values, dtype=np.float64))
    return found


def number(text: str) -> float:
    """Return the number that a category's text means, or NaN."""
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if category_text(value) == text else math.nan


def feature_numbers(fitted: Any) -> NDArray:
    """Return the feature number of each drawn column, or -1."""
    return np.append(column_nodes(fitted).features, -1)


def draw_columns(graph: Graph, fitted: Any, X: str) -> str:
    """Return the columns of a table, and a zero or NaN; the last column is NaN in rows that the map rejects."""
    missing = graph.node("IsNaN", X)
    taken = graph.node("Where", missing, graph.constant(0, graph.real), X) if fitted.missing else X
    zeros = graph.node("Mul", taken, graph.constant(0, graph.real))
    refused = graph.node("ReduceSum", zeros, graph.constant([1], np.int64), keepdims=1)
    return graph.node("Concat", *column_nodes(fitted).draw(graph, X, missing), refused, axis=1)


def draw_features(graph: Graph, fitted: Any, X: str) -> str:
    """Return the features of a table, in order."""
    features = feature_numbers(fitted)
    return graph.columns(draw_columns(graph, fitted, X), np.argsort(features, kind="stable")[(features < 0).sum() :])


class FourierColumns:
    """The columns of `RandomFourier`, one per feature."""

    def __init__(self, turns: NDArray, phase: NDArray, mean: NDArray, sd: NDArray, amplitude: float):
        self.turns, self.phase, self.mean, self.sd, self.amplitude = turns, phase, mean, sd, amplitude
        self.features = np.arange(len(phase))

    def draw(self, graph: Graph, X: str, missing: str) -> list[str]:
        """Return the cosines."""
        z = standardised(graph, X, missing, self.mean, self.sd, FAR)
        cosines = graph.node("Cos", graph.linear(z, 2 * np.pi * self.turns, 2 * np.pi * self.phase))
        return [graph.node("Mul", cosines, graph.constant(self.amplitude, graph.real))]


class Products(NamedTuple):
    """Products of `left` with the vectors `right`; each product is a feature, or none (-1)."""

    left: NDArray
    right: NDArray
    features: NDArray

    def draw(self, graph: Graph, values: str, vectors: str) -> str:
        """Return the products in adjacent columns."""
        left = graph.reshaped(graph.columns(values, self.left), len(self.left), 1)
        return graph.reshaped(graph.node("Mul", left, graph.columns(vectors, self.right)), self.features.size)


class PiecewiseColumns:
    """The columns of `PiecewiseLinear`.

    All columns of numbers have as many hats; those behind a column's last knot are 0.

    Parameters
    ----------
    layout : FeatureLayout
        Where the features stand.
    values : list of ndarray
        The categories of each column.
    """

    def __init__(self, layout: FeatureLayout, values: list[NDArray]):
        d = layout.description
        self.layout = layout
        self.numbers, self.marked = np.flatnonzero(layout.kind == NUMBERS), np.flatnonzero(d.missing)
        self.mean, self.sd = d.mean[self.numbers], d.sd[self.numbers]
        self.hats, self.factors = (
            Hats(knots[self.numbers], counts[self.numbers]) for knots, counts in [(d.hats, d.n_hats), (d.factors, d.n_factors)]
        )
        self.of_category, which = runs([len(own) for own in values])
        self.values = np.concatenate(values)
        self.with_numbers, self.with_categories = self._products_with_numbers(), self._products_with_categories()
        own = [self.hats.places(layout.base[self.numbers]), layout.raw[self.numbers], layout.missing[self.marked]]
        own += [layout.base[self.of_category] + which, self.with_numbers.features, self.with_categories.features]
        self.features = np.concatenate([part.ravel() for part in own])

    def _parts(self) -> NDArray:
        """Return the places of parts by column, and their numbers."""
        found = len(self.numbers) * self.factors.most + np.searchsorted(self.of_category, np.arange(len(self.layout.kind)))
        found[self.numbers] = np.arange(len(self.numbers)) * self.factors.most
        return found

    def _products_with_numbers(self) -> Products:
        """Return the products of a column's parts with another's hats."""
        layout, part = self.layout, self._parts()
        pairs = np.flatnonzero(layout.kind[layout.second] == NUMBERS)
        run, i = runs(layout.parts[layout.first[pairs]])
        r = pairs[run]
        places = layout.pair_base[r] + i * layout.stride[r]
        features = ordered(places, layout.stride[r], self.factors.most)
        return Products(part[layout.first[r]] + i, np.searchsorted(self.numbers, layout.second[r]), features)

    def _products_with_categories(self) -> Products:
        """Return the products of two columns' categories."""
        layout, part = self.layout, self._parts()
        pairs = np.flatnonzero(layout.kind[layout.second] != NUMBERS)
        run, cell = runs(layout.pair_size[pairs])
        r = pairs[run]
        i, k = np.divmod(cell, layout.stride[r])
        before = len(self.numbers) * self.factors.most
        return Products(part[layout.first[r]] + i, part[layout.second[r]] + k - before, layout.pair_base[r] + cell)

    def draw(self, graph: Graph, X: str, missing: str) -> list[str]:
        """Return hats, numbers, indicators and products."""
        found, x, gone, indicators = [], "", "", ""
        if len(self.numbers):
            x, gone = graph.columns(X, self.numbers), graph.columns(missing, self.numbers)
            hats = graph.reshaped(self.hats.draw(graph, x, gone), len(self.numbers) * self.hats.most)
            found += [hats, standardised(graph, x, gone, self.mean, self.sd, CLIP)]
        if len(self.marked):
            found.append(graph.cast(graph.columns(missing, self.marked), graph.real))
        if len(self.values):
            indicators = self._draw_indicators(graph, X)
            found.append(indicators)
        return [*found, *(self._draw_products(graph, x, gone, indicators) if len(self.layout.description.pairs) else [])]

    def _draw_products(self, graph: Graph, x: str, missing: str, indicators: str) -> list[str]:
        """Return the products of pairs of columns."""
        found, parts, factors = [], [indicators] if indicators else [], ""
        if len(self.numbers):
            factors = self.factors.draw(graph, x, missing)
            parts.insert(0, graph.reshaped(factors, len(self.numbers) * self.factors.most))
        values = graph.node("Concat", *parts, axis=1)
        if len(self.with_numbers.left):
            found.append(self.with_numbers.draw(graph, values, factors))
        if len(self.with_categories.left):
            found.append(self.with_categories.draw(graph, values, graph.reshaped(indicators, len(self.values), 1)))
        return found

    def _draw_indicators(self, graph: Graph, X: str) -> str:
        """Return the indicators of the categories of each row."""
        x = graph.cast(graph.columns(X, self.of_category), graph.real)  # 0.1 is the same category in either precision
        return graph.cast(graph.node("Equal", x, graph.constant(self.values, graph.real)), graph.real)


class Hats:
    """Hats of several columns, padded to equal numbers.

    Parameters
    ----------
    knots : ndarray of shape (p, n)
        The knots of each column.
    counts : ndarray of shape (p,)
        How many it has, which are the first ones.
    """

    def __init__(self, knots: NDArray, counts: NDArray):
        self.counts, self.most = counts, int(counts.max(initial=2))
        self.at = knots[:, : self.most - 1]
        inner = np.arange(1, self.most) < counts[:, None]
        distance = np.diff(knots[:, : self.most], axis=1)
        self.inverse = np.divide(1, distance, out=np.zeros(distance.shape), where=inner)

    def places(self, first: NDArray) -> NDArray:
        """Return the places of the hats; -1 is padding."""
        return ordered(first, self.counts, self.most)

    def draw(self, graph: Graph, x: str, missing: str) -> str:
        """Return the hats, of shape (n, p, most), 0 where missing."""
        x, missing = (graph.reshaped(value, len(self.counts), 1) for value in (x, missing))
        zero = graph.constant(0, graph.real)
        part = graph.node("Mul", graph.minus(x, self.at), graph.constant(self.inverse, graph.real))
        part = graph.node("Where", missing, zero, graph.clip(part, 0, 1))  # of the way from each knot to the next
        there = graph.cast(graph.node("Not", missing), graph.real)
        none = graph.node("Mul", there, zero)
        return graph.node("Sub", graph.node("Concat", there, part, axis=2), graph.node("Concat", part, none, axis=2))


def standardised(graph: Graph, X: str, missing: str, mean: NDArray, sd: NDArray, most: float) -> str:
    """Return (x - mean) / sd, clipped, 0 where missing."""
    z = graph.node("Mul", graph.minus(X, mean), graph.constant(1 / sd, graph.real))
    return graph.node("Where", missing, graph.constant(0, graph.real), graph.clip(z, -most, most))


def ordered(first: NDArray, counts: NDArray, most: int) -> NDArray:
    """Return consecutive numbers from each start; -1 is padding."""
    k = np.arange(most)
    return np.where(k < counts[:, None], first[:, None] + k, -1)


def runs(sizes: Any) -> tuple[NDArray, NDArray]:
    """Return each element's run and its place there."""
    sizes = np.asarray(sizes, dtype=np.intp)
    return np.repeat(np.arange(len(sizes)), sizes), np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
