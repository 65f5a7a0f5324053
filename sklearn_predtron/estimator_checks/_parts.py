"""What a user's own parts promise, as checks: problems written in Python, losses and representations."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import permutations
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sklearn_predtron._names import refuse_class
from sklearn_predtron._parts import checked_build
from sklearn_predtron._queries import shortened
from sklearn_predtron.losses import CostMatrix, CostTableLoss, RankingLoss, SubsetLoss, ZeroOne, costs_of
from sklearn_predtron.problems._base import Codes
from sklearn_predtron.problems._finite import FiniteProblem
from sklearn_predtron.problems._inquiry import ask
from sklearn_predtron.problems._kendall import KendallTauProblem
from sklearn_predtron.problems._label_sets import Indicators, LabelSets
from sklearn_predtron.problems._ranking import RankingProblem
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.problems._user import PythonProblem
from sklearn_predtron.representations import (
    CodeRepresentation,
    LinearRank,
    LogRank,
    OneHot,
    RankingRepresentation,
    SignVector,
    SubsetRepresentation,
)

CLOSE = 1e-9  # what rounding may change, relatively
MOST_LABELS, MOST_ITEMS, MOST_FOUND = 10, 6, 2000
SCALES = (1e-3, 1.0, 1e3)


# ---------------------------------------------------------------------------------------------------------------- the tools


def kept(call: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
    """Return what the call returns; the package's own refusal is a broken promise."""
    try:
        return call(*arguments, **more)
    except ValueError as error:
        raise AssertionError(str(error)) from error


def draws(d: int, n: int, seed: int = 0) -> Iterator[NDArray]:
    """Scores of several sizes, with ties and without."""
    random = np.random.default_rng(seed)
    yield np.zeros(d)
    for i in range(n):
        for scale in SCALES:
            t = random.standard_normal(d)
            yield scale * (np.round(t) if i % 2 else t)


def copies_of(part: Any) -> Iterator[tuple[str, Any]]:
    """The part itself, and what should be the same: copies, and pickles of what can be pickled (a local class cannot)."""
    yield "asked again", part
    yield "cloned", clone(part, safe=False)
    yield "copied", copy.deepcopy(part)
    try:
        dumped = pickle.dumps(part)
    except (pickle.PicklingError, AttributeError, TypeError):
        return
    yield "pickled", pickle.loads(dumped)


def assert_same_table(part: Any, what: str, tabulate: Callable[[Any], Any]) -> None:
    """What is tabulated is the same whenever it is asked for, also by copies."""
    expected = kept(tabulate, part)
    for way, other in copies_of(part):
        found = kept(tabulate, other)
        same = found is None if expected is None else found is not None and np.array_equal(found, expected)
        assert same, f"{what} of {part!r}, {way}: found {shortened(found)}, expected {shortened(expected)}"


def assert_answers(part: Any, problem: Any, labels: Any, i: int, t: NDArray, reps: NDArray, costs: NDArray, what: str) -> None:
    """The compiled problem's answers for label i are maximisers among all predictions, whose rows are reps and costs."""
    scores, least = reps @ t, costs.min()
    allowed = CLOSE * (np.linalg.norm(t) + costs.max())
    at = f"{what} at t = {shortened(t.tolist())}"
    loss = kept(ask, problem, labels, i, t, False)[0]
    best = np.flatnonzero(scores >= scores.max() - allowed)
    suffered = costs[best] - least
    assert np.abs(suffered - loss).min() <= allowed, (
        f"{part!r}: the loss of the prediction for {at}: found {loss:.9g}, expected {sorted(set(suffered.tolist()))}"
    )
    if isinstance(problem, KendallTauProblem) or costs.max() == least:  # its competitor is no ranking; or nothing can be learned
        return
    for augmented in [False, True]:
        loss, _, competitor_loss, gap, change = kept(ask, problem, labels, i, t, augmented)
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
    """No positive loss is below c_L, and none above C_L."""
    excess = costs - costs.min()
    wrong = (excess > CLOSE * costs.max()) & (excess < problem.c_L * (1 - CLOSE)) | (excess > problem.C_L * (1 + CLOSE))
    assert not wrong.any(), (
        f"{part!r}: losses for {what}: found {excess[wrong][0]:.9g}, expected 0 or from c_L = {problem.c_L:.9g} to C_L = "
        f"{problem.C_L:.9g}"
    )


