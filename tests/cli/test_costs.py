"""Costs of rows in files beside the data; the oracle is the estimator itself, called on the same arrays."""

import bz2
import gzip
import json
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import sklearn_predtron
from sklearn_predtron import PredtronBinaryClassifier, PredtronMultilabelClassifier, PredtronOrdinalClassifier
from sklearn_predtron.losses import Reject
from sklearn_predtron.metrics import savings_score
from tests.cli_cases import NAMES, run, unlabelled, usage_error

N, N_TEST = 120, 60
BOTH = ["--norm", "l2", "--no-shuffle", "--json"]
PLAIN = [*BOTH, "--no-compare"]
TRAIN, TEST = slice(0, N), slice(N, N + N_TEST)


class Data:
    """Files of rows and of costs, and the arrays that they hold."""

    def __init__(self, folder, labels, pairs, of_labels=str):
        rng = np.random.default_rng(0)
        self.X = rng.standard_normal((N + N_TEST, 4)).round(3)
        self.y = labels(self.X + 0.5 * rng.standard_normal(self.X.shape))
        self.pairs, self.columns = pairs, rng.lognormal(1, 1, (N + N_TEST, len(pairs))).round(3)
        self.train, self.test = (folder / f"{name}.svm" for name in ("train", "test"))
        self.costs, self.test_costs = (folder / f"{name}.costs" for name in ("train", "test"))
        for path, costs, rows in ((self.train, self.costs, TRAIN), (self.test, self.test_costs, TEST)):
            dump_svmlight_file(self.X[rows], self.y[rows], str(path), zero_based=False, multilabel=self.y.ndim > 1)
            self.write(costs, self.columns[rows])
        self.of_labels = of_labels

    def write(self, path, columns):
        np.savetxt(path, columns, header=" ".join(self.pairs), comments="", fmt="%.3f")

    def given(self, rows):
        """Return the costs as the estimators take them."""
        keys = [tuple(self.of_labels(label) for label in pair.split(":")) for pair in self.pairs]
        return dict(zip(keys, self.columns[rows].T, strict=True))


def number(text):
    return text if text in ("missed", "false") else int(text)


@pytest.fixture
def fraud(tmp_path):
    return Data(tmp_path, lambda X: (X[:, 0] > 0.5).astype(int), ["1:0", "0:1", "1:1"], number)


@pytest.fixture
def tags(tmp_path):
    return Data(tmp_path, lambda X: (X[:, :3] > 0.3).astype(int), ["0:missed", "2:false", "1:missed"], number)


def results(capsys, *argv):
    code, out, err = run(capsys, *argv)
    assert (code, err) == (0, "")
    return json.loads(out)["results"]


def test_two_classes(capsys, fraud):
    argv = [fraud.train, "--costs", fraud.costs, "--test", fraud.test, "--test-costs", fraud.test_costs]
    predictions, saved = fraud.train.parent / "p", fraud.train.parent / "m"
    ours, logistic = results(capsys, *argv, *BOTH, "--predictions", predictions, "--save", saved)
    model = PredtronBinaryClassifier(norm="l2")
    model.partial_fit(fraud.X[TRAIN], fraud.y[TRAIN], classes=[0, 1], costs=fraud.given(TRAIN))
    predicted = model.predict(fraud.X[TEST], costs=fraud.given(TEST))
    assert np.array_equal(np.loadtxt(predictions), predicted)
    assert ours["held_out_cost"] == pytest.approx(model.sample_loss(fraud.X[TEST], fraud.y[TEST], costs=fraud.given(TEST)).mean())
    assert ours["held_out_savings"] == pytest.approx(savings_score(fraud.y[TEST], predicted, fraud.given(TEST)))
    assert ours["held_out_score"] == pytest.approx((predicted == fraud.y[TEST]).mean())
    assert np.allclose(sklearn_predtron.load(saved).coef_, model.coef_, rtol=1e-9)
    without = PredtronBinaryClassifier(norm="l2").partial_fit(fraud.X[TRAIN], fraud.y[TRAIN], classes=[0, 1])
    assert not np.allclose(without.coef_, model.coef_, rtol=1e-3)
    assert logistic["learner"] == "SGDClassifier"
    scaler = StandardScaler().fit(fraud.X[TRAIN])
    X, X_test = (np.column_stack([scaler.transform(fraud.X[rows]), np.ones(rows.stop - rows.start)]) for rows in (TRAIN, TEST))
    how = {"average": True, "learning_rate": "constant", "eta0": 0.01, "shuffle": False, "fit_intercept": False}
    other = SGDClassifier(loss="log_loss", **how).partial_fit(X, fraud.y[TRAIN], classes=[0, 1])
    chance = other.predict_proba(X_test)
    by_costs = (chance[:, :, None] * table(fraud, TEST)).sum(axis=1).argmin(axis=1)
    assert logistic["held_out_cost"] == pytest.approx(paid(fraud, TEST, by_costs).mean())
    assert logistic["held_out_savings"] == pytest.approx(savings_score(fraud.y[TEST], by_costs, fraud.given(TEST)))


