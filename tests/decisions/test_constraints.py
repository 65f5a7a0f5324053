"""Decisions of lowest cost within bounds of measures."""

import itertools
import pickle

import numpy as np
import pytest
from cases import make_data
from scipy.optimize import linprog
from scipy.stats import binomtest
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.metrics import confusion_matrix, precision_score, recall_score
from sklearn.model_selection import GridSearchCV

import sklearn_predtron
from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
)
from sklearn_predtron.decisions import AtLeast, AtMost, ExpectedCost
from sklearn_predtron.decisions._constraints import (
    Measured,
    Path,
    best_of_many,
    best_of_two,
    constraint_table,
    multipliers,
    p_broken,
)
from sklearn_predtron.decisions._promises import EncodedPromise
from sklearn_predtron.losses import Reject
from tests.own_checks import frozen

X, Y = make_classification(1200, class_sep=0.5, weights=[0.8], random_state=0)
RECALL = [AtLeast("recall", 0.9, label=1)]


def drawn(seed, n=40, k=2, reject=False, digits=2):
    """Rows whose labels are drawn from their probabilities."""
    random = np.random.default_rng(seed)
    p = random.dirichlet(np.ones(k), n).round(digits)
    p /= p.sum(axis=1, keepdims=True)
    codes = (p.cumsum(axis=1) < random.random(n)[:, None]).sum(axis=1).clip(0, k - 1)
    costs = random.integers(1, 5, (k, k)) * (1 - np.eye(k))
    costs = np.column_stack([costs, np.full(k, 0.6)]) if reject else costs
    return Measured(p, codes, random.integers(1, 3, n).astype(float), costs, costs)


def test_measures_are_those_of_scikit_learn():
    rows = drawn(0, k=3, reject=True)
    predicted = np.random.default_rng(1).integers(0, 4, 40)
    named = {"y_true": rows.codes, "y_pred": predicted, "labels": [1], "average": None, "sample_weight": rows.weight}
    others, weight = rows.codes != 1, rows.weight
    answered = predicted < 3
    expected = {
        "recall": recall_score(**named)[0],
        "precision": precision_score(**named)[0],
        "false_positive_rate": np.average(predicted[others] == 1, weights=weight[others]),
        "predicted_rate": np.average(predicted == 1, weights=weight),
        "abstention_rate": np.average(predicted[~others] == 3, weights=weight[~others]),
        "risk": np.average(rows.costs[1, predicted][answered & ~others], weights=weight[answered & ~others]),
    }
    for measure, value in expected.items():
        for at_least in (False, True):
            one = EncodedPromise(at_least, measure, 0.3, label=1)
            (hits,), (total,) = Path(rows, predicted).parts(one)
            assert hits / total == pytest.approx(value)
            slack = weight @ constraint_table(one, rows.costs)[rows.codes, predicted]
            assert (slack <= 0) == (value >= 0.3 if at_least else value <= 0.3)
            assert one.parts(rows.costs)[0].shape == (3, 4)


@pytest.mark.parametrize("confidence", [None, 0.9])
@pytest.mark.parametrize(
    "constraints",
    [
        (EncodedPromise(True, "recall", 0.8, label=1),),
        (EncodedPromise(False, "false_positive_rate", 0.3, label=1),),
        (EncodedPromise(False, "predicted_rate", 0.4, label=1), EncodedPromise(True, "precision", 0.5, label=1)),
        (EncodedPromise(False, "risk", 0.6), EncodedPromise(True, "recall", 0.6, label=0)),
    ],
    ids=str,
)
def test_of_two_classes_no_threshold_costs_less(constraints, confidence):
    for seed in range(20):
        rows = drawn(seed)
        costs, outcome = best_of_two(rows, constraints, confidence)
        p = rows.probabilities[:, 1]
        others = [rows.outcome(constraints, (p >= cut).astype(int), confidence) for cut in [*np.unique(p), 2.0]]
        kept = [other.cost for other in others if other.kept]
        assert outcome.kept == bool(kept)
        if kept:
            assert outcome.cost == pytest.approx(min(kept))
        decided = (rows.probabilities @ costs).argmin(axis=1)
        assert rows.outcome(constraints, decided, confidence) == outcome


