"""Model files: the same bits after loading, names in errors, and nothing that a file could run."""

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from joint_cases import Tables, tables
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification

import sklearn_predtron
from sklearn_predtron import (
    Predtron,
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronSequenceTagger,
)
from sklearn_predtron._support.array_file import SUM, check_sum_of
from sklearn_predtron.callbacks import EarlyStopping, LossHistory
from sklearn_predtron.datasets import make_sequences
from sklearn_predtron.decisions import Cut
from sklearn_predtron.families.estimator.model_file import MAGIC, public_classes
from sklearn_predtron.families.model.model_parts import state_of
from sklearn_predtron.features import PiecewiseLinear
from sklearn_predtron.losses import CostMatrix, CountLoss, FBeta, Reject, SubsetLoss
from sklearn_predtron.norms import RKHS
from sklearn_predtron.predictor import _compiled_parts as compiled_parts
from sklearn_predtron.updates import PassiveAggressive


def data(n=600, p=4):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, p))
    return X, (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)


def table(n=600):
    X, y = data(n)
    frame = pd.DataFrame(X, columns=list("abcd"))
    return frame.assign(word=np.array(["red", "green", "blue"])[np.arange(n) % 3], e=frame.a.where(frame.a > -1)), y


def filed(model, folder, **how):
    model.save(folder / "model", **how)
    return sklearn_predtron.load(folder / "model", **how)


