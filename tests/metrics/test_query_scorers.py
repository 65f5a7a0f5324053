"""Scorers of measures of rankings in searches: query ids, weights, routing on and off."""

import copy
import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneGroupOut, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import metrics
from sklearn_predtron.metrics import (
    make_query_scorer,
    mean_over_queries,
    ndcg,
    ndcg_scorer,
    precision_at_k,
    precision_at_k_scorer,
)

SCORERS = {
    "ndcg": metrics.ndcg_scorer,
    "average_precision": metrics.average_precision_scorer,
    "kendall_tau": metrics.kendall_tau_scorer,
    "reciprocal_rank": metrics.reciprocal_rank_scorer,
}


class Ranker(BaseEstimator):
    """A score per document, by least squares on features and target centred in each query."""

    def __init__(self, reverse=False):
        self.reverse = reverse

    def fit(self, X, y, qid=None, sample_weight=None):
        codes = np.unique(np.zeros(len(y)) if qid is None else qid, return_inverse=True)[1]
        centred = [a - np.array([a[codes == c].mean(axis=0) for c in codes]) for a in (np.asarray(X), np.asarray(y))]
        self.coef_ = np.linalg.lstsq(*centred, rcond=None)[0] * (-1 if self.reverse else 1)
        self.n_queries_ = codes.max() + 1
        return self

    def predict(self, X):
        return np.asarray(X) @ self.coef_


class LabelRanker(BaseEstimator):
    """Predicts positions; the scores are those of decision_function."""

    def fit(self, X, y):
        self.coef_ = np.linalg.lstsq(X, y, rcond=None)[0]
        return self

    def decision_function(self, X):
        return X @ self.coef_

    def predict(self, X):
        return np.argsort(np.argsort(-self.decision_function(X))) + 1


@pytest.fixture(scope="module")
def data():
    """Queries whose documents have a common offset: ranking within a query is easy, over all of them it is not."""
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(90, 3)), rng.permutation(np.repeat(np.arange(15), 6))
    relevance = X @ [2, 1, 0] + rng.normal(scale=0.5, size=90)
    y = (relevance > 0.5).astype(int) + (relevance > 2)
    return X + 20 * qid[:, None] % 100, y, np.array([f"query {q}" for q in qid])


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def by_hand(X, y, qid, measure, weights=None, **params):
    """The scores that cross-validation should find for a ranker fitted without ids."""
    for train, test in GroupKFold().split(X, y, qid):
        scores = Ranker().fit(X[train], y[train]).predict(X[test])
        part = None if weights is None else weights[test]
        yield mean_over_queries(measure, y[test], scores, qid[test], sample_weight=part, **params)


@pytest.mark.parametrize("name", SCORERS)
def test_cross_validate(data, routing, name):
    X, y, qid = data
    y = np.minimum(y, 1) if name == "average_precision" else y
    found = cross_validate(
        Ranker(),
        X,
        y,
        params={"groups": qid},
        cv=GroupKFold(),
        scoring=SCORERS[name](),
        error_score="raise",
        return_train_score=True,
    )
    np.testing.assert_allclose(found["test_score"], list(by_hand(X, y, qid, getattr(metrics, name))))
    assert np.isfinite(found["train_score"]).all()


@pytest.mark.parametrize(
    ("scorer", "measure", "params"),
    [
        (ndcg_scorer(k=3, gain="linear"), ndcg, {"k": 3, "gain": "linear"}),
        (precision_at_k_scorer(k=2), precision_at_k, {"k": 2}),
        (make_query_scorer(ndcg, k=1, response_method="predict"), ndcg, {"k": 1}),
        (make_query_scorer(ndcg, one_query=True), ndcg, {}),  # ids that do come are used
    ],
)
def test_parameters(data, routing, scorer, measure, params):
    """Of scorers made before routing was switched on, too."""
    X, y, qid = data
    for each in (scorer, clone(scorer, safe=False), pickle.loads(pickle.dumps(scorer)), copy.deepcopy(scorer)):
        found = cross_val_score(Ranker(), X, y, params={"groups": qid}, cv=GroupKFold(), scoring=each, error_score="raise")
        np.testing.assert_allclose(found, list(by_hand(X, y, qid, measure, **params)))


def test_weighted_cross_validate(data, routing):
    X, y, qid = data
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    params = {"groups": qid, "sample_weight": weights}
    ranker = Ranker().set_fit_request(sample_weight=False)
    found = cross_val_score(ranker, X, y, params=params, cv=GroupKFold(), scoring=ndcg_scorer(), error_score="raise")
    np.testing.assert_allclose(found, list(by_hand(X, y, qid, ndcg, weights)))


def test_search(data, routing):
    X, y, qid = data
    ranker = Ranker().set_fit_request(qid="groups", sample_weight=False)
    scoring = {"ndcg": ndcg_scorer(k=3), "tau": metrics.kendall_tau_scorer()}
    pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), ranker)
    search = GridSearchCV(pipeline, {"ranker__reverse": [True, False]}, cv=GroupKFold(), scoring=scoring, refit="ndcg")
    search = clone(search).set_params(error_score="raise").fit(X, y, groups=qid)
    assert search.best_estimator_["ranker"].n_queries_ == 15
    assert search.best_params_ == {"ranker__reverse": False}
    assert search.best_score_ > 0.9 and search.cv_results_["mean_test_tau"][1] > 0.7
    scores = search.predict(X)
    assert search.score(X, y, groups=qid) == mean_over_queries(ndcg, y, scores, qid, k=3)
    scorer = search.scorer_["ndcg"]
    assert scorer(search.best_estimator_, X, y, qid=qid) == mean_over_queries(ndcg, y, scores, qid, k=3)


