import gc

import pytest


@pytest.fixture(scope="module", autouse=True)
def small_heap():
    """Collections between repeats look at what a test makes, not at all that was imported: that is most of a tiny run's time."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
