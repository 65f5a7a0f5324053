"""Tables whose columns come in several types, and types that are refused: in the first rows of a stream and behind."""

import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import skops.io
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron.features import PiecewiseLinear, RandomFourier
from sklearn_predtron.mixing import ParameterMixing
from tests.cases import weights_of

RANDOM = np.random.default_rng(0)
N = 1000
NUMBERS = RANDOM.integers(0, 9, N)
TEXTS = RANDOM.choice(["x", "y", "z"], N)
Y = ((NUMBERS > 4) ^ (TEXTS == "x")).astype(int)


def stream(calls, ends, **parameters):
    model = PredtronBinaryClassifier(features=PiecewiseLinear(**parameters))
    for make, begin, end in zip(calls, [0, *ends[:-1]], ends, strict=True):
        model.partial_fit(make(slice(begin, end)), Y[begin:end], classes=[0, 1])
    return model


def arrow(part, numbers="float64", texts="string", encoded=False):
    names = pa.array(TEXTS[part].tolist(), getattr(pa, texts)())
    values = pa.array(NUMBERS[part], getattr(pa, numbers)())
    return pa.table({"a": values, "b": names.dictionary_encode() if encoded else names})


def polars(part, numbers=pl.Float64, texts=pl.String):
    return pl.DataFrame({"a": NUMBERS[part], "b": TEXTS[part]}).with_columns(pl.col("a").cast(numbers), pl.col("b").cast(texts))


def pandas(part, **types):
    return pd.DataFrame({"a": NUMBERS[part], "b": TEXTS[part]}).astype(types)


KINDS = {
    "arrow": lambda part: arrow(part, "int64"),
    "arrow of doubles": arrow,
    "arrow of small numbers": lambda part: arrow(part, "int32", "large_string"),
    "arrow of codes": lambda part: arrow(part, encoded=True),
    "polars": lambda part: polars(part, pl.Int64),
    "polars of codes": lambda part: polars(part, texts=pl.Categorical),
    "pandas": pandas,
    "pandas of floats": lambda part: pandas(part, a=float, b="category"),
    "pandas of objects": lambda part: pandas(part, a=object, b=object),
}


@pytest.mark.parametrize("ends", [[300, 400, 1000], [100, 499, 1000], [499, 501, 1000]])
@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_the_types_of_a_stream_may_change(first, second, ends):
    expected = stream([pandas] * 3, ends)
    model = stream([KINDS[first], KINDS[second], KINDS[first]], ends)
    assert_array_equal(weights_of(model), weights_of(expected))
    assert_array_equal(model.predict(KINDS[second](slice(None))), expected.predict(pandas(slice(None))))


def test_columns_without_names_are_told_by_their_places():
    X = np.column_stack([NUMBERS, 1000.0 + RANDOM.normal(size=N)])
    calls = [lambda part: pd.DataFrame(X[part]), lambda part: pd.DataFrame(X[part], columns=[1, 0]), lambda part: X[part]]
    model = stream(calls, [250, 500, N])
    assert_array_equal(weights_of(model), weights_of(stream([lambda part: X[part]] * 3, [250, 500, N])))


def test_a_stream_of_frames_is_saved_without_them():
    for ends in ([100], [300, 499]):
        model = stream([pandas] * len(ends), ends)
        rest = slice(ends[-1], N)
        written = skops.io.dumps(model)
        read = skops.io.loads(written, trusted=skops.io.get_untrusted_types(data=written))
        for other in (pickle.loads(pickle.dumps(model)), read):
            other.partial_fit(pandas(rest), Y[rest])
            assert_array_equal(weights_of(other), weights_of(stream([pandas] * (len(ends) + 1), [*ends, N])))
        assert b"pandas" not in pickle.dumps(model)


def test_integers_keep_their_digits():
    frame = pd.DataFrame({"a": NUMBERS, "id": 2**53 + np.arange(N) % 6})
    encoder = PiecewiseLinear(categories=["id"])
    for begin in range(0, N, 100):
        encoder.partial_fit(frame[begin : begin + 100])
    assert sorted(encoder.categories_[1]) == [str(2**53 + k) for k in range(6)]


