"""What the main job runs: its tasks, the bundled data, the progress bar, the tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine, make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from sklearn_predtron._support.one_line import one_line
from sklearn_predtron._support.parts import Part, kinds, resolve
from sklearn_predtron.cli._baselines import (
    Baseline,
    BatchesBaseline,
    LogisticBaseline,
    PerceptronBaseline,
    PerceptronsBaseline,
    RanksPerceptronBaseline,
    RelevanceBaseline,
    TokensPerceptronBaseline,
)
from sklearn_predtron.cli._compare import (
    CUTS,
    BatchesContestant,
    ByQuery,
    Comparison,
    PredtronContestant,
    RankerContestant,
    ResultRow,
    TaggerContestant,
)
from sklearn_predtron.datasets import make_ranking_queries
from sklearn_predtron.families.bipartite import PredtronBipartiteClassifier
from sklearn_predtron.families.classification import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.families.multilabel import PredtronMultilabelClassifier
from sklearn_predtron.families.ordinal import PredtronOrdinalClassifier
from sklearn_predtron.families.ranking import PredtronRanker
from sklearn_predtron.families.sequences import PredtronSequenceTagger
from sklearn_predtron.losses import AtK, CostTableLoss, RankingLoss, Reject, SequenceLoss, SubsetLoss
from sklearn_predtron.norms import Norm


@dataclass(frozen=True)
class Task:
    """A family: its estimator, the baseline beside it, the kind of its losses, and what its score is."""

    estimator: type
    baseline: type[Baseline]
    losses: type[Part]
    score: str
    contestant: type[PredtronContestant] = PredtronContestant

    @property
    def multilabel(self) -> bool:
        """Return whether a row has a set of labels."""
        return self.losses is SubsetLoss and not self.batch

    @property
    def batch(self) -> bool:
        """Return whether a round is a batch of rows, of two labels."""
        return self.contestant is BatchesContestant

    @property
    def rank(self) -> bool:
        """Return whether a round is a query, whose documents are rows with a relevance each."""
        return self.losses is RankingLoss

    @property
    def sequence(self) -> bool:
        """Return whether a round is a sequence, whose tokens are rows with a label each."""
        return self.losses is SequenceLoss

    @property
    def ranks(self) -> bool:
        """Return whether labels have an order."""
        return self.estimator is PredtronOrdinalClassifier

    @property
    def costs(self) -> bool:
        """Return whether errors may have a cost each."""
        return self.losses is CostTableLoss

    @property
    def loss_names(self) -> list[str]:
        """Return the losses that have a name."""
        known = [kind for kind in kinds(self.losses) if not (self.batch and issubclass(kind, AtK))]  # which are not of counts
        return [str(kind.alias) for kind in known]

    def takes(self, parameters: dict[str, Any]) -> bool:
        """Return whether the estimator has the norm that is asked for, if there is one."""
        return not self.sequence or "norm" not in parameters or resolve(Norm, parameters["norm"], "norm").of_sequences


LONGEST_NAME = 60  # of a file, in a line with other things
HEADER = [
    "data",
    "learner",
    "rounds",
    "rounds/s",
    "progressive loss",
    "last iterate",
    "held-out score",
    "held-out loss",
    "rejected",
    "right of the rest",
]


def table(results: Sequence[ResultRow]) -> str:
    """Return the table as text, without the columns that nobody asked for."""
    hidden = {"held-out loss"} if all(result.held_out_loss is None for result in results) else set()
    hidden |= {"rejected", "right of the rest"} if all(result.rejected is None for result in results) else set()
    lines = [HEADER] + [result.cells() for result in results]
    return aligned([[cell for name, cell in zip(HEADER, line, strict=True) if name not in hidden] for line in lines])


def top_table(results: Sequence[ResultRow]) -> str:
    """Return NDCG@k as a table after an empty line, or nothing if it is not wanted."""
    lines = [line for result in results for line in result.top_cells()]
    return "\n" + aligned([["learner", "queries", *(f"NDCG@{k}" for k in CUTS)], *lines]) + "\n\n" if lines else ""


def aligned(lines: list[list[str]]) -> str:
    """Return cells as text, the first two of a line to the left; the first line is the header."""
    lines = [[one_line(cell, LONGEST_NAME) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines = [lines[0], ["-" * width for width in widths], *lines[1:]]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if i < 2 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def legend(tasks: Sequence[Task]) -> str:
    """Return in a line what the table's columns are; the user guide says more."""
    scores = {task.score for task in tasks}
    score = scores.pop() if len(scores) == 1 else "accuracy, or the task's own"
    return f"rounds/s: of learning alone; progressive loss: the mean, each before its update; held-out score: {score}."


