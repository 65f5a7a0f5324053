"""Relevances and scores of lists, and their arithmetic."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_predtron._support.queries import is_one, query_numbers, refuse, shortened

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class Lists(NamedTuple):
    """The documents of all queries, and the queries' starts."""

    relevance: Floats
    scores: Floats
    query: Indices
    sizes: Indices
    starts: Indices


def read_lists(y_true: ArrayLike, scores: ArrayLike, qid: ArrayLike | None) -> Lists:
    y, s, query = read_arguments(y_true, scores, qid)
    if y.ndim == 2:
        query = np.repeat(query, y.shape[-1])
        y, s = y.ravel(), s.ravel()
    sizes = np.bincount(query)
    return Lists(y, s, query, sizes, np.cumsum(sizes) - sizes)


def read_arguments(y_true: ArrayLike, scores: ArrayLike, qid: ArrayLike | None) -> tuple[Floats, Floats, Indices]:
    """Return relevance, scores and query number of each row."""
    y = read_numbers(y_true, "y_true", "relevances, finite and not negative")
    if y.ndim not in (1, 2) or y.size == 0:
        raise ValueError(f"y_true has shape {y.shape}; accepted are (n_documents,) and (n, m), with a document at least.")
    refuse(y, "y_true", ~(np.isfinite(y) & (y >= 0)), "relevances, finite and not negative")
    s = read_numbers(scores, "scores", "finite numbers")
    if s.shape != y.shape:
        raise ValueError(f"scores has shape {s.shape}; accepted is that of y_true, {y.shape}.")
    refuse(s, "scores", ~np.isfinite(s), "finite numbers")
    if y.ndim == 2 and qid is not None:
        raise ValueError(f"qid must be None for y_true of shape {y.shape}, where each row is a list; it is {shortened(qid)}.")
    return y, s, numbers_of_rows(qid, y)


def numbers_of_rows(qid: ArrayLike | None, y: Floats) -> Indices:
    if y.ndim == 2:
        return np.arange(len(y))
    if qid is None or is_one(qid):
        return np.zeros(len(y), dtype=np.intp)
    ids = np.asarray(qid)
    if ids.shape != y.shape:
        raise ValueError(f"qid has shape {ids.shape}; accepted is that of y_true, {y.shape}.")
    return query_numbers(ids)


def read_weights(sample_weight: ArrayLike, n_rows: int) -> Floats:
    weights = read_numbers(sample_weight, "sample_weight", "weights, finite and not negative")
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}; accepted is ({n_rows},), a weight per row of y_true.")
    refuse(weights, "sample_weight", ~(np.isfinite(weights) & (weights >= 0)), "weights, finite and not negative")
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
    return weights / weights.max()


