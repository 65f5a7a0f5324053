"""The reader of sequences of tokens."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from sklearn_predtron._support.parts import resolve
from sklearn_predtron._support.queries import SID, Queries, weights_of_sequences
from sklearn_predtron.families.input.reading import BlockReader, LabelsOf, TrainingInput
from sklearn_predtron.families.labels.tokens import INTERCEPT, OF_ONES, USUAL, Tokens
from sklearn_predtron.families.labels.transitions import (
    allowed_transitions,
    check_labels_allowed,
    check_transitions,
    observed_transitions,
)
from sklearn_predtron.norms import Norm, Scaled
from sklearn_predtron.problems._chain import TokenCodes


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
    """

    def __init__(self, name: str, constraint: Any, automatic: tuple[str, ...], norm: Any):
        super().__init__(name, SID, TokenCodes)
        self.automatic, self.norm = automatic, norm
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

    def short(self, codec: Any) -> Any:
        """Return the fast path's reader, or None; None for constraint="observed", for which partial_fit raises an error."""
        return None if self.observed else codec.short()
