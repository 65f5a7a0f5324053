from collections.abc import Iterable
from typing import Any

from sklearn_predtron._core.rows import Rows
from sklearn_predtron._core.score_map import ScoreMap

class JointMap(ScoreMap):
    def __init__(self) -> None: ...

class ObjectRows(Rows):
    def __init__(self, objects: Iterable[Any], p: int) -> None: ...
