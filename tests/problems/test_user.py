"""Problems written in Python: equal to the compiled ones, safe where they fail."""

import numpy as np
import pytest
from cases import Hours

from sklearn_predtron import Predtron, Problem
from sklearn_predtron.updates import (
    LossAugmented,
)


def make_hours(n=60):
    X = np.random.default_rng(0).standard_normal((n, 2))
    return X, np.floor(np.arctan2(X[:, 1], X[:, 0]) * 6 / np.pi).astype(int) % 12


@pytest.mark.parametrize("stated", [None, 4.0, 0.1, -1.0, "4"])
def test_the_stated_distance_of_representations(stated):
    """None is the 4 of unit vectors; a smaller one makes a smaller bound, and is checked in each round."""
    X, y = make_hours()
    model = Predtron(type("Stated", (Hours,), {"D2": stated})(), norm="l2", update="perceptron", fit_intercept=False)
    if stated in (-1.0, "4"):
        with pytest.raises(ValueError, match=r"Stated.D2 is .*; accepted are positive finite numbers and None"):
            model.fit(X, y)
    elif stated in (None, 4.0):
        assert model.fit(X, y).loss_bound(0.1, 1.0) == pytest.approx(4 * 6 / 0.1**2)
    else:
        with pytest.raises(
            ValueError, match=r"Stated.D2 = .* is stated as the largest \|rep\(sigma\) - rep\(sigma'\)\|\^2; that of"
        ):
            model.fit(X, y)


class Grumpy(Hours):
    def __init__(self, after=10, error=KeyError):
        self.after = after
        self.error = error
        self.calls_ = 0

    def decode(self, t):
        self.calls_ += 1
        if self.calls_ > self.after:
            raise self.error("grumpy")
        return super().decode(t)


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt, StopIteration])
def test_a_problem_that_fails_leaves_the_last_complete_round(error):
    X, y = make_hours()
    model = Predtron(Grumpy(10, error), average="linear")
    with pytest.raises(error, match="grumpy"):
        model.partial_fit(X, y)
    assert model.t_ == 10
    whole = Predtron(Hours(), average="linear").partial_fit(X[:10], y[:10])
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    model.problem.after = np.inf
    np.testing.assert_array_equal(model.partial_fit(X[10:], y[10:]).coef_, whole.partial_fit(X[10:], y[10:]).coef_)


def test_problems_that_are_incomplete():
    X, y = make_hours()
    for method in ["decode", "loss", "representation", "augmented_decode"]:
        kind = type("Half", (Hours,), {method: getattr(Problem, method)})
        with pytest.raises(TypeError, match=rf"Half does not define {method}\("):
            Predtron(kind()).fit(X, y)
    long = type("Long", (Hours,), {"representation": lambda self, prediction: np.ones(3)})
    with pytest.raises(ValueError, match=r"Long\.representation\(\d+\) returned an array of shape \(3,\); .* = \(2,\)"):
        Predtron(long()).fit(X, y)
    with pytest.raises(ValueError, match=r"The 'problem' parameter of Predtron must be .*decode.* Got 'hours'"):
        Predtron("hours").fit(X, y)
    theory = type("Unknown", (Hours,), {"c_L": None, "C_L": None})
    with pytest.raises(ValueError, match=r"LossAugmented\(eta='theory'\) needs c_L and C_L, which Unknown\(\) does not state"):
        Predtron(theory(), update=LossAugmented(eta="theory")).fit(X, y)


def test_predictions_of_any_shape():
    X, y = make_hours()

    class Spread(Hours):
        def decode(self, t):
            return (super().decode(t),) * int(1 + super().decode(t) % 2)

        def loss(self, prediction, y):
            return super().loss(prediction[0], y)

        def representation(self, prediction):
            return super().representation(prediction[0] if isinstance(prediction, tuple) else prediction)

        def augmented_decode(self, t, y):
            return (int((self.code @ t + [Hours.loss(self, hour, y) for hour in range(12)]).argmax()),)

        def correct(self, y, competitor):
            return (y,)

    predicted = Predtron(Spread(), random_state=0).fit(X, y).predict(X)
    assert predicted.shape == (len(X),) and predicted.dtype == object
    assert {len(prediction) for prediction in predicted} == {1, 2}
    with pytest.raises(ValueError, match="X has 60 rows and y has 59"):
        Predtron(Hours()).fit(X, y).sample_loss(X, y[1:])
