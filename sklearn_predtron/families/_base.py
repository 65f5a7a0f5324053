"""What all estimators share: `fit` and `partial_fit`, which leave an estimator as it was if they fail.  It knows no loss."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._compat import with_callbacks
from sklearn_predtron._core.learner import Observer
from sklearn_predtron._typing import keeping_type
from sklearn_predtron.families._composition import Composed
from sklearn_predtron.families._epochs import Trained
from sklearn_predtron.families._fast_path import LabelReader, Stream
from sklearn_predtron.families._fitted import AfterFit, Fitted
from sklearn_predtron.families._prediction import Predicting
from sklearn_predtron.families._saved import Saved
from sklearn_predtron.families._validation import Batch
from sklearn_predtron.families._widening import Widened
from sklearn_predtron.norms import Norm
from sklearn_predtron.problems._base import Labels, Problem

if TYPE_CHECKING:
    from sklearn_predtron._typing import Self


class BasePredtron(Saved, Trained, Widened, Predicting, Composed, Fitted):
    """A mistake-driven online learner.

    A family says how labels are read (`_read_labels`) and what the compiled problem is (`_build_problem`).
    """

    _epochs = 10
    loss_curve_: Any = AfterFit()
    n_iter_: Any = AfterFit()
    n_features_in_: Any = AfterFit("is the number of columns of X, and with joint features X has none")

    # ------------------------------------------------------------------------------------------- what a family defines

    def _read_labels(self, y: Any, classes: Any, *, fresh: bool, partial: bool) -> Labels:
        """Check y, set what is known of the labels, and hand them to the loop."""
        raise TypeError(f"{type(self).__name__} does not define _read_labels(); a family must.")

    def _build_problem(self) -> Problem:
        """Build the compiled problem of the present parameters and labels."""
        raise TypeError(f"{type(self).__name__} does not define _build_problem(); a family must.")

    def _label_weight(self, labels: Labels, weight: NDArray | None, *, partial: bool) -> NDArray | None:
        """Return the weight of each row that follows from its label."""
        return None

    def _build_observer(self, problem: Any, observer: Observer | None) -> Observer | None:
        """Return the observer of progressive predictions, reusing the present one."""
        return None

    def _after_epochs(self, batch: Batch) -> None:
        """Choose what is chosen by a data set once it is learned."""

    def _after_shards(self) -> None:
        """Say what is not chosen where no data set is there as a whole."""

    def _holds_out(self, batch: Batch) -> bool:
        """Return whether a fit is to end with folds that show the rows as held out; else its first epoch does."""
        return False

    def _hold_out(self, batch: Batch) -> None:
        """Give the learner of a data set, new until then, an observer that is shown the rows as held out."""

    def _build_reader(self) -> LabelReader | None:
        """Build the reader of labels, once it is known what they are; None if there is no short way to them."""
        return None

    def _stream_reader(self) -> LabelReader | None:
        """Return the reader of the short way, which knows the weights of labels as well."""
        return self._build_reader()

    # --------------------------------------------------------------------------------------------------------- learning

    @keeping_type(with_callbacks)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a data set in shuffled epochs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.  C-contiguous float32 and float64 arrays and CSR matrices are read where they lie, whatever the order of the
            entries; CSR rows that hold a feature twice are summed in a copy.  A row is zeros or of a length from 1e-140 to
            1e140; others are an error.
        y : array-like of shape (n_samples,), or {array-like, sparse matrix} of shape (n_samples, n_labels)
            Labels; sets of labels as an indicator matrix of zeros and ones, relevances as numbers of at least 0.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, not negative, of which only ratios matter; a row of weight 0 is as if it were absent.  In shuffled epochs a
            row appears in proportion to its weight; in the given order the weight multiplies its step.

        Returns
        -------
        Self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight=sample_weight)

    def _fit(self, X: Any, y: Any, **given: Any) -> Self:
        """Fit, unless another call learns."""
        with self._busy, np.errstate(under="ignore"):  # 0 is what is meant where numbers underflow, and range is checked
            return self._fit_alone(X, y, **given)

    def _fit_alone(self, X: Any, y: Any, **given: Any) -> Self:
        """Fit, while no other call learns."""
        before = self._fitted_state()
        stream, mixing = self.__dict__.pop("_stream", None), self.__dict__.pop("_mixing", None)
        learner, rounds, done = None, 0, False
        try:
            self._validate_params()
            fresh = not (self.warm_start and hasattr(self, "_learner"))
            if not fresh:
                self._learner = copy.deepcopy(self._learner)  # what it was is given back if the call fails
            batch = self._read(X, y, fresh=fresh, **given)
            self._prepare_learner(batch.rows, batch.labels, fresh=fresh, partial=False)
            # A new learner finds out in its first epoch, of rows in their turn, but for rows that are not drawn; kernels, of a
            # block at a time, may hide them.
            unchecked = fresh and batch.weight is None and self._learner.weights.expansion is None
            if not unchecked:
                self._check_rows(batch.X, batch.rows)
            self._note_format(batch.rows)
            learner, rounds = self._learner, self._learner.t
            metadata = self._shown_to_callbacks(given) or None
            if mixing is None:
                folds = fresh and self._holds_out(batch)
                self._run_epochs(batch, y, metadata, unchecked=unchecked, folds=folds)
                done = True
                if folds:
                    self._hold_out(batch)
            else:
                mixing(self, batch)
        except BaseException as error:
            # Where rows were refused, then or in a fold, and where nothing was learned: the rows were no good from the start.
            refused = learner is not None and (done or learner.refused) and isinstance(error, Exception)
            if learner is None or learner.t == rounds or refused:
                self._restore(before)
            elif stream is not None:
                stream.close()
            raise
        finally:
            if learner is not None:
                learner.weights.close_fit()
        if stream is not None:
            stream.close()
        if self.average is not None:  # else it means another in a stream
            self._stream = self._open_stream()
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows in the given order, one pass.

        The result is, to the last bit, the same for any way of splitting a stream into calls.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs, of lengths as for `fit`.  Where a step overflows nonetheless the rounds before it are kept, as the error says.
        y : array-like of shape (n_samples,), or {array-like, sparse matrix} of shape (n_samples, n_labels)
            Labels; sets of labels as an indicator matrix of zeros and ones, relevances as numbers of at least 0.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever occur; required by the first call of a classifier, unless its `categories` or an
            indicator matrix say what they are (whose labels have the values 0 and 1, in any of the forms that scikit-learn
            takes).
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, not negative; a row of weight 0 is as if it were absent.  A weight relative to the mean of those so far
            multiplies the cap of the step.

        Returns
        -------
        Self
            The estimator.
        """
        stream = self.__dict__.get("_stream")
        if stream is not None and classes is None and sample_weight is None and stream.take(X, y):
            return self
        return self._partial_fit(X, y, classes=classes, sample_weight=sample_weight)

    def _partial_fit(self, X: Any, y: Any, **given: Any) -> Self:
        """Learn from a batch, unless another call learns."""
        with self._busy, np.errstate(under="ignore"):
            return self._partial_fit_alone(X, y, **given)

    def _partial_fit_alone(self, X: Any, y: Any, **given: Any) -> Self:
        """Learn from a batch, while no other call learns."""
        mixing = self.__dict__.pop("_mixing", None)
        before = self._fitted_state()
        resolved = "_stream" in before
        learner = before.get("_learner")
        rounds = 0 if learner is None else learner.t
        averages = 0 if learner is None else learner.weights.averaging
        try:
            if not resolved:
                self._validate_params()
            batch = self._read(X, y, fresh=learner is None, partial=True, **given)
            if not resolved:
                self._prepare_learner(batch.rows, batch.labels, fresh=learner is None, partial=True)
            self._check_rows(batch.X, batch.rows)
            self._note_format(batch.rows)
            if not resolved:
                self._begin_stream()
            if mixing is None:
                self._learn(batch)
            else:
                mixing(self, batch)
        except BaseException:
            if "_learner" not in self.__dict__ or self._learner.t == rounds:  # nothing was learned
                self._restore(before)
                if learner is not None:
                    with learner.lock.changing():
                        learner.weights.keep_averages(averages)
            raise
        if "_stream" not in self.__dict__:
            self._stream = self._open_stream()
        return self

    def _open_stream(self) -> Stream | None:
        """Open the short way for rows as they come, if the family has one."""
        reader = None if hasattr(self, "feature_names_in_") else self._stream_reader()
        return None if reader is None else Stream(self._learner, reader, self._busy, self.__dict__.get("_first_sparse"))

    def _begin_stream(self) -> None:
        """Call the callbacks that have a hook for streams; scikit-learn's own hooks are for `fit`."""
        for callback in getattr(self, "_skl_callbacks", ()):
            if hasattr(callback, "on_stream_begin"):
                callback.on_stream_begin(self)

    def _shown_to_callbacks(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the metadata of the callbacks' scorers."""
        return {name: value for name, value in given.items() if value is not None}

    def _learn(self, batch: Batch) -> None:
        """Learn from the rows in their order."""
        before = self._learner.t
        refused = self._learner.learn(batch.rows, batch.labels, batch.order, batch.weight)
        if refused >= 0:
            self._check_rows(batch.X, batch.rows)
            raise ValueError(self._learner.why_refused(refused, before))

    # ------------------------------------------------------------------------------------------------------ fitted state

    def _fitted_state(self) -> dict[str, Any]:
        """Return what a call may change, by name."""
        kept = {*self._get_param_names(), "_flag"}
        return {name: value for name, value in vars(self).copy().items() if name not in kept and "callback" not in name}

    def _restore(self, before: dict[str, Any]) -> None:
        """Take back what a call has changed, and never what others may be reading meanwhile."""
        self.__dict__.update(before)
        for name in self._fitted_state().keys() - before.keys():
            del self.__dict__[name]

    def _as_of_now(self) -> Self:
        """Return an estimator with what this one has learned, of one moment: another thread may widen this one meanwhile."""
        now = object.__new__(type(self))
        now.__dict__.update(vars(self).copy())
        return now

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.norm, Norm) and self.norm.pairwise
        tags.target_tags.required = True
        return tags
