"""Readers of a call's X, y, weights and ids; they make rounds, which are rows or blocks of rows (queries, sequences, groups)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.validation import _num_features, _num_samples, validate_data

from sklearn_predtron._core.problem import Codes, Labels
from sklearn_predtron._core.rows import LARGEST_LENGTH, LEAST_LENGTH, QueryRows, Rows, csr_rows, dense_rows
from sklearn_predtron._core.state import flag, nothing
from sklearn_predtron._core.weights import euclidean_length
from sklearn_predtron._support.compat import BaseEstimator, check_sample_weight
from sklearn_predtron._support.dicts import refuse_dicts, refuse_lazy
from sklearn_predtron._support.encoding import check_lengths, distinct
from sklearn_predtron._support.padding import pad_rows
from sklearn_predtron._support.parts import resolve
from sklearn_predtron._support.queries import Ids, Queries, queries_of_positive_weight, split_ids, unknown_ids, warn_of_one_query
from sklearn_predtron._support.warning import warn
from sklearn_predtron.decisions._recent_scores import label_values
from sklearn_predtron.families.input.stream import plain_rows
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.label_readers import LabelReader
from sklearn_predtron.features._columns import has_names, refuse_columns
from sklearn_predtron.norms import Norm

FORMATS = {False: "dense", True: "CSR"}
DENSE = 0.05  # of the values of rows in a file: words are fewer, and the columns of a table, flags among them, are more
FAR_APART = 1e3  # root mean squares of columns, the largest over the least, that a learner under "l2" suffers from
SEEN, ENOUGH = 1 << 15, 10  # stored values that are compared; those of a column that suffice
NO_IDS = (
    "{method} was called without {name} on an estimator that was fitted with several {groups}.  Pass {name}, or a data frame "
    "with a column {name!r}; a search or a pipeline passes {name} after sklearn.set_config(enable_metadata_routing=True), if it "
    "is given groups={name}.  If the rows are one {group}, say so by {name}='one'."
)

OF_NAMES = ("The feature names", "X has")  # as scikit-learn begins to speak of other columns than the first rows had
LabelsOf = Callable[..., tuple[Codec, Any]]  # the codec and the encoded labels, given y, classes and the codec so far


class Columns(NamedTuple):
    """The number and the names of features; the number is None with joint features; names are None if there are none."""

    n: Any
    names: NDArray | None = None
    features: Any = None  # maps them to features row by row, a `FeatureMap` or the `WarmupBuffer` of one; None is no map
    first: int | None = None  # how many there were before `widen` added some, without names; rows may lack those added


class ReadTable(np.ndarray):
    """A table as the numbers its map read; it need not be read again."""


class Batch(NamedTuple):
    """Rounds to learn from, checked."""

    X: Any
    rows: Rows
    labels: Labels
    weight: NDArray | None
    order: NDArray | None  # the rows of positive weight; None is all
    frequency: NDArray | None = None  # the weights of rows of X that stand for how frequent they are, in learning or not
    costs: Any = None  # the costs of the rows, if they differ from row to row
    importance: NDArray | None = None  # the weights of rows by their classes, which training multiplies with the frequency

    def weighted_by(self, costs: Any) -> Batch:
        """Return the batch with rows weighted by costs, too."""
        weight = costs.weights() if self.importance is None else self.importance * costs.weights()
        return self._replace(weight=weight if self.frequency is None else product(self.frequency, weight), costs=costs)

    @property
    def has_importance(self) -> bool:
        """Whether rows are weighted by more than their frequency."""
        return self.importance is not None or self.costs is not None

    def frequencies(self, rows: NDArray) -> NDArray:
        """Return the frequency of the given rows."""
        return np.ones(len(rows)) if self.frequency is None else self.frequency[rows]

    def by_power(self, power: float) -> Batch:
        """Return the batch weighted by another power of costs."""
        return self.weighted_by(self.costs._replace(power=power))


class TrainingInput(NamedTuple):
    """The columns of a call, and known metadata; the metadata is known by this call and the calls before."""

    batch: Batch
    labels: Codec
    columns: Columns
    call_metadata: Any  # recorded by a reader about the calls


class ResamplingUnits(NamedTuple):
    """All that a fit can hold out; the units are rounds, or rows that are yet to be cut into rounds."""

    numbers: NDArray
    strata: NDArray  # of which all folds have as many
    in_epoch: int  # rounds
    rows: NDArray  # of X, in the order of the units
    sizes: NDArray | int  # how many of them a unit has
    labels_of: Callable[[NDArray], NDArray]  # of some units' rows, as numbers of shape (n, m)

    def select(self, chosen: NDArray) -> tuple[NDArray, NDArray]:
        """Return the rows and the labels of some units; a mask chooses the units."""
        return self.rows_of(chosen), self.labels_of(self.numbers[chosen])

    def sizes_of(self, chosen: NDArray) -> NDArray | int:
        """Return the number of rows of chosen units; a mask chooses the units."""
        return self.sizes if isinstance(self.sizes, int) else self.sizes[chosen]

    def rows_of(self, chosen: NDArray) -> NDArray:
        """Return the rows of the units in a mask."""
        return self.rows[np.repeat(chosen, self.sizes)]


class RowReader:
    """Reads rounds that are rows.

    Parameters
    ----------
    name : str
        Name of the estimator in errors.
    """

    ids: Any = None  # of the rows of a round, if ids gather them
    misses_ids = False  # where there are several rows, and none are given
    no_comparator_because: str | None = None  # in bounds
    no_rows_because: str | None = None  # for methods that need the rows of X, or all predictions

    columns: Columns | None = None  # of the first rows, where they are known before

    def __init__(self, name: str):
        self.name = name

    def weights(self, codec: Any, labels: Any, weight: NDArray | None, *, partial: bool) -> NDArray | None:
        """Return the weight of each row by its label.

        The rows' own weights are given; `partial` is whether the call is of a stream.
        """
        return None

    def saved_metadata(self, value: Any) -> Any:
        """Return the saved metadata of calls, checked; raise ValueError for values that this reader does not record."""
        return nothing(value)

    def read(
        self, X: Any, y: Any, labels_of: LabelsOf, known: Any, *, partial: bool, classes: Any = None, sample_weight: Any = None
    ) -> TrainingInput:
        """Return the input of a training call; `known` is the model that continues, or None."""
        check_labels_given(y, self.name)
        X, rows, columns = self._rows(X, None if known is None else known.columns)
        codec, labels = labels_of(y, classes, None if known is None else known.labels, partial=partial)
        check_lengths(rows.n, labels.n)
        weight = None
        if sample_weight is not None:
            weight = np.ascontiguousarray(check_sample_weight(sample_weight, X))
        frequency = weight
        importance = self.weights(codec, labels, weight, partial=partial)
        if importance is not None:
            weight = importance if weight is None else product(weight, importance)
        order = None
        if weight is not None and not weight.all():
            order = np.flatnonzero(weight)
            if len(order) == 0 and not partial:
                raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
        call_metadata = None if known is None else known.call_metadata
        batch = Batch(X, rows, labels, weight, order, frequency, importance=importance)
        return TrainingInput(batch, codec, columns, call_metadata)

    def _rows(self, X: Any, columns: Columns | None) -> tuple[Any, Rows, Columns]:
        """Check X, and read it in place; its values may still be NaN or infinite."""
        return read_rows(X, self.columns if columns is None else columns, self.name)

    def warmup_mask(self, X: Any, given: dict[str, Any], n: int) -> NDArray | None:
        """Return a mask of the rows in first rounds.

        These are the rounds with the first n rows of a stream; None if they are not known.
        """
        return np.arange(len_of(X)) < n

    def labelled(self, X: Any, y: Any, model: Any, *ids: Any) -> tuple[Any, Labels]:
        """Return finite rows and labels, in rounds' order."""
        X = model.features_of(X)
        labels = model.labels.encode(y)
        check_lengths(X.shape[0], labels.n)
        return X, labels

    def rounds(self, batch: Batch) -> Batch | None:
        """Return the rounds of a stream, or None; None means that there are none."""
        return batch

    def units(self, batch: Batch, codec: Any) -> ResamplingUnits:
        """Return the units that a fit can hold out."""
        numbers = np.arange(batch.rows.n) if batch.order is None else batch.order
        m = 0 if isinstance(batch.labels, Codes) else codec.n_labels

        def labels_of(units: NDArray) -> NDArray:
            return label_values(batch.labels, units, m)

        return ResamplingUnits(numbers, codec.strata(batch.labels, numbers), len(numbers), numbers, 1, labels_of)

    def has_enough_rows(self, n: int, batch: Batch) -> bool:
        """Return whether n units make rounds for training; they are units of a batch."""
        return True

    def warn_of_rounds(self, reading: TrainingInput) -> None:
        """Warn of rounds that are of little use; a fit is going to gain little from them."""

    def epochs(self, epochs: Any, *, whole: bool) -> Any:
        """Return the epochs of a fit with drawn rows; with a kernel, rounds stay `whole`."""
        return epochs

    def short(self, codec: Codec) -> LabelReader | None:
        """Return the fast path's reader of labels, or None."""
        return codec.short()


