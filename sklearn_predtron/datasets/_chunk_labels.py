"""Chunk labels in different schemes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_predtron._support import types
from sklearn_predtron._support.chunks import OUTSIDE, find_chunks, read_labels, read_tags
from sklearn_predtron._support.queries import sequences_of

SCHEMES = {"bio": "BIES", "iob": "BIES", "bioes": "BIES", "bilou": "BILU", "bmes": "BMES"}  # the letters of a chunk


def chunk_labels(y: ArrayLike, sid: ArrayLike | None = None, *, scheme: types.SchemeName = "bio") -> NDArray:
    """Convert chunk labels to a given scheme.

    Chunks are read as in CoNLL's evaluation (Tjong Kim Sang and Buchholz 2000): I-x begins a chunk after O and after a chunk of
    another type.  IOB1, BIO (also with an I-x that begins a chunk), BIOES, BILOU and BMES are accepted.  The result in the
    default scheme is accepted by ``constraint="bio"`` of `PredtronSequenceTagger`.

    Parameters
    ----------
    y : array-like of shape (n_tokens,)
        Labels: "O", "B-x", "I-x" or "M-x", "E-x" or "L-x", and "S-x" or "U-x" for chunks of type x.  Chunks without a type have
        the letters alone.
    sid : array-like of shape (n_tokens,), default=None
        The sequence of each token, in any order; None and "one" are one sequence.  No chunk crosses from one to another.
    scheme : {"bio", "iob", "bioes", "bilou", "bmes"}, default="bio"
        "bio" (IOB2): each chunk begins with B-x and continues with I-x.  "iob" (IOB1): B-x is used only directly after a chunk of
        the same type.  "bioes": the last token of a chunk is E-x, and a chunk of one token is S-x.  "bilou" has L for E and U for
        S; "bmes" has M for I.

    Returns
    -------
    ndarray of shape (n_tokens,)
        Labels, as strings.

    Raises
    ------
    ValueError
        If a label has none of these forms, or another argument is invalid.

    See Also
    --------
    sklearn_predtron.metrics.chunk_f1_score : F1 of chunks, in any of the schemes.

    Examples
    --------
    >>> from sklearn_predtron.datasets import chunk_labels
    >>> y = ["I-LOC", "I-LOC", "O", "I-PER", "B-PER"]  # IOB1
    >>> print(*chunk_labels(y))
    B-LOC I-LOC O B-PER B-PER
    >>> print(*chunk_labels(y, scheme="bioes"))
    B-LOC E-LOC O S-PER S-PER
    """
    if not isinstance(scheme, str) or scheme not in SCHEMES:
        raise ValueError(f"scheme={scheme!r} is not known; accepted are {', '.join(map(repr, SCHEMES))}.")
    labels = read_labels(y, "y")
    sequences = sequences_of(sid, len(labels), "y")
    types: dict[str, int] = {}
    chunks = find_chunks(read_tags(labels, types), sequences)
    tags = tags_of(chunks.kind, chunks.end, sequences.start, scheme)
    kind = kinds_of_tokens(chunks.kind, chunks.end)
    names = np.array([*(f"-{name}" if name != "_" else "" for name in types), ""])  # the last is of O
    return sequences.put_back(np.char.add(tags, names[kind]))


def kinds_of_tokens(kind: NDArray, end: NDArray) -> NDArray:
    """Return the chunk type of each token."""
    found = np.full(len(kind), OUTSIDE)
    starts = np.flatnonzero(kind != OUTSIDE)
    sizes = end[starts] - starts + 1
    found[np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())] = np.repeat(kind[starts], sizes)
    return found


def tags_of(kind: NDArray, end: NDArray, start: NDArray, scheme: Any) -> NDArray:
    """Return the tags of tokens, given chunk and sequence starts."""
    starts = np.flatnonzero(kind != OUTSIDE)
    ends = end[starts]
    tags = np.where(kinds_of_tokens(kind, end) == OUTSIDE, "O", "I")
    if scheme == "iob":
        first = np.zeros(len(kind) + 1, dtype=bool)
        first[start] = True
        follows = starts[1:][(ends[:-1] + 1 == starts[1:]) & (kind[starts[:-1]] == kind[starts[1:]]) & ~first[starts[1:]]]
        tags[follows] = "B"
        return tags
    tags[starts] = "B"
    if scheme != "bio":
        inside, last, single = list(SCHEMES[scheme])[1:]
        tags[tags == "I"] = inside
        tags[ends] = last
        tags[starts[starts == ends]] = single
    return tags
