"""The job without files: benchmarks on bundled and generated data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from threadpoolctl import threadpool_limits  # which scikit-learn requires

from sklearn_predtron.cli._benchmarks import BENCHMARKS, Benchmark, BenchmarkResult, better, warm_up
from sklearn_predtron.cli._console import UsageError, complain, report
from sklearn_predtron.cli._job import Job
from sklearn_predtron.cli._picture import PeerRatios, draw
from sklearn_predtron.cli._progress import ProgressBar
from sklearn_predtron.cli._report import aligned

HEADER = ["data", "loss", "predtron", "peer loss", "ratio", "predtron s", "peer s", "peer"]
LEFT = (0, 1, 7)  # the columns of words
MEANS = "Losses are means over held-out rows."
LEGEND = (
    "Lower is better in all columns.  Ratio: loss of predtron / loss of the peer; s: seconds of a fit on one core.\n"
    f"Peer: the best of scikit-learn's common models for the data.  {MEANS}"
)
Results = Sequence[tuple[Benchmark, list[BenchmarkResult]]]


def run_benchmarks(
    benchmarks: Sequence[Benchmark], requested: dict[str, Any], *, seed: int, compare: bool, bar: ProgressBar
) -> Results:
    """Return each benchmark with its results."""
    warm_up()
    found = []
    for i, benchmark in enumerate(benchmarks):
        bar(benchmark.name, i / len(benchmarks))
        found.append((benchmark, benchmark.learn(requested, seed=seed, compare=compare)))
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
    line = [benchmark.name, benchmark.loss, f"{predtron.loss:.3f}"]
    if peer is None:
        return line
    numbers = ratio(predtron.loss, peer.loss), predtron.seconds, peer.seconds
    return [*line, f"{peer.loss:.3f}", *map(two_digits, numbers), peer.learner]


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


def as_text(found: Results, requested: dict[str, Any], *, compare: bool) -> str:
    """Return the table, its omissions and the legend."""
    header = HEADER if compare else HEADER[:3]
    lines = [header, *(cells(benchmark, results) for benchmark, results in found)]
    left_out = [
        f"Left out: {benchmark.name} (norm={requested['norm']!r} is not for {benchmark.described}).\n"
        for benchmark in BENCHMARKS
        if not benchmark.accepts_norm(requested)
    ]
    legend = LEGEND if compare else f"Lower is better.  {MEANS}"
    return f"{aligned(lines, LEFT)}\n{''.join(left_out)}{legend}\n"


def ratios_of(found: Results) -> Iterator[PeerRatios]:
    """Yield the drawn ratios of each data set."""
    for benchmark, results in found:
        predtron, peer = results[0], better(results)
        assert peer is not None
        losses, times = ratio(predtron.loss, peer.loss), ratio(predtron.seconds, peer.seconds)
        yield PeerRatios(f"{benchmark.name}, {benchmark.loss}: {peer.learner}", losses, times)


def run_demo(job: Job, bar: ProgressBar) -> int:
    """Train on bundled and generated data; print the table."""
    requested, compare = job.learner_parameters(), job.compare is not False
    benchmarks = [benchmark for benchmark in BENCHMARKS if benchmark.accepts_norm(requested)]
    try:
        with threadpool_limits(1):  # where cores are shared, threads that wait for one another take many times as long
            found = run_benchmarks(benchmarks, requested, seed=job.seed, compare=compare, bar=bar)
    except ValueError as error:
        raise UsageError(str(error)) from None
    bar.clear()
    code = report(as_json(found) if job.json else "" if job.quiet else as_text(found, requested, compare=compare))
    return max(code, write_picture(found, job.plot))


def write_picture(found: Results, path: str | None) -> int:
    """Write the picture, if requested; return the exit code."""
    if path is None:
        return 0
    try:
        draw(list(ratios_of(found)), path)
    except OSError as error:
        return complain(f"--plot={path!r}: {error.strerror}")
    return 0