class BlockReader(RowReader):
    """Reads rounds that are blocks of rows.

    Ids gather the rows of a block.  It weighs the mean of its rows' positive weights.

    Parameters
    ----------
    name : str
        Name of the estimator in errors.
    ids : Ids
        Names of the ids.
    in_blocks : callable
        Returns the labels of blocks, given those of rows, block by block, and where blocks begin.
    """

    misses_ids = True

    def __init__(self, name: str, ids: Ids, in_blocks: Callable[[NDArray, NDArray], Labels]):
        super().__init__(name)
        self.ids, self.in_blocks = ids, in_blocks

    def split_ids(self, X: Any, ids: Any) -> tuple[Any, Any]:
        """Return X without a column of ids, and the ids."""
        return split_ids(X, ids, self.ids)

    def split_ids_or_warn(self, X: Any, ids: Any) -> tuple[Any, Any]:
        """Return X without ids, and the ids; only a single block should come without ids."""
        X, ids = self.split_ids(X, ids)
        if ids is None:
            warn_of_one_query(X, self.ids)
        return X, ids

    def saved_metadata(self, value: Any) -> Any:
        """Return the saved metadata: whether a call had several blocks; raise ValueError for other values."""
        return flag(value)

    def check_ids_given(self, ids: Any, method: str, model: Any) -> None:
        """Raise ValueError for rows without ids after several blocks."""
        if ids is None and model.call_metadata:
            raise ValueError(NO_IDS.format(method=method, **self.ids._asdict()))

    def read(
        self,
        X: Any,
        y: Any,
        labels_of: LabelsOf,
        known: Any,
        *,
        partial: bool,
        classes: Any = None,
        sample_weight: Any = None,
        **ids: Any,
    ) -> TrainingInput:
        """Return the training input, for rows without ids; X has no column of ids."""
        refuse_unknown(ids, self.ids)
        return self.gathered(X, y, labels_of, known, ids.get(self.ids.name), sample_weight, partial=partial, classes=classes)[1]

    def gathered(
        self, X: Any, y: Any, labels_of: LabelsOf, known: Any, ids: Any, sample_weight: Any, *, partial: bool, classes: Any
    ) -> tuple[Queries, TrainingInput]:
        """Return the blocks and the input of a call; the input records whether any call had several blocks."""
        check_labels_given(y, self.name)
        X, rows, columns = self._rows(X, None if known is None else known.columns)
        codec, values = labels_of(y, classes, None if known is None else known.labels, partial=partial)
        check_lengths(rows.n, len(values))
        weight = frequency = None
        if sample_weight is None:
            blocks = self.blocks(ids, rows.n)
        else:
            frequency = check_sample_weight(sample_weight, X)
            blocks, weight = self.weighed(ids, frequency)
            if not partial and blocks.n == 0:
                raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
            if blocks.start[-1] < rows.n:
                check_finite(X, rows, self.name)
        gathered = rows if blocks.order is None else rows.another(X[blocks.order])
        rounds = QueryRows(gathered, blocks.start, blocks.order, rows.n)
        batch = Batch(X, rounds, self.in_blocks(blocks.take(values), blocks.start), weight, None, frequency)
        return blocks, TrainingInput(batch, codec, columns, blocks.n > 1 or (known is not None and known.call_metadata))

    def warmup_mask(self, X: Any, given: dict[str, Any], n: int) -> NDArray | None:
        """Return the rows of the first blocks; the blocks together have at least n rows."""
        try:
            blocks = self.blocks(given.get(self.ids.name), len_of(X))
        except (TypeError, ValueError):
            return None
        last = min(int(np.searchsorted(blocks.start, n)), blocks.n)
        chosen = np.arange(len_of(X)) < blocks.start[last]
        if blocks.order is not None:
            chosen[blocks.order] = chosen.copy()
        return chosen

    def blocks(self, ids: Any, n: int) -> Queries:
        """Return the blocks of n rows."""
        return Queries(ids, n, self.ids)

    def weighed(self, ids: Any, weight: NDArray) -> tuple[Queries, NDArray]:
        """Return the blocks and their weights; they consist of the rows of positive weight."""
        return queries_of_positive_weight(ids, weight, self.ids)

    def labelled(self, X: Any, y: Any, model: Any, *ids: Any) -> tuple[Any, Labels]:
        """Return finite rows and labels, block by block."""
        X, values = self.split_ids_or_warn(X, ids[0] if ids else None)
        X = model.features_of(X)
        blocks = self.blocks(values, X.shape[0])
        return blocks.take(X), self.labels_of_blocks(y, blocks, model)

    def units(self, batch: Batch, codec: Any) -> ResamplingUnits:
        """Return the units that a fit can hold out: blocks."""
        labels: Any = batch.labels
        rows: Any = batch.rows
        start, numbers = np.asarray(labels.starts), np.arange(rows.n)
        places = np.arange(start[-1]) if rows.row_numbers is None else np.asarray(rows.row_numbers)
        strata = np.zeros(rows.n, dtype=np.intp)
        return ResamplingUnits(numbers, strata, rows.n, places, np.diff(start), partial(self.labels_of_units, labels, start))

    def labels_of_units(self, labels: Any, start: NDArray, units: NDArray) -> NDArray:
        """Return the labels of some blocks' rows; they are numbers of shape (n, m)."""
        raise TypeError(f"{self.name} has no probabilities, which such labels are for.")

    def labels_of_blocks(self, y: Any, blocks: Queries, model: Any) -> Any:
        """Return the true labels of blocks."""
        values = model.labels.encode(y)
        check_lengths(int(blocks.start[-1]), len(values))
        return self.in_blocks(blocks.take(values), blocks.start)

    def beside_labels(self, scores: NDArray, y: Any, ids: Any, model: Any) -> tuple[NDArray, Any]:
        """Return scores and true labels, block by block."""
        blocks = self.blocks(ids, len(scores))
        return np.ascontiguousarray(blocks.take(scores)), self.labels_of_blocks(y, blocks, model)


