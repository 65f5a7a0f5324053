"""Rankers: query ids, scores, losses and ranks, and what a query is."""

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
from cases import needs_callbacks, needs_scikit_learn, state
from ranking_cases import interleaved, label_ranker, make_data, make_labels, ranker, refuses
from scipy import sparse
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronLabelRanker, PredtronRanker, PredtronSequenceTagger
from sklearn_predtron.datasets import make_ranking_queries
from sklearn_predtron.losses import NDCG
from sklearn_predtron.metrics import average_precision, mean_over_queries, ndcg, ndcg_scorer
from tests.cases import weights_of

# --------------------------------------------------------------------------------------------------------------- query ids


def ids_of_every_form(qid):
    names = np.array([f"query {9 * number % 31}" for number in qid])
    scattered = 9 * qid % 31 - 7
    return {
        "numbers": qid,
        "numbers in no order": scattered,
        "int8": scattered.astype(np.int8),
        "uint64": (scattered + 7).astype(np.uint64),
        "floats": scattered / 4,
        "other byte order": scattered.astype(np.dtype(np.int64).newbyteorder()),
        "list": scattered.tolist(),
        "tuple": tuple(scattered.tolist()),
        "strings": names,
        "bytes": names.astype("S"),
        "list of strings": names.tolist(),
        "objects": names.astype(object),
        "objects without an order": np.array([n if n % 2 else str(n) for n in scattered.tolist()], dtype=object),
        "tuples": pd.Series([(int(n), str(n)) for n in scattered]),
        "dates": np.datetime64("2020-01-01") + scattered,
        "series": pd.Series(scattered, index=scattered),
        "series of strings": pd.Series(names, dtype="string"),
        "nullable series": pd.Series(scattered, dtype="Int64"),
        "categorical": pd.Categorical(names),
        "series of categories": pd.Series(names).astype("category"),
        "index": pd.Index(scattered),
    }


FORMS = list(ids_of_every_form(np.arange(2)))


@pytest.mark.parametrize("form", FORMS)
def test_ids_of_every_form(form):
    """Interleaved or gathered, whatever the ids: the same bits."""
    X, y, qid = make_data()
    weight = np.random.default_rng(1).uniform(0.1, 2, len(y))
    fitted, streamed = ranker().fit(X, y, qid), ranker().partial_fit(X, y, qid, weight)
    for order in (np.arange(len(y)), interleaved(qid)):
        ids = ids_of_every_form(qid[order])[form]
        assert state(ranker().fit(X[order], y[order], qid=ids)) == state(fitted)
        assert state(ranker().partial_fit(X[order], y[order], qid=ids, sample_weight=weight[order])) == state(streamed)
        np.testing.assert_array_equal(fitted.rank(X[order], ids), fitted.rank(X, qid)[order])
        np.testing.assert_array_equal(fitted.sample_loss(X[order], y[order], ids), fitted.sample_loss(X, y, qid))
        assert fitted.score(X[order], y[order], ids, weight[order]) == pytest.approx(fitted.score(X, y, qid, weight), rel=1e-14)
        assert fitted.margin(X[order], y[order], ids) == fitted.margin(X, y, qid)


def test_ids_in_a_column():
    X, y, qid = make_data()
    model, column = ranker().fit(X, y, qid), qid[:, None]
    assert state(ranker().fit(X, y, column)) == state(model)
    np.testing.assert_array_equal(model.rank(X, column), model.rank(X, qid))
    np.testing.assert_array_equal(model.sample_loss(X, y, column), model.sample_loss(X, y, qid))
    assert model.score(X, y, column) == model.score(X, y, qid)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.coo_matrix, np.asfortranarray, pd.DataFrame, np.ndarray.tolist])
def test_interleaved_rows_of_every_form(form):
    X, y, qid = make_data()
    X[X < -0.5] = 0
    order = interleaved(qid)
    rows, torn = form(X), form(X[order])
    assert state(ranker().fit(torn, y[order], qid[order])) == state(ranker().fit(rows, y, qid))
    assert state(ranker().partial_fit(torn, y[order], qid[order])) == state(ranker().partial_fit(rows, y, qid))


def test_order_of_the_queries_is_that_of_their_first_documents():
    X, y, qid = make_data()
    order = np.random.default_rng(0).permutation(len(y))
    by_appearance = list(dict.fromkeys(qid[order]))
    model = ranker().partial_fit(X[order], y[order], qid[order])
    one_by_one = ranker()
    for query in by_appearance:
        here = order[qid[order] == query]
        one_by_one.partial_fit(X[here], y[here])
    assert state(model) == state(one_by_one)
    lost = [model.sample_loss(X[here], y[here], "one")[0] for query in by_appearance for here in [order[qid[order] == query]]]
    np.testing.assert_array_equal(model.sample_loss(X[order], y[order], qid[order]), lost)


