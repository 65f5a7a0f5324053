"""Checks of the accepted forms of inputs."""

import itertools
import tempfile
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from tests.own_checks.comparisons import assert_close, assert_near, assert_same_bits, scores_of
from tests.own_checks.data import disordered, forms_of, make_data, stored


def check_float32_equals_its_float64_copy(name: str, estimator: Any) -> None:
    """Check that float32 rows train like their float64 copy."""
    data = make_data(estimator)
    forms = forms_of(data.X)
    for form in ["", "CSR "]:
        X, wide = forms[f"{form}float32"], forms[f"{form}float64"]
        what = f"{name}: {form}float32, or its float64 copy"
        for learn in [data.fit, data.stream]:
            model = learn(estimator, X=X)
            assert_same_bits(model, learn(estimator, X=wide), what)
            assert_array_equal(scores_of(model, X), scores_of(model, wide), err_msg=what)


def check_layouts_of_dense_input(name: str, estimator: Any) -> None:
    """Check that memory layout of X does not matter."""
    data = make_data(estimator)
    whole = np.round(data.X) + 0.0  # integers have no negative zero
    binary = data.X > 0
    forms = {
        "Fortran order": (data.X, np.asfortranarray(data.X)),
        "every second column": (data.X, np.repeat(data.X, 2, axis=1)[:, ::2]),
        "every second row": (data.X, np.repeat(data.X, 2, axis=0)[::2]),
        "rows backwards": (data.X, data.X[::-1].copy()[::-1]),
        "other byte order": (data.X, data.X.astype(data.X.dtype.newbyteorder())),
        "lists": (data.X, [list(row) for row in data.X]),
        "int64": (whole, whole.astype(np.int64)),
        "int8": (whole, whole.astype(np.int8)),
        "boolean": (binary.astype(np.float64), binary),
        "float16": (data.X.astype(np.float16).astype(np.float64), data.X.astype(np.float16)),
    }
    for form, (plain, X) in forms.items():
        for learn in [data.fit, data.stream]:
            model = learn(estimator, X=plain)
            assert_same_bits(learn(estimator, X=X), model, f"{name}: X as {form}")
        assert_array_equal(data.predict(model, X=X), data.predict(model, X=plain), err_msg=f"{name}: X as {form}")


def check_formats_of_sparse_input(name: str, estimator: Any) -> None:
    """Check that sparse formats and index types do not matter."""
    data = make_data(estimator)
    S = sparse.csr_array(data.X)
    long = S.copy()
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    padded = sparse.csr_array((np.append(S.data, 9.0), np.append(S.indices, 0), S.indptr), shape=S.shape)
    strided = sparse.csr_array(S.shape)
    strided.data, strided.indices, strided.indptr = np.repeat(S.data, 2)[::2], np.repeat(S.indices, 2)[::2], S.indptr
    forms = {
        "csr_matrix": sparse.csr_matrix(data.X),
        "CSR with 64-bit indices": long,
        "CSR with entries to spare": padded,
        "CSR with strides": strided,
        "CSC": sparse.csc_array(data.X),
        "COO": sparse.coo_array(data.X),
        "LIL": sparse.lil_array(data.X),
    }
    fitted, streamed = data.fit(estimator, X=S), data.stream(estimator, X=S)
    for form, X in forms.items():
        before = joblib.hash(stored(X))
        assert_same_bits(data.fit(estimator, X=X), fitted, f"{name}: fit with {form}, or CSR")
        model = data.stream(estimator, X=X)
        assert_same_bits(model, streamed, f"{name}: partial_fit with {form}, or CSR")
        assert_array_equal(scores_of(model, X), scores_of(model, S), err_msg=f"{name}: {form}")
        assert joblib.hash(stored(X)) == before, f"{name}: X as {form} was modified"


def check_order_of_sparse_entries(name: str, estimator: Any) -> None:
    """Check that the order of CSR entries hardly matters."""
    data = make_data(estimator)
    S = sparse.csr_array(data.X)
    short = clone(estimator).set_params(max_iter=3)  # rows learned to the letter have competitors that tie but for rounding
    fitted, streamed = data.fit(short, X=S), data.stream(estimator, X=S)
    for form, twice in {"CSR out of order": False, "CSR with duplicates": True}.items():
        X = disordered(S, duplicates=twice)
        before = joblib.hash(stored(X))
        assert_close(data.fit(short, X=X), fitted, S, f"{name}: fit with {form}, or CSR")
        assert_close(data.stream(estimator, X=X), streamed, S, f"{name}: partial_fit with {form}, or CSR")
        assert_near(scores_of(streamed, X), scores_of(streamed, S), f"{name}: prediction with {form}, or CSR")
        data.measures(streamed, X=X)
        assert joblib.hash(stored(X)) == before, f"{name}: X as {form} was modified"


def check_read_only_and_mapped_input(name: str, estimator: Any) -> None:
    """Check that read-only arrays and memory maps are accepted."""
    data = make_data(estimator)
    S = sparse.csr_array(data.X)
    for array in [*(getattr(data, row) for row in data.by_row), *stored(S)]:
        array.flags.writeable = False
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        number = itertools.count()

        def mapped(array: NDArray) -> NDArray:
            if array.dtype == object:
                return array
            file = Path(folder) / str(next(number))
            array.tofile(file)
            return np.memmap(file, dtype=array.dtype, mode="r", shape=array.shape)

        joblib.dump(data.X, Path(folder) / "dumped")
        dumped = joblib.load(Path(folder) / "dumped", mmap_mode="r")
        M = sparse.csr_array(tuple(mapped(part) for part in stored(S)), shape=S.shape)
        there = data.map(mapped)
        for X, copies in [(data.X, [there.X, dumped]), (S, [M])]:
            for learn, learn_mapped in [(data.fit, there.fit), (data.stream, there.stream)]:
                plain = learn(estimator, X=X, weight=data.weight)
                for other in copies:
                    what = f"{name}: memory maps, or arrays"
                    model = learn_mapped(estimator, X=other, weight=there.weight)
                    assert_same_bits(model, plain, what)
                    assert_array_equal(there.predict(model, X=other), data.predict(model, X=X), err_msg=what)
                    measures = [data.measures(model, X=X), there.measures(model, X=other)]
                    assert joblib.hash(measures[0]) == joblib.hash(measures[1]), what
        del there, dumped, M, X, other, copies, model, learn_mapped


def check_input_is_not_modified(name: str, estimator: Any) -> None:
    """Check that no method modifies its arguments."""
    data = make_data(estimator)
    weight = data.round_weights(np.where(np.arange(len(data.X)) % 3 == 0, 0, data.weight))
    for form, X in forms_of(data.X).items():
        given = [stored(X) if sparse.issparse(X) else X, vars(data), weight]
        before = joblib.hash(given)
        data.fit(estimator, X=X, weight=weight)
        model = data.stream(estimator, X=X, weight=weight)
        data.learn(model, slice(0, 1), X=X)
        data.predict(model, X=X), scores_of(model, X), data.measures(model, X=X, weight=weight)
        assert joblib.hash(given) == before, f"{name}: {form} X, y or weights were modified"
