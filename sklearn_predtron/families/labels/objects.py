"""Labels of user-defined problems."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.problems._user import Objects


class AnyLabels(Codec):
    """The codec of labels of any kind."""

    def encode(self, y: Any) -> Objects:
        """Return the labels of a sequence."""
        return Objects(entries_of(y))


def entries_of(y: Any) -> list[Any]:
    """Return a sequence's entries, or a frame's rows; raise ValueError for collections without an order."""
    if isinstance(y, (Mapping, Set)):
        raise ValueError(f"y is {shortened(y)}; accepted are sequences of labels, one for each row of X.")
    if hasattr(y, "columns"):
        y = y.to_numpy()
    return list(y if hasattr(y, "__iter__") and getattr(y, "ndim", 1) > 0 else np.atleast_1d(np.asarray(y)))
