import numpy as np
from numpy.typing import NDArray

def subtract_additive(
    target: NDArray[np.float64], bins: NDArray[np.uint8], weight: NDArray[np.float64], ridge: float, sweeps: int, least: float
) -> None: ...
def drops(
    bins: NDArray[np.uint8], targets: NDArray[np.float64], weight: NDArray[np.float64], pairs: NDArray[np.intp]
) -> NDArray[np.float64]: ...
