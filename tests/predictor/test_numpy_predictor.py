"""Predictors: the bits of the estimator, without its imports, and errors for what they cannot do."""

import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from cases import pairwise
from numpy.testing import assert_array_equal
from scipy import sparse

import sklearn_predtron
from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
    predictor,
)
from sklearn_predtron.decisions import AtLeast, Cut, ExpectedCost
from sklearn_predtron.families.estimator import model_file
from sklearn_predtron.families.estimator.for_predictors import for_predictor
from sklearn_predtron.losses import CostMatrix, CountLoss, FBeta, Reject
from sklearn_predtron.norms import RKHS
from sklearn_predtron.predictor import _scoring as scoring
from sklearn_predtron.predictor._compiled_parts import compiled, compiled_for_predictions

N, P = 700, 4
COSTS = CostMatrix({(0, 1): 3.0}, labels=[0, 1, 2])


def rows():
    X = np.random.default_rng(0).standard_normal((N, P))
    return np.where(np.abs(X) > 0.3, X, 0)


X = rows()
NOISE = np.random.default_rng(1).standard_normal((N, 3))
THREE = (X[:, 0] + NOISE[:, 0] > 0).astype(int) + (X[:, 1] > 0)
SETS = (X[:, :3] + NOISE > 0).astype(int)
BINARY, CLASSES, SETS_OF = PredtronBinaryClassifier, PredtronClassifier, PredtronMultilabelClassifier
IDS = np.arange(N) // 7

# Estimators, with their decisions, and labels.
ESTIMATORS = {
    "binary": (BINARY, THREE > 0),
    "binary learned": (partial(BINARY, decision="learned"), THREE > 0),
    "binary f1": (partial(BINARY, decision="f1"), THREE > 0),
    "binary cut": (partial(BINARY, decision=0.1), THREE > 0),
    "binary costs": (partial(BINARY, loss=[[0, 1], [5, 0]]), (THREE > 0).astype(int)),
    "binary abstains": (partial(BINARY, reject=Reject(0.2, "unsure")), np.where(THREE > 0, "yes", "no")),
    "classes": (CLASSES, THREE),
    "classes of objects": (CLASSES, np.array(["red", "blue", "green"], dtype=object)[THREE]),
    "classes, learned costs": (partial(CLASSES, loss=COSTS, decision="learned"), THREE),
    "classes, expected costs": (partial(CLASSES, loss=COSTS, class_weight={0: 1.0, 1: 2.0, 2: 1.0}), THREE),
    "classes, smoothing": (partial(CLASSES, decision=ExpectedCost(0.5), norm="l2"), THREE),
    "classes within bounds": (partial(CLASSES, decision=ExpectedCost(subject_to=[AtLeast("recall", 0.8, label=1)])), THREE),
    "classes abstain within a risk": (partial(CLASSES, reject=Reject(risk={1: 0.2})), THREE),
    "classes abstain at a rate": (partial(CLASSES, reject=Reject(rate=0.2)), THREE),
    "ranks": (PredtronOrdinalClassifier, THREE),
    "ranks, shared": (partial(PredtronOrdinalClassifier, representation="shared", loss="zero_one"), THREE),
    "sets": (SETS_OF, SETS),
    "sets, macro": (partial(SETS_OF, decision="macro_f1"), SETS.astype(float)),
    "sets, cuts": (partial(SETS_OF, decision=Cut([0.1, -0.2, 0.0])), SETS),
    "sets, expected": (partial(SETS_OF, decision="expected_cost", loss="hamming"), sparse.csr_array(SETS)),
    "sets, f": (partial(SETS_OF, loss=FBeta()), SETS),
    "sets of one": (SETS_OF, np.where(THREE > 0, "yes", "no")),
    "batches": (PredtronBipartiteClassifier, THREE > 0),
    "batches, fitted": (partial(PredtronBipartiteClassifier, decision="fitted", loss="f1"), THREE > 0),
    "documents": (PredtronRanker, THREE),
    "rankings": (PredtronLabelRanker, SETS + 2 * (NOISE > 0)),
    "pairs": (partial(PredtronLabelRanker, representation="pairwise", loss="kendall_tau"), SETS + 2 * (NOISE > 0)),
    "tokens": (PredtronSequenceTagger, THREE),
    "tokens, bio": (partial(PredtronSequenceTagger, constraint="bio", cv=0), np.array(["O", "B-x", "B-y"])[THREE]),
}
WITH_IDS = {PredtronRanker: "qid", PredtronSequenceTagger: "sid"}
LAYOUTS = ["dense", "float32", "whole", "csr", "named", "dense piecewise", "words piecewise", "words auto", "dense fourier"]
TRAININGS = ["fit", "stream", "widened"]


