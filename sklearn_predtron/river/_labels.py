"""Labels in a stream: validation and first classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.numbers import real_number
from sklearn_predtron._support.queries import shortened

KINDS = "a string, an integer or a bool"


def is_whole(value: Any) -> bool:
    """Return whether a value is a bool or 64-bit integer."""
    number = real_number(value)
    return number is not None and abs(number) < 2.0**63 and number.is_integer()


def no_label(y: Any, accepted: str) -> ValueError:
    """Return the ValueError for a value that is no label."""
    return ValueError(f"y={shortened(y)} is no label; accepted is {accepted}.")


def check_label(y: Any) -> None:
    """Raise ValueError for an invalid label."""
    if not isinstance(y, str) and not is_whole(y):
        raise no_label(y, KINDS)


def first_classes(only: Any, labels: list[Any]) -> list[Any] | None:
    """Return the first classes; None while there is one."""
    if only is None and isinstance(labels[0], bool | np.bool_):
        return [False, True]
    found = list(dict.fromkeys(labels if only is None else [only, *labels]))
    for label in found:
        if isinstance(label, str) != isinstance(found[0], str):
            raise no_label(label, f"one of the type of the label so far, {found[0]!r}")
    return found if len(found) > 1 else None


def label_numbers(model: Any) -> dict[Any, int]:
    """Return the numbers of a trained estimator's labels, by their names, or by themselves if they have none."""
    labels = model._model.labels
    return {name: j for j, name in enumerate(range(labels.n_labels) if labels.names is None else labels.names.tolist())}


def indicators(labels: dict[Any, int], y: dict) -> NDArray:
    """Return indicators of a label set, of shape (1, m)."""
    on = np.zeros((1, len(labels)))
    for name, value in y.items():
        if not isinstance(value, bool) and not (is_whole(value) and value in (0, 1)):
            raise ValueError(f"y has {name!r}: {shortened(value)}; accepted are True and False.")
        on[0, labels[name]] = value
    return on


def relevances(labels: dict[Any, int], y: dict) -> NDArray:
    """Return the relevances of labels, of shape (1, m)."""
    found = np.zeros((1, len(labels)))
    for name, value in y.items():
        number = real_number(value)
        if number is None or not 0 <= number < np.inf:
            raise ValueError(f"y has {name!r}: {shortened(value)}; accepted are finite numbers of at least 0.")
        found[0, labels[name]] = number
    return found
