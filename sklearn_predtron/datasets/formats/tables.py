"""Tables as text: rows of columns between delimiters."""

from __future__ import annotations

import csv
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.cells import (
    MISSING,
    NEARLY_ALL,
    Census,
    Words,
    form_of,
    is_missing_text,
    message_of_words,
    number_in,
)
from sklearn_predtron._support.numbers import LARGEST_LOSS
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.warning import warn
from sklearn_predtron.datasets.formats.base import ChunkLimits
from sklearn_predtron.datasets.formats.columns import ColumnBlock, ColumnReader
from sklearn_predtron.datasets.formats.file_formats import Csv
from sklearn_predtron.datasets.formats.records import Record, RecordFormat, saved_costs
from sklearn_predtron.datasets.formats.text import TextLines, counted

FIRST, LAST = "first", "last"
SEPARATOR = re.compile('"?sep=(.)"?', re.IGNORECASE)  # a first line
NUMBER, CATEGORY = "number", "category"
MAX_CATEGORIES = 1000  # of a column, in the first pass
NO_NAMES = "; the first line is read as names of the columns, unless header=False (--no-header) says that it is a row"
# Errors of the module csv, and what they mean.
OF_QUOTES = {
    "unexpected end of data": 'a quote (") opens a cell and nothing closes it',
    "field larger than": f'a cell has more than {csv.field_size_limit():,} characters, as after a quote (") that nothing closes',
    "expected after": 'a quote (") closes a cell and text follows',
}
BOOLEANS = {"True": 1.0, "TRUE": 1.0, "true": 1.0, "False": 0.0, "FALSE": 0.0, "false": 0.0}  # as pandas reads them
PLAIN_NUMBERS = "; accepted are numbers as 1234.5"


class ColumnPlaces(NamedTuple):
    """The places of label, features, ids and costs in a file."""

    label: int | None
    order: list[int]
    n: int
    id: int | None = None
    costs: list[int] | None = None


class Beginning(NamedTuple):
    """The columns of a file, its numbered rows, and how they are written."""

    places: ColumnPlaces
    rows: Iterator[tuple[int, list[str]]]
    delimiter: str
    names: list[str] | None  # in the first line


def numbers_in_cells(cells: list[str]) -> list[float] | None:
    """Return cells as numbers, if all of them clearly are."""
    try:
        found = list(map(float, cells))
    except ValueError:
        return None
    return found if isfinite(sum(found)) and "_" not in "".join(cells) else None


def value_of(cell: str) -> float | str | None:
    """Return a cell as a number, a word, or None (missing); true and false are 1 and 0, as in columns of booleans."""
    number = BOOLEANS[cell] if cell in BOOLEANS else number_in(cell)
    return cell if number is None else None if number != number else number


