from typing import Any

from numpy.typing import NDArray

from sklearn_predtron._core.rows import Rows
from sklearn_predtron.features._row_map import RowMap

class MadeRows(Rows):
    together: int
    def __init__(self, map: RowMap, table: NDArray[Any]) -> None: ...
    def first_rows(self, n: int) -> Any: ...
