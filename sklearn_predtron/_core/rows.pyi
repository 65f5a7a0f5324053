from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST_LENGTH: float
LARGEST_LENGTH: float
OVERFLOW: str

def dense_rows(X: NDArray[Any]) -> Any: ...
def csr_rows(X: Any) -> Rows: ...
def sparse_rows(value: NDArray[Any], index: NDArray[Any], start: NDArray[np.intp], p: int) -> SparseRows: ...

class Rows:
    n: int
    p: int
    longest: int
    sparse: bool
    row_numbers: Any
    def matrix(self) -> Any: ...
    def finite(self) -> bool: ...
    def first_outside(self) -> int: ...

class SparseRows(Rows):
    def repeating(self) -> NDArray[np.intp]: ...

class SummedRows(Rows):
    def __init__(self, stored: SparseRows, numbers: NDArray[np.intp], sums: SparseRows) -> None: ...

class QueryRows(Rows):
    def __init__(self, documents: Rows, start: NDArray[np.intp], row_numbers: Any = ..., given: Any = ...) -> None: ...