def table(data, rows):
    """What answers cost in each row, of two classes."""
    found = np.zeros((rows.stop - rows.start, 2, 2))
    for (true, answer), column in data.given(rows).items():
        found[:, true, answer] = column
    return found


def paid(data, rows, predicted):
    return table(data, rows)[np.arange(len(predicted)), data.y[rows], predicted]


def test_what_is_paid_before_each_row_is_learned(capsys, fraud):
    ours = results(capsys, fraud.train, "--costs", fraud.costs, *PLAIN, "--chunk", 1)[0]
    model, given, total = PredtronBinaryClassifier(norm="l2"), table(fraud, TRAIN), 0.0
    for i in range(N):
        row, costs = slice(i, i + 1), {pair: column[i : i + 1] for pair, column in fraud.given(TRAIN).items()}
        predicted = model.predict(fraud.X[row], costs=costs)[0] if i else given[0].mean(axis=0).argmin()
        total += given[i, fraud.y[i], predicted]
        model.partial_fit(fraud.X[row], fraud.y[row], classes=None if i else [0, 1], costs=costs)
    best = min(given[np.arange(N), fraud.y[TRAIN], answer].mean() for answer in (0, 1))
    assert ours["progressive_cost"] == pytest.approx(total / N)
    assert ours["progressive_best_constant_cost"] == pytest.approx(best)
    assert ours["progressive_savings"] == pytest.approx(1 - total / N / best)
    assert "held_out_cost" not in ours


def test_the_table(capsys, fraud):
    argv = [fraud.train, "--costs", fraud.costs, "--test", fraud.test, "--test-costs", fraud.test_costs]
    code, out, _ = run(capsys, *argv, "--norm", "l2", "--no-shuffle")
    ours = results(capsys, *argv, *PLAIN)[0]
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert ["learner", "rows", "mean", "cost", "best", "constant", "savings"] in lines
    for when in ("progressive", "held-out"):
        name = when.replace("-", "_")
        shown = [f"{ours[f'{name}_{what}']:.4f}" for what in ("cost", "best_constant_cost", "savings")]
        assert [when, *shown] in [line[-4:] for line in lines]
    assert "mean cost" not in run(capsys, fraud.train, "--no-compare")[1]


@pytest.mark.parametrize("more", [["--chunk", 7], ["--chunk", 7, "--cache"], ["--features", 4, "--classes", 0, 1]])
@pytest.mark.parametrize("epochs", [1, 2])
def test_the_same_in_chunks(capsys, fraud, more, epochs):
    saved = [fraud.train.parent / name for name in "ab"]
    argv = [fraud.train, "--costs", fraud.costs, *PLAIN, "--quiet", "--epochs", epochs, "--save"]
    assert run(capsys, *argv, saved[0])[0] == run(capsys, *argv, saved[1], *more)[0] == 0
    one, other = map(sklearn_predtron.load, saved)
    assert np.array_equal(one.coef_, other.coef_) and one.t_ == other.t_ == epochs * N


