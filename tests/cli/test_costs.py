"""Costs of rows in columns of the table; the oracle is the estimator itself, called on the same arrays."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import sklearn_predtron
from sklearn_predtron import PredtronBinaryClassifier, PredtronOrdinalClassifier
from sklearn_predtron.losses import Reject
from sklearn_predtron.metrics import savings_score
from tests.cli_cases import NAMES, run, usage_error

pytestmark = pytest.mark.usefixtures("as_streams")

N, N_TEST = 120, 60
PLAIN = ["--no-shuffle", "--json"]
TRAIN, TEST = slice(0, N), slice(N, N + N_TEST)
COLUMNS = ["a", "b", "c", "d"]


class Data:
    """Tables with columns of costs, and the arrays that they hold."""

    def __init__(self, folder, labels, pairs, form="csv"):
        rng = np.random.default_rng(0)
        self.X = rng.standard_normal((N + N_TEST, 4)).round(3)
        self.y = labels(self.X + 0.5 * rng.standard_normal(self.X.shape))
        self.pairs = {pair: f"cost {i}" for i, pair in enumerate(pairs)}
        self.columns = rng.lognormal(1, 1, (N + N_TEST, len(pairs))).round(3)
        self.table = pd.DataFrame(self.X, columns=COLUMNS).assign(**dict(zip(self.pairs.values(), self.columns.T, strict=True)))
        self.table["y"] = self.y
        self.train, self.test = folder / f"train.{form}", folder / f"test.{form}"
        self.write(self.train, TRAIN), self.write(self.test, TEST)
        said = ",".join(f"{true}:{predicted}={column}" for (true, predicted), column in self.pairs.items())
        self.how = [f"--costs={said}", "--drop", *self.pairs.values(), *PLAIN]
        self.argv = [self.train, "--test", self.test, *self.how]

    def write(self, path, rows):
        self.table[rows].to_csv(path, index=False)

    def given(self, rows):
        """Return the costs as the estimators take them."""
        return dict(zip(self.pairs, self.columns[rows].T, strict=True))

    def cost(self, model, rows=TEST):
        return model.sample_loss(self.X[rows], self.y[rows], costs=self.given(rows)).mean()


@pytest.fixture
def fraud(tmp_path):
    return Data(tmp_path, lambda X: (X[:, 0] > 0.5).astype(int), [(1, 0), (0, 1), (1, 1)])


def results(capsys, *argv):
    code, out, err = run(capsys, *argv)
    assert (code, err) == (0, "")
    return json.loads(out)["results"]


def trained(kind, data, classes, rows=TRAIN, **parameters):
    return kind(**parameters).partial_fit(data.X[rows], data.y[rows], classes=classes, costs=data.given(rows))


def test_two_classes(capsys, fraud):
    predictions, saved = fraud.train.parent / "p", fraud.train.parent / "m"
    (ours,) = results(capsys, *fraud.argv, "--predictions", predictions, "--save", saved)
    model = trained(PredtronBinaryClassifier, fraud, [0, 1])
    predicted = model.predict(fraud.X[TEST], costs=fraud.given(TEST))
    assert np.array_equal(np.loadtxt(predictions), predicted)
    assert ours["held_out_cost"] == pytest.approx(fraud.cost(model))
    assert ours["held_out_savings"] == pytest.approx(savings_score(fraud.y[TEST], predicted, fraud.given(TEST)))
    assert ours["held_out_score"] == pytest.approx((predicted == fraud.y[TEST]).mean())
    assert np.array_equal(sklearn_predtron.load(saved).coef_, model.coef_)
    without = PredtronBinaryClassifier().partial_fit(fraud.X[TRAIN], fraud.y[TRAIN], classes=[0, 1])
    assert not np.allclose(without.coef_, model.coef_, rtol=1e-3)


def table(data, rows):
    """The cost of each prediction in each row, of two classes."""
    found = np.zeros((rows.stop - rows.start, 2, 2))
    for (true, answer), column in data.given(rows).items():
        found[:, true, answer] = column
    return found


def test_the_peer_predicts_the_lowest_expected_cost(capsys, fraud):
    ours, peer = results(capsys, *fraud.argv, "--compare", fraud.train)
    scaler = StandardScaler().fit(fraud.X[TRAIN])
    logistic = LogisticRegression(max_iter=1000).fit(scaler.transform(fraud.X[TRAIN]), fraud.y[TRAIN])
    costs = table(fraud, TEST)
    chosen = (logistic.predict_proba(scaler.transform(fraud.X[TEST]))[:, :, None] * costs).sum(axis=1).argmin(axis=1)
    realised = costs[np.arange(N_TEST), fraud.y[TEST], chosen].mean()
    assert peer["learner"] == "LogisticRegression" and peer["held_out_cost"] == pytest.approx(realised)
    assert peer["held_out_best_constant_cost"] == pytest.approx(ours["held_out_best_constant_cost"])


def test_the_table(capsys, fraud):
    code, out, _ = run(capsys, *[word for word in fraud.argv if word != "--json"])
    (ours,) = results(capsys, *fraud.argv)
    lines = [line.split() for line in out.splitlines()]
    assert code == 0 and ["learner", "mean", "cost", "best", "constant", "savings"] in lines
    shown = [f"{ours[f'held_out_{what}']:.4f}" for what in ("cost", "best_constant_cost", "savings")]
    assert ["PredtronBinaryClassifier", *shown] in lines


@pytest.mark.parametrize("epochs", [1, 2])
def test_the_same_in_chunks(capsys, fraud, epochs):
    saved = [fraud.train.parent / name for name in "ab"]
    argv = [fraud.train, *fraud.how, "--quiet", "--epochs", epochs, "--save"]
    assert run(capsys, *argv, saved[0])[0] == run(capsys, *argv, saved[1], "--chunk", 7)[0] == 0
    one, other = map(sklearn_predtron.load, saved)
    assert np.array_equal(one.coef_, other.coef_) and one.t_ == other.t_ == epochs * N


def test_costs_are_shuffled_with_their_rows(capsys, fraud):
    saved = fraud.train.parent / "m"
    argv = [word for word in fraud.how if word != "--no-shuffle"]
    assert run(capsys, fraud.train, *argv, "--save", saved)[0] == 0
    order, given = np.random.default_rng(0).permutation(N), fraud.given(TRAIN)
    costs = {pair: column[order] for pair, column in given.items()}
    model = PredtronBinaryClassifier().partial_fit(fraud.X[order], fraud.y[order], classes=[0, 1], costs=costs)
    assert np.array_equal(sklearn_predtron.load(saved).coef_, model.coef_)


def test_a_saved_model_knows_the_columns(capsys, fraud):
    """It predicts by the costs of the rows, is scored by them, and continues with them."""
    saved, rows = fraud.train.parent / "m", fraud.train.parent / "rows.csv"
    (ours,) = results(capsys, *fraud.argv, "--save", saved)
    assert results(capsys, "score", saved, fraud.test, "--json")[0]["held_out_cost"] == ours["held_out_cost"]
    fraud.table[TEST].drop(columns="y").to_csv(rows, index=False)
    model = sklearn_predtron.load(saved)
    code, out, _ = run(capsys, "predict", saved, rows, "--chunk", 7)
    assert code == 0
    assert [float(line) for line in out.splitlines()] == model.predict(fraud.X[TEST], costs=fraud.given(TEST)).tolist()
    fraud.table.loc[TEST, COLUMNS].to_csv(rows, index=False)
    assert [float(line) for line in run(capsys, "predict", saved, rows)[1].splitlines()] == model.predict(fraud.X[TEST]).tolist()
    assert run(capsys, fraud.test, "--load", saved, "--no-shuffle", "--save", saved)[0] == 0
    model.partial_fit(fraud.X[TEST], fraud.y[TEST], costs=fraud.given(TEST))
    assert np.array_equal(sklearn_predtron.load(saved).coef_, model.coef_)
    assert "--costs is fixed by the model of --load" in usage_error(capsys, fraud.test, "--load", saved, "--costs=1:0=a")


def test_text_labels_abstentions_and_pairs_left_out(capsys, tmp_path):
    data = Data(tmp_path, lambda X: np.array(NAMES)[X[:, :3].argmax(axis=1)], [(NAMES[1], NAMES[2]), (NAMES[0], "reject")])
    argv = [*data.argv, "--reject-cost", 0.2, "--loss", f"{NAMES[2]}:{NAMES[0]}=9", "--save", tmp_path / "m"]
    (ours,) = results(capsys, *argv)
    model = sklearn_predtron.load(tmp_path / "m")
    assert ours["held_out_cost"] == pytest.approx(data.cost(model))
    predicted = model.predict(data.X[TEST], costs=data.given(TEST))
    answered = predicted != "reject"
    assert ours["rejected"] == np.sum(~answered) > 0
    assert ours["accuracy_on_accepted"] == pytest.approx((predicted == data.y[TEST])[answered].mean())


def test_abstentions_of_numbers(capsys, fraud, tmp_path):
    data = Data(tmp_path, lambda X: (X[:, 0] > 0.5).astype(int), [(1, 0), (0, 1), (1, -1)])
    (ours,) = results(capsys, *data.argv, "--reject-cost", 0.2)
    model = trained(PredtronBinaryClassifier, data, [0, 1], reject=Reject(0.2))
    assert ours["held_out_cost"] == pytest.approx(data.cost(model)) and ours["rejected"] > 0


def test_ordinal_labels(capsys, tmp_path):
    data = Data(tmp_path, lambda X: np.digitize(X[:, 0], [-0.5, 0.5]), [(2, 0), (0, 2), (1, 0)])
    (ours,) = results(capsys, *data.argv, "--task", "ordinal")
    model = trained(PredtronOrdinalClassifier, data, [0, 1, 2])
    predicted = model.predict(data.X[TEST], costs=data.given(TEST))
    assert ours["held_out_cost"] == pytest.approx(data.cost(model))
    assert ours["held_out_score"] == pytest.approx(1 - np.abs(predicted - data.y[TEST]).mean() / 2)


def test_columns_may_be_features_too(capsys, tmp_path):
    """In JSON they always are."""
    rng = np.random.default_rng(0)
    amount = rng.lognormal(1, 1, N).round(2)
    y = (amount + 2 * rng.standard_normal(N) > 2).astype(int)
    lines = [json.dumps({"amount": a, "kind": "x", "label": int(b)}) for a, b in zip(amount, y, strict=True)]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    argv = [tmp_path / "t.jsonl", "--test", tmp_path / "t.jsonl", "--costs=1:0=amount", *PLAIN, "--save", tmp_path / "m"]
    (ours,) = results(capsys, *argv)
    assert 0 < ours["held_out_cost"] <= ours["held_out_best_constant_cost"]
    assert sklearn_predtron.load(tmp_path / "m").file_format_["costs"] == [["1.0", "0.0", "amount"]]
    assert results(capsys, "score", tmp_path / "m", tmp_path / "t.jsonl", "--json")[0]["held_out_cost"] == ours["held_out_cost"]


def test_rows_without_costs_come_first(capsys, fraud):
    fraud.table.loc[:8, list(fraud.pairs.values())] = 0
    fraud.write(fraud.train, TRAIN)
    (ours,) = results(capsys, *fraud.argv)
    assert ours["rounds"] == N - 9
    fraud.table.loc[:, list(fraud.pairs.values())] = 0
    fraud.write(fraud.train, TRAIN)
    assert "--costs gives no row in which a mistake costs something" in usage_error(capsys, *fraud.argv)


@pytest.mark.parametrize("cell", ["-2", "inf", "1e101", "nan", "two", "2_0", ""])
def test_cells_that_are_no_costs(capsys, fraud, cell):
    lines = fraud.train.read_text().splitlines()
    fields = lines[50].split(",")
    lines[50] = ",".join([*fields[:5], cell, *fields[6:]])
    fraud.train.write_text("\n".join(lines))
    code, _, err = run(capsys, fraud.train, *fraud.how, "--chunk", 10)
    assert code == 1 and f"line 51: the cost 'cost 1' has {cell!r}; accepted are numbers from 0 to 1e+100" in err


def test_options_that_do_not_fit(capsys, fraud, files):
    assert "--costs needs TRAIN" in usage_error(capsys, "--costs", "1:0=a")
    assert "accepted is TRUE:PREDICTED=COLUMN,..." in usage_error(capsys, fraud.train, "--costs", "amount")
    assert "--costs='no' is no column of" in usage_error(capsys, fraud.train, "--costs", "1:0=no")
    assert "--costs names the labels [7]; accepted are [0, 1]" in usage_error(capsys, fraud.train, "--costs", "1:7=cost 0")
    assert "the label 'x' must be a finite number" in usage_error(capsys, fraud.train, "--costs", "1:x=cost 0")
    assert "is for csv and json files, and the files are svmlight" in usage_error(capsys, files["a"], "--costs", "1:0=a")
    err = usage_error(capsys, fraud.train, "--task", "bipartite", "--costs", "1:0=a")
    assert "--costs is not for PredtronBipartite" in err and "accepted with --task binary, multiclass, ordinal" in err


def test_costs_of_many_classes_are_taken_in_parts(capsys, fraud, monkeypatch):
    argv = [*fraud.argv, "--compare", fraud.train]
    drop = "seconds", "rounds_per_second"
    one = [{name: value for name, value in result.items() if name not in drop} for result in results(capsys, *argv)]
    monkeypatch.setattr("sklearn_predtron.cli._evaluation.MAX_COSTS", 20)
    for result, known in zip(results(capsys, *argv), one, strict=True):
        assert {name: value for name, value in result.items() if name not in drop} == pytest.approx(known)
