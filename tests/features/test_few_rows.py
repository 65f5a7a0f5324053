"""A few rows of a data frame are read at once, and as the same rows are among many."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from sklearn_predtron import PredtronBinaryClassifier
from sklearn_predtron.families.input.reading import numbers_of_frame
from sklearn_predtron.features import PiecewiseLinear
from sklearn_predtron.features._columns import FEW, FewRows, Frame, opened

N = 60
RANDOM = np.random.default_rng(0)
WORDS = RANDOM.choice(["a", "b", "c"], N).astype(object)
NUMBERS = RANDOM.standard_normal(N)
GAPS = np.where(RANDOM.random(N) < 0.2, np.nan, NUMBERS)


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "float": GAPS,
            "int": RANDOM.integers(-5, 5, N),
            "large": RANDOM.integers(2**53, 2**60, N),
            "unsigned": RANDOM.integers(0, 9, N).astype(np.uint8),
            "bool": NUMBERS > 0,
            "nullable": pd.array(np.where(NUMBERS > 1, None, np.rint(NUMBERS)), dtype="Int64"),
            "boolean": pd.array(np.where(NUMBERS > 1, None, NUMBERS > 0), dtype="boolean"),
            "object": np.where(NUMBERS > 1, None, WORDS),
            "string": pd.array(np.where(NUMBERS > 1, None, WORDS), dtype="string"),
            "category": pd.Categorical(np.where(NUMBERS > 1, None, WORDS)),
            "numbers": pd.Categorical(RANDOM.integers(0, 4, N)),
            "mixed": [value if i % 9 else "unknown" for i, value in enumerate(RANDOM.integers(0, 40, N).tolist())],
        }
    )


@pytest.mark.filterwarnings("ignore:X has words among the numbers", "ignore:.*among the numbers")
def test_a_few_rows_are_read_as_among_many(frame):
    features = PiecewiseLinear(missing=True).fit(frame)
    assert type(opened(frame)) is Frame and type(opened(frame[:FEW])) is FewRows
    whole = features.read(frame)
    for first, last in ((0, 1), (5, 6), (10, 10 + FEW)):
        assert_array_equal(features.read(frame[first:last]), whole[first:last])


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_floats_are_read_as_scikit_learn_does(kind):
    X = pd.DataFrame(RANDOM.standard_normal((N, 3)), columns=list("abc")).astype(kind)
    model = PredtronBinaryClassifier(random_state=0).fit(X, X["a"] > 0)
    assert_array_equal(
        model.decision_function(X), PredtronBinaryClassifier(random_state=0).fit(X, X["a"] > 0).decision_function(X)
    )
    assert_array_equal(model.decision_function(X[3:4]), model.decision_function(X)[3:4])
    assert numbers_of_frame(X).dtype == kind and numbers_of_frame(X.astype({"b": "Float64"})) is None
    for wrong in (X[["b", "a", "c"]], X.rename(columns={"a": "z"}), X[["a", "b"]]):
        with pytest.raises(ValueError, match=r"feature names|features"):
            model.predict(wrong)
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict(X.where(X["a"] > 10))
