"""What a user's own part returns is checked where it is first used."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from cases import Hours, name
from numpy.testing import assert_array_equal

from sklearn_predtron import (
    Predtron,
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
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
from sklearn_predtron.norms import RKHS
from sklearn_predtron.problems import _label_sets as subset
from sklearn_predtron.problems._finite import OneHotProblem
from sklearn_predtron.problems._user import PythonProblem
from sklearn_predtron.representations import (
    Code,
    CodeRepresentation,
    OneHot,
    RankingRepresentation,
    UserRank,
)
from sklearn_predtron.theory import loss_constants
from sklearn_predtron.updates import Adaptive, PassiveAggressive, PerceptronUpdate

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
y3 = np.arange(60) % 3
Y = (X @ RNG.standard_normal((4, 3)) > 0).astype(int)
RELEVANCE = RNG.integers(0, 3, (60, 3))
QID = np.repeat(np.arange(12), 5)
COUNT = itertools.count()


def frozen(model):
    """All that a model has, parts aside, which need not pickle."""
    kept = {key: value for key, value in model.__getstate__().items() if key not in model.get_params(deep=False)}
    kept.pop("_learner", None)
    learner = vars(model).get("_learner")
    kept.pop("_stream", None), kept.pop("_learned_loss", None), kept.pop("_fixed", None)
    if learner is not None:
        kept["learned"] = (learner.t, learner.n_updates, learner.cumulative_loss, pickle.dumps(learner.weights.last()))
    return pickle.dumps(kept)


def refused(make, setting, message, X=X, y=y3, **more):
    """A fresh, a fitted and a streaming model refuse the setting in every call, and stay as they were."""
    with np.errstate(all="ignore"):
        for model in [make(), make().fit(X, y, **more), make().partial_fit(X, y, **more, **first(make, y))]:
            model.set_params(**setting)
            before = frozen(model)
            for learn in [model.fit, model.partial_fit]:
                given = first(make, y) if learn == model.partial_fit else {}
                with pytest.raises(ValueError, match=message):
                    learn(X, y, **more, **given)
                assert frozen(model) == before


def first(make, y):
    """What the first `partial_fit` of a classifier needs."""
    return {"classes": np.unique(y)} if isinstance(make(), TABLES) and np.ndim(y) == 1 else {}


TABLES = (PredtronClassifier, PredtronBinaryClassifier, PredtronOrdinalClassifier)

# ------------------------------------------------------------------------------------------------------- losses of a table


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


@pytest.mark.parametrize("rule", ["online", "margin", "code"])
def test_a_bad_loss_with_a_reject_option(rule):
    make = lambda: PredtronClassifier(reject=Reject(0.3, 9, rule=rule))  # noqa: E731
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


# --------------------------------------------------------------------------------------------------------- representations


class GivenCode(CodeRepresentation):
    def __init__(self, table):
        self.table = table

    def code(self, k):
        return self.table(k)


def with_entry(value):
    def code(k):
        rows = np.eye(k)
        rows[1, 0] = value
        return rows

    return code


BAD_CODES = {
    "too few rows": (lambda k: np.eye(k)[:-1], r"shape \("),
    "too many rows": (lambda k: np.eye(k + 1), r"shape \("),
    "no columns": (lambda k: np.ones((k, 0)), r"shape \("),
    "flat": (lambda k: np.ones(k), r"shape \("),
    "NaN": (with_entry(np.nan), "nan in row 1, column 0"),
    "infinite": (with_entry(np.inf), "inf in row 1, column 0"),
    "huge": (with_entry(1e300), "row 1 of length"),
    "long": (lambda k: 2 * np.eye(k), "row 0 of length 2"),
    "nearly of length 1": (lambda k: np.eye(k) * (1 + 2e-6), "row 0 of length 1.000002"),
    "zeros": (lambda k: np.zeros((k, k)), "row 0 of length 0"),
    "equal rows": (lambda k: np.eye(k)[np.arange(k) // 2 * 2], "equal rows 0 and 1"),
    "text": (lambda k: np.full((k, k), "1"), "not hold numbers"),
    "complex": (lambda k: np.eye(k) * 1j, "not hold numbers"),
    "none": (lambda k: None, "not hold numbers"),
}


@pytest.mark.parametrize("family", TABLES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("bad", BAD_CODES)
def test_a_representation_that_is_no_code(family, bad):
    code, message = BAD_CODES[bad]
    k = 2 if family is PredtronBinaryClassifier else 3
    setting = {"representation": GivenCode(code)}
    refused(family, setting, rf"^GivenCode\.code\({k}\) returned .*{message}.*; accepted is an array", y=y3 > 0 if k == 2 else y3)


def test_a_representation_to_within_rounding():
    model = PredtronClassifier(representation=GivenCode(lambda k: (np.eye(k) * (1 + 5e-7)).tolist())).fit(X, y3)
    assert model.coef_.shape == (3, 4)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_rows_of_a_code_of_any_length(factor):
    with pytest.warns(UserWarning, match="brought to length 1"):
        code = Code(factor * np.array([[3.0, 4.0], [-1.0, 0.0]])).code(2)
    np.testing.assert_allclose(code, [[0.6, 0.8], [-1, 0]])


class Built(OneHot):
    def __init__(self, make):
        self.make = make

    def compiled(self, k, cost):
        return self.make(k, cost)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda k, cost: None, "returned None; accepted is a compiled FiniteProblem with k = 3"),
        (lambda k, cost: subset.HammingProblem(k), "returned <.*Hamming.*; accepted is a compiled FiniteProblem with k = 3"),
        (
            lambda k, cost: OneHotProblem(k + 1),
            "returned OneHotProblem with k = 4; accepted .* FiniteProblem with k = 3",
        ),
        (
            lambda k, cost: OneHotProblem(k - 1),
            "returned OneHotProblem with k = 2; accepted .* FiniteProblem with k = 3",
        ),
        (lambda k, cost: OneHotProblem(k, 2 - 2 * np.eye(k)), "returned a OneHotProblem of other costs than it was given"),
    ],
)
def test_a_representation_that_builds_something_else(make, message):
    for family in [PredtronClassifier, PredtronOrdinalClassifier]:
        refused(
            lambda family=family: family(loss="zero_one"), {"representation": Built(make)}, rf"^Built\.compiled\(\) {message}"
        )


# --------------------------------------------------------------------------------------------------------- sets of labels


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
    model = PredtronMultilabelClassifier(loss=GivenCounts(values)).fit(X, Y)
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


# ----------------------------------------------------------------------------------------------------------------- rankings


def rankers():
    yield PredtronRanker, X, RELEVANCE[:, 0], {"qid": QID}
    yield PredtronLabelRanker, X, RELEVANCE, {}


BAD_POSITIONS = {
    "squares that underflow": (lambda j: -1e-200 * j, r"f\(1\)\^2 \+ f\(2\)\^2 = 0"),
    "squares that nearly underflow": (lambda j: -1e-160 * j, r"f\(1\)\^2 \+ f\(2\)\^2 = "),
    "a sum of squares that overflows": (lambda j: 1.2e154 - 1e153 * j, "the sum of its squares is not"),
    "complex": (lambda j: -j + 0j, "must give an array of numbers"),
    "text": (lambda j: np.array(["1"] * len(j)), "must give an array of numbers"),
    "depends on m": (lambda j: -j / len(j), "depends on the number of positions"),
    "reversed": (lambda j: j[::-1], "depends on the number of positions"),
    "depends on m above 2": (lambda j: -j if len(j) < 3 else -2 * j, "depends on the number of positions"),
}


@pytest.mark.parametrize("bad", BAD_POSITIONS)
@pytest.mark.parametrize("wrap", [lambda f: f, UserRank, lambda f: GivenRank(f)], ids=["callable", "UserRank", "subclass"])
def test_positions_that_are_no_representation(bad, wrap):
    function, message = BAD_POSITIONS[bad]
    for kind, rows, labels, more in rankers():
        refused(kind, {"representation": wrap(function)}, rf"^representation=.*{message}", X=rows, y=labels, **more)


class GivenRank(RankingRepresentation):
    def __init__(self, function):
        self.function = function

    def values(self, m):
        return self.function(np.arange(1.0, m + 1))


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
        message = r"^NoRanking\.build\(\) returned .*; accepted is a compiled RankingProblem with d = [13] and block = "
        refused(kind, {"loss": NoRanking()}, message, X=rows, y=labels, **more)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1j, "1"])
def test_a_measure_that_is_no_number(value):
    with pytest.raises(ValueError, match=r"^measure=.*accepted are finite numbers, one per query"):
        mean_over_queries(lambda y, s, qid: [value], [0, 1], [1.0, 2.0])


# ------------------------------------------------------------------------------------------------------------------ kernels


def linear(A, B):
    return A @ B.T


def marred(value):
    def kernel(A, B):
        K = linear(A, B)
        K[0, -1] = value
        return K

    return kernel


BAD_KERNELS = {
    "NaN": (marred(np.nan), "returned nan for two rows of finite numbers"),
    "infinite": (marred(np.inf), "returned inf for two rows of finite numbers"),
    "complex": (lambda A, B: linear(A, B) + 0j, "not hold numbers"),
    "text": (lambda A, B: linear(A, B).astype(str), "not hold numbers"),
    "objects": (lambda A, B: np.full((len(A), len(B)), None), "not hold numbers"),
    "transposed": (lambda A, B: np.ones((len(B), len(A) + 1)), r"returned shape \("),
    "not symmetric": (lambda A, B: linear(A, B) + A[:, :1] - B[:, 0], r"k\(x, z\) = .* and k\(z, x\) = "),
    "negative": (lambda A, B: -linear(A, B), r"returned k\(x, x\) = -"),
}


@pytest.mark.parametrize("bad", BAD_KERNELS)
def test_kernels_that_are_none(bad):
    kernel, message = BAD_KERNELS[bad]
    cases = [
        (PredtronClassifier, y3, {}),
        (PredtronBinaryClassifier, y3 > 0, {}),
        (PredtronOrdinalClassifier, y3, {}),
        (PredtronMultilabelClassifier, Y, {}),
        (PredtronLabelRanker, RELEVANCE, {}),
        (PredtronRanker, RELEVANCE[:, 0], {"qid": QID}),
        (lambda **given: Predtron(Hours(), **given), y3, {}),
    ]
    for make, labels, more in cases:
        for budget in [None, 5]:
            model = make(norm=RKHS(kernel=kernel, budget=budget))
            before = frozen(model)
            with pytest.raises(ValueError, match=rf"^kernel=.*{message}.*; accepted is a"):
                model.fit(X, labels, **more)
            assert frozen(model) == before


def test_a_kernel_of_rows_that_are_not_finite():
    for value, says in [(np.nan, "X contains NaN"), (np.inf, "X contains infinity")]:
        broken = X.copy()
        broken[3, 1] = value
        with np.errstate(all="ignore"), pytest.raises(ValueError, match=says):
            PredtronClassifier(norm=RKHS(kernel=linear)).fit(broken, y3)


# ----------------------------------------------------------------------------------------------------- problems in Python


def hours(n=40):
    rows = np.random.default_rng(0).standard_normal((n, 2))
    return rows, np.floor(np.arctan2(rows[:, 1], rows[:, 0]) * 6 / np.pi).astype(int) % 12


class Saboteur(Hours):
    """A right problem until `break_` says from which call on a method returns something else."""

    def __init__(self, method=None, change=None):
        self.method, self.change, self.broken_ = method, change, True

    def __getattribute__(self, attribute):
        value = super().__getattribute__(attribute)
        if attribute in ("decode", "loss", "representation", "augmented_decode", "correct") and self.method == attribute:
            return lambda *given: self.change(value, *given) if self.broken_ else value(*given)
        return value


def constant(value):
    return lambda method, *given: value


BAD_ANSWERS = {
    "loss NaN": ("loss", constant(np.nan), r"loss\(.*\) returned nan; accepted are numbers from 0 to 1e\+100"),
    "loss infinite": ("loss", constant(np.inf), "returned inf"),
    "loss negative": ("loss", constant(-1.0), "returned -1.0"),
    "loss huge": ("loss", constant(1e101), r"returned 1e\+101"),
    "loss a huge integer": ("loss", constant(10**400), "returned 1000"),
    "loss text": ("loss", constant("1"), "returned '1'"),
    "loss none": ("loss", constant(None), "returned None"),
    "loss complex": ("loss", constant(1j), "returned 1j"),
    "loss array": ("loss", constant(np.array([1.0])), r"returned array\(\[1.\]\)"),
    "loss below c_L": ("loss", lambda loss, sigma, y: 0.5 * (loss(sigma, y) > 0), r"returned 0.5; .* c_L = 1.0"),
    "loss above C_L": ("loss", lambda loss, sigma, y: 7.0 * (loss(sigma, y) > 0), r"returned 7.0; .* C_L = 6.0"),
    "loss of the right one": (
        "loss",
        lambda loss, sigma, y: max(loss(sigma, y), 1.0),
        r"correct\(.*, .*\) returned .*, whose loss is 1.0; accepted is a prediction of loss 0",
    ),
    "correct wrong": ("correct", lambda correct, y, c: (y + 1) % 12, r"correct\(.*, .*\) returned .*, whose loss is [12].0"),
    "representation short": ("representation", constant(np.ones(1)), r"representation\(\d+\) returned an array of shape \(1,\)"),
    "representation a row": ("representation", constant(np.ones((1, 2))), r"returned an array of shape \(1, 2\)"),
    "representation a number": ("representation", constant(1.0), r"returned an array of shape \(\)"),
    "representation NaN": ("representation", constant(np.array([np.nan, 1])), r"returned .*nan.*, of length nan"),
    "representation infinite": ("representation", constant(np.array([np.inf, 1])), r"of length inf"),
    "representation long": ("representation", lambda rep, sigma: 2 * rep(sigma), r"of length 2"),
    "representation slightly long": ("representation", lambda rep, sigma: rep(sigma) * (1 + 2e-6), "of length 1.000002"),
    "representation text": ("representation", constant(["0", "1"]), "does not hold numbers"),
    "representation complex": ("representation", lambda rep, sigma: rep(sigma) * 1j, "does not hold numbers"),
    "representation none": ("representation", constant(None), "does not hold numbers"),
    "decode worst": (
        "decode",
        lambda decode, t: decode(-t),
        r"decode\(.*\) returned .*, whose score <rep, t> is -.*; that of .* is .*; accepted is a prediction of the largest score",
    ),
    "decode changes t": ("decode", lambda decode, t: (decode(t), t.fill(7))[0], r"decode\(t\) changed the scores t"),
    "decode next": ("decode", lambda decode, t: (decode(t) + 3) % 12, "whose score"),
    "augmented worst": (
        "augmented_decode",
        lambda decode, t, y: min(range(12), key=lambda hour: Hours().loss(hour, y) + Hours.code[hour] @ t),
        r"augmented_decode\(.*\) returned \d+, where loss \+ <rep, t> is .*; with .* it is .*; accepted is",
    ),
    "augmented without loss": ("augmented_decode", lambda decode, t, y: y, r"augmented_decode\(.*loss \+ <rep, t>"),
    "augmented changes t": (
        "augmented_decode",
        lambda decode, t, y: (decode(t, y), t.fill(7))[0],
        r"augmented_decode\(t, y\) changed the scores t",
    ),
}


@pytest.mark.parametrize("bad", BAD_ANSWERS)
@pytest.mark.parametrize("update", [Adaptive(), PassiveAggressive(C=0.1, target="constant", delta=0.7)], ids=name)
def test_answers_of_a_problem(bad, update):
    """The first bad answer is refused; the model is as after the last complete round, and goes on from there."""
    rows, labels = hours()
    method, change, message = BAD_ANSWERS[bad]
    problem = Saboteur(method, change)
    fresh = Predtron(problem, update=update)
    before = set(fresh.__getstate__())
    with pytest.raises(ValueError, match=rf"^Saboteur\.{message}|^Saboteur\..*{message}"):
        fresh.fit(rows, labels) or fresh.partial_fit(rows, labels)
    if not hasattr(fresh, "t_"):
        assert set(fresh.__getstate__()) == before
    problem.broken_ = False
    model = Predtron(problem, update=update).partial_fit(rows[:20], labels[:20])
    problem.broken_ = True
    with pytest.raises(ValueError, match=rf"^Saboteur\..*{message}"):
        model.partial_fit(rows[20:], labels[20:]).partial_fit(rows, labels)
    plain = Predtron(Hours(), update=update)
    for i in range(model.t_):
        plain.partial_fit(np.vstack([rows[:], rows])[i : i + 1], np.append(labels, labels)[i : i + 1])
    assert_array_equal(model.coef_, plain.coef_)
    problem.broken_ = False
    assert_array_equal(model.partial_fit(rows, labels).coef_, plain.partial_fit(rows, labels).coef_)


def test_predicted_competitors_of_a_problem():
    rows, labels = hours()
    for method, change, message in [BAD_ANSWERS["decode worst"], BAD_ANSWERS["representation long"], BAD_ANSWERS["loss NaN"]]:
        with pytest.raises(ValueError, match=message):
            Predtron(Saboteur(method, change), update=PerceptronUpdate()).partial_fit(rows, labels)


def test_a_problem_that_is_scored():
    rows, labels = hours()
    for method, change, message in [BAD_ANSWERS[bad] for bad in BAD_ANSWERS if bad.startswith("loss") and "right" not in bad]:
        problem = Saboteur(method, change)
        problem.broken_ = False
        model = Predtron(problem).fit(rows, labels)
        problem.broken_ = True
        for ask in [model.sample_loss, model.score]:
            with pytest.raises(ValueError, match=message):
                ask(rows, (labels + 6) % 12)
    model = Predtron(Hours()).fit(rows, labels)
    for weight, says in [(-np.ones(len(rows)), "sample_weight"), (np.zeros(len(rows)), "zero for every row")]:
        with pytest.raises(ValueError, match=says):
            model.score(rows, labels, sample_weight=weight)


@pytest.mark.parametrize("n", [0, -1, 2.0, None, "2", True, 10**12, 10**30, np.float64(2), [2]], ids=repr)
def test_a_number_of_scores_that_is_none(n):
    kind = type("Bad", (Hours,), {"n_scores": n})
    model = Predtron(kind())
    with pytest.raises(ValueError, match=r"^Bad\.n_scores is .*; accepted are integers from 1 to 100000000"):
        model.fit(*hours())
    assert not hasattr(model, "n_features_in_")


def test_numbers_of_scores_of_any_integer_type():
    for n in [np.int8(2), np.uint64(2), np.int64(2)]:
        assert Predtron(type("Good", (Hours,), {"n_scores": n})()).fit(*hours()).coef_.shape == (2, 2)

    class Silent:
        decode = loss = representation = augmented_decode = correct = None

    with pytest.raises(ValueError, match="Silent does not state n_scores"):
        PythonProblem(Silent())


@pytest.mark.parametrize(
    ("c_L", "C_L", "message"),
    [
        (0, None, r"^Bad\.c_L is 0; accepted are positive finite numbers and None"),
        (-1.0, 6.0, r"^Bad\.c_L is -1"),
        (np.nan, 6.0, r"^Bad\.c_L is nan"),
        (None, np.inf, r"^Bad\.C_L is inf"),
        ("1", 6.0, r"^Bad\.c_L is '1'"),
        (1j, 6.0, r"^Bad\.c_L is 1j"),
        (6.0, 1.0, r"^Bad\.c_L = 6.0 .* at most C_L = 1.0"),
    ],
)
def test_stated_constants_that_are_none(c_L, C_L, message):
    problem = type("Bad", (Hours,), {"c_L": c_L, "C_L": C_L})()
    model = Predtron(problem)
    with pytest.raises(ValueError, match=message):
        model.fit(*hours())
    with pytest.raises(ValueError, match="does not state" if c_L is None or C_L is None else message):
        loss_constants(problem)
    assert not hasattr(model, "n_features_in_")


def test_losses_of_any_type_of_number():
    rows, labels = hours()
    expected = Predtron(Hours(), random_state=0).fit(rows, labels).coef_
    for kind in [int, np.float32, np.int16, np.array, float]:
        change = lambda loss, sigma, y, kind=kind: kind(loss(sigma, y))  # noqa: E731
        assert_array_equal(Predtron(Saboteur("loss", change), random_state=0).fit(rows, labels).coef_, expected)
    for kind in [list, lambda rep: rep.astype(">f8"), lambda rep: np.repeat(rep, 2)[::2], tuple]:
        change = lambda rep, sigma, kind=kind: kind(rep(sigma))  # noqa: E731
        assert_array_equal(Predtron(Saboteur("representation", change), random_state=0).fit(rows, labels).coef_, expected)
