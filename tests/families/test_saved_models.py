"""Saved models are plain state: every way of saving gives the same predictions and the same bits when learning goes on."""

import copy
import gzip
import pickle
import pickletools
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import cloudpickle
import joblib
import numpy as np
import pytest
import skops.io
from golden.write import FAMILIES, FILED, NORMS, data, learn
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone

import sklearn_predtron
from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
    datasets,
    decisions,
    features,
    losses,
    norms,
    updates,
)
from sklearn_predtron._support.parts import Part
from sklearn_predtron.decisions import AtLeast, AtMost, ExpectedCost
from sklearn_predtron.decisions._promises import CONDITIONS
from sklearn_predtron.families.estimator.model_file import content_of
from sklearn_predtron.families.model.model import Model
from sklearn_predtron.families.model.model_parts import LEAST_COMPRESSED, compress_zeros
from sklearn_predtron.losses import FBeta, Reject
from sklearn_predtron.norms import RKHS
from sklearn_predtron.predictor._compiled_parts import FORMAT, compiled, decompress, is_compressed
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


# -------------------------------------------------------------------------------------------- values at the ends of their range

NUMBERS = [0, 1, 2, -1, 7, 40, 2**31, 2**62, 0.0, -0.0, 0.1, 0.5, 1.0, 3.5, 5e-324, 1e-300, 1e-100, 1e-9, 1e9, 1e100, 1e300]
NUMBERS += [1.7e308, -1e-300, np.float32(0.25), np.longdouble(2), Fraction(1, 3), Decimal("0.2"), np.nextafter(1, 0)]
OTHERS = [None, True, False, np.True_, "auto", "theory", "invsqrt", "pegasos", "balanced", "linear", "uniform", "fitted", "f1"]


def missed_minus_false(matrix):
    """A measure of two classes that may be below 0."""
    return float(matrix[1, 0] - matrix[0, 1])


OWN = {"missed_minus_false": missed_minus_false}


def rows_of(family):
    if family == "sequences":
        X, y, _ = data("multiclass")
        return X, y, {"sid": np.repeat(np.arange(10), 4)}
    return data(family)


def parts(kind=Part):
    """All parts that need no arguments."""
    for child in kind.__subclasses__():
        yield from parts(child)
        try:
            if child.__module__.startswith("sklearn_predtron."):  # not of other tests
                yield child()
        except (TypeError, ValueError):
            continue


def settings(model):
    """The parameters of an estimator, and those of each part that may be one of its parameters."""
    own = [name for name in model.get_params(deep=False) if name not in ("random_state", "problem")]
    found = [(None, None, name) for name in own]
    for name in own:
        fitting = [part for part in parts() if isinstance(part, tuple(model._parts_of(name)))]
        found += [(name, part, inner) for part in fitting for inner in part.get_params(deep=False)]
    return found


def drawn_decision(random):
    measure = random.choice([*CONDITIONS, "missed_minus_false"])
    bound = NUMBERS[random.integers(len(NUMBERS))]
    label = [None, 0, 1][random.integers(3)]
    kind = [AtMost, AtLeast][random.integers(2)]
    promise = kind(OWN.get(measure, str(measure)), bound, label=None if measure in OWN else label)
    return ExpectedCost(subject_to=[promise], confidence=[None, 0.5, 0.9][random.integers(3)])


def drawn(random, kind):
    """An estimator with a value of a parameter."""
    model = kind(random_state=0)
    value = (NUMBERS + OTHERS)[random.integers(len(NUMBERS + OTHERS))]
    if "reject" in model.get_params(deep=False) and random.random() < 0.2:
        return model.set_params(decision=drawn_decision(random)), "decision"
    place, part, name = (found := settings(model))[random.integers(len(found))]
    if name == "max_iter" and isinstance(value, (int, np.integer)):
        value = min(value, 40)  # not that many epochs
    if part is None:
        return model.set_params(**{name: value}), f"{name}={value!r}"
    part = clone(part)
    setattr(part, name, value)
    return model.set_params(**{place: part}), f"{place}={part!r}"


def filed_with_own(model, path):
    model.save(path, custom=OWN)
    return sklearn_predtron.load(path, custom=OWN)


def written(model):
    """All that a model file has."""
    about, arrays = content_of(model, OWN)
    return about, {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}


EXACT_WAYS = {
    "pickle": lambda model, path: pickle.loads(pickle.dumps(model)),
    "deepcopy": lambda model, path: copy.deepcopy(model),
    "model file": filed_with_own,
}


@pytest.mark.filterwarnings("ignore")  # of values that are accepted, and strange
@pytest.mark.parametrize("family", [*FAMILIES, "sequences"])
def test_what_fit_accepts_is_saved(family, tmp_path, n_draws):
    X, y, given = rows_of(family)
    random, accepted = np.random.default_rng(0), 0
    for _ in range(n_draws(20, 150)):
        try:
            model, what = drawn(random, FAMILIES.get(family, PredtronSequenceTagger))
            model.fit(X, y, **given)
        except (TypeError, ValueError):
            continue
        accepted += 1
        state = written(model)
        for way, save in EXACT_WAYS.items():
            assert written(save(model, tmp_path / "model")) == state, f"{what}: {way}"
        assert written(clone(model).fit(X, y, **given)) == state, f"{what}: clone"
    assert accepted > 2


# --------------------------------------------------------------------------------------------------- arrays without their zeros

