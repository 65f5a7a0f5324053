from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.decisions._recent_scores import RecentScores

class AskedScores(RecentScores):
    correction: float
    followed: int
    asked: int
    rule: Any
    def go_on_from(self, other: RecentScores) -> None: ...
    def up_to_now(self, rule: Any) -> tuple[float, int, int]: ...

def threshold_of(known: NDArray[np.float64], level: float, above: float) -> float: ...
