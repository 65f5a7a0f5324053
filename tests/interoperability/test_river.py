"""River's estimators learn what the estimators do from the same rows, whatever features and labels turn up when."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cases import state
from scipy.sparse import csr_array
from sklearn.linear_model import SGDClassifier

from sklearn_predtron import (
    Predtron,
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron.losses import Reject
from sklearn_predtron.norms import Group, PNorm, Trace
from sklearn_predtron.river import to_river

pytest.importorskip("river.base", reason="river is not installed")
pd = pytest.importorskip("pandas", reason="river's mini-batches are pandas frames")
from river import base, checks, datasets, evaluate, metrics, preprocessing  # noqa: E402

NAMES = ["b", "a", ("a", 2), 7, "c", "d"]


def dicts(n=120, k=3, seed=0, share=0.6):
    """Rows with some of the names each, and labels."""
    random = np.random.default_rng(seed)
    W = random.standard_normal((len(NAMES), k))
    for _ in range(n):
        values = random.standard_normal(len(NAMES)).round(3) * (random.random(len(NAMES)) < share)
        yield {name: float(value) for name, value in zip(NAMES, values, strict=True) if value}, int((values @ W).argmax())


def learned(model, rows):
    for x, y in rows:
        model.learn_one(x, y)
    return model


def stored(rows, names):
    """The rows as a CSR matrix, the entries in the order of the dicts."""
    starts = np.cumsum([0] + [len(x) for x in rows])
    columns = [names.index(name) for x in rows for name in x]
    values = [float(value) for x in rows for value in x.values()]
    return csr_array((np.array(values), np.array(columns, dtype=np.int32), starts), shape=(len(rows), len(names)))


# ----------------------------------------------------------------------------------------------------------- river's checks


class Sets:
    """A stream of sets of labels, as river's checks take one."""

    def __iter__(self):
        for x, y in dicts(200, share=1.0):
            yield {str(name): value for name, value in x.items()}, {"odd": y % 2 == 1, "large": y > 1, "never": False}


def labels_of(check):
    return {y for _, y in check.keywords["dataset"]} if hasattr(check, "keywords") else set()


MODELS = {
    "binary": PredtronBinaryClassifier(),
    "classes": PredtronClassifier(),
    "scaled": PredtronClassifier(norm="scaled"),
    "last": PredtronBinaryClassifier(average=False, update="passive_aggressive"),
}


@pytest.mark.filterwarnings("ignore:the root mean squares of the stored values")  # river's pictures have columns of any scale
@pytest.mark.parametrize(
    "name", ["classes", *(pytest.param(name, marks=pytest.mark.slow) for name in MODELS if name != "classes")]
)
def test_checks(name):
    model, n = to_river(MODELS[name]), 0
    for check in checks.yield_checks(model):
        check(model.clone())
        n += 1
    assert n >= 24  # as many as river 0.22 has; later versions have more


def test_checks_of_ranks():
    """Those of streams whose labels have an order."""
    model, names = to_river(PredtronOrdinalClassifier(), classes=[False, True]), set()
    for check in checks.yield_checks(model):
        if labels_of(check) <= {False, True}:
            check(model.clone())
            names.add(check.func.__name__ if hasattr(check, "func") else check.__name__)
    assert len(names) >= 16 and "check_emerging_features" in names


def test_checks_of_sets(monkeypatch):
    monkeypatch.setattr(checks, "_yield_datasets", lambda model, scale=1: [Sets()])
    model, n = to_river(PredtronMultilabelClassifier()), 0
    for check in checks.yield_checks(model):
        check(model.clone())
        n += 1
    assert n >= 15


# -------------------------------------------------------------------------------------------------------- the same as the core


@pytest.mark.parametrize("norm", ["l2", PNorm(q=3.0), Group(q=3.0), "scaled", Trace(q=2.0)], ids=str)
def test_learns_what_the_estimator_does(norm):
    rows = list(dicts())
    model = learned(to_river(PredtronClassifier(norm=norm), classes=[0, 1, 2]), rows)
    alone = PredtronClassifier(norm=norm)
    alone.partial_fit(stored([x for x, _ in rows], model.feature_names), [y for _, y in rows], classes=[0, 1, 2])
    if isinstance(norm, Trace):  # widened but for rounding
        np.testing.assert_allclose(model.model.coef_, alone.coef_, rtol=1e-9, atol=1e-12)
    else:
        assert state(model.model) == state(alone)
    test = [x for x, _ in dicts(seed=1)]
    assert [model.predict_one(x) for x in test] == alone.predict(stored(test, model.feature_names)).tolist()


