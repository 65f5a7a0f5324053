"""What is learned: sizes, tasks and made-up data."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.preprocessing import normalize

FEWEST_ROWS = 200
MORE = 5


@dataclass(frozen=True)
class Options:
    """How much to measure."""

    repeats: int = 5
    seeds: int = 5
    scale: float = 1.0
    data: Path | None = None

    def rows(self, full: int) -> int:
        """Rows at this scale of a set that has `full` at scale 1."""
        return min(full, max(FEWEST_ROWS, int(full * self.scale)))

    @property
    def held_back(self) -> range:
        """The splits and drawings to report on, where a choice was made on those before the tenth."""
        return range(10, 10 + 2 * self.seeds)

    def many_held_back(self, what: str) -> str:
        """Say how many of what they are: "10 splits, from number 10 on"."""
        return f"{len(self.held_back)} {what}, from number {self.held_back[0]} on"

    @property
    def many(self) -> int:
        """Repeats of what takes milliseconds."""
        return MORE * self.repeats


@dataclass(frozen=True)
class Task:
    """What an adapter needs to make its estimator; epochs=None leaves it to the estimator's defaults."""

    n_classes: int = 2
    epochs: int | None = None
    shuffle: bool = True
    seed: int = 0


def gaussian_classes(n: int, p: int, k: int, distance: float = 4.0, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Unit Gaussians whose centres are about `distance` apart, as many rows of each class."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((k, p)) * distance / np.sqrt(2 * p)
    y = rng.permutation(np.arange(n) % k)
    X = rng.standard_normal((n, p))
    for row, label in zip(X, y, strict=True):
        row += centres[label]
    return X, y


def gaussian_ranks(n: int, p: int, r: int, signal: float = 2.0, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Unit Gaussian rows; the ranks cut a direction of standard deviation `signal` plus unit noise into equal shares."""
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, p)), rng.standard_normal(p)
    latent = X @ w * (signal / np.linalg.norm(w)) + rng.standard_normal(n)
    return X, np.searchsorted(np.quantile(latent, np.arange(1, r) / r), latent)


def rings(n: int, k: int, noise: float = 0.15, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Circles about 0 of radius 1, ..., k, one for each class, with Gaussian noise."""
    rng = np.random.default_rng(seed)
    y, angle = rng.permutation(np.arange(n) % k), rng.uniform(0, 2 * np.pi, n)
    X = (y + 1)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + noise * rng.standard_normal((n, 2)), y


def arcs(n: int, k: int, noise: float = 0.1, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Half circles side by side, turned up and down by turns, each reaching into the next; with Gaussian noise."""
    rng = np.random.default_rng(seed)
    y, angle = rng.permutation(np.arange(n) % k), rng.uniform(0, np.pi, n)
    down = y % 2
    X = np.column_stack([1.25 * y + np.cos(angle), np.where(down, 0.5 - np.sin(angle), np.sin(angle))])
    return X + noise * rng.standard_normal((n, 2)), y


def radial_ranks(n: int, p: int, r: int, noise: float = 0.02, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Unit Gaussian rows; the ranks cut their length plus noise into equal shares."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    latent = np.linalg.norm(X, axis=1) + noise * rng.standard_normal(n)
    return X, np.searchsorted(np.quantile(latent, np.arange(1, r) / r), latent)


def graded_queries(queries: int, documents: int, p: int, grades: int, seed: int = 0) -> tuple[NDArray, NDArray, NDArray]:
    """X, grades of as many documents each in the whole set, and queries 0, 1, ...; the latent variable of `gaussian_ranks`."""
    X, y = gaussian_ranks(queries * documents, p, grades, seed=seed)
    return X, y, np.repeat(np.arange(queries), documents)


def label_sets(n: int, p: int, m: int, seed: int = 0) -> tuple[NDArray, NDArray]:
    """scikit-learn's counts of words, a few of m labels for each row."""
    return make_multilabel_classification(n_samples=n, n_features=p, n_classes=m, random_state=seed)


def counted_words(n: int, p: int, m: int, seed: int = 0) -> tuple[sparse.csr_matrix, NDArray]:
    """The same with rows of about 60 words, about three labels each, sparse and of length 1."""
    X, Y = make_multilabel_classification(n, p, n_classes=m, n_labels=3, length=60, sparse=True, random_state=seed)
    return normalize(sparse.csr_matrix(X, dtype=float)), Y


def text(n: int, k: int, p: int = 100_000, words: float = 91.0, seed: int = 0) -> tuple[sparse.csr_matrix, NDArray]:
    """Rows like tf-idf text, about 75 distinct words in each, labelled by a linear model over the 500 commonest words."""
    X, scores = _scored_text(n, k, p, words, seed)
    return X, scores.argmax(axis=1)


def text_labels(n: int, p: int, m: int, seed: int = 0) -> tuple[sparse.csr_matrix, NDArray]:
    """The same rows; a label for the highest scores of each column, 25 % to 2 % of them."""
    X, scores = _scored_text(n, m, p, 91.0, seed)
    return X, (np.argsort(np.argsort(-scores, axis=0), axis=0) < n * np.geomspace(0.25, 0.02, m)).astype(int)


def labels_own_words(n: int, p: int, m: int, seed: int = 0) -> tuple[sparse.csr_matrix, NDArray]:
    """Rows like tf-idf text, in which each label, of 25 % to 2 % of the rows, has about four words of its own twenty."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, m)) < np.geomspace(0.25, 0.02, m)).astype(int)
    rows, labels = np.repeat(np.argwhere(Y), rng.poisson(4, Y.sum()), axis=0).T
    own = np.stack([rng.choice(p, 20, replace=False) for _ in range(m)])
    words = own[labels, rng.integers(20, size=len(labels))]
    X = _zipf_counts(rng, n, p, 80.0) + sparse.csr_matrix((np.ones(len(rows)), (rows, words)), shape=(n, p))
    return _tf_idf(X)[0], Y


def _scored_text(n: int, d: int, p: int, words: float, seed: int) -> tuple[sparse.csr_matrix, NDArray]:
    rng = np.random.default_rng(seed)
    X, in_rows = _tf_idf(_zipf_counts(rng, n, p, words))
    common = np.argsort(-in_rows)[:500]
    scores = X[:, common] @ rng.standard_normal((len(common), d))
    return X, (scores - scores.mean(axis=0)) / scores.std(axis=0)


def _tf_idf(X: sparse.csr_matrix) -> tuple[sparse.csr_matrix, NDArray]:
    """Rows of length 1, and in how many of them each word is."""
    n, p = X.shape
    in_rows = np.bincount(X.indices, minlength=p)
    X.data = (1 + np.log(X.data)) * np.log((1 + n) / (1 + in_rows[X.indices]))
    return normalize(X), in_rows


def _zipf_counts(rng: np.random.Generator, n: int, p: int, words: float) -> sparse.csr_matrix:
    """Counts of words drawn by Zipf's law; the common ones are not side by side."""
    lengths = 1 + rng.poisson(words, n)
    frequency = np.cumsum(1 / np.arange(1, p + 1))
    columns = rng.permutation(p).astype(np.int32)[np.searchsorted(frequency / frequency[-1], rng.random(lengths.sum()))]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    X = sparse.csr_matrix((np.ones(len(columns)), columns, starts), shape=(n, p))
    X.sum_duplicates()
    return X


def held_out(X: NDArray | sparse.csr_matrix, y: NDArray, n: int) -> tuple:
    """The first n rows to learn from, and the rest."""
    return X[:n], y[:n], X[n:], y[n:]