def test_the_same_id_in_two_calls_is_two_queries():
    X, y, _ = make_data(n=2)
    first, second = slice(0, 2), slice(2, 4)
    model = ranker()
    for part in (first, second):
        model.partial_fit(X[part], y[part], qid=[5, 5])
    assert model.t_ == 2
    assert state(model) == state(ranker().partial_fit(X[:4], y[:4], qid=[0, 0, 1, 1]))


# ---------------------------------------------------------------------------------------------------- scores, losses, ranks


def test_rank():
    X, y, qid = make_data()
    model = ranker().fit(X, y, qid)
    order = interleaved(qid)
    scores, positions = model.predict(X[order]), model.rank(X[order], qid[order])
    for query in np.unique(qid):
        here = qid[order] == query
        np.testing.assert_array_equal(positions[here], 1 + (scores[here][None] > scores[here][:, None]).sum(axis=1))
        np.testing.assert_array_equal(model.rank(X[order][here], "one"), positions[here])
    assert positions.dtype.kind == "i"
    np.testing.assert_array_equal(model.rank(X, "one"), model.rank(X, np.zeros(len(X))))
    np.testing.assert_allclose(scores, X[order] @ model.coef_)


def test_documents_of_equal_scores_stay_in_their_order():
    X, y, qid = make_data()
    model = ranker().fit(X, y, qid)
    same = np.repeat(X[:3], 4, axis=0)[np.random.default_rng(0).permutation(12)]
    scores = model.predict(same)
    np.testing.assert_array_equal(model.rank(same, "one")[np.argsort(-scores, kind="stable")], np.arange(1, 13))
    np.testing.assert_array_equal(ranker().partial_fit(X[:1], [0]).rank(X[:9]), np.arange(1, 10))


def test_labels_of_equal_scores_stay_in_their_order():
    X, y = make_labels()
    np.testing.assert_array_equal(label_ranker().partial_fit(X[:1], [[2, 2, 2]]).predict(X), np.tile([1, 2, 3], (len(X), 1)))
    model = label_ranker().fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), 1 + (scores[:, None, :] > scores[:, :, None]).sum(axis=2))


def swapped(y, t):
    """The share of pairs of different relevance that are not in the right order."""
    pairs = [(i, j) for i, j in itertools.permutations(range(len(y)), 2) if y[i] > y[j]]
    return np.mean([t[i] <= t[j] for i, j in pairs]) if pairs else 0.0


LOSSES = {
    "ndcg": ("ndcg", (0, 1, 2, 3), lambda y, t: 1 - ndcg(y, t)[0]),
    "ndcg@2": (NDCG(k=2), (0, 1, 2, 3), lambda y, t: 1 - ndcg(y, t, k=2)[0]),
    "linear": (NDCG(gain="linear"), (0, 1, 40, 1000), lambda y, t: 1 - ndcg(y, t, gain="linear")[0]),
    "ap": ("ap", (0, 1), lambda y, t: 1 - average_precision(y, t)[0] if y.any() else 0.0),
    "swapped_pairs": ("swapped_pairs", (0, 2), swapped),
    "zero_one": ("ranking_zero_one", (0, 1, 2, 3), lambda y, t: float(swapped(y, t) > 0)),
    "kendall_tau": ("kendall_tau", (0, 1, 2, 3), swapped),
}
each_loss = pytest.mark.parametrize(("loss", "grades", "measure"), LOSSES.values(), ids=LOSSES)


@each_loss
def test_loss_of_each_query(loss, grades, measure):
    X, y, qid = make_data(grades=grades)
    order = np.random.default_rng(2).permutation(len(y))
    X, y, qid = X[order], y[order], qid[order]
    model = ranker(loss=loss, max_iter=2).fit(X, y, qid)
    scores = model.predict(X)
    expected = [measure(y[qid == query], scores[qid == query]) for query in dict.fromkeys(qid)]
    assert 0 < np.mean(expected) < 0.9
    np.testing.assert_allclose(model.sample_loss(X, y, qid), expected, atol=1e-12)


