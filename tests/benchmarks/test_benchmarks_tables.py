import json

import numpy as np
import pandas as pd
import pytest

from benchmarks import tasks
from benchmarks.child import filled, growth
from benchmarks.contestants import TABLE_CONTESTANTS, LightGBMClassifier, Ours, OursOnColumns, RiverTrees
from benchmarks.contestants.base import Contestant
from benchmarks.contestants.lightgbm_ranks import LightGBMMedian, LightGBMRound
from benchmarks.suites import tables, tables_others, tables_sets
from benchmarks.suites.tables import ADDED, PEER, Found, Tried
from benchmarks.suites.tables_sets import GENERATED, MEAN, MEASURED, TableSet
from benchmarks.tasks import Options, Task, gaussian_classes, gaussian_ranks

INSTALLED = [contestant for contestant in TABLE_CONTESTANTS if contestant.installed and contestant.name != "ExplainableBoosting"]
QUIET = pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # LightGBM's
LOAD = """
import numpy as np
from scipy import sparse


def table(family, name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4))
    X[:, 1] = rng.integers(3, size=100)
    return X, (X[:, 0] + (X[:, 1] == 1) > 0).astype(int)


def categorical(name):
    return np.arange(4) == (1 if name == "adult" else 4)


def ordinal(name, binning):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    y = 1 + np.digitize(X[:, 0], [-0.5, 0.5])
    return X, y, X[:, 0], np.array([rng.permutation(60)[:40] for _ in range(20)])


def ranking(name, part):
    rng = np.random.default_rng(part == "test")
    X = rng.standard_normal((120, 5)) + 10
    return sparse.csr_matrix(X), np.digitize(X[:, 0], [9.5, 10.5]), np.repeat(np.arange(4), 30)
"""


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """Fewer rows, sets and learners, enough to run every line; a folder of data."""
    (tmp_path / "load.py").write_text(LOAD)
    monkeypatch.setattr(tasks, "FEWEST_ROWS", 60)
    monkeypatch.setattr(tables_sets, "GIVEN", tables_sets.GIVEN[:2])
    monkeypatch.setattr(tables_sets, "BUNDLED", tables_sets.BUNDLED[:1])
    monkeypatch.setattr(tables_sets, "CLASSES", tables_sets.CLASSES[1:2])
    monkeypatch.setattr(tables_sets, "NUMBERS", tables_sets.NUMBERS[1:2])
    monkeypatch.setattr(tables, "SHARES", (0.0, 0.3))
    monkeypatch.setattr(tables_others, "python", child)
    monkeypatch.setattr(tables_others.read, "ORDINAL", ("abalone",))
    return Options(repeats=1, seeds=1, scale=0.001, data=tmp_path)


def child(*words):
    """What `python -m benchmarks.child` prints, without a process of its own."""
    return json.dumps(growth(*words[2:5], *map(int, words[5:])))


