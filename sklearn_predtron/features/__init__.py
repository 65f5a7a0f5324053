"""Feature maps of table columns, computed row by row."""

from typing import TYPE_CHECKING

from sklearn_predtron._support.lazy import names_from

if TYPE_CHECKING:
    from sklearn_predtron.features._feature_maps import *

__all__ = ["Auto", "FeatureMap", "PiecewiseLinear", "RandomFourier"]

__getattr__, __dir__ = names_from(globals(), f"{__name__}._feature_maps")
