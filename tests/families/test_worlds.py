"""What every loss, update, representation and norm of every family has, in all worlds of `tests/worlds.py`."""

import copy
import itertools
import pickle
import re

import joblib
import numpy as np
import pytest
from cases import assert_close, name, pairwise, state
from inside import predicting_scores
from numpy.testing import assert_array_equal
from reference.sets import FORMULAS
from sklearn.base import clone
from worlds import (
    AVERAGES,
    FORMS,
    NORMS,
    POSITIONS,
    RANKING_LOSSES,
    WORLDS,
    Classes,
    JointFeatures,
    Problems,
    Queries,
    Ranks,
    Setting,
    assert_agrees,
    in_form,
    kernel_of,
    settings,
)

from sklearn_predtron import updates
from sklearn_predtron._core.problem import Codes
from sklearn_predtron._core.rows import dense_rows
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.losses import RankingLoss, SubsetLoss
from sklearn_predtron.norms import RKHS, Norm
from sklearn_predtron.theory import radius
from sklearn_predtron.updates import Adaptive, LossAugmented, PerceptronUpdate, Subgradient, Update
from sklearn_predtron.updates._rules import SubgradientRule
from tests.own_checks import assert_same, scores_of

PARTS = ("world", "update", "loss", "representation", "norm", "offset")
KERNELS = ("linear", "rbf", "poly")
COMPUTED = [norm for norm in NORMS if not NORMS[norm].kernel]  # whose models have coefficients of features


def described(part):
    return part[:30] if isinstance(part, str) else name(part)[:30]


def test_every_part_has_a_line():
    """A new loss, update or norm has all properties of this file by its line in a table of `tests/worlds.py`."""
    assert {"auto", "rkhs"} | {norm.partition(" ")[0] for norm in NORMS} == {kind.alias for kind in kinds(Norm)} | set(KERNELS)
    assert {type(loss) for loss, _ in FORMULAS} >= set(kinds(SubsetLoss))
    assert {type(loss) for loss, _, _ in RANKING_LOSSES.values()} == set(kinds(RankingLoss))
    found = {update.alias for world in WORLDS for update in world.updates}
    assert found | {"prank"} == {kind.alias for kind in kinds(Update) if kind.__name__ in updates.__all__}


# ------------------------------------------------------------------------------------------------------ the plain learner


JOINT = [world for world in WORLDS if isinstance(world, JointFeatures)]
OF_ROWS = [world for world in WORLDS if world not in JOINT]


@pytest.mark.always(each="loss")
@pytest.mark.parametrize((*PARTS, "first"), settings(*OF_ROWS, extra=[range(len(FORMS))]), ids=described)
def test_iterates_and_averages(world, update, loss, representation, norm, offset, first):
    """Those of the plain learner, with every average, the rows in the forms in turn; and the scores are those of the weights."""
    setting = Setting(world, update, loss, representation, norm, offset)
    for i, average in enumerate(world.averages):
        form = FORMS[(first + i) % len(FORMS)]
        reference = setting.reference(form)
        assert reference.n_updates > 3
        if norm == "l2" and world.first_of(update, loss)[0] is not update:
            assert getattr(reference, "ahead", 1) > 1e-9  # no two competitors tie
        model = setting.learned(average, form)
        assert_agrees(model, reference, average, setting)
        if scores_of_rows(setting, model):
            assert_scores(model, setting.lesson.X, FORMS[(first + i) % 7])
            for size in () if norm == "linear kernel" else (1, 3, 31):
                parts = [
                    predicting_scores(model, rows)
                    for rows in np.split(setting.lesson.X, range(size, len(setting.lesson.X), size))
                ]
                assert_array_equal(np.concatenate(parts), predicting_scores(model, setting.lesson.X))


def scores_of_rows(setting, model):
    """Whether a model has scores of single rows by coefficients."""
    return setting.norm in COMPUTED and hasattr(model, "decision_function") and setting.lesson.ids != "sid"


def assert_scores(model, X, form=FORMS[0]):
    """The scores are those of the weights."""
    scores = predicting_scores(model, in_form(X, form))
    assert_close(scores, X @ np.broadcast_to(model.coef_, (scores.shape[1], X.shape[1])).T + model.intercept_)


@pytest.mark.always(each="update")
@pytest.mark.parametrize((*PARTS, "first"), settings(*JOINT, extra=[range(len(FORMS))]), ids=described)
def test_iterates_and_averages_of_joint_features(world, update, loss, representation, norm, offset, first):
    test_iterates_and_averages(world, update, loss, representation, norm, offset, first)


