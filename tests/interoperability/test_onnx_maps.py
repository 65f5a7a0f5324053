"""ONNX graphs make the features that the maps make of tables, and of them what the estimators do."""

import numpy as np
import pandas as pd
import pytest
from onnx_cases import (
    REALS,
    TOLERANCE,
    assert_close_scores,
    assert_same,
    check_classifier,
    check_probabilities,
    outputs,
    uncertainty,
)
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron.features import Auto, FeatureMap, PiecewiseLinear, RandomFourier
from sklearn_predtron.losses import Reject
from sklearn_predtron.onnx import register_converters

pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
from skl2onnx import to_onnx  # noqa: E402

register_converters()
N, P = 240, 8
MAPS = {
    "numbers": PiecewiseLinear(),
    "hats": PiecewiseLinear(n_pairs=0),
    "fewest knots": PiecewiseLinear(n_knots=2, pair_knots=2),
    "chosen pairs": PiecewiseLinear(n_pairs=7, pair_knots=6),
    "two columns of categories": PiecewiseLinear(categories=[2, 7]),
    "categories alone": PiecewiseLinear(categories=list(range(P)), n_pairs=0),
    "auto": Auto(),
    "cosines": RandomFourier(n_features=100),
}
EVERY = pytest.mark.parametrize("features", MAPS.values(), ids=list(MAPS))


def table(real, seed=0, missing=0.1):
    """Columns of several kinds, which float32 holds: a wide one, ages, few values, half numbers, constant and far from zero."""
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [
            random.standard_normal(N),
            np.exp(2 * random.standard_normal(N)),
            random.integers(-1, 4, N),
            random.random(N) < 0.3,
            random.integers(18, 80, N),
            np.full(N, 3.0),
            1e6 + random.standard_normal(N),
            random.integers(0, 3, N) / 2,
        ]
    )
    X[random.random((N, P)) < missing] = np.nan
    return X.astype(np.float32).astype(real)


def targets(X, k):
    """Noisy scores of k targets, of curves, of a product and of what is missing."""
    random = np.random.default_rng(1000)
    there = np.nan_to_num(X.astype(np.float64))
    terms = [np.cos(there[:, 4] / 10), there[:, 0] * there[:, 3], np.sin(3 * there[:, 0]), there[:, 2] % 2, np.isnan(X[:, 1])]
    return np.column_stack(terms) @ random.standard_normal((5, k)) + 0.2 * random.standard_normal((N, k))


def ranks(X, cuts):
    """Ranks of as many rows each."""
    scores = targets(X, 1)[:, 0]
    return np.digitize(scores, np.quantile(scores, cuts))


def run(model, X, names=None):
    """What the graph of a model puts out."""
    graph = to_onnx(model, X[:1], options={"zipmap": False} if hasattr(model, "predict") else None)
    return runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"]).run(names, {"X": X})


def dense(made):
    return made.toarray() if hasattr(made, "toarray") else made


# --------------------------------------------------------------------------------------------------------- what is computed


@REALS
@EVERY
def test_two_classes(features, real):
    X = table(real)
    model = PredtronBinaryClassifier(features=features, random_state=0, max_iter=3).fit(X, ranks(X, [0.5]))
    check_classifier(model, X, TOLERANCE[real])


@REALS
@pytest.mark.parametrize("kind", [PredtronBinaryClassifier, PredtronClassifier])
def test_monotone_curves(kind, real):
    X = table(real)
    features = PiecewiseLinear(monotonic_cst=[1, -1, 0, 0, 1, 0, 0, 0])
    check_classifier(kind(features=features, random_state=0, max_iter=3).fit(X, ranks(X, [0.5])), X, TOLERANCE[real])


@REALS
@EVERY
def test_several_classes(features, real):
    X = table(real)
    y = np.array(["a", "b", "é"])[targets(X, 3).argmax(axis=1)]
    check_classifier(PredtronClassifier(features=features, random_state=0, max_iter=3).fit(X, y), X, TOLERANCE[real])


