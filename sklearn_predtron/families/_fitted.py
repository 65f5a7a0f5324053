"""What an estimator has learned, read off its learner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import NotFittedError

from sklearn_predtron._core.learner import Learner


def unfitted(estimator: Any, name: str) -> NotFittedError:
    return NotFittedError(f"This {type(estimator).__name__} is not fitted yet, and has no {name}; call fit or partial_fit first.")


class learned(property):
    """A property of what was learned: an estimator that has learned nothing has none."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is not None and "_learner" not in vars(instance):
            raise unfitted(instance, self.fget.__name__)  # type: ignore[union-attr]
        return super().__get__(instance, owner)


class AfterFit:
    """An attribute of the instance that `fit` sets: what is read before that, or where there is none for the reason given."""

    def __init__(self, reason: str = "is set by fit, and this {kind} has learned by partial_fit alone"):
        self.reason = reason

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        if "_learner" not in vars(instance):
            raise unfitted(instance, self.name)
        raise AttributeError(f"{self.name} {self.reason.format(kind=type(instance).__name__)}.")


class Fitted:
    """Weights and counts as attributes; arrays are copies of what predicts, and cannot be written."""

    _learner: Learner
    _shown_norm: Callable[[], Any]

    @learned
    def norm_(self) -> Any:
        """The parameter `norm`, or what "auto" stands for since the first rows."""
        return self._shown_norm()

    @learned
    def coef_(self) -> NDArray:
        """Weights that predict, of shape (d, n_features): the average of the iterates, or the last one."""
        return read_only(self._learner.read(lambda weights: weights.primal(weights.mean()[0])))

    @learned
    def intercept_(self) -> NDArray:
        """Offsets of the scores that predict, of shape (d,)."""
        return read_only(self._learner.read(lambda weights: weights.mean()[1]))

    @learned
    def last_coef_(self) -> NDArray:
        """Weights of the last iterate, of shape (d, n_features)."""
        return read_only(self._learner.read(lambda weights: weights.primal(weights.last()[0])))

    @learned
    def dual_coef_(self) -> NDArray:
        """With a kernel, the coefficients of the support that predict, of shape (d, n_support)."""
        return read_only(self._of_expansion(lambda expansion: expansion.mean()[0]))

    @learned
    def last_dual_coef_(self) -> NDArray:
        """With a kernel, the coefficients of the support in the last iterate, of shape (d, n_support)."""
        return read_only(self._of_expansion(lambda expansion: expansion.last()[0]))

    @learned
    def support_(self) -> NDArray:
        """With a kernel, the rows of the support, numbered in the order in which all rows so far were given."""
        return read_only(self._of_expansion(lambda expansion: expansion.row_numbers))

    @learned
    def budget_loss_(self) -> float:
        """With a kernel and a budget, the sum of the lengths of what was cut off the weights."""
        return self._of_expansion(lambda expansion: expansion.truncation_loss)

    def _of_expansion(self, reader: Callable[[Any], Any]) -> Any:
        """Return what a reader finds in the weights of a kernel."""
        if self._learner.weights.expansion is None:
            raise AttributeError("dual_coef_, support_ and budget_loss_ are for norm=RKHS(...); other norms have coef_.")
        return self._learner.read(lambda weights: reader(weights.expansion))

    @learned
    def last_intercept_(self) -> NDArray:
        """Offsets of the last iterate, of shape (d,)."""
        return read_only(self._learner.read(lambda weights: weights.last()[1]))

    @learned
    def t_(self) -> int:
        """Rounds so far."""
        return self._learner.t

    @learned
    def n_mistakes_(self) -> int:
        """Rounds in which a maximiser of the score lost."""
        return self._learner.n_mistakes

    @learned
    def n_updates_(self) -> int:
        """Rounds that took a step."""
        return self._learner.n_updates

    @learned
    def average_(self) -> Any:
        """What predicts, as the parameter `average` says it: under "auto", the candidate that has lately lost least."""
        learner = self._learner
        return learner.average.named() if learner.weights.averaging else False

    @learned
    def progressive_loss_(self) -> float:
        """Mean loss of what predicted, each time before the round.

        With average="auto" it is of the rounds since that was set, but for later epochs of `fit`; with average=False, the last
        iterate's in all rounds so far, whatever predicted in those before it was set.
        """
        learner = self._learner
        if not learner.weights.averaging:
            return learner.cumulative_loss / learner.t if learner.t else float("nan")
        if learner.average.every == 0:
            raise AttributeError(
                f"progressive_loss_ is there with average='auto', as in streams by default, and with average=False; what "
                f"average={learner.average.named()!r} predicted is not followed.  metrics.progressive_val_score measures any."
            )
        return learner.average.mean_loss()

    @learned
    def cumulative_loss_(self) -> float:
        """Loss suffered online, each prediction made by the last iterate before its round's step."""
        return self._learner.cumulative_loss


def read_only(values: NDArray) -> NDArray:
    """The array, a write to which would change nothing but itself, and so is an error."""
    stored: NDArray = values.data if sparse.issparse(values) else values  # type: ignore[assignment]
    stored.setflags(write=False)
    return values
