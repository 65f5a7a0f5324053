"""ONNX graphs compute what the estimators do: scores to the digits of their type, predictions wherever these decide."""

import pickle
import re
import textwrap
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from cases import Hours, random_code
from inside import predicting_scores
from onnx_cases import (
    REALS,
    TOLERANCE,
    assert_close_scores,
    assert_same,
    check_classifier,
    check_probabilities,
    gaps,
    outputs,
    uncertainty,
)
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import (
    Predtron,
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.decisions import Cut
from sklearn_predtron.decisions._expected_cost import BySets
from sklearn_predtron.losses import AtK, CountLoss, FBeta, PrecisionAtK, RecallAtK, Reject, SubsetLoss, subset_loss
from sklearn_predtron.norms import RKHS, Norm
from sklearn_predtron.onnx import register_converters

pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
from skl2onnx import convert_sklearn, to_onnx  # noqa: E402
from skl2onnx.common.data_types import FloatTensorType, StringTensorType  # noqa: E402

register_converters()
LINEAR = [norm for norm in kinds(Norm) if norm is not RKHS]
N, P = 240, 7
QUERIES = {PredtronRanker: {"qid": np.arange(N) // 12}}


def rows(seed, real):
    """Rows that float32 holds, of features of several sizes, one of them far from zero."""
    random = np.random.default_rng(seed)
    return (random.standard_normal((N, P)) * [1, 1, 3, 0.1, 10, 1, 1] + [0, 0, 0, 0, 0, 20, 0]).astype(np.float32).astype(real)


def targets(X, k, seed):
    """Noisy linear scores of k targets."""
    random = np.random.default_rng(seed + 1000)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X @ random.standard_normal((P, k)) + random.standard_normal((N, k))


LABELS = {"integers": [3, 5, -7, 11], "strings": ["a", "é", "longer", "c"], "floats": [1.0, 2.0, 4.0, 8.0]}
UNEQUAL = np.array([[0, 1, 2, 3], [4, 0, 1, 1], [1, 2, 0, 1], [1, 1, 5, 0]])
BINARY = [
    {},
    {"representation": "onehot"},
    {"decision": "learned"},
    {"decision": "f1"},
    {"decision": 0.3},
    {"decision": "expected_cost"},
    {"cv": 0},
    {"loss": {("a", "é"): 3.0}},
    {"loss": {("a", "é"): 3.0}, "representation": "onehot"},
    {"loss": {("a", "é"): 3.0}, "decision": "learned"},
    {"reject": 0.2},
    {"reject": Reject(cost=[0.2, 0.4], label="?"), "loss": {("a", "é"): 3.0}},
    {"reject": Reject(cost=0.1, label="?"), "representation": "onehot"},
]
MULTICLASS = [
    {},
    {"representation": "simplex"},
    {"representation": random_code(4, 3)},
    {"decision": "learned"},
    {"loss": UNEQUAL},
    {"loss": UNEQUAL, "representation": "simplex"},
    {"loss": UNEQUAL, "representation": random_code(4, 3), "reject": Reject(cost=0.4, label="?")},
    {"loss": UNEQUAL, "decision": "learned"},
    {"reject": 0.2},
    {"reject": Reject(cost=[0.1, 0.2, 0.3, 0.4], label="?"), "representation": "simplex"},
]
ORDINAL = [{}, {"representation": "shared"}, {"representation": "shared", "update": "prank"}, {"representation": "onehot"}]
ORDINAL += [{"loss": "squared"}, {"representation": "simplex"}, {"loss": "squared", "representation": "shared", "reject": 0.5}]
ORDINAL += [{"decision": "expected_cost"}, {"loss": UNEQUAL, "decision": "learned"}, {"reject": 0.2}]


@REALS
@pytest.mark.parametrize("norm", LINEAR, ids=lambda norm: norm.alias)
@pytest.mark.parametrize("parameters", BINARY, ids=str)
def test_binary(parameters, norm, real):
    X = rows(0, real)
    y = np.array(["a", "é"])[(targets(X, 1, 0)[:, 0] > 0).astype(int)]
    model = PredtronBinaryClassifier(norm=norm(), random_state=0, max_iter=3, **parameters).fit(X, y)
    check_classifier(model, X, TOLERANCE[real])


@REALS
@pytest.mark.parametrize("kind", [PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier])
def test_classes_learned_by_costs_of_rows(kind, real):
    """The map decides, and gives way to no prediction."""
    X = rows(1, real)
    y = np.digitize(targets(X, 1, 1)[:, 0], [1] if kind is PredtronBinaryClassifier else [-1, 1])
    dear = {(int(y.max()), 0): np.exp(3 + X[:, 0].astype(np.float64))}
    model = kind(random_state=0, max_iter=3).fit(X, y, costs=dear)
    check_classifier(model, X, TOLERANCE[real])
    assert (model.predict(X) != pickle.loads(pickle.dumps(model)).set_params(decision="learned").predict(X)).any()


@REALS
@pytest.mark.parametrize("norm", LINEAR, ids=lambda norm: norm.alias)
@pytest.mark.parametrize("parameters", MULTICLASS, ids=lambda parameters: str(parameters)[:50])
def test_classes(parameters, norm, real):
    X = rows(1, real)
    y = np.array(LABELS["strings"])[targets(X, 4, 1).argmax(axis=1)]
    model = PredtronClassifier(norm=norm(), random_state=0, max_iter=3, **parameters).fit(X, y)
    check_classifier(model, X, TOLERANCE[real])


@REALS
@pytest.mark.parametrize("norm", LINEAR, ids=lambda norm: norm.alias)
@pytest.mark.parametrize("parameters", ORDINAL, ids=str)
def test_ranks(parameters, norm, real):
    X = rows(2, real)
    y = np.array(LABELS["integers"])[np.digitize(targets(X, 1, 2)[:, 0], [-2, 0, 2])]
    model = PredtronOrdinalClassifier(norm=norm(), random_state=0, max_iter=3, categories=LABELS["integers"], **parameters)
    check_classifier(model.fit(X, y), X, TOLERANCE[real])


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("cost", [None, 0.2])
def test_types_of_labels(kind, cost):
    X, labels = rows(3, np.float32), np.array(LABELS[kind])
    reject = None if cost is None else Reject(cost=cost, label="rejected" if kind == "strings" else -1)
    model = PredtronClassifier(norm="scaled", reject=reject, random_state=0).fit(X, labels[targets(X, 4, 3).argmax(axis=1)])
    found = check_classifier(model, X, 1e-5)
    assert set(found.tolist()) == set(model.predict(X).tolist()) and len(set(found.tolist())) == 4 + (cost is not None)
    assert found.dtype == {"integers": np.int64, "strings": object, "floats": np.float64}[kind]


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.float32, bool])
def test_types_of_two_labels(kind):
    X = rows(3, np.float32)
    model = PredtronClassifier(random_state=0).fit(X, (targets(X, 1, 3)[:, 0] > 0).astype(kind))
    found = check_classifier(model, X, 1e-5)
    assert found.dtype == {np.float32: np.float64, bool: bool}.get(kind, np.int64)


def test_ties():
    """Ties of exact scores: the first class, and the highest rank."""
    X = np.zeros((3, P), dtype=np.float32)
    for model in [PredtronClassifier(), PredtronBinaryClassifier(), PredtronOrdinalClassifier()]:
        y = np.arange(2).repeat(3) if isinstance(model, PredtronBinaryClassifier) else np.arange(3).repeat(2)
        model = model.set_params(norm="l2", fit_intercept=False).fit(np.random.default_rng(0).standard_normal((6, P)), y)
        assert (outputs(model, X)["label"] == model.predict(X)).all()
        assert model.predict(X)[0] == (2 if isinstance(model, PredtronOrdinalClassifier) else 0)


def dear_when_missed(a, b, c, d):
    return b + 4.0 * c


AT_K = [PrecisionAtK(k=2), PrecisionAtK(k=2, rule="at_least"), RecallAtK(k=2), RecallAtK(k=0.6, rule="at_most")]
SETS = [{"loss": kind()} for kind in kinds(SubsetLoss) if kind not in (PrecisionAtK, RecallAtK)]
SETS += [{"loss": loss} for loss in AT_K]
SETS += [{"decision": "macro_f1"}, {"decision": "micro_f1"}, {"decision": Cut([0.1, 0.2, 0.0, -0.1, 0.0])}]
SETS += [{"loss": CountLoss(dear_when_missed)}, {"loss": "f1", "decision": "expected_cost"}, {"decision": "learned"}, {"cv": 0}]


@REALS
@pytest.mark.parametrize("parameters", SETS, ids=lambda parameters: str(parameters).partition(" at 0x")[0])
@pytest.mark.parametrize("norm", LINEAR, ids=lambda norm: norm.alias)
def test_sets(parameters, norm, real):
    X = rows(4, real)
    model = PredtronMultilabelClassifier(norm=norm(), random_state=0, max_iter=3, **parameters)
    model.fit(X, (targets(X, 5, 4) > 0).astype(int))
    found, slack, decision = outputs(model, X), uncertainty(model, X, TOLERANCE[real]), model.decision_function(X)
    assert_close_scores(found["scores"], decision, 2 * slack)
    check_probabilities(found, model, X, TOLERANCE[real])
    sure = np.abs(decision).min(axis=1) > 4 * slack
    if plugs_in(model):
        sure = np.full(N, real is np.float64)
        assert (found["label"] == model.predict(X)).all(axis=1).mean() > 0.99
    elif isinstance(subset_loss(model._model.loss), AtK):
        sure &= np.diff(np.sort(decision, axis=1), axis=1).min(axis=1) > 4 * slack
    assert sure.mean() > 0.97 or plugs_in(model)
    assert (found["label"] == model.predict(X))[sure].all()
    assert found["label"].dtype == np.int64


def plugs_in(model):
    learned = model._model
    return isinstance(learned.current_decision(model._decision), BySets)


@REALS
@pytest.mark.parametrize(
    "loss", ["f1", "jaccard", FBeta(beta=2.0), FBeta(beta=0.5), PrecisionAtK(k=2), RecallAtK(k=0.6)], ids=str
)
def test_sets_of_greatest_expected_measure(loss, real):
    """Also where rows held out would have it otherwise; empty sets, and probabilities near 0 and 1, are among them."""
    X = rows(4, real)
    model = PredtronMultilabelClassifier(loss=loss, random_state=0, max_iter=3).fit(X, (targets(X, 5, 4) > 1.5).astype(int))
    learned = model._model
    learned.fitted_decision = {**learned.fitted_decision, "plug_in": (*learned.fitted_decision["plug_in"][:2], True)}
    model.set_params(decision="expected_cost")
    found, predicted = outputs(model, X), model.predict(X)
    assert plugs_in(model) and len(np.unique(predicted, axis=0)) > 5
    check_probabilities(found, model, X, TOLERANCE[real])
    assert (found["label"] == predicted).all(axis=1).mean() >= (1 if real is np.float64 else 0.98)


@pytest.mark.parametrize("kind", [bool, float, np.int8])
def test_types_of_sets(kind):
    X = rows(5, np.float32)
    model = PredtronMultilabelClassifier(random_state=0).fit(X, (targets(X, 3, 5) > 0).astype(kind))
    found = outputs(model, X)["label"]
    assert found.dtype == {np.int8: np.int64}.get(kind, kind) and (found == model.predict(X)).mean() > 0.99


def test_one_label():
    X = rows(5, np.float32)
    model = PredtronMultilabelClassifier(random_state=0).fit(X, np.where(targets(X, 1, 5)[:, 0] > 0, "yes", "no"))
    found = outputs(model, X)
    assert found["scores"].shape == found["label"].shape == (N,)
    check_probabilities(found, model, X, 1e-5)
    assert_same(found["label"], model.predict(X), np.abs(model.decision_function(X)) > uncertainty(model, X, 1e-5))


@REALS
@pytest.mark.parametrize("loss", ["f1", "balanced", "auc", "ap", "break_even", *AT_K, PrecisionAtK(k=0.1)], ids=str)
def test_batches(loss, real):
    X = rows(6, real)
    y = np.where(targets(X, 1, 6)[:, 0] > 1, "rare", "often")
    model = PredtronBipartiteClassifier(loss=loss, max_iter=3, random_state=0).fit(X, y)
    found, slack, decision = outputs(model, X), uncertainty(model, X, TOLERANCE[real]), model.decision_function(X)
    assert_close_scores(found["scores"], decision, slack)
    check_probabilities(found, model, X, TOLERANCE[real])
    predicted, chosen = model.predict(X), model.predict(X) == model.classes_[1]
    edge = 0.0 if chosen.all() or not chosen.any() else (decision[chosen].min() + decision[~chosen].max()) / 2
    assert_same(found["label"], predicted, np.abs(decision - edge) > 2 * slack)
    assert len(set(found["label"].tolist())) == 2


@REALS
@pytest.mark.parametrize("norm", LINEAR, ids=lambda norm: norm.alias)
def test_documents(norm, real):
    X = rows(7, real)
    model = PredtronRanker(norm=norm(), random_state=0, max_iter=3)
    model.fit(X, np.digitize(targets(X, 1, 7)[:, 0], [-1, 1]), qid=np.arange(N) // 12)
    found, scores = outputs(model, X), model.predict(X)
    slack = uncertainty(model, X, TOLERANCE[real])
    assert_close_scores(found["scores"], scores, slack)
    assert sorted(found["positions"]) == list(range(1, N + 1))
    order = np.argsort(found["positions"])
    assert (np.diff(scores[order]) <= slack[order][1:] + slack[order][:-1]).all()
    if real is np.float64:
        assert (found["positions"] == model.rank(X, qid="one")).all()


def test_positions_of_ties():
    X = rows(7, np.float32)
    model = PredtronRanker(random_state=0).fit(X, np.arange(N) % 3, qid=np.arange(N) // 12)
    tied = X[[5, 3, 3, 5, 3]]
    assert (outputs(model, tied)["positions"] == model.rank(tied, qid="one")).all()


RANKINGS = [{}, {"loss": "kendall_tau"}, {"loss": "kendall_tau", "representation": "pairwise"}, {"update": "mmp"}]


@REALS
@pytest.mark.parametrize("parameters", RANKINGS, ids=str)
@pytest.mark.parametrize("m", [1, 2, 4])
def test_rankings_of_labels(parameters, m, real):
    X = rows(8, real)
    model = PredtronLabelRanker(random_state=0, max_iter=3, **parameters).fit(X, targets(X, m, 8).argsort(axis=1).argsort(axis=1))
    found, slack, decision = outputs(model, X), uncertainty(model, X, TOLERANCE[real]), model.decision_function(X)
    sure = np.ones(N, dtype=bool)
    if "representation" in parameters:
        sure = np.abs(predicting_scores(model, X)).min(axis=1) > 4 * slack if m > 1 else sure
        slack = np.full(N, TOLERANCE[real] * m)
    assert_close_scores(found["scores"][sure], decision[sure], 2 * slack[sure])
    leads = np.diff(np.sort(decision, axis=1), axis=1).min(axis=1, initial=np.inf)
    assert_same(found["positions"], model.predict(X), sure & (leads > 4 * slack))


def test_votes_of_zeros_and_of_large_scores():
    X = rows(8, np.float32)
    model = PredtronLabelRanker(loss="kendall_tau", representation="pairwise", fit_intercept=False, random_state=0)
    model.fit(X, targets(X, 4, 8).argsort(axis=1).argsort(axis=1))
    wide = np.vstack([np.zeros((1, P)), 1e36 * X[:1]]).astype(np.float32)
    found = outputs(model, wide)
    np.testing.assert_allclose(found["scores"], model.decision_function(wide), rtol=1e-5)
    assert (found["positions"] == model.predict(wide)).all()


@pytest.mark.parametrize("k", [2, 3])
def test_in_pipelines_and_searches(k):
    X = rows(9, np.float32)
    y = targets(X, k, 9).argmax(axis=1)
    model = make_pipeline(StandardScaler(), PredtronClassifier(random_state=0)).fit(X, y)
    found = outputs(model, X)
    np.testing.assert_allclose(found["scores"], model.decision_function(X), atol=1e-4)
    assert (found["label"] == model.predict(X)).mean() > 0.99
    search = GridSearchCV(model, {"predtronclassifier__norm": ["l2", "scaled"]}, cv=2).fit(X, y)
    assert (outputs(search, X)["label"] == search.predict(X)).mean() > 0.99


@REALS
@pytest.mark.filterwarnings("ignore:no share of the .* rows was found")  # few rows of "é"
@pytest.mark.filterwarnings("ignore:.* is estimated on the held-out rows of training")
@pytest.mark.parametrize(
    "reject", [Reject(risk={"é": 0.2}, label="?"), Reject(risk={"a": 0.35, "é": 0.3}, label="?"), Reject(risk=0.2, label="?")]
)
@pytest.mark.parametrize("kind", [PredtronBinaryClassifier, PredtronClassifier])
def test_limits_of_answers(kind, reject, real):
    """The limit of each predicted label is kept, whether certified or not."""
    X = rows(5, real)
    y = np.array(["a", "é"])[(targets(X, 1, 5)[:, 0] > 0).astype(int)]
    model = kind(random_state=0, max_iter=3, reject=reject).fit(X[: N // 2], y[: N // 2])
    check_classifier(model, X, TOLERANCE[real])
    estimated = model.predict(X)
    model.certify(X[N // 2 :], y[N // 2 :])
    check_classifier(model, X, TOLERANCE[real])
    assert {"?"} < set(model.predict(X)) and len(set(estimated)) > 1


@pytest.mark.parametrize("ensemble", [False, True])
@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        (PredtronBinaryClassifier, [0, 1]),
        (PredtronBinaryClassifier, ["a", "é"]),
        (PredtronBipartiteClassifier, [0, 1]),
        (PredtronClassifier, [0, 1]),
        (PredtronClassifier, [0, 1, 2]),
    ],
)
def test_calibrated_probabilities(kind, labels, ensemble):
    """For two classes skl2onnx asks for the scores of both, where `decision_function` has those of the second."""
    X = rows(9, np.float32)
    y = np.array(labels)[targets(X, len(labels), 9).argmax(axis=1)]
    model = CalibratedClassifierCV(kind(random_state=0), ensemble=ensemble).fit(X, y)
    graph = to_onnx(model, X[:1], options={"zipmap": False})
    label, found = runtime.InferenceSession(graph.SerializeToString()).run(None, {"X": X})
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(found, probabilities, atol=1e-4)
    assert_same(label, model.predict(X), gaps(probabilities) > 1e-3)


def test_votes_of_probabilities():
    """Converters of estimators that hold others ask for a label and probabilities, as those of scikit-learn give them."""
    X = rows(9, np.float32)
    y = targets(X, 3, 9).argmax(axis=1)
    members = [
        ("scaled", PredtronClassifier(norm="scaled", random_state=0)),
        ("l2", PredtronClassifier(norm="l2", random_state=1)),
    ]
    model = VotingClassifier(members, voting="soft", flatten_transform=False).fit(X, y)
    graph = to_onnx(model, X[:1], options={"zipmap": False})
    label, found = runtime.InferenceSession(graph.SerializeToString()).run(None, {"X": X})
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-3)
    assert_same(label, model.predict(X), gaps(model.predict_proba(X)) > 4e-3)


def test_scores_of_both_classes():
    X, model = rows(9, np.float32), fitted()
    graph = to_onnx(model, X[:1], options={id(model): {"raw_scores": True}})
    scores = runtime.InferenceSession(graph.SerializeToString()).run(["scores"], {"X": X})[0]
    assert scores.shape == (N, 2) and (scores[:, 0] == -scores[:, 1]).all()
    np.testing.assert_allclose(scores[:, 1], model.decision_function(X), atol=1e-4)


def test_probabilities_that_only_decide_are_not_put_out():
    """Those of a first epoch, which `predict_proba` withholds."""
    X = rows(14, np.float64)
    y = targets(X, 4, 14).argmax(axis=1)
    model = PredtronClassifier(loss=UNEQUAL, cv=0, max_iter=3, random_state=0).fit(X, y)
    found, predicted = outputs(model, X), model.predict(X)
    assert set(found) == {"label", "scores"} and not hasattr(model, "predict_proba")
    assert (found["label"] == predicted).mean() > 0.99
    assert (found["scores"].argmax(axis=1) != predicted).any()


NAMES = ["label", "scores", "probabilities"]


def test_arrays_are_put_out_whatever_zipmap_says():
    """It is commonly switched off, and there is nothing to switch on."""
    X, model = rows(9, np.float32), fitted()
    assert [output.name for output in to_onnx(model, X[:1], options={"zipmap": False}).graph.output] == NAMES
    with pytest.raises(ValueError, match="zipmap"):
        to_onnx(model, X[:1], options={"zipmap": True})


@pytest.mark.parametrize("k", [2, 3])
def test_rows_with_nan_are_rejected(k):
    """A graph cannot refuse them, as Python does; under a reject option they get its label."""
    X = rows(12, np.float32)
    model = fitted(PredtronClassifier(reject=Reject(cost=0.2, label=-1), random_state=0), k)
    X[:3, 2] = np.nan
    found = outputs(model, X)
    assert (found["label"][:3] == -1).all() and np.isnan(found["scores"][:3]).all()
    assert (found["label"][3:] == model.predict(X[3:])).mean() > 0.97


@pytest.mark.parametrize("kind", [np.int64, np.int32, bool])
def test_inputs_of_whole_numbers(kind):
    X = (rows(9, np.float32) * 3).astype(kind)
    model = PredtronClassifier(random_state=0).fit(X.astype(float), targets(rows(9, np.float64), 3, 9).argmax(axis=1))
    assert_close_scores(outputs(model, X)["scores"], model.decision_function(X), uncertainty(model, X.astype(float), 1e-5))


def test_whole_numbers_keep_their_digits():
    """Of times in seconds float32 would know the nearest two minutes."""
    X = (rows(9, np.float64) * 10).astype(np.int64) + 1_700_000_000
    y = targets(X.astype(float), 3, 9).argmax(axis=1)
    model = PredtronClassifier(norm="scaled", random_state=0).fit(X, y)
    found = outputs(model, X)
    assert (found["label"] == model.predict(X)).all()
    assert_close_scores(found["scores"], model.decision_function(X), uncertainty(model, X.astype(float), 1e-13))


def test_streams_and_sparse_rows():
    X = rows(10, np.float32) * (np.random.default_rng(0).random((N, P)) < 0.4)
    y = targets(rows(10, np.float64), 3, 10).argmax(axis=1)
    for norm in LINEAR:
        model = PredtronClassifier(norm=norm()).partial_fit(sparse.csr_matrix(X), y, classes=[0, 1, 2])
        check_classifier(model, X.astype(np.float32), 1e-5)
    model.widen(n_features=P + 2, classes=[3])
    assert outputs(model, np.ones((4, P + 2), dtype=np.float32))["scores"].shape == (4, 4)


@pytest.mark.parametrize("kind", [PredtronBinaryClassifier, PredtronClassifier, PredtronMultilabelClassifier, PredtronRanker])
def test_sparse_weights(kind):
    X = rows(10, np.float32)
    y = (targets(X, 3, 10) > 0).astype(int)
    model = kind(norm="l2", random_state=0)
    model.fit(X, y if kind is PredtronMultilabelClassifier else y[:, 0], **QUERIES.get(kind, {}))
    dense, found = outputs(model, X), outputs(model.sparsify(), X)
    assert all((found[name] == dense[name]).all() for name in dense)


def test_features_far_from_zero_keep_their_digits_as_double():
    X = rows(11, np.float64) + 1e6
    y = targets(X, 3, 11).argmax(axis=1)
    model = PredtronClassifier(norm="scaled", random_state=0).fit(X, y)
    assert (outputs(model, X)["label"] == model.predict(X)).all()


def test_the_code_of_the_user_guide(tmp_path, monkeypatch):
    page = Path(__file__).parents[2] / "doc" / "user_guide" / "deployment.rst"
    if not page.exists():
        pytest.skip("the tests do not run from a checkout")
    blocks = re.findall(r"^\.\. code-block:: python\n\n((?:(?:   .*)?\n)+)", page.read_text(), re.M)
    monkeypatch.chdir(tmp_path)
    found = {}
    for block in blocks:
        exec(textwrap.dedent(block), found)
    assert len(blocks) == 1 and (found["label"] == found["model"].predict(found["X"])).all()
    assert (tmp_path / "model.onnx").exists()


# ----------------------------------------------------------------------------------------------------------------- refusals


def fitted(model=None, k=2):
    X = rows(12, np.float32)
    return (model or PredtronClassifier(random_state=0)).fit(X, targets(X, k, 12).argmax(axis=1))


def test_kernels_are_refused():
    for model in [PredtronClassifier(norm="rkhs"), CalibratedClassifierCV(PredtronClassifier(norm="rkhs"), cv=2)]:
        with pytest.raises(ValueError, match=r"norm=.*predicts by a kernel.*'l2'"):
            outputs(fitted(model), rows(0, np.float32))


def test_searches_for_predictions_are_refused():
    X = rows(12, np.float32)
    tagger = PredtronSequenceTagger().fit(X, np.arange(N) % 2, sid=np.arange(N) // 5)
    with pytest.raises(ValueError, match="PredtronSequenceTagger is not converted"):
        outputs(tagger, X)
    with pytest.raises(ValueError, match="Predtron is not converted"):
        outputs(Predtron(Hours()).fit(X, np.arange(N) % 12), X)


def test_what_has_not_learned_is_refused():
    with pytest.raises(NotFittedError):
        outputs(PredtronClassifier(), rows(0, np.float32))


@pytest.mark.parametrize(
    ("start", "later", "message"),
    [
        (PredtronClassifier(decision="learned"), {"decision": "expected_cost"}, "there are none: call fit with another"),
        (PredtronBinaryClassifier(decision="learned"), {"decision": "f1"}, "is chosen while the estimator learns"),
    ],
)
def test_what_predict_refuses_is_refused(start, later, message):
    model = fitted(start).set_params(**later)
    with pytest.raises(ValueError, match=message):
        outputs(model, rows(0, np.float32))


def test_other_inputs_are_refused():
    with pytest.raises(ValueError, match="The input has 3 features; accepted are the 7"):
        to_onnx(fitted(), np.zeros((1, 3), dtype=np.float32))
    for types in [[("X", StringTensorType([None, P]))], [(name, FloatTensorType([None, 1])) for name in "abcdefg"]]:
        with pytest.raises(ValueError, match="accepted is one matrix of numbers"):
            convert_sklearn(fitted(), initial_types=types)


def test_an_older_opset_is_refused():
    with pytest.raises(ValueError, match="target_opset=12 is too old; accepted are 13"):
        to_onnx(fitted(), np.zeros((1, P), dtype=np.float32), target_opset=12)
    assert to_onnx(fitted(), np.zeros((1, P), dtype=np.float32), target_opset=13).opset_import[0].version == 13


def test_weights_beyond_float32_are_refused():
    X = rows(12, np.float64) * 1e-60
    model = PredtronClassifier(random_state=0).fit(X, targets(X, 2, 12).argmax(axis=1))
    with pytest.raises(ValueError, match="which float32 does not hold; convert for an input of DoubleTensorType"):
        outputs(model, X.astype(np.float32))
    assert (outputs(model, X)["label"] == model.predict(X)).mean() > 0.97


def test_labels_without_a_type_are_refused():
    X = rows(12, np.float32)
    labels = np.array([1, 1 << 63], dtype=np.uint64)
    model = PredtronClassifier(random_state=0).fit(X, labels[(targets(X, 1, 12)[:, 0] > 0).astype(int)])
    with pytest.raises(ValueError, match="have no type in ONNX; accepted are integers"):
        outputs(model, X)


def test_a_graph_is_the_same_each_time():
    X, model = rows(12, np.float32), fitted()
    first, second = (to_onnx(model, X[:1]).graph for _ in range(2))
    assert [node.op_type for node in first.node] == [node.op_type for node in second.node]
    assert Counter(node.op_type for node in first.node)["MatMul"] == 1
