"""Rankers: what a failure in the middle leaves behind, lists of any length, and subclasses that break their word."""

import numpy as np
import pytest
from ranking_cases import label_ranker, ranker, refuses

from sklearn_predtron.losses import NDCG, RankingLoss
from sklearn_predtron.representations import LinearRank


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
