"""Averages in streams: the one that chooses itself beside each that is fixed, where the truth stays, turns, jumps or drifts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from benchmarks.read import NO_DATA, elec2, svmlight
from benchmarks.report import Table
from benchmarks.tasks import Options
from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron.metrics import progressive_val_score

FIXED: tuple = ("linear", "uniform", 100, False)
ROWS, FEATURES, SCORES, DOCUMENTS = 12_000, 20, 5, 8
NOISE, PACE = 1.5, 0.03  # of the scores, in units of the weights' deviation; of the drift in a round
ELEC2, A9A = 25_000, 12_000  # rows of them
TRUTHS = ("stays", "turns round once", "every 2,000 rounds", "drifts")
MOST_BEHIND = 1.02


@dataclass(frozen=True)
class Stream:
    """Rows in their order, and what learns them."""

    name: str
    model: Any
    X: NDArray
    y: NDArray
    classes: NDArray | None = None

    def items(self) -> Iterator[tuple]:
        """Yield rows, or queries, with their labels."""
        ranker = isinstance(self.model, PredtronRanker)
        return zip(self.X.reshape(-1, DOCUMENTS, FEATURES), self.y, strict=True) if ranker else zip(self.X, self.y, strict=True)

    def loss(self, average: Any) -> float:
        """Mean loss of what predicts, each time before the round."""
        model = clone(self.model).set_params(average=average)
        return progressive_val_score(model, self.items(), classes=self.classes)


def true_scores(truth: str, X: NDArray, k: int, random: np.random.Generator) -> NDArray:
    """Noisy scores of rows, in order of time, by weights that are not what they were."""
    n = len(X)
    W = random.standard_normal((k, FEATURES))
    if truth == "drifts":
        steps = np.cumsum(PACE * random.standard_normal((n, k, FEATURES)), axis=0)
        scores = np.einsum("ncj,nj->nc", W + steps, X)
    else:
        scores = X @ W.T
    turns = {"turns round once": n // 2, "every 2,000 rounds": 2000 * n // ROWS}.get(truth)
    if turns:
        scores *= (-1) ** (np.arange(n) // turns)[:, None]
    return scores + NOISE * random.standard_normal((n, k))


def generated(options: Options, drawing: int) -> Iterator[Stream]:
    """Every family under every truth."""
    n = options.rows(ROWS)
    for truth in TRUTHS:
        random = np.random.default_rng(drawing)
        X = random.standard_normal((n, FEATURES))
        scores = true_scores(truth, X, SCORES, random)
        two, classes = (scores[:, 0] > 0).astype(int), scores.argmax(axis=1)
        ranks = np.searchsorted([-4.0, -1.0, 1.0, 4.0], scores[:, 0])
        yield Stream(f"two classes, {truth}", PredtronBinaryClassifier(), X, two, np.arange(2))
        yield Stream(f"classes, {truth}", PredtronClassifier(), X, classes, np.arange(SCORES))
        yield Stream(f"ranks, {truth}", PredtronOrdinalClassifier(), X, ranks, np.arange(5))
        yield Stream(f"sets, {truth}", PredtronMultilabelClassifier(), X, (scores > 2).astype(int))
        yield Stream(f"labels, {truth}", PredtronLabelRanker(), X, np.clip(np.rint(scores), 0, 4))
        yield queries(truth, n // DOCUMENTS, random, drawing)


def queries(truth: str, n: int, random: np.random.Generator, drawing: int) -> Stream:
    """As many queries, a truth each."""
    X = random.standard_normal((n, DOCUMENTS, FEATURES))
    shared = [true_scores(truth, X[:, i], 1, np.random.default_rng(drawing))[:, 0] for i in range(DOCUMENTS)]
    noise = NOISE * random.standard_normal((n, DOCUMENTS))
    relevance = np.clip(np.rint(np.column_stack(shared) + noise), 0, 4)
    return Stream(f"queries, {truth}", PredtronRanker(), X.reshape(-1, FEATURES), relevance)


def given(options: Options) -> Iterator[Stream]:
    """A market that drifts, and adults who do not."""
    X, y = elec2(options)
    n = min(len(y), options.rows(ELEC2))
    yield Stream("elec2, standardised", PredtronBinaryClassifier(), StandardScaler().fit_transform(X)[:n], y[:n], np.unique(y))
    yield Stream("elec2, raw", PredtronBinaryClassifier(), X[:n], y[:n], np.unique(y))
    adults = svmlight("a9a", options)
    n = options.rows(A9A)
    yield Stream("a9a", PredtronBinaryClassifier(), adults.X[:n].toarray(), adults.y[:n], np.unique(adults.y))


def run(options: Options) -> list[Table]:
    """One table of all streams."""
    averages = [f"average={average!r}" for average in FIXED]
    table = Table(
        "Progressive loss by what predicts",
        ["stream", *averages, "auto", "auto / best fixed", "largest", "within", "goal", "met"],
        note="Each row or query is predicted before it is learned, one pass in order of time; the loss is the family's default.  "
        f"Generated streams: means over {options.many_held_back('drawings')}; the ratio is the geometric mean of theirs, each to "
        f"the best fixed average of its drawing; beside it the largest, and how many are at most {MOST_BEHIND}.  "
        + ("" if options.data else NO_DATA),
    )
    found: dict[str, list[list[float]]] = {}
    for drawing in options.held_back:
        for stream in generated(options, drawing):
            found.setdefault(stream.name, []).append(losses(stream))
    if options.data is not None:
        found.update({stream.name: [losses(stream)] for stream in given(options)})
    means = []
    for name, drawn in found.items():
        *fixed, auto = np.mean(drawn, axis=0).tolist()
        ratios = np.array([row[-1] / min(row[:-1]) for row in drawn])
        means.append(geometric_mean(ratios))
        within, met = f"{(ratios <= MOST_BEHIND).sum()} of {len(ratios)}", bool(means[-1] <= MOST_BEHIND)
        table.rows.append([name, *fixed, auto, means[-1], float(ratios.max()), within, f"at most {MOST_BEHIND}", met])
    table.rows.append(["geometric mean", *[None] * len(FIXED), None, geometric_mean(means), *[None] * 4])
    return [table]


def losses(stream: Stream) -> list[float]:
    """Of each fixed average, and of the one that chooses itself."""
    return [stream.loss(average) for average in (*FIXED, "auto")]


def geometric_mean(ratios: Sequence[float] | NDArray) -> float:
    """Return it as a float."""
    return float(np.exp(np.mean(np.log(ratios))))
