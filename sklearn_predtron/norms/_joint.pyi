from collections.abc import Iterable
from typing import Any

from sklearn_predtron._core.rows import Rows
from sklearn_predtron._core.score_map import ScoreMap
from sklearn_predtron.norms._l2 import L2Weights

class JointMap(ScoreMap):
    def __init__(self) -> None: ...

class ObjectRows(Rows):
    def __init__(self, objects: Iterable[Any], p: int) -> None: ...

class JointWeights(L2Weights):
    def __init__(self, p: int, averaging: int = ...) -> None: ...
