"""Bounds of learners of tables: what the theory says of the features that are made, as if they had been given."""

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier, PredtronRanker
from sklearn_predtron.features import PiecewiseLinear, RandomFourier
from sklearn_predtron.theory import largest_margin, margin, radius, theorem_of
from tests.cases import weights_of

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 3)) * [1, 100, 1e4]
LATENT = np.abs(X[:, 0]) + X[:, 1] / 200
GRADES = np.digitize(LATENT, np.quantile(LATENT, [0.4, 0.8]))
PARAMETERS = {"shuffle": False, "norm": "l2"}
SCALED = {"intercept_scaling": 1.0, "cv": 0}
FAMILIES = {
    "two": (PredtronBinaryClassifier, (GRADES > 0).astype(int), SCALED),
    "many": (PredtronClassifier, GRADES, {**SCALED, "decision": "learned"}),
    "ranks": (PredtronOrdinalClassifier, GRADES, {**SCALED, "decision": "learned"}),
    "documents": (PredtronRanker, GRADES, {}),
}
QID = np.repeat(np.arange(6), 10)


@pytest.mark.parametrize(
    "features", [PiecewiseLinear(n_knots=4, pair_knots=3), RandomFourier(n_features=30)], ids=["hats", "cosines"]
)
@pytest.mark.parametrize("name", FAMILIES)
def test_the_theory_speaks_of_the_features(name, features):
    kind, y, own = FAMILIES[name]
    ids = {"qid": QID} if kind is PredtronRanker else {}
    model = kind(features=features, max_iter=2, **PARAMETERS, **own).fit(X, y, **ids)
    Z = clone(features).fit(X, y).transform(X)
    given = kind(max_iter=2, **PARAMETERS, **own).fit(Z, y, **ids)
    np.testing.assert_allclose(weights_of(model), weights_of(given), rtol=1e-9, atol=1e-12)
    assert theorem_of(model) == theorem_of(given)
    length = radius(model, X, **ids)
    assert length == pytest.approx(radius(given, Z, **ids), rel=1e-12)
    assert kind is PredtronRanker or length <= np.hypot(model.features_.radius_, 1)
    found = largest_margin(model, X, y, **ids)
    assert found.margin == pytest.approx(largest_margin(given, Z, y, **ids).margin, rel=1e-6)
    assert margin(model, X, y, found.coef, found.intercept, **ids) == pytest.approx(
        margin(given, Z, y, found.coef, found.intercept, **ids), rel=1e-9
    )
    bound = model.loss_bound(0.1, length, 1.0)
    assert bound == pytest.approx(given.loss_bound(0.1, length, 1.0), rel=1e-12)


def test_weights_to_compare_with_are_of_the_features():
    y = FAMILIES["two"][1]
    parameters = {**PARAMETERS, **SCALED, "update": "perceptron"}
    model = PredtronBinaryClassifier(features="piecewise", **parameters).partial_fit(X, y, classes=[0, 1])
    Z = model.features_.transform(X) if hasattr(model, "features_") else None
    assert Z is None  # of fewer than 500 rows there is no map yet, and columns are learned as they are
    several, labels = np.tile(X, (10, 1)), np.tile(y, 10)
    model = PredtronBinaryClassifier(features="piecewise", **parameters).partial_fit(several, labels, classes=[0, 1])
    Z = model.features_.transform(several)
    given = PredtronBinaryClassifier(**parameters).partial_fit(Z, labels, classes=[0, 1])
    U = np.random.default_rng(1).normal(size=(1, Z.shape[1]))
    bound = model.loss_bound(comparator=U, X=several, y=labels)
    assert bound == pytest.approx(given.loss_bound(comparator=U, X=Z, y=labels), rel=1e-9)
    assert model.cumulative_loss_ <= bound


def test_a_map_that_is_not_known_has_no_margin():
    with pytest.raises(
        ValueError, match="features='piecewise' makes features as fit tells it to; accepted is a fitted estimator"
    ):
        largest_margin(PredtronBinaryClassifier(features="piecewise", intercept_scaling=1.0), X, GRADES > 0)
