"""All imports from private or new parts of scikit-learn."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from sklearn.base import is_classifier
from sklearn.metrics import make_scorer
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions, make_constraint
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_sample_weight

from sklearn_predtron._support.queries import shortened

if TYPE_CHECKING:  # scikit-learn has no types: its classes would hide every unknown attribute
    from typing import Self

    class BaseEstimator:
        """The methods of scikit-learn's base class."""

        @classmethod
        def _get_param_names(cls) -> list[str]: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def set_fit_request(self, **requested: bool | str | None) -> Self: ...
        def set_partial_fit_request(self, **requested: bool | str | None) -> Self: ...
        def set_predict_request(self, **requested: bool | str | None) -> Self: ...
        def set_predict_proba_request(self, **requested: bool | str | None) -> Self: ...
        def set_predict_log_proba_request(self, **requested: bool | str | None) -> Self: ...
        def set_decision_function_request(self, **requested: bool | str | None) -> Self: ...
        def set_score_request(self, **requested: bool | str | None) -> Self: ...
        def _get_metadata_request(self) -> Any: ...
        def _validate_params(self) -> None: ...
        def __sklearn_tags__(self) -> Any: ...
        def __sklearn_clone__(self) -> Self: ...
        def __getstate__(self) -> dict[str, Any]: ...
        def __setstate__(self, state: dict[str, Any]) -> None: ...

    class ClassifierMixin:
        """The methods of scikit-learn's mixin."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...
        def __sklearn_tags__(self) -> Any: ...

    class MetaEstimatorMixin:
        """scikit-learn's mixin of estimators that have an estimator as a parameter."""

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin

# The class by which callbacks and searches recognise a scorer.
Scorer: type = type(make_scorer(min))

__all__ = [
    "BaseEstimator",
    "CachedParameterNames",
    "CallbackSupport",
    "ClassifierMixin",
    "CvObject",
    "HasMethods",
    "Interval",
    "MetaEstimatorMixin",
    "Options",
    "Scorer",
    "StrOptions",
    "as_configured",
    "asked_of_any",
    "check_sample_weight",
    "container_of",
    "linear_classifier",
    "linear_regressors",
    "with_callbacks",
]

try:
    from sklearn.utils import _align_api_if_sparse as as_configured
except ImportError:  # scikit-learn before 1.9 has matrices alone

    def as_configured(X: Any) -> Any:
        return X


def container_of(transformer: Any) -> str:
    """Return the container that `set_output` asks for."""
    found: str = _get_output_config("transform", transformer)["dense"]
    return found


# Weights may all be zero; scikit-learn before 1.9 does not ask.
ALL_ZERO = {name: True for name in inspect.signature(_check_sample_weight).parameters if name == "allow_all_zero_weights"}


def check_sample_weight(sample_weight: Any, X: Any) -> Any:
    """Return the weights of rows; raise ValueError unless they are numbers of at least 0."""
    try:
        found = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True, **ALL_ZERO)
    except (TypeError, OverflowError):  # objects, pandas.NA, integers beyond the floats
        found = None
    if found is None or not np.isfinite(found).all():  # scikit-learn lets a single nan pass
        raise ValueError(f"sample_weight={shortened(sample_weight)} must hold finite numbers of at least 0.")
    return found


def linear_classifier() -> type:
    """Return the base of linear classifiers."""
    from sklearn.linear_model._base import LinearClassifierMixin  # the import takes long, and few begin at a linear model

    return LinearClassifierMixin


def linear_regressors() -> tuple[type, ...]:
    """Return the bases of linear regressors."""
    from sklearn.linear_model import SGDRegressor  # as above
    from sklearn.linear_model._base import LinearModel

    return LinearModel, SGDRegressor