def test_features_and_classes_grow():
    rows = [(x, y) for x, y in dicts(200) if y < 2][:60] + list(dicts(60, seed=2))
    model = learned(to_river(PredtronClassifier()), rows)
    assert set(model.model.classes_.tolist()) == {0, 1, 2} and sorted(map(str, model.feature_names)) == sorted(map(str, NAMES))
    first = next(i for i, (_, y) in enumerate(rows) if y == 2)
    begin = next(i for i, (_, y) in enumerate(rows) if y != rows[0][1])  # no row before is learned from
    X, y = stored([x for x, _ in rows], model.feature_names), [y for _, y in rows]
    alone = PredtronClassifier().partial_fit(X[begin:first], y[begin:first], classes=[0, 1]).widen(classes=[2])
    assert state(alone.partial_fit(X[first:], y[first:])) == state(model.model)


def test_one_class_is_predicted_until_there_are_two():
    model = to_river(PredtronClassifier())
    assert model.predict_one({"a": 1.0}) is None
    for label in ["x", "x"]:
        model.learn_one({"a": 1.0}, label)
        assert model.predict_one({"a": -1.0}) == "x" and model.model is None and model.feature_names == []
    model.learn_one({"b": 1.0}, "y")
    assert model.predict_one({"b": 1.0}) == "y" and model.model.t_ == 1 and model.feature_names == ["b"]


def test_booleans_are_two_classes_from_the_start():
    for kind in [bool, np.bool_]:
        model = to_river(PredtronBinaryClassifier())
        model.learn_one({"a": 1}, kind(True))
        assert model.model.t_ == 1 and model.predict_one({"a": 2}) is True and model.predict_one({"a": -2}) is False


def test_unknown_and_missing_names_count_for_nothing():
    model = learned(to_river(PredtronClassifier()), dicts())
    x = {"a": 0.3, "b": -1.0}
    assert model.predict_one({**x, "unheard of": 1e9}) == model.predict_one({**x, "c": 0}) == model.predict_one(x)
    assert "unheard of" not in model.feature_names and model.predict_one({}) in {0, 1, 2}
    before = len(model.feature_names)
    model.learn_one({}, 0)
    assert len(model.feature_names) == before and model.model.t_ > 0


def test_the_first_row_may_be_empty():
    model = to_river(PredtronBinaryClassifier())
    model.learn_one({}, True)
    model.learn_one({"a": 1.0, "b": 2.0}, False)
    assert model.feature_names == ["a", "b"] and model.model.coef_.shape == (1, 2) and model.model.t_ == 2


@pytest.mark.parametrize("value", [2, True, np.float32(2.0), np.int8(2), np.float64(2.0)])
def test_values_of_any_numeric_type(value):
    model = to_river(PredtronBinaryClassifier())
    model.learn_one({"a": value}, True)
    alone = PredtronBinaryClassifier().partial_fit(csr_array([[float(value)]]), [True], classes=[False, True])
    assert state(model.model) == state(alone)


def test_probabilities():
    """Those of the estimator that has learned, to the last bit, of rows and of batches; before two labels what is known."""
    rows, model = list(dicts()), to_river(PredtronClassifier(norm="scaled"))
    X = pd.DataFrame([x for x, _ in rows]).fillna(0.0)
    assert model.predict_proba_one({}) == {} and model.predict_proba_many(X).shape == (len(rows), 0)
    model.learn_one({}, 2)
    assert model.predict_proba_one({"a": 1.0}) == {2: 1.0} and (model.predict_proba_many(X)[2] == 1).all()
    losses = []
    for x, y in rows:
        found = model.predict_proba_one(x)
        assert sum(found.values()) == pytest.approx(1) and max(found, key=found.get) == model.predict_one(x)
        losses.append(-np.log(found.get(y, 1e-15)))
        model.learn_one(x, y)
    assert np.mean(losses[30:]) < np.log(3)
    many = model.predict_proba_many(X)
    stored_rows = stored([dict(zip(X.columns, row, strict=True)) for row in X.to_numpy().tolist()], model.feature_names)
    assert (many.to_numpy() == model.model.predict_proba(stored_rows)).all()
    assert many.columns.tolist() == [0, 1, 2] and many.index.equals(X.index)
    assert many.to_dict("records") == [model.predict_proba_one(x) for x in X.to_dict("records")]
    assert model.predict_proba_many(X[:0]).shape == (0, 3)


