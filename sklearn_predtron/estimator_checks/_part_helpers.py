"""Helpers for checks of parts: copies, scores and maximisers."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.problems._kendall import KendallTauProblem
from sklearn_predtron.problems._problem_queries import competitor_of

CLOSE = 1e-9  # relative change by rounding
SCALES = (1e-3, 1.0, 1e3)


def checked_call(call: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
    """Return the result of a call, turning ValueError into AssertionError."""
    try:
        return call(*arguments, **more)
    except ValueError as error:
        raise AssertionError(str(error)) from error


def random_scores(d: int, n: int, seed: int = 0) -> Iterator[NDArray]:
    """Yield scores of several sizes, with and without ties."""
    random = np.random.default_rng(seed)
    yield np.zeros(d)
    for i in range(n):
        for scale in SCALES:
            t = random.standard_normal(d)
            yield scale * (np.round(t) if i % 2 else t)


def copies_of(part: Any) -> Iterator[tuple[str, Any]]:
    """Yield a part, its copies, and its pickles if possible; local classes cannot be pickled."""
    yield "asked again", part
    yield "cloned", clone(part, safe=False)
    yield "copied", copy.deepcopy(part)
    try:
        dumped = pickle.dumps(part)
    except (pickle.PicklingError, AttributeError, TypeError):
        return
    yield "pickled", pickle.loads(dumped)


def assert_same_table(part: Any, what: str, tabulate: Callable[[Any], Any]) -> None:
    """Assert that tables are the same in repeated calls and copies."""
    expected = checked_call(tabulate, part)
    for way, other in copies_of(part):
        found = checked_call(tabulate, other)
        same = found is None if expected is None else found is not None and np.array_equal(found, expected)
        assert same, f"{what} of {part!r}, {way}: found {shortened(found)}, expected {shortened(expected)}"


def assert_answers(part: Any, problem: Any, labels: Any, i: int, t: NDArray, reps: NDArray, costs: NDArray, what: str) -> None:
    """Assert that compiled answers maximise over all predictions."""
    scores, least = reps @ t, costs.min()
    allowed = CLOSE * (np.linalg.norm(t) + costs.max())
    at = f"{what} at t = {shortened(t.tolist())}"
    loss = checked_call(competitor_of, problem, labels, i, t, False)[0]
    best = np.flatnonzero(scores >= scores.max() - allowed)
    suffered = costs[best] - least
    assert np.abs(suffered - loss).min() <= allowed, (
        f"{part!r}: the loss of the prediction for {at}: found {loss:.9g}, expected {sorted(set(suffered.tolist()))}"
    )
    if isinstance(problem, KendallTauProblem) or costs.max() == least:  # its competitor is no ranking; or nothing can be learned
        return
    for augmented in [False, True]:
        loss, _, competitor_loss, gap, change = checked_call(competitor_of, problem, labels, i, t, augmented)
        if not augmented and loss == 0:
            continue
        value = scores + (costs - least if augmented else 0)
        which = "loss-augmented" if augmented else "predicted"
        top = np.flatnonzero(value >= value.max() - allowed)
        free = np.flatnonzero(costs == least)
        off = (
            np.abs(reps[top][:, None] - reps[free][None] - change).max(axis=2)
            + np.abs(costs[top] - least - competitor_loss)[:, None]
        )
        assert off.min() <= max(allowed, CLOSE), (
            f"{part!r}: the {which} competitor for {at} is no maximiser: found one of loss {competitor_loss:.9g} and "
            f"rep(competitor) - rep(sigma_y) = {shortened(change.tolist())}, expected the value {value.max():.9g}, as of loss "
            f"{costs[top[0]] - least:.9g} and rep = {shortened(reps[top[0]].tolist())}"
        )
        assert abs(gap - change @ t) <= allowed, (
            f"{part!r}: the gap of the {which} competitor for {at}: found {gap:.9g}, expected {change @ t:.9g}"
        )


def assert_constants(part: Any, problem: Any, costs: NDArray, what: str) -> None:
    """Assert that positive losses are from c_L to C_L."""
    excess = costs - costs.min()
    wrong = (excess > CLOSE * costs.max()) & (excess < problem.c_L * (1 - CLOSE)) | (excess > problem.C_L * (1 + CLOSE))
    assert not wrong.any(), (
        f"{part!r}: losses for {what}: found {excess[wrong][0]:.9g}, expected 0 or from c_L = {problem.c_L:.9g} to C_L = "
        f"{problem.C_L:.9g}"
    )
