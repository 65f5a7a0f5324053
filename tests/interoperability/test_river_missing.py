"""What is missing in a dict, or in a frame, is as what is left out; in tables it is a missing value."""

import numpy as np
import pytest
from cases import state

from sklearn_predtron import PredtronBinaryClassifier, PredtronBipartiteClassifier, PredtronClassifier, PredtronRanker
from sklearn_predtron.river import to_river

pytest.importorskip("river.base", reason="river is not installed")
pd = pytest.importorskip("pandas", reason="river's mini-batches are pandas frames")

ABSENT = [None, float("nan"), np.float32("nan"), np.float64("nan"), pd.NA, pd.NaT]


def rows(n=80, seed=0):
    """Rows of two classes with some of four names."""
    random = np.random.default_rng(seed)
    for _ in range(n):
        x = {name: float(value) for name, value in zip("dbac", random.standard_normal(4), strict=True)}
        left_out = [name for name in x if random.random() < 0.4]
        yield x, left_out, bool(x["a"] + x["b"] > 0)


@pytest.mark.parametrize("absent", ABSENT, ids=lambda value: f"{type(value).__name__} {value}")
def test_missing_values_are_as_if_left_out(absent):
    """To the last bit, also the first time that a name occurs."""
    short, filled = (to_river(PredtronBinaryClassifier(norm="l2")) for _ in range(2))
    for x, left_out, y in rows():
        some, all_names = (
            {n: v for n, v in x.items() if n not in left_out},
            {n: absent if n in left_out else v for n, v in x.items()},
        )
        assert filled.predict_proba_one(all_names) == short.predict_proba_one(some)
        short.learn_one(some, y)
        filled.learn_one({**all_names, "never": absent}, y)
    assert state(filled.model) == state(short.model) and filled.feature_names == short.feature_names
    assert "never" not in filled.feature_names


@pytest.mark.parametrize("absent", [None, np.nan, pd.NA], ids=str)
@pytest.mark.parametrize("size", [1, 7, 80])
def test_under_scaled_they_are_the_mean_so_far(absent, size):
    """A frame, or dicts, with gaps: the same bits as with means that are put in beforehand."""
    gaps, many, means = (to_river(PredtronBinaryClassifier(norm="scaled")) for _ in range(3))
    given, seen = list(rows()), {name: [] for name in "abcd"}
    given[0] = (given[0][0], [], given[0][2])
    holed = [{n: absent if n in left_out else v for n, v in x.items()} for x, left_out, _ in given]
    for (x, left_out, y), row in zip(given, holed, strict=True):
        filled = {n: sum(seen[n]) / len(seen[n]) if n in left_out else v for n, v in x.items()}
        assert gaps.predict_proba_one(row) == means.predict_proba_one(filled)
        gaps.learn_one(row, y)
        means.learn_one(filled, y)
        for n in x.keys() - set(left_out):
            seen[n].append(x[n])
    X, y = pd.DataFrame(holed, dtype=object), pd.Series([y for *_, y in given])
    for begin in range(0, len(X), size):
        many.learn_many(X[begin : begin + size], y[begin : begin + size])
    assert state(gaps.model) == state(means.model) == state(many.model)
    assert many.predict_many(X).tolist() == [gaps.predict_one(x) for x in holed]
    with pytest.raises(ValueError, match="no finite numbers"):
        many.learn_many(X.assign(a="word"), y)
    assert many._columns.sums == gaps._columns.sums


def test_raw_sensors_are_warned_of_once():
    random = np.random.default_rng(0)
    model = to_river(PredtronBinaryClassifier())
    with pytest.warns(UserWarning, match="between the columns 'small' .* and 'large' .*give norm='scaled'") as said:
        for z in random.standard_normal((700, 2)).tolist():
            model.learn_one({"small": z[0] / 1e3, "large": z[1] * 1e3}, z[0] > 0)
    assert len(said) == 1


