"""Bipartite ranking: two classes, for a measure of a batch of rows or of a group of them."""

from __future__ import annotations

import copy
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._compat import Interval, StrOptions, with_callbacks
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.rows import QueryRows
from sklearn_predtron._parts import checked_build, resolve
from sklearn_predtron._queries import GROUPS, Queries
from sklearn_predtron._typing import keeping_type
from sklearn_predtron._warning import warn
from sklearn_predtron.families._batches import (
    column_of,
    equal_batches,
    full_batches,
    in_batches,
    losses_of_batches,
    warn_of_few_positives,
    warn_of_groups_without,
)
from sklearn_predtron.families._blocks import Blocked
from sklearn_predtron.families._classes import ClassLabelled, check_two
from sklearn_predtron.families._docstrings import documented
from sklearn_predtron.families._fitted import learned
from sklearn_predtron.families._patience import Patience
from sklearn_predtron.families._thresholds import Shifted, best_cut, best_cut_of_groups
from sklearn_predtron.families._validation import Batch, as_rows, mean_loss
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
from sklearn_predtron.norms._intercept import Intercept
from sklearn_predtron.problems._base import Labels, Problem
from sklearn_predtron.problems._label_sets import IndicatorBlocks, LabelSets
from sklearn_predtron.problems._ranking import RankingProblem
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.representations import LinearRank, LogRank, SignVector
from sklearn_predtron.updates import Update

if TYPE_CHECKING:
    from sklearn_predtron._typing import Self

__all__ = ["PredtronBipartiteClassifier"]

ROUTED = {"groups": True, "sample_weight": True}
OF_BATCHES = {"auc": SwappedPairs, "ap": AveragePrecision, "break_even": BreakEven}
# Of rankings, their representation, and the measure by which they are cut, for they do not say where.
OF_RANKINGS: dict[type, tuple[Any, Any]] = {SwappedPairs: (LinearRank(), BalancedError()), AveragePrecision: (LogRank(), FBeta())}


def batch_loss(value: Any) -> Any:
    """Return the loss of batches that the parameter `loss` stands for."""
    if isinstance(value, str) and value in OF_BATCHES:
        return OF_BATCHES[value]()
    if isinstance(value, tuple(OF_RANKINGS)):
        return value
    try:
        return subset_loss(value, lambda part: part.build(SignVector(), 0))
    except ValueError as error:
        raise ValueError(f"{error}  Of batches also {', '.join(map(repr, OF_BATCHES))}.") from None


def of_ranking(loss: RankingLoss) -> tuple[Any, Any]:
    """Return the representation of a loss of rankings, and the measure by which it is cut."""
    return next(found for kind, found in OF_RANKINGS.items() if isinstance(loss, kind))


