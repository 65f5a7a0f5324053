"""Categories and data frames: the same features whatever library holds the table."""

import copy
import pickle
import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from feature_cases import reference, table
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_predtron._support.cells import category_text
from sklearn_predtron.features import PiecewiseLinear, RandomFourier, _columns, _layout
from sklearn_predtron.features._columns import hashed_code


def columns(n=200, seed=0):
    random = np.random.default_rng(seed)
    colour = random.choice(["red", "green", "blue", None], n, p=[0.5, 0.2, 0.2, 0.1]).tolist()
    age = [None if a > 90 else float(a) for a in random.integers(0, 100, n)]
    return {
        "colour": colour,
        "age": age,
        "member": (random.random(n) < 0.4).tolist(),
        "visits": random.integers(0, 9, n).tolist(),
        "size": random.choice(["s", "m", "l"], n).tolist(),
    }


def frames(data):
    """The same table in each library, and in several types of its columns."""
    usual = pd.DataFrame(data)
    yield "pandas", usual
    yield (
        "pandas, nullable",
        usual.astype({"age": "Float64", "visits": "Int64", "member": "boolean", "colour": "string", "size": "category"}),
    )
    yield "pandas, object", usual.astype({"colour": "category", "age": object, "size": object, "member": object})
    yield "pandas, arrow", usual.convert_dtypes(dtype_backend="pyarrow")
    yield "polars", pl.DataFrame(data)
    yield (
        "polars, categories",
        pl.DataFrame(data).with_columns(pl.col("colour").cast(pl.Categorical), pl.col("visits").cast(pl.UInt8)),
    )
    yield "polars, enum", pl.DataFrame(data).with_columns(pl.col("size").cast(pl.Enum(["s", "m", "l", "xl"])))
    yield "pyarrow", pa.table(data)
    encoded = pa.table(data)
    yield "pyarrow, dictionary", encoded.set_column(0, "colour", encoded["colour"].dictionary_encode())


def dense(Z):
    return Z.toarray()


def test_every_library_makes_the_same_features():
    data, later = columns(), columns(50, seed=1)
    later["colour"][:2] = ["violet", None]
    expected = None
    fitted = PiecewiseLinear(n_knots=4).fit(pd.DataFrame(data))
    for name, frame in frames(data):
        encoder = PiecewiseLinear(n_knots=4).fit(frame)
        found = dense(encoder.transform(frame))
        expected = found if expected is None else expected
        assert_array_equal(found, expected, err_msg=name)
        assert_array_equal(encoder.feature_names_in_, list(data))
        assert_array_equal(encoder.get_feature_names_out(), fitted.get_feature_names_out(), err_msg=name)
    for (name, _), (_, frame) in zip(frames(data), frames(later | {"size": data["size"][:50]}), strict=True):
        assert_array_equal(
            dense(fitted.transform(frame)), dense(fitted.transform(pd.DataFrame(later | {"size": data["size"][:50]}))), name
        )


def test_features_of_categories_are_those_of_the_definition():
    frame = pd.DataFrame(columns())
    encoder = PiecewiseLinear(n_knots=4, n_pairs=7).fit(frame, frame["visits"] > 3)
    assert encoder.categories_[0][0] == "red" and set(encoder.categories_[0]) == {"red", "green", "blue"}
    assert encoder.categories_[1] is None and list(encoder.categories_[2]) == ["0", "1"]
    matrix = encoder.read(frame)
    assert matrix.dtype == np.float64 and matrix.flags.c_contiguous
    expected = [reference(encoder._layout().description, row) for row in matrix]
    assert_allclose(dense(encoder.transform(frame)), expected, atol=1e-12)
    assert len([term for term in encoder.terms_ if len(term) == 2]) == 7


