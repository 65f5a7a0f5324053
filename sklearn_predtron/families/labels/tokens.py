"""Labels of the tokens of sequences."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from sklearn_predtron._support.encoding import encode
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.families._stream import TokenReader
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.classes import (
    MissingClasses,
    check_same_set,
    class_list,
    find_classes,
    one_dimensional,
    with_more,
)
from sklearn_predtron.families.labels.transitions import allowed_transitions, check_transitions


class Tokens(Codec):
    """Labels of tokens, each of them a number.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels in the order of their numbers.
    allowed : ndarray of shape (n_classes + 1, n_classes) or None
        Which label may follow which, in the last row which may be first; None if all may.
    """

    def __init__(self, classes: NDArray, allowed: NDArray | None = None):
        self.classes, self.allowed = classes, allowed

    @classmethod
    def first(cls, y: Any, classes: Any, *, partial: bool) -> tuple[Tokens, NDArray]:
        """Return the codec of the first labels, and the numbers of these."""
        if not partial:
            found, codes = find_classes(one_dimensional(y))
            return cls(found), codes
        if classes is None:
            raise MissingClasses()
        codec = cls(find_classes(class_list(classes), targets=False)[0])
        return codec, codec.encode(y)

    def check_same(self, classes: Any) -> None:
        """Refuse other classes than those of the first call."""
        check_same_set(classes, self.classes, "on the first call")

    def with_more(self, classes: Any, constraint: Any) -> tuple[Tokens, list[int]]:
        """Return the codec of more labels under a constraint, and the new number of each of those so far."""
        found, places = with_more(self.classes, classes)
        if isinstance(constraint, str) and constraint == "observed":
            raise ValueError(
                f"classes={shortened(classes)}: constraint='observed' allows what fit has seen, and no new label; accepted are "
                "None, 'bio' and an array of which label may follow which, of all labels."
            )
        allowed = allowed_transitions(constraint, found, None)
        if allowed is not None:
            check_transitions(allowed, found, constraint)
        return Tokens(found, allowed), places

    def encode(self, y: Any) -> NDArray:
        """Return the numbers of labels; refuse what is no class."""
        return encode(one_dimensional(y), self.classes)

    def decode(self, predicted: NDArray) -> NDArray:
        """Return the labels of these numbers."""
        return self.classes[predicted]

    def short(self) -> TokenReader:
        """Return the compiled reader of the tokens of one sequence."""
        return TokenReader({label: code for code, label in enumerate(self.classes.tolist())}, self.allowed)
