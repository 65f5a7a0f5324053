"""What a user's own representation returns is checked where it is first used."""

import numpy as np
import pytest
from refusals import TABLES, X, rankers, refused, y3

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronOrdinalClassifier,
)
from sklearn_predtron.problems import _label_sets as subset
from sklearn_predtron.problems._finite import OneHotProblem
from sklearn_predtron.representations import (
    Code,
    CodeRepresentation,
    OneHot,
    RankingRepresentation,
    UserRank,
)


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