def asked_of_any(method_caller: Callable[..., Any]) -> Callable[..., Any]:
    """Return a scorer's function for any kind of predictions.

    Before 1.9 it also allows `decision_function` of a non-classifier.
    """

    def ask(estimator: Any, method: str, X: Any, **how: Any) -> Any:
        try:
            return method_caller(estimator, method, X, **how)
        except ValueError:
            if is_classifier(estimator):
                raise
            return getattr(estimator, method)(X)

    return ask


class CachedParameterNames(BaseEstimator):
    """Base that caches the constructor's parameter names per class."""

    @classmethod
    @functools.cache
    def _get_param_names(cls) -> list[str]:
        return super()._get_param_names()


class CvObject(HasMethods):
    """scikit-learn's "cv_object" constraint, built once.

    By its name it would be built, slowly, at each call.
    """

    def __init__(self) -> None:
        super().__init__(["split", "get_n_splits"])
        self._accepted = make_constraint("cv_object")

    def is_satisfied_by(self, val: Any) -> bool:
        return bool(self._accepted.is_satisfied_by(val))

    def __str__(self) -> str:
        return str(self._accepted)


class OwnCallbackSupport:
    """Callbacks of this package before scikit-learn 1.9."""

    def set_callbacks(self, *callbacks: Any) -> Any:
        for callback in callbacks:
            if not vars(type(callback)).get("runs_without_callbacks"):
                raise ImportError(
                    f"set_callbacks({callback!r}) needs scikit-learn 1.9 or later, and this is {sklearn.__version__}, with which "
                    "EarlyStopping and LossHistory of sklearn_predtron.callbacks alone are accepted."
                )
        self.__dict__.pop("_skl_callbacks", None)
        if callbacks:
            self._skl_callbacks = list(callbacks)
        return self

    def __sklearn_clone__(self) -> Any:
        """Copy the callbacks, as scikit-learn's `clone` does since 1.9."""
        twin = super().__sklearn_clone__()  # type: ignore[misc]
        return twin.set_callbacks(*getattr(self, "_skl_callbacks", ()))

    def _init_callback_context(self, **task: Any) -> OwnFitTask:
        for callback in getattr(self, "_skl_callbacks", ()):
            callback.setup(self, None)
        return OwnFitTask("fit")


class OwnFitTask:
    """A fit or epoch, as passed to callbacks."""

    def __init__(self, task_name: str):
        self.task_name = task_name

    def subcontext(self, task_name: str) -> OwnFitTask:
        return OwnFitTask(task_name)

    def call_on_fit_task_begin(self, *, estimator: Any, **data: Any) -> None:
        for callback in getattr(estimator, "_skl_callbacks", ()):
            callback.on_fit_task_begin(estimator, self)

    def call_on_fit_task_end(self, *, estimator: Any, **data: Any) -> bool:
        stops = [callback.on_fit_task_end(estimator, self) for callback in getattr(estimator, "_skl_callbacks", ())]
        return any(stops)


if TYPE_CHECKING:
    CallbackSupport = OwnCallbackSupport

    def with_callbacks(fit: Any) -> Any: ...
else:
    try:
        import sklearn.callback
        from sklearn.callback import CallbackSupportMixin as CallbackSupport

        def with_callbacks(fit: Any) -> Any:
            """Return the method with teardown of its callbacks; an interrupt can fall anywhere in their setup."""
            managed = sklearn.callback.with_callbacks(fit)

            @functools.wraps(fit)
            def fit_and_tear_down(self: Any, *args: Any, **kwargs: Any) -> Any:
                try:
                    self._skl_callbacks_to_teardown = []  # the teardown asks for it, and the setup makes it second
                    return managed(self, *args, **kwargs)
                finally:
                    for name in ["_callback_fit_ctx", "_skl_callbacks_to_teardown"]:
                        self.__dict__.pop(name, None)

            return fit_and_tear_down
    except ImportError:
        CallbackSupport = OwnCallbackSupport

        def with_callbacks(fit: Any) -> Any:
            """Return the method unchanged: no teardown is needed."""
            return fit
