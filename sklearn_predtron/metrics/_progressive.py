"""Progressive validation: predict first, then train."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._support.queries import ONE, Ids, has_ids, ids_taken, shortened

MANY = 1024  # items whose losses are computed at a time: one by one they cost more than predicting and learning


def progressive_val_score(
    model: Any,
    stream: Iterable[Any],
    delay: int = 0,
    *,
    classes: ArrayLike | None = None,
    metric: Callable[..., Any] | None = None,
) -> float:
    """Return the mean loss of predictions made before training.

    At the end the model has been trained on the whole stream, as by successive calls of `partial_fit`.

    Parameters
    ----------
    model : estimator
        An estimator with `partial_fit`; it may be fitted.  `predict` uses averaged weights unless ``average=False``.
    stream : iterable
        Items.  (X, y) is as for `partial_fit`: a batch of any number of rows, one query for `PredtronRanker`, or one sequence
        for `PredtronSequenceTagger`.  (x, y) with one-dimensional x is a row.  (X, y, qid) is a batch of queries, (X, y, sid)
        of sequences; other estimators ignore a third entry.  If X holds objects that are not rows, as with joint features, all
        items are batches.  ``zip(X, y)`` is a data set row by row, a `SvmlightReader` a file by chunks.
    delay : int, default=0
        Number of items by which labels are late: the model trains on an item after predicting this many later ones.
    classes : array-like of shape (n_classes,), default=None
        All labels that will ever occur, for the first call of `partial_fit`; a classifier that has learned nothing needs them.
    metric : callable, default=None
        ``metric(y, predicted)`` returns one number for the item, or an array of several; all are averaged.  None is the
        estimator's own loss of each row, query or sequence, as in `sample_loss`.

    Returns
    -------
    float
        Mean over the predicted rows (queries, sequences).  An unfitted model cannot predict the first ``delay + 1`` items and
        only trains on them.

    Raises
    ------
    ValueError
        If a parameter is none of these, if `partial_fit` raises an error for an item (earlier items are learned), or if no item
        was predicted.

    See Also
    --------
    sklearn_predtron.callbacks.LossHistory : Records the loss suffered by the last iterate, without delay.

    Notes
    -----
    Delayed items are not copied: a stream with a delay should not overwrite them.

    Examples
    --------
    A rule that is reversed after half of the stream: the average of all weights is slow to notice, and labels that are late by
    100 rows cost most of the 100 rows after the turn.

    >>> import numpy as np
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.metrics import progressive_val_score
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((2000, 5))
    >>> y = (X[:, 0] > 0) ^ (np.arange(2000) >= 1000)
    >>> for average in ("linear", False):
    ...     for delay in (0, 100):
    ...         model = PredtronBinaryClassifier(average=average)
    ...         print(average, delay, round(progressive_val_score(model, zip(X, y), delay, classes=[False, True]), 3))
    linear 0 0.39
    linear 100 0.456
    False 0 0.077
    False 100 0.123
    >>> model.t_
    2000
    """
    if not isinstance(delay, Integral) or isinstance(delay, bool) or delay < 0:
        raise ValueError(f"delay={delay!r} must be an integer of at least 0.")
    accumulator = loss_accumulator(model, metric)
    known, waiting = is_fitted(model), deque[tuple[Any, Any, Any]]()
    first = {} if classes is None else {"classes": classes}
    ids, of_rows = ids_taken(model.partial_fit), takes_rows(model)
    for item in stream:
        batch = read_item(item, ids, of_rows)
        if known:
            accumulator.add(*batch)
        waiting.append(batch)
        if len(waiting) > delay:
            learn(model, ids, *waiting.popleft(), **first)
            known, first = True, {}
    for batch in waiting:
        learn(model, ids, *batch, **first)
        first = {}
    if accumulator.count() == 0:
        raise ValueError(
            f"stream={shortened(stream)} had no item that was predicted, with delay={delay}; accepted are at least {delay + 2} "
            "items, or one and a fitted model."
        )
    return accumulator.total / accumulator.n


def is_fitted(model: Any) -> bool:
    """Return whether a model can predict."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def takes_rows(model: Any) -> bool:
    """Return whether X holds rows of features."""
    return not hasattr(model, "__sklearn_tags__") or model.__sklearn_tags__().input_tags.two_d_array


