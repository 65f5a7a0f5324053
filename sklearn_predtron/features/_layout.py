"""The places of piecewise-linear features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.state import length_of, reals, restored, wholes

MOST_KNOTS, MOST_FACTORS = 255, 16
MOST_PLACES = 2**31 - 2  # indices have 32 bits
MOST_PRODUCTS = 2**20  # places of all products with categories
CONSTANT, NUMBERS, CATEGORIES = range(3)
DIRECT, HASHED_FIRST, HASHED_CELL = range(3)


class Description(NamedTuple):
    """The arrays that describe a map completely.

    Columns of numbers have 2 knots or more, columns of categories have 1 or more, and other columns are constant.  The knots
    behind a column's last one are 0.
    """

    n_hats: NDArray  # knots of a column
    hats: NDArray  # (p, most of them)
    n_factors: NDArray  # of the factors of its products
    factors: NDArray
    mean: NDArray
    sd: NDArray
    n_categories: NDArray
    missing: NDArray  # whether missing values have an indicator
    monotonic: NDArray  # 1 where a column's curve rises, -1 where it falls, else 0
    pairs: NDArray  # (n, 2), columns with i < j

    @classmethod
    def checked(cls, owner: Any, state: Any) -> Description:
        """Return a validated copy of a saved description."""
        if isinstance(state, (tuple, list)) and len(state) == len(cls._fields) - 1:  # of saved maps without constraints
            state = (*state[:-1], np.zeros(length_of(state, 0), dtype=np.intp), state[-1])
        p, r = length_of(state, 0), length_of(state, 9)
        widths = [part.shape[1] if isinstance(part, np.ndarray) and part.ndim == 2 else 0 for part in (*state, *range(4))[1:4:2]]
        count = wholes(p, least=0, most=MOST_PLACES)
        pattern = (
            wholes(p, least=0, most=min(MOST_KNOTS, widths[0])),
            reals(p, widths[0]),
            wholes(p, least=0, most=min(MOST_FACTORS, widths[1])),
            reals(p, widths[1]),
            reals(p),
            reals(p, least=1e-150),
            count,
            wholes(p, least=0, most=1),
            wholes(p, least=-1, most=1),
            wholes(r, 2, least=0, most=max(p - 1, 0)),
        )
        description = cls(*restored(owner, state, pattern))
        if not description.holds():
            raise ValueError(f"The saved state of a {type(owner).__name__} is damaged: its columns, knots or pairs disagree.")
        return description

    def holds(self) -> bool:
        """Return whether knots, columns and pairs are consistent."""
        hats, factors, either = self.n_hats > 0, self.n_factors > 0, (self.n_hats > 0) | (self.n_categories > 0)
        return (
            len(self.n_hats) > 0
            and min(self.hats.shape[1], self.factors.shape[1]) >= 2
            and bool((hats == factors).all() and not (hats & (self.n_categories > 0)).any())
            and are_rising(self.hats, self.n_hats)
            and are_rising(self.factors, self.n_factors)
            and bool((self.pairs[:, 0] < self.pairs[:, 1]).all() and either[self.pairs].all())
            and not (self.monotonic[self.pairs].all(axis=1).any() or self.monotonic[self.n_categories > 0].any())
        )


def are_rising(knots: NDArray, counts: NDArray) -> bool:
    """Return whether each row's first counts[j] values rise; their distances must have finite inverses."""
    inner = np.arange(1, knots.shape[1]) < counts[:, None]
    with np.errstate(over="ignore"):
        distance = np.diff(knots, axis=1)[inner]
    return bool((counts != 1).all() and (distance >= 1e-290).all() and (distance <= 1e290).all())


class FeatureLayout:
    """The places of the features of a described map."""

    def __init__(self, description: Description):
        self.description = d = description
        self.kind = np.where(d.n_hats > 0, NUMBERS, np.where(d.n_categories > 0, CATEGORIES, CONSTANT))
        self.parts = np.where(self.kind == NUMBERS, d.n_factors, d.n_categories)  # of a column's products
        own = np.where(self.kind == NUMBERS, d.n_hats + 1, d.n_categories)
        ends = np.cumsum(own + d.missing)
        self.base = ends - own - d.missing
        self.raw = np.where(self.kind == NUMBERS, self.base + d.n_hats, -1)
        self.missing = np.where(d.missing > 0, ends - 1, -1)
        self.n_single = int(ends[-1])
        self._lay_pairs()
        self.width = int(self.pair_base[-1] + self.pair_size[-1]) if len(d.pairs) else self.n_single

    def _lay_pairs(self) -> None:
        """Assign places to each pair; pairs with categories share a limited number, and are hashed beyond it."""
        pairs = self.description.pairs
        by_category = self.kind[pairs] == CATEGORIES
        swapped = by_category[:, 1] & ~by_category[:, 0]
        self.first = np.where(swapped, pairs[:, 1], pairs[:, 0])  # the category, of a pair with one
        self.second = np.where(swapped, pairs[:, 0], pairs[:, 1])
        self.stride = self.parts[self.second]
        full = self.parts[self.first] * self.stride
        some = by_category.any(axis=1)
        limit = hashed_size(full[some])
        self.modulus = np.where(by_category.all(axis=1), limit, np.maximum(limit // np.maximum(self.stride, 1), 1))
        hashed = some & (full > limit)
        self.hashed = np.where(~hashed, DIRECT, np.where(by_category.all(axis=1), HASHED_CELL, HASHED_FIRST))
        size = np.where(self.hashed == HASHED_FIRST, self.modulus * self.stride, limit)
        self.pair_size = np.where(hashed, size, full)
        self.pair_base = self.n_single + np.cumsum(self.pair_size) - self.pair_size

    def orders(self) -> NDArray | None:
        """Return the features of which the weights are in order, as `MonotoneWeights` has them; None if there are none.

        They are the hats of each monotone column, its value, and its factors for each factor of the other column of a pair.
        """
        d = self.description
        found = []
        for j in np.flatnonzero((d.monotonic != 0) & (self.kind == NUMBERS)):
            sign = d.monotonic[j]
            found += [(self.base[j], 1, 1, d.n_hats[j], 1, sign), (self.raw[j], 1, 1, 1, 1, sign)]
            for r in np.flatnonzero(self.first == j):
                found.append((self.pair_base[r], self.stride[r], 1, self.parts[j], self.stride[r], sign))
            for r in np.flatnonzero(self.second == j):
                found.append((self.pair_base[r], self.pair_size[r] // self.stride[r], self.stride[r], self.stride[r], 1, sign))
        return np.array(found, dtype=np.intp) if found else None

    def terms(self) -> tuple[list[tuple[int, ...]], NDArray]:
        """Return the terms, and each feature's term number."""
        d = self.description
        of_column = np.where(self.kind == NUMBERS, d.n_hats + 1, d.n_categories) + d.missing
        sizes = np.concatenate([of_column, self.pair_size])
        terms: list[tuple[int, ...]] = [(j,) for j in range(len(of_column))] + [(int(i), int(j)) for i, j in d.pairs]
        return terms, np.repeat(np.arange(len(sizes)), sizes)


def hashed_size(sizes: NDArray) -> int:
    """Return the largest power of 2 that fits all pairs; it is at least 64."""
    size = MOST_PRODUCTS
    while size > 64 and np.minimum(sizes, size).sum() > MOST_PRODUCTS:
        size //= 2
    return size