def table(X, how):
    """The rows as the estimator takes them."""
    if how == "float32":
        return X.astype(np.float32)
    if how == "whole":
        return np.round(4 * X).astype(int)
    if how == "csr":
        return sparse.csr_matrix(X)
    if how in ("named", "words"):
        frame = pd.DataFrame(X, columns=list("dcba"))
        if how == "words":
            words = np.array(["red", "green", "blue"])[np.arange(len(X)) % 3]
            return frame.assign(colour=words, a=frame.a.where(frame.a > -1))
        return frame
    return X


def given(rows):
    """The same rows as the predictor takes them."""
    if sparse.issparse(rows):
        return rows.data, rows.indices, rows.indptr
    return {name: rows[name].to_numpy() for name in rows} if isinstance(rows, pd.DataFrame) else rows


def learn(model, rows, y, training):
    ids = next(({name: IDS} for kind, name in WITH_IDS.items() if isinstance(model, kind)), {})
    if training == "fit":
        return model.fit(rows, y, **ids)
    more = {"classes": np.unique(y.toarray() if sparse.issparse(y) else y)} if hasattr(type(model), "classes_") else {}
    if isinstance(model, SETS_OF) and np.ndim(y) == 2:
        more = {}
    for some in (slice(0, 350), slice(350, N)):
        part = {name: values[some] for name, values in ids.items()}
        model.partial_fit(rows[some] if not isinstance(rows, pd.DataFrame) else rows.iloc[some], y[some], **more, **part)
        more = {}
    return model


def filed(model, folder):
    model.save(folder / "model")
    return predictor.load(folder / "model")


def dense(found):
    return found.toarray() if sparse.issparse(found) else found


def check_same(model, loaded, rows, **ids):
    """All methods give the same bits, for all rows and for one."""
    one = {name: values[:1] for name, values in ids.items()}
    for some, of_some in ((rows, ids), (rows.iloc[:1] if isinstance(rows, pd.DataFrame) else rows[:1], one)):
        for method in ("predict", "predict_proba", "decision_function"):
            if not hasattr(model, method):
                with pytest.raises(AttributeError, match="was saved without"):
                    getattr(loaded, method)(given(some), **of_some)
                continue
            expected = dense(getattr(model, method)(some, **of_some))
            found = getattr(loaded, method)(given(some), **of_some)
            assert_array_equal(found, expected, strict=True)
    for name in ("classes_", "n_features_in_", "feature_names_in_"):
        assert hasattr(loaded, name) == hasattr(model, name)
        if hasattr(model, name):
            assert_array_equal(getattr(loaded, name), getattr(model, name), strict=True)


ESTIMATED = pytest.mark.filterwarnings("ignore:.* is estimated on the held-out rows of training")


@ESTIMATED
@pytest.mark.parametrize(("name", "layout", "training"), pairwise(ESTIMATORS, LAYOUTS, TRAININGS))
def test_bits_are_those_of_the_estimator(name, layout, training, tmp_path):
    kind, y = ESTIMATORS[name]
    how, _, features = layout.partition(" ")
    rows, model = table(X, how), kind(random_state=0)
    if features:
        if "norm" in getattr(kind, "keywords", {}):
            model.set_params(norm="auto")
        model.set_params(features=features)
    if features and name == "classes abstain online":  # `fit` cannot compare maps before it has a threshold
        training = "stream"
    learn(model, rows, y, "stream" if training == "widened" else training)
    if training == "widened" and not features and how != "named":
        model.widen(P + 2)
    ids = next(({name: IDS} for one, name in WITH_IDS.items() if isinstance(model, one) and name == "sid"), {})
    check_same(model, filed(model, tmp_path), rows, **ids)
    if training == "stream":
        path = tmp_path / "model"
        check_same(sklearn_predtron.load(path), predictor.load(path), rows, **ids)


