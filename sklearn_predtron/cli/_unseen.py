"""Features and labels that training did not have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.datasets.formats.labels import shortened_labels
from sklearn_predtron.datasets.formats.text import counted


@dataclass
class UnseenFeatures:
    """Counts of unseen features and unseen labels in test rows."""

    values: int = 0
    features: set[int] = field(default_factory=set)
    rows: int = 0
    labels: set[Any] = field(default_factory=set)

    def count_labels(self, y: Any, classes: Any) -> None:
        """Count rows or tokens whose labels are not classes."""
        if classes is None or not isinstance(y, np.ndarray) or y.ndim > 1:
            return
        unknown = y[~np.isin(y, classes)]
        self.rows += len(unknown)
        self.labels.update(unknown.tolist())

    def cut(self, X: Any, width: int) -> Any:
        """Return rows of a width; count the cut values."""
        if X.shape[1] == width:
            return X
        if X.shape[1] > width:
            self.count(X.indices[X.indices >= width])
        X.resize(X.shape[0], width)
        return X

    def cut_arrays(self, arrays: tuple[NDArray, NDArray, NDArray], width: int) -> tuple[NDArray, NDArray, NDArray]:
        """Return the arrays of CSR rows of a width; count the cut values."""
        data, indices, indptr = arrays
        there = indices < width
        if there.all():
            return arrays
        self.count(indices[~there])
        return data[there], indices[there], np.concatenate([[0], np.cumsum(there)])[indptr]

    def count(self, indices: NDArray) -> None:
        """Count values that are cut, by their features."""
        self.values += len(indices)
        self.features.update(np.unique(indices).tolist())

    def __str__(self) -> str:
        said = ""
        if self.rows:
            rows, labels = counted(self.rows, "row"), shortened_labels(sorted(self.labels))
            verb = "counts" if self.rows == 1 else "count"
            said = f"TEST: {rows} with labels that training did not have, {labels}, {verb} as wrong\n"
        if not self.values:
            return said
        values, features = counted(self.values, "value"), counted(len(self.features), "feature")
        return f"{said}TEST: {values} of {features} that training did not have {'was' if self.values == 1 else 'were'} left out\n"
