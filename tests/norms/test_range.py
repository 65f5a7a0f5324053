"""Inputs of any magnitude: right where they can be learned from, and refused where they cannot, never wrong in silence."""

import re
import warnings

import numpy as np
import pytest
from scipy import sparse

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron.losses import Reject
from sklearn_predtron.norms import RKHS, PNorm, Trace
from sklearn_predtron.theory import largest_margin, margin
from sklearn_predtron.updates import LossAugmented, PassiveAggressive, PerceptronUpdate, Slam, Subgradient

REFUSED = r"has the length|the step overflows|kernel with itself"
EXPONENTS = (-1000, -530, -466, -463, -300, 300, 460, 465, 520, 1000)  # the range of lengths is from 2^-465.07 to 2^465.07
NORMS = ["l2", "l1", PNorm(7.5), "group", "trace", Trace(9.0), "scaled", RKHS("linear"), RKHS("linear", budget=6)]
FREE = ["adaptive", "passive_aggressive", LossAugmented(eta="theory")]  # of scale: X times 2^k is learned as X is
OTHERS = ["predtron", "loss_driven", "perceptron", PassiveAggressive(C=0.1, variant="pa2"), Subgradient()]
FREE_OF_RANKINGS = [*FREE, Slam(eta="theory")]
OTHERS_OF_RANKINGS = ["perceptron", "slam", "max_pair", "listnet", Subgradient()]


def data(n=30, p=5):
    """Inputs, of which a row is zeros and a value is tiny beside others, and labels for every family."""
    rng = np.random.default_rng(0)
    X, directions = rng.standard_normal((n, p)), rng.standard_normal((p, 3))
    X[3], X[7, 2] = 0, 1e-30
    scores = X @ directions + 0.3 * rng.standard_normal((n, 3))
    labels = scores.argmax(axis=1)
    labels[:3] = range(3)
    return X, {
        PredtronBinaryClassifier: labels > 0,
        PredtronClassifier: labels,
        PredtronOrdinalClassifier: labels,
        PredtronMultilabelClassifier: (scores > 0).astype(int),
        PredtronLabelRanker: np.clip(np.round(scores + 1), 0, 3),
        PredtronRanker: np.clip(np.round(scores[:, 0] + 1), 0, 3),
    }


X, LABELS = data()
QID = np.repeat(np.arange(len(X) // 5), 5)
FAMILIES = [(kind, {} if kind is PredtronBinaryClassifier else {"cv": 0}) for kind in LABELS] + [
    (PredtronOrdinalClassifier, {"representation": "shared"})
]


def learn(kind, how, k, form):
    """Learn X times 2^k; the predictions, and all weights."""
    rows = form(X * 2.0**k)
    model = kind(random_state=0, max_iter=2, **how)
    model.fit(rows, LABELS[kind], **({"qid": QID} if kind is PredtronRanker else {}))
    assert model.n_updates_ > 0
    by_rows = model._model.learner.weights.expansion is not None
    weights = (model.dual_coef_, model.last_dual_coef_) if by_rows else (model.coef_, model.last_coef_)
    return model.predict(rows), np.concatenate([np.ravel(part) for part in (*weights, model.intercept_, model.last_intercept_)])


@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize(("kind", "how"), FAMILIES, ids=lambda part: getattr(part, "__name__", str(part)))
def test_every_magnitude_is_right_or_refused(kind, how, norm):
    rankings = kind in (PredtronRanker, PredtronLabelRanker)
    free, others = (FREE_OF_RANKINGS, OTHERS_OF_RANKINGS) if rankings else (FREE, OTHERS)
    for number, update in enumerate([*free, *others]):
        settings = {**how, "norm": norm, "update": update}
        form = (np.asarray, sparse.csr_matrix)[number % 2]
        expected, _ = learn(kind, settings, 0, form)
        for k in EXPONENTS:
            try:
                found, weights = learn(kind, settings, k, form)
            except ValueError as error:
                assert re.search(REFUSED, str(error))
                assert abs(k) > 464 or (update not in free and abs(k) >= 300), (update, k)
                continue
            assert np.isfinite(weights).all(), (update, k)
            if update in free:
                np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9, err_msg=f"{update} {k}")


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("value", [1e200, 1e-200, 1e141, 1e-141])
def test_rows_out_of_range(value, form):
    """The error says which row, how large it is and what is accepted; nothing changes, in a fit or in a stream."""
    y = LABELS[PredtronClassifier]
    message = rf"X\[9\] has the length {value:.3g}, and {value:.3g} is its largest magnitude; norm='l1' accepts rows of lengths "
    message = message.replace("+", "\\+") + r"from 1e-140 to 1e\+140, and of zeros: scale the features\.$"
    rows = X.copy()
    rows[9] = [0, value, 0, 0, 0]
    for fresh in (True, False):
        model = PredtronClassifier(norm="l1", random_state=0)
        if not fresh:
            model.partial_fit(X, y, classes=range(3))
        before = None if fresh else model.coef_
        for call in (model.partial_fit, model.set_params().partial_fit, model.fit):
            with pytest.raises(ValueError, match=message):
                call(form(rows), y, **({"classes": range(3)} if call != model.fit and fresh else {}))
            assert not fresh or not hasattr(model, "coef_")
            assert fresh or (np.array_equal(model.coef_, before) and model.t_ == len(X))


def test_documents_out_of_range():
    """They are named by their place in X, wherever their query lies."""
    rows, qid = X.copy(), np.arange(len(X)) % 6
    rows[9] = 1e-200
    for call in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=r"X\[9\] has the length 2.24e-200, and 1e-200 is its largest magnitude"):
            getattr(PredtronRanker(), call)(rows, LABELS[PredtronRanker], qid=qid)


