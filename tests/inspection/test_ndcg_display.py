"""The distribution of NDCG over queries, against scikit-learn's measure of each query."""

import numpy as np
import pandas as pd
import pytest
from display_cases import check_legible, labels_of
from ranking_cases import interleaved
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import ndcg_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronBipartiteClassifier, PredtronLabelRanker, PredtronRanker
from sklearn_predtron.inspection import NDCGDisplay

plt = pytest.importorskip("matplotlib.pyplot")


def ranked(n=60, m=8, seed=0):
    random = np.random.default_rng(seed)
    X, qid = random.standard_normal((n * m, 4)), np.repeat(np.arange(n), m)
    y = np.digitize(X @ [1, 2, 3, 0] + 3 * random.standard_normal(n * m), [-3, 0, 3])
    return PredtronRanker(random_state=0).fit(X, y, qid=qid), X, y, qid


def by_query(y, scores, qid, k=None):
    return [ndcg_score([2.0 ** y[qid == q] - 1], [scores[qid == q]], k=k) for q in dict.fromkeys(qid.tolist())]


@pytest.mark.parametrize("k", [None, 3])
def test_the_distribution_over_queries(k):
    model, X, y, qid = ranked()
    display = NDCGDisplay.from_estimator(model, X, y, qid, k=k)
    expected = by_query(y, model.predict(X), qid, k)
    np.testing.assert_allclose(display.values, expected)
    at, share = display.line_.get_data()
    np.testing.assert_allclose(at[1:], np.sort(expected))
    np.testing.assert_allclose(share, np.arange(61) / 60)
    assert display.mean == pytest.approx(np.mean(expected)) == pytest.approx(display.mean_line_.get_xdata()[0])
    assert k is not None or display.mean == pytest.approx(model.score(X, y, qid=qid))
    quartiles = [np.sort(expected)[n - 1] for n in (15, 30, 45)]
    np.testing.assert_allclose(display.quartiles, quartiles)
    np.testing.assert_allclose(display.quartile_points_.get_data(), [quartiles, [0.25, 0.5, 0.75]])
    text = ", ".join(f"{value:.3g}" for value in quartiles)
    assert labels_of(display) == [f"PredtronRanker: mean {np.mean(expected):.3f}, quartiles {text}"]
    check_legible(display, "NDCG of a query", "share of the queries up to that")


def test_several_models_on_one_pair_of_axes():
    model, X, y, qid = ranked()
    first = NDCGDisplay.from_estimator(model, X, y, qid)
    peer = make_pipeline(StandardScaler(), LinearRegression()).fit(X, y)
    second = NDCGDisplay.from_estimator(peer, X, y, qid, ax=first.ax_, name="peer")
    third = NDCGDisplay.from_predictions(y, X[:, 0], qid, ax=first.ax_)
    np.testing.assert_allclose(second.values, by_query(y, peer.predict(X), qid))
    np.testing.assert_allclose(third.values, by_query(y, X[:, 0], qid))
    assert [text.split(":")[0] for text in labels_of(third)][:2] == ["PredtronRanker", "peer"]
    assert labels_of(third)[2].startswith("mean ") and third.mean < first.mean
    colours = [display.line_.get_color() for display in (first, second, third)]
    assert len(set(colours)) == 3
    for display, colour in zip((first, second, third), colours, strict=True):
        assert display.mean_line_.get_color() == display.quartile_points_.get_color() == colour


def test_documents_of_any_kind():
    model, X, y, qid = ranked()
    expected = by_query(y, model.predict(X), qid)
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = PredtronRanker(random_state=0).fit(frame, y, qid=qid)
    for estimator, given, ids in (
        (model, sparse.csr_matrix(X), qid),
        (model, X.tolist(), qid.tolist()),
        (named, frame, pd.Series(qid)),
        (named, frame.assign(qid=qid), None),
    ):
        np.testing.assert_allclose(NDCGDisplay.from_estimator(estimator, given, pd.Series(y), ids).values, expected)
    mixed = np.argsort(interleaved(qid), kind="stable")
    display = NDCGDisplay.from_estimator(model, X[mixed], y[mixed], qid[mixed])
    np.testing.assert_allclose(np.sort(display.values), np.sort(expected))


def test_scores_of_other_families():
    _, X, y, qid = ranked()
    for kind in (LogisticRegression, PredtronBipartiteClassifier):
        model = kind(random_state=0).fit(X, y > 1)
        display = NDCGDisplay.from_estimator(model, X, (y > 1).astype(int), qid)
        np.testing.assert_allclose(
            display.values, [v if v else 1 for v in by_query((y > 1) * 1, model.decision_function(X), qid)]
        )
    sets = np.digitize(X, [0, 1])
    ranker = PredtronLabelRanker(random_state=0).fit(X, sets)
    display = NDCGDisplay.from_estimator(ranker, pd.DataFrame(X), sets)
    scores = ranker.decision_function(X)
    some = sets.any(axis=1)
    np.testing.assert_allclose(
        display.values[some], [ndcg_score([2.0 ** sets[i] - 1], [scores[i]]) for i in np.flatnonzero(some)]
    )
    assert (display.values[~some] == 1).all()


def test_few_queries():
    one = NDCGDisplay.from_predictions([1, 0], [0.2, 0.7], "one")
    assert len(one.values) == 1 and one.quartiles.tolist() == [one.mean] * 3
    check_legible(one, "NDCG of a query", "share of the queries up to that")
    model, X, y, _ = ranked()
    assert len(NDCGDisplay.from_estimator(model, X[:8], y[:8], "one").values) == 1
    perfect = NDCGDisplay.from_predictions([1, 0, 1, 0], [2, 1, 4, 3], [0, 0, 1, 1], name="perfect")
    assert labels_of(perfect) == ["perfect: mean 1.000, quartiles 1, 1, 1"]
    perfect.figure_.canvas.draw()


def test_rankings_that_are_refused():
    model, X, y, qid = ranked()
    for draw in (lambda: NDCGDisplay.from_estimator(model, X, y), lambda: NDCGDisplay.from_predictions(y, X[:, 0])):
        with pytest.raises(ValueError, match=r"qid=None is for .* these are of shape \(480,\); pass qid, the query of each"):
            draw()
    with pytest.raises(ValueError, match=r"k=0; accepted are integers of at least 1 and None"):
        NDCGDisplay.from_estimator(model, X, y, qid, k=0)
    with pytest.raises(ValueError, match=r"gain='log' is not known; accepted are 'exponential' and 'linear'"):
        NDCGDisplay.from_predictions(y, X[:, 0], qid, gain="log")
    with pytest.raises(ValueError, match=r"qid has shape \(479,\); accepted is that of y_true"):
        NDCGDisplay.from_predictions(y, X[:, 0], qid[1:])
    with pytest.raises(ValueError, match=r"has labels, not scores; from_predictions takes the scores of any"):
        NDCGDisplay.from_estimator(KNeighborsClassifier().fit(X, y), X, y, qid)
    for values in ([], [0.5, np.nan], [-0.1], [1.5], [[0.5]]):
        with pytest.raises(ValueError, match=r"values=.* must be of shape \(n_queries,\), with numbers from 0 to 1"):
            NDCGDisplay(values=values).plot()
    assert not plt.get_fignums()
