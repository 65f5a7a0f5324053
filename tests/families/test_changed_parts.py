"""Parts that are changed in mid-stream, subclasses of the public ones among them: what is kept, dropped and refused."""

import pickle

import numpy as np
import pytest
from cases import make_data

from sklearn_predtron import PredtronClassifier, PredtronLabelRanker, PredtronRanker
from sklearn_predtron.datasets import make_ranking_queries
from sklearn_predtron.losses import NDCG, CostMatrix, ZeroOne
from sklearn_predtron.norms import L2, RKHS, Group, PNorm, Trace
from sklearn_predtron.updates import MMP, Adaptive, PerceptronUpdate, Slam, Subgradient

X, Y = make_data(3, noise=1.0)
FIRST, REST = slice(0, 45), slice(45, None)


def started(**settings):
    return PredtronClassifier(**settings).partial_fit(X[FIRST], Y[FIRST], classes=[0, 1, 2])


def learned_on(model, *, by_row=False):
    for i in range(45, len(X)) if by_row else [REST]:
        model.partial_fit(X[i : i + 1] if by_row else X[i], Y[i : i + 1] if by_row else Y[i])
    return model


# ----------------------------------------------------------------------------------------------------------------- updates


class Renamed(Adaptive):
    """The same compiled rule."""


class Delegating(PerceptronUpdate):
    """The compiled rule of another public update."""

    def build(self, problem):
        return Adaptive().build(problem)


class Foreign(Adaptive):
    """Another compiled rule than that of its base."""

    def build(self, problem):
        return PerceptronUpdate(eta=0.5).build(problem)


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("norm", ["l2", "l1", "scaled", "rkhs"])
@pytest.mark.parametrize("update", [Renamed(), Delegating(), Adaptive(kappa=1.0)], ids=str)
def test_the_state_of_an_update_is_kept_where_the_compiled_rule_is_the_same(update, norm, by_row):
    model = learned_on(started(norm=norm).set_params(update=update), by_row=by_row)
    whole = learned_on(started(norm=norm), by_row=by_row)
    assert model._model.learner.update.state() == whole._model.learner.update.state()
    np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))
    assert (model.t_, model.n_updates_, model.cumulative_loss_) == (whole.t_, whole.n_updates_, whole.cumulative_loss_)


@pytest.mark.parametrize("other", ["perceptron", Foreign(), Subgradient()], ids=str)
def test_another_rule_begins_without_the_state(other):
    model = started()
    before = model._model.learner.update.state()
    model.set_params(update=other).partial_fit(X[45:46], Y[45:46])
    assert model._model.learner.update.state() is None
    back = model.set_params(update="adaptive").partial_fit(X[46:], Y[46:])
    assert back._model.learner.update.state()[1] < len(X) - 46 + 1 and back._model.learner.update.state() != before


