"""The simulation of Chaudhuri and Tewari (2015): python -m benchmarks.paper.online_ranking [--figures DIR] [--write]."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = "1"

import numpy as np
from numpy.typing import NDArray

from benchmarks.paper.curves import draw
from benchmarks.paper.cusum_tables import README
from benchmarks.paper.separable_queries import make_separable_queries
from benchmarks.report import Table, mean_error, replace, versions
from benchmarks.suites.quality import standard_error
from sklearn_predtron import PredtronRanker
from sklearn_predtron.losses import NDCG
from sklearn_predtron.updates import ListNet, MaxPair, Slam

SEEDS = 10
ROUNDS = (10, 20, 100, 400, 1000)
DRAWN = (1, 2, 3, 5, 10, 20, 30, 40, 60, 80, 100, 150, 200, 250, 300, 350, 400)
LEARNERS: dict[str, Any] = {
    "SLAM, eta = 1/sqrt(t)": Slam(eta="invsqrt"),
    "max-pair, eta = 1 times the loss": MaxPair(eta=1.0, weighted=True),
    "ListNet, eta = 1/sqrt(t)": ListNet(eta="invsqrt"),
    "ListNet, eta = 0.01": ListNet(eta=0.01),
}
# The same simulation, written apart from this package, 10 other seeds.
INDEPENDENT: dict[str, tuple[float, ...]] = {
    "SLAM, eta = 1/sqrt(t)": (0.9036, 0.9518, 0.9904, 0.9976, 0.9990),
    "max-pair, eta = 1 times the loss": (0.9036, 0.9518, 0.9903, 0.9975, 0.9990),
    "ListNet, eta = 1/sqrt(t)": (0.8004, 0.8055, 0.8422, 0.9504, 0.9802),
    "ListNet, eta = 0.01": (0.9036, 0.9518, 0.9904, 0.9976, 0.9990),
}


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table, and write it where that is asked for."""
    arguments = parse(argv)
    body = "\n".join([versions() + "\n", table(arguments).markdown()])
    print(body)
    if arguments.figures is not None:
        found = {"simulated queries": curves(arguments.seeds)}
        draw(arguments.figures / "online_ranking.png", "queries (count)", "time-averaged NDCG@10 (0 to 1)", DRAWN, found)
    if arguments.write:
        README.write_text(replace(README.read_text(), "online_ranking", body))


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper.online_ranking", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"repetitions with other data; {SEEDS} unless told")
    parser.add_argument("--rounds", type=int, default=ROUNDS[-1], help=f"queries in a stream; {ROUNDS[-1]} unless told")
    parser.add_argument("--figures", type=Path, help="a folder for online_ranking.png, the paper's curves (needs matplotlib)")
    parser.add_argument("--write", action="store_true", help="replace the table of the README beside this file")
    return parser.parse_args(argv)


def table(arguments: argparse.Namespace) -> Table:
    """Two rows for each learner: ours, and the independent simulation."""
    rounds = [t for t in ROUNDS if t <= arguments.rounds]
    found = Table(
        "Online learning to rank, simulated",
        ["learner", "run", *(f"t = {t}" for t in rounds)],
        note=f"Time-averaged NDCG@10 of the rankings before each update: mean ± standard error of {arguments.seeds} seeds.  The "
        "independent simulation was written apart from this package; its values are means of 10 other seeds.",
    )
    runs = np.array([simulated(seed, rounds) for seed in range(arguments.seeds)])
    for learner, values in zip(LEARNERS, runs.transpose(1, 2, 0), strict=True):
        found.rows.append([learner, "ours", *(mean_error(of_seeds.mean(), standard_error(of_seeds)) for of_seeds in values)])
        theirs = dict(zip(ROUNDS, INDEPENDENT[learner], strict=True))
        found.rows.append(["", "independent", *(f"{theirs[t]:.4f}" for t in rounds)])
    return found


def curves(seeds: int) -> dict[str, NDArray]:
    """Of each learner, what the paper draws; rows: seeds, columns: rounds."""
    runs = np.array([simulated(seed, DRAWN) for seed in range(seeds)])
    return dict(zip(LEARNERS, runs.transpose(1, 0, 2), strict=True))


def simulated(seed: int, rounds: Sequence[int]) -> list[list[float]]:
    """On one stream; rows: learners, columns: rounds."""
    X, y, qid = make_separable_queries(rounds[-1], random_state=seed)
    return [time_averages(update, X, y, qid, rounds) for update in LEARNERS.values()]


def time_averages(update: Any, X: NDArray, y: NDArray, qid: NDArray, rounds: Sequence[int]) -> list[float]:
    """Mean NDCG@10 of the first t queries, for each t: each is ranked, ties at their worst, before it is learned from."""
    model, start, found = PredtronRanker(norm="l2", loss=NDCG(k=10), update=update, average=False), 0, []
    for t in rounds:
        part = (qid >= start) & (qid < t)
        model.partial_fit(X[part], y[part], qid=qid[part])
        found.append(1 - model.cumulative_loss_ / t)
        start = t
    return found


if __name__ == "__main__":
    main()
