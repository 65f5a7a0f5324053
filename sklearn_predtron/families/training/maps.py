"""Feature maps, compared with each other and with the columns as they are on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from sklearn_predtron.families.input.reading import ReadTable
from sklearn_predtron.families.input.tables import map_of, targets
from sklearn_predtron.families.training.factory import norm_for
from sklearn_predtron.families.training.plan import FIRST_EPOCHS, MOST_WEIGHTS, Candidate, TrainingPlan
from sklearn_predtron.families.training.runs import MOST_EVALUATED, Result, RowLosses, TrainingRun, is_behind
from sklearn_predtron.features import FeatureMap
from sklearn_predtron.features._pairs import targets_of

MOST_HATS = 2  # maps of hats that are trained to their end
ERRORS = 1.5  # standard errors by which a map must be better than the columns as they are
COSINES = 1.0  # and cosines better than hats: they take ten times as long
FAR_BEHIND = 1.1  # times the losses of hats: cosines that end after few epochs, though they are late


class MapComparison:
    """A comparison of feature maps on held-out rows.

    A map looks at the labels of those rows alone that its fold model is trained on.

    Parameters
    ----------
    trainer : Trainer
        The fit.
    plan : TrainingPlan
        The held-out rows, and the epochs after which they are evaluated.
    plain : Result, default=None
        The columns as they are, trained to their end, if they are numbers.
    """

    def __init__(self, trainer: Any, plan: TrainingPlan, plain: Result | None = None):
        self.trainer, self.plan, self.plain = trainer, plan, plain
        self.few = plan.first_comparison()

    def best(self) -> Result | None:
        """Return the best map; None if it is not clearly better than the columns as they are."""
        maps = self.candidates()
        if self.plain is None:
            return self.furthest([self.new_run(one, self.few) for one in maps])
        if not maps:
            return None
        hats = [one for one in maps if not one.late]
        least = min(hats, key=lambda one: one.batch.rows.p)
        columns = self.new_run(self.plain.candidate, self.few).run(until=FIRST_EPOCHS)
        runs = [self.new_run(one, self.few) for one in maps if one is least or one.late]
        if all(gain_over(run.run(until=FIRST_EPOCHS), columns) <= 0 for run in runs):
            return None
        runs += [self.new_run(one, self.few) for one in hats if one is not least]
        best = self.furthest(runs)
        return best if self.is_better(best) else None

    # ----------------------------------------------------------------------------------------------------------- candidates

    def candidates(self) -> list[Candidate]:
        """Return the maps of the table, which is read as numbers."""
        trainer = self.trainer
        if self.plain is None:
            base = self.plan.candidates[0]
            features, table = base.columns.features, base.batch.X
        else:
            table = self.plain.candidate.batch.X
            features = clone(map_of(trainer.estimator.features)).set_params(missing=False)
            frequency = self.plain.candidate.batch.frequency
            there = slice(None) if frequency is None or frequency.all() else np.flatnonzero(frequency)
            features._fit(table[there], None, None if frequency is None else frequency[there])
            if features.n_features_out_ == 0:
                return []
            base = self.first_map(features._twin({}, features._state))
        d = trainer.model.problem.d
        Y = targets_of(targets(trainer.shown["y"], len(table), labels=trainer.estimator._has_labels), len(table))
        base = base._replace(ranking=features._ranking(np.asarray(table), Y, base.batch.frequency))
        others = (base.with_map(one) for one in features.choices()[1:])
        return [base, *(one for one in others if d * one.batch.rows.p <= max(MOST_WEIGHTS, d * base.batch.rows.p))]

    def first_map(self, features: FeatureMap) -> Candidate:
        """Return the candidate of the columns as they are under a map."""
        assert self.plain is not None
        plain = self.plain.candidate
        names = plain.columns.names
        if names is not None:
            features.feature_names_in_ = names
        norm = norm_for(self.trainer.estimator, sparse=True)
        table = plain.batch.X.view(ReadTable)
        return plain._replace(batch=plain.batch._replace(X=table), norm=norm).with_map(features)

    # ----------------------------------------------------------------------------------------------------------------- runs

    def new_run(self, candidate: Candidate, plan: TrainingPlan) -> TrainingRun:
        """Return the run of a candidate."""
        return self.trainer.new_run(candidate, plan, None, shows=self.plain is None)

    def furthest(self, runs: Sequence[TrainingRun]) -> Result:
        """Return the best of the maps that are not clearly behind another after a few epochs, trained to their end."""
        first = [run.run(until=FIRST_EPOCHS).checkpoint.score for run in runs]
        order = np.argsort([score.loss for score in first], kind="stable")
        hats = [i for i in order if not runs[i].candidate.late]
        late = [i for i in order if runs[i].candidate.late and first[i].loss <= FAR_BEHIND * first[hats[0]].loss]
        near = [i for i in hats if not is_behind(first[i], first[hats[0]])]
        results: list[Result] = []
        for i in (*near[:MOST_HATS], *late):
            run = runs[i] if self.few is self.plan else self.new_run(runs[i].candidate, self.plan)
            results.append(run.run(results))
        best, *cosines = sorted(results, key=lambda one: (one.candidate.late, one.checkpoint.score.loss))
        for one in cosines:
            gain, error = one.checkpoint.score.of_rows.gain_over(best.checkpoint.score.of_rows)
            best = one if one.candidate.late and gain > COSINES * error else best
        return best

    def is_better(self, found: Result) -> bool:
        """Return whether a map is better than the columns as they are by some standard errors of the difference."""
        assert self.plain is not None
        if found.cost is not None and self.plain.cost is not None:
            gain, error = found.cost.gain_over(self.plain.cost)
        else:
            gain, error = found.checkpoint.score.of_rows.gain_over(self.losses_of_all(self.plain))
        return gain > ERRORS * error

    def losses_of_all(self, result: Result) -> RowLosses:
        """Return the losses of all held-out rows of a result."""
        checkpoint = result.checkpoint
        if checkpoint.held_out is None:
            return checkpoint.score.of_rows
        self.trainer.use_candidate(result.candidate, result.candidate.factory(self.trainer.estimator))
        calibration, problem, held = self.trainer.decision.calibration, self.trainer.model.problem, checkpoint.held_out
        held = held._replace(map=calibration.validation_losses(problem, held.some(MOST_EVALUATED)._replace(map=None))[1].map)
        weight = np.ones(len(held.scores)) if held.weight is None else held.weight
        return RowLosses(calibration.log_losses(problem, held), weight, checkpoint.rows)


def gain_over(result: Result, other: Result) -> float:
    """Return by how much the mean loss of a result is lower than that of another, on the rows of both."""
    return result.checkpoint.score.of_rows.gain_over(other.checkpoint.score.of_rows)[0]