@each_loss
def test_loss_of_each_row_of_labels(loss, grades, measure):
    X, y = make_labels(grades=grades)
    model = label_ranker(loss=loss, max_iter=2).fit(X, y)
    expected = [measure(relevance, t) for relevance, t in zip(y, model.decision_function(X), strict=True)]
    np.testing.assert_allclose(model.sample_loss(X, y), expected, atol=1e-12)


@each_loss
def test_score_is_the_mean_ndcg_of_whole_lists(loss, grades, measure):
    grades = tuple(min(grade, 30) for grade in grades)
    X, y, qid = make_data(grades=grades)
    order = np.random.default_rng(2).permutation(len(y))
    X, y, qid = X[order], y[order], qid[order]
    model = ranker(loss=loss, max_iter=2).fit(X, y, qid)
    scores, rng = model.predict(X), np.random.default_rng(0)
    assert model.score(X, y, qid) == pytest.approx(ndcg(y, scores, qid).mean(), abs=1e-14)
    weight = rng.choice([0, 0.5, 2], len(y))
    weight[qid == 7] = 0
    kept = weight > 0
    of_query = [weight[kept & (qid == query)].mean() for query in dict.fromkeys(qid[kept])]
    expected = np.average(ndcg(y[kept], scores[kept], qid[kept]), weights=of_query)
    assert model.score(X, y, qid, sample_weight=weight) == pytest.approx(expected, abs=1e-14)
    assert model.score(X, y, qid, weight) == pytest.approx(
        mean_over_queries(ndcg, y, scores, qid, sample_weight=weight), abs=1e-14
    )
    X, y = make_labels(grades=grades)
    model = label_ranker(loss=loss, max_iter=2).fit(X, y)
    values = ndcg(y, model.decision_function(X))
    assert model.score(X, y) == pytest.approx(values.mean(), abs=1e-14)
    weight = rng.choice([0, 0.5, 2], len(y))
    assert model.score(X, y, sample_weight=weight) == pytest.approx(np.average(values, weights=weight), abs=1e-14)


# ---------------------------------------------------------------------------------------------------------- what a query is


def warned():
    return pytest.warns(UserWarning, match="qid=None: all .* rows are one query")


def test_no_ids_are_one_query():
    X, y, _ = make_data()
    with warned():
        model = ranker().fit(X, y)
    assert state(model) == state(ranker().fit(X, y, qid=["a"] * len(y)))
    assert model.t_ == model.n_iter_
    with warned():
        score = model.score(X, y)
    assert score == model.score(X, y, np.zeros(len(y))) == ndcg(y, model.predict(X))[0]
    with warned():
        assert len(model.sample_loss(X, y)) == 1


def test_no_ids_after_several_queries():
    X, y, qid = make_data()
    one, several = qid == 0, ranker().partial_fit(X, y, qid)
    for model in (ranker().fit(X, y, qid), several, several.partial_fit(X[one], y[one]), pickle.loads(pickle.dumps(several))):
        refuses(model, lambda model=model: model.score(X, y), "without qid.*enable_metadata_routing=True")
        refuses(model, lambda model=model: model.rank(X), "rank was called without qid")
        assert 0 < model.score(X, y, qid) < 1
    assert several.fit(X[one], y[one], "one").score(X[one], y[one], "one") <= 1
    stream = ranker()
    for query in range(5):
        stream.partial_fit(X[qid == query], y[qid == query])
        assert 0 < stream.score(X[one], y[one], "one") <= 1


@pytest.mark.parametrize("update", ["adaptive", "predtron", "passive_aggressive", "slam", "max_pair", "listnet", "subgradient"])
def test_queries_that_cannot_be_ranked_wrongly(update):
    """One document, all equally relevant, none relevant."""
    X, y, qid = make_data()
    model = ranker(norm="l2", update=update).partial_fit(X, y, qid)
    counts, weights = (model.n_mistakes_, model.n_updates_, model.cumulative_loss_), model.last_coef_
    for rows, relevance in ((X[:1], [3]), (X[:4], [2, 2, 2, 2]), (X[:4], [0, 0, 0, 0])):
        np.testing.assert_array_equal(model.sample_loss(rows, relevance, "one"), [0.0])
        assert model.score(rows, relevance, np.zeros(len(rows))) == 1
        assert model.margin(rows, relevance, "one") == np.inf
        if update != "listnet":
            rounds = model.t_
            model.partial_fit(rows, relevance)
            assert model.t_ == rounds + 1
            assert (model.n_mistakes_, model.n_updates_, model.cumulative_loss_) == counts
            if update != "subgradient":
                np.testing.assert_array_equal(model.last_coef_, weights)


