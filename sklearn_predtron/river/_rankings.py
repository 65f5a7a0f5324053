"""River's wrappers of rankers of documents and labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sklearn_predtron._support.numbers import real_numbers
from sklearn_predtron._support.queries import shortened, shortened_list
from sklearn_predtron.families.label_ranking import PredtronLabelRanker
from sklearn_predtron.families.ranking import PredtronRanker
from sklearn_predtron.river._from_dicts import DictEstimator, GroupEstimator, SavedInFiles, check_block
from sklearn_predtron.river._labels import label_numbers, no_label, relevances

LEAST_LABELS = 2


class RiverRanker(SavedInFiles, GroupEstimator):
    """`PredtronRanker` for river, one query at a time; see `to_river`.

    Parameters
    ----------
    estimator : PredtronRanker
        A trained one is continued, on a copy.
    """

    _row = "document"

    def __init__(self, estimator: Any):
        self.estimator = estimator
        self._start()

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"estimator": PredtronRanker()}

    def _target(self, y: Any) -> Any:
        found = real_numbers(y)
        if found is None or found.ndim != 1 or not np.isfinite(found).all() or found.min() < 0:
            raise ValueError(f"y={shortened(y)} must hold the relevance of each document, a finite number of at least 0.")
        return None if self.model is None else found

    def _model_for(self, y: Any) -> tuple[Any, Any, dict[str, Any]]:
        target = real_numbers(y)
        self._check_labels(target)
        return clone(self.estimator) if self.model is None else self.model, target, {}

    def predict_one(self, x: list[dict], **kwargs: Any) -> list[float]:
        """Score the documents of a query; higher is better.

        Parameters
        ----------
        x : list of dict
            The documents: a number for each feature; unknown names, None and NaN are ignored.
        **kwargs : dict
            Not used.

        Returns
        -------
        list of float
            The score of each document, 0 before the first query.
        """
        return self._scores(x).tolist()

    def rank_one(self, x: list[dict]) -> list[int]:
        """Rank the documents of a query.

        Parameters
        ----------
        x : list of dict
            The documents, as for `predict_one`.

        Returns
        -------
        list of int
            The numbers of the documents, from 0, the best one first; documents of equal scores keep their order.
        """
        return np.argsort(-self._scores(x), kind="stable").tolist()

    def _scores(self, x: list[dict]) -> NDArray:
        """Return the scores of documents."""
        check_block(x, self._row)
        if self.model is None or len(x) == 0:
            return np.zeros(len(x))
        return self.model.predict(self._known_rows(x))


class RiverLabelRanker(DictEstimator):
    """`PredtronLabelRanker` for river; see `to_river`.

    The labels have names.

    Parameters
    ----------
    estimator : PredtronLabelRanker
        A trained one is continued, on a copy.
    classes : list, default=None
        The labels; None takes those of the first row.
    """

    def __init__(self, estimator: Any, classes: Any = None):
        self.estimator = estimator
        self.classes = classes
        self._start()
        self._labels: dict[Any, int] = {} if self.model is None else label_numbers(self.estimator)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"estimator": PredtronLabelRanker()}

    @property
    def label_names(self) -> list[Any]:
        """Names of the labels, in column order of `model`."""
        return list(self._labels)

    def _target(self, y: Any) -> Any:
        if not isinstance(y, dict):
            raise no_label(y, "a dict, the relevance of each label")
        if self.model is None:
            return None
        return relevances(self._labels, self._of_known(y, self._labels))

    def _of_known(self, y: dict, labels: dict[Any, int]) -> dict:
        """Return the relevances; raise ValueError for unknown labels."""
        new = [label for label in y if label not in labels]
        if new:
            raise ValueError(
                f"y has the label {new[0]!r}; accepted are {shortened_list(labels)}, those of the first row or of `classes`: "
                "PredtronLabelRanker does not take more."
            )
        return y

    def _labels_with(self, y: dict) -> dict[Any, int]:
        """Return the numbers of the labels."""
        if self.model is not None:
            return self._labels
        labels = dict.fromkeys(y if self.classes is None else self.classes)
        if len(labels) < LEAST_LABELS:
            raise ValueError(f"y={shortened(y)} has fewer than two labels, of which there is nothing to rank.")
        return {name: number for number, name in enumerate(labels)}

    def _model_for(self, y: Any) -> tuple[Any, Any, dict[str, Any]]:
        labels = self._labels_with(y)
        target = relevances(labels, self._of_known(y, labels))
        self._check_labels(target)
        return clone(self.estimator) if self.model is None else self.model, target, {}

    def _adopt(self, model: Any, y: Any) -> None:
        self._labels = self._labels_with(y)
        self.model = model

    def predict_one(self, x: dict, **kwargs: Any) -> dict[Any, int]:
        """Rank the labels of a row.

        Parameters
        ----------
        x : dict
            A number for each feature; unknown names, None and NaN are ignored.
        **kwargs : dict
            Not used.

        Returns
        -------
        dict of int
            The position of each label, from 1; empty before the first row.
        """
        if self.model is None:
            return {}
        return dict(zip(self._labels, self.model.predict(self._known_rows(x))[0].tolist(), strict=True))
