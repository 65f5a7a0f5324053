"""Calls that learn: the model that is there after them, what callbacks see, and what a failure leaves."""

import pickle

import numpy as np
import pytest
from cases import needs_callbacks
from sklearn.base import clone

from sklearn_predtron import PredtronBipartiteClassifier, PredtronClassifier, PredtronMultilabelClassifier
from sklearn_predtron.callbacks import LossHistory
from sklearn_predtron.families.training import trainer
from sklearn_predtron.families.training.plan import FOLDS_SEED, folds_of, generator_of, seed_of
from sklearn_predtron.families.training.trainer import Trainer
from sklearn_predtron.losses import Reject
from sklearn_predtron.norms import RKHS
from tests.own_checks import assert_same

X = np.random.default_rng(0).standard_normal((90, 4))
Y = X[:, :3].argmax(axis=1)
WARM = {"warm_start": True}
KINDS = [{}, {"norm": "l2"}, {"norm": RKHS()}, {"reject": Reject(0.2, -1)}, WARM, {**WARM, "norm": RKHS()}]


def bits(model):
    return pickle.dumps(model.packed())


@pytest.mark.parametrize("how", KINDS, ids=str)
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_a_call_that_fails_leaves_the_very_same_model(how, call):
    model = PredtronClassifier(random_state=0, **how).fit(X, Y)
    before, content, scores = model._model, bits(model._model), model._model.scores(X)
    stream, bad, late = before.stream, X.copy(), X.copy()
    bad[0, 0], late[-1, 2] = np.nan, np.inf
    for rows, labels in ((bad, Y), (late, Y), (X, Y[1:]), (X[:, 1:], Y) if call == "partial_fit" else (X[:0], Y[:0])):
        with pytest.raises(ValueError, match=r"NaN|infinity|same number|features|0 sample"):
            getattr(model, call)(rows, labels)
        assert model._model is before and model._model.stream is stream
        np.testing.assert_array_equal(before.scores(X), scores)
        assert bits(before) == content


@pytest.mark.parametrize("how", KINDS, ids=str)
def test_a_fit_makes_a_model_and_leaves_the_one_before_as_it_was(how):
    model = PredtronClassifier(random_state=0, **how, cv=0).fit(X, Y)
    before, content, scores = model._model, bits(model._model), model._model.scores(X)
    rounds = model.t_
    model.fit(X, (Y + 1) % 3)
    assert model._model is not before and model._model.learner is not before.learner
    np.testing.assert_array_equal(before.scores(X), scores)
    assert bits(before) == content
    assert model.t_ == (2 * rounds if how.get("warm_start") else rounds)


