"""The base of codecs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.queries import shortened


class Codec:
    """Encodes labels for training, and decodes predictions to labels.

    A codec does not change: new labels make another codec.
    """

    def encode(self, y: Any) -> Any:
        """Return the labels of rounds, or the values of rows; raise ValueError for unknown labels."""
        raise TypeError(f"{type(self).__name__} does not define encode(); a codec must.")

    def decode(self, predicted: NDArray) -> Any:
        """Return the labels of predictions."""
        return predicted

    def extended(self, classes: Any) -> tuple[Codec, list[int]]:
        """Return a codec with more classes, and the new place of each present score."""
        raise ValueError(f"classes={shortened(classes)}: these labels do not take more classes; fit the estimator anew.")

    def choices(self) -> tuple[Codec, ...]:
        """Return codecs of the same labels with different representations, which `fit` compares; the first is the default."""
        return (self,)

    def refinements(self) -> tuple[Codec, ...]:
        """Return codecs that `fit` compares with this one, after as many epochs, if this one is the best choice."""
        return ()

    def standardised(self) -> Codec:
        """Return a codec of the same labels for rows that the norm standardises."""
        return self

    def strata(self, labels: Any, rows: NDArray) -> NDArray:
        """Return the strata of some rows; all folds have equal shares of each stratum."""
        return np.zeros(len(rows), dtype=np.intp)

    def short(self) -> Any:
        """Return the compiled reader of plain labels, for the fast path of streams; None if there is none."""
        return None

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without the private ones, which are computed on demand."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}
