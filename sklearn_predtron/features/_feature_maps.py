"""The feature maps, as parts of estimators and as transformers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from sklearn_predtron._support import types
from sklearn_predtron._support.cells import Words
from sklearn_predtron._support.compat import Interval, as_configured, container_of
from sklearn_predtron._support.parts import Part
from sklearn_predtron.features._columns import (
    ColumnSource,
    categories_in,
    chosen_categories,
    has_names,
    is_auto,
    opened,
    signs_of,
)
from sklearn_predtron.features._knots import MOST_ROWS as ROWS_OF_KNOTS
from sklearn_predtron.features._knots import describe_column, evenly, times
from sklearn_predtron.features._layout import CATEGORIES, MOST_FACTORS, MOST_KNOTS, NUMBERS, Description, FeatureLayout
from sklearn_predtron.features._made_rows import MadeRows
from sklearn_predtron.features._names import feature_names, unique
from sklearn_predtron.features._pairs import PairRanking, targets_of
from sklearn_predtron.features._row_map import FourierMap, PiecewiseMap, RowMap
from sklearn_predtron.features._table import Gathered, check_range, matrix_of, warn_of_cells

if TYPE_CHECKING:
    from sklearn_predtron._support.types import Self

__all__ = ["Auto", "FeatureMap", "PiecewiseLinear", "RandomFourier"]

ROWS_OF_STREAMS = 500
KNOTS = ((12, 5), (32, 8))  # of columns and of pairs, among which `fit` chooses
ROWS_OF_FINE_KNOTS = 500  # of fewer rows the second pair of numbers is not tried
PAIRS = (100, 12)
CLIP = 6.0  # standard deviations


class FeatureMap(TransformerMixin, Part):
    """Base of the feature maps of table columns.

    A fitted map computes each row's features from that row alone: the same bits for any split of the rows and any number of
    threads.  `transform` computes the features of all rows.  An estimator computes those of a row when the row is used, and
    never stores an array of the number of rows times the number of features.

    See Also
    --------
    PiecewiseLinear : Hats, and products of pairs.
    RandomFourier : Cosines of random directions.

    Examples
    --------
    The features of one row, computed on demand:

    >>> from sklearn_predtron.features import FeatureMap, PiecewiseLinear
    >>> encoder = PiecewiseLinear(n_knots=2, n_pairs=0).fit([[0.0], [1.0]])
    >>> isinstance(encoder, FeatureMap)
    True
    >>> encoder.rows(encoder.read([[0.25]])).matrix().toarray()
    array([[ 0.75,  0.25, -0.5 ]])
    """

    missing: Any = True
    categories: Any = None
    monotonic_cst: Any = None
    sparse_output: Any = True  # of saved maps without this parameter, too
    _row_map: RowMap | None
    _gathered: dict[str, Any] | None

    # ------------------------------------------------------------------------------------------------------------- fitting

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the map to the columns of a table.

        Parameters
        ----------
        X : {array-like, data frame} of shape (n, n_features)
            The table; NaN, None and the like are missing values.
        y : array-like of shape (n,) or (n, m), default=None
            Labels or numbers, used to choose pairs of columns.

        Returns
        -------
        FeatureMap
            The map itself.
        """
        self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any, weight: NDArray | None = None) -> NDArray:
        """Fit to rows that count so often, and return the table as `read` does."""
        self._check_parameters()
        table = X if isinstance(X, Gathered) else opened(X)
        made, matrix = self._made_of(table, y, weight)
        if isinstance(X, Gathered):
            self.n_features_in_ = X.p
            if X.feature_names is not None:
                self.feature_names_in_ = X.feature_names
        else:
            validate_data(self, X=X, reset=True, skip_check_array=True)
        self._gathered = None
        self._adopt(made)
        return matrix

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Fit the map to the first 500 rows of a stream.

        It is the map that `fit` returns for these rows.

        Later rows change nothing.  With fewer rows the map is fitted when it is first used.

        Parameters
        ----------
        X : {array-like, data frame} of shape (n, n_features)
            The next rows.
        y : array-like of shape (n,) or (n, m), default=None
            Their labels or numbers, used to choose pairs of columns if all rows have some.

        Returns
        -------
        FeatureMap
            The map itself.
        """
        first = not hasattr(self, "n_features_in_")
        if first:
            self._check_parameters()
        table = opened(X)
        if not first:
            validate_data(self, X=X, reset=False, skip_check_array=True)
        if self.complete_:
            return self
        self._first_read(table)
        targets_of(y, table.n)
        gathered = Gathered.begun(table) if first else Gathered(self._gathered or {})
        gathered = gathered.with_rows(table, ROWS_OF_STREAMS, y, self.categories)
        made = self._made_of_gathered(gathered) if gathered.n == ROWS_OF_STREAMS else None
        if first:
            validate_data(self, X=X, reset=True, skip_check_array=True)
        self._gathered, self._row_map = gathered.state, None
        if made is not None:
            self._gathered = None
            self._adopt(made)
        return self

    def _check_parameters(self) -> None:
        """Raise ValueError for invalid parameters."""
        self._validate_params()

    def _made_of(self, table: ColumnSource, y: Any, weight: NDArray | None = None) -> tuple[dict[str, Any], NDArray]:
        """Return the fitted attributes, and the table as numbers."""
        matrix, categories, hashed, words = self._first_read(table)
        sizes = np.array([0 if known is None else len(known) + places for known, places in zip(categories, hashed, strict=True)])
        state = self._state_of(table, matrix, sizes, targets_of(y, table.n), weight)
        named = [j for j, known in enumerate(categories) if known is not None] if is_auto(self.categories) else []
        warn_of_cells(table, words, named)
        return {"_categories": categories, "_hashed": hashed, "_state": state}, matrix

    def _first_read(self, table: ColumnSource) -> tuple[NDArray, list[NDArray | None], list[int], list[Words]]:
        """Return a table as numbers, its categories and stray words."""
        chosen = chosen_categories(table, self.categories)
        found = [categories_in(table, j) if j in chosen else (None, 0) for j in range(table.p)]
        categories, hashed = [known for known, _ in found], [places for _, places in found]
        matrix, words = matrix_of(table, categories, hashed, missing=bool(self.missing), known=False)
        check_range(table, matrix, [j for j in range(table.p) if j not in chosen])
        return matrix, categories, hashed, words

    def _state_of(
        self, table: ColumnSource, matrix: NDArray, n_categories: NDArray, Y: NDArray | None, weight: NDArray | None
    ) -> tuple[Any, ...]:
        """Return the state of the compiled map of a table, which is given as a matrix, too."""
        raise TypeError(f"{type(self).__name__} does not define _state_of(); a map must.")

    def _built(self, state: tuple[Any, ...]) -> RowMap:
        """Return the compiled map of a state."""
        raise TypeError(f"{type(self).__name__} does not define _built(); a map must.")

    def _made_of_gathered(self, gathered: Gathered) -> dict[str, Any]:
        targets = gathered.state["y"]
        return self._made_of(gathered, None if targets is None else np.asarray(targets))[0]

    def _adopt(self, made: dict[str, Any]) -> None:
        """Adopt the fitted attributes."""
        row_map = self._built(made["_state"])
        for name, value in made.items():
            setattr(self, name, value)
        self._row_map = row_map
        self._of_numbers = all(known is None for known in self._categories)

    def _fitted(self) -> RowMap:
        """Return the map compiled from the rows so far."""
        if not hasattr(self, "_row_map"):
            check_is_fitted(self)
        if self._row_map is None:
            self._adopt(self._made_of_gathered(Gathered(self._gathered or {})))
        return self._row_map

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_row_map")

    @property
    def complete_(self) -> bool:
        """Whether the map is final."""
        return hasattr(self, "_row_map") and self._gathered is None

    @property
    def of_numbers_(self) -> bool:
        """Whether no column of the table has categories."""
        self._fitted()
        return self._of_numbers

    @property
    def n_features_out_(self) -> int:
        """Number of output features."""
        return self._fitted().width

    # ------------------------------------------------------------------------------------------------------------- reading

    def read(self, X: Any) -> NDArray:
        """Read a table as a matrix of numbers.

        Parameters
        ----------
        X : {array-like, data frame} of shape (n, n_features)
            The table, of the columns that `fit` was given.

        Returns
        -------
        ndarray of shape (n, n_features)
            In single or double precision and C-contiguous.  A missing value is NaN, a category is its number, and an unknown
            category is -1.  Without categories a matrix of such numbers is returned as it is.
        """
        self._fitted()
        table = opened(X)
        names = getattr(self, "feature_names_in_", None)
        known = has_names(X, names) or (names is None and type(X) is np.ndarray and X.shape[1] == self.n_features_in_)
        if not known:
            validate_data(self, X=X, reset=False, skip_check_array=True)
        matrix, words = matrix_of(table, self._categories, self._hashed, missing=bool(self.missing))
        warn_of_cells(table, words)
        return matrix

    def rows(self, matrix: NDArray) -> MadeRows:
        """Make the compiled rows of a table from `read`.

        Parameters
        ----------
        matrix : ndarray of shape (n, n_features)
            The table, as `read` returns it.

        Returns
        -------
        MadeRows
            Rows that are computed on demand.
        """
        return MadeRows(self._fitted(), matrix)

    def choices(self) -> list[FeatureMap]:
        """Return the candidates of `fit`.

        Returns
        -------
        list of FeatureMap
            Fitted maps that read a table as this one does.
        """
        return [self]

    def plain_rows(self, X: Any) -> MadeRows | None:
        """Make the rows of an array that needs no `read`.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows.

        Returns
        -------
        MadeRows or None
            None if they need `read`, which also reports errors in them.
        """
        row_map = getattr(self, "_row_map", None)
        if row_map is None or type(X) is not np.ndarray or X.ndim != 2 or X.size == 0 or X.shape[1] != row_map.p:
            return None
        if X.dtype not in (np.float32, np.float64) or not (X.flags.c_contiguous and X.flags.aligned and self._of_numbers):
            return None
        good = np.isfinite(X).all() or (self.missing and not np.isinf(X).any())
        return MadeRows(row_map, X) if good else None

    def transform(self, X: Any) -> Any:
        """Make the features of all rows.

        Parameters
        ----------
        X : {array-like, data frame} of shape (n, n_features)
            The table.

        Returns
        -------
        {csr_matrix, csr_array, ndarray} of shape (n, n_features_out_)
            The features; a dense array if every row has all features, or by `sparse_output`.  The type of sparse rows is that
            of scikit-learn's setting `sparse_interface`.

        Raises
        ------
        ValueError
            If the rows are sparse, and `set_output` asks for data frames.
        """
        rows = self.rows(self.read(X)).matrix()
        if not sparse.issparse(rows):
            return rows
        if self.sparse_output and (container := container_of(self)) != "default":
            raise ValueError(
                f"sparse_output={self.sparse_output!r} makes sparse rows, and set_output(transform={container!r}) asks for dense "
                "ones; set sparse_output=False or set_output(transform='default')."
            )
        return as_configured(rows) if self.sparse_output else rows.toarray()

    def get_feature_names_out(self, input_features: Any = None) -> NDArray:
        """Name the features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns, if X had none; otherwise they must be those of X.

        Returns
        -------
        ndarray of str
            A unique name for each feature.
        """
        self._fitted()
        return self._names([str(name) for name in _check_feature_names_in(self, input_features)])

    def _names(self, columns: list[str]) -> NDArray:
        raise TypeError(f"{type(self).__name__} does not define _names(); a map must.")

    # ------------------------------------------------------------------------------------------------------------- as saved

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name not in ("_row_map", "_others")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_gathered" in state:
            self._row_map = self._restored(state) if "_state" in state else None
            if self._row_map is not None:
                self._of_numbers = all(known is None for known in self._categories)

    def _restored(self, state: dict[str, Any]) -> RowMap:
        """Return the compiled map of a saved state."""
        known, hashed, saved = (state.get(name) for name in ("_categories", "_hashed", "_state"))
        lists = all(isinstance(part, (tuple, list)) for part in (known, hashed, saved))
        texts = lists and all(own is None or (isinstance(own, np.ndarray) and own.dtype.kind == "U") for own in known or ())
        p, names = state.get("n_features_in_"), state.get("feature_names_in_")
        of_columns = type(p) is int and len(known or ()) == p and (names is None or np.shape(names) == (p,))
        if texts and of_columns and all(type(places) is int for places in hashed or ()) and len(known or ()) == len(hashed or ()):
            row_map = self._built(tuple(saved or ()))
            sizes = [(0 if own is None else len(own)) + places for own, places in zip(known or (), hashed or (), strict=True)]
            if sizes == self._n_categories(row_map).tolist():
                return row_map
        raise ValueError(f"The saved state of a {type(self).__name__} is damaged: its categories are not those of its columns.")

    def _n_categories(self, row_map: RowMap) -> NDArray:
        """Return the number of categories of each column."""
        return np.zeros(row_map.p, dtype=np.intp)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = bool(self.missing)
        return tags


class PiecewiseLinear(FeatureMap):
    """Hat functions of columns and their products (alias "piecewise").

    Hats have their knots at quantiles; products are of pairs of columns.

    A linear model of these features is a generalised additive model with interactions (Lou et al. 2013), whose functions are
    linear between knots (an encoding of numbers as in Gorishniy et al. 2022)::

        score(x) = b + sum_j f_j(x_j) + sum_(i, j) f_ij(x_i, x_j)

    A number at the fraction f between knots k and k + 1 of its column has the value 1 - f at hat k and f at hat k + 1; outside
    the knots it has the value 1 at the nearest hat.  A further feature is (x - mean) / sd, clipped to 6.  The knots are quantiles
    from .01 to .99 of at most 100,000 evenly spaced rows; a column with few values has these as knots.  A pair of columns has the
    products of their hats at fewer knots, of which at most four are not 0.

    A missing value has no hat, no value and no products, but an indicator of its own if any was missing in `fit`; nothing is
    imputed.  A category has an indicator.  The 256 most frequent categories of a column have one each, and others share 256 by a
    hash of their text.  A category that `fit` has not seen has one of the shared indicators, or none.  Products with categories
    are hashed if they have more than 2^20 places.

    Monotone curves (`monotonic_cst`) are a constraint of estimators: of two classes, and of the scores of ranks with
    ``representation="shared"``.  After each step the weights of a column's hats, and of its factors in each pair, are replaced
    by the nearest ones in order: isotonic regression, the projection in the Euclidean norm.  So `norm` must be "l2" or "auto".
    Missing values have a weight of their own, which is free.  Two monotone columns have no pair, and nothing else changes in
    the transformer.  A stream uses monotone columns from its 500th row on.

    If there are more pairs than `n_pairs`, the map takes those whose means over a grid of 8 x 8 quantiles explain most of the
    residuals of an additive fit of y on the same bins.  It uses 20,000 rows, or fewer if there are many pairs.  Labels count as
    indicators, with the sum over several.  Of many columns only those are tried that explain most by themselves.
    Without y the pairs are columns that are near each other.  In `fit` of an estimator, a row of weight 2 counts as two rows.

    Where an estimator holds out rows in `fit`, it compares 12 and 32 knots (5 and 8 for pairs), and 100 and 12 pairs.  A
    parameter that is given is not compared.  A model from which rows are held out has pairs that were chosen without the labels
    of these rows.  In streams and as a transformer the map has 12 knots, 5 for pairs, and 100 pairs.

    Parameters
    ----------
    n_knots : int, default=None
        Number of hats of a column, from 2 to 255.  None is 12; where an estimator compares maps of 500 rows or more, 32 is
        tried, too.
    n_pairs : int, default=None
        Largest number of pairs of columns with products; all pairs of 14 columns are 91.  0 gives hats alone.  None is 100; where
        an estimator compares maps, 12 are tried, too.
    pair_knots : int, default=None
        Hats of each column of a pair, from 2 to 16.  None is 5, and 8 beside 32 hats of a column.
    missing : bool, default=True
        Whether values may be missing; otherwise NaN raises ValueError.
    categories : "auto", None or list of str and int, default="auto"
        Columns that hold categories, by name or number; None is no column.  "auto" takes the columns of data frames whose type is
        category or bool, and columns of strings or objects in which more than 5 % of the distinct values are no numbers.  Text in
        a column of numbers counts as missing, with a warning that names it; so do the strings that pandas reads as missing.
    monotonic_cst : array-like of int of shape (n_features,) or dict of str to int, default=None
        1 where the score of the second class, or of ranks, must not fall with the column if the others stay the same; -1 where
        it must not rise, and 0 where it is free.  A dict has names of columns, and the others are free.  None is no constraint.
    sparse_output : bool, default=True
        Whether `transform` returns sparse rows.  ``set_output(transform="pandas")`` needs dense ones.  In an estimator it has no
        effect.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table has names.

    See Also
    --------
    RandomFourier : Features of an isotropic kernel.
    sklearn.preprocessing.SplineTransformer : Splines of each column, without pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron.features import PiecewiseLinear
    >>> X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    >>> encoder = PiecewiseLinear(n_knots=3, pair_knots=2).fit(X)
    >>> print(encoder.transform([[1.0, 3.0]]).toarray().round(1))
    [[ 0.5  0.5  0.  -0.6  0.   1.   0.   0.   0.4  0.4  0.1  0.1]]
    >>> print(*encoder.get_feature_names_out()[[0, 3, 8]], sep=", ")
    x0 at 0, x0, x0 at 0.04 x x1 at 1.04
    """

    alias = "piecewise"
    synonyms: tuple[str, ...] = ("hats", "gam", "ga2m", "splines", "piecewise_linear")
    _parameter_constraints: dict[str, list] = {
        "n_knots": [Interval(Integral, 2, MOST_KNOTS, closed="both"), None],
        "n_pairs": [Interval(Integral, 0, None, closed="left"), None],
        "pair_knots": [Interval(Integral, 2, MOST_FACTORS, closed="both"), None],
        "missing": ["boolean"],
        "sparse_output": ["boolean"],
    }

    def __init__(
        self,
        *,
        n_knots: int | None = None,
        n_pairs: int | None = None,
        pair_knots: int | None = None,
        missing: bool = True,
        categories: types.AutoName | list[Any] | None = "auto",
        monotonic_cst: ArrayLike | Mapping[Any, int] | None = None,
        sparse_output: bool = True,
    ):
        self.n_knots = n_knots
        self.n_pairs = n_pairs
        self.pair_knots = pair_knots
        self.missing = missing
        self.categories = categories
        self.monotonic_cst = monotonic_cst
        self.sparse_output = sparse_output

    @property
    def radius_(self) -> float:
        """The largest Euclidean length of a row.

        It is sqrt(37 a + b + r) for a numeric columns, b others and r pairs.

        The hats or the indicator of a column have a length of at most 1; numeric columns have one more value, clipped to 6.  The
        products of a pair have a length of at most 1.
        """
        layout = self._layout()
        numbers = layout.kind == NUMBERS
        others = ~numbers & ((layout.kind == CATEGORIES) | (layout.missing >= 0))
        return float(np.sqrt((CLIP**2 + 1) * numbers.sum() + others.sum() + len(layout.description.pairs)))

    @property
    def categories_(self) -> list[NDArray | None]:
        """Categories of each column by frequency; None for numbers."""
        self._fitted()
        return self._categories

    @property
    def knots_(self) -> list[NDArray]:
        """Knots of each column; none if constant or categorical."""
        described = self._layout().description
        return [knots[:n] for knots, n in zip(described.hats, described.n_hats, strict=True)]

    @property
    def terms_(self) -> list[tuple[int, ...]]:
        """The terms of the model: columns, and pairs of them."""
        return self._layout().terms()[0]

    @property
    def term_of_(self) -> NDArray:
        """The term number of each feature."""
        return self._layout().terms()[1]

    def _check_parameters(self) -> None:
        self._validate_params()
        accepted = isinstance(self.categories, (list, tuple, np.ndarray)) or self.categories in (None, "auto")
        if not accepted or not all(isinstance(c, (str, Integral)) and not isinstance(c, bool) for c in self.categories or ()):
            raise ValueError(
                f"categories={self.categories!r} is not known; "
                "accepted are 'auto', None, and a list of names or numbers of columns."
            )

    def choices(self) -> list[FeatureMap]:
        """Return the candidates: each number of knots that was not given with each number of pairs that was not.

        Returns
        -------
        list of FeatureMap
            Fitted maps that read a table as this one does; a map that was read from a file offers itself alone.
        """
        self._fitted()
        return [self, *(self._twin(settings, state) for settings, state in getattr(self, "_others", ()))]

    def _twin(self, settings: dict[str, int], state: tuple[Any, ...]) -> PiecewiseLinear:
        """Return a map of the same columns with other knots or pairs."""
        twin = PiecewiseLinear(**{**self.get_params(), **settings})
        fitted = {name: value for name, value in vars(self).items() if name not in vars(twin) and name != "_others"}
        twin.__dict__.update({**fitted, "_state": state, "_row_map": PiecewiseMap(Description(*state))})
        return twin

    def _layout(self) -> FeatureLayout:
        return FeatureLayout(self._fitted().description)

    def _ranking(self, matrix: NDArray, Y: NDArray | None, weight: NDArray | None) -> PairRanking:
        """Return the ranking of the pairs of the columns of a table, as this map reads it."""
        d = self._layout().description
        of_numbers = d.n_hats > 0
        columns = np.flatnonzero(of_numbers | (d.n_categories > 0))
        return PairRanking(matrix, columns, of_numbers, Y, weight, d.monotonic != 0)

    def _pairs_of(self, ranking: PairRanking) -> int | None:
        """Return the number of pairs that labels decide; None if all pairs have products, or none."""
        most = PAIRS[0] if self.n_pairs is None else self.n_pairs
        return most if 0 < most < ranking.n_pairs else None

    def _with_pairs(self, ranking: PairRanking, rows: NDArray | None) -> PiecewiseLinear:
        """Return the same map with the pairs that are best by the labels of these rows, or of all."""
        return self._twin({}, (*self._state[:-1], pairs_in_order(ranking.best(self._pairs_of(ranking) or 0, rows))))

    def _first_read(self, table: ColumnSource) -> tuple[NDArray, list[NDArray | None], list[int], list[Words]]:
        self._signs(table)
        return super()._first_read(table)

    def _signs(self, table: ColumnSource) -> NDArray:
        """Return the sign of the curve of each column of a table; 0 is none."""
        if self.monotonic_cst is None:
            return np.zeros(table.p, dtype=np.intp)
        return signs_of(table, self.monotonic_cst, chosen_categories(table, self.categories))

    def _state_of(
        self, table: ColumnSource, matrix: NDArray, n_categories: NDArray, Y: NDArray | None, weight: NDArray | None
    ) -> tuple[Any, ...]:
        signs = self._signs(table)
        rows = evenly(len(matrix), ROWS_OF_KNOTS)
        n = len(matrix) if weight is None else times(weight).sum()
        settings = KNOTS if n >= ROWS_OF_FINE_KNOTS else KNOTS[:1]
        knots = without_repeats((self.n_knots or most, self.pair_knots or of_pairs) for most, of_pairs in settings)
        found = []
        for j, n in enumerate(n_categories):
            column = matrix[rows, j] if n == 0 else np.full(len(rows), np.nan)
            there = ~np.isnan(column)
            found.append(describe_column(column[there], knots, None if weight is None else weight[rows][there]))
        mean, sd = np.array([numbers.mean for numbers in found]), np.array([numbers.sd for numbers in found])
        of_numbers = np.array([len(numbers.knots[0][0]) > 0 for numbers in found])
        n_pairs = PAIRS if self.n_pairs is None else (self.n_pairs,)
        columns = np.flatnonzero(of_numbers | (n_categories > 0))
        pairs = PairRanking(matrix, columns, of_numbers, Y, weight, signs != 0).best(n_pairs[0])
        missing = np.isnan(matrix).any(axis=0).astype(np.intp)
        states: list[tuple[dict[str, int], tuple[Any, ...]]] = []
        for i, (most, of_pairs) in enumerate(knots):
            tables = *filled([numbers.knots[i][0] for numbers in found], most), *filled([n.knots[i][1] for n in found], of_pairs)
            for n in without_repeats(min(n, len(pairs)) for n in n_pairs):
                chosen = {"n_knots": most, "n_pairs": n, "pair_knots": of_pairs}
                state = Description(*tables, mean, sd, n_categories.astype(np.intp), missing, signs, pairs_in_order(pairs[:n]))
                states.append((chosen, tuple(state)))
        first, *self._others = states
        finer = knots[1:] and any(len(numbers.knots[1][0]) > len(numbers.knots[0][0]) for numbers in found)
        if not finer:  # columns with few values have the same knots
            self._others = [other for other in self._others if other[0]["n_knots"] == knots[0][0]]
        return first[1]

    def _built(self, state: tuple[Any, ...]) -> RowMap:
        return PiecewiseMap(*state)

    def _n_categories(self, row_map: RowMap) -> NDArray:
        return row_map.description.n_categories

    def _names(self, columns: list[str]) -> NDArray:
        return feature_names(columns, self._categories, self._layout())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = self.categories is not None
        return tags


def pairs_in_order(pairs: NDArray) -> NDArray:
    """Return pairs of columns in rising order."""
    return pairs[np.lexsort(pairs.T[::-1])]


def without_repeats(values: Iterable[Any]) -> list[Any]:
    """Return the values without those that came before."""
    return list(dict.fromkeys(values))


def filled(knots: list[NDArray], most: int) -> tuple[NDArray, NDArray]:
    """Return the numbers of knots, and all knots zero-padded."""
    table = np.zeros((len(knots), most))
    for row, own in zip(table, knots, strict=True):
        row[: len(own)] = own
    return np.array([len(own) for own in knots], dtype=np.intp), table


class Auto(PiecewiseLinear):
    """The best candidate map on held-out rows (alias "auto").

    An estimator chooses in `fit` on the held-out rows of its folds or its split (`cv`).  The candidates are those of
    `PiecewiseLinear`, the cosines of `RandomFourier`, and columns of numbers as they are.  Cosines are for tables of numbers:
    many columns may interact, but no summands explain the score of a row.

    Columns of numbers, at most 300 and without missing values, are trained first, as by ``features=None``.  A map replaces them
    only if its log loss on the held-out rows is lower by 1.5 standard errors of the differences by row (with `costs` in `fit`:
    the average realised cost).  Otherwise the fit is, to the last bit, that of ``features=None``.  A map chosen for numbers
    without missing values accepts none later.

    Maps are compared after three epochs of at most 3,000 rows: first the one with the fewest features and cosines, and the others
    only if one of these is ahead of the columns.  The two best, and cosines that are not far behind, are trained further.  A map
    whose losses are higher than another's by a standard error after as many epochs ends; for cosines this counts from ten epochs
    on.  Cosines must be better than hats by a standard error, because they take about ten times as long to predict.

    Where rows are not held out (fewer than 20, ``cv=0``, ``decision="learned"``, ``average="auto"``, ``warm_start=True``), and
    with kernels, columns of numbers stay as they are, and so do CSR rows and streams.  Tables with words or missing values have
    a map in any case; where nothing is compared, and as a transformer, it is `PiecewiseLinear` with its default settings.

    Parameters
    ----------
    n_knots : int, default=None
        Number of hats of a column, as for `PiecewiseLinear`.
    n_pairs : int, default=None
        Largest number of pairs of columns with products, as for `PiecewiseLinear`.
    pair_knots : int, default=None
        Hats of each column of a pair, as for `PiecewiseLinear`.
    missing : bool, default=True
        Whether values may be missing; otherwise NaN raises ValueError.
    categories : "auto", None or list of str and int, default="auto"
        Columns that hold categories, as for `PiecewiseLinear`.
    sparse_output : bool, default=True
        Whether `transform` returns sparse rows, as for `PiecewiseLinear`.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table has names.

    See Also
    --------
    PiecewiseLinear : Hats and products, with a choice among their numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> X = np.random.default_rng(0).standard_normal((600, 4))
    >>> for y in (X[:, 0] + X[:, 1] > 0, np.sin(3 * X[:, 0]) > 0, (X**2).sum(axis=1) > 3.4):
    ...     model = PredtronBinaryClassifier(features="auto", random_state=0).fit(X, y)
    ...     print(getattr(model, "features_", None))
    None
    PiecewiseLinear(missing=False, n_knots=32, n_pairs=6, pair_knots=8)
    RandomFourier(missing=False)
    """

    alias = "auto"
    synonyms = ("chosen",)

    def __init__(
        self,
        *,
        n_knots: int | None = None,
        n_pairs: int | None = None,
        pair_knots: int | None = None,
        missing: bool = True,
        categories: types.AutoName | list[Any] | None = "auto",
        sparse_output: bool = True,
    ):
        self.n_knots = n_knots
        self.n_pairs = n_pairs
        self.pair_knots = pair_knots
        self.missing = missing
        self.categories = categories
        self.sparse_output = sparse_output

    def choices(self) -> list[FeatureMap]:
        """Return the candidates: those of `PiecewiseLinear`, and for numbers cosines.

        Returns
        -------
        list of FeatureMap
            Fitted maps that read a table as this one does.
        """
        return [*super().choices(), *([self._cosines()] if self._of_numbers else [])]

    def _cosines(self) -> RandomFourier:
        """Return cosines of the same columns."""
        described, found = self._layout().description, RandomFourier(missing=self.missing)
        own = {name: value for name, value in vars(self).items() if name in ("n_features_in_", "feature_names_in_")}
        state = found._state_by(described.mean, described.sd)
        found.__setstate__(
            {
                **found.__getstate__(),
                **own,
                "_gathered": None,
                "_categories": self._categories,
                "_hashed": self._hashed,
                "_state": state,
            }
        )
        return found


class RandomFourier(FeatureMap):
    """Random Fourier features for the Gaussian kernel (alias "fourier").

    They are features of the standardised columns.

    Rahimi and Recht (2007): the features sqrt(2 / D) cos(w_k z + b_k), k = 1..D, of z = (x - mean) / sd have inner products near
    exp(-gamma |z - z'|^2), for w_k normal with variance 2 gamma and b_k uniform.  The columns hold numbers; a missing value is
    replaced by its column's mean.  Mean and deviation are those of at most 100,000 evenly spaced rows.  Rows have all features
    and are dense.  A fit keeps the features of the first rows, 64 MB at most, and computes the others in each epoch.

    Parameters
    ----------
    n_features : int, default=1000
        Number of features, D.
    gamma : float, default=None
        Inverse of the squared width; None is 1 / p for p columns.
    random_state : int, RandomState instance or None, default=0
        Seed of the directions; an int gives the same ones at each `fit`.
    missing : bool, default=True
        Whether values may be missing; otherwise NaN raises ValueError.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table has names.

    See Also
    --------
    PiecewiseLinear : Features that can be interpreted.
    sklearn_predtron.norms.RKHS : The kernel itself.
    sklearn.kernel_approximation.RBFSampler : The same features of rows that are not standardised.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron.features import RandomFourier
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> Z = RandomFourier(n_features=4000).fit(X).transform(X)
    >>> exact = np.exp(-0.5 * (((X[0] - X[1]) / X.std(axis=0)) ** 2).sum())
    >>> print(round(Z[0] @ Z[1], 2), round(exact, 2))
    0.86 0.85
    """

    alias = "fourier"
    synonyms = ("random_fourier", "rff", "rbf_sampler")
    _parameter_constraints: dict[str, list] = {
        "n_features": [Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "random_state": ["random_state"],
        "missing": ["boolean"],
    }

    def __init__(self, *, n_features: int = 1000, gamma: float | None = None, random_state: Any = 0, missing: bool = True):
        self.n_features = n_features
        self.gamma = gamma
        self.random_state = random_state
        self.missing = missing

    @property
    def radius_(self) -> float:
        """The largest Euclidean length of a row, sqrt(2)."""
        self._fitted()
        return float(np.sqrt(2.0))

    def _state_of(
        self, table: ColumnSource, matrix: NDArray, n_categories: NDArray, Y: NDArray | None, weight: NDArray | None
    ) -> tuple[Any, ...]:
        rows = evenly(len(matrix), ROWS_OF_KNOTS)
        present = ((column, ~np.isnan(column)) for column in matrix[rows].T)
        frequency = None if weight is None else weight[rows]
        found = [
            describe_column(column[there], [(2, 2)], None if frequency is None else frequency[there]) for column, there in present
        ]
        return self._state_by(np.array([numbers.mean for numbers in found]), np.array([numbers.sd for numbers in found]))

    def _state_by(self, mean: NDArray, sd: NDArray) -> tuple[Any, ...]:
        """Return the compiled state for means and standard deviations."""
        p, random = len(mean), check_random_state(self.random_state)
        gamma = 1 / p if self.gamma is None else self.gamma
        turns = np.sqrt(2 * gamma) / (2 * np.pi) * random.normal(size=(p, self.n_features))
        phase = random.uniform(0, 1, self.n_features)
        return turns, phase, mean, sd, float(np.sqrt(2 / self.n_features))

    def _built(self, state: tuple[Any, ...]) -> RowMap:
        return FourierMap(*state)

    def _names(self, columns: list[str]) -> NDArray:
        return unique([f"fourier{k}" for k in range(self.n_features_out_)])


# Saved models name their classes by the path of the package, whatever module defines them.
for one in [*globals().values()]:
    if isinstance(one, type) and one.__module__ == __name__:
        one.__module__ = __name__.rpartition(".")[0]
del one
