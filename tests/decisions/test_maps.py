"""Maps from scores to probabilities, and what is predicted by them, against plain NumPy, SciPy's minimisers and enumeration."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit, log_softmax, softmax

from sklearn_predtron.decisions import _calibration
from sklearn_predtron.decisions._calibration_curves import (
    ClassProbabilities,
    PairProbabilities,
    fit_curve,
    likelihood,
    probabilities_of_curves,
    probabilities_of_ranks,
    with_largest,
)
from sklearn_predtron.decisions._expected_cost import MostExpected, MostProbable, odds
from sklearn_predtron.decisions._expected_values import least_expected, most_expected

SMOOTHING = 0.1
UNLIMITED = np.array([[-1.0, 1.0]]) * np.finfo(float).max


def scored(n=200, seed=0, slope=1.5, scale=1.0):
    """Scores and whether rows are of the second class, which is the likelier the larger they are."""
    random = np.random.default_rng(seed)
    scores = random.standard_normal(n)
    return scores * scale, (random.random(n) < expit(slope * scores - 0.5)).astype(float)


def of_classes(n=300, k=4, seed=0, noise=1.0):
    random = np.random.default_rng(seed)
    scores = random.standard_normal((n, k))
    return scores, (scores + noise * random.gumbel(size=(n, k))).argmax(axis=1)


def few(n, smoothing=SMOOTHING):
    """What rows are smoothed by: twice as much if there are twenty."""
    return smoothing * (1 + (20 / n) ** 2)


def targets(on, weight, smoothing=SMOOTHING):
    """What a row is worth of each class, by Platt (1999): 1 - e and e, where e = smoothing / (n of the class + 2)."""
    smoothing = few(weight.sum(), smoothing)
    positive, negative = (weight * on).sum(), (weight * (1 - on)).sum()
    target = on * (1 - smoothing / (positive + 2)) + (1 - on) * smoothing / (negative + 2)
    return weight * target, weight * (1 - target)


def penalised(b, s, on, off, mean, ridge):
    z = b[0] + b[1] * s + b[2] * np.abs(s)
    return (on * np.logaddexp(0, -z) + off * np.logaddexp(0, z)).sum() + (ridge * (b - mean) ** 2).sum() / 2


# ---------------------------------------------------------------------------------------------------------------- curves


@pytest.mark.parametrize("slopes", [(1.0, 2.0), (3.0, 0.0), (0.0, 3.0), (-1.0, -1.0), (2.0, -2.0)])
@pytest.mark.parametrize("seed", range(3))
def test_a_curve_is_the_likeliest_that_rises(seed, slopes):
    """Also where the best of all curves falls on a side, or on both: the other slope remains."""
    random = np.random.default_rng(seed)
    s = random.standard_normal(80)
    y = random.random(80) < expit(np.where(s > 0, slopes[0], slopes[1]) * s)
    on, off = random.random((2, 80)) + [y, 1 - y]
    mean, ridge = random.random(3) * [1, 1, 0], random.uniform(0.01, 1, 3)
    given = s, on, off, mean, ridge
    rises = [{"type": "ineq", "fun": lambda b, side=side: b[1] + side * b[2] - 1e-6} for side in (-1, 1)]
    best = minimize(penalised, [0, 1, 0], given, "SLSQP", constraints=rises, options={"ftol": 1e-12, "maxiter": 500})
    found, objective = fit_curve(*given, 1e-6)
    assert objective == pytest.approx(penalised(found, *given), rel=1e-12)
    assert objective <= best.fun + 1e-6 and found[1] - abs(found[2]) >= 1e-6 * (1 - 1e-6)
    np.testing.assert_allclose(found, best.x, atol=2e-3)


def quantiles(s):
    """The limits of scores among which the likeliest are taken: a little beyond all, or leaving out some on each side."""
    order, n = np.sort(s), len(s)
    range_ = order[-1] - order[0]
    yield order[0] - range_ / 2, order[-1] + range_ / 2
    for share in (64, 16, 8):
        yield order[n // share], order[-1 - n // share]


def limited_curves(s, on, off, ridge):
    """The likeliest curve for each of these limits, with the scale."""
    for limits in quantiles(s):
        within = np.clip(s, *limits)
        unit = np.sqrt(np.mean(within**2))
        yield minimize(penalised, [0, 1, 0], (within / unit, on, off, np.zeros(3), ridge), "BFGS"), unit, limits


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
@pytest.mark.parametrize("far", [0, 2])
def test_the_map_of_two_classes_by_its_definition(weighted, scale, far):
    s, y = scored(scale=scale)
    s[:far] = 300 * scale
    weight = np.random.default_rng(1).uniform(0.1, 3, len(s)) if weighted else np.ones(len(s))
    found = _calibration.fit_two(s[:, None], y, weight, SMOOTHING)
    share, ridge = weight / weight.mean(), np.array([0.001, 0.01, 1.0])  # of the constant, of s and of |s|
    expected, unit, limits = min(limited_curves(s, *targets(y, share), ridge), key=lambda fit: fit[0].fun)
    np.testing.assert_allclose(found.limits, [limits])
    np.testing.assert_allclose(found.scale, [unit])
    np.testing.assert_allclose(found.curves[0], expected.x, atol=1e-3)
    of_curve = (found.probabilities(s[:, None])[:, 0] - found.floor) / (1 - 2 * found.floor)
    assert abs(of_curve @ share - targets(y, share)[0].sum()) < 0.05  # the constant is free
    np.testing.assert_allclose(found.floor, few(len(s)) / (len(s) + 2))


def test_few_scores_far_from_all_others_change_no_probability():
    """Rows with a code for what is unknown, which says nothing; and larger scores are never less probable."""
    s, y = scored(4000)
    plain = _calibration.fit_two(s[:, None], y, np.ones(4000), SMOOTHING)
    for far in (50.0, -1e4):
        with_far = np.append(s, np.full(8, far))[:, None], np.append(y, [0, 1] * 4)
        found = _calibration.fit_two(*with_far, np.ones(4008), SMOOTHING)
        assert np.abs(found.probabilities(s[:, None]) - plain.probabilities(s[:, None])).mean() < 0.01
        grid = np.linspace(-60, 60, 1001)[:, None]
        assert (np.diff(found.probabilities(grid)[:, 0]) > 0).all()
    classes, y = of_classes(3000)
    plain = _calibration.fit_classes(classes, y, 4, np.ones(3000), SMOOTHING, matrix=True)
    found = _calibration.fit_classes(
        np.vstack([classes, 100 * np.eye(4)[[0, 0, 1, 3]]]), np.append(y, [2, 1, 0, 3]), 4, np.ones(3004), SMOOTHING, matrix=True
    )
    assert np.abs(found.probabilities(classes) - plain.probabilities(classes)).mean() < 0.01
    assert (found.probabilities(1000 * np.eye(4)).argmax(axis=1) == np.arange(4)).all()
    sets, on = labelled(3000)
    plain = _calibration.fit_labels(sets, on, np.ones(3000), SMOOTHING).probabilities(sets)
    far = np.vstack([sets, np.full((8, 4), 100.0)]), np.vstack([on, np.tile([[0], [1]], (4, 4))])
    assert np.abs(_calibration.fit_labels(*far, np.ones(3008), SMOOTHING).probabilities(sets) - plain).mean() < 0.01


@pytest.mark.parametrize("seed", range(30))
def test_probabilities_rise_with_scores(seed):
    """Also where labels are against them, where all are alike, and where few rows have scores above 0 or below."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 40))
    s = random.standard_normal(n) * 10 ** random.uniform(-5, 5) + random.choice([0, 3, -3])
    y = [(s < 0), (s > 0), random.random(n) < 0.5, np.ones(n), np.zeros(n)][seed % 5].astype(float)
    found = _calibration.fit_two(s[:, None], y, random.uniform(0, 2, n), SMOOTHING)
    _, slope, apart = found.curves[0]
    assert np.isfinite(found.curves).all() and slope - abs(apart) >= 1e-6 * (1 - 1e-6)
    grid = np.linspace(-3, 3, 101) * found.scale
    p = found.probabilities(grid[:, None])[:, 0]
    assert (np.diff(p) >= 0).all() and (p > 0).all() and (p < 1).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_cut_is_where_expected_costs_meet(seed):
    random = np.random.default_rng(seed)
    curves = np.column_stack([random.standard_normal(6), random.uniform(1, 2, 6), random.uniform(-0.9, 0.9, 6)])
    found = _calibration.CurveMap(random.uniform(0.1, 10, 6), curves, UNLIMITED.repeat(6, axis=0), random.uniform(0, 1e-7, 6))
    for false, missed in [(1, 1), (1, 20), (20, 1), (1, 1e6), (0.3, 0.1)]:
        cuts = found.cuts(odds(false, missed))
        p = found.probabilities(cuts[None])[0]
        np.testing.assert_allclose((1 - p) * false, p * missed, rtol=1e-9)


