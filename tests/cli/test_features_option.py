"""Features that are made of the columns of a file (`--features piecewise`)."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file, make_friedman1

import sklearn_predtron
from sklearn_predtron import (
    PredtronBinaryClassifier,
)
from tests.cases import weights_of
from tests.cli_cases import run, usage_error

pytestmark = pytest.mark.usefixtures("as_streams")

N, TESTED = 1200, 400
X, Y = make_friedman1(N + TESTED, n_features=6, noise=1.0, random_state=0)
X = np.where(X < 0.1, 0, X).round(3)  # zeros are left out, and all is written to the last bit
GRADE = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Files to learn from and to test on."""
    folder = tmp_path_factory.mktemp("tables")
    for part, rows in (("train", slice(0, N)), ("test", slice(N, None))):
        dump_svmlight_file(X[rows], GRADE[rows] > 1, str(folder / f"{part}-two"))
    return folder


def test_curves_are_learned(capsys, tables):
    scores = []
    for options in ([], ["--features", "piecewise"]):
        _, out, _ = run(capsys, tables / "train-two", "--test", tables / "test-two", "--epochs", 3, "--json", *options)
        scores.append(json.loads(out)["results"][0]["held_out_score"])
    assert scores[1] > scores[0] + 0.02


def test_a_saved_map_predicts_and_goes_on(capsys, tables, tmp_path):
    saved, on, out = tmp_path / "saved", tmp_path / "on", tmp_path / "out"
    assert run(capsys, tables / "train-two", "--features", "piecewise", "--save", saved)[0] == 0
    model = sklearn_predtron.load(saved)
    code, _, _ = run(capsys, "--load", saved, "--test", tables / "test-two", "--predictions", out, "--proba")
    assert code == 0
    assert_allclose(np.loadtxt(out), model.predict_proba(X[N:]), atol=1e-6)
    assert run(capsys, "--load", saved, tables / "test-two", "--no-shuffle", "--save", on)[0] == 0
    assert_array_equal(weights_of(sklearn_predtron.load(on)), weights_of(model.partial_fit(X[N:], (GRADE[N:] > 1).astype(int))))


def test_columns_that_training_did_not_have_are_left_out(capsys, tables, tmp_path):
    wide = tmp_path / "wide"
    wide.write_text("1 1:0.5 2:0.5 9:3\n0 3:0.1\n")
    code, out, _ = run(capsys, tables / "train-two", "--features", "piecewise", "--test", wide)
    assert code == 0 and "1 value of 1 feature that training did not have was left out" in out


def test_what_is_refused(capsys, tables, tmp_path):
    train = tables / "train-two"
    assert "'wide' must be an integer from 1 to" in usage_error(capsys, train, "--features", "wide")
    assert "or 'piecewise' or 'auto' or 'fourier'" in usage_error(capsys, train, "--features", "wide")
    for option in (["--grow"], ["--jobs", 2]):
        message = usage_error(capsys, train, "--features", "piecewise", *option)
        assert f"--features=piecewise is not for {option[0]}" in message
    wide, model = tmp_path / "wide", tmp_path / "model"
    wide.write_text("1 1:0.5 1000000:3\n0 3:0.1\n")
    message = usage_error(capsys, wide, "--features", "piecewise")
    assert "10,000 rows of 1,000,000 features are 74.5 GB; accepted is 1 GB, as of a smaller --chunk" in message
    table = pd.DataFrame({"a": [0.1, 0.2, 0.3] * 4, "b": ["x", "y", "y"] * 4})
    fitted = PredtronBinaryClassifier(features="piecewise", cv=0).fit(table, [0, 1, 1] * 4)
    begun = PredtronBinaryClassifier(features="piecewise").partial_fit(table, [0, 1, 1] * 4, classes=[0, 1])
    for loaded in (fitted, begun):
        loaded.save(model)
        message = usage_error(capsys, "--load", model, "--test", train)
        assert "holds a PredtronBinaryClassifier of a table with categories" in message and "tables of numbers" in message
    assert "--features is fixed by the model of --load" in usage_error(capsys, "--load", model, train, "--features", "piecewise")
