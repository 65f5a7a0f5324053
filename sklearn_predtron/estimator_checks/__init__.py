"""Checks of the properties that this package's estimators have.

scikit-learn's own checks are assumed.

Each check is a function ``check_...(name, estimator)`` that raises AssertionError if a property does not hold: streams may be
split anywhere, failing calls change nothing, unpickled models continue training, and rows may have any format.  The checks are
for estimators of `sklearn_predtron` in any configuration, and for classes derived from them.  Labels are 0, 1, ... (for
`Predtron`, the problem's own predictions); if the rounds are queries, streams are split between queries.

User-defined parts have their own checks: `check_problem`, `check_loss` and `check_representation`.  A few of scikit-learn's
checks do not fit some estimators: `expected_failed_checks` returns them, with the reasons, for an estimator's parameters.
"""

from sklearn_predtron.estimator_checks._comparisons import assert_same as assert_same
from sklearn_predtron.estimator_checks._comparisons import assert_same_bits as assert_same_bits
from sklearn_predtron.estimator_checks._comparisons import frozen as frozen
from sklearn_predtron.estimator_checks._comparisons import is_same as is_same
from sklearn_predtron.estimator_checks._comparisons import scores_of as scores_of
from sklearn_predtron.estimator_checks._expected_failures import expected_failed_checks
from sklearn_predtron.estimator_checks._failures import check_bad_input_to_predict as check_bad_input_to_predict
from sklearn_predtron.estimator_checks._failures import check_bad_parameters_change_nothing as check_bad_parameters_change_nothing
from sklearn_predtron.estimator_checks._failures import check_failing_fit_changes_nothing as check_failing_fit_changes_nothing
from sklearn_predtron.estimator_checks._failures import (
    check_failing_partial_fit_changes_nothing as check_failing_partial_fit_changes_nothing,
)
from sklearn_predtron.estimator_checks._input_forms import (
    check_float32_equals_its_float64_copy as check_float32_equals_its_float64_copy,
)
from sklearn_predtron.estimator_checks._input_forms import check_formats_of_sparse_input as check_formats_of_sparse_input
from sklearn_predtron.estimator_checks._input_forms import check_input_is_not_modified as check_input_is_not_modified
from sklearn_predtron.estimator_checks._input_forms import check_layouts_of_dense_input as check_layouts_of_dense_input
from sklearn_predtron.estimator_checks._input_forms import check_order_of_sparse_entries as check_order_of_sparse_entries
from sklearn_predtron.estimator_checks._input_forms import check_read_only_and_mapped_input as check_read_only_and_mapped_input
from sklearn_predtron.estimator_checks._losses import check_loss
from sklearn_predtron.estimator_checks._predictions import (
    check_one_row_predicts_as_in_a_batch as check_one_row_predicts_as_in_a_batch,
)
from sklearn_predtron.estimator_checks._predictions import check_unfitted as check_unfitted
from sklearn_predtron.estimator_checks._problems import check_problem
from sklearn_predtron.estimator_checks._representations import check_representation
from sklearn_predtron.estimator_checks._reproducibility import check_constant_weight_of_one as check_constant_weight_of_one
from sklearn_predtron.estimator_checks._reproducibility import check_same_seed_same_bits as check_same_seed_same_bits
from sklearn_predtron.estimator_checks._reproducibility import check_scale_of_inputs as check_scale_of_inputs
from sklearn_predtron.estimator_checks._reproducibility import check_zero_weight_is_absence as check_zero_weight_is_absence
from sklearn_predtron.estimator_checks._run import all_checks, check_predtron_estimator
from sklearn_predtron.estimator_checks._streams import (
    check_dense_and_sparse_may_alternate as check_dense_and_sparse_may_alternate,
)
from sklearn_predtron.estimator_checks._streams import check_partial_fit_in_any_split as check_partial_fit_in_any_split
from sklearn_predtron.estimator_checks._streams import check_pickled_in_mid_stream as check_pickled_in_mid_stream
from sklearn_predtron.estimator_checks._streams import check_set_params_in_mid_stream as check_set_params_in_mid_stream
from sklearn_predtron.estimator_checks._streams import check_single_rounds_by_any_way as check_single_rounds_by_any_way

__all__ = [
    "all_checks",
    "check_loss",
    "check_predtron_estimator",
    "check_problem",
    "check_representation",
    "expected_failed_checks",
]

# Pickles name these by the public path, whatever module defines them.
for name in __all__:
    globals()[name].__module__ = __name__
del name
