"""The strongest features: their order, names and signs, of every family and of scikit-learn's estimators."""

import numpy as np
import pandas as pd
import pytest
from cases import make_data
from display_cases import check_legible, ticks_of
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, NuSVC

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron.inspection import CoefficientDisplay
from sklearn_predtron.norms import RKHS

plt = pytest.importorskip("matplotlib.pyplot")
NAMES = ["zero", "one", "two", "three", "four", "five"]


def framed(k=3):
    X, y = make_data(k=k, noise=2.0)
    return pd.DataFrame(X, columns=NAMES), y


def scores_of_units(model):
    """The scores of one unit of each feature, beside those of none."""
    units = pd.DataFrame(np.eye(6), columns=NAMES)
    return model.decision_function(units) - model.decision_function(0 * units[:1])


def drawn(display):
    """Names and lengths of the bars, from the top."""
    assert display.ax_.yaxis_inverted()
    return dict(zip(ticks_of(display.ax_.yaxis), [bar.get_width() for bar in display.bars_], strict=True))


def strongest(coefficients, n, names=NAMES):
    order = sorted(range(len(coefficients)), key=lambda j: -abs(coefficients[j]))[:n]
    return {names[j]: coefficients[j] for j in order}


def test_the_coefficients_of_a_class():
    X, y = framed()
    model = PredtronClassifier(random_state=0).fit(X, np.array(["a", "b", "c"])[y])
    display = CoefficientDisplay.from_estimator(model, target="b", max_features=4)
    expected = strongest(model.coef_[1], 4)
    assert drawn(display) == expected and list(drawn(display)) == list(expected)
    assert [NAMES[j] for j in display.strongest_] == list(expected)
    assert display.ax_.get_title() == "target: b"
    colours = {bar.get_width() < 0: bar.get_facecolor() for bar in display.bars_}
    assert len(colours) == len(set(colours.values())) == 2
    check_legible(display, "coefficient", "")
    again = display.plot(max_features=1, name="another", color="k")
    assert len(again.bars_) == 1 and again.ax_.get_title() == "another" and again.bars_[0].get_facecolor() == (0, 0, 0, 1)


def test_what_features_decide_whatever_the_class():
    X, y = framed()
    model = PredtronClassifier(random_state=0).fit(X, y)
    display = CoefficientDisplay.from_estimator(model, max_features=6)
    expected = strongest([sum(w**2 for w in column) ** 0.5 for column in model.coef_.T.tolist()], 6)
    assert drawn(display) == pytest.approx(expected) and list(drawn(display)) == list(expected)
    check_legible(display, "length of the 3 coefficients", "")


@pytest.mark.parametrize("representation", ["simplex", np.array([[1, 0.0], [0.6, 0.8], [-0.6, 0.8]])], ids=["simplex", "code"])
def test_classes_that_are_learned_by_a_code(representation):
    X, y = framed()
    model = PredtronClassifier(representation=representation, random_state=0).fit(X, y)
    by_class = scores_of_units(model)
    for target in range(3):
        display = CoefficientDisplay.from_estimator(model, target=target, feature_names=NAMES)
        np.testing.assert_allclose(display.coefficients, by_class[:, target], atol=1e-12)


@pytest.mark.parametrize("representation", ["simplex", "onehot", np.array([[1, 0.0], [0.6, 0.8], [-0.6, 0.8]])], ids=str)
def test_ranks_without_thresholds_are_drawn_as_classes(representation):
    X, y = framed()
    model = PredtronOrdinalClassifier(representation=representation, random_state=0).fit(X, y)
    by_class = scores_of_units(model)
    for target in range(3):
        display = CoefficientDisplay.from_estimator(model, target=target)
        np.testing.assert_allclose(display.coefficients, by_class[:, target], atol=1e-12)
        assert display.ax_.get_title() == f"target: {target}"


@pytest.mark.parametrize("family", [PredtronClassifier, PredtronOrdinalClassifier])
@pytest.mark.parametrize("representation", ["simplex", "thermometer", "shared"])
def test_one_row_of_two_classes_is_positive_for_the_second(family, representation):
    X, y = framed(k=2)
    model = family(representation=representation, random_state=0).fit(X, y)
    second = scores_of_units(model)
    np.testing.assert_allclose(CoefficientDisplay.from_estimator(model).coefficients, second, atol=1e-12)