def leaves(value):
    """All of a state by values: pickles also tell equal texts from one text."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tolist() if value.dtype == object else value.tobytes()
    if sparse.issparse(value):
        return type(value), [leaves(part) for part in (value.data, value.indices, value.indptr)]
    if isinstance(value, (list, tuple)):
        return type(value), [leaves(item) for item in value]
    if isinstance(value, dict):
        return [(leaves(key), leaves(item)) for key, item in value.items()]
    return (type(value), leaves(state_of(value))) if hasattr(value, "__dict__") else (type(value), repr(value))


def check_continues(model, X, y, folder, **more):
    """The loaded model is the same, and both continue to the same state."""
    other = filed(model, folder)
    assert leaves(other) == leaves(model)
    assert_array_equal(other.predict(X), model.predict(X))
    if hasattr(model, "predict_proba"):
        assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    model.partial_fit(X[:50], y[:50], **more)
    assert leaves(other.partial_fit(X[:50], y[:50], **more)) == leaves(model)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"reject": 0.3},
        {"reject": Reject(0.2, -1), "update": PassiveAggressive(C=0.1)},
        {"decision": "learned", "class_weight": {0: 1.0, 1: np.float32(2), 2: np.int64(3)}},
        {"loss": CostMatrix({(0, 1): 3.0}, labels=[0, 1, 2]), "norm": RKHS(budget=9)},
        {"norm": "trace", "average": "auto", "tol": sklearn_predtron.Patience(0.1)},
    ],
    ids=lambda settings: ",".join(settings) or "default",
)
@pytest.mark.parametrize("labels", [int, str, object, float, bool])
def test_decisions_and_labels(settings, labels, tmp_path):
    if labels is not int and settings:
        settings = {name: value for name, value in settings.items() if name in ("norm", "average", "tol", "update")}
    X, y = data(200)
    y = y > 0 if labels is bool else y.astype(str).astype(object) if labels is object else y.astype(labels)
    model = PredtronClassifier(random_state=0, **settings).fit(X, y)
    check_continues(model, X, y, tmp_path)


@pytest.mark.parametrize("features", ["piecewise", "auto", "fourier", PiecewiseLinear(n_pairs=2), None])
@pytest.mark.parametrize("n", [300, 600])
def test_feature_maps(features, n, tmp_path):
    """A map that was made, and the first rows of a stream, of which none was made yet."""
    X, y = table(n) if features in ("piecewise", "auto") else data(n)
    model = PredtronOrdinalClassifier(features=features, random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    check_continues(model, X, y, tmp_path)
    if n == 600:
        check_continues(PredtronOrdinalClassifier(features=features, random_state=0).fit(X, y), X, y, tmp_path)


@pytest.mark.filterwarnings("ignore:X is CSR, and the first rows")
@pytest.mark.parametrize("norm", ["l2", "scaled", RKHS(), RKHS(kernel="poly", budget=20)])
def test_sparse_rows_and_weights(norm, tmp_path):
    X, y = data(80)
    X = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0))
    model = PredtronClassifier(norm=norm, random_state=0).fit(X, y)
    other = filed(model, tmp_path)
    assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    assert leaves(other.partial_fit(X, y)) == leaves(model.partial_fit(X, y))
    if norm == "l2":
        model.sparsify()
        assert_array_equal(filed(model, tmp_path).predict_proba(X), model.predict_proba(X))


def test_sets_sequences_and_callbacks(tmp_path):
    X, y = data(200)
    sets = (X[:, :3] > 0).astype(int)
    check_continues(PredtronMultilabelClassifier(decision="macro_f1", random_state=0).fit(X, sets), X, sets, tmp_path)
    binary = PredtronBinaryClassifier(decision="f1", random_state=0).set_callbacks(LossHistory(size=8)).fit(X, y > 0)
    check_continues(binary, X, y > 0, tmp_path)
    X, y, sid = make_sequences(30, random_state=0)
    tagger = PredtronSequenceTagger(cv=0, random_state=0).set_callbacks(EarlyStopping((X, y, sid))).fit(X, y, sid=sid)
    other = filed(tagger, tmp_path)
    assert_array_equal(other.predict(X, sid=sid), tagger.predict(X, sid=sid))
    assert leaves(other.partial_fit(X, y, sid=sid)) == leaves(tagger.partial_fit(X, y, sid=sid))


def test_parts_in_several_places_stay_one(tmp_path):
    X, y = data(100)
    model = PredtronClassifier(norm=RKHS(), random_state=0)
    assert filed(model, tmp_path).get_params().keys() == model.get_params().keys()
    other = filed(model.fit(X, y), tmp_path)
    assert other.norm is other._model.norm


def kernel(A, B):
    return np.asarray(A @ B.T)


def misses(a, b, c, d):
    return c / (c + d + 1)


def test_custom_objects_are_given_by_name(tmp_path):
    X, y = data(60)
    sets, path = (X[:, :3] > 0).astype(int), tmp_path / "model"
    problem = Tables(4)
    for model, rows, name, custom in [
        (PredtronClassifier(norm=RKHS(kernel)), (X, y), "norm__kernel", kernel),
        (PredtronMultilabelClassifier(loss=CountLoss(misses)), (X, sets), "loss__function", misses),
        (Predtron(problem), tables(), "problem", problem),
    ]:
        model.set_params(random_state=0).fit(*rows)
        with pytest.raises(ValueError, match=rf"^{name}=.* cannot be saved in a model file.*joblib or pickle\.$"):
            model.save(path)
        assert not path.exists()
        other = filed(model, tmp_path, custom={"mine": custom})
        assert_array_equal(other.predict(rows[0]), model.predict(rows[0]))
        assert leaves(other.partial_fit(*rows)) == leaves(model.partial_fit(*rows))
        for given in (None, {"other": custom}):
            with pytest.raises(ValueError, match=r"custom objects \['mine'\], and custom has"):
                sklearn_predtron.load(path, custom=given)
        path.unlink()
    for given in ([custom], {1: custom}):
        with pytest.raises(ValueError, match="accepted are None and a dict of objects by names"):
            sklearn_predtron.load(path, custom=given)


class Own(PredtronClassifier):
    """A subclass, of which load cannot know the code."""


def test_what_is_not_data_is_refused_by_its_parameter(tmp_path):
    path = tmp_path / "model"
    with pytest.raises(ValueError, match="Own is no public estimator"):
        Own().save(path)
    for settings, name in [
        ({"random_state": np.random.RandomState(0)}, "random_state"),
        ({"loss": CostMatrix(np.array([[0, object()], [1, 0]], dtype=object))}, "loss__costs"),
        ({"class_weight": pd.Series([1.0])}, "class_weight"),
        ({"class_weight": {0: 1j}}, "class_weight__0|class_weight"),
        ({"norm": RKHS}, "norm"),
        ({"update": np.array([1j])}, "update"),
    ]:
        with pytest.raises(ValueError, match=f"^({name})=.* cannot be saved in a model file"):
            PredtronClassifier(**settings).save(path)
    assert not path.exists()


@pytest.fixture
def whole(tmp_path):
    X, y = data(60)
    PredtronClassifier(random_state=0).fit(X, y).save(tmp_path / "model")
    return tmp_path / "model", (tmp_path / "model").read_bytes()


def written(path, about, arrays=b"", table=()):
    """Write a file with a right check sum."""
    content = json.dumps({"about": about, "arrays": list(table)}).encode() + b"\n" + arrays
    path.write_bytes(MAGIC + check_sum_of([content]) + content)


def test_damaged_files_are_refused_by_name(whole):
    path, content = whole
    random = np.random.default_rng(0)
    for at in [*range(len(MAGIC) + SUM + 5), *random.integers(len(content), size=60)]:
        changed = bytearray(content)
        changed[at] ^= 1 << int(random.integers(8))
        for damaged in (changed, content[:at]):
            path.write_bytes(damaged)
            with pytest.raises(ValueError, match=r"model' is (a damaged model file|no model file)"):
                sklearn_predtron.load(path)
    path.write_bytes(pickle.dumps(PredtronClassifier()))
    with pytest.raises(ValueError, match=r"no model file that this version wrote.*Load a pickle with joblib or pickle"):
        sklearn_predtron.load(path)
    with pytest.raises(FileNotFoundError):
        sklearn_predtron.load(path.with_name("other"))
    for odd in (3, None, b"model"):
        with pytest.raises(ValueError, match=r"path=.* is no path of a file; accepted are text and path-like objects"):
            sklearn_predtron.load(odd)
        with pytest.raises(ValueError, match=r"path=.* is no path of a file"):
            PredtronClassifier().save(odd)


def one(kind, **state):
    """What a file says of one object."""
    return {"objects": [{"class": kind, "state": state}], "estimator": {"object": 0}}


@pytest.mark.parametrize(
    "about",
    [
        None,
        [],
        {},
        {"objects": [], "estimator": None},
        {"objects": [], "estimator": {"object": 0}},
        {**one("PredtronClassifier"), "estimator": {"object": -1}},
        one("losses.Hamming"),
        one("os.system"),
        one("families.estimator.model_file.save"),
        one("load"),
        one("PredtronClassifier", _model={"object": 0}),
        one("PredtronClassifier", _model={"dict": [["format", 1]]}),
        one("PredtronClassifier", norm={"array": 0}),
        one("PredtronClassifier", norm={"sparse": ["csr_matrix", 0, 0, 0, [1, 1]]}),
        one("PredtronClassifier", norm={"eval": "1"}),
        one("PredtronClassifier", predict=3),
        one("PredtronClassifier", __class__=3),
    ],
)
def test_forged_files_are_refused_by_name(about, tmp_path):
    written(tmp_path / "model", about)
    with pytest.raises(ValueError, match="model' is a damaged model file"):
        sklearn_predtron.load(tmp_path / "model")


def test_an_unknown_class_is_named(tmp_path):
    written(tmp_path / "model", one("losses.Coming"))
    with pytest.raises(ValueError, match=r"has an object of 'losses\.Coming', a class that this version does not know"):
        sklearn_predtron.load(tmp_path / "model")


def test_arrays_are_plain_and_inside_the_file(tmp_path):
    for table, bytes_ in [
        ([["0", "|O", [1]]], bytes(8)),
        ([["0", "<f8", [2**40, 2**40]]], bytes(8)),
        ([["0", "<f8", [-1]]], b""),
        ([["0", "<f8", [1]]], bytes(9)),
        ([["0", "<U1", [1]]], b"\xff\xff\xff\xff"),
        ([["0", "<U0", [9]]], b""),
    ]:
        written(tmp_path / "model", one("PredtronClassifier"), bytes_, table)
        with pytest.raises(ValueError, match="damaged model file"):
            sklearn_predtron.load(tmp_path / "model")


def test_deep_and_large_numbers_are_refused(tmp_path):
    path = tmp_path / "model"
    for text in (b"[" * 10**6, b'{"about": ' + b"9" * 10**5 + b', "arrays": []}', b'{"about": {"objects": {}}, "arrays": []}'):
        path.write_bytes(MAGIC + check_sum_of([text + b"\n"]) + text + b"\n")
        with pytest.raises(ValueError, match="damaged model file"):
            sklearn_predtron.load(path)


def test_sizes_beyond_the_file_are_refused_before_memory_is_taken(tmp_path, monkeypatch):
    """As those of weights that a few changed bytes say are of a thousand million features."""
    X, y = data(60)
    for model in (PredtronBinaryClassifier(norm="l2", random_state=0), PredtronClassifier(norm="trace", random_state=0)):
        model.fit(X, y > 0 if isinstance(model, PredtronBinaryClassifier) else y).save(tmp_path / "model")
        content = (tmp_path / "model").read_bytes()[len(MAGIC) + SUM :]
        line, _, arrays = content.partition(b"\n")
        old = b'["kind", "%s"], ["arguments", [' % type(model._model.learner.weights).__name__.encode()
        at = line.index(old) + len(old)
        numbers = line[at:].split(b",", 2)
        forged = line[:at] + b",".join([numbers[0], b" 1000000000", numbers[2]]) + b"\n" + arrays
        (tmp_path / "forged").write_bytes(MAGIC + check_sum_of([forged]) + forged)
        with pytest.raises(ValueError, match=r"damaged model file: it has a \w+Weights of the sizes \[\d, 1000000000"):
            sklearn_predtron.load(tmp_path / "forged")
    monkeypatch.setattr(compiled_parts, "LARGEST_SIZE", -(10**6))
    with pytest.raises(ValueError, match=r"PredtronClassifier cannot be saved in a model file: it has a .* joblib or pickle"):
        model.save(tmp_path / "model")


def test_the_classes_of_files_are_the_public_ones():
    known = public_classes()
    assert {
        "PredtronRanker",
        "losses.Reject",
        "norms.Auto",
        "features.Auto",
        "updates.MMP",
        "callbacks.LossHistory",
    } <= known.keys()
    assert all(isinstance(kind, type) and kind.__module__.startswith("sklearn_predtron") for kind in known.values())


def test_a_file_is_replaced_in_one_step(whole, monkeypatch):
    path, content = whole
    with warnings.catch_warnings(), pytest.raises(ValueError, match="cannot be saved"):
        PredtronClassifier(norm=RKHS(kernel)).save(path)
    assert path.read_bytes() == content and [path] == list(path.parent.iterdir())


class Tversky(SubsetLoss):
    def __init__(self, alpha=0.3, beta=0.7):
        self.alpha, self.beta = alpha, beta

    def of_counts(self, a, b, c, d):
        mistakes = self.alpha * b + self.beta * c
        return mistakes / np.maximum(a + mistakes, 1e-9)


def test_a_custom_loss_is_named_once(tmp_path):
    """The model has a copy of it."""
    X, sets = make_multilabel_classification(100, random_state=0)
    model = PredtronMultilabelClassifier(loss=Tversky(alpha=np.array(0.4)), max_iter=2, random_state=0).fit(X, sets)
    for custom in (model.loss, clone(model.loss), Tversky(alpha=np.array(0.4))):
        loaded = filed(model, tmp_path, custom={"Tversky": custom})
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        assert loaded.loss is custom
        np.testing.assert_array_equal(
            loaded.partial_fit(X, sets).coef_, pickle.loads(pickle.dumps(model)).partial_fit(X, sets).coef_
        )
    with pytest.raises(ValueError, match=r"^custom\['Tversky'\] is a class; accepted is the object that the estimator has"):
        model.save(tmp_path / "model", custom={"Tversky": Tversky})
    fitted = clone(model.loss)
    model.loss.beta = 2.0
    with pytest.raises(ValueError, match=r"differs from the one that the model was fitted with, Tversky\(.*name both"):
        model.save(tmp_path / "model", custom={"Tversky": model.loss})
    filed(model, tmp_path, custom={"present": model.loss, "fitted": fitted})


def false_share(a, b, c, d):
    return 0.0 if b == c == 0 else (b + c) / (a + b + c)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (PredtronMultilabelClassifier(loss=CountLoss(false_share)), "loss"),
        (PredtronBinaryClassifier(norm=RKHS(kernel)), "norm"),
        (PredtronBinaryClassifier(decision=Cut(false_share)), "decision"),
        (PredtronBinaryClassifier(decision=Cut(Tversky())), "decision"),
    ],
)
def test_a_part_with_a_function_is_named_once(model, name, tmp_path):
    """The model has the function by itself."""
    X, sets = make_multilabel_classification(100, random_state=0)
    y = sets if isinstance(model, PredtronMultilabelClassifier) else sets[:, 0]
    part = getattr(model.set_params(random_state=0).fit(X, y), name)
    loaded = filed(model, tmp_path, custom={"mine": part})
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert getattr(loaded, name) is part


def test_another_object_than_the_named_one_is_refused(tmp_path):
    X, sets = make_multilabel_classification(100, random_state=0)
    model = PredtronMultilabelClassifier(loss=CountLoss(false_share), random_state=0).fit(X, sets)
    model.save(tmp_path / "model", custom={"mine": model.loss})
    for other in (Tversky(), false_share):
        with pytest.raises(ValueError, match=r"^custom\['mine'\]=.* has no attribute 'function', .* pass an equal object"):
            sklearn_predtron.load(tmp_path / "model", custom={"mine": other})
    model.loss = "hamming"
    with pytest.raises(ValueError, match=r"^The fitted model has <function false_share.*, which cannot be saved in a model file"):
        model.save(tmp_path / "model")


def test_a_cut_by_a_loss_of_the_package_needs_no_name(tmp_path):
    X, sets = make_multilabel_classification(100, random_state=0)
    model = PredtronBinaryClassifier(decision=Cut(FBeta(2.0)), random_state=0).fit(X, sets[:, 0])
    np.testing.assert_array_equal(filed(model, tmp_path).predict(X), model.predict(X))
