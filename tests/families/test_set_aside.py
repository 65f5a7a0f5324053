"""What a tagger chooses by sequences that it sets aside, before it learns all."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sklearn_predtron import PredtronSequenceTagger
from sklearn_predtron._support.chunks import are_chunks, wrong_chunks
from sklearn_predtron._support.queries import sequences_of
from sklearn_predtron.datasets import make_sequences
from sklearn_predtron.families.training import runs
from sklearn_predtron.losses import SequenceHamming
from sklearn_predtron.metrics import chunk_precision_recall_fscore_support

LEARNED = ("coef_", "intercept_", "transitions_", "start_", "end_", "last_coef_", "t_", "n_iter_", "cumulative_loss_")


def text(n=200, **how):
    """Text with few chunks."""
    return make_sequences(n, 5, 2000, n_active=10, noise=0.7, bio=True, outside=0.8, random_state=0, **how)


def letters(n=200):
    """Rows of numbers whose labels are plain."""
    X, y, sid = make_sequences(n, 4, 6, random_state=0)
    return 30 * X, np.array(list("abcd"))[y], sid


def chosen(model):
    """The parameters that a fit has chosen, and its epochs."""
    return {**model._model.labels.chosen, "max_iter": model.n_iter_}


def assert_same(one, other):
    for name in LEARNED:
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize(
    "how", [{}, {"max_iter": 4}, {"max_iter": 15}, {"loss": "hamming"}, {"transition_scaling": 0.3}, {"tol": 0.1}]
)
@pytest.mark.parametrize("data", [text, letters])
def test_all_is_learned_in_the_way_that_is_chosen(data, how):
    """To the last bit what a learner of all sequences learns that is told what was chosen."""
    X, y, sid = data()
    model = PredtronSequenceTagger(random_state=3, **how).fit(X, y, sid=sid)
    told = PredtronSequenceTagger(random_state=3, **{**how, **chosen(model), "cv": 0}).fit(X, y, sid=sid)
    assert_same(model, told)
    assert not hasattr(told, "held_out_loss_")
    assert model.n_iter_ <= max(model.held_out_loss_) <= how.get("max_iter", 25)


def test_what_is_tried_fits_the_data():
    """Features that are there or not have an intercept of their length; large numbers have one of the length of rows."""
    X, y, sid = text(400)
    assert chosen(PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid))["intercept_scaling"] == 1
    scaled, y, sid = letters(400)
    model = PredtronSequenceTagger(norm="l2", random_state=0).fit(scaled, y, sid=sid)
    assert chosen(model)["intercept_scaling"] == "length"
    other = PredtronSequenceTagger(norm="l2", random_state=0).fit(sparse.csr_array(scaled), y, sid=sid)
    assert chosen(other) == chosen(model)  # in whatever form


@pytest.mark.parametrize("seed", range(4))
def test_the_best_candidate_is_chosen(seed, monkeypatch):
    """First the scales of features, each at its best number of epochs, then the loss after as many epochs."""
    results, run = [], runs.TrainingRun.run
    monkeypatch.setattr(runs.TrainingRun, "run", lambda *given: results.append(run(*given)) or results[-1])
    X, y, sid = text()
    model = PredtronSequenceTagger(random_state=seed).fit(X, y, sid=sid)
    one, other, by_loss = results
    assert list(one.scores) == list(other.scores) == [10, 25] and one.candidate.labels.chosen != other.candidate.labels.chosen
    scales = min(one, other, key=lambda result: result.checkpoint.score.loss)
    assert by_loss.candidate.labels.chosen == {**scales.candidate.labels.chosen, "loss": "zero_one"}
    assert list(by_loss.scores) == [scales.checkpoint.epochs]
    best = min(scales, by_loss, key=lambda result: result.checkpoint.score.loss)
    assert chosen(model) == {**best.candidate.labels.chosen, "max_iter": scales.checkpoint.epochs}
    assert model.held_out_loss_ == {epochs: score.loss for epochs, score in best.scores.items()}


def test_a_loss_is_chosen_for_chunks_alone():
    X, y, sid = letters()
    assert PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid).loss_ == "hamming"
    costs = SequenceHamming(1 - np.eye(4))
    assert PredtronSequenceTagger(loss=costs, random_state=0).fit(X, y, sid=sid).loss_ is costs


def test_wrong_chunks_are_those_of_precision_and_recall():
    """p + t - 2 a, for a chunks that are right, of p that are predicted and t that are there."""
    random = np.random.default_rng(0)
    labels = np.array(["O", "B-x", "I-x", "B-y", "I-y", "S-x", "E-y"])
    for _ in range(50):
        sid = np.sort(random.integers(0, 6, 60))
        true, predicted = labels[random.integers(0, 7, 60)], labels[random.integers(0, 7, 60)]
        for ids in (sid, random.permutation(sid)):
            found = wrong_chunks(true.tolist(), predicted.tolist(), sequences_of(ids, 60, "y"))
            assert len(found) == len(set(ids))
            expected = []
            for i in dict.fromkeys(ids.tolist()):
                precision, recall, _, t = chunk_precision_recall_fscore_support(
                    true[ids == i], predicted[ids == i], average="micro"
                )
                a = recall * t
                p = a / precision if precision else count_of_chunks(predicted[ids == i])
                expected.append(p + t - 2 * a)
            assert_allclose(found, expected)


def count_of_chunks(labels):
    return chunk_precision_recall_fscore_support(labels, labels, average="micro")[3]


def test_labels_of_chunks():
    assert are_chunks(["O", "B-x", "I-x"]) and are_chunks(["B", "I", "O"])
    for labels in (["O"], ["B-x", "I-x"], ["O", "B-x", "NN"], [0, 1], ["a", "b"]):
        assert not are_chunks(labels)


def test_probabilities_are_there_after_a_fit():
    """They are as good as those of sequences that were set aside by hand."""
    X, y, sid = letters(600)
    first, second, rest = sid < 300, (sid >= 300) & (sid < 400), sid >= 400
    model = PredtronSequenceTagger(random_state=0).fit(X[first], y[first], sid=sid[first])
    at = np.arange(rest.sum()), np.searchsorted(model.classes_, y[rest])
    own = -np.log(model.predict_proba(X[rest], sid=sid[rest])[at]).mean()
    by_hand = model.calibrate(X[second], y[second], sid=sid[second]).predict_proba(X[rest], sid=sid[rest])
    assert own < 1.05 * -np.log(by_hand[at]).mean() < np.log(4)


@pytest.mark.parametrize("how", [{"cv": 0}, {"average": "auto"}, {"warm_start": True}])
def test_nothing_is_set_aside(how):
    X, y, sid = letters()
    model = PredtronSequenceTagger(random_state=0, **how).fit(X, y, sid=sid)
    assert not hasattr(model, "held_out_loss_") and not hasattr(model, "predict_proba") and model.n_iter_ == 20


def test_too_few_sequences():
    X, y, sid = letters(19)
    assert not hasattr(PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid), "held_out_loss_")
    X, y, sid = letters(20)
    assert hasattr(PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid), "held_out_loss_")


def test_tokens_of_sequences_that_lie_apart():
    X, y, sid = text()
    order = np.argsort(np.concatenate([np.arange(n) for n in np.bincount(sid)]), kind="stable")  # first tokens first
    one = PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid)
    assert_same(one, PredtronSequenceTagger(random_state=0).fit(X[order], y[order], sid=sid[order]))


def test_what_is_chosen_lasts():
    """In streams after the fit, in pickles, and with labels that come later."""
    X, y, sid = text()
    model = PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid)
    told = PredtronSequenceTagger(random_state=0, **{**chosen(model), "cv": 0}).fit(X, y, sid=sid)
    copied = pickle.loads(pickle.dumps(model))
    for tagger in (model, told, copied):
        tagger.partial_fit(X[:40], y[:40], sid=sid[:40])
    assert_same(model, told)
    assert_same(model, copied)
    for tagger in (model, told):
        tagger.widen(classes=["B-2", "I-2"])
        tagger.partial_fit(X[:40], y[:40], sid=sid[:40])
    assert_same(model, told)
    assert model.loss_ == told.loss_


@pytest.mark.parametrize("cv", [0, None])
def test_a_fit_does_not_depend_on_the_one_before(cv):
    X, y, sid = text(40)
    for first, second in ((X, X.toarray()), (X.toarray(), X)):
        model = PredtronSequenceTagger(random_state=0, cv=cv).fit(first, y, sid=sid).fit(second, y, sid=sid)
        assert_same(model, PredtronSequenceTagger(random_state=0, cv=cv).fit(second, y, sid=sid))


def test_predictions_are_those_of_what_was_learned():
    """Whatever parameters have been set since."""
    X, y, sid = text(40)
    model = PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid)
    predicted = model.predict(X, sid=sid)
    model.set_params(norm="none", intercept_scaling=-1)
    assert_array_equal(model.predict(X, sid=sid), predicted)
    with pytest.raises(ValueError, match="intercept_scaling"):
        model.partial_fit(X, y, sid=sid)


def test_folds_choose_among_the_same_ways():
    X, y, sid = text(60)
    model = PredtronSequenceTagger(random_state=0, cv=3).fit(X, y, sid=sid)
    assert min(model.held_out_loss_.values()) == model.held_out_loss_[model.n_iter_]
    P = model.predict_proba(X, sid=sid)
    assert_allclose(P.sum(axis=1), 1)
    assert -np.log(P[np.arange(len(y)), np.searchsorted(model.classes_, y)]).mean() < np.log(5)


@pytest.mark.parametrize("cv", [None, 3])
def test_labels_in_a_column(cv):
    """They are learned as others, with scikit-learn's warning, once."""
    X, y, sid = text(60)
    model = PredtronSequenceTagger(random_state=0, cv=cv).fit(X, y, sid=sid)
    with pytest.warns(UserWarning, match="A column-vector y was passed") as noted:
        other = PredtronSequenceTagger(random_state=0, cv=cv).fit(X, y[:, np.newaxis], sid=sid)
    assert len(noted) == 1
    assert_same(model, other)
    assert model.held_out_loss_ == other.held_out_loss_


