"""Labels that a trained tagger did not know: what it had learned stays, and it goes on."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from sklearn_predtron import PredtronSequenceTagger
from sklearn_predtron.datasets import chunk_labels, make_sequences
from sklearn_predtron.losses import SequenceHamming


def data(n=60, labels=3, seed=0):
    X, y, sid = make_sequences(n, n_labels=labels, random_state=seed)
    return X, np.array(["b", "d", "f", "h", "j"])[y], sid


def scores_of(model):
    return {name: getattr(model, name) for name in ("coef_", "intercept_", "transitions_", "start_", "end_")}


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("norm", ["l2", "scaled"])
@pytest.mark.parametrize("average", ["linear", "auto", 5.0, False])
@pytest.mark.parametrize("new", [["a"], ["c", "z"], ["e"]])
def test_known_scores_stay_where_they_are(new, average, norm, as_rows):
    X, y, sid = data()
    model = PredtronSequenceTagger(norm=norm, average=average).partial_fit(as_rows(X), y, ["b", "d", "f"], sid=sid)
    before = scores_of(model)
    last = model.last_transitions_.copy()
    model.widen(classes=new)
    assert model.classes_.tolist() == sorted(["b", "d", "f", *new])
    at = np.searchsorted(model.classes_, ["b", "d", "f"])
    rest = np.setdiff1d(np.arange(len(model.classes_)), at)
    after = scores_of(model)
    for name in ("coef_", "intercept_", "start_", "end_"):
        np.testing.assert_array_equal(after[name][at], before[name])
        assert not after[name][rest].any()
    np.testing.assert_array_equal(after["transitions_"][np.ix_(at, at)], before["transitions_"])
    np.testing.assert_array_equal(model.last_transitions_[np.ix_(at, at)], last)
    assert not after["transitions_"][rest].any() and not after["transitions_"][:, rest].any()
    again = pickle.loads(pickle.dumps(model))
    others = np.where(np.arange(len(y)) % 7 == 0, new[0], y)
    for each in (model, again):
        each.partial_fit(as_rows(X), others, sid=sid)
    np.testing.assert_array_equal(again.transitions_, model.transitions_)
    assert new[0] in model.predict(as_rows(X), sid=sid)


def test_it_learns_as_from_the_start():
    """Where the new label is far below the others, the steps are those of a tagger that knew it from the start."""
    X, y, sid = data(40)
    weights = {"norm": "l2", "average": "linear", "update": "perceptron"}
    model = PredtronSequenceTagger(**weights).partial_fit(X, y, ["b", "d", "f"], sid=sid)
    known = PredtronSequenceTagger(**weights).partial_fit(X, y, ["b", "d", "f", "h"], sid=sid)
    model.widen(classes=["h"])
    Z, new, ids = data(60, 4, seed=1)
    for each in (model, known):
        for _ in range(5):
            each.partial_fit(Z, new, sid=ids)
    assert abs(model.score(Z, new, sid=ids) - known.score(Z, new, sid=ids)) < 0.05
    assert model.score(Z, new, sid=ids) > 0.5


def test_constraints():
    X, y, sid = data()
    tags = np.array(["O", "B-x", "I-x"])[np.searchsorted(["b", "d", "f"], y)]
    tags[np.append(True, sid[1:] != sid[:-1])] = "B-x"
    tags = chunk_labels(tags, sid)
    model = PredtronSequenceTagger(constraint="bio").partial_fit(X, tags, ["O", "B-x", "I-x"], sid=sid)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"lets no sequence come to the label\(s\) \['I-y'\]"):
        model.widen(classes=["I-y"])
    with pytest.raises(ValueError, match="constraint='bio' is for the labels"):
        model.widen(classes=["y"])
    assert pickle.dumps(model) == before
    model.widen(classes=["B-y", "I-y"])
    k = model.classes_.tolist()
    assert model.transitions_[k.index("O"), k.index("I-y")] == -np.inf and model.start_[k.index("I-y")] == -np.inf
    assert np.isfinite(model.transitions_[k.index("B-y"), k.index("I-y")])
    observed = PredtronSequenceTagger(constraint="observed").fit(X, y, sid=sid)
    with pytest.raises(ValueError, match="constraint='observed' allows what fit has seen"):
        observed.widen(classes=["z"])
    given = PredtronSequenceTagger(constraint=np.ones((4, 3), dtype=bool)).fit(X, y, sid=sid)
    with pytest.raises(ValueError, match=r"array of shape \(5, 4\)"):
        given.widen(classes=["z"])
    given.set_params(constraint=np.ones((5, 4), dtype=bool)).widen(classes=["z"]).partial_fit(X, y, sid=sid)


def test_what_else_there_is():
    X, y, sid = data()
    model = PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid).calibrate(X, y, sid=sid)
    model.widen(classes=["z"])
    assert not hasattr(model, "predict_proba")  # what scores of the new label mean is not known
    assert model.calibrate(X, y, sid=sid).predict_proba(X, sid=sid).shape == (len(y), 4)
    with pytest.raises(ValueError, match="are not of the type of those known"):
        model.widen(classes=[1])
    costs = PredtronSequenceTagger(loss=SequenceHamming(1 - np.eye(3)), random_state=0).fit(X, y, sid=sid)
    with pytest.raises(ValueError, match="costs"):
        costs.widen(classes=["z"])
    assert costs.classes_.tolist() == ["b", "d", "f"]
    one = PredtronSequenceTagger().partial_fit(X[:5], y[:5], ["b", "d", "f"], sid="one")
    one.partial_fit(X[5:9], y[5:9]).widen(classes=["z"], n_features=X.shape[1] + 2)
    wide = np.column_stack([X, np.ones((len(X), 2))])
    assert one.partial_fit(wide[:4], ["z", "z", "b", "z"]).predict(wide[:4], sid="one").shape == (4,)
