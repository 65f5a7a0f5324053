"""Losses of sequences of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.parts import Part, resolve
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.losses.multiclass import CostMatrix, CostTableLoss, costs_of
from sklearn_predtron.problems._chain import ChainProblem, HammingChain, ZeroOneChain


class SequenceLoss(Part):
    """Base of the losses L(sigma, y) of sequences of labels.

    See Also
    --------
    SequenceHamming : Counts tokens.
    SequenceZeroOne : Counts sequences.
    sklearn_predtron.PredtronSequenceTagger : Trains with it.

    Examples
    --------
    Two sequences, of three tokens and of two; labels are given by their indices in `classes`:

    >>> import numpy as np
    >>> from sklearn_predtron.losses import SequenceHamming, SequenceLoss, SequenceZeroOne
    >>> true, predicted, start = np.array([0, 1, 2, 2, 0]), np.array([1, 2, 2, 2, 0]), np.array([0, 3, 5])
    >>> for loss in (SequenceHamming(), SequenceZeroOne()):
    ...     print(isinstance(loss, SequenceLoss), loss.evaluate(true, predicted, start, np.array(["B", "I", "O"])))
    True [2. 0.]
    True [1. 0.]
    """

    constants_of = "classes"
    additive = False  # whether it is the sum of its tokens' costs

    def build(self, transition_scaling: float, classes: NDArray, allowed: NDArray | None = None) -> ChainProblem:
        """Build the compiled problem.

        Parameters
        ----------
        transition_scaling : float
            Squared length of a transition's feature, relative to the intercept's.
        classes : ndarray of shape (K,)
            The labels, in the order of `classes_`.
        allowed : ndarray of shape (K + 1, K) or None
            Whether column's label may follow the row's label, and in the last row, whether it may be first; None allows all.

        Returns
        -------
        ChainProblem
            The linear chain with this loss.
        """
        raise TypeError(f"{type(self).__name__} does not define build(); a loss of sequences must.")

    def table(self, classes: NDArray) -> NDArray | None:
        """Tabulate the costs of wrong tokens.

        Parameters
        ----------
        classes : ndarray of shape (K,)
            The labels, in the order of `classes_`.

        Returns
        -------
        ndarray of shape (K, K) or None
            Rows = true label, columns = prediction; None is a cost of 1 for each wrong token.
        """
        return None

    def evaluate(self, true: NDArray, predicted: NDArray, start: NDArray, classes: NDArray) -> NDArray:
        """Compute the loss L(sigma, y) of sequences.

        Parameters
        ----------
        true, predicted : ndarrays of int, of shape (n_tokens,)
            The labels y and sigma, by their indices in `classes`, sequence by sequence.
        start : ndarray of int, of shape (n_sequences + 1,)
            Index of the first token of each sequence, and the end of the last one.
        classes : ndarray of shape (K,)
            The labels, in the order of `classes_`.

        Returns
        -------
        ndarray of shape (n_sequences,)
            Loss of each sequence: the sum of its tokens' costs if `additive`; otherwise 1 for a sequence with any cost.
        """
        costs = self.table(classes)
        of_tokens = (predicted != true).astype(np.float64) if costs is None else costs[true, predicted]
        if len(of_tokens) == 0:
            return np.zeros(0)
        losses = np.add.reduceat(of_tokens, start[:-1])
        return losses if self.additive else (losses > 0).astype(np.float64)

    def constants(self, classes: NDArray, longest: int = 1) -> tuple[float, float]:
        """Return the loss constants c_L and C_L.

        These are the least positive loss and the largest.

        Parameters
        ----------
        classes : ndarray of shape (K,)
            The labels, in the order of `classes_`.
        longest : int, default=1
            Number of tokens of the longest sequence.

        Returns
        -------
        c_L : float
            The least positive loss.
        C_L : float
            The largest.
        """
        return 1.0, 1.0


class SequenceHamming(SequenceLoss):
    """The sum of token costs; by default the wrong tokens.

    L(sigma, y) = sum_t cost(y_t, sigma_t).

    Parameters
    ----------
    costs : array-like of shape (K, K), dict or CostMatrix, default=None
        Rows = true label, columns = prediction, with a diagonal of zeros; or {(true, predicted): cost}, in which pairs that are
        not named cost 1.  None is a cost of 1 for each wrong token.

    See Also
    --------
    SequenceZeroOne : Counts sequences instead of tokens.
    CostMatrix : Declares the labels of the costs; some of them may not occur.
    sklearn_predtron.PredtronSequenceTagger : Trains with it by default.

    Examples
    --------
    >>> from sklearn_predtron.losses import SequenceHamming
    >>> SequenceHamming({("O", "B"): 0.5}).constants(["B", "O"], longest=10)
    (0.5, 10.0)
    """

    alias = "hamming"
    synonyms = ("token", "tokens")
    additive = True

    def __init__(self, costs: Any = None):
        self.costs = costs

    def table(self, classes: NDArray) -> NDArray | None:
        if self.costs is None:
            return None
        return costs_of(self.costs if isinstance(self.costs, CostTableLoss) else CostMatrix(self.costs), classes)

    def constants(self, classes: NDArray, longest: int = 1) -> tuple[float, float]:
        found = self.table(classes)
        return (1.0, float(longest)) if found is None else (float(found[found > 0].min()), float(found.max() * longest))

    def build(self, transition_scaling: float, classes: NDArray, allowed: NDArray | None = None) -> ChainProblem:
        return HammingChain(len(classes), transition_scaling, allowed, self.table(classes))


class SequenceZeroOne(SequenceLoss):
    """The 0-1 loss of whole sequences: L(sigma, y) = 1[sigma != y].

    See Also
    --------
    SequenceHamming : Counts tokens instead of sequences.

    Examples
    --------
    >>> from sklearn_predtron.losses import SequenceZeroOne
    >>> SequenceZeroOne().constants(["B", "I", "O"], longest=10)
    (1.0, 1.0)
    """

    alias = "zero_one"
    synonyms = ("0-1", "sequence")

    def build(self, transition_scaling: float, classes: NDArray, allowed: NDArray | None = None) -> ChainProblem:
        return ZeroOneChain(len(classes), transition_scaling, allowed)


def sequence_loss(value: Any) -> SequenceLoss:
    """Return the sequence loss that `loss` denotes."""
    return resolve(SequenceLoss, value, "loss", also="'auto'")


def cost_table(costs: Any, classes: NDArray) -> NDArray | None:
    """Return the cost table of tokens, validated as by `SequenceHamming`."""
    try:
        return sequence_loss(SequenceHamming(costs)).table(classes)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"costs={shortened(costs)} are no costs of tokens, as SequenceHamming(costs) has them: {error}"
        ) from None
