"""Files of tokens in columns: what is learned of them is what `read_conll` and `token_features` give the tagger."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sklearn_predtron
from sklearn_predtron import PredtronSequenceTagger
from sklearn_predtron.datasets import read_conll, token_features
from sklearn_predtron.metrics import chunk_f1_score
from tests.cli_cases import run, usage_error

pytestmark = pytest.mark.usefixtures("as_streams")

WIDTH = 4096
TEMPLATE = [(("0", 0),), (("0", -1), ("0", 0)), (("0:suffix2", 0),), (("1", 1),)]
MACROS = "# what a token is\nU0:%x[0,0]\nU1:%x[-1,0]/%x[ 0 , 0 ]\n\nU:%x[0,0:suffix2]\nU3:%x[+1,1]\nB\n"
NAMES, VERBS, PLACES = ["Ada", "Bob", "Zoë", "Dmitri"], ["sees", "likes", "meets"], ["Paris", "Rome", "dogs"]


def sentences(n, seed):
    """Sentences of names of one or two words, a verb, and a place or something else."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        tokens = [
            (rng.choice(NAMES), "NNP", "B-PER"),
            *[("Braun", "NNP", "I-PER")] * rng.integers(2),
            (rng.choice(VERBS), "VBZ", "O"),
        ]
        last = rng.choice(PLACES)
        yield [*tokens, (last, "NN", "O" if last == "dogs" or rng.random() < 0.2 else "B-LOC")]


