"""Binary and multiclass classification, with a reject option."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import column_or_1d

from sklearn_predtron._base import BasePredtron
from sklearn_predtron._compat import Interval, StrOptions
from sklearn_predtron._core.learner import Observer
from sklearn_predtron._core.margins import Margins
from sklearn_predtron._core.problem import Codes, Labels
from sklearn_predtron._core.stream import Stream
from sklearn_predtron._core.table import Table
from sklearn_predtron._labels import encode, find_classes, one_dimensional
from sklearn_predtron._parts import as_numbers
from sklearn_predtron.losses import TableLoss, ZeroOne, table_loss
from sklearn_predtron.representations import TableRepresentation, table_representation

__all__ = ["PredtronBinaryClassifier", "PredtronClassifier"]


class BaseTableClassifier(ClassifierMixin, BasePredtron):
    """Classification over an explicit table of predictions."""

    classes_: NDArray
    _parameter_constraints: dict[str, list] = {
        **BasePredtron._parameter_constraints,
        "loss": [str, "array-like", dict, TableLoss],
        "representation": [str, "array-like", TableRepresentation],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "reject_cost": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "reject_label": "no_validation",  # type: ignore[dict-item]
        "reject_rule": [StrOptions({"online", "margin", "code"})],
    }

    def __init__(
        self,
        *,
        loss: Any = "zero_one",
        representation: Any = "onehot",
        norm: Any = "l2",
        update: Any = "adaptive",
        average: Any = "linear",
        fit_intercept: bool = True,
        intercept_scaling: Any = "auto",
        max_iter: int | None = None,
        tol: float | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
        class_weight: Any = None,
        reject_cost: Any = None,
        reject_label: Any = None,
        reject_rule: str = "online",
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
        self.reject_cost = reject_cost
        self.reject_label = reject_label
        self.reject_rule = reject_rule

    # ------------------------------------------------------------------------------------------------------------- labels

    def _read_labels(self, y: Any, classes: Any, *, fresh: bool, partial: bool) -> Labels:
        y = one_dimensional(y)
        if not fresh:
            if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                given = np.unique(classes).tolist()
                raise ValueError(f"classes={given} is not the same as on the first call: {self.classes_.tolist()}.")
            return Codes(encode(y, self.classes_))
        if partial:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            found = find_classes(column_or_1d(classes))[0]
            codes = encode(y, found)
        else:
            found, codes = find_classes(y)
        self._check_classes(found)
        self.classes_ = found
        return Codes(codes)

    def _check_classes(self, classes: NDArray) -> None:
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class.")

    def _label_weight(self, labels: Any, weight: NDArray | None, *, partial: bool) -> NDArray | None:
        if self.class_weight is None:
            return None
        codes = labels.numbers
        if self.class_weight != "balanced":
            return self._class_weights()[codes]
        if partial:
            raise ValueError(
                "class_weight 'balanced' is not supported for partial_fit, which sees a part of the data; pass a dict."
            )
        counts = np.bincount(codes, weights=weight, minlength=len(self.classes_))
        return (counts.sum() / (len(counts) * np.where(counts > 0, counts, 1.0)))[codes]

    def _class_weights(self) -> NDArray:
        """The weight of each class, where they are given as a dict."""
        unknown = [label for label in self.class_weight if label not in self.classes_]
        if unknown:
            raise ValueError(f"class_weight names {unknown}, not in classes_: {self.classes_.tolist()}.")
        given = [self.class_weight.get(label, 1.0) for label in self.classes_.tolist()]
        weights = as_numbers(given, "class_weight", "a dict of finite weights that are not negative")
        if not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise ValueError(f"class_weight={self.class_weight} must hold finite weights that are not negative.")
        return weights

    def _open_stream(self) -> Stream | None:
        if hasattr(self, "feature_names_in_") or self.class_weight == "balanced":
            return None
        codes = {label: code for code, label in enumerate(self.classes_.tolist())}
        return Stream(self._learner, codes, None if self.class_weight is None else self._class_weights())

    # ------------------------------------------------------------------------------------------------------------ problem

    def _build_problem(self) -> Table:
        k = len(self.classes_)
        cost = table_loss(self.loss).matrix(self.classes_)
        representation = table_representation(self.representation)
        if self.reject_cost is None:
            return representation.build(k, cost)
        costs = self._costs()
        return Table(reject_code(k), costs) if self.reject_rule == "code" else representation.build(k, cost)

    def _costs(self) -> NDArray:
        """L(sigma, y), a row for each true class and a column for each prediction, as the parameters have it now."""
        cost = table_loss(self.loss).matrix(self.classes_)
        cost = 1.0 - np.eye(len(self.classes_)) if cost is None else cost
        return cost if self.reject_cost is None else np.column_stack([cost, self._reject_costs(cost.max())])

    def _counts_mistakes(self) -> bool:
        """Whether the loss is 0-1 and nothing is rejected: with many classes a table of costs is worth avoiding."""
        return self.reject_cost is None and isinstance(table_loss(self.loss), ZeroOne)

    def _build_observer(self, problem: Table, observer: Observer | None) -> Observer | None:
        if self.reject_cost is None or self.reject_rule != "online":
            return None
        if observer is None:
            return Margins(problem, len(self.classes_))
        observer.problem = problem
        return observer

    def _reject_costs(self, largest: float) -> NDArray:
        """beta of each class, checked."""
        k = len(self.classes_)
        beta = as_numbers(self.reject_cost, "reject_cost", f"a number, or one for each of the {k} classes")
        most = largest if self.reject_rule == "code" else largest / 2
        if beta.shape not in ((), (k,)) or not ((beta > 0) & (beta <= most)).all():
            raise ValueError(
                f"reject_cost={self.reject_cost!r} must be a number, or one for each of the {k} classes, above 0 and at most "
                f"{most:g} (reject_rule={self.reject_rule!r})."
            )
        label = self.reject_label
        if label is None or label in self.classes_.tolist() or np.asarray(label).dtype.kind not in kinds_like(self.classes_):
            raise ValueError(
                f"reject_label={label!r} must be a label of the type of the classes {self.classes_.tolist()} and not one of them."
            )
        return np.broadcast_to(beta, (k,))

    # --------------------------------------------------------------------------------------------------------- prediction

    def decision_function(self, X: Any) -> NDArray:
        """Decoded scores <rep(sigma), t> of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            For two classes the score of the second: t or -t where d = 1, else the difference of the two.
        """
        scores = self._scores(X)
        decision = self._learner.problem.decision(scores)[:, : len(self.classes_)]
        if len(self.classes_) > 2:
            return decision
        difference = decision[:, 1] - decision[:, 0]
        return difference / 2 if scores.shape[1] == 1 else difference

    def predict(self, X: Any) -> NDArray:
        """Predict the class, or `reject_label`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels of `classes_`, and `reject_label` where the classifier may reject and does.
        """
        predicted = self._predict_codes(X)
        if self.reject_cost is None:
            return self.classes_[predicted]
        return np.append(self.classes_, self.reject_label)[predicted]

    def _predict_codes(self, X: Any) -> NDArray:
        """Numbers of the predictions, of shape (n_samples,); one past the last class rejects."""
        scores = self._scores(X)
        decision = self._learner.problem.decision(scores)
        if self.reject_cost is not None and self.reject_rule == "code":
            return decision.argmax(axis=1)
        k = len(self.classes_)
        decision = decision[:, :k]
        predicted = decision.argmax(axis=1)
        if self.reject_cost is not None:
            best, margin = top_two(decision)
            predicted[margin < self._least_margin(best)] = k
        return predicted

    def _least_margin(self, best: NDArray) -> NDArray | float:
        """The margin that a row must have so as not to be rejected, given its two best predictions."""
        costs = self._costs()
        beta = costs[:, -1]
        if self.reject_rule == "margin":
            return costs[best[:, 1], best[:, 0]] - 2 * beta[best[:, 0]]
        if self._learner.observer is None:
            raise ValueError(
                "reject_rule='online' chooses its threshold while it learns; call fit or partial_fit after setting it."
            )
        return self._learner.observer.threshold(beta)

    def sample_loss(self, X: Any, y: Any) -> NDArray:
        """The estimator's own loss L(sigma, y) of each prediction.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels, of `classes_`.

        Returns
        -------
        loss : ndarray of shape (n_samples,)
            Costs of `loss`; a rejected row costs the `reject_cost` of its true class.
        """
        predicted = self._predict_codes(X)
        codes = encode(column_or_1d(y), self.classes_)
        if len(codes) != len(predicted):
            raise ValueError(f"X has {len(predicted)} rows and y has {len(codes)}; both must have the same number.")
        if self._counts_mistakes():
            return (predicted != codes).astype(np.float64)
        return self._costs()[codes, predicted]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy; with a cost matrix or a reject cost 1 - mean loss / largest loss.

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
        if self._counts_mistakes():
            return super().score(X, y, sample_weight)
        loss = self.sample_loss(X, y)
        return float(1 - np.average(loss, weights=sample_weight) / self._costs().max())

    def margin(self, X: Any, y: Any) -> float:
        """The margin of the weights, at unit norm, on a data set.

        The least, over the rows, of <rep(sigma_y), t> less the best score of a prediction that loses (paper 000, section
        2.2).  Positive only if every row is predicted without loss.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels, of `classes_`.

        Returns
        -------
        margin : float
            The margin gamma, for `loss_bound`; nan where the weights are zero.
        """
        scores = self._scores(X)
        margins = self._learner.problem.margins(scores, encode(column_or_1d(y), self.classes_))
        length = self._weights_length()
        return float(margins.min() / length) if length > 0 else float("nan")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags


def reject_code(k: int) -> NDArray:
    """The paper's code with a reject option: e_1, ..., e_k, and (e_1 + ... + e_k) / sqrt(k) (paper 000, section 3)."""
    return np.vstack([np.eye(k), np.full(k, k**-0.5)])


