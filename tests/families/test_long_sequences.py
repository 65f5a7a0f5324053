"""Sequences of thousands of tokens: trained in parts, as sequences of the parts are."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from sklearn_predtron import PredtronSequenceTagger
from tests.own_checks import assert_same_bits

N = 3600
LONG = f"1 of {{}} sequences have more than 250 tokens, the longest {N:,}; they are trained in parts of about 50 tokens"


def noisy(n, seed=0):
    """Labels that stay for five tokens on the mean, and rows that show them with noise."""
    random = np.random.default_rng(seed)
    y = np.cumsum(random.random(n) < 0.2) % 3
    return np.eye(3)[y] + random.standard_normal((n, 3)), y


def parts(n, size=50):
    """The sequences that the parts of one sequence would be."""
    return np.arange(n) // size


@pytest.mark.parametrize("seed", [0, 1])
def test_one_long_sequence_is_learned_about_as_well_as_sentences(seed):
    """The same tokens as sentences of twenty, and as one sequence, in one pass and by fit."""
    X, y = noisy(N + 2400, seed)
    train, test = (X[:N], y[:N]), (X[N:], y[N:])

    def errors(sid):
        stream = PredtronSequenceTagger().partial_fit(*train, classes=np.arange(3), sid=sid)
        fitted = PredtronSequenceTagger(random_state=0).fit(*train, sid=sid)
        return np.array([1 - model.score(*test, sid="one") for model in (stream, fitted)])

    sentences = errors(parts(N, 20))
    with pytest.warns(UserWarning, match=LONG.format(1)) as caught:
        assert (errors("one") < sentences + [0.03, 0.02]).all()
    assert len(caught) == 2  # one a call


def interleaved(sid):
    """An order of tokens that mixes the sequences, in which each keeps its own order and its rank among the others."""
    random, place = np.random.default_rng(1), np.empty(len(sid))
    for i, name in enumerate(np.unique(sid)):
        place[sid == name] = np.sort(random.random(np.sum(sid == name)))
        place[np.argmax(sid == name)] = i - len(sid)
    return np.argsort(place)


@pytest.mark.filterwarnings("ignore:sid")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("weights", [(1, 1, 1), (3, 1, 2), (1, 0, 1)])
def test_parts_are_sequences_of_their_own(form, weights):
    """A long sequence among short ones gives the bits of its parts, in streams and in fit, gathered or interleaved."""
    (X, y), sid = noisy(N + 40), np.repeat([0, 1, 2], [20, N, 20])
    weight, mixed = np.array(weights)[sid], interleaved(sid)
    X, apart = form(X), np.concatenate([np.zeros(20), 1 + parts(N) / N, np.full(20, 2)])

    def stream(*rows, **how):
        return PredtronSequenceTagger().partial_fit(*rows, classes=np.arange(3), **how)

    def fitted(*rows, **how):
        return PredtronSequenceTagger(shuffle=False, cv=0).fit(*rows, **how)

    for learn in (stream, fitted):
        whole, expected = (learn(X, y, sid=ids, sample_weight=weight) for ids in (sid, apart))
        assert_same_bits(whole, expected, learn.__name__)
    assert_same_bits(
        stream(X[mixed], y[mixed], sid=sid[mixed], sample_weight=weight[mixed]),
        stream(X, y, sid=apart, sample_weight=weight),
        "interleaved",
    )


@pytest.mark.filterwarnings("ignore:sid")
def test_parts_begin_where_a_sequence_may():
    """Under "bio" no part begins within a chunk; one sequence by itself, without ids, takes the same way."""
    _, y = noisy(N)
    y = np.array(["B-x", "I-x", "O"])[np.where((y == 1) & (np.roll(y, 1) == 2), 2, y)]
    X = np.random.default_rng(0).standard_normal((N, 2))
    may, classes = np.flatnonzero(y != "I-x"), ["B-x", "I-x", "O"]
    begins = may[np.searchsorted(may, np.arange(0, N, 50))]
    sid = np.cumsum(np.isin(np.arange(N), begins))
    expected = PredtronSequenceTagger(constraint="bio").partial_fit(X, y, classes=classes, sid=sid).partial_fit(X, y, sid=sid)
    model = PredtronSequenceTagger(constraint="bio").partial_fit(X, y, classes=classes).partial_fit(X, y)
    assert_same_bits(model, expected, "one sequence")


@pytest.mark.filterwarnings("ignore:sid")
def test_sequences_are_held_out_and_predicted_whole():
    """Folds count sequences; the bound of the loss holds with the margin of the rounds."""
    X, y = noisy(3000)
    sid = parts(3000, 300)
    folds = [(np.arange(5), np.arange(5, 10)), (np.arange(5, 10), np.arange(5))]
    model = PredtronSequenceTagger(cv=folds, random_state=0).fit(X, y, sid=sid)
    assert model.predict_proba(X, sid=sid).shape == (3000, 3)
    assert np.all(model.sample_loss(X, y, sid=sid) > 12)  # wrong tokens of 300
    easy, rule = 4 * np.eye(3)[y], {"update": "perceptron", "intercept_scaling": 1.0, "norm": "l2", "cv": 0}
    model = PredtronSequenceTagger(**rule, random_state=0).fit(easy, y, sid=sid)
    assert model.cumulative_loss_ <= model.loss_bound(model.margin(easy, y, sid=sid), radius=17**0.5)


def test_sequences_of_up_to_250_tokens_are_rounds():
    """No warning, and one round a sequence."""
    X, y = noisy(1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert PredtronSequenceTagger().partial_fit(X, y, classes=np.arange(3), sid=parts(1000, 250)).t_ == 4
