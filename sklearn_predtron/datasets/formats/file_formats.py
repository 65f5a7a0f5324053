"""The formats of files, with their parameters."""

from __future__ import annotations

import os
from abc import ABC
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar

import numpy as np

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.datasets._counts import check_counts


@dataclass(frozen=True, kw_only=True, repr=False)
class FileFormat(ABC):
    """Base of the formats of files."""

    name: ClassVar[str]

    def __post_init__(self) -> None:
        for option, check in CHECKS.items():
            if option in self.options():
                check(getattr(self, option))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.given.items())})"

    @classmethod
    def options(cls) -> list[str]:
        """Return the names of the parameters."""
        return [one.name for one in fields(cls)]

    @property
    def given(self) -> dict[str, Any]:
        """The parameters that are not the defaults."""
        values = {one.name: (getattr(self, one.name), one.default) for one in fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default}


@dataclass(frozen=True, kw_only=True, repr=False)
class Csv(FileFormat):
    """Tables as text, such as ``.csv`` and ``.tsv`` files.

    Parameters
    ----------
    label : str, default=None
        The column of the labels: its name, its number from 1 if columns have no names, "first" or "last".  None: the last one.
    drop : sequence of str, default=()
        Columns that are no features, by name or number.
    id : str, default=None
        A column that is no feature; the chunks have its cells.
    costs : dict, default=None
        Columns with the costs of each row by pair ``(true, predicted)``.
    numbers_only : bool, default=False
        Whether text and missing cells raise an error.  False: columns of text are categories, and X has dtype object if there
        are any; text among numbers is missing (NaN).
    skip_unlabelled : bool, default=False
        Whether rows without a label, among others that have one, are left out with a warning.
    header : bool, default=None
        Whether the first line names the columns.  None: if it has no number, or text where the second line has a number.
    sep : str, default=None
        The character between columns.  None: a tab, comma or semicolon, by the first line.
    encoding : str, default="utf-8"
        The encoding of the text.

    See Also
    --------
    open_rows : Opens files of a format.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn_predtron.datasets import Csv, open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "customers")
    ...     with open(path, "w") as file:
    ...         print("number;churned;calls", "1;yes;3", "2;no;0", sep="\\n", file=file)
    ...     rows = open_rows(path, format=Csv(label="churned", drop=["number"]))
    ...     print([(chunk.X.tolist(), chunk.y.tolist()) for chunk in rows])
    [([[3.0], [0.0]], ['yes', 'no'])]
    """

    name = "csv"
    label: str | None = None
    drop: Sequence[str] = ()
    id: str | None = None
    costs: Mapping[tuple[Any, Any], str] | None = None
    numbers_only: bool = False
    skip_unlabelled: bool = False
    header: bool | None = None
    sep: str | None = None
    encoding: str = "utf-8"


@dataclass(frozen=True, kw_only=True, repr=False)
class JsonLines(FileFormat):
    """JSON objects, one per line, such as ``.jsonl`` and ``.ndjson`` files.

    Members are features by name, which are hashed to columns.

    Parameters
    ----------
    label : str, default=None
        The name of the label.  None: "label".
    costs : dict, default=None
        Names of the members with the costs of each row by pair ``(true, predicted)``.
    n_features : int, default=None
        Number of columns that names are hashed to.  None: 2**18.
    skip_unlabelled : bool, default=False
        Whether rows without a label, among others that have one, are left out with a warning.
    encoding : str, default="utf-8"
        The encoding of the text.

    See Also
    --------
    open_rows : Opens files of a format.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn_predtron.datasets import JsonLines, open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "mails.jsonl")
    ...     with open(path, "w") as file:
    ...         print('{"kind": "spam", "links": 3}', '{"kind": "ham", "from": "Ada"}', sep="\\n", file=file)
    ...     rows = open_rows(path, format=JsonLines(label="kind", n_features=16))
    ...     print([(chunk.X.shape, chunk.y.tolist()) for chunk in rows])
    [((2, 16), ['spam', 'ham'])]
    """

    name = "json"
    label: str | None = None
    costs: Mapping[tuple[Any, Any], str] | None = None
    n_features: int | None = None
    skip_unlabelled: bool = False
    encoding: str = "utf-8"


@dataclass(frozen=True, kw_only=True, repr=False)
class VowpalWabbit(FileFormat):
    """Lines of Vowpal Wabbit, such as ``.vw`` files.

    Features have names, which are hashed to columns.

    Parameters
    ----------
    n_features : int, default=None
        Number of columns that names are hashed to.  None: 2**18.
    skip_unlabelled : bool, default=False
        Whether rows without a label, among others that have one, are left out with a warning.
    encoding : str, default="utf-8"
        The encoding of the text.

    See Also
    --------
    open_rows : Opens files of a format.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn_predtron.datasets import VowpalWabbit, open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "rows.vw")
    ...     with open(path, "w") as file:
    ...         print("1 2.0 |shop price:3 red", "-1 |shop price:5", sep="\\n", file=file)
    ...     rows = open_rows(path, format=VowpalWabbit(n_features=16))
    ...     print([(chunk.X.shape, chunk.y.tolist(), chunk.sample_weight.tolist()) for chunk in rows])
    [((2, 16), [1.0, -1.0], [2.0, 1.0])]
    """

    name = "vw"
    n_features: int | None = None
    skip_unlabelled: bool = False
    encoding: str = "utf-8"


