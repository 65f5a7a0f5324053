"""Models of this package, compared on one stream."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from math import isnan, nan
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.encoding import encode
from sklearn_predtron.cli._realised_costs import RealisedCosts
from sklearn_predtron.cli._weighted import split_weights
from sklearn_predtron.families.bipartite import batch_loss
from sklearn_predtron.families.input.batches import counts_of_batches
from sklearn_predtron.families.input.reading import as_rows, why_length_refused
from sklearn_predtron.families.labels.tokens import AUTO, LOSS, USUAL
from sklearn_predtron.losses import AtK, SubsetLoss, sequence_loss
from sklearn_predtron.metrics import ndcg
from sklearn_predtron.metrics._chunks import count_found, f1_of

CUTS = (1, 5, 10)
BEFORE, HELD_OUT = "progressive", "held-out"


@dataclass
class ResultRow:
    """A row of the table of results."""

    data: str
    learner: str
    rounds: int = 0
    seconds: float = 0.0
    progressive_rounds: int = 0
    loss: float = 0.0  # of the model that predicted, in these rounds; nan if unknown
    last_loss: float | None = None  # of the last iterate, if there is one
    tested: int = 0
    score: float = 0.0
    rejected: int | None = None
    tested_sequences: int = 0
    held_out_loss: float | None = None  # of held-out sequences, if it is wanted
    chunks: NDArray | None = None  # how many were found, predicted and true, if held-out tokens have labels of chunks
    counts: Any = 0  # of held-out rows that are scored as one batch, by their true and predicted classes
    # Sums of NDCG@1, @5 and @10, if they are wanted: before the update, and on held-out queries.
    top: dict[str, NDArray] | None = None
    realised_costs: dict[str, RealisedCosts] | None = (
        None  # if rows have costs of their own: before the update, and on held-out rows
    )

    def count_top(self, when: str, scores: NDArray, y: GroupedValues) -> None:
        """Add the NDCG@k of queries, if requested."""
        if self.top is not None:
            self.top[when] += [ndcg(y.values, scores, y.query, k=k).sum() for k in CUTS]

    def count(self, scores: NDArray) -> None:
        """Add the scores of held-out rows."""
        self.tested += len(scores)
        self.score += scores.sum()

    def count_sequences(self, losses: NDArray) -> None:
        """Add the losses of held-out sequences, if requested."""
        self.tested_sequences += len(losses)
        if self.held_out_loss is not None:
            self.held_out_loss += losses.sum()

    def count_chunks(self, predicted: NDArray, y: GroupedValues) -> None:
        """Add the chunks of held-out tokens, if labels are chunks."""
        if self.chunks is not None:
            self.chunks += [counts.sum() for counts in count_found(y.values, predicted, y.query, None)[1:]]

    @property
    def chunk_f1(self) -> float | None:
        """Return the chunk F1 of held-out tokens, if known."""
        return None if self.chunks is None or not self.tested else f1_of(*self.chunks.tolist())

    def count_batch(self, loss: Any, predicted: NDArray, y: NDArray) -> None:
        """Add held-out rows, all scored as one batch."""
        self.tested += len(y)
        self.counts = self.counts + counts_of_batches(predicted, y, np.array([0, len(y)]))
        self.score = self.tested * (1 - loss.evaluate(*self.counts)[0])

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
        counts = {BEFORE: self.progressive_rounds, HELD_OUT: self.tested}
        for when, sums in (self.top or {}).items():
            name = when.replace("-", "_")
            found |= {f"{name}_ndcg_at_{k}": mean_of(total, counts[when]) for k, total in zip(CUTS, sums.tolist(), strict=True)}
        for when, realised_costs in (self.realised_costs or {}).items():
            found |= realised_costs.figures(when.replace("-", "_"))
        return found

    def mean_loss(self, total: float | None) -> str:
        """Return the mean progressive loss as the table shows it."""
        return format_mean(total, self.progressive_rounds)

    @property
    def accepted(self) -> int:
        """Number of tested rows without abstention."""
        return 0 if self.rejected is None else self.tested - self.rejected

    def top_cells(self) -> list[list[str]]:
        """Return the table's NDCG at the first positions, if any."""
        counts = {BEFORE: self.progressive_rounds, HELD_OUT: self.tested}
        return [
            ["" if i else self.learner, when, *(f"{value / counts[when]:.4f}" if counts[when] else "-" for value in sums)]
            for i, (when, sums) in enumerate((self.top or {}).items())
        ]

    def cost_cells(self) -> list[list[str]]:
        """Return the rows of the table of costs, if any."""
        realised_costs = (self.realised_costs or {}).items()
        return [["" if i else self.learner, when, *sums.cells()] for i, (when, sums) in enumerate(realised_costs)]


def mean_of(total: float | None, n: int) -> float | None:
    """Return a mean, if it is known."""
    return None if not n or total is None or isnan(total) else float(total / n)


