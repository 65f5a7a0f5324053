"""Files of another format than the one in which they are read: the message names that."""

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from tests.cli_cases import run, usage_error

TEXTS = {
    "csv": [
        "a,b,y\n1,2,0\n",
        "5.1,3.5,setosa\n4.9,3,virginica\n",
        "sepal length (cm),y\n1,a\n",
        "1;2;x y\n",
        "1\t2\t0\n3\t4\t1\n",
    ],
    "conll": ["Ada NNP B-PER\nsees VBZ O\n\n", "1 1 N\n2 1 V\n"],
    "vw": ["1 | a b:2\n", "-1 2 'tag |f a\n", "1 |f 3:2\n"],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in TEXTS.items() for text in texts])
@pytest.mark.parametrize("use", ["train", "test", "load"])
def test_the_message_names_the_format(capsys, tmp_path, name, text, use):
    X = np.random.default_rng(0).standard_normal((20, 3))
    dump_svmlight_file(X, X[:, 0] > 0, str(tmp_path / "rows"))
    (tmp_path / "other").write_text(text)
    arguments = [tmp_path / "other"] if use == "train" else [tmp_path / "rows", "--test", tmp_path / "other"]
    if use == "load":
        run(capsys, tmp_path / "rows", "--save", tmp_path / "m")
        arguments = ["--load", tmp_path / "m", tmp_path / "other", "--save", tmp_path / "n"]
    code, _, err = run(capsys, *arguments)
    assert code == 1 and f"; the file seems to be {name}, which --format {name} reads; " in err and err.count("\n") == 1


def test_what_looks_like_svmlight_has_no_hint(capsys, tmp_path):
    for text in ("1 3:0.5 oops\n", "spam 3:1\nspam 2:a,b\n", "1 qid:3 4:0.5\n2 3\n", "1\n2 5\n", "oops\n1 2:3\n"):
        (tmp_path / "rows").write_text(text)
        code, _, err = run(capsys, tmp_path / "rows", "--features", 9, "--classes", 1, 2, "--task", "binary")
        assert code == 1 and "line" in err and "looks like" not in err
    (tmp_path / "sets").write_text("1,2\n1 oops\n")
    code, _, err = run(capsys, tmp_path / "sets", "--task", "multilabel")
    assert code == 1 and "at 'oops'" in err and "looks like" not in err


def test_rows_without_labels_that_look_like_another_format(capsys, tmp_path):
    (tmp_path / "rows").write_text('{"label": 1, "a": 2}\n')
    message = usage_error(capsys, tmp_path / "rows")
    assert "there is no model that predicts them; the file seems to be json, which --format json reads" in message
    dump_svmlight_file(np.eye(2), [0, 1], str(tmp_path / "two"))
    run(capsys, tmp_path / "two", "--save", tmp_path / "m")
    code, _, err = run(capsys, "--load", tmp_path / "m", tmp_path / "rows")
    assert code == 1 and "line 1" in err and "seems to be json" in err
