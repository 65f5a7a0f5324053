"""Norms under which margins are measured."""

from typing import TYPE_CHECKING

from sklearn_predtron._support.lazy import from_module

if TYPE_CHECKING:
    from sklearn_predtron.norms._norms import (
        L2 as L2,
    )
    from sklearn_predtron.norms._norms import (
        RKHS as RKHS,
    )
    from sklearn_predtron.norms._norms import (
        Auto as Auto,
    )
    from sklearn_predtron.norms._norms import (
        Group as Group,
    )
    from sklearn_predtron.norms._norms import (
        Norm as Norm,
    )
    from sklearn_predtron.norms._norms import (
        PNorm as PNorm,
    )
    from sklearn_predtron.norms._norms import (
        Scaled as Scaled,
    )
    from sklearn_predtron.norms._norms import (
        Trace as Trace,
    )

__all__ = ["L2", "RKHS", "Auto", "Group", "Norm", "PNorm", "Scaled", "Trace"]

__getattr__ = from_module(globals(), f"{__name__}._norms")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
