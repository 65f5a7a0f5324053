"""The values that model files keep for predictors, besides the model."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from sklearn_predtron.decisions._base import Decision
from sklearn_predtron.decisions._saved_values import decision_of, plain_decision
from sklearn_predtron.families.input.tables import WarmupBuffer
from sklearn_predtron.families.labels.classes import Classes
from sklearn_predtron.families.labels.relevances import DocumentRelevances, LabelRelevances
from sklearn_predtron.families.labels.sets import Sets
from sklearn_predtron.families.labels.tokens import Tokens
from sklearn_predtron.losses.multiclass import counts_mistakes
from sklearn_predtron.problems._at_k import AtKProblem


def for_predictor(estimator: Any) -> dict[str, Any] | None:
    """Return the values that a predictor needs besides the model.

    None if the estimator has no predictor: before its first rows, with a kernel, or if it cannot predict at present.
    """
    model = estimator._model
    if model is None or model.learner.weights.expansion is not None or isinstance(model.columns.features, WarmupBuffer):
        return None
    try:
        return answers_of(estimator, model)
    except (TypeError, ValueError):  # no decision of one moment, as without the certificate that it needs
        return None


def answers_of(estimator: Any, model: Any) -> dict[str, Any] | None:
    """Return the answers of a family, which its labels tell; None if the family has no predictor."""
    labels = model.labels
    if isinstance(labels, DocumentRelevances):
        return {"family": "documents"}
    if isinstance(labels, LabelRelevances):
        return {"family": "rankings"}
    if isinstance(labels, Tokens):
        tempered = (model.fitted_decision or {}).get("tempered")
        return {"family": "sequences", "classes": labels.classes, "several": bool(model.call_metadata), "tempered": tempered}
    if isinstance(labels, Sets):
        form = {"dtype": labels.dtype, "classes": labels.classes, "one": labels.two is not None, "names": labels.names}
        return {"family": "sets", **form, **costs_otherwise(estimator, labels), **present_decisions(estimator, model)}
    if not isinstance(labels, Classes) or isinstance(model.problem, AtKProblem):
        return None  # labels of any kind, and predictions that depend on the other rows of a group
    classes = labels.classes
    if estimator._named is None:
        return {"family": "column", "classes": classes, **present_decisions(estimator, model)}
    form = {"classes": classes, "labels": estimator._named(classes)}
    return {"family": "classes", **form, **costs_otherwise(estimator, classes), **present_decisions(estimator, model)}


def costs_otherwise(estimator: Any, labels: Any) -> dict[str, Any]:
    """Return the costs of pairs that ``predict(costs=)`` leaves out, or the message with which it rejects costs; and a capacity.

    None stands for the 0-1 loss, whose table is large for many classes.
    """
    try:
        unit = isinstance(labels, np.ndarray) and estimator.reject is None and counts_mistakes(estimator.loss)
        costs = None if unit else estimator._costs_otherwise(labels)
        capacity = estimator._capacity()
        return {"costs": costs, "capacity": None if capacity is None else tuple(capacity)}
    except ValueError as error:
        return {"costs": str(error)}


def present_decisions(estimator: Any, model: Any) -> dict[str, Any]:
    """Return the decisions of this moment, of predictions and of probabilities.

    Those of probabilities are None if there are none.
    """

    def saved(decision: Decision) -> Any:
        found = plain_decision(model.of_unseen_rows(decision.fitted))
        decision_of(found, model.problem)  # raises ValueError for values that no predictor would accept
        return found

    decision = model.decision_of(estimator._decision)
    present = saved(decision)
    probabilities = None
    if decision.calibration is not None:
        with suppress(ValueError):  # none are known
            model.check_after_first_epoch()
            probabilities = saved(decision.calibration)
    return {"decision": present, "probabilities": probabilities}