@pytest.mark.parametrize("seed", range(6))
def test_tables_of_all_kinds(seed):
    """Numbers and categories in any order, under any parameters, with and without targets."""
    random = np.random.default_rng(seed)
    n, p = int(random.integers(3, 250)), int(random.integers(1, 8))
    numbers = table(n, p, seed, missing=0.15)
    columns = {f"n{j}": numbers[:, j] for j in range(p)}
    for j in range(int(random.integers(1, 5))):
        columns[f"c{j}"] = random.choice(["a", "b", "c", "d", "e", None][: int(random.integers(1, 7))], n)
    frame = pd.DataFrame({name: columns[name] for name in random.permutation(list(columns))})
    settings = {
        "n_knots": int(random.integers(2, 9)),
        "pair_knots": int(random.integers(2, 6)),
        "n_pairs": int(random.integers(12)),
    }
    encoder = PiecewiseLinear(**settings).fit(frame, random.normal(size=n) if seed % 2 else None)
    for rows in (frame, frame[:1], frame.iloc[random.permutation(n)[: n // 2 + 1]]):
        expected = [reference(encoder._layout().description, row) for row in encoder.read(rows)]
        assert_allclose(dense(encoder.transform(rows)), np.array(expected).reshape(len(rows), -1), atol=1e-12)
    names = encoder.get_feature_names_out()
    assert len(set(names)) == len(names) == len(encoder.term_of_) == encoder.n_features_out_
    assert len(encoder.terms_) - frame.shape[1] <= settings["n_pairs"]


def test_names_of_categories():
    frame = pd.DataFrame({"colour": ["red", "blue", "red", None], "age": [1.0, 2.0, 3.0, 4.0]})
    names = PiecewiseLinear(pair_knots=2).fit(frame).get_feature_names_out()
    assert list(names[:3]) == ["colour=red", "colour=blue", "colour missing"]
    assert list(names[-2:]) == ["colour=blue x age at 1.03", "colour=blue x age at 3.97"]


def test_unknown_categories_are_absent_or_hashed():
    few = pd.DataFrame({"a": ["x", "y"] * 10, "b": np.arange(20.0)})
    encoder = PiecewiseLinear().fit(few)
    assert_array_equal(encoder.read(pd.DataFrame({"a": ["z", None], "b": [1.0, 1.0]}))[:, 0], [-1, np.nan])
    unknown = encoder.transform(pd.DataFrame({"a": ["z"], "b": [0.19]}))
    assert {int(encoder.term_of_[j]) for j in unknown.indices} == {1}
    many = pd.DataFrame({"a": [f"item {i}" for i in range(400)] + ["often"] * 3, "b": np.arange(403.0)})
    with pytest.warns(UserWarning, match="401 distinct values in 403 cells"):
        encoder = PiecewiseLinear().fit(many)
    assert len(encoder.categories_[0]) == 256 and encoder.categories_[0][0] == "often"
    codes = encoder.read(many.assign(a="never seen"))[:, 0]
    assert (codes == hashed_code("never seen", 256, 256)).all() and 256 <= codes[0] < 512
    assert encoder.transform(many).shape == (403, encoder.n_features_out_)
    assert encoder.get_feature_names_out()[[0, 511]].tolist() == ["a=often", "a other #255"]


def test_products_with_many_categories_are_hashed(monkeypatch):
    monkeypatch.setattr(_layout, "MOST_PRODUCTS", 2**9)
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": random.integers(0, 60, 900).astype(str),
            "b": random.integers(0, 40, 900).astype(str),
            "c": random.normal(size=900),
            "d": random.integers(0, 3, 900).astype(str),
        }
    )
    encoder = PiecewiseLinear(pair_knots=5, categories=["a", "b", "d"]).fit(frame)
    layout = encoder._layout()
    assert layout.pair_size.sum() <= 2**9
    assert {tuple(layout.description.pairs[r]): int(layout.hashed[r]) for r in range(6)} == {
        (0, 1): _layout.HASHED_CELL,
        (0, 2): _layout.HASHED_FIRST,
        (0, 3): _layout.HASHED_CELL,
        (1, 2): _layout.HASHED_FIRST,
        (1, 3): _layout.HASHED_CELL,
        (2, 3): _layout.DIRECT,
    }
    Z = encoder.transform(frame)
    assert Z.has_canonical_format and Z.indices.max() < encoder.n_features_out_
    names = encoder.get_feature_names_out()
    assert len(set(names)) == len(names) == encoder.n_features_out_
    for number, term in enumerate(encoder.terms_):
        if len(term) == 2:
            assert_allclose(Z[:, encoder.term_of_ == number].sum(axis=1), 1, atol=1e-14)


def test_categories_of_arrays_are_named():
    X = table(300, 4, missing=0.1)
    X[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, np.nan_to_num(X[:, 2]) * 1.5)
    encoder = PiecewiseLinear(categories=[2, -1]).fit(X)
    assert [c is None for c in encoder.categories_] == [True, True, False, False]
    assert set(encoder.categories_[2]) == {"0", "1.5", "3", "4.5", "6", "7.5", "9"}
    expected = [reference(encoder._layout().description, row) for row in encoder.read(X)]
    assert_allclose(dense(encoder.transform(X)), expected, atol=1e-12)
    objects = X.astype(object)
    objects[:, 2] = [None if np.isnan(v) else v for v in X[:, 2]]
    assert_array_equal(dense(PiecewiseLinear(categories=(2, 3)).fit(objects).transform(objects)), dense(encoder.transform(X)))
    texts = np.array([["a", 1.5], ["b", None], ["a", 2]], dtype=object)
    assert_array_equal(PiecewiseLinear().fit(texts).read(texts), [[0, 1.5], [1, np.nan], [0, 2]])
    assert PiecewiseLinear(categories=np.array([0])).fit(X[:, :2]).categories_[1] is None


def test_categories_by_name():
    frame = pd.DataFrame({"zip": [1, 2, 1, 3], "age": [1.0, 5, 3, 9]})
    encoder = PiecewiseLinear(categories=["zip"]).fit(frame)
    assert list(encoder.categories_[0]) == ["1", "2", "3"]
    with pytest.raises(ValueError, match=r"names a column 'zap'.*'zip', 'age'"):
        PiecewiseLinear(categories=["zap"]).fit(frame)
    with pytest.raises(ValueError, match="names column 2, and X has 2 columns"):
        PiecewiseLinear(categories=[2]).fit(frame)
    strings = frame.assign(zip=["a", "b", "a", "c"])
    for settings in ({"categories": None}, {"categories": ["age"]}):
        with pytest.raises(ValueError, match=r"column 'zip', of type .*not numbers.*categories="):
            PiecewiseLinear(**settings).fit(strings)
    with pytest.raises(ValueError, match=r"column 'zip', of type .*not numbers"):
        RandomFourier().fit(strings)
    with pytest.warns(UserWarning, match=r"words among the numbers of column 'age' \(4 of 4 cells, 100.00%, as 'old'\)"):
        assert np.isnan(encoder.read(frame.assign(age="old"))[:, 1]).all()


def test_other_types_are_refused():
    dates = pd.DataFrame({"when": pd.date_range("2020", periods=3), "x": [1.0, 2, 3]})
    for frame in (dates, pl.from_pandas(dates), pa.Table.from_pandas(dates)):
        with pytest.raises(ValueError, match=r"column 'when' of type"):
            PiecewiseLinear().fit(frame)
    with pytest.raises(ValueError, match="LazyFrame"):
        PiecewiseLinear().fit(pl.LazyFrame({"a": [1]}))
    with pytest.raises(ValueError, match=r"inf.* in row 1 of column 'x'"):
        PiecewiseLinear().fit(dates[["x"]].assign(x=[1.0, np.inf, 3]))
    with pytest.raises(ValueError, match=r"missing value .* column 'x'"):
        PiecewiseLinear(missing=False).fit(dates[["x"]].assign(x=[1.0, None, 3]))
    with pytest.raises(ValueError, match="minimum of 1"):
        PiecewiseLinear().fit(dates[["x"]][:0])


class Colour(Enum):
    RED = 1


DAYS, LENGTHS, TEXTS = "pandas.to_datetime(column, utc=True)", "pandas.to_timedelta(column", "column.map(str)"
OBJECTS = {
    "datetime.date": (date(2024, 1, 2), DAYS),
    "datetime.datetime": (datetime(2024, 1, 2), DAYS),
    "pandas.*Timestamp": (pd.Timestamp(0), DAYS),
    "numpy.datetime64": (np.datetime64("2024-01-02"), DAYS),
    "datetime.time": (time(3), LENGTHS),
    "datetime.timedelta": (timedelta(3), LENGTHS),
    "numpy.timedelta64": (np.timedelta64(3, "D"), LENGTHS),
    "uuid.UUID": (UUID(int=3), TEXTS),
    "list": ([3], TEXTS),
    "tuple": ((3,), TEXTS),
    "dict": ({"a": 3}, TEXTS),
    "set": ({3}, TEXTS),
    "numpy.ndarray": (np.ones(2), TEXTS),
    "complex": (1j, TEXTS),
    "object": (object(), TEXTS),
    ".*Colour": (Colour.RED, TEXTS),
    "pandas.*Interval": (pd.Interval(0, 1), TEXTS),
}


@pytest.mark.parametrize("first", ["a", 1.5, None])
@pytest.mark.parametrize("kind", OBJECTS)
def test_objects_are_no_categories(kind, first):
    """In frames and arrays, in `fit`, in streams and in later rows of one column or the other."""
    value, advice = OBJECTS[kind]
    cells = np.empty(12, dtype=object)
    cells[:] = [first] * 11 + [value]
    frame = pd.DataFrame({"c": pd.Series(cells, dtype=object), "x": np.arange(12.0)})
    message = rf"column ('c'|0) of type object, with a {kind} in row (11|1); accepted are .*{re.escape(advice)}"
    texts, numbers = (PiecewiseLinear().fit(frame.assign(c=other)) for other in (list("ab") * 6, np.arange(12.0)))
    for rows in (frame, frame.to_numpy(), frame[10:]):
        for call in (PiecewiseLinear().fit, PiecewiseLinear().partial_fit, PiecewiseLinear(categories=[0]).fit):
            with pytest.raises(ValueError, match=message):
                call(rows)
    for rows in (frame, frame[10:]):
        for fitted in (texts, numbers):
            with pytest.raises(ValueError, match=message):
                fitted.read(rows)
    with pytest.raises(TypeError, match=f"argument must be a string or a real number, not {kind}"):
        PiecewiseLinear(categories=None).fit(frame)
    known = pd.DataFrame({"c": pd.Categorical(["a", "b"] * 6), "x": np.arange(12.0)})
    with pytest.raises(ValueError, match=message):
        PiecewiseLinear().fit(known).read(frame)


def test_a_categorical_type_may_hold_any_objects():
    days = pd.Categorical([date(2024, 1, 1 + i % 3) for i in range(12)])
    frame = pd.DataFrame({"c": days, "i": pd.cut(np.arange(12.0), 3), "x": np.arange(12.0)})
    encoder = PiecewiseLinear().fit(frame)
    assert encoder.categories_[0].tolist() == ["2024-01-01", "2024-01-02", "2024-01-03"]
    assert_array_equal(encoder.read(frame[:5]), encoder.read(frame)[:5])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, lambda data: pd.DataFrame(data).to_numpy(dtype=object)])
