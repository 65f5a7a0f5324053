"""Linear chains against a list of all sequences of labels: values, and sequences among equals."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_predtron.problems._chain import ChainProblem, HammingChain, TokenCodes, ZeroOneChain
from sklearn_predtron.problems._problem_queries import competitor_of

DRAWS = 400


def draw(seed, K=None, T=None, whole=None, walls=None):
    """Scores of tokens, pairs, first and last labels, true labels, and what is allowed, which y is."""
    random = np.random.default_rng(seed)
    K = random.integers(1, 5) if K is None else K
    T = random.integers(1, 6) if T is None else T
    whole = random.random() < 0.5 if whole is None else whole
    u, A, start, end = (random.standard_normal(size) for size in [(T, K), (K, K), K, K])
    if whole:
        u, A, start, end = (np.round(part) for part in [u, A, start, end])
    y, allowed = random.integers(0, K, T), None
    if random.random() < 0.4 if walls is None else walls:
        allowed = random.random((K + 1, K)) < 0.6
        for before, label in [(K, y[0]), *pairwise(y)]:
            allowed[before, label] = True
    return u, A, start, end, y, allowed


def flat(u, A, start, end):
    """The scores of a round as the loop has them."""
    return np.concatenate([u.ravel(), A.T.ravel(), start, end])


def total(u, A, start, end, s):
    """The score of a sequence, summed from the right, as the recursions do: sums of real numbers are the same, and so ties."""
    score = u[-1, s[-1]] + end[s[-1]]
    for t in range(len(s) - 2, -1, -1):
        score = u[t, s[t]] + (A[s[t], s[t + 1]] + score)
    return start[s[0]] + score


def sequences(T, K, allowed):
    """All sequences that are allowed, in lexicographic order."""
    every = list(product(range(K), repeat=T))
    if allowed is None:
        return every
    return [s for s in every if allowed[K, s[0]] and all(allowed[a, b] for a, b in pairwise(s))]


def rep(s, K):
    """What the scores of a round are counted of."""
    T = len(s)
    tokens, pairs, ends = np.zeros((T, K)), np.zeros((K, K)), np.zeros((2, K))
    tokens[np.arange(T), s] = 1
    for a, b in pairwise(s):
        pairs[b, a] += 1
    ends[0, s[0]] = ends[1, s[-1]] = 1
    return np.concatenate([tokens.ravel(), pairs.ravel(), ends.ravel()])


def labels_of(y):
    return TokenCodes(np.asarray(y, dtype=np.intp), np.array([0, len(y)], dtype=np.intp))


def costs(K, seed):
    cost = np.random.default_rng(seed).integers(0, 8, (K, K)) / 4
    np.fill_diagonal(cost, 0)
    if K > 1:
        cost[0, 1] = 1
    return cost


def test_decoder_finds_the_first_of_the_best_sequences():
    for seed in range(DRAWS):
        u, A, start, end, _, allowed = draw(seed)
        every = sequences(*u.shape, allowed)
        scores = [total(u, A, start, end, s) for s in every]
        problem = ZeroOneChain(u.shape[1], 0.1, allowed)
        found, possible = problem.predict(u, np.array([0, len(u)]), A, start, end)
        assert possible
        assert tuple(found) == every[int(np.argmax(scores))]


def test_max_marginals_are_those_of_the_list():
    for seed in range(DRAWS):
        u, A, start, end, _, allowed = draw(seed)
        every = np.array(sequences(*u.shape, allowed))
        scores = np.array([total(u, A, start, end, s) for s in every])
        found, possible = ChainProblem(u.shape[1], 0.1, allowed).marginals(u, np.array([0, len(u)]), A, start, end)
        assert possible
        for t, k in np.ndindex(*u.shape):
            here = scores[every[:, t] == k]
            if len(here):
                assert_allclose(found[t, k], here.max() - scores.max(), atol=1e-12)
            else:
                assert found[t, k] < -1e90


def test_lead_over_the_best_other_sequence():
    for seed in range(DRAWS):
        u, A, start, end, y, allowed = draw(seed)
        others = [total(u, A, start, end, s) for s in sequences(*u.shape, allowed) if s != tuple(y)]
        found = ChainProblem(u.shape[1], 0.1, allowed).leads_of_sequences(u, labels_of(y), A, start, end)[0]
        assert_allclose(found, total(u, A, start, end, y) - max(others) if others else np.inf, atol=1e-12)


@pytest.mark.parametrize("loss", ["hamming", "costs", "zero_one"])
def test_competitors_are_those_of_the_list(loss):
    """Of the loss-augmented maximisers, and of the score's the one that loses most; the gradient leads there from y."""
    for seed in range(DRAWS):
        u, A, start, end, y, allowed = draw(1000 + seed)
        K, every = u.shape[1], sequences(*u.shape, allowed)
        cost = costs(K, seed) if loss == "costs" else 1 - np.eye(K)
        problem = ZeroOneChain(K, 0.1, allowed) if loss == "zero_one" else HammingChain(K, 0.1, allowed, cost)
        scores = np.array([total(u, A, start, end, s) for s in every])
        lost = np.array([cost[y, list(s)].sum() for s in every])
        if loss == "zero_one":
            lost = np.array([float(s != tuple(y)) for s in every])
        right = every.index(tuple(y))
        suffered = lost[scores == scores.max()].max()
        first = int(np.flatnonzero((scores == scores.max()) & (lost == suffered))[0])
        phi = (lost + scores).max() - scores[right]
        assert phi >= suffered >= 0
        t, labels = flat(u, A, start, end), labels_of(y)
        for augmented in [False, True]:
            found, unavoidable, competitor_loss, gap, change = competitor_of(problem, labels, 0, t, augmented)
            assert (found, unavoidable) == (suffered, 0)
            assert_allclose(change @ t, gap, atol=1e-12)
            if augmented:
                assert_allclose(competitor_loss + gap, max(phi, 0), atol=1e-12)
                assert_array_equal(change % 1, 0)
            elif suffered > 0:
                assert_array_equal(change, rep(every[first], K) - rep(y, K))
                assert competitor_loss == suffered


