"""A classifier's loss, reject option and decision rule; these are its parameters for the costs of predictions."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron.decisions._decision_rules import DecisionRule, ExpectedCost, Learned, decision_rule
from sklearn_predtron.decisions._promises import AtMost, EncodedPromise, Promise, coded
from sklearn_predtron.losses import CostTableLoss, costs_of, names_label, table_loss
from sklearn_predtron.losses.reject import checked_reject, costs_by_class, label_of_reject, warn_if_never_paid

LEAST_WEIGHT = 1e-3  # the weight of a class whose mistakes cost nothing


class ClassCosts:
    """The loss, reject option and decision rule of a classifier.

    Each is read once, for the classes.

    Parameters
    ----------
    loss : str, array-like, dict or CostTableLoss
        The parameter `loss`.
    unit_loss : CostTableLoss
        The training loss of a decision with the lowest expected cost.
    reject : Reject, float or None
        The parameter `reject`.
    decision : str, float, DecisionRule or None
        The parameter `decision`.
    cuts : tuple of str
        The measures by which the score may be cut.
    classes : ndarray of shape (k,) or None
        The labels; None if only the parameters are checked.
    """

    def __init__(self, loss: Any, unit_loss: CostTableLoss, reject: Any, decision: Any, cuts: tuple[str, ...], classes: Any):
        self.given_loss, self.unit_loss, self.classes = loss, unit_loss, classes
        self.given_rule = decision_rule(decision, cuts, numbers=bool(cuts))
        self.reject = checked_reject(reject)

    def check(self) -> None:
        """Raise ValueError if decision and reject option conflict.

        A reject option can be for another decision rule than the given one.
        """
        rule, reject = self.given_rule, self.reject
        if reject is None or rule is None:
            return
        if not isinstance(rule, ExpectedCost):
            raise ValueError(f"decision={rule!r} does not go with {self.promise}; accepted are None and 'expected_cost'.")

    @property
    def promise(self) -> str:
        """The reject option's cost, risk or rate with its name, for errors."""
        assert self.reject is not None
        name = next(name for name in ("cost", "risk", "rate") if getattr(self.reject, name) is not None)
        return f"reject.{name}={getattr(self.reject, name)!r}"

    @cached_property
    def loss(self) -> CostTableLoss:
        """The loss."""
        return table_loss(self.given_loss)

    @cached_property
    def rule(self) -> DecisionRule:
        """The decision rule; the default is that of the loss and the reject option."""
        if self.given_rule is not None:
            return self.given_rule
        if self.reject is not None:
            return ExpectedCost()
        return Learned() if self.has_own_problem or self.is_unit_loss else ExpectedCost()

    @property
    def has_own_problem(self) -> bool:
        """Whether the loss builds a problem of its own; that problem serves training and decisions."""
        return type(self.loss).build is not CostTableLoss.build

    @cached_property
    def is_unit_loss(self) -> bool:
        """Whether the loss is the family's unit loss; it may be in any unit."""
        if type(self.loss) is type(self.unit_loss):
            return True
        costs, unit = costs_between(self.loss, self.classes), costs_between(self.unit_loss, self.classes)
        return bool(np.allclose(costs / costs.max(), unit / unit.max(), rtol=1e-12, atol=0))

    @cached_property
    def between(self) -> NDArray:
        """The costs of the loss, of shape (k, k); ValueError is raised if the loss names the label of a rejection."""
        label = None if self.reject is None else label_of_reject(self.reject, self.classes)
        if self.reject is not None and names_label(self.loss, label):
            raise ValueError(f"loss names reject.label={label!r}; what a rejected row costs is reject.cost.")
        return costs_between(self.loss, self.classes)

    @property
    def promised(self) -> tuple[EncodedPromise, ...]:
        """The promises of `reject.risk`, with numbers of labels.

        Raise ValueError if a label is not a class, or if any model keeps a promise.
        """
        assert self.reject is not None
        return coded(promises_of(self.reject.risk), self.classes, self.between, "reject.risk")

    @property
    def constraints(self) -> list[tuple[Promise, int, EncodedPromise]]:
        """The bounds of measures, also with numbers of labels; raise ValueError if they do not suit the classes."""
        rule = self.rule
        given = rule.subject_to if isinstance(rule, ExpectedCost) and rule.subject_to is not None else ()
        if given and self.reject is not None and self.reject.cost is None:
            raise ValueError(f"decision.subject_to does not go with {self.promise}; accepted are reject.cost and reject=None.")
        for one in given:
            if one.measure == "abstention_rate" and self.reject is None:
                raise ValueError(
                    f"decision.subject_to has {one!r}, and reject=None never abstains; accepted is reject=Reject(cost)."
                )
            if callable(one.measure) and self.reject is not None:
                raise ValueError(f"decision.subject_to has {one!r}, a function, which goes with reject=None alone.")
        found = coded(given, self.classes, self.between, "decision.subject_to")
        return [(promise, 0, one) for promise, one in zip(given, found, strict=True)]

    @cached_property
    def table(self) -> NDArray:
        """L(sigma, y), as a table.

        Each true class has a row, and each prediction a column.

        With a reject option the last column is that of a rejection; it is 0 if a risk or a rate is promised.
        """
        costs, reject = self.between, self.reject
        if reject is None:
            return costs
        rejected = np.zeros(len(costs)) if reject.cost is None else costs_by_class(reject, len(costs), costs.max())
        return np.column_stack([costs, rejected])

    @cached_property
    def weights(self) -> NDArray | None:
        """The training weights of two classes.

        They are square roots of the classes' costs, relative to the lowest; None if they are equal.
        """
        # Measured: 3 % less realised cost with two classes, none with more, where without weights one fit serves all costs.
        if len(self.classes) > 2 or not isinstance(self.rule, ExpectedCost):
            return None
        weight = np.sqrt(self.between.sum(axis=1))
        weight = np.maximum(weight / weight[weight > 0].min(), LEAST_WEIGHT)
        return None if weight[0] == weight[1] else weight

    def warn_of_reject(self) -> None:
        """Warn if rejections are too costly to occur; in that case no row is ever rejected."""
        if self.reject is not None and self.reject.cost is not None and isinstance(self.rule, ExpectedCost):
            warn_if_never_paid(self.reject, self.table)


def promises_of(risk: Any) -> list[AtMost]:
    """Return the promises of `reject.risk`: one number, or one for each predicted label."""
    if isinstance(risk, dict):
        return [AtMost("risk", bound, predicted=label) for label, bound in risk.items()]
    return [AtMost("risk", risk)]


def costs_between(loss: Any, classes: NDArray) -> NDArray:
    """Return the costs of a loss as a table; each true class has a row, and each predicted one a column."""
    cost = costs_of(table_loss(loss), classes)
    return 1.0 - np.eye(len(classes)) if cost is None else cost
