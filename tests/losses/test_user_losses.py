"""What a user's own loss returns is checked where it is first used."""

import copy
import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import TABLES, X, Y, rankers, refused, y3
from sklearn.base import clone

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
)
from sklearn_predtron.losses import (
    NDCG,
    Absolute,
    CostTableLoss,
    CountLoss,
    Hamming,
    RankingLoss,
    Reject,
    SubsetLoss,
    ZeroOne,
)
from sklearn_predtron.metrics import mean_over_queries
from sklearn_predtron.problems import _label_sets as subset
from sklearn_predtron.problems._finite import OneHotProblem
from sklearn_predtron.theory import loss_constants


class Given(CostTableLoss):
    """Returns what it was given, or what that makes of k."""

    def __init__(self, table):
        self.table = table

    def matrix(self, classes):
        return self.table(len(classes)) if callable(self.table) else self.table


def changed(y, sigma, cost):
    def costs(k):
        table = 1.0 - np.eye(k)
        table[y, sigma] = cost
        return table

    return costs


BAD_TABLES = {
    "too small": (lambda k: np.ones((1, 1)), r"costs of shape \(1, 1\)"),
    "too few rows": (lambda k: (1 - np.eye(k))[:-1], "costs of shape"),
    "too few columns": (lambda k: (1 - np.eye(k))[:, :-1], "costs of shape"),
    "too large": (lambda k: 1 - np.eye(k + 1), "costs of shape"),
    "flat": (lambda k: np.ones(k), "costs of shape"),
    "three axes": (lambda k: np.ones((k, k, 1)), "costs of shape"),
    "a number": (1.0, r"costs of shape \(\)"),
    "NaN": (changed(0, 1, np.nan), "the cost nan in row 0, column 1"),
    "infinite": (changed(1, 0, np.inf), "the cost inf in row 1, column 0"),
    "negative": (changed(1, 0, -1), "the cost -1 in row 1, column 0"),
    "huge": (changed(1, 0, 1e101), r"the cost 1e\+101"),
    "diagonal": (changed(1, 1, 1), r"the diagonal \[0.0, 1.0"),
    "zeros": (lambda k: np.zeros((k, k)), "no positive cost"),
    "text": (lambda k: np.full((k, k), "1"), "not hold numbers"),
    "complex": (lambda k: (1 - np.eye(k)) * 1j, "not hold numbers"),
    "objects": (lambda k: np.full((k, k), object()), "not hold numbers"),
    "ragged": (lambda k: [[0.0], [0.0, 1.0]], "not hold numbers"),
    "a huge integer": (changed(0, 1, 1.0) and (lambda k: [[0, 10**400], [1, 0]]), "not hold numbers|costs of shape"),
}


