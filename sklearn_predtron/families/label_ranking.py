"""Label ranking: labels in order of relevance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from sklearn_predtron._core.problem import Problem
from sklearn_predtron._support import types
from sklearn_predtron._support.compat import linear_regressors
from sklearn_predtron._support.encoding import check_lengths
from sklearn_predtron._support.parts import resolve
from sklearn_predtron.families._docstrings import UPDATES, documented
from sklearn_predtron.families._ranked_lists import CONSTRAINTS, ranker_tags, ranking_problem
from sklearn_predtron.families.estimator.attributes import learned, read_only
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.families.estimator.linear_models import Linear, LinearModelReader
from sklearn_predtron.families.input.reading import check_labels_given
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.classes import column_names
from sklearn_predtron.families.labels.relevances import LabelRelevances, relevance_matrix
from sklearn_predtron.families.model.model import Model
from sklearn_predtron.families.training.patience import Patience
from sklearn_predtron.families.training.plan import ACCEPTED
from sklearn_predtron.features import FeatureMap
from sklearn_predtron.losses import KendallTau, RankingLoss, ranking_loss
from sklearn_predtron.metrics import mean_over_queries, ndcg
from sklearn_predtron.norms import Norm
from sklearn_predtron.predictor._answers import positions_of
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.representations import RankingRepresentation
from sklearn_predtron.updates import Update

if TYPE_CHECKING:
    from sklearn_predtron._support.types import Self

__all__ = ["PredtronLabelRanker"]


@documented(updates=UPDATES + ', "slam", "max_pair", "listnet", "mmp"', d="m", judged="the mean loss")
class PredtronLabelRanker(BasePredtron):
    """Multilabel ranking of m fixed labels.

    It learns to rank a fixed set of labels for each input.

    {in_order}

    Parameters
    ----------
    loss : "ndcg", "ap", "swapped_pairs", "ranking_zero_one", "kendall_tau" or RankingLoss, default="ndcg"
        L(sigma, y) of rankings: "ndcg" for the top of the list, "kendall_tau" for the order of all labels.  `NDCG(k=10)`
        evaluates the first 10 positions; "ap" is for relevances 0 and 1, "swapped_pairs" for two grades a row;
        "ranking_zero_one" is 0 only for rankings without any mistake.
    {features_auto}
    {norm}
    {update}
    representation : "auto", "log", "linear", "power", "reciprocal", "pairwise", callable or RankingRepresentation, default="auto"
        rep(sigma)_i = f(position of label i) / |f| with a strictly decreasing f of the positions 1, 2, ...  `PowerRank(alpha=2)`
        sets a parameter; a callable takes the positions as an array.  "pairwise", for ``loss="kendall_tau"``, has a score and a
        learner for each pair of labels, whose votes rank them.  "auto" is "log" for other losses.  For "kendall_tau" `fit` trains
        both if it has folds (see `cv`) also for the m (m - 1) / 2 scores of pairs, and keeps the one with the lower mean loss on
        held-out rows.
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
    {label_names_}
    coef_ : ndarray of shape (m, n_features)
        Weights that predict.  With pairs, this and all attributes with m rows have m (m - 1) / 2 rows, one for each of `pairs_`.
    intercept_ : ndarray of shape (m,)
        Offsets of the scores.
    pairs_ : ndarray of shape (m (m - 1) / 2, 2)
        With representation="pairwise", given or chosen, the labels i < j that a score compares; it is positive if i is ahead.
    {features_}
    {feature_importances_}
    {norm_}
    {last_coef_}
    {last_intercept_}
    {dual_coef_}
    {t_}
    n_mistakes_ : int
        Rounds in which the ranking by scores had a loss, with ties broken in the worst way.
    {n_updates_}
    {cumulative_loss_}
    {loss_curve_}
    {n_iter_}
    {held_out_loss_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    PredtronRanker : Ranks the documents of queries.
    PredtronMultilabelClassifier : Predicts a set of labels.

    Notes
    -----
    Jain et al. (2015), section 5; as for `PredtronRanker`, sigma_y is the competitor's order sorted again by relevance.  A row
    with equally relevant labels has no wrong ranking: its loss is 0 and it changes nothing.

    For Kendall's tau set ``loss="kendall_tau"``.  One linear score a label cannot represent many orders of the labels; votes of
    pairs can (Hüllermeier et al. 2008), with (m - 1) / 2 times the weights.  If one score a label is the true model, pairs are
    slightly worse, so `fit` tries both.  A stream has one score a label, unless ``representation="pairwise"`` is set.  For the
    top of the list use the default "ndcg".  update="slam" is for the top, too; on long noisy lists it ranks hardly better than
    chance.

    Under the norm "l2" each pair is trained as `PredtronBinaryClassifier` would be on the rows in which its labels differ; other
    norms join the weights of pairs.  All rows count in the scale of the intercept and in the average.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron import PredtronLabelRanker
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> y = X.argsort(axis=1).argsort(axis=1)  # the label of the largest feature is the most relevant
    >>> model = PredtronLabelRanker(random_state=0).fit(X, y)
    >>> model.predict([[3.0, 1.0, 2.0]])
    array([[1, 3, 2]])
    """

    _epochs = 20
    _codec = LabelRelevances
    _parameter_constraints: dict[str, list] = {**BasePredtron._parameter_constraints, **CONSTRAINTS, "cv": ACCEPTED}
    _linear_models = "linear regressors of scikit-learn of several targets, and MultiOutputRegressor of them"

    def __init__(
        self,
        *,
        loss: types.RankingLossName | RankingLoss = "ndcg",
        features: types.FeaturesName | FeatureMap | None = "auto",
        norm: types.NormName | Norm = "auto",
        update: types.LabelRankingUpdateName | Update = "adaptive",
        representation: types.LabelPositionsName | types.OfPositions | RankingRepresentation = "auto",
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

    @learned
    def label_names_(self) -> NDArray:
        """Names of the labels; they exist if y is a data frame with column names."""
        return self._present("label_names_", self._model.labels.names)

    @learned
    def pairs_(self) -> NDArray:
        """The pairs of labels that scores compare; they exist with representation="pairwise", and are of shape (d, 2)."""
        if self._model.problem.of_one_score is None:
            raise AttributeError("pairs_ is of representation='pairwise', given or chosen; here each label has a score.")
        return read_only(np.column_stack(np.triu_indices(self._model.labels.n_labels, 1)))

    # --------------------------------------------------------------------------------------------------------- learning

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Learn from rows in the given order, one pass.

        The result is, to the last bit, the same for any way of splitting a stream into calls.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : {array-like, sparse matrix} of shape (n_samples, m)
            Relevances of the labels, at least 0.
        sample_weight : array-like of shape (n_samples,), default=None
            Nonnegative weights; a row with zero weight counts as absent.

        Returns
        -------
        Self
            The estimator.
        """
        stream = None if self._model is None or sample_weight is not None else self._model.stream
        if stream is not None and stream.take(X, y):
            return self
        return self._partial_fit(X, y, sample_weight=sample_weight)

    def _read_labels(self, y: Any, classes: Any, known: Any, *, partial: bool) -> tuple[Codec, Relevances]:
        codec = known or LabelRelevances(relevance_matrix(y).shape[1], column_names(y), self._representations())
        return codec, codec.encode(y)

    def _read_linear(self, reader: LinearModelReader) -> tuple[Codec, Linear]:
        scores = None if is_classifier(reader.model) else reader.stacked(linear_regressors())
        if scores is None or len(scores.coef) < 2:
            raise reader.refused()
        scores = reader.check_intercept(scores, fit_intercept=self.fit_intercept)
        labels = LabelRelevances(len(scores.coef), None)
        if self._build_problem(labels).of_one_score is not None:
            first, second = np.triu_indices(labels.n_labels, 1)
            scores = Linear(*(array[first] - array[second] for array in scores))
        return labels, scores

    def _representations(self) -> tuple[str, ...]:
        """Return the representations that `fit` compares.

        "pairwise" is one of them if the loss is of pairs.
        """
        votes = self.representation == "auto" and isinstance(ranking_loss(self.loss), KendallTau)
        return ("log", "pairwise") if votes else ("log",)

    def _build_problem(self, labels: Any) -> Problem:
        representation = labels.representations[0] if self.representation == "auto" else self.representation
        return ranking_problem(self.loss, representation, labels.n_labels)

    # -------------------------------------------------------------------------------------------------------- prediction

    def decision_function(self, X: Any) -> NDArray:
        """Compute the scores of the labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, m)
            The label with the highest score comes first.  With representation="pairwise" the score is the number of pairs that
            the label wins, plus a quarter of its share: the sum of its pairs' scores, each signed in its favour, divided by the
            sum of the absolute scores of all pairs.
        """
        model = self._fitted_model()
        return model.problem.label_scores(model.scores(X))

    def predict(self, X: Any) -> NDArray:
        """Rank the labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, m)
            The position of each label, from 1; labels with equal scores keep their order.
        """
        return positions_of(self.decision_function(X))

    def sample_loss(self, X: Any, y: Any) -> NDArray:
        """Compute the estimator's own loss L(sigma, y) of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : {array-like, sparse matrix} of shape (n_samples, m)
            Relevances of the labels.

        Returns
        -------
        ndarray of shape (n_samples,)
            Values of the training loss.  If scores are equal it is the expectation over the orders of their labels.
        """
        model, scores, labels = self._scored_rows(X, y)
        return model.losses(scores, labels)

    def _raw_predict(self, X: Any) -> NDArray:
        """Return the scores of the rows."""
        return self._fitted_model().scores(X)

    def _loss_of(self, predicted: NDArray, y: Any) -> NDArray:
        """Return the loss of each row, given its scores."""
        model = self._fitted_model()
        return model.losses(predicted.ravel(), self._relevances(model, y, len(predicted)))

    def _scored_rows(self, X: Any, y: Any) -> tuple[Model, NDArray, Relevances]:
        """Return the model, and scores and relevances, row by row."""
        model = self._fitted_model()
        check_labels_given(y, model.name)
        scores = model.scores(X)
        return model, scores.ravel(), self._relevances(model, y, len(scores))

    def _relevances(self, model: Model, y: Any, n: int) -> Relevances:
        """Return the relevances of the labels of n rows."""
        labels = model.labels.encode(y)
        check_lengths(n, labels.n)
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the mean NDCG of whole lists.

        The gain is 2^y - 1, whatever `loss` is.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : {array-like, sparse matrix} of shape (n_samples, m)
            Relevances of the labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the mean.

        Returns
        -------
        float
            At most 1, which is perfect; a row that cannot be ranked wrongly counts 1.  If scores are equal it is the
            expectation over the orders of their labels.
        """
        model, scores, labels = self._scored_rows(X, y)
        y = labels.relevances.reshape(labels.n, -1)
        ranked_by = model.own_problem().label_scores(scores.reshape(labels.n, -1))
        return mean_over_queries(ndcg, y, ranked_by, sample_weight=sample_weight)

    def margin(self, X: Any, y: Any) -> float:
        """Measure the margin of the weights at unit norm.

        The minimum, over the rows, of the lead of a label over a less relevant one.  Unless the update is of pairs ("slam",
        "max_pair", "mmp"), it is multiplied by the least difference of f between neighbouring positions / |f|.  With
        representation="pairwise" it is twice the least score of a pair in favour of its more relevant label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : {array-like, sparse matrix} of shape (n_samples, m)
            Relevances of the labels.

        Returns
        -------
        float
            The margin gamma, for `loss_bound`; nan where the weights are zero, infinite where no row can be ranked wrongly.

        Examples
        --------
        >>> from sklearn_predtron import PredtronLabelRanker
        >>> X = [[2.0, 1.0], [1.0, 2.0], [-1.0, -1.0], [-2.0, 0.0]]
        >>> relevance = [[1, 0], [0, 1], [0, 0], [0, 1]]
        >>> model = PredtronLabelRanker(update="loss_driven", fit_intercept=False, random_state=0).fit(X, relevance)
        >>> round(model.margin(X, relevance), 3)
        0.188
        """
        return float(self._margins(X, y).min(initial=np.inf))

    def _margins(self, X: Any, y: Any) -> NDArray:
        model, scores, labels = self._scored_rows(X, y)
        return model.margins(scores, labels, resolve(Update, self.update, "update").pairwise)

    def __sklearn_tags__(self) -> Any:
        tags = ranker_tags(super().__sklearn_tags__())
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags
