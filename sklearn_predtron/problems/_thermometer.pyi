from typing import Any

from sklearn_predtron.problems._finite import FiniteProblem

class ThermometerProblem(FiniteProblem):
    def __init__(self, k: int, cost: Any = ..., shared: bool = ...) -> None: ...
