"""The loss recorded within the epochs: every point exact, memory bounded, in every kind of fit."""

import copy
import pickle
from itertools import pairwise

import joblib
import numpy as np
import pytest
from cases import Hours, make_data, needs_callbacks
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import (
    Predtron,
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron._core.loss_curve import LossCurve
from sklearn_predtron.callbacks import LossHistory
from sklearn_predtron.datasets import make_ranking_queries
from sklearn_predtron.updates import PerceptronUpdate


def by_rows(model, X, y, epochs=1, **classes):
    """Cumulative loss after 0, 1, 2, ... rounds, asked for after each."""
    losses = [0.0]
    for _ in range(epochs):
        for i in range(len(X)):
            model = model.partial_fit(X[i : i + 1], y[i : i + 1], **classes)
            losses.append(model.cumulative_loss_)
    return np.array(losses)


def indicators(n=90, m=4):
    random = np.random.default_rng(0)
    return random.standard_normal((n, 5)), random.integers(0, 2, (n, m))


@pytest.mark.parametrize("size", [4, 5, 16, 1000])
@pytest.mark.parametrize("kind", [PredtronClassifier, PredtronOrdinalClassifier])
def test_points_are_those_of_single_rounds(kind, size):
    X, y = make_data(noise=1.0)
    model = kind(norm="l2", shuffle=False, max_iter=3, cv=0).set_callbacks(LossHistory(size)).fit(X, y)
    rounds, losses = LossHistory.curve(model)
    expected = by_rows(kind(norm="l2"), X, y, epochs=3, classes=np.unique(y))
    np.testing.assert_array_equal(losses, expected[rounds])
    assert rounds[0] == 0 and rounds[-1] == model.t_ == 3 * len(X) and len(rounds) <= size
    steps = np.diff(rounds)[:-1]
    assert (steps == steps[0]).all() and len(rounds) >= min(model.t_ + 1, size / 2)
    if size == 1000:
        np.testing.assert_array_equal(rounds, np.arange(model.t_ + 1))
    np.testing.assert_array_equal(model.coef_, kind(norm="l2", shuffle=False, max_iter=3, cv=0).fit(X, y).coef_)


def test_every_family():
    X, sets = indicators()
    grades = np.random.default_rng(1).integers(0, 3, sets.shape)
    hours = np.random.default_rng(2).integers(0, 12, len(X))
    cases = [
        (PredtronBinaryClassifier(norm="l2", cv=0), X, sets[:, 0], {"classes": [0, 1]}),
        (PredtronMultilabelClassifier(norm="l2", cv=0), X, sets, {}),
        (PredtronLabelRanker(norm="l2", cv=0), X, grades, {}),
        (Predtron(Hours(), norm="l2"), X, hours, {}),
    ]
    for model, rows, y, classes in cases:
        expected = by_rows(clone(model), rows, y, **classes)
        model.set_params(shuffle=False, max_iter=1).set_callbacks(LossHistory()).fit(rows, y)
        rounds, losses = LossHistory.curve(model)
        np.testing.assert_array_equal(rounds, np.arange(len(X) + 1))
        np.testing.assert_array_equal(losses, expected)
        assert losses[-1] > 0


def test_a_round_of_a_ranker_is_a_query():
    X, y, qid = make_ranking_queries(30, random_state=0)
    model = PredtronRanker(norm="l2", shuffle=False, max_iter=2, cv=0).set_callbacks(LossHistory()).fit(X, y, qid=qid)
    rounds, losses = LossHistory.curve(model)
    single = PredtronRanker(norm="l2")
    for query in range(30):
        single.partial_fit(X[qid == query], y[qid == query])
        assert losses[query + 1] == single.cumulative_loss_ > 0
    np.testing.assert_array_equal(rounds, np.arange(61))


def test_long_streams_in_bounded_memory():
    """Beyond 4096 rounds the loop pauses for interrupts; a stride of 2^k leaves between size / 2 and size points."""
    random = np.random.default_rng(0)
    X, y = random.standard_normal((30000, 2)), random.integers(0, 2, 30000)
    model = PredtronClassifier(max_iter=3, decision="learned", random_state=0).set_callbacks(LossHistory(64)).fit(X, y)
    rounds, losses = LossHistory.curve(model)
    assert 32 <= len(rounds) <= 64 and rounds[-1] == 90000 and losses[-1] == model.cumulative_loss_
    assert set(np.diff(rounds)[:-1]) == {2048}
    assert len(pickle.dumps(model._model.learner.history)) < 64 * 16 + 1000
    epochs = np.interp([30000, 60000, 90000], rounds, losses) / np.arange(30000, 120000, 30000)
    np.testing.assert_allclose(epochs, np.cumsum(model.loss_curve_) / [1, 2, 3], atol=0.01)


@pytest.mark.parametrize("size", [4, 7, 64])
@pytest.mark.parametrize("start", [0, 1, 5, 4096, 100_003])
def test_watching_from_any_round(size, start):
    """The first point is where watching began, the others are multiples of the stride, the latest is always there."""
    X, y = np.ones((start + 700, 1)), np.arange(start + 700) % 2
    model = PredtronBinaryClassifier(average=False).partial_fit(X[: max(start, 1)], y[: max(start, 1)], classes=[0, 1])
    history, first = LossHistory(size).watch(model), model.t_
    before = model.cumulative_loss_
    for i in range(first, len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        if i - first in (0, 3, 63, 100, 690):
            rounds, losses = history.curve(model)
            assert rounds[0] == first and losses[0] == before
            assert rounds[-1] == model.t_ and losses[-1] == model.cumulative_loss_
            assert (np.diff(rounds) > 0).all() and len(rounds) <= size
            assert (rounds[1:-1] % model._model.learner.history.stride == 0).all()


def test_streams_in_any_split():
    X, y = make_data(noise=1.0)
    expected = by_rows(PredtronClassifier(), X, y, classes=[0, 1, 2])
    for cuts in [[1, len(X)], [1, 2, 3, 30, len(X)], [20, 70, len(X)]]:
        model = PredtronClassifier().partial_fit(X[: cuts[0]], y[: cuts[0]], classes=[0, 1, 2])
        history = LossHistory(1000).watch(model)
        for first, last in pairwise(cuts):
            model.partial_fit(X[first:last], y[first:last])
        rounds, losses = history.curve(model)
        np.testing.assert_array_equal(rounds, np.arange(cuts[0], len(X) + 1))
        np.testing.assert_array_equal(losses, expected[rounds])


def test_a_fit_goes_on_as_a_stream_and_warm_starts():
    X, y = make_data(noise=1.0)
    model = PredtronClassifier(norm="l2", shuffle=False, max_iter=2, warm_start=True, cv=0).set_callbacks(LossHistory()).fit(X, y)
    model.partial_fit(X[:1], y[:1]).partial_fit(X[1:], y[1:]).fit(X, y)
    losses = LossHistory.curve(model)[1]
    np.testing.assert_array_equal(losses, by_rows(PredtronClassifier(norm="l2", cv=0), X, y, epochs=5, classes=[0, 1, 2]))
    model.set_params(warm_start=False).fit(X, y)
    assert LossHistory.curve(model)[0][-1] == 2 * len(X)
    model.set_callbacks().fit(X, y)
    with pytest.raises(ValueError, match="loss of this PredtronClassifier was not recorded; call set_callbacks"):
        LossHistory.curve(model)


def test_another_size_starts_anew():
    X, y = make_data(noise=1.0)
    model = PredtronClassifier().partial_fit(X, y, classes=[0, 1, 2])
    LossHistory(10).watch(LossHistory(10).watch(model) and model)
    kept = model._model.learner.history
    LossHistory(10).watch(model)
    assert model._model.learner.history is kept
    LossHistory(11).watch(model)
    assert model._model.learner.history is not kept and LossHistory.curve(model)[0].tolist() == [len(X)]


def fed(model, calls):
    """The model after these calls of partial_fit."""
    for call in calls:
        model.partial_fit(**call)
    return model


@pytest.mark.parametrize("norm", ["l2", "l1", "scaled", "rkhs"])
@pytest.mark.parametrize("kind", [PredtronClassifier, PredtronBinaryClassifier, PredtronOrdinalClassifier])
def test_partial_fit_records_where_the_callback_is_set(kind, norm):
    X, y = make_data(2, noise=1.0)
    cuts = [0, 1, 2, 5, 15, len(X)]
    calls = [{"X": X[i:j], "y": y[i:j], "classes": [0, 1] if i == 0 else None} for i, j in pairwise(cuts)]
    model = fed(kind(norm=norm).set_callbacks(LossHistory()), calls)
    rounds, losses = LossHistory.curve(model)
    np.testing.assert_array_equal(rounds, np.arange(len(X) + 1))
    np.testing.assert_array_equal(losses, by_rows(kind(norm=norm), X, y, classes=[0, 1]))
    np.testing.assert_array_equal(model.decision_function(X), fed(kind(norm=norm), calls).decision_function(X))


def test_streams_of_every_family_are_recorded():
    X, sets = indicators()
    documents, relevance, qid = make_ranking_queries(30, random_state=0)
    hours = np.random.default_rng(2).integers(0, 12, len(X))
    streams = [
        (PredtronMultilabelClassifier(), [{"X": X[i : i + 1], "y": sets[i : i + 1]} for i in range(len(X))]),
        (PredtronLabelRanker(), [{"X": X[i : i + 1], "y": sets[i : i + 1]} for i in range(len(X))]),
        (PredtronRanker(), [{"X": documents[qid == q], "y": relevance[qid == q]} for q in range(30)]),
        (Predtron(Hours()), [{"X": X[i : i + 1], "y": hours[i : i + 1]} for i in range(len(X))]),
    ]
    for model, calls in streams:
        expected = [0.0] + [model.partial_fit(**call).cumulative_loss_ for call in calls]
        recorded = fed(clone(model).set_callbacks(LossHistory()), calls)
        rounds, losses = LossHistory.curve(recorded)
        np.testing.assert_array_equal(rounds, np.arange(len(calls) + 1))
        np.testing.assert_array_equal(losses, expected)


def test_a_callback_that_is_set_in_mid_stream_records_from_there():
    X, y = make_data(noise=1.0)
    expected = by_rows(PredtronClassifier(), X, y, classes=[0, 1, 2])
    model = PredtronClassifier().partial_fit(X[:10], y[:10], classes=[0, 1, 2]).partial_fit(X[10:11], y[10:11])
    model.set_callbacks(LossHistory()).partial_fit(X[11:12], y[11:12])
    model.set_params(update="adaptive").partial_fit(X[12:50], y[12:50])
    copied = pickle.loads(pickle.dumps(model))
    for one in (model, copied):
        one.partial_fit(X[50:], y[50:])
        rounds, losses = LossHistory.curve(one)
        np.testing.assert_array_equal(rounds, np.arange(11, len(X) + 1))
        np.testing.assert_array_equal(losses, expected[rounds])


def test_a_stream_within_a_meta_estimator_is_recorded():
    X, sets = indicators()
    outer = MultiOutputClassifier(PredtronBinaryClassifier().set_callbacks(LossHistory()))
    outer.partial_fit(X[:40], sets[:40], classes=[[0, 1]] * 4).partial_fit(X[40:], sets[40:])
    for column, model in enumerate(outer.estimators_):
        expected = PredtronBinaryClassifier().partial_fit(X, sets[:, column], classes=[0, 1])
        rounds, losses = LossHistory.curve(model)
        assert len(rounds) == len(X) + 1 and losses[-1] == expected.cumulative_loss_


def test_a_partial_fit_that_fails_records_nothing():
    X, y = make_data(noise=1.0)
    bad = X.copy()
    bad[3, 0] = np.nan
    model = PredtronClassifier().set_callbacks(LossHistory())
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(bad, y, classes=[0, 1, 2])
    assert not model.__sklearn_is_fitted__()
    y = y > 0
    model = PredtronBinaryClassifier(norm="l2", update=PerceptronUpdate(eta=1e100)).partial_fit(
        X[:1], y[:1], classes=[False, True]
    )
    model.set_callbacks(LossHistory())
    for rows, message in [(bad, "NaN"), (-1e100 * X[:1], "overflow")]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(rows, y[: len(rows)])
        with pytest.raises(ValueError, match="was not recorded"):
            LossHistory.curve(model)
    assert LossHistory.curve(model.partial_fit(X, y))[0].tolist() == list(range(1, len(X) + 2))


def test_two_sizes_on_one_estimator_are_refused():
    X, y = make_data()
    message = r"LossHistory\(size=\d+\) .* LossHistory\(size=\d+\) .* one record"
    both = LossHistory(10), LossHistory(20)
    model = PredtronClassifier(random_state=0).set_callbacks(*both)
    for call in (model.fit, lambda X, y: model.partial_fit(X, y, classes=[0, 1, 2])):
        with pytest.raises(ValueError, match=message):
            call(X, y)
        assert not model.__sklearn_is_fitted__()
    fitted = PredtronClassifier(random_state=0).set_callbacks(both[0]).fit(X, y)
    before = LossHistory.curve(fitted)
    with pytest.raises(ValueError, match=message):
        both[1].watch(fitted)
    fitted.set_callbacks(*both)
    for call in (fitted.fit, fitted.partial_fit):
        with pytest.raises(ValueError, match=message):
            call(X, y)
        np.testing.assert_array_equal(LossHistory.curve(fitted), before)
    same = PredtronClassifier(random_state=0).set_callbacks(LossHistory(10), LossHistory(10)).fit(X, y)
    np.testing.assert_array_equal(LossHistory.curve(same), before)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_record_for_themselves(duplicate):
    X, y = make_data(noise=1.0)
    model = PredtronClassifier(random_state=0).set_callbacks(LossHistory(16)).fit(X, y)
    rounds, losses = LossHistory.curve(model)
    other = duplicate(model)
    np.testing.assert_array_equal(LossHistory.curve(other), (rounds, losses))
    other.partial_fit(X, y)
    np.testing.assert_array_equal(LossHistory.curve(model), (rounds, losses))
    np.testing.assert_array_equal(LossHistory.curve(model.partial_fit(X, y)), LossHistory.curve(other))


def test_clones_and_pipelines():
    X, y = make_data(noise=1.0)
    pipeline = make_pipeline(StandardScaler(), PredtronClassifier(random_state=0, max_iter=2, cv=0).set_callbacks(LossHistory()))
    first, second = clone(pipeline).fit(X, y), clone(pipeline).fit(X[:50], y[:50])
    assert len(LossHistory.curve(first[-1])[0]) == 2 * len(X) + 1
    assert len(LossHistory.curve(second[-1])[0]) == 101
    np.testing.assert_array_equal(LossHistory.curve(first), LossHistory.curve(first[-1]))
    assert not pipeline[-1].__sklearn_is_fitted__()


def test_searches_in_parallel():
    X, y = make_data(noise=1.0)
    model = PredtronClassifier(random_state=0, max_iter=2, cv=0).set_callbacks(LossHistory())
    with joblib.parallel_config(backend="threading", n_jobs=2):
        search = GridSearchCV(model, {"average": ["linear", False]}, cv=2).fit(X, y)
    rounds, losses = LossHistory.curve(search.best_estimator_)
    assert len(rounds) == 2 * len(X) + 1 and losses[-1] == search.best_estimator_.cumulative_loss_
    np.testing.assert_array_equal(LossHistory.curve(search)[1], losses)


def test_models_from_other_processes_bring_their_curve():
    """What is sent there and back is pickled."""
    X, y = make_data(noise=1.0)
    model = PredtronClassifier(random_state=0).set_callbacks(LossHistory(20))
    there = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(model)).fit(X, y)))
    np.testing.assert_array_equal(LossHistory.curve(there), LossHistory.curve(model.fit(X, y)))


