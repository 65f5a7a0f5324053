"""The fuzzers run, replay what they once found, and find what is planted."""

import signal

import numpy as np
import pytest
from fuzz import (
    checkpoints,
    child,
    damage,
    files,
    interrupts,
    learning,
    mixing,
    model_files,
    models,
    promises,
    runner,
    tables,
)
from fuzz.__main__ import main
from fuzz.lessons import Count, Lesson
from fuzz.models import Case
from fuzz.problems import FORMS, Circle, JointCircle, RolledCircle
from scipy import sparse

from sklearn_predtron import Predtron, PredtronClassifier, PredtronRanker
from sklearn_predtron._support import array_file
from sklearn_predtron.datasets import _arrow, _cache
from sklearn_predtron.datasets.formats import named_features
from sklearn_predtron.datasets.formats.tables import CsvFormat
from sklearn_predtron.mixing import ParameterMixing
from sklearn_predtron.mixing._checkpoint import MixingCheckpoint

# Cases that found something that was fixed: part, seed, what it was.  A change of what is drawn changes what a seed means.
SEEDS = [
    ("learning", 4777, "a warning about `y` where only `classes` is long"),
    ("learning", 31258, "infinity in X that the sigmoid kernel maps to something finite"),
    ("learning", 31771, "a half-fitted model after rows that a kernel refused"),
    ("learning", 35422, "a half-fitted model after rows that a kernel refused"),
    ("learning", 310662496000, "a failed fit that dropped the fast path of single rows"),
    ("learning", 75, "rows whose mistakes are free, alone in a call, that the mean costs lost"),
    ("learning", 51511108, "classes of a first call without weights, forgotten when the map of a table was made"),
    ("learning", 77290801, "labels of tokens, read as quantities where a map chose pairs"),
    ("threads", 904200816, "a callback that evaluates each epoch, and so changed how sums were rounded"),
    ("states", 860, "a generated __setstate__ that read beyond its tuple"),
    ("states", 20391, "a counter of the state, used as an index"),
    ("states", 21228, "an array of the state of another length"),
    ("states", 21371, "a tuple of the state of another length"),
    ("states", 6156, "a code of another shape than the weights"),
    ("states", 7048, "a negative exponent, and an endless loop"),
    ("pickles", 100005, "numbers of the state, used as indices"),
    ("pickles", 100081, "a negative exponent, and an endless loop"),
    ("model_files", 5009280, "two classes that are five, and their numbers as zeros and ones"),
    ("model_files", 9031700, "a problem of a base class, of no scores, by whose number another part divides"),
    ("model_files", 9065687, "a code whose decoded scores are not numbers, of which none is the largest"),
    ("model_files", 7729972, "a map without a state, of which the first entry was read"),
    ("caches", 701828, "values of 8 bytes in a forged cache of rows of 4"),
]

# Cases of a part in this process, and outcomes that must come.
HERE = {
    "learning": (25, {"checked"}),
    "mixing": (8, {"checked", "survived"}),
    "files": (10, {"read"}),
    "formats": (40, {"read"}),
    "interrupts": (4, {"interrupted"}),
    "checkpoints": (200, {"refused by name", "gone on from", "taken"}),
    "model_files": (150, {"refused by name", "predicted", "used"}),
}
# Cases in processes of their own, which they might end.
APART = {"instructions": 6, "states": 8, "threads": 2, "pickles": 8, "caches": 20, "columns": 40}


class SplitMatters(PredtronClassifier):
    """Learns the rows of each call backwards."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        return super().partial_fit(X[::-1], y[::-1], classes=classes, sample_weight=sample_weight)


class Traced(PredtronClassifier):
    """A call that fails leaves a trace."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self.calls_ = getattr(self, "calls_", 0) + 1
        return super().partial_fit(X, y, classes=classes, sample_weight=sample_weight)


class NoWords(PredtronClassifier):
    """Fails by a bare exception."""

    def fit(self, X, y, sample_weight=None):
        raise IndexError


