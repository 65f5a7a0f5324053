"""Decisions: how scores become predictions.

Scores are decoded by plain argmax, by lowest expected cost or by a cut.
"""

from typing import TYPE_CHECKING

from sklearn_predtron._support.lazy import from_module

if TYPE_CHECKING:
    from sklearn_predtron.decisions._public import (
        AtLeast as AtLeast,
    )
    from sklearn_predtron.decisions._public import (
        AtMost as AtMost,
    )
    from sklearn_predtron.decisions._public import (
        Certificate as Certificate,
    )
    from sklearn_predtron.decisions._public import (
        Cut as Cut,
    )
    from sklearn_predtron.decisions._public import (
        DecisionRule as DecisionRule,
    )
    from sklearn_predtron.decisions._public import (
        ExpectedCost as ExpectedCost,
    )
    from sklearn_predtron.decisions._public import (
        Learned as Learned,
    )
    from sklearn_predtron.decisions._public import (
        PromiseResult as PromiseResult,
    )

__all__ = ["AtLeast", "AtMost", "Certificate", "Cut", "DecisionRule", "ExpectedCost", "Learned", "PromiseResult"]

__getattr__ = from_module(globals(), f"{__name__}._public")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
