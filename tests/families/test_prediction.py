"""Predictions in blocks and over threads: the same bits, and the same refusals."""

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from threadpoolctl import threadpool_limits

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronMultilabelClassifier, PredtronOrdinalClassifier
from sklearn_predtron.families.training.runs import count_threads
from sklearn_predtron.predictor import _scoring as scoring

KINDS = [PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier, PredtronMultilabelClassifier]


def fitted(kind):
    rng = np.random.default_rng(0)
    X, k = rng.standard_normal((500, 7)), 2 if kind is PredtronBinaryClassifier else 5
    y = X[:, :k].argmax(axis=1)
    return kind(random_state=0).fit(X, np.eye(k, dtype=int)[y] if kind is PredtronMultilabelClassifier else y), X


def make_blocks_small(monkeypatch):
    monkeypatch.setattr(scoring, "BLOCK", 64)
    monkeypatch.setattr(scoring, "MANY_BLOCKS", 3)


@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_matrix], ids=["float64", "float32", "csr"])
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_and_threads_change_no_bit(kind, form, monkeypatch):
    model, X = fitted(kind)
    X = form(X)
    expected = model.predict(X), model.decision_function(X)
    make_blocks_small(monkeypatch)
    for n_jobs in (1, 2, 3):
        with joblib.parallel_config(n_jobs=n_jobs):
            np.testing.assert_array_equal(model.predict(X), expected[0])
            np.testing.assert_array_equal(model.decision_function(X), expected[1])


@pytest.mark.parametrize("row", [0, 250, 499])
@pytest.mark.parametrize(("bad", "message"), [(np.nan, "NaN"), (np.inf, "infinity"), (1e308, "overflow")])
def test_what_is_not_finite_is_refused_in_every_block(bad, message, row, monkeypatch):
    model, X = fitted(PredtronClassifier)
    model.set_params(average=False).partial_fit(X * 1e-3, X[:, :5].argmax(axis=1))
    X[row] = bad * np.sign(model.coef_[0])
    make_blocks_small(monkeypatch)
    for n_jobs in (1, 2):
        with joblib.parallel_config(n_jobs=n_jobs), pytest.raises(ValueError, match=message):
            model.predict(X)


def test_long_computations_have_the_threads_of_scikit_learn():
    with threadpool_limits(1):
        assert count_threads(is_long=True) == 1
    assert count_threads(is_long=True) == _openmp_effective_n_threads()
    assert count_threads(is_long=False) == 1
    with joblib.parallel_config(n_jobs=3):
        assert count_threads(is_long=True) == count_threads(is_long=False) == 3
    jobs = (joblib.delayed(count_threads)(is_long=True) for _ in range(2))
    assert joblib.Parallel(2, backend="threading")(jobs) == [1, 1]


def test_threads_share_the_blocks_of_any_backend(monkeypatch):
    """Processes would copy the rows, and are not started."""
    model, X = fitted(PredtronBinaryClassifier)
    expected = model.predict(X)
    make_blocks_small(monkeypatch)
    seen = []
    whole = scoring.map_some
    monkeypatch.setattr(scoring, "map_some", lambda work, blocks: seen.append(len(blocks)) or whole(work, blocks))
    with joblib.parallel_config(backend="loky", n_jobs=2):
        np.testing.assert_array_equal(model.predict(X), expected)
    assert seen == [4, 4]
