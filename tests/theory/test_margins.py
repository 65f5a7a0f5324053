"""Margins of given weights by their definition, and the largest margins by other solvers."""

import itertools

import numpy as np
import pytest
import reference.ranking as plain
from cases import one_learner, random_costs, representations
from euclidean import (
    Predtron,
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from scipy.optimize import linprog, minimize
from sklearn.base import clone
from worlds import POSITIONS

import sklearn_predtron
from sklearn_predtron.losses import PrecisionAtK
from sklearn_predtron.norms import L2, Group, PNorm, Trace
from sklearn_predtron.theory import largest_margin, margin
from tests.theory.test_theorems import orthogonal

FAMILIES = {
    "binary": (PredtronBinaryClassifier(), 2),
    "multiclass": (PredtronClassifier(representation="simplex"), 3),
    "costs": (PredtronClassifier(loss=random_costs(4)), 4),
    "thermometer": (PredtronOrdinalClassifier(representation="thermometer"), 4),
    "shared": (PredtronOrdinalClassifier(representation="shared"), 4),
    "labels": (PredtronMultilabelClassifier(loss="error_set_size"), None),
    "label ranking": (PredtronLabelRanker(), None),
    "pairs of labels": (PredtronLabelRanker(update="mmp"), None),
    "queries": (PredtronRanker(representation="linear"), None),
    "pairs": (PredtronRanker(update="max_pair"), None),
}
NORMS = [L2(), PNorm(), PNorm(q=5.0), Group(q=3.0), Trace(), Trace(q=3.0)]


def family(which, s=None):
    """An estimator with an intercept of length s, and separable data of its family: X, y and the queries."""
    model, k = FAMILIES[which]
    rng = np.random.default_rng(3)
    queries, feature = isinstance(model, sklearn_predtron.PredtronRanker), {}
    if not queries:
        feature = {"fit_intercept": False} if s is None and which != "shared" else {"intercept_scaling": s or 1.0}
    model = clone(model).set_params(**feature)
    X = rng.standard_normal((60, 5))
    if queries:
        qid = np.repeat(np.arange(10), 6)[rng.permutation(60)]
        t = X @ rng.standard_normal(5)
        return model, X, np.digitize(t, [-1.0, 1.0]), {"qid": qid}
    if k is None:
        t = X @ rng.standard_normal((5, 3))
        kept = np.argsort(-np.abs(t).min(axis=1))[:25]
        return model, X[kept], (t[kept] > 0).astype(int), {}
    if isinstance(model, sklearn_predtron.PredtronOrdinalClassifier):
        t = X @ rng.standard_normal(5)
        edges = [-1.0, 0.0, 1.0]
        kept = np.argsort(-np.abs(np.subtract.outer(t, edges)).min(axis=1))[:25]
        return model, np.column_stack([X[kept], np.ones(25)]), np.digitize(t[kept], edges), {}
    t = X @ rng.standard_normal((5, k))
    top = np.sort(t)
    kept = np.argsort(-(top[:, -1] - top[:, -2]))[:25]
    return model, X[kept], t[kept].argmax(axis=1), {}


@pytest.mark.parametrize("s", [None, 0.5])
@pytest.mark.parametrize("which", FAMILIES)
def test_margin_is_that_of_the_estimator(which, s):
    """The weights that an estimator has, handed to the function: under every norm, with the intercept's entry."""
    for norm in NORMS:
        model, X, y, given = family(which, s)
        model.set_params(norm=norm, random_state=0).fit(X, y, **given)
        coef, b = model.coef_, np.atleast_1d(model.intercept_)
        of_weights = margin(model, X, y, coef, b if b.any() else None, **given)
        assert of_weights == pytest.approx(model.margin(X, y, **given), rel=1e-9)
        assert margin(clone(model), X, y, 3 * coef, 3 * b if b.any() else None, **given) == pytest.approx(of_weights)


# ----------------------------------------------------------------------------------------------------------- largest margins


def hull(vectors, norm):
    """The distance from 0 of the convex hull of the vectors, in the dual norm: another problem, and other solvers."""
    V = np.array(vectors)
    n, p = V.shape
    scale = np.abs(V).max()
    V = V / scale
    if norm == "l2":
        start = np.full(n, 1 / n)
        found = minimize(
            lambda a: (V.T @ a) @ (V.T @ a),
            start,
            jac=lambda a: 2 * V @ (V.T @ a),
            method="SLSQP",
            bounds=[(0, 1)] * n,
            constraints={"type": "eq", "fun": lambda a: a.sum() - 1, "jac": lambda a: np.ones(n)},
            options={"ftol": 1e-15, "maxiter": 2000},
        )
        return scale * np.sqrt(found.fun)
    if norm == "l1":  # the largest entry of V^T a
        cost, rows = np.append(np.zeros(n), 1.0), [np.column_stack([sign * V.T, -np.ones(p)]) for sign in (1, -1)]
        one = np.append(np.ones(n), 0.0)
    else:  # the sum of their sizes
        cost = np.append(np.zeros(n), np.ones(p))
        rows = [np.column_stack([sign * V.T, -np.eye(p)]) for sign in (1, -1)]
        one = np.append(np.ones(n), np.zeros(p))
    A = np.vstack(rows)
    return scale * linprog(cost, A_ub=A, b_ub=np.zeros(len(A)), A_eq=one[None], b_eq=[1.0], bounds=(0, None)).fun


def leads_of_classes(code, costs, X, y):
    """(rep(sigma_y) - rep(sigma)) x^T, one by one."""
    return [
        np.outer(code[c] - code[k], x).ravel() for x, c in zip(X, y, strict=True) for k in range(len(code)) if costs[c, k] > 0
    ]


@pytest.mark.parametrize("norm", ["l2", "l1", "max"])
@pytest.mark.parametrize("k", [2, 3])
def test_largest_margin_of_classes_is_the_distance_of_a_hull(k, norm):
    rng = np.random.default_rng(k)
    W = rng.standard_normal((k, 4))
    X = rng.standard_normal((12, 4))
    y = (X @ W.T).argmax(axis=1)
    y = np.unique(y, return_inverse=True)[1]
    for representation in representations(k, shared=False):
        model = PredtronClassifier(representation=representation, loss=1 - np.eye(k), fit_intercept=False)
        expected = hull(leads_of_classes(representation.code(k), 1 - np.eye(k), X, y), norm)
        if expected > 1e-3:
            found = largest_margin(model, X, y, norm=norm)
            assert found.margin == pytest.approx(expected, rel=1e-5)
        else:
            with pytest.raises(ValueError, match="not separable"):
                largest_margin(model, X, y, norm=norm)


@pytest.mark.parametrize("norm", ["l2", "l1", "max"])
def test_largest_margin_of_sets_and_lists(norm):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8, 6))
    t = X @ rng.standard_normal((6, 3))
    y = (t > 0).astype(int)
    sets = np.array(list(itertools.product([0, 1], repeat=3)))
    code = (2 * sets - 1) / np.sqrt(3)
    numbers = [int("".join(map(str, row)), 2) for row in y]
    expected = hull(leads_of_classes(code, 1 - np.eye(8), X, numbers), norm)
    found = largest_margin(PredtronMultilabelClassifier(fit_intercept=False), X, y, norm=norm)
    assert found.margin == pytest.approx(expected, rel=1e-5)

    r = np.argsort(np.argsort(t, axis=1), axis=1)
    pairs = [
        np.outer(np.eye(3)[i] - np.eye(3)[j], x).ravel()
        for x, row in zip(X, r, strict=True)
        for i in range(3)
        for j in range(3)
        if row[i] > row[j]
    ]
    for update, factor in (("mmp", 1.0), ("adaptive", -np.diff(plain.unit(POSITIONS["linear"][1], 3)).max())):
        model = PredtronLabelRanker(update=update, representation="linear", fit_intercept=False)
        assert largest_margin(model, X, r, norm=norm).margin == pytest.approx(factor * hull(pairs, norm), rel=1e-5)

    qid, relevance = np.repeat([5, 3], 4), np.array([0, 1, 1, 2, 0, 0, 3, 0])
    X = X + 2 * np.outer(relevance, np.ones(6))
    pairs = [X[i] - X[j] for i in range(8) for j in range(8) if qid[i] == qid[j] and relevance[i] > relevance[j]]
    order = rng.permutation(8)
    model = PredtronRanker(update="slam")
    found = largest_margin(model, X[order], relevance[order], norm=norm, qid=qid[order])
    assert found.margin == pytest.approx(hull(pairs, norm), rel=1e-5)