def test_probabilities_before_there_are_two_labels():
    binary = to_river(PredtronBinaryClassifier())
    assert binary.predict_proba_one({}) == {False: 0.5, True: 0.5}
    assert to_river(PredtronClassifier(), ["a", "b", "c", "d"]).predict_proba_one({}) == dict.fromkeys("abcd", 0.25)
    binary.learn_one({"a": 1.0}, "yes")
    assert binary.predict_proba_one({}) == {"yes": 1.0}


def test_probabilities_of_rejected_rows():
    model = learned(to_river(PredtronClassifier(reject=0.3), classes=[0, 1, 2]), dicts(300))
    assert all(list(model.predict_proba_one(x)) == [0, 1, 2] for x, _ in dicts(20, seed=1))


def test_log_loss_of_river():
    score = evaluate.progressive_val_score(
        datasets.Phishing().take(600), to_river(PredtronBinaryClassifier(norm="scaled")), metrics.LogLoss()
    )
    assert score.get() < 0.45


def test_rejected_rows():
    model = learned(to_river(PredtronClassifier(reject=Reject(cost=0.3, label=-1)), classes=[0, 1, 2]), dicts(300))
    predicted = {model.predict_one(x) for x, _ in dicts(300, seed=1)}
    assert predicted == {-1, 0, 1, 2} and all(type(label) is int for label in predicted)


@pytest.mark.filterwarnings("ignore:.* is estimated on the held-out rows of training")
def test_limits_of_answers():
    """The label without a promise is always given."""
    model = learned(to_river(PredtronClassifier(reject=Reject(risk={0: 0.05, 1: 0.05})), classes=[0, 1, 2]), dicts(300))
    likely = [model.predict_proba_one(x) for x, _ in dicts(300, seed=1)]
    predicted = [model.predict_one(x) for x, _ in dicts(300, seed=1)]
    best = [max(one, key=one.get) for one in likely]
    assert -1 in predicted
    assert all(given == (label if label == 2 else given) for given, label in zip(predicted, best, strict=True))
    assert all(given in (-1, label) for given, label in zip(predicted, best, strict=True))


# ------------------------------------------------------------------------------------------------------------- mini-batches


def test_batches_are_rows_one_after_the_other():
    """To the last bit, whatever columns and labels turn up in which batch."""
    batches = [(["a"], [0, 0]), (["b", "a"], [0, 1, 1, 0]), (["b", "c", 7], [1, 2, 0]), (["a"], [3, 3, 1]), (["c"], [])]
    one, many = to_river(PredtronClassifier()), to_river(PredtronClassifier())
    random = np.random.default_rng(0)
    for names, labels in batches:
        X = pd.DataFrame(random.standard_normal((len(labels), len(names))), columns=names, index=range(5, 5 + len(labels)))
        many.learn_many(X, pd.Series(labels, dtype=int))
        learned(one, zip(X.to_dict("records"), labels, strict=True))
    assert state(one.model) == state(many.model) and one.feature_names == many.feature_names
    X = pd.DataFrame(random.standard_normal((20, 3)), columns=["c", "new", "a"], index=[f"row {i}" for i in range(20)])
    predicted = many.predict_many(X)
    assert predicted.index.equals(X.index) and predicted.tolist() == [one.predict_one(x) for x in X.to_dict("records")]
    assert many.predict_many(X[["new"]]).tolist() == [one.predict_one({})] * 20


def test_batches_before_there_are_two_classes():
    model = to_river(PredtronClassifier())
    X = pd.DataFrame({"a": [1.0, 2.0]})
    assert model.predict_many(X).tolist() == [None, None]
    model.learn_many(X, pd.Series(["x", "x"]))
    assert model.predict_many(X).tolist() == ["x", "x"] and model.predict_many(X[:0]).tolist() == []


def test_batches_of_other_types():
    model = to_river(PredtronBinaryClassifier())
    X = pd.DataFrame({"a": [1, 2, 3], "b": [True, False, True], "c": np.float32([0.5, 1.5, 2.5])})
    model.learn_many(X, pd.Series([True, False, True]))
    one = learned(to_river(PredtronBinaryClassifier()), zip(X.to_dict("records"), [True, False, True], strict=True))
    assert state(model.model) == state(one.model)


