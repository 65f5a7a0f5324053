"""What messages say of names, classes in the place of instances, attributes before fit, and whose line a warning names."""

import importlib
import inspect
import re
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import (
    Predtron,
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    Problem,
)
from sklearn_predtron._support.parts import Part, kinds
from sklearn_predtron.estimator_checks import check_problem
from sklearn_predtron.losses import NDCG, CountLoss, Hamming, Reject, ZeroOne
from sklearn_predtron.norms import RKHS, Norm
from sklearn_predtron.representations import LogRank, OneHot
from sklearn_predtron.updates import Adaptive, PassiveAggressive, Update

X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.5]] * 2)
SETS = [[0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1]] * 2
CODES = np.array([0, 1, 2, 0] * 2)
LABELS = {
    PredtronClassifier: CODES,
    PredtronBinaryClassifier: CODES > 0,
    PredtronOrdinalClassifier: CODES,
    PredtronMultilabelClassifier: SETS,
    PredtronLabelRanker: SETS,
    PredtronRanker: CODES % 2,
}
FAMILIES = list(LABELS)
each_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)


def fit(model):
    more = {"qid": "one"} if isinstance(model, PredtronRanker) else {}
    return model.fit(X, LABELS[type(model)], **more)


def refusal(call, error=ValueError):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def listed(message):
    """The names that a message says are accepted."""
    accepted = re.search(r"accepted are (.*) and instances of", message)
    return re.findall(r"'(\w+)'", accepted.group(1))


class Chain(Problem):
    n_scores = 2

    def decode(self, t):
        return int(t[1] > t[0])

    def loss(self, prediction, y):
        return float(prediction != y)

    def representation(self, prediction):
        return np.eye(2)[prediction]

    def augmented_decode(self, t, y):
        return int((t + [self.loss(0, y), self.loss(1, y)]).argmax())


# ------------------------------------------------------------------------------------------------- parameters of an alias


def test_a_parameter_that_another_part_has():
    message = refusal(lambda: PredtronClassifier().set_params(update__C=0.1))
    assert message.startswith("update__C=0.1 cannot be set: update='adaptive' has the parameters 'kappa' and 'replay'")
    assert "PassiveAggressive has 'C'" in message


def test_a_parameter_that_no_part_has():
    message = refusal(lambda: PredtronClassifier(norm="l2").set_params(norm__alpha=0.1))
    assert message == "norm__alpha=0.1 cannot be set: norm='l2' has no parameters, and no norm has 'alpha'."


def test_a_parameter_that_the_part_has_is_set_in_an_instance():
    message = refusal(lambda: PredtronClassifier(update="passive_aggressive").set_params(update__C=0.1))
    assert "pass update=PassiveAggressive(C=0.1) in place of 'passive_aggressive'" in message
    assert fit(PredtronClassifier(update=PassiveAggressive(C=0.1)).set_params(update__C=0.2)).update.C == 0.2


def test_a_search_over_a_parameter_that_the_part_has_not():
    search = GridSearchCV(PredtronClassifier(), {"update__C": [0.1]}, cv=2)
    assert "PassiveAggressive has 'C'" in refusal(lambda: search.fit(X, CODES))


def test_a_parameter_of_what_is_no_part():
    message = refusal(lambda: PredtronClassifier().set_params(average__decay=0.1))
    assert message == "average__decay=0.1 cannot be set: average=None has no parameters."


def test_a_parameter_of_a_name_that_is_none():
    assert "update='sgd' is not known" in refusal(lambda: PredtronClassifier().set_params(update="sgd", update__eta=0.1))


@each_family
def test_every_class_that_a_message_advises_has_the_parameter(family):
    for name in ("update", "norm", "loss", "representation"):
        message = refusal(lambda name=name: family().set_params(**{f"{name}__eta": 1.0}))
        for kind in kinds(Part):
            if re.search(rf"\b{kind.__name__}\b.* ha(s|ve) 'eta'", message):
                assert "eta" in inspect.signature(kind).parameters


# ----------------------------------------------------------------------------------------------- names that are not known


@each_family
def test_the_updates_that_are_listed_work_and_the_others_do_not(family):
    names = listed(refusal(lambda: fit(family(update="nope"))))
    assert "adaptive" in names
    for kind in kinds(Update):
        if kind.alias in names:
            fit(family(update=kind.alias))
        else:
            refusal(lambda kind=kind: fit(family(update=kind.alias)))


