"""Scores as sums over columns and their pairs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_predtron._core.problem import Problem
from sklearn_predtron._core.rows import OVERFLOW
from sklearn_predtron._support.compat import as_configured
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.families.input.reading import BlockReader
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.model.model import Model
from sklearn_predtron.features import FeatureMap
from sklearn_predtron.features._names import unique
from sklearn_predtron.predictor._scoring import map_blocks
from sklearn_predtron.problems._finite import FiniteProblem
from sklearn_predtron.problems._preferences import PreferencesProblem

ENTRIES = 1 << 20  # features and summands of a block of rows
MOST_FEATURES = 4  # nonzero features of a term in a row


class Explanation(NamedTuple):
    """The summands of scores, as returned by `explain`.

    Parameters
    ----------
    values : {ndarray, csr_matrix, list of csr_matrix}
        The summands, of shape (n_samples, n_terms) for one score and (n_samples, n_terms, n_scores) for several.  For CSR rows
        without `features` they are a CSR matrix, or a list with one for each score.
    base : float or ndarray of shape (n_scores,)
        The intercept, to which the summands are added.
    names : ndarray of shape (n_terms,)
        The names of the terms: the name of a column, or those of two with " x " between them.
    terms : list of tuples of int
        For each term the number of its column, or of its two columns.

    See Also
    --------
    EffectsDisplay : Draws the terms as functions of the columns.

    Examples
    --------
    >>> from sklearn_predtron.inspection import Explanation
    >>> explanation = Explanation([[0.5, -0.25]], 1.0, ["age", "income"], [(0,), (1,)])
    >>> explanation.scores()
    array([1.25])
    """

    values: Any
    base: Any
    names: Any
    terms: list[tuple[int, ...]]

    def scores(self) -> NDArray:
        """Add the summands up.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_scores)
            The scores, equal to those of the estimator up to rounding.
        """
        if isinstance(self.values, list) and any(map(sparse.issparse, self.values)):
            return np.stack([total(values) for values in self.values], axis=1) + self.base
        return total(self.values) + self.base


def total(values: Any) -> NDArray:
    """Return the sums of rows of summands."""
    return np.asarray(values.sum(axis=1)).ravel() if sparse.issparse(values) else np.asarray(values).sum(axis=1)


class Additive:
    """The scores of an estimator as sums of terms.

    All are of one moment.

    Parameters
    ----------
    model : Model
        The fitted model, which reads rows.
    reader : RowReader
        Splits ids from rows.
    coef : ndarray of shape (d, width)
        Weights of the features.
    base : ndarray of shape (d,)
        The intercept.
    targets : list
        The class, label or number of each score.
    """

    def __init__(self, model: Model, reader: Any, coef: NDArray, base: NDArray, targets: list[Any]):
        self.model, self.reader = model, reader
        self.coef, self.base, self.targets = coef, base, targets
        features = model.columns.features
        self.map: FeatureMap | None = features if isinstance(features, FeatureMap) else None
        p = coef.shape[1] if self.map is None else self.map.n_features_in_
        names = model.columns.names
        self.columns = [f"x{j}" for j in range(p)] if names is None else [str(name) for name in names]
        self.terms: list[tuple[int, ...]] = [(j,) for j in range(p)] if self.map is None else self.map.terms_

    @classmethod
    def of(cls, estimator: Any) -> Additive:
        """Return the present scores of an estimator; raise ValueError if they are not sums over columns."""
        model: Model = estimator._fitted_model()
        columns = model.columns
        if model.learner.weights.expansion is not None:
            raise ValueError(
                f"norm={model.norm!r} predicts by a kernel, whose scores are no sums over columns; accepted are the norms with a "
                "coef_, and features='piecewise' for functions of columns that are not linear."
            )
        if columns.n is None:
            raise ValueError(
                "A JointProblem has features of x and a prediction together, whose scores are no sums over columns of X."
            )
        if isinstance(columns.features, FeatureMap) and not hasattr(columns.features, "terms_"):
            raise ValueError(
                f"features={columns.features!r} mixes columns, so that scores are no sums over them; accepted are 'piecewise' "
                "and None."
            )
        coef, base = model.weights_to_predict(estimator._decision)
        coef = coef.toarray() if sparse.issparse(coef) else coef
        return cls(model, estimator._reader(), *decoded(model.problem, model.labels, coef, base))

    def only(self, target: Any) -> Additive:
        """Return the score of a single target; None is the only one there is."""
        if target is None and len(self.coef) == 1:
            return self
        accepted = [None] if len(self.coef) == 1 else self.targets
        if target not in accepted:
            raise ValueError(f"target={shortened(target)} is not known; accepted are {accepted}.")
        k = self.targets.index(target)
        return Additive(self.model, self.reader, self.coef[k : k + 1], self.base[k : k + 1], [target])

    @property
    def names(self) -> NDArray:
        """The names of the terms."""
        return unique([" x ".join(self.columns[j] for j in term) for term in self.terms])

    def read(self, X: Any) -> Any:
        """Return rows as numbers, for `explain`."""
        if isinstance(self.reader, BlockReader):
            X = self.reader.split_ids(X, None)[0]
        X, rows = self.model.read_rows(X)
        if self.map is None:
            self.model.check_finite(X, rows)
        return X

    def explain(self, X: Any) -> Explanation:
        """Return the summands of the scores of rows."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            if sparse.issparse(X):
                parts = self.of_sparse(X)
            else:
                parts = [self.of_columns(X) if self.map is None else self.of_table(X)]
        if not all(np.isfinite(part.data if sparse.issparse(X) else part).all() for part in parts):
            raise ValueError(OVERFLOW)
        if len(self.coef) > 1:
            return Explanation(parts if sparse.issparse(X) else parts[0], np.array(self.base), self.names, self.terms)
        values = parts[0] if sparse.issparse(X) else parts[0][:, :, 0]
        return Explanation(values, float(self.base[0]), self.names, self.terms)

    def of_sparse(self, X: Any) -> list[Any]:
        """Return for each score the summands of CSR rows."""
        return [
            as_configured(sparse.csr_matrix((X.data * w[X.indices], X.indices.copy(), X.indptr.copy()), shape=X.shape))
            for w in self.coef
        ]

    def of_columns(self, X: Any) -> NDArray:
        """Return the summands of dense rows."""
        return np.asarray(X)[:, :, None] * self.coef.T

    def of_table(self, X: Any) -> NDArray:
        """Return the summands of a table; the table is read under the feature map, block by block to save memory."""
        made, term_of, weights = self.map.rows, self.map.term_of_, np.ascontiguousarray(self.coef.T)  # type: ignore[union-attr]
        values = np.empty((len(X), len(self.terms), len(self.coef)))

        def fill(first: int, last: int) -> None:
            values[first:last] = by_term(made(X[first:last]).matrix(), term_of, len(self.terms), weights)

        most = len(self.terms) * (len(self.coef) + MOST_FEATURES)  # of a row
        map_blocks(len(X), max(1, ENTRIES // most), fill)
        return values


def by_term(features: Any, term_of: NDArray, n_terms: int, weights: NDArray) -> NDArray:
    """Return the sums of weighted features, by term; the rows are CSR; the features of a term are contiguous in a row."""
    rows = np.repeat(np.arange(features.shape[0]), np.diff(features.indptr))
    sizes = np.bincount(rows * n_terms + term_of[features.indices], minlength=features.shape[0] * n_terms)
    start = np.concatenate([[0], np.cumsum(sizes)])
    parts = sparse.csr_matrix((features.data, features.indices, start), shape=(len(sizes), features.shape[1]))
    return (parts @ weights).reshape(features.shape[0], n_terms, -1)


def decoded(problem: Problem, labels: Codec, coef: NDArray, base: NDArray) -> tuple[NDArray, NDArray, list[Any]]:
    """Return weights, intercepts and targets of `decision_function`; if it is not linear, they are those of the scores."""
    d = max(len(coef), len(base))
    coef, base = np.broadcast_to(coef, (d, coef.shape[1])), np.broadcast_to(base, d)
    found = [getattr(labels, name, None) for name in ("names", "classes")]
    known: list[Any] = next((names.tolist() for names in found if names is not None), [])
    if not isinstance(problem, FiniteProblem):
        return coef, base, known if len(known) == d and not isinstance(problem, PreferencesProblem) else list(range(d))
    code = problem.decision(np.eye(d))[:, : len(known)].T
    if len(known) == 2:
        code, known = (code[1:] - code[:1]) / (2 if d == 1 else 1), known[1:]
    return (coef, base, known) if np.array_equal(code, np.eye(d)) else (code @ coef, code @ base, known)
