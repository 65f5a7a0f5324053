"""The report on a classifier, with its numbers computed by scikit-learn, SciPy and NumPy."""

import re
import sys
from html import escape, unescape

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_iris
from sklearn.metrics import confusion_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier
from sklearn_predtron.decisions import AtLeast, AtMost, ExpectedCost
from sklearn_predtron.inspection import report
from sklearn_predtron.losses import Reject
from sklearn_predtron.metrics import classwise_calibration_error

RNG = np.random.default_rng(0)
N, BAD = 900, "<script>bad"
X = pd.DataFrame(RNG.standard_normal((N, 2)), columns=["<script>age", "income"])
Y = np.where(X["income"] + RNG.standard_normal(N) > 1, "good", BAD)
AMOUNT, WEIGHT = RNG.lognormal(1, 1, N)[500:], RNG.random(N)[500:]
GROUPS = pd.Series(RNG.choice(["<script>north", "south", "$\\x$"], N - 500), name="region <b>")
XN, YN = X[500:], Y[500:]


@pytest.fixture(scope="module")
def model():
    return PredtronBinaryClassifier(decision="expected_cost", features="piecewise", random_state=0).fit(X[:500], Y[:500])


def tables(page):
    """Return the cells of the tables, by the first cell of the head and of the row."""
    found = {}
    for text in re.findall("<table>(.*?)</table>", page, re.S):
        rows = [re.findall("<t[hd]>(.*?)</t[hd]>", row) for row in re.findall("<tr>(.*?)</tr>", text)]
        found[unescape(rows[0][0])] = {unescape(name): [unescape(cell) for cell in cells] for name, *cells in rows[1:]}
    return found


def percent(value):
    return f"{round(100 * value, 2) + 0.0:g} %"


def costs_as(form):
    pairs, zero = {("good", BAD): AMOUNT, (BAD, "good"): 1.0}, np.zeros(len(YN))
    if form in ("dict", "frame"):
        return pairs if form == "dict" else pd.DataFrame(pairs)
    missed, false = np.column_stack([AMOUNT, zero]), np.column_stack([zero, zero + 1])
    return np.stack([false, missed], axis=1) if form == "array" else np.where((YN == "good")[:, None], missed, false)


@pytest.mark.parametrize(("form", "weight"), [("dict", None), ("frame", WEIGHT), ("array", None), ("realised", WEIGHT)])
def test_costs(model, form, weight):
    page = report(model, XN, YN, costs=costs_as(form), sample_weight=weight)
    predicted = model.predict(XN) if form == "realised" else model.predict(XN, costs=costs_as(form))
    answers = {"this model": predicted, "always good": "good", f"always {BAD}": BAD}
    w = np.ones(len(YN)) if weight is None else weight
    paid = {name: np.where(answer == YN, 0.0, np.where(YN == "good", AMOUNT, 1.0)) for name, answer in answers.items()}
    mean = {name: w @ cost / w.sum() for name, cost in paid.items()}
    best = min(mean["always good"], mean[f"always {BAD}"])
    assert tables(page)["Answer"] == {name: [f"{cost:.4g}", percent(1 - cost / best)] for name, cost in mean.items()}
    for label, of in (("good", predicted == "good"), (BAD, predicted == BAD)):
        cost = np.average(paid["this model"][of], weights=w[of])
        assert tables(page)["Predicted"][label] == [str(of.sum()), percent(w @ of / w.sum()), f"{cost:.4g}"]
    assert page.count("<svg") == (2 if form == "realised" else 3)  # calibration and effects, and costs unless realised


def test_calibration_and_groups(model):
    page = report(model, XN, YN, groups=GROUPS)
    found, p, on = tables(page), model.predict_proba(XN)[:, 1], YN == "good"
    observed, predicted = calibration_curve(on, p, n_bins=10, strategy="quantile")
    rows = list(found["Probability of good"].values())
    assert [row[1] for row in rows] == [percent(value) for value in predicted]
    for (n, _, text), share in zip(rows, observed, strict=True):
        low, high = binomtest(round(share * int(n)), int(n)).proportion_ci(method="wilson")
        assert text == f"{percent(share)} ({percent(low)} to {percent(high)})"
    assert found["Column"]["income"] == [f"{model.feature_importances_[1]:.4g}"]
    assert found["True class"]["good"] == [str(on.sum()), percent(on.mean())]
    predicted, recalls = model.predict(XN), []
    for group, row in found["region <b>"].items():
        of = (group == GROUPS).to_numpy()
        (tn, fp), (fn, tp) = confusion_matrix(YN[of], predicted[of])
        recalls.append(tp / (fn + tp))
        assert row[:4] == ["good", str(of.sum()), percent((fn + tp) / of.sum()), percent((fp + tp) / of.sum())]
        assert row[4].startswith(percent(recalls[-1]) + " (")
        assert row[5:] == [percent(fp / (tn + fp)), f"{(fp + fn) / of.sum():.4g}"]
    assert len(recalls) == 3 and f"difference of recall is {percent(max(recalls) - min(recalls))[:-1]}" in page


