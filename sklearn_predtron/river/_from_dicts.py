"""Bases of river's estimators, trained on dicts atomically."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base
from sklearn.base import clone

from sklearn_predtron._support.numbers import real_number
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.families.training.trainer import with_model
from sklearn_predtron.river._names import are_extreme, check_numbers, columns_for, entries


class DictEstimator(base.Estimator):
    """Base of estimators trained on dicts; failures change nothing."""

    estimator: Any

    def _start(self) -> None:
        """Start from scratch, or with a copy of the trained estimator."""
        self.model: Any = copied(self.estimator) if self.estimator.__sklearn_is_fitted__() else None
        self._columns = columns_for(self.estimator)

    @property
    def feature_names(self) -> list[Any]:
        """Names of the features, in column order of `model`."""
        return list(self._columns.numbers)

    def _rows(self, x: Any) -> Any:
        """Return the rows of a call; None if a name has no column."""
        return self._columns.row(x)

    def _known_rows(self, x: Any) -> Any:
        """Return the rows of a call without unknown names."""
        return self._columns.known_row(x)

    def _entries(self, x: Any) -> tuple[list[Any], NDArray]:
        """Return the names that need columns, and checked values."""
        names, values = entries(x)
        return self._columns.new_names(names, values[None]), values

    def _target(self, y: Any) -> Any:
        """Return the labels for `partial_fit`; None if unknown."""
        raise TypeError(f"{type(self).__name__} does not define _target(); a river estimator must.")

    def _model_for(self, y: Any) -> tuple[Any, Any, dict[str, Any]]:
        """Return a model for labels, and its call arguments; the model is None where nothing is to be learned."""
        raise TypeError(f"{type(self).__name__} does not define _model_for(); a river estimator must.")

    def _adopt(self, model: Any, y: Any) -> None:
        """Continue with a model that knows these labels."""
        self.model = model

    def learn_one(self, x: dict, y: Any, w: float = 1.0) -> None:
        """Learn from a row.

        Parameters
        ----------
        x : dict
            A number for each feature; missing features, None and NaN are 0 (under "scaled" the mean so far, with `features`
            missing values).
        y : label, or dict
            The label.  For sets of labels, whether each is on; missing labels are off.  For rankings of labels, the relevance
            of each; missing labels have 0.
        w : float, default=1.0
            The weight of the row, as `sample_weight` of `partial_fit`; with 0 the row counts as absent.
        """
        self._learn(x, y, w)

    def _learn(self, x: Any, y: Any, w: Any) -> None:
        """Learn from a call."""
        weight, n = read_weight(w), 1 if isinstance(x, dict) else len(x)
        if weight == 0:
            self._entries(x)  # which checks it
            return
        given = {} if weight == 1 else {"sample_weight": np.full(n, weight)}
        rows, target = self._rows(x), self._target(y)
        if rows is None or target is None:
            self._learn_new(x, y, given)
        else:
            self.model.partial_fit(rows, target, **given)
        self._columns.record_rows([x] if isinstance(x, dict) else x)

    def _learn_new(self, x: Any, y: Any, weights: dict[str, Any]) -> None:
        """Train on a call with new names or labels."""
        names, values = self._entries(x)
        model, target, given = self._model_for(y)
        if model is not None:
            with self._wider(model, names, values) as wide:
                wide.partial_fit(self._known_rows(x), target, **given, **weights)
            self._adopt(wide, y)

    def _check_labels(self, target: Any, **given: Any) -> None:
        """Raise ValueError for labels that the estimator rejects.

        A fresh model tries them on zero rows before the real one grows.
        """
        fresh = clone(self.estimator).set_params(norm="l2", features=None)
        fresh.partial_fit(np.zeros((len(target), 1)), target, **given)

    @contextmanager
    def _wider(self, model: Any, names: list[Any], values: NDArray) -> Iterator[Any]:
        """Widen rows and model for new names."""
        columns, n_known, width = self._columns, len(self._columns.numbers), getattr(model, "n_features_in_", 1)
        try:
            n = max(columns.add(names), width)
            if n > width and hasattr(model, "n_features_in_"):
                model = (copy.deepcopy(model) if are_extreme(values) else model).widen(n_features=n)
            columns.width = n
            yield model
        except BaseException:
            columns.keep(n_known)
            columns.width = 1 if self.model is None else self.model.n_features_in_
            raise


class GroupEstimator(DictEstimator):
    """Base of estimators trained on groups of labelled dicts.

    A group is the documents of a query, or the tokens of a sentence.
    """

    _row = "row"  # the word for a dict in messages

    def _rows(self, x: Any) -> Any:
        return self._columns.rows(x)

    def _known_rows(self, x: Any) -> Any:
        return self._columns.known_rows(x)

    def _entries(self, x: Any) -> tuple[list[Any], NDArray]:
        found = [entries(row) for row in x]
        names = [name for of_row, values in found for name in self._columns.new_names(of_row, values[None])]
        return list(dict.fromkeys(names)), np.concatenate([values for _, values in found])

    def learn_one(self, x: list[dict], y: list[Any], w: float = 1.0) -> None:  # type: ignore[override]
        """Learn from a round.

        Parameters
        ----------
        x : list of dict
            The documents of a query, or the tokens of a sentence: a number for each feature; missing features, None and NaN are
            0 (under "scaled" the mean so far, with `features` missing values).  An empty list changes nothing.
        y : list
            The relevance of each document, or the label of each token.
        w : float, default=1.0
            The weight of the round; with 0 it counts as absent.
        """
        check_block(x, self._row)
        if not isinstance(y, (list, tuple, np.ndarray)) or getattr(y, "ndim", 1) != 1 or len(y) != len(x):
            raise ValueError(f"y={shortened(y)} must be a list of {len(x)}, one for each {self._row} of x.")
        if len(x):
            self._learn(x, y, w)


class SavedInFiles:
    """Base of the river estimators whose model a file can hold."""

    model: Any
    feature_names: list[Any]

    def save(self, path: str | os.PathLike[str], *, custom: Mapping[str, Any] | None = None) -> None:
        """Write the model to a file, with the names of its features.

        `sklearn_predtron.load` reads it, and `to_river` continues with what it returns.

        Parameters
        ----------
        path : str or path-like
            The file.
        custom : dict of str to object, default=None
            Names of custom objects among the parameters, as for `PredtronClassifier.save`.

        Raises
        ------
        OSError
            If the file cannot be written.
        ValueError
            If there is no model yet, or a key is no string; a pickle holds any.
        """
        names = self.feature_names
        if self.model is None or len(names) != self.model.n_features_in_:
            raise ValueError(
                "there is no model to save yet: two labels and a feature make one.  Save the river estimator by pickle."
            )
        numbered = names == list(range(len(names)))
        if not numbered and not all(isinstance(name, str) for name in names):
            raise ValueError(f"the keys {shortened(names)} are not all strings, as a model file needs; save it by pickle.")
        columns = self.model._model.columns._replace(names=None if numbered else np.array(names, dtype=object))
        with_model(self.model, self.model._model.replace(columns=columns)).save(path, custom=custom)


def copied(estimator: Any) -> Any:
    """Return a copy of a trained estimator for rows of dicts: sparse, under the norm that it has, and without names."""
    model = copy.deepcopy(estimator)
    model.set_params(norm=model.norm_)
    fitted = model._model
    model._model = fitted.replace(columns=fitted.columns._replace(names=None), first_sparse=None)
    if getattr(fitted.labels, "names", None) is not None:
        fitted.labels.names = None
    return model


def read_weight(w: Any) -> float:
    """Return the weight of a call; raise ValueError unless it is a finite number of at least 0."""
    weight = real_number(w)
    if weight is None or not 0 <= weight < np.inf:
        raise ValueError(f"w={shortened(w)} must be a finite number of at least 0.")
    return float(weight)


def check_block(x: Any, row: str) -> None:
    """Raise ValueError unless the value is a list of dicts."""
    if not isinstance(x, (list, tuple)):
        raise ValueError(f"x={shortened(x)} must be a list of dicts, one for each {row}.")
    for one in x:
        if not isinstance(one, dict):
            check_numbers(one)