@each_family
def test_the_norms_that_are_listed_work(family):
    names = listed(refusal(lambda: fit(family(norm="nope"))))
    assert names == [kind.alias for kind in kinds(Norm)]
    for name in names:
        fit(family(norm=name))


def test_updates_that_depend_on_the_loss_and_the_representation():
    assert "slam" not in listed(refusal(lambda: fit(PredtronRanker(update="nope", loss="kendall_tau"))))
    assert "prank" in listed(refusal(lambda: fit(PredtronOrdinalClassifier(update="nope", representation="shared"))))


@each_family
def test_the_losses_and_representations_that_are_listed_work(family):
    for parameter in ("loss", "representation"):
        for name in listed(refusal(lambda parameter=parameter: fit(family(**{parameter: "nope"})))):
            fit(family(**{parameter: name}))


def test_a_representation_of_two_predictions_is_listed_for_two():
    assert "sign" not in listed(refusal(lambda: fit(PredtronClassifier(representation="nope"))))
    assert "sign" in listed(refusal(lambda: fit(PredtronBinaryClassifier(representation="nope"))))


MEANT = [
    (PredtronRanker, {"representation": "1/i"}, "'reciprocal'"),
    (PredtronRanker, {"representation": "-i"}, "'linear'"),
    (PredtronRanker, {"representation": "-i^1.1"}, "'power'"),
    (PredtronRanker, {"representation": "1/log2(1+i)"}, "'log'"),
    (PredtronRanker, {"loss": "ndcg@5"}, "NDCG(k=5)"),
    (PredtronRanker, {"loss": "NDCG@k"}, "NDCG(k=10)"),
    (PredtronRanker, {"loss": "dcg"}, "'ndcg'"),
    (PredtronRanker, {"loss": "map"}, "'ap'"),
    (PredtronRanker, {"loss": "average_precision"}, "'ap'"),
    (PredtronRanker, {"loss": "auc"}, "'swapped_pairs'"),
    (PredtronRanker, {"loss": "kendall"}, "'kendall_tau'"),
    (PredtronRanker, {"loss": "zero_one"}, "'ranking_zero_one'"),
    (PredtronLabelRanker, {"loss": "hinge"}, "'kendall_tau'"),
    (PredtronClassifier, {"update": "predtron_ld"}, "'loss_driven'"),
    (PredtronClassifier, {"update": "Predtron.LD"}, "'loss_driven'"),
    (PredtronClassifier, {"update": "pa"}, "PassiveAggressive(variant='pa')"),
    (PredtronClassifier, {"update": "pa1"}, "'passive_aggressive'"),
    (PredtronClassifier, {"update": "PA-I"}, "'passive_aggressive'"),
    (PredtronClassifier, {"update": "pa2"}, "PassiveAggressive(variant='pa2')"),
    (PredtronClassifier, {"update": "PA-II"}, "PassiveAggressive(variant='pa2')"),
    (PredtronClassifier, {"update": "pegasos"}, "'subgradient'"),
    (PredtronClassifier, {"update": "sgd"}, "'subgradient'"),
    (PredtronClassifier, {"update": "Adaptive"}, "'adaptive'"),
    (PredtronClassifier, {"update": "perceptrn"}, "'perceptron'"),
    (PredtronRanker, {"update": "slam_perceptron"}, "'slam'"),
    (PredtronClassifier, {"norm": "nuclear"}, "'trace'"),
    (PredtronClassifier, {"norm": "frobenius"}, "'l2'"),
    (PredtronClassifier, {"norm": "kernel"}, "'rkhs'"),
    (PredtronClassifier, {"norm": "L1"}, "'l1'"),
    (PredtronClassifier, {"loss": "hinge"}, "'zero_one'"),
    (PredtronClassifier, {"loss": "0-1"}, "'zero_one'"),
    (PredtronOrdinalClassifier, {"loss": "squared_error"}, "'squared'"),
    (PredtronOrdinalClassifier, {"loss": "mae"}, "'absolute'"),
    (PredtronOrdinalClassifier, {"representation": "cusum_rank"}, "'thermometer'"),
    (PredtronOrdinalClassifier, {"representation": "prank"}, "'shared'"),
    (PredtronClassifier, {"representation": "one_hot"}, "'onehot'"),
    (PredtronMultilabelClassifier, {"loss": "zero_one"}, "'subset_zero_one'"),
    (PredtronMultilabelClassifier, {"loss": "hamming_loss"}, "'hamming'"),
    (PredtronMultilabelClassifier, {"loss": "f_beta"}, "'f1'"),
    (PredtronMultilabelClassifier, {"loss": "f2"}, "FBeta(beta=2.0)"),
    (PredtronMultilabelClassifier, {"loss": "precision@3"}, "PrecisionAtK(k=3)"),
    (PredtronMultilabelClassifier, {"loss": "recall@2"}, "RecallAtK(k=2)"),
]


