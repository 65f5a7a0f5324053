"""Joint features: what the loop adds to the problem's own methods, and losses, beside a structured perceptron written by hand."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from benchmarks.headlines import OURS
from benchmarks.measure import Case, interleave, ratios
from benchmarks.report import Table, spread
from benchmarks.tasks import Options
from sklearn_predtron import JointProblem, Predtron

EPOCHS = 5
DECODE, BY_HAND, PERCEPTRON, DEFAULT = "decode", "by hand", "ours, perceptron", OURS


class Topics(JointProblem):
    """Word j of a document of topic y weighs its count by log(m / DF(j, y)) (Shalev-Shwartz and Ben-David 2014, 17.2.1)."""

    c_L = C_L = 1.0

    def __init__(self, rarity: NDArray):
        self.rarity = rarity

    @property
    def n_features(self) -> int:  # type: ignore[override]
        return self.rarity.shape[1]

    def features(self, x: Any, topic: int) -> Any:
        return x * self.rarity[topic]

    def scores(self, w: NDArray, x: Any) -> NDArray:
        return self.rarity @ (w * x)

    def decode(self, w: NDArray, x: Any) -> int:
        return int(self.scores(w, x).argmax())

    def augmented_decode(self, w: NDArray, x: Any, y: int) -> int:
        return int((self.scores(w, x) + (np.arange(len(self.rarity)) != y)).argmax())

    def loss(self, prediction: int, y: int) -> float:
        return float(prediction != y)


class SparseTopics(Topics):
    """The same of documents that are CSR rows."""

    def features(self, x: Any, topic: int) -> Any:
        return sparse.csr_array((x.data * self.rarity[topic, x.indices], x.indices, x.indptr), shape=x.shape)

    def scores(self, w: NDArray, x: Any) -> NDArray:
        return self.rarity[:, x.indices] @ (w[x.indices] * x.data)


class Matchings(JointProblem):
    """Items of two lists, x[i, j] the features of a pair; the loss is the share of items that are matched wrongly."""

    def __init__(self, n_features: int):
        self.n_features = n_features

    def features(self, x: NDArray, match: NDArray) -> NDArray:
        return x[np.arange(len(x)), match].sum(axis=0)

    def decode(self, w: NDArray, x: NDArray) -> NDArray:
        return linear_sum_assignment(x @ w, maximize=True)[1]

    def augmented_decode(self, w: NDArray, x: NDArray, y: NDArray) -> NDArray:
        return linear_sum_assignment(x @ w + (np.arange(len(x)) != y[:, None]) / len(x), maximize=True)[1]

    def loss(self, match: NDArray, y: NDArray) -> float:
        return float(np.mean(match != y))


@dataclass
class Drawn:
    """A problem, and what is learned and tested."""

    problem: JointProblem
    X: list
    y: list
    X_test: list
    y_test: list


def documents(n: int, n_words: int, n_topics: int, often: float, seed: int, *, csr: bool) -> Drawn:
    """Documents, twice as many as are learned, of some 100 words; but for the commonest each is more often in its topic."""
    random = np.random.default_rng(seed)
    y = random.integers(n_topics, size=2 * n)
    words, topic_of = np.arange(n_words), random.integers(n_topics, size=n_words)
    rate = 1.0 / (10 + words)
    rate *= 100 / rate.sum()
    telling = words >= n_words // 20
    rates = rate * (1 + often * telling * (topic_of == np.arange(n_topics)[:, None]))
    X = sparse.csr_array(sparse.vstack([sparse.csr_array(random.poisson(rates[topic])[None], dtype=float) for topic in y]))
    there = (X[:n] > 0).astype(float)
    frequency = there.sum(axis=0) - np.stack([there[y[:n] == topic].sum(axis=0) for topic in range(n_topics)])
    rarity = np.log(n / (1 + frequency))
    rows = [X[[i]] for i in range(2 * n)] if csr else list(X.toarray())
    problem = SparseTopics(rarity) if csr else Topics(rarity)
    return Drawn(problem, rows[:n], y[:n].tolist(), rows[n:], y[n:].tolist())


def lists(n: int, n_features: int, seed: int) -> Drawn:
    """Pairs of lists of 4 to 9 items, matched by linear scores with noise."""
    random = np.random.default_rng(seed)
    problem, w = Matchings(n_features), random.standard_normal(n_features)
    X = [random.standard_normal((m, m, n_features)) for m in random.integers(4, 10, size=2 * n)]
    y = [problem.decode(w, x + 0.3 * random.standard_normal(x.shape)) for x in X]
    return Drawn(problem, X[:n], y[:n], X[n:], y[n:])


DATA: dict[str, Callable[[Options, int], Drawn]] = {
    "topics, 500 words": lambda options, seed: documents(options.rows(2000), 500, 10, 2.0, seed, csr=False),
    "topics, 20,000 words, CSR": lambda options, seed: documents(options.rows(1000), 20_000, 10, 4.0, seed, csr=True),
    "matchings, 20 features": lambda options, seed: lists(options.rows(1000), 20, seed),
}


class StructuredPerceptron:
    """Collins (2002), with the mean of all iterates: the loop that a user would write, of the same methods."""

    def __init__(self, problem: JointProblem):
        self.problem = problem
        self.w, self.total, self.t = np.zeros(problem.n_features), np.zeros(problem.n_features), 0

    def learn(self, X: list, y: list) -> None:
        """Learn from rounds in their order."""
        problem = self.problem
        for x, label in zip(X, y, strict=True):
            prediction = problem.decode(self.w, x)
            if problem.loss(prediction, label) > 0:
                self._add(problem.features(x, label), 1.0)
                self._add(problem.features(x, prediction), -1.0)
            self.t += 1

    def _add(self, features: Any, sign: float) -> None:
        where, values = (features.indices, features.data) if sparse.issparse(features) else (slice(None), features)
        self.w[where] += sign * values
        self.total[where] += sign * self.t * values  # the mean is w less what steps came too late for

    def loss(self, X: list, y: list) -> float:
        """The mean loss of the mean of all iterates."""
        mean = self.w - self.total / self.t
        return float(np.mean([self.problem.loss(self.problem.decode(mean, x), label) for x, label in zip(X, y, strict=True)]))


def ours(problem: JointProblem, update: str) -> Predtron:
    """The learner, with the mean of all iterates for the perceptron's update and the defaults for the default one."""
    return Predtron(problem, update=update, average="uniform" if update == "perceptron" else None)


