"""The base of the displays."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn.pipeline import Pipeline

from sklearn_predtron._support.queries import shortened

# Blue and vermillion of Okabe and Ito (2008), which the colour-blind tell apart.
POSITIVE, NEGATIVE = "#0072B2", "#D55E00"


class Display:
    """Base of the displays: matplotlib on use, and the axes."""

    name: str | None
    ax_: Any
    figure_: Any

    def _open(self, ax: Any, name: str | None = None) -> str | None:
        """Set the axes and return the curve's name."""
        check_matplotlib(f"{type(self).__name__}.plot")
        import matplotlib.pyplot as plt

        self.ax_ = plt.subplots(layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        return getattr(self, "name", None) if name is None else name

    def _ink(self) -> Any:
        """Return the text colour of the axes; dark styles make it light."""
        return self.ax_.xaxis.label.get_color()

    def _finish(self, xlabel: str, ylabel: str) -> None:
        self.ax_.set(xlabel=xlabel, ylabel=ylabel)
        if self.ax_.get_legend_handles_labels()[0]:
            self.ax_.legend()


def check_matplotlib(caller: str) -> None:
    """Raise ImportError without matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{caller} needs matplotlib: pip install matplotlib") from error


def best_of(estimator: Any) -> Any:
    """Return the best estimator of a search, or any other estimator unchanged."""
    return getattr(estimator, "best_estimator_", estimator)


def last_step(estimator: Any, X: Any = None) -> tuple[Any, Any]:
    """Return a pipeline's last step and the inputs it receives."""
    estimator = best_of(estimator)
    if not isinstance(estimator, Pipeline):
        return estimator, X
    return estimator[-1], X if X is None or len(estimator) == 1 else estimator[:-1].transform(X)


def check_choice(parameter: str, value: Any, accepted: tuple[str, ...]) -> None:
    if not (isinstance(value, str) and value in accepted):
        raise ValueError(f"{parameter}={shortened(value)} is not known; accepted are {', '.join(map(repr, accepted))}.")


def check_share(parameter: str, value: Any) -> None:
    """Raise ValueError unless 0 <= value < 1."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < 1:
        raise ValueError(f"{parameter}={shortened(value)} must be a number of at least 0 and below 1.")
