import gc
import json
import time
from dataclasses import replace as replace_parts

import numpy as np
import pytest

from benchmarks import commands, read, report, tasks
from benchmarks.child import filled, growth
from benchmarks.contestants import CONTESTANTS, MULTILABEL_CONTESTANTS, ORDINAL_CONTESTANTS, Ours
from benchmarks.contestants.base import Contestant, RowContestant
from benchmarks.measure import Case, Measured, interleave, ratios
from benchmarks.paper import cusum_tables
from benchmarks.report import Table, replace, spread
from benchmarks.suites import (
    SUITES,
    costs,
    costs_sets,
    kernels,
    limit,
    memory,
    multilabel,
    norms,
    ordinal,
    predict,
    quality,
    stream,
    thresholds,
    throughput_dense,
    throughput_sparse,
    updates,
)
from benchmarks.suites.fits import perceptrons
from benchmarks.tasks import Options, Task, gaussian_classes, gaussian_ranks, label_sets, text

WITH_TESTS_OF_THEIR_OWN = (
    *("memory", "quality", "inference", "ranking", "label_ranking", "sequences", "tables", "electricity", "promises"),
)
TINY = Options(repeats=1, seeds=1, scale=0.001)
INSTALLED = [contestant for contestant in CONTESTANTS if contestant.installed]
INSTALLED_ORDINAL = [contestant for contestant in ORDINAL_CONTESTANTS if contestant.installed]
TIME = (" us", "us ", "seconds", "ms", "ns ", "MB")


def named(contestants):
    return {"argvalues": contestants, "ids": [contestant.name for contestant in contestants]}


@pytest.fixture
def tiny(monkeypatch):
    """Suites with fewer shapes and smaller sets, enough to run every line."""
    monkeypatch.setattr(tasks, "FEWEST_ROWS", 40)
    monkeypatch.setattr(throughput_dense, "GOALS", {(2, 100): 6.0, (10, 100): 10.0})
    monkeypatch.setattr(throughput_sparse, "GOALS", {2: 2.0, 10: 2.5})
    monkeypatch.setattr(tasks, "MORE", 1)
    monkeypatch.setattr(limit, "DENSE", {100: 1.35})
    monkeypatch.setattr(limit, "FITS", 1)
    monkeypatch.setattr(predict, "DENSE", {(2, 100): 1.0, predict.FLOAT32: 1.0})
    monkeypatch.setattr(predict, "SPARSE", {2: 1.0, 10: 0.667})
    monkeypatch.setattr(stream, "GOALS", {2: 35.0})
    monkeypatch.setattr(updates, "VARIANTS", updates.VARIANTS[:5])
    monkeypatch.setattr(updates, "_set", small_set)
    monkeypatch.setattr(ordinal, "COLUMNS", 5)
    monkeypatch.setattr(ordinal, "BINNINGS", ("len5",))
    monkeypatch.setattr(ordinal, "ORDINAL", ("abalone", "stocks_domain"))
    monkeypatch.setattr(norms, "ORDINAL", ("abalone", "stocks_domain"))
    monkeypatch.setattr(norms, "WORKS", tuple(replace_parts(work, columns=min(work.columns, 30)) for work in norms.WORKS))
    monkeypatch.setattr(norms, "TARGETS", tuple(replace_parts(target, columns=20) for target in norms.TARGETS[::2]))
    monkeypatch.setattr(norms, "DIFFERENT_ROWS", 10)
    monkeypatch.setattr(norms, "WORDS", tuple((name, draw, 300) for name, draw, _ in norms.WORDS[::2]))
    monkeypatch.setattr(kernels, "python", child)
    monkeypatch.setattr(thresholds, "GENERATED", ((1000, 10, 0.4, 1.0, 0.01),))
    for name in ("TWO", "MANY", "RANKS", "LABELS"):
        monkeypatch.setattr(costs_sets, name, getattr(costs_sets, name)[:1])
    monkeypatch.setattr(costs, "PEERS", costs.PEERS[:1])
    monkeypatch.setattr(costs, "PER_LABEL", costs.PER_LABEL[:1])
    monkeypatch.setattr(costs, "WORKS", costs.WORKS[::3])
    for name, number in (("COLUMNS", 8), ("FEW_COLUMNS", 4), ("LABELS", 5), ("STREAM_ROWS_OF_CONTESTANT", 3)):
        monkeypatch.setattr(multilabel, name, number)


