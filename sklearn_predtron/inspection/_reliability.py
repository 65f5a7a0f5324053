"""Predicted probabilities against observed frequencies."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.utils.validation import check_array

from sklearn_predtron._support.encoding import encode
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.inspection._display import Display, check_matplotlib, last_step
from sklearn_predtron.metrics._rows import read_weight

SURE = norm.ppf(0.975)


class ReliabilityDisplay(Display):
    """The reliability diagram: observed against predicted probabilities.

    The probabilities of all classes, or labels, are drawn together, in bins of equal counts.  Of two classes only those of the
    second are drawn, as in scikit-learn's `CalibrationDisplay`, which has no other case.

    Parameters
    ----------
    predicted : ndarray of shape (n_bins,)
        The mean probability of each bin.
    observed : ndarray of shape (n_bins,)
        The observed frequency in each bin.
    interval : ndarray of shape (2, n_bins)
        The ends of 95 % confidence intervals for it (Wilson 1927), as if each probability were of a different row.
    name : str, default=None
        Name of the curve in the legend.

    Attributes
    ----------
    line_ : matplotlib Artist
        The curve.
    bars_ : matplotlib Artist
        The intervals.
    diagonal_ : matplotlib Artist
        The line of perfect calibration.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    CostDisplay : The cost of decisions by probabilities.
    sklearn_predtron.metrics.classwise_calibration_error : A single number.
    sklearn.calibration.CalibrationDisplay : Of two classes.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.inspection import ReliabilityDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = PredtronClassifier(random_state=0).fit(X[:900], y[:900])
    >>> display = ReliabilityDisplay.from_estimator(model, X[900:], y[900:], n_bins=20)
    >>> display.predicted[-4:].round(2), display.observed[-4:].round(2)
    (array([0.  , 0.09, 0.91, 1.  ]), array([0.02, 0.08, 0.88, 1.  ]))
    >>> plt.show()
    """

    def __init__(self, *, predicted: NDArray, observed: NDArray, interval: NDArray, name: str | None = None):
        self.predicted = predicted
        self.observed = observed
        self.interval = interval
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_bins: int = 10,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> ReliabilityDisplay:
        """Draw how reliable the probabilities of a classifier are.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier with `predict_proba`, of classes or of sets of labels, or a pipeline whose last step is one.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Unseen inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            True labels, of `classes_`, or indicators.
        n_bins : int, default=10
            Bins at most.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        name : str, default=None
            Name of the curve in the legend; None is the estimator's class.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        ReliabilityDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        model, X = last_step(estimator, X)
        if not hasattr(model, "predict_proba"):
            raise ValueError(f"estimator={shortened(model)} has no predict_proba; accepted are fitted classifiers that have.")
        p = model.predict_proba(X)
        if np.ndim(y) == 2:
            true = check_array(y, input_name="y")
            if np.allclose(p.sum(axis=1), 1) and not (true.sum(axis=1) == 1).all():
                raise ValueError(
                    f"y has shape {true.shape}, and the probabilities are of one class for each row; accepted is y of shape "
                    f"({len(true)},), of labels."
                )
        else:
            codes = encode(np.asarray(y), model.classes_)
            true = codes[:, None] == np.arange(p.shape[1])
            if p.shape[1] == 2:
                true, p = true[:, 1], p[:, 1]
        name = type(model).__name__ if name is None else name
        return cls.from_predictions(true, p, n_bins=n_bins, sample_weight=sample_weight, name=name, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        n_bins: int = 10,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> ReliabilityDisplay:
        """Draw how reliable any probabilities are.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_samples, m)
            Whether the event occurred: 0 and 1, or False and True.
        y_prob : array-like of shape (n_samples,) or (n_samples, m)
            The probabilities, from 0 to 1.
        n_bins : int, default=10
            Bins at most, of about as many probabilities each; equal ones are in one bin.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        name : str, default=None
            Name of the curve in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        ReliabilityDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_predictions")
        if not isinstance(n_bins, Integral) or isinstance(n_bins, bool) or n_bins < 1:
            raise ValueError(f"n_bins={shortened(n_bins)} must be an int of at least 1.")
        p = check_array(y_prob, ensure_2d=False, dtype=np.float64, input_name="y_prob")
        true = check_array(y_true, ensure_2d=False, dtype=None, input_name="y_true")
        if true.shape != p.shape:
            raise ValueError(f"y_true has shape {true.shape} and y_prob {p.shape}; both must be the same.")
        if not np.isin(true, (0, 1)).all():
            raise ValueError(f"y_true={shortened(y_true)} must hold 0 and 1 alone, or False and True.")
        if (p < 0).any() or (p > 1).any():
            raise ValueError(f"y_prob={shortened(y_prob)} must hold probabilities, from 0 to 1.")
        weight = np.repeat(read_weight(sample_weight, p), p.size // len(p))
        found = binned(p.ravel(), true.ravel().astype(np.float64), weight, int(n_bins))
        return cls(predicted=found[0], observed=found[1], interval=found[2], name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> ReliabilityDisplay:
        """Draw the curve, its intervals, and the diagonal.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            Name of the curve in the legend; None is `name` of the display.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        ReliabilityDisplay
            This object.
        """
        name = self._open(ax, name)
        (self.diagonal_,) = self.ax_.plot([0, 1], [0, 1], ":", color=self._ink(), label="as predicted")
        (self.line_,) = self.ax_.plot(self.predicted, self.observed, **{"marker": "o", "label": name, **kwargs})
        self.bars_ = self.ax_.vlines(self.predicted, *self.interval, color=self.line_.get_color(), linewidth=1)
        self._finish("mean probability", "share of what was so")
        return self


def binned(p: NDArray, true: NDArray, weight: NDArray, n_bins: int) -> tuple[NDArray, NDArray, NDArray]:
    """Return bins of equal weight: means, frequencies and intervals."""
    order = np.argsort(p, kind="stable")
    order = order[weight[order] > 0]
    p, true, weight = p[order], true[order], weight[order]
    reached = np.cumsum(weight) / weight.sum()
    place = np.minimum((n_bins * (reached - weight / weight.sum() / 2)).astype(np.intp), n_bins - 1)
    place = place[np.searchsorted(p, p, side="left")]  # equal ones go with the first of them
    total, counts = np.bincount(place, weight, n_bins), np.bincount(place, minlength=n_bins)
    there = counts > 0
    means = [np.bincount(place, weight * values, n_bins)[there] / total[there] for values in (p, true)]
    n, q = counts[there], means[1]
    centre = (q + SURE**2 / (2 * n)) / (1 + SURE**2 / n)
    half = SURE / (1 + SURE**2 / n) * np.sqrt(q * (1 - q) / n + (SURE / (2 * n)) ** 2)
    return means[0], q, np.array([centre - half, centre + half])
