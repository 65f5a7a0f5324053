"""Saved models: what was learned as plain names, numbers and arrays, which no move of a module makes unreadable."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator, clone

import sklearn_predtron
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.lock import Lock
from sklearn_predtron._core.score_map import QueryMap, SharedMap
from sklearn_predtron._core.state import Captured
from sklearn_predtron._pairs import with_pairs, without_pairs
from sklearn_predtron._parts import resolve
from sklearn_predtron._version import __version__
from sklearn_predtron.norms import Norm, PNormBase
from sklearn_predtron.norms._kernel_functions import Kernel, PrecomputedSupport, Support

FORMAT = 3  # of the models that this version writes
READ = (1, 2, 3)
FACES = "OneHot Sign Thermometer Hamming SubsetZeroOne ErrorSetSize FBeta Jaccard AtK NDCG AveragePrecision SwappedPairs "
FACES += "RankingZeroOne KendallTau"
WEIGHTS = "L2 PNorm Group Trace Scaled RKHS"
RULES = "LossAugmented Perceptron LossDriven PassiveAggressive Adaptive Subgradient PRank "
RULES += "RankingLossAugmented Slam MaxPair ListNet MMP"
# What the classes were called in format 1.
FORMER = {
    **{name: f"{name}Problem" for name in FACES.split()},
    **{name: f"{name}Weights" for name in WEIGHTS.split()},
    **{name: f"{name}Rule" for name in RULES.split()},
    "Table": "FiniteProblem",
    "Counts": "TabulatedSetLoss",
    "Budgeted": "BudgetedWeights",
    "Shared": "SharedDirection",
    "Margins": "MarginHistogram",
    "History": "LossCurve",
}
OBJECTS = {kind.__name__: kind for kind in (Kernel, Support, PrecomputedSupport)}
PART = "part"
# Where a flag stood for a map from inputs to scores: of queries' blocks, or with one direction for all thresholds.
MAPS: dict[str, Callable[[list], Any]] = {
    **{f"{name}Weights": lambda arguments: QueryMap() for name in ("L2", "PNorm", "Scaled", "RKHS", "Budgeted")},
    "ThermometerProblem": lambda arguments: SharedMap(arguments[0] - 1),
}


class Saved(BaseEstimator):
    """Saves what was learned, and takes it back."""

    _busy: Lock

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to save, in which the learner is names, numbers and arrays."""
        fitting = "_stream" not in vars(self)  # then another thread may be changing more than the learner
        if fitting:
            self._busy.check_free_elsewhere()
        state = super().__getstate__().copy()
        if fitting:
            self._busy.check_free_elsewhere()
        state = {name: value for name, value in state.items() if name not in ("_stream", "_flag")}
        if "_learner" in state:
            state |= {"_learner": pack(state["_learner"]), "_saved": {"format": FORMAT, "version": __version__}}
        return without_pairs(state)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over a saved state, whose parts are checked as they are made."""
        state = with_pairs(state)
        saved = state.pop("_saved", None)
        if "_learner" in state and not isinstance(state["_learner"], Learner):  # as a subclass may have kept it
            version = format_of(saved)
            state["_learner"] = unpack(state["_learner"], version)
            if version < 3:
                keep_exponent(state)
        super().__setstate__(state)


@cache
def compiled() -> dict[str, type]:
    """Return the compiled classes by their names, which are all different."""
    root = Path(sklearn_predtron.__file__).parent
    suffix = EXTENSION_SUFFIXES[0]
    files = [path.relative_to(root.parent).as_posix() for path in sorted(root.rglob(f"*{suffix}"))]
    modules = [importlib.import_module(file.removesuffix(suffix).replace("/", ".")) for file in files]
    return {
        name: kind
        for module in modules
        for name, kind in vars(module).items()
        if hasattr(kind, "__pyx_vtable__") and kind.__module__ == module.__name__
    }


def pack(learner: Learner) -> list[dict[str, Any]]:
    """Return what a learner is made of, each part after those that it is made of."""
    packer = Packer()
    packer.pack(learner)
    return packer.parts


class Packer:
    """Takes objects apart; an object that stands in several places is one part."""

    def __init__(self) -> None:
        self.parts: list[dict[str, Any]] = []
        self.places: dict[int, int] = {}
        self.alive: list[Any] = []  # so that no other object gets the id of one that was taken apart

    def pack(self, value: Any) -> Any:
        """Return a value without objects of classes that are no public ones."""
        if isinstance(value, (tuple, list)):
            return [self.pack(item) for item in value]
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
        """Return a reference to the part that a value is."""
        if id(value) not in self.places:
            made = {"kind": (kind or type(value)).__name__, **content()}
            self.places[id(value)] = len(self.parts)
            self.parts.append(made)
            self.alive.append(value)
        return {PART: self.places[id(value)]}


def keep_exponent(state: dict[str, Any]) -> None:
    """Name the theorem's exponent in a state of format 1 or 2, where it was the default of "l1" and "group"."""
    norm = resolve(Norm, state["norm"], "norm")
    if isinstance(norm, PNormBase) and norm.q is None:
        state["norm"] = clone(norm).set_params(q="theory")
        kind, parameters = state["_fixed"]["norm"]
        state["_fixed"] = {**state["_fixed"], "norm": (kind, {**parameters, "q": "theory"})}


