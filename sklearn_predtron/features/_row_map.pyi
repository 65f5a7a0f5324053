from typing import Any

class RowMap:
    p: int
    width: int
    most: int
    sparse: bool

class PiecewiseMap(RowMap):
    description: Any
    def __init__(self, *state: Any) -> None: ...

class FourierMap(RowMap):
    def __init__(self, *state: Any) -> None: ...
