from typing import Any

from sklearn_predtron.problems._label_sets import LabelSets

def checked_loss(function: Any, *counts: float) -> float: ...

class TabulatedSetLoss(LabelSets):
    def __init__(self, m: int, function: Any, c_L: Any, C_L: Any) -> None: ...

class EvaluatedSetLoss(TabulatedSetLoss): ...