def state_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an object as they are saved."""
    return value.__getstate__() if "__getstate__" in vars(type(value)) else vars(value)


def unpack(parts: Any, version: int) -> Learner:
    """Return the learner that `pack` has taken apart, in that format."""
    made: list[Any] = []
    try:
        for part in parts:
            if version == 1:
                part = translated(part)
            made.append(build(part, made))
        learner = made[-1]
    except (TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(f"The saved model is damaged: {type(error).__name__}: {error}.") from None
    if type(learner) is not Learner:
        raise ValueError(f"The saved model is damaged: where a learner is expected there is {type(learner).__name__}.")
    return learner


def translated(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of format 1 under its present name, with a map from inputs to scores in the place of a flag."""
    kind = FORMER.get(part["kind"], part["kind"])
    if kind not in MAPS:
        return {**part, "kind": kind}
    *arguments, flag = part["arguments"]
    return {**part, "kind": kind, "arguments": [*arguments, MAPS[kind](arguments) if flag else None]}


def build(part: dict[str, Any], made: list[Any]) -> Any:
    """Make a part of those made before."""
    name = part["kind"]
    if name in OBJECTS:
        whole = object.__new__(OBJECTS[name])
        whole.__dict__.update({attribute: filled(value, made) for attribute, value in part["state"]})
        return whole
    if name not in compiled():
        raise ValueError(f"The saved model has a part {name!r}, which this version of sklearn_predtron does not know.")
    whole = compiled()[name](*filled(part["arguments"], made))
    if "state" in part:
        whole.__setstate__(completed(name, filled(part["state"], made)))
    return whole


def completed(name: str, state: Any) -> Any:
    """Return the state of a part with what its kind has come to count since it was saved."""
    return (*state, 0.0) if name == "MarginHistogram" and len(state) == 3 else state


def filled(value: Any, made: list[Any]) -> Any:
    """Return a value with the parts that it refers to."""
    if isinstance(value, list):
        return tuple(filled(item, made) for item in value)
    if isinstance(value, dict) and value.keys() == {PART}:
        return made[value[PART]]
    return value


def format_of(saved: Any) -> int:
    """Return the format of a saved model; refuse models that this version cannot read."""
    if not isinstance(saved, dict) or not isinstance(saved.get("format"), int):
        raise ValueError("The saved model has no format: it is older than sklearn_predtron 0.1.0, or damaged; fit it anew.")
    if saved["format"] not in READ:
        raise ValueError(
            f"The saved model has format {saved['format']}, of sklearn_predtron {saved.get('version')}; this version reads "
            f"formats {READ[0]} to {READ[-1]}.  Load it with the version that wrote it, or fit it anew."
        )
    return saved["format"]
