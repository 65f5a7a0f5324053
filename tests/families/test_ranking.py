"""Rankers: the learner against the reference, ties, pairwise hinges; any form of the rows, any split of the stream."""

import itertools
from itertools import permutations

import numpy as np
import pytest
import reference.ranking as plain
from cases import assert_close, layouts, state
from reference.ranking import RankingReference
from scipy import sparse
from worlds import BY_COMPETITOR, GRADES, PAIRWISE, POSITIONS, RANKING_LOSSES, assert_agrees

from sklearn_predtron import PredtronBipartiteClassifier, PredtronLabelRanker, PredtronRanker
from sklearn_predtron.losses import NDCG, AveragePrecision, KendallTau, PrecisionAtK, RankingZeroOne, RecallAtK, SwappedPairs
from sklearn_predtron.metrics import average_precision, kendall_tau, mean_over_queries, ndcg
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.representations import LogRank, Pairwise
from sklearn_predtron.updates import MMP, Adaptive, ListNet, LossAugmented, MaxPair, PassiveAggressive, PerceptronUpdate, Slam

each_loss = pytest.mark.parametrize("loss", RANKING_LOSSES)


def random_rows(rng, n, p):
    """Sparse rows that float32 holds exactly."""
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < (0.7 if p > 1 else 1)) * rng.lognormal(0, 0.7, (n, 1))
    return X.astype(np.float32).astype(np.float64)


