"""Binary and multiclass classification, with a reject option."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Observer
from sklearn_predtron._core.margin_histogram import MarginHistogram
from sklearn_predtron._core.score_histogram import ClassScores
from sklearn_predtron._names import refuse_class
from sklearn_predtron._queries import shortened
from sklearn_predtron._warning import warn
from sklearn_predtron.families._classes import BaseTableClassifier, check_two
from sklearn_predtron.families._docstrings import documented
from sklearn_predtron.families._fitted import learned
from sklearn_predtron.families._held_out import HeldOut
from sklearn_predtron.families._patience import Patience
from sklearn_predtron.families._thresholds import Measure, Thresholded, measure_of_loss, number_or_measure
from sklearn_predtron.losses import AtK, BalancedError, FBeta, Reject, SubsetLoss, names_label, table_loss
from sklearn_predtron.losses.reject import check_label, checked_reject, costs_by_class
from sklearn_predtron.problems._finite import FiniteProblem

__all__ = ["PredtronBinaryClassifier", "PredtronClassifier"]

MEASURES = {"f1": Measure("f1", FBeta().of_counts), "balanced": Measure("balanced", BalancedError().of_counts)}
EPOCHS = "10, or min(n / 100, 100000 / n) if that is more, for n rows of positive weight; 10 for kernels"


class RejectingClassifier(HeldOut, BaseTableClassifier):
    """A classifier that may leave rows undecided."""

    reject: Any

    _parameter_constraints: dict[str, list] = {
        **BaseTableClassifier._parameter_constraints,
        "reject": [Reject, None],
    }

    def _validate_params(self) -> None:
        checked_reject(self.reject)
        super()._validate_params()

    def _usual_epochs(self, n: int) -> int:
        # Measured: ten under-fit some thousand clean rows; fewer rows, and kernels, over-fit by more, and many rows need no more.
        linear = self._learner.weights.expansion is None
        return max(self._epochs, int(min(n / 100, 100_000 / n))) if linear else self._epochs

    def _build_problem(self) -> FiniteProblem:
        reject = checked_reject(self.reject)
        if reject is None:
            return super()._build_problem()
        costs = self._costs()
        problem = super()._build_problem()
        return FiniteProblem(reject_code(len(self.classes_)), costs) if reject.rule == "code" else problem

    def _costs(self) -> NDArray:
        reject = checked_reject(self.reject)
        if reject is None:
            return super()._costs()
        check_label(reject, self.classes_)
        if names_label(table_loss(self.loss), reject.label):
            raise ValueError(f"loss names reject.label={reject.label!r}; what a rejected row costs is reject.cost.")
        cost = super()._costs()
        return np.column_stack([cost, costs_by_class(reject, len(self.classes_), cost.max())])

    def _add_classes(self, classes: Any) -> list[int]:
        if self.reject is not None and self.reject.rule == "code":
            raise ValueError(
                f"classes={shortened(classes)}: reject.rule='code' does not take more classes than it began with; accepted are "
                "'online' and 'margin'."
            )
        return super()._add_classes(classes)

    def _what_makes_scores(self) -> str:
        code = self.reject is not None and self.reject.rule == "code"
        return "reject.rule='code'" if code else super()._what_makes_scores()

    def _counts_mistakes(self) -> bool:
        return self.reject is None and super()._counts_mistakes()

    def _build_observer(self, problem: FiniteProblem, observer: Observer | None) -> Observer | None:
        reject = checked_reject(self.reject)
        if reject is None or reject.rule != "online":
            return None
        return observer if isinstance(observer, MarginHistogram) else MarginHistogram(problem, len(self.classes_))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over a saved state, in which three parameters may stand for `reject`."""
        state = dict(state)
        former = [state.pop(f"reject_{name}", None) for name in ("cost", "label", "rule")]
        if "reject" not in state:
            state["reject"] = None if former[0] is None else Reject(*former)
        super().__setstate__(state)

    # --------------------------------------------------------------------------------------------------------- prediction

    def predict(self, X: Any) -> NDArray:
        """Predict the class, or the label of `reject`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels of `classes_`, and ``reject.label`` for the rows that are rejected.
        """
        reject = checked_reject(self.reject)
        if reject is None:
            return super().predict(X)
        now = self._as_of_now()
        predicted = now._predict_codes(X)
        return np.append(now.classes_, reject.label)[predicted]

    def _predict_codes(self, X: Any) -> NDArray:
        """Return the numbers of the predictions; one past the last class rejects."""
        reject = checked_reject(self.reject)
        if reject is not None and reject.rule == "code" and self._learner.problem.k == len(self.classes_):
            raise ValueError("reject.rule='code' is learned; call fit after setting it.")
        if reject is None or reject.rule == "code":
            return super()._predict_codes(X)
        best, margin = self._two_best(X)
        return np.where(margin < self._least_margin(best), len(self.classes_), best[:, 0])

    def _two_best(self, X: Any) -> tuple[NDArray, NDArray]:
        """Return the two best classes of each row, best first, and the margin between them."""
        scores = self._scores(X)
        return top_two(self._learner.problem.decision(scores)[:, : len(self.classes_)])

    def _least_margin(self, best: NDArray) -> NDArray | float:
        """Return the margin that a row must have so as not to be rejected, given its two best predictions."""
        costs = self._costs()
        beta = costs[:, -1]
        if self.reject.rule == "margin":
            return costs[best[:, 1], best[:, 0]] - 2 * beta[best[:, 0]]
        observer = self._learner.observer
        if observer is None:
            raise ValueError(
                "reject.rule='online' chooses its threshold while it learns; call fit or partial_fit after setting it."
            )
        return observer.threshold(beta)


