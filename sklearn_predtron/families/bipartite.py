"""Bipartite ranking of two classes; it is trained for a measure of a batch or a group of rows."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples

from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron._core.problem import Labels, Problem
from sklearn_predtron._core.rows import QueryRows
from sklearn_predtron._support import types
from sklearn_predtron._support.compat import ClassifierMixin, Interval, StrOptions, with_callbacks
from sklearn_predtron._support.encoding import check_lengths
from sklearn_predtron._support.parts import checked_build, resolve
from sklearn_predtron._support.queries import GROUPS, Queries, shortened, with_ids
from sklearn_predtron.decisions._base import PLAIN, Argmax, Decision, UnseenRows
from sklearn_predtron.decisions._calibration import Calibration, LabelScores, SignScores
from sklearn_predtron.decisions._decision_rules import Cut, DecisionRule, ExpectedCost, Learned, decision_rule, is_number
from sklearn_predtron.decisions._fixed_threshold import CutAt
from sklearn_predtron.decisions._threshold import best_cut, best_cut_of_groups
from sklearn_predtron.families._docstrings import documented
from sklearn_predtron.families.estimator.attributes import learned
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.families.estimator.linear_models import Linear, LinearModelReader
from sklearn_predtron.families.input.batches import BatchReader, chances_at_k, column_of, expected_losses_at_k, losses_of_batches
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.classes import TwoClasses
from sklearn_predtron.families.model.model import Model
from sklearn_predtron.families.training.patience import Patience
from sklearn_predtron.features import FeatureMap
from sklearn_predtron.losses import (
    AtK,
    AveragePrecision,
    BalancedError,
    BreakEven,
    FBeta,
    RankingLoss,
    SubsetLoss,
    SwappedPairs,
    subset_loss,
)
from sklearn_predtron.metrics._means import mean_loss
from sklearn_predtron.norms import Norm
from sklearn_predtron.problems._label_sets import IndicatorBlocks, LabelSets
from sklearn_predtron.problems._ranking import RankingProblem
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.representations import LinearRank, LogRank, SignVector
from sklearn_predtron.updates import Update

if TYPE_CHECKING:
    from sklearn_predtron._support.types import Self

__all__ = ["PredtronBipartiteClassifier"]

ROUTED = {"groups": True, "sample_weight": True}
OF_BATCHES = {"auc": SwappedPairs, "ap": AveragePrecision, "break_even": BreakEven}
# The representation of a loss of rankings, and a measure for the cut: such losses have none of their own.
OF_RANKINGS: dict[type, tuple[Any, Any]] = {SwappedPairs: (LinearRank(), BalancedError()), AveragePrecision: (LogRank(), FBeta())}


def batch_loss(value: Any) -> Any:
    """Return the loss of batches for the parameter `loss`."""
    if isinstance(value, str) and value in OF_BATCHES:
        return OF_BATCHES[value]()
    if isinstance(value, tuple(OF_RANKINGS)):
        return value
    try:
        return subset_loss(value, lambda part: part.build(SignVector(), 0))
    except ValueError as error:
        raise ValueError(f"{error}  Of batches also {', '.join(map(repr, OF_BATCHES))}.") from None


def is_at_k(value: Any) -> bool:
    """Return whether the loss is one at k; such a loss predicts some rows of each batch."""
    return isinstance(batch_loss(value), AtK)


def of_ranking(loss: RankingLoss) -> tuple[Any, Any]:
    """Return a ranking loss's representation and cut measure."""
    return next(found for kind, found in OF_RANKINGS.items() if isinstance(loss, kind))


