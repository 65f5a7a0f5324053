"""Losses against their definitions, written out for sets, ranks and lists one by one."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_predtron import PredtronLabelRanker, PredtronRanker
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.losses import (
    NDCG,
    Absolute,
    AveragePrecision,
    BalancedError,
    CostMatrix,
    CostTableLoss,
    ErrorSetSize,
    FBeta,
    GMean,
    Hamming,
    Jaccard,
    KendallTau,
    PrecisionAtK,
    RankingLoss,
    RankingZeroOne,
    RecallAtK,
    SequenceHamming,
    SequenceLoss,
    SequenceZeroOne,
    Squared,
    SubsetLoss,
    SubsetZeroOne,
    SwappedPairs,
    ZeroOne,
)

RANKS = np.array([0.0, 1.0, 3.0])  # of ranks it is the place that counts


def ranks_apart(power):
    return [[abs(i - j) ** power for j in range(3)] for i in range(3)]


TABLES = {
    ZeroOne(): [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
    Absolute(): ranks_apart(1),
    Squared(): ranks_apart(2),
    CostMatrix({(0.0, 3.0): 5.0, (3.0, 1.0): 0.5}): [[0, 1, 5], [1, 0, 1], [1, 0.5, 0]],
}


@pytest.mark.parametrize("loss", TABLES, ids=str)
def test_costs_of_mistakes(loss):
    table = loss.table(RANKS)
    assert_allclose(1 - np.eye(3) if table is None else table, TABLES[loss])
    positive = np.array(TABLES[loss])[np.array(TABLES[loss]) > 0]
    assert loss.constants(RANKS) == (positive.min(), positive.max())


def f_measure(true, predicted, beta):
    precision, recall = (len(true & predicted) / len(some) if some else 0.0 for some in (predicted, true))
    if not precision * recall:
        return 0.0
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def rates(true, predicted, labels):
    """The shares of the true labels and of the others that are right."""
    return len(true & predicted) / len(true), len(labels - true - predicted) / len(labels - true)


M = 5
SETS = {
    Hamming(): lambda y, z, labels: len(y ^ z) / len(labels),
    SubsetZeroOne(): lambda y, z, labels: float(y != z),
    ErrorSetSize(): lambda y, z, labels: np.mean([i not in z and j in z for i in y for j in labels - y]),
    FBeta(): lambda y, z, labels: 1 - f_measure(y, z, 1.0),
    FBeta(beta=2.0): lambda y, z, labels: 1 - f_measure(y, z, 2.0),
    Jaccard(): lambda y, z, labels: 1 - len(y & z) / len(y | z),
    BalancedError(): lambda y, z, labels: 1 - sum(rates(y, z, labels)) / 2,
    GMean(): lambda y, z, labels: 1 - np.sqrt(np.prod(rates(y, z, labels))),
    PrecisionAtK(k=2): lambda y, z, labels: len(z - y) / 2,
    RecallAtK(k=2): lambda y, z, labels: len(y - z) / len(y),
}


@pytest.mark.always
@pytest.mark.parametrize("loss", SETS, ids=str)
def test_losses_of_sets(loss):
    """Of each pair of sets of five labels; the true one has labels, and leaves some out."""
    labels = set(range(M))
    sets = [set(some) for size in range(M + 1) for some in itertools.combinations(range(M), size)]
    sizes = {2} if isinstance(loss, PrecisionAtK | RecallAtK) else set(range(M + 1))
    pairs = [(y, z) for y in sets for z in sets if 0 < len(y) < M and len(z) in sizes]
    counts = np.array([[len(y & z), len(z - y), len(y - z), len(labels - y - z)] for y, z in pairs], dtype=float)
    assert_allclose(loss.evaluate(*counts.T), [SETS[loss](y, z, labels) for y, z in pairs], atol=1e-15)
    assert len(pairs) >= 300


def pairs_of(y):
    """Pairs of items of which the first is the more relevant."""
    return [(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]


def swapped(y, order):
    """The share of pairs in the wrong order."""
    place = {item: position for position, item in enumerate(order)}
    return np.mean([place[i] > place[j] for i, j in pairs_of(y)])


def dcg(gains, k):
    return sum(gain / np.log2(2 + position) for position, gain in enumerate(gains[:k]))


def ndcg_loss(y, order, k=None):
    gains = 2.0 ** np.array(y) - 1
    return 1 - dcg(gains[list(order)], k) / dcg(np.sort(gains)[::-1], k)


def ap_loss(y, order):
    hits = [position for position, item in enumerate(order, 1) if y[item] > 0]
    return 1 - np.mean([found / position for found, position in enumerate(hits, 1)])


LISTS = {
    NDCG(): (ndcg_loss, [0, 1, 3, 0, 2]),
    NDCG(k=2): (lambda y, order: ndcg_loss(y, order, 2), [0, 1, 3, 0, 2]),
    AveragePrecision(): (ap_loss, [0, 1, 1, 0, 1]),
    SwappedPairs(): (swapped, [0, 1, 1, 0, 1]),
    RankingZeroOne(): (lambda y, order: float(swapped(y, order) > 0), [0, 1, 3, 0, 2]),
    KendallTau(): (swapped, [0, 1, 3, 0, 2]),
}


@pytest.mark.always
@pytest.mark.parametrize("loss", LISTS, ids=str)
def test_losses_of_rankings(loss):
    """Of each order of five documents, whose only feature is their score."""
    formula, y = LISTS[loss]
    model = PredtronRanker(loss=loss, average=False, cv=0, max_iter=1).fit([[1.0], [0.0]], [1, 0], qid="one")
    assert model.coef_.item() > 0
    orders = list(itertools.permutations(range(5)))
    scores = [-float(order.index(item)) for order in orders for item in range(5)]
    found = model.sample_loss(np.array(scores)[:, None], y * len(orders), qid=np.repeat(np.arange(len(orders)), 5))
    assert_allclose(found, [formula(y, order) for order in orders], atol=1e-14)


@pytest.mark.always
@pytest.mark.parametrize("loss", LISTS, ids=str)
def test_losses_of_rankings_of_labels(loss):
    """As of documents: the labels' scores are those that a fit has come to."""
    formula, y = LISTS[loss]
    X = np.random.default_rng(0).standard_normal((40, 3))
    Y = np.random.default_rng(1).permuted(np.tile(y, (40, 1)), axis=1)
    model = PredtronLabelRanker(loss=loss, representation="log", cv=0, max_iter=1, random_state=0).fit(X, Y)
    orders = (-model.decision_function(X)).argsort(axis=1)
    assert_allclose(model.sample_loss(X, Y), [formula(row, order) for row, order in zip(Y, orders, strict=True)], atol=1e-14)


def test_losses_of_sequences():
    """The costs of the wrong tokens, and whether any is wrong."""
    y, predicted = np.array([0, 1, 2, 0, 0, 1]), np.array([0, 2, 1, 0, 0, 1])
    how = np.array([0, 3, 6]), np.arange(3)
    assert_allclose(SequenceHamming().evaluate(y, predicted, *how), [2, 0])
    assert_allclose(SequenceHamming({(1, 2): 0.5}).evaluate(y, predicted, *how), [0.5 + 1, 0])
    assert_allclose(SequenceZeroOne().evaluate(y, predicted, *how), [1, 0])


def test_every_loss_has_its_formula_here():
    checked = {type(loss) for losses in (TABLES, SETS, LISTS) for loss in losses} | {SequenceHamming, SequenceZeroOne}
    assert {kind for base in (CostTableLoss, SubsetLoss, RankingLoss, SequenceLoss) for kind in kinds(base)} <= checked
