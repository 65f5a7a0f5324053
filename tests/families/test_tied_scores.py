"""Losses and scores of rankers where scores are equal: the expectation over all orders of the tied items."""

from itertools import permutations

import numpy as np
import pytest

from sklearn_predtron import PredtronBipartiteClassifier, PredtronLabelRanker, PredtronRanker
from sklearn_predtron.losses import NDCG, AveragePrecision, KendallTau, PrecisionAtK, RankingZeroOne, RecallAtK, SwappedPairs
from sklearn_predtron.metrics import average_precision, kendall_tau, mean_over_queries, ndcg
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.representations import LogRank, Pairwise

LOSSES = {
    "ndcg": (NDCG(), 4),
    "ndcg@2": (NDCG(k=2), 4),
    "steps": (NDCG(gain=lambda y: y + 0.5, discount=lambda j: (4 - j // 2).clip(0)), 4),
    "ap": (AveragePrecision(), 2),
    "swapped pairs": (SwappedPairs(), 2),
    "zero-one": (RankingZeroOne(), 3),
    "kendall": (KendallTau(), 4),
}


@pytest.mark.parametrize(("loss", "grades"), LOSSES.values(), ids=LOSSES)
def test_losses_are_expectations(loss, grades):
    rng = np.random.default_rng(0)
    problem = loss.build(LogRank(), 5)
    for trial in range(60):
        y, scores = rng.integers(0, grades, 5).astype(float), rng.integers(0, 1 + trial % 4, 5).astype(float)
        labels = Relevances(y, np.array([0, 5], dtype=np.intp))
        # A little noise in all orders: the scores of each of these rankings are distinct.
        untied = [problem.losses(scores + 0.01 * np.array(noise), labels)[0] for noise in permutations(range(5))]
        assert problem.losses(scores, labels)[0] == pytest.approx(np.mean(untied), abs=1e-12), (y, scores)


def test_losses_of_pairwise_votes():
    y, scores = np.array([2.0, 1, 0]), np.zeros((1, 3))
    problem, labels = KendallTau().build(Pairwise(), 3), Relevances(y, np.array([0, 3], dtype=np.intp))
    assert problem.losses(scores, labels)[0] == 0.5
    assert problem.losses(np.array([[1.0, 1, 0]]), labels)[0] == pytest.approx(1 / 6)  # the last two labels tie


@pytest.mark.parametrize(
    ("loss", "measure"),
    [(NDCG(), ndcg), (AveragePrecision(), average_precision), (KendallTau(), lambda *given: (kendall_tau(*given) + 1) / 2)],
    ids=["ndcg", "ap", "kendall"],
)
def test_losses_and_measures_agree(loss, measure):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2 if isinstance(loss, AveragePrecision) else 4, (50, 20)).astype(float)
    scores = rng.integers(0, 4, y.shape).astype(float)
    found = loss.build(LogRank(), 20).losses(scores.ravel(), Relevances(y.ravel(), np.arange(0, 1001, 20)))
    np.testing.assert_allclose(1 - found, measure(y, scores), atol=1e-12)


def test_rankers_that_know_nothing():
    """Scores that are all equal are worth as much in any order of the rows; a round counts its worst order."""
    y, qid, X = np.tile([2, 1, 0, 0], 50), np.repeat(np.arange(50), 4), np.zeros((200, 1))
    model = PredtronRanker(random_state=0).fit(X, y, qid=qid)
    for order in (y, y.reshape(-1, 4)[:, ::-1].ravel()):
        assert model.score(X, order, qid=qid) == pytest.approx(mean_over_queries(ndcg, y, 0 * y, qid))
        np.testing.assert_allclose(model.sample_loss(X, order, qid=qid), 1 - model.score(X, order, qid=qid))
    assert 0.5 < model.score(X, y, qid=qid) < 0.9
    stream = PredtronRanker().partial_fit(X, y, qid=qid)
    assert stream.cumulative_loss_ == pytest.approx(50 * (1 - ndcg([2, 1, 0, 0], [1, 2, 3, 4])[0]))
    alike = y.reshape(-1, 4)[:, ::-1]
    labels = PredtronLabelRanker(cv=0).fit(np.eye(50, 2), 0 * alike)  # no ranking is wrong, and nothing is learned
    assert labels.score(np.eye(50, 2), alike) == pytest.approx(mean_over_queries(ndcg, y, 0 * y, qid))


@pytest.mark.parametrize("loss", [PrecisionAtK(k=3), RecallAtK(k=3), RecallAtK(k=0.5, rule="at_most")], ids=str)
def test_batches_at_k(loss):
    """The rows at the border of the best k are in random order, as far as the loss is concerned."""
    rng = np.random.default_rng(0)
    X, y, groups = rng.integers(0, 2, (60, 1)).astype(float), rng.integers(0, 2, 60), np.repeat(np.arange(10), 6)
    y[::6] = 1
    model = PredtronBipartiteClassifier(loss=loss, random_state=0).fit(X, y, groups=groups)
    found = model.sample_loss(X, y, groups=groups)
    shuffled = [rng.permutation(6) + 6 * np.repeat(np.arange(10), 6).reshape(10, 6) for _ in range(2000)]
    for rows in shuffled[:3]:
        np.testing.assert_allclose(model.sample_loss(X[rows.ravel()], y[rows.ravel()], groups=groups), found, atol=1e-12)
        assert model.score(X[rows.ravel()], y[rows.ravel()], groups=groups) == pytest.approx(model.score(X, y, groups=groups))
    truth, losses, right = y.reshape(10, 6), np.zeros(10), 0.0
    for rows in shuffled:
        on = model.predict(X[rows.ravel()], groups=groups).reshape(10, 6)
        true = np.take_along_axis(truth, rows % 6, axis=1)
        a, p, t = (on & true).sum(axis=1), on.sum(axis=1), true.sum(axis=1)
        losses += loss.evaluate(a, p - a, t - a, 6 - p - t + a)
        right += (on == true).mean()
    np.testing.assert_allclose(found, losses / 2000, atol=0.05)
    assert model.score(X, y, groups=groups) == pytest.approx(right / 2000, abs=0.01)
