"""The promises that every estimator of the package keeps, as checks beside scikit-learn's own.

Each check is a function ``check_...(name, estimator)`` that raises an AssertionError where a promise is broken: streams that
may be split anywhere, calls that fail without a trace, pickles that go on, rows that may come in any form.  They are for
`sklearn_predtron`'s estimators in any configuration, and for what others derive from them.  Labels are 0, 1, ... (what the
problem itself predicts, for `Predtron`); where the rounds are queries, streams are split between them.

Parts that a user writes have checks of their own: `check_problem`, `check_loss` and `check_representation`.
"""

from __future__ import annotations

import copy
import itertools
import pickle
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from sklearn_predtron.estimator_checks._data import (
    N_CLASSES,
    bad_calls,
    bad_parameters,
    disordered,
    forms_of,
    make_data,
    seeded,
    splits,
    stored,
)
from sklearn_predtron.estimator_checks._parts import check_loss, check_problem, check_representation
from sklearn_predtron.norms import Scaled
from sklearn_predtron.updates import PerceptronUpdate

__all__ = ["all_checks", "check_loss", "check_predtron_estimator", "check_problem", "check_representation"]

HOW_CALLED = ["_several"]  # what a model keeps of its last call, beside what it has learned
STATE = ["coef_", "intercept_", "last_coef_", "last_intercept_", "t_", "n_mistakes_", "n_updates_", "cumulative_loss_"]


def all_checks() -> Iterator[Callable[[str, Any], None]]:
    """Yield every check of an estimator.

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
        if name.startswith("check_") and check.__module__ == __name__ and name != "check_predtron_estimator":
            yield check


def check_predtron_estimator(estimator: Any) -> None:
    """Run every check of an estimator.

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


def frozen(model: Any, but: Iterable[str] = ()) -> bytes:
    """All that pickling keeps of a model, parameters and fitted state, to the last bit."""
    return pickle.dumps({name: value for name, value in model.__getstate__().items() if name not in but})


def is_same(state: bytes, other: bytes) -> bool:
    """Whether two frozen states are equal, which need not make their bytes equal."""
    return state == other or joblib.hash(pickle.loads(state)) == joblib.hash(pickle.loads(other))


def scores_of(model: Any, X: Any) -> NDArray:
    """The scores of rows, which a ranker of documents predicts."""
    return getattr(model, "decision_function", model.predict)(X)


def assert_same_bits(model: Any, other: Any, what: str) -> None:
    """The two have learned the same, to the last bit; parameters may differ in form."""
    for attribute in STATE:
        if hasattr(model, attribute):
            assert_array_equal(getattr(model, attribute), getattr(other, attribute), err_msg=f"{attribute}: {what}")
    alike = is_same(frozen(model, but=HOW_CALLED), frozen(other, but=HOW_CALLED))
    assert alike, f"{what}: coef_ and counts agree, but something else in the state does not"


def assert_same(model: Any, other: Any, what: str) -> None:
    """The two have learned the same, to the last bit; with a kernel, computed block by block, but for rounding."""
    if not hasattr(model, "dual_coef_"):
        assert_same_bits(model, other, what)
        return
    for attribute in ["t_", "n_mistakes_", "n_updates_"]:
        assert getattr(model, attribute) == getattr(other, attribute), f"{attribute}: {what}"
    for attribute in ["dual_coef_", "last_dual_coef_"]:
        assert_near(getattr(other, attribute), getattr(model, attribute), f"{attribute}: {what}")
    steps = np.abs(model.dual_coef_).max(initial=1e-300)  # of which offsets are sums, perhaps of nothing but rounding
    assert_near(other.intercept_ / steps, model.intercept_ / steps, f"intercept_: {what}", least=1.0)


def assert_near(found: Any, expected: Any, what: str, least: float = 1e-300) -> None:
    """Equal, but for rounding."""
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max(initial=least), err_msg=what)


def assert_same_scores(model: Any, found: Any, expected: Any, what: str) -> None:
    """Scores of a model that are the same, to the last bit; with a kernel, computed block by block, but for rounding."""
    compare = assert_near if hasattr(model, "dual_coef_") else assert_array_equal
    compare(found, expected, what)