def refuse_unknown(given: dict[str, Any], ids: Any) -> None:
    """Raise TypeError for ids by an unknown name; Python raises it for unknown arguments, too."""
    for name in given.keys() - {ids.name}:
        raise TypeError(unknown_ids("fit", name, ids))


# ------------------------------------------------------------------------------------------------------------------- rows


@cache
def witness_kind(name: str) -> type:
    """Return a class with the estimator's name; scikit-learn uses this name in errors."""
    return type(name, (BaseEstimator,), {})


def read_rows(X: Any, columns: Columns | None, name: str) -> tuple[Any, Rows, Columns]:
    """Check X, and read it in place; the first rows define the columns."""
    refuse_lazy(X)
    if columns is not None and columns.features is not None:
        return *read_table(X, columns, name), columns
    rows = plain_rows(X)
    if rows is not None and columns is None:
        return X, rows, Columns(rows.p)
    if rows is not None and columns is not None and columns.names is None and rows.p == columns.n:
        return X, rows, columns
    if columns is not None and has_names(X, columns.names):
        rows = plain_rows(numbers_of_frame(X))
        if rows is not None:
            return rows.matrix(), rows, columns
    refuse_dicts(X)
    given = columns if columns is None or columns.first is None else columns_given(X, columns)
    witness, first = dummy_estimator(given, name), columns is None
    how: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C", "ensure_all_finite": False}
    try:
        X = validate_data(witness, X, reset=first, **how)
    except (TypeError, ValueError) as error:
        if not str(error).startswith(OF_NAMES):
            refuse_columns(X)
        raise
    if columns is not None and columns is not given:
        X = pad_rows(X, columns.n)
    return X, as_rows(X), columns or Columns(witness.n_features_in_, getattr(witness, "feature_names_in_", None))


