from typing import Any

class Intercept:
    fitted: bool
    automatic: bool
    fixed: float
    count: int
    def __init__(self, fitted: bool, scaling: Any) -> None: ...
