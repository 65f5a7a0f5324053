"""The leads of true sequences of labels over others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.families._scored_sequences import scored_sequences


def leads(tagger: Any, X: Any, y: Any, sid: Any, method: str) -> NDArray:
    """Return the leads of sequences by a method of a tagger's problem, at unit norm."""
    model, scores, queries, table = scored_sequences(tagger, X, sid, "margin")
    labels = tagger._reader().labels_of_blocks(y, queries, model)
    found = getattr(model.learner.problem, method)(scores, labels, *table)
    for i in np.flatnonzero(found == np.inf):  # no other sequence is allowed, and perhaps not this one
        if not is_allowed(tagger, labels.array[labels.starts[i] : labels.starts[i + 1]]):
            found[i] = -np.inf
    return model.at_unit_norm(found)


def is_allowed(tagger: Any, codes: NDArray) -> bool:
    """Return whether what was learned allows a sequence of labels."""
    return bool(np.isfinite(tagger.start_[codes[0]]) and np.isfinite(tagger.transitions_[codes[:-1], codes[1:]]).all())