def numbers_of_frame(X: Any) -> NDArray | None:
    """Return a pandas frame of floats as an array; None if its columns are of other types."""
    if not all(isinstance(dtype, np.dtype) and dtype.kind in "fiu" for dtype in X.dtypes):
        return None
    values = X.to_numpy()
    return np.ascontiguousarray(values) if values.dtype in (np.float64, np.float32) else None


def columns_given(X: Any, columns: Columns) -> Columns:
    """Return the columns without those missing from X; only columns added by `widen` may be missing."""
    try:
        width = _num_features(X)
    except TypeError:  # it has no columns, which scikit-learn says
        return columns
    return columns._replace(n=width) if columns.first <= width < columns.n else columns


def dummy_estimator(columns: Columns | None, name: str) -> Any:
    """Return an object for scikit-learn's column checks; it has `n_features_in_` and `feature_names_in_`."""
    witness: Any = witness_kind(name)()
    if columns is not None:
        witness.n_features_in_ = columns.n
        if columns.names is not None:
            witness.feature_names_in_ = columns.names
    return witness


def read_table(X: Any, columns: Columns, name: str) -> tuple[Any, Rows]:
    """Return a table as numbers, and its rows."""
    if not isinstance(X, ReadTable):
        rows = columns.features.plain_rows(X) if columns.names is None else None
        if rows is not None:
            return X.view(ReadTable), rows
        refuse_dicts(X)
        if getattr(X, "ndim", 2) != 2:
            check_array(X)  # which says so
        if not has_names(X, columns.names):
            validate_data(dummy_estimator(columns, name), X, reset=False, skip_check_array=True)
        X = columns.features.read(X).view(ReadTable)
    return X, columns.features.rows(X)


