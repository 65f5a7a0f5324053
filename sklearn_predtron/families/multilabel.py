"""Multilabel classification: a set of labels for each row."""

from __future__ import annotations

import copy
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.multioutput import MultiOutputClassifier

from sklearn_predtron._compat import LinearClassifierMixin
from sklearn_predtron._core.score_histogram import LabelScores
from sklearn_predtron._names import refuse_class
from sklearn_predtron._parts import checked_build, real_numbers, resolve
from sklearn_predtron._queries import shortened
from sklearn_predtron.families._base import BasePredtron
from sklearn_predtron.families._docstrings import documented
from sklearn_predtron.families._fitted import AfterFit, learned, read_only
from sklearn_predtron.families._label_sets import SetReader, as_array, flat
from sklearn_predtron.families._labels import class_list, column_names, find_classes
from sklearn_predtron.families._linear_models import Linear, of_label_sets
from sklearn_predtron.families._patience import Patience
from sklearn_predtron.families._sparse_coef import SparseCoef
from sklearn_predtron.families._thresholds import Measure, Thresholded, number_or_measure
from sklearn_predtron.families._validation import MissingClasses, check_lengths, mean_loss
from sklearn_predtron.losses import AtK, FBeta, Hamming, SubsetLoss, subset_loss
from sklearn_predtron.problems._base import Labels
from sklearn_predtron.problems._label_sets import LabelSets
from sklearn_predtron.representations import SubsetRepresentation

__all__ = ["PredtronMultilabelClassifier"]

MEASURES = {"macro_f1": Measure("macro_f1", FBeta().of_counts), "micro_f1": Measure("micro_f1", FBeta().of_counts, pooled=True)}


