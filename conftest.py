"""What pytest collects, how matplotlib draws there, on how many threads others compute, and which models tests are about.

Most tests are about linear learners, often against a plain-Python reference: in them ``features=None`` is the default, and the
default update learns from each row of a stream once.  Tests with the mark `default_features` or `default_replay`, doctests and
subprocesses have the defaults of users.
"""

import os
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")
# Each core has a process of its own.  With more threads, those of BLAS and OpenMP wait for one another in loops.
os.environ.setdefault("OMP_NUM_THREADS", "1")
pytest_plugins = ["tier"]
NEEDED = {
    "matplotlib": [
        *("sklearn_predtron/inspection", "doc/user_guide/inspection.rst", "doc/user_guide/recipes/credit.rst"),
        "doc/make_pictures.py",
    ],
    "onnxruntime": ["sklearn_predtron/onnx"],
    "empulse": ["doc/coming_from/empulse.rst"],
    "mapie": ["doc/coming_from/mapie.rst"],
    "river": ["sklearn_predtron/river", "doc/user_guide/river.rst"],
}
collect_ignore = [path for package, paths in NEEDED.items() if not find_spec(package) for path in paths]
MANY = 1000  # tests, of which it is worth saying where the time goes
TESTS = Path(__file__).parent / "tests"


def set_default(features):
    """Set the default of `features` of the families that compare maps."""
    from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronLabelRanker, PredtronOrdinalClassifier

    for family in (PredtronBinaryClassifier, PredtronClassifier, PredtronLabelRanker, PredtronOrdinalClassifier):
        family.__init__.__kwdefaults__["features"] = features


def set_replay(replay):
    """Set the default of `replay` of the default update."""
    from sklearn_predtron.updates import Adaptive

    Adaptive.__init__.__defaults__ = (None, replay)


def pytest_collection():
    """Estimators that test files make when they are imported are linear."""
    set_default(None)
    set_replay(False)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Set the defaults before the fixtures of a test."""
    is_test = isinstance(item, pytest.Function) and TESTS in item.path.parents
    set_default(None if is_test and item.get_closest_marker("default_features") is None else "auto")
    set_replay(not is_test or item.get_closest_marker("default_replay") is not None)


def pytest_runtest_teardown():
    """Close the figures of a test, which matplotlib keeps and warns of when there are many."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


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
