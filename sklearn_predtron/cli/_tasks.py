"""The tasks of the job: estimators, baselines and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from sklearn_predtron._support.parts import Part, kinds, resolve
from sklearn_predtron.cli._baselines import (
    Baseline,
    BatchClassifierBaseline,
    MultilabelPerceptronBaseline,
    OrdinalPerceptronBaseline,
    PerceptronBaseline,
    RankerBaseline,
    TaggerBaseline,
)
from sklearn_predtron.cli._compare import (
    Comparison,
    EvaluatedBatchClassifier,
    EvaluatedModel,
    EvaluatedRanker,
    EvaluatedTagger,
    ResultRow,
)
from sklearn_predtron.cli._least_cost import (
    EvaluatedCostModel,
    LeastCostBaseline,
    MultilabelLeastCostBaseline,
    OrdinalLeastCostBaseline,
)
from sklearn_predtron.families.bipartite import PredtronBipartiteClassifier
from sklearn_predtron.families.classification import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.families.multilabel import PredtronMultilabelClassifier
from sklearn_predtron.families.ordinal import PredtronOrdinalClassifier
from sklearn_predtron.families.ranking import PredtronRanker
from sklearn_predtron.families.sequences import PredtronSequenceTagger
from sklearn_predtron.losses import AtK, CostTableLoss, RankingLoss, SequenceLoss, SubsetLoss
from sklearn_predtron.norms import Norm


@dataclass(frozen=True)
class Task:
    """A task: its estimator, baseline, losses and score."""

    estimator: type
    baseline: type[Baseline]
    losses: type[Part]
    score: str
    evaluated_model: type[EvaluatedModel] = EvaluatedModel
    by_costs: type[LeastCostBaseline] | None = None  # the baseline where rows have costs of their own, if they may

    @property
    def multilabel(self) -> bool:
        """Return whether a row has a set of labels."""
        return self.losses is SubsetLoss and not self.batch

    @property
    def batch(self) -> bool:
        """Return whether a round is a batch of rows, of two labels."""
        return self.evaluated_model is EvaluatedBatchClassifier

    @property
    def rank(self) -> bool:
        """Return whether a round is a query of documents."""
        return self.losses is RankingLoss

    @property
    def sequence(self) -> bool:
        """Return whether a round is a sequence of tokens."""
        return self.losses is SequenceLoss

    @property
    def ranks(self) -> bool:
        """Return whether labels are ordered."""
        return self.estimator is PredtronOrdinalClassifier

    @property
    def costs(self) -> bool:
        """Return whether errors can have costs."""
        return self.losses is CostTableLoss

    @property
    def loss_names(self) -> list[str]:
        """Return the names of the losses."""
        known = [kind for kind in kinds(self.losses) if not (self.batch and issubclass(kind, AtK))]  # which are not of counts
        return [str(kind.alias) for kind in known]

    def under_costs(self) -> Task:
        """Return the task with models that predict by row costs."""
        return replace(self, evaluated_model=EvaluatedCostModel, baseline=self.by_costs or self.baseline)

    def takes(self, parameters: dict[str, Any]) -> bool:
        """Return whether the estimator accepts the requested norm."""
        return not self.sequence or "norm" not in parameters or resolve(Norm, parameters["norm"], "norm").of_sequences


BY_CLASS = "accuracy"
BY_RANKS = "1 - mean distance / largest distance"
BY_LABELS = "1 - Hamming loss"
BY_NDCG = "mean NDCG"
BY_TOKENS = "accuracy of tokens"
BY_BATCH = "1 - the loss of all rows as one batch"
TASKS = {
    "binary": Task(PredtronBinaryClassifier, PerceptronBaseline, CostTableLoss, BY_CLASS, by_costs=LeastCostBaseline),
    "multiclass": Task(PredtronClassifier, PerceptronBaseline, CostTableLoss, BY_CLASS, by_costs=LeastCostBaseline),
    "ordinal": Task(
        PredtronOrdinalClassifier, OrdinalPerceptronBaseline, CostTableLoss, BY_RANKS, by_costs=OrdinalLeastCostBaseline
    ),
    "multilabel": Task(
        PredtronMultilabelClassifier, MultilabelPerceptronBaseline, SubsetLoss, BY_LABELS, by_costs=MultilabelLeastCostBaseline
    ),
    "rank": Task(PredtronRanker, RankerBaseline, RankingLoss, BY_NDCG, EvaluatedRanker),
    "sequence": Task(PredtronSequenceTagger, TaggerBaseline, SequenceLoss, BY_TOKENS, EvaluatedTagger),
    "bipartite": Task(PredtronBipartiteClassifier, BatchClassifierBaseline, SubsetLoss, BY_BATCH, EvaluatedBatchClassifier),
}


def start_lines(data: str, estimator: type, baselines: Sequence[type[Baseline]]) -> list[ResultRow]:
    """Return the empty result rows of a data set."""
    return [ResultRow(data, estimator.__name__), *(ResultRow("", baseline.name) for baseline in baselines)]


def start_comparison(
    task: Task, estimator: Any, baselines: Sequence[type[Baseline]], labels: Any, results: Sequence[ResultRow]
) -> Comparison:
    """Return the models to compare, each with a result row."""
    # The first validation in a process looks for data frame plug-ins, which is no learner's time.
    StandardScaler().fit(np.zeros((1, 1)))
    classes = np.arange(len(labels)) if task.multilabel else labels
    ours = task.evaluated_model(estimator, classes, results[0])
    others = [kind.for_estimator(estimator, classes, result) for kind, result in zip(baselines, results[1:], strict=True)]
    return Comparison([ours, *others])


def task_of(model: Any) -> Task:
    """Return the task of an estimator."""
    return next(task for task in TASKS.values() if task.estimator is type(model))
