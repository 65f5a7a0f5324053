import json
import re
import subprocess

import matplotlib
import numpy as np
import pytest

from benchmarks import commands, first_page, headlines, record, report, summary
from benchmarks.headlines import HEADLINES, Headline
from benchmarks.record import RESULTS, Record
from benchmarks.report import README, Table
from benchmarks.suites import SUITES, average_cost
from benchmarks.tasks import Options

TIME = re.compile(r"\b(us|ns|ms|seconds)\b")
TABLE = Table(
    "Fits",
    ["data", "learner", "seconds", "times faster (ratio)", "goal", "met", "accuracy", "of theirs"],
    [
        ["a", "theirs", 1.0, "1 (1-1)", None, None, 0.9, None],
        ["a", "ours, default", 0.5, "2 (1-3)", "1", True, 0.95, 0.9],
        ["b", "theirs", 4.0, "1 (1-1)", None, None, 0.6, None],
        ["b", "ours, default", 0.5, "8 (7-9)", "at least 10", False, 0.8, 0.6],
        ["mean", "ours, default", None, "5", None, None, 0.9, None],
    ],
)
FASTER = {"column": "times faster (ratio)", "inverse": True}


def headline(**about):
    return Headline("stream", "time", "theirs", "Fits", **about)


# ------------------------------------------------------------------------------------------------------------------ headlines


def test_ratios_are_of_ours_to_theirs():
    assert headline(**FASTER).ratios(TABLE) == [0.5, 0.125]
    assert headline(column="seconds", theirs={"learner": "theirs"}).ratios(TABLE) == [0.5, 0.125]
    assert headline(**FASTER, theirs={"learner": "theirs"}).ratios(TABLE) == [0.5, 0.125]
    errors = headline(column="accuracy", beside="of theirs", loss=headlines.rest).ratios(TABLE)
    assert errors == pytest.approx([0.5, 0.5])


def test_limits_are_such_ratios_too():
    limited = headline(**FASTER, limited=True)
    assert limited.limits(TABLE) == [(1.0, True), (0.1, False)]
    assert headline(**FASTER).limits(TABLE) == [None, None]
    assert summary.limit_cells([(0.5, 1.0, True), (0.125, 0.1, False)]) == ["0.1-1", "1.25", "1 of 2"]
    assert summary.limit_cells([]) == [None, None, None]


def test_means_are_taken_if_they_are_asked_for():
    assert headline(column="times faster (ratio)", ours={"data": "mean"}).ratios(TABLE) == [5.0]


def test_columns_of_one_name_are_counted():
    table = Table("", ["ratio", "x", "ratio"])
    assert [headlines.place(table, name) for name in ("ratio", "ratio#2", "x")] == [0, 2, 1]


@pytest.mark.parametrize("cell, value", [("3.95 (3.71-4.27)", 3.95), ("at most 1e-5", 1e-5), (2, 2.0), ("not installed", None)])
def test_the_number_in_a_cell(cell, value):
    assert headlines.leading(cell) == value


def test_what_was_not_measured_is_said(monkeypatch):
    kept = Record("stream", "2026-01-01", "0", "a processor", None, {}, 5, tables=[TABLE])
    monkeypatch.setattr(Record, "last", lambda suite: kept)
    assert summary.line(headline(**FASTER, limited=True))[3:] == ["0.25 (0.125-0.5)", "0.1-1", "1.25", "1 of 2"]
    TABLE_OF_NONE = Table("Fits", TABLE.columns, [["a", "ours, default", "not installed", *[None] * 5]])
    kept.tables = [TABLE_OF_NONE]
    assert summary.line(headline(**FASTER))[3:] == ["not measured", None, None, None]
    kept.tables = []
    assert summary.line(headline(**FASTER))[3:] == ["not measured", None, None, None]


# -------------------------------------------------------------------------------------------------------------------- results


@pytest.mark.parametrize("suite", SUITES)
def test_results_are_kept_of_every_suite(suite):
    kept = Record.last(suite)
    assert kept.suite == suite and kept.versions["numpy"] and kept.repeats >= 5
    assert (RESULTS / f"{suite}.md").read_text() == kept.markdown()
    assert any(headline.suite == suite for headline in HEADLINES)
    for table in kept.tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}
        if any(TIME.search(column) for column in table.columns):
            assert any("ratio" in column for column in table.columns), table.title


def test_readme_has_the_summary_and_every_suite():
    text = README.read_text()
    assert summary.summary() in text
    assert all(f"`{name}`" in text for name in SUITES)
    assert len(text.splitlines()) <= 160


def test_the_first_page_has_the_results():
    page = first_page.PAGE.read_text()
    assert first_page.results() in page and str(first_page.PICTURE.relative_to(first_page.PAGE.parent)) in page


