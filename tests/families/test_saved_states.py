"""Saved models: read-only memory, damaged states, labels that change under the reader; and what kernels keep of refused rows."""

import copy
import itertools
import pickle
import re
import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest
from cases import Multiclass, needs_callbacks
from joint_cases import Tables, tables
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

import sklearn_predtron
from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.loss_curve import LossCurve
from sklearn_predtron._core.problem import Codes
from sklearn_predtron._core.rows import QueryRows, dense_rows
from sklearn_predtron.callbacks import LossHistory
from sklearn_predtron.datasets import SvmlightReader
from sklearn_predtron.families.structured import Predtron
from sklearn_predtron.losses import Reject
from sklearn_predtron.norms import RKHS
from sklearn_predtron.problems._label_sets import Indicators
from sklearn_predtron.problems._relevance import Relevances
from tests.own_checks import assert_same_bits, frozen, is_same

NORMS = ["l2", "l1", "group", "trace", "scaled", "rkhs", RKHS(budget=6)]


def data(n=60, p=4):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, p))
    return X, (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)


def models():
    """One of every family, norm and kind of average, with what else is kept of rounds."""
    X, y = data()
    sets = (X[:, :3] > 0).astype(int)
    for norm in NORMS:
        for average in ("linear", False):
            how = {"norm": norm, "average": average}
            yield PredtronClassifier(**how), X, y
            if norm not in ("group", "trace"):
                yield PredtronOrdinalClassifier(representation="shared", **how), X, y
                yield PredtronRanker(**how), X, y
            yield PredtronMultilabelClassifier(update="predtron", **how), X, sets
            yield PredtronLabelRanker(update="mmp", **how), X, sets
    yield PredtronBinaryClassifier(reject=Reject(0.2, 5)), X, (y > 0).astype(int)
    yield PredtronClassifier(reject=Reject(0.2, 5), average=20), X, y
    yield PredtronBinaryClassifier(decision="f1"), X, (y > 0).astype(int)
    yield PredtronMultilabelClassifier(decision="macro_f1"), X, sets
    yield PredtronRanker(update="slam"), X, y
    for average in ("linear", False):
        yield Predtron(Tables(4), average=average), *tables()
    yield PredtronOrdinalClassifier(representation="shared", update="prank"), X, y


def named(value):
    return f"{type(value).__name__}-{value.norm}-{value.average}" if hasattr(value, "norm") else ""


def fitted(model, X, y):
    one = {"qid": "one"} if isinstance(model, PredtronRanker) else {}
    model = copy.deepcopy(model).set_params(random_state=0).fit(X, y, **one)
    return LossHistory(size=8).watch(model) and model.partial_fit(X, y)


