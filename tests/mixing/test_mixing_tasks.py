"""Callbacks of a mixture: a round of `fit` is a task."""

import copy
import pickle

import numpy as np
import pytest
from cases import make_data, needs_callbacks
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from sklearn_predtron import PredtronBipartiteClassifier, PredtronClassifier
from sklearn_predtron.callbacks import EarlyStopping, LossHistory
from sklearn_predtron.mixing import ParameterMixing
from tests.mixing.test_shards import bits

X, Y = make_data(n=90)
PARTS = [lambda: (X[:40], Y[:40]), lambda: (X[40:], Y[40:])]


class Rounds:
    """Writes down what it is told, and ends the fit after some rounds."""

    max_propagation_depth = None

    def __init__(self, most=99):
        self.most, self.told, self.fitted = most, [], []

    def setup(self, estimator, context):
        self.told.append(("setup", context.max_subtasks))

    def teardown(self, estimator, context):
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.told.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.told.append(("end", context.task_name, context.task_id))
        self.fitted.append(fitted_estimator)
        return context.task_name == "round" and context.task_id + 1 >= self.most


def expected(rounds, planned=3):
    each = [(what, "round", i) for i in range(rounds) for what in ("begin", "end")]
    return [("setup", planned), ("begin", "fit", 0), *each, ("end", "fit", 0), "teardown"]


def ways(shards):
    """Return how a mixture of shards is fitted."""
    given = [lambda mixed: mixed.fit(X, Y)]
    return given if shards == 1 else [*given, lambda mixed: mixed.fit(PARTS, classes=range(3))]


@needs_callbacks
@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("shards", [1, 4])
def test_a_round_is_a_task(shards, passes):
    """What a callback is shown after a round is the mixture of so many rounds, and watching changes nothing."""
    for fit in ways(shards):
        watch = Rounds()
        mixed = ParameterMixing(PredtronClassifier(norm="l1"), rounds=3, passes=passes, shards=shards, random_state=0)
        plain = [bits(fit(clone(mixed).set_params(rounds=rounds))) for rounds in (1, 2, 3)]
        fit(mixed.set_callbacks(watch))
        assert watch.told == expected(3)
        assert [bits(fitted) for fitted in watch.fitted] == [*plain, plain[-1]]
        assert bits(mixed) == plain[-1]
        assert watch.fitted[0].score(X, Y) == watch.fitted[0].estimator_.score(X, Y)
        assert pickle.loads(pickle.dumps(mixed.estimator_)).get_params() == mixed.estimator_.get_params()
        assert not hasattr(mixed.estimator_, "_skl_callbacks")


@needs_callbacks
@pytest.mark.parametrize("shards", [1, 4])
def test_a_callback_ends_a_fit(shards):
    for fit in ways(shards):
        watch = Rounds(most=2)
        mixed = ParameterMixing(PredtronClassifier(), rounds=3, passes=2, shards=shards, random_state=0)
        found = bits(fit(clone(mixed).set_callbacks(watch)))
        assert watch.told == expected(2)
        assert found == bits(fit(mixed.set_params(rounds=2)))


@needs_callbacks
def test_what_is_chosen_by_all_rows_is_there_after_each_round():
    y, watch = (Y == 0).astype(int), Rounds()
    model = PredtronBipartiteClassifier(loss="f1", batch_size=30)
    ParameterMixing(model, rounds=2, shards=3, random_state=0).set_callbacks(watch).fit(X, y)
    assert [fitted.predict(X).shape for fitted in watch.fitted] == [(90,)] * 3


@needs_callbacks
def test_failures_and_interrupts_tear_down():
    def interrupted():
        raise KeyboardInterrupt

    for wrong, error in [
        (lambda mixed: mixed.fit(X * np.nan, Y), ValueError),
        (lambda mixed: mixed.fit([*PARTS, lambda: (X, Y + 9)], classes=range(3)), ValueError),
        (lambda mixed: mixed.fit([*PARTS, interrupted], classes=range(3)), KeyboardInterrupt),
    ]:
        watch = Rounds()
        mixed = ParameterMixing(PredtronClassifier(), rounds=2, random_state=0).set_callbacks(watch)
        before = set(vars(mixed))
        with pytest.raises(error):
            wrong(mixed)
        assert watch.told == [] or watch.told[-1] == "teardown"
        assert set(vars(mixed)) == before


@needs_callbacks
def test_those_that_go_on_from_a_checkpoint_are_told_of_what_is_left(tmp_path):
    mixed = ParameterMixing(PredtronClassifier(), rounds=3, shards=2, random_state=0, checkpoint=str(tmp_path / "state"))
    clone(mixed).set_params(rounds=1).fit(X, Y)
    watch = Rounds()
    clone(mixed).set_callbacks(watch).fit(X, Y)
    assert watch.told == expected(2, planned=2)
    again = Rounds()
    clone(mixed).set_callbacks(again).fit(X, Y)
    assert again.told == expected(0, planned=0)


@needs_callbacks
def test_scikit_learns_own_callbacks(capsys):
    from sklearn.callback import ProgressBar, ScoringMonitor

    monitor = ScoringMonitor(scoring="accuracy")
    mixed = ParameterMixing(PredtronClassifier(), rounds=3, shards=2, random_state=0).set_callbacks(monitor)
    alone = [clone(mixed).set_callbacks().set_params(rounds=rounds).fit(X, Y).score(X, Y) for rounds in (1, 2, 3)]
    mixed.fit(X, Y)
    rounds = [row for row in monitor.get_logs().data if row["task_name"] == "round"]
    assert [row["accuracy"] for row in rounds] == alone
    search = GridSearchCV(clone(mixed).set_callbacks(), {"rounds": [1, 2]}, cv=2)
    pytest.importorskip("rich")
    search.set_callbacks(ProgressBar()).fit(X, Y)
    assert "ParameterMixing" in capsys.readouterr().out


def test_callbacks_of_one_learner_are_not_for_mixtures():
    """They are refused on the mixture, and on its estimator a warning says that they do nothing."""
    for callback in (LossHistory(), EarlyStopping((X, Y))):
        mixed = ParameterMixing(PredtronClassifier(), rounds=1, shards=2).set_callbacks(callback)
        with pytest.raises(ValueError, match=r"estimator=ParameterMixing.* has no .*; accepted are Predtron estimators"):
            mixed.fit(X, Y)
        assert not hasattr(mixed, "estimator_")
        for shards in (1, 2):
            inner = ParameterMixing(PredtronClassifier().set_callbacks(copy.deepcopy(callback)), rounds=1, shards=shards)
            with pytest.warns(UserWarning, match="callbacks of the estimator are not called"):
                inner.fit(X, Y)
