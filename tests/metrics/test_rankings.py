"""Measures of rankings against other implementations and loops, their conventions and errors, and their means."""

import itertools

import numpy as np
import pytest
import sklearn.metrics
from scipy import sparse, stats

from sklearn_predtron import metrics
from sklearn_predtron.metrics import (
    average_precision,
    kendall_tau,
    mean_over_queries,
    ndcg,
    precision_at_k,
    reciprocal_rank,
)

# Measure, its parameters, and whether relevance is 0 or 1.
CASES = {
    "ndcg": (ndcg, {}, False),
    "ndcg@1": (ndcg, {"k": 1}, False),
    "ndcg@3": (ndcg, {"k": 3}, False),
    "linear ndcg": (ndcg, {"gain": "linear"}, False),
    "linear ndcg@3": (ndcg, {"gain": "linear", "k": 3}, False),
    "average_precision": (average_precision, {}, True),
    "kendall_tau": (kendall_tau, {}, False),
    "reciprocal_rank": (reciprocal_rank, {}, False),
    "precision@1": (precision_at_k, {"k": 1}, False),
    "precision@4": (precision_at_k, {"k": 4}, False),
}

all_cases = pytest.mark.parametrize(("measure", "params", "binary"), CASES.values(), ids=CASES)


def orders(s):
    """All orders by descending score, one for each order of the documents of equal scores."""
    groups = [[i for i in range(len(s)) if s[i] == score] for score in sorted(set(s), reverse=True)]
    for parts in itertools.product(*map(itertools.permutations, groups)):
        yield list(itertools.chain(*parts))


def plain_ndcg(y, order, k=None, gain="exponential"):
    gains = [2.0**r - 1 if gain == "exponential" else r for r in y]
    k = len(y) if k is None else k
    reached = sum(gains[i] / np.log2(rank + 2) for rank, i in enumerate(order[:k]))
    largest = sum(g / np.log2(rank + 2) for rank, g in enumerate(sorted(gains, reverse=True)[:k]))
    return reached / largest if largest else 1.0


def plain_average_precision(y, order):
    ranked = [y[i] for i in order]
    precisions = [sum(ranked[: j + 1]) / (j + 1) for j in range(len(y)) if ranked[j] == 1]
    return sum(precisions) / len(precisions) if precisions else 1.0


def plain_kendall_tau(y, order):
    place = {i: rank for rank, i in enumerate(order)}
    signs = [np.sign(place[j] - place[i]) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]
    return sum(signs) / len(signs) if signs else 1.0


def plain_reciprocal_rank(y, order):
    return max((1 / (rank + 1) for rank, i in enumerate(order) if y[i] > 0), default=0.0)


def plain_precision_at_k(y, order, k):
    return np.mean([y[i] > 0 for i in order[:k]])


PLAIN = {
    ndcg: plain_ndcg,
    average_precision: plain_average_precision,
    kendall_tau: plain_kendall_tau,
    reciprocal_rank: plain_reciprocal_rank,
    precision_at_k: plain_precision_at_k,
}


def loop(measure, y, s, qid, **params):
    """The values of the plain measure, query by query: the mean over all orders of documents of equal scores."""
    ids = list(dict.fromkeys(qid))
    rows = [[i for i in range(len(y)) if qid[i] == q] for q in ids]
    lists = [([y[i] for i in r], [s[i] for i in r]) for r in rows]
    return [float(np.mean([PLAIN[measure](a, order, **params) for order in orders(b)])) for a, b in lists]


