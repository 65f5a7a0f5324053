"""Sequences under a kernel: the kernel of two sequences is the sum of their tokens' kernels, and the supports are tokens."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import pairwise_kernels

from sklearn_predtron import PredtronSequenceTagger, load, predictor
from sklearn_predtron.norms import RKHS
from tests.own_checks import assert_same_bits

KERNELS = {"linear": {}, "rbf": {"gamma": 0.3}, "poly": {"gamma": 0.5, "degree": 2, "coef0": 1}}


def draw(seed, n=20, p=3, k=3, longest=5):
    random = np.random.default_rng(seed)
    size = random.integers(1, longest + 1, n)
    X = random.standard_normal((size.sum(), p))
    y = (X @ random.standard_normal((p, k)) + 0.5 * random.standard_normal((len(X), k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y, np.repeat(np.arange(n), size)


def dual_perceptron(K, X_of, y_of, k):
    """Algorithm of figure 5 of the paper of cumulative sums: counts of atoms, over all sequences of labels.

    Atoms are a token with its label, which counts for the label as well, pairs of neighbours, first and last labels.
    Of several maximisers the first of those with the most wrong labels is predicted.
    """
    tokens, label = np.zeros((len(K), k)), np.zeros(k)
    pairs, first, last = np.zeros((k, k)), np.zeros(k), np.zeros(k)
    for rows, y in zip(X_of, y_of, strict=True):
        scores = K[rows] @ tokens + label
        every = list(product(range(k), repeat=len(y)))
        value = np.array(
            [
                sum(scores[i, a] for i, a in enumerate(s)) + sum(pairs[a, b] for a, b in pairwise(s)) + first[s[0]] + last[s[-1]]
                for s in every
            ]
        )
        wrong = np.array([sum(a != b for a, b in zip(s, y, strict=True)) for s in every])
        best = value >= value.max() - 1e-9 * max(1, abs(value).max())
        found = every[np.flatnonzero(best & (wrong == wrong[best].max()))[0]]
        for s, sign in ((tuple(y), 1), (found, -1)) if found != tuple(y) else ():
            for row, a in zip(rows, s, strict=True):
                tokens[row, a] += sign
                label[a] += sign
            for a, b in pairwise(s):
                pairs[a, b] += sign
            first[s[0]] += sign
            last[s[-1]] += sign
    return tokens, label, pairs, first, last


@pytest.mark.parametrize("kernel", KERNELS)
def test_counts_are_those_of_the_dual_structured_perceptron(kernel, n_draws):
    for seed in range(n_draws(10, 70)):
        k = 2 + seed % 3
        X, y, sid = draw(100 + seed, n=8, k=k, longest=6)
        rows = [np.flatnonzero(sid == i) for i in range(8)]
        expected = dual_perceptron(pairwise_kernels(X, metric=kernel, **KERNELS[kernel]), rows, [y[r] for r in rows], k)
        norm = RKHS(kernel, **KERNELS[kernel])
        how = {"update": "perceptron", "average": False, "intercept_scaling": 1.0, "transition_scaling": 1.0}
        model = PredtronSequenceTagger(norm=norm, **how).partial_fit(X, y, classes=np.arange(k), sid=sid)
        found = np.zeros((len(X), k))
        found[model.support_] = model.dual_coef_.T
        assert set(model.support_) >= set(np.flatnonzero(expected[0].any(axis=1)))
        for one, other in zip((found, model.intercept_, model.transitions_, model.start_, model.end_), expected, strict=True):
            assert_allclose(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize("norm", [RKHS("rbf", gamma=0.3), RKHS("rbf", gamma=0.3, budget=7), RKHS("linear")], ids=str)
def test_model_files_continue(norm, tmp_path):
    X, y, sid = draw(3, n=60)
    whole = PredtronSequenceTagger(norm=norm).partial_fit(X, y, classes=np.arange(3), sid=sid)
    whole.save(tmp_path / "tagger")
    again = load(tmp_path / "tagger")
    for model in (whole, again):
        model.partial_fit(X[:9], y[:9], sid=sid[:9])
    assert_same_bits(whole, again, "saved and continued")
    with pytest.raises(ValueError, match="is a model without a predictor, as with kernels"):
        predictor.load(tmp_path / "tagger")


def test_a_budget_bounds_the_tokens_that_are_kept():
    X, y, sid = draw(4, n=80)
    model = PredtronSequenceTagger(norm=RKHS("rbf", gamma=0.3, budget=11)).partial_fit(X, y, classes=np.arange(3), sid=sid)
    assert model.dual_coef_.shape == (3, 11) and model.budget_loss_ > 0
    wide = PredtronSequenceTagger(norm=RKHS("rbf", gamma=0.3, budget=10_000)).partial_fit(X, y, classes=np.arange(3), sid=sid)
    free = PredtronSequenceTagger(norm=RKHS("rbf", gamma=0.3)).partial_fit(X, y, classes=np.arange(3), sid=sid)
    assert_allclose(wide.dual_coef_, free.dual_coef_, rtol=1e-9, atol=1e-12)


def test_circles_in_sequences_need_a_kernel():
    random = np.random.default_rng(0)
    y = np.cumsum(random.random(1200) < 0.3) % 2
    angle = random.uniform(0, 2 * np.pi, 1200)
    X = (1 + y + 0.3 * random.standard_normal(1200))[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    sid = np.arange(1200) // 8
    train = sid < 100
    errors = []
    for norm in ("auto", RKHS("rbf", gamma=1.0, budget=200)):
        model = PredtronSequenceTagger(norm=norm, random_state=0).fit(X[train], y[train], sid=sid[train])
        errors.append(1 - model.score(X[~train], y[~train], sid=sid[~train]))
    assert errors[1] < 0.12 < 0.25 < errors[0]
