from typing import Any

class LossCurve:
    size: int
    t: int
    loss: float
    def __init__(self, size: int, t: int = ..., loss: float = ...) -> None: ...
    def curve(self) -> Any: ...
