"""Candidates: the configurations among which a fit chooses by held-out rows."""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn_predtron._core.learner import Learner
from sklearn_predtron.families.estimator.model import Model
from sklearn_predtron.families.input.reading import Batch, Columns
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.training.composition import chosen_norm, new_learner
from sklearn_predtron.families.training.plan import MOST_WEIGHTS
from sklearn_predtron.losses._by_row import POWERS


class Candidate(NamedTuple):
    """A configuration: the rows and their weights, and what reads the labels and the columns."""

    batch: Batch
    labels: Codec
    columns: Columns
    norm: Any

    def new_learner(self, estimator: Any) -> Learner:
        """Return a learner that was not trained, with parts of its own: fold models train side by side."""
        problem = estimator._build_problem(self.labels)
        problem.prepare(self.batch.labels)
        return new_learner(estimator, self.labels, problem, self.batch.rows, self.norm, None)


def present_candidate(model: Model, batch: Batch) -> Candidate:
    """Return the configuration of the model in progress."""
    return Candidate(batch, model.labels, model.columns, model.norm)


def candidates_of(estimator: Any, model: Model, batch: Batch) -> list[Candidate]:
    """Return the configurations to compare, the default first: powers of row costs, feature maps, or label representations."""
    labels, *others = model.labels.choices()
    model.labels = labels
    default = present_candidate(model, batch)
    only_one = any(getattr(callback, "one_candidate", False) for callback in getattr(estimator, "_skl_callbacks", ()))
    if batch.costs is not None and model.decision_of(estimator._decision).calibration is not None:
        by_power = [default._replace(batch=batch.by_power(power)) for power in POWERS]
        return by_power[:1] if only_one else by_power
    if only_one:
        return [default]
    if model.columns.features is not None and len(maps := model.columns.features.choices()) > 1:
        return [default, *(with_map(estimator, default, other) for other in maps[1:])]
    return [default, *(default._replace(labels=other) for other in others if fits(estimator, model, batch, other))]


def with_map(estimator: Any, candidate: Candidate, features: Any) -> Candidate:
    """Return the same configuration with another feature map; None is the columns as they are."""
    columns = candidate.columns._replace(features=features)
    if features is not None:
        batch = candidate.batch._replace(rows=features.under(candidate.batch.rows))
        return candidate._replace(batch=batch, columns=columns)
    batch = candidate.batch._replace(rows=candidate.batch.rows.under(None))
    norm = chosen_norm(estimator, sparse=False)
    labels = candidate.labels if norm == candidate.norm else candidate.labels.standardised()
    return Candidate(batch, labels, columns, norm)


def fits(estimator: Any, model: Model, batch: Batch, labels: Codec) -> bool:
    """Return whether a representation of the labels goes with the other parameters and is small enough to be averaged."""
    problem = estimator._build_problem(labels)
    if problem.d * batch.rows.p > MOST_WEIGHTS:
        return False
    try:
        new_learner(estimator, labels, problem, batch.rows, model.norm, None)
    except ValueError:
        return False
    return True
