"""Binary and multiclass classification, with a reject option."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.problem import Codes
from sklearn_predtron._support import types
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.warning import warn
from sklearn_predtron.decisions._decision_rules import Cut, DecisionRule
from sklearn_predtron.decisions._fixed_threshold import CutAt
from sklearn_predtron.families._cost_classifier import TableClassifier
from sklearn_predtron.families._docstrings import documented
from sklearn_predtron.families.estimator.attributes import learned
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.classes import TwoClasses
from sklearn_predtron.families.training.patience import Patience
from sklearn_predtron.features import FeatureMap
from sklearn_predtron.losses import CostTableLoss, Reject
from sklearn_predtron.norms import Norm
from sklearn_predtron.representations import CodeRepresentation
from sklearn_predtron.updates import Update

__all__ = ["PredtronBinaryClassifier", "PredtronClassifier"]

EPOCHS = "10, or min(n / 100, 100000 / n) if that is more, for n rows of positive weight; 10 for kernels"


@documented(representations='"onehot", "simplex", "thermometer", "shared"', d="d", epochs=EPOCHS)
class PredtronClassifier(TableClassifier):
    """Multiclass classifier.

    {in_order}

    Parameters
    ----------
    loss : "zero_one", "absolute", "squared", array-like of shape (k, k), dict or CostTableLoss, default="zero_one"
        The cost of each mistake.  A matrix is in the order of `classes_`, rows = true, columns = predicted; a dict is
        {(true, predicted): cost}, with cost 1 for the pairs left out.  If a class may be missing from y, for instance in a fold
        of a search, declare all classes by `CostMatrix(costs, labels=[...])`.
    {class_weight}
    {reject}
    {decision}
    {features_auto}
    {norm}
    {update}
    representation : {representations}, array-like of shape (k, d) or CodeRepresentation, default="onehot"
        How classes are coded, rep(sigma).  Keep "onehot"; "simplex" is the same without its common direction, and an array has
        codes of your own.
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
    classes_ : ndarray of shape (k,)
        The labels.
    coef_ : ndarray of shape (d, n_features)
        Weights that predict; d = k for "onehot".
    intercept_ : ndarray of shape (d,)
        Offsets of the scores.
    {features_}
    {feature_importances_}
    {norm_}
    {last_coef_}
    {last_intercept_}
    {dual_coef_}
    {t_}
    {n_mistakes_}
    {n_updates_}
    cumulative_loss_ : float
        Loss suffered online by the last iterate, before each update; with a reject option, the loss of its best class.
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
    PredtronBinaryClassifier : Two classes with one row of weights.
    sklearn.linear_model.Perceptron : One-vs-rest, last iterate.

    Notes
    -----
    Algorithm 1 of Jain et al. (2015) and its variants.  Decisions of lowest expected cost: Elkan (2001).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_predtron import PredtronClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PredtronClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    _more_epochs = True

    def __init__(
        self,
        *,
        loss: types.TableLossName | types.Costs | CostTableLoss = "zero_one",
        class_weight: types.ClassWeightName | dict[Any, Any] | None = None,
        reject: Reject | float | None = None,
        decision: types.DecisionName | DecisionRule | None = None,
        features: types.FeaturesName | FeatureMap | None = "auto",
        norm: types.NormName | Norm = "auto",
        update: types.UpdateName | Update = "adaptive",
        representation: types.CodeName | types.Numbers | CodeRepresentation = "onehot",
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

    def top_k(self, X: Any, k: int = 5) -> NDArray:
        """Predict the k most probable classes, best first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        k : int, default=5
            Number of classes to predict, from 1 to the number of all classes.

        Returns
        -------
        ndarray of shape (n_samples, k)
            Labels sorted by `predict_proba`, or by `decision_function` if there are no probabilities; ties are in the order of
            `classes_`.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_digits
        >>> from sklearn_predtron import PredtronClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> found = PredtronClassifier(random_state=0).fit(X[:900], y[:900]).top_k(X[900:], k=3)
        >>> shares = [float((found[:, : m + 1] == y[900:, np.newaxis]).any(axis=1).mean()) for m in range(3)]
        >>> np.round(shares, 2)  # right by the first, the first two, the first three
        array([0.93, 0.98, 0.99])
        """
        classes = self._fitted_model().labels.classes
        if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k <= len(classes):
            raise ValueError(f"k={shortened(k)} must be a whole number from 1 to {len(classes)}, the number of classes.")
        if hasattr(self, "predict_proba"):
            likely = self.predict_proba(X)
        else:
            scores = self.decision_function(X)
            likely = np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
        return classes[np.argsort(-likely, axis=1, kind="stable")[:, : int(k)]]


@documented(representations='"sign", "onehot", "simplex", "thermometer", "shared"', d="1", epochs=EPOCHS)
class PredtronBinaryClassifier(TableClassifier):
    """Binary classifier, with asymmetric costs and a reject option.

    {in_order}

    Parameters
    ----------
    loss : "zero_one", "absolute", "squared", array-like of shape (2, 2), dict or CostTableLoss, default="zero_one"
        The cost of each mistake.  A matrix is in the order of `classes_`, rows = true, columns = predicted; a dict is
        {(true, predicted): cost}, with cost 1 for the pairs left out.  If a class may be missing from y, for instance in a fold
        of a search, declare all classes by `CostMatrix(costs, labels=[...])`.
    {class_weight}
    {reject}
    {decision_of_two}
    {features_auto}
    {norm}
    {update}
    representation : {representations}, array-like of shape (2, d) or CodeRepresentation, default="sign"
        rep(sigma): -1 and +1 with one row of weights, or any two unit vectors.
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
    classes_ : ndarray of shape (2,)
        The labels; the first is represented by -1, the second by +1.
    coef_ : ndarray of shape (1, n_features)
        Weights that predict.
    intercept_ : ndarray of shape (1,)
        Offset of the score, less `threshold_`.
    threshold_ : float
        The fitted threshold of the score; `decision_function` subtracts it, so that its boundary is 0.
    {features_}
    {feature_importances_}
    {norm_}

    {last_coef_}
    {last_intercept_}
    {dual_coef_}
    {t_}
    {n_mistakes_}
    {n_updates_}
    cumulative_loss_ : float
        Loss suffered online by the last iterate, before each update; with a reject option, the loss of its best class.
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
    PredtronClassifier : Any number of classes.

    Notes
    -----
    Algorithm 1 of Jain et al. (2015) and its variants; asymmetric costs are its Corollary 2, which holds for
    ``decision="learned"``.  Decisions of lowest expected cost: Elkan (2001).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> triage = PredtronBinaryClassifier(reject=0.1, random_state=0)
    >>> np.unique(triage.fit(X[::2], y[::2]).predict(X[1::2]))
    array([-1,  0,  1])
    """

    _codec = TwoClasses
    _more_epochs = True
    _cuts = ("f1", "balanced")

    def __init__(
        self,
        *,
        loss: types.TableLossName | types.Costs | CostTableLoss = "zero_one",
        class_weight: types.ClassWeightName | dict[Any, Any] | None = None,
        reject: Reject | float | None = None,
        decision: types.BinaryDecisionName | DecisionRule | float | None = None,
        features: types.FeaturesName | FeatureMap | None = "auto",
        norm: types.NormName | Norm = "auto",
        update: types.UpdateName | Update = "adaptive",
        representation: types.BinaryCodeName | types.Numbers | CodeRepresentation = "sign",
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

    def _read_labels(self, y: Any, classes: Any, known: Any, *, partial: bool) -> tuple[Codec, Codes]:
        codec, labels = super()._read_labels(y, classes, known, partial=partial)
        at = self.decision.at if isinstance(self.decision, Cut) else self.decision
        if known is None and not partial and isinstance(at, str) and at == "f1":
            warn_of_alphabet(codec, labels)
        return codec, labels

    def _widen_labels(self, labels: Any, classes: Any) -> tuple[Codec, list[int]]:
        return labels.extended(classes)  # raises ValueError

    @learned
    def threshold_(self) -> float:
        """The fitted cut of the score of the second class."""
        decision = self._model.current_cut(self._decision)
        return float(decision.cuts[0]) if isinstance(decision, CutAt) else 0.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def warn_of_alphabet(codec: Any, labels: Codes) -> None:
    """Warn if F1 is of the more frequent class; it may be the second class only because of the alphabetical order."""
    share = float(np.mean(labels.array == 1)) if len(labels.array) > 0 else 0.0
    if codec.classes.dtype.kind in "OUST" and share > 0.5:
        first, second = codec.classes.tolist()
        warn(
            f"decision='f1' is for F1 of {second!r}, the second of classes_ by the alphabet, which {share:.0%} of the "
            f"rows have.  For F1 of {first!r} let y be y == {first!r}."
        )
