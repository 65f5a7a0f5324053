"""Thresholds from rows that were held out."""

import numpy as np
import pytest
from cases import make_data, needs_callbacks
from golden.write import FAMILIES, data
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import KFold

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronSequenceTagger
from sklearn_predtron.callbacks import LossHistory
from sklearn_predtron.families.training import runs, trainer
from sklearn_predtron.families.training.plan import FOLDS_SEED, folds_of, generator_of, seed_of
from sklearn_predtron.families.training.runs import MODELS_SEED
from sklearn_predtron.losses import Reject
from sklearn_predtron.mixing import ParameterMixing
from sklearn_predtron.norms import RKHS
from tests.own_checks import frozen

ASK = Reject(0.1, -1)
CUT = {"decision": "f1"}
FOLDS = 3  # of a fit with one model


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
        model = PredtronClassifier(reject=Reject(0.1, -1), random_state=seed).fit(X[:n], y[:n])
        ours += [model.set_params(reject__cost=beta).sample_loss(X[n:], y[n:]).mean() for beta in costs]
        chow += [np.where(P.max(axis=1) < 1 - beta, beta, wrong).mean() for beta in costs]
    assert (ours / chow < most).all()


@pytest.mark.parametrize("settings", [{}, {"shuffle": False}, {"average": False}, {"norm": RKHS()}, {"norm": "scaled"}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_learners_of_the_other_folds(settings, weighted, monkeypatch):
    X, y = make_data(3, n=90, noise=2.0)
    weight = np.where(np.arange(90) % 4 == 0, 0.0, 1.0 + y) if weighted else None
    model = PredtronClassifier(reject=ASK, warm_start=True, random_state=0, **settings)
    model.fit(X, y, sample_weight=weight)
    there = np.arange(90) if weight is None else np.flatnonzero(weight)
    fold, expected = folds_of(y[there], generator_of(seed_of(model), FOLDS_SEED), FOLDS), np.empty((90, 3))
    for number in range(FOLDS):
        part, out = there[fold != number], there[fold == number]
        alone = clone(model).set_params(reject=None, decision="learned", cv=0)
        random = generator_of(seed_of(model), MODELS_SEED, number)
        monkeypatch.setattr(trainer, "generator_of", lambda seed, random=random: random)
        expected[out] = alone.fit(X[part], y[part], sample_weight=None if weight is None else weight[part]).decision_function(
            X[out]
        )
    scores, labels, frequency, _ = model._model.learner.observer.marked()
    np.testing.assert_allclose(scores, expected[there], rtol=1e-5)
    np.testing.assert_array_equal(labels[:, 0], y[there])
    np.testing.assert_array_equal(frequency, np.ones(90) if weight is None else weight[there])


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
    for how in ({"cv": 0}, {"reject": ASK, "warm_start": True}):
        np.random.seed(3)  # noqa: NPY002
        state = np.random.RandomState(3) if seed == "instance" else seed
        coefs.append(PredtronClassifier(random_state=state, **how).fit(X, y).coef_)
    np.testing.assert_array_equal(*coefs)


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

    fitted = PredtronClassifier(reject=ASK, average="auto", random_state=0).fit(X[:60], y[:60])
    before, saved = dict(vars(fitted)), frozen(fitted)
    predicted, fresh = fitted.predict(X), PredtronClassifier(reject=ASK, average="auto", random_state=0)
    names = set(vars(fresh))
    whole = PredtronClassifier(reject=ASK, average="auto", random_state=0).fit(X, y)
    for module in [trainer, runs]:
        monkeypatch.setattr(module, "learn_epoch", failing)
    for model in (fitted, fresh):
        calls.clear()
        with pytest.raises(error, match="in the midst"):
            model.fit(X, y)
    if error is KeyboardInterrupt:
        np.testing.assert_array_equal(fresh.coef_, whole.coef_)
        assert fresh._model.learner.observer.recorded > 0
        return
    assert set(vars(fresh)) - {"_call_lock"} == names and fresh._model is None
    assert vars(fitted).keys() == before.keys() and all(vars(fitted)[name] is value for name, value in before.items())
    assert frozen(fitted) == saved
    np.testing.assert_array_equal(fitted.predict(X), predicted)


@needs_callbacks
def test_callbacks_see_nothing_of_the_folds():
    X, y = make_data(3, n=90, noise=2.0)
    curves = [
        LossHistory.curve(
            PredtronClassifier(reject=reject, random_state=0, cv=None if reject else 0, warm_start=True)
            .set_callbacks(LossHistory(20))
            .fit(X, y)
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
    _, labels, weight, _ = model._model.learner.observer.marked()
    return np.bincount(labels[:, 0], weights=weight) / weight.sum()


@pytest.mark.parametrize("how", [CUT, {"reject": ASK}], ids=str)
def test_rows_that_weigh_much_are_shown_as_late_as_others(how):
    """Without held-out rows a fit goes by its first epoch, and by rows that were not learned in it, whatever they weigh."""
    X, y, weight, first, rest = weighted_rows(6000)
    losses = []
    for cv in (None, 0):
        model = PredtronBinaryClassifier(cv=cv, random_state=0, **how).fit(X[first], y[first], sample_weight=weight[first])
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


# ----------------------------------------------------------------------------------------------------- no leak of held-out rows

WITH_FOLDS = {name: kind for name, kind in FAMILIES.items() if "cv" in kind._get_param_names()} | {
    "sequences": PredtronSequenceTagger
}
MAPS = [None, "piecewise", "auto", "fourier"]
N_FOLDS = 3


def weights_of_folds(monkeypatch, model, X, y, given):
    """The weights of the fold models whenever their held-out rows are scored, by the first of these rows."""
    found = {}
    held_out = runs.FoldModel.held_out

    def recorded(fold_model):
        W, b = fold_model.learner.read(lambda weights: weights.last())
        at = fold_model.learner.t, np.shape(W), int(fold_model.rows[0])
        found.setdefault(at, []).append((np.asarray(W).tobytes(), np.asarray(b).tobytes()))
        return held_out(fold_model)

    monkeypatch.setattr(runs.FoldModel, "held_out", recorded)
    model.fit(X, y, **given)
    monkeypatch.undo()
    return found


@pytest.mark.filterwarnings("ignore")  # of few rows
@pytest.mark.parametrize(("features", "n_columns"), [(features, 0) for features in MAPS] + [("piecewise", 20), ("auto", 20)])
@pytest.mark.parametrize("family", WITH_FOLDS)
def test_held_out_rows_do_not_change_a_fold_model(family, features, n_columns, monkeypatch):
    """Of twenty columns more, labels decide which pairs have products."""
    kind = WITH_FOLDS[family]
    X, y, given = data("multiclass" if family == "sequences" else family)
    X = np.hstack([X, np.random.default_rng(0).standard_normal((len(X), n_columns))])
    given = {"sid": np.repeat(np.arange(10), 4)} if family == "sequences" else given
    settings = {"random_state": 0, "max_iter": 3, "cv": KFold(N_FOLDS), "features": features}
    n_units = len(X) // (4 if given else 1)
    (_, units), *_ = KFold(N_FOLDS).split(np.zeros(n_units))
    rows = np.isin(np.arange(len(X)) // (4 if given else 1), units)
    other_X, other_y = X.copy(), y.copy()
    other_y[rows] = y[rows][::-1]
    if features is None:  # knots and scales of a map are those of all rows, without their labels
        other_X[rows] = X[rows] + 0.3 * np.cos(np.arange(rows.sum()))[:, None]
    before = weights_of_folds(monkeypatch, kind(**settings), X, y, given)
    after = weights_of_folds(monkeypatch, kind(**settings), other_X, other_y, given)
    first = [at for at in before if rows[at[2]]]
    assert first and all(after[at] == before[at] for at in first)
    assert any(after.get(at) != before[at] for at in before if not rows[at[2]])  # the others learn from these rows
