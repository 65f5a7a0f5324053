"""Prediction problems that a user writes in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sklearn_predtron._compat import HasMethods
from sklearn_predtron.families._base import BasePredtron
from sklearn_predtron.families._docstrings import documented
from sklearn_predtron.families._patience import Patience
from sklearn_predtron.families._validation import mean_loss
from sklearn_predtron.problems._base import Labels
from sklearn_predtron.problems._user import Objects, PythonProblem

__all__ = ["Predtron", "Problem"]


class Problem(BaseEstimator):
    """Base of the prediction problems written in Python.

    A subclass sets `n_scores` and defines `decode`, `loss`, `representation` and `augmented_decode`; where predictions and
    labels are of different kinds it also defines `correct`.  Where several predictions have the largest score, the loss of a
    round is that of the one which `decode` returns.

    Each round checks what the methods return, as far as that is cheap: losses are numbers from 0 to 1e100 that agree with c_L and
    C_L, representations are finite, of length 1 (to within 1e-6) and no further apart than D2 says, `correct` has no loss, and
    neither `decode` nor `augmented_decode` returns what another prediction of the round beats beyond rounding (1e-9).  A
    ValueError says what is wrong, and leaves the model as it was after the last complete round.  `estimator_checks.check_problem`
    looks further.

    Attributes
    ----------
    n_scores : int
        Dimension d of the scores and of the representation.
    c_L, C_L : float or None
        The least positive loss and the largest, where the theorems' steps and bounds are wanted.
    D2 : float or None
        The largest |rep(sigma) - rep(sigma')|^2, for bounds tighter than with 4, which unit vectors cannot exceed.
    predictions : iterable
        Optional: all predictions, where they are few enough to be listed, for `estimator_checks.check_problem`.

    See Also
    --------
    sklearn_predtron.estimator_checks.check_problem : Checks of all that a problem promises.

    Examples
    --------
    A digit predicted on a circle of twelve hours, where the loss is the way round:

    >>> import numpy as np
    >>> from sklearn_predtron import Predtron, Problem
    >>> class Clock(Problem):
    ...     n_scores, c_L, C_L = 2, 1.0, 6.0
    ...     code = np.column_stack([np.cos(np.arange(12) * np.pi / 6), np.sin(np.arange(12) * np.pi / 6)])
    ...     def decode(self, t):
    ...         return int((self.code @ t).argmax())
    ...     def loss(self, prediction, y):
    ...         way = abs(prediction - y) % 12
    ...         return float(min(way, 12 - way))
    ...     def representation(self, prediction):
    ...         return self.code[prediction]
    ...     def augmented_decode(self, t, y):
    ...         return int((self.code @ t + [self.loss(hour, y) for hour in range(12)]).argmax())
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 2))
    >>> y = np.floor(np.arctan2(X[:, 1], X[:, 0]) * 6 / np.pi).astype(int) % 12
    >>> model = Predtron(Clock(), max_iter=5, random_state=0).fit(X, y)
    >>> bool(model.sample_loss(X, y).mean() < 1)
    True
    """

    n_scores: int
    c_L: float | None = None
    C_L: float | None = None
    D2: float | None = None

    def decode(self, t: NDArray) -> Any:
        """Predict from scores: a maximiser of <rep(sigma), t>, equation (1) of Jain et al. (2015).

        Parameters
        ----------
        t : ndarray of shape (n_scores,)
            Scores.

        Returns
        -------
        prediction : object
            The prediction.
        """
        raise TypeError(f"{type(self).__name__} does not define decode(t); a problem must.")

    def loss(self, prediction: Any, y: Any) -> float:
        """Compute L(sigma, y), not negative, and 0 for a right prediction.

        Parameters
        ----------
        prediction : object
            What `decode` or `augmented_decode` returned.
        y : object
            A label.

        Returns
        -------
        loss : float
            The loss.
        """
        raise TypeError(f"{type(self).__name__} does not define loss(prediction, y); a problem must.")

    def representation(self, prediction: Any) -> NDArray:
        """Represent a prediction by a unit vector.

        Parameters
        ----------
        prediction : object
            A prediction.

        Returns
        -------
        rep : ndarray of shape (n_scores,)
            rep(sigma).
        """
        raise TypeError(f"{type(self).__name__} does not define representation(prediction); a problem must.")

    def augmented_decode(self, t: NDArray, y: Any) -> Any:
        """Find the loss-augmented competitor: a maximiser of L(sigma, y) + <rep(sigma), t>, equation (2) of Jain et al. (2015).

        Parameters
        ----------
        t : ndarray of shape (n_scores,)
            Scores.
        y : object
            A label.

        Returns
        -------
        competitor : object
            A prediction.
        """
        raise TypeError(f"{type(self).__name__} does not define augmented_decode(t, y); a problem must.")

    def correct(self, y: Any, competitor: Any) -> Any:
        """Choose sigma_y, a prediction without loss on y; y itself unless it is overridden.

        Parameters
        ----------
        y : object
            A label.
        competitor : object
            The competitor of the round, for choices that depend on it.

        Returns
        -------
        sigma_y : object
            A prediction with loss 0.
        """
        return y


def of_two_scores() -> Problem:
    """Return a problem that is good for nothing but to be built."""
    problem = Problem()
    problem.n_scores = 2
    return problem


@documented({"problem": of_two_scores()}, d="n_scores")
class Predtron(BasePredtron):
    """Learner for a prediction problem written in Python.

    The same loop, updates and averages as the other estimators, at the speed of Python.

    Parameters
    ----------
    problem : Problem
        The prediction space with its loss, representation and decoders.
    {norm}
    {update}
    {average}
    {fit_intercept}
    {intercept_scaling}
    {max_iter}
    {tol}
    {shuffle}
    {random_state}
    {warm_start}

    Attributes
    ----------
    coef_ : ndarray of shape (n_scores, n_features)
        Weights that predict.
    intercept_ : ndarray of shape (n_scores,)
        Offsets of the scores.
    {last_coef_}
    {last_intercept_}
    {dual_coef_}
    {t_}
    {n_mistakes_}
    {n_updates_}
    {cumulative_loss_}
    {loss_curve_}
    {n_iter_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    Problem : What to define.

    Examples
    --------
    See `Problem`.
    """

    _parameter_constraints: dict[str, list] = {
        **BasePredtron._parameter_constraints,
        "problem": [HasMethods(["decode", "loss", "representation", "augmented_decode", "correct"])],
    }

    def __init__(
        self,
        problem: Any,
        *,
        norm: Any = "l2",
        update: Any = "adaptive",
        average: Any = None,
        fit_intercept: bool = True,
        intercept_scaling: Any = "auto",
        max_iter: int | None = None,
        tol: Patience | float | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
    ):
        self.problem = problem
        self.norm = norm
        self.update = update
        self.average = average
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.warm_start = warm_start

    def _read_labels(self, y: Any, classes: Any, *, fresh: bool, partial: bool) -> Labels:
        return Objects(y if hasattr(y, "__iter__") else np.atleast_1d(np.asarray(y)))

    def _build_problem(self) -> PythonProblem:
        return PythonProblem(self.problem)

    def decision_function(self, X: Any) -> NDArray:
        """Compute the scores t = W x + b.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_scores)
            Scores.
        """
        return self._scores(X)

    def predict(self, X: Any) -> NDArray:
        """Predict.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        predictions : ndarray of length n_samples
            What the problem's `decode` returns, as an array (of objects where they do not make a regular one).
        """
        predictions = self._learner_decode(X)
        try:
            return np.asarray(predictions)
        except ValueError:
            array = np.empty(len(predictions), dtype=object)
            array[:] = predictions
            return array

    def _learner_decode(self, X: Any) -> list[Any]:
        scores = self._scores(X)
        return self._learner.problem.decode(scores)

    def sample_loss(self, X: Any, y: Sequence[Any]) -> NDArray:
        """Compute the problem's loss of each prediction.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : sequence of length n_samples
            Labels.

        Returns
        -------
        loss : ndarray of shape (n_samples,)
            L(sigma, y).
        """
        return self._loss_of(self._raw_predict(X), y)

    def _raw_predict(self, X: Any) -> list[Any]:
        return self._learner_decode(X)

    def _loss_of(self, predicted: list[Any], y: Sequence[Any]) -> NDArray:
        if len(y) != len(predicted):
            raise ValueError(f"X has {len(predicted)} rows and y has {len(y)}; both must have the same number.")
        loss_of = self._build_problem().loss_of
        return np.array([loss_of(prediction, label) for prediction, label in zip(predicted, y, strict=True)], dtype=np.float64)

    def score(self, X: Any, y: Sequence[Any], sample_weight: Any = None) -> float:
        """Compute 1 - the mean loss of the problem.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : sequence of length n_samples
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the mean.

        Returns
        -------
        score : float
            At most 1, which is perfect.
        """
        return 1 - mean_loss(self.sample_loss(X, y), sample_weight)
