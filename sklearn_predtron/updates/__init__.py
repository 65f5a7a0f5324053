"""Updates of the weights: when, to which competitor and how far."""

from typing import TYPE_CHECKING

from sklearn_predtron._support.lazy import names_from

if TYPE_CHECKING:
    from sklearn_predtron.updates._public import *

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

__getattr__, __dir__ = names_from(globals(), f"{__name__}._public")
