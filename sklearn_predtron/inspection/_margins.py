"""The margins of the rows."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, column_or_1d

from sklearn_predtron._support.encoding import encode
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.families.bipartite import PredtronBipartiteClassifier
from sklearn_predtron.families.ranking import PredtronRanker
from sklearn_predtron.families.sequences import PredtronSequenceTagger
from sklearn_predtron.inspection._display import NEGATIVE, Display, check_matplotlib, last_step
from sklearn_predtron.inspection._drawn import edges_through_zero, leads

# The units that have a margin, and the parameter with their ids.
BLOCKS = {
    PredtronRanker: ("queries", "qid"),
    PredtronBipartiteClassifier: ("groups", "qid"),
    PredtronSequenceTagger: ("sequences", "sid"),
}


class MarginDisplay(Display):
    """The distribution of the rows' margins, under unit weights.

    Margins below 0 are wrong predictions.

    Parameters
    ----------
    margins : ndarray of shape (n_samples,)
        Margins; those that are infinite, of rows that cannot be wrong, are not drawn.
    items : str, default="rows"
        The name of the items that have a margin each.
    name : str, default=None
        Name of the bars in the legend.

    Attributes
    ----------
    bars_ : matplotlib Artist
        The bars of the histogram; those below 0 have a colour of their own, and the legend says how many rows they are.
    zero_line_ : matplotlib Artist
        The vertical line at 0, which is an edge of the bars unless `bins` is given.
    least_line_ : matplotlib Artist
        The vertical line at the least margin.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    RiskCoverageDisplay : The benefit of abstaining on rows of small margin.
    sklearn_predtron.theory.margin : The least margin of given weights.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.inspection import MarginDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = PredtronClassifier(features=None, random_state=0).fit(X, y)
    >>> display = MarginDisplay.from_estimator(model, X, y)
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['below 0: 18 of 1797 rows', 'PredtronClassifier', 'least: -0.424']
    >>> plt.show()
    """

    def __init__(self, *, margins: NDArray, items: str = "rows", name: str | None = None):
        self.margins = margins
        self.items = items
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        qid: Any = None,
        *,
        sid: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> MarginDisplay:
        """Draw the margins of rows, queries or sequences.

        The smallest of them is `margin(X, y)`.

        Parameters
        ----------
        estimator : estimator
            A fitted Predtron estimator that has a `margin`, or a pipeline whose last step is one.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            True labels.
        qid : array-like of shape (n_samples,), default=None
            The query of each document, or the group of each row, for `PredtronRanker` and `PredtronBipartiteClassifier` only.
        sid : array-like of shape (n_samples,), default=None
            The sequence of each token, for `PredtronSequenceTagger` only.
        name : str, default=None
            Name of the bars in the legend; None is the estimator's class.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `hist`.

        Returns
        -------
        MarginDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        model, X = last_step(estimator, X)
        if getattr(model, "_margins", None) is None:
            raise ValueError(f"estimator={shortened(model)} has no margins; accepted are Predtron's classifiers and rankers.")
        items, taken = next((blocks for kind, blocks in BLOCKS.items() if isinstance(model, kind)), ("rows", None))
        ids = {"qid": qid, "sid": sid}
        check_ids_accepted(model, ids, taken)
        margins = model._margins(X, y) if taken is None else model._margins(X, y, ids[taken])
        name = type(model).__name__ if name is None else name
        return cls(margins=margins, items=items, name=name).plot(ax, **kwargs)

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
        """Draw the lead of the correct class over the best other.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_score : array-like of shape (n_samples, n_classes), or (n_samples,) for two classes
            Scores; of two classes the lead of the second.
        classes : array-like of shape (n_classes,), default=None
            The labels in the order of the scores; None is the sorted labels of `y_true`.
        length : float, default=1.0
            The norm of the weights that gave the scores; scores are divided by it.
        name : str, default=None
            Name of the bars in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `hist`.

        Returns
        -------
        MarginDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_predictions")
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
        """Draw the histogram, 0 and the smallest margin.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            Name of the bars in the legend; None is `name` of the display.
        **kwargs : dict
            Passed to matplotlib's `hist`.

        Returns
        -------
        MarginDisplay
            This object.
        """
        margins = np.asarray(self.margins)
        finite = margins[np.isfinite(margins)]
        if np.isnan(margins).any() or len(finite) == 0:
            raise ValueError("margins holds no finite margin, or nan, as weights that are zero have; there is nothing to draw.")
        name = self._open(ax, name)
        _, edges, self.bars_ = self.ax_.hist(finite, **{"bins": edges_through_zero(finite), "label": name, **kwargs})
        self._mark_negative(edges[1:] <= 0, f"below 0: {(margins < 0).sum()} of {len(margins)} {self.items}")
        self.zero_line_ = self.ax_.axvline(0, color=self._ink(), linewidth=1)
        label = f"least: {finite.min():.3g}"
        self.least_line_ = self.ax_.axvline(finite.min(), color=self._ink(), linestyle="--", label=label)
        self.ax_.margins(y=0.2)  # room for the legend
        self._finish("margin at unit norm of the weights (units of the inputs)", f"number of {self.items}")
        return self

    def _mark_negative(self, below: NDArray, label: str) -> None:
        """Colour the bars below 0, and label them."""
        bars = list(getattr(self.bars_, "patches", ()))  # outlines have none
        negative = [bar for bar, left in zip(bars, below, strict=False) if left and bar.get_height() > 0]
        if not negative:
            return
        others, name = [bar for bar in bars if bar not in negative], bars[0].get_label()
        for bar in bars:
            bar.set_label("_nolegend_")
        for bar in negative:
            bar.set_color(NEGATIVE)
        drawn = not below.all()
        if drawn:
            others[-1].set_label(name)
        negative[0].set_label(label if drawn or not name else f"{name}, {label}")


def check_ids_accepted(model: Any, ids: dict[str, Any], taken: str | None) -> None:
    """Raise ValueError for ids that an estimator does not accept."""
    given = [name for name, values in ids.items() if values is not None and name != taken]
    if given:
        kinds = [kind.__name__ for kind, (_, name) in BLOCKS.items() if name == given[0]]
        groups = "neither queries nor groups" if given[0] == "qid" else "no sequences"
        raise ValueError(
            f"{given[0]} is for {' and '.join(kinds)} only, and estimator={shortened(model)} has {groups}; accepted is None."
        )
