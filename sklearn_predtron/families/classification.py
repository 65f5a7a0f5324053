"""Binary and multiclass classification, with a reject option."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._names import refuse_class
from sklearn_predtron._warning import warn
from sklearn_predtron.decisions._base import Decision
from sklearn_predtron.decisions._cut import CutAt, CutBy, Measure, OfTwoClasses, measure_of_loss, number_or_measure
from sklearn_predtron.families._attributes import learned, shifted_intercept
from sklearn_predtron.families._docstrings import documented
from sklearn_predtron.families._patience import Patience
from sklearn_predtron.families._table import TableClassifier
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.classes import Classes, TwoClasses
from sklearn_predtron.losses import AtK, BalancedError, FBeta, Reject, SubsetLoss
from sklearn_predtron.problems._base import Codes

__all__ = ["PredtronBinaryClassifier", "PredtronClassifier"]

OF_TWO = OfTwoClasses()
MEASURES = {"f1": Measure("f1", FBeta().of_counts), "balanced": Measure("balanced", BalancedError().of_counts)}
EPOCHS = "10, or min(n / 100, 100000 / n) if that is more, for n rows of positive weight; 10 for kernels"


@documented(Classes(np.arange(3)), d="d", epochs=EPOCHS)
class PredtronClassifier(TableClassifier):
    """Multiclass classifier.

    Parameters
    ----------
    loss : {losses}, array-like of shape (k, k), dict or CostTableLoss, default="zero_one"
        L(sigma, y).  A cost matrix is in the order of `classes_`, rows = true, columns = predicted; a dict is
        {(true, predicted): cost}, with cost 1 for the pairs left out.  A class may be missing, from a fold of a search for
        instance, where `CostMatrix(costs, labels=[...])` declares them all.
    representation : {representations}, array-like of shape (k, d) or CodeRepresentation, default="onehot"
        rep(sigma), one unit vector a class.
    {norm}
    {update}
    {average}
    {fit_intercept}
    {intercept_scaling}
    {max_iter}
    {tol}
    {shuffle}
    {random_state}
    {warm_start}
    {class_weight}
    {reject}

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels.
    coef_ : ndarray of shape (d, n_features)
        Weights that predict; d = k for "onehot".
    intercept_ : ndarray of shape (d,)
        Offsets of the scores.
    {norm_}
    {last_coef_}
    {last_intercept_}
    {dual_coef_}
    {t_}
    {n_mistakes_}
    {n_updates_}
    cumulative_loss_ : float
        Loss suffered online by the last iterate, before each update; with a reject option, that of its best class.
    {loss_curve_}
    {n_iter_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    PredtronBinaryClassifier : Two classes with one row of weights.
    sklearn.linear_model.Perceptron : One-vs-rest, last iterate.

    Notes
    -----
    Algorithm 1 of Jain et al. (2015) and its variants.  Probabilities: `sklearn.calibration.CalibratedClassifierCV`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_predtron import PredtronClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PredtronClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    _more_epochs = True
    _parameter_constraints: dict[str, list] = {**TableClassifier._parameter_constraints, "reject": [Reject, None]}

    def __init__(
        self,
        *,
        loss: Any = "zero_one",
        representation: Any = "onehot",
        norm: Any = "auto",
        update: Any = "adaptive",
        average: Any = None,
        fit_intercept: bool = True,
        intercept_scaling: Any = "auto",
        max_iter: int | None = None,
        tol: Patience | float | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
        class_weight: Any = None,
        reject: Reject | None = None,
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
        self.reject = reject


@documented(TwoClasses(np.arange(2)), d="1", epochs=EPOCHS)
class PredtronBinaryClassifier(TableClassifier):
    """Binary classifier, with asymmetric costs and a reject option.

    Parameters
    ----------
    loss : {losses}, array-like of shape (2, 2), dict or CostTableLoss, default="zero_one"
        L(sigma, y).  A cost matrix is in the order of `classes_`, rows = true, columns = predicted; a dict is
        {(true, predicted): cost}, with cost 1 for the pairs left out.  A class may be missing, from a fold of a search for
        instance, where `CostMatrix(costs, labels=[...])` declares them all.
    representation : {representations}, array-like of shape (2, d) or CodeRepresentation, default="sign"
        rep(sigma): -1 and +1 with one row of weights, or any two unit vectors.
    {norm}
    {update}
    {average}
    {fit_intercept}
    {intercept_scaling}
    {max_iter}
    {tol}
    {shuffle}
    {random_state}
    {warm_start}
    {class_weight}
    {reject}
    threshold : None, "cost", "f1", "balanced", SubsetLoss, callable or float, default=None
        Where the score is cut: None at 0, a number there; "cost" (by `loss`, for classes that overlap), "f1", "balanced"
        (accuracy) or a loss of the counts of true positives, false positives, false negatives and true negatives, as
        ``FBeta(beta=2.0)`` or a function of the four, where all rows together would have lost least, each predicted without
        having been learned.  The second of `classes_` is positive.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the first is represented by -1, the second by +1.
    coef_ : ndarray of shape (1, n_features)
        Weights that predict.
    intercept_ : ndarray of shape (1,)
        Offset of the score, less `threshold_`.
    threshold_ : float
        The cut of the score as it was learned; 0 is that of `decision_function`.
    {norm_}

    {last_coef_}
    {last_intercept_}
    {dual_coef_}
    {t_}
    {n_mistakes_}
    {n_updates_}
    cumulative_loss_ : float
        Loss suffered online by the last iterate, before each update; with a reject option, that of its best class.
    {loss_curve_}
    {n_iter_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    PredtronClassifier : Any number of classes.

    Notes
    -----
    Algorithm 1 of Jain et al. (2015) and its variants; asymmetric costs are its Corollary 2.  Probabilities:
    `sklearn.calibration.CalibratedClassifierCV`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.losses import Reject
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> triage = PredtronBinaryClassifier(reject=Reject(cost=0.1, label=-1), random_state=0)
    >>> np.unique(triage.fit(X, y).predict(X))
    array([-1,  0,  1])
    """

    _codec = TwoClasses
    _more_epochs = True
    _parameter_constraints: dict[str, list] = {
        **PredtronClassifier._parameter_constraints,
        "threshold": [str, SubsetLoss, callable, Real, None],
    }

    def __init__(
        self,
        *,
        loss: Any = "zero_one",
        representation: Any = "sign",
        norm: Any = "auto",
        update: Any = "adaptive",
        average: Any = None,
        fit_intercept: bool = True,
        intercept_scaling: Any = "auto",
        max_iter: int | None = None,
        tol: Patience | float | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
        class_weight: Any = None,
        reject: Reject | None = None,
        threshold: Any = None,
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
        self.reject = reject
        self.threshold = threshold

    def _read_labels(self, y: Any, classes: Any, known: Any, *, partial: bool) -> tuple[Codec, Codes]:
        codec, labels = super()._read_labels(y, classes, known, partial=partial)
        if known is None and not partial and isinstance(self.threshold, str) and self.threshold == "f1":
            warn_of_alphabet(codec, labels)
        return codec, labels

    def _widen_labels(self, labels: Any, classes: Any) -> tuple[Codec, list[int]]:
        return labels.extended(classes)  # which refuses them

    def _decision(self, labels: Any) -> Decision:
        threshold = self.threshold  # once: another thread may set it
        if threshold is None:
            return super()._decision(labels)
        measure = self._measure_of_threshold(threshold, labels)
        if labels is None:
            return super()._decision(labels)
        return CutAt(OF_TWO, np.array([float(threshold)])) if measure is None else CutBy(OF_TWO, measure, threshold)

    def _measure_of_threshold(self, threshold: Any, labels: Any) -> Measure | None:
        """Return the measure that a threshold names; None if it is a number; refuse what it cannot be."""
        refuse_class("threshold", threshold)
        if isinstance(threshold, AtK):
            raise ValueError(f"threshold={threshold!r} is for sets of k labels; accepted are losses of the counts of any cut.")
        measure: Measure | None
        if isinstance(threshold, SubsetLoss) or callable(threshold):
            measure = measure_of_loss(threshold)
        else:
            by_cost = isinstance(threshold, str) and threshold == "cost" and labels is not None
            of_costs = measure_of_costs(self._costs(labels.classes)) if by_cost else Measure("cost", FBeta().of_counts)
            accepted = "None, 'cost', 'f1', 'balanced', a loss of counts and a finite number"
            measure = number_or_measure(threshold, {**MEASURES, "cost": of_costs}, accepted)
        if self.reject is not None:
            raise ValueError(
                f"threshold={threshold!r} does not go with reject={self.reject!r}: the one moves the boundary for a "
                "measure of all rows, the other leaves rows near the boundary undecided by their cost; one of them must be None."
            )
        return measure

    @learned
    def intercept_(self) -> NDArray:
        """Offset of the scores that predict, of shape (d,), less what `threshold_` takes off."""
        return shifted_intercept(self)

    @learned
    def threshold_(self) -> float:
        """The cut of the score of the second class, as it was learned."""
        model = self._model
        decision = self._decision(model.labels).now(model.learner, model.settled)
        return float(decision.cuts[0]) if isinstance(decision, CutAt) else 0.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def measure_of_costs(costs: NDArray) -> Measure:
    """Return the measure of what false alarms and missed positives cost, whose cut depends on their ratio alone."""
    (_, alarm), (missed, _) = costs.tolist()
    return Measure(("cost", missed / alarm if alarm else float("inf")), lambda a, b, c, d: alarm * b + missed * c)


def warn_of_alphabet(codec: Any, labels: Codes) -> None:
    """Warn that F1 is that of the more frequent of two classes, because it is the second by the alphabet."""
    share = float(np.mean(labels.array == 1)) if len(labels.array) > 0 else 0.0
    if codec.classes.dtype.kind in "OUST" and share > 0.5:
        first, second = codec.classes.tolist()
        warn(
            f"threshold='f1' is for F1 of {second!r}, the second of classes_ by the alphabet, which {share:.0%} of the "
            f"rows have.  For F1 of {first!r} let y be y == {first!r}."
        )
