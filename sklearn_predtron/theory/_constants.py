"""The constants of losses."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from sklearn_predtron._support.parts import Part, kinds
from sklearn_predtron._support.queries import Queries, read_document_relevances, read_relevances
from sklearn_predtron.losses import CostTableLoss, RankingLoss, SubsetLoss
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.problems._user import UserProblem


def loss_constants(
    loss: Any, *, classes: Any = None, n_labels: int | None = None, y: Any = None, qid: Any = None
) -> tuple[float, float]:
    """Return the loss constants c_L and C_L of the bounds.

    c_L is the least positive loss and C_L the largest (Jain et al. 2015, section 2).

    Parameters
    ----------
    loss : str, CostTableLoss, SubsetLoss, RankingLoss or Problem
        A loss, its alias, or a problem that states them.
    classes : int or array-like of shape (k,), default=None
        For tables: the number of classes, or the classes.
    n_labels : int, default=None
        For sets of labels: their number m.
    y : array-like of shape (n_documents,) or (n_samples, m), default=None
        For rankings: the relevances, of documents or of the labels of each row.
    qid : array-like of shape (n_documents,), default=None
        The query of each document; None is one query.

    Returns
    -------
    c_L : float
        The least positive loss; of rankings, that of a wrong ranking of these lists.
    C_L : float
        The largest loss; of rankings, 1.  Of losses at k, c_L and C_L bound the excess over the least loss of a label.

    See Also
    --------
    margin : The margin that the bounds divide by.
    radius : The length R of the inputs.

    Examples
    --------
    >>> from sklearn_predtron.losses import NDCG
    >>> from sklearn_predtron.theory import loss_constants
    >>> loss_constants("absolute", classes=5), loss_constants("hamming", n_labels=4)
    ((1.0, 4.0), (0.25, 1.0))
    >>> c_L, C_L = loss_constants(NDCG(), y=[2, 1, 0, 0])
    >>> round(c_L, 6), C_L
    (0.03606, 1.0)
    """
    if hasattr(loss, "augmented_decode"):  # a problem written in Python
        return stated_constants(loss)
    found = loss if hasattr(loss, "constants_of") else any_loss(loss)
    if found.constants_of == "classes":
        given(classes, "classes", found)
        check_count("classes", classes if np.ndim(classes) == 0 else len(classes), 2)
        return found.constants(np.arange(classes) if np.ndim(classes) == 0 else np.asarray(classes))
    if found.constants_of == "n_labels":
        given(n_labels, "n_labels", found)
        check_count("n_labels", n_labels, 1)
        return found.constants(int(n_labels))  # type: ignore[arg-type]
    given(y, "y", found)
    return found.constants(lists_of(y, qid))


def given(value: Any, parameter: str, loss: Any) -> None:
    if value is None:
        raise ValueError(f"{parameter}=None: the constants of loss={loss!r} depend on it.")


def check_count(parameter: str, number: Any, least: int) -> None:
    if not isinstance(number, Integral) or number < least:
        raise ValueError(f"{parameter}={number!r} must be an integer of at least {least}.")


def any_loss(alias: Any) -> Any:
    """Return the loss of an alias, whatever its family."""
    losses: dict[Any, type[Part]] = {
        kind.alias: kind for base in (CostTableLoss, SubsetLoss, RankingLoss) for kind in kinds(base)
    }
    if not isinstance(alias, str) or alias not in losses:
        raise ValueError(f"loss={alias!r} is not known; accepted are {', '.join(map(repr, losses))} and instances of losses.")
    return losses[alias]()


def stated_constants(problem: Any) -> tuple[float, float]:
    if problem.c_L is None or problem.C_L is None:
        raise ValueError(f"loss={problem!r} does not state c_L and C_L.")
    checked = UserProblem(problem)
    return checked.c_L, checked.C_L


def lists_of(y: Any, qid: Any) -> Relevances:
    """Return the lists of documents or labels."""
    if np.ndim(y) == 2:
        y = read_relevances(y)
        return Relevances(y.ravel(), np.arange(len(y) + 1, dtype=np.intp) * y.shape[1])
    y = read_document_relevances(y)
    queries = Queries(qid, len(y))
    return Relevances(queries.take(y), queries.start)