@pytest.mark.parametrize(("model", "X", "y"), list(models()), ids=named)
def test_learning_goes_on_from_a_memory_map(model, X, y, tmp_path):
    model = fitted(model, X, y)
    joblib.dump(model, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    assert_array_equal(mapped.predict(X), model.predict(X))
    states = [frozen(one.partial_fit(X, y)) for one in (mapped, model)]
    assert is_same(*states)


# ---------------------------------------------------------------------------------------------------------- damaged states


def compiled(part, seen):
    """Every compiled object that a model's learner is made of."""
    if not hasattr(type(part), "__pyx_vtable__") or id(part) in seen:
        return
    seen[id(part)] = part
    yield part
    reduced = part.__reduce__()
    for inner in itertools.chain(reduced[1], reduced[2] if len(reduced) > 2 and isinstance(reduced[2], tuple) else ()):
        yield from compiled(inner, seen)


def parts_of(model):
    learner, seen = model._model.learner, {}
    for part in (learner.weights, learner.update, learner.average, learner.observer, learner.history):
        yield from compiled(part, seen)


def leaves(state, path=()):
    if isinstance(state, tuple):
        yield path
        for i, inner in enumerate(state):
            yield from leaves(inner, (*path, i))
    else:
        yield path


def replaced(state, path, change):
    if not path:
        return change(state)
    return tuple(replaced(inner, path[1:], change) if i == path[0] else inner for i, inner in enumerate(state))


def damages(value):
    """What a value of a state cannot be."""
    yield "text", "x"
    yield "a tuple", (1, 2, 3, 4, 5, 6, 7)
    if isinstance(value, tuple) and value:
        yield "nothing", ()
        yield "one less", value[:-1]
    elif isinstance(value, np.ndarray):
        yield "longer", np.append(value.ravel(), value.ravel()[:1]) if value.size else np.zeros(3)
        yield "another type", value.astype(np.float32 if value.dtype != np.float32 else np.float64)
        if value.size:
            yield "shorter", value.ravel()[:-1]
            yield "in pieces", value[None]
            yield "not a number", np.where(np.arange(value.size).reshape(value.shape) == 0, np.nan, value)
            if value.dtype == np.intp:
                yield "far out", np.full_like(value, 2**62 + 1)
                yield "negative", np.full_like(value, -7)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield "NaN", float("nan")
        yield "an array", np.zeros(2)


@pytest.mark.parametrize(("model", "X", "y"), list(models()), ids=named)
def test_a_damaged_state_is_refused_by_name(model, X, y):
    """Lengths, shapes, types and finiteness of every field of every compiled object."""
    tried = 0
    for part in parts_of(fitted(model, X, y)):
        reduced = part.__reduce__()
        if len(reduced) < 3 or reduced[2] is None:
            continue
        kind, arguments, state = reduced
        for path in leaves(state):
            whole = state
            for place in path:
                whole = whole[place]
            for name, damage in damages(whole):
                damaged = replaced(state, path, lambda _, damage=damage: damage)
                fresh = kind(*copy.deepcopy(arguments))
                with pytest.raises(ValueError, match="saved state of a"):
                    fresh.__setstate__(damaged)
                    pytest.fail(f"{kind.__name__} took {name} at {path}")
                tried += 1
    assert tried > 20


@pytest.mark.parametrize("norm", ["l1", "group", "trace"])
def test_an_object_that_was_not_initialised_takes_no_state(norm):
    X, y = data()
    weights = fitted(PredtronClassifier(norm=norm), X, y)._model.learner.weights
    kind, _, state = weights.__reduce__()
    with pytest.raises(ValueError, match="not initialised"):
        kind.__new__(kind).__setstate__(state)
    for empty in (Learner.__new__(Learner), kind.__new__(kind)):
        with pytest.raises((ValueError, TypeError)):
            Learner(empty, *[PredtronClassifier().fit(X, y)._model.problem] * 3)


def test_parts_that_do_not_go_together_make_no_learner():
    X, y = data()
    many, few = (PredtronClassifier().fit(X, labels)._model.learner for labels in (y, y > 0))
    ranker = PredtronRanker(update="slam").fit(X, y, "one")._model.learner
    pairs = PredtronLabelRanker(loss="kendall_tau", representation="pairwise").fit(X, X[:, :3] > 0)._model.learner
    for parts in (
        (pairs.weights, pairs.problem, many.update, many.average),
        (many.weights, many.problem, pairs.update, many.average),
        (many.weights, few.problem, many.update, many.average),
        (
            ranker.weights,
            ranker.problem.__class__(2, ranker.problem.representation, ranker.problem.ranking_loss),
            ranker.update,
            few.average,
        ),
        (many.weights, many.problem, ranker.update, many.average),
        (
            PredtronClassifier(representation="simplex").fit(X, y > 0)._model.learner.weights,
            ranker.problem,
            ranker.update,
            few.average,
        ),
    ):
        with pytest.raises(ValueError):
            Learner(*parts)


# ------------------------------------------------------------------------------------------------------ what a learner is handed


def rounds():
    X, y = data()
    codes, sets, lists = Codes(y.astype(np.intp)), Indicators((X[:, :3] > 0).astype(np.uint8)), np.array([0, 20, 60])
    relevances = Relevances(y.astype(float), lists)
    for model, labels, rows in (
        (PredtronClassifier().fit(X, y), codes, dense_rows(X)),
        (PredtronOrdinalClassifier(representation="shared").fit(X, y), codes, dense_rows(X)),
        (PredtronMultilabelClassifier().fit(X, X[:, :3] > 0), sets, dense_rows(X)),
        (PredtronRanker().fit(X, y, "one"), relevances, QueryRows(dense_rows(X), lists)),
        (PredtronLabelRanker().fit(X, X[:, :2] > 0), Relevances(np.ones(120), np.arange(0, 121, 2)), dense_rows(X)),
        (
            PredtronLabelRanker(loss="kendall_tau", representation="pairwise").fit(X, X[:, :2] > 0),
            Relevances(np.ones(120), np.arange(0, 121, 2)),
            dense_rows(X),
        ),
    ):
        yield model._model.learner, rows, labels


@pytest.mark.parametrize(("learner", "rows", "labels"), list(rounds()), ids=lambda value: type(value).__name__)
def test_learn_refuses_what_does_not_go_together(learner, rows, labels):
    before, n = learner.t, rows.n
    learn = learner.learn
    narrow, short = np.zeros((60, 2)), np.zeros((3, 4))
    for what, message in (
        ((dense_rows(narrow), labels), "features"),
        ((dense_rows(short), labels), r"labels|rounds|relevances"),
        ((rows, Codes(np.arange(3, dtype=np.intp))), "labels|relevances"),
        ((rows, Codes(np.full(n, 2**40, dtype=np.intp))), "labels"),
        ((rows, Indicators(np.zeros((n, 9), np.uint8))), "labels"),
        ((rows, Relevances(np.zeros(3 * n), np.arange(0, 3 * n + 1, 3))), "labels|relevances"),
        ((rows, labels, np.array([0, n])), "order"),
        ((rows, labels, np.array([-1])), "order"),
        ((rows, labels, None, np.ones(n - 1)), "weights"),
    ):
        with pytest.raises(ValueError, match=message):
            learn(*what)
    with pytest.raises(TypeError):
        learn(rows, None)
    assert learner.t == before
    assert learn(rows, labels) == -1
    assert learner.t == before + n


@pytest.mark.parametrize(("learner", "rows", "labels"), list(rounds()), ids=lambda value: type(value).__name__)
def test_scores_refuses_what_does_not_go_together(learner, rows, labels):
    X, _ = data()
    d = learner.problem.d
    for given, out in (
        (dense_rows(np.hstack([X, X])), np.zeros((60, d))),
        (dense_rows(X), np.zeros((61, d))),
        (dense_rows(X), np.zeros((60, d + 1))),
    ):
        with pytest.raises(ValueError, match=r"rows must be single|out must have shape"):
            learner.scores(given, out)


# ------------------------------------------------------------------------------------------------------------------- labels


class Emptying(str):
    """A label that empties the list it came in when it is looked up."""

    labels: list = []

    def __hash__(self):
        Emptying.labels.clear()
        return super().__hash__()

    __eq__ = str.__eq__


@pytest.mark.parametrize("kind", [PredtronBinaryClassifier, PredtronClassifier, PredtronMultilabelClassifier])
def test_labels_that_empty_their_list(kind):
    X, y = data()
    model = kind(average="linear").fit(X, np.where(y > 0, "yes", "no"))
    twin = copy.deepcopy(model).partial_fit(X, ["yes"] * len(X))
    Emptying.labels = labels = [Emptying("yes") for _ in X]
    model.partial_fit(X, labels)
    assert labels == []
    assert_same_bits(model, twin, "labels that empty their list")


# ------------------------------------------------------------------------------------------------- kernels and refused rows


def kernel_models():
    for kernel in ("laplacian", "chi2", "cosine", "rbf", "sigmoid", "linear"):
        for budget in (None, 9):
            for kind in (PredtronBinaryClassifier, PredtronRanker):
                for bad in (np.nan, np.inf, -1.0) if kernel == "chi2" else (np.nan, np.inf):  # chi2 refuses negative numbers
                    yield kind(norm=RKHS(kernel, budget=budget), random_state=0, shuffle=False), bad


@pytest.mark.parametrize(("model", "bad"), list(kernel_models()), ids=lambda value: str(getattr(value, "norm", value)))
def test_a_refused_refit_leaves_the_old_model(model, bad):
    """Also where the kernel itself refuses the row, long after the first round."""
    X, y = np.abs(data(400)[0]), data(400)[1] > 0
    how = {"qid": np.arange(400) // 4} if isinstance(model, PredtronRanker) else {}
    model.fit(X[:40], y[:40], **{name: ids[:40] for name, ids in how.items()})
    before = frozen(model)
    X[-1, 0] = bad
    for call in (model.fit, model.set_params(warm_start=True).fit):
        with pytest.raises(ValueError, match=r"NaN|infinity|negative|Negative"):
            call(X, y, **how)
        model.set_params(warm_start=False)
        assert is_same(frozen(model), before)


class Failing(Multiclass):
    """`loss` fails where it is told to."""

    fails = False

    def loss(self, prediction, y):
        if self.fails:
            raise ArithmeticError("no loss")
        return super().loss(prediction, y)


@pytest.mark.parametrize("by_kernel", [False, True])
@pytest.mark.parametrize("budget", [None, 9])
def test_first_rounds_that_a_problem_or_a_kernel_fails_have_no_numbers(budget, by_kernel):
    """`support_` counts the rows of calls of which a round was learned."""
    X, y = data()
    fail, problem = [False], Failing()

    def linear(A, B):
        if fail[0]:
            raise ArithmeticError("no kernel")
        return A @ B.T

    if by_kernel:
        model, twin = (PredtronClassifier(norm=RKHS(linear, budget=budget)) for _ in range(2))
        y, first = y, {"classes": [0, 1, 2]}
    else:
        model, twin = (Predtron(one, norm=RKHS(budget=budget)) for one in (problem, Failing()))
        y, first = list((y > 0).astype(int)), {}
    for begin in (0, 20, 40):
        rows = slice(begin, begin + 20)
        twin.partial_fit(X[rows], y[rows], **first)
        fail[0] = problem.fails = True
        with pytest.raises(ArithmeticError):
            model.partial_fit(X[rows], y[rows], **first)
        fail[0] = problem.fails = False
        model.partial_fit(X[rows], y[rows], **first)
    assert_array_equal(model.support_, twin.support_)
    assert model.support_.max() < 60


@pytest.mark.parametrize("budget", [None, 30])
def test_what_an_interrupt_left_undone_is_done_before_the_next_use(budget, monkeypatch):
    """Rows that took a step are kept, however often putting them away is interrupted."""
    from sklearn_predtron.norms._kernel_functions import Support

    X, y = data(200)
    model = PredtronClassifier(norm=RKHS(budget=budget)).partial_fit(X[:20], y[:20], classes=[0, 1, 2])
    put = Support.put

    def interrupted(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(Support, "put", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[20:80], y[20:80])
    monkeypatch.setattr(Support, "put", put)
    rest = model.t_
    assert rest > 20
    twin = PredtronClassifier(norm=RKHS(budget=budget)).partial_fit(X[:rest], y[:rest], classes=[0, 1, 2])
    for one in (model, pickle.loads(pickle.dumps(model))):
        np.testing.assert_allclose(one.decision_function(X), twin.decision_function(X), rtol=1e-9, atol=1e-9)
    model.partial_fit(X[rest:], y[rest:])
    twin.partial_fit(X[rest:], y[rest:])
    np.testing.assert_allclose(model.decision_function(X), twin.decision_function(X), rtol=1e-9, atol=1e-9)


# ------------------------------------------------------------------------------------------------------------- tables in C


def test_tables_in_c_are_constant():
    """What is filled at run time may be read by another thread before it is full, unless a mutex guards it."""
    core = Path(sklearn_predtron.__file__).parent / "_core"
    for path in [*core.glob("*.c"), *core.glob("*.h")]:
        for line in path.read_text().splitlines():
            if re.match(r"\s*static\b", line) and "(" not in line.split("=")[0].replace("NAME(kernels)", ""):
                assert any(word in line for word in ("const", "THREAD_LOCAL", "GUARDED")), f"{path.name}: {line}"


# ---------------------------------------------------------------------------------------------- what the fuzzers found besides


@pytest.mark.parametrize("stop", range(1, 9))
@pytest.mark.parametrize("budget", [None, 30])
def test_an_interrupt_while_room_is_made_for_rows(stop, budget, monkeypatch):
    """Arrays that grow together are as long as each other, wherever Python code between them is stopped."""
    X, y = data(200)
    model = PredtronClassifier(norm=RKHS(budget=budget)).partial_fit(X[:20], y[:20], classes=[0, 1, 2])
    full, calls = np.full, itertools.count(1)

    def interrupted(*arguments, **more):
        if next(calls) == stop:
            raise KeyboardInterrupt
        return full(*arguments, **more)

    monkeypatch.setattr(np, "full", interrupted)
    try:
        model.partial_fit(X[20:80], y[20:80])
    except KeyboardInterrupt:
        pass
    finally:
        monkeypatch.setattr(np, "full", full)
    model.partial_fit(X[model.t_ :], y[model.t_ :])
    twin = PredtronClassifier(norm=RKHS(budget=budget)).partial_fit(X, y, classes=[0, 1, 2])
    assert model.n_mistakes_ == twin.n_mistakes_
    np.testing.assert_allclose(model.decision_function(X), twin.decision_function(X), rtol=1e-9, atol=1e-9)


class Stopping:
    """A callback that fails before the first round."""

    def setup(self, estimator, context):
        pass

    teardown = on_fit_task_end = setup

    def on_fit_task_begin(self, estimator, context):
        raise KeyboardInterrupt


@needs_callbacks
@pytest.mark.parametrize("warm_start", [False, True])
def test_a_fit_that_never_began_leaves_the_old_model(warm_start):
    X, y = data()
    model = PredtronClassifier(warm_start=warm_start, random_state=0).fit(X, y)
    before = frozen(model)
    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(Stopping()).fit(X[:, ::-1].copy(), y)
    model.set_callbacks()
    assert is_same(frozen(model), before)


@pytest.mark.parametrize("norm", ["l1", "group", "trace"])
def test_exponents_that_no_norm_has(norm):
    X, y = data()
    kind, arguments, _ = PredtronClassifier(norm=norm).fit(X, y)._model.learner.weights.__reduce__()
    place = next(i for i, value in enumerate(arguments) if isinstance(value, float))
    for q in (-8.0, 0.0, 1.5, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="q="):
            kind(*arguments[:place], q, *arguments[place + 1 :])


@pytest.mark.parametrize("kind", [PredtronClassifier, PredtronMultilabelClassifier])
def test_a_long_list_of_classes_is_no_regression(kind):
    """scikit-learn warns of targets of which every one is unique; classes are."""
    classes = [f"c{i:02}" for i in range(30 if kind is PredtronClassifier else 2)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind().partial_fit([[1.0]], classes[1:2], classes=classes)


def test_no_matrix_is_wider_than_its_indices_can_count(tmp_path):
    path = tmp_path / "wide.svm"
    path.write_text("1 qid:0 0:1\n1 qid:1 2147483647:2\n0 qid:2 x\n")
    for width in (None, 2**31 - 1):
        with pytest.raises(ValueError, match=r"wide\.svm, line 2"):
            list(SvmlightReader(path, query_id=True, zero_based=True, n_features=width))
    with pytest.raises(ValueError, match="n_features=2147483648 must be at most 2147483647"):
        SvmlightReader(path, n_features=2**31)


@pytest.mark.parametrize("kind", ["counts", "problem", "kernel"])
def test_a_first_call_that_fails_in_its_first_round_leaves_nothing_fitted(kind):
    X, y = data()
    labels = list((y > 0).astype(int))
    problem = Failing()
    problem.fails = True

    def kernel(A, B):
        raise ArithmeticError("no kernel")

    model, labels = {
        "counts": (PredtronMultilabelClassifier(loss=lambda a, b, c, d: "x"), (X[:, :3] > 0).astype(int)),
        "problem": (Predtron(problem), labels),
        "kernel": (PredtronClassifier(norm=RKHS(kernel)), y),
    }[kind]
    how = {"classes": [0, 1, 2]} if kind == "kernel" else {}
    with pytest.raises((ValueError, ArithmeticError)):
        model.partial_fit(X, labels, **how)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_a_later_call_that_fails_in_its_first_round_leaves_the_parts_of_before():
    X, _y = data()
    sets = (X[:, :3] > 0).astype(int)
    model = PredtronMultilabelClassifier().partial_fit(X, sets)
    before = model._model.learner.parts()
    model.set_params(loss=lambda a, b, c, d: "x", update="perceptron")
    with pytest.raises(ValueError, match="must return a number"):
        model.partial_fit(X, sets)
    assert model._model.learner.parts() == before


@pytest.mark.parametrize("average", [5e-4, 1e-6, 1e300])
def test_any_half_life_that_is_accepted_can_be_copied(average):
    X, y = data()
    model = PredtronClassifier(average=average, warm_start=True, random_state=0).fit(X, y)
    assert_same_bits(copy.deepcopy(model).fit(X, y), model.fit(X, y), "copied")
    model.set_params(average=False).partial_fit(X, y)


def test_a_history_that_was_not_initialised_is_refused():
    X, y = data()
    learner = PredtronClassifier(decision="learned").fit(X, y)._model.learner
    kind, parts, state = learner.__reduce__()
    with pytest.raises(ValueError, match="history"):
        other = kind(*(pickle.loads(pickle.dumps(part)) for part in parts))
        other.__setstate__((*state[:-2], LossCurve.__new__(LossCurve), state[-1]))


class OneArray(Failing):
    """Answers in the same array each time."""

    def representation(self, prediction):
        if not hasattr(self, "array"):
            self.array = np.zeros(2)
        self.array[:] = np.eye(2)[prediction]
        return self.array


def test_representations_may_be_given_in_one_array():
    X, y = data()
    labels = list((y > 0).astype(int))
    model, twin = (Predtron(problem, random_state=0).fit(X, labels) for problem in (OneArray(), Failing()))
    assert model.n_updates_ == twin.n_updates_ > 0
    assert_array_equal(model.coef_, twin.coef_)
