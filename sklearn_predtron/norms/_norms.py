"""The norms, as parts of estimators."""

from __future__ import annotations

from collections.abc import Callable
from math import floor, log
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.intercept import Intercept
from sklearn_predtron._core.score_map import ScoreMap
from sklearn_predtron._core.weights import Weights
from sklearn_predtron._support import types
from sklearn_predtron._support.compat import Interval, StrOptions
from sklearn_predtron._support.names import refuse_class, series
from sklearn_predtron._support.parts import Part, kinds
from sklearn_predtron.norms._budget import BudgetedWeights
from sklearn_predtron.norms._kernel_functions import KERNELS, Kernel, PrecomputedSupport, Support
from sklearn_predtron.norms._l2 import L2Weights
from sklearn_predtron.norms._lengths import largest_length, length_of_features, spectral_length, weights_length
from sklearn_predtron.norms._monotone import MonotoneWeights
from sklearn_predtron.norms._p_norms import GroupWeights, PNormWeights
from sklearn_predtron.norms._rkhs import RKHSWeights
from sklearn_predtron.norms._scaled import ScaledWeights
from sklearn_predtron.norms._trace import TraceWeights

__all__ = ["L2", "RKHS", "Auto", "Group", "Norm", "PNorm", "Scaled", "Trace"]

LARGEST_BY_DEFAULT = 8.0  # of the exponents of "l1" and "group"
WITH_GAMMA = ("rbf", "laplacian", "poly", "polynomial", "sigmoid", "chi2")


class Norm(Part):
    """Base of the norms.

    See Also
    --------
    Auto : The default.
    sklearn_predtron.updates.Update : Base of the updates.

    Examples
    --------
    The length of the same weights under two norms, of which an estimator takes an instance or its alias:

    >>> import numpy as np
    >>> from sklearn_predtron.norms import L2, Group, Norm
    >>> issubclass(Group, Norm)
    True
    >>> [round(norm.length(np.array([[3.0, 4.0]]), np.zeros(0), apart=True), 2) for norm in (L2(), Group(q=4))]
    [5.0, 5.91]
    """

    pairwise = False  # whether X holds kernels of rows with rows
    takes_weights = False  # whether learning can begin at given weights
    measured = False  # whether it has a length of given weights and rows
    of_sequences = False  # whether the tokens of sequences can be learned under it
    scores_apart = False  # whether a step changes the weights of each score as it would without the others
    theorem: str | None = None  # the theorem that extends the bounds to the norm

    def for_rows(self, *, sparse: bool) -> Norm:
        """Choose the norm for rows to come.

        Parameters
        ----------
        sparse : bool
            Whether the first of them are sparse.

        Returns
        -------
        Norm
            The norm itself, but for `Auto`.
        """
        return self

    def build(self, score_map: ScoreMap, p: int, *, intercept: Intercept, sparse: bool, average: bool) -> Weights:
        """Make the compiled weights.

        Parameters
        ----------
        score_map : ScoreMap
            The map from the rows of a round to its scores, of which there are ``score_map.d`` a row.
        p : int
            Features.
        intercept : Intercept
            The virtual feature.
        sparse : bool
            Whether the first rows to come are sparse.
        average : bool
            Whether the iterates are averaged.

        Returns
        -------
        Weights
            Zero weights.
        """
        raise TypeError(f"{type(self).__name__} does not define build(); a norm must.")

    def constants(self, d: int, p: int) -> dict[str, float]:
        """Return the norm's parameters that follow from its sizes.

        They are given by name; `widen` cannot change them.

        Parameters
        ----------
        d : int
            Scores.
        p : int
            Features.

        Returns
        -------
        dict
            Names of parameters, and their values for weights of this size; empty where there are none.
        """
        return {}

    def length(self, W: NDArray, beside: NDArray, *, apart: bool) -> float:
        """Measure weights, as `margin` does.

        Parameters
        ----------
        W : ndarray of shape (d, n_features)
            The weights.
        beside : ndarray of shape (d,) or (0,)
            The intercept's weights, if there are any.
        apart : bool
            Whether these are measured on their own, at a right angle to the others.

        Returns
        -------
        float
            The length.
        """
        raise ValueError(self._unmeasured())

    def largest_length(self, X: Any, feature: float, *, apart: bool) -> float:
        """Measure rows in the dual norm.

        It is the radius of the bounds.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n, n_features)
            The rows.
        feature : float
            The intercept's feature; 0 is none.
        apart : bool
            Whether this is measured on its own, at a right angle to the others.

        Returns
        -------
        float
            The largest length of a row.
        """
        raise ValueError(self._unmeasured())

    def query_length(self, documents: Any) -> float:
        """Measure a query.

        Bound the dual norm of X^T g by |g|.

        Parameters
        ----------
        documents : {ndarray, sparse matrix} of shape (m, n_features)
            The query's documents X.

        Returns
        -------
        float
            The factor of |g|.
        """
        raise ValueError(self._unmeasured())

    def check_measured(self) -> None:
        """Raise ValueError if the norm cannot measure given weights."""
        if not self.measured:
            raise ValueError(self._unmeasured())

    def _unmeasured(self) -> str:
        have = series([repr(kind.alias) for kind in kinds(Norm) if kind.measured])
        return f"norm={self.alias!r} has no length of given weights or rows; {have} have: give norm='l2'."