COSTS_OF_ROWS = np.random.default_rng(2).uniform(0, 20, N)
WITH_COSTS = {
    "binary": {(True, False): COSTS_OF_ROWS},
    "binary costs": {(0, 1): COSTS_OF_ROWS},
    "binary abstains": {("yes", "no"): 1.0 + COSTS_OF_ROWS, ("yes", "unsure"): 2.0},
    "classes": 1 - np.eye(3) + COSTS_OF_ROWS[:, None, None] * np.eye(3, k=1),
    "classes of objects": {("red", "blue"): COSTS_OF_ROWS},
    "classes, expected costs": {(2, 0): COSTS_OF_ROWS},
    "ranks": {(0, 2): COSTS_OF_ROWS},
    "sets": {(1, "missed"): COSTS_OF_ROWS},
    "sets, f": COSTS_OF_ROWS[:, None, None] * np.ones((3, 2)),
    "sets of one": {(0, "false"): COSTS_OF_ROWS},
    "tokens": {(0, 1): 3.0},
}


def of_rows(costs, some):
    """Costs of some rows."""
    if isinstance(costs, dict):
        return {pair: cost[some] if isinstance(cost, np.ndarray) else cost for pair, cost in costs.items()}
    return costs[some]


@pytest.mark.parametrize("name", WITH_COSTS)
def test_costs_of_rows_decide_as_in_the_estimator(name, tmp_path):
    kind, y = ESTIMATORS[name]
    model = learn(kind(random_state=0), X, y, "fit")
    loaded, costs, ids = filed(model, tmp_path), WITH_COSTS[name], {"sid": IDS} if name == "tokens" else {}
    expected = dense(model.predict(X, costs=costs, **ids))
    assert (expected != dense(model.predict(X, **ids))).any()
    assert_array_equal(loaded.predict(X, costs=costs, **ids), expected, strict=True)
    if name != "tokens":
        assert_array_equal(loaded.predict(X[5:6], costs=of_rows(costs, slice(5, 6))), expected[5:6])


def test_costs_that_do_not_fit_are_refused(tmp_path):
    """With the message of the estimator, where it takes costs."""
    within = ExpectedCost(subject_to=[AtLeast("recall", 0.8, label=1)])
    for model, costs in [
        (CLASSES(), {(0, 7): 1.0}),
        (CLASSES(), np.ones((N, 2, 2))),
        (CLASSES(decision=within), {(0, 1): 1.0}),
        (CLASSES(reject=Reject(rate=0.2)), {(0, 1): 1.0}),
        (CLASSES(), {(0, 1): -1.0}),
    ]:
        loaded = filed(model.set_params(random_state=0).fit(X, THREE), tmp_path)
        with pytest.raises(ValueError) as raised:
            model.predict(X, costs=costs)
        with pytest.raises(ValueError) as found:
            loaded.predict(X, costs=costs)
        assert str(found.value) == str(raised.value)
    ranker = filed(PredtronRanker(random_state=0).fit(X, THREE, qid=IDS), tmp_path)
    with pytest.raises(
        ValueError, match=r"costs=1.0 are not accepted by the predictor of a PredtronRanker; accepted is costs=None"
    ):
        ranker.predict(X, costs=1.0)
    learned = filed(CLASSES(decision="learned", random_state=0).fit(X, THREE), tmp_path)
    with pytest.raises(ValueError, match="costs need probabilities, and the PredtronClassifier was saved without them"):
        learned.predict(X, costs={(0, 1): 1.0})


def test_a_dict_of_values_is_one_row(tmp_path):
    frame = table(X, "words")
    model = CLASSES(features="piecewise", random_state=0).fit(frame, THREE)
    loaded, numbers = filed(model, tmp_path), filed(CLASSES(random_state=0).fit(table(X, "named"), THREE), tmp_path)
    for place in range(5):
        row = frame.iloc[place].to_dict()
        assert_array_equal(loaded.predict_proba(row), model.predict_proba(frame.iloc[place : place + 1]))
    without = {**row, "colour": None, "a": np.nan}
    assert_array_equal(loaded.predict_proba(without), loaded.predict_proba({name: [value] for name, value in without.items()}))
    assert numbers.predict(dict.fromkeys("abcd", 1)).shape == (1,)
    with pytest.raises(ValueError, match=r"X has a column 'a' of shape \(\) .* of shape \(2,\) like the first column"):
        numbers.predict({"d": [1, 2], "c": [1, 2], "b": [1, 2], "a": 1})


