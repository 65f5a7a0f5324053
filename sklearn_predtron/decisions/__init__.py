"""Decisions: how scores become predictions.

Scores are decoded by plain argmax, by lowest expected cost or by a cut.
"""

from sklearn_predtron.decisions._certified import Certificate
from sklearn_predtron.decisions._rules import Cut, DecisionRule, ExpectedCost, Learned

__all__ = ["Certificate", "Cut", "DecisionRule", "ExpectedCost", "Learned"]