# --------------------------------------------------------------------------------------------------------------- a problem


def check_problem(problem: Any, labels: Iterable[Any]) -> None:
    """Check a problem written in Python: both decoders, the loss, the representation, copies.

    Decoders are compared with all predictions: those that the problem's own `predictions` lists, or else those that turn up as
    sigma_y of a label or are decoded at any of many random scores (some of which tie).

    - ``decode(t)`` is a maximiser of <rep(sigma), t>, and ``augmented_decode(t, y)`` one of L(sigma, y) + <rep(sigma), t>;
    - ``decode(representation(sigma))`` is sigma, and representations are unit vectors;
    - losses are numbers from 0 to 1e100, those of ``correct(y, sigma)`` are 0, and none contradicts c_L or C_L;
    - no method changes t, and each gives the same again, also of a clone, a copy and a pickle.

    Parameters
    ----------
    problem : Problem
        The problem.
    labels : iterable
        Some labels, which should differ: ten or so are enough.

    Raises
    ------
    AssertionError
        If a promise is broken; it names the method, what it was given, what it returned and what was expected.

    See Also
    --------
    sklearn_predtron.Problem : What to define.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron import Problem
    >>> from sklearn_predtron.estimator_checks import check_problem
    >>> class Parity(Problem):
    ...     n_scores, c_L, C_L = 1, 1.0, 1.0
    ...     def decode(self, t):
    ...         return int(t[0] > 0)
    ...     def loss(self, prediction, y):
    ...         return float(prediction != y)
    ...     def representation(self, prediction):
    ...         return np.array([2.0 * prediction - 1])
    ...     def augmented_decode(self, t, y):
    ...         return self.decode(t + (1 - 2 * y) / 2)
    >>> check_problem(Parity(), [0, 1])
    >>> class Swapped(Parity):
    ...     def augmented_decode(self, t, y):
    ...         return self.decode(t - (1 - 2 * y) / 2)
    >>> check_problem(Swapped(), [0, 1])
    Traceback (most recent call last):
        ...
    AssertionError: Swapped.augmented_decode([0.0], 0) returned 0, where loss + <rep, t> is 0; expected is a
    maximiser, as 1 with 1...
    """
    refuse_class("problem", problem)
    labels = list(labels)
    if not labels:
        raise ValueError("labels is empty; accepted is an iterable of at least one label.")
    asked = Asked(problem, labels)
    asked.find_predictions()
    asked.check_losses()
    asked.check_decoders()
    for way, other in copies_of(problem):
        asked.check_copy(way, other)