def test_only_queries_that_cannot_be_ranked_wrongly():
    X, _, qid = make_data()
    with pytest.warns(UserWarning, match="the same relevance for all documents of each query"):
        model = ranker().fit(X, np.ones(len(X)), qid)
    assert (model.n_updates_, model.cumulative_loss_, model.n_iter_) == (0, 0, 1)
    assert not model.predict(X).any()
    assert model.score(X, np.ones(len(X)), qid) == 1
    assert np.isnan(model.margin(X, np.ones(len(X)), qid))


def test_ids_of_documents_are_no_queries():
    X, y, _ = make_data()
    for learn in (ranker().fit, ranker().partial_fit):
        with pytest.warns(UserWarning, match="every query has one document"):
            model = learn(X, y, np.arange(len(y)))
        assert model.n_updates_ == 0
    ranker().partial_fit(X[:1], y[:1], qid=[7])  # a stream may come so


def test_folds_of_maps_count_queries():
    """Not documents: few queries of many documents have five learners, and as many rows of another family one."""
    rng = np.random.default_rng(0)
    X, qid = rng.standard_normal((2000, 20)), np.arange(2000) // 50
    y = (np.sin(3 * X[:, 0]) > 0.5).astype(int)
    model, five = (PredtronRanker(features="piecewise", max_iter=3, random_state=0, cv=cv).fit(X, y, qid=qid) for cv in (None, 5))
    np.testing.assert_array_equal(weights_of(model), weights_of(five))


@pytest.mark.parametrize("update", ["adaptive", "predtron", "slam", "max_pair", "listnet"])
def test_a_query_weighs_the_mean_of_its_positive_weights(update):
    X, y, qid = make_data()
    rng = np.random.default_rng(0)
    weight = rng.choice([0, 0.5, 1.0, 4.0], len(y))
    weight[qid == 6] = 0
    kept = weight > 0
    mean = np.array([weight[kept & (qid == query)].mean() if query != 6 else np.nan for query in qid])
    model, other = (
        ranker(update=update).fit(X, y, qid, weight),
        ranker(update=update).fit(X[kept], y[kept], qid[kept], mean[kept]),
    )
    assert model.t_ == other.t_
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-9)


def test_documents_of_weight_zero_are_absent_to_the_last_bit():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((30, 3)), rng.integers(0, 4, 30)
        weight = np.where(rng.random(30) < 0.4, 0, rng.uniform(0.1, 2, 30))
        kept = weight > 0
        model, other = (ranker(update="max_pair") for _ in range(2))
        model.partial_fit(X, y, sample_weight=weight), other.partial_fit(X[kept], y[kept], sample_weight=weight[kept])
        assert state(model) == state(other)


# --------------------------------------------------------------------------------------- ids that get lost, and a column of ids

X, Y, QID = make_ranking_queries(60, 8, 6, random_state=0)
FRAMES = {
    "pandas": lambda X, qid: pd.DataFrame(X, columns=list("abcdef")).assign(qid=qid),
    "arrow": lambda X, qid: pyarrow.table({**dict(zip("abcdef", X.T, strict=True)), "qid": qid}),
    "polars": lambda X, qid: polars.DataFrame(X, schema=list("abcdef")).insert_column(3, polars.Series("qid", qid)),
}


def short_ranker(**settings):
    return PredtronRanker(max_iter=2, random_state=0, **settings)


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param](X, QID)


@pytest.fixture
def strict():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_a_search_without_ids_is_warned():
    ignored = pytest.warns(UserWarning, match="The groups parameter is ignored by KFold")
    with ignored, pytest.warns(UserWarning, match="qid=None: all (320|480|160) rows are one query") as caught:
        GridSearchCV(short_ranker(), {"norm": ["l2"]}, cv=3).fit(X, Y, groups=QID)
    assert any("320" in str(found.message) for found in caught)
    assert any("set_config(enable_metadata_routing=True)" in str(found.message) for found in caught)
    with pytest.warns(UserWarning, match="all 480 rows") as caught:
        short_ranker().fit(X, Y)
    assert caught[0].filename == __file__
    model = short_ranker().partial_fit(X[:8], Y[:8])
    with pytest.warns(UserWarning, match="all 480 rows") as caught:
        model.score(X, Y)
    assert caught[0].filename == __file__


def test_what_is_taken_for_one_query_is_said():
    with pytest.warns(UserWarning, match="qid=None: all 480 documents are one query") as caught:
        mean_over_queries(ndcg, Y, X[:, 0])
    assert caught[0].filename == __file__


