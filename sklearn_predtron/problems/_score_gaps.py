"""Leads of sigma_y over the other predictions, as a list; a margin is the least of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_NUMBERS = 2e7  # in the vectors of a data set


class Leads(NamedTuple):
    """n leads of sigma_y; they are factor (<code[own], t_row> - <code[other], t_other_row>), for the scores t of the rows."""

    code: NDArray  # shape (k, d)
    own: NDArray  # shape (n,), of sigma_y, or of the more relevant item
    other: NDArray  # shape (n,)
    row: NDArray  # shape (n,)
    other_row: NDArray  # shape (n,)
    factor: NDArray  # shape (n,)
    loses: NDArray  # shape (n,), whether the other prediction does


def check_room(numbers: float) -> None:
    """Raise ValueError if the vectors would hold too many numbers."""
    if numbers > MOST_NUMBERS:
        raise ValueError(
            f"The vectors of the data hold {numbers:.2g} numbers, and at most {MOST_NUMBERS:.2g} are accepted; take fewer rows."
        )


def leads_of_all(code: NDArray, costs: NDArray, right: NDArray, labels: NDArray) -> Leads:
    """Return the leads over predictions with a loss.

    The leads are those over every prediction that has a loss, or is not sigma_y, of numbered labels with sigma_y = right[y].
    """
    row, other = np.nonzero((costs[labels] > 0) | (np.arange(len(code)) != right[labels][:, None]))
    own = right[labels[row]]
    return Leads(code, own, other, row, row, np.ones(len(row)), costs[labels[row], other] > 0)


def leads_of_pairs(lists: Any, n_labels: int, values: Callable[[int], NDArray] | None, width: float) -> Leads:
    """Return the leads of more relevant items over others; they are scaled as in a ranking by f; n_labels = 0 is of documents."""
    y = lists.relevances
    high, low, factor = [], [], []
    for begin, end in pairwise(lists.starts):
        i, j = np.nonzero(y[begin:end, None] > y[None, begin:end])
        high.append(begin + i)
        low.append(begin + j)
        factor.append(np.full(len(i), 1.0 if values is None else least_gap(values(end - begin))))
    i, j, factors = np.concatenate(high), np.concatenate(low), np.concatenate(factor)
    check_room(len(i) * width)
    loses = np.ones(len(i), dtype=bool)
    if n_labels == 0:
        item = np.zeros(len(i), dtype=np.intp)
        return Leads(np.ones((1, 1)), item, item, i, j, factors, loses)
    return Leads(np.eye(n_labels), i % n_labels, j % n_labels, i // n_labels, j // n_labels, factors, loses)


def least_gap(f: NDArray) -> float:
    """Return the least f(j) - f(j + 1) over |f|; positions j, j + 1 are neighbours; a single position has any value."""
    return float(-np.diff(f).max(initial=-np.inf) / np.linalg.norm(f)) if len(f) > 1 else 0.0
