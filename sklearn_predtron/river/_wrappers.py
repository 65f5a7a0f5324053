"""River's wrappers of classifiers."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base
from river.utils.dataframe import to_native_frame, to_native_series
from sklearn.base import clone

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.families.classification import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.families.multilabel import PredtronMultilabelClassifier
from sklearn_predtron.river._from_dicts import DictEstimator, SavedInFiles, read_weight
from sklearn_predtron.river._labels import KINDS, check_label, first_classes, indicators, label_numbers, no_label
from sklearn_predtron.river._names import CentredColumns, entries_of, frame_values


class RiverClassifier(SavedInFiles, DictEstimator, base.MiniBatchClassifier):
    """River classifier around this package's; see `to_river`.

    Parameters
    ----------
    estimator : PredtronBinaryClassifier, PredtronClassifier or PredtronOrdinalClassifier
        A trained one is continued, on a copy.
    classes : list, default=None
        Labels known from the start.
    """

    def __init__(self, estimator: Any, classes: Any = None):
        self.estimator = estimator
        self.classes = classes
        self._start()
        self._known = frozenset() if self.model is None else frozenset(self.model.classes_.tolist())
        self._only: Any = None  # the label seen so far, while there is a single one

    @property
    def _multiclass(self) -> bool:
        return not isinstance(self.estimator, PredtronBinaryClassifier)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"estimator": PredtronClassifier()}
        yield {"estimator": PredtronBinaryClassifier()}

    def _target(self, y: Any) -> Any:
        try:
            return [y] if y in self._known else None
        except TypeError:  # of objects without a hash
            raise no_label(y, KINDS) from None

    def _model_for(self, y: Any) -> tuple[Any, Any, dict[str, Any]]:
        check_label(y)
        if self.model is not None:
            known = y in self._known
            return self.model if known else copy.deepcopy(self.model).widen(classes=[y]), [y], {}
        classes = self.classes
        if classes is None and getattr(self.estimator, "categories", None) is None:
            classes = first_classes(self._only, [y])
            if classes is None:
                self._only = y
                return None, None, {}
        return clone(self.estimator), [y], {"classes": classes}

    def _adopt(self, model: Any, y: Any) -> None:
        self.model = model
        self._known = frozenset(model.classes_.tolist())

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
            One of the labels seen so far, or that of `reject`; None before the first.
        """
        if self.model is None:
            return self._only
        return self.model.predict(self._columns.known_row(x)).tolist()[0]

    def predict_proba_one(self, x: dict, **kwargs: Any) -> dict[Any, float]:
        """Compute the probability of each label of a row.

        Parameters
        ----------
        x : dict
            A number for each feature; unknown names, None and NaN are ignored.
        **kwargs : dict
            Not used.

        Returns
        -------
        dict of float
            By label, for the labels seen so far; 1 for a single one.  Before the first label, equal ones for `classes`, for
            False and True if the estimator has two classes, and otherwise none.  `reject` has no entry.

        Raises
        ------
        NotImplementedError
            If the estimator has no probabilities.
        """
        if self.model is None:
            return self._prior()
        found = self._probabilities_of(self._columns.known_row(x))
        return dict(zip(self.model.classes_.tolist(), found[0].tolist(), strict=True))

    def _probabilities_of(self, rows: Any) -> NDArray:
        """Return the probabilities of rows; raise river's error without them."""
        try:
            return self.model.predict_proba(rows)
        except AttributeError as error:
            raise NotImplementedError(str(error.__cause__ or error)) from None

    def _prior(self) -> dict[Any, float]:
        """Return the label probabilities before there is a model."""
        if self._only is not None:
            return {self._only: 1.0}
        known = ([] if self._multiclass else [False, True]) if self.classes is None else list(self.classes)
        return dict.fromkeys(known, 1 / max(len(known), 1))

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Train on rows in order, bit-identical to `learn_one`.

        Parameters
        ----------
        X : data frame of shape (n_samples, n_features)
            Numbers, in a frame of pandas, polars, pyarrow or another library that narwhals knows; a column for each feature,
            possibly a new one.  None and NaN are as in `learn_one`.
        y : series or array-like of shape (n_samples,)
            Labels.
        w : float, or series or array-like of shape (n_samples,), default=1.0
            Weights of the rows, or one for all; rows of weight 0 count as absent.
        """
        names, values, _ = frame_values(X)
        labels, weights = entries_of(y), entries_of(w)
        if len(labels) != len(values):
            raise ValueError(f"X has {len(values)} rows and y has {len(labels)}; both must have the same number.")
        if not isinstance(weights, list):
            weights = [weights] * len(labels)
        if len(weights) != len(labels):
            raise ValueError(f"X has {len(values)} rows and w has {len(weights)}; both must have the same number.")
        weights = list(map(read_weight, weights))
        there = [i for i, weight in enumerate(weights) if weight > 0]
        if len(there) < len(labels):
            values, labels, weights = values[there], [labels[i] for i in there], [weights[i] for i in there]
        with self._all_or_nothing(labels):
            first = 0
            alone = isinstance(self._columns, CentredColumns) and bool(np.isnan(values).any())  # by the mean of those before
            for i, label in enumerate(labels):
                if alone or self._target(label) is None:
                    self._learn_rows(names, values[first:i], labels[first:i], weights[first:i])
                    self.learn_one(dict(zip(names, values[i].tolist(), strict=True)), label, weights[i])
                    first = i + 1
            self._learn_rows(names, values[first:], labels[first:], weights[first:])

    @contextmanager
    def _all_or_nothing(self, labels: list[Any]) -> Iterator[None]:
        """Restore the previous model if one of several calls fails."""
        centred = isinstance(self._columns, CentredColumns)
        several = centred or any(self._target(label) is None for label in labels)
        before = copy.deepcopy(self.model) if several else self.model
        known, only, n_known = self._known, self._only, len(self._columns.numbers)
        sums = dict(self._columns.sums) if isinstance(self._columns, CentredColumns) else {}
        try:
            yield
        except BaseException:
            if several:
                self.model, self._known, self._only = before, known, only
                self._columns.keep(n_known)
                if isinstance(self._columns, CentredColumns):
                    self._columns.sums = sums
                self._columns.width = 1 if before is None else before.n_features_in_
            raise

    def _learn_rows(self, names: list[Any], values: NDArray, labels: list[Any], weights: list[float]) -> None:
        """Train on rows whose labels are known."""
        if not labels:
            return
        given = {} if set(weights) == {1.0} else {"sample_weight": weights}
        with self._wider(self.model, self._columns.new_names(names, values), values) as model:
            model.partial_fit(self._columns.frame_rows(names, values), labels, **given)
        self.model = model
        self._columns.record_rows([dict(zip(names, row, strict=True)) for row in values.tolist()])

    def predict_many(self, X: Any) -> Any:
        """Predict the labels of rows.

        Parameters
        ----------
        X : data frame of shape (n_samples, n_features)
            Numbers, as in `learn_many`; unknown columns are ignored.

        Returns
        -------
        series of shape (n_samples,)
            As `predict_one` of each row, of the library of X, and under its index if it has one.
        """
        names, values, frame = frame_values(X)
        if self.model is None or len(values) == 0:
            found = [self._only] * len(values)
        else:
            found = self.model.predict(self._columns.frame_rows(names, values)).tolist()
        return to_native_series(found, name=None, like=frame)

    def predict_proba_many(self, X: Any) -> Any:
        """Compute the probability of each label of rows.

        Parameters
        ----------
        X : data frame of shape (n_samples, n_features)
            Numbers, as in `learn_many`; unknown columns are ignored.

        Returns
        -------
        data frame of shape (n_samples, n_labels)
            As `predict_proba_one` of each row, of the library of X, and under its index if it has one.  A column for each label:
            in pandas named by the label, otherwise by its text.
        """
        names, values, frame = frame_values(X)
        if self.model is None:
            prior = self._prior()
            if not prior:
                return frame.drop(names).to_native()
            labels, found = list(prior), np.tile(list(prior.values()), (len(values), 1))
        else:
            labels, rows = self.model.classes_.tolist(), self._columns.frame_rows(names, values)
            found = self._probabilities_of(rows) if len(values) else np.empty((0, len(labels)))
        return to_native_frame(dict(zip(labels, found.T, strict=True)), like=frame)


class RiverMultiLabelClassifier(DictEstimator, base.MultiLabelClassifier):
    """`PredtronMultilabelClassifier` for river; see `to_river`.

    It is trained on sets of labels as dicts.

    Parameters
    ----------
    estimator : PredtronMultilabelClassifier
        A trained one is continued, on a copy.
    """

    def __init__(self, estimator: Any):
        self.estimator = estimator
        self._start()
        self._labels: dict[Any, int] = {} if self.model is None else label_numbers(self.estimator)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"estimator": PredtronMultilabelClassifier()}

    @property
    def label_names(self) -> list[Any]:
        """Names of the labels, in column order of `model`."""
        return list(self._labels)

    def _target(self, y: Any) -> Any:
        if not isinstance(y, dict):
            raise no_label(y, "a dict, whether each label is on")
        known = self.model is not None and y.keys() <= self._labels.keys()
        return indicators(self._labels, y) if known else None

    def _labels_with(self, y: dict) -> dict[Any, int]:
        """Return the numbers of known and new labels."""
        return {name: number for number, name in enumerate(dict.fromkeys([*self._labels, *y]))}

    def _model_for(self, y: Any) -> tuple[Any, Any, dict[str, Any]]:
        labels = self._labels_with(y)
        target = indicators(labels, y)
        if self.model is None:
            if len(labels) < 2:
                raise ValueError(f"y={shortened(y)} has fewer than two labels; a single one is for PredtronBinaryClassifier.")
            return clone(self.estimator), target, {}
        known = len(labels) == len(self._labels)
        return self.model if known else copy.deepcopy(self.model).widen(classes=range(len(labels))), target, {}

    def _adopt(self, model: Any, y: Any) -> None:
        self.model, self._labels = model, self._labels_with(y)

    def predict_one(self, x: dict, **kwargs: Any) -> dict[Any, bool]:
        """Predict the set of labels of a row.

        Parameters
        ----------
        x : dict
            A number for each feature; unknown names, None and NaN are ignored.
        **kwargs : dict
            Not used.

        Returns
        -------
        dict of bool
            Whether each label seen so far is on; empty before the first row.
        """
        if self.model is None:
            return {}
        return dict(zip(self._labels, map(bool, self.model.predict(self._columns.known_row(x))[0].tolist()), strict=True))

    def predict_proba_one(self, x: dict, **kwargs: Any) -> dict[Any, dict[bool, float]]:
        """Compute the probability of each label of a row.

        Parameters
        ----------
        x : dict
            A number for each feature; unknown names, None and NaN are ignored.
        **kwargs : dict
            Not used.

        Returns
        -------
        dict of dict
            By label, the probabilities that it is off and that it is on; empty before the first row.
        """
        if self.model is None:
            return {}
        found = self.model.predict_proba(self._columns.known_row(x))[0].tolist()
        return {name: {False: 1 - p, True: p} for name, p in zip(self._labels, found, strict=True)}