@pytest.fixture
def lesson():
    random = np.random.default_rng(0)
    X = random.standard_normal((12, 4))
    return Lesson(X, np.arange(12) % 3, classes=np.arange(3))


@pytest.mark.parametrize(
    ("faulty", "promise"),
    [(SplitMatters, promises.any_split), (Traced, promises.failures_leave_no_trace), (NoWords, promises.finite)],
)
def test_a_planted_fault_is_found(faulty, promise, lesson):
    random = np.random.default_rng(1)
    good = Case(PredtronClassifier(random_state=0), lesson)
    assert learning.check(good, random, [promise]) == "checked"
    with pytest.raises((AssertionError, IndexError)):
        learning.check(Case(faulty(random_state=0), lesson), random, [promise])


class TracedMixing(ParameterMixing):
    """A call that fails leaves a trace."""

    def partial_fit(self, X, y=None, **given):
        self.calls_ = getattr(self, "calls_", 0) + 1
        return super().partial_fit(X, y, **given)


@pytest.mark.parametrize(
    ("planted", "promise", "cuts"),
    [
        ((None, TracedMixing), mixing.failures_leave_no_trace, None),
        ((None, TracedMixing), mixing.failures_leave_no_trace, (3, 7)),
        (
            ("load", lambda of: lambda self, *given: (found := of(self, *given)) and found._replace(mixed_loss=0.0)),
            mixing.checkpoints_are_gone_on_from,
            None,
        ),
        (("save", lambda of: lambda self, progress: None), mixing.checkpoints_are_gone_on_from, (5,)),
    ],
)
def test_a_planted_fault_of_mixing_is_found(planted, promise, cuts, lesson, monkeypatch):
    (name, fault), how = planted, {"rounds": 3, "shards": 2, "random_state": 0}
    good = mixing.Mixture(ParameterMixing(PredtronClassifier(), **how), lesson, cuts)
    assert learning.check(good, np.random.default_rng(1), [promise]) == "checked"
    if name is None:
        bad = mixing.Mixture(fault(PredtronClassifier(), **how), lesson, cuts)
    else:
        bad = good
        monkeypatch.setattr(MixingCheckpoint, name, fault(getattr(MixingCheckpoint, name)))
    with pytest.raises(AssertionError):
        learning.check(bad, np.random.default_rng(1), [promise])


@pytest.mark.parametrize("forked", [pytest.param(False, marks=pytest.mark.slow), True])
def test_crashes_are_found_and_survived(forked, monkeypatch):
    """Also if each case has a process of its own."""
    if forked:
        monkeypatch.setenv("FUZZ_FORKED", "1")
    report = runner.run_part("planted", 0, cases=6, timeout=0.5)
    crash, assertion, endless = report.findings
    assert (crash.seed, assertion.seed, endless.seed) == (1, 2, 4)
    assert signal.SIGSEGV.name in crash.text and "planted.py" in crash.text
    assert forked or "Alone the case fails too" in crash.text
    assert "AssertionError: planted" in assertion.text
    assert "took too long" in endless.text
    assert report.cases == 6 and (report.ended == 0) == forked
    assert runner.table([report]).splitlines()[1].split()[:2] == ["planted", "6"]
    assert "--only planted --seed 1 --cases 1" in runner.describe(crash)


def test_the_command_line(capsys, monkeypatch):
    for part, seed, cases, said in (("learning", 3, 1, "seed 3"), ("files", 0, 2, "findings")):
        assert main(["--only", part, "--seed", str(seed), "--cases", str(cases)]) == 0
        assert said in capsys.readouterr().out
    monkeypatch.setattr(child.load("columns").importlib.util, "find_spec", lambda name: None)
    assert main(["--only", "columns", "--seed", "0", "--cases", "2"]) == 0
    assert "columns is left out: pyarrow is not installed" in capsys.readouterr().out


@pytest.mark.always
@pytest.mark.parametrize("part", HERE)
def test_some_cases_in_this_process(part):
    before, (cases, outcomes) = Count.learned, HERE[part]
    assert {child.load(part).run(seed) for seed in range(cases)} >= outcomes
    assert Count.learned > before or part in ("files", "formats")


