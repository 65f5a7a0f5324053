"""How much of what is promised is used."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.decisions import AtLeast, PromiseResult
from sklearn_predtron.inspection._display import NEGATIVE, POSITIVE, Display, check_matplotlib
from sklearn_predtron.metrics import CostMonitor


class PromiseDisplay(Display):
    """Promises and their measured values, relative to the bounds.

    A promise is kept on the rows if its point is to the left of 1.  For `AtMost` the position is value / bound.  For `AtLeast` of
    a share it is (1 - value) / (1 - bound), and of a risk or a function bound / value.

    Parameters
    ----------
    used : array-like of shape (n_promises,)
        The positions; nan draws no point.
    labels : list of str
        The promises.
    kept : array-like of shape (n_promises,)
        Whether each promise is kept, which chooses the colour.
    intervals : array-like of shape (n_promises, 2), default=None
        Intervals of the positions; None draws none.
    name : str, default=None
        Title of the axes.

    Attributes
    ----------
    points_ : matplotlib Artist
        The points.
    bound_line_ : matplotlib Artist
        The vertical line at 1.
    interval_lines_ : matplotlib Artist or None
        The intervals.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    sklearn_predtron.decisions.Certificate : Tests of promises.
    sklearn_predtron.metrics.CostMonitor : An alarm for rising costs.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.decisions import AtLeast, AtMost
    >>> from sklearn_predtron.inspection import PromiseDisplay
    >>> from sklearn_predtron.losses import Reject
    >>> from sklearn_predtron.metrics import CostMonitor
    >>> X, y = make_classification(6000, class_sep=1.5, random_state=0)
    >>> model = PredtronBinaryClassifier(reject=Reject(risk=0.1), random_state=0).fit(X[:2000], y[:2000])
    >>> promises = [AtMost("risk", 0.03), AtLeast("recall", 0.8, label=1)]
    >>> model = model.certify(X[2000:4000], y[2000:4000], promises)
    >>> display = PromiseDisplay.from_results(model.certificate_.results)
    >>> display.used.round(2)
    array([0.4 , 0.05])
    >>> monitor = CostMonitor(limit=0.1).update(model.set_params(reject=None).predict(X[4000:]) != y[4000:])
    >>> PromiseDisplay.from_monitor(monitor).intervals.round(2)
    array([[0.02, 0.27]])
    >>> plt.show()
    """

    def __init__(
        self, *, used: ArrayLike, labels: list[str], kept: ArrayLike, intervals: ArrayLike | None = None, name: str | None = None
    ):
        self.used = used
        self.labels = labels
        self.kept = kept
        self.intervals = intervals
        self.name = name

    @classmethod
    def from_results(cls, results: Any, *, name: str | None = None, ax: Any = None, **kwargs: Any) -> PromiseDisplay:
        """Draw the results of a certificate, or the bounds of a decision.

        Parameters
        ----------
        results : list of PromiseResult
            ``certificate_.results`` or `bounds_` of a classifier.
        name : str, default=None
            Title of the axes.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `scatter`.

        Returns
        -------
        PromiseDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_results")
        found = list(results) if isinstance(results, (list, tuple)) else []
        if not found or not all(isinstance(one, PromiseResult) for one in found):
            raise ValueError(f"results={shortened(results)} must be certificate_.results or bounds_ of a classifier.")
        labels = [f"{one.promise!r}\n{one.value:.3g} on {one.n_rows} rows" for one in found]
        used = np.array([used_of(one) for one in found])
        return cls(used=used, labels=labels, kept=[one.kept for one in found], name=name).plot(ax, **kwargs)

    @classmethod
    def from_monitor(cls, monitor: CostMonitor, *, name: str | None = None, ax: Any = None, **kwargs: Any) -> PromiseDisplay:
        """Draw the mean costs of a monitor, with their intervals.

        Parameters
        ----------
        monitor : CostMonitor
            A monitor with at least one row; each group is a promise.
        name : str, default=None
            Title of the axes.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `scatter`.

        Returns
        -------
        PromiseDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_monitor")
        if not isinstance(monitor, CostMonitor):
            raise ValueError(f"monitor={shortened(monitor)} must be a CostMonitor.")
        groups: list[Any] = [None] if monitor.groups is None else monitor.groups
        means = np.array([monitor.get(group) for group in groups])
        names = ["mean cost" if group is None else f"mean cost of {group!r}" for group in groups]
        labels = [f"{one}\n{mean:.3g}" for one, mean in zip(names, means, strict=True)]
        intervals = np.array([monitor.interval(group) for group in groups]) / monitor.limit
        kept = [group not in monitor.alarms_ for group in groups]
        return cls(used=means / monitor.limit, labels=labels, kept=kept, intervals=intervals, name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> PromiseDisplay:
        """Draw a line for each promise, the first at the top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            Title of the axes; None is `name` of the display.
        **kwargs : dict
            Passed to matplotlib's `scatter`.

        Returns
        -------
        PromiseDisplay
            This object.
        """
        used, places = np.asarray(self.used, dtype=np.float64), np.arange(len(self.labels))
        if used.shape != places.shape or np.shape(self.kept) != places.shape:
            raise ValueError(f"used and kept have the shapes {used.shape} and {np.shape(self.kept)}, for {len(places)} labels.")
        name = self._open(ax, name)
        colors = [POSITIVE if kept else NEGATIVE for kept in np.asarray(self.kept)]
        self.interval_lines_ = None
        if self.intervals is not None:
            low, high = np.asarray(self.intervals, dtype=np.float64).T
            self.interval_lines_ = self.ax_.hlines(places, low, high, colors=colors)
        self.points_ = self.ax_.scatter(used, places, **{"color": colors, "zorder": 3, **kwargs})
        self.bound_line_ = self.ax_.axvline(1, linestyle=":", color=self._ink())
        self.ax_.set_yticks(places, self.labels)
        self.ax_.invert_yaxis()
        self.ax_.margins(y=0.3)
        self.ax_.set_xlim(left=0)
        if name is not None:
            self.ax_.set_title(name)
        self._finish("measured value, relative to the bound", "")
        return self


def used_of(result: PromiseResult) -> float:
    """Return the position of a result; 1 is the bound."""
    promise, value = result.promise, result.value
    if not isinstance(promise, AtLeast):
        return value / promise.bound
    if promise.measure == "risk" or callable(promise.measure):
        return promise.bound / value if value != 0 else float("inf")
    return (1 - value) / (1 - promise.bound)
