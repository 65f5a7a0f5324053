"""A fit that is continued on rows of the same kind stays as good as it was, and counts the rounds so far."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier

pytestmark = pytest.mark.default_replay


def drawn(n, rate, seed):
    """Two classes that overlap; the second has a share of the rows."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 8))
    scores = X @ np.array([0.8, -0.6, 0.5, -0.4, 0.3, 0.2, 0.1, 0.0]) + random.logistic(size=n)
    return X, (scores > np.quantile(scores, 1 - rate)).astype(int)


@pytest.mark.parametrize("average", [None, "linear"])
@pytest.mark.parametrize(("rate", "cost"), [(0.015, 40.0), (0.5, 1.5)])
def test_weekly_updates_cost_nothing(average, rate, cost):
    """On average over ten weeks and over some draws, and the alarms and probabilities keep their share."""
    ratios, shares = [], []
    for seed in range(4):
        X, y = drawn(70_000, rate, seed)
        model = PredtronClassifier(loss={(1, 0): cost, (0, 1): 1.0}, average=average, random_state=0)
        model.fit(X[:20_000], y[:20_000])
        rows, labels = X[30_000:], y[30_000:]
        frozen, alarms = model.sample_loss(rows, labels).mean(), model.predict(rows).mean()
        for first in range(20_000, 30_000, 1000):
            model.partial_fit(X[first : first + 1000], y[first : first + 1000])
            ratios.append(model.sample_loss(rows, labels).mean() / frozen)
            shares.append(model.predict(rows).mean() / alarms)
            assert 0.75 < model.predict_proba(rows)[:, 1].mean() / labels.mean() < 1.33
    assert np.mean(ratios) < 1.01, np.mean(ratios)
    assert 0.6 < min(shares) < max(shares) < 1.5


@pytest.mark.parametrize(
    ("family", "norm"),
    [
        *((family, norm) for family in (PredtronBinaryClassifier, PredtronOrdinalClassifier) for norm in ("l2", "scaled", "l1")),
        (PredtronClassifier, "trace"),
    ],
)
def test_the_mean_of_folds_goes_on_as_one_run(family, norm):
    """Round t weighs t of t (t + 1) / 2: as many rounds as before the stream move the average by three quarters."""
    X, y = drawn(400, 0.4, 5)
    model = family(norm=norm, average="linear", max_iter=1, random_state=0).fit(X, y)
    before, rounds = model._model.learner, model.t_
    assert model._model.training_parts == "folds"
    mass = before.export()["sum"]
    found = [np.asarray(value) for name, value in mass.items() if name.startswith("weights.") and name.endswith("mass")]
    assert found and all(np.all(one > 0) for one in found)
    for one in found:
        assert_allclose(one, rounds**2 / 2, rtol=0.02)
