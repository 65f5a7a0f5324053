"""The base of the estimators; an estimator has parameters and one fitted model; this has the methods of both."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.lock import Lock
from sklearn_predtron._core.problem import Problem
from sklearn_predtron._core.rows import Rows, csr_rows, dense_rows
from sklearn_predtron._support.compat import (
    BaseEstimator,
    CachedParameterNames,
    CallbackSupport,
    Interval,
    StrOptions,
    with_callbacks,
)
from sklearn_predtron._support.names import no_parameter, refuse_class, series, without_parameters
from sklearn_predtron._support.numbers import real_number
from sklearn_predtron._support.pairs import with_pairs, without_pairs
from sklearn_predtron._support.parts import Part, kinds, resolve
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.types import keeping_type
from sklearn_predtron.decisions._base import PLAIN, Decision
from sklearn_predtron.decisions._decision_rules import Learned
from sklearn_predtron.families.estimator import model_file
from sklearn_predtron.families.estimator.attributes import counted, learned, of_columns, of_expansion, read_only, recorded
from sklearn_predtron.families.estimator.bounds import LossBounds
from sklearn_predtron.families.estimator.linear_models import Linear, LinearModelReader
from sklearn_predtron.families.estimator.widening import (
    average_of_width,
    check_constants,
    check_same_table,
    still_valid,
    wider_columns,
)
from sklearn_predtron.families.input.reading import Columns, RowReader
from sklearn_predtron.families.input.tables import WarmupBuffer, always_maps, mark_tables
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.model import importances
from sklearn_predtron.families.model.explanation import Additive, Explanation
from sklearn_predtron.families.model.model import Model, set_recording_interval
from sklearn_predtron.families.model.model_parts import check_family
from sklearn_predtron.families.training import first_rows, trainer
from sklearn_predtron.families.training.factory import (
    BEGAN,
    LearnerFactory,
    check_fixed,
    differs,
    fixed_parameters,
    loss_of,
    norm_for,
    update_of,
)
from sklearn_predtron.families.training.patience import Patience, checked_patience
from sklearn_predtron.features import ROWS_OF_STREAMS, FeatureMap
from sklearn_predtron.losses._row_costs import KnownCosts
from sklearn_predtron.norms import L2, Auto, Norm, Scaled
from sklearn_predtron.norms._sparse import SparseWeights
from sklearn_predtron.updates import Update

if TYPE_CHECKING:
    from sklearn_predtron._support.types import Self

PARTS = {"decision", "features", "loss", "norm", "problem", "representation", "tol", "update"}

# Attributes that are not pickled as they are; some exist only while callbacks run.
UNPICKLED = ("_model", "_call_lock", "_made", "_callback_fit_ctx", "_skl_callbacks_to_teardown")


class BasePredtron(CallbackSupport, CachedParameterNames):
    """A mistake-driven online learner: parameters, and one fitted model.

    A family defines the codec of its labels (`_read_labels`, `_widen_labels`, `_read_linear`), the reader of rounds (`_reader`),
    the compiled problem (`_build_problem`) with its intercept (`_intercept`), the parameters that cannot change between calls
    (`_fixed_parameters`), and the decision that turns scores into predictions (`_decision`).
    """

    _parameter_constraints: dict[str, list] = {
        "norm": [str, Norm],
        "features": [str, FeatureMap, None],
        "update": [str, Update],
        "average": [StrOptions({"auto", "linear", "uniform"}), Interval(Real, 0, None, closed="neither"), "boolean", None],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left"), Patience, None],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
    }
    norm: Any
    decision: Any
    features: Any = None  # the value of families without this parameter
    update: Any
    average: Any
    fit_intercept: bool
    tol: Any
    intercept_scaling: Any
    warm_start: bool

    _model: Any = None  # a Model, once it is fitted
    _made: dict[Any, Any] | None = None  # what a training call has made of its parameters, in its copy of the estimator
    _codec: type[Codec] = Codec  # the class of the codecs of its labels
    _epochs = 10  # the default of max_iter
    _more_epochs = False  # whether the default is larger for a few thousand rows
    _keeps_sparse = True  # whether weights may be kept sparse
    _linear_models = "linear classifiers of scikit-learn, and OneVsRestClassifier of them"

    # ---------------------------------------------------------------------------------------- parts that a family defines

    def _read_labels(self, y: Any, classes: Any, known: Any, *, partial: bool) -> tuple[Codec, Any]:
        """Return the codec and the encoded labels; the codec is the known one, if there is one."""
        raise TypeError(f"{type(self).__name__} does not define _read_labels(); a family must.")

    def _build_problem(self, labels: Any) -> Problem:
        """Build the compiled problem of the present parameters for labels."""
        raise TypeError(f"{type(self).__name__} does not define _build_problem(); a family must.")

    def _reader(self) -> RowReader:
        """Return the reader of a call's rounds."""
        return RowReader(type(self).__name__)

    def _decision(self, labels: Any, call_metadata: Any = None) -> Decision:
        """Return the decision of the present parameters.

        The labels and the reader's metadata of the training rows are given.

        Without labels it only validates the parameters.
        """
        return PLAIN

    def _intercept(self, labels: Any) -> Intercept:
        """Return the intercept of weights that are zeros."""
        return Intercept(self.fit_intercept, self._scaling())

    def _fixed_parameters(self) -> dict[str, Any]:
        """Return the parameters that cannot change later; they and the norm are fixed as long as the weights exist."""
        return {"fit_intercept": bool(self.fit_intercept), "intercept_scaling": self._scaling()}

    def _read_linear(self, reader: LinearModelReader) -> tuple[Codec, Linear]:
        """Return the codec and weights of a linear model.

        The codec is that of its predictions; the weights are those of this family's scores.
        """
        raise ValueError(
            f"model={shortened(reader.model)}: {type(self).__name__} cannot begin at a linear model; other families can."
        )

    def _widen_labels(self, labels: Any, classes: Any) -> tuple[Codec, list[int]]:
        """Return the codec of more classes, and places; the places are the new ones of the present scores."""
        raise ValueError(f"classes={shortened(classes)}: {type(self).__name__} does not take more classes; fit it again.")

    # Hooks for what a family may have; None where it has nothing of the kind.

    _loss_of: Callable[..., NDArray] | None = None
    """``(predicted, y)`` and ids -> the estimator's own loss of each row or block, for `metrics.progressive_val_score`."""
    _margins: Callable[..., NDArray] | None = None
    """``(X, y)`` and ids -> the margin of each row or block, for `inspection.MarginDisplay`."""
    _costs: Callable[[NDArray], NDArray] | None = None
    """``(classes)`` -> the costs of all predictions; rows are true classes, and a last column is that of abstention."""
    _named: Callable[[NDArray], NDArray] | None = None
    """``(classes)`` -> the labels of predictions by their numbers, abstention last, for predictors, ONNX and the command line."""
    _validation_loss: Callable[..., NDArray] | None = None
    """``(X, y)`` and ids -> the loss of held-out blocks by which `fit` compares epochs; None takes `sample_loss`."""
    _calibration_by: Callable[..., Any] | None = None
    """``(X, y)`` and ids -> a function that calibrates the scores of held-out blocks."""

    # --------------------------------------------------------------------------------------------------------- parameters

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; a parameter takes effect at the next call."""
        if name not in self._get_param_names() or (self._model is None and "_call_lock" not in self.__dict__):
            super().__setattr__(name, value)
            return
        with self._lock:  # a call in between would continue with the old value
            super().__setattr__(name, value)
            if self._model is not None:
                self._model.close_stream()

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also of parts (``update__C``).

        They take effect at the next call.

        If a part is changed directly (``model.update.set_params``), the change takes effect at the next `fit`.

        Parameters
        ----------
        **params : dict
            Names and values.

        Returns
        -------
        Self
            The estimator.
        """
        self._change_parameters()
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
        """Raise ValueError for parameters of an aliased part; the message names the part."""
        base = next((kind for kind in self._parts_of(parameter) if issubclass(kind, Part)), None)
        if base is not None:
            resolve(base, alias, parameter)
        raise ValueError(no_parameter(parameter, alias, inner, value, [] if base is None else kinds(base)))

    def _parts_of(self, parameter: str) -> list[type]:
        """Return the accepted classes that have parameters; a parameter may be an instance of one of them."""
        accepted = self._parameter_constraints.get(parameter, [])
        return [kind for kind in accepted if isinstance(kind, type) and issubclass(kind, BaseEstimator)]

    def _validate_params(self) -> None:
        """Raise ValueError if a parameter has an invalid value."""
        self._decision(None)
        for name in PARTS.intersection(self._get_param_names()):
            refuse_class(name, getattr(self, name))
        super()._validate_params()
        if self.tol is not None:
            checked_patience(self.tol)

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set callbacks, which run in `fit`.

        `callbacks.LossHistory` records `partial_fit` as well.

        Parameters
        ----------
        *callbacks : callback instances
            Callbacks that replace those set before; without arguments all are removed.  They take effect at the next call.

        Returns
        -------
        Self
            The estimator.

        Raises
        ------
        ImportError
            If scikit-learn is older than 1.9, which has no callbacks, and a callback is not of this package.
        """
        self._change_parameters()
        return super().set_callbacks(*callbacks)

    def _change_parameters(self) -> None:
        """Prepare a change of parameters; close the fast path; raise an error if another call is training."""
        if "_call_lock" in self.__dict__:
            self._lock.check_free()
        if self._model is not None:
            self._model.close_stream()

    def _once(self, make: Callable[..., Any], *args: Any) -> Any:
        """Return ``make(*args)``, which a training call makes once."""
        if self._made is None:
            return make(*args)
        key = (make, *map(id, args))
        if key not in self._made:
            self._made[key] = make(*args), args  # which keeps the arguments, and so their ids
        return self._made[key][0]

    def _part(self, base: type[Part], name: str) -> Any:
        """Return the part that a parameter denotes."""
        return self._once(resolve, base, getattr(self, name), name)

    def _norm_of_weights(self) -> Norm:
        """Return the norm.

        "auto" is the norm chosen by the first rows, if there were any.
        """
        norm = self._part(Norm, "norm")
        if not isinstance(norm, Auto) or self._model is None:
            return norm
        found = resolve(Norm, self._model.norm, "norm")
        return found if type(found) in (L2, Scaled) else norm

    def _scaling(self) -> Any:
        """Return the parameter `intercept_scaling` as the update reads it."""
        update = self._part(Update, "update")
        return update.auto_scaling if self.intercept_scaling == "auto" else self.intercept_scaling

    def _parameter_of_scores(self) -> str:
        """Return the parameter for the number of scores; it is returned as its name and its value."""
        name = "problem" if hasattr(self, "problem") else "representation"
        return f"{name}={getattr(self, name)!r}"

    # ----------------------------------------------------------------------------------------------------------- learning

    @keeping_type(with_callbacks)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a data set in shuffled epochs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.  C-contiguous float32 and float64 arrays and CSR matrices are read without a copy; CSR rows that hold a
            feature twice are summed in a copy.  The length of a row must be 0 or from 1e-140 to 1e140.
        y : array-like of shape (n_samples,), or {array-like, sparse matrix} of shape (n_samples, n_labels)
            Labels; sets of labels as an indicator matrix of zeros and ones, relevances as numbers of at least 0.
        sample_weight : array-like of shape (n_samples,), default=None
            Nonnegative weights, of which only ratios matter; a row with zero weight counts as absent.  In shuffled epochs a
            row appears in proportion to its weight; in the given order the weight multiplies its step.

        Returns
        -------
        Self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight=sample_weight)

    def _fit(self, X: Any, y: Any, learn: Any = None, **given: Any) -> Self:
        """Fit, unless another call is training; `learn` replaces the training of one learner."""
        with self._lock, np.errstate(under="ignore"):  # numbers that underflow may be 0, and ranges are checked
            trainer.fit(self, X, y, given, learn)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows in the given order, one pass.

        The result is, to the last bit, the same for any way of splitting a stream into calls.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs, of lengths as for `fit`.  If a step still overflows, an error is raised and the rounds before it are kept.
        y : array-like of shape (n_samples,), or {array-like, sparse matrix} of shape (n_samples, n_labels)
            Labels; sets of labels as an indicator matrix of zeros and ones, relevances as numbers of at least 0.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever occur.  The first call of a classifier requires them, unless its `categories` or an
            indicator matrix define them (with the values 0 and 1, in any form that scikit-learn accepts).
        sample_weight : array-like of shape (n_samples,), default=None
            Nonnegative weights; a row with zero weight counts as absent.  The weight relative to the mean weight so far
            multiplies the cap of the step.

        Returns
        -------
        Self
            The estimator.
        """
        model = self._model
        stream = model.stream if model is not None and sample_weight is None else None
        if stream is not None and stream.take(X, y, classes):
            return self
        return self._partial_fit(X, y, classes=classes, sample_weight=sample_weight)

    def _partial_fit(self, X: Any, y: Any, learn: Any = None, **given: Any) -> Self:
        """Train on a batch, unless another call is training."""
        with self._lock, np.errstate(under="ignore"), trainer.averages_begun(self):
            first_rows.partial_fit(self, X, y, given, learn)
        return self

    def widen(self, n_features: Any = None, classes: Any = None) -> Self:
        """Make room for features or classes that appear in mid-stream.

        Weights of new features are zero, as if all rows so far had held zeros there.  Later results are, to the last bit, those
        of a model that had known the width from the start (up to rounding with ``norm="trace"`` and kernels).  Memory grows
        geometrically, so that a stream which grows by a feature a row costs no more for it.

        Rows may lack the last of the added features, unless these have names; they count as zeros (values, under "scaled").
        The scores of a new class begin at zero, too; but a model that had known it from the start would differ.

        Parameters
        ----------
        n_features : int or list of str, default=None
            Number of features of later rows, no fewer than so far; None leaves it as it is.  If learning began with a data
            frame, the names of all later columns, the known ones first.
        classes : array-like of shape (n_classes,), default=None
            New classes, besides those known; None adds none.  A multilabel classifier takes the numbers of all later labels,
            0, 1, ... (their names, if it knows names): new labels are the last columns.

        Returns
        -------
        Self
            The estimator.

        Raises
        ------
        ValueError
            If rows would become narrower; if a parameter of the norm depends on the width and so would change (``q=None``
            below 55 features, ``q="theory"``, ``gamma=None``); if the family, the representation or the loss cannot take more
            classes.  Among losses, only 0-1 losses and dicts of costs can.

        Examples
        --------
        >>> from sklearn_predtron import PredtronClassifier
        >>> model = PredtronClassifier().partial_fit([[1.0, 0.0], [0.0, 1.0]], [0, 1], classes=[0, 1])
        >>> model.widen(n_features=3, classes=[2]).partial_fit([[0.0, 0.0, 1.0]], [2]).predict([[0.0, 0.0, 2.0]])
        array([2])
        """
        with self._lock:
            check_is_fitted(self)
            self._widen(n_features, classes)
        return self

    def _widen(self, n_features: Any, classes: Any) -> None:
        """Replace the model by a larger one; it has room for more features and classes, and predicts the same."""
        model: Model = self._model
        if model.columns.n is None:
            raise ValueError(
                f"{self._parameter_of_scores()} has {model.learner.weights.p} joint features, whose number it states: widen is "
                "for columns of X; call fit to start from scratch."
            )
        fitted_map = model.columns.features
        if fitted_map is not None:
            check_same_table(self.features, fitted_map, n_features)
        wider = model.replace(columns=wider_columns(model.columns, n_features))
        learner, problem = model.learner, model.problem
        places = list(range(problem.d))
        if classes is not None:
            self._validate_params()
            wider.labels, places = self._widen_labels(model.labels, classes)
            rebuilt = self._build_problem(wider.labels)
            if rebuilt.d != problem.d:
                problem, wider.fitted_decision = rebuilt, still_valid(model.fitted_decision)
                if isinstance(model.call_metadata, KnownCosts):
                    wider.call_metadata = model.call_metadata.widened(
                        places, problem.d, of_sets=hasattr(wider.labels, "n_labels")
                    )
        n = learner.weights.n_features
        width = wider.columns.n if fitted_map is None else n
        check_constants(self._norm_of_weights(), self.norm, (learner.problem.d, n), (problem.d, width))
        room = learner.weights.room_for(width)
        if room > learner.weights.p or problem is not learner.problem:
            learner = self._wider_learner(wider, max(room, learner.weights.p), places, problem)
        average = average_of_width(learner.average, problem, width)
        if average is not learner.average:
            learner = learner.with_parts(problem, learner.update, average, learner.observer)
        set_recording_interval(learner, width)
        learner.widen(width)
        wider.learner = learner
        if classes is None and learner is model.learner:
            wider.stream, wider.is_current = model.stream, model.is_current
            self._model = wider
        else:
            self._replace_model(wider)

    def _wider_learner(self, wider: Model, room: int, places: list[int], problem: Problem) -> Learner:
        """Return a copy of the learner with more room.

        It is for this problem.  Other threads may be reading the learner itself.
        """
        learner, observer = wider.learner, wider.learner.observer
        if problem is learner.problem:
            return learner.resized(room, places, problem, observer)
        resized = None if observer is None else observer.resized(problem, places)
        observer = self._decision(wider.labels).observer(problem, resized)
        learner = learner.resized(room, places, problem, observer)
        update = update_of(self, problem)
        if update.kind == learner.update.kind:
            update.__setstate__(learner.update.state())
        if learner.t > 0 and differs(wider, problem, update):
            wider.training_parts = "several"
        return learner.with_parts(problem, update, learner.average, observer)

    def _replace_model(self, model: Model) -> None:
        """Replace the model, and its open fast path; the fast path is for rows as they come."""
        opened, stream = self._model.is_current, self._model.stream
        if stream is not None:
            stream.close()
        self._model = model
        if opened:
            trainer.open_stream(self)

    @classmethod
    def from_linear(cls, model: Any, **parameters: Any) -> Self:
        """Start from a fitted linear model of scikit-learn.

        Continue by `partial_fit`, or by `fit` with ``warm_start=True``.

        Until it is trained, the estimator predicts as the model does, except for exact ties.  The model is its first iterate, and
        the average is over the iterates that follow, one a round.  Steps are as long as for zero weights.  A `decision`, a
        `constraint`, a `reject` option or a loss of the k first labels affects predictions from the beginning.

        Parameters
        ----------
        model : estimator
            A fitted linear model of scikit-learn, with as many classes, labels or targets as are to be predicted.  For classes:
            `LogisticRegression`, `SGDClassifier`, `LinearSVC`, `Perceptron`, `RidgeClassifier` or another; for several labels
            `OneVsRestClassifier` or `MultiOutputClassifier` of them; for rankings `Ridge`, `LinearRegression` or another.
        **parameters : dict
            Parameters of the estimator.  The norm must take given weights, and, if it measures the intercept with them ("l1",
            "group"), `intercept_scaling` must be a number.

        Returns
        -------
        Self
            A fitted estimator with 0 rounds.  No loss bound is proven for it.

        Raises
        ------
        ValueError
            If the model is not linear, has other outputs than the family predicts, or has an intercept and the estimator none;
            if the norm or the representation has no such weights.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn_predtron import PredtronClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> batch = LogisticRegression().fit(X[::2], y[::2])
        >>> stream = PredtronClassifier.from_linear(batch)
        >>> bool((stream.predict(X) == batch.predict(X)).all()), stream.t_
        (True, 0)
        >>> stream.partial_fit(X[1::2], y[1::2]).t_
        75
        """
        estimator = cls(**parameters)
        estimator._validate_params()
        estimator._begin_at(model)
        return estimator

    def _begin_at(self, model: Any) -> None:
        """Start the unfitted estimator from a linear model."""
        if always_maps(self.features):
            raise ValueError(f"features={self.features!r} cannot begin at the weights of a model, whose columns are its own.")
        norm = norm_for(self, sparse=True)
        if not resolve(Norm, norm, "norm").takes_weights:
            raise ValueError(
                f"norm={self.norm!r} cannot begin at the weights of a model; accepted are {norms_that_take_weights()}."
            )
        check_is_fitted(model)
        labels, scores = self._read_linear(LinearModelReader(model, type(self).__name__, self._linear_models))
        if not scores.is_finite():
            raise ValueError(f"model={shortened(model)} has weights that are not finite.")
        names = np.array(model.feature_names_in_) if hasattr(model, "feature_names_in_") else None
        columns, problem = Columns(scores.coef.shape[1], names), self._build_problem(labels)
        rows = empty_rows(columns.n, is_sparse=sparse.issparse(getattr(model, "coef_", None)))
        observer = self._decision(labels).observer(problem, None)
        learner = LearnerFactory(self, labels, problem, rows, norm, partial=True).learner(observer)
        scores = Linear(*problem.score_map.learnable(*scores))
        learner.weights.begin_at(*scores)
        if not scores.is_close_to(learner.read(lambda weights: weights.last())):
            raise ValueError(
                f"norm={self.norm!r} cannot hold the weights of the model, of which it takes powers: the largest is "
                f"{np.abs(scores.coef).max():.3g}; scale the features, or take norm='l2'."
            )
        fixed = fixed_parameters(self, norm)
        self._model = Model(type(self).__name__, learner, labels, columns, norm, loss_of(self), fixed, BEGAN)

    def _check_keeps_sparse(self) -> bool:
        """Return True if the weights are kept sparse; raise AttributeError for a family whose weights are not."""
        if not self._keeps_sparse:
            raise AttributeError(f"{type(self).__name__!r} object keeps no sparse weights.")
        return True

    def _check_norm_keeps_sparse(self) -> bool:
        """Return True if the norm keeps sparse weights.

        Raise ValueError if it does not, or if the first rows have yet to choose it.
        """
        self._check_keeps_sparse()
        norm = self._norm_of_weights()
        if isinstance(norm, Auto):
            raise self._unfitted("weights")
        if not norm.takes_weights:
            raise ValueError(
                f"norm={norm.alias!r} has no weights that can be kept sparse; accepted are {norms_that_take_weights()}: give "
                "norm='l2'."
            )
        return True

    @keeping_type(available_if(_check_norm_keeps_sparse))
    def sparsify(self, tol: float = 0.0) -> Self:
        """Keep only the weights that predict and are not zero.

        The estimator predicts as before, and `coef_` becomes sparse, in CSR format and the type of scikit-learn's setting
        `sparse_interface`.  Memory and saved models hold only nonzero weights, without the sums behind their average.  Call
        `densify` before further training.  The method exists if the norm allows sparse weights; "scaled" and "rkhs" do not.
        Under "auto" it exists if the first rows were CSR; for dense rows, which make it "scaled", set norm="l2" or another.

        Parameters
        ----------
        tol : float, default=0.0
            Weights of at most this share of the largest weight count as zeros, too, which may change predictions.  Under the
            norms "l1" and "group" most weights are tiny, but few are zero.

        Returns
        -------
        Self
            The estimator.

        Raises
        ------
        ValueError
            If `tol` is not from 0 to below 1, or if scores share one direction.

        See Also
        --------
        densify : Makes the weights dense again.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_predtron import PredtronBinaryClassifier
        >>> X = np.random.default_rng(0).standard_normal((500, 200))
        >>> model = PredtronBinaryClassifier(norm="l1", random_state=0).fit(X, X[:, 3] > X[:, 5])
        >>> model.sparsify(tol=0.05).coef_.nnz, round(model.score(X, X[:, 3] > X[:, 5]), 2)
        (2, 0.98)
        """
        with self._lock:
            check_is_fitted(self)
            model: Model = self._model
            least = real_number(tol)
            if least is None or not 0 <= least < 1:
                raise ValueError(f"tol={tol!r} must be a number from 0 to below 1.")
            check_fixed(self, model)
            if model.problem.score_map.offsets_apart:
                raise ValueError(
                    "representation='shared', given or chosen by fit, has one direction, whose weights are not kept sparse; "
                    "accepted are representations with weights for each score, as 'thermometer'."
                )
            fitted_decision = model.fitted_decision
            if least > 0 and fitted_decision and "certificate" in fitted_decision:  # it certified other predictions
                fitted_decision = {**fitted_decision, "certificate": None}
            learner = model.learner_with(model.sparse_weights(self._norm_of_weights(), least))
            kept = importances.of_weights(model, learner)
            self._replace_model(model.replace(learner=learner, fitted_decision=fitted_decision, importances=kept))
        return self

    @keeping_type(available_if(_check_keeps_sparse))
    def densify(self) -> Self:
        """Make sparse weights dense.

        Training continues from the weights that predict.

        The last iterate, the average and their sums no longer exist.  The next iterate follows the weights that predict, and the
        average is over later iterates.  No bound is proven for later losses.

        Returns
        -------
        Self
            The estimator, unchanged if its weights are dense.

        See Also
        --------
        sparsify : Keeps only the weights that are not zero.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn_predtron import PredtronClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = PredtronClassifier(norm="l2", random_state=0).fit(X, y).sparsify()
        >>> type(model.coef_).__name__, type(model.densify().coef_).__name__
        ('csr_matrix', 'ndarray')
        """
        with self._lock:
            check_is_fitted(self)
            model: Model = self._model
            kept = model.learner.weights
            if isinstance(kept, SparseWeights):
                check_fixed(self, model)
                rows, average = empty_rows(kept.p, is_sparse=kept.by_feature), kept.averaging > 0
                norm, intercept = resolve(Norm, model.norm, "norm"), self._intercept(model.labels)
                build: Any = model.problem.score_map.build
                weights: Any = build(norm, rows.p, intercept, sparse=rows.sparse, average=average)
                weights.intercept.__setstate__(kept.intercept.__reduce__()[2])
                W, b = kept.mean()
                weights.begin_at(W.toarray(), b)
                weights.keep_averages(kept.averaging)
                self._replace_model(model.replace(learner=model.learner_with(weights), training_parts=BEGAN))
        return self

    def loss_bound(
        self,
        margin: float | None = None,
        radius: float | None = None,
        c_L: float | None = None,
        *,
        comparator: Any = None,
        X: Any = None,
        y: Any = None,
    ) -> float:
        """Bound the loss suffered online.

        There is a bound if the theory of the parts has one.

        No bound is proven for norm="scaled", the default for dense rows; set norm="l2" for these.  With a feature map, margins,
        lengths and comparators are those of its features (``features_.transform(X)``, ``features_.radius_``).

        Parameters
        ----------
        margin : float, default=None
            Margin gamma > 0 of some unit-norm weights on the data (see `margin`).
        radius : float, default=None
            The largest length of an input, including the intercept's feature of length `intercept_scaling`; `theory.radius`
            computes it.  None takes the value recorded by an update with eta="theory", or that of X.
        c_L : float, default=None
            The least positive loss, which `theory.loss_constants` computes for rankings (it depends on the lists) and functions
            of counts.  None takes the value known to the loss or to an update with eta="theory".
        comparator : ndarray of shape (d, n_features), or tuple (coef, intercept), default=None
            Instead of a margin, any weights U.  The bound then uses their surrogate losses on X and y, which need not be
            separable.  Raises ValueError for updates without such a proof, such as those whose step is not fixed beforehand.
        X, y : array-like, default=None
            With `comparator`, all rows and labels that were learned, each repeated as often as it was learned.

        Returns
        -------
        float
            The bound, which `cumulative_loss_` cannot exceed.  `theory.theorem_of` names the theorem.

        Examples
        --------
        >>> from sklearn_predtron import PredtronBinaryClassifier
        >>> from sklearn_predtron.theory import theorem_of
        >>> X, y = [[2.0, 1.0], [1.0, 2.0], [-1.0, -1.0], [-2.0, 0.0]], [1, 1, 0, 0]
        >>> model = PredtronBinaryClassifier(norm="l2", update="perceptron", fit_intercept=False)
        >>> model = model.partial_fit(X, y, classes=[0, 1])
        >>> model.cumulative_loss_, round(model.loss_bound(margin=2.5, radius=5**0.5), 6), theorem_of(model)
        (1.0, 3.2, "the perceptron's bound (Novikoff 1962)")
        >>> round(model.loss_bound(comparator=[[0.2, 0.2]], X=X, y=y), 6)  # margins of 1.2, 1.2, 0.8, 0.8
        2.331371
        """
        return LossBounds(self).loss_bound(margin, radius, c_L, comparator, X, y)

    def _check_rows_known(self) -> None:
        """Raise ValueError if margins or lengths are unknown.

        They are margins over all predictions and lengths of rows, which joint features do not have.
        """
        because = self._reader().no_rows_because
        if because is not None:
            raise ValueError(because)

    def explain(self, X: Any) -> Explanation:
        """Compute the summands of each row's scores.

        Each column has one, and with `features` each pair of columns, too.

        With the intercept they add up, up to rounding, to `decision_function`, or to `predict` of `PredtronRanker`.  If that is
        not linear they add up to the scores t = W x + b, one for each row of `coef_`: scores of single tokens
        (`PredtronSequenceTagger`), or of pairs of labels (``representation="pairwise"``).

        Parameters
        ----------
        X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        Explanation
            The summands in ``values``, of shape (n_samples, n_terms) or (n_samples, n_terms, n_scores), the intercept in ``base``
            and the names of the terms in ``names``.  For two classes they are in favour of the second.

        Raises
        ------
        ValueError
            If the scores are no such sums: with kernels, maps that mix columns (`RandomFourier`) and joint features.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn_predtron import PredtronBinaryClassifier
        >>> X, y = load_diabetes(as_frame=True, return_X_y=True)
        >>> model = PredtronBinaryClassifier(features="piecewise", random_state=0).fit(X, y > 140)
        >>> explanation = model.explain(X)
        >>> strongest = abs(explanation.values).mean(axis=0).argsort()[::-1][:2]
        >>> print(*explanation.names[strongest], explanation.values.shape)
        s5 sex (442, 22)
        >>> bool(abs(explanation.scores() - model.decision_function(X)).max() < 1e-12)
        True

        The importances of columns count half of each pair:

        >>> for name, importance in zip(X.columns, model.feature_importances_):
        ...     print(f"{name} {importance:.2f}", end="  ")
        age 0.04  sex 0.16  bmi 0.17  bp 0.15  s1 0.05  s2 0.06  s3 0.12  s4 0.06  s5 0.20  s6 0.04
        """
        additive = Additive.of(self)
        return additive.explain(additive.read(X))

    @property
    def _lock(self) -> Lock:
        """Return the estimator's lock of training calls; it is the same for the life of the estimator."""
        found = self.__dict__.get("_call_lock")
        return self.__dict__.setdefault("_call_lock", Lock()) if found is None else found

    def _fitted_model(self) -> Model:
        """Return the fitted model; a call must use only this one, because another thread may replace it."""
        model: Model = self._model
        if model is None:
            check_is_fitted(self)
        return model

    def _model_and_decision(self) -> tuple[Model, Decision]:
        """Return the fitted model and its present decision."""
        model = self._fitted_model()
        return model, model.decision_of(self._decision)

    def _check_has_probabilities(self) -> bool:
        """Return True if there are probabilities.

        Raise ValueError or AttributeError if the model has none, or a fit would have none.
        """
        model = self._model
        if model is None:
            return not (isinstance(self.decision, Learned) or self.decision == "learned")
        if model.learner.t > 0:
            model.check_after_first_epoch()
            model.decision_of(self._decision).calibration.check_known(model.learner.observer)
        return True

    def _probabilities(self, model: Model, X: Any) -> NDArray:
        """Return the probabilities that the calibration of the decision gives."""
        return model.decoded(X, model.decision_of(self._decision).calibration)

    # ---------------------------------------------------------------------------------------------------- fitted attributes

    def _unfitted(self, name: str) -> NotFittedError:
        """Return the error for reading before `fit`."""
        return NotFittedError(f"This {type(self).__name__} is not fitted yet, and has no {name}; call fit or partial_fit first.")

    def _present(self, name: str, value: Any) -> Any:
        """Return the value of an attribute; raise AttributeError if it is None."""
        if value is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return value

    @learned
    def n_features_in_(self) -> int:
        """Number of features of the rows."""
        if self._model.columns.n is None:
            raise AttributeError("n_features_in_ is the number of columns of X, and with joint features X has none.")
        return self._model.columns.n

    @learned
    def feature_names_in_(self) -> NDArray:
        """Names of the features, if the rows had names."""
        return self._present("feature_names_in_", self._model.columns.names)

    loss_curve_ = recorded("loss_curve_", "Mean progressive loss of each epoch of `fit`.", by_fit=True)
    n_iter_ = recorded("n_iter_", "Epochs of the last `fit`.", by_fit=True)
    held_out_loss_ = recorded("held_out_loss_", "Mean log loss of rows held out, by the number of epochs.")
    best_iter_ = recorded("best_iter_", "The best epoch, from 1.")
    best_score_ = recorded("best_score_", "Mean loss, or score, after the best epoch.")
    validation_scores_ = recorded("validation_scores_", "Mean loss, or score, after each epoch.")

    @learned
    def features_(self) -> FeatureMap:
        """With `features`, the fitted feature map; it is fitted to the table, or to the first rows of the stream."""
        found = self._model.columns.features
        if isinstance(found, WarmupBuffer):
            raise AttributeError(
                f"features_ is the map that the first {ROWS_OF_STREAMS} rows of a stream make; so far there are {found.n}, which "
                "are used as they are."
            )
        return self._present("features_", found)

    @learned
    def norm_(self) -> Any:
        """The parameter `norm`, or the norm chosen; for "auto" the first rows choose the norm."""
        return self._model.norm

    coef_ = of_columns(
        "coef_",
        "Weights that predict, of shape (d, n_features): the average of the iterates, or the last one.",
        lambda weights: weights.mean()[0],
    )
    last_coef_ = of_columns(
        "last_coef_", "Weights of the last iterate, of shape (d, n_features).", lambda weights: weights.last()[0]
    )

    @learned
    def feature_importances_(self) -> NDArray:
        """Mean size of each column's part of the scores.

        The part of a column is its summand of the score, by `explain`, plus half the summands of its pairs.  The importance is
        ``mean(abs(part - mean(part)))`` over rows of the last `fit`, averaged over the scores, in the units of the score.  The
        mean is subtracted because a constant part changes no comparison of rows.  For columns as they are it is
        ``mean(abs(coef_[:, j])) * mean(abs(x - mean(x)))``.

        `fit` uses at most 1,000 evenly spaced rows, fewer if these have many features, and more in CSR format.  The cosines
        of `RandomFourier` have no summands of columns; the part is the integrated gradient from the mean row (Sundararajan et
        al. 2017).  `partial_fit` does not change the importances.
        """
        model: Model = self._model
        if model.importances is None:
            raise AttributeError(
                "feature_importances_ is computed by fit, from scores that are functions of columns: not by partial_fit, and not "
                "for kernels and joint features.  sklearn.inspection.permutation_importance measures any model."
            )
        found = np.zeros(model.columns.n)
        columns, values = model.importances
        found[columns] = values
        return read_only(found)

    @learned
    def intercept_(self) -> NDArray:
        """Offsets of the scores, of shape (d,); they predict; the cut of the decision is subtracted, if there is one."""
        return read_only(self._model.weights_to_predict(self._decision)[1])

    dual_coef_ = of_expansion(
        "dual_coef_",
        "With a kernel, the coefficients of the support that predict, of shape (d, n_support).",
        lambda expansion: read_only(expansion.mean()[0]),
    )
    last_dual_coef_ = of_expansion(
        "last_dual_coef_",
        "With a kernel, the coefficients of the support in the last iterate, of shape (d, n_support).",
        lambda expansion: read_only(expansion.last()[0]),
    )
    support_ = of_expansion(
        "support_",
        "With a kernel, the rows of the support, numbered in the order in which all rows so far were given.",
        lambda expansion: read_only(expansion.row_numbers),
    )
    budget_loss_ = of_expansion(
        "budget_loss_",
        "With a kernel and a budget, the sum of the lengths of the terms that were removed from the weights.",
        lambda expansion: expansion.truncation_loss,
    )

    @learned
    def last_intercept_(self) -> NDArray:
        """Offsets of the last iterate, of shape (d,)."""
        return read_only(self._model.learner.read(lambda weights: weights.last()[1]))

    t_ = counted("t_", "Rounds so far.")

    n_mistakes_ = counted("n_mistakes_", "Number of rounds whose prediction, made before the update, was wrong.")

    n_updates_ = counted("n_updates_", "Rounds that took a step.")

    @learned
    def average_(self) -> Any:
        """The average that predicts; it is a value of `average`; under "auto", "linear" unless another is better."""
        learner = self._model.learner
        with learner.lock.reading():
            return learner.average.named() if learner.weights.averaging else False

    @learned
    def progressive_loss_(self) -> float:
        """Mean loss of the predictions made before each round.

        With average="auto" it covers the rounds since that was set, except for later epochs of `fit`.  With average=False it is
        the last iterate's in all rounds, whatever predicted before.  With `features` the first 500 rows count as mapped rows.
        """
        learner = self._model.learner
        with learner.lock.reading():
            if not learner.weights.averaging:
                return learner.cumulative_loss / learner.t if learner.t else float("nan")
            if learner.average.every > 0:
                return learner.average.mean_loss()
        raise AttributeError(
            f"progressive_loss_ is there with average='auto', as in streams by default, and with average=False; what "
            f"average={learner.average.named()!r} predicted is not followed.  metrics.progressive_val_score measures any."
        )

    cumulative_loss_ = counted(
        "cumulative_loss_", "Loss suffered online, each prediction made by the last iterate before its round's step."
    )

    # --------------------------------------------------------------------------------------------------------------- state

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to save; it consists of the parameters and the packed model."""
        model = self._model
        state = {name: value for name, value in super().__getstate__().copy().items() if name not in UNPICKLED}
        return without_pairs(state if model is None else {**state, "_model": model.packed()})

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a saved state; its parts are checked as they are built."""
        state = with_pairs(state)
        if "_model" in state and not isinstance(state["_model"], Model):  # the state of a subclass may hold a Model
            state["_model"] = Model.unpacked(state["_model"])
        super().__setstate__(state)
        if self._model is not None:
            fixed = {"norm", "features"}
            with suppress(ValueError):  # of a parameter that was set since the last call, and is invalid
                fixed |= self._fixed_parameters().keys()
            check_family(self._model, self._codec, fixed, self._reader().saved_metadata)

    def save(self, path: str | os.PathLike[str], *, custom: Mapping[str, Any] | None = None) -> None:
        """Write the estimator to a file, which `load` reads.

        The file is data: `load` runs no code of it.  It has the state of a pickle.  An old file at the path is
        replaced in one step.

        Parameters
        ----------
        path : str or path-like
            The file.
        custom : dict of str to object, default=None
            Names of custom objects among the parameters, such as kernels and losses in Python.  The file has only their names,
            and `load` takes the objects.

        Raises
        ------
        OSError
            If the file cannot be written.
        ValueError
            If a parameter holds a custom object that `custom` does not name, or the estimator is of a subclass.

        See Also
        --------
        sklearn_predtron.load : Reads the file.

        Examples
        --------
        >>> import os, tempfile
        >>> import sklearn_predtron
        >>> model = sklearn_predtron.PredtronBinaryClassifier().partial_fit([[1.0], [-1.0]], [1, 0], classes=[0, 1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "model.predtron")
        ...     model.save(path)
        ...     loaded = sklearn_predtron.load(path)
        >>> loaded.partial_fit([[2.0]], [1]).t_
        3
        """
        model_file.save(self, path, custom)

    @property
    def _has_labels(self) -> bool:
        """Whether y has labels, and not numbers; they are labels of rows or of tokens."""
        return self.__sklearn_tags__().estimator_type in ("classifier", "tagger")

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.norm, Norm) and self.norm.pairwise
        if self.features is not None:
            mark_tables(self.features, tags)
        tags.target_tags.required = True
        return tags


def empty_rows(p: int, *, is_sparse: bool) -> Rows:
    """Return no rows of p features; they give weights the layout for sparse or for dense rows."""
    return csr_rows(sparse.csr_matrix((0, p))) if is_sparse else dense_rows(np.empty((0, p)))


def norms_that_take_weights() -> str:
    """Return the norms that accept weights, for errors; they are the names of norms under which weights can be given."""
    return series([repr(kind.alias) for kind in kinds(Norm) if kind.takes_weights])