def frame(n=200):
    """A number and a category, the first label depending on both."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.standard_normal(n), "b": pd.Categorical.from_codes(rng.integers(3, size=n), categories=["x", "y", "z"])}
    )
    return X, (X.a + 2 * (X.b == "y") > 0.5).astype(int).to_numpy()


# ------------------------------------------------------------------------------------------------------------------- learners


@QUIET
@pytest.mark.parametrize("contestant", INSTALLED, ids=lambda contestant: contestant.name)
def test_adapter_fits_arrays_and_frames(contestant):
    for X, y in (gaussian_classes(300, 4, 3, distance=8.0), frame()):
        model = contestant.fit(contestant.make(Task(len(np.unique(y)))), X, y)
        assert (contestant.predict(model, X) == y).mean() > 0.9


def test_categories_are_indicators_on_columns():
    X, y = frame()
    assert OursOnColumns().fit(OursOnColumns().make(Task(2)), X, y)[-1].n_features_in_ == 4


@pytest.mark.parametrize("name", ["ARFClassifier", "AMFClassifier", "HoeffdingAdaptiveTreeClassifier"])
def test_trees_of_streams_learn(name):
    trees = RiverTrees(name)
    if not trees.installed:
        pytest.skip("river is optional")
    X = np.random.default_rng(0).standard_normal((500, 2))
    y = (X[:, 0] > 0).astype(int)
    passed = tables_others.passed(trees, X, y, 500)
    assert passed.wrong.mean() < 0.2 and len(passed.wrong) == 499 and passed.us > 0


@QUIET
@pytest.mark.parametrize("trees", [LightGBMMedian(), LightGBMRound()], ids=lambda trees: trees.name)
def test_trees_predict_ranks(trees):
    if not trees.installed:
        pytest.skip("LightGBM is optional")
    X, y = gaussian_ranks(400, 3, 4, signal=8.0)
    predicted = trees.predict(trees.fit(trees.make(Task(4)), X, y), X)
    assert np.issubdtype(predicted.dtype, np.integer) and np.abs(predicted - y).mean() < 0.3


# ----------------------------------------------------------------------------------------------------------------------- sets


def test_numbers_are_cut_at_the_median_of_the_learned_rows():
    X = np.arange(100.0)[:, None]
    data = TableSet("", GENERATED, X, X.ravel() ** 2)
    X, y, X_test, y_test = data.split(0, Options())
    assert data.n_classes == 2 and (len(y), len(y_test)) == (70, 30) and y.mean() == 0.5
    assert X[y == 0].max() < X[y == 1].min() and X_test[y_test == 1].min() > X[y == 0].max()


def test_classes_are_numbered():
    data = TableSet("", MEASURED, np.zeros((90, 1)), np.repeat([3, 5, 9], 30))
    _, y, _, y_test = data.split(0, Options())
    assert np.bincount(y).tolist() == [21] * 3 and np.bincount(y_test).tolist() == [9] * 3


def test_values_are_missing_from_arrays_and_frames():
    X, _ = frame(1000)
    for whole in (X, X[["a"]].to_numpy()):
        holes = tables_sets.with_missing(whole, 0.3, 0)
        assert (
            pd.isna(holes).to_numpy().mean()
            if hasattr(holes, "columns")
            else np.isnan(holes).mean() == pytest.approx(0.3, abs=0.05)
        )
        assert not pd.isna(whole).any(axis=None)
    assert tables_sets.with_missing(X, 0.3, 0).dtypes.tolist() == X.dtypes.tolist()
    few, many = (np.isnan(tables_sets.with_missing(np.zeros((50, 4)), share, 1)) for share in (0.1, 0.3))
    assert (few <= many).all() and few.sum() < many.sum()


def test_concepts_drift():
    for draw in (tables_sets.rotating_hyperplane, tables_sets.sea):
        X, y = draw(4000)
        X_again, y_again = draw(4000)
        np.testing.assert_array_equal(X, X_again)
        np.testing.assert_array_equal(y, y_again)
        assert set(y) == {0, 1} and 0.2 < y.mean() < 0.8
    X, y = tables_sets.rotating_hyperplane(4000)
    first, last = (np.linalg.lstsq(X[rows] - 0.5, 2 * y[rows] - 1, rcond=None)[0] for rows in (slice(400), slice(3600, 4000)))
    assert first @ last < -0.8 * np.linalg.norm(first) * np.linalg.norm(last)
    X, y = tables_sets.sea(4000)
    assert [
        (y[part] != (X[part, :2].sum(axis=1) <= at)).mean() < 0.13 for part, at in ((slice(1000), 8), (slice(3000, 4000), 9.5))
    ]


def test_some_labels_of_the_child_are_drawn_by_chance():
    (X, y), (X_noisy, y_noisy) = (filled("float64", 2000, 3, 2, share) for share in (0, 20))
    np.testing.assert_array_equal(X, X_noisy)
    assert (y != y_noisy).mean() == pytest.approx(0.1, abs=0.03)


# --------------------------------------------------------------------------------------------------------------------- tables


def test_ratios_are_of_the_same_splits():
    found = Found(TableSet("", MEASURED, np.zeros((2, 1)), np.arange(2)))
    assert found.ratio(PEER.name) is None
    found.by = {PEER.name: Tried([0.1, 0.3]), "once": Tried([0.2])}
    found.by[PEER.name].fits.times, found.by["once"].fits.times = [1.0, 9.0], [0.5]
    assert found.ratio("once") == pytest.approx((0.2 + ADDED) / (0.1 + ADDED)) and found.ratio("else") is None
    assert found.ratio_of_times("once", lambda of: of.fits) == 0.5 and found.ratio_of_times("else", lambda of: of.fits) is None


def test_the_slow_learner_has_small_tables_once():
    small, large = (TableSet("", MEASURED, np.zeros((2, p)), np.arange(2)) for p in (3, 99))
    assert tables.is_for_additive(Found(small, rows=100), Options())
    assert not tables.is_for_additive(Found(small, rows=100), Options(scale=0.5))
    assert not tables.is_for_additive(Found(small, 100, {tables.ADDITIVE.name: Tried()}), Options())
    assert not tables.is_for_additive(Found(small, rows=tables.FEW_ROWS + 1), Options())
    assert not tables.is_for_additive(Found(large, rows=100), Options())


def test_the_suite_on_given_data(tiny):
    made = tables.run(tiny)
    assert len(made) == 7
    for table in made:
        assert table.rows and {len(row) for row in table.rows} == {len(table.columns)}
        assert any("ratio" in column for column in table.columns)
        assert "skipped" not in table.note
    first, missing, times, rounds, streams, ranks, rankings = made
    names = ["adult", "bank8FM", "breast_cancer", "friedman2", "moons"]
    assert [row[0] for row in first.rows] == [*names, *[MEAN] * 3] == [row[0] for row in times.rows]
    assert [row[:2] for row in missing.rows if row[0] == MEAN] == [[MEAN, share] for share in ("0%", "30%")]
    assert {row[2] for row in rounds.rows} == {name for name, _ in tables_others.ROUNDS}
    assert [row[0] for row in streams.rows[::5]] == ["elec2", "hyperplane", "SEA"]
    assert [row[0] for row in ranks.rows] == ["abalone", "abalone", MEAN] and len(rankings.rows) == 6


def test_without_data_and_the_optional_learners(tiny, monkeypatch):
    ours = property(lambda contestant: contestant.module in ("sklearn", "sklearn_predtron"))
    monkeypatch.setattr(Contestant, "installed", ours)
    made = tables.run(Options(repeats=1, seeds=1, scale=0.001))
    assert len(made) == 5 and all("skipped" in table.note for table in (made[0], made[4]))
    assert all("not installed" in table.markdown() for table in made)
    assert not LightGBMClassifier().installed and Ours().installed
