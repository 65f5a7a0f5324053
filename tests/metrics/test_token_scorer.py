"""Scorers of tokens in searches: ids of sequences, weights, pipelines, routing on and off."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, hamming_loss, top_k_accuracy_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneGroupOut, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron._support.queries import SID, split_ids
from sklearn_predtron.datasets import make_sequences, window
from sklearn_predtron.metrics import chunk_f1_score, token_scorer

ROUTED = {"sid": "groups", "sample_weight": False}


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


@pytest.fixture(scope="module")
def data():
    X, y, sid = make_sequences(60, n_labels=5, n_features=10, n_tokens=(2, 6), noise=0.5, bio=True, random_state=0)
    mixed = np.random.default_rng(0).permutation(len(y))
    return X[mixed], y[mixed], np.array([f"sentence {i}" for i in sid])[mixed]


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def by_hand(X, y, sid, measure, **params):
    for train, test in GroupKFold().split(X, y, sid):
        given = {name: value[test] if isinstance(value, np.ndarray) else value for name, value in params.items()}
        given |= {"sid": sid[test]} if measure is chunk_f1_score else {}
        yield measure(y[test], Tagger().fit(X[train], y[train], sid[train]).predict(X[test], sid[test]), **given)


@pytest.mark.parametrize("measure", [chunk_f1_score, accuracy_score])
@pytest.mark.parametrize("piped", [False, True])
def test_cross_validate(data, routing, measure, piped):
    X, y, sid = data
    X = StandardScaler().fit_transform(X)
    model = make_pipeline(StandardScaler(with_mean=False, with_std=False), Tagger()) if piped else Tagger()
    scorer, expected = token_scorer(measure), list(by_hand(X, y, sid, measure))
    for each in (scorer, clone(scorer, safe=False), pickle.loads(pickle.dumps(scorer)), copy.deepcopy(scorer)):
        found = cross_validate(model, X, y, params={"groups": sid}, cv=GroupKFold(), scoring=each, error_score="raise")
        np.testing.assert_allclose(found["test_score"], expected)


def test_a_loss_and_its_parameters(data, routing):
    X, y, sid = data
    given = {"params": {"groups": sid}, "cv": GroupKFold(), "error_score": "raise"}
    found = cross_val_score(Tagger(), X, y, scoring=token_scorer(hamming_loss, greater_is_better=False), **given)
    np.testing.assert_allclose(found, [-loss for loss in by_hand(X, y, sid, hamming_loss)])
    found = cross_val_score(Tagger(), X, y, scoring=token_scorer(accuracy_score, normalize=False), **given)
    np.testing.assert_allclose(found, list(by_hand(X, y, sid, accuracy_score, normalize=False)))
    top = token_scorer(top_k_accuracy_score, response_method="decision_function", k=2)
    accuracy = cross_val_score(Tagger(), X, y, scoring=token_scorer(accuracy_score), **given)
    assert (cross_val_score(Tagger(), X, y, scoring=top, **given) > accuracy).all()


@pytest.mark.parametrize("measure", [chunk_f1_score, accuracy_score])
def test_weights(data, routing, measure):
    X, y, sid = data
    weights = np.array([int(one.split()[1]) % 3 for one in sid])
    params = {"groups": sid, "sample_weight": weights}
    found = cross_val_score(Tagger(), X, y, params=params, cv=GroupKFold(), scoring=token_scorer(measure), error_score="raise")
    np.testing.assert_allclose(found, list(by_hand(X, y, sid, measure, sample_weight=weights)))


def test_search(data, routing):
    X, y, sid = data
    pipeline = make_pipeline(StandardScaler(), Tagger())
    scoring = {"f1": token_scorer(chunk_f1_score), "accuracy": token_scorer(accuracy_score)}
    search = GridSearchCV(pipeline, {"tagger__before": [0, 1]}, cv=GroupKFold(), scoring=scoring, refit="f1", error_score="raise")
    search = clone(search).fit(X, y, groups=sid)
    predicted = search.best_estimator_.predict(X, groups=sid)
    assert search.score(X, y, groups=sid) == chunk_f1_score(y, predicted, sid)
    # The scorer asks the best estimator of a search, which itself hands no ids on.
    assert search.scorer_["accuracy"](search, X, y, sid=sid) == accuracy_score(y, predicted)


def test_other_requests(data, routing):
    X, y, sid = data
    scorer = token_scorer(chunk_f1_score).set_score_request(sid="sentence")
    params = {"groups": sid, "sentence": sid}
    found = cross_val_score(Tagger(), X, y, params=params, cv=GroupKFold(), scoring=scorer, error_score="raise")
    np.testing.assert_allclose(found, list(by_hand(X, y, sid, chunk_f1_score)))
    pipeline = make_pipeline(StandardScaler(), Tagger().set_predict_request(sid=True)).fit(X, y, groups=sid)
    assert token_scorer(accuracy_score)(pipeline, X, y, sid=sid) == accuracy_score(y, pipeline.predict(X, sid=sid))


@pytest.mark.parametrize("switched_on", [False, True])
def test_direct_calls(data, switched_on):
    X, y, sid = data
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


@pytest.mark.parametrize("switched_on", [False, True])
def test_without_ids(data, switched_on):
    X, y, sid = data
    with config_context(enable_metadata_routing=switched_on):
        with pytest.raises(ValueError, match=r"sid=None is ambiguous to a scorer.*enable_metadata_routing=True"):
            cross_val_score(Tagger(), X, y, cv=KFold(3), scoring=token_scorer(accuracy_score), error_score="raise", params={})
        with pytest.raises(ValueError, match="predict was called without sid"):
            token_scorer(accuracy_score, one_sequence=True)(Tagger().fit(X, y, sid), X, y)
        one = token_scorer(chunk_f1_score, one_sequence=True)
        found = cross_val_score(Tagger(), X, y, cv=KFold(3), scoring=one, error_score="raise", params={})
    for score, (train, test) in zip(found, KFold(3).split(X), strict=True):
        assert score == chunk_f1_score(y[test], Tagger().fit(X[train], y[train]).predict(X[test]))


def test_routing_off(data):
    """Groups reach the splitter only: an error, not one sequence made of many."""
    X, y, sid = data
    with pytest.raises(ValueError, match="sid=None is ambiguous to a scorer"):
        cross_val_score(Tagger(), X, y, groups=sid, cv=GroupKFold(), scoring=token_scorer(accuracy_score), error_score="raise")
    one = token_scorer(accuracy_score, one_sequence=True)
    assert len(cross_val_score(Tagger(), X, y, groups=np.arange(len(y)) % 3, cv=LeaveOneGroupOut(), scoring=one)) == 3


def test_column_of_ids(data):
    X, y, sid = data
    frame = pd.DataFrame(X).rename(columns=str).assign(sid=sid)
    for switched_on in (False, True):
        with config_context(enable_metadata_routing=switched_on):
            search = GridSearchCV(Tagger(), {"before": [1]}, cv=GroupKFold(), scoring=token_scorer(chunk_f1_score))
            search = search.set_params(error_score="raise").fit(frame, y, groups=sid)
            found = [search.cv_results_[f"split{i}_test_score"][0] for i in range(5)]
            np.testing.assert_allclose(found, list(by_hand(X, y, sid, chunk_f1_score)))
            with pytest.raises(ValueError, match="column 'sid' of X that differs"):
                token_scorer(accuracy_score)(search, frame, y, sid=sid[::-1])


def test_sparse_rows(data):
    X, y, sid = data
    X = sparse.csr_matrix(np.where(X > 0, X, 0))
    model = Tagger().fit(X, y, sid)
    assert token_scorer(accuracy_score)(model, X, y, sid=sid) == accuracy_score(y, model.predict(X, sid))


def test_scorer_refuses_at_once():
    with pytest.raises(TypeError, match="depth"):
        token_scorer(accuracy_score, depth=3)
    with pytest.raises(ValueError, match="response_method"):
        token_scorer(accuracy_score, response_method="rank")
    with pytest.raises(ValueError, match="response_method=\\['predict'\\] must be the name of a method"):
        token_scorer(accuracy_score, response_method=["predict"])


def test_repr():
    assert repr(token_scorer(chunk_f1_score)).startswith("make_scorer(chunk_f1_score")
