"""Fuzz unpickling: pickles with a few bytes changed end in an exception, or in a model that does not crash."""

import io
import pickle
import warnings
from typing import Any

import numpy as np

from .states import FORKED, TIMEOUT, draw_fitted, prepare, use
from .watch import Watch

__all__ = ["FORKED", "TIMEOUT", "excused", "prepare", "run"]

LOADING, USING = "unpickling", "using"


class Unpickler(pickle._Unpickler):  # type: ignore[misc, name-defined]
    """Note the class of each object before it is made or gets its state: what crashes then is its own."""

    dispatch = dict(pickle._Unpickler.dispatch)  # type: ignore[attr-defined]

    def load_reduce(self) -> None:
        note_of(self.stack[-2])
        super().load_reduce()

    def load_newobj(self) -> None:
        note_of(self.stack[-2])
        super().load_newobj()

    def load_build(self) -> None:
        note_of(type(self.stack[-2]))
        super().load_build()


Unpickler.dispatch[pickle.REDUCE[0]] = Unpickler.load_reduce
Unpickler.dispatch[pickle.NEWOBJ[0]] = Unpickler.load_newobj
Unpickler.dispatch[pickle.BUILD[0]] = Unpickler.load_build


def note_of(kind: Any) -> None:
    Watch.note(f"{LOADING} {getattr(kind, '__module__', '?')}.{getattr(kind, '__qualname__', '?')}")


def excused(status: int, note: str) -> bool:
    """Tell whether a signal came of unpickling what is not the package's."""
    return status < 0 and note.startswith(LOADING) and "sklearn_predtron" not in note


def run(seed: int) -> str:
    """Draw a fitted model, change bytes of its pickle, and use what can be loaded."""
    random = np.random.default_rng(seed)
    found = draw_fitted(random)
    if found is None:
        return "refused"
    case, model = found
    data = bytearray(pickle.dumps(model, protocol=int(random.choice([2, 4, 5]))))
    for _ in range(random.integers(1, 4)):
        at = int(random.integers(len(data)))
        data[at] = data[at] ^ (1 << int(random.integers(8))) if random.random() < 0.5 else int(random.integers(256))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            Watch.note(LOADING)
            other = Unpickler(io.BytesIO(bytes(data))).load()
        except Exception:  # any will do
            return "refused"
        Watch.note(USING)
        if not hasattr(other, "predict"):
            return "refused"
        use(other, case.lesson, random)
    return "used"
