"""What the main job runs: learners side by side on one stream, the progress bar, the table."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from time import monotonic, perf_counter
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.linear_model import Perceptron
from sklearn.model_selection import train_test_split
from sklearn.multioutput import MultiOutputClassifier
from sklearn.preprocessing import StandardScaler

from sklearn_predtron._labels import encode
from sklearn_predtron._parts import Part, kinds
from sklearn_predtron.classification import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.losses import Absolute, CostMatrix, SubsetLoss, TableLoss, subset_loss, table_loss
from sklearn_predtron.multilabel import PredtronMultilabelClassifier
from sklearn_predtron.ordinal import PredtronOrdinalClassifier

DRIFT = (
    "When to switch averaging off: an average serves a stream that stays the same. On one that drifts it holds on to what is no "
    "longer true; --average none predicts by the last iterate, whose progressive loss is then far lower, and --average "
    "HALF_LIFE forgets at the pace you give."
)


@dataclass(frozen=True)
class Task:
    """A family: its estimator, the peer beside it, the kind of its losses, and what its score is."""

    estimator: type
    peer: type[Peer]
    losses: type[Part]
    score: str

    @property
    def multilabel(self) -> bool:
        """Whether a row has a set of labels."""
        return self.losses is SubsetLoss

    @property
    def loss_names(self) -> list[str]:
        """The losses that have a name."""
        return [str(kind.alias) for kind in kinds(self.losses)]


@dataclass
class Tally:
    """A line of the table."""

    data: str
    learner: str
    rounds: int = 0
    seconds: float = 0.0
    judged: int = 0
    loss: float = 0.0
    tested: int = 0
    score: float = 0.0
    rejected: int | None = None

    def cells(self) -> list[str]:
        """What the table shows."""
        return [
            self.data,
            self.learner,
            f"{self.rounds:,}",
            f"{self.rounds / self.seconds:,.0f}" if self.seconds else "-",
            f"{self.loss / self.judged:.4f}" if self.judged else "-",
            f"{self.score / self.tested:.4f}" if self.tested else "-",
            f"{self.rejected / self.tested:.1%}" if self.tested and self.rejected is not None else "-",
        ]


HEADER = ["data", "learner", "rounds", "rounds/s", "progressive loss", "held-out score", "rejected"]


def table(tallies: Sequence[Tally]) -> str:
    """The table as text; without the last column where nobody may reject."""
    lines = [HEADER] + [tally.cells() for tally in tallies]
    if all(tally.rejected is None for tally in tallies):
        lines = [line[:-1] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(
            cell.ljust(w) if i < 2 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def caption(average: Any, *, tasks: Sequence[Task], rejects: bool, compare: bool, note: str) -> str:
    """What the table's columns are."""
    scores = "; ".join(dict.fromkeys(task.score for task in tasks))
    predictor = "the last iterate" if average is False else f"the average of the iterates ({average})"
    lines = [
        f"rounds/s: of the learning calls alone.{note}",
        "progressive loss: the mean loss of the last iterate's predictions, each made before its round's update"
        + (", of its best class where it may reject." if rejects else "."),
        f"held-out score: {scores}; on rows that were not learned from, of {predictor}.",
    ]
    if compare:
        several = " (for several labels one each, by MultiOutputClassifier)" if any(task.multilabel for task in tasks) else ""
        lines.append(
            f"Perceptron: scikit-learn's{several}, through partial_fit on the same rows in the same order; its progressive loss "
            "is of predictions made before each block of rows, at most a tenth of the rounds so far and at most a chunk."
        )
    return "\n".join(textwrap.fill(line, 118, subsequent_indent="  ") for line in [*lines, DRIFT])


