from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.rows import Rows

def are_few(rows: Rows, before: int) -> bool: ...

class Predictor:
    scoring: Any
    def scores(self, rows: Rows, out: NDArray[np.float64], first: int = ...) -> bool: ...
