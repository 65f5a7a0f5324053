"""What all estimators share: validation, epochs, streams, averages, bookkeeping.  It knows no loss."""

from __future__ import annotations

import copy
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_predtron._compat import CachedParameterNames, Interval, StrOptions, check_sample_weight
from sklearn_predtron._core.busy import BUSY, Busy
from sklearn_predtron._core.learner import Average, Learner, LinearAverage, Observer
from sklearn_predtron._core.rows import LARGEST_LENGTH, LEAST_LENGTH, OVERFLOW, Rows, dense_rows, sparse_rows
from sklearn_predtron._names import no_parameter, refuse_class, without_parameters
from sklearn_predtron._parts import Part, kinds, resolve
from sklearn_predtron._version import __version__
from sklearn_predtron.families._bounded import Bounded
from sklearn_predtron.families._epochs import Epochs
from sklearn_predtron.families._fast_path import Stream, plain_rows
from sklearn_predtron.families._fitted import AfterFit, Fitted
from sklearn_predtron.families._saved import FORMAT, format_of, pack, unpack
from sklearn_predtron.norms import Norm
from sklearn_predtron.norms._base import Weights, euclidean_length
from sklearn_predtron.norms._intercept import Intercept
from sklearn_predtron.problems._base import Labels, Problem
from sklearn_predtron.updates import Update, build_rule
from sklearn_predtron.updates._bounds import fingerprint

PARTS = {"loss", "norm", "problem", "representation", "update"}
AVERAGES = {"linear": LinearAverage, "uniform": Average}