def format_mean(total: float | None, n: int) -> str:
    """Return a mean as the table shows it."""
    mean = mean_of(total, n)
    return "-" if mean is None else f"{mean:.4f}"


class GroupedValues:
    """Values of documents (tokens), grouped by query (sequence)."""

    def __init__(self, values: Any, start: NDArray):
        self.values = values
        self.start = start

    @classmethod
    def of(cls, values: Any, qid: NDArray) -> GroupedValues:
        """Group values by id; an id that returns starts a new group."""
        edges = np.flatnonzero(qid[1:] != qid[:-1]) + 1
        return cls(values, np.concatenate([[0], edges, [len(qid)]]).astype(np.intp))

    def __len__(self) -> int:
        return len(self.start) - 1

    def __iter__(self) -> Iterator[Any]:
        return (self.values[first:end] for first, end in zip(self.start[:-1], self.start[1:], strict=True))

    def __getitem__(self, queries: slice | NDArray) -> GroupedValues:
        first, length = self.start[:-1][queries], np.diff(self.start)[queries]
        start = np.concatenate([[0], np.cumsum(length)])
        return GroupedValues(self.values[np.arange(start[-1]) + np.repeat(first - start[:-1], length)], start)

    @property
    def shape(self) -> tuple[int]:
        """Return the shape, as of an array of queries."""
        return (len(self),)

    @property
    def query(self) -> NDArray:
        """Return the number of each document's query."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def break_ties_at_worst(self, scores: NDArray) -> NDArray:
        """Return scores that break ties at the worst."""
        ranked = np.empty(len(scores))
        ranked[np.lexsort((self.values, -scores))] = -np.arange(len(scores))
        return ranked


def losses_of(estimator: Any) -> tuple[float, float]:
    """Return the cumulative losses: progressive and of the last iterate."""
    if not hasattr(estimator, "t_"):
        return 0.0, 0.0
    return getattr(estimator, "progressive_loss_", nan) * estimator.t_, estimator.cumulative_loss_


class EvaluatedModel:
    """An estimator of this package, evaluated while it trains."""

    def __init__(self, estimator: Any, classes: NDArray | None, result: ResultRow):
        self.estimator = estimator
        self.classes = classes
        self.result = result
        if getattr(estimator, "reject", None) is not None and result.rejected is None:
            result.rejected = 0

    def learn(self, X: Any, y: Any, *, progressive: bool) -> None:
        """Train on rows in their order."""
        estimator, result = self.estimator, self.result
        rounds, losses = getattr(estimator, "t_", 0), losses_of(estimator)
        start = perf_counter()
        self._fit(X, y, first=rounds == 0)
        result.seconds += perf_counter() - start
        result.rounds += estimator.t_ - rounds
        if progressive:
            result.progressive_rounds += estimator.t_ - rounds
            loss, last_loss = (now - before for now, before in zip(losses_of(estimator), losses, strict=True))
            result.loss += loss
            result.last_loss = (result.last_loss or 0.0) + last_loss

    def rejection_reason(self, X: Any) -> str | None:
        """Return why the first invalid row is rejected, if any."""
        if self.estimator.features is not None:  # its rows are made, of numbers of any size
            return None
        rows = as_rows(X)
        row = rows.first_outside()
        model = self.estimator._model
        return None if row < 0 else why_length_refused(rows, row, self.estimator.norm if model is None else model.norm)

    def _fit(self, X: Any, y: Any, *, first: bool) -> None:
        """Update the estimator on rows, weighted if they have weights."""
        rows, weights = split_weights(X)
        given = {} if weights is None else {"sample_weight": weights}
        self.estimator.partial_fit(rows, y, **given, **({"classes": self.classes} if first else {}))

    def predict(self, X: Any) -> NDArray:
        """Return the predictions of unseen rows."""
        return self.estimator.predict(X)

    def scores(self, X: Any) -> NDArray:
        """Return the scores behind predictions."""
        return self.estimator.decision_function(X)

    def probabilities(self, X: Any) -> NDArray:
        """Return the probabilities of the labels."""
        return self.estimator.predict_proba(X)

    def test(self, X: Any, y: Any) -> NDArray:
        """Score held-out rows and return their predictions."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "y has .* labels that are not in classes_")  # which the report counts
            predicted, score = self.estimator.predict(X), self.estimator.score(X, y)
        self.result.tested += X.shape[0]
        self.result.score += score * X.shape[0]
        if self.result.rejected is not None:
            self.result.rejected += int(np.sum(~np.isin(predicted, self.estimator.classes_)))
        return predicted


