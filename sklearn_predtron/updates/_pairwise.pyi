from typing import Any

from sklearn_predtron._core.rule import Rule

class ScheduledRule(Rule):
    eta: float
    def __init__(self, eta: float, fading: bool = ...) -> None: ...

class RankingLossAugmentedRule(Rule):
    def __init__(self) -> None: ...

class SlamRule(ScheduledRule):
    theory: bool
    def __init__(self, eta: float, fading: bool = ..., theory: bool = ...) -> None: ...

class MaxPairRule(ScheduledRule):
    weighted: bool
    def __init__(self, eta: float, weighted: bool) -> None: ...

class ListNetRule(ScheduledRule): ...

class MMPRule(ScheduledRule):
    cost: str
    weights: Any
    def __init__(self, eta: float, cost: str, weights: str) -> None: ...
