"""Displays of fitted estimators, predictions and training."""

from sklearn_predtron.families.model.explanation import Explanation
from sklearn_predtron.inspection._coefficients import CoefficientDisplay
from sklearn_predtron.inspection._costs import CostDisplay
from sklearn_predtron.inspection._effects import EffectsDisplay
from sklearn_predtron.inspection._margins import MarginDisplay
from sklearn_predtron.inspection._ndcg import NDCGDisplay
from sklearn_predtron.inspection._online_loss import OnlineLossDisplay
from sklearn_predtron.inspection._promises import PromiseDisplay
from sklearn_predtron.inspection._report import report
from sklearn_predtron.inspection._risk_coverage import RiskCoverageDisplay

__all__ = [
    "CoefficientDisplay",
    "CostDisplay",
    "EffectsDisplay",
    "Explanation",
    "MarginDisplay",
    "NDCGDisplay",
    "OnlineLossDisplay",
    "PromiseDisplay",
    "RiskCoverageDisplay",
    "report",
]

# Pickles name these by the public path, whatever module defines them.
for name in __all__:
    globals()[name].__module__ = __name__
del name