def child(*words):
    """What `python -m benchmarks.child` prints, without a process of its own."""
    return json.dumps(growth(*words[2:5], *map(int, words[5:])))


def small_set(kind, p, k, n):
    X, y = text(n, k, p=1000) if kind == "CSR" else gaussian_classes(n, 20, k)
    return X, y, X, y


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("contestant", **named(INSTALLED))
def test_adapter_fits(contestant, k):
    X, y = gaussian_classes(240, 8, k, distance=8.0)
    model = contestant.fit(contestant.make(Task(k, epochs=5)), X, y)
    assert (contestant.predict(model, X) == y).mean() > 0.8


@pytest.mark.parametrize("contestant", **named([contestant for contestant in INSTALLED if contestant.sparse]))
def test_adapter_fits_sparse(contestant):
    X, y = text(200, 2, p=500)
    model = contestant.fit(contestant.make(Task(2, epochs=10)), X, y)
    assert (contestant.predict(model, X) == y).mean() > 0.8


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("contestant", **named([contestant for contestant in INSTALLED if contestant.stream]))
def test_adapter_takes_rows(contestant, k):
    X, y = gaussian_classes(120, 8, k, distance=8.0)
    task = Task(k)
    model = contestant.make(task)
    rows = contestant.convert(model, X, y)
    contestant.start(model, rows[0], task)
    for row in rows[1:]:
        contestant.take(model, row)
    guesses = [int(np.ravel(contestant.guess(model, row))[0]) for row in rows]
    assert np.mean(guesses == y) > 0.8


@pytest.mark.parametrize("contestant", **named(INSTALLED_ORDINAL))
def test_ordinal_adapter_fits(contestant):
    X, y = gaussian_ranks(400, 4, 5, signal=8.0)
    predicted = contestant.predict(contestant.fit(contestant.make(Task(5)), X, y), X)
    assert np.issubdtype(predicted.dtype, np.integer)
    assert np.abs(predicted - y).mean() < 0.4


@pytest.mark.parametrize("missing", [0, 2, 4])
@pytest.mark.parametrize("contestant", **named(INSTALLED_ORDINAL))
def test_ordinal_adapter_fits_without_a_rank_and_with_a_constant_column(contestant, missing):
    X, y = gaussian_ranks(400, 4, 5, signal=8.0)
    X[:, 0] = 1.0
    seen = y != missing
    predicted = contestant.predict(contestant.fit(contestant.make(Task(5)), X[seen], y[seen]), X)
    assert predicted.min() >= 0 and predicted.max() <= y[seen].max()
    assert np.abs(predicted - y)[seen].mean() < 1.0


@pytest.mark.parametrize("contestant", **named(MULTILABEL_CONTESTANTS))
def test_multilabel_adapter_fits(contestant):
    X, y = gaussian_classes(300, 8, 4, distance=12.0)
    Y = np.column_stack([y == 0, y == 1, y != 2]).astype(int)
    predicted = contestant.predict(contestant.fit(contestant.make(Task(3)), X, Y), X)
    assert set(np.unique(predicted)) == {0, 1}
    assert (predicted == Y).mean() > 0.9


@pytest.mark.parametrize("contestant", **named([contestant for contestant in MULTILABEL_CONTESTANTS if contestant.stream]))
def test_multilabel_adapter_takes_rows(contestant):
    X, y = gaussian_classes(120, 8, 4, distance=12.0)
    Y = np.column_stack([y == 0, y == 1, y != 2]).astype(int)
    model = contestant.make(Task(3))
    rows = contestant.convert(model, X, Y)
    contestant.start(model, rows[0], Task(3))
    for row in rows[1:]:
        contestant.take(model, row)
    assert (np.vstack([contestant.guess(model, row) for row in rows]) == Y).mean() > 0.8


def test_ranks_have_equal_shares():
    X, y = gaussian_ranks(1000, 3, 10)
    assert np.bincount(y).tolist() == [100] * 10
    assert X.shape == (1000, 3)


@pytest.mark.parametrize("scaling, data", [(1.0, gaussian_classes(200, 10, 2)), (0.1, text(200, 2, p=500))], ids=["dense", "CSR"])
def test_perceptrons_do_the_same_work(scaling, data):
    task = Task(2, epochs=1, shuffle=False)
    theirs, ours = (contestant.fit(contestant.make(task), *data) for contestant in perceptrons(task, scaling))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-12)