@pytest.mark.always(each="norm")
@pytest.mark.parametrize(
    ("p", "k", "representation", "update", "form", "norm"),
    pairwise(
        [1, 2, 3, 4, 7, 8, 20, 21, 67, 90],
        [2, 3, 5, 9, 18, 47, 70],
        ["OneHot()", "Simplex()", "Thermometer()", "SharedThermometer()", "Code"],
        [Adaptive(), Subgradient(alpha=0.05, eta=0.3)],
        FORMS,
        [norm for norm in COMPUTED if not norm.endswith(("q=13", "q=30"))],
    )
    + [(p, k, "OneHot()", Adaptive(), FORMS[0], f"{kind} q=None") for p, k in [(5, 300), (700, 3)] for kind in ("l1", "group")],
    ids=described,
)
def test_all_widths(p, k, representation, update, form, norm):
    """Every tail of the kernels, in scores and in features, and more entries than are taken at once."""
    world = Ranks(k, n=50, p=p)
    representation = next(alias for alias in world.representations if alias.startswith(representation))
    setting = Setting(world, update, "ZeroOne()", representation, norm)
    assert_agrees(setting.learned("linear", form), setting.reference(form), "linear", setting)


@pytest.mark.parametrize("p", [1, 3, 8, 21])
def test_all_widths_of_queries(p):
    """In documents and in features."""
    for loss in ("ndcg", "kendall"):
        world = Queries(p=p, lengths=(1, 2, 5, 7, 8, 9, 16))
        setting = Setting(world, Adaptive(), loss, "log", offset=(None, False))
        for form in FORMS:
            assert_agrees(setting.learned("linear", form), setting.reference(form), "linear", setting)


@pytest.mark.parametrize("loss", RANKING_LOSSES)
@pytest.mark.parametrize("representation", POSITIONS)
def test_long_lists(loss, representation):
    world = Queries(p=4, lengths=(8, 13, 20))
    for update in (Adaptive(), LossAugmented(eta=0.2), PerceptronUpdate()):
        setting = Setting(world, update, loss, representation, offset=(None, False))
        reference = setting.reference()
        assert reference.n_updates > 3
        assert_agrees(setting.learned(), reference, "linear", setting)


OF_RULES = [world for world in WORLDS if len(world.updates) > 1]


BEFORE = [PerceptronUpdate(), Adaptive(kappa=0.2), Subgradient(alpha=0.1)]
CHANGES = [
    case
    for case in settings(*OF_RULES, extra=[AVERAGES[:3], BEFORE], every=3)
    if case[1].get_params().get("eta") != "theory"  # which follows the radius of the rounds that it has learned
]


@pytest.mark.always(each="update")
@pytest.mark.parametrize((*PARTS, "average", "before"), CHANGES, ids=described)
def test_update_and_average_that_change_in_mid_stream(world, update, loss, representation, norm, offset, average, before):
    """An average is of the iterates since it was switched on; another rule begins without what the one before has learned."""
    setting = Setting(world, update, loss, representation, norm, offset)
    first, first_loss = world.first_of(update, loss)
    n = len(setting.lesson)
    begin, again = world.warm or n // 3, n // 2 + 1
    model, reference = setting.estimator("uniform"), setting.plain()
    if first_loss != loss:
        model.set_params(loss=world.losses[first_loss])
    setting.lesson.teach(model.set_params(update=first), 0, begin, weight=setting.weight)
    setting.teach(reference, 0, begin)
    if first_loss != loss:
        model.set_params(loss=world.losses[loss])
    setting.lesson.teach(model.set_params(update=before, average=False), begin, again, weight=setting.weight)
    world.change(reference, Setting(world, before, loss, representation, norm, offset))
    setting.teach(reference, begin, again)
    assert_agrees(model, reference, False, setting)
    setting.lesson.teach(model.set_params(update=update, average=average), again, weight=setting.weight)
    reference.change(update.alias, update.get_params()).since = reference.t
    setting.teach(reference, again, None)
    assert_agrees(model, reference, average, setting)


# --------------------------------------------------------------------------------------------------------------- streams


def mapped(model, path):
    joblib.dump(model, path / "model")
    return joblib.load(path / "model", mmap_mode="r")


WAYS = [lambda model, path: copy.deepcopy(model), lambda model, path: pickle.loads(pickle.dumps(model)), mapped]