class CsvFormat(RecordFormat):
    """A table as text.

    Parameters
    ----------
    numbers_only : bool
        Whether text and missing cells are rejected.
    label : str or None
        The column of the labels; None is the last one, or the one that a model does not know.
    header : bool or None
        Whether the first line has the names of the columns; None decides by the first two lines.
    sep : str or None
        The text between columns; None decides by the first line.
    names : list of str or None
        The columns of the features by name, if they have names.
    kinds : list of str or None
        Of each whether it holds numbers or categories, if that is known.
    place : int or None
        The column of the labels in files without names, if it is known.
    drop : sequence of str
        Columns that are no features, by name or number.
    extra : sequence of str
        Columns that training did not have, by name or by their number in these files.
    id : str or None
        A column that is no feature and identifies rows.
    costs : dict or None
        The columns of the costs, by pair.
    """

    name, of_tables = "csv", True
    place_of_label = "the parameter `label` names the column of the labels, which is the last one by default"

    @classmethod
    def from_options(cls, how: Csv, limits: ChunkLimits, classes: Any, like: Any, state: Mapping[str, Any] | None) -> CsvFormat:
        names = ("numbers_only", "header", "id", "encoding", "skip_unlabelled")
        given: dict[str, Any] = {name: getattr(how, name) for name in names} | limits._asdict()
        if state is None:
            given |= {"label": how.label, "sep": how.sep, "costs": dict(how.costs) if how.costs else None}
            if like is None:
                return cls(drop=how.drop, **given)
            columns = getattr(like, "feature_names_in_", None)  # of a table in Python
            kinds = [NUMBER] * like.n_features_in_
            return cls(names=None if columns is None else columns.tolist(), kinds=kinds, extra=how.drop, **given)
        known = {name: state[name] for name in ("label", "names", "kinds", "place")}
        width, drop = like.n_features_in_, state.get("drop", [])
        check_saved_texts("kinds", known["kinds"], width)
        if known["names"] is not None:
            check_saved_texts("names", known["names"], width)
        check_saved_texts("drop", drop, len(drop))
        if known["place"] is not None and not 0 <= operator.index(known["place"]) <= width + len(drop):
            raise ValueError("place")
        more: dict[str, Any] = {"sep": state.get("sep"), "costs": saved_costs(state, like.classes_)}
        more |= {"drop": drop, "extra": how.drop}
        return cls(**known, **more, **given)

    def __init__(
        self,
        *,
        numbers_only: bool,
        label: str | None,
        header: bool | None,
        sep: str | None = None,
        names: list[str] | None = None,
        kinds: list[str] | None = None,
        place: int | None = None,
        drop: Sequence[str] = (),
        extra: Sequence[str] = (),
        id: str | None = None,
        costs: dict[tuple[Any, Any], str] | None = None,
        **text: Any,
    ):
        super().__init__(**text)
        if sep is not None and len(sep) != 1:
            raise ValueError(f"sep={sep!r} is accepted for tokens; between the columns of tables is one character")
        self.label, self.header, self.sep, self.id, self.costs = label, header, sep, id, costs
        ids = [] if id is None or id in drop else [id]
        self.drop = list(dict.fromkeys([*drop, *(ids if kinds is None else [])]))  # in the columns of training
        others = dict.fromkeys([] if kinds is None else [*extra, *ids])
        left = set(self.drop)
        self.extra = [name for name in others if name not in left]
        self.missing = not numbers_only
        self.names, self.kinds, self.place = names, kinds, place
        self.width = None if kinds is None else len(kinds)
        self._guessed = False  # whether a first line of words above others is taken as names
        self._census: list[Census] = []  # of each column, as of a data frame's
        self._counted: set[int] = set()  # columns of which the first pass knows that they hold numbers, unless words come
        self.incomplete = False  # whether the first pass has found text or missing cells
        self._warned: set[str] = set()  # files that have been read
        self._said_of: set[tuple[str, str]] = set()  # warnings that were given, and their files

    def state(self) -> dict[str, Any]:
        known = {"label": self.label, "names": self.names, "kinds": self.kinds, "place": self.place}
        more = {"drop": self.drop, "sep": self.sep}
        return {"format": self.name, **known, **{name: value for name, value in more.items() if value}}

    @property
    def needs_pass(self) -> bool:  # type: ignore[override]
        return self.kinds is None

    @property
    def feature_names(self) -> list[str] | None:  # type: ignore[override]
        return self.names

    # ------------------------------------------------------------------------------------------------------------ the columns

    def has_labels(self, lines: TextLines) -> bool | None:
        begun = self._start(lines)
        if begun is None:
            return None
        places, rows = begun[:2]
        filled = (True for _, cells in rows if places.n == 1 or any(cell.strip() for cell in cells))
        return places.label is not None if next(filled, False) else None

    def _start(self, lines: TextLines) -> Beginning | None:
        """Return the columns of a file and its numbered rows; None if the file is empty."""
        found = beginning_of(lines, self.sep)
        if found is None:
            return None
        rows = self._checked(lines, *found)
        first = next(rows)
        line, cells = first[0], [cell.strip() for cell in first[1]]
        named = self._is_known_header(cells)
        if named is None:
            next_ones = list(islice(rows, 1))
            while next_ones and not any(cell.strip() for cell in next_ones[-1][1]) and (more := next(rows, None)) is not None:
                next_ones.append(more)
            named = is_header(cells, next_ones[-1][1] if next_ones else [])
            self._guessed = named and not stand_above_numbers(cells, next_ones[-1][1] if next_ones else [])
            rows = chain(next_ones, rows)
        places = self._places(
            [cell or f"column {i}" for i, cell in enumerate(cells, 1)] if named else None, len(cells), lines, line
        )
        rows = self._without_names(rows, cells, lines) if named else chain([first], rows)
        return Beginning(places, rows, found[1], cells if named else None)

    def _checked(self, lines: TextLines, head: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows of a file; warn of a quote that may be missing."""
        for line, cells, swallows in table_lines(lines, head, delimiter):
            if swallows:
                self._say_once(
                    "quote",
                    f"{lines.path}, line {line}: a quoted cell goes on to line {lines.number}, over lines that could be rows of "
                    "their own, and they are read as one row; is a quote missing?",
                )
            yield line, cells

    def _without_names(
        self, rows: Iterator[tuple[int, list[str]]], names: list[str], lines: TextLines
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows without repeated names of the columns, as of files that were joined."""
        known, wanted = set(names), sorted(names)
        for line, cells in rows:
            if cells and cells[0].strip() in known and sorted(cell.strip() for cell in cells) == wanted:
                if self._guessed:
                    said = "leaves such lines out, and header=False (--no-header) reads the first one as a row"
                    raise lines.broken(f"the row has the cells of the first line; header=True (--header) {said}", line)
                if [cell.strip() for cell in cells] != names:
                    raise lines.broken("the names of the columns come again, in another order", line)
                self._say_once("names", f"{lines.path}, line {line}: the names of the columns come again; the line is left out")
                continue
            yield line, cells

    def _say_once(self, what: str, message: str) -> None:
        """Warn once per file, in whatever pass."""
        path = message.partition(", line ")[0]
        if (what, path) not in self._said_of:
            self._said_of.add((what, path))
            warn(message)

    def _is_known_header(self, cells: list[str]) -> bool | None:
        """Return whether the first row has the names of the columns; None if only the second row can tell."""
        if self.header is not None:
            return self.header
        if self.place is not None and self.names is None:  # nor had the training rows
            return False
        return True if self.names is not None and set(self.names) <= set(cells) else None

    def _places(self, names: list[str] | None, n: int, lines: TextLines, line: int) -> ColumnPlaces:
        """Return the places of columns with these names."""
        if names is not None and len(set(names)) < n:
            twice = next(name for name, count in Counter(names).items() if count > 1)
            raise lines.broken(f"the column {shortened(twice)} is there twice", line)
        if self.width is None:
            return self._new_places(names, n, lines, line)
        if names is not None and self.names is not None:
            return self._places_by_name(names, lines, line)
        return self._places_by_number(names, n, lines, line)

    def _places_by_number(self, names: list[str] | None, n: int, lines: TextLines, line: int) -> ColumnPlaces:
        """Return the places in a file whose columns are in the order of training, with others between them."""
        width = self.width or 0
        extra = self._found(self.extra, names or [str(i) for i in range(1, n + 1)], lines)
        left_out = set(extra)
        others = [i for i in range(n) if i not in left_out]  # the columns of training, with the label or without it
        least = width + len(self.drop)
        if len(others) not in (least, least + 1):
            said = f"accepted are {least + 1 + len(extra)} with the label, or {least + len(extra)} without it"
            raise lines.broken(f"the first row has {counted(n, 'column')}; {said}", line)
        known = least if self.place is None else self.place
        trained = others if len(others) > least else [*others[:known], -1, *others[known:]]  # -1 is no column
        numbers = [str(i) for i in range(1, least + 2)]
        as_numbers = set(numbers)
        if named := [name for name in self.drop if name not in as_numbers]:
            said = f"training left out {listed(named)} by name, and the first row has no names of columns"
            raise lines.broken(f"{said}; accepted are files with them", line)
        left = [trained[i] for i in self._found(self.drop, numbers, lines)]
        place = trained[known] if len(others) > least else None
        no_features = {-1, trained[known], *left}
        order = [i for i in trained if i not in no_features]
        id_places = dict(zip([*self.drop, *self.extra], [*left, *extra], strict=True))
        costs = [trained[i] for i in self._places_of_costs(numbers, lines)] or None
        return ColumnPlaces(place, order, n, None if self.id is None else id_places[self.id], costs)

    def _places_of_costs(self, names: list[str], lines: TextLines) -> list[int]:
        """Return the columns of the costs in a file with these columns."""
        columns = [] if self.costs is None else list(self.costs.values())
        return places_in(names, columns, lambda name: "costs", lines)

    def _found(self, wanted: list[str], names: list[str], lines: TextLines) -> list[int]:
        """Return the places of columns that are no features."""
        return places_in(names, wanted, lambda name: "id" if name == self.id else "drop", lines)

    def _new_places(self, names: list[str] | None, n: int, lines: TextLines, line: int) -> ColumnPlaces:
        """Return the places in the first file, and remember its columns."""
        if n < 2:
            raise lines.broken("there is one column; a label and a feature are needed", line)
        known = [str(i) for i in range(1, n + 1)] if names is None else names
        label = LAST if self.label is None else self.label
        if label not in known and label not in (FIRST, LAST):
            accepted = ", ".join([*map(shortened, known[:10]), *(["..."] if n > 10 else []), FIRST, LAST])
            guessed = NO_NAMES if self._guessed else ""
            raise ValueError(f"label={label!r} is no column of {lines.path}; accepted are {accepted}{guessed}")
        place = known.index(label) if label in known else 0 if label == FIRST else n - 1
        left = self._found(self.drop, known, lines)
        if place in left:
            which = "id" if known[place] == self.id else "drop"
            raise ValueError(f"{which}={known[place]!r} is the column of the labels; the parameter `label` names another one")
        others = {place, *left}
        order = [i for i in range(n) if i not in others]
        if not order:
            raise ValueError(f"drop={self.drop} leaves no feature of {lines.path}; a label and a feature are needed")
        self.width, self.place = len(order), place
        self._census = [Census() for _ in order]
        costs = self._places_of_costs(known, lines) or None
        if costs is not None and place in costs:
            raise ValueError(f"costs={known[place]!r} is the column of the labels; the parameter `label` names another one")
        if names is not None:
            self.label, self.names = names[place], [names[i] for i in order]
        return ColumnPlaces(place, order, n, left[self.drop.index(self.id)] if self.id else None, costs)

    def _places_by_name(self, names: list[str], lines: TextLines, line: int) -> ColumnPlaces:
        """Return the places in a file by its column names."""
        wanted, at = self.names or [], {name: i for i, name in enumerate(names)}
        for name in wanted:
            if name not in at:
                guessed = NO_NAMES if self._guessed else ""
                raise lines.broken(f"there is no column {shortened(name)}, which training had{guessed}", line)
        if self.id is not None and self.id not in at:
            said = f"there is no column {shortened(self.id)}, which the parameter `id` names; accepted are {listed(names)}"
            raise lines.broken(said, line)
        of_costs = [] if self.costs is None else list(self.costs.values())
        known = {*wanted, *self.drop, *self.extra}
        others = [name for name in names if name not in known]
        label = others[0] if self.label is None and len(others) == 1 else self.label
        for name in others:
            if name != label:
                said = f"the column {shortened(name)} is neither a column of training nor the label"
                raise lines.broken(f"{said}; the parameter `drop` leaves columns out", line)
        ids = at[self.id] if self.id else None
        place = at[label] if label in others else None
        absent = [name for name in of_costs if name not in at]
        if absent and place is not None:
            raise lines.broken(f"there is no column {shortened(absent[0])}, which has the costs of the rows", line)
        costs = None if absent or not of_costs else [at[name] for name in of_costs]
        return ColumnPlaces(place, [at[name] for name in wanted], len(names), ids, costs)

    # --------------------------------------------------------------------------------------------------------------- the rows

    def records(self, lines: TextLines) -> Iterator[Record]:
        begun = self._start(lines)
        if begun is None:
            return
        places, rows = begun.places, begun.rows
        words: dict[int, Counter[str]] = {}  # among the numbers of a column
        n = unlabelled = 0
        by_columns = self._column_reader(begun, lines)
        for line, given in rows:
            blank = not given or (len(given) == 1 and places.n > 1 and not given[0].strip())
            if not blank or places.n == 1:
                n += 1
                record = self._record([""] * places.n if blank else given, places, words, lines, line)
                unlabelled += record is None
                if record is not None:
                    yield record
            if line == lines.number:  # no row is read ahead
                for first, found in by_columns:
                    n += len(found.numbers)
                    yield self._record_of_columns(found, places, words, first)
        self.warn_of_unlabelled(unlabelled, lines)
        if words and lines.path not in self._warned:
            self._warned.add(lines.path)
            all_words = [Words(self._said(j), counts, n, 0) for j, counts in sorted(words.items())]
            warn(message_of_words(lines.path, all_words))

    def _record(
        self, cells: list[str], places: ColumnPlaces, words: dict[int, Counter[str]], lines: TextLines, line: int
    ) -> Record | None:
        """Return a row; None if it has no label and is left out."""
        if len(cells) != places.n:
            raise lines.broken(f"the row has {counted(len(cells), 'column')}, and the first one has {places.n}", line)
        labels: list[str | float] | None = None if places.label is None else [cells[places.label].strip()]
        if self._guessed and labels and labels[0] == self.label:
            said = f"{lines.path}, line {line}: the label {shortened(labels[0])} is the name of its column, too{NO_NAMES}"
            self._say_once("label", said)
        content: list[Any] = [cells[i] for i in places.order]
        if labels and not self.ignores_labels and is_missing_text(str(labels[0])):
            if self.skip_unlabelled:
                return None
            raise lines.broken("the label is missing; the parameter `skip_unlabelled` leaves such rows out", line)
        content = content if self.kinds is None else self._values(content, words, lines, line)
        ids = [cells[places.id].strip()] if places.id is not None else None
        return Record(line, labels, content, ids=ids, costs=self._costs_in(cells, places, lines, line))

    def _column_reader(self, begun: Beginning, lines: TextLines) -> ColumnReader:
        """Return the reader of the rows that need no look at each cell."""
        places, kinds = begun.places, self.kinds or []
        as_text = [i for i, kind in zip(places.order, kinds, strict=False) if kind == CATEGORY]
        as_text += [i for i in (places.label, places.id) if i is not None]
        accepted = partial(self._n_accepted, places)
        return ColumnReader(lines, begun.delimiter, places.n, as_text, begun.names, accepted)

    def _n_accepted(self, places: ColumnPlaces, found: ColumnBlock) -> int:
        """Return how many rows come before one with a cell that is looked at alone, for its error, warning or absence."""
        others = [len(found.numbers)]
        if places.label is not None:
            labels = found.cells[places.label][1]
            named = [str(self.label)] if self._guessed else []
            others += [labels.index(label) for label in ([] if self.ignores_labels else MISSING.intersection(labels))]
            others += [labels.index(label) for label in named if label in labels]
        for i in places.costs or []:
            others += np.flatnonzero(~((found.numbers[:, i] >= 0) & (found.numbers[:, i] <= LARGEST_LOSS)))[:1].tolist()
        for j, i in enumerate(places.order):
            rows, cells = found.cells[i]
            kind = NUMBER if self.kinds is None else self.kinds[j]
            if not self.missing:
                refused = [
                    cell for cell, value in values_of(cells).items() if value is None or (kind == NUMBER and not is_finite(value))
                ]
            elif kind == NUMBER and self.kinds is not None:
                refused = [cell for cell, value in values_of(cells).items() if is_infinite(value)]
            else:
                continue
            others += [rows[cells.index(cell)] for cell in refused]
        return min(others)

    def _record_of_columns(self, found: ColumnBlock, places: ColumnPlaces, words: dict[int, Counter[str]], line: int) -> Record:
        """Return rows that were read by columns."""
        numbers, cells = found.numbers, found.cells
        content = ColumnBlock(numbers[:, places.order], [cells[i] for i in places.order])
        return Record(
            line,
            None if places.label is None else list(cells[places.label][1]),
            content if self.kinds is None else self._values_of_columns(content, words),
            ids=None if places.id is None else cells[places.id][1],
            costs=None if places.costs is None else numbers[:, places.costs],
            n=len(numbers),
        )

    def _values_of_columns(self, found: ColumnBlock, words: dict[int, Counter[str]]) -> ColumnBlock:
        """Return rows with the values of their text; count words among numbers."""
        given: list[tuple[list[int], list[Any]]] = []
        for j, (kind, (rows, cells)) in enumerate(zip(self.kinds or [], found.cells, strict=True)):
            values: dict[str, Any] = values_of(cells)
            if kind == CATEGORY:
                values = {cell: None if value is None else cell for cell, value in values.items()}
            else:
                if counts := [cell for cell in cells if isinstance(values[cell], str)]:
                    words.setdefault(j, Counter()).update(counts)
                values = {cell: value if isinstance(value, float) else np.nan for cell, value in values.items()}
            given.append((rows, list(map(values.__getitem__, cells))))
        return ColumnBlock(found.numbers, given)

    def _costs_in(self, cells: list[str], places: ColumnPlaces, lines: TextLines, line: int) -> list[float] | None:
        """Return the costs of a row, if it has some."""
        if places.costs is None or self.costs is None:
            return None
        return [lines.cost(name, cells[i].strip(), line) for name, i in zip(self.costs.values(), places.costs, strict=True)]

    def _values(self, cells: list[str], words: dict[int, Counter[str]], lines: TextLines, line: int) -> list[Any]:
        """Return the values of a row; count words among numbers."""
        kinds = self.kinds or []
        if CATEGORY not in kinds:
            numbers = numbers_in_cells(cells)
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
            elif is_finite(value):
                found.append(value)
            else:
                raise lines.broken(f"the column {self._said(j)} has {shortened(cell)}, which is no finite number", line)
        return found

    def _said(self, j: int) -> str:
        """Return the name of a column in messages."""
        return shortened(self.names[j]) if self.names is not None else str(j + 1 + (self.place is not None and j >= self.place))

    def add_record(self, record: Record, lines: TextLines) -> None:
        if isinstance(record.content, ColumnBlock):
            self._add_columns(record.content)
            return
        numbers = numbers_in_cells(record.content)
        if numbers is not None:
            if len(self._counted) < len(self._census):
                self._add_numbers(numbers)
            return
        self.incomplete = True
        for j, (given, found) in enumerate(zip(record.content, self._census, strict=True)):
            cell = given.strip()
            value = value_of(cell)
            if not self.missing and not isinstance(value, float):
                where = f"{lines.path}, line {record.line} has {shortened(cell)} in the column {self._said(j)}"
                more = "" if form_of(cell) is None else PLAIN_NUMBERS
                raise ValueError(f"numbers_only=True accepts no text and no missing cells, and {where}{more}")
            if value is None or (j in self._counted and not isinstance(value, str)):
                continue
            if not isinstance(value, str) or len(found.words) < MAX_CATEGORIES:
                found.add(cell if isinstance(value, str) else value)
            (self._counted.add if has_enough(found) else self._counted.discard)(j)

    def _add_numbers(self, numbers: list[float]) -> None:
        """Record a row of numbers alone, in a fraction of the time."""
        for j, (number, found) in enumerate(zip(numbers, self._census, strict=True)):
            if j not in self._counted:
                found.numbers.add(number)
                found.filled += 1
                if has_enough(found):
                    self._counted.add(j)

    def _add_columns(self, found: ColumnBlock) -> None:
        """Record rows that were read by columns."""
        n = len(found.numbers)
        for j, (census, (rows, cells)) in enumerate(zip(self._census, found.cells, strict=True)):
            if cells or (j not in self._counted and len(census.numbers) + n >= MAX_CATEGORIES):
                self._add_column(j, found.numbers[:, j], rows, cells)
            elif j not in self._counted:
                census.numbers.update(found.numbers[:, j].tolist())
                census.filled += n

    def _add_column(self, j: int, numbers: NDArray, rows: list[int], cells: list[str]) -> None:
        """Record the cells of a column: together, unless one of the limits may be reached among them."""
        found, counted, values = self._census[j], j in self._counted, values_of(cells)
        words = {cell for cell, value in values.items() if isinstance(value, str)}
        others = {cell: value for cell, value in values.items() if isinstance(value, float)}
        self.incomplete = self.incomplete or len(others) < len(values) or any(map(is_infinite, others.values()))
        given = set() if counted else {*np.unique(np.delete(numbers, rows)).tolist(), *others.values()}
        if len(found.words) >= MAX_CATEGORIES:
            words.clear()
        all_numbers, all_words = found.numbers.union(given), found.words.union(words)
        needed = max(MAX_CATEGORIES, len(all_words if counted else found.words) / (1 - NEARLY_ALL))
        if (not words or len(all_words) < MAX_CATEGORIES) and (len(all_numbers) >= needed) == counted:
            filled = words if counted else {*words, *others}
            found.filled += sum(map(filled.__contains__, cells)) + (0 if counted else len(numbers) - len(rows))
            found.numbers, found.words = all_numbers, all_words
            return
        texts = dict(zip(rows, cells, strict=True))
        for i, number in enumerate(numbers.tolist()):
            value = values[texts[i]] if i in texts else number
            if value is not None and (isinstance(value, str) or j not in self._counted):
                if not isinstance(value, str) or len(found.words) < MAX_CATEGORIES:
                    found.add(value)
                (self._counted.add if has_enough(found) else self._counted.discard)(j)
            if not cells and j in self._counted:
                return

    def finish_pass(self, name: str) -> None:
        self.kinds = [CATEGORY if found.words and not found.of_numbers else NUMBER for found in self._census]
        for j, (kind, found) in enumerate(zip(self.kinds, self._census, strict=True)):
            advice = found.advice(name, self._said(j)) if kind == CATEGORY else None
            if advice is not None:
                warn(f"{advice.removesuffix('.')}; the parameter `drop` leaves columns out.")

    def rows(self, records: Sequence[Record]) -> Any:
        dtype = object if CATEGORY in (self.kinds or []) else np.float64
        found, n = np.empty((sum(record.n for record in records), self.width or 0), dtype=dtype), 0
        for record in records:
            part, n = found[n : n + record.n], n + record.n
            if isinstance(record.content, ColumnBlock):
                record.content.copy_to(part)
            else:
                part[:] = record.content
        return found


def values_of(cells: list[str]) -> dict[str, float | str | None]:
    """Return the distinct cells as numbers, words, or None (missing)."""
    return {cell: value_of(cell) for cell in set(cells)}


def is_finite(value: float | str | None) -> bool:
    """Return whether a cell is a finite number."""
    return isinstance(value, float) and isfinite(value)


def is_infinite(value: float | str | None) -> bool:
    """Return whether a cell is an infinite number."""
    return isinstance(value, float) and not isfinite(value)


def has_enough(found: Census) -> bool:
    """Return whether a column holds numbers for certain, unless many words come."""
    return len(found.numbers) >= max(MAX_CATEGORIES, len(found.words) / (1 - NEARLY_ALL))


def check_saved_texts(name: str, found: Any, n: int) -> None:
    """Raise ValueError unless saved columns have a text each."""
    if not isinstance(found, list) or len(found) != n or not all(isinstance(text, str) for text in found):
        raise ValueError(name)


def places_in(names: list[str], wanted: list[str], option: Callable[[str], str], lines: TextLines) -> list[int]:
    """Return the places of columns; raise ValueError for the option that names another one."""
    at = {name: i for i, name in enumerate(names)}
    for name in wanted:
        if name not in at:
            raise ValueError(f"{option(name)}={name!r} is no column of {lines.path}; accepted are {listed(names)}")
    return [at[name] for name in wanted]


def listed(names: list[str]) -> str:
    """Return the first ten columns for a message."""
    return ", ".join(map(shortened, names[:10])) + (", ..." if len(names) > 10 else "")


def is_header(cells: list[str], second: list[str]) -> bool:
    """Return whether the first of two rows is a header; it has words above numbers, or no number at all."""
    return stand_above_numbers(cells, second) or not any(isinstance(value_of(cell), float) for cell in cells)


def stand_above_numbers(cells: list[str], second: list[str]) -> bool:
    """Return whether the first of two rows has a word above a number, as names of columns have."""
    pairs = ((value_of(cell), value_of(below.strip())) for cell, below in zip(cells, second, strict=False))
    return any(isinstance(value, str) and isinstance(below, float) for value, below in pairs)


def beginning_of(lines: TextLines, sep: str | None) -> tuple[str, str] | None:
    """Return the first line with a row, and what is between its columns; None if there is none."""
    texts = (line for line in lines if not line.isspace())
    head = next(texts, None)
    named = None if head is None else SEPARATOR.fullmatch(head.strip("\r\n "))  # by which spreadsheets say it
    if named is not None:
        head = next(texts, None)
    return None if head is None else (head, sep or (named[1] if named else delimiter_of(head)))


def table_lines(lines: TextLines, head: str, delimiter: str) -> Iterator[tuple[int, list[str], bool]]:
    """Yield the first line and the cells of each row, and whether its lines could be rows of their own.

    The first line was read already. A blank line has no cell or one.
    """
    first, read = lines.number, [head]

    def recorded() -> Iterator[str]:
        yield head
        for line in lines:
            read.append(line)
            yield line

    rows = csv.reader(recorded(), delimiter=delimiter, skipinitialspace=True, strict=True)
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            found = [reason for part, reason in OF_QUOTES.items() if part in str(error)]
            reason = f"{found[0]}; remove it, close the cell, or double the quotes within a text" if found else str(error)
            raise lines.broken(f"the row cannot be read: {reason}", first) from None
        if cells is None:
            return
        yield first, cells, len(read) > 1 and are_rows(read, delimiter, len(cells))
        first = lines.number + 1
        read.clear()


def are_rows(lines: list[str], delimiter: str, n: int) -> bool:
    """Return whether each of these lines, without its quotes, has n cells, and numbers in the columns where others have."""
    table = [line.rstrip("\r\n").split(delimiter) for line in lines]
    if any(len(cells) != n for cells in table):
        return False
    columns = [[value_of(cell.strip().strip('"')) for cell in column] for column in zip(*table, strict=True)]
    return all(len({type(value) for value in column if value is not None}) < 2 for column in columns)


def delimiter_of(line: str) -> str:
    """Return the delimiter: tab, or the more frequent of , and ;."""
    bare = "".join(line.split('"')[::2])  # without quoted text
    return "\t" if "\t" in bare else max(",;", key=bare.count)
