"""Tokens as hashed sparse rows of word attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import murmurhash3_32

from sklearn_predtron._support.compat import as_configured
from sklearn_predtron._support.queries import SID, Queries, sequences_of, shortened

MOST_FEATURES = 2**31 - 1
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: its multiples are far from each other
WINDOW = range(-2, 3)
ENDS = "first", "last"  # the names of the ends of sequences in features
FUNCTION = re.compile(r"(lower|shape|prefix[1-9]|suffix[1-9])")


class TemplateItem(NamedTuple):
    """A template item: column, offset and attribute."""

    column: Any
    function: str  # "" is the value itself
    offset: int


def token_features(
    tokens: Any, sid: Any = None, *, template: Any = None, n_features: int = 2**20
) -> sparse.csr_matrix | sparse.csr_array:
    """Make a hashed sparse row for each token.

    It has a 1 for each item of a template.

    An item is an attribute of a token at an offset, or a combination of several: a word, its suffix, its shape, or the previous
    word with the word itself.  Equal items have the same feature in any call and on any machine, so that streams need no
    vocabulary.  With 2^20 features, few items of a corpus collide (Weinberger et al. 2009).  Attributes are computed once for
    each distinct word.

    Parameters
    ----------
    tokens : list of str, array-like of shape (n_tokens, n_columns) or data frame
        Words; or several columns of text, such as words and parts of speech.  A data frame may have a column "sid".
    sid : array-like of shape (n_tokens,), default=None
        The sequence of each token, in any order; None and "one" are one sequence.  No offset leads out of a sequence.
    template : list of tuples, default=None
        Items: tuples of pairs of an attribute and an offset, such as ``(("0", -1), ("0", 0))`` for two adjacent words.  An
        attribute is a column's number or name, as a string.  It may end in ":lower", ":shape" ("Xx" for "Ada", "d" for digits,
        each run of a kind once), ":prefix3" or ":suffix2" (of 1 to 9 letters), as in ``(("0:suffix3", 0),)``.  None: the values
        of all columns at offsets from -2 to 2 and their pairs at (-1, 0) and (0, 1), as usual in templates for CRFsuite and
        CRF++.  For the first column there are also its lower case, its prefixes and suffixes of 1 to 3 letters, and its shapes at
        offsets from -1 to 1.
    n_features : int, default=2**20
        Number of columns of the result.

    Returns
    -------
    csr_matrix of shape (n_tokens, n_features)
        Rows with the features of the items, sorted, of dtype float64.  Items that reach beyond the sequence are left out; its
        first and its last token have a feature each that marks them.

    Raises
    ------
    ValueError
        If an argument is invalid; the message has its name and value.

    See Also
    --------
    read_conll : Reads such tokens.
    window : Adds the features of neighbours to rows of numbers.
    sklearn.feature_extraction.FeatureHasher : Hashes dicts.

    Examples
    --------
    >>> from sklearn_predtron.datasets import token_features
    >>> X = token_features(["Ada", "sees", "Ada"], template=[(("0", 0),), (("0:suffix1", -1), ("0", 0))])
    >>> X.shape, X.sum(axis=1).ravel().tolist()  # the word; the letter before it with it; the ends
    ((3, 1048576), [[2.0, 2.0, 3.0]])
    """
    if not isinstance(n_features, Integral) or isinstance(n_features, bool) or not 1 <= n_features <= MOST_FEATURES:
        raise ValueError(f"n_features={n_features!r} must be a whole number from 1 to {MOST_FEATURES}.")
    columns, sid = token_columns(tokens, sid)
    n = len(next(iter(columns.values())))
    sequences = sequences_of(sid, n, "tokens")
    items = list(read_template(usual_template(list(columns)) if template is None else template, columns))
    read = {name: TextColumn(columns[name]) for name in {item.column for used in items for item in used}}
    values = {what: read[what[0]].hashes(*what) for what in {item[:2] for used in items for item in used}}
    before, after = room_around(sequences)
    found = [hash_of(name) for name in ENDS]
    ends = zip(found, (before == 0, after == 0), strict=True)
    parts = (hashed_item(used, values, sequences, before, after) for used in items)
    return as_configured(token_rows(chain(parts, ends), len(items) + len(ENDS), sequences, n, int(n_features)))


def token_columns(tokens: Any, sid: Any) -> tuple[dict[str, list[str]], Any]:
    """Return text columns by name, and the tokens' sequences."""
    found: dict[str, list[Any]]
    if hasattr(tokens, "columns") and hasattr(tokens, "__getitem__"):
        found = {str(name): list(tokens[name]) for name in tokens.columns}
        own = found.pop(SID.name, None)
        sid = own if sid is None else sid
    else:
        table = np.asarray(tokens, dtype=object)
        if table.ndim not in (1, 2) or table.size == 0:
            raise ValueError(
                f"tokens={shortened(tokens)} are no words, nor a table of text with a row a token; datasets.stack_sequences "
                "makes one list of sentences."
            )
        table = table.reshape(len(table), -1)
        found = {str(j): table[:, j].tolist() for j in range(table.shape[1])}
    for name, values in found.items():
        for strange in (value for value in values if not isinstance(value, str)):
            advice = (
                "; datasets.stack_sequences makes one list of a list of sentences" if isinstance(strange, (list, tuple)) else ""
            )
            raise ValueError(f"tokens have {strange!r} in column {name!r}; accepted is text{advice}.")
    if not found or not next(iter(found.values())):
        raise ValueError(f"tokens={shortened(tokens)} have no column of text, or no rows.")
    return found, sid


