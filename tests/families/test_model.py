"""The model, one value that holds what was learned: scores in blocks, packed and unpacked, and made of another."""

import dataclasses
import pickle

import numpy as np
import pytest
from cases import needs_callbacks
from scipy import sparse
from sklearn.base import clone

from sklearn_predtron import PredtronBipartiteClassifier, PredtronClassifier, PredtronMultilabelClassifier, PredtronRanker
from sklearn_predtron.callbacks import LossHistory
from sklearn_predtron.decisions._base import PLAIN, Decision
from sklearn_predtron.decisions._calibration import LabelScores
from sklearn_predtron.decisions._fixed_threshold import CutAt
from sklearn_predtron.families.model.model import UNSAVED_FIELDS, Model
from sklearn_predtron.families.training import trainer
from sklearn_predtron.families.training.plan import FOLDS_SEED, folds_of, generator_of, seed_of
from sklearn_predtron.families.training.trainer import Trainer
from sklearn_predtron.losses import Reject
from sklearn_predtron.norms import RKHS
from sklearn_predtron.predictor import _scoring as scoring
from sklearn_predtron.updates import Adaptive
from tests.own_checks import assert_same

X = np.random.default_rng(0).standard_normal((100, 5))
Y = X[:, :3].argmax(axis=1)


def learned(kind=PredtronClassifier, y=Y, **how):
    return kind(random_state=0, **how).fit(X, y)._model


