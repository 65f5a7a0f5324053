"""The promises that every estimator of the package keeps, as checks beside scikit-learn's own.

Each check is a function ``check_...(name, estimator)`` that raises an AssertionError where a promise is broken: streams that
may be split anywhere, calls that fail without a trace, pickles that go on, rows that may come in any form.  They are for
`sklearn_predtron`'s estimators in any configuration, and for what others derive from them.  Labels are 0, 1, ... (what the
problem itself predicts, for `Predtron`).
"""

from __future__ import annotations

import copy
import pickle
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from sklearn_predtron._check_data import (
    N_CLASSES,
    N_ROWS,
    bad_calls,
    bad_parameters,
    disordered,
    forms_of,
    make_data,
    seeded,
    splits,
    stored,
)
from sklearn_predtron.updates import PerceptronUpdate

__all__ = ["all_checks", "check_predtron_estimator"]

STATE = ["coef_", "intercept_", "last_coef_", "last_intercept_", "t_", "n_mistakes_", "n_updates_", "cumulative_loss_"]


def all_checks() -> Iterator[Callable[[str, Any], None]]:
    """Yield every check of this module.

    Yields
    ------
    check : callable
        To be called with a name and an estimator, which is cloned.

    Examples
    --------
    >>> from sklearn_predtron.estimator_checks import all_checks
    >>> next(all_checks()).__name__
    'check_partial_fit_in_any_split'
    """
    for name, check in vars(sys.modules[__name__]).items():
        if name.startswith("check_") and name != "check_predtron_estimator":
            yield check


def check_predtron_estimator(estimator: Any) -> None:
    """Run every check of this module.

    Parameters
    ----------
    estimator : estimator object
        An instance; it is cloned.

    Examples
    --------
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.estimator_checks import check_predtron_estimator
    >>> check_predtron_estimator(PredtronBinaryClassifier(update="perceptron"))
    """
    for check in all_checks():
        check(type(estimator).__name__, estimator)


# ------------------------------------------------------------------------------------------------------------- comparisons


def digest(model: Any) -> str:
    """A hash of all that pickling keeps of a model: parameters and fitted state, to the last bit."""
    return joblib.hash(model.__getstate__())


def assert_same_bits(model: Any, other: Any, what: str) -> None:
    """The two have learned the same, to the last bit; parameters may differ in form."""
    for attribute in STATE:
        if hasattr(model, attribute):
            assert_array_equal(getattr(model, attribute), getattr(other, attribute), err_msg=f"{attribute}: {what}")
    assert digest(model) == digest(other), f"{what}: coef_ and counts agree, but something else in the state does not"


def assert_close(model: Any, other: Any, X: Any, what: str) -> None:
    """The two predict with the same scores, but for rounding, and have had the same rounds."""
    for attribute in ["t_", "n_mistakes_", "n_updates_"]:
        assert getattr(model, attribute) == getattr(other, attribute), f"{attribute}: {what}"
    scores = model.decision_function(X)
    assert_allclose(other.decision_function(X), scores, rtol=1e-9, atol=1e-9 * np.abs(scores).max(), err_msg=what)
    if hasattr(model, "coef_"):
        size = np.abs(model.coef_).max()
        assert_allclose(other.coef_, model.coef_, rtol=1e-9, atol=1e-9 * size, err_msg=f"coef_: {what}")


def assert_fails(what: str, pattern: str, call: Callable[..., Any], *arguments: Any, **more: Any) -> None:
    """The call raises a ValueError whose message has the pattern."""
    try:
        call(*arguments, **more)
    except ValueError as error:
        assert re.search(pattern, str(error)), f"{what}: the message {str(error)!r} does not say {pattern!r}"
    else:
        raise AssertionError(f"{what}: no ValueError was raised")


# ----------------------------------------------------------------------------------------------------------------- streams


def check_partial_fit_in_any_split(name: str, estimator: Any) -> None:
    """A batch teaches the same as its rows one by one, and as any other split, to the last bit."""
    data = make_data(estimator)
    for form, X in forms_of(data.X).items():
        weight = data.weight if form in ["float32", "CSR float64"] else None
        whole = data.stream(estimator, X=X, sample_weight=weight)
        for split in splits(N_ROWS):
            model = seeded(estimator)
            for rows in split:
                data.learn(model, rows, X=X, sample_weight=None if weight is None else weight[rows])
            assert_same_bits(model, whole, f"{name}: {form} in {len(split)} calls of partial_fit, not one")


