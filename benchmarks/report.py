"""Tables in Markdown, what they were measured with, and the places in a README where they go."""

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

from threadpoolctl import threadpool_info

from benchmarks.tasks import Options

README = Path(__file__).with_name("README.md")
PACKAGES = (
    *("sklearn_predtron", "numpy", "scipy", "scikit-learn"),
    *("river", "vowpalwabbit", "mord", "skordinal", "statsmodels", "lightgbm", "xgboost", "python-crfsuite"),
    *("interpret-core", "mapie", "empulse"),
)
PINS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")  # with these OpenBLAS takes other kernels or blocks than the processor's


@dataclass
class Table:
    """A titled table; a cell that is None is empty."""

    title: str
    columns: list[str]
    rows: list[list[Any]] = field(default_factory=list)
    note: str = ""

    def markdown(self) -> str:
        """The title, the note and the rows."""
        return "\n".join([f"### {self.title}", "", *([self.note, ""] if self.note else []), self.lines()])

    def lines(self) -> str:
        """The columns and the rows."""
        cells = [self.columns, ["---"] * len(self.columns), *([_cell(value) for value in row] for row in self.rows)]
        return "".join(_line(row) + "\n" for row in cells)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value, 4) if isinstance(value, float) else str(value)


def number(value: float, digits: int = 3) -> str:
    """Significant digits, large numbers in full."""
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def spread(values: Sequence[float]) -> str:
    """Median, least and greatest."""
    return f"{number(median(values))} ({number(min(values))}-{number(max(values))})"


def mean_error(mean: float, error: float) -> str:
    """A mean and its standard error."""
    return f"{mean:.4f} ± {error:.4f}"


def environment(options: Options) -> str:
    """What the numbers were measured with."""
    size = "full sizes" if options.scale == 1 else f"--quick, sizes times {options.scale:g}: the ratios say little"
    about = f"{_processor()}, one thread, BLAS {blas() or 'not known'}, {versions()}"
    return f"{about}; {options.repeats} repeats of what is timed; {size}."


def conditions() -> dict[str, Any]:
    """The day, the versions, the processor and its load, and the kernels of BLAS."""
    packages = {name: installed for name in PACKAGES if (installed := _version(name))}
    versions = {"python": platform.python_version(), **packages}
    return {
        "date": date.today().isoformat(),
        "processor": _processor(),
        "blas": blas(),
        "versions": versions,
        "load": f"{os.getloadavg()[1]:.1f} on {os.cpu_count()} cores" if hasattr(os, "getloadavg") else None,
    }


def blas() -> str | None:
    """The kernels that BLAS chose for the processor, or those that it was told to take."""
    libraries = [found for found in threadpool_info() if found["user_api"] == "blas"]
    kernels = {f"{found['internal_api']} {found['version']} {found.get('architecture', '')}".strip() for found in libraries}
    pinned = [f"pinned by {name}={os.environ[name]}" for name in PINS if name in os.environ]
    return ", ".join([*sorted(kernels), *pinned]) or None


def versions() -> str:
    """Of Python and of the packages that are installed."""
    found = [f"{name} {installed}" for name in PACKAGES if (installed := _version(name))]
    return ", ".join([f"Python {platform.python_version()}", *found])


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*:\s*(.+)", cpuinfo.read_text()) if cpuinfo.exists() else None
    return named.group(1) if named else platform.processor() or platform.machine()


def replace(text: str, suite: str, body: str) -> str:
    """The text with the part between a suite's markers replaced."""
    start, end = f"<!-- {suite} -->\n", f"<!-- /{suite} -->"
    if start not in text or end not in text:
        raise ValueError(f"The text has no markers for the suite {suite!r}.")
    head, rest = text.split(start, 1)
    return head + start + body + end + rest.split(end, 1)[1]