@dataclass(frozen=True, kw_only=True, repr=False)
class Conll(FileFormat):
    """Tokens in columns with empty lines between sequences, such as ``.conll`` files.

    Parameters
    ----------
    label : str, default=None
        The column of the labels: its number from 1, "first" or "last".  None: the last one.
    template : list or path, default=None
        Features of the tokens, as in `token_features`, or a file in the format of CRF++.
    n_features : int, default=None
        Number of columns that features are hashed to.  None: 2**20.
    comment : str, default="auto"
        How comments begin, as in `read_conll`.
    sep : str, default=None
        The text between columns.  None: white space.
    encoding : str, default="utf-8"
        The encoding of the text.

    See Also
    --------
    open_rows : Opens files of a format.
    read_conll : Reads a file as a whole.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn_predtron.datasets import Conll, open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tokens.txt")
    ...     with open(path, "w") as file:
    ...         print("NAME Ada", "VERB sees", "", "NAME Bo", sep="\\n", file=file)
    ...     rows = open_rows(path, format=Conll(label="first", n_features=16))
    ...     print([(chunk.X.shape, chunk.y.tolist(), chunk.groups.tolist()) for chunk in rows])
    [((3, 16), ['NAME', 'VERB', 'NAME'], [0, 0, 1])]
    """

    name = "conll"
    label: str | None = None
    template: str | os.PathLike[str] | list[tuple[tuple[str, int], ...]] | None = None
    n_features: int | None = None
    comment: str | None = "auto"
    sep: str | None = None
    encoding: str = "utf-8"


@dataclass(frozen=True, kw_only=True, repr=False)
class Svmlight(FileFormat):
    """Rows of indices and values in svmlight format.

    Parameters
    ----------
    n_features : int, default=None
        Number of columns of X.  None: a first pass finds it.
    multilabel : bool, default=False
        Whether a row has any number of labels, with commas between them.
    query_id, sequence_id : bool, default=False
        Whether rows are documents of queries, or tokens of sequences, by ``qid:``.
    zero_based : bool, default=None
        Whether indices count from 0.  None: if the index 0 occurs; from 1 if there is no first pass.
    grow : bool, default=False
        Whether files are read without a first pass: chunks are as wide as their rows, and any label may occur.

    See Also
    --------
    open_rows : Opens files of a format.
    SvmlightReader : Reads svmlight with labels that are numbers.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn_predtron.datasets import Svmlight, open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "queries")
    ...     with open(path, "w") as file:
    ...         print("2 qid:7 1:0.5", "0 qid:7 2:1", "1 qid:9 1:2", sep="\\n", file=file)
    ...     rows = open_rows(path, format=Svmlight(query_id=True))
    ...     print([(chunk.X.shape, chunk.y.tolist(), chunk.groups.tolist()) for chunk in rows])
    [((3, 2), [2.0, 0.0, 1.0], [0, 0, 1])]
    """

    name = "svmlight"
    n_features: int | None = None
    multilabel: bool = False
    query_id: bool = False
    sequence_id: bool = False
    zero_based: bool | None = None
    grow: bool = False


def check_drop(drop: Any) -> None:
    """Raise ValueError unless the columns are in a sequence."""
    if isinstance(drop, str) or not isinstance(drop, Collection) or not all(isinstance(column, str) for column in drop):
        raise ValueError(f"drop={shortened(drop)} is not accepted; accepted are sequences of columns, each as text")


def check_costs(costs: Any) -> None:
    """Raise ValueError unless the columns have pairs of labels."""
    if costs is not None and not (
        isinstance(costs, Mapping)
        and all(isinstance(pair, tuple) and len(pair) == 2 for pair in costs)
        and all(isinstance(column, str) for column in costs.values())
    ):
        raise ValueError(f"costs={shortened(costs)} is not accepted; accepted are columns by pair (true, predicted)")


def check_encoding(encoding: Any) -> None:
    """Raise ValueError unless Python knows the encoding, and ASCII is ASCII in it."""
    try:
        is_known = "\n,0a".encode(encoding) == b"\n,0a"
    except (LookupError, TypeError, ValueError):
        is_known = False
    if not is_known:
        raise ValueError(f"encoding={encoding!r} is not known; accepted are encodings of Python in which ASCII is ASCII")


def check_width(n_features: Any) -> None:
    """Raise ValueError unless the number of columns is a positive integer, if it is given."""
    check_counts(n_features=1 if n_features is None else n_features)


def check_text(name: str, value: Any) -> None:
    """Raise ValueError unless a parameter is text, or None."""
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name}={shortened(value)} is not accepted; accepted are None and text")


def check_flag(name: str, value: Any, *, optional: bool = False) -> None:
    """Raise ValueError unless a parameter is True or False, or None if it is optional."""
    if not isinstance(value, (bool, np.bool_)) and not (optional and value is None):
        accepted = "True, False and None" if optional else "True and False"
        raise ValueError(f"{name}={shortened(value)} is not accepted; accepted are {accepted}")


TEXTS = ("label", "id", "sep")
FLAGS = ("numbers_only", "skip_unlabelled", "multilabel", "query_id", "sequence_id", "grow")
CHECKS = {"drop": check_drop, "costs": check_costs, "encoding": check_encoding, "n_features": check_width}
CHECKS |= {name: partial(check_text, name) for name in TEXTS} | {name: partial(check_flag, name) for name in FLAGS}
CHECKS["header"] = partial(check_flag, "header", optional=True)