class Bar:
    """A progress bar of one line, on a terminal only."""

    def __init__(self, stream: TextIO | None = None):
        self.stream = sys.stderr if stream is None else stream
        self.shown = self.stream.isatty()
        self.drawn = -1.0

    def __call__(self, label: str, fraction: float | None, tally: Tally | None = None) -> None:
        if not self.shown or monotonic() - self.drawn < 0.1:
            return
        self.drawn = monotonic()
        done = "" if fraction is None else f" [{'#' * round(20 * fraction):20}] {fraction:4.0%}"
        loss = f"  {tally.rounds:,} rounds, loss {tally.loss / max(tally.judged, 1):.4f}" if tally else ""
        self.stream.write(f"\r{label}{done}{loss}\x1b[K")
        self.stream.flush()

    def clear(self) -> None:
        """Leave an empty line."""
        if self.drawn >= 0:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


def blocks(n: int, rounds: int) -> Iterator[slice]:
    """n rows in blocks of at most a tenth of the rounds before them."""
    start = 0
    while start < n:
        stop = min(n, start + max(1, (rounds + start) // 10))
        yield slice(start, stop)
        start = stop


class PredtronEntrant:
    """One of this package's estimators."""

    def __init__(self, estimator: Any, classes: NDArray | None, tally: Tally):
        self.estimator = estimator
        self.classes = classes
        self.tally = tally
        if getattr(estimator, "reject_cost", None) is not None and tally.rejected is None:
            tally.rejected = 0

    def learn(self, X: Any, y: Any, *, judge: bool) -> None:
        """Learn from rows in their order."""
        estimator, tally = self.estimator, self.tally
        rounds, loss = getattr(estimator, "t_", 0), getattr(estimator, "cumulative_loss_", 0.0)
        first = {} if rounds else {"classes": self.classes}
        start = perf_counter()
        estimator.partial_fit(X, y, **first)
        tally.seconds += perf_counter() - start
        tally.rounds += estimator.t_ - rounds
        if judge:
            tally.judged += estimator.t_ - rounds
            tally.loss += estimator.cumulative_loss_ - loss

    def test(self, X: Any, y: Any) -> NDArray:
        """Score held-out rows; their predictions."""
        predicted = self.estimator.predict(X)
        self.tally.tested += X.shape[0]
        self.tally.score += self.estimator.score(X, y) * X.shape[0]
        if self.tally.rejected is not None:
            self.tally.rejected += int(np.sum(predicted == self.estimator.reject_label))
        return predicted


class Peer:
    """Base of scikit-learn's learners, which run beside this package's under the same loss."""

    name = "Perceptron"
    estimator: Any

    def __init__(self, classes: NDArray, loss: Any, tally: Tally):
        self.classes = classes
        self.loss = loss
        self.tally = tally
        self.rounds = 0

    def learn(self, X: Any, y: Any, *, judge: bool) -> None:
        """Learn from rows in their order."""
        tally, n = self.tally, X.shape[0]
        y = self._rows_of_labels(y)
        if judge:
            tally.judged += n
            tally.loss += self._progressive_loss(X, y)
        start = perf_counter()
        self._fit(self.estimator, X, y)
        tally.seconds += perf_counter() - start
        tally.rounds += n
        self.rounds += n

    def _progressive_loss(self, X: Any, y: NDArray) -> float:
        # A copy goes ahead block by block, so that the calls that are timed are as long as the other learner's.
        ahead, loss = self.estimator, 0.0
        for block in blocks(len(y), self.rounds):
            known = self.rounds + block.start > 0
            loss += self._losses(self._predict(ahead if known else None, X[block]), y[block]).sum()
            if block.stop < len(y):
                ahead = deepcopy(ahead) if ahead is self.estimator else ahead
                self._fit(ahead, X[block], y[block])
        return loss

    def test(self, X: Any, y: Any) -> None:
        """Score held-out rows."""
        y = self._rows_of_labels(y)
        self.tally.tested += len(y)
        self.tally.score += len(y) - self._flaws(self._predict(self.estimator if self.rounds else None, X), y).sum()

    def _rows_of_labels(self, y: Any) -> NDArray:
        """The labels as an array."""
        return y

    def _fit(self, estimator: Any, X: Any, y: NDArray) -> None:
        """Let the estimator learn."""
        raise NotImplementedError

    def _predict(self, estimator: Any, X: Any) -> NDArray:
        """Predictions of the estimator; None has not learned yet."""
        raise NotImplementedError

    def _losses(self, predicted: NDArray, y: NDArray) -> NDArray:
        """The loss of each row."""
        raise NotImplementedError

    def _flaws(self, predicted: NDArray, y: NDArray) -> NDArray:
        """What the score of each row is short of 1."""
        raise NotImplementedError


class PerceptronEntrant(Peer):
    """scikit-learn's Perceptron."""

    def __init__(self, classes: NDArray, loss: Any, tally: Tally):
        super().__init__(classes, loss, tally)
        self.estimator = Perceptron(shuffle=False)
        costs = table_loss(loss).matrix(classes)
        self.costs = self.score_costs = 1.0 - np.eye(len(classes)) if costs is None else costs

    def _fit(self, estimator: Any, X: Any, y: NDArray) -> None:
        estimator.partial_fit(X, y, classes=self.classes)

    def _predict(self, estimator: Any, X: Any) -> NDArray:
        return np.repeat(self.classes[:1], X.shape[0]) if estimator is None else estimator.predict(X)

    def _losses(self, predicted: NDArray, y: NDArray) -> NDArray:
        return self.costs[encode(y, self.classes), encode(predicted, self.classes)]

    def _flaws(self, predicted: NDArray, y: NDArray) -> NDArray:
        return self.score_costs[encode(y, self.classes), encode(predicted, self.classes)] / self.score_costs.max()


class RanksPerceptronEntrant(PerceptronEntrant):
    """scikit-learn's Perceptron, scored by how far its ranks are off, as the ordinal classifier is."""

    def __init__(self, classes: NDArray, loss: Any, tally: Tally):
        super().__init__(classes, loss, tally)
        if not isinstance(table_loss(loss), CostMatrix):
            self.score_costs = Absolute().matrix(classes)


class PerceptronsEntrant(Peer):
    """scikit-learn's Perceptron for each label; its scores make a set of labels as this package's do."""

    name = "Perceptron per label"

    def __init__(self, classes: NDArray, loss: Any, tally: Tally):
        super().__init__(classes, subset_loss(loss), tally)
        self.estimator = MultiOutputClassifier(Perceptron(shuffle=False))
        self.problem = self.loss.build(len(classes))

    def _rows_of_labels(self, y: Any) -> NDArray:
        return y.toarray() if sparse.issparse(y) else y

    def _fit(self, estimator: Any, X: Any, y: NDArray) -> None:
        estimator.partial_fit(X, y, classes=[np.arange(2)] * len(self.classes))

    def _predict(self, estimator: Any, X: Any) -> NDArray:
        # Its own predict() gives the same but for losses whose predictions have exactly k labels.
        if estimator is None:
            return self.problem.predict(np.zeros((X.shape[0], len(self.classes))))
        return self.problem.predict(np.column_stack([single.decision_function(X) for single in estimator.estimators_]))

    def _losses(self, predicted: NDArray, y: NDArray) -> NDArray:
        predicted, y = predicted.astype(bool), y.astype(bool)
        a, n_predicted, n_true = (rows.sum(axis=1) for rows in (predicted & y, predicted, y))
        return self.loss.of_counts(a, n_predicted - a, n_true - a, y.shape[1] - n_predicted - n_true + a)

    def _flaws(self, predicted: NDArray, y: NDArray) -> NDArray:
        return (predicted != y).mean(axis=1)


BY_COSTS = "accuracy, or with costs or a reject option 1 - mean loss / largest loss"
BY_RANKS = "for ranks 1 - mean distance / largest distance (with costs 1 - mean loss / largest loss)"
BY_LABELS = "for several labels 1 - Hamming loss"
TASKS = {
    "binary": Task(PredtronBinaryClassifier, PerceptronEntrant, TableLoss, BY_COSTS),
    "multiclass": Task(PredtronClassifier, PerceptronEntrant, TableLoss, BY_COSTS),
    "ordinal": Task(PredtronOrdinalClassifier, RanksPerceptronEntrant, TableLoss, BY_RANKS),
    "multilabel": Task(PredtronMultilabelClassifier, PerceptronsEntrant, SubsetLoss, BY_LABELS),
}


class Race:
    """Learners side by side on the same rows; the first is this package's."""

    def __init__(self, entrants: Sequence[Any]):
        self.entrants = entrants
        self.rounds = 0

    def learn(self, X: Any, y: Any, *, judge: bool = True) -> None:
        """Let all learn from the rows in their order."""
        for entrant in self.entrants:
            entrant.learn(X, y, judge=judge)
        self.rounds += X.shape[0]

    def test(self, X: Any, y: Any) -> NDArray:
        """Score all on held-out rows; the predictions of the first."""
        predictions = [entrant.test(X, y) for entrant in self.entrants]
        return predictions[0]


def start_lines(data: str, task: Task, *, compare: bool) -> list[Tally]:
    """The lines of the table for a data set."""
    return [Tally(data, task.estimator.__name__), Tally("", task.peer.name)][: 1 + compare]


def start_race(task: Task, estimator: Any, labels: NDArray, tallies: Sequence[Tally]) -> Race:
    """The estimator, and its peer if it has a line in the table."""
    # The first validation in a process looks for data frame plug-ins, which is no learner's time.
    StandardScaler().fit(np.zeros((1, 1)))
    classes = np.arange(len(labels)) if task.multilabel else labels
    peers = [task.peer(classes, estimator.loss, tally) for tally in tallies[1:]]
    return Race([PredtronEntrant(estimator, classes, tallies[0]), *peers])


# ------------------------------------------------------------------------------------------------------------------- demo


@dataclass(frozen=True)
class Demo:
    """A bundled data set, the task it is for, the parameters of the estimator, and what is learned, from the target."""

    name: str
    load: Callable[..., Any]
    task: str
    parameters: dict[str, Any]
    labels: Callable[[NDArray], NDArray] = np.asarray


ATTRIBUTES = {
    "odd": [1, 3, 5, 7, 9],
    "above 4": [5, 6, 7, 8, 9],
    "has a loop": [0, 6, 8, 9],
    "prime": [2, 3, 5, 7],
    "multiple of 3": [0, 3, 6, 9],
    "square": [0, 1, 4, 9],
}


def attributes(digits: NDArray) -> NDArray:
    """Which of the attributes a digit has, a column each."""
    return np.column_stack([np.isin(digits, having) for having in ATTRIBUTES.values()]).astype(np.int64)


def fifths(target: NDArray) -> NDArray:
    """Ranks from 0 to 4, each of a fifth of the rows."""
    return np.searchsorted(np.quantile(target, [0.2, 0.4, 0.6, 0.8]), target)


DEMOS = [
    Demo("digits", load_digits, "multiclass", {}),
    Demo("breast cancer, reject", load_breast_cancer, "binary", {"reject_cost": 0.1, "reject_label": -1}),
    Demo("wine", load_wine, "multiclass", {}),
    Demo("diabetes, 5 ranks", load_diabetes, "ordinal", {}, fifths),
    Demo("digits' attributes", load_digits, "multilabel", {}, attributes),
]
DEMO_DATA = f"diabetes, 5 ranks: fifths of the target.  digits' attributes: {', '.join(ATTRIBUTES)}."
ORDERS = 5


def run_demo(parameters: dict[str, Any], *, seed: int, compare: bool, bar: Bar) -> list[Tally]:
    """Learn each bundled data set in several row orders, each time from scratch and in one pass."""
    tallies = []
    for demo in DEMOS:
        X, y = demo.load(return_X_y=True)
        y = demo.labels(y)
        labels = np.unique(y) if y.ndim == 1 else np.arange(y.shape[1])
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=y)
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
        task, random = TASKS[demo.task], np.random.default_rng(seed)
        lines = start_lines(demo.name, task, compare=compare)
        tallies += lines
        for i in range(ORDERS):
            bar(demo.name, i / ORDERS, lines[0])
            order = random.permutation(len(y))
            race = start_race(task, task.estimator(**demo.parameters, **parameters), labels, lines)
            race.learn(X[order], y[order])
            race.test(X_test, y_test)
    return tallies