def test_costs_are_shuffled_with_their_rows(capsys, fraud):
    saved = fraud.train.parent / "m"
    assert run(capsys, fraud.train, "--costs", fraud.costs, "--norm", "l2", "--quiet", "--no-compare", "--save", saved)[0] == 0
    order, given = np.random.default_rng(0).permutation(N), fraud.given(TRAIN)
    costs = {pair: column[order] for pair, column in given.items()}
    model = PredtronBinaryClassifier(norm="l2").partial_fit(fraud.X[order], fraud.y[order], classes=[0, 1], costs=costs)
    assert np.allclose(sklearn_predtron.load(saved).coef_, model.coef_, rtol=1e-9)


def rewritten(text):
    """The same costs as people and programs write them, by name."""
    numbers = text.partition("\n")[2]
    return {
        "comma": text.replace(" ", ",").encode(),
        "both": text.replace(" ", " , ").encode(),
        "tab": text.replace(" ", "\t").encode(),
        "hash": b"# " + text.encode(),
        "mark": b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
        "blank": text.encode() + b"\n \n",
        "open": text.rstrip().encode(),
        "float": ("1.0:0 0:1.0 1:1\n" + numbers).encode(),
        "gz": gzip.compress(text.encode()),
        "bz2": bz2.compress(text.encode()),
    }


@pytest.mark.parametrize("kind", list(rewritten("")))
def test_forms_of_the_file(capsys, fraud, kind):
    known = results(capsys, fraud.train, "--costs", fraud.costs, *PLAIN)[0]["progressive_cost"]
    other = fraud.costs.parent / f"other.{kind}"
    other.write_bytes(rewritten(fraud.costs.read_text())[kind])
    assert results(capsys, fraud.train, "--costs", other, *PLAIN)[0]["progressive_cost"] == known


def test_a_pipe(capsys, fraud, standard_input):
    for epochs in (1, 2):
        known = results(capsys, fraud.train, "--costs", fraud.costs, *PLAIN, "--epochs", epochs)[0]
        standard_input(fraud.costs.read_bytes())
        ours = results(capsys, fraud.train, "--costs", "-", *PLAIN, "--epochs", epochs)[0]
        assert ours["progressive_cost"] == known["progressive_cost"]
    err = usage_error(capsys, "-", "--costs", "-")
    assert "TRAIN and --costs are the same pipe '-'" in err


def test_several_files_are_one_stream(capsys, fraud):
    known = results(capsys, fraud.train, "--costs", fraud.costs, *PLAIN)[0]["progressive_cost"]
    lines = fraud.train.read_text().splitlines(keepends=True)
    parts = [fraud.train.parent / name for name in ("x.svm", "y.svm")]
    for part, some in zip(parts, (lines[:50], lines[50:]), strict=True):
        part.write_text("".join(some))
    assert results(capsys, *parts, "--costs", fraud.costs, *PLAIN)[0]["progressive_cost"] == pytest.approx(known)


def test_rows_without_labels(capsys, fraud):
    saved, rows = fraud.train.parent / "m", fraud.train.parent / "rows"
    assert run(capsys, fraud.train, "--save", saved, "--quiet", "--no-compare")[0] == 0
    rows.write_text(unlabelled(fraud.test))
    expected = sklearn_predtron.load(saved).predict(fraud.X[TEST], costs=fraud.given(TEST))
    for argv in ([rows, "--costs"], ["--test", rows, "--test-costs"]):
        code, out, err = run(capsys, "--load", saved, *argv, fraud.test_costs, "--chunk", 7)
        assert (code, err) == (0, "")
        assert [float(line) for line in out.splitlines()] == expected.tolist()
    err = usage_error(capsys, "--load", saved, rows, "--costs", fraud.test_costs, "--proba")
    assert "--costs changes predictions alone" in err


