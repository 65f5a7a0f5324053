"""Weights: frequencies in shuffled epochs, relative to the running mean in a given order, absence where they are zero."""

import pickle

import numpy as np
import pytest
from cases import FAMILIES, lesson, make_data
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronMultilabelClassifier
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.families.input.reading import Batch, as_rows
from sklearn_predtron.families.training.plan import generator_of, seed_of
from sklearn_predtron.families.training.runs import Epochs, first_appearances
from sklearn_predtron.losses import Reject
from sklearn_predtron.norms import RKHS, Norm
from sklearn_predtron.updates import MMP, ListNet, MaxPair, PRank, Slam, Update


def weights(n, seed=0):
    return np.random.default_rng(seed).integers(0, 5, n).astype(float)


def epochs_of(n, there, weight, random):
    """Return the epochs of n rows, of which some are there."""
    return Epochs(Batch(None, as_rows(np.zeros((n, 1))), None, weight, there), random)


def drawn(*given, **how):
    """Return the arguments of the first epoch."""
    return epochs_of(*given).draw(**how)[1]


def draws(n, there, weight, epochs=400):
    rounds = epochs_of(n, there, weight, np.random.default_rng(0))
    return [rounds.draw()[1]["order"] for _ in range(epochs)]


def test_an_epoch_is_a_systematic_sample():
    weight = np.array([3, 0, 0.1, 1, 7, 2.2, 1e-9])
    there = np.flatnonzero(weight)
    counts = np.array([np.bincount(order, minlength=7) for order in draws(7, there, weight)])
    expected = weight / weight.sum() * len(there)
    assert (counts.sum(axis=1) == 6).all()
    assert (counts >= np.floor(expected)).all() and (counts <= np.ceil(expected)).all()
    np.testing.assert_allclose(counts.mean(axis=0), expected, atol=0.08)  # 3 standard errors


def test_no_pattern_of_the_rows_decides_who_appears():
    """A systematic sample of rows in their order would take all even rows or all odd ones."""
    weight = np.r_[np.full(100, 0.5), [50.0]]
    counts = np.array([np.bincount(order, minlength=101) for order in draws(101, None, weight, 50)])[:, :100]
    assert 0.2 < (counts[:, ::2].sum(axis=1) / counts.sum(axis=1)).min() < 0.5


@pytest.mark.parametrize("factor", [1, 1e-300, 1e300, 1 / 3])
def test_equal_weights_are_none(factor):
    X, y = make_data(3)
    plain, weighted = PredtronClassifier(random_state=0).fit(X, y), PredtronClassifier(random_state=0)
    weighted.fit(X, y, sample_weight=np.full(len(y), factor))
    np.testing.assert_array_equal(weighted.coef_, plain.coef_)
    weighted.partial_fit(X, y, sample_weight=np.full(len(y), factor)), plain.partial_fit(X, y)
    np.testing.assert_array_equal(weighted.coef_, plain.coef_)
    assert not weighted._model.learner.weighted


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_only_ratios_matter(family, shuffle):
    X = make_data(3)[0]
    y, more, _ = lesson(family, X[:, :3])
    weight = np.random.default_rng(0).uniform(0.1, 3, len(X))
    weight[::7] = 0
    weight = np.repeat(weight[::5], 5) if "sid" in more else weight
    model = family(shuffle=shuffle, random_state=0)
    ids = more if "sid" in more else {}
    expected = model.fit(X, y, **more, sample_weight=weight).predict(X, **ids)
    for factor in [1e-300, 1e-5, 3.0, 1e300]:
        found = model.fit(X, y, **more, sample_weight=factor * weight).predict(X, **ids)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


UPDATES = [kind() for kind in kinds(Update) if kind not in (PRank, MMP, ListNet, MaxPair, Slam)]


