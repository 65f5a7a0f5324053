"""Linearly separable queries with a margin, as Chaudhuri and Tewari (2015) simulate them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp
from sklearn.utils import check_random_state


def make_separable_queries(
    n_queries: int = 1000,
    n_features: int = 10,
    *,
    documents_per_grade: Sequence[int] = (5, 5, 4, 3, 3),
    random_state: Any = None,
) -> tuple[NDArray, NDArray, NDArray]:
    """Draw queries; the documents of each are sorted by relevance, the highest first.

    With u = (1, ..., 1), documents of grade g are ~ N((2 g - 1) u, I), given that

        <u, x> < min {<u, x'>: x' of the grade above in the same query} - 1.

    So for the unit vector w* = u / sqrt(n_features) and any two documents of a query with y > y',
    <w*, x - x'> > 1 / sqrt(n_features) (up to rounding), which bounds the loss of a perceptron for any number of queries.

    The authors redraw a document until its score <u, x> is low enough.  Here <u, x> is drawn directly from the truncated normal
    distribution, which is the same distribution.  The means, the gap of 1 and the defaults are those of their code:
    github.com/sougatachaudhuri/Online_Ranking_Project.
    """
    counts = list(documents_per_grade)
    random = check_random_state(random_state)
    length = math.sqrt(n_features)
    limit = np.full((n_queries, 1), np.inf)
    grades = []
    for grade in reversed(range(len(counts))):
        mean = 2 * grade - 1
        rows = random.standard_normal((n_queries, counts[grade], n_features))
        along = rows.sum(axis=2) / length
        below = log_ndtr((limit - n_features * mean) / length)
        wanted = ndtri_exp(below - random.standard_exponential(along.shape))
        rows += mean + ((wanted - along) / length)[:, :, np.newaxis]
        grades.append(rows)
        limit = rows.sum(axis=2).min(axis=1, keepdims=True) - 1
    X = np.concatenate(grades, axis=1)
    y = np.tile(np.repeat(np.arange(len(counts), dtype=np.int64), counts)[::-1], (n_queries, 1))
    qid = np.repeat(np.arange(n_queries, dtype=np.int64), y.shape[1])
    return X.reshape(-1, n_features), y.ravel(), qid
