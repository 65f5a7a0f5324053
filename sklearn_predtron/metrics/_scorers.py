"""Scorers of costs, abstentions and label sets for ``scoring=``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.base import is_classifier
from sklearn.metrics import make_scorer
from sklearn.utils.validation import _num_samples, check_is_fitted, column_or_1d

from sklearn_predtron._support import types
from sklearn_predtron._support.compat import Scorer
from sklearn_predtron._support.declared_order import declared_order
from sklearn_predtron._support.encoding import encode
from sklearn_predtron._support.numbers import as_numbers
from sklearn_predtron._support.pipelines import final
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.row_costs import are_of_predictions, classes_of_least_cost, costs_of_answers
from sklearn_predtron._support.warning import warn
from sklearn_predtron.losses import Absolute, AtK, CostTableLoss, Squared, SubsetLoss, ZeroOne, costs_of, subset_loss, table_loss
from sklearn_predtron.losses._row_costs import check_not_revealing
from sklearn_predtron.metrics._means import mean_loss


class CostScorer(Scorer):
    """A scorer that takes the cost labels from the estimator."""

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any) -> float:
        costs = self._kwargs["costs"]
        if "labels" not in self._kwargs and getattr(costs, "labels", None) is None:
            labels = known_labels(estimator)
            if isinstance(costs, (Absolute, Squared)):
                labels = ranked(labels, y_true, estimator)
            kwargs["labels"] = with_others(labels, column_or_1d(y_true)) if isinstance(costs, ZeroOne) else labels
        return super()._score(method_caller, estimator, X, y_true, **kwargs)


class RowCostScorer(Scorer):
    """A scorer of predictions by the costs of each row."""

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any) -> float:
        costs, weight = kwargs.get("costs"), kwargs.get("sample_weight")
        if costs is None:
            raise ValueError(
                "costs=None: this scorer needs the costs of the rows that it scores, as its argument `costs`.  Searches and "
                "cross-validation pass them after sklearn.set_config(enable_metadata_routing=True), if they are given "
                "params={'costs': ...} (a search: fit(X, y, costs=...)), a data frame whose columns are pairs (true, predicted)."
            )
        check_is_fitted(final(estimator))
        model, n = final(estimator), _num_samples(y_true)
        if are_of_predictions(costs):
            classes = known_labels(estimator)
            codes, predicted = encode(column_or_1d(y_true), classes), estimator.predict(X)
            named = getattr(model, "_named", None)
            answers = encode(predicted, classes if named is None else named(classes), "predictions")
            return -mean_loss(costs_of_answers(model, costs, classes, n, codes)[np.arange(n), codes, answers], weight)
        if not (is_classifier(estimator) and hasattr(estimator, "predict_proba")):
            raise ValueError(
                f"estimator={shortened(estimator)}: costs of rows are weighed by predict_proba; accepted are classifiers that "
                "have it."
            )
        classes = known_labels(estimator)
        probabilities = np.asarray(estimator.predict_proba(X))  # the caller would give one column of two classes
        if probabilities.shape != (_num_samples(y_true), len(classes)):
            raise ValueError(
                f"y has {_num_samples(y_true)} rows and predict_proba shape {probabilities.shape}; accepted are as many rows, "
                f"and a column for each of classes_, {classes.tolist()}: labels of sets have no costs of this kind."
            )
        table = costs_of_answers(model, costs, classes, n)
        codes = encode(column_or_1d(y_true), classes)
        check_not_revealing(table, codes)
        capacity = getattr(model, "_capacity", lambda: None)()
        answers = classes_of_least_cost(probabilities, table, capacity)
        return -mean_loss(table[np.arange(len(codes)), codes, answers], weight)


def known_labels(estimator: Any) -> NDArray:
    """Return the classes of an estimator."""
    labels = getattr(estimator, "classes_", None)
    if labels is None:
        raise ValueError(f"labels=None stands for classes_, which {type(estimator).__name__} does not have; pass the labels.")
    return labels


def ranked(labels: NDArray, y: Any, estimator: Any) -> NDArray:
    """Return labels in the estimator's or declared order, else sorted; sorted text raises a warning."""
    if hasattr(final(estimator), "categories"):
        return labels
    declared = declared_order(y)
    if declared is not None and np.isin(labels, declared).all():
        return declared
    if len(labels) > 2 and labels.dtype.kind in "OUST" and (labels[:-1] < labels[1:]).all():
        warn(
            f"labels=None: ranks are numbered in the alphabetical order of classes_, {labels.tolist()}; "
            "pass labels in rank order."
        )
    return labels


