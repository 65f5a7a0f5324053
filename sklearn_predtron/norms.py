"""Norms under which margins are measured."""

from __future__ import annotations

from sklearn_predtron._core.scaled import Scaled as ScaledWeights
from sklearn_predtron._core.weights import L2 as L2Weights
from sklearn_predtron._core.weights import Intercept, Weights
from sklearn_predtron._parts import Part

__all__ = ["L2", "Norm", "Scaled"]


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
