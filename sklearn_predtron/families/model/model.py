"""The fitted model, which scores rows in blocks; it is saved as names, numbers and arrays."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_predtron._core.averages import ChoosingAverage
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.problem import Problem
from sklearn_predtron._core.rows import Rows
from sklearn_predtron._support.parts import Part, resolve
from sklearn_predtron._support.version import __version__
from sklearn_predtron.decisions._base import PLAIN, Decision, HeldOut, UnseenRows, values_of_fit
from sklearn_predtron.families.input.reading import Batch, Columns, check_finite, read_rows, warn_of_format, why_length_refused
from sklearn_predtron.families.input.stream import Stream
from sklearn_predtron.families.model import model_parts
from sklearn_predtron.losses._row_costs import KnownCosts
from sklearn_predtron.norms import Auto, Norm
from sklearn_predtron.norms._sparse import SparseWeights
from sklearn_predtron.predictor._compiled_parts import FORMAT, compiled
from sklearn_predtron.predictor._scoring import Scorer

UNSAVED_FIELDS = ("stream", "is_current", "cached_decision", "parameters")  # fields that are not saved


@dataclass(eq=False)
class Model:
    """All fitted values of an estimator.

    A call reads only one model; apart from training rounds a model does not change.

    Parameters
    ----------
    name : str
        The estimator's name in errors.
    learner : Learner
        The weights, the problem, the update and the average, and the counts of rounds.
    labels : Codec
        Encodes labels and decodes predictions.
    columns : Columns
        The features.
    norm : str or Norm
        The norm of the weights, as it was given or as "auto" has chosen it.
    fixed : dict
        The parameters that cannot change while the weights live.
    loss : object
        The training loss as it was given; None for tables of costs, which the problem holds.
    training_parts : object
        The fingerprint of the parts in all rounds; "several" if they changed, "a model" for weights of a linear model.
    first_sparse : bool or None
        Whether the rows that fixed norm="auto" are sparse; None if it no longer matters.
    fitted_decision : dict or None
        The values of the decision that were fitted at the end of a fit, by name.
    call_metadata : object
        The reader's metadata of the calls so far.
    fit_record : dict
        The values that `fit` records, by the names of attributes.
    importances : tuple of two ndarrays, or None
        The columns with importances above 0 in the last `fit`, and these importances, if there are any.
    stream : Stream or None
        The fast path for rows as they come.
    is_current : bool
        Whether the learner was built from the estimator's present parameters.
    cached_decision : tuple
        The identities of the parameters and of their parts, and the decision that was built from them.
    parameters : object
        Another object after each change of parameters.
    """

    name: str
    learner: Learner
    labels: Any
    columns: Columns
    norm: Any
    loss: Any
    fixed: dict[str, Any]
    training_parts: Any
    first_sparse: bool | None = None
    fitted_decision: Any = None
    call_metadata: Any = None
    fit_record: dict[str, Any] = field(default_factory=dict)
    importances: tuple[NDArray, NDArray] | None = None
    stream: Stream | None = None
    is_current: bool = False
    cached_decision: tuple[Any, Any, Any] = (None, None, None)
    parameters: Any = field(default_factory=object)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields without those of the process; subclasses are pickled as they are."""
        return {**vars(self), **initial_unsaved_fields()}

    def replace(self, **changes: Any) -> Model:
        """Return a copy with some other fields; its fast path is closed."""
        return replace(self, **{**initial_unsaved_fields(), **changes})

    def in_progress(self) -> Model:
        """Return a copy with a learner of its own; its training can be undone."""
        return replace(self, learner=self.learner.copied(), stream=None)

    def sparse_weights(self, norm: Norm, least: float) -> SparseWeights:
        """Return the weights that predict, without small ones.

        Those of at most a share `least` of the largest one are left out.
        """
        weights: Any = self.learner.weights
        W, b = self.learner.read(lambda weights: weights.mean())
        W = W.toarray() if sparse.issparse(W) else W
        W = np.where(np.abs(W) > least * np.abs(W).max(), W, 0.0)
        r2 = weights.intercept.squared_length
        size = norm.length(W, b / r2**0.5 if r2 > 0 else b[:0], apart=False)
        how = weights.intercept, weights.score_map, bool(weights.by_feature or weights.small_pages), weights.averaging, size
        kept = sparse.csc_array(W)
        return SparseWeights(*W.shape, *how, kept.indptr.astype(np.intp), kept.indices.astype(np.intc), kept.data, b)

    def learner_with(self, weights: Any) -> Learner:
        """Return a copy of the learner with other weights; they predict the same."""
        return self.learner.with_weights(weights, self.problem, self.learner.observer)

    @property
    def problem(self) -> Any:
        """The compiled problem."""
        return self.learner.problem

    def decision_of(self, decide: Callable[[Any, Any], Decision]) -> Decision:
        """Return the decision of the present parameters.

        It also depends on the labels and the reader's metadata; it is cached.
        """
        parameters, change, (decided_by, decided_at, decision) = self.parameters, Part.last_change, self.cached_decision
        if decided_by is not parameters or decided_at is not change:
            decision = decide(self.labels, self.call_metadata)
            self.cached_decision = parameters, change, decision
        return decision

    def current_decision(self, decide: Callable[[Any, Any], Decision]) -> Decision:
        """Return the decision with all its present values; they are fitted or observed at this moment."""
        return self.of_unseen_rows(self.decision_of(decide).fitted)

    def of_unseen_rows(self, function: Callable[[UnseenRows], Any]) -> Any:
        """Return a function of the learner's unseen rows, which are as of one round."""
        with self.learner.lock.reading():
            return function(UnseenRows.of(self.learner, self.fitted_decision))

    def current_cut(self, decide: Callable[[Any, Any], Decision]) -> Decision:
        """Return the current decision if it shifts scores; otherwise it is plain decoding."""
        return self.current_decision(decide) if self.decision_of(decide).shifts else PLAIN

    def close_stream(self) -> None:
        """Close the fast path, and drop the cached decision; the parameters change."""
        self.is_current, self.parameters = False, object()
        if self.stream is not None:
            self.stream.close()
            self.stream = None

    def continued(self, labels: Any, call_metadata: Any) -> Model:
        """Return a copy for a new call; it has the labels and the reader's metadata of that call, under the same parameters."""
        same = labels is self.labels and (call_metadata is self.call_metadata or not isinstance(call_metadata, KnownCosts))
        decision = self.cached_decision if same else (None, None, None)
        return replace(self, labels=labels, call_metadata=call_metadata, cached_decision=decision)

    # ----------------------------------------------------------------------------------------------------------------- rows

    def read_rows(self, X: Any) -> tuple[Any, Rows]:
        """Validate X, and return it with its rows; they are read in place."""
        return read_rows(X, self.columns, self.name)[:2]

    def features_of(self, X: Any) -> Any:
        """Return X in the form for the learner; a table is mapped to its features."""
        X, rows = self.read_rows(X)
        self.check_finite(X, rows)
        return rows.matrix() if rows.made else X

    def check_finite(self, X: Any, rows: Rows) -> None:
        """Raise ValueError for NaN and infinity."""
        check_finite(X, rows, self.name)

    def check_rows(self, X: Any, rows: Rows) -> None:
        """Raise ValueError for rows that cannot be trained on; this does not depend on the weights."""
        row = self.learner.weights.first_refused(rows)
        if row >= 0:
            self.check_finite(X, rows)
            raise ValueError(why_length_refused(rows, row, self.norm))

    def warn_of_other_format(self, rows: Rows, norm: Any) -> None:
        """Warn once of rows in another format; the format of the first rows fixed norm="auto"."""
        first = self.first_sparse
        if first is not None and rows.sparse != first and isinstance(resolve(Norm, norm, "norm"), Auto):
            warn_of_format(first, self.norm, rows.sparse)
            self.first_sparse, self.stream = None, None  # the fast path takes rows of the first format only

    # --------------------------------------------------------------------------------------------------------------- scores

    def own_problem(self) -> Any:
        """Return the problem with its own scratch memory; the caller may be one of several threads."""
        return copy.copy(self.problem)

    def weights_to_predict(self, decide: Callable[[Any, Any], Decision]) -> tuple[Any, NDArray]:
        """Return coefficients and offsets; the shift of the decision is subtracted from the offsets; both are as of one round."""
        with self.learner.lock.reading():
            coef, offsets = self.learner.read(lambda weights: weights.mean())
            shift = self.current_cut(decide).shift(self.problem)
        return coef, offsets if shift is None else offsets - shift

    def scores(self, X: Any, decision: Decision = PLAIN) -> NDArray:
        """Return scores of shape (n_samples, d); they are by the weights that predict, minus the shift of a decision."""
        return self.scorer(*self._read_rows_to_predict(X)).scores(decision)

    def decoded(self, X: Any, decision: Decision, pack: Callable[[Any], Any] = np.asarray) -> Any:
        """Return a decision's predictions, one for each row; each block of predictions is packed before the next."""
        return self.scorer(*self._read_rows_to_predict(X)).decoded(decision, pack)

    def scorer(self, X: Any, rows: Rows) -> Scorer:
        """Return the scorer of rows, which are those of X."""
        return Scorer(self.learner, self.fitted_decision, rows, partial(self.check_finite, X, rows))

    def _read_rows_to_predict(self, X: Any) -> tuple[Any, Rows]:
        X, rows = self.read_rows(X)
        if self.learner.weights.expansion is not None:  # a kernel may be finite where X is not
            self.check_finite(X, rows)
        return X, rows

    def fill_scores(self, predictor: Any, X: Any, rows: Rows, scores: NDArray) -> NDArray:
        """Fill in the scores of all rows; they are computed by a learner or by its predictor."""
        return self.scorer(X, rows).fill(predictor, 0, scores)

    def losses(self, scores: NDArray, labels: Any) -> NDArray:
        """Return the training loss of each list or block; the scores of its rows are given."""
        return self.own_problem().losses(scores, labels)

    def margins(self, scores: NDArray, labels: Any, *how: Any) -> NDArray:
        """Return each list's or block's margin; it is at unit norm."""
        return self.at_unit_norm(self.own_problem().margins(scores, labels, *how))

    def at_unit_norm(self, margins: NDArray) -> NDArray:
        """Return margins at unit norm; they are under weights that predict the same; nan where these are zero."""
        length = self.learner.read(lambda weights: weights.length())
        return margins / length if length > 0 else np.full(len(margins), np.nan)

    # ------------------------------------------------------------------------------------------------------------- decisions

    def check_after_first_epoch(self) -> None:
        """Raise ValueError if scores are too poor for probabilities.

        They are poor if they are only those of the first of several epochs.
        """
        recorded_at = (self.fitted_decision or {}).get("first_epoch")
        if recorded_at is not None and recorded_at == getattr(self.learner.observer, "recorded", None):
            raise ValueError(
                "predict_proba needs scores of held-out rows, and cv=0 with several epochs has none.  Call fit with cv=None or "
                "max_iter=1, or continue with partial_fit."
            )

    def fit_decision(self, decision: Decision, held_out: HeldOut | None, p: int) -> None:
        """Fit a decision to scores of held-out rows; the rows have p features; without them it observes the rows to come."""
        problem, update, average, _ = self.learner.parts()
        learner = self.learner.with_parts(problem, update, average, decision.observer(problem, None))
        set_recording_interval(learner, p)
        self.fitted_decision = None if held_out is None else values_of_fit(decision, learner, held_out)
        self.learner = learner

    def fit_decision_on_rows(self, decision: Decision, batch: Batch) -> None:
        """Fit a decision that needs training scores."""
        if decision.on_rows:
            X, rows = self.read_rows(batch.X)
            scores = self.fill_scores(self.learner, X, rows, np.empty((rows.n, self.problem.d)))
            self.fitted_decision = {**(self.fitted_decision or {}), **decision.after_rows(scores, batch)}

    # --------------------------------------------------------------------------------------------------------------- saving

    def packed(self) -> dict[str, Any]:
        """Return a saved model's content, of one round; it consists of the format, and plain names, numbers and arrays."""
        self.learner.read(lambda weights: None)  # completes updates that an interrupt has left undone, which the section cannot
        compiled()  # imports modules the first time, which would take too long inside the section
        with self.learner.lock.reading():
            kept = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name not in UNSAVED_FIELDS}
            parts = model_parts.pack(kept)
        return {"format": FORMAT, "version": __version__, "parts": parts}

    @classmethod
    def unpacked(cls, saved: Any) -> Model:
        """Return the saved model; its parts are checked as they are built."""
        return model_parts.unpack(saved, cls)


