"""Loss-augmented inference for NDCG: one ranking, beside building the matrix of costs and solving the assignment problem."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contestants import AssignmentSolver
from benchmarks.measure import Case, Measured, interleave, ratios
from benchmarks.report import Table, spread
from benchmarks.tasks import Options
from sklearn_predtron.problems.inference._ranking_inference import Inference

SIZES = (10, 50, 100, 200, 500, 1000)
RELEVANCES = {"2 grades": 2, "3 grades": 3, "5 grades": 5, "arbitrary": None}
PROBLEMS = 2000
FEWEST_PROBLEMS, ROUNDS = 5, 10
NOISE, SIGNAL = 1.0, 0.5
CONTESTANT = AssignmentSolver()
OURS = "ours"
Problem = tuple[NDArray, NDArray, NDArray, NDArray]


def run(options: Options) -> list[Table]:
    """Every length of list with every kind of relevance."""
    table = Table(
        "Loss-augmented inference",
        ["documents", "relevance", "ours, us", f"{CONTESTANT.name}, us", "times faster (ratio)", "largest gap of the values"],
        note="One ranking that maximises loss + score: NDCG of the whole list, f(i) = -i, scores of "
        f"{SIGNAL} relevance + noise of standard deviation {NOISE:g}, relevance with as many documents of each grade on average "
        "or arbitrary in [0, 4).  Whole calls from Python, those of SciPy with the matrix of costs, on the same problems.  The "
        "gap is that of the maximised sums, over the sum of their terms' sizes.",
    )
    for m in sizes(options):
        for about, grades in RELEVANCES.items():
            table.rows.append([m, about, *_cells(problems(m, grades, count(m, options)), options)])
    return [table]


def sizes(options: Options) -> list[int]:
    """All at scale 1, else the ones that take little time."""
    return [m for m in SIZES if m <= max(100, SIZES[-1] * options.scale)]


def count(m: int, options: Options) -> int:
    """How many problems of a length are solved in a repeat."""
    return max(FEWEST_PROBLEMS, int(PROBLEMS * options.scale) // m)


def problems(m: int, grades: int | None, n: int, seed: int = 0) -> list[Problem]:
    """s, a, f and D of n lists: maximise the sum of s f(position) - a D(position)."""
    rng = np.random.default_rng(seed)
    j = np.arange(1, m + 1, dtype=np.float64)
    f, D = -j, 1 / np.log2(1 + j)
    found = []
    for _ in range(n):
        y = 4 * rng.random(m) if grades is None else rng.integers(0, grades, m).astype(np.float64)
        gain = 2**y - 1
        t = SIGNAL * y + NOISE * rng.standard_normal(m)
        ideal = np.sort(gain)[::-1] @ D
        found.append((t / np.linalg.norm(f), gain / (ideal or 1.0), f, D))
    return found


def value(problem: Problem, positions: NDArray) -> tuple[float, float]:
    """What is maximised, and the sum of its terms' sizes."""
    s, a, f, D = problem
    score, loss = s * f[positions], a * D[positions]
    return float((score - loss).sum()), float(np.abs(score).sum() + np.abs(loss).sum())


def gap(given: list[Problem], ours: list[NDArray], theirs: list[NDArray]) -> float:
    """The largest difference of the maximised sums."""
    largest = 0.0
    for problem, mine, other in zip(given, ours, theirs, strict=True):
        (found, size), (expected, _) = value(problem, mine), value(problem, other)
        largest = max(largest, abs(found - expected) / size)
    return largest


def _cells(given: list[Problem], options: Options) -> list:
    cases = [
        Case(OURS, partial(solve_all, Inference(), given, ROUNDS)),
        Case(CONTESTANT.name, partial(solve_all, CONTESTANT, given, 1)),
    ]
    measured = interleave(cases, options.repeats)
    per_call = {
        name: Measured([seconds / (rounds * len(given)) for seconds in measured[name].times])
        for name, rounds in ((OURS, ROUNDS), (CONTESTANT.name, 1))
    }
    faster = ratios(per_call[CONTESTANT.name], per_call[OURS])
    times = [per_call[name].seconds * 1e6 for name in (OURS, CONTESTANT.name)]
    return [*times, spread(faster), gap(given, measured[OURS].result, measured[CONTESTANT.name].result)]


def solve_all(solver: Any, given: list[Problem], rounds: int, _: None) -> list[NDArray]:
    """The positions of every problem."""
    solve = solver.positions
    for _ in range(rounds):
        found = [solve(*problem) for problem in given]
    return found
