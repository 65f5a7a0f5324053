"""Steps along sequences, whose tokens share features: a step that meets a target margin ends just there."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy import sparse

from sklearn_predtron import PredtronSequenceTagger
from sklearn_predtron.updates import PassiveAggressive

K = 3


def scores_of(model, X, paths):
    """What each path scores under the last iterate, written out."""
    X = X.toarray() if sparse.issparse(X) else X
    tokens = X @ model.last_coef_.T + model.last_intercept_
    pairs, first, last = model.last_transitions_, model.last_start_, model.last_end_
    return np.array(
        [
            sum(tokens[t, k] for t, k in enumerate(path))
            + first[path[0]]
            + last[path[-1]]
            + sum(pairs[j, k] for j, k in pairwise(path))
            for path in paths
        ]
    )


def tokens_of(kind, T, rng):
    """Tokens that are alike, that share a part, or that have little in common; of large means, or mostly zeros."""
    X = rng.standard_normal((T, 6))
    if kind == "alike":
        X[:] = X[0]
    elif kind == "shared":
        X += 3 * rng.standard_normal(6)
    elif kind == "sparse":
        X[rng.random(X.shape) < 0.5] = 0
    return X * 100.0 ** np.arange(-1, 5) + (0 if kind == "sparse" else 50)


@pytest.mark.parametrize("kind", ["alike", "shared", "sparse", "apart"])
@pytest.mark.parametrize("T", [1, 2, 5])
@pytest.mark.parametrize("norm", ["l2", "scaled"])
def test_a_step_meets_its_target(norm, T, kind):
    rng = np.random.default_rng([T, len(kind)])
    model = PredtronSequenceTagger(norm=norm, update=PassiveAggressive(), average=False, transition_scaling=0.1)
    X = np.vstack([tokens_of(kind, 4, rng) for _ in range(50)])
    form = sparse.csr_array if kind == "sparse" else np.asarray
    model.partial_fit(form(X), rng.integers(0, K, len(X)), classes=range(K), sid=np.repeat(np.arange(50), 4))
    paths, steps = np.array(list(product(range(K), repeat=T))), 0
    for _ in range(10):
        X, y = form(tokens_of(kind, T, rng)), rng.integers(0, K, T)
        before = model.n_updates_
        model.partial_fit(X, y, sid=np.zeros(T))
        if model.n_updates_ > before:
            steps += 1
            wrong = (paths != y).any(axis=1)
            lost = (paths[wrong] != y).sum(axis=1)
            scores = scores_of(model, X, paths)
            short = scores[wrong] + lost - scores[~wrong]
            assert np.abs(short).min() < 1e-6 * max(1, np.abs(scores).max()), "no competitor is as far away as it should be"
    assert steps > 3


@pytest.mark.parametrize("update", ["adaptive", "passive_aggressive"])
def test_raw_tokens_that_share_features_are_learned_as_if_standardised(update):
    """By the mean of some sets; the standardised rows are learned under "l2"."""
    error = {"l2": [], "scaled": []}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n, T, p = 200, 20, 8
        sid = np.repeat(np.arange(n), T)
        X = rng.standard_normal((n * T, p)) + rng.standard_normal((n, p))[sid]
        y = (X @ rng.standard_normal((p, K)) + rng.gumbel(size=(n * T, K))).argmax(axis=1)
        train = sid < n // 2
        raw = X * 10.0 ** rng.integers(-3, 4, p)
        for norm, Z in (("l2", (X - X[train].mean(axis=0)) / X[train].std(axis=0)), ("scaled", raw)):
            model = PredtronSequenceTagger(norm=norm, update=update, max_iter=3, random_state=0)
            model.fit(Z[train], y[train], sid=sid[train])
            error[norm].append(1 - model.score(Z[~train], y[~train], sid=sid[~train]))
    assert np.mean(error["scaled"]) < 1.1 * np.mean(error["l2"])
