"""Files of any format as one stream of rows, beside a plain parse of the same text."""

import csv
import gzip
import io
import json
import os
import threading

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.feature_extraction import FeatureHasher

from sklearn_predtron.datasets import (
    BrokenLineError,
    Conll,
    Csv,
    JsonLines,
    RowChunk,
    Svmlight,
    VowpalWabbit,
    open_rows,
    read_conll,
    token_features,
)

N = 40
X = np.random.default_rng(0).standard_normal((N, 3)).round(3)
Y = np.where(X[:, 0] > 0, "yes", "no")
CODES = (X[:, 0] > 0).astype(float)
SIZES = [1, 7, 1000]


def dense(part):
    return part.toarray() if sparse.issparse(part) else part


def stacked(chunks):
    """All rows, labels and group numbers of some chunks."""
    found = list(chunks)
    assert all(len(chunk) <= chunk.X.shape[0] for chunk in found)
    return np.vstack([dense(chunk.X) for chunk in found]), np.concatenate([chunk.y for chunk in found]), found


def hashed(rows, width):
    return FeatureHasher(width, input_type="pair", alternate_sign=False).transform(rows).toarray()


def write_csv(path):
    pd.DataFrame(X, columns=list("abc")).assign(y=Y).to_csv(path, index=False)
    return X


def write_svmlight(path):
    dump_svmlight_file(X, CODES, str(path), zero_based=False)
    return load_svmlight_file(str(path))[0].toarray()


def write_json(path):
    path.write_text("".join(json.dumps({"a": a, "b": b, "label": y}) + "\n" for (a, b, _), y in zip(X.tolist(), Y, strict=True)))
    return hashed([[("a", a), ("b", b)] for a, b, _ in X.tolist()], 64)


def write_vw(path):
    lines = zip(X.tolist(), CODES, strict=True)
    path.write_text("".join(f"{y:g} 2 |f a:{a} b:{b}\n" for (a, b, _), y in lines))
    return hashed([[("f^a", a), ("f^b", b)] for a, b, _ in X.tolist()], 64)


def write_conll(path):
    path.write_text("".join(f"w{round(a)} {y}\n" + "\n" * (i % 4 == 3) for i, ((a, *_), y) in enumerate(zip(X, Y, strict=True))))
    tokens, _, sid = read_conll(path)
    return token_features(tokens, sid, n_features=64).toarray()


FORMATS = {"csv": write_csv, "svm": write_svmlight, "jsonl": write_json, "vw": write_vw, "conll": write_conll}


@pytest.mark.parametrize("chunk_rows", SIZES)
@pytest.mark.parametrize("ending", FORMATS)
def test_rows_are_those_of_a_plain_parse(tmp_path, ending, chunk_rows):
    path = tmp_path / f"rows.{ending}"
    expected = FORMATS[ending](path)
    form = {"jsonl": JsonLines, "vw": VowpalWabbit, "conll": Conll}.get(ending)
    labels = CODES if ending in ("svm", "vw") else Y
    with open_rows([path, path], chunk_rows=chunk_rows, format=form and form(n_features=64)) as rows:
        assert rows.schema.n_features == expected.shape[1] and rows.schema.classes.tolist() == np.unique(labels).tolist()
        for _ in range(2):  # the second pass is of memory
            values, y, chunks = stacked(rows.chunks())
            assert_array_equal(values, np.vstack([expected, expected]))
            assert_array_equal(y, np.tile(labels, 2))
        assert chunks[-1].fraction == 1 and (len(chunks) > 2) == (chunk_rows < N)
        assert all((chunk.sample_weight is not None) == (ending == "vw") for chunk in chunks)
        assert all((chunk.groups is not None) == (ending == "conll") for chunk in chunks)


