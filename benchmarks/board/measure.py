"""Savings, promises and seconds of methods over the splits of a set."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, t
from threadpoolctl import threadpool_limits

from benchmarks.board.methods import Method
from benchmarks.board.task import Task

CONFIDENCE = 0.95
FIRST = 10  # the number of the first split: choices of defaults were made on earlier ones


@dataclass
class Found:
    """Of each method, by split: savings, CPU seconds of training, shares of answered rows and of wrong answers among them."""

    name: str
    ratio: float  # of test rows to training rows
    risk: float | None = None
    savings: dict[str, list[float]] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    answered: dict[str, list[float]] = field(default_factory=dict)
    wrong: dict[str, list[float]] = field(default_factory=dict)

    def interval(self, values: list[float]) -> float | None:
        """Half the width of a 95 % interval of a mean over splits, whose training rows overlap (Nadeau and Bengio 2003)."""
        n = len(values)
        if n < 2:
            return None
        return float(t.ppf((1 + CONFIDENCE) / 2, n - 1) * np.std(values, ddof=1) * np.sqrt(1 / n + self.ratio))


def measured(task: Task, methods: Mapping[str, Method], splits: int) -> Found:
    """Train all methods on all splits of a set."""
    parts = [task.split(seed) for seed in range(FIRST, FIRST + splits)]
    found = Found(task.name, len(parts[0][1].y) / len(parts[0][0].y), task.risk)
    with quiet(), threadpool_limits(1):
        for train, test in parts:
            for name, method in methods.items():
                start = time.process_time()
                decide = method(train)
                seconds = time.process_time() - start
                if decide is not None:
                    found.seconds.setdefault(name, []).append(seconds)
                    record(found, name, test, np.asarray(decide(test)))
    return found


def record(found: Found, name: str, test: Task, decided: NDArray) -> None:
    """Add the measures of one split."""
    if test.risk is None:
        found.savings.setdefault(name, []).append(test.savings(decided))
        return
    answered = decided != test.k
    found.answered.setdefault(name, []).append(float(answered.mean()))
    found.wrong.setdefault(name, []).append(float((decided != test.y)[answered].mean()) if answered.any() else 0.0)


def mean_ranks(sets: list[Found]) -> dict[str, float]:
    """Mean ranks by savings, of the methods that decide on all of the sets; 1 is best, ties share their mean rank."""
    names = [name for name in sets[0].savings if all(name in found.savings for found in sets)] if sets else []
    ranks = [rankdata([-np.mean(found.savings[name]) for name in names]) for found in sets]
    return dict(zip(names, np.mean(ranks, axis=0).tolist(), strict=True)) if names else {}


@contextmanager
def quiet() -> Iterator[None]:
    """Ignore the warnings of all methods: those of folds with few rows, of names of columns, of convergence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
