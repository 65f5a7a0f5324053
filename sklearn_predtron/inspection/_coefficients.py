"""The features that decide most."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.callbacks import check_count
from sklearn_predtron.families._cost_classifier import TableClassifier
from sklearn_predtron.families.label_ranking import PredtronLabelRanker
from sklearn_predtron.families.ordinal import PredtronOrdinalClassifier
from sklearn_predtron.inspection._display import NEGATIVE, POSITIVE, Display, best_of, check_matplotlib, last_step
from sklearn_predtron.problems._thermometer import ThermometerProblem

LONGEST = 30  # letters of a name; of longer ones the beginning is shown


class CoefficientDisplay(Display):
    """The features with the largest coefficients, by name.

    Parameters
    ----------
    coefficients : ndarray of shape (n_features,)
        Coefficients, of which the largest in size are drawn.
    feature_names : array-like of shape (n_features,), default=None
        The names of the features; None is x0, x1, ...
    label : str, default="coefficient"
        Label of the axis of the coefficients.
    name : str, default=None
        Name of the bars in the title.

    Attributes
    ----------
    strongest_ : ndarray of shape (n_bars,)
        The numbers of the features drawn, the strongest first; those of coefficient 0 are not drawn.
    bars_ : matplotlib BarContainer
        A bar for each of them; those of negative coefficients have a colour of their own.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    sklearn.inspection.permutation_importance : The importance of a feature for predictions, whatever its unit.

    Notes
    -----
    Coefficients are compared fairly if the features have one unit, as counts of words and standardised columns have; others are
    multiplied by their standard deviations if `from_estimator` is given rows.  Redundant features share a coefficient.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_wine
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.inspection import CoefficientDisplay
    >>> X, y = load_wine(as_frame=True, return_X_y=True)
    >>> model = PredtronClassifier(features=None, random_state=0).fit(X, y)
    >>> display = CoefficientDisplay.from_estimator(model, X, target=0, max_features=3)
    >>> for j in display.strongest_:
    ...     print(display.feature_names[j], display.coefficients[j].round(2))
    proline 0.33
    alcohol 0.26
    alcalinity_of_ash -0.24
    >>> plt.show()
    """

    def __init__(self, *, coefficients: NDArray, feature_names: Any = None, label: str = "coefficient", name: str | None = None):
        self.coefficients = coefficients
        self.feature_names = feature_names
        self.label = label
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        target: Any = None,
        feature_names: Any = None,
        max_features: int = 10,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> CoefficientDisplay:
        """Draw the largest coefficients of a linear estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator with `coef_`, of this package or of scikit-learn, or a pipeline whose last step is one.
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            Rows, as the estimator takes them: coefficients are multiplied by the standard deviations of their features.  None
            leaves the coefficients as they are.
        target : label, default=None
            The class or label whose coefficients are drawn, with their signs; of ranks it is the threshold above the target, if
            the representation has thresholds.  None is the only row of coefficients, if there is one (of two classes, positive
            for the second).  If there are several, it is the length of each feature's column: how much the feature decides,
            whatever the class.  Rows that are not of classes or labels go by their numbers.
        feature_names : array-like of shape (n_features,), default=None
            Names of the features; None takes those of the pipeline's steps before the last one, or of the estimator.
        max_features : int, default=10
            The largest number of features drawn.
        name : str, default=None
            Name of the bars in the title; None is the target.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `barh`.

        Returns
        -------
        CoefficientDisplay
            The display, with its axes and artists.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        check_count("max_features", max_features, least=1)
        estimator = best_of(estimator)
        model, _ = last_step(estimator)
        if hasattr(model, "features_"):
            raise ValueError(
                f"estimator={shortened(model)} uses a feature map, {model.features_}, whose coefficients are of features made of "
                "the columns; accepted here are fits with features=None, and for this one EffectsDisplay."
            )
        coef, targets = coefficients_and_names(model)
        label = "coefficient"
        if feature_names is None:
            feature_names = names_of_features(estimator, model)
        if X is not None:
            coef, label = coef * deviations(last_step(estimator, X)[1], coef.shape[1]), "coefficient x standard deviation"
        if target is not None:
            coefficients = coef[number_of(target, targets)]
            above = "above " if isinstance(model, PredtronOrdinalClassifier) and len(targets) < len(model.classes_) else ""
            name = f"target: {above}{target}" if name is None else name
        elif len(coef) == 1:
            coefficients = coef[0]
        else:
            coefficients, label = np.linalg.norm(coef, axis=0), f"length of the {len(coef)} {label}s"
        display = cls(coefficients=coefficients, feature_names=feature_names, label=label, name=name)
        return display.plot(ax, max_features=max_features, **kwargs)

    def plot(self, ax: Any = None, *, max_features: int = 10, name: str | None = None, **kwargs: Any) -> CoefficientDisplay:
        """Draw the bars, the strongest feature at the top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        max_features : int, default=10
            The largest number of features drawn.
        name : str, default=None
            Name of the bars in the title; None is `name` of the display.
        **kwargs : dict
            Passed to matplotlib's `barh`.

        Returns
        -------
        CoefficientDisplay
            This object.
        """
        check_count("max_features", max_features, least=1)
        coefficients = np.asarray(self.coefficients)
        if coefficients.ndim != 1 or not np.isfinite(coefficients).all() or not coefficients.any():
            raise ValueError(
                f"coefficients={shortened(coefficients)} must be of shape (n_features,), with finite numbers that are not all 0."
            )
        names = feature_list(self.feature_names, len(coefficients))
        name = self._open(ax, name)
        order = np.argsort(-np.abs(coefficients), kind="stable")[:max_features]
        self.strongest_ = order[coefficients[order] != 0]
        values, places = coefficients[self.strongest_], np.arange(len(self.strongest_))
        colours = np.where(values < 0, NEGATIVE, POSITIVE)
        self.bars_ = self.ax_.barh(places, values, **{"color": colours, **kwargs})
        self.ax_.set_yticks(places, labels=[short(names[j]) for j in self.strongest_], parse_math=False)
        self.ax_.invert_yaxis()
        if values.min() < 0:
            self.ax_.axvline(0, color=self._ink(), linewidth=1)
        if name is not None:
            self.ax_.set_title(name, parse_math=False)
        self._finish(self.label, "")
        return self


