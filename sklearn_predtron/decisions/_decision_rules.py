"""The accepted values of the parameter `decision`."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support import types
from sklearn_predtron._support.compat import Interval
from sklearn_predtron._support.names import refuse_class
from sklearn_predtron._support.numbers import real_numbers
from sklearn_predtron._support.parts import Part
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.decisions._calibration import SMOOTHING
from sklearn_predtron.decisions._promises import Promise
from sklearn_predtron.losses.subset import SubsetLoss


class DecisionRule(Part):
    """Base of the decisions, which turn scores into predictions.

    See Also
    --------
    Learned : Decodes the scores.
    ExpectedCost : Predicts the label with the lowest expected cost.
    Cut : Cuts the scores.
    """

    _parameter_constraints: dict[str, list] = {}

    def _validate_params(self) -> None:
        """Raise ValueError if a parameter has an invalid value."""
        super()._validate_params()


class Learned(DecisionRule):
    """Plain argmax decoding (alias "learned").

    The label with the highest score, argmax <rep(sigma), t>, is predicted.

    This is the setting of the theorems (Jain et al. 2015).  With unequal costs the model is trained on the loss as it is, the
    costs being margins.  `fit` holds out no rows, so there are no probabilities after it; in streams there are.

    See Also
    --------
    ExpectedCost : Costs less if classes overlap and mistakes have unequal costs.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> X, y = make_classification(2000, class_sep=0.3, random_state=0)
    >>> costs = [[0, 1], [5, 0]]
    >>> for decision in ["learned", "expected_cost"]:
    ...     model = PredtronBinaryClassifier(loss=costs, decision=decision, random_state=0).fit(X[:1000], y[:1000])
    ...     print(decision, round(model.sample_loss(X[1000:], y[1000:]).mean(), 2))
    learned 0.52
    expected_cost 0.36
    """

    alias = "learned"
    synonyms = ("argmax", "max_similarity", "decode")


class ExpectedCost(DecisionRule):
    r"""Predict the label with the lowest expected cost.

    It is argmin_sigma sum_y P(y) L(sigma, y) (Elkan 2001; alias "expected_cost").

    The probabilities are those of `predict_proba`: a logistic calibration map fitted to the scores of held-out rows (Platt 1999).
    Abstention is one more prediction, with its own cost (Chow 1970).  Classes and ranks accept any costs; sets of labels accept
    losses that are a cost for each false label plus a cost for each missed one.

    Parameters
    ----------
    smoothing : float, default=0.1
        The target of the n rows of a class is 1 - smoothing / (n + 2) instead of 1.  If the map is fitted to n rows, no
        probability of k classes is below smoothing / ((n + 2) (k - 1)), and none of k ranks below half of that.  Platt (1999)
        has 1, which is too large if few rows are costly.  If the map is fitted to few rows, n of them, the smoothing is
        1 + (20 / n)^2 times as large.
    subject_to : list of AtMost and AtLeast, default=None
        Bounds of measures, such as ``[AtLeast("recall", 0.9, label="ill")]``, for classes, ranks and each label of sets.  The
        costs of the decision then contain multiples of the bounds, chosen such that held-out rows are within the bounds at the
        lowest cost.  For two classes, and for a label, all thresholds are tried.  `bounds_` of the fitted estimator has the
        values that were reached.

        With costs by row, ``predict(X, costs=...)``, accepted is one bound of a share of all rows:
        ``AtMost("predicted_rate", 0.02, label="fraud")``, or "abstention_rate".  The label is then predicted of at most this
        share of the rows of X, those with the largest expected saving.  In a call of so few rows that the share is less than
        one, the saving must exceed a limit: on the held-out rows of ``fit(X, y, costs=...)`` the share of such rows was within
        the bound.
    confidence : float, default=None
        Confidence of a binomial test of each bound on the held-out rows, from 0.5 to below 1.  None takes the measures
        themselves: on other rows they are beyond the bound about as often as not.

    Raises
    ------
    ValueError
        In `fit`, if no decision keeps all bounds on the held-out rows; the message has the nearest values.  A stream takes the
        nearest decision.

    See Also
    --------
    Learned : The setting of the theorems.
    AtLeast : A bound of a measure.
    sklearn_predtron.metrics.cost_scorer : Scores by the average cost per row.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> X, y = make_classification(2000, class_sep=0.3, random_state=0)
    >>> model = PredtronBinaryClassifier(loss=[[0, 1], [5, 0]], random_state=0).fit(X[:1000], y[:1000])
    >>> float(model.sample_loss(X[1000:], y[1000:]).mean().round(2))  # predicting the second class of all rows costs 0.51
    0.36
    >>> model.predict_proba(X[1000:1002]).round(2)
    array([[0.14, 0.86],
           [0.77, 0.23]])

    At the lowest cost that finds nine of ten rows of the second class:

    >>> from sklearn.metrics import recall_score
    >>> from sklearn_predtron.decisions import AtLeast, ExpectedCost
    >>> decision = ExpectedCost(subject_to=[AtLeast("recall", 0.9, label=1)])
    >>> for rule in ("expected_cost", decision):
    ...     model = PredtronBinaryClassifier(decision=rule, random_state=0).fit(X[:1000], y[:1000])
    ...     predicted = model.predict(X[1000:])
    ...     print(round(recall_score(y[1000:], predicted), 2), round((predicted != y[1000:]).mean(), 2))
    0.8 0.14
    0.89 0.2
    """

    alias = "expected_cost"
    synonyms = ("bayes", "expected", "minimum_risk", "least_expected_cost", "cost")
    _parameter_constraints: dict[str, list] = {
        "smoothing": [Interval(Real, 0, 1, closed="right")],
        "subject_to": [list, tuple, None],
        "confidence": [Interval(Real, 0.5, 1, closed="left"), None],
    }

    def __init__(
        self,
        smoothing: float = SMOOTHING,
        *,
        subject_to: Sequence[Promise] | None = None,
        confidence: float | None = None,
    ):
        self.smoothing = smoothing
        self.subject_to = subject_to
        self.confidence = confidence

    def _validate_params(self) -> None:
        """Raise ValueError if a parameter has an invalid value."""
        super()._validate_params()
        for one in self.subject_to or ():
            if not isinstance(one, Promise):
                raise ValueError(f"subject_to={shortened(self.subject_to)} must hold AtMost(...) and AtLeast(...) alone.")
            if one.group is not None:
                raise ValueError(f"subject_to has {one!r}; groups are for `certify`, and here accepted is group=None.")
            if callable(one.measure) and self.confidence is not None:
                raise ValueError(
                    f"confidence={self.confidence} does not go with {one!r}, a function, which has no test; accepted is None."
                )


class Cut(DecisionRule):
    """Cut the scores at numbers or by a measure.

    A measure of all rows together has the lowest loss at its cut.

    The measure uses predictions for unseen rows: in `fit` those of the fold models, in a stream the prediction for each row
    before its update.  A class or label with a single row in `fit` keeps the cut at 0, because the model that scores this row was
    trained without the label.

    Parameters
    ----------
    at : str, SubsetLoss, callable, float or array-like of shape (m,)
        For two classes: "f1", "balanced" (accuracy), or a loss of the counts of true positives, false positives, false negatives
        and true negatives, such as ``FBeta(beta=2.0)`` or a function of the four.  For sets of labels: "macro_f1" (a cut for each
        label) or "micro_f1" (one for all).  For batches: "fitted", the cut with the lowest loss on the rows of `fit`.  Or a
        number, which the scores must exceed; for sets of labels one for all, or one for each.

    See Also
    --------
    ExpectedCost : For mistakes with individual costs.
    sklearn.model_selection.TunedThresholdClassifierCV : Chooses the cut of any classifier, by folds.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import f1_score
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.decisions import Cut
    >>> X, y = make_classification(2000, weights=[0.95], class_sep=0.5, random_state=0)
    >>> for decision in ["learned", Cut("f1")]:
    ...     model = PredtronBinaryClassifier(decision=decision, random_state=0).fit(X[:1000], y[:1000])
    ...     print(round(f1_score(y[1000:], model.predict(X[1000:])), 2))
    0.83
    0.82
    """

    def __init__(self, at: types.CutName | types.OfCounts | SubsetLoss | float | Sequence[float] | NDArray):
        self.at: Any = at


NAMED = {"learned": Learned, "expected_cost": ExpectedCost}


def decision_rule(value: Any, cuts: Sequence[str], *, numbers: bool, costs: bool = True) -> DecisionRule | None:
    """Return the rule of the parameter `decision`.

    Its own parameters are checked.

    None stays None.  A name that is not in `cuts`, or a number without `numbers`, raises ValueError.  If `costs` is False, the
    message does not mention expected costs.
    """
    refuse_class("decision", value)
    if value is None:
        return None
    if isinstance(value, DecisionRule):
        value._validate_params()
        return value
    if isinstance(value, str):
        if value in NAMED:
            return NAMED[value]()
        if value in cuts:
            return Cut(value)  # type: ignore[arg-type]
    elif numbers and is_number(value):
        return Cut(value)
    accepted = ["None", *map(repr, [*(name for name in NAMED if costs or name == "learned"), *cuts])]
    accepted += ["ExpectedCost(...)"] * costs + ["Cut(...)", "numbers"] * numbers
    raise ValueError(f"decision={shortened(value)} is not known; accepted are {', '.join(accepted[:-1])} and {accepted[-1]}.")


def is_number(value: Any) -> bool:
    """Return whether a value is a single finite number; a bool is not one."""
    number = None if isinstance(value, (bool, np.bool_)) else real_numbers(value)
    return number is not None and number.ndim == 0 and bool(np.isfinite(number))