def test_perceptrons_of_labels_do_the_same_work():
    X, Y = label_sets(300, 10, 4)
    task = Task(4, epochs=1, shuffle=False)
    contestants = (multilabel.OURS_PERCEPTRON, multilabel.PERCEPTRON, multilabel.UNCHECKED)
    ours, *theirs = (contestant.fit(contestant.make(task), X, Y) for contestant in contestants)
    for model in theirs:
        np.testing.assert_allclose(ours.coef_, np.vstack([label.coef_ for label in model.estimators_]), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(ours.intercept_, np.hstack([label.intercept_ for label in model.estimators_]), atol=1e-12)


def test_the_unchecked_contestant_does_not_look_for_nan():
    X, Y = label_sets(60, 10, 4)
    X[0, 0] = np.nan
    task = Task(4, epochs=1)
    with pytest.raises(ValueError, match="NaN"):
        multilabel.PERCEPTRON.fit(multilabel.PERCEPTRON.make(task), X, Y)
    assert multilabel.UNCHECKED.fit(multilabel.UNCHECKED.make(task), X, Y).n_features_in_ == 10


def test_adapters_have_names_of_their_own():
    contestants = [*CONTESTANTS, *ORDINAL_CONTESTANTS, *MULTILABEL_CONTESTANTS]
    assert len({contestant.name for contestant in contestants}) == len(contestants)


def test_a_row_learner_needs_its_methods():
    with pytest.raises(TypeError, match="make"):
        Contestant().make(Task())
    with pytest.raises(TypeError, match="take"):
        RowContestant().take(None, None)
    with pytest.raises(TypeError, match="guess"):
        RowContestant().guess(None, None)


def test_interleave_is_round_robin_after_an_uncounted_run():
    seen = []
    cases = [Case(name, lambda _, name=name: seen.append(name) or len(seen)) for name in "ab"]
    measured = interleave(cases, 3)
    assert "".join(seen) == "ab" * 4
    assert [len(measured[name].times) for name in "ab"] == [3, 3]
    assert measured["b"].result == 8


def test_each_run_has_a_new_subject_and_no_garbage_collection():
    subjects = []
    measured = interleave([Case("a", lambda n: (n, gc.isenabled()), lambda: subjects.append(0) or len(subjects))], 2)
    assert measured["a"].result == (3, False)
    assert gc.isenabled()


def test_preparation_is_not_timed():
    measured = interleave([Case("a", lambda _: None, lambda: time.sleep(0.05))], 1)
    assert measured["a"].seconds < 0.04


def test_garbage_collection_comes_back_after_an_error():
    with pytest.raises(ZeroDivisionError):
        interleave([Case("a", lambda _: 1 / 0)], 1)
    assert gc.isenabled()


def test_medians_and_ratios():
    slow, fast = Measured([6.0, 8.0, 10.0]), Measured([1.0, 4.0, 2.0])
    assert (slow.seconds, fast.seconds) == (8.0, 2.0)
    assert ratios(slow, fast) == [6.0, 2.0, 5.0]
    assert spread(ratios(slow, fast)) == "5 (2-6)"
    assert spread([1234.4]) == "1234 (1234-1234)"


def test_table():
    table = Table("Title", ["a", "b", "c", "d"], [[1, 0.123456, True, None]], note="Note.")
    assert table.markdown() == "### Title\n\nNote.\n\n| a | b | c | d |\n| --- | --- | --- | --- |\n| 1 | 0.1235 | yes |  |\n"


def test_replace_between_markers():
    text = "x\n<!-- a -->\nold\n<!-- /a -->\ny"
    assert replace(text, "a", "new\n") == "x\n<!-- a -->\nnew\n<!-- /a -->\ny"
    with pytest.raises(ValueError, match="'b'"):
        replace(text, "b", "new")


@pytest.mark.filterwarnings("ignore:The least populated class in y has only")  # a fold of so few rows may lack one
@pytest.mark.parametrize("name", [name for name in SUITES if name not in WITH_TESTS_OF_THEIR_OWN])
def test_suite(name, tiny):
    check(SUITES[name].run(TINY))


def test_memory(monkeypatch):
    real, children = memory.python, []

    def one_child(*arguments):
        if "benchmarks.child" not in arguments:
            return "1.5"
        children.append(arguments)
        return answer

    answer = real("-m", "benchmarks.child", "predict", "ours", "float64", "200", "50", "2")
    monkeypatch.setattr(memory, "python", one_child)
    tables = memory.run(TINY)
    check(tables)
    assert [table.title for table in tables] == ["Peak memory of fit", "Peak memory of predict", "Import"]
    assert len(children) == len(memory.CONTESTANTS) * (len(memory.DTYPES) + len(memory.CLASSES))


def test_import_programs():
    needed = memory.python("-c", memory.NEEDED).strip().split(",")
    assert "sklearn.base" in needed
    assert not any(name.startswith("sklearn_predtron") for name in needed)
    assert float(memory.python("-c", memory.TIMED.format(["json", "re"]))) > 0


def test_quality(tmp_path, monkeypatch, tiny):
    (tmp_path / "load.py").write_text(LOAD)
    monkeypatch.setattr(quality, "CONTESTANTS", quality.CONTESTANTS[:4])
    monkeypatch.setattr(quality.epochs, "ORDINAL", ("abalone", "stocks_domain"))
    monkeypatch.setattr(quality.epochs, "GENERATED_ROWS", (1000,))
    tables = quality.run(Options(repeats=1, seeds=2, scale=0.001, data=tmp_path))
    check(tables)
    assert [row[0] for row in tables[0].rows] == ["digits", "breast_cancer", "wine", "letter", "a9a", "rcv1_small", "mean"]
    assert len(tables[-1].rows) == 8
    small, generated = ([row[0] for row in tables[3].rows].index(f"mean, {what}") for what in ("bundled and shared", "generated"))
    assert (small, generated) == (9, 17) and tables[3].rows[9][-2] == "at most 0.92"
    assert {row[2] for row in tables[4].rows} <= {3, 10, 31, 100}


def test_reject_on_given_data(tmp_path, tiny):
    (tmp_path / "load.py").write_text(LOAD)
    tables = SUITES["reject"].run(Options(repeats=1, seeds=1, scale=0.001, data=tmp_path))
    check(tables)
    assert {row[0] for row in tables[0].rows} == {"breast_cancer", "a9a", "elec2"}


@pytest.mark.filterwarnings("ignore:Label not . is present in all training examples")  # so few are split
def test_thresholds_on_given_data(tmp_path, tiny):
    (tmp_path / "load.py").write_text(LOAD)
    tables = thresholds.run(Options(repeats=1, seeds=1, scale=0.001, data=tmp_path))
    check(tables)
    assert [row[0] for row in tables[0].rows] == ["generated, 1000 x 10, 40%", "a9a", "geometric mean"]
    assert len(tables[1].rows) == len(thresholds.SETS) * len(thresholds.OF_SETS)


def test_ordinal_on_given_data(tmp_path, tiny):
    (tmp_path / "load.py").write_text(LOAD)
    tables = ordinal.run(Options(repeats=1, seeds=2, scale=0.001, data=tmp_path))
    check(tables)
    assert [table.title for table in tables][2:] == ["Ordinal errors beside LogisticAT's", "Ordinal errors"]
    assert [len(table.rows) for table in tables[2:]] == [len(ordinal.CONTESTANTS) + 1, 2]


def test_ordinal_without_the_optional_contestants(tmp_path, monkeypatch, tiny):
    (tmp_path / "load.py").write_text(LOAD)
    monkeypatch.setattr(
        Contestant, "installed", property(lambda contestant: contestant.module in ("sklearn", "sklearn_predtron"))
    )
    tables = ordinal.run(Options(repeats=1, seeds=1, scale=0.001, data=tmp_path))
    check(tables)
    for table in (tables[0], *tables[2:]):
        assert "not installed" in table.markdown()


def test_ratios_of_errors():
    errors = {"a": ([1.0, 3.0], [4.0, 4.0]), "b": ([2.0, 2.0], [1.0, 3.0])}
    found = {(data, "len5"): {"x": np.array(x), "y": np.array(y)} for data, (x, y) in errors.items()}
    assert ordinal.mean_ratio(found, "x", "y", None) == 0.75
    assert ordinal.mean_ratio(found, "x", "y", "b") == 0.5
    assert ordinal.mean_ratio(found, "x", "z", None) is None
    assert ordinal.at_most(0.5, 0.5) == ["at most 0.5", True]
    assert ordinal.at_most(None, 0.5) == [None, None]


def test_split_of_ranks_is_standardised_and_complete(tmp_path):
    (tmp_path / "load.py").write_text(LOAD)
    X, y, X_test, y_test = next(read.ordinal(tmp_path, "abalone", "len5", 1))
    assert (len(y), len(y_test)) == (40, 20)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)
    assert X_test.shape == (20, 5) and set(y) | set(y_test) == set(range(5))


