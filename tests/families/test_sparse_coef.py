"""Weights that are kept sparse: they predict as before and are small, and learning goes on when they are dense again."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron.mixing import ParameterMixing
from tests.own_checks import assert_same_bits

NORMS = ["l2", "l1", "group", "trace"]
CLASSIFIERS = [PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier, PredtronBipartiteClassifier]


def rows(form="dense", n=200, p=60):
    X = sparse.random(n, p, 0.1, "csr", random_state=np.random.default_rng(0))
    X.data[X.indices >= p // 2] = 0  # nothing is learned of half of the features
    X.eliminate_zeros()
    score = np.asarray(X[:, :5].sum(axis=1)).ravel() - np.asarray(X[:, 5:10].sum(axis=1)).ravel()
    return (X if form == "sparse" else X.toarray()), np.digitize(score, [-0.2, 0.2])


def of_every_family(X, y, norm):
    how = {"norm": norm, "random_state": 0, "max_iter": 3}
    for family in CLASSIFIERS:
        labels = y if family in CLASSIFIERS[1:3] else y > 0
        code = {"representation": "thermometer"} if family is PredtronOrdinalClassifier else {}
        yield family(**how, **code).fit(X, labels), (X, labels), {}
    yield PredtronMultilabelClassifier(**how).fit(X, np.eye(3, dtype=int)[y]), (X, np.eye(3, dtype=int)[y]), {}
    yield PredtronLabelRanker(**how).fit(X, np.eye(3)[y]), (X, np.eye(3)[y]), {}
    if norm in ("l2", "l1"):
        qid = np.arange(len(y)) // 10
        yield PredtronRanker(**how).fit(X, y, qid=qid), (X, y), {"qid": qid}


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_predictions_and_what_was_counted_stay(norm, form):
    X, y = rows(form)
    for model, given, ids in of_every_family(X, y, norm):
        score = model.predict if isinstance(model, PredtronRanker) else model.decision_function
        coef, before, counts = model.coef_, score(X), (model.t_, model.n_updates_, model.cumulative_loss_, model.average_)
        margin, predicted = model.margin(*given, **ids), model.predict(X)
        assert model.sparsify() is model and sparse.issparse(model.coef_)
        assert_array_equal(model.coef_.toarray(), np.atleast_2d(coef))
        assert model.coef_.nnz <= coef.size / 2
        assert_allclose(score(X), before, rtol=1e-10, atol=1e-12)
        assert (model.t_, model.n_updates_, model.cumulative_loss_, model.average_) == counts
        assert model.margin(*given, **ids) == pytest.approx(margin, rel=1e-9)
        for twin in (model, pickle.loads(pickle.dumps(model))):
            with pytest.raises(ValueError, match=r"The weights are sparse, and only predict; call densify\(\)"):
                twin.partial_fit(*given, **ids)
            assert_array_equal(score(X), twin.predict(X) if isinstance(model, PredtronRanker) else twin.decision_function(X))
        assert model.densify() is model and isinstance(model.coef_, np.ndarray)
        assert_allclose(model.coef_, coef, rtol=1e-9, atol=1e-12)
        assert_array_equal(model.predict(X) if not ids else predicted, predicted)
        assert model.partial_fit(*given, **ids).t_ > counts[0]


def test_rows_in_any_company_and_any_form_have_the_same_bits():
    X, y = rows()
    model = PredtronClassifier(norm="l1", random_state=0).fit(X, y).sparsify(tol=1e-3)
    whole = model.decision_function(X)
    alone = np.vstack([model.decision_function(X[i : i + 1]) for i in range(len(X))])
    assert_array_equal(alone, whole)
    assert_array_equal(model.decision_function(X.astype(np.float32).astype(float)), model.decision_function(X.astype(np.float32)))
    assert_array_equal(model.decision_function(sparse.csr_matrix(X)), whole)


def test_small_weights_are_cut_to_order():
    X, y = rows()
    model = PredtronClassifier(norm="l1", random_state=0).fit(X, y)
    coef = model.coef_
    cut = np.where(np.abs(coef) > 0.01 * np.abs(coef).max(), coef, 0)
    assert_array_equal(model.sparsify().sparsify(tol=0.01).coef_.toarray(), cut)
    assert 0 < model.coef_.nnz < np.count_nonzero(coef)
    assert_array_equal(model.sparsify(tol=0.01).coef_.toarray(), cut)


def test_saved_models_are_small():
    X, y = rows(p=5000)
    model = PredtronClassifier(norm="l1", random_state=0, cv=0).fit(X, y)
    columns = np.abs(model.coef_).max(axis=0) > 1e-4 * np.abs(model.coef_).max()
    before = len(pickle.dumps(model))
    after = len(pickle.dumps(model.sparsify(tol=1e-4)))
    model._model.importances, importances = None, model.feature_importances_
    weights = len(pickle.dumps(model))
    assert after - weights < 16 * columns.sum() + 500  # a number and a column each
    assert_array_equal(importances[~columns], 0)
    model = PredtronClassifier(norm="l1", random_state=0, cv=0).fit(X, y)
    model._model.importances = None
    assert weights < len(pickle.dumps(model)) / 4 < before / 4


def test_learning_goes_on_from_what_predicts():
    X, y = rows()
    model, twin = (PredtronClassifier(norm="group", random_state=0).fit(X[:100], y[:100]).sparsify().densify() for _ in range(2))
    assert_array_equal(model.last_coef_, model.coef_)
    model.partial_fit(X[100:], y[100:])
    for i in range(100, 200):
        twin.partial_fit(X[i : i + 1], y[i : i + 1])
    assert_same_bits(model, twin, "a stream")
    assert model.score(X, y) > 0.6
    with pytest.raises(ValueError, match="No loss bound is proven"):
        model.loss_bound(margin=1.0, radius=1.0)


def test_fit_begins_anew_and_a_failed_call_changes_nothing():
    X, y = rows()
    model = PredtronClassifier(norm="l2", random_state=0, warm_start=True).fit(X, y).sparsify()
    scores = model.decision_function(X)
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match="densify"):
            learn(X, y)
        assert_array_equal(model.decision_function(X), scores)
    model.set_params(warm_start=False)
    assert_array_equal(model.fit(X, y).coef_, PredtronClassifier(norm="l2", random_state=0).fit(X, y).coef_)


@pytest.mark.parametrize("wider", [{"n_features": 70}, {"classes": [3]}, {"n_features": 70, "classes": [3]}], ids=str)
def test_room_for_more_is_made_after_densify(wider):
    X, y = rows()
    model = PredtronClassifier(norm="l2", random_state=0, max_iter=3).fit(X, y).sparsify()
    scores = model.decision_function(X)
    with pytest.raises(ValueError, match=r"sparse, and only predict; call densify\(\) before widen\(\)"):
        model.widen(**wider)
    assert model.n_features_in_ == 60 and model.classes_.tolist() == [0, 1, 2]
    assert_array_equal(model.decision_function(X), scores)
    model.densify().widen(**wider)
    found = model.decision_function(np.pad(X, ((0, 0), (0, model.n_features_in_ - 60))))
    assert_allclose(found[:, :3], scores, rtol=1e-10, atol=1e-12)


def test_sparse_weights_are_not_mixed():
    X, y = rows()
    mixing = ParameterMixing(PredtronClassifier(norm="l2", random_state=0)).fit(X, y)
    mixing.estimator_.sparsify()
    with pytest.raises(ValueError, match=r"sparse, and only predict; call densify\(\) before they are mixed"):
        mixing.partial_fit(X, y)
    mixing.estimator_.densify()
    assert mixing.partial_fit(X, y).score(X, y) > 0.8


def test_no_bound_is_proven_of_sparse_weights():
    X, y = rows()
    model = PredtronBinaryClassifier(norm="l2", update="perceptron", intercept_scaling=1.0, random_state=0)
    model.fit(X, y > 0).sparsify()
    with pytest.raises(ValueError, match="No loss bound is proven for weights that were made sparse"):
        model.loss_bound(margin=1.0, radius=1.0)


@pytest.mark.parametrize("norm", ["scaled", "rkhs"])
def test_norms_whose_weights_cannot_be_sparse(norm):
    X, y = rows()
    model = PredtronClassifier(norm=norm, max_iter=1).fit(X, y)
    assert not hasattr(model, "sparsify")
    with pytest.raises(AttributeError) as error:
        model.sparsify()
    assert f"norm='{norm}' has no weights that can be kept sparse; accepted are 'l2', 'l1', 'group'" in str(error.value.__cause__)
    assert model.densify() is model


def test_refusals():
    X, y = rows()
    shared = PredtronOrdinalClassifier(norm="l2", representation="shared").fit(X, y)
    with pytest.raises(ValueError, match="representation='shared', given or chosen by fit, has one direction"):
        shared.sparsify()
    model = PredtronClassifier(norm="l2", random_state=0).fit(X, y)
    for tol in (-0.1, 1, np.nan, "much"):
        with pytest.raises(ValueError, match=r"tol=.* must be a number from 0 to below 1"):
            model.sparsify(tol=tol)
    for method in ("sparsify", "densify"):
        with pytest.raises(NotFittedError):
            getattr(PredtronClassifier(norm="l2"), method)()