def test_cuts_where_scores_are_limited():
    """Within the limits, in the small rest of the curve beyond them, and where no score has the odds."""
    found = _calibration.CurveMap(np.array([2.0]), np.array([[0.3, 1.0, 0.2]]), np.array([[-3.0, 4.0]]), np.array([1e-3]))
    scores = np.concatenate([np.linspace(-9, 9, 500), [-150, 150]])[:, None]
    p = found.probabilities(scores)[:, 0]
    for at in (p[100], p[250], p[350], p[499], p.max() + 1e-6, p.min() - 1e-6, 0.999, 0.001):
        odds_at = at / (1 - at) * (1 + 1e-12)
        np.testing.assert_array_equal(scores[:, 0] > found.cuts(odds_at), p * (1 - at) > (1 - p) * at * (1 + 1e-12))


def test_costs_of_nothing_have_cuts():
    """What cannot be missed is never predicted in reason, and what cannot be false always; the cut is a number."""
    for floor in (0.0, 1e-3):
        found = _calibration.CurveMap(np.ones(1), np.array([[0.3, 1.0, 0.2]]), UNLIMITED, np.array([floor]))
        low, high = found.cuts(odds(0, 1)), found.cuts(odds(1, 0))
        assert -100 < low < -10 and 10 < high < 100


