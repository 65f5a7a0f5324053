"""Query ids that get lost on the way are warned of, and a column of a data frame keeps them."""

import warnings

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
from cases import needs_callbacks, needs_scikit_learn
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronLabelRanker, PredtronRanker, PredtronSequenceTagger
from sklearn_predtron.datasets import make_ranking_queries
from sklearn_predtron.metrics import mean_over_queries, ndcg, ndcg_scorer

X, Y, QID = make_ranking_queries(60, 8, 6, random_state=0)
FRAMES = {
    "pandas": lambda X, qid: pd.DataFrame(X, columns=list("abcdef")).assign(qid=qid),
    "arrow": lambda X, qid: pyarrow.table({**dict(zip("abcdef", X.T, strict=True)), "qid": qid}),
    "polars": lambda X, qid: polars.DataFrame(X, schema=list("abcdef")).insert_column(3, polars.Series("qid", qid)),
}


def ranker(**settings):
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
        GridSearchCV(ranker(), {"norm": ["l2"]}, cv=3).fit(X, Y, groups=QID)
    assert any("320" in str(found.message) for found in caught)
    assert any("set_config(enable_metadata_routing=True)" in str(found.message) for found in caught)
    with pytest.warns(UserWarning, match="all 480 rows") as caught:
        ranker().fit(X, Y)
    assert caught[0].filename == __file__
    model = ranker().partial_fit(X[:8], Y[:8])
    with pytest.warns(UserWarning, match="all 480 rows") as caught:
        model.score(X, Y)
    assert caught[0].filename == __file__


def test_what_is_taken_for_one_query_is_said():
    with pytest.warns(UserWarning, match="qid=None: all 480 documents are one query") as caught:
        mean_over_queries(ndcg, Y, X[:, 0])
    assert caught[0].filename == __file__


def test_rank_and_score_without_ids_after_several_queries_are_errors():
    model = ranker().fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="rank was called without qid"):
        model.rank(X)
    with pytest.raises(ValueError, match="score was called without qid"):
        model.score(X, Y)


@pytest.mark.parametrize("kind", [PredtronRanker, PredtronSequenceTagger])
def test_what_is_no_table_is_refused_without_a_warning(kind):
    """The numbers of one row are no rows of a query."""
    with pytest.raises(ValueError, match="Expected 2D array"):
        kind().fit(X[0], Y[:1])


@pytest.mark.usefixtures("strict")
def test_one_query_may_be_meant():
    one = ranker().fit(X[:8], Y[:8], qid="one")
    np.testing.assert_array_equal(one.coef_, ranker().fit(X[:8], Y[:8], qid=np.zeros(8)).coef_)
    assert one.score(X[:8], Y[:8], qid="one") == one.score(X[:8], Y[:8], qid=np.zeros(8))
    assert one.sample_loss(X[:8], Y[:8], qid="one").shape == (1,) and one.rank(X[:8], qid="one").max() == 8
    assert one.rank(X[:8]).max() == 8 and ranker().fit(X, Y, qid=QID).rank(X[:8], qid="one").max() == 8
    assert ranker().fit(X, Y, qid="one", sample_weight=np.ones(len(Y))).score(X, Y, qid="one") > 0
    ranker().fit(X[:1], Y[:1])
    ranker().partial_fit(X[:8], Y[:8]).partial_fit(X[8:16], Y[8:16])
    assert ndcg(Y[:8], X[:8, 0], qid="one") == ndcg(Y[:8], X[:8, 0])
    assert mean_over_queries(ndcg, Y[:8], X[:8, 0], "one") == ndcg(Y[:8], X[:8, 0])[0]
    several = ranker().fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="score was called without qid"):
        several.score(X, Y)
    assert several.score(X[:8], Y[:8], qid="one") <= 1
    with pytest.raises(ValueError, match=r"qid has shape \(\)"):
        ranker().fit(X, Y, qid="two")


