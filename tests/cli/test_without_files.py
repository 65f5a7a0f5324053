"""The main job without files: its table beside figures that are computed another way, its options and its picture."""

import io
import json
import re
from contextlib import redirect_stdout
from time import process_time

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression, Perceptron, Ridge, SGDClassifier
from sklearn.metrics import fbeta_score, mean_absolute_error, ndcg_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron.cli import _checks, _demo, _picture, main
from sklearn_predtron.cli._benchmarks import BENCHMARKS, Benchmark, BenchmarkResult
from sklearn_predtron.cli._reference_models import windows
from sklearn_predtron.datasets import make_ranking_queries
from sklearn_predtron.losses import Reject
from tests.cli_cases import run, usage_error

NAMES = [contest.name for contest in BENCHMARKS]


@pytest.fixture(scope="module")
def shown():
    """The text and the JSON of the demo, which is run once, and its CPU seconds."""
    before = process_time()
    with threadpool_limits(1):
        found = _demo.run_benchmarks(BENCHMARKS, 0, lambda *given: None)
    seconds, texts = process_time() - before, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_demo, "run_benchmarks", lambda benchmarks, seed, bar: found)
        for more in ([], ["--json"]):
            with redirect_stdout(io.StringIO()) as out:
                assert main(["demo", *more]) == 0
            texts.append(out.getvalue())
    return *texts, seconds


@pytest.fixture(scope="module")
def table(shown):
    """The text of the demo, its CPU seconds, and its lines by the name of the data."""
    header, rule, *lines = shown[0].splitlines()
    spans = [match.span() for match in re.finditer("-+", rule)]
    cells = [[line[a:b].strip() for a, b in spans] for line in [header, *lines]]
    rows = {row[0]: dict(zip(cells[0], row, strict=True)) for row in cells[1 : 1 + len(BENCHMARKS)]}
    return shown[0], shown[2], rows


@pytest.fixture(scope="module")
def figures(shown):
    """The losses of each learner in each split, by the name of the data."""
    found = json.loads(shown[1])["results"]
    return {line["data"]: {learner["learner"]: learner["losses"] for learner in line["learners"]} for line in found}


def scaled(X, *others):
    scaler = StandardScaler().fit(X)
    return [scaler.transform(rows) for rows in (X, *others)]


# ------------------------------------------------------------------------------------------------------------------- the table


def test_the_table_is_narrow_and_quickly_there(table):
    text, seconds, rows = table
    assert list(rows) == NAMES and max(map(len, text.splitlines())) <= 120
    assert len(text.splitlines()) == 2 + len(NAMES) + 2 and "Lower is better in all columns." in text
    assert seconds < 15  # some 4 on a machine that does nothing else


def test_the_table_shows_the_better_of_the_usual_learners(table, figures):
    for name, row in table[2].items():
        (_, predtron), *others = [(learner, np.mean(losses)) for learner, losses in figures[name].items()]
        learner, peer = min(others, key=lambda other: other[1])
        assert row["peer"] == learner
        assert (row["predtron"], row["peer loss"]) == (f"{predtron:.3f}", f"{peer:.3f}")
        assert float(row["ratio"]) == pytest.approx(predtron / peer, abs=0.006)
        assert float(row["predtron s"]) > 0 and float(row["peer s"]) > 0


def test_no_row_is_nearly_perfect(figures):
    """Each leaves something to lose, so that learners can be told from one another."""
    assert all(np.mean(losses) > 0.01 for learners in figures.values() for losses in learners.values())
    assert all(0.1 < np.mean(losses) < 0.3 for losses in figures["generated queries"].values())


# -------------------------------------------------------------------------------------------- figures that are computed otherwise


def test_costs_and_questions(figures):
    X, y = load_breast_cancer(return_X_y=True)
    ours, theirs = figures["breast cancer"].values()
    cost = {(0, 0): 0, (1, 1): 0, (0, 1): 5, (1, 0): 1, (0, -1): 0.2, (1, -1): 0.2}
    for seed, pair in enumerate(zip(ours, theirs, strict=True)):
        A, B, a, b = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=y)
        model = PredtronBinaryClassifier(loss={(0, 1): 5.0}, reject=Reject(0.2, -1), random_state=seed).fit(A, a)
        A_scaled, B_scaled = scaled(A, B)
        ill = LogisticRegression().fit(A_scaled, a).predict_proba(B_scaled)[:, 0]
        chow = [min([(5 * p, 1), (1 - p, 0), (0.2, -1)])[1] for p in ill]
        for losses, answers in zip(pair, (model.predict(B), chow), strict=True):
            assert losses == pytest.approx(100 * np.mean([cost[case] for case in zip(b, answers, strict=True)]))
        assert -1 in chow and -1 in model.predict(B)


