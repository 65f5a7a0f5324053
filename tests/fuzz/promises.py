"""Check what the package promises of a case: each function takes a case and a generator, and raises where a promise is broken."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from sklearn_predtron import PredtronBipartiteClassifier, PredtronSequenceTagger
from sklearn_predtron.families.bipartite import batch_loss
from sklearn_predtron.families.input.tables import WarmupBuffer
from sklearn_predtron.losses import AtK
from tests.own_checks import assert_same, assert_same_bits, frozen, is_same, scores_of
from tests.own_checks.data import corrupted, disordered

from .lessons import Count, Lesson, draw_cuts, predicted, rows_of
from .models import Case
from .problems import FORMS, Circle, JointCircle, RolledCircle

FEW = 20  # rows, of which standardised features tie exactly
PROMISES: list[Callable[[Case, np.random.Generator], None]] = []


def promise(function: Callable[[Case, np.random.Generator], None]) -> Callable[[Case, np.random.Generator], None]:
    PROMISES.append(function)
    return function


def draw_way(random: np.random.Generator, lesson: Lesson) -> Callable[[Any], Any]:
    """Draw whether a model is fitted or streamed; it is streamed where a class is missing, or every weight is 0."""
    weight = np.ones(len(lesson.y)) if lesson.weight is None else lesson.weight
    weight = weight if lesson.costs is None else weight * lesson.costs.any(axis=(1, 2))  # rows whose mistakes are free
    complete = lesson.classes is None or len(np.unique(lesson.y[weight > 0])) == len(lesson.classes)
    return lesson.fit if weight.any() and complete and random.random() < 0.5 else lesson.partial_fit


def kernel(case: Case) -> bool:
    """Tell whether scores come of a kernel, which is computed block by block, by Python and BLAS."""
    return norm_of(case) == "rkhs"


def joint(case: Case) -> bool:
    """Tell whether features depend on the prediction as well."""
    return isinstance(getattr(case.estimator, "problem", None), JointCircle)


@promise
def any_split(case: Case, random: np.random.Generator) -> None:
    """Learn a batch as any split of it, to the last bit."""
    if kernel(case) and not case.lesson.calm:
        return
    whole = case.lesson.partial_fit(case.new())
    split = case.lesson.stream(case.new(), draw_cuts(random, case.lesson.n))
    check_same(case, random, split, whole, "split, or in one call")


def check_same(case: Case, random: np.random.Generator, model: Any, other: Any, what: str, way: int = 0) -> None:
    """Check that two models are the same, to the last bit; with a kernel, where no decision is near a tie, but for rounding."""
    try:
        check_same_bits(model, other, what) if before_map(model) else assert_same(model, other, what)
    except AssertionError:
        if not kernel(case) or steady(case, random, way):
            raise


def before_map(model: Any) -> bool:
    """Tell whether a model has the first rows of a table, call by call, of which a map is going to be made."""
    return model.__sklearn_is_fitted__() and isinstance(model._model.columns.features, WarmupBuffer)


def check_same_bits(model: Any, other: Any, what: str) -> None:
    """Check that two models are the same to the last bit, but for the calls that the first rows of a table came in."""
    if not before_map(model):
        assert_same_bits(model, other, what)
        return
    for attribute in ["coef_", "last_coef_", "t_", "n_mistakes_", "n_updates_", "cumulative_loss_"]:
        assert_array_equal(getattr(other, attribute), getattr(model, attribute), err_msg=f"{attribute}: {what}")


@promise
def short_way(case: Case, random: np.random.Generator) -> None:
    """Learn single rows as arrays, which go the fast path, as they are learned in lists."""
    lesson = replace(case.lesson, X=dense(case.lesson.X), weight=None, costs=None)
    if kernel(case) and not case.lesson.calm:
        return
    plain, listed = lesson.stream(case.new(), range(1, lesson.n)), case.new()
    for i in range(lesson.n):
        one = lesson.part(i, i + 1)
        if i == 0:
            one.partial_fit(listed)
            continue
        Count.learned += 1
        listed.partial_fit(one.X.tolist(), one.y.tolist())
    check_same(case, random, listed, plain, "single rounds as lists, or as arrays")


def dense(X: Any) -> np.ndarray:
    """Store rows as a C-contiguous array; tables stay as they are."""
    if hasattr(X, "iloc"):
        return X
    return X.toarray() if sparse.issparse(X) else np.ascontiguousarray(X)


def norm_of(case: Case) -> Any:
    """Return the alias of the norm, which is "auto" if the first rows choose it."""
    return getattr(case.estimator.norm, "alias", case.estimator.norm)


@promise
def dense_or_sparse(case: Case, random: np.random.Generator) -> None:
    """Learn dense and CSR rows the same, but for rounding."""
    # Near ties and the limits of doubles, rounding flips decisions.
    if kernel(case) or not case.lesson.calm or case.lesson.X.dtype == np.float32:
        return
    rows = dense(case.lesson.X)
    if norm_of(case) == "auto":  # another norm for each
        case = Case(case.new().set_params(norm="l2"), case.lesson)
    if norm_of(case) == "scaled" and (len(rows) < FEW or not rows.all()):
        return  # zeros count in dense rows alone
    plain, other = (one_way(case, X, 0) for X in [rows, sparse.csr_array(rows)])
    if not (alike(plain, other, rows) and plain.t_ == other.t_) and steady(case, random, 0):
        raise AssertionError(f"dense rows give {scores_of(plain, rows)}, and CSR rows {scores_of(other, rows)}")


def alike(model: Any, other: Any, X: Any, of_other: Any = None) -> bool:
    """Tell whether two models give the same scores, but for rounding."""
    expected = scores_of(model, X)
    found = scores_of(other, X if of_other is None else of_other)
    return np.allclose(found, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max(initial=1e-300))


def steady(case: Case, random: np.random.Generator, way: int) -> bool:
    """Tell whether changes like those of rounding leave what is learned: no decision was near a tie."""
    rows = dense(case.lesson.X).astype(np.float64)
    model = one_way(case, rows, way)
    near = (rows * (1 + 1e-13 * random.standard_normal(rows.shape)) for _ in range(12))
    others = ((X, one_way(case, X, way)) for X in near)
    return all(counts(other) == counts(model) and alike(model, other, X) for X, other in others)


def counts(model: Any) -> tuple[int, int]:
    """Tell how often a model was wrong and stepped: a budget may forget a decision that was near a tie, and these do not."""
    return model.n_mistakes_, model.n_updates_


@promise
def any_layout(case: Case, random: np.random.Generator) -> None:
    """Learn rows the same however they are stored, to the last bit."""
    X = case.lesson.X
    if sparse.issparse(X):
        plain = sparse.csr_array(X).copy()
        plain.sum_duplicates()
        others = [sparse.csr_matrix(plain), sparse.coo_array(plain), sparse.csc_array(plain)]
    else:
        plain = np.ascontiguousarray(X)
        others = [np.asfortranarray(plain), np.repeat(plain, 2, axis=1)[:, ::2], plain.astype(plain.dtype.newbyteorder())]
        others += [plain.astype(np.float64), plain.tolist()]
    way = random.integers(2)
    model, other = (one_way(case, X, way) for X in [plain, others[random.integers(len(others))]])
    assert_same_bits(other, model, "in one layout, or another")


@promise
def any_order(case: Case, random: np.random.Generator) -> None:
    """Learn CSR rows the same, but for rounding, in whatever order their entries are, and if some are given in parts."""
    if not case.lesson.calm or case.lesson.X.dtype == np.float32:
        return
    rows = dense(case.lesson.X)
    if norm_of(case) == "scaled" and len(rows) < FEW:
        return
    plain = sparse.csr_array(rows)
    way, twice = random.integers(2), random.random() < 0.5
    model, other = (one_way(case, X, way) for X in [plain, disordered(plain, duplicates=twice)])
    if not (alike(model, other, plain) and model.t_ == other.t_) and steady(case, random, way):
        raise AssertionError(f"rows in order give {scores_of(model, plain)}, and out of order {scores_of(other, plain)}")


def one_way(case: Case, X: Any, way: int) -> Any:
    """Teach a fresh model rows in one of two ways."""
    lesson = replace(case.lesson, X=X)
    return (lesson.fit if way else lesson.partial_fit)(case.new())


@promise
def probabilities(case: Case, random: np.random.Generator) -> None:
    """Give probabilities, of a row what it gives of many, and the same after any split of a stream, and of any copy."""
    X = dense(case.lesson.X)
    way = draw_way(random, case.lesson)
    model = way(case.new())
    if not hasattr(model, "predict_proba"):
        return
    found = model.predict_proba(X)
    assert np.isfinite(found).all() and (found >= 0).all() and (found <= 1).all(), (
        f"probabilities from {found.min()} to {found.max()}"
    )
    if found.shape[1] == len(model.classes_) and case.lesson.y.ndim == 1:
        assert_allclose(found.sum(axis=1), 1, rtol=0, atol=1e-12)
    with np.errstate(divide="ignore"):
        assert_array_equal(model.predict_log_proba(X), np.log(found))
    others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    if way.__name__ == "partial_fit":
        others.append(case.lesson.stream(case.new(), draw_cuts(random, case.lesson.n)))
    if not kernel(case):
        assert_array_equal(np.vstack([model.predict_proba(rows_of(X, slice(i, i + 1))) for i in range(len(X))]), found)
        for other in others:
            assert_array_equal(other.predict_proba(X), found)


@promise
def failures_leave_no_trace(case: Case, random: np.random.Generator) -> None:
    """Raise a ValueError for bad input, and leave the model as it was."""
    half = max(1, case.lesson.n // 2)
    model = case.lesson.part(0, half).partial_fit(case.new())
    before, known = frozen(model), set(vars(model))
    # Of joint features a problem sees one round after the other, none of weight 0, and those before a bad one are learned.
    bad = bad_lessons(replace(case.lesson.part(0, 1), weight=None) if joint(case) else case.lesson)
    for name in random.permutation(sorted(bad))[:3]:
        in_fit = name not in BAD_IN_STREAMS and not takes_gaps(model, name)
        for call in ["partial_fit", "fit"] if in_fit else ["partial_fit"]:
            try:
                getattr(bad[name], call)(model)
            except ValueError as error:
                assert " " in str(error), f"{call} with {name}: no words in {str(error)!r}"
            else:
                raise AssertionError(f"{call} with {name} raised nothing")
            untouched = is_same(frozen(model), before) and set(vars(model)) == known
            assert untouched, f"{call} with {name} failed and left a trace"


def takes_gaps(model: Any, name: str) -> bool:
    """Return whether input of a name is missing values, for which `fit` takes a map."""
    return name == "NaN in X" and model.features == "auto"


BAD_IN_STREAMS = ["too many features", "a strange label"]


def bad_lessons(lesson: Lesson) -> dict[str, Lesson]:
    """Spoil rows, labels and weights."""
    X = dense(lesson.X)
    rows = X.shape[0]
    weight = np.ones(rows)
    bad = {
        "too few labels": replace(lesson, y=lesson.y[1:]),
        "too many rows": replace(lesson, X=rows_of(X, np.arange(2 * rows) % rows)),
        "a negative weight": replace(lesson, weight=corrupted(weight, -1)),
        "NaN as a weight": replace(lesson, weight=corrupted(weight, np.nan)),
        "infinity as a weight": replace(lesson, weight=corrupted(weight, np.inf)),
        "too few weights": replace(lesson, weight=weight[1:]),
        "no rows": lesson.take(slice(0, 0)) if lesson.qid is None else replace(lesson, X=X[:0]),
    }
    if lesson.values == "table":
        bad["too many features"] = replace(lesson, X=X.assign(more=1) if hasattr(X, "iloc") else np.hstack([X, X]))
    else:
        bad["NaN in X"] = replace(lesson, X=corrupted(X, np.nan))
        bad["infinity in X"] = replace(lesson, X=corrupted(X, -np.inf))
        bad["NaN in sparse X"] = replace(lesson, X=sparse.csr_array(corrupted(X, np.nan)))
        bad["too many features"] = replace(lesson, X=np.hstack([X, X]))
    if lesson.costs is not None:
        bad["negative costs"] = replace(lesson, costs=corrupted(lesson.costs, -1))
        bad["NaN as a cost"] = replace(lesson, costs=corrupted(lesson.costs, np.nan))
        bad["too few costs"] = replace(lesson, costs=lesson.costs[1:])
    if lesson.classes is not None:
        strange = "strange" if lesson.classes.dtype.kind == "U" else 12345
        bad["a strange label"] = replace(lesson, y=np.append(lesson.y[1:], strange))
    elif lesson.y.ndim == 2:
        bad["a strange label"] = replace(lesson, y=corrupted(lesson.y.astype(float), -3))
    return bad


@promise
def scale_free(case: Case, random: np.random.Generator) -> None:
    """Predict the same from X times a power of two, under the default update and intercept and norms that allow it."""
    standard = {"update": "adaptive", "intercept_scaling": "auto"}
    if any(getattr(case.estimator, name, value) != value for name, value in standard.items()):
        return
    if case.estimator.norm not in ("auto", "l2", "scaled") or not case.lesson.calm:
        return
    if isinstance(getattr(case.estimator, "problem", None), RolledCircle):
        return  # features of the place alone have a scale of their own
    if not dense(case.lesson.X).any(axis=1).all():
        return  # before any other rows, those of zeros count as of length 1
    if isinstance(case.estimator, PredtronSequenceTagger):  # of which "auto" may be a length of 1
        case = replace(case, estimator=clone(case.estimator).set_params(intercept_scaling="length"))
    factor = 2.0 ** random.integers(-40, 40)
    way = random.integers(2)
    X = dense(case.lesson.X).astype(np.float64) if random.random() < 0.5 else sparse.csr_array(case.lesson.X, dtype=np.float64)
    model, scaled = one_way(case, X, way), one_way(case, X * factor, way)
    same = alike(model, scaled, X, X * factor) and (case.lesson.qid is not None or same_predictions(model, scaled, X, factor))
    if not same and steady(case, random, way):
        raise AssertionError(f"X gives {scores_of(model, X)}, and {factor} X {scores_of(scaled, X * factor)}")


def same_predictions(model: Any, scaled: Any, X: Any, factor: float) -> bool:
    """Tell whether two models predict the same from X, and from X times a factor."""
    return np.array_equal(predicted(model, X), predicted(scaled, X * factor))


@promise
def any_form(case: Case, random: np.random.Generator) -> None:
    """Learn joint features the same, but for rounding, in whatever form a problem gives them."""
    if not joint(case) or not case.lesson.calm:
        return
    others = [Case(in_form(case, form), case.lesson) for form in FORMS]
    way = random.integers(2)
    models = [one_way(other, case.lesson.X, way) for other in others]
    if any(other_weights(models[0], model) for model in models[1:]) and steady(case, random, way):
        raise AssertionError(f"{[model.coef_ for model in models]} of the forms {FORMS}")


def in_form(case: Case, form: str) -> Any:
    """Copy an estimator, whose problem gives features in another form."""
    estimator = case.new()
    estimator.problem.form = form
    return estimator


def other_weights(model: Any, other: Any) -> bool:
    """Tell whether two models differ by more than rounding."""
    size = np.abs(model.last_coef_).max(initial=1e-300)
    near = [np.allclose(a, b, rtol=1e-7, atol=1e-7 * size) for a, b in zip(weights(model), weights(other), strict=True)]
    return not all(near) or counts(model) != counts(other)


def weights(model: Any) -> tuple[Any, Any]:
    """Give the weights that predict and the last ones, of any shape, in one row."""
    return model.coef_.ravel(), model.last_coef_.ravel()


@promise
def format_changes(case: Case, random: np.random.Generator) -> None:
    """Learn dense and CSR rows in turns under norm="auto" as under the norm that the first ones choose, to the last bit."""
    if norm_of(case) != "auto" or joint(case):
        return
    rows, starts = dense(case.lesson.X), [0, *draw_cuts(random, case.lesson.n)]
    first = random.integers(2)
    models = [case.new(), case.new()]
    for number, (start, end) in enumerate(pairwise([*starts, case.lesson.n])):
        X = sparse.csr_array(rows) if (number + first) % 2 else rows
        for model in models:
            replace(case.lesson, X=X).part(start, end).partial_fit(model)
            if number == 0 and model is models[0]:
                models[1].set_params(norm=model.norm_)
    assert models[0].norm_ == models[1].norm and (first or models[0].norm_ == "scaled")
    for attribute in ["coef_", "intercept_", "last_coef_", "last_intercept_", "t_", "cumulative_loss_"]:
        assert_array_equal(getattr(models[0], attribute), getattr(models[1], attribute), err_msg=attribute)


# Steps that know nothing of lengths but those of a round's features: with scores, others know that of x.
OF_ROUNDS = ["perceptron", "adaptive", "passive_aggressive"]


@promise
def joint_as_scores(case: Case, random: np.random.Generator) -> None:
    """Learn the features rep(place) (x) x as the scores W x are learned, but for rounding."""
    estimator, lesson = case.estimator, case.lesson
    if not joint(case) or not lesson.calm or isinstance(estimator.problem, RolledCircle) or estimator.update not in OF_ROUNDS:
        return
    scored = case.new().set_params(problem=Circle(estimator.problem.k), fit_intercept=False, norm="l2")
    X, way = dense(lesson.X).astype(np.float64), random.integers(2)
    models = [one_way(one, X, way) for one in [case, Case(scored, lesson)]]
    if other_weights(*models) and steady(case, random, way):
        raise AssertionError(f"joint features give {models[0].coef_}, and scores {models[1].coef_}")


@promise
def names_of_classes(case: Case, random: np.random.Generator) -> None:
    """Learn the same weights whatever the classes are called, if their order stays."""
    estimator, classes = case.estimator, case.lesson.classes
    if classes is None or getattr(estimator, "class_weight", None) is not None or getattr(estimator, "reject", None) is not None:
        return
    names = np.cumsum(random.integers(1, 99, len(classes))) - 1000
    named = replace(case.lesson, y=names[np.searchsorted(classes, case.lesson.y)], classes=names)
    way = random.integers(2)
    model, other = ((one.fit if way else one.partial_fit)(case.new()) for one in [case.lesson, named])
    kind = "dual_coef_" if kernel(case) else "coef_"
    for attribute in [kind, f"last_{kind}", "intercept_", "t_", "n_updates_", "cumulative_loss_"]:
        assert_array_equal(value_of(other, attribute), value_of(model, attribute), err_msg=attribute)


@promise
def pickled_in_mid_stream(case: Case, random: np.random.Generator) -> None:
    """Go on as a pickled or copied model as the model itself does, to the last bit."""
    half = case.lesson.n // 2
    if half == 0:
        return
    model = draw_way(random, case.lesson.part(0, half))(case.new())
    other = pickle.loads(pickle.dumps(model)) if random.random() < 0.7 else copy.deepcopy(model)
    assert_same_bits(other, model, "a copy, or the model")
    for one in [model, other]:
        case.lesson.part(half, case.lesson.n).partial_fit(one)
    check_same_bits(other, model, "a copy that was taught on, or the model")
    assert_array_equal(case.lesson.predict(other), case.lesson.predict(model))


def value_of(model: Any, attribute: str) -> Any:
    """Give an attribute; under a feature map the weights of its features stand for those of columns."""
    if attribute not in ("coef_", "last_coef_") or not hasattr(model, "features_"):
        return getattr(model, attribute)
    return model._model.learner.read(lambda weights: weights.mean() if attribute == "coef_" else weights.last())[0]


@promise
def finite(case: Case, random: np.random.Generator) -> None:
    """Learn finite weights, losses and scores."""
    model = draw_way(random, case.lesson)(case.new())
    kind = "dual_coef_" if kernel(case) else "coef_"
    for attribute in [kind, f"last_{kind}", "intercept_", "last_intercept_", "cumulative_loss_"]:
        assert np.isfinite(value_of(model, attribute)).all(), f"{attribute} is not finite: {value_of(model, attribute)}"
    assert np.isfinite(getattr(model, "feature_importances_", 0)).all()
    assert model.cumulative_loss_ >= 0 and 0 <= model.n_mistakes_ <= model.t_ and 0 <= model.n_updates_ <= model.t_
    assert np.isfinite(scores_of(model, case.lesson.X)).all()


@promise
def zero_weight(case: Case, random: np.random.Generator) -> None:
    """Learn rows of weight 0 as if they were absent, to the last bit."""
    lesson, rows = case.lesson, case.lesson.X.shape[0]
    weight = np.ones(rows) if lesson.weight is None else lesson.weight
    weight = lesson.even(np.where(random.random(rows) < 0.4, 0.0, weight))
    there = np.flatnonzero(weight)
    if len(there) == 0 or (kernel(case) and not case.lesson.calm):
        return
    whole = replace(lesson, weight=weight)
    left = whole.take(there)
    way = draw_way(random, left).__name__
    models = [getattr(one, way)(case.new()) for one in [left, whole]]
    whole_case = Case(case.estimator, whole)
    check_same(whole_case, random, models[1], models[0], "rows of weight 0, or no such rows", way == "fit")


@promise
def weight_of_one(case: Case, random: np.random.Generator) -> None:
    """Learn rows of weight 1 as rows without weights, or refuse both in the same words: they may be rows that had weight 0."""
    plain = replace(case.lesson, weight=None)
    weighted = replace(plain, weight=np.ones(plain.X.shape[0]))
    way = "fit" if random.integers(2) else "partial_fit"
    models, words = zip(*[learned(case, lesson, way) for lesson in [plain, weighted]], strict=True)
    assert words[1] == words[0], f"rows of weight 1 are refused by {words[1]!r}, without weights by {words[0]!r}"
    check_same_bits(models[1], models[0], "weights of 1, or none")


def learned(case: Case, lesson: Lesson, way: str) -> tuple[Any, str]:
    """Let a new model learn, and return it with what it said if it refused."""
    model = case.new()
    try:
        getattr(lesson, way)(model)
    except ValueError as error:
        return model, str(error)
    return model, ""


@promise
def one_row_as_in_a_batch(case: Case, random: np.random.Generator) -> None:
    """Predict a row as in a batch, to the last bit."""
    if kernel(case) and not case.lesson.calm:
        return
    model, X = draw_way(random, case.lesson)(case.new()), case.lesson.X
    X = sparse.csr_array(X) if sparse.issparse(X) else X
    scores, labels = scores_of(model, X), predicted(model, X)
    for i in random.permutation(X.shape[0])[:4]:
        row = rows_of(X, slice(i, i + 1))
        what = f"row {i} alone, or in a batch"
        if kernel(case):
            near = 1e-9 * (np.abs(scores).max(initial=0) + np.abs(model.dual_coef_).max(initial=0))
            assert_allclose(scores_of(model, row)[0], scores[i], rtol=1e-9, atol=near, err_msg=what)
        else:
            assert_array_equal(scores_of(model, row)[0], scores[i], err_msg=what)
            if not is_of_groups(model):
                assert_array_equal(predicted(model, row)[0], labels[i], err_msg=what)


@promise
def order_of_ties(case: Case, random: np.random.Generator) -> None:
    """Score documents and rows of groups with ties the same in any order."""
    lesson = case.lesson
    if lesson.ids == "sid" or lesson.qid is None or kernel(case):
        return
    model, n = draw_way(random, lesson)(case.new()), len(lesson.y)
    tied = rows_of(lesson.X, random.integers(0, max(1, n // 3), n))
    order = np.lexsort([random.random(n), np.repeat(np.arange(lesson.n), np.diff(lesson.start))])
    found = [model.score(rows_of(tied, rows), lesson.y[rows], **{lesson.ids: lesson.qid}) for rows in [np.arange(n), order]]
    assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-9, err_msg="tied rows in another order")


def is_of_groups(model: Any) -> bool:
    """Return whether the prediction of a row depends on the other rows of its group."""
    return isinstance(model, PredtronBipartiteClassifier) and isinstance(batch_loss(model._model.loss), AtK)


@promise
def same_seed(case: Case, random: np.random.Generator) -> None:
    """Fit the same model again, to the last bit."""
    seeded = case.new().set_params(random_state=int(random.integers(1000)))
    again = copy.deepcopy(seeded)
    model = case.lesson.fit(seeded)
    assert_same_bits(case.lesson.fit(again), model, "fitted twice with one seed")
    if not seeded.warm_start:
        again = frozen(case.lesson.fit(model))
        assert is_same(again, frozen(case.lesson.fit(model))), "fitted again"


@promise
def widened(case: Case, random: np.random.Generator) -> None:
    """Learn features that appear in mid-stream as if they had been known from the start, to the last bit."""
    lesson = case.lesson
    if kernel(case) or joint(case) or norm_of(case) == "trace" or lesson.n < 2:
        return
    X = sparse.csr_array(lesson.X) if sparse.issparse(lesson.X) else np.ascontiguousarray(lesson.X)
    edges = [0, *draw_cuts(random, lesson.n), lesson.n]
    widths = np.sort(random.integers(1, X.shape[1] + 1, len(edges) - 1))
    known, grown = case.new(), case.new()
    for (first, end), width in zip(pairwise(edges), widths.tolist(), strict=True):
        part = replace(lesson, X=X).part(first, end)
        narrow, wide = part.X[:, :width].copy(), part.X.copy()
        if sparse.issparse(wide):
            wide.resize(wide.shape[0], width)
            wide.resize(part.X.shape)
        else:
            wide[:, width:] = 0
        if grown.__sklearn_is_fitted__() and not widens(grown, width):
            return
        words = []
        for model, rows in [(known, wide), (grown, narrow)]:
            try:
                replace(part, X=rows).partial_fit(model)
            except ValueError as error:
                words.append(str(error))
        if words:
            assert len(words) == 2, f"a model that grows and one that has grown: one of them says {words[0]!r}"
            return
        if grown.norm_ != known.norm_:  # "auto" goes by the share of values that are stored, of so many columns
            return
    if not widens(grown, X.shape[1]):
        return
    same_average = (
        known._model.learner.average.every == grown._model.learner.average.every == first_every(case, lesson, X, widths)
    )
    names = ["last_coef_", "last_intercept_", "t_", "n_mistakes_", "n_updates_", "cumulative_loss_"]
    for attribute in names + ["coef_", "intercept_"] * same_average:
        assert_array_equal(getattr(grown, attribute), getattr(known, attribute), err_msg=attribute)
    if same_average:
        assert_array_equal(scores_of(grown, X), scores_of(known, X))


def widens(model: Any, width: int) -> bool:
    """Widen a model, unless its norm is of another exponent then."""
    try:
        model.widen(width)
    except ValueError as error:
        assert "has q=" in str(error), f"widen({width}) is refused by {error}"
        return False
    return True


def first_every(case: Case, lesson: Lesson, X: Any, widths: np.ndarray) -> int:
    """Tell in every how many rounds a model of the first width charges the candidates of its average."""
    narrow = replace(lesson, X=X[:, : widths[0]]).part(0, 1)
    return narrow.partial_fit(case.new())._model.learner.average.every


# What is promised of tables, too, whose columns a map reads.
OF_TABLES = [any_split, probabilities, failures_leave_no_trace, names_of_classes, pickled_in_mid_stream, finite, zero_weight]
OF_TABLES += [weight_of_one, one_row_as_in_a_batch, same_seed, order_of_ties]
