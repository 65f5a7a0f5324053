"""Tables as text: what is learned of them is what estimators learn of the same table from pandas."""

import json
import os
import time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import sklearn_predtron
from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.datasets import open_rows
from tests.cases import weights_of
from tests.cli_cases import run, usage_error

pytestmark = pytest.mark.usefixtures("as_streams")

N, TESTED = 600, 200
CHUNK = 200


def table(seed=0):
    """Numbers, some missing, words, some missing, and labels of two kinds."""
    rng, n = np.random.default_rng(seed), N + TESTED
    frame = pd.DataFrame(
        {"age": rng.integers(18, 80, n).astype(float), "job": rng.choice(["clerk", "smith, black", 'the "cook"'], n)}
    )
    frame["pay"] = rng.random(n).round(3)
    frame["group"] = (frame.age > 50) * 1 + (frame.pay > 0.5)
    frame["buys"] = np.where((frame.age > 45) ^ (frame.job == "clerk"), "yes", "no")
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "job"] = None
    return frame


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Files of numbers (n) and of numbers, words and what is missing (w), to learn from and to test on, by options of pandas."""
    folder, frame = tmp_path_factory.mktemp("tables"), table()
    numbers = pd.DataFrame({"pay": frame.pay, "age": frame.age.fillna(0), "group": frame.group})
    for name, rows in (("train", slice(0, N)), ("test", slice(N, None))):
        frame[["age", "job", "pay", "buys"]][rows].to_csv(
            folder / f"{name}-w.csv", index=False, na_rep="" if name == "train" else "NA"
        )
        numbers[rows].to_csv(folder / f"{name}-n.csv", index=False)
    return folder


def learned(model, X, y):
    for i in range(0, len(X), CHUNK):
        model.partial_fit(X[i : i + CHUNK], y[i : i + CHUNK], classes=np.unique(y))
    return model


def split(tables, name, label):
    found = [pd.read_csv(tables / f"{part}-{name}.csv") for part in ("train", "test")]
    return [(part.drop(columns=label), part[label].to_numpy()) for part in found]


OPTIONS = ["--no-shuffle", "--chunk", CHUNK, "--json"]


# ---------------------------------------------------------------------------------------------------------------- learning


@pytest.mark.default_features
@pytest.mark.parametrize("features", ["piecewise", "auto", None])
def test_words_and_missing_cells_are_learned_as_those_of_a_frame(capsys, tables, tmp_path, features):
    (X, y), (T, z) = split(tables, "w", "buys")
    options = [
        *(["--features", features] if features else []),
        "--save",
        tmp_path / "m",
        "--predictions",
        tmp_path / "p",
        *OPTIONS,
    ]
    code, out, err = run(capsys, tables / "train-w.csv", "--test", tables / "test-w.csv", *options)
    model = learned(PredtronBinaryClassifier(features=features or "auto"), X, y)
    (ours,) = json.loads(out)["results"]
    assert (code, err) == (0, "") and ours["tested"] == TESTED
    assert_array_equal(weights_of(sklearn_predtron.load(tmp_path / "m")), weights_of(model))
    assert ours["held_out_score"] == pytest.approx(model.score(T, z)) and ours["held_out_score"] > 0.7
    assert (tmp_path / "p").read_text().split() == model.predict(T).tolist()


@pytest.mark.parametrize("gap", ["", "?"])
def test_auto_looks_at_the_whole_file(capsys, tables, tmp_path, gap):
    """A gap in the last row alone is one of a table with gaps; a file of numbers keeps its columns."""
    (X, y), _ = split(tables, "n", "group")
    options = ["--features", "auto", "--save", tmp_path / "m", *OPTIONS]
    assert run(capsys, tables / "train-n.csv", *options)[0] == 0
    assert_array_equal(sklearn_predtron.load(tmp_path / "m").coef_, learned(PredtronClassifier(), X.to_numpy(), y).coef_)
    text = (tables / "train-n.csv").read_text().splitlines()
    text[-1] = f"{text[-1].partition(',')[0]},{gap},{y[-1]}"
    (tmp_path / "a.csv").write_text("\n".join(text))
    assert run(capsys, tmp_path / "a.csv", *options)[::2] == (0, "")
    X.iloc[-1, 1] = np.nan
    model = sklearn_predtron.load(tmp_path / "m")
    assert_array_equal(weights_of(model), weights_of(learned(PredtronClassifier(features="piecewise"), X.to_numpy(), y)))
    assert run(capsys, "--load", tmp_path / "m", "--test", tables / "test-n.csv")[0] == 0


def test_costs_of_rows(capsys, tables, tmp_path):
    options = ["--features", "piecewise", "--costs", "yes:no=pay", "--json", "--epochs", 2, "--save", tmp_path / "m"]
    code, out, err = run(capsys, tables / "train-w.csv", "--test", tables / "test-w.csv", *options)
    (ours,) = json.loads(out)["results"]
    assert (code, err) == (0, "")
    T, z = split(tables, "w", "buys")[1]
    costs, model = {("yes", "no"): T.pay.to_numpy()}, sklearn_predtron.load(tmp_path / "m")
    cost = model.sample_loss(T.to_numpy(dtype=object), z, costs=costs).mean()
    assert ours["held_out_cost"] == pytest.approx(cost)


@pytest.mark.parametrize("epochs", [1, 3])
def test_several_files_and_epochs(capsys, tables, tmp_path, epochs):
    """Of which the second has its columns in another order, and the third no names."""
    frame = pd.read_csv(tables / "train-n.csv")
    frame[:CHUNK].to_csv(tmp_path / "a.csv", index=False)
    frame[CHUNK : 2 * CHUNK][["group", "age", "pay"]].to_csv(tmp_path / "b.csv", index=False)
    frame[2 * CHUNK :].to_csv(tmp_path / "c.csv", index=False, header=False)
    files = [tmp_path / f"{name}.csv" for name in "abc"]
    assert run(capsys, *files, "--epochs", epochs, "--save", tmp_path / "m", *OPTIONS)[0] == 0
    model, (X, y) = PredtronClassifier(), split(tables, "n", "group")[0]
    for _ in range(epochs):
        learned(model, X.to_numpy(), y)
    assert_array_equal(sklearn_predtron.load(tmp_path / "m").coef_, model.coef_)


# ------------------------------------------------------------------------------------------------------------ what files are


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.csv", {"sep": ";"}),
        ("a.tsv", {"sep": "\t"}),
        ("a.csv", {"header": False}),
        ("a.csv", {"quoting": 1}),
        ("a.csv", {"lineterminator": "\r\n"}),
        ("a.CSV", {"encoding": "utf-8-sig"}),
        ("a", {}),
        ("a.csv.gz", {}),
    ],
    ids=str,
)
def test_ways_to_write_a_table(capsys, tables, tmp_path, name, form):
    (X, y), _ = split(tables, "n", "group")
    pd.read_csv(tables / "train-n.csv").to_csv(tmp_path / name, index=False, **form)
    options = [*OPTIONS, *([] if "." in name else ["--format", "csv"])]
    code, *_ = run(capsys, tmp_path / name, "--save", tmp_path / "m", *options)
    assert code == 0
    assert_array_equal(sklearn_predtron.load(tmp_path / "m").coef_, learned(PredtronClassifier(), X.to_numpy(), y).coef_)


def test_the_column_of_the_labels(capsys, tmp_path):
    frame = pd.DataFrame({"y": [0, 1] * 30, "a": np.arange(60.0), "first": [1, 2, 3] * 20, "b": [5, 6] * 30})
    for header in (True, False):
        frame.to_csv(tmp_path / "a.csv", index=False, header=header)
        for label, column in (
            ("b" if header else "4", 3),
            ("first", 2 if header else 0),
            ("last", 3),
            ("y" if header else "1", 0),
        ):
            code, *_ = run(capsys, tmp_path / "a.csv", "--label", label, "--save", tmp_path / "m", *OPTIONS)
            y = frame.iloc[:, column].to_numpy()
            X = frame.drop(columns=frame.columns[column]).to_numpy(dtype=float)
            kind = PredtronClassifier if len(np.unique(y)) > 2 else PredtronBinaryClassifier
            assert code == 0
            assert_array_equal(sklearn_predtron.load(tmp_path / "m").coef_, learned(kind(), X, y).coef_)
    message = usage_error(capsys, tmp_path / "a.csv", "--label", "z")
    assert f"--label='z' is no column of {tmp_path / 'a.csv'}; accepted are '1', '2', '3', '4', first, last" in message


@pytest.mark.parametrize(
    ("text", "option", "rows"),
    [
        ("a,b\n1,x\n2,y\n", [], 2),
        ("1,x\n2,y\n", [], 2),
        ("a,1\nx,5\ny,6\n", ["--features", "auto", "--label", "first"], 3),  # a label, and 1 may be a number
        ("a,1\nx,5\ny,6\n", ["--features", "auto", "--label", "first", "--header"], 2),
        ("7,1\n3,5\n4,6\n", ["--header"], 2),
        ("x,k\ny,b\nz,a\n", ["--features", "auto", "--no-header"], 3),
        ("x,k\ny,b\nz,a\n", ["--features", "auto"], 2),
        ("?,a\n1,b\n2,a\n", ["--features", "auto", "--no-header"], 3),
        (",y,1\n1,y,1\n2,z,0\n", ["--features", "auto"], 3),
    ],
)
@pytest.mark.filterwarnings("ignore:features='piecewise' are fitted to the first 500 training rows")
def test_names_in_the_first_line(capsys, tmp_path, text, option, rows):
    (tmp_path / "a.csv").write_text(text)
    code, out, err = run(capsys, tmp_path / "a.csv", *option, "--json")
    assert (code, err) == (0, "") and json.loads(out)["results"][0]["rounds"] == rows


@pytest.mark.filterwarnings("default:features='piecewise' are fitted to the first 500 training rows")
def test_tables_of_few_rows(capsys, tmp_path):
    """Of which no features are made; what repeats them is learned."""
    words = np.random.default_rng(0).choice(["a", "b", "c"], 300)
    pd.DataFrame({"word": words, "y": np.isin(words, "b") * 1}).to_csv(tmp_path / "a.csv", index=False)
    how = [tmp_path / "a.csv", "--test", tmp_path / "a.csv", "--features", "piecewise", "--json"]
    code, _, err = run(capsys, *how)
    assert code == 0 and err.startswith("warning: features='piecewise' are fitted to the first 500 training rows, and TRAIN")
    _, out, err = run(capsys, *how, "--epochs", 2)
    assert err == "" and json.loads(out)["results"][0]["held_out_score"] == 1


# -------------------------------------------------------------------------------------------------------------- saved models


def test_a_saved_model_predicts_and_goes_on(capsys, tables, tmp_path, standard_input):
    (X, y), (T, z) = split(tables, "w", "buys")
    run(capsys, tables / "train-w.csv", "--features", "piecewise", "--save", tmp_path / "m", *OPTIONS)
    model = learned(PredtronBinaryClassifier(features="piecewise"), X, y)
    bare, lines = T.to_csv(index=False), "".join(f"{label}\n" for label in model.predict(T))
    T[["pay", "age", "job"]].to_csv(tmp_path / "bare", index=False)
    assert run(capsys, "--load", tmp_path / "m", tmp_path / "bare") == (0, lines, "")
    (tmp_path / "bare").write_text(bare.partition("\n")[2])
    assert run(capsys, "--load", tmp_path / "m", "--no-header", "--chunk", 1, "--test", tmp_path / "bare") == (0, lines, "")
    standard_input(bare.encode())
    code, out, _ = run(capsys, "--load", tmp_path / "m", "-", "--proba")
    assert code == 0
    assert_allclose([list(map(float, line.split())) for line in out.splitlines()], model.predict_proba(T), atol=1e-6)
    code, out, _ = run(capsys, "--load", tmp_path / "m", "--test", tables / "test-w.csv", "--json")
    assert json.loads(out)["results"][0]["held_out_score"] == pytest.approx(model.score(T, z))
    run(capsys, "--load", tmp_path / "m", tables / "test-w.csv", "--save", tmp_path / "on", *OPTIONS)
    assert_array_equal(weights_of(sklearn_predtron.load(tmp_path / "on")), weights_of(learned(model, T, z)))


@pytest.mark.parametrize("names", [True, False])
def test_rows_of_a_pipe_are_read_one_by_one(tmp_path, names):
    """With a model the first row is there before the second one has come."""
    (tmp_path / "t.csv").write_text("a,b,y\n" * names + "1,2,0\n3,4,1\n")
    known = open_rows(tmp_path / "t.csv")
    assert known.schema.n_features == 2
    end, writing = os.pipe()
    os.write(writing, b"a,b\n" * names)
    with open_rows(f"/dev/fd/{end}", like=known, chunk_rows=1) as rows:
        os.write(writing, b"1,2\n" + b"3,4\n" * (not names))
        chunks = iter(rows)
        assert next(chunks).X.tolist() == [[1, 2]]
        os.write(writing, b"5,6\n")
        os.close(writing)
        assert list(chunks)[-1].X.tolist() == [[5, 6]]
    os.close(end)


def test_a_model_of_pythons_reads_tables(capsys, tables, tmp_path):
    (X, y), (T, z) = split(tables, "n", "group")
    for frame, features in ((X, None), (X, "piecewise"), (X.to_numpy(), None)):
        model = PredtronClassifier(features=features, cv=0).fit(frame, y)
        model.save(tmp_path / "m")
        code, out, err = run(capsys, "--load", tmp_path / "m", "--test", tables / "test-n.csv", "--json")
        expected = model.score(T if hasattr(frame, "columns") else T.to_numpy(), z)
        assert code == 0 and json.loads(out)["results"][0]["held_out_score"] == pytest.approx(expected)
        assert "feature names" not in err


def test_what_a_saved_model_fixes(capsys, tables, tmp_path):
    run(capsys, tables / "train-n.csv", "--save", tmp_path / "m")
    load = ["--load", tmp_path / "m", "--test"]
    assert "--label='pay' is fixed by the model of --load" in usage_error(capsys, *load, tables / "test-n.csv", "--label", "pay")
    for text, reason in [
        ("pay,group\n1,2\n", "line 1: there is no column 'age', which training had"),
        ("pay,age,id,group\n1,2,3,1\n", "line 1: the column 'id' is neither a column of training nor the label"),
        ("1\n", "line 1: the first row has 1 column; accepted are 3 with the label, or 2 without it"),
        ("pay,age,group\n1,2,1\n1,x,1\n", "line 3: the column 'age' has 'x', which is no finite number"),
        ("pay,age,group\n1,,1\n", "line 2: the column 'age' has '', which is no finite number"),
    ]:
        (tmp_path / "a.csv").write_text(text)
        code, _, err = run(capsys, *load, tmp_path / "a.csv")
        assert code == 1 and reason in err and err.count("\n") == 1


# ------------------------------------------------------------------------------------------------------------ what is wrong


def test_words_and_missing_cells_need_a_map(capsys, tables):
    path = tables / "train-w.csv"
    hint = "; --features piecewise takes text and missing cells, and --drop leaves columns out"
    assert f"{path}, line 2 has '' in the column 'age'{hint}" in usage_error(capsys, path, "--task", "bipartite")
    assert f"in the column 'job'{hint}" in usage_error(capsys, path, "--features", "fourier")


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("features", ["piecewise", "auto"])
def test_booleans_are_numbers_however_they_are_spelled(capsys, tmp_path, gap, features):
    """In columns of numbers; among other words they are words."""
    flags = np.random.default_rng(0).random(600) < 0.4
    lines = [f"{i % 60},{{{bool(flag)}}},{i % 7},{flag * 1}" for i, flag in enumerate(flags)]
    text = "\n".join(["age,flag,day,y", *(["3,,1,0"] * gap), *lines])
    spelled = {"T": ("True", "False"), "U": ("TRUE", "FALSE"), "l": ("true", "false"), "n": ("1", "0")}
    for name, (true, false) in spelled.items():
        (tmp_path / f"{name}.csv").write_text(text.replace("{True}", true).replace("{False}", false))
    how = ["--features", features, "--json"]
    for name in spelled:
        assert run(capsys, tmp_path / f"{name}.csv", "--save", tmp_path / "m", *how)[::2] == (0, "")
        for other in spelled:
            code, out, err = run(capsys, "score", tmp_path / "m", tmp_path / f"{other}.csv", "--json")
            assert (code, err) == (0, "") and json.loads(out)["results"][0]["held_out_score"] > 0.99
    (tmp_path / "w.csv").write_text("a,y\n" + "true,1\nno,0\nperhaps,0\n" * 200)
    run(capsys, tmp_path / "w.csv", "--save", tmp_path / "m", *how)
    model = sklearn_predtron.load(tmp_path / "m")
    assert model.predict(np.array([["true"], ["no"]], dtype=object)).tolist() == [1, 0]


def test_lines_of_spaces_are_left_out(capsys, tmp_path):
    rows = "a,b,y\n1,2,0\n{}2,3,1\n{}4,5,0\n"
    for name, blanks in (("bare", ("", "")), ("blank", ("   \n", "\n \t\n"))):
        (tmp_path / f"{name}.csv").write_text(rows.format(*blanks))
        assert run(capsys, tmp_path / f"{name}.csv", "--save", tmp_path / name, *OPTIONS)[0] == 0
    assert_array_equal(sklearn_predtron.load(tmp_path / "blank").coef_, sklearn_predtron.load(tmp_path / "bare").coef_)


def test_usage_errors(capsys, tables, tmp_path):
    train = tables / "train-n.csv"
    for task in ("rank", "sequence", "multilabel"):
        assert f"--task {task} is not for csv files" in usage_error(capsys, train, "--task", task)
    for option in (["--grow"], ["--jobs", 2]):
        assert "is for svmlight files, and the files are csv" in usage_error(capsys, train, *option)
    assert "--template='words' is for conll files, and the files are csv" in usage_error(capsys, train, "--template", "words")
    (tmp_path / "a.csv").write_text("a,y\n1,0\n2,0\n")
    assert "has the labels [0]; at least two are needed" in usage_error(capsys, tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("a,y\n1,x\n2,0\n")
    assert run(capsys, tmp_path / "a.csv", "--save", tmp_path / "m")[0] == 0
    assert sklearn_predtron.load(tmp_path / "m").classes_.tolist() == ["0", "x"]
    (tmp_path / "bare.csv").write_text("pay,age\n1,2\n")
    message = usage_error(capsys, train, tmp_path / "bare.csv")
    assert "bare.csv' has no label in its first row; without --load there is no model" in message
    assert run(capsys, train, "--test", tmp_path / "bare.csv")[1].count("\n") == 1


@pytest.mark.filterwarnings("default:.*distinct labels in 300 rows")  # which is a line of standard error
def test_labels_that_are_measurements(capsys, tmp_path):
    rows = np.random.default_rng(0).standard_normal((300, 2))
    pd.DataFrame({"kind": (rows[:, 0] > 0) * 1, "price": rows[:, 1]}).to_csv(tmp_path / "a.csv", index=False)
    message = usage_error(capsys, tmp_path / "a.csv")
    assert "which is continuous, and no class; --label names the column of the labels, which is the last" in message
    assert run(capsys, tmp_path / "a.csv", "--label", "kind")[0] == 0
    pd.DataFrame({"kind": rows[:, 0], "price": range(300)}).to_csv(tmp_path / "b.csv", index=False)
    code, _, err = run(capsys, tmp_path / "b.csv", "--quiet")
    assert code == 0 and "has 300 distinct labels in 300 rows, as measurements have, and each is a class; --label names" in err


@pytest.mark.filterwarnings("default:features='piecewise' are fitted to the first 500 training rows")
def test_the_warning_of_few_rows_counts_rows(capsys, tables):
    options = ["--features", "piecewise", "--epochs", 2, "--label", "group", "--quiet"]
    (tables / "few.csv").write_text("".join((tables / "train-n.csv").read_text().splitlines(keepends=True)[:201]))
    assert "TRAIN has 200 in each of 2 epochs: numbers" in run(capsys, tables / "few.csv", *options)[2]


@pytest.mark.parametrize(
    ("name", "learned", "asked"),
    [
        ("a.csv", "x,y\n1,0\n\n2,1\n", "x\n1\n\n2\n"),
        ("a.jsonl", '{"x": 1, "label": 0}\n\n{"x": 2, "label": 1}\n', '\n{"x": 1}\n\n{"x": 2}\n'),
        ("a.vw", "0 |f x\n\n1 |f z\n", "|f x\n\n \n|f z\n"),
        ("a.svm", "0 1:1\n\n1 1:2\n", "1:1\n\n\n1:2\n"),
    ],
)
@pytest.mark.filterwarnings("ignore:features='piecewise' are fitted")
def test_blank_lines(capsys, tmp_path, name, learned, asked):
    """In files with labels they are left out; in others they are rows, so that each line has a prediction."""
    (tmp_path / name).write_text(learned)
    features = ["--features", "piecewise"] if name == "a.csv" else []
    code, out, _ = run(capsys, tmp_path / name, "--save", tmp_path / "m", "--json", "--classes", 0, 1, *features)
    assert code == 0 and json.loads(out)["results"][0]["rounds"] == 2
    (tmp_path / f"asked-{name}").write_text(asked)
    code, out, _ = run(capsys, "--load", tmp_path / "m", tmp_path / f"asked-{name}")
    assert code == 0 and out.count("\n") == asked.count("\n") - (name == "a.csv")


@pytest.mark.filterwarnings("default:.* has .* is read as categories")  # which is a line of standard error
def test_ids_and_dates_as_texts_are_said_once(capsys, tmp_path):
    with open(tmp_path / "ids.csv", "w") as file:
        print("id,day,x,y", *(f"u{i},{2000 + i % 50}-01-02,{i % 7},{i % 2}" for i in range(600)), sep="\n", file=file)
    code, _, err = run(capsys, "fit", tmp_path / "ids.csv", "--label", "y", "--features", "piecewise")
    assert code == 0 and err.count("warning") == 2
    assert "has 600 distinct values in 600 cells, as 'u0', 'u1', 'u10', in column 'id'" in err and "; --drop leaves" in err
    assert "has 50 dates, as '2000-01-02', '2001-01-02', '2002-01-02', in column 'day'" in err
    code, _, err = run(capsys, "fit", tmp_path / "ids.csv", "--drop", "id", "--drop", "day", "--features", "piecewise")
    assert (code, err) == (0, "")


@pytest.mark.filterwarnings("default:.* a quoted cell goes on")  # as above
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("begin", ["x,note,y\n", "", '"x","note","y"\n'])
def test_a_quote_that_swallows_rows_is_said(capsys, tmp_path, begin, end):
    notes = {30: '"open', 45: 'close"', 60: '"again', 61: 'off"'}
    rows = begin + "".join(f"{i % 7},{notes.get(i, 'no')},{i % 2}\n" for i in range(100))
    (tmp_path / "a.csv").write_bytes(rows.replace("\n", end).encode())
    code, out, err = run(capsys, "fit", tmp_path / "a.csv", "--features", "piecewise", "--epochs", 9, "--json")
    first = 31 + bool(begin)
    assert code == 0 and json.loads(out)["results"][0]["rounds"] == 9 * 84
    assert err == (
        f"warning: {tmp_path / 'a.csv'}, line {first}: a quoted cell goes on to line {first + 15}, over lines that could be rows "
        "of their own, and they are read as one row; is a quote missing?\n"
    )
    with pytest.warns(UserWarning, match=f"a.csv, line {first}: a quoted cell goes on to line {first + 15}"):
        assert sum(map(len, open_rows(tmp_path / "a.csv").chunks())) == 84


def test_cells_of_several_lines_need_no_warning(capsys, tmp_path):
    cells = ["first\nsecond", "a, b\nc, d", "one, two\n\nthree, four", "4,5\nsix,7", 'she said ""no, no""\nand, then, left']
    with open(tmp_path / "a.csv", "w") as file:
        print("x,note,y", *(f'{i % 7},"{cells[i % 5]}",{i % 2}' for i in range(600)), sep="\n", file=file)
    code, _, err = run(capsys, "fit", tmp_path / "a.csv", "--features", "piecewise")
    assert (code, err) == (0, "")


@pytest.mark.filterwarnings("default:.* the names of the columns come again")  # as above
@pytest.mark.parametrize("command", ["fit", "predict"])
def test_names_of_columns_that_come_again_are_left_out(capsys, tmp_path, command):
    """As of files that are joined; in another order they are an error."""
    rows = "".join(f"{i % 7},{i % 2}\n" for i in range(300))
    (tmp_path / "once.csv").write_text("x,y\n" + rows + rows)
    assert run(capsys, "fit", tmp_path / "once.csv", "--save", tmp_path / "m", "--no-shuffle")[0] == 0
    (tmp_path / "twice.csv").write_text("x,y\n" + rows + "x, y\n" + rows)
    (tmp_path / "turned.csv").write_text("x,y\n" + rows + "y,x\n" + rows)
    if command == "fit":
        code, _, err = run(capsys, "fit", tmp_path / "twice.csv", "--save", tmp_path / "n", "--no-shuffle", "--label", "y")
        models = [sklearn_predtron.load(tmp_path / name) for name in "mn"]
        assert_array_equal(models[0].coef_, models[1].coef_)
        assert_array_equal(models[0].classes_, models[1].classes_)
        options = ["--label", "y"]
    else:
        expected = run(capsys, "predict", tmp_path / "m", tmp_path / "once.csv")[1]
        code, out, err = run(capsys, "predict", tmp_path / "m", tmp_path / "twice.csv")
        assert out == expected
        options = [tmp_path / "m"]
    said = f"{tmp_path / 'twice.csv'}, line 302: the names of the columns come again; the line is left out"
    assert (code, err) == (0, f"warning: {said}\n")
    code, _, err = run(capsys, command, *options, tmp_path / "turned.csv")
    assert code == 1 and "turned.csv, line 302: the names of the columns come again, in another order" in err


def test_separators_within_quotes_are_text(capsys, tmp_path):
    rows = "".join(f"{i % 7};{i % 3};{i % 2}\n" for i in range(50))
    for name, first in (("plain", "x"), ("quoted", '"x, of a, b, c"')):
        (tmp_path / f"{name}.csv").write_text(f"{first};z;y\n{rows}")
        assert run(capsys, "fit", tmp_path / f"{name}.csv", "--label", "y", "--save", tmp_path / name)[0] == 0
    assert_array_equal(*(sklearn_predtron.load(tmp_path / name).coef_ for name in ("plain", "quoted")))


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
def test_spreadsheets_say_the_separator(capsys, tmp_path, sep):
    rows = f"x{sep}z{sep}y\n" + "".join(f"{i % 7}{sep}{i % 3}{sep}{i % 2}\n" for i in range(50))
    for name, begin in (("bare", ""), ("said", f"sep={sep}\r\n"), ("quoted", f'\ufeff"sep={sep}"\n')):
        (tmp_path / f"{name}.csv").write_text(begin + rows, encoding="utf-8", newline="")
        options = ["--sep", sep] if name == "bare" else []
        assert run(capsys, "fit", tmp_path / f"{name}.csv", "--label", "y", *options, "--save", tmp_path / name)[0] == 0
        assert_array_equal(sklearn_predtron.load(tmp_path / name).coef_, sklearn_predtron.load(tmp_path / "bare").coef_)
    (tmp_path / "broken.csv").write_text(f"sep={sep}\n{rows}1\n", newline="")
    assert "broken.csv, line 53: the row has 1 column" in run(capsys, "fit", tmp_path / "broken.csv", "--label", "y")[2]


@pytest.mark.filterwarnings("default:.* is the name of its column", "default:.* the names of the columns come again")  # as above
def test_text_without_names_of_columns(capsys, tmp_path):
    path = tmp_path / "a.csv"
    options = ["--features", "piecewise", "--epochs", 20]
    path.write_text("".join(f"{'ab'[i % 2]},{'uvw'[i % 3]},{['yes', 'no'][i % 2]}\n" for i in range(60)))
    code, _, err = run(capsys, "fit", path, *options)
    assert code == 1 and "line 7: the row has the cells of the first line; header=True (--header) leaves such lines out" in err
    assert "unless header=False (--no-header)" in usage_error(capsys, "fit", path, *options, "--label", "y")
    assert run(capsys, "fit", path, *options, "--no-header", "--save", tmp_path / "m")[::2] == (0, "")
    assert run(capsys, "predict", tmp_path / "m", path)[1].count("\n") == 60
    code, _, err = run(capsys, "fit", path, *options, "--header")
    assert code == 0 and err.count("\n") == 1 and "the names of the columns come again" in err
    path.write_text("".join(f"{'ab'[i % 2]},w{i},{['yes', 'no'][i % 2]}\n" for i in range(40)))
    code, _, err = run(capsys, "fit", path, *options)
    assert (
        code == 0 and err.count("\n") == 1 and "line 3: the label 'yes' is the name of its column, too; the first line is" in err
    )
    for names in ("note,more,spam", "note,more,kind"):
        path.write_text(names + "\n" + "".join(f"{'ab'[i % 2]},w{i},{['ham', 'eggs'][i % 2]}\n" for i in range(40)))
        assert run(capsys, "fit", path, *options)[::2] == (0, "")


def test_time_grows_with_the_columns_and_not_faster(capsys, tmp_path):
    """In a first pass, by the names of a model, by numbers and without some columns."""
    times = []
    (tmp_path / "first.csv").write_text("1,0\n2,1\n")
    assert run(capsys, "fit", tmp_path / "first.csv", "--quiet")[0] == 0  # imports
    for p in (2_000, 16_000):
        for name, begin in (("names", ",".join([*(f"x{i}" for i in range(p)), "y"]) + "\n"), ("numbers", "")):
            cells = ",".join(map(str, range(p)))
            (tmp_path / f"{name}.csv").write_text(begin + "".join(f"{cells},{i % 2}\n" for i in range(4)))
        begun = time.process_time()
        for name, left in (("names", [f"x{i}" for i in range(0, p, 2)]), ("numbers", [str(1 + i) for i in range(0, p, 2)])):
            path = tmp_path / f"{name}.csv"
            assert run(capsys, "fit", path, "--quiet", "--save", tmp_path / "m")[0] == 0
            assert run(capsys, "predict", tmp_path / "m", path)[0] == run(capsys, "score", tmp_path / "m", path)[0] == 0
            assert run(capsys, "fit", path, "--quiet", "--drop", *left, "--save", tmp_path / "m")[0] == 0
            assert run(capsys, "predict", tmp_path / "m", path)[0] == 0
        times.append(time.process_time() - begun)
    assert times[1] < 24 * times[0]  # 8 times the columns
