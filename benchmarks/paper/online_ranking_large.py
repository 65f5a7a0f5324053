"""The real data of Chaudhuri and Tewari (2015), as far as possible.

python -m benchmarks.paper.online_ranking_large --data DIR [--figures DIR] [--write]
"""

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

if __name__ == "__main__":
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = "1"

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.preprocessing import StandardScaler

from benchmarks.paper.curves import draw
from benchmarks.paper.cusum_tables import README
from benchmarks.paper.online_ranking import LEARNERS
from benchmarks.read import by_query, reader
from benchmarks.report import Table, mean_error, replace, versions
from benchmarks.suites.quality import standard_error
from sklearn_predtron import PredtronRanker
from sklearn_predtron.losses import NDCG
from sklearn_predtron.metrics import ndcg

SEEDS = 3
ORDERS = 20
COUNTS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
SHOWN = (10, 100, 1000, 10_000, 100_000)
MOST_AT_ONCE = 1000
DOCUMENTS = 20
HIDDEN = np.repeat([10**-0.5, 0.0], [10, 40])
SHARES = (0.5, 0.3, 0.13, 0.05, 0.02)  # of the grades 0, ..., 4
NOISY = 0.25
MSLR = "mslr_web10k_sample"
DEFAULT = "our default"
CHANCE, BEST = "random order", "hidden weights"

Part = tuple[NDArray, NDArray, NDArray]


class Found(NamedTuple):
    """Time-averaged NDCG@10 of each ranker after each count, and its CPU time; the rows of both are repetitions."""

    title: str
    counts: list[int]
    averages: dict[str, NDArray]
    microseconds: dict[str, NDArray]


class Fixed:
    """A ranker with given weights, which stay as they are; documents with equal scores are in random order."""

    def __init__(self, coef: NDArray):
        self.coef = coef
        self.t_ = 0
        self.losses = 0.0

    def partial_fit(self, X: NDArray, y: NDArray, qid: NDArray) -> None:
        values = ndcg(y, X @ self.coef, qid, k=10)
        self.t_ += len(values)
        self.losses += (1 - values).sum()

    @property
    def progressive_loss_(self) -> float:
        return self.losses / self.t_


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables, and write them where that is asked for."""
    arguments = parse(argv)
    found = [on_generated(arguments), on_sample(arguments, standardise=False), on_sample(arguments, standardise=True)]
    body = "\n".join([versions() + "\n", *(table(of_data).markdown() for of_data in found)])
    print(body)
    if arguments.figures is not None:
        for name, shown in (("generated", found[:1]), ("sample", found[1:])):
            path, curves = arguments.figures / f"online_ranking_{name}.png", {data.title: data.averages for data in shown}
            draw(path, "queries (count)", "time-averaged NDCG@10 (0 to 1)", shown[0].counts, curves, xscale="log")
    if arguments.write:
        README.write_text(replace(README.read_text(), "online_ranking_large", body))


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper.online_ranking_large", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder of data sets with a load.py")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"generated streams; {SEEDS} unless told")
    parser.add_argument("--orders", type=int, default=ORDERS, help=f"orders of the sample; {ORDERS} unless told")
    parser.add_argument("--queries", type=int, default=COUNTS[-1], help=f"generated queries; {COUNTS[-1]} unless told")
    parser.add_argument("--figures", type=Path, help="a folder for the two pictures (needs matplotlib)")
    parser.add_argument("--write", action="store_true", help="replace the tables of the README beside this file")
    return parser.parse_args(argv)


def table(found: Found) -> Table:
    """A row for each ranker."""
    repetitions = len(found.averages[CHANCE])
    columns = [i for i, t in enumerate(found.counts) if t in SHOWN or t == found.counts[-1]]
    result = Table(
        f"Online learning to rank, {found.title}",
        ["ranker", *(f"t = {found.counts[i]}" for i in columns), "µs per query"],
        note=f"Time-averaged NDCG@10 of the rankings before each update: mean ± standard error of {repetitions} "
        "repetitions; one pass.  CPU time of `partial_fit`, one thread: median of the repetitions.",
    )
    for name, averages in found.averages.items():
        cells = [mean_error(averages[:, i].mean(), standard_error(averages[:, i])) for i in columns]
        cost = f"{np.median(found.microseconds[name]):.0f}" if name not in (CHANCE, BEST) else None
        result.rows.append([name, *cells, cost])
    return result


def rankers() -> dict[str, Any]:
    """The paper's algorithms and the default, which is told the measure."""
    loss = NDCG(k=10)
    papers = {name: PredtronRanker(norm="l2", loss=loss, update=update, average=False) for name, update in LEARNERS.items()}
    return {**papers, DEFAULT: PredtronRanker(loss=loss)}


