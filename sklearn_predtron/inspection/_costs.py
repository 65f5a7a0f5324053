"""Cost of two classes by threshold, cost ratio or share of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, column_or_1d

from sklearn_predtron._support import types
from sklearn_predtron._support.encoding import encode
from sklearn_predtron._support.numbers import real_numbers
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.row_costs import classes_of_least_cost, costs_of_answers, expected_costs
from sklearn_predtron.inspection._display import Display, check_choice, check_matplotlib, last_step
from sklearn_predtron.metrics._rows import check_rows, read_weight

AGAINST = ("threshold", "ratio", "share")
LABELS = {
    "threshold": ("threshold of the probability", "mean cost of a row"),
    "ratio": ("share of a miss in the costs, PC(+)", "normalised expected cost"),
    "share": ("share of the rows predicted as the second class", "mean cost of a row"),
}
BEST = {"threshold": "threshold", "ratio": "threshold", "share": "share"}


class CostDisplay(Display):
    """The cost of two classes by threshold, cost ratio or share of rows.

    Parameters
    ----------
    at : ndarray of shape (n_points,)
        Thresholds, shares of the cost that is due to misses, or shares of the rows.
    cost : ndarray of shape (n_points,)
        Mean cost of a row if the second class is predicted from the threshold on, or of the share of the rows in which it saves
        most in expectation; or the normalised expected cost, if it is predicted from the threshold of lowest expected cost on.
    against : {"threshold", "ratio", "share"}
        The horizontal axis of the curve.
    constant : ndarray of shape (n_points,)
        The cost of the better constant prediction.
    best : ndarray of shape (n_points,)
        The cost of the best threshold, or share, in hindsight.
    threshold : float, default=None
        The threshold of lowest expected cost, or the share of the rows of which the second class is predicted; None draws none.
    name : str, default=None
        Name of the curve in the legend.

    Attributes
    ----------
    line_ : matplotlib Artist
        The curve.
    constant_line_ : matplotlib Artist
        The better constant prediction.
    best_line_ : matplotlib Artist
        The best threshold in hindsight.
    threshold_line_ : matplotlib Artist or None
        The threshold of lowest expected cost, or the share in force.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    sklearn.calibration.CalibrationDisplay : Whether probabilities agree with observed frequencies.
    sklearn_predtron.metrics.savings_score : The saved share of the cost of the best constant prediction.

    Notes
    -----
    The cost curve is Drummond and Holte's (2006): with PC(+) = P(+) c(miss) / (P(+) c(miss) + P(-) c(false)) the normalised
    expected cost is FNR PC(+) + FPR (1 - PC(+)); for constant predictions it is PC(+) and 1 - PC(+).

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.inspection import CostDisplay
    >>> X, y = make_classification(4000, weights=[0.9], class_sep=0.5, random_state=0)
    >>> model = PredtronBinaryClassifier(loss={(1, 0): 20}, random_state=0).fit(X[:2000], y[:2000])
    >>> display = CostDisplay.from_estimator(model, X[2000:], y[2000:])
    >>> round(display.threshold, 3), round(float(display.cost.min()), 2), round(float(display.constant[0]), 2)
    (0.048, 0.67, 0.89)

    A miss costs its own amount, and at most 5 % of the rows can be checked:

    >>> import numpy as np
    >>> from sklearn_predtron.decisions import AtMost, ExpectedCost
    >>> amount = np.random.default_rng(0).lognormal(3, 1, len(y))
    >>> capacity = ExpectedCost(subject_to=[AtMost("predicted_rate", 0.05, label=1)])
    >>> model = PredtronBinaryClassifier(decision=capacity, random_state=0)
    >>> of_rows = {(1, 0): amount[:2000], (0, 1): 5.0}, {(1, 0): amount[2000:], (0, 1): 5.0}
    >>> model = model.fit(X[:2000], y[:2000], costs=of_rows[0])
    >>> display = CostDisplay.from_estimator(model, X[2000:], y[2000:], costs=of_rows[1])
    >>> at_share = display.cost[round(2000 * display.threshold)]
    >>> display.threshold, *(round(float(cost), 2) for cost in (at_share, display.best[0], display.constant[0]))
    (0.05, 2.21, 1.71, 3.72)
    >>> plt.show()
    """

    def __init__(
        self,
        *,
        at: NDArray,
        cost: NDArray,
        against: types.CostAxisName,
        constant: NDArray,
        best: NDArray,
        threshold: float | None = None,
        name: str | None = None,
    ):
        self.at = at
        self.cost = cost
        self.against = against
        self.constant = constant
        self.best = best
        self.threshold = threshold
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        costs: Any = None,
        against: types.CostAxisName | None = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> CostDisplay:
        """Draw the cost of a classifier of two classes.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier of two classes with `predict_proba`, or a pipeline whose last step is one.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels, of `classes_`.
        costs : tuple of (float, float), array-like of shape (n_samples, 2, 2), data frame or dict, default=None
            Costs of a false positive and of a miss, the second class being positive; or costs of the rows, in the forms of
            `predict`.  None takes those of the estimator's `loss`, or 1 and 1.
        against : {"threshold", "ratio", "share"}, default=None
            Draw the cost by the threshold of the probability, by the ratio of the costs, or with costs of rows by the share of
            the rows of which the second class is predicted, those in which it saves most in expectation.  None is "share" with
            costs of rows, and otherwise "threshold".
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
        CostDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        model, X = last_step(estimator, X)
        classes = getattr(model, "classes_", None)
        if classes is None or len(classes) != 2 or not hasattr(model, "predict_proba"):
            raise ValueError(f"estimator={shortened(model)} has no probabilities of two classes; accepted are those that have.")
        codes = encode(column_or_1d(y), classes)
        p = model.predict_proba(X)
        if are_of_rows(costs):
            if against not in (None, "share"):
                raise ValueError(f"against={shortened(against)} does not go with costs of rows; accepted are None and 'share'.")
            of_model = getattr(model, "_named", None) is not None
            table = model._costs_by_row(costs, classes, len(p)) if of_model else costs_of_answers(model, costs, classes, len(p))
            capacity = getattr(model, "_capacity", lambda: None)()
            found = cls.by_share(codes, p, table, classes_of_least_cost(p, table, capacity), read_weight(sample_weight, p[:, 1]))
            return found.plot(ax, name=type(model).__name__ if name is None else name, **kwargs)
        if costs is None and getattr(model, "_costs", None) is not None:
            table = model._costs(classes)
            costs = table[0, 1], table[1, 0]
        name = type(model).__name__ if name is None else name
        how = {"costs": costs, "against": against or "threshold", "sample_weight": sample_weight, "name": name, "ax": ax}
        return cls.from_predictions(codes == 1, p[:, 1], **how, **kwargs)

    @classmethod
    def by_share(cls, codes: NDArray, p: NDArray, table: NDArray, predicted: NDArray, weight: NDArray) -> CostDisplay:
        """Return the display of costs of rows, given the true classes, the probabilities, the costs and the predictions.

        Predictions may be abstentions; the curve has none.
        """
        expected, rows = expected_costs(p, table), np.arange(len(codes))
        order = np.argsort(expected[:, 1] - expected[:, 0], kind="stable")
        realised = table[rows, codes] * (weight / weight.sum())[:, None]
        cost = realised[:, 0].sum() + np.append(0.0, np.cumsum((realised[:, 1] - realised[:, 0])[order]))
        at = np.append(0.0, np.cumsum(weight[order])) / weight.sum()
        constant, best = np.full(len(at), min(cost[0], cost[-1])), np.full(len(at), cost.min())
        share = float(np.average(predicted == 1, weights=weight))
        return cls(at=at, cost=cost, against="share", constant=constant, best=best, threshold=share)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        costs: Any = None,
        against: types.AgainstName = "threshold",
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> CostDisplay:
        """Draw the cost of given probabilities of the second class.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Whether a row is of the second class: 0 and 1, or False and True.
        y_prob : array-like of shape (n_samples,)
            Probabilities of the second class, from 0 to 1.
        costs : tuple of (float, float), default=None
            Costs of a false positive and of a miss, the second class being positive; None is 1 and 1.
        against : {"threshold", "ratio"}, default="threshold"
            Draw the cost by the threshold of the probability, or by the ratio of the costs.
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
        CostDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_predictions")
        check_choice("against", against, AGAINST[:2])
        y, p = read_probabilities(y_true, y_prob)
        weight = read_weight(sample_weight, p)
        false, missed = read_costs(costs)
        at, fpr, fnr = rates(y, p, weight)
        share = float(np.average(y, weights=weight))
        threshold = (false / 2) / (false / 2 + missed / 2)  # whose sum does not overflow
        if against == "threshold":
            cost = (1 - share) * false * fpr + share * missed * fnr
            constant = np.full(len(at), min((1 - share) * false, share * missed))
            best = np.full(len(at), cost.min())
            found = cls(at=at, cost=cost, against=against, constant=constant, best=best, threshold=threshold, name=name)
            return found.plot(ax, **kwargs)
        pc = np.linspace(0, 1, 201)
        of_all = fnr[:, None] * pc + fpr[:, None] * (1 - pc)
        # odds of the costs alone, c(false) : c(missed), are those of PC(-) P(+) : PC(+) P(-)
        cuts = (1 - pc) * share / ((1 - pc) * share + pc * (1 - share))
        own = of_all[np.searchsorted(at, cuts, side="left").clip(max=len(at) - 1), np.arange(len(pc))]
        found = cls(at=pc, cost=own, against=against, constant=np.minimum(pc, 1 - pc), best=of_all.min(axis=0), name=name)
        return found.plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> CostDisplay:
        """Draw the curve, the best constant and the best threshold.

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
        CostDisplay
            This object.
        """
        check_choice("against", self.against, AGAINST)
        name = self._open(ax, name)
        steps = {"drawstyle": "steps-pre"} if self.against == "threshold" else {}
        (self.line_,) = self.ax_.plot(self.at, self.cost, **{"label": name, **steps, **kwargs})
        colour = self.line_.get_color()
        (self.best_line_,) = self.ax_.plot(
            self.at, self.best, ":", color=colour, label=f"best {BEST[self.against]}, by hindsight"
        )
        (self.constant_line_,) = self.ax_.plot(self.at, self.constant, "--", color=self._ink(), label="better constant answer")
        self.threshold_line_ = None
        if self.threshold is not None:
            label = "in force" if self.against == "share" else "lowest expected cost"
            label = f"{label}: {self.threshold:.3g}"
            self.threshold_line_ = self.ax_.axvline(self.threshold, color=colour, linewidth=1, label=label)
        self._finish(*LABELS[self.against])
        return self


def read_probabilities(y_true: Any, y_prob: Any) -> tuple[NDArray, NDArray]:
    """Return the second class's indicator and probability."""
    y = column_or_1d(y_true)
    p = check_array(y_prob, ensure_2d=False, dtype=np.float64, input_name="y_prob")
    check_rows("y_prob", p, len(y))
    if not np.isin(y, (0, 1)).all():
        raise ValueError(f"y_true={shortened(y)} must hold 0 and 1 alone, or False and True.")
    if (p < 0).any() or (p > 1).any():
        raise ValueError(f"y_prob={shortened(y_prob)} must hold probabilities, from 0 to 1.")
    return y.astype(np.float64), p


