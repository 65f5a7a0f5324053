"""Saved models: plain names, numbers and arrays.

They stay readable if modules move.
"""

from __future__ import annotations

import importlib
import math
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.state import Captured, accept, reals
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.decisions._settled import checked_settled
from sklearn_predtron.families.input.reading import Columns
from sklearn_predtron.families.input.tables import FirstRows
from sklearn_predtron.families.labels.classes import Classes, TwoClasses
from sklearn_predtron.families.labels.objects import AnyLabels
from sklearn_predtron.families.labels.ranks import Ranks
from sklearn_predtron.families.labels.relevances import DocumentRelevances, LabelRelevances
from sklearn_predtron.families.labels.sets import Sets
from sklearn_predtron.families.labels.tokens import Tokens
from sklearn_predtron.features import Auto, FeatureMap, PiecewiseLinear, RandomFourier
from sklearn_predtron.losses._by_row import KnownCosts
from sklearn_predtron.norms._kernel_functions import Kernel, PrecomputedSupport, Support

FORMAT = 1  # the only format that this version writes and reads
CODECS = (Classes, TwoClasses, Ranks, Sets, LabelRelevances, DocumentRelevances, Tokens, AnyLabels)
MAPS = (PiecewiseLinear, Auto, RandomFourier)
OBJECTS = {kind.__name__: kind for kind in (Kernel, Support, PrecomputedSupport, FirstRows, *MAPS, *CODECS)}
PART = "part"
# Arrays of at least this many values are saved without zeros if at most this share of the values is nonzero.
LEAST_COMPRESSED, MOST_NONZERO = 1 << 14, 0.5
FIELDS = {"shape", "there", "values"}
BITS = {np.dtype(np.float64): np.uint64, np.dtype(np.float32): np.uint32}
# Sizes among the arguments of parts whose product is the length of an array that they make, and that their state holds.
TABLES = {"ZeroOneChain": (0, 0), "HammingChain": (0, 0), "TraceWeights": (0, 0)}
TABLES |= dict.fromkeys(("L2Weights", "PNormWeights", "GroupWeights", "ScaledWeights"), (0, 1))
LARGEST_SIZE, LARGEST_TABLE = 1 << 24, 1 << 20  # what a model may have without holding as many values
M = TypeVar("M")


@cache
def compiled() -> dict[str, type]:
    """Return the compiled classes by their names, which are unique."""
    root = Path(__file__).parents[2]
    suffix = EXTENSION_SUFFIXES[0]
    files = [path.relative_to(root.parent).as_posix() for path in sorted(root.rglob(f"*{suffix}"))]
    modules = [importlib.import_module(file.removesuffix(suffix).replace("/", ".")) for file in files]
    return {
        name: kind
        for module in modules
        for name, kind in vars(module).items()
        if hasattr(kind, "__pyx_vtable__") and kind.__module__ == module.__name__
    }


