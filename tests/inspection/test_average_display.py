"""Which average predicts in a stream: charges and choices against estimators with a fixed average."""

import numpy as np
import pandas as pd
import pytest
from display_cases import check_legible, labels_of
from scipy import sparse
from sklearn.linear_model import Perceptron

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronRanker
from sklearn_predtron.inspection import AverageDisplay

plt = pytest.importorskip("matplotlib.pyplot")
FIXED = [False, "linear", 100.0]


def turning(n=600, p=3, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p))
    return X, (X[:, 0] + 0.7 * random.standard_normal(n) > 0) ^ (np.arange(n) >= n // 2)


def chunks_of(X, y, size):
    return ((X[i : i + size], y[i : i + size]) for i in range(0, len(y), size))


def test_what_each_candidate_has_lately_lost():
    X, y = turning()
    display = AverageDisplay.from_stream(PredtronBinaryClassifier(norm="l2"), zip(X, y, strict=True), classes=[False, True])
    fixed = [PredtronBinaryClassifier(norm="l2", average=average) for average in FIXED]
    for model in fixed:
        model.partial_fit(X[:1], y[:1], classes=[False, True])
    charges, weight, fade = np.ones(3), 1.0, 0.5 ** (1 / 500)  # all lose the first round, of scores 0
    for i in range(1, len(y)):
        scores = np.array([model.decision_function(X[i : i + 1])[0] for model in fixed])
        charges = fade * charges + (scores * (1 if y[i] else -1) <= 0)
        weight = fade * weight + 1
        np.testing.assert_allclose(display.losses[i], charges / weight, rtol=1e-9)
        least = min((1, 2, 0), key=lambda which: charges[which])  # of equal ones the linear average
        assert display.averages[i] == FIXED[least] or np.isclose(charges, charges[least], rtol=1e-12).sum() > 1
        for model in fixed:
            model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert {"linear", 100.0} <= set(display.averages)
    for which, line in enumerate(display.lines_):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([display.rounds, display.losses[:, which]]))
    check_legible(display, "rounds", "recent mean loss")


def test_the_ribbon_shows_what_predicts():
    losses, averages = np.full((5, 3), 0.25), ["linear", "linear", 100.0, "linear", False]
    display = AverageDisplay(rounds=[10, 20, 40, 50, 60], losses=losses, averages=averages, name="five").plot()
    spans = [[path.get_extents().intervalx.tolist() for path in part.get_paths()] for part in display.ribbon_]
    assert spans == [[], [[10, 40], [50, 60]], [[40, 50]]]
    assert labels_of(display) == [
        "last iterate: predicts 0% of the rounds",
        "linear average: predicts 80% of the rounds",
        "half-life 100: predicts 20% of the rounds",
    ]
    assert display.ax_.get_title() == "five"
    for line, part in zip(display.lines_[1:], display.ribbon_[1:], strict=True):
        assert plt.matplotlib.colors.to_hex(part.get_facecolor()[0]).upper() == line.get_color()


def test_the_estimator_has_learned_the_stream():
    X, y = turning()
    model, plain = PredtronBinaryClassifier(), PredtronBinaryClassifier()
    first = AverageDisplay.from_stream(model, chunks_of(X[:300], y[:300], 50), classes=[False, True])
    second = AverageDisplay.from_stream(model, chunks_of(X[300:], y[300:], 100))  # goes on
    plain.partial_fit(X, y, classes=[False, True])
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert first.rounds.tolist() == [50, 100, 150, 200, 250, 300] and second.rounds.tolist() == [400, 500, 600]
    assert second.averages[-1] == plain.average_
    whole = AverageDisplay.from_stream(PredtronBinaryClassifier(average="auto"), [(X, y)], classes=[False, True])
    np.testing.assert_array_equal(whole.losses[-1], second.losses[-1])  # however the stream is split
    assert labels_of(whole)[1] == "linear average: predicts 0% of the rounds"  # of which there are none from one point on


def test_streams_of_any_rows():
    X, y = turning(200)
    expected = AverageDisplay.from_stream(PredtronBinaryClassifier(norm="l2"), chunks_of(X, y, 20), classes=[False, True])
    frame, rows = pd.DataFrame(X), sparse.csr_matrix(X)
    for stream in (
        ((frame.iloc[i : i + 20], pd.Series(y[i : i + 20])) for i in range(0, 200, 20)),
        ((rows[i : i + 20], y[i : i + 20]) for i in range(0, 200, 20)),
    ):
        display = AverageDisplay.from_stream(PredtronBinaryClassifier(norm="l2"), stream, classes=[False, True])
        np.testing.assert_allclose(display.losses, expected.losses, atol=0.02)
    qid = np.arange(200) // 5
    queries = [(X[qid == q], (y[qid == q]) * 1, np.full(5, q)) for q in range(40)]
    ranker = PredtronRanker()
    display = AverageDisplay.from_stream(ranker, queries)
    assert display.rounds.tolist() == list(range(1, 41)) and np.isfinite(display.losses).all()
    without = AverageDisplay.from_stream(PredtronClassifier(), [(X[y], y[y]), (X[y], y[y])], classes=[False, True])
    assert without.losses[-1].max() < 0.05 and (without.losses[-1] < without.losses[0]).all()  # one class, and a mistake or two
    without.figure_.canvas.draw()


def test_candidates_that_are_charged_in_some_rounds():
    X, y = turning(100, p=300)
    model = PredtronClassifier()
    display = AverageDisplay.from_stream(model, zip(X, y, strict=True), classes=[False, True])
    every = model._model.learner.average.every
    changes = 1 + np.flatnonzero(np.diff(display.losses, axis=0).any(axis=1))
    assert every > 1 and len(changes) > 5 and (changes % every == 0).all()
    early = AverageDisplay(rounds=[1], losses=[[np.nan] * 3], averages=["linear"]).plot()
    early.figure_.canvas.draw()


def test_streams_that_are_refused():
    X, y = turning(20)
    with pytest.raises(ValueError, match=r"estimator=Perceptron\(\) has no average; accepted are Predtron's estimators"):
        AverageDisplay.from_stream(Perceptron(), [(X, y)])
    for average in ("linear", False, 30.0):
        with pytest.raises(ValueError, match=rf"estimator has average={average!r}, which is not chosen; accepted are None and"):
            AverageDisplay.from_stream(PredtronBinaryClassifier(average=average), [(X, y)])
    with pytest.raises(ValueError, match=r"stream=\[\] has no items; accepted is one at least"):
        AverageDisplay.from_stream(PredtronBinaryClassifier(), [])
    with pytest.raises(ValueError, match=r"stream holds .*; accepted are items \(X, y\)"):
        AverageDisplay.from_stream(PredtronBinaryClassifier(), [X])
    fitted = PredtronBinaryClassifier(random_state=0).fit(X, y)
    AverageDisplay.from_stream(fitted, [(X, y)])  # from here on it is chosen
    for average in (0, 1.0, 100, "last"):
        with pytest.raises(ValueError, match=rf"averages holds {average!r}; accepted are False, 'linear', 100.0"):
            AverageDisplay(rounds=[1], losses=[[0, 0, 0]], averages=[average]).plot()
    for losses, averages in (([[0, 0]], ["linear"]), ([[0, 0, 0]], []), ([], ["linear"])):
        with pytest.raises(ValueError, match=r"losses has shape .* for 1 rounds they must have \(1, 3\) and 1"):
            AverageDisplay(rounds=[1], losses=losses, averages=averages).plot()
