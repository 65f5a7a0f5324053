"""Saved arrays without their zeros: to the last bit, smaller, and refused if damaged."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_predtron import PredtronClassifier
from sklearn_predtron.families.model.model_parts import LEAST_COMPRESSED, compress_zeros
from sklearn_predtron.predictor._compiled_parts import decompress, is_compressed

N = LEAST_COMPRESSED + 5


def array(share, dtype=np.float64, shape=(N,)):
    random = np.random.default_rng(0)
    values = np.where(random.random(N) < share, random.standard_normal(N), 0).astype(dtype)
    values[:4] = [-0.0, np.nan, np.inf, 5e-324]
    return values.reshape(shape)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(N,), (1, N), (3, N // 3)])
def test_an_array_comes_back_to_the_last_bit(dtype, shape):
    given = array(0.2, dtype, (N,))[: np.prod(shape)].reshape(shape)
    saved = compress_zeros(given)
    assert is_compressed(saved) and saved["there"].nbytes + saved["values"].nbytes < 0.3 * given.nbytes
    found = decompress(pickle.loads(pickle.dumps(saved)))
    assert found.dtype == dtype and found.shape == shape and found.tobytes() == given.tobytes()


@pytest.mark.parametrize(
    "given", [array(0.7), array(0.2)[: LEAST_COMPRESSED - 1], np.zeros(N, dtype=int), np.zeros((2, N))[:, ::2]]
)
def test_others_stay_as_they_are(given):
    assert compress_zeros(given) is given


def test_damaged_ones_are_refused():
    saved = compress_zeros(array(0.2))
    for changes in [
        {"shape": [N + 8]},
        {"shape": [N, 2**60]},
        {"shape": [-1]},
        {"shape": [1.0]},
        {"shape": "N"},
        {"there": saved["there"][:-1]},
        {"there": saved["there"].astype(int)},
        {"there": ~saved["there"]},
        {"values": saved["values"][:-1]},
        {"values": saved["values"].astype(complex)},
        {"values": saved["values"].tolist()},
    ]:
        with pytest.raises(TypeError, match=r"an array (without its zeros is none|has .* places for .* values)"):
            decompress({**saved, **changes})


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_of_many_classes_is_saved_in_less_than_its_weights(stream):
    random, k, p = np.random.default_rng(0), 30, 20_000
    y = np.arange(600) % k
    X = sparse.random(600, p, 0.001, format="csr", random_state=random)
    model = PredtronClassifier(cv=0, max_iter=2, random_state=0)
    model = model.partial_fit(X, y, classes=np.arange(k)) if stream else model.fit(X, y)
    written = pickle.dumps(model)
    assert len(written) < 8 * k * p < model.coef_.nbytes * 1.01
    read, copied = pickle.loads(written), copy.deepcopy(model)
    for other in (read, copied):
        assert_array_equal(other.coef_, model.coef_)
    for other in (model, read, copied):
        other.partial_fit(X, y)
    assert_array_equal(read.coef_, model.coef_)
    assert_array_equal(copied.coef_, model.coef_)


def test_a_damaged_model_says_so():
    model = PredtronClassifier(cv=0, max_iter=1).fit(
        sparse.random(60, 9000, 0.01, format="csr", random_state=0), np.arange(60) % 6
    )
    state = model.__getstate__()
    text = repr([type(part) for part in state["_model"]["parts"]])
    thinned = [value for part in state["_model"]["parts"] for value in found(part) if is_compressed(value)]
    assert thinned, text
    thinned[0]["values"] = thinned[0]["values"][1:]
    with pytest.raises(ValueError, match="The saved model is damaged: TypeError: an array has"):
        PredtronClassifier().__setstate__(state)


def found(value):
    """All that a state holds."""
    yield value
    if isinstance(value, dict) and not is_compressed(value):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from found(item)
