"""Which of the predictions that tie exactly is the competitor, and what is lost, against enumeration."""

from itertools import permutations, product

import numpy as np
import pytest
from ranking_cases import plain

from sklearn_predtron._core.problem import Codes
from sklearn_predtron.losses import (
    NDCG,
    AveragePrecision,
    CountLoss,
    FBeta,
    Hamming,
    Jaccard,
    RankingZeroOne,
    SubsetZeroOne,
    SwappedPairs,
)
from sklearn_predtron.problems._finite import FiniteProblem
from sklearn_predtron.problems._label_sets import Indicators
from sklearn_predtron.problems._problem_queries import competitor_of
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.representations import LinearRank, LogRank, OneHot, SignVector, Simplex, Thermometer


def fickle(a, b, c, d):
    """A loss that a further mistake may lower."""
    return float((3 * b + 2 * c) % 5 + (b + c > 0))


@pytest.mark.parametrize("loss", [Hamming(), SubsetZeroOne(), FBeta(), Jaccard(), CountLoss(fickle)], ids=plain)
def test_which_of_the_sets_that_tie_is_the_competitor(loss):
    """Every tied label wrong; if that may lose less, of those that lose most the most false positives, then the most missing."""
    rng = np.random.default_rng(0)
    problem = loss.build(SignVector(), 5)
    for _ in range(100):
        y, t = rng.integers(0, 2, 5), rng.integers(-1, 2, 5).astype(float)
        tied = np.flatnonzero(t == 0)
        found = []
        for choice in product([0, 1], repeat=len(tied)):
            sigma = (t > 0).astype(int)
            sigma[tied] = choice
            b, c = int((sigma > y).sum()), int((sigma < y).sum())
            a = int((sigma & y).sum())
            lost = float(loss.of_counts(*(np.array([n]) for n in (a, b, c, 5 - a - b - c)))[0])
            found.append(((lost, b, c), sigma))
        most = max(key for key, _ in found)
        lost, _, _, _, change = competitor_of(problem, Indicators(y[None].astype(np.uint8)), 0, t, False)
        assert lost == pytest.approx(most[0])
        if lost > 0:
            competitor = (np.sign(change).astype(int) + y).clip(0, 1)
            assert ((competitor > y).sum(), (competitor < y).sum()) == most[1:]
            assert any((competitor == sigma).all() for _, sigma in found)
            if not isinstance(loss, CountLoss):
                assert (competitor[tied] != y[tied]).all()


@pytest.mark.parametrize("representation", [OneHot(), Thermometer(), Simplex()], ids=str)
@pytest.mark.parametrize(
    "costs", [None, np.array([[0, 2, 2, 1], [1, 0, 3, 3], [2, 2, 0, 2], [1, 1, 1, 0.0]])], ids=["0-1", "costs"]
)
def test_which_of_the_codes_that_tie_is_the_competitor(representation, costs):
    """Of those that lose most the one of lowest index."""
    rng = np.random.default_rng(0)
    problem, code = representation.compiled(4, costs), representation.code(4)
    table = 1 - np.eye(4) if costs is None else costs
    for _ in range(60):
        y, t = int(rng.integers(4)), rng.integers(-1, 2, code.shape[1]).astype(float)
        if isinstance(representation, Simplex):
            t[:] = 0  # elsewhere ties are not exact
        scores = code @ t
        best = np.flatnonzero(scores == scores.max() if isinstance(representation, OneHot) else np.isclose(scores, scores.max()))
        expected = best[table[y, best].argmax()]
        lost, _, _, _, change = competitor_of(problem, Codes(np.array([y])), 0, t, False)
        assert lost == table[y, expected]
        if lost > 0:
            np.testing.assert_allclose(change, code[expected] - code[y], atol=1e-12)


@pytest.mark.parametrize("loss", [NDCG(), NDCG(k=2), AveragePrecision(), SwappedPairs(), RankingZeroOne()], ids=str)
@pytest.mark.parametrize("representation", [LogRank(), LinearRank()], ids=str)
def test_which_of_the_rankings_that_tie_is_the_competitor(loss, representation):
    """The less relevant items first, which loses as much as any."""
    rng = np.random.default_rng(0)
    f = representation.values(5) / np.linalg.norm(representation.values(5))
    problem = loss.build(representation, 5)
    for _ in range(40):
        y, t = rng.integers(0, 2, 5).astype(float), rng.integers(-1, 2, 5).astype(float)
        if len(set(y)) < 2:
            continue
        labels = Relevances(y, np.array([0, 5]))
        lost, _, _, _, change = competitor_of(problem, labels, 0, t, False)
        untied = [t + 1e-6 * np.argsort(order) for order in permutations(range(5))]
        assert lost == pytest.approx(max(problem.losses(scores, labels)[0] for scores in untied))
        if lost > 0:
            order = np.lexsort((np.arange(5), y, -t))  # stable, the least relevant first
            right = order[np.argsort(-y[order], kind="stable")]
            expected = np.empty(5)
            expected[order] = f
            expected[right] -= f
            np.testing.assert_allclose(change, expected, atol=1e-12)


def test_decoded_scores_that_overflow_both_ways_have_a_prediction():
    """They are not numbers, of which none is the largest; the search for it ends."""
    problem = FiniteProblem(np.array([[1e300, -1e300], [1e300, -1e300], [-1e300, 1e300]]))
    assert problem.predict(np.full((2, 2), 1e300)).tolist() == [2, 2]
    assert problem.predict(np.array([[1.0, 0.0], [0.0, 1.0]])).tolist() == [0, 2]