def test_decimal_numbers_are_numbers():
    values = [None if i % 7 == 0 else Decimal(int(k)) / 4 for i, k in enumerate(NUMBERS)]
    floats = pd.DataFrame({"a": [np.nan if value is None else float(value) for value in values]})
    objects = pd.DataFrame({"a": pd.Series(values, dtype=object)})
    typed = pa.table({"a": pa.array(values, pa.decimal128(10, 2))})
    expected = PredtronBinaryClassifier(features="piecewise", random_state=0).fit(floats, Y)
    for table in (objects, typed, objects.to_numpy()):
        model = PredtronBinaryClassifier(features="piecewise", random_state=0).fit(table, Y)
        assert_array_equal(weights_of(model), weights_of(expected))
        assert_array_equal(model.predict(table), expected.predict(floats))
    streamed = stream(
        [lambda part: floats[part], lambda part: typed.slice(part.start, part.stop - part.start), lambda part: objects[part]],
        [200, 400, N],
    )
    assert_array_equal(weights_of(streamed), weights_of(stream([lambda part: floats[part]] * 3, [200, 400, N])))
    numbers, codes = PiecewiseLinear(categories=["a"]).fit(floats), PiecewiseLinear(categories=["a"]).fit(objects)
    assert numbers.categories_[0].tolist() == codes.categories_[0].tolist()


# ------------------------------------------------------------------------------------------------------------ what is refused


def moments(library):
    days = pd.to_datetime(["2020-01-01", None, "2021-01-01"])
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": days})
    made = {"pandas": frame, "arrow": pa.Table.from_pandas(frame), "polars": pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": days})}
    made["lengths"] = frame.assign(b=days - days[0])
    made["complex"] = frame.assign(b=[1j, 2j, 3j])
    made["periods"] = frame.assign(b=days.to_period("D"))
    return made[library]


@pytest.mark.parametrize("library", ["pandas", "arrow", "polars", "lengths", "complex", "periods"])
@pytest.mark.parametrize("streamed", [0, 100, 700])
def test_dates_are_no_numbers_at_any_call(library, streamed):
    table = pd.DataFrame({"a": RANDOM.normal(size=N), "b": RANDOM.normal(size=N)})
    model = PredtronBinaryClassifier(features="piecewise", random_state=0)
    model = model.partial_fit(table[:streamed], Y[:streamed], classes=[0, 1]) if streamed else model.fit(table, Y)
    before = pickle.dumps(model)
    for call in (model.predict, lambda X: model.partial_fit(X, [0, 1, 0])):
        with pytest.raises(
            ValueError, match=r"X has a column 'b' of type .*; accepted are numbers, categories, strings and booleans"
        ):
            call(moments(library))
    assert pickle.dumps(model) == before


def test_arrays_of_dates_are_refused():
    days = np.array([["2020-01-01"], ["2021-01-01"]], dtype="datetime64[D]")
    with pytest.raises(ValueError, match=r"X is an array of datetime64\[D\]; accepted are numbers"):
        PredtronBinaryClassifier(features="piecewise").fit(days, [0, 1])


# ------------------------------------------------------------------------------------------------------- the same by other types


def test_booleans_are_the_numbers_that_they_are():
    owner = RANDOM.random(N) < 0.5
    table = pd.DataFrame({"a": RANDOM.normal(size=N), "owner": owner})
    y = (owner ^ (table.a > 0)).astype(int)
    model = PredtronBinaryClassifier(features="piecewise", random_state=0).fit(table, y)
    assert model.score(table, y) > 0.95
    for kind in (int, float, "boolean", object):
        assert_array_equal(model.decision_function(table.astype({"owner": kind})), model.decision_function(table))
    whole = PredtronBinaryClassifier(features=PiecewiseLinear(categories=["owner"]), random_state=0).fit(
        table.astype({"owner": int}), y
    )
    assert_array_equal(whole.decision_function(table), whole.decision_function(table.astype({"owner": int})))


BOOLEANS = {
    kind: lambda values, kind=kind: pd.DataFrame({"a": values}).astype({"a": kind})
    for kind in ("bool", "boolean", "bool[pyarrow]", "Sparse[bool]", "object", "float16", "Int64", "UInt8", "Float32")
}
BOOLEANS["polars"] = lambda values: pl.DataFrame({"a": values})
BOOLEANS["polars, 128 bits"] = lambda values: pl.DataFrame({"a": values}).cast(pl.Int128)
BOOLEANS["arrow"] = lambda values: pa.table({"a": values})


@pytest.mark.parametrize("kind", BOOLEANS)
def test_booleans_are_numbers_before_there_is_a_map(kind):
    """Of any type, in training and in prediction."""
    rows, numbers = BOOLEANS[kind](NUMBERS[:300] > 4), (NUMBERS[:300, None] > 4).astype(float)
    expected = PredtronBinaryClassifier().partial_fit(numbers, Y[:300], classes=[0, 1])
    model = PredtronBinaryClassifier(features="piecewise").partial_fit(rows, Y[:300], classes=[0, 1])
    assert_array_equal(weights_of(model), weights_of(expected))
    assert weights_of(model).any()
    assert_array_equal(model.decision_function(rows), expected.decision_function(numbers))


@pytest.mark.parametrize("kind", ["boolean", "bool[pyarrow]", "polars", "arrow"])
def test_missing_booleans_are_means_before_there_is_a_map(kind):
    given = [None if i % 7 == 3 else bool(v > 4) for i, v in enumerate(NUMBERS[:300])]
    numbers = pd.DataFrame({"a": pd.Series(given, dtype=object).astype(float)})
    coefs = [
        weights_of(PredtronBinaryClassifier(features="piecewise").partial_fit(rows, Y[:300], classes=[0, 1]))
        for rows in (BOOLEANS[kind](given), numbers)
    ]
    assert_array_equal(*coefs)


@pytest.mark.parametrize("make", [np.asarray, lambda X: pd.DataFrame(X, columns=["a", "b"])])
def test_categories_in_either_precision(make):
    X = np.column_stack([RANDOM.normal(size=200), RANDOM.integers(0, 5, 200) + 0.1])
    encoder = PiecewiseLinear(categories=[1]).fit(make(X))
    assert_array_equal(encoder.read(make(X.astype(np.float32)))[:, 1], encoder.read(make(X))[:, 1])


def unaligned(X):
    found = np.ndarray(X.shape, X.dtype, bytearray(X.nbytes + 1), 1)
    found[:] = X
    return found


@pytest.mark.parametrize("change", [unaligned, lambda X: X.astype(">f8"), lambda X: X.astype(">f4"), np.asfortranarray])
@pytest.mark.parametrize("rows", [300, N])
def test_arrays_of_any_layout(change, rows):
    X = RANDOM.normal(size=(rows, 3)).astype(np.float32).astype(float)
    model = PredtronBinaryClassifier(features="piecewise").partial_fit(X, Y[:rows], classes=[0, 1])
    other = PredtronBinaryClassifier(features="piecewise")
    for begin in range(0, rows, 100):
        other.partial_fit(change(X[begin : begin + 100]), Y[begin : begin + 100], classes=[0, 1])
    assert_array_equal(weights_of(other), weights_of(model))
    assert_array_equal(model.decision_function(change(X)), model.decision_function(X))


@pytest.mark.parametrize("make", [pa.table, pl.DataFrame])
def test_columns_of_nothing_are_missing(make):
    data = {"a": RANDOM.normal(size=50).tolist(), "nothing": [None] * 50}
    encoder = PiecewiseLinear().fit(make(data))
    assert np.isnan(encoder.read(make(data))[:, 1]).all()


# ---------------------------------------------------------------------------------------------------------- what is said of it


def test_a_warm_start_needs_a_map():
    model = PredtronBinaryClassifier(features="piecewise", warm_start=True).partial_fit(
        pandas(slice(100)), Y[:100], classes=[0, 1]
    )
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"warm_start=True is not possible before 500 streamed rows .* there are 100"):
        model.fit(pandas(slice(None)), Y)
    assert pickle.dumps(model) == before
    assert model.set_params(warm_start=False).fit(pandas(slice(None)), Y).score(pandas(slice(None)), Y) > 0.95