def check_single_rows_by_any_way(name: str, estimator: Any) -> None:
    """A row that may take the short way (a C-contiguous array, labelled by a list or an array) teaches the same as any other."""
    data = make_data(estimator)
    start = data.stream(estimator, slice(0, N_ROWS // 2))
    ways: dict[str, Callable[[slice], tuple[Any, Any]]] = {
        "array, array": lambda rows: (data.X[rows], data.y[rows]),
        "array, list": lambda rows: (data.X[rows], list(data.y[rows])),
        "array, tuple": lambda rows: (data.X[rows], tuple(data.y[rows])),
        "list of lists": lambda rows: (data.X[rows].tolist(), data.y[rows]),
        "Fortran order": lambda rows: (np.asfortranarray(np.vstack([data.X[rows], data.X[rows]]))[:1], data.y[rows]),
        "other byte order": lambda rows: (data.X[rows].astype(data.X.dtype.newbyteorder()), data.y[rows]),
    }
    models = {way: copy.deepcopy(start) for way in ways}
    for i in range(N_ROWS // 2, N_ROWS):
        for way, row in ways.items():
            models[way].partial_fit(*row(slice(i, i + 1)))
    for way, model in models.items():
        assert model.t_ == N_ROWS
        assert_same_bits(model, models["list of lists"], f"{name}: single rows as {way}, or as lists of lists")


def check_dense_and_sparse_may_alternate(name: str, estimator: Any) -> None:
    """Dense and CSR rows teach the same, but for rounding, also in turns."""
    data = make_data(estimator)
    S = sparse.csr_array(data.X)
    assert_close(data.fit(estimator), data.fit(estimator, X=S), data.X, f"{name}: fit, dense or CSR")
    dense = data.stream(estimator)
    assert_close(dense, data.stream(estimator, X=S), data.X, f"{name}: partial_fit, dense or CSR")
    assert_close(dense, dense, S, f"{name}: prediction, dense or CSR")
    assert_allclose(dense.decision_function(S), dense.decision_function(data.X), rtol=1e-9, atol=1e-12)
    for first in range(2):
        model = seeded(estimator)
        for i in range(N_ROWS):
            data.learn(model, slice(i, i + 1), X=[data.X, S][(i + first) % 2])
        assert_close(dense, model, data.X, f"{name}: dense, or dense and CSR rows in turns")


def check_pickled_in_mid_stream(name: str, estimator: Any) -> None:
    """A pickled or deeply copied model goes on as the model itself, to the last bit."""
    data = make_data(estimator)
    half = slice(0, N_ROWS // 2)
    for form, X in forms_of(data.X).items():
        for begin in [data.stream, data.fit]:
            model = begin(estimator, half, X=X)
            copies = {
                "pickled": pickle.loads(pickle.dumps(model)),
                "pickled by protocol 2": pickle.loads(pickle.dumps(model, protocol=2)),
                "copied": copy.deepcopy(model),
            }
            for way, other in copies.items():
                assert_same_bits(other, model, f"{name}: {way} with {form}")
                assert_array_equal(other.predict(X), model.predict(X))
            for rows in [slice(i, i + 1) for i in range(N_ROWS // 2, N_ROWS // 2 + 4)] + [slice(N_ROWS // 2 + 4, N_ROWS)]:
                for other in [model, *copies.values()]:
                    data.learn(other, rows, X=X)
            for way, other in copies.items():
                assert_same_bits(other, model, f"{name}: {way} in mid-stream with {form}, then taught on")


def check_set_params_in_mid_stream(name: str, estimator: Any) -> None:
    """A changed parameter changes nothing until the next call, and then acts, for single rows too."""
    data = make_data(estimator)
    half, rest = slice(0, N_ROWS // 2), slice(N_ROWS // 2, N_ROWS)
    model = data.stream(estimator, half)
    scores = model.decision_function(data.X)
    model.set_params(update=PerceptronUpdate(eta=1e6), average=False)
    assert_array_equal(model.decision_function(data.X), scores, err_msg=f"{name}: set_params alone changed the predictions")
    singly, before = copy.deepcopy(model), model.last_coef_
    data.learn(model, rest)
    assert model.n_updates_ > 0 and np.abs(model.last_coef_ - before).max() > 1e3, f"{name}: a new update had no effect"
    assert_array_equal(model.coef_, model.last_coef_, err_msg=f"{name}: average=False had no effect")
    for i in range(rest.start, rest.stop):
        data.learn(singly, slice(i, i + 1))
    assert_same_bits(singly, model, f"{name}: single rows after set_params, or one batch")


# ------------------------------------------------------------------------------------------------------------ reproducibility


def check_same_seed_same_bits(name: str, estimator: Any) -> None:
    """The same data and the same seed give the same model, to the last bit, also in threads side by side."""
    data = make_data(estimator)
    model = data.fit(estimator)
    assert_same_bits(data.fit(estimator), model, f"{name}: fitted twice with one seed")
    assert_same_bits(seeded(estimator).fit(data.X, data.y), model.fit(data.X, data.y), f"{name}: fitted again")
    parallel = joblib.Parallel(n_jobs=4, backend="threading")
    for other in parallel(joblib.delayed(data.fit)(estimator) for _ in range(8)):
        assert_same_bits(other, model, f"{name}: fitted in threads, or alone")
    batch = model.predict(data.X)
    for predicted in parallel(joblib.delayed(model.predict)(data.X) for _ in range(8)):
        assert_array_equal(predicted, batch, err_msg=f"{name}: predictions in threads, or alone")


def check_zero_weight_is_absence(name: str, estimator: Any) -> None:
    """A row of weight 0 is as if it were not there, to the last bit."""
    data = make_data(estimator)
    weight = np.where(np.random.default_rng(1).random(N_ROWS) < 0.4, 0, data.weight)
    weight[:N_CLASSES] = 1
    there = np.flatnonzero(weight)
    for form, X in forms_of(data.X).items():
        what = f"{name}: {form} rows of weight 0, or no such rows"
        for learn in [data.fit, data.stream]:
            absent = learn(estimator, there, X=X, sample_weight=weight[there])
            assert_same_bits(learn(estimator, X=X, sample_weight=weight), absent, what)
        before = digest(absent)
        data.learn(absent, slice(0, 1), X=X, sample_weight=[0.0])
        assert digest(absent) == before, what
    assert_fails(f"{name}: fit, no weight", "sample_weight is zero", data.fit, estimator, sample_weight=np.zeros(N_ROWS))


def check_constant_weight_of_one(name: str, estimator: Any) -> None:
    """Weights of 1 are no weights, to the last bit."""
    data = make_data(estimator)
    for learn in [data.fit, data.stream]:
        assert_same_bits(learn(estimator, sample_weight=np.ones(N_ROWS)), learn(estimator), f"{name}: weights of 1, or none")


def check_scale_of_inputs(name: str, estimator: Any) -> None:
    """Multiplying X by a constant changes no prediction of a learner with the default update, norm and intercept."""
    default = type(estimator)._get_param_names()
    standard = {"update": "adaptive", "norm": "l2", "intercept_scaling": "auto"}
    if any(getattr(estimator, parameter) != value for parameter, value in standard.items() if parameter in default):
        return
    data = make_data(estimator)
    for learn in [data.fit, data.stream]:
        model = learn(estimator)
        for factor in [0.01, 100.0, 2.0**-20, 2.0**20]:
            scaled = learn(estimator, X=data.X * factor)
            what = f"{name}: X multiplied by {factor}"
            assert (scaled.n_updates_, scaled.n_mistakes_) == (model.n_updates_, model.n_mistakes_), what
            assert_array_equal(scaled.predict(data.X * factor), model.predict(data.X), err_msg=what)
            scores = model.decision_function(data.X)
            close = {"rtol": 1e-9, "atol": 1e-9 * np.abs(scores).max()}
            assert_allclose(scaled.decision_function(data.X * factor), scores, **close, err_msg=what)


# ------------------------------------------------------------------------------------------------------------------ failures


def check_failing_partial_fit_changes_nothing(name: str, estimator: Any) -> None:
    """A partial_fit with bad input raises a ValueError that says what is wrong, and leaves the model as it was."""
    data = make_data(estimator)
    for begin in [data.fit, data.stream]:
        model = begin(estimator)
        untouched, before, predicted = copy.deepcopy(model), digest(model), model.predict(data.X)
        known = set(vars(model))
        for bad in bad_calls(data):
            assert_fails(f"{name}: partial_fit, {bad.what}", bad.says, model.partial_fit, bad.X, bad.y, **bad.more)
            unchanged = digest(model) == before and set(vars(model)) == known
            assert unchanged, f"{name}: a partial_fit that failed ({bad.what}) left a trace"
        assert_array_equal(model.predict(data.X), predicted)
        for i in range(5):
            data.learn(model, slice(i, i + 1)), data.learn(untouched, slice(i, i + 1))
        assert_same_bits(model, untouched, f"{name}: taught on after failures, or without any")


def check_failing_fit_changes_nothing(name: str, estimator: Any) -> None:
    """A fit with bad input leaves the model as it was: what an earlier call had learned, or nothing."""
    data = make_data(estimator)
    for warm_start in [False, True]:
        model = data.fit(estimator).set_params(warm_start=warm_start)
        fresh = seeded(estimator)
        before, predicted, untouched = digest(model), model.predict(data.X), digest(fresh)
        for bad in bad_calls(data):
            if bad.in_fit:
                for learner, digested in [(model, before), (fresh, untouched)]:
                    assert_fails(f"{name}: fit, {bad.what}", bad.says, learner.fit, bad.X, bad.y, **bad.more)
                    assert digest(learner) == digested, f"{name}: a fit that failed ({bad.what}) left a trace"
        assert_array_equal(model.predict(data.X), predicted)


def check_bad_parameters_change_nothing(name: str, estimator: Any) -> None:
    """A parameter that is not accepted is named by the error, with its value, and leaves the model as it was."""
    data = make_data(estimator)
    model = data.stream(estimator)
    fresh = seeded(estimator)
    before, untouched, predicted = digest(model), digest(fresh), model.predict(data.X)
    for parameter, value in bad_parameters(estimator).items():
        good = getattr(model, parameter)
        pattern = f"{parameter}.*{re.escape(str(value))}"
        for learner, digested in [(model, before), (fresh, untouched)]:
            learner.set_params(**{parameter: value})
            assert_fails(f"{name}: fit, {parameter}={value!r}", pattern, learner.fit, data.X, data.y)
            assert_fails(f"{name}: partial_fit, {parameter}={value!r}", pattern, data.learn, learner)
            learner.set_params(**{parameter: good})
            assert digest(learner) == digested, f"{name}: {parameter}={value!r} left a trace"
    assert_array_equal(model.predict(data.X), predicted)


def check_bad_input_to_predict(name: str, estimator: Any) -> None:
    """What is predicted from goes through the same checks as what is learned from."""
    data = make_data(estimator)
    model = data.fit(estimator)
    before = digest(model)
    for bad in bad_calls(data):
        if bad.in_predict:
            assert_fails(f"{name}: predict, {bad.what}", bad.says, model.predict, bad.X)
    assert digest(model) == before


# --------------------------------------------------------------------------------------------------------------- forms of input


def check_float32_equals_its_float64_copy(name: str, estimator: Any) -> None:
    """Single precision is widened row by row: it gives what a copy in double precision gives, to the last bit."""
    data = make_data(estimator)
    forms = forms_of(data.X)
    for form in ["", "CSR "]:
        X, wide = forms[f"{form}float32"], forms[f"{form}float64"]
        what = f"{name}: {form}float32, or its float64 copy"
        for learn in [data.fit, data.stream]:
            model = learn(estimator, X=X)
            assert_same_bits(model, learn(estimator, X=wide), what)
            assert_array_equal(model.decision_function(X), model.decision_function(wide), err_msg=what)


def check_layouts_of_dense_input(name: str, estimator: Any) -> None:
    """Order, strides, byte order and integer types of X do not matter, to the last bit."""
    data = make_data(estimator)
    whole = np.round(data.X)
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
        rows = np.asarray(X) if form == "lists" else X
        for learn in [data.fit, data.stream]:
            model = learn(estimator, X=plain)
            assert_same_bits(learn(estimator, X=rows), model, f"{name}: X as {form}")
        assert_array_equal(model.predict(X), model.predict(plain), err_msg=f"{name}: X as {form}")


def check_formats_of_sparse_input(name: str, estimator: Any) -> None:
    """Sparse formats, index types, unsorted and duplicate entries do not matter, to the last bit."""
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
        "CSR out of order": disordered(S, duplicates=False),
        "CSR with duplicates": disordered(S, duplicates=True),
    }
    fitted, streamed = data.fit(estimator, X=S), data.stream(estimator, X=S)
    for form, X in forms.items():
        before = joblib.hash(stored(X))
        assert_same_bits(seeded(estimator).fit(X, data.y), fitted, f"{name}: fit with {form}, or CSR")
        model = seeded(estimator)
        model.partial_fit(X, data.y, **({} if data.classes is None else {"classes": data.classes}))
        assert_same_bits(model, streamed, f"{name}: partial_fit with {form}, or CSR")
        assert_array_equal(model.decision_function(X), model.decision_function(S), err_msg=f"{name}: {form}")
        assert joblib.hash(stored(X)) == before, f"{name}: X as {form} was modified"


def check_read_only_and_mapped_input(name: str, estimator: Any) -> None:
    """Arrays that may only be read, and memory maps, are accepted for everything."""
    data = make_data(estimator)
    for array in [data.X, data.y, data.weight]:
        array.flags.writeable = False
    S = sparse.csr_array(data.X)
    for array in [S.data, S.indices, S.indptr]:
        array.flags.writeable = False
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        mapped = {}
        parts = {"X": data.X, "weight": data.weight, "data": S.data, "indices": S.indices, "indptr": S.indptr}
        if data.y.dtype != object:
            parts["y"] = data.y
        for part, array in parts.items():
            np.asarray(array).tofile(Path(folder) / part)
            mapped[part] = np.memmap(Path(folder) / part, dtype=array.dtype, mode="r", shape=array.shape)
        y = mapped.get("y", data.y)
        joblib.dump(data.X, Path(folder) / "dumped")
        dumped = joblib.load(Path(folder) / "dumped", mmap_mode="r")
        M = sparse.csr_array((mapped["data"], mapped["indices"], mapped["indptr"]), shape=S.shape)
        classes = {} if data.classes is None else {"classes": data.classes}
        for X, copies in [(data.X, [mapped["X"], dumped]), (S, [M])]:
            plain = data.fit(estimator, X=X, sample_weight=data.weight)
            streamed = data.stream(estimator, X=X, sample_weight=data.weight)
            for other in copies:
                what = f"{name}: memory maps, or arrays"
                model = seeded(estimator).fit(other, y, sample_weight=mapped["weight"])
                assert_same_bits(model, plain, what)
                model = seeded(estimator).partial_fit(other, y, sample_weight=mapped["weight"], **classes)
                assert_same_bits(model, streamed, what)
                assert_array_equal(model.predict(other), model.predict(X), err_msg=what)
        del mapped, dumped, M, X, other, copies, y, model


def check_input_is_not_modified(name: str, estimator: Any) -> None:
    """X, y and the weights are as before after every method."""
    data = make_data(estimator)
    weight = np.where(np.arange(N_ROWS) % 3 == 0, 0, data.weight)
    for form, X in forms_of(data.X).items():
        before = joblib.hash([stored(X) if sparse.issparse(X) else X, data.y, weight])
        data.fit(estimator, X=X, sample_weight=weight)
        model = data.stream(estimator, X=X, sample_weight=weight)
        data.learn(model, slice(0, 1), X=X)
        model.predict(X), model.decision_function(X), model.score(X, data.y, sample_weight=weight)
        after = joblib.hash([stored(X) if sparse.issparse(X) else X, data.y, weight])
        assert after == before, f"{name}: {form} X, y or weights were modified"


# ------------------------------------------------------------------------------------------------------------------ prediction


def check_one_row_predicts_as_in_a_batch(name: str, estimator: Any) -> None:
    """A row's scores and prediction do not depend on the rows beside it, to the last bit."""
    data = make_data(estimator)
    for form, X in forms_of(data.X).items():
        model = data.fit(estimator, X=X)
        scores, predicted = model.decision_function(X), model.predict(X)
        for i in range(0, N_ROWS, 5):
            row = X[i : i + 1]
            what = f"{name}: one {form} row, or the same in a batch"
            assert_array_equal(model.decision_function(row)[0], scores[i], err_msg=what)
            assert_array_equal(model.predict(row)[0], predicted[i], err_msg=what)
            if form == "float64":
                assert_array_equal(model.decision_function(row.tolist())[0], scores[i], err_msg=what)


def check_unfitted(name: str, estimator: Any) -> None:
    """Before anything was learned, predictions say so."""
    data = make_data(estimator)
    for method in ["predict", "decision_function", "score", "sample_loss", "margin"]:
        if hasattr(estimator, method):
            labels = [] if method in ["predict", "decision_function"] else [data.y]
            assert_fails(f"{name}: {method}", "not fitted", getattr(clone(estimator), method), data.X, *labels)
