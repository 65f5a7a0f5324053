"""Norms under which margins are measured."""

from __future__ import annotations

from sklearn_predtron._core.weights import L2 as L2Weights
from sklearn_predtron._core.weights import Intercept, Weights
from sklearn_predtron._parts import Part

__all__ = ["L2", "Norm"]


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
