"""The effects of columns on an additive score."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.callbacks import check_count
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.families.model.explanation import Additive
from sklearn_predtron.inspection._coefficients import feature_list, names_of_features, short
from sklearn_predtron.inspection._display import Display, best_of, check_matplotlib, last_step
from sklearn_predtron.inspection._panels import draw_bars, draw_curve, draw_pair, limits
from sklearn_predtron.inspection._terms import CentredScore, Effect

PANELS = 3  # beside each other
WIDTH, HEIGHT = 3.6, 3.0  # of a panel, in inches


class EffectsDisplay(Display):
    """The effects of columns and pairs, which sum to the score.

    Lines are the effects of numbers and bars those of categories, above the distribution of the column; a diamond is the effect
    of a missing value.  Pairs are heat maps, in which purple speaks for the target and orange against it.

    Parameters
    ----------
    effects : list of Effect
        The drawn effects, each a tuple of `name`, `columns`, `values`, `missing` and `strength`.  `values` has the effect at each
        of ``columns[0].at``, and of pairs a column for each of ``columns[1].at``.  `missing` is the effect where a value is
        missing, or None.  `strength` is the mean size over the rows.
    base : float, default=0.0
        The score without effects: the mean over the rows.
    name : str, default=None
        Name of the score in the title.

    Attributes
    ----------
    drawn_ : list of matplotlib Line2D, BarContainer or QuadMesh
        The line, bars or heat map of each effect.
    missing_ : list of matplotlib Line2D or None
        The marks of missing values, None where there is none.
    axes_ : list of matplotlib Axes
        The axes of each effect.
    below_ : list of matplotlib Axes or None
        The axes of the distribution below; None for pairs.
    ax_ : matplotlib Axes
        The axes whose place they take.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    sklearn_predtron.inspection.Explanation : The summands of each row, by `explain` of an estimator.
    CoefficientDisplay : The coefficients of columns as they are.
    sklearn.inspection.PartialDependenceDisplay : Mean predictions of any estimator.

    Notes
    -----
    Effects are as they were learned, and centred: the mean of each over the rows is 0.  They are not mean predictions, but
    parts of the score itself: `base` and the effects of a row's values add up to its score.  An effect that two columns share
    may be divided between them, and that of a column between it and its pairs.  A column is drawn from its .005 to its .995
    quantile, or for its 12 most frequent categories.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.inspection import EffectsDisplay
    >>> X, y = load_diabetes(as_frame=True, return_X_y=True, scaled=False)
    >>> model = PredtronBinaryClassifier(features="piecewise", random_state=0).fit(X, y > 140)
    >>> display = EffectsDisplay.from_estimator(model, X, n_terms=3)
    >>> for effect in display.effects:
    ...     print(effect.name, round(effect.strength, 2))
    s5 0.17
    sex 0.16
    bmi 0.15
    >>> plt.show()
    """

    def __init__(self, *, effects: list[Effect], base: float = 0.0, name: str | None = None):
        self.effects = effects
        self.base = base
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        features: Any = None,
        n_terms: int = 6,
        target: Any = None,
        feature_names: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> EffectsDisplay:
        """Draw the strongest effects, or given ones.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of this package whose scores are sums over columns, or a pipeline whose last step is one.
        X : {array-like, data frame} of shape (n_samples, n_features)
            Rows, as the estimator takes them, over which effects are centred and measured.
        features : list, default=None
            Columns, and pairs of them as tuples, by name or number; None is the strongest.
        n_terms : int, default=6
            The largest number of effects drawn, if `features` is None.
        target : label, default=None
            The class or label whose score is drawn; None is the only score, if there is one (of two classes, positive for the
            second).  Scores that are not of classes or labels go by their numbers.
        feature_names : array-like of shape (n_features,), default=None
            Names of the columns; None takes those of the pipeline's steps before the last one, or of the estimator.
        name : str, default=None
            Name of the score in the title; None is the target.
        ax : matplotlib Axes, default=None
            Where to draw, in the place of these axes; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `plot` of the lines.

        Returns
        -------
        EffectsDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        check_count("n_terms", n_terms, least=1)
        estimator = best_of(estimator)
        model, rows = last_step(estimator, X)
        if not isinstance(model, BasePredtron):
            raise ValueError(f"estimator={shortened(model)} has no effects; accepted are fitted estimators of this package.")
        if issparse(rows):
            raise ValueError(
                f"X is a sparse {type(rows).__name__}; accepted are dense rows and data frames.  CoefficientDisplay draws the "
                "coefficients of sparse ones."
            )
        additive = Additive.of(model).only(target)
        names = names_of_features(estimator, model) if feature_names is None else feature_names
        columns = additive.columns if names is None else feature_list(names, len(additive.columns))
        probed = CentredScore(additive, additive.read(rows), columns)
        if features is not None and (not isinstance(features, (list, tuple)) or len(features) == 0):
            raise ValueError(
                f"features={features!r} has nothing to draw; accepted are None, and a list of columns and pairs of columns."
            )
        effects = [probed.effect(t) for t in probed.chosen(features, n_terms)]
        if not effects:
            raise ValueError(f"X has no column of which scores differ in its {len(rows)} rows; accepted are rows that differ.")
        name = f"target: {target}" if name is None and target is not None else name
        return cls(effects=effects, base=probed.base, name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> EffectsDisplay:
        """Draw the effects in panels with one scale.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw, in the place of these axes; None makes a new figure.
        name : str, default=None
            Name of the score in the title; None is `name` of the display.
        **kwargs : dict
            Passed to matplotlib's `plot` of the lines.

        Returns
        -------
        EffectsDisplay
            This object.
        """
        if len(self.effects) == 0:
            raise ValueError("effects=[] has nothing to draw; accepted is at least one effect.")
        name = self._open(ax, name)
        if self.ax_.get_subplotspec() is None:
            raise ValueError(f"ax={shortened(ax)} has no place in a grid; accepted are axes of `subplots`, and None.")
        beside = min(PANELS, len(self.effects))
        above = -(-len(self.effects) // beside)
        if ax is None:
            self.figure_.set_size_inches(WIDTH * beside, HEIGHT * above)
        self.ax_.set_axis_off()
        within = self.figure_.add_subfigure(self.ax_.get_subplotspec())
        within.set_facecolor("none")
        if name is not None:
            within.suptitle(name, parse_math=False)
        grid = within.add_gridspec(2 * above, beside, height_ratios=[4, 1] * above)
        self.drawn_: list[Any] = []
        self.missing_: list[Any] = []
        self.axes_: list[Any] = []
        self.below_: list[Any] = []
        low_high = limits([effect for effect in self.effects if len(effect.columns) == 1])
        largest = (
            max((float(np.abs(effect.values).max()) for effect in self.effects if len(effect.columns) > 1), default=0) or 1.0
        )
        for k, effect in enumerate(self.effects):
            row, column = divmod(k, beside)
            if len(effect.columns) == 1:
                upper = within.add_subplot(grid[2 * row, column])
                self._draw_column(effect, upper, within.add_subplot(grid[2 * row + 1, column], sharex=upper), low_high, **kwargs)
            else:
                self._draw_pair(effect, within.add_subplot(grid[2 * row : 2 * row + 2, column]), largest)
        return self

    def _draw_column(self, effect: Effect, ax: Any, below: Any, low_high: tuple[float, float], **kwargs: Any) -> None:
        """Draw a column's effect above its distribution."""
        if effect.columns[0].of_numbers:
            drawn, mark = draw_curve(ax, below, effect, self._ink(), **kwargs)
        else:
            drawn, mark = draw_bars(ax, below, effect, self._ink())
        ax.axhline(0, color=self._ink(), linewidth=0.8, zorder=0.5)
        ax.set(ylim=low_high, ylabel="effect on the score")
        ax.set_title(short(effect.name), fontsize="medium", parse_math=False)
        ax.tick_params(labelbottom=False)
        below.set(yticks=[])
        for axes, drawn_in in ((ax, self.axes_), (below, self.below_)):
            axes.spines[["top", "right"]].set_visible(False)
            drawn_in.append(axes)
        self.drawn_.append(drawn)
        self.missing_.append(mark)

    def _draw_pair(self, effect: Effect, ax: Any, largest: float) -> None:
        """Draw a pair's effect, with a colour bar."""
        self.drawn_.append(draw_pair(ax, effect, largest))
        ax.set_title(" x ".join(short(column.name) for column in effect.columns), fontsize="medium", parse_math=False)
        ax.figure.colorbar(self.drawn_[-1], ax=ax)
        self.axes_.append(ax)
        self.below_.append(None)
        self.missing_.append(None)
