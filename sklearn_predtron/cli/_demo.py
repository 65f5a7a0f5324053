"""The job without files: benchmarks on bundled and generated data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from threadpoolctl import threadpool_limits  # which scikit-learn requires

from sklearn_predtron.cli._console import UsageError, complain, report
from sklearn_predtron.cli._contests import CONTESTS, Contest, Result, better, warm_up
from sklearn_predtron.cli._job import Job
from sklearn_predtron.cli._picture import Ratios, draw
from sklearn_predtron.cli._progress import Bar
from sklearn_predtron.cli._report import aligned

HEADER = ["data", "loss", "ours", "theirs", "ours / theirs", "time", "theirs is"]
LEFT = (0, 1, 6)  # the columns of words
MEANS = "Losses: means of rows that were not learned."
LEGEND = (
    "Lower is better everywhere.  ours / theirs below 1: we lost less; time, also ours / theirs, below 1: we learned faster.\n"
    "theirs: what lost least of scikit-learn's usual learners for the data.  " + MEANS
)
Results = Sequence[tuple[Contest, list[Result]]]


def learn_all(contests: Sequence[Contest], asked: dict[str, Any], *, seed: int, compare: bool, bar: Bar) -> Results:
    """Return each benchmark with its results."""
    warm_up()
    found = []
    for i, contest in enumerate(contests):
        bar(contest.name, i / len(contests))
        found.append((contest, contest.learn(asked, seed=seed, compare=compare)))
    return found


def ratio(ours: float, theirs: float) -> float | None:
    """Return our value / the baseline's, if both are known."""
    return ours / theirs if theirs else None


def shown_ratio(value: float | None) -> str:
    """Return a ratio with two decimals, or one digit if small."""
    return "-" if value is None else f"{value:.2f}" if value >= 0.095 else f"{value:.1g}"


def cells(contest: Contest, results: list[Result]) -> list[str]:
    """Return a row of the table."""
    ours, theirs = results[0], better(results)
    line = [contest.name, contest.loss, f"{ours.loss:.3f}"]
    if theirs is None:
        return line
    ratios = ratio(ours.loss, theirs.loss), ratio(ours.seconds, theirs.seconds)
    return [*line, f"{theirs.loss:.3f}", *map(shown_ratio, ratios), theirs.learner]


def as_json(found: Results) -> str:
    """Return all results as one JSON object."""
    lines = [
        {
            "data": contest.name,
            "loss": contest.loss,
            "splits": contest.splits,
            "learners": [
                {"learner": result.learner, "loss": result.loss, "losses": result.losses, "seconds": result.seconds}
                for result in results
            ],
        }
        for contest, results in found
    ]
    return json.dumps({"results": lines}) + "\n"


def as_text(found: Results, asked: dict[str, Any], *, compare: bool) -> str:
    """Return the table, its omissions and the legend."""
    header = HEADER if compare else HEADER[:3]
    lines = [header, *(cells(contest, results) for contest, results in found)]
    left_out = [
        f"Left out: {contest.name} (norm={asked['norm']!r} is not for {contest.described}).\n"
        for contest in CONTESTS
        if not contest.takes(asked)
    ]
    legend = LEGEND if compare else f"Lower is better everywhere.  {MEANS}"
    return f"{aligned(lines, LEFT)}\n{''.join(left_out)}{legend}\n"


def ratios_of(found: Results) -> Iterator[Ratios]:
    """Yield the drawn ratios of each data set."""
    for contest, results in found:
        ours, theirs = results[0], better(results)
        assert theirs is not None
        losses, times = ratio(ours.loss, theirs.loss), ratio(ours.seconds, theirs.seconds)
        yield Ratios(f"{contest.name}, {contest.loss}: {theirs.learner}", losses, times)


def run_demo(job: Job, bar: Bar) -> int:
    """Train on bundled and generated data; print the table."""
    asked, compare = job.learner_parameters(), job.compare is not False
    contests = [contest for contest in CONTESTS if contest.takes(asked)]
    try:
        with threadpool_limits(1):  # where cores are shared, threads that wait for one another take many times as long
            found = learn_all(contests, asked, seed=job.seed, compare=compare, bar=bar)
    except ValueError as error:
        raise UsageError(str(error)) from None
    bar.clear()
    code = report(as_json(found) if job.json else "" if job.quiet else as_text(found, asked, compare=compare))
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
