"""The public checks of problems, losses and representations: parts of the package pass, and saboteurs are caught."""

import itertools
import pickle

import numpy as np
import pytest
from cases import Hours, losses, name, representations
from numpy.testing import assert_array_equal
from refusals import QID, RELEVANCE, X, Y, y3

from sklearn_predtron import (
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronRanker,
)
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.estimator_checks import check_loss, check_problem, check_representation
from sklearn_predtron.losses import (
    NDCG,
    Absolute,
    AtK,
    CostMatrix,
    CostTableLoss,
    CountLoss,
    FBeta,
    Hamming,
    PrecisionAtK,
    RankingLoss,
    RecallAtK,
    SubsetLoss,
    SubsetZeroOne,
)
from sklearn_predtron.problems import _counts as counts
from sklearn_predtron.problems import _label_sets as subset
from sklearn_predtron.problems._finite import FiniteProblem, OneHotProblem
from sklearn_predtron.representations import (
    LinearRank,
    LogRank,
    RankingRepresentation,
    Simplex,
    SubsetRepresentation,
    Thermometer,
    UserRank,
)
from sklearn_predtron.updates import LossAugmented
from tests.losses.test_user_losses import BAD_COUNTS, BAD_TABLES, Given, GivenGains, NoRanking, balanced
from tests.own_checks import all_checks
from tests.problems.test_answers_in_python import OF_SCORES, SabotagedHours
from tests.test_user_representations import BAD_CODES, GivenCode, GivenRank

COUNT = itertools.count()


def test_checks_of_parts_are_none_of_estimators():
    assert {"check_problem", "check_loss", "check_representation"}.isdisjoint(check.__name__ for check in all_checks())


@pytest.mark.parametrize("k", [2, 3, 6])
def test_tables_of_the_package_pass(k):
    for representation in representations(k):
        check_representation(representation, k)
    for loss in losses(k):
        check_loss(loss, np.arange(k))


INDICATORS = [[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0]]


@pytest.mark.parametrize("loss", [*(kind() for kind in kinds(SubsetLoss)), RecallAtK(3), PrecisionAtK(2), FBeta(2.0)], ids=name)
def test_losses_of_sets_of_the_package_pass(loss):
    check_loss(loss, INDICATORS)
    check_loss(CountLoss(balanced, c_L=1, C_L=8), INDICATORS)


@pytest.mark.parametrize("loss", [*(kind() for kind in kinds(RankingLoss)), NDCG(k=2), NDCG(gain="linear")], ids=name)
def test_losses_of_rankings_of_the_package_pass(loss):
    top = 3 if loss.takes([3, 1, 0]) else 1
    check_loss(loss, [[0], [1, 0], [0, 1, 1, 0], [1, 1], [top, 0, 1, 0, top]])


@pytest.mark.parametrize("kind", [*kinds(RankingRepresentation), *kinds(SubsetRepresentation)], ids=lambda kind: kind.__name__)
def test_representations_of_the_package_pass(kind):
    for m in (1, 2, 7):
        check_representation(kind(), m)


def test_problems_pass():
    from tests.families.test_estimators import Side
    from tests.families.test_structured import Interval, Multiclass
    from tests.worlds import Irregular

    check_problem(Hours(), range(12))
    check_problem(Irregular(), range(5))
    check_problem(Multiclass(4), range(4))
    check_problem(Side(), [-1.5, 0, 2])
    check_problem(Interval(), [frozenset({0, 1}), frozenset({2})])


class Late(Hours):
    """Its augmented decoder never sees the hour 7, unless `predictions` has it looked for."""

    def augmented_decode(self, t, y):
        value = self.code @ t + [self.loss(hour, y) for hour in range(12)]
        value[7] = -np.inf
        return int(value.argmax())

    def decode(self, t):
        value = self.code @ t
        value[7] = -np.inf
        return int(value.argmax())


class Listed(Late):
    predictions = range(12)


