"""River's wrapper of a tagger."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from sklearn.base import clone

from sklearn_predtron._support.queries import ONE
from sklearn_predtron.families.sequences import PredtronSequenceTagger
from sklearn_predtron.river._from_dicts import GroupEstimator, SavedInFiles, check_block
from sklearn_predtron.river._labels import KINDS, check_label, first_classes, no_label


class RiverSequenceTagger(SavedInFiles, GroupEstimator):
    """`PredtronSequenceTagger` for river, one sentence at a time; see `to_river`.

    Parameters
    ----------
    estimator : PredtronSequenceTagger
        A trained one is continued, on a copy.
    classes : list, default=None
        Labels known from the start.
    """

    _row = "token"

    def __init__(self, estimator: Any, classes: Any = None):
        self.estimator = estimator
        self.classes = classes
        self._start()
        self._known = frozenset() if self.model is None else frozenset(self.model.classes_.tolist())
        self._only: Any = None  # the label seen so far, while there is a single one

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"estimator": PredtronSequenceTagger()}

    def _target(self, y: Any) -> Any:
        labels = list(y)
        try:
            return labels if self._known.issuperset(labels) else None
        except TypeError:  # of objects without a hash
            raise no_label(y, f"{KINDS} for each token") from None

    def _model_for(self, y: Any) -> tuple[Any, Any, dict[str, Any]]:
        labels = list(y)
        for label in labels:
            check_label(label)
        if self.model is not None:
            new = [label for label in dict.fromkeys(labels) if label not in self._known]
            model = copy.deepcopy(self.model).widen(classes=new) if new else self.model
            if self.estimator.constraint is not None:  # which may forbid them
                self._check_labels(labels, classes=model.classes_)
            return model, labels, {}
        classes = first_classes(self._only, labels) if self.classes is None else self.classes
        if classes is None:
            self._only = labels[0]
            return None, None, {}
        self._check_labels(labels, classes=classes)
        return clone(self.estimator), labels, {"classes": classes}

    def _adopt(self, model: Any, y: Any) -> None:
        self.model = model
        self._known = frozenset(model.classes_.tolist())

    def predict_one(self, x: list[dict], **kwargs: Any) -> list[Any]:
        """Predict the labels of a sentence.

        Parameters
        ----------
        x : list of dict
            The tokens: a number for each feature; unknown names, None and NaN are ignored.
        **kwargs : dict
            Not used.

        Returns
        -------
        list
            A label for each token, of those seen so far; None before the first.
        """
        check_block(x, self._row)
        if self.model is None or len(x) == 0:
            return [self._only] * len(x)
        return self.model.predict(self._known_rows(x), sid=ONE).tolist()
