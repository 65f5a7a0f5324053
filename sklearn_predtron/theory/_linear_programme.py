"""The linear programme, for 1-norm or largest-entry weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from sklearn_predtron.theory._dual_method import nearest
from sklearn_predtron.theory._programme import EPSILON, Programme

REFINED = 2  # times
SHORTEST = 1e-6  # columns are made so long at most
TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}  # the least there are


def linear(programme: Programme, spare: NDArray) -> tuple[NDArray | None, NDArray]:
    """Return w with the largest g where <u, w> >= g c + spare.

    Its 1-norm or largest entry is at most 1. The multipliers are returned, too.

    The variables are w+ and w- with w = w+ - w-, g, and the slacks of both constraints.
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
    """Minimise <cost, x> with A x = c, x >= 0.

    Return None without a solution, and the multipliers.

    The residual within HiGHS' tolerances is scaled up and solved as a further programme (Gleixner, Steffy and Wolter 2016).
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
