"""Benchmarks of the job without files: data sets and models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score
from sklearn.preprocessing import StandardScaler

from sklearn_predtron._support.encoding import encode
from sklearn_predtron.cli._demo_data import (
    DatasetSplit,
    breast_cancer,
    diabetes_ranks,
    digit_attributes,
    digits,
    generated_queries,
    rare_class,
    stream_of_digits,
    table_with_gaps,
    words_of_digits,
)
from sklearn_predtron.cli._reference_models import (
    LOGISTIC,
    OF_QUERIES,
    OF_RANKS,
    OF_RARE,
    OF_SETS,
    OF_STREAMS,
    OF_TABLES,
    OF_TOKENS,
    ReferenceModel,
    fit,
    of_costs,
    predict_ahead,
    predict_split,
    predicted_ahead,
    seeded,
)
from sklearn_predtron.families.classification import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.families.multilabel import PredtronMultilabelClassifier
from sklearn_predtron.families.ordinal import PredtronOrdinalClassifier
from sklearn_predtron.families.ranking import PredtronRanker
from sklearn_predtron.families.sequences import PredtronSequenceTagger
from sklearn_predtron.losses import Reject
from sklearn_predtron.metrics import ndcg

# The costs of predicting 0, 1 and abstaining, for a malignant tumour (0) and a benign one (1).
MISSED, ALARM, REJECTED = 5.0, 1.0, 0.2
COSTS, ANSWERS = np.array([[0, MISSED, REJECTED], [ALARM, 0, REJECTED]]), np.array([0, 1, -1])


def cost_per_100_rows(split: DatasetSplit, predicted: NDArray) -> float:
    """Return the average cost of 100 rows."""
    answers = np.argsort(ANSWERS)[encode(predicted, np.sort(ANSWERS))]
    return 100 * float(COSTS[split.y_test, answers].mean())


def error(split: DatasetSplit, predicted: NDArray) -> float:
    """Return the share of wrong rows, tokens or labels."""
    return float(np.mean(predicted != split.y_test))


def distance(split: DatasetSplit, predicted: NDArray) -> float:
    """Return the mean absolute error."""
    return float(np.mean(np.abs(predicted - split.y_test)))


def ndcg_loss(split: DatasetSplit, predicted: NDArray) -> float:
    """Return 1 - the mean NDCG of the first 10 documents."""
    return 1 - float(ndcg(split.y_test, predicted, split.ids_test, k=10).mean())


def f1_loss(split: DatasetSplit, predicted: NDArray) -> float:
    """Return 1 - F1 of the class 1."""
    return 1 - float(f1_score(split.y_test, predicted, zero_division=0.0))


@dataclass
class BenchmarkResult:
    """Losses and training times of a model in each split."""

    learner: str
    losses: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    @property
    def loss(self) -> float:
        """The mean loss."""
        return float(np.mean(self.losses))

    @property
    def seconds(self) -> float:
        """The smallest time, which other processes disturbed least."""
        return min(self.times)


@dataclass(frozen=True)
class Benchmark:
    """A data set, its loss, the estimator and its baselines."""

    name: str
    loss: str
    draw: Callable[[int], DatasetSplit]
    evaluate: Callable[[DatasetSplit, NDArray], float]
    estimator: type
    parameters: dict[str, Any]
    references: tuple[ReferenceModel, ...]
    splits: int
    fits: Callable[[Any, DatasetSplit], Any] = fit
    predicts: Callable[[Any, DatasetSplit], NDArray] = predict_split

    def predtron(self) -> ReferenceModel:
        """Return this package's model."""
        return ReferenceModel(self.estimator.__name__, seeded(self.estimator, **self.parameters), self.fits, self.predicts)

    def learn(self, seed: int) -> list[BenchmarkResult]:
        """Train all models on each split, this package's first."""
        learners = [self.predtron(), *self.references]
        results = [BenchmarkResult(learner.name) for learner in learners]
        for random_state in ((seed + i) % 2**32 for i in range(self.splits)):
            split = self.draw(random_state)
            for learner, result in zip(learners, results, strict=True):
                estimator = learner.make(random_state)
                start = perf_counter()
                learned = learner.learn(estimator, split)
                result.times.append(perf_counter() - start)
                result.losses.append(self.evaluate(split, learner.predict(learned, split)))
        return results


def fit_with(ids: str, estimator: Any, split: DatasetSplit) -> Any:
    """Train on documents or tokens."""
    return estimator.fit(split.X, split.y, **{ids: split.ids})


def predict_sequences(estimator: Any, split: DatasetSplit) -> NDArray:
    """Predict tokens."""
    return estimator.predict(split.X_test, sid=split.ids_test)


def warm_up() -> None:
    """Run a first validation, so that imports are not timed."""
    StandardScaler().fit(np.zeros((1, 1)))


def better(results: Sequence[BenchmarkResult]) -> BenchmarkResult:
    """Return the best baseline."""
    return min(results[1:], key=lambda result: result.loss)


COSTING = {"loss": {(0, 1): MISSED}, "reject": Reject(REJECTED, -1)}
BENCHMARKS = (
    Benchmark(
        "words of digits",
        "error of tokens",
        words_of_digits,
        error,
        PredtronSequenceTagger,
        {},
        OF_TOKENS,
        splits=2,
        fits=partial(fit_with, "sid"),
        predicts=predict_sequences,
    ),
    Benchmark(
        "a stream of digits",
        "progressive error",
        stream_of_digits,
        error,
        PredtronClassifier,
        {},
        OF_STREAMS,
        splits=1,
        fits=predict_ahead,
        predicts=predicted_ahead,
    ),
    Benchmark("digits", "error", digits, error, PredtronClassifier, {}, (LOGISTIC,), splits=2),
    Benchmark(
        "a table with gaps",
        "error",
        table_with_gaps,
        error,
        PredtronBinaryClassifier,
        {"features": "piecewise"},
        OF_TABLES,
        splits=2,
    ),
    Benchmark(
        "a rare class",
        "1 - F1",
        rare_class,
        f1_loss,
        PredtronBinaryClassifier,
        {"decision": "f1"},
        OF_RARE,
        splits=2,
    ),
    Benchmark(
        "diabetes, 5 ranks",
        "absolute error",
        diabetes_ranks,
        distance,
        PredtronOrdinalClassifier,
        {},
        OF_RANKS,
        splits=5,
    ),
    Benchmark(
        "digits' attributes",
        "Hamming loss",
        digit_attributes,
        error,
        PredtronMultilabelClassifier,
        {},
        OF_SETS,
        splits=2,
    ),
    Benchmark(
        "generated queries",
        "1 - NDCG@10",
        generated_queries,
        ndcg_loss,
        PredtronRanker,
        {},
        OF_QUERIES,
        splits=2,
        fits=partial(fit_with, "qid"),
    ),
    Benchmark(
        "breast cancer",
        "cost of 100 rows",
        breast_cancer,
        cost_per_100_rows,
        PredtronBinaryClassifier,
        COSTING,
        of_costs(COSTS, ANSWERS),
        splits=5,
    ),
)