def test_multilabel_on_given_data(tmp_path, tiny):
    (tmp_path / "load.py").write_text(LOAD)
    tables = multilabel.run(Options(repeats=1, seeds=2, scale=0.001, data=tmp_path))
    check(tables)
    assert [table.title for table in tables][3:] == ["Multilabel goals", "Multilabel losses"]
    assert [len(table.rows) for table in tables[2:]] == [2 * len(MULTILABEL_CONTESTANTS), 4, 2 * len(MULTILABEL_CONTESTANTS)]
    assert "skipped" not in tables[0].note


def test_multilabel_without_data_says_so(tiny):
    tables = multilabel.run(TINY)
    assert len(tables) == 3 and multilabel.NO_SETS in tables[0].note


def test_norms_on_given_data(tmp_path, tiny):
    (tmp_path / "load.py").write_text(LOAD + RANKING)
    tables = norms.run(Options(repeats=1, seeds=2, scale=0.001, data=tmp_path))
    check(tables)
    raw = tables[1]
    names = ["digits", "breast_cancer", "wine", "letter", "elec2", "abalone, len10", "stocks_domain, len10", norms.MSLR]
    assert [row[0] for row in raw.rows] == [*names, "geometric mean"]
    assert "skipped" not in raw.note


def test_norms_without_the_optional_contestant(monkeypatch, tiny):
    monkeypatch.setattr(
        Contestant, "installed", property(lambda contestant: contestant.module in ("sklearn", "sklearn_predtron"))
    )
    tables = norms.run(TINY)
    check(tables)
    assert norms.NO_SETS in tables[1].note and tables[1].rows[-1][-1] is None
    assert "not installed" in tables[2].markdown()