@pytest.mark.parametrize("absent", [None, np.nan, pd.NA], ids=str)
@pytest.mark.parametrize("size", [1, 7, 80])
def test_frames_are_read_so_too(absent, size):
    one, many = (to_river(PredtronClassifier(norm="l2")) for _ in range(2))
    given = list(rows())
    X = pd.DataFrame([{n: absent if n in left_out else v for n, v in x.items()} for x, left_out, _ in given], dtype=object)
    X["never"] = absent
    y = pd.Series([y for *_, y in given])
    for x, left_out, label in given:
        one.learn_one({n: v for n, v in x.items() if n not in left_out}, label)
    for begin in range(0, len(X), size):
        many.learn_many(X[begin : begin + size], y[begin : begin + size])
    assert many.feature_names == one.feature_names and state(many.model) == state(one.model)
    assert many.predict_many(X).tolist() == [one.predict_one(x) for x in X.to_dict("records")]


@pytest.mark.parametrize("absent", ABSENT, ids=lambda value: f"{type(value).__name__} {value}")
def test_missing_values_of_tables_are_missing(absent):
    """What is learned is what the estimator learns of NaN; a name that is left out is missing, too."""
    given, names = list(rows(620)), list("dbac")
    given[0] = (given[0][0], [], given[0][2])  # whose names are the columns
    table = np.array([[np.nan if name in left_out else x[name] for name in names] for x, left_out, _ in given])
    y = [y for *_, y in given]
    model = to_river(PredtronBinaryClassifier(features="piecewise"))
    for i, (x, left_out, label) in enumerate(given):
        if i % 2:
            model.learn_one({n: absent if n in left_out else v for n, v in x.items()}, label)
        else:
            model.learn_one({n: v for n, v in x.items() if n not in left_out}, label)
    alone = PredtronBinaryClassifier(features="piecewise").partial_fit(table, y, classes=[False, True])
    assert state(model.model) == state(alone) and model.feature_names == names
    predicted = [model.predict_one({n: absent if n in left_out else v for n, v in x.items()}) for x, left_out, _ in given]
    assert predicted == alone.predict(table).tolist()
    zeros = alone.decision_function(np.nan_to_num(table))
    assert (alone.decision_function(table) != zeros).any()  # else the test could not tell
    frame = pd.DataFrame(table, columns=names)
    assert model.predict_many(frame).tolist() == predicted
    assert model.predict_one({"d": 1.0, "unheard of": 2.0}) == model.predict_one({"d": 1.0})


def test_tables_in_batches():
    given = list(rows(40))
    frame = pd.DataFrame([{n: np.nan if n in left_out else v for n, v in x.items()} for x, left_out, _ in given])
    many, one = (to_river(PredtronBinaryClassifier(features="piecewise")) for _ in range(2))
    many.learn_many(frame, pd.Series([y for *_, y in given]))
    for x, y in zip(frame.to_dict("records"), (y for *_, y in given), strict=True):
        one.learn_one(x, y)
    assert state(many.model) == state(one.model) and many.feature_names == one.feature_names


def test_tables_take_no_other_columns():
    model = to_river(PredtronClassifier(features="piecewise"), classes=[0, 1])
    model.learn_one({"a": 1.0, "b": None}, 0)
    assert model.feature_names == ["a", "b"]
    with pytest.raises(ValueError, match="is made of the columns of the first rows"):
        model.learn_one({"a": 1.0, "c": 2.0}, 1)
    assert model.feature_names == ["a", "b"] and model.model.t_ == 1
    for x, message in [
        ({"a": "red"}, "x has 'a': 'red', which is no number"),
        ({"b": float("inf")}, "x has 'b': inf"),
        (1, "must be a dict"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.predict_one(x)


def test_rows_without_any_value_are_rows():
    model = to_river(PredtronBinaryClassifier())
    model.learn_one({"a": None}, True)
    assert model.model.t_ == 1 and model.feature_names == []
    ranker = to_river(PredtronRanker())
    ranker.learn_one([{"a": None}, {"b": 1.0, "a": np.nan}], [0, 1])
    assert ranker.feature_names == ["b"] and ranker.predict_one([{"a": 1.0}]) == [0.0]
    batches = to_river(PredtronBipartiteClassifier(batch_size=2), classes=[0, 1])
    for x, y in [({"a": None}, 0), ({"b": 1.0, "a": None}, 1)]:
        batches.learn_one(x, y)
    assert batches.feature_names == ["b"]
