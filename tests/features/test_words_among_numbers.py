"""Cells of tables: what is a number, what is missing, and what is a category; also on the command line."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from sklearn_predtron import PredtronBinaryClassifier
from sklearn_predtron.datasets import open_rows
from sklearn_predtron.features import PiecewiseLinear, RandomFourier
from tests.cases import weights_of
from tests.cli_cases import run, usage_error

N = 600
NUMBERS = np.random.default_rng(0).standard_normal(N).round(6)
Y = (np.abs(NUMBERS) > 0.7).astype(int)
MISSING = np.arange(N) % 200 == 3
GAPS = np.where(MISSING, np.nan, NUMBERS)


def texts(word):
    return [word if gap else repr(float(x)) for gap, x in zip(MISSING, NUMBERS, strict=True)]


def objects(word):
    return [word if gap else float(x) for gap, x in zip(MISSING, NUMBERS, strict=True)]


MADE = {
    "objects": lambda word: pd.DataFrame({"x": pd.Series(objects(word), dtype=object)}),
    "strings": lambda word: pd.DataFrame({"x": pd.Series(texts(word), dtype="string")}),
    "polars": lambda word: pl.DataFrame({"x": texts(word)}),
    "arrow": lambda word: pa.table({"x": texts(word)}),
    "array": lambda word: np.array(objects(word), dtype=object)[:, None],
    "array of strings": lambda word: np.array(texts(word))[:, None],
}


@pytest.mark.parametrize("word", ["-", ".", "\\N", "unknown", "$5", "1_000"])
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_a_word_among_numbers_is_missing(make, word):
    expected = PiecewiseLinear().fit(GAPS[:, None], Y)
    said = rf"column '?[x0]'? \(3 of 600 cells, 0.50%, as {str([word])[1:-1]}\)".replace("\\N", r"\N").replace("$", r"\$")
    with pytest.warns(UserWarning, match=said.replace("\\\\N", r"\\\\N")) as given:
        found = PiecewiseLinear().fit(make(word), Y)
    assert len(given) == 1 and ("a currency sign" in str(given[0].message)) == (word == "$5")
    assert found.n_features_out_ == expected.n_features_out_
    with pytest.warns(UserWarning, match="words among the numbers"):
        assert_array_equal(found.read(make(word))[:, 0], GAPS)


@pytest.mark.parametrize("word", ["", " ", "n/a", "NA", "None", "#N/A", "<NA>", "NULL", "nan", "?"])
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_spellings_of_missing_values_are_known(make, word):
    assert_array_equal(PiecewiseLinear().fit(make(word)).read(make(word))[:, 0], GAPS)


def test_missing_categories_have_the_same_spellings():
    found = PiecewiseLinear().fit(pd.DataFrame({"c": ["a", "b", "NA", None, "n/a", "b"]}))
    assert found.categories_[0].tolist() == ["b", "a"]
    assert_array_equal(found.read(pd.DataFrame({"c": ["None", "a", "c"]}))[:, 0], [np.nan, 1, -1])


@pytest.mark.parametrize("size", [1, 90, 500])
def test_streams_decide_by_their_first_rows(size):
    frame = pd.DataFrame({"x": pd.Series(objects("-"), dtype=object), "c": np.where(Y == 1, "a", "b")})
    with pytest.warns(UserWarning, match="as '-'"):
        expected = PiecewiseLinear().fit(frame[:500], Y[:500])
        found = PiecewiseLinear()
        for i in range(0, 500, size):
            found = pickle.loads(pickle.dumps(found.partial_fit(frame[i : i + size], Y[i : i + size])))
        assert_array_equal(found.transform(frame).toarray(), expected.transform(frame).toarray())


def test_estimators_learn_such_columns_in_any_split():
    models = []
    for size in (1, 70, 600):
        frame = pd.DataFrame({"x": pd.Series(objects("-"), dtype=object)})
        model = PredtronBinaryClassifier(features="piecewise")
        with pytest.warns(UserWarning, match="as '-'"):
            for i in range(0, N, size):
                model.partial_fit(frame[i : i + size], Y[i : i + size], classes=[0, 1])
                if i + size < 500:
                    before = pickle.dumps(weights_of(model))
            models.append((model, before if size < 500 else None))
    for model, _ in models:
        assert_array_equal(weights_of(model), weights_of(models[0][0]))


@pytest.mark.parametrize(
    "values", [["a", 1, True, None, 2.5, "3"], [True, None, False, None, True, 0], ["1", "x", "2", "-", 5, "6"]]
)
def test_cells_before_there_is_a_map_are_read_by_themselves(values):
    """So that the first rows are learned alike in any split, whatever the rows of a call have in common."""
    frame = pd.DataFrame({"a": pd.Series((values * 40)[:200], dtype=object), "b": NUMBERS[:200]})
    coefs = []
    for size in (1, 7, 200):
        model = PredtronBinaryClassifier(features="piecewise")
        for i in range(0, 200, size):
            model.partial_fit(frame[i : i + size], Y[i : min(i + size, 200)], classes=[0, 1])
        coefs.append(weights_of(model))
    assert_array_equal(coefs[1], coefs[0])
    assert_array_equal(coefs[2], coefs[0])


def test_numbers_that_are_written_otherwise_are_named():
    for word, form in (("$%d", "a currency sign"), ("%d %%", "a percent sign"), ("%d,5", "decimal commas")):
        frame = pd.DataFrame({"x": [word % i for i in range(60)]})
        with pytest.warns(UserWarning, match=f"X has numbers with {form}, as .*, in column 'x', which is read as categories"):
            assert len(PiecewiseLinear().fit(frame).categories_[0]) == 60
    frame = pd.DataFrame({"x": [f"{i:,}" for i in range(0, 100_000, 1700)]})
    with pytest.warns(UserWarning, match="thousands separators, as '1,700', '10,200'"):
        PiecewiseLinear().fit(frame)
    frame = pd.DataFrame({"x": [f"{i:,}" for i in range(1_000_000, 2_000_000, 17_000)]})
    with pytest.warns(UserWarning, match=r"thousands separators, as .* as by str\.replace and pandas\.to_numeric"):
        PiecewiseLinear().fit(frame)
    mixed = pd.DataFrame({"x": [*range(60), *"abcdefgh"]})
    with pytest.warns(UserWarning, match="60 distinct numbers and 8 distinct words, as 'a', 'b', 'c', in column 'x'"):
        PiecewiseLinear().fit(mixed)
    assert PiecewiseLinear(categories=["x"]).fit(mixed).categories_[0] is not None  # which needs no warning


@pytest.mark.parametrize("form", ["{:.3f}", "{:.2f}"])
def test_decimal_commas_are_no_thousands_separators(tmp_path, form):
    """Whatever the number of their digits, also of those that could be thousands, as 1,234."""
    cells = [form.format(x).replace(".", ",") for x in 2 * NUMBERS]
    said = r"has numbers with decimal commas, as '-0,.* as by decimal=',' of pandas.read_csv, or by str.replace\(',', '.'\)"
    with pytest.warns(UserWarning, match=said):
        PiecewiseLinear().fit(pd.DataFrame({"x": cells}))
    pd.DataFrame({"x": cells, "y": Y}).to_csv(tmp_path / "a.csv", sep=";", index=False)
    with pytest.warns(UserWarning, match=said):
        list(open_rows(tmp_path / "a.csv"))
    few = pd.DataFrame({"x": [*map(str, range(100)), *cells[:2]]})
    with pytest.warns(UserWarning, match=r"Some are numbers with decimal commas: write these as 1234\.5"):
        PiecewiseLinear().fit(few)


def test_what_is_refused():
    with pytest.raises(ValueError, match="has '-' in row 3 of column 'x', which is no number"):
        PiecewiseLinear(missing=False).fit(MADE["objects"]("-"))
    with pytest.raises(ValueError, match=r"column 'x', .*not numbers, as 'a'"):
        RandomFourier().fit(pd.DataFrame({"x": ["a", "b", "1"]}))
    with pytest.raises(ValueError, match=r"nearly all of them are numbers: make the others missing.*'-'"):
        PredtronBinaryClassifier().fit(MADE["objects"]("-"), Y)
    with pytest.raises(ValueError, match="features='piecewise' and 'auto' take strings"):
        PredtronBinaryClassifier().fit(pd.DataFrame({"x": np.where(Y, "a", "b")}), Y)


@pytest.mark.filterwarnings("default:.* has words among the numbers")  # which is a line of standard error
def test_files_mean_the_same(capsys, tmp_path):
    """TRAIN, TEST, and a model that is loaded."""
    for name, word, column in (("train", "-", "x"), ("test", "oops", "x"), ("gaps", "", "x")):
        pd.DataFrame({column: texts(word), "y": Y}).to_csv(tmp_path / f"{name}.csv", index=False)
    options = ["--features", "piecewise", "--epochs", 2, "--json", "--no-shuffle"]
    code, out, err = run(capsys, tmp_path / "train.csv", "--test", tmp_path / "test.csv", *options, "--save", tmp_path / "m")
    assert code == 0 and err.count("warning") == 2
    assert "train.csv has words among the numbers of column 'x' (3 of 600 cells, 0.50%, as '-')" in err
    assert "test.csv has words among the numbers of column 'x' (3 of 600 cells, 0.50%, as 'oops')" in err
    same, (ours,) = (
        json.loads(run(capsys, tmp_path / "gaps.csv", "--test", tmp_path / "gaps.csv", *options)[1]),
        json.loads(out)["results"],
    )
    assert ours["held_out_score"] == same["results"][0]["held_out_score"] > 0.95
    code, out, err = run(capsys, "--load", tmp_path / "m", "--test", tmp_path / "train.csv", "--json")
    assert code == 0 and "as '-'" in err and json.loads(out)["results"][0]["held_out_score"] == ours["held_out_score"]
    assert "line 5 has '-' in the column 'x'" in usage_error(capsys, tmp_path / "train.csv")