@needs_callbacks
@pytest.mark.usefixtures("strict")
def test_one_query_may_be_meant_by_a_monitor():
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring=ndcg_scorer(one_query=True))
    ranker().set_callbacks(monitor).fit(X[:8], Y[:8], qid="one")


@pytest.mark.usefixtures("strict")
def test_a_column_is_the_ids(frame):
    model, expected = ranker().fit(frame, Y), ranker().fit(X, Y, qid=QID)
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
        ranker().fit(frame, Y, sample_weight=weight).coef_, ranker().fit(X, Y, qid=QID, sample_weight=weight).coef_
    )


def test_other_ids_beside_the_column_are_refused(frame):
    model = ranker().fit(frame, Y, qid=QID)
    coef = model.coef_
    for call in (ranker().fit, model.fit, model.partial_fit, model.score, model.sample_loss, model.margin):
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
        ranker().fit(frame, Y)


def test_missing_ids_in_a_column():
    frame = pd.DataFrame(X).rename(columns=str).assign(qid=np.where(QID == 3, np.nan, QID))
    with pytest.raises(ValueError, match="ids without missing values"):
        ranker().fit(frame, Y)


GRID = {"representation": ["log", "linear"], "update": ["adaptive", "max_pair"]}


SPLIT_FRAMES = ["pandas", pytest.param("arrow", marks=needs_scikit_learn("1.7", "splits tables of Arrow")), "polars"]


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("frame", SPLIT_FRAMES, indirect=True)
def test_a_search_over_a_column_is_the_routed_one(frame):
    plain = GridSearchCV(ranker(), GRID, cv=GroupKFold(3)).fit(frame, Y, groups=QID)
    with config_context(enable_metadata_routing=True):
        routed = GridSearchCV(ranker(), GRID, cv=GroupKFold(3)).fit(X, Y, groups=QID)
    assert plain.best_params_ == routed.best_params_
    np.testing.assert_array_equal(plain.cv_results_["mean_test_score"], routed.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(plain.best_estimator_.coef_, routed.best_estimator_.coef_)
    at_3 = cross_val_score(ranker(), frame, Y, groups=QID, cv=GroupKFold(3), scoring=ndcg_scorer(k=3))
    with config_context(enable_metadata_routing=True):
        expected = cross_val_score(ranker(), X, Y, params={"groups": QID}, cv=GroupKFold(3), scoring=ndcg_scorer(k=3))
    np.testing.assert_array_equal(at_3, expected)
    with config_context(enable_metadata_routing=True):  # where the splitter asks for the groups that fit gets too
        both = GridSearchCV(ranker(), GRID, cv=GroupKFold(3)).fit(frame, Y, groups=QID)
    assert both.best_params_ == routed.best_params_


@pytest.mark.usefixtures("strict")
def test_a_pipeline_that_keeps_frames_whole():
    frame = FRAMES["pandas"](X, QID)
    scale = make_column_transformer((StandardScaler(), list("abcdef")), remainder="passthrough", verbose_feature_names_out=False)
    pipeline = make_pipeline(scale.set_output(transform="pandas"), ranker()).fit(frame, Y)
    expected = ranker().fit(StandardScaler().fit_transform(X), Y, qid=QID)
    np.testing.assert_allclose(pipeline[-1].coef_, expected.coef_, rtol=1e-12)
    first, second, y, y_test = train_test_split(frame, Y, random_state=0)
    assert pipeline.fit(first, y).score(second, y_test) > 0.8


def test_a_step_that_loses_the_column_is_warned_of():
    with pytest.warns(UserWarning, match="all 480 rows are one query"):
        make_pipeline(StandardScaler(), ranker()).fit(FRAMES["pandas"](X, QID), Y)


def test_elimination_of_features():
    with config_context(enable_metadata_routing=True):
        model = ranker().set_fit_request(qid=True).set_score_request(qid=True)
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