@pytest.mark.parametrize("norm", ["auto", "l2"])
def test_columns_as_they_are_have_the_scaling_that_predicts_best(norm):
    """Folds choose it under "auto" as without a map, and the model is that of the scaling given."""
    X, y, sid = make_sequences(100, 4, 30, random_state=1)
    model = PredtronSequenceTagger(features="auto", norm=norm, random_state=0, cv=3).fit(X, y, sid=sid)
    assert model._model.columns.features is None
    told = [
        {"intercept_scaling": scaling, "transition_scaling": 0.1 if scaling == "length" else 1.0} for scaling in ("length", 1.0)
    ]
    alone = [PredtronSequenceTagger(norm=norm, random_state=0, cv=3, **one).fit(X, y, sid=sid) for one in told]
    least = [min(one.held_out_loss_.values()) for one in alone]
    best = int(np.argmin(least))
    assert least[0] != least[1] and model._model.labels.chosen["intercept_scaling"] == told[best]["intercept_scaling"]
    assert_same(model, alone[best])
    assert model.held_out_loss_ == alone[best].held_out_loss_


@pytest.mark.parametrize(
    "damaged",
    [
        5,
        "x",
        [["loss", "hamming"]],
        {"loss": "f1"},
        {"loss": None},
        {"loss": 1.0},
        {"intercept_scaling": "wide"},
        {"intercept_scaling": -1.0},
        {"transition_scaling": "length"},
        {"transition_scaling": np.nan},
        {"unheard_of": 1.0},
    ],
    ids=str,
)
def test_a_saved_choice_that_cannot_be_is_refused(damaged):
    X, y, sid = text(25)
    model = PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid)
    state = model.__getstate__()
    codec = next(part for part in state["_model"]["parts"] if part["kind"] == "Tokens")
    codec["state"] = [[name, damaged if name == "chosen" else value] for name, value in codec["state"]]
    with pytest.raises(ValueError, match="saved model is damaged: TypeError"):
        model.__setstate__(state)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_what_ends_between_two_ways_leaves_one_of_them(error):
    """An error the one before the fit, and an interrupt the one that was learned last, not half of the next one."""

    class Failing(SequenceHamming):
        left = 10**6

        def build(self, *given):
            Failing.left -= 1
            if Failing.left == 0:
                raise error("no")
            return super().build(*given)

        def __copy__(self):
            return self

    X, y, sid = letters(40)
    seen = set()
    for calls in range(1, 100):
        model = PredtronSequenceTagger(random_state=0, cv=0, max_iter=2).fit(X, y, sid=sid)
        before, saved = model._model, pickle.dumps(model._model)
        Failing.left = calls
        try:
            model.set_params(loss=Failing(), cv=3, max_iter=None).fit(X, y, sid=sid)
        except error:
            Failing.left = 10**6
        else:
            break
        if error is RuntimeError or model._model is before:
            assert pickle.dumps(model._model) == saved
        else:
            scaling = model._model.labels.chosen["intercept_scaling"]
            told = {"intercept_scaling": scaling, "transition_scaling": 0.1 if scaling == "length" else 1.0, "cv": 3}
            other = PredtronSequenceTagger(loss="hamming", random_state=0, max_iter=model.n_iter_, **told).fit(X, y, sid=sid)
            assert_array_equal(model.coef_, other.coef_)
            seen.add(scaling)
    assert 1 < calls < 99 and (not seen if error is RuntimeError else seen)


def test_a_fit_that_fails_leaves_the_tagger_as_it_was():
    class Failing(SequenceHamming):
        def evaluate(self, *given):
            raise RuntimeError("no")

    X, y, sid = letters()
    model = PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid)
    before = pickle.dumps(model._model)
    model.set_params(loss=Failing())
    with pytest.raises(RuntimeError, match=r"^no$"):
        model.fit(X, y, sid=sid)
    assert pickle.dumps(model._model) == before
