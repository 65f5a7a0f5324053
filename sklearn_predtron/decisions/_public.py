"""The public names of the package."""

from sklearn_predtron import decisions
from sklearn_predtron._support.lazy import give_public_paths
from sklearn_predtron.decisions._decision_rules import Cut as Cut
from sklearn_predtron.decisions._decision_rules import DecisionRule as DecisionRule
from sklearn_predtron.decisions._decision_rules import ExpectedCost as ExpectedCost
from sklearn_predtron.decisions._decision_rules import Learned as Learned
from sklearn_predtron.decisions._promises import AtLeast as AtLeast
from sklearn_predtron.decisions._promises import AtMost as AtMost
from sklearn_predtron.decisions._reject_at_risk import Certificate as Certificate
from sklearn_predtron.decisions._reject_at_risk import PromiseResult as PromiseResult

give_public_paths(decisions, globals())
