"""Baselines of scikit-learn under the same loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import deepcopy
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.multioutput import MultiOutputClassifier
from sklearn.utils.class_weight import compute_sample_weight

from sklearn_predtron._support.encoding import encode
from sklearn_predtron.cli._compare import BEFORE, HELD_OUT, GroupedValues, ResultRow, codes_or_wrong, losses_of_sequences
from sklearn_predtron.cli._weighted import split_weights
from sklearn_predtron.families._ranked_lists import losses_of_lists
from sklearn_predtron.families.input.batches import full_batches, losses_of_batches
from sklearn_predtron.losses import costs_of, ranking_loss, subset_loss, table_loss
from sklearn_predtron.metrics import ndcg
from sklearn_predtron.representations import LogRank, SignVector


def blocks(n: int, rounds: int) -> Iterator[slice]:
    """Yield n rounds in blocks, each a tenth of those before."""
    start = 0
    while start < n:
        stop = min(n, start + max(1, (rounds + start) // 10))
        yield slice(start, stop)
        start = stop


def linear(name: str, **params: Any) -> Any:
    """Return a linear model of scikit-learn."""
    from sklearn import linear_model  # whose import takes longer than to predict a row, for which it is not needed

    return getattr(linear_model, name)(**params)


class Baseline(ABC):
    """Base of the scikit-learn baselines."""

    name = "Perceptron"
    estimator: Any

    def __init__(self, classes: Any, loss: Any, result: ResultRow):
        self.classes = classes
        self.loss = loss
        self.result = result
        self.rounds = 0

    @classmethod
    def for_estimator(cls, estimator: Any, classes: Any, result: ResultRow) -> Baseline:
        """Return the baseline of an estimator."""
        return cls(classes, estimator.loss, result)

    def learn(self, X: Any, y: Any, *, progressive: bool) -> None:
        """Train on rows in their order."""
        result, n = self.result, X.shape[0]
        y = self._rows_of_labels(y)
        if progressive:
            result.progressive_rounds += n
            for predicted, true in self._predictions_ahead(X, y):
                self._score_progressively(predicted, true)
        start = perf_counter()
        self._fit(self.estimator, X, y)
        result.seconds += perf_counter() - start
        result.rounds += n
        self.rounds += n

    def _predictions_ahead(self, X: Any, y: Any) -> Iterator[tuple[NDArray, Any]]:
        """Return the predictions of each block before training on it."""
        # A copy goes ahead block by block, so that the calls that are timed are as long as the other learner's.
        ahead = self.estimator
        for block in blocks(len(y), self.rounds):
            known = self.rounds + block.start > 0
            yield self._predict(ahead if known else None, X[block]), y[block]
            if block.stop < len(y):
                ahead = deepcopy(ahead) if ahead is self.estimator else ahead
                self._fit(ahead, X[block], y[block])

    def _score_progressively(self, predicted: NDArray, y: Any) -> None:
        """Count the loss of predictions made before training."""
        self.result.loss += self._losses(predicted, y).sum()

    def test(self, X: Any, y: Any) -> None:
        """Score held-out rows."""
        y = self._rows_of_labels(y)
        self._score(self._predict(self.estimator if self.rounds else None, X), y)

    def _score(self, predicted: NDArray, y: Any) -> None:
        """Count the scores of predictions of held-out rows."""
        self.result.count(self._scores(predicted, y))

    def _rows_of_labels(self, y: Any) -> NDArray:
        """Return the labels as an array."""
        return y

    @abstractmethod
    def _fit(self, estimator: Any, X: Any, y: Any) -> None:
        """Update the estimator on rows."""

    @abstractmethod
    def _predict(self, estimator: Any, X: Any) -> NDArray:
        """Return the predictions; None before training."""

    @abstractmethod
    def _losses(self, predicted: NDArray, y: Any) -> NDArray:
        """Return the loss of each round."""

    @abstractmethod
    def _scores(self, predicted: NDArray, y: Any) -> NDArray:
        """Return the score of each scored row, document or token."""


class PerceptronBaseline(Baseline):
    """scikit-learn's Perceptron."""

    def __init__(self, classes: NDArray, loss: Any, result: ResultRow):
        super().__init__(classes, loss, result)
        self.estimator = linear("Perceptron", shuffle=False)
        costs = costs_of(table_loss(loss), classes)
        self.costs = 1.0 - np.eye(len(classes)) if costs is None else costs

    def _fit(self, estimator: Any, X: Any, y: NDArray) -> None:
        rows, weights = split_weights(X)
        estimator.partial_fit(rows, y, classes=self.classes, sample_weight=weights)

    def _predict(self, estimator: Any, X: Any) -> NDArray:
        return np.repeat(self.classes[:1], X.shape[0]) if estimator is None else estimator.predict(split_weights(X)[0])

    def _losses(self, predicted: NDArray, y: NDArray) -> NDArray:
        return self.costs[encode(y, self.classes), encode(predicted, self.classes)]

    def _scores(self, predicted: NDArray, y: NDArray) -> NDArray:
        return predicted == y


class OrdinalPerceptronBaseline(PerceptronBaseline):
    """scikit-learn's Perceptron, scored by the distance of ranks."""

    def _scores(self, predicted: NDArray, y: NDArray) -> NDArray:
        off = np.abs(codes_or_wrong(y, predicted, self.classes) - encode(predicted, self.classes)) / (len(self.classes) - 1)
        return np.where(np.isin(y, self.classes), 1 - off, 0.0)


