import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Numbers = NDArray[np.intp]
BEYOND_LIMITS: float

def fit_curve(
    s: Reals, on: Reals, off: Reals, mean: Reals, ridge: Reals, least: float
) -> tuple[tuple[float, float, float], float]: ...
def probabilities_of_curves(scores: Reals, curves: Reals, scale: Reals, limits: Reals) -> Reals: ...
def likelihood(
    p: Reals, scores: Reals, y: Numbers, weight: Reals, smoothing: Reals, ridge: Reals, diagonal: bool
) -> tuple[float, Reals]: ...
def probabilities_of_classes(
    scores: Reals, p: Reals, mean: Reals, scale: float, limit: float, k: int, diagonal: bool
) -> Reals: ...
