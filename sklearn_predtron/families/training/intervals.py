"""How often rounds are evaluated and recorded; neither should cost more than training."""

from __future__ import annotations

from sklearn_predtron._core.averages import ChoosingAverage
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.problem import Problem

FEW_WEIGHTS, FEW_OF_SEVERAL = 4096, 256
RARELY, LEAST_OFTEN, WRITTEN_A_ROUND = 8, 64, 8192  # rounds between two evaluations at most, and weights written for them


def evaluation_interval(problem: Problem, p: int) -> int:
    """Return the evaluation interval of ``average="auto"``.

    It is the number of rounds after which the candidates are evaluated; p is the rows' width.

    The interval is 1 unless their scores cost as much as a round.  A round that is a query has rows enough that they never do.
    """
    few = problem.d * p <= (FEW_WEIGHTS if problem.d == 1 else FEW_OF_SEVERAL)
    costly = problem.in_python or (problem.score_map.of_blocks and not problem.score_map.offsets_cancel)
    if not costly and (few or problem.score_map.offsets_cancel):
        return 1
    return min(max(8, problem.score_map.written_for_means(p) // WRITTEN_A_ROUND), LEAST_OFTEN)


def set_recording_interval(learner: Learner, p: int) -> None:
    """Set how often an observer records scores.

    They are the scores that predict.  They are rarely recorded if they are not computed anyway.
    """
    if learner.observer is not None:
        of_averages = learner.weights.averaging and not isinstance(learner.average, ChoosingAverage)
        learner.observer.sparingly(max(RARELY if of_averages else 1, evaluation_interval(learner.problem, p)))