def test_scores_are_of_the_weights_that_predict():
    model = learned(norm="l2")
    coef, intercept = model.learner.read(lambda weights: weights.mean())
    np.testing.assert_allclose(model.scores(X), X @ coef.T + intercept, rtol=1e-12)
    np.testing.assert_array_equal(model.decoded(X, PLAIN), model.scores(X).argmax(axis=1))
    cut = CutAt(LabelScores(), np.array([1.0, 2.0, -1.0]))
    np.testing.assert_allclose(model.scores(X, cut), model.scores(X) - cut.cuts, rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("block", [1, 6, 30, 299, 300])
def test_blocks_change_no_bit(form, block, monkeypatch):
    """Whatever a block's size; each is packed before the next is made."""
    model = learned(PredtronMultilabelClassifier, (X[:, :3] > 0).astype(int))
    cut = CutAt(LabelScores(), np.array([0.5, 0.0, -0.5]))
    rows, packed = form(X), []

    def pack(found):
        packed.append(len(found))
        return sparse.csr_array(found)

    whole = model.scores(rows, cut), model.decoded(rows, cut)
    monkeypatch.setattr(scoring, "BLOCK", block)
    np.testing.assert_array_equal(model.scores(rows, cut), whole[0])
    np.testing.assert_array_equal(model.decoded(rows, cut), whole[1])
    found = model.decoded(rows, cut, pack)
    assert type(found) is sparse.csr_array
    np.testing.assert_array_equal(found.toarray(), whole[1])
    size = max(1, block // 3)
    assert packed == [min(size, 100 - first) for first in range(0, 100, size)]


@pytest.mark.parametrize("block", [3, 1000])
@pytest.mark.parametrize(("asks", "once"), [(False, 1), (True, 1)])
def test_a_decision_is_asked_once_for_all_blocks(block, asks, once, monkeypatch):
    calls = []

    class Asked(Decision):
        needs_scores = asks
        shifts = True

        def fitted(self, unseen):
            calls.append(unseen.values)
            return self

    monkeypatch.setattr(scoring, "BLOCK", block)
    model = learned().replace(fitted_decision="what was settled")
    for predict in (model.scores, model.decoded):
        predict(X, Asked())
        assert calls == ["what was settled"] * once
        calls.clear()


def test_what_was_not_finite_is_said_and_not_that_it_overflows():
    for norm in ("l2", RKHS()):
        model = learned(norm=norm)
        for bad, message in [(np.nan, "NaN"), (np.inf, "infinity")]:
            rows = X.copy()
            rows[3, 2] = bad
            with pytest.raises(ValueError, match=message):
                model.scores(rows)


def test_another_model_differs_in_what_is_given_alone():
    model = learned()
    assert model.stream is not None or model.is_current is False
    other = model.replace(fitted_decision=3)
    for field in dataclasses.fields(Model):
        if field.name not in ("fitted_decision", *UNSAVED_FIELDS):
            assert getattr(other, field.name) is getattr(model, field.name)
    assert (other.fitted_decision, other.stream, other.is_current) == (3, None, False)
    assert other.cached_decision[-1] is None and other.parameters is not model.parameters
    assert model.fitted_decision != 3


def test_a_closed_stream_takes_no_more():
    model = PredtronClassifier().partial_fit(X, Y, classes=[0, 1, 2])._model
    stream, rounds = model.stream, model.learner.t
    assert model.is_current and stream.take(X[:1], Y[:1])
    model.close_stream()
    assert (model.stream, model.is_current) == (None, False)
    assert not stream.take(X[:1], Y[:1]) and model.learner.t == rounds + 1
    model.close_stream()  # twice is no error


def test_another_format_is_noted_once():
    model = learned()
    rows = {form: model.read_rows(kind(X))[1] for form, kind in (("dense", np.asarray), ("CSR", sparse.csr_array))}
    model.warn_of_other_format(rows["dense"], "auto")
    assert model.first_sparse is False
    model.warn_of_other_format(rows["CSR"], "scaled")  # the norm is given now
    assert model.first_sparse is False
    with pytest.warns(UserWarning, match="X is CSR, and the first rows were dense"):
        model.warn_of_other_format(rows["CSR"], "auto")
    assert model.first_sparse is None and model.stream is None
    model.warn_of_other_format(rows["CSR"], "auto")
    given = learned(norm="l2")
    assert given.first_sparse is None
    given.warn_of_other_format(rows["CSR"], "auto")


@pytest.mark.parametrize(
    "make",
    [
        learned,
        lambda: learned(norm=RKHS()),
        lambda: learned(PredtronMultilabelClassifier, (X[:, :3] > 0).astype(int), decision="macro_f1"),
        lambda: PredtronRanker(random_state=0).fit(X, Y, qid=np.arange(100) // 5)._model,
    ],
    ids=["classes", "kernel", "cut sets", "queries"],
)
def test_packed_and_unpacked(make):
    """Plain names, numbers and arrays, by which the same is predicted; what belongs to a process is not among them."""
    model = make()
    packed = model.packed()
    assert "sklearn_predtron._" not in str(pickle.dumps(packed)).replace("sklearn_predtron.losses", "")
    assert packed["parts"][-1]["kind"] == "Model"
    names = [name for name, _ in packed["parts"][-1]["state"]]
    assert names == [field.name for field in dataclasses.fields(Model) if field.name not in UNSAVED_FIELDS]
    again = Model.unpacked(pickle.loads(pickle.dumps(packed)))
    assert (again.stream, again.is_current) == (None, False)
    np.testing.assert_array_equal(again.scores(X), model.scores(X))
    assert pickle.dumps(again.packed()) == pickle.dumps(Model.unpacked(again.packed()).packed())
    assert (
        again.columns == model.columns
        and again.fit_record.keys() == model.fit_record.keys()
        and again.call_metadata == model.call_metadata
    )
    assert (again.fitted_decision is None) == (model.fitted_decision is None)


def test_margins_at_unit_norm():
    model = learned(norm="l2")
    coef, intercept = model.learner.read(lambda weights: weights.mean())
    length = model.learner.read(lambda weights: weights.length())
    np.testing.assert_allclose(model.at_unit_norm(np.array([1.0, -2.0])), np.array([1.0, -2.0]) / length)
    assert length >= np.linalg.norm(coef) > 0 and len(intercept) == 3
    zero = PredtronClassifier(norm="l2").partial_fit(X[:1] * 0, [0], classes=[0, 1], sample_weight=[0.0])._model
    assert np.isnan(zero.at_unit_norm(np.ones(2))).all()
    assert type(zero.learner.update).__name__ == "AdaptiveRule" and Adaptive.alias == "adaptive"


# ------------------------------------------------------------------------------------------------------------- calls that learn

ROWS = np.random.default_rng(0).standard_normal((90, 4))
LABELS = ROWS[:, :3].argmax(axis=1)
WARM = {"warm_start": True}
KINDS = [{}, {"norm": "l2"}, {"norm": RKHS()}, {"reject": Reject(0.2, -1)}, WARM, {**WARM, "norm": RKHS()}]


def bits(model):
    return pickle.dumps(model.packed())


@pytest.mark.parametrize("how", KINDS, ids=str)
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_a_call_that_fails_leaves_the_very_same_model(how, call):
    model = PredtronClassifier(random_state=0, **how).fit(ROWS, LABELS)
    before, content, scores = model._model, bits(model._model), model._model.scores(ROWS)
    stream, bad, late = before.stream, ROWS.copy(), ROWS.copy()
    bad[0, 0], late[-1, 2] = np.nan, np.inf
    for rows, labels in (
        (bad, LABELS),
        (late, LABELS),
        (ROWS, LABELS[1:]),
        (ROWS[:, 1:], LABELS) if call == "partial_fit" else (ROWS[:0], LABELS[:0]),
    ):
        with pytest.raises(ValueError, match=r"NaN|infinity|same number|features|0 sample"):
            getattr(model, call)(rows, labels)
        assert model._model is before and model._model.stream is stream
        np.testing.assert_array_equal(before.scores(ROWS), scores)
        assert bits(before) == content


@pytest.mark.parametrize("how", KINDS, ids=str)
def test_a_fit_makes_a_model_and_leaves_the_one_before_as_it_was(how):
    model = PredtronClassifier(random_state=0, **how, cv=0).fit(ROWS, LABELS)
    before, content, scores = model._model, bits(model._model), model._model.scores(ROWS)
    rounds = model.t_
    model.fit(ROWS, (LABELS + 1) % 3)
    assert model._model is not before and model._model.learner is not before.learner
    np.testing.assert_array_equal(before.scores(ROWS), scores)
    assert bits(before) == content
    assert model.t_ == (2 * rounds if how.get("warm_start") else rounds)


@pytest.mark.parametrize("when", [1, 3])
@pytest.mark.parametrize("known", [False, True])
def test_an_interrupt_leaves_the_rounds_that_were_learned(when, known, monkeypatch):
    model = PredtronClassifier(random_state=0, cv=0)
    before = model.fit(ROWS[:30], LABELS[:30])._model if known else None
    learn, epochs = trainer.learn_epoch, []

    def interrupted(*given, **how):
        epochs.append(given)
        if len(epochs) == when:
            raise KeyboardInterrupt
        return learn(*given, **how)

    monkeypatch.setattr(trainer, "learn_epoch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(ROWS, LABELS)
    if when == 1:
        assert model._model is before
    else:
        assert model.t_ == 2 * len(ROWS) and model.n_iter_ == 2


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

    whole = PredtronBipartiteClassifier(random_state=0, decision="learned").partial_fit(
        ROWS, LABELS > 0, **given, classes=[False, True]
    )
    model = PredtronBipartiteClassifier(random_state=0, decision="learned")
    model.partial_fit(ROWS[:60], LABELS[:60] > 0, groups=given["groups"][:60], classes=[False, True])
    monkeypatch.setattr(Trainer, "publish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        if verb == "fit":
            model.fit(ROWS, LABELS > 0, **given)
        else:
            model.partial_fit(ROWS[60:], LABELS[60:] > 0, groups=given["groups"][60:])
    assert len(moments) >= 2 and model.t_ == moments[0]
    monkeypatch.undo()
    assert_same(model, whole if verb == "partial_fit" else clone(model).fit(ROWS, LABELS > 0, **given), "interrupted at last")


class Looking:
    """Notes what it is shown in each epoch."""

    def __init__(self, estimator):
        self.estimator, self.seen = estimator, []

    def look(self, view):
        self.seen.append((view is self.estimator, self.estimator._model, view._model, view.t_, view.predict(ROWS).tolist()))
        view.noted_ = len(self.seen)


@needs_callbacks
def test_callbacks_see_a_view_of_the_estimator():
    """Of the model in progress, while the estimator still has the one before."""
    model = PredtronClassifier(random_state=0, max_iter=3, cv=0).fit(ROWS[:30], LABELS[:30])
    before, looking = model._model, Looking(model)

    class Callback(LossHistory):
        def on_fit_task_end(self, estimator, context, **given):
            if context.task_name == "epoch":
                assert type(estimator) is PredtronClassifier and estimator.get_params() == model.get_params()
                looking.look(estimator)

    model.set_callbacks(Callback()).fit(ROWS, LABELS)
    assert [one for one, *_ in looking.seen] == [False] * 3
    assert all(there is before for _, there, *_ in looking.seen)
    assert len({id(shown) for _, _, shown, *_ in looking.seen}) == 1 and looking.seen[0][2] is model._model
    assert [t for *_, t, _ in looking.seen] == [90, 180, 270]
    assert looking.seen[-1][-1] == model.predict(ROWS).tolist()
    assert model.noted_ == 3


def test_a_trainer_publishes_at_the_end_and_undoes_errors():
    model = PredtronClassifier(random_state=0).fit(ROWS, LABELS)
    mine, other = model._model, PredtronClassifier(random_state=1).fit(ROWS, LABELS)._model
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
    model = PredtronClassifier().partial_fit(ROWS, LABELS, classes=[0, 1, 2])
    first = model._model
    assert model.partial_fit(ROWS[:1], LABELS[:1])._model is first
    model.partial_fit(ROWS, LABELS, sample_weight=np.ones(90))
    assert model._model is not first and model._model.learner.weights is first.learner.weights
    model.set_params(update="perceptron").partial_fit(ROWS, LABELS)
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
    model = PredtronMultilabelClassifier(random_state=0).fit(ROWS, np.eye(3, dtype=int)[LABELS])
    weights = model._model.learner.weights
    averages = weights.averaging
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(ROWS * np.nan, np.eye(3, dtype=int)[LABELS])
    assert weights.averaging == averages
    model.partial_fit(ROWS, np.eye(3, dtype=int)[LABELS])
    assert model._model.learner.weights is weights and weights.averaging > averages
