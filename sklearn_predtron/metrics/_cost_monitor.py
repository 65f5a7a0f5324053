"""Watching the average cost of a model in use, with a bounded probability of a false alarm."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from sklearn_predtron._support.numbers import as_numbers, real_number
from sklearn_predtron._support.queries import is_missing_id, shortened, shortened_list

BETS = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.8])  # shares of the capital, as fractions of the largest that cannot be lost
SHARES = BETS.tolist()
N_MEANS = 200  # of a grid on which the bounds of the mean are computed
MEANS = (np.arange(N_MEANS) + 0.5) / N_MEANS
# A bet b that a mean is too small grows by 1 + b (cost / mean - 1), and one that it is too large by the same of 1 - cost and
# 1 - mean: both are linear in the cost.  The axes are bets, sides and means.
SLOPES = BETS[:, None, None] * np.stack([1 / MEANS, -1 / (1 - MEANS)])
AT_ZERO = 1 - BETS[:, None, None] + BETS[:, None, None] * np.stack([np.zeros(N_MEANS), 1 / (1 - MEANS)])
BLOCK = 64  # rows, over which no product of gains overflows
LARGEST_CAPITAL = 1e200


class CostMonitor:
    """Alarm if the average cost per row exceeds a limit.

    Give it the cost of each row of a deployed model when the true label is known, whatever the delay.  It bets against the
    promise that the mean cost is at most `limit`, and the alarm is raised when the capital has grown by 1 / (1 - confidence).
    If the promise holds, the probability that an alarm is *ever* raised is at most 1 - confidence, however often you look.
    The costs need no distribution: the promise is that the expected cost of each row, given those before, is at most the limit.

    Parameters
    ----------
    limit : float
        The promised mean cost per row, above 0 and below `largest`.
    largest : float, default=1
        The largest possible cost of a row.
    confidence : float, default=0.95
        One minus the probability of a false alarm.
    groups : iterable of hashable, default=None
        Groups of rows that are watched separately, such as hospitals.  With G groups each has the confidence
        1 - (1 - confidence) / G, so that the promise is for all of them together.

    Attributes
    ----------
    drift_detected : bool
        Whether an alarm was raised; the name is that of river.
    alarms_ : dict
        The number of rows of the group at its alarm, by group (None without groups).

    See Also
    --------
    sklearn_predtron.PredtronBinaryClassifier.sample_loss : The cost of each row.
    sklearn_predtron.PredtronBinaryClassifier.certify : Guarantees the loss of the accepted predictions before the model is used.

    Notes
    -----
    For scaled costs y and the scaled limit m the capital of a bet begun at row s is the product of 1 + b (y - m) / m over rows
    s, s + 1, ..., with 0 < b < 1.  The capital that is compared is the mean over six bets b and over all beginnings s, which have
    the weights 1 / (s (s + 1)), so that a rise is found as well if it comes late.  It is a nonnegative supermartingale under the
    promise, so Ville's inequality bounds the probability that it ever reaches 1 / (1 - confidence).

    `interval` inverts the bets against each mean of a grid, on both sides (Waudby-Smith and Ramdas, 2024).  It contains the mean
    at all times with probability `confidence` if the mean is constant; it is never narrower than `largest` / 200.

    References
    ----------
    I. Waudby-Smith and A. Ramdas (2024). Estimating means of bounded random variables by betting. JRSS B 86(1).

    J. Shin, A. Ramdas and A. Rinaldo (2024). E-detectors: a nonparametric framework for sequential change detection. NEJSDS 2(2).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron.metrics import CostMonitor
    >>> costs = np.random.default_rng(0).random(3000) < np.repeat([0.1, 0.2], [2000, 1000])
    >>> monitor = CostMonitor(limit=0.12)
    >>> for i, cost in enumerate(costs):
    ...     if monitor.update(cost).drift_detected:
    ...         print(i)  # the cost rises at 2000
    ...         break
    2342
    >>> round(monitor.get(), 3)
    0.123
    """

    def __init__(
        self, limit: float, *, largest: float = 1.0, confidence: float = 0.95, groups: Iterable[Hashable] | None = None
    ) -> None:
        self.largest = in_range("largest", largest, 0, np.inf)
        self.limit = in_range("limit", limit, 0, self.largest)
        self.confidence = in_range("confidence", confidence, 0, 1)
        self.groups = None if groups is None else checked_names(groups)
        names: list[Any] = [None] if self.groups is None else self.groups
        error = (1 - self.confidence) / len(names)
        self._watches = {name: Watch(self.limit / self.largest, error) for name in names}

    def update(self, cost: Any, group: Any = None) -> CostMonitor:
        """Add the costs of one or more rows.

        Parameters
        ----------
        cost : float or array-like of shape (n_rows,)
            The cost of each row, from 0 to `largest`, in the order in which they became known.
        group : hashable or array-like of shape (n_rows,), default=None
            The group of the rows, if there are `groups`: one for all, or one for each.  A tuple is one group.

        Returns
        -------
        CostMonitor
            The monitor itself.

        Raises
        ------
        ValueError
            If a cost is out of range or a group is unknown; nothing is added then.
        """
        numbers = as_numbers(cost, "cost", "a number or an array of shape (n_rows,)")
        costs = check_array(np.atleast_1d(numbers), ensure_2d=False, dtype=np.float64, ensure_min_samples=0, input_name="cost")
        if costs.ndim != 1:
            raise ValueError(f"cost has shape {costs.shape}; accepted are a number and an array of shape (n_rows,).")
        strange = costs[(costs < 0) | (costs > self.largest)]
        if len(strange):
            raise ValueError(f"cost={strange[0]:g} must be from 0 to largest={self.largest:g}.")
        names = self._group_of_rows(group, len(costs))
        costs = costs / self.largest
        for name in dict.fromkeys(names):
            alone = len(self._watches) == 1
            self._watches[name].add(costs if alone else costs[[other == name for other in names]])
        return self

    def _group_of_rows(self, group: Any, n: int) -> list[Any]:
        """Return the group of each row."""
        listed = hasattr(group, "__len__") and not isinstance(group, (str, bytes, tuple))
        names = (group.tolist() if hasattr(group, "tolist") else list(group)) if listed else [group] * n
        if len(names) != n:
            raise ValueError(f"group has {len(names)} values for {n} costs; both must be the same number.")
        for name in names:
            if not is_hashable(name) or name not in self._watches:
                if self.groups is None:
                    raise ValueError(
                        f"group={shortened(name)} is given, and the monitor has no groups; name them, as "
                        f"CostMonitor({self.limit:g}, groups=[{shortened(name)}, ...])."
                    )
                raise ValueError(f"group={shortened(name)} is not one of groups={shortened_list(self.groups)}.")
        return names

    def get(self, group: Any = None) -> float:
        """Return the mean cost so far, nan before the first row.

        Parameters
        ----------
        group : hashable, default=None
            A group; None is all rows.

        Returns
        -------
        float
            The mean cost.
        """
        watches = [self._watch(group)] if group is not None else list(self._watches.values())
        n, total = sum(watch.n for watch in watches), sum(watch.total for watch in watches)
        return self.largest * total / n if n else float("nan")

    def interval(self, group: Any = None) -> tuple[float, float]:
        """Return a confidence interval of the mean cost that holds at all times.

        Parameters
        ----------
        group : hashable, default=None
            The group; needed if there are `groups`.

        Returns
        -------
        tuple of two floats
            The lower and the upper bound.
        """
        low, high = self._watch(group).interval()
        return self.largest * low, self.largest * high

    def _watch(self, group: Any) -> Watch:
        self._group_of_rows(group, 1)
        return self._watches[group]

    @property
    def drift_detected(self) -> bool:
        """Whether an alarm was raised."""
        return bool(self.alarms_)

    @property
    def alarms_(self) -> dict[Any, int]:
        """The number of rows of the group at its alarm, by group."""
        return {name: watch.alarm for name, watch in self._watches.items() if watch.alarm is not None}


class Watch:
    """The bets on the rows of one group, whose costs are scaled to [0, 1]."""

    def __init__(self, limit: float, error: float) -> None:
        self.limit, self.error = limit, error
        self.n, self.total = 0, 0.0
        self.alarm: int | None = None
        self.capital = [0.0] * len(BETS)  # of the bets that have begun
        # Of bets from the first row on, that a mean is too small, or too large: the logarithms up to the last full block of
        # rows, and the factors since then.
        self.log_capital, self.factors = np.zeros(SLOPES.shape), np.ones(SLOPES.shape)

    def add(self, costs: NDArray) -> None:
        """Add rows, one after another."""
        while len(costs):
            block = costs[: BLOCK - self.n % BLOCK]
            costs = costs[len(block) :]
            factors = block[:, None, None, None] * SLOPES
            factors += AT_ZERO
            factors[0] *= self.factors
            self.factors = np.multiply.reduce(factors)
            for cost in block.tolist():
                self.n += 1
                self.total += cost
                if self.alarm is None:
                    self.watch(cost)
            if self.n % BLOCK == 0:
                self.log_capital, self.factors = self.log_capital + np.log(self.factors), np.ones_like(self.factors)

    def watch(self, cost: float) -> None:
        """Update the bets that the mean is above the limit.

        Those that begin with row n have the weight 1 / (n (n + 1)).  Plain numbers are faster here than arrays.
        """
        begun, excess, total = 1 / (self.n * (self.n + 1)), cost / self.limit - 1, 0.0
        for i, bet in enumerate(SHARES):
            self.capital[i] = grown = min((self.capital[i] + begun) * (1 + bet * excess), LARGEST_CAPITAL)
            total += grown
        if total / len(SHARES) + 1 / (self.n + 1) >= 1 / self.error:
            self.alarm = self.n

    def interval(self) -> tuple[float, float]:
        """Return bounds of the mean.

        They are the last means of the grid that a bet has refuted on either side.  Each side has half of the error.  A mean
        between two points of the grid is within them as long as neither the next larger one is refuted as too small, nor the
        next smaller one as too large.  Bounds in the wrong order show that the mean has changed; the interval is then what lies
        between them.
        """
        capital = np.exp(np.minimum(self.log_capital + np.log(self.factors), np.log(LARGEST_CAPITAL))).mean(axis=0)
        too_small, too_large = capital >= 2 / self.error
        low = float(MEANS[too_small].max(initial=0.0))
        high = float(MEANS[too_large].min(initial=1.0))
        return min(low, high), max(low, high)


def in_range(name: str, value: Any, low: float, high: float) -> float:
    """Return a number between two others, which are excluded."""
    number = None if isinstance(value, (bool, np.bool_)) else real_number(value)
    if number is None or not low < number < high:
        raise ValueError(f"{name}={shortened(value)} must be a number above {low:g} and below {high:g}.")
    return number


def checked_names(groups: Any) -> list[Any]:
    """Return the names of groups, checked."""
    if isinstance(groups, (str, bytes)):
        raise ValueError(f"groups={groups!r} is a single string; accepted is a list of groups.")
    names = list(groups) if isinstance(groups, Iterable) else []
    for name in names:
        if not is_hashable(name) or is_missing_id(name):
            raise ValueError(
                f"groups has {shortened(name)}; accepted are strings, numbers and other hashable values, none missing."
            )
    if not names or len(set(names)) < len(names):
        raise ValueError(f"groups={shortened(groups)} must be a list of at least one group, each named once.")
    return names


def is_hashable(value: Any) -> bool:
    """Return whether a value has a hash; a tuple of lists has none."""
    try:
        hash(value)
    except TypeError:
        return False
    return True
