from collections.abc import Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

MOST_BYTES: int

def query_id(field: bytes) -> int | None: ...
def rows_of(file: IO[bytes], size: int) -> Iterator[list[bytes]]: ...

class Block:
    text: bytes
    first: int
    whole: int
    line_numbers: NDArray[np.int64] | None
    qid: NDArray[np.int64] | None
    error: tuple[int, str] | None
    unread: int

class BlockCutter:
    def __init__(
        self,
        file: IO[bytes],
        most: int,
        size: int,
        *,
        longest: int,
        group: str | None = ...,
        at_once: int | None = ...,
        before: int | None = ...,
    ) -> None: ...
    def __iter__(self) -> Iterator[Block]: ...
    def __next__(self) -> Block: ...
