from itertools import product

import numpy as np
import pytest
from sklearn.metrics import f1_score

from benchmarks import prediction_costs, tasks
from benchmarks.contestants import LightGBMClassifier, Ours, SklearnLogisticRegression, SklearnLogisticRegressionCV
from benchmarks.contestants.base import Contestant
from benchmarks.deciding import ByCut, ByItself, ByProbabilities
from benchmarks.headlines import ABOVE
from benchmarks.prediction_costs import REJECTED, ClassCosts, LabelCosts, LabelF1
from benchmarks.read import Dataset
from benchmarks.suites import costs, costs_sets
from benchmarks.suites.costs import BEFORE, OURS, PEER, Found
from benchmarks.tasks import Options, Task, gaussian_classes

TINY = Options(repeats=1, seeds=1, scale=0.001)
LOAD = """
import numpy as np
from scipy import sparse


def table(family, name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    return X, np.digitize(X[:, 0] + rng.standard_normal(300), [0.0] if name in ("elec2", "heart_c", "saheart") else [-0.5, 0.8])


def svmlight(name, part):
    X, y = table("binary", "elec2")
    return sparse.csr_matrix(X), 2.0 * y - 1


def ordinal(name, binning):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 5))
    target = X[:, 0] + rng.standard_normal(90)
    y = 1 + np.searchsorted(np.quantile(target, [0.25, 0.5, 0.75]), target)
    return X, y, target, np.array([rng.permutation(90)[:60] for _ in range(20)])


def multilabel(name, part):
    rng = np.random.default_rng(part == "test")
    X = rng.standard_normal((80, 5))
    return sparse.csr_matrix(X), (X[:, :4] + rng.standard_normal((80, 4)) > [0, 0, 0.5, 9]).astype(int)
"""


@pytest.fixture
def tiny(monkeypatch):
    """Fewer sets and works, enough to run every line."""
    monkeypatch.setattr(tasks, "FEWEST_ROWS", 60)
    for name in ("TWO", "MANY", "RANKS", "LABELS"):
        monkeypatch.setattr(costs_sets, name, getattr(costs_sets, name)[:1])
    monkeypatch.setattr(costs_sets, "ORDINAL", ("abalone",))
    monkeypatch.setattr(costs, "WORKS", costs.WORKS[1:2])
    for name in ("PEERS", "PER_LABEL"):
        monkeypatch.setattr(costs, name, [getattr(costs, name)[i] for i in (0, 2, 4)])


# --------------------------------------------------------------------------------------------------------------- average costs


@pytest.mark.parametrize("reject", [None, 0.7])
def test_the_decision_is_the_cheapest_of_all(reject):
    rng = np.random.default_rng(0)
    loss = ClassCosts("drawn", rng.uniform(0, 3, (4, 4)) * (1 - np.eye(4)), reject)
    P = rng.dirichlet(np.ones(4), 50)
    answers = [*range(4), *([] if reject is None else [REJECTED])]
    expected = [
        [sum(p[i] * loss.row_costs(np.array([answer]), np.array([i]))[0] for i in range(4)) for answer in answers] for p in P
    ]
    decided = loss.decide(P)
    assert [answers[i] for i in np.argmin(expected, axis=1)] == decided.tolist()
    assert (REJECTED in decided) == (reject is not None)


@pytest.mark.parametrize("loss", [LabelCosts("", 5.0), LabelCosts("", 0.2), LabelF1()], ids=lambda loss: type(loss).__name__)
def test_the_decision_on_sets_is_the_cheapest_of_all(loss):
    P = np.random.default_rng(1).uniform(0, 1, (20, 4)) ** 2
    sets = np.array(list(product([0, 1], repeat=4)))
    chances = np.prod(np.where(sets[None], P[:, None], 1 - P[:, None]), axis=2)
    incurred = np.array([loss.row_costs(np.tile(chosen, (16, 1)), sets) for chosen in sets])
    np.testing.assert_array_equal(loss.decide(P), sets[(chances @ incurred.T).argmin(axis=1)])


