"""An average that forgets within a round is the last iterate, whatever rounds weigh, and can be saved."""

import pickle

import numpy as np
import pytest
from sklearn.utils.validation import has_fit_parameter

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
)
from sklearn_predtron.losses import Reject
from sklearn_predtron.norms import PNorm
from sklearn_predtron.updates import PassiveAggressive

NORMS = ["l2", "scaled", PNorm(q=6.0), "group", "trace"]
ASK = Reject(cost=0.3, label=-1)
FAMILIES = [
    (PredtronBinaryClassifier, {"reject": ASK}),
    (PredtronBinaryClassifier, {"decision": "f1"}),
    (PredtronClassifier, {"reject": ASK}),
    (PredtronOrdinalClassifier, {}),
    (PredtronMultilabelClassifier, {"decision": "macro_f1"}),
]
EXTREMES = np.array([1.0, 1e-300, 1e300, 1e-12, 3.0, 1e-300, 0.5, 1e150])


def data(Estimator, rng):
    X = rng.standard_normal((40, 4))
    if Estimator is PredtronMultilabelClassifier:
        return X, (rng.random((40, 3)) < 0.4).astype(int), None
    n = 2 if Estimator is PredtronBinaryClassifier else 3
    return X, rng.integers(0, n, 40), range(n)


@pytest.mark.parametrize("half_life", [0.001, 0.0001])
@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize(("Estimator", "parameters"), FAMILIES)
def test_it_is_the_last_iterate(Estimator, parameters, norm, half_life):
    X, y, classes = data(Estimator, np.random.default_rng(0))
    model = Estimator(average=half_life, norm=norm, update=PassiveAggressive(), **parameters)
    assert has_fit_parameter(model, "sample_weight")
    for round_ in range(5):
        now = slice(8 * round_, 8 * round_ + 8)
        model.partial_fit(X[now], y[now], classes=classes, sample_weight=np.roll(EXTREMES, round_))
        np.testing.assert_allclose(model.coef_, model.last_coef_, rtol=1e-9, atol=1e-12)
        loaded = pickle.loads(pickle.dumps(model))
        assert np.array_equal(loaded.predict(X), model.predict(X))
        model = loaded if round_ % 2 else model
    assert np.abs(model.coef_).max() > 0
