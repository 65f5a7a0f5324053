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
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import Perceptron
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from sklearn_predtron._labels import encode
from sklearn_predtron.classification import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.losses import table_loss

DRIFT = (
    "When to switch averaging off: an average serves a stream that stays the same. On one that drifts it holds on to what is no "
    "longer true; --average none predicts by the last iterate, whose progressive loss is then far lower, and --average "
    "HALF_LIFE forgets at the pace you give."
)


@dataclass(frozen=True)
class Task:
    """A family: its estimator, and the peer beside it, made from the classes and the loss."""

    estimator: type
    peer: Callable[[NDArray, Any, Tally], Any]


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


def caption(average: Any, *, rejects: bool, compare: bool, note: str) -> str:
    """What the table's columns are."""
    predictor = "the last iterate" if average is False else f"the average of the iterates ({average})"
    lines = [
        f"rounds/s: of the learning calls alone.{note}",
        "progressive loss: the mean loss of the last iterate's predictions, each made before its round's update"
        + (", of its best class where it may reject." if rejects else "."),
        "held-out score: accuracy, or with costs or a reject option 1 - mean loss / largest loss, on rows that were not learned "
        f"from, of {predictor}.",
    ]
    if compare:
        lines.append(
            "Perceptron: scikit-learn's, through partial_fit on the same rows in the same order; its progressive loss is of "
            "predictions made before each block of rows, at most a tenth of the rounds so far and at most a chunk."
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
        if estimator.reject_cost is not None and tally.rejected is None:
            tally.rejected = 0

    def learn(self, X: Any, y: NDArray, *, judge: bool) -> None:
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

    def test(self, X: Any, y: NDArray) -> NDArray:
        """Score held-out rows; their predictions."""
        predicted = self.estimator.predict(X)
        self.tally.tested += len(y)
        self.tally.score += self.estimator.score(X, y) * len(y)
        if self.tally.rejected is not None:
            self.tally.rejected += int(np.sum(predicted == self.estimator.reject_label))
        return predicted


class PerceptronEntrant:
    """scikit-learn's Perceptron, under the same loss."""

    def __init__(self, classes: NDArray, loss: Any, tally: Tally):
        self.estimator = Perceptron(shuffle=False)
        self.rounds = 0
        self.classes = classes
        costs = table_loss(loss).matrix(classes)
        self.costs = 1.0 - np.eye(len(classes)) if costs is None else costs
        self.tally = tally

    def learn(self, X: Any, y: NDArray, *, judge: bool) -> None:
        """Learn from rows in their order."""
        tally = self.tally
        if judge:
            tally.judged += len(y)
            tally.loss += self._progressive_loss(X, y)
        start = perf_counter()
        self.estimator.partial_fit(X, y, classes=self.classes)
        tally.seconds += perf_counter() - start
        tally.rounds += len(y)
        self.rounds += len(y)

    def _progressive_loss(self, X: Any, y: NDArray) -> float:
        # A copy goes ahead block by block, so that the calls that are timed are as long as the other learner's.
        ahead, loss = self.estimator, 0.0
        for block in blocks(len(y), self.rounds):
            loss += self._losses(ahead, X[block], y[block]).sum()
            if block.stop < len(y):
                ahead = deepcopy(ahead) if ahead is self.estimator else ahead
                ahead.partial_fit(X[block], y[block], classes=self.classes)
        return loss

    def test(self, X: Any, y: NDArray) -> None:
        """Score held-out rows."""
        self.tally.tested += len(y)
        self.tally.score += len(y) - self._losses(self.estimator, X, y).sum() / self.costs.max()

    def _losses(self, estimator: Perceptron, X: Any, y: NDArray) -> NDArray:
        predicted = estimator.predict(X) if hasattr(estimator, "coef_") else np.repeat(self.classes[:1], len(y))
        return self.costs[encode(y, self.classes), encode(predicted, self.classes)]


TASKS = {
    "binary": Task(PredtronBinaryClassifier, PerceptronEntrant),
    "multiclass": Task(PredtronClassifier, PerceptronEntrant),
}


class Race:
    """Learners side by side on the same rows; the first is this package's."""

    def __init__(self, entrants: Sequence[Any]):
        self.entrants = entrants
        self.rounds = 0

    def learn(self, X: Any, y: NDArray, *, judge: bool = True) -> None:
        """Let all learn from the rows in their order."""
        for entrant in self.entrants:
            entrant.learn(X, y, judge=judge)
        self.rounds += len(y)

    def test(self, X: Any, y: NDArray) -> NDArray:
        """Score all on held-out rows; the predictions of the first."""
        predictions = [entrant.test(X, y) for entrant in self.entrants]
        return predictions[0]


def start_race(task: Task, estimator: Any, classes: NDArray, tallies: Sequence[Tally]) -> Race:
    """The estimator, and its peer if it has a line in the table."""
    # The first validation in a process looks for data frame plug-ins, which is no learner's time.
    StandardScaler().fit(np.zeros((1, 1)))
    peers = [task.peer(classes, estimator.loss, tally) for tally in tallies[1:]]
    return Race([PredtronEntrant(estimator, classes, tallies[0]), *peers])


# ------------------------------------------------------------------------------------------------------------------- demo


@dataclass(frozen=True)
class Demo:
    """A bundled data set, the task it is for, and the parameters of the estimator."""

    name: str
    load: Callable[..., Any]
    task: str
    parameters: dict[str, Any]


DEMOS = [
    Demo("digits", load_digits, "multiclass", {}),
    Demo("breast cancer, reject", load_breast_cancer, "binary", {"reject_cost": 0.1, "reject_label": -1}),
    Demo("wine", load_wine, "multiclass", {}),
]
ORDERS = 5


def run_demo(parameters: dict[str, Any], *, seed: int, compare: bool, bar: Bar) -> list[Tally]:
    """Learn each bundled data set in several row orders, each time from scratch and in one pass."""
    tallies = []
    for demo in DEMOS:
        X, y = demo.load(return_X_y=True)
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=y)
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
        task, classes, random = TASKS[demo.task], np.unique(y), np.random.default_rng(seed)
        lines = [Tally(demo.name, task.estimator.__name__), Tally("", "Perceptron")][: 1 + compare]
        tallies += lines
        for i in range(ORDERS):
            bar(demo.name, i / ORDERS, lines[0])
            order = random.permutation(len(y))
            race = start_race(task, task.estimator(**demo.parameters, **parameters), classes, lines)
            race.learn(X[order], y[order])
            race.test(X_test, y_test)
    return tallies