def test_learning_goes_on_with_costs(capsys, fraud):
    saved = fraud.train.parent / "m"
    argv = ["--norm", "l2", "--no-shuffle", "--quiet", "--no-compare", "--save", saved]
    assert run(capsys, fraud.train, *argv)[0] == 0
    assert run(capsys, fraud.test, "--load", saved, "--costs", fraud.test_costs, *argv[2:]) == (0, "", "")
    model = PredtronBinaryClassifier(norm="l2").partial_fit(fraud.X[TRAIN], fraud.y[TRAIN], classes=[0, 1])
    model.partial_fit(fraud.X[TEST], fraud.y[TEST], costs=fraud.given(TEST))
    assert np.allclose(sklearn_predtron.load(saved).coef_, model.coef_, rtol=1e-9)


def test_words_and_pairs_left_out(capsys, tmp_path):
    data = Data(tmp_path, lambda X: X[:, :3].argmax(axis=1), [f"{NAMES[1]}:{NAMES[2]}", f"{NAMES[0]}:{NAMES[1]}"])
    for path in (data.train, data.test):
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(NAMES[int(line[0])] + line[1:] for line in lines), encoding="utf-8")
    for path, rows in ((data.costs, TRAIN), (data.test_costs, TEST)):
        np.savetxt(path, data.columns[rows], header=" ".join(data.pairs), comments="", fmt="%.3f", encoding="utf-8")
    saved = tmp_path / "m"
    argv = [data.train, "--costs", data.costs, "--test", data.test, "--test-costs", data.test_costs, *PLAIN, "--save", saved]
    ours = results(capsys, *argv, "--loss", f"{NAMES[2]}:{NAMES[0]}=9")[0]
    model = sklearn_predtron.load(saved)
    named = np.array(NAMES)[data.y[TEST]]
    assert ours["held_out_cost"] == pytest.approx(model.sample_loss(data.X[TEST], named, costs=data.given(TEST)).mean())
    without = results(capsys, *argv)[0]
    assert ours["held_out_best_constant_cost"] != without["held_out_best_constant_cost"]


@pytest.mark.parametrize("grow", [[], ["--grow"]])
def test_rejected_rows(capsys, fraud, grow):
    fraud.pairs = ["1:0", "0:1", "1:-1"]
    fraud.write(fraud.costs, fraud.columns[TRAIN])
    fraud.write(fraud.test_costs, fraud.columns[TEST])
    argv = [fraud.train, "--costs", fraud.costs, "--test", fraud.test, "--test-costs", fraud.test_costs, "--reject-cost", 0.2]
    ours = results(capsys, *argv, *PLAIN, *grow, *(["--classes", 0, 1, "--task", "binary"] if grow else []))[0]
    model = PredtronBinaryClassifier(norm="l2", reject=Reject(0.2))
    model.partial_fit(fraud.X[TRAIN], fraud.y[TRAIN], classes=[0, 1], costs=fraud.given(TRAIN))
    predicted = model.predict(fraud.X[TEST], costs=fraud.given(TEST))
    assert ours["rejected"] == (predicted == -1).sum() > 0
    assert ours["held_out_cost"] == pytest.approx(model.sample_loss(fraud.X[TEST], fraud.y[TEST], costs=fraud.given(TEST)).mean())


def test_ranks(capsys, tmp_path):
    data = Data(tmp_path, lambda X: np.digitize(X[:, 0], [-0.5, 0.5]), ["2:0", "0:2", "1:0"], number)
    argv = [data.train, "--task", "ordinal", "--costs", data.costs, "--test", data.test, "--test-costs", data.test_costs]
    ours, logistic = results(capsys, *argv, *BOTH)
    model = PredtronOrdinalClassifier(norm="l2")
    model.partial_fit(data.X[TRAIN], data.y[TRAIN], classes=[0, 1, 2], costs=data.given(TRAIN))
    predicted = model.predict(data.X[TEST], costs=data.given(TEST))
    assert ours["held_out_cost"] == pytest.approx(model.sample_loss(data.X[TEST], data.y[TEST], costs=data.given(TEST)).mean())
    assert ours["held_out_score"] == pytest.approx(1 - np.abs(predicted - data.y[TEST]).mean() / 2)
    assert logistic["learner"] == "SGDClassifier"


