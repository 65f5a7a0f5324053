"""Problems written in Python; they have a common base; the features of some also depend on the prediction."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from numpy.typing import NDArray
from scipy import sparse

from sklearn_predtron._support.compat import BaseEstimator
from sklearn_predtron._support.queries import shortened

METHODS = ["decode", "loss", "features", "augmented_decode", "correct"]


class JudgedProblem(BaseEstimator):
    """Base of problems, with loss and correct prediction."""

    c_L: float | None = None
    C_L: float | None = None

    def loss(self, prediction: Any, y: Any) -> float:
        """Compute the loss L(sigma, y) of a prediction.

        It is at least 0, and 0 for a correct prediction.

        Parameters
        ----------
        prediction : object
            A result of `decode` or `augmented_decode`.
        y : object
            A label.

        Returns
        -------
        float
            The loss.
        """
        raise TypeError(f"{type(self).__name__} does not define loss(prediction, y); a problem must.")

    def correct(self, y: Any, competitor: Any) -> Any:
        """Choose sigma_y, a prediction without loss on y.

        The base method returns y itself.

        Parameters
        ----------
        y : object
            A label.
        competitor : object
            The competitor of the round, for choices that depend on it.

        Returns
        -------
        object
            A prediction with loss 0.
        """
        return y


class JointProblem(JudgedProblem):
    """Base of problems with joint features.

    Their features depend on the prediction as well as on the input.  Such problems are written in Python.

    A prediction sigma for x has the score <w, Phi(x, sigma)>, where `Problem` has <rep(sigma), W x>.  Phi can be any function of
    an input and a prediction (Shalev-Shwartz and Ben-David 2014, section 17.2).  A subclass sets `n_features` and defines
    `features`, `decode`, `loss` and `augmented_decode`; if predictions and labels are of different types it also defines
    `correct`.  X is a sequence of objects of any type, which only these methods read.

    w is a read-only array that the next round changes: copy values that you keep.  As for a `Problem`, each round checks the
    results of the methods, as far as that is cheap.  Losses are numbers from 0 to 1e100 that agree with c_L and C_L; features are
    finite and `n_features` in number; `correct` has no loss; no other prediction of the round beats the result of a decoder
    beyond rounding (1e-9).  `estimator_checks.check_problem` checks more.

    Attributes
    ----------
    n_features : int
        Number of joint features, the length of w.
    c_L, C_L : float or None
        The least positive loss and the largest loss; required for the theorems' steps and bounds.
    predictions : callable
        Optional: ``predictions(x)`` lists all predictions for x, if they are few enough, for `estimator_checks.check_problem`.

    See Also
    --------
    Predtron : The estimator for such problems.
    sklearn_predtron.estimator_checks.check_problem : Checks of all requirements of a problem.

    Examples
    --------
    The documents and topics of section 17.2.1: word j of a document x of topic y counts TF(j, x) log(m / DF(j, y)), where DF is
    the number of documents of other topics that have the word (and 1 more here, for words that no other topic has).  There are as
    many features as words, whatever the number of topics:

    >>> import numpy as np
    >>> from sklearn_predtron import JointProblem, Predtron
    >>> class Topics(JointProblem):
    ...     c_L = C_L = 1.0
    ...     def __init__(self, rarity):
    ...         self.rarity = rarity  # log(m / (1 + DF)), a row for each topic
    ...     @property
    ...     def n_features(self):
    ...         return self.rarity.shape[1]
    ...     def features(self, x, topic):
    ...         return x * self.rarity[topic]
    ...     def decode(self, w, x):
    ...         return int((self.rarity @ (w * x)).argmax())
    ...     def augmented_decode(self, w, x, y):
    ...         return int((self.rarity @ (w * x) + (np.arange(len(self.rarity)) != y)).argmax())
    ...     def loss(self, prediction, y):
    ...         return float(prediction != y)
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(3, size=300)
    >>> words = rng.poisson(0.1 + 0.3 * (np.arange(30) % 3 == y[:, None]))
    >>> frequency = np.array([(words[y != topic] > 0).sum(axis=0) for topic in range(3)])
    >>> model = Predtron(Topics(np.log(300 / (1 + frequency))), random_state=0).fit(words[:200], y[:200])
    >>> model.coef_.shape, bool(model.score(words[200:], y[200:]) > 0.8)
    ((30,), True)
    """

    n_features: int

    def features(self, x: Any, prediction: Any) -> Any:
        """Compute the joint features Phi(x, sigma).

        Parameters
        ----------
        x : object
            An input, an entry of X.
        prediction : object
            A prediction.

        Returns
        -------
        {ndarray of shape (n_features,), sparse matrix of shape (1, n_features)}
            Phi(x, sigma).  CSR rows are read as they are, and an update along them changes only the features that differ.
        """
        raise TypeError(f"{type(self).__name__} does not define features(x, prediction); a problem must.")

    def decode(self, w: NDArray, x: Any) -> Any:
        """Predict for an input: a maximiser of <w, Phi(x, sigma)>.

        Parameters
        ----------
        w : ndarray of shape (n_features,)
            Weights.
        x : object
            An input.

        Returns
        -------
        object
            The prediction.
        """
        raise TypeError(f"{type(self).__name__} does not define decode(w, x); a problem must.")

    def augmented_decode(self, w: NDArray, x: Any, y: Any) -> Any:
        """Find the loss-augmented competitor.

        It is a maximiser of L(sigma, y) + <w, Phi(x, sigma)>.

        Parameters
        ----------
        w : ndarray of shape (n_features,)
            Weights.
        x : object
            An input.
        y : object
            Its label.

        Returns
        -------
        object
            A prediction.
        """
        raise TypeError(f"{type(self).__name__} does not define augmented_decode(w, x, y); a problem must.")


def is_joint(problem: Any) -> bool:
    """Return whether a problem has joint features instead of representations."""
    return isinstance(problem, JointProblem) or (
        not hasattr(problem, "representation") and all(callable(getattr(problem, name, None)) for name in METHODS)
    )


def objects_of(X: Any) -> list[Any]:
    """Return the entries of a sequence; raise ValueError if X is not a sequence, or is empty."""
    if sparse.issparse(X):
        rows = X.tocsr()
        objects = [rows[[i]] for i in range(rows.shape[0])]
    elif getattr(X, "ndim", 1) > 1 and hasattr(X, "iloc"):
        objects = [X.iloc[i] for i in range(len(X))]
    elif hasattr(X, "iter_rows"):  # iterating a polars frame gives its columns
        objects = list(X.iter_rows())
    elif isinstance(X, (str, bytes, Mapping, Set)) or not (hasattr(X, "__len__") and hasattr(X, "__iter__")) or not has_length(X):
        raise ValueError(
            f"X is {shortened(X)}; accepted for a problem of joint features are sequences of objects, such as lists and arrays."
        )
    else:
        objects = list(X)
    if not objects:
        raise ValueError("X is empty; accepted are sequences of at least one object.")
    return objects


def has_length(X: Any) -> bool:
    """Return whether X has a length; an array without dimensions has none."""
    return getattr(X, "ndim", 1) > 0
