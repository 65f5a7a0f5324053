from functools import partial

import numpy as np
import pytest

from benchmarks import tasks
from benchmarks.contestants import CONTESTANTS, KERNEL_CONTESTANTS, GaussianSVC, NystroemOurs, Ours, OursOrdinal
from benchmarks.suites import kernels
from benchmarks.suites.kernels import BUDGETED, LINEAR, OURS, SVC, Kept, MadeUp, Trial
from benchmarks.tasks import Options, Task, arcs, gaussian_classes, radial_ranks, rings
from sklearn_predtron.norms import RKHS

TINY = Options(repeats=1, seeds=2, scale=0.001)
LOAD = """
import numpy as np


def table(family, name):
    X = np.random.default_rng(0).standard_normal((300, 5))
    return X, np.where(X[:, 0] > 0, "A", "B")
"""


@pytest.mark.parametrize("contestant", KERNEL_CONTESTANTS, ids=[contestant.name for contestant in KERNEL_CONTESTANTS])
@pytest.mark.parametrize("k", [2, 3])
def test_adapter_fits_what_is_not_linear(contestant, k):
    X, y = rings(400, k)
    found = {learner.name: learner.predict(learner.fit(learner.make(Task(k)), X, y), X) for learner in (contestant, Ours())}
    assert (found[contestant.name] == y).mean() > 0.9
    assert (found["ours"] == y).mean() < 0.7


def test_adapters_have_names_of_their_own():
    contestants = [*CONTESTANTS, *KERNEL_CONTESTANTS]
    assert len({contestant.name for contestant in contestants}) == len(contestants)


def test_approximate_features_are_as_many_as_asked_for_or_as_there_are_rows():
    X, y = rings(60, 3)
    for components, width in ((20, 20), (500, 60)):
        contestant = NystroemOurs(components, gamma=0.5, linear=OursOrdinal())
        nystroem, linear = (step for _, step in contestant.fit(contestant.make(Task(3)), X, y).steps)
        assert (nystroem.gamma, linear.n_features_in_) == (0.5, width)
        assert isinstance(linear, OursOrdinal().family(Task(3)))


def test_gamma_of_svc_is_scale_by_default():
    X, y = rings(60, 3)
    found, stated = (
        contestant.fit(contestant.make(Task(3)), X, y) for contestant in (GaussianSVC(), GaussianSVC(1 / (2 * X.var())))
    )
    np.testing.assert_allclose(found.decision_function(X), stated.decision_function(X))


def test_made_up_sets():
    X, y = rings(40, 4, noise=0)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), y + 1)
    X, y = arcs(40, 4, noise=0)
    centres = np.column_stack([1.25 * y, 0.5 * (y % 2)])
    np.testing.assert_allclose(np.linalg.norm(X - centres, axis=1), 1)
    assert (((X - centres)[:, 1] > 0) == (y % 2 == 0)).all()
    X, y = radial_ranks(100, 3, 5, noise=0)
    assert np.bincount(y).tolist() == [20] * 5
    assert (np.diff(y[np.linalg.norm(X, axis=1).argsort()]) >= 0).all()


def test_half_of_a_made_up_set_is_held_out():
    X, y, X_test, y_test = MadeUp("rings", partial(rings, k=2), rows=100).split(3, Options())
    drawn = rings(200, 2, seed=3)
    np.testing.assert_array_equal(np.concatenate([X, X_test]), drawn[0])
    np.testing.assert_array_equal(np.concatenate([y, y_test]), drawn[1])
    assert len(X) == 100


def test_rings_need_the_kernel(monkeypatch):
    trial = Trial(MadeUp("rings", partial(rings, k=4), rows=300), 4, gamma=1.0, curved=True)
    monkeypatch.setattr(kernels, "trials", lambda options: [trial])
    rows = {row[2]: row for row in kernels.nonlinear(Options(seeds=2)).rows}
    assert set(rows) == {OURS, LINEAR, SVC, "Nystroem 100 + ours", "Nystroem 500 + ours"}
    assert rows[OURS][4:6] == ["above 0.95", True] and rows[LINEAR][4:6] == ["below 0.7", True]
    assert trial.goal(OURS, 0.95)[1] is False and trial.goal(LINEAR, 0.7)[1] is False
    assert trial.goal(SVC, 0.0) == [None, None]
    assert rows[OURS][-1] == "1 (1-1)"


