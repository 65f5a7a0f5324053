"""norm=RKHS(...): the primal learner, the same learner on explicit features, budgets, layouts, errors."""

import copy
import pickle

import numpy as np
import pytest
from cases import AVERAGES, assert_close, layouts, make_data, name, one_learner, updates
from euclidean import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from kernel_cases import FAMILIES, X, families_from, scores_of
from reference.kernels import features
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_circles
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, chi2_kernel, pairwise_kernels, polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split

from sklearn_predtron.losses import Reject
from sklearn_predtron.norms import RKHS
from sklearn_predtron.norms._kernel_functions import Kernel
from sklearn_predtron.updates import LossAugmented

KERNELS = {"rbf": RKHS(gamma=0.3), "poly": RKHS(kernel="poly", gamma=0.5, degree=2, coef0=0.5)}


def assert_same_learner(model, primal, rows, features_of_rows):
    """The same rounds and scores; coefficients may be of rows or of features."""
    for attribute in ("t_", "n_mistakes_", "n_updates_"):
        assert getattr(model, attribute) == getattr(primal, attribute)
    np.testing.assert_allclose(model.cumulative_loss_, primal.cumulative_loss_, rtol=1e-9)
    assert_close(scores_of(model, rows), scores_of(primal, features_of_rows), 1e-8)


# ------------------------------------------------------------------------------------------------ equal to what is known


