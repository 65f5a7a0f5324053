"""Checks of custom representations."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from sklearn_predtron._core.problem import Codes
from sklearn_predtron._support.parts import checked_build
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.estimator_checks._part_helpers import (
    CLOSE,
    assert_answers,
    assert_same_table,
    checked_call,
    random_scores,
)
from sklearn_predtron.losses import CostMatrix, KendallTau, ZeroOne, costs_of
from sklearn_predtron.problems._finite import FiniteProblem
from sklearn_predtron.representations import CodeRepresentation, Pairwise, RankingRepresentation, SubsetRepresentation


def check_representation(representation: Any, size: int) -> None:
    """Check a custom representation.

    Its vectors are different unit vectors that decode to their predictions.

    - the vectors are finite, of length 1 and all different, and the prediction from rep(sigma) is sigma;
    - for a `CodeRepresentation`, the compiled table has these vectors and predictions, and its competitors at random scores,
      some of them tied, are maximisers, for the 0-1 loss and for costs;
    - for a `RankingRepresentation`, f decreases strictly, and a shorter list has the same values; for `Pairwise`, the signs of
      a ranking's pairs are decoded as that ranking;
    - the vectors are the same in repeated calls, and for clones, copies and pickles.

    Parameters
    ----------
    representation : CodeRepresentation, RankingRepresentation or SubsetRepresentation
        The representation.
    size : int
        The number of predictions of a table, of items of a list, or of labels of a set.

    Raises
    ------
    AssertionError
        If a check fails; the message has the representation, the result and the expected result.

    See Also
    --------
    check_loss : The same for losses.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron.estimator_checks import check_representation
    >>> from sklearn_predtron.representations import Simplex, CodeRepresentation, UserRank
    >>> check_representation(Simplex(), 4)
    >>> check_representation(UserRank(lambda j: -np.sqrt(j)), 10)
    >>> class Long(CodeRepresentation):
    ...     def code(self, k):
    ...         return 2 * np.eye(k)
    >>> check_representation(Long(), 3)
    Traceback (most recent call last):
        ...
    AssertionError: Long.code(3) returned row 0 of length 2; accepted is ...
    """
    least = 2 if isinstance(representation, CodeRepresentation) else 1
    if not isinstance(size, Integral) or isinstance(size, bool) or size < least:
        raise ValueError(f"size={size!r} must be a whole number of at least {least}.")
    if isinstance(representation, CodeRepresentation):
        check_code(representation, size)
    elif isinstance(representation, Pairwise):
        check_votes(representation, size)
    elif isinstance(representation, RankingRepresentation):
        assert_same_table(representation, f"values({size})", lambda part: part.table(size))
        f = checked_call(representation.table, size)
        unit = f / np.linalg.norm(f) if size > 1 else np.ones(1)
        level = np.flatnonzero(np.diff(unit) >= 0)
        assert not len(level), (
            f"{representation!r}: f / |f| of positions {level[:1] + 1} and {level[:1] + 2} of {size}: found the same, "
            "expected a fall"
        )
        for shorter in range(1, size):
            assert np.allclose(checked_call(representation.table, shorter), f[:shorter], rtol=CLOSE, atol=CLOSE * np.ptp(f)), (
                f"{representation!r}: values({shorter}) are not the first of values({size}), {shortened(f[:shorter].tolist())}"
            )
    elif isinstance(representation, SubsetRepresentation):
        assert_same_table(representation, "parameters", lambda part: np.array(repr(part)))
    else:
        raise TypeError(
            f"representation={representation!r} is no representation; accepted are instances of CodeRepresentation, "
            "RankingRepresentation and SubsetRepresentation."
        )


def check_votes(representation: Pairwise, m: int) -> None:
    """Check that pairwise signs decode to their ranking."""
    assert_same_table(representation, "parameters", lambda part: np.array(repr(part)))
    problem = checked_call(KendallTau().build, representation, m)
    first, second = np.triu_indices(m, 1)
    random = np.random.default_rng(0)
    for place in [random.permutation(m) for _ in range(8)]:
        signs = np.where(place[first] < place[second], 1.0, -1.0) if m > 1 else np.zeros(1)
        found = np.argsort(np.argsort(-problem.label_scores(signs[None])[0]))
        assert (found == place).all(), f"{representation!r}: the ranking of {place.tolist()}'s pairs: found {found.tolist()}"


def check_code(representation: CodeRepresentation, k: int) -> None:
    """Check the code and the compiled table's answers."""
    assert_same_table(representation, f"code({k})", lambda part: type(part).table(part, k))
    code = checked_call(type(representation).table, representation, k)
    d, zero_one = code.shape[1], 1.0 - np.eye(k)
    random = np.random.default_rng(0)
    for loss in [ZeroOne(), CostMatrix(random.integers(1, 9, (k, k)) * zero_one)]:
        problem = checked_call(loss.build, representation, np.arange(k))
        checked_call(checked_build, representation, problem, FiniteProblem, "compiled", k=k, d=d)
        rows = problem.decision(np.eye(d)).T
        assert np.abs(rows - code).max() <= CLOSE, (
            f"{representation!r}: the rows of the compiled table: found {shortened(rows.tolist())}, expected "
            f"{shortened(code.tolist())}"
        )
        predicted = problem.predict(np.ascontiguousarray(code))
        wrong = np.flatnonzero(predicted != np.arange(k))
        assert not len(wrong), (
            f"{representation!r}: the prediction from rep({wrong[0]}): found {predicted[wrong[0]]}, expected {wrong[0]}"
        )
        cost, codes = costs_of(loss, np.arange(k)), Codes(np.arange(k))
        costs = zero_one if cost is None else cost
        for t in random_scores(d, 8):
            for y in range(k):
                assert_answers(representation, problem, codes, y, t, code, costs[y], f"y = {y} of {k}")
