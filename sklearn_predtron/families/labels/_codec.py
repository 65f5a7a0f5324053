"""The base of codecs."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.queries import shortened


class Codec:
    """Encodes labels for training, and decodes predictions to labels; a codec does not change: new labels make another codec."""

    plan_kind: Literal["rows", "sets", "sequences"] = "rows"  # the training plan for such labels

    def check_saved(self, problem: Any) -> None:
        """Raise TypeError if a saved codec is damaged, or of another number of labels than the problem."""

    def encode(self, y: Any) -> Any:
        """Return the labels of rounds, or rows' values; raise ValueError for unknown labels."""
        raise TypeError(f"{type(self).__name__} does not define encode(); a codec must.")

    def decode(self, predicted: NDArray) -> Any:
        """Return the labels of predictions."""
        return predicted

    def extended(self, classes: Any) -> tuple[Codec, list[int]]:
        """Return a codec with more classes, and places; the places are the new ones of the present scores."""
        raise ValueError(f"classes={shortened(classes)}: these labels do not take more classes; fit the estimator again.")

    def choices(self) -> tuple[Codec, ...]:
        """Return codecs with different representations, to compare.

        The labels are the same, and the first codec is the default.
        """
        return (self,)

    def refinements(self) -> tuple[Codec, ...]:
        """Return codecs to compare with this one; `fit` compares them, after as many epochs, if this codec is the best choice."""
        return ()

    def standardised(self) -> Codec:
        """Return a codec for standardised rows; the labels are the same; the norm standardises the rows."""
        return self

    def strata(self, labels: Any, rows: NDArray) -> NDArray:
        """Return the strata of some rows; all folds have equal shares of each stratum."""
        return np.zeros(len(rows), dtype=np.intp)

    def short(self) -> Any:
        """Return the compiled reader of plain labels; it is for the fast path of streams; None if there is none."""
        return None

    @staticmethod
    def check_array(values: Any, n: int, what: str) -> None:
        """Raise TypeError unless saved values are an array of n."""
        if not isinstance(values, np.ndarray) or values.shape != (n,):
            raise TypeError(f"where {n} {what} are expected there is {shortened(values)}")

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without the private ones; the private ones are computed on demand."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}