def test_a_confidence_is_that_of_a_binomial_test():
    rows = drawn(3, n=200)._replace(weight=np.ones(200))
    constraint = EncodedPromise(True, "recall", 0.7, label=1)
    positives = int((rows.codes == 1).sum())
    for cut in np.linspace(0, 1, 21):
        predicted = (rows.probabilities[:, 1] >= cut).astype(int)
        hits = int((predicted[rows.codes == 1] == 1).sum())
        shown = binomtest(hits, positives, 0.7, "greater").pvalue <= 0.1
        assert rows.outcome((constraint,), predicted, 0.9).kept == shown


@pytest.mark.parametrize("reject", [False, True])
def test_multipliers_are_those_of_the_linear_program(reject):
    """Of decisions at random: the largest value of the dual is the lowest expected cost within the bounds."""
    for seed in range(6):
        rows = drawn(seed, n=25, k=3, reject=reject)
        tables = [
            constraint_table(EncodedPromise(True, "recall", 0.6, label=2), rows.costs),
            constraint_table(EncodedPromise(False, "risk", 0.9), rows.costs),
        ]
        share = rows.weight / rows.weight.sum()
        cost, *limits = ((share[:, None] * (rows.probabilities @ table)).ravel() for table in (rows.costs, *tables))
        one_each = np.kron(np.eye(25), np.ones(rows.costs.shape[1]))
        primal = linprog(cost, limits, np.zeros(2), one_each, np.ones(25))
        found = rows.costs + np.tensordot(multipliers(rows, tables), tables, axes=1)
        value = share @ (rows.probabilities @ found).min(axis=1)
        if primal.success:
            assert value == pytest.approx(primal.fun, abs=1e-4)


def test_of_more_classes_no_multiplier_costs_much_less():
    for seed in range(4):
        rows = drawn(seed, n=3000, k=3, reject=seed % 2 == 1, digits=12)
        constraints = (EncodedPromise(True, "recall", 0.8, label=2),)
        costs, outcome = best_of_many(rows, constraints, None)
        assert outcome.kept and outcome.values[0] >= 0.8
        assert outcome == rows.outcome(constraints, (rows.probabilities @ costs).argmin(axis=1), None)
        table = constraint_table(constraints[0], rows.costs)
        others = [rows.costs + multiplier * table for multiplier in np.linspace(0, 30, 500)]
        tried = [rows.outcome(constraints, (rows.probabilities @ other).argmin(axis=1), None) for other in others]
        assert outcome.cost <= min(other.cost for other in tried if other.kept) + 1e-12


@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_of_several_bounds_no_random_multipliers_cost_much_less(seed):
    rows = drawn(seed, n=1000, k=3, reject=seed % 2 == 1, digits=12)
    constraints = (
        EncodedPromise(True, "recall", 0.8, label=2),
        EncodedPromise(True, "precision", 0.6, label=0),
        EncodedPromise(False, "risk", 1.3),
    )
    costs, outcome = best_of_many(rows, constraints, None)
    assert outcome.kept and outcome == rows.outcome(constraints, (rows.probabilities @ costs).argmin(axis=1), None)
    tables, random = [constraint_table(one, rows.costs) for one in constraints], np.random.default_rng(seed)
    others = [rows.costs + np.tensordot(random.exponential(3, 3) ** 2, tables, axes=1) for _ in range(1000)]
    tried = [rows.outcome(constraints, (rows.probabilities @ other).argmin(axis=1), None) for other in others]
    assert outcome.cost <= 1.02 * min((other.cost for other in tried if other.kept), default=np.inf)


@pytest.mark.parametrize("unit", [2.0**-320, 2.0**320])
@pytest.mark.parametrize("k", [2, 3])
def test_the_unit_of_costs_changes_nothing(unit, k):
    for seed in range(4):
        rows = drawn(seed, n=300, k=k)
        found = []
        for scale in (1.0, unit):
            scaled = rows._replace(costs=scale * rows.costs, losses=scale * rows.losses)
            constraints = (EncodedPromise(False, "risk", 0.5 * scale), EncodedPromise(True, "recall", 0.6, label=0))
            _, outcome = (best_of_two if k == 2 else best_of_many)(scaled, constraints, None)
            found.append([outcome.cost / scale, float(outcome.kept), *outcome.rows, outcome.values[1]])
            assert outcome.kept == (outcome.values[0] <= 0.5 * scale * (1 + 1e-8) and outcome.values[1] >= 0.6)
        assert found[0] == pytest.approx(found[1], rel=1e-9)