class Auto(Norm):
    """`Scaled` for dense rows, `L2` for most CSR rows.

    The first training rows fix which of them it is.

    Dense rows come from tables and sensors: their columns differ in unit and offset.  Sparse rows hold counts, word weights and
    indicators of one scale, whose zeros are no values.  The choice is the estimator's `norm_`; it also holds for later rows of
    the other format, with one warning.  CSR rows use `Scaled`, too, if the first round (a row, query, sequence or group) stores
    at least one in twenty of its values and the root mean squares of its columns differ by a factor above 1,000; the split of a
    stream does not matter.  Other CSR rows whose columns differ so much give one warning, and need norm="scaled".  On the
    command line and in `ParameterMixing` an svmlight file counts as dense if its first chunk stores at least one in twenty of
    its values; a reader passes CSR rows to `partial_fit`.  A model that begins at given weights (`from_linear`) uses `L2`.

    Use "l2" for dense rows if a theorem must hold (`loss_bound`, `theory.margin`, `theory.radius`), for `sparsify`, to
    reproduce papers, and for features that are weighted on purpose, such as tf-idf in a dense array.

    See Also
    --------
    Scaled : For raw features, of any unit.
    L2 : For features of one scale.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sklearn.datasets import load_wine
    >>> from sklearn_predtron import PredtronClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> PredtronClassifier(features=None, random_state=0).fit(X, y).norm_
    'scaled'
    >>> PredtronClassifier(random_state=0).fit(csr_array(X > X.mean(axis=0), dtype=float), y).norm_
    'l2'
    """

    alias = "auto"
    of_sequences = True

    def for_rows(self, *, sparse: bool) -> Norm:
        return L2() if sparse else Scaled()

    def build(self, score_map: ScoreMap, p: int, *, intercept: Intercept, sparse: bool, average: bool) -> Weights:
        norm = self.for_rows(sparse=sparse)
        return norm.build(score_map, p, intercept=intercept, sparse=sparse, average=average)


class L2(Norm):
    """The Euclidean (Frobenius) norm.

    Steps along the inputs change W.

    Jain et al. (2015), Algorithm 1; "auto" uses it for most CSR rows.  Large features count for more: features should be of one
    scale.  Weights are stored class by class, or feature by feature if the first rows are sparse.

    See Also
    --------
    Scaled : For raw features, of any unit.
    RKHS : For scores that are not linear in the inputs.

    Examples
    --------
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.norms import L2
    >>> PredtronClassifier(norm=L2())
    PredtronClassifier(norm=L2())
    """

    alias = "l2"
    of_sequences = True
    synonyms = ("frobenius", "fro", "euclidean")
    takes_weights = measured = scores_apart = True

    def build(self, score_map: ScoreMap, p: int, *, intercept: Intercept, sparse: bool, average: bool) -> Weights:
        return L2Weights(score_map.d, p, intercept, by_feature=sparse, averaging=average, score_map=score_map)

    def length(self, W: NDArray, beside: NDArray, *, apart: bool) -> float:
        return weights_length(W.ravel(), 2.0, beside)

    def largest_length(self, X: Any, feature: float, *, apart: bool) -> float:
        return largest_length(X, feature, 2.0, True)

    def query_length(self, documents: Any) -> float:
        return spectral_length(documents)


