"""The reject option: a classifier may abstain, at a cost."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from sklearn_predtron._support.names import refuse_class
from sklearn_predtron._support.numbers import LARGEST_LOSS, as_numbers, real_number
from sklearn_predtron._support.parts import Part
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.warning import warn

LEAST_GAIN = 1e-9  # of the largest loss: smaller gains are rounding errors


class Reject(Part):
    """Abstention of a classifier under a cost, risk or rate.

    ``reject=0.2`` is short for ``reject=Reject(cost=0.2)``.

    Parameters
    ----------
    cost : float or array-like of shape (k,), default=None
        Cost beta of an abstained row, above 0 and at most the largest loss; an array has one cost for each true class.  The
        classifier abstains where this costs less than any class is expected to cost under `predict_proba` (Chow 1970).  If beta
        exceeds the cost of a guess, 1 - 1/k for k classes under the 0-1 loss, it never abstains, and a warning says so.  Give
        exactly one of `cost`, `risk` and `rate`.
    label : label, default=None
        Label predicted for an abstained row: of the type of the classes, but not one of them.  None is -1 if classes are numbers
        and "reject" if they are strings.  Boolean classes leave no such label; convert y to integers or strings.
    risk : float or dict, default=None
        Instead of a cost, the largest mean loss that the answered rows may have, above 0 and below the largest loss; for the 0-1
        loss it is the share of wrong answers.  A dict has the largest mean loss of the rows with a predicted label: with
        ``{"well": 0.02}`` at most 2 % of those predicted well are ill, and labels left out are always answered.  After
        training, the rows to answer are chosen by tests on the recorded held-out rows, which is an estimate.  Call `certify` with
        new rows for a promise that holds with `confidence`.
    confidence : float, default=0.95
        Probability, over the draw of the held-out rows, with which the risk is kept; from 0.5 to below 1.
    rate : float, default=None
        Instead of a cost, the share of rows on which to abstain, above 0 and below 1: those whose best answer has the highest
        expected cost.  After `fit` it is that share of the held-out rows.  In a stream an online rule (Gibbs and Candes 2021)
        keeps the rate for any sequence of rows: over T rounds of `partial_fit`, each predicted before its update, the share of
        abstained rows differs from the rate by at most 201 / T (`rejected_share_`).

    See Also
    --------
    sklearn_predtron.metrics.reject_scorer : Scores by the costs of mistakes and of abstained rows.
    sklearn_predtron.decisions.Certificate : The result of `certify`, which also takes several promises.

    Notes
    -----
    The test of a risk is from Angelopoulos et al. (2021), the rule of a rate from Gibbs and Candes (2021).  The user guide's page
    on custom problems has the reject option of Jain et al. (2015), a third prediction with a vector of its own.  A classifier
    checks the values during training and prediction, as they depend on its classes and loss.  The ValueError then names `reject`,
    the given value and the accepted ones.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> triage = PredtronBinaryClassifier(reject=0.1, random_state=0).fit(X[::2], y[::2])
    >>> np.unique(triage.predict(X[1::2]))
    array([-1,  0,  1])
    """

    def __init__(
        self,
        cost: Any = None,
        label: Any = None,
        *,
        risk: float | dict[Any, float] | None = None,
        confidence: float = 0.95,
        rate: float | None = None,
    ):
        self.cost = cost
        self.label = label
        self.risk = risk
        self.confidence = confidence
        self.rate = rate


def checked_reject(reject: Any) -> Reject | None:
    """Return the valid `Reject` that `reject` denotes."""
    refuse_class("reject", reject)
    if isinstance(reject, Real) and not isinstance(reject, (bool, np.bool_)):
        return Reject(float(reject))
    if reject is not None and not isinstance(reject, Reject):
        raise ValueError(
            f"reject={reject!r} is not known; accepted are None, a cost and instances of Reject, as Reject(cost=0.1, label=-1)."
        )
    if reject is not None:
        check_promise(reject)
    return reject


def check_promise(reject: Reject) -> None:
    """Raise ValueError unless one of cost, risk, rate is given."""
    given = [name for name in ("cost", "risk", "rate") if getattr(reject, name) is not None]
    if len(given) != 1:
        values = ", ".join(f"reject.{name}={getattr(reject, name)!r}" for name in ("cost", "risk", "rate"))
        raise ValueError(f"{values}; accepted is exactly one of them, as in Reject(cost=0.1).")
    confidence = real_number(reject.confidence)
    if confidence is None or not 0.5 <= confidence < 1:
        raise ValueError(f"reject.confidence={reject.confidence!r} must be a number from 0.5 to below 1.")
    if given == ["cost"]:
        return
    name, given_value = given[0], getattr(reject, given[0])
    of_labels = name == "risk" and isinstance(given_value, dict)
    numbers = [real_number(one) for one in (given_value.values() if of_labels else [given_value])]
    if not numbers or not all(value is not None and 0 < value <= LARGEST_LOSS for value in numbers):
        what = "have a number above 0 for at least one label" if of_labels else "be a number above 0"
        raise ValueError(f"reject.{name}={given_value!r} must {what}.")
    if name == "rate" and reject.rate >= 1:  # type: ignore[operator]
        raise ValueError(f"reject.rate={reject.rate!r} must be a number above 0 and below 1.")


def costs_by_class(reject: Reject, k: int, largest: float) -> NDArray:
    """Return beta of each class, at most the largest loss."""
    beta = as_numbers(reject.cost, "reject.cost", f"a number, or one for each of the {k} classes")
    if beta.shape not in ((), (k,)) or not ((beta > 0) & (beta <= largest)).all():
        raise ValueError(
            f"reject.cost={reject.cost!r} must be a number, or one for each of the {k} classes, above 0 and at most "
            f"{largest:g}, as what mistakes cost by `loss`; where costs differ by row, give their mean as `loss`, too."
        )
    return np.broadcast_to(beta, (k,))


def warn_if_never_paid(reject: Reject, costs: NDArray) -> None:
    """Warn if abstention is never cheapest; its costs are the last column."""
    gain = largest_gain(costs)
    if gain > -LEAST_GAIN * costs.max():
        return
    most = f" {gain + float(reject.cost):.3g} at most" if np.ndim(reject.cost) == 0 else " no more"
    warn(
        f"reject.cost={shortened(reject.cost)} is never paid: a guess is expected to cost{most}, whatever the probabilities of "
        "the classes, so that no row is rejected; give less."
    )


def largest_gain(costs: NDArray) -> float:
    """Return the largest possible saving by abstention."""
    gains = costs[:, :-1] - costs[:, -1:]
    k, answers = gains.shape
    even = float(gains.mean(axis=0).min())
    if even > 0:  # so is the most
        return even
    objective, of_answers = np.append(np.zeros(k), -1.0), np.column_stack([-gains.T, np.ones(answers)])
    adds_up, bounds = np.append(np.ones(k), 0.0)[None], [(0.0, None)] * k + [(None, None)]
    return -float(linprog(objective, of_answers, np.zeros(answers), adds_up, [1.0], bounds).fun)


def label_of_reject(reject: Reject, classes: NDArray) -> Any:
    """Return the label for abstention, checked."""
    label = reject.label
    if classes.dtype.kind == "b":
        raise ValueError(
            f"reject.label={label!r} cannot be of the type of the classes, True and False, and neither of them; make y "
            "integers, y.astype(int) with reject.label=-1, or strings."
        )
    if label is None:
        label = -1 if classes.dtype.kind in "iuf" else "reject"
        fits = np.asarray(label).dtype.kind in kinds_like(classes) and classes.dtype.kind != "u"
    else:
        fits = np.ndim(label) == 0 and np.asarray(label).dtype.kind in kinds_like(classes)
    if not fits or label in classes.tolist():
        given = f"{reject.label!r}" if reject.label is not None else f"None, which is {label!r},"
        raise ValueError(f"reject.label={given} is what a rejected row is predicted as; accepted is {other_label(classes)}.")
    return label


def kinds_like(classes: NDArray) -> str:
    """Return the dtype kinds of labels like the classes."""
    return {"i": "iu", "u": "iu", "f": "iuf", "U": "OUT", "S": "OS"}.get(classes.dtype.kind, "OUST")


def other_label(classes: NDArray) -> str:
    """Describe the accepted labels for abstention."""
    names = classes.tolist()
    if classes.dtype.kind in "iuf":
        example, what = min(-1, names[0] - 1), "a number" if classes.dtype.kind == "f" else "an integer"
        example = type(names[0])(example)
    else:
        example, what = next(name for name in ("rejected", "?", "rejected?") if name not in names), "a string"
    return f"{what} other than the classes {names}, such as {example!r}"
