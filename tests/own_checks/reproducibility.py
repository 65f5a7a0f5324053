"""Checks of reproducibility: seeds, weights, and scale."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import joblib
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from tests.own_checks.comparisons import assert_fails, assert_same, assert_same_bits, scores_of
from tests.own_checks.data import N_CLASSES, forms_of, make_data


def check_same_seed_same_bits(name: str, estimator: Any) -> None:
    """Check that a seed gives the same bits, in threads too."""
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
    """Check that zero weight equals absence, bit by bit."""
    data = make_data(estimator)
    weight = np.where(np.random.default_rng(1).random(len(data.X)) < 0.4, 0, data.weight)
    weight[:N_CLASSES], weight[data.rows(slice(6, 8))] = 1, 0
    weight = data.round_weights(weight)
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
    """Check that unit weights equal no weights, bit by bit."""
    data = make_data(estimator)
    for learn in [data.fit, data.stream]:
        assert_same_bits(learn(estimator, weight=np.ones(len(data.X))), learn(estimator), f"{name}: weights of 1, or none")


def check_scale_of_inputs(name: str, estimator: Any) -> None:
    """Check that scaling X changes no default prediction."""
    default = type(estimator)._get_param_names()
    standard = {"update": ["adaptive"], "norm": ["auto", "l2", "scaled"], "intercept_scaling": ["auto"]}
    if any(getattr(estimator, parameter) not in value for parameter, value in standard.items() if parameter in default):
        return
    data = make_data(estimator)
    if "cv" in default:  # in many epochs a rounding grows until it decides a row
        estimator = clone(estimator).set_params(cv=0)
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
