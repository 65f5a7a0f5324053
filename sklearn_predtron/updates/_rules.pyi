from sklearn_predtron._core.rule import Rule

class SteppedRule(Rule):
    eta: float
    theory: float
    def __init__(self, eta: float, theory: float = ...) -> None: ...

class LossAugmentedRule(SteppedRule): ...
class PerceptronRule(SteppedRule): ...
class LossDrivenRule(PerceptronRule): ...

class PassiveAggressiveRule(Rule):
    C: float
    delta: float
    def __init__(self, C: float, softened: int, predicted: bool, constant: bool, delta: float) -> None: ...

class AdaptiveRule(Rule):
    kappa: float
    def __init__(self, kappa: float) -> None: ...

class SubgradientRule(Rule):
    alpha: float
    eta: float
    def __init__(self, alpha: float, eta: float) -> None: ...
