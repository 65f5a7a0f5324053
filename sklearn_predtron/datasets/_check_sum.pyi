from collections.abc import Iterable
from typing import Any

BLOCK_BYTES: int

def check_sum(parts: Iterable[Any]) -> int: ...
