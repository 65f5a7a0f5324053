"""Label rankings by votes of pairs: against the reference and binary learners, decoding, streams, refusals, bounds."""

import itertools

import numpy as np
import pytest
from cases import assert_close, intercept_settings, needs_callbacks, updates_of_the_reference
from ranking_cases import make_labels, refuses
from reference.norms import Euclidean, Group, PNorm, Trace
from reference.preferences import PreferencesReference, votes_of
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks
from worlds import assert_agrees

from sklearn_predtron import PredtronBinaryClassifier, PredtronLabelRanker, PredtronRanker, norms
from sklearn_predtron.callbacks import LossHistory
from sklearn_predtron.metrics import kendall_tau
from sklearn_predtron.problems._preferences import PreferencesProblem
from sklearn_predtron.theory import largest_margin, margin, theorem_of
from sklearn_predtron.updates import Adaptive, LossAugmented, LossDriven, PassiveAggressive, PerceptronUpdate
from tests.own_checks import all_checks

UPDATES = [update for update in updates_of_the_reference() if not update.needs]
NORMS = [
    ("l2", Euclidean()),
    (norms.PNorm(q=3.0), PNorm(3.0)),
    (norms.Group(q=4.0), Group(4.0)),
    (norms.Trace(q=3.0), Trace(3.0)),
]


def preferences(**settings):
    return PredtronLabelRanker(**{"loss": "kendall_tau", "representation": "pairwise", "random_state": 0, "cv": 0, **settings})


