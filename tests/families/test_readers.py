"""One reader of labels for each family: what it reads at once is what it reads the long way."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone

from sklearn_predtron import (
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronSequenceTagger,
)

X = np.random.default_rng(0).standard_normal((12, 3))
CODES = np.arange(12) % 3
SETS = (X > 0).astype(int)
CASES = {
    "numbers": (PredtronClassifier, CODES - 1),
    "names": (PredtronClassifier, np.array(["a", "b", "c"])[CODES]),
    "floats": (PredtronOrdinalClassifier, CODES + 0.0),
    "truths": (PredtronClassifier, CODES > 0),
    "sets": (PredtronMultilabelClassifier, SETS),
    "sets of floats": (PredtronMultilabelClassifier, SETS.astype(float)),
    "one label": (PredtronMultilabelClassifier, SETS[:, 0]),
    "relevances": (PredtronLabelRanker, SETS * CODES[:, None]),
}


def content(labels):
    """What labels hold, whatever they are called."""
    names = [name for name in ("array", "dense", "relevances", "start") if hasattr(labels, name)]
    found = [getattr(labels, name) for name in names]
    assert found
    return [type(labels).__name__, *(np.asarray(part() if callable(part) else part).tolist() for part in found)]


@pytest.mark.parametrize("name", CASES)
def test_both_ways_read_the_same(name):
    kind, y = CASES[name]
    reader = kind(random_state=0).fit(X, y)._model.labels.short()
    expected = content(reader.labels(y))
    assert content(reader.read_any(y)) == expected
    forms = [list(y), pd.Series(y) if y.ndim == 1 else pd.DataFrame(y), np.asfortranarray(y), y.astype(object)]
    forms += [sparse.csr_matrix(y).toarray()] if y.ndim == 2 else []
    assert [content(reader.labels(form)) for form in forms] == [expected] * len(forms)


@pytest.mark.parametrize("name", CASES)
def test_both_ways_refuse_the_same(name):
    """In `partial_fit` and in `sample_loss` alike, by one message."""
    kind, y = CASES[name]
    model = kind(random_state=0).fit(X, y)
    wrong = np.full_like(y, "d" if y.dtype.kind == "U" else 7) if y.dtype != bool else np.full(12, 2)
    wrong = -wrong if kind is PredtronLabelRanker else wrong
    messages = []
    for call in (model.partial_fit, model.fit(X, y).set_params(warm_start=True).fit, model.sample_loss):
        with pytest.raises(ValueError, match=r"^y ") as refused:
            call(X, wrong)
        messages.append(str(refused.value))
    assert len(set(messages)) == 1, messages


@pytest.mark.parametrize("y", [np.array(1), 1, None, {}], ids=str)
def test_what_is_no_list_of_labels(y):
    for name in ("numbers", "sets", "relevances"):
        kind, right = CASES[name]
        model = kind(random_state=0).fit(X, right)
        before = model.t_
        with pytest.raises((ValueError, TypeError)):
            model.partial_fit(X, y)
        assert model.t_ == before


@pytest.mark.parametrize(
    "model",
    [
        PredtronClassifier(),
        PredtronClassifier(class_weight={-3: 2, 4: 1, 5: 1}),
        PredtronClassifier(class_weight={-3: 0, 4: 1, 5: 1}),
        PredtronOrdinalClassifier(),
        PredtronSequenceTagger(constraint=np.vstack([np.eye(3)[[2, 0, 1]], np.ones(3)]) == 1),
    ],
)
@pytest.mark.filterwarnings("ignore:sid")
def test_many_labels_are_read_as_a_list_of_them(model):
    """Of an array only the distinct labels are looked up; the cycle 5, 4, -3 is the reverse of their order."""
    rows, y = np.random.default_rng(0).standard_normal((1200, 3)), np.tile([5, 4, -3], 400)
    one, other = (clone(model).partial_fit(rows, y, classes=[-3, 4, 5]) for _ in range(2))
    for labels in (y, np.roll(y, 3)):
        one.partial_fit(rows, labels)
        other.partial_fit(rows, labels.tolist())
    assert_array_equal(one.coef_, other.coef_)
    wrong = y.copy()
    wrong[700] = 6
    before = pickle.dumps(one)
    for labels, words in ((wrong, "not in classes_: \\[6\\]"), (y[1:], "1199")):
        with pytest.raises(ValueError, match=words):
            one.partial_fit(rows, labels)
    assert pickle.dumps(one) == before
