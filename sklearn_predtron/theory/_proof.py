"""Weights of the largest margin, with multipliers as proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.theory._dual_method import nearest
from sklearn_predtron.theory._linear_programme import linear
from sklearn_predtron.theory._programme import EPSILON, Programme, Vectors

AGREE = 1e-6  # how far the bound may lie above the margin, relative to it
LENGTH = {"l2": 2, "l1": 1, "max": np.inf}  # of weights
DUAL = {"l2": 2, "l1": np.inf, "max": 1}  # of combinations of vectors
SPARE = (2.0, 1e2, 1e4, 1e6)  # additions to the leads, in units of their rounding, if they round to less than the margin


class Proof(NamedTuple):
    """Unit weights with their margin, and multipliers; the multipliers' combination of the vectors has the length `bound`."""

    margin: float
    w: NDArray
    bound: float
    multipliers: NDArray  # of all vectors; those of the ones that lose sum to 1


def prove(vectors: Vectors, norm: str) -> Proof:
    """Find weights of the largest margin with their proof.

    Either is checked by itself, rounding on the safe side.  A ValueError says that no weights have a positive margin, since a
    combination of the vectors vanishes, or that the numbers do not tell.
    """
    programme = at_length_1(vectors, norm)
    margin, bound = 0.0, np.inf
    weights = multipliers = np.zeros(0)
    for w, b in attempts(programme):
        check_separable(programme, b)
        above = bound_of(programme, b)
        if above < bound:
            bound, multipliers = above, b
        if w is not None and margin_of(programme, w) > margin:
            margin, weights = margin_of(programme, w), w
        if bound - margin <= AGREE * margin:
            return answer(programme, weights, multipliers)
    raise ValueError(
        "X and y do not allow an answer in double precision: the largest margin lies between "
        f"{margin * programme.least:.6g} and {bound * programme.least:.6g}, and this gap is more than {AGREE:g} of it."
    )


def at_length_1(vectors: Vectors, norm: str) -> Programme:
    """Return the programme with vectors scaled to length 1; no square over- or underflows."""
    v, terms, loses = vectors
    size = np.abs(v).max(axis=1, initial=0.0)
    if not size[loses].all():
        raise ValueError("No weights have a positive margin: the data are not separable, since two predictions always tie.")
    at = np.where(size > 0, size, 1.0)[:, None]
    u, terms = v / at, terms / at
    length = np.linalg.norm(u, axis=1)[:, None]
    u, terms = u / np.where(length > 0, length, 1.0), terms / np.where(length > 0, length, 1.0)
    length = length.ravel() * size
    least = float(length[loses].min())
    c = np.where(loses, least / np.where(loses, length, 1.0), 0.0)
    return Programme(u, EPSILON * (v.shape[1] + 8) * terms, loses, length, least, c, norm)


def attempts(programme: Programme) -> Iterator[tuple[NDArray | None, NDArray]]:
    """Yield solutions w of the programme and their multipliers.

    The first is of the programme itself, others spare leads for rounding.
    """
    solve: Callable = nearest if programme.norm == "l2" else linear
    w, b = solve(programme, np.zeros(len(programme.c)))
    yield w, b
    for spare in SPARE:
        if w is None:
            return
        w, b = solve(programme, spare * (programme.rounding @ np.abs(w) + EPSILON * np.linalg.norm(w)))
        yield w, b


def check_separable(programme: Programme, b: NDArray) -> None:
    """Raise ValueError if the combination of vectors vanishes.

    Then the vectors, moved by less than their rounding, have no weights.
    """
    length, total = np.linalg.norm(b @ programme.u), b[programme.loses].sum()
    if total > 0 and length <= EPSILON * (programme.u.shape[1] + 8) * total:
        raise ValueError(
            "No weights have a positive margin: the data are not separable.  A convex combination of their vectors, each of "
            f"which is scaled to length 1, has the length {length / total:.1g}."
        )


def margin_of(programme: Programme, w: NDArray) -> float:
    """Return the margin of weights, in units of `least`; it is rounded down."""
    leads = programme.u @ w - programme.rounding @ np.abs(w)
    losing, c = leads[programme.loses], programme.c[programme.loses]
    if (leads < 0).any() or not losing.all():
        return 0.0
    with np.errstate(divide="ignore", under="ignore"):  # c of the longest vectors may underflow
        return float((losing / c).min() / np.linalg.norm(w, LENGTH[programme.norm]))


def bound_of(programme: Programme, b: NDArray) -> float:
    """Return the upper bound by weak duality, over `least`.

    It is the dual norm of a combination of the vectors over the sum of its multipliers.
    """
    total = b @ programme.c
    if not 0 < total < np.inf:
        return np.inf
    used = b > 0
    b, u = b[used], programme.u[used]
    rounding = EPSILON * (len(b) + 8) * (b @ np.abs(u))
    return float(np.linalg.norm(np.abs(b @ u) + rounding, DUAL[programme.norm]) / total)


def answer(programme: Programme, w: NDArray, b: NDArray) -> Proof:
    """Return unit weights and the unscaled vectors' multipliers."""
    w = w / np.linalg.norm(w, LENGTH[programme.norm])
    total, used, loses = b @ programme.c, b > 0, programme.loses
    margin = float(((programme.u[loses] @ w) * programme.length[loses]).min())
    multipliers = np.zeros(len(b))
    multipliers[used] = b[used] / total * (programme.least / programme.length[used])
    bound = programme.least * float(np.linalg.norm(b @ programme.u, DUAL[programme.norm]) / total)
    return Proof(margin, w, max(bound, margin), multipliers)
