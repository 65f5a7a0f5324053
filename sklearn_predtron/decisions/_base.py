"""What a decision can do, and the one that takes the scores as they are."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from sklearn_predtron._core.learner import Learner, Observer
from sklearn_predtron.problems._base import Problem

ROWS, FOLDS = "rows", "folds"


class Decision:
    """Decode the scores as they are.

    A decision is made of parameters, and does not change.  What it has seen while the learner learned is in the learner's
    observer; what it has settled after a fit is a plain value, `settled`, which a model keeps.
    """

    # What scores a fit ends with for it: those of "rows" that were learned, of "folds" that were not, or None.
    asks_for: str | None = None
    shifts = False  # whether it takes anything off the scores

    def observer(self, problem: Problem, present: Observer | None) -> Observer | None:
        """Return what observes progressive predictions for this decision, the present one where it is of the kind."""
        return None

    def after_fit(self, learner: Learner, scores: NDArray, batch: Any) -> Any:
        """Return what is settled, given the scores of a fit's rows, in their order."""
        return None

    def now(self, learner: Learner, settled: Any) -> Decision:
        """Return what the decision is at this moment, by what was settled and observed: one that no longer asks for either."""
        return self

    def shift(self, problem: Problem) -> NDArray | None:
        """Return what is taken off the scores before anything is made of them, of shape (d,); None takes nothing off."""
        return None

    def predict(self, problem: Any, scores: NDArray) -> Any:
        """Return predictions, given scores of shape (n_samples, d) that are shifted."""
        return problem.predict(scores)


PLAIN = Decision()
