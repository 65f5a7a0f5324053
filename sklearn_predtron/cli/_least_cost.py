"""Models that minimise expected cost, compared side by side."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.multioutput import MultiOutputClassifier
from sklearn.preprocessing import StandardScaler

from sklearn_predtron.cli._answers import Answers, WithCosts, answers_of, values_of
from sklearn_predtron.cli._baselines import (
    Baseline,
    PerceptronBaseline,
    PerceptronsBaseline,
    RanksPerceptronBaseline,
    blocks,
    linear,
)
from sklearn_predtron.cli._compare import BEFORE, HELD_OUT, PredtronContestant, ResultRow
from sklearn_predtron.families._reading import are_stored_dense


def count_paid(result: ResultRow, when: str, answers: Answers, chosen: NDArray, X: WithCosts, y: Any) -> None:
    """Add realised costs of rows, if requested."""
    if result.paid is None:
        return
    true = answers.codes(y)
    for part in answers.parts(len(true)):
        table = answers.table(X[part])
        result.paid[when].add(answers.paid(chosen[part], true[part], table), answers.constants(true[part], table))


class LeastCostContestant(PredtronContestant):
    """An estimator of this package that predicts by row costs.

    X is `RowsWithCosts` where the costs of the rows are known.
    """

    def __init__(self, estimator: Any, classes: NDArray, result: ResultRow):
        super().__init__(estimator, classes, result)
        self.answers = answers_of(estimator, classes)

    def learn(self, X: Any, y: Any, *, progressive: bool) -> None:
        if progressive and isinstance(X, WithCosts) and self.result.paid is not None:
            self._pay_ahead(X, y)
        super().learn(X, y, progressive=progressive)

    def _pay_ahead(self, X: WithCosts, y: Any) -> None:
        """Count the realised costs of blocks before training on them."""
        # A copy goes ahead block by block, so that the calls that are timed are as long as the other learner's.
        ahead, n = self.estimator, X.shape[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the estimator itself warns
            for block in blocks(n, getattr(ahead, "t_", 0)):
                count_paid(self.result, BEFORE, self.answers, self._chosen(ahead, X[block]), X[block], y[block])
                if block.stop < n:
                    ahead = deepcopy(ahead) if ahead is self.estimator else ahead
                    self._learn_parts(ahead, X[block], y[block])

    def _fit(self, X: Any, y: Any, *, first: bool) -> None:
        if isinstance(X, WithCosts):
            self._learn_parts(self.estimator, X, y)
        else:
            super()._fit(X, y, first=first)

    def _learn_parts(self, estimator: Any, X: WithCosts, y: Any) -> None:
        """Update an estimator on rows with their costs."""
        for part in self.answers.parts(X.shape[0]):
            known = {} if estimator.__sklearn_is_fitted__() else {"classes": self.classes}
            estimator.partial_fit(X.values[part], y[part], costs=X[part].costs, **known)

    def _chosen(self, estimator: Any, X: WithCosts) -> NDArray:
        """Return the predictions of lowest cost under the row costs."""
        found, learned = [], getattr(estimator, "t_", 0) > 0  # rows whose mistakes cost nothing are not
        for part in (X[rows] for rows in self.answers.parts(X.shape[0])):
            if learned:
                found.append(self.answers.codes(estimator.predict(part.values, costs=part.costs)))
            else:
                found.append(self.answers.of_least_cost(self.answers.unknown(part.shape[0]), self.answers.table(part)))
        return np.concatenate(found)

    def predict(self, X: Any) -> NDArray:
        if not isinstance(X, WithCosts):
            return super().predict(X)
        return self.answers.labels(self._chosen(self.estimator, X))

    def scores(self, X: Any) -> NDArray:
        return super().scores(values_of(X))

    def probabilities(self, X: Any) -> NDArray:
        return super().probabilities(values_of(X))

    def test(self, X: Any, y: Any) -> NDArray:
        if not isinstance(X, WithCosts):
            return super().test(X, y)
        chosen, answers = self._chosen(self.estimator, X), self.answers
        count_held_out(self.result, answers, chosen, X, y)
        return answers.labels(chosen)


def count_held_out(result: ResultRow, answers: Answers, chosen: NDArray, X: WithCosts, y: Any) -> None:
    """Add scores, realised costs and abstentions of held-out rows."""
    result.count(answers.scores(chosen, answers.codes(y)))
    count_paid(result, HELD_OUT, answers, chosen, X, y)
    if result.rejected is not None:
        result.rejected += answers.rejected(chosen)


class ScaledLearner:
    """A scikit-learn learner with an intercept column and scaled inputs.

    Parameters
    ----------
    learner : estimator
        It has no intercept of its own, which with sparse rows would take a hundredth of the step.
    """

    def __init__(self, learner: Any):
        self.learner, self.scaler = learner, None

    def start(self, X: Any) -> None:
        """Prepare for rows of training."""
        first = not hasattr(self.learner, "classes_")
        if first and (isinstance(X, np.ndarray) or are_stored_dense(X)):
            self.scaler = StandardScaler()
        if self.scaler is not None:
            self.scaler.partial_fit(as_table(X))

    def rows(self, X: Any) -> Any:
        """Return rows as the learner expects them."""
        constant = np.ones((X.shape[0], 1))
        if self.scaler is None:
            return sparse.hstack([X, sparse.csr_matrix(constant)], "csr")
        return np.hstack([self.scaler.transform(as_table(X)), constant])


def as_table(X: Any) -> NDArray:
    """Return rows with all of their columns."""
    return X if isinstance(X, np.ndarray) else X.toarray()


class Prediction(NamedTuple):
    """Predictions of the baseline by the loss and by row costs."""

    by_loss: NDArray
    by_costs: NDArray | None
    X: Any


class LeastCost(Baseline):
    """scikit-learn's averaged logistic regression with minimum expected cost."""

    name = "SGDClassifier"
    kind: type[Baseline] = PerceptronBaseline  # whose loss and score it has

    def __init__(self, classes: NDArray, loss: Any, result: ResultRow, answers: Answers):
        super().__init__(classes, loss, result)
        self.answers, self.inner = answers, self.kind(classes, loss, result)
        # The steps are those of the baseline of batches.
        how: dict[str, Any] = {"average": True, "learning_rate": "constant", "eta0": 0.01, "shuffle": False}
        self.estimator = ScaledLearner(self._of(linear("SGDClassifier", loss="log_loss", fit_intercept=False, **how)))

    @classmethod
    def beside(cls, estimator: Any, classes: Any, result: ResultRow) -> Baseline:
        if getattr(estimator, "reject", None) is not None:
            result.rejected = 0
        return cls(classes, estimator.loss, result, answers_of(estimator, classes))

    def _of(self, logistic: Any) -> Any:
        """Build the estimator of two or more classes."""
        return logistic

    def _probabilities(self, estimator: Any, X: Any) -> NDArray:
        """Return the probabilities of the classes in their order."""
        return estimator.predict_proba(X)[:, np.searchsorted(estimator.classes_, self.classes)]

    def _rows_of_labels(self, y: Any) -> NDArray:
        return self.inner._rows_of_labels(y)

    def _fit(self, estimator: Any, X: Any, y: Any) -> None:
        estimator.start(values_of(X))
        self.inner._fit(estimator.learner, estimator.rows(values_of(X)), y)

    def _predict(self, estimator: Any, X: Any) -> Any:
        learner, rows = (None, X) if estimator is None else (estimator.learner, estimator.rows(values_of(X)))
        by_loss = self.inner._predict(learner, rows)
        if not isinstance(X, WithCosts):
            return Prediction(by_loss, None, X)
        probabilities = self.answers.unknown(X.shape[0]) if learner is None else self._probabilities(learner, rows)
        return Prediction(by_loss, self._chosen(probabilities, X), X)

    def _chosen(self, probabilities: NDArray, X: WithCosts) -> NDArray:
        """Return the actions of least expected cost."""
        n, answers = X.shape[0], self.answers
        parts = [answers.of_least_cost(probabilities[part], answers.table(X[part])) for part in answers.parts(n)]
        return np.concatenate(parts)

    def _score_progressively(self, predicted: Any, y: Any) -> None:
        super()._score_progressively(predicted, y)
        if predicted.by_costs is not None:
            count_paid(self.result, BEFORE, self.answers, predicted.by_costs, predicted.X, y)

    def _score(self, predicted: Any, y: Any) -> None:
        if predicted.by_costs is None:
            super()._score(predicted, y)
        else:
            count_held_out(self.result, self.answers, predicted.by_costs, predicted.X, y)

    def _losses(self, predicted: Any, y: Any) -> NDArray:
        return self.inner._losses(predicted.by_loss, y)

    def _scores(self, predicted: Any, y: Any) -> NDArray:
        return self.inner._scores(predicted.by_loss, y)


class LeastCostOfRanks(LeastCost):
    """Minimum expected cost of ranks by averaged logistic regression."""

    kind = RanksPerceptronBaseline


class LeastCostOfSets(LeastCost):
    """Minimum expected cost of label sets by averaged logistic regression."""

    name = "SGDClassifier per label"
    kind = PerceptronsBaseline

    def _of(self, logistic: Any) -> Any:
        return MultiOutputClassifier(logistic)

    def _probabilities(self, estimator: Any, X: Any) -> NDArray:
        return np.column_stack([single.predict_proba(X)[:, 1] for single in estimator.estimators_])
