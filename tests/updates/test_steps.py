"""Steps of the updates against their formulas, round by round, without an intercept or an average."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_predtron import PredtronClassifier
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.updates import Adaptive, LossAugmented, LossDriven, PassiveAggressive, PerceptronUpdate, Subgradient, Update

COSTS = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 0.5], [1.0, 3.0, 0.0]])
LEAST, MOST = COSTS[COSTS > 0].min(), COSTS.max()
WEIGHT = np.tile([1.0, 2.0, 0.5], 20)


def predicted(s, y, W):
    """The maximiser of the score; of several the one that loses most, as before the first step."""
    best = np.flatnonzero(s == s.max())
    return best[COSTS[y, best].argmax()]


def augmented(s, y, W):
    """The maximiser of loss plus score; the right prediction, if it is one."""
    total = COSTS[y] + s
    return y if total[y] == total.max() else int(total.argmax())


def hinge_of(s, y, sigma, width):
    return width + s[sigma] - s[y]


class Formula:
    """A plain learner: the competitor, the size of the step, and the shrinkage before it."""

    def __init__(self, competitor, size, shrinkage=lambda t: 1.0):
        self.competitor, self.size, self.shrinkage = competitor, size, shrinkage
        self.W, self.t, self.mean, self.logs, self.g2 = np.zeros((3, 4)), 0, 0.0, [], 0.0

    def learn(self, x, y, weight):
        self.t += 1
        self.mean += (weight - self.mean) / self.t
        self.g2 = max(self.g2, 2 * x @ x)
        s = self.W @ x
        sigma = self.competitor(s, y, self.W)
        size = self.size(self, s, y, sigma, 2 * x @ x, weight / self.mean)
        self.W = self.shrinkage(self.t) * self.W
        self.W[sigma] -= size * x
        self.W[y] += size * x


def on_mistakes(step):
    """A step where the prediction loses."""
    return lambda self, s, y, sigma, g2, weight: weight * step(COSTS[y, sigma]) * (COSTS[y, predicted(s, y, None)] > 0)


def by_the_theorem(step):
    """A step where the prediction loses, divided by D^2 R^2, the largest g2 so far."""
    return lambda self, *args: on_mistakes(lambda loss: step(loss) / self.g2)(self, *args)


def passive_aggressive(size, delta=1.0, constant=False):
    def step(self, s, y, sigma, g2, weight):
        hinge = hinge_of(s, y, sigma, delta * (1 if constant else COSTS[y, sigma]))
        return size(hinge, g2, weight) if sigma != y and hinge > 0 else 0.0

    return step


def adaptive(kappa):
    def step(self, s, y, sigma, g2, weight):
        hinge = hinge_of(s, y, sigma, COSTS[y, sigma])
        if sigma == y or hinge <= 0:
            return 0.0
        self.logs.append(np.log(COSTS[y, sigma] / g2))
        return min(weight * kappa * np.exp(np.mean(self.logs)), hinge / g2)

    return step


def fixed(rate):
    return lambda self, s, y, sigma, g2, weight: weight * rate(self.t) * (sigma != y)


UPDATES = {
    LossAugmented(eta=0.5): (augmented, on_mistakes(lambda loss: 0.5)),
    LossAugmented(eta="theory"): (augmented, by_the_theorem(lambda loss: LEAST)),
    PerceptronUpdate(eta=0.5): (predicted, on_mistakes(lambda loss: 0.5)),
    LossDriven(eta=0.5): (predicted, on_mistakes(lambda loss: 0.5 * loss)),
    LossDriven(eta="theory"): (predicted, by_the_theorem(lambda loss: loss / MOST)),
    PassiveAggressive(variant="pa"): (augmented, passive_aggressive(lambda h, g2, w: h / g2)),
    PassiveAggressive(C=0.1): (augmented, passive_aggressive(lambda h, g2, w: min(0.1 * w, h / g2))),
    PassiveAggressive(C=0.1, variant="pa2"): (augmented, passive_aggressive(lambda h, g2, w: h / (g2 + 1 / (0.2 * w)))),
    Adaptive(kappa=0.3): (augmented, adaptive(0.3)),
    Adaptive(): (augmented, adaptive(1.0)),
    Subgradient(alpha=0.1): (augmented, fixed(lambda t: 1 / (0.1 * t)), lambda t: 1 - 1 / t),
    Subgradient(alpha=0.1, eta=0.2): (augmented, fixed(lambda t: 0.2), lambda t: 1 - 0.1 * 0.2),
}


@pytest.mark.always
@pytest.mark.parametrize("update", UPDATES, ids=str)
def test_every_step_is_that_of_the_formula(update):
    random = np.random.default_rng(0)
    X, y = random.standard_normal((60, 4)), random.integers(0, 3, 60)
    loss = {(i, j): COSTS[i, j] for i, j in np.ndindex(3, 3) if i != j}
    how = {"norm": "l2", "average": False, "fit_intercept": False, "decision": "learned"}  # by which costs are learned
    model = PredtronClassifier(loss=loss, update=update, **how)
    plain, changed = Formula(*UPDATES[update]), 0
    for x, label, weight in zip(X, y, WEIGHT, strict=True):
        before = plain.W
        model.partial_fit(x[None], [label], classes=range(3), sample_weight=[weight])
        plain.learn(x, label, weight)
        changed += (before != plain.W).any()
        assert_allclose(model.coef_, plain.W, rtol=1e-9, atol=1e-12)
    assert changed >= 20


@pytest.mark.parametrize("update", [PassiveAggressive(variant="pa"), Adaptive(kappa=1e9)], ids=str)
def test_a_row_that_a_step_has_fitted_takes_no_step(update):
    """A full step brings the hinge of its row to zero, so the row's next hinge is rounding."""
    random = np.random.default_rng(0)
    X, y = random.standard_normal((60, 7)), random.integers(0, 2, 60)
    model = PredtronClassifier(norm="l2", average=False, fit_intercept=False, update=update)
    for x, label in zip(X, y, strict=True):
        model.partial_fit(x[None], [label], classes=range(2))
        before, coef = model.n_updates_, model.coef_
        model.partial_fit(x[None], [label])
        assert model.n_updates_ == before
        np.testing.assert_array_equal(model.coef_, coef)
    assert model.n_updates_ >= 20


def test_every_update_of_any_problem_has_its_formula_here():
    of_any = {kind for kind in kinds(Update) if not kind.needs}
    assert {type(update) for update in UPDATES} == of_any
