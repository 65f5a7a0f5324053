"""The parameter `decision`: what it may be, and what it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support import types
from sklearn_predtron._support.compat import Interval
from sklearn_predtron._support.names import refuse_class
from sklearn_predtron._support.parts import Part, real_numbers
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.decisions._calibration import SMOOTHING
from sklearn_predtron.losses.subset import SubsetLoss


class DecisionRule(Part):
    """Base of what turns scores into predictions.

    See Also
    --------
    Learned : Decodes the scores.
    ExpectedCost : Predicts what costs least in expectation.
    Cut : Cuts the scores.
    """

    _parameter_constraints: dict[str, list] = {}

    def _validate_params(self) -> None:
        """Refuse values that no parameter of this name takes."""
        super()._validate_params()


class Learned(DecisionRule):
    """Decode the scores as they were learned: the prediction of largest similarity, argmax <rep(sigma), t> (alias "learned").

    It is what the theorems speak of (Jain et al. 2015): with unequal costs the loss is learned as it is, its costs being
    margins.  `fit` holds no rows out, so that there are no probabilities after it; in streams there are.

    See Also
    --------
    ExpectedCost : Cheaper where classes overlap and mistakes cost differently.

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
    expected_cost 0.44
    """

    alias = "learned"
    synonyms = ("argmax", "max_similarity", "decode")


class ExpectedCost(DecisionRule):
    r"""Predict what costs least in expectation, argmin_sigma sum_y P(y) L(sigma, y) (Elkan 2001; alias "expected_cost").

    The probabilities are those of `predict_proba`: a logistic map of scores of rows that were not learned (Platt 1999).  A
    rejection is one more prediction, with its own cost (Chow 1970).  Classes and ranks take any costs, sets of labels those
    which are b false labels and c missed ones, at a cost each.

    Parameters
    ----------
    smoothing : float, default=0.1
        The target of the n rows of a class is 1 - smoothing / (n + 2) instead of 1.  If the map is made of n rows, no
        probability of k classes is below smoothing / ((n + 2) (k - 1)), and of k ranks below half of that.  Platt (1999) has 1,
        which is too much where few rows are costly.

    See Also
    --------
    Learned : What the theorems speak of.
    sklearn_predtron.metrics.cost_scorer : Scores by what is paid.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> X, y = make_classification(2000, class_sep=0.3, random_state=0)
    >>> model = PredtronBinaryClassifier(loss=[[0, 1], [5, 0]], random_state=0).fit(X[:1000], y[:1000])
    >>> float(model.sample_loss(X[1000:], y[1000:]).mean().round(2))  # predicting the second class of all rows costs 0.51
    0.44
    >>> model.predict_proba(X[1000:1002]).round(2)
    array([[0.04, 0.96],
           [0.6 , 0.4 ]])
    """

    alias = "expected_cost"
    synonyms = ("bayes", "expected", "minimum_risk", "least_expected_cost", "cost")
    _parameter_constraints: dict[str, list] = {"smoothing": [Interval(Real, 0, 1, closed="right")]}

    def __init__(self, smoothing: float = SMOOTHING):
        self.smoothing = smoothing


class Cut(DecisionRule):
    """Cut the scores: at given numbers, or where a measure of all rows together would have lost least.

    Rows count as they were predicted without having been learned: in `fit` by learners of the other folds, in a stream each
    before its round.

    Parameters
    ----------
    at : str, SubsetLoss, callable, float or array-like of shape (m,)
        Of two classes "f1", "balanced" (accuracy), or a loss of the counts of true positives, false positives, false negatives
        and true negatives, as ``FBeta(beta=2.0)`` or a function of the four.  Of sets of labels "macro_f1" (a cut for each label)
        and "micro_f1" (one for all).  Of batches "fitted": where the rows of `fit` lose least.  Or a number, which the
        scores must exceed; of sets of labels one for all, or one for each.

    See Also
    --------
    ExpectedCost : Where mistakes have costs of their own.
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
    0.84
    """

    def __init__(self, at: types.CutName | types.OfCounts | SubsetLoss | float | Sequence[float] | NDArray):
        self.at: Any = at


NAMED = {"learned": Learned, "expected_cost": ExpectedCost}


def decision_rule(value: Any, cuts: Sequence[str], *, numbers: bool, costs: bool = True) -> DecisionRule | None:
    """Return the rule that the parameter `decision` denotes, with its own parameters checked.

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
    """Return whether a value is one finite number, and not a bool."""
    number = None if isinstance(value, (bool, np.bool_)) else real_numbers(value)
    return number is not None and number.ndim == 0 and bool(np.isfinite(number))
