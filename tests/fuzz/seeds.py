"""Keep the cases that found something which has been mended; `tests/test_fuzz.py` replays them.

A change of what is drawn changes what a seed means, so that simple cases are also written out in `tests/test_fuzz.py`.
"""

from __future__ import annotations

# Part, seed, what it was.
SEEDS: list[tuple[str, int, str]] = []
