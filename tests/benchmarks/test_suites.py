"""Every suite and script runs at a small size, and has the tables that the README takes its ratios from."""

import json
from ast import literal_eval
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.special import softmax

from benchmarks import commands, embeddings, tasks
from benchmarks.child import growth
from benchmarks.contestants.base import Contestant
from benchmarks.headlines import HEADLINES, rows
from benchmarks.paper import cusum_tables, figure1, online_ranking, online_ranking_large
from benchmarks.suites import (
    SUITES,
    costs,
    costs_sets,
    inference,
    kernels,
    label_ranking,
    limit,
    memory,
    multilabel,
    norms,
    ordinal,
    predict,
    promises,
    promises_bounds,
    promises_monitor,
    promises_settings,
    quality,
    ranking,
    sequences,
    stream,
    tables,
    tables_others,
    tables_sets,
    thresholds,
    throughput_dense,
    throughput_sparse,
    updates,
)
from benchmarks.tasks import Options, gaussian_classes, text

LOAD = """
import numpy as np
from scipy import sparse


def table(family, name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    X[:, 1] = rng.integers(3, size=300)
    several = family == "multiclass" or name in ("car", "cmc", "ecoli", "vehicle")
    return X, np.digitize(X[:, 0] + (X[:, 1] == 1) + rng.standard_normal(300) / 2, [-0.5, 0.8] if several else [0.3])


def categorical(name):
    return np.arange(5) == (1 if name == "adult" else 5)


def svmlight(name, part):
    X, y = table("binary", name)
    return sparse.csr_matrix(X), 2.0 * y - 1


def ordinal(name, binning):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 5))
    target = X[:, 0]
    y = 1 + np.searchsorted(np.quantile(target, [0.2, 0.4, 0.6, 0.8]), target)
    return X, y, target, np.array([rng.permutation(90)[:60] for _ in range(20)])


def multilabel(name, part):
    rng = np.random.default_rng(part == "test")
    X = rng.standard_normal((80, 5))
    return sparse.csr_matrix(X), (X[:, :4] + rng.standard_normal((80, 4)) > [0, 0, 0.5, 9]).astype(int)


def ranking(name, part):
    rng = np.random.default_rng(part == "test")
    X = rng.standard_normal((120, 5)) + 10
    y = np.digitize(X[:, 0] + rng.standard_normal(120), [9.5, 10.5])
    return sparse.csr_matrix(X), y, rng.permutation(np.repeat([7, 3, 5, 9], 30))


def label_ranking(name):
    X = np.random.default_rng(0).standard_normal((40, 4))
    return X, 1.0 + (-X[:, :3]).argsort(axis=1).argsort(axis=1)


def letters():
    y = np.random.default_rng(0).integers(0, 3, 240)
    return sparse.csr_matrix(np.eye(3)[y]), y, 1 + np.arange(240) // 4, np.arange(60) % 10
"""
OPTIONAL = ("xgboost", "vowpalwabbit", "pycrfsuite")  # peers without whom some ratios have rows of one side
FEW = [(tables_sets, name, getattr(tables_sets, name)[1:2]) for name in ("CLASSES", "NUMBERS")]
FEW += [(costs_sets, name, getattr(costs_sets, name)[:1]) for name in ("TWO", "MANY", "RANKS", "LABELS")]
FEW += [(costs, name, [getattr(costs, name)[i] for i in (0, 1, 4)]) for name in ("PEERS", "PER_LABEL")]
FEW += [(module, "ORDINAL", ("abalone", "stocks_domain")) for module in (ordinal, norms, quality.epochs)]
FEW += [(promises_monitor, name, 50) for name in ("STREAMS", "ROWS", "LATE", "BEFORE", "AFTER", "ROWS_OF_MAPIE")]
FEW += [
    *((tasks, "FEWEST_ROWS", 60), (tasks, "MORE", 1)),
    (throughput_dense, "GOALS", {(2, 100): 6.0, (10, 100): 10.0}),
    (throughput_sparse, "GOALS", {2: 2.0, 10: 2.5}),
    *((limit, "DENSE", {100: 1.35}), (limit, "FITS", 1)),
    *((predict, "DENSE", {(2, 100): 1.0, predict.FLOAT32: 1.0}), (predict, "SPARSE", {2: 1.0, 10: 0.667})),
    (stream, "GOALS", {2: 35.0}),
    (quality.epochs, "GENERATED_ROWS", (1000,)),
    (updates, "VARIANTS", updates.VARIANTS[:5]),
    *((ordinal, "COLUMNS", 5), (ordinal, "BINNINGS", ("len5",))),
    (norms, "WORKS", tuple(replace(work, columns=min(work.columns, 30)) for work in norms.WORKS)),
    (norms, "TARGETS", tuple(replace(target, columns=20) for target in norms.TARGETS[::2])),
    *((norms, "DIFFERENT_ROWS", 10), (norms, "WORDS", tuple((name, draw, 300) for name, draw, _ in norms.WORDS[::2]))),
    (thresholds, "GENERATED", ((1000, 10, 0.4, 1.0, 0.01),)),
    *((costs, "WORKS", costs.WORKS[1:2]), (costs_sets, "ORDINAL", ("abalone",))),
    *((multilabel, "COLUMNS", 8), (multilabel, "FEW_COLUMNS", 4), (multilabel, "LABELS", 5)),
    (multilabel, "STREAM_ROWS_OF_CONTESTANT", 3),
    *((ranking, "DOCUMENTS", 12), (ranking, "COLUMNS", 5), (inference, "SIZES", (1, 2, 10)), (label_ranking, "FOLDS", (3, 2))),
    (sequences, "FEATURES", 300),
    *((tables_sets, "GIVEN", tables_sets.GIVEN[:2]), (tables_sets, "BUNDLED", tables_sets.BUNDLED[:1])),
    *((tables, "SHARES", (0.0, 0.3)), (tables_others.read, "ORDINAL", ("abalone",))),
    *((promises, "DRAWS", 2), (promises, "CLINIC_DRAWS", 2), (promises_settings, "LIMITS", 20)),
    *((promises_bounds, "RECALLS", (0.8,)), (promises_bounds, "MOST_ROWS", 200)),
    *((promises_bounds, "WITH_AMOUNTS", ((300, 10, 0.3, 1.0),)), (promises_monitor, "OF_MAPIE", 1)),
]


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """Options for suites with fewer shapes and smaller sets, enough to run every line, and a folder of data."""
    for module, name, value in FEW:
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(updates, "_set", small_set)
    for module in (kernels, tables_others, memory, sequences):
        monkeypatch.setattr(module, "python", lambda *words, fresh=module.python: answer(words, fresh))
    (tmp_path / "load.py").write_text(LOAD)
    return Options(repeats=1, seeds=2, scale=0.001, data=tmp_path)


