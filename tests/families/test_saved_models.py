"""Saved models are plain state: every way of saving gives the same predictions and the same bits when learning goes on."""

import copy
import gzip
import pickle
import pickletools
from pathlib import Path

import cloudpickle
import joblib
import numpy as np
import pytest
import skops.io
from golden.write import FAMILIES, FILED, NORMS, data, learn
from numpy.testing import assert_array_equal
from sklearn.base import clone

import sklearn_predtron
from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronRanker,
    datasets,
    decisions,
    features,
    losses,
    norms,
    updates,
)
from sklearn_predtron.families.model.model import Model
from sklearn_predtron.losses import FBeta, Reject
from sklearn_predtron.norms import RKHS
from sklearn_predtron.predictor._compiled_parts import FORMAT, compiled
from sklearn_predtron.updates import Adaptive, PassiveAggressive
from tests.own_checks import frozen, is_same


def skopsed(model, folder):
    written = skops.io.dumps(model)
    return skops.io.loads(written, trusted=skops.io.get_untrusted_types(data=written))


def joblibbed(model, folder, **how):
    joblib.dump(model, folder / "model")
    return joblib.load(folder / "model", **how)


def filed(model, folder):
    model.save(folder / "file")
    return sklearn_predtron.load(folder / "file")


WAYS = {
    "pickle": lambda model, folder: pickle.loads(pickle.dumps(model)),
    "oldest protocol": lambda model, folder: pickle.loads(pickle.dumps(model, protocol=2)),
    "cloudpickle": lambda model, folder: pickle.loads(cloudpickle.dumps(model)),
    "deepcopy": lambda model, folder: copy.deepcopy(model),
    "copy": lambda model, folder: copy.copy(model),
    "joblib": joblibbed,
    "memory map": lambda model, folder: joblibbed(model, folder, mmap_mode="r"),
    "skops": skopsed,
    "model file": filed,
}


@pytest.mark.parametrize(
    "loss", [{("bad", "good"): 10.0}, {("bad", "good"): 2, ("good", "bad"): np.float64(0.5)}], ids=["one", "two"]
)
def test_costs_by_pairs_are_saved(loss, tmp_path):
    """Keys of dicts are text in skops' format."""
    X, y = np.random.default_rng(0).standard_normal((60, 3)), np.array(["bad", "good"] * 30)
    declared = PredtronBinaryClassifier(loss=losses.CostMatrix(loss, labels=["bad", "good"]), random_state=0).fit(X, y)
    model = PredtronBinaryClassifier(loss=loss, random_state=0).fit(X, y)
    for way, save in WAYS.items():
        other = save(model, tmp_path)
        assert other.get_params() == model.get_params() and not hasattr(other, "_pairs"), way
        assert_array_equal(other.fit(X[:40], y[:40]).coef_, clone(model).fit(X[:40], y[:40]).coef_)
        assert save(clone(model), tmp_path).loss == save(declared, tmp_path).loss.costs == loss


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("family", FAMILIES)
def test_each_way_of_saving(family, norm, tmp_path):
    X, y, more = data(family)
    model = learn(FAMILIES[family](norm=NORMS[norm], random_state=0), X, y, more, slice(0, 24))
    expected = copy.deepcopy(model)
    others = {way: save(model, tmp_path) for way, save in WAYS.items()}
    predicted = expected.predict(X)
    for other in others.values():
        assert_array_equal(other.predict(X), predicted)
    learn(expected, X, y, more, slice(24, None))
    state = frozen(expected)
    for way, other in others.items():
        assert is_same(frozen(learn(other, X, y, more, slice(24, None))), state), way


def test_what_skops_has_to_trust():
    """The public estimator and its public parts, and nothing else."""
    X, y, more = data("ranking")
    for norm in NORMS.values():
        model = PredtronRanker(norm=norm, update=PassiveAggressive(C=0.1)).fit(X, y, **more)
        for path in skops.io.get_untrusted_types(data=skops.io.dumps(model)):
            module, _, name = path.rpartition(".")
            assert name in vars(__import__(module, fromlist=["__all__"]))["__all__"], path


def names_of(model):
    """The classes that a pickle names."""
    strings, found = [], []
    for opcode, argument, _ in pickletools.genops(pickle.dumps(model, protocol=4)):
        if "UNICODE" in opcode.name:
            strings.append(argument)
        elif opcode.name == "STACK_GLOBAL":
            found.append(".".join(strings[-2:]))
        elif opcode.name == "MEMOIZE":
            continue
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_a_pickle_names_public_paths_only(family):
    X, y, more = data(family)
    model = FAMILIES[family](update=Adaptive(), norm=RKHS()).fit(X, y, **more)
    own = [name for name in names_of(model) if name.startswith("sklearn_predtron")]
    assert f"sklearn_predtron.{type(model).__name__}" in own
    assert not [name for name in own if "._" in name]


