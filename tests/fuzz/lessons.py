"""Draw rows and labels: ordinary ones, ties, extreme values, odd shapes, in any layout."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from tests.own_checks.data import disordered

# How the values of X are drawn, and how often.
VALUES = {"plain": 0.5, "ties": 0.2, "gaps": 0.1, "far": 0.1, "wild": 0.1}
LARGEST, SMALLEST = 1e150, 1e-150  # beyond them a row may teach nothing, or nothing finite


class Count:
    """Count the calls of fit and partial_fit of this process."""

    learned = 0


@dataclass(frozen=True)
class Lesson:
    """Hold labelled rows; a round is a row, or where there are ids a query or group, whose rows lie together."""

    X: Any
    y: Any
    weight: Any = None
    costs: Any = None
    qid: Any = None
    ids: str = "qid"  # what calls take them by
    classes: Any = None
    values: str = "plain"

    @property
    def start(self) -> Any:
        """Tell where each round begins, and where the last one ends."""
        if self.qid is None:
            return np.arange(self.X.shape[0] + 1)
        return np.concatenate([[0], np.flatnonzero(np.diff(self.qid)) + 1, [len(self.qid)]])

    @property
    def n(self) -> int:
        return len(self.start) - 1

    @property
    def calm(self) -> bool:
        """Tell whether no score is near a tie or the limits of doubles, so that rounding flips no decision."""
        return self.values == "plain" and (self.weight is None or self.weight[self.weight > 0].min(initial=1) > 1e-6)

    @property
    def wild(self) -> bool:
        """Tell whether values are so large or small that only crashes and strange exceptions count."""
        return self.values == "wild" or (self.weight is not None and self.weight.max() > LARGEST)

    def part(self, first: int, end: int) -> Lesson:
        start = self.start
        return self.take(slice(start[first], start[end]))

    def take(self, rows: Any) -> Lesson:
        given = {name: getattr(self, name) for name in ["X", "y", "weight", "costs", "qid"]}
        return replace(self, **{name: rows_of(value, rows) for name, value in given.items() if value is not None})

    def given(self, *, weighted: bool = True) -> dict[str, Any]:
        """Name what goes with X and y into a call that learns."""
        more = {} if self.weight is None or not weighted else {"sample_weight": self.weight}
        more |= {} if self.costs is None else {"costs": self.costs}
        known = self.qid is None or (self.n == 1 and self.ids == "qid")
        return more if known else {**more, self.ids: self.qid}

    def predict(self, model: Any) -> Any:
        return model.predict(self.X, sid=self.qid) if self.ids == "sid" else model.predict(self.X)

    def even(self, weight: Any) -> Any:
        """Make weights of rows what the family takes: those of the tokens of a sequence are the same."""
        return np.repeat(weight[self.start[:-1]], np.diff(self.start)) if self.ids == "sid" else weight

    def fit(self, model: Any) -> Any:
        Count.learned += 1
        return model.fit(self.X, self.y, **self.given())

    def partial_fit(self, model: Any, **more: Any) -> Any:
        Count.learned += 1
        if self.classes is not None and not model.__sklearn_is_fitted__():
            more["classes"] = self.classes
        return model.partial_fit(self.X, self.y, **self.given(), **more)

    def stream(self, model: Any, cuts: Any = ()) -> Any:
        """Let a model go on with the rows in several calls, between which the cuts lie."""
        edges = [0, *cuts, self.n]
        for first, end in pairwise(edges):
            self.part(first, end).partial_fit(model)
        return model


def rows_of(X: Any, rows: Any) -> Any:
    return _safe_indexing(X, rows) if hasattr(X, "iloc") else X[rows]


def draw_cuts(random: np.random.Generator, n: int) -> list[int]:
    """Draw where a stream of n rounds is split: everywhere, in the middle, or anywhere."""
    how = random.integers(3)
    if how == 0 or n < 3:
        return list(range(1, n))
    if how == 1:
        return [n // 2]
    return np.flatnonzero(random.random(n) < 0.3)[1:].tolist()


def draw_size(random: np.random.Generator) -> tuple[int, int]:
    """Draw numbers of rows and features, mostly small."""
    n = int(random.choice([1, 2, 3, 6, 12, 30, 90], p=[0.05, 0.05, 0.1, 0.2, 0.35, 0.2, 0.05]))
    p = int(random.choice([1, 2, 4, 7, 16, 33, 200], p=[0.1, 0.1, 0.2, 0.3, 0.2, 0.08, 0.02]))
    return n, p


def draw_values(random: np.random.Generator, n: int, p: int, values: str) -> np.ndarray:
    """Draw a matrix whose values are of some kind."""
    X = random.standard_normal((n, p))
    if values == "plain":
        return X * (random.random((n, p)) < random.choice([0.3, 0.7, 1.0])) if p > 4 else X
    if values == "ties":
        X = np.round(X) + 0.0
        return X[random.integers(0, max(1, n // 2), n)]
    if values == "gaps":
        X[random.random((n, p)) < 0.5] = 0
        X[random.random(n) < 0.3] = 0
        X[:, random.random(p) < 0.3] = random.choice([0.0, 1.0, -3.0])
        return X * random.choice([1.0, 1e3, 1e-3], p)
    if values == "far":
        return X * 10.0 ** random.integers(-60, 60, size=p if random.random() < 0.5 else (n, 1))
    extreme = np.array([0.0, 5e-324, 1e-310, 2.3e-308, 1e-300, 1e-200, 1.0, 1e200, 1e300, 1.7e308])
    return np.where(random.random((n, p)) < 0.3, random.choice(extreme, (n, p)) * np.sign(X), X)


def draw_layout(random: np.random.Generator, X: np.ndarray, wild: bool = False) -> Any:
    """Store a matrix in one of the forms that estimators take; single precision only if it holds the values."""
    if not wild and random.random() < 0.3:
        X = X.astype(np.float32) if np.abs(X).max() < 1e30 else X
    how = random.integers(7)
    if how < 3:
        return X
    if how == 3:
        return np.asfortranarray(X)
    kind = sparse.csr_array if random.random() < 0.5 else sparse.csr_matrix
    S = kind(X)
    if random.random() < 0.5:
        S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return S if how < 6 else disordered(S, duplicates=random.random() < 0.5)


def draw_weight(random: np.random.Generator, n: int) -> np.ndarray | None:
    how = random.integers(8)
    if how < 4:
        return None
    if how < 6:
        return random.uniform(0.1, 2, n)
    if how == 6:
        return np.where(random.random(n) < 0.4, 0.0, random.uniform(0.1, 2, n))
    return 10.0 ** random.uniform(-300, 300 if random.random() < 0.3 else 0, n)


def draw_rows(random: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, str]:
    """Draw rows, and of what kind their values are."""
    values = str(random.choice(list(VALUES), p=list(VALUES.values())))
    return draw_values(random, n, p, values), values


def scored(random: np.random.Generator, X: np.ndarray, d: int) -> np.ndarray:
    """Give each row d noisy linear scores, whatever the scale of the columns."""
    scale = np.abs(X).max(axis=0, initial=0)
    Z = np.divide(X, scale, out=np.zeros_like(X), where=scale > 0)
    return Z @ random.standard_normal((X.shape[1], d)) + 0.5 * random.standard_normal((len(X), d))


def draw_classes(random: np.random.Generator, k: int) -> np.ndarray:
    """Draw k labels in their order: numbers, numbers with gaps, or text."""
    how = random.integers(4)
    if how < 2:
        return np.arange(k)
    if how == 2:
        return np.cumsum(random.integers(1, 9, k)) - 10
    return np.array([f"c{i:04d}" for i in range(k)])


def class_lesson(random: np.random.Generator, k: int) -> Lesson:
    n, p = draw_size(random)
    X, values = draw_rows(random, n, p)
    codes = scored(random, X, k).argmax(axis=1)
    if n >= k:
        codes[random.permutation(n)[:k]] = np.arange(k)
    classes = draw_classes(random, k)
    return Lesson(X, classes[codes], draw_weight(random, n), classes=classes, values=values)


def set_lesson(random: np.random.Generator, m: int) -> Lesson:
    n, p = draw_size(random)
    X, values = draw_rows(random, n, p)
    y = (scored(random, X, m) > random.choice([-1.0, 0.0, 1.0])).astype(random.choice([np.int64, np.uint8, np.float64]))
    return Lesson(X, y, draw_weight(random, n), values=values)


def label_list_lesson(random: np.random.Generator, m: int, grades: Any) -> Lesson:
    n, p = draw_size(random)
    X, values = draw_rows(random, n, p)
    return Lesson(X, graded(scored(random, X, m), grades), draw_weight(random, n), values=values)


def query_lesson(random: np.random.Generator, grades: Any, *, long: bool = False) -> Lesson:
    n, p = draw_size(random)
    n = min(n, 12)
    size = random.choice([1, 2, 3, 7, 20], n, p=[0.15, 0.15, 0.4, 0.25, 0.05])
    if long:
        size, p = np.array([5000, 2]), min(p, 4)
    total = int(size.sum())
    X, values = draw_rows(random, total, p)
    y = graded(scored(random, X, 1)[:, 0], grades)
    qid = np.repeat(random.permutation(len(size)), size)
    return Lesson(X, y, draw_weight(random, total), qid=qid, values=values)


def group_lesson(random: np.random.Generator) -> Lesson:
    lesson = query_lesson(random, (0, 1))
    y = lesson.y.astype(np.int64)
    y[:2] = np.arange(2)[: len(y)]
    classes = draw_classes(random, 2)
    return replace(lesson, y=classes[y], classes=classes, ids="groups")


def sequence_lesson(random: np.random.Generator, k: int) -> Lesson:
    lesson = replace(query_lesson(random, np.arange(k)), ids="sid")
    y = lesson.y.astype(np.int64)
    y[:k] = np.arange(k)[: len(y)]
    classes = draw_classes(random, k)
    weight = None if lesson.weight is None else lesson.even(lesson.weight)
    return replace(lesson, y=classes[y], classes=classes, weight=weight)


def predicted(model: Any, X: Any) -> Any:
    """Predict rows; for a tagger they are sequences of their own."""
    tagger = model.__sklearn_tags__().estimator_type == "tagger"
    return model.predict(X, sid=np.arange(X.shape[0])) if tagger else model.predict(X)


def graded(scores: np.ndarray, grades: Any) -> np.ndarray:
    return np.asarray(grades)[np.digitize(scores, np.linspace(-1, 1, len(grades) - 1))]


def object_lesson(random: np.random.Generator, k: int) -> Lesson:
    """Draw rows whose labels are what a problem in Python predicts, 0 to k - 1."""
    n, p = draw_size(random)
    X, values = draw_rows(random, n, p)
    return Lesson(X, scored(random, X, k).argmax(axis=1), draw_weight(random, n), values=values)
