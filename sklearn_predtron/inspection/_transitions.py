"""The transition scores of a tagger."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.families.sequences import PredtronSequenceTagger
from sklearn_predtron.inspection._display import Display, check_matplotlib, last_step
from sklearn_predtron.inspection._heat_map import draw_cells, names_of
from sklearn_predtron.metrics._rows import check_rows


class TransitionDisplay(Display):
    """The transition scores of a tagger, from label to label.

    Purple cells speak for a transition, orange ones against it; grey ones with an "x" are forbidden by the constraint.

    Parameters
    ----------
    transitions : ndarray of shape (n_classes, n_classes)
        Scores of a label (row) before another (column); -inf where it is forbidden.
    start, end : ndarray of shape (n_classes,)
        Scores of first and of last labels.
    display_labels : array-like of shape (n_classes,), default=None
        The labels; None is their numbers.

    Attributes
    ----------
    im_ : matplotlib AxesImage
        The heat map, whose last row is of first labels and whose last column is of last ones.
    text_ : ndarray of shape (n_classes + 1, n_classes + 1), dtype=matplotlib Text, or None
        The scores in the cells; None with more than 15 labels, whose cells are too small.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    sklearn_predtron.PredtronSequenceTagger : Learns the scores.

    Notes
    -----
    A score of tokens that always come with a label may do the same as its transitions, so that the size of a score tells how the
    labels were learned, not how often a transition occurs.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from sklearn_predtron import PredtronSequenceTagger
    >>> from sklearn_predtron.inspection import TransitionDisplay
    >>> random = np.random.default_rng(0)
    >>> y = np.cumsum(random.random(1000) < 0.2) % 3  # 0, 1, 2, 0, ..., each for five tokens on the mean
    >>> X, sid = np.eye(3)[y] + random.standard_normal((1000, 3)), np.arange(1000) // 20
    >>> model = PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid)
    >>> display = TransitionDisplay.from_estimator(model)
    >>> display.transitions.round(2)
    array([[ 1.58,  0.46, -2.02],
           [-2.15,  1.64,  0.5 ],
           [ 0.36, -2.02,  1.66]])
    >>> plt.show()
    """

    def __init__(self, *, transitions: NDArray, start: NDArray, end: NDArray, display_labels: Any = None):
        self.transitions = transitions
        self.start = start
        self.end = end
        self.display_labels = display_labels

    @classmethod
    def from_estimator(cls, estimator: Any, *, colorbar: bool = True, ax: Any = None, **kwargs: Any) -> TransitionDisplay:
        """Draw the transition scores of a tagger.

        Parameters
        ----------
        estimator : PredtronSequenceTagger
            A fitted tagger, or a pipeline whose last step is one.
        colorbar : bool, default=True
            Whether a bar explains the colours.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `imshow`.

        Returns
        -------
        TransitionDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        model, _ = last_step(estimator)
        if not isinstance(model, PredtronSequenceTagger):
            raise ValueError(f"estimator={shortened(model)} has no transitions; accepted is a fitted PredtronSequenceTagger.")
        learned = {"transitions": model.transitions_, "start": model.start_, "end": model.end_}
        return cls(**learned, display_labels=model.classes_).plot(ax, colorbar=colorbar, **kwargs)

    def plot(self, ax: Any = None, *, colorbar: bool = True, **kwargs: Any) -> TransitionDisplay:
        """Draw the scores.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        colorbar : bool, default=True
            Whether a bar explains the colours.
        **kwargs : dict
            Passed to matplotlib's `imshow`.

        Returns
        -------
        TransitionDisplay
            This object.
        """
        scores = transition_table(np.asarray(self.transitions), np.asarray(self.start), np.asarray(self.end))
        k = len(scores) - 1
        labels = np.arange(k) if self.display_labels is None else np.asarray(self.display_labels)
        check_rows("display_labels", labels, k)
        self._open(ax)
        largest = np.abs(scores[np.isfinite(scores)]).max(initial=0) or 1.0
        texts = np.vectorize(cell_text, otypes=[object])(scores)
        names = names_of(labels)
        rows, columns = np.append(names, "(first)"), np.append(names, "(last)")
        how = {"vmin": -largest, "vmax": largest, "cmap": "PuOr", **kwargs}
        bar = "score of the transition" if colorbar else None
        self.im_, self.text_ = draw_cells(self.ax_, scores, texts, rows=rows, columns=columns, colorbar=bar, **how)
        for line in (self.ax_.axhline, self.ax_.axvline):
            line(k - 0.5, color=self._ink(), linewidth=1.5)
        self._finish("label", "label before it")
        return self


def transition_table(transitions: NDArray, start: NDArray, end: NDArray) -> NDArray:
    """Return a table of all scores; the last row is for first labels, the last column for last ones."""
    k = len(transitions) if transitions.ndim == 2 else 0
    if k == 0 or transitions.shape != (k, k) or np.isnan(transitions).any():
        raise ValueError(f"transitions has shape {transitions.shape}; accepted are numbers of shape (n_classes, n_classes).")
    check_rows("start", start, k)
    check_rows("end", end, k)
    return np.block([[transitions, end[:, None]], [start[None], np.full((1, 1), np.nan)]])


def cell_text(score: float) -> str:
    """Return a cell's text: score, x (forbidden) or nothing."""
    return "" if np.isnan(score) else "x" if np.isinf(score) else f"{score:.2g}"
