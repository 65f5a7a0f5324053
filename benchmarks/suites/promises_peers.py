"""What others certify on the same held-out rows: thresholds of a fitted model's probabilities."""

import copy
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV

from benchmarks.suites.promises_settings import ABSTAINED, CONFIDENCE, Setting
from sklearn_predtron.decisions import AtLeast

MAPIE, IN_SEQUENCE, TUNED = "MAPIE", "MAPIE, fixed sequence", "TunedThresholdClassifierCV"
THRESHOLDS = np.linspace(0, 0.99, 100)  # MAPIE's own
INSTALLED = find_spec("mapie") is not None
Rule = Callable[[NDArray], NDArray]  # of probabilities, to answers


def peers(setting: Setting) -> dict[str, Callable[[Any, NDArray, NDArray], Rule | None]]:
    """Return the peers that can do a setting; each returns a rule from a model, and held-out rows with their labels.

    None is returned where a peer finds no rule that keeps the promises.
    """
    one = setting.answers is not None and len(setting.promises) == 1
    found = {TUNED: lambda model, X, y: tuned(setting, model, X, y)} if one else {}
    if INSTALLED and setting.costs is None and not setting.groups and (one or setting.answers is None):
        found[MAPIE] = lambda model, X, y: (by_prediction if one else by_confidence)(setting, model, X, y)
        if one:
            found[IN_SEQUENCE] = lambda model, X, y: by_prediction(setting, model, X, y, in_sequence=True)
    return found


def below(threshold: float) -> Rule:
    """Return the rule that gives the first class below a probability of the second."""
    return lambda P: np.where(P[:, 1] < threshold, 0, ABSTAINED)


def tuned(setting: Setting, model: Any, X: NDArray, y: NDArray) -> Rule | None:
    """Return the rule with the most first classes whose risk on the rows is within the bound."""
    bound = setting.promises[0].bound

    def score(y: NDArray, predicted: NDArray) -> float:
        first = predicted == 0
        return first.mean() if first.any() and y[first].mean() <= bound else -1.0

    # A threshold of scikit-learn does not abstain.
    always = copy.deepcopy(model).set_params(reject=None) if hasattr(model, "reject") else model
    search = TunedThresholdClassifierCV(FrozenEstimator(always), scoring=make_scorer(score), cv="prefit", refit=False)
    search.fit(X, y)
    return below(search.best_threshold_) if search.best_score_ > 0 else None


def by_prediction(setting: Setting, model: Any, X: NDArray, y: NDArray, *, in_sequence: bool = False) -> Rule | None:
    """Return MAPIE's rule for the risk of the first class.

    A fixed sequence begins with the second threshold, since no row is below the first.
    """
    from mapie.risk_control import BinaryClassificationController

    controller = BinaryClassificationController(
        model.predict_proba,
        "negative_predictive_value",
        1 - setting.promises[0].bound,
        confidence_level=CONFIDENCE,
        best_predict_param_choice="predicted_positive_fraction",
        list_predict_params=THRESHOLDS[1:] if in_sequence else THRESHOLDS,
        fwer_method="fixed_sequence" if in_sequence else "bonferroni_holm",
    )
    calibrate(controller, X, y)
    return None if controller.best_predict_param is None else below(controller.best_predict_param)


def by_confidence(setting: Setting, model: Any, X: NDArray, y: NDArray) -> Rule | None:
    """Return MAPIE's rule that answers above a probability."""
    from mapie.risk_control import BinaryClassificationController, MultiClassificationLTTController, abstention_rate

    risks, levels = [abstention_rate], [1 - 1e-9]  # the first of several risks is the one that is minimised
    for promise in setting.promises:
        risks.append(risk_of(promise))
        levels.append(promise.bound)
    P, two = model.predict_proba(X), setting.k == 2
    if two:
        controller = BinaryClassificationController(
            lambda P, threshold: answers_above(P, threshold, np.nan),
            risks,
            levels,
            confidence_level=CONFIDENCE,
            list_predict_params=THRESHOLDS[:, None],
        )
    else:
        controller = MultiClassificationLTTController(
            lambda P: P, risks, levels, confidence_level=CONFIDENCE, classes=np.arange(setting.k)
        )
    calibrate(controller, P, y)
    found = controller.best_predict_param
    return None if found is None else lambda P: answers_above(P, float(np.ravel(found)[0]), ABSTAINED)


def answers_above(P: NDArray, threshold: float, abstained: float) -> NDArray:
    """Return the most probable class, unless its probability is below a threshold."""
    return np.where(P.max(axis=1) >= threshold, P.argmax(axis=1), abstained)


def risk_of(promise: Any) -> Any:
    """Return a promise as MAPIE's risk."""
    from mapie.risk_control import BinaryRisk

    if isinstance(promise, AtLeast):  # recall; abstained rows are not found
        return BinaryRisk(lambda y, predicted: predicted == y, lambda y, predicted: y == promise.label, higher_is_better=True)
    return BinaryRisk(
        lambda y, predicted: predicted != y,
        lambda y, predicted: ~np.isnan(predicted) & ((promise.label is None) | (y == promise.label)),
        higher_is_better=False,
    )


def calibrate(controller: Any, X: NDArray, y: NDArray) -> None:
    """Calibrate; thresholds without rows, or none that is valid, are no news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        controller.calibrate(X, y)
