"""Effects: what is drawn adds up to the score, and is what the features of a term say."""

import numpy as np
import pandas as pd
import pytest
from display_cases import ticks_of
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronMultilabelClassifier
from sklearn_predtron.features import PiecewiseLinear
from sklearn_predtron.inspection import EffectsDisplay
from tests.cases import weights_of

plt = pytest.importorskip("matplotlib.pyplot")


def table(n=500, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame({"age": random.uniform(18, 90, n), "income": np.exp(random.normal(10, 0.6, n)), "$rooms$": 3.0})
    X["town"] = random.choice(["Ulm", "Bonn", "Kiel"], n, p=[0.5, 0.3, 0.2])
    X.loc[random.random(n) < 0.2, "income"] = np.nan
    y = np.sin(X["age"] / 12) + X["income"].isna() + (X["town"] == "Ulm") * (X["age"] - 50) / 25 > 0.5
    return X, y.to_numpy()


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return PredtronBinaryClassifier(features="piecewise", max_iter=3, cv=0, random_state=0).fit(X, y), X


def inside(display):
    """All axes are within the figure, and none is on another."""
    display.figure_.canvas.draw()
    edges, boxes = display.figure_.bbox, []
    for ax in [*display.axes_, *(ax for ax in display.below_ if ax is not None)]:
        box = ax.get_tightbbox()
        assert edges.x0 <= box.x0 and box.x1 <= edges.x1 and edges.y0 <= box.y0 and box.y1 <= edges.y1
        inner = ax.get_window_extent()
        assert not any(inner.overlaps(other) for other in boxes)
        boxes.append(inner)


def test_effects_at_rows_add_up_to_the_score(fitted):
    model, X = fitted
    display = EffectsDisplay.from_estimator(model, X, n_terms=100)
    assert display.base == pytest.approx(model.decision_function(X).mean())
    found = {effect.name: effect for effect in display.effects}
    assert "$rooms$" not in found  # it is constant
    row = pd.DataFrame({"age": found["age"].columns[0].at[[40]], "income": np.nan, "$rooms$": 3.0, "town": "Kiel"})
    town = found["town"].columns[0].at.tolist().index("Kiel")
    alone = found["age"].values[40] + found["income"].missing + found["town"].values[town]
    alone += found["age x income"].missing + found["income x town"].missing
    pair = found["age x town"]
    between = [np.interp(row["age"], pair.columns[0].at, line)[0] for line in pair.values.T]
    assert display.base + alone + between[town] == pytest.approx(model.decision_function(row)[0], abs=5e-3)


def test_lines_are_sums_over_the_features_of_a_term(fitted):
    model, X = fitted
    display = EffectsDisplay.from_estimator(model, X, features=["age"])
    chosen = model.features_.term_of_ == 0
    x, y = display.drawn_[0].get_data()
    rows = X.iloc[[0] * len(x)].assign(age=x)
    of_rows = [model.features_.transform(given)[:, chosen] @ weights_of(model)[0, chosen] for given in (rows, X)]
    np.testing.assert_allclose(y, of_rows[0] - of_rows[1].mean(), atol=1e-12)
    np.testing.assert_allclose(display.effects[0].strength, np.abs(of_rows[1] - of_rows[1].mean()).mean())
    knots = model.features_.knots_[0]
    assert set(knots[(knots > x[0]) & (knots < x[-1])]) <= set(x) and (x[0], x[-1]) == tuple(
        np.quantile(X["age"], [0.005, 0.995])
    )
    assert display.missing_ == [None]


def test_the_strongest_come_first(fitted):
    model, X = fitted
    values = model.explain(X).values
    strength = np.abs(values - values.mean(axis=0)).mean(axis=0)
    names = model.explain(X).names[np.argsort(-strength)][:3].tolist()
    display = EffectsDisplay.from_estimator(model, X, n_terms=3)
    assert [effect.name for effect in display.effects] == names
    titles = [ax.get_title() for ax in display.axes_]
    assert titles == names
    inside(display)


def test_bars_and_what_is_missing(fitted):
    model, X = fitted
    display = EffectsDisplay.from_estimator(model, X, features=["town", "income", ("town", "age"), (0, 1), 2], name="of $5")
    town, income, crossed, pair, constant = display.effects
    assert [bar.get_height() for bar in display.drawn_[0]] == town.values.tolist()
    assert len({bar.get_height() < 0: bar.get_facecolor() for bar in display.drawn_[0]}) == 2
    assert ticks_of(display.below_[0].xaxis) == ["Ulm", "Bonn", "Kiel"] == town.columns[0].at.tolist()
    np.testing.assert_allclose(town.columns[0].shares, [(X["town"] == name).mean() for name in town.columns[0].at])
    assert display.missing_[1].get_ydata().tolist() == [income.missing] and ticks_of(display.below_[1].xaxis)[-1] == "missing"
    assert income.columns[0].missing == X["income"].isna().mean()
    assert income.columns[0].shares.sum() == pytest.approx(1 - income.columns[0].missing, abs=0.02)
    assert ticks_of(display.axes_[2].yaxis) == ["Ulm", "Bonn", "Kiel"] and display.axes_[2].get_xlabel() == "age"
    assert crossed.values.shape == (61, 3) and pair.values.shape == (61, 61)
    assert display.drawn_[2].get_clim() == display.drawn_[3].get_clim()
    np.testing.assert_array_equal(display.drawn_[3].get_array(), pair.values.T)
    assert constant.values.tolist() == [0.0] and display.below_[2:4] == [None, None]
    inside(display)
    assert display.axes_[0].get_ylim() == display.axes_[1].get_ylim()


def test_the_score_of_a_target():
    X, y = table()
    names = np.array(["low", "mid", "top"])[y + (X["age"] > 60).to_numpy().astype(int)]
    model = PredtronClassifier(features=PiecewiseLinear(n_pairs=0), max_iter=2, cv=0, random_state=0).fit(X, names)
    display = EffectsDisplay.from_estimator(model, X, target="mid")
    assert display.base == pytest.approx(model.decision_function(X)[:, 1].mean())
    assert display.axes_[0].figure.get_suptitle() == display.name == "target: mid"
    for target in (None, "none"):
        with pytest.raises(ValueError, match=rf"target={target!r} is not known; accepted are \['low', 'mid', 'top'\]"):
            EffectsDisplay.from_estimator(model, X, target=target)
    sets = PredtronMultilabelClassifier(max_iter=2, cv=0, random_state=0)
    sets.fit(X[["age"]], pd.DataFrame({"old": X["age"] > 60, "young": X["age"] < 30}).astype(int))
    assert EffectsDisplay.from_estimator(sets, X[["age"]], target="old").effects[0].values[-1] > 0


def test_columns_as_they_are_have_straight_lines():
    X, y = table()
    X = X[["age", "income"]].fillna(0)
    pipeline = make_pipeline(StandardScaler(), PredtronBinaryClassifier(max_iter=2, cv=0, random_state=0))
    search = GridSearchCV(pipeline, {"predtronbinaryclassifier__norm": ["l2"]}, cv=2).fit(X, y)
    display = EffectsDisplay.from_estimator(search, X)
    assert {effect.name for effect in display.effects} == {"age", "income"}
    coef = dict(zip(X.columns, weights_of(search.best_estimator_[-1])[0], strict=True))
    for effect in display.effects:
        slope = np.diff(effect.values) / np.diff(effect.columns[0].at)
        assert slope.tolist() == pytest.approx([coef[effect.name]])
    assert EffectsDisplay.from_estimator(search, X, feature_names=["a", "b"]).effects[0].name in "ab"


def test_effects_in_the_place_of_axes(fitted):
    model, X = fitted
    figure, (left, right) = plt.subplots(1, 2, layout="constrained", figsize=(12, 4))
    display = EffectsDisplay.from_estimator(model, X, n_terms=2, ax=left, color="k")
    assert display.figure_ is figure and display.ax_ is left and tuple(figure.get_size_inches()) == (12, 4)
    assert all(ax.get_window_extent().x1 < right.get_window_extent().x0 for ax in display.axes_)
    inside(display)
    again = display.plot(name="again")
    assert again.axes_[0].figure.get_suptitle() == "again" and again.figure_ is not figure
    with pytest.raises(ValueError, match="has no place in a grid"):
        display.plot(figure.add_axes((0, 0, 1, 1)))


def test_effects_that_are_refused(fitted):
    model, X = fitted
    plt.close("all")
    for features in (["height"], [("age", "$rooms$")], [9], [None]):
        with pytest.raises(ValueError, match=r"features has .* no term of the scores; accepted are the columns \['age', 'inc"):
            EffectsDisplay.from_estimator(model, X, features=features)
    with pytest.raises(ValueError, match=r"features=\[\] has nothing to draw"):
        EffectsDisplay.from_estimator(model, X, features=[])
    with pytest.raises(ValueError, match="n_terms=0 must be an integer of at least 1"):
        EffectsDisplay.from_estimator(model, X, n_terms=0)
    with pytest.raises(ValueError, match=r"target='x' is not known; accepted are \[None"):
        EffectsDisplay.from_estimator(model, X, target="x")
    with pytest.raises(ValueError, match="has no effects; accepted are fitted estimators of this package"):
        EffectsDisplay.from_estimator(LogisticRegression(), X)
    rows = sparse.random_array((20, 3), density=0.5, rng=np.random.default_rng(0), format="csr")
    words = PredtronBinaryClassifier(max_iter=1, cv=0).fit(rows, np.arange(20) % 2)
    with pytest.raises(ValueError, match=r"X is a sparse csr_array; accepted are dense rows.*CoefficientDisplay"):
        EffectsDisplay.from_estimator(words, rows)
    with pytest.raises(ValueError, match=r"effects=\[\] has nothing to draw"):
        EffectsDisplay(effects=[]).plot()
    assert not plt.get_fignums()
