"""Problems written in Python: the same loop, and what the user's code raises."""

import pickle

import numpy as np
import pytest
from cases import Multiclass, assert_close, data, name, needs_callbacks, state
from joint_cases import Tables, tables

from sklearn_predtron import Predtron, PredtronClassifier, Problem
from sklearn_predtron.updates import Adaptive, LossAugmented, LossDriven, PerceptronUpdate


class Failing(Multiclass):
    """Raises an error when it decodes for the last time."""

    def __init__(self, left, error):
        super().__init__(3)
        self.left, self.error = left, error

    def decode(self, t):
        self.left -= 1
        if self.left == 0:
            raise self.error
        return super().decode(t)


def stream_data(n=60):
    """The first label is not the prediction at t = 0, whose tie Python's decode cannot report."""
    X, y = data(n=n, k=3)
    assert y[0] != 0
    return X, y


def test_fit_shuffles_as_the_classifier_does():
    X, y = stream_data()
    settings = {"norm": "l2", "max_iter": 3, "random_state": 0}
    ours, theirs = PredtronClassifier(**settings, cv=0).fit(X, y), Predtron(Multiclass(3), **settings).fit(X, y)
    assert_close(theirs.coef_, ours.coef_)
    assert theirs.loss_curve_ == ours.loss_curve_
    np.testing.assert_allclose(theirs.score(X, y), ours.score(X, y), rtol=1e-12)
    assert np.array_equal(theirs.sample_loss(X, y), ours.sample_loss(X, y))


def test_exception_in_fit_is_raised_again():
    X, y = stream_data()
    problem = Failing(90, KeyboardInterrupt())
    model = Predtron(problem, norm="l2", max_iter=3, shuffle=False)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.t_ == 89
    streamed = Predtron(Multiclass(3), norm="l2", average="linear").partial_fit(X, y).partial_fit(X[:29], y[:29])
    assert state(model) == state(streamed)


def test_model_that_met_an_exception_can_be_pickled():
    X, y = stream_data()
    problem = Failing(20, RuntimeError("stop"))
    model = Predtron(problem)
    with pytest.raises(RuntimeError, match="stop"):
        model.partial_fit(X, y)
    twin = pickle.loads(pickle.dumps(model))
    assert state(twin) == state(model)
    assert state(twin.partial_fit(X[19:], y[19:])) == state(model.partial_fit(X[19:], y[19:]))


@pytest.mark.parametrize("update", [LossAugmented(eta="theory"), LossDriven(eta="theory")], ids=name)
def test_theory_needs_the_constants_of_the_loss(update):
    class Unstated(Multiclass):
        c_L = C_L = None

    X, y = stream_data()
    with pytest.raises(ValueError, match=rf"{type(update).__name__}\(eta='theory'\) needs c_L and C_L, which Unstated"):
        Predtron(Unstated(3), update=update).fit(X, y)
    assert Predtron(Multiclass(3), update=update, max_iter=1).fit(X, y).n_updates_ > 0


@pytest.mark.parametrize("update", [Adaptive(), LossAugmented(eta=0.1), LossDriven(), PerceptronUpdate()], ids=name)
def test_no_loss_bound_without_the_constants_of_the_loss(update):
    class Unstated(Multiclass):
        c_L = C_L = None

    X, y = stream_data()
    settings = {"norm": "l2", "update": update, "fit_intercept": False, "max_iter": 1}
    with pytest.raises(ValueError, match="c_L"):
        Predtron(Unstated(3), **settings).fit(X, y).loss_bound(1.0, 0.01)
    stated = Predtron(Multiclass(3), **settings).fit(X, y).loss_bound(1.0, 0.01)
    assert stated == PredtronClassifier(**settings, cv=0).fit(X, y).loss_bound(1.0, 0.01)


class Interval(Problem):
    """Labels and predictions of different kinds: any corner of the square in a set of right ones."""

    n_scores, c_L, C_L = 2, 1.0, 1.0
    corners = np.array([[-1.0, -1], [-1, 1], [1, -1], [1, 1]]) / np.sqrt(2)

    def decode(self, t):
        return int((self.corners @ t).argmax())

    def loss(self, prediction, y):
        return float(prediction not in y)

    def representation(self, prediction):
        return self.corners[prediction]

    def augmented_decode(self, t, y):
        return int((self.corners @ t + [self.loss(c, y) for c in range(4)]).argmax())

    def correct(self, y, competitor):
        return competitor if competitor in y else min(y)


def test_labels_that_are_sets():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((200, 2))
    y = [frozenset({int(a), 2 + int(b)}) for a, b in X > 0]
    model = Predtron(Interval(), random_state=0).fit(X, y)
    assert model.sample_loss(X, y).mean() < 0.1
    assert model.predict(X).shape == (200,)
    with pytest.raises(ValueError, match="X has 200 rows and y has 199"):
        model.sample_loss(X, y[:-1])


@needs_callbacks
@pytest.mark.parametrize("joint", [False, True])
def test_callbacks_see_a_model_of_a_problem_that_cannot_be_pickled(joint):
    """A problem defined inside a function, as in a notebook, is copied for the callbacks all the same."""

    class Local(Tables if joint else Multiclass):
        pass

    scores = []

    class Watch:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
            scores.append(fitted_estimator.score(X, y))

    X, y = tables() if joint else data(n=30, k=3)
    model = Predtron(Local(4 if joint else 3), max_iter=2, random_state=0).set_callbacks(Watch()).fit(X, y)
    assert len(scores) == 3
    assert scores[-1] == model.score(X, y)