def test_blocks_and_sparse_weights(tmp_path, monkeypatch):
    """Rows in several blocks, as of weights that were made sparse."""
    monkeypatch.setattr(scoring, "BLOCK", 64)
    for norm in ("l1", "group", "l2", "trace", "scaled"):
        model = CLASSES(norm=norm, random_state=0).fit(X, THREE)
        check_same(model, filed(model, tmp_path), X)
        if norm == "l1":
            model.sparsify(tol=0.05)
            check_same(model, filed(model, tmp_path), X)


def test_rows_of_csr_arrays_in_any_form(tmp_path):
    model = CLASSES(norm="l2", random_state=0).fit(X, THREE)
    loaded, expected = filed(model, tmp_path), model.decision_function(X)
    data, indices, indptr = given(sparse.csr_matrix(X))
    for real in (np.float64, np.float32):
        for whole in (np.int32, np.int64, np.uint16):
            found = loaded.decision_function((data.astype(real), indices.astype(whole), indptr.astype(whole)))
            rows = sparse.csr_matrix((data.astype(real), indices, indptr), shape=X.shape)
            assert_array_equal(found, model.decision_function(rows))
    found = loaded.decision_function(([1, 2, 3], [0, 3, 1], [0, 2, 3]))
    assert_array_equal(found, model.decision_function([[1, 0, 0, 2], [0, 3, 0, 0]]))
    twice = (np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 3, 3]))
    assert_array_equal(loaded.decision_function(twice), model.decision_function(sparse.csr_matrix(twice, shape=(2, P))))
    assert_array_equal(loaded.decision_function(X.tolist()), expected)


@pytest.fixture
def loaded(tmp_path):
    return filed(CLASSES(random_state=0).fit(X, THREE), tmp_path)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (X[:, :3], r"X has shape \(700, 3\); accepted is an array of shape \(n, 4\), a tuple"),
        (X[0], r"X has shape \(4,\) and type float64"),
        (X[:0], r"X has shape \(0, 4\)"),
        (X.astype(str), r"X has shape \(700, 4\) and type <U"),
        (X.astype(complex), r"type complex128"),
        ([[1.0], [1.0, 2.0]], "rows of different lengths"),
        (np.where(X.max() == X, np.nan, X), "X contains NaN or infinity"),
        (np.where(X.max() == X, np.inf, X), "X contains NaN or infinity"),
        (np.full((1, P), 1e308), "the scores overflow"),
        ({"a": [1.0]}, "X is a dict, and the model was fitted on columns without names"),
        (([1.0], [0]), "X is a tuple of 2"),
        (([1.0], [4], [0, 1]), r"indices must lie in 0\.\.3"),
        (([1.0], [-1], [0, 1]), r"indices must lie in 0\.\.3"),
        (([1.0], [0], [0, 2]), "its indptr must rise"),
        (([1.0], [0], [1]), r"X is a tuple of arrays of shapes \(1,\), \(1,\) and \(1,\)"),
        (([1.0], [0.0], [0, 1]), "X has indices of type float64"),
        (([np.nan], [0], [0, 1]), "X contains NaN or infinity"),
    ],
)
def test_rows_that_do_not_fit_are_refused(rows, message, loaded):
    with pytest.raises(ValueError, match=message):
        loaded.predict(rows)


