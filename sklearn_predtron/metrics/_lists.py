"""Relevances and scores of lists: how the measures of rankings read them, and the arithmetic over all lists at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_predtron._support.queries import is_one, query_numbers, refuse, shortened

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class Lists(NamedTuple):
    """The documents of all queries in the order given; starts are those of the queries once the documents are gathered."""

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
    """Return relevance, scores and the number of each row's query."""
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
    except (TypeError, ValueError):
        raise ValueError(f"{parameter}={shortened(values)} does not hold numbers; accepted are {accepted}.") from None


# --------------------------------------------------------------------------------------------------------------- arithmetic


def rank_documents(lists: Lists, values: Floats, by: Floats | None = None) -> tuple[Floats, Indices]:
    """Return the values of the documents query by query, each by descending score, and their ranks from 1."""
    order = np.lexsort((-(lists.scores if by is None else by), lists.query))
    return values[order], np.arange(1, len(values) + 1) - np.repeat(lists.starts, lists.sizes)


def scaled_gains(lists: Lists, gain: str) -> Floats:
    """Return the gains divided by what no gain of the query exceeds: NDCG does not change, and nothing overflows."""
    gathered = lists.relevance[np.argsort(lists.query, kind="stable")]
    largest = np.maximum.reduceat(gathered, lists.starts)[lists.query]
    if gain == "linear":
        return divide(lists.relevance, largest, otherwise=0.0)
    with np.errstate(under="ignore"):  # beside a far larger gain
        # (2^y - 1) / 2^max, without the difference of two numbers that are nearly equal for small y.
        return -np.expm1(-lists.relevance * np.log(2)) * np.exp2(lists.relevance - largest)


def dcg(lists: Lists, gains: Floats, by: Floats, k: int | None) -> Floats:
    ranked, rank = rank_documents(lists, gains, by)
    terms = ranked / np.log2(1 + rank)
    if k is not None:
        terms[rank > k] = 0
    return np.add.reduceat(terms, lists.starts)


def running(values: Floats, lists: Lists) -> Floats:
    """Return the running sums within each query of what `rank_documents` returned."""
    sums = np.cumsum(values)
    return sums - np.repeat((sums - values)[lists.starts], lists.sizes)


def divide(numerator: Floats, denominator: Floats, otherwise: float) -> Floats:
    return np.divide(numerator, denominator, out=np.full(len(numerator), otherwise), where=denominator > 0)


def tied_pairs(query: Indices, *keys: Floats) -> Floats:
    """Return the number of pairs in each query that agree on all keys."""
    order = np.lexsort((*keys, query))
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.logical_or.reduce([key[order[1:]] != key[order[:-1]] for key in (query, *keys)])
    first = np.flatnonzero(new)
    length = np.diff(first, append=len(order))
    return np.bincount(query[order[first]], length * (length - 1) / 2).astype(np.float64)


def inversions(values: Indices, starts: Indices, sizes: Indices) -> Floats:
    """Return the number of pairs in each query whose first value is larger; a query's values are those of a permutation from 0.

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