@pytest.mark.parametrize("kind", [PredtronRanker, PredtronSequenceTagger])
def test_what_is_no_table_is_refused_without_a_warning(kind):
    """The numbers of one row are no rows of a query."""
    with pytest.raises(ValueError, match="Expected 2D array"):
        kind().fit(X[0], Y[:1])


@pytest.mark.usefixtures("strict")
def test_one_query_may_be_meant():
    one = short_ranker().fit(X[:8], Y[:8], qid="one")
    np.testing.assert_array_equal(one.coef_, short_ranker().fit(X[:8], Y[:8], qid=np.zeros(8)).coef_)
    assert one.score(X[:8], Y[:8], qid="one") == one.score(X[:8], Y[:8], qid=np.zeros(8))
    assert one.sample_loss(X[:8], Y[:8], qid="one").shape == (1,) and one.rank(X[:8], qid="one").max() == 8
    assert one.rank(X[:8]).max() == 8 and short_ranker().fit(X, Y, qid=QID).rank(X[:8], qid="one").max() == 8
    assert short_ranker().fit(X, Y, qid="one", sample_weight=np.ones(len(Y))).score(X, Y, qid="one") > 0
    short_ranker().fit(X[:1], Y[:1])
    short_ranker().partial_fit(X[:8], Y[:8]).partial_fit(X[8:16], Y[8:16])
    assert ndcg(Y[:8], X[:8, 0], qid="one") == ndcg(Y[:8], X[:8, 0])
    assert mean_over_queries(ndcg, Y[:8], X[:8, 0], "one") == ndcg(Y[:8], X[:8, 0])[0]
    several = short_ranker().fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="score was called without qid"):
        several.score(X, Y)
    assert several.score(X[:8], Y[:8], qid="one") <= 1
    with pytest.raises(ValueError, match=r"qid has shape \(\)"):
        short_ranker().fit(X, Y, qid="two")


@needs_callbacks
@pytest.mark.usefixtures("strict")
def test_one_query_may_be_meant_by_a_monitor():
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring=ndcg_scorer(one_query=True))
    short_ranker().set_callbacks(monitor).fit(X[:8], Y[:8], qid="one")


@pytest.mark.usefixtures("strict")
def test_a_column_is_the_ids(frame):
    model, expected = short_ranker().fit(frame, Y), short_ranker().fit(X, Y, qid=QID)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    if hasattr(StandardScaler().fit(frame), "feature_names_in_"):  # scikit-learn before 1.9 finds none in polars 2
        assert model.feature_names_in_.tolist() == list("abcdef")
    assert model.n_features_in_ == 6
    np.testing.assert_array_equal(model.predict(frame), expected.predict(X))
    np.testing.assert_array_equal(model.rank(frame), expected.rank(X, qid=QID))
    np.testing.assert_array_equal(model.sample_loss(frame, Y), expected.sample_loss(X, Y, qid=QID))
    assert model.score(frame, Y) == expected.score(X, Y, qid=QID)
    assert model.margin(frame, Y) == expected.margin(X, Y, qid=QID)
    assert model.partial_fit(frame, Y).t_ == expected.partial_fit(X, Y, qid=QID).t_
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    weight = np.arange(len(Y)) % 3
    np.testing.assert_array_equal(
        short_ranker().fit(frame, Y, sample_weight=weight).coef_, short_ranker().fit(X, Y, qid=QID, sample_weight=weight).coef_
    )


def test_other_ids_beside_the_column_are_refused(frame):
    model = short_ranker().fit(frame, Y, qid=QID)
    coef = model.coef_
    for call in (short_ranker().fit, model.fit, model.partial_fit, model.score, model.sample_loss, model.margin):
        for other in (QID[::-1], "one"):
            with pytest.raises(ValueError, match="is passed beside a column 'qid' of X that differs"):
                call(frame, Y, qid=other)
    with pytest.raises(ValueError, match="beside a column 'qid'"):
        model.rank(frame, QID[::-1])
    np.testing.assert_array_equal(model.coef_, coef)


def test_columns_of_several_levels():
    frame = FRAMES["pandas"](X, QID)
    frame.columns = pd.MultiIndex.from_tuples([(name, "") for name in frame.columns])
    with pytest.raises(ValueError, match="columns of several levels, one of them 'qid'"):
        short_ranker().fit(frame, Y)


