"""What the displays share."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from sklearn_predtron._compat import check_matplotlib_support


class Display:
    """What the displays share: matplotlib on use, and the axes."""

    name: str | None
    ax_: Any
    figure_: Any

    def _open(self, ax: Any, name: str | None) -> str | None:
        """Set the axes and return the name of what is drawn."""
        check_matplotlib_support(f"{type(self).__name__}.plot")
        import matplotlib.pyplot as plt

        self.ax_ = plt.subplots()[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        return self.name if name is None else name

    def _finish(self, xlabel: str, ylabel: str) -> None:
        self.ax_.set(xlabel=xlabel, ylabel=ylabel)
        if self.ax_.get_legend_handles_labels()[0]:
            self.ax_.legend()


def last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the estimator at the end of a pipeline, and the inputs that it receives."""
    return (estimator[-1], estimator[:-1].transform(X)) if isinstance(estimator, Pipeline) else (estimator, X)
