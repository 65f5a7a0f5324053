"""Which theorem covers what, and that learners stay within its bound."""

from functools import partial

import numpy as np
import pytest
from cases import name, updates
from euclidean import PredtronBinaryClassifier, PredtronClassifier, PredtronLabelRanker, PredtronOrdinalClassifier, PredtronRanker
from scipy import sparse

import sklearn_predtron
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.losses import NDCG
from sklearn_predtron.norms import Group, PNorm
from sklearn_predtron.theory import largest_margin, loss_constants, margin, radius, theorem_of
from sklearn_predtron.updates import (
    MMP,
    Adaptive,
    ListNet,
    LossAugmented,
    LossDriven,
    MaxPair,
    PassiveAggressive,
    PerceptronUpdate,
    Slam,
    Subgradient,
    Update,
)
from tests.theory.test_margins import FAMILIES, NORMS, family
from tests.theory.test_theorems import PROVEN, UNPROVEN, orthogonal


@pytest.mark.parametrize("update", PROVEN, ids=name)
def test_bounds_by_the_largest_margin_are_not_vacuous(update):
    """Orthogonal rows are mistakes all; the bound is at most 1 / kappa, or the share of C in the step, times what is suffered."""
    X, y, _, R = orthogonal(25)
    model = PredtronBinaryClassifier(update=update, fit_intercept=False)
    gamma = largest_margin(model, np.vstack([X, -X]), np.append(y, 1 - y)).margin
    for x in X:
        model.partial_fit([x], [1], classes=[0, 1])
    parameters = update.get_params()
    factor = 1 / min(1, parameters.get("kappa") or 1)
    if isinstance(update, PassiveAggressive):
        factor = max(1, 0.25 * parameters["delta"] / parameters["C"]) + (0.5 / parameters["C"]) / 4
    bound = model.loss_bound(gamma, R)
    assert 25 == model.cumulative_loss_ <= bound * (1 + 1e-9)
    assert bound <= factor * 25 * (1 + 1e-9)


@pytest.mark.parametrize("which", FAMILIES)
def test_learners_stay_within_the_bound_of_the_largest_margin(which):
    _, X, y, given = family(which)
    ranking = isinstance(FAMILIES[which][0], (sklearn_predtron.PredtronRanker, sklearn_predtron.PredtronLabelRanker))
    proven = [Adaptive(), LossAugmented(eta="theory"), LossDriven(), PerceptronUpdate(), PassiveAggressive()]
    proven += [MaxPair(), Slam()] if ranking else []
    proven += [MMP()] if isinstance(FAMILIES[which][0], sklearn_predtron.PredtronLabelRanker) else []
    for update in proven:
        model = family(which)[0].set_params(update=update, average=False)
        gamma = largest_margin(model, X, y, **given).margin
        c_L = loss_constants("ndcg", y=y, **given)[0] if ranking and not update.pairwise else None
        classes = {} if ranking or np.ndim(y) == 2 else {"classes": np.unique(y)}
        model.partial_fit(X, y, **given, **classes)
        R = np.sqrt((X**2).sum(axis=1).max() + (which == "shared"))
        if given and not update.pairwise:
            R = max(np.linalg.norm(X[given["qid"] == q], 2) for q in range(10))
        assert 0 < model.cumulative_loss_ <= model.loss_bound(gamma, R, c_L) * (1 + 1e-9)
        assert theorem_of(model)


@pytest.mark.parametrize("which", ["label ranking", "queries"])
@pytest.mark.parametrize("norm", NORMS, ids=name)
def test_bounds_of_rankings_under_every_norm(norm, which):
    """By the margin of weights that have the largest one under the 1-norm; R in the dual norm of each."""
    _, X, y, given = family(which)
    c_L, _ = loss_constants("ndcg", y=y, **given)
    for update in (Adaptive(), LossAugmented(eta="theory"), LossDriven(), MaxPair(), Slam(), *([] if given else [MMP()])):
        model = family(which)[0].set_params(update=update, norm=norm, average=False)
        gamma = margin(model, X, y, largest_margin(model, X, y, norm="l1", **given).coef, **given)
        model.partial_fit(X, y, **given)
        q = getattr(model._model.learner.weights, "q", 2.0) if isinstance(norm, (PNorm, Group)) else 2.0
        R = np.linalg.norm(X, q, axis=1).max()
        if given and not update.pairwise:  # no less than the dual norm of X^T g for any g of length 1
            lists = [X[given["qid"] == i] for i in range(10)]
            R = max(np.linalg.norm(np.linalg.norm(x, axis=0), q) for x in lists)
        bound = model.loss_bound(gamma, R, None if update.pairwise else c_L)
        assert 0 < model.cumulative_loss_ <= bound
        if norm.alias != "l2":
            assert theorem_of(model).endswith(", Theorem 15 for its norm")


