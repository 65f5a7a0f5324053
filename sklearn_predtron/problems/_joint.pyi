from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.problems._user import UserProblem

class PythonJointProblem(UserProblem):
    n_features: int
    def dense_features(self, x: Any, prediction: Any) -> NDArray[np.float64]: ...
    def decode(self, w: NDArray[np.float64], objects: Iterable[Any]) -> list[Any]: ...
