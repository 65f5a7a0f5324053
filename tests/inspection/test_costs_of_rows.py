"""The cost of two classes by the share of rows of which the second is predicted, with costs of rows."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_predtron import PredtronBinaryClassifier
from sklearn_predtron.decisions import AtMost, ExpectedCost
from sklearn_predtron.inspection import CostDisplay

RNG = np.random.default_rng(0)
X = RNG.standard_normal((1200, 3))
Y = X[:, 0] + RNG.standard_normal(1200) > 1.5
AMOUNT = RNG.lognormal(1, 1, 1200)
WEIGHT = RNG.random(1200)


def costs(rows):
    return {(True, False): AMOUNT[rows], (False, True): 1.0, (True, True): 0.5}


@pytest.mark.parametrize("kind", ["capacity", "free", "peer"])
def test_each_share_costs_what_its_rows_cost(kind):
    quota = ExpectedCost(subject_to=[AtMost("predicted_rate", 0.1, label=True)])
    model = PredtronBinaryClassifier(decision=quota if kind == "capacity" else None, features=None, random_state=0)
    model = LogisticRegression() if kind == "peer" else model
    first, rest = slice(0, 600), slice(600, 1200)
    model.fit(X[first], Y[first])
    display = CostDisplay.from_estimator(model, X[rest], Y[rest], costs=costs(rest), sample_weight=WEIGHT[rest])
    p, y, w, a = model.predict_proba(X[rest])[:, 1], Y[rest], WEIGHT[rest] / WEIGHT[rest].sum(), AMOUNT[rest]
    saving = p * (a - 0.5) - (1 - p)
    order = np.argsort(-saving, kind="stable")
    for n in (0, 1, 60, 599, 600):
        flagged = np.isin(np.arange(600), order[:n])
        paid = np.where(flagged, np.where(y, 0.5, 1.0), np.where(y, a, 0.0))
        assert display.at[n] == pytest.approx(w[flagged].sum(), abs=1e-12)
        assert display.cost[n] == pytest.approx(w @ paid, rel=1e-9)
    chosen = order[:60] if kind == "capacity" else np.flatnonzero(saving > 0)
    assert display.threshold == pytest.approx(w[chosen].sum(), rel=1e-9)
    assert display.constant[0] == pytest.approx(min(display.cost[0], display.cost[-1]))
    assert display.best[0] == display.cost.min()
    assert display.threshold_line_.get_label() == f"in force: {display.threshold:.3g}"
    assert display.ax_.get_xlabel() == "share of the rows predicted as the second class"


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"against": "ratio"}, "^against='ratio' does not go with costs of rows; accepted are None and 'share'"),
        ({"costs": {(True, "no"): 1.0}}, "^costs names the pair"),
        ({"costs": np.ones((1200, 2))}, r"^costs has shape \(1200, 2\): what each prediction costs in a row is known"),
    ],
)
def test_refused(given, match):
    model = LogisticRegression().fit(X, Y)
    with pytest.raises(ValueError, match=match):
        CostDisplay.from_estimator(model, X, Y, **{"costs": costs(slice(None)), **given})