def make_orders(n=60, p=5, m=4, seed=0):
    """Rows and relevances 0, ..., m - 1 of the labels, without ties."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)).astype(np.float32).astype(np.float64)
    t = X @ rng.standard_normal((p, m)) + 0.7 * rng.standard_normal((n, m))
    return X, t.argsort(axis=1).argsort(axis=1)


# ------------------------------------------------------------------------------------------------------------ what is learned


def test_ties_and_a_row_of_zeros_are_learned_as_by_the_plain_learner():
    """Relevances of which many tie, a list of one grade, a row of zeros; steps of one size."""
    update = PassiveAggressive(C=0.1, target="constant", delta=0.7)
    X, y = make_labels(m=4)
    y[3::11], X[7] = 2, 0
    X = X.astype(np.float32).astype(np.float64)
    reference = PreferencesReference(4, X.shape[1], update.alias, update.get_params(), intercept=None, norm=Group(4.0))
    reference.learn(X, y, np.ones(len(X)))
    model = preferences(update=update, norm=norms.Group(q=4.0), average="linear", **intercept_settings(None)).partial_fit(X, y)
    assert_agrees(model, reference, "linear")


@pytest.mark.always
@pytest.mark.parametrize("norm", [norm for norm, _ in NORMS], ids=repr)
@pytest.mark.parametrize("update", [update for update in UPDATES if isinstance(update, PassiveAggressive)], ids=repr)
def test_a_row_without_a_direction_leaves_the_weights(update, norm):
    """Without an intercept a row of zeros moves no pair, whatever its labels lose."""
    X, y = make_orders()
    settings = {"update": update, "norm": norm, **intercept_settings(None)}
    model = preferences(**settings).partial_fit(X, y)
    before, updates = model.last_coef_.copy(), model.n_updates_
    model.partial_fit(np.zeros((1, 5)), [[0, 1, 2, 3]])
    np.testing.assert_array_equal(model.last_coef_, before)
    assert model.n_updates_ == updates
    without = preferences(average=False, **settings).partial_fit(X, y)
    np.testing.assert_array_equal(model.partial_fit(X, y).last_coef_, without.partial_fit(X, y).last_coef_)


@pytest.mark.parametrize("update", ["adaptive", "passive_aggressive", "perceptron", "predtron"])
def test_pairs_learn_from_the_rows_where_they_do_not_tie(update):
    """The last iterate of a pair is that of its rows alone; the average counts all rows, as the automatic intercept does."""
    X, y = make_labels(m=4)
    settings = {"norm": "l2", "update": update, "intercept_scaling": 1.3, "average": "linear"}
    model = preferences(**settings).partial_fit(X, y)
    for k, (i, j) in enumerate(model.pairs_):
        apart = y[:, i] != y[:, j]
        alone = PredtronBinaryClassifier(**settings).partial_fit(X[apart], y[apart, i] > y[apart, j], classes=[False, True])
        assert len(X) > apart.sum() > 10
        assert_close(model.last_coef_[k], alone.last_coef_[0], 1e-12)
        assert not np.allclose(model.coef_[k], alone.coef_[0], rtol=1e-6)


def test_votes_rank_modes_better_than_a_score_a_label():
    """Orders that follow clusters: as good as logistic regressions of the pairs, and better than one score a label."""
    rng = np.random.default_rng(0)
    modes, centres = rng.standard_normal((6, 5)), 2 * rng.standard_normal((6, 8))
    mode = rng.integers(6, size=600)
    X = centres[mode] + rng.standard_normal((600, 8))
    y = (modes[mode] + 0.3 * rng.standard_normal((600, 5))).argsort(axis=1).argsort(axis=1)
    train, test = slice(300), slice(300, None)
    scores = np.column_stack(
        [
            LogisticRegression().fit(X[train], y[train, i] > y[train, j]).decision_function(X[test])
            for i, j in itertools.combinations(range(5), 2)
        ]
    )
    logistic = kendall_tau(y[test], PreferencesProblem(5).label_scores(scores)).mean()
    ours = kendall_tau(y[test], preferences().fit(X[train], y[train]).decision_function(X[test])).mean()
    shared = PredtronLabelRanker(loss="kendall_tau", random_state=0, cv=0).fit(X[train], y[train])
    assert ours > logistic - 0.01
    assert ours > kendall_tau(y[test], shared.decision_function(X[test])).mean() + 0.03


# ------------------------------------------------------------------------------------------------------------------- decoding


@pytest.mark.parametrize("m", [1, 2, 3, 6])
def test_votes_are_decoded(m):
    """By wins, then by sums; the scores are the wins and a quarter of each label's share."""
    rng, problem = np.random.default_rng(m), PreferencesProblem(m)
    scores = rng.standard_normal((200, problem.d)) * rng.choice([0, 1e-200, 1.0, 1e300], (200, problem.d))
    scores[0] = 0
    scores[1] = 1e308
    decision = problem.label_scores(scores if m > 1 else np.zeros((200, 1)))
    for t, found in zip(scores / 1e10, decision, strict=True):
        votes = votes_of(t[: m * (m - 1) // 2], m)
        total = np.abs(t).sum() or 1.0
        np.testing.assert_allclose(found, [wins + s / (4 * total) for wins, s in votes], rtol=1e-14, atol=1e-15)
        for i, j in itertools.permutations(range(m), 2):
            assert found[i] <= found[j] or votes[i][0] >= votes[j][0]


def test_positions_and_losses():
    X, y = make_labels(m=4)
    model = preferences().fit(X, y)
    scores = X @ model.coef_.T + model.intercept_
    decision, positions = model.decision_function(X), model.predict(X)
    for t, found, place, relevance in zip(scores, decision, positions, y, strict=True):
        votes = votes_of(t, 4)
        order = sorted(range(4), key=lambda i, votes=votes: votes[i], reverse=True)
        assert place[order].tolist() == [1, 2, 3, 4] and np.argsort(-found).tolist() == order
        pairs = [votes[i] <= votes[j] for i, j in itertools.permutations(range(4), 2) if relevance[i] > relevance[j]]
        assert model.sample_loss([X[0]], [y[0]]).shape == (1,)
        np.testing.assert_allclose(np.mean(pairs or [0.0]), model.sample_loss(X, y)[(decision == found).all(axis=1)][0])
    assert model.pairs_.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    assert model.coef_.shape == (6, 4) and not model.pairs_.flags.writeable


def test_the_loss_suffered_is_that_of_the_ranking():
    """Where scores are tied, rounds count the worst order, and `sample_loss` is the mean over all orders."""
    X, y = make_labels(m=4)
    model, tied = preferences(norm="l2", average=False).partial_fit(X[:1], y[:1]), 0
    for x, relevance in zip(X[1:], y[1:], strict=True):
        before, loss, scores = model.cumulative_loss_, model.sample_loss([x], [relevance])[0], model.decision_function([x])[0]
        model.partial_fit([x], [relevance])
        if len(set(scores)) == len(scores):
            assert model.cumulative_loss_ - before == pytest.approx(loss, abs=1e-9)
        else:
            assert model.cumulative_loss_ - before >= loss - 1e-9
            tied += 1
    assert tied < len(X) / 4


def test_a_single_label():
    X, y = np.eye(3), [[1], [0], [2]]
    model = preferences().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), np.ones((3, 1)))
    assert model.coef_.shape == (1, 3) and not model.coef_.any() and model.pairs_.shape == (0, 2)
    assert (model.n_updates_, model.cumulative_loss_, model.margin(X, y)) == pytest.approx((0, 0.0, np.nan), nan_ok=True)


# --------------------------------------------------------------------------------------------------------- streams and states


def test_damaged_states_are_refused():
    X, y = make_labels(m=3)
    rule = preferences().partial_fit(X, y)._model.learner.update
    sums, counts = rule.state()
    assert counts.min() > 3 and sums.shape == (3,)
    for damaged in [None, (sums,), (sums[:2], counts), (sums, counts - 1000), (sums * np.nan, counts), (counts, sums)]:
        with pytest.raises(ValueError, match="The saved state of a PreferencesRule is damaged"):
            rule.__setstate__(damaged)
    np.testing.assert_array_equal(rule.state()[0], sums)


@needs_callbacks
def test_callbacks_are_shown_the_loss():
    X, y = make_orders()
    history = LossHistory()
    model = preferences(max_iter=2).set_callbacks(history).fit(X, y)
    assert len(model.loss_curve_) == 2 and model.loss_curve_[1] < model.loss_curve_[0] < 0.5