@pytest.mark.parametrize("update", [LossAugmented(eta="theory"), LossDriven(eta="theory")], ids=name)
@pytest.mark.parametrize("norm", NORMS, ids=name)
def test_theory_steps_have_the_radius_of_their_norm(norm, update):
    """The first step, from 0: |W|_r = |Theta|_q = eta |g x^T|_q, eta = c_L / (2 (q - 1) |x|^2) or L / (2 C_L (q - 1) |x|^2)."""
    x, cost = np.array([[3.0, -1.0, 0.5, 2.0]]), np.array([[0, 2.0, 8.0], [0.5, 0, 4.0], [1, 1, 0]])
    parts = {
        "norm": norm,
        "loss": cost,
        "decision": "learned",
        "representation": "onehot",
        "fit_intercept": False,
        "average": False,
    }
    model = PredtronClassifier(update=update, **parts).partial_fit(x, [0], classes=[0, 1, 2])
    q = getattr(model._model.learner.weights, "q", 2.0)
    size = np.linalg.norm(x, q if isinstance(norm, (PNorm, Group)) else 2, axis=1)[0]
    g = 2 ** (1 / q if isinstance(norm, PNorm) else 1 / 2)
    R2 = (q - 1) * size**2
    eta = 0.5 / (2 * R2) if isinstance(update, LossAugmented) else 8 / (2 * 8 * R2)
    assert model._model.learner.weights.length() == pytest.approx(eta * g * size, rel=1e-9)
    assert model.loss_bound(1.0) == pytest.approx(2 * R2 * (64 / 0.5 if isinstance(update, LossAugmented) else 8), rel=1e-12)


@pytest.mark.parametrize("intercept", [None, 0.7, 5.0])
@pytest.mark.parametrize("representation", ["onehot", "thermometer", "shared"])
@pytest.mark.parametrize("norm", NORMS, ids=name)
def test_radius_is_that_of_the_theory_steps(norm, representation, intercept):
    """What is passed to loss_bound is what radius=None has seen, for dense and for CSR rows."""
    if representation == "shared" and intercept is None:
        pytest.skip("thresholds are an intercept")
    X, y = np.random.default_rng(0).standard_normal((40, 6)), np.arange(40) % 3
    how = {"fit_intercept": False} if intercept is None else {"intercept_scaling": intercept}
    model = PredtronOrdinalClassifier(norm=norm, representation=representation, update=LossAugmented(eta="theory"), **how)
    model.partial_fit(X, y, classes=range(3))
    for rows in (X, sparse.csr_matrix(X)):
        assert model.loss_bound(0.1, radius(model, rows)) == pytest.approx(model.loss_bound(0.1), rel=1e-9)


@pytest.mark.parametrize("norm", NORMS, ids=name)
def test_radius_of_queries(norm):
    X, y, qid = np.random.default_rng(0).standard_normal((40, 6)), np.arange(40) % 3, np.repeat(np.arange(8), 5)
    documents = PredtronRanker(norm=norm, update="slam").partial_fit(X, y, qid=qid)
    assert documents.loss_bound(0.1, radius(documents, X, qid=qid)) == pytest.approx(documents.loss_bound(0.1), rel=1e-9)
    queries = PredtronRanker(norm=norm, update=LossAugmented(eta="theory")).partial_fit(X, y, qid=qid)
    shuffled = np.random.default_rng(1).permutation(40)
    assert radius(queries, X[shuffled], qid=qid[shuffled]) == pytest.approx(radius(queries, X, qid=qid), rel=1e-12)
    assert queries.loss_bound(0.1, radius(queries, X, qid=qid)) <= queries.loss_bound(0.1) * (1 + 1e-9)
    with pytest.raises(ValueError, match="moves with the inputs"):
        radius(PredtronClassifier().fit(X, y), X)
    with pytest.raises(ValueError, match="has no length of given weights or rows"):
        radius(PredtronClassifier(norm="scaled", fit_intercept=False).fit(X, y), X)


