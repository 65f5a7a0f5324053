"""Weights that are kept sparse, and made dense again to go on learning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._names import series
from sklearn_predtron._parts import kinds, real_number
from sklearn_predtron._typing import keeping_type
from sklearn_predtron.families._bounded import BEGAN
from sklearn_predtron.families._fitted import unfitted
from sklearn_predtron.families._linear_models import BeginsAtLinear, empty_rows
from sklearn_predtron.norms import Auto, Norm
from sklearn_predtron.norms._sparse import SparseWeights

if TYPE_CHECKING:
    from sklearn_predtron._typing import Self


def check_takes_weights(estimator: Any) -> bool:
    """Return True; raise ValueError if the norm has no weights that can be sparse, or if the first rows are yet to choose it."""
    norm = estimator._norm_of_weights()
    if isinstance(norm, Auto):
        raise unfitted(estimator, "weights")
    if not norm.takes_weights:
        accepted = series([repr(kind.alias) for kind in kinds(Norm) if kind.takes_weights])
        raise ValueError(f"norm={norm.alias!r} has no weights that can be kept sparse; accepted are {accepted}: give norm='l2'.")
    return True


class SparseCoef(BeginsAtLinear):
    """Has weights that may be kept sparse."""

    @keeping_type(available_if(check_takes_weights))
    def sparsify(self, tol: float = 0.0) -> Self:
        """Keep only the weights that predict and are not zero.

        The estimator predicts as before, `coef_` becomes a CSR matrix, and memory and saved models hold what is not zero, in the
        place of all weights and of the sums behind their average.  Learning goes on after `densify`.  The method is there if the
        norm has such weights, which "scaled" and "rkhs" have not: under "auto" once CSR rows have been learned, and dense ones
        want norm="l2" or another.

        Parameters
        ----------
        tol : float, default=0.0
            Weights of at most this share of the largest count as zeros, too, by which predictions may change.  Under the norms
            "l1" and "group" most weights are next to nothing, but few are zero.

        Returns
        -------
        Self
            The estimator.

        Raises
        ------
        ValueError
            If `tol` is no such share, or if scores share one direction.

        See Also
        --------
        densify : Makes the weights dense again.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_predtron import PredtronBinaryClassifier
        >>> X = np.random.default_rng(0).standard_normal((500, 200))
        >>> model = PredtronBinaryClassifier(norm="l1", random_state=0).fit(X, X[:, 3] > X[:, 5])
        >>> model.sparsify(tol=0.05).coef_.nnz, round(model.score(X, X[:, 3] > X[:, 5]), 2)
        (3, 0.99)
        """
        least = real_number(tol)
        if least is None or not 0 <= least < 1:
            raise ValueError(f"tol={tol!r} must be a number from 0 to below 1.")
        with self._busy:
            check_is_fitted(self)
            norm, weights = self._norm_of_sparse(), self._learner.weights
            W, b = self._learner.read(lambda weights: weights.mean())
            W = W.toarray() if sparse.issparse(W) else W
            W = np.where(np.abs(W) > least * np.abs(W).max(), W, 0.0)
            r2 = weights.intercept.squared_length
            size = norm.length(W, b / r2**0.5 if r2 > 0 else b[:0], apart=False)
            how = weights.intercept, weights.score_map, bool(weights.by_feature or weights.thin), weights.averaging, size
            kept = sparse.csc_array(W)
            arrays = kept.indptr.astype(np.intp), kept.indices.astype(np.intc), kept.data, b
            self._take_weights(SparseWeights(*W.shape, *how, *arrays))
        return self

    def densify(self) -> Self:
        """Make sparse weights dense, so that learning goes on from what predicts.

        The last iterate, the average and what both were made of are no longer there: the next iterate follows the weights that
        predict, and the average is over those to come.  For the losses to come no bound is proven.

        Returns
        -------
        Self
            The estimator; one whose weights are dense is left as it is.

        See Also
        --------
        sparsify : Keeps only the weights that are not zero.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn_predtron import PredtronClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = PredtronClassifier(norm="l2", random_state=0).fit(X, y).sparsify()
        >>> type(model.coef_).__name__, type(model.densify().coef_).__name__
        ('csr_matrix', 'ndarray')
        """
        with self._busy:
            check_is_fitted(self)
            learner, kept = self._learner, self._learner.weights
            if isinstance(kept, SparseWeights):
                self._check_fixed()
                rows = empty_rows(kept.p, is_sparse=kept.by_feature)
                weights: Any = self._build_weights(learner.problem, rows, average=kept.averaging > 0)
                weights.intercept.__setstate__(kept.intercept.__reduce__()[2])
                W, b = kept.mean()
                weights.begin_at(W.toarray(), b)
                weights.keep_averages(kept.averaging)
                self._learned_with = BEGAN
                self._take_weights(weights)
        return self

    def _take_weights(self, weights: Any) -> None:
        """Go on with other weights that predict the same."""
        learner = self._learner.with_weights(weights, self._learner.problem, self._learner.observer)
        self._learner = learner
        if "_stream" in vars(self):
            self._close_stream()
            self._stream = self._open_stream()

    def _norm_of_sparse(self) -> Norm:
        """Return the norm; refuse one direction for all scores, whose weights are kept otherwise."""
        self._check_fixed()
        if self._learner.problem.score_map.offsets_apart:
            raise ValueError(
                f"representation={self.representation!r} has one direction, whose weights are not kept sparse; accepted are "
                "representations with weights for each score."
            )
        return self._norm_of_weights()