def test_no_probability_is_below_the_floor_and_cuts_know_it():
    """Odds beyond the floor are never met, or always."""
    found = _calibration.CurveMap(np.ones(1), np.array([[0.0, 1.0, 0.0]]), UNLIMITED, np.array([1e-3]))
    scores = np.array([[-800.0], [-9.0], [-3.0], [0.0], [3.0], [9.0], [800.0]])
    p = found.probabilities(scores)[:, 0]
    np.testing.assert_allclose(p, 1e-3 + (1 - 2e-3) * expit(scores[:, 0]))
    for false, missed in [(1, 5000), (5000, 1), (1, 100), (3, 1)]:
        np.testing.assert_array_equal(scores[1:-1, 0] > found.cuts(odds(false, missed)), (p * missed > (1 - p) * false)[1:-1])
    of_classes = _calibration.fit_classes(
        np.tile(np.eye(3), (20, 1)), np.arange(60) % 3, 3, np.ones(60), SMOOTHING, matrix=False
    )._replace(limit=1e300)
    far = of_classes.probabilities(np.array([[0.0, 1e4, -1e4]]))
    np.testing.assert_allclose(far.sum(), 1)
    np.testing.assert_allclose(far.min(), few(60) / ((60 + 2) * 2))


def test_probabilities_of_any_scores():
    curves, scale = np.array([[0.2, 1.0, 0.3], [-1.0, 2.0, -0.5]]), np.array([1.0, 3.0])
    scores = np.array([[0.0, 0.0], [1.5, -2.0], [1e300, 1e300], [-1e300, -1e300], [800.0, -800.0]])
    with np.errstate(over="ignore"):
        s = scores / scale
        expected = expit(curves[:, 0] + curves[:, 1] * s + curves[:, 2] * np.abs(s))
    unlimited = UNLIMITED.repeat(2, axis=0)
    found = probabilities_of_curves(scores, curves, scale, unlimited)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert found[2].tolist() == [1, 1] and found[3].tolist() == [0, 0]
    np.testing.assert_array_equal(probabilities_of_curves(scores[1:2], curves, scale, unlimited), found[1:2])  # by itself


def test_scores_of_any_size_have_the_same_map():
    s, y = scored()
    plain = _calibration.fit_two(s[:, None], y, np.ones(len(s)), SMOOTHING)
    for k in (-900, -40, 3, 900):
        found = _calibration.fit_two(np.ldexp(s, k)[:, None], y, np.ones(len(s)), SMOOTHING)
        np.testing.assert_array_equal(found.curves, plain.curves)
        np.testing.assert_array_equal(found.scale, np.ldexp(plain.scale, k))


def test_more_smoothing_stays_further_off():
    s, y = np.linspace(-1, 1, 20), np.repeat([0.0, 1.0], 10)
    largest = [
        _calibration.fit_two(s[:, None], y, np.ones(20), smoothing).probabilities(s[:, None]).max() for smoothing in (0, 0.1, 1)
    ]
    assert largest[0] > largest[1] > largest[2] + 0.005