def test_other_requests(data, routing):
    X, y, qid = data
    scorer = ndcg_scorer().set_score_request(qid="query")
    params = {"groups": qid, "query": qid}
    found = cross_val_score(Ranker(), X, y, params=params, cv=GroupKFold(), scoring=scorer, error_score="raise")
    np.testing.assert_allclose(found, list(by_hand(X, y, qid, ndcg)))


@pytest.mark.parametrize("switched_on", [False, True])
def test_without_ids(data, switched_on):
    X, y, _ = data
    with config_context(enable_metadata_routing=switched_on):
        with pytest.raises(ValueError, match=r"qid=None is ambiguous to a scorer.*enable_metadata_routing=True"):
            cross_val_score(Ranker(), X, y, cv=KFold(3), scoring=ndcg_scorer(), error_score="raise", params={})
        one = ndcg_scorer(one_query=True)
        found = cross_val_score(Ranker(), X, y, cv=KFold(3), scoring=one, error_score="raise", params={})
    for score, (train, test) in zip(found, KFold(3).split(X), strict=True):
        assert score == ndcg(y[test], Ranker().fit(X[train], y[train]).predict(X[test]))[0]


def test_routing_off(data):
    """Groups reach the splitter only: an error, not one ranking of different queries."""
    X, y, qid = data
    with pytest.raises(ValueError, match="qid=None is ambiguous to a scorer"):
        cross_val_score(Ranker(), X, y, groups=qid, cv=GroupKFold(), scoring=ndcg_scorer(), error_score="raise")
    called, weights = {"qid": qid}, np.arange(len(y)) % 3
    plain = (
        ndcg_scorer()(Ranker().fit(X, y), X, y, **called),
        ndcg_scorer()(Ranker().fit(X, y), X, y, sample_weight=weights, **called),
    )
    with config_context(enable_metadata_routing=True):
        called["sample_weight"] = weights
        assert plain[1] == ndcg_scorer()(Ranker().fit(X, y), X, y, **called)
    assert plain[0] == ndcg(y, Ranker().fit(X, y).predict(X), qid).mean() != plain[1]
    one = ndcg_scorer(one_query=True)
    found = cross_val_score(Ranker(), X, y, groups=qid, cv=LeaveOneGroupOut(), scoring=one, error_score="raise")
    with config_context(enable_metadata_routing=True):
        params = {"groups": qid}
        routed = cross_val_score(Ranker(), X, y, params=params, cv=LeaveOneGroupOut(), scoring=ndcg_scorer(), error_score="raise")
    np.testing.assert_array_equal(found, routed)


def test_routing_off_with_weights(data):
    X, y, _ = data
    weights = np.arange(len(y)) % 3
    ranker = Ranker().fit(X, y)
    found = ndcg_scorer(one_query=True)(ranker, X, y, sample_weight=weights)
    assert found == ndcg(y[weights > 0], ranker.predict(X)[weights > 0])[0]
    search = GridSearchCV(Ranker(), {"reverse": [False, True]}, cv=3, scoring=ndcg_scorer(one_query=True), error_score="raise")
    assert search.fit(X, y, sample_weight=weights + 1).best_score_ > 0.5


@pytest.mark.parametrize("switched_on", [False, True])
def test_label_ranking(switched_on):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.maximum(np.round(X @ rng.normal(size=(3, 5))), 0)
    groups = np.arange(40) % 7  # these serve the splitter only
    scorer = ndcg_scorer(k=3)
    with config_context(enable_metadata_routing=switched_on):
        given = {"params": {"groups": groups}} if switched_on else {"groups": groups}
        found = cross_val_score(LabelRanker(), X, y, cv=GroupKFold(3), scoring=scorer, error_score="raise", **given)
        plain = cross_val_score(LabelRanker(), X, y, cv=3, scoring=scorer, error_score="raise", params={})
    for score, (train, test) in zip(found, GroupKFold(3).split(X, y, groups), strict=True):
        assert score == ndcg(y[test], LabelRanker().fit(X[train], y[train]).decision_function(X[test]), k=3).mean()
    assert plain.min() > 0.8


def test_estimators_of_scikit_learn(data):
    X, y, _ = data
    model = LinearRegression().fit(X, y)
    assert ndcg_scorer(one_query=True)(model, X, y) == ndcg(y, model.predict(X))[0]
    model = LogisticRegression().fit(X, y > 0)
    assert ndcg_scorer(one_query=True)(model, X, y) == ndcg(y, model.decision_function(X))[0]
    probability = make_query_scorer(ndcg, response_method="predict_proba", one_query=True)
    assert probability(model, X, y) == ndcg(y, model.predict_proba(X)[:, 1])[0]


def test_scorer_refuses_at_once():
    with pytest.raises(TypeError, match="depth"):
        make_query_scorer(ndcg, depth=3)
    with pytest.raises(TypeError, match="k"):
        make_query_scorer(precision_at_k)
    with pytest.raises(ValueError, match="response_method"):
        make_query_scorer(ndcg, response_method="rank")