def queries(seed, binary, n=70, n_queries=25):
    """Interleaved queries of some documents, many of one, with many ties."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2 if binary else 5, n)
    s = rng.integers(-3, 4, n) / 2.0
    return y, s, rng.permutation(n_queries)[np.minimum(rng.geometric(0.12, n) - 1, n_queries - 1)]


@all_cases
@pytest.mark.parametrize("seed", range(5))
def test_against_loops(measure, params, binary, seed):
    y, s, qid = queries(seed, binary)
    expected = loop(measure, y.tolist(), s.tolist(), qid.tolist(), **params)
    np.testing.assert_allclose(measure(y, s, qid, **params), expected, rtol=1e-13, atol=1e-13)
    y, s = y[:6], s[:6] > 0
    one = loop(measure, y.tolist(), s.tolist(), [0] * len(y), **params)
    np.testing.assert_allclose(measure(y, s, **params), one, rtol=1e-13, atol=1e-13)


@all_cases
def test_the_order_of_rows_changes_nothing(measure, params, binary):
    y, s, _ = queries(1, binary, n=300)
    forth, back = (measure(y[rows], s[rows], **params) for rows in (slice(None), slice(None, None, -1)))
    np.testing.assert_allclose(forth, back, rtol=1e-12)


@all_cases
def test_rows_are_lists(measure, params, binary):
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2 if binary else 4, (30, 7)), rng.integers(0, 5, (30, 7))
    expected = measure(y.ravel(), s.ravel(), np.repeat(np.arange(30), 7), **params)
    found = measure(y, s, **params)
    assert found.shape == (30,) and found.dtype == np.float64
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(measure(np.asfortranarray(y), s.tolist(), **params), expected)


IDS = {
    "int": lambda q: q - 7,
    "uint8": lambda q: q.astype(np.uint8),
    "bool": lambda q: q > 10,
    "float": lambda q: q / 3,
    "str": lambda q: np.array([f"query {i}" for i in q]),
    "bytes": lambda q: np.array([f"query {i}" for i in q]).astype("S"),
    "list": lambda q: [f"query {i}" for i in q],
    "date": lambda q: np.datetime64("2020-01-01") + q,
    "mixed": lambda q: np.array([int(i) if i % 2 else f"query {i}" for i in q], dtype=object),
    "large": lambda q: [10**30 + int(i) for i in q],
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_ids(ids):
    for measure, params, binary in CASES.values():
        y, s, qid = queries(3, binary, n=18)
        new = ids(qid)
        expected = loop(measure, y, s, list(new), **params)
        np.testing.assert_allclose(measure(y, s, new, **params), expected, rtol=1e-13, atol=1e-13)


def test_order_of_first_appearance():
    y, s = [1, 0, 1, 0, 0, 1], [5, 4, 1, 2, 3, 0]
    np.testing.assert_array_equal(reciprocal_rank(y, s, ["z", "a", "m", "m", "a", "a"]), [1, 1 / 3, 1 / 2])


def test_pandas():
    pandas = pytest.importorskip("pandas")
    y, s, qid = queries(1, binary=False)
    frame = pandas.DataFrame({"y": y, "s": s, "q": [f"query {i}" for i in qid]}, index=np.arange(len(y))[::-1])
    expected = ndcg(y, s, qid)
    np.testing.assert_array_equal(ndcg(frame.y, frame.s, frame.q), expected)
    np.testing.assert_array_equal(ndcg(frame.y, frame.s, frame.q.astype("category")), expected)
    np.testing.assert_array_equal(ndcg(frame[["y", "y"]], frame[["s", "s"]]), np.ones(len(y)))
    for missing in (
        pandas.Series([1, None], dtype="Int64"),
        pandas.Series(["a", pandas.NA]),
        pandas.Series(["a", None], dtype="str"),
    ):
        with pytest.raises(ValueError, match=r"qid\[1\]=(nan|<NA>|None); accepted are ids without missing values"):
            ndcg([0, 1], [0, 1], missing)


def distinct(seed, m, grades):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, grades, m)
    y[:2] = 0, 1  # some of each
    return y, rng.permutation(m).astype(float)


@pytest.mark.parametrize("k", [None, 1, 3, 100])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("width", [1, 4, 30])
def test_ndcg_of_scikit_learn(seed, k, width):
    y, s = distinct(seed, 20, 5)
    s //= width  # ties of so many
    expected = sklearn.metrics.ndcg_score([y], [s], k=k)
    assert ndcg(y, s, k=k, gain="linear")[0] == pytest.approx(expected, rel=1e-13)
    assert ndcg(y, s, k=k)[0] == pytest.approx(sklearn.metrics.ndcg_score([2.0**y - 1], [s], k=k), rel=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_average_precision_of_scikit_learn(seed):
    y, s = distinct(seed, 20, 2)
    assert average_precision(y, s)[0] == pytest.approx(sklearn.metrics.average_precision_score(y, s), rel=1e-13)
    rng = np.random.default_rng(seed)
    y, s = rng.integers(0, 2, (9, 6)), rng.random((9, 6))
    expected = sklearn.metrics.label_ranking_average_precision_score(y, s)
    assert mean_over_queries(average_precision, y, s) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("m", [2, 3, 7, 8, 9, 64, 65, 500])
def test_kendall_tau_of_scipy(m):
    rng = np.random.default_rng(m)
    y, s = rng.permutation(m), rng.permutation(m)
    assert kendall_tau(y, s)[0] == pytest.approx(stats.kendalltau(y, s).statistic, abs=1e-13)
    y, s = rng.integers(0, 3, m), rng.integers(0, 4, m)
    y[:2] = 0, 1
    assert kendall_tau(y, s)[0] == pytest.approx(stats.somersd(y, s).statistic, abs=1e-13)
    y = np.minimum(y, 1)
    assert kendall_tau(y, s)[0] == pytest.approx(2 * sklearn.metrics.roc_auc_score(y, s) - 1, abs=1e-13)


def test_kendall_tau_of_long_lists():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 20_000)
    s, qid = y + rng.normal(size=20_000), np.repeat([1, 0, 2, 3], 5000)
    blocks = [(y[a : a + 5000], s[a : a + 5000]) for a in range(0, 20_000, 5000)]
    # tau-b divides by the root of (pairs of different relevance) (pairs of different scores), and all scores differ.
    expected = [
        stats.kendalltau(a, b).statistic / np.sqrt(1 - np.sum(np.bincount(a) / 5000 * (np.bincount(a) - 1) / 4999))
        for a, b in blocks
    ]
    np.testing.assert_allclose(kendall_tau(y, s, qid), expected, rtol=1e-12)
    np.testing.assert_array_equal(kendall_tau(y, y, qid), 1)
    np.testing.assert_array_equal(kendall_tau(y, -y, qid), -1)


ZERO_WITHOUT_RELEVANT = (reciprocal_rank, precision_at_k)


@all_cases
def test_no_ranking_is_wrong(measure, params, binary):
    s = np.array([0.1, 0.5, 0.3, 0.3])
    assert measure(np.zeros(4), s, **params) == (0 if measure in ZERO_WITHOUT_RELEVANT else 1)
    assert measure([0], [3], **params) == (0 if measure in ZERO_WITHOUT_RELEVANT else 1)
    for grade in (1,) if binary else (1, 3, 0.1):
        assert measure(np.full(4, grade), s, **params) == 1
        assert measure([grade], [-3], **params) == 1
    found = measure([1, 0, 0, 1, 0], [1, 2, 3, 4, 5], ["a", "b", "b", "c", "b"], **params)
    np.testing.assert_array_equal(found, [1, 0, 1] if measure in ZERO_WITHOUT_RELEVANT else 1)


@pytest.mark.parametrize("y", list(itertools.permutations([1, 0, 0])))
def test_equal_scores_in_random_order(y):
    s = [0.5, 0.5, 0.5]
    assert reciprocal_rank(y, s)[0] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert average_precision(y, s)[0] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert ndcg(y, s)[0] == pytest.approx((1 + 1 / np.log2(3) + 1 / 2) / 3)
    assert precision_at_k(y, s, k=1) == 1 / 3
    assert kendall_tau(y, s) == 0  # each pair half right
    interleaved = reciprocal_rank(np.repeat(y, 2), np.repeat(s, 2), [0, 1] * 3)
    np.testing.assert_array_equal(interleaved, [reciprocal_rank(y, s)[0]] * 2)


def test_long_ties():
    y = np.arange(20_000) % 4 == 0
    assert reciprocal_rank(y, np.zeros(len(y)))[0] == pytest.approx(np.log(4) / 3, abs=1e-4)  # sum of (3/4)^(j-1) / (4 j)
    assert average_precision(y, np.zeros(len(y)))[0] == pytest.approx(0.25, abs=1e-3)
    assert reciprocal_rank(np.arange(1000) == 7, np.zeros(1000))[0] == pytest.approx((1 / np.arange(1, 1001)).mean(), rel=1e-12)


def test_a_right_ranking_is_perfect_to_the_bit():
    y, _, qid = queries(0, binary=False, n=5000)
    for measure in (ndcg, kendall_tau):
        np.testing.assert_array_equal(measure(y, y + 0.1, qid), 1)
        np.testing.assert_array_equal(measure(y / 7, y / 7, qid), 1)
    np.testing.assert_array_equal(average_precision(y > 2, y, qid), 1)


def test_zeros_of_both_signs_are_equal():
    assert reciprocal_rank([0, 1], [-0.0, 0.0]) == 3 / 4
    assert kendall_tau([0, 1], [-0.0, 0.0]) == 0


def test_kendall_tau_of_equal_scores():
    with np.errstate(over="raise"):
        assert kendall_tau([1, 0, 1], [1.5e308, -1.5e308, 0]) == 1
    assert kendall_tau([1, 0, 0], [0.5, 0.5, 0.1])[0] == 0.5  # one pair right, one half right
    assert kendall_tau([2, 1, 1, 0], [1, 1, 0, 0])[0] == pytest.approx((3 - 0) / 5)


def test_precision_of_short_lists():
    np.testing.assert_array_equal(precision_at_k([1, 1, 0, 1], [1, 2, 3, 4], [0, 0, 1, 1], k=10), [1, 1 / 2])


@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_cut_off_beyond_the_list(gain):
    y, s, qid = queries(0, binary=False)
    np.testing.assert_array_equal(ndcg(y, s, qid, k=10**6, gain=gain), ndcg(y, s, qid, gain=gain))


def test_large_relevance():
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        assert ndcg([1000, 999, 0], [1, 2, 3])[0] == pytest.approx((0.5 / np.log2(3) + 0.5) / (1 + 0.5 / np.log2(3)))
        assert ndcg([1e6, 0], [1, 2])[0] == pytest.approx(1 / np.log2(3))
        found = ndcg([0, 2, 10_000, 1], [2, 3, 1, 4], ["large", "small", "large", "small"])
        np.testing.assert_allclose(found, [1 / np.log2(3), plain_ndcg([2, 1], [1, 0])], rtol=1e-14)
        assert ndcg([1.5e308, 1.5e308, 0], [1, 2, 3], gain="linear")[0] == pytest.approx(
            (1 / np.log2(3) + 0.5) / (1 + 1 / np.log2(3))
        )


def test_ndcg_is_at_most_one():
    """Sums in different orders differ by rounding."""
    assert ndcg(1 + np.array([1, 0, 1, 2, 1]) * 2.0**-51, [0, 2, 1, 4, 3], gain="linear") == 1


def test_small_relevance():
    """2^y - 1 is nearly y log 2, so that the exponential gain of small relevances is the linear one."""
    y = np.array([3e-12, 1e-12, 2e-12])
    assert ndcg(y, [1, 2, 3])[0] == pytest.approx(ndcg(y, [1, 2, 3], gain="linear")[0], rel=1e-11)


@all_cases
def test_range_and_invariance(measure, params, binary):
    y, s, qid = queries(11, binary)
    found = measure(y, s, qid, **params)
    assert (-1 if measure is kendall_tau else 0) <= found.min() and found.max() <= 1
    np.testing.assert_array_equal(measure(y, np.exp(s), qid, **params), found)  # only the order of the scores counts
    if measure is not precision_at_k:  # which is 1 only where there are enough of them
        has_relevant = np.array([y[qid == q].max() > 0 for q in dict.fromkeys(qid)])
        np.testing.assert_allclose(measure(y, y, qid, **params)[has_relevant], 1, rtol=1e-15)


def test_inputs_are_not_changed():
    y, s, qid = (np.array(a) for a in ([1.0, 0, 1], [3.0, 2, 1], [1, 0, 1]))
    for a in (y, s, qid):
        a.flags.writeable = False
    for measure, params, _ in CASES.values():
        measure(y, s, qid, **params)


OK = ([0, 1, 1], [0.1, 0.2, 0.3])

ERRORS = {
    "lengths": ((OK[0], OK[1][:2]), r"scores has shape \(2,\); accepted is that of y_true, \(3,\)"),
    "shapes": (([OK[0]], OK[1]), r"scores has shape \(3,\); accepted is that of y_true, \(1, 3\)"),
    "nan score": ((OK[0], [0, np.nan, 0]), r"scores\[1\]=nan; accepted are finite numbers"),
    "inf score": ((OK[0], [0, 0, -np.inf]), r"scores\[2\]=-inf; accepted are finite numbers"),
    "nan score of a row": (([OK[0]], [[0, np.nan, 0]]), r"scores\[0, 1\]=nan"),
    "text as score": ((OK[0], ["a", "b", "c"]), r"scores=\['a', 'b', 'c'\] does not hold numbers; accepted are finite"),
    "negative relevance": (([0, -1, 1], OK[1]), r"y_true\[1\]=-1.0; accepted are relevances, finite and not negative"),
    "nan relevance": (([0, 1, np.nan], OK[1]), r"y_true\[2\]=nan; accepted are relevances"),
    "inf relevance": (([np.inf, 1, 0], OK[1]), r"y_true\[0\]=inf; accepted are relevances"),
    "text as relevance": ((["x" * 99] * 3, OK[1]), r"y_true=\['x+\.\.\. does not hold numbers; accepted are relevances"),
    "sparse relevance": ((sparse.csr_array([OK[0]]), [OK[1]]), "y_true=.* does not hold numbers"),
    "ragged": (([[0, 1], [1]], OK[1]), "y_true=.* does not hold numbers"),
    "scalar": ((1, 2), r"y_true has shape \(\); accepted are \(n_documents,\) and \(n, m\)"),
    "3-d": (([[OK[0]]], [[OK[1]]]), r"y_true has shape \(1, 1, 3\)"),
    "empty": (([], []), r"y_true has shape \(0,\); .* with a document at least"),
    "no labels": ((np.zeros((2, 0)), np.zeros((2, 0))), r"y_true has shape \(2, 0\)"),
    "length of qid": ((*OK, [1, 2]), r"qid has shape \(2,\); accepted is that of y_true, \(3,\)"),
    "column of qid": ((*OK, [[1], [2], [2]]), r"qid has shape \(3, 1\)"),
    "qid of rows": (([OK[0]], [OK[1]], [1]), r"qid must be None for y_true of shape \(1, 3\).*it is \[1\]"),
    "nan id": ((*OK, [1, np.nan, 2]), r"qid\[1\]=nan; accepted are ids without missing values"),
    "no date": ((*OK, np.array(["2020", "NaT", "2021"], dtype="M8[D]")), r"qid\[1\]=NaT; accepted are ids"),
    "None as id": ((*OK, ["a", None, "b"]), r"qid\[1\]=None; accepted are ids without missing values"),
    "nan object as id": ((*OK, np.array(["a", "b", np.nan], dtype=object)), r"qid\[2\]=nan; accepted are ids"),
    "ids without hash": ((*OK, np.array([{}, {}, {}], dtype=object)), "qid=.*holds values without a hash; accepted are"),
}


@pytest.mark.parametrize(("args", "message"), ERRORS.values(), ids=ERRORS)
def test_errors(args, message):
    for measure, params, _ in CASES.values():
        with pytest.raises(ValueError, match=message):
            measure(*args, **params)
        with pytest.raises(ValueError, match=message):
            mean_over_queries(measure, *args, **params)


@pytest.mark.parametrize("measure", [ndcg, kendall_tau, reciprocal_rank])
def test_weights(measure):
    y, s, qid = queries(2, binary=False)
    values = measure(y, s, qid)
    assert mean_over_queries(measure, y, s, qid) == values.mean()
    assert mean_over_queries(measure, y, s, qid, sample_weight=np.full(len(y), 7)) == pytest.approx(values.mean())
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    kept = weights > 0
    ids = list(dict.fromkeys(qid[kept]))
    of_query = [weights[kept & (qid == q)].mean() for q in ids]
    expected = np.average(measure(y[kept], s[kept], qid[kept]), weights=of_query)
    for scale in (1, 1e-300, 8e307):
        assert mean_over_queries(measure, y, s, qid, sample_weight=weights * scale) == pytest.approx(expected)


def test_weights_of_rows():
    y, s = [[0, 1], [1, 0], [1, 0]], [[2, 1], [2, 1], [1, 2]]
    assert mean_over_queries(reciprocal_rank, y, s, sample_weight=[1, 2, 0]) == pytest.approx((0.5 + 2) / 3)


def test_measure_of_ones_own():
    def mean_relevance(y_true, scores, qid=None, *, factor=1):
        return np.bincount(qid, y_true) / np.bincount(qid) * factor

    y, s, qid = [1, 0, 3, 3], [1, 2, 3, 4], ["b", "b", "a", "a"]
    assert mean_over_queries(mean_relevance, y, s, qid, factor=2) == 3.5
    with pytest.raises(ValueError, match=r"measure=.* has values of shape \(\); accepted is one per query, \(2,\)"):
        mean_over_queries(lambda y, s, qid=None: 1.0, y, s, qid)


def test_public_names():
    assert sorted(metrics.__all__) == metrics.__all__
    assert all(callable(getattr(metrics, name)) for name in metrics.__all__)
