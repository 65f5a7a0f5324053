"""Feature maps of table columns, computed row by row."""

from typing import TYPE_CHECKING

from sklearn_predtron._support.lazy import from_module

if TYPE_CHECKING:
    from sklearn_predtron.features._feature_maps import (
        CLIP as CLIP,
    )
    from sklearn_predtron.features._feature_maps import (
        ROWS_OF_STREAMS as ROWS_OF_STREAMS,
    )
    from sklearn_predtron.features._feature_maps import (
        Auto as Auto,
    )
    from sklearn_predtron.features._feature_maps import (
        FeatureMap as FeatureMap,
    )
    from sklearn_predtron.features._feature_maps import (
        PiecewiseLinear as PiecewiseLinear,
    )
    from sklearn_predtron.features._feature_maps import (
        RandomFourier as RandomFourier,
    )

__all__ = ["Auto", "FeatureMap", "PiecewiseLinear", "RandomFourier"]

__getattr__ = from_module(globals(), f"{__name__}._feature_maps")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
