import numpy as np
from numpy.typing import NDArray

MOST_FEATURES: int
PADDING: int

class LineParser:
    def __init__(
        self,
        n_features: int | None,
        zero_based: bool,
        classes: NDArray[np.float64] | None,
        *,
        multilabel: bool,
        relevance: bool,
        dtype: np.dtype,
    ) -> None: ...
    def parse(
        self, padded: bytes
    ) -> tuple[NDArray, NDArray[np.int32], NDArray[np.intp], int, NDArray[np.float64], NDArray[np.intp] | None, int, int]: ...
