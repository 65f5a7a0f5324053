"""Checks of scikit-learn that can fail, with reasons."""

import inspect
from numbers import Real

from sklearn_predtron._support.parts import resolve
from sklearn_predtron.decisions import Cut, Learned
from sklearn_predtron.families.bipartite import PredtronBipartiteClassifier
from sklearn_predtron.families.label_ranking import PredtronLabelRanker
from sklearn_predtron.families.multilabel import PredtronMultilabelClassifier
from sklearn_predtron.families.sequences import PredtronSequenceTagger
from sklearn_predtron.losses import SubsetLoss
from sklearn_predtron.losses.subset import AtK
from sklearn_predtron.mixing import ParameterMixing
from sklearn_predtron.norms import RKHS

WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
ROUNDS = "a row of weight 2 is one round, with a step twice as long; the same row given twice is two rounds"
FOLDS = "they ask for folds, of whose learners there is no mean with a kernel"
SEQUENCE = "a sequence weighs as one, and the rows are one"
ONE = "rows without ids are the tokens of one sequence, whose labels depend on their neighbours'"
OF_SEQUENCES = {
    **dict.fromkeys([*WEIGHTS, "check_sample_weights_not_overwritten"], SEQUENCE),
    **dict.fromkeys(["check_methods_sample_order_invariance", "check_methods_subset_invariance"], ONE),
    "check_n_features_in_after_fitting": "it gives the classes of partial_fit to classifiers alone",
}
PREDICTIONS = ("check_classifiers_classes", "check_classifiers_train")
CLASS_WEIGHT = "check_class_weight_classifiers"
PARTIAL = ("check_fit_score_takes_y", "check_n_features_in_after_fitting", "check_estimators_partial_fit_n_features")


def expected_failed_checks(estimator):
    """Return the scikit-learn checks that can fail, with reasons.

    `check_estimator` of scikit-learn accepts them. Depending on its other parameters, the estimator may pass some of them.
    """
    if isinstance(estimator, ParameterMixing):
        return expected_failed_checks(estimator.estimator)
    expected = {} if isinstance(estimator, PredtronLabelRanker) else dict.fromkeys(WEIGHTS, ROUNDS)
    if isinstance(estimator.get_params(deep=False).get("norm"), RKHS) or getattr(estimator, "norm", None) == "rkhs":
        expected |= dict.fromkeys(WEIGHTS, FOLDS)
    if isinstance(estimator, PredtronSequenceTagger):
        expected |= OF_SEQUENCES
    for found in (_of_predictions, _of_streams):
        expected |= found(estimator, estimator.get_params(deep=False))
    return expected


def _of_predictions(estimator, given):
    """Return the checks that assume predictions by largest score."""
    expected = {}
    if given.get("reject") is not None:
        expected |= dict.fromkeys([*PREDICTIONS, CLASS_WEIGHT], "rows may be rejected, whose label is no class")
        expected["check_classifiers_one_label_sample_weights"] = "after a few rows of one class, all others may be rejected"
    expected |= _of_decisions(estimator, given)
    if given.get("fit_intercept") is False:
        expected[CLASS_WEIGHT] = "a class cannot be predicted more often by an intercept"
    if given.get("representation") == "shared":
        expected["check_classifiers_train"] = "decision_function is that of one direction, whatever the thresholds"
        expected["check_sparsify_coefficients"] = "one direction is not kept sparse"
        expected[CLASS_WEIGHT] = "ranks that lie between others on one direction stay there"
    if _takes_the_first_k(given.get("loss")):
        expected |= dict.fromkeys([*PREDICTIONS, "check_classifier_multioutput"], "k are predicted, whatever the signs of scores")
        if isinstance(estimator, PredtronBipartiteClassifier):
            expected["check_methods_subset_invariance"] = "the first k of the rows given are predicted, and depend on the others"
    return expected


def _of_decisions(estimator, given):
    """Return the checks that assume predictions by scores or probabilities."""
    rule, expected = given.get("decision"), {}
    at = rule.at if isinstance(rule, Cut) else rule
    bipartite, sets = (isinstance(estimator, kind) for kind in (PredtronBipartiteClassifier, PredtronMultilabelClassifier))
    if "decision" not in given or isinstance(rule, Learned) or rule == "learned":
        return {}
    if isinstance(at, Real):
        expected["check_classifiers_train"] = "a cut that is given may have any accuracy"
    elif rule is None and not bipartite and _has_unit_costs(estimator, given):
        weighed = given.get("class_weight") is not None
        return dict.fromkeys(["check_classifiers_train"] * weighed, "weights of classes move predictions, and not probabilities")
    else:
        expected["check_classifiers_train"] = "what costs least is neither of the largest score nor most probable"
        if "class_weight" in given:
            expected[CLASS_WEIGHT] = "the decision takes back what the weights of the classes add to the scores"
    if sets:
        expected["check_classifier_multioutput"] = "what costs least is not what is more probable than not"
    return expected


def _has_unit_costs(estimator, given):
    """Return whether the costs are 0-1 or rank distances."""
    usual = inspect.signature(type(estimator)).parameters["loss"].default if "loss" in given else None
    return isinstance(given.get("loss"), str) and given["loss"] == usual


def _of_streams(estimator, given):
    """Return the checks that assume streams for every parameter."""
    expected = {}
    if given.get("class_weight") == "balanced":
        expected |= dict.fromkeys(PARTIAL, "partial_fit, which sees a part of the data, does not accept class_weight='balanced'")
    if given.get("constraint") == "observed":
        expected |= dict.fromkeys(PARTIAL, "partial_fit, which sees a part of the data, does not accept constraint='observed'")
    if given.get("warm_start"):
        again = ["check_supervised_y_2d", "check_classifiers_multilabel_representation_invariance"]
        expected |= dict.fromkeys(again, "the second fit goes on from the first")
    return expected


def _takes_the_first_k(loss):
    """Return whether a loss depends on the first k."""
    try:
        return isinstance(resolve(SubsetLoss, loss, "loss"), AtK)
    except (TypeError, ValueError):
        return False
