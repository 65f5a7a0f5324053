"""The demo: benchmarks on bundled and generated data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from threadpoolctl import threadpool_limits  # which scikit-learn requires

from sklearn_predtron.cli._benchmarks import BENCHMARKS, Benchmark, BenchmarkResult, better, warm_up
from sklearn_predtron.cli._console import report
from sklearn_predtron.cli._picture import PeerRatios, draw_ratios, write_picture
from sklearn_predtron.cli._progress import ProgressBar
from sklearn_predtron.cli._report import aligned
from sklearn_predtron.cli._settings import Job

HEADER = ["data", "loss", "predtron", "peer loss", "ratio", "predtron s", "peer s", "peer"]
LEFT = (0, 1, 7)  # the columns of text
LEGEND = (
    "Lower is better in all columns.  Ratio: loss of predtron / loss of the peer; s: seconds of a fit on one core.\n"
    "Peer: the best of scikit-learn's common models for the data.  Losses are means over held-out rows."
)
Results = Sequence[tuple[Benchmark, list[BenchmarkResult]]]


def run_benchmarks(benchmarks: Sequence[Benchmark], seed: int, bar: ProgressBar) -> Results:
    """Return each benchmark with its results."""
    warm_up()
    found = []
    for i, benchmark in enumerate(benchmarks):
        bar(benchmark.name, i / len(benchmarks))
        found.append((benchmark, benchmark.learn(seed)))
    return found


def ratio(predtron: float, peer: float) -> float | None:
    """Return this package's value / the peer's, unless that is 0."""
    return predtron / peer if peer else None


def two_digits(value: float | None) -> str:
    """Return two decimals, or one digit if small."""
    return "-" if value is None else f"{value:.2f}" if value >= 0.095 else f"{value:.1g}"


def cells(benchmark: Benchmark, results: list[BenchmarkResult]) -> list[str]:
    """Return a row of the table."""
    predtron, peer = results[0], better(results)
    numbers = ratio(predtron.loss, peer.loss), predtron.seconds, peer.seconds
    return [
        benchmark.name,
        benchmark.loss,
        f"{predtron.loss:.3f}",
        f"{peer.loss:.3f}",
        *map(two_digits, numbers),
        peer.learner,
    ]


def as_json(found: Results) -> str:
    """Return all results as one JSON object."""
    lines = [
        {
            "data": benchmark.name,
            "loss": benchmark.loss,
            "splits": benchmark.splits,
            "learners": [
                {"learner": result.learner, "loss": result.loss, "losses": result.losses, "seconds": result.seconds}
                for result in results
            ],
        }
        for benchmark, results in found
    ]
    return json.dumps({"results": lines}) + "\n"


def ratios_of(found: Results) -> Iterator[PeerRatios]:
    """Yield the drawn ratios of each data set."""
    for benchmark, results in found:
        predtron, peer = results[0], better(results)
        losses, times = ratio(predtron.loss, peer.loss), ratio(predtron.seconds, peer.seconds)
        yield PeerRatios(f"{benchmark.name}, {benchmark.loss}: {peer.learner}", losses, times)


def run_demo(job: Job, bar: ProgressBar) -> int:
    """Train on bundled and generated data; print the table."""
    with threadpool_limits(1):  # where cores are shared, threads that wait for one another take many times as long
        found = run_benchmarks(BENCHMARKS, job.model.seed, bar)
    bar.clear()
    text = f"{aligned([HEADER, *(cells(*one) for one in found)], LEFT)}\n{LEGEND}\n"
    code = report(as_json(found) if job.output.json else "" if job.output.quiet else text)
    if job.output.plot is None:
        return code
    return max(code, write_picture(lambda: draw_ratios(list(ratios_of(found))), job.output.plot))
