"""A page of HTML with tables and figures, which needs no other file."""

from __future__ import annotations

import re
from html import escape
from io import StringIO
from typing import Any

import numpy as np

STYLE: list[Any] = ["default", {"svg.hashsalt": "sklearn_predtron", "text.parse_math": False}]
NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
REFERENCE = re.compile(r'(\bid="|href="#|url\(#)')  # ids of pictures, which must differ on one page
CSS = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; margin: 0 auto; padding: 1rem; max-width: 60rem; }
h1 { font-size: 1.7rem; overflow-wrap: anywhere; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
figure { margin: 1rem 0; overflow-x: auto; }
figcaption { color: #555; font-size: 0.9rem; max-width: 44rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.6rem; border-bottom: 1px solid #ddd; text-align: right; vertical-align: top; }
td { white-space: nowrap; }
th:first-child { text-align: left; overflow-wrap: anywhere; min-width: 8rem; }
tbody th { font-weight: normal; }
svg { display: block; height: auto; max-width: 100%; min-width: 22rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
"""


def page(title: str, sections: list[tuple[str, str]]) -> str:
    """Return a page of sections in HTML, without those that are empty."""
    body = "\n".join(f"<section>\n<h2>{head}</h2>\n{text}</section>" for head, text in sections if text)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
    )


def share(value: float) -> str:
    """Return a share in percent, with at most two decimals."""
    return f"{round(100 * value, 2) + 0.0:g} %" if np.isfinite(value) else "–"


def number(value: float) -> str:
    """Return a number with four digits, or as a whole."""
    if not np.isfinite(value):
        return "–"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def paragraph(text: str) -> str:
    """Return a paragraph of plain text."""
    return f"<p>{escape(text)}</p>\n"


def table(head: list[str], rows: list[list[str]], legend: str) -> str:
    """Return a table of plain text, whose rows begin with their names, and its legend."""
    heads = "".join(f"<th>{escape(text)}</th>" for text in head)
    body = "\n".join(
        f"<tr><th>{escape(name)}</th>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>" for name, *cells in rows
    )
    return (
        f"<figure>\n<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"
        f"<figcaption>{escape(legend)}</figcaption>\n</figure>\n"
    )


def picture(name: str, draw: Any, caption: str, size: tuple[float, float] = (7, 4)) -> str:
    """Return a figure of SVG with its caption; its bytes do not depend on the user's settings."""
    import matplotlib.style
    from matplotlib.figure import Figure

    text = StringIO()
    with matplotlib.style.context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        figure.savefig(text, format="svg", metadata=NO_METADATA)
    svg = text.getvalue()
    svg = REFERENCE.sub(rf"\1{name}-", svg[svg.index("<svg") :])
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(caption)}" ', 1)
    return f"<figure>\n{svg}<figcaption>{escape(caption)}</figcaption>\n</figure>\n"
