"""The loss suffered online, and its bound."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_predtron._support import types
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.callbacks import LossHistory, check_count
from sklearn_predtron.inspection._display import Display, check_choice, check_matplotlib, last_step
from sklearn_predtron.metrics._rows import losses_of_rows

KINDS = {
    "cumulative": "cumulative loss (sum of L)",
    "mean": "mean loss of the rounds so far",
    "rolling": "mean loss of the last {window} rounds",
}
FAR = 10.0  # times the largest loss: from there on the bound needs a logarithmic axis
WIDEST = 60  # letters of a line of the legend


class OnlineLossDisplay(Display):
    """The online loss by round, and the theorem's bound.

    Parameters
    ----------
    rounds : array-like of shape (n_points,)
        Rounds.
    losses : array-like of shape (n_points,)
        The sum of the losses up to each of them.
    bound : float, default=None
        Upper bound of the sum; None draws no line.
    bound_label : str, default=None
        The theorem that proves it; None is "bound".
    epoch : int, default=None
        Rounds of an epoch, which are marked on an axis at the top; None marks none.
    name : str, default=None
        Name of the curve in the legend.

    Attributes
    ----------
    line_ : matplotlib Artist
        The curve.
    bound_line_ : matplotlib Artist or None
        The line of the bound: horizontal, or bound / rounds for mean losses.
    epoch_axis_ : matplotlib Artist or None
        The axis of epochs.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    sklearn_predtron.callbacks.LossHistory : Records the curve.

    Notes
    -----
    A bound of more than 10 times the losses leaves little room for them: the axis is then logarithmic, unless
    ``display.ax_.set_yscale("linear")`` says otherwise.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.callbacks import LossHistory
    >>> from sklearn_predtron.inspection import OnlineLossDisplay
    >>> X = np.random.default_rng(0).standard_normal((2000, 30))
    >>> X = X[np.abs(X[:, 0]) > 0.5]
    >>> model = PredtronBinaryClassifier(norm="l2", fit_intercept=False, cv=0, random_state=0)
    >>> model = model.set_callbacks(LossHistory()).fit(X, X[:, 0] > 0)
    >>> radius = np.linalg.norm(X, axis=1).max()
    >>> display = OnlineLossDisplay.from_estimator(model, margin=2 * 0.5, radius=radius)
    >>> float(display.losses[-1]), round(display.bound), display.epoch
    (10.0, 240, 1237)
    >>> recent = OnlineLossDisplay.from_estimator(model, kind="rolling", window=100)
    >>> recent.line_.get_ydata()[[0, -1]].round(2)
    array([0.08, 0.  ])
    >>> plt.show()
    """

    def __init__(
        self,
        *,
        rounds: ArrayLike,
        losses: ArrayLike,
        bound: float | None = None,
        bound_label: str | None = None,
        epoch: int | None = None,
        name: str | None = None,
    ):
        self.rounds = rounds
        self.losses = losses
        self.bound = bound
        self.bound_label = bound_label
        self.epoch = epoch
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        margin: float | None = None,
        radius: float | None = None,
        c_L: float | None = None,
        kind: types.LossCurveName = "cumulative",
        window: int | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> OnlineLossDisplay:
        """Draw the losses that a `LossHistory` recorded.

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
        kind : {"cumulative", "mean", "rolling"}, default="cumulative"
            The curve: the sum of the losses, its mean over the rounds so far, or the mean over the last `window` rounds.
        window : int, default=None
            Rounds of the mean of kind="rolling", at least; None is a twentieth of all rounds.
        name : str, default=None
            Name of the curve in the legend; None is the estimator's class.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        OnlineLossDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        model, _ = last_step(estimator)
        rounds, losses = LossHistory.curve(model)
        bound = label = None
        if margin is not None:
            from sklearn_predtron.theory import theorem_of

            bound, label = model.loss_bound(margin, radius, c_L), theorem_of(model)
        elif radius is not None or c_L is not None:
            raise ValueError(f"radius={radius} and c_L={c_L} are for the bound, which needs a margin too; got margin=None.")
        name = type(model).__name__ if name is None else name
        display = cls(rounds=rounds, losses=losses, bound=bound, bound_label=label, epoch=epoch_of(model), name=name)
        return display.plot(ax, kind=kind, window=window, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        loss: Callable | None = None,
        bound: float | None = None,
        bound_label: str | None = None,
        kind: types.LossCurveName = "cumulative",
        window: int | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> OnlineLossDisplay:
        """Draw the loss of predictions made before their labels.

        Parameters
        ----------
        y_true : array-like of shape (n_rounds,) or (n_rounds, n_labels)
            Labels in the order of the rounds.
        y_pred : array-like of the same shape
            Predictions.
        loss : callable, default=None
            ``loss(y_true, y_pred)`` gives the loss of each round, of shape (n_rounds,); None is 0-1.
        bound : float, default=None
            Upper bound of the sum.
        bound_label : str, default=None
            The theorem that proves it.
        kind : {"cumulative", "mean", "rolling"}, default="cumulative"
            The curve: the sum of the losses, its mean over the rounds so far, or the mean over the last `window` rounds.
        window : int, default=None
            Rounds of the mean of kind="rolling", at least; None is a twentieth of all rounds.
        name : str, default=None
            Name of the curve in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        OnlineLossDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_predictions")
        y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
        if y_true.shape != y_pred.shape or y_true.size == 0 or y_true.ndim == 0:
            raise ValueError(f"y_pred has shape {y_pred.shape} and y_true {y_true.shape}; both must have a row for each round.")
        losses = losses_of_rows(loss, y_true, y_pred)
        rounds = np.arange(len(losses) + 1)
        losses = np.append(0.0, np.cumsum(losses))
        display = cls(rounds=rounds, losses=losses, bound=bound, bound_label=bound_label, name=name)
        return display.plot(ax, kind=kind, window=window, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        kind: types.LossCurveName = "cumulative",
        window: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> OnlineLossDisplay:
        """Draw the curve, and the bound if there is one.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        kind : {"cumulative", "mean", "rolling"}, default="cumulative"
            The curve: the sum of the losses, its mean over the rounds so far, or the mean over the last `window` rounds.
        window : int, default=None
            Rounds of the mean of kind="rolling", at least; None is a twentieth of all rounds.
        name : str, default=None
            Name of the curve in the legend; None is `name` of the display.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        OnlineLossDisplay
            This object.
        """
        check_choice("kind", kind, tuple(KINDS))
        rounds, losses = np.asarray(self.rounds), np.asarray(self.losses, dtype=np.float64)
        window = checked_window(window, kind, int(rounds[-1] - rounds[0]))
        x, y = curve_of(rounds, losses, kind, window)
        name = self._open(ax, name)
        (self.line_,) = self.ax_.plot(x, y, **{"label": name, **kwargs})
        self.bound_line_ = None
        if self.bound is not None and kind != "rolling":
            self._draw_bound(self.bound, kind, x, y)
        self._draw_epochs(int(rounds[-1]))
        self._finish("rounds", KINDS[kind].format(window=window))
        return self

    def _draw_bound(self, bound: float, kind: str, x: NDArray, y: NDArray) -> None:
        """Draw the bound, on an axis that shows both."""
        label = fill(f"{self.bound_label or 'bound'}: {bound:.4g}", WIDEST)
        how = {"color": self.line_.get_color(), "linestyle": "--", "label": label}
        if kind == "mean":
            (self.bound_line_,) = self.ax_.plot(x, bound / x, **how)
        else:
            self.bound_line_ = self.ax_.axhline(bound, **how)
        if 0 < y[-1] < (bound / x[-1] if kind == "mean" else bound) / FAR:
            self.ax_.set_yscale("log")

    def _draw_epochs(self, last: int) -> None:
        """Number the ends of epochs at the top, once."""
        self.epoch_axis_, epoch = None, self.epoch
        if epoch is None or last < 2 * epoch or self.ax_.child_axes:
            return
        self.epoch_axis_ = self.ax_.secondary_xaxis("top", functions=(lambda t: t / epoch, lambda t: t * epoch))
        self.epoch_axis_.set_xlabel(f"epochs of {epoch} rounds")
        self.epoch_axis_.xaxis.get_major_locator().set_params(integer=True)


def epoch_of(model: Any) -> int | None:
    """Return the rounds per epoch of a single `fit`."""
    curve = getattr(model, "loss_curve_", [])[: getattr(model, "best_iter_", None)]
    epoch, rest = divmod(model.t_, max(len(curve), 1))
    whole = len(curve) > 0 and rest == 0 and np.isclose(epoch * np.sum(curve), model.cumulative_loss_, atol=0)
    return epoch if whole else None


def checked_window(window: int | None, kind: str, rounds: int) -> int | None:
    """Return the rounds of a rolling mean, checked."""
    if kind != "rolling":
        if window is not None:
            raise ValueError(f"window={window!r} is for kind='rolling', and kind={kind!r} has none; accepted is None.")
        return None
    window = max(1, rounds // 20) if window is None else window
    check_count("window", window, least=1)
    if window > rounds:
        raise ValueError(
            f"window={shortened(window)} is longer than the curve; accepted are its {rounds} rounds at most, and None."
        )
    return window


def curve_of(rounds: NDArray, losses: NDArray, kind: str, window: int | None) -> tuple[NDArray, NDArray]:
    """Return x and y of the curve, from cumulative losses."""
    if kind == "cumulative":
        return rounds, losses
    if kind == "mean":
        return rounds[rounds > 0], losses[rounds > 0] / rounds[rounds > 0]
    since = np.searchsorted(rounds, rounds - window, side="right") - 1  # the last point that is far enough back
    there = since >= 0
    since = since[there]
    return rounds[there], (losses[there] - losses[since]) / (rounds[there] - rounds[since])
