"""Savings relative to the best constant prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_predtron._support.encoding import encode, is_missing_label
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.row_costs import costs_by_row, pairs_of
from sklearn_predtron.losses import costs_of, table_loss
from sklearn_predtron.metrics._rows import read_labels, read_weight


def savings_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    costs: Any,
    *,
    labels: ArrayLike | None = None,
    reject_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute 1 - realised cost / best constant cost.

    A model without savings is no better than a constant prediction (Bahnsen et al. 2014), such as never fraud.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_pred : array-like of shape (n_samples,)
        Predictions.
    costs : array-like of shape (n_samples, k, m) or (n_samples, m), data frame, dict, array-like of shape (k, k) or CostTableLoss
        Costs of the predictions in each row: an array, in the order of `labels`, with a last column for `reject_label`; a data
        frame whose columns are pairs (true, predicted); or {(true, predicted): a number or an array of shape (n_samples,)}.
        Missing pairs cost 0 if they are right, otherwise 1.  An array of shape (n_samples, m) has what each prediction costs
        given the true label of the row.  A matrix, or a loss of the classifiers, is for all rows.
    labels : array-like of shape (k,), default=None
        The labels, each once; None is those that occur, in their order.
    reject_label : label, default=None
        The prediction of abstained rows; None means that there are none.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in the sums.

    Returns
    -------
    float
        At most 1, which means no cost; 0 is as good as the best constant prediction, and less is worse.  If the best constant
        prediction costs nothing: 1 for no cost, otherwise minus infinity.

    Raises
    ------
    ValueError
        If the costs are not as above (the message names the pair, the row and the shape), or a label is not known.

    See Also
    --------
    cost_scorer : Makes a scorer of the mean cost.

    Examples
    --------
    A missed fraud costs its amount, and each alarm costs 3:

    >>> from sklearn_predtron.metrics import savings_score
    >>> amount = [100.0, 20.0, 5.0, 80.0]
    >>> costs = {(1, 0): amount, (0, 1): 3.0, (1, 1): 3.0}
    >>> round(savings_score([0, 1, 1, 0], [1, 1, 0, 0], costs), 3)  # paid 3 + 3 + 5; always an alarm: 12
    0.083
    """
    y, predicted = read_labels(y_true, "y_true"), read_labels(y_pred, "y_pred")
    if len(y) != len(predicted):
        raise ValueError(f"y_pred has {len(predicted)} entries, and y_true {len(y)}; both must have the same number.")
    if len(y) == 0:
        raise ValueError("y_true has no rows; at least one is needed.")
    weight = read_weight(sample_weight, y)
    weight = weight / weight.max()  # so that no sum overflows
    missing = reject_label is not None and is_missing_label(reject_label)
    if np.ndim(reject_label) > 0 or missing or (reject_label is not None and reject_label in y.tolist()):
        raise ValueError(f"reject_label={shortened(reject_label)} must be one label that is none of y_true, or None.")
    if labels is None and reject_label is None:
        check_known_predictions(y, predicted, costs)
    rejected = np.zeros(len(y), dtype=bool) if reject_label is None else predicted == reject_label
    known = np.unique(np.concatenate([y, predicted[~rejected]])) if labels is None else read_labels(labels, "labels")
    if len(np.unique(known)) < len(known):
        raise ValueError(f"labels={shortened(labels)} must hold each label once.")
    answers = known.tolist() + ([] if reject_label is None else [reject_label])
    if len(known) == 0:
        raise ValueError(f"labels={shortened(labels)} must hold at least one label.")
    codes = np.full(len(y), len(known))
    codes[~rejected] = encode(predicted[~rejected], known, "y_pred")
    rows, true = np.arange(len(y)), encode(y, known, "y_true")
    table = read_costs(costs, known, answers, true)
    paid = weight @ table[rows, true, codes]
    constant = (weight @ table[rows, true]).min()
    if constant == 0:
        return 1.0 if paid == 0 else -np.inf
    return float(1 - paid / constant)


def check_known_predictions(y: Any, predicted: Any, costs: Any) -> None:
    """Raise ValueError for predictions without a given cost; they could be abstentions."""
    pairs = pairs_of(costs)
    if pairs is None:
        return
    named = {label for pair, _ in pairs for label in pair}
    strange = sorted(set(predicted.tolist()) - set(y.tolist()) - named, key=str)
    if strange:
        raise ValueError(
            f"y_pred holds {shortened(strange[0])}, which is no label of y_true and of no pair of costs; if it is a rejection, "
            "give reject_label= and pairs with what it costs, and if it is a label, labels=."
        )


def read_costs(costs: Any, labels: Any, answers: list[Any], true: NDArray) -> Any:
    """Return the costs of the answers in each row, of shape (n, k, m), given the numbers of the true labels."""
    k, m, n = len(labels), len(answers), len(true)
    otherwise = np.ones((k, m)) - np.eye(k, m)
    of_all = isinstance(costs, str) or hasattr(costs, "table") or (np.ndim(costs) == 2 and (n == k or np.shape(costs) != (n, m)))
    if pairs_of(costs) is None and of_all:
        if m > k:
            raise ValueError("costs of all rows do not say what a rejection costs; accepted are costs by row or by pair.")
        table = costs_of(table_loss(costs), labels)
        return np.broadcast_to(otherwise if table is None else table, (n, k, m))
    return costs_by_row(costs, labels, answers, otherwise, n, true)
