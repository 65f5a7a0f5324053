"""Scorers that take the ids of queries or of sequences: in searches and pipelines, with weights, with routing on and off."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, hamming_loss, top_k_accuracy_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneGroupOut, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import metrics
from sklearn_predtron._support.queries import SID, split_ids
from sklearn_predtron.datasets import make_sequences, window
from sklearn_predtron.metrics import (
    chunk_f1_score,
    make_query_scorer,
    mean_over_queries,
    ndcg,
    ndcg_scorer,
    precision_at_k,
    precision_at_k_scorer,
    token_scorer,
)

ROUTED = {"sid": "groups", "sample_weight": False}


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


class Tagger(BaseEstimator):
    """Classifies tokens beside their neighbours, which it knows by the ids; several sequences without ids are refused."""

    __metadata_request__fit = ROUTED
    __metadata_request__predict = ROUTED
    __metadata_request__decision_function = ROUTED

    def __init__(self, before=1):
        self.before = before

    def fit(self, X, y, sid=None, sample_weight=None):
        X, sid = split_ids(X, sid, SID)
        self.several_ = sid is not None and len(np.unique(sid)) > 1
        self.model_ = LogisticRegression().fit(window(X, sid, self.before, 1), y)
        return self

    def predict(self, X, sid=None):
        return self.model_.predict(self._window(X, sid))

    def decision_function(self, X, sid=None):
        return self.model_.decision_function(self._window(X, sid))

    def _window(self, X, sid):
        X, sid = split_ids(X, sid, SID)
        if sid is None and self.several_:
            raise ValueError("predict was called without sid")
        return window(X, sid, self.before, 1)


def queries():
    """Documents with an offset that those of a query have in common: ranking within a query is easy, over all it is not."""
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(90, 3)), rng.permutation(np.repeat(np.arange(15), 6))
    relevance = X @ [2, 1, 0] + rng.normal(scale=0.5, size=90)
    y = (relevance > 0.5).astype(int) + (relevance > 2)
    return X + 20 * qid[:, None] % 100, y, np.array([f"query {q}" for q in qid])


def tokens():
    X, y, sid = make_sequences(60, n_labels=5, n_features=10, n_tokens=(2, 6), noise=0.5, bio=True, random_state=0)
    mixed = np.random.default_rng(0).permutation(len(y))
    return X[mixed], y[mixed], np.array([f"sentence {i}" for i in sid])[mixed]


MODELS = {"qid": Ranker(), "sid": Tagger()}
DATA = {"qid": queries(), "sid": tokens()}
PLAIN = {"qid": (ndcg_scorer, ndcg), "sid": (lambda **how: token_scorer(accuracy_score, **how), accuracy_score)}
ONE = {"qid": "one_query", "sid": "one_sequence"}
both = pytest.mark.parametrize("ids", MODELS)
switched = pytest.mark.parametrize("switched_on", [False, True])


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def by_hand(name, y, measure, **params):
    """The scores that cross-validation should find; a ranker is fitted without ids."""
    model, (X, _, ids) = clone(MODELS[name]), DATA[name]
    for train, test in GroupKFold().split(X, y, ids):
        given = {key: value[test] if isinstance(value, np.ndarray) else value for key, value in params.items()}
        if name == "qid":
            yield mean_over_queries(measure, y[test], model.fit(X[train], y[train]).predict(X[test]), ids[test], **given)
        else:
            given |= {"sid": ids[test]} if measure is chunk_f1_score else {}
            yield measure(y[test], model.fit(X[train], y[train], ids[train]).predict(X[test], ids[test]), **given)


def validated(name, y, scorer, model=None, **more):
    X, _, ids = DATA[name]
    how = {"params": {"groups": ids, **more}, "cv": GroupKFold(), "scoring": scorer, "error_score": "raise"}
    found = cross_validate(model or MODELS[name], X, y, **how, return_train_score=True)
    assert np.isfinite(found["train_score"]).all()
    return found["test_score"]


OF_NAMES = ("ndcg", "average_precision", "kendall_tau", "reciprocal_rank")


@pytest.mark.always
@pytest.mark.parametrize(
    ("ids", "scorer", "measure", "params"),
    [
        *(("qid", getattr(metrics, f"{name}_scorer")(), getattr(metrics, name), {}) for name in OF_NAMES),
        ("qid", ndcg_scorer(k=3, gain="linear"), ndcg, {"k": 3, "gain": "linear"}),
        ("qid", precision_at_k_scorer(k=2), precision_at_k, {"k": 2}),
        ("qid", make_query_scorer(ndcg, k=1, response_method="predict"), ndcg, {"k": 1}),
        ("qid", make_query_scorer(ndcg, one_query=True), ndcg, {}),  # ids that do come are used
        ("sid", token_scorer(chunk_f1_score), chunk_f1_score, {}),
        ("sid", token_scorer(accuracy_score), accuracy_score, {}),
        ("sid", token_scorer(accuracy_score, normalize=False), accuracy_score, {"normalize": False}),
        ("sid", token_scorer(hamming_loss, greater_is_better=False), lambda *y: -hamming_loss(*y), {}),
    ],
)
def test_cross_validation_is_that_by_hand(ids, scorer, measure, params, routing):
    """Of scorers made before routing was switched on, of their copies, and in pipelines."""
    _, y, _ = DATA[ids]
    y = np.minimum(y, 1) if measure is metrics.average_precision else y
    expected = list(by_hand(ids, y, measure, **params))
    for each in (scorer, clone(scorer, safe=False), pickle.loads(pickle.dumps(scorer)), copy.deepcopy(scorer)):
        np.testing.assert_allclose(validated(ids, y, each), expected)
    piped = make_pipeline(StandardScaler(with_mean=False, with_std=False), MODELS[ids])
    np.testing.assert_allclose(validated(ids, y, scorer, piped), expected)


def test_scores_of_another_method(routing):
    _, y, _ = DATA["sid"]
    top = token_scorer(top_k_accuracy_score, response_method="decision_function", k=2)
    assert (validated("sid", y, top) > validated("sid", y, token_scorer(accuracy_score))).all()


@pytest.mark.parametrize(
    ("ids", "scorer", "measure"),
    [("qid", ndcg_scorer, ndcg)]
    + [("sid", lambda measure=measure: token_scorer(measure), measure) for measure in (chunk_f1_score, accuracy_score)],
)
def test_weights_and_other_requests(ids, scorer, measure, routing):
    _, y, of_rows = DATA[ids]
    weights = np.array([int(one.split()[1]) % 3 for one in of_rows])
    if ids == "qid":
        weights = np.random.default_rng(1).integers(0, 4, len(y))
    model = clone(MODELS[ids]).set_fit_request(sample_weight=False)
    expected = list(by_hand(ids, y, measure, sample_weight=weights))
    np.testing.assert_allclose(validated(ids, y, scorer(), model, sample_weight=weights), expected)
    other = scorer().set_score_request(**{ids: "other"})
    np.testing.assert_allclose(validated(ids, y, other, other=of_rows), list(by_hand(ids, y, measure)))


def test_search_over_rankers(routing):
    X, y, qid = DATA["qid"]
    ranker = Ranker().set_fit_request(qid="groups", sample_weight=False)
    scoring = {"ndcg": ndcg_scorer(k=3), "tau": metrics.kendall_tau_scorer()}
    pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), ranker)
    search = GridSearchCV(pipeline, {"ranker__reverse": [True, False]}, cv=GroupKFold(), scoring=scoring, refit="ndcg")
    search = clone(search).set_params(error_score="raise").fit(X, y, groups=qid)
    assert search.best_estimator_["ranker"].n_queries_ == 15
    assert search.best_params_ == {"ranker__reverse": False}
    assert search.best_score_ > 0.9 and search.cv_results_["mean_test_tau"][1] > 0.7
    expected = mean_over_queries(ndcg, y, search.predict(X), qid, k=3)
    assert search.score(X, y, groups=qid) == search.scorer_["ndcg"](search.best_estimator_, X, y, qid=qid) == expected


def test_search_over_taggers(routing):
    X, y, sid = DATA["sid"]
    pipeline = make_pipeline(StandardScaler(), Tagger())
    scoring = {"f1": token_scorer(chunk_f1_score), "accuracy": token_scorer(accuracy_score)}
    search = GridSearchCV(pipeline, {"tagger__before": [0, 1]}, cv=GroupKFold(), scoring=scoring, refit="f1", error_score="raise")
    search = clone(search).fit(X, y, groups=sid)
    predicted = search.best_estimator_.predict(X, groups=sid)
    assert search.score(X, y, groups=sid) == chunk_f1_score(y, predicted, sid)
    # The scorer asks the best estimator of a search, which itself hands no ids on.
    assert search.scorer_["accuracy"](search, X, y, sid=sid) == accuracy_score(y, predicted)
    asked = make_pipeline(StandardScaler(), Tagger().set_predict_request(sid=True)).fit(X, y, groups=sid)
    assert token_scorer(accuracy_score)(asked, X, y, sid=sid) == accuracy_score(y, asked.predict(X, sid=sid))


@switched
def test_direct_calls_of_taggers(switched_on):
    X, y, sid = DATA["sid"]
    with config_context(enable_metadata_routing=switched_on):
        scaled = StandardScaler().fit_transform(X)
        wanted = chunk_f1_score(y, Tagger().fit(scaled, y, sid).predict(scaled, sid), sid)
        name = "groups" if switched_on else "tagger__sid"
        pipeline = make_pipeline(StandardScaler(), Tagger()).fit(X, y, **{name: sid})
        scorer = token_scorer(chunk_f1_score)
        assert scorer(pipeline, X, y, sid=sid) == wanted
        assert scorer(pipeline[-1], scaled, y, sid=sid, sample_weight=np.ones(len(y))) == wanted
        nested = make_pipeline(StandardScaler(), make_pipeline("passthrough", pipeline[-1]))
        nested.steps[0] = pipeline.steps[0]
        assert scorer(nested, X, y, sid=sid) == wanted
        for model in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
            assert scorer(model.fit(X, y), X, y, sid=sid) == chunk_f1_score(y, model.predict(X), sid)


@both
@switched
def test_without_ids(ids, switched_on):
    """An error, not one ranking of different queries or one sequence of many; also where groups reach the splitter only."""
    (X, y, of_rows), model, (scorer, measure) = DATA[ids], MODELS[ids], PLAIN[ids]
    one, ambiguous = scorer(**{ONE[ids]: True}), rf"{ids}=None is ambiguous to a scorer.*enable_metadata_routing=True"
    how = {"cv": KFold(3), "error_score": "raise"}
    with config_context(enable_metadata_routing=switched_on):
        with pytest.raises(ValueError, match=ambiguous):
            cross_val_score(model, X, y, scoring=scorer(), params={}, **how)
        found = cross_val_score(model, X, y, scoring=one, params={}, **how)
        if ids == "sid":
            with pytest.raises(ValueError, match="predict was called without sid"):
                one(clone(model).fit(X, y, of_rows), X, y)
    for score, (train, test) in zip(found, KFold(3).split(X), strict=True):
        assert score == np.squeeze(measure(y[test], clone(model).fit(X[train], y[train]).predict(X[test])))
    with pytest.raises(ValueError, match=ambiguous):
        cross_val_score(model, X, y, groups=of_rows, cv=GroupKFold(), scoring=scorer(), error_score="raise")
    if ids == "sid":
        groups = np.arange(len(y)) % 3
        assert len(cross_val_score(model, X, y, groups=groups, cv=LeaveOneGroupOut(), scoring=one)) == 3


def test_calls_of_rankers_without_routing():
    """They give what they give with it."""
    X, y, qid = DATA["qid"]
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
    ranker = Ranker().fit(X, y)
    found = ndcg_scorer(one_query=True)(ranker, X, y, sample_weight=weights)
    assert found == ndcg(y[weights > 0], ranker.predict(X)[weights > 0])[0]
    search = GridSearchCV(Ranker(), {"reverse": [False, True]}, cv=3, scoring=ndcg_scorer(one_query=True), error_score="raise")
    assert search.fit(X, y, sample_weight=weights + 1).best_score_ > 0.5


@switched
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


def test_estimators_of_scikit_learn():
    X, y, _ = DATA["qid"]
    model = LinearRegression().fit(X, y)
    assert ndcg_scorer(one_query=True)(model, X, y) == ndcg(y, model.predict(X))[0]
    model = LogisticRegression().fit(X, y > 0)
    assert ndcg_scorer(one_query=True)(model, X, y) == ndcg(y, model.decision_function(X))[0]
    probability = make_query_scorer(ndcg, response_method="predict_proba", one_query=True)
    assert probability(model, X, y) == ndcg(y, model.predict_proba(X)[:, 1])[0]


def test_column_of_ids():
    X, y, sid = DATA["sid"]
    frame = pd.DataFrame(X).rename(columns=str).assign(sid=sid)
    for switched_on in (False, True):
        with config_context(enable_metadata_routing=switched_on):
            search = GridSearchCV(Tagger(), {"before": [1]}, cv=GroupKFold(), scoring=token_scorer(chunk_f1_score))
            search = search.set_params(error_score="raise").fit(frame, y, groups=sid)
            found = [search.cv_results_[f"split{i}_test_score"][0] for i in range(5)]
            np.testing.assert_allclose(found, list(by_hand("sid", y, chunk_f1_score)))
            with pytest.raises(ValueError, match="column 'sid' of X that differs"):
                token_scorer(accuracy_score)(search, frame, y, sid=sid[::-1])


def test_sparse_rows():
    X, y, sid = DATA["sid"]
    X = sparse.csr_matrix(np.where(X > 0, X, 0))
    model = Tagger().fit(X, y, sid)
    assert token_scorer(accuracy_score)(model, X, y, sid=sid) == accuracy_score(y, model.predict(X, sid))


@pytest.mark.always
@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: make_query_scorer(ndcg, depth=3), TypeError, "depth"),
        (lambda: make_query_scorer(precision_at_k), TypeError, "k"),
        (lambda: make_query_scorer(ndcg, response_method="rank"), ValueError, "response_method"),
        (lambda: token_scorer(accuracy_score, depth=3), TypeError, "depth"),
        (lambda: token_scorer(accuracy_score, response_method="rank"), ValueError, "response_method"),
        (lambda: token_scorer(accuracy_score, response_method=["predict"]), ValueError, r"=\['predict'\] must be the name of a"),
    ],
)
def test_scorer_refuses_at_once(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_repr():
    assert repr(token_scorer(chunk_f1_score)).startswith("make_scorer(chunk_f1_score")
