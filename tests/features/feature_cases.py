"""Tables on which the maps are tried, and a map in plain NumPy."""

import numpy as np


def table(n=300, p=6, seed=0, missing=0.1):
    """Columns of several kinds: normal, skew, whole numbers, two values, mostly zero, constant, in turn; some values missing."""
    random = np.random.default_rng(seed)
    makers = [
        lambda: random.normal(size=n),
        lambda: np.exp(3 * random.normal(size=n)),
        lambda: random.integers(0, 7, n).astype(float),
        lambda: (random.random(n) < 0.3).astype(float),
        lambda: np.where(random.random(n) < 0.8, 0.0, random.normal(size=n)),
        lambda: np.full(n, 3.0),
    ]
    X = np.stack([makers[j % len(makers)]() for j in range(p)], axis=1)
    X[random.random((n, p)) < missing] = np.nan
    return X


def hats(knots, x):
    """Values of the hats at some knots, for one x."""
    if len(knots) == 0 or np.isnan(x):
        return np.zeros(len(knots))
    return (
        np.interp(x, knots, np.eye(len(knots))[0])
        if len(knots) == 1
        else np.array([np.interp(x, knots, row) for row in np.eye(len(knots))])
    )


def reference(description, row):
    """The features of a row of numbers and of the numbers of categories, by the definition; nothing is hashed."""
    d = description
    features, factors = [], []
    for j, x in enumerate(row):
        if d.n_hats[j]:
            there = not np.isnan(x)
            features += [*hats(d.hats[j, : d.n_hats[j]], x), np.clip((x - d.mean[j]) / d.sd[j], -6, 6) if there else 0]
            factors.append(hats(d.factors[j, : d.n_factors[j]], x))
        else:
            factors.append((np.arange(d.n_categories[j]) == x).astype(float))
            features += [*factors[-1]]
        if d.missing[j]:
            features.append(float(np.isnan(x)))
    for i, j in d.pairs:
        first, second = (j, i) if d.n_categories[j] and not d.n_categories[i] else (i, j)
        features += [*np.outer(factors[first], factors[second]).ravel()]
    return np.array(features)