class MonotoneL2(L2):
    """`L2` with weights of which some are in order; feature maps choose it, not users."""

    def __init__(self, orders: NDArray):
        self.orders = orders

    def build(self, score_map: ScoreMap, p: int, *, intercept: Intercept, sparse: bool, average: bool) -> Weights:
        return MonotoneWeights(
            score_map.d, p, intercept, by_feature=sparse, averaging=average, score_map=score_map, orders=self.orders
        )


class PNormBase(Norm):
    """Base of the norms |W|_r with 1/r + 1/q = 1; steps change dual weights, of which W is a power."""

    q: float | str | None
    takes_weights = measured = True
    theorem = "Theorem 15 for its norm"
    _parameter_constraints: dict[str, list] = {"q": [Interval(Real, 2, None, closed="left"), StrOptions({"theory"}), None]}

    def _sizes(self, W: NDArray) -> NDArray:
        """Return the numbers that the r-norm is of."""
        return W.ravel()

    def length(self, W: NDArray, beside: NDArray, *, apart: bool) -> float:
        q = self._exponent(W.shape[1])
        if len(beside) == len(W) and not apart:
            W, beside = np.column_stack([W, beside]), np.zeros(0)
        return weights_length(self._sizes(W), q, beside)

    def largest_length(self, X: Any, feature: float, *, apart: bool) -> float:
        return largest_length(X, feature, self._exponent(X.shape[1]), apart)

    def query_length(self, documents: Any) -> float:
        return length_of_features(documents, self._exponent(documents.shape[1]))

    def constants(self, d: int, p: int) -> dict[str, float]:
        return {"q": self._exponent(p)}

    def _exponent(self, p: int) -> float:
        self._validate_params()
        if self.q is not None and not isinstance(self.q, str):
            return float(self.q)
        theory = max(2.0, 2.0 * floor(log(p)))
        return theory if self.q == "theory" else min(theory, LARGEST_BY_DEFAULT)

    def _curvature(self, q: float) -> float:
        """Return the factor of |g x^T|^2 in step sizes.

        It is for updates that bound their steps.

        The derivative of the link at a feature j is at most (q - 1) (|Theta_j| / |Theta|_q)^(q - 2), and nowhere more than the
        theorems' q - 1; the default is for features half as long as Theta.
        """
        return (q - 1) * (0.5 ** (q - 2) if self.q is None else 1)

    def build(self, score_map: ScoreMap, p: int, *, intercept: Intercept, sparse: bool, average: bool) -> Weights:
        q = self._exponent(p)
        curvature = self._curvature(q)
        return PNormWeights(
            score_map.d, p, intercept, q, by_feature=sparse, averaging=average, score_map=score_map, curvature=curvature
        )


class PNorm(PNormBase):
    """The r-norm of all weights, r close to 1.

    Its alias is "l1".  It is for few relevant features among many.

    The bound on the loss grows with the logarithm of the number of features, and with the number of relevant ones (Jain et al.
    2015, Corollary 6 and supplement, B.2).  Theta <- Theta - eta g x^T, W = sign(Theta) |Theta|^(q - 1) / |Theta|_q^(q - 2).

    Parameters
    ----------
    q : float, "theory" or None, default=None
        The dual exponent, at least 2, 1/r + 1/q = 1; q = 2 is "l2".  "theory" is the largest even number up to 2 ln p for p
        features, or 2: powers with even exponents are several times as fast, and the bound's factor (q - 1) p^(2/q) is no
        larger than at 2 ln p.  None is the same, but at most 8, and the update "adaptive" takes steps 2^(q - 2) times as long.
        No bound is proven for these; with the theorem's steps, ten epochs learn little from rare labels and sparse rows.

    See Also
    --------
    Group : For few features that matter to all scores.
    sklearn_predtron.PredtronClassifier.sparsify : Drops the weights near zero.

    Examples
    --------
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.norms import PNorm
    >>> PredtronClassifier(norm=PNorm(q=8)).get_params()["norm__q"]
    8
    """

    alias = "l1"
    synonyms = ("p_norm", "lasso")

    def __init__(self, q: types.TheoryName | float | None = None):
        self.q = q


