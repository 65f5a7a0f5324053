"""Text for messages."""

from __future__ import annotations

import re

LONGEST = 1000  # characters
BREAKS = re.compile(r"\s*[^\S ]\s*")  # white space but for blanks alone, which names may have


def one_line(text: str, longest: int = LONGEST) -> str:
    """Return text as one safe, shortened line; control characters are escaped, so that a terminal shows them."""
    if len(text) > 2 * longest:
        text = f"{text[:longest]}...{text[-longest:]}"
    joined = BREAKS.sub(" ", text.strip())
    shown = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in joined)
    first = 2 * longest // 3
    return shown if len(shown) <= longest else f"{shown[: first - 3]}...{shown[first - longest :]}"