@pytest.mark.parametrize("family", TABLES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("bad", BAD_TABLES)
def test_a_loss_that_is_no_table(family, bad):
    table, message = BAD_TABLES[bad]
    y = y3 > 0 if family is PredtronBinaryClassifier else y3
    refused(family, {"loss": Given(table)}, rf"^Given\.matrix\(\) returned .*{message}.*; accepted are None.*\(\d, \d\)", y=y)


def test_a_bad_loss_with_a_reject_option():
    make = lambda: PredtronClassifier(reject=Reject(0.3, 9))  # noqa: E731
    refused(make, {"loss": Given(BAD_TABLES["too small"][0])}, r"^Given\.matrix\(\) returned")


def test_a_loss_that_goes_bad_later():
    """Predictions are evaluated by the loss as it is then."""
    loss = Given(lambda k: 1 - np.eye(k))
    model = PredtronClassifier(loss=loss).fit(X, y3)
    loss.table = lambda k: np.ones((1, 1))
    with pytest.raises(ValueError, match=r"^Given\.matrix\(\) returned costs of shape \(1, 1\)"):
        model.sample_loss(X, y3)
    with pytest.raises(ValueError, match=r"^Given\.matrix\(\) returned costs of shape"):
        loss_constants(loss, classes=3)


def test_a_loss_may_return_what_holds_the_same_numbers():
    expected = PredtronClassifier(random_state=0).fit(X, y3).coef_
    for same in [lambda k: ~np.eye(k, dtype=bool), lambda k: (1 - np.eye(k)).tolist(), lambda k: 1 - np.eye(k, dtype=np.int8)]:
        assert_array_equal(PredtronClassifier(loss=Given(same), random_state=0).fit(X, y3).coef_, expected)


class Spoiling(Absolute):
    def matrix(self, classes):
        table = super().matrix(classes)
        classes[:] = 0
        return table


def test_a_loss_that_changes_its_argument():
    model = PredtronClassifier(loss=Spoiling()).fit(X, y3)
    assert_array_equal(model.classes_, [0, 1, 2])


class Doubled(ZeroOne):
    def matrix(self, classes):
        return 2 * (1 - np.eye(len(classes)))


def test_a_subclass_of_the_zero_one_loss():
    model = PredtronClassifier(loss=Doubled()).fit(X, y3)
    assert set(model.sample_loss(X, y3)) == {0.0, 2.0}


def test_costs_of_a_cost_matrix_that_are_too_large():
    costs = [[0, 1e101], [1, 0]]
    refused(PredtronBinaryClassifier, {"loss": costs}, "^loss must hold costs of at most", y=y3 > 0)
    refused(PredtronBinaryClassifier, {"loss": [[0, 1j], [1, 0]]}, "^loss=.*does not hold numbers", y=y3 > 0)


def balanced(a, b, c, d):
    return float(b + 2 * c)


BAD_COUNTS = {
    "NaN": (lambda a, b, c, d: np.nan if b else 0.0, "finite and not negative.*nan"),
    "infinite": (lambda a, b, c, d: np.inf if b else 0.0, "finite and not negative.*inf"),
    "negative": (lambda a, b, c, d: -1.0 if b else 0.0, "finite and not negative.*-1"),
    "huge": (lambda a, b, c, d: 1e101 if b else 0.0, r"at most 1e\+100"),
    "complex": (lambda a, b, c, d: complex(b + c), "return a number.*0j"),
    "NumPy's complex": (lambda a, b, c, d: np.complex128(b + c), "return a number"),
    "an array": (lambda a, b, c, d: np.array([b + c]), "return a number"),
    "text": (lambda a, b, c, d: "0", "return a number"),
    "none": (lambda a, b, c, d: None, "return a number"),
    "never free": (lambda a, b, c, d: 1.0, "0 without a mistake"),
}


@pytest.mark.parametrize("bad", BAD_COUNTS)
@pytest.mark.parametrize("wrap", [lambda f: f, CountLoss], ids=["callable", "CountLoss"])
def test_a_function_of_counts_that_is_no_loss(bad, wrap):
    function, message = BAD_COUNTS[bad]
    message = rf"^loss must .*{message}"
    model = PredtronMultilabelClassifier(random_state=0)
    for learned in [model, copy.deepcopy(model).fit(X, Y), copy.deepcopy(model).partial_fit(X, Y)]:
        before = copy.deepcopy(learned).set_params(loss=wrap(function))
        learned.set_params(loss=wrap(function))
        with pytest.raises(ValueError, match=message):
            learned.fit(X, Y)
        assert hasattr(learned, "coef_") == hasattr(before, "coef_")
        if hasattr(learned, "coef_"):
            assert_array_equal(learned.coef_, before.coef_)
        with pytest.raises(ValueError, match=message):
            learned.partial_fit(X, Y)
    with pytest.raises(ValueError, match=message):
        CountLoss(function).of_counts([1, 2], [0, 1], [0, 1], [1, 1])


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"c_L": 1.5}, r"0 or at least c_L = 1.5.* it is 1.0"),
        ({"C_L": 2.5}, r"at most C_L = 2.5.* it is "),
        ({"c_L": 1.5, "C_L": 100}, "c_L = 1.5"),
    ],
)
def test_constants_that_the_function_contradicts(stated, message):
    model = PredtronMultilabelClassifier(loss=CountLoss(balanced, **stated))
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    with pytest.raises(ValueError, match=message):
        CountLoss(balanced, **stated).of_counts([1, 1], [1, 0], [0, 2], [1, 1])
    assert PredtronMultilabelClassifier(loss=CountLoss(balanced, c_L=1 + 1e-12, C_L=6 - 1e-12)).fit(X, Y).n_updates_ > 0


@pytest.mark.parametrize("stated", [{"c_L": np.inf}, {"C_L": np.inf}, {"c_L": np.nan}, {"c_L": 2.0, "C_L": 1.0}])
def test_constants_that_are_none(stated):
    refused(PredtronMultilabelClassifier, {"loss": CountLoss(balanced, **stated)}, "c_L|C_L", y=Y)


def test_functions_may_return_what_converts_to_a_number():
    expected = PredtronMultilabelClassifier(loss=lambda a, b, c, d: float(b + c > 0), random_state=0).fit(X, Y)
    for function in [lambda a, b, c, d: b + c > 0, lambda a, b, c, d: np.array(b + c > 0), lambda a, b, c, d: int(b + c > 0)]:
        model = PredtronMultilabelClassifier(loss=function, random_state=0).fit(X, Y)
        assert_array_equal(model.coef_, expected.coef_)


