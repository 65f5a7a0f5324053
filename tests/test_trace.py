"""norm="trace": a reference that decomposes theta each round, the averages, the scores after many rounds, the bounds."""

import copy
import pickle

import numpy as np
import pytest
from cases import (
    assert_agrees,
    assert_close,
    cost_table,
    data,
    intercept_settings,
    layouts,
    losses,
    name,
    random_code,
    representations,
    state,
    updates_of_the_reference,
)
from reference.learner import Reference
from sklearn.base import clone

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
)
from sklearn_predtron._core import updates as core
from sklearn_predtron._core.learner import Average, Learner, LinearAverage
from sklearn_predtron._core.problem import Codes
from sklearn_predtron._core.rows import dense_rows
from sklearn_predtron._core.trace import Trace as Weights
from sklearn_predtron._core.trace import schatten
from sklearn_predtron._core.weights import L2, Intercept
from sklearn_predtron.losses import ZeroOne
from sklearn_predtron.norms import Trace
from sklearn_predtron.representations import Code, OneHot, Shared
from sklearn_predtron.updates import Adaptive, LossAugmented, LossDriven, PassiveAggressive, PerceptronUpdate, Subgradient

AVERAGES = ["linear", "uniform", 7.5, False]


def q_of(d, p):
    return max(2, 2 * np.log(min(d, p)))


def power_link(theta, r):
    """U diag(s^(r - 1)) V^T / |theta|_S(r)^(r - 2): the gradient of |.|_S(r)^2 / 2."""
    touched = theta.any(axis=1)
    if not touched.any():
        return np.zeros_like(theta)
    U, s, V = np.linalg.svd(theta[touched], full_matrices=False)
    top, s = s[0], s / s[0]
    W = np.zeros_like(theta)
    W[touched] = top * (U * s ** (r - 1)) @ V / np.sum(s**r) ** (1 - 2 / r)
    return W


def reference_for(update, representation, loss, k, p, intercept="auto", q=None):
    code = representation.code(k)
    d = code.shape[1]
    q = q_of(d, p) if q is None else q
    linked = {} if q == 2 or min(d, p) == 1 else {"link": lambda theta: power_link(theta, q), "smoothness": q - 1}
    return Reference(code, cost_table(loss, k), p, update.alias, update.get_params(), intercept=intercept, **linked)


def make(update, average="linear", representation="onehot", loss="zero_one", q=None, **settings):
    return PredtronClassifier(
        norm=Trace(q=q), update=update, average=average, representation=representation, loss=loss, **settings
    )


def problems():
    found = [(k, rep, loss, None) for k in (4, 6) for rep in representations(k, shared=False) for loss in losses(k)[:1]]
    return found + [(4, OneHot(), loss, 5.0) for loss in losses(4)[1:]] + [(3, OneHot(), ZeroOne(), q) for q in (2.1, 3, 30)]


PROBLEMS = problems()


@pytest.mark.parametrize(("intercept", "weighted"), [("auto", False), (0.7, True), (None, False)])
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: f"{p[0]}-{name(p[1])[:12]}-{type(p[2]).__name__}-{p[3]}")
@pytest.mark.parametrize("update", updates_of_the_reference(), ids=name)
def test_iterates_and_averages(update, problem, intercept, weighted):
    k, representation, loss, q = problem
    X, y = data(n=40, k=k)
    weight = np.random.default_rng(5).uniform(0.2, 2.5, len(X)) if weighted else None
    reference = reference_for(update, representation, loss, k, X.shape[1], intercept, q).learn(X, y, weight)
    assert reference.n_updates > 5
    for average in AVERAGES:
        for rows in (X, layouts(X)["csr float64 int32"]):
            model = make(update, average, representation, loss, q, **intercept_settings(intercept))
            model.partial_fit(rows, y, classes=np.arange(k), sample_weight=weight)
            assert_agrees(model, reference, average)
            assert_close(model._scores(rows), X @ model.coef_.T + model.intercept_)
