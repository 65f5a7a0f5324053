"""Keep the cases that found something which has been mended; `tests/test_fuzz.py` replays them.

A change of what is drawn changes what a seed means, so that simple cases are also written out in `tests/test_fuzz.py`.
"""

from __future__ import annotations

# Part, seed, what it was.
SEEDS: list[tuple[str, int, str]] = [
    ("learning", 4777, "a warning about `y` where only `classes` is long"),
    ("learning", 31258, "infinity in X that the sigmoid kernel maps to something finite"),
    ("learning", 31771, "a half-fitted model after rows that a kernel refused"),
    ("learning", 35422, "a half-fitted model after rows that a kernel refused"),
    ("learning", 310662496000, "a failed fit that dropped the fast path of single rows"),
    ("learning", 75, "rows whose mistakes are free, alone in a call, that the mean costs lost"),
    ("learning", 51511108, "classes of a first call without weights, forgotten when the map of a table was made"),
    ("learning", 77290801, "labels of tokens, read as quantities where a map chose pairs"),
    ("threads", 904200816, "a callback that evaluates each epoch, and so changed how sums were rounded"),
    ("states", 860, "a generated __setstate__ that read beyond its tuple"),
    ("states", 20391, "a counter of the state, used as an index"),
    ("states", 21228, "an array of the state of another length"),
    ("states", 21371, "a tuple of the state of another length"),
    ("states", 6156, "a code of another shape than the weights"),
    ("states", 7048, "a negative exponent, and an endless loop"),
    ("pickles", 100005, "numbers of the state, used as indices"),
    ("pickles", 100081, "a negative exponent, and an endless loop"),
    ("model_files", 5009280, "two classes that are five, and their numbers as zeros and ones"),
    ("model_files", 9031700, "a problem of a base class, of no scores, by whose number another part divides"),
    ("model_files", 9065687, "a code whose decoded scores are not numbers, of which none is the largest"),
    ("model_files", 7729972, "a map without a state, of which the first entry was read"),
    ("caches", 701828, "values of 8 bytes in a forged cache of rows of 4"),
]
