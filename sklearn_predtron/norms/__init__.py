"""Norms under which margins are measured."""

from typing import TYPE_CHECKING

from sklearn_predtron._support.lazy import names_from

if TYPE_CHECKING:
    from sklearn_predtron.norms._norms import *

__all__ = ["L2", "RKHS", "Auto", "Group", "Norm", "PNorm", "Scaled", "Trace"]

__getattr__, __dir__ = names_from(globals(), f"{__name__}._norms")
