"""scikit-learn's LogisticRegressionCV: the penalty of least log loss in five folds."""

from typing import Any

from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss

from benchmarks.contestants.base import BatchContestant

# From version 1.8 on scikit-learn warns unless these, which change nothing here, are given.
NEW = {"l1_ratios": (0,), "use_legacy_attributes": False}
WITHOUT_WARNING = NEW if "use_legacy_attributes" in LogisticRegressionCV().get_params() else {}


class SklearnLogisticRegressionCV(BatchContestant):
    name = "LogisticRegressionCV"
    estimator = LogisticRegressionCV

    def __init__(self) -> None:
        self.params = {"max_iter": 2000, "cv": 5, "scoring": negative_log_loss, **WITHOUT_WARNING}


def negative_log_loss(model: Any, X: Any, y: NDArray) -> float:
    """Return the score of a fold, which may lack a class."""
    return -float(log_loss(y, model.predict_proba(X), labels=model.classes_))
