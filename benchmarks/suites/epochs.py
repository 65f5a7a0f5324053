"""What folds that choose the epochs gain and cost beside one learner in ten, in tables of the suite `quality`."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_iris, make_classification

from benchmarks.contestants import Ours, SklearnLogisticRegression
from benchmarks.measure import interleave, ratios
from benchmarks.read import NO_DATA, ORDINAL, Dataset, classification, reader
from benchmarks.report import Table, spread
from benchmarks.suites.fits import at_most, fit_case
from benchmarks.tasks import Options, Task, gaussian_classes

BEFORE, DEFAULT, LOGISTIC = Ours("ours, 10 epochs", max_iter=10, cv=0), Ours("ours, default"), SklearnLogisticRegression()
CONTESTANTS = [BEFORE, DEFAULT, LOGISTIC]
BINNING = "rank5"
GENERATED_ROWS = (1000, 3000, 7000)
TIMED_ROWS = (1000, 3000, 10_000, 100_000, 1_000_000)
COLUMNS = 20
SMOOTH = 0.002  # is added to both errors of a ratio, some of which are near 0
MEAN_GOAL, LARGEST_GOAL = 0.92, 1.05


def small_sets(options: Options) -> Iterator[Dataset]:
    """Those of `quality`, iris, and the ordinal sets with their ranks as classes."""
    yield Dataset("iris", *load_iris(return_X_y=True))
    yield from classification(options)
    for name in ORDINAL if options.data is not None else ():
        yield Dataset(f"{name}, ranks", *reader(options.data).ordinal(name, BINNING)[:2])


def generated_sets(options: Options) -> Iterator[Dataset]:
    """Clean and noisy rows, of few and many classes, and rows whose features hang together."""
    made = partial(make_classification, n_redundant=0, n_clusters_per_class=1, random_state=7)
    for n in map(options.rows, GENERATED_ROWS):
        yield Dataset(f"2 clean classes, {n}", *made(n, 20, n_informative=10, class_sep=1.5, flip_y=0.0))
        yield Dataset(f"2 noisy classes, {n}", *made(n, 20, n_informative=5, flip_y=0.2))
        yield Dataset(f"5 clean classes, {n}", *made(n, 30, n_informative=15, n_classes=5, class_sep=1.5, flip_y=0.0))
        yield Dataset(f"5 noisy classes, {n}", *made(n, 50, n_informative=8, n_classes=5, flip_y=0.2))
        yield Dataset(f"6 linear classes, {n}", *linear_classes(n, 10, 6))
        yield Dataset(f"11 classes, correlated, {n}", *correlated_classes(n, 40, 11))


def linear_classes(n: int, p: int, k: int, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Unit Gaussian rows, and the class of the best linear score: nothing is noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, (X @ rng.standard_normal((p, k))).argmax(axis=1)


def correlated_classes(n: int, p: int, k: int, rank: int = 10, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Gaussian classes in a few directions, ever shorter, that all features share."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    latent = 1.5 * rng.standard_normal((k, rank))[y] + rng.standard_normal((n, rank))
    mixed = latent @ (rng.standard_normal((rank, p)) / np.arange(1.0, rank + 1)[:, None])
    return mixed + 0.05 * rng.standard_normal((n, p)), y


def errors(options: Options) -> Table:
    """Held-out errors, and their ratios to logistic regression's."""
    ratio = "to LogisticRegression"
    table = Table(
        "Epochs of the default fit",
        ["data", "rows", "epochs", *(one.name for one in CONTESTANTS), f"10 epochs {ratio}", f"default {ratio}", "goal", "met"],
        note=f"Mean errors of {options.many_held_back('splits or orders')}: the default was chosen on those before.  "
        f"{SMOOTH} is added to both errors of a ratio; means are geometric.  The peer has `max_iter=2000`.  "
        + ("" if options.data else NO_DATA),
    )
    for what, sets in (("bundled and shared", small_sets(options)), ("generated", generated_sets(options))):
        rows = [error_row(data, options) for data in sets]
        found = np.array([row[-2:] for row in rows])
        mean, largest = np.exp(np.log(found).mean(axis=0)).tolist(), found.max(axis=0).tolist()
        goals = (MEAN_GOAL, LARGEST_GOAL) if what == "bundled and shared" else (None, None)
        table.rows += [[*row, None, None] for row in rows]
        table.rows.append([f"mean, {what}", *[None] * 5, *mean, *at_most(mean[1], goals[0])])
        table.rows.append([f"largest, {what}", *[None] * 5, *largest, *at_most(largest[1], goals[1])])
    return table


def error_row(data: Dataset, options: Options) -> list:
    """The rows and epochs of the last fit, the mean errors, and their ratios."""
    k, found = len(np.unique(data.y)), []
    for seed in options.held_back:
        X, y, X_test, y_test = data.split(seed, options)
        fitted = [one.fit(one.make(Task(k, seed=seed)), X, y) for one in CONTESTANTS]
        found.append([np.mean(model.predict(X_test) != y_test) for model in fitted])
    ten, default, peer = np.mean(found, axis=0).tolist()
    relative = [(error + SMOOTH) / (peer + SMOOTH) for error in (ten, default)]
    return [data.name, X.shape[0], fitted[1].n_iter_, ten, default, peer, *relative]


def times(options: Options) -> Table:
    """Whole fits by the number of rows."""
    table = Table(
        "Time of the default fit by rows",
        ["rows", "classes", "epochs", "seconds, 10 epochs", "seconds, default", "to 10 epochs (ratio)"],
        note=f"Gaussian classes of {COLUMNS} columns; the ratio is the median (least-greatest) over the repeats.",
    )
    for n in map(options.rows, TIMED_ROWS):
        for k in (2, 10):
            X, y = gaussian_classes(n, COLUMNS, k)
            measured = interleave([fit_case(one, Task(k), X, y) for one in (BEFORE, DEFAULT)], options.repeats)
            before, default = measured[BEFORE.name], measured[DEFAULT.name]
            table.rows.append([n, k, default.result.n_iter_, before.seconds, default.seconds, spread(ratios(default, before))])
    return table
