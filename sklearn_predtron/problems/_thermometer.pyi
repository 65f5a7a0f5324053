from typing import Any

from sklearn_predtron._core.score_map import ScoreMap
from sklearn_predtron.problems._finite import FiniteProblem

class ThermometerProblem(FiniteProblem):
    def __init__(self, k: int, cost: Any = ..., score_map: ScoreMap | None = ...) -> None: ...