def test_an_undefined_measure_hides_no_other_bound():
    """Under cheap abstention no row is predicted at first, and the precision is undefined."""
    random = np.random.default_rng(7)
    y = (random.random(3000) < 0.35).astype(int)
    Z = random.standard_normal((3000, 4)) + np.outer(y, [1.5, 0, 0, 0])
    bounds = [AtLeast("precision", 0.5, label=1), AtLeast("recall", 0.3, label=0)]
    model = PredtronBinaryClassifier(reject=0.02, decision=ExpectedCost(subject_to=bounds), random_state=0).fit(Z, y)
    assert all(result.kept for result in model.bounds_)
    stream = PredtronBinaryClassifier(reject=0.02, decision=ExpectedCost(subject_to=bounds)).partial_fit(Z, y, classes=[0, 1])
    assert all(result.kept for result in stream.bounds_) and (stream.predict(Z)[y == 0] == 0).mean() > 0.25
    impossible = [AtLeast("precision", 0.99, label=1), AtLeast("recall", 0.9, label=1), AtLeast("recall", 0.3, label=0)]
    stream.set_params(decision__subject_to=impossible)
    with pytest.warns(UserWarning, match="no decision was found"):
        assert stream.bounds_[2].value > 0.2


def test_an_estimator_keeps_its_bounds_on_held_out_rows():
    plain = PredtronBinaryClassifier(random_state=0).fit(X, Y)
    model = PredtronBinaryClassifier(decision=ExpectedCost(subject_to=RECALL), random_state=0).fit(X, Y)
    scores, labels, _, _ = model._model.learner.observer.marked()
    second = scores[:, 0] - model.threshold_ > 0
    assert 0.9 <= second[labels[:, 0] == 1].mean() < 0.95
    assert recall_score(Y, model.predict(X)) > recall_score(Y, plain.predict(X)) + 0.05
    assert set(model.held_out_loss_) and model.predict_proba(X).shape == (1200, 2)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)


def test_bounds_that_cannot_be_kept_are_refused_and_nothing_is_changed():
    bounds = [AtLeast("recall", 0.97, label=1), AtLeast("precision", 0.97, label=1)]
    model = PredtronBinaryClassifier(random_state=0).fit(X, Y)
    before = frozen(model)
    model.set_params(decision=ExpectedCost(subject_to=bounds))
    with pytest.raises(ValueError, match=r"^decision\.subject_to: no decision .* AtLeast\('recall', 0\.97, label=1\) \("):
        model.fit(X, Y)
    assert frozen(model.set_params(decision=None)) == before


def test_more_classes_ranks_and_abstention():
    Z, y = make_data(3, n=400, noise=2.0)
    for kind in (PredtronClassifier, PredtronOrdinalClassifier):
        decision = ExpectedCost(subject_to=[AtLeast("recall", 0.85, label=2), AtMost("abstention_rate", 0.15)])
        plain = kind(reject=Reject(0.3, -1), random_state=0).fit(Z, y)
        model = kind(reject=Reject(0.3, -1), decision=decision, random_state=0).fit(Z, y)
        found, before = (one.predict(Z) for one in (model, plain))
        assert (before == -1).mean() > 0.2 > (found == -1).mean() > 0
        assert (found[y == 2] == 2).mean() > 0.8 > (before[y == 2] == 2).mean()


def test_saved_changed_and_searched(tmp_path):
    model = PredtronBinaryClassifier(decision=ExpectedCost(subject_to=RECALL, confidence=0.9), random_state=0).fit(X, Y)
    model.save(tmp_path / "model")
    for other in (pickle.loads(pickle.dumps(model)), sklearn_predtron.load(tmp_path / "model")):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        np.testing.assert_array_equal(other.partial_fit(X, Y).predict(X), copied(model).partial_fit(X, Y).predict(X))
    found = model.predict(X).mean()
    model.set_params(decision__subject_to=[AtLeast("recall", 0.96, label=1)])
    assert model.predict(X).mean() > found
    decisions = [ExpectedCost(subject_to=[AtLeast("recall", bound, label=1)]) for bound in (0.6, 0.95)]
    search = GridSearchCV(PredtronBinaryClassifier(random_state=0), {"decision": decisions}, scoring="recall", cv=2).fit(X, Y)
    assert search.best_params_["decision"] is not None and search.best_score_ > 0.9


