"""Files whose width and labels nobody knows: the estimator grows with each chunk (``--grow``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_predtron.cli._compare import ByQuery, Comparison
from sklearn_predtron.cli._demo import Task
from sklearn_predtron.cli._paths import DataFile, DataFileReader


class GrowingReader(DataFileReader):
    """A reader of chunks as wide as the widest so far, or cut to a width."""

    def __init__(self, file: DataFile, **parameters: Any):
        super().__init__(file, **parameters)
        self.width = parameters["n_features"] or 1
        self.is_cut = False  # whether features beyond the width are left out

    def __iter__(self) -> Iterator[tuple[sparse.csr_matrix, Any, Any]]:
        classes = self.classes if self.multilabel else None
        for chunk in self._chunks(None, bool(self.zero_based), classes):
            X, labels = chunk.X, chunk.labels
            if not self.is_cut:
                self.width = max(self.width, X.shape[1])
            X.resize(X.shape[0], self.width)
            y = labels.values if classes is None else labels.indicators(classes)
            yield X, y, chunk.first if chunk.qid is None else chunk.qid


def grow(comparison: Comparison, task: Task, X: Any, y: Any) -> None:
    """Let the estimator know of the features and labels of a chunk."""
    contestant = comparison.contestants[0]
    rows, labels = (X.values, y.values) if isinstance(X, ByQuery) else (X, y)
    labelled, model = not (task.rank or task.multilabel), contestant.estimator
    if not model.__sklearn_is_fitted__():
        if labelled:
            contestant.classes = np.unique(labels) if contestant.classes is None else np.union1d(contestant.classes, labels)
        return
    new = np.setdiff1d(labels, model.classes_) if labelled else np.empty(0)
    model.widen(rows.shape[1], new if len(new) else None)
