"""Representations of predictions by unit vectors."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.capabilities import ORDERED_THRESHOLDS
from sklearn_predtron._support.compat import Interval
from sklearn_predtron._support.numbers import as_numbers, real_numbers
from sklearn_predtron._support.parts import Part, resolve
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.warning import warn
from sklearn_predtron.problems._finite import FiniteProblem, OneHotProblem, SignProblem
from sklearn_predtron.problems._kendall import KendallTauProblem
from sklearn_predtron.problems._preferences import PreferencesProblem
from sklearn_predtron.problems._ranking import RankingProblem
from sklearn_predtron.problems._thermometer import ThermometerProblem

if TYPE_CHECKING:
    from sklearn_predtron._core.problem import Problem

__all__ = [
    "Code",
    "CodeRepresentation",
    "LinearRank",
    "LogRank",
    "OneHot",
    "Pairwise",
    "PowerRank",
    "RankingRepresentation",
    "ReciprocalRank",
    "SharedThermometer",
    "Sign",
    "SignVector",
    "Simplex",
    "SubsetRepresentation",
    "Thermometer",
    "UserRank",
]


LEAST_SQUARE = 1e-290  # below, squares lose digits
UNIT = 1e-6  # how far from 1 the length of a representation may be


class CodeRepresentation(Part):
    """Base of the representations rep(sigma) of k predictions.

    See Also
    --------
    Code : A code matrix, without a class for it.
    sklearn_predtron.estimator_checks.check_representation : Checks the contract of a representation.

    Examples
    --------
    Predictions on a circle: two scores for any number of classes.

    >>> import numpy as np
    >>> from sklearn_predtron.representations import CodeRepresentation
    >>> class Circle(CodeRepresentation):
    ...     def code(self, k):
    ...         angle = 2 * np.pi * np.arange(k) / k
    ...         return np.column_stack([np.cos(angle), np.sin(angle)])
    >>> Circle().table(4).round(2) + 0.0
    array([[ 1.,  0.],
           [ 0.,  1.],
           [-1.,  0.],
           [ 0., -1.]])
    """

    takes_new_classes = False  # whether each prediction has a score of its own, whatever others there are

    def code(self, k: int) -> NDArray:
        """Tabulate the representation.

        Parameters
        ----------
        k : int
            Number of predictions.

        Returns
        -------
        ndarray of shape (k, d)
            Row sigma is rep(sigma), of length 1.
        """
        raise TypeError(f"{type(self).__name__} does not define code(); a table representation must.")

    def table(self, k: int) -> NDArray:
        """Tabulate the representation and check it.

        Parameters
        ----------
        k : int
            Number of predictions.

        Returns
        -------
        ndarray of shape (k, d)
            A copy of `code(k)`, whose rows are finite, of length 1 to within 1e-6, and all different.
        """
        return checked_code(self, self.code(k), k)

    def compiled(self, k: int, cost: NDArray | None) -> FiniteProblem:
        """Build the compiled problem for k predictions.

        Parameters
        ----------
        k : int
            Number of predictions.
        cost : ndarray of shape (l, k) or None
            L(sigma, y) at [y, sigma]; None is the 0-1 loss.

        Returns
        -------
        FiniteProblem
            The compiled problem.
        """
        return FiniteProblem(type(self).table(self, k), cost)  # it may have a parameter `table` of its own


def checked_code(representation: CodeRepresentation, found: Any, k: int) -> NDArray:
    """Return the checked rows of `code` for k predictions."""
    code = real_numbers(found)
    if code is None:
        raise bad_code(representation, k, f"{shortened(found)}, which does not hold numbers")
    if code.ndim != 2 or len(code) != k or code.shape[1] == 0:
        raise bad_code(representation, k, f"shape {code.shape}")
    if not np.isfinite(code).all():
        row, column = np.argwhere(~np.isfinite(code))[0]
        raise bad_code(representation, k, f"{code[row, column]} in row {row}, column {column}")
    with np.errstate(over="ignore", under="ignore"):
        length = np.linalg.norm(code, axis=1)
    worst = np.abs(length - 1).argmax()
    if abs(length[worst] - 1) > UNIT:
        raise bad_code(representation, k, f"row {worst} of length {length[worst]:.9g}")
    _, first = np.unique(code, axis=0, return_index=True)
    if len(first) < k:
        again = np.setdiff1d(np.arange(k), first)[0]
        same = (code == code[again]).all(axis=1).argmax()
        raise bad_code(representation, k, f"equal rows {same} and {again}")
    return code


def bad_code(representation: CodeRepresentation, k: int, found: str) -> ValueError:
    return ValueError(
        f"{type(representation).__name__}.code({k}) returned {found}; accepted is an array of shape ({k}, d) with d of at least "
        f"1, whose rows are finite, of length 1 (to within {UNIT:g}) and all different."
    )


class Sign(CodeRepresentation):
    """Two predictions: -1 and +1, d = 1.

    Jain et al. 2015, section 3, binary classification.

    See Also
    --------
    OneHot : Any number of classes, with a score for each.
    sklearn_predtron.PredtronBinaryClassifier : Trains with it by default.

    Examples
    --------
    >>> from sklearn_predtron.representations import Sign
    >>> Sign().code(2)
    array([[-1.],
           [ 1.]])
    """

    alias = "sign"

    def code(self, k: int) -> NDArray:
        if k != 2:
            raise ValueError(f"representation='sign' is for two predictions, there are {k}; 'onehot' takes any number.")
        return np.array([[-1.0], [1.0]])

    def compiled(self, k: int, cost: NDArray | None) -> FiniteProblem:
        self.code(k)
        return SignProblem(cost)


class OneHot(CodeRepresentation):
    """Standard basis vectors, rep(sigma) = e_sigma, d = k.

    Jain et al. 2015, section 3, multiclass classification.

    See Also
    --------
    Simplex : One score less; all classes are still equally far apart.
    sklearn_predtron.PredtronClassifier : Trains with it by default.

    Examples
    --------
    >>> from sklearn_predtron.representations import OneHot
    >>> OneHot().code(2)
    array([[1., 0.],
           [0., 1.]])
    """

    alias = "onehot"
    synonyms = ("multivector",)
    takes_new_classes = True

    def code(self, k: int) -> NDArray:
        return np.eye(k)

    def compiled(self, k: int, cost: NDArray | None) -> FiniteProblem:
        return OneHotProblem(k, cost)


class Simplex(CodeRepresentation):
    """Corners of a regular simplex around 0, d = k - 1.

    <rep(a), rep(b)> = -1 / (k - 1); Jain et al. 2015, reference 5.

    See Also
    --------
    OneHot : A score for each class; classes can be added later.
    Code : Any other code matrix.

    Examples
    --------
    >>> from sklearn_predtron.representations import Simplex
    >>> (Simplex().code(3) @ Simplex().code(3).T).round(2)
    array([[ 1. , -0.5, -0.5],
           [-0.5,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """

    alias = "simplex"

    def code(self, k: int) -> NDArray:
        code = np.zeros((k, k - 1))
        for i in range(k - 1):
            code[i, i] = np.sqrt(1 - code[i, :i] @ code[i, :i])
            code[i + 1 :, i] = (-1 / (k - 1) - code[i + 1 :, :i] @ code[i, :i]) / code[i, i]
        return code


class Thermometer(CodeRepresentation):
    """Ranks as thermometers, d = r - 1.

    Entries are +1 up to the rank and -1 beyond it, / sqrt(r - 1) (Milidiú and Rocha 2019, eq. 7).

    Score j answers the question whether the rank is above j.  The decoded scores are the cumulative sums of the scores, less
    half their total, times 2 / sqrt(r - 1).  If ranks tie, the highest is predicted: a score of 0 counts as positive.

    See Also
    --------
    SharedThermometer : Scores that share one direction.
    sklearn_predtron.PredtronOrdinalClassifier : Trains with it by default.

    Examples
    --------
    >>> from sklearn_predtron.representations import Thermometer
    >>> Thermometer().code(3) * 2**0.5
    array([[-1., -1.],
           [ 1., -1.],
           [ 1.,  1.]])
    """

    alias = "thermometer"
    synonyms = ("cusum_rank", "cumulative")

    def code(self, k: int) -> NDArray:
        return np.where(np.arange(k)[:, None] > np.arange(k - 1), 1.0, -1.0) / np.sqrt(k - 1)

    def compiled(self, k: int, cost: NDArray | None) -> FiniteProblem:
        return ThermometerProblem(k, cost)


class SharedThermometer(Thermometer):
    """Thermometers whose scores share one direction.

    t_j = <u, x> + b_j with b_1 >= b_2 >= ... (Milidiú and Rocha 2019, section 6).

    After every step isotonic regression orders the thresholds -b_j.  This moves them no further from any ordered thresholds, so
    the loss bounds still hold; PRank's own update keeps the order by itself.  `coef_` has one row, `intercept_` r - 1 offsets.

    See Also
    --------
    Thermometer : A direction for each threshold.
    sklearn_predtron.updates.PRank : The update that keeps the thresholds in order by itself.

    Examples
    --------
    >>> from sklearn_predtron import PredtronOrdinalClassifier
    >>> model = PredtronOrdinalClassifier(representation="shared").fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 2])
    >>> model.coef_.shape, model.intercept_.shape
    ((1, 1), (2,))
    """

    alias = "shared"
    offers = (ORDERED_THRESHOLDS,)
    synonyms = ("prank", "thresholds")

    def compiled(self, k: int, cost: NDArray | None) -> FiniteProblem:
        return ThermometerProblem(k, cost, shared=True)


class Code(CodeRepresentation):
    """Any code matrix (Jain et al. 2015, section 2.1).

    Parameters
    ----------
    rows : array-like of shape (k, d)
        Row sigma represents prediction sigma.  Rows must be finite, not zero and all different.  Rows of another length are
        scaled to length 1, with a warning.

    See Also
    --------
    CodeRepresentation : Base, for codes of any number of predictions.
    Simplex : The code whose rows are furthest from one another.
    sklearn.multiclass.OutputCodeClassifier : A binary classifier for each column of a random code.

    Examples
    --------
    >>> from sklearn_predtron.representations import Code
    >>> Code([[1, 0], [0, -1]]).code(2)
    array([[ 1.,  0.],
           [ 0., -1.]])
    """

    def __init__(self, rows: Any):
        self.rows = rows

    def code(self, k: int) -> NDArray:
        code = as_numbers(self.rows, "representation", f"a code matrix of shape ({k}, d)")
        if code.ndim != 2 or len(code) != k or code.shape[1] == 0:
            raise ValueError(f"representation must be a code matrix of shape ({k}, d), got shape {code.shape}.")
        if not np.isfinite(code).all():
            raise ValueError(f"representation must hold finite numbers, got {code[~np.isfinite(code)].tolist()}.")
        largest = np.abs(code).max(axis=1, keepdims=True)
        if not largest.all():
            raise ValueError(f"representation must not hold a row of zeros, as row {int(largest.argmin())} is.")
        extreme = ((largest < 1e-100) | (largest > 1e100)).ravel()  # whose squares are not finite, or 0
        code[extreme] /= largest[extreme]
        length = np.linalg.norm(code, axis=1)
        if extreme.any() or np.abs(length - 1).max() > 1e-9:
            warn("The rows of representation were brought to length 1.")
        code /= length[:, None]
        if len(np.unique(code, axis=0)) < k:
            raise ValueError(f"representation must have rows that point in different directions, got {code.tolist()}.")
        return code


class SubsetRepresentation(Part):
    """Base of the representations of sets of labels.

    See Also
    --------
    SignVector : The only one.
    sklearn_predtron.PredtronMultilabelClassifier : Trains with it.

    Examples
    --------
    A score for each label, whose sign is the prediction:

    >>> from sklearn_predtron import PredtronMultilabelClassifier
    >>> from sklearn_predtron.representations import SignVector, SubsetRepresentation
    >>> issubclass(SignVector, SubsetRepresentation)
    True
    >>> model = PredtronMultilabelClassifier(representation=SignVector()).fit([[1.0], [-1.0]], [[1, 0, 1], [0, 1, 1]])
    >>> model.decision_function([[1.0]]).shape, model.predict([[1.0]])
    ((1, 3), array([[1, 0, 1]]))
    """


class SignVector(SubsetRepresentation):
    """Sets of m labels as vectors of signs / sqrt(m).

    +1 stands for a label in the set, d = m (Jain et al. 2015, section 3, multilabel).

    See Also
    --------
    sklearn_predtron.PredtronMultilabelClassifier : Trains with it.
    sklearn_predtron.losses.SubsetLoss : Base of the losses for it.

    Examples
    --------
    >>> from sklearn_predtron import PredtronMultilabelClassifier
    >>> from sklearn_predtron.representations import SignVector
    >>> PredtronMultilabelClassifier(representation=SignVector())
    PredtronMultilabelClassifier(representation=SignVector())
    """

    alias = "sign_vector"


class RankingRepresentation(Part):
    """Base of the representations of rankings.

    rep(sigma)_i = f(position of i) / |f| with f strictly decreasing.

    Jain et al. (2015), section 4: the prediction with the largest <rep(sigma), t> sorts the items by their scores t.

    See Also
    --------
    UserRank : A function of the positions, without a class for it.
    LogRank : The default of the rankers.
    sklearn_predtron.estimator_checks.check_representation : Checks the contract of a representation.

    Examples
    --------
    Each step is worth half the one before:

    >>> import numpy as np
    >>> from sklearn_predtron.representations import RankingRepresentation
    >>> class Halves(RankingRepresentation):
    ...     def values(self, m):
    ...         return 0.5 ** np.arange(m)
    >>> Halves().table(4)
    array([1.   , 0.5  , 0.25 , 0.125])
    """

    _problem: type[Problem] = RankingProblem  # the kind that losses make with it

    def _n_scores(self, n_labels: int) -> int:
        """Return the number of scores; 0 for documents of queries."""
        return max(n_labels, 1)

    def _pairs_problem(self, n_labels: int, loss: Any) -> Problem:
        """Build the compiled problem of a loss over pairs."""
        return KendallTauProblem(n_labels, self, loss)

    def values(self, m: int) -> NDArray:
        """Tabulate f.

        Parameters
        ----------
        m : int
            Number of positions.

        Returns
        -------
        ndarray of shape (m,)
            f(1), ..., f(m), strictly decreasing.
        """
        raise TypeError(f"{type(self).__name__} does not define values(); a representation of rankings must.")

    def table(self, m: int) -> NDArray:
        """Tabulate f and check it.

        Parameters
        ----------
        m : int
            Number of positions.

        Returns
        -------
        ndarray of shape (m,)
            `values(m)`: finite, strictly decreasing and independent of m.
        """
        f = checked_positions(self, self.values(m), m)
        check_no_length("representation", self, self.values, f)
        return f


def positions(m: int) -> NDArray:
    """1, ..., m."""
    return np.arange(1, m + 1, dtype=np.float64)


class LogRank(RankingRepresentation):
    """Rankings by f(j) = 1 / log2(1 + j), NDCG's discount (alias "log").

    With the NDCG loss on whole lists, one sort finds the competitor.

    See Also
    --------
    ReciprocalRank : The top positions are worth even more.
    sklearn_predtron.losses.NDCG : The loss with this discount.
    sklearn_predtron.PredtronRanker : Trains with it by default.

    Examples
    --------
    >>> from sklearn_predtron.representations import LogRank
    >>> LogRank().values(3).round(2)
    array([1.  , 0.63, 0.5 ])
    """

    alias = "log"
    synonyms = ("1/log2(1+i)", "1/log(1+i)", "ndcg", "dcg")

    def values(self, m: int) -> NDArray:
        return 1 / np.log2(1 + positions(m))


class LinearRank(RankingRepresentation):
    """Rankings by f(j) = -j (alias "linear").

    Every step from one position to the next has the same value.

    See Also
    --------
    PowerRank : Steps that grow or shrink with the position.
    LogRank : The top positions are worth most.

    Examples
    --------
    >>> from sklearn_predtron.representations import LinearRank
    >>> LinearRank().values(3)
    array([-1., -2., -3.])
    """

    alias = "linear"
    synonyms = ("-i", "-j")

    def values(self, m: int) -> NDArray:
        return -positions(m)


class PowerRank(RankingRepresentation):
    """Rankings by f(j) = -j^alpha (alias "power"; Jain et al. 2015, section 6).

    Parameters
    ----------
    alpha : float, default=1.1
        Above 1 the differences between positions grow, below 1 they shrink; 1 is "linear".

    See Also
    --------
    LinearRank : All steps have the same size.
    UserRank : Any other function of the positions.

    Examples
    --------
    >>> from sklearn_predtron.representations import PowerRank
    >>> PowerRank(alpha=2).values(3)
    array([-1., -4., -9.])
    """

    alias = "power"
    synonyms = ("-i^1.1", "-i^alpha")
    variants = {"-i^2": {"alpha": 2.0}}
    _parameter_constraints = {"alpha": [Interval(Real, 0, None, closed="neither")]}

    def __init__(self, alpha: float = 1.1):
        self.alpha = alpha

    def values(self, m: int) -> NDArray:
        self._validate_params()
        with np.errstate(over="ignore", under="ignore"):
            return -(positions(m) ** self.alpha)


class ReciprocalRank(RankingRepresentation):
    """Rankings by f(j) = 1 / j (alias "reciprocal").

    The top positions have the largest values.

    See Also
    --------
    LogRank : Falls more slowly.
    UserRank : Any other function of the positions.

    Examples
    --------
    >>> from sklearn_predtron.representations import ReciprocalRank
    >>> ReciprocalRank().values(4)
    array([1.        , 0.5       , 0.33333333, 0.25      ])
    """

    alias = "reciprocal"
    synonyms = ("1/i", "1/j")

    def values(self, m: int) -> NDArray:
        return 1 / positions(m)


class Pairwise(RankingRepresentation):
    """Rankings of labels by pairwise votes (alias "pairwise").

    Each pair has its own score and learner (Hüllermeier et al. 2008).

    For ``loss="kendall_tau"`` of `PredtronLabelRanker`.  rep(sigma) is a vector of signs, one for each of m (m - 1) / 2 pairs,
    +1 if the first label of the pair is ahead.  A pair is not trained on rows in which its two labels tie.  Labels are ranked
    by the number of pairs that they win, then by the sum of their scores.

    See Also
    --------
    sklearn_predtron.losses.KendallTau : The loss for it.
    sklearn_predtron.PredtronLabelRanker : Trains with it.

    Examples
    --------
    >>> from sklearn_predtron import PredtronLabelRanker
    >>> model = PredtronLabelRanker(loss="kendall_tau", representation="pairwise", random_state=0)
    >>> model.fit([[0.0], [1.0], [2.0]], [[2, 1, 0], [1, 2, 0], [0, 1, 2]]).coef_.shape, model.pairs_.tolist()
    ((3, 1), [[0, 1], [0, 2], [1, 2]])
    """

    alias = "pairwise"
    synonyms = ("pairs", "rpc", "pairwise_preferences", "preferences", "votes")
    _problem = PreferencesProblem

    def _n_scores(self, n_labels: int) -> int:
        return max(n_labels * (n_labels - 1) // 2, 1)

    def _pairs_problem(self, n_labels: int, loss: Any) -> Problem:
        if n_labels == 0:
            raise no_positions()
        return PreferencesProblem(n_labels)

    def values(self, m: int) -> NDArray:
        raise no_positions()


def no_positions() -> ValueError:
    return ValueError(
        "representation='pairwise' compares labels two by two, and gives no values to positions; accepted with it is "
        "loss='kendall_tau' of PredtronLabelRanker."
    )


class UserRank(RankingRepresentation):
    """Any strictly decreasing f.

    ``representation=function`` is short for UserRank(function).

    Parameters
    ----------
    function : callable
        Takes the positions 1, 2, ..., m as an array and returns f of them: finite and strictly decreasing.  f(j) must not depend
        on m.

    See Also
    --------
    RankingRepresentation : Base, for functions with parameters.
    PowerRank : Powers of the position.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron import PredtronRanker
    >>> PredtronRanker(representation=lambda j: -np.sqrt(j)).fit([[1.0], [0.0]], [1, 0], qid="one").predict([[2.0]]) > 0
    array([ True])
    """

    def __init__(self, function: Callable[[NDArray], NDArray]):
        self.function = function

    def values(self, m: int) -> NDArray:
        return self.function(positions(m))

    def table(self, m: int) -> NDArray:
        f = checked_positions(self.function, self.values(m), m)
        check_no_length("representation", self.function, self.values, f)
        return f


def checked_positions(representation: Any, values: Any, m: int) -> NDArray:
    """Return the values of the positions, finite and decreasing."""
    f = real_numbers(values)
    if f is None:
        raise ValueError(f"representation={representation!r} must give an array of numbers; it gives {shortened(values)}.")
    if f.shape != (m,):
        raise ValueError(f"representation={representation!r} gives shape {f.shape} for {m} positions; it must give ({m},).")
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = np.cumsum(np.square(f))
    if not np.isfinite(squares[-1]):
        raise ValueError(
            f"representation={representation!r} is not finite, or its square is not, at all of {len(f)} positions, or the sum of "
            "its squares is not."
        )
    rising = np.flatnonzero(np.diff(f) >= 0)
    if len(rising):
        j = int(rising[0]) + 1
        raise ValueError(
            f"representation={representation!r} must fall strictly from position to position, and f({j}) = {f[j - 1]:g}, "
            f"f({j + 1}) = {f[j]:g}."
        )
    if m > 1 and squares[1] < LEAST_SQUARE:
        raise ValueError(
            f"representation={representation!r} has f(1)^2 + f(2)^2 = {squares[1]:g}; f is divided by its length, whose square "
            f"must be at least {LEAST_SQUARE:g}."
        )
    return f


def check_no_length(parameter: str, function: Any, tabulate: Callable[[int], Any], values: NDArray) -> None:
    """Raise ValueError if values depend on the list's length."""
    for m in sorted({len(values) // 2, len(values) - 1} - {0}):
        shorter = real_numbers(tabulate(m))
        if (
            shorter is None
            or shorter.shape != (m,)
            or not np.allclose(shorter, values[:m], rtol=1e-9, atol=1e-9 * np.abs(np.diff(values)).min())
        ):
            raise ValueError(
                f"{parameter}={function!r} depends on the number of positions: of {len(values)} the first ones have "
                f"{values[:3].tolist()}, of {m} "
                f"{shortened(shorter if shorter is None or shorter.ndim == 0 else shorter[:3].tolist())}; accepted is a function "
                "of the position alone."
            )


def ranking_representation(value: Any, build: Callable[[RankingRepresentation], Any] | None = None) -> RankingRepresentation:
    """Return the ranking representation that `representation` denotes."""
    if callable(value) and not isinstance(value, (type, RankingRepresentation)):
        return UserRank(value)
    return resolve(RankingRepresentation, value, "representation", build)


def table_representation(value: Any, build: Callable[[CodeRepresentation], Any] | None = None) -> CodeRepresentation:
    """Return the representation that `representation` denotes."""
    if isinstance(value, (str, CodeRepresentation)) or value is None:
        return resolve(CodeRepresentation, value, "representation", build)
    return Code(value)
