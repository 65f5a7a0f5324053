"""Rankers in pipelines and searches, with callbacks, streams and epochs."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from cases import needs_callbacks, needs_scikit_learn, state, without_ids
from ranking_cases import label_ranker, make_data, make_labels, plain, ranker, refuses
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronRanker
from sklearn_predtron.losses import NDCG, RankingLoss
from sklearn_predtron.metrics import ndcg_scorer
from sklearn_predtron.representations import LinearRank, PowerRank
from sklearn_predtron.updates import Adaptive, LossAugmented, LossDriven

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


# ----------------------------------------------------------------------------------------------------------- functions of users


def falling_below_six(j):
    """Falls for lists of fewer than 6."""
    return -np.minimum(j, 5.0)


@pytest.mark.parametrize(
    "setting", [{"representation": falling_below_six}, {"loss": NDCG(discount=lambda j: np.where(j > 5, 2.0, 1.0))}], ids=plain
)
def test_a_longer_query_than_ever_before(setting):
    """Positions that no list had so far are asked for in mid-stream."""
    rng = np.random.default_rng(0)
    model, plain = ranker(**setting), ranker(**setting)
    parameter = "representation" if "representation" in setting else "discount"
    for _ in range(3):
        X, y = rng.standard_normal((2, 3)), [0, 1]
        model.partial_fit(X, y), plain.partial_fit(X, y)
    long = rng.standard_normal((9, 3))
    fitted = clone(model).fit(X, y, "one")
    for learner in (model, fitted):
        before, scores = state(learner), learner.predict(long)
        calls = [
            lambda learner=learner: learner.partial_fit(long, np.arange(9)),
            lambda learner=learner: learner.partial_fit(long, np.arange(9), qid=[0] * 9),
            lambda learner=learner: learner.fit(long, np.arange(9), "one"),
            lambda learner=learner: learner.sample_loss(long, np.arange(9), "one"),
            lambda learner=learner: learner.margin(long, np.arange(9), "one"),
        ]
        for call in calls:
            with pytest.raises(ValueError, match=f"^{parameter}="):
                call()
            assert state(learner) == before
            np.testing.assert_array_equal(learner.predict(long), scores)
    for _ in range(3):
        X, y = rng.standard_normal((3, 3)), [0, 1, 1]
        model.partial_fit(X, y), plain.partial_fit(X, y)
    assert state(model) == state(plain)


def test_functions_of_the_user():
    """A function gives what the part of the same values gives."""
    X, y, qid = make_data()
    for own, part in (
        ({"representation": lambda j: -j}, {"representation": "linear"}),
        ({"representation": lambda j: 1 / j}, {"representation": "reciprocal"}),
        ({"loss": NDCG(gain=lambda y: y)}, {"loss": NDCG(gain="linear")}),
        ({"loss": NDCG(gain=lambda y: 2.0**y - 1)}, {"loss": "ndcg"}),
        ({"loss": NDCG(k=3, discount=lambda j: 1 / np.log2(1 + j))}, {"loss": NDCG(k=3)}),
    ):
        model, other = ranker(**own).fit(X, y, qid), ranker(**part).fit(X, y, qid)
        np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-9)
        np.testing.assert_allclose(model.sample_loss(X, y, qid), other.sample_loss(X, y, qid), atol=1e-12)
    precise = ranker(loss=NDCG(k=2, gain="linear", discount=np.ones_like)).fit(X, y > 1, qid)
    t = precise.predict(X)
    best = [np.sort(y[qid == q] > 1)[::-1][:2].sum() for q in np.unique(qid)]
    found = [(y[qid == q] > 1)[np.argsort(-t[qid == q])][:2].sum() for q in np.unique(qid)]
    expected = [1 - a / b if b else 0.0 for a, b in zip(found, best, strict=True)]
    np.testing.assert_allclose(precise.sample_loss(X, y > 1, qid), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("own", "weight"),
    [
        ({"representation": np.vectorize(lambda j: -float(j))}, 1.0),
        ({"loss": NDCG(discount=np.vectorize(lambda j: 1 / j))}, 1.0),
        ({"loss": NDCG(gain=np.vectorize(lambda y: 2.0 * y))}, 0.0),
    ],
    ids=["representation", "discount", "gain"],
)
def test_functions_that_stand_no_empty_arrays(own, weight):
    X, y, qid = make_data()
    model = ranker(**own).partial_fit(X, y, qid, np.full(len(y), weight))
    assert model.t_ == (20 if weight else 0)


# ------------------------------------------------------------------------------------------------------------ bad parameters


@pytest.mark.parametrize("settings", [{"fit_intercept": False}, {"class_weight": "balanced"}, {"intercept_scaling": 1.0}])
def test_parameters_that_a_ranker_of_documents_does_not_have(settings):
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        PredtronRanker(**settings)


@pytest.mark.parametrize("update", [LossAugmented(eta="theory"), LossDriven(eta="theory")], ids=str)
def test_a_step_without_a_theorem_is_refused_for_single_documents_too(update):
    """Whose representations are all at one place."""
    X, y, _ = make_data(grades=(0, 1))
    model = ranker(update=update, loss="kendall_tau")
    with pytest.warns(UserWarning, match="every query has one document"):
        refuses(
            model, lambda: model.partial_fit(X[:2], y[:2], qid=[0, 1]), r"eta='theory'\) has no theorem for the pairwise form"
        )


# ------------------------------------------------------------------------------------ failures, lists of any length, subclasses


def documents(n, p=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)), rng.integers(0, 3, n)


@pytest.mark.parametrize("function", ["square", "cumsum", "empty", "zeros", "arange"])
@pytest.mark.parametrize("loss", ["ndcg", "ap", "swapped_pairs", "kendall_tau"])
def test_an_interrupt_while_room_is_made(loss, function, monkeypatch):
    """The next call finds either no array of the longer list, or all of them."""
    X, y = documents(5000)
    y = np.minimum(y, 1)
    real = getattr(np, function)
    for last in range(1, 12):
        model, calls = ranker(loss=loss).partial_fit(X[:3], [0, 1, 1]), []

        def stop(*args, calls=calls, last=last, **more):
            calls.append(args)
            if len(calls) == last:
                raise KeyboardInterrupt
            return real(*args, **more)

        monkeypatch.setattr(np, function, stop)
        try:
            model.partial_fit(X, y)
        except KeyboardInterrupt:
            assert model.t_ == 1
        monkeypatch.setattr(np, function, real)
        model.partial_fit(X[::-1].copy(), y[::-1].copy())
        assert model.t_ in (2, 3)


@pytest.mark.parametrize("update", ["max_pair", "mmp", "slam", "listnet", "adaptive", "perceptron"])
def test_rows_out_of_range(update):
    """A row too long to be learned from is refused before anything changes, whatever the update."""
    a, b = np.zeros((1, 16)), np.zeros((1, 16))
    a[0, :2], b[0, :2] = (1e100, -1e100), (1e200, 1e200)
    model = label_ranker(update=update, average=False, fit_intercept=False).partial_fit(a, [[2, 1, 0]])
    refuses(model, lambda: model.partial_fit(b, [[0, 1, 2]]), "has the length 1.41e\\+200")


class Short(NDCG):
    def discounts(self, m):
        return super().discounts(m)[:10]


class Rising(LinearRank):
    def values(self, m):
        return -super().values(m)


class Few(LinearRank):
    def values(self, m):
        return super().values(m)[:2]


class OneGain(NDCG):
    def gains(self, labels):
        return super().gains(labels)[:1]


class Whole(LinearRank):
    def values(self, m):
        return -np.arange(m)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"loss": Short()}, "discount"),
        ({"representation": Rising()}, "must fall strictly"),
        ({"representation": Few()}, r"must give \(30,\)"),
        ({"loss": OneGain()}, "gains of shape"),
        ({"loss": RankingLoss()}, "does not define build"),
    ],
    ids=["discounts", "rising", "few", "gains", "no build"],
)
def test_subclasses_that_break_their_word(setting, message):
    X, y = documents(30)
    model = ranker(**setting)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, y, "one")
    assert not hasattr(model, "n_features_in_")


def test_a_subclass_may_return_integers():
    X, y = documents(30)
    np.testing.assert_array_equal(ranker(representation=Whole()).fit(X, y, "one").coef_.shape, (3,))


@pytest.mark.parametrize("first", [1, 400])
def test_functions_see_no_more_positions_than_there_are(first):
    """What is decreasing for the lists there are is decreasing enough, in any split."""
    X, y = documents(801)
    table = 1 / np.arange(1.0, 402)
    setting = {"representation": lambda j: np.exp(-j), "loss": NDCG(discount=lambda j: table[j.astype(int) - 1])}
    qid = np.repeat([0, 1], [400, 401])
    whole = ranker(**setting).partial_fit(X, y, qid=qid)
    parts = ranker(**setting).partial_fit(X[:400], y[:400]).partial_fit(X[400:], y[400:])
    np.testing.assert_array_equal(whole.coef_, parts.coef_)


def test_gains_of_relevances_that_occur():
    """A function that has no value at 0 is not asked for one."""
    X = [[1.0], [2.0], [3.0]]
    assert ranker(loss=NDCG(gain=np.log)).fit(X, [2, 3, 4], "one").n_updates_ > 0


def test_absent_documents_order_no_queries():
    """The first document of weight 0 of a query does not say when the query is learned."""
    X, y, qid = np.array([[1.0, 0], [0, 1], [1, 1], [2, 1], [0.5, 3]]), np.array([0, 2, 1, 1, 0]), np.array([0, 1, 0, 1, 0])
    weight = np.array([0.0, 1, 1, 1, 1])
    kept = weight > 0
    given = ranker().partial_fit(X, y, qid=qid, sample_weight=weight)
    np.testing.assert_array_equal(given.coef_, ranker().partial_fit(X[kept], y[kept], qid=qid[kept]).coef_)


def test_a_warm_start_that_overflows_changes_nothing():
    X = np.eye(2)
    B = 1e200 * X
    model = ranker(update="max_pair", average=False, warm_start=True, shuffle=False).fit(X, [0, 1], "one")
    refuses(model, lambda: model.fit(np.r_[-B, B], [0, 1, 0, 1], qid=[0, 0, 1, 1]), "has the length 1e\\+200")


@pytest.mark.parametrize("tiny", [1e-310, 1e-17, 1e-8])
def test_tiny_relevances(tiny):
    """The loss depends on their ratios, with gains in proportion to them."""
    X, wrong = [[1.0], [2.0], [3.0]], [1, 0, 0.5]
    for gain in ("linear", "exponential"):
        if gain == "exponential" and tiny < 1e-300:
            continue
        loss = NDCG(gain=gain)
        smaller = np.array(wrong) * tiny
        scaled = ranker(loss=loss, update="max_pair").fit(X, smaller, "one").sample_loss(X, smaller, "one")
        plain = ranker(loss=NDCG(gain="linear"), update="max_pair").fit(X, wrong, "one").sample_loss(X, wrong, "one")
        np.testing.assert_allclose(scaled, plain, rtol=1e-6)


def test_weights_near_the_largest_number():
    X, y = documents(12)
    assert np.isfinite(ranker().fit(X, y, "one", sample_weight=np.full(12, 1e308)).last_coef_).all()
