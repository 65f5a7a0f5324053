"""The guarantees of reject options: a risk certified on held-out rows, and the rejected share of a stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_predtron._support.warning import warn
from sklearn_predtron.decisions._asked_scores import AskedScores
from sklearn_predtron.decisions._certified import Certificate, Certified
from sklearn_predtron.decisions._rated import Rated
from sklearn_predtron.decisions._rules import DecisionRule, ExpectedCost
from sklearn_predtron.families.labels.true_classes import true_codes
from sklearn_predtron.losses import Reject


def promised_by(reject: Reject) -> str:
    """Return the name and the value of what a reject option promises, as errors have them."""
    name = "rate" if reject.risk is None else "risk"
    return f"reject.{name}={getattr(reject, name)!r}"


def refuse_costs_with(reject: Reject | None) -> None:
    """Refuse costs of rows beside a promise by the costs of the loss."""
    if reject is not None and reject.cost is None:
        raise ValueError(f"costs do not go with {promised_by(reject)}, which is by the costs of loss; accepted is reject.cost.")


def check_goes_with(rule: DecisionRule | None, reject: Reject | None) -> None:
    """Refuse a decision that is given beside a reject option for others."""
    if reject is None or rule is None:
        return
    if isinstance(rule, ExpectedCost) and reject.rule is not None:
        raise ValueError(
            f"decision={rule!r} does not go with reject.rule={reject.rule!r}, which is for decision='learned'; accepted is "
            "reject.rule=None."
        )
    if reject.cost is None and not isinstance(rule, ExpectedCost):
        raise ValueError(f"decision={rule!r} does not go with {promised_by(reject)}; accepted are None and 'expected_cost'.")


def promises_risk(estimator: Any) -> bool:
    """Return whether the reject option has a risk; raise AttributeError if not."""
    if getattr(estimator.reject, "risk", None) is None:
        raise AttributeError("certify is for reject=Reject(risk=...).")
    return True


def certify(estimator: Any, X: Any, y: Any) -> None:
    """Certify on held-out rows which rows the model may answer, and store the certificate."""
    model = estimator._fitted_model()
    estimator._check_has_probabilities()
    decision = model.decision_of(estimator._decision)
    probabilities = model.decoded(X, decision.calibration)
    codes = true_codes(model.labels, probabilities, y)
    settled = decision.certified(model.learner, model.settled, probabilities, codes)
    model.settled = {**(model.settled or {}), "certificate": settled}
    found = decision.found(model.learner, model.settled)
    free = np.flatnonzero(decision.costs.max(axis=0) == 0)
    if found.n_answered > 0 and np.isin(decision.answers(probabilities, found.threshold), free).all():
        label = model.labels.classes[free[0]].tolist()
        warn(
            f"reject.risk={decision.risk:g} is kept by predicting {label!r} for all rows that are answered, a prediction that "
            "never costs anything under `loss`: the certificate promises nothing about it.  Give that mistake a cost."
        )
    if found.n_answered == 0:
        warn(
            f"no share of the {len(codes)} rows was found to keep reject.risk={decision.risk:g}, and all are rejected: it takes "
            "more rows, or a larger risk."
        )


def certificate_of(estimator: Any) -> Certificate:
    """Return the certificate of the current model; raise AttributeError if there is none."""
    model, decision = estimator._model, estimator._model.decision_of(estimator._decision)
    found = decision.found(model.learner, model.settled) if isinstance(decision, Certified) else None
    if found is None:
        raise AttributeError("certificate_ is there after certify(X, y), with reject=Reject(risk=...).")
    return found


def rejected_share(estimator: Any) -> float:
    """Return the share of the rounds followed that a rate has rejected."""
    model = estimator._model
    decision, observer = model.decision_of(estimator._decision), model.learner.observer
    if not isinstance(decision, Rated) or not isinstance(observer, AskedScores):
        raise AttributeError("rejected_share_ is there in streams, with reject=Reject(rate=...).")
    with model.learner.lock.reading():
        _, followed, asked = observer.up_to_now(decision)
    if followed == 0:
        raise AttributeError("rejected_share_ is there after rounds of partial_fit that follow a tenth as many as were learned.")
    return asked / followed
