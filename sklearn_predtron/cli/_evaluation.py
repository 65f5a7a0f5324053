"""Scores of predictions, summed chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_predtron._support.chunks import are_chunks
from sklearn_predtron._support.encoding import encode
from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.cli._tasks import Task
from sklearn_predtron.datasets.formats.base import RowChunk
from sklearn_predtron.families.bipartite import batch_loss
from sklearn_predtron.families.input.batches import counts_of_batches
from sklearn_predtron.families.labels.tokens import AUTO, LOSS, USUAL
from sklearn_predtron.losses import AtK, SubsetLoss, sequence_loss
from sklearn_predtron.losses._row_costs import costs_by_row
from sklearn_predtron.metrics import ndcg
from sklearn_predtron.metrics._chunks import count_found, f1_of

CUTS = (1, 5, 10)
FIT, STREAM, MIXED = "fit", "stream", "shards"  # how a model was trained
MAX_COSTS = 2**22  # in memory at once


@dataclass
class RealisedCosts:
    """Sums of realised costs over rows."""

    rows: int = 0
    total: float = 0.0
    constants: Any = 0.0  # of each prediction, if it were always the same

    def add(self, table: NDArray, true: NDArray, chosen: NDArray) -> None:
        """Add rows, with the cost of each prediction for each class."""
        rows = np.arange(len(true))
        self.rows += len(true)
        self.total += float(table[rows, true, chosen].sum())
        self.constants = self.constants + table[rows, true].sum(axis=0)

    @property
    def figures(self) -> dict[str, float | None]:
        """Mean cost, best constant cost and savings; None if unknown."""
        if not self.rows:
            return dict.fromkeys(["cost", "best_constant_cost", "savings"])
        mean, best = self.total / self.rows, float(np.min(self.constants)) / self.rows
        savings = 1 - mean / best if best else None if mean else 1.0
        return {"cost": mean, "best_constant_cost": best, "savings": savings}


@dataclass
class ResultRow:
    """A row of the table of results."""

    data: str
    learner: str
    rounds: int = 0
    seconds: float = 0.0
    training: str | None = None  # how, if it was trained
    epochs: int | None = None
    progressive_rounds: int = 0
    loss: float = 0.0  # of the model that predicted, in these rounds; nan if unknown
    last_loss: float | None = None  # of the last iterate, if there is one
    tested: int = 0
    score: float = 0.0
    rejected: int | None = None
    tested_sequences: int = 0
    held_out_loss: float | None = None  # of held-out sequences
    chunks: NDArray | None = None  # how many were found, predicted and true, if held-out tokens have labels of chunks
    counts: Any = 0  # of held-out rows that are scored as one batch, by their true and predicted classes
    top: NDArray | None = None  # sums of NDCG@1, @5 and @10
    costs: RealisedCosts | None = None  # if held-out rows have costs of their own
    confusion: dict[tuple[Any, Any], int] = field(default_factory=dict)  # rows by true and predicted label

    @property
    def chunk_f1(self) -> float | None:
        """Return the chunk F1 of held-out tokens, if known."""
        return None if self.chunks is None or not self.tested else f1_of(*self.chunks.tolist())

    def cells(self) -> list[str]:
        """Return the cells of a row of the table."""
        return [
            self.data,
            self.learner,
            f"{self.rounds:,}",
            f"{self.rounds / self.seconds:,.0f}" if self.seconds else "-",
            self.mean_loss(self.loss),
            self.mean_loss(self.last_loss),
            format_mean(self.score, self.tested),
            format_mean(self.held_out_loss, self.tested_sequences),
            "-" if self.chunk_f1 is None else f"{self.chunk_f1:.4f}",
            f"{self.rejected / self.tested:.1%}" if self.tested and self.rejected is not None else "-",
            format_mean(self.score, self.accepted),
        ]

    def figures(self) -> dict[str, Any]:
        """Return the unrounded figures for `--json`; None is unknown."""
        found: dict[str, Any] = {"data": self.data, "learner": self.learner, "rounds": self.rounds, "seconds": self.seconds}
        found["training"], found["epochs"] = self.training, self.epochs
        found["rounds_per_second"] = self.rounds / self.seconds if self.seconds else None
        found["progressive_rounds"] = self.progressive_rounds
        found["progressive_loss"] = mean_of(self.loss, self.progressive_rounds)
        found["last_iterate_loss"] = mean_of(self.last_loss, self.progressive_rounds)
        found["tested"] = self.tested
        found["held_out_score"] = mean_of(self.score, self.tested)
        found["held_out_loss"] = mean_of(self.held_out_loss, self.tested_sequences)
        if self.chunks is not None:
            found["held_out_chunk_f1"] = self.chunk_f1
        found["rejected"] = self.rejected if self.tested else None
        found["accuracy_on_accepted"] = mean_of(self.score, self.accepted)
        if self.top is not None:
            tops = zip(CUTS, self.top.tolist(), strict=True)
            found |= {f"held_out_ndcg_at_{k}": mean_of(total, self.tested) for k, total in tops}
        if self.costs is not None:
            found |= {f"held_out_{name}": value for name, value in self.costs.figures.items()}
        return found

    def mean_loss(self, total: float | None) -> str:
        """Return the mean progressive loss as the table shows it."""
        return format_mean(total, self.progressive_rounds)

    @property
    def accepted(self) -> int:
        """Number of tested rows without abstention."""
        return 0 if self.rejected is None else self.tested - self.rejected


def mean_of(total: float | None, n: int) -> float | None:
    """Return a mean, if it is known."""
    return None if not n or total is None or isnan(total) else float(total / n)


def format_mean(total: float | None, n: int) -> str:
    """Return a mean as the table shows it."""
    mean = mean_of(total, n)
    return "-" if mean is None else f"{mean:.4f}"


class Evaluation:
    """Scores the predictions of a model.

    Parameters
    ----------
    task : Task
        The task.
    estimator : estimator
        The estimator of this package, whose loss and labels count.
    classes : ndarray or None
        The labels.
    result : ResultRow
        The row of the table that is filled in.
    """

    def __init__(self, task: Task, estimator: Any, classes: Any, result: ResultRow):
        self.task, self.estimator, self.result = task, estimator, result
        self.classes = np.arange(len(classes)) if task.multilabel else classes
        self.loss = loss_of_groups(task, estimator)
        if getattr(estimator, "reject", None) is not None:
            result.rejected = 0
        if task.rank:
            result.top = np.zeros(len(CUTS))
        if task.sequence:
            result.held_out_loss = 0.0
            result.chunks = np.zeros(3) if classes is not None and are_chunks(classes.tolist()) else None

    def add(self, chunk: RowChunk, predicted: Any) -> None:
        """Add the score of predictions."""
        result, y = self.result, chunk.y
        if result.top is not None:
            result.top += [ndcg(y, predicted, chunk.groups, k=k).sum() for k in CUTS]
            scores = ndcg(y, predicted, chunk.groups)
        elif self.task.multilabel:
            scores = (indicator_array(predicted) == indicator_array(y)).mean(axis=1)
        elif self.task.ordinal:
            scores = self._closeness(y, predicted)
        else:
            scores = predicted == y
        if chunk.costs is not None:
            self._add_costs(chunk, predicted)
        if self.task.sequence:
            self._add_sequences(chunk, predicted)
        if result.rejected is not None:
            result.rejected += int(np.sum(~np.isin(predicted, self.classes)))
        result.tested += len(scores)
        result.score += scores.sum()
        if self.task.batch:
            codes = codes_or_wrong(y, predicted, self.classes), encode(predicted, self.classes)
            result.counts = result.counts + counts_of_batches(codes[1], codes[0], np.array([0, len(y)]))
            result.score = result.tested * (1 - self.loss.evaluate(*result.counts)[0])
        if not (self.task.rank or self.task.multilabel):
            for pair in zip(y.tolist(), predicted.tolist(), strict=True):
                result.confusion[pair] = result.confusion.get(pair, 0) + 1

    def _closeness(self, y: NDArray, predicted: NDArray) -> NDArray:
        """Return 1 - distance / largest distance of ranks; abstentions and unknown labels count as the largest distance."""
        known = np.isin(predicted, self.classes) & np.isin(y, self.classes)
        scores = np.zeros(len(y))
        codes = encode(y[known], self.classes), encode(predicted[known], self.classes)
        scores[known] = 1 - np.abs(codes[0] - codes[1]) / (len(self.classes) - 1)
        return scores

    def _add_costs(self, chunk: RowChunk, predicted: NDArray) -> None:
        """Add the realised costs of rows with costs."""
        self.result.costs = costs = self.result.costs or RealisedCosts()
        named, otherwise = self.estimator._named(self.classes), self.estimator._costs(self.classes)
        true, chosen = encode(chunk.y, self.classes), encode(predicted, named)
        for part in parts_of(chunk, otherwise.size):
            table = costs_by_row(chunk.take(part).costs, self.classes, named.tolist(), otherwise, len(part))
            costs.add(table, true[part], chosen[part])

    def _add_sequences(self, chunk: RowChunk, predicted: NDArray) -> None:
        """Add the losses of sequences, and their chunks."""
        true, found = codes_or_wrong(chunk.y, predicted, self.classes), encode(predicted, self.classes)
        losses = self.loss.evaluate(true, found, chunk.starts, self.classes)
        self.result.tested_sequences += len(losses)
        self.result.held_out_loss = (self.result.held_out_loss or 0.0) + losses.sum()
        if self.result.chunks is not None:
            # A label that training did not have, and that is none of chunks, counts as outside of all.
            known = set(self.classes.tolist())
            labels = [label if label in known or are_chunks([label]) else "O" for label in chunk.y.tolist()]
            self.result.chunks += [counts.sum() for counts in count_found(labels, predicted, chunk.groups, None)[1:]]


def loss_of_groups(task: Task, estimator: Any) -> Any:
    """Return the loss of held-out batches or sequences."""
    loss = estimator.loss
    if task.sequence:
        return sequence_loss(USUAL[LOSS] if isinstance(loss, str) and loss == AUTO else loss)
    return batch_loss(loss) if task.batch else None


def check_evaluation(task: Task, estimator: Any) -> None:
    """Raise UsageError for losses by which rows cannot be scored."""
    found = loss_of_groups(task, estimator)
    if task.batch and (not isinstance(found, SubsetLoss) or isinstance(found, AtK)):
        raise UsageError(f"loss={estimator.loss!r} is not of counts alone, by which held-out rows are scored")


def parts_of(chunk: RowChunk, size: int) -> list[NDArray]:
    """Return rows in parts whose costs fit into memory."""
    step = max(1, MAX_COSTS // size)
    return [np.arange(start, min(start + step, len(chunk))) for start in range(0, len(chunk), step)]


def indicator_array(labels: Any) -> NDArray:
    """Return indicators of labels as an array."""
    return labels.toarray() if sparse.issparse(labels) else np.asarray(labels)


def codes_or_wrong(y: NDArray, predicted: NDArray, classes: NDArray) -> NDArray:
    """Return the numbers of labels; of unseen ones a wrong number."""
    known = np.isin(y, classes)
    if known.all():
        return encode(y, classes)
    codes = (encode(predicted, classes) + 1) % len(classes)
    codes[known] = encode(y[known], classes)
    return codes
