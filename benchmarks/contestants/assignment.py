"""Loss-augmented inference as an assignment problem: SciPy's solver on the matrix of all costs."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment


class AssignmentSolver:
    """Positions from 0 that maximise the sum of s f(position) - a D(position)."""

    name = "linear_sum_assignment"

    def positions(self, s: NDArray, a: NDArray, f: NDArray, D: NDArray) -> NDArray:
        return linear_sum_assignment(np.outer(s, f) - np.outer(a, D), maximize=True)[1]
