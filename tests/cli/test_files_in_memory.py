"""Files that fit into memory: trained by `fit` on the same arrays, which is the oracle; and when they are streams instead."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import sklearn_predtron
from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
)
from sklearn_predtron.datasets import read_svmlight
from tests.cli_cases import run
from tests.cli_worlds import WORLDS


def trained(capsys, tmp_path, *argv, warnings=""):
    """The saved model, and the results as JSON."""
    code, out, err = run(capsys, *argv, "--json", "--save", tmp_path / "m")
    assert code == 0 and warnings in err and bool(err) == bool(warnings)
    return sklearn_predtron.load(tmp_path / "m"), json.loads(out)["results"][0]


def assert_alike(model, expected, X):
    """The same scores to the last bit, and probabilities if there are some; a saved model has the form of its file beside."""
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    if hasattr(expected, "predict_proba"):
        np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


@pytest.mark.always(each="name")
@pytest.mark.parametrize("chunk", [10_000, 64])
@pytest.mark.parametrize("name", WORLDS)
def test_a_file_is_trained_by_fit(capsys, tmp_path, name, chunk):
    """The bits of fit in Python, in chunks of any size; queries and sequences stay apart where chunks meet."""
    world = WORLDS[name]
    data = world.draw(120, 0)
    argv = [world.write(tmp_path / "a", data), *world.options, "--seed", 3, "--chunk", chunk]
    model, result = trained(capsys, tmp_path, *argv)
    given = {} if world.weights is None else {"sample_weight": [world.weights(x) for x in data.X.tolist()]}
    expected = (
        world.estimator().set_params(random_state=3).fit(world.rows(data), world.target(data), **world.given(data), **given)
    )
    assert world.predictions(model, data) == world.predictions(expected, data)
    of_rows = world.given(data) if world.ids == "sid" else {}
    for method in ("predict_proba", "decision_function"):
        if hasattr(expected, method):
            scores = getattr(expected, method)(world.rows(data), **of_rows)
            np.testing.assert_array_equal(getattr(model, method)(world.rows(data), **of_rows), scores)
    assert (result["training"], result["epochs"], result["rounds"]) == ("fit", expected.n_iter_, 120)
    assert result["progressive_loss"] is None


def test_batches_are_trained_by_fit(capsys, tmp_path):
    X, y = load_iris(return_X_y=True)
    table = pd.DataFrame(X).assign(y=(y == 1).astype(int))
    table.to_csv(tmp_path / "b.csv", index=False)
    model, _ = trained(capsys, tmp_path, tmp_path / "b.csv", "--task", "bipartite", "--epochs", 4)
    assert_alike(model, PredtronBipartiteClassifier(random_state=0, max_iter=4).fit(X, table.y), X)


@pytest.mark.default_features
@pytest.mark.parametrize("options", [[], ["--features", "auto"], ["--features", "piecewise"], ["--epochs", 7]])
def test_a_table_is_trained_by_fit(capsys, tmp_path, options):
    """With the default feature maps of Python, costs of rows, and held-out rows that are not trained on."""
    rng = np.random.default_rng(0)
    X, amount = rng.standard_normal((300, 3)).round(3), rng.lognormal(size=300).round(3)
    y = (np.abs(X[:, 0]) + 0.3 * rng.standard_normal(300) > 0.7).astype(int)
    pd.DataFrame(X).assign(amount=amount, y=y).to_csv(tmp_path / "a.csv", index=False)
    argv = [tmp_path / "a.csv", "--costs", "1:0=amount", "--drop", "amount", "--chunk", 70, *options]
    model, _ = trained(capsys, tmp_path, *argv)
    given = dict(zip(options[::2], options[1::2], strict=True))
    how = {"features": given.get("--features", "auto"), "max_iter": given.get("--epochs")}
    expected = PredtronBinaryClassifier(random_state=0, **how).fit(X, y, costs={(1, 0): amount})
    assert_alike(model, expected, X)
    code, out, _ = run(capsys, *argv, "--holdout", 0.3)
    assert code == 0 and f"rounds/s: of fit, {expected.n_iter_ if '--epochs' in given else ''}" in out
    assert int(out.splitlines()[2].split()[2]) == 208  # of which 92 are held out


@pytest.mark.default_features
@pytest.mark.parametrize("options", [[], ["--features", "auto"], ["--holdout", 0.3]])
@pytest.mark.parametrize("words", [False, True])
def test_a_table_with_text_and_missing_cells_is_trained_by_fit(capsys, tmp_path, words, options):
    """By default, as a frame is in Python; rows to predict may miss cells if the model's map takes them."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"plan": rng.choice(["free", "team"], 400), "age": rng.integers(18, 80, 400).astype(float)})
    table["y"] = ((table.age > 50) ^ (table.plan == "team")) * 1
    table.loc[::9, "age"] = np.nan
    table = table if words else table.assign(plan=(table.plan == "team") * 1)
    table.to_csv(tmp_path / "a.csv", index=False)
    model, result = trained(capsys, tmp_path, tmp_path / "a.csv", *options)
    X, y = table.drop(columns="y").to_numpy(), table.y
    if "--holdout" in options:
        assert result["held_out_score"] > 0.7 and result["tested"] == 400 - result["rounds"] > 80
    else:
        assert_alike(model, PredtronBinaryClassifier(random_state=0).fit(X, y), X)
        assert run(capsys, "predict", tmp_path / "m", tmp_path / "a.csv") == (
            0,
            "".join(f"{k:g}\n" for k in model.predict(X)),
            "",
        )


