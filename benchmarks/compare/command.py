"""python -m benchmarks compare: how long a revision takes beside another."""

import argparse
import json
from collections.abc import Sequence
from math import exp, log
from pathlib import Path
from statistics import mean

from benchmarks.compare.builds import built
from benchmarks.compare.cases import CASES, GROUPS
from benchmarks.compare.comparison import SIDES, Comparison, Worker, compared

HELP = "time a revision beside the working tree, in turns"
PAIRS, FEWEST_PAIRS = 21, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("revision", metavar="REV", help="what the times are compared to")
    parser.add_argument("cases", nargs="*", metavar="CASE", type=chosen, help=f"a case, or a group: {', '.join(GROUPS)}")
    parser.add_argument("--with", dest="other", metavar="REV2", help="a revision in place of the working tree")
    parser.add_argument("--pairs", type=enough, default=PAIRS, help=f"of repetitions; {PAIRS} unless told")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the ratios")


def chosen(name: str) -> list[str]:
    """The cases of a name."""
    found = [case for case in CASES if name in (case, case.partition("/")[0])]
    if not found:
        raise argparse.ArgumentTypeError(f"no case {name!r}; there are {', '.join(GROUPS)} and {', '.join(CASES)}")
    return found


def enough(number: str) -> int:
    """A number of pairs that has percentiles."""
    if int(number) < FEWEST_PAIRS:
        raise argparse.ArgumentTypeError(f"{number} is below {FEWEST_PAIRS}")
    return int(number)


def execute(arguments: argparse.Namespace) -> None:
    """Build both, time them, print the ratios; an error where a case runs in neither."""
    names = list(dict.fromkeys(name for part in arguments.cases for name in part)) or list(CASES)
    try:
        builds = [built(revision) for revision in (arguments.revision, arguments.other)]
    except (ValueError, RuntimeError) as error:
        raise SystemExit(f"compare: {error}") from error
    print(f"{builds[1].revision} over {builds[0].revision}, {arguments.pairs} pairs: median (10th-90th percentile), min/min")
    found = []
    with Worker(builds[0]) as before, Worker(builds[1]) as after:
        for name in names:
            found.append(compared(name, (before.seconds, after.seconds), arguments.pairs))
            print(line(found[-1]), flush=True)
        conditions = after.conditions
    means = group_means(found)
    for group, value in means.items():
        print(f"{group:36s} {value:7.3f}  geometric mean")
    if arguments.json:
        about = {side: {"revision": build.revision, "commit": build.commit} for side, build in zip(SIDES, builds, strict=True)}
        cases = [each.summary() for each in found]
        kept = {**about, **conditions, "pairs": arguments.pairs, "groups": means, "cases": cases}
        arguments.json.write_text(json.dumps(kept, indent=1) + "\n")
    failed = [each.case for each in found if len(each.errors) == len(SIDES)]
    if failed:
        raise SystemExit(f"compare: neither revision runs {', '.join(failed)}")


def line(found: Comparison) -> str:
    """The ratio of a case, or what hindered it."""
    if found.errors:
        return f"{found.case:36s} " + "; ".join(f"not run {side}: {error}" for side, error in found.errors.items())
    low, high = found.spread
    return f"{found.case:36s} {found.ratio:7.3f} ({low:.3f}-{high:.3f})  {found.ratio_of_least:7.3f}"


def group_means(found: Sequence[Comparison]) -> dict[str, float]:
    """Of each group, the geometric mean of the ratios of its cases."""
    ratios: dict[str, list[float]] = {}
    for each in found:
        if not each.errors:
            ratios.setdefault(each.group, []).append(each.ratio)
    return {group: exp(mean(map(log, values))) for group, values in ratios.items()}