@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_tiny_values_beside_others_and_zeros_are_fine(norm):
    y = LABELS[PredtronClassifier]
    tiny, zero = (np.column_stack([X, np.full(len(X), value)]) for value in (5e-324, 0.0))
    tiny[3] = 0
    models = [PredtronClassifier(norm=norm, random_state=0).fit(rows, y) for rows in (tiny, zero)]
    np.testing.assert_array_equal(models[0].predict(tiny), models[1].predict(zero))


def test_float32_rows_are_in_range():
    """Of any magnitude that float32 has."""
    y = LABELS[PredtronClassifier]
    expected = PredtronClassifier(random_state=0).fit(X, y).predict(X)
    for scale in (2.0**-120, 2.0**120):
        rows = (X * scale).astype(np.float32)
        np.testing.assert_array_equal(PredtronClassifier(random_state=0).fit(rows, y).predict(rows), expected)


@pytest.mark.parametrize(("kernel", "value"), [("poly", 1e-100), ("poly", 1e100), ("sigmoid", 1e-139)])
def test_kernels_out_of_range(kernel, value):
    """Of a row with itself, where the rows are in range: k = <x, x>^3, say, is nothing for a tiny row that is not zeros."""
    model = PredtronBinaryClassifier(norm=RKHS(kernel, gamma=1e-60 if kernel == "sigmoid" else 1.0, coef0=0.0))
    with pytest.raises(ValueError, match=r"kernel with itself is .*; accepted are .* from 1e-280 to 1e\+280"):
        model.fit([[0.0], [value]], [0, 1])


@pytest.mark.parametrize("norm", NORMS[:7], ids=str)
@pytest.mark.parametrize("eta", [1e100, 1e300])
def test_a_last_step_that_overflows_is_refused(norm, eta):
    """No call ends with weights that are not finite."""
    model = PredtronClassifier(norm=norm, update=PerceptronUpdate(eta=eta), cv=0)
    for rows in (X, X * 1e130):
        for n in range(1, 6):
            try:
                model.fit(rows[:n], [0, 1, 2, 1, 0][:n]) if n > 1 else model.partial_fit(rows[:1], [1], classes=[0, 1, 2])
            except ValueError as error:
                assert re.search(REFUSED, str(error))
            if hasattr(model, "coef_"):
                assert np.isfinite(model.coef_).all()
                assert np.isfinite(model.intercept_).all()


