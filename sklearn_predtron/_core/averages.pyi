from typing import Any

class Average:
    keep: float
    kept: int
    every: int
    leader: int
    charged: int
    loss: float
    def __init__(self, half_life: Any = ...) -> None: ...
    def named(self) -> Any: ...
    def mass(self, t: int) -> float: ...

class LinearAverage(Average): ...

class ChoosingAverage(LinearAverage):
    def __init__(self, every: int = ...) -> None: ...
