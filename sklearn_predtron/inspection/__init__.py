"""Pictures: the loss suffered online and its bound, the risk of the accepted rows against coverage, the margins of the rows."""

from sklearn_predtron.inspection._margins import MarginDisplay
from sklearn_predtron.inspection._online_loss import OnlineLossDisplay
from sklearn_predtron.inspection._risk_coverage import RiskCoverageDisplay

__all__ = ["MarginDisplay", "OnlineLossDisplay", "RiskCoverageDisplay"]

# Pickles name these by the public path, whatever module defines them.
for name in __all__:
    globals()[name].__module__ = __name__
del name
