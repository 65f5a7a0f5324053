"""What problems written in Python have in common: losses, and predictions without."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator


class JudgedProblem(BaseEstimator):
    """Knows the loss of a prediction, and a prediction without loss."""

    c_L: float | None = None
    C_L: float | None = None

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
        float
            The loss.
        """
        raise TypeError(f"{type(self).__name__} does not define loss(prediction, y); a problem must.")

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
        object
            A prediction with loss 0.
        """
        return y
