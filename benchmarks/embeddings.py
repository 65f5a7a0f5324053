"""Heads on vectors of a network: python -m benchmarks.embeddings [--rows N] [--clouds K].

The figures of the recipe in doc/user_guide/recipes/embeddings.rst: errors and times of heads for a hundred classes, on vectors of
length 1 with 384 dimensions, of which some directions vary more than others and a few labels are wrong.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import process_time
from typing import Any

if __name__ == "__main__":
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = "1"

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from sklearn_predtron import PredtronClassifier
from sklearn_predtron.updates import Adaptive

N_CLASSES, N_TEST, CHUNK = 100, 20_000, 1000
APART = {1: 4.5, 3: 6.8}  # of how many clouds a class has: a distance by which Ridge errs in some 16 % after 200,000 rows
WITHIN, WRONG = 0.8, 0.06  # how far clouds of a class are apart, in units of classes; how many labels are drawn anew


def make_embeddings(n: int, clouds: int = 1, *, d: int = 384, random_state: int = 0) -> tuple[NDArray, NDArray]:
    """Return float32 vectors of length 1 and their classes.

    With one cloud a class all are Gaussian with one covariance, which is what Ridge is made for; with several, those of a class
    lie apart, and classes differ in size and have heavy tails.
    """
    rng = np.random.default_rng(random_state)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    spread = np.arange(1, d + 1) ** -0.25
    spread /= np.sqrt((spread**2).mean())
    themes = rng.standard_normal((10, d))  # classes come in ten groups
    centres = (themes[np.arange(N_CLASSES) % 10] + rng.standard_normal((N_CLASSES, d)))[:, np.newaxis]
    if clouds > 1:
        centres = centres + WITHIN * rng.standard_normal((N_CLASSES, clouds, d))
    centres = centres * spread
    centres *= APART[clouds] / np.sqrt((centres**2).sum(axis=-1).mean())
    common = rng.standard_normal(d)
    y = rng.integers(N_CLASSES, size=n)
    size = np.ones(n) if clouds == 1 else rng.uniform(0.5, 1.5, N_CLASSES)[y] * np.sqrt(6 / rng.chisquare(6, n))
    noise = size[:, np.newaxis] * spread * rng.standard_normal((n, d))
    X = (centres[y, rng.integers(clouds, size=n)] + noise + common) @ turn
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    wrong = rng.random(n) < WRONG
    y[wrong] = rng.integers(N_CLASSES, size=int(wrong.sum()))
    return X.astype(np.float32), y


def fitted(estimator: Any, X: NDArray, y: NDArray) -> Any:
    """Return the estimator, fitted."""
    return estimator.fit(X, y)


def streamed(estimator: Any, X: NDArray, y: NDArray) -> Any:
    """Return the estimator after one pass in chunks."""
    for i in range(0, len(X), CHUNK):
        estimator.partial_fit(X[i : i + CHUNK], y[i : i + CHUNK], classes=np.arange(N_CLASSES))
    return estimator


HEADS: dict[str, Callable[[NDArray, NDArray], Any]] = {
    "RidgeClassifier": partial(fitted, RidgeClassifier()),
    "ours, one pass of partial_fit": partial(streamed, PredtronClassifier()),
    "ours, default": partial(fitted, PredtronClassifier(random_state=0)),
    "ours, Adaptive(kappa=0.3)": partial(fitted, PredtronClassifier(update=Adaptive(kappa=0.3), random_state=0)),
    "ours, cv=5, max_iter=3": partial(fitted, PredtronClassifier(cv=5, max_iter=3, random_state=0)),
    "LogisticRegression": partial(fitted, LogisticRegression()),
}


def measured(n: int, clouds: int) -> Iterator[tuple[str, float, float, Any]]:
    """Yield the name of each head, its error, the seconds that it took to learn, and itself."""
    X, y = make_embeddings(n + N_TEST, clouds)
    for name, learn in HEADS.items():
        begin = process_time()
        head = learn(X[:n], y[:n])
        seconds = process_time() - begin
        yield name, 1 - head.score(X[n:], y[n:]), seconds, head


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000, help="rows to learn from")
    parser.add_argument("--clouds", type=int, default=1, choices=sorted(APART), help="clouds of which a class consists")
    options = parser.parse_args(arguments)
    for name, error, seconds, head in measured(options.rows, options.clouds):
        looks = {epochs: round(loss, 3) for epochs, loss in getattr(head, "held_out_loss_", {}).items()}
        print(f"{name:30} error {error:.4f} {seconds:7.1f} s of a processor", looks or "", flush=True)


if __name__ == "__main__":
    main()
