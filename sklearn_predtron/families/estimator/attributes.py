"""Attributes of estimators that are read off what was learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import NotFittedError

from sklearn_predtron.decisions._calibration import calibration_of
from sklearn_predtron.decisions._rules import Learned
from sklearn_predtron.families.input.tables import FirstRows
from sklearn_predtron.features import ROWS_OF_STREAMS, FeatureMap


def unfitted(estimator: Any, name: str) -> NotFittedError:
    """Return the error of an estimator that has learned nothing."""
    return NotFittedError(f"This {type(estimator).__name__} is not fitted yet, and has no {name}; call fit or partial_fit first.")


class learned(property):
    """A property of what was learned: an estimator that has learned nothing has none."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is not None and instance._model is None:
            raise unfitted(instance, self.fget.__name__)  # type: ignore[union-attr]
        return super().__get__(instance, owner)


def absent(estimator: Any, name: str) -> AttributeError:
    """Return the error of an attribute that what was learned has not."""
    return AttributeError(f"{type(estimator).__name__!r} object has no attribute {name!r}")


def recorded(name: str, what: str, *, by_fit: bool = False) -> learned:
    """Return the property of something that `fit` tells of its epochs, or a callback of it."""

    def value(estimator: Any) -> Any:
        record = estimator._model.record
        if name in record:
            return record[name]
        if by_fit:
            raise AttributeError(f"{name} is set by fit, and this {type(estimator).__name__} has learned by partial_fit alone.")
        raise absent(estimator, name)

    value.__name__, value.__doc__ = name, what
    return learned(value)


def counted(name: str, what: str) -> learned:
    """Return the property of something that the learner counts, whose name has no underscore at its end."""

    def value(estimator: Any) -> Any:
        return getattr(estimator._model.learner, name[:-1])

    value.__name__, value.__doc__ = name, what
    return learned(value)


def of_expansion(name: str, what: str, reader: Callable[[Any], Any]) -> learned:
    """Return the property of something that a reader finds in the weights of a kernel."""

    def value(estimator: Any) -> Any:
        learner = estimator._model.learner
        if learner.weights.expansion is None:
            raise AttributeError("dual_coef_, support_ and budget_loss_ are for norm=RKHS(...); other norms have coef_.")
        return learner.read(lambda weights: reader(weights.expansion))

    value.__name__, value.__doc__ = name, what
    return learned(value)


def fitted_map(estimator: Any) -> FeatureMap:
    """Return the map that makes features of a table."""
    found = estimator._model.columns.features
    if isinstance(found, FirstRows):
        raise AttributeError(
            f"features_ is the map that the first {ROWS_OF_STREAMS} rows of a stream make; so far there are {found.n}, which are "
            "learned as they are."
        )
    if found is None:
        raise absent(estimator, "features_")
    return found


def names_of(estimator: Any) -> NDArray:
    """Return the names of labels."""
    names = estimator._model.labels.names
    if names is None:
        raise absent(estimator, "label_names_")
    return names


def check_has_probabilities(estimator: Any) -> bool:
    """Refuse `predict_proba` where what was learned knows none, or a fit would learn none."""
    model, rule, reject = estimator._model, estimator.decision, getattr(estimator, "reject", None)
    if model is None:
        return not (isinstance(rule, Learned) or rule == "learned" or getattr(reject, "rule", None) is not None)
    if model.learner.t > 0:
        check_of_last_epoch(model)
        calibration_of(model.decision_of(estimator._decision)).check_known(model.learner, model.settled)
    return True


def check_of_last_epoch(model: Any) -> None:
    """Refuse to make probabilities of the scores of a first epoch, if others followed: too little was learned by then."""
    told_at = (model.settled or {}).get("first_epoch")
    if told_at is not None and told_at == getattr(model.learner.observer, "recorded", None):
        raise ValueError(
            "probabilities are made of scores of rows that were not learned, and after several epochs with cv=0 there are none: "
            "call fit with cv=None, which holds rows out, or with max_iter=1, or learn on by partial_fit."
        )


def shifted_intercept(estimator: Any) -> NDArray:
    """Return the offsets of the scores that predict, less what the decision takes off."""
    model = estimator._model
    with model.learner.lock.reading():
        offsets = model.learner.read(lambda weights: weights.mean()[1])
        decision = model.decision_of(estimator._decision)
        shift = decision.now(model.learner, model.settled).shift(model.learner.problem) if decision.shifts else None
    return read_only(offsets if shift is None else offsets - shift)


def read_only(values: NDArray) -> NDArray:
    """Return the array, a write to which would change nothing but itself, and so is an error."""
    stored: NDArray = values.data if sparse.issparse(values) else values  # type: ignore[assignment]
    stored.setflags(write=False)
    return values