@pytest.mark.always(each="norm")
@pytest.mark.parametrize(
    (*PARTS, "average", "form"), settings(*WORLDS, extra=[[*AVERAGES, None], FORMS[:7]], every=3), ids=described
)
def test_splits_copies_and_files_go_on(world, update, loss, representation, norm, offset, average, form, tmp_path):
    """To the last bit; with a kernel up to rounding."""
    setting = Setting(world, update, loss, representation, norm, offset)
    (lesson, weight), average = setting.later, average if average in [*world.averages, None] else world.averages[0]
    lesson, weight = lesson.repeated(3), None if weight is None else np.tile(weight, 3)
    whole = lesson.teach(setting.estimator(average), form=form, weight=weight)
    model, start = setting.estimator(average), 0
    for size, way in zip(itertools.cycle([1, 1, 13, 2, 31]), itertools.cycle([*WAYS, lambda model, path: model])):
        if start >= len(lesson):
            break
        lesson.teach(model, start, min(start + size, len(lesson)), form, weight)
        other, start = way(model, tmp_path), start + size
        if scores_of_rows(setting, model):
            assert_scores(model, lesson.X)
        assert_array_equal(scores_of(other, lesson.X), scores_of(model, lesson.X))
        model = other
    if isinstance(world, JointFeatures):  # in whose state a user's object may share its parts with others
        assert state(model) == state(whole)
    else:
        assert_same(model, whole, "parts, and one call")


IN_ORDER = [norm for norm in COMPUTED if norm not in ("scaled", "linear kernel")]  # whose fit knows no more than a stream


@pytest.mark.always(each="norm")
@pytest.mark.parametrize((*PARTS, "average"), settings(*WORLDS, extra=[AVERAGES], every=3), ids=described)
def test_a_fit_in_order_is_a_stream_or_warm_starts_and_rounds_of_weight_zero_are_absent(
    world, update, loss, representation, norm, offset, average
):
    setting = Setting(world, update, loss, representation, norm, offset)
    (lesson, weight), average = setting.later, average if average in world.averages else world.averages[0]
    settings = {"shuffle": False, "max_iter": 3, "random_state": 0}
    estimator = setting.estimator(average, **settings)
    if "cv" in estimator.get_params():
        estimator.set_params(cv=0)
    fitted = lesson.call(clone(estimator).fit, weight=weight)
    if norm in IN_ORDER:
        model = clone(estimator)
        for _ in range(fitted.n_iter_):
            lesson.teach(model, weight=weight)
        assert state(fitted) == state(model)
        warm = clone(estimator).set_params(warm_start=True, max_iter=1)
        for _ in range(fitted.n_iter_):
            lesson.call(warm.fit, weight=weight)
        assert state(fitted) == state(warm)
    if weight is not None:
        left = lesson.only(weight > 0)
        for shuffle in (False, True):
            one = estimator.set_params(shuffle=shuffle)
            given = lesson.call(clone(one).fit, weight=weight), left.call(clone(one).fit, weight=weight[weight > 0])
            assert_same(*given, "rounds of weight zero, or none")


# ------------------------------------------------------------------------------------------ large and vanishing numbers

OF_KINDS = ["l2", "l1 q=2.7", "group q=2.7", "trace q=3"]
FAST = Classes(k=3, n=3000, p=3, share=1)


@pytest.mark.always("l2-Subgradient(alpha=0.1, eta=0.5")
@pytest.mark.parametrize(
    ("norm", "update"),
    pairwise(OF_KINDS, [Subgradient(alpha=0.1, eta=0.5), Subgradient(alpha=0.01), Subgradient(alpha=0.01, eta=1.0), Adaptive()]),
    ids=described,
)
def test_scales_are_multiplied_out(norm, update):
    """0.95**3000 = 1e-67, and 0.5**3000 is no floating-point number."""
    setting = Setting(FAST, update, "ZeroOne()", "OneHot()", norm, (1.0, False))
    reference = setting.reference()
    for average in ("linear", "uniform", 2.0, 300.0, False):
        model = setting.learned(average)
        for found, expected in zip((model.coef_, model.intercept_), reference.mean(average), strict=True):
            assert_close(found, expected, 1e-7)
        assert (model.n_mistakes_, model.n_updates_) == (reference.n_mistakes, reference.n_updates)


