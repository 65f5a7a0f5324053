"""Sequences under a kernel: the kernel of two sequences is the sum of their tokens' kernels, and the supports are tokens."""

from itertools import pairwise, product

import numpy as np
import pytest
from cases import name, updates_of_the_reference
from numpy.testing import assert_allclose, assert_array_equal
from reference.sequences import ChainReference
from sklearn.metrics.pairwise import pairwise_kernels

from sklearn_predtron import PredtronSequenceTagger, load, predictor
from sklearn_predtron.losses import SequenceHamming
from sklearn_predtron.norms import RKHS
from tests.own_checks import assert_same_bits

COSTS = np.array([[0, 1, 0.5], [2, 0, 1], [1, 1, 0]])
KERNELS = {"linear": {}, "rbf": {"gamma": 0.3}, "poly": {"gamma": 0.5, "degree": 2, "coef0": 1}}


def draw(seed, n=20, p=3, k=3, longest=5):
    random = np.random.default_rng(seed)
    size = random.integers(1, longest + 1, n)
    X = random.standard_normal((size.sum(), p))
    y = (X @ random.standard_normal((p, k)) + 0.5 * random.standard_normal((len(X), k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y, np.repeat(np.arange(n), size)


def explicit(kernel, X):
    """Features whose products are the kernels of these rows."""
    values, vectors = np.linalg.eigh(pairwise_kernels(X, metric=kernel, **KERNELS[kernel]))
    return vectors * np.sqrt(np.where(values > 1e-12 * values.max(), values, 0))


@pytest.mark.parametrize("average", ["linear", False])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", ["hamming", "costs", "zero_one"])
@pytest.mark.parametrize("update", updates_of_the_reference(), ids=name)
def test_iterates_are_those_of_explicit_features(update, loss, kernel, average):
    X, y, sid = draw(0)
    cost = {"hamming": 1 - np.eye(3), "costs": COSTS, "zero_one": None}[loss]
    phi = explicit(kernel, X)
    parameters = {"kappa": None, **update.get_params()}
    reference = ChainReference(3, phi.shape[1], update.alias, parameters, cost=cost, scaling=0.5, intercept=1.5)
    for i in range(20):
        reference.learn_one(phi[sid == i], y[sid == i])
    norm = RKHS(kernel, **KERNELS[kernel])
    how = {"loss": SequenceHamming(COSTS) if loss == "costs" else loss, "update": update, "average": average}
    model = PredtronSequenceTagger(norm=norm, intercept_scaling=1.5, transition_scaling=0.5, **how)
    model.partial_fit(X, y, classes=np.arange(3), sid=sid)
    counts = [model.n_mistakes_, model.n_updates_, model.cumulative_loss_]
    assert_allclose(counts, [reference.n_mistakes, reference.n_updates, reference.cumulative_loss])
    W, *others = reference.mean(average)
    kernels = pairwise_kernels(X[model.support_], X, metric=kernel, **KERNELS[kernel])
    assert_allclose(model.dual_coef_ @ kernels, W @ phi.T, rtol=1e-7, atol=1e-7)
    for attribute, expected in zip(["intercept_", "transitions_", "start_", "end_"], others, strict=True):
        assert_allclose(getattr(model, attribute), expected, rtol=1e-8, atol=1e-8, err_msg=attribute)


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
def test_streams_in_any_split_copies_and_files_are_the_same(norm, tmp_path):
    X, y, sid = draw(3, n=60)
    whole = PredtronSequenceTagger(norm=norm).partial_fit(X, y, classes=np.arange(3), sid=sid)
    split = PredtronSequenceTagger(norm=norm)
    for part in np.array_split(np.arange(60), 7):
        these = np.isin(sid, part)
        split.partial_fit(X[these], y[these], classes=np.arange(3), sid=sid[these])
    assert_array_equal(whole.predict(X, sid=sid), split.predict(X, sid=sid))
    assert_allclose(whole.decision_function(X, sid=sid), split.decision_function(X, sid=sid), rtol=1e-9, atol=1e-9)
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


@pytest.mark.parametrize("update", ["adaptive", "passive_aggressive"])
def test_a_linear_kernel_is_the_linear_tagger(update):
    X, y, sid = draw(5, n=60)
    how = {"update": update, "max_iter": 5, "cv": 0, "random_state": 0, "intercept_scaling": 1.0, "transition_scaling": 0.5}
    linear = PredtronSequenceTagger(norm="l2", **how).fit(X, y, sid=sid)
    kernel = PredtronSequenceTagger(norm=RKHS("linear"), **how).fit(X, y, sid=sid)
    assert_allclose(kernel.dual_coef_ @ X[kernel.support_], linear.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(kernel.transitions_, linear.transitions_, rtol=1e-7, atol=1e-9)
    assert_array_equal(kernel.predict(X, sid=sid), linear.predict(X, sid=sid))
    assert kernel.margin(X, y, sid=sid) == pytest.approx(linear.margin(X, y, sid=sid), rel=1e-6)


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