@families_from(1, 3)
def test_the_learner_of_explicit_features(number):
    """Epochs in random order; rows in any layout; kernels in turn."""
    estimator, y, more = FAMILIES[number]
    norm, average = [*KERNELS.values()][number // 3 % 2], AVERAGES[number // 6 % 4]
    Phi = features(Kernel(norm.kernel, norm.gamma, norm.degree, norm.coef0)(X, X))
    settings = {"average": average, "random_state": 0, "max_iter": 3}
    primal = one_learner(clone(estimator)).set_params(**settings).fit(Phi, y, **more)
    assert primal.n_updates_ > 2
    for rows in layouts(X).values():
        model = one_learner(clone(estimator)).set_params(norm=norm, **settings).fit(rows, y, **more)
        assert_same_learner(model, primal, rows, Phi)
        np.testing.assert_allclose(model.margin(rows, y, **more), primal.margin(Phi, y, **more), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kernel", sorted(PAIRWISE_KERNEL_FUNCTIONS))
def test_every_kernel_is_that_of_scikit_learn(kernel):
    rows = np.abs(X[:20])
    settings = {"gamma": 0.2, "degree": 2, "coef0": 0.5}
    expected = pairwise_kernels(rows, rows[:7], metric=kernel, filter_params=True, **settings)
    assert_close(Kernel(kernel, 0.2, 2, 0.5)(rows, rows[:7]), expected, 1e-12)
    if "chi2" not in kernel:
        assert_close(Kernel(kernel, 0.2, 2, 0.5)(sparse.csr_matrix(rows), sparse.csr_matrix(rows[:7])), expected, 1e-12)
    y = make_data(k=4)[1][:20]
    fitted = [
        PredtronClassifier(norm=norm, random_state=0).fit(rows, y)
        for norm in (
            RKHS(kernel=kernel, **settings),
            RKHS(kernel=lambda A, B: pairwise_kernels(A, B, metric=kernel, filter_params=True, **settings)),
        )
    ]
    assert_close(fitted[0].dual_coef_, fitted[1].dual_coef_)


@pytest.mark.parametrize("p", [1, 3, 8, 11])
@pytest.mark.parametrize("gamma", [1e-8, 0.3, 50.0])
def test_gaussian_kernel(p, gamma):
    """Of every width, of equal rows, and of rows so far apart that it underflows."""
    random = np.random.default_rng(p)
    A, B = random.standard_normal((6, p)), random.standard_normal((13, p)) * 5
    B[3] = A[2]
    values = Kernel("rbf", gamma, 3, 1)(A, B)
    np.testing.assert_allclose(
        values, np.exp(-gamma * ((A[:, None] - B) ** 2).sum(axis=2)), rtol=1e-10 * max(gamma, 1), atol=1e-300
    )
    assert values.max() <= 1
    A[0, 0], A[1, 0] = np.nan, np.inf
    assert not np.isfinite(Kernel("rbf", gamma, 3, 1)(A, A)).all(axis=1)[:2].any()


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_far_rows_are_near_themselves(layout):
    """Whatever their distance from themselves is rounded to."""
    X = np.random.default_rng(0).standard_normal((40, 7)) * 10.0 ** np.arange(40)[:, None]
    X = layout(X)
    np.testing.assert_array_equal(Kernel("rbf", 3.0, 3, 1)(X, X).diagonal(), 1)


# --------------------------------------------------------------------------------------------------------- the support


def test_support_and_coefficients():
    X, y = make_data(k=4)
    model = PredtronClassifier(norm=RKHS(gamma=0.3), random_state=0).fit(X, y)
    assert len(np.unique(model.support_)) == len(model.support_) <= len(X)
    assert model.dual_coef_.shape == (4, len(model.support_))
    scores = rbf_kernel(X, X[model.support_], gamma=0.3) @ model.dual_coef_.T + model.intercept_
    assert_close(model.decision_function(X), scores)
    last = clone(model).set_params(average=False).fit(X, y)
    assert_close(last.dual_coef_, model.last_dual_coef_)


def test_support_of_streams_counts_all_rows_given():
    X, y = make_data(k=4)
    model = PredtronClassifier(norm=RKHS(gamma=0.3))
    for begin in range(0, 90, 7):
        some = slice(begin, begin + 7)
        model.partial_fit(X[some], y[some], classes=np.arange(4), sample_weight=np.arange(begin, min(begin + 7, 90)) % 5 > 0)
    assert (model.support_ % 5 > 0).all() and model.support_.max() > 50
    scores = rbf_kernel(X, X[model.support_], gamma=0.3) @ model.dual_coef_.T + model.intercept_
    assert_close(model.decision_function(X), scores)


def test_support_of_queries_counts_rows_as_given():
    """Rows of a query need not be neighbours, and some have no weight."""
    random = np.random.default_rng(0)
    X, y, qid = random.standard_normal((40, 5)), random.integers(0, 4, 40), random.integers(0, 6, 40)
    weight = random.random(40) < 0.8
    for norm, rows in ((RKHS(gamma=0.2), X), (RKHS(kernel="precomputed"), rbf_kernel(X, gamma=0.2))):
        model = PredtronRanker(norm=norm, random_state=0).fit(rows, y, qid=qid, sample_weight=weight)
        assert weight[model.support_].all()
        assert_close(model.predict(rows), rbf_kernel(X, X[model.support_], gamma=0.2) @ model.dual_coef_)


def test_epochs_are_passes_in_the_order_of_their_permutations():
    """From the second epoch on scores follow the steps; a row of several epochs is kept once."""
    X, y = make_data(n=400, k=4)
    model = PredtronClassifier(norm=RKHS(gamma=0.3), shuffle=False, max_iter=4, cv=0).fit(X, y)
    Phi = features(rbf_kernel(X, gamma=0.3))
    assert_same_learner(model, PredtronClassifier(shuffle=False, max_iter=4, cv=0).fit(Phi, y), X, Phi)
    passes = PredtronClassifier(norm=RKHS(gamma=0.3), shuffle=False, max_iter=1, warm_start=True, cv=0)
    for _ in range(4):
        passes.fit(X, y)
    assert len(passes.support_) > len(X) > len(model.support_)
    assert_close(passes.decision_function(X), model.decision_function(X), 1e-8)


def test_a_penalty_rescales_scores_that_follow():
    """Pegasos clears the weights at first, and its scale falls by orders."""
    X, y = make_data(n=300, k=4)
    Phi = features(rbf_kernel(X, gamma=0.3))
    for update in (updates()[-1], updates()[-2]):
        settings = {"update": update, "random_state": 0, "max_iter": 3}
        assert update.alias == "subgradient"
        model = PredtronClassifier(norm=RKHS(gamma=0.3), **settings, cv=0).fit(X, y)
        assert_same_learner(model, PredtronClassifier(**settings, cv=0).fit(Phi, y), X, Phi)


def test_rejections_are_those_of_the_primal_learner():
    X, y = make_data(n=200, k=3)
    Phi = features(rbf_kernel(X, gamma=0.3))
    settings = {"reject": Reject(0.2, -1), "random_state": 0}
    model = PredtronClassifier(norm=RKHS(gamma=0.3), **settings, cv=0).fit(X, y)
    primal = PredtronClassifier(**settings, cv=0).fit(Phi, y)
    assert 0 < (primal.predict(Phi) == -1).mean() < 1
    np.testing.assert_array_equal(model.predict(X), primal.predict(Phi))


def test_the_threshold_of_one_score_in_a_stream_is_that_of_the_primal_learner():
    X, y = make_data(n=200, k=2)
    Phi = features(rbf_kernel(X, gamma=0.3))
    settings = {"decision": "f1", "average": "linear"}
    model, primal = PredtronBinaryClassifier(norm=RKHS(gamma=0.3), **settings), PredtronBinaryClassifier(**settings)
    for begin, end in ((0, 120), (120, 200)):  # the second call meets rows that were kept
        model.partial_fit(X[begin:end], y[begin:end], classes=[0, 1])
        primal.partial_fit(Phi[begin:end], y[begin:end], classes=[0, 1])
    assert primal.threshold_ != 0
    assert model.threshold_ == primal.threshold_


def test_pickles_and_copies_within_a_budget_go_on():
    X, y = make_data(n=120, k=4)
    for rows in (X, sparse.csr_matrix(X)):
        model = PredtronClassifier(norm=RKHS(gamma=0.3, budget=20)).partial_fit(rows[:60], y[:60], classes=np.arange(4))
        copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
        for other in (model, *copies):
            other.partial_fit(rows[60:], y[60:])
        for other in copies:
            np.testing.assert_array_equal(other.dual_coef_, model.dual_coef_)
            np.testing.assert_array_equal(other.support_, model.support_)
            assert other.budget_loss_ == model.budget_loss_


def test_precomputed_kernels():
    X, y = make_data(n=80, k=4)
    K = rbf_kernel(X, gamma=0.3)
    model = PredtronClassifier(norm=RKHS(gamma=0.3), random_state=0).fit(X, y)
    for gram in (K, K.astype(np.float32), sparse.csr_matrix(K)):
        other = PredtronClassifier(norm=RKHS(kernel="precomputed"), random_state=0).fit(gram, y)
        np.testing.assert_array_equal(other.support_, model.support_)
        assert_close(other.dual_coef_, model.dual_coef_, 1e-9 if gram.dtype == np.float64 else 1e-3)
        np.testing.assert_array_equal(other.predict(gram), model.predict(X))
    scores = [
        cross_val_score(PredtronClassifier(norm=norm, random_state=0), rows, y, cv=4)
        for norm, rows in ((RKHS(gamma=0.3), X), (RKHS(kernel="precomputed"), K))
    ]
    np.testing.assert_array_equal(*scores)
    with pytest.raises(ValueError, match=r"'precomputed'.*the model was trained before"):
        other.partial_fit(K, y)
    with pytest.raises(ValueError, match="margin needs the kernels"):
        other.margin(K, y)
    assert_close(other.decision_function(K), model.decision_function(X), 1e-3)
    with pytest.raises(ValueError, match="80 rows and 79 columns"):
        PredtronClassifier(norm=RKHS(kernel="precomputed")).fit(K[:, :79], y)


def test_search_over_kernels():
    X, y = make_circles(120, noise=0.1, factor=0.4, random_state=0)
    grid = {"norm__kernel": ["rbf", "linear"], "norm__gamma": [0.01, 1.0]}
    search = GridSearchCV(PredtronBinaryClassifier(norm=RKHS(), random_state=0), grid, cv=3).fit(X, y)
    assert search.best_params_ == {"norm__kernel": "rbf", "norm__gamma": 1.0}
    assert search.best_score_ > 0.95


def test_default_gamma():
    X, y = make_data(k=4)
    models = [PredtronClassifier(norm=norm, random_state=0).fit(X, y) for norm in ("rkhs", RKHS(gamma=1 / 6))]
    np.testing.assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)


# ------------------------------------------------------------------------------------------------------- what it is for


def ring_ranks(n=600, seed=0):
    """Four ranks by the distance from the origin, in two dimensions."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 4, n)
    angle, radius = random.uniform(0, 2 * np.pi, n), 1.0 + y + random.uniform(-0.3, 0.3, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


@pytest.mark.parametrize("estimator", [PredtronClassifier(), PredtronOrdinalClassifier()], ids=["multiclass", "ordinal"])
def test_rings_are_learned_where_linear_scores_cannot(estimator):
    X, y = ring_ranks()
    A, B, a, b = train_test_split(X, y, random_state=0)
    linear, curved = (clone(estimator).set_params(norm=norm, random_state=0).fit(A, a) for norm in ("l2", RKHS(gamma=1.0)))
    assert (linear.predict(B) == b).mean() < 0.7
    assert (curved.predict(B) == b).mean() > 0.95


# ---------------------------------------------------------------------------------------------------------- the bounds


def test_the_radius_seen_is_that_of_the_kernel():
    X, y = make_data(k=4)
    model = PredtronClassifier(
        norm=RKHS(kernel="poly", gamma=0.5, degree=2), update=LossAugmented(eta="theory"), intercept_scaling=0.5
    )
    model.partial_fit(X, y, classes=np.arange(4))
    longest = np.diag(polynomial_kernel(X, gamma=0.5, degree=2)).max()
    assert model._model.learner.weights.radius2 == pytest.approx(longest + 0.25)


@pytest.mark.parametrize(
    "norm",
    [
        RKHS(kernel="sigmoid"),
        RKHS(kernel="additive_chi2"),
        RKHS(kernel="poly", coef0=-1.0),
        RKHS(kernel="poly", degree=2.5, gamma=0.01),
        RKHS(budget=30),
    ],
    ids=name,
)
def test_no_bound_where_none_is_proven(norm):
    X, y = make_data(k=4)
    model = PredtronClassifier(norm=norm, intercept_scaling=1.0, random_state=0).fit(np.abs(X), y)
    with pytest.raises(ValueError, match="No loss bound is proven"):
        model.loss_bound(0.1, radius=2.0)


# ----------------------------------------------------------------------------------------------------------- the errors


def test_attributes_of_other_norms():
    X, y = make_data(k=4)
    model = PredtronClassifier().fit(X, y)
    assert not any(hasattr(model, attribute) for attribute in ("dual_coef_", "last_dual_coef_", "support_", "budget_loss_"))
    model = PredtronClassifier(norm="rkhs").fit(X, y)
    assert not hasattr(model, "coef_") and not hasattr(model, "last_coef_")
    with pytest.raises(AttributeError, match="kernel='linear'"):
        _ = model.coef_


class FailsLater:
    """A kernel that raises an error in its n-th call."""

    def __init__(self, n):
        self.n = n

    def __call__(self, A, B):
        self.n -= 1
        if self.n == 0:
            raise RuntimeError("out of luck")
        return rbf_kernel(A, B, gamma=0.3)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_kernel_that_fails_leaves_whole_rounds(n):
    X, y = make_data(n=300, k=4)
    model = PredtronClassifier(norm=RKHS(kernel=FailsLater(10**9)))
    model.partial_fit(X[:50], y[:50], classes=np.arange(4))
    model.norm.kernel.n = n
    model._model.learner.weights.support.kernel.kernel.n = n
    with pytest.raises(RuntimeError, match="out of luck"):
        model.partial_fit(X[50:], y[50:])
    done = model.t_
    assert 50 <= done < 300
    other = PredtronClassifier(norm=RKHS(gamma=0.3)).partial_fit(X[:done], y[:done], classes=np.arange(4))
    assert_close(model.dual_coef_, other.dual_coef_)
    assert_close(model.decision_function(X), other.decision_function(X))


def test_a_kernel_that_fails_at_once_leaves_nothing():
    X, y = make_data(k=4)
    X = np.abs(X)
    model = PredtronClassifier(norm=RKHS(kernel="chi2", gamma=0.3))
    model.partial_fit(X[:30], y[:30], classes=np.arange(4))
    with pytest.raises(ValueError, match="negative values"):
        model.partial_fit(-X[30:], y[30:])
    model.partial_fit(X[30:], y[30:])
    scores = chi2_kernel(X, X[model.support_], gamma=0.3) @ model.dual_coef_.T + model.intercept_
    assert_close(model.decision_function(X), scores)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_rows_without_a_finite_kernel(bad):
    X, y = make_data(k=4)
    model = PredtronClassifier(norm=RKHS(kernel="poly"), random_state=0).fit(X, y)
    before = model.decision_function(X)
    for where in (0, 30, 59):
        rows = X.copy()
        rows[where, 2] = bad
        for call in (model.fit, clone(model).fit):
            with pytest.raises(ValueError, match=r"NaN|infinity|has the length 1e\+200"):
                call(rows, y)
        np.testing.assert_array_equal(model.decision_function(X), before)
        with pytest.raises(ValueError, match=r"NaN|infinity|overflow"):
            model.predict(rows)


def test_a_power_that_a_negative_number_does_not_have():
    """It is the kernel's fault, and not that of large values in X."""
    X, y = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) % 2
    for call in ("fit", "partial_fit"):
        model = PredtronBinaryClassifier(norm=RKHS("poly", degree=2.5, coef0=0)).fit(np.abs(X), y)
        with pytest.raises(ValueError, match=r"degree=2\.5 of kernel='poly' has no power"):
            getattr(model, call)(X, y)
        assert model.t_ > 0


def test_labels_with_equal_pasts_keep_equal_scores():
    """Labels that have been relevant together tie exactly, in every split and place among the others."""
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 7))
    Y = random.integers(0, 2, (60, 7))
    Y[:, 6] = Y[:, 4] = Y[:, 1]
    split = PredtronMultilabelClassifier(norm=RKHS(gamma=0.1))
    for i in range(len(X)):
        split.partial_fit(X[i : i + 1], Y[i : i + 1])
    for model in [split, PredtronMultilabelClassifier(norm=RKHS(gamma=0.1)).fit(X, Y)]:
        for rows in [X, X[:1], X[:3]]:
            scores = model.decision_function(rows)
            assert np.array_equal(scores[:, [4, 6]], scores[:, [1, 1]])
