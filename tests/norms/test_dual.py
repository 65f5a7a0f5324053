"""norm="l1" and "group": the compiled weights against the plain reference, in every family, and against themselves."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from cases import (
    assert_agrees,
    assert_close,
    cost_table,
    data,
    intercept_settings,
    layouts,
    losses,
    name,
    pairwise,
    random_costs,
    representations,
    row_weights,
    state,
    updates_of_the_reference,
)
from inside import predicting_scores
from reference import norms as plain_norms
from reference.learner import Reference
from reference.ranking import RankingReference
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron._core.problem import Codes
from sklearn_predtron._core.rows import dense_rows
from sklearn_predtron.losses import CostMatrix, ZeroOne
from sklearn_predtron.norms import Group, PNorm
from sklearn_predtron.representations import OneHot, SharedThermometer
from sklearn_predtron.updates import Adaptive, LossAugmented, PerceptronUpdate, Slam, Subgradient
from sklearn_predtron.updates import _rules as core
from tests.families.test_ranking import (
    BY_COMPETITOR,
    FOR_LABELS,
    LOSSES,
    PAIRWISE,
    REPRESENTATIONS,
    WARM,
    make_labels,
    make_queries,
    two_losses_each,
    warm_up,
    warmed,
    warmed_labels,
)
from tests.families.test_ranking import assert_agrees as assert_rankers_agree

AVERAGES = ["linear", "uniform", 7.5, False]
KINDS = [(PNorm, plain_norms.PNorm), (Group, plain_norms.Group)]
QS = [2, 2.7, None, 13]
FORMS = ["dense float64", "dense float32", "csr float64 int32", "csr float32 int64"]
INTERCEPTS = [("auto", False), (0.7, True), (None, False), ("auto", True)]

each_kind = pytest.mark.parametrize("kind", KINDS, ids=["l1", "group"])
each_average = pytest.mark.parametrize("average", AVERAGES)


def q_of(p):
    return max(2.0, 2.0 * np.floor(np.log(p)))


def plain_norm(kind, q, p):
    """The norm of the reference, for p features."""
    if q is not None:
        return kind[1](q_of(p) if q == "theory" else q)
    default = min(q_of(p), 8.0)
    return kind[1](default, (default - 1) / 2 ** (default - 2))


def reference_for(kind, q, update, representation, loss, k, p, intercept="auto"):
    settings = {"intercept": intercept, "shared": isinstance(representation, SharedThermometer)}
    parts = representation.code(k), cost_table(loss, k), p, update.alias, update.get_params()
    return Reference(*parts, norm=plain_norm(kind, q, p), **settings)


def make(kind, q, update="adaptive", average="linear", representation="onehot", loss="zero_one", **settings):
    parts = {"update": update, "average": average, "representation": representation, "loss": loss}
    return PredtronClassifier(norm=kind[0](q=q), decision="learned", **parts, **settings)


# ---------------------------------------------------------------------------------------------------------- the reference

CODES = [(k, representation) for k in (2, 4) for representation in representations(k)]
CASES = pairwise(updates_of_the_reference(), range(len(losses(4))), KINDS, QS, INTERCEPTS)


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda i: f"{i}-{name(CASES[i][0])[:30]}")
def test_iterates_and_averages(number):
    """Codes, averages and forms of the rows in turn."""
    update, of_loss, kind, q, (intercept, weighted) = CASES[number]
    k, representation = CODES[number % len(CODES)]
    loss = losses(k)[of_loss]
    if isinstance(representation, SharedThermometer) and intercept is None:
        intercept = 1.3
    X, y = data(n=40, k=k)
    weight = np.random.default_rng(5).uniform(0.2, 2.5, len(X)) if weighted else None
    reference = reference_for(kind, q, update, representation, loss, k, X.shape[1], intercept).learn(X, y, weight)
    assert reference.n_updates > 3
    for i, average in enumerate(AVERAGES):
        rows = layouts(X)[FORMS[(i + number) % 4]]
        model = make(kind, q, update, average, representation, loss, **intercept_settings(intercept))
        model.partial_fit(rows, y, classes=np.arange(k), sample_weight=weight)
        assert_agrees(model, reference, average)
        scores = predicting_scores(model, rows)
        assert_close(scores, X @ np.broadcast_to(model.coef_, (scores.shape[1], X.shape[1])).T + model.intercept_)


@pytest.mark.parametrize(
    ("update", "q", "intercept", "form", "kind"),
    pairwise([Adaptive(), Subgradient(alpha=0.1, eta=0.5)], QS, ["auto", 0.7, None], FORMS, KINDS),
)
def test_every_exponent_intercept_and_form(update, q, intercept, form, kind):
    X, y = data()
    weight = row_weights(len(X))
    loss = CostMatrix(random_costs(4))
    reference = reference_for(kind, q, update, OneHot(), loss, 4, X.shape[1], intercept).learn(X, y, weight)
    for average in AVERAGES:
        model = make(kind, q, update, average, loss=loss, **intercept_settings(intercept))
        model.partial_fit(layouts(X)[form], y, classes=np.arange(4), sample_weight=weight)
        assert_agrees(model, reference, average)


@each_kind
@pytest.mark.parametrize(("k", "p"), [(3, 1), (2, 2), (9, 3), (18, 7), (5, 67), (70, 20), (300, 5), (3, 700)])
def test_all_widths(k, p, kind):
    """The exponents of the package; every tail of the kernels, and more entries than are taken at once."""
    X, y = data(n=40, p=p, k=3, seed=k + p)
    y = y % k
    y[:k] = np.arange(k)[:40]
    loss = CostMatrix(random_costs(k)) if k < 20 else ZeroOne()
    for update, q in ((Adaptive(), None), (Adaptive(), "theory"), (Subgradient(alpha=0.05, eta=0.3), None)):
        reference = reference_for(kind, q, update, OneHot(), loss, k, p).learn(X, y)
        for form in FORMS:
            model = make(kind, q, update, loss=loss).partial_fit(layouts(X)[form], y, classes=np.arange(k))
            assert_agrees(model, reference, "linear")


@each_average
def test_q_2_is_l2_and_one_score_has_one_norm(average):
    X, y = data()
    for settings in ({"intercept_scaling": 0.7, "max_iter": 2}, {"fit_intercept": False}):
        models = [
            PredtronClassifier(norm=norm, average=average, random_state=0, **settings).fit(X, y)
            for norm in ("l2", PNorm(q=2), Group(q=2))
        ]
        for model in models[1:]:
            assert_close(model.coef_, models[0].coef_)
            assert_close(model.last_intercept_, models[0].last_intercept_)
    models = [PredtronBinaryClassifier(norm=norm, average=average, random_state=0).fit(X, y > 1) for norm in ("l1", "group")]
    assert_close(models[0].coef_, models[1].coef_)


# ----------------------------------------------------------------------------------------------------- sets and rankings


def replay(model, X, y, average, norm):
    """Learn one row at a time; W is the link of Theta, each step one of rank one along the row, and the average that of all."""
    total, mass, before, steps = 0.0, 0.0, None, 0
    keep = 0.5 ** (1 / average) if isinstance(average, float) else 1.0
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        weights = model._model.learner.weights
        Theta = np.column_stack(weights.dual())
        W = norm.link(Theta)
        root = weights.intercept.squared_length**0.5
        assert_close(model.last_coef_, W[:, :-1])
        assert_close(model.last_intercept_, root * W[:, -1])
        x, change = np.append(X[i], root), Theta - (0 if before is None else before)
        beside = change @ (np.eye(len(x)) - np.outer(x, x) / (x @ x))
        np.testing.assert_allclose(beside, 0, atol=1e-10 * np.abs(Theta).max(initial=1))
        weight, steps = i + 1 if average == "linear" else 1.0, steps + change.any()
        total, mass, before = keep * total + weight * W, keep * mass + weight, Theta
    assert_close(model.coef_, (total / mass)[:, :-1])
    assert_close(model.intercept_, root * (total / mass)[:, -1])
    assert model.n_updates_ == steps > 5


@each_kind
@pytest.mark.parametrize("average", ["linear", "uniform", 7.5])
@pytest.mark.parametrize("q", [2.7, None, 9.3])
def test_sets_of_labels_round_by_round(q, average, kind):
    X, _ = data(n=50)
    sets = (X @ np.random.default_rng(1).standard_normal((X.shape[1], 5)) > 0).astype(int)
    settings = {"norm": kind[0](q=q), "average": average}
    for loss in ("hamming", "f1"):
        for update in (Adaptive(), PerceptronUpdate(), LossAugmented(eta="theory")):
            replay(
                PredtronMultilabelClassifier(loss=loss, update=update, **settings),
                X,
                sets,
                average,
                plain_norm(kind, q, X.shape[1]),
            )


def ranking_reference(kind, q, X, y, loss, update, weight, n_labels=None, intercept="auto"):
    first = warm_up(update)
    settings = {"n_labels": n_labels, "intercept": intercept, "kappa": 0.3 if n_labels is None else 1.0}
    settings["norm"] = plain_norm(kind, q, X[0].shape[-1])
    parts = LOSSES[loss][1], REPRESENTATIONS["log"][1], X[0].shape[-1], first.alias, first.get_params()
    reference = RankingReference(*parts, **settings)
    reference.learn(X[:WARM], y[:WARM], weight[:WARM])
    if first is not update:
        reference.change(update.alias, update.get_params())
    reference.learn(X[WARM:], y[WARM:], weight[WARM:])
    assert reference.n_updates > 3
    return reference


RANKING = list(two_losses_each(BY_COMPETITOR + PAIRWISE))


@pytest.mark.parametrize("number", range(len(RANKING)), ids=lambda i: f"{name(RANKING[i][0])}-{RANKING[i][1]}")
def test_rankers_of_documents(number):
    """A step along X^T Delta, in the q-norm; l1 and group are one there."""
    (update, loss), q, kind = RANKING[number], QS[number % 4], KINDS[number // 4 % 2]
    X, y = make_queries(LOSSES[loss][2])
    weight = row_weights(len(X)) if number % 3 == 0 else np.ones(len(X))
    reference = ranking_reference(kind, q, X, y, loss, update, weight)
    for i, average in enumerate(AVERAGES):
        model = PredtronRanker(update=update, loss=LOSSES[loss][0], norm=kind[0](q=q), average=average)
        warmed(model, X, y, weight, FORMS[(i + number) % 4])
        assert_rankers_agree(model, reference, average)


BY_LABELS = list(two_losses_each(BY_COMPETITOR + PAIRWISE + FOR_LABELS))


@pytest.mark.parametrize("number", range(len(BY_LABELS)), ids=lambda i: f"{name(BY_LABELS[i][0])}-{BY_LABELS[i][1]}")
def test_rankers_of_labels(number):
    (update, loss), q, kind = BY_LABELS[number], QS[number % 4], KINDS[number // 4 % 2]
    intercept, weighted = INTERCEPTS[number // 8 % 4]
    X, y = make_labels(LOSSES[loss][2])
    weight = row_weights(len(X)) if weighted else np.ones(len(X))
    reference = ranking_reference(kind, q, X, y, loss, update, weight, y.shape[1], intercept)
    for i, average in enumerate(AVERAGES):
        settings = {"update": update, "loss": LOSSES[loss][0], "norm": kind[0](q=q), "average": average}
        model = PredtronLabelRanker(**settings, **intercept_settings(intercept))
        warmed_labels(model, layouts(X)[FORMS[(i + number) % 4]], y, weight)
        assert_rankers_agree(model, reference, average)


def test_the_radius_of_queries():
    """Slam's theory asks for the largest length of a row, for its directions have a 1-norm."""
    X, y = make_queries((0, 1, 2, 3.5))
    q, qid = 5.0, np.repeat(np.arange(len(X)), [len(x) for x in X])
    model = PredtronRanker(update=Slam(eta="theory"), norm=PNorm(q=q)).partial_fit(np.vstack(X), np.concatenate(y), qid=qid)
    expected = (q - 1) * max(plain_norms.PNorm(q).length(row) for row in np.vstack(X)) ** 2
    assert model._model.learner.weights.radius2 == pytest.approx(expected, rel=1e-12)