@pytest.mark.parametrize("draw", [draw for _, draw, _ in norms.WORDS[::2]], ids=lambda draw: draw.__name__)
def test_label_sets_of_rows_of_words(draw):
    X, Y = draw(400, 1000, 8, seed=0)
    assert X.format == "csr" and X.shape == (400, 1000) and Y.shape == (400, 8)
    assert 30 < X.nnz / 400 < 100 and set(np.unique(Y)) == {0, 1} and 0 < Y.mean(axis=0).min() <= Y.mean() < 0.5
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1)
    assert (draw(400, 1000, 8, seed=0)[0] != X).nnz == 0 < (draw(400, 1000, 8, seed=1)[0] != X).nnz


@pytest.mark.parametrize("target", **named(norms.TARGETS))
def test_targets_have_the_structure_they_name(target):
    X, y, X_test, y_test = target.drawn(60, 0)
    assert X.shape == X_test.shape == (60, target.columns) and len(y) == len(y_test) == 60
    np.testing.assert_array_equal(X, target.drawn(60, 0)[0])
    if y.ndim == 2:
        both = np.vstack([y, y_test])
        assert both.shape[1] == target.scores and abs((both == 2).mean() - 0.1) < 0.001 and abs((both == 0).mean() - 0.7) < 0.001


def test_few_features_tell_the_labels_of_a_sparse_target():
    X, y, *_ = norms.TARGETS[0].drawn(2000, 1)
    tells = np.abs(X.T @ (2 * y - 1)) / 2000
    assert np.sort(tells)[-3] > 0.05 and np.sort(tells)[-norms.FEW - 1] < 0.1


def test_clean_rounds_are_quieter():
    for work in norms.WORKS[:3]:
        shares = []
        for quiet in (True, False):
            X, y = replace_parts(work, columns=200).drawn(quiet, 1000)
            model = Ours().make(Task(work.classes, epochs=4)).fit(X, y)
            shares.append(model.n_updates_ / model.t_)
        assert shares[0] < shares[1]


