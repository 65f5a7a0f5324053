"""Bounds on any data: the loss suffered online against that of given weights."""

import copy

import numpy as np
import pytest
from cases import Hours
from euclidean import (
    Predtron,
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from ranking_cases import make_data as make_queries
from ranking_cases import make_labels
from reference.ranking import better
from scipy import sparse

from sklearn_predtron.losses import NDCG, CountLoss
from sklearn_predtron.norms import PNorm
from sklearn_predtron.theory import radius, theorem_of
from sklearn_predtron.updates import (
    MMP,
    Adaptive,
    LossAugmented,
    LossDriven,
    MaxPair,
    PassiveAggressive,
    PerceptronUpdate,
    PRank,
    Slam,
)
from sklearn_predtron.updates._shared_bounds import largest_total

NORMS = ["l2", "l1", PNorm(3.0), "group", "trace"]
UPDATES = [
    LossAugmented(eta=5e-4),
    LossDriven(),
    PerceptronUpdate(eta=2.0),
    PassiveAggressive(C=0.05),
    PassiveAggressive(C=0.05, competitor="predicted"),
    PassiveAggressive(C=0.05, variant="pa2"),
]
COSTS = np.array([[0, 1.0, 3.0], [0.5, 0, 1.0], [2.0, 0.7, 0]])


def noisy(seed, n=150, p=4):
    """Rows that no weights separate, and the weights behind them, of shape (3, p)."""
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((n, p)), rng.standard_normal((3, p))
    return X, (X @ W.T + rng.standard_normal((n, 3))), W


def families(seed):
    X, scores, W = noisy(seed)
    y = scores.argmax(axis=1)
    yield PredtronBinaryClassifier(loss=[[0, 2.0], [0.5, 0]], decision="learned"), X, (scores[:, 0] > 0).astype(int), W[:1]
    yield PredtronClassifier(loss=COSTS, representation="onehot", decision="learned"), X, y, W
    yield PredtronClassifier(representation="simplex"), X, y, (W - W.mean(axis=0))[:2]
    yield PredtronMultilabelClassifier(), X, (scores > 0).astype(int), W
    yield PredtronOrdinalClassifier(representation="thermometer"), X, np.digitize(scores[:, 0], [-1, 1]), np.tile(W[:1], (2, 1))
    yield PredtronOrdinalClassifier(representation="shared"), X, np.digitize(scores[:, 0], [-1, 1]), W[:1]


def learned(model, X, y):
    model = copy.deepcopy(model)
    classes = {} if y.ndim > 1 else {"classes": np.unique(y)}
    for start in (0, 70):
        model.partial_fit(X[start : start + 70], y[start : start + 70], **classes)
    return model.partial_fit(X[140:], y[140:])


@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("update", UPDATES, ids=str)
def test_the_loss_is_within_the_bound_of_any_weights(update, norm):
    """Of the weights behind the rows, of nonsense, of zeros, at any scale; and of those that were learned."""
    rng = np.random.default_rng(0)
    for seed in range(2):
        for model, X, y, W in families(seed):
            model.set_params(update=update, norm=norm, intercept_scaling=1.5, average=False)
            if getattr(model, "representation", None) != "shared" and seed:
                model.set_params(fit_intercept=False)
            model = learned(model, X, y)
            assert model.cumulative_loss_ > 5
            b = np.linspace(1, -1, len(model.intercept_)) if model.fit_intercept else np.zeros(len(model.intercept_))
            own = model.coef_, model.intercept_
            for U in [(s * W, s * b) for s in (1e-3, 0.1, 0.5, 2.0)] + [own, (rng.standard_normal(W.shape), b), (0 * W, 0 * b)]:
                assert model.cumulative_loss_ <= model.loss_bound(comparator=U, X=X, y=y)


@pytest.mark.parametrize("update", UPDATES, ids=str)
def test_a_separating_comparator_has_the_bound_of_its_margin(update):
    """U = W / gamma (for surrogates with losses, C_L W / gamma) loses nothing, and the bounds agree."""
    X, _, W = noisy(3)
    y = (X @ W.T).argmax(axis=1)
    lead = np.sort(X @ W.T, axis=1)
    X, y = X[lead[:, 2] - lead[:, 1] > 0.4], y[lead[:, 2] - lead[:, 1] > 0.4]
    model = PredtronClassifier(representation="onehot", update=update, fit_intercept=False).partial_fit(X, y, classes=range(3))
    gamma = 0.4 / np.linalg.norm(W)
    R = np.linalg.norm(X, axis=1).max()
    found = model.loss_bound(comparator=W / 0.4, X=X, y=y)
    assert found == pytest.approx(model.loss_bound(gamma, R), rel=1e-9)


@pytest.mark.parametrize(("excess", "slope2"), [(0.0, 3.0), (2.0, 0.0), (2.0, 3.0), (1e6, 0.1)])
def test_the_largest_total_meets_its_inequality(excess, slope2):
    """S - E = sqrt(slope2 S)."""
    total = largest_total(excess, slope2)
    assert total - excess == pytest.approx((slope2 * total) ** 0.5)


def test_prank_against_ordered_thresholds():
    for seed in range(10):
        X, scores, W = noisy(seed)
        y = np.digitize(scores[:, 0], [-1, 1])
        model = PredtronOrdinalClassifier(representation="shared", update=PRank(), intercept_scaling=1.0, average=False)
        model = learned(model, X, y)
        for s in (0.1, 0.5, 2.0):
            assert 5 < model.cumulative_loss_ <= model.loss_bound(comparator=(s * W[:1], [s, -s]), X=X, y=y)
        assert model.loss_bound(comparator=(W[:1], [0.5, 0.5]), X=X, y=y) > 0
        with pytest.raises(ValueError, match=r"comparator has the thresholds \[0\.5, -0\.5\] .* thresholds that do not fall"):
            model.loss_bound(comparator=(W[:1], [-0.5, 0.5]), X=X, y=y)


@pytest.mark.parametrize("update", [MaxPair(), MaxPair(weighted=False), Slam(eta=2e-4)], ids=str)
@pytest.mark.parametrize("norm", ["l2", "l1", "group"])
@pytest.mark.parametrize("loss", ["ndcg", NDCG(k=2)], ids=str)
def test_queries(update, norm, loss):
    X, y, qid = make_queries()
    model = PredtronRanker(update=update, norm=norm, loss=loss, average=False).partial_fit(X, y, qid=qid)
    assert model.cumulative_loss_ > 1
    for u in (0.1 * np.ones(5), np.zeros(5), model.coef_):
        assert model.cumulative_loss_ <= model.loss_bound(comparator=u, X=X, y=y, qid=qid)


@pytest.mark.parametrize("cost", ["is_error", "error_set", "normalised"])
@pytest.mark.parametrize("weights", ["uniform", "max"])
def test_labels(cost, weights):
    X, y = make_labels()
    for update in (MMP(cost=cost, weights=weights), MaxPair(), Slam(eta=5e-4)):
        model = PredtronLabelRanker(update=update, average=False, intercept_scaling=1.0).partial_fit(X, y)
        for U in (np.zeros((5, 4)), 0.3 * np.random.default_rng(0).standard_normal((5, 4)), (model.coef_, model.intercept_)):
            assert 1 < model.cumulative_loss_ <= model.loss_bound(comparator=U, X=X, y=y)


def test_the_bound_of_slam_is_theorem_6_of_its_surrogate():
    """(|u|^2 + 2 eta F) / (eta (2 - 4 eta R^2 / v)), F the sum over queries of sum_i v_i max(0, 1 + t_k(i) - t_i)."""
    X, y, qid = make_queries(grades=(0, 1))
    model = PredtronRanker(update=Slam(eta=0.002), loss="ap").partial_fit(X, y, qid=qid)
    u, F, v = np.array([0.3, -0.2, 0.1, 0.5, 0.0]), 0.0, []
    for query in np.unique(qid):
        t, relevance = X[qid == query] @ u, y[qid == query]
        for i in np.flatnonzero(better(relevance).any(axis=1)):
            F += max(0.0, 1 + t[relevance == 0].max() - t[i]) / relevance.sum()
            v.append(1 / relevance.sum())
    R2, eta, least = (X**2).sum(axis=1).max(), 0.002, model._model.learner.update.c_L_seen
    expected = (u @ u + 2 * eta * F) / (eta * (2 - 4 * eta * R2 / least))
    assert least >= min(v)
    assert model.loss_bound(comparator=u, X=X, y=y, qid=qid) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("update", [LossAugmented(eta="theory"), Adaptive(), PassiveAggressive()], ids=str)
def test_updates_without_a_proof_on_any_data(update):
    X, scores, W = noisy(0)
    y = scores.argmax(axis=1)
    model = PredtronClassifier(update=update, representation="onehot", fit_intercept=False).partial_fit(X, y, classes=range(3))
    with pytest.raises(ValueError, match="No bound against given weights is proven for update="):
        model.loss_bound(comparator=W, X=X, y=y)
    X, y, qid = make_queries()
    for settings in ({"update": Slam()}, {"update": "perceptron"}, {"update": update}):
        ranker = PredtronRanker(**settings).partial_fit(X, y, qid=qid)
        with pytest.raises(ValueError, match="No bound against given weights is proven for"):
            ranker.loss_bound(comparator=np.ones(5), X=X, y=y, qid=qid)


def test_problems_in_python():
    """Their surrogates are asked for in each round; margins over all their predictions are not known."""
    X = np.random.default_rng(0).standard_normal((80, 2))
    y = np.floor(np.arctan2(X[:, 1], X[:, 0]) * 6 / np.pi).astype(int) % 12
    for update in (LossAugmented(eta=0.05), PassiveAggressive(C=0.1), PassiveAggressive(C=0.1, variant="pa2")):
        model = Predtron(Hours(), update=update, fit_intercept=False, average=False).partial_fit(X, y)
        for U in (np.eye(2), 5 * np.eye(2), np.zeros((2, 2))):
            assert 1 < model.cumulative_loss_ <= model.loss_bound(comparator=U, X=X, y=y)
    for update in ("perceptron", "loss_driven"):
        model = Predtron(Hours(), update=update, fit_intercept=False).partial_fit(X, y)
        with pytest.raises(ValueError, match="needs margins over all predictions"):
            model.loss_bound(comparator=np.eye(2), X=X, y=y)


def test_what_goes_together():
    X, scores, W = noisy(0)
    y = scores.argmax(axis=1)
    model = PredtronClassifier(update="perceptron", representation="onehot", fit_intercept=False)
    model.partial_fit(X, y, classes=range(3))
    for arguments in (
        {"X": X, "y": y},
        {"comparator": W},
        {"comparator": W, "X": X},
        {"comparator": W, "X": X, "y": y, "margin": 1},
    ):
        with pytest.raises(ValueError, match="takes a margin, or comparator, X and y together"):
            model.loss_bound(**arguments)
    for comparator, message in [(W[:2], "comparator has shape"), ((W, [1, 2, 3]), "no intercept"), (W * np.nan, "NaN")]:
        with pytest.raises(ValueError, match=message):
            model.loss_bound(comparator=comparator, X=X, y=y)
    with pytest.raises(ValueError, match="different weights"):
        model.partial_fit(X, y, sample_weight=np.arange(1, 151)).loss_bound(comparator=W, X=X, y=y)


@pytest.mark.parametrize("changed", [{"loss": 100 * (1 - np.eye(2))}, {"update": "perceptron"}, {"update__eta": 5.0}], ids=str)
def test_rounds_of_different_parts_have_no_bound(changed):
    """Whether the parts that are set have learned or not; the same parts set anew, and another average, change nothing."""
    X = np.random.default_rng(0).standard_normal((50, 3))
    y = (X[:, 0] > 0).astype(int)
    model = PredtronBinaryClassifier(update=LossAugmented(eta=1e-3), loss=1 - np.eye(2), fit_intercept=False, cv=0)
    model.partial_fit(X, y, classes=[0, 1]).set_params(update=LossAugmented(eta=1e-3), average=False).partial_fit(X, y)
    bound = copy.deepcopy(model).loss_bound(0.1, 3.0)
    assert bound > 0
    other = copy.deepcopy(model).set_params(**changed)
    for _ in range(2):
        for ask in (lambda: other.loss_bound(0.1, 3.0), lambda: theorem_of(other)):
            with pytest.raises(ValueError, match="rounds of different losses, representations or updates"):
                ask()
        other.partial_fit(X, y)
    assert model.loss_bound(0.1, 3.0) == bound
    assert other.fit(X, y).loss_bound(0.1, 1e-3) > 0


@pytest.mark.parametrize("scale", [1e-50, 1e50])
@pytest.mark.parametrize("norm", ["l2", "l1", "group", "trace"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_units_of_the_rows_change_no_bound(scale, norm, dtype):
    """With many features "l1" has a large q, and the powers of rows of any unit over- and underflow; those of float32, too."""
    scale = scale if dtype == np.float64 else np.sqrt(scale)
    rng = np.random.default_rng(0)
    X, U = rng.standard_normal((40, 100)), 0.1 * rng.standard_normal((3, 100))
    y, bounds = X[:, :3].argmax(axis=1), []
    for s in (1.0, scale):
        rows = (s * X).astype(dtype)
        model = PredtronClassifier(update="perceptron", representation="onehot", norm=norm, fit_intercept=False)
        model.partial_fit(rows, y, classes=range(3))
        bounds.append(model.loss_bound(comparator=U / s, X=rows, y=y))
        assert radius(model, rows) == pytest.approx(s * radius(model, X), rel=1e-6)
        assert model.loss_bound(comparator=U / s, X=sparse.csr_matrix(rows), y=y) == pytest.approx(bounds[-1], rel=1e-12)
    assert bounds[1] == pytest.approx(bounds[0], rel=1e-5)


@pytest.mark.parametrize("changed", [{"norm": "group"}, {"fit_intercept": True}, {"intercept_scaling": 2.0}], ids=str)
def test_a_measure_that_changed_has_no_bound(changed):
    """A bound is by the norm that learned; the one that is set would measure given weights and rows."""
    X, scores, W = noisy(0)
    y = scores.argmax(axis=1)
    model = PredtronClassifier(update="perceptron", norm="l1", fit_intercept=False, intercept_scaling=1.0)
    model.partial_fit(X, y, classes=range(3)).set_params(**changed)
    name = next(iter(changed))
    for ask in (
        lambda: model.loss_bound(comparator=W, X=X, y=y),
        lambda: model.loss_bound(0.1, 3.0),
        lambda: theorem_of(model),
        lambda: radius(model, X),
    ):
        with pytest.raises(ValueError, match=f"{name} cannot change from"):
            ask()


def test_a_radius_is_that_of_rows_that_fit():
    model = PredtronBinaryClassifier(fit_intercept=False).fit([[1.0, 2.0], [-1.0, 0.0]], [0, 1])
    with pytest.raises(ValueError, match="X has 3 features, but"):
        radius(model, np.ones((2, 3)))


@pytest.mark.parametrize(
    ("comparator", "message"),
    [
        (((0.2, 0.2),), "comparator is a tuple of length 1"),
        (([0.2, 0.2], [0.0], [0.0]), "comparator is a tuple of length 3"),
        ({}, "comparator={} does not hold numbers"),
        ("abc", "comparator='abc' does not hold numbers"),
        ([1e200, -1e200], "overflow"),
    ],
)
def test_comparators_that_are_no_weights(comparator, message):
    X, y = np.array([[1e120, 0.0], [0.0, 1.0]]), [0, 1]
    model = PredtronBinaryClassifier(update="perceptron", fit_intercept=False, cv=0).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.loss_bound(comparator=comparator, X=X, y=y)


def test_the_updates_that_a_message_advises_have_a_bound():
    X, y, qid = make_queries()
    for update in ("perceptron", LossAugmented(eta="theory"), LossAugmented(eta=0.1), LossDriven()):
        ranker = PredtronRanker(update=update).partial_fit(X, y, qid=qid)
        with pytest.raises(ValueError, match="accepted are Slam with a number for eta and MaxPair"):
            ranker.loss_bound(comparator=np.ones(5), X=X, y=y, qid=qid)
    for update in (Slam(eta=2e-4), MaxPair()):
        ranker = PredtronRanker(update=update).partial_fit(X, y, qid=qid)
        assert ranker.loss_bound(comparator=np.ones(5), X=X, y=y, qid=qid) > 0
    X, y = make_labels()
    labels = PredtronLabelRanker(update="perceptron", fit_intercept=False).partial_fit(X, y)
    with pytest.raises(ValueError, match="accepted are Slam with a number for eta, MMP and MaxPair"):
        labels.loss_bound(comparator=np.zeros((5, 4)), X=X, y=y)


def test_another_function_is_another_loss():
    """Also where both are lambdas; the same one, saved and loaded or written again, is no other."""
    X = np.random.default_rng(0).standard_normal((60, 4))
    Y = (X[:, :3] > 0).astype(int)
    one, same, other = (
        CountLoss(function, c_L=1 / 3, C_L=1.0)
        for function in (lambda a, b, c, d: (b + c) / 3, lambda a, b, c, d: (b + c) / 3, lambda a, b, c, d: float(b + c > 0))
    )
    model = PredtronMultilabelClassifier(loss=one, update="perceptron", fit_intercept=False).partial_fit(X, Y)
    assert model.loss_bound(0.1, 3.0) == model.set_params(loss=same).partial_fit(X, Y).loss_bound(0.1, 3.0)
    with pytest.raises(ValueError, match="rounds of different losses"):
        model.set_params(loss=other).partial_fit(X, Y).loss_bound(0.1, 3.0)