def test_ranks(figures):
    X, target = load_diabetes(return_X_y=True)
    y = np.digitize(target, np.percentile(target, [20, 40, 60, 80]), right=True)
    found = figures["diabetes, 5 ranks"]
    for seed in range(2):
        A, B, a, b = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=y)
        ours = PredtronOrdinalClassifier(random_state=seed).fit(A, a).predict(B)
        A, B = scaled(A, B)
        regressed = np.minimum(np.maximum(Ridge().fit(A, a).predict(B).round(), 0), 4)
        P = LogisticRegression().fit(A, a).predict_proba(B)
        median = np.abs(np.arange(5)[:, None] - np.arange(5)) @ P.T  # the expected distance of each rank
        expected = [mean_absolute_error(b, predicted) for predicted in (ours, median.argmin(axis=0), regressed)]
        assert [losses[seed] for losses in found.values()] == pytest.approx(expected)


def test_queries(figures):
    found = figures["generated queries"]
    for seed in range(2):
        X, y, qid = make_ranking_queries(300, 20, n_features=20, rows="uniform", random_state=seed)
        X, learned = X[:, :12], qid < 100
        ours = PredtronRanker(random_state=seed).fit(X[learned], y[learned], qid=qid[learned])
        A, B = scaled(X[learned], X[~learned])
        gains = (2.0 ** y[~learned] - 1).reshape(200, 20)
        scores = ours.predict(X[~learned]), Ridge().fit(A, y[learned]).predict(B)
        expected = [1 - ndcg_score(gains, score.reshape(200, 20), k=10) for score in scores]
        assert [found[name][seed] for name in ("PredtronRanker", "Ridge")] == pytest.approx(expected)


def test_stream(figures):
    X, y = load_digits(return_X_y=True)
    X, (ours, *theirs) = X / 16, figures["a stream of digits"].values()
    models = PredtronClassifier(random_state=0), Perceptron(random_state=0), SGDClassifier(random_state=0)
    for losses, model in zip((ours, *theirs), models, strict=True):
        wrong, classes = 0, {"classes": range(10)}
        for block in np.array_split(np.arange(len(y)), range(100, len(y), 100)):
            wrong += 0 if classes else (model.predict(X[block]) != y[block]).sum()
            model.partial_fit(X[block], y[block], **classes)
            classes = {}
        assert losses == [wrong / (len(y) - 100)]


def test_the_cut_of_the_rare_class_is_the_best_of_rows_that_were_not_learned(figures):
    """Among all cuts between the probabilities of the folds, none has a greater F1."""
    (contest,) = (contest for contest in BENCHMARKS if contest.name == "a rare class")
    split = contest.draw(0)
    ahead = np.empty(len(split.y))
    for learned, held_out in StratifiedKFold(5).split(split.X, split.y):
        A, B = scaled(split.X[learned], split.X[held_out])
        ahead[held_out] = LogisticRegression().fit(A, split.y[learned]).predict_proba(B)[:, 1]
    order = np.argsort(-ahead)
    f1 = 2 * np.cumsum(split.y[order]) / (np.arange(1, len(order) + 1) + split.y.sum())
    cut = ahead[order][np.argmax(f1)]
    A, B = scaled(split.X, split.X_test)
    found = LogisticRegression().fit(A, split.y).predict_proba(B)[:, 1] >= cut
    expected = 1 - fbeta_score(split.y_test, found, beta=1)
    assert figures["a rare class"]["LogisticRegression, tuned cut"][0] == pytest.approx(expected, abs=0.005)


