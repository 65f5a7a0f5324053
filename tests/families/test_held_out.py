"""Thresholds from rows that were held out."""

import numpy as np
import pytest
from cases import make_data, needs_callbacks
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron._core.problem import Codes
from sklearn_predtron.callbacks import LossHistory
from sklearn_predtron.decisions._margin_histogram import MarginHistogram
from sklearn_predtron.estimator_checks import frozen
from sklearn_predtron.families.training import plan, runs, trainer
from sklearn_predtron.families.training.epochs import folds_of, generator_of, seed_of
from sklearn_predtron.families.training.plan import FOLDS_SEED, Shape
from sklearn_predtron.families.training.runs import MODELS_SEED
from sklearn_predtron.losses import Reject
from sklearn_predtron.mixing import ParameterMixing
from sklearn_predtron.norms import RKHS
from sklearn_predtron.problems._finite import OneHotProblem

ASK = Reject(0.1, -1, rule="online")
CUT = {"decision": "f1"}
FOLDS = 5


def seen_by(model):
    """The weights of each bin and class in the histogram of a model."""
    return np.asarray(model._model.learner.observer.__reduce__()[2][0])


@pytest.mark.parametrize(("k", "n", "most"), [(2, 150, 1.3), (4, 150, 1.3), (2, 600, 1.12), (4, 600, 1.12)])
def test_rejecting_costs_hardly_more_than_by_chows_rule(k, n, most):
    """Of Gaussians, whose posterior is known: reject where the likeliest class is less likely than 1 - beta."""
    costs = (0.05, 0.1, 0.2)
    ours, chow = np.zeros(3), np.zeros(3)
    for seed in range(8):
        random = np.random.default_rng(seed)
        centre = 1.3 * random.standard_normal((k, 6))
        y = random.integers(k, size=n + 4000)
        X = centre[y] + random.standard_normal((len(y), 6))
        t = X[n:] @ centre.T - (centre**2).sum(axis=1) / 2
        P = np.exp(t - t.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        wrong = P.argmax(axis=1) != y[n:]
        model = PredtronClassifier(reject=ASK, random_state=seed).fit(X[:n], y[:n])
        ours += [model.set_params(reject__cost=beta).sample_loss(X[n:], y[n:]).mean() for beta in costs]
        chow += [np.where(P.max(axis=1) < 1 - beta, beta, wrong).mean() for beta in costs]
    assert (ours / chow < most).all()


@pytest.mark.parametrize("settings", [{}, {"shuffle": False}, {"average": False}, {"norm": RKHS()}, {"norm": "scaled"}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_margins_are_those_of_learners_of_the_other_folds(settings, weighted, monkeypatch):
    X, y = make_data(3, n=90, noise=2.0)
    weight = np.where(np.arange(90) % 4 == 0, 0.0, 1.0 + y) if weighted else None
    model = PredtronClassifier(reject=ASK, random_state=0, **settings)
    model.fit(X, y, sample_weight=weight)
    there = np.arange(90) if weight is None else np.flatnonzero(weight)
    fold, total = folds_of(y[there], generator_of(seed_of(model), FOLDS_SEED), FOLDS), 1.0 if weight is None else weight
    problem = OneHotProblem(3)
    expected = MarginHistogram(problem, 3)
    for number in range(FOLDS):
        part = there[fold != number]
        alone = clone(model).set_params(reject=None, cv=0)
        random = generator_of(seed_of(model), MODELS_SEED, number)
        monkeypatch.setattr(trainer, "generator_of", lambda seed, random=random: random)
        alone.fit(X[part], y[part], sample_weight=None if weight is None else weight[part])
        out = there[fold == number]
        rows = np.arange(len(out))
        expected.show(problem, alone.decision_function(X[out]), Codes(y[out]), rows, None if weight is None else weight[out])
    learner = model._model.learner
    expected.scale_to(learner.average.mass(learner.t))
    np.testing.assert_allclose(seen_by(model), np.asarray(expected.__reduce__()[2][0]))
    by_class = np.bincount(y, weights=np.broadcast_to(total, 90), minlength=3)
    np.testing.assert_allclose(seen_by(model).sum(axis=0), by_class / by_class.sum() * learner.average.mass(learner.t))


def test_folds_are_even_and_stratified():
    codes = np.repeat([0, 1, 2], [41, 13, 3])
    for random in (None, np.random.default_rng(0)):
        fold = folds_of(codes, random, FOLDS)
        assert np.ptp(np.bincount(fold)) <= 1
        assert all(np.ptp(np.bincount(fold[codes == code], minlength=FOLDS)) <= 1 for code in range(3))
    assert len(set(folds_of(np.array([0, 1]), None, FOLDS))) == 2


@pytest.mark.parametrize("seed", [0, "instance", None])
def test_what_predicts_is_as_without_folds(seed):
    X, y = make_data(3, n=90, noise=2.0)
    coefs = []
    for reject in (None, ASK):
        np.random.seed(3)  # noqa: NPY002
        state = np.random.RandomState(3) if seed == "instance" else seed
        coefs.append(PredtronClassifier(reject=reject, random_state=state, cv=None if reject else 0).fit(X, y).coef_)
    np.testing.assert_array_equal(*coefs)


def without_folds(monkeypatch):
    """Give fits the plan of those that are too large for folds."""
    monkeypatch.setattr(plan, "default_shape", lambda kind, n: Shape(0))


def test_large_fits_go_by_their_first_epoch(monkeypatch):
    X, y = make_data(3, n=90, noise=2.0)
    model = PredtronClassifier(reject=ASK, norm="l2", random_state=0)
    without_folds(monkeypatch)
    model.fit(sparse.csr_matrix(X), y)
    assert seen_by(model).sum() == pytest.approx(90 * 91 / 2)  # round t of the first epoch weighs t


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("fold", range(FOLDS))
def test_what_ends_a_fold(monkeypatch, error, fold):
    """An error leaves no trace; an interrupt leaves what was learned, with what the first epoch has shown."""
    X, y = make_data(3, n=90, noise=2.0)
    learn, calls = runs.learn_epoch, []

    def failing(*given, **how):
        calls.append(given)
        if len(calls) == 10 * fold + 13:
            raise error("in the midst of a fold")
        return learn(*given, **how)

    fitted = PredtronClassifier(reject=ASK, random_state=0).fit(X[:60], y[:60])
    before, saved = dict(vars(fitted)), frozen(fitted)
    predicted, fresh = fitted.predict(X), PredtronClassifier(reject=ASK)
    names = set(vars(fresh))
    whole = PredtronClassifier(reject=ASK, random_state=0).fit(X, y)
    for module in [trainer, runs]:
        monkeypatch.setattr(module, "learn_epoch", failing)
    for model in (fitted, fresh):
        calls.clear()
        with pytest.raises(error, match="in the midst"):
            model.fit(X, y)
    if error is KeyboardInterrupt:
        np.testing.assert_array_equal(fitted.coef_, whole.coef_)
        assert seen_by(fitted).sum() == pytest.approx(90 * 91 / 2)
        return
    assert set(vars(fresh)) - {"_call_lock"} == names and fresh._model is None
    assert vars(fitted).keys() == before.keys() and all(vars(fitted)[name] is value for name, value in before.items())
    assert frozen(fitted) == saved
    np.testing.assert_array_equal(fitted.predict(X), predicted)


def test_rows_that_are_refused_are_named_before_any_fold():
    X, y = make_data(3, n=90)
    X[40, 1] = np.nan
    model = PredtronClassifier(reject=ASK)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


def test_a_stream_goes_on_with_the_histogram():
    """Rounds after `fit` weigh in it as in the average: as much together as all before, after as many."""
    X, y = make_data(3, n=90, noise=2.0)
    model = PredtronClassifier(reject=ASK, average="uniform", random_state=0).fit(X, y)
    assert seen_by(model).sum() == pytest.approx(900)
    for _ in range(10):
        model.partial_fit(X, y)
    assert seen_by(model).sum() == pytest.approx(1800)
    forgetful = PredtronClassifier(reject=ASK, average=100.0, random_state=0).fit(X, y)
    assert seen_by(forgetful).sum() == pytest.approx((1 - 0.5**9) / (1 - 0.5**0.01))


def test_the_threshold_of_a_few_lossy_rows_is_that_of_a_curve():
    """And of many the one that would have cost least on them."""
    X, y = load_breast_cancer(return_X_y=True)
    observer = PredtronBinaryClassifier(reject=ASK, random_state=0).fit(X / X.std(axis=0), y)._model.learner.observer
    random = np.random.default_rng(0)
    for n, least_trust, most_trust in [(200, 0.9, 1), (40_000, 0, 0.01)]:
        margin = random.exponential(2.0, n)
        wrong = random.random(n) < 1 / (1 + np.exp(1.5 * margin))
        histogram = MarginHistogram(observer.problem, 2)
        histogram.show(observer.problem, margin[:, None] / 2, Codes(np.where(wrong, 0, 1)), np.arange(n))
        assert least_trust <= histogram.trust_in_curve() <= most_trust
        for beta in (0.05, 0.1, 0.3):
            found = histogram.threshold(np.full(2, beta))
            assert found == pytest.approx(np.log(1 / beta - 1) / 1.5, rel=0.25)


def test_the_threshold_of_losses_alone_is_the_cheapest():
    """Without the sum of squared weights the curve is not trusted."""
    X, y = make_data(3, n=90, noise=2.0)
    observer = PredtronClassifier(reject=ASK, random_state=0).fit(X, y)._model.learner.observer
    kind, arguments, (seen, losses, unit, _) = observer.__reduce__()
    alone = kind(*arguments)
    alone.__setstate__((seen, losses, unit, 0.0))
    assert alone.trust_in_curve() == 0 < observer.trust_in_curve()
    cost = np.append(0, np.cumsum(seen.sum(axis=1) * 0.1)) + np.append(np.cumsum(losses[::-1])[::-1], 0)
    edges = np.append(0, np.append(np.ldexp(1 + np.arange(16) / 16, np.arange(-20, 20)[:, None]).ravel()[1:], np.inf))
    assert cost[edges == alone.threshold(np.full(3, 0.1))] == cost.min()


@needs_callbacks
def test_callbacks_see_nothing_of_the_folds():
    X, y = make_data(3, n=90, noise=2.0)
    curves = [
        LossHistory.curve(
            PredtronClassifier(reject=reject, random_state=0, cv=None if reject else 0).set_callbacks(LossHistory(20)).fit(X, y)
        )
        for reject in (None, ASK)
    ]
    np.testing.assert_array_equal(*curves)


def weighted_rows(n):
    """Noisy rows of which few are positive, and weigh as much as all others."""
    X, y = make_classification(2 * n, n_informative=8, weights=[0.95], class_sep=0.7, random_state=0)
    return X, y, np.where(y, 20.0, 1.0), slice(n), slice(n, None)


def shares(model):
    """What of all that was seen is of each class."""
    seen = seen_by(model)
    by_class = seen.sum(axis=0) if seen.ndim == 2 else seen[0].sum(axis=0)
    return by_class / by_class.sum()


@pytest.mark.parametrize("how", [CUT, {"reject": ASK}], ids=str)
def test_rows_that_weigh_much_are_shown_as_late_as_others(monkeypatch, how):
    """A large fit goes by its first epoch, and by rows that were not learned in it, whatever they weigh."""
    X, y, weight, first, rest = weighted_rows(6000)
    losses = []
    for folds in (True, False):
        if not folds:
            without_folds(monkeypatch)
        model = PredtronBinaryClassifier(random_state=0, **how).fit(X[first], y[first], sample_weight=weight[first])
        predicted = model.predict(X[rest])
        losses.append(np.average(np.where(predicted == -1, 0.1, predicted != y[rest]), weights=weight[rest]))
        expected = np.bincount(y[first], weights=weight[first])
        np.testing.assert_allclose(shares(model), expected / expected.sum(), atol=0.05)
    assert losses[1] < 1.1 * losses[0]


@pytest.mark.parametrize("how", [CUT, {"reject": ASK}], ids=str)
def test_shards_show_rows_that_weigh_much_as_late_as_others(how):
    X, y, weight, first, rest = weighted_rows(6000)
    mixture = ParameterMixing(PredtronBinaryClassifier(**how), shards=2, rounds=3, random_state=0)
    model = mixture.fit(X[first], y[first], sample_weight=weight[first]).estimator_
    expected = np.bincount(y[first], weights=weight[first])
    np.testing.assert_allclose(shares(model), expected / expected.sum(), atol=0.05)
    whole = PredtronBinaryClassifier(random_state=0, **how).fit(X[first], y[first], sample_weight=weight[first])
    mixed, alone = (np.average(m.predict(X[rest]) != y[rest], weights=weight[rest]) for m in (model, whole))
    assert mixed < 1.15 * alone


def test_a_fit_is_the_same_with_a_reject_option_where_rows_that_weigh_much_are_held_out_by_folds():
    X, y, weight, first, _ = weighted_rows(1000)
    fits = [
        PredtronBinaryClassifier(random_state=0, **how).fit(X[first], y[first], sample_weight=weight[first])
        for how in ({"cv": 0}, {"reject": ASK})
    ]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.coef_, fits[0].coef_)


@pytest.mark.parametrize(("average", "former"), [(100.0, 0.0), ("uniform", 1 / 2), ("linear", 1 / 4)])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_was_seen_fades_as_in_the_average(monkeypatch, average, former, weighted):
    """Rows of a second fit that goes on have larger margins than any of the first."""
    without_folds(monkeypatch)
    random = np.random.default_rng(0)
    n = 5000
    X = random.standard_normal((n, 3))
    y = ((X[:, 0] > 0) ^ (random.random(n) < 0.3)).astype(int)
    weight = np.where(np.arange(n) % 7 == 0, 3.0, 1.0) if weighted else None
    how = {"norm": "l2", "reject": ASK, "max_iter": 1, "warm_start": True, "random_state": 0}
    model = PredtronBinaryClassifier(average=average, **how)
    first = seen_by(model.fit(X, y, sample_weight=weight)).sum(axis=1)
    far = np.zeros((n, 3))
    far[:, 0] = np.where(np.arange(n) % 2, 500.0, -500.0)
    both = seen_by(model.fit(far, (far[:, 0] > 0).astype(int), sample_weight=weight)).sum(axis=1)
    last = np.flatnonzero(first).max()
    assert both[: last + 1].sum() / both.sum() == pytest.approx(former, abs=0.01)