def small_set(kind, p, k, n):
    X, y = text(n, k, p=1000) if kind == "CSR" else gaussian_classes(n, 20, k)
    return X, y, X, y


def answer(words, fresh):
    """What a process prints; measurements of memory need none of their own here."""
    if "benchmarks.child" in words:
        return json.dumps(growth(*words[2:5], *map(int, words[5:])))
    if "growth(" in words[1]:
        return json.dumps(sequences.growth(*literal_eval(words[1][words[1].rindex("growth(") + len("growth") : -2])))
    return fresh(*words)


@pytest.mark.filterwarnings("ignore:The least populated class in y has only", "ignore:Label not . is present in all")
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # LightGBM's
@pytest.mark.parametrize("name", SUITES)
def test_suite(name, tiny, monkeypatch):
    """Full rows, and a ratio for each headline of the summary."""
    if name == "promises":  # of fewer rows, some have one class
        monkeypatch.setattr(tasks, "FEWEST_ROWS", 200)
    made = {table.title: table for table in SUITES[name].run(tiny)}
    for table in made.values():
        assert table.rows and {len(row) for row in table.rows} == {len(table.columns)} and table.markdown()
        assert "skipped" not in table.note
    for headline in HEADLINES:
        if headline.suite == name:
            table = made[headline.title]
            ours, theirs = (len(rows(table, where or headline.ours)) for where in (headline.ours, headline.theirs))
            assert len(headline.limits(table)) == ours
            assert ours or not all(map(find_spec, OPTIONAL))
            if ours == theirs:  # some peers are optional, and some are left out of small sizes
                assert len(headline.ratios(table)) == ours


