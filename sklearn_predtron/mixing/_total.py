"""Sums of contributions in a fixed order on any backend."""

from __future__ import annotations

import platform
from threading import Lock

from sklearn_predtron._core.learner import INSTRUCTIONS
from sklearn_predtron._core.mixable_state import Contribution, add
from sklearn_predtron._support.version import __version__

FAN_IN = 8
# The last bits depend on this, besides the rows.
MADE_BY = f"sklearn_predtron {__version__}, {platform.machine()} {INSTRUCTIONS}"


class ContributionSum:
    """Adds contributions by a fixed tree, so rounding is reproducible.

    `FAN_IN` consecutive sums of a level are added up to one sum of the next level.  A thread that brings a contribution adds all
    that are next in order.  Other threads leave their contributions meanwhile and return, so few contributions wait at a time.
    """

    def __init__(self) -> None:
        self.lock, self.waiting, self.adding, self.next = Lock(), dict[int, Contribution](), False, 0
        self.sums: list[tuple[int, Contribution | None]] = []  # of each level of the tree: how many it has added, and their sum

    def put(self, number: int, found: Contribution) -> None:
        """Add a contribution by its number; the sum owns its arrays."""
        with self.lock:
            self.waiting[number] = found
            if self.adding:
                return
            self.adding = True
        while (ready := self._take_next()) is not None:
            self._carry(0, ready)

    def _take_next(self) -> Contribution | None:
        """Return the next contribution, or None if it is missing."""
        with self.lock:
            self.adding = self.next in self.waiting
            self.next += self.adding
            return self.waiting.pop(self.next - 1) if self.adding else None

    def _carry(self, level: int, found: Contribution) -> None:
        """Add to a level's sum, and carry complete sums upwards."""
        if level == len(self.sums):
            self.sums.append((0, None))
        n, before = self.sums[level]
        found = found if before is None else add(before, found, in_place=True)
        self.sums[level] = (n + 1, found) if n + 1 < FAN_IN else (0, None)
        if n + 1 == FAN_IN:
            self._carry(level + 1, found)

    def finish(self) -> Contribution:
        """Return the sum of all."""
        level = 0
        while level < len(self.sums) - 1:
            _, left = self.sums[level]
            if left is not None:
                self._carry(level + 1, left)
            level += 1
        _, total = self.sums[-1]
        assert total is not None  # for the last level is never empty
        return total