def run_apart(part, seed, cases):
    report = runner.run_part(part, seed, cases=cases)
    assert not report.findings, "\n".join(runner.describe(finding) for finding in report.findings)
    assert report.cases == cases
    return report


@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=pytest.mark.slow if part in ("threads", "pickles") else ()) for part in APART]
)
def test_some_cases_in_processes_of_their_own(part):
    if part == "columns":
        pytest.importorskip("pyarrow")
    report = run_apart(part, 0, APART[part])
    assert report.learned > 0 if part in ("instructions", "states", "threads", "pickles") else 0 < report.refused < report.cases


@pytest.mark.always
@pytest.mark.parametrize(
    ("part", "place", "name", "fault", "message"),
    [
        ("formats", CsvFormat, "rows", lambda rows: lambda self, records: rows(self, records[::-1]), "other rows"),
        ("formats", named_features, "parse_number", lambda _: lambda text: float(text) + 1, "than a plain parse"),
        ("checkpoints", array_file, "check_sum_of", lambda _: lambda parts: bytes(array_file.SUM), "another result than that of"),
        ("model_files", array_file, "check_sum_of", lambda _: lambda parts: bytes(array_file.SUM), "a damaged file is loaded"),
        ("caches", _cache, "check_sum", lambda _: lambda data: int(np.frombuffer(data, np.int64).sum()), "before the damage"),
        ("columns", _arrow, "unreadable", lambda _: lambda path, error, column=None: ValueError(str(error)), "file is not named"),
    ],
)
def test_what_is_read_wrongly_is_found(part, place, name, fault, message, monkeypatch):
    """Rows that depend on chunks, numbers, check sums that are not looked at or forget the order, a file that is not named."""
    if part == "columns":
        pytest.importorskip("pyarrow")
    kept = (checkpoints.kept_of, model_files.drawn_of)
    monkeypatch.setattr(place, name, fault(getattr(place, name)))
    try:
        with pytest.raises(AssertionError, match=message):
            for function in kept:
                function.cache_clear()
            for seed in range(2000):
                child.load(part).run(seed)
    finally:
        for function in kept:
            function.cache_clear()


def test_all_families_and_promises_are_drawn():
    random = np.random.default_rng(0)
    drawn = {type(models.draw_case(random).estimator) for _ in range(100)}
    assert drawn == set(models.families())
    assert len(promises.PROMISES) >= 12


class ByOrder(PredtronRanker):
    """Breaks ties by the order of the rows."""

    def score(self, X, y, qid=None, sample_weight=None):
        return float(np.asarray(y)[np.argsort(-self.predict(X), kind="stable")[0]])


def test_tables_free_mistakes_and_ties_are_drawn():
    random = np.random.default_rng(0)
    columns = [tables.draw_column(random, random.standard_normal(9)) for _ in range(900)]
    assert {str(column.dtype) for column in columns} >= {"float16", "int8", "Int64", "boolean", "bool", "object", "category"}
    words = {value for column in columns for value in column.tolist() if isinstance(value, str)}
    assert words >= set(tables.WORDS) and any(column.isna().any() for column in columns)
    cases = [tables.with_costs(random, models.draw_case(random)) for _ in range(60)]
    costs = [case.lesson.costs for case in cases if case.lesson.costs is not None]
    assert {type(tables.draw_table(random, np.ones((3, 2)))).__name__ for _ in range(30)} == {"ndarray", "DataFrame"}
    assert len(costs) > 5 and any((cost == 0).all(axis=(1, 2)).any() and cost.any() for cost in costs)
    lesson = Lesson(random.standard_normal((30, 2)), random.integers(0, 3, 30), qid=np.repeat([0, 1], 15))
    promises.order_of_ties(Case(PredtronRanker(random_state=0), lesson), random)
    with pytest.raises(AssertionError, match="tied rows in another order"):
        for _ in range(20):
            promises.order_of_ties(Case(ByOrder(random_state=0), lesson), random)


