"""The confusion of ranks: counts in their order, and how far off predictions are."""

import numpy as np
import pandas as pd
import pytest
from cases import make_data
from display_cases import check_legible, ticks_of
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronOrdinalClassifier
from sklearn_predtron.inspection import OrdinalConfusionMatrixDisplay

plt = pytest.importorskip("matplotlib.pyplot")
RANKS = np.array(["low", "medium", "high", "top"])


def counted(true, predicted, labels, weight=None):
    table = np.zeros((len(labels), len(labels)))
    for i in range(len(true)):
        table[list(labels).index(true[i]), list(labels).index(predicted[i])] += 1 if weight is None else weight[i]
    return table


def ranked(**parameters):
    X, codes = make_data(k=4, n=200, noise=2.0)
    y = RANKS[codes]
    return PredtronOrdinalClassifier(categories=RANKS, random_state=0, **parameters).fit(X, y), X, y


def test_counts_in_the_order_of_the_ranks():
    model, X, y = ranked()
    display = OrdinalConfusionMatrixDisplay.from_estimator(model, X, y)
    table = counted(y, model.predict(X), RANKS)
    np.testing.assert_array_equal(display.confusion_matrix, table)
    assert ticks_of(display.ax_.xaxis) == ticks_of(display.ax_.yaxis) == RANKS.tolist()
    assert [[text.get_text() for text in row] for row in display.text_] == [[f"{count:.0f}" for count in row] for row in table]
    np.testing.assert_allclose(display.im_.get_array(), table / table.sum(axis=1, keepdims=True))
    rank = {label: i for i, label in enumerate(RANKS)}
    off = np.array([abs(rank[one] - rank[other]) for one, other in zip(y, model.predict(X), strict=True)])
    np.testing.assert_allclose(display.distances, [np.mean(off == distance) for distance in range(4)])
    assert display.mean_distance == pytest.approx(off.mean()) == pytest.approx(3 * (1 - model.score(X, y)))
    right, near, far = np.mean(off == 0), np.mean(off == 1), np.mean(off > 1)
    assert display.ax_.get_title() == f"right {right:.1%}, one rank off {near:.1%}, further {far:.1%}"
    check_legible(display, "predicted rank", "true rank")


def test_texts_are_legible_on_their_cells():
    display = OrdinalConfusionMatrixDisplay.from_predictions([0, 0, 1, 1], [0, 0, 0, 1])
    inks = {text.get_color() for text in display.text_.ravel()}
    assert (
        inks == {"black", "white"} and display.text_[0, 0].get_color() == "white" and display.text_[0, 1].get_color() == "black"
    )


def test_weights_of_the_rows():
    true, predicted, weight = [3, 1, 2, 3], [1, 1, 3, 3], [0.5, 2, 1, 0]
    display = OrdinalConfusionMatrixDisplay.from_predictions(true, predicted, sample_weight=weight)
    np.testing.assert_array_equal(display.confusion_matrix, counted(true, predicted, [1, 2, 3], weight))
    assert display.mean_distance == pytest.approx((2 * 0.5 + 1) / 3.5)
    assert display.text_[2, 0].get_text() == "0.5"


def test_the_order_of_the_labels():
    true, predicted = ["low", "top", "low"], ["low", "low", "medium"]
    with pytest.raises(ValueError, match=r"labels=None is for numbers and .* y_true holds text; accepted are all labels, from"):
        OrdinalConfusionMatrixDisplay.from_predictions(true, predicted)
    given = OrdinalConfusionMatrixDisplay.from_predictions(true, predicted, labels=RANKS)
    declared = pd.Series(pd.Categorical(true, categories=RANKS, ordered=True))
    found = OrdinalConfusionMatrixDisplay.from_predictions(declared, predicted)
    for display in (given, found):
        np.testing.assert_array_equal(display.confusion_matrix, counted(true, predicted, RANKS))
        assert ticks_of(display.ax_.yaxis) == RANKS.tolist()  # a rank without rows has a place
    numbers = OrdinalConfusionMatrixDisplay.from_predictions([10, 2], [2, 5])
    assert ticks_of(numbers.ax_.xaxis) == ["2", "5", "10"] and numbers.mean_distance == 1.5
    for labels in (["low", "low", "top"], [["low"], ["top", "low"]]):
        with pytest.raises(ValueError, match=r"labels=|classes="):
            OrdinalConfusionMatrixDisplay.from_predictions(true, predicted, labels=labels)
    with pytest.raises(
        ValueError, match=r"y_pred contains labels that are not in .*: \['medium'\]; accepted are \['low', 'top'\]"
    ):
        OrdinalConfusionMatrixDisplay.from_predictions(true, predicted, labels=["low", "top"])