class ListedByAMethod(Late):
    def predictions(self):
        return range(12)


class Moody(Hours):
    """Another answer each time."""

    def __init__(self):
        self.calls_ = 0

    def loss(self, prediction, y):
        self.calls_ += 1
        return super().loss(prediction, y) * (1 if self.calls_ < 20000 else 0.5)


class Forgetful(Hours):
    """Decodes by what a pickle does not keep."""

    c_L, C_L = None, None

    def __init__(self):
        self.turn_ = 0

    def __getstate__(self):
        return {"turn_": 3}

    def decode(self, t):
        return (super().decode(t) + self.turn_) % 12

    def augmented_decode(self, t, y):
        return (super().augmented_decode(t, y) + self.turn_) % 12


class Ambiguous(Hours):
    """Two predictions with one representation."""

    def representation(self, prediction):
        return self.code[prediction // 2 * 2]

    def decode(self, t):
        return int((self.code[np.arange(12) // 2 * 2] @ t).argmax())

    def augmented_decode(self, t, y):
        value = self.code[np.arange(12) // 2 * 2] @ t + [self.loss(hour, y) for hour in range(12)]
        return int(value.argmax())


@pytest.mark.parametrize("bad", [bad for bad in OF_SCORES if bad != "loss of the right one"])
def test_saboteurs_of_problems_are_caught(bad):
    method, change, _ = OF_SCORES[bad]
    with pytest.raises(AssertionError, match=r"^SabotagedHours\."):
        check_problem(SabotagedHours(method, change), range(12))


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (Listed(), r"^Listed\.decode\(representation\(7\)\) returned \d; expected is 7|^Listed\.decode\(.*a maximiser, as 7"),
        (ListedByAMethod(), r"^ListedByAMethod\.decode\("),
        (Forgetful(), r"^Forgetful\.(augmented_)?decode, (copied|pickled), at t = .*: found .*, expected"),
        (Ambiguous(), r"^Ambiguous\.representation is the same for \d+ and \d+, whose losses"),
        (
            SabotagedHours("decode", lambda decode, t: decode(np.sign(t)) if abs(t).max() > 1.1 else decode(t)),
            r"^SabotagedHours\.decode\(.*expected is a maximiser, as \d+ with",
        ),
        (
            SabotagedHours("augmented_decode", lambda decode, t, y: decode(2 * t, y)),
            r"^SabotagedHours\.augmented_decode\(\[.*\], \d+\) returned \d+, where loss .* is .*expected is a maximiser, as \d+",
        ),
        (
            SabotagedHours("augmented_decode", lambda decode, t, y: decode(t / 2, y)),
            r"^SabotagedHours\.augmented_decode\(",
        ),
        (
            SabotagedHours("decode", lambda decode, t: decode(t) if t.any() else next(COUNT) % 2),
            r"^SabotagedHours\.decode, asked again, at t = \[0.0, 0.0\]: found",
        ),
        (
            SabotagedHours("loss", lambda loss, s, y: loss(s, y) and 1 + next(COUNT) % 2),
            r"^SabotagedHours\.(loss|representation|augmented_decode)",
        ),
    ],
)
def test_subtle_saboteurs_of_problems_are_caught(problem, message):
    with pytest.raises(AssertionError, match=message):
        check_problem(problem, range(12))


def test_a_problem_without_labels():
    with pytest.raises(ValueError, match="labels is empty"):
        check_problem(Hours(), [])


class Drifting(CostTableLoss):
    """Other costs each time."""

    number = itertools.count(1)

    def matrix(self, classes):
        return next(self.number) * (1 - np.eye(len(classes)))


class Unclonable(CostTableLoss):
    def __init__(self, factor=1.0):
        self.factor = 2 * factor

    def matrix(self, classes):
        return self.factor * (1 - np.eye(len(classes)))


@pytest.mark.parametrize("bad", [bad for bad in BAD_TABLES if bad != "a huge integer"])
def test_saboteurs_of_tables_are_caught(bad):
    with pytest.raises(AssertionError, match=r"^Given\.matrix\(\) returned"):
        check_loss(Given(BAD_TABLES[bad][0]), [0, 1, 2])


def test_tables_that_change_are_caught():
    with pytest.raises(AssertionError, match=r"^matrix\(classes\) of Drifting\(\), asked again: found .*, expected"):
        check_loss(Drifting(), [0, 1, 2])
    with pytest.raises((AssertionError, RuntimeError), match="clone"):
        check_loss(Unclonable(), [0, 1])


class GivenSet(SubsetLoss):
    def __init__(self, compiled, values):
        self.compiled, self.values = compiled, values

    def of_counts(self, a, b, c, d):
        return self.values(a, b, c, d)

    def build(self, representation, m):
        return self.compiled(m)


def hamming(a, b, c, d):
    return (b + c) / (a + b + c + d)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (CountLoss(BAD_COUNTS["negative"][0]), "^loss must be finite and not negative"),
        (CountLoss(balanced, c_L=1.5), "^loss must be 0 or at least c_L"),
        (CountLoss(balanced, C_L=1.5), "^loss must be at most C_L"),
        (
            GivenSet(subset.HammingProblem, lambda a, b, c, d: hamming(a, b, c, d) / 2),
            "which of_counts says|expected 0 or from c_L",
        ),
        (GivenSet(subset.HammingProblem, lambda a, b, c, d: -hamming(a, b, c, d)), r"^GivenSet\.of_counts\(\) returned -"),
        (
            GivenSet(subset.HammingProblem, lambda a, b, c, d: 2 * hamming(a, b, c, d)),
            "expected 0 or from c_L = .* to C_L = 1|which of_counts",
        ),
        (GivenSet(lambda m: None, hamming), r"^GivenSet\.build\(\) returned None"),
        (
            GivenSet(lambda m: counts.TabulatedSetLoss(m, balanced, 0.5, 1.0), lambda a, b, c, d: 1.0 * b + 2 * c),
            "^loss must be at most C_L|expected 0 or from c_L",
        ),
        (GivenSet(subset.SubsetZeroOneProblem, lambda a, b, c, d: (b + c > 0) * (1 + next(COUNT) % 2)), "asked again"),
    ],
)
def test_saboteurs_of_losses_of_sets_are_caught(loss, message):
    with pytest.raises(AssertionError, match=message):
        check_loss(loss, INDICATORS)


class Crossed(NDCG):
    """Compiled as another loss than it evaluates: its competitors are those of another cut-off."""

    def build(self, representation, n_labels):
        return super().build(representation, n_labels)

    def discounts(self, m):
        D = super().discounts(m)
        return D if m < 4 else np.append(D[:-1], 0)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (GivenGains(lambda v: -v), "gives the gain -"),
        (Crossed(), "depends on the number of positions"),
        (NDCG(gain=lambda v: 1 / (1 + v)), "^gain="),
        (NoRanking(), r"^NoRanking\.build\(\) returned"),
    ],
)
def test_saboteurs_of_losses_of_rankings_are_caught(loss, message):
    with pytest.raises(AssertionError, match=message):
        check_loss(loss, [[2, 1, 0], [0, 0, 3, 1, 1]])