def copied(model):
    return pickle.loads(pickle.dumps(model))


def test_a_stream_has_the_same_decisions_however_it_is_split():
    decision, found = ExpectedCost(subject_to=[AtLeast("recall", 0.95, label=1)]), []
    for size in (1, 8, 600):
        model = PredtronBinaryClassifier(decision=decision)
        for first in range(0, 600, size):
            model.partial_fit(X[first : first + size], Y[first : first + size], classes=[0, 1])
        found.append(model.predict(X))
    for one, other in itertools.pairwise(found):
        np.testing.assert_array_equal(one, other)
    assert recall_score(Y[600:], found[0][600:]) > 0.85


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"decision": ExpectedCost(subject_to=["recall"])}, r"subject_to=\['recall'\] must hold AtMost"),
        ({"decision": ExpectedCost(subject_to=RECALL[0])}, "The 'subject_to' parameter of ExpectedCost"),
        ({"decision": ExpectedCost(subject_to=RECALL, confidence=1.0)}, "The 'confidence' parameter of ExpectedCost"),
        (
            {"decision": ExpectedCost(subject_to=[AtLeast("recall", 0.9, label=7)])},
            r"decision\.subject_to names 7",
        ),
        ({"decision": ExpectedCost(subject_to=[AtLeast("recall", 0.9, label=1, group="a")])}, "groups are for `certify`"),
        ({"decision": ExpectedCost(subject_to=[AtMost("abstention_rate", 0.1)])}, "reject=None never abstains"),
        ({"decision": ExpectedCost(subject_to=RECALL), "reject": Reject(rate=0.1)}, r"does not go with reject\.rate=0\.1"),
        ({"decision": ExpectedCost(subject_to=RECALL), "reject": Reject(risk=0.1)}, r"does not go with reject\.risk=0\.1"),
    ],
    ids=str,
)
def test_what_is_refused(parameters, message):
    model = PredtronBinaryClassifier(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    assert not model.__sklearn_is_fitted__()


def test_a_risk_is_in_units_of_the_loss():
    """Class weights change the decision, and not what is measured."""
    bounds = [AtMost("risk", 0.13)]
    model = PredtronBinaryClassifier(decision=ExpectedCost(subject_to=bounds), class_weight={0: 1, 1: 5}, random_state=0).fit(
        X, Y
    )
    plain = PredtronBinaryClassifier(decision="expected_cost", class_weight={0: 1, 1: 5}, random_state=0).fit(X, Y)
    assert (plain.predict(X) != Y).mean() > 0.15
    scores, labels, _, _ = model._model.learner.observer.marked()
    assert 0.1 < ((scores[:, 0] - model.threshold_ > 0) != labels[:, 0]).mean() <= 0.13


def test_costs_of_rows_do_not_override_bounds():
    model = PredtronBinaryClassifier(decision=ExpectedCost(subject_to=RECALL), random_state=0).fit(X, Y)
    ones = np.repeat(1.0 - np.eye(2)[None], 1200, axis=0)
    for call in (lambda: model.predict(X, costs=ones), lambda: model.sample_loss(X, Y, costs=ones)):
        with pytest.raises(ValueError, match=r"^costs of rows do not go with decision\.subject_to=\[AtLeast"):
            call()


def test_wider_bounds_are_kept_where_stricter_ones_are():
    Z, y = make_data(3, n=400, noise=2.0)
    kept = []
    for bound in (0.02, 0.05, 0.1, 0.15, 0.2, 0.3):
        decision = ExpectedCost(subject_to=[AtMost("risk", bound)])
        try:
            kept.append(PredtronClassifier(reject=0.3, decision=decision, random_state=0).fit(Z, y).t_ > 0)
        except ValueError:
            kept.append(False)
    assert kept == sorted(kept) and kept[-2:] == [True, True]


def test_a_measure_of_no_rows_is_not_kept():
    rows, constraints = drawn(0), (EncodedPromise(True, "precision", 0.5, label=1),)
    nothing = rows.outcome(constraints, np.zeros(40, dtype=int), None)
    assert not nothing.kept and np.isnan(nothing.values[0]) and nothing.rows == (0.0,)
    assert best_of_two(rows, constraints, None)[1].rows[0] > 0


def test_the_unit_of_weights_changes_nothing():
    decision, found = ExpectedCost(subject_to=RECALL, confidence=0.9), []
    for weight in (None, np.full(1200, 0.5), np.full(1200, 64.0)):
        model = PredtronBinaryClassifier(decision=decision, random_state=0).fit(X, Y, sample_weight=weight)
        found.append(model.predict(X))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_bounds_that_are_not_kept_are_said_after_fit():
    model = PredtronBinaryClassifier(random_state=0).fit(X, Y)
    model.set_params(decision=ExpectedCost(subject_to=[AtLeast("recall", 0.97, label=1), AtLeast("precision", 0.97, label=1)]))
    with pytest.warns(UserWarning, match="no decision was found that keeps all bounds"):
        model.predict(X)


def test_labels_of_sets(tmp_path):
    Z, sets = make_multilabel_classification(1500, n_classes=4, random_state=0)
    bounds = [AtLeast("recall", 0.9, label=1), AtMost("predicted_rate", 0.2, label=3)]
    fixed = {"max_iter": 10, "random_state": 0}
    plain = PredtronMultilabelClassifier(decision="expected_cost", **fixed).fit(Z[:1000], sets[:1000])
    model = PredtronMultilabelClassifier(decision=ExpectedCost(subject_to=bounds), **fixed).fit(Z[:1000], sets[:1000])
    found, before = (one.predict(Z[1000:]) for one in (model, plain))
    np.testing.assert_array_equal(found[:, [0, 2]], before[:, [0, 2]])
    recall = recall_score(sets[1000:, 1], found[:, 1])
    assert (
        recall > 0.87 and recall > recall_score(sets[1000:, 1], before[:, 1]) and found[:, 3].mean() < 0.23 < before[:, 3].mean()
    )
    model.save(tmp_path / "model")
    for other in (pickle.loads(pickle.dumps(model)), sklearn_predtron.load(tmp_path / "model")):
        np.testing.assert_array_equal(other.predict(Z), model.predict(Z))
    with pytest.raises(ValueError, match="does not go with loss='f1', which is no sum of costs of labels"):
        PredtronMultilabelClassifier(loss="f1", decision=ExpectedCost(subject_to=bounds)).fit(Z, sets)
    refused = {"accepted of label sets are recall": AtMost("risk", 0.1), "names 7": AtLeast("recall", 0.9, label=7)}
    for message, wrong in refused.items():
        with pytest.raises(ValueError, match=message):
            PredtronMultilabelClassifier(decision=ExpectedCost(subject_to=[wrong])).fit(Z, sets)


def negative_predictive_value(matrix):
    """Return the share of the first class among the rows that are predicted as such."""
    return matrix[0, 0] / matrix[:, 0].sum()


def no_number(matrix):
    return "high"


def test_a_function_gets_the_confusion_matrix_at_all_thresholds():
    for seed in range(10):
        rows = drawn(seed)
        bound = EncodedPromise(True, "a function", 0.8, function=negative_predictive_value)
        costs, outcome = best_of_two(rows, (bound,), None)
        p, tried = rows.probabilities[:, 1], []
        for cut in [*np.unique(p), 2.0]:
            predicted = (p >= cut).astype(int)
            matrix = confusion_matrix(rows.codes, predicted, sample_weight=rows.weight, labels=[0, 1])
            with np.errstate(invalid="ignore"):
                if negative_predictive_value(matrix) >= 0.8:
                    tried.append(np.average(rows.costs[rows.codes, predicted], weights=rows.weight))
        assert outcome.kept == bool(tried)
        if tried:
            assert outcome.cost == pytest.approx(min(tried))
            predicted = (rows.probabilities @ costs).argmin(axis=1)
            assert precision_score(rows.codes, predicted, pos_label=0, sample_weight=rows.weight) >= 0.8


def test_estimators_have_the_values_that_their_bounds_reached():
    bounds = [AtLeast(negative_predictive_value, 0.92), AtMost("predicted_rate", 0.8, label=1)]
    model = PredtronBinaryClassifier(decision=ExpectedCost(subject_to=bounds), random_state=0).fit(X, Y)
    scores, labels, _, _ = model._model.learner.observer.marked()
    second, true = scores[:, 0] - model.threshold_ > 0, labels[:, 0]
    found, rate = model.bounds_
    assert (found.promise, found.kept, found.n_rows) == (bounds[0], True, len(true)) and np.isnan(found.p_value)
    assert found.value == pytest.approx(precision_score(true, second, pos_label=0)) and found.value >= 0.92
    assert rate.value == pytest.approx(second.mean())
    assert rate.p_value == pytest.approx(binomtest(int(second.sum()), len(second), 0.8, "less").pvalue)
    again = pickle.loads(pickle.dumps(model))
    assert again.bounds_[1] == rate and (again.predict(X) == model.predict(X)).all()
    sets, labels = make_multilabel_classification(300, n_classes=3, random_state=0)
    several = PredtronMultilabelClassifier(decision=ExpectedCost(subject_to=[AtLeast("recall", 0.8, label=2)]), random_state=0)
    (recall,) = several.fit(sets, labels).bounds_
    assert recall.kept and recall.n_rows == labels[:, 2].sum()
    stream = PredtronBinaryClassifier(decision=ExpectedCost(subject_to=RECALL)).partial_fit(X, Y, classes=[0, 1])
    assert stream.bounds_[0].value >= 0.9
    assert not hasattr(PredtronBinaryClassifier().fit(X, Y), "bounds_")


@pytest.mark.parametrize("seed", range(3))
def test_results_of_bounds_are_of_all_held_out_rows_that_chose_the_decision(seed):
    """More rows are held out than a model keeps: a `fit` that raises nothing keeps each bound."""
    Z, y = make_data(2, n=4000, noise=0.5, seed=seed)
    bounds = [AtMost("predicted_rate", 0.25, label=1)]
    model = PredtronBinaryClassifier(decision=ExpectedCost(subject_to=bounds), random_state=0).fit(Z, y)
    (found,) = model.bounds_
    assert found.kept and found.n_rows == 4000 and found.value <= 0.25
    assert pickle.loads(pickle.dumps(model)).bounds_ == (found,)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"decision": ExpectedCost(subject_to=[AtLeast(no_number, 0.9)])}, "no_number returned 'high' for the confusion matrix"),
        (
            {"decision": ExpectedCost(subject_to=[AtLeast(negative_predictive_value, 0.9)], confidence=0.9)},
            r"confidence=0\.9 does not go with AtLeast\(negative_predictive_value, 0\.9\), a function, which has no test",
        ),
        (
            {"decision": ExpectedCost(subject_to=[AtLeast(negative_predictive_value, 0.9)]), "reject": Reject(0.2)},
            "a function, which goes with reject=None alone",
        ),
    ],
)
def test_functions_that_are_not_accepted(parameters, message):
    with pytest.raises(ValueError, match=message):
        PredtronBinaryClassifier(**parameters).fit(X, Y)


