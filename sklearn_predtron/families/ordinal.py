"""Ordinal regression: labels with an order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.problem import Codes
from sklearn_predtron._support import types
from sklearn_predtron._support.declared_order import declared_order
from sklearn_predtron._support.encoding import encode
from sklearn_predtron.decisions._decision_rules import DecisionRule
from sklearn_predtron.families._cost_classifier import TableClassifier
from sklearn_predtron.families._docstrings import UPDATES, documented
from sklearn_predtron.families.estimator.attributes import learned, read_only
from sklearn_predtron.families.estimator.linear_models import Linear, LinearModelReader
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.classes import check_same_set
from sklearn_predtron.families.labels.ranks import Ranks, checked_categories
from sklearn_predtron.families.training.patience import Patience
from sklearn_predtron.features import FeatureMap
from sklearn_predtron.losses import Absolute, CostTableLoss, Reject
from sklearn_predtron.metrics._means import mean_loss
from sklearn_predtron.norms import Norm
from sklearn_predtron.representations import CodeRepresentation
from sklearn_predtron.updates import Update

__all__ = ["PredtronOrdinalClassifier"]


@documented(
    representations='"thermometer", "onehot", "simplex", "shared"',
    updates=UPDATES + ', "prank"',
    d="d",
    unit="the absolute loss",
)
class PredtronOrdinalClassifier(TableClassifier):
    """Ordinal regression: classification with ordered labels.

    Larger mistakes cost more.

    {in_order}

    Parameters
    ----------
    loss : "absolute", "zero_one", "squared", array-like of shape (r, r), dict or CostTableLoss, default="absolute"
        L(sigma, y) of ranks.  A cost matrix is in the order of `classes_`, rows = true, columns = predicted; a dict is
        {(true, predicted): cost}, with cost 1 for the pairs left out.  If a rank may be missing from y, for instance in a fold
        of a search, declare all ranks by `categories` or `CostMatrix(costs, labels=[...])`.
    categories : array-like of shape (r,), default=None
        The labels from the lowest rank to the highest.  None takes the order that y declares (an ordered pandas Categorical,
        polars Enum or ordered Arrow dictionary).  Otherwise labels are sorted, strings alphabetically, with a warning.
    {class_weight}
    {reject}
    {decision}
    {features_auto}
    {norm}
    update : {updates} or Update, default="adaptive"
        When to change the weights, towards which competitor, and how far; "prank" is for representation="shared".
    representation : "auto", {representations}, array-like of shape (r, d) or CodeRepresentation, default="auto"
        rep(k), one unit vector a rank.  "thermometer" (CuSum Rank) has a score with its own weights for each of r - 1 thresholds,
        whether the rank is above it; "shared" (PRank) has one direction and r - 1 ordered thresholds on it.  With "auto", `fit`
        compares these two on held-out rows; without held-out rows, and in streams, it is "thermometer".
    {average}
    {cv}
    {max_iter}
    {random_state}
    {tol}
    {shuffle}
    {warm_start}
    {fit_intercept}
    {intercept_scaling}

    Attributes
    ----------
    classes_ : ndarray of shape (r,)
        The labels from the lowest rank to the highest.
    coef_ : ndarray of shape (d, n_features)
        Weights that predict; d = r - 1 for "thermometer", and one row for "shared".
    intercept_ : ndarray of shape (d,)
        Offsets of the scores, r - 1 for "shared" (minus the thresholds).
    thresholds_ : ndarray of shape (r - 1,)
        With representation="shared", the thresholds theta_1 <= ... <= theta_(r - 1) on the direction ``coef_[0]``.  The number of
        thresholds that the score <coef_[0], x> reaches is the number of ranks below the predicted one.
    {features_}
    {feature_importances_}
    {norm_}
    {last_coef_}
    {last_intercept_}
    {dual_coef_}
    {t_}
    {n_mistakes_}
    {n_updates_}
    {cumulative_loss_}
    {loss_curve_}
    {n_iter_}
    {held_out_loss_}
    {cost_power_}
    {certificate_}
    {bounds_}
    {rejected_share_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    PredtronClassifier : Labels without an order.

    Notes
    -----
    CuSum Rank and its passive-aggressive version: Milidiú and Rocha (2019), figures 1 and 2
    (``update="perceptron"``, and ``PassiveAggressive(competitor="predicted")``).  With "absolute" the default update scales
    the margin with the distance of the competitor's rank.  PRank: Crammer and Singer (2001).

    If the scores of ranks tie exactly, "thermometer" and "shared" predict the highest of them: a score of 0 counts as above.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import numpy as np
    >>> from sklearn_predtron import PredtronOrdinalClassifier
    >>> X, target = load_diabetes(return_X_y=True)
    >>> y = np.array(["low", "medium", "high"])[np.digitize(target, [100, 200])]
    >>> model = PredtronOrdinalClassifier(categories=["low", "medium", "high"], random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.75
    True
    """

    _codec = Ranks
    _unit_loss = Absolute()
    _linear_models = f"{TableClassifier._linear_models}, and ordinal models with `theta_`, as mord's"
    _parameter_constraints: dict[str, list] = {
        **TableClassifier._parameter_constraints,
        "categories": ["array-like", None],
    }

    def __init__(
        self,
        *,
        loss: types.TableLossName | types.Costs | CostTableLoss = "absolute",
        categories: Any = None,
        class_weight: types.ClassWeightName | dict[Any, Any] | None = None,
        reject: Reject | float | None = None,
        decision: types.DecisionName | DecisionRule | None = None,
        features: types.FeaturesName | FeatureMap | None = "auto",
        norm: types.NormName | Norm = "auto",
        update: types.OrdinalUpdateName | Update = "adaptive",
        representation: types.OrdinalCodeName | types.Numbers | CodeRepresentation = "auto",
        average: types.AverageName | float | None = None,
        cv: Any = None,
        max_iter: int | None = None,
        random_state: Any = None,
        tol: Patience | float | None = None,
        shuffle: bool = True,
        warm_start: bool = False,
        fit_intercept: bool = True,
        intercept_scaling: types.AutoName | float = "auto",
    ):
        self.loss = loss
        self.categories = categories
        self.class_weight = class_weight
        self.reject = reject
        self.decision = decision
        self.features = features
        self.norm = norm
        self.update = update
        self.representation = representation
        self.average = average
        self.cv = cv
        self.max_iter = max_iter
        self.random_state = random_state
        self.tol = tol
        self.shuffle = shuffle
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling

    @learned
    def thresholds_(self) -> NDArray:
        """The ordered thresholds, of shape (r - 1,); they are on the direction of representation="shared"."""
        if not self._model.problem.score_map.offsets_apart:
            raise AttributeError(
                "thresholds_ is of representation='shared', whose thresholds are on one direction and in order; with "
                "'thermometer' each of them, -intercept_[j], is on a direction of its own, coef_[j]."
            )
        return read_only(-self.intercept_)

    def _read_labels(self, y: Any, classes: Any, known: Any, *, partial: bool) -> tuple[Codec, Codes]:
        given = self._given_order(y)
        if known is None:
            codec, labels = Ranks.first(y, classes, partial=partial, given=given)
            self._class_costs(codec.classes).warn_of_reject()
            return Ranks(codec.classes, self._representations()), labels
        known.check_same(classes)
        if given is not None:
            known.check_order(given, whole=self.categories is not None)
        if known.representations and not self._representations():
            known = Ranks(known.classes)
        return known, known.encode(y)

    def _representations(self) -> tuple[str, ...]:
        """Return the representations that `fit` compares; that of streams comes first; () if one is given."""
        compared = isinstance(self.representation, str) and self.representation == "auto"
        return ("thermometer", "shared") if compared else ()

    def _given_order(self, y: Any) -> NDArray | None:
        """Return the declared order of classes, or None."""
        return declared_order(y) if self.categories is None else checked_categories(self.categories)

    def _widen_labels(self, labels: Any, classes: Any) -> tuple[Codec, list[int]]:
        return labels.extended(classes)  # raises ValueError

    def _read_linear(self, reader: LinearModelReader) -> tuple[Codec, Linear]:
        """Return the scores of the ranks in order; models such as mord's have thresholds on one direction."""
        model = reader.model
        ordered = all(hasattr(model, name) for name in ("coef_", "theta_", "classes_"))
        scores = reader.of_thresholds() if ordered and np.ndim(model.coef_) == 1 else reader.of_classes()
        given = self._given_order(None)
        if given is not None:
            check_same_set(model.classes_, given, "in categories")
            order = encode(given, model.classes_)
            if len(scores.coef) > 1:
                scores = Linear(scores.coef[order], scores.intercept[order])
            elif order[1] == 0:  # the scores are of the second class
                scores = Linear(-scores.coef, -scores.intercept)
        labels = Ranks(Ranks.of_model(model.classes_ if given is None else given).classes, self._representations()[:1])
        return labels, self._encoded(labels, reader.check_intercept(scores, fit_intercept=self.fit_intercept))

    def score(self, X: Any, y: Any, sample_weight: Any = None, costs: Any = None) -> float:
        """Compute 1 - mean absolute error / (r - 1); with `costs`, minus the mean cost.

        The scale of errors is that of ranks, whatever the loss and its costs.

        A rejected row counts as the largest error.  So does a row with an unknown label; a warning gives the number of these.
        Searches over losses use this score to compare them; `metrics.cost_scorer` makes scorers of costs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the mean.
        costs : array-like of shape (n_samples, k, m) or (n_samples, m), data frame or dict, default=None
            Costs of the predictions in each row, as for `sample_loss`.

        Returns
        -------
        float
            At most 1, which is perfect; with `costs` at most 0.
        """
        if costs is not None:
            return super().score(X, y, sample_weight, costs)
        model, decision = self._model_and_decision()
        labels, predicted = model.labels, model.decoded(X, decision)
        codes, r = labels.codes_or_wrong(y, len(predicted)), len(labels.classes)
        off = np.where((predicted < r) & (codes >= 0), np.abs(predicted - codes), r - 1)
        return 1 - mean_loss(off, sample_weight) / (r - 1)
