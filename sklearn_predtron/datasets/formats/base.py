"""Chunks of rows, what is known of a file's rows, and the protocol of the formats."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.datasets.formats.files import DataFile, Progress

CHUNK_ROWS, CHUNK_BYTES = 10_000, 8 * 2**20
MAX_CLASSES = 10_000  # that a first pass finds


class ChunkLimits(NamedTuple):
    """The largest number of rows and bytes in a chunk."""

    chunk_rows: int = CHUNK_ROWS
    chunk_bytes: int = CHUNK_BYTES


class Head(NamedTuple):
    """The first row of a file: whether it is there, its label, and whether it has an id."""

    is_there: bool = False
    label: bytes | None = None
    has_id: bool = False


@dataclass(frozen=True)
class RowSchema:
    """What is known of the rows of files before they are read.

    Parameters
    ----------
    n_features : int or None
        Number of columns of X; None if each chunk is as wide as its rows.
    classes : ndarray or None
        The sorted labels; None for rankings, and if labels are open.
    n_rows : int or None, default=None
        Number of rows, if a first pass has read them all.
    feature_names : list of str or None, default=None
        Names of the columns of X, if the file has some.

    See Also
    --------
    open_rows : Opens the files.

    Examples
    --------
    >>> from sklearn_predtron.datasets import RowSchema
    >>> RowSchema(4, None).n_features
    4
    """

    n_features: int | None
    classes: Any
    n_rows: int | None = None
    feature_names: list[str] | None = None


@dataclass(frozen=True)
class RowChunk:
    """Rows that were read together.

    The rounds of training are rows or, with `groups`, whole queries or sequences.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
        The rows.
    y : ndarray of shape (n,), CSR matrix of shape (n, n_classes), or None
        Their labels; None if the file has none.
    place : str
        The file and line where the chunk begins, for messages.
    groups : ndarray of shape (n,) or None, default=None
        The number of each row's query or sequence in the chunk.
    sample_weight : ndarray of shape (n,) or None, default=None
        Weights of the rows; None: all are 1.
    costs : dict or None, default=None
        Costs of the rows by pair ``(true, predicted)``, an ndarray of shape (n,) each.
    ids : list of str or None, default=None
        The cells of the column `id`.
    fraction : float or None, default=None
        The share of the file that has been read, if its size is known.
    gaps : ndarray of int or None, default=None
        Of files of tokens: the number of lines without a token before the first sequence, and after each one.

    See Also
    --------
    open_rows : Yields chunks.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron.datasets import RowChunk
    >>> chunk = RowChunk(np.eye(3), np.array([0, 1, 1]), "rows", groups=np.array([0, 0, 1]))
    >>> len(chunk), chunk.take([1]).y
    (2, array([1]))
    """

    X: Any
    y: Any
    place: str
    groups: NDArray | None = None
    sample_weight: NDArray | None = None
    costs: dict[tuple[Any, Any], NDArray] | None = None
    ids: list[str] | None = None
    fraction: float | None = None
    gaps: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0]) if self.groups is None else len(self.starts) - 1

    @property
    def starts(self) -> NDArray[np.intp]:
        """The first row of each round, and the number of rows."""
        n = self.X.shape[0]
        if self.groups is None or n == 0:
            return np.arange(n + 1)
        return np.concatenate([[0], np.flatnonzero(np.diff(self.groups)) + 1, [n]]).astype(np.intp)

    def take(self, rounds: Any) -> RowChunk:
        """Return the given rounds, in their order.

        Parameters
        ----------
        rounds : ndarray or list of int
            Numbers of rounds.

        Returns
        -------
        RowChunk
            The chunk of these rounds.
        """
        rows, groups = np.asarray(rounds, dtype=np.intp), None
        if self.groups is not None:
            first, length = self.starts[:-1][rows], np.diff(self.starts)[rows]
            ends = np.cumsum(length)
            groups = np.repeat(np.arange(len(length)), length)
            rows = np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - ends + length, length)
        return replace(
            self,
            X=self.X[rows],
            y=None if self.y is None else self.y[rows],
            groups=groups,
            sample_weight=None if self.sample_weight is None else self.sample_weight[rows],
            costs=None if self.costs is None else {pair: cost[rows] for pair, cost in self.costs.items()},
            ids=None if self.ids is None else [self.ids[i] for i in rows],
            gaps=None if self.gaps is None else (np.arange(len(rounds) + 1) > 0).astype(np.intp),
        )

    @property
    def given(self) -> dict[str, Any]:
        """The weights and costs, as arguments of `partial_fit`."""
        return {name: value for name in ("sample_weight", "costs") if (value := getattr(self, name)) is not None}


def group_numbers(ids: NDArray) -> NDArray[np.intp]:
    """Return the number of each row's group; an id that returns is a new group."""
    return np.concatenate([[0], np.cumsum(ids[1:] != ids[:-1])]).astype(np.intp) if len(ids) else np.empty(0, np.intp)


class RowFormat(ABC):
    """Base of the formats: how the rows of files are found and read."""

    name: ClassVar[str]
    chunk_rows: int
    chunk_bytes: int
    of_tables: ClassVar[bool] = False  # whether feature maps are made of its columns
    ignores_labels = False  # whether rows with labels are read as rows without; not in svmlight

    @classmethod
    @abstractmethod
    def from_options(cls, how: Any, limits: ChunkLimits, classes: Any, like: Any, state: Mapping[str, Any] | None) -> RowFormat:
        """Return the reader of files with these parameters of their format.

        `classes` are the labels that may occur, if they are known.  `like` is a model that was trained on such files, and
        `state` what it has of them; both are None for other files.
        """

    @abstractmethod
    def sniff(self, file: DataFile) -> Head:
        """Return the first row of a file, and record whether its rows have labels."""

    @abstractmethod
    def schema(self, files: Sequence[DataFile], classes: Any, progress: Progress) -> RowSchema:
        """Return the schema of the rows, from a first pass if necessary.

        `classes` are the labels that may occur; None if they are unknown.
        """

    @abstractmethod
    def chunks(self, file: DataFile, schema: RowSchema, *, learned: bool) -> Iterator[RowChunk]:
        """Yield the rows of a file in chunks; if they are not learned, other labels than the classes may occur."""

    @abstractmethod
    def attributes(self, schema: RowSchema) -> dict[str, Any]:
        """Return the attributes of a model that say how its files are read."""


def names_of(files: Sequence[DataFile]) -> str:
    """Return the files as messages name them."""
    return "path=" + ", ".join(repr(file.path) for file in files)
