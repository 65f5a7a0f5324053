"""One call at a time learns a model: others raise RuntimeError, and nothing is lost or torn."""

import copy
import pickle
import time

import numpy as np
import pytest
from cases import BUSY, EachEpoch, Multiclass, beside, lesson, needs_callbacks, threads_of
from numpy.testing import assert_array_equal
from sklearn.base import clone

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron.families.model.model import Model
from sklearn_predtron.families.structured import Predtron
from sklearn_predtron.losses import Reject
from sklearn_predtron.norms import RKHS
from tests.own_checks import assert_same_bits

NORMS = ["l2", "l1", "group", "trace", "scaled", "rkhs", RKHS(budget=7)]


class Reentrant(Multiclass):
    """`decode` runs what it is told to, once."""

    def __init__(self, task=None):
        super().__init__()
        self.task = task

    def decode(self, t):
        if self.task is not None:
            task, self.task = self.task, None
            task()
        return super().decode(t)

    def augmented_decode(self, t, y):
        self.decode(t)
        return super().augmented_decode(t, y)

    def __deepcopy__(self, memo):
        return type(self)()

    def __getstate__(self):
        return {"k": 2, "task": None}


def data(n=200, p=4):
    X = np.random.default_rng(0).standard_normal((n, p))
    return X, (X[:, 0] > 0).astype(int)


CALLS = {
    "partial_fit": lambda model, X, y: model.partial_fit(X, y),
    "partial_fit of a row": lambda model, X, y: model.partial_fit(X[:1], y[:1]),
    "fit": lambda model, X, y: model.fit(X, y),
    "set_params": lambda model, X, y: model.set_params(average=False),
    "set_params of a part": lambda model, X, y: model.set_params(update="perceptron"),
    "set_callbacks": lambda model, X, y: model.set_callbacks(),
    "an attribute": lambda model, X, y: setattr(model, "norm", "l1"),
}
READINGS = {
    "predict": lambda model, X: model,
    "deepcopy": lambda model, X: copy.deepcopy(model),
    "pickle": lambda model, X: pickle.loads(pickle.dumps(model)),
}


@pytest.mark.always
@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("call", CALLS)
def test_a_problem_that_calls_the_model_it_belongs_to(call, norm):
    X, y = data()
    problem = Reentrant()
    model = Predtron(problem, norm=norm).partial_fit(X[:50], list(y[:50]))
    twin = Predtron(Reentrant(), norm=norm).partial_fit(X[:50], list(y[:50]))
    problem.task = lambda: CALLS[call](model, X, list(y))
    with pytest.raises(RuntimeError, match=BUSY):
        model.partial_fit(X[50:], list(y[50:]))
    assert model.t_ == 50
    model.partial_fit(X[50:], list(y[50:]))  # and it goes on as if nothing had been
    twin.partial_fit(X[50:], list(y[50:]))
    assert_array_equal(model.decision_function(X), twin.decision_function(X))


@pytest.mark.always
@needs_callbacks
@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("call", ["partial_fit", "partial_fit of a row", "fit", "set_params", "set_callbacks", "an attribute"])
def test_a_callback_that_changes_the_model(call, norm):
    X, y = data()
    callback = EachEpoch(lambda model: CALLS[call](model, X, y))
    model = PredtronClassifier(norm=norm, representation="onehot", random_state=0, cv=0).set_callbacks(callback)
    with pytest.raises(RuntimeError, match=BUSY):
        model.fit(X, y)
    assert model.t_ == len(X)  # the epoch before the callback stands
    assert model.norm is norm
    model.partial_fit(X, y)  # and the flag is down again


@needs_callbacks
@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_a_callback_may_read_the_model(norm):
    X, y = data()
    scores = []
    callback = EachEpoch(lambda model: scores.append(model.score(X, y)))
    PredtronClassifier(norm=norm, random_state=0, max_iter=3).set_callbacks(callback).fit(X, y)
    assert len(scores) >= 3


