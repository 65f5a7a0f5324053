"""Lengths of given weights and rows; they are measured under the norms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def weights_length(sizes: NDArray, q: float, beside: NDArray) -> float:
    """Return the r-norm of sizes, 1/r + 1/q = 1; weights that stand apart are at a right angle."""
    return float(np.hypot(np.linalg.norm(sizes, q / (q - 1)), np.linalg.norm(beside)))


def largest_length(X: Any, feature: float, q: float, apart: bool) -> float:
    """Return the largest q-norm of a row with the intercept; the intercept's feature may stand apart, at a right angle."""
    sizes = abs(X.astype(np.float64))  # of a copy: scipy sums the duplicates of X in place
    largest = max(float(sizes.max()), feature) or 1.0
    sizes, feature = sizes / largest, feature / largest  # no power overflows, and none that matters underflows
    powers = sizes.power(q) if sparse.issparse(X) else sizes**q
    rows = np.asarray(powers.sum(axis=1)).ravel() ** (1 / q)
    together = np.hypot(rows, feature) if apart else (rows**q + feature**q) ** (1 / q)
    return largest * float(together.max())


def spectral_length(documents: Any) -> float:
    """Return the spectral norm."""
    return float(np.linalg.norm(dense(documents), 2))


def length_of_features(documents: Any, q: float) -> float:
    """Return the q-norm of the lengths of the features."""
    lengths = np.linalg.norm(dense(documents), axis=0)
    longest = lengths.max() or 1.0
    return float(longest * np.linalg.norm(lengths / longest, q))


def dense(documents: Any) -> NDArray:
    """Return the rows as an array."""
    return documents.toarray() if sparse.issparse(documents) else documents
