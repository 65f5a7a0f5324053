"""The maps as scikit-learn's transformers: its checks, pipelines, clones, and saved models."""

import numpy as np
import pytest
import skops.io
from feature_cases import table
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_predtron import PredtronBinaryClassifier
from sklearn_predtron._support.parts import Part, kinds, resolve
from sklearn_predtron.features import Auto, FeatureMap, PiecewiseLinear, RandomFourier

MAPS = [PiecewiseLinear(), PiecewiseLinear(missing=False, categories=None, n_pairs=0), Auto(), RandomFourier(n_features=20)]


@pytest.mark.always(each="estimator")
@parametrize_with_checks(MAPS)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_aliases():
    assert [kind.alias for kind in kinds(FeatureMap)] == ["piecewise", "auto", "fourier"]
    assert isinstance(resolve(FeatureMap, "piecewise", "features"), PiecewiseLinear)
    with pytest.raises(ValueError, match="Did you mean 'piecewise'"):
        resolve(FeatureMap, "hats", "features")
    assert issubclass(FeatureMap, Part)


@pytest.mark.parametrize("encoder", MAPS, ids=repr)
@pytest.mark.parametrize("learner", [LogisticRegression(), PredtronBinaryClassifier(norm="l2", random_state=0)], ids=repr)
def test_pipelines(encoder, learner):
    X = np.random.default_rng(0).normal(size=(400, 3))
    y = np.abs(X[:, 0]) > 0.6
    assert make_pipeline(encoder, learner).fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.75


@pytest.mark.parametrize("encoder", MAPS, ids=repr)
def test_skops(encoder):
    X = table(80, 4, missing=0)
    encoder.fit(X)
    data = skops.io.dumps(encoder)
    own = set(skops.io.get_untrusted_types(data=data))
    assert own <= {f"sklearn_predtron.features.{type(encoder).__name__}"}
    made = skops.io.loads(data, trusted=sorted(own))
    assert_array_equal(made.rows(X).matrix().data, encoder.transform(X).data)
    assert_array_equal(made.get_feature_names_out(), encoder.get_feature_names_out())


@pytest.mark.parametrize("encoder", MAPS, ids=repr)
def test_what_is_not_fitted_says_so(encoder):
    fresh = type(encoder)()
    for call in (fresh.transform, fresh.read, fresh.get_feature_names_out, lambda _=None: fresh.n_features_out_):
        with pytest.raises(NotFittedError):
            call(np.ones((2, 2)))


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_data_frames_need_dense_rows(container):
    pytest.importorskip(container)
    X = np.random.default_rng(0).standard_normal((30, 3))
    encoder = PiecewiseLinear(n_knots=3, n_pairs=1)
    dense = PiecewiseLinear(n_knots=3, n_pairs=1, sparse_output=False)
    rows = encoder.fit_transform(X)
    assert isinstance(dense.fit_transform(X), np.ndarray)
    frame = dense.set_output(transform=container).fit_transform(X)
    assert list(frame.columns) == encoder.get_feature_names_out().tolist()
    assert_array_equal(frame.to_numpy(), rows.toarray())
    with pytest.raises(ValueError, match=rf"set_output\(transform='{container}'\) asks for dense ones; set sparse_output=False"):
        encoder.set_output(transform=container).fit_transform(X)