class Group(PNormBase):
    """The r-norm of the columns' Euclidean lengths, r near 1.

    Its alias is "group".  It is for few relevant features, each relevant to any score.

    A column holds a feature's weights for all scores; with one score it is "l1" (Jain et al. 2015, Corollary 8).
    Theta <- Theta - eta g x^T, column j of W = Theta_j |Theta_j|^(q - 2) / (sum_j |Theta_j|^q)^((q - 2) / q).

    Parameters
    ----------
    q : float, "theory" or None, default=None
        The dual exponent, at least 2, 1/r + 1/q = 1; q = 2 is "l2".  "theory" is the largest even number up to 2 ln p for p
        features, or 2: powers with even exponents are several times as fast, and the bound's factor (q - 1) p^(2/q) is no
        larger than at 2 ln p.  None is the same, but at most 8, and the update "adaptive" takes steps 2^(q - 2) times as long.
        No bound is proven for these; with the theorem's steps, ten epochs learn little from rare labels and sparse rows.

    See Also
    --------
    PNorm : For few weights, whatever features they are of.
    Trace : For scores that share directions of the inputs.

    Examples
    --------
    >>> from sklearn_predtron.norms import Group
    >>> Group()
    Group()
    """

    alias = "group"
    synonyms = ("l21", "group_lasso")

    def __init__(self, q: types.TheoryName | float | None = None):
        self.q = q

    def _sizes(self, W: NDArray) -> NDArray:
        return np.linalg.norm(W, axis=0)

    def build(self, score_map: ScoreMap, p: int, *, intercept: Intercept, sparse: bool, average: bool) -> Weights:
        if score_map.d == 1:
            return super().build(score_map, p, intercept=intercept, sparse=sparse, average=average)
        q = self._exponent(p)
        curvature = self._curvature(q)
        return GroupWeights(score_map.d, p, intercept, q, by_feature=sparse, averaging=average, curvature=curvature)


class Trace(Norm):
    """The trace norm (sum of the singular values).

    It is for scores that share a few directions of the inputs.

    Jain et al. (2015, supplement), Algorithm 3, with psi = |W|_S(r)^2 / 2, the Schatten norm of 1 / r + 1 / q = 1.  The steps
    add up to Theta (d x p), whose singular values, to the power q - 1, are those of W: scores along directions that many steps
    share count for more.  A step costs an eigendecomposition of a d x d matrix; W is never decomposed.  For a single score, for
    a single feature and for q = 2 the norm is the Euclidean one, and the weights are those of `L2`.

    Theorem 15 bounds the loss suffered by 4 (q - 1) R^2 C_L^2 / (c_L gamma^2) for weights of trace norm 1 that decode with
    margin gamma, where R is the largest Euclidean length of an input.  `margin` divides by the norm S(r), which is at most the
    trace norm, and `loss_bound` puts the factor q - 1 before |x|^2; the intercept is measured by its Euclidean length.

    Parameters
    ----------
    q : float, default=None
        Exponent of the dual norm, at least 2; None is max(2, 2 ln min(d, p)) for d scores and p features.

    See Also
    --------
    Group : For scores that share features.
    L2 : For scores that share nothing.

    Examples
    --------
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.norms import Trace
    >>> PredtronClassifier(norm=Trace(q=4))
    PredtronClassifier(norm=Trace(q=4))
    """

    alias = "trace"
    synonyms = ("nuclear", "schatten")
    takes_weights = measured = True
    theorem = "Theorem 15 for its norm"
    _parameter_constraints: dict[str, list] = {"q": [Interval(Real, 2, None, closed="left"), None]}

    def __init__(self, q: float | None = None):
        self.q = q

    def build(self, score_map: ScoreMap, p: int, *, intercept: Intercept, sparse: bool, average: bool) -> Weights:
        q = self._exponent(score_map.d, p)
        if min(score_map.d, p) == 1 or q == 2:
            return L2Weights(score_map.d, p, intercept, by_feature=sparse, averaging=average, score_map=score_map)
        return TraceWeights(score_map.d, p, q, intercept, by_feature=sparse, averaging=average)

    def constants(self, d: int, p: int) -> dict[str, float]:
        return {"q": 2.0 if min(d, p) == 1 else self._exponent(d, p)}  # of one row or column it is Euclidean

    def _exponent(self, d: int, p: int) -> float:
        self._validate_params()
        return max(2.0, 2 * log(min(d, p))) if self.q is None else float(self.q)

    def length(self, W: NDArray, beside: NDArray, *, apart: bool) -> float:
        return weights_length(np.linalg.svd(W, compute_uv=False), self._exponent(*W.shape), beside)

    def largest_length(self, X: Any, feature: float, *, apart: bool) -> float:
        return largest_length(X, feature, 2.0, True)

    def query_length(self, documents: Any) -> float:
        return spectral_length(documents)


