"""Norms under which margins are measured."""

from __future__ import annotations

from math import floor, log
from numbers import Real

from sklearn_predtron._compat import Interval
from sklearn_predtron._core.p_norms import Group as GroupWeights
from sklearn_predtron._core.p_norms import PNorm as PNormWeights
from sklearn_predtron._core.scaled import Scaled as ScaledWeights
from sklearn_predtron._core.trace import Trace as TraceWeights
from sklearn_predtron._core.weights import L2 as L2Weights
from sklearn_predtron._core.weights import Intercept, Weights
from sklearn_predtron._parts import Part

__all__ = ["L2", "Group", "Norm", "PNorm", "Scaled", "Trace"]


class Norm(Part):
    """Base of the norms."""

    def build(self, d: int, p: int, *, intercept: Intercept, sparse: bool, average: bool, block: bool) -> Weights:
        """Make the compiled weights.

        Parameters
        ----------
        d, p : int
            Scores and features.
        intercept : Intercept
            The virtual feature.
        sparse : bool
            Whether the first rows to come are sparse.
        average : bool
            Whether the iterates are averaged.
        block : bool
            Whether the rows of a round have one score each.

        Returns
        -------
        weights : Weights
            Zero weights.
        """
        raise TypeError(f"{type(self).__name__} does not define build(); a norm must.")


class L2(Norm):
    """The Euclidean (Frobenius) norm: W is changed by steps along the inputs.

    Paper 000, Algorithm 1.  Weights are stored class by class, and feature by feature where the first rows are sparse.

    Examples
    --------
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.norms import L2
    >>> PredtronClassifier(norm=L2())
    PredtronClassifier(norm=L2())
    """

    alias = "l2"

    def build(self, d: int, p: int, *, intercept: Intercept, sparse: bool, average: bool, block: bool) -> Weights:
        return L2Weights(d, p, intercept, by_feature=sparse, averaging=average, block=block)


class Link(Norm):
    """Base of the norms |W|_r with 1/r + 1/q = 1: steps change dual weights, of which W is a power.

    Parameters
    ----------
    q : float or None, default=None
        The dual exponent, at least 2; None is the largest even number up to 2 ln p for p features, or 2.
    """

    _parameter_constraints = {"q": [Interval(Real, 2, None, closed="left"), None]}

    def __init__(self, q: float | None = None):
        self.q = q

    def _exponent(self, p: int) -> float:
        self._validate_params()
        return max(2.0, 2.0 * floor(log(p))) if self.q is None else float(self.q)

    def build(self, d: int, p: int, *, intercept: Intercept, sparse: bool, average: bool, block: bool) -> Weights:
        return PNormWeights(d, p, intercept, self._exponent(p), by_feature=sparse, averaging=average, block=block)


class PNorm(Link):
    """The r-norm of all weights, r close to 1 (alias "l1"): for few relevant features among many.

    The bound on the loss grows with the logarithm of the number of features, and with the number of relevant ones (paper 000,
    Corollary 6; paper 001, B.2).  Theta <- Theta - eta g x^T, W = sign(Theta) |Theta|^(q - 1) / |Theta|_q^(q - 2).

    Parameters
    ----------
    q : float or None, default=None
        The dual exponent, at least 2, 1/r + 1/q = 1; None is the largest even number up to 2 ln p for p features, or 2: the
        powers of even exponents are several times as fast, and (q - 1) p^(2/q), the bound's factor, is no larger than at 2 ln p.
        q = 2 is "l2".

    Examples
    --------
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.norms import PNorm
    >>> PredtronClassifier(norm=PNorm(q=8)).get_params()["norm__q"]
    8
    """

    alias = "l1"