def with_others(labels: NDArray, y: NDArray) -> NDArray:
    """Return the labels, then those that only y has; under the 0-1 loss every wrong label has the same cost."""
    others = np.setdiff1d(y, labels)
    return np.concatenate([labels, others]) if len(others) else labels


def mean_cost(
    y_true: Any,
    y_pred: Any,
    /,
    *,
    costs: CostTableLoss,
    reject_cost: Any,
    labels: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average the costs of predictions and abstentions."""
    y, predicted = column_or_1d(y_true), np.asarray(y_pred)
    labels = getattr(costs, "labels", None) if labels is None else labels
    labels = np.unique(y if reject_cost is not None else np.concatenate([y, predicted])) if labels is None else np.asarray(labels)
    rejected = ~np.isin(predicted, labels)
    if rejected.any() and reject_cost is None:
        raise ValueError(
            f"The prediction {predicted[rejected][0]!r} is none of the labels {labels.tolist()}; "
            "pass reject_cost if it is a reject."
        )
    table = costs_of(costs, labels)
    table = 1.0 - np.eye(len(labels)) if table is None else table
    codes, cost = encode(y, labels), np.empty(len(y))
    cost[~rejected] = table[codes[~rejected], encode(predicted[~rejected], labels, "predictions")]
    if rejected.any():
        cost[rejected] = of_labels(reject_cost, len(labels))[codes[rejected]]
    return mean_loss(cost, sample_weight)


def of_labels(reject_cost: Any, k: int) -> NDArray:
    """Return the abstention cost for each of k labels."""
    if np.shape(reject_cost) not in ((), (k,)):
        raise ValueError(f"reject_cost={reject_cost!r} must be a number, or one for each of the {k} labels.")
    return np.broadcast_to(reject_cost, (k,))


def requesting(kind: type, scorer: Any, **requests: bool | str) -> Any:
    """Return a scorer that requests some metadata."""
    scorer = kind(scorer._score_func, scorer._sign, scorer._kwargs, scorer._response_method)
    with config_context(enable_metadata_routing=True):  # requests can be set with routing on only, and hold later
        return scorer.set_score_request(**requests)


def cost_scorer(
    costs: types.TableLossName | types.Costs | CostTableLoss | None = None,
    *,
    labels: ArrayLike | None = None,
    reject_cost: Any = None,
) -> Callable[..., float]:
    """Make a scorer of the mean cost, with reversed sign.

    `score` of a classifier is always its accuracy; this scorer compares estimators, thresholds and parameters by the cost of
    their errors.

    Parameters
    ----------
    costs : array-like of shape (k, k), dict, "zero_one", "absolute", "squared" or CostTableLoss, default=None
        L(sigma, y), as the parameter `loss` of the classifiers: a matrix has a row for each true label and a column for each
        prediction, a dict is {(true, predicted): cost}.  With None, costs come with the scored rows as the argument `costs` of
        the scorer: an array of shape (n_samples, k, k) or a data frame whose columns are pairs (true, predicted); missing pairs
        cost 0 if they are right, otherwise 1.  The scored predictions are then those of lowest expected cost under
        `predict_proba`, of any classifier.  Or an array of shape (n_samples, m), what each prediction costs given the true label
        of the row; the scored predictions are then those of `predict`.
    labels : array-like of shape (k,), default=None
        The labels in the order of the matrix, or of the ranks.  None takes those that ``CostMatrix(costs, labels=...)``
        declares, or else `classes_` of the estimator, which may lack a label in a fold.  Ranks of an estimator that is not
        ordinal are in the order that y declares, as an ordered Categorical does; alphabetical order gives a warning.
    reject_cost : float or array-like of shape (k,), default=None
        Cost of a row whose prediction is none of the labels, one or by true label; None raises ValueError for such rows.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None)``: minus the (weighted) mean cost, at most 0.  With metadata routing on it
        requests `sample_weight`, and also `costs` if they come with the rows.

    Raises
    ------
    ValueError
        If the costs or `reject_cost` are not as above; when it scores, if y or a prediction holds an unknown label.

    See Also
    --------
    reject_scorer : Mistakes cost 1 and abstentions less.

    savings_score : The share of the best constant prediction's cost that is saved.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.metrics import cost_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> missed = {(0, 1): 10}  # to miss a tumour (0) costs as much as ten false alarms
    >>> search = GridSearchCV(
    ...     PredtronBinaryClassifier(random_state=0), {"loss": ["zero_one", missed]}, scoring=cost_scorer(missed)
    ... )
    >>> search.fit(X, y).best_params_
    {'loss': {(0, 1): 10}}
    >>> search.cv_results_["mean_test_score"].round(2)
    array([-0.2 , -0.13])
    """
    if costs is None:
        if labels is not None or reject_cost is not None:
            raise ValueError("labels and reject_cost go with costs of all rows; accepted beside costs=None is None.")
        return requesting(RowCostScorer, make_scorer(mean_cost, greater_is_better=False), sample_weight=True, costs=True)
    given: Any = costs
    if hasattr(given, "columns") or np.ndim(given) == 3 or (isinstance(given, Mapping) and any(map(np.ndim, given.values()))):
        raise ValueError(
            f"costs={shortened(costs)} are of rows; accepted here are a matrix, a dict of numbers and a loss, and costs of "
            "rows go to the scorer that cost_scorer() makes, as its argument `costs`."
        )
    how: dict[str, Any] = {} if labels is None else {"labels": labels}
    how |= {"costs": table_loss(costs), "reject_cost": checked_reject_cost(reject_cost)}
    return requesting(CostScorer, make_scorer(mean_cost, greater_is_better=False, **how), sample_weight=True)


def reject_scorer(cost: Any) -> Callable[..., float]:
    """Make a scorer of classifiers that can abstain.

    A mistake costs 1, an abstention `cost`.

    Parameters
    ----------
    cost : float or array-like of shape (k,)
        Cost of an abstained row: one number, or one for each true class in the order of `classes_`.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None)``: minus the (weighted) mean cost, at most 0.  A prediction that is not in
        `classes_` is an abstention.

    Raises
    ------
    ValueError
        If `cost` is not a number, or numbers, of at least 0.

    See Also
    --------
    cost_scorer : Mistakes with different costs, too.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.losses import Reject
    >>> from sklearn_predtron.metrics import reject_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> plain = PredtronBinaryClassifier(random_state=0)
    >>> triage = PredtronBinaryClassifier(reject=Reject(cost=0.1, label=-1), random_state=0)
    >>> [float(cross_val_score(model, X, y, scoring=reject_scorer(0.1)).mean().round(3)) for model in (plain, triage)]
    [-0.023, -0.016]
    """
    if cost is None:
        raise ValueError("cost=None must be a number of at least 0, or one for each class.")
    return cost_scorer("zero_one", reject_cost=cost)


def checked_reject_cost(cost: Any) -> NDArray | None:
    """Return the cost of abstention, by label if given so."""
    if cost is None:
        return None
    accepted = "a number of at least 0, or one for each label"
    costs = as_numbers(cost, "reject_cost", accepted)
    if costs.ndim > 1 or not (np.isfinite(costs) & (costs >= 0)).all():
        raise ValueError(f"reject_cost={cost!r} must be {accepted}.")
    return costs


def subset_scorer(loss: types.SetLossName | types.OfCounts | SubsetLoss) -> Callable[..., float]:
    """Make a scorer of label sets by a loss.

    For ``"f1"`` it is the mean F1 of the rows, for ``"jaccard"`` their mean Jaccard index, for ``"subset_zero_one"`` the share
    of sets that are predicted without a mistake.

    Parameters
    ----------
    loss : str, callable or SubsetLoss
        As the parameter `loss` of `PredtronMultilabelClassifier`: a name, a function of the true positives, false positives,
        false negatives and true negatives of rows, or an instance such as ``FBeta(beta=2)``.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None)``: at most 1, which is perfect.  With metadata routing on it requests
        `sample_weight`.

    Raises
    ------
    ValueError
        If the loss is unknown; when it scores, if y or the predictions are no indicators.

    See Also
    --------
    cost_scorer : Scores classes by the cost of mistakes.
    sklearn_predtron.losses.SubsetLoss : Base of the losses of sets.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn_predtron import PredtronMultilabelClassifier
    >>> from sklearn_predtron.losses import FBeta
    >>> from sklearn_predtron.metrics import subset_scorer
    >>> X, y = make_multilabel_classification(n_samples=1000, random_state=0)
    >>> tagger, recall = PredtronMultilabelClassifier(random_state=0), FBeta(beta=2)  # which counts recall four times
    >>> search = GridSearchCV(tagger, {"loss": ["hamming", recall]}, scoring=subset_scorer(recall)).fit(X, y)
    >>> search.best_params_, search.cv_results_["mean_test_score"].round(2)
    ({'loss': FBeta(beta=2)}, array([0.67, 0.72]))
    """
    return requesting(Scorer, make_scorer(mean_of_sets, loss=subset_loss(loss)), sample_weight=True)


def mean_of_sets(y_true: Any, y_pred: Any, /, *, loss: SubsetLoss, sample_weight: ArrayLike | None = None) -> float:
    """Average 1 - loss over the rows."""
    true, predicted = indicators(y_true, "y"), indicators(y_pred, "predictions")
    if true.shape != predicted.shape:
        raise ValueError(f"y has shape {true.shape} and the predictions have shape {predicted.shape}; both must be the same.")
    a, n_predicted, n_true = (rows.sum(axis=1) for rows in (predicted & true, predicted, true))
    if isinstance(loss, AtK):
        check_set_sizes(loss, n_predicted, true.shape[1])
    losses = loss.evaluate(a, n_predicted - a, n_true - a, true.shape[1] - n_predicted - n_true + a)
    return 1 - mean_loss(losses, sample_weight)


def check_set_sizes(loss: AtK, n_predicted: NDArray, m: int) -> None:
    """Raise ValueError for set sizes outside the loss's domain."""
    least, most = loss.sizes(m)
    if (n_predicted < least).any() or (n_predicted > most).any():
        rule = loss.rule.replace("_", " ")
        raise ValueError(f"{loss} is a loss of predictions of {rule} {loss.size(m)} labels, and there is one of another number.")


def indicators(y: Any, name: str) -> NDArray:
    """Return zeros and ones of shape (n_samples, n_labels) as booleans."""
    dense = np.asarray(y.toarray() if sparse.issparse(y) else y)
    dense = dense[:, None] if dense.ndim == 1 else dense
    if dense.ndim == 2 and dense.dtype.kind in "buifcO":
        on = np.asarray(dense == 1, dtype=bool)
        if np.array_equal(on, dense):
            return on
    raise ValueError(f"{name}={shortened(y)} must hold zeros and ones, an indicator for each label.")
