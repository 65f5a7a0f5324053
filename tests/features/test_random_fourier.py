"""Random Fourier features, against scikit-learn's of standardised columns, and the kernel that they stand for."""

import pickle

import numpy as np
import pandas as pd
import pytest
from feature_cases import table
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from sklearn_predtron.features import RandomFourier


@pytest.mark.parametrize("gamma", [None, 0.01, 3])
def test_features_are_those_of_standardised_columns(gamma):
    X = np.random.default_rng(0).normal(size=(100, 5)) * [1, 10, 1e-5, 1e5, 3] + [0, 1e3, 0, 0, 7]
    X = np.c_[X, np.full(100, 7.0)]
    S = StandardScaler().fit_transform(X)
    expected = RBFSampler(gamma=gamma or 1 / 6, n_components=83, random_state=5).fit_transform(S)
    encoder = RandomFourier(n_features=83, gamma=gamma, random_state=5).fit(X)
    assert_allclose(encoder.transform(X), expected, atol=1e-11)
    assert encoder.n_features_out_ == 83


def test_inner_products_are_near_the_kernel():
    X = np.random.default_rng(0).normal(size=(50, 4))
    Z = RandomFourier(n_features=20000).fit(X).transform(X)
    assert_allclose(Z @ Z.T, rbf_kernel(StandardScaler().fit_transform(X), gamma=1 / 4), atol=0.05)


def test_what_is_missing_is_the_mean():
    X = table(200, 3, missing=0.2)
    encoder = RandomFourier(n_features=20).fit(X)
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    assert_allclose(encoder.transform(X), encoder.transform(filled), atol=1e-12)


def test_extreme_values_are_finite():
    encoder = RandomFourier(n_features=50).fit(np.random.default_rng(0).normal(size=(50, 2)))
    Z = encoder.transform(np.array([[1.7e308, -1e300], [1e12, 0]]))
    assert np.abs(Z).max() <= np.sqrt(2 / 50) * (1 + 1e-12)


def test_splits_types_and_copies_make_the_same_bits():
    X = table(150, 4).astype(np.float32)
    encoder = RandomFourier(n_features=30).fit(X)
    whole = encoder.transform(X)
    assert_array_equal(np.vstack([encoder.transform(X[i : i + 7]) for i in range(0, 150, 7)]), whole)
    assert_array_equal(RandomFourier(n_features=30).fit(X.astype(float)).transform(X.astype(float)), whole)
    assert_array_equal(pickle.loads(pickle.dumps(encoder)).transform(X), whole)
    frame = pd.DataFrame(X).add_prefix("column ")
    assert_array_equal(RandomFourier(n_features=30).fit(frame).transform(frame), whole)
    stream = RandomFourier(n_features=30)
    for first in range(0, 150, 11):
        stream.partial_fit(X[first : first + 11])
    assert_array_equal(stream.transform(X), whole)


def test_names_and_wrong_parameters():
    X = table(20, 2)
    assert list(RandomFourier(n_features=2).fit(X).get_feature_names_out()) == ["fourier0", "fourier1"]
    for settings in ({"n_features": 0}, {"gamma": 0}, {"gamma": "scale"}, {"random_state": "a"}):
        with pytest.raises(ValueError, match=next(iter(settings))):
            RandomFourier(**settings).fit(X)


def test_damaged_states_are_refused():
    encoder = RandomFourier(n_features=7).fit(table(20, 2, missing=0))
    saved = encoder.__getstate__()
    for k in range(5):
        with pytest.raises(ValueError, match="damaged"):
            RandomFourier().__setstate__({**saved, "_state": (*saved["_state"][:k], None, *saved["_state"][k + 1 :])})


def test_no_row_is_longer_than_the_radius():
    X = np.random.default_rng(0).normal(size=(50, 3))
    encoder = RandomFourier(n_features=10).fit(X)
    assert np.linalg.norm(encoder.transform(100 * X), axis=1).max() <= encoder.radius_ == np.sqrt(2)
