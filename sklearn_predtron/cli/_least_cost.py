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

from sklearn_predtron.cli._action_spaces import ActionSpace, RowsWithCosts, action_space_of, values_of
from sklearn_predtron.cli._baselines import (
    Baseline,
    MultilabelPerceptronBaseline,
    OrdinalPerceptronBaseline,
    PerceptronBaseline,
    blocks,
    linear,
)
from sklearn_predtron.cli._compare import BEFORE, HELD_OUT, EvaluatedModel, ResultRow
from sklearn_predtron.families.input.reading import are_stored_dense


def count_costs(result: ResultRow, when: str, action_space: ActionSpace, chosen: NDArray, X: RowsWithCosts, y: Any) -> None:
    """Add realised costs of rows, if requested."""
    if result.realised_costs is None:
        return
    true = action_space.codes(y)
    for part in action_space.parts(len(true)):
        table = action_space.table(X[part])
        result.realised_costs[when].add(
            action_space.realised_costs(chosen[part], true[part], table), action_space.constant_costs(true[part], table)
        )


class EvaluatedCostModel(EvaluatedModel):
    """An estimator of this package that predicts by row costs.

    X is `RowsWithCosts` where the costs of the rows are known.
    """

    def __init__(self, estimator: Any, classes: NDArray, result: ResultRow):
        super().__init__(estimator, classes, result)
        self.action_space = action_space_of(estimator, classes)

    def learn(self, X: Any, y: Any, *, progressive: bool) -> None:
        if progressive and isinstance(X, RowsWithCosts) and self.result.realised_costs is not None:
            self._count_costs_ahead(X, y)
        super().learn(X, y, progressive=progressive)

    def _count_costs_ahead(self, X: RowsWithCosts, y: Any) -> None:
        """Count the realised costs of blocks before training on them."""
        # A copy goes ahead block by block, so that the calls that are timed are as long as the other learner's.
        ahead, n = self.estimator, X.shape[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the estimator itself warns
            for block in blocks(n, getattr(ahead, "t_", 0)):
                count_costs(self.result, BEFORE, self.action_space, self._chosen(ahead, X[block]), X[block], y[block])
                if block.stop < n:
                    ahead = deepcopy(ahead) if ahead is self.estimator else ahead
                    self._learn_parts(ahead, X[block], y[block])

    def _fit(self, X: Any, y: Any, *, first: bool) -> None:
        if isinstance(X, RowsWithCosts):
            self._learn_parts(self.estimator, X, y)
        else:
            super()._fit(X, y, first=first)

    def _learn_parts(self, estimator: Any, X: RowsWithCosts, y: Any) -> None:
        """Update an estimator on rows with their costs."""
        for part in self.action_space.parts(X.shape[0]):
            known = {} if estimator.__sklearn_is_fitted__() else {"classes": self.classes}
            estimator.partial_fit(X.values[part], y[part], costs=X[part].costs, **known)

    def _chosen(self, estimator: Any, X: RowsWithCosts) -> NDArray:
        """Return the predictions of lowest cost under the row costs."""
        found, learned = [], getattr(estimator, "t_", 0) > 0  # rows whose mistakes cost nothing are not
        for part in (X[rows] for rows in self.action_space.parts(X.shape[0])):
            if learned:
                found.append(self.action_space.codes(estimator.predict(part.values, costs=part.costs)))
            else:
                found.append(
                    self.action_space.least_cost_actions(
                        self.action_space.prior_probabilities(part.shape[0]), self.action_space.table(part)
                    )
                )
        return np.concatenate(found)

    def predict(self, X: Any) -> NDArray:
        if not isinstance(X, RowsWithCosts):
            return super().predict(X)
        return self.action_space.labels(self._chosen(self.estimator, X))

    def scores(self, X: Any) -> NDArray:
        return super().scores(values_of(X))

    def probabilities(self, X: Any) -> NDArray:
        return super().probabilities(values_of(X))

    def test(self, X: Any, y: Any) -> NDArray:
        if not isinstance(X, RowsWithCosts):
            return super().test(X, y)
        chosen, action_space = self._chosen(self.estimator, X), self.action_space
        count_held_out(self.result, action_space, chosen, X, y)
        return action_space.labels(chosen)


def count_held_out(result: ResultRow, action_space: ActionSpace, chosen: NDArray, X: RowsWithCosts, y: Any) -> None:
    """Add scores, realised costs and abstentions of held-out rows."""
    result.count(action_space.scores(chosen, action_space.codes(y)))
    count_costs(result, HELD_OUT, action_space, chosen, X, y)
    if result.rejected is not None:
        result.rejected += action_space.rejected(chosen)


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


class LeastCostBaseline(Baseline):
    """scikit-learn's averaged logistic regression with minimum expected cost."""

    name = "SGDClassifier"
    kind: type[Baseline] = PerceptronBaseline  # whose loss and score it has

    def __init__(self, classes: NDArray, loss: Any, result: ResultRow, action_space: ActionSpace):
        super().__init__(classes, loss, result)
        self.action_space, self.inner = action_space, self.kind(classes, loss, result)
        # The steps are those of the baseline of batches.
        how: dict[str, Any] = {"average": True, "learning_rate": "constant", "eta0": 0.01, "shuffle": False}
        self.estimator = ScaledLearner(self._of(linear("SGDClassifier", loss="log_loss", fit_intercept=False, **how)))

    @classmethod
    def for_estimator(cls, estimator: Any, classes: Any, result: ResultRow) -> Baseline:
        if getattr(estimator, "reject", None) is not None:
            result.rejected = 0
        return cls(classes, estimator.loss, result, action_space_of(estimator, classes))

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
        if not isinstance(X, RowsWithCosts):
            return Prediction(by_loss, None, X)
        probabilities = (
            self.action_space.prior_probabilities(X.shape[0]) if learner is None else self._probabilities(learner, rows)
        )
        return Prediction(by_loss, self._chosen(probabilities, X), X)

    def _chosen(self, probabilities: NDArray, X: RowsWithCosts) -> NDArray:
        """Return the actions of least expected cost."""
        n, action_space = X.shape[0], self.action_space
        parts = [
            action_space.least_cost_actions(probabilities[part], action_space.table(X[part])) for part in action_space.parts(n)
        ]
        return np.concatenate(parts)

    def _score_progressively(self, predicted: Any, y: Any) -> None:
        super()._score_progressively(predicted, y)
        if predicted.by_costs is not None:
            count_costs(self.result, BEFORE, self.action_space, predicted.by_costs, predicted.X, y)

    def _score(self, predicted: Any, y: Any) -> None:
        if predicted.by_costs is None:
            super()._score(predicted, y)
        else:
            count_held_out(self.result, self.action_space, predicted.by_costs, predicted.X, y)

    def _losses(self, predicted: Any, y: Any) -> NDArray:
        return self.inner._losses(predicted.by_loss, y)

    def _scores(self, predicted: Any, y: Any) -> NDArray:
        return self.inner._scores(predicted.by_loss, y)


class OrdinalLeastCostBaseline(LeastCostBaseline):
    """Minimum expected cost of ranks by averaged logistic regression."""

    kind = OrdinalPerceptronBaseline


class MultilabelLeastCostBaseline(LeastCostBaseline):
    """Minimum expected cost of label sets by averaged logistic regression."""

    name = "SGDClassifier per label"
    kind = MultilabelPerceptronBaseline

    def _of(self, logistic: Any) -> Any:
        return MultiOutputClassifier(logistic)

    def _probabilities(self, estimator: Any, X: Any) -> NDArray:
        return np.column_stack([single.predict_proba(X)[:, 1] for single in estimator.estimators_])
