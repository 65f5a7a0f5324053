"""Comparisons of models, and calls that must fail."""

import pickle
import re
from collections.abc import Callable, Iterable
from typing import Any

import joblib
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

STATE = ["coef_", "intercept_", "last_coef_", "last_intercept_", "t_", "n_mistakes_", "n_updates_", "cumulative_loss_"]


def frozen(model: Any, but: Iterable[str] = ()) -> bytes:
    """Return a model's pickled state, without attributes in `but`."""
    state = {name: value for name, value in model.__getstate__().items() if name not in but}
    if "_model" in state:
        *parts, whole = state["_model"]["parts"]
        fields = [field for field in whole["state"] if field[0] not in but]
        state["_model"] = {**state["_model"], "parts": [*parts, {**whole, "state": fields}]}
    return pickle.dumps(state)


def call_history(model: Any) -> list[str]:
    """Return the state that depends on the form of calls."""
    return ["call_metadata"] if model._reader().misses_ids else []


def is_same(state: bytes, other: bytes) -> bool:
    """Return whether two frozen states are equal.

    Their bytes may differ, and arrays may be memory maps.
    """
    return state == other or len({joblib.hash(pickle.loads(one), coerce_mmap=True) for one in (state, other)}) == 1


def scores_of(model: Any, X: Any) -> NDArray:
    """Return the scores of rows by any kind of estimator."""
    if model.__sklearn_tags__().estimator_type == "tagger":
        return model.decision_function(X, sid=np.arange(X.shape[0] if hasattr(X, "shape") else len(X)))
    return getattr(model, "decision_function", model.predict)(X)


def assert_same_bits(model: Any, other: Any, what: str) -> None:
    """Assert that two fitted states are bit-identical."""
    for attribute in STATE:
        if hasattr(model, attribute):
            assert_array_equal(getattr(model, attribute), getattr(other, attribute), err_msg=f"{attribute}: {what}")
    alike = is_same(frozen(model, but=call_history(model)), frozen(other, but=call_history(other)))
    assert alike, f"{what}: coef_ and counts agree, but something else in the state does not"


def assert_same(model: Any, other: Any, what: str) -> None:
    """Assert that two models are fitted equally.

    States are bit-identical, or with a kernel equal up to rounding.
    """
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
    """Assert that two values are equal up to rounding."""
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max(initial=least), err_msg=what)


def assert_same_scores(model: Any, found: Any, expected: Any, what: str) -> None:
    """Assert equal scores, with a kernel up to rounding."""
    compare = assert_near if hasattr(model, "dual_coef_") else assert_array_equal
    compare(found, expected, what)


def assert_close(model: Any, other: Any, X: Any, what: str) -> None:
    """Assert near scores and equal numbers of rounds."""
    for attribute in ["t_", "n_mistakes_", "n_updates_"]:
        assert getattr(model, attribute) == getattr(other, attribute), f"{attribute}: {what}"
    assert_near(scores_of(other, X), scores_of(model, X), what)
    if hasattr(model, "coef_"):
        assert_near(other.coef_, model.coef_, f"coef_: {what}")


def assert_fails(what: str, pattern: str, call: Callable[..., Any], *arguments: Any, **more: Any) -> None:
    """Assert that a call raises a matching ValueError."""
    try:
        call(*arguments, **more)
    except ValueError as error:
        assert re.search(pattern, str(error)), f"{what}: the message {str(error)!r} does not say {pattern!r}"
    else:
        raise AssertionError(f"{what}: no ValueError was raised")
