"""Rankers in pipelines and searches, with callbacks, streams and epochs."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from cases import needs_callbacks, needs_scikit_learn, without_ids
from ranking_cases import label_ranker, make_data, make_labels, ranker, refuses
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronRanker
from sklearn_predtron.losses import NDCG
from sklearn_predtron.metrics import ndcg_scorer
from sklearn_predtron.representations import PowerRank
from sklearn_predtron.updates import Adaptive
from tests.families.test_ranking import state

# ------------------------------------------------------------------------------------------------ pipelines, searches, routing


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


CALLS = []


class Spied(PredtronRanker):
    """Remembers what reaches it."""

    def fit(self, X, y, qid=None, sample_weight=None):
        CALLS.append(("fit", len(X), qid, sample_weight))
        return super().fit(X, y, qid=qid, sample_weight=sample_weight)

    def score(self, X, y, qid=None, sample_weight=None):
        CALLS.append(("score", len(X), qid, sample_weight))
        return super().score(X, y, qid=qid, sample_weight=sample_weight)


GRID = {
    "spied__representation": ["log", "linear", PowerRank(2.0)],
    "spied__update": ["adaptive", "slam"],
    "spied__loss": ["ndcg", NDCG(k=3)],
}


@needs_scikit_learn("1.8", "searches pass ids and weights to the score of a pipeline")
def test_grid_search_passes_ids_and_weights(routing):
    X, y, qid = make_data()
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    order = np.random.default_rng(1).permutation(len(y))
    X, y, qid = X[order], y[order], qid[order]
    pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), Spied(random_state=0, max_iter=2))
    CALLS.clear()
    search = GridSearchCV(pipeline, GRID, cv=GroupKFold(3), error_score="raise")
    search.fit(X, y, groups=qid, sample_weight=weight)
    assert len(CALLS) == 2 * 3 * 12 + 1
    parts = [set(qid[test]) for _, test in GroupKFold(3).split(X, y, qid)]
    for method, n, ids, weights in CALLS[:-1]:
        assert len(ids) == len(weights) == n < len(y)
        assert any(set(ids) == (part if method == "score" else set(qid) - part) for part in parts)
        known = dict(zip(weight, qid, strict=True))
        assert [known[w] for w in weights] == list(ids)
    np.testing.assert_array_equal(CALLS[-1][2], qid)

    results, splits = search.cv_results_, list(GroupKFold(3).split(X, y, qid))
    for i in (0, 5, 11):
        candidate = clone(pipeline).set_params(**results["params"][i])
        for number, (train, test) in enumerate(splits):
            scaler = StandardScaler().fit(X[train])
            model = clone(candidate[-1]).fit(scaler.transform(X[train]), y[train], qid[train], weight[train])
            expected = model.score(scaler.transform(X[test]), y[test], qid[test], weight[test])
            assert results[f"split{number}_test_score"][i] == expected
    assert len(np.unique(np.round(results["mean_test_score"], 9))) > 3
    assert search.score(X, y, groups=qid) == search.best_estimator_.score(X, y, groups=qid)
    assert search.best_estimator_.predict(X).shape == (len(y),)


def test_search_of_the_parameters_of_parts(routing):
    X, y, qid = make_data()
    grid = {"loss__k": [1, None], "update__kappa": [0.1, 3.0], "representation__alpha": [0.5, 2.0]}
    model = ranker(loss=NDCG(), update=Adaptive(), representation=PowerRank(), max_iter=2)
    search = GridSearchCV(model, grid, cv=GroupKFold(3), error_score="raise").fit(X, y, groups=qid)
    assert len(np.unique(np.round(search.cv_results_["mean_test_score"], 12))) > 2
    assert set(search.best_params_) == set(grid)


def test_cross_validation(routing):
    X, y, qid = make_data()
    scores = cross_val_score(ranker(), X, y, cv=GroupKFold(3), params={"groups": qid}, error_score="raise")
    expected = []
    for train, test in GroupKFold(3).split(X, y, qid):
        expected.append(ranker().fit(X[train], y[train], qid[train]).score(X[test], y[test], qid[test]))
    np.testing.assert_array_equal(scores, expected)
    scoring = {"ndcg": ndcg_scorer(), "ndcg@3": ndcg_scorer(k=3)}
    found = cross_validate(ranker(), X, y, cv=GroupKFold(3), params={"groups": qid}, scoring=scoring, error_score="raise")
    np.testing.assert_allclose(found["test_ndcg"], expected, rtol=1e-14)
    assert (found["test_ndcg@3"] != expected).any()


def test_pipeline_scores(routing):
    X, y, qid = make_data()
    pipeline = make_pipeline(StandardScaler(), ranker()).fit(X, y, groups=qid)
    rows = pipeline[:-1].transform(X)
    assert state(pipeline[-1]) == state(ranker().fit(rows, y, qid))
    assert pipeline.score(X, y, groups=qid) == pipeline[-1].score(rows, y, qid)
    with pytest.raises(ValueError, match="without qid"):
        pipeline.score(X, y)
    with pytest.raises(TypeError, match="qid"):
        pipeline.score(X, y, qid=qid)


def test_another_request(routing):
    """The user may ask for ids under another name."""
    X, y, qid = make_data()
    model = ranker().set_fit_request(qid="query").set_score_request(qid="query")
    pipeline = make_pipeline(StandardScaler(), model).fit(X, y, query=qid)
    assert pipeline.score(X, y, query=qid) == pipeline[-1].score(pipeline[:-1].transform(X), y, qid)


def test_without_routing():
    X, y, qid = make_data()
    pipeline = make_pipeline(StandardScaler(), ranker()).fit(X, y, predtronranker__qid=qid)
    with pytest.raises(ValueError, match=r"without qid.*enable_metadata_routing=True"):
        pipeline.score(X, y)
    for call in (
        lambda: cross_val_score(ranker(), X, y, groups=qid, cv=GroupKFold(3), params={"qid": qid}, error_score="raise"),
        lambda: GridSearchCV(ranker(), {"max_iter": [1]}, cv=GroupKFold(3), error_score="raise").fit(X, y, groups=qid, qid=qid),
    ):
        with pytest.raises(ValueError, match=r"without qid.*enable_metadata_routing=True"):
            call()


def test_label_ranker_in_a_search():
    X, y = make_labels()
    pipeline = make_pipeline(StandardScaler(), label_ranker(max_iter=2))
    grid = {"predtronlabelranker__update": ["adaptive", "mmp", "slam"], "predtronlabelranker__representation": ["log", "linear"]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.7
    assert search.predict(X).shape == y.shape
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    assert pipeline.fit(X, y, predtronlabelranker__sample_weight=weight).score(X, y, sample_weight=weight) > 0.7


# ---------------------------------------------------------------------------------------------------------------- callbacks


class Watcher:
    """Keeps what each epoch is shown."""

    def __init__(self):
        self.seen = []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **data):
        pass

    def on_fit_task_end(self, estimator, context, *, X=None, metadata=None):
        if context.task_name == "epoch":
            self.seen.append((estimator.n_iter_, metadata, len(X)))


@needs_callbacks
@without_ids
def test_callbacks_are_shown_the_ids():
    X, y, qid = make_data()
    for given in ({}, {"qid": qid}, {"qid": qid, "sample_weight": np.ones(len(y))}):
        watcher = Watcher()
        model = ranker(max_iter=3).set_callbacks(watcher).fit(X, y, **given)
        assert [n for n, _, _ in watcher.seen] == list(range(1, model.n_iter_ + 1))
        for _, metadata, n in watcher.seen:
            assert (metadata or {}).keys() == given.keys()
            assert all(metadata[name] is value for name, value in given.items())
            assert n == len(y)
        assert state(model) == state(ranker(max_iter=3).fit(X, y, **given))


@needs_callbacks
@pytest.mark.parametrize("weighed", [False, True])
def test_scoring_monitor(weighed):
    from sklearn.callback import ScoringMonitor

    X, y, qid = make_data()
    given = {"qid": qid} | ({"sample_weight": np.random.default_rng(0).uniform(0.5, 2, len(y))} if weighed else {})
    expected = [ranker(max_iter=n).fit(X, y, **given).score(X, y, **given) for n in (1, 2, 3)]
    for scoring in (ndcg_of_queries, ndcg_scorer()):
        monitor = ScoringMonitor(scoring=scoring)
        ranker(max_iter=3).set_callbacks(monitor).fit(X, y, **given)
        scores = [entry["score"] for entry in monitor.get_logs().data if entry["task_name"] == "epoch"]
        np.testing.assert_allclose(scores, expected, rtol=1e-14)
    X, y = make_labels()
    monitor = ScoringMonitor(scoring=ndcg_of_queries)
    label_ranker(max_iter=3).set_callbacks(monitor).fit(X, y)
    scores = [entry["score"] for entry in monitor.get_logs().data if entry["task_name"] == "epoch"]
    assert scores == [label_ranker(max_iter=n).fit(X, y).score(X, y) for n in (1, 2, 3)]


@needs_callbacks
def test_scoring_monitor_with_routing(routing):
    from sklearn.callback import ScoringMonitor

    X, y, qid = make_data()
    monitor = ScoringMonitor(scoring=ndcg_scorer())
    model = ranker(max_iter=2).set_callbacks(monitor).fit(X, y, qid=qid)
    assert [entry["score"] for entry in monitor.get_logs().data if entry["task_name"] == "epoch"][-1] == model.score(X, y, qid)


def ndcg_of_queries(model, X, y, **given):
    return {"score": model.score(X, y, **given)}


@needs_callbacks
def test_progress_bar(capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    X, y, qid = make_data()
    model = ranker().set_callbacks(ProgressBar()).fit(X, y, qid)
    assert "PredtronRanker" in capsys.readouterr().out
    assert state(model) == state(ranker().fit(X, y, qid))


# ------------------------------------------------------------------------------------------------------- streams and epochs


@pytest.mark.parametrize("update", ["adaptive", "slam", "max_pair"])
def test_stream_of_one_query_a_call(update):
    """By any way to write a single query: the same bits as one call."""
    X, y, qid = make_data()
    whole = state(ranker(update=update).partial_fit(X, y, qid))
    ways = [
        lambda X, y: (X, y),
        lambda X, y: (X, y, [0] * len(y)),
        lambda X, y: (X, y.tolist()),
        lambda X, y: (X, y.astype(np.float32)),
        lambda X, y: (X, pd.Series(y, index=y)),
        lambda X, y: (X.tolist(), y),
        lambda X, y: (X, y, None, np.ones(len(y))),
    ]
    mixed = ranker(update=update)
    for way in ways:
        model = ranker(update=update)
        for query in np.unique(qid):
            model.partial_fit(*way(X[qid == query], y[qid == query]))
        assert state(model) == whole
    for query in np.unique(qid):
        mixed.partial_fit(*ways[query % len(ways)](X[qid == query], y[qid == query]))
        mixed.predict(X)
    assert state(mixed) == whole


def test_warm_start():
    X, y, qid = make_data()
    model = ranker(norm="l2", warm_start=True, shuffle=False, max_iter=2).fit(X, y, qid)
    rounds = model.t_
    model.fit(X, y, qid)
    assert model.t_ == 2 * rounds
    assert state(model) == state(ranker(norm="l2", shuffle=False, max_iter=4).fit(X, y, qid))
    assert model.set_params(warm_start=False).fit(X, y, qid).t_ == rounds
    X, y = make_labels()
    labels = label_ranker(norm="l2", warm_start=True, shuffle=False, max_iter=2).fit(X, y).fit(X, y)
    assert state(labels) == state(label_ranker(norm="l2", shuffle=False, max_iter=4).fit(X, y))


@pytest.mark.parametrize(("average", "weigh"), [("uniform", lambda t: 1), ("linear", lambda t: t), (3.0, lambda t: 2 ** (t / 3))])
def test_averages(average, weigh):
    X, y, qid = make_data()
    model, iterates, weights = ranker(norm="l2", average=average), [], []
    for query in np.unique(qid):
        model.partial_fit(X[qid == query], y[qid == query])
        iterates.append(model.last_coef_)
        weights.append(weigh(model.t_))
    np.testing.assert_allclose(model.coef_, np.average(iterates, axis=0, weights=weights), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_, atol=1e-12)
    last = ranker(norm="l2", average=False).partial_fit(X, y, qid)
    np.testing.assert_array_equal(last.coef_, model.last_coef_)


def test_shapes_and_intercepts():
    X, y, qid = make_data()
    model = ranker().fit(X, y, qid)
    assert model.coef_.shape == model.last_coef_.shape == (5,)
    assert (model.intercept_, model.last_intercept_) == (0.0, 0.0)
    assert isinstance(model.intercept_, float)
    X, y = make_labels()
    labels = label_ranker().fit(X, y)
    assert labels.coef_.shape == labels.last_coef_.shape == (5, 4)
    assert labels.intercept_.shape == labels.last_intercept_.shape == (5,)
    np.testing.assert_allclose(labels.decision_function(X), X @ labels.coef_.T + labels.intercept_, atol=1e-12)


def test_names_of_the_features():
    X, y, qid = make_data()
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = ranker().fit(frame, y, qid)
    np.testing.assert_array_equal(model.feature_names_in_, list("abcde"))
    assert state(model) == state(ranker().fit(X, y, qid))
    for call in (lambda: model.predict(frame[list("bacde")]), lambda: model.partial_fit(frame[list("bacde")], y, qid)):
        refuses(model, call, "feature names")
    stream = ranker()
    for query in np.unique(qid):
        stream.partial_fit(frame[qid == query], y[qid == query])
    assert state(stream) == state(ranker().partial_fit(X, y, qid))
    with pytest.warns(UserWarning, match="feature names"):
        model.partial_fit(X[qid == 0], y[qid == 0])
    assert not hasattr(ranker().fit(X, y, qid), "feature_names_in_")


def test_unfitted():
    X, y, qid = make_data()
    for call in ("predict", "rank", "sample_loss", "score", "margin"):
        with pytest.raises(NotFittedError):
            getattr(ranker(), call)(*(X,) if call in ("predict", "rank") else (X, y, qid))
