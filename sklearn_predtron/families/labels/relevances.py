"""Relevances of a row's labels or query's documents."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_predtron._support.dicts import refuse_doubles
from sklearn_predtron._support.queries import read_document_relevances, read_relevances, shortened
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.classes import column_names, refuse_collections
from sklearn_predtron.families.labels.label_readers import QueryReader, RelevanceReader
from sklearn_predtron.problems._relevance import Relevances

OF_EACH_LABEL = (
    "a relevance for each label, of shape (n_samples, n_labels), which sklearn.preprocessing.MultiLabelBinarizer makes of sets"
)


class DocumentRelevances(Codec):
    """Relevances of documents, any number in a query."""

    n_labels = 0  # any number of documents

    def encode(self, y: Any) -> NDArray:
        """Return the relevances of documents."""
        try:
            return read_document_relevances(y)
        except (TypeError, ValueError):
            refuse_collections(y, "one relevance for each document, and its query in qid")
            raise

    def short(self) -> QueryReader:
        """Return the compiled reader of the documents of one query."""
        return QueryReader()


class LabelRelevances(Codec):
    """Relevances of m labels.

    Parameters
    ----------
    n_labels : int
        Number m of labels.
    names : ndarray of shape (m,) or None
        Their names, if they have any.
    representations : tuple of str, default=("log",)
        Representations that `fit` may compare; the first is used until one is chosen.
    """

    def __init__(self, n_labels: int, names: NDArray | None, representations: tuple[str, ...] = ("log",)):
        self.n_labels, self.names, self.representations = n_labels, names, representations

    def check_saved(self, problem: Any) -> None:
        """Raise TypeError if a saved codec is damaged, or of another number of labels than the problem."""
        if self.n_labels != problem.n_labels:
            raise TypeError(f"the labels are {shortened(self.n_labels)}, and {problem.n_labels} are expected")
        if self.names is not None:
            self.check_array(self.names, self.n_labels, "names")

    def choices(self) -> tuple[Codec, ...]:
        """Return a codec for each representation."""
        return tuple(LabelRelevances(self.n_labels, self.names, (one,)) for one in self.representations)

    @cached_property
    def _reader(self) -> ListReader:
        return ListReader(self.n_labels)

    def encode(self, y: Any) -> Relevances:
        """Return the relevances of rows; raise ValueError for another number or other names of labels."""
        names = column_names(y)
        labels = self._reader.labels(y)
        if names is not None and not np.array_equal(names, names if self.names is None else self.names):
            raise ValueError(f"y has the columns {names.tolist()}, and learning began with {self.names.tolist()}.")  # type: ignore[union-attr]
        return labels

    def short(self) -> ListReader:
        """Return the compiled reader of plain labels."""
        return self._reader


class ListReader(RelevanceReader):
    """Reads the relevances of m labels."""

    def __init__(self, m: int):
        super().__init__(m)
        self.n_labels = m

    def read_any(self, y: Any) -> Relevances:
        """Return relevances in any form; raise ValueError for another number of labels."""
        y = relevance_matrix(y)
        if y.shape[1] != self.n_labels:
            raise ValueError(f"y has shape {y.shape}, and learning began with {self.n_labels} label(s).")
        return Relevances(y.ravel(), np.arange(len(y) + 1, dtype=np.intp) * self.n_labels)


def relevance_matrix(y: Any) -> NDArray:
    """Return validated relevances as an array of shape (n_samples, n_labels)."""
    refuse_doubles(y, "y")
    try:
        y = read_relevances(y.toarray() if sparse.issparse(y) else y)
    except (TypeError, ValueError):
        if not is_rectangular(y):
            refuse_collections(y, OF_EACH_LABEL)
        raise
    if y.ndim != 2 or y.shape[1] == 0:
        raise ValueError(f"y must have shape (n_samples, n_labels), a relevance for each label; got shape {y.shape}.")
    return y


def is_rectangular(y: Any) -> bool:
    """Return whether rows have equal lengths; Rows of strings or sets do not count."""
    try:
        return np.asarray(y).ndim == 2 and np.asarray(y).dtype.kind not in "UST"
    except ValueError:  # rows of different lengths
        return False
