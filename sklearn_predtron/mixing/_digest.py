"""Digests that identify rows of training."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from joblib import hash as hash_of
from scipy import sparse


class Digest:
    """A digest of values in order, exact to the last bit."""

    def __init__(self) -> None:
        self._sum = hashlib.blake2b(digest_size=16)

    def add(self, value: Any) -> None:
        """Add an array, a matrix, a dictionary, or any object."""
        if isinstance(value, dict):
            for name in sorted(value):
                self._say(name)
                self.add(value[name])
        elif sparse.issparse(value):
            self._say(f"sparse {value.shape}")
            rows = value.tocsr()
            for part in (rows.indptr, rows.indices, rows.data):
                self.add(part)
        elif hasattr(value, "__array__"):
            self._add_array(np.asarray(value))
        elif isinstance(value, (list, tuple)) and any(hasattr(item, "__array__") for item in value):
            self._say(f"{type(value).__name__} of {len(value)}")
            for item in value:
                self.add(item)
        else:
            self._say(identifying_text(value))

    def _add_array(self, values: Any) -> None:
        self._say(f"{values.dtype} {values.shape}")
        if values.dtype.hasobject:
            self._say(identifying_text(values.tolist()))
        else:
            self._sum.update(np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)

    def _say(self, text: str) -> None:
        self._sum.update(f"{text}\n".encode("utf-8", "surrogateescape"))

    def __str__(self) -> str:
        return self._sum.hexdigest()


def identifying_text(value: Any) -> str:
    """Return text that identifies a value; pickles of equal lists can differ if objects are shared."""
    try:
        return json.dumps(value)
    except (TypeError, ValueError):  # of other objects than numbers and texts
        return str(hash_of(value))
