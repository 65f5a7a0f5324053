"""Names of the features of a map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.features._layout import CATEGORIES, DIRECT, HASHED_FIRST, NUMBERS, FeatureLayout


def feature_names(columns: Sequence[str], categories: Sequence[NDArray | None], layout: FeatureLayout) -> NDArray:
    """Return unique names for piecewise-linear features."""
    names: list[str] = []
    described = layout.description
    for j, column in enumerate(columns):
        if layout.kind[j] == NUMBERS:
            names += [*at_knots(column, described.hats[j, : described.n_hats[j]]), column]
        elif layout.kind[j] == CATEGORIES:
            names += with_categories(column, categories[j], described.n_categories[j])
        if described.missing[j]:
            names.append(f"{column} missing")
    factors = [factor_names(column, categories[j], layout, j) for j, column in enumerate(columns)]
    for r in range(len(described.pairs)):
        names += product_names(columns, factors, layout, r)
    return unique(names)


def at_knots(column: str, knots: NDArray) -> list[str]:
    """Return the names of hats, with enough digits."""
    for digits in range(3, 18):
        texts = [f"{knot:.{digits}g}" for knot in knots]
        if len(set(texts)) == len(texts):
            break
    return [f"{column} at {text}" for text in texts]


def with_categories(column: str, categories: NDArray | None, n: int) -> list[str]:
    """Return the names of the indicators of categories."""
    known = [] if categories is None else [f"{column}={category}" for category in categories.tolist()]
    return known + [f"{column} other #{k}" for k in range(n - len(known))]


def factor_names(column: str, categories: NDArray | None, layout: FeatureLayout, j: int) -> list[str]:
    """Return the names of the factors of products."""
    described = layout.description
    if layout.kind[j] == NUMBERS:
        return at_knots(column, described.factors[j, : described.n_factors[j]])
    return with_categories(column, categories, described.n_categories[j]) if layout.kind[j] == CATEGORIES else []


def product_names(columns: Sequence[str], factors: list[list[str]], layout: FeatureLayout, r: int) -> list[str]:
    """Return the names of a pair's products; hashed products have a number."""
    i, j = layout.first[r], layout.second[r]
    if layout.hashed[r] == DIRECT:
        return [f"{a} x {b}" for a in factors[i] for b in factors[j]]
    if layout.hashed[r] == HASHED_FIRST:
        return [f"{columns[i]} #{k} x {b}" for k in range(layout.modulus[r]) for b in factors[j]]
    return [f"{columns[i]} x {columns[j]} #{k}" for k in range(layout.pair_size[r])]


def unique(names: list[str]) -> NDArray:
    """Return the names, numbered where they repeat."""
    if len(set(names)) < len(names):
        taken, met = set(names), Counter[str]()
        for k, name in enumerate(names):
            met[name] += 1
            if met[name] > 1:
                number = met[name]
                while f"{name} ({number})" in taken:
                    number += 1
                names[k] = f"{name} ({number})"
                taken.add(names[k])
    return np.array(names, dtype=object)