def test_sets(capsys, tags):
    argv = [tags.train, "--task", "multilabel", "--costs", tags.costs, "--test", tags.test, "--test-costs", tags.test_costs]
    predictions = tags.train.parent / "p"
    ours, logistic = results(capsys, *argv, *BOTH, "--predictions", predictions)
    model = PredtronMultilabelClassifier(norm="l2").partial_fit(tags.X[TRAIN], tags.y[TRAIN], costs=tags.given(TRAIN))
    predicted = model.predict(tags.X[TEST], costs=tags.given(TEST))
    lines = [[int(label) for label in line.split(",") if label] for line in predictions.read_text().splitlines()]
    assert lines == [np.flatnonzero(row).tolist() for row in predicted]
    assert ours["held_out_cost"] == pytest.approx(model.sample_loss(tags.X[TEST], tags.y[TEST], costs=tags.given(TEST)).mean())
    assert ours["held_out_score"] == pytest.approx((predicted == tags.y[TEST]).mean())
    cost = np.full((N_TEST, 3, 2), 1 / 3)  # of the Hamming loss
    for (label, side), column in tags.given(TEST).items():
        cost[:, label, ["missed", "false"].index(side)] = column

    def always(chosen):
        on, true = np.array(chosen, dtype=bool), tags.y[TEST].astype(bool)
        return (cost[:, :, 0] * (true & ~on) + cost[:, :, 1] * (on & ~true)).sum(axis=1).mean()

    best = min(always(chosen) for chosen in product([0, 1], repeat=3))
    assert ours["held_out_best_constant_cost"] == pytest.approx(best)
    assert logistic["learner"] == "SGDClassifier per label" and logistic["held_out_cost"] > 0


def test_sets_of_words(capsys, tags):
    known = results(capsys, tags.train, "--task", "multilabel", "--costs", tags.costs, *PLAIN)[0]
    rows = [line.split(" ", 1) for line in tags.train.read_text().splitlines()]
    words = str.maketrans("012", "abc")
    tags.train.write_text("".join(f"{labels.translate(words)} {rest}\n" for labels, rest in rows))
    header, _, numbers = tags.costs.read_text().partition("\n")
    tags.costs.write_text(f"{header.translate(words)}\n{numbers}")
    ours = results(capsys, tags.train, "--task", "multilabel", "--costs", tags.costs, *PLAIN)[0]
    assert ours["progressive_cost"] == known["progressive_cost"]


def test_a_loss_that_is_no_sum_needs_all_pairs(capsys, tags):
    err = usage_error(capsys, tags.train, "--task", "multilabel", "--loss", "f1", "--costs", tags.costs)
    assert f"--costs={str(tags.costs)!r}, line 1: the pair 0:false is not there, and the loss is no sum of costs" in err


def test_files_side_by_side_are_scored_by_costs(capsys, fraud):
    saved = fraud.train.parent / "m"
    argv = [fraud.train, "--jobs", 1, "--test", fraud.test, "--test-costs", fraud.test_costs, "--json", "--save", saved]
    ours = results(capsys, *argv)[0]
    model = sklearn_predtron.load(saved)
    assert ours["held_out_cost"] == pytest.approx(model.sample_loss(fraud.X[TEST], fraud.y[TEST], costs=fraud.given(TEST)).mean())
    err = usage_error(capsys, fraud.train, "--jobs", 1, "--costs", fraud.costs)
    assert "--costs is not for --jobs" in err and "accepted is --test-costs" in err


# ------------------------------------------------------------------------------------------------------------------ refused


