"""Rows that lack features which others have."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def padded(rows: Any, p: int) -> Any:
    """Return rows, an array or CSR, with p features, of which those that they lack are zeros."""
    n, missing = rows.shape[0], p - rows.shape[1]
    if missing == 0:
        return rows
    if sparse.issparse(rows):
        return type(rows)((rows.data, rows.indices, rows.indptr), shape=(n, p))
    return np.pad(rows, ((0, 0), (0, missing)))