def test_there_is_no_map_yet():
    model = PredtronBinaryClassifier(features="piecewise").partial_fit(pandas(slice(100)), Y[:100], classes=[0, 1])
    assert not hasattr(model, "features_")
    with pytest.raises(
        AttributeError, match="features_ is the map that the first 500 rows of a stream make; so far there are 100"
    ):
        print(model.features_)


def test_rows_that_are_alike_make_no_map():
    X = np.full((600, 2), 1e15) + [[0, 1]]
    model = PredtronBinaryClassifier(features="piecewise").partial_fit(X[:400], Y[:400], classes=[0, 1])
    before = pickle.dumps(model)
    with pytest.raises(
        ValueError,
        match=r"no column that varies beyond rounding \(n_samples = 500\).*among the first 500 rows, which make the map",
    ):
        model.partial_fit(X[400:], Y[400:600])
    assert pickle.dumps(model) == before


def test_lazy_frames_are_refused():
    model = PredtronBinaryClassifier(features="piecewise", random_state=0).fit(polars(slice(None)), Y)
    with pytest.raises(ValueError, match=r"X is a LazyFrame; .*: pass X.collect\(\)"):
        model.predict(polars(slice(None)).lazy())


@pytest.mark.parametrize("features", [None, "auto", "piecewise"])
@pytest.mark.parametrize(
    "make",
    [lambda X, names: pd.DataFrame(X, columns=names), lambda X, names: pa.table(list(X.T), names=names)],
    ids=["pandas", "arrow"],
)
def test_two_columns_of_one_name_are_refused_by_name(make, features):
    X = np.random.default_rng(0).standard_normal((40, 3))
    y = (X[:, 0] > 0).astype(int)
    model = PredtronBinaryClassifier(features=features, random_state=0).fit(make(X, ["a", "b", "c"]), y)
    twice = make(X, ["a", "b", "a"])
    qid = np.repeat(range(8), 5)
    for call in (
        lambda: clone(model).fit(twice, y),
        lambda: clone(model).partial_fit(twice, y, classes=[0, 1]),
        lambda: model.predict(twice),
        lambda: model.partial_fit(twice, y),
        lambda: PiecewiseLinear().fit(twice),
        lambda: PiecewiseLinear().fit(make(X, ["a", "b", "c"])).transform(twice),
        lambda: PredtronRanker(features=features).fit(twice, y, qid=qid),
    ):
        with pytest.raises(ValueError, match="X has several columns of the name 'a'; accepted are frames whose columns"):
            call()