class Group(Link):
    """The r-norm of the columns' Euclidean lengths, r close to 1 (alias "group"): few features matter, to any score.

    A column holds a feature's weights for all scores; with one score it is "l1" (paper 000, Corollary 8).
    Theta <- Theta - eta g x^T, column j of W = Theta_j |Theta_j|^(q - 2) / (sum_j |Theta_j|^q)^((q - 2) / q).

    Parameters
    ----------
    q : float or None, default=None
        The dual exponent, at least 2, 1/r + 1/q = 1; None is the largest even number up to 2 ln p for p features, or 2: the
        powers of even exponents are several times as fast, and (q - 1) p^(2/q), the bound's factor, is no larger than at 2 ln p.
        q = 2 is "l2".

    Examples
    --------
    >>> from sklearn_predtron.norms import Group
    >>> Group()
    Group()
    """

    alias = "group"

    def build(self, d: int, p: int, *, intercept: Intercept, sparse: bool, average: bool, block: bool) -> Weights:
        if d == 1:
            return super().build(d, p, intercept=intercept, sparse=sparse, average=average, block=block)
        return GroupWeights(d, p, intercept, self._exponent(p), by_feature=sparse, averaging=average)


class Trace(Norm):
    """The trace norm (sum of the singular values), for scores that share a few directions of the inputs.

    Paper 001, Algorithm 3, with psi = |W|_S(r)^2 / 2, the Schatten norm of 1 / r + 1 / q = 1.  The steps add up to
    Theta (d x p), whose singular values, to the power q - 1, are those of W: scores along directions that many steps share
    count for more.  A step costs an eigendecomposition of a d x d matrix; nothing ever decomposes W.  For a single score, for a
    single feature and for q = 2 the norm is the Euclidean one, and the weights are those of `L2`.

    Theorem 15 bounds the loss suffered by 4 (q - 1) R^2 C_L^2 / (c_L gamma^2) for weights of trace norm 1 that decode with
    margin gamma, where R is the largest Euclidean length of an input.  `margin` divides by the norm S(r), which is at most the
    trace norm, and `loss_bound` puts the factor q - 1 before |x|^2; the intercept is measured by its Euclidean length.

    Parameters
    ----------
    q : float, default=None
        Exponent of the dual norm, at least 2; None is max(2, 2 ln min(d, p)) for d scores and p features.

    Examples
    --------
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.norms import Trace
    >>> PredtronClassifier(norm=Trace(q=4))
    PredtronClassifier(norm=Trace(q=4))
    """

    alias = "trace"
    _parameter_constraints: dict[str, list] = {"q": [Interval(Real, 2, None, closed="left"), None]}

    def __init__(self, q: float | None = None):
        self.q = q

    def build(self, d: int, p: int, *, intercept: Intercept, sparse: bool, average: bool, block: bool) -> Weights:
        self._validate_params()
        least = min(d, p)
        q = max(2.0, 2 * log(least)) if self.q is None else float(self.q)
        if block or least == 1 or q == 2:
            return L2Weights(d, p, intercept, by_feature=sparse, averaging=average, block=block)
        return TraceWeights(d, p, q, intercept, by_feature=sparse, averaging=average)


class Scaled(Norm):
    """A norm for raw features: a running centre and variance of each, as if they had been standardised beforehand.

    The weights are the sums of all steps, theta along the inputs and beta along 1, and are read under today's centre mu and
    variance v (of a feature's non-zero values, about the mean of all)::

        score(x) = sum_j (theta_j - mu_j beta) (x_j - mu_j) / v_j + r2 beta

    so that every past step is re-expressed as the statistics move.  A column of any unit and offset will do, sparse or dense;
    gross outliers are clipped, and nothing is learned from rows before the first that differs from another.  `fit` gathers
    the statistics in its first epoch, `partial_fit` always.  Without an intercept (``fit_intercept=False``) the features
    have their centre all the same; a ranker of documents, for which no centre matters, only divides.  `coef_` and
    `intercept_` are for raw features.  No loss bound is proven while the statistics run.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn_predtron import PredtronClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> scores = [PredtronClassifier(norm=norm, random_state=0).fit(X, y).score(X, y) for norm in ["l2", "scaled"]]
    >>> [round(score, 2) for score in scores]
    [0.69, 1.0]
    """

    alias = "scaled"

    def build(self, d: int, p: int, *, intercept: Intercept, sparse: bool, average: bool, block: bool) -> Weights:
        return ScaledWeights(d, p, intercept, sparse=sparse, averaging=average, block=block)
