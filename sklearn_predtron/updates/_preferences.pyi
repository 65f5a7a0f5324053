from sklearn_predtron._core.problem import Problem
from sklearn_predtron._core.rule import Rule

class PreferencesRule(Rule):
    rule: Rule
    d: int
    def __init__(self, rule: Rule, pair: Problem, d: int) -> None: ...