def test_nearly_as_many_categories_as_rows_are_said(make):
    n, random = 400, np.random.default_rng(0)
    days = [str(date(2024, 1, 1) + timedelta(int(i))) for i in random.integers(0, 90, n)]
    ids = [None if i % 9 == 0 else f"u{i}" for i in range(n)]
    names = [f"n{i}" for i in random.integers(0, n, n)]  # some 250 of them
    for column, said in (
        (days, f"X has {len(set(days))} dates, as '2024-01-01'"),
        (ids, "X has 355 distinct values in 355 cells"),
    ):
        table = make({"c": column, "x": random.normal(size=n), "few": names})
        for fit in (PiecewiseLinear().fit, PiecewiseLinear().partial_fit):
            with pytest.warns(UserWarning, match=said) as given:
                fit(table).transform(table) if fit.__name__ == "partial_fit" else fit(table)
            assert len(given) == 1 and str(given[0].message).count("which is read as categories") == 1
        PiecewiseLinear(categories=[0, 2]).fit(table)  # which needs no warning
    few = {"c": [f"u{i}" for i in range(49)], "months": [f"2024-{1 + i % 12:02}-01" for i in range(49)], "x": list(range(49))}
    PiecewiseLinear().fit(make(few))
    PiecewiseLinear().fit(pd.DataFrame({"c": ids, "x": range(n)}).astype({"c": "category"}))