@pytest.mark.parametrize("s", [None, 0.7])
@pytest.mark.parametrize("which", FAMILIES)
def test_largest_margin_is_attained_and_no_learner_has_a_larger_one(which, s):
    model, X, y, given = family(which, s)
    found = largest_margin(model, X, y, **given)
    assert found.margin > 0
    assert margin(model, X, y, found.coef, found.intercept, **given) == pytest.approx(found.margin, rel=1e-6)
    learned = one_learner(clone(model)).set_params(max_iter=300, average=False, random_state=0).fit(X, y, **given)
    assert 0.02 * found.margin < learned.margin(X, y, **given) <= found.margin * (1 + 1e-9)
    for norm in ("l1", "max"):
        other = largest_margin(model, X, y, norm=norm, **given)
        weights = np.append(other.coef.ravel(), other.intercept / (s or 1.0))
        assert np.linalg.norm(weights, 1 if norm == "l1" else np.inf) == pytest.approx(1, rel=1e-9)
        of_length_1 = margin(model, X, y, other.coef, other.intercept, **given)
        assert of_length_1 * np.linalg.norm(weights) == pytest.approx(other.margin, rel=1e-6)


def checked(model, X, y, norm="l2", **given):
    """The largest margin, once its weights have been found to have it and its multipliers to leave no room for more."""
    found = largest_margin(model, X, y, norm=norm, **given)
    unit = {"l2": 2, "l1": 1, "max": np.inf}[norm]
    scaling = 1.0 if model.get_params().get("intercept_scaling") in (None, "auto") else model.intercept_scaling
    w = np.append(found.coef.ravel(), found.intercept / scaling)
    assert np.linalg.norm(w, unit) == pytest.approx(1, rel=1e-12)
    own = margin(model, X, y, found.coef, found.intercept if found.intercept.any() else None, **given) * np.linalg.norm(w)
    assert own == pytest.approx(found.margin, rel=1e-6)
    assert (found.multipliers > 0).all()
    assert found.multipliers[found.loses].sum() == pytest.approx(1, rel=1e-12)
    dual = {"l2": 2, "l1": np.inf, "max": 1}[norm]
    assert np.linalg.norm(found.multipliers @ found.vectors, dual) == pytest.approx(found.bound, rel=1e-6)
    assert 0 < found.margin <= found.bound <= found.margin * (1 + 1e-6)
    return found