@pytest.mark.parametrize("norm", ["l1", "group", PNorm(6.0)], ids=name)
def test_thresholds_under_the_norms_with_a_link_are_within_their_bound(norm):
    """SharedThermometer thresholds of long features: the radius is that of the feature at a right angle to the row."""
    worst = 0.0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, u, s = rng.standard_normal((120, 3)), rng.standard_normal(3), 10 ** rng.uniform(-0.5, 1)
        thresholds = np.quantile(X @ u, [0.35, 0.65])
        X = X[np.abs((X @ u)[:, None] - thresholds).min(axis=1) > 0.1]
        y = np.digitize(X @ u, thresholds)
        model = PredtronOrdinalClassifier(
            representation="shared", norm=norm, update="perceptron", intercept_scaling=s, average=False, loss="zero_one"
        )
        for _ in range(3):
            model.partial_fit(X, y, classes=range(3))
        gamma = margin(model, X, y, u, -thresholds)
        worst = max(worst, model.cumulative_loss_ / model.loss_bound(gamma, radius(model, X)))
    assert 0 < worst <= 1


NAMED = {
    "adaptive": "the adaptive update's bound",
    "predtron": "Theorem 1 (Jain et al. 2015)",
    "loss_driven": "Theorem 14 (Jain et al. 2015, supplement)",
    "perceptron": "the perceptron's bound (Novikoff 1962)",
    "passive_aggressive": "the passive-aggressive bound (Crammer et al. 2006)",
    "prank": "PRank's bound (Crammer and Singer 2001)",
    "slam": "Corollary 7 (Chaudhuri and Tewari 2015)",
    "max_pair": "Theorem 10 (Chaudhuri and Tewari 2015)",
    "mmp": "the bound of MMP (Crammer and Singer 2003)",
}


KNOWN = [kind for kind in kinds(Update) if kind.alias in {*NAMED, "subgradient", "listnet"}]


@pytest.mark.parametrize("kind", KNOWN, ids=lambda kind: kind.__name__)
def test_theorem_of_every_update(kind):
    update = kind()
    if kind.alias == "prank":
        model = PredtronOrdinalClassifier(update=update, representation="shared", cv=0).fit([[1.0], [2.0]], [0, 1])
    elif kind.alias in ("slam", "max_pair", "mmp", "listnet"):
        model = PredtronLabelRanker(update=update, fit_intercept=False, cv=0).fit([[1.0]], [[1, 0]])
    else:
        model = PredtronClassifier(update=update, fit_intercept=False, cv=0).fit([[1.0], [2.0]], [0, 1])
    if kind.alias in NAMED:
        assert theorem_of(model) == NAMED[kind.alias]
        assert 0 < model.loss_bound(1.0, 1.5 if kind.alias == "prank" else 0.1) < np.inf
    else:
        for ask in (lambda: theorem_of(model), lambda: model.loss_bound(1.0, 1.0)):
            with pytest.raises(ValueError, match="No loss bound is proven for"):
                ask()


def test_theorem_names_norm_and_rankings():
    fit = {"X": [[1.0, 0], [0, 1], [1, 1]], "y": [1, 0, 2]}
    ranked = {**fit, "qid": "one"}
    ranker = PredtronRanker(norm="group", update="loss_driven", cv=0).fit(**ranked)
    expected = "Theorem 14 (Jain et al. 2015, supplement), with the margin of pairs, Theorem 15 for its norm"
    assert theorem_of(ranker) == expected
    assert (
        theorem_of(PredtronRanker(loss=NDCG(k=1), update="slam", cv=0).fit(**ranked)) == "Theorem 8 (Chaudhuri and Tewari 2015)"
    )
    parts = {"representation": "shared", "intercept_scaling": 1.0, "update": "perceptron"}
    assert theorem_of(PredtronOrdinalClassifier(**parts, cv=0).fit(**fit)) == "Corollary 3 (Milidiú and Rocha 2019)"
    assert theorem_of(PredtronOrdinalClassifier(loss="squared", decision="learned", **parts).fit(**fit)) == NAMED["perceptron"]


@pytest.mark.parametrize("update", [*updates(), *UNPROVEN], ids=name)
def test_theorem_and_bound_are_proven_together(update):
    """For the same parts; but for a step that is a number, which the radius may forbid."""
    for settings in ({}, {"fit_intercept": False}, {"norm": "scaled"}):
        model = PredtronClassifier(update=update, **settings).fit([[1.0], [2.0]], [0, 1])
        results = []
        for ask in (partial(theorem_of, model), partial(model.loss_bound, 1.0, 1e-3)):
            try:
                answer = ask()
                results.append(isinstance(answer, str) or 0 < answer < np.inf)
            except ValueError as error:
                results.append(str(error))
        assert results[0] == results[1]


@pytest.mark.parametrize("model", [PredtronClassifier(), ListNet(), Subgradient()], ids=name)
def test_theorem_of_what_has_none(model):
    with pytest.raises(ValueError, match=r"not fitted|must be an estimator"):
        theorem_of(model)