class Asked:
    """A problem, some labels, and the predictions that have turned up."""

    def __init__(self, problem: Any, labels: list[Any]):
        self.problem, self.labels = problem, labels
        self.name = type(problem).__name__
        self.compiled = kept(PythonProblem, problem)
        self.found: dict[bytes, tuple[Any, NDArray]] = {}  # predictions with their representations

    # What the methods return, checked

    def rep(self, prediction: Any) -> NDArray:
        """rep(sigma)."""
        return np.array(kept(self.compiled.representation_of, prediction))

    def loss(self, prediction: Any, y: Any) -> float:
        """L(sigma, y)."""
        return kept(self.compiled.loss_of, prediction, y)

    def decode(self, t: NDArray, *y: Any) -> Any:
        """The prediction at the scores, or the competitor for a label."""
        method = "augmented_decode" if y else "decode"
        given = t.copy()
        prediction = getattr(self.problem, method)(given, *y)
        assert np.array_equal(given, t), (
            f"{self.name}.{method} changed the scores it was given: found {shortened(given.tolist())}, expected "
            f"{shortened(t.tolist())}"
        )
        return prediction

    def correct(self, y: Any, competitor: Any) -> Any:
        """sigma_y."""
        right = self.problem.correct(y, competitor)
        loss = self.loss(right, y)
        assert loss == 0, (
            f"{self.name}.correct({shortened(y)}, {shortened(competitor)}) returned {shortened(right)}, whose loss is "
            f"{loss:.9g}; expected is a prediction of loss 0"
        )
        return right

    # The predictions

    def add(self, prediction: Any) -> None:
        rep = self.rep(prediction)
        key = (np.round(rep, 7) + 0.0).tobytes()
        if key not in self.found:
            if len(self.found) < MOST_FOUND:
                self.found[key] = prediction, rep
            return
        other = self.found[key][0]
        for y in self.labels:
            losses = self.loss(prediction, y), self.loss(other, y)
            assert losses[0] == losses[1], (
                f"{self.name}.representation is the same for {shortened(prediction)} and {shortened(other)}, whose losses on "
                f"{shortened(y)} are {losses[0]:.9g} and {losses[1]:.9g}; expected are different unit vectors"
            )

    def find_predictions(self) -> None:
        listed = getattr(self.problem, "predictions", None)
        if listed is not None:
            for prediction in listed() if callable(listed) else listed:
                self.add(prediction)
        for t in draws(self.compiled.d, 40):
            prediction = self.decode(t)
            self.add(prediction)
            for y in self.labels:
                self.loss(prediction, y)
                competitor = self.decode(t, y)
                self.add(competitor)
                self.add(self.correct(y, competitor))
                self.add(self.correct(y, prediction))

    @property
    def reps(self) -> NDArray:
        """The representations of all predictions that were found."""
        return np.array([rep for _, rep in self.found.values()])

    # The checks

    def check_losses(self) -> None:
        """Losses of all predictions on all labels, and what `decode` makes of their representations."""
        for prediction, rep in self.found.values():
            for y in self.labels:
                self.loss(prediction, y)
            back = self.decode(rep)
            assert np.abs(self.rep(back) - rep).max() <= CLOSE, (
                f"{self.name}.decode(representation({shortened(prediction)})) returned {shortened(back)}; expected is "
                f"{shortened(prediction)}, whose representation is {shortened(rep.tolist())}"
            )

    def check_decoders(self) -> None:
        """Both decoders against all predictions."""
        reps, predictions = self.reps, [prediction for prediction, _ in self.found.values()]
        costs = [np.array([self.loss(prediction, y) for prediction in predictions]) for y in self.labels]
        for t in draws(self.compiled.d, 15, seed=1):
            scores = reps @ t
            self.assert_best(scores, predictions, t)
            for y, cost in zip(self.labels, costs, strict=True):
                self.assert_best(cost + scores, predictions, t, y)

    def assert_best(self, values: NDArray, predictions: list[Any], t: NDArray, *y: Any) -> None:
        """What a decoder returns is worth as much as the best of all predictions."""
        prediction, best = self.decode(t, *y), int(values.argmax())
        found = self.rep(prediction) @ t + (self.loss(prediction, *y) if y else 0)
        method, what = ("augmented_decode", "loss + <rep, t>") if y else ("decode", "<rep, t>")
        given = ", ".join(map(shortened, [t.tolist(), *y]))
        assert found >= values[best] - CLOSE * (np.linalg.norm(t) + np.abs(values).max()), (
            f"{self.name}.{method}({given}) returned {shortened(prediction)}, where {what} is {found:.9g}; expected is a "
            f"maximiser, as {shortened(predictions[best])} with {values[best]:.9g}"
        )

    def check_copy(self, way: str, other: Any) -> None:
        """A copy, or the problem itself at another time, returns the same."""
        twin = Asked(other, self.labels)
        for t in draws(self.compiled.d, 4, seed=2):
            calls: list[tuple] = [(t,), *((t, y) for y in self.labels)]
            for call in calls:
                found, expected = twin.decode(*call), self.decode(*call)
                method = "augmented_decode" if len(call) > 1 else "decode"
                assert np.array_equal(twin.rep(found), self.rep(expected)), (
                    f"{self.name}.{method}, {way}, at t = {shortened(t.tolist())}: found {shortened(found)}, expected "
                    f"{shortened(expected)}"
                )
        for prediction, _ in self.found.values():
            for y in self.labels:
                found, expected = twin.loss(prediction, y), self.loss(prediction, y)
                assert found == expected, (
                    f"{self.name}.loss({shortened(prediction)}, {shortened(y)}), {way}: found {found:.9g}, expected "
                    f"{expected:.9g}"
                )


# ------------------------------------------------------------------------------------------------------------------ a loss


