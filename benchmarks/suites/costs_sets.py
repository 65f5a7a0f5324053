"""The sets on which costs are compared, by what is predicted, each with its splits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine, make_classification
from sklearn.model_selection import train_test_split

from benchmarks import read
from benchmarks.read import Dataset, standardised
from benchmarks.tasks import Options, gaussian_ranks, label_sets

MOST_ROWS, LEAST_ROWS = 3000, 150
FEW_ROWS = 100
LEAST_OF_A_CLASS = 5  # rows to learn from: as many as there are folds
Split = tuple[Any, NDArray, Any, NDArray]
# Of two classes: rows, features, the share of the rarer, how far apart they are, the share of flipped labels.
TWO = (
    *((3000, 20, 0.5, 0.7, 0.1), (3000, 15, 0.05, 0.8, 0.02), (3000, 10, 0.02, 1.0, 0.0), (2000, 20, 0.5, 2.0, 0.0)),
    *((3000, 15, 0.1, 0.7, 0.05), (1500, 30, 0.3, 0.6, 0.1), (300, 10, 0.1, 1.0, 0.02), (200, 300, 0.4, 1.0, 0.02)),
)
# Of more: rows, features, classes, how far apart they are, the share of flipped labels.
MANY = (
    (2000, 15, 3, 0.8, 0.1),
    (2500, 20, 5, 1.0, 0.05),
    (3000, 25, 8, 1.3, 0.02),
    (1200, 15, 4, 2.5, 0.0),
    (200, 300, 4, 1.5, 0.0),
)
# Of ranks: rows, features, ranks, the deviation of what is linear to that of the noise.
RANKS = ((2000, 15, 5, 1.0), (1500, 10, 6, 6.0), (200, 10, 5, 2.0), (3000, 12, 10, 2.0))
# Of sets of labels: rows, features, labels.
LABELS = ((1000, 20, 5), (2000, 40, 10), (200, 30, 8))
SMALL_TWO = ("heart_c", "saheart")
SMALL_MANY = ("car", "cmc", "ecoli", "vehicle")
ORDINAL = ("abalone", "auto_mpg", "boston_housing", "machine_cpu", "stocks_domain", "triazines", "wisconsin_breast")
GIVEN_LABELS = ("emotions", "yeast")


@dataclass(frozen=True)
class Set:
    """A name, and splits into rows to learn from and to test on, standardised by the first."""

    name: str
    splits: list[Split]


def of_two(options: Options) -> Iterator[Set]:
    """Sets of two classes: 0 and 1, of which 1 is not the more frequent."""
    return (random_splits(data, options) for data in _two(options))


def of_few_rows(options: Options) -> Iterator[Set]:
    """A hundred rows to learn from, of sets that have enough of each class."""
    for data in _two(options):
        if data.test is None and len(data.y) >= LEAST_ROWS and min(np.bincount(data.y)) >= len(data.y) / 5:
            yield random_splits(data, options, train_size=FEW_ROWS)


def of_many(options: Options) -> Iterator[Set]:
    """Sets of three and more classes."""
    return (random_splits(data, options) for data in _many(options))


def of_ranks(options: Options) -> Iterator[Set]:
    """Sets of ranks."""
    X, target = load_diabetes(return_X_y=True)
    X, y = drawn(X, np.digitize(target, np.quantile(target, [0.2, 0.4, 0.6, 0.8])), options)
    yield random_splits(Dataset("diabetes", X, y), options)
    for n, p, r, signal in RANKS:
        yield random_splits(Dataset(f"generated, {n} x {p}, {r} ranks", *gaussian_ranks(options.rows(n), p, r, signal)), options)
    if options.data is not None:
        for name in ORDINAL:
            given = list(read.ordinal(options.data, name, "len5", options.held_back.stop))
            yield Set(name, [common(capped(given[i % len(given)])) for i in numbers(options)])


def of_labels(options: Options) -> Iterator[Set]:
    """Sets of sets of labels."""
    for n, p, m in LABELS:
        yield random_splits(Dataset(f"generated, {n} x {p}, {m} labels", *label_sets(options.rows(n), p, m)), options)
    if options.data is not None:
        for name in GIVEN_LABELS:
            yield Set(name, [common(capped(read.multilabel(options.data, name)))])


def _two(options: Options) -> Iterator[Dataset]:
    for name, load, label in (("breast_cancer", load_breast_cancer, 0), ("digits, 8 or not", load_digits, 8)):
        X, y = drawn(*load(return_X_y=True), options)
        yield Dataset(name, X, (y == label).astype(int))
    for share in (0.5, 0.1):
        X, target = drawn(*load_diabetes(return_X_y=True), options)
        yield Dataset(f"diabetes, highest {share:.0%}", X, (target > np.quantile(target, 1 - share)).astype(int))
    for n, p, share, apart, flipped in TWO:
        rows = max(options.rows(n), int(3 * LEAST_OF_A_CLASS / share))
        yield Dataset(f"generated, {n} x {p}, {share:.0%}", *_generated(rows, p, 2, apart, flipped, [1 - share]))
    if options.data is not None:
        a9a = read.svmlight("a9a", options)
        yield replace(a9a, y=(a9a.y > 0).astype(int), test=(a9a.test[0], (a9a.test[1] > 0).astype(int)))
        given = read.reader(options.data).table
        tables = (("binary", "elec2", None), ("multiclass", "letter", 1), *(("small", name, None) for name in SMALL_TWO))
        for family, name, label in tables:
            X, y = drawn(*given(family, name), options)
            yield Dataset(f"{name}, one or not" if label else name, X, (y == (y.max() if label is None else label)).astype(int))


def _many(options: Options) -> Iterator[Dataset]:
    for load in (load_digits, load_wine, load_iris):
        yield Dataset(load.__name__.removeprefix("load_"), *drawn(*load(return_X_y=True), options))
    for n, p, k, apart, flipped in MANY:
        yield Dataset(f"generated, {n} x {p}, {k} classes", *_generated(options.rows(n), p, k, apart, flipped, None))
    if options.data is not None:
        given = read.reader(options.data).table
        for family, name in (("multiclass", "letter"), *(("small", name) for name in SMALL_MANY)):
            yield Dataset(name, *drawn(*given(family, name), options))


def _generated(n: int, p: int, k: int, apart: float, flipped: float, weights: list[float] | None) -> tuple[NDArray, NDArray]:
    how = {"n_informative": min(p // 2, 12), "n_redundant": 2, "n_clusters_per_class": 2 if k == 2 else 1}
    how |= {"class_sep": apart, "flip_y": flipped}
    return make_classification(n, p, n_classes=k, weights=weights, random_state=0, **how)


# -------------------------------------------------------------------------------------------------------------------- splits


def numbers(options: Options) -> range:
    """Half of the splits that are for reports: a fit for each loss takes its time."""
    return options.held_back[: options.seeds]


def random_splits(data: Dataset, options: Options, train_size: int | float = 0.7) -> Set:
    """Split a set by chance, or in its given parts, once."""
    if data.test is not None:
        return Set(data.name, [common(capped(data.split(0, options)))])
    stratify = data.y if data.y.ndim == 1 else None
    made = []
    for seed in numbers(options):
        X, X_test, y, y_test = train_test_split(data.X, data.y, train_size=train_size, stratify=stratify, random_state=seed)
        X, X_test = standardised(X, X_test)
        made.append(common((X, y, X_test, y_test)))
    return Set(data.name, made)


def capped(split: Split) -> Split:
    """At most as many rows of each part."""
    X, y, X_test, y_test = split
    return X[:MOST_ROWS], y[:MOST_ROWS], X_test[:MOST_ROWS], y_test[:MOST_ROWS]


def drawn(X: NDArray, y: NDArray, options: Options) -> tuple[NDArray, NDArray]:
    """As many rows at this scale, drawn by chance, without columns that are constant in them."""
    rows = np.random.default_rng(0).permutation(len(y))[: min(MOST_ROWS, max(LEAST_ROWS, options.rows(len(y))))]
    X, y = X[rows], y[rows]
    return X[:, X.std(axis=0) > 0], y


def common(split: Split) -> Split:
    """Return what has labels, or classes, of which there are enough to learn from; classes are numbered 0, 1, ..."""
    X, y, X_test, y_test = split
    if y.ndim == 2:
        counts = y.sum(axis=0)
        some = (counts >= LEAST_OF_A_CLASS) & (len(y) - counts >= LEAST_OF_A_CLASS)
        return X, y[:, some], X_test, y_test[:, some]
    classes, counts = np.unique(y, return_counts=True)
    classes = classes[counts >= LEAST_OF_A_CLASS]
    known, known_test = np.isin(y, classes), np.isin(y_test, classes)
    return X[known], np.searchsorted(classes, y[known]), X_test[known_test], np.searchsorted(classes, y_test[known_test])


Draw = Callable[[Options], Iterator[Set]]
