"""Columns of pandas, polars and Arrow that declare the order of their labels."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cases import state
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV, cross_val_score

from sklearn_predtron import PredtronOrdinalClassifier
from tests.families.test_ordinal_estimator import NAMES, make_data


def codes_of(y, names):
    return np.array([list(names).index(label) for label in y])


def dictionary(y, names=NAMES, *, ordered=True):
    return pa.DictionaryArray.from_arrays(pa.array(codes_of(y, names), pa.int8()), pa.array(list(names)), ordered=ordered)


def chunks(y, names=NAMES):
    return pa.chunked_array([dictionary(y[:7], names), dictionary(y[7:], names)])


def arrow_series(y, names=NAMES):
    return pd.Series(pd.arrays.ArrowExtensionArray(chunks(y, names)), index=np.arange(len(y))[::-1])


ORDERED = {
    "polars Enum": lambda y, names=NAMES: pl.Series("grade", y, dtype=pl.Enum(list(names))),
    "Arrow dictionary": dictionary,
    "Arrow chunks": chunks,
    "pandas Series of Arrow": arrow_series,
    "pandas Index of Arrow": lambda y, names=NAMES: pd.Index(arrow_series(y, names)),
    "pandas array of Arrow": lambda y, names=NAMES: arrow_series(y, names).array,
    "pandas CategoricalIndex": lambda y, names=NAMES: pd.CategoricalIndex(y, categories=names, ordered=True),
}
FRAMES = {
    "pandas": lambda y: pd.DataFrame({"grade": pd.Categorical(y, categories=NAMES, ordered=True)}),
    "pandas of Arrow": lambda y: pd.DataFrame({"grade": arrow_series(y)}),
    "polars": lambda y: pl.DataFrame({"grade": ORDERED["polars Enum"](y)}),
    "Arrow": lambda y: pa.table({"grade": chunks(y)}),
}
UNORDERED = {
    "polars Categorical": lambda y: pl.Series(y, dtype=pl.Categorical),
    "polars String": lambda y: pl.Series(y.tolist()),
    "Arrow dictionary": lambda y: dictionary(y, ordered=False),
    "Arrow text": lambda y: pa.array(y.tolist()),
    "pandas Series of Arrow": lambda y: pd.Series(pd.arrays.ArrowExtensionArray(dictionary(y, ordered=False))),
    "pandas frame": lambda y: pd.DataFrame({"grade": pd.Categorical(y, categories=NAMES)}),
}


@pytest.mark.parametrize("form", ORDERED)
def test_columns_bring_their_order(form):
    X, codes = make_data()
    y, column = NAMES[codes], ORDERED[form]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PredtronOrdinalClassifier(cv=0, random_state=0).fit(X, column(y))
        stream = PredtronOrdinalClassifier().partial_fit(X[:9], column(y[:9]))
        stream.partial_fit(X[9:10], column(y[9:10])).partial_fit(X[10:], column(y[10:]))
    assert model.classes_.tolist() == stream.classes_.tolist() == NAMES.tolist()
    assert state(model) == state(PredtronOrdinalClassifier(cv=0, random_state=0).fit(X, codes))
    assert state(stream) == state(PredtronOrdinalClassifier().partial_fit(X, codes, classes=range(4)))
    assert model.score(X, column(y)) == model.score(X, y)
    np.testing.assert_array_equal(model.sample_loss(X, column(y)), model.sample_loss(X, y))
    turned = PredtronOrdinalClassifier(cv=0).fit(X, column(y, NAMES[::-1]))
    assert turned.classes_.tolist() == NAMES[::-1].tolist()
    given = PredtronOrdinalClassifier(categories=NAMES, cv=0).fit(X, column(y, NAMES[::-1]))
    assert given.classes_.tolist() == NAMES.tolist()
    with pytest.raises(ValueError, match=r"categories=\['extreme', .*\] are not in the order .* \['low', "):
        stream.partial_fit(X, column(y, NAMES[::-1]))


@pytest.mark.parametrize("form", ORDERED)
def test_ranks_that_never_occur_are_kept(form):
    X, codes = make_data()
    there = codes != 2
    column = ORDERED[form](NAMES[codes[there]], [*NAMES, "beyond"])
    model = PredtronOrdinalClassifier(cv=0).fit(X[there], column)
    assert model.classes_.tolist() == [*NAMES, "beyond"] and model.intercept_.shape == (4,)


@pytest.mark.parametrize("form", FRAMES)
def test_frames_of_one_column_bring_its_order(form):
    X, codes = make_data()
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = PredtronOrdinalClassifier(cv=0, random_state=0).fit(X, FRAMES[form](NAMES[codes]))
    assert model.classes_.tolist() == NAMES.tolist()
    assert state(model) == state(PredtronOrdinalClassifier(cv=0, random_state=0).fit(X, codes))


@pytest.mark.parametrize("form", UNORDERED)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_other_text_is_in_the_order_of_the_alphabet_with_a_warning(form):
    X, codes = make_data()
    with pytest.warns(UserWarning, match="alphabet"):
        model = PredtronOrdinalClassifier(cv=0).fit(X, UNORDERED[form](NAMES[codes]))
    assert model.classes_.tolist() == sorted(NAMES)


def test_dictionaries_of_numbers():
    X, codes = make_data()
    levels = pa.array([30, 20, 10, 0])
    column = pa.DictionaryArray.from_arrays(pa.array(codes), levels, ordered=True)
    model = PredtronOrdinalClassifier(cv=0, random_state=0).fit(X, column)
    assert model.classes_.tolist() == [30, 20, 10, 0] and model.classes_.dtype == np.int64
    assert state(model) == state(PredtronOrdinalClassifier(cv=0, random_state=0).fit(X, codes))


def test_chunks_with_dictionaries_of_their_own():
    """Each may leave out ranks of the longest; where they contradict each other there is no order to take."""
    X, codes = make_data()
    y = NAMES[codes]
    few = np.flatnonzero(np.isin(y, ["low", "high"]))
    rest = np.setdiff1d(np.arange(len(y)), few)
    order = np.concatenate([few, rest])
    for short, good in [(["low", "high"], True), (["high", "low"], False)]:
        parts = [dictionary(y[few], short), dictionary(y[rest])]
        for column in (pa.chunked_array(parts), pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array(parts)))):
            if good:
                assert PredtronOrdinalClassifier(cv=0).fit(X[order], column).classes_.tolist() == NAMES.tolist()
                continue
            with pytest.raises(ValueError, match=r"y has chunks .* \['high', 'low'\] and \['low', 'medium', .* categories"):
                PredtronOrdinalClassifier(cv=0).fit(X[order], column)
            assert PredtronOrdinalClassifier(categories=NAMES, cv=0).fit(X[order], column).classes_.tolist() == NAMES.tolist()


@pytest.mark.parametrize("form", ["polars Enum", "Arrow dictionary", "pandas Series of Arrow"])
def test_missing_labels_are_an_error(form):
    X, codes = make_data()
    column = ORDERED[form](NAMES[codes])
    if form == "polars Enum":
        missing = pl.Series("grade", [None, *column[1:]], dtype=column.dtype)
    else:
        missing = pa.DictionaryArray.from_arrays(pa.array([None, *codes[1:]], pa.int8()), pa.array(NAMES.tolist()), ordered=True)
        missing = pd.Series(pd.arrays.ArrowExtensionArray(missing)) if form != "Arrow dictionary" else missing
    with pytest.raises(ValueError, match=r"y contains NaN: (None|<NA>) at place 0"):
        PredtronOrdinalClassifier().fit(X, missing)


@pytest.mark.parametrize("form", ["polars Enum", "pandas Series of Arrow"])
def test_searches_keep_the_order(form):
    X, codes = make_data()
    y = NAMES[codes]
    model = PredtronOrdinalClassifier(max_iter=2, cv=0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        found = cross_val_score(model, X, ORDERED[form](y), cv=3, error_score="raise")
        search = GridSearchCV(model, {"max_iter": [1, 2]}, cv=3, error_score="raise").fit(X, ORDERED[form](y))
    assert search.best_estimator_.classes_.tolist() == NAMES.tolist()
    np.testing.assert_array_equal(found, cross_val_score(model.set_params(categories=NAMES), X, y, cv=3))


def test_neither_polars_nor_arrow_nor_pandas_is_needed():
    code = "import sys; sys.modules.update(polars=None, pyarrow=None, pandas=None); from sklearn_predtron import *"
    code += "; del sys.modules['pandas']"  # which scikit-learn before 1.9 takes for the module
    code += "; print(PredtronOrdinalClassifier().fit([[0.0], [1]], [7, 8]).classes_)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[7 8]"
