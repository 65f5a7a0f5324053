"""What the theory says of mixtures: the potential falls, and the mixed loss is under the bound of one learner."""

import copy

import numpy as np
import pytest
from cases import name, one_learner
from mixing_cases import add_all

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron._core.mixable_state import advance, contribution
from sklearn_predtron.mixing import ParameterMixing
from sklearn_predtron.theory import largest_margin, loss_constants, margin
from sklearn_predtron.updates import Adaptive, LossAugmented, LossDriven, MaxPair, PassiveAggressive, PerceptronUpdate, Slam
from tests.theory.test_margins import FAMILIES, NORMS, family
from tests.theory.test_theorems import orthogonal


def twice_the_potential(model, state):
    """Return 2 psi*(Theta) = <Theta, W>, which is less 2 F(Theta) by what is linear in Theta, and a constant."""
    learner = copy.deepcopy(model)._model.learner
    learner.adopt(state, False)
    W = np.asarray(learner.weights.primal(learner.weights.last()[0]))
    return (state["mean"]["weights.weights.theta"][:, : W.shape[1]] * W).sum()


@pytest.mark.parametrize("norm", NORMS, ids=name)
def test_a_merge_lowers_the_potential(norm):
    """F is convex in what is mixed: that of the mixture is at most the mean of those of the shards, by their rounds."""
    random = np.random.default_rng(0)
    X, y = random.standard_normal((200, 6)), random.integers(0, 4, 200)
    model = PredtronClassifier(norm=norm, average=False, fit_intercept=False)
    model.partial_fit(X[:20], y[:20], classes=range(4))
    before, shards = model._model.learner.export(), []
    for part in (slice(20, 30), slice(30, 100), slice(100, 200)):
        shard = copy.deepcopy(model)
        shard._model.learner.adopt(before, False)
        after = shard.partial_fit(X[part], y[part])._model.learner.export()
        shards.append((part.stop - part.start, copy.deepcopy(after), contribution(before, after)))
    mixed = advance(before, add_all([learned for *_, learned in shards]))
    of_mixture = twice_the_potential(model, mixed)
    of_shards = sum(n * twice_the_potential(model, after) for n, after, _ in shards) / 180
    assert 0 < of_mixture <= of_shards * (1 + 1e-12)
    assert of_mixture < 0.999 * of_shards  # they have learned different things


def link(theta, q):
    """Return W = grad |Theta|_q^2 / 2."""
    length = np.linalg.norm(theta, q)
    return np.sign(theta) * np.abs(theta) ** (q - 1) * length ** (2 - q)


def dual_of(w, q):
    return link(w, q / (q - 1))


@pytest.mark.parametrize(("q", "least"), [(2.0, 0.0), (3.0, 0.01), (8.0, 0.1), (20.0, 0.1)])
def test_primal_weights_must_not_be_mixed(q, least):
    """In how many of random pairs F rises above the mean of both: never where dual weights are mixed."""
    random = np.random.default_rng(0)
    rises = {"dual": 0, "primal": 0}
    for _ in range(500):
        one, other, u = random.standard_normal((3, 4)) * random.lognormal(0, 1, (3, 4))
        psi_u = np.linalg.norm(u, q / (q - 1)) ** 2 / 2

        def potential(theta, u=u, psi_u=psi_u):
            return psi_u + np.linalg.norm(theta, q) ** 2 / 2 - theta @ u

        mean = (potential(one) + potential(other)) / 2
        mixtures = {"dual": (one + other) / 2, "primal": dual_of((link(one, q) + link(other, q)) / 2, q)}
        for which, theta in mixtures.items():
            rises[which] += potential(theta) > mean * (1 + 1e-9)
    assert rises["dual"] == 0
    assert rises["primal"] >= least * 500
    assert least > 0 or rises["primal"] == 0


def updates_of(which):
    ranked = which in ("label ranking", "pairs of labels", "queries", "pairs")
    ways = [Adaptive(), LossAugmented(eta="theory"), LossDriven(), PerceptronUpdate(), PassiveAggressive()]
    return ways + ([MaxPair(), Slam()] if ranked else [])


def shards_of(X, y, given, cuts):
    """Return functions of parts of different sizes; queries stay together."""
    ids = given.get("qid")
    order = np.arange(len(y)) if ids is None else np.argsort(ids, kind="stable")
    parts = np.split(order, cuts)
    return [lambda part=part: (X[part], y[part], {n: values[part] for n, values in given.items()}) for part in parts]


@pytest.mark.parametrize("which", FAMILIES)
def test_the_mixed_loss_is_within_the_bound(which):
    """On separable data, of one shard, of two and of eight, and of shards of different sizes."""
    for i, update in enumerate(updates_of(which)):
        model, X, y, given = family(which)
        one_learner(model)
        ranking = which in ("label ranking", "pairs of labels", "queries", "pairs")
        norm = NORMS[i % len(NORMS)] if which not in ("shared", "binary") else "l2"
        norm = "l1" if which in ("queries", "pairs") and getattr(norm, "alias", "") in ("trace", "group") else norm
        model.set_params(update=update, norm=norm, average=False)
        gamma = margin(model, X, y, *weights_of(largest_margin(model, X, y, norm="l1", **given)), **given)
        c_L = loss_constants("ndcg", y=y, **given)[0] if ranking and not update.pairwise else None
        classes = None if ranking or np.ndim(y) == 2 else np.unique(y)
        how = {"rounds": 4, "random_state": 0}
        mixtures = [ParameterMixing(model, shards=n, **how).fit(X, y, **given) for n in (1, 2, 8)]
        mixtures.append(ParameterMixing(model, **how).fit(shards_of(X, y, given, [6, 18]), classes=classes))
        for mixed in mixtures:
            R = radius_of(mixed.estimator_, X, given, update, which)
            bound = mixed.loss_bound(gamma, R, c_L=c_L)
            assert 0 < mixed.mixed_loss_ <= bound * (1 + 1e-9), (which, update, norm, mixed.n_shards_)


def test_the_bound_of_a_mixture_is_not_vacuous():
    """Orthogonal rows are mistakes all; of shards of the same rows it is their mean, and not their sum, that the bound is of."""
    X, y, _, R = orthogonal(25)
    estimator = PredtronBinaryClassifier(norm="l2", update="perceptron", fit_intercept=False)
    gamma = largest_margin(estimator, np.vstack([X, -X]), np.append(y, 1 - y)).margin
    mixed = ParameterMixing(estimator, rounds=3).fit([lambda: (X, y)] * 3, classes=[0, 1])
    assert mixed.mixed_loss_ == pytest.approx(25)
    assert mixed.estimator_.cumulative_loss_ == 75
    assert 25 <= mixed.loss_bound(gamma, R) * (1 + 1e-9) <= 25 * 1.1


def weights_of(largest):
    return largest.coef, largest.intercept if largest.intercept.any() else None


def radius_of(model, X, given, update, which):
    """Return the largest length of a row, or of a query's rows, in the dual norm."""
    weights = model._model.learner.weights
    q = getattr(weights, "q", 2.0) if type(weights).__name__ != "TraceWeights" else 2.0
    if given and not update.pairwise:
        return max(np.linalg.norm(np.linalg.norm(X[given["qid"] == i], axis=0), q) for i in np.unique(given["qid"]))
    return (np.linalg.norm(X, q, axis=1).max() ** 2 + (which == "shared")) ** 0.5