def check_loss(loss: Any, labels: Any) -> None:
    """Check a loss: its values, its compiled inference against all predictions, and copies.

    - losses are numbers from 0 to 1e100, 0 for sigma_y, and none contradicts c_L or C_L of the compiled problem;
    - at random scores, some of which tie, the compiled problem's prediction is a maximiser of <rep(sigma), t>, its competitor one
      of L(sigma, y) + <rep(sigma), t>, equation (2) of Jain et al. (2015), and their losses are those of the loss's own values (a
      ranking loss's, where it evaluates the ranking);
    - the loss is the same whenever it is asked for, also of a clone, a copy and a pickle.

    Parameters
    ----------
    loss : CostTableLoss, SubsetLoss or RankingLoss
        The loss.
    labels : array-like
        Of a `CostTableLoss` the classes; of a `SubsetLoss` an indicator matrix, of at most 10 labels; of a `RankingLoss` a
        list of lists of relevances, each of at most 6 items.

    Raises
    ------
    AssertionError
        If a promise is broken; it names the loss, the scores, what was found and what was expected.

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
    """The costs, and the table's answers."""
    k = len(classes)
    if classes.ndim != 1 or k < 2:
        raise ValueError(f"labels must be a list of at least two classes, got {shortened(classes.tolist())}.")
    assert_same_table(loss, "matrix(classes)", lambda part: costs_of(part, classes))
    costs = kept(costs_of, loss, classes)
    problem = kept(loss.build, OneHot(), classes)
    costs = 1.0 - np.eye(k) if costs is None else costs
    codes = Codes(np.arange(k))
    for t in draws(k, 20):
        for y in range(k):
            assert_answers(loss, problem, codes, y, t, np.eye(k), costs[y], f"y = {classes[y]!r}")


def check_subset_loss(loss: SubsetLoss, Y: NDArray) -> None:
    """The values of counts, and the compiled inference against all sets."""
    if Y.ndim != 2 or not np.isin(Y, (0, 1)).all() or not 0 < Y.shape[1] <= MOST_LABELS or len(Y) == 0:
        raise ValueError(
            f"labels must be an indicator matrix of at most {MOST_LABELS} labels, and of at least one row, got shape {Y.shape}."
        )
    Y, m = np.unique(Y.astype(np.uint8), axis=0), Y.shape[1]
    problem = kept(checked_build, loss, kept(loss.build, SignVector(), m), LabelSets, d=m)
    signs = 2.0 * ((np.arange(2**m)[:, None] >> np.arange(m)) & 1) - 1
    sets = np.unique(problem.predict(signs), axis=0).astype(int)  # all, or all of k labels
    reps = (2 * sets - 1) / np.sqrt(m)
    counts = [part.ravel() for part in np.broadcast_arrays(*counts_of(sets[None], Y[:, None].astype(int)))]
    assert_same_table(loss, "of_counts(a, b, c, d)", lambda part: part.evaluate(*counts))
    table = kept(loss.evaluate, *counts).reshape(len(Y), len(sets))
    labels = Indicators(Y)
    for i, y in enumerate(Y):
        what = f"y = {y.tolist()}"
        assert_constants(loss, problem, table[i], what)
        for j, sigma in enumerate(sets):
            loss_found, least = kept(ask, problem, labels, i, 2.0 * sigma - 1, False)[:2]
            assert abs(loss_found + least - table[i, j]) <= CLOSE * table.max(initial=1e-300), (
                f"{loss!r}: the compiled loss of the set {sigma.tolist()} for {what}: found {loss_found + least:.9g}, expected "
                f"{table[i, j]:.9g}, which of_counts says"
            )
        for t in draws(m, 10, seed=i):
            assert_answers(loss, problem, labels, i, t, reps, table[i], what)
        assert_right(loss, table[i], (sets == y).all(axis=1), f"sigma_y = y = {y.tolist()}")


def counts_of(sets: NDArray, Y: NDArray) -> tuple[NDArray, ...]:
    """True positives, false positives, false negatives and true negatives."""
    return (
        (sets & Y).sum(axis=-1),
        (sets & (1 - Y)).sum(axis=-1),
        ((1 - sets) & Y).sum(axis=-1),
        ((1 - sets) & (1 - Y)).sum(axis=-1),
    )


def assert_right(part: Any, costs: NDArray, right: NDArray, what: str) -> None:
    """Right predictions have no loss."""
    lost = costs[right & (costs != 0)]
    assert not len(lost), f"{part!r}: the loss of {what}: found {lost[0]:.9g}, expected 0"


