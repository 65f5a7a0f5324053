"""The thresholds of ordinal models that share one direction."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from sklearn_predtron import PredtronOrdinalClassifier
from sklearn_predtron.updates import PRank


def data(n=300, r=4):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 5)) + 2
    score = X @ random.standard_normal(5) + random.standard_normal(n) / 2
    return X, np.digitize(score, np.quantile(score, np.arange(1, r) / r))


@pytest.mark.parametrize("norm", ["l2", "l1", "scaled"])
@pytest.mark.parametrize("update", ["adaptive", PRank()], ids=str)
@pytest.mark.parametrize("r", [2, 4])
def test_ordered_thresholds_on_the_direction_predict(norm, update, r):
    X, y = data(r=r)
    model = PredtronOrdinalClassifier(representation="shared", norm=norm, update=update, random_state=0).fit(X, y)
    thresholds = model.thresholds_
    assert thresholds.shape == (r - 1,) and (np.diff(thresholds) >= 0).all()
    assert_array_equal((X @ model.coef_[0] >= thresholds[:, None]).sum(axis=0), model.predict(X))
    with pytest.raises(ValueError, match="read-only"):
        thresholds[0] = 0


def test_they_are_those_of_what_predicts():
    X, y = data()
    model = PredtronOrdinalClassifier(representation="shared", random_state=0).fit(X, y)
    assert_array_equal(-model.thresholds_, model.intercept_)
    assert (model.thresholds_ != -model.last_intercept_).any()


@pytest.mark.parametrize("representation", ["thermometer", "onehot"])
def test_several_directions_have_none(representation):
    X, y = data()
    model = PredtronOrdinalClassifier(representation=representation, random_state=0).fit(X, y)
    assert not hasattr(model, "thresholds_")
    with pytest.raises(AttributeError, match="thresholds_ is of representation='shared'"):
        model.thresholds_  # noqa: B018


def test_nothing_learned():
    with pytest.raises(NotFittedError, match="thresholds_"):
        PredtronOrdinalClassifier(representation="shared").thresholds_  # noqa: B018
