"""Model files: estimators as numbers, text and arrays.

A file has the state that a pickle has.  Each object is written as the public name of its class and its state.  Reading makes
objects of the classes in `public_classes` only: nothing is imported or called by a name in the file.
"""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import cache
from numbers import Real
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_predtron._support.array_file import KINDS, Arrays, read_file, write_file
from sklearn_predtron._support.one_line import one_line
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.version import __version__
from sklearn_predtron.families.estimator.for_predictors import for_predictor
from sklearn_predtron.families.model.model_parts import check_parameters, state_of
from sklearn_predtron.predictor._compiled_parts import check_format, check_part_sizes, compiled
from sklearn_predtron.predictor._file_values import LONGEST_REASON, MAGIC, PLAIN, Values, checked_path, reading

PUBLIC = ("", ".callbacks", ".decisions", ".features", ".losses", ".norms", ".representations", ".updates")
PACKAGE = __name__.partition(".")[0]
SPARSE: dict[str, Any] = {kind.__name__: kind for kind in (sparse.csr_matrix, sparse.csr_array)}


@cache
def public_classes() -> dict[str, type]:
    """Return the classes that files may have, by name; they are the public classes of estimators and their parts."""
    found: dict[str, type] = {}
    for name in PUBLIC:
        module = importlib.import_module(PACKAGE + name)
        classes = {one: getattr(module, one) for one in module.__all__ if isinstance(getattr(module, one), type)}
        found |= {f"{name}.{one}".lstrip("."): kind for one, kind in classes.items()}
    return found


def save(estimator: Any, path: str | os.PathLike[str], custom: Mapping[str, Any] | None) -> None:
    """Write an estimator to a file."""
    write_file(checked_path(path), MAGIC, *content_of(estimator, custom))


def content_of(estimator: Any, custom: Mapping[str, Any] | None = None) -> tuple[Any, Arrays]:
    """Return the content of an estimator's file; raise ValueError for estimators that a file cannot hold."""
    writer = Writer(checked_custom(custom))
    if type(estimator) not in public_classes().values():
        raise ValueError(
            f"{type(estimator).__name__} is no public estimator of sklearn_predtron, and only these are saved in model files; "
            "save it with joblib or pickle."
        )
    with one_moment(estimator._model):
        whole = writer.encoded(estimator, type(estimator).__name__)
        predictor = None if writer.custom else for_predictor(estimator)
    answers = writer.encoded(predictor, "predictor")
    return {"version": __version__, "objects": writer.objects, "estimator": whole, "predictor": answers}, writer.arrays


@contextmanager
def one_moment(model: Any) -> Iterator[None]:
    """Keep a model's learner as it is, if there is one."""
    if model is None:
        yield
        return
    model.learner.read(lambda weights: None)  # completes updates that an interrupt has left undone, which the section cannot
    compiled()  # imports modules the first time, which would take too long inside the section
    with model.learner.lock.reading():
        yield


