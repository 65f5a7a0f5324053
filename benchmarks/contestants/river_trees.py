"""river's trees and forests of streams (optional)."""

from typing import Any

from benchmarks.contestants.river import River
from benchmarks.tasks import Task


class RiverTrees(River):
    """One of river's trees or forests, with its defaults."""

    def make(self, task: Task) -> Any:
        from river import forest, tree

        kind = getattr(forest if hasattr(forest, self.model) else tree, self.model)
        return kind(seed=task.seed)