def test_words_have_pictures_that_were_not_learned_and_windows_stay_within_them(figures):
    (contest,) = (contest for contest in BENCHMARKS if contest.name == "words of digits")
    split = contest.draw(0)
    model = PredtronSequenceTagger(random_state=0).fit(split.X, split.y, sid=split.ids)
    errors = [token != true for token, true in zip(model.predict(split.X_test, sid=split.ids_test), split.y_test, strict=True)]
    assert figures["words of digits"]["PredtronSequenceTagger"][0] == pytest.approx(np.mean(errors))
    assert set(split.ids).isdisjoint(split.ids_test)
    X, ids = np.array([[1.0], [2], [3], [4]]), np.array([7, 7, 7, 8])
    assert windows(X, ids).tolist() == [[0, 1, 2], [1, 2, 3], [2, 3, 0], [0, 4, 0]]


# --------------------------------------------------------------------------------------------------------------------- options


@pytest.fixture
def stub(monkeypatch):
    """One data set, which is learned in no time, beside two learners."""
    drawn = []

    def learn(self, seed):
        drawn.append(seed)
        ours, theirs = (
            BenchmarkResult("ours", [0.5], [2.0]),
            [BenchmarkResult("worse", [3.0], [1.0]), BenchmarkResult("better", [0.25], [8.0])],
        )
        return [ours, *theirs]

    monkeypatch.setattr(Benchmark, "learn", learn)
    monkeypatch.setattr(_demo, "BENCHMARKS", BENCHMARKS[:2])
    return drawn


def test_ratios(capsys, stub):
    code, text, err = run(capsys, "--seed", 4)
    assert (code, err, stub) == (0, "", [4, 4])
    assert text.splitlines()[2].split()[-7:] == ["tokens", "0.500", "0.250", "2.00", "2.00", "8.00", "better"]
    assert run(capsys, "--quiet") == (0, "", "")


@pytest.mark.parametrize(("value", "shown"), [(None, "-"), (0.0, "0"), (0.0123, "0.01"), (0.0049, "0.005"), (0.7, "0.70")])
def test_ratios_have_two_digits(value, shown):
    assert _demo.two_digits(value) == shown
    assert _demo.ratio(1.0, 0.0) is None


# ------------------------------------------------------------------------------------------------------------------- the picture


def test_picture(capsys, stub, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is of the extra `plot`")
    for name in ("p.svg", "P.PNG", "p.pdf"):
        assert run(capsys, "--quiet", "--plot", tmp_path / name) == (0, "", "")
    text = (tmp_path / "p.svg").read_text()
    assert "<svg" in text and "a stream of digits, progressive error: better" in text and "time, predtron / peer" in text
    assert (tmp_path / "P.PNG").read_bytes().startswith(b"\x89PNG") and (tmp_path / "p.pdf").read_bytes().startswith(b"%PDF")


def test_points_of_the_picture_are_the_ratios():
    figure = pytest.importorskip("matplotlib.figure", reason="matplotlib is of the extra `plot`")
    ax = figure.Figure().subplots()
    _picture.draw_side(ax, [0.25, None, 20.0, 0.0], "gray")
    points = [line.get_xydata().tolist() for line in ax.lines if line.get_marker() == "o"]
    assert points == [[[0.25, 0]], [[20.0, 2]]] and ax.get_xlim()[0] < 0.25 < 20 < ax.get_xlim()[1]


def test_refused_pictures(capsys, stub, tmp_path, monkeypatch):
    known = "accepted are names that end in .pdf, .png, .svg"
    for path in ("p", "p.jpeg", "-"):
        assert f"--plot='{path}' is not of a known format; {known}" in usage_error(capsys, "--plot", path)
    path, train = tmp_path / "p.png", tmp_path / "train.svm"
    train.write_text("1 1:1\n2 1:2\n")
    assert "--plot needs rows with labels to score" in usage_error(capsys, train, "--plot", path)
    assert "is not a file that can be written" in usage_error(capsys, "--plot", tmp_path / "no" / "p.png")
    monkeypatch.setattr(_checks, "find_spec", lambda name: None)
    assert "--plot needs matplotlib: pip install matplotlib" in usage_error(capsys, "--plot", path)
    assert stub == [] and not path.exists()


def test_a_picture_that_cannot_be_written_ends_with_a_message(capsys, stub, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="matplotlib is of the extra `plot`")
    path = tmp_path / "p.png"

    def full(self, written):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_picture.Path, "write_bytes", full)
    code, text, err = run(capsys, "--plot", path)
    assert code == 1 and "better" in text and err == f"error: --plot={str(path)!r}: No space left on device\n"
