"""Costs of a loss between classes, and the true classes of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from sklearn_predtron._support.encoding import encode, refuse_missing
from sklearn_predtron._support.queries import shortened_list
from sklearn_predtron._support.warning import warn
from sklearn_predtron.families.input.reading import check_lengths
from sklearn_predtron.losses import ZeroOne, costs_of, table_loss


def costs_between(loss: Any, classes: NDArray) -> NDArray:
    """Return the costs of a loss, a row for each true class and a column for each predicted one."""
    cost = costs_of(table_loss(loss), classes)
    return 1.0 - np.eye(len(classes)) if cost is None else cost


def counts_mistakes(loss: Any) -> bool:
    """Return whether the loss is 0-1: with many classes a table of costs is worth avoiding."""
    loss = table_loss(loss)
    return isinstance(loss, ZeroOne) and type(loss).matrix is ZeroOne.matrix


def codes_or_wrong(labels: Any, predicted: NDArray, y: Any) -> NDArray:
    """Return the numbers of the labels, one for each prediction; a label that is no class is -1, and a warning counts them."""
    refuse_missing(y)
    y = column_or_1d(y)
    check_lengths(len(predicted), len(y))
    learned = set(labels.classes.tolist())
    known = np.array([label in learned for label in y.tolist()], dtype=bool)
    if known.all() or not known.any():
        return encode(y, labels.classes)
    others = shortened_list(list(dict.fromkeys(y[~known].tolist())))
    warn(f"y has {np.count_nonzero(~known)} labels that are not in classes_, {others}; such rows count as wrong.")
    codes = np.full(len(y), -1)
    codes[known] = encode(y[known], labels.classes)
    return codes


def true_codes(labels: Any, predicted: NDArray, y: Any) -> NDArray:
    """Return the numbers of the labels, one for each prediction."""
    refuse_missing(y)
    codes = encode(column_or_1d(y), labels.classes)
    check_lengths(len(predicted), len(codes))
    return codes
