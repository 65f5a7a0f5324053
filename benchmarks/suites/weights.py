"""What weights buy: balanced accuracy of rare classes, boosting, and the time of a weighted fit."""

import warnings
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split

from benchmarks.read import NO_DATA, Dataset, standardised, svmlight
from benchmarks.report import Table, spread
from benchmarks.tasks import Options
from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier

# Share of the rare class, rows, features and those that inform.
RARE = (
    *((0.02, 6000, 20, 5), (0.05, 4000, 20, 5), (0.1, 3000, 30, 10)),
    *((0.15, 3000, 10, 4), (0.2, 2000, 50, 10), (0.05, 8000, 50, 20)),
)
SPLITS = 4
BALANCED_GOAL, TIME_GOAL, BOOSTING_GOAL = 0.995, 1.2, 0.01
MEMBERS = 20


def run(options: Options) -> list[Table]:
    """One table of each."""
    return [balance(options), boosting(options), seconds(options)]


def datasets(options: Options) -> Iterator[Dataset]:
    """Two classes, of which one is mostly rare."""
    for seed, (share, n, p, informative) in enumerate(RARE):
        how: dict[str, Any] = {"n_informative": informative, "n_redundant": 2, "weights": [1 - share], "flip_y": 0.01}
        yield Dataset(
            f"made, {share:.0%}, p = {p}",
            *make_classification(max(options.rows(n), int(20 / share)), p, random_state=seed, **how),
        )
    yield Dataset("breast_cancer", *load_breast_cancer(return_X_y=True))
    if options.data is not None:
        yield svmlight("a9a", options)


def balance(options: Options) -> Table:
    """Balanced accuracy beside logistic regression's."""
    table = Table(
        'Balanced accuracy with class_weight="balanced"',
        ["data", "ours", "LogisticRegression", "ratio"],
        note=f"Means over {SPLITS} splits, 60/40 and stratified; standardised, but for a9a (its parts put together, as it is); "
        f"the last line has the geometric mean of the ratios (goal {BALANCED_GOAL}).  " + ("" if options.data else NO_DATA),
    )
    logs = []
    for data in datasets(options):
        found = np.array([balanced_accuracies(data, seed) for seed in range(SPLITS)])
        ratio = float(np.exp(np.log(found[:, 0] / found[:, 1]).mean()))
        logs.append(np.log(ratio))
        table.rows.append([data.name, *found.mean(axis=0).tolist(), ratio])
    table.rows.append(["geometric mean", None, None, float(np.exp(np.mean(logs)))])
    return table


def balanced_accuracies(data: Dataset, seed: int) -> tuple[float, float]:
    """Ours and logistic regression's."""
    X, y = data.X, data.y
    if data.test is not None:
        X, y = sparse.vstack([X, data.test[0]]).tocsr(), np.concatenate([y, data.test[1]])
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=seed)
    if data.standardise:
        X, X_test = standardised(X, X_test)
    ours = PredtronBinaryClassifier(class_weight="balanced", random_state=seed).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        baseline = LogisticRegression(class_weight="balanced", max_iter=1000).fit(X, y)
    first, second = (balanced_accuracy_score(y_test, model.predict(X_test)) for model in (ours, baseline))
    return float(first), float(second)


def boosting(options: Options) -> Table:
    """Accuracy of a boosted ensemble beside one model's."""
    table = Table(
        f"AdaBoostClassifier(PredtronClassifier(), n_estimators={MEMBERS})",
        ["data", "one model", "boosted", f"at most {BOOSTING_GOAL} below"],
        note="Accuracy in a 5-fold cross-validation, rows as they are.",
    )
    for load in (load_iris, load_digits, load_breast_cancer):
        X, y = load(return_X_y=True)
        n = options.rows(len(y))
        rows = np.random.default_rng(0).permutation(len(y))[:n]
        folds, one = StratifiedKFold(5, shuffle=True, random_state=0), PredtronClassifier(random_state=0)
        models = one, AdaBoostClassifier(one, n_estimators=MEMBERS, random_state=0)
        single, boosted = (float(cross_val_score(model, X[rows], y[rows], cv=folds).mean()) for model in models)
        table.rows.append([load.__name__.removeprefix("load_"), single, boosted, boosted >= single - BOOSTING_GOAL])
    return table


def seconds(options: Options) -> Table:
    """Time of a weighted fit over that of an unweighted one."""
    table = Table(
        "Time of a weighted fit over that of an unweighted one",
        ["data", "weights", "ratio of times", "ratio of steps taken"],
        note=f"Medians of {max(options.repeats, 11)} pairs of fits of ten epochs in turns (goal {TIME_GOAL}).  Where weights "
        "balance a rare class more rounds are mistakes, and take a step.",
    )
    for n, p, share in ((20000, 100, 0.5), (20000, 100, 0.05), (50000, 20, 0.5)):
        X, y = make_classification(options.rows(n), p, n_informative=10, weights=[1 - share], random_state=0)
        random = np.random.default_rng(0)
        for name, weight in {
            "uniform": random.uniform(0.2, 2, len(y)),
            "exponential": random.exponential(size=len(y)),
            "balanced": np.where(y == 1, (y == 0).mean(), (y == 1).mean()),
        }.items():
            times, steps = time_ratios(X, y, weight, max(options.repeats, 11))
            table.rows.append([f"{len(y)} x {p}, {share:.0%}", name, spread(times), steps])
    return table


def time_ratios(X: NDArray, y: NDArray, weight: NDArray, pairs: int) -> tuple[list[float], float]:
    """Times of weighted fits over those of unweighted ones, and the steps they took."""
    plain, weighted, ratios = PredtronBinaryClassifier(random_state=0), PredtronBinaryClassifier(random_state=0), []
    for _ in range(pairs):
        start = perf_counter()
        plain.fit(X, y)
        middle = perf_counter()
        weighted.fit(X, y, sample_weight=weight)
        ratios.append((perf_counter() - middle) / (middle - start))
    return ratios, weighted.n_updates_ / plain.n_updates_