FRAMES = {"polars": lambda pl, table: pl.DataFrame(table), "pyarrow": lambda pa, table: pa.table(table)}


@pytest.mark.parametrize("library", FRAMES)
def test_frames_of_any_library(library):
    """They learn and predict what pandas frames do, and the results are of the same library."""
    module = pytest.importorskip(library)
    random = np.random.default_rng(0)
    table = {"a": random.standard_normal(30), "b": np.arange(30), "c": [None, 1.5, 2.5] * 10}
    y, w = np.arange(30) % 3, np.arange(30) % 4
    X, same = FRAMES[library](module, table), pd.DataFrame(table)
    other, model = to_river(PredtronClassifier()), to_river(PredtronClassifier())
    assert model.predict_proba_many(X).shape[1] == 0
    columns = FRAMES[library](module, {"y": y, "w": w})
    model.learn_many(X, columns["y"], w=columns["w"])
    other.learn_many(same, pd.Series(y), w=w)
    assert state(model.model) == state(other.model)
    predicted, probabilities = model.predict_many(X), model.predict_proba_many(X)
    assert type(probabilities) is type(X) and type(predicted) is type(columns["y"])
    assert np.array_equal(predicted.to_numpy(), other.predict_many(same).to_numpy())
    assert {str(label): values.tolist() for label, values in other.predict_proba_many(same).items()} == (
        probabilities.to_pydict() if library == "pyarrow" else probabilities.to_dict(as_series=False)
    )


def test_what_is_no_frame_is_refused():
    with pytest.raises(ValueError, match=r"X=\[\[1\.0\]\] must be a data frame"):
        to_river(PredtronClassifier()).learn_many([[1.0]], [1])


# ------------------------------------------------------------------------------------------------------------------- weights


def test_weights_are_those_of_partial_fit():
    rows = [(x, y) for x, y in dicts(90) if x]
    weights = [float(w) for w in np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], len(rows))]
    weights[:3] = [1.0, 0.0, 2.0]
    model = to_river(PredtronClassifier(), classes=[0, 1, 2])
    for (x, y), w in zip(rows, weights, strict=True):
        model.learn_one(x, y, w=w)
    there = [i for i, w in enumerate(weights) if w]
    X = stored([rows[i][0] for i in there], model.feature_names)
    y, w = [rows[i][1] for i in there], [weights[i] for i in there]
    ours = PredtronClassifier(norm="l2").partial_fit(X, y, classes=[0, 1, 2], sample_weight=w)
    assert np.array_equal(model.model.coef_, ours.coef_) and model.model.t_ == len(there)
    plain = learned(to_river(PredtronClassifier(), classes=[0, 1, 2]), rows)
    assert not np.array_equal(plain.model.coef_, ours.coef_)


def test_weights_go_through_pipelines():
    rows = [({"a": x["b"], "b": x.get("a", 0.0)}, y) for x, y in dicts(60) if "b" in x]
    pipeline = preprocessing.StandardScaler() | to_river(PredtronClassifier(), classes=[0, 1, 2])
    scaler, model = preprocessing.StandardScaler(), to_river(PredtronClassifier(), classes=[0, 1, 2])
    for i, (x, y) in enumerate(rows):
        pipeline.learn_one(x, y, w=1.0 + i % 3)
        scaler.learn_one(x)
        model.learn_one(scaler.transform_one(x), y, w=1.0 + i % 3)
    assert state(pipeline["RiverClassifier"].model) == state(model.model)


def test_weights_of_groups_and_batches():
    """A round of weight 2 is one whose rows have it; a batch has the weights of its rows."""
    query, relevances = [{"a": 1.0}, {"a": 0.5, "b": 2.0}], [1, 0]
    ranker, rows = to_river(PredtronRanker()), np.array([[1.0, 0.0], [0.5, 2.0]])
    ours = PredtronRanker(norm="l2")
    for w in (1.0, 2.0, 0.0):
        ranker.learn_one(query, relevances, w=w)
        if w:
            ours.partial_fit(csr_array(rows), relevances, qid="one", sample_weight=[w, w])
    assert np.array_equal(ranker.model.coef_, ours.coef_) and ranker.model.t_ == 2
    batches, weights = to_river(PredtronBipartiteClassifier(loss="auc", batch_size=4)), [1.0, 0.0, 3.0, 1.0, 2.0]
    X, y = np.random.default_rng(0).standard_normal((5, 1)), [True, True, False, True, False]
    for x, label, w in zip(X, y, weights, strict=True):
        batches.learn_one({"a": float(x[0])}, label, w=w)
    there = [0, 2, 3, 4]
    ours = PredtronBipartiteClassifier(loss="auc", batch_size=4, norm="l2").partial_fit(
        csr_array(X[there]), np.array(y)[there], classes=[True, False], sample_weight=np.array(weights)[there]
    )
    assert np.array_equal(batches.model.coef_, ours.coef_) and batches.model.t_ == 1