@REALS
@pytest.mark.parametrize("parameters", [{}, {"representation": "shared"}, {"reject": Reject(cost=0.3, label=-1)}], ids=str)
def test_ranks(parameters, real):
    X = table(real)
    model = PredtronOrdinalClassifier(features="piecewise", random_state=0, max_iter=3, **parameters)
    check_classifier(model.fit(X, ranks(X, [0.3, 0.7])), X, TOLERANCE[real])


@REALS
@EVERY
def test_sets(features, real):
    X = table(real)
    model = PredtronMultilabelClassifier(features=features, decision="learned", random_state=0, max_iter=3)
    found = outputs(model.fit(X, (targets(X, 4) > 0).astype(int)), X)
    decision, slack = model.decision_function(X), uncertainty(model, X, TOLERANCE[real])
    assert_close_scores(found["scores"], decision, 2 * slack)
    assert_same(found["label"], model.predict(X), np.abs(decision).min(axis=1) > 4 * slack)


@REALS
def test_batches_documents_and_rankings(real):
    X = table(real)
    model = PredtronBipartiteClassifier(features="piecewise", random_state=0).fit(X, ranks(X, [0.7]))
    found, slack = outputs(model, X), uncertainty(model, X, TOLERANCE[real])
    assert_close_scores(found["scores"], model.decision_function(X), slack)
    check_probabilities(found, model, X, TOLERANCE[real])
    model = PredtronRanker(features="piecewise", random_state=0).fit(X, ranks(X, [0.5]), qid=np.arange(N) // 10)
    assert_close_scores(outputs(model, X)["scores"], model.predict(X), uncertainty(model, X, TOLERANCE[real]))
    model = PredtronLabelRanker(features="piecewise", random_state=0).fit(X, targets(X, 3).argsort(axis=1).argsort(axis=1))
    assert_close_scores(outputs(model, X)["scores"], model.decision_function(X), 2 * uncertainty(model, X, TOLERANCE[real]))


@REALS
@EVERY
def test_features(features, real):
    """Also at the knots, next to them and beyond, and with values and categories that fit has not seen."""
    X = table(real)
    fitted = features.fit(X, ranks(X, [0.5]))
    tried, tolerance = [X, table(real, seed=1), np.full((1, P), np.nan)], 1e-6 if real is np.float32 else 1e-11
    if isinstance(fitted, PiecewiseLinear):
        tried += [-X, 100 * X, X + 0.25, np.zeros((1, P))]
        knots = np.full((max(map(len, fitted.knots_)), P), np.nan)
        for j, own in enumerate(fitted.knots_):
            knots[: len(own), j] = own
        tried += [knots, np.nextafter(knots, np.inf), np.nextafter(knots, -np.inf)]
    tried = np.vstack(tried).astype(real)
    found = run(fitted, tried)[0]
    assert found.dtype == real and found.shape == (len(tried), fitted.n_features_out_)
    np.testing.assert_allclose(found, dense(fitted.transform(tried)), rtol=0, atol=tolerance)


@REALS
def test_products_of_categories_alone(real):
    X = table(real)[:, [7, 2, 3]]
    model = PredtronClassifier(features=PiecewiseLinear(categories=[0, 1, 2], n_pairs=3), random_state=0)
    model.fit(X, ranks(table(real), [0.5]))
    assert model.features_.n_features_out_ == (3 + 5 + 2) + 3 + (3 * 5 + 3 * 2 + 5 * 2)
    np.testing.assert_allclose(run(model.features_, X)[0], dense(model.features_.transform(X)))
    check_classifier(model, X, TOLERANCE[real])


def test_columns_as_they_are_if_they_were_chosen():
    X = table(np.float32, missing=0)[:, [0, 2, 4, 7]]
    y = (X[:, 0] + X[:, 1] + 0.05 * X[:, 2] > 4).astype(int)
    model = PredtronBinaryClassifier(features="auto", random_state=0).fit(X, y)
    assert model.coef_.shape[1] == 4
    check_classifier(model, X, 1e-5)
    assert "Clip" not in {node.op_type for node in to_onnx(model, X[:1]).graph.node}


def test_batches_of_any_size():
    X = table(np.float32)
    model = PredtronClassifier(features=MAPS["two columns of categories"], random_state=0).fit(X, ranks(X, [0.5]))
    session = runtime.InferenceSession(to_onnx(model, X[:1]).SerializeToString(), providers=["CPUExecutionProvider"])
    for n in (0, 1, N):
        (scores,) = session.run(["scores"], {"X": X[:n]})
        assert scores.shape == (n,)
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("kind", [np.int64, np.int32, bool])
def test_whole_numbers(kind):
    X = table(np.float64, missing=0)[:, [2, 3, 4, 7]].astype(kind)
    model = PredtronClassifier(features=PiecewiseLinear(categories=[0]), random_state=0).fit(X, ranks(table(np.float64), [0.5]))
    np.testing.assert_allclose(outputs(model, X)["scores"], model.decision_function(X), atol=1e-4 if kind is bool else 1e-12)


def test_categories_are_those_that_python_finds():
    """0.1 is the same in either precision; 2.0 is the category 2 of a data frame, and so are its text and, of 1, True."""
    X = np.repeat([[0.1], [0.5], [2.0]], 20, axis=0)
    y = np.arange(3).repeat(20)
    model = PredtronClassifier(features=PiecewiseLinear(categories=[0]), random_state=0).fit(X, y)
    for real in TOLERANCE:
        np.testing.assert_allclose(outputs(model, X.astype(real))["scores"], model.decision_function(X.astype(real)), atol=1e-6)
    for column in (pd.Series(["7", "-1", "2"] * 20), pd.Series([7, -1, 2] * 20, dtype="category")):
        model = PredtronClassifier(features="piecewise", random_state=0).fit(column.to_frame("a"), np.arange(60) % 3)
        assert (outputs(model, np.array([[7.0], [-1.0], [2.0]]))["label"] == [0, 1, 2]).all()
    model = PredtronClassifier(features="piecewise", random_state=0).fit(pd.DataFrame({"a": [True, False] * 30}), [1, 0] * 30)
    assert (outputs(model, np.array([[0.0], [1.0]]))["label"] == [0, 1]).all()


@pytest.mark.parametrize("features", [PiecewiseLinear(), PiecewiseLinear(missing=False), RandomFourier()], ids=str)
def test_what_a_map_refuses_has_no_score(features):
    X = table(np.float32, missing=0)
    model = PredtronClassifier(features=features, reject=Reject(cost=0.3, label=-1), random_state=0).fit(X, ranks(X, [0.5]))
    X[0, 0], X[1, 5], X[2, 6], X[3, 1], X[4, 5] = np.inf, -np.inf, np.inf, np.nan, np.nan
    found, n = outputs(model, X), 3 if features.missing else 5
    assert np.isnan(found["scores"][:n]).all() and (found["label"][:n] == -1).all()
    np.testing.assert_allclose(found["scores"][n:], model.decision_function(X[n:]), atol=1e-4)


def test_weights_that_are_sparse_and_streams():
    X = table(np.float32)
    y = ranks(X, [0.5])
    stream = PredtronClassifier(features="piecewise")
    for _ in range(3):
        stream.partial_fit(X, y, classes=[0, 1])
    check_classifier(stream, X, 1e-5)
    expected = outputs(stream, X)["scores"]
    assert (outputs(stream.sparsify(), X)["scores"] == expected).all()


# ----------------------------------------------------------------------------------------------------------- inside others


@pytest.mark.parametrize("final", [LogisticRegression(), PredtronBinaryClassifier(random_state=0)], ids=["other", "own"])
@pytest.mark.parametrize("features", [MAPS["two columns of categories"], Auto(), RandomFourier(n_features=50)], ids=str)
def test_a_map_in_a_pipeline(features, final):
    X = table(np.float32)
    y = ranks(X, [0.5])
    model = make_pipeline(features, final).fit(X, y)
    label, probabilities = run(model, X, ["label", "probabilities"])
    assert (label == model.predict(X)).mean() > 0.99
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-4)


