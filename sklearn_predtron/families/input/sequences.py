"""The reader of sequences of tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.rows import QueryRows
from sklearn_predtron._support.parts import resolve
from sklearn_predtron._support.queries import SID, Queries, weights_of_sequences
from sklearn_predtron._support.warning import warn
from sklearn_predtron.families.input.reading import Batch, BlockReader, LabelsOf, ResamplingUnits, TrainingInput
from sklearn_predtron.families.labels.tokens import INTERCEPT, LONGEST, OF_ONES, USUAL, Tokens
from sklearn_predtron.families.labels.transitions import (
    allowed_transitions,
    check_labels_allowed,
    check_transitions,
    observed_transitions,
)
from sklearn_predtron.norms import Norm, Scaled
from sklearn_predtron.problems._chain import TokenCodes

PART = 50  # tokens of a part of a longer sequence, about


class SequenceReader(BlockReader):
    """Reads sequences of tokens under a constraint on neighbouring labels.

    Parameters
    ----------
    name : str
        The estimator's name in errors.
    constraint : object
        The parameter of the tagger.
    automatic : tuple of str
        The parameters of the tagger that are "auto".
    norm : object
        The parameter of the tagger.
    allowed : ndarray or None
        The allowed transitions of the fitted model, if any; a call that reads labels replaces them.
    """

    def __init__(self, name: str, constraint: Any, automatic: tuple[str, ...], norm: Any, allowed: NDArray | None):
        super().__init__(name, SID, TokenCodes)
        self.automatic, self.norm, self.allowed = automatic, norm, allowed
        self.constraint, self.observed = constraint, isinstance(constraint, str) and constraint == "observed"

    def weighed(self, ids: Any, weight: NDArray) -> tuple[Queries, NDArray]:
        """Return the sequences with positive weight, and their weights; a sequence has the weight of its tokens."""
        weights_of_sequences(self.blocks(ids, len(weight)), weight)
        return super().weighed(ids, weight)

    def gathered(self, X: Any, y: Any, labels_of: LabelsOf, known: Any, *given: Any, **how: Any) -> tuple[Queries, TrainingInput]:
        """Return the sequences and the input of a call; raise ValueError for a bad constraint or forbidden labels."""
        sequences, reading = super().gathered(X, y, labels_of, known, *given, **how)
        codec: Any = reading.labels
        labels: Any = reading.batch.labels
        classes = codec.classes
        if self.observed and how["partial"]:
            raise ValueError("constraint='observed' is not for partial_fit, which sees a part of the data; pass an array.")
        observed = observed_transitions(labels, len(classes)) if self.observed else None
        allowed = allowed_transitions(self.constraint, classes, observed)
        if allowed is not None and allowed is not observed:
            check_transitions(allowed, classes, self.constraint)
            check_labels_allowed(labels, sequences, allowed, classes, self.constraint)
        self.allowed = allowed
        return sequences, reading._replace(labels=Tokens(classes, allowed, self.chosen(reading, known)))

    def chosen(self, reading: TrainingInput, known: Any) -> dict[str, Any]:
        """Return the values of "auto" parameters.

        They are those of the known model, or defaults that depend on the norm.
        """
        if known is not None:
            return known.labels.chosen
        as_they_are = reading.batch.rows.sparse or reading.columns.features is not None
        norm = resolve(Norm, self.norm, "norm").for_rows(sparse=as_they_are)  # not that of the present weights
        usual = USUAL if isinstance(norm, Scaled) or INTERCEPT not in self.automatic else {**USUAL, **OF_ONES}
        return {name: usual[name] for name in self.automatic}

    def labelled(self, X: Any, y: Any, model: Any, *ids: Any) -> tuple[Any, TokenCodes]:
        """Return finite tokens and labels, round by round."""
        X, labels = super().labelled(X, y, model, *ids)
        return X, self.in_rounds(labels)

    def in_rounds(self, labels: Any) -> TokenCodes:
        """Return the labels of rounds: sequences, and the parts of long ones."""
        return TokenCodes(labels.array, starts_of_rounds(labels, self.allowed))

    def units(self, batch: Batch, codec: Any) -> ResamplingUnits:
        """Return the units that a fit can hold out: whole sequences, of one or several rounds."""
        return super().units(batch, codec)._replace(in_epoch=len(starts_of_rounds(batch.labels, self.allowed)) - 1)

    def epochs(self, epochs: Any, *, whole: bool) -> Any:
        """Return epochs in which the parts of long sequences are drawn one by one."""
        batch = in_parts(epochs.batch, self.allowed)
        return epochs if batch is epochs.batch else type(epochs)(batch, epochs.random)

    def rounds(self, batch: Batch) -> Batch:
        """Return the rounds of a stream, in which long sequences are parts; warn of them."""
        warn_of_long_sequences(batch.labels)
        return in_parts(batch, self.allowed)

    def warn_of_rounds(self, reading: TrainingInput) -> None:
        """Warn of long sequences."""
        warn_of_long_sequences(reading.batch.labels)

    def short(self, codec: Any) -> Any:
        """Return the fast path's reader, or None; None for constraint="observed", for which partial_fit raises an error."""
        return None if self.observed else codec.short()


def starts_of_rounds(labels: Any, allowed: NDArray | None) -> NDArray:
    """Return the first tokens of the rounds, and the number of tokens.

    A round is a sequence, or a part of a long one; a part begins with a label that may be the first of a sequence.
    """
    start = labels.starts
    cuts = [start]
    for i in np.flatnonzero(np.diff(start) > LONGEST):
        n = start[i + 1] - start[i]
        cuts.append(np.linspace(start[i], start[i + 1], -(-n // PART), endpoint=False).astype(np.intp))
    if len(cuts) == 1:
        return start
    found = np.concatenate(cuts)
    if allowed is not None:
        first = np.append(np.flatnonzero(allowed[-1, labels.array]), start[-1])
        found = first[np.searchsorted(first, found)]
    return np.unique(found)


def in_parts(batch: Batch, allowed: NDArray | None) -> Batch:
    """Return a batch in which long sequences are several rounds; the batch itself without such sequences."""
    labels: Any = batch.labels
    rows: Any = batch.rows
    starts = starts_of_rounds(labels, allowed)
    if len(starts) == len(labels.starts):
        return batch
    first = np.searchsorted(starts, labels.starts)
    weight = None if batch.weight is None else np.repeat(batch.weight, np.diff(first))
    order = batch.order
    if order is not None:
        order = np.concatenate([np.arange(first[i], first[i + 1]) for i in order])
    tokens = rows.another(batch.X if rows.row_numbers is None else batch.X[np.asarray(rows.row_numbers)])
    parts = QueryRows(tokens, starts, rows.row_numbers, rows.given)
    return batch._replace(rows=parts, labels=TokenCodes(labels.array, starts), weight=weight, order=order)


def warn_of_long_sequences(labels: Any) -> None:
    """Warn of sequences that are trained in parts."""
    sizes = np.diff(labels.starts)
    long = int(np.sum(sizes > LONGEST))
    if long:
        warn(
            f"sid: {long:,} of {len(sizes):,} sequences have more than {LONGEST} tokens, the longest {sizes.max():,}; they are "
            f"trained in parts of about {PART} tokens, because a sequence is one update.  If they should be shorter, check sid, "
            "or the blank lines of the file."
        )
