"""The loss suffered online, and its bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from sklearn_predtron._compat import check_matplotlib_support
from sklearn_predtron.callbacks import LossHistory
from sklearn_predtron.inspection._curves import losses_of
from sklearn_predtron.inspection._display import Display


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
        """Draw the curve, and the bound if there is one.

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