@documented({}, d="1")
class PredtronBipartiteClassifier(Blocked, ClassLabelled, Shifted):
    """Binary classifier that learns a measure of a batch of rows: F1, the balanced error, precision at k, AUC.

    A round is a batch, or a group of rows (those of a query, a day, a customer), which are predicted together and lose by the
    counts of right and wrong ones.

    Parameters
    ----------
    loss : {losses}, "break_even", "auc", "ap", callable, SubsetLoss, SwappedPairs or AveragePrecision, default="f1"
        L of a batch, by its true positives, false positives, false negatives and true negatives, as `FBeta(beta=2.0)` or a
        function of the four (where rows have weights, the cut is chosen by sums of them).  `PrecisionAtK` and `RecallAtK`
        predict k rows of a batch, or a share of them; "break_even" the share that is positive; "auc" and "ap" are those of
        rankings, one minus the area under the ROC curve and the average precision.
    balance : "auto" or float, default="auto"
        From 0 to 1, how much the rows of the rarer class of a batch count: with 1 both classes weigh the same.  "auto" is 1 for
        "balanced" and "g_mean", 1/2 for "f1" and "jaccard", and 0 for others; at k it must be 0.
    batch_size : int, default=200
        Rows of a batch, where no groups are given.
    threshold : "auto", "fitted" or float, default="auto"
        Where the score is cut: "fitted" where the training rows, as `fit` ends, lose least (0 in streams), or at a number.
        "auto" is 0 for "balanced" and "g_mean" with a `balance` of 1, and "fitted" for others.  At k nothing is cut.
    {norm}
    {update}
    {average}
    {intercept_scaling}
    {max_iter}
    {tol}
    {shuffle}
    {random_state}
    {warm_start}

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is positive.
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
    PredtronBinaryClassifier : Learns row by row; with a threshold the better choice for F1.
    PredtronRanker : Learns to rank the documents of queries, of any grades.

    Notes
    -----
    Joachims (2005), online: the competitor of Jain et al. (2015), equation (2), is exact, after one sort of a batch.  What was
    measured: for F1, ``PredtronBinaryClassifier(threshold="f1")`` is as good and many times as fast, for a score that ranks well
    needs no more than a cut.  Batches earn their keep where the balanced error counts, where a measure is one of groups, and as
    the theory made runnable.  The surrogate of a batch is blind to costs where classes overlap; the weights that `balance` puts
    on the classes are what makes it see them.

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

    _ids = GROUPS
    _epochs = 30
    fit_intercept = True
    _cut: float | None = None  # the one that fit has chosen
    _first_batches: Batch | None = None  # of a fit with a kernel
    _seen: tuple[int, int] = (0, 0)  # positive rows, and rows
    __metadata_request__fit = ROUTED
    __metadata_request__partial_fit = ROUTED
    __metadata_request__score = ROUTED
    __metadata_request__predict = {"groups": True}
    _parameter_constraints: dict[str, list] = {
        **Shifted._parameter_constraints,
        "loss": [str, callable, SubsetLoss, SwappedPairs, AveragePrecision],
        "balance": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "threshold": [StrOptions({"auto", "fitted"}), Interval(Real, None, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        loss: Any = "f1",
        balance: Any = "auto",
        batch_size: int = 200,
        threshold: Any = "auto",
        norm: Any = "auto",
        update: Any = "adaptive",
        average: Any = None,
        intercept_scaling: Any = "auto",
        max_iter: int | None = None,
        tol: Patience | float | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
    ):
        self.loss = loss
        self.balance = balance
        self.batch_size = batch_size
        self.threshold = threshold
        self.norm = norm
        self.update = update
        self.average = average
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.warm_start = warm_start

    # --------------------------------------------------------------------------------------------------------- learning

    @keeping_type(with_callbacks)
    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Learn from groups, or from batches that are drawn anew for each epoch.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Labels, of two values.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, in any order; None cuts the rows of each epoch into batches (with a kernel those of the first
            epoch stay together).
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, not negative, of which only ratios matter; a row of weight 0 is as if it were absent.  In shuffled batches a
            row appears in proportion to its weight; a group, or a batch in the given order, weighs the mean of its rows.

        Returns
        -------
        Self
            The fitted estimator.
        """
        return self._fit(X, y, groups=groups, sample_weight=sample_weight)

    def partial_fit(  # type: ignore[override]
        self, X: Any, y: Any, classes: Any = None, groups: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from groups, or from batches, in the given order, one pass.

        Without groups a call is cut into batches of `batch_size` rows and a shorter last one: only splits of a stream at
        multiples of `batch_size` teach the same, to the last bit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (2,), default=None
            Both labels; required by the first call.
        groups : array-like of shape (n_samples,), default=None
            The group of each row; the same group in two calls stands for two.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, not negative.

        Returns
        -------
        Self
            The estimator.
        """
        return self._partial_fit(X, y, classes=classes, groups=groups, sample_weight=sample_weight)

    def _read(
        self,
        X: Any,
        y: Any,
        *,
        classes: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        fresh: bool,
        partial: bool = False,
    ) -> Batch:
        if groups is None:
            batch = super()._read(X, y, classes=classes, sample_weight=sample_weight, fresh=fresh, partial=partial)
            column = batch.labels.array
            start = (full_batches if partial else equal_batches)(len(column), self.batch_size)
            batch = batch._replace(labels=self._in_blocks(column, start))
            column = column if batch.order is None else column[batch.order]
        else:

            def read(y: Any) -> NDArray:
                return self._read_labels(y, classes, fresh=fresh, partial=partial).array

            _, batch = self._read_blocks(X, y, read, groups, sample_weight, fresh=fresh, partial=partial)
            column = column_of(batch.labels)
        before = self._seen if partial else (0, 0)
        self._seen = before[0] + int(column.sum()), before[1] + len(column)
        return batch

    def _read_values(self, y: Any) -> NDArray:
        return self._read_labels(y, None, fresh=False, partial=True).array

    def _in_blocks(self, values: NDArray, start: NDArray) -> Labels:
        if isinstance(batch_loss(self.loss), RankingLoss):
            return Relevances(values.astype(np.float64), start)
        return IndicatorBlocks(values.astype(np.uint8), start)

    def _run_epochs(self, batch: Batch, y: Any, metadata: Any, **how: Any) -> None:
        self.__dict__.pop("_cut", None)
        self._warn_of_few(batch)
        self._first_batches = None
        try:
            super()._run_epochs(batch, y, metadata, **how)
        finally:
            del self._first_batches
        self._after_epochs(batch)

    def _after_epochs(self, batch: Batch) -> None:
        self._cut = self._fitted_cut(batch)

    def _after_shards(self) -> None:
        if self._chooses_cut():
            warn(
                f"threshold={self.threshold!r} is chosen on rows in memory, and of shards it is 0; pass a number, chosen on some "
                "rows that are held out, say."
            )

    def _warn_of_few(self, batch: Batch) -> None:
        if not isinstance(batch.rows, QueryRows):
            warn_of_few_positives(*self._seen, self.batch_size)
        else:
            warn_of_groups_without(column_of(batch.labels), batch.labels.starts)

    def _learn_epoch(self, learner: Learner, batch: Batch, drawn: dict[str, Any], **how: Any) -> float:
        rounds = batch
        if not isinstance(batch.rows, QueryRows):
            rounds, drawn = self._cut_epoch(learner, batch, drawn)
        loss = super()._learn_epoch(learner, rounds, drawn, **how)
        if getattr(self, "_skl_callbacks", None):  # which may predict
            self._cut = self._fitted_cut(batch)
        return loss

    def _cut_epoch(self, learner: Learner, batch: Batch, drawn: dict[str, Any]) -> tuple[Batch, dict[str, Any]]:
        """Return the batches of an epoch, and the learner's other arguments."""
        order, usual, rounds = drawn["order"], drawn.get("usual", 1.0), self._first_batches
        if rounds is None:
            rounds = in_batches(batch, order, drawn.get("weight"), self.batch_size, equal_batches)
            if learner.weights.expansion is not None:  # keeps the kernels of rows with their places
                self._first_batches = rounds
            return rounds, {"usual": usual, "weight": rounds.weight, "ahead": np.arange(rounds.rows.n)}
        numbers = None if order is None else order[order < rounds.rows.n]  # of batches: a permutation of all is one of some
        several = numbers is None or len(np.unique(numbers)) < rounds.rows.n
        ahead = np.arange(rounds.rows.n) if several else numbers
        return rounds, {"order": None if several else numbers, "usual": usual, "weight": rounds.weight, "ahead": ahead}

    def _learn(self, batch: Batch) -> None:
        if not isinstance(batch.rows, QueryRows):
            if batch.order is not None and len(batch.order) == 0:
                return
            batch = in_batches(batch, batch.order, batch.weight, self.batch_size, full_batches)
        super()._learn(batch)

    def _stream_reader(self) -> None:
        """There is no short way: a call is a batch."""

    def _check_classes(self, classes: NDArray, *, ordered: bool) -> None:
        super()._check_classes(classes, ordered=ordered)
        check_two(classes)

    # ---------------------------------------------------------------------------------------------------------- problem

    def _build_problem(self) -> Problem:
        loss, balance = copy.copy(batch_loss(self.loss)), self._balance()
        self._learned_loss = loss
        if isinstance(loss, RankingLoss):
            problem = loss.build(of_ranking(loss)[0], 0)
            return checked_build(loss, problem, RankingProblem, d=1, n_labels=0)
        problem = checked_build(loss, loss.build(SignVector(), 0), LabelSets, d=1, n_labels=0)
        problem.balance = balance
        return problem

    def _balance(self) -> float:
        """Return the exponent of the classes' weights; refuse one that the loss does not take."""
        loss = batch_loss(self.loss)
        free = isinstance(loss, SubsetLoss) and not isinstance(loss, AtK)
        if self.balance != "auto" and self.balance > 0 and not free:
            raise ValueError(f"balance={self.balance} does not go with loss={self.loss!r}; accepted are 'auto' and 0.")
        return 0.0 if not free else loss.balance if self.balance == "auto" else float(self.balance)

    def _build_intercept(self) -> Intercept:
        if isinstance(batch_loss(self.loss), RankingLoss):
            return Intercept(False, 1.0)
        return super()._build_intercept()

    def _fixed_parameters(self) -> dict[str, Any]:
        return {**super()._fixed_parameters(), "balance": self._balance()}

    # -------------------------------------------------------------------------------------------------------- threshold

    def _cuts(self, learner: Learner) -> NDArray | None:
        if isinstance(self._learned_loss, AtK):
            return None
        if not isinstance(self.threshold, str):
            return self._given_cut()
        return None if self._cut is None else np.array([self._cut])

    def _chooses_cut(self) -> bool:
        """Return whether `fit` chooses a cut."""
        loss = batch_loss(self.loss)
        in_place = isinstance(loss, SubsetLoss) and loss.balance == 1 == self._balance()  # as well as a cut, measured
        return not isinstance(loss, AtK) and isinstance(self.threshold, str) and not (self.threshold == "auto" and in_place)

    def _fitted_cut(self, batch: Batch) -> float | None:
        """Return the cut with which the rows of a fit lose least."""
        if not self._chooses_cut():
            return None
        loss = batch_loss(self.loss)
        loss = of_ranking(loss)[1] if isinstance(loss, RankingLoss) else loss
        column = column_of(batch.labels)
        grouped = isinstance(batch.rows, QueryRows)
        rows = as_rows(batch.X) if grouped else batch.rows
        scores = self._score(self._learner, batch.X, rows, 0, np.empty((rows.n, 1)))[:, 0]
        if grouped:
            scores = scores if batch.rows.row_numbers is None else scores[batch.rows.row_numbers]
            return best_cut_of_groups(loss.of_counts, scores, column, batch.labels.starts, batch.weight)
        weight = np.ones(len(column), dtype=np.int64) if batch.weight is None else batch.weight / batch.weight.max()
        return best_cut(loss.of_counts, scores, column * weight, (1 - column) * weight)

    @learned
    def threshold_(self) -> float:
        """The cut of the score as it was learned."""
        cuts = self._cuts(self._learner)
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
            t - `threshold_`; above 0 for the second of `classes_`, unless the loss is one at k.
        """
        return self._scores(X)[:, 0]

    def predict(self, X: Any, groups: Any = None) -> NDArray:
        """Predict the class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, for losses at k, which predict some of each; None is one group.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels of `classes_`.
        """
        scores = self._raw_predict(X)
        return self.classes_[self._positive(scores, self._blocks(groups, len(scores)))]

    def _positive(self, scores: NDArray, groups: Queries) -> NDArray:
        """Return which rows are predicted to be positive, 0 or 1."""
        if not isinstance(self._learned_loss, AtK):
            return (scores > 0).astype(np.intp)
        problem = copy.copy(self._learner.problem)
        problem.share = self._seen[0] / max(self._seen[1], 1)
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
            Values of the loss, in the order in which the groups first appear.
        """
        return self._loss_of(self._raw_predict(X), y, groups)

    def _raw_predict(self, X: Any) -> NDArray:
        return self.decision_function(X)

    def _loss_of(self, predicted: NDArray, y: Any, groups: Any = None) -> NDArray:
        codes, loss = self._true_codes(predicted, y), self._learned_loss
        queries = self._blocks(groups, len(codes))
        if isinstance(loss, RankingLoss):
            scores = np.ascontiguousarray(queries.take(predicted))
            return copy.copy(self._learner.problem).losses(scores, self._in_blocks(queries.take(codes), queries.start))
        on = self._positive(predicted, queries)
        return losses_of_batches(loss, queries.take(on), queries.take(codes), queries.start)

    def score(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> float:
        """Compute the accuracy, whatever the loss; `sample_loss` has the estimator's own.

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
        predicted = self.predict(X, groups)
        right = self.classes_[self._true_codes(predicted, y)] == predicted
        return mean_loss(right.astype(np.float64), sample_weight)

    def margin(self, X: Any, y: Any, groups: Any = None) -> float:
        """Measure the margin of the weights, at unit norm, on groups.

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
        scores, labels = self._beside_labels(self._scores(X, shifted=False), y, groups)
        problem = copy.copy(self._learner.problem)
        if isinstance(labels, Relevances):
            pairwise = resolve(Update, self.update, "update").pairwise
            return self._at_unit_norm(problem.margins(scores[:, 0], labels, pairwise))
        return self._at_unit_norm(problem.margins(scores, labels))

    def _loss_bound(self, margin: Any, radius: Any, c_L: Any, comparator: Any, X: Any, y: Any, *ids: Any) -> float:
        if comparator is not None:
            raise ValueError(
                "No bound against given weights is known for batches, which differ from epoch to epoch; pass margin."
            )
        return super()._loss_bound(margin, radius, c_L, comparator, X, y, *ids)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
