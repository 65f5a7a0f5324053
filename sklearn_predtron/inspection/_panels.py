"""Panels of effects: lines, bars and heat maps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.inspection._coefficients import short
from sklearn_predtron.inspection._display import NEGATIVE, POSITIVE
from sklearn_predtron.inspection._terms import Effect, TermColumn

GREY = (0.5, 0.5, 0.5, 0.6)  # on any background
LETTERS = 28  # of the names of categories beside each other; more of them stand upright
TICKS = 4  # of numbers below a panel, about
GAP = 0.15  # of the width of a panel, between the largest number and the missing values


def draw_curve(ax: Any, below: Any, effect: Effect, ink: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Draw a numeric effect; return the line and missing's mark."""
    column, mark = effect.columns[0], None
    low, high = ends(column)
    line = ax.plot(column.at, effect.values, **{"color": POSITIVE, "marker": "o" if len(column.at) == 1 else None, **kwargs})[0]
    below.bar(column.edges[:-1], column.shares, np.diff(column.edges), align="edge", color=GREY)
    below.locator_params(axis="x", nbins=TICKS)
    margin, last = GAP * (high - low) / 2, high
    if effect.missing is not None:
        last = high + GAP * (high - low)
        mark = draw_missing(ax, below, effect, last, (high - low) / 20, ink)
        ticks = [tick for tick in below.get_xticks() if low - margin <= tick <= high - 2 * margin]
        texts = below.xaxis.get_major_formatter().format_ticks(ticks)
        below.set_xticks([*ticks, last], labels=[*texts, "missing"])
    ax.set_xlim(low - margin, last + margin)
    return line, mark


def draw_bars(ax: Any, below: Any, effect: Effect, ink: Any) -> tuple[Any, Any]:
    """Draw a categorical effect; return bars and missing's mark."""
    column, mark = effect.columns[0], None
    places, names = np.arange(len(column.at)), [short(str(name)) for name in column.at]
    bars = ax.bar(places, effect.values, color=np.where(effect.values < 0, NEGATIVE, POSITIVE))
    below.bar(places, column.shares, color=GREY)
    if effect.missing is not None:
        mark = draw_missing(ax, below, effect, len(places), 0.8, ink)
        places, names = np.arange(len(places) + 1), [*names, "missing"]
    below.set_xticks(places, labels=names, parse_math=False, rotation=upright(names))
    return bars, mark


def draw_missing(ax: Any, below: Any, effect: Effect, place: float, width: float, ink: Any) -> Any:
    """Draw the effect of missing values; return its mark."""
    below.bar([place], [effect.columns[0].missing], width, color=GREY, hatch="////", edgecolor=ink)
    return ax.plot([place], [effect.missing], "D", color=ink, markersize=7, zorder=3)[0]


def draw_pair(ax: Any, effect: Effect, largest: float, **kwargs: Any) -> Any:
    """Draw the heat map of a pair's effect."""
    places = [column.at if column.of_numbers else np.arange(len(column.at)) for column in effect.columns]
    edges = [edges_of(at) for at in places]
    how = {"cmap": "PuOr", "vmin": -largest, "vmax": largest, "rasterized": True, **kwargs}
    image = ax.pcolormesh(*edges, effect.values.T, **how)
    ax.grid(False)
    for set_ticks, column, at, turned in zip((ax.set_xticks, ax.set_yticks), effect.columns, places, (True, False), strict=True):
        if not column.of_numbers:
            names = [short(str(name)) for name in column.at]
            set_ticks(at, labels=names, parse_math=False, rotation=upright(names) if turned else 0)
    if effect.columns[0].of_numbers:
        ax.locator_params(axis="x", nbins=TICKS)
    ax.set_xlabel(short(effect.columns[0].name), parse_math=False)
    ax.set_ylabel(short(effect.columns[1].name), parse_math=False)
    return image


def ends(column: TermColumn) -> tuple[float, float]:
    """Return the ends of an axis of numbers."""
    low, high = float(column.at[0]), float(column.at[-1])
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def edges_of(places: NDArray) -> NDArray:
    """Return the cell edges, half way between places."""
    if len(places) == 1:
        return np.array([places[0] - 0.5, places[0] + 0.5])
    between = (places[1:] + places[:-1]) / 2
    return np.concatenate([[2 * places[0] - between[0]], between, [2 * places[-1] - between[-1]]])


def upright(names: list[str]) -> int:
    """Return the rotation for names that would overlap."""
    return 90 if sum(len(name) + 1 for name in names) > LETTERS else 0


def limits(effects: list[Effect]) -> tuple[float, float]:
    """Return the axis limits of a column's effects."""
    values = [np.append(effect.values, [0.0 if effect.missing is None else effect.missing, 0.0]) for effect in effects]
    low, high = min(map(np.min, values), default=0.0), max(map(np.max, values), default=0.0)
    margin = 0.07 * (high - low) or 1.0
    return float(low - margin), float(high + margin)
