"""Bundled and generated data of the job without files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_classification, make_friedman1
from sklearn.model_selection import train_test_split

from sklearn_predtron.datasets import make_ranking_queries

ATTRIBUTES = {
    "odd": [1, 3, 5, 7, 9],
    "above 4": [5, 6, 7, 8, 9],
    "has a loop": [0, 6, 8, 9],
    "prime": [2, 3, 5, 7],
    "multiple of 3": [0, 3, 6, 9],
    "square": [0, 1, 4, 9],
}
# 5 rows of a hundred are positive, and one in fifty is labelled at random.
RARE: dict[str, Any] = {"n_samples": 6_000, "n_informative": 8, "weights": [0.95], "class_sep": 0.7, "flip_y": 0.02}
BLOCK = 100  # rows of the stream that are predicted before they are learned


@dataclass(frozen=True)
class DatasetSplit:
    """Training and test rows, with their queries or sequences."""

    X: NDArray
    X_test: NDArray
    y: NDArray
    y_test: NDArray
    ids: NDArray | None = None
    ids_test: NDArray | None = None

    @classmethod
    def of_rows(cls, X: NDArray, y: NDArray, seed: int, test_size: float = 0.25) -> DatasetSplit:
        """Split rows at random, stratified by class."""
        stratify = y if y.ndim == 1 else None
        X, X_test, y, y_test = train_test_split(X, y, test_size=test_size, random_state=seed, stratify=stratify)
        return cls(X, X_test, y, y_test)

    @classmethod
    def of_groups(cls, X: NDArray, y: NDArray, ids: NDArray, n: int) -> DatasetSplit:
        """Split into the first n groups and the others."""
        cut = np.searchsorted(ids, n)
        return cls(X[:cut], X[cut:], y[:cut], y[cut:], ids[:cut], ids[cut:])


def breast_cancer(seed: int) -> DatasetSplit:
    """Return the breast cancer data, malignant (0) or benign (1)."""
    X, y = load_breast_cancer(return_X_y=True)
    return DatasetSplit.of_rows(X, y, seed)


def digits(seed: int) -> DatasetSplit:
    """Return pictures of digits."""
    X, y = load_digits(return_X_y=True)
    return DatasetSplit.of_rows(X, y, seed)


def diabetes_ranks(seed: int) -> DatasetSplit:
    """Return diabetes patients with ranks of progression, 0 to 4."""
    X, target = load_diabetes(return_X_y=True)
    return DatasetSplit.of_rows(X, np.searchsorted(np.quantile(target, [0.2, 0.4, 0.6, 0.8]), target), seed)


def digit_attributes(seed: int) -> DatasetSplit:
    """Return pictures of digits with their attributes as labels."""
    X, y = load_digits(return_X_y=True)
    return DatasetSplit.of_rows(X, np.column_stack([np.isin(y, having) for having in ATTRIBUTES.values()]).astype(np.int64), seed)


def generated_queries(seed: int) -> DatasetSplit:
    """Return the simulated queries of Jain et al. (2015), section 6.

    100 are for training and 200 for testing; 12 of 20 features are known.
    """
    X, y, qid = make_ranking_queries(300, 20, n_features=20, rows="uniform", random_state=seed)
    return DatasetSplit.of_groups(X[:, :12], y, qid, 100)


def words_of_digits(seed: int) -> DatasetSplit:
    """Return words of noisy, ascending digits; test digits are apart."""
    random, n = np.random.default_rng(seed), 400
    pictures, true = load_digits(return_X_y=True)
    word = np.repeat(np.arange(n), random.integers(3, 9, n))
    y = np.cumsum(random.random(len(word)) < 0.8) % 10
    half, held_out = random.random(len(true)) < 0.5, word >= 3 * n // 4
    drawn = np.empty(len(y), dtype=np.intp)
    for digit, part in np.ndindex(10, 2):
        there = (y == digit) & (held_out == part)
        drawn[there] = random.choice(np.flatnonzero((true == digit) & (half == part)), there.sum())
    X = (pictures[drawn] + 4 * random.standard_normal((len(y), 64))) / 16
    return DatasetSplit.of_groups(X, y, word, 3 * n // 4)


def rare_class(seed: int) -> DatasetSplit:
    """Return rows of which 5 % have class 1."""
    X, y = make_classification(**RARE, random_state=seed)
    return DatasetSplit.of_rows(X, y, seed, test_size=0.5)


def table_with_gaps(seed: int) -> DatasetSplit:
    """Return Friedman's table (1991) with a tenth of its values missing."""
    X, target = make_friedman1(3_000, noise=1.0, random_state=seed)
    X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
    return DatasetSplit.of_rows(X, (target > np.median(target)).astype(np.int64), seed, test_size=0.5)


def stream_of_digits(seed: int) -> DatasetSplit:
    """Return digits in file order, which ends with other writers; all but the first block are tested."""
    X, y = load_digits(return_X_y=True)
    return DatasetSplit(X / 16, X[BLOCK:] / 16, y, y[BLOCK:])