def len_of(X: Any) -> int:
    """Return the number of rows of a table."""
    return int(_num_samples(X))


def as_rows(X: Any) -> Rows:
    """Return the rows of a validated X.

    They are read in place, except CSR rows in which a feature occurs twice: these are summed.
    """
    return csr_rows(X) if sparse.issparse(X) else dense_rows(X)


def check_finite(X: Any, rows: Rows, name: str) -> None:
    """Raise ValueError for NaN and infinity."""
    if rows.finite():
        return
    values = X.data if sparse.issparse(X) else X
    with np.errstate(invalid="ignore"):  # it adds up all values first
        if np.isnan(values).any():
            raise ValueError(
                f"Input X contains NaN.  If {name} has the parameter features, 'piecewise' accepts missing values of tables, and "
                "'auto' if fit or the first call of partial_fit has some; otherwise accepted are finite numbers, as from "
                "SimpleImputer."
            )
        assert_all_finite(values, estimator_name=name, input_name="X")


def why_length_refused(rows: Rows, row: int, norm: Any) -> str:
    """Return the message for a length out of range; the length is that of a row."""
    values = rows.matrix()[[row]]
    if sparse.issparse(values):
        values.sum_duplicates()
    values = np.asarray(values.data if sparse.issparse(values) else values, dtype=np.float64)
    number, length = row if rows.row_numbers is None else rows.row_numbers[row], euclidean_length(values)
    return (
        f"X[{number}] has the length {length:.3g}, and {np.abs(values).max():.3g} is its largest magnitude; "
        f"norm={norm!r} accepts rows of lengths from {LEAST_LENGTH:g} to {LARGEST_LENGTH:g}, and of zeros: "
        "scale the features."
    )