@pytest.mark.filterwarnings("ignore:The least populated class in y has only")
@pytest.mark.parametrize("name", ["norms", "tables", "sequences", "ranking", "multilabel", "kernels", "electricity"])
def test_suite_says_what_is_missing(name, tiny, monkeypatch):
    """Without data, and without learners that are optional."""
    ours = property(lambda contestant: contestant.module in ("sklearn", "sklearn_predtron"))
    monkeypatch.setattr(Contestant, "installed", ours)
    made = SUITES[name].run(replace(tiny, data=None))
    assert any("No --data" in table.note for table in made)
    assert name in ("multilabel", "kernels", "electricity") or any("not installed" in table.markdown() for table in made)


def test_data_folder_without_reader(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"load\.py"):
        SUITES["quality"].run(Options(data=tmp_path))


def test_run_prints_the_named_suite(capsys):
    commands.main(["run", "reject", "--quick"])
    printed = capsys.readouterr().out
    assert printed.startswith("## reject\n") and "### Reject option" in printed and "| breast_cancer |" in printed


SMALL = ["--seeds", "2", "--test", "10", "--queries", "2", "6", "--documents", "3", "6", "--features", "6", "40"]


@pytest.mark.parametrize(
    ("script", "arguments", "written"),
    [
        (cusum_tables, ["--splits", "3"], ["| abalone | 4177 | 0.229 | 0.228 |", "| diabetes | 43 | 2.4577 | 1.076 |"]),
        (figure1, SMALL, ["### Figure 1 (c)", "| growth, 6 to 40 |"]),
        (online_ranking, ["--seeds", "2", "--rounds", "100"], ["t = 100", "| independent | 0.9036 | 0.9518 | 0.9904 |"]),
        (online_ranking_large, ["--seeds", "1", "--orders", "2", "--queries", "10"], ["| t = 10 | t = 12 |", "| our default |"]),
    ],
)
def test_papers(script, arguments, written, tiny, tmp_path, monkeypatch, capsys):
    """Each script writes its tables between the marks of the README, and draws what it draws."""
    name = script.__name__.rpartition(".")[2]
    (tmp_path / "README.md").write_text(f"<!-- {name} -->\nof yore\n<!-- /{name} -->\n")
    assert f"<!-- {name} -->\n" in script.README.read_text()
    monkeypatch.setattr(script, "README", tmp_path / "README.md")
    drawn = {} if script is cusum_tables else {"--figures": str(tmp_path / "new")}
    if script in (cusum_tables, online_ranking_large):
        arguments = ["--data", str(tmp_path), *arguments]
    if script is cusum_tables:
        few = {"PRINTED": dict(list(script.PRINTED.items())[:2]), "UNITS": 10, "MOST_EPOCHS": 20, "EPOCHS": (1, 2)}
        for constant, value in few.items():
            monkeypatch.setattr(script, constant, value)
    script.main([*arguments, "--write", *(word for option in drawn.items() for word in option)])
    page = (tmp_path / "README.md").read_text()
    assert all(line in page for line in written) and "of yore" not in page and capsys.readouterr().out
    if drawn:
        assert all(path.read_bytes().startswith(b"\x89PNG") for path in (tmp_path / "new").iterdir())


def test_averages_over_time_are_those_of_plain_listnet():
    counts, name = [1, 3, 20], "ListNet, eta = 1/sqrt(t)"
    parts = list(online_ranking_large.generated(0, counts))
    found, _ = online_ranking_large.learned({name: online_ranking_large.rankers()[name]}, parts, counts)
    X, y = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    coef, discounts, values = np.zeros(X.shape[1]), 1 / np.log2(np.arange(2, 12)), []
    for t, (documents, grades) in enumerate(zip(np.split(X, 20), np.split(y, 20), strict=True), 1):
        gains, scores = 2.0**grades - 1, documents @ coef
        ranked = np.lexsort((grades, -scores))
        values.append(gains[ranked][:10] @ discounts / (np.sort(gains)[::-1][:10] @ discounts))
        coef -= (softmax(scores) - softmax(grades)) @ documents / np.sqrt(t)
    np.testing.assert_allclose(found[name], [np.mean(values[:t]) for t in counts], rtol=1e-9)


def test_embeddings(monkeypatch, capsys):
    monkeypatch.setattr(embeddings, "N_TEST", 300)
    monkeypatch.setattr(embeddings, "HEADS", {n: head for n, head in embeddings.HEADS.items() if n != "LogisticRegression"})
    embeddings.main(["--rows", "1500"])
    errors = [float(line.split("error ")[1].split()[0]) for line in capsys.readouterr().out.splitlines()]
    assert len(errors) == len(embeddings.HEADS) and all(0 < error < 0.98 for error in errors)  # chance is 0.99