def test_columns_that_do_not_fit_are_refused(tmp_path):
    frame = table(X, "words")
    model = CLASSES(features="piecewise", random_state=0).fit(frame, THREE)
    loaded, columns = filed(model, tmp_path), given(frame)
    some = {name: columns[name].tolist()[:5] for name in reversed(columns)}  # in another order
    assert_array_equal(loaded.predict(some), model.predict(frame.iloc[:5]))
    unknown = {**some, "colour": ["red", "pink", None, "green", "blue"]}
    assert_array_equal(loaded.decision_function(unknown), model.decision_function(pd.DataFrame(unknown)[list(frame)]))
    cells = frame.to_numpy(dtype=object)[:5]
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        expected = model.predict(cells)
    assert_array_equal(loaded.predict(cells), expected)
    for wrong, message in [
        ({name: some[name] for name in "dcba"}, r"X lacks the columns \['colour'\]"),
        ({**some, "e": [1.0] * 5}, r"X has other columns, \['e'\]"),
        ({**some, "d": [1.0] * 4}, r"column 'c' of shape \(5,\)"),
        ({**some, "d": [[1.0]] * 5}, r"column 'd' of shape \(5, 1\)"),
        ({**some, "d": ["x", *some["d"][1:]]}, None),
        ({**some, "d": [np.inf, *some["d"][1:]]}, "an infinite value"),
        (given(sparse.csr_matrix(X)), "X is a tuple of 3; accepted is an array"),
    ]:
        if message is None:
            with pytest.warns(UserWarning, match="'x'"):
                loaded.predict(wrong)
            continue
        with pytest.raises(ValueError, match=message):
            loaded.predict(wrong)
    named = filed(CLASSES(random_state=0).fit(table(X, "named"), THREE), tmp_path)
    with pytest.raises(ValueError, match=r"X has a column 'd' of type <U1; accepted are numbers"):
        named.predict({"a": [1.0], "b": [1.0], "c": [1.0], "d": ["x"]})


def test_ids_of_sequences(tmp_path):
    tagger = PredtronSequenceTagger(cv=0, random_state=0).fit(X, THREE, sid=IDS)
    loaded, mixed = filed(tagger, tmp_path), np.random.default_rng(0).permutation(IDS).astype(str)
    assert_array_equal(loaded.predict(X, sid=mixed), tagger.predict(X, sid=mixed))
    assert_array_equal(loaded.predict(X, sid="one"), tagger.predict(X, sid="one"))
    assert_array_equal(loaded.predict(X[:1]), tagger.predict(X[:1]))
    with pytest.raises(ValueError, match="sid is missing, and the model was trained on several sequences"):
        loaded.predict(X)
    with pytest.raises(ValueError, match=r"sid has 3 entries and X has 700 rows"):
        loaded.predict(X, sid=IDS[:3])
    with pytest.raises(ValueError, match="is for taggers, and this is the predictor of a PredtronClassifier"):
        filed(CLASSES(random_state=0).fit(X, THREE), tmp_path).predict(X, sid=IDS)