def pack(fields: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a model.

    The model is given by its fields.  Each part comes after its own parts, and the model is the last.
    """
    packer = Packer()
    state = [[name, packer.pack(value)] for name, value in fields.items()]
    return [*packer.parts, {"kind": "Model", "state": state}]


class Packer:
    """Converts objects to parts.

    An object that occurs in several places is one part.
    """

    def __init__(self) -> None:
        self.parts: list[dict[str, Any]] = []
        self.places: dict[int, int] = {}
        self.alive: list[Any] = []  # keeps objects alive, so that no other object gets the same id

    def pack(self, value: Any) -> Any:
        """Return a value with references to parts.

        They replace objects of the package.
        """
        if isinstance(value, (tuple, list)):
            return [self.pack(item) for item in value]
        if type(value) is np.ndarray:
            return compress_zeros(value)
        reduced = value.reduced if isinstance(value, Captured) else None
        kind = type(value) if reduced is None else reduced[0]
        if OBJECTS.get(kind.__name__) is kind:
            return self._part(value, lambda: {"state": [[name, self.pack(item)] for name, item in state_of(value).items()]})
        if compiled().get(kind.__name__) is not kind:
            return value
        return self._part(value, lambda: self._reduced(reduced or value.__reduce__()), kind)

    def _reduced(self, reduced: tuple[Any, ...]) -> dict[str, Any]:
        _, arguments, *state = reduced
        return {"arguments": self.pack(arguments), **({"state": self.pack(state[0])} if state else {})}

    def _part(self, value: Any, content: Any, kind: type | None = None) -> dict[str, int]:
        """Return a reference to the part of a value."""
        if id(value) not in self.places:
            made = {"kind": (kind or type(value)).__name__, **content()}
            self.places[id(value)] = len(self.parts)
            self.parts.append(made)
            self.alive.append(value)
        return {PART: self.places[id(value)]}


def state_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an object as they are saved."""
    kind = type(value)
    return (
        value.__getstate__() if getattr(kind, "__getstate__", None) is not getattr(object, "__getstate__", None) else vars(value)
    )


def unpack(saved: Any, kind: type[M], saved_as: dict[str, str]) -> M:
    """Return the model, of type `kind`, from parts.

    `pack` has converted it to parts.
    """
    check_format(saved)
    made: list[Any] = []
    try:
        last = saved["parts"][-1]
        for part in saved["parts"][:-1]:
            made.append(build(part, made))
        if last["kind"] != "Model":
            raise TypeError(f"where a model is expected there is {last['kind']}")
        names = {saved: name for name, saved in saved_as.items()}
        state = {names.get(name, name): resolve_references(value, made) for name, value in last["state"]}
        model: Any = kind(**{**state, "columns": checked_columns(*state["columns"])})
        learner = model.learner
    except (TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(f"The saved model is damaged: {type(error).__name__}: {error}.") from None
    if type(learner) is not Learner:
        raise ValueError(f"The saved model is damaged: where a learner is expected there is {type(learner).__name__}.")
    model.fitted_decision = checked_settled(model.fitted_decision, learner.problem)
    model.call_metadata = checked_metadata(model.call_metadata)
    return model


def count_values(value: Any) -> int:
    """Return the number of values in all arrays."""
    if isinstance(value, (list, tuple)):
        return sum(map(count_values, value))
    if is_compressed(value):
        return 8 * len(value["there"])
    if isinstance(value, dict):
        return sum(map(count_values, value.values()))
    return value.size if isinstance(value, np.ndarray) else 0


def check_sizes(parts: list[dict[str, Any]]) -> None:
    """Raise ValueError for sizes far beyond the values of the model.

    Otherwise a few changed bytes of a file would let a part take all memory before its state is found to be of another size.
    """
    n_values = count_values(parts)
    for part in parts:
        sizes = [number if type(number) is int else 1 for number in part.get("arguments", ())]
        table = [sizes[place] for place in TABLES.get(part["kind"], ()) if place < len(sizes)]
        if max(sizes, default=0) > LARGEST_SIZE + n_values or math.prod(table) > LARGEST_TABLE + n_values:
            raise ValueError(f"it has a {part['kind']} of the sizes {sizes}, and {n_values} values in all")


def build(part: dict[str, Any], made: list[Any]) -> Any:
    """Build a part from the parts before it."""
    name = part["kind"]
    if name in OBJECTS:
        kind, state = OBJECTS[name], {attribute: resolve_references(value, made) for attribute, value in part["state"]}
        if kind in CODECS:
            return checked_codec(kind(**state))  # raises TypeError for unknown attributes
        found: Any = object.__new__(kind)
        if kind in MAPS:
            found.__setstate__(state)  # builds its tables
        else:
            found.__dict__.update(state)
        return found
    if name not in compiled():
        raise ValueError(f"The saved model has a part {name!r}, which this version of sklearn_predtron does not know.")
    found = compiled()[name](*resolve_references(part["arguments"], made))
    if getattr(found, "d", 1) < 1:  # as of a base class, which other parts would divide by
        raise ValueError(f"The saved model is damaged: it has a {name} of no scores.")
    if "state" in part:
        found.__setstate__(resolve_references(part["state"], made))
    return found


def resolve_references(value: Any, made: list[Any]) -> Any:
    """Return a value with the parts that it refers to."""
    if isinstance(value, list):
        return tuple(resolve_references(item, made) for item in value)
    if isinstance(value, dict) and value.keys() == {PART}:
        return made[value[PART]]
    return decompress(value) if is_compressed(value) else value


def checked_codec(codec: Any) -> Any:
    """Return the saved codec.

    Raise TypeError for classes that are none: compiled code takes the numbers of two classes for zeros and ones.
    """
    if isinstance(codec, (Classes, Tokens)):
        check_classes(codec.classes, two=isinstance(codec, TwoClasses))
    elif isinstance(codec, Sets) and codec.two is not None:
        check_classes(codec.two, two=True)
    return codec


def check_classes(classes: Any, *, two: bool) -> None:
    """Raise TypeError for anything but an array of classes."""
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or (two and len(classes) != 2):
        raise TypeError(f"where {'two ' if two else ''}classes are expected there is {shortened(classes)}")


def checked_columns(n: Any, names: Any, features: Any, first: Any = None) -> Columns:
    """Return the saved columns.

    Raise TypeError for an invalid feature map or first number of columns.
    """
    if features is not None and not isinstance(features, (FeatureMap, FirstRows)):
        raise TypeError(f"where a map of features is expected there is {type(features).__name__}")
    if first is not None and not (type(first) is int and 0 < first < n):
        raise TypeError(f"where a number of columns below {n} is expected there is {shortened(first)}")
    return Columns(n, names, features, first)


def checked_metadata(call_metadata: Any) -> Any:
    """Return the saved metadata of a reader.

    Costs by class become `KnownCosts` with validated numbers.
    """
    if not (isinstance(call_metadata, tuple) and len(call_metadata) == 3):
        return call_metadata
    try:
        shape = np.shape(call_metadata[0])
        weights = reals(shape[0], least=0)
        pattern = reals(*shape, least=0), reals(*shape, least=0), lambda value: None if value is None else weights(value)
        return KnownCosts(*accept(call_metadata, pattern))
    except (ValueError, IndexError) as error:
        raise ValueError(f"The saved model is damaged: of its costs {error}.") from None


def check_format(saved: Any) -> None:
    """Raise ValueError for models that this version cannot read."""
    if not isinstance(saved, dict) or not isinstance(saved.get("format"), int):
        raise ValueError(
            "The saved model has no format: it is older than sklearn_predtron's first release, or damaged; fit it again."
        )
    if saved["format"] != FORMAT:
        raise ValueError(
            f"The saved model has format {saved['format']}, of sklearn_predtron {saved.get('version')}; this version reads "
            f"format {FORMAT}.  Load it with the version that wrote it, or fit it again."
        )


def compress_zeros(array: NDArray) -> Any:
    """Return an array without its zeros.

    It becomes the nonzero values, with one bit a value for their places.  If few values are zero, the array itself is returned.
    """
    if array.dtype not in BITS or array.size < LEAST_COMPRESSED or not array.flags.c_contiguous:
        return array
    values = array.reshape(-1)
    there = values.view(BITS[array.dtype]) != 0  # -0.0 is kept
    if np.count_nonzero(there) > MOST_NONZERO * array.size:
        return array
    return {"shape": list(array.shape), "there": np.packbits(there), "values": values[there]}


def is_compressed(value: Any) -> bool:
    """Return whether an array was saved without zeros."""
    return isinstance(value, dict) and value.keys() == FIELDS


def decompress(saved: dict[str, Any]) -> NDArray:
    """Return an array with its zeros.

    Raise TypeError if it is damaged.
    """
    shape, there, values = saved["shape"], saved["there"], saved["values"]
    sizes = isinstance(shape, (list, tuple)) and all(type(n) is int and n >= 0 for n in shape)
    arrays = all(type(part) is np.ndarray and part.ndim == 1 for part in (there, values))
    if not sizes or not arrays or there.dtype != np.uint8 or values.dtype not in BITS or len(there) != -(-math.prod(shape) // 8):
        raise TypeError("an array without its zeros is none")
    places = np.unpackbits(there, count=math.prod(shape)).view(bool)
    if np.count_nonzero(places) != len(values):
        raise TypeError(f"an array has {np.count_nonzero(places)} places for {len(values)} values")
    array = np.zeros(math.prod(shape), dtype=values.dtype)
    array[places] = values
    return array.reshape(shape)