def rows_of(kind, rng, n, p):
    """Rows as they come, of very different length, nearly parallel, and several times at several lengths."""
    X = rng.standard_normal((n, p))
    if kind == "parallel":
        return rng.standard_normal(p) * rng.choice([-1, 1], (n, 1)) + 1e-6 * X
    if kind == "repeated":
        X = X[rng.integers(0, n // 2, n)]
    return X if kind == "plain" else X * 10 ** rng.uniform(-8, 8, (n, 1))


@pytest.mark.parametrize("norm", ["l2", "l1", "max"])
@pytest.mark.parametrize("kind", ["plain", "lengths", "parallel", "repeated"])
def test_largest_margins_are_proven(kind, norm):
    """Of separable rows of any lengths, the bound is reached by the weights' own margin."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, W = rows_of(kind, rng, 9, 3), rng.standard_normal((3, 3))
        W[:, 1] = -W[:, 0]  # one of two labels is on
        t = X @ W
        y, rank, sets = t.argmax(axis=1), np.digitize(t[:, 0] / np.linalg.norm(X, axis=1), [-0.7, 0.7]), (t > 0).astype(int)
        apart = {"fit_intercept": False}
        checked(PredtronBinaryClassifier(**apart), X, sets[:, 0], norm, classes=[0, 1])
        checked(PredtronClassifier(representation="onehot", **apart), X, y, norm, classes=[0, 1, 2])
        for loss in ("hamming", "error_set_size"):
            checked(PredtronMultilabelClassifier(loss=loss, **apart), X, sets, norm)
        checked(PredtronLabelRanker(update="mmp", **apart), X, np.argsort(np.argsort(t, axis=1), axis=1), norm)
        if kind == "plain":
            checked(
                PredtronOrdinalClassifier(intercept_scaling=1.0),
                X / np.linalg.norm(X, axis=1)[:, None],
                rank,
                norm,
                classes=range(3),
            )


@pytest.mark.parametrize("norm", ["l2", "l1", "max"])
def test_short_rows_beside_long_ones(norm):
    """The margin is that of the short row: 2e-8 along its own direction."""
    model = PredtronBinaryClassifier(fit_intercept=False)
    for short in (1e-8, 1e-150):
        found = checked(model, [[1.0, 0.0], [0.0, short]], [0, 1], norm)
        assert found.margin == pytest.approx(2 * short / (1 + short if norm == "l1" else 1), rel=1e-9)


@pytest.mark.parametrize("norm", ["l2", "l1", "max"])
def test_predictions_free_of_loss_are_never_ahead(norm):
    """Sets that miss one of two labels cost nothing by error_set_size; a solver that leaves them ahead has a negative margin."""
    model = PredtronMultilabelClassifier(loss="error_set_size", fit_intercept=False)
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X = 30 * rng.standard_normal((20, 3)) * 10 ** rng.uniform(-1, 1, (20, 1))
        y = (X @ rng.standard_normal((3, 3)) > 0).astype(int)
        found = checked(model, X, y, norm)
        sets = np.array(list(itertools.product([0, 1], repeat=3)))
        score = X @ found.coef.T @ (2 * sets - 1).T / np.sqrt(3)
        own = score[np.arange(20), y @ [4, 2, 1]][:, None]
        costs = (y @ (1 - sets).T) * ((1 - y) @ sets.T)
        assert (own - score).min() >= 0
        assert (own - score)[costs > 0].min() == pytest.approx(found.margin, rel=1e-6)


def test_margins_that_double_precision_does_not_tell():
    """Rows that differ in their twelfth digit are refused, with what is known; in the seventeenth they are not separable."""
    model = PredtronBinaryClassifier(fit_intercept=False)
    x, across = np.array([1.0, np.pi, -np.sqrt(2)]), np.array([np.e, 1.0, 0.3])
    for norm in ("l2", "l1", "max"):
        with pytest.raises(
            ValueError, match=r"the largest margin lies between [0-9.e-]* and [0-9.]*e-1[0-9], and this gap is more"
        ):
            largest_margin(model, [x, x + 1e-12 * across], [1, 0], norm=norm)
        with pytest.raises(ValueError, match=r"not separable.  A convex combination .* has the length"):
            largest_margin(model, [x, 3e7 * x], [1, 0], norm=norm)
    with pytest.raises(ValueError, match="not separable, since two predictions always tie"):
        largest_margin(model, [x, 0 * x], [1, 0])


def test_classes_that_y_lacks():
    """Predictions of them can be wrong; a fitted estimator knows its own."""
    X, y = [[1.0, 0.0], [0.0, 1.0]], ["a", "c"]
    model = PredtronClassifier(representation="onehot", fit_intercept=False)
    alone, among = checked(model, X, y), checked(model, X, y, classes=["a", "b", "c"])
    assert alone.coef.shape == (2, 2) and among.coef.shape == (3, 2)
    assert among.margin < alone.margin
    fitted = clone(model).partial_fit(X, y, classes=["a", "b", "c"])
    assert largest_margin(fitted, X, y).margin == among.margin
    assert margin(fitted, X, y, among.coef) == margin(model, X, y, among.coef, classes=["a", "b", "c"])
    assert not hasattr(model, "classes_")
    for ask in (largest_margin, lambda *of, **given: margin(*of, np.ones((3, 2)), **given)):
        with pytest.raises(ValueError, match=r"classes=.* is not the same as on the first call"):
            ask(fitted, X, y, classes=["a", "b"])
        with pytest.raises(ValueError, match=r"classes=\[0, 1\] is for classifiers; PredtronRanker takes None"):
            ask(PredtronRanker(), X, [0, 1], classes=[0, 1])


def test_largest_margin_of_two_rows():
    """2 |x| of a row and its opposite; of any two the distance of a segment from 0; d orthogonal rows have 2 / sqrt(d)."""
    model = PredtronBinaryClassifier(fit_intercept=False)
    x = np.array([3.0, -4.0, 12.0])
    found = largest_margin(model, [x, -x], [1, 0])
    assert found.margin == pytest.approx(26, rel=1e-9)
    np.testing.assert_allclose(found.coef[0], x / 13, rtol=1e-9)
    a, b = np.array([1.0, 2.0]), np.array([1.0, -0.5])
    along = np.clip(a @ (a - b) / ((a - b) @ (a - b)), 0, 1)
    assert largest_margin(model, [a, -b], [1, 0]).margin == pytest.approx(2 * np.linalg.norm(a + along * (b - a)), rel=1e-9)
    X, y, gamma, _ = orthogonal(25, 3.0)
    assert largest_margin(model, np.vstack([X, -X]), np.append(y, 1 - y)).margin == pytest.approx(gamma, rel=1e-9)


def test_largest_margin_of_d_0():
    """Milidiú and Rocha's (2019) example: thermometers separate it, ordered thresholds on one direction do not."""
    X, y = np.array([[0, 0, -1], [0, 1, -1], [1, 1, -1], [1, 0, -1.0]]), [0, 1, 1, 2]
    assert largest_margin(PredtronOrdinalClassifier(fit_intercept=False), X, y).margin > 0.2
    with pytest.raises(ValueError, match="not separable"):
        largest_margin(PredtronOrdinalClassifier(representation="shared", intercept_scaling=1.0), X[:, :2], y)


def test_thresholds_of_the_largest_margin_are_in_order():
    """Half the least gap between neighbouring ranks, on a line, with a long intercept's feature."""
    X, y = np.array([[0.0], [1.0], [3.0], [4.0], [8.0]]), [0, 0, 1, 1, 2]
    found = largest_margin(PredtronOrdinalClassifier(representation="shared", intercept_scaling=1e3), X, y)
    b = -found.intercept / found.coef[0, 0]
    assert found.margin == pytest.approx(2 / np.sqrt(2), rel=1e-4)
    assert 2 - 1e-3 < b[0] < 2 + 1e-3 and 5 - 1e-3 < b[1] < 7 + 1e-3


FREE = np.array([[0, 0, 1.0], [1, 0, 1], [1, 1, 0]])


def test_predictions_without_loss_must_not_lead():
    """Rows of class 0 may be taken for class 1, but class 1 must not be ahead: with it 0 is the maximiser."""
    X, y = np.array([[2.0, 1.0], [1.0, 2.0], [-1.0, -1.0]]), [0, 1, 2]
    model = PredtronClassifier(loss=FREE, representation="onehot", fit_intercept=False)
    found = largest_margin(model, X, y)
    assert found.margin >= largest_margin(model.set_params(loss="zero_one"), X, y).margin
    score = X @ found.coef.T
    assert score[0, 0] >= score[0, 1] - 1e-9


@pytest.mark.parametrize(
    ("model", "y", "given", "message"),
    [
        (PredtronClassifier(fit_intercept=False), [0, 1, 0], {"norm": "l3"}, "norm='l3' is not known; accepted are 'l2', 'l1'"),
        (PredtronClassifier(), [0, 1, 0], {}, "intercept_scaling='auto' moves"),
        (PredtronClassifier(fit_intercept=False), [0, 1, 0], {"qid": [1, 1, 1]}, "qid is for PredtronRanker"),
        (PredtronClassifier(fit_intercept=False), [0, 1], {}, "X has 3 rows and y has 2"),
        (PredtronRanker(update="max_pair"), [1, 1, 1], {}, "No prediction of y is wrong"),
        (PredtronRanker(loss="kendall_tau"), [1, 0, 1], {}, "No loss bound is proven for the pairwise form"),
        (PredtronMultilabelClassifier(fit_intercept=False), np.eye(3, 13), {}, "y has 13 labels, and all sets are listed of at"),
        (
            PredtronMultilabelClassifier(loss=PrecisionAtK(), fit_intercept=False),
            np.eye(3, dtype=int),
            {},
            "No loss bound is proven for losses at k",
        ),
        (Predtron(None), [0, 1, 0], {}, "problem"),
        (L2(), [0, 1, 0], {}, r"estimator=L2\(\) must be an estimator of sklearn_predtron"),
    ],
    ids=str,
)
def test_largest_margins_that_there_are_not(model, y, given, message):
    with pytest.raises(ValueError, match=message):
        largest_margin(model, [[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], y, **given)


def test_data_that_are_not_separable():
    X, y = [[1.0, 0], [0, 1], [-1, 0], [0, -1]], [1, 0, 1, 0]
    for norm in ("l2", "l1", "max"):
        with pytest.raises(ValueError, match="not separable"):
            largest_margin(PredtronBinaryClassifier(fit_intercept=False), X, y, norm=norm)
    with pytest.raises(ValueError, match=r"hold .* numbers, and at most 2e"):
        largest_margin(PredtronClassifier(fit_intercept=False), np.zeros((3000, 500)), np.arange(3000) % 5)


@pytest.mark.parametrize(
    ("coef", "intercept", "message"),
    [
        (np.zeros((1, 2)), None, "coef is zero"),
        (np.ones((2, 2)), None, r"coef has shape \(2, 2\); it must have \(1, 2\)"),
        (np.ones(2), [1.0], "intercept=.* must be None or zeros"),
        (np.array([1.0, np.nan]), None, "coef contains NaN"),
    ],
)
def test_weights_that_have_no_margin(coef, intercept, message):
    with pytest.raises(ValueError, match=message):
        margin(PredtronBinaryClassifier(fit_intercept=False), np.eye(2), [0, 1], coef, intercept)
    with pytest.raises(ValueError, match="norm='scaled' has no length of given weights"):
        margin(PredtronBinaryClassifier(fit_intercept=False, norm="scaled"), np.eye(2), [0, 1], np.ones(2))
