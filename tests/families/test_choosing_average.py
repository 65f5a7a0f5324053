"""average="auto": the linear average predicts unless bets say that the last iterate or one that forgets loses less."""

import pickle

import numpy as np
import pytest
from cases import Hours
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from sklearn_predtron import (
    Predtron,
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron.losses import Reject
from sklearn_predtron.metrics import progressive_val_score
from sklearn_predtron.norms import RKHS, PNorm
from sklearn_predtron.problems._problem_queries import competitor_of
from sklearn_predtron.updates import PassiveAggressive, Subgradient
from tests.inside import predicting_scores, reading_of

HALF_LIFE = 100.0
FIXED = [False, "linear", HALF_LIFE]  # the candidates, as the parameter says them
STAKES = np.array([0.5, 0.1])
FAMILIES = [
    PredtronBinaryClassifier(),
    PredtronClassifier(),
    PredtronOrdinalClassifier(),
    PredtronOrdinalClassifier(representation="shared"),
    PredtronMultilabelClassifier(loss="f1"),
    PredtronLabelRanker(),
    PredtronRanker(),
]
# Not "scaled": the scores of a round know the statistics of its own row, which no prediction before it does.
NORMS = ["l2", "l1", "group", "trace", RKHS(gamma=0.2), RKHS(gamma=0.2, budget=40)]


def flipping(model, n=240, p=6, wide=None, seed=0):
    """Return rows, or queries of three, whose truth turns round in the middle, with labels and what the first call needs."""
    random = np.random.default_rng(seed)
    ranker = isinstance(model, PredtronRanker)
    X = random.standard_normal((3 * n if ranker else n, wide or p))
    scores = X[:, :3] + 0.8 * random.standard_normal((len(X), 3))
    scores[len(X) // 2 :] *= -1
    if isinstance(model, (PredtronClassifier, PredtronOrdinalClassifier)):
        return X, scores.argmax(axis=1), {"classes": [0, 1, 2]}
    if isinstance(model, PredtronBinaryClassifier):
        return X, (scores[:, 0] > 0).astype(int), {"classes": [0, 1]}
    if ranker:
        return X, (scores[:, 0] > 0).astype(int) + (scores[:, 0] > 1), {}
    return X, (scores > 0).astype(int), {}


def rounds(model, X, y):
    """Yield the rows of each round, and their labels."""
    size = 3 if isinstance(model, PredtronRanker) else 1
    for i in range(0, X.shape[0], size):
        yield X[i : i + size], y[i : i + size]


def learn(model, rows, labels, **more):
    if isinstance(model, PredtronRanker):
        more["qid"] = "one"
    return model.partial_fit(rows, labels, **more)


def scores_of(model, rows):
    return model.predict(rows) if isinstance(model, PredtronRanker) else predicting_scores(model, rows)


def loss_of(model, rows, labels):
    """What a maximiser of the scores loses, at worst."""
    if isinstance(model, PredtronRanker):
        read = reading_of(model, rows, labels, qid="one").batch.labels
    else:
        read = reading_of(model, rows, labels).batch.labels
    return sum(competitor_of(model._model.problem, read, 0, scores_of(model, rows), False)[:2])


def fades(every):
    return 0.5 ** (every / (500 if every == 1 else 1000))


class Bets:
    """On the differences of the losses of the linear average and another candidate, in plain Python."""

    def __init__(self):
        self.differences, self.for_it, self.against_it = [], np.ones(2), np.ones(2)

    def place(self, difference):
        before = self.differences
        self.differences = [*before, difference]
        unit = np.sqrt(np.sum(np.square(before)) / max(len(before), 1))
        if unit > 0:
            capped = np.clip(difference / unit, -1.9, 1.9)
            self.for_it = np.maximum(self.for_it, 1) * (1 + STAKES * capped) if difference else self.for_it
            self.against_it = np.maximum(self.against_it, 1) * (1 - STAKES * capped) if difference else self.against_it


def next_leader(leader, lately, bets, t):
    """Return the candidate that predicts after round t."""
    bound = max(5, t / 400)
    other = 2 if lately[2] <= lately[0] else 0
    if leader != 1 and lately[1] <= lately[leader] and bets[leader].against_it.mean() > bound / 4:
        for one in bets.values():
            one.for_it = np.ones(2)
        return 1
    if leader != 1:
        return other
    better = [which for which in (other, 2 - other) if bets[which].for_it.mean() > bound]
    for one in bets.values() if better else ():
        one.against_it = np.ones(2)
    return better[0] if better else 1


def has_one_score(model):
    """Return whether a row has one score, or one direction: the norms of several take none such."""
    return isinstance(model, (PredtronBinaryClassifier, PredtronRanker)) or model.representation == "shared"


@pytest.mark.parametrize(
    ("model", "norm"),
    [(model, norm) for model in FAMILIES for norm in NORMS if not (has_one_score(model) and norm in ("group", "trace"))],
    ids=lambda part: type(part).__name__[8:] + str(part.representation)[:6] if hasattr(part, "representation") else str(part),
)
def test_the_candidate_that_bets_have_found_predicts(model, norm):
    """Against three models that average in one way each, round by round."""
    check_candidates(model, norm)


@pytest.mark.parametrize("norm", ["l2", "l1", "trace"])
def test_the_same_where_steps_shrink_the_weights(norm):
    check_candidates(PredtronClassifier(update=Subgradient(alpha=0.02)), norm)


@pytest.mark.parametrize("loss", ["ndcg", "ap", "swapped_pairs", "kendall_tau", "ranking_zero_one"])
def test_the_same_of_queries_with_documents_that_are_tied(loss):
    """The candidates' losses are found from the order of one another, and are those of their worst maximisers."""
    model = PredtronRanker(loss=loss)
    X, y, _ = flipping(model)
    check_candidates(model, "l2", data=(np.rint(X), np.minimum(y, 1), {}))


@pytest.mark.parametrize("drawing", [3, 6, 9])
def test_queries_that_drift_are_followed(drawing):
    """Streams have fewer queries than rows: where candidates are charged in some only, the better one comes late."""
    random = np.random.default_rng(drawing)
    n, documents, p = 1500, 8, 20
    w = random.standard_normal(p) + np.cumsum(0.03 * random.standard_normal((n * documents, p)), axis=0)[::documents]
    X = random.standard_normal((n, documents, p))
    relevance = np.clip(np.rint(np.einsum("nip,np->ni", X, w) + 1.5 * random.standard_normal((n, documents))), 0, 4)
    found = {}
    for average in (None, "linear", HALF_LIFE, False):
        stream = zip(X, relevance, strict=True)
        found[average] = progressive_val_score(PredtronRanker(average=average), stream)
    best = min(found[average] for average in FIXED)
    assert found[None] < 1.04 * best, found[None] / best


def check_candidates(model, norm, data=None):
    X, y, first = flipping(model) if data is None else data
    auto, *fixed = [clone(model).set_params(norm=norm, average=average) for average in (None, *FIXED)]
    lately, bets, leader, seen, suffered = np.zeros(3), {0: Bets(), 2: Bets()}, 1, set(), []
    for rows, labels in rounds(model, X, y):
        if auto.__sklearn_is_fitted__():
            every = auto._model.learner.average.every
            found, expected = scores_of(auto, rows), scores_of(fixed[leader], rows)
            assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
            assert auto.average_ == FIXED[leader]
            if auto.t_ % every == 0:
                losses = [loss_of(one, rows, labels) for one in fixed]
                suffered.append(losses[leader] - losses[0])
                lately = fades(every) * lately + losses
                for which, one in bets.items():
                    one.place(losses[1] - losses[which])
                leader = next_leader(leader, lately, bets, auto.t_ + 1)
                seen.add(leader)
        for one in (auto, *fixed):
            learn(one, rows, labels, **first)
        if not suffered:  # at zero weights all lose alike
            suffered.append(0.0)
            lately += auto.progressive_loss_
            for one in bets.values():
                one.place(0.0)
        first = {}
    assert len(seen) > 1, "no candidate has ever taken over"
    assert auto.progressive_loss_ == pytest.approx(fixed[0].cumulative_loss_ / auto.t_ + np.mean(suffered))
    assert auto.t_ == fixed[0].t_ and auto.cumulative_loss_ == fixed[0].cumulative_loss_


@pytest.mark.parametrize("norm", ["l2", "scaled", "l1", "group", "trace"])
@pytest.mark.parametrize("wide", [6, 900])
def test_batches_and_rows_choose_alike(norm, wide):
    """Where candidates are charged in each round, and in some: dense and sparse, in any split, through pickles."""
    X, y, first = flipping(PredtronClassifier(), wide=wide)
    for rows in (X, sparse.csr_array(X)):
        whole = PredtronClassifier(norm=norm).partial_fit(rows, y, **first)
        assert whole._model.learner.average.every == (1 if wide == 6 else 8)
        split = PredtronClassifier(norm=norm)
        for begin, end in ((0, 1), (1, 3), (3, 100), (100, 101), (101, 240)):
            split.partial_fit(rows[begin:end], y[begin:end], **first)
            split = pickle.loads(pickle.dumps(split))
        for attribute in ("coef_", "intercept_", "last_coef_", "progressive_loss_", "average_"):
            assert_array_equal(getattr(split, attribute), getattr(whole, attribute))


def test_fit_averages_linearly_and_a_stream_goes_on_from_there():
    X, y, _ = flipping(PredtronClassifier())
    plain = PredtronClassifier(average="linear", random_state=0).fit(X, y)
    model = PredtronClassifier(random_state=0).fit(X, y)
    assert model.average_ == "linear"
    assert_array_equal(model.coef_, plain.coef_)
    with pytest.raises(AttributeError, match="average='linear' predicted is not followed"):
        model.progressive_loss_  # noqa: B018
    model.partial_fit(X[:1], y[:1])
    plain.partial_fit(X[:1], y[:1])
    assert_array_equal(model.coef_, plain.coef_)
    for _ in range(3):  # of the other half's truth
        model.partial_fit(X[120:], y[120:])
    assert model.average_ != "linear"
    model.set_params(warm_start=True, max_iter=1).fit(X, y)
    assert model.average_ == "linear"


@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_a_second_average_begins_without_a_copy_of_the_weights(norm):
    """Which may be wide, with few pages resident; and if nothing was learned it is gone again."""
    X, y, _ = flipping(PredtronClassifier())
    model = PredtronClassifier(norm=norm, random_state=0).fit(X[:60], y[:60])
    learner, before = model._model.learner, pickle.dumps(model)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((1, X.shape[1]), np.nan), y[:1])
    assert model._model.learner is learner and pickle.dumps(model) == before
    assert model.partial_fit(X[60:], y[60:])._model.learner.weights is learner.weights
    assert learner.weights.averaging == 2


def test_an_average_may_be_changed_in_mid_stream():
    X, y, first = flipping(PredtronClassifier())
    model = PredtronClassifier(average=False).partial_fit(X[:80], y[:80], **first)
    assert model.progressive_loss_ == model.cumulative_loss_ / 80 and model.average_ is False
    model.set_params(average="auto").partial_fit(X[80:], y[80:])
    assert model._model.learner.average.charged == 160
    model.set_params(update__kappa=0.5) if hasattr(model.update, "kappa") else model.set_params(update="perceptron")
    model.partial_fit(X[:10], y[:10])
    assert model._model.learner.average.charged == 170  # what they have lost so far is kept
    for average in ("uniform", 7.0, False):
        model.set_params(average=average).partial_fit(X[:10], y[:10])
        assert model.average_ == average
    assert_array_equal(model.coef_, model.last_coef_)


@pytest.mark.parametrize("average", [None, False])
def test_without_a_round_there_is_no_mean_loss(average):
    X, y, first = flipping(PredtronClassifier())
    model = PredtronClassifier(average=average).partial_fit(X[:3], y[:3], sample_weight=np.zeros(3), **first)
    assert model.t_ == 0 and np.isnan(model.progressive_loss_)


@pytest.mark.parametrize("model", [*(PredtronClassifier(norm=norm) for norm in [*NORMS, "scaled"]), FAMILIES[3]], ids=str)
@pytest.mark.parametrize("average", ["linear", HALF_LIFE])
def test_an_average_that_is_fixed_goes_on_from_the_candidate(model, average):
    X, y, first = flipping(model)
    fixed, chosen = clone(model).set_params(average=average), clone(model)
    for begin, end in ((0, 200), (200, 240)):
        fixed.partial_fit(X[begin:end], y[begin:end], **first)
        chosen.partial_fit(X[begin:end], y[begin:end], **first)
        chosen.set_params(average=average)
    assert_allclose(predicting_scores(chosen, X[:5]), predicting_scores(fixed, X[:5]), rtol=1e-9)


def test_explicit_auto_charges_rows_that_are_new():
    """One epoch in the given order is a stream, if no statistics run."""
    X, y, first = flipping(PredtronClassifier())
    stream = PredtronClassifier(norm="l2").partial_fit(X, y, **first)
    epoch = PredtronClassifier(norm="l2", average="auto", shuffle=False, max_iter=1).fit(X, y)
    assert_array_equal(epoch.coef_, stream.coef_)
    assert epoch.progressive_loss_ == stream.progressive_loss_
    assert PredtronClassifier(average="auto", shuffle=False, max_iter=3).fit(X, y)._model.learner.average.charged == len(X)


def test_a_round_that_fails_charges_nobody():
    X, y, first = flipping(PredtronClassifier())
    model = PredtronClassifier().partial_fit(X, y, **first)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((1, X.shape[1]), np.nan), y[:1])
    assert pickle.dumps(model) == before