def test_ranks_that_are_missing_from_the_rows_are_ranks():
    X, y = make_data(k=4, n=200, noise=2.0)
    model = LogisticRegression().fit(X, y)
    seen = np.flatnonzero((y != 1) & (model.predict(X) != 1))
    display = OrdinalConfusionMatrixDisplay.from_estimator(model, X[seen], y[seen])
    assert display.display_labels.tolist() == [0, 1, 2, 3]
    assert display.mean_distance == pytest.approx(np.abs(y[seen] - model.predict(X[seen])).mean())
    unknown = OrdinalConfusionMatrixDisplay.from_estimator(model, X[seen], np.where(y[seen] == 3, 4, y[seen]))
    assert unknown.display_labels.tolist() == [0, 1, 2, 3, 4]


def test_rows_and_estimators_of_any_kind():
    model, X, y = ranked()
    expected = OrdinalConfusionMatrixDisplay.from_estimator(model, X, y).confusion_matrix
    for given in (pd.DataFrame(X), sparse.csr_matrix(X)):
        display = OrdinalConfusionMatrixDisplay.from_estimator(model, given, pd.Series(y))
        np.testing.assert_array_equal(display.confusion_matrix, expected)
    codes = np.searchsorted(RANKS, y, sorter=np.argsort(RANKS))
    for other in (LogisticRegression(), make_pipeline(StandardScaler(), PredtronOrdinalClassifier(random_state=0))):
        other.fit(X, codes)
        display = OrdinalConfusionMatrixDisplay.from_estimator(other, X, codes)
        np.testing.assert_array_equal(display.confusion_matrix, counted(codes, other.predict(X), range(4)))
    peer = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="labels=None is for numbers"):
        OrdinalConfusionMatrixDisplay.from_estimator(peer, X, y)
    display = OrdinalConfusionMatrixDisplay.from_estimator(peer, X, y, labels=RANKS, colorbar=False, cmap="Greys")
    assert ticks_of(display.ax_.xaxis) == RANKS.tolist() and len(display.figure_.axes) == 1


def test_no_mistakes_and_one_rank():
    perfect = OrdinalConfusionMatrixDisplay.from_predictions([0, 1, 2], [0, 1, 2])
    assert perfect.distances.tolist() == [1, 0, 0] and perfect.mean_distance == 0
    assert perfect.ax_.get_title() == "right 100.0%, one rank off 0.0%, further 0.0%"
    one = OrdinalConfusionMatrixDisplay.from_predictions([5, 5], [5, 5])
    assert one.distances.tolist() == [1] and ticks_of(one.ax_.xaxis) == ["5"]
    check_legible(one, "predicted rank", "true rank")
    many = np.arange(40)
    display = OrdinalConfusionMatrixDisplay.from_predictions(many, many[::-1])
    assert display.text_ is None
    check_legible(display, "predicted rank", "true rank")


def test_confusions_that_are_refused():
    for table in ([[1, 2]], [[0, 0], [0, 0]], [[1, -1], [0, 1]], [1, 2], [[np.nan, 1], [0, 1]], []):
        with pytest.raises(
            ValueError, match=r"confusion_matrix=.* must be of shape \(n_ranks, n_ranks\), with numbers of at least"
        ):
            OrdinalConfusionMatrixDisplay(table).plot()
    with pytest.raises(ValueError, match=r"display_labels has shape \(3,\); it must have one entry for each of the 2 rows"):
        OrdinalConfusionMatrixDisplay([[1, 2], [0, 1]], display_labels=[1, 2, 3]).plot()
    with pytest.raises(ValueError, match=r"y_pred has shape \(1,\); it must have one entry for each of the 2 rows"):
        OrdinalConfusionMatrixDisplay.from_predictions([1, 2], [1])
    with pytest.raises(ValueError, match="y_true is empty"):
        OrdinalConfusionMatrixDisplay.from_predictions([], [])
    with pytest.raises(ValueError, match=r"estimator=StandardScaler\(\) has no classes_; accepted are fitted classifiers"):
        OrdinalConfusionMatrixDisplay.from_estimator(StandardScaler(), [[1.0]], [1])
    assert not plt.get_fignums()