class FittedCut(Decision):
    """Cut the scores by a number or training loss.

    A fitted cut has the lowest loss on the training rows.

    Parameters
    ----------
    loss : SubsetLoss, RankingLoss or None
        The loss that the cut minimises; None if no cut is chosen.
    calibration : Calibration, default=None
        Turns scores into probabilities.
    given : float, default=None
        The given cut.
    """

    shifts = True

    def __init__(self, loss: Any, calibration: Any = None, given: float | None = None):
        self.loss, self.calibration, self.given = loss, calibration, given
        self.on_rows = loss is not None
        self.needs_scores = calibration is not None

    def fitted(self, unseen: UnseenRows) -> Decision:
        """Return the given or fitted cut."""
        cut = unseen.values.get("fitted") if self.given is None else self.given
        return PLAIN if cut is None else CutAt(LabelScores(), np.array([cut]))

    def after_rows(self, scores: NDArray, batch: Any) -> dict[str, float]:
        """Return the cut with the lowest training loss."""
        loss = of_ranking(self.loss)[1] if isinstance(self.loss, RankingLoss) else self.loss
        column, scores = column_of(batch.labels), scores[:, 0]
        if isinstance(batch.rows, QueryRows):
            scores = scores if batch.rows.row_numbers is None else scores[batch.rows.row_numbers]
            return {"fitted": best_cut_of_groups(loss.of_counts, scores, column, batch.labels.starts, batch.weight)}
        weight = np.ones(len(column), dtype=np.int64) if batch.weight is None else batch.weight / batch.weight.max()
        return {"fitted": best_cut(loss.of_counts, scores, column * weight, (1 - column) * weight)}