class Scaled(Norm):
    """A norm for raw features.

    It keeps a running centre and variance of each feature, as if they had been standardised beforehand.

    "auto" uses it for dense rows.  The weights are the sums of all steps, theta along the inputs and beta along 1, and are read
    under the current centre mu and variance v (in sparse rows, the squared deviations from the mean of all values, over the
    number of non-zeros)::

        score(x) = sum_j (theta_j - mu_j beta) (x_j - mu_j) / v_j + r2 beta

    so that every past step is re-expressed as the statistics move.  In dense rows predictions do not depend on the unit of a
    column, nor on its offset up to some 10^8 standard deviations.  A larger offset costs digits; from 10^12 standard deviations
    on (in CSR rows 3 10^6) a column counts as constant and is not used.  CSR rows count absent zeros only now and then, so that
    models of dense and CSR rows may differ slightly.

    `fit` gathers the statistics of all rows before its first epoch.  With a number as `intercept_scaling` it learns the
    same as "l2" from standardised rows; with "auto" the intercept differs a little.  `partial_fit` gathers the statistics as rows
    arrive; until two rows differ, only the intercept is learned.  An outlier, a value whose squared deviation exceeds 100 times
    the sum of the earlier ones, only doubles that sum.  Weighted rows count as often as the first shuffled epoch draws them; in
    `partial_fit` and without shuffling, once.  Without an intercept (``fit_intercept=False``) the features are centred
    regardless; a ranker of documents, for which no centre matters, only divides.  `coef_` and `intercept_` are for raw
    features.  No loss bound is proven while the statistics run.

    See Also
    --------
    L2 : For features of one scale.
    sklearn.preprocessing.StandardScaler : Standardises features beforehand.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn_predtron import PredtronClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> linear = PredtronClassifier(features=None, random_state=0)
    >>> [round(linear.set_params(norm=norm).fit(X, y).score(X, y), 2) for norm in ["l2", "scaled"]]
    [0.69, 0.99]
    """

    alias = "scaled"
    of_sequences = scores_apart = True
    synonyms = ("standardised", "standardized")

    def build(self, score_map: ScoreMap, p: int, *, intercept: Intercept, sparse: bool, average: bool) -> Weights:
        return ScaledWeights(score_map.d, p, intercept, sparse=sparse, averaging=average, score_map=score_map)