def coefficients_and_names(model: Any) -> tuple[NDArray, list[Any]]:
    """Return coefficients of shape (n_targets, n_features), and target names."""
    if hasattr(model, "fit"):
        check_is_fitted(model)
    try:
        coef = np.atleast_2d(model.coef_.toarray() if issparse(model.coef_) else model.coef_)
    except AttributeError as error:
        raise ValueError(f"estimator={shortened(model)} has no coef_; accepted are fitted linear estimators.  {error}") from None
    if isinstance(model, TableClassifier):
        return rows_of_classes(coef, model)
    classes = getattr(model, "label_names_", getattr(model, "classes_", None))
    known = classes is not None and len(classes) == len(coef) and not is_of_pairs(model)
    return coef, np.asarray(classes).tolist() if known else list(range(len(coef))) if len(coef) > 1 else []


def rows_of_classes(coef: NDArray, model: TableClassifier) -> tuple[NDArray, list[Any]]:
    """Return the coefficients by class or by threshold."""
    problem, classes = model._model.problem, model.classes_.tolist()
    if isinstance(model, PredtronOrdinalClassifier) and isinstance(problem, ThermometerProblem):
        return coef, classes[:-1] if len(coef) == len(classes) - 1 else []
    if len(coef) < problem.d:  # one direction for all scores
        return coef, []
    of_class = problem.decision(np.eye(len(coef)))[:, : len(classes)].T @ coef  # whatever code they are learned by
    return ((of_class[1:] - of_class[:1]) / 2, []) if len(coef) == 1 else (of_class, classes)


def is_of_pairs(model: Any) -> bool:
    """Return whether rows of coefficients are for pairs."""
    if isinstance(model, PredtronLabelRanker):
        return model._model.problem.of_one_score is not None
    return isinstance(model, SVC | NuSVC)


def number_of(target: Any, targets: list[Any]) -> int:
    """Return the index of a target's row of coefficients."""
    if target not in targets:
        accepted = f"{targets} and None" if targets else "None, for there is one row of coefficients"
        raise ValueError(f"target={shortened(target)} is not known; accepted are {accepted}.")
    return targets.index(target)


def names_of_features(estimator: Any, model: Any) -> Any:
    """Return the feature names, from earlier steps or the estimator."""
    names = None
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        with suppress(AttributeError, ValueError):  # a step knows no names
            names = estimator[:-1].get_feature_names_out()
    return getattr(model, "feature_names_in_", None) if names is None else names


def feature_list(names: Any, n: int) -> list[str]:
    """Return a name for each feature."""
    found = [f"x{j}" for j in range(n)] if names is None else [str(name) for name in names]
    if len(found) != n:
        raise ValueError(f"feature_names has {len(found)} entries; it must have one for each of the {n} features.")
    return found


def deviations(X: Any, n: int) -> NDArray:
    """Return the standard deviation of each feature of some rows."""
    found = np.sqrt(StandardScaler(with_mean=False).fit(X).var_)
    if found.shape != (n,):
        raise ValueError(f"X has {len(found)} features, and the estimator was fitted with {n}.")
    return found


def short(name: str) -> str:
    """Return a name, shortened if it is long."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}..."
