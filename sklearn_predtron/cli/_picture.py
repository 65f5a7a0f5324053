"""Picture of losses and times relative to the baselines."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.cli._job import Job

# Vermillion and blue of Okabe and Ito (2008), which the colour-blind tell apart.
COLORS = "#D55E00", "#0072B2"
FORMATS = (".pdf", ".png", ".svg")


class PeerRatios(NamedTuple):
    """Ratios to the baseline on a data set; None is unknown."""

    name: str
    loss: float | None
    time: float | None


def check_picture(job: Job) -> None:
    """Raise UsageError if the picture cannot be drawn."""
    if job.plot is None:
        return
    if job.train or job.load:
        raise UsageError("--plot is for the comparison without TRAIN, not for files")
    if job.compare is False:
        raise UsageError("--plot draws ratios to peers, which --no-compare leaves out")
    if Path(job.plot).suffix.lower() not in FORMATS:
        raise UsageError(f"--plot={job.plot!r} is not of a known format; accepted are names that end in {', '.join(FORMATS)}")
    if find_spec("matplotlib") is None:
        raise UsageError("--plot needs matplotlib: pip install 'sklearn_predtron[plot]'")


def draw(lines: Sequence[PeerRatios], path: str) -> None:
    """Draw loss and time ratios on log axes; write the picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 1.2 + 0.42 * len(lines)), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    axes[0].set_yticks(range(len(lines)), [line.name for line in lines])
    axes[0].invert_yaxis()
    sides = {"loss": [line.loss for line in lines], "time": [line.time for line in lines]}
    for ax, (title, ratios), color in zip(axes, sides.items(), COLORS, strict=True):
        draw_side(ax, ratios, color)
        ax.set_title(f"{title}, predtron / peer", fontsize=11)
    figure.supxlabel("left of the line predtron is better", fontsize=11)
    written = BytesIO()
    figure.savefig(written, format=Path(path).suffix[1:].lower())
    Path(path).write_bytes(written.getvalue())


def draw_side(ax: Any, ratios: Sequence[float | None], color: str) -> None:
    """Draw a bar from 1 to each positive ratio."""
    ax.axvline(1, color="gray")
    ax.set_xscale("log")
    for place, ratio in enumerate(ratios):
        if ratio:
            ax.plot([1, ratio], [place, place], color=color, linewidth=3, alpha=0.5)
            ax.plot(ratio, place, "o", color=color)
    far = max([2.0, *(max(ratio, 1 / ratio) for ratio in ratios if ratio)]) * 1.3
    ax.set_xlim(1 / far, far)
    steps = [step for step in ((2, 4) if far < 10 else (10, 100, 1_000, 10_000)) if step <= far]
    ax.set_xticks([*(1 / step for step in steps), 1, *steps], [*(f"1/{step}" for step in steps), "equal", *map(str, steps)])
    ax.minorticks_off()
    ax.tick_params(length=0)
    ax.grid(alpha=0.3)
    ax.spines[:].set_visible(False)
