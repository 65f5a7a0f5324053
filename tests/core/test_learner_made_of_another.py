"""Learners that are made of others: what they share, and what of the others stays as it was."""

import copy
import pickle

import numpy as np
import pytest
from cases import BUSY, assert_close
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron._core.averages import Average, LinearAverage
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.problem import Codes
from sklearn_predtron._core.rows import csr_rows, dense_rows
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.families.structured import Predtron, Problem
from sklearn_predtron.losses import Reject
from sklearn_predtron.norms import RKHS, Norm
from sklearn_predtron.updates import _rules as core

NORMS = [*[kind() for kind in kinds(Norm)], RKHS(budget=7), RKHS("rbf")]


def data(n=60, p=4, k=3):
    X = np.random.default_rng(0).standard_normal((n, p))
    return X, X[:, :k].argmax(axis=1)


def learner_of(X, y, **settings):
    return PredtronClassifier(**{"norm": "l2", **settings}).partial_fit(X, y, classes=[0, 1, 2])._model.learner


def learn(learner, X, y):
    return learner.learn(dense_rows(X), Codes(y.astype(np.intp)))


def scores(learner, X, mean=True):
    out = np.empty((len(X), learner.problem.d))
    learner.scores(dense_rows(X), out, mean=mean)
    return out


def state(learner):
    return pickle.dumps(learner), scores(learner, data()[0]).tobytes()


def other_parts(learner):
    """The same problem with another update, which follows the radius, and another average."""
    return learner.problem, core.LossAugmentedRule(1.0, theory=1.0), Average(5.0), None


@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_one_with_other_parts_that_is_dropped_leaves_no_trace(norm):
    X, y = data()
    learner = learner_of(X[:30], y[:30], norm=norm)
    before = state(learner)
    other = learner.with_parts(*other_parts(learner))
    assert state(learner) == before
    assert (other.t, other.weights, other.lock, other.history) == (30, learner.weights, learner.lock, learner.history)
    assert_array_equal(scores(other, X), scores(learner, X))


@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_one_with_other_parts_that_is_refused_leaves_no_trace(norm):
    """Neither where the arguments do not go together nor where the first row is refused, after the weights were told."""
    X, y = data()
    learner = learner_of(X[:30], y[:30], norm=norm)
    before = state(learner)
    other = learner.with_parts(*other_parts(learner))
    with pytest.raises(ValueError, match="features"):
        learn(other, X[:, :2].copy(), y)
    far = np.full((1, 4), 1e200)
    try:
        assert other.learn(dense_rows(far), Codes(y[:1].astype(np.intp)), unchecked=True) == 0
    except ValueError:  # of a kernel
        assert learner.weights.expansion is not None
    assert state(learner) == before
    assert learn(learner, X[30:], y[30:]) == -1
    twin = learner_of(X[:30], y[:30], norm=norm)
    learn(twin, X[30:], y[30:])
    assert_array_equal(scores(learner, X), scores(twin, X))


def test_both_count_the_rounds_of_their_weights():
    """Whoever reads by the former parts meanwhile finds rounds and weights that belong together."""
    X, y = data()
    learner = learner_of(X[:30], y[:30])
    other = learner.with_parts(*other_parts(learner))
    learn(other, X[30:], y[30:])
    assert learner.t == other.t == 60
    assert_array_equal(scores(learner, X), scores(other, X))
    assert other.weights.leader == other.average.leader
    again = other.with_parts(learner.problem, learner.update, LinearAverage(), None)
    learn(again, X, y)
    assert again.weights.radius_needed == learner.update.radius_needed
    learn(other, X, y)  # which the weights have to be told again
    assert other.weights.radius_needed
    assert learner.t == 180


def test_parts_that_do_not_go_together_are_refused():
    X, y = data()
    learner = learner_of(X, y)
    strange = PredtronBinaryClassifier(norm="l2").partial_fit(X, y > 0, classes=[False, True])._model.learner
    with pytest.raises(ValueError, match="do not go with"):
        learner.with_parts(strange.problem, learner.update, None, None)
    with pytest.raises(ValueError, match="do not go with"):
        learner.with_weights(strange.weights, learner.problem, None)