def test_a_rule_begins_with_the_weights_so_far():
    plain = started(norm="l2", average=False, intercept_scaling=1.0)
    W, b = plain.last_coef_.copy(), plain.last_intercept_.copy()
    plain.set_params(update=PerceptronUpdate(eta=0.5))
    foreign = pickle.loads(pickle.dumps(plain)).set_params(update=Foreign())
    for i in range(45, len(X)):
        scores = W @ X[i] + b
        worst = max((k for k in range(3) if k != Y[i]), key=lambda k: scores[k])
        if scores[worst] >= scores[Y[i]]:
            for k, sign in ((Y[i], 0.5), (worst, -0.5)):
                W[k] += sign * X[i]
                b[k] += sign
    for one in (learned_on(plain), learned_on(foreign)):
        np.testing.assert_allclose(one.last_coef_, W, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(one.last_intercept_, b, rtol=1e-9, atol=1e-12)


class OwnSlam(Slam):
    """The same compiled rule."""


class OwnMMP(MMP):
    """The same compiled rule."""


def test_the_state_of_updates_of_rankings_is_kept():
    documents, relevance, qid = make_ranking_queries(40, random_state=0)
    half = qid < 20
    for update, own in [(Slam(), OwnSlam()), (Slam(eta="invsqrt"), OwnSlam(eta="invsqrt"))]:
        models = [PredtronRanker(update=update).partial_fit(documents[half], relevance[half], qid=qid[half]) for _ in range(2)]
        models[1].set_params(update=own)
        for model in models:
            model.partial_fit(documents[~half], relevance[~half], qid=qid[~half])
        assert models[0]._model.learner.update.state() == models[1]._model.learner.update.state()
        np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    sets = np.random.default_rng(0).integers(0, 2, (len(X), 4))
    models = [PredtronLabelRanker(update=MMP(weights="random")).partial_fit(X[FIRST], sets[FIRST]) for _ in range(2)]
    models[1].set_params(update=OwnMMP(weights="random"))
    for model in models:
        model.partial_fit(X[REST], sets[REST])
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


# ------------------------------------------------------------------------------------------------------------------- norms


class Heavier(L2):
    """Without parameters and without an alias of its own, but with other weights."""

    def build(self, score_map, p, **how):
        return PNorm(q=6).build(score_map, p, **how)


class SamePNorm(PNorm):
    """Nothing of its own."""


CHANGED_NORMS = [
    (L2(), Heavier(), "Heavier"),
    ("l2", Heavier(), "Heavier"),
    (Heavier(), "l2", "L2"),
    (PNorm(q=4), PNorm(q=8), "PNorm"),
    (PNorm(q=4), SamePNorm(q=4), "SamePNorm"),
    (PNorm(q=4), Group(q=4), "Group"),
    (Group(q=3), Group(q=4), "Group"),
    (Trace(q=3), Trace(q=4), "Trace"),
    ("rkhs", RKHS(gamma=0.3), "RKHS"),
]


EQUAL_NORMS = [("l2", L2()), (PNorm(q=4), PNorm(q=4.0)), (SamePNorm(), SamePNorm()), (RKHS(), "rkhs")]


@pytest.mark.parametrize(("first", "second"), EQUAL_NORMS, ids=str)
def test_an_equal_norm_goes_on(first, second):
    for copied in (lambda model: model, lambda model: pickle.loads(pickle.dumps(model))):
        model = learned_on(copied(started(norm=first)).set_params(norm=second))
        np.testing.assert_array_equal(model.decision_function(X), learned_on(started(norm=first)).decision_function(X))


# ------------------------------------------------------------------------------------------------------------------ losses


class Dear(ZeroOne):
    """Costs under the alias of its base."""

    def matrix(self, classes):
        return 7.0 * (1 - np.eye(len(classes)))


SEVENS = 7.0 * (1 - np.eye(3))
PAIRS = {(i, j): 7.0 for i in range(3) for j in range(3) if i != j}


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("loss", [Dear(), CostMatrix(SEVENS), PAIRS], ids=["subclass", "costs", "pairs"])
def test_a_loss_takes_effect_at_once_and_the_sum_goes_on(loss, by_row):
    model = started(update="perceptron")
    before, mistakes = model.cumulative_loss_, model.n_mistakes_
    wrong = model.sample_loss(X, Y)
    model.set_params(loss=loss)
    np.testing.assert_array_equal(model.sample_loss(X, Y), 7 * wrong)
    learned_on(model, by_row=by_row)
    assert model.cumulative_loss_ - before == 7 * (model.n_mistakes_ - mistakes) > 0
    assert model.n_mistakes_ == learned_on(started(update="perceptron")).n_mistakes_


def test_a_loss_of_rankings_takes_effect_at_once():
    class Top(NDCG):
        """The alias of its base, and another k."""

        def __init__(self):
            super().__init__(k=1)

    documents, relevance, qid = make_ranking_queries(40, random_state=0)
    half = qid < 20
    models = [PredtronRanker().partial_fit(documents[half], relevance[half], qid=qid[half]) for _ in range(3)]
    models[1].set_params(loss=Top())
    models[2].set_params(loss=NDCG(k=1))
    for model in models:
        model.partial_fit(documents[~half], relevance[~half], qid=qid[~half])
    np.testing.assert_array_equal(models[1].coef_, models[2].coef_)
    assert models[1].cumulative_loss_ == models[2].cumulative_loss_ != models[0].cumulative_loss_
