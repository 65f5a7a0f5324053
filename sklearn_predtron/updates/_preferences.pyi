from sklearn_predtron.problems._base import Problem
from sklearn_predtron.updates._competitor import Rule

class PreferencesRule(Rule):
    rule: Rule
    d: int
    def __init__(self, rule: Rule, pair: Problem, d: int) -> None: ...
