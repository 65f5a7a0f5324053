"""Costs of rows in learning: what rows weigh, which power folds choose, and probabilities of rows as they came."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
)
from sklearn_predtron.families.training.runs import Checkpoint, Result, RowLosses, Score, select
from sklearn_predtron.metrics import cost_scorer
from sklearn_predtron.mixing import ParameterMixing

N = 300
FAMILIES = [(PredtronBinaryClassifier, 2), (PredtronClassifier, 3), (PredtronOrdinalClassifier, 4)]


def drawn(k, seed=0, n=N):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 5))
    y = np.digitize(X[:, 0] + random.standard_normal(n), np.linspace(-1, 1, k + 1)[1:-1])
    costs = random.lognormal(sigma=1, size=(n, k, k))
    costs[:, range(k), range(k)] = 0
    return X, y, costs


def weights(costs, power=0.5):
    """The mean cost of a mistake in each row, whatever its class, by a loop."""
    k = costs.shape[1]
    return np.array([np.mean([of_row[t, j] for t in range(k) for j in range(k) if j != t]) for of_row in costs]) ** power


@pytest.mark.parametrize(("kind", "k"), FAMILIES)
def test_without_folds_rows_weigh_the_root_of_what_mistakes_cost(kind, k):
    X, y, costs = drawn(k)
    beside = np.random.default_rng(1).random(N)
    for sample_weight, weight in ((None, weights(costs)), (beside, weights(costs) * beside)):
        by_costs = kind(cv=0, random_state=0).fit(X, y, sample_weight, costs=costs)
        by_weights = kind(cv=0, random_state=0).fit(X, y, weight)
        assert_allclose(by_costs.coef_, by_weights.coef_, rtol=1e-12)
        stream = kind().partial_fit(X, y, classes=range(k), sample_weight=sample_weight, costs=costs)
        assert_allclose(stream.coef_, kind().partial_fit(X, y, classes=range(k), sample_weight=weight).coef_, rtol=1e-12)


def test_these_costs_take_the_place_of_those_of_the_loss():
    X, y, costs = drawn(2)
    for loss in ("zero_one", {(1, 0): 30}):
        models = PredtronBinaryClassifier(loss=loss).partial_fit(X, y, classes=[0, 1], costs=costs)
        assert_allclose(models.coef_, PredtronBinaryClassifier().partial_fit(X, y, [0, 1], weights(costs)).coef_, rtol=1e-9)
        assert_allclose(models._model.learner.observer.rows()[2], 1, rtol=1e-12)  # as frequent as they came


def test_a_power_is_chosen_by_what_is_paid_on_rows_held_out():
    """Where dear rows follow another rule than cheap ones, they weigh more; where all cost the same, nothing is to choose."""
    random = np.random.default_rng(0)
    X = random.standard_normal((2000, 4))
    dear = random.random(2000) < 0.1
    y = (np.where(dear, X[:, 0], X[:, 1]) + 0.3 * random.standard_normal(2000) > 0).astype(int)
    costs = np.zeros((2000, 2, 2))
    costs[:, 0, 1] = costs[:, 1, 0] = np.where(dear, 100.0, 1.0)
    model = PredtronBinaryClassifier(random_state=0).fit(X[:1000], y[:1000], costs=costs[:1000])
    plain = PredtronBinaryClassifier(random_state=0).fit(X[:1000], y[:1000])
    assert model.cost_power_ == 1
    paid, paid_plain = (one.sample_loss(X[1000:], y[1000:], costs=costs[1000:]).mean() for one in (model, plain))
    assert paid < 0.8 * paid_plain
    same = PredtronBinaryClassifier(random_state=0, max_iter=3).fit(X, y, costs=np.where(costs > 0, 7.0, 0.0))
    assert same.cost_power_ == 0
    assert_allclose(same.coef_, PredtronBinaryClassifier(random_state=0, max_iter=3).fit(X, y).coef_)
    assert not hasattr(plain, "cost_power_")
    assert pickle.loads(pickle.dumps(model)).cost_power_ == 1


def test_a_stream_is_the_same_for_any_split():
    X, y, costs = drawn(3)
    whole = PredtronClassifier().partial_fit(X, y, classes=range(3), costs=costs)
    parts = PredtronClassifier()
    for part in (slice(0, 1), slice(1, 77), slice(77, N)):
        parts.partial_fit(X[part], y[part], classes=range(3), costs=costs[part])
    assert_array_equal(parts.coef_, whole.coef_)
    assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))
    assert_array_equal(whole._model.learner.observer.rows()[2], np.ones(N))


@pytest.mark.parametrize("sets", [False, True])
def test_free_rows_count_in_the_mean_costs_of_a_stream_in_any_split(sets):
    X, y, costs = drawn(2)
    costs[::3] = 0
    y = np.column_stack([y, 1 - y]) if sets else y
    whole, single = (PredtronMultilabelClassifier() if sets else PredtronBinaryClassifier() for _ in range(2))
    whole.partial_fit(X, y, classes=[0, 1], costs=costs)
    for i in range(N):
        single.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1], costs=costs[i : i + 1])
    assert_allclose(whole._model.call_metadata.means(np.ones((2, 2))), costs.mean(axis=0), rtol=1e-12)
    assert pickle.dumps(single._model.call_metadata) == pickle.dumps(whole._model.call_metadata)
    assert_array_equal(single.predict(X), whole.predict(X))


def test_rows_whose_mistakes_cost_nothing_are_as_if_absent():
    X, y, costs = drawn(2)
    costs[::3] = 0
    there = np.arange(N) % 3 > 0
    model = PredtronBinaryClassifier().partial_fit(X, y, classes=[0, 1], costs=costs)
    assert_array_equal(model.coef_, PredtronBinaryClassifier().partial_fit(X[there], y[there], [0, 1], costs=costs[there]).coef_)
    before = pickle.dumps(model)
    model.partial_fit(X, y, costs=np.zeros_like(costs))
    assert model.t_ == pickle.loads(before).t_
    with pytest.raises(ValueError, match="costs has no row of positive weight in which a mistake costs something"):
        PredtronBinaryClassifier().fit(X, y, costs=np.zeros_like(costs))


@pytest.mark.parametrize("n", [15, 12_000])
def test_few_rows_and_many_have_a_power_too(n):
    X, y, costs = drawn(2, n=n)
    model = PredtronBinaryClassifier(random_state=0, max_iter=2).fit(X, y, costs=costs)
    assert 0 < model.sample_loss(X, y, costs=costs).mean() < min(costs[y == c, c].sum() / n for c in (0, 1))


REFUSED = {
    "shape": (np.ones((N, 2, 3)), r"costs has shape \(300, 2, 3\); accepted here is \(300, 2, 2\)"),
    "rows": ({(1, 0): np.ones(N - 1)}, r"costs\[\(1, 0\)\] is an array of shape \(299,\)"),
    "negative": ({(1, 0): -np.ones(N)}, r"costs has -1 for the pair \(1, 0\) in row 0"),
    "nan": ({(0, 1): np.full(N, np.nan)}, r"costs has nan for the pair \(0, 1\) in row 0"),
    "label": ({(2, 0): 1}, r"costs names the pair \(2, 0\)"),
    "text": ("amount", "costs='amount' does not hold numbers"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_wrong_costs_leave_the_model_as_it_was(what):
    X, y, costs = drawn(2)
    given, message = REFUSED[what]
    model = PredtronBinaryClassifier(random_state=0).fit(X, y, costs=costs)
    before = model.coef_.copy(), model.t_
    for verb in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=message):
            verb(X, y, costs=given)
        assert_array_equal(model.coef_, before[0])
        assert model.t_ == before[1]


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_first_epoch_records_rows_as_they_came(shuffle):
    """The share of the dear class is that of the rows, whatever they weigh in learning: a shuffled epoch is a sample of them."""
    X, y, costs = drawn(2, n=2000)
    costs[:, 1, 0] *= 30
    mixing = ParameterMixing(PredtronBinaryClassifier(cv=0, shuffle=shuffle), shards=1, rounds=1, random_state=0)
    labels, weight = mixing.fit(X, y, costs=costs).estimator_._model.learner.observer.rows()[1:3]
    assert_allclose(np.average(labels[:, 0], weights=weight), y.mean(), rtol=0.15 if shuffle else 0.03)


def dear_positives(n=2000, seed=2):
    """One row in ten is positive, and costs twenty times as much as an alarm, and now and then far more."""
    X, y = make_classification(n, n_informative=6, flip_y=0.1, class_sep=0.8, weights=[0.9], random_state=seed)
    return X, y, {(1, 0): np.random.default_rng(seed).lognormal(3, 1, n), (0, 1): 1.0}


def part_of(costs, rows):
    return {pair: cost if np.ndim(cost) == 0 else cost[rows] for pair, cost in costs.items()}


def learned_by_costs(how, model, X, y, costs):
    """Return a model that has learned by costs: a fit, a stream, one in which costs came late, or that is saved, or goes on."""
    first, rest = slice(0, len(y) // 2), slice(len(y) // 2, None)
    if how == "fit":
        return model.fit(X, y, costs=costs)
    if how == "warm":
        return model.set_params(warm_start=True).fit(X, y, costs=costs).fit(X, y)
    if how == "late":
        model.partial_fit(X[first], y[first], classes=np.unique(y)).predict(X[first])
        return model.partial_fit(X[rest], y[rest], costs=part_of(costs, rest))
    model.partial_fit(X[first], y[first], classes=np.unique(y), costs=part_of(costs, first))
    model = pickle.loads(pickle.dumps(model)) if how == "saved" else model
    return model.partial_fit(X[rest], y[rest])


@pytest.mark.parametrize("how", ["fit", "stream", "saved", "late", "warm"])
def test_probabilities_are_of_rows_as_they_came_and_predictions_follow_them(how):
    """The scores lean to dear classes: their sign is no bound of probabilities, nor what costs least without costs."""
    X, y, costs = dear_positives()
    test = slice(1000, 2000)
    model = learned_by_costs(how, PredtronBinaryClassifier(random_state=0), X[:1000], y[:1000], part_of(costs, slice(0, 1000)))
    plain = PredtronBinaryClassifier(random_state=0).fit(X[:1000], y[:1000])
    second = model.predict_proba(X[test])[:, 1]
    assert_allclose(second.mean(), y[test].mean(), atol=0.08)
    rows = {"fit": slice(0, 1000), "warm": slice(0, 1000), "late": slice(500, 1000)}.get(how, slice(0, 500))  # with costs
    missed = costs[1, 0][rows].mean()
    assert_array_equal(model.predict(X[test]), second * missed > 1 - second)
    assert_array_equal(model.decision_function(X[test]) > 0, second * missed > 1 - second)
    assert_array_equal(model.predict(X[test]), model.predict(X[test], costs={(1, 0): missed}))
    assert_array_equal(model.predict(X[test], costs={}), second > 0.5)
    assert plain.score(X[test], y[test]) > 0.8
    assert model.threshold_ != 0 and plain.threshold_ == 0


@pytest.mark.parametrize(("kind", "k"), FAMILIES[1:])
@pytest.mark.parametrize("how", ["fit", "stream"])
def test_several_classes_follow_their_probabilities_too(kind, k, how):
    X, y, costs = drawn(k, n=1500)
    costs[:, k - 1] *= 30
    given = {(i, j): costs[:, i, j] for i in range(k) for j in range(k) if i != j}
    model = learned_by_costs(how, kind(random_state=0), X, y, given)
    p = model.predict_proba(X)
    assert_allclose(p.mean(axis=0), np.bincount(y) / len(y), atol=0.08)
    half = costs if how == "fit" else costs[: len(y) // 2]
    means = half.mean(axis=0)
    assert_array_equal(model.predict(X), (p @ means).argmin(axis=1))


def test_a_large_fit_has_probabilities_of_rows_as_they_came():
    X, y, costs = dear_positives(12_000)
    model = PredtronBinaryClassifier(random_state=0, max_iter=2).fit(X, y, costs=costs)
    assert_allclose(model.predict_proba(X)[:, 1].mean(), y.mean(), atol=0.02)


def test_what_is_set_later_decides_nonetheless():
    X, y, costs = dear_positives()
    model = PredtronBinaryClassifier(random_state=0).fit(X, y, costs=costs)
    plain = PredtronBinaryClassifier(random_state=0).fit(X, y)
    second = model.predict_proba(X)[:, 1]
    missed = costs[1, 0].mean()
    assert_array_equal(model.predict(X), second * missed > 1 - second)
    assert_array_equal(model.set_params(loss={(1, 0): 4}).predict(X), second > 0.2)  # a loss with costs of its own
    model.set_params(loss="zero_one")
    raw = model.set_params(decision="learned").decision_function(X)
    assert_array_equal(model.predict(X), raw > 0)
    assert_array_equal(model.set_params(decision=None).predict(X), second * missed > 1 - second)
    assert_array_equal(model.set_params(class_weight={1: 4}).predict(X), model.predict(X, costs={(1, 0): 4 * missed}))
    model.set_params(class_weight=None).fit(X, y)
    assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert_array_equal(model.predict(X), plain.predict(X))


def test_scores_without_probabilities_are_decoded_as_they_are():
    X, y, costs = dear_positives()
    model = PredtronBinaryClassifier(decision="learned", random_state=0).fit(X, y, costs=costs)
    learned = model.predict(X)
    assert_array_equal(model.set_params(decision=None).predict(X), learned)


def test_monitors_take_costs_where_they_are_routed():
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    X, y, costs = drawn(2)
    table = pd.DataFrame({(1, 0): costs[:, 1, 0], (0, 1): costs[:, 0, 1]})
    plain = PredtronBinaryClassifier(random_state=0).fit(X, y, costs=table)
    for routing, scoring in ((False, "accuracy"), (True, cost_scorer())):
        with config_context(enable_metadata_routing=routing):
            model = PredtronBinaryClassifier(random_state=0).set_callbacks(callback.ScoringMonitor(scoring=scoring))
            assert_array_equal(model.fit(X, y, costs=table).coef_, plain.coef_)


def test_a_gain_is_weighed_against_its_standard_error():
    """By a loop over the rows, in any order; a mean of equal gains has no error.  Rows that one of both lacks do not count."""
    random = np.random.default_rng(0)
    for _ in range(50):
        usual, other, weight = random.lognormal(size=9), random.lognormal(size=9), random.integers(1, 4, 9).astype(float)
        rows, order = random.permutation(20)[:9], random.permutation(9)
        later = RowLosses(usual[order], weight[order], rows[order])
        gain, error = RowLosses(other, weight, rows).gain_over(later if order[0] % 2 else RowLosses(usual, weight, rows))
        total = sum(weight)
        mean = sum(w * (u - o) for w, u, o in zip(weight, usual, other, strict=True)) / total
        squares = sum((w / total * (u - o - mean)) ** 2 for w, u, o in zip(weight, usual, other, strict=True))
        assert_allclose((gain, error), (mean, squares**0.5))
    rows = np.arange(4)
    ones = RowLosses(np.ones(4), np.ones(4), rows)
    assert RowLosses(np.zeros(4), np.ones(4), rows).gain_over(ones) == (1.0, 0.0)
    assert RowLosses(np.array([0.0, 9, 0]), np.ones(3), np.array([3, 7, 0])).gain_over(ones) == (1.0, 0.0)


def test_another_power_is_taken_for_a_gain_beyond_its_error_alone():
    rows = np.arange(4)
    checkpoint = Checkpoint(3, Score(0.5, RowLosses(np.full(4, 0.5), np.ones(4), rows)), None, [], rows)
    results = [
        Result(None, checkpoint, {}, [], None, cost=RowLosses(np.array(cost), np.ones(4), rows))
        for cost in ([1.0, 1, 1, 1], [0.0, 3, 0, 0], [0.5, 0.5, 0.6, 0.4])
    ]
    assert select(results) is results[2]
    assert select(results[:2]) is results[0]


@pytest.mark.parametrize("learn", ["power 0", "power 1", "one pass", "stream", "class_weight"])
@pytest.mark.parametrize("kind", [PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier])
def test_free_mistakes_do_not_bend_probabilities(kind, learn):
    """In half of the rows a false alarm, or any mistake, costs nothing: the classes are as likely there as elsewhere."""
    random = np.random.default_rng(0)
    X = random.standard_normal((6000, 4))
    free = X[:, 0] > 0
    y = (random.random(6000) < 1 / (1 + np.exp(-(X[:, 1] - 1.4)))).astype(int)
    for missed in (10.0, np.where(free, 0.0, 10.0)):
        costs = {(1, 0): np.broadcast_to(missed, 6000)[:4000], (0, 1): np.where(free, 0.0, 5.0)[:4000]}
        model = kind(random_state=0, class_weight={1: 3} if learn == "class_weight" else None)
        if learn == "stream":
            model.partial_fit(X[:4000], y[:4000], classes=[0, 1], costs=costs)
        elif learn == "one pass":
            model.set_params(cv=0, max_iter=1).fit(X[:4000], y[:4000], costs=costs)
        else:
            with pytest.MonkeyPatch.context() as patch:
                if learn.startswith("power"):
                    patch.setattr("sklearn_predtron.families.training.plan.POWERS", (float(learn[-1]),))
                model.fit(X[:4000], y[:4000], costs=costs)
        p = model.predict_proba(X[4000:])[:, 1]
        for rows in (free[4000:], ~free[4000:]):
            assert abs(p[rows].mean() - y[4000:][rows].mean()) < 0.04
        assert log_loss(y[4000:], p) < 0.9 * log_loss(y[4000:], np.full(2000, y[4000:].mean()))


def test_class_weights_multiply_costs_under_every_decision_by_expected_cost():
    X, y, _ = dear_positives()
    for loss in ("zero_one", {(1, 0): 5}):
        for weight in ({1: 10}, "balanced"):
            model = PredtronBinaryClassifier(loss=loss, class_weight=weight, decision="expected_cost", random_state=0).fit(X, y)
            factor = 10 if weight != "balanced" else np.mean(y == 0) / np.mean(y == 1)
            second = model.predict_proba(X)[:, 1]
            missed = factor * (1 if loss == "zero_one" else 5)
            assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), missed * second > 1 - second)


def test_mean_costs_of_classes_so_far_stay_when_classes_come():
    X, y, costs = drawn(3, n=900)
    costs[:, 2] *= 9
    model = PredtronClassifier().partial_fit(X, y + 1, classes=[1, 2, 3], costs=costs).widen(classes=[0, 4])
    model.partial_fit(X[:50], np.arange(50) % 5)
    means = 1 - np.eye(5)
    places = np.searchsorted(model.classes_, [1, 2, 3])
    means[np.ix_(places, places)] = costs.mean(axis=0)
    assert_array_equal(model.predict(X), model.classes_[(model.predict_proba(X) @ means).argmin(axis=1)])


@pytest.mark.parametrize("shards", [1, 2])
def test_mixtures_of_learners_take_costs_too(shards):
    """Of one shard, which folds are held out of, nothing is chosen: a round is a task."""
    X, y, costs = drawn(2)
    mixing = ParameterMixing(PredtronBinaryClassifier(), shards=shards, rounds=2, random_state=0).fit(X, y, costs=costs)
    assert len(mixing.loss_curve_) == 2
