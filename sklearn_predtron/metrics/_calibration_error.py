"""Calibration error of the probabilities of each class."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from sklearn_predtron._support.encoding import encode
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.metrics._rows import read_labels, read_reals, read_weight


def classwise_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    n_bins: int = 15,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Compute the mean calibration error over the classes.

    Decisions by expected cost use the probabilities of all classes, so each of them has to be calibrated.  Lower is better.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        True labels, or indicators of label sets.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_labels)
        Probabilities of each class or label, as from `predict_proba`.  Of shape (n_samples,): those of the second class.
    labels : array-like of shape (n_labels,), default=None
        The class of each column of `y_prob`, as in `classes_`; None: the labels of `y_true`, sorted.  For indicators None.
    n_bins : int, default=15
        Number of bins of equal width between 0 and 1.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in shares and means.

    Returns
    -------
    float
        From 0 to 1.  Of few rows it is too large, because the frequency in a bin is random.

    Raises
    ------
    ValueError
        If `y_prob` holds other values than probabilities, a label of `y_true` has no column, `n_bins` is less than 1, or all
        weights are zero.

    See Also
    --------
    sklearn.calibration.CalibrationDisplay : Draws frequencies against probabilities, of two classes.
    sklearn.metrics.log_loss : A proper loss, which measures the resolution of the probabilities as well.

    Notes
    -----
    With the rows :math:`B_{jm}` whose probability of class j is in bin m, the error is (Kull et al. 2019, *Beyond temperature
    scaling*)

    .. math:: \frac{1}{k} \sum_{j=1}^k \sum_m \frac{|B_{jm}|}{n} \left| \bar y_j(B_{jm}) - \bar p_j(B_{jm}) \right|

    where :math:`\bar y_j` is the frequency of class j and :math:`\bar p_j` the mean of its probabilities.  A probability on an
    edge is in the lower bin.

    Examples
    --------
    >>> from sklearn_predtron.metrics import classwise_calibration_error
    >>> round(classwise_calibration_error(["a", "b", "b", "b"], [[0.5, 0.5], [0.5, 0.5], [0.1, 0.9], [0.1, 0.9]]), 3)
    0.05
    """
    if not isinstance(n_bins, Integral) or isinstance(n_bins, bool) or n_bins < 1:
        raise ValueError(f"n_bins={shortened(n_bins)} must be an int of at least 1.")
    p = read_reals(y_prob, "y_prob")
    if (p < 0).any() or (p > 1).any():
        raise ValueError(f"y_prob={shortened(y_prob)} must hold probabilities, from 0 to 1.")
    if p.ndim == 1 and np.ndim(y_true) == 1:
        p = np.column_stack([1 - p, p])
    weight = read_weight(sample_weight, p)
    excess = weight[:, None] * (events(y_true, p.shape, labels) - p)
    bins = np.searchsorted(np.linspace(0, 1, int(n_bins) + 1)[1:-1], p) + n_bins * np.arange(p.shape[1])
    sums = np.bincount(bins.ravel(), excess.ravel())
    return float(np.abs(sums).sum() / weight.sum() / p.shape[1])


def events(y_true: ArrayLike, shape: tuple[int, ...], labels: ArrayLike | None) -> NDArray:
    """Return whether each class or label is that of each row."""
    if np.ndim(y_true) == 2:
        sets = check_array(y_true, dtype=None, input_name="y_true")
        if labels is not None:
            raise ValueError(f"labels={shortened(labels)} must be None if y_true holds indicators.")
        if sets.shape != shape or not np.isin(sets, (0, 1)).all():
            raise ValueError(
                f"y_true={shortened(y_true)} of shape {sets.shape} must hold 0 and 1 alone, one for each of the probabilities of "
                f"shape {shape}."
            )
        return sets.astype(np.float64)
    true = read_labels(y_true, "y_true")
    known = np.unique(true) if labels is None else read_labels(labels, "labels")
    if len(true) != shape[0]:
        raise ValueError(f"y_prob has {shape[0]} rows, and y_true {len(true)}; both must have the same number.")
    if len(known) != shape[1]:
        raise ValueError(
            f"y_prob has {shape[1]} columns for {len(known)} labels; pass labels=, the class of each column, as classes_."
        )
    return (encode(true, known, "y_true")[:, None] == np.arange(shape[1])).astype(np.float64)
