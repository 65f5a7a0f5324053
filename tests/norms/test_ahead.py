"""Rows that are scored ahead of their turn: the iterates are those of rows that come one by one, to the last bit.

Only `norm="l2"` scores dense rows ahead.
"""

import numpy as np
import pytest
from cases import name, updates
from euclidean import PredtronClassifier, PredtronMultilabelClassifier, PredtronOrdinalClassifier
from inside import reading_of

from sklearn_predtron.families.training.plan import generator_of, seed_of
from sklearn_predtron.families.training.runs import Epochs
from sklearn_predtron.updates import Subgradient

N, P = 150, 1001
AVERAGES = ["linear", "uniform", 5.0, False]
KINDS = [PredtronClassifier, PredtronMultilabelClassifier, PredtronOrdinalClassifier]


def drawn(k, noise, dtype=np.float64):
    """Rows of k classes, of which a part of `noise` has any label: how often steps are taken follows from it."""
    rng = np.random.default_rng(k)
    y = np.arange(N) % k
    X = rng.standard_normal((N, P)) + 2 * rng.standard_normal((k, P))[y]
    return X.astype(dtype), np.where(rng.random(N) < noise, rng.integers(0, k, N), y)


def state(model):
    return model.coef_, model.intercept_, model.last_coef_, model.last_intercept_, model.cumulative_loss_, model.n_updates_


def assert_same(models):
    for one, other in zip(*map(state, models), strict=True):
        np.testing.assert_array_equal(one, other)


def row_by_row(model, X, y, weight=None, **first):
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=None if weight is None else weight[i : i + 1], **first)
    return model


LABELS = [(10, 0.0), (17, 0.3), (40, 1.0)]  # classes, and the noise of labels
CASES = [  # family, parameters, classes, noise, and whether rows are of single precision
    *(
        (PredtronClassifier, {"update": one, "average": AVERAGES[i // 3 % 4]}, *LABELS[i % 3], i % 2)
        for i, one in enumerate(updates())
    ),
    *((kind, {"average": average}, 12, 0.2, 0) for kind in KINDS for average in AVERAGES),
    # whose running scale is multiplied out every few rounds
    *((PredtronClassifier, {"update": Subgradient(alpha=0.9, eta=0.5), "average": average}, 10, 0.2, 0) for average in AVERAGES),
]


@pytest.mark.always(each="settings")
@pytest.mark.parametrize(("kind", "settings", "k", "noise", "single"), CASES, ids=lambda part: name(part)[:40])
def test_a_batch_is_its_rows_one_by_one(kind, settings, k, noise, single):
    X, y = drawn(k, noise, np.float32 if single else np.float64)
    weight = np.random.default_rng(0).uniform(0.5, 2, N)
    given, first = (np.eye(k, dtype=int)[y], {}) if kind is PredtronMultilabelClassifier else (y, {"classes": np.arange(k)})
    for weighted in (False, True):
        models = [kind(**settings), kind(**settings)]
        models[0].partial_fit(X, given, **first, **({"sample_weight": weight} if weighted else {}))
        row_by_row(models[1], X, given, weight if weighted else None, **first)
        assert_same(models)
        assert models[0].n_updates_ > 5


@pytest.mark.parametrize("shuffle", [False, True])
def test_epochs_are_their_rows_one_by_one(shuffle):
    X, y = drawn(10, 0.3)
    model = PredtronClassifier(max_iter=2, tol=None, random_state=3, shuffle=shuffle, cv=0).fit(X, y)
    rounds = Epochs(reading_of(model, X, y).batch, generator_of(seed_of(model)))
    drawn_orders = [rounds.draw()[1]["order"] for _ in range(2)]
    order = np.concatenate([np.arange(N) if drawn_order is None else drawn_order for drawn_order in drawn_orders])
    assert (order[:N] == np.arange(N)).all() != shuffle
    assert_same([model, row_by_row(PredtronClassifier(average="linear"), X[order], y[order], classes=np.arange(10))])


@pytest.mark.parametrize("where", [3, 40, N - 1])
def test_a_row_that_is_refused_leaves_those_before_it(where):
    X, y = drawn(10, 0.1)
    bad = X.copy()
    bad[where, 500] = 1e200
    model = PredtronClassifier().partial_fit(X[:1], y[:1], classes=np.arange(10))
    with pytest.raises(ValueError, match="length"):
        model.partial_fit(bad, y)
    assert_same([model, PredtronClassifier().partial_fit(X[:1], y[:1], classes=np.arange(10))])