@pytest.mark.parametrize(
    "model",
    [
        PredtronBinaryClassifier(reject=Reject(0.2, 2)),
        PredtronClassifier(),
        PredtronOrdinalClassifier(representation="shared"),
        PredtronMultilabelClassifier(),
        PredtronRanker(),
        PredtronLabelRanker(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_no_round_is_lost(model):
    """Rounds that returned are counted; those that did not raised."""
    X, _ = data(3000, 30)
    y, _, first = lesson(type(model), X[:, :3] + np.random.default_rng(1).standard_normal((3000, 3)))
    model = clone(model).partial_fit(X[:50], y[:50], **first)
    start, learned = model.t_, [0] * 3

    def learn(k):
        for i in range(150):
            rows = slice(50 + i, 51 + i) if k else slice(0, 2000)  # the batch learns without the interpreter's lock
            try:
                model.partial_fit(X[rows], y[rows])
            except RuntimeError as error:
                assert BUSY in str(error)
            else:
                learned[k] += 1 if k or isinstance(model, PredtronRanker) else 2000

    def read():
        for _ in range(150):
            model.predict(X)

    threads_of(*[lambda k=k: learn(k) for k in range(3)], read)
    assert model.t_ - start == sum(learned) > 0


def prefixes(model, X, y, probe):
    """Scores of the probe under a model that has learned 0, 1, ... more rows, and the model itself."""
    model, scores = copy.deepcopy(model), []
    for i in range(len(X)):
        scores.append(model.decision_function(probe))
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    return model, np.array([*scores, model.decision_function(probe)])


def assert_of_prefixes(seen, scores, exactly):
    """All that was seen is among the scores, to the last bit or, of kernels, whose blocks are summed apart, but for rounding."""
    known = {row.tobytes() for row in scores}
    others = [found for found in seen if found.tobytes() not in known]
    if exactly:
        assert not others
    for found in others:
        assert np.abs(scores - found).reshape(len(scores), -1).max(axis=1).min() < 1e-9


@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("average", ["linear", False])
def test_what_is_read_beside_a_thread_that_learns_is_of_a_prefix(norm, average):
    """Every prediction is that of the rows up to one of them; and reading does not change what is learned."""
    X, y = data(600)
    model = PredtronClassifier(norm=norm, average=average, representation="simplex" if norm == "l1" else "onehot")
    model.partial_fit(X[:20], y[:20], classes=[0, 1])
    alone, scores = prefixes(model, X[20:], y[20:], X[:50])
    seen = []

    def learn():
        for begin in range(20, 600, 20):
            for rows in (slice(begin, begin + 1), slice(begin + 1, begin + 20)):
                model.partial_fit(X[rows], y[rows])

    def read():
        seen.append(model.decision_function(X[:50]))

    beside(learn, read, read, at_least=20)
    exactly = model._model.learner.weights.expansion is None
    assert len(seen) >= 20
    assert_of_prefixes(seen, scores, exactly)
    if exactly:
        assert_same_bits(model, alone, "read beside a thread that learns")
    assert model.t_ == alone.t_ == 600
    assert model.n_mistakes_ == alone.n_mistakes_


@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_saved_beside_a_thread_that_learns(norm):
    """What is saved is never refused, and is a model as of some round, whole: it is that of a prefix of the stream."""
    X, y = data(400)
    model = PredtronClassifier(norm=norm).partial_fit(X[:20], y[:20], classes=[0, 1]).partial_fit(X[:1], y[:1])
    start = model.t_
    alone, scores = prefixes(model, X[20:], y[20:], X[:50])
    saved = []

    def learn():
        for i in range(20, 400, 5):
            model.partial_fit(X[i : i + 5], y[i : i + 5])

    beside(learn, lambda: saved.append(pickle.dumps(model if len(saved) % 2 else copy.deepcopy(model))), at_least=2)
    for copied in map(pickle.loads, saved[:: max(1, len(saved) // 20)]):
        of_rounds = scores[copied.t_ - start]
        np.testing.assert_allclose(copied.decision_function(X[:50]), of_rounds, rtol=1e-9, atol=1e-9)
        if model._model.learner.weights.expansion is None:
            assert_array_equal(copied.decision_function(X[:50]), of_rounds)
        first = 20 + copied.t_ - start
        if first < len(X):
            copied.partial_fit(X[first:], y[first:])
        assert copied.n_mistakes_ == alone.n_mistakes_


class Slow(Reentrant):
    """Takes its time for each round."""

    def augmented_decode(self, t, y):
        time.sleep(5e-4)
        return super().augmented_decode(t, y)


@pytest.mark.parametrize("norm", ["l2", "l1", "trace"])
def test_others_read_in_between_the_rounds_of_one_call(norm):
    """A call of many rounds does not keep a reader waiting, who finds one of its rounds."""
    X, y = data(100)
    model = Predtron(Slow(), norm=norm, shuffle=False).partial_fit(X[:10], list(y[:10]))
    alone = copy.deepcopy(model)
    scores = [alone.decision_function(X)]
    scores += [alone.partial_fit(X[i : i + 1], [y[i]]).decision_function(X) for i in range(10, 100)]
    seen = []
    beside(lambda: model.partial_fit(X[10:], list(y[10:])), lambda: seen.append(model.decision_function(X)))
    assert_of_prefixes(seen, np.array(scores), True)
    assert len({found.tobytes() for found in seen}) > 5
    assert_array_equal(model.decision_function(X), scores[-1])


class Asking(Reentrant):
    """Asks in the midst of each round, before its step."""

    def augmented_decode(self, t, y):
        if self.task is not None:
            self.task()
        return Multiclass.augmented_decode(self, t, y)

    def decode(self, t):
        return Multiclass.decode(self, t)


@pytest.mark.parametrize("norm", [norm for norm in NORMS if norm != "scaled"], ids=str)
@pytest.mark.parametrize("reading", READINGS)
def test_a_problem_may_read_the_model_it_belongs_to(reading, norm):
    """It finds what the rounds so far have left, and what is learned has the same bits."""
    X, y = data(60)
    problem = Asking()
    model = Predtron(problem, norm=norm, average="linear").partial_fit(X[:20], list(y[:20]))
    alone, seen = copy.deepcopy(model), []
    alone.partial_fit(X[20:], list(y[20:]))
    prefix = copy.deepcopy(model)
    problem.task = lambda: seen.append(READINGS[reading](model, X).decision_function(X[:5]))
    model.partial_fit(X[20:], list(y[20:]))
    problem.task = None
    assert len(seen) == 40
    for i, found in enumerate(seen, start=20):
        np.testing.assert_allclose(found, prefix.decision_function(X[:5]), rtol=1e-9, atol=1e-9)
        prefix.partial_fit(X[i : i + 1], [y[i]])
    assert_array_equal(model.decision_function(X), alone.decision_function(X))


@pytest.mark.parametrize("reading", READINGS)
def test_reading_scaled_weights_in_a_round_does_not_change_them(reading):
    X, y = data(60)
    problem = Asking()
    model = Predtron(problem, norm="scaled").partial_fit(X[:20], list(y[:20]))
    alone = copy.deepcopy(model).partial_fit(X[20:], list(y[20:]))
    problem.task = lambda: READINGS[reading](model, X).decision_function(X[:5])
    model.partial_fit(X[20:], list(y[20:]))
    problem.task = None
    assert_array_equal(model.decision_function(X), alone.decision_function(X))


def test_a_switched_average_leaves_its_readers_what_they_read():
    """The average's memory outlives `set_params(average=False)` as long as a prediction reads it."""
    X, y = data(2000, 50)
    model = PredtronClassifier().partial_fit(X, y, classes=[0, 1])
    learner = model._model.learner
    before = learner.weights.mean()[0]
    model.set_params(average=False).partial_fit(X[:1], y[:1])
    assert model._model.learner is not learner
    assert_array_equal(learner.weights.mean()[0], before)
    assert_array_equal(model.coef_, model.last_coef_)


def test_an_error_gives_the_flag_back():
    X, y = data()
    model = PredtronClassifier().fit(X, y)
    for rows, labels in ((np.full_like(X, np.nan), y), (X, y[:-1])):
        for call in (model.fit, model.partial_fit):
            with pytest.raises(ValueError, match=r"NaN|the same number"):
                call(rows, labels)
    model.partial_fit(X, y).set_params(max_iter=2).fit(X, y)


def test_a_shallow_copy_learns_by_itself():
    X, y = data()
    problem = Reentrant()
    model = Predtron(problem).partial_fit(X, list(y))
    other = copy.copy(model)
    problem.task = lambda: other.partial_fit(X, list(y))
    rounds = model.t_
    model.partial_fit(X, list(y))
    assert (model.t_, other.t_) == (rounds + len(y), rounds + len(y))


def test_the_short_way_that_a_thread_still_holds_takes_no_more_rows():
    X, y = data()
    model = PredtronClassifier().partial_fit(X, y, classes=np.unique(y)).partial_fit(X, y)
    held, rounds = model._model.stream, model.t_
    assert held.take(X, y)
    model.set_params(average=False)
    assert not held.take(X, y)
    assert model.t_ == rounds + len(y)


def test_estimators_that_share_a_learner_share_its_flag():
    X, y = data()
    problem = Reentrant()
    model = Predtron(problem).partial_fit(X, list(y))
    other = Predtron(problem)
    other._model = model._model
    problem.task = lambda: other.partial_fit(X, list(y))
    with pytest.raises(RuntimeError, match=BUSY):
        model.partial_fit(X, list(y))


class Hasty(PredtronClassifier):
    """Sets an attribute of its own while it learns."""

    def _build_problem(self, labels):
        self.built = True
        return super()._build_problem(labels)


@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_what_is_set_on_the_estimator_in_a_call_stays(call):
    class Noted(PredtronClassifier):
        def _build_problem(self, labels):
            model.seen_, self.built_ = "in the call", True
            return super()._build_problem(labels)

    model = Noted(random_state=0)
    model.seen_ = model.other_ = "before"
    getattr(model, call)(np.eye(3), [0, 1, 2], **({} if call == "fit" else {"classes": [0, 1, 2]}))
    assert (model.seen_, model.other_, model.built_) == ("in the call", "before", True)


def test_a_subclass_may_set_its_own_attributes():
    X, y = data()
    assert Hasty().fit(X, y).partial_fit(X, y).built


@pytest.mark.parametrize("norm", ["l2", "scaled"])
def test_refused_calls_do_not_disturb_readers(norm):
    """A call that is refused takes back what it changed, and nothing is ever missing meanwhile."""
    X, y = data(60, 3)
    model = PredtronClassifier(norm=norm, reject=Reject(0.2, 7)).fit(X, y)
    expected, bad = model.predict(X), X.copy()
    bad[3, 1] = np.nan

    def refuse():
        for _ in range(300):
            with pytest.raises(ValueError, match="NaN"):
                model.partial_fit(bad, y)

    beside(refuse, *[lambda: assert_array_equal(model.predict(X), expected)] * 2)


def test_what_scaled_weights_converted_beside_learning_is_not_kept():
    """The last conversion of a reader is no longer good when the call that learned has ended."""
    X, y = data(30, 40000)
    for seed in range(6):
        model = PredtronClassifier(norm="scaled").partial_fit(X[seed:], y[seed:], classes=[0, 1])
        beside(lambda model=model: model.partial_fit(X, 1 - y), lambda model=model: model.decision_function(X[:1]))
        assert_array_equal(model.decision_function(X), copy.deepcopy(model).decision_function(X))


def test_copies_give_way_to_a_fit():
    """A thread that copies a model does not stop the fit of another, and no copy is of two fits at once."""
    X, y = data(400)
    model, copies = PredtronClassifier(max_iter=20, random_state=0, cv=0).fit(X, y), []

    def fit():
        for width in (2, 4) * 10:
            model.fit(X[:, :width].copy(), y)

    def take():
        try:
            copies.append(copy.deepcopy(model))
        except RuntimeError as error:
            assert BUSY in str(error)

    beside(fit, take)
    for copied in copies[:100]:
        assert copied.coef_.shape == (2, copied.n_features_in_)


def test_no_call_learns_while_a_parameter_is_set(monkeypatch):
    """Such a call, of another thread, would open the fast path by the parameters that were, which later calls would take."""
    X, y = np.random.default_rng(0).standard_normal((30, 3)), np.arange(30) % 3
    model = PredtronClassifier().partial_fit(X, y, classes=[0, 1, 2])
    close, refused = Model.close_stream, []

    def close_and_learn(learned):
        close(learned)
        try:
            model.partial_fit(X[:1], y[:1])
        except RuntimeError as error:
            refused.append(error)

    with monkeypatch.context() as patched:
        patched.setattr(Model, "close_stream", close_and_learn)
        model.average = "linear"
    assert len(refused) == 1
    assert model.partial_fit(X, y).average_ == "linear"
