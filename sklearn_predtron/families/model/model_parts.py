"""Saved models: plain names, numbers and arrays. They stay readable if modules move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.state import Captured, accept, length_of, reals, wholes
from sklearn_predtron._support.parts import resolve
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.decisions._saved_values import checked_values, saved_values
from sklearn_predtron.families.input.reading import Columns
from sklearn_predtron.families.input.tables import WarmupBuffer
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.classes import Classes, TwoClasses
from sklearn_predtron.families.labels.objects import AnyLabels
from sklearn_predtron.families.labels.ranks import Ranks
from sklearn_predtron.families.labels.relevances import DocumentRelevances, LabelRelevances
from sklearn_predtron.families.labels.sets import Sets
from sklearn_predtron.families.labels.tokens import Tokens
from sklearn_predtron.features import Auto, FeatureMap, PiecewiseLinear, RandomFourier
from sklearn_predtron.features._table import Gathered
from sklearn_predtron.norms import Norm
from sklearn_predtron.norms._kernel_functions import Kernel, PrecomputedSupport, Support
from sklearn_predtron.predictor._compiled_parts import (
    BITS,
    PART,
    build_compiled,
    check_format,
    compiled,
    resolve_references,
)

CODECS = (Classes, TwoClasses, Ranks, Sets, LabelRelevances, DocumentRelevances, Tokens, AnyLabels)
MAPS = (PiecewiseLinear, Auto, RandomFourier)
OBJECTS = {kind.__name__: kind for kind in (Kernel, Support, PrecomputedSupport, WarmupBuffer, *MAPS, *CODECS)}
# Arrays of at least this many values are saved without zeros if at most this share of the values is nonzero.
LEAST_COMPRESSED, MOST_NONZERO = 1 << 14, 0.5
M = TypeVar("M")


def pack(fields: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a model.

    The model is given by its fields.  Each part comes after its own parts, and the model is the last.
    """
    packer = Packer()
    fields = {**fields, "fitted_decision": saved_values(fields["fitted_decision"])}
    state = [[name, packer.pack(value)] for name, value in fields.items()]
    return [*packer.parts, {"kind": "Model", "state": state}]


class Packer:
    """Converts objects to parts; an object that occurs in several places is one part."""

    def __init__(self) -> None:
        self.parts: list[dict[str, Any]] = []
        self.places: dict[int, int] = {}
        self.alive: list[Any] = []  # keeps objects alive, so that no other object gets the same id

    def pack(self, value: Any) -> Any:
        """Return a value with references to parts; they replace objects of the package."""
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


def unpack(saved: Any, kind: type[M]) -> M:
    """Return the model, of type `kind`, from parts; `pack` has converted it to parts."""
    check_format(saved)
    made: list[Any] = []
    try:
        last = saved["parts"][-1]
        for part in saved["parts"][:-1]:
            made.append(build(part, made))
        if last["kind"] != "Model":
            raise TypeError(f"where a model is expected there is {last['kind']}")
        state = {name: resolve_references(value, made) for name, value in last["state"]}
        model: Any = kind(**{**state, "columns": checked_columns(*state["columns"])})
        learner = model.learner
    except (TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(f"The saved model is damaged: {type(error).__name__}: {error}.") from None
    if type(learner) is not Learner:
        raise ValueError(f"The saved model is damaged: where a learner is expected there is {type(learner).__name__}.")
    model.fitted_decision = checked_values(model.fitted_decision, learner.problem)
    return model


def build(part: dict[str, Any], made: list[Any]) -> Any:
    """Build a part from the parts before it."""
    name = part["kind"]
    if name in OBJECTS:
        kind, state = OBJECTS[name], {attribute: resolve_references(value, made) for attribute, value in part["state"]}
        if kind in CODECS:
            return kind(**state)  # raises TypeError for unknown attributes
        check_parameters(kind, state)
        found: Any = object.__new__(kind)
        found.__setstate__(state)
        if isinstance(found, WarmupBuffer) and found.state is not None:
            Gathered(found.state)  # raises KeyError if it is no table
        return found
    return build_compiled(compiled().get(name), part, made)


def check_parameters(kind: type, state: dict[str, Any]) -> None:
    """Raise ValueError if a saved estimator or part lacks a parameter."""
    left_out = [name for name in getattr(kind, "_get_param_names", list)() if name not in state]
    if left_out:
        raise ValueError(f"the saved {kind.__name__} has no {', '.join(left_out)}")


def checked_columns(n: Any, names: Any, features: Any, first: Any = None) -> Columns:
    """Return the saved columns; raise TypeError for invalid numbers of columns, names or feature maps."""
    if n is not None and not (type(n) is int and n > 0):
        raise TypeError(f"where a number of columns is expected there is {shortened(n)}")
    if names is not None:
        Codec.check_array(names, n or 0, "names")
    if features is not None and not isinstance(features, (FeatureMap, WarmupBuffer)):
        raise TypeError(f"where a map of features is expected there is {type(features).__name__}")
    if isinstance(features, FeatureMap) and not (features.complete_ and features._row_map is not None):
        raise TypeError("the map of features is not complete")
    if first is not None and not (type(first) is int and 0 < first < (n or 0)):
        raise TypeError(f"where a number of columns below {n} is expected there is {shortened(first)}")
    return Columns(n, names, features, first)


def check_family(model: Any, codec: type[Codec], fixed: set[str], metadata_of: Callable[[Any], Any]) -> None:
    """Raise ValueError if a saved model is not one of a family.

    The family is given by the class of its codecs, the names of its fixed parameters, and the check of its reader's metadata.
    """
    labels, known = model.labels, model.fixed
    try:
        if not isinstance(labels, codec):
            raise TypeError(f"where a codec of {codec.__name__} is expected there is {type(labels).__name__}")
        labels.check_saved(model.problem)
        if not isinstance(model.fit_record, dict):
            raise TypeError(f"where the record of a fit is expected there is {shortened(model.fit_record)}")
        if model.importances is not None:
            r = length_of(model.importances, 0)
            accept(model.importances, (wholes(r, least=0, most=model.columns.n - 1), reals(r, least=0)))
        if not isinstance(known, dict) or not fixed <= known.keys():
            raise TypeError(f"where fixed parameters are expected there is {shortened(known)}")
        for value in known.values():
            if isinstance(value, tuple) and not (len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], dict)):
                raise TypeError(f"where a part is expected there is {shortened(value)}")
        if model.first_sparse not in (None, True, False):
            raise TypeError(f"where True, False or None is expected there is {shortened(model.first_sparse)}")
        resolve(Norm, model.norm, "norm")
        model.call_metadata = metadata_of(model.call_metadata)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The saved model is damaged: {error}.") from None


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
