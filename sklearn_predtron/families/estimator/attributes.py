"""Descriptors of attributes that are read from the fitted model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from scipy import sparse

from sklearn_predtron._support.compat import as_configured
from sklearn_predtron.features import FeatureMap


class learned(property):
    """A property of the fitted model; reading it from an unfitted estimator raises NotFittedError."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is not None and instance._model is None:
            raise instance._unfitted(self.fget.__name__)  # type: ignore[union-attr]
        return super().__get__(instance, owner)


def recorded(name: str, what: str, *, by_fit: bool = False) -> learned:
    """Return the property of a recorded value; it is recorded by `fit` or by a callback."""

    def value(estimator: Any) -> Any:
        record = estimator._model.fit_record
        if by_fit and name not in record:
            raise AttributeError(f"{name} is set by fit, and this {type(estimator).__name__} was trained by partial_fit only.")
        return estimator._present(name, record.get(name))

    value.__name__, value.__doc__ = name, what
    return learned(value)


def counted(name: str, what: str) -> learned:
    """Return the property of a learner's counter; the learner's name of it has no underscore at its end."""

    def value(estimator: Any) -> Any:
        return getattr(estimator._model.learner, name[:-1])

    value.__name__, value.__doc__ = name, what
    return learned(value)


def of_columns(name: str, what: str, reader: Callable[[Any], Any]) -> learned:
    """Return the property of weights of columns as they are; `reader` finds the value in the weights."""

    def value(estimator: Any) -> Any:
        model = estimator._model
        if isinstance(model.columns.features, FeatureMap):
            raise AttributeError(
                f"{name} has the weights of columns as they are, and this model uses a feature map, "
                f"{type(model.columns.features).__name__}.  Use feature_importances_, or fit with features=None, "
                "a linear model."
            )
        return as_configured(read_only(model.learner.read(lambda weights: weights.primal(reader(weights)))))

    value.__name__, value.__doc__ = name, what
    return learned(value)


def of_expansion(name: str, what: str, reader: Callable[[Any], Any]) -> learned:
    """Return the property of a kernel expansion; `reader` finds the value in the expansion."""

    def value(estimator: Any) -> Any:
        learner = estimator._model.learner
        if learner.weights.expansion is None:
            raise AttributeError("dual_coef_, support_ and budget_loss_ are for norm=RKHS(...); other norms have coef_.")
        return learner.read(lambda weights: reader(weights.expansion))

    value.__name__, value.__doc__ = name, what
    return learned(value)


def read_only(values: NDArray) -> NDArray:
    """Return the array, set to read-only; writing to this copy would not change the model."""
    stored: NDArray = values.data if sparse.issparse(values) else values  # type: ignore[assignment]
    stored.setflags(write=False)
    return values
