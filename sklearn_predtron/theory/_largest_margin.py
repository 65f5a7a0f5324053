"""The largest margin over given vectors: a quadratic or a linear programme, and the multipliers that prove its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import qr_delete, solve_triangular
from scipy.optimize import linprog

AGREE = 1e-6  # how far the bound may lie above the margin, relative to it
EPSILON = float(np.finfo(float).eps)
LENGTH = {"l2": 2, "l1": 1, "max": np.inf}  # of weights
DUAL = {"l2": 2, "l1": np.inf, "max": 1}  # of combinations of vectors
SPARE = (2.0, 1e2, 1e4, 1e6)  # what leads are to have beside the margin, in units of their rounding, where they round to less
REFINED = 2  # times
SHORTEST = 1e-6  # columns are made so long at most
TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}  # the least there are


class Vectors(NamedTuple):
    """Vectors v whose products with the weights are leads of sigma_y."""

    v: NDArray  # shape (n, p)
    terms: NDArray  # shape (n, p), the sizes of the two terms that v is the difference of: a lead is rounded in proportion
    loses: NDArray  # shape (n,): these leads make the margin; the others must not be negative


class Proof(NamedTuple):
    """Weights of length 1 and their margin; multipliers, whose combination of the vectors has the length `bound`."""

    margin: float
    w: NDArray
    bound: float
    multipliers: NDArray  # of all vectors; those of the ones that lose sum to 1


class Programme(NamedTuple):
    """Minimise |w| with <u, w> >= c, for vectors u of length 1; where it is least, the margin is least / |w|."""

    u: NDArray
    rounding: NDArray  # that of <u, w> is at most <rounding, |w|>
    loses: NDArray
    length: NDArray  # of v
    least: float  # the least length of a vector that loses
    c: NDArray  # `least` relative to the lengths, 0 for vectors that do not lose
    norm: str


def prove(vectors: Vectors, norm: str) -> Proof:
    """Find weights of the largest margin, and multipliers whose combination is no longer than the margin is large.

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
    """The programme of vectors scaled to length 1, each by itself; no square over- or underflows."""
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
    """Solutions w of the programme and their multipliers: of the programme itself, then with leads that rounding spares."""
    solve: Callable = nearest if programme.norm == "l2" else linear
    w, b = solve(programme, np.zeros(len(programme.c)))
    yield w, b
    for spare in SPARE:
        if w is None:
            return
        w, b = solve(programme, spare * (programme.rounding @ np.abs(w) + EPSILON * np.linalg.norm(w)))
        yield w, b


def check_separable(programme: Programme, b: NDArray) -> None:
    """Raise ValueError where the combination vanishes: the vectors, moved by less than their rounding, have no weights."""
    length, total = np.linalg.norm(b @ programme.u), b[programme.loses].sum()
    if total > 0 and length <= EPSILON * (programme.u.shape[1] + 8) * total:
        raise ValueError(
            "No weights have a positive margin: the data are not separable.  A convex combination of their vectors, each of "
            f"which is scaled to length 1, has the length {length / total:.1g}."
        )


def margin_of(programme: Programme, w: NDArray) -> float:
    """The margin of weights, in units of `least` and no more than rounding leaves of it."""
    leads = programme.u @ w - programme.rounding @ np.abs(w)
    losing, c = leads[programme.loses], programme.c[programme.loses]
    if (leads < 0).any() or not losing.all():
        return 0.0
    with np.errstate(divide="ignore"):  # c of the longest vectors may underflow
        return float((losing / c).min() / np.linalg.norm(w, LENGTH[programme.norm]))


def bound_of(programme: Programme, b: NDArray) -> float:
    """The dual norm of a combination of the vectors over the sum of its multipliers (weak duality), in units of `least`."""
    total = b @ programme.c
    if not 0 < total < np.inf:
        return np.inf
    used = b > 0
    b, u = b[used], programme.u[used]
    rounding = EPSILON * (len(b) + 8) * (b @ np.abs(u))
    return float(np.linalg.norm(np.abs(b @ u) + rounding, DUAL[programme.norm]) / total)


def answer(programme: Programme, w: NDArray, b: NDArray) -> Proof:
    """Weights of length 1 with the multipliers of the vectors as they are."""
    w = w / np.linalg.norm(w, LENGTH[programme.norm])
    total, used, loses = b @ programme.c, b > 0, programme.loses
    margin = float(((programme.u[loses] @ w) * programme.length[loses]).min())
    multipliers = np.zeros(len(b))
    multipliers[used] = b[used] / total * (programme.least / programme.length[used])
    bound = programme.least * float(np.linalg.norm(b @ programme.u, DUAL[programme.norm]) / total)
    return Proof(margin, w, max(bound, margin), multipliers)


# ------------------------------------------------------------------------------------------------------- Euclidean weights