@pytest.mark.parametrize("bad", BAD_CODES)
def test_saboteurs_of_codes_are_caught(bad):
    with pytest.raises(AssertionError, match=r"^GivenCode\.code\(3\) returned"):
        check_representation(GivenCode(BAD_CODES[bad][0]), 3)


class Compiled(Thermometer):
    """Its compiled table is another one."""

    def __init__(self, make):
        self.make = make

    def compiled(self, k, cost):
        return self.make(k, cost)


@pytest.mark.parametrize(
    ("representation", "message"),
    [
        (Compiled(OneHotProblem), r"^Compiled\.compiled\(\) returned OneHotProblem with k = 4 and d = 4; accepted .*d = 3"),
        (Compiled(lambda k, cost: FiniteProblem(Thermometer().code(k)[::-1], cost)), "the rows of the compiled table: found"),
        (Compiled(lambda k, cost: FiniteProblem(Thermometer().code(k))), "of other costs than it was given"),
        (GivenCode(lambda k: np.roll(np.eye(k), next(COUNT), axis=0)), r"^code\(4\) of GivenCode.*asked again"),
        (GivenRank(lambda j: -j / len(j)), "depends on the number of positions"),
        (GivenRank(lambda j: j), "must fall strictly"),
        (UserRank(lambda j: -j * (1 + next(COUNT))), "asked again|depends on the number"),
    ],
)
def test_saboteurs_of_representations_are_caught(representation, message):
    with pytest.raises(AssertionError, match=message):
        check_representation(representation, 4)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: check_loss(LossAugmented(), [0, 1]), TypeError, "is no loss; accepted are"),
        (lambda: check_representation(Hamming(), 3), TypeError, "is no representation; accepted are"),
        (lambda: check_loss(Hamming(), [[0, 2]]), ValueError, "indicator matrix of at most 10"),
        (lambda: check_loss(Hamming(), np.zeros((1, 11))), ValueError, "indicator matrix of at most 10"),
        (lambda: check_loss(NDCG(), [[1, 0] * 4]), ValueError, "lists of 1 to 6 relevances"),
    ],
)
def test_what_the_checks_are_not_for(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_parts_that_are_right_are_the_ones_used():
    """What passes the checks is learned from."""
    assert PredtronMultilabelClassifier(loss=GivenSet(subset.HammingProblem, hamming)).fit(X, Y).sample_loss(X, Y).max() <= 1
    assert isinstance(PrecisionAtK(), AtK) and isinstance(SubsetZeroOne(), SubsetLoss)
    assert_array_equal(
        PredtronRanker(representation=GivenRank(lambda j: -j), random_state=0).fit(X, RELEVANCE[:, 0], qid=QID).coef_,
        PredtronRanker(representation=LinearRank(), random_state=0).fit(X, RELEVANCE[:, 0], qid=QID).coef_,
    )
    assert PredtronClassifier(loss=CostMatrix({(0, 1): 2})).fit(X, y3).sample_loss(X, y3).max() <= 2


@pytest.mark.parametrize(
    ("check", "arguments", "message"),
    [
        (check_loss, (Hamming(), np.zeros((0, 3))), "at least one row"),
        (check_loss, (NDCG(), []), "labels is empty"),
        (check_loss, (NDCG(), [[-1.0, 2.0]]), "not negative"),
        (check_loss, (Absolute(), ["a"]), "at least two classes"),
        (check_representation, (LogRank(), 0), "size=0"),
        (check_representation, (Simplex(), 0), "size=0"),
        (check_representation, (Simplex(), "3"), "size='3'"),
    ],
)
def test_checks_refuse_what_they_cannot_check(check, arguments, message):
    with pytest.raises(ValueError, match=message):
        check(*arguments)


class Misses(SubsetLoss):
    """Defines nothing but its values."""

    def of_counts(self, a, b, c, d):
        return (2.0 * b + c) / (a + b + c + d)


def test_a_loss_of_sets_needs_its_values_alone():
    check_loss(Misses(), INDICATORS)
    X, Y = np.random.default_rng(0).standard_normal((40, 3)), np.random.default_rng(1).integers(0, 2, (40, 4))
    own = PredtronMultilabelClassifier(loss=Misses(), random_state=0).fit(X, Y)
    function = PredtronMultilabelClassifier(loss=lambda a, b, c, d: (2.0 * b + c) / 4, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(own.coef_, function.coef_)
    assert pickle.loads(pickle.dumps(own)).sample_loss(X, Y).tobytes() == own.sample_loss(X, Y).tobytes()