def learn(model: Any, ids: Ids | None, X: Any, y: Any, given: Any, **first: Any) -> None:
    """Update the model on a batch."""
    if ids is not None and given is not None:
        first[ids.name] = given
    model.partial_fit(X, y, **first)


def read_item(item: Any, ids: Ids | None, of_rows: bool) -> tuple[Any, Any, Any]:
    """Return X, y and ids of a batch or row."""
    try:
        X, y, *given = item
    except (TypeError, ValueError):
        given = [None, None]
    if len(given) > 1:
        raise ValueError(
            f"stream holds {shortened(item)}; accepted are items (X, y), (X, y, qid) for queries and (X, y, sid) for sequences."
        )
    if not of_rows:
        return X, y, None
    if isinstance(X, list):
        X = np.asarray(X)
    if getattr(X, "ndim", 2) == 1:
        X, y = X.reshape(1, -1), y[None] if isinstance(y, np.ndarray) else [y]
    elif np.isscalar(y):  # beside a row of a sparse matrix, which has two dimensions
        y = [y]
    return X, y, given[0] if given and ids is not None else None


class LossAccumulator:
    """Accumulates losses."""

    def __init__(self, model: Any):
        self.model = model
        self.total, self.n = 0.0, 0

    def add(self, X: Any, y: Any, given: Any) -> None:
        """Predict a batch before training on it."""
        raise TypeError(f"{type(self).__name__} does not define add(); a judge must.")

    def count(self) -> int:
        """Return the number of values in the total."""
        return self.n

    def take(self, values: Any) -> None:
        """Add values to the total."""
        self.total += float(np.sum(values))
        self.n += np.size(values)


class MetricAccumulator(LossAccumulator):
    """Accumulates a metric of predictions and labels."""

    def __init__(self, model: Any, metric: Callable[..., Any]):
        super().__init__(model)
        self.metric = metric

    def add(self, X: Any, y: Any, given: Any) -> None:
        """Predict and compare a batch."""
        self.take(self.metric(y, self.model.predict(X, **id_kwargs(X, ids_taken(self.model.predict), given))))


class OwnLossAccumulator(LossAccumulator):
    """Accumulates the estimator's own loss."""

    def __init__(self, model: Any):
        super().__init__(model)
        self.ids = ids_taken(model.sample_loss)
        self.predicted: list[Any] = []
        self.labels: list[Any] = []

    def add(self, X: Any, y: Any, given: Any) -> None:
        """Predict a batch, possibly deferring its losses."""
        plain = type(y) in (np.ndarray, list) and (type(X) is np.ndarray or sparse.issparse(X))
        if given is not None or not plain:
            self.take(self.model.sample_loss(X, y, **id_kwargs(X, self.ids, given)))
        else:
            self.predicted.append(self.model._raw_predict(X))
            self.labels.append(y.copy())
            if len(self.labels) == MANY:
                self.count()

    def count(self) -> int:
        """Return the number of losses, with deferred ones."""
        if self.labels:
            sizes = [len(part) for part in self.predicted]
            items = [np.repeat(np.arange(len(sizes)), sizes)] if self.ids is not None else []
            self.take(self.model._loss_of(concatenated(self.predicted), concatenated(self.labels), *items))
            self.predicted, self.labels = [], []
        return self.n


def id_kwargs(X: Any, ids: Ids | None, given: Any) -> dict[str, Any]:
    """Return ids as arguments of a method; without ids the rows are one query or sequence."""
    if ids is None:
        return {}
    return {ids.name: ONE if given is None and not has_ids(X, ids) else given}


def concatenated(parts: list[Any]) -> Any:
    """Concatenate arrays or lists."""
    return np.concatenate(parts) if all(type(part) is np.ndarray for part in parts) else list(chain.from_iterable(parts))


def loss_accumulator(model: Any, metric: Callable[..., Any] | None) -> LossAccumulator:
    """Return the accumulator of the chosen loss."""
    if metric is None:
        if getattr(model, "_loss_of", None) is None:
            raise ValueError(
                f"metric=None is the estimator's own loss, which {type(model).__name__} does not have; pass a metric."
            )
        return OwnLossAccumulator(model)
    if not callable(metric):
        raise ValueError(f"metric={metric!r} must be None or a callable metric(y, predicted).")
    return MetricAccumulator(model, metric)
