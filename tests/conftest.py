"""Which model the tests are about.

Most tests are about linear learners, often against a plain-Python reference: in them ``features=None`` is the default.  Tests
with the mark `default_features`, doctests and subprocesses have the default of users.
"""

import pytest

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronLabelRanker, PredtronOrdinalClassifier

DEFAULTS = [
    family.__init__.__kwdefaults__
    for family in (PredtronBinaryClassifier, PredtronClassifier, PredtronLabelRanker, PredtronOrdinalClassifier)
]
of_users = DEFAULTS[0]["features"]


def set_default(features):
    """Set the default of `features`."""
    for defaults in DEFAULTS:
        defaults["features"] = features


def pytest_collection():
    """Estimators that test files make when they are imported are linear."""
    set_default(None)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Set the default before the fixtures of a test."""
    is_test = isinstance(item, pytest.Function)
    set_default(None if is_test and item.get_closest_marker("default_features") is None else of_users)