@pytest.mark.parametrize("w", [-1.0, float("nan"), float("inf"), "1", None])
def test_what_is_no_weight_is_refused(w):
    model = learned(to_river(PredtronClassifier()), dicts(20))
    before = state(model.model)
    with pytest.raises(ValueError, match=r"w=.* must be a finite number of at least 0"):
        model.learn_one({"new": 1.0}, 0, w=w)
    with pytest.raises(ValueError, match=r"w=.* must be a finite number of at least 0"):
        model.learn_many(pd.DataFrame({"new": [1.0, 2.0]}), [0, 1], w=[1.0, w])
    assert state(model.model) == before and "new" not in model.feature_names


# ------------------------------------------------------------------------------------------------------------ sets of labels


def test_sets_of_labels_grow():
    model, rows = to_river(PredtronMultilabelClassifier()), list(dicts())
    assert model.predict_one(rows[0][0]) == model.predict_proba_one(rows[0][0]) == {}
    sets = [{"even": y % 2 == 0, "two": y == 2, **({"one": True} if y == 1 and i > 20 else {})} for i, (_, y) in enumerate(rows)]
    learned(model, [(x, y) for (x, _), y in zip(rows, sets, strict=True)])
    assert model.label_names == ["even", "two", "one"]
    first = next(i for i, y in enumerate(sets) if "one" in y)
    X = stored([x for x, _ in rows], model.feature_names)
    Y = np.array([[y.get(name, False) for name in model.label_names] for y in sets]).astype(float)
    alone = PredtronMultilabelClassifier().partial_fit(X[:first], Y[:first, :2]).widen(classes=[0, 1, 2])
    assert state(alone.partial_fit(X[first:], Y[first:])) == state(model.model)
    found = model.predict_proba_one(rows[0][0])
    assert list(found) == model.label_names and [p[True] for p in found.values()] == alone.predict_proba(X[:1])[0].tolist()
    assert all(p[False] + p[True] == 1 for p in found.values())
    predicted = model.predict_one(rows[0][0])
    assert list(predicted) == model.label_names and all(type(on) is bool for on in predicted.values())
    assert list(predicted.values()) == alone.predict(X[:1])[0].astype(bool).tolist()


# --------------------------------------------------------------------------------------------------- as river's own estimators


def test_in_a_pipeline():
    rows = list(datasets.Phishing().take(400))
    scaler, alone, right = preprocessing.StandardScaler(), to_river(PredtronBinaryClassifier()), 0
    for x, y in rows:
        scaler.learn_one(x)
        scaled = scaler.transform_one(x)
        right += alone.predict_one(scaled) == y
        alone.learn_one(scaled, y)
    pipeline = preprocessing.StandardScaler() | to_river(PredtronBinaryClassifier())
    score = evaluate.progressive_val_score(rows, pipeline, metrics.Accuracy()).get()
    assert score == pytest.approx(right / 400, abs=0.02) and score > 0.85


def test_threads_predict_side_by_side():
    rows = list(dicts(300))
    model = learned(to_river(PredtronClassifier()), rows)
    expected = [model.predict_one(x) for x, _ in rows]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda _: [model.predict_one(x) for x, _ in rows], range(8)))
    finally:
        sys.setswitchinterval(interval)
    assert found == [expected] * 8


def test_kinds():
    binary, classes = to_river(PredtronBinaryClassifier()), to_river(PredtronClassifier())
    assert isinstance(binary, base.MiniBatchClassifier) and not binary._multiclass and classes._multiclass
    assert isinstance(to_river(PredtronMultilabelClassifier()), base.MultiLabelClassifier)