def are_of_rows(costs: Any) -> bool:
    """Return whether costs are those of rows, by their form."""
    return isinstance(costs, Mapping) or hasattr(costs, "columns") or np.ndim(costs) > 1


def read_costs(costs: Any) -> tuple[float, float]:
    """Return the costs of a false alarm and of a miss."""
    if costs is None:
        return 1.0, 1.0
    found = real_numbers(costs)
    if found is None or found.shape != (2,) or not np.isfinite(found).all() or (found < 0).any() or not found.any():
        raise ValueError(f"costs={shortened(costs)} must be two numbers of at least 0, of a false answer and a miss, not both 0.")
    return float(found[0]), float(found[1])


def rates(y: NDArray, p: NDArray, weight: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return rising thresholds with their false positive and negative rates."""
    at, place = np.unique(np.append(p, 0.0), return_inverse=True)
    of_class = [np.bincount(place[:-1], weight * of, len(at)) for of in (1 - y, y)]
    if not all(weights.any() for weights in of_class):
        raise ValueError("y_true must hold rows of both classes, of positive weight.")
    below = [np.append(0.0, np.cumsum(weights)) / weights.sum() for weights in of_class]
    return np.append(at, 1.0 if at[-1] < 1 else np.nextafter(1.0, 2)), 1 - below[0], below[1]
