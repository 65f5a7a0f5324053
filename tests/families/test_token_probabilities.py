"""Probabilities of the labels of tokens, and decisions by them, beside all sequences one by one."""

import itertools
import pickle

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

from sklearn_predtron import PredtronSequenceTagger
from sklearn_predtron.decisions._tempered import TemperatureScaling, fitted, within
from sklearn_predtron.problems._chain import HammingChain, TokenCodes

COSTS = np.array([[0, 1.0, 4], [2, 0, 1], [9, 3, 0]])


def walls(K, seed):
    """A constraint that allows each label somewhere."""
    allowed = np.random.default_rng(seed).random((K + 1, K)) < 0.6
    allowed[np.arange(K), np.arange(K)] = allowed[K] = True
    return allowed


def chain(K, n, seed=0, size=1.0):
    """Scores of n tokens, and of transitions, first and last labels."""
    rng = np.random.default_rng(seed)
    return size * rng.standard_normal((n, K)), tuple(size * rng.standard_normal(shape) for shape in ((K, K), K, K))


def paths(scores, table, allowed):
    """All sequences of labels that are allowed, and their scores."""
    (T, K), (A, begin, end) = scores.shape, table
    found = [
        path
        for path in itertools.product(range(K), repeat=T)
        if allowed is None or (allowed[K, path[0]] and all(allowed[pair] for pair in itertools.pairwise(path)))
    ]
    of = [
        begin[path[0]] + end[path[-1]] + sum(scores[range(T), path]) + sum(A[pair] for pair in itertools.pairwise(path))
        for path in found
    ]
    return np.array(found), np.array(of)


