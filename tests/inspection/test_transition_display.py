"""A tagger's transitions: the numbers in the cells, what is forbidden, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from display_cases import check_legible, ticks_of
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from sklearn_predtron import PredtronClassifier, PredtronSequenceTagger
from sklearn_predtron.inspection import TransitionDisplay

plt = pytest.importorskip("matplotlib.pyplot")
TAGS = np.array(["B-x", "I-x", "O"])


def tagged(seed=0, n=40):
    """Tags B-x I-x I-x O ..., with a token of noise each."""
    random = np.random.default_rng(seed)
    y = np.concatenate([TAGS[[2, 0, 1, 1, 2][: random.integers(2, 6)]] for _ in range(n)])
    start = np.flatnonzero((y == "O") & np.append(True, y[:-1] != "nothing") & np.append(y[1:] == "B-x", False))
    sid = np.searchsorted(start, np.arange(len(y)), side="right")
    X = np.eye(3)[np.searchsorted(TAGS, y)] + 0.8 * random.standard_normal((len(y), 3))
    return X, y, sid


@pytest.mark.parametrize("constraint", [None, "bio"])
def test_scores_in_the_cells(constraint):
    X, y, sid = tagged()
    model = PredtronSequenceTagger(constraint=constraint, random_state=0).fit(X, y, sid=sid)
    display = TransitionDisplay.from_estimator(model)
    values, labels = display.im_.get_array(), TAGS.tolist()
    for i in range(4):
        for j in range(4):
            table = np.append(model.transitions_, [model.start_], axis=0) if j < 3 else np.append(model.end_, np.nan)[:, None]
            score = table[i, j if j < 3 else 0]
            text = display.text_[i, j].get_text()
            if np.isfinite(score):
                assert values[i, j] == score and text == f"{score:.2g}"
            else:
                assert values.mask[i, j] and text == ("" if np.isnan(score) else "x")
    forbidden = [(i, j) for i in range(4) for j in range(4) if display.text_[i, j].get_text() == "x"]
    assert forbidden == ([] if constraint is None else [(2, 1), (3, 1)])  # I-x after O, and first
    assert ticks_of(display.ax_.yaxis) == [*labels, "(first)"] and ticks_of(display.ax_.xaxis) == [*labels, "(last)"]
    least, most = display.im_.get_clim()
    assert least == -most and most == np.nanmax(np.abs(values.filled(np.nan)))
    check_legible(display, "label", "label before it")


def test_taggers_of_any_rows():
    X, y, sid = tagged()
    model = PredtronSequenceTagger(norm="l2", random_state=0).fit(X, y, sid=sid)
    for given in (pd.DataFrame(X).assign(sid=sid).rename(columns=str), sparse.csr_matrix(X)):
        ids = None if isinstance(given, pd.DataFrame) else sid
        other = PredtronSequenceTagger(norm="l2", random_state=0).fit(given, pd.Series(y), sid=ids)
        display = TransitionDisplay.from_estimator(other, colorbar=False, cmap="RdBu")
        np.testing.assert_allclose(display.transitions, model.transitions_)
        assert len(display.figure_.axes) == 1
    display = TransitionDisplay.from_estimator(make_pipeline(MaxAbsScaler(), model))
    np.testing.assert_array_equal(display.start, model.start_)
    np.testing.assert_array_equal(display.end, model.end_)
    again = TransitionDisplay.from_estimator(model, ax=display.ax_)
    assert again.ax_ is display.ax_


def test_one_label_and_many():
    one = TransitionDisplay(transitions=[[0.5]], start=[0.0], end=[-0.5], display_labels=["O"]).plot()
    assert [[text.get_text() for text in row] for row in one.text_] == [["0.5", "-0.5"], ["0", ""]]
    nothing = TransitionDisplay(transitions=np.zeros((2, 2)), start=np.zeros(2), end=np.zeros(2)).plot()
    assert nothing.im_.get_clim() == (-1, 1) and ticks_of(nothing.ax_.xaxis) == ["0", "1", "(last)"]
    random = np.random.default_rng(0)
    names = [f"part-of-speech-{i}" for i in range(30)]
    many = TransitionDisplay(
        transitions=random.random((30, 30)), start=np.zeros(30), end=np.zeros(30), display_labels=names
    ).plot()
    assert many.text_ is None
    check_legible(many, "label", "label before it")


def test_transitions_that_are_refused():
    X, y, _ = tagged()
    with pytest.raises(ValueError, match=r"estimator=PredtronClassifier\(\) has no transitions; accepted is a fitted PredtronS"):
        TransitionDisplay.from_estimator(PredtronClassifier().fit(X, y))
    for table in ([[1.0, 2.0]], [1.0], [[np.nan]], np.zeros((0, 0))):
        with pytest.raises(ValueError, match=r"transitions has shape .*; accepted are numbers of shape \(n_classes, n_classes\)"):
            TransitionDisplay(transitions=table, start=[0.0], end=[0.0]).plot()
    for start, end, name in (([0.0, 1.0], [0.0], "start"), ([0.0], [], "end")):
        with pytest.raises(ValueError, match=rf"{name} has shape .*; it must have one entry for each of the 1 rows"):
            TransitionDisplay(transitions=[[0.0]], start=start, end=end).plot()
    with pytest.raises(ValueError, match=r"display_labels has shape \(2,\)"):
        TransitionDisplay(transitions=[[0.0]], start=[0.0], end=[0.0], display_labels=["a", "b"]).plot()
    assert not plt.get_fignums()