def initial_unsaved_fields() -> dict[str, Any]:
    """Return initial values of fields that are not saved."""
    return {"stream": None, "is_current": False, "cached_decision": (None, None, None), "parameters": object()}


FEW_WEIGHTS, FEW_OF_SEVERAL = 4096, 256
RARELY, LEAST_OFTEN, WRITTEN_A_ROUND = 8, 64, 8192  # rounds between two evaluations at most, and weights written for them


def evaluation_interval(problem: Problem, p: int) -> int:
    """Return the evaluation interval of ``average="auto"``.

    It is the number of rounds after which the candidates are evaluated; p is the rows' width.

    The interval is 1 unless their scores cost as much as a round.  A round that is a query has rows enough that they never do.
    """
    few = problem.d * p <= (FEW_WEIGHTS if problem.d == 1 else FEW_OF_SEVERAL)
    costly = problem.in_python or (problem.score_map.of_blocks and not problem.score_map.offsets_cancel)
    if not costly and (few or problem.score_map.offsets_cancel):
        return 1
    return min(max(8, problem.score_map.written_for_means(p) // WRITTEN_A_ROUND), LEAST_OFTEN)


def set_recording_interval(learner: Learner, p: int) -> None:
    """Set how often an observer records scores.

    They are the scores that predict.  They are rarely recorded if they are not computed anyway.
    """
    if learner.observer is not None:
        of_averages = learner.weights.averaging and not isinstance(learner.average, ChoosingAverage)
        learner.observer.sparingly(max(RARELY if of_averages else 1, evaluation_interval(learner.problem, p)))
