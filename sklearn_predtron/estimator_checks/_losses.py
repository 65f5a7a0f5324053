"""Checks of custom losses."""

from __future__ import annotations

import copy
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.problem import Codes
from sklearn_predtron._support.parts import checked_build
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.estimator_checks._part_helpers import (
    CLOSE,
    assert_answers,
    assert_constants,
    assert_same_table,
    checked_call,
    random_scores,
)
from sklearn_predtron.losses import CostTableLoss, RankingLoss, SubsetLoss, costs_of
from sklearn_predtron.problems._label_sets import Indicators, LabelSets
from sklearn_predtron.problems._problem_queries import competitor_of
from sklearn_predtron.problems._ranking import RankingProblem
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.representations import LinearRank, LogRank, OneHot, SignVector

MOST_LABELS, MOST_ITEMS = 10, 6


def check_loss(loss: Any, labels: Any) -> None:
    """Check a custom loss and its compiled inference.

    - losses are numbers from 0 to 1e100, 0 for sigma_y, and consistent with c_L and C_L of the compiled problem;
    - at random scores, some of them tied, the compiled problem's prediction maximises <rep(sigma), t>, and its competitor
      maximises L(sigma, y) + <rep(sigma), t>, equation (2) of Jain et al. (2015);
    - their losses equal the loss's own values (those of a ranking loss, if it evaluates the ranking);
    - the loss is the same in repeated calls, and for clones, copies and pickles.

    Parameters
    ----------
    loss : CostTableLoss, SubsetLoss or RankingLoss
        The loss.
    labels : array-like
        For a `CostTableLoss`, the classes.  For a `SubsetLoss`, an indicator matrix of at most 10 labels.  For a `RankingLoss`, a
        list of lists of relevances, each of at most 6 items.

    Raises
    ------
    AssertionError
        If a check fails; the message has the loss, the scores, the result and the expected result.

    See Also
    --------
    check_representation : The same for representations.

    Examples
    --------
    >>> from sklearn_predtron.estimator_checks import check_loss
    >>> from sklearn_predtron.losses import NDCG, Absolute, CountLoss
    >>> check_loss(Absolute(), ["poor", "fair", "good"])
    >>> check_loss(CountLoss(lambda a, b, c, d: 2 * b + c), [[1, 0, 1], [0, 0, 0]])
    >>> check_loss(NDCG(k=2), [[2, 1, 0], [0, 0, 3, 1]])
    >>> check_loss(CountLoss(lambda a, b, c, d: b - c), [[1, 0, 1]])
    Traceback (most recent call last):
        ...
    AssertionError: loss must be finite and not negative; at (a, b, c, d) = ...
    """
    if isinstance(loss, CostTableLoss):
        check_table_loss(loss, np.asarray(labels))
    elif isinstance(loss, SubsetLoss):
        check_subset_loss(loss, np.asarray(labels))
    elif isinstance(loss, RankingLoss):
        check_ranking_loss(loss, [np.asarray(y, dtype=np.float64) for y in labels])
    else:
        raise TypeError(f"loss={loss!r} is no loss; accepted are instances of CostTableLoss, SubsetLoss and RankingLoss.")


def check_table_loss(loss: CostTableLoss, classes: NDArray) -> None:
    """Check the costs and the table's answers."""
    k = len(classes)
    if classes.ndim != 1 or k < 2:
        raise ValueError(f"labels must be a list of at least two classes, got {shortened(classes.tolist())}.")
    assert_same_table(loss, "matrix(classes)", lambda part: costs_of(part, classes))
    costs = checked_call(costs_of, loss, classes)
    problem = checked_call(loss.build, OneHot(), classes)
    costs = 1.0 - np.eye(k) if costs is None else costs
    codes = Codes(np.arange(k))
    for t in random_scores(k, 20):
        for y in range(k):
            assert_answers(loss, problem, codes, y, t, np.eye(k), costs[y], f"y = {classes[y]!r}")