class RKHS(Norm):
    """The norm of a kernel's functions.

    The learner is nonlinear, and its weights are a sum over rows with an update.

    Jain et al. (2015), section 2: every step is along an input, so that W = sum_s a_s phi(x_s)^T and the scores of x are sum_s
    a_s k(x_s, x); nothing else of the learner changes.  If the kernel is positive semidefinite, the bounds hold with R^2 the
    largest k(x, x).  The rows are the `support_`, the coefficients `dual_coef_`.  A round costs a kernel with each of them:
    memory and time grow with the support, unless a `budget` bounds it.  From its second epoch on `fit` also keeps the scores of
    all rows, and an epoch costs the kernels of all rows with those that have an update in it.  For rankers the kernel is one
    between documents; a round keeps that of every two documents of its query.  For taggers it is one between tokens, and that of
    two sequences is the sum over their tokens (Collins and Duffy 2002); supports are tokens, and transitions stay linear.

    Kernels are computed for a block of rows at a time, by Python and BLAS, under the interpreter's lock: results may depend,
    in the last bits, on how a stream is split into calls and on the threads of BLAS.

    Reading a model in one thread while it trains in another raises RuntimeError.  Distances are taken from products, so that
    offsets that are large beside the distances cost digits: centre such features.  With ``warm_start=True`` each
    `fit` keeps its rows again.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        A kernel of `sklearn.metrics.pairwise.pairwise_kernels`, "precomputed" (X holds the kernels of its rows with the rows
        of the training data, which `fit` takes at once), or a callable of two matrices that returns the kernels of their
        rows: finite, symmetric, and not negative of a row with itself.
    gamma : float or None, default=None
        Factor of "rbf", "laplacian", "poly", "sigmoid" and "chi2"; None is 1 / n_features.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1
        The constant of "poly" and "sigmoid".
    budget : int or None, default=None
        The largest number of rows kept.  Above it, the row is removed whose term a_s phi(x_s) is replaced at the least loss by
        a multiple of another row's; the latter's coefficients grow by a_s k(x_s, x_o) / k(x_o, x_o), in the weights and in
        their average.  `budget_loss_` is the sum of the lengths, in the kernel's space, of the errors.  No bound is proven.

    See Also
    --------
    L2 : For scores that are linear in the inputs.
    sklearn.metrics.pairwise.pairwise_kernels : Computes the kernels.
    sklearn.kernel_approximation.Nystroem : Makes features that approximate a kernel, for the other norms.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.norms import RKHS
    >>> X, y = make_circles(200, noise=0.1, factor=0.3, random_state=0)
    >>> PredtronBinaryClassifier(norm=RKHS(gamma=1.0), random_state=0).fit(X, y).score(X, y)
    1.0
    """

    alias = "rkhs"
    of_sequences = True
    synonyms = ("kernel",)
    variants = {name: {"kernel": name} for name in sorted(KERNELS)}
    _parameter_constraints: dict[str, list] = {
        "kernel": [StrOptions(set(KERNELS)), callable],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "budget": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        kernel: types.KernelName | Callable[..., Any] = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        budget: int | None = None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.budget = budget

    @property
    def pairwise(self) -> bool:  # type: ignore[override]
        """Whether X holds kernels."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def constants(self, d: int, p: int) -> dict[str, float]:
        if self.pairwise:
            return {"kernel": p}
        return {"gamma": 1 / p} if self.gamma is None and self.kernel in WITH_GAMMA else {}

    def build(self, score_map: ScoreMap, p: int, *, intercept: Intercept, sparse: bool, average: bool) -> Weights:
        refuse_class("kernel", self.kernel)
        self._validate_params()
        gamma = 1 / p if self.gamma is None else float(self.gamma)
        kernel = Kernel(self.kernel, gamma, self.degree, self.coef0)
        support = PrecomputedSupport() if self.pairwise else Support(kernel, p)
        if self.budget is None:
            return RKHSWeights(score_map.d, p, support, intercept, averaging=average, score_map=score_map)
        return BudgetedWeights(score_map.d, p, support, intercept, self.budget, averaging=average, score_map=score_map)


# Saved models name their classes by the path of the package, whatever module defines them.
for one in [*globals().values()]:
    if isinstance(one, type) and one.__module__ == __name__:
        one.__module__ = __name__.rpartition(".")[0]
del one