def decode_all(problem: JointProblem, X: list, w: NDArray) -> None:
    """What any learner must ask at the least."""
    for x in X:
        problem.decode(w, x)


def run(options: Options) -> list[Table]:
    """Times of an epoch, and losses."""
    return [_time_table(options), _loss_table(options)]


def _time_table(options: Options) -> Table:
    table = Table(
        "Joint features, an epoch",
        ["problem", "rounds", *(f"{name}, us" for name in (DECODE, BY_HAND, PERCEPTRON, DEFAULT))]
        + ["perceptron / by hand (ratio)", "default / by hand (ratio)"],
        note="Microseconds a round of one pass from scratch.  decode: the problem's alone, which all call each round.  by hand: "
        "an averaged structured perceptron of twenty lines, with the same methods and no checks.  Ours checks in each round what "
        "they return; the default update asks for the loss-augmented competitor as well, and in some rounds for predictions by "
        "two averages.",
    )
    for name, draw in DATA.items():
        data = draw(options, 0)
        measured = interleave(cases(data), options.repeats)
        times = [1e6 * one.seconds / len(data.y) for one in measured.values()]
        faster = [spread(ratios(measured[kind], measured[BY_HAND])) for kind in (PERCEPTRON, DEFAULT)]
        table.rows.append([name, len(data.y), *times, *faster])
    return table


def cases(data: Drawn) -> list[Case]:
    """A pass over the rounds in each way."""
    problem, X, y = data.problem, data.X, data.y
    by_hand = StructuredPerceptron(problem)
    by_hand.learn(X, y)
    return [
        Case(DECODE, lambda _: decode_all(problem, X, by_hand.w)),
        Case(BY_HAND, lambda learner: learner.learn(X, y), partial(StructuredPerceptron, problem)),
        Case(PERCEPTRON, lambda model: model.partial_fit(X, y), partial(ours, problem, "perceptron")),
        Case(DEFAULT, lambda model: model.partial_fit(X, y), partial(ours, problem, "adaptive")),
    ]


def _loss_table(options: Options) -> Table:
    table = Table(
        "Joint features, held-out loss",
        ["problem", BY_HAND, PERCEPTRON, DEFAULT],
        note=f"Means over {options.many_held_back('drawings')}, of {EPOCHS} epochs in one order, and as many rounds held out.",
    )
    for name, draw in DATA.items():
        losses = np.mean([_losses(draw(options, seed)) for seed in options.held_back], axis=0)
        table.rows.append([name, *losses.tolist()])
    return table


def _losses(data: Drawn) -> list[float]:
    by_hand = StructuredPerceptron(data.problem)
    models = [ours(data.problem, update) for update in ("perceptron", "adaptive")]
    for _ in range(EPOCHS):
        for learn in (by_hand.learn, *(model.partial_fit for model in models)):
            learn(data.X, data.y)
    return [by_hand.loss(data.X_test, data.y_test), *(1 - model.score(data.X_test, data.y_test) for model in models)]