def test_rejection_costs_little_where_truth_turns_round():
    """The recorded scores are those of the candidate that leads."""
    X, y, first = flipping(PredtronBinaryClassifier(), n=4000)
    costs = {}
    for average in (None, "linear"):
        model = PredtronBinaryClassifier(reject=Reject(0.2, -1), average=average).partial_fit(X, y, **first)
        costs[average] = model.sample_loss(X[3000:], y[3000:]).mean()
    assert costs[None] < 0.15 < costs["linear"]


def test_a_problem_in_python_chooses_too():
    X, y = np.random.default_rng(0).standard_normal((64, 2)), np.arange(64) % 12
    model = Predtron(Hours()).partial_fit(X, y)
    fixed = [Predtron(Hours(), average=average).partial_fit(X, y) for average in FIXED]
    assert 1 < model.progressive_loss_ < 6
    assert_array_equal(model.coef_, fixed[FIXED.index(model.average_)].coef_)


# --------------------------------------------------------------------------------------- an average that forgets within a round

PRIMAL_NORMS = ["l2", "scaled", PNorm(q=6.0), "group", "trace"]
ASK = Reject(cost=0.3, label=-1)
WITH_DECISIONS = [
    (PredtronBinaryClassifier, {"reject": ASK}),
    (PredtronBinaryClassifier, {"decision": "f1"}),
    (PredtronClassifier, {"reject": ASK}),
    (PredtronOrdinalClassifier, {}),
    (PredtronMultilabelClassifier, {"decision": "macro_f1"}),
]
EXTREMES = np.array([1.0, 1e-300, 1e300, 1e-12, 3.0, 1e-300, 0.5, 1e150])