def check_subset_loss(loss: SubsetLoss, Y: NDArray) -> None:
    """Check the values of counts and the compiled inference."""
    if Y.ndim != 2 or not np.isin(Y, (0, 1)).all() or not 0 < Y.shape[1] <= MOST_LABELS or len(Y) == 0:
        raise ValueError(
            f"labels must be an indicator matrix of at most {MOST_LABELS} labels, and of at least one row, got shape {Y.shape}."
        )
    Y, m = np.unique(Y.astype(np.uint8), axis=0), Y.shape[1]
    problem = checked_call(checked_build, loss, checked_call(loss.build, SignVector(), m), LabelSets, d=m)
    signs = 2.0 * ((np.arange(2**m)[:, None] >> np.arange(m)) & 1) - 1
    sets = np.unique(problem.predict(signs), axis=0).astype(int)  # all, or all of k labels
    reps = (2 * sets - 1) / np.sqrt(m)
    counts = [part.ravel() for part in np.broadcast_arrays(*counts_of(sets[None], Y[:, None].astype(int)))]
    assert_same_table(loss, "of_counts(a, b, c, d)", lambda part: part.evaluate(*counts))
    table = checked_call(loss.evaluate, *counts).reshape(len(Y), len(sets))
    labels = Indicators(Y)
    for i, y in enumerate(Y):
        what = f"y = {y.tolist()}"
        assert_constants(loss, problem, table[i], what)
        for j, sigma in enumerate(sets):
            loss_found, least = checked_call(competitor_of, problem, labels, i, 2.0 * sigma - 1, False)[:2]
            assert abs(loss_found + least - table[i, j]) <= CLOSE * table.max(initial=1e-300), (
                f"{loss!r}: the compiled loss of the set {sigma.tolist()} for {what}: found {loss_found + least:.9g}, expected "
                f"{table[i, j]:.9g}, which of_counts says"
            )
        for t in random_scores(m, 10, seed=i):
            assert_answers(loss, problem, labels, i, t, reps, table[i], what)
        assert_correct_is_free(loss, table[i], (sets == y).all(axis=1), f"sigma_y = y = {y.tolist()}")


def counts_of(sets: NDArray, Y: NDArray) -> tuple[NDArray, ...]:
    """Count true positives, false positives, false negatives and true negatives."""
    return (
        (sets & Y).sum(axis=-1),
        (sets & (1 - Y)).sum(axis=-1),
        ((1 - sets) & Y).sum(axis=-1),
        ((1 - sets) & (1 - Y)).sum(axis=-1),
    )


def assert_correct_is_free(part: Any, costs: NDArray, right: NDArray, what: str) -> None:
    """Assert that correct predictions have no loss."""
    lost = costs[right & (costs != 0)]
    assert not len(lost), f"{part!r}: the loss of {what}: found {lost[0]:.9g}, expected 0"


def check_ranking_loss(loss: RankingLoss, lists: list[NDArray]) -> None:
    """Check the compiled inference against all rankings."""
    if not lists:
        raise ValueError("labels is empty; accepted are lists of relevances.")
    for y in lists:
        if y.ndim != 1 or not 0 < len(y) <= MOST_ITEMS or not (np.isfinite(y) & (y >= 0)).all():
            raise ValueError(
                f"labels must be lists of 1 to {MOST_ITEMS} relevances, finite and not negative, got {shortened(y.tolist())}."
            )
    for representation in [LogRank(), LinearRank()]:
        for y in lists:
            m, what = len(y), f"y = {y.tolist()}"
            labels = Relevances(y, np.array([0, m], dtype=np.intp))
            problem = checked_call(
                checked_build,
                loss,
                checked_call(copy.copy(loss).build, representation, 0),
                RankingProblem,
                d=1,
                n_labels=0,
            )
            places = np.array(list(permutations(range(m))))
            assert_same_table(loss, f"losses of the rankings for {what}", partial(losses_of_rankings, y=y))
            costs = checked_call(losses_of_rankings, loss, y)
            strange = costs[~((costs >= 0) & (costs <= 1 + CLOSE))]
            assert not len(strange), f"{loss!r}: a loss for {what}: found {strange[0]}, expected a number from 0 to 1"
            in_order = np.array([(np.diff(y[np.argsort(place)]) <= 0).all() for place in places])
            assert_correct_is_free(loss, costs, in_order, f"a ranking in the order of relevance for {what}")
            positive = costs[costs > 0].min(initial=np.inf)
            least = float(checked_call(problem.least_losses, labels)[0])
            assert least <= positive * (1 + CLOSE), (
                f"{loss!r}: the least positive loss for {what}: found {least:.9g}, expected at most {positive:.9g}"
            )
            for t in (np.zeros(m), np.arange(m) // 2.0):
                found = problem.losses(t, labels)[0]
                expected = costs[(np.diff(t[places.argsort(axis=1)], axis=1) <= 0).all(axis=1)].mean()
                assert abs(found - expected) <= CLOSE * max(1, expected), (
                    f"{loss!r}: the expectation over ties of the scores {t.tolist()} for {what}: found {found:.9g}, "
                    f"expected {expected:.9g}"
                )
            f = representation.table(m)
            reps = f[places] / np.linalg.norm(f)
            for t in random_scores(m, 8):
                assert_answers(loss, problem, labels, 0, t, reps, costs, f"{what} and {representation!r}")


def losses_of_rankings(loss: RankingLoss, y: NDArray) -> NDArray:
    """Return L of every ranking of a list, in the order of `permutations`."""
    problem = copy.copy(loss).build(LinearRank(), 0)
    labels = Relevances(y, np.array([0, len(y)], dtype=np.intp))
    return np.array([problem.losses(-np.array(place, dtype=np.float64), labels)[0] for place in permutations(range(len(y)))])