class TaggerBaseline(Baseline):
    """scikit-learn's Perceptron of single tokens.

    X and y are `GroupedValues`.
    """

    def __init__(self, classes: NDArray, loss: Any, result: ResultRow):
        super().__init__(classes, loss, result)
        self.estimator = linear("Perceptron", shuffle=False)

    def _fit(self, estimator: Any, X: Any, y: Any) -> None:
        estimator.partial_fit(X.values, y.values, classes=self.classes)

    def _predict(self, estimator: Any, X: Any) -> NDArray:
        return np.repeat(self.classes[:1], X.start[-1]) if estimator is None else estimator.predict(X.values)

    def _losses(self, predicted: NDArray, y: Any) -> NDArray:
        return losses_of_sequences(self.loss, self.classes, predicted, y)

    def _scores(self, predicted: NDArray, y: Any) -> NDArray:
        return predicted == y.values

    def _score(self, predicted: NDArray, y: Any) -> None:
        super()._score(predicted, y)
        self.result.count_chunks(predicted, y)
        self.result.count_sequences(self._losses(predicted, y))


class MultilabelPerceptronBaseline(Baseline):
    """scikit-learn's Perceptron for each label.

    Its scores become a set of labels as this package's do.
    """

    name = "Perceptron per label"

    def __init__(self, classes: NDArray, loss: Any, result: ResultRow):
        super().__init__(classes, subset_loss(loss), result)
        self.estimator = MultiOutputClassifier(linear("Perceptron", shuffle=False))
        self.problem = self.loss.build(SignVector(), len(classes))

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
        return self.loss.evaluate(a, n_predicted - a, n_true - a, y.shape[1] - n_predicted - n_true + a)

    def _scores(self, predicted: NDArray, y: NDArray) -> NDArray:
        return (predicted == y).mean(axis=1)


class RankerBaseline(Baseline):
    """scikit-learn's averaged passive-aggressive regression of relevances.

    X and y are `GroupedValues`.
    """

    name = "SGDRegressor"

    def __init__(self, classes: Any, loss: Any, result: ResultRow):
        super().__init__(classes, loss, result)
        how: dict[str, Any] = {"loss": "epsilon_insensitive", "penalty": None, "learning_rate": "pa1", "eta0": 1.0}
        self.estimator = linear("SGDRegressor", average=True, shuffle=False, **how)
        # The loss of a ranking does not depend on its representation.
        self.problem = ranking_loss(loss).build(LogRank(), 0)

    def _fit(self, estimator: Any, X: Any, y: Any) -> None:
        estimator.partial_fit(X.values, y.values)

    def _predict(self, estimator: Any, X: Any) -> NDArray:
        return np.zeros(X.start[-1]) if estimator is None else estimator.predict(X.values)

    def _score_progressively(self, predicted: NDArray, y: Any) -> None:
        # The estimator beside it counts ties at their worst while it learns, as the theorems do.
        super()._score_progressively(y.break_ties_at_worst(predicted), y)
        self.result.count_top(BEFORE, predicted, y)

    def _score(self, predicted: NDArray, y: Any) -> None:
        super()._score(predicted, y)
        self.result.count_top(HELD_OUT, predicted, y)

    def _losses(self, predicted: NDArray, y: Any) -> NDArray:
        return losses_of_lists(self.problem, predicted, y.values, y.start)

    def _scores(self, predicted: NDArray, y: Any) -> NDArray:
        return ndcg(y.values, predicted, y.query)


class BatchClassifierBaseline(Baseline):
    """scikit-learn's averaged logistic regression with balanced classes.

    A round is a batch of rows.
    """

    name = "SGDClassifier"

    def __init__(self, classes: NDArray, loss: Any, result: ResultRow, batch_size: int = 200):
        super().__init__(classes, subset_loss(loss), result)
        self.batch_size = batch_size
        # Of scikit-learn's steps those that came closest to LogisticRegression in one pass.
        how: dict[str, Any] = {"loss": "log_loss", "learning_rate": "constant", "eta0": 0.01}
        self.estimator = linear("SGDClassifier", average=True, shuffle=False, **how)

    @classmethod
    def for_estimator(cls, estimator: Any, classes: Any, result: ResultRow) -> Baseline:
        return cls(classes, estimator.loss, result, estimator.batch_size)

    def learn(self, X: Any, y: Any, *, progressive: bool) -> None:
        start = full_batches(len(y), self.batch_size)
        super().learn(GroupedValues(X, start), GroupedValues(y, start), progressive=progressive)

    def test(self, X: Any, y: Any) -> None:
        start = np.array([0, len(y)])
        super().test(GroupedValues(X, start), GroupedValues(y, start))

    def _fit(self, estimator: Any, X: Any, y: Any) -> None:
        rows, weights = split_weights(X.values)
        weight = compute_sample_weight("balanced", y.values) * (1 if weights is None else weights)
        estimator.partial_fit(rows, y.values, classes=self.classes, sample_weight=weight)

    def _predict(self, estimator: Any, X: Any) -> NDArray:
        rows, _ = split_weights(X.values)
        return np.repeat(self.classes[:1], X.start[-1]) if estimator is None else estimator.predict(rows)

    def _losses(self, predicted: NDArray, y: Any) -> NDArray:
        return losses_of_batches(self.loss, encode(predicted, self.classes), encode(y.values, self.classes), y.start)

    def _scores(self, predicted: NDArray, y: Any) -> NDArray:
        return predicted == y.values

    def _score(self, predicted: NDArray, y: Any) -> None:
        self.result.count_batch(self.loss, encode(predicted, self.classes), codes_or_wrong(y.values, predicted, self.classes))