def test_scores_of_zero_are_ties():
    """All sequences tie: the first one is predicted, the worst one counts."""
    for K, T in [(1, 1), (1, 4), (3, 1), (3, 4)]:
        y = np.full(T, K - 1)
        zero, start = np.zeros(K), np.array([0, T])
        found, _ = ZeroOneChain(K, 0.1).predict(np.zeros((T, K)), start, np.zeros((K, K)), zero, zero)
        assert_array_equal(found, 0)
        t = np.zeros(T * K + K * K + 2 * K)
        loss, _, _, _, change = competitor_of(HammingChain(K, 0.1), labels_of(y), 0, t, False)
        assert loss == (T if K > 1 else 0)
        assert_array_equal(change, rep([0] * T, K) - rep(y, K))
        assert competitor_of(ZeroOneChain(K, 0.1), labels_of(y), 0, t, False)[0] == (K > 1)


def test_real_scores_of_longer_sequences():
    """A chain of 200 tokens and 7 labels: the objective is that of a recursion from the left, in plain NumPy."""
    u, A, start, end, _, _ = draw(3, K=7, T=200, whole=False, walls=False)
    forward = start + u[0]
    for row in u[1:]:
        forward = (forward[:, None] + A).max(axis=0) + row
    found, _ = ZeroOneChain(7, 0.1).predict(u, np.array([0, 200]), A, start, end)
    assert_allclose(total(u, A, start, end, found), (forward + end).max(), rtol=1e-12)


@pytest.mark.parametrize("K", [1, 3, 4, 5, 9, 17, 26, 50])
def test_every_width_of_the_kernel(K):
    u, A, start, end, _, _ = draw(K, K=K, T=6, whole=True, walls=False)
    score, best = u[-1] + end, []
    for row in u[-2::-1]:
        best.insert(0, (A + score).argmax(axis=1))
        score = row + (A + score).max(axis=1)
    expected = [int((start + score).argmax())]
    for way in best:
        expected.append(int(way[expected[-1]]))
    assert_array_equal(ZeroOneChain(K, 0.1).predict(u, np.array([0, 6]), A, start, end)[0], expected)


def test_damaged_arguments_are_refused():
    with pytest.raises(ValueError, match="start must rise"):
        TokenCodes(np.zeros(3, dtype=np.intp), np.array([0, 2]))
    with pytest.raises(ValueError, match="must not be negative"):
        TokenCodes(np.array([0, -1]), np.array([0, 2]))
    with pytest.raises(ValueError, match="allowed must have shape"):
        ChainProblem(3, 0.1, np.ones((3, 3), dtype=bool))
    with pytest.raises(ValueError, match="cost must have shape"):
        HammingChain(3, 0.1, None, np.ones((3, 3)))
    problem = ZeroOneChain(3, 0.1)
    with pytest.raises(ValueError, match="must be of 3 labels"):
        problem.predict(np.zeros((2, 4)), np.array([0, 2]), np.zeros((3, 3)), np.zeros(3), np.zeros(3))
    for start in ([0, 3], [1, 2], [0, 0, 2], []):
        with pytest.raises(ValueError, match="start must rise"):
            problem.predict(np.zeros((2, 3)), np.array(start, dtype=np.intp), np.zeros((3, 3)), np.zeros(3), np.zeros(3))