def test_later_rounds_are_what_a_longer_fit_adds():
    class Fitted:
        def __init__(self, t, steps):
            self.t_, self.n_updates_ = t, steps

    one, more = Measured([1.0, 1.2], Fitted(10, 5)), Measured([3.0, 1.1], Fitted(30, 9))
    assert norms.per_round(one)[0].times == [0.1, 0.12] and norms.per_round(one)[1] == 0.5
    later, share = norms.later_per_round(one, more)
    np.testing.assert_allclose(later.times, [0.1, -0.005])
    assert share == 0.2
    assert norms._cost_cells(later, share, later, share)[1] == "1 (1-1)"
    assert norms._cost_cells(Measured([-1.0]), share, Measured([1.0]), share)[1] == "too short"


def test_geometric_mean_of_ratios():
    assert norms._geometric([2.0, None, 0.5]).startswith("1.000 x/ 2.")
    assert norms._geometric([None]) is None
    found = dict(zip(norms.LEARNERS, (0.2, 0.4, 0.1, None), strict=True))
    assert [norms._ratio(found, name) for name in norms.LEARNERS] == [2.0, 4.0, 1.0, None]
    assert norms._ratio({**found, norms.REFERENCE: 0.0}, "l2, raw") is None


def test_given_sets_stay_raw_where_that_is_asked_for(tmp_path):
    (tmp_path / "load.py").write_text(LOAD + RANKING)
    X, *_ = next(read.ordinal(tmp_path, "abalone", "len10", 1, standardise=False))
    (X_queries, *_), _ = read.ranking(tmp_path, norms.MSLR, standardise=False)
    assert X.std() != pytest.approx(1, abs=1e-6) and X_queries.mean() > 5


def test_losses_of_sets():
    predicted = np.array([[1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]])
    Y = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])
    assert multilabel.hamming(predicted, Y) == 3 / 16
    assert multilabel.micro_f1(predicted, Y) == 4 / 7
    assert multilabel.one_minus_f1(predicted, Y) == (0.5 + 0 + 0 + 1) / 4
    assert multilabel.subset_zero_one(predicted, Y) == 0.5


def test_labels_with_one_class_in_the_training_part_are_left_out():
    Y = np.array([[0, 1, 0], [0, 1, 1]])
    Y_test = np.array([[1, 0, 1]])
    assert [part.tolist() for part in multilabel.with_both(Y, Y_test)] == [[[0], [1]], [[1]]]


def test_given_sets_of_labels_are_standardised_on_the_training_part(tmp_path):
    (tmp_path / "load.py").write_text(LOAD)
    X, Y, X_test, Y_test = read.multilabel(tmp_path, "emotions")
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)
    assert X_test.mean() > 1
    assert (Y.shape, Y_test.shape) == ((60, 4), (60, 4))


def test_paper_tables(tmp_path, monkeypatch, capsys):
    (tmp_path / "load.py").write_text(LOAD)
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- cusum_tables -->\n<!-- /cusum_tables -->\nafter\n")
    monkeypatch.setattr(cusum_tables, "README", readme)
    monkeypatch.setattr(cusum_tables, "PRINTED", dict(list(cusum_tables.PRINTED.items())[:2]))
    monkeypatch.setattr(cusum_tables, "UNITS", 10)
    monkeypatch.setattr(cusum_tables, "MOST_EPOCHS", 20)
    monkeypatch.setattr(cusum_tables, "EPOCHS", (1, 2))
    cusum_tables.main(["--data", str(tmp_path), "--splits", "3", "--write"])
    written = readme.read_text()
    assert written.startswith("before\n<!-- cusum_tables -->\n") and written.endswith("<!-- /cusum_tables -->\nafter\n")
    assert "| abalone | 4177 | 0.229 | 0.228 |" in written and "| diabetes | 43 | 2.4577 | 1.076 |" in written
    assert "2 splits, **whose partitions are not the paper's**" in written and "### Table 2: 10 bins" in capsys.readouterr().out


def test_paper_tables_choose_epochs_on_a_split_that_does_not_count(monkeypatch):
    """A learner that predicts its number of epochs: 30 are best for choosing, 10 would be on the others."""

    class Constant:
        def __init__(self, epochs, X, y):
            self.rank = epochs

        def predict(self, X):
            return np.full(len(X), self.rank)

    monkeypatch.setattr(cusum_tables, "LEARNERS", {"constant": Constant})
    choosing, other = ((np.zeros((3, 1)), None, np.zeros((3, 1)), np.full(3, rank)) for rank in (30, 10))
    assert cusum_tables.cell("constant", {False: choosing}, [{False: other}] * 2) == "20.0000 ± 0.0000 (30)"


