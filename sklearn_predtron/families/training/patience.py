"""Early stopping: the number of epochs by the progressive loss."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real

from sklearn_predtron._support.compat import CachedParameterNames


class Patience(CachedParameterNames):
    """Stop `fit` when epochs no longer lower the mean loss.

    An epoch improves if its mean progressive loss is lower than the best so far by more than `tol`.  `fit` stops after
    `n_iter_no_change` consecutive epochs without an improvement.

    Parameters
    ----------
    tol : float
        By how much an epoch has to be better than the best so far, at least 0.
    n_iter_no_change : int, default=5
        After how many epochs in a row without an improvement `fit` stops, at least 1.

    See Also
    --------
    PredtronClassifier : Takes it as its parameter `tol`, as all estimators do.
    sklearn_predtron.callbacks.EarlyStopping : Stops when predictions of held-out rows no longer improve.

    Notes
    -----
    Estimators take it as their parameter `tol`; a number stands for `Patience` with that `tol`, and None for no end before
    `max_iter`.  `fit` checks the values; a ValueError names `tol`, the given value and the accepted ones.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_predtron import Patience, PredtronClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> for tol in (None, 0.01, Patience(0.01, n_iter_no_change=2)):
    ...     print(PredtronClassifier(max_iter=50, tol=tol, random_state=0).fit(X, y).n_iter_)
    50
    8
    5
    """

    def __init__(self, tol: float, n_iter_no_change: int = 5):
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change

    def _check(self) -> None:
        """Raise ValueError if a value is not valid."""
        tol, patience = self.tol, self.n_iter_no_change
        if not isinstance(tol, Real) or isinstance(tol, bool) or not 0 <= tol < float("inf"):
            raise ValueError(f"tol={self!r} has tol={tol!r}; accepted is a finite number of at least 0.")
        if not isinstance(patience, Integral) or isinstance(patience, bool) or patience < 1:
            raise ValueError(f"tol={self!r} has n_iter_no_change={patience!r}; accepted is an integer of at least 1.")

    def _is_over(self, losses: Sequence[float]) -> bool:
        """Return whether the last epochs brought no improvement; the mean loss of each epoch so far is given."""
        earlier, last = losses[: -self.n_iter_no_change], losses[-self.n_iter_no_change :]
        best = min(earlier, default=float("inf"))
        for loss in last:
            if loss < best - self.tol:
                return False
            best = min(best, loss)
        return True


def checked_patience(tol: Patience | float) -> Patience:
    """Return the parameter `tol` as a validated `Patience`."""
    if isinstance(tol, bool):
        raise ValueError(f"tol={tol} is ambiguous; accepted are None, a finite number of at least 0 and a Patience.")
    patience = tol if isinstance(tol, Patience) else Patience(tol)
    patience._check()
    return patience
