"""River's wrapper of a classifier of batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base
from sklearn.base import clone

from sklearn_predtron._support.queries import shortened_list
from sklearn_predtron.families.bipartite import PredtronBipartiteClassifier
from sklearn_predtron.families.classification import PredtronBinaryClassifier
from sklearn_predtron.river._from_dicts import DictEstimator, read_weight
from sklearn_predtron.river._labels import check_label, first_classes, no_label
from sklearn_predtron.river._names import are_extreme, entries


class RiverBatchClassifier(DictEstimator, base.Classifier):
    """River classifier that collects rows into batches; see `to_river`.

    Parameters
    ----------
    estimator : PredtronBipartiteClassifier
        A trained one is continued, on a copy.
    classes : list, default=None
        The two labels, if they are known from the start.
    """

    def __init__(self, estimator: Any, classes: Any = None):
        self.estimator = estimator
        self.classes = classes
        self._start()
        self._only: Any = None  # the label seen so far, while there is a single one
        self._known = () if self.model is None else tuple(self.model.classes_.tolist())
        self._waiting: list[tuple[dict, Any, float]] = []

    @property
    def _multiclass(self) -> bool:
        return False

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"estimator": PredtronBipartiteClassifier(loss="auc", batch_size=20)}

    def learn_one(self, x: dict, y: Any, w: float = 1.0) -> None:
        """Add a row, and train once the batch is full.

        Parameters
        ----------
        x : dict
            A number for each feature; missing features, None and NaN are 0 (under "scaled" the mean so far, with `features`
            missing values).
        y : str, int or bool
            The label.
        w : float, default=1.0
            The weight of the row, as `sample_weight` of `partial_fit`; with 0 the row counts as absent.
        """
        weight = read_weight(w)
        self._check_row(entries(x)[1])
        if weight == 0:
            return
        known = self._labels_with(y)
        if known is None:
            self._only = y
            return
        batch = [*self._waiting, (dict(x), y, weight)]
        if len(batch) == self.estimator.batch_size:
            self._learn_batch(batch, known)
            batch = []
        self._known, self._waiting = known, batch

    def _labels_with(self, y: Any) -> tuple | None:
        """Return both labels; None while only one is known."""
        check_label(y)
        known = self._known
        if not known:
            found = first_classes(self._only, [y]) if self.classes is None else list(self.classes)
            if found is None:
                return None
            self._check_labels(found[:1], classes=found)
            known = tuple(found)
        if y not in known:
            raise no_label(y, f"one of the two, {shortened_list(known)}")
        return known

    def _check_row(self, values: NDArray) -> None:
        """Raise ValueError for a row that batches would reject."""
        if are_extreme(values):
            PredtronBinaryClassifier(norm="l2").partial_fit(np.nan_to_num(values[None]), [True], classes=[False, True])

    def _learn_batch(self, batch: list[tuple[dict, Any, float]], known: tuple) -> None:
        """Learn from rows as one batch."""
        rows, labels, weights = map(list, zip(*batch, strict=True))
        begins = self.model is None
        given: dict[str, Any] = {"classes": known} if begins else {}
        if set(weights) != {1.0}:
            given["sample_weight"] = weights
        found = [entries(x) for x in rows]
        names = [name for of_row, values in found for name in self._columns.new_names(of_row, values[None])]
        with self._wider(clone(self.estimator) if begins else self.model, names, np.concatenate([v for _, v in found])) as wide:
            wide.partial_fit(self._columns.known_rows(rows), labels, **given)
        self.model = wide
        self._columns.record_rows(rows)

    def predict_one(self, x: dict, **kwargs: Any) -> Any:
        """Predict the label of a row.

        Parameters
        ----------
        x : dict
            A number for each feature; unknown names, None and NaN are ignored.
        **kwargs : dict
            Not used.

        Returns
        -------
        object
            One of the two labels; before the first batch the only label so far, or None.
        """
        if self.model is None:
            return self._only
        return self.model.predict(self._known_rows(x)).tolist()[0]

    def predict_proba_one(self, x: dict, **kwargs: Any) -> dict[Any, float]:
        """Compute the probabilities of both labels of a row.

        Parameters
        ----------
        x : dict
            A number for each feature; unknown names, None and NaN are ignored.
        **kwargs : dict
            Not used.

        Returns
        -------
        dict of float
            By label; before the first batch equal ones, and 1 for a single label.
        """
        if self.model is None:
            known = self._known or ((False, True) if self._only is None else (self._only,))
            return dict.fromkeys(known, 1 / len(known))
        return dict(zip(self.model.classes_.tolist(), self.model.predict_proba(self._known_rows(x))[0].tolist(), strict=True))
