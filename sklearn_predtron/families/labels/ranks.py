"""Ordinal classes; they are in a declared order or in the order of their values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.encoding import encode
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.warning import warn
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.classes import Classes, find_classes


class Ranks(Classes):
    """The codec of ordinal classes.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels from the lowest rank to the highest.
    representations : tuple of str, default=()
        Those that `fit` compares; the first is meant until one is chosen.  () is the parameter `representation`.
    """

    def __init__(self, classes: NDArray, representations: tuple[str, ...] = ()):
        super().__init__(classes)
        self.representations = representations

    def choices(self) -> tuple[Codec, ...]:
        """Return a codec for each representation."""
        return tuple(Ranks(self.classes, (one,)) for one in self.representations) or (self,)

    @staticmethod
    def found(y: NDArray, *, targets: bool = True) -> tuple[NDArray, NDArray]:
        """Return the sorted classes and the labels' numbers; classes are in the order of their values."""
        try:
            return find_classes(y, targets=targets)
        except ValueError as error:
            if "continuous" not in str(error):
                raise
            raise ValueError(
                f"Unknown label type: continuous, as {shortened(y)}.  Where fractions are ranks, such as half stars, declare "
                "them: categories=[1, 1.5, 2, ...], or an ordered pandas Categorical."
            ) from None

    def check(self, *, ordered: bool) -> None:
        """Raise ValueError for a single class; warn of strings without a declared order."""
        super().check(ordered=ordered)
        if not ordered and self.classes.dtype.kind in "OSUT":
            found = self.classes.tolist()
            warn(f"The labels are text, and their order is that of the alphabet: {found}; categories= gives another.")

    def check_order(self, given: NDArray, *, whole: bool) -> None:
        """Raise ValueError if the declared order changes; if `whole`, there may not be fewer classes either."""
        if (np.diff(encode(given, self.classes, "categories")) <= 0).any():
            raise ValueError(
                f"categories={given.tolist()} are not in the order in which learning began: {self.classes.tolist()}."
            )
        if whole and len(given) < len(self.classes):
            raise ValueError(f"categories={given.tolist()} cannot change from {self.classes.tolist()} after training began.")

    def extended(self, classes: Any) -> tuple[Codec, list[int]]:
        """Raise ValueError for more classes."""
        raise ValueError(
            f"classes={shortened(classes)}: PredtronOrdinalClassifier does not take more ranks than it began with, between which "
            "its thresholds lie; name all of them by `categories`, or by `classes` in the first call."
        )


def checked_categories(categories: Any) -> NDArray:
    """Return the classes of the parameter `categories`."""
    given = np.asarray(categories)
    mixed = len({isinstance(label, str) for label in np.asarray(categories, dtype=object).ravel()}) > 1
    if mixed or given.ndim != 1 or len(set(given.tolist())) < max(2, len(given)) or unlike(given):
        raise ValueError(f"categories={categories!r} must be a list of at least two different labels of one type, each once.")
    return given


def unlike(labels: NDArray) -> bool:
    """Return whether labels cannot be compared; labels that are not equal to themselves cannot."""
    try:
        return bool((np.sort(labels) != np.sort(labels)).any())
    except TypeError:
        return True