def test_the_first_page_has_the_ratios_of_its_picture():
    table = Record.last("average_cost").table(average_cost.TITLE)
    probable, decided, trees, ours = (
        [row[table.columns.index(column)] for row in table.rows]
        for column in (average_cost.PROBABLE, average_cost.DECIDED, average_cost.TREES, average_cost.OURS)
    )
    ratios = [a / b for a, b in zip(ours, probable, strict=True)]
    page = " ".join(first_page.PAGE.read_text().split())
    assert f"lowers the cost per row by {100 - 100 * max(ratios):.0f} to {100 - 100 * min(ratios):.0f} %" in page
    assert "beats us on one of these five sets, by 5 %. Boosted trees that do so beat us on none" in page
    assert [sum(a < b for a, b in zip(peer, ours, strict=True)) for peer in (decided, trees)] == [1, 0]
    assert round(max(b / a for a, b in zip(decided, ours, strict=True)), 2) == 1.05


def test_the_first_page_says_where_we_are_behind():
    greatest = [max(found) for comparison in first_page.COMPARISONS for _, found in comparison.sides()]
    assert sum(ratio > 1 for ratio in greatest) > 5
    assert first_page.spread([0.5, 2.0]) == "1.00 (0.50 to 2.00)" and first_page.spread([0.04]) == "0.04"


def test_report_writes_the_summary(tmp_path, monkeypatch, capsys):
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- summary -->\nof yore\n<!-- /summary -->\nafter\n")
    monkeypatch.setattr(summary, "README", readme)
    page, picture = tmp_path / "page.md", tmp_path / "peers.svg"
    page.write_text("<!-- results -->\nof yore\n<!-- /results -->\n")
    monkeypatch.setattr(first_page, "PAGE", page)
    monkeypatch.setattr(first_page, "PICTURE", picture)
    commands.main(["report", "--write"])
    assert page.read_text() == f"<!-- results -->\n{first_page.results()}<!-- /results -->\n"
    drawn, kept = picture.read_text(), (RESULTS / "peers.svg").read_text()
    assert drawn.count("<use") == kept.count("<use") > 20  # marks
    if tuple(map(int, matplotlib.__version__.split(".")[:2])) >= (3, 10):  # others set text otherwise
        assert drawn == kept
    written = readme.read_text()
    assert capsys.readouterr().out.strip() in written and "of yore" not in written
    assert written.startswith("before\n") and written.endswith("after\n")


def test_record_keeps_what_was_measured(tmp_path, monkeypatch):
    module = type(
        "Suite", (), {"run": lambda options: [Table("T", ["a", "b"], [[np.float64(1 / 3), np.bool_(True)], ["x", None]], "N. ")]}
    )
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    monkeypatch.setattr(record, "commit", lambda: "abc1234")
    monkeypatch.setitem(SUITES, "stream", module)
    commands.main(["run", "stream", "--record"])
    kept = Record.last("stream")
    assert kept.tables == [Table("T", ["a", "b"], [[0.333333, True], ["x", None]], "N.")]
    assert (kept.commit, kept.repeats) == ("abc1234", 5) and kept.blas and kept.versions["scikit-learn"]
    text = (tmp_path / "stream.json").read_text()
    assert '["x", null]' in text and json.loads(text)["date"] == kept.date
    assert "| 0.3333 | yes |" in (tmp_path / "stream.md").read_text()


def test_what_pins_a_kernel_is_said(monkeypatch):
    for name in report.PINS:
        monkeypatch.delenv(name, raising=False)
    free = report.blas()
    assert "pinned" not in free and f"BLAS {free}, " in report.environment(Options())
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Nehalem")
    pinned = f"{free}, pinned by OPENBLAS_CORETYPE=Nehalem"
    assert pinned in report.environment(Options())
    monkeypatch.setattr(record, "commit", lambda: "0")
    kept = Record.now("stream", [], 5)
    assert kept.blas == pinned and f"BLAS {pinned}, " in kept.markdown()


def test_a_commit_says_if_the_package_was_changed(tmp_path, monkeypatch):
    package = tmp_path / "sklearn_predtron"
    package.mkdir()
    (package / "core.pyx").write_text("1")
    git = ["git", "-c", "user.name=n", "-c", "user.email=e", "-C", str(tmp_path)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *words], check=True)
    monkeypatch.setattr(record, "ROOT", tmp_path)
    head = record.commit()
    assert re.fullmatch("[0-9a-f]+", head)
    (tmp_path / "else.txt").write_text("what is not measured")
    for words in (["add", "-A"], ["commit", "-q", "-m", "two"]):
        subprocess.run([*git, *words], check=True)
    assert record.commit() == head
    (package / "core.pyx").write_text("2")
    assert record.commit() == head + "+"


def test_the_page_of_the_board_has_its_savings():
    table = Record.last("board").table("Savings")
    page = (README.parents[1] / "doc" / "board.rst").read_text()
    for name, *cells in table.rows:
        means = [f"{float(cell.split()[0]):.2f}" if cell and "±" in cell else cell or "" for cell in cells[:-1]]
        assert f'   "{name}", {", ".join(means)}\n' in page
