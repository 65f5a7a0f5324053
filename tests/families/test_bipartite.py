"""Two classes by measures of batches and groups: against plain NumPy, against the other families, and as a classifier."""

import pickle

import numpy as np
import pytest
import sklearn
from cases import assert_close, name, state
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, balanced_accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, TunedThresholdClassifierCV, cross_val_predict

from sklearn_predtron import PredtronBinaryClassifier, PredtronBipartiteClassifier, PredtronRanker
from sklearn_predtron.families.bipartite import batch_loss
from sklearn_predtron.losses import AveragePrecision, BreakEven, CountLoss, FBeta, Hamming, PrecisionAtK, RecallAtK, SwappedPairs
from sklearn_predtron.metrics import progressive_val_score
from sklearn_predtron.norms import RKHS, PNorm
from sklearn_predtron.theory import loss_constants, radius, theorem_of
from sklearn_predtron.updates import LossAugmented, LossDriven
from tests.inside import reading_of

NORMS = ["l2", "l1", "group", "trace", "scaled", RKHS(kernel="linear"), RKHS(budget=25)]


def rows(n=400, p=6, seed=0, share=0.2):
    """Rows of two classes that overlap, in single precision, and groups of different sizes."""
    random = np.random.default_rng(seed)
    X = (random.standard_normal((n, p)) * random.uniform(0.3, 3, p) + 0.4).astype(np.float32).astype(np.float64)
    t = X @ random.standard_normal(p) + 1.5 * random.standard_normal(n)
    return X, (t > np.quantile(t, 1 - share)).astype(int), random.integers(0, n // 12, n)


def make(**settings):
    return PredtronBipartiteClassifier(**{"random_state": 0, **settings})


def described(loss):
    return getattr(loss, "__name__", str(loss))


def costs(a, b, c, d):
    return (b + 3.0 * c) / (a + b + c + d)


# ----------------------------------------------------------------------------------------------- against other learners


@pytest.mark.parametrize("norm", NORMS, ids=name)
@pytest.mark.parametrize(
    "settings",
    [{"average": "linear"}, {"update": "passive_aggressive", "average": False}, {"update": "perceptron", "average": 20.0}],
    ids=str,
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_batches_of_one_row_are_the_binary_classifier(norm, settings, form):
    X, y, _ = rows(120)
    settings = {"norm": norm, **settings}
    for loss in ("hamming", "f1"):
        one = make(loss=loss, batch_size=1, **settings).partial_fit(form(X), y, classes=[0, 1])
        binary = PredtronBinaryClassifier(**settings).partial_fit(form(X), y, classes=[0, 1])
        kind = "coef_" if hasattr(one, "coef_") else "dual_coef_"
        assert_close(getattr(one, kind), getattr(binary, kind), rtol=1e-8)
        assert_close(one.intercept_, binary.intercept_, rtol=1e-8)
        assert (one.t_, one.n_mistakes_, one.cumulative_loss_) == (binary.t_, binary.n_mistakes_, binary.cumulative_loss_)


@pytest.mark.parametrize("loss", [SwappedPairs(), AveragePrecision()], ids=name)
def test_auc_and_ap_are_the_ranker(loss):
    """With the batches as queries."""
    X, y, groups = rows()
    representation = {"swapped_pairs": "linear", "ap": "log"}[loss.alias]
    ranker = PredtronRanker(cv=0, loss=loss, representation=representation, max_iter=3, random_state=0).fit(X, y, qid=groups)
    alias = {"swapped_pairs": "auc", "ap": "ap"}[loss.alias]
    for form in (alias, loss):
        model = make(loss=form, max_iter=3).fit(X, y, groups=groups)
        np.testing.assert_array_equal(model.coef_[0], ranker.coef_)
        np.testing.assert_array_equal(model.sample_loss(X, y, groups=groups), ranker.sample_loss(X, y, qid=groups))
        assert model.last_intercept_ == 0
        assert model.cumulative_loss_ == ranker.cumulative_loss_
    metric = {"auc": roc_auc_score, "ap": average_precision_score}[alias]
    assert 1 - model.sample_loss(X, y)[0] == pytest.approx(metric(y, model.decision_function(X)))


def test_groups_are_batches():
    """Groups of 50 rows teach what batches of 50 rows teach, in the given order."""
    X, y, _ = rows()
    groups = np.repeat(np.arange(8), 50)
    apart = np.random.default_rng(0).permutation(400)
    apart = apart[np.lexsort((groups[apart], np.zeros(400)))]  # the groups in order, their rows shuffled
    batches = make(batch_size=50).partial_fit(X[apart], y[apart], classes=[0, 1])
    gathered = np.argsort(np.arange(400) % 50, kind="stable")  # a row of each group in turn
    lying = X[apart][gathered], y[apart][gathered], groups[gathered]
    model = make().partial_fit(*lying[:2], classes=[0, 1], groups=lying[2])
    assert state(model) == state(batches)


# ------------------------------------------------------------------------------------------ batches, groups, and streams


@pytest.mark.parametrize("norm", NORMS[:-2], ids=name)
@pytest.mark.parametrize("loss", ["f1", "balanced", PrecisionAtK(k=0.1), RecallAtK(k=3, rule="at_most"), "auc"], ids=described)
def test_streams_may_be_split_at_multiples_of_the_batch_size(norm, loss):
    X, y, _groups = rows()
    whole = make(loss=loss, norm=norm, batch_size=40).partial_fit(X, y, classes=[0, 1])
    model = make(loss=loss, norm=norm, batch_size=40)
    for first, end in [(0, 40), (40, 160), (160, 200), (200, 400)]:
        model.partial_fit(X[first:end], y[first:end], classes=[0, 1])
    assert state(model) == state(whole)
    by_groups = make(loss=loss, norm=norm).partial_fit(X[:200], y[:200], [0, 1], groups=np.arange(200) // 10)
    twin = pickle.loads(pickle.dumps(make(loss=loss, norm=norm).partial_fit(X[:70], y[:70], [0, 1], np.arange(70) // 10)))
    assert state(twin.partial_fit(X[70:200], y[70:200], groups=np.arange(70, 200) // 10)) == state(by_groups)


def test_the_2_norm_is_the_euclidean_norm():
    X, y, _ = rows(200)
    flat, plain = (make(norm=norm, shuffle=False).fit(X, y) for norm in (PNorm(q=2), "l2"))
    np.testing.assert_allclose(flat.decision_function(X), plain.decision_function(X), rtol=1e-8)


def test_scaled_batches_of_a_shifted_feature():
    """Under norm="scaled" a constant that is added to dense features changes nothing."""
    X, y, groups = rows()
    for given in (None, groups):
        plain, moved = (make(norm="scaled", max_iter=3).fit(X + shift, y, groups=given) for shift in (0.0, 8.0))
        np.testing.assert_allclose(moved.decision_function(X + 8.0), plain.decision_function(X), rtol=1e-6, atol=1e-7)


def test_rows_of_weight_0_are_absent():
    X, y, groups = rows()
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 2.0)
    kept = weight > 0
    for given, there in (({}, {}), ({"groups": groups}, {"groups": groups[kept]})):
        model = make().fit(X, y, sample_weight=weight, **given)
        assert state(model) == state(make().fit(X[kept], y[kept], **there))
        assert model.threshold_ == make().fit(X[kept], y[kept], **there).threshold_
    stream = make(batch_size=30).partial_fit(X, y, classes=[0, 1], sample_weight=weight)
    assert state(stream) == state(make(batch_size=30).partial_fit(X[kept], y[kept], classes=[0, 1]))
    nothing = make().partial_fit(X, y, classes=[0, 1], sample_weight=np.zeros(len(y)))
    assert nothing.t_ == 0


def test_weights_of_rows_count_in_proportion():
    X, y, groups = rows()
    heavy = make(loss="hamming", shuffle=True).fit(X, y, sample_weight=np.where(y == 1, 8.0, 1.0))
    assert heavy.predict(X).sum() > make(loss="hamming").fit(X, y).predict(X).sum()
    weight = np.random.default_rng(0).uniform(0.5, 2, groups.max() + 1)
    grouped = make(shuffle=False, max_iter=1).fit(X, y, groups=groups, sample_weight=weight[groups])
    order = np.argsort([np.flatnonzero(groups == group)[0] for group in np.unique(groups)])
    first = np.array([np.flatnonzero(groups == group)[0] for group in np.unique(groups)])[order]
    reading = reading_of(grouped, X, y, groups=groups, sample_weight=weight[groups])
    assert reading.batch.weight == pytest.approx(weight[groups[first]])


def test_a_hundred_thousand_rows_in_one_group():
    X, y = make_classification(100_000, n_features=5, weights=[0.97], random_state=0)
    for loss in ("f1", PrecisionAtK(k=0.01, rule="at_least"), RecallAtK(k=0.01, rule="at_most"), "break_even"):
        model = make(loss=loss, max_iter=2).fit(X, y, groups=np.zeros(len(y)))
        assert model.t_ == 2
        assert model.predict(X, groups=np.zeros(len(y))).sum() > 100


# ------------------------------------------------------------------------------------- the cure of the blindness to costs


def test_the_two_point_example():
    """Section 4: x = 1 has 20 % positive rows, x = 0 has 2 %; as printed the surrogate predicts nobody."""
    random = np.random.default_rng(0)
    x = (random.random(40_000) < 0.1).astype(float)
    y = (random.random(40_000) < np.where(x > 0, 0.2, 0.02)).astype(int)
    X = np.column_stack([x, 1 - x])
    printed, cured = (make(loss="balanced", balance=q, decision=0.0, max_iter=3).fit(X, y) for q in (0, 1))
    assert balanced_accuracy_score(y, printed.predict(X)) == 0.5
    assert balanced_accuracy_score(y, cured.predict(X)) == balanced_accuracy_score(y, x > 0) > 0.7


def test_the_balanced_error_is_learned_about_as_well_as_by_logistic_regression():
    ratios = []
    for seed in range(4):
        X, y = make_classification(6000, n_features=20, weights=[0.94], class_sep=0.8, random_state=seed)
        train, test = slice(0, 3000), slice(3000, None)
        logistic = LogisticRegression(class_weight="balanced").fit(X[train], y[train])
        model = make(loss="balanced").fit(X[train], y[train])
        ratios.append(
            balanced_accuracy_score(y[test], model.predict(X[test])) / balanced_accuracy_score(y[test], logistic.predict(X[test]))
        )
    assert np.mean(ratios) > 0.985


# ---------------------------------------------------------------------------------------------------------- the threshold


@pytest.mark.parametrize("loss", ["f1", FBeta(beta=2.0), "balanced", "jaccard", "hamming", costs], ids=described)
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_cut_of_the_training_scores_loses_less(loss, grouped, weighted):
    X, y, groups = rows()
    X, groups = np.round(X), groups if grouped else None  # ties
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None
    if weighted and grouped:
        weight = weight[groups]
    model = make(loss=loss, decision="fitted").fit(X, y, groups=groups, sample_weight=weight)
    t = model.decision_function(X) + model.threshold_
    of_group = weight if groups is None or weight is None else weight[np.unique(groups, return_index=True)[1]]
    losses = []
    for cut in [*(np.unique(t) + 1e-9), t.min() - 1, model.threshold_]:
        on = (t > cut).astype(int)
        parts = [on & y, on & (1 - y), (1 - on) & y, (1 - on) & (1 - y)]
        if groups is None:
            w = np.ones(len(y)) if weight is None else weight / weight.max()
            counts = [np.array([(part * w).sum()]) for part in parts]
            shares = None
        else:
            counts, shares = [np.bincount(groups, part) for part in parts], of_group
        losses.append(np.average(batch_loss(model._model.loss).of_counts(*counts), weights=shares))
    assert losses[-1] <= min(losses) + 1e-12


def test_weights_that_put_the_boundary_in_its_place_need_no_cut():
    X, y, _ = rows()
    for loss in ("balanced", "g_mean"):
        assert make(loss=loss).fit(X, y).threshold_ == 0 != make(loss=loss, decision="fitted").fit(X, y).threshold_
        assert make(loss=loss, balance=0).fit(X, y).threshold_ != 0
    assert make(loss="f1", balance=1).fit(X, y).threshold_ != 0


def test_the_threshold_is_in_the_intercept():
    X, y, _ = rows()
    fitted, plain, given = (make(decision=threshold).fit(X, y) for threshold in (None, 0, 0.25))
    assert (plain.threshold_, given.threshold_) == (0.0, 0.25)
    assert fitted.threshold_ == make(decision="fitted").fit(X, y).threshold_ != 0
    assert fitted.intercept_ == plain.intercept_ - fitted.threshold_
    assert given.intercept_ == plain.intercept_ - 0.25
    for model in (fitted, plain, given):
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_, rtol=1e-10, atol=1e-10)
        np.testing.assert_array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))
    twin = pickle.loads(pickle.dumps(fitted))
    assert twin.threshold_ == fitted.threshold_
    kept = twin.partial_fit(X, y)
    assert kept.threshold_ == fitted.threshold_  # streams keep what fit has set
    assert make().partial_fit(X, y, classes=[0, 1]).threshold_ == 0
    assert make(loss=PrecisionAtK(k=0.1), decision=3.0).fit(X, y).threshold_ == 0  # nothing is cut at k


# ------------------------------------------------------------------------------------------------------- losses at k


@pytest.mark.parametrize(
    ("loss", "sizes"),
    [
        (PrecisionAtK(k=3), lambda m: (3, 3)),
        (RecallAtK(k=0.25), lambda m: (max(1, round(0.25 * m)),) * 2),
        (PrecisionAtK(k=0.25, rule="at_least"), lambda m: (max(1, round(0.25 * m)), m)),
        (RecallAtK(k=2, rule="at_most"), lambda m: (0, 2)),
        (BreakEven(), lambda m: (round(0.2 * m),) * 2),
    ],
    ids=described,
)
def test_predictions_at_k_are_the_largest_scores_of_each_group(loss, sizes):
    X, y, groups = rows()
    model = make(loss=loss, max_iter=3).fit(X, y, groups=groups)
    predicted, t = model.predict(X, groups=groups), model.decision_function(X)
    for group in np.unique(groups):
        on, scores = predicted[groups == group] == 1, t[groups == group]
        least, most = sizes(len(on))
        assert least <= on.sum() <= most
        assert on.all() or not on.any() or scores[on].min() >= scores[~on].max()
    everything = model.predict(X)
    assert sizes(len(y))[0] <= everything.sum() <= sizes(len(y))[1]
    codes = [np.bincount(groups, part) for part in (predicted & y, predicted & (1 - y), (1 - predicted) & y)]
    present = np.bincount(groups) > 0
    first = np.argsort([np.flatnonzero(groups == group)[0] for group in np.flatnonzero(present)])
    a, b, c = (part[present][first].astype(float) for part in codes)
    np.testing.assert_allclose(model.sample_loss(X, y, groups=groups), loss.of_counts(a, b, c, 0 * a), atol=1e-12)
    assert model.score(X, y, groups=groups) == pytest.approx((predicted == y).mean())


def test_batches_of_a_fit_are_nearly_equal_and_so_have_k_rows():
    X, y, _ = rows(410)
    model = make(loss=PrecisionAtK(k=50), max_iter=2).fit(X, y)
    assert model.t_ == 2 * 3
    with pytest.raises(ValueError, match="number 2 has 10"):
        make(loss=PrecisionAtK(k=50)).partial_fit(X, y, classes=[0, 1])


def test_where_the_number_predicted_is_fixed_the_offset_never_moves():
    X, y, groups = rows()
    for loss in (PrecisionAtK(k=3), RecallAtK(k=0.1), "break_even"):
        for norm in ("l2", "l1"):
            assert make(loss=loss, norm=norm, max_iter=2).fit(X, y, groups=groups).last_intercept_ == pytest.approx(0, abs=1e-12)


# -------------------------------------------------------------------------------------------------------------- theory


@pytest.mark.parametrize("update", ["perceptron", LossDriven(eta=0.5), "passive_aggressive", LossAugmented(eta=3e-4)], ids=str)
@pytest.mark.parametrize("loss", ["hamming", "f1", "balanced"])
def test_loss_suffered_is_within_the_bound(update, loss):
    """Theorem 1 and its likes, with the spectral norm of a batch as the radius."""
    random = np.random.default_rng(0)
    for _seed in range(3):
        X, u = random.standard_normal((300, 4)), random.standard_normal(4)
        t = X @ u / np.linalg.norm(u)
        X, t = X[abs(t) > 0.3], t[abs(t) > 0.3]
        y = (t > 0).astype(int)
        model = make(norm="l2", loss=loss, update=update, balance=0, batch_size=10, intercept_scaling=0.5, decision=0.0)
        for _ in range(3):
            model.partial_fit(X, y, classes=[0, 1])
        batches = np.arange(len(X)) // 10
        gamma = 2 / np.sqrt(10) * 0.3 * 0.999
        R, (c_L, _) = radius(model, X, qid=batches), loss_constants(loss, n_labels=10)
        assert (
            pytest.approx(
                max(np.linalg.norm(np.column_stack([X, np.full(len(X), 0.5)])[batches == i], 2) for i in range(batches.max() + 1))
            )
            == R
        )
        assert theorem_of(model)
        assert 0 < model.cumulative_loss_ <= model.loss_bound(gamma, R, c_L) * (1 + 1e-9)


def test_the_margin_is_that_of_the_worst_batch():
    X, y, groups = rows()
    y = (X @ np.arange(1, 7) > 2).astype(int)
    model = make(norm="l2", loss="hamming", intercept_scaling=1.0, decision=0.0).fit(X, y, groups=groups)
    t = (X @ model.coef_[0] + model.intercept_) * np.where(y == 1, 1, -1)
    length = np.hypot(np.linalg.norm(model.coef_), model.intercept_[0])
    parts = [2 * t[groups == group] / np.sqrt((groups == group).sum()) for group in np.unique(groups)]
    least = min(np.minimum(part, 0).sum() if part.min() < 0 else part.min() for part in parts)
    assert model.margin(X, y, groups=groups) == pytest.approx(least / length)
    assert make(loss="auc").fit(X, y, groups=groups).margin(X, y, groups=groups) < np.inf


# ------------------------------------------------------------------------------------------------------- scikit-learn


def test_groups_are_routed():
    X, y, groups = rows()
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(make(max_iter=2), {"loss": ["f1", PrecisionAtK(k=2)]}, cv=GroupKFold(3), error_score="raise")
        search.fit(X, y, groups=groups)
        model = make(loss=PrecisionAtK(k=2), max_iter=2)
        train, test = next(iter(GroupKFold(3).split(X, y, groups)))
        by_hand = model.fit(X[train], y[train], groups=groups[train])
        expected = by_hand.score(X[test], y[test], groups=groups[test])
    assert search.cv_results_["split0_test_score"][1] == pytest.approx(expected)


def test_composes_with_scikit_learn():
    X, y, _ = rows()
    tuned = TunedThresholdClassifierCV(make(loss="balanced", decision=0.0), scoring="f1", cv=3).fit(X, y)
    assert f1_score(y, tuned.predict(X)) > 0.6
    predicted = cross_val_predict(make(), X, np.where(y == 1, "yes", "no"), cv=3)
    assert set(predicted) == {"yes", "no"}
    assert make().fit(X, np.where(y == 1, "yes", "no")).classes_.tolist() == ["no", "yes"]


def test_progressive_losses_are_those_of_batches():
    X, y, _ = rows()
    batches = [(X[i : i + 40], y[i : i + 40]) for i in range(0, 400, 40)]
    model, total = make(batch_size=40), []
    for number, (some, labels) in enumerate(batches):
        if number > 0:
            total.append(model.sample_loss(some, labels)[0])
        model.partial_fit(some, labels, classes=[0, 1])
    started = make(batch_size=40).partial_fit(*batches[0], classes=[0, 1])
    assert progressive_val_score(started, iter(batches[1:])) == pytest.approx(np.mean(total))


class OwnPairs(SwappedPairs):
    """A loss that is derived from one of the package."""

    alias = None


def test_losses_by_name_and_what_they_stand_for():
    X, y, groups = rows()
    for alias, loss in [("break_even", BreakEven()), ("auc", SwappedPairs()), ("auc", OwnPairs()), ("hamming", Hamming())]:
        first, second = (make(loss=one, max_iter=2).fit(X, y, groups=groups) for one in (alias, loss))
        assert state(first) == state(second)
    first, second = (make(loss=one, max_iter=2).fit(X, y) for one in (costs, CountLoss(costs)))
    assert state(first) == state(second)


# ------------------------------------------------------------------------------------------------------------- errors


def test_batches_and_groups_without_positive_rows_are_warned_about():
    X, y, groups = rows(1000, share=0.01)
    with pytest.warns(UserWarning, match=r"10 positive rows among 1000: of .* 200 rows 13 % have none.*batch_size=500"):
        make().fit(X, y)
    with pytest.warns(UserWarning, match="groups: .* % of them have no positive row"):
        make().fit(X, y, groups=groups)


def test_constant_rows_teach_nothing_that_breaks():
    X, y, _ = rows(60)
    model = make(intercept_scaling=1.0).fit(np.zeros_like(X), y)
    assert not model.coef_.any()
    assert np.isfinite(model.intercept_).all()
    assert len(set(make().fit(np.ones_like(X), y).predict(np.ones_like(X)))) == 1


@pytest.mark.parametrize(("n", "k", "size"), [(6, 5, 200), (10, 5, 200), (20, 15, 20), (40, 15, 20), (45, 15, 20)])
@pytest.mark.parametrize("loss", [PrecisionAtK, RecallAtK])
def test_folds_leave_no_batch_shorter_than_k(loss, n, k, size):
    """Where they would the first epoch has to do."""
    X, y = np.random.default_rng(0).standard_normal((n, 3)), np.arange(n) % 2
    model = make(loss=loss(k=k), batch_size=size).fit(X, y)
    learned = make(loss=loss(k=k), batch_size=size, decision="learned").fit(X, y)
    np.testing.assert_array_equal(model.coef_, learned.coef_)
    assert np.isfinite(model.predict_proba(X)).all()
