"""What problems written in Python are given: labels in sequences, rows of data frames, features of one number."""

import pickle

import numpy as np
import pandas as pd
import pytest
from joint_cases import Tables, tables
from numpy.testing import assert_array_equal

from sklearn_predtron import JointProblem, Predtron

X, Y = tables(12)
CALLS = ["fit", "partial_fit", "sample_loss", "score"]


def model_for(call):
    model = Predtron(Tables(4), random_state=0)
    return model.fit(X, Y) if call in ("sample_loss", "score") else model


@pytest.mark.parametrize("labels", [dict.fromkeys(range(12), 0), dict.fromkeys(range(12)).keys(), set(range(12))], ids=repr)
@pytest.mark.parametrize("call", CALLS)
def test_labels_without_an_order_are_refused(call, labels):
    with pytest.raises(ValueError, match=r"y is .*; accepted are sequences of labels, one for each row of X"):
        getattr(model_for(call), call)(X, labels)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("labels", "message"), [(None, "the target y is None"), (3, "X has 12 rows and y has 1")])
def test_no_labels(call, labels, message):
    with pytest.raises(ValueError, match=message):
        getattr(model_for(call), call)(X, labels)


def test_labels_from_a_generator():
    model = Predtron(Tables(4), random_state=0).fit(X, (label for label in Y))
    assert_array_equal(model.sample_loss(X, (label for label in Y)), model.sample_loss(X, Y))


class Signs(JointProblem):
    """Predictions -1 and 1 for rows of three numbers; a label is (sign,)."""

    n_features = 3

    def features(self, x, prediction):
        return np.asarray(x, dtype=float) * prediction[0]

    def decode(self, w, x):
        return (1 if np.asarray(x, dtype=float) @ w > 0 else -1,)

    def augmented_decode(self, w, x, y):
        score = np.asarray(x, dtype=float) @ w
        return max([(1,), (-1,)], key=lambda sign: self.loss(sign, y) + sign[0] * score)

    def loss(self, prediction, y):
        return float(prediction[0] != y[0])

    def correct(self, y, competitor):
        return (int(y[0]),)


def test_frames_are_rows():
    """The columns of a frame are neither objects nor labels."""
    pl = pytest.importorskip("polars")
    values = np.random.default_rng(0).standard_normal((20, 3))
    y = np.sign(values[:, :1]).astype(int)
    known = Predtron(Signs(), random_state=0).fit(values, y)
    for frame in (pd.DataFrame, lambda array: pl.DataFrame(array, schema=[f"f{j}" for j in range(array.shape[1])])):
        model = Predtron(Signs(), random_state=0).fit(frame(values), frame(y))
        assert_array_equal(model.coef_, known.coef_)
        assert_array_equal(model.predict(frame(values[:3])), known.predict(values[:3]))
        assert_array_equal(model.sample_loss(frame(values), frame(y)), known.sample_loss(values, y))


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_a_problem_whose_features_become_others(call, saved):
    """It is the number of the weights that counts, also where the learner's own problem is a copy of the changed one."""
    model = Predtron(Tables(4), random_state=0, warm_start=True).fit(X, Y)
    model.problem.n_features = 10
    model = pickle.loads(pickle.dumps(model)) if saved else model
    with pytest.raises(ValueError, match="has 10 joint features and the weights so far are of 9 joint features"):
        getattr(model, call)(X, Y)


@pytest.mark.parametrize("given", [{}, {"n_features": 10}, {"classes": [4]}], ids=str)
def test_joint_features_are_not_widened(given):
    model = Predtron(Tables(4), random_state=0).fit(X, Y)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"problem=Tables.* has 9 joint features.*widen"):
        model.widen(**given)
    assert pickle.dumps(model) == before
