"""CRFsuite's learners, through python-crfsuite (optional)."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.contestants.taggers import TaggingContestant


class CRFsuite(TaggingContestant):
    """Its sequences are objects of its own: the names of the features that are there, for their values are ones."""

    module = "pycrfsuite"

    def __init__(self, name: str = "CRFsuite ap", algorithm: str = "averaged-perceptron"):
        self.name, self.algorithm = name, algorithm

    def convert(self, X: sparse.csr_matrix, sid: NDArray) -> list:
        return list(self.sequences(X, sid))

    def sequences(self, X: sparse.csr_matrix, sid: NDArray) -> Iterator:
        """Sequence by sequence."""
        from pycrfsuite import ItemSequence

        edges = [0, *(np.flatnonzero(np.diff(sid)) + 1).tolist(), len(sid)]
        for first, last in pairwise(edges):
            yield ItemSequence(names(X, first, last))

    def load_one_by_one(self, X: sparse.csr_matrix, y: NDArray, sid: NDArray) -> Any:
        return self.load(self.sequences(X, sid), y)

    def load(self, sequences: Iterable, y: NDArray) -> Any:
        from pycrfsuite import Trainer

        trainer, labels = Trainer(algorithm=self.algorithm, verbose=False), y.tolist()
        first = 0
        for sequence in sequences:
            trainer.append(sequence, labels[first : first + len(sequence)])
            first += len(sequence)
        return trainer

    def learn(self, loaded: Any, epochs: int | None) -> Any:
        from pycrfsuite import Tagger

        if epochs is not None:
            loaded.set("max_iterations", epochs)
        model = Tagger()
        with TemporaryDirectory() as folder:
            loaded.train(str(Path(folder) / "model"))
            model.open(str(Path(folder) / "model"))
        return model

    def tag(self, model: Any, sequences: list) -> NDArray:
        labels = []
        for sequence in sequences:
            model.set(sequence)
            labels += model.tag()
        return np.array(labels)

    def log_loss(self, model: Any, sequences: list, y: NDArray) -> float | None:
        if self.algorithm != "lbfgs":
            return None  # of the others marginals are not meant to be probabilities
        found, labels = [], iter(y.tolist())
        for sequence in sequences:
            model.set(sequence)
            found += [model.marginal(next(labels), t) for t in range(len(sequence))]
        return float(-np.log(found).mean())


def names(X: sparse.csr_matrix, first: int, last: int) -> list[list[str]]:
    """The features of some tokens, and one that all have: it is the offset of their scores."""
    start = X.indptr[first : last + 1].tolist()
    columns = [str(column) for column in X.indices[start[0] : start[-1]].tolist()]
    return [["bias", *columns[a - start[0] : b - start[0]]] for a, b in pairwise(start)]
