"""What pytest collects, how matplotlib draws there, and on how many threads others compute."""

import os
from collections import Counter
from importlib.util import find_spec

os.environ.setdefault("MPLBACKEND", "Agg")
# Each core has a process of its own.  With more threads, those of BLAS and OpenMP wait for one another in loops.
os.environ.setdefault("OMP_NUM_THREADS", "1")
pytest_plugins = ["tier"]
NEEDED = {
    "matplotlib": ["sklearn_predtron/inspection", "doc/user_guide/inspection.rst", "doc/make_pictures.py"],
    "onnxruntime": ["sklearn_predtron/onnx"],
    "river": ["sklearn_predtron/river", "doc/user_guide/river.rst"],
}
collect_ignore = [path for package, paths in NEEDED.items() if not find_spec(package) for path in paths]
MANY = 1000  # tests, of which it is worth saying where the time goes


def pytest_terminal_summary(terminalreporter, config):
    """Say how long the tests of each room take, on how many processes."""
    seconds = Counter()
    reports = [report for found in terminalreporter.stats.values() for report in found if hasattr(report, "duration")]
    for report in reports:
        seconds["/".join(report.nodeid.partition("::")[0].split("/")[:2])] += report.duration
    if len(reports) > 3 * MANY:
        n = max(config.getoption("numprocesses", None) or 1, 1)
        longest = ", ".join(f"{room} {total / n:.0f}" for room, total in seconds.most_common(12))
        terminalreporter.write_line(f"Seconds of the longest rooms, on {n} processes: {longest}")
