"""Chunks of BIO labels, by CoNLL's definition."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.queries import Queries, shortened

Indices = NDArray[np.intp]
LETTERS = {"B": "B", "I": "I", "E": "E", "S": "S", "L": "E", "U": "S", "M": "I"}  # those of BILOU and BMES, too
OUTSIDE = -1  # the type of O


class Tags(NamedTuple):
    """Tags as arrays: type, and whether a chunk can continue. It can continue after the token, and before it."""

    kind: Indices
    goes_on: NDArray[np.bool_]
    went_on: NDArray[np.bool_]


class Chunks(NamedTuple):
    """Chunk starts, their types, and their ends; the type is `OUTSIDE` elsewhere."""

    kind: Indices
    end: Indices


def read_labels(y: Any, name: str) -> list[Any]:
    """Return the labels of all tokens as a list."""
    if isinstance(y, str) or not hasattr(y, "__iter__") or hasattr(y, "columns"):
        raise ValueError(f"{name}={shortened(y)} is no list of labels.")
    values = y.tolist() if isinstance(y, np.ndarray) else list(y)
    if values and isinstance(values[0], list | tuple | np.ndarray):
        raise ValueError(
            f"{name}={shortened(y)} is no list of labels; accepted is one label per token, and sid for the sequence of each: "
            "datasets.stack_sequences makes both of lists of lists."
        )
    return values


def read_tags(labels: list[Any], types: dict[str, int]) -> Tags:
    """Return the parsed tags; new types get numbers."""
    number: dict[Any, int] = {}
    try:
        codes = np.array([number.setdefault(label, len(number)) for label in labels], dtype=np.intp)
    except TypeError:
        raise ValueError(f"Labels {shortened(labels)} are not strings; accepted are 'O', 'B-x' and 'I-x'.") from None
    tags = [read_tag(label) for label in number]
    kind = np.array([OUTSIDE if tag == "O" else types.setdefault(name, len(types)) for tag, name in tags], dtype=np.intp)
    goes_on = np.array([tag in "BI" for tag, _ in tags], dtype=bool)
    went_on = np.array([tag in "IE" for tag, _ in tags], dtype=bool)
    return Tags(kind[codes], goes_on[codes], went_on[codes])


def read_tag(label: Any) -> tuple[str, str]:
    """Return the tag and the type of a label."""
    if isinstance(label, str):
        tag, dash, name = label.partition("-")
        if label == "O" or (tag in LETTERS and (dash or not name)):
            return LETTERS.get(tag, tag), name or "_"
    raise ValueError(
        f"The label {label!r} is none of chunks; accepted are 'O', 'B-x' and 'I-x' (and 'E-x', 'S-x', or 'L-x', 'U-x', or 'M-x') "
        "for a type x."
    )


def are_chunks(labels: list[Any]) -> bool:
    """Return whether labels are BIO chunk labels."""
    try:
        tags = {read_tag(label)[0] for label in labels}
    except ValueError:
        return False
    return tags > {"O"}


def wrong_chunks(true: list[Any], predicted: list[Any], sequences: Queries) -> NDArray[np.float64]:
    """Return the numbers of missed and false chunks per sequence."""
    types: dict[str, int] = {}
    at = [find_chunks(read_tags(labels, types), sequences) for labels in (true, predicted)]
    there = [chunks.kind != OUTSIDE for chunks in at]
    found = there[0] & there[1] & (at[0].kind == at[1].kind) & (at[0].end == at[1].end)
    return np.add.reduceat(sum(there, -2.0 * found), sequences.start[:-1])


def find_chunks(tags: Tags, sequences: Queries) -> Chunks:
    """Return the chunks of the tokens, sequence by sequence."""
    kind, goes_on, went_on = (sequences.take(values) for values in tags)
    joined = np.zeros(len(kind) + 1, dtype=bool)  # whether a token belongs to the chunk of the token before it
    joined[1:-1] = goes_on[:-1] & went_on[1:] & (kind[1:] == kind[:-1])
    joined[sequences.start] = False
    inside = kind != OUTSIDE
    starts, ends = np.flatnonzero(inside & ~joined[:-1]), np.flatnonzero(inside & ~joined[1:])
    chunks = Chunks(np.full(len(kind), OUTSIDE), np.zeros(len(kind), dtype=np.intp))
    chunks.kind[starts], chunks.end[starts] = kind[starts], ends
    return chunks
