"""Real data: scikit-learn's own, and a folder that the user names."""

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.tasks import Options

NO_DATA = "No --data: a9a, rcv1_small, letter and elec2 are skipped."
ORDINAL = (
    *("abalone", "auto_mpg", "boston_housing", "diabetes", "machine_cpu"),
    *("pyrimidines", "stocks_domain", "triazines", "wisconsin_breast"),
)


@dataclass
class Dataset:
    """Rows and labels, with a test part of their own or none."""

    name: str
    X: Any
    y: NDArray
    test: tuple | None = None
    standardise: bool = True

    def split(self, seed: int, options: Options) -> tuple:
        """X and y to learn from and to test on; standardised by the first."""
        if self.test is None:
            parts = train_test_split(self.X, self.y, test_size=0.3, stratify=self.y, random_state=seed)
            X, X_test, y, y_test = parts
        else:
            X, y, (X_test, y_test) = self.X, self.y, self.test
        n, m = options.rows(X.shape[0]), options.rows(X_test.shape[0])
        X, y, X_test, y_test = X[:n], y[:n], X_test[:m], y_test[:m]
        if self.standardise:
            X, X_test = standardised(X, X_test)
        return X, y, X_test, y_test


def standardised(X: NDArray, X_test: NDArray) -> tuple[NDArray, NDArray]:
    """Both parts, with mean 0 and standard deviation 1 on the first."""
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test)


def reader(folder: Path) -> Any:
    """The module load.py of a folder of data."""
    path = Path(folder) / "load.py"
    if not path.exists():
        raise FileNotFoundError(f"--data {folder} has no load.py; benchmarks/README.md says what it must define.")
    spec = importlib.util.spec_from_file_location("benchmarks_data", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def classification(options: Options) -> Iterator[Dataset]:
    """The sets on which accuracies are compared."""
    yield from dense(options)
    if options.data is not None:
        yield svmlight("a9a", options)
        yield svmlight("rcv1_small", options)


def dense(options: Options) -> Iterator[Dataset]:
    """Those of them that are dense."""
    for name, load in (("digits", load_digits), ("breast_cancer", load_breast_cancer), ("wine", load_wine)):
        yield Dataset(name, *load(return_X_y=True))
    if options.data is not None:
        yield Dataset("letter", *reader(options.data).table("multiclass", "letter"))


def svmlight(name: str, options: Options) -> Dataset:
    """A sparse set with a test part, as it is."""
    read = reader(options.data).svmlight
    X, y = read(name, "train")
    X_test, y_test = read(name, "test")
    return Dataset(name, _narrow(X), y, (_narrow(X_test), y_test), standardise=False)


def elec2(options: Options) -> tuple[NDArray, NDArray]:
    """The electricity market in order of time."""
    X, y = reader(options.data).table("binary", "elec2")
    n = options.rows(len(y))
    return X[:n], y[:n]


def elec2_in_order(options: Options) -> Dataset:
    """Its first 70 % to learn from, the rest to test on."""
    X, y = elec2(options)
    n = int(0.7 * len(y))
    return Dataset("elec2", X[:n], y[:n], (X[n:], y[n:]))


def ordinal(folder: Path, name: str, binning: str, splits: int, *, standardise: bool = True) -> Iterator[tuple]:
    """The first splits of a set with ranks 0, 1, ...: X and y to learn from and to test on, standardised by the first or raw."""
    X, y, _, training = reader(folder).ordinal(name, binning)
    for rows in training[:splits]:
        test = np.setdiff1d(np.arange(len(y)), rows)
        X_train, X_test = standardised(X[rows], X[test]) if standardise else (X[rows], X[test])
        yield X_train, y[rows] - 1, X_test, y[test] - 1


def multilabel(folder: Path, name: str) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """X and indicators to learn from and to test on, standardised by the first."""
    read = reader(folder).multilabel
    X, Y = read(name, "train")
    X_test, Y_test = read(name, "test")
    X, X_test = standardised(X.toarray(), X_test.toarray())
    return X, Y, X_test, Y_test


def ranking(folder: Path, name: str, *, standardise: bool = True) -> tuple[tuple, tuple]:
    """X, relevance and queries 0, 1, ... to learn from and to test on, standardised by the first or raw; queries in order."""
    read = reader(folder).ranking
    (X, *about), (X_test, *about_test) = (by_query(*read(name, part)) for part in ("train", "test"))
    if standardise:
        X, X_test = standardised(X, X_test)
    return (X, *about), (X_test, *about_test)


def by_query(X: sparse.csr_matrix, y: NDArray, qid: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Dense rows in the order of their queries, which are numbered from 0."""
    order = np.argsort(qid, kind="stable")
    return X[order].toarray(), y[order], np.unique(qid[order], return_inverse=True)[1]


def label_ranking(folder: Path, name: str) -> tuple[NDArray, NDArray]:
    """X, and relevances of the labels: how many there are less the label's position."""
    X, positions = reader(folder).label_ranking(name)
    return X, positions.shape[1] - positions


def letters(folder: Path) -> tuple[sparse.csr_matrix, NDArray, NDArray, NDArray]:
    """Pixels, letter, word and fold of each letter of handwritten words; words are numbered from 0."""
    X, y, word, fold = reader(folder).letters()
    sid = np.unique(word, return_inverse=True)[1]
    return X, np.array([*"abcdefghijklmnopqrstuvwxyz"])[y], sid, fold[sid]


def _narrow(X: sparse.csr_matrix) -> sparse.csr_matrix:
    """32-bit indices, which some of scikit-learn's solvers insist on."""
    return sparse.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
