from ctypes import ArgumentError
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from benchmarks import bare, tasks
from benchmarks.contestants import OursPerceptron, SklearnPerceptron
from benchmarks.headlines import HEADLINES
from benchmarks.report import blas
from benchmarks.suites import limit, predict
from benchmarks.tasks import Options, Task, gaussian_classes, text

TINY = Options(repeats=1, scale=0.001)


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(tasks, "FEWEST_ROWS", 40)
    monkeypatch.setattr(tasks, "MORE", 1)
    monkeypatch.setattr(limit, "DENSE", {100: 1.35})


@pytest.fixture
def compiled():
    if bare.library() is None:
        pytest.skip("There is no C compiler.")


# -------------------------------------------------------------------------------------------------------------- the bare loop


@pytest.mark.parametrize("p", [1, 4, 23, 103])
def test_the_bare_loops_take_every_value_once(p, compiled):
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((7, p)), rng.standard_normal(p)
    thinned = sparse.random(7, p, density=0.7, format="csr", random_state=0)
    np.testing.assert_allclose(bare.read(X), X.sum(), rtol=1e-12)
    np.testing.assert_allclose(bare.scores(X, w), (X @ w).sum(), rtol=1e-12)
    np.testing.assert_allclose(bare.scores(thinned, w), (thinned @ w).sum(), rtol=1e-12)


def test_the_bare_loops_are_compiled_with_the_flags_of_the_package():
    assert f'"": {bare.FLAGS}'.replace("'", '"') in (Path(bare.__file__).parents[1] / "setup.py").read_text()


def test_a_bare_loop_refuses_what_it_would_misread(compiled):
    X, w = np.zeros((2, 3), dtype=np.float32), np.zeros(3)
    with pytest.raises(ArgumentError, match="float64"):
        bare.read(X)
    with pytest.raises(ArgumentError, match="float64"):
        bare.scores(X.astype(np.float64), w.astype(np.float32))


def test_without_a_compiler_the_rows_say_so(tiny, monkeypatch):
    bare.library.cache_clear()
    monkeypatch.setenv("CC", "/no/such/compiler")
    try:
        tables = [limit.dense(TINY), limit.csr(TINY)]
    finally:
        bare.library.cache_clear()
    for table in tables:
        rows = {row[table.columns.index("what")]: row[table.columns.index("ns per row") :] for row in table.rows}
        assert rows[limit.BARE][:2] == [limit.NO_COMPILER] * 2
        assert rows[limit.OUR_EPOCH][0] > 0 and rows[limit.OUR_EPOCH][1] == limit.NO_COMPILER
    assert [table.rows[0][-2] for table in tables] == [None, None]
    found = [headline.ratios(table) for table in tables for headline in HEADLINES if headline.title == table.title]
    assert [ratios[0] is None for ratios in found] == [True, True, True, False]


# --------------------------------------------------------------------------------------------------------------------- suites


def test_both_epochs_on_csr_take_the_same_steps():
    X, y = text(300, 2, p=500)
    task = Task(2, epochs=1, shuffle=False)
    learners = (SklearnPerceptron(), OursPerceptron(intercept_scaling=limit.INTERCEPT_SCALING))
    theirs, ours = (learner.fit(learner.make(task), X, y) for learner in learners)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12, atol=1e-12)


def test_a_plane_parts_the_dense_classes(tiny):
    table = limit.dense(Options(repeats=1, scale=0.05))
    share = {row[2]: row[-1] for row in table.rows}[limit.OUR_EPOCH]
    assert 0 < share < 0.005


def test_unsorted_rows_are_the_same_rows():
    X, _ = text(50, 2, p=1000)
    shuffled = limit.unsorted(X)
    assert not shuffled.has_sorted_indices and X.has_sorted_indices
    assert abs(shuffled - X).max() == 0
    np.testing.assert_array_equal(shuffled.indptr, X.indptr)


@pytest.mark.parametrize("k", [2, 10])
@pytest.mark.parametrize("kind", ["float64", "float32", "CSR"])
def test_peers_predict_from_the_same_weights(k, kind):
    X, y = text(300, k, p=500) if kind == "CSR" else gaussian_classes(300, 20, k)
    X = X.astype(np.float32) if kind == "float32" else X
    theirs, ours = predict.same_weights(k, X, y)
    np.testing.assert_allclose(theirs.decision_function(X), ours.decision_function(X), rtol=1e-4, atol=1e-4)
    assert (theirs.predict(X) == ours.predict(X)).mean() > 0.98 and len(set(ours.predict(X))) > 1


def test_tables_name_the_kernels_of_blas(tiny):
    for table in (limit.dense(TINY), limit.csr(TINY)):
        assert f"BLAS: {blas()}." in table.note
    assert f"BLAS: {blas()}." in predict.note(TINY)
