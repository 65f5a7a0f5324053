"""The compiled core against the reference learner, and against itself: any form of the rows, any split of the stream."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from cases import (
    AVERAGES,
    assert_close,
    data,
    intercept_settings,
    layouts,
    name,
    pairwise,
    random_costs,
    state,
    updates,
    updates_of_the_reference,
)
from reference.learner import Reference
from scipy import sparse
from worlds import Classes, Setting, assert_agrees

from sklearn_predtron import PredtronClassifier
from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron.updates import Adaptive, LossAugmented, PerceptronUpdate, Subgradient

K = 4


def make(update, average="linear", representation="onehot", loss="zero_one", **settings):
    parts = {"update": update, "average": average, "representation": representation, "loss": loss}
    return PredtronClassifier(norm="l2", decision="learned", **parts, **settings)


def test_length_of_the_intercept_in_a_long_stream():
    """From 1024 rows on it is computed after some rows only, which are the same ones in any parts of the stream."""
    setting = Setting(Classes(k=2, n=1301), LossAugmented(), "ZeroOne()", "OneHot()")
    lesson = setting.lesson
    lesson.X[:] *= np.linspace(1, 3, len(lesson))[:, None]
    whole = lesson.teach(setting.estimator())
    assert_agrees(whole, setting.reference(), "linear")
    part = lesson.teach(lesson.teach(setting.estimator(), 0, 1100), 1100, 1101)
    np.testing.assert_array_equal(lesson.teach(pickle.loads(pickle.dumps(part)), 1101).intercept_, whole.intercept_)


@pytest.mark.parametrize("rows", [0, 1023, 1024, 2**61, 2**62])
def test_the_largest_number_of_rows_of_an_intercept_is_restored(rows):
    """A damaged state may say it: the distance to the row of the next computation must not overflow."""
    intercept = Intercept(True, "auto")
    intercept.__setstate__((2.0, 0.5, 3, rows))
    assert intercept.squared_length == 2.0 and intercept.__reduce__()[2] == (2.0, 0.5, 3, rows)


def at_offset(X, offset):
    """A copy of X that starts `offset` bytes behind a cache line."""
    buffer = np.empty(X.nbytes + 128, dtype=np.uint8)
    start = -buffer.ctypes.data % 64 + offset
    copy = buffer[start : start + X.nbytes].view(X.dtype).reshape(X.shape)
    copy[...] = X
    return copy


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("p", [5, 37])
def test_bits_do_not_depend_on_the_address(real, p):
    X, y = data(n=40, p=p, k=5)
    X = X.astype(real)
    states, scores = [], []
    for offset in range(0, 64, X.itemsize):
        placed = at_offset(X, offset)
        assert placed.ctypes.data % 64 == offset
        model = make(Adaptive()).partial_fit(placed, y, classes=np.arange(5))
        states.append(state(model))
        scores.append(model.decision_function(placed).tobytes())
    assert all(s == states[0] for s in states)
    assert all(s == scores[0] for s in scores)


# ------------------------------------------------------------------------------------------ large and vanishing scales


def test_stationary_average_of_a_penalised_stream():
    """With a step on every round W has a fixed point, and so has every average; 1e5 rounds, no reference needed."""
    eta, alpha, n = 0.5, 0.2, 100_000
    X, y = np.ones((n, 1)), np.ones(n, dtype=int)
    fixed = 2 * eta / (eta * alpha)
    for average in AVERAGES:
        model = make(Subgradient(alpha=alpha, eta=eta), average, "sign", [[0, 1.0], [1e9, 0]], fit_intercept=False)
        model.partial_fit(X, y, classes=[0, 1])
        lost = 2 * eta * (1 - eta * alpha) / (eta * alpha) ** 2 if average == "uniform" else 0
        assert model.n_updates_ == n
        np.testing.assert_allclose(model.last_coef_, fixed, rtol=1e-9)
        np.testing.assert_allclose(model.coef_, fixed - lost / n, rtol=1e-6)


# ------------------------------------------------------------------------------------------------------------ rows of zeros


@pytest.mark.parametrize(
    ("update", "intercept", "form"),
    pairwise(updates_of_the_reference(), ["auto", 0.5, None], ["dense float64", "csr float64 int32"]),
    ids=name,
)
def test_first_rows_of_zeros(update, intercept, form):
    X, y = data(n=40, k=3)
    X[:2] = 0
    rows = layouts(X)[form]
    model = make(update, **intercept_settings(intercept)).partial_fit(rows, y, classes=[0, 1, 2])
    after = 2 if intercept is None else 0
    reference = Reference(np.eye(3), 1 - np.eye(3), X.shape[1], update.alias, update.get_params(), intercept=intercept)
    reference.t, reference.mean_weight = after, 1  # without an intercept nothing can be learned from rows of zeros
    reference.learn(X[after:], y[after:])
    assert np.isfinite(model.coef_).all()
    assert_close(model.last_coef_, reference.W)
    np.testing.assert_allclose(model.last_intercept_, reference.b, rtol=1e-9, atol=1e-9 * np.abs(reference.b).max())


@pytest.mark.parametrize("update", updates(), ids=name)
def test_rows_of_zeros_change_nothing(update):
    X, y = np.zeros((5, 4)), np.array([1, 0, 2, 1, 0])
    for rows in (X, sparse.csr_matrix(X)):
        model = make(update, fit_intercept=False).partial_fit(rows, y, classes=[0, 1, 2])
        assert (model.n_mistakes_, model.cumulative_loss_) == (5, 5.0)
        assert not model.coef_.any()


# ------------------------------------------------------------------------------------------------------------------- ties


def test_tied_scores_lose_the_most_they_can():
    """At W = 0 every prediction is a maximiser: the loss suffered is the largest, its first prediction the competitor."""
    cost = np.array([[0, 1.0, 2, 2], [3, 0, 3, 1], [0, 0, 0, 0], [1, 1, 1, 0]])
    model = make(PerceptronUpdate(), False, loss=cost, fit_intercept=False)
    expected = [(0, 2, 2.0), (1, 0, 3.0), (2, None, 0.0), (3, 0, 1.0)]
    for label, competitor, loss in expected:
        one = make(PerceptronUpdate(), False, loss=cost, fit_intercept=False).partial_fit([[1.0]], [label], classes=range(4))
        step = np.zeros(4)
        if competitor is not None:
            step[label], step[competitor] = 1, -1
        assert one.cumulative_loss_ == loss
        np.testing.assert_array_equal(one.coef_[:, 0], step)
    model.partial_fit(np.ones((1, 1)), [2], classes=range(4))
    assert (model.n_mistakes_, model.n_updates_) == (0, 0)


def test_reference_ties_as_documented():
    """The reference itself, on a tie of three where two lose alike."""
    reference = Reference(np.eye(3), random_costs(3) * 0 + 2 * (1 - np.eye(3)), 1, "perceptron", {"eta": 1.0}, intercept=None)
    reference.learn([[1.0]], [1])
    np.testing.assert_array_equal(reference.W[:, 0], [-1, 1, 0])


def test_sources_in_c_are_not_ignored():
    """What Cython writes lies in build/: no pattern for sources is needed, nor must there be one."""
    lines = (Path(__file__).parents[2] / ".gitignore").read_text().splitlines()
    assert "build/" in lines
    assert not [line for line in lines if line.endswith((".c", ".h", ".pyx", ".pxd"))]