@documented({"_n_labels": 3}, d="m")
class PredtronMultilabelClassifier(ClassifierMixin, Thresholded, SparseCoef):
    """Multilabel classifier: learns all labels in one pass, for the measure that counts.

    Parameters
    ----------
    loss : {losses}, callable or SubsetLoss, default="hamming"
        L(sigma, y) of sets of labels.  A callable takes true positives, false positives, false negatives and true negatives
        of a row; `FBeta(beta=2.0)`, `PrecisionAtK(k=3)` and the others carry their parameters.
    representation : {representations} or SubsetRepresentation, default="sign_vector"
        rep(sigma): signs / sqrt(m).
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
    threshold : None, "macro_f1", "micro_f1", float or array-like of shape (m,), default=None
        Where the scores are cut: None at 0, numbers there; "macro_f1" each label's where its own F1 over all rows would have
        been largest, for rare labels that count as much as others; "micro_f1" all labels' at one place, by the F1 of all
        labels of all rows.  Rows are predicted without having been learned.

    Attributes
    ----------
    classes_ : ndarray of shape (m,)
        0, ..., m - 1; the two labels where y has one dimension.
    {label_names_}
    coef_ : ndarray of shape (m, n_features)
        Weights that predict.
    intercept_ : ndarray of shape (m,)
        Offsets of the scores, less `threshold_`.
    threshold_ : ndarray of shape (m,)
        The cuts of the scores as they were learned; 0 is that of `decision_function`.
    {norm_}
    {last_coef_}
    {last_intercept_}
    {dual_coef_}
    {t_}
    n_mistakes_ : int
        Rounds in which a maximiser of the score lost more than some set would have.
    {n_updates_}
    {cumulative_loss_}
    {loss_curve_}
    {n_iter_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    sklearn.multioutput.MultiOutputClassifier : A classifier for each label.

    Notes
    -----
    Jain et al. (2015), section 3 and supplement, C.2, with exact loss-augmented inference in a sort and one pass (all losses by
    name) or by search over the counts of mistakes (any callable).  Where labels tie at a score of 0 they are not predicted.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn_predtron import PredtronMultilabelClassifier
    >>> X, y = make_multilabel_classification(n_samples=300, random_state=0)
    >>> model = PredtronMultilabelClassifier(loss="f1", random_state=0).fit(X, y)
    >>> model.predict(X[:2])
    array([[0, 0, 0, 1, 1],
           [0, 0, 1, 0, 0]])
    >>> bool(1 - model.sample_loss(X, y).mean() > 0.7)  # mean F1 of the rows
    True
    """

    classes_: Any = AfterFit()
    _label_kind = "ndarray"  # of what is predicted
    _single = False  # whether y is one label
    _linear_models = "linear classifiers of sets (OneVsRestClassifier, MultiOutputClassifier, RidgeClassifier), or of one label"
    _parameter_constraints: dict[str, list] = {
        **BasePredtron._parameter_constraints,
        "loss": [str, callable, SubsetLoss],
        "representation": [str, SubsetRepresentation],
        "threshold": [str, "array-like", Real, None],
    }

    def __init__(
        self,
        *,
        loss: Any = "hamming",
        representation: Any = "sign_vector",
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
        self.threshold = threshold

    # ------------------------------------------------------------------------------------------------------------- labels

    def _read_labels(self, y: Any, classes: Any, *, fresh: bool, partial: bool) -> Labels:
        names = column_names(y)
        y = y.tocsr() if sparse.issparse(y) else as_array(y)
        self._check_shape(y, fresh=fresh)
        single = y.shape[-1] == 1 or y.ndim == 1
        if classes is not None and single:
            classes = values_of_one(classes)
        elif classes is not None:
            check_label_numbers(classes, y.shape[1])
        if fresh:
            self._start(y, names, classes, single=single, partial=partial)
        elif names is not None and not np.array_equal(names, getattr(self, "label_names_", names)):
            raise ValueError(f"y has the columns {names.tolist()}, and learning began with {self.label_names_.tolist()}.")
        elif single and classes is not None and set(classes.tolist()) != set(self.classes_.tolist()):
            raise ValueError(f"classes={classes.tolist()} is not the same as on the first call: {self.classes_.tolist()}.")
        return self._build_reader().labels(y)

    def _check_shape(self, y: Any, *, fresh: bool) -> None:
        if y.ndim not in (1, 2) or (y.ndim == 2 and y.shape[1] == 0):
            raise ValueError(f"y must have shape (n_samples, n_labels), or (n_samples,) for one label; got shape {y.shape}.")
        if not fresh and (1 if y.ndim == 1 else y.shape[1]) != self._n_labels:
            hint = "; a single row has shape (1, n_labels)" if y.ndim == 1 else ""
            raise ValueError(f"y has shape {y.shape}, and learning began with {self._n_labels} label(s){hint}.")

    def _start(self, y: Any, names: NDArray | None, classes: Any, *, single: bool, partial: bool) -> None:
        """Set what is known of the labels from the first rows on."""
        self.__dict__.pop("label_names_", None)
        if not single:
            self._n_labels, self._single = y.shape[1], False
            self.classes_ = np.arange(y.shape[1])
            if names is not None:
                self.label_names_ = names
        else:
            if partial and classes is None:
                raise MissingClasses(" where y is one label")
            found = find_classes(classes if partial else flat(y, warn=False), targets=not partial)[0]
            if len(found) != 2:
                what, where = "multiclass" if len(found) > 2 else "a single class", "classes" if partial else "y"
                raise ValueError(
                    "Only binary classification is supported. The type of the target is "
                    f"{what}: one label must have two values, and {where} holds {len(found)} class(es); several labels make an "
                    "indicator matrix (sklearn.preprocessing.MultiLabelBinarizer)."
                )
            self._n_labels, self._single = 1, True
            self.classes_ = found
        several = sparse.issparse(y) and not single
        self._label_kind = ("csr_array" if isinstance(y, sparse.sparray) else "csr_matrix") if several else "ndarray"
        self._label_dtype = "int64" if y.dtype.kind not in "iufb" else y.dtype.str

    def _add_classes(self, classes: Any) -> list[int]:
        """Take over new labels behind those known."""
        known, names = self._n_labels, getattr(self, "label_names_", None)
        given = list(classes) if np.iterable(classes) and not isinstance(classes, str) else []
        begin = list(range(known)) if names is None else names.tolist()
        rest = given[known:]
        follows = all(isinstance(name, str) for name in rest) if names is not None else rest == list(range(known, len(given)))
        if self._single or given[:known] != begin or not follows or len(set(given)) < len(given):
            accepted = f"numbers 0, 1, ... of all labels to come, at least {known}"
            if names is not None:
                accepted = f"different names of all labels to come, which begin with those known, {shortened(begin)}"
            if self._single:
                accepted = f"one label's, {self.classes_.tolist()}: a stream of several labels begins with an indicator matrix"
            raise ValueError(f"classes={shortened(classes)} must be {accepted}.")
        self._n_labels, self.classes_ = len(given), np.arange(len(given))
        if names is not None:
            self.label_names_ = np.array(given, dtype=object)
        if getattr(self, "_cut", None) is not None:
            name, rounds, cuts = self._cut
            pooled = getattr(self._threshold_measure(), "pooled", False)
            self._cut = name, rounds, cuts + [cuts[-1] if pooled else 0.0] * len(rest)  # as of labels of which no row was seen
        return begin if names is None else list(range(known))

    def _read_linear(self, model: Any) -> Linear:
        if isinstance(model, MultiOutputClassifier) and not all(np.array_equal(values, [0, 1]) for values in model.classes_):
            raise self._refused(model)
        if isinstance(model, MultiOutputClassifier) or getattr(model, "multilabel_", False) or of_label_sets(model):
            scores = self._stacked(model, LinearClassifierMixin)
            self._start(sets_of(model, len(scores.coef)), None, None, single=False, partial=True)
        else:
            scores = self._of_classes(model)
            self._start(model.classes_, None, model.classes_, single=True, partial=True)
        return scores

    def _build_reader(self) -> SetReader:
        return SetReader(self._n_labels, self.classes_ if self._single else None)

    def _build_problem(self) -> LabelSets:
        representation, m = resolve(SubsetRepresentation, self.representation, "representation"), self._n_labels
        loss = copy.copy(subset_loss(self.loss, lambda part: part.build(representation, m)))
        problem = checked_build(loss, loss.build(representation, m), LabelSets, d=m)
        self._learned_loss = loss
        return problem

    # ---------------------------------------------------------------------------------------------------------- threshold

    def _threshold_measure(self) -> Measure | None:
        threshold = self.threshold
        refuse_class("threshold", threshold)
        measure = None
        if isinstance(threshold, str) or np.ndim(threshold) == 0:
            accepted = "None, 'macro_f1', 'micro_f1', a finite number and one for each label"
            measure = number_or_measure(threshold, MEASURES, accepted)
        if threshold is not None and isinstance(subset_loss(self.loss), AtK):
            raise ValueError(f"threshold={threshold!r} does not go with loss={self.loss}, whose k says how many scores are cut.")
        return measure

    def _given_cut(self) -> NDArray:
        cuts = real_numbers(self.threshold)
        if cuts is None or not np.isfinite(cuts).all() or cuts.shape not in ((), (self._n_labels,)):
            raise ValueError(
                f"threshold={shortened(self.threshold)} must be a finite number, or one for each of the {self._n_labels} labels."
            )
        return np.broadcast_to(cuts, self._n_labels)

    def _new_histogram(self, problem: Any) -> LabelScores:
        return LabelScores(problem)

    def _build_observer(self, problem: Any, observer: Any) -> Any:
        if self.threshold is not None and self._threshold_measure() is None:
            self._given_cut()
        return super()._build_observer(problem, observer)

    def _positive(self, labels: Any) -> NDArray:
        return labels.dense() == 1

    def _strata(self, labels: Any) -> NDArray:
        """Return the rarest label of each row."""
        positive = self._positive(labels)
        return np.where(positive, positive.sum(axis=0), len(positive) + 1).argmin(axis=1)

    @learned
    def threshold_(self) -> NDArray:
        """The cuts of the scores, of shape (m,), as they were learned."""
        now = self._as_of_now()
        cuts = now._cuts(now._learner)
        return np.zeros(now._n_labels) if cuts is None else read_only(np.array(cuts))

    # --------------------------------------------------------------------------------------------------------- prediction

    def decision_function(self, X: Any) -> NDArray:
        """Compute the scores of the labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, m), or (n_samples,) where y had one dimension
            A label is predicted where its score is positive (with "precision_at_k" and "recall_at_k", where it is among the
            k largest; by the rule "at_least" there too, and by "at_most" where both are so).
        """
        scores = self._as_of_now()._scores(X)
        return scores[:, 0] if self._single else scores

    def predict(self, X: Any) -> Any:
        """Predict the set of labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        {ndarray, CSR matrix} of shape (n_samples, m), or ndarray of shape (n_samples,) where y had one dimension
            Zeros and ones, of the type that y had, and sparse where y was sparse when learning began (a CSR array of a sparse
            array, a CSR matrix of a sparse matrix); labels of `classes_` where y had one dimension.
        """
        now = self._as_of_now()
        if now._single:
            return now.classes_[now._decoded(X)[:, 0]]
        if now._label_kind == "ndarray":
            return now._decoded(X).astype(now._label_dtype)
        return getattr(sparse, now._label_kind)(now._decoded(X, sparse.csr_array).astype(now._label_dtype))

    def sample_loss(self, X: Any, y: Any) -> NDArray:
        """Compute the estimator's own loss L(sigma, y) of each prediction.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : {array-like, sparse matrix} of shape (n_samples, m)
            True labels.

        Returns
        -------
        ndarray of shape (n_samples,)
            Values of the loss that was learned for.
        """
        now = self._as_of_now()
        counts = now._counts_of(X, y)
        return now._learned_loss.evaluate(*counts)

    def _raw_predict(self, X: Any) -> NDArray:
        return self._decoded(X)

    def _loss_of(self, predicted: NDArray, y: Any) -> NDArray:
        return self._learned_loss.evaluate(*self._counts(predicted, self._dense_indicators(y)))

    def _counts_of(self, X: Any, y: Any) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Return the counts of each row's prediction, of sparse labels without a dense matrix."""
        if self._single or not sparse.issparse(y):
            return self._counts(self._decoded(X), self._dense_indicators(y))
        predicted = self._decoded(X, sparse.csr_array)
        self._read_labels(y, None, fresh=False, partial=True)
        return self._counts(predicted, sparse.csr_array(y))

    def _counts(self, indicators: Any, y: Any) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """True positives, false positives, false negatives and true negatives of each row."""
        check_lengths(indicators.shape[0], y.shape[0])
        predicted, true = indicators.astype(bool), y.astype(bool)
        a, n_predicted, n_true = (rows.sum(axis=1) for rows in (predicted * true, predicted, true))
        return a, n_predicted - a, n_true - a, self._n_labels - n_predicted - n_true + a

    def _dense_indicators(self, y: Any) -> NDArray:
        return self._read_labels(y, None, fresh=False, partial=True).dense()

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute 1 - Hamming loss, the share of labels that are predicted rightly, whatever `loss` is.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : {array-like, sparse matrix} of shape (n_samples, m)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the mean.

        Returns
        -------
        float
            At most 1, which is perfect.
        """
        return 1 - mean_loss(Hamming().of_counts(*self._counts_of(X, y)), sample_weight)

    def margin(self, X: Any, y: Any) -> float:
        """Measure the margin of the weights, at unit norm, on a data set.

        The least, over the rows, of <rep(sigma_y), t> less the best score of a set that loses (Jain et al. 2015, section 2.2), or
        of any that is ahead of sigma_y.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : {array-like, sparse matrix} of shape (n_samples, m)
            True labels.

        Returns
        -------
        float
            The margin gamma, for `loss_bound`; nan where the weights are zero, infinite where no set loses.

        Examples
        --------
        >>> from sklearn_predtron import PredtronMultilabelClassifier
        >>> X = [[2.0, 1.0], [1.0, 2.0], [-1.0, -1.0], [-2.0, 0.0]]
        >>> Y = [[1, 1], [1, 1], [0, 0], [0, 1]]
        >>> model = PredtronMultilabelClassifier(intercept_scaling=1.0, random_state=0).fit(X, Y)
        >>> round(model.margin(X, Y), 2)
        0.73
        """
        return float(self._margins(X, y).min())

    def _margins(self, X: Any, y: Any) -> NDArray:
        scores = self._scores(X, shifted=False)
        labels = self._read_labels(y, None, fresh=False, partial=True)
        check_lengths(len(scores), labels.n)
        return self._at_unit_norm(self._learner.problem.margins(scores, labels))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags


def sets_of(model: Any, m: int) -> Any:
    """Return an empty set of m labels, in the form in which a linear model predicts sets."""
    if isinstance(model, MultiOutputClassifier):
        return np.zeros((1, m), dtype=np.result_type(*model.classes_))
    binarizer = getattr(model, "label_binarizer_", getattr(model, "_label_binarizer", None))
    empty = np.zeros((1, m), dtype=int)
    return sparse.csr_matrix(empty) if getattr(binarizer, "sparse_input_", False) else empty


def check_label_numbers(classes: Any, m: int) -> None:
    """Refuse `classes` of an indicator matrix that say anything but what is known: m labels, off or on."""
    given = [np.asarray(each, dtype=object).tolist() for each in classes] if np.iterable(classes) else []
    numbers = given == list(range(m))
    values = are_values(given) and len(set(given)) == 2
    if not (numbers or values or (len(given) == m and all(map(are_values, given)))):
        raise ValueError(
            f"classes={shortened(classes)} must be None, the numbers of the {m} labels, 0 to {m - 1}, their values, [0, 1], or a "
            "list of the values of each."
        )


def are_values(given: Any) -> bool:
    """Return whether it is a list of zeros and ones."""
    return isinstance(given, list) and len(given) > 0 and all(value in (0, 1) for value in given)


def values_of_one(classes: Any) -> NDArray:
    """Return the values of one label, which may be in a list of its own, as for scikit-learn's multi-output classifiers."""
    alone = isinstance(classes, (list, tuple, np.ndarray)) and len(classes) == 1 and np.iterable(classes[0])
    return class_list(classes[0] if alone and not isinstance(classes[0], str) else classes)