def reject_code(k: int) -> NDArray:
    """Return the paper's code with a rejection: e_1, ..., e_k, and (e_1 + ... + e_k) / sqrt(k) (Jain et al. 2015, section 3)."""
    return np.vstack([np.eye(k), np.full(k, k**-0.5)])


def top_two(decision: NDArray) -> tuple[NDArray, NDArray]:
    """Return the two best predictions of each row, best first, and the difference of their scores."""
    rows = np.arange(len(decision))
    first = decision.argmax(axis=1)
    rest = decision.copy()
    rest[rows, first] = -np.inf
    second = rest.argmax(axis=1)
    return np.column_stack([first, second]), decision[rows, first] - decision[rows, second]


@documented({"classes_": np.arange(3)}, d="d", epochs=EPOCHS)
class PredtronClassifier(RejectingClassifier):
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


@documented({"classes_": np.arange(2)}, d="1", epochs=EPOCHS)
class PredtronBinaryClassifier(Thresholded, RejectingClassifier):
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

    _parameter_constraints: dict[str, list] = {
        **RejectingClassifier._parameter_constraints,
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

    def _add_classes(self, classes: Any) -> list[int]:
        raise ValueError(
            f"classes={shortened(classes)}: PredtronBinaryClassifier has two classes; PredtronClassifier takes more."
        )

    # ---------------------------------------------------------------------------------------------------------- threshold

    def _read_labels(self, y: Any, classes: Any, *, fresh: bool, partial: bool) -> Any:
        labels = super()._read_labels(y, classes, fresh=fresh, partial=partial)
        if (
            fresh
            and not partial
            and isinstance(self.threshold, str)
            and self.threshold == "f1"
            and self.classes_.dtype.kind in "OUST"
        ):
            share = float(np.mean(labels.array == 1)) if len(labels.array) > 0 else 0.0
            if share > 0.5:
                first, second = self.classes_.tolist()
                warn(
                    f"threshold='f1' is for F1 of {second!r}, the second of classes_ by the alphabet, which {share:.0%} of the "
                    f"rows have.  For F1 of {first!r} let y be y == {first!r}."
                )
        return labels

    def _threshold_measure(self) -> Measure | None:
        threshold = self.threshold
        refuse_class("threshold", threshold)
        if isinstance(threshold, AtK):
            raise ValueError(f"threshold={threshold!r} is for sets of k labels; accepted are losses of the counts of any cut.")
        measure: Measure | None
        if isinstance(threshold, SubsetLoss) or callable(threshold):
            measure = measure_of_loss(threshold)
        else:
            ratio = self._cost_ratio() if isinstance(threshold, str) and threshold == "cost" else None
            by_cost = {"cost": Measure(("cost", ratio), self._cost_of_counts)}
            accepted = "None, 'cost', 'f1', 'balanced', a loss of counts and a finite number"
            measure = number_or_measure(threshold, MEASURES | by_cost, accepted)
        if threshold is not None and self.reject is not None:
            raise ValueError(
                f"threshold={threshold!r} does not go with reject={self.reject!r}: the one moves the boundary for a "
                "measure of all rows, the other leaves rows near the boundary undecided by their cost; one of them must be None."
            )
        return measure

    def _cost_ratio(self) -> float | None:
        """Return by how much a missed positive costs more than a false alarm, on which alone the cut depends."""
        if not hasattr(self, "classes_"):
            return None
        (_, alarm), (missed, _) = self._costs().tolist()
        return missed / alarm if alarm else float("inf")

    def _cost_of_counts(self, a: NDArray, b: NDArray, c: NDArray, d: NDArray) -> NDArray:
        """Return what false alarms and missed positives cost."""
        costs = self._costs()
        return costs[0, 1] * b + costs[1, 0] * c

    def _new_histogram(self, problem: Any) -> ClassScores:
        return ClassScores(problem)

    def _score_difference(self, learner: Any) -> tuple[NDArray, float]:
        """Return v and h of the score of the second class, <v, t> / h."""
        first, second = learner.problem.decision(np.eye(learner.problem.d))[:, :2].T
        return second - first, 2.0 if learner.problem.d == 1 else 1.0

    def _cut_scores(self, learner: Any, scores: NDArray) -> NDArray:
        direction, unit = self._score_difference(learner)
        return (scores @ direction / unit)[:, None]

    def _positive(self, labels: Any) -> NDArray:
        return labels.array[:, None] == 1

    def _shift_by(self, learner: Any, cuts: NDArray) -> NDArray:
        direction, unit = self._score_difference(learner)
        return cuts[0] * unit * direction / (direction @ direction)

    @learned
    def threshold_(self) -> float:
        """The cut of the score of the second class, as it was learned."""
        cuts = self._cuts(self._learner)
        return 0.0 if cuts is None else float(cuts[0])

    def _check_classes(self, classes: NDArray, *, ordered: bool) -> None:
        super()._check_classes(classes, ordered=ordered)
        check_two(classes)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
