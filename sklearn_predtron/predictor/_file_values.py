"""The values of model files: numbers, text and arrays."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.array_file import Arrays, OtherFileError
from sklearn_predtron._support.one_line import one_line
from sklearn_predtron._support.queries import shortened

MAGIC = b"predtron model 1\n"
PLAIN = (type(None), bool, int, str)
LONGEST_REASON = 200  # characters: it may repeat text of the file


def checked_path(path: Any) -> str:
    """Return the path of a file."""
    found = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(found, str):
        raise ValueError(f"path={shortened(path)} is no path of a file; accepted are text and path-like objects.")
    return found


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Name the file in errors."""
    try:
        yield
    except OSError:
        raise
    except OtherFileError:
        raise ValueError(
            f"{path!r} is no model file that this version wrote; accepted are files that the method save of an "
            "estimator wrote.  Load a pickle with joblib or pickle, if you trust it."
        ) from None
    except Exception as error:  # a forged file with a correct check sum can hold anything
        reason = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
        raise ValueError(f"{path!r} is a damaged model file: {one_line(reason, LONGEST_REASON)}") from None


class Values:
    """Converts JSON and arrays to values.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays of the file, by name.
    """

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self.forms: dict[str, Callable[[Any], Any]] = {
            "float": float_of,
            "dict": lambda pairs: {self.decoded(key): self.decoded(value) for key, value in pairs},
            "tuple": lambda items: tuple(map(self.decoded, items)),
            "scalar": lambda name: self._array(name)[()],
            "array": self._array,
            "mixed": self._mixed,
        }

    def decoded(self, value: Any) -> Any:
        """Return the value that JSON stands for."""
        if isinstance(value, list):
            return [self.decoded(item) for item in value]
        if not isinstance(value, dict):
            return value
        ((form, content),) = value.items()
        return self.forms[form](content)

    def _array(self, number: Any) -> NDArray:
        return self.arrays[str(number)]

    def _mixed(self, content: Any) -> NDArray:
        shape, items = content
        values = np.empty(len(items), dtype=object)
        values[:] = [self.decoded(item) for item in items]
        if not all(type(item) in (*PLAIN, float) for item in values):
            raise ValueError("an array of other objects than numbers and text")
        return values.reshape(shape)


def float_of(text: str) -> float:
    """Return a number that JSON does not have."""
    return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[text]