def test_columns_of_a_frame_are_found_by_name(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = BINARY(random_state=0).fit(frame, THREE > 0)
    found = filed(model, tmp_path)
    for columns in ("abcd", "dcba"):
        np.testing.assert_array_equal(found.predict(frame[list(columns)]), model.predict(frame))
    with pytest.raises(ValueError, match="lacks the columns"):
        found.predict(frame[list("abc")])


@ESTIMATED
def test_a_certificate_is_kept(tmp_path):
    model = CLASSES(reject=Reject(risk=0.4), random_state=0).fit(X[:500], THREE[:500])
    check_same(model, filed(model, tmp_path), X)
    check_same(model.certify(X[500:], THREE[500:]), filed(model, tmp_path), X)
    with pytest.raises(ValueError, match=r"without a predictor, .* after the certificate of Reject\(risk=\.\.\.\) has lapsed"):
        filed(model.partial_fit(X, THREE), tmp_path)


def misses(a, b, c, d):
    return c / (c + d + 1)


def kernel(A, B):
    return np.asarray(A @ B.T)


@pytest.mark.parametrize(
    ("model", "y", "custom"),
    [
        (CLASSES(norm=RKHS(budget=9)), THREE, None),
        (CLASSES(norm=RKHS(kernel)), THREE, kernel),
        (SETS_OF(loss=CountLoss(misses)), SETS, misses),
        (PredtronBipartiteClassifier(loss="precision_at_k"), THREE > 0, None),
        (CLASSES(), None, None),
    ],
)
def test_estimators_without_predictors_are_refused(model, y, custom, tmp_path):
    if y is not None:
        model.set_params(random_state=0).fit(X[:90], y[:90])
    model.save(tmp_path / "model", custom=None if custom is None else {"mine": custom})
    with pytest.raises(ValueError, match=r"model' is a model without a predictor, as .* use sklearn_predtron\.load"):
        predictor.load(tmp_path / "model")
    sklearn_predtron.load(tmp_path / "model", custom=None if custom is None else {"mine": custom})


CURVE = ("CurveMap", np.ones(1), np.ones((1, 3)), np.ones((1, 2)), np.ones(1))
FORGERIES = [
    ("classes", {"labels": np.arange(2)}),
    ("classes", {"classes": np.arange(2), "labels": np.arange(2)}),
    ("classes", {"family": "sets", "one": False, "dtype": "int64", "names": None}),
    ("classes", {"family": "sequences", "several": False, "tempered": None}),
    ("classes", {"costs": np.ones((2, 3))}),
    (
        "binary",
        {"decision": ("ByCosts", ("BinaryScores",), CURVE, np.ones((2, 9)))},
    ),
    ("classes abstain within a risk", {"labels": np.arange(3)}),
    ("ranks", {"probabilities": ("Decision",)}),
    ("sets", {"classes": np.arange(2)}),
    ("sets, cuts", {"decision": ("CutAt", ("LabelScores",), np.zeros(2))}),
    ("sets of one", {"classes": np.arange(1)}),
    ("batches", {"classes": np.arange(1)}),
    ("sets", {"names": np.array(["a"])}),
    ("sets", {"costs": None}),
    ("batches", {"family": "rankings"}),
    ("tokens", {"classes": np.arange(2)}),
    ("tokens", {"tempered": (1.0, (0.0, 0.0), 1.0)}),
]


@pytest.mark.parametrize(("name", "changed"), FORGERIES)
def test_answers_of_another_model_are_refused(name, changed, tmp_path, monkeypatch):
    """As `load` finds them in forged files, of which no prediction would fail before it is asked for."""
    kind, y = ESTIMATORS[name]
    model = learn(kind(random_state=0), X, y, "fit")
    monkeypatch.setattr(model_file, "for_predictor", lambda estimator: {**for_predictor(estimator), **changed})
    with pytest.raises(ValueError, match="is a damaged model file: "):
        filed(model, tmp_path)


def test_the_first_rows_of_a_stream_have_no_map_yet(tmp_path):
    model = CLASSES(features="piecewise").partial_fit(X[:90], THREE[:90], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="without a predictor"):
        filed(model, tmp_path)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"other")
    with pytest.raises(ValueError, match="model' is no model file that this version wrote"):
        predictor.load(path)
    with pytest.raises(ValueError, match="is no path of a file"):
        predictor.load(3)


RUN = """
import sys
import numpy as np
from sklearn_predtron import predictor
loaded = predictor.load(sys.argv[1])
loaded.predict({"d": [0.5], "c": [1.0], "b": [0.1], "a": [np.nan], "colour": ["red"]}, costs={(0, 1): 2.0})
loaded = predictor.load(sys.argv[2])
how = {"sid": "one"} if hasattr(loaded, "classes_") and "sid" in sys.argv else {}
loaded.predict(np.ones((200_000, 4)), **how), loaded.decision_function(([1.0], [0], [0, 1]))
if not how:
    loaded.predict_proba(np.ones((1, 4)))
print({"sklearn", "scipy", "pandas", "joblib"} & {name.partition(".")[0] for name in sys.modules})
"""


@pytest.mark.parametrize("name", ["classes, expected costs", "sets, f", "ranks", "binary f1", "tokens"])
def test_nothing_heavy_is_imported(name, tmp_path):
    kind, y = ESTIMATORS[name]
    (CLASSES(features="piecewise", random_state=0).fit(table(X, "words"), THREE)).save(tmp_path / "table")
    if name == "tokens":
        kind(random_state=0, norm="l2").fit(X, y, sid=np.arange(len(X)) // 50).save(tmp_path / "rows")
    else:
        learn(kind(random_state=0), X, y, "stream").save(tmp_path / "rows")
    command = [sys.executable, "-c", RUN, str(tmp_path / "table"), str(tmp_path / "rows"), *(["sid"] if name == "tokens" else [])]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "set()\n", "")


def test_compiled_classes_are_found_by_name():
    of_predictions = ("_core", "decisions", "features", "norms", "problems", "updates")
    for name, kind in compiled().items():
        if kind.__module__.split(".")[1] in of_predictions:
            assert compiled_for_predictions(name) is kind
    assert compiled_for_predictions("Elsewhere") is None