@pytest.mark.parametrize("norm", OF_KINDS)
@pytest.mark.parametrize("scale", [1e-138, 1e-20, 1e20, 1e138])
def test_inputs_of_extreme_size(scale, norm):
    setting = Setting(WORLDS[0], Adaptive(), "ZeroOne()", "OneHot()", norm)
    X, y = setting.lesson.X, setting.lesson.y
    models = [setting.estimator().partial_fit(X * s, y, classes=np.arange(4)) for s in (1.0, scale)]
    assert_close(models[1].coef_ * scale, models[0].coef_, 1e-7)
    assert_close(models[1].intercept_, models[0].intercept_, 1e-7)
    assert_array_equal(models[1].predict(X * scale), models[0].predict(X))


@pytest.mark.parametrize("norm", OF_KINDS)
@pytest.mark.parametrize("average", AVERAGES)
def test_weights_shrunk_to_zero(average, norm):
    """The penalty undoes all weights; the sum of the iterates stays."""
    setting = Setting(WORLDS[0], PerceptronUpdate(), "ZeroOne()", "OneHot()", norm)
    model, reference = setting.lesson.teach(setting.estimator(average), 0, 20), setting.plain()
    setting.teach(reference, 0, 20)
    alpha, eta = 0.5, 2.0
    learner = model._model.learner
    kept = learner.average if learner.weights.averaging else None
    model._model.learner = learner.with_parts(learner.problem, SubgradientRule(alpha, eta), kept, None)
    model._model.learner.learn(dense_rows(setting.lesson.X[20:]), Codes(setting.lesson.y[20:].astype(np.intp)))
    reference.change("subgradient", {"alpha": alpha, "eta": eta})
    setting.teach(reference, 20, None)
    assert_agrees(model, reference, average, setting)


@pytest.mark.parametrize("norm", OF_KINDS)
@pytest.mark.parametrize("average", ["linear", False])
def test_numbers_that_overflow_are_told(average, norm):
    setting = Setting(WORLDS[0], PerceptronUpdate(eta=1e200), "ZeroOne()", "OneHot()", norm, (None, False))
    with pytest.raises(ValueError, match="the step overflows"):
        setting.estimator(average).partial_fit(setting.lesson.X * 1e100, setting.lesson.y, classes=np.arange(4))


# ---------------------------------------------------------------------------------------------------------------- bounds

OF_MARGINS = [world for world in WORLDS if hasattr(world, "m") and not isinstance(world, Problems)]
BOUNDED = [case for case in settings(*OF_MARGINS) if case[4] not in ("scaled", "poly", "trace q=30")]


def largest_length(model, lesson, norm, intercept):
    """R, with the intercept's feature."""
    if not isinstance(NORMS[norm].given, RKHS):
        ids = {} if lesson.size is None else {"qid": np.repeat(np.arange(len(lesson)), lesson.size)}
        return radius(model, lesson.X, **ids)
    return np.sqrt(kernel_of(NORMS[norm].given, lesson.X, lesson.X).diagonal().max() + (intercept or 0) ** 2)


@pytest.mark.always(each="update")
@pytest.mark.parametrize(PARTS, BOUNDED, ids=described)
def test_loss_is_within_the_bound_of_a_margin(world, update, loss, representation, norm, offset):
    """That of weights that are learned beforehand, wherever a bound is proven."""
    if isinstance(update, LossAugmented) and update.eta != "theory":
        update = LossAugmented(eta=1e-3)  # larger steps have no bound
    intercept = 1.5 if offset[0] == "auto" or isinstance(world, Ranks) else offset[0]
    setting = Setting(world, update, loss, representation, norm, (intercept, False))
    lesson = world.separable(loss)
    online = lesson.teach(lesson.teach(setting.estimator(False)))
    if norm == "linear kernel" and lesson.size is not None:
        return  # the radius is that of the primal rows
    learned = clone(online).set_params(update=Adaptive(), max_iter=200, random_state=0, cv=0)
    gamma = lesson.call(lesson.call(learned.fit).set_params(update=update).margin)
    assert gamma > 0 or loss.startswith(("CostMatrix", "ErrorSetSize"))  # where mistakes may cost nothing
    if gamma > 0:
        try:
            bound = online.loss_bound(gamma, largest_length(online, lesson, norm, setting.intercept))
        except ValueError as error:
            assert re.search("No loss bound is proven|a loss of rankings does not state", str(error))
        else:
            assert 0 < online.cumulative_loss_ <= bound
