"""Losses given by tables over predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.numbers import LARGEST_LOSS, as_numbers, real_numbers
from sklearn_predtron._support.pairs import with_pairs, without_pairs
from sklearn_predtron._support.parts import Part, checked_build, resolve
from sklearn_predtron._support.queries import shortened, shortened_list
from sklearn_predtron.problems._finite import FiniteProblem
from sklearn_predtron.representations import CodeRepresentation

OF_COSTS = "a matrix of costs (rows = true, columns = predicted), a dict {(true, predicted): cost}"


class CostTableLoss(Part):
    """Base of the losses L(sigma, y) given by a k x k table.

    See Also
    --------
    CostMatrix : Costs given as a matrix or a dict, without a class for them.
    sklearn_predtron.estimator_checks.check_loss : Checks the contract of a loss.

    Examples
    --------
    Hours of a clock, where 23 and 1 are equally far from 0:

    >>> import numpy as np
    >>> from sklearn_predtron.losses import CostTableLoss
    >>> class Hours(CostTableLoss):
    ...     def matrix(self, classes):
    ...         apart = np.abs(np.subtract.outer(classes, classes))
    ...         return np.minimum(apart, 24 - apart)
    >>> Hours().table([0, 1, 12, 23])
    array([[ 0.,  1., 12.,  1.],
           [ 1.,  0., 11.,  2.],
           [12., 11.,  0., 11.],
           [ 1.,  2., 11.,  0.]])
    """

    constants_of = "classes"  # the argument on which the constants depend
    takes_new_classes: bool = False  # whether the losses of known classes stay as they are where there are more

    def matrix(self, classes: NDArray) -> NDArray | None:
        """Tabulate the loss.

        Parameters
        ----------
        classes : ndarray of shape (k,)
            The labels, in the order of `classes_`.

        Returns
        -------
        ndarray of shape (k, k) or None
            Rows = true label, columns = prediction, as in scikit-learn's `confusion_matrix`; None is the 0-1 loss.
        """
        raise TypeError(f"{type(self).__name__} does not define matrix(); a table loss must.")

    def table(self, classes: NDArray) -> NDArray | None:
        """Tabulate the loss and check it.

        Parameters
        ----------
        classes : ndarray of shape (k,)
            The labels, in the order of `classes_`.

        Returns
        -------
        ndarray of shape (k, k) or None
            A copy of `matrix(classes)`: numbers from 0 to 1e100, zeros on the diagonal and at least one positive number.  None is
            the 0-1 loss.
        """
        found = self.matrix(np.array(classes))
        return None if found is None else checked_costs(self, found, len(classes))

    def constants(self, classes: NDArray) -> tuple[float, float]:
        """Return the loss constants c_L and C_L.

        These are the least positive loss and the largest.

        Parameters
        ----------
        classes : ndarray of shape (k,)
            The labels, in the order of `classes_`.

        Returns
        -------
        c_L : float
            The least positive cost.
        C_L : float
            The largest.
        """
        costs = costs_of(self, classes)
        return (1.0, 1.0) if costs is None else (float(costs[costs > 0].min()), float(costs.max()))

    def build(self, representation: CodeRepresentation, classes: NDArray) -> FiniteProblem:
        """Build the compiled problem.

        Parameters
        ----------
        representation : CodeRepresentation
            The representation of the classes.
        classes : ndarray of shape (k,)
            The labels, in the order of `classes_`.

        Returns
        -------
        FiniteProblem
            The representation's problem with the costs of this loss.
        """
        cost = costs_of(self, classes)
        problem = representation.compiled(len(classes), cost)
        checked_build(representation, problem, FiniteProblem, "compiled", k=len(classes))
        check_costs_kept(representation, problem, cost)
        return problem


def costs_of(loss: CostTableLoss, classes: NDArray) -> NDArray | None:
    """Return `loss.table(classes)` despite a parameter `table`."""
    return type(loss).table(loss, classes)


def checked_costs(loss: CostTableLoss, found: Any, k: int) -> NDArray:
    """Return the costs of `matrix` for k classes, checked."""
    costs = real_numbers(found)
    if costs is None:
        raise bad_costs(loss, k, f"{shortened(found)}, which does not hold numbers")
    if costs.shape != (k, k):
        raise bad_costs(loss, k, f"costs of shape {costs.shape}")
    strange = np.argwhere(~((costs >= 0) & (costs <= LARGEST_LOSS)))
    if len(strange):
        y, sigma = strange[0]
        raise bad_costs(loss, k, f"the cost {costs[y, sigma]:g} in row {y}, column {sigma}")
    if np.diagonal(costs).any():
        raise bad_costs(loss, k, f"the diagonal {np.diagonal(costs).tolist()}")
    if not costs.any():
        raise bad_costs(loss, k, "no positive cost")
    return costs


def check_costs_kept(representation: CodeRepresentation, problem: FiniteProblem, cost: NDArray | None) -> None:
    """Raise ValueError if a problem was built with other costs."""
    kept = problem.cost_matrix
    if cost is None and kept is None:
        return
    zero_one = 1.0 - np.eye(problem.k)
    if not np.array_equal(zero_one if cost is None else cost, zero_one if kept is None else kept):
        raise ValueError(
            f"{type(representation).__name__}.compiled() returned a {type(problem).__name__} of other costs than it was given; "
            "accepted is one whose `cost_matrix` is `cost`."
        )


def bad_costs(loss: CostTableLoss, k: int, found: str) -> ValueError:
    return ValueError(
        f"{type(loss).__name__}.matrix() returned {found}; accepted are None, which is the 0-1 loss, and an array of shape "
        f"({k}, {k}) for the {k} classes, of numbers from 0 to {LARGEST_LOSS:g}, zeros on its diagonal and at least one positive."
    )


class ZeroOne(CostTableLoss):
    """The 0-1 loss, L(sigma, y) = 1[sigma != y].

    Jain et al. 2015, section 3.

    See Also
    --------
    CostMatrix : Mistakes that cost differently.
    sklearn.metrics.zero_one_loss : Its mean over rows.

    Examples
    --------
    >>> from sklearn_predtron.losses import ZeroOne
    >>> ZeroOne().matrix([0, 1, 2]) is None
    True
    """

    alias = "zero_one"
    synonyms = ("0-1", "hinge", "misclassification", "accuracy")
    takes_new_classes = True

    def matrix(self, classes: NDArray) -> None:
        return None


class Absolute(CostTableLoss):
    """The absolute loss of ranks, L(sigma, y) = |sigma - y|.

    Labels are numbered in order (Milidiú and Rocha 2019, section 1).

    See Also
    --------
    Squared : Costs grow faster with the number of ranks.
    sklearn_predtron.PredtronOrdinalClassifier : Trains with it by default.
    sklearn.metrics.mean_absolute_error : Its mean over rows, for labels 0, 1, 2 and so on.

    Examples
    --------
    >>> from sklearn_predtron.losses import Absolute
    >>> Absolute().matrix(["poor", "fair", "good"])
    array([[0., 1., 2.],
           [1., 0., 1.],
           [2., 1., 0.]])
    """

    alias = "absolute"
    synonyms = ("mae", "absolute_error", "l1")

    def matrix(self, classes: NDArray) -> NDArray:
        rank = np.arange(len(classes), dtype=np.float64)
        return np.abs(rank[:, None] - rank)


class Squared(CostTableLoss):
    """The squared loss of ranks, L(sigma, y) = (sigma - y)^2.

    Labels are numbered in order.

    See Also
    --------
    Absolute : A mistake costs the number of ranks it is off.
    sklearn.metrics.mean_squared_error : Its mean over rows, for labels 0, 1, 2 and so on.

    Examples
    --------
    >>> from sklearn_predtron.losses import Squared
    >>> Squared().matrix(["poor", "fair", "good"])
    array([[0., 1., 4.],
           [1., 0., 1.],
           [4., 1., 0.]])
    """

    alias = "squared"
    synonyms = ("mse", "squared_error", "l2", "quadratic")

    def matrix(self, classes: NDArray) -> NDArray:
        return Absolute().matrix(classes) ** 2


class CostMatrix(CostTableLoss):
    """Any costs: L(sigma, y) = costs[y, sigma].

    Jain et al. 2015, section 2.1.

    Parameters
    ----------
    costs : array-like of shape (k, k) or dict
        Rows = true label, columns = prediction, with a diagonal of zeros; or {(true, predicted): cost}, in which pairs that are
        not named cost 1.  Costs are finite and not negative.
    labels : array-like of shape (k,), default=None
        All labels that may occur, each once, in the order of the rows and columns.  The costs of the classes in y are selected
        from these, so a class may be missing, for instance from a fold of a search.  None is `classes_`: the costs are in that
        order, and a dict names no other label.

    Raises
    ------
    ValueError
        In `fit` and `partial_fit`, if the costs are invalid, if they name a label that is not in `labels` (by default
        `classes_`), or if `labels` lacks a class.

    See Also
    --------
    ZeroOne : All mistakes cost the same.
    CostTableLoss : Base, for costs that follow from the classes.
    sklearn_predtron.metrics.cost_scorer : Scores by the mean cost.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_predtron.losses import CostMatrix
    >>> CostMatrix({("ill", "well"): 5}).matrix(np.array(["ill", "well"]))
    array([[0., 5.],
           [1., 0.]])
    >>> triage = CostMatrix([[0, 1, 2], [4, 0, 1], [9, 3, 0]], labels=["well", "ill", "dying"])
    >>> triage.matrix(np.array(["dying", "well"]))
    array([[0., 9.],
           [2., 0.]])
    """

    def __init__(self, costs: Any, labels: Any = None):
        self.costs = costs
        self.labels = labels

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to save, with text keys."""
        return without_pairs(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a saved state."""
        super().__setstate__(with_pairs(state))

    @property
    def takes_new_classes(self) -> bool:  # type: ignore[override]
        """Return whether new classes can appear."""
        return isinstance(self.costs, Mapping) or self.labels is not None

    def matrix(self, classes: NDArray) -> NDArray:
        present = classes.tolist()
        place = {label: i for i, label in enumerate(present if self.labels is None else declared_labels(self.labels))}
        costs = self._from_pairs(place) if isinstance(self.costs, Mapping) else self._from_array(place)
        check_given_costs(costs)
        missing = [label for label in present if label not in place]
        if missing:
            raise ValueError(f"labels={list(place)} of the costs lacks the class(es) {missing}; every class must be among them.")
        taken = [place[label] for label in present]
        costs = costs[np.ix_(taken, taken)]
        if not costs.any():
            raise ValueError(f"loss must hold at least one positive cost, got {costs.tolist()}.")
        return costs

    def _from_array(self, place: dict[Any, int]) -> NDArray:
        k = len(place)
        costs = as_numbers(self.costs, "loss", f"a cost matrix of shape ({k}, {k})")
        if costs.shape != (k, k):
            what = "classes" if self.labels is None else "labels"
            raise ValueError(
                f"loss must be a ({k}, {k}) cost matrix for the {k} {what} {list(place)}, got shape {costs.shape}{self._hint()}."
            )
        return costs

    def _from_pairs(self, place: dict[Any, int]) -> NDArray:
        costs = 1.0 - np.eye(len(place))
        for pair, cost in self.costs.items():
            if not (isinstance(pair, tuple) and len(pair) == 2):
                raise ValueError(f"loss must have keys (true label, predicted label), got {pair!r}.")
            for label in pair:
                if label not in place:
                    known = "the classes " if self.labels is None else "its labels="
                    raise ValueError(
                        f"loss names the label {shortened(label)}, which is not among {known}{shortened_list(place)}"
                        f"{self._hint()}."
                    )
            costs[place[pair[0]], place[pair[1]]] = as_numbers(cost, f"loss[{pair}]", "a number")
        return costs

    def _hint(self) -> str:
        """Return the advice for a class without rows."""
        if self.labels is not None:
            return ""
        return "; where a class may be missing, as from a fold, declare them all: CostMatrix(costs, labels=[...])"


def declared_labels(labels: Any) -> list[Any]:
    """Return the declared labels, which must be distinct."""
    found = np.asarray(labels, dtype=object)
    try:
        good = found.ndim == 1 and len(set(found)) == len(found) >= 2
    except TypeError:  # lists have no hash
        good = False
    if not good:
        raise ValueError(f"labels={shortened(labels)} must be a list of at least two different labels, each once.")
    return found.tolist()


def check_given_costs(costs: NDArray) -> None:
    """Raise ValueError for invalid costs; they are finite, not negative, not too large, and 0 for right predictions."""
    bad = costs[~(np.isfinite(costs) & (costs >= 0))]
    if len(bad) > 0:
        raise ValueError(f"loss must hold finite costs that are not negative, got {bad.tolist()}.")
    if costs.max() > LARGEST_LOSS:
        raise ValueError(f"loss must hold costs of at most {LARGEST_LOSS:g}, got {costs.max():g}.")
    if np.diagonal(costs).any():
        raise ValueError(f"loss must cost nothing on its diagonal, got {np.diagonal(costs).tolist()}.")


def names_label(loss: CostTableLoss, label: Any) -> bool:
    """Return whether costs name a label."""
    if not isinstance(loss, CostMatrix):
        return False
    pairs = loss.costs if isinstance(loss.costs, Mapping) else ()
    named = [name for pair in pairs if isinstance(pair, tuple) for name in pair]
    return label in named or (loss.labels is not None and label in declared_labels(loss.labels))


def table_loss(value: Any) -> CostTableLoss:
    """Return the table loss that `loss` denotes."""
    if isinstance(value, (str, CostTableLoss)):
        return resolve(CostTableLoss, value, "loss", also=OF_COSTS)
    if value is None:
        raise ValueError("loss=None is not known; accepted are a name, a cost matrix, a dict of costs and a CostTableLoss.")
    return CostMatrix(value)


# ------------------------------------------------------------------------------------------------------------ sets of labels


def counts_mistakes(loss: Any) -> bool:
    """Return whether the loss is 0-1; with many classes a table of costs is worth avoiding."""
    loss = table_loss(loss)
    return isinstance(loss, ZeroOne) and type(loss).matrix is ZeroOne.matrix