def make_queries(grades, n=30, p=6, lengths=(2, 3, 4, 5, 5), seed=0):
    """Lists of documents and relevances; some of one document, some of one grade, one with a row of zeros."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(p)
    X, y = [], []
    for i, m in enumerate(rng.choice(lengths, n)):
        x = random_rows(rng, 1 if i % 9 == 4 else m, p)
        t = x @ w + 0.8 * rng.standard_normal(len(x))
        relevance = np.array(grades, dtype=float)[np.digitize(t, [0.0] if len(grades) == 2 else [-0.7, 0.3, 1.2])]
        X.append(x)
        y.append(np.full(len(x), grades[-1 if i % 2 else 0], dtype=float) if i % 10 == 5 else relevance)
    X[n // 2][0] = 0
    return X, y


def qid_of(X, first=0):
    return np.repeat(np.arange(first, first + len(X)), [len(x) for x in X])


def ranker(update, loss, representation="log", **settings):
    representation = POSITIONS.get(representation, (representation,))[0]
    return PredtronRanker(norm="l2", update=update, loss=RANKING_LOSSES[loss][0], representation=representation, **settings)


def label_ranker(update, loss, representation="log", **settings):
    representation = POSITIONS[representation][0]
    return PredtronLabelRanker(norm="l2", update=update, loss=RANKING_LOSSES[loss][0], representation=representation, **settings)


def learn(model, X, y, weight=None, form=None):
    """One call for all queries, in one of the forms of `layouts`."""
    rows = np.vstack(X) if form is None else layouts(np.vstack(X))[form]
    weight = None if weight is None else np.repeat(weight, [len(x) for x in X])
    return model.partial_fit(rows, np.concatenate(y), qid=qid_of(X), sample_weight=weight)


# ---------------------------------------------------------------------------------------------- the reference, by itself


@each_loss
def test_competitors_of_the_reference(loss):
    """The solvers for long lists find what a look at every ranking finds."""
    _, loss, grades = RANKING_LOSSES[loss]
    if isinstance(loss, plain.KendallTau):
        return
    rng = np.random.default_rng(0)
    for (_, f), m in itertools.product(POSITIONS.values(), (2, 4, 6)):
        rep = plain.unit(f, m)
        for spread in (0.3, 3.0, 30.0):
            y = np.resize(grades, m)[rng.permutation(m)].astype(float)
            t = spread * rng.standard_normal(m)
            best, _ = plain.best_ranking(loss, rep, t, y)
            if hasattr(loss, "costs"):
                other = plain.linear_sum_assignment(np.multiply.outer(t, rep) + loss.costs(y), maximize=True)[1]
            else:
                other = (plain.best_exchange if isinstance(loss, plain.ZeroOne) else plain.best_interleaving)(loss, rep, t, y)
            np.testing.assert_array_equal(other, best)


def test_losses_of_the_reference():
    y, place = np.array([2.0, 0, 1]), np.array([2, 0, 1])
    dcg, best = 3 / 2 + 1 / np.log2(3), 3 + 1 / np.log2(3)
    np.testing.assert_allclose(plain.NDCG().of(place, y), 1 - dcg / best)
    np.testing.assert_allclose(plain.NDCG(2).of(place, y), 1 - (1 / np.log2(3)) / best)
    np.testing.assert_allclose(plain.AveragePrecision().of(place, np.array([1.0, 0, 1])), 1 - (1 / 2 + 2 / 3) / 2)
    np.testing.assert_allclose(plain.SwappedPairs().of(place, np.array([2.0, 1, 1])), 1)
    np.testing.assert_array_equal(plain.right_place(np.array([0, 3, 2, 1]), np.array([0.0, 1, 0, 1])), [2, 1, 3, 0])


# ---------------------------------------------------------------------------------------------- iterates of the learners


def test_documents_of_weight_zero_are_absent_and_a_query_weighs_the_mean():
    X, y = make_queries(GRADES)
    rng = np.random.default_rng(2)
    weight = [rng.choice([0, 0.5, 1.5], len(x)) for x in X]
    kept = [i for i, w in enumerate(weight) if w.any()]
    short = [X[i][weight[i] > 0] for i in kept], [y[i][weight[i] > 0] for i in kept]
    mean = np.array([weight[i][weight[i] > 0].mean() for i in kept])
    for update in (ListNet(eta=0.1), Slam()):  # from the first round on, without ties
        model = ranker(update, "ndcg", average="linear").partial_fit(
            np.vstack(X), np.concatenate(y), qid_of(X), np.concatenate(weight)
        )
        reference = RankingReference(plain.NDCG(), plain.logarithmic, 6, update.alias, update.get_params())
        assert_agrees(model, reference.learn(*short, mean), "linear")


# --------------------------------------------------------------------------------------------------------------------- ties

SET = MaxPair(weighted=False)


def tied_lists(grades, seeds=8):
    """Whole-numbered scores, many of them equal, or all 0; relevances of two grades or more."""
    for m, seed in itertools.product((2, 3, 5), range(seeds)):
        rng = np.random.default_rng([seed, m])
        y = np.array(grades, dtype=float)[rng.integers(0, len(grades), m)]
        y[rng.permutation(m)[:2]] = grades[:2]
        yield (rng.integers(-1, 2, m).astype(float) if seed > 2 else np.zeros(m)), y


def scored(t, loss, representation="log"):
    """A ranker with the weights t, to the last bit: its first step is along the first document less the second."""
    high, low = RANKING_LOSSES[loss][2][1], RANKING_LOSSES[loss][2][0]
    model = ranker(SET, loss, representation, average=False)
    model.partial_fit(np.vstack([t, 0 * t]), [high, low])
    np.testing.assert_array_equal(model.last_coef_, t)
    return model


def step_of(update, t, y, loss, representation="log"):
    """The step of a round whose documents are the basis vectors and score t, and the loss it suffers."""
    model = scored(t, loss, representation)
    lost = model.cumulative_loss_
    model.set_params(update=update).partial_fit(np.eye(len(t)), y)
    return model.last_coef_ - t, model.cumulative_loss_ - lost


def close_to_one_of(step, directions):
    return min(np.abs(step - direction).max() for direction in directions) < 1e-12


POSITIONAL = [loss for loss in RANKING_LOSSES if loss != "kendall"]


@pytest.mark.parametrize("loss", POSITIONAL)
@pytest.mark.parametrize("representation", POSITIONS)
def test_tied_scores_lose_the_most_they_can(loss, representation):
    """The prediction is, of the rankings of largest score, one that loses most."""
    rule, f = RANKING_LOSSES[loss][1], POSITIONS[representation][1]
    for t, y in tied_lists(RANKING_LOSSES[loss][2]):
        rep, every = plain.unit(f, len(t)), plain.rankings(len(t))
        score = rep[every] @ t
        most = rule.of(every, y)[score > score.max() - 1e-12].max()
        worst = plain.places(plain.worst_order(t, y))
        assert rule.of(worst, y) == pytest.approx(most, abs=1e-12)
        step, lost = step_of(PerceptronUpdate(eta=1.0), t, y, loss, representation)
        assert lost == pytest.approx(most, abs=1e-12)
        direction = rep[plain.right_place(worst, y)] - rep[worst]
        np.testing.assert_allclose(step, direction * (most > 1e-12), atol=1e-12)


@pytest.mark.parametrize("loss", POSITIONAL)
@pytest.mark.parametrize("representation", POSITIONS)
def test_competitors_of_tied_scores(loss, representation):
    """The step is that of one of the rankings of largest L + <rep, t>."""
    rule, f = RANKING_LOSSES[loss][1], POSITIONS[representation][1]
    for t, y in tied_lists(RANKING_LOSSES[loss][2]):
        rep, every = plain.unit(f, len(t)), plain.rankings(len(t))
        total = rule.of(every, y) + rep[every] @ t
        best = every[total > total.max() - 1e-12]
        pushes = [plain.push(rule, rep, place, t, y) for place in best]
        step, lost = step_of(LossAugmented(eta=1.0), t, y, loss, representation)
        assert close_to_one_of(step, [delta * (lost > 0) for _, delta in pushes])
        step, _ = step_of(PassiveAggressive(variant="pa"), t, y, loss, representation)
        hinges = [(loss - delta @ t, delta) for loss, delta in pushes]
        assert close_to_one_of(step, [h / max(delta @ delta, 1e-9) * delta if h > 1e-12 else 0 * delta for h, delta in hinges])


@each_loss
def test_pairs_of_tied_scores(loss):
    """Of the pairs, or the less relevant documents, that tie, any will do."""
    for t, y in tied_lists(RANKING_LOSSES[loss][2]):
        unit, behind = np.eye(len(t)), np.where(plain.better(y), t[None, :] - t[:, None], -np.inf)
        pairs = [unit[i] - unit[j] for i, j in np.argwhere(behind == behind.max())]
        step, lost = step_of(MaxPair(weighted=True), t, y, loss)
        assert close_to_one_of(step, [lost * pair for pair in pairs])
        step, _ = step_of(MaxPair(weighted=False), t, y, loss)
        assert close_to_one_of(step, [pair * (lost > 0) for pair in pairs])
        step, _ = step_of(ListNet(eta=1.0), t, y, loss)
        np.testing.assert_allclose(step, plain.softmax(y) - plain.softmax(t), atol=1e-15)
        if loss.startswith("ndcg") or loss == "ap":
            hinges = 1 + behind
            pushes = []
            for v, row, own in zip(RANKING_LOSSES[loss][1].weights(y), hinges, unit, strict=True):
                active = row.max() > 0 and lost > 0
                pushes.append([v * (own - unit[j]) for j in np.flatnonzero(row == row.max())] if active else [0 * own])
            step, _ = step_of(Slam(eta=1.0), t, y, loss)
            assert close_to_one_of(step, [np.sum(choice, axis=0) for choice in itertools.product(*pushes)])


def test_random_weights_of_mmp():
    """They are positive, on pairs in error, and sum to the cost."""
    rng, seen = np.random.default_rng(0), []
    for _ in range(30):
        y = np.array([1, 0, 0, 1, 0, 1])[rng.permutation(6)]
        model = label_ranker(MMP("normalised", "random"), "ap", average=False, fit_intercept=False)
        model.partial_fit([[1.0]], [y]).partial_fit([[1.0]], [1 - y])  # the pairs of the first label list are wrong now
        t = model.last_coef_[:, 0]
        E = plain.better(y) & (t[:, None] <= t[None, :])
        model.partial_fit([[1.0]], [y])
        step = model.last_coef_[:, 0] - t
        assert (step[E.any(axis=1)] > 0).all()
        assert (step[E.any(axis=0)] < 0).all()
        np.testing.assert_allclose(step[~(E.any(axis=1) | E.any(axis=0))], 0, atol=1e-15)
        np.testing.assert_allclose(step[y == 1].sum(), E.sum() / 9 if E.any() else 0)
        np.testing.assert_allclose(step.sum(), 0, atol=1e-12)
        seen.append(step / max(step.max(), 1e-9))
    assert len(np.unique(np.round(seen, 6), axis=0)) > 10


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", POSITIONAL)
def test_first_round_of_labels(loss, fit_intercept):
    """At zero weights every ranking ties."""
    rule = RANKING_LOSSES[loss][1]
    for _, y in tied_lists(RANKING_LOSSES[loss][2], 3):
        every, rep = plain.rankings(len(y)), plain.unit(plain.logarithmic, len(y))
        costs = rule.of(every, y)
        model = label_ranker(LossAugmented(), loss, average=False, fit_intercept=fit_intercept).partial_fit([[2.0]], [y])
        assert model.cumulative_loss_ == pytest.approx(costs.max())
        worst = [rep[plain.right_place(place, y)] - rep[place] for place in every[costs > costs.max() - 1e-12]]
        assert close_to_one_of(model.last_coef_[:, 0] / 2, worst)
        assert_close(model.last_intercept_, 2 * model.last_coef_[:, 0] if fit_intercept else np.zeros(len(y)))


def test_lists_that_cannot_be_wrong():
    """One document, or one grade: no loss, no step; identical documents: a loss, and no step."""
    for update in BY_COMPETITOR + PAIRWISE:
        model = ranker(update, "ndcg").partial_fit([[1.0, 2]], [3]).partial_fit([[1.0, 2], [0, 1], [1, 1]], [2, 2, 2])
        assert (model.t_, model.n_mistakes_, model.n_updates_, model.cumulative_loss_) == (2, 0, 0, 0)
        assert not model.coef_.any()


@pytest.mark.parametrize("sparse_rows", [False, True])
@each_loss
def test_identical_documents_leave_no_trace(loss, sparse_rows):
    """g2 = 0: neither a step nor an entry in the running means."""
    X, y = make_queries(RANKING_LOSSES[loss][2])
    x = np.repeat(np.array([[0.1, -1.7, 0.3, 2.3, 0, 1e3 / 7]]), 5, axis=0)
    relevance = [RANKING_LOSSES[loss][2][i] for i in (0, 1, 0, 1, 1)]
    for update in (Adaptive(), PassiveAggressive(variant="pa")):
        models = [learn(ranker(update, loss, average=False), X[:9], y[:9]) for _ in range(2)]
        mistakes, updates = models[0].n_mistakes_, models[0].n_updates_
        models[0].partial_fit(sparse.csr_matrix(x) if sparse_rows else x, relevance)
        assert (models[0].n_mistakes_, models[0].n_updates_) == (mistakes + 1, updates)
        for model in models:
            learn(model, X[9:], y[9:])
        np.testing.assert_array_equal(models[0].last_coef_, models[1].last_coef_)


@pytest.mark.parametrize("norm", ["l1", "group", "scaled", "rkhs"])
@pytest.mark.parametrize("sparse_rows", [False, True])
def test_identical_documents_take_no_step_under_any_norm(norm, sparse_rows):
    """What rounding leaves of a sum of equal rows is no direction."""
    x = np.repeat(np.random.default_rng(0).standard_normal((1, 6)), 5, axis=0)
    for update in (Adaptive(), PassiveAggressive(variant="pa")):
        model = PredtronRanker(norm=norm, update=update).partial_fit(
            sparse.csr_matrix(x) if sparse_rows else x, [2, 0, 1, 0, 1], qid=np.zeros(5)
        )
        assert (model.n_mistakes_, model.n_updates_) == (1, 0)


def test_right_rankings_cost_nothing_where_the_discount_is_flat():
    """To the last bit, or updates on mistakes would never end; precision at 4 knows no order of the first four."""
    y, flat = np.array([0.7, 0.3, 0.7, 1.1, 0, 0.1]), NDCG(k=4, gain="linear", discount=lambda j: 0 * j + 0.3)
    for order in itertools.permutations(range(4)):
        model = scored(-np.array([*order, 5.0, 4.0]), "ndcg").set_params(loss=flat, update=PerceptronUpdate())
        before = model.n_mistakes_
        assert model.partial_fit(np.eye(6), y).n_mistakes_ == before


# -------------------------------------------------------------------------------------------------------------- Kendall's tau


def pairs_of(t, y, target):
    """Loss of the competitor and direction by the definition: pairs with a lead below the target, not positive where it is 0."""
    active, total, direction = 0, 0, np.zeros(len(t))
    for i, j in itertools.product(range(len(t)), repeat=2):
        if y[i] > y[j]:
            total += 1
            if t[i] - t[j] < target or (target == 0 and t[i] == t[j]):
                active, direction[i], direction[j] = active + 1, direction[i] + 1, direction[j] - 1
    return active / total, direction / total


@pytest.mark.parametrize("m", [2, 3, 8, 33])
@pytest.mark.parametrize("spread", [0, 1, 3, 10])
def test_hinges_of_kendall_by_their_definition(m, spread):
    """Whole-numbered scores: ties, and leads that are exactly the target."""
    for seed in range(8):
        rng = np.random.default_rng([seed, m])
        t = rng.integers(-spread, spread + 1, m).astype(float)
        y = rng.integers(0, 4, m).astype(float) if seed % 2 else rng.permutation(m) / 2.0
        y[:2] = [0, 1]
        (lost, predicted), (active, augmented) = pairs_of(t, y, 0), pairs_of(t, y, 1)
        step, suffered = step_of(PerceptronUpdate(), t, y, "kendall")
        np.testing.assert_allclose(step, predicted, atol=1e-13)
        np.testing.assert_allclose(suffered, lost, atol=1e-13)
        half = (1 - kendall_tau(y, t)[0]) / 2  # of the held-out loss a tie is half a mistake
        assert scored(t, "kendall").sample_loss(np.eye(m), y, "one") == pytest.approx(half, abs=1e-14)
        step, _ = step_of(LossAugmented(), t, y, "kendall")
        np.testing.assert_allclose(step, augmented if lost > 0 else 0 * t, atol=1e-13)
        value = active - augmented @ t
        np.testing.assert_allclose(value, plain.KendallTau().hinges(t, y), atol=1e-12)
        step, _ = step_of(PassiveAggressive(variant="pa"), t, y, "kendall")
        length2 = augmented @ augmented
        np.testing.assert_allclose(step, value / length2 * augmented if value > 1e-12 and length2 > 0 else 0 * t, atol=1e-12)


def test_gradient_of_kendall():
    """Minus the direction is the gradient of the mean hinge, which is at least the loss."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        t, y, h = rng.standard_normal(7), rng.integers(0, 3, 7).astype(float), 1e-6
        y[:2] = [0, 1]
        step, lost = step_of(LossAugmented(), t, y, "kendall")
        hinges = plain.KendallTau().hinges
        assert hinges(t, y) >= lost
        gradient = [(hinges(t + h * e, y) - hinges(t - h * e, y)) / (2 * h) for e in np.eye(7)]
        np.testing.assert_allclose(-step, np.array(gradient) * (lost > 0), atol=1e-8)


