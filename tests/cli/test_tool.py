"""The command line as a tool: standard input, rows without labels, labels that are words, several files, what is written."""

import io
import json
import os
import random
import subprocess
import sys
import threading

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file

from sklearn_predtron import PredtronClassifier, PredtronOrdinalClassifier, PredtronRanker, PredtronSequenceTagger
from sklearn_predtron.cli import _data_files, main
from sklearn_predtron.cli._labels import RewrittenText, Words, add_labels
from sklearn_predtron.datasets import BrokenLineError, read_svmlight
from sklearn_predtron.mixing import ParameterMixing

NAMES = ["ham", "spam", "\u00fcble Mail".replace(" ", "_")]
PROGRAM = [sys.executable, "-m", "sklearn_predtron"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files by name: rows of three classes, with words as labels (w), as tokens or documents (q), in two parts (a, b)."""
    folder, rng = tmp_path_factory.mktemp("svm"), np.random.default_rng(0)
    W, found = rng.standard_normal((3, 6)), {}
    for name, n in {"a": 200, "b": 104, "test": 80}.items():
        X = rng.standard_normal((n, 6)).round(3)
        y = (X @ W.T).argmax(axis=1)
        for kind, ids in {"": None, "q": np.arange(n) // 8}.items():
            found[name + kind] = folder / f"{name}{kind}.svm"
            dump_svmlight_file(X, y, str(found[name + kind]), zero_based=False, query_id=ids)
        found[name + "w"] = folder / f"{name}w.svm"
        lines = found[name].read_text().splitlines()
        found[name + "w"].write_text("".join(f"{NAMES[int(line[0])]}{line[1:]}\n" for line in lines), encoding="utf-8")
    return found


def unlabelled(path):
    """The rows of a file without their labels, as `cut -d' ' -f2-` makes them."""
    return "".join(line.partition(" ")[2] for line in path.read_text(encoding="utf-8").splitlines(keepends=True))


def run(capsys, *argv):
    code = main([str(word) for word in argv])
    return code, *capsys.readouterr()


def usage_error(capsys, *argv):
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in argv])
    out, err = capsys.readouterr()
    assert stop.value.code == 2 and out == "" and err.count("\n") == 1
    return err


@pytest.fixture
def standard_input():
    """Feed the process's standard input."""
    kept, threads = os.dup(0), []

    def feed(end, text):
        with open(end, "wb") as file:
            file.write(text)

    def fed(text):
        end, writing = os.pipe()
        os.dup2(end, 0)
        os.close(end)
        threads.append(threading.Thread(target=feed, args=[writing, text]))
        threads[-1].start()

    yield fed
    os.dup2(kept, 0)
    os.close(kept)
    for thread in threads:
        thread.join()


# ----------------------------------------------------------------------------------------------------------- standard input


@pytest.mark.parametrize("options", [[], ["--epochs", 2], ["--grow"], ["--features", 6, "--classes", 0, 1, 2]], ids=str)
def test_standard_input_is_learned_as_the_file_is(capsys, files, standard_input, tmp_path, monkeypatch, options):
    copies, temporary = [], _data_files.TemporaryFile
    monkeypatch.setattr(_data_files, "TemporaryFile", lambda: copies.append(temporary()) or copies[-1])
    assert run(capsys, files["a"], *options, "--save", tmp_path / "file")[0] == 0
    standard_input(files["a"].read_bytes())
    code, out, err = run(capsys, "-", *options, "--save", tmp_path / "pipe")
    assert (code, err) == (0, "") and out.splitlines()[2].startswith("standard input  PredtronClassifier")
    assert (tmp_path / "pipe").read_bytes() == (tmp_path / "file").read_bytes()
    assert len(copies) == ("--grow" not in options and "--features" not in options)


def test_standard_input_to_score_on(capsys, files, standard_input, tmp_path):
    run(capsys, files["a"], "--save", tmp_path / "model", "--test", files["test"], "--predictions", tmp_path / "p")
    standard_input(files["test"].read_bytes())
    code, *_ = run(capsys, "--load", tmp_path / "model", "--test", "-", "--predictions", tmp_path / "q")
    assert code == 0 and (tmp_path / "p").read_text() == (tmp_path / "q").read_text()


def test_standard_input_is_a_file(files, tmp_path):
    """From where the shell left it, and again for the next epoch."""
    with open(files["a"], "rb") as file:
        os.lseek(file.fileno(), len(file.readline()), os.SEEK_SET)
        done = subprocess.run(
            [*PROGRAM, "-", "--epochs", "2", "--json"], stdin=file, capture_output=True, check=True, timeout=120
        )
    assert json.loads(done.stdout)["results"][0]["rounds"] == 2 * 199


def test_broken_line_of_standard_input(capsys, files, standard_input):
    standard_input(files["a"].read_bytes() + b"1 oops\n")
    code, _, err = run(capsys, "-")
    assert code == 1 and err.startswith("error: standard input, line 201: at 'oops': expected INDEX:VALUE; the 200 rounds")


def test_standard_input_is_read_once(capsys, files):
    assert "TRAIN and --test are the same pipe '-'" in usage_error(capsys, "-", "--test", "-")
    assert "--load='-' is not a file that can be read" in usage_error(capsys, files["a"], "--load", "-")
    done = subprocess.run(
        [*PROGRAM, "-"], preexec_fn=lambda: os.close(0), capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 2 and "TRAIN='-' is not a file that can be read" in done.stderr


# ------------------------------------------------------------------------------------------------------ rows without labels


def test_as_a_user_types_it(files, tmp_path):
    command = f"python -m sklearn_predtron {files['a']} --save m > table && cut -d' ' -f2- {files['test']} | "
    command = (command + "python -m sklearn_predtron --load m -").replace("python", f"PYTHONPATH={os.getcwd()} {sys.executable}")
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120)
    X, _ = read_svmlight(files["test"])
    assert_array_equal(np.array(done.stdout.split(), dtype=float), joblib.load(tmp_path / "m").predict(X))
    assert done.stderr == "" and "PredtronClassifier" in (tmp_path / "table").read_text()


def test_a_fifo_is_predicted(files, tmp_path):
    assert main([str(files["a"]), "--save", str(tmp_path / "m"), "--quiet"]) == 0
    os.mkfifo(tmp_path / "fifo")
    writer = threading.Thread(target=(tmp_path / "fifo").write_text, args=[unlabelled(files["test"])], daemon=True)
    writer.start()
    words = [*PROGRAM, "--load", tmp_path / "m", tmp_path / "fifo"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    assert done.stderr == "" and len(done.stdout.split()) == 80


def test_predictions_come_as_rows_do(files, tmp_path):
    """With chunks of one row; and the job ends when nobody reads them."""
    assert main([str(files["a"]), "--save", str(tmp_path / "m"), "--quiet"]) == 0
    words = [*PROGRAM, "--load", tmp_path / "m", "-", "--chunk", "1"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        for _ in range(3):
            job.stdin.write("1:1 3:-2\n")
            job.stdin.flush()
            assert job.stdout.readline() in ("0\n", "1\n", "2\n")
        job.stdout.close()
        job.stdin.write("1:1\n" * 10)
        job.stdin.flush()
        assert job.wait(timeout=60) == 141 and job.stderr.read() == ""


@pytest.mark.parametrize("kind", ["", "w"])
@pytest.mark.parametrize("form", ["TRAIN", "--test"])
def test_rows_without_labels(capsys, files, tmp_path, kind, form):
    labelled = files["test" + kind]
    run(capsys, files["a" + kind], "--save", tmp_path / "m", "--test", labelled, "--predictions", tmp_path / "p")
    text = "# a comment\n" + unlabelled(labelled).replace("\n", " # spam\r\n  # 1:1\n", 3)
    (tmp_path / "u.svm").write_bytes(b"\xef\xbb\xbf" + text.encode())
    given = [tmp_path / "u.svm"] if form == "TRAIN" else ["--test", tmp_path / "u.svm"]
    code, out, err = run(capsys, "--load", tmp_path / "m", *given, "--chunk", 7)
    assert (code, err) == (0, "") and out == (tmp_path / "p").read_text(encoding="utf-8")
    code, out, err = run(capsys, "--load", tmp_path / "m", *given, "--predictions", tmp_path / "q")
    assert (code, out, err) == (0, "", "") and (tmp_path / "q").read_text() == (tmp_path / "p").read_text()


@pytest.mark.parametrize("form", ["TRAIN", "--test"])
def test_a_blank_line_is_a_row_without_labels(capsys, files, tmp_path, form):
    """So there are as many predictions as lines, whatever rows have no features."""
    lines = files["test"].read_text().splitlines()[:9]
    for i, line in ((1, "2"), (4, "0 # c"), (8, "1")):
        lines[i] = line
    (tmp_path / "t.svm").write_text("\n".join(lines) + "\n")
    (tmp_path / "u.svm").write_text("# c\n" + "".join("\r\n" if ":" not in x else x[2:] + "\n" for x in lines))
    run(capsys, files["a"], "--save", tmp_path / "m", "--test", tmp_path / "t.svm", "--predictions", tmp_path / "p")
    given = [tmp_path / "u.svm"] if form == "TRAIN" else ["--test", tmp_path / "u.svm"]
    for chunk in (1, 2, 100):
        code, out, err = run(capsys, "--load", tmp_path / "m", *given, "--chunk", chunk)
        assert (code, err) == (0, "") and out == (tmp_path / "p").read_text() and out.count("\n") == 9


def test_documents_and_tokens_without_labels(capsys, files, tmp_path):
    X, y, ids = read_svmlight(files["aq"], query_id=True)
    (tmp_path / "u.svm").write_text(unlabelled(files["testq"]))
    X_test, _, test_ids = read_svmlight(files["testq"], query_id=True)
    ranker = PredtronRanker().partial_fit(X, y, qid=ids)
    tagger = PredtronSequenceTagger().partial_fit(X, y, sid=ids, classes=[0, 1, 2])
    for model, expected in [(ranker, ranker.predict(X_test)), (tagger, tagger.predict(X_test, sid=test_ids))]:
        joblib.dump(model, tmp_path / "m")
        code, out, err = run(capsys, "--load", tmp_path / "m", tmp_path / "u.svm", "--no-zero-based")
        assert (code, err) == (0, "")
        assert_array_equal(np.array(out.split(), dtype=float), expected)
    (tmp_path / "u.svm").write_text("1:1\n")
    code, _, err = run(capsys, "--load", tmp_path / "m", tmp_path / "u.svm", "--no-zero-based")
    assert code == 1 and "line 1: at '1:1': expected qid:ID" in err and "the predictions are of the rows before it" in err


def test_sets_of_labels_that_nobody_names(capsys, tmp_path):
    """A row without labels has an empty set; a hundred of them have none."""
    X = np.random.default_rng(0).standard_normal((150, 3)).round(2)
    rows = [" ".join(f"{j + 1}:{value}" for j, value in enumerate(row)) for row in X]
    labels = [",".join(name for name, value in zip(["news", "sports", "tv"], row, strict=True) if value > 0.3) for row in X]
    (tmp_path / "train.svm").write_text("".join(f"{a} {row}\n" for a, row in zip(labels, rows, strict=True)))
    (tmp_path / "test.svm").write_text("".join(f"{row}\n" for row in rows))
    arguments = [tmp_path / "train.svm", "--task", "multilabel", "--save", tmp_path / "m", "--no-shuffle", "--quiet"]
    assert run(capsys, *arguments) == (0, "", "")
    model = joblib.load(tmp_path / "m")
    assert model.svmlight_labels_.tolist() == ["news", "sports", "tv"]
    code, out, _ = run(capsys, "--load", tmp_path / "m", tmp_path / "test.svm")
    found = [[name in line.split(",") for name in model.svmlight_labels_] for line in out.splitlines()]
    assert code == 0
    assert_array_equal(found, model.predict(X))
    (tmp_path / "few.svm").write_text("1:1\nsports,news 2:1\n")
    code, out, _ = run(capsys, "--load", tmp_path / "m", tmp_path / "few.svm", "--save", tmp_path / "n")
    assert code == 0 and "PredtronMultilabelClassifier       2" in out and joblib.load(tmp_path / "n").t_ == 152
    (tmp_path / "few.svm").write_text("1:1\nsports,chess 2:1\n")
    code, _, err = run(capsys, "--load", tmp_path / "m", tmp_path / "few.svm")
    assert code == 1 and "line 2: at 'chess': the label is not one of the classes [news, sports, tv]" in err


def test_usage_errors_of_rows_without_labels(capsys, files, tmp_path):
    run(capsys, files["a"], "--save", tmp_path / "m")
    path = tmp_path / "u.svm"
    path.write_text(unlabelled(files["test"]))
    said = f"TRAIN={str(path)!r} has no label in its first row"
    assert f"{said}; without --load there is no model" in usage_error(capsys, path, "--save", tmp_path / "n")
    assert f"{said}, and TRAIN={str(files['a'])!r} has" in usage_error(capsys, path, files["a"], "--load", tmp_path / "m")
    for option in (["--save", tmp_path / "n"], ["--test", files["test"]], ["--epochs", 2], ["--grow"], ["--compare"]):
        expected = f"{option[0]} is not for rows without labels: {said}"
        assert expected in usage_error(capsys, path, "--load", tmp_path / "m", *option)
    assert not (tmp_path / "n").exists()
    path.write_text(unlabelled(files["test"]) + "1 2:1\n2:1\n")
    code, out, err = run(capsys, path, "--load", tmp_path / "m")
    assert code == 1 and "line 81: at '1': expected INDEX:VALUE; the predictions are of the rows before it" in err
    assert len(out.split()) == 80


def test_rows_without_labels_beside_training(capsys, files, tmp_path):
    (tmp_path / "u.svm").write_text(unlabelled(files["test"]))
    code, out, err = run(capsys, files["a"], "--test", tmp_path / "u.svm", "--save", tmp_path / "m")
    X, _ = read_svmlight(files["test"])
    assert code == 0 and "PredtronClassifier" in err
    assert_array_equal(np.array(out.split(), dtype=float), joblib.load(tmp_path / "m").predict(X))


# --------------------------------------------------------------------------------------------------------------- rewriting


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_rewritten_text(size):
    """Line by line, however it is read; a blank line is a row, and one of comment alone stays."""
    text = b"\xef\xbb\xbf1:1 2:2\n\n  # 1:1\n \t3:1\r\n4:1 # 5\n#\n6:1"
    expected = b"0 1:1 2:2\n0 \n  # 1:1\n0  \t3:1\r\n0 4:1 # 5\n#\n0 6:1"
    source, found, buffer = RewrittenText(io.BufferedReader(io.BytesIO(text)), add_labels, 1000), b"", bytearray(size)
    while n := source.readinto1(memoryview(buffer)):
        found += buffer[:n]
    assert found == expected


def test_words_have_numbers():
    words = Words(["b"], grows=True, several=True)
    assert words.rewrite(b"b,a 1:1\n# b\n2:1\n\ta #a 1:1\nb") == b"0,1 1:1\n# b\n2:1\n\t1 #a 1:1\n0"
    assert words.names == ["b", "a"] and words.of(np.array([1.0, 0.0])).tolist() == ["a", "b"]


def read(path, labelled, words, chunk):
    """The rows of a file and their first lines, and the number of the line that cannot be read, if there is one."""
    found, file = [], _data_files.DataFile(str(path))
    file.labelled, classes = labelled, None if words is None else np.arange(len(words.names))
    reader = _data_files.DataFileReader(file, words=words, zero_based=False, classes=classes, chunk_rows=chunk)
    try:
        for X, _, first in reader:
            found.append((X.indptr.tolist(), X.indices.tolist(), X.data.tolist(), first))
    except BrokenLineError as error:
        return found, error.line_number
    return found, None


def test_rewritten_files_are_read_as_others(tmp_path):
    """Random texts with numbers, with words and without labels: the same rows, and the same line that cannot be read."""
    draw, names, broken = random.Random(0), ["b", "a", "zz"], 0
    for _ in range(200):
        rows, values = [], ["1", "2.5", "-1e3"] * 20 + ["x"]
        for _ in range(draw.randrange(12)):
            entries = " ".join(f"{j}:{draw.choice(values)}" for j in sorted(draw.sample(range(1, 30), draw.randrange(1, 5))))
            empty = draw.random() < 0.15
            text = draw.choice(["", " ", "#c", "  # 1:1 x", "\t"]) if empty else entries + draw.choice(["", " # c", "#", " \r"])
            rows.append((draw.choice(["", "", " ", "\t "]), None if empty else draw.randrange(3), text))
        mark, end, chunk, results = draw.choice(["", "\ufeff"]), draw.choice(["\n", ""]), draw.choice([1, 2, 5, 100]), []
        for form in ("{0} ", "{1} ", ""):
            lines = [space + ("" if k is None else form.format(k, names[k])) + text for space, k, text in rows]
            (tmp_path / "x.svm").write_text(mark + "\n".join(lines) + end, encoding="utf-8", newline="")
            words = Words(names, grows=False, several=False) if "1" in form else None
            results.append(read(tmp_path / "x.svm", form != "", words, chunk))
        assert results[0] == results[1]
        # Without labels a blank line is a row, as one with a label and nothing else.
        text = "\n".join(lines) + end
        lines = text.removesuffix("\n").split("\n") if text else []
        labelled = [line if line.lstrip().startswith("#") else f"0 {line}" for line in lines]
        (tmp_path / "x.svm").write_text(mark + "\n".join(labelled), encoding="utf-8", newline="")
        assert results[2] == read(tmp_path / "x.svm", True, None, chunk)
        broken += results[0][1] is not None
    assert 10 < broken < 190


# ------------------------------------------------------------------------------------------------------- labels that are words


@pytest.mark.parametrize("options", [[], ["--grow"], ["--classes", NAMES[2], NAMES[0], NAMES[1]]], ids=["", "grow", "classes"])
def test_words_are_labels(capsys, files, tmp_path, options):
    arguments = [files["aw"], *options, "--no-shuffle", "--save", tmp_path / "m", "--test", files["testw"], "--chunk", 50]
    code, out, err = run(capsys, *arguments, "--predictions", tmp_path / "p")
    (X, y), (X_test, _) = (read_svmlight(files[name]) for name in ("a", "test"))
    expected = PredtronClassifier().partial_fit(X, np.array(NAMES)[y.astype(int)], classes=NAMES)
    found = joblib.load(tmp_path / "m")
    assert (code, err) == (0, "") and f"{found.score(X_test, expected.predict(X_test)):.4f}" == "1.0000"
    assert found.classes_.tolist() == sorted(NAMES)
    assert_array_equal(found.coef_, expected.coef_)
    assert (tmp_path / "p").read_text(encoding="utf-8").split() == expected.predict(X_test).tolist()
    code, out, _ = run(capsys, files["bw"], "--load", tmp_path / "m", "--save", tmp_path / "m", "--json")
    assert code == 0 and json.loads(out)["results"][0]["rounds"] == 104 and joblib.load(tmp_path / "m").t_ == 304


def test_words_that_are_new(capsys, files, tmp_path):
    run(capsys, files["aw"], "--save", tmp_path / "m")
    more = tmp_path / "more.svm"
    more.write_text("ham 1:1\n1 1:1\nnews 1:1\n")
    code, _, err = run(capsys, files["aw"], "--test", more)
    assert code == 1 and "line 2: at '1': the label is not one of the classes [ham, spam, " in err
    code, *_ = run(capsys, more, "--grow", "--load", tmp_path / "m", "--save", tmp_path / "m")
    assert code == 0 and joblib.load(tmp_path / "m").classes_.tolist() == sorted([*NAMES, "1", "news"])


def test_words_of_costs_and_rejection(capsys, files, tmp_path):
    options = ["--loss", "spam:ham=7", "--reject-cost", 0.4, "--reject-label", "unsure", "--save", tmp_path / "m"]
    code, out, err = run(capsys, files["aw"], *options, "--test", files["testw"], "--predictions", "-")
    assert code == 0 and set(out.split()) <= {*NAMES, "unsure"} and "rejected" in err
    model = joblib.load(tmp_path / "m")
    assert model.loss == {("spam", "ham"): 7.0} and model.reject.label == "unsure"
    said = "--loss names the labels [nonsense]; accepted are [ham, spam, "
    assert said in usage_error(capsys, files["aw"], "--loss", "nonsense:ham=2")


def test_ranks_that_are_words(capsys, files, tmp_path):
    said = "the first row of TRAIN has the label"
    arguments = [files["aw"], "--task", "ordinal", "--save", tmp_path / "m"]
    assert f"{said} {NAMES[0]!r}" in (err := usage_error(capsys, *arguments)) or said in err
    assert "ranks that are words need --classes, which gives them in their order" in err
    order = [NAMES[1], NAMES[2], NAMES[0]]
    code, *_ = run(capsys, *arguments, "--classes", *order, "--no-shuffle", "--test", files["testw"])
    X, y = read_svmlight(files["a"])
    expected = PredtronOrdinalClassifier(categories=order).partial_fit(X, np.array(NAMES)[y.astype(int)], classes=order)
    found = joblib.load(tmp_path / "m")
    assert code == 0 and found.classes_.tolist() == order
    assert_array_equal(found.coef_, expected.coef_)
    code, *_ = run(capsys, files["bw"], "--load", tmp_path / "m", "--test", files["testw"])
    assert code == 0


def test_relevances_and_commas_are_no_words(capsys, tmp_path):
    (tmp_path / "q.svm").write_text("good qid:1 1:1\nbad qid:1 1:2\n")
    assert "has the label 'good'; accepted are numbers, which relevances are" in usage_error(capsys, tmp_path / "q.svm")
    code, *_ = run(capsys, tmp_path / "q.svm", "--task", "sequence", "--save", tmp_path / "m")
    assert code == 0 and joblib.load(tmp_path / "m").classes_.tolist() == ["bad", "good"]
    (tmp_path / "c.svm").write_text("a,b 1:1\nb 1:2\n")
    assert run(capsys, tmp_path / "c.svm")[2].startswith(
        f"error: {tmp_path / 'c.svm'}, line 1: at 'a,b': the label has a comma; --task multilabel is for several labels in a row"
    )


def test_a_comment_is_apart_from_a_word(capsys, tmp_path):
    """A C# would be a C otherwise."""
    (tmp_path / "x.svm").write_text("C 1:1\nD 1:2 # fine\nC# 1:3\n")
    for options in (["--no-compare"], ["--grow"], ["--classes", "C", "D"]):
        code, _, err = run(capsys, tmp_path / "x.svm", "--no-shuffle", *options)
        assert code == 1 and "line 3: at 'C#': a label has no #" in err


# ------------------------------------------------------------------------------------------------------------ several files


@pytest.mark.parametrize("kind", ["", "w", "q"])
def test_several_files_are_one_stream(capsys, files, tmp_path, kind):
    parts = [files["a" + kind], files["b" + kind]]
    (tmp_path / "whole.svm").write_bytes(b"".join(part.read_bytes() for part in parts))
    (tmp_path / "empty.svm").write_text("# no rows\n")
    for name, train in [("whole", [tmp_path / "whole.svm"]), ("parts", [parts[0], tmp_path / "empty.svm", parts[1]])]:
        options = ["--no-shuffle", "--save", tmp_path / name, "--epochs", 2, "--no-compare"]
        code, out, err = run(capsys, *train, *options)
        assert (code, err) == (0, "")
    assert f"a{kind}.svm and 2 more  Predtron" in out
    assert_array_equal(joblib.load(tmp_path / "parts").coef_, joblib.load(tmp_path / "whole").coef_)


def test_a_query_is_whole_in_its_file(capsys, files, tmp_path):
    options = ["--json", "--no-compare", "--chunk", 3]
    code, out, _ = run(capsys, files["aq"], files["aq"], *options)
    assert code == 0 and json.loads(out)["results"][0]["rounds"] == 50


def test_an_error_names_its_file(capsys, files, tmp_path):
    (tmp_path / "broken.svm").write_text("1 1:1\n1 oops\n")
    code, _, err = run(capsys, files["a"], tmp_path / "broken.svm", files["b"])
    assert code == 1 and err.startswith(f"error: {tmp_path / 'broken.svm'}, line 2: at 'oops'")
    assert "the 201 rounds before it are kept" in err
    assert "'nowhere' is not a file that can be read" in usage_error(capsys, files["a"], "nowhere")
    assert "--save and TRAIN are the same file" in usage_error(capsys, files["a"], files["b"], "--save", files["b"])


def test_growing_over_several_files(capsys, tmp_path):
    (tmp_path / "one.svm").write_text("1 1:1 5:1\n2 2:1\n")
    (tmp_path / "two.svm").write_text("3 1:1\n1 7:1\n")
    code, *_ = run(capsys, tmp_path / "one.svm", tmp_path / "two.svm", "--grow", "--save", tmp_path / "m")
    model = joblib.load(tmp_path / "m")
    assert code == 0 and model.n_features_in_ == 7 and model.classes_.tolist() == [1, 2, 3]


# ------------------------------------------------------------------------------------------------------------- side by side


@pytest.mark.parametrize("task", ["multiclass", "rank", "sequence", "multilabel"])
def test_files_are_mixed(capsys, files, tmp_path, task):
    kind = "q" if task in ("rank", "sequence") else ""
    train = [files["a" + kind], files["b" + kind]]
    options = ["--task", task, "--jobs", 2, "--epochs", 3, "--test", files["test" + kind], "--save", tmp_path / "m"]
    code, out, err = run(capsys, *train, *options)
    assert (code, err) == (0, "")
    found = joblib.load(tmp_path / "m")
    labels = {} if task == "rank" else {"classes": [0, 1, 2]}
    mixing = ParameterMixing(type(found)(), rounds=3, random_state=0).fit([str(path) for path in train], n_features=6, **labels)
    expected = mixing.estimator_
    rounds = 38 if kind else 304
    name, *figures = next(line for line in out.splitlines() if ", 2 mixed" in line).partition(", 2 mixed")[::2]
    rounds_, _, loss, last, score, *_ = figures[0].split()
    assert name == f"a{kind}.svm and 1 more  {type(found).__name__}" and found.t_ == expected.t_ == 3 * rounds
    assert (rounds_, loss, last) == (f"{3 * rounds:,}", "-", f"{mixing.loss_curve_[0]:.4f}") and 0.5 < float(score) <= 1
    assert_array_equal(found.coef_, expected.coef_)
    again = ["--predictions", "-"] + options[:-2]
    assert run(capsys, *train, *again, "--jobs", 1)[1] == run(capsys, *train, *again)[1]  # whatever the threads


def test_a_mixture_goes_on_from_its_checkpoint(capsys, files, tmp_path):
    train = [files["a"], files["b"], "--jobs", 2]
    assert run(capsys, *train, "--epochs", 2, "--checkpoint", tmp_path / "c")[0] == 0
    assert run(capsys, *train, "--epochs", 4, "--checkpoint", tmp_path / "c", "--save", tmp_path / "m")[0] == 0
    assert run(capsys, *train, "--epochs", 4, "--save", tmp_path / "n")[0] == 0
    assert_array_equal(joblib.load(tmp_path / "m").coef_, joblib.load(tmp_path / "n").coef_)
    said = usage_error(capsys, *train, "--epochs", 4, "--checkpoint", tmp_path / "c", "--seed", 1)
    assert "random_state" in said


def test_what_is_not_mixed(capsys, files, monkeypatch, standard_input, tmp_path):
    run(capsys, files["a"], "--save", tmp_path / "m")
    for option in (["--load", tmp_path / "m"], ["--grow"], ["--compare"], ["--chunk", 7], ["--chunk-bytes", 70]):
        assert f"{option[0]} is not for --jobs" in usage_error(capsys, files["a"], "--jobs", 2, *option)
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "distributed", None)
        said = usage_error(capsys, files["a"], "--cluster", "tcp://127.0.0.1:8786")
    assert "--cluster needs dask.distributed: pip install 'sklearn_predtron[cluster]'" in said
    assert "--jobs is not for labels that are words" in usage_error(capsys, files["aw"], "--jobs", 2)
    assert "--checkpoint needs --jobs or --cluster" in usage_error(capsys, files["a"], "--checkpoint", tmp_path / "c")
    assert "average=5.0 cannot be mixed" in usage_error(capsys, files["a"], "--jobs", 2, "--average", 5)
    (tmp_path / "zero.svm").write_text("1 0:1\n2 1:1\n")
    assert "--jobs is not for TRAIN with indices that count from 0" in usage_error(capsys, tmp_path / "zero.svm", "--jobs", 1)
    standard_input(files["a"].read_bytes())
    assert "--jobs reads TRAIN='-' in each of its rounds" in usage_error(capsys, "-", "--jobs", 2)
    (tmp_path / "broken.svm").write_text("1 1:1\n1 oops\n")
    code, _, err = run(capsys, files["a"], tmp_path / "broken.svm", "--jobs", 2, "--save", tmp_path / "n")
    assert code == 1 and "broken.svm" in err and "line 2" in err and "nothing was learned before it" in err
    assert not (tmp_path / "n").exists()


# ------------------------------------------------------------------------------------------- features that training never saw


@pytest.mark.parametrize("how", ["scan", "given", "grow", "load", "unlabelled"])
def test_features_that_training_never_saw(capsys, files, tmp_path, how):
    X, _ = read_svmlight(files["test"])
    lines = files["test"].read_text().splitlines()
    new = {0: " 7:1 9:2", 3: " 7:1", 5: " 1000:3"}
    rows = [line.partition(" ")[2] if how == "unlabelled" else line for line in lines]
    (tmp_path / "test.svm").write_text("".join(f"{row}{new.get(i, '')}\n" for i, row in enumerate(rows)))
    options = {"given": ["--features", 6, "--classes", 0, 1, 2], "grow": ["--grow"]}.get(how, [])
    run(capsys, files["a"], *options, "--save", tmp_path / "m")
    start = ["--load", tmp_path / "m"] if how in ("load", "unlabelled") else [files["a"], *options]
    code, out, err = run(capsys, *start, "--test", tmp_path / "test.svm", "--predictions", tmp_path / "p")
    assert code == 0 and "TEST: 4 values of 3 features that training did not have were left out\n" in out + err
    assert (out == "") == (how == "unlabelled")
    assert_array_equal(np.loadtxt(tmp_path / "p"), joblib.load(tmp_path / "m").predict(X))
    code, out, err = run(capsys, *start, "--test", tmp_path / "test.svm", "--predictions", tmp_path / "p", "--json")
    assert json.loads(out)["left_out_of_test"] == {"values": 4, "features": 3}


# --------------------------------------------------------------------------------------------------------------- first pass


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("task", ["multiclass", "multilabel", "rank", "sequence"])
def test_few_rows_are_parsed_once(capsys, files, tmp_path, monkeypatch, task, base):
    """The first pass keeps them; many rows are parsed again, with the same bits."""
    X, y, ids = read_svmlight(files["aq"], query_id=True)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=base == 0, query_id=ids)
    (tmp_path / "b.svm").write_text("1 qid:99 2:1 8:1\n")
    opened, read = [], _data_files.DataFileReader._open
    monkeypatch.setattr(_data_files.DataFileReader, "_open", lambda self: opened.append(self.path) or read(self))
    arguments = [tmp_path / "a.svm", tmp_path / "b.svm", "--task", task, "--epochs", 2, "--chunk", 30, "--save"]
    assert run(capsys, *arguments, tmp_path / "kept")[0] == 0 and len(opened) == 2
    monkeypatch.setattr(_data_files, "MOST_KEPT", 12 * 1000)  # less than the first file, of 1200 entries
    assert run(capsys, *arguments, tmp_path / "read")[0] == 0 and len(opened) == 2 + 4
    assert (tmp_path / "kept").read_bytes() == (tmp_path / "read").read_bytes()
    assert joblib.load(tmp_path / "kept").n_features_in_ == 9 - base


def test_all_files_share_the_room(capsys, files, monkeypatch):
    opened, read = [], _data_files.DataFileReader._open
    monkeypatch.setattr(_data_files.DataFileReader, "_open", lambda self: opened.append(self.path) or read(self))
    monkeypatch.setattr(_data_files, "MOST_KEPT", 12 * 1200 + 10_000)  # two files, of three
    assert run(capsys, files["b"], files["b"], files["b"])[0] == 0 and len(opened) == 3 + 1


# ---------------------------------------------------------------------------------------------------------- what is written


def test_predictions_to_standard_output(capsys, files, tmp_path):
    arguments = [files["a"], "--test", files["test"], "--predictions"]
    table = run(capsys, *arguments, tmp_path / "p")[1]
    code, out, err = run(capsys, *arguments, "-")
    assert code == 0 and out == (tmp_path / "p").read_text() and len(err.splitlines()) == len(table.splitlines())
    done = subprocess.run([*PROGRAM, *arguments, "-"], stdout=open(os.devnull, "rb"), check=False, timeout=120)  # noqa: SIM115
    assert done.returncode == 1


def test_nobody_reads_the_predictions(files):
    end, writing = os.pipe()
    os.close(end)
    words = [*PROGRAM, files["a"], "--test", files["test"], "--predictions", "-"]
    done = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    os.close(writing)
    assert done.returncode == 141 and "PredtronClassifier     200" in done.stderr and "error" not in done.stderr


def test_scores(capsys, files, tmp_path):
    X, _, ids = read_svmlight(files["aq"], query_id=True)
    binary = tmp_path / "binary.svm"
    binary.write_text(files["a"].read_text().replace("\n2 ", "\n1 "))
    for train, options, n in [
        (files["a"], [], 3),
        (binary, [], 1),
        (binary, ["--task", "bipartite", "--loss", "balanced"], 1),
        (files["aq"], ["--task", "sequence"], 3),
        (files["aq"], ["--task", "rank"], 1),
        (files["a"], ["--task", "multilabel"], 3),
        (files["a"], ["--task", "ordinal"], 3),
    ]:
        arguments = [train, *options, "--test", train, "--predictions", "-", "--scores", "--save", tmp_path / "m", "--quiet"]
        code, out, err = run(capsys, *arguments)
        assert (code, err) == (0, "")
        found = np.array([line.split() for line in out.splitlines()], dtype=float)
        model = joblib.load(tmp_path / "m")
        given = {"sid": ids} if "sequence" in options else {}
        expected = model.predict(X) if "rank" in options else model.decision_function(X, **given)
        assert found.shape == (200, n)
        assert_allclose(found, expected.reshape(200, -1), rtol=1e-12)
    assert "--scores needs --test or --load" in usage_error(capsys, files["a"], "--scores")
    said = "--scores needs --predictions, or rows without labels"
    assert said in usage_error(capsys, files["a"], "--test", files["a"], "--scores")
    said = "--predictions needs --test, or rows without labels"
    assert said in usage_error(capsys, files["aq"], "--load", tmp_path / "m", "--predictions", "-")


def test_json(capsys, files, tmp_path):
    arguments = [files["aq"], "--test", files["testq"], "--save", tmp_path / "m"]
    code, out, err = run(capsys, *arguments, "--json")
    ours, baseline = json.loads(out)["results"]
    model = joblib.load(tmp_path / "m")
    X, y, ids = read_svmlight(files["testq"], query_id=True)
    assert (code, err) == (0, "") and ours["learner"] == "PredtronRanker" and baseline["learner"] == "SGDRegressor"
    assert ours["rounds"] == 25 and ours["progressive_loss"] == pytest.approx(model.progressive_loss_, rel=1e-12)
    assert ours["held_out_score"] == pytest.approx(model.score(X, y, ids), rel=1e-12)
    assert ours["rejected"] is None and 0 < ours["held_out_ndcg_at_5"] <= 1 and ours["rounds_per_second"] > 0
    code, out, err = run(capsys, *arguments, "--json", "--predictions", "-")
    assert len(out.splitlines()) == 80 and json.loads(err)["results"][0]["rounds"] == 25


def test_quiet(capsys, files, tmp_path):
    assert run(capsys, files["a"], "--quiet", "--save", tmp_path / "m") == (0, "", "")
    assert joblib.load(tmp_path / "m").t_ == 200
    code, out, err = run(capsys, files["a"], "--quiet", "--json")
    assert code == 0 and json.loads(out)["results"] and err == ""


def test_exit_codes_are_in_the_help(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "Exit codes: 0 all was done; 1 " in text and "; 2 the arguments" in text and "130 Ctrl-C; 141 nobody reads" in text


# --------------------------------------------------------------------------------------------------------------------- cache


def test_a_cache_gives_the_same(files, tmp_path, capsys):
    """With a first pass or without, written or read."""
    train = tmp_path / "train.svm"
    train.write_bytes(files["a"].read_bytes())
    given = ["--no-compare", "--test", files["test"], "--predictions", "-", "--quiet", "--epochs", 2]
    plain = run(capsys, train, *given)
    for more in ([], [], ["--features", 6, "--classes", 0, 1, 2], ["--grow"]):
        found = run(capsys, train, *[word for word in given if more != ["--grow"] or word != "--no-compare"], *more, "--cache")
        assert found[0] == 0 and (found == plain or more == ["--grow"])
        assert (tmp_path / "train.svm.cache").exists()
    files["test"].with_name("test.svm.cache").unlink()


def test_a_damaged_cache_is_said(files, tmp_path, capsys):
    train = tmp_path / "train.svm"
    train.write_bytes(files["a"].read_bytes())
    known = ["--features", 6, "--classes", 0, 1, 2, "--no-compare", "--cache"]
    assert run(capsys, train, *known)[0] == 0
    cache = tmp_path / "train.svm.cache"
    cache.write_bytes(cache.read_bytes()[:-3])
    code, _, err = run(capsys, train, *known)
    assert code == 1 and "is damaged" in err and "nothing was learned" in err
    assert "is damaged" in usage_error(capsys, train, "--no-compare", "--cache")


def test_what_has_no_cache_is_refused(files, capsys):
    assert "labels that are numbers" in usage_error(capsys, files["aw"], "--cache")
    assert "is for files" in usage_error(capsys, "-", "--cache", "--features", "6", "--classes", "0", "1")
    assert "--jobs" in usage_error(capsys, files["a"], files["b"], "--jobs", "2", "--cache")
