"""The model, one value that holds what was learned: scores in blocks, packed and unpacked, and made of another."""

import dataclasses
import pickle

import numpy as np
import pytest
from scipy import sparse

from sklearn_predtron import PredtronClassifier, PredtronMultilabelClassifier, PredtronRanker
from sklearn_predtron.decisions._base import PLAIN, Decision
from sklearn_predtron.decisions._calibration import LabelScores
from sklearn_predtron.decisions._fixed_threshold import CutAt
from sklearn_predtron.families.model.model import UNSAVED_FIELDS, Model
from sklearn_predtron.norms import RKHS
from sklearn_predtron.predictor import _scoring as scoring
from sklearn_predtron.updates import Adaptive

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
