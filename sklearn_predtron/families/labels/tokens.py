"""Labels of tokens."""

from __future__ import annotations

from math import inf
from typing import Any

from numpy.typing import NDArray

from sklearn_predtron._support.chunks import are_chunks
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.classes import (
    TO_WIDEN,
    MissingClasses,
    check_same_set,
    class_list,
    codes_of_labels,
    find_classes,
    one_dimensional,
    with_more,
)
from sklearn_predtron.families.labels.label_readers import TokenReader
from sklearn_predtron.families.labels.transitions import allowed_transitions, check_transitions

INTERCEPT, TRANSITIONS, LOSS = "intercept_scaling", "transition_scaling", "loss"
LENGTH = "length"  # of the rows
OF_ROWS = {INTERCEPT: LENGTH, TRANSITIONS: 0.1}
OF_ONES = {INTERCEPT: 1.0, TRANSITIONS: 1.0}  # as long as features of text, which are 0 or 1
LOSSES = "hamming", "zero_one"
WORDS = {INTERCEPT: (LENGTH,), LOSS: LOSSES}  # values that `fit` may choose
AUTO, USUAL = "auto", {**OF_ROWS, LOSS: LOSSES[0]}
LONGEST = 250  # tokens of a sequence that is trained by one update
ONE_A_TOKEN = "one label for each token, and its sequence in sid; datasets.stack_sequences makes both of lists"


class Tokens(Codec):
    """The codec of labels of tokens.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels in the order of their numbers.
    allowed : ndarray of shape (n_classes + 1, n_classes) or None
        The allowed transitions, and in the last row the allowed first labels; None if all are allowed.
    chosen : dict or None
        The chosen values of the tagger's parameters that are "auto".
    """

    plan_kind = "sequences"

    def __init__(self, classes: NDArray, allowed: NDArray | None = None, chosen: dict[str, Any] | None = None):
        self.classes, self.allowed = classes, allowed
        self.chosen = {} if chosen is None else checked_choice(chosen)

    def check_saved(self, problem: Any) -> None:
        """Raise TypeError if a saved codec is damaged, or of another number of labels than the problem."""
        self.check_array(self.classes, problem.d, "classes")

    @classmethod
    def first(cls, y: Any, classes: Any, *, partial: bool) -> tuple[Tokens, NDArray]:
        """Return the codec of the first labels, and their numbers."""
        if not partial:
            found, codes = find_classes(one_dimensional(y, ONE_A_TOKEN), accepted=ONE_A_TOKEN)
            return cls(found), codes
        if classes is None:
            raise MissingClasses()
        codec = cls(find_classes(class_list(classes), targets=False)[0])
        return codec, codec.encode(y)

    def check_same(self, classes: Any) -> None:
        """Raise ValueError for classes unlike the first call's."""
        check_same_set(classes, self.classes, "on the first call", TO_WIDEN)

    def with_more(self, classes: Any, constraint: Any) -> tuple[Tokens, list[int]]:
        """Return the codec of more labels, and numbers.

        It is under a constraint; the numbers are the new ones of the present labels.
        """
        found, places = with_more(self.classes, classes)
        if isinstance(constraint, str) and constraint == "observed":
            raise ValueError(
                f"classes={shortened(classes)}: constraint='observed' allows what fit has seen, and no new label; accepted are "
                "None, 'bio' and an array of which label may follow which, of all labels."
            )
        allowed = allowed_transitions(constraint, found, None)
        if allowed is not None:
            check_transitions(allowed, found, constraint)
        return Tokens(found, allowed, self.chosen), places

    def chosen_or(self, name: str, value: Any) -> Any:
        """Return a tagger's parameter, or its chosen value.

        "auto" has a chosen value.
        """
        automatic = isinstance(value, str) and value == AUTO
        return self.chosen.get(name, USUAL[name]) if automatic else value

    @property
    def chooses_by_chunks(self) -> bool:
        """Whether `fit` chooses the loss by the F1 of chunks."""
        return LOSS in self.chosen and are_chunks(self.classes.tolist())

    def choices(self) -> tuple[Tokens, ...]:
        """Return this codec, and one with other scales; they are the scales of the intercept and of transitions."""
        return tuple(self._with([scales for scales in (OF_ROWS, OF_ONES) if INTERCEPT in self.chosen]))

    def refinements(self) -> tuple[Tokens, ...]:
        """Return a codec with the other loss; it may have a higher F1 of chunks."""
        return tuple(self._with([{LOSS: loss} for loss in LOSSES if self.chooses_by_chunks])[1:])

    def standardised(self) -> Tokens:
        """Return a codec whose scales follow rows' lengths; it has them if `fit` chooses the scales."""
        return self._with([OF_ROWS] if INTERCEPT in self.chosen else [])[-1]

    def _with(self, others: list[dict[str, Any]]) -> list[Tokens]:
        """Return this codec, and alternatives; there is one for each other set of chosen values."""
        ways = ({**self.chosen, **{name: value for name, value in way.items() if name in self.chosen}} for way in others)
        return [self, *(Tokens(self.classes, self.allowed, way) for way in ways if way != self.chosen)]

    def encode(self, y: Any) -> NDArray:
        """Return the numbers of labels; raise ValueError for unknown labels."""
        return codes_of_labels(y, self.classes, ONE_A_TOKEN)

    def decode(self, predicted: NDArray) -> NDArray:
        """Return the labels of these numbers."""
        return self.classes[predicted]

    def short(self) -> TokenReader:
        """Return the compiled reader of the tokens of one sequence."""
        return TokenReader({label: code for code, label in enumerate(self.classes.tolist())}, self.allowed, LONGEST)


def checked_choice(chosen: Any) -> dict[str, Any]:
    """Return the tagger's chosen "auto" values.

    Raise TypeError if they are invalid.
    """
    if not isinstance(chosen, dict):
        raise TypeError(f"where what is chosen is expected there is {shortened(chosen)}")
    for name, value in chosen.items():
        length = name in OF_ROWS and isinstance(value, (int, float)) and 0 < value < inf
        if not length and not (isinstance(value, str) and value in WORDS.get(name, ())):
            raise TypeError(f"{shortened(name)} cannot be chosen to be {shortened(value)}")
    return dict(chosen)
