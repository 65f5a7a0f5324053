from typing import Any

import numpy as np
from numpy.typing import NDArray

def fill_row(x: dict[Any, Any], numbers: dict[Any, int], index: NDArray[np.int32], value: NDArray[np.float64]) -> int: ...
