"""Decisions: how scores become predictions.

Scores are decoded by plain argmax, by lowest expected cost or by a cut.
"""

from sklearn_predtron.decisions._certified import Certificate, PromiseResult
from sklearn_predtron.decisions._promises import AtLeast, AtMost
from sklearn_predtron.decisions._rules import Cut, DecisionRule, ExpectedCost, Learned

__all__ = ["AtLeast", "AtMost", "Certificate", "Cut", "DecisionRule", "ExpectedCost", "Learned", "PromiseResult"]
