"""The main job on files whose width and labels nobody knows: --grow."""

import numpy as np
import pytest
from cli_cases import run as run_of
from cli_cases import usage_error
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import sklearn_predtron
from sklearn_predtron import PredtronClassifier
from sklearn_predtron.cli import _app as job
from sklearn_predtron.cli import _training
from sklearn_predtron.datasets.formats import svmlight


@pytest.fixture(scope="module")
def data():
    """Rows of which features and labels appear in three steps."""
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 40)).round(3) * (random.random((300, 40)) < 0.5)
    scores = X @ random.standard_normal((40, 4))
    for step, (width, k) in enumerate([(6, 2), (15, 3), (40, 4)]):
        X[100 * step : 100 * step + 100, width:] = 0
        scores[100 * step : 100 * step + 100, k:] = -np.inf
    return X, np.array([5.0, 1.0, 3.0, 7.0])[scores.argmax(axis=1)]


def written(path, X, y, **how):
    dump_svmlight_file(X, y, str(path), zero_based=False, **how)
    return str(path)


def run(*arguments):
    assert job.main([str(argument) for argument in arguments]) == 0


def test_features_and_labels_that_appear_widen_the_model(data, tmp_path):
    X, y = data
    train, model = written(tmp_path / "train.svm", X, y), tmp_path / "model"
    run(train, "--grow", "--chunk", 50, "--no-shuffle", "--save", model)
    found, expected = sklearn_predtron.load(model), PredtronClassifier(norm="l2")
    for first in range(0, 300, 50):
        part = sparse.csr_matrix(X[first : first + 50])
        width, labels = part.indices.max() + 1, np.unique(y[first : first + 50])
        if first:
            expected.widen(max(width, expected.n_features_in_), labels)
        part.resize(50, width if first == 0 else expected.n_features_in_)
        expected.partial_fit(part, y[first : first + 50], classes=None if first else labels)
    assert found.classes_.tolist() == [1, 3, 5, 7]
    assert found.n_features_in_ == 40
    assert_array_equal(found.coef_, expected.coef_)
    assert_array_equal(found.intercept_, expected.intercept_)


@pytest.mark.parametrize("chunk", [1, 7, 40, 300])
def test_rows_wait_for_a_second_label(data, chunk, tmp_path):
    """A sorted stream of three labels, whose order is kept: the model is the same for any chunks that have two at first."""
    X, y = data[0][:100], data[1][:100]
    order = np.argsort(y, kind="stable")
    train = written(tmp_path / "train.svm", X[order], y[order])
    run(train, "--grow", "--chunk", chunk, "--no-shuffle", "--save", tmp_path / "model")
    found = sklearn_predtron.load(tmp_path / "model")
    expected = PredtronClassifier(norm="l2").partial_fit(sparse.csr_matrix(X[order, :6]), y[order], classes=[1, 5])
    assert found.classes_.tolist() == [1, 5] and found.t_ == 100
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)


def test_a_stream_of_one_label(tmp_path, capsys):
    (tmp_path / "one.svm").write_text("1 1:1\n1 2:1\n")
    assert "TRAIN has one label in its first 2 rows; --classes names" in usage_error(
        capsys, tmp_path / "one.svm", "--grow", "--chunk", 1
    )
    (tmp_path / "broken.svm").write_text("1 1:1\n0 2:x\n1 1:2\n")
    code, _, err = run_of(capsys, tmp_path / "broken.svm", "--grow")
    assert code == 1 and "line 2" in err and "there is no trained model yet" in err


def test_what_training_did_not_have_is_left_out_of_the_test(data, tmp_path, capsys):
    X, y = data
    train, model = written(tmp_path / "train.svm", X[:100], y[:100]), tmp_path / "model"
    test = written(tmp_path / "test.svm", X[200:], np.where(y[200:] > 5, 5, y[200:]).clip(1, 5) // 4 * 4 + 1)
    run(train, "--grow", "--test", test, "--save", model, "--predictions", tmp_path / "found")
    expected = sklearn_predtron.load(model).predict(np.ascontiguousarray(X[200:, :6]))
    assert_array_equal(np.loadtxt(tmp_path / "found"), expected)
    assert "held-out score" in capsys.readouterr().out


def test_a_loaded_model_goes_on(data, tmp_path):
    X, y = data
    one, two = (written(tmp_path / name, *part) for name, part in [("a", (X[:100], y[:100])), ("b", (X[100:], y[100:]))])
    whole, model, other = written(tmp_path / "all", X, y), tmp_path / "model", tmp_path / "other"
    run(one, "--grow", "--chunk", 100, "--no-shuffle", "--save", model)
    run(two, "--grow", "--chunk", 100, "--no-shuffle", "--load", model, "--save", model)
    run(whole, "--grow", "--chunk", 100, "--no-shuffle", "--save", other)
    assert_array_equal(sklearn_predtron.load(model).coef_, sklearn_predtron.load(other).coef_)


@pytest.mark.parametrize("task", ["binary", "rank", "sequence", "multilabel", "ordinal"])
def test_every_task_grows_in_width(data, task, tmp_path):
    X, y = data
    more = ["--classes", 0, 1] if task != "rank" else []
    train = written(tmp_path / "train.svm", X, (y > 3).astype(int), query_id=np.arange(300) // 5)
    run(train, "--grow", "--chunk", 50, "--task", task, "--save", tmp_path / "model", "--epochs", 2, *more)
    assert sklearn_predtron.load(tmp_path / "model").n_features_in_ == 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "multilabel"], "--grow needs --classes for --task multilabel"),
        (["--loss", "1:5=3"], "--grow needs --classes beside costs"),
    ],
)
def test_what_cannot_grow_is_refused(data, arguments, message, tmp_path, capsys):
    train = written(tmp_path / "train.svm", *data)
    with pytest.raises(SystemExit):
        job.main([train, "--grow", *arguments])
    assert message in capsys.readouterr().err


