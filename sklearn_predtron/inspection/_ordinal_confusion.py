"""The confusion of ordered ranks and its distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from sklearn_predtron._support.declared_order import declared_order
from sklearn_predtron._support.encoding import are_texts, encode
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.families.labels.classes import class_list
from sklearn_predtron.families.ordinal import PredtronOrdinalClassifier
from sklearn_predtron.inspection._display import Display, check_matplotlib, last_step
from sklearn_predtron.inspection._heat_map import draw_cells, names_of
from sklearn_predtron.metrics._rows import check_rows, read_weight


class OrdinalConfusionMatrixDisplay(Display):
    """The confusion matrix of ordered ranks, shaded by distance.

    Each cell shows its number of rows; its colour is their share among those of the true rank.  The title gives the share of
    all rows that are right, one rank off, and further off.

    Parameters
    ----------
    confusion_matrix : ndarray of shape (n_ranks, n_ranks)
        The number of rows, or their weight, of each true rank (row) and predicted rank (column).
    display_labels : array-like of shape (n_ranks,), default=None
        The ranks from the lowest to the highest; None is their numbers.

    Attributes
    ----------
    distances : ndarray of shape (n_ranks,)
        The share of the rows that are 0, 1, ... ranks off.
    mean_distance : float
        The mean distance of predicted and true ranks.
    im_ : matplotlib AxesImage
        The heat map.
    text_ : ndarray of shape (n_ranks, n_ranks), dtype=matplotlib Text, or None
        The numbers in the cells; None with more than 16 ranks, whose cells are too small.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    sklearn.metrics.ConfusionMatrixDisplay : Classes without an order.
    sklearn_predtron.PredtronOrdinalClassifier : Learns ranks.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_predtron import PredtronOrdinalClassifier
    >>> from sklearn_predtron.inspection import OrdinalConfusionMatrixDisplay
    >>> X, target = load_diabetes(return_X_y=True)
    >>> y = np.array(["low", "medium", "high"])[np.digitize(target, [100, 200])]
    >>> model = PredtronOrdinalClassifier(categories=["low", "medium", "high"], random_state=0).fit(X, y)
    >>> display = OrdinalConfusionMatrixDisplay.from_estimator(model, X, y)
    >>> display.confusion_matrix
    array([[ 87,  58,   2],
           [ 36, 111,  21],
           [  3,  51,  73]])
    >>> display.distances.round(3), round(display.mean_distance, 3)
    (array([0.613, 0.376, 0.011]), 0.398)
    >>> plt.show()
    """

    def __init__(self, confusion_matrix: NDArray, *, display_labels: Any = None):
        self.confusion_matrix = confusion_matrix
        self.display_labels = display_labels

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        colorbar: bool = True,
        ax: Any = None,
        **kwargs: Any,
    ) -> OrdinalConfusionMatrixDisplay:
        """Draw the confusion of an estimator's predictions.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier, or a pipeline whose last step is one.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels.
        labels : array-like of shape (n_ranks,), default=None
            The labels from the lowest rank to the highest.  None is the order of `classes_` for `PredtronOrdinalClassifier`, and
            for others the order that `y` declares, or that of the numbers in `classes_`; text without an order raises ValueError.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, not negative.
        colorbar : bool, default=True
            Whether a bar explains the colours.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `imshow`.

        Returns
        -------
        OrdinalConfusionMatrixDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        model, X = last_step(estimator, X)
        if not hasattr(model, "classes_"):
            raise ValueError(f"estimator={shortened(model)} has no classes_; accepted are fitted classifiers.")
        if labels is None and isinstance(model, PredtronOrdinalClassifier):
            labels = model.classes_
        elif labels is None and declared_order(y) is None and not are_texts(model.classes_):
            labels = np.union1d(model.classes_, column_or_1d(y))  # a rank that these rows lack is one, too
        more = {"labels": labels, "sample_weight": sample_weight, "colorbar": colorbar, "ax": ax}
        return cls.from_predictions(y, model.predict(X), **more, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        colorbar: bool = True,
        ax: Any = None,
        **kwargs: Any,
    ) -> OrdinalConfusionMatrixDisplay:
        """Draw the confusion of any predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_pred : array-like of shape (n_samples,)
            Predicted labels.
        labels : array-like of shape (n_ranks,), default=None
            The labels from the lowest rank to the highest.  None is the order that `y_true` declares, an ordered pandas
            Categorical or polars Enum, or that of the numbers that occur; text without an order raises ValueError.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, not negative.
        colorbar : bool, default=True
            Whether a bar explains the colours.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `imshow`.

        Returns
        -------
        OrdinalConfusionMatrixDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_predictions")
        labels = declared_order(y_true) if labels is None else class_list(labels)
        true, predicted = column_or_1d(y_true), column_or_1d(y_pred)
        if len(true) == 0:
            raise ValueError("y_true is empty; it must have the label of one row at least.")
        check_rows("y_pred", predicted, len(true))
        labels = ranks_of(true, predicted) if labels is None else checked_ranks(labels)
        true, predicted = encode(true, labels, "y_true"), encode(predicted, labels, "y_pred")
        k, cells = len(labels), len(labels) * true + predicted
        weight = None if sample_weight is None else read_weight(sample_weight, true)
        counts = np.bincount(cells, weight, minlength=k * k).reshape(k, k)
        return cls(counts, display_labels=labels).plot(ax, colorbar=colorbar, **kwargs)

    @property
    def distances(self) -> NDArray:
        """Share of the rows at each distance of ranks."""
        counts = np.asarray(self.confusion_matrix)
        off = np.abs(np.subtract.outer(np.arange(len(counts)), np.arange(len(counts))))
        return np.bincount(off.ravel(), counts.ravel(), len(counts)) / counts.sum()

    @property
    def mean_distance(self) -> float:
        """The mean distance of ranks."""
        return float(self.distances @ np.arange(len(self.distances)))

    def plot(self, ax: Any = None, *, colorbar: bool = True, **kwargs: Any) -> OrdinalConfusionMatrixDisplay:
        """Draw the matrix.

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
        OrdinalConfusionMatrixDisplay
            This object.
        """
        counts = check_confusion(self.confusion_matrix)
        labels = np.arange(len(counts)) if self.display_labels is None else np.asarray(self.display_labels)
        check_rows("display_labels", labels, len(counts))
        self._open(ax)
        total = counts.sum(axis=1, keepdims=True)
        shares = np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0)
        texts, names = np.vectorize("{:.4g}".format, otypes=[object])(counts), names_of(labels)
        how = {"vmin": 0, "cmap": "Blues", **kwargs}
        bar = "share of the true rank's rows" if colorbar else None
        self.im_, self.text_ = draw_cells(self.ax_, shares, texts, rows=names, columns=names, colorbar=bar, **how)
        right, near = self.distances[0], self.distances[1:2].sum()
        self.ax_.set_title(
            f"right {right:.1%}, one rank off {near:.1%}, further {max(1 - right - near, 0):.1%}", fontsize="medium"
        )
        self._finish("predicted rank", "true rank")
        return self


def check_confusion(counts: Any) -> NDArray:
    """Return a confusion matrix of ranks, checked."""
    counts = np.asarray(counts)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not (counts >= 0).all() or not 0 < counts.sum() < np.inf:
        raise ValueError(
            f"confusion_matrix={shortened(counts)} must be of shape (n_ranks, n_ranks), with numbers of at least 0, not all 0."
        )
    return counts


def checked_ranks(labels: NDArray) -> NDArray:
    """Return the ranks; raise ValueError for duplicates."""
    if len(set(labels.tolist())) < len(labels):
        raise ValueError(f"labels={shortened(labels.tolist())} must list each label once, from the lowest rank to the highest.")
    return labels


def ranks_of(true: NDArray, predicted: NDArray) -> NDArray:
    """Return the sorted labels; raise ValueError for text."""
    if are_texts(true) or are_texts(predicted):
        raise ValueError(
            "labels=None is for numbers and for labels that declare their order, and y_true holds text; accepted are all labels, "
            "from the lowest rank to the highest."
        )
    return np.unique(np.concatenate([true, predicted]))
