"""The default of "l1" and "group", its theorems, and saved models."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron.norms import Group, PNorm
from sklearn_predtron.theory import radius, theorem_of
from sklearn_predtron.updates import LossAugmented, PassiveAggressive, PerceptronUpdate, Slam

each_kind = pytest.mark.parametrize("kind", [PNorm, Group], ids=["l1", "group"])
UPDATES = [LossAugmented(eta="theory"), PerceptronUpdate(), PassiveAggressive(), PassiveAggressive(C=0.1)]
WIDE = 400  # of which the theorem's q is 10, and the default's 8


def documents(n=700, p=2000, labels=12, seed=0):
    """Rows of some 40 words of Zipf's law and, for each label, four of its own twenty; labels of 25 % to 3 % of the rows."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, labels)) < np.geomspace(0.25, 0.03, labels)).astype(int)
    frequency = np.cumsum(1 / np.arange(1.0, p + 1))
    own = [rng.choice(p, 20, replace=False) for _ in range(labels)]
    X = sparse.lil_array((n, p))
    for i, row in enumerate(Y):
        words = [
            np.searchsorted(frequency, frequency[-1] * rng.random(40)),
            *(rng.choice(own[j], 4) for j in np.flatnonzero(row)),
        ]
        X[i, np.unique(np.concatenate(words))] = 1.0
    return sparse.csr_array(X), Y


def wide(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, WIDE))
    return X, (X[:, :3].sum(axis=1) > 0).astype(int)


def micro_f1(model, X, Y, n=500):
    predicted = model.fit(X[:n], Y[:n]).predict(X[n:])
    return 2 * (predicted * Y[n:]).sum() / (predicted.sum() + Y[n:].sum())


@each_kind
def test_rare_labels_of_sparse_rows_are_found(kind):
    X, Y = documents()
    l2, default, theory = (
        micro_f1(PredtronMultilabelClassifier(norm=norm, random_state=0, cv=0), X, Y) for norm in ("l2", kind(), kind(q="theory"))
    )
    assert default > l2 > 0.6 > 0.4 > theory


@each_kind
def test_few_relevant_features_are_found(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 1000))
    y = (X[:, :5] @ [1.0, -1, 1, -1, 1] + 0.5 * rng.standard_normal(1000) > 0).astype(int)
    l2, default, theory = (
        1 - PredtronBinaryClassifier(norm=norm, random_state=0).fit(X[:500], y[:500]).score(X[500:], y[500:])
        for norm in ("l2", kind(), kind(q="theory"))
    )
    assert max(default, theory) < 0.5 * l2


@each_kind
def test_the_exponents(kind):
    for p, (theory, default) in {1: (2, 2), 7: (2, 2), 8: (4, 4), 30: (6, 6), 100: (8, 8), 400: (10, 8), 3000: (16, 8)}.items():
        weights = [
            PredtronClassifier(norm=norm).partial_fit(np.ones((3, p)), [0, 1, 2], classes=range(3))._model.learner.weights
            for norm in (kind(q="theory"), kind())
        ]
        assert [each.q for each in weights] == [theory, default]
        assert [each.curvature for each in weights] == [theory - 1, (default - 1) * 0.5 ** (default - 2)]


@each_kind
@pytest.mark.parametrize("average", ["linear", False])
def test_theory_is_its_number(kind, average):
    """To the last bit; and so is the default where its exponent is 2, or an update has steps of its own."""
    X, y = wide()
    first, second, default = (
        PredtronBinaryClassifier(norm=kind(q), average=average, random_state=0).fit(X, y) for q in ("theory", 10.0, None)
    )
    assert_array_equal(first.coef_, second.coef_)
    assert not np.allclose(default.coef_, first.coef_)
    for norms, rows, update in (
        ((kind(), kind("theory"), "l2"), X[:, :7], "adaptive"),
        ((kind(), kind(8)), X, LossAugmented(eta=0.3)),
        ((kind(), kind(8)), X, LossAugmented(eta="theory")),
    ):
        settings = {"update": update, "average": average, "random_state": 0, "intercept_scaling": 1.0}
        one, *others = (PredtronBinaryClassifier(norm=norm, **settings).fit(rows, y) for norm in norms)
        for other in others:
            np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-12)


@each_kind
def test_longer_steps_have_no_theorem(kind):
    X, y = wide()
    for family, labels in ((PredtronBinaryClassifier, y), (PredtronOrdinalClassifier, y + (X[:, 0] > 1))):
        plain = {"intercept_scaling": 1.0, "random_state": 0, "cv": 0}
        if family is PredtronOrdinalClassifier:
            plain["representation"] = "shared"
        model = family(norm=kind(), **plain).fit(X, labels)
        for asked in (lambda model=model: model.loss_bound(margin=0.1, radius=5.0), lambda model=model: theorem_of(model)):
            with pytest.raises(ValueError, match=r"q=None.*longer steps.*q='theory'"):
                asked()
        for q in ("theory", 8):
            model = family(norm=kind(q), **plain).fit(X, labels)
            assert model.loss_bound(margin=0.1, radius=radius(model, X)) > 0
        model = family(norm=kind(), **plain).fit(X[:, :7], labels)  # "l2"
        assert model.loss_bound(margin=0.1, radius=radius(model, X[:, :7])) > 0


@each_kind
@pytest.mark.parametrize("update", UPDATES, ids=repr)
def test_other_steps_keep_their_theorem(kind, update):
    X, y = wide()
    default, number = (
        PredtronBinaryClassifier(norm=kind(q), update=update, intercept_scaling=1.0, random_state=0, cv=0).fit(X, y)
        for q in (None, 8)
    )
    assert theorem_of(default) == theorem_of(number)
    bounds = [model.loss_bound(margin=0.1, radius=radius(model, X)) for model in (default, number)]
    assert bounds[0] == bounds[1]
    np.testing.assert_allclose(default.coef_, number.coef_, rtol=1e-12)


def test_updates_of_pairs_keep_their_theorem():
    X, y = wide()
    model = PredtronRanker(norm="l1", update=Slam(eta="theory"), cv=0).fit(X, y, qid=np.arange(60) // 6)
    assert model.loss_bound(margin=0.1) > 0


# ------------------------------------------------------------------------------------------------------------ saved models


@each_kind
def test_saved_models_keep_the_default(kind):
    X, y = wide()
    model = PredtronBinaryClassifier(norm=kind.alias).partial_fit(X[:30], y[:30], classes=[0, 1])
    again = pickle.loads(pickle.dumps(model))
    assert again.norm == kind.alias
    for each in (again, model):
        each.partial_fit(X[30:], y[30:])
    assert_array_equal(again.coef_, model.coef_)