HEADER, ROW = "1:0 0:1 1:1\n", "1 2 3\n"
BROKEN = {
    "empty": ("", "is empty"),
    "blank": ("\n" + HEADER + ROW * N, "has no header"),
    "no header": (ROW * N, "line 1: unknown pair '1'; accepted are TRUE:PREDICTED of the labels [0, 1]"),
    "unknown": (HEADER.replace("0:1", "0:2") + ROW * N, "line 1: unknown pair '0:2'"),
    "of sets": (HEADER.replace("0:1", "0:missed") + ROW * N, "line 1: unknown pair '0:missed'"),
    "long": ("x" * 5000 + "\n" + ROW * N, "xxx...; accepted are TRUE:PREDICTED of the labels [0, 1]"),
    "twice": (HEADER.replace("0:1", "1:0") + ROW * N, "line 1: the pair 1:0 is there twice"),
    "negative": (HEADER + ROW * 5 + "1 -2 3\n" + ROW * (N - 6), "line 7: -2 for the pair 0:1; accepted are numbers from 0"),
    "infinite": (HEADER + "1 2 inf\n" + ROW * (N - 1), "line 2: inf for the pair 1:1"),
    "huge": (HEADER + "1e101 2 3\n" + ROW * (N - 1), "line 2: 1e101 for the pair 1:0"),
    "nan": (HEADER + "nan 2 3\n" + ROW * (N - 1), "line 2: 'nan' for the pair 1:0"),
    "word": (HEADER + "1 two 3\n" + ROW * (N - 1), "line 2: 'two' for the pair 0:1"),
    "underscore": (HEADER + "1 2_0 3\n" + ROW * (N - 1), "line 2: '2_0' for the pair 0:1"),
    "few fields": (HEADER + ROW + "1 2\n" + ROW * (N - 2), "line 3: 2 fields; the header has 3 pairs"),
    "many fields": (HEADER + ROW + "1 2 3 4\n" + ROW * (N - 2), "line 3: 4 fields; the header has 3 pairs"),
    "nothing between": (HEADER + "1,,2\n" + ROW * (N - 1), "line 2: '' for the pair 0:1"),
    "a blank line": (HEADER + ROW * 3 + "\n" + ROW * (N - 3), "line 5: the line is blank"),
    "few lines": (HEADER + ROW * (N - 1), f"has {N - 1} lines of costs, and TRAIN has {N} rows"),
    "many lines": (HEADER + ROW * (N + 1), f"has {N + 1} lines of costs, and TRAIN has {N} rows"),
    "free": (HEADER + "0 0 0\n" * N, "has no row in which a mistake costs something"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_files_that_are_refused(capsys, fraud, kind):
    text, message = BROKEN[kind]
    fraud.costs.write_text(text)
    saved = fraud.train.parent / "m"
    err = usage_error(capsys, fraud.train, "--costs", fraud.costs, "--save", saved)
    assert f"--costs={str(fraud.costs)!r}" in err and message in err
    assert not saved.exists()


def test_in_a_stream_the_rows_before_it_are_kept(capsys, fraud):
    saved = fraud.train.parent / "m"
    argv = [fraud.train, "--features", 4, "--classes", 0, 1, "--costs", fraud.costs, "--chunk", 10, "--save", saved]
    argv += ["--quiet", "--no-compare"]
    for rows, kept, message in (
        (57, 50, "has 57 lines of costs, and the data have more rows"),
        (N + 3, N, f"has more than {N} lines of costs, and the data have {N} rows"),
    ):
        fraud.costs.write_text(HEADER + ROW * rows)
        code, out, err = run(capsys, *argv)
        assert (code, out) == (1, "")
        assert f"{message}; the {kept} rounds before it are kept" in err
        assert sklearn_predtron.load(saved).t_ == kept


def test_a_compressed_file_that_ends_early(capsys, fraud):
    cut = fraud.costs.parent / "cut.gz"
    cut.write_bytes(gzip.compress(fraud.costs.read_bytes())[:-200])
    code, out, err = run(capsys, fraud.train, "--costs", cut, "--quiet")
    assert (code, out) == (1, "") and f"--costs={str(cut)!r}: Compressed file ended" in err and "no trained model yet" in err


def test_rows_without_costs_come_first(capsys, fraud):
    fraud.costs.write_text(HEADER + "0 0 0\n" * 9 + ROW * (N - 9))
    ours = results(capsys, fraud.train, "--costs", fraud.costs, *PLAIN)[0]
    assert ours["rounds"] == N - 9 and 0 < ours["progressive_cost"] < 3


def test_costs_of_test_that_do_not_fit(capsys, fraud):
    argv = [fraud.train, "--test", fraud.test, "--test-costs", fraud.test_costs, "--quiet", "--no-compare"]
    for rows in (N_TEST - 1, N_TEST + 1):
        fraud.test_costs.write_text(HEADER + ROW * rows)
        code, _, err = run(capsys, *argv)
        assert code == 1 and f"--test-costs={str(fraud.test_costs)!r} has " in err
    fraud.test_costs.write_text("1:5\n" + ROW)
    assert "line 1: unknown pair '1:5'" in usage_error(capsys, *argv)


def test_options_that_do_not_fit(capsys, fraud, files):
    assert "--test-costs needs --test" in usage_error(capsys, fraud.train, "--test-costs", fraud.costs)
    assert "--costs needs TRAIN" in usage_error(capsys, "--costs", fraud.costs)
    assert "--costs='none' is not a file that can be read" in usage_error(capsys, fraud.train, "--costs", "none")
    err = usage_error(capsys, fraud.train, "--grow", "--costs", fraud.costs)
    assert "--grow needs --classes beside costs" in err
    for task, path in {"rank": "aq", "sequence": "aq", "bipartite": "a"}.items():
        err = usage_error(capsys, files[path], "--task", task, "--costs", fraud.costs)
        assert "--costs is not for Predtron" in err and "accepted with --task binary, multiclass, ordinal, multilabel" in err
    err = usage_error(capsys, fraud.train, "--costs", fraud.costs, "--save", fraud.costs)
    assert "--save and --costs are the same file" in err


def test_new_labels_have_no_costs(capsys, fraud):
    fraud.train.write_text(fraud.train.read_text() + "2 1:1\n")
    fraud.costs.write_text(HEADER + ROW * (N + 1))
    code, _, err = run(capsys, fraud.train, "--grow", "--classes", 0, 1, "--costs", fraud.costs, "--quiet")
    assert code == 1 and f"line {N + 1}" in err


def test_a_model_without_probabilities(capsys, fraud):
    saved = fraud.train.parent / "m"
    PredtronBinaryClassifier(decision="learned", random_state=0).fit(fraud.X, fraud.y).save(saved)
    err = usage_error(capsys, fraud.test, "--load", saved, "--costs", fraud.test_costs)
    assert "--costs needs probabilities, and the model of --load has none" in err
    PredtronBinaryClassifier(reject=Reject(risk=0.1), random_state=0).fit(fraud.X, fraud.y).save(saved)
    err = usage_error(capsys, "--load", saved, "--test", fraud.test, "--test-costs", fraud.test_costs)
    assert "--test-costs does not go with reject.risk=0.1" in err and "accepted is --reject-cost" in err


def test_costs_of_many_classes_are_taken_in_parts(capsys, fraud, monkeypatch):
    argv = [fraud.train, "--costs", fraud.costs, "--test", fraud.test, "--test-costs", fraud.test_costs, *BOTH]
    drop = "seconds", "rounds_per_second"
    one = [{name: value for name, value in result.items() if name not in drop} for result in results(capsys, *argv)]
    monkeypatch.setattr("sklearn_predtron.cli._action_spaces.MAX_COSTS", 20)
    for result, known in zip(results(capsys, *argv), one, strict=True):
        assert {name: value for name, value in result.items() if name not in drop} == pytest.approx(known)