def check_ranking_loss(loss: RankingLoss, lists: list[NDArray]) -> None:
    """The compiled inference against all rankings."""
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
            problem = kept(checked_build, loss, kept(copy.copy(loss).build, representation, 0), RankingProblem, d=1, n_labels=0)
            places = np.array(list(permutations(range(m))))
            assert_same_table(loss, f"losses of the rankings for {what}", partial(losses_of_rankings, y=y))
            costs = kept(losses_of_rankings, loss, y)
            strange = costs[~((costs >= 0) & (costs <= 1 + CLOSE))]
            assert not len(strange), f"{loss!r}: a loss for {what}: found {strange[0]}, expected a number from 0 to 1"
            in_order = np.array([(np.diff(y[np.argsort(place)]) <= 0).all() for place in places])
            assert_right(loss, costs, in_order, f"a ranking in the order of relevance for {what}")
            positive = costs[costs > 0].min(initial=np.inf)
            least = float(kept(problem.least_losses, labels)[0])
            assert least <= positive * (1 + CLOSE), (
                f"{loss!r}: the least positive loss for {what}: found {least:.9g}, expected at most {positive:.9g}"
            )
            f = representation.table(m)
            reps = f[places] / np.linalg.norm(f)
            for t in draws(m, 8):
                assert_answers(loss, problem, labels, 0, t, reps, costs, f"{what} and {representation!r}")


def losses_of_rankings(loss: RankingLoss, y: NDArray) -> NDArray:
    """L of every ranking of a list, in the order of `permutations`."""
    problem = copy.copy(loss).build(LinearRank(), 0)
    labels = Relevances(y, np.array([0, len(y)], dtype=np.intp))
    return np.array([problem.losses(-np.array(place, dtype=np.float64), labels)[0] for place in permutations(range(len(y)))])


# ------------------------------------------------------------------------------------------------------- a representation


def check_representation(representation: Any, size: int) -> None:
    """Check a representation: unit vectors, all different, that decode to the predictions they stand for.

    - the vectors are finite, of length 1 and all different, and the prediction from rep(sigma) is sigma;
    - of a `CodeRepresentation`, the compiled table has these vectors and these predictions, and its competitors at random
      scores, some of which tie, are maximisers, for the 0-1 loss and for costs;
    - of a `RankingRepresentation`, f falls strictly, and a shorter list has the same values;
    - the vectors are the same whenever they are asked for, also of a clone, a copy and a pickle.

    Parameters
    ----------
    representation : CodeRepresentation, RankingRepresentation or SubsetRepresentation
        The representation.
    size : int
        The number of predictions of a table, of items of a list, or of labels of a set.

    Raises
    ------
    AssertionError
        If a promise is broken; it names the representation, what was found and what was expected.

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
    elif isinstance(representation, RankingRepresentation):
        assert_same_table(representation, f"values({size})", lambda part: part.table(size))
        f = kept(representation.table, size)
        unit = f / np.linalg.norm(f) if size > 1 else np.ones(1)
        level = np.flatnonzero(np.diff(unit) >= 0)
        assert not len(level), (
            f"{representation!r}: f / |f| of positions {level[:1] + 1} and {level[:1] + 2} of {size}: found the same, "
            "expected a fall"
        )
        for shorter in range(1, size):
            assert np.allclose(kept(representation.table, shorter), f[:shorter], rtol=CLOSE, atol=CLOSE * np.ptp(f)), (
                f"{representation!r}: values({shorter}) are not the first of values({size}), {shortened(f[:shorter].tolist())}"
            )
    elif isinstance(representation, SubsetRepresentation):
        assert_same_table(representation, "parameters", lambda part: np.array(repr(part)))
    else:
        raise TypeError(
            f"representation={representation!r} is no representation; accepted are instances of CodeRepresentation, "
            "RankingRepresentation and SubsetRepresentation."
        )


def check_code(representation: CodeRepresentation, k: int) -> None:
    """The code, and the compiled table's answers."""
    assert_same_table(representation, f"code({k})", lambda part: type(part).table(part, k))
    code = kept(type(representation).table, representation, k)
    d, zero_one = code.shape[1], 1.0 - np.eye(k)
    random = np.random.default_rng(0)
    for loss in [ZeroOne(), CostMatrix(random.integers(1, 9, (k, k)) * zero_one)]:
        problem = kept(loss.build, representation, np.arange(k))
        kept(checked_build, representation, problem, FiniteProblem, "compiled", k=k, d=d)
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
        for t in draws(d, 8):
            for y in range(k):
                assert_answers(representation, problem, codes, y, t, code, costs[y], f"y = {y} of {k}")
