"""Pictures: the loss suffered online and its bound, the risk of the accepted rows against coverage, the margins of the rows."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_array, column_or_1d

from sklearn_predtron._compat import check_matplotlib_support
from sklearn_predtron._queries import shortened
from sklearn_predtron.callbacks import LossHistory
from sklearn_predtron.families._labels import encode
from sklearn_predtron.families.classification import RejectingClassifier
from sklearn_predtron.families.ranking import PredtronRanker
from sklearn_predtron.inspection._curves import check_rows, leads, losses_of, mean, read_weight, risk_at_coverages

__all__ = ["MarginDisplay", "OnlineLossDisplay", "RiskCoverageDisplay"]


class Display:
    """What the displays share: matplotlib on use, and the axes."""

    name: str | None
    ax_: Any
    figure_: Any

    def _open(self, ax: Any, name: str | None) -> str | None:
        """Set the axes and return the name of what is drawn."""
        check_matplotlib_support(f"{type(self).__name__}.plot")
        import matplotlib.pyplot as plt

        self.ax_ = plt.subplots()[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        return self.name if name is None else name

    def _finish(self, xlabel: str, ylabel: str) -> None:
        self.ax_.set(xlabel=xlabel, ylabel=ylabel)
        if self.ax_.get_legend_handles_labels()[0]:
            self.ax_.legend()


class OnlineLossDisplay(Display):
    """The loss suffered online against rounds, and the theorem's bound of it.

    Parameters
    ----------
    rounds : array-like of shape (n_points,)
        Rounds.
    losses : array-like of shape (n_points,)
        The sum of the losses up to each of them.
    bound : float, default=None
        What the sum cannot exceed; None draws no line.
    bound_label : str, default=None
        The theorem that says so; None is "bound".
    name : str, default=None
        What the curve is called in the legend.

    Attributes
    ----------
    line_ : matplotlib Artist
        The curve.
    bound_line_ : matplotlib Artist or None
        The horizontal line of the bound.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    sklearn_predtron.callbacks.LossHistory : Records the curve.

    Notes
    -----
    A bound far above the losses leaves little room for them; ``display.ax_.set_yscale("log")`` shows both.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.callbacks import LossHistory
    >>> from sklearn_predtron.inspection import OnlineLossDisplay
    >>> X = np.random.default_rng(0).standard_normal((2000, 3))
    >>> X = X[np.abs(X[:, 0]) > 0.5]
    >>> model = PredtronBinaryClassifier(fit_intercept=False, random_state=0).set_callbacks(LossHistory())
    >>> model = model.fit(X, X[:, 0] > 0)
    >>> radius = np.linalg.norm(X, axis=1).max()
    >>> OnlineLossDisplay.from_estimator(model, margin=2 * 0.5, radius=radius)
    <...>
    >>> plt.show()
    """

    def __init__(
        self,
        *,
        rounds: ArrayLike,
        losses: ArrayLike,
        bound: float | None = None,
        bound_label: str | None = None,
        name: str | None = None,
    ):
        self.rounds = rounds
        self.losses = losses
        self.bound = bound
        self.bound_label = bound_label
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        margin: float | None = None,
        radius: float | None = None,
        c_L: float | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> OnlineLossDisplay:
        """Draw what a `LossHistory` recorded of an estimator.

        Parameters
        ----------
        estimator : estimator
            A Predtron estimator fitted with the callback `LossHistory`, or a pipeline whose last step is one.
        margin : float, default=None
            Margin gamma > 0 of some unit-norm weights on the data; with it the line of `loss_bound` is drawn, labelled by its
            theorem.
        radius : float, default=None
            The largest length of an input, for `loss_bound`.
        c_L : float, default=None
            The least positive loss, for `loss_bound` of rankings.
        name : str, default=None
            What the curve is called in the legend; None is the estimator's class.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        display : OnlineLossDisplay
            What was drawn.
        """
        check_matplotlib_support(f"{cls.__name__}.from_estimator")
        model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        rounds, losses = LossHistory.curve(model)
        bound = label = None
        if margin is not None:
            from sklearn_predtron.theory import theorem_of

            bound, label = model.loss_bound(margin, radius, c_L), theorem_of(model)
        elif radius is not None or c_L is not None:
            raise ValueError(f"radius={radius} and c_L={c_L} are for the bound, which needs a margin too; got margin=None.")
        name = type(model).__name__ if name is None else name
        return cls(rounds=rounds, losses=losses, bound=bound, bound_label=label, name=name).plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        loss: Callable | None = None,
        bound: float | None = None,
        bound_label: str | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> OnlineLossDisplay:
        """Draw the loss of predictions that were each made before their label was shown.

        Parameters
        ----------
        y_true : array-like of shape (n_rounds,) or (n_rounds, n_labels)
            Labels in the order of the rounds.
        y_pred : array-like of the same shape
            Predictions.
        loss : callable, default=None
            ``loss(y_true, y_pred)`` gives the loss of each round, of shape (n_rounds,); None is 0-1.
        bound : float, default=None
            What the sum cannot exceed.
        bound_label : str, default=None
            The theorem that says so.
        name : str, default=None
            What the curve is called in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        display : OnlineLossDisplay
            What was drawn.
        """
        check_matplotlib_support(f"{cls.__name__}.from_predictions")
        y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
        if y_true.shape != y_pred.shape or y_true.size == 0 or y_true.ndim == 0:
            raise ValueError(f"y_pred has shape {y_pred.shape} and y_true {y_true.shape}; both must have a row for each round.")
        losses = losses_of(loss, y_true, y_pred)
        rounds = np.arange(len(losses) + 1)
        losses = np.append(0.0, np.cumsum(losses))
        return cls(rounds=rounds, losses=losses, bound=bound, bound_label=bound_label, name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> OnlineLossDisplay:
        """Draw the curve, and the bound where there is one.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            What the curve is called in the legend; None is `name` of the display.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        display : OnlineLossDisplay
            This object.
        """
        name = self._open(ax, name)
        (self.line_,) = self.ax_.plot(self.rounds, self.losses, **{"label": name, **kwargs})
        self.bound_line_ = None
        if self.bound is not None:
            label = f"{self.bound_label or 'bound'}: {self.bound:.4g}"
            self.bound_line_ = self.ax_.axhline(self.bound, color=self.line_.get_color(), linestyle="--", label=label)
        self._finish("rounds", "cumulative loss (sum of L)")
        return self


class RiskCoverageDisplay(Display):
    """The mean loss of the accepted rows against their share, rows of small margin being rejected first.

    Parameters
    ----------
    coverage : ndarray of shape (n_thresholds,)
        The share of rows whose margin is at least the threshold, rising.
    risk : ndarray of shape (n_thresholds,)
        Their mean loss.
    operating_point : tuple of (float, float), default=None
        Coverage and risk of the classifier's own rule; None draws none.
    name : str, default=None
        What the curve is called in the legend.

    Attributes
    ----------
    line_ : matplotlib Artist
        The curve.
    point_ : matplotlib Artist or None
        The operating point.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    Notes
    -----
    El-Yaniv and Wiener, *On the Foundations of Noise-free Selective Classification* (2010).  Rows of equal margins are
    accepted together.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.preprocessing import scale
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.inspection import RiskCoverageDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(scale(X), y, random_state=0)
    >>> from sklearn_predtron.losses import Reject
    >>> triage = PredtronBinaryClassifier(reject=Reject(cost=0.1, label=-1), random_state=0).fit(X, y)
    >>> RiskCoverageDisplay.from_estimator(triage, X_test, y_test)
    <...>
    >>> plt.show()
    """

    def __init__(
        self, *, coverage: NDArray, risk: NDArray, operating_point: tuple[float, float] | None = None, name: str | None = None
    ):
        self.coverage = coverage
        self.risk = risk
        self.operating_point = operating_point
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, name: str | None = None, ax: Any = None, **kwargs: Any
    ) -> RiskCoverageDisplay:
        """Sweep the threshold on the margin of a classifier, the difference of its two best decoded scores.

        Parameters
        ----------
        estimator : PredtronBinaryClassifier or PredtronClassifier
            A fitted classifier, or a pipeline whose last step is one.  With `reject` its operating point is marked: it is
            on the curve where the rule has one threshold for all classes.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in shares and means.
        name : str, default=None
            What the curve is called in the legend; None is the estimator's class.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        display : RiskCoverageDisplay
            What was drawn.
        """
        check_matplotlib_support(f"{cls.__name__}.from_estimator")
        model, X = last_step(estimator, X)
        if not isinstance(model, RejectingClassifier):
            raise ValueError(
                f"estimator={shortened(model)} cannot reject; accepted are PredtronBinaryClassifier and PredtronClassifier, and "
                "from_predictions takes the predictions of any classifier."
            )
        best, margins = model._two_best(X)
        codes = encode(column_or_1d(y), model.classes_)
        check_rows("y", codes, len(margins))
        loss = model._costs()[codes, best[:, 0]]
        weight = read_weight(sample_weight, loss)
        point = None
        if model.reject is not None:
            accepted = model._predict_codes(X) < len(model.classes_)
            point = float(weight[accepted].sum() / weight.sum()), mean(loss[accepted], weight[accepted])
        coverage, risk = risk_at_coverages(loss, margins, weight)
        name = type(model).__name__ if name is None else name
        return cls(coverage=coverage, risk=risk, operating_point=point, name=name).plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        confidence: Any,
        *,
        loss: Callable | None = None,
        sample_weight: Any = None,
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
            Predictions, without rejections.
        confidence : array-like of shape (n_samples,)
            The less of it, the sooner a row is rejected: a margin, or a probability.
        loss : callable, default=None
            ``loss(y_true, y_pred)`` gives the loss of each row, of shape (n_samples,); None is 0-1.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in shares and means.
        name : str, default=None
            What the curve is called in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        display : RiskCoverageDisplay
            What was drawn.
        """
        check_matplotlib_support(f"{cls.__name__}.from_predictions")
        y_true, y_pred = column_or_1d(y_true), column_or_1d(y_pred)
        check_rows("y_pred", y_pred, len(y_true))
        confidence = check_array(confidence, ensure_2d=False, dtype=np.float64, input_name="confidence")
        check_rows("confidence", confidence, len(y_true))
        losses = losses_of(loss, y_true, y_pred)
        coverage, risk = risk_at_coverages(losses, confidence, read_weight(sample_weight, losses))
        return cls(coverage=coverage, risk=risk, name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> RiskCoverageDisplay:
        """Draw the curve, and the operating point where there is one.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            What the curve is called in the legend; None is `name` of the display.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        display : RiskCoverageDisplay
            This object.
        """
        name = self._open(ax, name)
        (self.line_,) = self.ax_.plot(self.coverage, self.risk, **{"label": name, **kwargs})
        self.point_ = None
        if self.operating_point is not None:
            share, risk = self.operating_point
            label = f"operating point ({share:.3f}, {risk:.3g})"
            (self.point_,) = self.ax_.plot(share, risk, "o", color=self.line_.get_color(), label=label)
        self._finish("coverage (share of rows)", "mean loss of the accepted rows")
        return self


class MarginDisplay(Display):
    """The distribution of the margins of the rows, under weights of norm 1.

    Parameters
    ----------
    margins : ndarray of shape (n_samples,)
        Margins; those that are infinite, of rows that cannot be wrong, are not drawn.
    items : str, default="rows"
        What has a margin each.
    name : str, default=None
        What the bars are called in the legend.

    Attributes
    ----------
    bars_ : matplotlib Artist
        The bars of the histogram.
    zero_line_ : matplotlib Artist
        The vertical line at 0, below which rows are predicted wrongly.
    least_line_ : matplotlib Artist
        The vertical line at the least margin.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.inspection import MarginDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = PredtronClassifier(random_state=0).fit(X, y)
    >>> display = MarginDisplay.from_estimator(model, X, y)
    >>> bool(display.margins.min() == model.margin(X, y))
    True
    >>> plt.show()
    """

    def __init__(self, *, margins: NDArray, items: str = "rows", name: str | None = None):
        self.margins = margins
        self.items = items
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, qid: Any = None, *, name: str | None = None, ax: Any = None, **kwargs: Any
    ) -> MarginDisplay:
        """Draw the margins of the rows, or queries, under the weights that predict; the least is `margin(X, y)`.

        Parameters
        ----------
        estimator : estimator
            A fitted Predtron estimator that has a `margin`, or a pipeline whose last step is one.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            True labels.
        qid : array-like of shape (n_samples,), default=None
            The query of each document, for a `PredtronRanker` only.
        name : str, default=None
            What the bars are called in the legend; None is the estimator's class.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `hist`.

        Returns
        -------
        display : MarginDisplay
            What was drawn.
        """
        check_matplotlib_support(f"{cls.__name__}.from_estimator")
        model, X = last_step(estimator, X)
        ranker = isinstance(model, PredtronRanker)
        if not hasattr(model, "_margins"):
            raise ValueError(f"estimator={shortened(model)} has no margins; accepted are Predtron's classifiers and rankers.")
        if qid is not None and not ranker:
            raise ValueError(
                f"qid is for PredtronRanker only, and estimator={shortened(model)} ranks no queries; accepted is None."
            )
        margins = model._margins(X, y, qid) if ranker else model._margins(X, y)
        name = type(model).__name__ if name is None else name
        return cls(margins=margins, items="queries" if ranker else "rows", name=name).plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        classes: Any = None,
        length: float = 1.0,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> MarginDisplay:
        """Draw the lead of the right class over the best other one.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_score : array-like of shape (n_samples, n_classes), or (n_samples,) for two classes
            Scores; of two classes the lead of the second.
        classes : array-like of shape (n_classes,), default=None
            The labels in the order of the scores; None is the sorted labels of `y_true`.
        length : float, default=1.0
            The norm of the weights that gave the scores, by which they are divided.
        name : str, default=None
            What the bars are called in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `hist`.

        Returns
        -------
        display : MarginDisplay
            What was drawn.
        """
        check_matplotlib_support(f"{cls.__name__}.from_predictions")
        if not isinstance(length, Real) or not 0 < length < np.inf:
            raise ValueError(f"length={length!r} must be a finite number above 0.")
        y_true = column_or_1d(y_true)
        classes = np.unique(y_true) if classes is None else column_or_1d(classes)
        y_score = check_array(y_score, ensure_2d=False, dtype=np.float64, input_name="y_score")
        k = len(classes)
        if y_score.shape != (len(y_true), k) and (k != 2 or y_score.shape != (len(y_true),)):
            raise ValueError(
                f"y_score has shape {y_score.shape}; for {len(y_true)} rows and {k} classes it must have {(len(y_true), k)}."
            )
        if y_score.ndim == 1:
            y_score = np.column_stack([np.zeros(len(y_score)), y_score])
        return cls(margins=leads(y_score, encode(y_true, classes)) / length, name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> MarginDisplay:
        """Draw the histogram, 0 and the least margin.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            What the bars are called in the legend; None is `name` of the display.
        **kwargs : dict
            Passed to matplotlib's `hist`.

        Returns
        -------
        display : MarginDisplay
            This object.
        """
        margins = np.asarray(self.margins)
        finite = margins[np.isfinite(margins)]
        if np.isnan(margins).any() or len(finite) == 0:
            raise ValueError("margins holds no finite margin, or nan, as weights that are zero have; there is nothing to draw.")
        name = self._open(ax, name)
        self.bars_ = self.ax_.hist(finite, **{"bins": "auto", "label": name, **kwargs})[2]
        self.zero_line_ = self.ax_.axvline(0, color="black", linewidth=1)
        label = f"least: {finite.min():.3g}"
        self.least_line_ = self.ax_.axvline(finite.min(), color="tab:red", linestyle="--", label=label)
        self.ax_.margins(y=0.2)  # room for the legend
        self._finish("margin at unit norm of the weights (units of the inputs)", f"number of {self.items}")
        return self


def last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The estimator at the end of a pipeline, and the inputs as it is given them."""
    return (estimator[-1], estimator[:-1].transform(X)) if isinstance(estimator, Pipeline) else (estimator, X)
