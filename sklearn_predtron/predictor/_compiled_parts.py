"""The compiled parts of saved models."""

from __future__ import annotations

import importlib
import math
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = 1  # the only format that this version writes and reads
PART = "part"
FIELDS = {"shape", "there", "values"}
BITS = {np.dtype(np.float64): np.uint64, np.dtype(np.float32): np.uint32}
ROOT = __name__.partition(".")[0]
# The last one ends with the module of the trace norm, which imports SciPy.
FOR_PREDICTIONS = [f"{ROOT}.{package}" for package in ("_core", "decisions", "features", "problems", "updates", "norms")]
# Sizes among the arguments of parts whose product is the length of an array that they make, and that their state holds.
TABLES = {"ZeroOneChain": (0, 0), "HammingChain": (0, 0), "TraceWeights": (0, 0)}
TABLES |= dict.fromkeys(("L2Weights", "MonotoneWeights", "PNormWeights", "GroupWeights", "ScaledWeights"), (0, 1))
LARGEST_SIZE, LARGEST_TABLE = 1 << 24, 1 << 20  # what a model may have without holding as many values


@cache
def compiled() -> dict[str, type]:
    """Return the compiled classes by their names, which are unique."""
    return {name: kind for module in compiled_modules() for name, kind in classes_of(module).items()}


@cache
def compiled_for_predictions(name: str) -> type | None:
    """Return the compiled class of a name, or None.

    It is searched in the packages that predictions need.  Modules behind the one that defines it are not imported.
    """
    modules = (module for package in FOR_PREDICTIONS for module in compiled_modules() if module.startswith(f"{package}."))
    return next((found[name] for found in map(classes_of, modules) if name in found), None)


@cache
def compiled_modules() -> list[str]:
    """Return the names of the compiled modules of the package."""
    root = Path(__file__).parents[1]
    suffix = EXTENSION_SUFFIXES[0]
    files = [path.relative_to(root.parent).as_posix() for path in sorted(root.rglob(f"*{suffix}"))]
    return [file.removesuffix(suffix).replace("/", ".") for file in files]


def classes_of(module: str) -> dict[str, type]:
    """Return the compiled classes that a module defines."""
    found = vars(importlib.import_module(module)).items()
    return {name: kind for name, kind in found if hasattr(kind, "__pyx_vtable__") and kind.__module__ == module}


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


def count_values(value: Any) -> int:
    """Return the number of values in all arrays."""
    if isinstance(value, (list, tuple)):
        return sum(map(count_values, value))
    if is_compressed(value):
        return 8 * len(value["there"])
    if isinstance(value, dict):
        return sum(map(count_values, value.values()))
    return value.size if isinstance(value, np.ndarray) else 0


def check_part_sizes(parts: list[dict[str, Any]]) -> None:
    """Raise ValueError for sizes far beyond the values of the model.

    Otherwise a few changed bytes of a file would let a part take all memory before its state is found to be of another size.
    """
    n_values = count_values(parts)
    for part in parts:
        sizes = [number if type(number) is int else 1 for number in part.get("arguments", ())]
        table = [sizes[place] for place in TABLES.get(part["kind"], ()) if place < len(sizes)]
        if max(sizes, default=0) > LARGEST_SIZE + n_values or math.prod(table) > LARGEST_TABLE + n_values:
            raise ValueError(f"it has a {part['kind']} of the sizes {sizes}, and {n_values} values in all")


def build_compiled(kind: type | None, part: dict[str, Any], made: Any) -> Any:
    """Build a compiled part of a class from the parts before it; raise ValueError if the class is None, because it is unknown."""
    if kind is None:
        raise ValueError(f"The saved model has a part {part['kind']!r}, which this version of sklearn_predtron does not know.")
    found: Any = kind(*resolve_references(part["arguments"], made))
    if getattr(found, "d", 1) < 1:  # as of a base class, which other parts would divide by
        raise ValueError(f"The saved model is damaged: it has a {part['kind']} of no scores.")
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


def is_compressed(value: Any) -> bool:
    """Return whether an array was saved without zeros."""
    return isinstance(value, dict) and value.keys() == FIELDS


def decompress(saved: dict[str, Any]) -> NDArray:
    """Return an array with its zeros; raise TypeError if it is damaged."""
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
