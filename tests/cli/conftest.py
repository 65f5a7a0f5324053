"""Files and standard input for the command line."""

import os
import threading

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from tests.cli_cases import NAMES


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files by name: rows of three classes, with words as labels (w), as tokens or documents (q), in two parts (a, b)."""
    folder, rng = tmp_path_factory.mktemp("svm"), np.random.default_rng(0)
    W, found = rng.standard_normal((3, 6)), {}
    for name, n in {"a": 200, "b": 104, "test": 80}.items():
        X = rng.standard_normal((n, 6)).round(3)
        y = (X @ W.T).argmax(axis=1)
        for kind, ids in {"": None, "q": np.arange(n) // 8}.items():
            found[name + kind] = folder / f"{name}{kind}.svm"
            dump_svmlight_file(X, y, str(found[name + kind]), zero_based=False, query_id=ids)
        found[name + "w"] = folder / f"{name}w.svm"
        lines = found[name].read_text().splitlines()
        found[name + "w"].write_text("".join(f"{NAMES[int(line[0])]}{line[1:]}\n" for line in lines), encoding="utf-8")
    return found


@pytest.fixture
def standard_input():
    """Feed the process's standard input."""
    kept, threads = os.dup(0), []

    def feed(end, text):
        with open(end, "wb") as file:
            file.write(text)

    def fed(text):
        end, writing = os.pipe()
        os.dup2(end, 0)
        os.close(end)
        threads.append(threading.Thread(target=feed, args=[writing, text]))
        threads[-1].start()

    yield fed
    os.dup2(kept, 0)
    os.close(kept)
    for thread in threads:
        thread.join()


@pytest.fixture
def as_streams(monkeypatch):
    """All files are too large to be trained in memory, without --stream."""
    monkeypatch.setattr("sklearn_predtron.cli._training.LARGEST", 0)
