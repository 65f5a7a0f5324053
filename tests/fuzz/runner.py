"""Run parts in child processes, go on after crashes, and tell what was found."""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from .child import SLOW, ended, load
from .watch import CASES, EXCUSED, IDLE, LEARNED, SEED, read_numbers, read_text

SHARES = {"learning": 0.4, **dict.fromkeys(["mixing", "files", "interrupts", "threads", "states", "pickles", "model_files"], 0.1)}
SHARES |= {"columns": 0.1, **dict.fromkeys(["instructions", "formats", "caches", "checkpoints"], 0.05)}
TIMEOUT = 60.0  # seconds for a case
START = 30.0  # seconds for a child's start and end
ENDLESS = 2**62
MOST_FINDINGS = 30  # after which a part is not gone on with
ROOT, CHECKOUT = Path(__file__).parents[len(__package__.split("."))], Path(__file__).parents[2]


@dataclass(frozen=True)
class Finding:
    part: str
    seed: int
    text: str


@dataclass
class Report:
    """Count what a part has done, and keep what it found."""

    part: str
    cases: int = 0
    learned: int = 0
    refused: int = 0
    excused: int = 0
    ended: int = 0  # processes that a case ended, and that are findings
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)


def run_part(
    part: str, seed: int, *, seconds: float = ENDLESS, cases: int = ENDLESS, slowness: float = 1.0, timeout: float = TIMEOUT
) -> Report:
    """Run a part's cases from a seed on until their number or the time is reached."""
    report, begin, timeout = Report(part), time.monotonic(), min(timeout, getattr(load(part), "TIMEOUT", timeout))
    while report.cases < cases and len(report.findings) < MOST_FINDINGS:
        report.seconds = time.monotonic() - begin
        if report.seconds >= seconds:
            break
        left = min(seconds - report.seconds, ENDLESS)
        limits = timeout * slowness, START * slowness
        before = report.ended
        seed = run_child(report, seed, cases - report.cases, left, *limits)
        if report.ended > before and SLOW not in report.findings[-1].text:
            report.findings[-1] = alone(report.findings[-1], *limits)
    report.seconds = time.monotonic() - begin
    return report


def run_child(report: Report, seed: int, cases: int, seconds: float, timeout: float, start: float) -> int:
    """Run cases in a child, add to the report, and return the seed to go on from."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        command = [sys.executable, "-m", f"{__package__}.child", name, report.part]
        command += [str(value) for value in (seed, cases, seconds, timeout)]
        path = os.pathsep.join(filter(None, [str(ROOT), str(CHECKOUT), os.environ.get("PYTHONPATH")]))
        own = {"PYTHONPATH": path, "MALLOC_ARENA_MAX": "1"}  # arenas of threads reserve addresses, which parts bound
        with open(folder / "stderr", "w+b") as stderr:
            child = subprocess.Popen(command, env={**os.environ, **own}, stdout=subprocess.DEVNULL, stderr=stderr, cwd=ROOT)
            try:
                child.wait(None if seconds >= ENDLESS else seconds + timeout + start)
            except subprocess.TimeoutExpired:
                pass
            finally:
                hung = child.poll() is None
                child.kill()
                child.wait()
        return add(report, folder, seed, child.returncode, hung)


def alone(finding: Finding, timeout: float, start: float) -> Finding:
    """Say of a case that ended its process whether it does so alone: memory may have been corrupted by an earlier one."""
    report = Report(finding.part)
    run_child(report, finding.seed, 1, ENDLESS, timeout, start)
    if report.findings:
        return replace(finding, text=f"Alone the case fails too.  {finding.text}")
    return replace(finding, text=f"Alone the case passes; an earlier one may be to blame.  {finding.text}")


def add(report: Report, folder: Path, first: int, status: int, hung: bool) -> int:
    """Add what a child has left in its folder to the report, and return the seed to go on from."""
    numbers = read_numbers(folder)
    report.cases += numbers[CASES]
    report.learned += numbers[LEARNED]
    report.refused += numbers[IDLE]
    report.excused += numbers[EXCUSED]
    for line in read_text(folder / "findings").splitlines():
        report.findings.append(Finding(report.part, *json.loads(line)))
    if status == 0:
        return first + numbers[CASES]
    # The process ended in a case that it did not count.
    report.cases += 1
    report.ended += 1
    text = ended(status, read_text(folder / "faults"), read_text(folder / "note"), read_text(folder / "stderr"))
    text = f"The process hung.  {text}" if hung else text
    report.findings.append(Finding(report.part, numbers[SEED], f"The process began with seed {first}.  {text}"))
    return max(first, numbers[SEED]) + 1


def table(reports: list[Report]) -> str:
    """Tabulate cases, learning calls and findings by part."""
    head = (
        f"{'part':12} {'cases':>9} {'refused':>8} {'excused':>8} {'learned':>10} {'a minute':>10} {'seconds':>8} {'findings':>8}"
    )
    lines = [head]
    for one in reports:
        rate = 60 * one.learned / max(one.seconds, 1e-9)
        lines.append(
            f"{one.part:12} {one.cases:9d} {one.refused:8d} {one.excused:8d} {one.learned:10d} {rate:10.0f} {one.seconds:8.1f} "
            f"{len(one.findings):8d}"
        )
    return "\n".join(lines)


def describe(finding: Finding) -> str:
    """Describe a finding, and how to see it again."""
    again = f"python -m tests.fuzz --only {finding.part} --seed {finding.seed} --cases 1"
    return f"--- {finding.part}, seed {finding.seed} ({again})\n{finding.text.rstrip()}\n"
