"""Threads that read one model side by side find what is of one moment, with the interpreter's lock and without."""

import ast
import pickle
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy as np
import pytest
from cases import BUSY, beside, threads_of
from numpy.testing import assert_array_equal

import sklearn_predtron
from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronLabelRanker, PredtronRanker
from sklearn_predtron._core.learner import Learner
from sklearn_predtron.callbacks import LossHistory
from sklearn_predtron.decisions._calibration import Calibration
from sklearn_predtron.families.model import model as fitted
from sklearn_predtron.families.model import model_parts
from sklearn_predtron.losses import CostMatrix, Reject
from sklearn_predtron.norms import L2
from sklearn_predtron.updates import PassiveAggressive
from tests.own_checks import assert_same_bits

ROOT = Path(__file__).parents[2]
PACKAGE = Path(sklearn_predtron.__file__).parent
COSTS = [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
random = np.random.default_rng(0)
X = random.standard_normal((1000, 8))
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
RELEVANCES = random.integers(0, 3, (1000, 4))
# What tells without an error whether the interpreter can do without its lock, and does.
FREE = "import sys; free = not getattr(sys, '_is_gil_enabled', lambda: True)()"


def stream(**parameters):
    return PredtronClassifier(norm="l2", **parameters).partial_fit(X, Y, classes=[0, 1, 2])


def beside_learning(model, *readers, y=Y, calls=40):
    """Let readers read until another thread has learned."""

    def learn():
        for i in range(calls):
            model.partial_fit(X[i : i + 200], y[i : i + 200])

    beside(learn, *readers)


# --------------------------------------------------------------------------------------------------------------- declared


@pytest.mark.skipif(not (ROOT / "setup.py").exists(), reason="the tests do not run from a checkout")
def test_all_modules_are_compiled_to_do_without_the_lock():
    """By the directives of all of them, which no module changes for itself."""
    script = ast.parse((ROOT / "setup.py").read_text()).body
    (directives,) = [node.value for node in script if isinstance(node, ast.Assign) and ast.unparse(node.targets) == "DIRECTIVES"]
    assert isinstance(directives, ast.Dict)
    values = {ast.literal_eval(key): value for key, value in zip(directives.keys, directives.values, strict=True)}
    assert ast.literal_eval(values["freethreading_compatible"]) is True
    sources = [*PACKAGE.rglob("*.pyx"), *PACKAGE.rglob("*.pxd")]
    assert sources and not [path for path in sources if "freethreading_compatible" in path.read_text()]


def test_importing_turns_no_lock_on():
    """On an interpreter that has none; importing any module that has not said so would be a warning."""
    files = [path.relative_to(PACKAGE.parent) for path in PACKAGE.rglob(f"*{EXTENSION_SUFFIXES[0]}")]
    names = sorted(".".join([*path.parent.parts, path.name.removesuffix(EXTENSION_SUFFIXES[0])]) for path in files)
    others = "import numpy, scipy.sparse, scipy.linalg, sklearn.base, sklearn.metrics, pandas"  # older ones turn it on themselves
    check = f"{others}; {FREE}; import importlib; [importlib.import_module(name) for name in {names}]; before = free; {FREE}"
    command = [sys.executable, "-c", f"{check}; assert free == before, 'the lock was turned on'"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------------------------------------- what readers leave there


def test_predictors_that_are_kept_are_those_that_were_asked_for():
    """The average and the last iterate, by turns in several threads: each finds its own, or makes it."""
    model = stream()
    learner, rows = model._model.learner, model._model.read_rows(X)[1]
    expected = {mean: np.empty((len(X), 3)) for mean in (True, False)}
    for mean, scores in expected.items():
        learner.scores(rows, scores, mean=mean)
    assert not np.array_equal(*expected.values())

    def read(first):
        found = np.empty((len(X), 3))
        for i in range(100):
            mean = (first + i) % 2 == 0
            learner.scores(rows, found, mean=mean)
            assert_array_equal(found, expected[mean])

    threads_of(*[lambda first=first: read(first) for first in range(4)])


def test_maps_that_are_kept_are_those_that_were_asked_for():
    """Two decisions, by other costs, of one record of scores: what one makes of it is not the other's."""
    model = stream(decision="expected_cost")
    observer = model._model.learner.observer
    expected = model.predict_proba(X[:50])
    wrong = 0, dict.fromkeys(observer.kept[1])  # of another moment

    def meddle():
        for _ in range(2000):
            observer.kept = wrong

    def read():
        for _ in range(50):
            assert_array_equal(model.predict_proba(X[:50]), expected)

    threads_of(meddle, read, read)


@pytest.mark.parametrize("decision", ["f1", "expected_cost"])
def test_decisions_of_a_stream_beside_one_that_learns(decision):
    model = PredtronBinaryClassifier(norm="l2", decision=decision).partial_fit(X, Y % 2, classes=[0, 1])
    beside_learning(model, lambda: model.predict(X[:5]), lambda: model.predict(X), y=Y % 2)


# ------------------------------------------------------------------------------------------------------------- one moment


def test_a_recorded_loss_is_of_one_moment():
    model = stream()
    history = LossHistory(8).watch(model)

    def read():
        rounds, losses = history.curve(model)
        assert len(rounds) == len(losses) <= 8
        assert (np.diff(rounds) > 0).all() and (np.diff(losses) >= 0).all()

    beside_learning(model, read, read)


def test_a_record_begins_anew_beside_readers():
    model = stream()
    LossHistory(8).watch(model)
    sizes = iter([8, 50] * 100)

    def anew():
        try:
            LossHistory(next(sizes, 8)).watch(model)
        except RuntimeError as error:
            assert BUSY in str(error)

    def read():
        rounds, losses = LossHistory.curve(model)
        assert len(rounds) == len(losses)

    threads_of(*[lambda task=task: [task() for _ in range(200)] for task in (anew, read, read)])


def test_a_model_is_pickled_as_it_is_beside_others():
    """Pickles take the problem of the present parameters for the record of scores, and leave both where they are."""
    learner = stream(decision="expected_cost")._model.learner
    twin = learner.with_parts(type(learner.problem)(3), learner.update, learner.average, learner.observer)
    assert twin.problem is not twin.observer.problem is learner.problem
    loaded = pickle.loads(pickle.dumps(twin))
    assert isinstance(loaded, Learner) and loaded.observer.problem is loaded.problem
    assert twin.observer.problem is learner.problem


def test_what_is_imported_for_a_pickle_keeps_nobody_waiting(monkeypatch):
    model, compiled, learned = stream(), fitted.compiled, []

    def import_slowly():
        if not learned:
            learned.append(model.t_)
            model.partial_fit(X[:1], Y[:1])  # refused to who is in a section, and to others while they wait
        return compiled()

    monkeypatch.setattr(fitted, "compiled", import_slowly)
    monkeypatch.setattr(model_parts, "compiled", import_slowly)
    pickle.dumps(model)
    assert learned == [1000] and model.t_ == 1001


def test_no_reader_is_there_when_the_record_of_scores_is_told_of_parameters(monkeypatch):
    model, told, refused = stream(decision="expected_cost"), Calibration.observer, []

    def observer(self, problem, present, *kind):
        if present is not None:
            with pytest.raises(RuntimeError, match=BUSY):
                model._model.learner.lock.changing().__enter__()
            refused.append(present)
        return told(self, problem, present, *kind)

    monkeypatch.setattr(Calibration, "observer", observer)
    model.set_params(class_weight={0: 2.0}).partial_fit(X, Y)
    assert len(refused) == 1


def test_weights_of_classes_change_beside_pickles():
    model = stream(reject=Reject(rate=0.1))
    weights = iter(np.linspace(1, 2, 100))

    def change():
        model.set_params(class_weight={0: next(weights), 1: 1.0, 2: 1.0}).partial_fit(X[:40], Y[:40])

    def save():
        assert pickle.loads(pickle.dumps(model)).predict(X[:3]).shape == (3,)

    threads_of(lambda: [change() for _ in range(30)], *[lambda: [save() for _ in range(10)]] * 2)


@pytest.mark.parametrize("kind", [PredtronRanker, PredtronLabelRanker])
def test_bounds_of_rankings_are_those_of_the_lists_that_were_learned(kind):
    """Of a model that was saved, and of one that has learned on by other parameters from shorter lists, too."""
    of_queries = kind is PredtronRanker
    model = kind(norm="l2", update="perceptron", **({} if of_queries else {"intercept_scaling": 1.0}))
    model.partial_fit(X[:30], *((RELEVANCES[:30, 0], np.arange(30) // 10) if of_queries else (RELEVANCES[:30],)))
    bound = model.loss_bound(0.1, 3.0, 0.1)
    assert bound > 0
    assert pickle.loads(pickle.dumps(model)).loss_bound(0.1, 3.0, 0.1) == bound
    model.set_params(tol=0.1).partial_fit(X[:2], RELEVANCES[:2, 0] if of_queries else RELEVANCES[:2])
    assert model.loss_bound(0.1, 3.0, 0.1) == bound


def test_bounds_beside_longer_and_longer_lists():
    model = PredtronRanker(norm="l2", update="perceptron").partial_fit(X[:4], RELEVANCES[:4, 0])
    found = [[], []]

    def learn():
        for n in range(5, 60):
            model.partial_fit(X[:n], RELEVANCES[:n, 0])

    beside(learn, *[lambda one=one: one.append(model.loss_bound(0.1, 3.0, 0.1)) for one in found])
    assert all((np.diff(one) >= 0).all() for one in found)


def test_counts_are_of_one_moment():
    """Every round loses 1 or nothing, and the mean loss of what predicted is one of those."""
    model = PredtronBinaryClassifier(norm="l2").partial_fit(X[:1], Y[:1] % 2, classes=[0, 1])
    before = [0, 0]

    def read():
        mean, now = model.progressive_loss_, [model.n_mistakes_, model.t_]
        assert 0 <= mean <= 1 and before[0] <= now[0] <= now[1] and model.average_ in (False, "linear", 100)
        before[:] = now

    beside_learning(model, read, y=Y % 2)


# ----------------------------------------------------------------------------------------------------------- shared parts


def test_estimators_that_share_their_parts_learn_side_by_side():
    """One instance of each part in several estimators, each in a thread of its own: the bits are those of one after the other."""
    shared = {"loss": CostMatrix(COSTS), "update": PassiveAggressive(), "norm": L2(), "features": "piecewise"}

    def model(seed):
        return PredtronClassifier(**shared, random_state=seed, max_iter=3, cv=0)

    expected = [model(seed).fit(X, Y) for seed in range(4)]
    found = [model(seed) for seed in range(4)]
    threads_of(*[lambda one=one: one.fit(X, Y) for one in found])
    for one, other in zip(found, expected, strict=True):
        assert_same_bits(one, other, "side by side")