@pytest.mark.parametrize("norm", [kind.alias for kind in kinds(Norm)])
@pytest.mark.parametrize("update", UPDATES, ids=lambda update: update.alias)
def test_only_ratios_matter_to_each_update(update, norm):
    X, y = make_data(3)
    weight = np.random.default_rng(0).uniform(0.1, 3, len(y))
    first = PredtronClassifier(update=update, norm=norm)
    second = PredtronClassifier(update=update, norm=norm)
    for rows in (slice(40), slice(40, 41), slice(41, None)):  # exact: powers of two
        first.partial_fit(X[rows], y[rows], classes=[0, 1, 2], sample_weight=weight[rows])
        second.partial_fit(X[rows], y[rows], classes=[0, 1, 2], sample_weight=2.0**40 * weight[rows])
    np.testing.assert_array_equal(second.decision_function(X), first.decision_function(X))
    assert not np.allclose(
        first.decision_function(X), PredtronClassifier(update=update, norm=norm).fit(X, y).decision_function(X)
    )


@pytest.mark.parametrize("norm", [kind.alias for kind in kinds(Norm) if kind is not RKHS] + [RKHS(gamma=0.1)], ids=str)
def test_shuffled_epochs_learn_rows_as_often_as_they_weigh(norm):
    """Against the rows themselves, repeated, in the order that was drawn."""
    X, y = make_data(3)
    weight = weights(len(y))
    model = PredtronClassifier(norm=norm, max_iter=1, random_state=0, decision="learned").fit(X, y, sample_weight=weight)
    order = drawn(len(y), np.flatnonzero(weight), weight, generator_of(seed_of(model)))["order"]
    assert len(order) == np.count_nonzero(weight) > len(np.unique(order))
    again = PredtronClassifier(norm=norm, max_iter=1, shuffle=False, cv=0).fit(X[order], y[order])
    assert model.t_ == again.t_ and not model._model.learner.weighted
    np.testing.assert_allclose(model.decision_function(X), again.decision_function(X), rtol=1e-6, atol=1e-9)


def test_given_order_is_a_stream():
    X, y = make_data(3)
    weight = weights(len(y))
    in_order = PredtronClassifier(norm="l2", shuffle=False, max_iter=1, cv=0).fit(X, y, sample_weight=weight)
    stream = PredtronClassifier(norm="l2", average="linear")
    for i in range(len(y)):
        stream.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1, 2] if i == 0 else None, sample_weight=weight[i : i + 1])
        stream = pickle.loads(pickle.dumps(stream)) if i % 50 == 9 else stream
    np.testing.assert_array_equal(stream.coef_, in_order.coef_)
    assert stream._model.learner.mean_weight == pytest.approx(weight[weight > 0].mean())


def test_class_weight_is_the_weight_of_its_rows():
    X, y = make_data(3)
    plain = PredtronClassifier(max_iter=10, random_state=0)
    by_class, by_row = clone(plain).set_params(class_weight={1: 5, 2: 0.5}), plain
    weight = np.array([1, 5, 0.5])[y]
    np.testing.assert_array_equal(by_class.fit(X, y).coef_, by_row.fit(X, y, sample_weight=weight).coef_)
    by_class.partial_fit(X, y), by_row.partial_fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)
    by_class.partial_fit(X[:1], y[:1].tolist()), by_row.partial_fit(X[:1], y[:1], sample_weight=weight[:1])  # the fast path
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)


def test_balanced_classes_are_so_by_the_weights_of_their_rows():
    X, y = make_data(3)
    weight = np.random.default_rng(0).uniform(0.1, 9, len(y))
    balancing = dict(enumerate(1 / np.bincount(y, weight)))
    found, expected = (
        PredtronClassifier(class_weight=given, shuffle=False).fit(X, y, sample_weight=weight) for given in ("balanced", balancing)
    )
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)


def test_weights_that_overflow_are_refused():
    X, y = make_data(3)
    model = PredtronClassifier(class_weight={1: 1e20})
    with pytest.raises(ValueError, match="sample_weight=1e\\+300 times the weight of a class overflows"):
        model.fit(X, y, sample_weight=np.full(len(y), 1e300))
    assert not hasattr(model, "classes_")
    heavy = np.where(np.arange(len(y)) % 2, 1e300, 1e-300)
    for shuffle in (True, False):
        coef = PredtronClassifier(shuffle=shuffle, class_weight="balanced", random_state=0).fit(X, y, sample_weight=heavy).coef_
        assert np.isfinite(coef).all()


