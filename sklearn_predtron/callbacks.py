"""Callbacks for `fit`."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._core.loss_curve import LossCurve
from sklearn_predtron._queries import shortened
from sklearn_predtron.families._base import BasePredtron

__all__ = ["LossHistory"]


class LossHistory:
    """Record the cumulative loss against rounds, of streams and within the epochs too, in bounded memory.

    Where `size` points have been recorded every other one is dropped, and from then on half as many are taken; those that
    stay are exact.  The record belongs to the fitted estimator: clones, folds and processes have each their own, and it is
    pickled with the estimator.  A round without the callback costs nothing more, one with it a few instructions.

    Parameters
    ----------
    size : int, default=1000
        The most points that are kept, at least 4.

    See Also
    --------
    sklearn_predtron.inspection.OnlineLossDisplay : Draws the curve.

    Notes
    -----
    Set it on the Predtron estimator itself, also within a pipeline or a search.  `fit` and `partial_fit` then record; set in
    mid-stream it records from there.  An estimator has one record, so that two of these callbacks of different sizes on it are
    refused.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.callbacks import LossHistory
    >>> X, y = load_iris(return_X_y=True)
    >>> history = LossHistory(size=100)
    >>> model = PredtronClassifier(random_state=0).set_callbacks(history).fit(X, y)
    >>> rounds, losses = history.curve(model)
    >>> model.t_, len(rounds) <= 100, bool(losses[-1] == model.cumulative_loss_)
    (1500, True, True)
    >>> stream = PredtronClassifier().set_callbacks(history).partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    >>> for i in range(1, 60):
    ...     stream = stream.partial_fit(X[i : i + 1], y[i : i + 1])
    >>> int(history.curve(stream)[0].max())
    60
    """

    runs_without_callbacks = True  # of scikit-learn, which has them from 1.9 on

    def __init__(self, size: int = 1000):
        if not isinstance(size, Integral) or isinstance(size, bool) or size < 4:
            raise ValueError(f"size={size!r} must be an integer of at least 4.")
        self.size: int = size

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"

    def watch(self, estimator: Any) -> LossHistory:
        """Record the rounds of a fitted estimator from now on, without setting the callback on it.

        Parameters
        ----------
        estimator : estimator
            A fitted Predtron estimator.  One that is recorded at this `size` already goes on as it is; at another size its record
            begins anew.

        Returns
        -------
        self : LossHistory
            The callback.

        Raises
        ------
        ValueError
            If a `LossHistory` of another size is set on the estimator.
        """
        learner = check_predtron(estimator)._learner
        self._check_only_size(estimator)
        if learner.history is None or learner.history.size != self.size:
            learner.record(LossCurve(self.size, learner.t, learner.cumulative_loss))
        return self

    def _check_only_size(self, estimator: Any) -> None:
        for other in getattr(estimator, "_skl_callbacks", ()):
            if isinstance(other, LossHistory) and other.size != self.size:
                raise ValueError(
                    f"{self!r} and {other!r} are for the same {type(estimator).__name__}, which has one record; set one of them."
                )

    @staticmethod
    def curve(estimator: Any) -> tuple[NDArray, NDArray]:
        """Return what was recorded of an estimator.

        Parameters
        ----------
        estimator : estimator
            A Predtron estimator that was fitted with this callback, or watched.

        Returns
        -------
        rounds : ndarray of shape (n_points,)
            Rounds, rising, from where the record begins (0 in `fit`) to the last.
        losses : ndarray of shape (n_points,)
            `cumulative_loss_` after each of them.
        """
        history = check_predtron(estimator)._learner.history
        if history is None:
            raise ValueError(
                f"The loss of this {type(estimator).__name__} was not recorded; call set_callbacks(LossHistory()) before fit or "
                "partial_fit, or LossHistory().watch(estimator) to record from here on."
            )
        return history.curve()

    # --------------------------------------------------------------------------------------------------------------- hooks

    def setup(self, estimator: Any, context: Any) -> None:
        """Refuse estimators of other kinds.

        Parameters
        ----------
        estimator : estimator
            What the callback is set on.
        context : sklearn.callback.CallbackContext
            Where the fit stands.
        """
        check_kind(estimator)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing after a fit.

        Parameters
        ----------
        estimator : estimator
            What the callback is set on.
        context : sklearn.callback.CallbackContext
            Where the fit stands.
        """

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Record from here on.

        Parameters
        ----------
        estimator : estimator
            What the callback is set on.
        context : sklearn.callback.CallbackContext
            Where the fit stands.
        """
        self.watch(estimator)

    def on_stream_begin(self, estimator: Any) -> None:
        """Record from here on: the hook of `partial_fit`, which scikit-learn's callbacks do not have.

        Parameters
        ----------
        estimator : estimator
            What the callback is set on.
        """
        self.watch(estimator)

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Do nothing after an epoch.

        Parameters
        ----------
        estimator : estimator
            What the callback is set on.
        context : sklearn.callback.CallbackContext
            Where the fit stands.
        """


def check_kind(estimator: Any) -> None:
    """Return an estimator of this package."""
    if not isinstance(estimator, BasePredtron):
        raise ValueError(
            f"estimator={shortened(estimator)} has no rounds to record; accepted are Predtron estimators.  In a pipeline or a "
            "search set the callback on them."
        )


def check_predtron(estimator: Any) -> Any:
    """Return a fitted estimator of this package."""
    check_kind(estimator)
    check_is_fitted(estimator)
    return estimator
