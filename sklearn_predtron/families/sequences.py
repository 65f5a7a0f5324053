"""Sequence tagging: labels of tokens that depend on their neighbours."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import column_or_1d

from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron._support import types
from sklearn_predtron._support.chunks import wrong_chunks
from sklearn_predtron._support.compat import Interval, StrOptions, with_callbacks
from sklearn_predtron._support.encoding import check_lengths
from sklearn_predtron._support.queries import ONE, SID, is_one, with_ids
from sklearn_predtron.families._docstrings import documented
from sklearn_predtron.families._scored_sequences import ScoredSequences, check_number_of_paths, few_tokens, token_calibration
from sklearn_predtron.families.estimator.attributes import learned, read_only
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.families.estimator.bounds import LossBounds
from sklearn_predtron.families.estimator.linear_models import Linear, LinearModelReader
from sklearn_predtron.families.input.reading import check_labels_given
from sklearn_predtron.families.input.sequences import SequenceReader
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.classes import one_dimensional
from sklearn_predtron.families.labels.tokens import AUTO, INTERCEPT, LENGTH, LOSS, TRANSITIONS, USUAL, Tokens
from sklearn_predtron.families.labels.transitions import allowed_transitions
from sklearn_predtron.families.training.patience import Patience
from sklearn_predtron.families.training.plan import ACCEPTED
from sklearn_predtron.features import FeatureMap
from sklearn_predtron.losses import SequenceLoss, sequence_loss
from sklearn_predtron.metrics._means import mean_loss
from sklearn_predtron.norms import Norm
from sklearn_predtron.problems._chain import ChainProblem, TokenCodes
from sklearn_predtron.updates import Update

if TYPE_CHECKING:
    from sklearn_predtron._support.types import Self

__all__ = ["PredtronSequenceTagger"]

ROUTED = {"sid": "groups", "sample_weight": True}


def of_transitions(name: str, what: str) -> learned:
    """Return the property of scores of transitions; they are of the weights that predict or of the last iterate."""
    part, mean = ("transitions_", "start_", "end_").index(name.removeprefix("last_")), not name.startswith("last_")

    def scores(tagger: Any) -> NDArray:
        learner = tagger._model.learner
        A, start, end = learner.read(lambda weights: weights.transitions(mean))
        allowed = learner.problem.allowed
        if allowed is not None:
            A[~allowed[:-1]], start[~allowed[-1]] = -np.inf, -np.inf
        return read_only((A, start, end)[part])

    scores.__name__ = name
    scores.__doc__ = f"Scores {what}, of shape {'(n_classes, n_classes)' if part == 0 else '(n_classes,)'}."
    return learned(scores)


@documented(d="n_classes", rows="sequences", judged="the mean loss")
class PredtronSequenceTagger(BasePredtron):
    """Sequence tagging by a linear chain.

    It labels the tokens of a sequence together.

    A row is a token, `sid` is the id of its sequence, and a round is a sequence.  The score S(y) of a sequence of labels is the
    sum of <w_k, x_t> + b_k over its tokens x_t with the labels k, of A_jk over its neighbouring labels j and k, and of the scores
    of its first and of its last label.  The sequence with the highest score is predicted; ties go to the first in lexicographic
    order.  A sequence of more than 250 tokens is trained in parts of about 50, each a round, with a warning; predictions are of
    whole sequences.
    {in_order}

    Parameters
    ----------
    loss : "auto", "hamming", "zero_one" or SequenceLoss, default="auto"
        L(sigma, y) of sequences: "hamming" counts wrong tokens, `SequenceHamming(costs)` adds up their costs, and "zero_one" is 0
        only for sequences without any mistake.  "auto" is "hamming".  For labels of chunks ("O", "B-x", "I-x") it is whichever of
        both finds more chunks (see `cv`).
    constraint : "bio", "observed", array-like of shape (n_classes + 1, n_classes) or None, default=None
        The allowed transitions between labels.  Others are never predicted, and raise ValueError in y.  "bio" is for the labels
        O, B-x and I-x, where I-x follows only B-x and I-x.  "observed" allows the transitions in the data of `fit`.  A boolean
        array has a row for each label, with the labels that may follow it, and a last row with the labels that may be first.
    {features}
    norm : "auto", "l2", "scaled" or Norm, default="auto"
        The norm of W, under which margins are measured.  "auto" is "scaled" (for raw features of any unit) if the first rows are
        dense, and "l2" if they are CSR.  The transitions, which are counts, have the Euclidean norm.
    {update}
    {average}
    cv : int, splitter, iterable or None, default=None
        Held-out sequences, which select the number of epochs and the values of "auto" parameters, and serve probabilities.  None
        (default) holds out a fifth, at most 5,000.  Use 0 for a faster fit: one model, for 20 epochs.  See
        :doc:`/user_guide/sequences`.
    {max_iter}
    {random_state}
    {tol}
    {shuffle}
    {warm_start}
    intercept_scaling : "auto", "length" or float, default="auto"
        Scale of the intercept's virtual feature.  "length" is the running geometric mean of the lengths of the tokens, which
        follows the unit of X.  "auto" is whichever `fit` finds better (see `cv`): "length", or 1, the scale of a feature of text.
        Without such a choice it is "length" under ``norm="scaled"``, and 1 under other norms.
    transition_scaling : "auto" or float, default="auto"
        Squared scale of a transition's feature relative to the intercept's; with larger values transitions change faster.
        "auto" is 0.1, or 1 if "auto" chooses 1 for `intercept_scaling`.

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
    {features_}
    {feature_importances_}
    {norm_}
    {last_coef_}
    {last_intercept_}
    last_transitions_, last_start_, last_end_ : ndarrays
        The same of the last iterate.
    {t_}
    n_mistakes_ : int
        Number of rounds whose prediction, made before the update, had a loss.
    {n_updates_}
    {cumulative_loss_}
    {loss_curve_}
    {n_iter_}
    held_out_loss_ : dict of int to float
        Mean loss of the chosen candidate on the held-out sequences by the number of epochs, for each that `fit` evaluated.  With
        ``loss="auto"`` for chunks it is the mean number of chunks that are missed, or predicted where there are none.
    loss_ : str or SequenceLoss
        The parameter `loss`; for "auto", the chosen loss.
    temperature_, biases_ : float, and ndarray of shape (n_classes,)
        The calibration of scores, fitted to held-out sequences by `fit`, or by `calibrate`.
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    PredtronClassifier : Classifies rows one by one.
    sklearn_predtron.datasets.stack_sequences : Converts lists of sequences to rows and sid.
    sklearn_predtron.metrics.chunk_f1_score : F1 of chunks in BIO tags.

    Notes
    -----
    Collins (2002) and Shalev-Shwartz and Ben-David (2014, section 17.3), with inference that is exact for both losses.  To find
    the best sequence other than y takes one number a token in addition to the Viterbi recursion.  A round takes
    n_nonzero K + T K^2 operations.

    With scikit-learn's metadata routing on, `sid` is requested as `groups` by `fit`, `partial_fit`, `predict`, `predict_proba`,
    `decision_function` and `score`, so that ``GridSearchCV(..., cv=GroupKFold()).fit(X, y, groups=sid)`` splits, trains and
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
    (0.76, 0.63)
    """

    _keeps_sparse = False
    _epochs = 20
    _codec = Tokens
    _parameter_constraints: dict[str, list] = {
        **{name: kinds for name, kinds in BasePredtron._parameter_constraints.items() if name != "fit_intercept"},
        "loss": [str, SequenceLoss],
        "constraint": [StrOptions({"bio", "observed"}), "array-like", None],
        "cv": ACCEPTED,
        "intercept_scaling": [StrOptions({"auto", "length"}), Interval(Real, 0, None, closed="neither")],
        "transition_scaling": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
    }
    __metadata_request__fit = __metadata_request__partial_fit = __metadata_request__score = ROUTED
    __metadata_request__predict = __metadata_request__predict_proba = __metadata_request__decision_function = {"sid": "groups"}

    def __init__(
        self,
        *,
        loss: types.SequenceLossName | SequenceLoss = "auto",
        constraint: types.ConstraintName | types.Numbers | None = None,
        features: types.FeaturesName | FeatureMap | None = None,
        norm: types.TaggerNormName | Norm = "auto",
        update: types.UpdateName | Update = "adaptive",
        average: types.AverageName | float | None = None,
        cv: Any = None,
        max_iter: int | None = None,
        random_state: Any = None,
        tol: Patience | float | None = None,
        shuffle: bool = True,
        warm_start: bool = False,
        intercept_scaling: types.TaggerScalingName | float = "auto",
        transition_scaling: types.AutoName | float = "auto",
    ):
        self.loss = loss
        self.constraint = constraint
        self.features = features
        self.norm = norm
        self.update = update
        self.average = average
        self.cv = cv
        self.max_iter = max_iter
        self.random_state = random_state
        self.tol = tol
        self.shuffle = shuffle
        self.warm_start = warm_start
        self.intercept_scaling = intercept_scaling
        self.transition_scaling = transition_scaling

    # --------------------------------------------------------------------------------------------------------- learning

    @types.keeping_type(with_ids(SID))
    @types.keeping_type(with_callbacks)
    def fit(self, X: Any, y: Any, sid: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Learn from sequences in shuffled epochs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features)
            Tokens, those of a sequence in their order.  C-contiguous float32 and float64 arrays and CSR matrices are read without
            a copy, unless the tokens of a sequence are not contiguous: then they are gathered first.
        y : array-like of shape (n_tokens,)
            Labels.
        sid : array-like of shape (n_tokens,), default=None
            The sequence of each token.  None is one sequence, with a warning for more than one row; "one" is one sequence without
            a warning.  A data frame X may have it in a column "sid" instead.
        sample_weight : array-like of shape (n_tokens,), default=None
            Nonnegative weights, of which only ratios matter, the same for all tokens of a sequence; a sequence with zero weight
            counts as absent.

        Returns
        -------
        Self
            The fitted estimator.
        """
        return self._fit(X, y, sid=sid, sample_weight=sample_weight)

    def partial_fit(  # type: ignore[override]
        self, X: Any, y: Any, classes: Any = None, sid: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from whole sequences in the given order, one pass.

        The result is, to the last bit, the same for any way of splitting a stream of sequences into calls.  The same id in two
        calls counts as two sequences.

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
            Nonnegative weights, the same for all tokens of a sequence.

        Returns
        -------
        Self
            The estimator.
        """
        short = sample_weight is None and (sid is None or is_one(sid))
        stream = self._model.stream if short and self._model is not None else None
        if stream is not None and stream.take(X, y, classes):
            return self
        return self._partial_fit(X, y, classes=classes, sid=sid, sample_weight=sample_weight)

    def _reader(self) -> SequenceReader:
        allowed = None if self._model is None else self._model.labels.allowed
        return SequenceReader(type(self).__name__, self.constraint, self._automatic(), self.norm, allowed)

    def _automatic(self) -> tuple[str, ...]:
        """Return the names of the parameters that are "auto"."""
        values = {name: getattr(self, name) for name in USUAL}
        return tuple(name for name, value in values.items() if isinstance(value, str) and value == AUTO)

    def _chosen(self, labels: Any, name: str) -> Any:
        """Return a parameter, or its chosen value.

        "auto" has a chosen value.
        """
        return labels.chosen_or(name, getattr(self, name))

    def _read_labels(self, y: Any, classes: Any, known: Any, *, partial: bool) -> tuple[Codec, NDArray]:
        if known is None:
            return Tokens.first(y, classes, partial=partial)
        known.check_same(classes)
        return known, known.encode(y)

    def _widen_labels(self, labels: Any, classes: Any) -> tuple[Codec, list[int]]:
        return labels.with_more(classes, self.constraint)

    def _read_linear(self, reader: LinearModelReader) -> tuple[Codec, Linear]:
        scores, classes = reader.of_classes(), np.array(reader.model.classes_)
        labels = Tokens(classes, allowed_transitions(self.constraint, classes, None))
        return labels, scores.of_each_class(0.5)  # tokens always have offsets

    def _build_problem(self, labels: Any) -> ChainProblem:
        return sequence_loss(self._chosen(labels, LOSS)).build(
            float(self._chosen(labels, TRANSITIONS)), labels.classes, labels.allowed
        )

    def _intercept(self, labels: Any) -> Intercept:
        scaling = self._chosen(labels, INTERCEPT)
        return Intercept(True, AUTO if scaling == LENGTH else scaling)

    def _fixed_parameters(self) -> dict[str, Any]:
        return {INTERCEPT: self.intercept_scaling, TRANSITIONS: self.transition_scaling}

    # ----------------------------------------------------------------------------------------------------- fitted attributes

    @learned
    def loss_(self) -> Any:
        """The parameter `loss`; for "auto", the chosen loss."""
        return self._chosen(self._model.labels, LOSS)

    @learned
    def classes_(self) -> NDArray:
        """The labels, sorted."""
        return self._model.labels.classes

    transitions_ = of_transitions("transitions_", "of a label (row) before another (column) that predict")
    start_ = of_transitions("start_", "of first labels that predict")
    end_ = of_transitions("end_", "of last labels that predict")
    last_transitions_ = of_transitions("last_transitions_", "of a label (row) before another (column) in the last iterate")
    last_start_ = of_transitions("last_start_", "of first labels in the last iterate")
    last_end_ = of_transitions("last_end_", "of last labels in the last iterate")

    @learned
    def temperature_(self) -> float:
        """The fitted divisor of the scores; `fit` or `calibrate` has fitted it."""
        return token_calibration(self._model.fitted_decision).temperature

    @learned
    def biases_(self) -> NDArray:
        """The fitted biases, of shape (n_classes,).

        `fit` or `calibrate` has fitted them; they are added to scores before division.
        """
        return read_only(token_calibration(self._model.fitted_decision).biases)

    # -------------------------------------------------------------------------------------------------------- prediction

    def _scored(self, X: Any, sid: Any, method: str) -> ScoredSequences:
        """Return the sequences with their scores; errors name the given method."""
        model, reader = self._fitted_model(), self._reader()
        X, sid = reader.split_ids(X, sid)
        with model.learner.lock.reading():
            transitions = model.learner.read(lambda weights: weights.transitions(True))
            scores = model.scores(X)
        if len(scores) > 1:
            reader.check_ids_given(sid, method, model)
        sequences = reader.blocks(sid, len(scores))
        return ScoredSequences(model, sequences.take(scores), sequences, transitions)

    def _scored_and_labelled(self, X: Any, y: Any, sid: Any, method: str) -> tuple[ScoredSequences, TokenCodes]:
        """Return the sequences with their scores, and their true labels."""
        scored = self._scored(X, sid, method)
        return scored, self._reader().labels_of_blocks(y, scored.sequences, scored.model)

    def predict(self, X: Any, sid: Any = None, *, costs: Any = None) -> NDArray:
        """Predict the label of each token.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features)
            Tokens.
        sid : array-like of shape (n_tokens,), default=None
            The sequence of each token, here or in a column "sid" of X.  None is one sequence, and raises ValueError after a fit
            with several sequences; "one" is one sequence.
        costs : array-like of shape (n_classes, n_classes), dict or CostMatrix, default=None
            Costs of wrong tokens, as for `SequenceHamming`.  The prediction is then the sequence with the lowest expected cost
            under `predict_proba` among those that the constraint allows, instead of the sequence with the highest score.

        Returns
        -------
        ndarray of shape (n_tokens,)
            Labels of `classes_`.
        """
        scored = self._scored(X, sid, "predict")
        return scored.classes[scored.best_codes() if costs is None else scored.cheapest_codes(costs)]

    def predict_best(self, X: Any, sid: Any = None, *, n: int = 5) -> tuple[NDArray, NDArray]:
        """Predict the n best sequences of labels.

        They are found by list Viterbi (Seshadri and Sundberg 1994).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features)
            Tokens.
        sid : array-like of shape (n_tokens,), default=None
            The sequence of each token, as for `predict`.
        n : int, default=5
            Number of sequences of labels.

        Returns
        -------
        labels : ndarray of shape (n, n_tokens)
            Labels of `classes_`: row 0 is the result of `predict`, and row r the best sequences after r others.
        scores : ndarray of shape (n, n_sequences)
            Their scores S(y), in the order in which the sequences first appear.  If the constraint allows no more sequences, the
            score is -inf and the labels of the last one are repeated.
        """
        check_number_of_paths(n)
        return self._scored(X, sid, "predict_best").best_paths(n)

    def calibrate(self, X: Any, y: Any, sid: Any = None) -> Self:
        """Calibrate the scores on unseen sequences.

        The calibration is for `predict_proba` and for `predict` with `costs`.

        The probability of a sequence of labels is proportional to exp of its score, with a bias for each label, divided by a
        temperature.  Biases and temperature maximise the likelihood of y (Guo et al. 2017; Lafferty et al. 2001) on sequences of
        up to 20,000 tokens; `fit` does the same on held-out sequences.  Call it again after much use of `partial_fit`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features)
            Tokens of held-out sequences, from the distribution of later sequences.
        y : array-like of shape (n_tokens,)
            True labels, of `classes_`.
        sid : array-like of shape (n_tokens,), default=None
            The sequence of each token, as for `predict`.

        Returns
        -------
        Self
            The estimator, with `temperature_` and `biases_`.
        """
        with self._lock:
            scored, labels = self._scored_and_labelled(X, y, sid, "calibrate")
            found = scored.calibrator(labels, self.constraint)()
            self._model.fitted_decision = {**(self._model.fitted_decision or {}), **found}
        return self

    def _check_is_calibrated(self) -> bool:
        """Return True if the scores are calibrated; raise NotFittedError, which is an AttributeError, otherwise."""
        return bool(token_calibration(None if self._model is None else self._model.fitted_decision))

    @types.keeping_type(available_if(_check_is_calibrated))
    def predict_proba(self, X: Any, sid: Any = None) -> NDArray:
        """Compute each label's probability at each token.

        The probability is summed over all sequences of labels by forward-backward.

        The method exists after a `fit` that holds sequences out (see `cv`), or after `calibrate`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features)
            Tokens.
        sid : array-like of shape (n_tokens,), default=None
            The sequence of each token, as for `predict`.

        Returns
        -------
        ndarray of shape (n_tokens, n_classes)
            Probabilities, in the order of `classes_`.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_predtron import PredtronSequenceTagger
        >>> random = np.random.default_rng(0)
        >>> y = np.cumsum(random.random(3000) < 0.2) % 3
        >>> X, sid = np.eye(3)[y] + random.standard_normal((3000, 3)), np.arange(3000) // 20
        >>> model = PredtronSequenceTagger(random_state=0).fit(X[:1000], y[:1000], sid=sid[:1000])
        >>> P = model.predict_proba(X[2000:], sid=sid[2000:])
        >>> sure = P.max(axis=1) > 0.9
        >>> sure.mean().round(2), (P.argmax(axis=1) == y[2000:])[sure].mean().round(2)
        (np.float64(0.37), np.float64(0.96))
        """
        scored = self._scored(X, sid, "predict_proba")
        return scored.sequences.put_back(scored.probabilities())

    def decision_function(self, X: Any, sid: Any = None) -> NDArray:
        """Compute the max-marginals of labels.

        A max-marginal is the best score of a sequence with the label at the token, minus that of the best sequence.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features)
            Tokens.
        sid : array-like of shape (n_tokens,), default=None
            The sequence of each token, as for `predict`.

        Returns
        -------
        ndarray of shape (n_tokens, n_classes)
            At most 0, the value of the predicted label; -1e100 or less if the constraint allows no such sequence.
        """
        return self._scored(X, sid, "decision_function").marginals()

    def score(self, X: Any, y: Any, sid: Any = None, sample_weight: Any = None) -> float:
        """Compute the share of correctly labelled tokens.

        It does not depend on the loss.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features)
            Tokens.
        y : array-like of shape (n_tokens,)
            True labels; labels outside `classes_` count as wrong predictions.
        sid : array-like of shape (n_tokens,), default=None
            The sequence of each token, as for `predict`.
        sample_weight : array-like of shape (n_tokens,), default=None
            Weights of the tokens in the mean.

        Returns
        -------
        float
            At most 1, which is perfect.
        """
        check_labels_given(y, self._fitted_model().name)
        scored = self._scored(X, sid, "score")
        predicted = scored.classes[scored.best_codes()]
        y = one_dimensional(y)
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
            Values of the training loss, in the order in which the sequences first appear.
        """
        X, sid = self._reader().split_ids(X, sid)
        return self._loss_of(self._scored(X, sid, "sample_loss").best_codes(), y, sid)

    def _validation_loss(self, X: Any, y: Any, **ids: Any) -> NDArray:
        """Return the loss of each held-out sequence; `fit` compares numbers of epochs by it."""
        y = column_or_1d(y)  # `fit` has warned of a column
        if not self._model.labels.chooses_by_chunks:
            return self.sample_loss(X, y, **ids)
        return wrong_chunks(y.tolist(), self.predict(X, **ids).tolist(), self._reader().blocks(ids["sid"], len(y)))

    def _calibration_by(self, X: Any, y: Any, sid: Any = None, **ids: Any) -> Any:
        """Return a function that calibrates the scores on held-out sequences."""
        scored, labels = self._scored_and_labelled(X, column_or_1d(y), sid, "calibrate")
        return scored.calibrator(labels, self.constraint, few_tokens(len(self.classes_)))

    def _raw_predict(self, X: Any) -> NDArray:
        """Return the numbers of the labels of one sequence."""
        return self._scored(X, ONE, "predict").best_codes()

    def _loss_of(self, predicted: NDArray, y: Any, sid: Any = None) -> NDArray:
        """Return the loss of each sequence; the numbers of its labels are given."""
        model = self._fitted_model()
        labels, true = self._reader().beside_labels(predicted, y, sid, model)
        return sequence_loss(self.loss_).evaluate(true.array, labels, true.starts, model.labels.classes)

    # -------------------------------------------------------------------------------------------------------- the theory

    def margin(self, X: Any, y: Any, sid: Any = None) -> float:
        """Measure the margin of the weights at unit norm.

        The minimum, over the rounds (sequences, or parts of long ones), of S(y) minus the score of the best other sequence of
        labels.

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
        0.6
        """
        return float(self._margins(X, y, sid).min(initial=np.inf))

    def _margins(self, X: Any, y: Any, sid: Any = None) -> NDArray:
        scored, labels = self._scored_and_labelled(X, y, sid, "margin")
        return scored.margins(self._reader().in_rounds(labels), "leads_of_sequences")

    def _unit_margins(self, X: Any, y: Any, sid: Any = None) -> NDArray:
        """Return each sequence's margin per unit loss; it is at unit norm."""
        scored, labels = self._scored_and_labelled(X, y, sid, "margin")
        method = "leads_for_loss" if sequence_loss(self.loss_).additive else "leads_of_sequences"
        return scored.margins(self._reader().in_rounds(labels), method)

    def loss_bound(  # type: ignore[override]
        self,
        margin: float | None = None,
        radius: float | None = None,
        c_L: float | None = None,
        *,
        unit_margin: float | None = None,
    ) -> float:
        """Bound the loss suffered online.

        There is a bound if the theory of the parts has one.

        Parameters
        ----------
        margin : float, default=None
            Margin gamma > 0 of some unit-norm weights on the sequences (see `margin`).
        radius : float, default=None
            The largest length of a token, including the intercept's feature of length `intercept_scaling`.  None takes the value
            recorded by an update with eta="theory".
        c_L : float, default=None
            The least positive loss; None takes the value stated by the loss.
        unit_margin : float, default=None
            Instead of a margin, the margin for each unit of loss (see `theory.unit_margin`), the natural one for losses that add
            up: the bound then does not depend on the largest loss, and so not on the length of the sequences.

        Returns
        -------
        float
            The bound, which `cumulative_loss_` cannot exceed.  `theory.theorem_of` names the theorem, in which
            D^2 R^2 = T^2 q with q = 2 radius^2 + 8 transition_scaling intercept_scaling^2, T the longest sequence with an
            update.  With a unit margin g the bound of the perceptron is T q / (c_L g^2) if each wrong token costs c_L or more,
            and T^2 q / (c_L g^2) for other losses; the bounds of other updates have 1 / g instead of C_L / margin, and with
            target="constant" the bound is delta / (c_L g^2 eta).

        Examples
        --------
        >>> from sklearn_predtron import PredtronSequenceTagger
        >>> X, y, sid = [[2.0], [1.0], [-1.0], [1.0], [-2.0]], [1, 1, 0, 1, 0], [0, 0, 0, 1, 1]
        >>> model = PredtronSequenceTagger(intercept_scaling=1.0, update="perceptron", random_state=0).fit(X, y, sid=sid)
        >>> model.cumulative_loss_ <= model.loss_bound(model.margin(X, y, sid=sid), radius=5**0.5)
        True
        """
        if unit_margin is None:
            return LossBounds(self).loss_bound(margin, radius, c_L, None, None, None)
        if margin is not None:
            raise ValueError(f"loss_bound takes margin={margin} or unit_margin={unit_margin}, not both.")
        return LossBounds(self).unit_margin_bound(unit_margin, radius, c_L)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "tagger"
        return tags