class Forgetful(JointCircle):
    """Drops a feature where features are sparse."""

    def features(self, x, prediction):
        found = super().features(x, prediction)
        if self.form == "csr":
            found.data[0] = 0.0
        return found


def test_joint_features_are_drawn_and_compared():
    random = np.random.default_rng(0)
    cases = [models.draw_case(random, Predtron) for _ in range(60)]
    assert {type(case.estimator.problem) for case in cases} == {Circle, JointCircle, RolledCircle}
    assert {case.estimator.problem.form for case in cases if promises.joint(case)} == set(FORMS)
    lesson = Lesson(random.standard_normal((30, 3)), random.integers(0, 3, 30))
    with pytest.raises(AssertionError, match="of the forms"):
        promises.any_form(Case(Predtron(Forgetful(3, 3), random_state=0), lesson), random)
    wrong = Predtron(Forgetful(3, 3, "csr"), update="perceptron", average=False, random_state=0)
    with pytest.raises((AssertionError, ValueError)):
        promises.joint_as_scores(Case(wrong, lesson), random)
    for promise in (promises.any_form, promises.joint_as_scores):
        promise(Case(Predtron(JointCircle(3, 3, "csr"), random_state=0), lesson), random)


def test_learning_calls_are_counted(lesson):
    before = Count.learned
    lesson.stream(PredtronClassifier(), [3, 6])
    assert Count.learned - before == 3


def test_an_interrupt_comes():
    assert interrupts.interrupted(lambda: [sum(range(1000)) for _ in range(10**7)], 0.01)
    assert not interrupts.interrupted(lambda: None, 5.0)


@pytest.mark.parametrize("ids", [False, True])
def test_files_that_differ_are_found(tmp_path, ids):
    how = {"multilabel": False, "query_id": False, "sequence_id": ids, "zero_based": False, "n_features": None}
    path, text = tmp_path / "file.svm", b"1 qid:4 1:0.5\n0 qid:4 2:1\n-1 qid:5 1:1\n"
    path.write_bytes(text)
    how["dtype"] = np.float64
    assert files.compare(np.random.default_rng(0), str(path), text, how) == "read"
    with pytest.raises(AssertionError):
        files.compare(np.random.default_rng(0), str(path), text.replace(b"0.5", b"0.6"), how)
    if ids:
        with pytest.raises(AssertionError, match="queries differ"):
            files.compare(np.random.default_rng(0), str(path), text.replace(b"qid:5", b"qid:6"), how)


def test_a_cache_that_differs_is_found(tmp_path, monkeypatch):
    how = {"multilabel": False, "query_id": False, "sequence_id": False, "zero_based": False, "n_features": None}
    path = tmp_path / "file.svm"
    path.write_bytes(b"1 1:0.1\n0 2:1\n")
    how["dtype"] = np.float64
    files.check_cache(np.random.default_rng(0), str(path), how)
    monkeypatch.setattr(_cache, "narrowed", lambda values: values.astype(np.float32))
    with pytest.raises(AssertionError, match="data of X differ without a cache"):
        files.check_cache(np.random.default_rng(0), str(path), how)


def test_rows_that_compiled_code_may_not_trust_are_found():
    X, y = sparse.random(5, 4, 0.5, format="csr", random_state=0), np.zeros(5)
    damage.check_rows(X, y)
    for part, at, value in (("indices", 0, 4), ("indices", -1, -1), ("indptr", 2, 99), ("indptr", -1, X.nnz + 1)):
        other = X.copy()
        getattr(other, part)[at] = value
        with pytest.raises(AssertionError, match="a matrix that is none"):
            damage.check_rows(other, y)
    for rows in [(X, y[1:]), (X, y, y[1:]), (X, np.frombuffer(bytes(50), np.float64, 5, 3))]:
        with pytest.raises(AssertionError):
            damage.check_rows(*rows)


@pytest.mark.parametrize(("part", "seed", "what"), SEEDS)
def test_what_was_found_stays_mended(part, seed, what):
    if part == "learning":  # nothing there ended the process, or had no end
        learning.run(seed)
    else:
        run_apart(part, seed, 1)
