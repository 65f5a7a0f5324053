"""What graphs of ONNX are compared by with the estimators that they stand for."""

import numpy as np
import pytest
from scipy import sparse

from sklearn_predtron.decisions._expected_cost import ByCosts
from sklearn_predtron.onnx import register_converters

pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
from skl2onnx import to_onnx  # noqa: E402

register_converters()
TOLERANCE = {np.float32: 1e-5, np.float64: 1e-13}
REALS = pytest.mark.parametrize("real", list(TOLERANCE), ids=lambda real: real.__name__)


def outputs(model, X):
    """What the graph puts out, by name."""
    graph = to_onnx(model, X[:1])
    session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X}), strict=True))


def terms(model, X):
    """What the scores are linear in."""
    made = X if model._model.columns.features is None else model.features_.transform(X)
    return made.toarray() if sparse.issparse(made) else made


def uncertainty(model, X, tolerance):
    """By how much each row's scores may differ: by some digits of their largest summand."""
    is_mapped = model._model.columns.features is not None  # then there is no coef_
    found = model._model.learner.read(lambda weights: weights.mean()) if is_mapped else (model.coef_, model.intercept_)
    coef, intercept = np.atleast_2d(found[0]), np.atleast_1d(found[1])
    return tolerance * (np.abs(terms(model, X)) @ np.abs(coef).T + np.abs(intercept)).max(axis=1)


def assert_close_scores(found, expected, slack):
    assert found.shape == expected.shape
    assert (np.abs(found - expected) <= slack.reshape(-1, *[1] * (expected.ndim - 1))).all()


def assert_same(found, expected, sure):
    """The same predictions wherever scores are further apart than rounding takes them; and that is nearly everywhere."""
    assert found.shape == expected.shape and sure.mean() > 0.97
    assert (found == expected)[sure].all()


def gaps(decision):
    """The lead of the best class in each row."""
    if decision.ndim == 1:
        return 2 * np.abs(decision)
    best = np.sort(decision, axis=1)
    return best[:, -1] - best[:, -2]


def check_probabilities(found, model, X, tolerance):
    """Those of Python, but for what rounding of scores makes of them; none where Python has none."""
    try:
        expected = model.predict_proba(X)
    except AttributeError:
        assert "probabilities" not in found
        return
    assert found["probabilities"].dtype == X.dtype and found["probabilities"].shape == expected.shape
    np.testing.assert_allclose(found["probabilities"], expected, atol=1e3 * tolerance, rtol=0)


def leads(model, X, decision, slack, found):
    """By how much what is predicted is ahead, less by how much rounding may move that."""
    learned = model._model
    decides = learned.current_decision(model._decision)
    if isinstance(decides, ByCosts):
        probabilities = model.predict_proba(X)
        expected, rounding = np.sort(probabilities @ decides.costs, axis=1), np.abs(found["probabilities"] - probabilities)
        return expected[:, 1] - expected[:, 0] - (2 * rounding.sum(axis=1) + 10 * np.finfo(X.dtype).eps) * decides.costs.max()
    return gaps(decision) - 4 * slack


def check_classifier(model, X, tolerance):
    found, slack = outputs(model, X), uncertainty(model, X, tolerance)
    decision, predicted = model.decision_function(X), model.predict(X)
    assert_close_scores(found["scores"], decision, 2 * slack)
    check_probabilities(found, model, X, tolerance)
    assert_same(found["label"], predicted, leads(model, X, decision, slack, found) > 0)
    return found["label"]
