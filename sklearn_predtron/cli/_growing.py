"""Growing estimators (``--grow``), and unseen features in tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_predtron.cli._compare import Comparison, GroupedValues
from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.cli._names import MAX_CLASSES
from sklearn_predtron.cli._tasks import Task
from sklearn_predtron.cli._unseen import counted


def widened(X: Any, model: Any, n_features: int | None) -> Any:
    """Return rows at least as wide as the estimator."""
    known = model.n_features_in_ if model.__sklearn_is_fitted__() else n_features or 1
    X.resize(X.shape[0], max(known, X.shape[1]))
    return X


def check_number(n: int, most: int | None) -> None:
    """Raise an error for more labels than allowed.

    Ids or measurements read as labels would fill the memory with weights.
    """
    most = MAX_CLASSES if most is None else most
    if n > most:
        raise ValueError(
            f"TRAIN has {n:,} distinct labels so far, and --max-classes is {most}; labels are classes, and a larger "
            "--max-classes takes more of them"
        )


def grow(comparison: Comparison, task: Task, X: Any, y: Any, most: int | None) -> None:
    """Add the features and labels of a chunk to the estimator."""
    evaluated = comparison.models[0]
    rows, labels = (X.values, y.values) if isinstance(X, GroupedValues) else (X, y)
    labelled, model = not (task.rank or task.multilabel), evaluated.estimator
    if not model.__sklearn_is_fitted__():
        if labelled:
            found = np.unique(labels) if evaluated.classes is None else np.union1d(evaluated.classes, labels)
            if evaluated.classes is None or len(found) > len(evaluated.classes):
                check_number(len(found), most)
            evaluated.classes = found
        return
    new = np.setdiff1d(labels, model.classes_) if labelled else np.empty(0)
    if len(new):
        check_number(len(model.classes_) + len(new), most)
    model.widen(rows.shape[1], new if len(new) else None)


@dataclass
class PendingRows:
    """Rows that wait for the second label of a stream."""

    most = 100_000  # rows, for memory
    chunks: list[tuple[Any, Any]] = field(default_factory=list)
    rows: int = 0

    def take(self, comparison: Comparison, X: Any, y: Any) -> tuple[Any, Any] | None:
        """Return the rows to train on; None while they wait."""
        evaluated = comparison.models[0]
        labels = None if evaluated.estimator.__sklearn_is_fitted__() else evaluated.classes
        if labels is not None and len(labels) < 2 and not isinstance(X, GroupedValues):
            self.chunks.append((X, y))
            self.rows += len(y)
            self.check_pending_count(self.most)
            return None
        return self.all_with(X, y) if self.chunks else (X, y)

    def check_pending_count(self, most: int) -> None:
        """Raise an error if too many rows wait."""
        if self.rows > most:
            first = counted(self.rows, "row")
            raise UsageError(f"TRAIN has one label in its first {first}; --classes names those that are to come")

    def all_with(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return the waiting rows followed by these."""
        matrices, labels = zip(*self.chunks, (X, y), strict=True)
        self.chunks.clear()
        self.rows, width = 0, max(matrix.shape[1] for matrix in matrices)
        for matrix in matrices:
            matrix.resize(matrix.shape[0], width)
        return sparse.vstack(matrices, "csr"), np.concatenate(labels)
