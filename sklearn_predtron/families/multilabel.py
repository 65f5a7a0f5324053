"""Multilabel classification: each row has a set of labels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.multioutput import MultiOutputClassifier
from sklearn.utils.metaestimators import available_if

from sklearn_predtron._core.problem import Labels
from sklearn_predtron._support import types
from sklearn_predtron._support.compat import ClassifierMixin, linear_classifier, with_callbacks
from sklearn_predtron._support.encoding import check_lengths
from sklearn_predtron._support.names import refuse_class
from sklearn_predtron._support.parts import checked_build, resolve
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.row_costs import costs_of_labels, sets_of_least_cost
from sklearn_predtron.decisions._base import PLAIN, Argmax, Decision
from sklearn_predtron.decisions._calibration import Calibration, LabelScores
from sklearn_predtron.decisions._constraints import Constrained, capacity_of, reached_bounds
from sklearn_predtron.decisions._decision_rules import Cut, DecisionRule, ExpectedCost, Learned, decision_rule
from sklearn_predtron.decisions._expected_cost import BestOfTwo, LeastCostOfLabels, MostExpected, MostProbable
from sklearn_predtron.decisions._fixed_threshold import CutAt
from sklearn_predtron.decisions._promises import AtLeast, EncodedPromise, Promise
from sklearn_predtron.decisions._reject_at_risk import PromiseResult
from sklearn_predtron.decisions._threshold import CutBy, Measure, given_cuts, number_or_measure
from sklearn_predtron.families._docstrings import documented
from sklearn_predtron.families.estimator.attributes import learned, read_only, recorded
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.families.estimator.linear_models import Linear, LinearModelReader
from sklearn_predtron.families.input.weighted_rows import WeighedSets
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.classes import column_names
from sklearn_predtron.families.labels.sets import Sets, as_sets, check_label_numbers, is_one_label, values_of_one
from sklearn_predtron.families.training.patience import Patience
from sklearn_predtron.families.training.plan import ACCEPTED
from sklearn_predtron.features import FeatureMap
from sklearn_predtron.losses import AtK, CountLoss, FBeta, Hamming, Jaccard, SubsetLoss, subset_loss
from sklearn_predtron.losses._row_costs import check_sets_not_revealing, costs_of_sets
from sklearn_predtron.losses.subset import separable_costs
from sklearn_predtron.metrics._means import mean_loss
from sklearn_predtron.norms import Norm
from sklearn_predtron.problems._label_sets import LabelSets
from sklearn_predtron.representations import SubsetRepresentation
from sklearn_predtron.updates import Update

if TYPE_CHECKING:
    from sklearn_predtron._support.types import Self

__all__ = ["PredtronMultilabelClassifier"]

MEASURES = {"macro_f1": Measure("macro_f1", FBeta().of_counts), "micro_f1": Measure("micro_f1", FBeta().of_counts, pooled=True)}


@documented(
    losses='"hamming", "subset_zero_one", "error_set_size", "f1", "jaccard", "balanced", "g_mean", '
    '"precision_at_k", "recall_at_k"',
    d="m",
)
class PredtronMultilabelClassifier(ClassifierMixin, BasePredtron):
    """Multilabel classifier for a loss of label sets.

    It learns all labels in one pass.

    {in_order}

    Parameters
    ----------
    loss : {losses}, callable or SubsetLoss, default="hamming"
        L(sigma, y) of sets of labels.  A callable takes true positives, false positives, false negatives and true negatives
        of a row.  Losses with parameters are given as objects: `FBeta(beta=2.0)`, `PrecisionAtK(k=3)`.
    decision : "learned", "expected_cost", "macro_f1", "micro_f1", float, DecisionRule or None, default=None
        How scores become predictions.  None (default) predicts the set with the lowest expected cost if the loss is a sum of
        unequal costs, like b + 5 c.  For F1, Jaccard and losses at k it is the better of "expected_cost" (the greatest expected
        measure) and "learned" on held-out rows; otherwise it is the set with the highest score.  Use "macro_f1" or "micro_f1"
        for rare labels: thresholds with the highest F1 (see `Cut`).  Use "learned" for a loss bound or the fastest fit: the
        highest score, without held-out rows.
    {features}
    {norm}
    {update}
    representation : "sign_vector" or SubsetRepresentation, default="sign_vector"
        rep(sigma): signs / sqrt(m).
    {average}
    {cv}
    {max_iter}
    {random_state}
    {tol}
    {shuffle}
    {warm_start}
    {fit_intercept}
    {intercept_scaling}

    Attributes
    ----------
    classes_ : ndarray of shape (m,)
        0, ..., m - 1; the two labels if y has one dimension.
    {label_names_}
    coef_ : ndarray of shape (m, n_features)
        Weights that predict.
    intercept_ : ndarray of shape (m,)
        Offsets of the scores, less `threshold_`.
    threshold_ : ndarray of shape (m,)
        The fitted cuts of the scores; `decision_function` subtracts them, so that its own cut is 0.
    {features_}
    {feature_importances_}
    {norm_}
    {last_coef_}
    {last_intercept_}
    {dual_coef_}
    {t_}
    n_mistakes_ : int
        Number of rounds whose prediction, made before the update, had a higher loss than another set.
    {n_updates_}
    {cumulative_loss_}
    {loss_curve_}
    {n_iter_}
    {held_out_loss_}
    {bounds_}
    {cost_power_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    sklearn.multioutput.MultiOutputClassifier : A classifier for each label.

    Notes
    -----
    Jain et al. (2015), section 3 and supplement, C.2, with exact loss-augmented inference: by a sort and one pass (all losses by
    name) or by search over the counts of mistakes (any callable).  Labels with a score of exactly 0 are not predicted.

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

    _linear_models = "linear classifiers of sets (OneVsRestClassifier, MultiOutputClassifier, RidgeClassifier), or of one label"
    _codec = Sets
    _parameter_constraints: dict[str, list] = {
        **BasePredtron._parameter_constraints,
        "loss": [str, callable, SubsetLoss],
        "representation": [str, SubsetRepresentation],
        "decision": [str, Real, DecisionRule, None],
        "cv": ACCEPTED,
    }

    def __init__(
        self,
        *,
        loss: types.SetLossName | types.OfCounts | SubsetLoss = "hamming",
        decision: types.SetDecisionName | DecisionRule | float | None = None,
        features: types.FeaturesName | FeatureMap | None = None,
        norm: types.NormName | Norm = "auto",
        update: types.UpdateName | Update = "adaptive",
        representation: types.SetRepresentationName | SubsetRepresentation = "sign_vector",
        average: types.AverageName | float | None = None,
        cv: Any = None,
        max_iter: int | None = None,
        random_state: Any = None,
        tol: Patience | float | None = None,
        shuffle: bool = True,
        warm_start: bool = False,
        fit_intercept: bool = True,
        intercept_scaling: types.AutoName | float = "auto",
    ):
        self.loss = loss
        self.decision = decision
        self.features = features
        self.norm = norm
        self.update = update
        self.representation = representation
        self.average = average
        self.cv = cv
        self.max_iter = max_iter
        self.random_state = random_state
        self.tol = tol
        self.shuffle = shuffle
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling

    # --------------------------------------------------------------------------------------- labels, problem and decision

    @learned
    def classes_(self) -> NDArray:
        """The numbers of the labels; they are the two labels if y had one dimension."""
        return self._model.labels.classes

    @learned
    def label_names_(self) -> NDArray:
        """Names of the labels; they exist if y is a data frame with column names."""
        return self._present("label_names_", self._model.labels.names)

    def _read_labels(self, y: Any, classes: Any, known: Any, *, partial: bool) -> tuple[Codec, Labels]:
        sets = as_sets(y)
        if known is not None:
            known.check_shape(sets)
        if classes is not None and is_one_label(sets):
            classes = values_of_one(classes)
            if known is not None and set(classes.tolist()) != set(known.classes.tolist()):
                raise ValueError(f"classes={classes.tolist()} is not the same as on the first call: {known.classes.tolist()}.")
        elif classes is not None:
            check_label_numbers(classes, sets.shape[1])
        codec = known or Sets.first(sets, column_names(y), classes, partial=partial)
        return codec, codec.encode(y)

    def _reader(self) -> WeighedSets:
        return WeighedSets(type(self).__name__, self._costs_by_row)

    def _costs_by_row(self, costs: Any, labels: Any, n: int) -> NDArray:
        """Return costs of missed and of false labels; there are n rows."""
        names = list(range(labels.n_labels)) if labels.names is None else labels.names.tolist()
        return costs_of_labels(costs, names, self._costs_otherwise(labels), n)

    def _costs_otherwise(self, labels: Any) -> NDArray:
        """Return the loss's costs of missed and false labels; they are nan if the loss is not a sum of costs of labels."""
        loss, m = subset_loss(self.loss), labels.n_labels
        own = None if isinstance(loss, AtK | FBeta | Jaccard) else separable_costs(loss, m)
        return np.full((m, 2), np.nan if own is None else own[::-1])

    def _widen_labels(self, labels: Any, classes: Any) -> tuple[Codec, list[int]]:
        return labels.extended(classes)

    def _read_linear(self, reader: LinearModelReader) -> tuple[Codec, Linear]:
        model = reader.model
        if isinstance(model, MultiOutputClassifier) and not all(np.array_equal(values, [0, 1]) for values in model.classes_):
            raise reader.refused()
        if reader.predicts_label_sets:
            scores = reader.stacked(linear_classifier())
            labels = Sets.first(reader.empty_set(len(scores.coef)), None, None, partial=True)
        else:
            scores = reader.of_classes()
            labels = Sets.first(model.classes_, None, model.classes_, partial=True)
        return labels, reader.check_intercept(scores, fit_intercept=self.fit_intercept)

    def _build_problem(self, labels: Any) -> LabelSets:
        representation, m = resolve(SubsetRepresentation, self.representation, "representation"), labels.n_labels
        loss = subset_loss(self.loss, lambda part: part.build(representation, m))
        own = checked_build(loss, loss.build(representation, m), LabelSets, d=m)
        return own if self._costs_of_labels(loss, m) is None else Hamming().build(representation, m)

    def _costs_of_labels(self, loss: SubsetLoss, m: int) -> tuple[float, float] | None:
        """Return costs of false and missed labels, or None; None unless sets of lowest expected cost are predicted."""
        rule = decision_rule(self.decision, tuple(MEASURES), numbers=True)
        if isinstance(loss, Hamming | AtK | FBeta | Jaccard) and rule is None:
            return None
        if rule is not None and not isinstance(rule, ExpectedCost):
            return None
        own = rule is None and type(loss).build not in (SubsetLoss.build, CountLoss.build)  # it has a training problem of its own
        costs = None if own else separable_costs(loss, m)
        return None if rule is None and costs is not None and costs[0] == costs[1] else costs

    def _decision(self, labels: Any, call_metadata: Any = None) -> Decision:
        rule = decision_rule(self.decision, tuple(MEASURES), numbers=True)
        measure = self._measure_of_cut(rule) if isinstance(rule, Cut) else None
        if labels is None:
            return PLAIN
        calibration = Calibration(LabelScores(), rule.smoothing) if isinstance(rule, ExpectedCost) else Calibration(LabelScores())
        if isinstance(rule, Cut):
            if measure is not None:
                return CutBy(measure, rule.at, calibration)
            return CutAt(LabelScores(), given_cuts(rule.at, labels.n_labels), calibration)
        if isinstance(rule, Learned):
            return Argmax(calibration, holds_out=False)
        loss = subset_loss(self.loss)
        costs, plug_in = self._costs_of_labels(loss, labels.n_labels), plug_in_of(loss, labels.n_labels)
        if costs is not None:
            means = (
                None
                if call_metadata is None or costs[0] != costs[1]
                else call_metadata.means(np.full((labels.n_labels, 2), costs[0]))
            )
            false, missed = costs if means is None else means.T[::-1]
            if not isinstance(rule, ExpectedCost) or not rule.subject_to:
                return LeastCostOfLabels(calibration, false, missed)
            each = LeastCostOfLabels(calibration, *(np.broadcast_to(cost, labels.n_labels) for cost in (false, missed)))
            return Constrained(each, bounds_of_labels(rule.subject_to, labels), rule.confidence)
        if isinstance(rule, ExpectedCost) and (plug_in is None or rule.subject_to):
            raise ValueError(
                f"decision={rule!r} does not go with loss={shortened(self.loss)}, which is no sum of costs of labels; accepted "
                "are None, 'learned', 'macro_f1', 'micro_f1' and Cut(...)."
            )
        if plug_in is not None:
            return BestOfTwo(calibration, plug_in, loss.evaluate)
        otherwise = None if call_metadata is None else alike_costs(loss, labels.n_labels)
        if otherwise is not None:
            missed, false = call_metadata.means(np.full((labels.n_labels, 2), otherwise)).T
            return LeastCostOfLabels(Calibration(LabelScores()), false, missed, or_decoded=True)
        agreeing = Calibration(LabelScores(), agrees=isinstance(loss, Hamming))
        return Argmax(agreeing, holds_out=True, losses_of=partial(losses_of_sets, loss))

    def _measure_of_cut(self, rule: Cut) -> Measure | None:
        """Return the measure that chooses the cut; None for given cuts; raise ValueError if it is not supported."""
        refuse_class("decision", rule.at)
        measure = None
        if isinstance(rule.at, str) or np.ndim(rule.at) == 0:
            measure = number_or_measure(rule.at, MEASURES, "'macro_f1', 'micro_f1', a finite number and one for each label")
        if isinstance(subset_loss(self.loss), AtK):
            raise ValueError(f"decision={rule!r} does not go with loss={self.loss}, whose k says how many scores are cut.")
        return measure

    @learned
    def threshold_(self) -> NDArray:
        """The fitted cuts of the scores, of shape (m,)."""
        model = self._model
        decision = model.current_cut(self._decision)
        return read_only(np.array(decision.cuts)) if isinstance(decision, CutAt) else np.zeros(model.labels.n_labels)

    @learned
    def bounds_(self) -> tuple[PromiseResult, ...]:
        """The bounds of ``decision.subject_to`` with their values on held-out rows."""
        model, decision = self._model_and_decision()
        return model.of_unseen_rows(partial(reached_bounds, decision))

    # ----------------------------------------------------------------------------------------------------------- learning

    __metadata_request__fit = {"costs": True}
    __metadata_request__partial_fit = {"costs": True}

    @types.keeping_type(with_callbacks)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, costs: Any = None) -> Self:
        """Learn from a data set in shuffled epochs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.  The length of a row must be 0 or from 1e-140 to 1e140.
        y : {array-like, sparse matrix} of shape (n_samples, m)
            Labels, as an indicator matrix of zeros and ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Nonnegative weights, of which only ratios matter; a row with zero weight counts as absent.
        costs : array-like of shape (n_samples, m, 2), data frame or dict, default=None
            Costs of the labels in each row, in the forms of `predict`.  Rows are weighted in training by the mean cost of their
            labels, or by its square root, if that lowers the cost of the held-out rows by more than a standard error
            (`cost_power_`); without held-out rows (``cv=0``) by the square root.  `predict` without ``costs`` then decides by
            the mean costs of these rows, unless `loss` has costs of its own.

        Returns
        -------
        Self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight=sample_weight, costs=costs)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, costs: Any = None) -> Self:
        """Learn from rows in the given order, one pass.

        The result is, to the last bit, the same for any way of splitting a stream into calls.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs, of lengths as for `fit`.
        y : {array-like, sparse matrix} of shape (n_samples, m)
            Labels, as an indicator matrix of zeros and ones.
        classes : array-like of shape (m,), default=None
            The numbers of the labels, or the values 0 and 1 of each; an indicator matrix defines them.
        sample_weight : array-like of shape (n_samples,), default=None
            Nonnegative weights; a row with zero weight counts as absent.  Under the default update a row of w times the mean
            weight so far counts as about w rows (see `Adaptive`); under others w multiplies the cap of the step.
        costs : array-like of shape (n_samples, m, 2), data frame or dict, default=None
            Costs of the labels in each row, in the forms of `predict`.  Each row is weighted by the square root of the mean cost
            of its labels; a row in which no mistake costs anything is skipped.

        Returns
        -------
        Self
            The estimator.
        """
        model = self._model
        stream = model.stream if model is not None and sample_weight is None and costs is None else None
        if stream is not None and stream.take(X, y, classes):
            return self
        return self._partial_fit(X, y, classes=classes, sample_weight=sample_weight, costs=costs)

    cost_power_ = recorded("cost_power_", "The power of the cost of a row's mistakes that was its weight in `fit` with `costs`.")

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
            A label is predicted if its score is positive.  With "precision_at_k" and "recall_at_k" it is predicted if its score
            is among the k largest; the rule "at_least" needs either condition, and "at_most" needs both.
        """
        model, decision = self._model_and_decision()
        scores = model.scores(X, decision)
        return scores if model.labels.two is None else scores[:, 0]

    def predict(self, X: Any, costs: Any = None) -> Any:
        """Predict the set of labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        costs : array-like of shape (n_samples, m, 2), data frame or dict, default=None
            Costs of each label in each row, if it is missed and if it is false: an array, a data frame whose columns are pairs
            (label, "missed") and (label, "false"), or a dict from such pairs to numbers or arrays of shape (n_samples,).  Pairs
            left out have the costs of `loss`.  The prediction has the lowest expected cost under `predict_proba`.

        Returns
        -------
        {ndarray, CSR matrix} of shape (n_samples, m), or ndarray of shape (n_samples,) where y had one dimension
            Zeros and ones of the type of y, sparse if y was sparse when learning began (a CSR array for a sparse array, a CSR
            matrix for a sparse matrix); labels of `classes_` if y had one dimension.
        """
        model, decision = self._model_and_decision()
        if costs is not None:
            return model.labels.decode(model.labels.pack(self._sets_by_costs(model, X, costs)[0]))
        return model.labels.decode(model.decoded(X, decision, model.labels.pack))

    def _sets_by_costs(self, model: Any, X: Any, costs: Any) -> tuple[NDArray, NDArray]:
        """Return the sets of lowest expected cost.

        The costs are those of the rows; the labels' costs in each row are returned, too.
        """
        self._check_has_probabilities()
        probabilities = self._probabilities(model, X)
        self._capacity()
        table = self._costs_by_row(costs, model.labels, len(probabilities))
        return sets_of_least_cost(probabilities, table), table

    def _capacity(self) -> None:
        """Raise ValueError if the decision has bounds, which costs by row do not go with."""
        model, decision = self._model_and_decision()
        model.of_unseen_rows(partial(capacity_of, decision))

    @types.keeping_type(available_if(BasePredtron._check_has_probabilities))
    def predict_proba(self, X: Any) -> NDArray:
        """Compute the calibrated probability of each label.

        The calibration map is fitted to scores of unseen rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, m), or (n_samples, 2) where y had one dimension
            P(label is on); if y had one dimension, the probabilities of both `classes_`.

        Raises
        ------
        AttributeError
            If there are no scores of unseen rows, as after `fit` under ``decision="learned"``.
        """
        model = self._fitted_model()
        found = self._probabilities(model, X)
        return found if model.labels.two is None else np.hstack([1 - found, found])

    @types.keeping_type(available_if(BasePredtron._check_has_probabilities))
    def predict_log_proba(self, X: Any) -> NDArray:
        """Compute the logarithms of `predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, m), or (n_samples, 2) where y had one dimension
            log P(label is on).
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def sample_loss(self, X: Any, y: Any, costs: Any = None) -> NDArray:
        """Compute the loss L(sigma, y) of each prediction.

        It is the estimator's own loss, or the cost if `costs` are given.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : {array-like, sparse matrix} of shape (n_samples, m)
            True labels.
        costs : array-like of shape (n_samples, m, 2), data frame or dict, default=None
            Costs of the labels in each row, as for `predict`; they decide the predictions and evaluate them.

        Returns
        -------
        ndarray of shape (n_samples,)
            Values of `loss`, or sums of `costs`.
        """
        if costs is not None:
            model = self._fitted_model()
            predicted, table = self._sets_by_costs(model, X, costs)
            on = model.labels.encode(y).dense()
            check_lengths(len(predicted), len(on))
            check_sets_not_revealing(table, on)
            return costs_of_sets(predicted, on, table)
        model, counts = self._counts_of(X, y)
        return subset_loss(model.loss).evaluate(*counts)

    def _raw_predict(self, X: Any) -> NDArray:
        """Return the predicted indicators."""
        model, decision = self._model_and_decision()
        return model.decoded(X, decision)

    def _loss_of(self, predicted: NDArray, y: Any) -> NDArray:
        """Return the loss of each predicted label set."""
        model = self._fitted_model()
        return subset_loss(model.loss).evaluate(*counts(predicted, model.labels.encode(y).dense()))

    def _counts_of(self, X: Any, y: Any) -> tuple[Any, tuple[NDArray, ...]]:
        """Return the model, and each prediction's counts; sparse labels stay sparse."""
        model, decision = self._model_and_decision()
        labels = model.labels
        if labels.two is not None or not sparse.issparse(y):
            return model, counts(model.decoded(X, decision), labels.encode(y).dense())
        predicted = model.decoded(X, decision, sparse.csr_array)
        labels.encode(y)  # raises ValueError for invalid label sets
        return model, counts(predicted, sparse.csr_array(y))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute 1 - Hamming loss.

        It is the share of labels that are predicted correctly, whatever `loss` is.

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
        return 1 - mean_loss(Hamming().of_counts(*self._counts_of(X, y)[1]), sample_weight)

    def margin(self, X: Any, y: Any) -> float:
        """Measure the margin of the weights at unit norm.

        The minimum, over the rows, of <rep(sigma_y), t> minus the best score of a set with a loss (Jain et al. 2015, section
        2.2), or of any that is ahead of sigma_y.

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
        model = self._fitted_model()
        scores, labels = model.scores(X), model.labels.encode(y)
        check_lengths(len(scores), labels.n)
        return model.at_unit_norm(model.problem.margins(scores, labels))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags


def alike_costs(loss: SubsetLoss, m: int) -> float | None:
    """Return the common cost of labels, or None; it is that of a false label if a missed label costs the same."""
    if isinstance(loss, Hamming):
        return 1 / m
    own = type(loss).build not in (SubsetLoss.build, CountLoss.build)
    costs = None if own else separable_costs(loss, m)
    return costs[0] if costs is not None and costs[0] == costs[1] else None


def plug_in_of(loss: SubsetLoss, m: int) -> Any:
    """Return the rule that maximises the expected measure.

    The measure is that of a loss of sets of m labels; there may be no rule.
    """
    if isinstance(loss, FBeta):
        return MostExpected(1 + loss.beta**2, loss.beta**2, loss.beta**2)
    if isinstance(loss, Jaccard):
        return MostExpected(1.0, 0.0, 1.0)
    return MostProbable(loss.size(m)) if isinstance(loss, AtK) and loss.rule == "exactly" else None


def losses_of_sets(loss: SubsetLoss, predicted: NDArray, true: NDArray) -> NDArray:
    """Return the losses of predicted label sets."""
    return loss.evaluate(*counts(predicted, true))


def counts(indicators: Any, y: Any) -> tuple[NDArray, ...]:
    """Return the counts of each row; they are true positives, false positives, false negatives and true negatives."""
    check_lengths(indicators.shape[0], y.shape[0])
    predicted, true = indicators.astype(bool), y.astype(bool)
    a, n_predicted, n_true = (rows.sum(axis=1) for rows in (predicted * true, predicted, true))
    return a, n_predicted - a, n_true - a, y.shape[1] - n_predicted - n_true + a


def bounds_of_labels(subject_to: Sequence[Promise], labels: Any) -> list[tuple[Promise, int, EncodedPromise]]:
    """Return bounds of measures of single labels, with the number of each label; raise ValueError for others."""
    names = list(range(labels.n_labels)) if labels.names is None else labels.names.tolist()
    found = []
    for one in subject_to:
        if callable(one.measure) or one.measure in ("risk", "abstention_rate"):
            raise ValueError(
                f"decision.subject_to has {one!r}; accepted of label sets are recall, precision, false_positive_rate and "
                "predicted_rate of a label."
            )
        if one.label not in names:
            single = "  A single label is label 0, whatever the name of its column." if labels.n_labels == 1 else ""
            raise ValueError(f"decision.subject_to names {one.label!r}, which is none of the labels {shortened(names)}.{single}")
        coded = EncodedPromise(isinstance(one, AtLeast), one.measure, float(one.bound), label=1)
        found.append((one, names.index(one.label), coded))
    return found
