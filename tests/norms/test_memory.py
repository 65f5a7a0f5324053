"""Wide weights of sparse rows: only the pages are resident that hold a feature of some row."""

import subprocess
import sys
from mmap import PAGESIZE
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from sklearn_predtron import PredtronClassifier

N_FEATURES, N_ACTIVE, N_CLASSES = 1 << 20, 1000, 100

MEASURE = f"""
import numpy as np
from scipy import sparse
from sklearn_predtron import PredtronClassifier

p, active, classes, n = {N_FEATURES}, {N_ACTIVE}, {N_CLASSES}, 1000
random = np.random.default_rng(0)
index = np.sort(random.permuted(np.tile(np.arange(active), (n, 1)), axis=1)[:, :30], axis=1) * (p // active)
X = sparse.csr_array((random.normal(size=index.size), index.ravel(), np.arange(n + 1) * 30), shape=(n, p))
y = np.arange(n) % classes

def learned(X):
    # So short a half-life that the sums are multiplied out within the first 2,000 rounds: a pass over all weights.
    how = {{{{"norm": {{norm!r}}, "decision": {{decision!r}}}}}}
    return PredtronClassifier(average=5, max_iter=2, tol=None, random_state=0, **how).fit(X, y)

def predict(model, X):
    for _ in range(40):     # until what predicts is written down
        model.predict(X)

def resident():
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1])

small = sparse.csr_array(X[:, :2000])
predict(learned(small), small)
before = resident()
model = learned(X)
fitted = resident()
predict(model, X)
print(fitted - before, resident() - before)
"""


def pages_of(size):
    """Return on how many pages the active features lie in an array of that many bytes a feature."""
    starts = [number * (N_FEATURES // N_ACTIVE) * size for number in range(N_ACTIVE)]
    return len({page for start in starts for page in range(start // PAGESIZE, (start + size - 1) // PAGESIZE + 1)})


LINE = N_CLASSES * 8
OF_SCORES = 8 * 1000 * LINE  # what a map and its scores of 1,000 rows may take, for however many features
# Bytes of a feature: in the two or three matrices that learn, and in what a norm keeps beside them.
KEPT = {"l2": [LINE] * 2, "scaled": [LINE] * 2 + [16, 32], "l1": [LINE] * 3 + [8, 8], "group": [LINE] * 3 + [8, 8, 8]}


# Each starts a process, so one of them runs without --all.
PROCESSES = [
    pytest.param("scaled", None, marks=pytest.mark.slow),
    *(pytest.param(norm, "learned", marks=[] if norm == "scaled" else pytest.mark.slow) for norm in KEPT),
]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not say what is resident")
@pytest.mark.parametrize(("norm", "decision"), PROCESSES)
def test_only_pages_of_active_features_become_resident(norm, decision):
    run = subprocess.run([sys.executable, "-c", MEASURE.format(norm=norm, decision=decision)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    fitted, predicted = map(int, run.stdout.split())
    expected = sum(map(pages_of, KEPT[norm]))
    scores = 0 if decision == "learned" else OF_SCORES // PAGESIZE
    assert 0.9 * expected <= fitted <= 1.2 * expected + scores
    assert predicted <= 1.2 * (expected + pages_of(LINE)) + scores


def bytes_without_huge_pages():
    """Return the bytes of large mappings for which huge pages are refused."""
    sizes = [0]
    for line in Path("/proc/self/smaps").read_text().splitlines():
        name, value = line.split(maxsplit=1)
        if name == "Size:":
            sizes.append(1024 * int(value.split()[0]))
        elif name == "VmFlags:" and "nh" not in value.split():
            sizes.pop()
    return sum(size for size in sizes if size >= 1 << 26)


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="the system does not say what its pages are")
@pytest.mark.parametrize("norm", ["l2", *(pytest.param(norm, marks=pytest.mark.slow) for norm in KEPT if norm != "l2")])
def test_pages_are_small_but_where_rows_touch_most_of_them(norm):
    """First touches of small pages take ten times as long."""
    n, p, classes = 100, 90_000, 100
    random = np.random.default_rng(0)
    before = bytes_without_huge_pages()
    refused = []
    for active in (1000, p):
        index = random.integers(0, active, 500 * n) * (p // active)
        X = sparse.csr_matrix((random.normal(size=500 * n), index, np.arange(n + 1) * 500), shape=(n, p))
        model = PredtronClassifier(norm=norm, max_iter=1, tol=None, random_state=0).fit(X, np.arange(n) % classes)
        assert model._model.learner.weights.small_pages == (active < p)
        refused.append(bytes_without_huge_pages() - before)
        del model
    assert refused[0] >= p * sum(size for size in KEPT[norm] if size == LINE)
    assert refused[1] == 0