class BasePredtron(Bounded, Fitted, CallbackSupportMixin, CachedParameterNames):
    """A mistake-driven online learner.

    A family says how labels are read (`_read_labels`) and what the compiled problem is (`_build_problem`).
    """

    _parameter_constraints: dict[str, list] = {
        "norm": [str, Norm],
        "update": [str, Update],
        "average": [StrOptions({"linear", "uniform"}), Interval(Real, 0, None, closed="neither"), "boolean"],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
    }
    _epochs = 10
    loss_curve_: Any = AfterFit()
    n_iter_: Any = AfterFit()
    n_features_in_: Any = AfterFit()

    # ------------------------------------------------------------------------------------------- what a family defines

    def _read_labels(self, y: Any, classes: Any, *, fresh: bool, partial: bool) -> Labels:
        """Check y, set what is known of the labels, and hand them to the loop."""
        raise TypeError(f"{type(self).__name__} does not define _read_labels(); a family must.")

    def _build_problem(self) -> Problem:
        """The compiled problem of the present parameters and labels."""
        raise TypeError(f"{type(self).__name__} does not define _build_problem(); a family must.")

    def _label_weight(self, labels: Labels, weight: NDArray | None, *, partial: bool) -> NDArray | None:
        """The weight of each row that follows from its label."""
        return None

    def _build_observer(self, problem: Any, observer: Observer | None) -> Observer | None:
        """What is shown the predictions made along the way, given the one so far."""
        return None

    def _open_stream(self) -> Stream | None:
        """The short way for single rows, where the family has one."""
        return None

    # --------------------------------------------------------------------------------------------------------- learning

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BasePredtron:
        """Learn from a data set in shuffled epochs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.  C-contiguous float32 and float64 arrays and CSR matrices are read where they lie.  A row is zeros or of a
            length from 1e-140 to 1e140; others are an error.
        y : array-like of shape (n_samples,), or {array-like, sparse matrix} of shape (n_samples, n_labels)
            Labels; sets of labels as an indicator matrix of zeros and ones, relevances as numbers of at least 0.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, not negative, of which only ratios matter; a row of weight 0 is as if it were absent.  In shuffled epochs a
            row appears in proportion to its weight; in the given order the weight multiplies its step.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight=sample_weight)

    @property
    def _busy(self) -> Busy:
        """Return the flag of the call that learns, one for the life of the estimator."""
        flag = self.__dict__.get("_flag")
        return self.__dict__.setdefault("_flag", Busy()) if flag is None else flag

    def _fit(self, X: Any, y: Any, **given: Any) -> BasePredtron:
        with self._busy:
            return self._fit_alone(X, y, **given)

    def _fit_alone(self, X: Any, y: Any, **given: Any) -> BasePredtron:
        """Fit, while no other call learns."""
        before = self._fitted_state()
        stream = self.__dict__.pop("_stream", None)
        learner, rounds = None, 0
        try:
            self._validate_params()
            fresh = not (self.warm_start and hasattr(self, "_learner"))
            if not fresh:
                self._learner = copy.deepcopy(self._learner)  # what it was is given back if the call fails
            X, rows, labels, weight, order = self._read(X, y, fresh=fresh, **given)
            self._prepare_learner(rows, labels, fresh)
            # A new learner finds out in its first epoch, of rows in their turn, but for rows that are not drawn; kernels, of a
            # block at a time, may hide them.
            unchecked = fresh and weight is None and self._learner.weights.expansion is None
            if not unchecked:
                self._check_rows(X, rows)
            learner, rounds = self._learner, self._learner.t
            metadata = self._shown_to_callbacks(given) or None
            self._run_epochs(X, y, metadata, rows, labels, weight, order, unchecked)
        except BaseException as error:
            # Where rows were refused, and where nothing was learned: the rows, or the problem, were no good from the start.
            refused = learner is not None and learner.refused and isinstance(error, Exception)
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
        self._stream = self._open_stream()
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> BasePredtron:
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
        self : object
            The estimator.
        """
        stream = self.__dict__.get("_stream")
        if stream is not None and classes is None and sample_weight is None and stream.take(X, y):
            return self
        return self._partial_fit(X, y, classes=classes, sample_weight=sample_weight)

    def _partial_fit(self, X: Any, y: Any, **given: Any) -> BasePredtron:
        with self._busy:
            return self._partial_fit_alone(X, y, **given)

    def _partial_fit_alone(self, X: Any, y: Any, **given: Any) -> BasePredtron:
        """Learn from a batch, while no other call learns."""
        before = self._fitted_state()
        resolved = "_stream" in before
        learner = before.get("_learner")
        parts, history, rounds = ((), None, 0) if learner is None else (learner.parts(), learner.history, learner.t)
        try:
            if not resolved:
                self._validate_params()
            X, rows, labels, weight, order = self._read(X, y, fresh=learner is None, partial=True, **given)
            if not resolved:
                self._prepare_learner(rows, labels, fresh=learner is None)
            self._check_rows(X, rows)
            if not resolved:
                self._begin_stream()
            self._learn(X, rows, labels, order, weight)
        except BaseException:
            if "_learner" not in self.__dict__ or self._learner.t == rounds:  # nothing was learned
                self._restore(before)
                if learner is not None:
                    learner.change(*parts)
                    learner.record(history)
            raise
        if not resolved:
            self._stream = self._open_stream()
        return self

    def _begin_stream(self) -> None:
        """Call the callbacks that have a hook for streams; scikit-learn's own hooks are for `fit`."""
        for callback in getattr(self, "_skl_callbacks", ()):
            if hasattr(callback, "on_stream_begin"):
                callback.on_stream_begin(self)

    def _read(
        self, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None, fresh: bool, partial: bool = False
    ) -> tuple[Any, Rows, Labels, NDArray | None, NDArray | None]:
        """Check the arguments; X, its rows, the labels, the weights, and the order if rows are left out."""
        self._check_labels_given(y)
        X, rows = self._read_rows(X, reset=fresh)
        labels = self._read_labels(y, classes, fresh=fresh, partial=partial)
        check_lengths(rows.n, labels.n)
        weight = None
        if sample_weight is not None:
            weight = check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True, allow_all_zero_weights=True
            )
            weight = np.ascontiguousarray(weight)
        of_label = self._label_weight(labels, weight, partial=partial)
        if of_label is not None:
            weight = of_label if weight is None else product(weight, of_label)
        order = None
        if weight is not None and not weight.all():
            order = np.flatnonzero(weight)
            if len(order) == 0 and not partial:
                raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
        return X, rows, labels, weight, order

    def _read_rows(self, X: Any, *, reset: bool) -> tuple[Any, Rows]:
        """Check X and read it in place; its values may still be NaN or infinite."""
        rows = plain_rows(X)
        if rows is not None and reset:
            self.n_features_in_ = rows.p
            self.__dict__.pop("feature_names_in_", None)
        elif rows is None or rows.p != self.n_features_in_ or hasattr(self, "feature_names_in_"):
            X = validate_data(
                self,
                X,
                reset=reset,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                order="C",
                ensure_all_finite=False,
            )
            rows = as_rows(X)
        return X, rows

    def _rows_and_labels(self, X: Any, y: Any) -> tuple[Any, Labels]:
        """Rows, finite, and labels, in the order of the rounds."""
        X, rows = self._read_rows(X, reset=False)
        self._check_finite(X, rows)
        labels = self._read_labels(y, None, fresh=False, partial=True)
        check_lengths(rows.n, labels.n)
        return X, labels

    def _check_labels_given(self, y: Any) -> None:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")

    def _check_finite(self, X: Any, rows: Rows) -> None:
        if not rows.finite():
            assert_all_finite(X.data if sparse.issparse(X) else X, estimator_name=type(self).__name__, input_name="X")

    def _check_rows(self, X: Any, rows: Rows) -> None:
        """Refuse rows that cannot be learned from, whatever the weights."""
        row = self._learner.weights.first_refused(rows)
        if row >= 0:
            self._check_finite(X, rows)
            raise ValueError(self._length_refused(rows, row))

    def _length_refused(self, rows: Rows, row: int) -> str:
        """What is wrong with the length of a row."""
        values = rows.matrix()[[row]]
        values = np.asarray(values.data if sparse.issparse(values) else values, dtype=np.float64)
        number, length = row if rows.row_numbers is None else rows.row_numbers[row], euclidean_length(values)
        return (
            f"X[{number}] has the length {length:.3g}, and {np.abs(values).max():.3g} is its largest magnitude; "
            f"norm={self.norm!r} learns from rows of lengths from {LEAST_LENGTH:g} to {LARGEST_LENGTH:g}, and of zeros: scale "
            "the features."
        )

    def _prepare_learner(self, rows: Rows, labels: Labels, fresh: bool) -> None:
        problem = self._build_problem()
        problem.prepare(labels)
        observer = self._build_observer(problem, None if fresh else self._learner.observer)
        update = self._build_update(problem)
        average = self._build_average()
        if fresh:
            weights = self._build_weights(problem, rows, average=average is not None)
            self._learner = Learner(weights, problem, update, average or Average())
            self._learner.change(problem, update, average, observer)
            self._fixed, self._learned_with = self._fixed_parameters(), fingerprint(problem, update)
        else:
            self._change_parts(problem, update, average, observer)

    def _build_weights(self, problem: Problem, rows: Rows, *, average: bool) -> Weights:
        norm, intercept = resolve(Norm, self.norm, "norm"), self._build_intercept()
        return problem.score_map.build(norm, rows.p, intercept, sparse=rows.sparse, average=average)

    def _build_update(self, problem: Problem) -> Any:
        return build_rule(resolve(Update, self.update, "update", lambda update: build_rule(update, problem)), problem)

    def _build_intercept(self) -> Intercept:
        return Intercept(self.fit_intercept, self._scaling())

    def _change_parts(self, problem: Problem, update: Any, average: Average | None, observer: Observer | None) -> None:
        """Take over what set_params changed since the last call."""
        learner = self._learner
        self._check_fixed()
        if problem.d != learner.problem.d or type(problem.score_map) is not type(learner.problem.score_map):
            raise ValueError(
                f"representation={self.representation!r} has {number_of_scores(problem)} and the weights so far have "
                f"{number_of_scores(learner.problem)}; call fit to start anew."
            )
        if type(update) is type(learner.update):
            update.restore(learner.update.state())
        if learner.weights.averaging != (average is not None):
            self._learner = learner = copy.deepcopy(learner)  # others may be reading the average
            if average is None:
                learner.weights.stop_average()
            else:
                learner.weights.start_average()
        learner.change(problem, update, average, observer)
        if learner.t > 0 and self._differs(problem, update):
            self._learned_with = "several"

    def _check_fixed(self) -> None:
        """Refuse parameters that changed and cannot."""
        for name, value in self._fixed_parameters().items():
            if value != self._fixed[name]:
                raise ValueError(
                    f"{name} cannot change from {self._fixed[name]!r} to {value!r} once learning has begun; "
                    "call fit to start anew."
                )

    def _fixed_parameters(self) -> dict[str, Any]:
        """What the weights are made of, and so cannot change while they live."""
        return {
            **self._fixed_norm(),
            "fit_intercept": bool(self.fit_intercept),
            "intercept_scaling": self._scaling(),
        }

    def _fixed_norm(self) -> dict[str, Any]:
        """The norm by its class, which an alias does not tell from a subclass, and its parameters."""
        norm = resolve(Norm, self.norm, "norm")
        return {"norm": (f"{type(norm).__module__}.{type(norm).__qualname__}", norm.get_params())}

    def _scaling(self) -> Any:
        """The parameter `intercept_scaling`, as the update reads it."""
        update = resolve(Update, self.update, "update")
        return update.auto_scaling if self.intercept_scaling == "auto" else self.intercept_scaling

    def _build_average(self) -> Average | None:
        if isinstance(self.average, (bool, np.bool_)) and not self.average:
            return None
        if isinstance(self.average, (bool, np.bool_)):
            raise ValueError("average=True is ambiguous; accepted are 'linear', 'uniform', a half-life in rounds and False.")
        if isinstance(self.average, str):
            return AVERAGES[self.average]()
        return Average(float(self.average))

    def _run_epochs(
        self,
        X: Any,
        y: Any,
        metadata: dict[str, Any] | None,
        rows: Rows,
        labels: Labels,
        weight: NDArray | None,
        order: NDArray | None,
        unchecked: bool,
    ) -> None:
        learner = self._learner
        epochs = self._epochs if self.max_iter is None else self.max_iter
        rounds = Epochs(rows.n, order, weight, self._generator())
        self.loss_curve_, self.n_iter_ = [], 0
        data = {"X": X, "y": y, "metadata": metadata}
        task = self._init_callback_context(max_subtasks=epochs)
        task.call_on_fit_task_begin(estimator=self, **data)
        for number in range(epochs):
            epoch = task.subcontext(task_name="epoch")
            epoch.call_on_fit_task_begin(estimator=self, **data)
            steps, loss, t = learner.n_updates, learner.cumulative_loss, learner.t
            new = number == 0
            drawn = rounds.draw(counted=new and learner.observer is not None)
            refused = learner.learn(rows, labels, **drawn, fresh=new, unchecked=unchecked and new)
            if refused >= 0:
                self._check_rows(X, rows)
                raise ValueError(f"{learner.why_refused(refused, learner.t)}  The fit is undone.")
            self.n_iter_ += 1
            self.loss_curve_.append((learner.cumulative_loss - loss) / (learner.t - t))
            stopped = epoch.call_on_fit_task_end(estimator=self, reconstruction_attributes=self._snapshot, **data)
            if stopped or learner.n_updates == steps or self._has_converged():
                break
        task.call_on_fit_task_end(estimator=self, reconstruction_attributes=self._snapshot, **data)

    def _shown_to_callbacks(self, given: dict[str, Any]) -> dict[str, Any]:
        """The metadata of the callbacks' scorers."""
        return {name: value for name, value in given.items() if value is not None}

    def _generator(self) -> np.random.Generator | None:
        """Return the source of the epochs' shuffles, if there are any."""
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31)) if self.shuffle else None

    def _has_converged(self) -> bool:
        curve = self.loss_curve_
        return self.tol is not None and len(curve) > 1 and curve[-2] - curve[-1] < self.tol

    def _learn(self, X: Any, rows: Rows, labels: Labels, order: NDArray | None, weight: NDArray | None) -> None:
        before = self._learner.t
        refused = self._learner.learn(rows, labels, order, weight)
        if refused >= 0:
            self._check_rows(X, rows)
            raise ValueError(self._learner.why_refused(refused, before))

    # ------------------------------------------------------------------------------------------------------ fitted state

    def _fitted_state(self) -> dict[str, Any]:
        kept = {*self._get_param_names(), "_flag"}
        return {name: value for name, value in vars(self).copy().items() if name not in kept and "callback" not in name}

    def _restore(self, before: dict[str, Any]) -> None:
        """Take back what a call has changed, and never what others may be reading meanwhile."""
        self.__dict__.update(before)
        for name in self._fitted_state().keys() - before.keys():
            del self.__dict__[name]

    def _snapshot(self) -> dict[str, Any]:
        """What a callback's own copy of the fitted estimator needs."""
        return {
            "_learner": copy.deepcopy(self._learner),
            "_stream": None,
            "loss_curve_": list(self.loss_curve_),
        }

    def __setattr__(self, name: str, value: Any) -> None:
        """A parameter that is set takes effect at the next call: what was made of the parameters is dropped."""
        if name in self._get_param_names():
            self._check_free()
            self._close_stream()
        super().__setattr__(name, value)

    def set_params(self, **params: Any) -> BasePredtron:
        """Set parameters, also of the parts (``update__C``); they take effect at the next call.

        A part that is changed behind the estimator's back (``model.update.set_params``) does at the next `fit`.

        Parameters
        ----------
        **params : dict
            Names and values.

        Returns
        -------
        self : object
            The estimator.
        """
        self._check_free()
        self._close_stream()
        for name, value in params.items():
            parameter, _, inner = name.partition("__")
            part = params.get(parameter, getattr(self, parameter, None))
            if inner:
                refuse_class(parameter, part)
                if isinstance(part, str):
                    self._refuse_parameter(parameter, part, inner, value)
                if parameter in self._get_param_names() and not hasattr(part, "set_params"):
                    raise ValueError(without_parameters(name, value, parameter, part, self._parts_of(parameter)))
        return super().set_params(**params)

    def _refuse_parameter(self, parameter: str, alias: str, inner: str, value: Any) -> None:
        """Say of what a parameter could be set that was set of an alias."""
        base = next((kind for kind in self._parts_of(parameter) if issubclass(kind, Part)), None)
        if base is not None:
            resolve(base, alias, parameter)
        raise ValueError(no_parameter(parameter, alias, inner, value, [] if base is None else kinds(base)))

    def _parts_of(self, parameter: str) -> list[type]:
        """Return the kinds of objects with parameters of their own that a parameter may be."""
        accepted = self._parameter_constraints.get(parameter, [])
        return [kind for kind in accepted if isinstance(kind, type) and issubclass(kind, BaseEstimator)]

    def _validate_params(self) -> None:
        for name in PARTS.intersection(self._get_param_names()):
            refuse_class(name, getattr(self, name))
        super()._validate_params()

    def set_callbacks(self, *callbacks: Any) -> BasePredtron:
        """Set callbacks; scikit-learn's run in `fit`, and `callbacks.LossHistory` records `partial_fit` as well.

        Parameters
        ----------
        *callbacks : callback instances
            Callbacks in place of those set before; none removes them.  They take effect at the next call.

        Returns
        -------
        self : object
            The estimator.
        """
        self._check_free()
        self._close_stream()
        return super().set_callbacks(*callbacks)

    def _check_free(self) -> None:
        """Raise RuntimeError while a call learns by the present parameters."""
        if "_flag" in self.__dict__:
            self._busy.check_free()

    def _close_stream(self) -> None:
        """Drop the short way, which holds the present learner and parameters."""
        stream = self.__dict__.pop("_stream", None)
        if stream is not None:
            stream.close()

    def __getstate__(self) -> dict[str, Any]:
        busy = self._busy
        calls = busy.calls
        busy.check_free_elsewhere()
        state = super().__getstate__().copy()
        if busy.calls != calls:  # another thread began to fit in between: it is the copy that gives way
            raise RuntimeError(BUSY)
        state = {name: value for name, value in state.items() if name not in ("_stream", "_flag")}
        if "_learner" in state:
            state |= {"_learner": pack(state["_learner"]), "_saved": {"format": FORMAT, "version": __version__}}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over a saved state, whose parts are checked as they are made."""
        state = dict(state)
        saved = state.pop("_saved", None)
        if "_learner" in state and not isinstance(state["_learner"], Learner):  # as a subclass may have kept it
            state["_learner"] = unpack(state["_learner"], format_of(saved))
        super().__setstate__(state)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.norm, Norm) and self.norm.pairwise
        tags.target_tags.required = True
        return tags

    # -------------------------------------------------------------------------------------------------------- prediction

    def _scores(self, X: Any) -> NDArray:
        """Scores of shape (n_samples, d) under the weights that predict."""
        check_is_fitted(self)
        X, rows = self._read_rows(X, reset=False)
        self._check_finite(X, rows)
        scores = np.empty((rows.n, self._learner.problem.d))
        self._learner.scores(rows, scores)
        if not np.isfinite(scores).all():
            raise ValueError(OVERFLOW)
        return scores


def check_lengths(n_rows: int, n_labels: int) -> None:
    if n_rows != n_labels:
        raise ValueError(f"X has {n_rows} rows and y has {n_labels}; both must have the same number.")


def product(sample_weight: NDArray, of_label: NDArray) -> NDArray:
    """Return the weights of rows that have one each and one of their class."""
    with np.errstate(over="ignore"):
        weight = sample_weight * of_label
    if not np.isfinite(weight).all():
        raise ValueError(f"sample_weight={sample_weight.max():g} times the weight of a class overflows; scale the weights down.")
    return weight


def mean_loss(losses: NDArray, sample_weight: Any) -> float:
    """The weighted mean."""
    if sample_weight is None:
        return float(losses.mean())
    weight = check_sample_weight(sample_weight, losses, dtype=np.float64, ensure_non_negative=True, allow_all_zero_weights=True)
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
    return float(np.average(losses, weights=weight))


def number_of_scores(problem: Problem) -> str:
    return f"{problem.d} scores" + (" of one direction" if problem.score_map.offsets_apart else "")


def as_rows(X: Any) -> Rows:
    """The rows of a validated X, read in place."""
    if not sparse.issparse(X):
        return dense_rows(X)
    rows = csr_rows(X)
    if rows is None:
        X = X.copy()
        X.has_canonical_format = False
        X.sum_duplicates()
        rows = csr_rows(X)
    return rows


def csr_rows(X: Any) -> Rows | None:
    """The rows of a CSR matrix as it is stored; None if its indices do not rise within each row."""
    if len(X.indptr) != X.shape[0] + 1:
        raise ValueError(f"X is not a valid CSR matrix: its indptr has {len(X.indptr)} entries for {X.shape[0]} rows.")
    data, indices = np.ascontiguousarray(X.data), np.ascontiguousarray(X.indices)
    return sparse_rows(data, indices, np.ascontiguousarray(X.indptr, dtype=np.intp), X.shape[1])
