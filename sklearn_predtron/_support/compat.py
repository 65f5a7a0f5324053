"""All imports from private or new parts of scikit-learn."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from sklearn.base import BaseEstimator, is_classifier
from sklearn.metrics import make_scorer
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions, make_constraint
from sklearn.utils.validation import _check_sample_weight

# The class by which callbacks and searches recognise a scorer.
Scorer: type = type(make_scorer(min))

__all__ = [
    "CachedParameterNames",
    "CallbackSupport",
    "CvObject",
    "HasMethods",
    "Interval",
    "Options",
    "Scorer",
    "StrOptions",
    "asked_of_any",
    "check_sample_weight",
    "linear_classifier",
    "linear_regressors",
    "with_callbacks",
]

# Weights may all be zero; scikit-learn before 1.9 does not ask.
ALL_ZERO = {name: True for name in inspect.signature(_check_sample_weight).parameters if name == "allow_all_zero_weights"}
check_sample_weight = functools.partial(_check_sample_weight, dtype=np.float64, ensure_non_negative=True, **ALL_ZERO)


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


try:
    import sklearn.callback
    from sklearn.callback import CallbackSupportMixin as CallbackSupport

    def with_callbacks(fit: Any) -> Any:
        """Return the method with teardown of its callbacks.

        An interrupt can fall anywhere in their setup.
        """
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