def test_kendall_uses_no_representation():
    X, y = make_queries(GRADES)
    states = {repr(state(learn(ranker(Adaptive(), "kendall", name), X, y))) for name in POSITIONS}
    assert len(states) == 1


# ------------------------------------------------------------------------------------------- losses and measures of tied scores

TIED_LOSSES = {
    "ndcg": (NDCG(), 4),
    "ndcg@2": (NDCG(k=2), 4),
    "steps": (NDCG(gain=lambda y: y + 0.5, discount=lambda j: (4 - j // 2).clip(0)), 4),
    "ap": (AveragePrecision(), 2),
    "swapped pairs": (SwappedPairs(), 2),
    "zero-one": (RankingZeroOne(), 3),
    "kendall": (KendallTau(), 4),
}


@pytest.mark.parametrize(("loss", "grades"), TIED_LOSSES.values(), ids=TIED_LOSSES)
def test_losses_are_expectations(loss, grades):
    rng = np.random.default_rng(0)
    problem = loss.build(LogRank(), 5)
    for trial in range(60):
        y, scores = rng.integers(0, grades, 5).astype(float), rng.integers(0, 1 + trial % 4, 5).astype(float)
        labels = Relevances(y, np.array([0, 5], dtype=np.intp))
        # A little noise in all orders: the scores of each of these rankings are distinct.
        untied = [problem.losses(scores + 0.01 * np.array(noise), labels)[0] for noise in permutations(range(5))]
        assert problem.losses(scores, labels)[0] == pytest.approx(np.mean(untied), abs=1e-12), (y, scores)


def test_losses_of_pairwise_votes():
    y, scores = np.array([2.0, 1, 0]), np.zeros((1, 3))
    problem, labels = KendallTau().build(Pairwise(), 3), Relevances(y, np.array([0, 3], dtype=np.intp))
    assert problem.losses(scores, labels)[0] == 0.5
    assert problem.losses(np.array([[1.0, 1, 0]]), labels)[0] == pytest.approx(1 / 6)  # the last two labels tie


@pytest.mark.parametrize(
    ("loss", "measure"),
    [(NDCG(), ndcg), (AveragePrecision(), average_precision), (KendallTau(), lambda *given: (kendall_tau(*given) + 1) / 2)],
    ids=["ndcg", "ap", "kendall"],
)
def test_losses_and_measures_agree(loss, measure):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2 if isinstance(loss, AveragePrecision) else 4, (50, 20)).astype(float)
    scores = rng.integers(0, 4, y.shape).astype(float)
    found = loss.build(LogRank(), 20).losses(scores.ravel(), Relevances(y.ravel(), np.arange(0, 1001, 20)))
    np.testing.assert_allclose(1 - found, measure(y, scores), atol=1e-12)


def test_rankers_that_know_nothing():
    """Scores that are all equal are worth as much in any order of the rows; a round counts its worst order."""
    y, qid, X = np.tile([2, 1, 0, 0], 50), np.repeat(np.arange(50), 4), np.zeros((200, 1))
    model = PredtronRanker(random_state=0).fit(X, y, qid=qid)
    for order in (y, y.reshape(-1, 4)[:, ::-1].ravel()):
        assert model.score(X, order, qid=qid) == pytest.approx(mean_over_queries(ndcg, y, 0 * y, qid))
        np.testing.assert_allclose(model.sample_loss(X, order, qid=qid), 1 - model.score(X, order, qid=qid))
    assert 0.5 < model.score(X, y, qid=qid) < 0.9
    stream = PredtronRanker().partial_fit(X, y, qid=qid)
    assert stream.cumulative_loss_ == pytest.approx(50 * (1 - ndcg([2, 1, 0, 0], [1, 2, 3, 4])[0]))
    alike = y.reshape(-1, 4)[:, ::-1]
    labels = PredtronLabelRanker(cv=0).fit(np.eye(50, 2), 0 * alike)  # no ranking is wrong, and nothing is learned
    assert labels.score(np.eye(50, 2), alike) == pytest.approx(mean_over_queries(ndcg, y, 0 * y, qid))


@pytest.mark.parametrize("loss", [PrecisionAtK(k=3), RecallAtK(k=3), RecallAtK(k=0.5, rule="at_most")], ids=str)
def test_batches_at_k(loss):
    """The rows at the border of the best k are in random order, as far as the loss is concerned."""
    rng = np.random.default_rng(0)
    X, y, groups = rng.integers(0, 2, (60, 1)).astype(float), rng.integers(0, 2, 60), np.repeat(np.arange(10), 6)
    y[::6] = 1
    model = PredtronBipartiteClassifier(loss=loss, random_state=0).fit(X, y, groups=groups)
    found = model.sample_loss(X, y, groups=groups)
    shuffled = [rng.permutation(6) + 6 * np.repeat(np.arange(10), 6).reshape(10, 6) for _ in range(2000)]
    for rows in shuffled[:3]:
        np.testing.assert_allclose(model.sample_loss(X[rows.ravel()], y[rows.ravel()], groups=groups), found, atol=1e-12)
        assert model.score(X[rows.ravel()], y[rows.ravel()], groups=groups) == pytest.approx(model.score(X, y, groups=groups))
    truth, losses, right = y.reshape(10, 6), np.zeros(10), 0.0
    for rows in shuffled:
        on = model.predict(X[rows.ravel()], groups=groups).reshape(10, 6)
        true = np.take_along_axis(truth, rows % 6, axis=1)
        a, p, t = (on & true).sum(axis=1), on.sum(axis=1), true.sum(axis=1)
        losses += loss.evaluate(a, p - a, t - a, 6 - p - t + a)
        right += (on == true).mean()
    np.testing.assert_allclose(found, losses / 2000, atol=0.05)
    assert model.score(X, y, groups=groups) == pytest.approx(right / 2000, abs=0.01)