def damaged(encoder, **changes):
    state = encoder.__getstate__()
    other = PiecewiseLinear.__new__(PiecewiseLinear)
    other.__setstate__({**state, **changes})
    return other


@pytest.mark.parametrize(
    "changes",
    [
        {"_state": None},
        {"_categories": None},
        {"_categories": [None]},
        {"_categories": [None, np.array(["x", "y"])]},
        {"_categories": [None, np.array(["x", "y", "z", "w"])]},
        {"_categories": [np.array(["1"]), np.array(["x", "y", "z"])]},
        {"_hashed": [0, 256]},
        {"_hashed": [0]},
    ],
)
def test_damaged_categories_are_refused(changes):
    encoder = PiecewiseLinear().fit(pandas(slice(None)))
    assert_array_equal(damaged(encoder).transform(pandas(slice(9))).toarray(), encoder.transform(pandas(slice(9))).toarray())
    with pytest.raises(
        ValueError, match="The saved state of a PiecewiseLinear is damaged: its categories are not those of its columns"
    ):
        damaged(encoder, **changes)


# ------------------------------------------------------------------------------------------------ dicts where rows are expected

ROWS = [{"a": float(i), "b": i % 3 - 1.0} for i in range(12)]
LABELS, SETS = np.arange(12) % 2, np.eye(2)[np.arange(12) % 2]
CALLS = {
    PredtronBinaryClassifier(): (LABELS, {}, {"classes": [0, 1]}),
    PredtronClassifier(): (LABELS, {}, {"classes": [0, 1]}),
    PredtronClassifier(features="piecewise"): (LABELS, {}, {"classes": [0, 1]}),
    PredtronClassifier(features="fourier"): (LABELS, {}, {"classes": [0, 1]}),
    PredtronOrdinalClassifier(): (LABELS, {}, {"classes": [0, 1]}),
    PredtronMultilabelClassifier(): (SETS, {}, {}),
    PredtronLabelRanker(): (SETS, {}, {}),
    PredtronRanker(): (LABELS, {"qid": "one"}, {"qid": "one"}),
    PredtronBipartiteClassifier(): (LABELS, {}, {"classes": [0, 1]}),
    PredtronSequenceTagger(): (LABELS, {"sid": "one"}, {"sid": "one", "classes": [0, 1]}),
    ParameterMixing(PredtronClassifier()): (LABELS, {}, {"classes": [0, 1]}),
}
FORMS = {"dicts": ROWS, "a dict": ROWS[0], "sentences": [ROWS], "an array": np.array(ROWS), "a tuple": tuple(ROWS)}
REFUSED = r"X holds dicts; .*DictVectorizer and FeatureHasher .*sklearn_predtron\.river\.to_river"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("estimator", CALLS, ids=str)
def test_dicts_are_refused(estimator, form):
    """Also once rows were learned."""
    y, given, first = CALLS[estimator]
    X, n = FORMS[form], len(FORMS[form])
    learned = clone(estimator).fit(DictVectorizer(sparse=False).fit_transform(ROWS), y, **given)
    calls = [
        lambda: estimator.fit(X, y[:n], **given),
        lambda: estimator.partial_fit(X, y[:n], **first),
        lambda: learned.partial_fit(X, y[:n], **given),
        lambda: learned.predict(X, **({"sid": "one"} if "sid" in given else {})),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=REFUSED):
            call()
    assert not hasattr(estimator, "n_features_in_")


@pytest.mark.parametrize("made", [PiecewiseLinear(), RandomFourier()], ids=str)
def test_maps_of_features_refuse_them(made):
    for form in FORMS.values():
        with pytest.raises(ValueError, match=REFUSED):
            made.fit(form, LABELS[: len(form)])