@pytest.mark.parametrize(("family", "settings", "meant"), MEANT, ids=[f"{settings}" for _, settings, _ in MEANT])
def test_names_of_papers_and_other_libraries(family, settings, meant):
    ((parameter, value),) = settings.items()
    message = refusal(lambda: fit(family(**settings)))
    assert message.startswith(f"{parameter}={value!r} is not known; accepted are")
    assert message.endswith(f"  Did you mean {meant}?")
    advised = eval(meant, {kind.__name__: kind for kind in kinds(Part)})
    assert fit(family(**{parameter: advised})).t_ > 0


def test_a_name_unlike_any_other_is_only_told_what_is_accepted():
    assert "Did you mean" not in refusal(lambda: fit(PredtronClassifier(update="xyzzy")))


def test_what_cannot_work_is_not_advised():
    assert "Did you mean" not in refusal(lambda: fit(PredtronClassifier(update="list_net")))


def test_a_synonym_stands_for_one_part_and_hides_no_alias():
    for base in {kind.__mro__[kind.__mro__.index(Part) - 1] for kind in kinds(Part)}:
        synonyms = [name for kind in kinds(base) for name in kind.synonyms]
        assert len(set(synonyms)) == len(synonyms)
        assert not set(synonyms) & {kind.alias for kind in kinds(base)}


# ---------------------------------------------------------------------------------------- a class in place of an instance

CLASSES = [
    (PredtronClassifier, "update", Adaptive),
    (PredtronClassifier, "norm", RKHS),
    (PredtronClassifier, "loss", ZeroOne),
    (PredtronClassifier, "representation", OneHot),
    (PredtronRanker, "loss", NDCG),
    (PredtronRanker, "representation", LogRank),
    (PredtronMultilabelClassifier, "loss", Hamming),
]


@pytest.mark.parametrize(("family", "parameter", "kind"), CLASSES)
def test_a_class_in_place_of_an_instance(family, parameter, kind):
    message = refusal(lambda: fit(family(**{parameter: kind})))
    assert message.startswith(f"{parameter}={kind.__name__} is a class; pass an instance, {parameter}={kind.__name__}()")
    fit(family(**{parameter: kind()}))


def test_a_class_that_needs_parameters():
    message = refusal(lambda: fit(PredtronMultilabelClassifier(loss=CountLoss)))
    assert message.startswith("loss=CountLoss is a class; pass an instance, loss=CountLoss(...)")


def test_the_class_of_a_problem():
    message = refusal(lambda: Predtron(Chain).fit(X, [0, 1] * 4))
    assert message.startswith("problem=Chain is a class; pass an instance, problem=Chain()")
    assert message == refusal(lambda: check_problem(Chain, [0, 1]))
    Predtron(Chain()).fit(X, [0, 1] * 4)
    check_problem(Chain(), [0, 1])


def test_the_class_of_a_kernel():
    message = refusal(lambda: fit(PredtronClassifier(norm=RKHS(kernel=RBF))))
    assert message.startswith("kernel=RBF is a class; pass an instance, kernel=RBF()")
    fit(PredtronClassifier(norm=RKHS(kernel=RBF())))


def test_a_class_with_a_parameter():
    message = refusal(lambda: PredtronClassifier(update=PassiveAggressive).set_params(update__C=0.1))
    assert message.startswith("update=PassiveAggressive is a class; pass an instance, update=PassiveAggressive()")


# --------------------------------------------------------------------------------------------------- attributes before fit

LEARNED = ["coef_", "intercept_", "last_coef_", "last_intercept_", "dual_coef_", "last_dual_coef_", "support_", "budget_loss_"]
COUNTED = ["t_", "n_mistakes_", "n_updates_", "cumulative_loss_", "loss_curve_", "n_iter_", "n_features_in_"]


