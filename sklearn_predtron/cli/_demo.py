"""The main job without files: it learns bundled and generated data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine, make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from sklearn_predtron.cli._baselines import Baseline, LogisticBaseline
from sklearn_predtron.cli._compare import ByQuery, ResultRow
from sklearn_predtron.cli._console import UsageError, report
from sklearn_predtron.cli._growing import LeftOut
from sklearn_predtron.cli._job import Job
from sklearn_predtron.cli._progress import Bar
from sklearn_predtron.cli._report import as_json, legend, table
from sklearn_predtron.cli._tasks import TASKS, start_comparison, start_lines
from sklearn_predtron.datasets import make_ranking_queries
from sklearn_predtron.losses import Reject


@dataclass(frozen=True)
class Demo:
    """A data set, the task it is for, the parameters of the estimator, and what is learned, from the target."""

    name: str
    load: Callable[..., Any]
    task: str
    parameters: dict[str, Any]
    labels: Callable[[NDArray], NDArray] = np.asarray
    beside: tuple[type[Baseline], ...] = ()  # that learn no streams

    @property
    def baselines(self) -> tuple[type[Baseline], ...]:
        """Return the learners beside the estimator."""
        return (TASKS[self.task].baseline, *self.beside)

    def draw(self, seed: int) -> tuple[Any, Any, Any, Any, Any]:
        """Return X and y to learn and to test, the rows to learn first, and the labels."""
        if TASKS[self.task].rank or TASKS[self.task].sequence:
            X, y = self.load(random_state=seed)
            cut = 3 * len(y) // 4
            return X[:cut], X[cut:], y[:cut], y[cut:], None if TASKS[self.task].rank else np.unique(y.values)
        X, y = self.load()
        y = self.labels(y)
        labels = np.unique(y) if y.ndim == 1 else np.arange(y.shape[1])
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=y)
        scaler = StandardScaler().fit(X)
        return scaler.transform(X), scaler.transform(X_test), y, y_test, labels


ATTRIBUTES = {
    "odd": [1, 3, 5, 7, 9],
    "above 4": [5, 6, 7, 8, 9],
    "has a loop": [0, 6, 8, 9],
    "prime": [2, 3, 5, 7],
    "multiple of 3": [0, 3, 6, 9],
    "square": [0, 1, 4, 9],
}


def attributes(digits: NDArray) -> NDArray:
    """Return which of the attributes a digit has, a column each."""
    return np.column_stack([np.isin(digits, having) for having in ATTRIBUTES.values()]).astype(np.int64)


def fifths(target: NDArray) -> NDArray:
    """Return ranks from 0 to 4, each of a fifth of the rows."""
    return np.searchsorted(np.quantile(target, [0.2, 0.4, 0.6, 0.8]), target)


def generated_queries(random_state: int) -> tuple[ByQuery, ByQuery]:
    """Return documents and relevances of the simulation of Jain et al. (2015), section 6."""
    X, y, qid = make_ranking_queries(400, random_state=random_state)
    return ByQuery.of(X, qid), ByQuery.of(y.astype(np.float64), qid)


def words_of_digits(random_state: int) -> tuple[ByQuery, ByQuery]:
    """Return noisy pictures of digits, each one more than the last or the same; the last quarter of words has its own."""
    random, n = np.random.default_rng(random_state), 400
    pictures, digits = load_digits(return_X_y=True)
    word = np.repeat(np.arange(n), random.integers(3, 9, n))
    y = np.cumsum(random.random(len(word)) < 0.8) % 10
    half, held_out = random.random(len(digits)) < 0.5, word >= 3 * n // 4
    drawn = np.empty(len(y), dtype=np.intp)
    for digit, part in np.ndindex(10, 2):
        there = (y == digit) & (held_out == part)
        drawn[there] = random.choice(np.flatnonzero((digits == digit) & (half == part)), there.sum())
    X = (pictures[drawn] + 4 * random.standard_normal((len(y), 64))) / 16
    return ByQuery.of(X, word), ByQuery.of(y, word)


# 5 rows of a hundred are positive, and one in fifty is labelled at random.
RARE = {"n_samples": 20_000, "n_informative": 8, "weights": [0.95], "class_sep": 0.7, "flip_y": 0.02, "random_state": 0}
DEMOS = [
    Demo("digits", partial(load_digits, return_X_y=True), "multiclass", {}),
    Demo("breast cancer, reject", partial(load_breast_cancer, return_X_y=True), "binary", {"reject": Reject(0.1, -1)}),
    Demo("wine", partial(load_wine, return_X_y=True), "multiclass", {}),
    Demo("diabetes, 5 ranks", partial(load_diabetes, return_X_y=True), "ordinal", {}, fifths),
    Demo("digits' attributes", partial(load_digits, return_X_y=True), "multilabel", {}, attributes),
    Demo("generated queries", generated_queries, "rank", {}),
    Demo("words of digits", words_of_digits, "sequence", {}),
    Demo("a rare class", partial(make_classification, **RARE), "bipartite", {"loss": "balanced"}, beside=(LogisticBaseline,)),
]
ORDERS = 5


def demos_for(parameters: dict[str, Any]) -> list[Demo]:
    """Return the data sets of the tasks that can be learned with these parameters."""
    return [demo for demo in DEMOS if TASKS[demo.task].takes(parameters)]


def learn_demos(parameters: dict[str, Any], *, seed: int, compare: bool, bar: Bar) -> list[ResultRow]:
    """Learn each bundled data set in several row orders, each time from scratch and in one pass."""
    results = []
    for demo in demos_for(parameters):
        X, X_test, y, y_test, labels = demo.draw(seed)
        task, random = TASKS[demo.task], np.random.default_rng(seed)
        baselines = demo.baselines if compare else ()
        lines = start_lines(demo.name, task.estimator, baselines)
        results += lines
        for i in range(ORDERS):
            bar(demo.name, i / ORDERS, lines[0])
            order = random.permutation(len(y))
            comparison = start_comparison(task, task.estimator(**demo.parameters, **parameters), baselines, labels, lines)
            comparison.learn(X[order], y[order])
            comparison.test(X_test, y_test)
    return results


def run_demo(job: Job, bar: Bar) -> int:
    """Learn the bundled and generated data and print the table."""
    parameters = job.learner_parameters()
    try:
        results = learn_demos(parameters, seed=job.seed, compare=job.compare is not False, bar=bar)
    except ValueError as error:
        raise UsageError(str(error)) from None
    bar.clear()
    if job.json or job.quiet:
        return report(as_json(results, LeftOut()) if job.json else "")
    demos = demos_for(parameters)
    others = [demo for demo in DEMOS if demo not in demos]
    left_out = [f"Left out: {demo.name} (norm={parameters['norm']!r} is not for the task {demo.task}).\n" for demo in others]
    tasks = [TASKS[demo.task] for demo in demos]
    return report(f"{table(results)}\n{''.join(left_out)}{legend(tasks)}\n")
