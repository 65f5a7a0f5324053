from typing import Any

class ScoreMap:
    d: int
    n_directions: int
    extra: int
    offsets_cancel: bool
    offsets_apart: bool
    def __init__(self, d: int) -> None: ...
    def check_norm(self, norm: Any) -> None: ...
    def build(self, norm: Any, p: int, intercept: Any, **how: Any) -> Any: ...

class QueryMap(ScoreMap):
    def __init__(self, p: int = ...) -> None: ...

class SharedMap(ScoreMap):
    def __init__(self, d: int) -> None: ...