def test_costs_of_label_sets():
    y, predicted = np.array([[1, 1, 0, 0], [0, 0, 0, 0], [0, 1, 1, 1]]), np.array([[1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 1, 0]])
    np.testing.assert_allclose(LabelCosts("", 5.0).row_costs(predicted, y), [6 / 4, 0, 5 / 4])
    assert [LabelCosts("", 5.0)(1, 1, 1, 1), LabelCosts("", 0.2)(2, 0, 1, 1)] == [6 / 4, 0.2 / 4]
    scores = [f1_score(*row, zero_division=1) for row in zip(y, predicted, strict=True)]
    np.testing.assert_allclose(1 - LabelF1().row_costs(predicted, y), scores)


def test_a_rejected_row_costs_what_was_said():
    loss = ClassCosts("", np.array([[0.0, 1.0], [5.0, 0.0]]), reject=0.3)
    assert loss.row_costs(np.array([0, 1, REJECTED, 0]), np.array([1, 0, 1, 0])).tolist() == [5.0, 1.0, 0.3, 0.0]


def test_probabilities_that_are_right_are_calibrated():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=20_000)
    y = (rng.random(20_000) < p).astype(int)
    two = np.column_stack([1 - p, p])
    sure = two**3 / (two**3).sum(axis=1, keepdims=True)
    assert prediction_costs.calibration_error(two, y) < 0.02 < 0.1 < prediction_costs.calibration_error(sure, y)
    assert prediction_costs.log_loss(two, y) == pytest.approx(0.5, abs=0.01)  # the entropy's mean
    assert prediction_costs.log_loss(p[:, None], y[:, None]) == pytest.approx(prediction_costs.log_loss(two, y))
    assert np.isfinite(prediction_costs.log_loss(np.array([[1.0, 0.0]]), np.array([1])))


# ------------------------------------------------------------------------------------------------------------------ who decides


def test_deciders_heed_the_costs():
    X, y = gaussian_classes(600, 5, 2, distance=1.5)
    split, losses = (X[:400], y[:400], X[400:], y[400:]), list(prediction_costs.both_ways((10.0,)))
    peers = (ByProbabilities(SklearnLogisticRegression()), ByProbabilities(SklearnLogisticRegressionCV()))
    for decider in (*peers, ByCut(), ByItself(Ours())):
        found = decider.decide(split, losses, Task(2))
        ones = [predicted.mean() for predicted in found.predicted]
        assert ones[0] > 0.7 > 0.3 > ones[1], decider.name
        assert (found.probabilities is None) == isinstance(decider, ByCut)


def test_a_cut_does_not_reject():
    X, y = gaussian_classes(200, 5, 2)
    assert ByCut().decide((X, y, X, y), [prediction_costs.ClassCosts("", 1 - np.eye(2), 0.2)], Task(2)).predicted == [None]


def test_our_estimators_reject():
    X, y = gaussian_classes(400, 5, 3, distance=1.5)
    for decision in (None, "learned"):
        decider = ByItself(Ours(decision=decision), has_probabilities=False)
        found = decider.decide((X, y, X, y), [*prediction_costs.rejecting([prediction_costs.zero_one(3)], (0.1,))], Task(3))
        share = (found.predicted[0] == REJECTED).mean()
        assert (0.2 < share < 1 if decision is None else share == 0) and found.probabilities is None


@pytest.mark.skipif(not LightGBMClassifier().installed, reason="LightGBM is optional")
def test_the_optional_adapter_has_probabilities():
    X, y = gaussian_classes(300, 5, 3, distance=8.0)
    model = LightGBMClassifier().fit(LightGBMClassifier().make(Task(3)), X, y)
    assert (model.predict_proba(X).argmax(axis=1) == y).mean() > 0.9