@documented(
    losses='"f1", "hamming", "subset_zero_one", "error_set_size", "jaccard", "balanced", "g_mean", '
    '"precision_at_k", "recall_at_k"',
    d="1",
)
class PredtronBipartiteClassifier(ClassifierMixin, BasePredtron):
    """Binary classifier trained for a measure of batches.

    The measures are F1, the balanced error, precision at k, AUC and others.

    A round is a batch, or a group of rows (of a query, a day, a customer).  Its rows are predicted together, and its loss depends
    on the counts of right and wrong predictions.
    {in_order}

    Parameters
    ----------
    loss : {losses}, "break_even", "auc", "ap", callable, SubsetLoss, SwappedPairs or AveragePrecision, default="f1"
        L of a batch, a function of its true positives, false positives, false negatives and true negatives: `FBeta(beta=2.0)` or
        a callable of the four (if rows have weights, the cut is chosen by sums of weights).  `PrecisionAtK` and `RecallAtK`
        predict k rows of a batch, or a share of them; "break_even" predicts the share that is positive.  "auc" and "ap" are
        losses of rankings: one minus the area under the ROC curve, and one minus the average precision.
    balance : "auto" or float, default="auto"
        From 0 to 1, how much the rarer class of a batch is weighted up; with 1 both classes have the same weight.  "auto" is 1
        for "balanced" and "g_mean", 1/2 for "f1" and "jaccard", and 0 for others.  For losses at k it must be 0.
    batch_size : int, default=200
        Number of rows of a batch, if no groups are given.
    decision : "fitted", "learned", float, DecisionRule or None, default=None
        The threshold of the score.  None (default) is "learned" for "balanced" and "g_mean" with a `balance` of 1, and "fitted"
        for others.  "fitted" has the lowest loss on the training rows at the end of `fit` (0 in streams).  A number is a fixed
        threshold; losses at k have none.  Use "learned" for a loss bound or the fastest fit: the threshold 0, and no held-out
        rows, so that there is no `predict_proba` after `fit`.
    {features}
    {norm}
    {update}
    {average}
    {max_iter}
    {random_state}
    {tol}
    {shuffle}
    {warm_start}
    {intercept_scaling}

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is positive.
    coef_ : ndarray of shape (1, n_features)
        Weights that predict.
    intercept_ : ndarray of shape (1,)
        Offset of the score, less `threshold_`.
    threshold_ : float
        The fitted threshold of the score; `decision_function` subtracts it, so that its boundary is 0.
    {features_}
    {feature_importances_}
    {norm_}
    {last_coef_}
    {last_intercept_}
    {dual_coef_}
    t_ : int
        Batches so far.
    {n_mistakes_}
    {n_updates_}
    {cumulative_loss_}
    {loss_curve_}
    {n_iter_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    PredtronBinaryClassifier : Trains row by row; with ``decision="f1"`` the better choice for F1.
    PredtronRanker : Ranks the documents of queries, with any grades.

    Notes
    -----
    Joachims (2005), online: the competitor of Jain et al. (2015), equation (2), is exact, after one sort of a batch.  In
    measurements ``PredtronBinaryClassifier(decision="f1")`` is as good for F1 and many times as fast, because a score that ranks
    well only needs a cut.  Batches are useful for the balanced error, for measures of groups, and to run the theory.  If classes
    overlap, the surrogate of a batch does not depend on costs; the class weights of `balance` make it depend on them.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import balanced_accuracy_score
    >>> from sklearn_predtron import PredtronBipartiteClassifier
    >>> X, y = make_classification(n_samples=2000, weights=[0.9], random_state=0)
    >>> model = PredtronBipartiteClassifier(loss="balanced", random_state=0).fit(X, y)
    >>> balanced_accuracy_score(y, model.predict(X)) > 0.85
    True
    """

    _epochs = 30
    fit_intercept = True
    __metadata_request__fit = ROUTED
    __metadata_request__partial_fit = ROUTED
    __metadata_request__score = ROUTED
    __metadata_request__predict = {"groups": True}
    _codec = TwoClasses
    _parameter_constraints: dict[str, list] = {
        **BasePredtron._parameter_constraints,
        "loss": [str, callable, SubsetLoss, SwappedPairs, AveragePrecision],
        "balance": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "decision": [str, Real, DecisionRule, None],
    }

    def __init__(
        self,
        *,
        loss: types.BatchLossName | types.OfCounts | SubsetLoss | SwappedPairs | AveragePrecision = "f1",
        balance: types.AutoName | float = "auto",
        batch_size: int = 200,
        decision: types.BatchDecisionName | DecisionRule | float | None = None,
        features: types.FeaturesName | FeatureMap | None = None,
        norm: types.NormName | Norm = "auto",
        update: types.UpdateName | Update = "adaptive",
        average: types.AverageName | float | None = None,
        max_iter: int | None = None,
        random_state: Any = None,
        tol: Patience | float | None = None,
        shuffle: bool = True,
        warm_start: bool = False,
        intercept_scaling: types.AutoName | float = "auto",
    ):
        self.loss = loss
        self.balance = balance
        self.batch_size = batch_size
        self.decision = decision
        self.features = features
        self.norm = norm
        self.update = update
        self.average = average
        self.max_iter = max_iter
        self.random_state = random_state
        self.tol = tol
        self.shuffle = shuffle
        self.warm_start = warm_start
        self.intercept_scaling = intercept_scaling

    @learned
    def classes_(self) -> NDArray:
        """The two labels, the second of which is positive."""
        return self._model.labels.classes

    # --------------------------------------------------------------------------------------------------------- learning

    @types.keeping_type(with_ids(GROUPS))
    @types.keeping_type(with_callbacks)
    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Fit to groups, or to batches of shuffled rows.

        Batches are drawn again for each epoch.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Labels, of two values.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, in any order.  None cuts the rows of each epoch into batches (with a kernel the batches of the
            first epoch are kept).
        sample_weight : array-like of shape (n_samples,), default=None
            Nonnegative weights, of which only ratios matter; a row with zero weight counts as absent.  In shuffled batches a
            row appears in proportion to its weight; a group, or a batch in the given order, has the mean weight of its rows.

        Returns
        -------
        Self
            The fitted estimator.
        """
        return self._fit(X, y, groups=groups, sample_weight=sample_weight)

    def partial_fit(  # type: ignore[override]
        self, X: Any, y: Any, classes: Any = None, groups: Any = None, sample_weight: Any = None
    ) -> Self:
        """Train on groups or batches in order, one pass.

        Without groups a call is cut into batches of `batch_size` rows and a shorter last one.  Only splits of a stream at
        multiples of `batch_size` give the same model, to the last bit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (2,), default=None
            Both labels; required by the first call.
        groups : array-like of shape (n_samples,), default=None
            The group of each row; the same group in two calls counts as two groups.
        sample_weight : array-like of shape (n_samples,), default=None
            Nonnegative weights.

        Returns
        -------
        Self
            The estimator.
        """
        return self._partial_fit(X, y, classes=classes, groups=groups, sample_weight=sample_weight)

    def _reader(self) -> BatchReader:
        least = int(getattr(batch_loss(self.loss), "k", 1))
        return BatchReader(type(self).__name__, self.batch_size, self._in_blocks, least)

    def _in_blocks(self, values: NDArray, start: NDArray) -> Labels:
        if isinstance(batch_loss(self.loss), RankingLoss):
            return Relevances(values.astype(np.float64), start)
        return IndicatorBlocks(values.astype(np.uint8), start)

    def _read_labels(self, y: Any, classes: Any, known: Any, *, partial: bool) -> tuple[Codec, Any]:
        if known is None:
            return TwoClasses.first(y, classes, partial=partial)
        known.check_same(classes)
        return known, known.encode(y)

    def _read_linear(self, reader: LinearModelReader) -> tuple[Codec, Linear]:
        return TwoClasses.of_model(reader.model.classes_), reader.of_classes()

    # ---------------------------------------------------------------------------------------------------------- problem

    def _build_problem(self, labels: Any) -> Problem:
        loss = batch_loss(self.loss)
        balance = self._balance(loss)
        if isinstance(loss, RankingLoss):
            problem = loss.build(of_ranking(loss)[0], 0)
            return checked_build(loss, problem, RankingProblem, d=1, n_labels=0)
        problem = checked_build(loss, loss.build(SignVector(), 0), LabelSets, d=1, n_labels=0)
        problem.balance = balance
        return problem

    def _balance(self, loss: Any) -> float:
        """Return the exponent of the class weights; raise ValueError if the loss does not take it."""
        free = isinstance(loss, SubsetLoss) and not isinstance(loss, AtK)
        if self.balance != "auto" and self.balance > 0 and not free:
            raise ValueError(f"balance={self.balance} does not go with loss={self.loss!r}; accepted are 'auto' and 0.")
        return 0.0 if not free else loss.balance if self.balance == "auto" else float(self.balance)

    def _intercept(self, labels: Any) -> Intercept:
        return Intercept(False, 1.0) if isinstance(batch_loss(self.loss), RankingLoss) else super()._intercept(labels)

    def _fixed_parameters(self) -> dict[str, Any]:
        return {**super()._fixed_parameters(), "balance": self._balance(batch_loss(self.loss))}

    # --------------------------------------------------------------------------------------------------------- decision

    def _decision(self, labels: Any, call_metadata: Any = None) -> Decision:
        rule = decision_rule(self.decision, ("fitted",), numbers=True, costs=False)
        fitted = isinstance(rule, Cut) and isinstance(rule.at, str) and rule.at == "fitted"
        if isinstance(rule, ExpectedCost) or (isinstance(rule, Cut) and not fitted and not is_number(rule.at)):
            raise ValueError(
                f"decision={self.decision!r} is not for batches, which lose as a whole; accepted are None, 'fitted', 'learned' "
                "and a finite number."
            )
        if labels is None:
            return PLAIN
        loss = batch_loss(self.loss if self._model is None else self._model.loss)  # the training loss
        calibration = Calibration(SignScores("grades" if isinstance(loss, RankingLoss) else "column"))
        in_place = isinstance(loss, SubsetLoss) and loss.balance == 1 == self._balance(loss)  # measured: as good as a cut
        if isinstance(rule, Learned) or isinstance(loss, AtK) or (rule is None and in_place):
            return Argmax(calibration, holds_out=not isinstance(rule, Learned))
        if isinstance(rule, Cut) and not fitted:
            return FittedCut(None, calibration, float(rule.at))
        return FittedCut(loss, calibration)

    @learned
    def threshold_(self) -> float:
        """The fitted cut of the score."""
        cuts = self._model.current_cut(self._decision).shift(self._model.problem)
        return 0.0 if cuts is None else float(cuts[0])

    # ------------------------------------------------------------------------------------------------------- prediction

    def decision_function(self, X: Any) -> NDArray:
        """Compute the scores of the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples,)
            t - `threshold_`; above 0 for the second of `classes_`, except for losses at k.
        """
        model, decision = self._model_and_decision()
        return model.scores(X, decision)[:, 0]

    @types.keeping_type(available_if(BasePredtron._check_has_probabilities))
    def predict_proba(self, X: Any) -> NDArray:
        """Compute the calibrated probabilities of both classes.

        The calibration map is fitted to scores of unseen rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            A column for each of `classes_`; rows add up to 1.

        Raises
        ------
        AttributeError
            If there are no scores of unseen rows, as after `fit` under ``decision="learned"``.
        """
        return self._probabilities(self._fitted_model(), X)

    @types.keeping_type(available_if(BasePredtron._check_has_probabilities))
    def predict_log_proba(self, X: Any) -> NDArray:
        """Compute the logarithms of `predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            A column for each of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any, groups: Any = None) -> NDArray:
        """Predict the class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, for losses at k, which predict some rows of each group; None is one group.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels of `classes_`.  If scores are equal, losses at k predict the first rows.
        """
        model, decision = self._model_and_decision()
        scores = model.scores(X, decision)[:, 0]
        return model.labels.classes[self._positive(model, scores, self._reader().blocks(groups, len(scores)))]

    def _problem_at_k(self, model: Model) -> Any:
        """Return a copy of the problem at k; for k="break_even" it has the share of positive rows in training."""
        problem, counts = model.own_problem(), model.call_metadata
        if counts is None and isinstance(batch_loss(model.loss), BreakEven):
            raise ValueError(
                f"loss={shortened(self.loss)} predicts the share of rows that was positive in training, and from_linear knows "
                "none; call fit or partial_fit, or take another loss."
            )
        problem.share = 0.0 if counts is None else counts[0] / max(counts[1], 1)
        return problem

    def _positive(self, model: Model, scores: NDArray, groups: Queries) -> NDArray:
        """Return the predictions of rows, 0 or 1; 1 is positive; the scores of the rows are given."""
        if not is_at_k(model.loss):
            return (scores > 0).astype(np.intp)
        problem = self._problem_at_k(model)
        return groups.put_back(problem.predict_batches(np.ascontiguousarray(groups.take(scores)), groups.start).astype(np.intp))

    def sample_loss(self, X: Any, y: Any, groups: Any = None) -> NDArray:
        """Compute the estimator's own loss L of each group.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels, of `classes_`.
        groups : array-like of shape (n_samples,), default=None
            The group of each row; None is one group.

        Returns
        -------
        ndarray of shape (n_groups,)
            Values of the loss, in the order in which the groups first appear.  For losses of rankings and losses at k it is the
            expectation over the orders of rows with equal scores.
        """
        return self._loss_of(self._raw_predict(X), y, groups)

    def _raw_predict(self, X: Any) -> NDArray:
        """Return the scores of rows."""
        return self.decision_function(X)

    def _loss_of(self, predicted: NDArray, y: Any, groups: Any = None) -> NDArray:
        """Return the loss of each group, given scores."""
        model, reader = self._fitted_model(), self._reader()
        codes, loss = model.labels.true_codes(y, len(predicted)), batch_loss(model.loss)
        blocks = reader.blocks(groups, len(codes))
        if isinstance(loss, RankingLoss):
            scores = np.ascontiguousarray(blocks.take(predicted))
            labels = Relevances(blocks.take(codes).astype(np.float64), blocks.start)
            return model.losses(scores, labels)
        on = blocks.take(self._positive(model, predicted, blocks))
        if is_at_k(model.loss):
            return expected_losses_at_k(loss, blocks.take(predicted), on, blocks.take(codes), blocks.start)
        return losses_of_batches(loss, on, blocks.take(codes), blocks.start)

    def score(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> float:
        """Compute the accuracy, whatever the loss.

        `sample_loss` computes the estimator's own loss.

        For a loss at k the accuracy is the mean over all orders of the rows with equal scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the mean.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, for losses at k; None is one group.

        Returns
        -------
        float
            At most 1, which is perfect.
        """
        model, predicted = self._fitted_model(), self.predict(X, groups)
        codes = model.labels.codes_or_wrong(y, len(predicted))
        on = (predicted == self.classes_[1]).astype(np.intp)
        if is_at_k(model.loss):
            blocks = self._reader().blocks(groups, len(codes))
            on = blocks.put_back(chances_at_k(blocks.take(self.decision_function(X)), blocks.take(on), blocks.start))
        return mean_loss(np.where(codes >= 0, np.where(codes == 1, on, 1.0 - on), 0.0), sample_weight)

    def margin(self, X: Any, y: Any, groups: Any = None) -> float:
        """Measure the margin of the weights at unit norm.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels, of `classes_`.
        groups : array-like of shape (n_samples,), default=None
            The group of each row; None is one group.

        Returns
        -------
        float
            The margin gamma, for `loss_bound`; nan where the weights are zero.
        """
        return float(self._margins(X, y, groups).min(initial=np.inf))

    def _margins(self, X: Any, y: Any, groups: Any = None) -> NDArray:
        model = self._fitted_model()
        found = model.scores(X)
        check_lengths(len(found), _num_samples(y))
        scores, labels = self._reader().beside_labels(found, y, groups, model)
        if isinstance(labels, Relevances):
            return model.margins(scores[:, 0], labels, resolve(Update, self.update, "update").pairwise)
        return model.margins(scores, labels)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
