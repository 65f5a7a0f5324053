"""River's estimators of trained and loaded ones continue with what these have learned: the oracle is `partial_fit` on arrays."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

import sklearn_predtron
from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron.river import to_river

pytest.importorskip("river.base", reason="river is not installed")
pd = pytest.importorskip("pandas", reason="the names of columns are those of pandas frames")

UNITS = np.array([1.0, 1000.0, 0.001])  # of columns, of which a warning would speak under "l2"
NAMES = ["a", "b", "c"]


def rows(n, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 3))
    return X * UNITS, (X @ [[1, 0, -1], [-1, 1, 0], [0, -1, 1]]).argmax(axis=1)


def as_dicts(X, names=NAMES):
    return [dict(zip(names, x, strict=True)) for x in X.tolist()]


@pytest.fixture(autouse=True)
def no_warning():
    """No warning about norms, formats or names."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("kind", [PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier])
@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_classes_continue(tmp_path, kind, learn, named):
    """On rows of a table under "scaled", which "auto" is for them, for more than the 300 rows that a warning looks at."""
    X, y = rows(900)
    y = y if kind is not PredtronBinaryClassifier else y > 0
    first = pd.DataFrame(X[:500], columns=NAMES) if named else X[:500]
    how = {"classes": np.unique(y)} if learn == "partial_fit" else {}
    trained = getattr(kind(random_state=0), learn)(first, y[:500], **how)
    trained.save(tmp_path / "m")
    expected = getattr(kind(random_state=0), learn)(X[:500], y[:500], **how).partial_fit(X[500:], y[500:])
    for estimator in (trained, sklearn_predtron.load(tmp_path / "m")):
        names = NAMES if named else range(3)
        model, before = to_river(estimator), estimator.coef_.copy()
        assert [model.predict_one(x) for x in as_dicts(X[500:], names)] == trained.predict(
            X[500:] if not named else pd.DataFrame(X[500:], columns=NAMES)
        ).tolist()
        for x, label in zip(as_dicts(X[500:], names), y[500:].tolist(), strict=True):
            model.learn_one(x, label)
        assert model.model.t_ == expected.t_ and model.model.norm_ == "scaled"
        assert_allclose(model.model.coef_, expected.coef_, rtol=1e-6)
        assert_array_equal(estimator.coef_, before)


def test_features_and_labels_may_follow():
    """A key and a class that the estimator did not know, and a missing value, which is the mean of the rows of before."""
    X, y = rows(400)
    model = to_river(PredtronClassifier(random_state=0).fit(X + 5 * UNITS, np.minimum(y, 1)))
    mean = (X + 5 * UNITS).mean(axis=0)
    found = [model.predict_proba_one({0: 4.0, 1: value, 2: 0.005}) for value in (None, mean[1])]
    assert found[0] == pytest.approx(found[1], rel=1e-6)
    model.learn_one({0: 4.0, "new": 1.0}, 7)
    assert model.feature_names == [0, 1, 2, "new"] and model.model.classes_.tolist() == [0, 1, 7]


def test_tables_continue():
    """Under a feature map a dict is a row of the table."""
    X, y = rows(800)
    y = (np.abs(X[:, 0]) > 0.7).astype(int)
    frame = pd.DataFrame(X, columns=NAMES)
    trained = PredtronBinaryClassifier(features="piecewise", random_state=0).fit(frame[:600], y[:600])
    model = to_river(trained)
    for x, label in zip(as_dicts(X[600:]), y[600:].tolist(), strict=True):
        model.learn_one(x, label)
    expected = PredtronBinaryClassifier(features="piecewise", random_state=0).fit(X[:600], y[:600]).partial_fit(X[600:], y[600:])
    assert_array_equal(model.model.decision_function(X), expected.decision_function(X))


def test_other_kinds_continue():
    """Sets, rankings of labels and of documents, sentences and batches predict as before, and learn."""
    X, y = rows(120)
    sid, on, one = np.arange(120) // 6, np.eye(3, dtype=int)[y], as_dicts(X[:6], range(3))
    frame = pd.DataFrame(on, columns=["red", "green", "blue"])
    sets = PredtronMultilabelClassifier(random_state=0).fit(X, frame)
    model = to_river(sets)
    assert list(map(list, map(dict.values, map(model.predict_one, one)))) == sets.predict(X[:6]).astype(bool).tolist()
    model.learn_one(one[0], {"red": True, "large": False})
    assert model.label_names == ["red", "green", "blue", "large"]
    ranker = PredtronLabelRanker(random_state=0, features=None).fit(X, on)
    model = to_river(ranker)
    assert list(model.predict_one(one[0]).values()) == ranker.predict(X[:1])[0].tolist()
    model.learn_one(one[0], {0: 1.0})
    documents = PredtronRanker(random_state=0).fit(X, y, qid=sid)
    model = to_river(documents)
    assert_allclose(model.predict_one(one), documents.predict(X[:6]), rtol=1e-9, atol=1e-12)
    model.learn_one(one, y[:6].tolist())
    tagger = PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid)
    model = to_river(tagger)
    assert model.predict_one(one) == tagger.predict(X[:6], sid="one").tolist()
    model.learn_one(one, y[:6].tolist())
    batches = PredtronBipartiteClassifier(random_state=0, batch_size=8).fit(X, y > 0)
    model, before = to_river(batches), batches.t_
    assert [model.predict_one(x) for x in one] == batches.predict(X[:6]).tolist()
    for x, label in zip(as_dicts(X[:16], range(3)), (y[:16] > 0).tolist(), strict=True):
        model.learn_one(x, label)
    assert model.model.t_ == before + 2


@pytest.mark.parametrize("norm", ["l2", "scaled"])
def test_saved_in_a_model_file(tmp_path, norm):
    """The file has the names: what is made of it predicts and learns to the same bits as the model that was saved."""
    X, y = rows(200)
    X = X / UNITS
    model = to_river(PredtronClassifier(norm=norm))
    dicts = as_dicts(X)
    for x, label in zip(dicts[:100], y[:100].tolist(), strict=True):
        model.learn_one(x, label)
    model.save(tmp_path / "m")
    assert sklearn_predtron.load(tmp_path / "m").feature_names_in_.tolist() == NAMES
    other = to_river(sklearn_predtron.load(tmp_path / "m"))
    assert other.feature_names == NAMES
    for x, label in zip(dicts[100:], y[100:].tolist(), strict=True):
        assert other.predict_proba_one(x) == model.predict_proba_one(x)
        other.learn_one(x, label), model.learn_one(x, label)
    assert_array_equal(other.model.coef_, model.model.coef_)


def test_what_cannot_be_saved_or_continued(tmp_path):
    model = to_river(PredtronBinaryClassifier())
    with pytest.raises(ValueError, match="there is no model to save yet"):
        model.save(tmp_path / "m")
    model.learn_one({("a", 1): 1.0}, True)
    with pytest.raises(ValueError, match=r"the keys \[\('a', 1\)\] are not all strings"):
        model.save(tmp_path / "m")
    X, y = rows(60)
    trained = PredtronClassifier().partial_fit(csr_array(X), y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"classes=\[0, 1, 2\] must be None for a trained estimator"):
        to_river(trained, classes=[0, 1, 2])
    table = pd.DataFrame({"kind": np.where(y > 0, "x", "y")})
    with pytest.raises(ValueError, match="was trained on a table with categories"):
        to_river(PredtronClassifier(features="piecewise").fit(table, y))