def test_a_fit_that_fails_keeps_the_old_curve():
    X, y = make_data(noise=1.0)
    model = PredtronClassifier(random_state=0).set_callbacks(LossHistory()).fit(X, y)
    before = LossHistory.curve(model)
    bad = X.copy()
    bad[-1, 0] = np.nan
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match="NaN"):
            call(bad, y)
        np.testing.assert_array_equal(LossHistory.curve(model), before)


@pytest.mark.parametrize("size", [0, 3, -5, 10.0, "100", None, True])
def test_sizes_that_are_not_accepted(size):
    with pytest.raises(ValueError, match=r"size=.* must be an integer of at least 4"):
        LossHistory(size)
    assert LossHistory(np.int64(4)).size == 4


NO_ROUNDS = r"estimator=.* has no rounds to record; accepted are Predtron estimators"


@needs_callbacks
def test_meta_estimators_are_not_accepted():
    X, y = make_data()
    for estimator in [make_pipeline(StandardScaler(), PredtronClassifier()), GridSearchCV(PredtronClassifier(), {})]:
        with pytest.raises(ValueError, match=NO_ROUNDS):
            estimator.set_callbacks(LossHistory()).fit(X, y)


def test_estimators_that_are_not_accepted():
    X, y = make_data()
    for estimator in [LogisticRegression().fit(X, y), None, 3]:
        with pytest.raises(ValueError, match=NO_ROUNDS):
            LossHistory().watch(estimator)
        with pytest.raises(ValueError, match=NO_ROUNDS):
            LossHistory.curve(estimator)
    with pytest.raises(NotFittedError):
        LossHistory().watch(PredtronClassifier())


@needs_callbacks
def test_protocol():
    from sklearn.callback import FitCallback

    assert isinstance(LossHistory(), FitCallback)


def test_repr():
    assert repr(LossHistory(size=10)) == "LossHistory(size=10)"


def test_the_learner_takes_histories_alone():
    X, y = make_data()
    model = PredtronClassifier(random_state=0).fit(X, y)
    with pytest.raises(TypeError):
        model._model.learner.record([])
    with pytest.raises(ValueError, match="size=3 must be at least 4"):
        LossCurve(3)


@needs_callbacks
@pytest.mark.parametrize("moment", ["_skl_callbacks_to_teardown", "_callback_fit_ctx"])
def test_an_interrupt_while_callbacks_are_set_up(moment):
    """The interrupt itself is raised, and of the setup nothing remains."""

    class Interrupted(PredtronClassifier):
        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            if name == moment:
                raise KeyboardInterrupt

    X, y = make_data()
    model = Interrupted()
    before = set(model.__getstate__())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert set(model.__getstate__()) == before
