"""Sparse matrices, told from other objects without the import of SciPy."""

from __future__ import annotations

import sys
from typing import Any


def issparse(X: Any) -> bool:
    """Return whether X is a sparse matrix or array of SciPy; there is none as long as nobody has imported scipy.sparse."""
    known = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return known is not None and bool(known(X))
