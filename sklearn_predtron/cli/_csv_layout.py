"""Tables as text: rows of columns between delimiters."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from sklearn_predtron._support.cells import NEARLY_ALL, Census, Words, is_missing, message_of_words, number_in
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.warning import warn
from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.cli._job import Job
from sklearn_predtron.cli._layout import Record, TextLayout
from sklearn_predtron.cli._one_hot import OneHotBaseline
from sklearn_predtron.cli._text_lines import TextLines
from sklearn_predtron.cli._unseen import counted
from sklearn_predtron.families.input.tables import map_of

FIRST, LAST = "first", "last"
NUMBER, CATEGORY = "number", "category"
MAX_CATEGORIES = 1000  # of a column, for the learner beside


class ColumnPlaces(NamedTuple):
    """The places of label, features and ids in a file."""

    label: int | None
    order: list[int]
    n: int
    id: int | None = None


def numbers_of(cells: list[str]) -> list[float] | None:
    """Return cells as numbers, if all of them clearly are."""
    try:
        found = list(map(float, cells))
    except ValueError:
        return None
    return found if isfinite(sum(found)) and "_" not in "".join(cells) else None


def value_of(cell: str) -> float | str | None:
    """Return a cell as a number, a word, or None (missing)."""
    number = number_in(cell)
    return cell if number is None else None if number != number else number


class CsvLayout(TextLayout):
    """A table as text.

    Parameters
    ----------
    features : str, FeatureMap or None
        The map that makes features of the columns, which decides whether cells may be missing or words.
    label : str or None
        The column of the labels, as the user says it; None is the last one, or the one that a model does not know.
    header : bool or None
        Whether the first line has the names of the columns; None decides by the first two lines.
    names : list of str or None
        The columns of the features by name, if they have names.
    kinds : list of str or None
        Of each whether it holds numbers or categories, if that is known.
    place : int or None
        The column of the labels in files without names, if it is known.
    drop : sequence of str
        Columns that are no features, by name or number.
    id : str or None
        One of them, which stands before each prediction.
    """

    name, of_tables = "csv", True
    place_of_label = "--label names the column of the labels, which is the last one by default"

    def __init__(
        self,
        *,
        features: Any,
        label: str | None,
        header: bool | None,
        names: list[str] | None = None,
        kinds: list[str] | None = None,
        place: int | None = None,
        drop: Sequence[str] = (),
        id: str | None = None,
    ):
        self.label, self.header, self.id = label, header, id
        self.drop = list(dict.fromkeys([*drop, *([] if id is None else [id])]))
        self.with_ids = id is not None
        self.missing, self.words = accepted_cells(features)  # accepted cells besides numbers
        self.names, self.kinds, self.place = names, kinds, place
        self.width = None if kinds is None else len(kinds)
        self._seen: list[dict[str, int]] = []  # of each column, the words that the first pass has seen
        self._census: list[Census] = []  # of each column, as of a data frame's
        self._counted: set[int] = set()  # columns of which the first pass knows that they hold numbers, unless words come
        self._warned: set[str] = set()  # files that have been read

    @classmethod
    def new(cls, job: Job, loaded: Any) -> CsvLayout:
        """Return the layout of new files."""
        options: dict[str, Any] = {"drop": job.drop, "id": job.id}
        if loaded is None:
            return cls(features=job.parameters.get("features"), label=job.label, header=job.header, **options)
        names = getattr(loaded, "feature_names_in_", None)
        known: dict[str, Any] = {"names": None if names is None else names.tolist(), "kinds": [NUMBER] * loaded.n_features_in_}
        return cls(features=loaded.features, label=job.label, header=job.header, **known, **options)

    @classmethod
    def loaded(cls, job: Job, loaded: Any, state: dict[str, Any]) -> CsvLayout:
        """Return the layout that a saved model stores."""
        known = {name: state[name] for name in ("label", "names", "kinds", "place")}
        for name in ("kinds", "names"):
            if name == "kinds" or known[name] is not None:
                check_saved_texts(name, known[name], loaded.n_features_in_)
        drop = state.get("drop", [])
        check_saved_texts("drop", drop, len(drop))
        return cls(features=loaded.features, header=job.header, **known, drop=[*drop, *job.drop], id=job.id)

    def state(self) -> dict[str, Any]:
        known = {"label": self.label, "names": self.names, "kinds": self.kinds, "place": self.place}
        return {"format": self.name, **known, **({"drop": self.drop} if self.drop else {})}

    @property
    def is_known(self) -> bool:
        return self.kinds is not None

    # ------------------------------------------------------------------------------------------------------------ the columns

    def first_row(self, lines: TextLines) -> bool | None:
        begun = self._start(lines)
        if begun is None:
            return None
        labelled = begun[0].label is not None
        filled = (True for _, cells in begun[1] if not labelled or any(cell.strip() for cell in cells))
        return labelled if next(filled, False) else None

    def _start(self, lines: TextLines) -> tuple[ColumnPlaces, Iterator[tuple[int, list[str]]]] | None:
        """Return the columns of a file and its numbered rows.

        None if the file is empty.
        """
        rows = rows_of(lines)
        first = next(rows, None)
        if first is None:
            return None
        line, cells = first[0], [cell.strip() for cell in first[1]]
        named = self._is_known_header(cells)
        if named is None:
            next_ones = list(islice(rows, 1))
            while next_ones and not any(cell.strip() for cell in next_ones[-1][1]) and (more := next(rows, None)) is not None:
                next_ones.append(more)
            named = is_header(cells, next_ones[-1][1] if next_ones else [])
            rows = chain(next_ones, rows)
        places = self._places(
            [cell or f"column {i}" for i, cell in enumerate(cells, 1)] if named else None, len(cells), lines, line
        )
        return places, rows if named else chain([first], rows)

    def _is_known_header(self, cells: list[str]) -> bool | None:
        """Return whether the first row has the names of the columns.

        None if only the second row can tell.
        """
        if self.header is not None:
            return self.header
        if self.place is not None and self.names is None:  # nor had the training rows
            return False
        return True if self.names is not None and set(self.names) <= set(cells) else None

    def _places(self, names: list[str] | None, n: int, lines: TextLines, line: int) -> ColumnPlaces:
        """Return the places of columns with these names."""
        if names is not None and len(set(names)) < n:
            twice = next(name for name in names if names.count(name) > 1)
            raise lines.broken(f"the column {shortened(twice)} is there twice", line)
        if self.width is None:
            return self._new_places(names, n, lines, line)
        if names is not None and self.names is not None:
            return self._places_by_name(names, lines, line)
        least = self.width + len(self.drop)
        if n not in (least, least + 1):
            said = f"accepted are {least + 1} with the label, or {least} without it"
            raise lines.broken(f"the first row has {counted(n, 'column')}; {said}", line)
        known = least if self.place is None else self.place
        place = None if n == least else known
        left = [i - (place is None and i > known) for i in self._left_out([str(i) for i in range(1, least + 2)], lines)]
        ids = left[self.drop.index(self.id)] if self.id else None
        return ColumnPlaces(place, [i for i in range(n) if i != place and i not in left], n, ids)

    def _left_out(self, names: list[str], lines: TextLines) -> list[int]:
        """Return the dropped columns, in the order of `drop`."""
        for name in self.drop:
            if name not in names:
                accepted = ", ".join(map(shortened, names[:10])) + (", ..." if len(names) > 10 else "")
                which = "--id" if name == self.id else "--drop"
                raise UsageError(f"{which} {name!r} is no column of {lines.path}; accepted are {accepted}")
        return [names.index(name) for name in self.drop]

    def _new_places(self, names: list[str] | None, n: int, lines: TextLines, line: int) -> ColumnPlaces:
        """Return the places in the first file, and remember its columns."""
        if n < 2:
            raise lines.broken("there is one column; a label and a feature are needed", line)
        known = [str(i) for i in range(1, n + 1)] if names is None else names
        label = LAST if self.label is None else self.label
        if label not in known and label not in (FIRST, LAST):
            accepted = ", ".join([*map(shortened, known[:10]), *(["..."] if n > 10 else []), FIRST, LAST])
            raise UsageError(f"--label={label!r} is no column of {lines.path}; accepted are {accepted}")
        place = known.index(label) if label in known else 0 if label == FIRST else n - 1
        left = self._left_out(known, lines)
        if place in left:
            raise UsageError(f"--drop and --id name {known[place]!r}, which is the label; --label names another column")
        order = [i for i in range(n) if i != place and i not in left]
        if not order:
            raise UsageError(f"--drop leaves no feature of {lines.path}; a label and a feature are needed")
        self.width, self.place = len(order), place
        self._seen, self._census = [{} for _ in order], [Census() for _ in order]
        if names is not None:
            self.label, self.names = names[place], [names[i] for i in order]
        return ColumnPlaces(place, order, n, left[self.drop.index(self.id)] if self.id else None)

    def _places_by_name(self, names: list[str], lines: TextLines, line: int) -> ColumnPlaces:
        """Return the places in a file by its column names."""
        wanted = self.names or []
        for name in wanted:
            if name not in names:
                raise lines.broken(f"there is no column {shortened(name)}, which training had", line)
        if self.id is not None and self.id not in names:
            raise lines.broken(f"there is no column {shortened(self.id)}, which --id names", line)
        others = [name for name in names if name not in wanted and name not in self.drop]
        label = others[0] if self.label is None and len(others) == 1 else self.label
        for name in others:
            if name != label:
                raise lines.broken(f"the column {shortened(name)} is neither a column of training nor the label", line)
        ids = names.index(self.id) if self.id else None
        return ColumnPlaces(
            names.index(label) if label in others else None, [names.index(name) for name in wanted], len(names), ids
        )

    # --------------------------------------------------------------------------------------------------------------- the rows

    def records(self, lines: TextLines) -> Iterator[Record]:
        begun = self._start(lines)
        if begun is None:
            return
        places, rows = begun
        words: dict[int, Counter[str]] = {}  # among the numbers of a column
        n = unlabelled = 0
        for line, given in rows:
            blank = not given or (len(given) == 1 and places.n > 1 and not given[0].strip())
            if blank and places.label is not None:
                continue
            cells = [""] * places.n if blank else given
            n += 1
            if len(cells) != places.n:
                raise lines.broken(f"the row has {counted(len(cells), 'column')}, and the first one has {places.n}", line)
            labels: list[str | float] | None = None if places.label is None else [cells[places.label].strip()]
            content: list[Any] = [cells[i] for i in places.order]
            if labels and is_missing(str(labels[0])):
                unlabelled += 1
                if self.skips:
                    continue
                raise lines.broken("the label is missing", line)
            content = content if self.kinds is None else self._values(content, words, lines, line)
            yield Record(line, labels, content, id=None if places.id is None else cells[places.id].strip())
        self.left_out(unlabelled, lines)
        if words and lines.path not in self._warned:
            self._warned.add(lines.path)
            found = [Words(self._said(j), counts, n, 0) for j, counts in sorted(words.items())]
            warn(message_of_words(lines.path, found))

    def _values(self, cells: list[str], words: dict[int, Counter[str]], lines: TextLines, line: int) -> list[Any]:
        """Return the values of a row; count words among numbers."""
        kinds = self.kinds or []
        if CATEGORY not in kinds:
            numbers = numbers_of(cells)
            if numbers is not None:
                return numbers
        found: list[Any] = []
        for j, (given, kind) in enumerate(zip(cells, kinds, strict=True)):
            cell = given.strip()
            value = value_of(cell)
            if value is None and self.missing:
                found.append(None if kind == CATEGORY else np.nan)
            elif value is not None and kind == CATEGORY:
                found.append(cell)
            elif isinstance(value, str) and self.missing:
                words.setdefault(j, Counter())[cell] += 1
                found.append(np.nan)
            elif isinstance(value, float) and isfinite(value):
                found.append(value)
            else:
                raise lines.broken(f"the column {self._said(j)} has {shortened(cell)}, which is no finite number", line)
        return found

    def _said(self, j: int) -> str:
        """Return the name of a column in messages."""
        return shortened(self.names[j]) if self.names is not None else str(j + 1 + (self.place is not None and j >= self.place))

    def add_record(self, record: Record, lines: TextLines) -> None:
        if len(self._counted) == len(self._seen) and numbers_of(record.content) is not None:
            return
        for j, (given, seen, found) in enumerate(zip(record.content, self._seen, self._census, strict=True)):
            cell = given.strip()
            value = value_of(cell)
            if (value is None and not self.missing) or (isinstance(value, str) and not self.words):
                hint = "--features piecewise or auto takes words, and cells that are missing"
                raise UsageError(f"{lines.path}, line {record.line} has {shortened(cell)} in the column {self._said(j)}; {hint}")
            if value is None or (j in self._counted and not isinstance(value, str)):
                continue
            if not isinstance(value, str) or len(found.words) < MAX_CATEGORIES:
                found.add(cell)
            if len(seen) < MAX_CATEGORIES:
                seen.setdefault(cell, len(seen))
            enough = len(found.numbers) >= max(MAX_CATEGORIES, len(found.words) / (1 - NEARLY_ALL))
            (self._counted.add if enough else self._counted.discard)(j)

    def finish_pass(self) -> None:
        self.kinds = [CATEGORY if found.words and not found.of_numbers else NUMBER for found in self._census]
        for j, (kind, found) in enumerate(zip(self.kinds, self._census, strict=True)):
            advice = found.advice("TRAIN", self._said(j)) if kind == CATEGORY else None
            if kind == NUMBER:
                self._seen[j].clear()
            if advice is not None:
                warn(advice)

    def rows(self, records: Sequence[Record]) -> Any:
        if CATEGORY not in (self.kinds or []):
            return np.array([record.content for record in records], dtype=np.float64)
        found = np.empty((len(records), self.width or 0), dtype=object)
        found[:] = [record.content for record in records]
        return found

    def wrap_baseline(self, baseline: Any) -> Any:
        return OneHotBaseline(baseline, self._seen) if self.missing else baseline


def check_saved_texts(name: str, found: Any, n: int) -> None:
    """Raise ValueError unless saved columns have a text each."""
    if not isinstance(found, list) or len(found) != n or not all(isinstance(text, str) for text in found):
        raise ValueError(name)


def accepted_cells(features: Any) -> tuple[bool, bool]:
    """Return whether a map accepts missing cells, and words."""
    made = map_of(features)
    if made is None:
        return False, False
    tags = made.__sklearn_tags__().input_tags
    return tags.allow_nan, tags.string


def is_header(cells: list[str], second: list[str]) -> bool:
    """Return whether the first of two rows is a header.

    It has words above numbers, or no number at all.
    """
    values, below = [value_of(cell) for cell in cells], [value_of(cell.strip()) for cell in second]
    above = any(isinstance(name, str) and isinstance(value, float) for name, value in zip(values, below, strict=False))
    return above or not any(isinstance(value, float) for value in values)


def rows_of(lines: TextLines) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the cells of each row.

    A blank line has no cell or one; `skip` rows are left out.
    """
    head = next((line for line in lines if not line.isspace()), None)
    if head is None:
        return
    first = lines.number
    rows = csv.reader(chain([head], lines), delimiter=delimiter_of(head), skipinitialspace=True, strict=True)
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            raise lines.broken(f"the row cannot be read: {error}", first) from None
        if cells is None:
            return
        yield first, cells
        first = lines.number + 1


def delimiter_of(line: str) -> str:
    """Return the delimiter: tab, or the more frequent of , and ;."""
    bare = "".join(line.split('"')[::2])  # without quoted text
    return "\t" if "\t" in bare else max(",;", key=bare.count)
