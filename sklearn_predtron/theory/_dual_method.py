"""The quadratic programme by Goldfarb and Idnani's dual method (1983)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr_delete, solve_triangular

from sklearn_predtron.theory._programme import EPSILON, Programme

REFINED = 2  # times


def nearest(programme: Programme, spare: NDArray) -> tuple[NDArray | None, NDArray]:
    """Return the shortest w with <u, w> >= c + spare.

    Its multipliers b have w = sum b u. If there is no w, return None and a combination b that vanishes.

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
                return None, all_multipliers(n, np.append(held, new), np.append(-change, 1.0))
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
    return w, all_multipliers(n, held, b)


def split(Q: NDArray, u: NDArray) -> tuple[NDArray, NDArray]:
    """Return the residual of u and its products with Q; it is orthogonalised twice."""
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
    """Return the shortest w with <u, w> = c, and multipliers; it is refined for entries of very different size."""
    along = solve_triangular(R, c, trans="T")
    w = Q @ along
    for _ in range(REFINED):
        w = w + Q @ solve_triangular(R, c - u @ w, trans="T")
    return w, solve_triangular(R, along)


def all_multipliers(n: int, at: NDArray, values: NDArray) -> NDArray:
    """Return the non-negative multipliers of all n vectors."""
    b = np.zeros(n)
    b[at] = np.maximum(values, 0.0)
    return b
