from typing import Any

class ScoreMap:
    d: int
    n_directions: int
    of_blocks: bool
    offsets_cancel: bool
    offsets_apart: bool
    def __init__(self, d: int) -> None: ...
    def build(self, norm: Any, p: int, intercept: Any, **how: Any) -> Any: ...

class BatchMap(ScoreMap):
    def __init__(self, p: int = ...) -> None: ...

class QueryMap(BatchMap): ...

class SharedMap(ScoreMap):
    def __init__(self, d: int) -> None: ...