def test_public_classes_have_public_paths():
    for module in (sklearn_predtron, datasets, decisions, features, losses, norms, updates):
        for name in module.__all__:
            assert getattr(module, name).__module__ == module.__name__


def test_compiled_classes_have_names_of_their_own():
    kinds = compiled()
    assert len(kinds) > 60 and all(kind.__name__ == name for name, kind in kinds.items())
    assert {"Learner", "L2Weights", "AdaptiveRule", "RecentScores"} <= kinds.keys()


def test_an_object_that_stands_in_two_places_is_one():
    X, y, _ = data("multiclass")
    model = PredtronClassifier(reject=Reject(0.2, -1)).fit(X, y)
    learner = Model.unpacked(model._model.packed()).learner
    assert learner.observer.problem is learner.problem


def state_with(state, name, value):
    """Return a state in which a field of the model is another."""
    *parts, learned = state["_model"]["parts"]
    fields = [[field, value if field == name else content] for field, content in learned["state"]]
    return {**state, "_model": {**state["_model"], "parts": [*parts, {**learned, "state": fields}]}}


def test_a_state_is_parameters_and_one_model():
    X, y, _ = data("multiclass")
    fresh, fitted = PredtronClassifier(), PredtronClassifier().fit(X, y)
    assert fresh.__getstate__().keys() == fresh.get_params(deep=False).keys()
    assert fitted.__getstate__().keys() - fresh.__getstate__().keys() == {"_model"}
    packed = fitted.__getstate__()["_model"]
    assert packed.keys() == {"format", "version", "parts"}
    assert (packed["format"], packed["version"]) == (1, sklearn_predtron.__version__) and FORMAT == 1


def test_models_of_another_format_are_refused():
    X, y, _ = data("multiclass")
    state = PredtronClassifier().fit(X, y).__getstate__()
    packed = state["_model"]
    for saved, message in [
        ({**packed, "format": 4, "version": "9.9"}, r"has format 4, of sklearn_predtron 9\.9; this version reads format 1"),
        ({**packed, "format": "1"}, "has no format: it is older than"),
        ({name: value for name, value in packed.items() if name != "format"}, "has no format: it is older than"),
        ([packed], "has no format: it is older than"),
    ]:
        with pytest.raises(ValueError, match=message):
            PredtronClassifier().__setstate__({**state, "_model": saved})


def test_damaged_models_are_refused_by_name():
    X, y, _ = data("multiclass")
    state = PredtronClassifier().fit(X, y).__getstate__()
    packed = state["_model"]
    *parts, learned = packed["parts"]
    with pytest.raises(ValueError, match="has a part 'L7', which this version"):
        PredtronClassifier().__setstate__({**state, "_model": {**packed, "parts": [{"kind": "L7", "arguments": []}, *parts]}})
    empty = [{"kind": "L2Weights", "arguments": []}]
    for damaged in ([], None, [{}], 7, empty, parts, parts[:-1], [*parts[1:], learned], [*parts, {"kind": "Model"}], [learned]):
        model = PredtronClassifier()
        with pytest.raises(ValueError, match="saved model is damaged"):
            model.__setstate__({**state, "_model": {**packed, "parts": damaged}})
        assert model._model is None
    for name in [field for field, _ in learned["state"]]:
        missing = [[field, value] for field, value in learned["state"] if field != name]
        with_less = {**packed, "parts": [*parts, {**learned, "state": missing}]}
        if name in ("name", "learner", "labels", "columns", "norm", "loss", "fixed", "training_parts"):
            with pytest.raises(ValueError, match=f"saved model is damaged: .*{name}"):
                Model.unpacked(with_less)
        unknown = [*learned["state"], ["unheard_of", 1]]
        with pytest.raises(ValueError, match=r"saved model is damaged: .*unheard_of"):
            Model.unpacked({**packed, "parts": [*parts, {**learned, "state": unknown}]})
    for value in (3, None, {"part": 0}):
        with pytest.raises(ValueError, match="damaged: where a learner is expected there is"):
            PredtronClassifier().__setstate__(state_with(state, "learner", value))
    with pytest.raises(ValueError, match="saved model is damaged"):
        PredtronClassifier().__setstate__(state_with(state, "columns", [1, 2, 3]))
    with pytest.raises(ValueError, match="saved model is damaged"):
        PredtronClassifier().__setstate__(state_with(state, "learner", {"part": 99}))