def load(path: str | os.PathLike[str], *, custom: Mapping[str, Any] | None = None) -> Any:
    """Load an estimator from a file that its method `save` wrote.

    The file is data: loading it runs no code of it.  The estimator makes the same predictions, and `partial_fit` continues to
    the same bits.

    Parameters
    ----------
    path : str or path-like
        The file.
    custom : dict of str to object, default=None
        Custom objects of the model, such as kernels and losses in Python, by the names that were given to `save`.

    Returns
    -------
    estimator
        The estimator, fitted if it was.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file is no model file of this version, is damaged, or has custom objects that are not given.

    See Also
    --------
    PredtronClassifier.save : Writes the file.

    Examples
    --------
    >>> import os, tempfile
    >>> import sklearn_predtron
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = sklearn_predtron.PredtronClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "iris.predtron")
    ...     model.save(path)
    ...     loaded = sklearn_predtron.load(path)
    >>> bool((loaded.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    given = checked_custom(custom)
    path = checked_path(path)
    with reading(path):
        about, arrays = read_file(path, MAGIC)
        reader = Reader(arrays, given)
        named = [(entry["custom"], entry.get("attribute")) for entry in about["objects"] if "custom" in entry]
        names = sorted({name for name, _ in named})
        wanted = [(name, attribute) for name, attribute in named if attribute is not None]
        lacking = [(name, attribute) for name, attribute in wanted if attribute not in attributes_of(given.get(name))]
    if not given.keys() >= set(names):
        shown = one_line(str(names), LONGEST_REASON)
        raise ValueError(
            f"{path!r} is a model with the custom objects {shown}, and custom has {sorted(given)}; pass each of them by its name."
        )
    if lacking:
        name, attribute = lacking[0]
        raise ValueError(
            f"custom[{name!r}]={shortened(given[name])} has no attribute {one_line(str(attribute), LONGEST_REASON)!r}, which the "
            f"object had that {path!r} was saved with; pass an equal object."
        )
    with reading(path), np.errstate(all="ignore"):
        for entry in about["objects"]:
            reader.objects.append(reader.made(entry))
        found = reader.decoded(about["estimator"])
        if not hasattr(type(found), "_fitted_model"):
            raise ValueError(f"it holds {shortened(found)}, which is no estimator")
    return found


def checked_custom(custom: Any) -> dict[str, Any]:
    """Return custom objects by name."""
    if custom is None:
        return {}
    if not isinstance(custom, Mapping) or not all(isinstance(name, str) for name in custom):
        raise ValueError(f"custom={shortened(custom)} is not known; accepted are None and a dict of objects by names.")
    return dict(custom)


class Writer:
    """Converts objects to JSON and arrays; an object or array that occurs in several places is written once."""

    def __init__(self, custom: dict[str, Any]) -> None:
        self.objects: list[dict[str, Any]] = []
        self.arrays: Arrays = {}
        self.custom = custom
        self.places: dict[int, dict[str, Any]] = {}
        self.alive: list[Any] = []  # keeps objects alive, so that no other object gets the same id

    def encoded(self, value: Any, where: str) -> Any:
        """Return a value as JSON; `where` is the name of its parameter, for errors."""
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is list:
            return [self.encoded(item, where) for item in value]
        if kind is dict:
            names = [f"{where}__{key}" if type(key) is str else where for key in value]
            pairs = zip(names, value.items(), strict=True)
            return {"dict": [[self.encoded(key, name), self.encoded(item, name)] for name, (key, item) in pairs]}
        if kind is tuple:
            return {"tuple": [self.encoded(item, where) for item in value]}
        if isinstance(value, np.generic) and not isinstance(value, np.longdouble):
            return {"scalar": self._array(np.asarray(value), where)}
        if isinstance(value, (Real, Decimal)):  # a fraction, say, which every call takes as the nearest float
            return self.encoded(float(value), where)
        if id(value) not in self.places:
            made = self._written(value, where)
            self.alive.append(value)
            self.places[id(value)] = made
        return self.places[id(value)]

    def _written(self, value: Any, where: str) -> dict[str, Any]:
        """Write an object or array, and return the reference to it."""
        kind = type(value)
        known = next((name for name, given in self.custom.items() if value is given or is_copy(value, given)), None)
        if known is not None:
            return self._object({"custom": known})
        if kind is np.ndarray and value.dtype == object and all(type(item) in (*PLAIN, float) for item in value.flat):
            return {"mixed": [list(value.shape), self.encoded(value.ravel().tolist(), where)]}
        if kind is np.ndarray:
            return {"array": self._array(value, where)}
        if SPARSE.get(kind.__name__) is kind:
            parts = [self._array(part, where) for part in (value.data, value.indices, value.indptr)]
            return {"sparse": [kind.__name__, *parts, list(value.shape)]}
        name = next((name for name, known in public_classes().items() if known is kind), None)
        if name is None:
            return self._attribute(value, where)
        if isinstance(value, tuple):  # a named one
            return self._object({"class": name, "items": [self.encoded(item, where) for item in value]})
        inner, found = "" if where == kind.__name__ else f"{where}__", state_of(value)
        if "_model" in found:
            try:
                check_part_sizes(found["_model"]["parts"])
            except ValueError as error:  # a kernel of many million features, say, and few rows
                raise ValueError(f"{where} cannot be saved in a model file: {error}; save it with joblib or pickle.") from None
        state = {key: self.encoded(item, inner + key) for key, item in found.items()}
        return self._object({"class": name, "state": state})

    def _attribute(self, value: Any, where: str) -> dict[str, Any]:
        """Return the reference to an attribute of a custom object, such as the function of a loss."""
        for name, given in self.custom.items():
            for attribute, own in attributes_of(given).items():
                if own is value or is_copy(value, own):
                    return self._object({"custom": name, "attribute": attribute})
        raise ValueError(not_written(value, where, self.custom))

    def _object(self, entry: dict[str, Any]) -> dict[str, Any]:
        self.objects.append(entry)
        return {"object": len(self.objects) - 1}

    def _array(self, array: NDArray, where: str) -> int:
        if not KINDS.fullmatch(array.dtype.newbyteorder("<").str):
            raise ValueError(not_written(array, where, self.custom))
        self.arrays[str(len(self.arrays))] = array
        return len(self.arrays) - 1


def attributes_of(given: Any) -> dict[str, Any]:
    """Return the attributes of a custom object; classes and functions have none."""
    return {} if isinstance(given, (type, FunctionType)) else getattr(given, "__dict__", {})


def is_copy(value: Any, given: Any) -> bool:
    """Return whether an object is of the type of another one, with equal attributes.

    A model holds copies of the parts of its estimator.
    """
    if type(value) is not type(given) or isinstance(value, (type, FunctionType)) or not hasattr(value, "__dict__"):
        return False
    own, others = vars(value), vars(given)
    return own.keys() == others.keys() and all(are_equal(item, others[name]) for name, item in own.items())


def are_equal(value: Any, other: Any) -> bool:
    """Return whether two attributes are equal."""
    if value is other or is_copy(value, other):
        return True
    try:
        return type(value) is type(other) and bool(np.array_equal(value, other))
    except (TypeError, ValueError):
        return False


def not_written(value: Any, where: str, custom: Mapping[str, Any]) -> str:
    """Return the message for a value that files cannot hold."""
    for name, given in custom.items():
        if given is type(value):
            return f"custom[{name!r}] is a class; accepted is the object that the estimator has, {shortened(value)}."
        if type(given) is type(value):
            return (
                f"custom[{name!r}]={shortened(given)} differs from the one that the model was fitted with, {shortened(value)}; "
                "fit again, or name both."
            )
    what = f"The fitted model has {shortened(value)}, which" if where.startswith("_model") else f"{where}={shortened(value)}"
    return (
        f"{what} cannot be saved in a model file, which has numbers, text, arrays and public parts of "
        "sklearn_predtron.  Name it in save(path, custom={name: object}) and in load(path, custom={name: object}), or save the "
        "estimator with joblib or pickle."
    )


class Reader(Values):
    """Converts JSON and arrays to objects."""

    def __init__(self, arrays: Arrays, custom: dict[str, Any]) -> None:
        super().__init__(arrays)
        self.custom = custom
        self.objects: list[Any] = []
        self.forms |= {"sparse": self._sparse, "object": self._object}

    def made(self, entry: dict[str, Any]) -> Any:
        """Return the object of an entry; the objects that it refers to come before it."""
        if "custom" in entry:
            given = self.custom[entry["custom"]]
            return attributes_of(given)[entry["attribute"]] if "attribute" in entry else given
        kind = public_classes().get(entry["class"])
        if kind is None:
            raise ValueError(f"it has an object of {shortened(entry['class'])}, a class that this version does not know")
        if issubclass(kind, tuple):
            return kind(*map(self.decoded, entry["items"]))
        state = {name: self.decoded(item) for name, item in entry["state"].items()}
        check_parameters(kind, state)
        hidden = [name for name in state if name.startswith("__") or callable(getattr(kind, name, None))]
        if hidden:  # an attribute would hide the method
            raise ValueError(f"{entry['class']} has no attributes {hidden}")
        if "_model" in state:
            check_format(state["_model"])
            check_part_sizes(state["_model"]["parts"])
        found: Any = object.__new__(kind)
        if hasattr(kind, "__setstate__"):
            found.__setstate__(state)
        else:
            vars(found).update(state)
        return found

    def _sparse(self, content: Any) -> Any:
        name, *numbers, shape = content
        data, indices, indptr = map(self._array, numbers)
        found = SPARSE[name]((data, indices, indptr), shape=tuple(shape), copy=False)
        found.check_format(full_check=True)
        return found

    def _object(self, number: Any) -> Any:
        if type(number) is not int or number < 0:
            raise ValueError(f"{shortened(number)} is no number of an object")
        return self.objects[number]
