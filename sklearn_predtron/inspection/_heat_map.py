"""Tables of numbers as heat maps with text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_TEXTS = 16  # rows with a text in each cell; more of them leave it no room
MOST_LETTERS = 45  # of the names of columns beside each other; more of them stand upright
GREY = (0.5, 0.5, 0.5, 0.35)  # on any background


def draw_cells(
    ax: Any, values: NDArray, texts: NDArray, *, rows: NDArray, columns: NDArray, colorbar: str | None, **kwargs: Any
) -> tuple[Any, NDArray | None]:
    """Draw a heat map; return its image and texts. A cell of nan, or one that is infinite, is grey."""
    ax.set_facecolor(GREY)
    image = ax.imshow(np.ma.masked_invalid(values), **{"aspect": "auto", **kwargs})
    ax.grid(False)
    ax.set_yticks(np.arange(len(rows)), labels=rows.tolist(), parse_math=False)
    crowded = sum(len(name) + 1 for name in columns) > MOST_LETTERS
    ax.set_xticks(np.arange(len(columns)), labels=columns.tolist(), parse_math=False, rotation=90 if crowded else 0)
    if colorbar is not None:
        ax.figure.colorbar(image, ax=ax, label=colorbar)
    if max(values.shape) > MOST_TEXTS:
        return image, None
    written = np.empty(values.shape, dtype=object)
    size = "medium" if max(values.shape) <= 9 else "x-small"
    for (i, j), text in np.ndenumerate(texts):
        ink = ink_on(image, float(values[i, j]), otherwise=ax.xaxis.label.get_color())
        written[i, j] = ax.text(j, i, text, ha="center", va="center", color=ink, fontsize=size)
    return image, written


def ink_on(image: Any, value: float, otherwise: Any) -> Any:
    """Return black or white, whichever contrasts with a colour."""
    if not np.isfinite(value):
        return otherwise
    red, green, blue, _ = image.cmap(image.norm(value))
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


def names_of(labels: Any) -> NDArray:
    """Return labels as text."""
    return np.array([str(label) for label in np.asarray(labels).tolist()], dtype=object)