def test_rows_without_held_out_ones_are_seen_once_at_their_weight():
    """In the first epoch, in which the occurrences of a row follow each other."""
    X, y = make_data(3, noise=2.0)
    n, weight = len(y), np.where(y == 0, 9.0, 1.0)
    model = PredtronClassifier(reject=Reject(0.3, -1), max_iter=1, cv=0, random_state=0).fit(X, y, sample_weight=weight)
    first = drawn(n, None, weight, generator_of(seed_of(model)), observed=True)
    order, counts = first["order"], first["counts"]
    shown = np.flatnonzero(counts)
    assert len(set(order[shown])) == len(shown) == len(set(order))
    np.testing.assert_array_equal(counts[shown], [np.sum(order == row) for row in order[shown]])
    _, labels, seen, _ = model._model.learner.observer.rows()
    np.testing.assert_array_equal(seen, counts[shown])
    np.testing.assert_array_equal(labels[:, 0], y[order[shown]])
    order = np.array([4, 2, 4, 4, 0])
    np.testing.assert_array_equal(first_appearances(order), [3, 1, 0, 0, 1])


def test_rows_that_repeat_are_not_shown_where_folds_are():
    """What is there after an interrupt has seen no row that was learned."""
    weight = np.array([9.0, 1.0, 1.0, 1.0])
    assert drawn(4, None, weight, np.random.default_rng(0))["observed"] is False
    for weights in (None, np.full(4, 3.0)):
        assert "observed" not in drawn(4, None, weights, np.random.default_rng(0), observed=True)


@pytest.mark.parametrize("load", [load_iris, load_digits, load_breast_cancer])
def test_boosting(load):
    """Of learners that raw features leave weak."""
    X, y = load(return_X_y=True)
    one, folds = PredtronClassifier(norm="l2", random_state=0, cv=0), StratifiedKFold(5, shuffle=True, random_state=0)
    boosted = AdaBoostClassifier(one, n_estimators=20, random_state=0)
    assert cross_val_score(boosted, X, y, cv=folds).mean() >= cross_val_score(one, X, y, cv=folds).mean() - 0.01


def test_balanced_accuracy():
    ratios = []
    for seed, share in enumerate([0.02, 0.05, 0.1, 0.2]):
        X, y = make_classification(3000, 20, n_informative=6, weights=[1 - share], flip_y=0.01, random_state=seed)
        X, X_test, y, y_test = train_test_split(
            StandardScaler().fit_transform(X), y, test_size=0.4, stratify=y, random_state=seed
        )
        models = [PredtronBinaryClassifier(class_weight="balanced", random_state=0), LogisticRegression(class_weight="balanced")]
        ours, peer = (balanced_accuracy_score(y_test, model.fit(X, y).predict(X_test)) for model in models)
        ratios.append(ours / peer)
    assert np.exp(np.log(ratios).mean()) > 0.985


def test_a_bad_row_that_is_never_drawn_is_refused():
    X, y = make_data(3)
    weight = np.ones(len(y))
    X[7, 1], weight[7] = np.nan, 1e-12
    with pytest.raises(ValueError, match="X contains NaN"):
        PredtronClassifier(random_state=0).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("decision", [None, "macro_f1"])
def test_rows_of_weight_zero_do_not_say_which_labels_are_rare(decision):
    """Folds have as many rows of each rare label, among the rows that are learned."""
    random = np.random.default_rng(0)
    X, Y = random.standard_normal((90, 4)), (random.random((90, 3)) < [0.5, 0.3, 0.2]).astype(int)
    weight = np.ones(90)
    weight[60:], Y[60:] = 0, [0, 1, 1]
    every, there = (PredtronMultilabelClassifier(decision=decision, random_state=0) for _ in range(2))
    every.fit(X, Y, sample_weight=weight), there.fit(X[:60], Y[:60], sample_weight=weight[:60])
    np.testing.assert_array_equal(every.predict_proba(X), there.predict_proba(X))
    np.testing.assert_array_equal(every.decision_function(X), there.decision_function(X))
