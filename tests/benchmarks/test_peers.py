"""What is compared does the same work, peers learn what is there to learn, and our parts agree with theirs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import bare
from benchmarks.contestants import (
    CONTESTANTS,
    KERNEL_CONTESTANTS,
    LABEL_RANKING_CONTESTANTS,
    MULTILABEL_CONTESTANTS,
    ORDINAL_CONTESTANTS,
    RANKING_CONTESTANTS,
    TABLE_CONTESTANTS,
    TAGGING_CONTESTANTS,
    AssignmentSolver,
)
from benchmarks.paper import by_index, figure1
from benchmarks.suites import inference, joint, label_ranking, multilabel, predict, promises_monitor, ranking
from benchmarks.suites.fits import perceptrons
from benchmarks.tasks import Task, gaussian_classes, gaussian_ranks, graded_queries, label_sets, rings, text
from sklearn_predtron import Predtron
from sklearn_predtron.datasets import make_sequences
from sklearn_predtron.estimator_checks import check_problem
from sklearn_predtron.metrics import CostMonitor
from sklearn_predtron.problems.inference._ranking_inference import Inference


def fitted(contestant, task, X, *labels):
    return contestant.predict(contestant.fit(contestant.make(task), X, *labels), X)


def classes(contestant):
    X, y = gaussian_classes(240, 8, 4, distance=8.0)
    return (fitted(contestant, Task(4, epochs=5), X, y) == y).mean() - 0.8


def stream(contestant):
    X, y = gaussian_classes(120, 8, 4, distance=8.0)
    task = Task(4)
    model = contestant.make(task)
    first, *others = rows = contestant.convert(model, X, y)
    contestant.start(model, first, task)
    for row in others:
        contestant.take(model, row)
    return np.mean([int(np.ravel(contestant.guess(model, row))[0]) for row in rows] == y) - 0.8


def ranks(contestant):
    X, y = gaussian_ranks(400, 4, 5, signal=8.0)
    return 0.4 - np.abs(fitted(contestant, Task(5), X, y) - y).mean()


def sets(contestant):
    X, y = gaussian_classes(300, 8, 4, distance=12.0)
    Y = np.column_stack([y == 0, y == 1, y != 2]).astype(int)
    return (fitted(contestant, Task(3), X, Y) == Y).mean() - 0.9


def curves(contestant):
    X, y = rings(400, 3)
    return (fitted(contestant, Task(3), X, y) == y).mean() - 0.9


def queries(contestant):
    X, y, qid = graded_queries(60, 15, 4, 5)
    return ranking.query_ndcg(fitted(contestant, Task(5), X, y, qid), y, qid).mean() - 0.85


def label_lists(contestant):
    X, Y, *_ = label_ranking.drawn(400)
    return label_ranking.mean_tau(fitted(contestant, Task(label_ranking.LABELS), X, Y), Y) - 0.3


def sequences(contestant):
    X, y, sid = make_sequences(120, 3, 200, n_active=10, noise=0.3, bio=True, random_state=0)
    given = contestant.convert(X, sid)
    return (contestant.tag(contestant.learn(contestant.load(given, y), 5), given) == y).mean() - 0.9


LEARNERS = {
    classes: [*CONTESTANTS, *(one for one in TABLE_CONTESTANTS if one.name != "ExplainableBoosting")],
    stream: [one for one in CONTESTANTS if one.stream],
    ranks: ORDINAL_CONTESTANTS,
    sets: MULTILABEL_CONTESTANTS,
    curves: KERNEL_CONTESTANTS,
    queries: RANKING_CONTESTANTS,
    label_lists: LABEL_RANKING_CONTESTANTS,
    sequences: TAGGING_CONTESTANTS,
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # LightGBM's
@pytest.mark.parametrize("learned", LEARNERS, ids=lambda learned: learned.__name__)
def test_learners_learn(learned):
    """Each by more than a least share."""
    found = {one.name: learned(one) for one in LEARNERS[learned] if one.installed}
    assert len(found) == sum(one.installed for one in LEARNERS[learned])  # names are their own
    assert min(found.values()) > 0, found


@pytest.mark.parametrize("scaling, data", [(1.0, gaussian_classes(200, 10, 2)), (0.1, text(200, 2, p=500))], ids=["dense", "CSR"])
def test_perceptrons_do_the_same_work(scaling, data):
    task = Task(2, epochs=1, shuffle=False)
    theirs, ours = (contestant.fit(contestant.make(task), *data) for contestant in perceptrons(task, scaling))
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12, atol=1e-12)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-12)


def test_perceptrons_of_labels_do_the_same_work():
    X, Y = label_sets(300, 10, 4)
    task = Task(4, epochs=1, shuffle=False)
    contestants = (multilabel.OURS_PERCEPTRON, multilabel.PERCEPTRON, multilabel.UNCHECKED)
    ours, *theirs = (contestant.fit(contestant.make(task), X, Y) for contestant in contestants)
    for model in theirs:
        assert_allclose(ours.coef_, np.vstack([label.coef_ for label in model.estimators_]), rtol=1e-12, atol=1e-12)
        assert_allclose(ours.intercept_, np.hstack([label.intercept_ for label in model.estimators_]), atol=1e-12)


@pytest.mark.parametrize("k", [2, 10])
@pytest.mark.parametrize("kind", ["float64", "float32", "CSR"])
def test_peers_predict_from_the_same_weights(k, kind):
    X, y = text(300, k, p=500) if kind == "CSR" else gaussian_classes(300, 20, k)
    X = X.astype(np.float32) if kind == "float32" else X
    theirs, ours = predict.same_weights(k, X, y)
    assert_allclose(theirs.decision_function(X), ours.decision_function(X), rtol=1e-4, atol=1e-4)
    assert (theirs.predict(X) == ours.predict(X)).mean() > 0.98 and len(set(ours.predict(X))) > 1


@pytest.mark.skipif(bare.library() is None, reason="There is no C compiler.")
def test_the_bare_loops_take_every_value_once():
    X, w = np.random.default_rng(0).standard_normal((7, 103)), np.random.default_rng(1).standard_normal(103)
    assert_allclose([bare.read(X), bare.scores(X, w)], [X.sum(), (X @ w).sum()], rtol=1e-12)


@pytest.mark.parametrize("csr", [False, True])
def test_the_loop_by_hand_is_the_perceptron(csr):
    data = joint.documents(40, 60, 4, 3.0, 0, csr=csr)
    check_problem(data.problem, list(zip(data.X[:5], data.y[:5], strict=True)))
    by_hand, model = joint.StructuredPerceptron(data.problem), Predtron(data.problem, update="perceptron", average="uniform")
    for _ in range(2):
        by_hand.learn(data.X, data.y)
        model.partial_fit(data.X, data.y)
    assert_allclose(model.last_coef_, by_hand.w, atol=1e-12)
    assert_allclose(model.coef_, by_hand.w - by_hand.total / by_hand.t, atol=1e-12)
    assert by_hand.loss(data.X_test, data.y_test) == pytest.approx(1 - model.score(data.X_test, data.y_test))


@pytest.mark.parametrize("m", [1, 3, 40])
def test_inference_agrees_with_the_assignment_solver(m):
    for grades in inference.RELEVANCES.values():
        given = inference.problems(m, grades, 5)
        ours, theirs = (inference.solve_all(solver, given, 1, None) for solver in (Inference(), AssignmentSolver()))
        assert inference.gap(given, ours, theirs) < 1e-12
        assert all(sorted(positions) == list(range(m)) for positions in ours)
    assert m == 1 or inference.gap(given, ours, [ours[0][::-1], *ours[1:]]) > 1e-3


def test_alarms_are_those_of_the_monitor():
    costs = np.random.default_rng(0).random((20, 400)) < 0.3
    found = promises_monitor.alarms(costs, 0.2)
    for stream, row in zip(costs, found.tolist(), strict=True):
        assert CostMonitor(0.2, confidence=1 - promises_monitor.ERROR).update(stream).alarms_.get(None, 0) == row + 1


def re_sorted(y, competitor):
    """The package's rule: relevance, then the competitor's order."""
    return by_index.positions(np.lexsort((competitor, -y)))


@pytest.mark.parametrize("norm", figure1.NORMS)
@pytest.mark.parametrize("name", figure1.REPRESENTATIONS)
def test_plain_predtron_with_the_rule_of_the_package_is_the_package(norm, name):
    """Where assignments do not tie: in short queries, the first of them, at scores of 0, without equal relevances."""
    X, y, qid, coef = figure1.make_ranking_queries(30, 8, 12, return_coef=True, random_state=0)
    y[:8] = by_index.positions(np.argsort(X[:8] @ coef))
    part = figure1.REPRESENTATIONS[name]
    plain = by_index.PlainPredtron(part, norm, re_sorted).partial_fit(X, y, qid=qid)
    ours = figure1.learner(figure1.RE_SORTED, part, norm).partial_fit(X, y, qid=qid)
    assert_allclose(plain.predict(X), ours.predict(X), rtol=1e-9, atol=1e-12)
    other = by_index.PlainPredtron(part, norm).partial_fit(X, y, qid=qid)
    assert np.abs(other.predict(X) - ours.predict(X)).max() > 0.01
