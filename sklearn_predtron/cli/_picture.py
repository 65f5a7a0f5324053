"""Pictures of ratios to peers, and of confusions of labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sklearn_predtron.cli._console import complain

# Vermillion and blue of Okabe and Ito (2008), which the colour-blind tell apart.
COLORS = "#D55E00", "#0072B2"


class PeerRatios(NamedTuple):
    """Ratios to the baseline on a data set; None is unknown."""

    name: str
    loss: float | None
    time: float | None


def write_picture(make: Callable[[], Any], path: str) -> int:
    """Write a figure; return the exit code."""
    written = BytesIO()
    make().savefig(written, format=Path(path).suffix[1:].lower())
    try:
        Path(path).write_bytes(written.getvalue())
    except OSError as error:
        return complain(f"--plot={path!r}: {error.strerror}")
    return 0


def draw_confusion(counts: dict[tuple[Any, Any], int], title: str) -> Any:
    """Return a figure of the rows by true and predicted label."""
    from matplotlib.figure import Figure
    from sklearn.metrics import ConfusionMatrixDisplay

    labels = sorted({label for pair in counts for label in pair})
    matrix = np.array([[counts.get((true, predicted), 0) for predicted in labels] for true in labels])
    shown = [label if isinstance(label, str) else f"{label:g}" for label in labels]
    figure = Figure(figsize=(1.5 + len(labels), 1 + len(labels)), layout="constrained")
    axes = figure.subplots()
    ConfusionMatrixDisplay(matrix, display_labels=shown).plot(ax=axes, colorbar=False)
    axes.set_title(title, fontsize=11)
    return figure


def draw_ratios(lines: Sequence[PeerRatios]) -> Any:
    """Return a figure of loss and time ratios on log axes."""
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
    return figure


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