def test_parts_of_the_users_own_are_saved_as_they_are():
    X, y, _ = data("multilabel")
    model = PredtronMultilabelClassifier(loss=FBeta(beta=2)).fit(X, y)
    assert pickle.loads(pickle.dumps(model))._model.loss.beta == 2


GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.pkl.gz"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_models_of_the_golden_files(path):
    """Models that a version wrote predict what they did, and learn on."""
    with gzip.open(path) as file:
        saved = pickle.load(file)
    assert saved.keys() == {(family, norm) for family in FAMILIES for norm in NORMS}
    for (family, norm), (written, predicted, scores) in saved.items():
        X, y, more = data(family)
        model = pickle.loads(written)
        assert type(model) is FAMILIES[family] and str(model.norm) == str(NORMS[norm])
        if family != "ranking":
            assert_array_equal(model.predict(X), predicted)
        np.testing.assert_allclose(scores_of(model, X), scores, rtol=1e-9, atol=1e-9)
        rounds = model.t_
        assert learn(model, X, y, more, slice(24, None)).t_ > rounds


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_the_model_file_of_a_version(path):
    with gzip.open(path) as file:
        _, predicted, scores = pickle.load(file)[FILED]
    X, y, more = data(FILED[0])
    model = sklearn_predtron.load(str(path).replace(".pkl.gz", ".predtron"))
    assert_array_equal(model.predict(X), predicted)
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-9, atol=1e-9)
    rounds = model.t_
    assert learn(model, X, y, more, slice(24, None)).t_ > rounds


def scores_of(model, X):
    return model.predict(X) if isinstance(model, PredtronRanker) else model.decision_function(X)


def test_this_version_has_golden_files():
    assert any(path.name == f"{sklearn_predtron.__version__}.pkl.gz" for path in GOLDEN)


class KeepsItself(PredtronClassifier):
    """Saves its attributes as they are."""

    def __getstate__(self):
        return dict(vars(self))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_subclass_that_saves_its_attributes_is_saved_in_mid_stream(copied):
    X, y = np.random.default_rng(0).standard_normal((30, 3)), np.arange(30) % 3
    model = KeepsItself().partial_fit(X, y, classes=[0, 1, 2])
    other = copied(model)
    assert_array_equal(other.partial_fit(X, y).coef_, copy.deepcopy(model).partial_fit(X, y).coef_)


def test_labels_that_lack_something_are_damaged():
    X, y, _ = data("multiclass")
    state = PredtronClassifier().fit(X, y).__getstate__()
    packed = state["_model"]
    parts = [{**part, "state": []} if part["kind"] == "Classes" else part for part in packed["parts"]]
    assert parts != packed["parts"]
    with pytest.raises(ValueError, match=r"saved model is damaged: .*classes"):
        PredtronClassifier().__setstate__({**state, "_model": {**packed, "parts": parts}})


@pytest.mark.parametrize("classes", [np.arange(5), np.arange(1), np.arange(4).reshape(2, 2), [0, 1], None])
def test_two_classes_that_are_not_two_are_damaged(classes):
    """Compiled code reads their numbers as zeros and ones."""
    X, y, more = data("bipartite")
    for model, name in [
        (PredtronBipartiteClassifier().fit(X, y, **more), "classes"),
        (PredtronBinaryClassifier().fit(X, y), "classes"),
        (PredtronMultilabelClassifier().fit(X, y), "two"),
    ]:
        state = model.__getstate__()
        packed = state["_model"]
        parts = copy.deepcopy(packed["parts"])
        (codec,) = (part for part in parts if part["kind"] in ("TwoClasses", "Sets"))
        codec["state"] = [[field, classes if field == name else value] for field, value in codec["state"]]
        if classes is not None or name == "classes":  # without two classes sets are of several labels
            with pytest.raises(ValueError, match=r"saved model is damaged: .*where 2 classes are expected there is"):
                type(model)().__setstate__({**state, "_model": {**packed, "parts": parts}})


def test_a_problem_of_a_base_class_is_damaged():
    """It has no scores, by whose number other parts divide."""
    X, y, _ = data("binary")
    state = PredtronBinaryClassifier().fit(X, y).__getstate__()
    packed = state["_model"]
    parts = [{**part, "kind": "Problem"} if part["kind"] == "SignProblem" else part for part in packed["parts"]]
    assert parts != packed["parts"]
    with pytest.raises(ValueError, match="saved model is damaged: it has a Problem of no scores"):
        PredtronBinaryClassifier().__setstate__({**state, "_model": {**packed, "parts": parts}})