def test_columns_must_be_those_of_fit():
    frame = pd.DataFrame(columns())
    encoder = PiecewiseLinear().fit(frame)
    with pytest.raises(ValueError, match="order"):
        encoder.transform(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="now missing"):
        encoder.transform(frame.iloc[:, :2])


def test_single_precision_stays():
    frame = pd.DataFrame({"a": np.arange(4, dtype=np.float32), "b": list("xyxy")})
    assert PiecewiseLinear().fit(frame).read(frame).dtype == np.float32
    assert PiecewiseLinear().fit(frame).read(frame.astype({"a": float})).dtype == np.float64


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_streams_of_frames(make):
    data = columns(700)
    expected = PiecewiseLinear().fit(make({name: values[:500] for name, values in data.items()}), np.array(data["visits"][:500]))
    encoder = PiecewiseLinear()
    for first in range(0, 700, 90):
        rows = {name: values[first : first + 90] for name, values in data.items()}
        encoder.partial_fit(make(rows), np.array(rows["visits"]))
        encoder = pickle.loads(pickle.dumps(encoder))
    assert encoder.complete_
    assert_array_equal(dense(encoder.transform(make(data))), dense(expected.transform(make(data))))
    assert_array_equal(encoder.get_feature_names_out(), expected.get_feature_names_out())
    assert_array_equal(dense(copy.deepcopy(encoder).transform(make(data))), dense(expected.transform(make(data))))


