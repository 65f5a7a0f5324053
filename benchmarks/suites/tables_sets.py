"""The tables on which maps of columns and trees are compared, with their splits, whole or with values missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    make_classification,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_gaussian_quantiles,
    make_hastie_10_2,
    make_moons,
)
from sklearn.model_selection import train_test_split

from benchmarks.read import reader
from benchmarks.tasks import Options

MOST_ROWS, MOST_TEST_ROWS, TEST_SHARE = 20_000, 10_000, 0.3
FEW_ROWS = 10_000  # the most of a set that is learned several times, or by what takes minutes
GENERATED_ROWS = 5000
MOST_CLASSES = 30  # more values are those of a number
ADDED = 0.002  # to errors, of which some are 0
MEAN = "geometric mean"
NO_SETS = "No --data: the sets that are not scikit-learn's or generated are skipped."
MEASURED, GENERATED = "measured", "generated"
GIVEN = (
    *(("table", name) for name in ("adult", "bank8FM", "cpu_act", "kin8nm", "puma8NH")),
    *(("binary", "elec2"), ("multiclass", "letter")),
)
BUNDLED = (("breast_cancer", load_breast_cancer), ("digits", load_digits))
NUMBERS = (("friedman1", make_friedman1), ("friedman2", make_friedman2), ("friedman3", make_friedman3))
CLASSES = (
    ("classification", partial(make_classification, n_features=20, n_informative=10)),
    ("moons", partial(make_moons, noise=0.3)),
    ("gaussian_quantiles", partial(make_gaussian_quantiles, n_features=10, n_classes=3)),
    ("hastie_10_2", make_hastie_10_2),
)
Split = tuple[Any, NDArray, Any, NDArray]


@dataclass(frozen=True)
class TableSet:
    """A table, an array or a data frame with categories, and classes or numbers, which are cut at their median."""

    name: str
    kind: str
    X: Any
    y: NDArray

    @property
    def n_classes(self) -> int:
        """How many classes there are; two of numbers that are cut."""
        found = len(np.unique(self.y))
        return found if found <= MOST_CLASSES else 2

    @property
    def has_categories(self) -> bool:
        return hasattr(self.X, "columns")

    def split(self, seed: int, options: Options) -> Split:
        """X and y to learn from and to test on."""
        n = len(self.y)
        rows = options.rows(min(MOST_ROWS, round((1 - TEST_SHARE) * n)))
        rows_test = options.rows(min(MOST_TEST_ROWS, round(TEST_SHARE * n)))
        of_classes = len(np.unique(self.y)) == self.n_classes
        stratify = self.y if of_classes else None
        parts = train_test_split(self.X, self.y, train_size=rows, test_size=rows_test, stratify=stratify, random_state=seed)
        X, X_test, y, y_test = parts
        if of_classes:
            classes = np.unique(self.y)
            return X, np.searchsorted(classes, y), X_test, np.searchsorted(classes, y_test)
        middle = np.median(y)
        return X, (y > middle).astype(int), X_test, (y_test > middle).astype(int)


def sets(options: Options) -> Iterator[TableSet]:
    """All tables."""
    if options.data is not None:
        for family, name in GIVEN:
            yield TableSet(name, MEASURED, *given(options, family, name))
    for name, load in BUNDLED:
        yield TableSet(name, MEASURED, *load(return_X_y=True))
    for name, draw in NUMBERS + CLASSES:
        yield TableSet(name, GENERATED, *generated(draw))


def given(options: Options, family: str, name: str) -> tuple[Any, NDArray]:
    """Rows and labels of a set of the user's; a data frame if columns hold categories."""
    read = reader(options.data)
    X, y = read.table(family, name)
    categories = read.categorical(name) if family == "table" else np.zeros(X.shape[1], dtype=bool)
    return (as_frame(X, categories) if categories.any() else X), y


def as_frame(X: NDArray, categories: NDArray) -> Any:
    """A data frame whose columns of codes are categories."""
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    codes = list(frame.columns[categories])
    return frame.astype(dict.fromkeys(codes, int)).astype(dict.fromkeys(codes, "category"))


def generated(draw: Callable[..., tuple[NDArray, NDArray]]) -> tuple[NDArray, NDArray]:
    """Rows of one of scikit-learn's, the same in all splits."""
    return draw(n_samples=round(GENERATED_ROWS / (1 - TEST_SHARE)), random_state=0)


def numbers(options: Options) -> range:
    """Some of the splits that are for reports."""
    return options.held_back[: max(1, options.seeds // 2)]


def splits(options: Options) -> str:
    """Say how many they are."""
    of = numbers(options)
    return f"{len(of)} splits, from number {of[0]} on"


def with_missing(X: Any, share: float, seed: int) -> Any:
    """A copy, of whose values a share is missing at random."""
    missing = np.random.default_rng(seed).random(X.shape) < share
    return X.mask(missing) if hasattr(X, "columns") else np.where(missing, np.nan, X)


def split_with_missing(split: Split, share: float, seed: int) -> Split:
    """The same rows, with values missing in both parts."""
    X, y, X_test, y_test = split
    return with_missing(X, share, 2 * seed), y, with_missing(X_test, share, 2 * seed + 1), y_test


# -------------------------------------------------------------------------------------------------------------------- streams


def rotating_hyperplane(n: int, p: int = 10, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Uniform rows on either side of a plane through their middle, which turns half a circle."""
    rng = np.random.default_rng(seed)
    X, (first, second) = rng.random((n, p)), np.linalg.qr(rng.standard_normal((p, 2)))[0].T
    angle = np.linspace(0, np.pi, n)[:, None]
    normals = np.cos(angle) * first + np.sin(angle) * second
    return X, flipped(((X - 0.5) * normals).sum(axis=1) > 0, rng)


def sea(n: int, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Street and Kim's concepts: whether two of three columns sum up to less than a threshold, which changes three times."""
    rng = np.random.default_rng(seed)
    X = 10 * rng.random((n, 3))
    return X, flipped(X[:, 0] + X[:, 1] <= np.repeat([8.0, 9.0, 7.0, 9.5], -(-n // 4))[:n], rng)


def flipped(y: NDArray, rng: np.random.Generator, share: float = 0.1) -> NDArray:
    """Labels 0 and 1, of which a share is wrong."""
    return (y != (rng.random(len(y)) < share)).astype(int)
