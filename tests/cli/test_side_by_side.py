"""Files as shards that learn side by side."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sklearn_predtron
from sklearn_predtron.mixing import ParameterMixing, _rounds
from tests.cli_cases import NAMES, run, usage_error


@pytest.mark.parametrize("task", ["multiclass", "rank", "sequence", "multilabel"])
def test_files_are_mixed(capsys, files, tmp_path, task):
    kind = "q" if task in ("rank", "sequence") else ""
    train = [files["a" + kind], files["b" + kind]]
    options = ["--task", task, "--jobs", 2, "--epochs", 3, "--test", files["test" + kind], "--save", tmp_path / "m"]
    code, out, err = run(capsys, *train, *options)
    assert (code, err) == (0, "")
    found = sklearn_predtron.load(tmp_path / "m")
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


FORMS = {"words": [], "given words": ["--classes", *NAMES, "--features", 6], "base 0": [], "numbers": []}


def in_form(line, form):
    """A line of three classes in another form, and how its label is written."""
    label = NAMES[int(line[0])] if "words" in form else f"1{line[0]}" if form == "numbers" else line[0]
    shift = "base" in form
    return label + re.sub(r" (\d+):", lambda match: f" {int(match[1]) - shift}:", line[1:]), label


@pytest.mark.parametrize("task", ["multiclass", "sequence", "multilabel"])
@pytest.mark.parametrize("form", FORMS)
def test_files_of_any_form_are_mixed(capsys, files, tmp_path, task, form):
    """Words, numbers but 0 to 2, indices from 0 and caches: the same weights, and predictions in the labels of the file."""
    kind, labels = "q" if task == "sequence" else "", {}
    for name in ("a", "b", "test"):
        rows = files[name + kind].read_text().splitlines()
        lines, found = zip(*(in_form(row, form) for row in rows), strict=True)
        labels |= dict(zip((row[0] for row in rows), found, strict=True))
        (tmp_path / f"{name}.svm").write_text("\n".join(lines), encoding="utf-8")
    options = ["--task", task, "--jobs", 2, "--epochs", 3, "--predictions", "-", "--quiet", "--save"]
    plain = run(capsys, files["a" + kind], files["b" + kind], "--test", files["test" + kind], *options, tmp_path / "p")
    expected = re.sub(r"\d", lambda match: labels[match[0]], plain[1])
    train = [tmp_path / "a.svm", tmp_path / "b.svm", "--test", tmp_path / "test.svm", *options, tmp_path / "m", *FORMS[form]]
    for _ in range(2):
        assert run(capsys, *train) == (0, expected, "")
        assert_array_equal(sklearn_predtron.load(tmp_path / "m").coef_, sklearn_predtron.load(tmp_path / "p").coef_)


@pytest.mark.parametrize("turn", [0, 2])
def test_a_mixture_that_is_stopped(capsys, files, tmp_path, monkeypatch, turn):
    """After Ctrl-C the last complete round is kept, saved and not scored."""
    run_round = _rounds.run_round

    def stopped(engine, plan, before, at, **how):
        if at == turn:
            raise KeyboardInterrupt
        return run_round(engine, plan, before, at, **how)

    train = [files["a"], files["b"], "--jobs", 2, "--test", files["test"]]
    monkeypatch.setattr(_rounds, "run_round", stopped)
    code, out, err = run(capsys, *train, "--epochs", 5, "--save", tmp_path / "m")
    monkeypatch.undo()
    assert code == 130 and (tmp_path / "m").exists() == (turn > 0)
    if turn == 0:
        assert err == "error: stopped from the keyboard; there is no trained model yet\n"
        return
    assert err == f"error: stopped from the keyboard; the 608 rounds before it are kept, in {tmp_path / 'm'}\n"
    assert "608" in out and out.splitlines()[2].rstrip().endswith("-")
    run(capsys, *train, "--epochs", 2, "--save", tmp_path / "n")
    assert_array_equal(sklearn_predtron.load(tmp_path / "m").coef_, sklearn_predtron.load(tmp_path / "n").coef_)


def test_what_is_not_mixed(capsys, files, standard_input, tmp_path):
    run(capsys, files["a"], "--save", tmp_path / "m")
    for option in (["--load", tmp_path / "m"], ["--grow"], ["--chunk", 7], ["--holdout", 0.5]):
        assert f"{option[0]} is not for --jobs" in usage_error(capsys, files["a"], "--jobs", 2, *option)
    assert "norm='rkhs' cannot be mixed" in usage_error(capsys, files["a"], "--jobs", 2, "--norm", "rkhs")
    standard_input(files["a"].read_bytes())
    assert "--jobs reads TRAIN='-' in each of its rounds" in usage_error(capsys, "-", "--jobs", 2)
    (tmp_path / "broken.svm").write_text("1 1:1\n1 oops\n")
    code, _, err = run(capsys, files["a"], tmp_path / "broken.svm", "--jobs", 2, "--save", tmp_path / "n")
    assert code == 1 and "broken.svm" in err and "line 2" in err and "there is no trained model yet" in err
    assert not (tmp_path / "n").exists()


def test_dense_sequences_side_by_side(capsys, tmp_path):
    """Rows that store all of their columns are standardised, and the intercept has their length, as in one process."""
    random = np.random.default_rng(0)
    lines = [
        f"{label} qid:{i} " + " ".join(f"{j + 1}:{value:.3f}" for j, value in enumerate(row))
        for i in range(40)
        for label, row in zip(random.integers(0, 3, 5), random.standard_normal((5, 4)), strict=True)
    ]
    path = tmp_path / "dense.svm"
    path.write_text("\n".join(lines) + "\n")
    chosen = []
    for more in ([], ["--jobs", "2"]):
        assert run(capsys, path, "--task", "sequence", "--save", tmp_path / "m", *more)[0] == 0
        model = sklearn_predtron.load(tmp_path / "m")
        chosen.append((model.norm_, model._model.labels.chosen["intercept_scaling"]))
    assert chosen == [("scaled", "length")] * 2
