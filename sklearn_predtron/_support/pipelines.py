"""Steps of pipelines and searches."""

from __future__ import annotations

from typing import Any


def final(estimator: Any) -> Any:
    """Return the last step of a pipeline or search."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    return final(estimator.steps[-1][1]) if hasattr(estimator, "steps") else estimator