# ----------------------------------------------------------------------------------------------------------------------- sets


def test_classes_with_too_few_rows_are_left_out():
    y = np.repeat([0, 1, 2, 3], [9, 4, 8, 5])
    X, y, X_test, y_test = costs_sets.common((np.arange(26.0), y, np.arange(4.0), np.arange(4)))
    assert np.bincount(y).tolist() == [9, 8, 5] and y_test.tolist() == [0, 1, 2] and X_test.tolist() == [0, 2, 3] and len(X) == 22


def test_labels_with_too_few_rows_are_left_out():
    Y = (np.arange(20)[:, None] < [4, 5, 15, 16]).astype(int)
    split = costs_sets.common((np.zeros((20, 1)), Y, np.zeros((1, 1)), np.ones((1, 4), dtype=int)))
    assert split[1].sum(axis=0).tolist() == [5, 15] and split[3].shape == (1, 2)


def test_splits_are_standardised_and_as_many_as_asked_for():
    X, y = gaussian_classes(300, 4, 2)
    made = costs_sets.random_splits(Dataset("", 3 + 2 * X, y), Options(seeds=3), train_size=costs_sets.FEW_ROWS)
    assert len(made.splits) == 3 and {len(split[1]) for split in made.splits} == {100}
    np.testing.assert_allclose([split[0].mean() for split in made.splits], 0, atol=1e-12)


# --------------------------------------------------------------------------------------------------------------------- tables


def test_ratios_exist_if_the_peer_costs_nothing():
    found = Found(
        cheapest={("q", "a"): 0.01, ("q", "b"): 0.01},
        costs={("q", "a"): {PEER.name: 0.0, OURS: 0.01}, ("q", "b"): {PEER.name: 0.0}},
    )
    assert found.ratio("q", "a", OURS) == 2 and found.ratio("q", "b", OURS) is None
    assert costs.by_name("q", {"set": found}, OURS) == {"set": 2.0} and costs.by_name("q", {"set": found}, "else") == {}


def test_the_suite_on_given_data(tmp_path, tiny):
    (tmp_path / "load.py").write_text(LOAD)
    first, *rest = costs.run(Options(repeats=1, seeds=1, scale=0.001, data=tmp_path))
    *by_set, log_losses, times = rest
    questions = list(dict.fromkeys(row[0] for row in first.rows))
    assert [table.title for table in by_set] == [f"Average cost: {question}" for question in questions] and len(questions) == 7
    for table in (first, *rest):
        assert table.rows and {len(row) for row in table.rows} == {len(table.columns)}
    assert {row[1] for row in first.rows} >= {PEER.name, ByCut.name, OURS, BEFORE}
    assert all(row[3] == 1 for row in first.rows if row[1] == PEER.name)
    probable = {family.name for family in costs.families()}
    assert all((row[6] is None) == (row[1] in (ByCut.name, BEFORE) or row[0] not in probable) for row in first.rows)
    assert {"a9a", "elec2", "letter, one or not"} <= {row[0] for row in by_set[0].rows}
    sets = ["generated, 1000 x 20, 5 labels", "emotions", "yeast"]
    assert [row[0] for row in by_set[-1].rows] == [*sets, *["geometric mean"] * 4, "worst set", ABOVE]
    assert {row[2] for row in times.rows} >= {PEER.name, OURS, BEFORE} and times.rows[-1][5] == "1 (1-1)"
    assert {row[0] for row in log_losses.rows} == probable


def test_what_is_not_installed_is_left_out(monkeypatch):
    monkeypatch.setattr(Contestant, "installed", property(lambda contestant: contestant.module != "lightgbm"))
    names = [decider.name for family in costs.families() for decider in family.deciders]
    assert LightGBMClassifier.name not in names and OURS in names
    assert LightGBMClassifier.name not in [peer.name for peer in costs.WORKS[-1].peers()]