def test_new_labels_that_a_family_does_not_take_end_the_job(data, tmp_path, capsys):
    train = written(tmp_path / "train.svm", *data)
    assert job.main([train, "--grow", "--chunk", "100", "--task", "ordinal"]) == 1
    assert "does not take more ranks" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["numbers", "words"])
def test_labels_that_are_no_classes_end_the_job(tmp_path, capsys, form, monkeypatch):
    """As ids do: what was trained before them is kept."""
    name = "id{}" if form == "words" else "{}"
    rows = "".join(f"{name.format(100 + (i if i >= 20 else i % 4))} {i % 5 + 1}:1\n" for i in range(40))
    (tmp_path / "ids.svm").write_text(rows)
    how = [tmp_path / "ids.svm", "--grow", "--chunk", 10, "--quiet", "--no-shuffle", "--save", tmp_path / "m"]
    monkeypatch.setattr(_training, "MAX_CLASSES", 13)
    code, out, err = run_of(capsys, *how)
    assert (code, out) == (1, "")
    assert err == (
        f"error: {tmp_path / 'ids.svm'}, line 21: in the chunk that begins here: TRAIN has 14 distinct labels so far; labels are "
        f"classes, at most 13 of them; the 20 rounds before it are kept, in {tmp_path / 'm'}\n"
    )
    assert len(sklearn_predtron.load(tmp_path / "m").classes_) == 4
    monkeypatch.setattr(_training, "MAX_CLASSES", 24)
    assert run_of(capsys, *how) == (0, "", "") and len(sklearn_predtron.load(tmp_path / "m").classes_) == 24
    monkeypatch.setattr(_training, "MAX_CLASSES", 3)
    code, _, err = run_of(capsys, tmp_path / "ids.svm", "--grow", "--load", tmp_path / "m", "--quiet")
    assert (code, err) == (0, "")  # none of its labels is new


@pytest.mark.parametrize("more", [[], ["--jobs", 1], ["--task", "ordinal"], ["--task", "multilabel"]])
def test_a_first_pass_that_finds_too_many_labels(tmp_path, capsys, more, monkeypatch):
    rows = "".join(f"{i} {i % 5 + 1}:1\n" for i in range(20))
    (tmp_path / "ids.svm").write_text(rows)
    monkeypatch.setattr(svmlight, "MAX_CLASSES", 19)
    assert "more than 19 distinct labels" in usage_error(capsys, tmp_path / "ids.svm", *more)
    monkeypatch.setattr(svmlight, "MAX_CLASSES", 20)
    assert run_of(capsys, tmp_path / "ids.svm", "--quiet", *more) == (0, "", "")


def test_relevances_are_as_many_as_there_are(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(svmlight, "MAX_CLASSES", 2)
    (tmp_path / "q.svm").write_text("".join(f"{i} qid:{i // 4} {i % 5 + 1}:1\n" for i in range(20)))
    for more in ([], ["--grow"]):
        assert run_of(capsys, tmp_path / "q.svm", "--quiet", *more) == (0, "", "")


@pytest.mark.slow
@pytest.mark.usefixtures("as_streams")
def test_labels_that_are_named_are_not_found(capsys, tmp_path):
    """However many they are: what is bounded is what a first pass finds."""
    n = 10_100
    (tmp_path / "t.svm").write_text("".join(f"{i} {i % 5 + 1}:1\n" for i in range(n)))
    code, _, err = run_of(capsys, tmp_path / "t.svm", "--classes", *range(n), "--epochs", 1, "--quiet", "--save", tmp_path / "m")
    assert (code, err) == (0, "") and len(sklearn_predtron.load(tmp_path / "m").classes_) == n