@pytest.mark.parametrize("size", [0.0, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize(("K", "T"), [(1, 3), (2, 1), (2, 7), (3, 5), (5, 4), (9, 3)])
def test_against_all_paths(K, T, constrained, size):
    """Scores of 1e4 leave exponentials that underflow."""
    allowed = walls(K, T) if constrained else None
    scores, table = chain(K, 3 * T, K, size)
    start = np.array([0, T, 2 * T, 3 * T])
    found, whole = HammingChain(K, 0.1, allowed).probabilities(scores, start, *table)
    for i in range(3):
        labels, of = paths(scores[i * T : (i + 1) * T], table, allowed)
        share = np.exp(of - logsumexp(of))
        expected = np.array([[share[labels[:, t] == k].sum() for k in range(K)] for t in range(T)])
        np.testing.assert_allclose(found[i * T : (i + 1) * T], expected, rtol=1e-9, atol=1e-12 * max(1, size))
        assert whole[i] == pytest.approx(logsumexp(of), rel=1e-12)


def test_no_sequence_that_is_allowed():
    allowed = np.zeros((3, 2), dtype=bool)
    allowed[2] = True
    scores, table = chain(2, 4)
    found, whole = HammingChain(2, 0.1, allowed).probabilities(scores, np.array([0, 1, 4]), *table)
    assert whole[1] == -np.inf and not found[1:].any() and found[0].sum() == pytest.approx(1)


def test_scores_of_paths():
    scores, table = chain(3, 4)
    labels, of = paths(scores, table, None)
    codes = TokenCodes(labels.ravel(), np.arange(0, labels.size + 1, 4))
    np.testing.assert_allclose(HammingChain(3, 0.1).scores_of_paths(np.tile(scores, (len(labels), 1)), codes, *table), of)


def drawn_from_a_chain(n, K=3, T=6, seed=0):
    """Scores of n sequences, and labels that are drawn as exp of their scores says."""
    scores, table = chain(K, n * T, seed, 1.5)
    rng, codes = np.random.default_rng(seed), []
    for i in range(n):
        labels, of = paths(scores[i * T : (i + 1) * T], table, None)
        codes.append(labels[rng.choice(len(labels), p=np.exp(of - logsumexp(of)))])
    return scores, table, TokenCodes(np.concatenate(codes), np.arange(0, n * T + 1, T))


def test_the_temperature_and_the_biases_are_found():
    scores, table, labels = drawn_from_a_chain(400)
    biases = np.array([0.5, 0, -0.5])
    found = fitted(HammingChain(3, 0.1), 3 * (scores - biases), labels, tuple(3 * part for part in table))
    assert found.temperature == pytest.approx(3, rel=0.1)
    np.testing.assert_allclose((found.biases - found.biases.mean()) / 3, biases, atol=0.15)


def test_likelihood_is_at_its_maximum():
    scores, table, labels = drawn_from_a_chain(50)
    problem = HammingChain(3, 0.1)
    best = fitted(problem, scores, labels, table)

    def loss(temperature, biases, limit):
        read, of = TemperatureScaling(temperature, biases, limit).read(scores, table)
        likelihood = problem.scores_of_paths(read, labels, *of) - problem.probabilities(read, labels.starts, *of)[1]
        return -likelihood.sum() + ((biases / temperature) ** 2).sum() / 2

    least = loss(*best)
    for i, step in itertools.product(range(4), (-0.02, 0.02)):
        moved = best.temperature * (1 + step * (i == 3)), best.biases + step * (np.arange(3) == i)
        assert loss(*moved, best.limit) > least - 1e-6


def test_few_tokens_far_out_do_not_decide():
    scores, table, labels = drawn_from_a_chain(400)
    problem, far = HammingChain(3, 0.1), scores.copy()
    far[::100] *= -300
    found, usual = fitted(problem, far, labels, table), fitted(problem, scores, labels, table)
    read, of = found.read(scores, table)
    likelihood = problem.scores_of_paths(read, labels, *of) - problem.probabilities(read, labels.starts, *of)[1]
    read, of = usual.read(scores, table)
    best = problem.scores_of_paths(read, labels, *of) - problem.probabilities(read, labels.starts, *of)[1]
    assert likelihood.sum() > 1.1 * best.sum()  # both are below 0


@pytest.mark.parametrize("limit", [0.5, 2.0, 1e300])
def test_scores_within_a_limit(limit):
    scores = np.vstack([chain(4, 50)[0], np.full((1, 4), 1e300), np.eye(1, 4) * 1e300])
    found = within(scores, limit)
    distance = np.abs(scores - scores.mean(axis=1, keepdims=True)).max(axis=1)
    np.testing.assert_array_equal(found[distance <= limit], scores[distance <= limit])
    assert (np.abs(found - found.mean(axis=1, keepdims=True)).max(axis=1) <= limit * 1.0011).all()
    np.testing.assert_array_equal(found.argmax(axis=1), scores.argmax(axis=1))


@pytest.mark.parametrize("size", [1e3, 1e6, 1e10])
def test_a_score_far_beyond_the_others(size):
    """A token that is labelled as its score says tells next to nothing of the temperature."""
    scores, table, labels = drawn_from_a_chain(100)
    problem, far = HammingChain(3, 0.1), scores.copy()
    far[4, labels.array[4]] += size
    found, usual = fitted(problem, far, labels, table), fitted(problem, scores, labels, table)
    assert found.temperature == pytest.approx(usual.temperature, rel=0.05)


def test_probabilities_do_not_depend_on_the_unit_of_scores():
    scores, table, labels = drawn_from_a_chain(60)
    problem = HammingChain(3, 0.1)
    found = []
    for unit in (1.0, 1e-7, 1e6):
        of = unit * scores, tuple(unit * part for part in table)
        found.append(fitted(problem, of[0], labels, of[1]).probabilities(problem, of[0], labels.starts, of[1])[0])
    np.testing.assert_allclose(found[1], found[0], atol=1e-4)
    np.testing.assert_allclose(found[2], found[0], atol=1e-4)


def sequences(n=120, T=8, seed=0):
    rng = np.random.default_rng(seed)
    y = np.cumsum(rng.random(n * T) < 0.3) % 3
    return np.eye(3)[y] + 0.8 * rng.standard_normal((n * T, 3)), np.array(["a", "b", "c"])[y], np.repeat(np.arange(n), T)


def part(arrays, first, last, T=8):
    return tuple(values[first * T : last * T] for values in arrays)


@pytest.fixture
def calibrated():
    data = sequences()
    X, y, sid = part(data, 0, 60)
    model = PredtronSequenceTagger(random_state=0).fit(X, y, sid=sid)
    X, y, sid = part(data, 60, 90)
    return model.calibrate(X, y, sid=sid), part(data, 90, 120)


def test_an_estimator(calibrated):
    model, (X, y, sid) = calibrated
    P = model.predict_proba(X, sid=sid)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert log_loss(y, P) < 0.75 * log_loss(y, np.full(P.shape, 1 / 3))
    mixed = np.arange(len(y)).reshape(30, 8).T.ravel()  # sequences are gathered from among each other
    np.testing.assert_allclose(model.predict_proba(X[mixed], sid=sid[mixed]), P[mixed], rtol=1e-12)
    one = sid == sid[0]
    np.testing.assert_array_equal(model.predict_proba(X[one], sid="one"), P[one])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X, sid=sid), P)
    assert again.temperature_ == model.temperature_ > 0 and again.biases_.shape == (3,) and not again.biases_.flags.writeable


