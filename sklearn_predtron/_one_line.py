"""Text for a message."""

from __future__ import annotations

LONGEST = 1000  # characters


def one_line(text: str, longest: int = LONGEST) -> str:
    """Return text as one line that a terminal only shows: what it would obey is escaped, and the middle of much is left out."""
    if len(text) > 2 * longest:
        text = f"{text[:longest]}...{text[-longest:]}"
    shown = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in " ".join(text.split()))
    first = 2 * longest // 3
    return shown if len(shown) <= longest else f"{shown[: first - 3]}...{shown[first - longest :]}"