@pytest.mark.parametrize("k", [2, 3, 7, 8, 17, 130, 300])
def test_the_predicted_class_is_the_most_probable(k):
    """To the bits of NumPy, in whose order the sums of all sizes are added up."""
    random = np.random.default_rng(k)
    P, predicted = random.dirichlet(np.ones(k), 40), random.integers(0, k, 40)
    rows, most = np.arange(40), P.max(axis=1)
    expected = P.copy()
    expected[rows, predicted] = np.where(P.argmax(axis=1) == predicted, most, most * (1 + 1e-6))
    assert_array_equal(with_largest(P, predicted), expected / expected.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("agrees", [True, False])
def test_two_classes_at_once(d, agrees):
    """The compiled path gives the bits of the curve of the second score."""
    random = np.random.default_rng(d)
    scores, direction = 3 * random.standard_normal((50, d)), random.standard_normal(d)
    scores[:3] = [[0.0], [1e300], [-1e300]]
    curve, limits = np.array([[0.3, 1.2, -0.4]]), np.array([[-2.0, 3.0]])
    second = np.ascontiguousarray(sum(scores[:, j] * direction[j] for j in range(d)) / 2.0)[:, None]
    p = 0.01 + (1 - 2 * 0.01) * probabilities_of_curves(second, curve, np.array([1.5]), limits)[:, 0]
    if agrees:
        s = second[:, 0]
        lead = 1e-6 * (1 + np.abs(s) / (1 + np.abs(s)))
        p = np.where(s > 0, np.maximum(p, 0.5 + lead), np.minimum(p, 0.5 - lead))
    found = PairProbabilities(direction, 2.0, curve[0], limits[0], 1.5, 0.01, agrees).of(scores)
    assert_array_equal(found, np.column_stack([1 - p, p]))


def test_curves_refuse_what_does_not_go_together():
    s, ones = np.zeros(3), np.ones(3)
    for call in [
        lambda: fit_curve(s, ones[:2], ones, s, ones, 0.0),
        lambda: fit_curve(s, ones, ones, s[:2], ones, 0.0),
        lambda: fit_curve(s, ones, ones, s, ones[:2], 0.0),
        lambda: probabilities_of_curves(np.zeros((2, 3)), np.zeros((2, 3)), np.ones(3), np.zeros((3, 2))),
        lambda: probabilities_of_curves(np.zeros((2, 3)), np.zeros((3, 2)), np.ones(3), np.zeros((3, 2))),
        lambda: probabilities_of_curves(np.zeros((2, 3)), np.zeros((3, 3)), np.ones(2), np.zeros((3, 2))),
        lambda: probabilities_of_curves(np.zeros((2, 3)), np.zeros((3, 3)), np.ones(3), np.zeros((2, 2))),
        lambda: ClassProbabilities(np.zeros(5), np.zeros(3), 1.0, 1.0, 3, True, 0.0),
        lambda: ClassProbabilities(np.zeros(4), np.zeros(2), 1.0, 1.0, 3, True, 0.0),
        lambda: ClassProbabilities(np.zeros(5), np.zeros(3), 1.0, 1.0, 4, True, 0.0),
        lambda: ClassProbabilities(np.zeros(4), np.zeros(3), 1.0, 1.0, 3, True, 0.0).of(np.zeros((2, 2))),
        lambda: PairProbabilities(np.ones(2), 1.0, np.zeros(3), np.zeros(2), 1.0, 0.0, True).of(np.zeros((2, 3))),
        lambda: PairProbabilities(np.ones(2), 1.0, np.zeros(2), np.zeros(2), 1.0, 0.0, True),
        lambda: PairProbabilities(np.ones(2), 1.0, np.zeros(3), np.zeros(3), 1.0, 0.0, True),
        lambda: with_largest(np.ones((2, 3)), np.zeros(3, dtype=np.intp)),
        lambda: with_largest(np.ones((2, 3)), np.full(2, 3)),
        lambda: probabilities_of_ranks(np.zeros((2, 3)), np.zeros((2, 3)), np.ones(2), np.zeros((2, 2)), np.zeros((2, 2))),
        lambda: probabilities_of_ranks(np.zeros((2, 3)), np.zeros((3, 3)), np.ones(3), np.zeros((3, 2)), np.zeros((2, 3))),
        lambda: least_expected(np.zeros((2, 3)), np.zeros((2, 3))),
        lambda: most_expected(np.zeros((2, 3)), np.zeros((2, 2), dtype=np.intp), 2.0, 1.0, 1.0),
        lambda: most_expected(np.zeros((2, 3)), np.full((2, 3), 3, dtype=np.intp), 2.0, 1.0, 1.0),
        lambda: likelihood(np.zeros(4), np.zeros((2, 3)), np.array([0, 3]), np.ones(2), np.zeros(3), np.zeros(4), True),
        lambda: likelihood(np.zeros(4), np.zeros((2, 3)), np.array([0, -1]), np.ones(2), np.zeros(3), np.zeros(4), True),
        lambda: likelihood(np.zeros(5), np.zeros((2, 3)), np.array([0, 1]), np.ones(2), np.zeros(3), np.zeros(5), True),
    ]:
        with pytest.raises(ValueError, match=r"must|do not go together"):
            call()


# --------------------------------------------------------------------------------------------------------------- classes


def plain_likelihood(p, s, y, weight, soft, ridge, *, diagonal):
    n, k = len(s), len(soft)
    z = p[1 : 1 + k] + (p[0] * s if diagonal else 0)
    if len(p) > 1 + k:
        z = z + s @ p[1 + k :].reshape(-1, k)
    target = np.repeat((soft[y] / (k - 1))[:, None], k, axis=1)
    target[np.arange(n), y] = 1 - soft[y]
    return (-(weight[:, None] * target * log_softmax(z, axis=1)).sum() + (ridge * p**2).sum() / 2) / n


@pytest.mark.parametrize(("d", "diagonal", "matrix"), [(4, True, True), (4, True, False), (4, False, True), (2, False, True)])
def test_the_likelihood_of_classes_and_its_gradient(d, diagonal, matrix):
    random, k = np.random.default_rng(0), 4
    s, y = random.standard_normal((30, d)), random.integers(0, k, 30)
    weight, soft = random.uniform(0, 2, 30), random.uniform(0, 0.3, k)
    p = random.standard_normal(1 + k + d * k * matrix)
    ridge = random.uniform(0, 3, len(p))
    value, gradient = likelihood(p, s, y, weight, soft, ridge, diagonal)

    def plain(p):
        return plain_likelihood(p, s, y, weight, soft, ridge, diagonal=diagonal)

    assert value == pytest.approx(plain(p), rel=1e-12)
    np.testing.assert_allclose(gradient, approx_fprime(p, plain, 1e-7), atol=1e-5)


@pytest.mark.parametrize(("k", "matrix"), [(3, True), (3, False), (5, True), (13, True)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_map_of_classes_is_nearly_the_likeliest(k, matrix, weighted):
    """Of all that are a s + b + s A, with no A above twelve classes; near it the probabilities are level."""
    s, y = of_classes(k=k)
    weight = np.random.default_rng(1).uniform(0.1, 3, len(s)) if weighted else np.ones(len(s))
    found = _calibration.fit_classes(7 * s + 3, y, k, weight, SMOOTHING, matrix=matrix)
    assert len(found.parameters) == 1 + k + k * k * (matrix and k <= 12)
    centred, share = 7 * (s - np.median(s, axis=0)), weight / weight.mean()
    np.testing.assert_allclose(found.mean, np.median(7 * s + 3, axis=0))
    soft = few(len(s)) / (np.bincount(y, share, k) + 2)
    ridge = np.concatenate([[0.001], np.full(k, 0.01), np.full(len(found.parameters) - 1 - k, 5.0)])

    def fit(limit, n):
        size = np.abs(centred).max(axis=1, keepdims=True)
        within = centred * np.minimum(1, limit / size)
        unit = np.sqrt(np.mean(within**2))
        given = within / unit, y, share, soft, ridge[:n]
        start = np.append(1.0, np.zeros(n - 1))
        best = minimize(lambda p: plain_likelihood(p, *given, diagonal=True), start, method="BFGS", options={"gtol": 1e-5})
        return best.fun, limit, unit, given, best.x

    sizes = np.sort(np.abs(centred).max(axis=1))
    outer = [1.5 * sizes[-1], *(sizes[-1 - 2 * len(s) // share] for share in (64, 16, 8))]
    limit = min(fit(limit, 1 + k) for limit in outer)[1]
    least, limit, unit, given, best = fit(limit, len(found.parameters))
    assert (found.scale, found.limit) == pytest.approx((unit, limit / unit))
    assert plain_likelihood(found.parameters, *given, diagonal=True) <= least + 2e-5
    p = found.probabilities(7 * s + 3)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    z = best[1 : 1 + k] + best[0] * given[0]
    z = z + given[0] @ best[1 + k :].reshape(-1, k) if len(best) > 1 + k else z
    assert np.abs(p - softmax(z, axis=1)).max() < 0.02


def test_classes_of_which_no_row_was_seen_and_no_rows_at_all():
    s, y = of_classes(k=4)
    found = _calibration.fit_classes(s, np.minimum(y, 2), 4, np.ones(len(s)), SMOOTHING, matrix=True)
    assert found.probabilities(s)[:, 3].max() < 0.05
    empty = _calibration.fit_classes(s[:0], y[:0], 4, np.ones(0), SMOOTHING, matrix=True)
    np.testing.assert_allclose(empty.probabilities(s).sum(axis=1), 1)
    weightless = _calibration.fit_classes(s, y, 4, np.zeros(len(s)), SMOOTHING, matrix=True)
    assert np.isfinite(weightless.probabilities(s)).all()


def test_fewer_scores_than_classes():
    """As those of a code of less dimensions: the matrix alone makes log-probabilities of them."""
    random = np.random.default_rng(0)
    angle = random.uniform(0, 2 * np.pi, 400)
    scores, y = np.column_stack([np.cos(angle), np.sin(angle)]), (angle * 5 / (2 * np.pi)).astype(int)
    found = _calibration.fit_classes(scores, y, 5, np.ones(400), SMOOTHING, matrix=True)
    assert (found.probabilities(scores).argmax(axis=1) == y).mean() > 0.9


# ----------------------------------------------------------------------------------------------------------------- ranks


def ranked(n=400, r=5, seed=0):
    random = np.random.default_rng(seed)
    latent = random.standard_normal(n)
    thresholds = np.linspace(-1.5, 1.5, r - 1)
    decoded = np.cumsum(np.column_stack([np.zeros(n), latent[:, None] - thresholds]), axis=1)
    return decoded, np.digitize(latent + 0.5 * random.standard_normal(n), thresholds)


@pytest.mark.parametrize("r", [2, 3, 7])
def test_the_map_of_ranks_is_the_mean_of_both(r):
    scores, y = ranked(r=r)
    found = _calibration.fit_ranks(scores, y, r, np.ones(len(y)), SMOOTHING, matrix=True)
    p = found.probabilities(scores)
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    steps = np.diff(scores, axis=1)
    columns = [np.ascontiguousarray(steps[:, [j]]) for j in range(r - 1)]
    curves = [_calibration.fit_two(column, y > j, np.ones(len(y)), SMOOTHING) for j, column in enumerate(columns)]
    above = np.hstack(
        [probabilities_of_curves(column, one.curves, one.scale, one.limits) for column, one in zip(columns, curves, strict=True)]
    )
    above = np.column_stack([np.ones(len(y)), np.minimum.accumulate(above, axis=1), np.zeros(len(y))])
    classes = _calibration.fit_classes(scores, y, r, np.ones(len(y)), SMOOTHING, matrix=True)
    np.testing.assert_allclose(p, (-np.diff(above, axis=1) + classes.probabilities(scores)) / 2, rtol=1e-9, atol=1e-12)
    assert np.corrcoef(p @ np.arange(r), y)[0, 1] > 0.7


# ---------------------------------------------------------------------------------------------------------------- labels


def labelled(n=300, m=4, seed=0):
    random = np.random.default_rng(seed)
    scores = random.standard_normal((n, m))
    return scores, (random.random((n, m)) < expit(2 * scores - np.arange(m))).astype(np.int32)


def test_labels_are_drawn_to_common_slopes():
    """By its definition: each label has a ridge of ten rows towards the slopes of all pooled."""
    scores, on = labelled()
    n, m = scores.shape
    found = _calibration.fit_labels(scores, on, np.ones(n), SMOOTHING)
    unit, ridge = np.sqrt(np.mean(scores**2)), np.array([0.001, 0.01, 1.0])
    pooled = (scores / unit).ravel(), *targets(on.ravel().astype(float), np.ones(n * m)), np.zeros(3), ridge
    common = minimize(penalised, np.zeros(3), pooled, "BFGS", options={"gtol": 1e-7}).x
    for j in range(m):
        mean = np.append(0, common[1:])
        given = scores[:, j] / unit, *targets(on[:, j].astype(float), np.ones(n)), mean, ridge + [0, 10, 10]
        best = minimize(penalised, mean, given, "BFGS", options={"gtol": 1e-7}).x
        np.testing.assert_allclose(found.curves[j], best, atol=2e-4)


@pytest.mark.parametrize("value", [0, 1])
def test_a_label_that_is_always_the_same_changes_no_other(value):
    scores, on = labelled()
    n = len(scores)
    wide = np.column_stack([scores, np.linspace(-9, 9, n)]), np.column_stack([on, np.full(n, value, dtype=np.int32)])
    before, after = (
        _calibration.fit_labels(scores, on, np.ones(n), SMOOTHING),
        _calibration.fit_labels(*wide, np.ones(n), SMOOTHING),
    )
    np.testing.assert_array_equal(after.curves[:-1], before.curves)
    np.testing.assert_array_equal(after.scale[:-1], before.scale)
    assert abs(after.probabilities(np.ascontiguousarray(wide[0]))[:, -1].mean() - value) < 0.02
    alone = _calibration.fit_labels(scores[:, :1], np.full((n, 1), value, dtype=np.int32), np.ones(n), SMOOTHING)
    assert np.isfinite(alone.curves).all()


# ----------------------------------------------------------------------------------------------------------- predictions


@pytest.mark.parametrize(("k", "m"), [(2, 2), (2, 3), (5, 5), (5, 6)])
def test_what_costs_least(k, m):
    random = np.random.default_rng(k + m)
    P, costs = random.dirichlet(np.ones(k), 300), random.uniform(0, 5, (k, m))
    expected = np.einsum("ny,ys->ns", P, costs)
    np.testing.assert_array_equal(least_expected(P, costs), expected.argmin(axis=1))
    even = np.full((1, k), 1 / k)
    assert least_expected(even, np.ones((k, m))).tolist() == [0]  # of several the first


MEASURES = {"f1": (2.0, 1.0, 1.0), "f2": (5.0, 4.0, 4.0), "f_half": (1.25, 0.25, 0.25), "jaccard": (1.0, 0.0, 1.0)}


def measure_of(name, predicted, true):
    """The measure of two sets, in its own words; 1 where both are empty."""
    both, either = (predicted & true).sum(), (predicted | true).sum()
    if either == 0:
        return 1.0
    if name == "jaccard":
        return both / either
    b2 = {"f1": 1.0, "f2": 4.0, "f_half": 0.25}[name]
    return (1 + b2) * both / (b2 * true.sum() + predicted.sum())


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("m", [1, 2, 5])
def test_no_set_has_a_greater_expected_measure(name, m):
    """Of all 2^m sets, by the probabilities of all 2^m truths."""
    sets = np.array(list(itertools.product([0, 1], repeat=m)))
    values = np.array([[measure_of(name, predicted, true) for true in sets] for predicted in sets])
    random = np.random.default_rng(m)
    P = np.vstack([random.random((40, m)), random.random((20, m)) ** 4, np.full((1, m), 0.5), np.zeros((1, m)), np.ones((1, m))])
    found = MostExpected(*MEASURES[name]).sets(P)
    for p, predicted in zip(P, found, strict=True):
        of_truths = np.prod(np.where(sets == 1, p, 1 - p), axis=1)
        expected = values @ of_truths
        assert expected[(sets == predicted).all(axis=1)][0] == pytest.approx(expected.max(), abs=1e-9)


def test_many_labels_are_fast_and_finite():
    P = np.random.default_rng(0).random((5, 200)) ** 6
    found = MostExpected(*MEASURES["f1"]).sets(P)
    assert (found.sum(axis=1) > 0).all()
    least_on, most_off = np.where(found == 1, P, 2).min(axis=1), np.where(found == 0, P, -1).max(axis=1)
    assert (least_on >= most_off).all()  # the most probable ones


def test_the_k_most_probable():
    P = np.array([[0.1, 0.9, 0.5, 0.9], [0.0, 0.0, 0.0, 0.0]])
    assert MostProbable(2).sets(P).tolist() == [[0, 1, 0, 1], [1, 1, 0, 0]]
    assert MostProbable(0).sets(P).sum() == 0 and MostProbable(4).sets(P).sum() == 8