# ----------------------------------------------------------------------------------------------------- states and streams


@pytest.mark.parametrize(
    ("update", "form", "average", "kind"),
    pairwise(
        [Subgradient(alpha=0.1, eta=0.5), Adaptive(), PerceptronUpdate()],
        ["dense float64", "csr float32 int64"],
        AVERAGES,
        KINDS,
    ),
)
def test_pickles_copies_and_splits_go_on(update, form, average, kind, tmp_path):
    X, y = data(n=400)
    rows = layouts(X)[form]
    whole = make(kind, 13, update, average).partial_fit(rows, y, classes=range(4))

    def mapped(model):
        joblib.dump(model, tmp_path / "model")
        return joblib.load(tmp_path / "model", mmap_mode="r")

    for again in (copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model)), mapped):
        model = make(kind, 13, update, average).partial_fit(rows[:130], y[:130], classes=range(4))
        other = again(model)
        assert state(other) == state(model)
        assert np.array_equal(other.decision_function(rows), model.decision_function(rows))
        for i in range(130, 400, 17):
            other.partial_fit(rows[i : i + 17], y[i : i + 17])
        assert state(other) == state(whole)
        assert np.array_equal(other.decision_function(rows), whole.decision_function(rows))


@each_kind
@each_average
def test_dense_and_sparse_rows_may_alternate(average, kind):
    X, y = data(n=120)
    reference = reference_for(kind, 9.3, Adaptive(), OneHot(), ZeroOne(), 4, X.shape[1]).learn(X, y)
    for start in range(4):
        model = make(kind, 9.3, Adaptive(), average)
        for i in range(0, 120, 10):
            rows = layouts(X)[FORMS[(start + i // 10) % 4]][i : i + 10]
            model.partial_fit(rows, y[i : i + 10], **({} if i else {"classes": range(4)}))
        assert_agrees(model, reference, average)


@each_kind
def test_average_stopped_and_started_in_mid_stream(kind):
    X, y = data(n=90)
    shares = {"uniform": np.ones(30), "linear": np.arange(61.0, 91), 7.5: 0.5 ** (np.arange(29, -1, -1) / 7.5)}
    for average, share in shares.items():
        model = make(kind, 9.3).partial_fit(X[:30], y[:30], classes=range(4))
        model.set_params(average=False).partial_fit(X[30:60], y[30:60])
        assert np.array_equal(model.coef_, model.last_coef_)
        model = pickle.loads(pickle.dumps(model))
        model.set_params(average=average).partial_fit(X[60:], y[60:])
        reference = reference_for(kind, 9.3, Adaptive(), OneHot(), ZeroOne(), 4, X.shape[1]).learn(X, y)
        assert_close(model.last_coef_, reference.W)
        assert_close(model.coef_, np.average([W for _, W, _ in reference.iterates[60:]], axis=0, weights=share))


@each_kind
@each_average
def test_weights_shrunk_to_zero(average, kind):
    """The penalty undoes all weights; the sum of the iterates stays."""
    X, y = data(n=40)
    alpha, eta = 0.5, 2.0
    model = make(kind, 5, PerceptronUpdate(), average).partial_fit(X[:20], y[:20], classes=range(4))
    learner = model._model.learner
    model._model.learner = learner.with_parts(
        learner.problem, core.SubgradientRule(alpha, eta), learner.average if learner.weights.averaging else None, None
    )
    model._model.learner.learn(dense_rows(X[20:]), Codes(y[20:].astype(np.intp)))
    reference = reference_for(kind, 5, PerceptronUpdate(), OneHot(), ZeroOne(), 4, X.shape[1]).learn(X[:20], y[:20])
    reference.rule, reference.parameters.alpha, reference.parameters.eta = "subgradient", alpha, eta
    assert_agrees(model, reference.learn(X[20:], y[20:]), average)


@each_kind
def test_warm_start_goes_on_with_dual_weights_and_average(kind):
    X, y = data(n=60)
    settings = {"shuffle": False, "max_iter": 1}
    model = make(kind, 9.3, warm_start=True, **settings).fit(X, y).fit(X, y)
    assert state(model) == state(make(kind, 9.3, **settings).partial_fit(X, y, classes=range(4)).partial_fit(X, y))
    assert model.t_ == 120
    assert state(clone(model).set_params(warm_start=False).fit(X, y)) == state(make(kind, 9.3, **settings).fit(X, y))


@each_kind
def test_threads_may_predict_together(kind):
    X, y = data(n=600)
    for average in ("linear", False):
        model = make(kind, None, Adaptive(), average).partial_fit(X, y, classes=range(4))
        alone = model.decision_function(X)
        with ThreadPoolExecutor(4) as pool:
            assert all(np.array_equal(alone, scores) for scores in pool.map(model.decision_function, [X] * 8))


# ------------------------------------------------------------------------------------------------------------- parameters


@each_kind
@pytest.mark.parametrize("q", [1.9, 0, -1, np.nan, np.inf, "4", True])
def test_exponents_that_are_none(q, kind):
    X, y = data(n=20)
    for call in (lambda model: model.fit(X, y), lambda model: model.partial_fit(X, y, classes=range(4))):
        model = make(kind, q)
        with pytest.raises(ValueError, match=f"The 'q' parameter of {kind[0].__name__} must be"):
            call(model)
        assert not model.__sklearn_is_fitted__()


@each_kind
def test_the_exponent_cannot_change_in_mid_stream(kind):
    X, y = data(n=20)
    model = make(kind, 3.0).partial_fit(X, y, classes=range(4))
    with pytest.raises(ValueError, match="norm cannot change"):
        model.set_params(norm__q=4.0).partial_fit(X, y)
    assert clone(model).norm.q == 4.0
    assert model.fit(X, y)._model.learner.weights.q == 4.0


@each_kind
def test_the_exponent_of_the_package(kind):
    for p, q in {1: 2, 2: 2, 7: 2, 8: 4, 100: 8, 1000: 12}.items():
        model = make(kind, "theory").partial_fit(np.ones((3, p)), [0, 1, 2], classes=range(3))
        assert model._model.learner.weights.q == q


def test_the_factor_of_the_bound():
    """(q - 1) p^(2 / q) is no larger than at 2 ln p, and close to what any even exponent can do."""

    def factor(q, p):
        return (q - 1) * p ** (2 / q)

    for p in [*range(3, 3000), *np.geomspace(3000, 1e6, 2000).astype(int)]:
        found = factor(PNorm("theory")._exponent(p), p)
        assert found <= factor(max(2, 2 * np.log(p)), p)
        assert found <= 1.07 * factor(np.arange(2, 40, 2), p).min()


@each_kind
def test_the_exponent_in_a_grid(kind):
    X, y = data(n=60)
    search = GridSearchCV(make(kind, None, random_state=0), {"norm__q": [2, 5.0, "theory", None]}, cv=2).fit(X, y)
    assert search.best_params_["norm__q"] in (2, 5.0, "theory", None)
    found = {repr(model.norm) for model in (search.best_estimator_, clone(search.best_estimator_))}
    assert len(found) == 1


@each_kind
def test_ordinal_thresholds_beside_one_direction(kind):
    X, y = data(n=60)
    model = PredtronOrdinalClassifier(norm=kind[0](q=9.3), representation="shared", random_state=0).fit(X, y)
    assert (np.diff(model.intercept_) <= 0).all()
    assert model.score(X, y) > 0.5
