"""Checks of streams: splits, forms, pickles and parameters."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from sklearn_predtron.norms import Auto, Scaled
from sklearn_predtron.updates import PerceptronUpdate
from tests.own_checks.comparisons import assert_close, assert_same, assert_same_bits, scores_of
from tests.own_checks.data import forms_of, make_data, seeded, splits


def check_partial_fit_in_any_split(name: str, estimator: Any) -> None:
    """Check that any split of a stream gives the same bits."""
    data = make_data(estimator)
    for form, X in forms_of(data.X).items():
        weight = data.weight if form in ["float32", "CSR float64"] else None
        whole = data.stream(estimator, X=X, weight=weight)
        assert whole.t_ == data.n, f"{name}: {data.n} rounds in one call of partial_fit count as {whole.t_}"
        for split in splits(data.n):
            model = seeded(estimator)
            for rounds in split:
                data.learn(model, rounds, X=X, weight=weight)
            assert_same(model, whole, f"{name}: {form} in {len(split)} calls of partial_fit, not one")


def check_single_rounds_by_any_way(name: str, estimator: Any) -> None:
    """Check that fast single rows train like any others.

    So do the rows of any single round.
    """
    data = make_data(estimator)
    half = data.n // 2
    start = data.stream(estimator, slice(0, half))
    ways: dict[str, Callable[[NDArray, NDArray], tuple[Any, Any]]] = {
        "array, array": lambda X, y: (X, y),
        "array, list": lambda X, y: (X, list(y)),
        "array, tuple": lambda X, y: (X, tuple(y)),
        "array, lists of numbers": lambda X, y: (X, y.tolist()),
        "list of lists": lambda X, y: (X.tolist(), y),
        "Fortran order": lambda X, y: (np.asfortranarray(np.vstack([X, X]))[: len(X)], y),
        "other byte order": lambda X, y: (X.astype(X.dtype.newbyteorder()), y),
    }
    models = {way: copy.deepcopy(start) for way in ways}
    for i in range(half, data.n):
        rows = data.rows(slice(i, i + 1))
        for way, form in ways.items():
            models[way].partial_fit(*form(data.X[rows], data.y[rows]))
    for way, model in models.items():
        assert model.t_ == data.n, f"{name}: {data.n} rounds count as {model.t_}"
        assert_same(model, models["list of lists"], f"{name}: single rounds as {way}, or as lists of lists")
    check_single_sparse_rounds(name, estimator)


def check_single_sparse_rounds(name: str, estimator: Any) -> None:
    """Check that single sparse rows train alike in all formats."""
    data = make_data(estimator)
    half, kinds = data.n // 2, [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix]
    start = data.stream(estimator, slice(0, half), X=sparse.csr_matrix(data.X))
    models = [copy.deepcopy(start) for _ in kinds]
    for i in range(half, data.n):
        rows = data.rows(slice(i, i + 1))
        for model, kind in zip(models, kinds, strict=True):
            model.partial_fit(kind(data.X[rows]), data.y[rows])
    for model in models:
        assert model.t_ == data.n, f"{name}: {data.n} rounds count as {model.t_}"
        assert_same(model, models[-1], f"{name}: single CSR rounds, or in CSC")


def check_dense_and_sparse_may_alternate(name: str, estimator: Any) -> None:
    """Check that dense and sparse rows can alternate.

    With norm="scaled" this holds if no entry is 0.  norm="auto" uses one norm for dense rows and another for CSR rows, and is
    checked with each of them.
    """
    norm = getattr(estimator, "norm", None)
    if norm == "auto" or isinstance(norm, Auto):
        for each in ("scaled", "l2"):
            check_dense_and_sparse_may_alternate(name, clone(estimator).set_params(norm=each))
        return
    data = make_data(estimator)
    if norm == "scaled" or isinstance(norm, Scaled):
        data = replace(data, X=np.where(data.X == 0, np.linspace(-2, 2, data.X.size).reshape(data.X.shape), data.X))
    S = sparse.csr_array(data.X)
    short = clone(estimator).set_params(max_iter=3)  # rows learned to the letter have competitors that tie but for rounding
    assert_close(data.fit(short), data.fit(short, X=S), data.X, f"{name}: fit, dense or CSR")
    dense = data.stream(estimator)
    assert_close(dense, data.stream(estimator, X=S), data.X, f"{name}: partial_fit, dense or CSR")
    assert_close(dense, dense, S, f"{name}: prediction, dense or CSR")
    assert_allclose(scores_of(dense, S), scores_of(dense, data.X), rtol=1e-9, atol=1e-12)
    for first in range(2):
        model = seeded(estimator)
        for i in range(data.n):
            data.learn(model, slice(i, i + 1), X=[data.X, S][(i + first) % 2])
        assert_close(dense, model, data.X, f"{name}: dense, or dense and CSR rows in turns")


def check_pickled_in_mid_stream(name: str, estimator: Any) -> None:
    """Check that pickled or copied models continue bit-identically."""
    data = make_data(estimator)
    half = data.n // 2
    ways = [data.stream, data.fit, data.fit, data.stream]
    for (form, X), begin in zip(forms_of(data.X).items(), ways, strict=True):
        model = begin(estimator, slice(0, half), X=X)
        copies = {
            "pickled": pickle.loads(pickle.dumps(model)),
            "pickled by protocol 2": pickle.loads(pickle.dumps(model, protocol=2)),
            "copied": copy.deepcopy(model),
        }
        for way, other in copies.items():
            assert_same_bits(other, model, f"{name}: {way} with {form}")
            assert_array_equal(data.predict(other, X=X), data.predict(model, X=X))
        for rounds in [slice(i, i + 1) for i in range(half, half + 4)] + [slice(half + 4, data.n)]:
            for other in [model, *copies.values()]:
                data.learn(other, rounds, X=X)
        for way, other in copies.items():
            assert_same_bits(other, model, f"{name}: {way} in mid-stream with {form}, then taught on")


def check_set_params_in_mid_stream(name: str, estimator: Any) -> None:
    """Check that new parameters act from the next call."""
    data = make_data(estimator)
    half, rest = slice(0, data.n // 2), slice(data.n // 2, data.n)
    model = data.stream(estimator, half)
    kind = "coef_" if hasattr(model, "coef_") else "dual_coef_"
    scores, largest = scores_of(model, data.X), np.abs(getattr(model, kind)).max()
    model.set_params(update=PerceptronUpdate(eta=1e6), average=False)
    assert_array_equal(scores_of(model, data.X), scores, err_msg=f"{name}: set_params alone changed the predictions")
    singly = copy.deepcopy(model)
    data.learn(model, rest)
    changed = np.abs(getattr(model, kind)).max() > largest + 1e3
    assert model.n_updates_ > 0 and changed, f"{name}: a new update had no effect"
    assert_array_equal(getattr(model, kind), getattr(model, f"last_{kind}"), err_msg=f"{name}: average=False had no effect")
    for i in range(rest.start, rest.stop):
        data.learn(singly, slice(i, i + 1))
    assert_same(singly, model, f"{name}: single rounds after set_params, or one batch")
