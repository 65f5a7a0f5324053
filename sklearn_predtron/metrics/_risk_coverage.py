"""Area under the risk-coverage curve."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_predtron.metrics._rows import check_rows, losses_of_rows, read_labels, read_reals, read_weight


def risk_coverage_auc(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    confidence: ArrayLike,
    *,
    loss: Callable | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Compute the area under the risk-coverage curve.

    It measures, for all thresholds together, how well a confidence tells right predictions from wrong ones.  Other names are
    AUARC and AURC.  Lower is better.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_pred : array-like of shape (n_samples,)
        Predictions, without abstentions.
    confidence : array-like of shape (n_samples,)
        A margin or a probability; the rows of least confidence are abstained on first.
    loss : callable, default=None
        ``loss(y_true, y_pred)`` gives the loss of each row, of shape (n_samples,); None is 0-1.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in shares and means.

    Returns
    -------
    float
        The area, in the unit of the loss.  A confidence that is equal for all rows gives the mean loss.

    Raises
    ------
    ValueError
        If the arrays have different lengths, a value is not finite, or all weights are zero.

    See Also
    --------
    sklearn_predtron.inspection.RiskCoverageDisplay : Draws the curve.
    reject_scorer : Makes a scorer of the cost of mistakes and of abstentions, at the rule of the estimator.

    Notes
    -----
    The risk of row i is the mean loss of the rows that are at least as confident as it.  The area is the mean of these risks
    over the rows (Geifman, Uziel and El-Yaniv 2019, *Bias-Reduced Uncertainty Estimation for Deep Neural Classifiers*):

    .. math:: \frac{1}{n} \sum_{i=1}^n \frac{\sum_j \ell_j [c_j \ge c_i]}{\sum_j [c_j \ge c_i]}

    With weights, each sum is weighted.  Rows of equal confidence are accepted together.

    Examples
    --------
    The only mistake has the least confidence in the first case, and the most in the second:

    >>> from sklearn_predtron.metrics import risk_coverage_auc
    >>> risk_coverage_auc([0, 1, 1, 0], [0, 1, 1, 1], [0.9, 0.8, 0.7, 0.6])
    0.0625
    >>> round(risk_coverage_auc([0, 1, 1, 0], [0, 1, 1, 1], [0.6, 0.7, 0.8, 0.9]), 4)
    0.5208
    """
    true, predicted = read_labels(y_true, "y_true"), read_labels(y_pred, "y_pred")
    check_rows("y_pred", predicted, len(true))
    sure = read_reals(confidence, "confidence")
    check_rows("confidence", sure, len(true))
    losses = losses_of_rows(loss, true, predicted)
    coverage, risk = risk_at_coverages(losses, sure, read_weight(sample_weight, losses))
    return float(np.diff(coverage, prepend=0.0) @ risk)


def risk_at_coverages(losses: NDArray, margins: NDArray, weight: NDArray) -> tuple[NDArray, NDArray]:
    """Return coverage and risk for each distinct threshold."""
    order = np.argsort(-margins, kind="stable")
    order = order[weight[order] > 0]
    last = np.append(np.flatnonzero(np.diff(margins[order])), len(order) - 1)  # of the rows of equal margins
    accepted, lost = np.cumsum(weight[order])[last], np.cumsum((weight * losses)[order])[last]
    return accepted / accepted[-1], lost / accepted