def test_texts():
    values = ["a", 1, 1.0, np.int64(1), True, np.bool_(True), 2.5, b"a", Decimal("1"), None, np.nan, pd.NA, pd.NaT, np.str_("a")]
    texts = ["a", "1", "1", "1", "1", "1", "2.5", "a", "1", None, None, None, None, "a"]
    assert [category_text(value) for value in values] == texts
    assert hashed_code("colour", 256, 256) == 462  # in every process, and for ever
    assert hashed_code("colour", 256, 0) == -1


def test_values_that_libraries_know_are_those_that_python_sees(monkeypatch):
    values = ["red", "blue", None, "red", "green", "blue", "red"]
    kinds = {
        "unused": pd.DataFrame({"a": pd.Categorical(values, ["violet", "red", "blue", "green"])}),
        "numbers": pd.DataFrame({"a": pd.Categorical([3.0, 1.5, None, 3.0, 2.0, 1.5, 3.0])}),
        "mixed": pd.DataFrame({"a": pd.Series(["1", 1, True, None, 1, "1", 1.0], dtype=object)}),
        "texts": pd.DataFrame({"a": values}),
        "chunks": pa.concat_tables([pa.table({"a": pa.array(part).dictionary_encode()}) for part in (values[:3], values[3:])]),
        "polars": pl.DataFrame({"a": values}),
        "enum": pl.DataFrame({"a": values}, schema={"a": pl.Enum(["violet", "red", "blue", "green"])}),
    }
    found = {name: PiecewiseLinear(categories=["a"]).fit(frame) for name, frame in kinds.items()}
    assert found["unused"].categories_[0].tolist() == ["red", "blue", "green"]
    assert found["mixed"].categories_[0].tolist() == ["1"]
    monkeypatch.setattr(_columns.Frame, "known", lambda self, j: None)
    for name, frame in kinds.items():
        slow = PiecewiseLinear(categories=["a"]).fit(frame)
        assert slow.categories_[0].tolist() == found[name].categories_[0].tolist(), name
        assert_array_equal(dense(slow.transform(frame)), dense(found[name].transform(frame)))