def text_of(found, columns=3):
    return "-DOCSTART- -X- O\n\n" + "".join("".join(" ".join(token[:columns]) + "\n" for token in one) + "\n" for one in found)


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Files to learn from and to test on, the second also without labels, and a template."""
    folder = tmp_path_factory.mktemp("conll")
    for name, n in (("train", 60), ("test", 30)):
        (folder / f"{name}.conll").write_text(text_of(sentences(n, len(name))), encoding="utf-8")
    (folder / "bare.conll").write_text(text_of(sentences(30, 4), 2), encoding="utf-8")
    (folder / "template").write_text(MACROS)
    return folder


def read(path, template=None, width=WIDTH):
    tokens, y, sid = read_conll(path)
    return token_features(tokens, sid, template=template, n_features=width), y, sid


def fitted(path, template=None, width=WIDTH):
    X, y, sid = read(path, template, width)
    return PredtronSequenceTagger(norm="l2").partial_fit(X, y, sid=sid, classes=np.unique(y))


def with_empty_lines(predicted, sid):
    """A line a token, and an empty one for -DOCSTART-, the line behind it, and after each sequence."""
    return "\n\n" + "".join("".join(f"{label}\n" for label in predicted[sid == i]) + "\n" for i in range(sid[-1] + 1))


# --------------------------------------------------------------------------------------------------------------- learning


@pytest.mark.parametrize("template", ["words", "utf-8", "utf-8-sig"])
def test_tokens_are_learned_as_their_features(capsys, texts, tmp_path, template):
    """Of the usual template, or of a file, which may begin with a byte order mark."""
    items, given = None if template == "words" else TEMPLATE, template
    if items:
        (given := tmp_path / "template").write_text(MACROS, encoding=template)
    options = ["--template", given, "--features", WIDTH, "--chunk", 50, "--no-shuffle"]
    options += ["--save", tmp_path / "m", "--predictions", tmp_path / "p"]
    code, out, err = run(capsys, texts / "train.conll", "--test", texts / "test.conll", "--json", *options)
    model, (X, y, sid) = fitted(texts / "train.conll", items), read(texts / "test.conll", items)
    (ours,) = json.loads(out)["results"]
    assert (code, err) == (0, "") and ours["rounds"] == 60
    assert_array_equal(sklearn_predtron.load(tmp_path / "m").coef_, model.coef_)
    predicted = model.predict(X, sid=sid)
    assert (tmp_path / "p").read_text() == with_empty_lines(predicted, sid)
    assert ours["held_out_score"] == pytest.approx(np.mean(predicted == y)) and ours["tested"] == len(y)
    assert ours["held_out_chunk_f1"] == pytest.approx(chunk_f1_score(y, predicted, sid))
    assert 0 < ours["held_out_chunk_f1"] < 1
    assert sklearn_predtron.load(tmp_path / "m").file_format_ == {"format": "conll", "template": items, "columns": 2}


def test_labels_that_are_of_no_chunks_have_no_such_score(capsys, tmp_path):
    for labels in (["N", "V"], ["1", "2"]):
        path = tmp_path / "tags.conll"
        path.write_text(f"a x {labels[0]}\nb y {labels[1]}\n\n" * 20)
        code, out, _ = run(capsys, path, "--test", path, "--json", "--save", tmp_path / "m", "--predictions", tmp_path / "p")
        assert code == 0 and "held_out_chunk_f1" not in out and json.loads(out)["results"][0]["held_out_score"] == 1
        assert (tmp_path / "p").read_text() == f"{labels[0]}\n{labels[1]}\n\n" * 20
    assert sklearn_predtron.load(tmp_path / "m").classes_.tolist() == [1.0, 2.0]


# ------------------------------------------------------------------------------------------------------------- saved models


def test_a_saved_model_keeps_its_template(capsys, texts, tmp_path):
    options = ["--template", texts / "template", "--features", WIDTH, "--no-shuffle"]
    assert run(capsys, texts / "train.conll", *options, "--save", tmp_path / "m")[0] == 0
    model, (X, y, sid) = sklearn_predtron.load(tmp_path / "m"), read(texts / "test.conll", TEMPLATE)
    lines = with_empty_lines(model.predict(X, sid=sid), sid)
    assert run(capsys, "--load", tmp_path / "m", "--test", texts / "bare.conll", "--chunk", 1) == (0, lines, "")
    code, out, _ = run(capsys, "--load", tmp_path / "m", texts / "bare.conll", "--scores")
    assert code == 0 and [len(line.split()) for line in out.split("\n\n")[1].splitlines()] == [4] * int(np.sum(sid == 0))
    assert run(capsys, "--load", tmp_path / "m", texts / "test.conll", "--no-shuffle", "--save", tmp_path / "on")[0] == 0
    assert_array_equal(sklearn_predtron.load(tmp_path / "on").coef_, model.partial_fit(X, y, sid=sid).coef_)


@pytest.mark.filterwarnings("default:.* begins with")  # which is a line of standard error
@pytest.mark.parametrize("chunk", [1, 3, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_predictions_have_the_lines_of_the_file(capsys, texts, tmp_path, seed, chunk):
    """With empty lines anywhere, documents and comments, and an end without a line break."""
    train = (texts / "train.conll").read_text()
    (tmp_path / "train.conll").write_text(train.replace("-DOCSTART- -X- O\n\n", "# s\n", 1))
    code, _, err = run(capsys, tmp_path / "train.conll", "--features", WIDTH, "--save", tmp_path / "m")
    assert code == 0 and err.startswith("warning: line 1 begins with '# '")
    random, written = np.random.default_rng(seed), []
    for one in sentences(20, seed):
        written += random.choice(["", " ", "-DOCSTART- -X-", "\t"], random.integers(0, 4)).tolist()
        written += ["", *["# a comment"] * random.integers(3), *(" ".join(token[:2]) for token in one)]
    written = written[random.integers(2) * written.index("") :]
    text = "\n".join(written) + "\n" * int(random.integers(4))
    (tmp_path / "new.conll").write_text(text)
    code, out, err = run(capsys, "predict", tmp_path / "m", tmp_path / "new.conll", "--chunk", chunk)
    lines = text.removesuffix("\n").split("\n")
    assert (code, err) == (0, "") and out.count("\n") == len(lines)
    are_tokens = [line.strip() != "" and not line.startswith(("#", "-DOCSTART-")) for line in lines]
    assert [line != "" for line in out.removesuffix("\n").split("\n")] == are_tokens


def test_what_a_saved_model_fixes(capsys, texts, tmp_path):
    run(capsys, texts / "train.conll", "--features", WIDTH, "--save", tmp_path / "m")
    load = [texts / "test.conll", "--load", tmp_path / "m"]
    assert "--template is fixed by the model of --load" in usage_error(capsys, *load, "--template", "words")
    assert "--format='csv' is not for --load, which was trained on conll files" in usage_error(capsys, *load, "--format", "csv")
    fitted(texts / "train.conll").save(tmp_path / "python")
    message = usage_error(capsys, "--load", tmp_path / "python", texts / "test.conll")
    assert "holds a PredtronSequenceTagger that was not trained on conll files" in message


# ------------------------------------------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize("as_given", ["first", "1"])
def test_columns_and_labels(capsys, texts, tmp_path, as_given):
    """The same model of a file with tabs and the label in another column; a saved model knows them."""
    for name in ("train", "test"):
        lines = (texts / f"{name}.conll").read_text(encoding="utf-8").splitlines()[2:]
        columns = [line.split() for line in lines]
        moved = ["\t".join([c[2], *c[:2]]) if c else "" for c in columns]
        text = "\n".join(line or "\n" for line in moved)
        (tmp_path / f"{name}.conll").write_text(text + "\n", encoding="utf-8")
    options = ["--no-shuffle", "--json", "--features", WIDTH]
    how = ["--label", as_given, "--sep", "tab"]
    expected = json.loads(run(capsys, texts / "train.conll", "--test", texts / "test.conll", *options)[1])["results"][0]
    code, out, err = run(
        capsys, tmp_path / "train.conll", "--test", tmp_path / "test.conll", *options, *how, "--save", tmp_path / "m"
    )
    found = json.loads(out)["results"][0]
    assert (code, err) == (0, "") and found["held_out_score"] == expected["held_out_score"]
    assert sklearn_predtron.load(tmp_path / "m").file_format_["sep"] == "\t"
    code, out, err = run(capsys, "--load", tmp_path / "m", "--test", tmp_path / "test.conll", "--json")
    assert json.loads(out)["results"][0]["held_out_score"] == expected["held_out_score"]
    assert "--sep='\\t' is fixed" in usage_error(
        capsys, "--load", tmp_path / "m", "--test", tmp_path / "test.conll", "--sep", "tab"
    )
    assert "--label='4' is no column" in usage_error(capsys, texts / "train.conll", "--label", 4)
    assert "--label='word' is no column of tokens" in usage_error(capsys, texts / "train.conll", "--label", "word")


def test_labels_and_columns_that_the_model_does_not_know(capsys, texts, tmp_path):
    run(capsys, texts / "train.conll", "--features", WIDTH, "--save", tmp_path / "m")
    (tmp_path / "label").write_text("Ada NNP B-PER\n\nBob NNP\tB-ORG\n")
    code, out, _ = run(capsys, "--load", tmp_path / "m", "--test", tmp_path / "label")
    assert code == 0 and "TEST: 1 row with labels that training did not have, [B-ORG], counts as wrong" in out
    (tmp_path / "strange").write_text("Ada NNP B-PER\n\nBob NNP\tzz\n")  # none of chunks
    code, out, _ = run(capsys, "--load", tmp_path / "m", "--test", tmp_path / "strange")
    assert code == 0 and "TEST: 1 row with labels that training did not have, [zz], counts as wrong" in out
    code, _, err = run(capsys, "--load", tmp_path / "m", tmp_path / "label")
    assert code == 1 and "line 3: the label 'B-ORG' is not one of the classes [B-LOC, B-PER, I-PER, O]" in err
    (tmp_path / "columns").write_text("Ada NNP x y\n")
    code, _, err = run(capsys, "--load", tmp_path / "m", "--test", tmp_path / "columns")
    assert code == 1 and "line 1: the token has 4 columns; accepted are 3, of which the last is the label, or 2 without" in err
    (tmp_path / "bare").write_text("Ada NNP\nBob NNP B-PER\n")
    code, _, err = run(capsys, "--load", tmp_path / "m", tmp_path / "bare")
    assert code == 1 and "line 2: the token has 3 columns, and those before it have 2" in err


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("U0:%x[0,7]\n", "--template has the attribute '7'; accepted are the columns '0', '1'"),
        ("U0:%x[0,0:stem]\n", "--template has the attribute '0:stem'"),
        ("\nU0:%x[0]\n", "line 2: 'U0:%x[0]' is no item; accepted are lines as U01:%x[-1,0]/%x[0,0]"),
        ("U0:%x[0,0]/%x[a,1]\n", "line 1: 'U0:%x[0,0]/%x[a,1]' is no item"),
        ("B1:%x[0,0]\n", "line 1: 'B1:%x[0,0]' is no item"),
        ("# nothing\nB\n", "has no items"),
    ],
)
def test_templates_that_are_none(capsys, texts, tmp_path, text, reason):
    (tmp_path / "t").write_text(text)
    assert reason in usage_error(capsys, texts / "train.conll", "--template", tmp_path / "t")


USAGE = [
    ("train --template none", "--template='none' is not a file that can be read"),
    ("train --template template --save template", "--save and --template are the same file"),
    ("train --task binary", "--task binary is not for conll files; accepted is --task sequence"),
    ("train --features piecewise", "--features=piecewise is not for conll files"),
    ("train --jobs 2", "--jobs is for svmlight files, and the files are conll"),
    ("train --grow", "--grow=True is for svmlight files, and the files are conll"),
    ("template --template words", "--template='words' is for conll files, and the files are svmlight"),
    ("one.conll", "[O]; at least two are needed, or --classes"),
    ("train --test a.csv", "have names of two formats"),
]


@pytest.mark.always
@pytest.mark.parametrize(("words", "message"), USAGE)
def test_usage_errors(capsys, texts, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "empty.conll": "-DOCSTART- O\n\n",
        "one.conll": "a O\nb O\n",
        "a.csv": "a,b\n",
        "template": MACROS,
    }.items():
        (tmp_path / name).write_text(text)
    assert message in usage_error(capsys, *(texts / "train.conll" if word == "train" else word for word in words.split()))