@pytest.mark.parametrize("scale", [1e-135, 1.0, 1e135])
@pytest.mark.parametrize("norm", ["l2", "l1", "group", "trace"])
def test_margins_of_any_magnitude(norm, scale):
    """Squared lengths do not over- or underflow, whatever the weights, and nothing warns."""
    y, how = LABELS[PredtronClassifier], {"norm": norm, "fit_intercept": False}
    coef = np.random.default_rng(1).standard_normal((3, X.shape[1]))
    model = PredtronClassifier(**how)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = margin(model, X, y, coef)
        for size in (1e-300, 1e300):
            np.testing.assert_allclose(margin(model, X * scale, y, coef * size), expected * scale, rtol=1e-9)
        own = [PredtronClassifier(random_state=0, **how).fit(X * s, y).margin(X * s, y) for s in (1.0, scale)]
        np.testing.assert_allclose(own[1], own[0] * scale, rtol=1e-6)
        rows, labels = np.array([[1.0, 0], [0, 1], [-1, -1]]), [0, 1, 2]
        for size in (1e-200, 1e200):
            np.testing.assert_allclose(largest_margin(model, rows * size, labels).margin, 0.75**0.5 * size, rtol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"reject": Reject(0.2, 9)}], ids=str)
@pytest.mark.parametrize("update", [PerceptronUpdate(eta=1e10), Subgradient(alpha=1e-12, eta=1e10)], ids=str)
@pytest.mark.parametrize("norm", ["l2", "l1", "group", "trace", "scaled", "rkhs"])
def test_a_step_that_overflows_leaves_no_trace_of_its_round(norm, update, settings):
    """The model goes on, to the bit, as one that has never seen the row, which was refused alone or behind others."""
    norm = RKHS("linear") if norm == "rkhs" else norm
    y, refused = LABELS[PredtronClassifier], 0
    given = {"norm": norm, "update": update, **settings}
    model, twin = (PredtronClassifier(**given).partial_fit(X[:12], y[:12], classes=range(3)) for _ in range(2))
    for row in (12, 13, 14):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
        twin.partial_fit(X[row : row + 1], y[row : row + 1])
        long = 1e139 * np.array([[1.0, -1.0, 1.0, 1.0, -1.0]])
        for sign, label in ((1, 0), (1, 1), (1, 2), (-1, 0)):
            try:
                model.partial_fit(sign * long, [label])
            except ValueError as error:
                assert re.search("the step overflows", str(error))
                refused += 1
                assert model.t_ == twin.t_
            else:  # no mistake, or scaled to a length of its own
                twin.partial_fit(sign * long, [label])
    assert refused or norm == "scaled"
    for name in ("coef_", "last_coef_", "intercept_", "last_intercept_"):
        if not isinstance(norm, RKHS) or "coef" not in name:
            np.testing.assert_array_equal(getattr(model, name), getattr(twin, name))
    np.testing.assert_array_equal(model.predict(X), twin.predict(X))
    np.testing.assert_array_equal(model.partial_fit(X, y).decision_function(X), twin.partial_fit(X, y).decision_function(X))


@pytest.mark.parametrize("norm", ["l2", "l1", "group", "trace", "rkhs"])
def test_a_fit_that_goes_on_and_overflows_is_undone(norm):
    """The model is what it was before, and goes on as if the call had not been."""
    norm, y = RKHS("linear") if norm == "rkhs" else norm, LABELS[PredtronClassifier]
    given = {"norm": norm, "update": PerceptronUpdate(eta=1e10), "shuffle": False, "warm_start": True}
    model, twin = (PredtronClassifier(**given).fit(X, y) for _ in range(2))
    long = 1e139 * np.array([[1.0, -1.0, 1.0, 1.0, -1.0]])
    with pytest.raises(ValueError, match=r"the step overflows.*The fit is undone\."):
        model.fit(np.vstack([X, long, long, long]), [*y, 0, 1, 2])
    assert (model.t_, model.n_updates_, model.cumulative_loss_) == (twin.t_, twin.n_updates_, twin.cumulative_loss_)
    np.testing.assert_array_equal(model.decision_function(X), twin.decision_function(X))
    np.testing.assert_array_equal(model.partial_fit(X, y).decision_function(X), twin.partial_fit(X, y).decision_function(X))
