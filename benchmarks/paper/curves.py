"""Pictures of means with their standard errors (with matplotlib)."""

from collections.abc import Sequence
from pathlib import Path

from numpy.typing import NDArray

from benchmarks.suites.quality import standard_error


def draw(path: Path, xlabel: str, ylabel: str, numbers: Sequence[int], found: dict[str, dict], *, xscale: str = "linear") -> None:
    """Of each title a part, with a curve of each name: rows of its array are repetitions, columns the numbers."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(6, 4 * len(found)), 4), layout="constrained")
    FigureCanvasAgg(figure)
    parts = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
    for axes, (title, curves) in zip(parts, found.items(), strict=True):
        for name, values in curves.items():
            axes.errorbar(numbers, values.mean(axis=0), yerr=errors(values), marker="o", markersize=4, capsize=3, label=name)
        axes.set(title=title, xlabel=xlabel, ylim=(0, None), xscale=xscale)
        axes.legend()
    parts[0].set_ylabel(ylabel)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def errors(values: NDArray) -> list[float]:
    """Standard errors of the columns."""
    return [standard_error(column) for column in values.T]