class EvaluatedRanker(EvaluatedModel):
    """This package's ranker of documents.

    X and y are `GroupedValues`.
    """

    def learn(self, X: Any, y: Any, *, progressive: bool) -> None:
        if progressive and self.result.top is not None:
            self.result.count_top(BEFORE, self._scores_ahead(X, y), y)
        super().learn(X, y, progressive=progressive)

    def rejection_reason(self, X: Any) -> str | None:
        return super().rejection_reason(X.values)

    def _scores_ahead(self, X: GroupedValues, y: GroupedValues) -> NDArray:
        """Return the last iterate's scores, query by query before updates."""
        # A copy goes ahead query by query, so that the calls that are timed are as long as the other learner's.
        ahead, scores = deepcopy(self.estimator), np.zeros((X.start[-1], 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the estimator itself warns
            for first, documents, relevance in zip(X.start, X, y, strict=False):
                if ahead.__sklearn_is_fitted__():
                    rows = ahead._model.read_rows(documents)[1]
                    ahead._model.learner.scores(rows, scores[first : first + len(relevance)], mean=False)
                ahead.partial_fit(documents, relevance)
        return scores[:, 0]

    def _fit(self, X: Any, y: Any, *, first: bool) -> None:
        self.estimator.partial_fit(X.values, y.values, qid=y.query)

    def predict(self, X: Any) -> NDArray:
        return self.estimator.predict(X.values)

    scores = predict

    def test(self, X: Any, y: Any) -> NDArray:
        scores = self.predict(X)
        self.result.count(ndcg(y.values, scores, y.query))
        self.result.count_top(HELD_OUT, scores, y)
        return scores


class EvaluatedTagger(EvaluatedModel):
    """This package's tagger of sequences.

    X and y are `GroupedValues`.
    """

    def rejection_reason(self, X: Any) -> str | None:
        return super().rejection_reason(X.values)

    def _fit(self, X: Any, y: Any, *, first: bool) -> None:
        self.estimator.partial_fit(X.values, y.values, sid=y.query, classes=self.classes if first else None)

    def predict(self, X: Any) -> NDArray:
        return self.estimator.predict(X.values, sid=X.query)

    def scores(self, X: Any) -> NDArray:
        return self.estimator.decision_function(X.values, sid=X.query)

    def test(self, X: Any, y: Any) -> NDArray:
        predicted = self.predict(X)
        self.result.count(predicted == y.values)
        self.result.count_chunks(predicted, y)
        self.result.count_sequences(losses_of_sequences(self.estimator.loss, self.estimator.classes_, predicted, y))
        return predicted


class EvaluatedBatchClassifier(EvaluatedModel):
    """This package's classifier by a measure of batches.

    A round is a batch of rows.
    """

    def __init__(self, estimator: Any, classes: NDArray | None, result: ResultRow):
        super().__init__(estimator, classes, result)
        self.loss = batch_loss(estimator.loss)
        if not isinstance(self.loss, SubsetLoss) or isinstance(self.loss, AtK):
            raise ValueError(f"loss={estimator.loss!r} is not of counts alone, by which held-out rows are scored.")

    def test(self, X: Any, y: Any) -> NDArray:
        predicted, classes = self.estimator.predict(X), self.estimator.classes_
        self.result.count_batch(self.loss, encode(predicted, classes), codes_or_wrong(y, predicted, classes))
        return predicted


def codes_or_wrong(y: NDArray, predicted: NDArray, classes: NDArray) -> NDArray:
    """Return the numbers of labels; of unseen ones a wrong number."""
    known = np.isin(y, classes)
    if known.all():
        return encode(y, classes)
    codes = (encode(predicted, classes) + 1) % len(classes)
    codes[known] = encode(y[known], classes)
    return codes


def losses_of_sequences(loss: Any, classes: NDArray, predicted: NDArray, y: GroupedValues) -> NDArray:
    """Return the loss of each sequence under `loss`."""
    return sequence_loss(USUAL[LOSS] if isinstance(loss, str) and loss == AUTO else loss).evaluate(
        codes_or_wrong(y.values, predicted, classes), encode(predicted, classes), y.start, classes
    )


class Comparison:
    """Models compared on the same rows; the first is sklearn_predtron's."""

    def __init__(self, models: Sequence[Any]):
        self.models = models

    @property
    def rounds(self) -> int:
        """Return the number of rounds of the first model."""
        return self.models[0].result.rounds

    @property
    def tested(self) -> int:
        """Return the number of test rows of the first model."""
        return self.models[0].result.tested

    def rejection_reason(self, X: Any) -> str | None:
        """Return why the first model rejects the rows, if it does."""
        return self.models[0].rejection_reason(X)

    def learn(self, X: Any, y: Any, *, progressive: bool = True) -> None:
        """Update all models on the rows in their order."""
        for evaluated in self.models:
            evaluated.learn(X, y, progressive=progressive)

    def test(self, X: Any, y: Any) -> NDArray:
        """Score all models; return the predictions of the first."""
        predictions = [evaluated.test(X, y) for evaluated in self.models]
        return predictions[0]
