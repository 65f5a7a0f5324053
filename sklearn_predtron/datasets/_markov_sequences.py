"""Sequences whose labels form a Markov chain."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from sklearn_predtron._support.compat import as_configured
from sklearn_predtron.datasets._counts import check_counts


def make_sequences(
    n_sequences: int = 100,
    n_labels: int = 5,
    n_features: int = 20,
    *,
    n_tokens: int | tuple[int, int] = (5, 15),
    n_active: int | None = None,
    noise: float | None = None,
    concentration: float = 0.3,
    bio: bool = False,
    outside: float | None = None,
    random_state: Any = None,
) -> tuple[Any, NDArray, NDArray]:
    """Draw sequences with Markov labels and independent tokens.

    The rows of the transition matrix are drawn from a Dirichlet distribution and scaled so that all labels, or all but "O", are
    about equally frequent, also as the first label.  Where a token is ambiguous, its neighbours give evidence of its label.

    Parameters
    ----------
    n_sequences : int, default=100
        Number of sequences.
    n_labels : int, default=5
        Number K of labels.
    n_features : int, default=20
        Number p of features of a token.
    n_tokens : int or tuple (least, most), default=(5, 15)
        Number of tokens of each sequence.  A tuple draws lengths uniformly from the least to the most.
    n_active : int, default=None
        None: dense rows ~ N(mu_y, noise^2 I), with means mu_k ~ N(0, I / p) of length about 1.  A number: sparse rows of zeros
        and ones, as in text.  Each row draws this many features (duplicates count once) by Zipf's law, in the label's own order
        of features or in the order common to all labels.
    noise : float, default=None
        Dense rows: the standard deviation, above 0; None is 1.  Sparse rows: the probability, from 0 to 1, that a feature is
        drawn in the common order, which is independent of the label; None is 0.8.
    concentration : float, default=0.3
        Parameter of the Dirichlet distribution, above 0.  The smaller it is, the fewer labels follow a label.
    bio : bool, default=False
        False: the labels are 0, ..., K - 1.  True: they are "O", "B-0", "I-0", "B-1", ..., in that order, of chunks of (K - 1) /
        2 types, and I-x follows only B-x and I-x.
    outside : float, default=None
        With `bio`, the long-run share of "O", above 0 and below 1, such as 0.9 for text with few names.  None is 1 / K.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n, n_features)
        Tokens, sequence after sequence; float64.
    y : ndarray of shape (n,)
        Labels; int64, or strings with `bio`.
    sid : ndarray of shape (n,)
        Each token's sequence, 0, ..., n_sequences - 1; int64.

    Raises
    ------
    ValueError
        If a parameter is invalid; the message has its name and value.

    See Also
    --------
    make_ranking_queries : Queries of documents.

    Notes
    -----
    Draw the training and the test part together, and split by `sid`: another call draws different transitions and means.

    Examples
    --------
    >>> from sklearn_predtron.datasets import make_sequences, unstack
    >>> X, y, sid = make_sequences(3, n_labels=3, n_tokens=(2, 5), bio=True, random_state=0)
    >>> X.shape, sid
    ((10, 20), array([0, 0, 1, 1, 1, 1, 1, 2, 2, 2]))
    >>> for labels in unstack(y, sid):
    ...     print(*labels)
    B-0 I-0
    O O B-0 I-0 B-0
    O O O
    """
    check_counts(n_sequences=n_sequences, n_labels=n_labels, n_features=n_features)
    shortest, longest = read_lengths(n_tokens)
    noise = read_noise(noise, n_active, n_features)
    if isinstance(concentration, bool) or not (isinstance(concentration, Real) and 0 < concentration < math.inf):
        raise ValueError(f"concentration={concentration!r} must be a finite number above 0.")
    if bio not in (True, False):
        raise ValueError(f"bio={bio!r} is not known; accepted are True and False.")
    if bio and n_labels % 2 == 0:
        raise ValueError(f"n_labels={n_labels!r} must be odd with bio=True: O, and B and I of each type.")
    share = read_share(outside, bio, n_labels)
    random = check_random_state(random_state)
    allowed = bio_transitions(n_labels) if bio else np.ones((n_labels + 1, n_labels), dtype=bool)
    lengths = random.randint(shortest, longest + 1, size=n_sequences)
    chains = draw_chains(random, draw_transitions(random, concentration, allowed, share), n_sequences, longest)
    codes = chains[np.arange(longest) < lengths[:, None]]
    X = (
        draw_dense(random, codes, n_labels, n_features, noise)
        if n_active is None
        else draw_sparse(random, codes, n_labels, n_features, n_active, noise)
    )
    y = bio_labels(n_labels)[codes] if bio else codes
    return as_configured(X), y, np.repeat(np.arange(n_sequences, dtype=np.int64), lengths)


def read_lengths(n_tokens: Any) -> tuple[int, int]:
    """Return the smallest and the largest length."""
    pair = (n_tokens, n_tokens) if isinstance(n_tokens, Integral) else n_tokens
    if not (isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(length, Integral) for length in pair)):
        raise ValueError(f"n_tokens={n_tokens!r} must be an integer of at least 1 or two of them, the least and the largest.")
    shortest, longest = int(pair[0]), int(pair[1])
    if not 1 <= shortest <= longest:
        raise ValueError(f"n_tokens={n_tokens!r} must be at least 1, and the largest at least the least.")
    return shortest, longest


def read_noise(noise: Any, n_active: Any, n_features: int) -> float:
    """Return the noise of dense or sparse rows."""
    if n_active is not None and not (isinstance(n_active, Integral) and int(n_active) in range(1, n_features + 1)):
        raise ValueError(f"n_active={n_active!r} must be None or an integer from 1 to n_features={n_features}.")
    if noise is None:
        return 1.0 if n_active is None else 0.8
    value = float(noise) if isinstance(noise, Real) and not isinstance(noise, bool) else math.nan
    if n_active is None and not 0 < value < math.inf:
        raise ValueError(f"noise={noise!r} must be None or a finite number above 0 for dense rows.")
    if n_active is not None and not 0 <= value <= 1:
        raise ValueError(f"noise={noise!r} must be None or from 0 to 1 for sparse rows.")
    return value


def read_share(outside: Any, bio: bool, n_labels: int) -> NDArray:
    """Return the share of each label."""
    shares = np.full(n_labels, 1.0)
    if outside is not None:
        number = isinstance(outside, Real) and not isinstance(outside, bool)
        if not (bio and n_labels > 1 and number and 0 < outside < 1):
            raise ValueError(f"outside={outside!r} must be None or, with bio=True of three labels or more, from 0 to 1.")
        shares[0] = (n_labels - 1) * outside / (1 - outside)
    return shares


def bio_labels(n_labels: int) -> NDArray:
    """Return O, B-0, I-0, B-1, ..."""
    return np.array(["O", *(f"{tag}-{i}" for i in range(n_labels // 2) for tag in "BI")])


def bio_transitions(n_labels: int) -> NDArray:
    """Return which labels can follow each label or come first."""
    allowed = np.ones((n_labels + 1, n_labels), dtype=bool)
    for inside in range(2, n_labels, 2):
        allowed[:, inside] = False
        allowed[[inside - 1, inside], inside] = True
    return allowed


def draw_transitions(random: Any, concentration: float, allowed: NDArray, share: NDArray) -> NDArray:
    """Draw the transition probabilities for given label shares; the last row is of the first label."""
    shape = allowed[:-1].shape
    # Logarithms of gamma variates, of which a small concentration would make zeros.
    log = np.log(random.standard_gamma(concentration + 1, shape)) + np.log(random.uniform(size=shape)) / concentration
    chances = np.maximum(np.exp(log - log.max(axis=1, keepdims=True)), 1e-9) * allowed[:-1]
    for _ in range(100):  # Sinkhorn's scaling: labels that have their shares keep them
        chances /= chances.sum(axis=0) / share
        chances /= chances.sum(axis=1, keepdims=True) / share[:, None]
    first = allowed[-1] * share
    return np.vstack([chances / share[:, None], first / first.sum()])


def draw_chains(random: Any, transitions: NDArray, n: int, length: int) -> NDArray:
    """Draw n chains of labels, of shape (n, length)."""
    up_to = np.cumsum(transitions, axis=1)
    up_to /= up_to[:, -1:]  # exactly 1 at the end, above every uniform number
    chains = np.empty((n, length), dtype=np.int64)
    label = np.full(n, len(transitions) - 1)
    for t in range(length):
        label = (random.uniform(size=(n, 1)) >= up_to[label]).sum(axis=1)
        chains[:, t] = label
    return chains


def draw_dense(random: Any, codes: NDArray, k: int, p: int, noise: float) -> NDArray:
    """Draw Gaussian rows around their label's mean."""
    means = random.standard_normal((k, p)) / math.sqrt(p)
    X = random.standard_normal((len(codes), p))
    X *= noise
    X += means[codes]
    return X


def draw_sparse(random: Any, codes: NDArray, k: int, p: int, n_active: int, noise: float) -> Any:
    """Draw sparse binary rows with Zipf frequencies; features are in the label's order or in the common one."""
    shape = (len(codes), n_active)
    rank = (
        np.minimum((p + 1.0) ** random.uniform(size=shape), p).astype(np.intp) - 1
    )  # r with probability log(1 + 1 / r) / log(p + 1)
    start = np.where(random.uniform(size=shape) < noise, 0, random.randint(p, size=k)[codes][:, None])
    columns = random.permutation(p)[(rank + start) % p]
    X = sparse.csr_matrix((np.ones(columns.size), columns.ravel(), np.arange(len(codes) + 1) * n_active), shape=(len(codes), p))
    X.sum_duplicates()
    X.data[:] = 1.0
    return X