@pytest.mark.parametrize("missing", [0, 2, 4])
@pytest.mark.parametrize("name", cusum_tables.LEARNERS)
def test_paper_learners_fit_with_a_rank_missing(name, missing):
    X, y = gaussian_ranks(400, 4, 5, signal=8.0)
    seen = y != missing
    predicted = cusum_tables.LEARNERS[name](10, X[seen], y[seen]).predict(X)
    assert set(np.unique(predicted)) <= set(y[seen]) and np.abs(predicted - y)[seen].mean() < 0.5


def test_counting_with_ordered_thresholds_is_at_a_minimum():
    X, y = gaussian_ranks(300, 3, 4, signal=2.0)
    model = cusum_tables.OrderedCounting(1, X, y)
    assert (np.diff(model.thresholds) > 0).all()
    slopes = (y[:, np.newaxis] >= model.ranks[1:]) - 1 / (1 + np.exp(model.thresholds - (X @ model.direction)[:, np.newaxis]))
    np.testing.assert_allclose(slopes.sum(axis=0), 0, atol=0.01)
    np.testing.assert_allclose(X.T @ slopes.sum(axis=1), model.direction, atol=0.01)


def test_paper_readme_has_a_place_for_the_tables():
    replace(cusum_tables.README.read_text(), "cusum_tables", "")


def test_hidden_output_is_what_the_network_predicts_from():
    X, y = gaussian_ranks(60, 3, 4)
    network = cusum_tables.fit_network(0, X, y)
    hidden = cusum_tables.hidden_output(network, X)
    assert hidden.shape == (60, cusum_tables.UNITS)
    np.testing.assert_allclose((hidden @ network.coefs_[1] + network.intercepts_[1]).ravel(), network.predict(X))


LOAD = """
import numpy as np
from scipy import sparse


def table(family, name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    return X, (X[:, 0] > 0).astype(int)


def svmlight(name, part):
    X, y = table("binary", name)
    return sparse.csr_matrix(X), 2.0 * y - 1


def ordinal(name, binning):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    target = X[:, 0]
    y = 1 + np.searchsorted(np.quantile(target, [0.2, 0.4, 0.6, 0.8]), target)
    return X, y, target, np.array([rng.permutation(60)[:40] for _ in range(20)])


def multilabel(name, part):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5)) + (part == "test") * 2
    return sparse.csr_matrix(X), (X[:, :4] > [0, 0, 0.5, 9]).astype(int)
"""


RANKING = """

def ranking(name, part):
    rng = np.random.default_rng(part == "test")
    X = rng.standard_normal((120, 5)) + 10
    return sparse.csr_matrix(X), np.digitize(X[:, 0], [9.5, 10.5]), np.repeat(np.arange(4), 30)
"""


def check(tables):
    """Full rows, and a ratio wherever there is a time or a size."""
    for table in tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}
        if any(unit in column for column in table.columns for unit in TIME):
            assert any("ratio" in column for column in table.columns), table.title
        assert table.markdown()


def test_data_folder_without_reader(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"load\.py"):
        SUITES["quality"].run(Options(data=tmp_path))


def test_labels_of_the_memory_child_need_no_copy_of_X():
    X, y = filled("float32", 200, 20, 10)
    assert X.dtype == np.float32
    assert set(y) == set(range(10))


def test_growth_counts_a_copy(monkeypatch):
    class Copying(Ours):
        def fit(self, model, X, y):
            return super().fit(model, np.concatenate([X, X])[: len(X)], y)

    monkeypatch.setattr("benchmarks.contestants.CONTESTANTS", [Copying("copying")])
    found = growth("fit", "copying", "float64", 100_000, 100, 2)
    assert found["growth"] > found["X"]


@pytest.mark.parametrize(
    "arguments", [["run", "nonsense"], ["run", "--repeats", "3"], ["nonsense"], ["run", "--quick", "--record"]]
)
def test_wrong_arguments(arguments, capsys):
    with pytest.raises(SystemExit):
        commands.parse(arguments)
    assert arguments[-1] in capsys.readouterr().err


def test_run_prints_the_named_suite(capsys):
    commands.main(["run", "reject", "--quick"])
    printed = capsys.readouterr().out
    assert printed.startswith("## reject\n") and "### Reject option" in printed and "| breast_cancer |" in printed


def test_environment_says_when_it_is_quick():
    assert "full sizes" in report.environment(Options())
    assert "--quick" in report.environment(Options(scale=0.02))
