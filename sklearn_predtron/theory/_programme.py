"""The programme for weights of the largest margin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

EPSILON = float(np.finfo(float).eps)


class Vectors(NamedTuple):
    """Vectors whose products with weights are leads of sigma_y."""

    v: NDArray  # shape (n, p)
    terms: NDArray  # shape (n, p), the sizes of the two terms that v is the difference of: a lead is rounded in proportion
    loses: NDArray  # shape (n,): these leads make the margin; the others must not be negative


class Programme(NamedTuple):
    """Minimise |w| with <u, w> >= c for unit vectors u; at the minimum, the margin is least / |w|."""

    u: NDArray
    rounding: NDArray  # that of <u, w> is at most <rounding, |w|>
    loses: NDArray
    length: NDArray  # of v
    least: float  # the least length of a vector that loses
    c: NDArray  # `least` relative to the lengths, 0 for vectors that do not lose
    norm: str