def usual_template(columns: list[str]) -> list[Any]:
    """Return the default template for these columns."""
    word = columns[0]
    items: list[Any] = []
    for column in columns:
        items += [((column, offset),) for offset in WINDOW]
        items += [((column, offset), (column, offset + 1)) for offset in (-1, 0)]
    items += [((f"{word}:lower", 0),), *[((f"{word}:shape", offset),) for offset in (-1, 0, 1)]]
    return items + [((f"{word}:{affix}{length}", 0),) for affix in ("prefix", "suffix") for length in (1, 2, 3)]


def read_template(template: Any, columns: dict[str, list[str]]) -> Iterator[tuple[TemplateItem, ...]]:
    """Yield the items of a template, checked."""
    if isinstance(template, str) or not isinstance(template, Iterable):
        raise ValueError(f"template={shortened(template)} is no list of items, each of pairs of an attribute and an offset.")
    given = list(template)
    if not given:
        raise ValueError("template=[] has no items.")
    for used in given:
        try:
            pairs = [(attribute, offset) for attribute, offset in used]
            good = len(pairs) > 0 and all(isinstance(a, str) and isinstance(o, Integral) for a, o in pairs)
        except (TypeError, ValueError):
            good = False
        if not good:
            raise ValueError(f"template has {shortened(used)}; accepted are tuples of pairs, such as (('0', -1), ('0', 0)).")
        yield tuple(read_attribute(attribute, int(offset), columns) for attribute, offset in pairs)


def read_attribute(attribute: str, offset: int, columns: dict[str, list[str]]) -> TemplateItem:
    """Return the column and the attribute's function."""
    column, _, function = attribute.partition(":") if attribute not in columns else (attribute, "", "")
    if column not in columns or (function and not FUNCTION.fullmatch(function)) or attribute.endswith(":"):
        raise ValueError(
            f"template has the attribute {attribute!r}; accepted are the columns {', '.join(map(repr, columns))}, and one of "
            "them with :lower, :shape, :prefixN or :suffixN for N from 1 to 9."
        )
    return TemplateItem(column, function, offset)


def made_by(function: str) -> Callable[[str], str]:
    """Return the function that computes an attribute of a value."""
    if function == "":
        return str
    if function == "lower":
        return str.lower
    if function == "shape":
        return shape_of
    length = int(function[-1])
    return (lambda value: value[:length]) if function.startswith("prefix") else (lambda value: value[-length:])


def shape_of(value: str) -> str:
    """Return the runs of letter kinds in a text."""
    kinds = ("X" if letter.isupper() else "x" if letter.isalpha() else "d" if letter.isdigit() else letter for letter in value)
    return "".join(kind for kind, before in with_before(kinds) if kind != before)


def with_before(values: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each value with the one before it."""
    before = ""
    for value in values:
        yield value, before
        before = value


class TextColumn:
    """A text column: distinct values, and their numbers.

    Parameters
    ----------
    values : list of str
        The column.
    """

    def __init__(self, values: list[str]):
        number: dict[str, int] = {}
        self.codes = np.array([number.setdefault(value, len(number)) for value in values], dtype=np.intp)
        self.different = list(number)

    def hashes(self, name: str, function: str) -> NDArray:
        """Return an attribute's hash for each distinct value."""
        make = made_by(function)
        return np.array([hash_of(f"{name}:{function}={make(value)}") for value in self.different], dtype=np.uint64)[self.codes]


def hash_of(text: str) -> np.uint64:
    """Return a 64-bit hash of a text."""
    high, low = (murmurhash3_32(text, seed=seed, positive=True) for seed in (0, 1))
    return np.uint64((int(high) << 32) | int(low))


def room_around(sequences: Queries) -> tuple[NDArray, NDArray]:
    """Return the tokens before and after each token."""
    sizes = np.diff(sequences.start)
    before = np.arange(sequences.start[-1]) - np.repeat(sequences.start[:-1], sizes)
    return before, np.repeat(sizes, sizes) - 1 - before


def hashed_item(
    used: tuple[TemplateItem, ...], values: dict[Any, NDArray], sequences: Queries, before: NDArray, after: NDArray
) -> tuple[NDArray, NDArray]:
    """Return the hashes of an item, where inside the sequence."""
    n = len(before)
    found, there = np.zeros(n, dtype=np.uint64), np.ones(n, dtype=bool)
    for item in used:
        moved = np.clip(np.arange(n) + item.offset, 0, n - 1)
        there &= (before >= -item.offset) & (after >= item.offset)
        of_item = sequences.take(values[item[:2]])[moved] + hash_of(str(item.offset))
        found = (found ^ (found >> np.uint64(29))) * MULTIPLIER + of_item
    return found, there


def token_rows(
    parts: Iterable[tuple[Any, NDArray]], width: int, sequences: Queries, n: int, n_features: int
) -> sparse.csr_matrix:
    """Return the sparse rows of tokens in their order."""
    columns, there = np.empty((width, n), dtype=np.int32), np.empty((width, n), dtype=bool)
    for j, (found, places) in enumerate(parts):
        mixed = (found ^ (found >> np.uint64(31))) * np.array(MULTIPLIER)
        columns[j] = sequences.put_back(np.broadcast_to((mixed ^ (mixed >> np.uint64(32))) % np.uint64(n_features), n))
        there[j] = sequences.put_back(places)
    columns, there = np.ascontiguousarray(columns.T), np.ascontiguousarray(there.T)
    start = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    index = np.int32 if start[-1] <= MOST_FEATURES else np.int64
    X = sparse.csr_matrix((np.ones(start[-1]), columns[there].astype(index), start.astype(index)), shape=(n, n_features))
    X.sum_duplicates()
    X.data[:] = 1.0  # of items that share a feature
    return X
