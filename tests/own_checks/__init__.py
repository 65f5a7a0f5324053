"""Checks of the properties that this package's estimators have, beside scikit-learn's own.

Each check is a function ``check_...(name, estimator)`` that raises AssertionError if a property does not hold: streams may be
split anywhere, failing calls change nothing, unpickled models continue training, and rows may have any format.  The checks are
for estimators of `sklearn_predtron` in any configuration, and for classes derived from them.  Labels are 0, 1, ... (for
`Predtron`, the problem's own predictions); if the rounds are queries, streams are split between queries.
"""

from tests.own_checks import failures, input_forms, predictions, reproducibility, streams
from tests.own_checks.comparisons import assert_same, assert_same_bits, frozen, is_same, scores_of

__all__ = ["all_checks", "assert_same", "assert_same_bits", "frozen", "is_same", "scores_of"]


def all_checks():
    """Yield every check of an estimator; it is called with a name and an estimator, which is cloned."""
    for module in (streams, reproducibility, failures, input_forms, predictions):
        for name, check in vars(module).items():
            if name.startswith("check_"):
                yield check
