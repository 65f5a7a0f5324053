import gc

import pytest

FAST = "test_reports.py"  # no suite runs


def pytest_ignore_collect(collection_path, config):
    """Leave the tests that run suites to `--all`, before their modules import the peers."""
    slow = collection_path.suffix == ".py" and collection_path.name != FAST
    return True if slow and config.getoption("instances") != "all" else None


@pytest.fixture(scope="module", autouse=True)
def small_heap():
    """Collections between repeats look at what a test makes, not at all that was imported: that is most of a tiny run's time."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
