"""Ordinal regression: labels with an order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._warning import warn
from sklearn_predtron.families._classes import BaseTableClassifier
from sklearn_predtron.families._declared_order import declared_order
from sklearn_predtron.families._labels import encode
from sklearn_predtron.families._patience import Patience
from sklearn_predtron.families._validation import mean_loss

__all__ = ["PredtronOrdinalClassifier"]


class PredtronOrdinalClassifier(BaseTableClassifier):
    """Ordinal regression: classification whose labels have an order, and whose mistakes cost more the further they go.

    Parameters
    ----------
    loss : "absolute", "squared", "zero_one", array-like of shape (r, r), dict or CostTableLoss, default="absolute"
        L(sigma, y) of ranks.  A cost matrix is in the order of `classes_`, rows = true, columns = predicted; a dict is
        {(true, predicted): cost}, with cost 1 for the pairs left out.  A rank may be missing, from a fold of a search for
        instance, where `categories` or `CostMatrix(costs, labels=[...])` declares them all.
    representation : "thermometer", "shared", "onehot", "simplex", array-like of shape (r, d) or CodeRepresentation, \
            default="thermometer"
        rep(k), one unit vector a rank.  "thermometer" (CuSum Rank) asks r - 1 questions, whether the rank is above each
        threshold, each with its own weights; "shared" (PRank) has one direction and r - 1 ordered thresholds on it.
    norm : "l2", "l1", "group", "trace", "scaled", "rkhs" or Norm, default="l2"
        The norm under which margins are measured: "l1" for few relevant features among many, "group" for few that matter to all
        scores, "trace" for scores that share directions, "scaled" for raw features of any unit, "rkhs" for kernels.
    update : "adaptive", "predtron", "loss_driven", "perceptron", "passive_aggressive", "subgradient", "prank" or Update, \
            default="adaptive"
        When to change the weights, towards which competitor, and how far; "prank" is for representation="shared".
    average : "linear", "uniform", float or False, default="linear"
        The average of the iterates that predicts: round t weighs t, or 1; a number is a half-life in rounds; False is the
        last iterate, the choice for streams that drift.
    fit_intercept : bool, default=True
        Whether scores have an offset.
    intercept_scaling : "auto" or float, default="auto"
        Length of the intercept's virtual feature; "auto" is the running geometric mean of the lengths of the inputs, with
        which multiplying X by a constant changes no prediction.
    max_iter : int, default=None
        Epochs of `fit`; None is 10.
    tol : float, Patience or None, default=None
        `fit` stops after 5 epochs in a row whose mean progressive loss is not lower than the best so far by more than this;
        `Patience(tol, n_iter_no_change)` takes another number of epochs; None disables it.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows in each epoch.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffles.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights of the previous call.
    class_weight : dict, "balanced" or None, default=None
        Weights of the rows by label, 1 for those left out; "balanced" (in `fit` only) gives all labels the same total weight.
        A dict may name a label that is not among `classes_` (one missing from a fold) where it has a weight for each that is.
    categories : array-like of shape (r,), default=None
        The labels from the lowest rank to the highest.  None is the order that y declares, an ordered pandas Categorical, polars
        Enum or ordered Arrow dictionary; else that of the sorted labels, for strings the alphabet, and a warning says so.

    Attributes
    ----------
    classes_ : ndarray of shape (r,)
        The labels from the lowest rank to the highest.
    coef_ : ndarray of shape (d, n_features)
        Weights that predict; d = r - 1 for "thermometer", and one row for "shared".
    intercept_ : ndarray of shape (d,)
        Offsets of the scores, r - 1 for "shared" (minus the thresholds).
    last_coef_ : ndarray of shape (d, n_features)
        Weights of the last iterate.
    last_intercept_ : ndarray of shape (d,)
        Offsets of the last iterate.
    dual_coef_, support_ : ndarrays of shape (d, n_support) and (n_support,)
        With ``norm=RKHS(...)``: coefficients of the rows that are kept, and their numbers among all rows given.
    t_ : int
        Rounds so far.
    n_mistakes_ : int
        Rounds in which a maximiser of the score lost.
    n_updates_ : int
        Rounds that took a step.
    cumulative_loss_ : float
        Loss suffered online by the last iterate, before each update.
    loss_curve_ : list of float
        Mean progressive loss of each epoch of `fit`.
    n_iter_ : int
        Epochs of the last `fit`.
    n_features_in_ : int
        Features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.

    See Also
    --------
    PredtronClassifier : Labels without an order.

    Notes
    -----
    CuSum Rank and its passive-aggressive version: Milidiú and Rocha (2019), figures 1 and 2
    (``update="perceptron"``, and ``PassiveAggressive(competitor="predicted")``).  With "absolute" the default update scales
    the margin with the distance of the competitor's rank.  PRank: Crammer and Singer (2001).

    Of ranks whose scores tie exactly "thermometer" and "shared" predict the highest, as 0 counts as above its threshold.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import numpy as np
    >>> from sklearn_predtron import PredtronOrdinalClassifier
    >>> X, target = load_diabetes(return_X_y=True)
    >>> y = np.array(["low", "medium", "high"])[np.digitize(target, [100, 200])]
    >>> model = PredtronOrdinalClassifier(categories=["low", "medium", "high"], random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.75
    True
    """

    _parameter_constraints: dict[str, list] = {
        **BaseTableClassifier._parameter_constraints,
        "categories": ["array-like", None],
    }

    def __init__(
        self,
        *,
        loss: Any = "absolute",
        representation: Any = "thermometer",
        norm: Any = "l2",
        update: Any = "adaptive",
        average: Any = "linear",
        fit_intercept: bool = True,
        intercept_scaling: Any = "auto",
        max_iter: int | None = None,
        tol: Patience | float | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
        class_weight: Any = None,
        categories: Any = None,
    ):
        self.loss = loss
        self.representation = representation
        self.norm = norm
        self.update = update
        self.average = average
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.categories = categories

    def _given_classes(self, y: Any) -> NDArray | None:
        if self.categories is not None:
            return self._checked_categories()
        return declared_order(y)

    def _checked_categories(self) -> NDArray:
        categories = np.asarray(self.categories)
        mixed = len({isinstance(label, str) for label in np.asarray(self.categories, dtype=object).ravel()}) > 1
        if mixed or categories.ndim != 1 or len(set(categories.tolist())) < max(2, len(categories)) or unlike(categories):
            raise ValueError(
                f"categories={self.categories!r} must be a list of at least two different labels of one type, each once."
            )
        return categories

    def _check_same_classes(self, classes: Any, given: NDArray | None) -> None:
        super()._check_same_classes(classes, given)
        if given is None:
            return
        if (np.diff(encode(given, self.classes_, "categories")) <= 0).any():
            raise ValueError(
                f"categories={given.tolist()} are not in the order in which learning began: {self.classes_.tolist()}."
            )
        if self.categories is not None and len(given) < len(self.classes_):
            raise ValueError(f"categories={given.tolist()} cannot change from {self.classes_.tolist()} once learning has begun.")

    def _check_classes(self, classes: NDArray, *, ordered: bool) -> None:
        super()._check_classes(classes, ordered=ordered)
        if not ordered and classes.dtype.kind in "OSUT":
            warn(f"The labels are text, and their order is that of the alphabet: {classes.tolist()}; categories= gives another.")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """1 - mean absolute error / (r - 1) on the scale of ranks, whatever the loss and its costs.

        Searches over losses compare by it; `metrics.cost_scorer` makes scorers of costs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the mean.

        Returns
        -------
        score : float
            At most 1, which is perfect.
        """
        codes, predicted = self._true_and_predicted(X, y)
        return 1 - mean_loss(np.abs(predicted - codes), sample_weight) / (len(self.classes_) - 1)


def unlike(labels: NDArray) -> bool:
    """Whether labels cannot be compared, or do not equal themselves."""
    try:
        return bool((np.sort(labels) != np.sort(labels)).any())
    except TypeError:
        return True
