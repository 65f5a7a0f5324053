"""The reject option: a classifier may answer that it does not know, at a cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._compat import CachedParameterNames
from sklearn_predtron._names import refuse_class
from sklearn_predtron._parts import as_numbers

RULES = ("online", "margin", "code")


class Reject(CachedParameterNames):
    """Let a classifier leave rows undecided, at a cost.

    Parameters
    ----------
    cost : float or array-like of shape (k,)
        Cost beta of a rejected row, above 0 and at most half the largest loss (with the rule "code" at most the largest loss);
        an array has one for each true class.
    label : label
        What a rejected row is predicted as: a label of the type of the classes, not one of them.  Boolean classes leave none;
        make y integers, or strings.
    rule : {"online", "margin", "code"}, default="online"
        Which rows are rejected.  "online" and "margin" reject if the margin, the difference of the two best decoded scores, is
        below a threshold, and coverage falls with beta.  "online" takes the threshold that would have cost least on the margins
        predicted so far, each without its row having been learned, from a histogram in constant memory: in `partial_fit`
        before the row is, in `fit` by learners of the other four fifths (in a large one before it is, in the first epoch).
        "margin", which is not recommended, takes 1 - 2 beta with the beta of the class predicted (with costs, the loss at
        stake - 2 beta), whatever the margins are worth.  "code" is the
        code (e_1 + ... + e_k) / sqrt(k) for the rejection, with its loss bound; for the 0-1 loss it never rejects with beta up
        to 1 - 1/k, and beyond it hardly rejects rows like those that were learned.

    See Also
    --------
    sklearn_predtron.metrics.reject_scorer : Scores by the costs of mistakes and of rejected rows.

    Notes
    -----
    Jain et al. (2015), section 3, has the code and its bound.  A classifier checks the values when it learns and predicts, for
    they depend on its classes and its loss: a ValueError then names `reject`, what was given and what is accepted.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.losses import Reject
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> triage = PredtronBinaryClassifier(reject=Reject(cost=0.1, label=-1), random_state=0).fit(X, y)
    >>> np.unique(triage.predict(X))
    array([-1,  0,  1])
    """

    def __init__(self, cost: Any, label: Any, rule: str = "online"):
        self.cost = cost
        self.label = label
        self.rule = rule


def checked_reject(reject: Any) -> Reject | None:
    """Return the parameter `reject`; refuse what is neither None nor a `Reject` with a known rule."""
    refuse_class("reject", reject)
    if reject is not None and not isinstance(reject, Reject):
        raise ValueError(
            f"reject={reject!r} is not known; accepted are None and instances of Reject, as Reject(cost=0.1, label=-1)."
        )
    if reject is not None and not (isinstance(reject.rule, str) and reject.rule in RULES):
        raise ValueError(f"reject.rule={reject.rule!r} is not known; accepted are {', '.join(map(repr, RULES))}.")
    return reject


def costs_by_class(reject: Reject, k: int, largest: float) -> NDArray:
    """Return beta of each class, at most the largest loss or half of it."""
    beta = as_numbers(reject.cost, "reject.cost", f"a number, or one for each of the {k} classes")
    most = largest if reject.rule == "code" else largest / 2
    if beta.shape not in ((), (k,)) or not ((beta > 0) & (beta <= most)).all():
        raise ValueError(
            f"reject.cost={reject.cost!r} must be a number, or one for each of the {k} classes, above 0 and at most {most:g} "
            f"(reject.rule={reject.rule!r})."
        )
    return np.broadcast_to(beta, (k,))


def check_label(reject: Reject, classes: NDArray) -> None:
    """Refuse a label that is not of the type of the classes, or is one of them."""
    label = reject.label
    if classes.dtype.kind == "b":
        raise ValueError(
            f"reject.label={label!r} cannot be of the type of the classes, True and False, and neither of them; make y "
            "integers, y.astype(int) with reject.label=-1, or strings."
        )
    fits = label is not None and np.ndim(label) == 0 and np.asarray(label).dtype.kind in kinds_like(classes)
    if not fits or label in classes.tolist():
        raise ValueError(f"reject.label={label!r} is what a rejected row is predicted as; accepted is {other_label(classes)}.")


def kinds_like(classes: NDArray) -> str:
    """Return the kinds of array in which a label of the type of the classes comes."""
    return {"i": "iu", "u": "iu", "f": "iuf", "U": "OUT", "S": "OS"}.get(classes.dtype.kind, "OUST")


def other_label(classes: NDArray) -> str:
    """Say what a label of the type of the classes, and none of them, may be."""
    names = classes.tolist()
    if classes.dtype.kind in "iuf":
        example, what = min(-1, names[0] - 1), "a number" if classes.dtype.kind == "f" else "an integer"
        example = type(names[0])(example)
    else:
        example, what = next(name for name in ("rejected", "?", "rejected?") if name not in names), "a string"
    return f"{what} other than the classes {names}, such as {example!r}"