def data(Estimator, rng):
    X = rng.standard_normal((40, 4))
    if Estimator is PredtronMultilabelClassifier:
        return X, (rng.random((40, 3)) < 0.4).astype(int), None
    n = 2 if Estimator is PredtronBinaryClassifier else 3
    return X, rng.integers(0, n, 40), range(n)


@pytest.mark.parametrize("half_life", [0.001, 0.0001])
@pytest.mark.parametrize("norm", PRIMAL_NORMS, ids=str)
@pytest.mark.parametrize(("Estimator", "parameters"), WITH_DECISIONS)
def test_it_is_the_last_iterate(Estimator, parameters, norm, half_life):
    X, y, classes = data(Estimator, np.random.default_rng(0))
    model = Estimator(average=half_life, norm=norm, update=PassiveAggressive(), **parameters)
    assert has_fit_parameter(model, "sample_weight")
    for round_ in range(5):
        now = slice(8 * round_, 8 * round_ + 8)
        model.partial_fit(X[now], y[now], classes=classes, sample_weight=np.roll(EXTREMES, round_))
        np.testing.assert_allclose(model.coef_, model.last_coef_, rtol=1e-9, atol=1e-12)
        loaded = pickle.loads(pickle.dumps(model))
        assert np.array_equal(loaded.predict(X), model.predict(X))
        model = loaded if round_ % 2 else model
    assert np.abs(model.coef_).max() > 0
