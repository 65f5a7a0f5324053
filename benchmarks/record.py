"""The last full run of each suite: results/SUITE.json, and the same as tables in results/SUITE.md."""

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.report import Table, conditions

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
DIGITS = 6


@dataclass
class Record:
    """The tables of a suite, the day and the commit, and what else they depend on."""

    suite: str
    date: str
    commit: str
    processor: str
    blas: str | None
    versions: dict[str, str]
    repeats: int
    load: str | None = None
    tables: list[Table] = field(default_factory=list)

    @classmethod
    def now(cls, suite: str, tables: Sequence[Table], repeats: int) -> "Record":
        """What has just been measured."""
        return cls(suite=suite, commit=commit(), repeats=repeats, tables=[plain(table) for table in tables], **conditions())

    @classmethod
    def last(cls, suite: str) -> "Record":
        """The last full run of a suite."""
        kept = json.loads((RESULTS / f"{suite}.json").read_text())
        return cls(**{**kept, "tables": [Table(**table) for table in kept["tables"]]})

    def save(self) -> None:
        """Keep it in place of the one before."""
        (RESULTS / f"{self.suite}.json").write_text(self.json())
        (RESULTS / f"{self.suite}.md").write_text(self.markdown())

    def json(self) -> str:
        """All of it, a line for each row of a table."""
        text = json.dumps({**vars(self), "tables": [vars(table) for table in self.tables]}, indent=1, ensure_ascii=False)
        return re.sub(r"\[\s+([^\[\]]*?)\s+\]", lambda found: "[" + re.sub(r"\n\s+", " ", found[1]) + "]", text) + "\n"

    def markdown(self) -> str:
        """Its tables, below the conditions."""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        about = (
            f"Measured on {self.date} at commit {self.commit}: {self.processor}, one thread, BLAS "
            f"{self.blas or 'not noted'}, {versions}; {self.repeats} repeats of what is timed, full sizes; "
            f"load of the machine {self.load or 'not noted'}."
        )
        return "\n".join([f"# {self.suite}", "", about, "", *(table.markdown() for table in self.tables)])

    def table(self, title: str) -> Table | None:
        """The table with a title, if it was measured: some need --data."""
        return next((table for table in self.tables if table.title == title), None)


def commit() -> str:
    """The last commit that changed the package, with a + if it has been changed since."""
    asked = (["log", "-1", "--format=%h", "--", "sklearn_predtron"], ["status", "--porcelain", "--", "sklearn_predtron"])
    head, changed = (
        subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout for words in asked
    )
    return head.strip() + ("+" if changed else "")


def plain(table: Table) -> Table:
    """The table in types of Python's own, numbers no longer than they are worth."""
    return Table(table.title, table.columns, [[_value(cell) for cell in row] for row in table.rows], table.note.strip())


def _value(cell: Any) -> Any:
    cell = cell.item() if hasattr(cell, "item") else cell
    return float(f"{cell:.{DIGITS}g}") if isinstance(cell, float) else cell
