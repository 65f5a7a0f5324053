"""The 0-1 loss of rankings: its competitors against a look at every ranking, and what is learned with it."""

import itertools

import numpy as np
import pytest
import reference.ranking as plain

from sklearn_predtron import PredtronLabelRanker, PredtronRanker
from sklearn_predtron.losses import RankingZeroOne
from sklearn_predtron.problems._problem_queries import competitor_of
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.representations import LinearRank, LogRank, PowerRank, ReciprocalRank, UserRank
from sklearn_predtron.theory import loss_constants

UNEVEN = UserRank(lambda j: -np.array([0.0, 3, 3.1, 7, 7.2, 7.3])[: len(j)])
REPRESENTATIONS = [LogRank(), LinearRank(), PowerRank(2.0), ReciprocalRank(), UNEVEN]


def lists(m, seed=0):
    """Relevances and scores with ties in both, with and without mistakes, near 0 and far from it."""
    rng = np.random.default_rng(seed)
    for spread in (0.1, 1.0, 10.0):
        y = rng.integers(0, rng.integers(2, m + 2), m).astype(float)
        for t in (rng.integers(-2, 3, m), rng.standard_normal(m), y + 0.3 * rng.standard_normal(m), y + rng.integers(0, 2, m)):
            if len(set(y)) > 1:
                yield y, spread * np.asarray(t, dtype=float)


@pytest.mark.parametrize("representation", REPRESENTATIONS, ids=["log", "linear", "power", "reciprocal", "uneven"])
@pytest.mark.parametrize("documents", [True, False], ids=["documents", "labels"])
@pytest.mark.parametrize("m", [2, 3, 4, 5, 6])
def test_competitors_against_every_ranking(m, documents, representation):
    problem = RankingZeroOne().build(representation, 0 if documents else m)
    rep, every, steps = plain.unit(lambda j: representation.values(len(j)), m), plain.rankings(m), 0
    for y, t in itertools.chain(*(lists(m, seed) for seed in range(10))):
        lost, labels = plain.ZeroOne().of(every, y), Relevances(y, np.array([0, m]))
        for augmented in (False, True):
            value = rep[every] @ t + augmented * lost
            worst = lost[np.isclose(rep[every] @ t, (rep[every] @ t).max(), rtol=0, atol=1e-9)].max()
            suffered, _, competitor_loss, gap, change = competitor_of(problem, labels, 0, t, augmented)
            assert suffered == worst  # of the maximisers of the score
            competitors = every[np.isclose(value, value.max(), rtol=0, atol=1e-9)]
            pushes = [plain.push(plain.ZeroOne(), rep, place, t, y) for place in competitors]
            assert any(competitor_loss == loss and np.allclose(-change, delta, rtol=0, atol=1e-9) for loss, delta in pushes)
            assert gap == pytest.approx(change @ t, abs=1e-9)
            steps += competitor_loss > 0
    assert steps > 20


def test_constants():
    assert loss_constants("ranking_zero_one", y=[2, 1, 1, 0]) == (1.0, 1.0)
    with pytest.raises(ValueError, match="no list that can be ranked wrongly"):
        loss_constants("ranking_zero_one", y=[1, 1])


def test_the_bound_needs_no_constant_of_the_lists():
    """And holds, with the default update and with Theorem 1's step."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    w = np.array([1.0, -1, 0.5]) / 1.5
    kept = [rows for rows in np.split(X, 50) if np.diff(np.sort(rows @ w)).min() > 0.2]
    rows, qid = np.vstack(kept), np.repeat(np.arange(len(kept)), 4)
    y = np.concatenate([np.argsort(np.argsort(part @ w)) for part in kept]).astype(float)
    for update in ("adaptive", "predtron"):
        model = PredtronRanker(norm="l2", loss="ranking_zero_one", representation="linear", update=update, average=False)
        model.partial_fit(rows, y, qid=qid)
        radius = max(np.linalg.norm(part, 2) for part in kept)
        assert 0 < model.cumulative_loss_ <= model.loss_bound(margin=0.2 / np.sqrt(30), radius=radius)


def test_ranking_every_list_right_is_learned():
    """On separable lists both families end without a wrong list."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 3))
    t = X @ [3.0, 2.0, 1.0]
    qid = np.repeat(np.arange(100), 4)
    y = (t > 0).astype(float) + (t > 3)
    ranker = PredtronRanker(loss="ranking_zero_one", max_iter=50, average=False, random_state=0).fit(X, y, qid=qid)
    assert ranker.sample_loss(X, y, qid=qid).mean() < 0.1
    Y = (X @ rng.standard_normal((3, 4)) > 0).astype(float)
    labels = PredtronLabelRanker(loss="ranking_zero_one", max_iter=50, average=False, random_state=0).fit(X, Y)
    assert labels.sample_loss(X, Y).mean() < 0.1
    wrong = plain.ZeroOne()
    for place, relevance, lost in zip(labels.predict(X) - 1, Y, labels.sample_loss(X, Y), strict=True):
        assert wrong.of(place, relevance) == lost