def nearest(programme: Programme, spare: NDArray) -> tuple[NDArray | None, NDArray]:
    """The shortest w with <u, w> >= c + spare and its multipliers b, w = sum b u; or None and a combination b that vanishes.

    The dual method of Goldfarb and Idnani (1983): it begins at 0, meets the constraint that is violated most, and lets go of
    those whose multipliers would become negative.  The constraints that hold as equalities are kept as U^T = Q R.
    """
    u, c = programme.u, programme.c + spare
    n, p = u.shape
    fine = EPSILON * (p + 8)
    w, held, b = np.zeros(p), np.zeros(0, dtype=np.intp), np.zeros(0)
    Q, R = np.zeros((p, 0)), np.zeros((0, 0))
    for _ in range(20 * (n + p) + 100):
        short = c - u @ w
        short[held] = -np.inf
        new = int(short.argmax())
        if short[new] <= fine * np.linalg.norm(w):
            break
        total, met = 0.0, False
        while not met:
            across, along = split(Q, u[new])
            change = solve_triangular(R, along) if len(held) else along
            rest = float(np.linalg.norm(across))
            step = (c[new] - u[new] @ w) / rest**2 if rest > fine else np.inf
            falling = np.flatnonzero(change > fine * np.abs(change).max(initial=0.0))
            most = b[falling] / change[falling]
            first = int(most.argmin()) if len(falling) else -1
            if len(falling) == 0 and step == np.inf:
                return None, spread(n, np.append(held, new), np.append(-change, 1.0))
            met = len(falling) == 0 or step <= most[first]
            size = step if met else most[first]
            b, total = b - size * change, total + size
            w = w + size * across if step < np.inf else w
            if met:
                Q, R = np.column_stack([Q, across / rest]), extended(R, along, rest)
                held, b = np.append(held, new), np.append(b, total)
            else:
                Q, R = without(Q, R, falling[first])
                held, b = np.delete(held, falling[first]), np.delete(b, falling[first])
        w, b = equalities(Q, R, u[held], c[held])
    return w, spread(n, held, b)


def split(Q: NDArray, u: NDArray) -> tuple[NDArray, NDArray]:
    """What of u is orthogonal to the columns of Q, orthogonalised twice, and its products with them."""
    along = Q.T @ u
    across = u - Q @ along
    again = Q.T @ across
    return across - Q @ again, along + again


def extended(R: NDArray, along: NDArray, rest: float) -> NDArray:
    k = len(R)
    larger = np.zeros((k + 1, k + 1))
    larger[:k, :k], larger[:k, k], larger[k, k] = R, along, rest
    return larger


def without(Q: NDArray, R: NDArray, column: int) -> tuple[NDArray, NDArray]:
    k = len(R) - 1
    if k == 0:
        return Q[:, :0], R[:0, :0]
    Q, R = qr_delete(Q, R, column, which="col")
    return Q[:, :k], R[:k]  # of a square Q all columns are left


def equalities(Q: NDArray, R: NDArray, u: NDArray, c: NDArray) -> tuple[NDArray, NDArray]:
    """The shortest w with <u, w> = c for the vectors held, refined for entries of very different size, and its multipliers."""
    along = solve_triangular(R, c, trans="T")
    w = Q @ along
    for _ in range(REFINED):
        w = w + Q @ solve_triangular(R, c - u @ w, trans="T")
    return w, solve_triangular(R, along)


def spread(n: int, at: NDArray, values: NDArray) -> NDArray:
    """Multipliers of all n vectors, none of them negative."""
    b = np.zeros(n)
    b[at] = np.maximum(values, 0.0)
    return b


# ------------------------------------------------------------------------------------------------------------ other norms


def linear(programme: Programme, spare: NDArray) -> tuple[NDArray | None, NDArray]:
    """The w with the largest g where <u, w> >= g c + spare and its 1-norm or largest entry is at most 1, and the multipliers.

    The variables are w+ and w- with w = w+ - w-, g, what is beyond g c + spare, and what is left of 1.
    """
    u = programme.u
    n, p = u.shape
    size = np.maximum(np.abs(u).max(axis=0), SHORTEST)  # HiGHS takes small numbers for zeros
    own = np.ones((1, p)) if programme.norm == "l1" else np.eye(p)
    own, k = own / size, len(own)
    leads = [u / size, -u / size, -programme.c[:, None], -sparse.eye(n), None]
    A = sparse.csr_array(sparse.bmat([leads, [own, own, None, None, sparse.eye(k)]]))
    cost = np.zeros(A.shape[1])
    cost[2 * p] = -1.0
    x, b = refined(A, np.append(spare, np.ones(k)), cost)
    if x is None:
        return nearest(programme, spare)  # its combination vanishes where data are not separable
    return (x[:p] - x[p : 2 * p]) / size, np.maximum(b[:n], 0.0)


def refined(A: Any, c: NDArray, cost: NDArray) -> tuple[NDArray | None, NDArray]:
    """Minimise <cost, x> with A x = c, x >= 0; None where the programme has no solution, and the multipliers.

    What HiGHS' tolerances leave of it is a programme of its own, made larger (Gleixner, Steffy and Wolter 2016).
    """
    x, b, far, dear = np.zeros(len(cost)), np.zeros(len(c)), 1.0, 1.0
    for _ in range(1 + REFINED):
        bounds = np.column_stack([-far * x, np.full(len(x), np.inf)])
        found = linprog(dear * (cost - b @ A), A_eq=A, b_eq=far * (c - A @ x), bounds=bounds, options=TOLERANCES)
        if found.x is None:
            return (x if x.any() else None), b
        x, b = x + found.x / far, b + found.eqlin.marginals / dear
        missed, over = max(np.abs(c - A @ x).max(), -x.min()), (b @ A - cost).max()
        if max(missed, over) <= EPSILON:
            break
        far, dear = 1 / max(missed, EPSILON), 1 / max(over, EPSILON)
    return x, b