def on_generated(arguments: argparse.Namespace) -> Found:
    """Every seed has a stream of its own."""
    counts = [t for t in COUNTS if t <= arguments.queries]
    runs = []
    for seed in range(arguments.seeds):
        models = {**rankers(), CHANCE: Fixed(np.zeros_like(HIDDEN)), BEST: Fixed(HIDDEN)}
        runs.append(learned(models, generated(seed, counts), counts))
    return gathered("generated queries", counts, runs)


def on_sample(arguments: argparse.Namespace, *, standardise: bool) -> Found:
    """Every seed is an order of the queries of all parts."""
    queries = sample(arguments.data, standardise=standardise)
    counts = [*(t for t in COUNTS if t < len(queries)), len(queries)]
    runs = []
    for seed in range(arguments.orders):
        models = {**rankers(), CHANCE: Fixed(np.zeros(queries[0][0].shape[1]))}
        runs.append(learned(models, shuffled(queries, seed, counts), counts))
    return gathered(f"{MSLR}, {'standardised' if standardise else 'raw'}", counts, runs)


def gathered(title: str, counts: list[int], runs: list[tuple[dict, dict]]) -> Found:
    averages, seconds = ({name: np.array([run[kind][name] for run in runs]) for name in runs[0][kind]} for kind in (0, 1))
    return Found(title, counts, averages, {name: 1e6 * values / counts[-1] for name, values in seconds.items()})


def learned(models: dict[str, Any], parts: Iterable[Part], counts: Sequence[int]) -> tuple[dict, dict]:
    """Of each model its averages after the counts, at which parts end, and the seconds of CPU time of all."""
    averages: dict[str, list[float]] = {name: [] for name in models}
    seconds = dict.fromkeys(models, 0.0)
    for X, y, qid in parts:
        for name, model in models.items():
            began = process_time()
            model.partial_fit(X, y, qid=qid)
            seconds[name] += process_time() - began
            if model.t_ in counts:
                averages[name].append(1 - model.progressive_loss_)
    return averages, seconds


def generated(seed: int, counts: Sequence[int]) -> Iterator[Part]:
    """Draw queries up to each count, at most 1,000 at once; a shorter stream is the beginning of a longer one.

    Documents are ~ N(0, I).  Their scores, with 10 of 50 hidden weights that are not 0, are cut into grades.  A quarter of the
    documents have a random grade instead.
    """
    random, done = np.random.default_rng(seed), 0
    for t in sorted({*counts, *range(MOST_AT_ONCE, counts[-1], MOST_AT_ONCE)}):
        X = random.standard_normal(((t - done) * DOCUMENTS, len(HIDDEN)))
        y = np.digitize(X @ HIDDEN, norm.ppf(np.cumsum(SHARES[:-1])))
        noisy = random.random(len(y)) < NOISY
        y[noisy] = random.choice(len(SHARES), noisy.sum(), p=SHARES)
        yield X, y, np.repeat(np.arange(done, t), DOCUMENTS)
        done = t


def sample(folder: Path, *, standardise: bool) -> list[tuple[NDArray, NDArray]]:
    """X and relevances of each query of the three parts; raw, or standardised by all of them."""
    read = reader(folder).ranking
    parts = [by_query(*read(MSLR, part)) for part in ("train", "vali", "test")]
    scaler = StandardScaler(with_mean=standardise, with_std=standardise).fit(np.concatenate([X for X, _, _ in parts]))
    return [(scaler.transform(X[qid == q]), y[qid == q]) for X, y, qid in parts for q in range(qid[-1] + 1)]


def shuffled(queries: list[tuple[NDArray, NDArray]], seed: int, counts: Sequence[int]) -> Iterator[Part]:
    """The queries in random order, up to each count."""
    order = np.random.default_rng(seed).permutation(len(queries))
    for numbers in np.split(order, counts[:-1]):
        given = [queries[i] for i in numbers]
        qid = np.repeat(np.arange(len(given)), [len(y) for _, y in given])
        yield np.concatenate([X for X, _ in given]), np.concatenate([y for _, y in given]), qid


if __name__ == "__main__":
    main()
