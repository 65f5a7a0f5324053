"""The distribution of NDCG over queries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier

from sklearn_predtron._support import types
from sklearn_predtron._support.queries import shortened, split_ids
from sklearn_predtron.inspection._display import Display, check_matplotlib, last_step
from sklearn_predtron.metrics import ndcg

QUARTILES = np.array([0.25, 0.5, 0.75])


class NDCGDisplay(Display):
    """The cumulative distribution of NDCG over queries.

    The further to the right and the lower a curve, the better.  Its quartiles are points on it, its mean is a vertical line.
    Documents of equal scores are in random order, as in `metrics.ndcg`.

    Parameters
    ----------
    values : array-like of shape (n_queries,)
        The NDCG of each query, from 0 to 1.
    name : str, default=None
        Name of the curve in the legend.

    Attributes
    ----------
    mean : float
        The mean over the queries.
    quartiles : ndarray of shape (3,)
        The least values that a quarter, half and three quarters of the queries do not exceed.
    line_ : matplotlib Artist
        The curve.
    mean_line_ : matplotlib Artist
        The vertical line of the mean.
    quartile_points_ : matplotlib Artist
        The quartiles, on the curve.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    sklearn_predtron.metrics.ndcg : Computes the values.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from sklearn_predtron import PredtronRanker
    >>> from sklearn_predtron.inspection import NDCGDisplay
    >>> random = np.random.default_rng(0)
    >>> X, qid = random.standard_normal((2000, 5)), np.repeat(np.arange(200), 10)
    >>> y = np.digitize(X @ [1, 2, 3, 0, 0] + 3 * random.standard_normal(2000), [-3, 0, 3])
    >>> train, test = qid < 100, qid >= 100
    >>> model = PredtronRanker(random_state=0).fit(X[train], y[train], qid=qid[train])
    >>> display = NDCGDisplay.from_estimator(model, X[test], y[test], qid[test])
    >>> round(display.mean, 3), display.quartiles.round(3)
    (0.948, array([0.933, 0.972, 0.988]))
    >>> alone = NDCGDisplay.from_predictions(y[test], X[test, 2], qid[test], name="third feature alone", ax=display.ax_)
    >>> round(alone.mean, 3)
    0.907
    >>> plt.show()
    """

    def __init__(self, *, values: ArrayLike, name: str | None = None):
        self.values = values
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        qid: Any = None,
        *,
        k: int | None = None,
        gain: types.GainName = "exponential",
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> NDCGDisplay:
        """Draw the NDCG of an estimator's rankings.

        Parameters
        ----------
        estimator : estimator
            A fitted ranker, regressor or classifier, or a pipeline whose last step is one.  Scores are those of
            `decision_function`, or of `predict` if there is none.
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents, or rows whose labels are ranked.
        y : array-like of shape (n_documents,) or (n_samples, n_labels)
            Relevances, at least 0.
        qid : array-like of shape (n_documents,), default=None
            The query of each document, here or in a column "qid" of X; "one" is one query.  None is for relevances of shape
            (n_samples, n_labels), each row of which is ranked by itself.
        k : int, default=None
            Only the first k ranks count; None is all.
        gain : {"exponential", "linear"}, default="exponential"
            The gain of a relevance y: 2^y - 1, or y.
        name : str, default=None
            Name of the curve in the legend; None is the estimator's class.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `ecdf`.

        Returns
        -------
        NDCGDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        _, qid = split_ids(X, qid)
        model, X = last_step(estimator, X)
        if is_classifier(model) and not hasattr(model, "decision_function"):
            raise ValueError(f"estimator={shortened(model)} has labels, not scores; from_predictions takes the scores of any.")
        scores = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
        name = type(model).__name__ if name is None else name
        return cls.from_predictions(y, scores, qid, k=k, gain=gain, name=name, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        qid: Any = None,
        *,
        k: int | None = None,
        gain: types.GainName = "exponential",
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> NDCGDisplay:
        """Draw the NDCG of rankings by any scores.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,) or (n_samples, n_labels)
            Relevances, at least 0.
        y_score : array-like of the shape of y_true
            Scores; the larger, the higher the rank.
        qid : array-like of shape (n_documents,), default=None
            The query of each document; "one" is one query.  None is for relevances of shape (n_samples, n_labels).
        k : int, default=None
            Only the first k ranks count; None is all.
        gain : {"exponential", "linear"}, default="exponential"
            The gain of a relevance y: 2^y - 1, or y.
        name : str, default=None
            Name of the curve in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `ecdf`.

        Returns
        -------
        NDCGDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_predictions")
        if qid is None and np.ndim(y_score) == 1:
            raise ValueError(
                "qid=None is for relevances of shape (n_samples, n_labels), each row of which is a query, and these are of shape "
                f"{np.shape(y_score)}; pass qid, the query of each document, or qid='one' if they are one query."
            )
        values = ndcg(y_true, y_score, qid, k=k, gain=gain)
        return cls(values=values, name=name).plot(ax, **kwargs)

    @property
    def mean(self) -> float:
        """The mean over the queries."""
        return float(np.mean(np.asarray(self.values, dtype=np.float64)))

    @property
    def quartiles(self) -> NDArray:
        """The quartiles of NDCG over the queries."""
        return np.quantile(np.asarray(self.values, dtype=np.float64), QUARTILES, method="inverted_cdf")

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> NDCGDisplay:
        """Draw the distribution, its quartiles and its mean.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            Name of the curve in the legend; None is `name` of the display.
        **kwargs : dict
            Passed to matplotlib's `ecdf`.

        Returns
        -------
        NDCGDisplay
            This object.
        """
        values = np.asarray(self.values, dtype=np.float64)
        if values.ndim != 1 or len(values) == 0 or not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"values={shortened(values)} must be of shape (n_queries,), with numbers from 0 to 1.")
        name = self._open(ax, name)
        what = f"mean {self.mean:.3f}, quartiles {', '.join(f'{value:.3g}' for value in self.quartiles)}"
        self.line_ = self.ax_.ecdf(values, **{"label": what if name is None else f"{name}: {what}", **kwargs})
        color = self.line_.get_color()
        (self.quartile_points_,) = self.ax_.plot(self.quartiles, QUARTILES, "o", color=color)
        self.mean_line_ = self.ax_.axvline(self.mean, color=color, linestyle="--", linewidth=1)
        self._finish("NDCG of a query", "share of the queries up to that")
        return self
