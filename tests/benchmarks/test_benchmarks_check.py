"""Figures of a fresh run beside those that were recorded."""

from types import SimpleNamespace

import pytest

from benchmarks import check
from benchmarks.commands import main
from benchmarks.record import Record
from benchmarks.report import Table

COLUMNS = ["data", "rows", "learner", "error", "us per row", "times faster (ratio)", "met"]


def table(*rows):
    return Table("Errors", COLUMNS, [list(row) for row in rows])


RECORDED = table(["iris", 150, "ours", 0.10, 3.0, "4.0 (3.5-4.2)", True], ["iris", 150, "theirs", 0.12, 12.0, None, None])


@pytest.mark.parametrize(
    ("row", "columns"),
    [
        (["iris", 150, "ours", 0.10, 3.0, "4.0 (3.5-4.2)", True], []),
        (["iris", 150, "ours", 0.102, 9.0, "2.1 (2.0-2.2)", False], []),  # seconds are the machine's
        (["iris", 150, "ours", 0.11, 3.0, "4.0 (3.5-4.2)", True], ["error"]),
        (["iris", 150, "ours", 0.09, 3.0, "1.9 (1.5-2.2)", True], ["error", "times faster (ratio)"]),
        (["iris", 150, "ours", 0.10, 3.0, "8.1 (7.5-9.2)", True], ["times faster (ratio)"]),
        (["iris", 151, "ours", 0.10, 3.0, "4.0 (3.5-4.2)", True], [""]),
        (["iris", 150, "theirs", 0.121, 99.0, None, None], []),
        (["iris", 150, "theirs", 0.2, 99.0, None, None], ["error"]),
    ],
)
def test_what_differs(row, columns):
    assert [one.column for one in check.differing(RECORDED, table(row))] == columns


def test_the_command(monkeypatch, capsys):
    """It ends with 1 where a figure is another, and with 0 where none is."""
    recorded = Record("joint", "2026-01-01", "0000000", "a processor", None, {}, 5, tables=[RECORDED])
    monkeypatch.setattr(check.Record, "last", classmethod(lambda kind, name: recorded))
    for error, code in ((0.10, 0), (0.2, 1)):
        rows = [["iris", 150, "ours", error, 3.0, "4.0 (3.5-4.2)", True]]
        monkeypatch.setitem(check.SUITES, "joint", SimpleNamespace(run=lambda options, rows=rows: [table(*rows)]))
        with pytest.raises(SystemExit) as ended:
            main(["check", "joint"])
        assert ended.value.code == code
        assert ("recorded 0.1, now 0.2" in capsys.readouterr().out) == (code == 1)