@each_family
def test_an_attribute_before_fit(family):
    model = family()
    for name in (*LEARNED, *COUNTED):
        message = refusal(partial(getattr, model, name), NotFittedError)
        assert family.__name__ in message and name in message and "_learner" not in message
        assert not hasattr(model, name)


@pytest.mark.parametrize("family", FAMILIES[:4], ids=lambda family: family.__name__)
def test_the_classes_before_fit(family):
    assert "no classes_" in refusal(lambda: family().classes_, NotFittedError)
    assert fit(family()).classes_ is not None


def test_an_attribute_that_only_fit_sets_after_partial_fit():
    model = PredtronClassifier().partial_fit(X, CODES, classes=[0, 1, 2])
    message = refusal(lambda: model.loss_curve_, AttributeError)
    assert "loss_curve_ is set by fit" in message
    with pytest.raises(AttributeError) as caught:
        model.n_iter_  # noqa: B018
    assert not isinstance(caught.value, NotFittedError)
    assert model.t_ == len(X) and not hasattr(model, "feature_names_in_")


def test_other_attributes_are_as_ever():
    model = fit(PredtronClassifier())
    assert "for norm=RKHS" in refusal(lambda: model.dual_coef_, AttributeError)
    assert "has no attribute 'weights_'" in refusal(lambda: PredtronClassifier().weights_, AttributeError)
    assert PredtronClassifier.coef_.__doc__.startswith("Weights that predict")


# ---------------------------------------------------------------------------------------------------- names of the caller


def public_classes():
    modules = ["", ".updates", ".norms", ".losses", ".representations", ".callbacks", ".inspection"]
    for module in (importlib.import_module(f"sklearn_predtron{name}") for name in modules):
        yield from (item for item in (getattr(module, name) for name in module.__all__) if inspect.isclass(item))


def test_an_unexpected_keyword_names_the_class_that_was_called():
    for kind in set(public_classes()):
        assert kind.__name__ in refusal(lambda kind=kind: kind(unheard_of=1), TypeError).split("(")[0]


@pytest.mark.parametrize(
    ("labels", "label", "message"),
    [
        ([-1, 0, 1], None, "an integer other than the classes [-1, 0, 1], such as -2"),
        ([0, 1, 2], 2, "an integer other than the classes [0, 1, 2], such as -1"),
        ([-1, 0, 1], "no", "an integer other than the classes [-1, 0, 1], such as -2"),
        ([-1.0, 1.0, 2.0], None, "a number other than the classes [-1.0, 1.0, 2.0], such as -2.0"),
        (["a", "b", "c"], 0, "a string other than the classes ['a', 'b', 'c'], such as 'rejected'"),
        (["a", "b", "reject"], None, "a string other than the classes ['a', 'b', 'reject'], such as 'rejected'"),
        (["a", "b", "rejected"], "a", "a string other than the classes ['a', 'b', 'rejected'], such as '?'"),
    ],
)
def test_the_label_of_a_rejected_row(labels, label, message):
    y = np.array(labels)[CODES]
    model = PredtronClassifier(reject=Reject(0.1, label))
    given = repr(label) if label is not None else f"None, which is {'reject' if isinstance(labels[0], str) else -1!r},"
    assert (
        refusal(lambda: model.fit(X, y)) == f"reject.label={given} is what a rejected row is predicted as; accepted is {message}."
    )
    model.set_params(reject__label=eval(message.split("such as ")[1])).fit(X, y)


# ------------------------------------------------------------------------------------------------- whose line a warning names

NAMES = np.array(["low", "middle", "high"])[CODES]
CALLS = {
    "fit": lambda: PredtronOrdinalClassifier().fit(X, NAMES),
    "partial_fit": lambda: PredtronOrdinalClassifier().partial_fit(X, NAMES, classes=list(set(NAMES))),
    "pipeline": lambda: make_pipeline(StandardScaler(), PredtronOrdinalClassifier()).fit(X, NAMES),
    "search": lambda: GridSearchCV(PredtronOrdinalClassifier(), {"tol": [None]}, cv=2).fit(X, NAMES),
    "one query": lambda: PredtronRanker().fit(X, CODES),
    "code": lambda: PredtronClassifier(representation=2 * np.eye(3)).fit(X, CODES),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_warning_names_the_line_of_the_caller(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CALLS[call]()
    assert caught and {warning.filename for warning in caught} == {__file__}
    line = CALLS[call].__code__.co_firstlineno
    assert {warning.lineno for warning in caught} == {line}