def test_missing_ids_in_a_column():
    frame = pd.DataFrame(X).rename(columns=str).assign(qid=np.where(QID == 3, np.nan, QID))
    with pytest.raises(ValueError, match="ids without missing values"):
        short_ranker().fit(frame, Y)


GRID = {"representation": ["log", "linear"], "update": ["adaptive", "max_pair"]}


SPLIT_FRAMES = ["pandas", pytest.param("arrow", marks=needs_scikit_learn("1.7", "splits tables of Arrow")), "polars"]


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("frame", SPLIT_FRAMES, indirect=True)
def test_a_search_over_a_column_is_the_routed_one(frame):
    plain = GridSearchCV(short_ranker(), GRID, cv=GroupKFold(3)).fit(frame, Y, groups=QID)
    with config_context(enable_metadata_routing=True):
        routed = GridSearchCV(short_ranker(), GRID, cv=GroupKFold(3)).fit(X, Y, groups=QID)
    assert plain.best_params_ == routed.best_params_
    np.testing.assert_array_equal(plain.cv_results_["mean_test_score"], routed.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(plain.best_estimator_.coef_, routed.best_estimator_.coef_)
    at_3 = cross_val_score(short_ranker(), frame, Y, groups=QID, cv=GroupKFold(3), scoring=ndcg_scorer(k=3))
    with config_context(enable_metadata_routing=True):
        expected = cross_val_score(short_ranker(), X, Y, params={"groups": QID}, cv=GroupKFold(3), scoring=ndcg_scorer(k=3))
    np.testing.assert_array_equal(at_3, expected)
    with config_context(enable_metadata_routing=True):  # where the splitter asks for the groups that fit gets too
        both = GridSearchCV(short_ranker(), GRID, cv=GroupKFold(3)).fit(frame, Y, groups=QID)
    assert both.best_params_ == routed.best_params_


@pytest.mark.usefixtures("strict")
def test_a_pipeline_that_keeps_frames_whole():
    frame = FRAMES["pandas"](X, QID)
    scale = make_column_transformer((StandardScaler(), list("abcdef")), remainder="passthrough", verbose_feature_names_out=False)
    pipeline = make_pipeline(scale.set_output(transform="pandas"), short_ranker()).fit(frame, Y)
    expected = short_ranker().fit(StandardScaler().fit_transform(X), Y, qid=QID)
    np.testing.assert_allclose(pipeline[-1].coef_, expected.coef_, rtol=1e-12)
    first, second, y, y_test = train_test_split(frame, Y, random_state=0)
    assert pipeline.fit(first, y).score(second, y_test) > 0.8


def test_a_step_that_loses_the_column_is_warned_of():
    with pytest.warns(UserWarning, match="all 480 rows are one query"):
        make_pipeline(StandardScaler(), short_ranker()).fit(FRAMES["pandas"](X, QID), Y)


def test_elimination_of_features():
    with config_context(enable_metadata_routing=True):
        model = short_ranker().set_fit_request(qid=True).set_score_request(qid=True)
        assert 1 <= RFECV(model, cv=3).fit(X, Y, qid=QID).n_features_ <= 6


@pytest.mark.usefixtures("strict")
def test_scorers_of_other_estimators_read_the_column():
    frame = FRAMES["pandas"](X, QID)
    model = LinearRegression().fit(frame, Y)
    assert ndcg_scorer()(model, frame, Y) == mean_over_queries(ndcg, Y, model.predict(frame), QID)


@pytest.mark.usefixtures("strict")
def test_a_column_of_another_estimator_is_a_feature():
    frame = FRAMES["pandas"](X, QID)
    relevances = np.column_stack([Y, Y.max() - Y])
    assert PredtronLabelRanker(max_iter=1).fit(frame, relevances).n_features_in_ == 7


@pytest.mark.always
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("calls", [0, 3])
def test_relevances_are_finite_and_not_negative(value, calls):
    """In the first call and in later ones, which have a shorter way; the model stays as it was."""
    X, y = np.eye(3), np.array([0.0, 1.0, 2.0])
    for model, good, bad in (
        (PredtronRanker(), y, np.array([0.0, value, 2.0])),
        (PredtronLabelRanker(), np.tile(y, (3, 1)), np.tile([0.0, value, 2.0], (3, 1))),
    ):
        for _ in range(calls):
            model.partial_fit(X, good)
        with pytest.raises(ValueError, match=r"relevance|NaN|infinity"):
            model.partial_fit(X, bad)
        assert getattr(model, "t_", 0) == calls * (1 if isinstance(model, PredtronRanker) else 3)
