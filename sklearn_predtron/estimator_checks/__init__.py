"""Checks of custom parts.

`check_problem`, `check_loss` and `check_representation` raise AssertionError if a part does not do what its base class asks
for.
"""

from sklearn_predtron.estimator_checks._losses import check_loss
from sklearn_predtron.estimator_checks._problems import check_problem
from sklearn_predtron.estimator_checks._representations import check_representation

__all__ = ["check_loss", "check_problem", "check_representation"]

# Pickles name these by the public path, whatever module defines them.
for name in __all__:
    globals()[name].__module__ = __name__
del name