def check_labels_given(y: Any, name: str) -> None:
    """Raise ValueError for y=None, as scikit-learn does."""
    if y is None:
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")


def product(sample_weight: NDArray, of_label: NDArray) -> NDArray:
    """Return the products of row and class weights; each row has one weight of its own, and one of its class."""
    with np.errstate(over="ignore"):
        weight = sample_weight * of_label
    if not np.isfinite(weight).all():
        raise ValueError(f"sample_weight={sample_weight.max():g} times the weight of a class overflows; scale the weights down.")
    return weight


# ---------------------------------------------------------------------------------------- their format, under norm="auto"


def are_stored_dense(X: Any) -> bool:
    """Return whether CSR rows are stored almost dense; they are then rows of a table, not of words."""
    return X.nnz >= DENSE * X.shape[0] * X.shape[1]


def norm_by_name(norm: Any) -> str:
    """Return the alias of the parameter `norm`."""
    return str(resolve(Norm, norm, "norm").alias)


def begin_as_table(batch: Batch) -> bool:
    """Return whether CSR rows are those of a table.

    "auto" is "scaled" for a table.  The first round decides, which no split changes: at least one in twenty of its values is
    stored, and the columns of these differ in scale.
    """
    order = np.arange(min(batch.rows.n, 1)) if batch.order is None else batch.order[:1]
    if not sparse.issparse(batch.X) or len(order) == 0:
        return False
    if isinstance(batch.rows, QueryRows):
        labels: Any = batch.labels
        block = np.arange(*labels.starts[order[0] : order[0] + 2])
        order = block if batch.rows.row_numbers is None else np.asarray(batch.rows.row_numbers)[block]
    X = batch.X[order]
    _, size = scales_of_columns(X, 1)
    return are_stored_dense(X) and len(size) > 0 and bool(size.max() > FAR_APART * size.min())


def scales_of_columns(X: Any, enough: int) -> tuple[NDArray, NDArray]:
    """Return columns and root mean squares.

    They are of the stored values in CSR rows, for columns with enough values among the first ones.
    """
    values, (columns, column) = X.data[:SEEN], distinct(X.indices[:SEEN])
    with np.errstate(all="ignore"):  # values that are not finite raise an error elsewhere
        n = np.bincount(column, values != 0, len(columns))
        size = np.sqrt(np.bincount(column, np.square(values, dtype=np.float64), len(columns)) / n)
    known = np.isfinite(size) & (size > 0) & (n >= enough)
    return columns[known], size[known]


def warn_of_scales(X: Any, names: list[Any] | None = None) -> None:
    """Warn of CSR columns that differ in scale.

    The first stored values are compared, under "auto", because "l2" depends on the scale.
    """
    if X is None:  # joint features, which no matrix holds
        return
    columns, size = scales_of_columns(X, ENOUGH)
    if len(size) == 0 or size.max() <= FAR_APART * size.min():
        return
    small, large = size.argmin(), size.argmax()
    said = [columns[at] if names is None else repr(names[columns[at]]) for at in (small, large)]
    warn(
        f"the root mean squares of the stored values of X differ by a factor of {size[large] / size[small]:.3g}, between the "
        f"columns {said[0]} ({size[small]:.3g}) and {said[1]} ({size[large]:.3g}); norm='auto' is 'l2' for these CSR rows "
        "and dicts, under which large columns hide small ones: give norm='scaled', which accepts columns of any scale."
    )


def warn_of_format(first: bool, norm: str, sparse: bool) -> None:
    """Warn of rows in another format; the format of the first rows fixed "auto"."""
    warn(
        f"X is {FORMATS[sparse]}, and the first rows were {FORMATS[first]}, for which norm='auto' is {norm!r}: it "
        f"holds for all rows; give norm={norm!r} if both formats are intended."
    )
