"""The tasks: their estimators, losses and scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn_predtron._support.parts import Part, kinds
from sklearn_predtron.families.bipartite import PredtronBipartiteClassifier
from sklearn_predtron.families.classification import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.families.multilabel import PredtronMultilabelClassifier
from sklearn_predtron.families.ordinal import PredtronOrdinalClassifier
from sklearn_predtron.families.ranking import PredtronRanker
from sklearn_predtron.families.sequences import PredtronSequenceTagger
from sklearn_predtron.losses import AtK, CostTableLoss, RankingLoss, SequenceLoss, SubsetLoss


@dataclass(frozen=True)
class Task:
    """A task: its estimator, losses and score."""

    estimator: type
    losses: type[Part]
    score: str

    @property
    def multilabel(self) -> bool:
        """Return whether a row has a set of labels."""
        return self.estimator is PredtronMultilabelClassifier

    @property
    def batch(self) -> bool:
        """Return whether a round is a batch of rows, of two labels."""
        return self.estimator is PredtronBipartiteClassifier

    @property
    def rank(self) -> bool:
        """Return whether a round is a query of documents."""
        return self.estimator is PredtronRanker

    @property
    def sequence(self) -> bool:
        """Return whether a round is a sequence of tokens."""
        return self.estimator is PredtronSequenceTagger

    @property
    def ordinal(self) -> bool:
        """Return whether labels are ordered."""
        return self.estimator is PredtronOrdinalClassifier

    @property
    def costs(self) -> bool:
        """Return whether errors, and rows, can have costs."""
        return self.losses is CostTableLoss

    @property
    def ids(self) -> str | None:
        """Return the name of the parameter for groups of rows, if any."""
        return "qid" if self.rank else "sid" if self.sequence else None

    @property
    def loss_names(self) -> list[str]:
        """Return the names of the losses."""
        known = [kind for kind in kinds(self.losses) if not (self.batch and issubclass(kind, AtK))]  # which are not of counts
        return [str(kind.alias) for kind in known]


TASKS = {
    "binary": Task(PredtronBinaryClassifier, CostTableLoss, "accuracy"),
    "multiclass": Task(PredtronClassifier, CostTableLoss, "accuracy"),
    "ordinal": Task(PredtronOrdinalClassifier, CostTableLoss, "1 - mean distance / largest distance"),
    "multilabel": Task(PredtronMultilabelClassifier, SubsetLoss, "1 - Hamming loss"),
    "rank": Task(PredtronRanker, RankingLoss, "mean NDCG"),
    "sequence": Task(PredtronSequenceTagger, SequenceLoss, "accuracy of tokens"),
    "bipartite": Task(PredtronBipartiteClassifier, SubsetLoss, "1 - the loss of all rows as one batch"),
}
OF_ROWS = ["binary", "multiclass", "ordinal", "bipartite"]  # the tasks of rows with a label each
OF_FORMATS = {"conll": ["sequence"], "csv": OF_ROWS, "json": OF_ROWS, "vw": OF_ROWS}


def default_features(task: Task | None) -> Any:
    """Return the feature map of a task's tables; without a task they have classes."""
    return (task or TASKS["multiclass"]).estimator().features


def task_of(model: Any) -> Task:
    """Return the task of an estimator."""
    return next(task for task in TASKS.values() if task.estimator is type(model))