@pytest.mark.parametrize("when", [1, 3])
@pytest.mark.parametrize("known", [False, True])
def test_an_interrupt_leaves_the_rounds_that_were_learned(when, known, monkeypatch):
    model = PredtronClassifier(random_state=0, cv=0)
    before = model.fit(X[:30], Y[:30])._model if known else None
    learn, epochs = trainer.learn_epoch, []

    def interrupted(*given, **how):
        epochs.append(given)
        if len(epochs) == when:
            raise KeyboardInterrupt
        return learn(*given, **how)

    monkeypatch.setattr(trainer, "learn_epoch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    if when == 1:
        assert model._model is before
    else:
        assert model.t_ == 2 * len(X) and model.n_iter_ == 2


@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_an_interrupt_while_a_call_hands_over_what_it_learned_loses_none_of_it(verb, monkeypatch):
    """Groups are noted beside the rounds: one without the other would be another stream."""
    given, moments = {"groups": np.arange(90) // 3}, []
    publish = Trainer.publish

    def interrupted(self):
        moments.append(self.model.learner.t)
        if len(moments) == 1:
            raise KeyboardInterrupt
        publish(self)

    whole = PredtronBipartiteClassifier(random_state=0, decision="learned").partial_fit(X, Y > 0, **given, classes=[False, True])
    model = PredtronBipartiteClassifier(random_state=0, decision="learned")
    model.partial_fit(X[:60], Y[:60] > 0, groups=given["groups"][:60], classes=[False, True])
    monkeypatch.setattr(Trainer, "publish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        if verb == "fit":
            model.fit(X, Y > 0, **given)
        else:
            model.partial_fit(X[60:], Y[60:] > 0, groups=given["groups"][60:])
    assert len(moments) >= 2 and model.t_ == moments[0]
    monkeypatch.undo()
    assert_same(model, whole if verb == "partial_fit" else clone(model).fit(X, Y > 0, **given), "interrupted at last")


class Looking:
    """Notes what it is shown in each epoch."""

    def __init__(self, estimator):
        self.estimator, self.seen = estimator, []

    def look(self, view):
        self.seen.append((view is self.estimator, self.estimator._model, view._model, view.t_, view.predict(X).tolist()))
        view.noted_ = len(self.seen)


@needs_callbacks
def test_callbacks_see_a_view_of_the_estimator():
    """Of the model in progress, while the estimator still has the one before."""
    model = PredtronClassifier(random_state=0, max_iter=3, cv=0).fit(X[:30], Y[:30])
    before, looking = model._model, Looking(model)

    class Callback(LossHistory):
        def on_fit_task_end(self, estimator, context, **given):
            if context.task_name == "epoch":
                assert type(estimator) is PredtronClassifier and estimator.get_params() == model.get_params()
                looking.look(estimator)

    model.set_callbacks(Callback()).fit(X, Y)
    assert [one for one, *_ in looking.seen] == [False] * 3
    assert all(there is before for _, there, *_ in looking.seen)
    assert len({id(shown) for _, _, shown, *_ in looking.seen}) == 1 and looking.seen[0][2] is model._model
    assert [t for *_, t, _ in looking.seen] == [90, 180, 270]
    assert looking.seen[-1][-1] == model.predict(X).tolist()
    assert model.noted_ == 3


def test_a_trainer_publishes_at_the_end_and_undoes_errors():
    model = PredtronClassifier(random_state=0).fit(X, Y)
    mine, other = model._model, PredtronClassifier(random_state=1).fit(X, Y)._model
    with pytest.raises(RuntimeError), Trainer(model, other) as training:
        training.estimator.found_ = 3
        raise RuntimeError
    assert model._model is mine and not hasattr(model, "found_")
    with Trainer(model, other) as training:
        copy = training.estimator
        assert type(copy) is type(model) and copy._model is other and model._model is mine
        assert copy.get_params() == model.get_params() and copy._lock is model._lock
        copy.found_ = 3
        assert not hasattr(model, "found_")
    assert model._model is other and model.found_ == 3


def test_a_stream_goes_on_with_the_learners_weights():
    """A model is made by each call of the long way, of the same weights; single rows make none."""
    model = PredtronClassifier().partial_fit(X, Y, classes=[0, 1, 2])
    first = model._model
    assert model.partial_fit(X[:1], Y[:1])._model is first
    model.partial_fit(X, Y, sample_weight=np.ones(90))
    assert model._model is not first and model._model.learner.weights is first.learner.weights
    model.set_params(update="perceptron").partial_fit(X, Y)
    assert model._model.training_parts == "several" != first.training_parts
    assert model._model.learner.weights is first.learner.weights and model.t_ == 271


def test_folds_are_drawn_apart_from_the_epochs():
    """By a generator of their own, the same for the same seed, and even in number and in strata."""
    model = PredtronClassifier(random_state=0, cv=0)
    first, second = (generator_of(seed_of(model), FOLDS_SEED).integers(100, size=5) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert (first != generator_of(seed_of(model)).integers(100, size=5)).any()
    assert seed_of(PredtronClassifier(shuffle=False, cv=0)) is None and generator_of(None, FOLDS_SEED) is None
    assert folds_of(np.zeros(7, dtype=int), None, 5).tolist() == [0, 1, 2, 3, 4, 0, 1]


def test_an_average_that_a_failed_call_has_begun_is_gone():
    model = PredtronMultilabelClassifier(random_state=0).fit(X, np.eye(3, dtype=int)[Y])
    weights = model._model.learner.weights
    averages = weights.averaging
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X * np.nan, np.eye(3, dtype=int)[Y])
    assert weights.averaging == averages
    model.partial_fit(X, np.eye(3, dtype=int)[Y])
    assert model._model.learner.weights is weights and weights.averaging > averages