def test_least_expected_cost_against_all_sequences():
    data = sequences(40, 4)
    allowed = np.ones((4, 3), dtype=bool)
    allowed[0, 2] = allowed[3, 1] = False
    X, y, sid = data
    for i in range(40):  # labels that the constraint allows
        codes = [0]
        for t in range(1, 4):
            codes.append(1 if codes[-1] == 0 and y[4 * i + t] == "c" else "abc".index(y[4 * i + t]))
        y[4 * i : 4 * i + 4] = np.array(["a", "b", "c"])[codes]
    model = PredtronSequenceTagger(constraint=allowed, random_state=0).fit(*part(data, 0, 20, 4)[:2], sid=sid[:80])
    model.calibrate(*part(data, 20, 30, 4)[:2], sid=sid[80:120])
    X, _, sid = part(data, 30, 40, 4)
    P, predicted = model.predict_proba(X, sid=sid), model.predict(X, sid=sid, costs=COSTS)
    nothing = np.zeros((3, 3)), np.zeros(3), np.zeros(3)
    for i in range(10):
        expected = P[4 * i : 4 * i + 4] @ COSTS
        labels, of = paths(-expected, nothing, allowed)
        codes = ["abc".index(label) for label in predicted[4 * i : 4 * i + 4]]
        assert -expected[range(4), codes].sum() == pytest.approx(of.max())
        assert codes in labels.tolist()


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize(("K", "T", "n"), [(1, 3, 2), (2, 1, 3), (2, 5, 40), (3, 4, 7), (4, 3, 1), (5, 3, 30)])
@pytest.mark.parametrize("whole", [False, True])
def test_the_best_paths_against_all(K, T, n, constrained, whole):
    """Scores that are whole numbers are tied: paths that are first in lexicographic order come first."""
    allowed = walls(K, T) if constrained else None
    scores, table = chain(K, 2 * T, K)
    if whole:
        scores, table = np.round(scores), tuple(np.round(part) for part in table)
    codes, found = HammingChain(K, 0.1, allowed).best_paths(n, scores, np.array([0, T, 2 * T]), *table)
    for i in range(2):
        labels, of = paths(scores[i * T : (i + 1) * T], table, allowed)
        order = np.argsort(-of, kind="stable")[:n]
        there = len(order)
        np.testing.assert_allclose(found[:there, i], of[order], rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(codes[:there, i * T : (i + 1) * T], labels[order])
        assert (found[there:, i] == -np.inf).all() and (codes[there:, i * T : (i + 1) * T] == -1).all()


def test_the_best_sequences_of_an_estimator(calibrated):
    model, (X, y, sid) = calibrated
    mixed = np.arange(len(y)).reshape(30, 8).T.ravel()
    labels, scores = model.predict_best(X, sid=sid, n=4)
    assert labels.shape == (4, len(y)) and scores.shape == (4, 30) and (np.diff(scores, axis=0) <= 0).all()
    np.testing.assert_array_equal(labels[0], model.predict(X, sid=sid))
    np.testing.assert_array_equal(model.predict_best(X[mixed], sid=sid[mixed], n=4)[0], labels[:, mixed])
    assert len(np.unique(labels[:, sid == sid[0]], axis=0)) == 4
    few, of = model.predict_best(X[:1], n=5)
    assert np.isfinite(of).sum() == 3 and (few[2:] == few[2]).all()
    for n in (0, 1.5, True, 2**63):
        with pytest.raises(ValueError, match=rf"^n={n} must be a whole number from 1 to 1000\.$"):
            model.predict_best(X, sid=sid, n=n)


def test_costs_matter(calibrated):
    model, (X, y, sid) = calibrated

    def realised(predicted):
        return COSTS[np.searchsorted(model.classes_, y), np.searchsorted(model.classes_, predicted)].mean()

    assert realised(model.predict(X, sid=sid, costs=COSTS)) < realised(model.predict(X, sid=sid))
    named = {(true, other): COSTS[i, j] for i, true in enumerate("abc") for j, other in enumerate("abc") if i != j}
    np.testing.assert_array_equal(model.predict(X, sid=sid, costs=named), model.predict(X, sid=sid, costs=COSTS))


def test_what_is_refused(calibrated):
    model, (X, y, sid) = calibrated
    blank = PredtronSequenceTagger()
    assert not hasattr(blank, "predict_proba")
    with pytest.raises(NotFittedError):
        blank.calibrate(X, y, sid=sid)
    with pytest.raises(NotFittedError):
        blank.predict(X, sid=sid, costs=COSTS)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="y"):
        model.calibrate(X, np.where(y == "a", "d", y), sid=sid)
    with pytest.raises(ValueError, match=r"^costs=array\(.*\) are no costs of tokens"):
        model.predict(X, sid=sid, costs=np.eye(2))
    assert pickle.dumps(model) == before
    model.partial_fit(X, y, sid=sid)
    assert hasattr(model, "predict_proba")
    model.set_params(cv=0).fit(X, y, sid=sid)
    assert not hasattr(model, "predict_proba")
    for what in (lambda: model.predict(X, sid=sid, costs=COSTS), lambda: model.temperature_, lambda: model.biases_):
        with pytest.raises(
            AttributeError,
            match=r"^what scores mean is known after a fit that holds sequences out \(cv\), or calibrate\(X, y, sid=",
        ):
            what()


