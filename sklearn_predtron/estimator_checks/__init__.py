"""Checks of custom parts, and the expected failures of scikit-learn's checks.

`check_problem`, `check_loss` and `check_representation` raise AssertionError if a part does not do what its base class asks
for.  A few of scikit-learn's checks do not fit some estimators: `expected_failed_checks` returns them, with the reasons, for an
estimator's parameters.
"""

from sklearn_predtron.estimator_checks._expected_failures import expected_failed_checks
from sklearn_predtron.estimator_checks._losses import check_loss
from sklearn_predtron.estimator_checks._problems import check_problem
from sklearn_predtron.estimator_checks._representations import check_representation

__all__ = ["check_loss", "check_problem", "check_representation", "expected_failed_checks"]

# Pickles name these by the public path, whatever module defines them.
for name in __all__:
    globals()[name].__module__ = __name__
del name