def kinds_like(classes: NDArray) -> str:
    """Kinds of array in which a label of the type of the classes comes."""
    return {"i": "iu", "u": "iu", "f": "iuf", "b": "b"}.get(classes.dtype.kind, "OUST")


def top_two(decision: NDArray) -> tuple[NDArray, NDArray]:
    """The two best predictions of each row, best first, and the difference of their scores."""
    rows = np.arange(len(decision))
    first = decision.argmax(axis=1)
    rest = decision.copy()
    rest[rows, first] = -np.inf
    second = rest.argmax(axis=1)
    return np.column_stack([first, second]), decision[rows, first] - decision[rows, second]


class PredtronClassifier(BaseTableClassifier):
    """Multiclass classifier.

    Parameters
    ----------
    loss : "zero_one", array-like of shape (k, k), dict or TableLoss, default="zero_one"
        L(sigma, y).  A cost matrix is in the order of `classes_`, rows = true, columns = predicted; a dict is
        {(true, predicted): cost}, with cost 1 for the pairs left out.
    representation : "onehot", "simplex", array-like of shape (k, d) or TableRepresentation, default="onehot"
        rep(sigma), one unit vector a class.
    norm : "l2" or Norm, default="l2"
        The norm under which margins are measured.
    update : "adaptive", "predtron", "loss_driven", "perceptron", "passive_aggressive", "subgradient" or Update, \
            default="adaptive"
        When to change the weights, towards which competitor, and how far.
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
    tol : float, default=None
        `fit` stops when an epoch's mean progressive loss falls by less; None is never.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows in each epoch.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffles.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights of the previous call.
    class_weight : dict, "balanced" or None, default=None
        Weights of the rows by class; "balanced" (in `fit` only) gives all classes the same total weight.
    reject_cost : float or array-like of shape (k,), default=None
        Cost beta of a rejected row, in (0, 1/2] times the largest loss, also by class; None is never to reject.
    reject_label : label, default=None
        What a rejected row is predicted as: a label of the type of the classes, not one of them.
    reject_rule : {"online", "margin", "code"}, default="online"
        "online" and "margin" reject where the margin, the difference of the two best decoded scores, is below a threshold,
        and coverage falls with beta.  "online": the threshold that would have cost least on the margins predicted so far,
        each before its row was learned (in the first epoch of `fit`), from a histogram in constant memory.  "margin":
        1 - 2 beta with the beta of the class predicted (with costs, the loss at stake - 2 beta).  "code" is the paper's code
        (e_1 + ... + e_k) / sqrt(k) for the rejection, with its loss bound; it does not reject in practice, for the
        coordinates of every update sum to 0 or less.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels.
    coef_ : ndarray of shape (d, n_features)
        Weights that predict; d = k for "onehot".
    intercept_ : ndarray of shape (d,)
        Offsets of the scores.
    last_coef_ : ndarray of shape (d, n_features)
        Weights of the last iterate.
    last_intercept_ : ndarray of shape (d,)
        Offsets of the last iterate.
    t_ : int
        Rounds so far.
    n_mistakes_ : int
        Rounds in which a maximiser of the score lost.
    n_updates_ : int
        Rounds that took a step.
    cumulative_loss_ : float
        Loss suffered online by the last iterate, before each update; with a reject option, that of its best class.
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
    PredtronBinaryClassifier : Two classes with one row of weights.
    sklearn.linear_model.Perceptron : One-vs-rest, last iterate.

    Notes
    -----
    Algorithm 1 of paper 000 and its variants.  Probabilities: `sklearn.calibration.CalibratedClassifierCV`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_predtron import PredtronClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PredtronClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """


class PredtronBinaryClassifier(BaseTableClassifier):
    """Binary classifier, with asymmetric costs and a reject option.

    Parameters
    ----------
    loss : "zero_one", array-like of shape (2, 2), dict or TableLoss, default="zero_one"
        L(sigma, y).  A cost matrix is in the order of `classes_`, rows = true, columns = predicted; a dict is
        {(true, predicted): cost}, with cost 1 for the pairs left out.
    representation : "sign", "onehot", array-like of shape (2, d) or TableRepresentation, default="sign"
        rep(sigma): -1 and +1 with one row of weights, or any two unit vectors.
    norm : "l2" or Norm, default="l2"
        The norm under which margins are measured.
    update : "adaptive", "predtron", "loss_driven", "perceptron", "passive_aggressive", "subgradient" or Update, \
            default="adaptive"
        When to change the weights and how far.
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
    tol : float, default=None
        `fit` stops when an epoch's mean progressive loss falls by less; None is never.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows in each epoch.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffles.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights of the previous call.
    class_weight : dict, "balanced" or None, default=None
        Weights of the rows by class; "balanced" (in `fit` only) gives both classes the same total weight.
    reject_cost : float or array-like of shape (2,), default=None
        Cost beta of a rejected row, in (0, 1/2] times the largest loss, also by class; None is never to reject.
    reject_label : label, default=None
        What a rejected row is predicted as: a label of the type of the classes, not one of them.
    reject_rule : {"online", "margin", "code"}, default="online"
        "online" and "margin" reject where the margin, the difference of the decoded scores of the classes, is below a
        threshold, and coverage falls with beta.  "online": the threshold that would have cost least on the margins
        predicted so far, each before its row was learned (in the first epoch of `fit`), from a histogram in constant memory.
        "margin": 1 - 2 beta with the beta of the class predicted (with costs, the loss at stake - 2 beta).  "code" is the
        paper's code (e_1 + e_2) / sqrt(2) for the rejection, with its loss bound; it does not reject in practice, for the
        coordinates of every update sum to 0 or less.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the first is represented by -1, the second by +1.
    coef_ : ndarray of shape (1, n_features)
        Weights that predict.
    intercept_ : ndarray of shape (1,)
        Offset of the score.
    last_coef_ : ndarray of shape (1, n_features)
        Weights of the last iterate.
    last_intercept_ : ndarray of shape (1,)
        Offset of the last iterate.
    t_ : int
        Rounds so far.
    n_mistakes_ : int
        Rounds in which a maximiser of the score lost.
    n_updates_ : int
        Rounds that took a step.
    cumulative_loss_ : float
        Loss suffered online by the last iterate, before each update; with a reject option, that of its best class.
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
    PredtronClassifier : Any number of classes.

    Notes
    -----
    Algorithm 1 of paper 000 and its variants; asymmetric costs are its Corollary 2.  Probabilities:
    `sklearn.calibration.CalibratedClassifierCV`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> triage = PredtronBinaryClassifier(reject_cost=0.1, reject_label=-1, random_state=0)
    >>> np.unique(triage.fit(scale(X), y).predict(scale(X)))
    array([-1,  0,  1])
    """

    def __init__(
        self,
        *,
        loss: Any = "zero_one",
        representation: Any = "sign",
        norm: Any = "l2",
        update: Any = "adaptive",
        average: Any = "linear",
        fit_intercept: bool = True,
        intercept_scaling: Any = "auto",
        max_iter: int | None = None,
        tol: float | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
        class_weight: Any = None,
        reject_cost: Any = None,
        reject_label: Any = None,
        reject_rule: str = "online",
    ):
        super().__init__(
            loss=loss,
            representation=representation,
            norm=norm,
            update=update,
            average=average,
            fit_intercept=fit_intercept,
            intercept_scaling=intercept_scaling,
            max_iter=max_iter,
            tol=tol,
            shuffle=shuffle,
            random_state=random_state,
            warm_start=warm_start,
            class_weight=class_weight,
            reject_cost=reject_cost,
            reject_label=reject_label,
            reject_rule=reject_rule,
        )

    def _check_classes(self, classes: NDArray) -> None:
        super()._check_classes(classes)
        if len(classes) > 2:
            raise ValueError("Only binary classification is supported. The type of the target is multiclass.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