def test_forbidden_labels_are_refused():
    X, y, sid = sequences()
    allowed = np.ones((4, 3), dtype=bool)
    allowed[2, 0] = False
    y = np.where(y == "a", "b", y)
    y[::8] = "a"
    model = PredtronSequenceTagger(constraint=allowed, random_state=0).fit(X, y, sid=sid)
    y[8:10] = ["c", "a"]
    with pytest.raises(ValueError, match=r"^y has the transition c -> a \(rows 8, 9\), which the constraint forbids\.$"):
        model.calibrate(X, y, sid=sid)


@pytest.mark.parametrize("damaged", [(0.0, (0.0,) * 3), (1.0, (0.0,) * 2), (1.0, (np.nan,) * 3), 3])
def test_damaged_states(calibrated, damaged):
    model, _ = calibrated
    model._model.fitted_decision = {"tempered": damaged}
    with pytest.raises(ValueError, match="The saved model is damaged"):
        pickle.loads(pickle.dumps(model))


def test_sequences_are_routed(calibrated):
    model, (X, _, sid) = calibrated
    P = model.predict_proba(X, sid=sid)
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline("passthrough", model)
        np.testing.assert_array_equal(pipeline.predict_proba(X, groups=sid), P)
        np.testing.assert_array_equal(pipeline.predict(X, groups=sid), model.predict(X, sid=sid))
