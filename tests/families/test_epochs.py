"""How many epochs `fit` takes of its own accord."""

import numpy as np
import pytest

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron.norms import RKHS

CLASSIFIERS = [PredtronBinaryClassifier, PredtronClassifier]


def noise(n):
    """Rows that nothing separates, of which each epoch makes steps."""
    random = np.random.default_rng(0)
    return random.standard_normal((n, 2)), random.integers(0, 2, n)


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize(
    ("n", "epochs"),
    [(20, 10), (1000, 10), (1100, 11), (2000, 20), (3162, 31), (5000, 20), (9000, 11), (10_001, 10)],
)
def test_sets_of_some_thousand_rows_take_more(kind, n, epochs):
    X, y = noise(n)
    model = kind(decision="learned", random_state=0).fit(X, y)
    assert model.n_iter_ == len(model.loss_curve_) == epochs and model.t_ == n * epochs


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_rows_of_weight_zero_do_not_count(kind):
    X, y = noise(4000)
    weight = np.repeat([0.0, 1.0], 2000)
    for shuffle in (True, False):
        assert kind(shuffle=shuffle, random_state=0, cv=0).fit(X, y, sample_weight=weight).n_iter_ == 20


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_number_is_a_number(kind):
    X, y = noise(3000)
    assert kind(max_iter=2, random_state=0).fit(X, y).n_iter_ == 2


def test_other_families_take_as_many_of_any_size():
    X, y = noise(3000)
    pairs = np.column_stack([y, 1 - y])
    assert PredtronOrdinalClassifier(random_state=0, cv=0).fit(X, y).n_iter_ == 10
    assert PredtronMultilabelClassifier(random_state=0, cv=0).fit(X, pairs).n_iter_ == 10
    assert PredtronLabelRanker(random_state=0, cv=0).fit(X, pairs).n_iter_ == 20
    assert PredtronRanker(random_state=0, cv=0).fit(X, y, qid=np.arange(3000) // 2).n_iter_ == 10


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize(("norm", "epochs"), [("scaled", 15), ("l1", 15), ("rkhs", 10), (RKHS(budget=20), 10)])
def test_kernels_take_no_more(kind, norm, epochs):
    """They over-fit by more epochs, which cost them the most."""
    assert kind(norm=norm, random_state=0, cv=0).fit(*noise(1500)).n_iter_ == epochs


def test_a_warm_start_takes_as_many_again():
    X, y = noise(2000)
    model = PredtronClassifier(warm_start=True, random_state=0).fit(X, y).fit(*noise(500))
    assert model.n_iter_ == 10
    assert model.fit(X, y).n_iter_ == 20
