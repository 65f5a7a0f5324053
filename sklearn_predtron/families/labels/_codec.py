"""The base of codecs, each of which knows a kind of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.queries import shortened


class Codec:
    """Reads labels as what the loop learns from, and writes predictions as the user knows them.

    A codec does not change: labels that come later make another one.
    """

    def encode(self, y: Any) -> Any:
        """Return the labels of rounds, or the values of the rows that rounds are made of; refuse what is no label."""
        raise TypeError(f"{type(self).__name__} does not define encode(); a codec must.")

    def decode(self, predicted: NDArray) -> Any:
        """Return predictions as the user knows them."""
        return predicted

    def extended(self, classes: Any) -> tuple[Codec, list[int]]:
        """Return a codec that knows more classes, and the place in it of each score so far."""
        raise ValueError(f"classes={shortened(classes)}: these labels do not take more classes; fit the estimator anew.")

    def choices(self) -> tuple[Codec, ...]:
        """Return codecs of the same labels, each with another representation, that `fit` compares; the first is the default."""
        return (self,)

    def refinements(self) -> tuple[Codec, ...]:
        """Return codecs that `fit` compares with this one when it is the best choice, after as many epochs."""
        return ()

    def standardised(self) -> Codec:
        """Return a codec of the same labels for rows under another norm than the first one, which may standardise them."""
        return self

    def strata(self, labels: Any, rows: NDArray) -> NDArray:
        """Return the number of the stratum of each of some rows, of which all folds have as many."""
        return np.zeros(len(rows), dtype=np.intp)

    def short(self) -> Any:
        """Return the compiled reader of plain labels, by the fast path of a stream; None if there is none."""
        return None

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without the private ones, which are computed on demand."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}