def read_numbers(values: ArrayLike, parameter: str, accepted: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{parameter}={shortened(values)} does not hold numbers; accepted are {accepted}.") from None


# --------------------------------------------------------------------------------------------------------------- arithmetic


class Ties(NamedTuple):
    """Documents sorted by query and score, with ties.

    `first` and `size` are of the tie that each rank is in: the position at which it begins, and its number of documents.
    """

    order: Indices
    rank: Indices
    first: Indices
    size: Indices


def find_ties(lists: Lists, by: Floats) -> Ties:
    """Return the ranks, from 1, and the ties of documents."""
    order = np.lexsort((-by, lists.query))
    query, by = lists.query[order], by[order]
    begins = np.append(True, (query[1:] != query[:-1]) | (by[1:] != by[:-1]))
    first = np.flatnonzero(begins)
    size = np.diff(first, append=len(order))
    rank = np.arange(1, len(order) + 1) - np.repeat(lists.starts, lists.sizes)
    return Ties(order, rank, np.repeat(first, size), np.repeat(size, size))


def expected_at_ranks(values: Floats, ties: Ties) -> Floats:
    """Return the expected value at each rank, averaging ties."""
    ranked = values[ties.order]
    if ties.size.max() == 1:
        return ranked
    begins = np.unique(ties.first)
    size = ties.size[begins]
    with np.errstate(under="ignore"):
        means = np.add.reduceat(ranked, begins) / size
    # Rounding must not take the mean of equal values off them.
    means = np.clip(means, np.minimum.reduceat(ranked, begins), np.maximum.reduceat(ranked, begins))
    return np.repeat(means, size)


def scaled_gains(lists: Lists, gain: str) -> Floats:
    """Return the gains scaled by query, to avoid overflow."""
    gathered = lists.relevance[np.argsort(lists.query, kind="stable")]
    largest = np.maximum.reduceat(gathered, lists.starts)[lists.query]
    if gain == "linear":
        return divide(lists.relevance, largest, otherwise=0.0)
    with np.errstate(under="ignore"):  # beside a far larger gain
        # (2^y - 1) / 2^max, without the difference of two numbers that are nearly equal for small y.
        return -np.expm1(-lists.relevance * np.log(2)) * np.exp2(lists.relevance - largest)


def dcg(lists: Lists, gains: Floats, by: Floats, k: int | None) -> Floats:
    """Return the expected DCG, with ties in random order."""
    ties = find_ties(lists, by)
    terms = expected_at_ranks(gains, ties) / np.log2(1 + ties.rank)
    if k is not None:
        terms[ties.rank > min(k, len(terms))] = 0
    return np.add.reduceat(terms, lists.starts)


def hits_before(lists: Lists, ties: Ties) -> Floats:
    """Return the expected hits before each relevant rank."""
    found = np.append(0.0, np.cumsum(lists.relevance[ties.order]))
    before = found[ties.first] - np.repeat(found[lists.starts], lists.sizes)
    others_relevant = np.maximum(found[ties.first + ties.size] - found[ties.first] - 1, 0)
    return before + (np.arange(len(before)) - ties.first) * others_relevant / np.maximum(ties.size - 1, 1)


def reciprocal_of_first(before: int, relevant: int, size: int) -> float:
    """Return the expected reciprocal rank after some failures.

    The next ranks are of a tie of `size` documents in random order, of which `relevant` are relevant.
    """
    j = np.arange(size - relevant + 1)
    none_yet = np.cumprod(np.append(1.0, (size - relevant - j[:-1]) / (size - j[:-1])))  # relevant at the first j ranks
    return float((none_yet * relevant / (size - j)) @ (1 / (before + 1 + j)))


def divide(numerator: Floats, denominator: Floats, otherwise: float) -> Floats:
    return np.divide(numerator, denominator, out=np.full(len(numerator), otherwise), where=denominator > 0)


def tied_pairs(query: Indices, *keys: Floats) -> Floats:
    """Return the number of tied pairs in each query."""
    order = np.lexsort((*keys, query))
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.logical_or.reduce([key[order[1:]] != key[order[:-1]] for key in (query, *keys)])
    first = np.flatnonzero(new)
    length = np.diff(first, append=len(order))
    return np.bincount(query[order[first]], length * (length - 1) / 2).astype(np.float64)


def inversions(values: Indices, starts: Indices, sizes: Indices) -> Floats:
    """Return the number of inversions in each query.

    From the highest bit down: among values that agree on the bits above, each 1 before a 0 is an inversion; a stable partition by
    the bit then gathers the values that agree on it as well.  Value v is then within 2^bit of position v.
    """
    total = np.zeros(len(sizes))
    start = np.repeat(starts, sizes)
    for bit in reversed(range(int(sizes.max() - 1).bit_length())):
        one = (values >> bit) & 1
        block = start + (values >> (bit + 1) << (bit + 1))
        ones = np.cumsum(one) - one
        ones_before = ones - ones[block]
        total += np.add.reduceat(ones_before * (1 - one), starts)
        zeros_before = np.arange(len(values)) - block - ones_before
        partitioned = np.empty_like(values)
        partitioned[block + np.where(one, (1 << bit) + ones_before, zeros_before)] = values
        values = partitioned
    return total
