"""The main job on measures of batches, end to end."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file, make_classification
from sklearn.metrics import balanced_accuracy_score, f1_score, jaccard_score

import sklearn_predtron
from sklearn_predtron import PredtronBipartiteClassifier
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.losses import AtK, FBeta, SubsetLoss
from sklearn_predtron.norms import Norm
from tests.cli_cases import run, usage_error

pytestmark = pytest.mark.usefixtures("as_streams")

LOSSES = [kind.alias for kind in kinds(SubsetLoss) if not issubclass(kind, AtK)]
N, LABELS = 900, np.array([-1.0, 3.0])
TASK = ("--task", "bipartite")


@pytest.fixture(scope="module")
def data():
    """Rows of a rare class to learn from, and others."""
    X, y = make_classification(N + 500, n_features=6, weights=[0.9], class_sep=0.6, flip_y=0, random_state=1)
    return {"a": (X[:N], LABELS[y[:N]]), "test": (X[N:], LABELS[y[N:]])}


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("batches")
    for name, part in data.items():
        dump_svmlight_file(*part, str(folder / f"{name}.svm"), zero_based=False)
    return {name: folder / f"{name}.svm" for name in data}


def result(capsys, *argv):
    code, out, err = run(capsys, *argv, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)["results"][0]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("chunk", [130, 10_000])
def test_one_pass_is_partial_fit(capsys, data, files, tmp_path, loss, chunk):
    """A chunk is a call; held-out rows are one batch, whatever the chunks."""
    written = ["--save", tmp_path / "model", "--predictions", tmp_path / "p"]
    how = [*TASK, "--loss", loss, "--no-shuffle", "--chunk", chunk]
    ours = result(capsys, files["a"], "--test", files["test"], *how, *written)
    (X, y), (X_test, y_test) = data["a"], data["test"]
    model = PredtronBipartiteClassifier(norm="scaled", loss=loss)
    for start in range(0, N, chunk):
        model.partial_fit(X[start : start + chunk], y[start : start + chunk], classes=LABELS)
    predicted = model.predict(X_test)
    assert ours["learner"] == "PredtronBipartiteClassifier"
    assert ours["rounds"] == model.t_ == (7 if chunk == 130 else 5)
    assert ours["progressive_loss"] == pytest.approx(model.progressive_loss_)
    assert ours["last_iterate_loss"] == pytest.approx(model.cumulative_loss_ / model.t_)
    assert ours["held_out_score"] == pytest.approx(1 - model.sample_loss(X_test, y_test)[0])
    measures = {"f1": f1_score, "jaccard": jaccard_score}
    if loss in measures:
        assert ours["held_out_score"] == pytest.approx(measures[loss](y_test, predicted, pos_label=3.0))
    if loss == "balanced":
        assert ours["held_out_score"] == pytest.approx(balanced_accuracy_score(y_test, predicted))
    assert_allclose(sklearn_predtron.load(tmp_path / "model").coef_, model.coef_, rtol=1e-12)
    assert_array_equal(np.loadtxt(tmp_path / "p"), predicted)


@pytest.mark.parametrize("norm", kinds(Norm), ids=lambda norm: norm.alias)
def test_norms(capsys, files, norm):
    assert 0 < result(capsys, files["a"], "--test", files["test"], *TASK, "--norm", norm.alias)["held_out_score"] <= 1


def test_load_goes_on_in_batches_of_its_own(capsys, data, files, tmp_path):
    path = tmp_path / "model"
    model = PredtronBipartiteClassifier(norm="scaled", loss=FBeta(beta=2.0), batch_size=90).partial_fit(
        *data["a"], classes=LABELS
    )
    model.save(path)
    ours = result(capsys, files["a"], "--load", path, "--test", files["test"], "--no-shuffle")
    assert ours["rounds"] == 10
    X, y = data["test"]
    loss = model.partial_fit(*data["a"]).sample_loss(X, y)
    assert ours["held_out_score"] == pytest.approx(1 - loss[0])


def test_usage_errors(capsys, data, files, tmp_path):
    err = usage_error(capsys, files["a"], *TASK, "--loss", "precision_at_k")
    assert "--loss is not for PredtronBipartiteClassifier; accepted are hamming, " in err
    assert "Only binary" in usage_error(capsys, files["a"], *TASK, "--classes", -1, 0, 3)
    model = PredtronBipartiteClassifier(norm="scaled", loss="auc").partial_fit(*data["a"], classes=LABELS)
    model.save(tmp_path / "model")
    assert "loss='auc' is not of counts alone" in usage_error(capsys, "--load", tmp_path / "model", "--test", files["test"])