@parametrize_with_checks([PredtronLabelRanker(loss="kendall_tau", representation="pairwise", cv=0)])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("norm", ["l2", "rkhs"])
@pytest.mark.parametrize("check", list(all_checks()), ids=lambda check: check.__name__)
def test_own_checks(check, norm):
    check("PredtronLabelRanker", preferences(norm=norm))


# ------------------------------------------------------------------------------------------------------------------- refusals


WORKS = "accepted with it is loss='kendall_tau' of PredtronLabelRanker"


def test_documents_are_not_compared_by_votes():
    model = PredtronRanker(loss="kendall_tau", representation="pairwise")
    refuses(model, lambda: model.fit(np.eye(3), [0, 1, 2], qid="one"), WORKS)
    unknown = PredtronRanker(loss="kendall_tau", representation="pairwise2")
    with pytest.raises(ValueError, match="accepted are 'log', 'linear', 'power', 'reciprocal' and"):
        unknown.fit(np.eye(3), [0, 1, 2], qid="one")
    with pytest.raises(ValueError, match=r"'reciprocal', 'pairwise' and"):
        preferences(representation="pairwise2").fit(np.eye(3), np.eye(3))


def test_labels_have_no_pairs():
    X, y = make_labels(m=3)
    labels = PredtronLabelRanker(loss="kendall_tau").partial_fit(X, y)
    with pytest.raises(AttributeError, match="pairs_ is of representation='pairwise'"):
        _ = labels.set_params(representation="log").pairs_


# ---------------------------------------------------------------------------------------------------------- margins and bounds


def separable(n=50, p=8, m=3):
    """Relevances by linear scores, some of which tie."""
    X, _ = make_orders(n, p, m)
    return X, np.digitize(X @ np.random.default_rng(4).standard_normal((p, m)), [-0.5, 0.5, 1.5])


def leads_by_hand(scores, y):
    """Twice the score of each pair, signed in favour of the more relevant label; infinite where they tie."""
    first, second = np.triu_indices(y.shape[1], 1)
    ahead = np.sign(y[:, first] - y[:, second])
    return np.where(ahead == 0, np.inf, 2 * ahead * scores)


def test_margins():
    X, y = make_labels(m=4)
    model = preferences(norm="l2", intercept_scaling=1.5).fit(X, y)
    scores = X @ model.coef_.T + model.intercept_
    length = np.sqrt((model.coef_**2).sum() + (model.intercept_**2).sum() / 1.5**2)
    expected = leads_by_hand(scores, y).min() / length
    assert model.margin(X, y) == pytest.approx(expected, rel=1e-9)
    assert margin(model, X, y, model.coef_, model.intercept_) == pytest.approx(expected, rel=1e-9)
    assert np.isinf(model._margins(X, np.ones_like(y))).all()


PA2 = PassiveAggressive(C=0.3, variant="pa2")
PROVEN = [Adaptive(), LossAugmented(eta="theory"), LossAugmented(eta=0.001), LossDriven(), PerceptronUpdate(), PA2]
COMPARED = [PerceptronUpdate(), LossAugmented(eta=0.01), LossDriven(), PassiveAggressive(C=0.3), PA2]


@pytest.mark.parametrize("norm", ["l2", "l1", "group", "trace"])
def test_bounds(norm):
    """The wrong pairs of all rounds, and so the losses, are within the bound of the largest margin of all pairs together."""
    X, y = separable()
    largest = largest_margin(preferences(fit_intercept=False), X, y, norm="l2" if norm == "l2" else "l1")
    assert largest.bound == pytest.approx(largest.margin, rel=1e-6)
    for update in PROVEN:
        model = preferences(update=update, norm=norm, average=False, fit_intercept=False)
        gamma, wrong = margin(model, X, y, largest.coef), 0
        for x, relevance in zip(X, y, strict=True):
            scores = model.coef_ @ x if model.__sklearn_is_fitted__() else np.zeros(3)
            wrong += (leads_by_hand(scores[None], relevance[None]) <= 0).sum()
            model.partial_fit([x], [relevance])
        q = getattr(model._model.learner.weights, "q", 2.0) if norm in ("l1", "group") else 2.0
        bound = model.loss_bound(gamma, np.linalg.norm(X, q, axis=1).max())
        assert 0 < model.cumulative_loss_ <= wrong <= bound
        assert theorem_of(model)


def test_bound_against_any_weights():
    X, y = make_labels(m=4)
    rng = np.random.default_rng(0)
    for update in COMPARED:
        model = preferences(norm="l2", update=update, average=False, fit_intercept=False).partial_fit(X, y)
        for U in (model.coef_, np.zeros((6, 4)), rng.standard_normal((6, 4))):
            assert model.cumulative_loss_ <= model.loss_bound(comparator=U, X=X, y=y)
    perceptron = preferences(norm="l2", update="perceptron", fit_intercept=False, average=False).partial_fit(X, y)
    U = perceptron.coef_ / 10
    E, slope = np.maximum(0, 1 - leads_by_hand(X @ U.T, y)).sum(), 4 * (X**2).sum(axis=1).max() * (U**2).sum()
    assert perceptron.loss_bound(comparator=U, X=X, y=y) == pytest.approx(((slope**0.5 + (slope + 4 * E) ** 0.5) / 2) ** 2)