def test_an_estimator_in_a_pipeline():
    X = table(np.float32)
    model = make_pipeline(StandardScaler(), PredtronBinaryClassifier(features="piecewise", random_state=0))
    X, y = X[:, :6], ranks(X, [0.5])
    model.fit(X, y)
    found = outputs(model, X)
    np.testing.assert_allclose(found["scores"], model.decision_function(X), atol=1e-3)
    assert (found["label"] == model.predict(X)).mean() > 0.99


def test_calibrated_probabilities():
    X = table(np.float32)
    model = CalibratedClassifierCV(PredtronClassifier(features="piecewise", random_state=0), cv=2).fit(X, ranks(X, [0.5]))
    np.testing.assert_allclose(run(model, X, ["probabilities"])[0], model.predict_proba(X), atol=1e-4)


def test_a_map_of_some_columns():
    X = table(np.float32)[:, :6]
    model = ColumnTransformer([("map", PiecewiseLinear(), [4, 0, 1]), ("scaled", StandardScaler(), [3])]).fit(X)
    np.testing.assert_allclose(run(model, X)[0], dense(model.transform(X)), atol=1e-5)


# ----------------------------------------------------------------------------------------------------------------- refusals

ACCEPTED = "accepted are columns of numbers, NaN where they are missing, and categories that are numbers, up to 256 in a column"


