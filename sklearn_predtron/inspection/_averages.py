"""Which average predicts in a stream."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from sklearn_predtron._support.queries import ids_taken, shortened
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.inspection._display import Display, check_matplotlib
from sklearn_predtron.metrics._progressive import learn, read_item, takes_rows

if TYPE_CHECKING:
    from sklearn_predtron._core.averages import ChoosingAverage

CANDIDATES = (False, "linear", 100.0)  # of average="auto", in the order of its charges
STYLES = {
    "last iterate": {"color": "#D55E00", "linestyle": "-"},
    "linear average": {"color": "#0072B2", "linestyle": "--"},
    "half-life 100": {"color": "#009E73", "linestyle": "-."},
}
RIBBON = (1.02, 0.03)  # where it begins and how high it is, in the height of the axes


class AverageDisplay(Display):
    """The average that predicts in a stream, with candidate losses.

    With ``average="auto"``, the default of streams, the candidates are the last iterate, the linear average and an average of
    half-life 100.  Each is charged for its prediction before a round; the one with the least recent loss predicts.  The curves
    are their mean losses, in which the past weighs half as much every 500 rounds, or 1000 if they are charged in some rounds
    only.  The ribbon at the top has the colour of the one that predicts; the legend gives its share of the rounds.

    Parameters
    ----------
    rounds : array-like of shape (n_points,)
        Rounds, rising.
    losses : array-like of shape (n_points, 3)
        Recent mean losses of the last iterate, the linear average and that of half-life 100; nan before the first round in
        which they are charged.
    averages : list of length n_points
        Which of them predicts from there on, as `average_` names them: False, "linear" or 100.0.
    name : str, default=None
        Name of the stream in the title.

    Attributes
    ----------
    lines_ : list of matplotlib Artist
        The three curves.
    ribbon_ : list of matplotlib Artist
        The parts of the ribbon, one for each candidate.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    OnlineLossDisplay : The loss suffered by the last iterate.
    sklearn_predtron.metrics.progressive_val_score : The mean loss of the predictions.

    Examples
    --------
    A rule that is reversed after half of the stream: then the last iterate and the average that forgets are ahead of the linear
    one.

    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.inspection import AverageDisplay
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((4000, 5))
    >>> y = (X[:, 0] + random.standard_normal(4000) > 0) ^ (np.arange(4000) >= 2000)
    >>> chunks = ((X[i : i + 100], y[i : i + 100]) for i in range(0, 4000, 100))
    >>> display = AverageDisplay.from_stream(PredtronBinaryClassifier(), chunks, classes=[False, True])
    >>> display.averages[19], display.averages[-1]
    ('linear', 100.0)
    >>> display.losses[[19, -1]].round(2)
    array([[0.32, 0.26, 0.27],
           [0.28, 0.3 , 0.25]])
    >>> plt.show()
    """

    def __init__(self, *, rounds: ArrayLike, losses: ArrayLike, averages: list[Any], name: str | None = None):
        self.rounds = rounds
        self.losses = losses
        self.averages = averages
        self.name = name

    @classmethod
    def from_stream(
        cls,
        estimator: Any,
        stream: Iterable[Any],
        *,
        classes: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> AverageDisplay:
        """Train on a stream, and draw which average predicted.

        At the end the estimator has been trained on the whole stream, as by successive calls of `partial_fit`.

        Parameters
        ----------
        estimator : estimator
            A Predtron estimator with ``average="auto"``, or None, which is the same in streams; it may be fitted.
        stream : iterable
            Items as `metrics.progressive_val_score` takes them: (X, y), (X, y, qid) for queries and (X, y, sid) for sequences,
            or rows (x, y).
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever occur, for the first call of `partial_fit`; a classifier that has learned nothing needs
            them.
        name : str, default=None
            Name of the stream in the title.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        AverageDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_stream")
        if not isinstance(estimator, BasePredtron):
            raise ValueError(f"estimator={shortened(estimator)} has no average; accepted are Predtron's estimators.")
        if not (estimator.average is None or (isinstance(estimator.average, str) and estimator.average == "auto")):
            raise ValueError(f"estimator has average={estimator.average!r}, which is not chosen; accepted are None and 'auto'.")
        rounds, losses, averages = [], [], []
        ids, of_rows = ids_taken(estimator.partial_fit), takes_rows(estimator)
        first = {} if classes is None else {"classes": classes}
        for item in stream:
            learn(estimator, ids, *read_item(item, ids, of_rows), **first)
            first = {}
            rounds.append(estimator.t_)
            learner = estimator._model.learner
            with learner.lock.reading():
                losses.append(cast("ChoosingAverage", learner.average).recent_losses())
            averages.append(estimator.average_)
        if not rounds:
            raise ValueError(f"stream={shortened(stream)} has no items; accepted is one at least.")
        display = cls(rounds=np.array(rounds), losses=np.array(losses), averages=averages, name=name)
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> AverageDisplay:
        """Draw the losses, and a ribbon of the predicting average.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            Name of the stream in the title; None is `name` of the display.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        AverageDisplay
            This object.
        """
        rounds, losses = np.asarray(self.rounds), np.asarray(self.losses, dtype=np.float64)
        chosen = check_averages(rounds, losses, self.averages)
        name = self._open(ax, name)
        spans = spans_of(rounds, chosen)
        self.lines_, self.ribbon_ = [], []
        for which, (what, style) in enumerate(STYLES.items()):
            share = sum(length for _, length in spans[which]) / max(rounds[-1] - rounds[0], 1)
            label = f"{what}: predicts {share:.0%} of the rounds"
            (line,) = self.ax_.plot(rounds, losses[:, which], **{"label": label, **style, **kwargs})
            how = {"transform": self.ax_.get_xaxis_transform(), "facecolors": line.get_color(), "linewidth": 0, "clip_on": False}
            self.lines_.append(line)
            self.ribbon_.append(self.ax_.broken_barh(spans[which], RIBBON, **how))
        above = {"transform": self.ax_.transAxes, "va": "bottom", "fontsize": "small", "color": self._ink()}
        self.ax_.text(0, sum(RIBBON) + 0.01, "what predicts", **above)
        settled = losses[len(losses) // 20 :]
        highest = settled.max(initial=0, where=np.isfinite(settled)) or 1.0
        self.ax_.set_ylim(0, 1.3 * highest)  # room for the legend, and not for the start
        if name is not None:
            self.ax_.set_title(name, pad=30, parse_math=False)
        self._finish("rounds", "recent mean loss")
        return self


def check_averages(rounds: Any, losses: Any, averages: list[Any]) -> list[int]:
    """Return the candidates' numbers; raise ValueError for mismatched data."""
    n = len(rounds)
    if n == 0 or losses.shape != (n, len(CANDIDATES)) or len(averages) != n:
        raise ValueError(
            f"losses has shape {losses.shape} and averages {len(averages)} entries; for {n} rounds they must have "
            f"{(n, len(CANDIDATES))} and {n}, with a round at least."
        )
    unknown = [average for average in averages if not any(same(average, candidate) for candidate in CANDIDATES)]
    if unknown:
        raise ValueError(f"averages holds {unknown[0]!r}; accepted are {', '.join(map(repr, CANDIDATES))}.")
    return [next(i for i, candidate in enumerate(CANDIDATES) if same(average, candidate)) for average in averages]


def same(average: Any, candidate: Any) -> bool:
    """Return whether an average is a candidate; 0 is not False."""
    return isinstance(average, type(candidate)) and average == candidate


def spans_of(rounds: Any, chosen: list[int]) -> list[list[tuple[float, float]]]:
    """Return each candidate's spans as starts and lengths."""
    spans: list[list[tuple[float, float]]] = [[] for _ in CANDIDATES]
    for which, (begin, end) in zip(chosen, pairwise(rounds), strict=False):
        if spans[which] and sum(spans[which][-1]) == begin:
            begin = spans[which].pop()[0]
        spans[which].append((begin, end - begin))
    return spans
