"""The compiled core against the reference learner, and against itself: any form of the rows, any split of the stream."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from cases import (
    assert_agrees,
    assert_close,
    cost_table,
    data,
    intercept_settings,
    kinds_of_updates,
    layouts,
    losses,
    name,
    pairwise,
    random_costs,
    reference_for,
    representations,
    state,
    updates,
    updates_of_the_reference,
)
from reference.learner import Reference
from scipy import sparse

import sklearn_predtron.updates
from sklearn_predtron import PredtronClassifier
from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron._core.problem import Codes
from sklearn_predtron._core.rows import dense_rows
from sklearn_predtron.losses import CostMatrix, ZeroOne
from sklearn_predtron.representations import OneHot, SharedThermometer, Sign
from sklearn_predtron.updates import Adaptive, LossAugmented, PassiveAggressive, PerceptronUpdate, Subgradient
from sklearn_predtron.updates import _rules as core

AVERAGES = ["linear", "uniform", 7.5, False]
K = 4
CODES = [(k, representation) for k in (2, K) for representation in representations(k)]
OFFSETS = [
    ("auto", False),
    ("auto", True),
    (0.7, True),
    (None, False),
]  # the intercept's feature, and whether rounds have weights


def make(update, average="linear", representation="onehot", loss="zero_one", **settings):
    parts = {"update": update, "average": average, "representation": representation, "loss": loss}
    return PredtronClassifier(norm="l2", decision="learned", **parts, **settings)


def weights_of(n, seed=5):
    weight = np.random.default_rng(seed).uniform(0.2, 2.5, n)
    weight[::7] = 0
    return weight


def test_the_reference_has_a_rule_for_every_public_update():
    public = {kind.alias for kind in kinds_of_updates() if kind.__name__ in sklearn_predtron.updates.__all__}
    assert public == {update.alias for update in updates_of_the_reference()}


@pytest.mark.parametrize(
    ("update", "k_and_code", "number", "offset"),
    pairwise(updates_of_the_reference(), CODES, range(len(losses(K))), OFFSETS),
    ids=lambda part: name(part)[:30],
)
def test_iterates_and_averages(update, k_and_code, number, offset):
    (k, representation), (intercept, weighted) = k_and_code, offset
    loss = losses(k)[number]
    if intercept is None and isinstance(representation, SharedThermometer):
        intercept = 1.3  # thresholds are offsets: there is no learner without
    X, y = data(n=40, k=k)
    weight = weights_of(len(X)) if weighted else None
    reference = reference_for(update, representation, loss, k, X.shape[1], intercept).learn(X, y, weight)
    assert reference.n_updates > 5
    for average in AVERAGES:
        model = make(update, average, representation, loss, **intercept_settings(intercept))
        model.partial_fit(X, y, classes=np.arange(k), sample_weight=weight)
        assert_agrees(model, reference, average)


@pytest.mark.parametrize("first", ["class-major", "feature-major"])
@pytest.mark.parametrize("number", range(len(updates_of_the_reference())), ids=lambda i: name(updates_of_the_reference()[i]))
def test_rows_of_every_form(number, first):
    """Updates meet the representations in turn."""
    X, y = data(k=K)
    update, representation = updates_of_the_reference()[number], representations(K)[number % len(representations(K))]
    reference = reference_for(update, representation, ZeroOne(), K, X.shape[1]).learn(X, y)
    for rows in layouts(X).values():
        model = make(update, representation=representation)
        start = X[:1] if first == "class-major" else sparse.csr_matrix(X[:1])
        model.partial_fit(start, y[:1], classes=np.arange(K)).partial_fit(rows[1:], y[1:])
        assert_agrees(model, reference, "linear")
        assert_close(model.decision_function(rows), (X @ model.coef_.T + model.intercept_) @ representation.code(K).T)


def test_length_of_the_intercept_in_a_long_stream():
    """From 1024 rows on it is computed after some rows only, which are the same ones in any parts of the stream."""
    X, y = data(n=1301, k=2)
    X *= np.linspace(1, 3, len(X))[:, None]
    update = updates_of_the_reference()[0]
    reference = reference_for(update, representations(2)[0], ZeroOne(), 2, X.shape[1]).learn(X, y)
    whole = make(update, representation=representations(2)[0]).partial_fit(X, y, classes=[0, 1])
    assert_agrees(whole, reference, "linear")
    part = make(update, representation=representations(2)[0]).partial_fit(X[:1100], y[:1100], classes=[0, 1])
    part = pickle.loads(pickle.dumps(part.partial_fit(X[1100:1101], y[1100:1101]))).partial_fit(X[1101:], y[1101:])
    np.testing.assert_array_equal(part.intercept_, whole.intercept_)


@pytest.mark.parametrize("rows", [0, 1023, 1024, 2**61, 2**62])
def test_the_largest_number_of_rows_of_an_intercept_is_restored(rows):
    """A damaged state may say it: the distance to the row of the next computation must not overflow."""
    intercept = Intercept(True, "auto")
    intercept.__setstate__((2.0, 0.5, 3, rows))
    assert intercept.squared_length == 2.0 and intercept.__reduce__()[2] == (2.0, 0.5, 3, rows)


@pytest.mark.parametrize(("k", "p", "number"), pairwise([2, 3, 5, 9, 18, 47], [1, 3, 4, 8, 21, 67], range(-4, 0)))
def test_all_widths(k, p, number):
    """Every tail of the kernels, in classes and in features."""
    X, y = data(n=50, p=p, k=k, seed=k + p)
    update, representation = Subgradient(alpha=0.05, eta=0.3), [OneHot(), *representations(k)[-3:]][number]
    reference = reference_for(update, representation, ZeroOne(), k, p).learn(X, y)
    for rows in layouts(X).values():
        model = make(update, representation=representation).partial_fit(rows, y, classes=np.arange(k))
        assert_agrees(model, reference, "linear")


def test_loss_table_of_zero_one_equals_none():
    """The short cut for the 0-1 loss and its table make the same rounds."""
    X, y = data(k=K)
    for update in updates():
        models = [make(update, loss=loss).partial_fit(X, y, classes=np.arange(K)) for loss in ("zero_one", 1 - np.eye(K))]
        assert_close(models[0].coef_, models[1].coef_)
        assert models[0].n_mistakes_ == models[1].n_mistakes_


# ------------------------------------------------------------------------------------------------- streams in any split


def split(n, seed):
    """Consecutive batches, many of a single row."""
    sizes = np.random.default_rng(seed).choice([1, 1, 1, 2, 5, 16], n)
    ends = np.minimum(np.cumsum(sizes), n)
    return [slice(start, end) for start, end in zip(np.append(0, ends[:-1]), ends, strict=True) if end > start]


def stream(model, X, y, parts, weight=None):
    for i, part in enumerate(parts):
        extra = {"classes": np.unique(y)} if i == 0 else {}
        if weight is not None:
            extra["sample_weight"] = weight[part]
        model.partial_fit(X[part], y[part], **extra)
    return model


@pytest.mark.parametrize("update", updates(), ids=name)
def test_partial_fit_is_the_same_in_any_split(update):
    X, y = data(n=40, k=3)
    forms = layouts(X)
    one_by_one = [slice(i, i + 1) for i in range(len(y))]
    for rows, weight in ((forms["dense float64"], weights_of(len(y))), (forms["csr float32 int64"], None)):
        whole = state(stream(make(update), rows, y, [slice(0, len(y))], weight))
        for parts in (one_by_one, split(len(y), 0)):
            assert state(stream(make(update), rows, y, parts, weight)) == whole


def test_partial_fit_is_the_same_in_any_split_with_class_weights():
    X, y = data(n=80, k=3)
    settings = {"class_weight": {0: 0.5, 1: 0, 2: 3.0}}
    whole = state(make(Adaptive(), **settings).partial_fit(X, y, classes=[0, 1, 2]))
    assert state(stream(make(Adaptive(), **settings), X, y, [slice(i, i + 1) for i in range(len(y))])) == whole
    present = y != 1
    weight = np.where(y == 0, 0.5, 3.0)
    assert state(make(Adaptive()).partial_fit(X[present], y[present], [0, 1, 2], weight[present])) == whole


@pytest.mark.parametrize("update", updates_of_the_reference(), ids=name)
def test_dense_and_sparse_batches_alternate(update):
    X, y = data(n=80, k=3)
    reference = reference_for(update, OneHot(), ZeroOne(), 3, X.shape[1]).learn(X, y)
    for shift in (0, 1):
        model = make(update)
        for i, part in enumerate(split(len(y), 2)):
            batch = sparse.csr_matrix(X[part]) if (i + shift) % 2 else X[part]
            model.partial_fit(batch, y[part], classes=[0, 1, 2])
        assert_agrees(model, reference, "linear")


@pytest.mark.parametrize("update", updates(), ids=name)
def test_float32_rows_give_the_bits_of_their_float64_copies(update):
    X, y = data(n=80, k=5)
    for narrow in (X.astype(np.float32), sparse.csr_matrix(X.astype(np.float32))):
        models = [make(update).partial_fit(rows, y, classes=np.arange(5)) for rows in (narrow, narrow.astype(np.float64))]
        assert state(models[0]) == state(models[1])
        assert np.array_equal(models[0].decision_function(narrow), models[0].decision_function(narrow.astype(np.float64)))


@pytest.mark.parametrize("update", updates(), ids=name)
def test_fit_without_shuffling_is_epochs_of_partial_fit(update):
    X, y = data(n=40, k=3)
    fitted = make(update, max_iter=3, shuffle=False).fit(X, y)
    streamed = make(update)
    for _ in range(fitted.n_iter_):
        streamed.partial_fit(X, y, classes=[0, 1, 2])
    assert fitted.n_iter_ > 1
    assert state(fitted) == state(streamed)


@pytest.mark.parametrize("update", updates(), ids=name)
def test_rows_of_weight_zero_are_absent(update):
    X, y = data(n=40, k=3)
    weight = weights_of(len(y))
    present = weight > 0
    for shuffle in (False, True):
        settings = {"max_iter": 2, "shuffle": shuffle, "random_state": 0}
        given = make(update, **settings).fit(X, y, sample_weight=weight)
        assert state(given) == state(make(update, **settings).fit(X[present], y[present], sample_weight=weight[present]))


def test_weights_of_one_change_nothing():
    X, y = data(n=40, k=3)
    for update in updates():
        given = make(update).partial_fit(X, y, [0, 1, 2], np.ones(len(y)))
        assert state(given) == state(make(update).partial_fit(X, y, [0, 1, 2]))


@pytest.mark.parametrize("form", ["dense float64", "csr float64 int32"])
def test_prediction_right_after_a_row(form):
    X, y = data(n=6, k=3)
    rows = layouts(X)[form]
    for update in updates():
        for average in AVERAGES:
            model = make(update, average)
            for i in range(len(y)):
                model.partial_fit(rows[i : i + 1], y[i : i + 1], classes=[0, 1, 2])
                assert_close(model.decision_function(rows), X @ model.coef_.T + model.intercept_)


def at_offset(X, offset):
    """A copy of X that starts `offset` bytes behind a cache line."""
    buffer = np.empty(X.nbytes + 128, dtype=np.uint8)
    start = -buffer.ctypes.data % 64 + offset
    copy = buffer[start : start + X.nbytes].view(X.dtype).reshape(X.shape)
    copy[...] = X
    return copy


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("p", [5, 37])
def test_bits_do_not_depend_on_the_address(real, p):
    X, y = data(n=40, p=p, k=5)
    X = X.astype(real)
    states, scores = [], []
    for offset in range(0, 64, X.itemsize):
        placed = at_offset(X, offset)
        assert placed.ctypes.data % 64 == offset
        model = make(Adaptive()).partial_fit(placed, y, classes=np.arange(5))
        states.append(state(model))
        scores.append(model.decision_function(placed).tobytes())
    assert all(s == states[0] for s in states)
    assert all(s == scores[0] for s in scores)


def test_scores_do_not_depend_on_the_other_rows():
    X, y = data(n=40, k=5)
    model = make(Adaptive()).partial_fit(X, y, classes=np.arange(5))
    together = model.decision_function(X)
    assert all(np.array_equal(model.decision_function(X[i : i + 1])[0], together[i]) for i in range(len(y)))


@pytest.mark.parametrize(("times", "step"), [(1, -1), (2, 1), (2, -1)])
def test_csr_rows_in_any_order_with_entries_given_twice(times, step):
    """They are learned as the rows that they stand for, and left as they are."""
    X, y = data()
    rows = sparse.csr_matrix(X)
    parts = [np.repeat(row.indices, times)[::step] for row in rows], [np.repeat(row.data / times, times)[::step] for row in rows]
    indices, values = map(np.concatenate, parts)
    halves = sparse.csr_matrix((values, indices, rows.indptr * times), shape=X.shape)
    model = make(Adaptive()).partial_fit(halves, y, classes=np.arange(K))
    other = make(Adaptive()).partial_fit(rows, y, classes=np.arange(K))
    assert (model.t_, model.n_updates_, model.n_mistakes_) == (other.t_, other.n_updates_, other.n_mistakes_)
    assert_close(model.coef_, other.coef_, 1e-12)
    assert halves.nnz == times * rows.nnz
    assert_close(model.decision_function(halves), model.decision_function(rows), 1e-12)


def test_read_only_rows_are_read_in_place():
    X, y = data(n=30, k=3)
    for rows in layouts(X).values():
        for array in (rows.data, rows.indices, rows.indptr) if sparse.issparse(rows) else (rows,):
            array.flags.writeable = False
        model = make(Adaptive()).partial_fit(rows, y, classes=[0, 1, 2])
        assert model.decision_function(rows).shape == (30, 3)


# ------------------------------------------------------------------------------------------ large and vanishing scales


def long_stream(n, p=3):
    rng = np.random.default_rng(11)
    X = rng.standard_normal((n, p))
    return X, (X @ [1.0, -0.5, 0.25] + rng.standard_normal(n) > 0).astype(int)


def assert_agrees_on_a_long_stream(update, averages, n, rtol=1e-7):
    X, y = long_stream(n)
    reference = reference_for(update, Sign(), ZeroOne(), 2, X.shape[1], 1.0).learn(X, y)
    for average in averages:
        model = make(update, average, "sign", intercept_scaling=1.0).partial_fit(X, y, classes=[0, 1])
        coef, intercept = reference.mean(average)
        assert_close(model.last_coef_, reference.W, rtol)
        assert_close(model.last_intercept_, reference.b, rtol)
        assert_close(model.coef_, coef, rtol)
        assert_close(model.intercept_, intercept, rtol)
        assert model.n_mistakes_ == reference.n_mistakes


@pytest.mark.parametrize("update", [Subgradient(alpha=0.1, eta=0.5), Subgradient(alpha=0.01, eta=1.0)], ids=name)
def test_penalty_over_many_rounds(update):
    """0.95**6000 = 1e-134: the running scale of the weights has to be multiplied out."""
    assert_agrees_on_a_long_stream(update, AVERAGES, 6_000)


@pytest.mark.parametrize("update", [Subgradient(alpha=0.1, eta=0.5), Subgradient(alpha=0.01), Adaptive()], ids=name)
def test_short_half_life_over_many_rounds(update):
    """0.5**3000 is no floating-point number: the running scale of the average has to be multiplied out."""
    assert_agrees_on_a_long_stream(update, [2, 300], 3_000)


def test_stationary_average_of_a_penalised_stream():
    """With a step on every round W has a fixed point, and so has every average; 1e5 rounds, no reference needed."""
    eta, alpha, n = 0.5, 0.2, 100_000
    X, y = np.ones((n, 1)), np.ones(n, dtype=int)
    fixed = 2 * eta / (eta * alpha)
    for average in AVERAGES:
        model = make(Subgradient(alpha=alpha, eta=eta), average, "sign", [[0, 1.0], [1e9, 0]], fit_intercept=False)
        model.partial_fit(X, y, classes=[0, 1])
        lost = 2 * eta * (1 - eta * alpha) / (eta * alpha) ** 2 if average == "uniform" else 0
        assert model.n_updates_ == n
        np.testing.assert_allclose(model.last_coef_, fixed, rtol=1e-9)
        np.testing.assert_allclose(model.coef_, fixed - lost / n, rtol=1e-6)


@pytest.mark.parametrize("average", AVERAGES)
def test_weights_shrunk_to_zero(average):
    """The penalty undoes all weights; the sum of the iterates stays."""
    X, y = data(n=40, k=3)
    alpha, eta = 0.5, 2.0
    model = make(PerceptronUpdate(), average).partial_fit(X[:20], y[:20], classes=[0, 1, 2])
    learner = model._model.learner
    model._model.learner = learner.with_parts(
        learner.problem, core.SubgradientRule(alpha, eta), learner.average if learner.weights.averaging else None, None
    )
    model._model.learner.learn(dense_rows(X[20:]), Codes(y[20:].astype(np.intp)))
    reference = reference_for(PerceptronUpdate(), OneHot(), ZeroOne(), 3, X.shape[1]).learn(X[:20], y[:20])
    reference.rule, reference.parameters.alpha, reference.parameters.eta = "subgradient", alpha, eta
    assert_agrees(model, reference.learn(X[20:], y[20:]), average)


@pytest.mark.parametrize("average", AVERAGES)
def test_update_changed_in_mid_stream(average):
    """From 1 / (alpha t) with t > 1 the penalty shrinks weights that another update has learned."""
    X, y = data(n=40, k=3)
    model = make(PerceptronUpdate(), average).partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    model.set_params(update=Subgradient(alpha=0.1)).partial_fit(X[1:], y[1:])
    reference = reference_for(PerceptronUpdate(), OneHot(), ZeroOne(), 3, X.shape[1]).learn(X[:1], y[:1])
    reference.rule, reference.parameters.alpha, reference.parameters.eta = "subgradient", 0.1, "pegasos"
    assert_agrees(model, reference.learn(X[1:], y[1:]), average)


def test_average_stopped_and_started_in_mid_stream():
    """The average is of the iterates since it was switched on."""
    X, y = data(n=60, k=3)
    model = make(Adaptive()).partial_fit(X[:20], y[:20], classes=[0, 1, 2])
    model.set_params(average=False).partial_fit(X[20:40], y[20:40])
    assert np.array_equal(model.coef_, model.last_coef_)
    model.set_params(average="uniform").partial_fit(X[40:], y[40:])
    reference = reference_for(Adaptive(), OneHot(), ZeroOne(), 3, X.shape[1]).learn(X, y)
    assert_close(model.last_coef_, reference.W)
    assert_close(model.coef_, np.mean([W for _, W, _ in reference.iterates[40:]], axis=0))


@pytest.mark.parametrize("scale", [1e-138, 1e-20, 1e20, 1e138])
def test_inputs_of_extreme_size(scale):
    X, y = data(n=40, k=3)
    model = make(Adaptive()).partial_fit(X * scale, y, classes=[0, 1, 2])
    reference = reference_for(Adaptive(), OneHot(), ZeroOne(), 3, X.shape[1]).learn(X, y)
    coef, intercept = reference.mean("linear")
    np.testing.assert_allclose(model.coef_ * scale, coef, rtol=1e-7, atol=1e-7 * np.abs(coef).max())
    np.testing.assert_allclose(model.intercept_, intercept, rtol=1e-7, atol=1e-7 * np.abs(intercept).max())


# ------------------------------------------------------------------------------------------------------------ rows of zeros


@pytest.mark.parametrize(
    ("update", "intercept", "form"),
    pairwise(updates_of_the_reference(), ["auto", 0.5, None], ["dense float64", "csr float64 int32"]),
    ids=name,
)
def test_first_rows_of_zeros(update, intercept, form):
    X, y = data(n=40, k=3)
    X[:2] = 0
    rows = layouts(X)[form]
    model = make(update, **intercept_settings(intercept)).partial_fit(rows, y, classes=[0, 1, 2])
    after = 2 if intercept is None else 0
    reference = reference_for(update, OneHot(), ZeroOne(), 3, X.shape[1], intercept)
    reference.t, reference.mean_weight = after, 1  # without an intercept nothing can be learned from rows of zeros
    reference.learn(X[after:], y[after:])
    assert np.isfinite(model.coef_).all()
    assert_close(model.last_coef_, reference.W)
    np.testing.assert_allclose(model.last_intercept_, reference.b, rtol=1e-9, atol=1e-9 * np.abs(reference.b).max())


@pytest.mark.parametrize("update", updates(), ids=name)
def test_rows_of_zeros_change_nothing(update):
    X, y = np.zeros((5, 4)), np.array([1, 0, 2, 1, 0])
    for rows in (X, sparse.csr_matrix(X)):
        model = make(update, fit_intercept=False).partial_fit(rows, y, classes=[0, 1, 2])
        assert (model.n_mistakes_, model.cumulative_loss_) == (5, 5.0)
        assert not model.coef_.any()


# ------------------------------------------------------------------------------------------------------------------- ties


def test_tied_scores_lose_the_most_they_can():
    """At W = 0 every prediction is a maximiser: the loss suffered is the largest, its first prediction the competitor."""
    cost = np.array([[0, 1.0, 2, 2], [3, 0, 3, 1], [0, 0, 0, 0], [1, 1, 1, 0]])
    model = make(PerceptronUpdate(), False, loss=cost, fit_intercept=False)
    expected = [(0, 2, 2.0), (1, 0, 3.0), (2, None, 0.0), (3, 0, 1.0)]
    for label, competitor, loss in expected:
        one = make(PerceptronUpdate(), False, loss=cost, fit_intercept=False).partial_fit([[1.0]], [label], classes=range(4))
        step = np.zeros(4)
        if competitor is not None:
            step[label], step[competitor] = 1, -1
        assert one.cumulative_loss_ == loss
        np.testing.assert_array_equal(one.coef_[:, 0], step)
    model.partial_fit(np.ones((1, 1)), [2], classes=range(4))
    assert (model.n_mistakes_, model.n_updates_) == (0, 0)


def test_what_rounding_leaves_of_a_hinge_is_no_step():
    """A row whose target was just met is not learned again."""
    X, y = data(n=200, p=7, k=2)
    model = make(PassiveAggressive(), representation="sign")
    for i in range(len(X)):
        steps = model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1]).n_updates_
        assert model.partial_fit(X[i : i + 1], y[i : i + 1]).n_updates_ == steps
    assert steps > 50


def test_reference_ties_as_documented():
    """The reference itself, on a tie of three where two lose alike."""
    reference = Reference(np.eye(3), random_costs(3) * 0 + 2 * (1 - np.eye(3)), 1, "perceptron", {"eta": 1.0}, intercept=None)
    reference.learn([[1.0]], [1])
    np.testing.assert_array_equal(reference.W[:, 0], [-1, 1, 0])


def test_theory_step_uses_the_largest_length_so_far():
    X = np.array([[1.0, 0], [0, 3.0], [2.0, 0]])
    y = np.array([1, 0, 0])
    model = make(LossAugmented(eta="theory"), False, "sign", CostMatrix([[0, 2.0], [0.5, 0]]), intercept_scaling=2.0)
    model.partial_fit(X, y, classes=[0, 1])
    c_L = cost_table(CostMatrix([[0, 2.0], [0.5, 0]]), 2)[1, 0]
    steps = c_L / (4 * np.array([1 + 4, 9 + 4, 9 + 4]))
    scores = [0, 2 * steps[0] * 4]
    assert scores[1] > 0
    b = 8 * (steps[0] - steps[1])
    assert 2 * steps[0] * 2 + b > 0
    np.testing.assert_allclose(model.last_coef_[0], [2 * steps[0] - 4 * steps[2], -6 * steps[1]], rtol=1e-12)


def test_sources_in_c_are_not_ignored():
    """What Cython writes lies in build/: no pattern for sources is needed, nor must there be one."""
    lines = (Path(__file__).parents[2] / ".gitignore").read_text().splitlines()
    assert "build/" in lines
    assert not [line for line in lines if line.endswith((".c", ".h", ".pyx", ".pxd"))]
