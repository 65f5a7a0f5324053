"""Fuzz for some seconds, or replay a case: `python -m tests.fuzz --help`."""

import argparse
import os
import sys
import time

from .child import load
from .lessons import Count
from .runner import SHARES, Report, describe, run_part, table


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for all parts together")
    parser.add_argument("--seed", type=int, default=None, help="of the first case of each part; drawn and printed by default")
    parser.add_argument("--only", nargs="+", choices=list(SHARES), default=list(SHARES), metavar="PART", help=", ".join(SHARES))
    parser.add_argument("--cases", type=int, default=None, help="of each part, in place of --seconds; 1 runs in this process")
    slowness = float(os.environ.get("FUZZ_SLOWNESS", "1"))
    parser.add_argument("--slowness", type=float, default=slowness, help="a factor of the time limits (FUZZ_SLOWNESS)")
    return parser.parse_args(arguments)


def leave_out(parts: list[str]) -> list[str]:
    """Return the parts that can run here, and say why others cannot."""
    reasons = {part: reason for part in parts if (reason := getattr(load(part), "left_out", lambda: None)()) is not None}
    for part, reason in reasons.items():
        print(f"{part} is left out: {reason}", flush=True)
    return [part for part in parts if part not in reasons]


def replay(part: str, seed: int) -> None:
    """Run one case in this process."""
    module = load(part)
    if hasattr(module, "prepare"):
        module.prepare()
    print(f"{part}, seed {seed}: {module.run(seed)}, {Count.learned} learning calls")


def run(options: argparse.Namespace, seed: int) -> list[Report]:
    """Run the parts one after the other, each for its share of the time."""
    whole, reports = sum(SHARES[part] for part in options.only), []
    for part in options.only:
        limit = {"seconds": options.seconds * SHARES[part] / whole} if options.cases is None else {"cases": options.cases}
        reports.append(run_part(part, seed, slowness=options.slowness, **limit))
        for finding in reports[-1].findings:
            print(describe(finding), flush=True)
    return reports


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; 1 if anything was found."""
    options = parse(arguments)
    options.only = leave_out(options.only)
    seed = time.time_ns() // 10**6 % 10**9 * 1000 if options.seed is None else options.seed
    if options.cases == 1 and len(options.only) == 1:
        replay(options.only[0], seed)
        return 0
    print(f"seed {seed}", flush=True)
    reports = run(options, seed)
    print(table(reports))
    return int(any(report.findings for report in reports))


if __name__ == "__main__":
    sys.exit(main())
