"""The public names of the package."""

from sklearn_predtron.updates._base import Update
from sklearn_predtron.updates._base import build_rule as build_rule
from sklearn_predtron.updates._generic import (
    Adaptive,
    LossAugmented,
    LossDriven,
    PassiveAggressive,
    PerceptronUpdate,
    Subgradient,
)
from sklearn_predtron.updates._ordinal import PRank
from sklearn_predtron.updates._ranking import MMP, ListNet, MaxPair, Slam

__all__ = [
    "MMP",
    "Adaptive",
    "ListNet",
    "LossAugmented",
    "LossDriven",
    "MaxPair",
    "PRank",
    "PassiveAggressive",
    "PerceptronUpdate",
    "Slam",
    "Subgradient",
    "Update",
]

# Saved models name their classes by these paths, whatever module defines them.
for name in __all__:
    globals()[name].__module__ = __name__.rpartition(".")[0]
del name
