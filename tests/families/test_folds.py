"""Folds that choose: what each learner learns and is judged by, what the mean of them is, and what becomes of it."""

import pickle
import re
from itertools import pairwise

import numpy as np
import pytest
from cases import EachEpoch, needs_callbacks
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron.callbacks import EarlyStopping, LossHistory
from sklearn_predtron.families.training import plan, runs
from sklearn_predtron.families.training.plan import Shape, default_shape
from sklearn_predtron.families.training.runs import epochs_of
from sklearn_predtron.norms import RKHS

RANDOM = np.random.default_rng(0)
N = 120
X = RANDOM.standard_normal((N, 4))
SCORES = X @ RANDOM.standard_normal((4, 3)) + RANDOM.standard_normal((N, 3))
Y = SCORES.argmax(axis=1)
TWO = (SCORES[:, 0] > 0).astype(int)
IDS = np.repeat(np.arange(N // 4), 4)
FAMILIES = {
    "two": (PredtronBinaryClassifier, TWO, {}),
    "costs": (PredtronBinaryClassifier, TWO, {"loss": [[0, 1], [5, 0]]}),
    "reject": (PredtronClassifier, Y, {"reject": 0.2}),
    "cut": (PredtronBinaryClassifier, TWO, {"decision": "f1"}),
    "classes": (PredtronClassifier, Y, {}),
    "ranks": (PredtronOrdinalClassifier, Y, {"loss": "squared"}),
    "sets": (PredtronMultilabelClassifier, (SCORES > 0.3).astype(int), {}),
    "f1": (PredtronMultilabelClassifier, (SCORES > 0.3).astype(int), {"loss": "f1"}),
    "lists": (PredtronLabelRanker, SCORES.argsort(axis=1).argsort(axis=1), {"cv": None}),
}
BLOCKS = {
    "queries": (PredtronRanker, Y, {"cv": None}, "qid"),
    "sequences": (PredtronSequenceTagger, Y, {"cv": None, "intercept_scaling": 1.0, "transition_scaling": 1.0}, "sid"),
}
families = pytest.mark.parametrize("name", FAMILIES)


def made(name, **parameters):
    kind, _, own = FAMILIES[name]
    return kind(random_state=0, **{**own, **parameters})


def fitted(name, **parameters):
    return made(name, **parameters).fit(X, FAMILIES[name][1])


def states(model):
    return pickle.dumps(model.__getstate__())


# -------------------------------------------------------------------------------------------------------------- the mean


@families
@pytest.mark.parametrize("average", [None, False])
def test_the_mean_is_that_of_learners_without_a_fold(name, average, monkeypatch):
    found, one = [], {"representation": "thermometer"} if name == "ranks" else {}
    mean_of = runs.TrainingRun.mean
    monkeypatch.setattr(runs.TrainingRun, "mean", lambda *given: found.append((given[-1], mean_of(*given))) or found[-1][1])
    model = fitted(name, norm="l2", average=average, max_iter=3, **one)
    [(models, mean)] = found
    learners = [model.learner for model in models]
    assert len(learners) == 5 and model.t_ == sum(learner.t for learner in learners)
    coefs, offsets = zip(*(learner.read(lambda weights: weights.mean()) for learner in learners), strict=True)
    sizes = [learner.t for learner in learners]
    assert_allclose(model.coef_, np.average(coefs, axis=0, weights=sizes), atol=2e-3 * np.abs(model.coef_).max())
    assert_allclose(mean.read(lambda weights: weights.mean()[1]), np.average(offsets, axis=0, weights=sizes), atol=0.05)
    assert model.n_updates_ == sum(learner.n_updates for learner in learners)
    assert model.cumulative_loss_ == pytest.approx(sum(learner.cumulative_loss for learner in learners))


def test_each_learner_learns_the_other_folds_in_the_given_order():
    model = PredtronClassifier(cv=KFold(4), shuffle=False, norm="l2", max_iter=2, average=False).fit(X, Y)
    parts = []
    for train, _ in KFold(4).split(X):
        alone = PredtronClassifier(cv=0, shuffle=False, norm="l2", max_iter=2, average=False, decision="learned")
        parts.append(alone.fit(X[train], Y[train]))
    assert_allclose(model.coef_, np.mean([part.coef_ for part in parts], axis=0), rtol=1e-12, atol=1e-15)
    assert_allclose(model.intercept_, np.mean([part.intercept_ for part in parts], axis=0), rtol=1e-12, atol=1e-15)
    for count in ["t_", "n_updates_", "n_mistakes_"]:
        assert getattr(model, count) == sum(getattr(part, count) for part in parts), count
    assert_allclose(model.loss_curve_, np.mean([part.loss_curve_ for part in parts], axis=0))


def test_rows_are_judged_by_the_learner_that_has_not_seen_them():
    model = PredtronBinaryClassifier(cv=KFold(3), shuffle=False, norm="l2", max_iter=2).fit(X, TWO)
    scores = np.empty(N)
    for train, test in KFold(3).split(X):
        alone = PredtronBinaryClassifier(cv=0, shuffle=False, norm="l2", max_iter=2, decision="learned").fit(X[train], TWO[train])
        scores[test] = alone.decision_function(X[test])
    observer = model._model.learner.observer
    assert_allclose(observer.rows()[0][:, 0], scores, rtol=1e-6)  # the folds are in their order
    probabilities = model._model.of_unseen_rows(model._model.decision_of(model._decision).calibration.map)
    assert list(model.held_out_loss_) == [2]
    assert model.held_out_loss_[2] == pytest.approx(log_loss(TWO, probabilities.probabilities(scores[:, None])[:, 0]), rel=1e-6)


def test_rows_that_only_memory_could_tell_are_no_better_than_chance():
    random = np.random.default_rng(1)
    rows, labels = random.standard_normal((60, 200)), random.permutation(np.repeat([0, 1], 30))
    model = PredtronBinaryClassifier(random_state=0).fit(rows, labels)
    assert model.score(rows, labels) == 1 and min(model.held_out_loss_.values()) > 0.6


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_are_held_out_whole_and_judged_by_their_own_loss(name):
    kind, y, own, ids = BLOCKS[name]
    given = {"shuffle": False, "norm": "l2", "max_iter": 2, "average": False}
    model = kind(**{**own, "cv": KFold(3)}, **given).fit(X, y, **{ids: IDS})
    losses, coefs = [], []
    for train, test in KFold(3).split(np.arange(N // 4)):
        train, test = np.isin(IDS, train), np.isin(IDS, test)
        alone = kind(**{**own, "cv": 0}, **given).fit(X[train], y[train], **{ids: IDS[train]})
        losses.extend(alone.sample_loss(X[test], y[test], **{ids: IDS[test]}))
        coefs.append(alone.coef_)
    assert_allclose(model.coef_, np.mean(coefs, axis=0), rtol=1e-12, atol=1e-15)
    assert model.held_out_loss_[2] == pytest.approx(np.mean(losses))


def test_label_rankings_are_judged_by_their_own_loss():
    y = FAMILIES["lists"][1]
    model = PredtronLabelRanker(cv=KFold(3), shuffle=False, norm="l2", max_iter=2).fit(X, y)
    losses = []
    for train, test in KFold(3).split(X):
        alone = PredtronLabelRanker(shuffle=False, norm="l2", max_iter=2).fit(X[train], y[train])
        losses.extend(alone.sample_loss(X[test], y[test]))
    assert model.held_out_loss_[2] == pytest.approx(np.mean(losses))


# --------------------------------------------------------------------------------------------------------------- the looks


@families
def test_training_ends_when_the_held_out_losses_hardly_fall(name, monkeypatch):
    """Training goes on while the mean ratio of the log loss and of the own loss to the best so far falls by 2 %.

    The own loss counts only if it differs by more than a standard error.
    """
    checkpoints, evaluate = [], runs.TrainingRun.evaluate
    monkeypatch.setattr(runs.TrainingRun, "evaluate", lambda *given: checkpoints.append(evaluate(*given)) or checkpoints[-1])
    one = {"representation": "thermometer"} if name == "ranks" else {}  # one candidate
    model = fitted(name, **one)
    marks = list(model.held_out_loss_)
    planned = list(default_shape("rankings" if name == "lists" else "rows", N).evaluate_after)
    assert marks == planned[: len(marks)] or marks[:-1] == planned[: len(marks) - 1]
    best, ratios = checkpoints[0], []
    for checkpoint in checkpoints[1:]:
        ours, theirs = checkpoint.score, best.score
        terms = [ours.loss / theirs.loss]
        if ours.own is not None:
            losses, before = ours.own.losses, theirs.own.losses
            same = abs(np.mean(losses - before)) <= np.std(losses - before) / len(losses) ** 0.5
            terms.append(1.0 if same else (losses.sum() + 1) / (before.sum() + 1))
        ratios.append(np.mean(terms))
        best = checkpoint if ratios[-1] < 1 else best
    assert all(ratio <= 0.98 for ratio in ratios[:-1]) and model.n_iter_ == best.epochs
    assert ratios[-1] > 0.98 or marks[-1] == 100 or not any(one.updated for one in checkpoints[-1].models)
    assert len(model.loss_curve_) == model.n_iter_
    assert model.t_ == (N * 4) * model.n_iter_
    fixed = fitted(name, max_iter=model.n_iter_, cv=5, **one)
    assert_array_equal(fixed.coef_, model.coef_)


def test_epochs_that_were_given_are_learned():
    model = fitted("classes", max_iter=7)
    assert model.n_iter_ == 7 and list(model.held_out_loss_) == [7] and len(model.loss_curve_) == 7


def test_all_stop_together_by_their_mean_progressive_loss():
    model = fitted("classes", tol=1.0)  # which nothing is better by
    assert model.n_iter_ in (3, 5, 6) and max(model.held_out_loss_) <= 6


def test_rows_that_are_learned_by_heart_end_it():
    rows = np.vstack([X + 10, X - 10])
    model = PredtronBinaryClassifier(random_state=0, update="perceptron", norm="l2").fit(rows, np.repeat([0, 1], N))
    assert model.n_iter_ == 3 and len(model.held_out_loss_) <= 2


# ----------------------------------------------------------------------------------------------------------- large data sets


SIZES = [1, 2, 5, 6, 19, 20, 100, 1000, 1001, 1334, 2000, 2001, 2999, 3001, 5000, 10_000, 10_001, 20_001, 10**5, 10**6, 10**7]


def cost(kind, n):
    """The epochs of rows that a plan trains for at most, those of its final model among them."""
    n_models, evaluate_after, finish, n_folds = default_shape(kind, n)
    epochs = evaluate_after[-1] if evaluate_after else 10
    part = min(5000, n // 5) if n_models == 1 else n / (n_folds or n_models) if n_models else 0
    trained = max(n_models, 1) * epochs * (n - part)
    return trained + epochs * n * (finish == "refit" or (n_models > 0 and not evaluate_after))


@pytest.mark.parametrize("kind", ["rows", "sparse sets", "rankings", "tables", "sequences", "large", "single", "kernels"])
def test_the_cost_of_a_plan_grows_smoothly(kind):
    """No size costs more than about twice a slightly larger one, and none five times as much as one slightly smaller."""
    sizes = np.unique(np.geomspace(20, 10**7, 4000).astype(int))
    costs = np.array([cost(kind, int(n)) for n in sizes])
    assert (costs[:-1] / costs[1:]).max() < 2.1
    assert (costs[1:] / costs[:-1]).max() < 1.5


def test_plans_of_all_sizes():
    for kind in ("rows", "sparse sets", "rankings", "tables", "sequences", "large"):
        for n in SIZES:
            shape = default_shape(kind, n)
            assert (shape == Shape(0)) == (n < (6 if kind in ("rows", "sparse sets") else 20))
            assert all(before < after for before, after in pairwise(shape.evaluate_after))
    assert default_shape("rows", 500) == Shape(5, (3, 10, 31, 100), "average")
    assert default_shape("rows", 12_000) == Shape(5, (1, 3, 10, 31, 50), "average")
    assert default_shape("rows", 10**6) == Shape(2, (1, 3, 5), "average")
    assert default_shape("tables", 20_000) == Shape(1, (1, 3, 10, 31), "refit")
    assert default_shape("sequences", 50) == Shape(1, (10, 25), "refit")
    assert default_shape("single", 15_000) == Shape(2) and default_shape("single", 25_000) == Shape(1)


@pytest.mark.parametrize("name", ["two", "costs", "classes", "ranks", "sets", "reject"])
def test_large_models_are_chosen_by_a_split_and_trained_on_all_rows(name, monkeypatch):
    monkeypatch.setattr(plan, "MOST_WEIGHTS", 3)
    models, train = [], runs.FoldModel.train
    monkeypatch.setattr(runs.FoldModel, "train", lambda model, epochs: models.append(model) or train(model, epochs))
    model = fitted(name, norm="l2")
    [one] = set(models)
    assert len(one.rows) == 24 and model.t_ == N * model.n_iter_ and set(model.held_out_loss_) <= {1, 3, 10}
    draw = runs.Epochs.draw
    monkeypatch.setattr(runs.Epochs, "draw", lambda rounds, **how: draw(rounds))  # nothing is observed where rows are held out
    alone = made(name, norm="l2", cv=0, max_iter=model.n_iter_).fit(X, FAMILIES[name][1])
    assert_array_equal(model.coef_, alone.coef_)
    assert model.predict_proba(X).shape[0] == N
    moved = X.copy()
    moved[one.rows] += 1  # which only the final model is trained on
    other = made(name, norm="l2").fit(moved, FAMILIES[name][1])
    first = min(model.held_out_loss_)
    assert other.held_out_loss_[first] != model.held_out_loss_[first] and (other.coef_ != model.coef_).any()


@pytest.mark.parametrize("parameters", [{"average": "auto"}, {"norm": RKHS()}], ids=["average", "kernel"])
@pytest.mark.parametrize("n_models", [1, 2])
def test_probabilities_are_by_models_without_the_rows_that_they_are_fitted_to(parameters, n_models, monkeypatch):
    """All rows train the final model; the labels are random, and what it memorised is not believed."""
    monkeypatch.setattr(plan, "default_shape", lambda kind, n: Shape(n_models))
    rows, labels = np.random.default_rng(1).standard_normal((N, 100)), np.random.default_rng(2).permutation(np.arange(N) % 2)
    model = PredtronBinaryClassifier(max_iter=5, random_state=0, **parameters).fit(rows, labels)
    assert model.t_ == 5 * N and model._model.learner.observer.recorded == (24 if n_models == 1 else N)
    others = np.random.default_rng(3).standard_normal((1000, 100))
    assert 0.65 < log_loss(np.arange(1000) % 2, model.predict_proba(others)) < 0.75


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_row_among_those_that_are_held_out_undoes_the_fit(bad):
    model = made("two", average="auto").fit(X, TWO)
    before = states(model)
    for i in range(0, N, 7):
        rows = X.copy()
        rows[i, 1] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            model.fit(rows, TWO)
        assert states(model) == before


def test_one_model_has_a_bound(monkeypatch):
    monkeypatch.setattr(plan, "MOST_WEIGHTS", 3)
    model = PredtronClassifier(norm="l2", update="perceptron", intercept_scaling=1, random_state=0).fit(X, Y)
    assert model.loss_bound(margin=1, radius=5) > 0


# -------------------------------------------------------------------------------------------------------------- what is refused


def test_a_callback_that_chooses_epochs_is_no_company_for_folds():
    stopping = EarlyStopping((X[:20], Y[:20]))
    with pytest.raises(ValueError, match="a callback that chooses the epochs"):
        PredtronClassifier(cv=3).set_callbacks(stopping).fit(X, Y)
    model = PredtronClassifier(random_state=0).set_callbacks(stopping).fit(X, Y)
    assert not hasattr(model, "held_out_loss_") and model.best_iter_ <= model.n_iter_


def test_bounds_ask_for_one_learner():
    model = PredtronClassifier(norm="l2", intercept_scaling=1, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"mean of fold models.*cv=0"):
        model.loss_bound(margin=1, radius=5)
    model.partial_fit(X[:3], Y[:3])
    with pytest.raises(ValueError, match=r"mean of fold models.*cv=0"):
        model.loss_bound(margin=1, radius=5)
    assert clone(model).set_params(cv=0).fit(X, Y).loss_bound(margin=1, radius=5) > 0


# ------------------------------------------------------------------------------------------------------------- what it is by none


def test_none_of_it_is_one_learner():
    given = {"random_state": 0, "decision": "learned"}
    model, other = PredtronClassifier(cv=0, **given).fit(X, Y), PredtronClassifier(**given).fit(X, Y)
    assert_array_equal(model.coef_, other.coef_)
    assert model.t_ == other.t_ == 10 * N and not hasattr(model, "held_out_loss_")
    assert_array_equal(PredtronClassifier(cv=0, random_state=0).fit(X, Y).coef_, model.coef_)


def test_probabilities_after_several_epochs_of_one_learner_are_refused():
    model = PredtronClassifier(cv=0, random_state=0).fit(X, Y)
    with pytest.raises(AttributeError) as error:
        model.predict_proba(X)
    assert "cv=0" in str(error.value.__cause__)
    again = pickle.loads(pickle.dumps(model))
    assert not hasattr(again, "predict_proba")
    assert again.partial_fit(X[:9], Y[:9]).predict_proba(X).shape == (N, 3)
    assert PredtronClassifier(cv=0, max_iter=1, random_state=0).fit(X, Y).predict_proba(X).shape == (N, 3)


def test_the_bipartite_classifier_has_no_folds_that_choose():
    assert "cv" not in PredtronBipartiteClassifier().get_params()


# -------------------------------------------------------------------------------------------------------------- bits and streams


@pytest.mark.parametrize("name", ["lists", "sparse sets"])
def test_learners_side_by_side_have_labels_of_their_own(name, monkeypatch):
    """Labels that are read by way of scratch would be those of another learner's round."""
    seen = []
    monkeypatch.setattr(runs, "epochs_of", lambda view, batch, *how: seen.append(batch.labels) or epochs_of(view, batch, *how))
    if name == "lists":
        fitted(name)
    else:
        PredtronMultilabelClassifier(random_state=0).fit(X, csr_array(FAMILIES["sets"][1]))
    assert len({id(labels) for labels in seen}) == len(seen) >= 5


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_few_rows(n):
    model = PredtronClassifier(random_state=0).fit(X[:n], np.arange(n) % 2)
    assert model.predict(X).shape == (N,) and len(model.loss_curve_) == model.n_iter_


def test_a_class_of_one_row_has_a_place():
    y = np.where(np.arange(N) == 5, 7, TWO)
    model = PredtronClassifier(random_state=0).fit(X, y)
    assert model.predict_proba(X).shape == (N, 3) and model.predict_proba(X)[:, 2].max() < 0.5


def test_one_row_may_be_held_out_at_a_time():
    model = PredtronBinaryClassifier(cv=LeaveOneOut(), random_state=0, max_iter=1).fit(X[:12], TWO[:12])
    assert model.t_ == 12 * 11


def test_strata_are_those_of_classes():
    by_name = PredtronClassifier(cv=StratifiedKFold(3), shuffle=False, max_iter=1).fit(X, np.array(list("abc"))[Y])
    by_number = PredtronClassifier(cv=StratifiedKFold(3), shuffle=False, max_iter=1).fit(X, Y)
    assert_array_equal(by_name.coef_, by_number.coef_)


# ------------------------------------------------------------------------------------------------------------------ callbacks


def test_callbacks_see_the_mean_after_each_epoch():
    seen = []
    watcher = EachEpoch(lambda model: seen.append((model.n_iter_, model.t_, model.predict_proba(X))))
    model = PredtronClassifier(random_state=0).set_callbacks(watcher).fit(X, Y)
    assert [epoch for epoch, _, _ in seen] == list(range(1, len(seen) + 1)) and watcher.n_fits == 1
    assert len(seen) == max(model.held_out_loss_)
    assert [t for _, t, _ in seen] == [4 * N * epoch for epoch, _, _ in seen]
    for number in [1, 3]:
        alone = PredtronClassifier(random_state=0, max_iter=number, cv=5).fit(X, Y)
        assert_array_equal(seen[number - 1][2], alone.predict_proba(X))
    assert_array_equal(model.coef_, PredtronClassifier(random_state=0).fit(X, Y).coef_)


@pytest.mark.parametrize("made_of", [np.asarray, csr_array])
@pytest.mark.parametrize("norm", ["l2", "scaled", "l1", "group"])
def test_callbacks_that_evaluate_each_epoch_change_no_bit(norm, made_of):
    rows = made_of(np.where(np.abs(X) < 0.5, 0, X))
    model, seen = (PredtronClassifier(norm=norm, random_state=0) for _ in range(2))
    assert states(
        seen.set_callbacks(EachEpoch(lambda one: one.predict_proba(X).sum() < 0)).fit(rows, Y).set_callbacks()
    ) == states(model.set_callbacks().fit(rows, Y))


def test_a_callback_may_stop():
    model = PredtronClassifier(random_state=0).set_callbacks(EachEpoch(lambda model: model.n_iter_ == 5)).fit(X, Y)
    best = min(model.held_out_loss_, key=model.held_out_loss_.get)
    assert list(model.held_out_loss_) == [3, 5] and model.n_iter_ == best and len(model.loss_curve_) == best


def test_histories_end_where_the_model_does():
    history = LossHistory()
    model = PredtronClassifier(random_state=0).set_callbacks(history).fit(X, Y)
    rounds, losses = history.curve(model)
    assert len(rounds) == model.n_iter_ + 1 and (np.diff(rounds) == 4 * N).all()
    assert rounds[-1] == model.t_ and losses[-1] == model.cumulative_loss_ and (np.diff(losses) >= 0).all()
    model.partial_fit(X[:5], Y[:5])
    assert history.curve(model)[0][-1] == model.t_


def test_mixtures_have_no_folds():
    from sklearn_predtron.mixing import ParameterMixing

    with pytest.raises(ValueError, match=re.escape("cv=3: shards have one learner each")):
        ParameterMixing(PredtronClassifier(cv=3)).fit(X, Y)


# ------------------------------------------------------------------------------------------------- a choice among ways


def ordered(kind):
    """Return rows and orders of five labels: of one linear score each, or of a class's own."""
    rows, labels = make_classification(
        400, 10, n_informative=6, n_classes=4, n_clusters_per_class=1, class_sep=2.0, random_state=0
    )
    random = np.random.default_rng(0)
    latent = rows @ random.standard_normal((10, 5)) if kind == "scores" else 2 * random.standard_normal((4, 5))[labels]
    return rows, (latent + random.standard_normal((400, 5))).argsort(axis=1).argsort(axis=1)


def ranker(**parameters):
    return PredtronLabelRanker(**{"loss": "kendall_tau", "random_state": 0, **parameters})


@pytest.mark.parametrize(("kind", "expected"), [("scores", "log"), ("classes", "pairwise")])
@pytest.mark.parametrize("history", [pytest.param(True, marks=needs_callbacks), False])
def test_orders_of_labels_choose_between_scores_and_votes(kind, expected, history):
    """By the least own loss of rows that were held out; what is learned is that of the one chosen alone, to the last bit."""
    rows, y = ordered(kind)
    callbacks = [LossHistory()] if history else []
    alone = {one: ranker(representation=one).set_callbacks(*callbacks).fit(rows, y) for one in ("log", "pairwise")}
    least = {one: min(model.held_out_loss_.values()) for one, model in alone.items()}
    assert min(least, key=least.get) == expected
    model, other = ranker().set_callbacks(*callbacks).fit(rows, y), alone[expected]
    assert hasattr(model, "pairs_") == (expected == "pairwise")
    assert_array_equal(model.coef_, other.coef_)
    assert_array_equal(model.decision_function(rows), other.decision_function(rows))
    for attribute in ["held_out_loss_", "loss_curve_", "n_iter_", "t_", "n_mistakes_", "cumulative_loss_"]:
        assert getattr(model, attribute) == getattr(other, attribute), attribute
    for callback in callbacks:
        assert_array_equal(callback.curve(model), callback.curve(other))
    for way in (pickle.loads(pickle.dumps(model)), model):  # it goes on as what it is
        way.partial_fit(rows[:30], y[:30])
        assert_array_equal(way.coef_, alone[expected].__sklearn_clone__().fit(rows, y).partial_fit(rows[:30], y[:30]).coef_)
    model.set_params(warm_start=True).fit(rows, y)
    assert hasattr(model, "pairs_") == (expected == "pairwise")


@pytest.mark.parametrize(
    "parameters",
    [{"cv": 0}, {"update": "max_pair"}, {"loss": "ndcg"}, {"representation": "log"}, {"norm": "rkhs", "max_iter": 1}],
    ids=str,
)
def test_votes_are_not_tried_where_they_do_not_go_or_nothing_is_held_out(parameters):
    rows, y = ordered("classes")
    model = ranker(**parameters).fit(rows[:100], y[:100])
    assert not hasattr(model, "pairs_")
    assert model._model.problem.d == 5


def test_votes_are_not_tried_where_they_are_too_much(monkeypatch):
    rows, y = ordered("classes")
    monkeypatch.setattr(plan, "MOST_WEIGHTS", 99)
    model = ranker().fit(rows, y)
    assert model.held_out_loss_ and not hasattr(model, "pairs_")


def test_a_stream_has_a_score_for_each_label():
    rows, y = ordered("classes")
    stream, log = (ranker(**given).partial_fit(rows, y) for given in ({}, {"representation": "log"}))
    assert_array_equal(stream.coef_, log.coef_)
    with pytest.raises(ValueError, match="representation"):
        stream.set_params(representation="pairwise").partial_fit(rows, y)


@needs_callbacks
@pytest.mark.parametrize("after", [None, 2])
def test_callbacks_see_the_epochs_of_both_ways(after):
    rows, y = ordered("classes")

    class Counting(LossHistory):
        epochs, most = 0, 0

        def on_fit_task_begin(self, estimator, context, **given):
            super().on_fit_task_begin(estimator, context, **given)
            Counting.most = max(Counting.most, context.max_subtasks or 0)

        def on_fit_task_end(self, estimator, context, **given):
            Counting.epochs += context.task_name == "epoch"
            assert estimator.decision_function(rows).shape == (400, 5)
            return Counting.epochs == after

    model = ranker(max_iter=4).set_callbacks(Counting()).fit(rows, y)
    assert Counting.most == 8
    if after is None:
        assert Counting.epochs == 8 and hasattr(model, "pairs_") and model.n_iter_ == 4
    else:
        assert Counting.epochs == 2 and not hasattr(model, "pairs_") and model.n_iter_ == 2


class Interrupt(BaseException):
    """As Ctrl-C."""


@pytest.mark.parametrize("after", [1, 7])
def test_an_interrupt_leaves_the_best_checkpoint_or_nothing(after, monkeypatch):
    train, calls = runs.FoldModel.train, []

    def interrupted(model, epochs):
        calls.append(epochs)
        if len(calls) > after:
            raise Interrupt
        return train(model, epochs)

    monkeypatch.setattr(runs.FoldModel, "train", interrupted)
    model = PredtronClassifier(random_state=0)
    with pytest.raises(Interrupt):
        model.fit(X, Y)
    if after == 1:
        assert not hasattr(model, "coef_")
    else:
        monkeypatch.setattr(runs.FoldModel, "train", train)
        alone = PredtronClassifier(random_state=0, max_iter=3, cv=5).fit(X, Y)
        assert_array_equal(model.coef_, alone.coef_)
        assert_array_equal(model.predict_proba(X), alone.predict_proba(X))


def test_a_learner_that_began_with_next_to_nothing_has_no_say():
    random = np.random.default_rng(0)
    rows = random.standard_normal((2000, 1))
    labels = (random.random(2000) < 1 / (1 + np.exp(-2 * rows[:, 0]))).astype(int)
    far = 0
    for seed in range(30):
        given = {"norm": "scaled", "random_state": seed}
        model = PredtronBinaryClassifier(**given).fit(rows, labels)
        assert abs(model.coef_[0, 0]) < 10 and min(model.held_out_loss_.values()) < 0.5
        far += model.t_ < 4 * 2000 * model.n_iter_
    assert 0 < far < 20  # it happens to a learner of one feature
