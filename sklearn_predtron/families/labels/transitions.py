"""Allowed transitions between labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.queries import Queries
from sklearn_predtron.problems._chain import TokenCodes

BEGUN = "; datasets.chunk_labels begins each chunk with B-"


def bio_transitions(classes: NDArray) -> NDArray:
    """Return the allowed transitions of chunk tags.

    The last row has the allowed first labels; I-x is only allowed after B-x and I-x.
    """
    labels = classes.tolist()
    for label in labels:
        if not isinstance(label, str) or not (label == "O" or label[:2] in ("B-", "I-")):
            raise ValueError(
                f"constraint='bio' is for the labels O, B-... and I-...; y has the label {label!r}; datasets.chunk_labels makes "
                "them of BIOES."
            )
    allowed = np.ones((len(labels) + 1, len(labels)), dtype=bool)
    for j, label in enumerate(labels):
        if label.startswith("I-"):
            allowed[:, j] = [before in ("B-" + label[2:], label) for before in labels] + [False]
    return allowed


def observed_transitions(labels: TokenCodes, k: int) -> NDArray:
    """Return the transitions that occur; they are those between k labels in some sequence; the last row has the first labels."""
    codes, start = labels.array, labels.starts
    allowed = np.zeros((k + 1, k), dtype=bool)
    follows = np.ones(len(codes), dtype=bool)
    follows[start[:-1]] = False
    at = np.flatnonzero(follows)
    allowed[codes[at - 1], codes[at]] = True
    allowed[k, codes[start[:-1]]] = True
    return allowed


def given_transitions(constraint: Any, classes: NDArray) -> NDArray:
    """Return the validated transitions of a matrix."""
    k = len(classes)
    found = np.asarray(constraint)
    if found.shape != (k + 1, k) or found.dtype.kind not in "biuf" or not ((found == 0) | (found == 1)).all():
        raise ValueError(
            f"constraint has shape {found.shape} and type {found.dtype}; accepted are None, 'bio', 'observed' and a boolean "
            f"array of shape ({k + 1}, {k}): which labels (columns) may follow each one, and in the last row be first."
        )
    return found.astype(bool)


def allowed_transitions(constraint: Any, classes: NDArray, observed: NDArray | None) -> NDArray | None:
    """Return a constraint's allowed transitions, or None; None if all are allowed."""
    if constraint is None:
        return None
    if isinstance(constraint, str):
        return bio_transitions(classes) if constraint == "bio" else observed
    return given_transitions(constraint, classes)


def check_transitions(allowed: NDArray, classes: NDArray, constraint: Any) -> None:
    """Raise ValueError if a label can never be predicted."""
    if not allowed[-1].any():
        raise ValueError(f"constraint={constraint!r} allows no first label; its last row must allow one.")
    reached, new = allowed[-1].copy(), allowed[-1].copy()
    while new.any():
        new = allowed[:-1][new].any(axis=0) & ~reached
        reached |= new
    if not reached.all():
        never = classes[~reached].tolist()
        raise ValueError(f"constraint={constraint!r} lets no sequence come to the label(s) {never}; drop them, or allow it.")


def check_labels_allowed(labels: TokenCodes, queries: Queries, allowed: NDArray, classes: NDArray, constraint: Any) -> None:
    """Raise ValueError for forbidden transitions in a sequence."""
    codes, start = labels.array, labels.starts
    before = np.empty_like(codes)
    before[1:] = codes[:-1]
    before[start[:-1]] = len(classes)
    wrong = np.flatnonzero(~allowed[before, codes])
    if len(wrong) == 0:
        return
    at = wrong[0]
    rows = (at - 1, at) if queries.order is None else (queries.order[at - 1], queries.order[at])
    label, which = classes[codes[at]], f"constraint={constraint!r}" if isinstance(constraint, str) else "the constraint"
    mend = BEGUN if isinstance(constraint, str) and constraint == "bio" else ""
    if before[at] == len(classes):
        raise ValueError(f"y has the first label {label!s} (row {rows[1]}), which {which} forbids{mend}.")
    former = classes[before[at]]
    raise ValueError(f"y has the transition {former!s} -> {label!s} (rows {rows[0]}, {rows[1]}), which {which} forbids{mend}.")
