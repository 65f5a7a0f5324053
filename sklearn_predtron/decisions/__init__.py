"""Decisions: how scores become predictions. Scores are decoded by plain argmax, by lowest expected cost or by a cut."""

from typing import TYPE_CHECKING

from sklearn_predtron._support.lazy import names_from

if TYPE_CHECKING:
    from sklearn_predtron.decisions._public import *

__all__ = ["AtLeast", "AtMost", "Certificate", "Cut", "DecisionRule", "ExpectedCost", "Learned", "PromiseResult"]

__getattr__, __dir__ = names_from(globals(), f"{__name__}._public")