def test_copies_have_a_lock_of_their_own_unless_it_is_to_be_shared():
    X, y = data()
    learner = learner_of(X, y)
    for other in (copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        with learner.lock:
            learn(other, X, y)
        assert other.t == 2 * learner.t
    for other in (
        learner.copied(),
        learner.with_weights(copy.deepcopy(learner.weights), learner.problem, learner.observer),
        learner.resized(9, range(3), learner.problem, learner.observer),
    ):
        assert other.lock is learner.lock
        assert_array_equal(scores(other, X), scores(learner, X))
        learn(other, X, y)
        assert (other.t, learner.t) == (120, 60)
        assert not np.array_equal(scores(other, X), scores(learner, X))


def test_learning_goes_on_in_the_call_of_its_thread_alone():
    X, y = data()
    learner = learner_of(X, y)
    with learner.lock:
        learn(learner, X, y)
        learner.widen(4)
        with pytest.raises(RuntimeError, match=BUSY):
            learner.lock.check_free()
    with learner.lock.reading():
        for call in (lambda: learn(learner, X, y), lambda: learner.widen(4), lambda: learner.record(None), learner.export):
            with pytest.raises(RuntimeError, match="is being read"):
                call()
    with pytest.raises(RuntimeError, match="is being read"):
        learner.read(lambda weights: learn(learner, X, y))
    learn(learner, X, y)


class Interrupting(Problem):
    """Two classes by one score; raises in the third round."""

    n_scores, rounds = 1, 0

    def decode(self, t):
        return int(t[0] > 0)

    def loss(self, prediction, y):
        return float(prediction != y)

    def representation(self, prediction):
        return np.array([2.0 * prediction - 1])

    def augmented_decode(self, t, y):
        self.rounds += 1
        if self.rounds == 3:
            raise KeyError("enough")
        return self.decode(t)


def test_an_error_in_a_round_gives_the_lock_back():
    X, y = data()
    model = Predtron(Interrupting(), norm="l2")
    with pytest.raises(KeyError, match="enough"):
        model.partial_fit(X, list(y > 0))
    model.partial_fit(X, list(y > 0))
    with model._model.learner.lock, model._model.learner.lock.changing():
        pass


@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_narrower_rows_are_scored_as_with_zeros(norm):
    """As those of a reader who took the learner before another thread widened it."""
    for p, k in ((4, 2), (17, 9), (9, 8)):
        X, y = data(40, p)
        learner = learner_of(X, y, norm=norm)
        padded = X.copy()
        padded[:, k:] = 0
        for mean in (True, False):
            wide = scores(learner, padded, mean)
            assert_close(scores(learner, np.ascontiguousarray(X[:, :k]), mean), wide)
            out = np.empty_like(wide)
            learner.scores(csr_rows(sparse.csr_matrix(X[:, :k])), out, mean=mean)
            assert_close(out, wide)
        with pytest.raises(ValueError, match=f"at most the {p} features"):
            scores(learner, np.hstack([X, X]))


def test_narrower_rows_of_many_features_are_scored_in_passing():
    X, y = data(20, 6000)
    for form in (np.asarray, sparse.csr_matrix):
        model = PredtronClassifier(norm="l2").partial_fit(form(X), y, classes=[0, 1, 2])
        row = np.zeros((1, 6000))
        row[:, :77] = X[:1, :77]
        assert_close(scores(model._model.learner, row[:, :77].copy()), scores(model._model.learner, row))


@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_a_predictor_stays_as_it_was(norm):
    X, y = data()
    learner = learner_of(X[:30], y[:30], norm=norm)
    before, predictor, out = scores(learner, X), learner.predictor(), np.empty((60, learner.problem.d))
    learn(learner, X[30:], y[30:])
    assert predictor.scores(dense_rows(X), out)
    assert_close(out, before)
    assert not np.array_equal(scores(learner, X), before)


def test_an_observer_is_told_of_its_problem_when_learning_begins():
    X, y = data()
    model = PredtronClassifier(norm="l2", reject=Reject(0.2, 7)).partial_fit(X, y, classes=[0, 1, 2])
    learner = model._model.learner
    problem = copy.deepcopy(learner.problem)
    other = learner.with_parts(problem, learner.update, None, learner.observer)
    assert learner.observer.problem is learner.problem
    learn(other, X, y)
    assert learner.observer.problem is problem
    assert Learner(learner.weights, problem, learner.update, learner.average, learner.observer).observer is learner.observer
