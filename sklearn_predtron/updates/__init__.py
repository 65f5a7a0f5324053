"""Updates of the weights: when, to which competitor and how far."""

from typing import TYPE_CHECKING

from sklearn_predtron._support.lazy import from_module

if TYPE_CHECKING:
    from sklearn_predtron.updates._public import (
        MMP as MMP,
    )
    from sklearn_predtron.updates._public import (
        Adaptive as Adaptive,
    )
    from sklearn_predtron.updates._public import (
        ListNet as ListNet,
    )
    from sklearn_predtron.updates._public import (
        LossAugmented as LossAugmented,
    )
    from sklearn_predtron.updates._public import (
        LossDriven as LossDriven,
    )
    from sklearn_predtron.updates._public import (
        MaxPair as MaxPair,
    )
    from sklearn_predtron.updates._public import (
        PassiveAggressive as PassiveAggressive,
    )
    from sklearn_predtron.updates._public import (
        PerceptronUpdate as PerceptronUpdate,
    )
    from sklearn_predtron.updates._public import (
        PRank as PRank,
    )
    from sklearn_predtron.updates._public import (
        Slam as Slam,
    )
    from sklearn_predtron.updates._public import (
        Subgradient as Subgradient,
    )
    from sklearn_predtron.updates._public import (
        Update as Update,
    )
    from sklearn_predtron.updates._public import (
        build_rule as build_rule,
    )

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

__getattr__ = from_module(globals(), f"{__name__}._public")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