def test_a_single_label_is_label_zero():
    sets, labels = make_multilabel_classification(100, n_classes=1, random_state=0)
    model = PredtronMultilabelClassifier(decision=ExpectedCost(subject_to=[AtLeast("recall", 0.8, label="ill")]))
    with pytest.raises(ValueError, match=r"names 'ill', which is none of the labels \[0\]\.  A single label is label 0"):
        model.fit(sets, labels.ravel())


def test_functions_are_for_two_classes_and_not_for_certificates():
    bound = AtLeast(negative_predictive_value, 0.9)
    with pytest.raises(ValueError, match="for 3 classes; a function is accepted for two classes"):
        PredtronClassifier(decision=ExpectedCost(subject_to=[bound])).fit(X, np.arange(len(Y)) % 3)
    model = PredtronBinaryClassifier(reject=Reject(risk=0.2), random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"a function goes with ExpectedCost\(subject_to=\.\.\.\), and accepted here"):
        model.certify(X, Y, [bound])


def test_a_bound_of_unequal_losses_is_tested_more_weakly():
    """By e times the binomial p-value (Bentkus 2004), which is exact if mistakes cost the same."""
    risk = EncodedPromise(False, "risk", 0.5)
    for costs, factor in ((np.array([[0.0, 1.0], [1.0, 0.0]]), 1.0), (np.array([[0.0, 1.0], [4.0, 0.0]]), np.e)):
        found = p_broken(risk, np.array([12.0]), np.array([60.0]), costs)[0]
        exact = binomtest(int(12 / costs.max()), 60, 0.5 / costs.max(), alternative="less").pvalue
        assert found == pytest.approx(factor * exact, rel=1e-9) and found < 1