def assert_close(model: Any, other: Any, X: Any, what: str) -> None:
    """The two predict with the same scores, but for rounding, and have had the same rounds."""
    for attribute in ["t_", "n_mistakes_", "n_updates_"]:
        assert getattr(model, attribute) == getattr(other, attribute), f"{attribute}: {what}"
    assert_near(scores_of(other, X), scores_of(model, X), what)
    if hasattr(model, "coef_"):
        assert_near(other.coef_, model.coef_, f"coef_: {what}")


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
    """A batch teaches the same as its rounds one by one, and as any other split, to the last bit."""
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
    """A row that may take the short way (a C-contiguous array, labelled by a list or an array) teaches the same as any other.

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


def check_dense_and_sparse_may_alternate(name: str, estimator: Any) -> None:
    """Dense and CSR rows teach the same, but for rounding, also in turns; under norm="scaled", rows without zeros do."""
    data = make_data(estimator)
    if getattr(estimator, "norm", None) == "scaled" or isinstance(getattr(estimator, "norm", None), Scaled):
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
    """A pickled or deeply copied model goes on as the model itself, to the last bit."""
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
            assert_array_equal(other.predict(X), model.predict(X))
        for rounds in [slice(i, i + 1) for i in range(half, half + 4)] + [slice(half + 4, data.n)]:
            for other in [model, *copies.values()]:
                data.learn(other, rounds, X=X)
        for way, other in copies.items():
            assert_same_bits(other, model, f"{name}: {way} in mid-stream with {form}, then taught on")


def check_set_params_in_mid_stream(name: str, estimator: Any) -> None:
    """A changed parameter changes nothing until the next call, and then acts, for single rows too."""
    data = make_data(estimator)
    half, rest = slice(0, data.n // 2), slice(data.n // 2, data.n)
    model = data.stream(estimator, half)
    scores = scores_of(model, data.X)
    model.set_params(update=PerceptronUpdate(eta=1e6), average=False)
    assert_array_equal(scores_of(model, data.X), scores, err_msg=f"{name}: set_params alone changed the predictions")
    singly = copy.deepcopy(model)
    data.learn(model, rest)
    changed = np.abs(scores_of(model, data.X) - scores).max() > 1e3
    assert model.n_updates_ > 0 and changed, f"{name}: a new update had no effect"
    kind = "coef_" if hasattr(model, "coef_") else "dual_coef_"
    assert_array_equal(getattr(model, kind), getattr(model, f"last_{kind}"), err_msg=f"{name}: average=False had no effect")
    for i in range(rest.start, rest.stop):
        data.learn(singly, slice(i, i + 1))
    assert_same(singly, model, f"{name}: single rounds after set_params, or one batch")


# ------------------------------------------------------------------------------------------------------------ reproducibility


def check_same_seed_same_bits(name: str, estimator: Any) -> None:
    """The same data and the same seed give the same model, to the last bit, also in threads side by side."""
    data = make_data(estimator)
    model = data.fit(estimator)
    assert_same_bits(data.fit(estimator), model, f"{name}: fitted twice with one seed")
    assert_same_bits(data.fit(estimator), data.call(model.fit), f"{name}: fitted again")
    parallel = joblib.Parallel(n_jobs=4, backend="threading")
    for other in parallel(joblib.delayed(data.fit)(estimator) for _ in range(4)):
        assert_same_bits(other, model, f"{name}: fitted in threads, or alone")
    asks: list[Callable[..., Any]] = [data.predict, data.measures]
    for ask in asks:
        alone = ask(model)
        for found in parallel(joblib.delayed(ask)(model) for _ in range(4)):
            assert joblib.hash(found) == joblib.hash(alone), f"{name}: {ask.__name__} in threads, or alone"


def check_zero_weight_is_absence(name: str, estimator: Any) -> None:
    """A row of weight 0 is as if it were not there, and so is a round of such rows, to the last bit."""
    data = make_data(estimator)
    weight = np.where(np.random.default_rng(1).random(len(data.X)) < 0.4, 0, data.weight)
    weight[:N_CLASSES], weight[data.rows(slice(6, 8))] = 1, 0
    there = np.flatnonzero(weight)
    for form, X in forms_of(data.X).items():
        what = f"{name}: {form} rows of weight 0, or no such rows"
        left = replace(data, X=X, weight=weight).map(lambda rows: rows[there])
        for some, all_ in [(left.fit, data.fit), (left.stream, data.stream)]:
            absent = some(estimator, weight=left.weight)
            assert_same(all_(estimator, X=X, weight=weight), absent, what)
        before = copy.deepcopy(absent)
        for rounds in [slice(0, 1), slice(0, 5)]:
            data.learn(absent, rounds, X=X, weight=0 * weight)
        assert_same(absent, before, what)
        score, whole = left.measures(absent, weight=left.weight), data.measures(absent, X=X, weight=weight)
        assert_allclose(score["score"], whole["score"], rtol=1e-12, err_msg=what)
    assert_fails(f"{name}: fit, no weight", "sample_weight is zero", data.fit, estimator, weight=0 * weight)


def check_constant_weight_of_one(name: str, estimator: Any) -> None:
    """Weights of 1 are no weights, to the last bit."""
    data = make_data(estimator)
    for learn in [data.fit, data.stream]:
        assert_same_bits(learn(estimator, weight=np.ones(len(data.X))), learn(estimator), f"{name}: weights of 1, or none")


def check_scale_of_inputs(name: str, estimator: Any) -> None:
    """Multiplying X by a constant changes no prediction under the default update and intercept and a norm that allows it."""
    default = type(estimator)._get_param_names()
    standard = {"update": ["adaptive"], "norm": ["l2", "scaled"], "intercept_scaling": ["auto"]}
    if any(getattr(estimator, parameter) not in value for parameter, value in standard.items() if parameter in default):
        return
    data = make_data(estimator)
    for learn in [data.fit, data.stream]:
        model = learn(estimator)
        for factor in [0.01, 100.0, 2.0**-20, 2.0**20]:
            scaled = learn(estimator, X=data.X * factor)
            what = f"{name}: X multiplied by {factor}"
            assert (scaled.n_updates_, scaled.n_mistakes_) == (model.n_updates_, model.n_mistakes_), what
            assert_array_equal(data.predict(scaled, X=data.X * factor), data.predict(model), err_msg=what)
            scores = scores_of(model, data.X)
            close = {"rtol": 1e-9, "atol": 1e-9 * np.abs(scores).max()}
            assert_allclose(scores_of(scaled, data.X * factor), scores, **close, err_msg=what)


# ------------------------------------------------------------------------------------------------------------------ failures


def check_failing_partial_fit_changes_nothing(name: str, estimator: Any) -> None:
    """A partial_fit with bad input raises a ValueError that says what is wrong, and leaves the model as it was."""
    data = make_data(estimator)
    for begin in [data.fit, data.stream]:
        model = begin(estimator)
        untouched, before, predicted = copy.deepcopy(model), frozen(model), model.predict(data.X)
        known = set(vars(model))
        for bad in bad_calls(data):
            assert_fails(f"{name}: partial_fit, {bad.what}", bad.says, model.partial_fit, bad.X, bad.y, **bad.more)
            unchanged = is_same(frozen(model), before) and set(vars(model)) == known
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
        before, predicted, untouched = frozen(model), model.predict(data.X), frozen(fresh)
        for bad in bad_calls(data):
            if bad.in_fit:
                for learner, frozen_before in [(model, before), (fresh, untouched)]:
                    assert_fails(f"{name}: fit, {bad.what}", bad.says, learner.fit, bad.X, bad.y, **bad.more)
                    assert is_same(frozen(learner), frozen_before), f"{name}: a fit that failed ({bad.what}) left a trace"
        assert_array_equal(model.predict(data.X), predicted)


def check_bad_parameters_change_nothing(name: str, estimator: Any) -> None:
    """A parameter that is not accepted is named by the error, with its value, and leaves the model as it was."""
    data = make_data(estimator)
    model = data.stream(estimator)
    fresh = seeded(estimator)
    before, untouched, predicted = frozen(model), frozen(fresh), model.predict(data.X)
    for parameter, value in bad_parameters(estimator).items():
        good = getattr(model, parameter)
        pattern = f"{parameter}.*{re.escape(str(value))}"
        for learner, frozen_before in [(model, before), (fresh, untouched)]:
            learner.set_params(**{parameter: value})
            assert_fails(f"{name}: fit, {parameter}={value!r}", pattern, data.call, learner.fit)
            assert_fails(f"{name}: partial_fit, {parameter}={value!r}", pattern, data.learn, learner)
            learner.set_params(**{parameter: good})
            assert is_same(frozen(learner), frozen_before), f"{name}: {parameter}={value!r} left a trace"
    assert_array_equal(model.predict(data.X), predicted)


def check_bad_input_to_predict(name: str, estimator: Any) -> None:
    """What is predicted from goes through the same checks as what is learned from."""
    data = make_data(estimator)
    model = data.fit(estimator)
    before = frozen(model)
    for bad in bad_calls(data):
        if bad.in_predict:
            assert_fails(f"{name}: predict, {bad.what}", bad.says, model.predict, bad.X)
    assert is_same(frozen(model), before)


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
            assert_array_equal(scores_of(model, X), scores_of(model, wide), err_msg=what)


def check_layouts_of_dense_input(name: str, estimator: Any) -> None:
    """Order, strides, byte order and integer types of X do not matter, to the last bit."""
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
        assert_same_bits(data.fit(estimator, X=X), fitted, f"{name}: fit with {form}, or CSR")
        model = data.stream(estimator, X=X)
        assert_same_bits(model, streamed, f"{name}: partial_fit with {form}, or CSR")
        assert_array_equal(scores_of(model, X), scores_of(model, S), err_msg=f"{name}: {form}")
        assert joblib.hash(stored(X)) == before, f"{name}: X as {form} was modified"


def check_read_only_and_mapped_input(name: str, estimator: Any) -> None:
    """Arrays that may only be read, and memory maps, are accepted for everything."""
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
    """X, y, the weights and what else is given are as before after every method."""
    data = make_data(estimator)
    weight = np.where(np.arange(len(data.X)) % 3 == 0, 0, data.weight)
    for form, X in forms_of(data.X).items():
        given = [stored(X) if sparse.issparse(X) else X, vars(data), weight]
        before = joblib.hash(given)
        data.fit(estimator, X=X, weight=weight)
        model = data.stream(estimator, X=X, weight=weight)
        data.learn(model, slice(0, 1), X=X)
        data.predict(model, X=X), scores_of(model, X), data.measures(model, X=X, weight=weight)
        assert joblib.hash(given) == before, f"{name}: {form} X, y or weights were modified"


# ------------------------------------------------------------------------------------------------------------------ prediction


def check_one_row_predicts_as_in_a_batch(name: str, estimator: Any) -> None:
    """A row's scores do not depend on the rows beside it, nor a round's prediction on other rounds, to the last bit."""
    data = make_data(estimator)
    for form, X in forms_of(data.X).items():
        model = data.fit(estimator, X=X)
        scores, predicted = scores_of(model, X), data.predict(model, X=X)
        for i in range(0, data.n, 5):
            rows, what = data.rows(slice(i, i + 1)), f"{name}: one {form} row, or the same in a batch"
            row = X[rows][:1]
            assert_same_scores(model, scores_of(model, row)[0], scores[rows][0], what)
            assert_array_equal(data.predict(model, slice(i, i + 1), X=X), predicted[rows], err_msg=what)
            if form == "float64":
                assert_same_scores(model, scores_of(model, row.tolist())[0], scores[rows][0], what)


def check_unfitted(name: str, estimator: Any) -> None:
    """Before anything was learned, predictions say so."""
    data = make_data(estimator)
    unlabelled = ["predict", "decision_function", "rank"]
    for method in [*unlabelled, "score", "sample_loss", "margin"]:
        if hasattr(estimator, method):
            labels = [] if method in unlabelled else [data.y]
            assert_fails(f"{name}: {method}", "not fitted", getattr(clone(estimator), method), data.X, *labels)
