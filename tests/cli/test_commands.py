"""The four commands, their help, rows that are held out, the peer and the picture of confusions."""

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MultiLabelBinarizer, StandardScaler

import sklearn_predtron
from sklearn_predtron.cli import _demo, _picture, main
from sklearn_predtron.cli._model import held_out
from sklearn_predtron.cli._options import COMMANDS, EXAMPLES, HELP, build_parser
from sklearn_predtron.datasets import read_svmlight
from sklearn_predtron.metrics import ndcg
from tests.cli_cases import run, unlabelled, usage_error

pytestmark = pytest.mark.usefixtures("as_streams")


def first(out):
    return json.loads(out)["results"][0]


@pytest.fixture(scope="module")
def model(files, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m"
    assert main(["fit", str(files["a"]), "--save", str(path), "--quiet"]) == 0
    return path


# ------------------------------------------------------------------------------------------------------------- the commands


def test_commands_are_the_short_form(capsys, files, model, tmp_path):
    (tmp_path / "bare").write_text(unlabelled(files["test"]))

    def timeless(out):
        return re.sub(r" 200 [\d,]+ ", " 200 ", " ".join(out.split()))

    for command, short in (
        (["fit", files["a"], "--test", files["test"]], [files["a"], "--test", files["test"]]),
        (["predict", model, tmp_path / "bare"], ["--load", model, tmp_path / "bare"]),
        (["predict", model, tmp_path / "bare", "--proba"], ["--load", model, "--test", tmp_path / "bare", "--proba"]),
        (["score", model, files["test"]], ["--load", model, "--test", files["test"]]),
    ):
        (code, out, err), other = run(capsys, *command), run(capsys, *short)
        assert (code, err) == (0, "") and other[0] == 0
        assert timeless(out) == timeless(other[1]) != ""


def test_score_and_fit_need_labels(capsys, files, model, tmp_path):
    (tmp_path / "bare").write_text(unlabelled(files["test"]))
    for words in (["score", model, tmp_path / "bare"], ["fit", tmp_path / "bare", "--load", model]):
        assert "has no label in its first row; `predict` is for such rows" in usage_error(capsys, *words)


@pytest.mark.parametrize(
    ("name", "trained", "asked"),
    [
        ("a.csv", "x,y\n1,0\n2,1\n", "x,y\n1,\n2,7\n3,w\n"),
        ("a.jsonl", '{"x": 1, "label": 0}\n{"x": 2, "label": 1}\n', '{"x": 1}\n{"x": 1, "label": "w"}\n{"x": 2}\n'),
        ("a.vw", "0 | x\n1 | z\n", "| x\n7 | x\n| z\n"),
        ("a.conll", "a x 0\nb x 1\n", "a x w\nb x 7\na x 0\n"),
    ],
)
def test_any_label_is_ignored_by_predict(capsys, tmp_path, name, trained, asked):
    """Also one that is missing, or that training did not have."""
    (tmp_path / name).write_text(trained)
    assert run(capsys, "fit", tmp_path / name, "--save", tmp_path / "m", "--epochs", 3)[0] == 0
    (tmp_path / f"asked-{name}").write_text(asked)
    code, out, err = run(capsys, "predict", tmp_path / "m", tmp_path / f"asked-{name}")
    assert (code, err) == (0, "") and len(out.split()) == 3


def test_predictions_have_ids(capsys, tmp_path):
    table = pd.DataFrame({"who": [f"n{i}" for i in range(40)], "x": np.arange(40.0), "y": np.arange(40) // 20})
    table.to_csv(tmp_path / "t.csv", index=False)
    assert run(capsys, "fit", tmp_path / "t.csv", "--drop", "who", "--save", tmp_path / "m")[0] == 0
    code, out, _ = run(capsys, "predict", tmp_path / "m", tmp_path / "t.csv", "--id", "who")
    found = [line.split("\t") for line in out.splitlines()]
    assert code == 0 and [name for name, _ in found] == table.who.tolist()
    code, out, _ = run(capsys, "predict", tmp_path / "m", tmp_path / "t.csv", "--id", "who", "--proba")
    assert [line.partition("\t")[0] for line in out.splitlines()] == table.who.tolist()


def test_usage_errors(capsys, files, model, tmp_path):
    assert "fit: error: the following arguments are required: TRAIN" in usage_error(capsys, "fit")
    assert "predict: error: the following arguments are required: FILE" in usage_error(capsys, "predict", model)
    assert "unrecognized arguments: --epochs" in usage_error(capsys, "score", model, files["test"], "--epochs", 2)
    assert "FILE='nowhere' is not a file that can be read" in usage_error(capsys, "score", model, "nowhere")
    assert "MODEL='nowhere' is not a file that can be read" in usage_error(capsys, "score", "nowhere", files["test"])
    (tmp_path / "empty").write_text("")
    assert "has no rows" in usage_error(capsys, "score", model, tmp_path / "empty")
    both = ["--holdout", 0.5, "--test", files["test"]]
    assert "--holdout and --test are two sets of rows" in usage_error(capsys, "fit", files["a"], *both)
    for name in ("--update", "--average", "--compare", "--cache", "--cluster"):
        assert "error" in usage_error(capsys, "fit", files["a"], name)


# ----------------------------------------------------------------------------------------------------------------- the help


def help_of(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        main([*words, "--help"])
    assert stop.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_screen(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    lines = help_of(capsys, command).splitlines()
    assert len(lines) <= 50 and max(map(len, lines)) <= 80
    options = {word for action in build_parser(command)._actions for word in action.option_strings if word.startswith("--")}
    shown = set(re.findall(r"--[a-z-]+", "\n".join(lines).replace("--[no-]header", "--header --no-header")))
    assert options <= shown and len(options) <= 31


def test_general_help_names_the_commands(capsys):
    text = help_of(capsys)
    assert all(f"predtron {command}" in text for command in COMMANDS) and len(text.splitlines()) <= 50
    assert max(map(len, text.splitlines())) <= 80


def examples():
    lines = [line.strip() for text in (HELP.partition("examples:")[2].partition("short form")[0], *EXAMPLES.values())
             for line in text.splitlines()]  # fmt: skip
    return [line.rpartition("| ")[2].partition(" >")[0] for line in lines if "predtron" in line and "COMMAND" not in line]


@pytest.mark.parametrize("line", examples())
def test_examples_are_accepted(line):
    _, command, *words = shlex.split(line)
    args = vars(build_parser(command).parse_args(words))
    assert len([value for value in args.values() if value not in (None, [])]) >= 1


# ------------------------------------------------------------------------------------------------------------------ hold-out


def test_held_out_rows_do_not_depend_on_chunks(capsys, files, tmp_path):
    shown = []
    for chunk in (7, 50, 1000):
        how = ["--holdout", 0.3, "--no-shuffle", "--chunk", chunk, "--json", "--epochs", 2, "--save", tmp_path / f"m{chunk}"]
        code, out, err = run(capsys, "fit", files["a"], *how)
        assert (code, err) == (0, "")
        shown.append({name: value for name, value in first(out).items() if "second" not in name})
    assert shown[0] == shown[1] == shown[2]
    assert_array_equal(sklearn_predtron.load(tmp_path / "m7").coef_, sklearn_predtron.load(tmp_path / "m1000").coef_)


@pytest.mark.parametrize("kind", ["", "q"])
def test_held_out_rounds_are_scored_as_a_test_file(capsys, files, tmp_path, kind):
    """Whole queries, if rows have ids."""
    lines = files["a" + kind].read_text().splitlines(keepends=True)
    rounds = np.arange(200) // (8 if kind else 1)
    chosen = held_out(0, rounds[-1] + 1, 0.3, 5)[rounds]
    assert 0.15 < chosen.mean() < 0.45
    for name, part in (("train", ~chosen), ("test", chosen)):
        (tmp_path / name).write_text("".join(np.array(lines)[part]))
    how = ["--seed", 5, "--no-shuffle", "--json", "--save"]
    split = first(run(capsys, "fit", tmp_path / "train", "--test", tmp_path / "test", *how, tmp_path / "m")[1])
    found = first(run(capsys, "fit", files["a" + kind], "--holdout", 0.3, *how, tmp_path / "n")[1])
    assert found["held_out_score"] == split["held_out_score"] and found["tested"] == split["tested"] > 0
    assert_array_equal(sklearn_predtron.load(tmp_path / "m").coef_, sklearn_predtron.load(tmp_path / "n").coef_)


def test_held_out_rows_of_a_growing_model(capsys, files, tmp_path):
    """Features and labels that only they have are counted, as those of a test file."""
    lines = [f"{i % 2} {i % 3 + 1}:1\n" for i in range(50)]
    chosen = np.flatnonzero(held_out(0, 50, 0.3, 0))
    lines[chosen[-1]] = "7 9:1\n"
    (tmp_path / "t").write_text("".join(lines))
    code, out, err = run(capsys, "fit", tmp_path / "t", "--holdout", 0.3, "--grow", "--json", "--chunk", 4)
    found = json.loads(out)
    assert (code, err) == (0, "") and found["results"][0]["tested"] == len(chosen)
    assert found["unknown_labels_of_test"] == 1 and found["left_out_of_test"] == {"values": 1, "features": 1}


def test_held_out_shares():
    chosen = held_out(0, 100_000, 0.2, 0)
    assert abs(chosen.mean() - 0.2) < 0.005 and not np.array_equal(chosen, held_out(0, 100_000, 0.2, 1))
    assert_array_equal(chosen, np.concatenate([held_out(0, 30, 0.2, 0), held_out(30, 99_970, 0.2, 0)]))


def test_a_pipe_is_split_as_the_file(capsys, files, standard_input):
    expected = first(run(capsys, "fit", files["a"], "--holdout", 0.3, "--json")[1])
    standard_input(files["a"].read_bytes())
    found = first(run(capsys, "fit", "-", "--holdout", 0.3, "--json")[1])
    assert found["held_out_score"] == expected["held_out_score"] and found["rounds"] == expected["rounds"]


@pytest.mark.filterwarnings("default:features='piecewise' are fitted to the first 500 training rows")
def test_held_out_rows_do_not_fit_the_feature_map(capsys, tmp_path):
    """Too few others are told, though the file has more."""
    pd.DataFrame({"x": np.arange(550.0), "y": np.arange(550) % 2}).to_csv(tmp_path / "t.csv", index=False)
    argv = ["fit", tmp_path / "t.csv", "--features", "piecewise", "--quiet"]
    assert run(capsys, *argv)[2] == ""
    n = 550 - held_out(0, 550, 0.2, 0).sum()
    assert f"500 training rows, and TRAIN has {n}:" in run(capsys, *argv, "--holdout", 0.2)[2]


def test_a_holdout_of_no_row(capsys, tmp_path):
    (tmp_path / "t").write_text("1 1:1\n2 2:1\n")
    code, _, err = run(capsys, "fit", tmp_path / "t", "--holdout", 0.000001)
    assert code == 1 and "--holdout=1e-06 holds out no row; there is no held-out score" in err


# ------------------------------------------------------------------------------------------------------------------ the peer


@pytest.mark.parametrize("task", ["multiclass", "ordinal", "multilabel", "rank", "sequence"])
def test_the_peer_is_standardised(capsys, files, tmp_path, task):
    kind = "q" if task in ("rank", "sequence") else ""
    train, test = files["a" + kind], files["test" + kind]
    saved = ["--task", task, "--save", tmp_path / "m", "--quiet"]
    assert run(capsys, "fit", train, *saved)[0] == 0
    code, out, err = run(capsys, "score", tmp_path / "m", test, "--compare", train, "--json")
    assert (code, err) == (0, "")
    ours, peer = json.loads(out)["results"]
    assert run(capsys, "score", tmp_path / "m", test, "--json")[1] == json.dumps({**json.loads(out), "results": [ours]}) + "\n"
    (X, y), (T, z) = (read_svmlight(path)[:2] for path in (train, test))
    scaler = StandardScaler(with_mean=False).fit(X)
    X, T = scaler.transform(X), scaler.transform(T)
    if task == "rank":
        expected = ndcg(z, Ridge().fit(X, y).predict(T), np.arange(80) // 8).mean()
    elif task == "multilabel":
        logistic = OneVsRestClassifier(LogisticRegression(max_iter=1000))
        found = logistic.fit(X, MultiLabelBinarizer().fit_transform(y[:, None])).predict(T)
        expected = np.mean(found == MultiLabelBinarizer(classes=[0, 1, 2]).fit_transform(z[:, None]))
    else:
        logistic = LogisticRegression(max_iter=1000).fit(X, y)
        median = (logistic.predict_proba(T).cumsum(axis=1) < 0.5).sum(axis=1)
        expected = 1 - np.abs(median - z).mean() / 2 if task == "ordinal" else logistic.score(T, z)
    assert peer["held_out_score"] == pytest.approx(expected) and peer["tested"] == ours["tested"]


def test_the_peer_gets_a_column_for_each_category(capsys, tmp_path):
    """No order of the categories gives the label away, and some cells are missing."""
    words, random = np.random.default_rng(0).choice(["a", "b", "c"], 600), np.random.default_rng(1)
    number = np.where(random.random(600) < 0.2, np.nan, random.random(600))
    pd.DataFrame({"word": words, "n": number, "y": np.isin(words, "b") * 1}).to_csv(tmp_path / "a.csv", index=False)
    assert run(capsys, "fit", tmp_path / "a.csv", "--features", "piecewise", "--save", tmp_path / "m")[0] == 0
    _, out, _ = run(capsys, "score", tmp_path / "m", tmp_path / "a.csv", "--compare", tmp_path / "a.csv", "--json")
    assert [row["held_out_score"] for row in json.loads(out)["results"]] == [1, 1]


def test_what_cannot_be_compared(capsys, files, model, tmp_path):
    (tmp_path / "bare").write_text(unlabelled(files["a"]))
    assert "has no rows with labels" in usage_error(capsys, "score", model, files["test"], "--compare", tmp_path / "bare")
    (tmp_path / "broken").write_text("1 1:1\n1 oops\n")
    assert "line 2: at 'oops'" in usage_error(capsys, "score", model, files["test"], "--compare", tmp_path / "broken")
    assert "--compare='no' is not a file that can be read" in usage_error(
        capsys, "score", model, files["test"], "--compare", "no"
    )


# --------------------------------------------------------------------------------------------------------------- the picture


def test_confusions_are_drawn(capsys, files, model, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="matplotlib is of the extra `plot`")
    drawn = []
    draw = _picture.draw_confusion
    monkeypatch.setattr("sklearn_predtron.cli._picture.draw_confusion", lambda *given: drawn.append(given) or draw(*given))
    assert run(capsys, "score", model, files["test"], "--plot", tmp_path / "c.svg", "--quiet") == (0, "", "")
    assert "<svg" in (tmp_path / "c.svg").read_text()
    X, y = read_svmlight(files["test"])
    predicted = sklearn_predtron.load(model).predict(X)
    ((counts, title),) = drawn
    assert title == "PredtronClassifier" and sum(counts.values()) == 80
    assert all(counts[true, found] == np.sum((y == true) & (predicted == found)) for true, found in counts)


def test_pictures_that_are_refused(capsys, files, model, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is of the extra `plot`")
    path = tmp_path / "c.png"
    assert "--plot needs rows with labels to score" in usage_error(capsys, files["a"], "--plot", path)
    assert run(capsys, "fit", files["aq"], "--save", tmp_path / "r", "--quiet")[0] == 0
    said = "--plot is not for PredtronRanker, whose predictions are no single labels"
    assert said in usage_error(capsys, "score", tmp_path / "r", files["testq"], "--plot", path)
    assert not path.exists()


def test_demo_is_what_runs_without_arguments(capsys, monkeypatch):
    seeds = []
    monkeypatch.setattr(_demo, "run_benchmarks", lambda benchmarks, seed, bar: seeds.append(seed) or [])
    assert run(capsys, "demo", "--seed", 3)[0] == run(capsys)[0] == run(capsys, "--seed", 4)[0] == 0
    assert seeds == [3, 0, 4]


# What n.* holds beside t.csv, of which the model m was trained; the command, and what helps.
HELPFUL = [
    ("", "fit t.csv --holdout .9999", "--holdout=0.9999 holds out all 4 rows of TRAIN='t.csv', and leaves none"),
    ('{"a": 1}', "predict m n.jsonl", "is named as json, and the model was trained on csv files; --format csv"),
    ("a,b\n1,2", "predict m n.csv --id who", "which --id names; accepted are 'a', 'b'"),
    ("a,b,c\n1,2,3", "predict m n.csv", "the column 'c' is neither a column of training nor the label; --drop"),
    ("a,b,y\n1,2,no\n3,4,", "fit n.csv", "line 3: the label is missing; --skip-unlabelled leaves such rows out"),
    ("a,b,y\n1,2,no", "score m t.csv --compare n.csv", "--compare='n.csv' has the labels [no]; at least two"),
    ('a,y\n"1,200",no\n2,yes', "fit n.csv", "has '1,200' in the column 'a'; accepted are numbers as 1234.5"),
    ("a,b", "predict m n.csv", "predict: error: FILE='n.csv' has no rows"),
    ('a,b,who\n1,2,"x\ty"', "predict m n.csv --id who", "the id 'x\\ty' has a tab or a line"),
    ("a,b,y\n1,2,-1\n2,4,1", "fit n.csv --reject-cost .2", "the label of --reject-cost=None, which is -1"),
    ("", "predict t.csv t.csv", "MODEL='t.csv' holds no fitted estimator: it is no model file that this version wrote"),
    ("1 1:inf", "fit n.svm", "the value is not a finite float64; there is no trained model yet"),
]


@pytest.mark.always
@pytest.mark.parametrize(("text", "words", "said"), HELPFUL)
def test_messages_say_what_helps(capsys, tmp_path, monkeypatch, text, words, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b,y\n1,2,no\n3,4,yes\n0,2,no\n5,4,yes\n")
    assert run(capsys, "fit", "t.csv", "--save", "m", "--quiet")[0] == 0
    for name in [word for word in words.split() if word.startswith("n.")]:
        (tmp_path / name).write_text(text + "\n")
    try:
        err = run(capsys, *words.split())[2]
    except SystemExit:
        err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1
    if "--drop" in said:
        assert run(capsys, *words.split(), "--drop", "c")[0] == 0