def test_distances_are_those_of_ranks(monkeypatch):
    data = MadeUp("radial ranks", partial(radial_ranks, p=2, r=5), rows=100)
    monkeypatch.setattr(kernels, "trials", lambda options: [Trial(data, 5, 1.0, OursOrdinal), Trial(data, 5, 1.0)])
    rows = kernels.nonlinear(Options(seeds=1)).rows
    ordered, classes = rows[:5], rows[5:]
    assert all(row[6] >= 1 - float(row[3].split()[0]) - 1e-4 for row in ordered)
    assert [row[6] for row in classes] == [None] * 5


def test_sets_of_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tasks, "FEWEST_ROWS", 40)
    (tmp_path / "load.py").write_text(LOAD)
    tables = [kernels.nonlinear(Options(repeats=1, seeds=1, scale=0.001, data=data)) for data in (tmp_path, None)]
    names = [{row[0] for row in table.rows} for table in tables]
    assert names[0] - names[1] == {"letter"} and "digits" in names[1]
    assert [kernels.NO_SETS in table.note for table in tables] == [False, True]


def test_cells_of_a_budget():
    unbounded = [Kept(2.0, 0.8, 90, 0.0), Kept(4.0, 1.0, 110, 0.0)]
    within = [Kept(1.0, 0.4, 50, 3.0), Kept(1.0, 1.0, 50, 5.0)]
    cells = kernels._budget_cells(500, within, unbounded)
    assert cells[1:6] == [0.75, "at least 0.98", False, 50.0, 4.0]
    assert cells[-1] == "0.375 (0.25-0.5)"
    assert kernels._budget_cells(50, within, unbounded)[2:4] == [None, None]
    assert kernels._budget_cells(None, unbounded, unbounded)[1] == 1.0


def test_a_budget_bounds_the_support():
    X, y = gaussian_classes(200, 5, 4, distance=2.0)
    split = (X[:150], y[:150], X[150:], y[150:])
    fits = {budget: kernels.within(budget, split, 0) for budget in (None, 20)}
    assert fits[None].support > 20 == fits[20].support
    assert fits[None].lost == 0 < fits[20].lost


def test_rows_are_learned_by_a_copy():
    X, y = gaussian_classes(60, 5, 3)
    model = Ours(norm=RKHS(budget=10)).make(Task(3)).fit(X, y)
    before = model.dual_coef_.copy()
    case = kernels.call_case("ours", model, "partial_fit", X, y)
    learner = case.prepare()
    case.run(learner)
    assert learner.t_ == model.t_ + 60
    np.testing.assert_array_equal(model.dual_coef_, before)


def test_each_row_is_one_call():
    class Counting:
        shapes = []

        def predict(self, X):
            self.shapes.append(X.shape)

    X, y = gaussian_classes(7, 5, 3)
    case = kernels.call_case("counting", Counting(), "predict", X, y)
    case.run(case.prepare())
    assert Counting.shapes == [(1, 5)] * 7


def test_only_learners_of_streams_learn_from_a_row(monkeypatch):
    monkeypatch.setattr(tasks, "FEWEST_ROWS", 60)
    table = kernels.one_row(*kernels.fitted(TINY), TINY)
    calls = {(row[0], row[2]) for row in table.rows}
    assert (BUDGETED, "partial_fit") in calls and (SVC, "predict") in calls and (SVC, "partial_fit") not in calls
    goals = {(row[0], row[2]) for row in table.rows if row[5]}
    assert goals == {(BUDGETED, "predict"), (BUDGETED, "decision_function")}
