"""norm="l1" and "group": the compiled weights against the plain reference, in every family, and against themselves."""

import numpy as np
import pytest
from cases import AVERAGES, assert_close, data, state
from reference import norms as plain_norms
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron.norms import Group, PNorm
from sklearn_predtron.updates import Slam
from tests.families.test_ranking import (
    make_queries,
)

KINDS = [(PNorm, plain_norms.PNorm), (Group, plain_norms.Group)]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=["l1", "group"])
each_average = pytest.mark.parametrize("average", AVERAGES)


def make(kind, q, update="adaptive", average="linear", representation="onehot", loss="zero_one", **settings):
    parts = {"update": update, "average": average, "representation": representation, "loss": loss}
    return PredtronClassifier(norm=kind[0](q=q), decision="learned", **parts, **settings)


# ---------------------------------------------------------------------------------------------------------- the reference


@each_average
def test_q_2_is_l2_and_one_score_has_one_norm(average):
    X, y = data()
    for settings in ({"intercept_scaling": 0.7, "max_iter": 2}, {"fit_intercept": False}):
        models = [
            PredtronClassifier(norm=norm, average=average, random_state=0, **settings).fit(X, y)
            for norm in ("l2", PNorm(q=2), Group(q=2))
        ]
        for model in models[1:]:
            assert_close(model.coef_, models[0].coef_)
            assert_close(model.last_intercept_, models[0].last_intercept_)
    models = [PredtronBinaryClassifier(norm=norm, average=average, random_state=0).fit(X, y > 1) for norm in ("l1", "group")]
    assert_close(models[0].coef_, models[1].coef_)


# ----------------------------------------------------------------------------------------------------- sets and rankings


def test_the_radius_of_queries():
    """Slam's theory asks for the largest length of a row, for its directions have a 1-norm."""
    X, y = make_queries((0, 1, 2, 3.5))
    q, qid = 5.0, np.repeat(np.arange(len(X)), [len(x) for x in X])
    model = PredtronRanker(update=Slam(eta="theory"), norm=PNorm(q=q)).partial_fit(np.vstack(X), np.concatenate(y), qid=qid)
    expected = (q - 1) * max(plain_norms.PNorm(q).length(row) for row in np.vstack(X)) ** 2
    assert model._model.learner.weights.radius2 == pytest.approx(expected, rel=1e-12)


# ----------------------------------------------------------------------------------------------------- states and streams


@each_kind
def test_warm_start_goes_on_with_dual_weights_and_average(kind):
    X, y = data(n=60)
    settings = {"shuffle": False, "max_iter": 1}
    model = make(kind, 9.3, warm_start=True, **settings).fit(X, y).fit(X, y)
    assert state(model) == state(make(kind, 9.3, **settings).partial_fit(X, y, classes=range(4)).partial_fit(X, y))
    assert model.t_ == 120
    assert state(clone(model).set_params(warm_start=False).fit(X, y)) == state(make(kind, 9.3, **settings).fit(X, y))


# ------------------------------------------------------------------------------------------------------------- parameters


@each_kind
def test_the_exponent_of_the_package(kind):
    for p, q in {1: 2, 2: 2, 7: 2, 8: 4, 100: 8, 1000: 12}.items():
        model = make(kind, "theory").partial_fit(np.ones((3, p)), [0, 1, 2], classes=range(3))
        assert model._model.learner.weights.q == q


def test_the_factor_of_the_bound():
    """(q - 1) p^(2 / q) is no larger than at 2 ln p, and close to what any even exponent can do."""

    def factor(q, p):
        return (q - 1) * p ** (2 / q)

    for p in [*range(3, 3000), *np.geomspace(3000, 1e6, 2000).astype(int)]:
        found = factor(PNorm("theory")._exponent(p), p)
        assert found <= factor(max(2, 2 * np.log(p)), p)
        assert found <= 1.07 * factor(np.arange(2, 40, 2), p).min()


@each_kind
def test_the_exponent_in_a_grid(kind):
    X, y = data(n=60)
    search = GridSearchCV(make(kind, None, random_state=0), {"norm__q": [2, 5.0, "theory", None]}, cv=2).fit(X, y)
    assert search.best_params_["norm__q"] in (2, 5.0, "theory", None)
    found = {repr(model.norm) for model in (search.best_estimator_, clone(search.best_estimator_))}
    assert len(found) == 1


@each_kind
def test_ordinal_thresholds_beside_one_direction(kind):
    X, y = data(n=60)
    model = PredtronOrdinalClassifier(norm=kind[0](q=9.3), representation="shared", random_state=0).fit(X, y)
    assert (np.diff(model.intercept_) <= 0).all()
    assert model.score(X, y) > 0.5