@pytest.mark.parametrize("value", ["south", "nan?", "1 m"])
def test_categories_that_are_no_numbers_are_refused(value):
    frame = pd.DataFrame({"a": [value, "1"] * 30, "b": np.arange(60.0)})
    model = PredtronClassifier(features="piecewise").fit(frame, np.arange(60) % 2)
    for refused in (model, PiecewiseLinear().fit(frame)):
        with pytest.raises(ValueError, match=f"The map has the categories .*; {ACCEPTED}"):
            to_onnx(refused, np.zeros((1, 2)))


def test_hashes_are_refused():
    random = np.random.default_rng(0)
    many = random.permutation(600).reshape(-1, 1).astype(float)
    wide = random.integers(0, 256, (4000, 20)).astype(float)
    for X, categories in ((many, [0]), (wide, list(range(20)))):
        fitted = PiecewiseLinear(categories=categories).fit(X)
        with pytest.raises(ValueError, match=f"by a hash; {ACCEPTED}"):
            to_onnx(fitted, X[:1])


def test_first_rows_of_a_stream_are_refused():
    X = table(np.float32)
    stream = PredtronClassifier(features="piecewise").partial_fit(X, ranks(X, [0.5]), classes=[0, 1])
    with pytest.raises(ValueError, match=r"not made yet.*partial_fit of 500 rows"):
        outputs(stream, X)


class Own(FeatureMap):
    """One that a user wrote."""

    def _fitted(self):
        return self


def test_other_maps_are_refused():
    X = table(np.float32)
    model = PredtronClassifier(features="piecewise", random_state=0).fit(X, ranks(X, [0.5]))
    model._model.columns = model._model.columns._replace(features=Own())
    with pytest.raises(ValueError, match="Own is not converted; accepted are PiecewiseLinear, Auto and RandomFourier"):
        outputs(model, X)


def test_other_inputs_are_refused():
    X = table(np.float32)
    fitted = PiecewiseLinear().fit(X)
    with pytest.raises(ValueError, match="The input has 3 features; accepted are the 8 of PiecewiseLinear"):
        to_onnx(fitted, X[:1, :3])
    with pytest.raises(ValueError, match="accepted is one matrix of numbers"):
        to_onnx(fitted, np.array([["a"] * P], dtype=object))


def test_knots_beyond_float32_are_refused():
    X = table(np.float64)[:, :2] * 1e-60
    fitted = PiecewiseLinear().fit(X)
    with pytest.raises(ValueError, match="which float32 does not hold; convert for an input of DoubleTensorType"):
        to_onnx(fitted, X[:1].astype(np.float32))
    np.testing.assert_allclose(run(fitted, X)[0], dense(fitted.transform(X)), atol=1e-12)