class Bar:
    """A progress bar of one line, on a terminal only."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False):
        self.stream = sys.stderr if stream is None else stream
        self.shown = not quiet and self.stream is not None and self.stream.isatty()
        self.drawn = -1.0

    def __call__(self, label: str, fraction: float | None, result: ResultRow | None = None) -> None:
        if not self.shown or monotonic() - self.drawn < 0.1:
            return
        self.drawn = monotonic()
        done = "" if fraction is None else f" [{'#' * round(20 * fraction):20}] {fraction:4.0%}"
        loss = f"  {result.rounds:,} rounds, loss {result.mean_loss(result.loss)}" if result else ""
        self.stream.write(f"\r{one_line(label, LONGEST_NAME)}{done}{loss}\x1b[K")
        self.stream.flush()

    def clear(self) -> None:
        """Leave an empty line."""
        if self.drawn >= 0:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


BY_CLASS = "accuracy"
BY_RANKS = "1 - mean distance / largest distance"
BY_LABELS = "1 - Hamming loss"
BY_NDCG = "mean NDCG"
BY_TOKENS = "accuracy of tokens"
BY_BATCH = "1 - the loss of all rows as one batch"
TASKS = {
    "binary": Task(PredtronBinaryClassifier, PerceptronBaseline, CostTableLoss, BY_CLASS),
    "multiclass": Task(PredtronClassifier, PerceptronBaseline, CostTableLoss, BY_CLASS),
    "ordinal": Task(PredtronOrdinalClassifier, RanksPerceptronBaseline, CostTableLoss, BY_RANKS),
    "multilabel": Task(PredtronMultilabelClassifier, PerceptronsBaseline, SubsetLoss, BY_LABELS),
    "rank": Task(PredtronRanker, RelevanceBaseline, RankingLoss, BY_NDCG, RankerContestant),
    "sequence": Task(PredtronSequenceTagger, TokensPerceptronBaseline, SequenceLoss, BY_TOKENS, TaggerContestant),
    "bipartite": Task(PredtronBipartiteClassifier, BatchesBaseline, SubsetLoss, BY_BATCH, BatchesContestant),
}


def start_lines(data: str, estimator: type, baselines: Sequence[type[Baseline]]) -> list[ResultRow]:
    """Return the lines of the table for a data set."""
    return [ResultRow(data, estimator.__name__), *(ResultRow("", baseline.name) for baseline in baselines)]


def start_comparison(
    task: Task, estimator: Any, baselines: Sequence[type[Baseline]], labels: Any, results: Sequence[ResultRow]
) -> Comparison:
    """Return the estimator, and the baselines beside it, which all have a line in the table."""
    # The first validation in a process looks for data frame plug-ins, which is no learner's time.
    StandardScaler().fit(np.zeros((1, 1)))
    classes = np.arange(len(labels)) if task.multilabel else labels
    ours = task.contestant(estimator, classes, results[0])
    others = [kind.beside(estimator, classes, result) for kind, result in zip(baselines, results[1:], strict=True)]
    return Comparison([ours, *others])


# ------------------------------------------------------------------------------------------------------------------- demo


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


def run_demo(parameters: dict[str, Any], *, seed: int, compare: bool, bar: Bar) -> list[ResultRow]:
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