def test_pairs_of_three_classes_are_not_taken_for_classes():
    X, y = framed()
    names = np.array(["a", "b", "c"])
    relevance = pd.DataFrame(np.eye(3)[y], columns=names)
    ranker = PredtronLabelRanker(loss="kendall_tau", representation="pairwise", random_state=0).fit(X, relevance)
    for model in (SVC(kernel="linear").fit(X, names[y]), NuSVC(kernel="linear", nu=0.1).fit(X, names[y]), ranker):
        with pytest.raises(ValueError, match=r"target='b' is not known; accepted are \[0, 1, 2\] and None"):
            CoefficientDisplay.from_estimator(model, target="b")
        assert drawn(CoefficientDisplay.from_estimator(model, target=1)) == strongest(model.coef_[1], 6)


def test_one_row_of_coefficients():
    X, y = framed(k=2)
    for model in (
        PredtronBinaryClassifier(random_state=0).fit(X, y),
        LogisticRegression().fit(X, y),
        LinearRegression().fit(X, y),
    ):
        assert drawn(CoefficientDisplay.from_estimator(model)) == strongest(np.ravel(model.coef_), 6)
    ranker = PredtronRanker(random_state=0).fit(X, y, qid=np.arange(len(X)) // 5)
    assert drawn(CoefficientDisplay.from_estimator(ranker)) == strongest(ranker.coef_, 6)
    shared = PredtronOrdinalClassifier(representation="shared", random_state=0).fit(*framed())
    assert drawn(CoefficientDisplay.from_estimator(shared)) == strongest(shared.coef_[0], 6)
    with pytest.raises(ValueError, match=r"target=1 is not known; accepted are None, for there is one row of coefficients"):
        CoefficientDisplay.from_estimator(shared, target=1)


def test_thresholds_and_labels():
    X, y = framed()
    ordinal = PredtronOrdinalClassifier(categories=["low", "mid", "top"], random_state=0).fit(
        X, np.array(["low", "mid", "top"])[y]
    )
    display = CoefficientDisplay.from_estimator(ordinal, target="mid")
    assert drawn(display) == strongest(ordinal.coef_[1], 6) and display.ax_.get_title() == "target: above mid"
    with pytest.raises(ValueError, match=r"target='top' is not known; accepted are \['low', 'mid'\] and None"):
        CoefficientDisplay.from_estimator(ordinal, target="top")
    sets = pd.DataFrame((X.to_numpy()[:, :3] > 0).astype(int), columns=["red", "green", "blue"])
    for model in (PredtronMultilabelClassifier(random_state=0), PredtronLabelRanker(random_state=0)):
        display = CoefficientDisplay.from_estimator(model.fit(X, sets), target="green")
        assert drawn(display) == strongest(model.coef_[1], 6)
    peer = LogisticRegression().fit(X, y)
    assert drawn(CoefficientDisplay.from_estimator(peer, target=2)) == strongest(peer.coef_[2], 6)


def test_names_of_words():
    texts = ["good film", "bad film", "good price $5 or $6", "bad price"] * 5
    model = make_pipeline(CountVectorizer(token_pattern=r"\S+"), PredtronBinaryClassifier(fit_intercept=False, random_state=0))
    model.fit(texts, ["yes", "no"] * 10)
    display = CoefficientDisplay.from_estimator(model, max_features=2)
    assert drawn(display).keys() == {"good", "bad"} and drawn(display)["good"] > 0 > drawn(display)["bad"]
    everything = CoefficientDisplay.from_estimator(model, texts, max_features=20)
    assert {"$5", "$6"} <= set(ticks_of(everything.ax_.yaxis))
    everything.figure_.canvas.draw()  # a price is no formula
    counts = model[0].transform(texts).toarray()
    np.testing.assert_allclose(everything.coefficients, model[-1].coef_[0] * counts.std(axis=0))
    assert everything.ax_.get_xlabel() == "coefficient x standard deviation"


def test_units_of_the_features():
    X, y = framed()
    units = np.array([1, 10, 1000, 0.1, 5, 1])
    model = PredtronClassifier(norm="scaled", random_state=0).fit(X * units, y)
    expected = strongest(model.coef_[0] * (X * units).to_numpy().std(axis=0), 6)
    for rows in (X * units, sparse.csr_matrix((X * units).to_numpy())):
        display = CoefficientDisplay.from_estimator(model, rows, target=0)
        assert drawn(display) == pytest.approx(expected) and list(drawn(display)) == list(expected)
    with pytest.raises(ValueError, match=r"X has 4 features, and the estimator was fitted with 6"):
        CoefficientDisplay.from_estimator(model, X.iloc[:, :4])


def test_features_without_names():
    X, y = make_data(noise=2.0)
    steps = [StandardScaler(), FunctionTransformer()]
    for model in (PredtronClassifier(), make_pipeline(*steps, PredtronClassifier()), make_pipeline(PredtronClassifier())):
        display = CoefficientDisplay.from_estimator(model.fit(X, y), target=0)
        assert set(ticks_of(display.ax_.yaxis)) == {f"x{j}" for j in range(6)}
    frame = pd.DataFrame(X, columns=NAMES)
    for step in (FunctionTransformer(), "passthrough"):  # they know no names, and the estimator does
        display = CoefficientDisplay.from_estimator(make_pipeline(step, PredtronClassifier()).fit(frame, y), target=0)
        assert set(ticks_of(display.ax_.yaxis)) == set(NAMES)
    named = CoefficientDisplay.from_estimator(model, target=0, feature_names=["a" * 40, *"bcdef"])
    assert "a" * 27 + "..." in ticks_of(named.ax_.yaxis)
    check_legible(named, "coefficient", "")


def test_features_that_decide_nothing_are_not_drawn():
    display = CoefficientDisplay(coefficients=[0.0, -2.0, 0.0, 1.0, 2.0]).plot()
    assert drawn(display) == {"x1": -2.0, "x4": 2.0, "x3": 1.0} and list(drawn(display)) == ["x1", "x4", "x3"]
    for coefficients in ([0.0, 0.0], [1.0, np.nan], [np.inf], [[1.0]], []):
        with pytest.raises(
            ValueError, match=r"coefficients=.* must be of shape \(n_features,\), with finite numbers that are not"
        ):
            CoefficientDisplay(coefficients=coefficients).plot()


def test_coefficients_that_are_refused():
    X, y = framed()
    model = PredtronClassifier().fit(X, y)
    for n in (0, 1.5, True, None, "3"):
        with pytest.raises(ValueError, match=rf"max_features={n!r} must be an integer of at least 1"):
            CoefficientDisplay.from_estimator(model, max_features=n)
    with pytest.raises(ValueError, match=r"target=7 is not known; accepted are \[0, 1, 2\] and None"):
        CoefficientDisplay.from_estimator(model, target=7)
    with pytest.raises(ValueError, match=r"feature_names has 2 entries; it must have one for each of the 6 features"):
        CoefficientDisplay.from_estimator(model, feature_names=["a", "b"])
    with pytest.raises(ValueError, match=r"has no coef_; accepted are fitted linear estimators"):
        CoefficientDisplay.from_estimator(PredtronClassifier(norm=RKHS(gamma=0.1)).fit(X, y))
    with pytest.raises(ValueError, match=r"estimator=None has no coef_"):
        CoefficientDisplay.from_estimator(None)
    with pytest.raises(NotFittedError):
        CoefficientDisplay.from_estimator(PredtronClassifier())
    assert not plt.get_fignums()


def test_models_of_a_table_are_sent_to_effects():
    frame = pd.DataFrame({"a": np.arange(20.0), "kind": ["u", "v"] * 10})
    model = PredtronBinaryClassifier(features="piecewise", random_state=0).fit(frame, np.arange(20) % 2)
    with pytest.raises(ValueError, match=r"uses a feature map, Piecewise.*features=None.*EffectsDisplay"):
        CoefficientDisplay.from_estimator(model, frame)