def test_the_page_is_on_its_own(model, monkeypatch):
    page = report(model, XN, YN, groups=GROUPS)
    assert "<script" not in page and "<b>" not in page and page.count("&lt;script&gt;bad") > 2
    assert all(target.startswith(("#", "data:image/png;")) for target in re.findall(r'(?:href|src)="([^"]*)', page))
    assert set(re.findall('https?://[^" ]*', page)) == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    with plt.style.context("dark_background"):
        before = plt.rcParams.copy()
        assert report(model, XN, YN, groups=GROUPS) == page  # whatever the user's settings, which stay
        assert plt.rcParams.copy() == before and plt.get_fignums() == []
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="report needs matplotlib"):
        report(model, XN, YN)


def test_several_classes_that_may_abstain():
    flowers, kinds = load_iris(return_X_y=True)
    model = PredtronClassifier(reject=Reject(0.2), features=None, random_state=0).fit(flowers[::2], kinds[::2])
    rows, true = flowers[1::2], kinds[1::2]
    predicted, p, page = model.predict(rows), model.predict_proba(rows), report(model, rows, true, groups=true > 1)
    found, n = tables(page), (predicted == -1).sum()
    assert n > 0 and found["Predicted"]["abstained"] == [str(n), percent(n / 75), "0.2"]
    cost = np.where(predicted == -1, 0.2, predicted != true).mean()
    assert found["Answer"]["this model"] == [f"{cost:.4g}", percent(1 - cost / 0.2)]  # to abstain always costs least
    assert f"classes is {percent(classwise_calibration_error(true, p))}" in page and "<svg" not in page
    assert found["Class"]["1"][1] == percent(p[:, 1].mean()) and "<th>True</th><td>2</td><td>25</td>" in page
    free = tables(report(model, rows, true, costs=dict.fromkeys([(0, -1), (1, -1), (2, -1)], 0.0)))
    assert free["Predicted"]["abstained"][1] == "100 %" and free["Answer"]["this model"] == ["0", "–"]


def test_bounds_and_a_certificate_at_the_end_of_a_pipeline():
    bounds = [AtLeast("recall", 0.8, label="good"), AtMost("false_positive_rate", 0.5, label="good"), AtLeast(np.trace, 200)]
    model = PredtronBinaryClassifier(decision=ExpectedCost(subject_to=bounds), features=None, random_state=0)
    found = tables(report(model.fit(X[:500], Y[:500]), XN, YN))["Bounds"]
    (tn, fp), (fn, tp) = confusion_matrix(YN, model.predict(XN))
    here = [f"{tp / (tp + fn):.4g} ({tp + fn})", f"{fp / (tn + fp):.4g} ({tn + fp})", f"{tn + tp} (400)"]
    held = [f"{one.value:.4g} ({one.n_rows:.0f})" for one in model.bounds_]
    assert found == {repr(bound): ["yes", *values] for bound, *values in zip(bounds, held, here, strict=True)}
    model = PredtronBinaryClassifier(reject=Reject(risk=0.2), features=None, random_state=0)
    pipeline = make_pipeline(StandardScaler(), model).fit(X[:400], Y[:400])
    assert "not certified" in report(pipeline, XN, YN)
    pipeline[-1].certify(pipeline[:-1].transform(X[400:650]), Y[400:650])
    page, predicted = report(pipeline, X[650:], Y[650:]), pipeline.predict(X[650:])
    answered = np.isin(predicted, ["good", BAD])
    value = f"{(predicted != Y[650:])[answered].mean():.4g} ({answered.sum()})"
    assert tables(page)["Promises"]["AtMost('risk', 0.2)"][2] == value and set(tables(page)["Column"]) == set(X.columns)
    assert escape(str(pipeline[-1].certificate_)) in page and "StandardScaler, then PredtronBinaryClassifier" in page


REFUSED = [
    ({"estimator": PredtronOrdinalClassifier()}, "^estimator=PredtronOrd.* has no report; accepted are PredtronBinary"),
    ({"estimator": PredtronBinaryClassifier()}, "is not fitted yet"),
    ({"y": YN[1:]}, "^X has 400 rows and y has 399"),
    ({"costs": np.ones(400)}, r"^costs has shape \(400,\)"),
    ({"groups": GROUPS[1:]}, "^groups has 399 values for 400 rows"),
    ({"groups": [None] * 400}, r"^groups\[0\]=None is no group; accepted are strings and numbers"),
    ({"groups": np.ones((400, 2))}, "^groups=.* must hold one group for each row"),
    ({"sample_weight": np.zeros(400)}, "^sample_weight is zero for every row"),
]


@pytest.mark.parametrize(("given", "match"), REFUSED)
def test_refused(model, given, match):
    with pytest.raises(ValueError, match=match):
        report(**{"estimator": model, "X": XN, "y": YN, **given})
