"""The public names of the package."""

from sklearn_predtron import updates
from sklearn_predtron._support.lazy import give_public_paths
from sklearn_predtron.updates._basic_updates import Adaptive as Adaptive
from sklearn_predtron.updates._basic_updates import LossAugmented as LossAugmented
from sklearn_predtron.updates._basic_updates import LossDriven as LossDriven
from sklearn_predtron.updates._basic_updates import PassiveAggressive as PassiveAggressive
from sklearn_predtron.updates._basic_updates import PerceptronUpdate as PerceptronUpdate
from sklearn_predtron.updates._basic_updates import Subgradient as Subgradient
from sklearn_predtron.updates._basic_updates import Update as Update
from sklearn_predtron.updates._basic_updates import build_rule as build_rule
from sklearn_predtron.updates._ordinal import PRank as PRank
from sklearn_predtron.updates._ranking import MMP as MMP
from sklearn_predtron.updates._ranking import ListNet as ListNet
from sklearn_predtron.updates._ranking import MaxPair as MaxPair
from sklearn_predtron.updates._ranking import Slam as Slam

give_public_paths(updates, globals())