class GivenCounts(Hamming):
    def __init__(self, values=None):
        self.values_ = values

    def get_params(self, deep=True):
        return {"values": self.values_}

    def of_counts(self, a, b, c, d):
        return self.values_(a, b, c, d)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (lambda a, b, c, d: np.ones(2), r"returned shape \(2,\); accepted is an array of shape \(60,\)"),
        (lambda a, b, c, d: 0.0, r"returned shape \(\)"),
        (lambda a, b, c, d: np.where(b > 0, np.nan, 0), r"returned nan at \(a, b, c, d\) = \("),
        (lambda a, b, c, d: -1.0 * (b + c), r"returned -"),
        (lambda a, b, c, d: 1e101 * (b + c), r"returned .*e\+101"),
        (lambda a, b, c, d: np.ones(len(a)), r"returned 1.0 at .*0 where b = c = 0"),
        (lambda a, b, c, d: (b + c) * 1j, r"returned array\(\[.*j"),
        (lambda a, b, c, d: ["0"] * len(a), r"returned \['0'"),
    ],
)
def test_values_of_counts_that_are_no_losses(values, message):
    model = PredtronMultilabelClassifier(loss=GivenCounts(values), cv=0).fit(X, Y)
    if "at .*0 where" not in message:  # which takes a row without a mistake
        with pytest.raises(ValueError, match=r"^GivenCounts\.of_counts\(\) returned "):
            clone(model).set_params(cv=None).fit(X, Y)
    with pytest.raises(ValueError, match=rf"^GivenCounts\.of_counts\(\) {message}"):
        model.sample_loss(X, Y if "shape" in message or "1.0" in message else 1 - Y)


class Elsewhere(SubsetLoss):
    def __init__(self, make):
        self.make = make

    def build(self, representation, m):
        return self.make(m)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda m: None, "returned None; accepted is a compiled LabelSets with d = 3"),
        (
            lambda m: subset.HammingProblem(m + 1),
            "returned HammingProblem with d = 4; accepted is a .* with d = 3",
        ),
        (lambda m: OneHotProblem(m), "returned <.*; accepted is a compiled LabelSets"),
    ],
)
def test_a_loss_of_sets_that_builds_something_else(make, message):
    refused(PredtronMultilabelClassifier, {"loss": Elsewhere(make)}, rf"^Elsewhere\.build\(\) {message}", y=Y)


def test_constants_of_a_loss_that_is_always_zero():
    with pytest.raises(ValueError, match="is 0 for all sets"):
        loss_constants(CountLoss(lambda a, b, c, d: 0.0), n_labels=2)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (NDCG(discount=lambda j: 1 / (j + len(j))), "^discount=.*depends on the number of positions"),
        (NDCG(discount=lambda j: 1 / j + 0j), "^discount=.*must give an array of numbers"),
        (NDCG(discount=lambda j: ["1"] * len(j)), "^discount=.*must give an array of numbers"),
        (NDCG(gain=lambda v: v + 0j), "^gain=.*must give an array of numbers"),
        (NDCG(gain=lambda v: [str(g) for g in v]), "^gain=.*must give an array of numbers"),
    ],
)
def test_functions_of_ndcg(loss, message):
    for kind, rows, labels, more in rankers():
        refused(kind, {"loss": loss}, message, X=rows, y=labels, **more)


class GivenGains(NDCG):
    def __init__(self, function=None):
        super().__init__()
        self.function = function

    def gains(self, labels):
        return self.function(labels.values)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda v: v * np.nan, "gives the gain nan"),
        (lambda v: -v, "gives the gain -"),
        (lambda v: v * np.inf, "gives the gain (nan|inf)"),
        (lambda v: 9 - v, "the larger relevance must have the larger gain"),
        (lambda v: 0 * v, "the larger relevance must have the larger gain"),
        (lambda v: v + 1j, "must give numbers"),
        (lambda v: v[:1], "gains of shape"),
    ],
)
def test_gains_of_a_subclass(function, message):
    for kind, rows, labels, more in rankers():
        refused(kind, {"loss": GivenGains(function)}, rf"^loss=GivenGains.*{message}", X=rows, y=labels, **more)


class NoRanking(RankingLoss):
    def build(self, representation, n_labels):
        return subset.HammingProblem(3)


def test_a_ranking_loss_that_builds_something_else():
    for kind, rows, labels, more in rankers():
        message = r"^NoRanking\.build\(\) returned .*; accepted is a compiled RankingProblem with d = [13] and n_labels = "
        refused(kind, {"loss": NoRanking()}, message, X=rows, y=labels, **more)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1j, "1"])
def test_a_measure_that_is_no_number(value):
    with pytest.raises(ValueError, match=r"^measure=.*accepted are finite numbers, one per query"):
        mean_over_queries(lambda y, s, qid: [value], [0, 1], [1.0, 2.0], qid="one")


class OfNumbers(SubsetLoss):
    def __init__(self, how):
        self.how = how

    def of_counts(self, a, b, c, d):
        if self.how == "if":
            return 1 if b + c else 0
        return (b + c) / max(a + b + c, 1) if self.how == "max" else math.sqrt(b + c)


@pytest.mark.parametrize("how", ["if", "max", "sqrt"])
def test_a_loss_that_takes_arrays_for_numbers_is_named(how):
    with pytest.raises(ValueError, match=r"^OfNumbers\.of_counts\(\) gets arrays a, b, c and d, of shape \(.*np\.where"):
        OfNumbers(how).constants(3)
