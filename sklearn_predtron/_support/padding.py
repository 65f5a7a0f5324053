"""Rows padded to more features."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_predtron._core.rows import issparse


def pad_rows(rows: Any, p: int) -> Any:
    """Return rows padded with zeros to p features."""
    n, missing = rows.shape[0], p - rows.shape[1]
    if missing == 0:
        return rows
    if issparse(rows):
        return type(rows)((rows.data, rows.indices, rows.indptr), shape=(n, p))
    return np.pad(rows, ((0, 0), (0, missing)))
