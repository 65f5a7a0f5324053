"""Subset ranking: documents of queries (learning to rank)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron._core.problem import Problem
from sklearn_predtron._support import types
from sklearn_predtron._support.compat import linear_regressors, with_callbacks
from sklearn_predtron._support.encoding import check_lengths
from sklearn_predtron._support.parts import resolve
from sklearn_predtron._support.queries import ONE, QID, check_qid, is_one, read_document_relevances, split_ids, with_ids
from sklearn_predtron._support.warning import warn
from sklearn_predtron.families._docstrings import UPDATES, documented
from sklearn_predtron.families._ranked_lists import CONSTRAINTS, ranker_tags, ranking_problem
from sklearn_predtron.families.estimator.attributes import learned
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.families.estimator.bounds import LossBounds
from sklearn_predtron.families.estimator.linear_models import Linear, LinearModelReader
from sklearn_predtron.families.input.reading import BlockReader, TrainingInput, check_labels_given
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.relevances import DocumentRelevances
from sklearn_predtron.families.model.model import Model
from sklearn_predtron.families.training.patience import Patience
from sklearn_predtron.families.training.plan import ACCEPTED
from sklearn_predtron.features import FeatureMap
from sklearn_predtron.losses import RankingLoss
from sklearn_predtron.metrics import mean_over_queries, ndcg
from sklearn_predtron.norms import Norm
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.representations import RankingRepresentation
from sklearn_predtron.updates import Update

if TYPE_CHECKING:
    from sklearn_predtron._support.types import Self

__all__ = ["PredtronRanker"]

RELEVANCES = DocumentRelevances()
ROUTED = {"qid": "groups", "sample_weight": True}


class DocumentReader(BlockReader):
    """Reads queries; warns if none can be trained on."""

    def read(self, *given: Any, partial: bool, **how: Any) -> TrainingInput:
        """Return the training input; warn if no query can be trained on."""
        reading = super().read(*given, partial=partial, **how)
        labels: Any = reading.batch.labels
        if 1 < len(labels.relevances) == labels.n:
            warn(
                f"qid has another id for each of the {labels.n} documents: every query has one document, so that there is "
                "nothing to rank, and the weights stay zero.  Pass the query of each document, not the document's own id."
            )
        elif not partial and labels.n > 1 and (labels.grades < 2).all():
            warn(
                "y has the same relevance for all documents of each query: no ranking is wrong, and the weights stay zero.  Pass "
                "relevances that differ within queries, and the query of each document as qid."
            )
        return reading


@documented(updates=UPDATES + ', "slam", "max_pair", "listnet"', rows="queries", judged="the mean loss")
class PredtronRanker(BasePredtron):
    """Subset ranking: scores the documents of queries.

    Documents are rows with a relevance each.

    A round is a query: its documents are ranked by their scores t = X w, and the ranking is compared with their relevances.
    {in_order}

    Parameters
    ----------
    loss : "ndcg", "ap", "swapped_pairs", "ranking_zero_one", "kendall_tau" or RankingLoss, default="ndcg"
        L(sigma, y) of rankings.  `NDCG(k=10)` evaluates the first 10 positions; "ap" is for relevances 0 and 1, "swapped_pairs"
        for two grades a query; "ranking_zero_one" is 0 only for rankings without any mistake.
    {features}
    {norm}
    {update}
    representation : "log", "linear", "power", "reciprocal", callable or RankingRepresentation, default="log"
        rep(sigma)_i = f(position of i) / |f| with a strictly decreasing f of the positions 1, 2, ...  `PowerRank(alpha=2)` sets
        a parameter; a callable takes the positions as an array.
    {average}
    {cv}
    {max_iter}
    {random_state}
    {tol}
    {shuffle}
    {warm_start}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights that predict.
    intercept_ : float
        Always 0.0: an offset common to a query cannot change its ranking.
    {features_}
    {feature_importances_}
    {norm_}
    last_coef_ : ndarray of shape (n_features,)
        Weights of the last iterate.
    last_intercept_ : float
        0.0.
    dual_coef_, support_ : ndarrays of shape (n_support,) and (n_support,)
        With ``norm=RKHS(...)``: the coefficients of the rows that are kept, and the numbers of these rows among all rows given.
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
    PredtronLabelRanker : Ranks a fixed set of labels.
    sklearn_predtron.metrics : Measures of rankings, and scorers that take queries.

    Notes
    -----
    Jain et al. (2015), section 4, with two corrections.  First, sigma_y is the competitor's order sorted again by relevance (with
    an arbitrary correct ranking nothing is learned).  Second, the loss-augmented competitor is exact, except in very long lists.
    A query with one document, or with equally relevant documents, has no wrong ranking: its loss is 0 and it changes nothing.
    The competitor costs little more than a sort for a few grades of relevance, or with representation="log" and the loss NDCG
    of whole lists.  Other searches are bounded: in lists of more than 256 documents a search that would take longer than about a
    tenth of a second returns the best ranking so far, whose surrogate still bounds the loss suffered.

    With scikit-learn's metadata routing on, `qid` is requested as `groups` by `fit`, `partial_fit` and `score`, so that
    ``GridSearchCV(..., cv=GroupKFold()).fit(X, y, groups=qid)`` splits, trains and scores by query.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron import PredtronRanker
    >>> random = np.random.default_rng(0)
    >>> X, qid = random.standard_normal((600, 5)), np.repeat(np.arange(60), 10)
    >>> y = np.digitize(X @ [1, 2, 3, 0, 0] + random.standard_normal(600), [-3, 0, 3])
    >>> model = PredtronRanker(random_state=0).fit(X[:500], y[:500], qid=qid[:500])
    >>> model.score(X[500:], y[500:], qid=qid[500:]) > 0.95
    True
    >>> model.rank(X[:5], qid="one")
    array([2, 1, 5, 4, 3])
    """

    _codec = DocumentRelevances
    _parameter_constraints: dict[str, list] = {**BasePredtron._parameter_constraints, **CONSTRAINTS, "cv": ACCEPTED}
    _linear_models = "linear regressors of scikit-learn of one target, and linear classifiers of two classes"
    __metadata_request__fit = ROUTED
    __metadata_request__partial_fit = ROUTED
    __metadata_request__score = ROUTED

    def __init__(
        self,
        *,
        loss: types.RankingLossName | RankingLoss = "ndcg",
        features: types.FeaturesName | FeatureMap | None = None,
        norm: types.NormName | Norm = "auto",
        update: types.RankingUpdateName | Update = "adaptive",
        representation: types.PositionsName | types.OfPositions | RankingRepresentation = "log",
        average: types.AverageName | float | None = None,
        cv: Any = None,
        max_iter: int | None = None,
        random_state: Any = None,
        tol: Patience | float | None = None,
        shuffle: bool = True,
        warm_start: bool = False,
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

    # --------------------------------------------------------------------------------------------------------- learning

    @types.keeping_type(with_ids(QID))
    @types.keeping_type(with_callbacks)
    def fit(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Learn from queries in shuffled epochs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.  C-contiguous float32 and float64 arrays and CSR matrices are read without a copy, unless the documents of
            a query are not contiguous: then they are gathered first.  A CSR matrix that holds a feature of a document twice is
            copied.
        y : array-like of shape (n_documents,)
            Relevances, at least 0 (up to 30 for the exponential gain of NDCG).
        qid : array-like of shape (n_documents,), default=None
            The query of each document, in any order.  None is one query, with a warning for more than one row; "one" is one query
            without a warning.  A data frame X may have it in a column "qid" instead.
        sample_weight : array-like of shape (n_documents,), default=None
            Nonnegative weights, of which only ratios matter.  A document with zero weight counts as absent.  A query has the mean
            weight of its other documents, and appears in shuffled epochs in proportion to it.

        Returns
        -------
        Self
            The fitted estimator.
        """
        return self._fit(X, y, qid=qid, sample_weight=sample_weight)

    def partial_fit(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> Self:
        """Learn from queries in the given order, one pass.

        The result is, to the last bit, the same for any way of splitting a stream of queries into calls.  The same id in two
        calls counts as two queries.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,)
            Relevances, at least 0.
        qid : array-like of shape (n_documents,), default=None
            The query of each document; interleaved queries are gathered in the order of their first documents.  None is one
            query.  A data frame X may have it in a column "qid".
        sample_weight : array-like of shape (n_documents,), default=None
            Nonnegative weights.

        Returns
        -------
        Self
            The estimator.
        """
        stream = None if self._model is None or qid is not None or sample_weight is not None else self._model.stream
        if stream is not None and stream.take(X, y):
            return self
        return self._partial_fit(X, y, qid=qid, sample_weight=sample_weight)

    def _reader(self) -> BlockReader:
        return DocumentReader(type(self).__name__, QID, Relevances)

    def _read_labels(self, y: Any, classes: Any, known: Any, *, partial: bool) -> tuple[Codec, NDArray]:
        return RELEVANCES, RELEVANCES.encode(y)

    def _read_linear(self, reader: LinearModelReader) -> tuple[Codec, Linear]:
        scores = reader.of_classes() if is_classifier(reader.model) else reader.stacked(linear_regressors())
        if len(scores.coef) != 1:
            raise reader.refused()
        return RELEVANCES, scores._replace(intercept=np.zeros(1))  # the intercept is common to the documents of a query

    def _build_problem(self, labels: Any) -> Problem:
        return ranking_problem(self.loss, self.representation, labels.n_labels)

    def _intercept(self, labels: Any) -> Intercept:
        return Intercept(False, 1.0)

    def _fixed_parameters(self) -> dict[str, Any]:
        return {}

    @learned
    def coef_(self) -> NDArray:
        """Weights that predict, of shape (n_features,); they are the average of the iterates, or the last one."""
        return super().coef_[0]

    @learned
    def last_coef_(self) -> NDArray:
        """Weights of the last iterate, of shape (n_features,)."""
        return super().last_coef_[0]

    @learned
    def dual_coef_(self) -> NDArray:
        """Coefficients of the support that predict; they exist with a kernel, and are of shape (n_support,)."""
        return super().dual_coef_[0]

    @learned
    def last_dual_coef_(self) -> NDArray:
        """Coefficients of the support, last iterate; they exist with a kernel, and are of shape (n_support,)."""
        return super().last_dual_coef_[0]

    @learned
    def intercept_(self) -> float:
        """Always 0.0; an offset common to a query cannot change its ranking."""
        return float(super().intercept_[0])

    @learned
    def last_intercept_(self) -> float:
        """Always 0.0."""
        return float(super().last_intercept_[0])

    # -------------------------------------------------------------------------------------------------------- prediction

    def predict(self, X: Any) -> NDArray:
        """Score documents, better ones higher.

        A higher score is a better position among the documents of a query.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        ndarray of shape (n_documents,)
            t = X w.
        """
        return self._fitted_model().scores(split_ids(X, None, QID)[0])[:, 0]

    def rank(self, X: Any, qid: Any = None) -> NDArray:
        """Rank the documents of each query.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.
        qid : array-like of shape (n_documents,), default=None
            The query of each document, here or in a column "qid" of X.  None is one query, and raises ValueError after a fit with
            several queries; "one" is one query.

        Returns
        -------
        ndarray of shape (n_documents,)
            Positions 1, 2, ... within the query; documents with equal scores keep their order.
        """
        model, reader = self._fitted_model(), self._reader()
        X, qid = reader.split_ids(X, qid)
        reader.check_ids_given(qid, "rank", model)
        scores = self.predict(X)
        queries = reader.blocks(qid, len(scores))
        query = np.repeat(np.arange(queries.n), np.diff(queries.start))
        positions = np.empty(len(scores), dtype=np.intp)
        positions[np.lexsort((-queries.take(scores), query))] = np.arange(len(scores)) - queries.start[query] + 1
        return queries.put_back(positions)

    def sample_loss(self, X: Any, y: Any, qid: Any = None) -> NDArray:
        """Compute the estimator's own loss L(sigma, y) of each query.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,)
            Relevances.
        qid : array-like of shape (n_documents,), default=None
            The query of each document, here or in a column "qid" of X; None and "one" are one query.

        Returns
        -------
        ndarray of shape (n_queries,)
            Values of the training loss, in the order in which the queries first appear.  If scores are equal it is the
            expectation over the orders of their documents.
        """
        model, scores, labels = self._scored_queries(X, y, qid)
        return model.losses(scores, labels)

    def _raw_predict(self, X: Any) -> NDArray:
        """Return the scores of documents."""
        return self.predict(X)

    def _loss_of(self, predicted: NDArray, y: Any, qid: Any = None) -> NDArray:
        """Return the loss of each query, given scores; they are the scores of its documents."""
        model = self._fitted_model()
        return model.losses(*self._reader().beside_labels(predicted, y, qid, model))

    def _scored_queries(self, X: Any, y: Any, qid: Any) -> tuple[Model, NDArray, Relevances]:
        """Return the model, and scores and relevances, query by query."""
        reader = self._reader()
        X, qid = reader.split_ids_or_warn(X, qid)
        model, scores, y = self._scored_documents(X, y)
        return model, *reader.beside_labels(scores, y, qid, model)

    def _scored_documents(self, X: Any, y: Any) -> tuple[Model, NDArray, NDArray]:
        """Return the model, and scores and relevances, document by document."""
        model = self._fitted_model()
        check_labels_given(y, model.name)
        scores, y = model.scores(split_ids(X, None, QID)[0])[:, 0], read_document_relevances(y)
        check_lengths(len(scores), len(y))
        return model, scores, y

    def score(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float:
        """Compute the mean NDCG of whole lists.

        The gain is 2^y - 1, whatever `loss` is.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,)
            Relevances.
        qid : array-like of shape (n_documents,), default=None
            The query of each document, here or in a column "qid" of X.  None is one query, with a warning for more than one row,
            and raises ValueError after a fit with several queries; "one" is one query.
        sample_weight : array-like of shape (n_documents,), default=None
            Weights; documents with zero weight count as absent, and a query has the mean weight of its other documents.

        Returns
        -------
        float
            At most 1, which is perfect; a query that cannot be ranked wrongly counts 1.  If scores are equal it is the
            expectation over the orders of their documents.
        """
        model, reader = self._fitted_model(), self._reader()
        reader.check_ids_given(reader.split_ids(X, qid)[1], "score", model)
        X, qid = reader.split_ids_or_warn(X, qid)
        _, scores, y = self._scored_documents(X, y)
        qid = ONE if qid is None or is_one(qid) else check_qid(qid, len(y))
        return mean_over_queries(ndcg, y, scores, qid, sample_weight=sample_weight)

    def margin(self, X: Any, y: Any, qid: Any = None) -> float:
        """Measure the margin of the weights at unit norm.

        The minimum, over the queries, of the lead of a document over a less relevant one.  Unless the update is of pairs ("slam",
        "max_pair"), it is multiplied by the least difference of f between neighbouring positions / |f|: the lead of a correct
        ranking for each pair that another ranking inverts.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,)
            Relevances.
        qid : array-like of shape (n_documents,), default=None
            The query of each document, here or in a column "qid" of X; None and "one" are one query.

        Returns
        -------
        float
            The margin gamma, for `loss_bound`; nan where the weights are zero, infinite where no query can be ranked wrongly.

        Examples
        --------
        >>> from sklearn_predtron import PredtronRanker
        >>> X, y, qid = [[2.0, 1.0], [1.0, 2.0], [-1.0, -1.0], [-2.0, 0.0]], [1, 0, 1, 0], [0, 0, 1, 1]
        >>> model = PredtronRanker(update="max_pair", random_state=0).fit(X, y, qid=qid)
        >>> round(model.margin(X, y, qid=qid), 6)  # of pairs
        1.414214
        """
        return float(self._margins(X, y, qid).min(initial=np.inf))

    def _margins(self, X: Any, y: Any, qid: Any = None) -> NDArray:
        model, scores, labels = self._scored_queries(X, y, qid)
        return model.margins(scores, labels, resolve(Update, self.update, "update").pairwise)

    def loss_bound(
        self,
        margin: float | None = None,
        radius: float | None = None,
        c_L: float | None = None,
        *,
        comparator: Any = None,
        X: Any = None,
        y: Any = None,
        qid: Any = None,
    ) -> float:
        """Bound the loss suffered online.

        There is a bound if the theory of the parts has one.

        Parameters
        ----------
        margin : float, default=None
            Margin gamma > 0 of some unit-norm weights on the queries (see `margin`).
        radius : float, default=None
            The largest spectral norm of a query's documents; for updates of pairs the largest length of a document.  For the
            norms "l1" and "group" it is the q-norm of the Euclidean lengths of a query's features, or of a document; the factor
            q - 1 is added automatically.  None takes the value recorded by an update with eta="theory"; for queries under the
            other norms that is the Frobenius norm, which is larger.
        c_L : float, default=None
            The least positive loss of a ranking of the queries, which `theory.loss_constants` computes; the bounds of "adaptive"
            and "passive_aggressive" need it.  None takes the value that an update with eta="theory" recorded for queries with a
            loss.  The bound of "slam" uses its least positive weight instead, which is always recorded.
        comparator : ndarray of shape (n_features,), default=None
            Instead of a margin, any weights u.  The bound then uses their surrogate losses on the queries, which need not be
            separable.  For "max_pair", and for "slam" with a number as its step; raises ValueError for others.
        X, y, qid : array-like, default=None
            With `comparator`, all documents, relevances and ids that were learned, each repeated as often as it was learned.

        Returns
        -------
        float
            The bound, which `cumulative_loss_` cannot exceed.  `theory.theorem_of` names the theorem.

        Examples
        --------
        >>> from sklearn_predtron import PredtronRanker
        >>> X, y, qid = [[2.0, 1.0], [1.0, 2.0], [-1.0, -1.0], [-2.0, 0.0]], [1, 0, 1, 0], [0, 0, 1, 1]
        >>> model = PredtronRanker(update="max_pair", random_state=0).fit(X, y, qid=qid)
        >>> round(model.cumulative_loss_, 3), round(model.loss_bound(model.margin(X, y, qid=qid), radius=5**0.5), 6)
        (0.369, 10.0)
        """
        return LossBounds(self).loss_bound(margin, radius, c_L, comparator, X, y, qid)

    def __sklearn_tags__(self) -> Any:
        return ranker_tags(super().__sklearn_tags__())