@pytest.mark.parametrize("every", [3, 10**6])  # rows with line ends in a text, which are read one by one
@pytest.mark.parametrize("chunk_rows", [7, 10_000])
def test_columns_of_plain_lines_and_of_others(tmp_path, chunk_rows, every):
    rng, n = np.random.default_rng(0), 3000
    table = pd.DataFrame({"a": rng.standard_normal(n) * 10.0 ** rng.integers(-30, 30, n), "b": rng.integers(0, 50, n)})
    table["c"] = np.where(rng.random(n) < 0.1, np.nan, rng.random(n).round(2))
    table["d"] = [f"line\n{i}" if i % every == every - 1 else f'"v", {i % 5}' for i in range(n)]
    table["y"] = rng.choice(["yes", "no"], n)
    table.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "t.csv").write_text((tmp_path / "t.csv").read_text() + "99999999999999999999999, 1_0,?,é ,no\n")
    with open_rows(tmp_path / "t.csv", chunk_rows=chunk_rows) as rows, pytest.warns(UserWarning, match="words among the numbers"):
        values, y, _ = stacked(rows)
    assert y.tolist() == [*table["y"], "no"] and rows.schema.n_rows == n + 1
    assert_array_equal(values[:-1, :3].astype(float), table[["a", "b", "c"]])
    assert values[:-1, 3].tolist() == table["d"].tolist()
    assert values[-1, 0] == 1e23 and np.isnan(values[-1, 1]) and np.isnan(values[-1, 2]) and values[-1, 3] == "é"


@pytest.mark.parametrize("ids", ["query_id", "sequence_id"])
def test_groups_are_rounds(tmp_path, ids):
    qid = np.repeat([3, 5, 3], [10, 10, 20])
    dump_svmlight_file(X, CODES, str(tmp_path / "q"), query_id=qid)
    (first, second) = open_rows(tmp_path / "q", format=Svmlight(**{ids: True}))  # an id that returns begins a chunk
    assert (len(first), len(second)) == (2, 1) and first.groups.tolist() == [0] * 10 + [1] * 10
    turned = first.take([1, 0])
    assert_array_equal(turned.X.toarray(), X[[*range(10, 20), *range(10)]])
    assert turned.groups.tolist() == first.groups.tolist() and len(first.take([])) == 0


def test_everything_of_a_row_is_taken_together():
    chunk = RowChunk(X, Y, "", sample_weight=X[:, 0], costs={("yes", "no"): X[:, 1]}, ids=[str(i) for i in range(N)])
    part = chunk.take([5, 2])
    assert_array_equal(part.X, X[[5, 2]])
    assert part.ids == ["5", "2"] and part.y.tolist() == Y[[5, 2]].tolist()
    assert part.given["sample_weight"].tolist() == X[[5, 2], 0].tolist()
    assert part.given["costs"]["yes", "no"].tolist() == X[[5, 2], 1].tolist()
    assert RowChunk(X, Y, "").given == {}


def test_columns_have_uses(tmp_path):
    table = pd.DataFrame(X, columns=["a", "b", "fee"]).abs().assign(who=[f"n{i}" for i in range(N)], day="mon", y=Y)
    table.to_csv(tmp_path / "t.csv", index=False)
    table.drop(columns=["y", "fee"]).to_csv(tmp_path / "bare.csv", index=False)
    costs = {("yes", "no"): "fee", ("no", "yes"): "a"}
    rows = open_rows(tmp_path / "t.csv", format=Csv(drop=["day", "fee"], id="who", costs=costs))
    (chunk,) = rows
    assert_array_equal(chunk.X, table[["a", "b"]])
    assert chunk.ids == table.who.tolist() and rows.schema.feature_names == ["a", "b"]
    assert_array_equal(chunk.costs["yes", "no"], table.fee)
    assert_array_equal(chunk.costs["no", "yes"], table.a)
    (bare,) = open_rows(tmp_path / "bare.csv", like=rows)
    assert bare.y is None and bare.costs is None and bare.ids == chunk.ids
    table.drop(columns="fee").to_csv(tmp_path / "less.csv", index=False)
    with pytest.raises(BrokenLineError, match="there is no column 'fee', which has the costs of the rows"):
        list(open_rows(tmp_path / "less.csv", like=rows))
    (tmp_path / "t.csv").write_text("a,b,y\n1,-2,no\n3,4,yes\n")
    for column, message in (("b", "the cost 'b' has '-2'; accepted are numbers from 0"), ("c", "costs='c' is no column of")):
        with pytest.raises(ValueError, match=message):
            list(open_rows(tmp_path / "t.csv", format=Csv(costs={("yes", "no"): column})))
    (tmp_path / "t.jsonl").write_text('{"a": 1, "fee": 2.5, "label": 0}\n{"fee": 0, "label": 1}\n')
    (chunk,) = open_rows(tmp_path / "t.jsonl", format=JsonLines(costs={(1, 0): "fee"}))
    assert chunk.costs[1, 0].tolist() == [2.5, 0]


def test_other_labels_than_those_that_were_learned(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,b\n")
    (tmp_path / "b.csv").write_text("y,x\nc,1\na,3\n")
    rows = open_rows(tmp_path / "a.csv")
    assert rows.schema.classes.tolist() == ["a", "b"]
    (chunk,) = open_rows(tmp_path / "b.csv", like=rows)
    assert chunk.y.tolist() == ["c", "a"] and chunk.X.tolist() == [[1], [3]]
    assert len(list(open_rows(tmp_path / "b.csv", like=rows, chunk_rows=1))) == 2 and len(list(rows)) == 1
    with pytest.raises(ValueError, match=r"format=Csv\(label='y'\) is fixed by the rows that `like` is"):
        open_rows(tmp_path / "b.csv", like=rows, format=Csv(label="y"))
    with pytest.raises(BrokenLineError, match="line 2: the label 'c' is not one of the classes"):
        list(open_rows(tmp_path / "b.csv", classes=["a", "b"], format=Csv(label="y")))


def test_a_pipe_is_read_twice_by_a_copy():
    end, writing = os.pipe()
    text = b"0 1:1 2:3\n1 4:1\n" * 50
    writer = threading.Thread(target=lambda: (os.write(writing, text), os.close(writing)))
    writer.start()
    with open_rows(f"/dev/fd/{end}", chunk_rows=30) as rows:
        assert rows.schema.n_features == 4 and rows.schema.n_rows == 100
        assert stacked(rows)[0].shape == stacked(rows)[0].shape == (100, 4)
    writer.join()
    os.close(end)


def test_rows_that_grow(tmp_path):
    (tmp_path / "a").write_text("1 1:1\n2 7:1\n9 2:1\n")
    chunks = list(open_rows(tmp_path / "a", format=Svmlight(grow=True), chunk_rows=1))
    assert [chunk.X.shape[1] for chunk in chunks] == [1, 7, 2] and [chunk.y[0] for chunk in chunks] == [1, 2, 9]


# Tables as people and programs write them, and the rows that are read; tests/cli/test_csv_files.py has those that are not.
DIRTY = {
    "quoted commas": ('a,y\n"1,5",x\n"2",z\n', None),
    "quoted line end": ('a,t,y\n1,"p\nq",x\n2,r,z\n', [["1", "p\nq", "x"], ["2", "r", "z"]]),
    "doubled quotes": ('a,t,y\n1,"say ""hi""",x\n2,r,z\n', [["1", 'say "hi"', "x"], ["2", "r", "z"]]),
    "mark": ("\ufeffa,y\n1,x\n2,z\n", [["1", "x"], ["2", "z"]]),
    "carriage returns": ("a,y\r\n1,x\r\n2,z\r\n", [["1", "x"], ["2", "z"]]),
    "no last line end": ("a,y\n1,x\n2,z", [["1", "x"], ["2", "z"]]),
    "blank lines": ("\n\na,y\n1,x\n\n   \n2,z\n\n", [["1", "x"], ["2", "z"]]),
    "spaces": ("a, y\n 1, x\n2 ,z \n", [["1", "x"], ["2", "z"]]),
    "semicolons": ("a;y\n1.5;x\n2;z\n", [["1.5", "x"], ["2", "z"]]),
    "tabs": ("a\ty\n1\tx\n2\tz\n", [["1", "x"], ["2", "z"]]),
    "no header": ("1,x\n2,z\n", [["1", "x"], ["2", "z"]]),
    "missing": ("a,b,y\n1,NA,x\n2,,z\n", [["1", "nan", "x"], ["2", "nan", "z"]]),
}


@pytest.mark.parametrize("name", DIRTY)
def test_dirty_tables(tmp_path, name):
    text, expected = DIRTY[name]
    (tmp_path / "t.csv").write_text(text, encoding="utf-8", newline="")
    if name == "quoted commas":
        with pytest.warns(UserWarning, match="has numbers with decimal commas, as '1,5', in column 'a'"):
            (chunk,) = open_rows(tmp_path / "t.csv")
        assert chunk.y.tolist() == ["x", "z"] and chunk.X.tolist() == [["1,5"], ["2"]]
        assert list(csv.reader(io.StringIO(text)))[1] == ["1,5", "x"]
    else:
        (chunk,) = open_rows(tmp_path / "t.csv")
        found = [[cell if isinstance(cell, str) else f"{cell:g}" for cell in row] for row in chunk.X.tolist()]
        assert [[*row, y] for row, y in zip(found, chunk.y, strict=True)] == expected


@pytest.mark.parametrize("chunk_rows", [1, 10])
@pytest.mark.parametrize(
    ("rows", "said"), [("10", "has no costs, and those before it have some"), ("01", "has costs, and those before it have none")]
)
def test_all_rows_or_none_have_costs(tmp_path, rows, said, chunk_rows):
    (tmp_path / "a.jsonl").write_text("".join('{"x": 1, "fee": 2}\n' if row == "1" else '{"x": 1}\n' for row in rows))
    form = JsonLines(costs={("a", "b"): "fee"})
    with pytest.raises(BrokenLineError, match=f"line 2: the row {said}"):
        list(open_rows(tmp_path / "a.jsonl", format=form, classes=["a", "b"], chunk_rows=chunk_rows))


def test_blank_lines_of_tables_are_no_rows(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n1,2,x\n3,4,z\n")
    (tmp_path / "bare.csv").write_text("a,b\n1,2\n\n  \n5,6\n\n")
    (chunk,) = open_rows(tmp_path / "bare.csv", like=open_rows(tmp_path / "t.csv"))
    assert chunk.X.tolist() == [[1, 2], [5, 6]] and chunk.y is None


@pytest.mark.parametrize("chunk_rows", [1, 10_000])
def test_a_line_that_ends_the_first_pass_is_the_error(tmp_path, chunk_rows):
    """Also where it has more features than the rows before it."""
    (tmp_path / "t").write_text("yes 1:1\nno 1:2\nno 2:1 4\n")
    rows = open_rows(tmp_path / "t", chunk_rows=chunk_rows)
    assert rows.schema.n_features == 1
    with pytest.raises(BrokenLineError, match="line 3: at '4': expected INDEX:VALUE"):
        list(rows)


@pytest.mark.parametrize(
    ("name", "kind", "given", "message"),
    [
        ("a.csv", dict, {"format": "xml"}, "format='xml' is not known; accepted are svmlight, csv, conll, json, vw"),
        (
            "a.csv",
            dict,
            {"format": Csv},
            "format=<class .* is not known; accepted are svmlight, .* instances of Svmlight, Csv",
        ),
        ("a.csv", Csv, {"label": "z"}, "label='z' is no column of .*a.csv; accepted are 'x', 'y', first, last"),
        ("a.csv", Csv, {"drop": ["x"]}, "drop=.'x'. leaves no feature"),
        ("a.csv", Csv, {"drop": ["z"]}, "drop='z' is no column of"),
        ("a.csv", Csv, {"drop": "x"}, "drop='x' is not accepted; accepted are sequences of columns"),
        ("a.csv", Csv, {"costs": {"x": "y"}}, "costs=.* is not accepted; accepted are columns by pair"),
        ("a.csv", Csv, {"costs": "x"}, "costs='x' is not accepted"),
        ("a.csv", Csv, {"costs": {(1, 0): 5}}, r"costs=\{\(1, 0\): 5\} is not accepted; accepted are columns by pair"),
        ("a.csv", Csv, {"drop": 5}, "drop=5 is not accepted; accepted are sequences of columns"),
        ("a.csv", Csv, {"drop": [1]}, r"drop=\[1\] is not accepted"),
        ("a.csv", Csv, {"id": ["x"]}, r"id=\['x'\] is not accepted; accepted are None and text"),
        ("a.csv", Csv, {"sep": 1}, "sep=1 is not accepted; accepted are None and text"),
        ("a.csv", Csv, {"header": "no"}, "header='no' is not accepted; accepted are True, False and None"),
        ("a.csv", Csv, {"numbers_only": "x"}, "numbers_only='x' is not accepted; accepted are True and False"),
        ("a.csv", Csv, {"encoding": "undefined"}, "encoding='undefined' is not known"),
        ("a.csv", Csv, {"encoding": "a\0b"}, "encoding='a.*b' is not known"),
        ("a.csv", dict, {"classes": "01"}, "classes='01' must be a list of the labels"),
        ("a.csv", dict, {"classes": {0, 1}}, "classes={0, 1} must be a list of the labels"),
        ("a.csv", Csv, {"encoding": "klingon"}, "encoding='klingon' is not known; accepted are encodings"),
        ("a.csv", Csv, {"encoding": "utf-16"}, "encoding='utf-16' is not known"),
        ("a.csv", dict, {"chunk_rows": 0}, "chunk_rows=0 must be an integer of at least 1"),
        ("a.csv", Csv, {"numbers_only": True}, "numbers_only=True accepts no text and no missing cells, and .*line 3 has 'w'"),
        ("b.csv", dict, {}, "has no rows"),
        ("a.conll", Conll, {"label": 3}, "label=3 is not accepted; accepted are None and text"),
        ("a.conll", Conll, {"label": "x"}, "label='x' is no column of tokens"),
    ],
)
def test_what_is_refused(tmp_path, name, kind, given, message):
    (tmp_path / "a.csv").write_text("x,y\n1,0\nw,1\n")
    (tmp_path / "b.csv").write_text("x,y\n")
    (tmp_path / "a").write_text("1 1:1\n0 2:1\n")
    (tmp_path / "a.conll").write_text("a b\n")
    with pytest.raises(ValueError, match=message):
        list(open_rows(tmp_path / name, **(given if kind is dict else {"format": kind(**given)})))
    with pytest.raises(OSError, match="nowhere"):
        open_rows(tmp_path / "nowhere")


def test_a_wrong_check_sum_is_the_error(tmp_path):
    """Rows that were read ahead come before it; reading on would find another end."""
    packed = bytearray(gzip.compress(b"a,y\n" + b"1,0\n2,1\n" * 100_000))
    packed[-8] ^= 1
    path = tmp_path / "a.csv.gz"
    path.write_bytes(packed)
    with pytest.raises(BrokenLineError, match="CRC check failed"):
        list(open_rows(path, classes=[0, 1]))


@pytest.mark.parametrize(
    "labels", [("007", "012"), ("9007199254740993", "9007199254740992"), ("7", "07"), ("-9007199254740993", "-9007199254740992")]
)
def test_numbers_that_would_lose_digits_are_text(tmp_path, labels):
    path = tmp_path / "codes.csv"
    path.write_text("a,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels)))
    with open_rows(path) as rows:
        assert rows.schema.classes.tolist() == sorted(labels)
        assert [label for chunk in rows for label in chunk.y.tolist()] == list(labels)


def test_labels_of_json_that_would_lose_digits_are_refused(tmp_path):
    path = tmp_path / "codes.jsonl"
    path.write_text("".join(f'{{"label": {label}, "a": 1}}\n' for label in (1, 9007199254740992, 9007199254740993)))
    with pytest.raises(BrokenLineError, match=r"line 3: the label 9007199254740993 has more digits"):
        list(open_rows(path))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("x.csv", "m"), "like='m' must be rows of open_rows"), ((None, None), "path=None"), (([], None), r"path=\[\] must be")],
)
def test_other_arguments_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        open_rows(arguments[0], like=arguments[1])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("c.csv", "a,y\n" + "1" * 200 + ",0\n", "longer than chunk_bytes=100"),
        ("c.conll", "a b O\n" * 1000, "the sequence from line 1 on is longer than chunk_bytes=100"),
    ],
)
def test_lines_longer_than_a_chunk(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(BrokenLineError, match=said):
        list(open_rows(tmp_path / name, chunk_bytes=100))
