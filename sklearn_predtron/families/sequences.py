"""Sequences: labels of tokens that depend on their neighbours'."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, column_or_1d

from sklearn_predtron._compat import Interval, StrOptions, with_callbacks
from sklearn_predtron._core.rows import Rows
from sklearn_predtron._parts import resolve
from sklearn_predtron._queries import ONE, SID, Queries, is_one, weights_of_sequences
from sklearn_predtron._typing import keeping_type
from sklearn_predtron.families._base import BasePredtron
from sklearn_predtron.families._blocks import InColumn
from sklearn_predtron.families._bounded import positive
from sklearn_predtron.families._docstrings import documented
from sklearn_predtron.families._fast_path import TokenReader
from sklearn_predtron.families._fitted import AfterFit, read_only
from sklearn_predtron.families._labels import check_same_classes, class_list, encode, find_classes, one_dimensional
from sklearn_predtron.families._linear_models import BeginsAtLinear, Linear, of_each_class
from sklearn_predtron.families._patience import Patience
from sklearn_predtron.families._transitions import (
    allowed_transitions,
    check_labels_allowed,
    check_transitions,
    learned_scores,
    observed_transitions,
    possible,
)
from sklearn_predtron.families._validation import Batch, MissingClasses, check_lengths, mean_loss, refuse_dicts
from sklearn_predtron.losses import SequenceLoss, sequence_loss
from sklearn_predtron.norms._intercept import Intercept
from sklearn_predtron.problems._chain import ChainProblem, TokenCodes
from sklearn_predtron.updates import Update

if TYPE_CHECKING:
    from sklearn_predtron._typing import Self

__all__ = ["PredtronSequenceTagger"]

ROUTED = {"sid": "groups", "sample_weight": True}


@documented({"classes_": np.arange(3)}, d="n_classes", rows="sequences")
class PredtronSequenceTagger(InColumn, BeginsAtLinear):
    """Sequence tagging by a linear chain: labels the tokens of a sequence together.

    A row is a token, `sid` says of which sequence, and a round is a sequence.  The score S(y) of a sequence of labels is the sum
    of <w_k, x_t> + b_k over its tokens x_t with the labels k, of A_jk over its neighbouring labels j and k, and of the scores of
    its first and of its last label.  The best sequence is predicted, among equals the first in lexicographic order.

    Parameters
    ----------
    loss : {losses} or SequenceLoss, default="hamming"
        L(sigma, y) of sequences: "hamming" counts wrong tokens, `SequenceHamming(costs)` adds their costs up, "zero_one" asks
        for wholly right sequences, and is the better choice where only these are of use.
    constraint : "bio", "observed", array-like of shape (n_classes + 1, n_classes) or None, default=None
        Which label may follow which: others are never predicted, and refused in y.  "bio" is for the labels O, B-x and I-x, where
        I-x follows B-x and I-x only; "observed" allows what `fit` has seen; a boolean array says of each label, a row, which ones
        may follow, and in its last row which ones may be first.
    norm : {norms} or Norm, default="auto"
        The norm of W, under which margins are measured.  "auto" is "scaled", for raw features of any unit, where the first rows
        are dense, and "l2" where they are CSR.  The transitions, which are counts, have the Euclidean norm.
    {update}
    {average}
    transition_scaling : float, default=0.1
        Squared length of the feature of a transition relative to the intercept's: with more of it transitions are learned faster.
    {intercept_scaling}
    {max_iter}
    {tol}
    {shuffle}
    {random_state}
    {warm_start}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights W of the tokens that predict.
    intercept_ : ndarray of shape (n_classes,)
        Offsets b of the tokens' scores.
    transitions_ : ndarray of shape (n_classes, n_classes)
        Scores A of a label (row) before another (column); -inf where the constraint forbids it.
    start_, end_ : ndarrays of shape (n_classes,)
        Scores of first and of last labels.
    {norm_}
    {last_coef_}
    {last_intercept_}
    last_transitions_, last_start_, last_end_ : ndarrays
        The same of the last iterate.
    {t_}
    n_mistakes_ : int
        Sequences of which a maximiser of the score lost.
    {n_updates_}
    {cumulative_loss_}
    {loss_curve_}
    {n_iter_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    PredtronClassifier : Labels rows one by one.
    sklearn_predtron.datasets.stack_sequences : From lists of sequences to rows and sid.
    sklearn_predtron.metrics.chunk_f1_score : F1 of chunks in BIO tags.

    Notes
    -----
    Collins (2002) and Shalev-Shwartz and Ben-David (2014, section 17.3), with inference that is exact for both losses: the best
    sequence that is not y costs one number a token beside the Viterbi recursion.  The loss is not divided by the length of the
    sequence.  A round costs n_nonzero K + T K^2.

    With scikit-learn's metadata routing on, `sid` is requested as `groups` by `fit`, `partial_fit`, `predict`,
    `decision_function` and `score`, so that ``GridSearchCV(..., cv=GroupKFold()).fit(X, y, groups=sid)`` splits, learns and
    scores by sequence.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron import PredtronClassifier, PredtronSequenceTagger
    >>> random = np.random.default_rng(0)
    >>> y = np.cumsum(random.random(2000) < 0.2) % 3  # labels that stay for five tokens on the mean
    >>> X, sid = np.eye(3)[y] + random.standard_normal((2000, 3)), np.arange(2000) // 20
    >>> model = PredtronSequenceTagger(random_state=0).fit(X[:1000], y[:1000], sid=sid[:1000])
    >>> alone = PredtronClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> round(model.score(X[1000:], y[1000:], sid=sid[1000:]), 2), round(alone.score(X[1000:], y[1000:]), 2)
    (0.75, 0.62)
    """

    _epochs = 20
    _ids = SID
    _observed: NDArray | None = None  # transitions, where they are the constraint
    classes_: Any = AfterFit()
    _parameter_constraints: dict[str, list] = {
        **{name: kinds for name, kinds in BasePredtron._parameter_constraints.items() if name != "fit_intercept"},
        "loss": [str, SequenceLoss],
        "constraint": [StrOptions({"bio", "observed"}), "array-like", None],
        "transition_scaling": [Interval(Real, 0, None, closed="neither")],
    }
    __metadata_request__fit = ROUTED
    __metadata_request__partial_fit = ROUTED
    __metadata_request__score = ROUTED
    __metadata_request__predict = {"sid": "groups"}
    __metadata_request__decision_function = {"sid": "groups"}

    def __init__(
        self,
        *,
        loss: Any = "hamming",
        constraint: Any = None,
        norm: Any = "auto",
        update: Any = "adaptive",
        average: Any = None,
        transition_scaling: float = 0.1,
        intercept_scaling: Any = "auto",
        max_iter: int | None = None,
        tol: Patience | float | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
    ):
        self.loss = loss
        self.constraint = constraint
        self.norm = norm
        self.update = update
        self.average = average
        self.transition_scaling = transition_scaling
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.warm_start = warm_start

    # --------------------------------------------------------------------------------------------------------- learning

    @keeping_type(with_callbacks)
    def fit(self, X: Any, y: Any, sid: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Learn from sequences in shuffled epochs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features)
            Tokens, those of a sequence in their order.  C-contiguous float32 and float64 arrays and CSR matrices are read where
            they lie, unless the tokens of a sequence lie apart: then they are gathered first.
        y : array-like of shape (n_tokens,)
            Labels.
        sid : array-like of shape (n_tokens,), default=None
            The sequence of each token; None is one sequence, of which more than one row warns, and "one" without a warning.
            A data frame X may have it in a column "sid" in place of this.
        sample_weight : array-like of shape (n_tokens,), default=None
            Weights, not negative, of which only ratios matter, the same for all tokens of a sequence; a sequence of weight 0 is
            as if it were absent.

        Returns
        -------
        Self
            The fitted estimator.
        """
        X, sid = self._apart_or_warned(X, sid)
        return self._fit(X, y, sid=sid, sample_weight=sample_weight)

    def partial_fit(  # type: ignore[override]
        self, X: Any, y: Any, classes: Any = None, sid: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from whole sequences in the given order, one pass.

        The result is, to the last bit, the same for any way of splitting a stream of sequences into calls.  The same id in two
        calls stands for two sequences.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features)
            Tokens.
        y : array-like of shape (n_tokens,)
            Labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever occur; required by the first call.
        sid : array-like of shape (n_tokens,), default=None
            The sequence of each token; interleaved sequences are gathered in the order of their first tokens.  None is one
            sequence.  A data frame X may have it in a column "sid".
        sample_weight : array-like of shape (n_tokens,), default=None
            Weights, not negative, the same for all tokens of a sequence.

        Returns
        -------
        Self
            The estimator.
        """
        stream = self.__dict__.get("_stream")
        alone = classes is None and (sid is None or is_one(sid)) and sample_weight is None
        if stream is not None and alone and stream.take(X, y):
            return self
        X, sid = self._apart(X, sid)
        return self._partial_fit(X, y, classes=classes, sid=sid, sample_weight=sample_weight)

    def _read(
        self,
        X: Any,
        y: Any,
        *,
        sid: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        fresh: bool,
        partial: bool = False,
    ) -> Batch:
        def read(y: Any) -> NDArray:
            return self._read_codes(y, classes, fresh=fresh, partial=partial)

        sequences, batch = self._read_blocks(X, y, read, sid, sample_weight, fresh=fresh, partial=partial)
        self._note_transitions(batch.labels, partial=partial)
        self._check_transitions(batch.labels, sequences)
        return batch

    def _weighed_blocks(self, ids: Any, weight: NDArray) -> tuple[Queries, NDArray]:
        weights_of_sequences(self._blocks(ids, len(weight)), weight)
        return super()._weighed_blocks(ids, weight)

    def _in_blocks(self, values: NDArray, start: NDArray) -> TokenCodes:
        return TokenCodes(values, start)

    def _read_values(self, y: Any) -> NDArray:
        return encode(column_or_1d(y), self.classes_)

    def _read_rows(self, X: Any, *, reset: bool) -> tuple[Any, Rows]:
        if isinstance(X, list):
            refuse_dicts(X)
        return super()._read_rows(X, reset=reset)

    def _read_codes(self, y: Any, classes: Any, *, fresh: bool, partial: bool) -> NDArray:
        """Return the number of each token's label, and set what is known of the labels."""
        if not fresh:
            check_same_classes(classes, self.classes_)
            return encode(one_dimensional(y), self.classes_)
        if not partial:
            self.classes_, codes = find_classes(one_dimensional(y))
            return codes
        if classes is None:
            raise MissingClasses()
        self.classes_ = find_classes(class_list(classes), targets=False)[0]
        return encode(one_dimensional(y), self.classes_)

    def _read_linear(self, model: Any) -> Linear:
        scores = self._of_classes(model)
        self.classes_ = np.array(model.classes_)
        return of_each_class(scores, 0.5)

    def _note_transitions(self, labels: Any, *, partial: bool) -> None:
        """Note which transitions there are, if others are to be forbidden."""
        if not isinstance(self.constraint, str) or self.constraint != "observed":
            return
        if partial:
            raise ValueError("constraint='observed' is not for partial_fit, which sees a part of the data; pass an array.")
        self._observed = observed_transitions(labels, len(self.classes_))

    def _check_transitions(self, labels: Any, queries: Queries) -> None:
        """Refuse a constraint, or labels that it forbids."""
        allowed = self._allowed()
        if allowed is not None and allowed is not self._observed:
            check_transitions(allowed, self.classes_, self.constraint)
            check_labels_allowed(labels, queries, allowed, self.classes_, self.constraint)

    def _allowed(self) -> NDArray | None:
        """Return which label may follow which, in the last row which may be first; None if all may."""
        return allowed_transitions(self.constraint, self.classes_, self._observed)

    def _build_reader(self) -> TokenReader | None:
        if isinstance(self.constraint, str) and self.constraint == "observed":
            return None  # partial_fit says why
        codes = {label: code for code, label in enumerate(self.classes_.tolist())}
        return TokenReader(codes, self._learner.problem.allowed)

    def _build_problem(self) -> ChainProblem:
        return sequence_loss(self.loss).build(self.transition_scaling, self.classes_, self._allowed())

    def _without_intercept(self, model: Any, scores: Linear) -> Linear:
        return scores  # tokens always have offsets

    def _build_intercept(self) -> Intercept:
        return Intercept(True, self._scaling())

    def _fixed_parameters(self) -> dict[str, Any]:
        fixed = {**self._fixed_norm(), "intercept_scaling": self._scaling()}
        return {**fixed, "transition_scaling": float(self.transition_scaling)}

    # ------------------------------------------------------------------------------------------------------ what was learned

    transitions_ = learned_scores("transitions_", "of a label (row) before another (column) that predict")
    start_ = learned_scores("start_", "of first labels that predict")
    end_ = learned_scores("end_", "of last labels that predict")
    last_transitions_ = learned_scores("last_transitions_", "of a label (row) before another (column) in the last iterate")
    last_start_ = learned_scores("last_start_", "of first labels in the last iterate")
    last_end_ = learned_scores("last_end_", "of last labels in the last iterate")

    def _transitions(self, mean: bool) -> tuple[NDArray, NDArray, NDArray]:
        """Return the scores of transitions, of first and of last labels, -inf for what is forbidden."""
        A, start, end = self._learner.read(lambda weights: weights.transitions(mean))
        allowed = self._learner.problem.allowed
        if allowed is not None:
            A[~allowed[:-1]], start[~allowed[-1]] = -np.inf, -np.inf
        return read_only(A), read_only(start), read_only(end)

    # -------------------------------------------------------------------------------------------------------- prediction

    def predict(self, X: Any, sid: Any = None) -> NDArray:
        """Predict the label of each token.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features)
            Tokens.
        sid : array-like of shape (n_tokens,), default=None
            The sequence of each token, here or in a column "sid" of X.  None is one sequence, and an error after a fit with
            several; "one" is one sequence.

        Returns
        -------
        ndarray of shape (n_tokens,)
            Labels of `classes_`.
        """
        return self.classes_[self._predict_codes(X, sid, "predict")]

    def _predict_codes(self, X: Any, sid: Any, method: str) -> NDArray:
        """Return the numbers of the predicted labels, of shape (n_tokens,)."""
        problem, scores, queries, table = self._scored_sequences(X, sid, method)
        return queries.put_back(possible(*problem.predict(scores, queries.start, *table)))

    def _scored_sequences(self, X: Any, sid: Any, method: str) -> tuple[Any, NDArray, Queries, tuple]:
        """Return the problem of now, the tokens' scores by sequence, the sequences, and the scores of transitions."""
        check_is_fitted(self)
        X, sid = self._apart(X, sid)
        learner, scores, table = self._scored_beside(X, lambda weights: weights.transitions(True))
        queries = self._blocks_to_score(sid, len(scores), method)
        return learner.problem, queries.take(scores), queries, table

    def _blocks_to_score(self, ids: Any, n: int, method: str) -> Queries:
        if n > 1:
            self._check_ids_given(ids, method)
        return super()._blocks_to_score(ids, n, method)

    def decision_function(self, X: Any, sid: Any = None) -> NDArray:
        """Compute the max-marginals: the best score of a sequence with the label at the token, less that of the best sequence.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features)
            Tokens.
        sid : array-like of shape (n_tokens,), default=None
            The sequence of each token, as for `predict`.

        Returns
        -------
        ndarray of shape (n_tokens, n_classes)
            At most 0, which is the predicted label's; -1e100 or less where the constraint leaves no such sequence.
        """
        problem, scores, queries, table = self._scored_sequences(X, sid, "decision_function")
        return queries.put_back(possible(*problem.marginals(scores, queries.start, *table)))

    def score(self, X: Any, y: Any, sid: Any = None, sample_weight: Any = None) -> float:
        """Compute the share of tokens whose label is right, whatever the loss.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features)
            Tokens.
        y : array-like of shape (n_tokens,)
            True labels; they may be others than those of `classes_`, and are then not right.
        sid : array-like of shape (n_tokens,), default=None
            The sequence of each token, as for `predict`.
        sample_weight : array-like of shape (n_tokens,), default=None
            Weights of the tokens in the mean.

        Returns
        -------
        float
            At most 1, which is perfect.
        """
        check_is_fitted(self)
        self._check_labels_given(y)
        predicted = self.classes_[self._predict_codes(X, sid, "score")]
        y = column_or_1d(y)
        check_lengths(len(predicted), len(y))
        return mean_loss((predicted == y).astype(np.float64), sample_weight)

    def sample_loss(self, X: Any, y: Any, sid: Any = None) -> NDArray:
        """Compute the estimator's own loss L(sigma, y) of each sequence.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features)
            Tokens.
        y : array-like of shape (n_tokens,)
            True labels, of `classes_`.
        sid : array-like of shape (n_tokens,), default=None
            The sequence of each token, as for `predict`.

        Returns
        -------
        ndarray of shape (n_sequences,)
            Values of the loss that was learned for, in the order in which the sequences first appear.
        """
        X, sid = self._apart(X, sid)
        return self._loss_of(self._predict_codes(X, sid, "sample_loss"), y, sid)

    def _raw_predict(self, X: Any) -> NDArray:
        return self._predict_codes(X, ONE, "predict")

    def _loss_of(self, predicted: NDArray, y: Any, sid: Any = None) -> NDArray:
        labels, true = self._beside_labels(predicted, y, sid)
        return sequence_loss(self.loss).evaluate(true.array, labels, true.starts, self.classes_)

    # -------------------------------------------------------------------------------------------------------- the theory

    def margin(self, X: Any, y: Any, sid: Any = None) -> float:
        """Measure the margin of the weights, at unit norm, on sequences.

        The least, over the sequences, of S(y) less the score of the best other sequence of labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features)
            Tokens.
        y : array-like of shape (n_tokens,)
            True labels, of `classes_`.
        sid : array-like of shape (n_tokens,), default=None
            The sequence of each token, as for `predict`.

        Returns
        -------
        float
            The margin gamma, for `loss_bound`; nan where the weights are zero.

        Examples
        --------
        >>> from sklearn_predtron import PredtronSequenceTagger
        >>> X, y, sid = [[2.0], [1.0], [-1.0], [1.0], [-2.0]], [1, 1, 0, 1, 0], [0, 0, 0, 1, 1]
        >>> model = PredtronSequenceTagger(intercept_scaling=1.0, update="perceptron", random_state=0).fit(X, y, sid=sid)
        >>> round(model.margin(X, y, sid=sid), 2)
        1.05
        """
        return float(self._margins(X, y, sid).min(initial=np.inf))

    def _margins(self, X: Any, y: Any, sid: Any = None) -> NDArray:
        return self._leads(X, y, sid, "leads_of_sequences")

    def _unit_margins(self, X: Any, y: Any, sid: Any = None) -> NDArray:
        """Return the margin of each sequence for a unit of loss, at unit norm."""
        additive = sequence_loss(self.loss).additive
        return self._leads(X, y, sid, "leads_for_loss" if additive else "leads_of_sequences")

    def _leads(self, X: Any, y: Any, sid: Any, method: str) -> NDArray:
        problem, scores, queries, table = self._scored_sequences(X, sid, "margin")
        labels = self._labels_of(y, queries)
        leads = getattr(problem, method)(scores, labels, *table)
        for i in np.flatnonzero(leads == np.inf):  # no other sequence is allowed, and perhaps not this one
            if not self._is_allowed(labels.array[labels.starts[i] : labels.starts[i + 1]]):
                leads[i] = -np.inf
        return self._at_unit_norm(leads)

    def _is_allowed(self, codes: NDArray) -> bool:
        """Return whether what was learned allows a sequence of labels."""
        return bool(np.isfinite(self.start_[codes[0]]) and np.isfinite(self.transitions_[codes[:-1], codes[1:]]).all())

    def loss_bound(  # type: ignore[override]
        self,
        margin: float | None = None,
        radius: float | None = None,
        c_L: float | None = None,
        *,
        unit_margin: float | None = None,
    ) -> float:
        """Bound the loss suffered online, if the theory of the parts has a bound.

        Parameters
        ----------
        margin : float, default=None
            Margin gamma > 0 of some unit-norm weights on the sequences (see `margin`).
        radius : float, default=None
            The largest length of a token with the intercept's feature of length `intercept_scaling`.  None takes what an update
            with eta="theory" has seen.
        c_L : float, default=None
            The least positive loss; None takes what the loss states.
        unit_margin : float, default=None
            In the place of a margin, the margin for each unit of loss (see `theory.unit_margin`), which is the natural one of
            losses that add up: it takes the largest loss, and so the length of the sequences, out of the bound.

        Returns
        -------
        float
            What `cumulative_loss_` cannot exceed.  `theory.theorem_of` names the theorem, in which
            D^2 R^2 = T^2 q with q = 2 radius^2 + 8 transition_scaling intercept_scaling^2, T the longest sequence that took a
            step.  With a unit margin g the bound of the perceptron is T q / (c_L g^2) where each wrong token costs c_L or more,
            and T^2 q / (c_L g^2) for other losses; those of the other updates have 1 / g in the place of C_L / margin, and with
            target="constant" it is delta / (c_L g^2 eta).

        Examples
        --------
        >>> from sklearn_predtron import PredtronSequenceTagger
        >>> X, y, sid = [[2.0], [1.0], [-1.0], [1.0], [-2.0]], [1, 1, 0, 1, 0], [0, 0, 0, 1, 1]
        >>> model = PredtronSequenceTagger(intercept_scaling=1.0, update="perceptron", random_state=0).fit(X, y, sid=sid)
        >>> model.cumulative_loss_ <= model.loss_bound(model.margin(X, y, sid=sid), radius=5**0.5)
        True
        """
        if unit_margin is None:
            return self._loss_bound(margin, radius, c_L, None, None, None)
        if margin is not None:
            raise ValueError(f"loss_bound takes margin={margin} or unit_margin={unit_margin}, not both.")
        self._theorem()
        rate, radius = positive(unit_margin, "unit_margin"), None if radius is None else positive(radius, "radius")
        radius, c_L = np.float64(self._effective_radius(radius)), self._least_loss(c_L)
        with np.errstate(all="ignore"):  # a bound whose squares overflow is infinite
            return float(resolve(Update, self.update, "update").unit_margin_bound(self._problem_of_bounds(), rate, radius, c_L))

    def _problem_of_bounds(self) -> Any:
        return self._learner.problem.of_length(max(self._learner.weights.longest, 1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "tagger"
        return tags
