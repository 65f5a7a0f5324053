"""Queries and label lists on which several test modules try the rankers, and what they ask of them."""

import pickle
import re

import numpy as np
import pytest

from sklearn_predtron import PredtronLabelRanker, PredtronRanker


def make_data(n=20, p=5, grades=(0, 1, 2, 3), seed=0):
    """Documents of queries that lie together, query by query, with noisy relevances: X, y and the number of the query."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n), np.concatenate([[4, 1], rng.integers(2, 8, n - 2)]))
    X = rng.standard_normal((len(qid), p))
    t = X @ rng.standard_normal(p) + rng.standard_normal(len(qid))
    y = np.array(grades)[np.digitize(t, np.quantile(t, np.linspace(0, 1, len(grades) + 1)[1:-1]))]
    y[:2], y[qid == 3], y[qid == 4] = grades[:2], 0, grades[-1]
    return X, y, qid


def make_labels(n=40, p=4, m=5, grades=(0, 1, 2, 3), seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    t = X @ rng.standard_normal((p, m)) + 0.7 * rng.standard_normal((n, m))
    return X, np.array(grades)[np.digitize(t, np.quantile(t, np.linspace(0, 1, len(grades) + 1)[1:-1]))]


def interleaved(qid):
    """An order in which every query is torn apart; queries appear first in their order, as do documents of each query."""
    within = np.arange(len(qid)) - np.searchsorted(qid, qid)
    return np.lexsort((qid, within))


def refuses(model, call, match, error=ValueError):
    """The call fails, and leaves the model as it was."""
    before = pickle.dumps(model)
    with pytest.raises(error, match=match):
        call()
    assert pickle.dumps(model) == before


def ranker(**settings):
    return PredtronRanker(random_state=0, **{"cv": 0, **settings})


def label_ranker(**settings):
    return PredtronLabelRanker(random_state=0, **{"cv": 0, **settings})


def plain(value):
    """A value as a test's name, without the addresses of functions."""
    return re.sub(" at 0x\\w+", "", str(value))