N = LEAST_COMPRESSED + 5


def array(share, dtype=np.float64, shape=(N,)):
    random = np.random.default_rng(0)
    values = np.where(random.random(N) < share, random.standard_normal(N), 0).astype(dtype)
    values[:4] = [-0.0, np.nan, np.inf, 5e-324]
    return values.reshape(shape)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(N,), (1, N), (3, N // 3)])
def test_an_array_comes_back_to_the_last_bit(dtype, shape):
    given = array(0.2, dtype, (N,))[: np.prod(shape)].reshape(shape)
    saved = compress_zeros(given)
    assert is_compressed(saved) and saved["there"].nbytes + saved["values"].nbytes < 0.3 * given.nbytes
    found = decompress(pickle.loads(pickle.dumps(saved)))
    assert found.dtype == dtype and found.shape == shape and found.tobytes() == given.tobytes()


@pytest.mark.parametrize(
    "given", [array(0.7), array(0.2)[: LEAST_COMPRESSED - 1], np.zeros(N, dtype=int), np.zeros((2, N))[:, ::2]]
)
def test_others_stay_as_they_are(given):
    assert compress_zeros(given) is given


def test_damaged_ones_are_refused():
    saved = compress_zeros(array(0.2))
    for changes in [
        {"shape": [N + 8]},
        {"shape": [N, 2**60]},
        {"shape": [-1]},
        {"shape": [1.0]},
        {"shape": "N"},
        {"there": saved["there"][:-1]},
        {"there": saved["there"].astype(int)},
        {"there": ~saved["there"]},
        {"values": saved["values"][:-1]},
        {"values": saved["values"].astype(complex)},
        {"values": saved["values"].tolist()},
    ]:
        with pytest.raises(TypeError, match=r"an array (without its zeros is none|has .* places for .* values)"):
            decompress({**saved, **changes})


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_of_many_classes_is_saved_in_less_than_its_weights(stream):
    random, k, p = np.random.default_rng(0), 30, 20_000
    y = np.arange(600) % k
    X = sparse.random(600, p, 0.001, format="csr", random_state=random)
    model = PredtronClassifier(cv=0, max_iter=2, random_state=0)
    model = model.partial_fit(X, y, classes=np.arange(k)) if stream else model.fit(X, y)
    written = pickle.dumps(model)
    assert len(written) < 8 * k * p < model.coef_.nbytes * 1.01
    read, copied = pickle.loads(written), copy.deepcopy(model)
    for other in (read, copied):
        assert_array_equal(other.coef_, model.coef_)
    for other in (model, read, copied):
        other.partial_fit(X, y)
    assert_array_equal(read.coef_, model.coef_)
    assert_array_equal(copied.coef_, model.coef_)


def test_a_damaged_model_says_so():
    model = PredtronClassifier(cv=0, max_iter=1).fit(
        sparse.random(60, 9000, 0.01, format="csr", random_state=0), np.arange(60) % 6
    )
    state = model.__getstate__()
    text = repr([type(part) for part in state["_model"]["parts"]])
    thinned = [value for part in state["_model"]["parts"] for value in found(part) if is_compressed(value)]
    assert thinned, text
    thinned[0]["values"] = thinned[0]["values"][1:]
    with pytest.raises(ValueError, match="The saved model is damaged: TypeError: an array has"):
        PredtronClassifier().__setstate__(state)


def found(value):
    """All that a state holds."""
    yield value
    if isinstance(value, dict) and not is_compressed(value):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from found(item)


# --------------------------------------------------------------------------------------------------- parts that cannot be


def check_damaged(model, kinds, change, message):
    """A saved model is refused if the parts of some kinds are changed."""
    state = copy.deepcopy(model.__getstate__())
    parts = [{**part, **change(part)} if part["kind"] in kinds else part for part in state["_model"]["parts"]]
    assert sum(part["kind"] in kinds for part in state["_model"]["parts"]) == 1
    with pytest.raises(ValueError, match=f"saved model is damaged: .*{message}"):
        type(model)().__setstate__({**state, "_model": {**state["_model"], "parts": parts}})


def with_field(name, value):
    return lambda part: {"state": [[field, value if field == name else content] for field, content in part["state"]]}


def test_parts_that_lack_something_or_are_of_a_base_class():
    """A problem of a base class has no scores, by whose number other parts divide."""
    X, y, _ = data("binary")
    model = PredtronBinaryClassifier().fit(X, y)
    check_damaged(model, ["TwoClasses"], lambda part: {"state": []}, "classes")
    check_damaged(model, ["SignProblem"], lambda part: {"kind": "Problem"}, "it has a Problem of no scores")


@pytest.mark.parametrize("classes", [np.arange(5), np.arange(1), np.arange(4).reshape(2, 2), [0, 1], None])
def test_two_classes_that_are_not_two_are_damaged(classes):
    """Compiled code reads their numbers as zeros and ones."""
    X, y, more = data("bipartite")
    models = [(PredtronBipartiteClassifier().fit(X, y, **more), "classes"), (PredtronBinaryClassifier().fit(X, y), "classes")]
    if classes is not None:  # without two classes sets are of several labels
        models.append((PredtronMultilabelClassifier().fit(X, y), "two"))
    for model, name in models:
        check_damaged(model, ["TwoClasses", "Sets"], with_field(name, classes), "where 2 classes are expected there is")
