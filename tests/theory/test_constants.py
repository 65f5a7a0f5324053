"""The constants of losses, by enumeration."""

import itertools

import numpy as np
import pytest
import reference.ranking as plain
from cases import cost_table, losses
from worlds import RANKING_LOSSES

import sklearn_predtron.losses as public
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.losses import NDCG, CostMatrix, CostTableLoss, CountLoss, RankingLoss, SequenceLoss, SubsetLoss
from sklearn_predtron.theory import loss_constants


@pytest.mark.parametrize("k", [2, 3, 6])
def test_constants_of_tables(k):
    for loss in losses(k):
        costs = cost_table(loss, k)
        assert loss_constants(loss, classes=k) == (costs[costs > 0].min(), costs.max())
    assert loss_constants(CostMatrix({("a", "b"): 5.0}), classes=["a", "b"]) == (1.0, 5.0)


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("kind", kinds(SubsetLoss), ids=lambda kind: kind.__name__)
def test_constants_of_sets(kind, m):
    """Over all pairs of sets; of losses at k safe ones, for the excess over the least loss of a set."""
    loss = kind()
    sets = np.array(list(itertools.product([0, 1], repeat=m)))
    predicted = sets[sets.sum(axis=1) == loss.k] if hasattr(loss, "k") else sets
    costs = np.array([[loss.of_counts(*counts(y, sigma)) for sigma in predicted] for y in sets], dtype=float)
    costs -= costs.min(axis=1, keepdims=True)
    c_L, C_L = loss_constants(loss, n_labels=m)
    least, largest = costs[costs > 1e-12].min(), costs.max()
    if hasattr(loss, "k"):
        assert c_L <= least * (1 + 1e-12)
        assert largest <= C_L
    else:
        np.testing.assert_allclose((c_L, C_L), (least, largest), rtol=1e-12)
        by_function = loss_constants(CountLoss(lambda *of: float(loss.of_counts(*of))), n_labels=m)
        np.testing.assert_allclose(by_function, (least, largest), rtol=1e-9)


def counts(y, sigma):
    return [int((both == 1).sum()) for both in (y & sigma, (1 - y) & sigma, y & (1 - sigma), (1 - y) & (1 - sigma))]


@pytest.mark.always
@pytest.mark.parametrize("loss", [*RANKING_LOSSES, "plateaus", "plateaus@3"])
def test_constants_of_lists(loss):
    """The least positive loss of every list of up to 5 items, over all rankings of it."""
    own, rule, grades = RANKING_LOSSES.get(loss, (None, None, (0, 1, 3, 3.5)))
    if loss == "kendall":
        rule = plain.SwappedPairs()  # of rankings the same, with any number of grades
    elif rule is None:
        k = 3 if loss.endswith("3") else None
        own, rule = NDCG(k=k, discount=stairs), plain.NDCG(k, discount=stairs)
    for m in (2, 3, 4, 5):
        every = plain.rankings(m)
        for y in itertools.combinations_with_replacement(grades, m):
            costs = rule.of(every, np.array(y, dtype=float)) if len(set(y)) > 1 else np.zeros(1)
            if costs.max() > 1e-12:
                c_L, C_L = loss_constants(own, y=y)
                np.testing.assert_allclose(c_L, costs[costs > 1e-12].min(), rtol=1e-9)
                assert costs.max() <= C_L * (1 + 1e-12)
            else:
                with pytest.raises(ValueError, match="no list that can be ranked wrongly"):
                    loss_constants(own, y=y)


def stairs(j):
    """Two positions a step, of which every one counts."""
    return 1.0 / np.ceil(np.asarray(j) / 2)


def test_every_loss_of_rankings_is_enumerated():
    assert {own.alias for own, _, _ in RANKING_LOSSES.values()} == {kind.alias for kind in kinds(RankingLoss)}


def test_constants_of_several_lists():
    """Of queries the least, wherever their documents lie; rows of labels are lists too."""
    y = np.array([0, 3, 1, 1, 0, 2])
    apart = [loss_constants("ndcg", y=y[q])[0] for q in ([0, 2, 4], [1, 3, 5])]
    assert loss_constants("ndcg", y=y, qid=[0, 1, 0, 1, 0, 1])[0] == min(apart)
    assert loss_constants("ndcg", y=[[0, 1, 0], [3, 1, 2]])[0] == min(apart)


def test_least_loss_of_ndcg_is_no_smaller_than_the_papers():
    """1 / (2 (2^Y - 1) m^2 log2(m + 1)^2), of lists that have a relevant item."""
    for m in range(2, 60, 7):
        for top in (1, 2, 4):
            y = np.random.default_rng(m).integers(0, top + 1, m)
            y[:2] = top, 0
            assert loss_constants("ndcg", y=y)[0] >= 1 / (2 * (2.0**top - 1) * m**2 * np.log2(m + 1) ** 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"loss": "squared"}, "classes=None"),
        ({"loss": "hamming"}, "n_labels=None"),
        ({"loss": "ndcg"}, "y=None"),
        ({"loss": "hinge"}, "loss='hinge' is not known; accepted are 'zero_one', .*'hamming'.*'ndcg'"),
        ({"loss": 3}, "loss=3 is not known"),
        ({"loss": "ap", "y": [2, 1]}, "y holds the relevance 2"),
        ({"loss": "ndcg", "y": [1, -1]}, "y holds the relevance -1"),
        ({"loss": "absolute", "classes": 1}, "classes=1 must be an integer of at least 2"),
        ({"loss": "zero_one", "classes": 2.5}, "classes=2.5 must be an integer of at least 2"),
        ({"loss": "zero_one", "classes": ["a"]}, "classes=1 must be an integer of at least 2"),
        ({"loss": "hamming", "n_labels": 0}, "n_labels=0 must be an integer of at least 1"),
        ({"loss": "hamming", "n_labels": 1.5}, "n_labels=1.5 must be an integer of at least 1"),
    ],
)
def test_constants_that_are_not_known(arguments, message):
    with pytest.raises(ValueError, match=message):
        loss_constants(**arguments)


BASES = [CostTableLoss, SubsetLoss, RankingLoss, SequenceLoss]


def test_every_public_loss_is_known():
    for part in public.__all__:
        kind = getattr(public, part)
        assert getattr(kind, "alias", None) is None or kind in [one for base in BASES for one in kinds(base)]
