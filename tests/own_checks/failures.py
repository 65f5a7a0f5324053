"""Checks of failing calls: clear errors, no side effects."""

import copy
import re
from typing import Any

from numpy.testing import assert_array_equal

from tests.own_checks.comparisons import assert_fails, assert_same_bits, frozen, is_same
from tests.own_checks.data import bad_calls, bad_parameters, make_data, seeded


def check_failing_partial_fit_changes_nothing(name: str, estimator: Any) -> None:
    """Check that a failing partial_fit leaves the model unchanged."""
    data = make_data(estimator)
    for begin in [data.fit, data.stream]:
        model = begin(estimator)
        untouched, before, predicted = copy.deepcopy(model), frozen(model), data.predict(model)
        known = set(vars(model))
        for bad in bad_calls(data):
            assert_fails(f"{name}: partial_fit, {bad.what}", bad.says, model.partial_fit, bad.X, bad.y, **bad.more)
            unchanged = is_same(frozen(model), before) and set(vars(model)) == known
            assert unchanged, f"{name}: a partial_fit that failed ({bad.what}) left a trace"
        assert_array_equal(data.predict(model), predicted)
        for i in range(5):
            data.learn(model, slice(i, i + 1)), data.learn(untouched, slice(i, i + 1))
        assert_same_bits(model, untouched, f"{name}: taught on after failures, or without any")


def check_failing_fit_changes_nothing(name: str, estimator: Any) -> None:
    """Check that a failing fit leaves the model unchanged."""
    data = make_data(estimator)
    for warm_start in [False, True]:
        model = data.fit(estimator).set_params(warm_start=warm_start)
        fresh = seeded(estimator)
        before, predicted, untouched = frozen(model), data.predict(model), frozen(fresh)
        for bad in bad_calls(data):
            if bad.in_fit:
                for learner, frozen_before in [(model, before), (fresh, untouched)]:
                    assert_fails(f"{name}: fit, {bad.what}", bad.says, learner.fit, bad.X, bad.y, **bad.more)
                    assert is_same(frozen(learner), frozen_before), f"{name}: a fit that failed ({bad.what}) left a trace"
        assert_array_equal(data.predict(model), predicted)


def check_bad_parameters_change_nothing(name: str, estimator: Any) -> None:
    """Check that errors of parameters name name and value."""
    data = make_data(estimator)
    model = data.stream(estimator)
    fresh = seeded(estimator)
    before, untouched, predicted = frozen(model), frozen(fresh), data.predict(model)
    for parameter, value in bad_parameters(estimator).items():
        good = getattr(model, parameter)
        pattern = f"{parameter}.*{re.escape(str(value))}"
        for learner, frozen_before in [(model, before), (fresh, untouched)]:
            learner.set_params(**{parameter: value})
            assert_fails(f"{name}: fit, {parameter}={value!r}", pattern, data.call, learner.fit)
            assert_fails(f"{name}: partial_fit, {parameter}={value!r}", pattern, data.learn, learner)
            learner.set_params(**{parameter: good})
            assert is_same(frozen(learner), frozen_before), f"{name}: {parameter}={value!r} left a trace"
    assert_array_equal(data.predict(model), predicted)


def check_bad_input_to_predict(name: str, estimator: Any) -> None:
    """Check that rows to predict are validated like training rows."""
    data = make_data(estimator)
    model = data.fit(estimator)
    before = frozen(model)
    for bad in bad_calls(data):
        if bad.in_predict:
            assert_fails(f"{name}: predict, {bad.what}", bad.says, model.predict, bad.X)
    assert is_same(frozen(model), before)
