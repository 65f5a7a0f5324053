"""The one place that imports what scikit-learn keeps private."""

import functools

from sklearn.base import BaseEstimator
from sklearn.metrics import make_scorer
from sklearn.utils._optional_dependencies import check_matplotlib_support
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

# What callbacks and searches know a scorer by.
Scorer: type = type(make_scorer(min))

__all__ = [
    "CachedParameterNames",
    "HasMethods",
    "Interval",
    "Scorer",
    "StrOptions",
    "check_matplotlib_support",
    "check_sample_weight",
]


class CachedParameterNames(BaseEstimator):
    """Reads the names of the constructor's parameters once a class, not once a call."""

    @classmethod
    @functools.cache
    def _get_param_names(cls) -> list[str]:
        return super()._get_param_names()
