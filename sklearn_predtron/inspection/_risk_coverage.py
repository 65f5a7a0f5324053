"""Risk of the accepted rows against coverage."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, column_or_1d

from sklearn_predtron._support.encoding import encode
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.decisions._expected_cost import LeastCost
from sklearn_predtron.families._cost_classifier import TableClassifier
from sklearn_predtron.inspection._display import Display, check_matplotlib, check_share, last_step
from sklearn_predtron.inspection._drawn import mean
from sklearn_predtron.metrics._risk_coverage import risk_at_coverages
from sklearn_predtron.metrics._rows import check_rows, losses_of_rows, read_weight

EDGE = 0.02  # of the visible range, to its left and right


class RiskCoverageDisplay(Display):
    """The mean loss of the accepted rows against coverage.

    Rows of small margin are abstained on first.

    Parameters
    ----------
    coverage : ndarray of shape (n_thresholds,)
        The share of rows whose margin is at least the threshold, rising.
    risk : ndarray of shape (n_thresholds,)
        Their mean loss.
    operating_point : tuple of (float, float), default=None
        Coverage and risk of the classifier's own rule; None draws none.
    reject_cost : float, default=None
        The cost of an abstained row, in the unit of the risk; None draws no line.
    name : str, default=None
        Name of the curve in the legend.

    Attributes
    ----------
    line_ : matplotlib Artist
        The curve.
    point_ : matplotlib Artist or None
        The operating point.
    cost_line_ : matplotlib Artist or None
        The horizontal line at the cost of an abstention: a risk above it exceeds the cost of abstaining on all rows.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    MarginDisplay : The distribution of the margins.
    sklearn_predtron.losses.Reject : The reject option.
    sklearn_predtron.metrics.risk_coverage_auc : The area under the curve.
    sklearn_predtron.metrics.reject_scorer : Scores by the cost of mistakes and of abstentions.

    Notes
    -----
    El-Yaniv and Wiener, *On the Foundations of Noise-free Selective Classification* (2010).  Rows of equal margins are
    accepted together.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.inspection import RiskCoverageDisplay
    >>> from sklearn_predtron.losses import Reject
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    >>> triage = PredtronBinaryClassifier(reject=Reject(cost=0.1, label=-1), random_state=0).fit(X, y)
    >>> display = RiskCoverageDisplay.from_estimator(triage, X_test, y_test)
    >>> [round(value, 3) for value in display.operating_point], round(float(display.risk[-1]), 3), display.reject_cost
    ([0.881, 0.008], 0.028, 0.1)
    >>> plt.show()
    """

    def __init__(
        self,
        *,
        coverage: NDArray,
        risk: NDArray,
        operating_point: tuple[float, float] | None = None,
        reject_cost: float | None = None,
        name: str | None = None,
    ):
        self.coverage = coverage
        self.risk = risk
        self.operating_point = operating_point
        self.reject_cost = reject_cost
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        min_coverage: float = 0.1,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> RiskCoverageDisplay:
        """Sweep the threshold on the confidence of a classifier.

        It is the margin, the difference of the two best decoded scores; under a decision of lowest expected cost it falls with
        that cost.

        Parameters
        ----------
        estimator : PredtronBinaryClassifier, PredtronClassifier or PredtronOrdinalClassifier
            A fitted classifier, or a pipeline whose last step is one.  With `reject` its operating point is marked: it is on
            the curve if all classes have the same threshold on the confidence.  The cost of abstaining is a line, the mean over
            the rows if each class has its own cost.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in shares and means.
        min_coverage : float, default=0.1
            The coverage from which on the curve is shown, because means over few rows are unreliable.  An operating point
            further to the left is always shown.
        name : str, default=None
            Name of the curve in the legend; None is the estimator's class.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        RiskCoverageDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        model, X = last_step(estimator, X)
        if not isinstance(model, TableClassifier):
            raise ValueError(
                f"estimator={shortened(model)} cannot reject; accepted are PredtronBinaryClassifier, PredtronClassifier and "
                "PredtronOrdinalClassifier, and from_predictions takes the predictions of any classifier."
            )
        best, confidence = best_and_confidence(model, X)
        codes = encode(column_or_1d(y), model.classes_)
        check_rows("y", codes, len(confidence))
        costs = model._costs(model.classes_)
        loss = costs[codes, best]
        weight = read_weight(sample_weight, loss)
        point = cost = None
        if model.reject is not None:
            accepted = model._raw_predict(X) < len(model.classes_)
            point = float(weight[accepted].sum() / weight.sum()), mean(loss[accepted], weight[accepted])
            beta = costs[:, -1]
            if getattr(model.reject, "risk", None) is None:
                cost = float(beta[0]) if np.ptp(beta) == 0 else mean(beta[codes], weight)
        coverage, risk = risk_at_coverages(loss, confidence, weight)
        name = type(model).__name__ if name is None else name
        display = cls(coverage=coverage, risk=risk, operating_point=point, reject_cost=cost, name=name)
        return display.plot(ax, min_coverage=min_coverage, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        confidence: Any,
        *,
        loss: Callable | None = None,
        sample_weight: Any = None,
        reject_cost: float | None = None,
        min_coverage: float = 0.1,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> RiskCoverageDisplay:
        """Sweep the threshold on the confidence of any predictions.

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
        reject_cost : float, default=None
            The cost of an abstained row, at least 0; None draws no line.
        min_coverage : float, default=0.1
            The coverage from which on the curve is shown, because means over few rows are unreliable.  An operating point
            further to the left is always shown.
        name : str, default=None
            Name of the curve in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        RiskCoverageDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_predictions")
        y_true, y_pred = column_or_1d(y_true), column_or_1d(y_pred)
        check_rows("y_pred", y_pred, len(y_true))
        confidence = check_array(confidence, ensure_2d=False, dtype=np.float64, input_name="confidence")
        check_rows("confidence", confidence, len(y_true))
        losses = losses_of_rows(loss, y_true, y_pred)
        coverage, risk = risk_at_coverages(losses, confidence, read_weight(sample_weight, losses))
        display = cls(coverage=coverage, risk=risk, reject_cost=reject_cost, name=name)
        return display.plot(ax, min_coverage=min_coverage, **kwargs)

    def plot(self, ax: Any = None, *, min_coverage: float = 0.1, name: str | None = None, **kwargs: Any) -> RiskCoverageDisplay:
        """Draw the curve, the operating point and the abstention's cost.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        min_coverage : float, default=0.1
            The coverage from which on the curve is shown, because means over few rows are unreliable.  An operating point
            further to the left is always shown.
        name : str, default=None
            Name of the curve in the legend; None is `name` of the display.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        RiskCoverageDisplay
            This object.
        """
        check_share("min_coverage", min_coverage)
        cost = self.reject_cost
        if cost is not None and not (isinstance(cost, Real) and 0 <= cost < np.inf):
            raise ValueError(f"reject_cost={shortened(cost)} must be None or a finite number of at least 0.")
        name = self._open(ax, name)
        shown = float(min_coverage)
        if self.ax_.lines:  # of another display, of which nothing is to be hidden
            shown = min(shown, max((self.ax_.get_xlim()[0] + EDGE) / (1 + EDGE), 0.0))
        (self.line_,) = self.ax_.plot(self.coverage, self.risk, **{"label": name, **kwargs})
        self.point_ = self.cost_line_ = None
        if self.operating_point is not None:
            share, risk = self.operating_point
            label = f"operating point ({share:.3f}, {risk:.3g})"
            (self.point_,) = self.ax_.plot(share, risk, "o", color=self.line_.get_color(), label=label)
            shown = min(shown, share) if np.isfinite(risk) else shown
        if cost is not None:
            how = {"color": self.line_.get_color(), "linestyle": ":", "label": f"cost of a rejection: {cost:.3g}"}
            self.cost_line_ = self.ax_.axhline(cost, **how)
        self._show_from(shown)
        self._finish("coverage (share of rows)", "mean loss of the accepted rows")
        return self

    def _show_from(self, coverage: float) -> None:
        """Limit the axes to coverages above a value."""
        heights = [np.asarray(line.get_ydata())[np.asarray(line.get_xdata()) >= coverage] for line in self.ax_.lines]
        highest = np.nanmax(np.concatenate(heights))
        edge = EDGE * (1 - coverage)
        self.ax_.set_xlim(coverage - edge, 1 + edge)
        self.ax_.set_ylim(-0.03 * (highest or 1), 1.1 * (highest or 1))


def best_and_confidence(model: Any, X: Any) -> tuple[NDArray, NDArray]:
    """Return the best class of each row and its confidence."""
    learned, decision = model._model_and_decision()
    if not isinstance(decision, LeastCost):
        best, margins = model._two_best(X)
        return best[:, 0], margins
    expected = model.predict_proba(X) @ decision.costs[:, : len(learned.labels.classes)]
    best = expected.argmin(axis=1)
    return best, -expected[np.arange(len(best)), best]