# ----------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(("first", "second"), [("a", 1), (1, "a"), ("a", True)])
def test_labels_are_of_one_type(first, second):
    model = learned(to_river(PredtronClassifier()), [({"a": 1.0}, first)])
    for label, message in ((second, "accepted is one of the type of the label so far"), (2.5, "y=2.5 is no label")):
        with pytest.raises(ValueError, match=message):
            model.learn_one({"b": 1.0}, label)
    assert model.model is None and model.predict_one({}) == first


@pytest.mark.parametrize("x", [{"a": "red"}, {"b": None, "a": 1j}, [1.0]], ids=str)
def test_rows_to_predict_are_checked(x):
    with pytest.raises(ValueError, match=r"no number|must be a dict"):
        learned(to_river(PredtronClassifier()), dicts()).predict_one(x)


BAD_FRAMES = [
    (pd.DataFrame({"a": [1.0, np.inf]}), [0, 1], "X has a column 'a' with values that are no finite numbers"),
    (pd.DataFrame({"a": [1.0, 2.0], "new": ["1", "2"]}), [0, 1], "X has a column 'new' with values that are no finite"),
    (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), [0], "accepted are frames whose columns have different names"),
    (pd.DataFrame({"a": [1.0, 2.0]}), [0], "X has 2 rows and y has 1"),
    (pd.DataFrame({"new": [1e200, 2.0]}), [0, 1], "has the length"),
]


@pytest.mark.parametrize(("X", "y", "message"), BAD_FRAMES, ids=lambda part: str(part)[:20])
def test_a_failed_batch_changes_nothing(X, y, message):
    rows = list(dicts())
    model, same = (learned(to_river(PredtronClassifier()), rows[:60]) for _ in range(2))
    with pytest.raises(ValueError, match=message):
        model.learn_many(X, pd.Series(y))
    assert model.feature_names == same.feature_names
    assert state(learned(model, rows[60:]).model) == state(learned(same, rows[60:]).model)


@pytest.mark.parametrize("n_before", [0, 60])
@pytest.mark.parametrize(
    ("values", "y", "message"),
    [([1.0, 2.0, 3.0], [0, 17, None], "y=.* is no label"), ([1.0, 2.0, 1e200], [1, 17, 1], "has the length")],
)
def test_a_batch_that_fails_in_its_midst_changes_nothing(values, y, message, n_before):
    rows = list(dicts())
    model, same = (learned(to_river(PredtronClassifier()), rows[:n_before]) for _ in range(2))
    with pytest.raises(ValueError, match=message):
        model.learn_many(pd.DataFrame({"new": values}), pd.Series(y, dtype=object))
    assert model.feature_names == same.feature_names and model.predict_one({}) == same.predict_one({})
    assert state(learned(model, rows[60:]).model) == state(learned(same, rows[60:]).model)


@pytest.mark.parametrize("estimator", [Predtron(problem=None), SGDClassifier(), "PredtronClassifier"])
def test_other_estimators_are_refused(estimator):
    with pytest.raises(ValueError, match="has no river estimator; accepted are those of the classes PredtronBinaryClassifier"):
        to_river(estimator)


def test_classes_are_refused_or_needed():
    with pytest.raises(ValueError, match=r"classes=\[0, 1\] must be None for PredtronMultilabelClassifier"):
        to_river(PredtronMultilabelClassifier(), classes=[0, 1])
    with pytest.raises(ValueError, match=r"classes=\[0, 1\] must be None for PredtronRanker"):
        to_river(PredtronRanker(), classes=[0, 1])
    with pytest.raises(ValueError, match="classes=None leaves PredtronOrdinalClassifier without its ranks"):
        to_river(PredtronOrdinalClassifier())
    of_words = to_river(PredtronOrdinalClassifier(categories=["low", "high"]))
    for wrapped, label in [(of_words, "high"), (to_river(PredtronOrdinalClassifier(), [1, 2]), 2)]:
        wrapped.learn_one({"a": 1.0}, label)
        assert wrapped.predict_one({"a": 1.0}) == label


def test_what_cannot_grow_is_refused():
    model = to_river(PredtronClassifier(loss=[[0, 1], [2, 0]]))
    rows = [({"a": 1.0}, 0), ({"a": 2.0}, 1)]
    with pytest.raises(ValueError, match="does not take more classes than it began with"):
        learned(model, [*rows, ({"b": 1.0}, 2)])
    assert model.feature_names == ["a"] and model.model.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="which cannot change after the first training call; give q to the norm"):
        learned(to_river(PredtronClassifier(norm="trace")), [*rows, *dicts()])