@pytest.mark.default_features
@pytest.mark.parametrize("command", ["--test", "score", "predict"])
def test_a_model_of_plain_columns_takes_no_missing_cells(capsys, tmp_path, command):
    """Though the table of training might have had some."""
    X = np.random.default_rng(0).standard_normal((80, 2)).round(3)
    table = pd.DataFrame(X, columns=["a", "b"]).assign(y=(X[:, 0] > 0) * 1)
    table.to_csv(tmp_path / "a.csv", index=False)
    table.loc[3, "b"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    model, _ = trained(capsys, tmp_path, tmp_path / "a.csv")
    assert model.coef_.shape == (1, 2)  # no map was chosen
    given = [tmp_path / "a.csv", "--test"] if command == "--test" else [command, tmp_path / "m"]
    code, _, err = run(capsys, *given, tmp_path / "t.csv")
    assert code == 1 and "t.csv, line 5: the column 'b' has '', which is no finite number" in err


@pytest.mark.default_features
def test_missing_cells_may_be_of_held_out_rows_alone(capsys, tmp_path):
    """Wherever they are, the model scores all rows of its file, and so does the linear model beside it."""
    X = np.random.default_rng(0).standard_normal((200, 2)).round(3)
    table = pd.DataFrame(X, columns=["a", "b"]).assign(y=(X[:, 0] > 0) * 1)
    for row in range(0, 20, 2):
        table.assign(b=table.b.mask(table.index == row)).to_csv(tmp_path / "a.csv", index=False)
        _, result = trained(capsys, tmp_path, tmp_path / "a.csv", "--holdout", 0.3)
        assert result["tested"] == 200 - result["rounds"]
        code, out, err = run(capsys, "score", tmp_path / "m", tmp_path / "a.csv", "--compare", tmp_path / "a.csv", "--json")
        ours, peer = json.loads(out)["results"]
        assert (code, err) == (0, "") and ours["tested"] == peer["tested"] == 200


@pytest.mark.parametrize("why", ["--stream", "standard input", "large", "large when parsed", "a label that does not occur"])
def test_streams_are_trained_in_one_pass(capsys, tmp_path, files, monkeypatch, standard_input, why):
    options, train = ["--stream"] if why == "--stream" else [], files["a"]
    if why == "standard input":
        standard_input(files["a"].read_bytes())
        train = "-"
    if why == "large":
        monkeypatch.setattr("sklearn_predtron.cli._training.LARGEST", files["a"].stat().st_size - 1)
    if why == "large when parsed":
        monkeypatch.setattr("sklearn_predtron.cli._training.size_of", lambda X: 2**28 // 2)
        options = ["--chunk", 50]
    classes = [0, 1, 2]
    if why.startswith("a label"):
        classes = [0, 1, 2, 3]
        options = ["--classes", *classes]
    model, result = trained(capsys, tmp_path, train, "--no-shuffle", *options)
    X, y = read_svmlight(files["a"])
    expected = PredtronClassifier(features=None, norm="scaled").partial_fit(X, y, classes=classes)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert (result["training"], result["epochs"], result["rounds"]) == ("stream", 1, 200)
    more, result = trained(capsys, tmp_path, files["b"], "--load", tmp_path / "m")
    assert (result["training"], more.t_) == ("stream", 304)


def test_rows_before_a_broken_line_are_fitted(capsys, tmp_path, files):
    """Exit code 1, as in a stream; the labels and the width are given, so that no first pass finds the line."""
    lines = files["a"].read_text().splitlines()
    broken = tmp_path / "broken.svm"
    broken.write_text("\n".join([*lines[:150], "oops", *lines[150:]]) + "\n")
    code, _, err = run(capsys, broken, "--classes", 0, 1, 2, "--features", 6, "--save", tmp_path / "m")
    assert code == 1 and "line 151" in err and "the 150 rounds before it are kept" in err
    X, y = read_svmlight(files["a"])
    expected = PredtronClassifier(norm="scaled", random_state=0).fit(X[:150], y[:150])
    assert_alike(sklearn_predtron.load(tmp_path / "m"), expected, X)


def test_an_interrupted_fit_is_kept(capsys, tmp_path, files, monkeypatch):
    fit = PredtronClassifier.fit

    def stopped(self, *args, **given):
        fit(self, *args, **given)
        raise KeyboardInterrupt

    monkeypatch.setattr(PredtronClassifier, "fit", stopped)
    code, _, err = run(capsys, files["a"], "--save", tmp_path / "m")
    assert code == 130 and "the 200 rounds before it are kept" in err and sklearn_predtron.load(tmp_path / "m").n_iter_ > 0
