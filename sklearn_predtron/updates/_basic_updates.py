"""The updates of every family; their competitor is the prediction, or the loss-augmented one."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

import sklearn_predtron.updates._rules as core
from sklearn_predtron._core.problem import Problem
from sklearn_predtron._core.rule import Rule
from sklearn_predtron._support import types
from sklearn_predtron._support.compat import Interval, StrOptions
from sklearn_predtron._support.names import series
from sklearn_predtron._support.parts import Part, kinds
from sklearn_predtron.updates._comparator import Comparator
from sklearn_predtron.updates._preferences import PreferencesRule
from sklearn_predtron.updates._ranking_rules import RankingLossAugmentedRule
from sklearn_predtron.updates._shared_bounds import (
    bound_of_fixed_step,
    bound_of_step,
    check_fixed_competitor,
    check_fixed_step,
    counts_thresholds,
    largest_total,
    least_loss,
    theory_step,
)

POSITIVE = Interval(Real, 0, None, closed="neither")


class Update(Part):
    """Base of the updates W <- W + eta (rep(sigma_y) - rep(competitor)) x^T.

    `needs` names the parts that a problem must offer.  `auto_scaling` is the value of intercept_scaling="auto" under the update.
    `pairwise` says whether the margin is that of pairs of items.

    See Also
    --------
    Adaptive : The default.
    sklearn_predtron.norms.Norm : Base of the norms that measure the steps.

    Examples
    --------
    A user-defined update that builds the rule of another one:

    >>> from sklearn.datasets import load_wine
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.updates import Adaptive, Update
    >>> class Careful(Update):
    ...     def build(self, problem):
    ...         return Adaptive(kappa=0.1).build(problem)
    >>> X, y = load_wine(return_X_y=True)
    >>> PredtronClassifier(update=Careful(), cv=0, random_state=0).fit(X, y).n_updates_
    595
    """

    needs: tuple[str, ...] = ()
    auto_scaling: Any = "auto"
    pairwise = False
    _parameter_constraints: dict[str, list] = {}

    def build(self, problem: Problem) -> Rule:
        """Build the compiled rule.

        Parameters
        ----------
        problem : Problem
            The compiled problem, for its c_L and C_L.

        Returns
        -------
        Rule
            The compiled rule, untrained.
        """
        raise TypeError(f"{type(self).__name__} does not define build(); an update must.")

    def theorem(self, problem: Problem) -> str:
        """Return the name of the theorem behind `loss_bound`.

        Parameters
        ----------
        problem : Problem
            The compiled problem.

        Returns
        -------
        str
            Name of the theorem and its paper.
        """
        raise ValueError(f"No loss bound is proven for update={self}.")

    def loss_bound(self, problem: Problem, margin: float, radius: float, c_L: float) -> float:
        """Bound the online loss on data separable with a margin.

        The bound exists if `theorem` names a theorem.

        Parameters
        ----------
        problem : Problem
            The compiled problem.
        margin : float
            Margin gamma of unit-norm weights on the data.
        radius : float
            The largest length R of an input, including its intercept feature.
        c_L : float
            The least positive loss; not finite if unknown.

        Returns
        -------
        float
            Upper bound of the sum of the losses.
        """
        raise TypeError(f"{type(self).__name__} does not define loss_bound(); an update with a theorem must.")

    def unit_margin_bound(self, problem: Problem, unit_margin: float, radius: float, c_L: float) -> float:
        """Bound the online loss on data with a loss-scaled margin.

        The data are separable with a margin for each unit of loss.

        Parameters
        ----------
        problem : Problem
            The compiled problem.
        unit_margin : float
            The margin g of unit-norm weights W, with S(y) - S(sigma) >= g L(sigma, y): U = W / g has surrogate loss 0.
        radius : float
            The largest length R of an input, including its intercept feature.
        c_L : float
            The least positive loss; not finite if unknown.

        Returns
        -------
        float
            Upper bound of the sum of the losses.
        """
        raise ValueError(f"No loss bound by a unit margin is proven for update={self}; pass a margin.")

    def comparator_bound(self, problem: Problem, against: Comparator, c_L: float) -> float:
        """Bound the online loss on any data.

        The bound depends on the loss of given weights, and exists if one is proven.

        Parameters
        ----------
        problem : Problem
            The compiled problem.
        against : Comparator
            The given weights U: their length, their surrogate losses on the rows, and the radius R of the rows.
        c_L : float
            The least positive loss; not finite if unknown.

        Returns
        -------
        float
            Upper bound of the sum of the losses.
        """
        raise ValueError(f"No bound against given weights is proven for update={self}.")


def build_rule(update: Update, problem: Problem) -> Rule:
    """Return the compiled rule of an update; raise ValueError if the problem lacks a part that the update needs."""
    for need in update.needs:
        if need not in problem.offers:
            raise ValueError(lacks(update, need, problem))
    pair = problem.of_one_score
    return update.build(problem) if pair is None else PreferencesRule(update.build(pair), pair, problem.d)


def lacks(update: Update, need: str, problem: Problem) -> str:
    """Return a message on the missing parts of a problem; it names the parts that offer them, and the updates that work."""
    offering = [] if "(" in need else [repr(kind.alias) for kind in kinds(Part) if need in kind.offers]
    have = f", which {series(offering)} {'have' if len(offering) > 1 else 'has'}" if offering else ""
    fitting = [repr(kind.alias) for kind in kinds(Update) if set(kind.needs) <= set(problem.offers)]
    name = update if update.alias is None else repr(update.alias)
    return f"update={name} needs {need}{have}; accepted here are {', '.join(fitting)} and other instances of Update."


class LossAugmented(Update):
    """Algorithm 1 of Jain et al. (2015) (alias "predtron").

    On a mistake the competitor is argmax_sigma L(sigma, y) + <rep(sigma), t>, equation (2), and the step is eta.  For 0-1
    losses this is the perceptron.

    Parameters
    ----------
    eta : float or "theory", default=1.0
        The step; "theory" is Theorem 1's c_L / (D^2 R^2), with R the largest length of an input so far.  Under a norm of dual
        exponent q, R^2 has the factor q - 1 (Theorem 15).  For rankings c_L is that of the lists with a loss so far.

    See Also
    --------
    LossDriven : Steps away from the prediction.
    Adaptive : Needs no step size.

    Notes
    -----
    `loss_bound` is D^2 R^2 C_L^2 / (c_L gamma^2) for eta = "theory", with D^2 = max |rep(sigma) - rep(sigma')|^2.  For a
    number below 2 c_L / (D R)^2 the same proof gives C_L^2 / (eta gamma^2 (2 - eta D^2 R^2 / c_L)).  For rankings, whose
    c_L depends on the lists, a number makes at most (2 C_L / eta + D^2 R^2) / gamma^2 mistakes.

    `comparator_bound` is (|U|^2 + 2 eta sum phi(U x, y)) / (eta (2 - eta D^2 R^2 / c_L)), phi being the surrogate of
    equation (2).

    Examples
    --------
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.updates import LossAugmented
    >>> PredtronClassifier(update=LossAugmented(eta="theory"))
    PredtronClassifier(update=LossAugmented(eta='theory'))
    """

    alias = "predtron"
    synonyms = ("predtron_la", "structured_perceptron")
    _parameter_constraints = {"eta": [POSITIVE, StrOptions({"theory"})]}

    def __init__(self, eta: types.TheoryName | float = 1.0):
        self.eta: Any = eta

    def build(self, problem: Problem) -> Rule:
        self._validate_params()
        if self.eta != "theory":
            return core.LossAugmentedRule(self.eta)
        if problem.constants_vary and problem.no_theorem_because is None:
            return RankingLossAugmentedRule()
        any_step = problem.D2 == 0 or problem.C_L == 0  # will do: of one document, or one label, there is nothing to be wrong in
        step = 0.0 if any_step else problem.c_L / problem.D2
        return core.LossAugmentedRule(0.0, theory_step("LossAugmented", problem, step))

    def theorem(self, problem: Problem) -> str:
        return "Theorem 1 (Jain et al. 2015)"

    def loss_bound(self, problem: Problem, margin: float, radius: float, c_L: float) -> float:
        C = problem.C_L
        if self.eta != "theory" and problem.constants_vary:
            return C * (2 * C / self.eta + problem.D2 * radius**2) / margin**2
        c = least_loss(problem, c_L)
        return bound_of_step(self.eta, c, C, margin, problem.D2 * radius**2)

    def unit_margin_bound(self, problem: Problem, unit_margin: float, radius: float, c_L: float) -> float:
        return bound_of_step(self.eta, least_loss(problem, c_L), 1.0, unit_margin, problem.D2 * radius**2)

    def comparator_bound(self, problem: Problem, against: Comparator, c_L: float) -> float:
        check_fixed_competitor(self, problem)
        check_fixed_step(self)
        excess = float(against.hinges().sum())
        return bound_of_fixed_step(self.eta, least_loss(problem, c_L), against.length, excess, problem.D2 * against.radius**2)


class LossDriven(Update):
    """Predtron.LD, Algorithm 2 of Jain et al. (2015) (alias "loss_driven").

    On a mistake the competitor is the best prediction outside Sigma_y, which is the prediction itself, and the step is
    eta L(sigma, y).

    Parameters
    ----------
    eta : float or "theory", default=1.0
        Factor of the loss in the step; "theory" is Theorem 14's 1 / (C_L D^2 R^2), for queries
        with D^2 = 4.  The predictions do not depend on it.

    See Also
    --------
    PerceptronUpdate : Steps of constant size, independent of the loss.
    LossAugmented : Steps away from the loss-augmented competitor.

    Notes
    -----
    `loss_bound` is D^2 R^2 C_L / gamma^2, for any constant eta.

    `comparator_bound` is the largest S with S - C_L E <= D R |U| sqrt(C_L S), where E = sum max(0, 1 - margin of U).

    Examples
    --------
    >>> from sklearn_predtron.updates import LossDriven
    >>> LossDriven(eta=0.5)
    LossDriven(eta=0.5)
    """

    alias = "loss_driven"
    synonyms = ("predtron_ld",)
    _parameter_constraints = {"eta": [POSITIVE, StrOptions({"theory"})]}

    def __init__(self, eta: types.TheoryName | float = 1.0):
        self.eta: Any = eta

    def build(self, problem: Problem) -> Rule:
        self._validate_params()
        if self.eta == "theory":
            # The longest round of several rows is not known beforehand, and any step will do.
            most = 4.0 if problem.score_map.offsets_cancel else problem.D2
            step = 0.0 if problem.C_L == 0 else 1 / (most * problem.C_L)  # of one label there is nothing to be wrong in
            return core.LossDrivenRule(0.0, theory_step("LossDriven", problem, step))
        return core.LossDrivenRule(self.eta)

    def theorem(self, problem: Problem) -> str:
        return "Theorem 14 (Jain et al. 2015, supplement)"

    def loss_bound(self, problem: Problem, margin: float, radius: float, c_L: float) -> float:
        return problem.D2 * radius**2 * problem.C_L / margin**2

    def comparator_bound(self, problem: Problem, against: Comparator, c_L: float) -> float:
        check_fixed_competitor(self, problem)
        excess = problem.C_L * float(against.shortfalls().sum())
        return largest_total(excess, problem.C_L * problem.D2 * (against.radius * against.length) ** 2)


class PerceptronUpdate(Update):
    """The perceptron (alias "perceptron").

    On a mistake, it takes a constant step away from the prediction.

    Parameters
    ----------
    eta : float, default=1.0
        The step.  It scales the weights and changes no prediction.

    See Also
    --------
    LossDriven : Steps in proportion to the loss.
    sklearn.linear_model.Perceptron : The perceptron for two classes; one-vs-rest for more.

    Notes
    -----
    `loss_bound` is D^2 R^2 C_L / gamma^2, for at most D^2 R^2 / gamma^2 mistakes (Novikoff 1962).  For ordered thresholds
    on one direction, and losses up to the absolute, it is the R^2 / delta^2 of Milidiú and Rocha (2019), Corollary 3, with
    the least distance delta = sqrt(r - 1) gamma / 2 from a threshold: 4 R^2 / ((r - 1) gamma^2).

    `comparator_bound` is C_L times the largest M with M - E <= D R |U| sqrt(M), where E = sum max(0, 1 - margin of U).

    Examples
    --------
    >>> from sklearn_predtron.updates import PerceptronUpdate
    >>> PerceptronUpdate()
    PerceptronUpdate()
    """

    alias = "perceptron"
    _parameter_constraints = {"eta": [POSITIVE]}

    def __init__(self, eta: float = 1.0):
        self.eta = eta

    def build(self, problem: Problem) -> Rule:
        self._validate_params()
        return core.PerceptronRule(self.eta)

    def theorem(self, problem: Problem) -> str:
        return "Corollary 3 (Milidiú and Rocha 2019)" if counts_thresholds(problem) else "the perceptron's bound (Novikoff 1962)"

    def loss_bound(self, problem: Problem, margin: float, radius: float, c_L: float) -> float:
        return problem.D2 * radius**2 / margin**2 * (1 / problem.d if counts_thresholds(problem) else problem.C_L)

    def unit_margin_bound(self, problem: Problem, unit_margin: float, radius: float, c_L: float) -> float:
        # The squared length of a step for each unit of its loss L: at most (D R)^2 / c_L, and where h of T parts are wrong, which
        # cost c_L or more each, (h D R / T)^2 / L, the most of it where h = T.
        per_loss = min(1 / least_loss(problem, c_L), 1 / (problem.parts * problem.c_L))
        return problem.D2 * radius**2 * per_loss / unit_margin**2

    def comparator_bound(self, problem: Problem, against: Comparator, c_L: float) -> float:
        check_fixed_competitor(self, problem)
        excess = float(against.shortfalls().sum())
        return problem.C_L * largest_total(excess, problem.D2 * (against.radius * against.length) ** 2)


class PassiveAggressive(Update):
    """Passive-aggressive updates (Crammer et al. 2006).

    They make the least change that meets a target margin.

    With Delta = rep(sigma_y) - rep(competitor) and h = delta L - <Delta, t> (or delta - <Delta, t>), it steps if h > 0, by
    eta = h / |Delta x^T|^2, capped by C ("pa1") or softened by it ("pa2").

    Parameters
    ----------
    C : float, default=inf
        Aggressiveness; the step of "pa1" is at most C, that of "pa2" is h / (|Delta x^T|^2 + 1 / (2 C)).
    variant : {"pa", "pa1", "pa2"}, default="pa1"
        Which of the three variants; "pa" does not use C.
    competitor : {"augmented", "predicted"}, default="augmented"
        The loss-augmented competitor, or the prediction (then steps on mistakes only).
    target : {"loss", "constant"}, default="loss"
        Whether the target margin is delta times the competitor's loss, or delta.
    delta : float, default=1.0
        Scale of the target margin.

    See Also
    --------
    Adaptive : A cap that adapts its scale.
    Subgradient : Steps of a given size.

    Notes
    -----
    `loss_bound` is delta C_L^2 / (gamma^2 eta), eta being the smallest step on a mistake: min(C, delta c_L / (D R)^2) for "pa"
    and "pa1", and delta c_L / ((D R)^2 + 1 / (2 C)) for "pa2".  With target="constant" it is delta C_L / (gamma^2 eta), with 1
    instead of c_L in eta.  It is proven if the competitor is the prediction, and for the loss-augmented competitor with
    target="loss" and delta = 1.

    `comparator_bound` uses the surrogates phi(U x, y) of equation (2), for target="loss" and delta = 1:
    (|U|^2 + 2 C sum phi) / min(C, c_L / (D R)^2) for "pa1" with a finite C, and
    ((D R)^2 + 1 / (2 C)) (|U|^2 + 2 C sum phi^2) / c_L for "pa2" (Crammer et al. 2006, Theorems 4 and 5).

    Examples
    --------
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.updates import PassiveAggressive
    >>> PredtronClassifier(update=PassiveAggressive(C=0.1)).get_params()["update__C"]
    0.1
    """

    alias = "passive_aggressive"
    synonyms = ("pa1", "pa_i")
    variants = {"pa": {"variant": "pa"}, "pa2": {"variant": "pa2"}, "pa_ii": {"variant": "pa2"}}
    _parameter_constraints = {
        "C": [Interval(Real, 0, None, closed="right")],
        "variant": [StrOptions({"pa", "pa1", "pa2"})],
        "competitor": [StrOptions({"augmented", "predicted"})],
        "target": [StrOptions({"loss", "constant"})],
        "delta": [POSITIVE],
    }

    def __init__(
        self,
        C: float = np.inf,
        variant: types.VariantName = "pa1",
        competitor: types.CompetitorName = "augmented",
        target: types.TargetName = "loss",
        delta: float = 1.0,
    ):
        self.C = C
        self.variant = variant
        self.competitor = competitor
        self.target = target
        self.delta = delta

    def build(self, problem: Problem) -> Rule:
        self._validate_params()
        if self.variant == "pa" and np.isfinite(self.C):
            raise ValueError(f"C={self.C} has no effect with variant='pa'; use 'pa1' or 'pa2'.")
        softened = {"pa": 0, "pa1": 1, "pa2": 2}[self.variant]
        return core.PassiveAggressiveRule(self.C, softened, self.competitor == "predicted", self.target == "constant", self.delta)

    def theorem(self, problem: Problem) -> str:
        if self.competitor == "augmented" and (self.target, self.delta) != ("loss", 1.0):
            return super().theorem(problem)
        return "the passive-aggressive bound (Crammer et al. 2006)"

    def loss_bound(self, problem: Problem, margin: float, radius: float, c_L: float) -> float:
        C, constant = problem.C_L, self.target == "constant"
        return self.delta * C * (1 if constant else C) / (margin**2 * self._least_step(problem, radius, c_L))

    def unit_margin_bound(self, problem: Problem, unit_margin: float, radius: float, c_L: float) -> float:
        # A constant target is met on mistakes, which lead by g c_L or more, by U = (delta / c_L) W / g; with a step of size s it
        # comes nearer by s (2 delta L / c_L - delta) or more, which is at least s delta L / c_L.
        unit = least_loss(problem, c_L) if self.target == "constant" else 1.0
        return self.delta / (unit * unit_margin**2 * self._least_step(problem, radius, c_L))

    def _least_step(self, problem: Problem, radius: float, c_L: float) -> float:
        """Return the least step of a mistake."""
        h = self.delta * (1.0 if self.target == "constant" else least_loss(problem, c_L))
        longest2 = problem.D2 * radius**2  # of a change of the weights by a step of 1
        return h / (longest2 + 1 / (2 * self.C)) if self.variant == "pa2" else min(self.C, h / longest2)

    def comparator_bound(self, problem: Problem, against: Comparator, c_L: float) -> float:
        if (self.target, self.delta) != ("loss", 1.0) or self.variant == "pa" or not np.isfinite(self.C):
            return super().comparator_bound(problem, against, c_L)
        check_fixed_competitor(self, problem)
        phi, longest2, c = against.hinges(), problem.D2 * against.radius**2, least_loss(problem, c_L)
        if self.variant == "pa2":
            return float((longest2 + 1 / (2 * self.C)) * (against.length**2 + 2 * self.C * (phi**2).sum()) / c)
        return float((against.length**2 + 2 * self.C * phi.sum()) / min(self.C, c / longest2))


class Adaptive(Update):
    """Passive-aggressive with a cap that adapts its scale: the default, without a step size (alias "adaptive").

    The step is min(cap, h / g2) if the hinge h = L(competitor, y) - <Delta, t> of equation (2) is positive, with
    g2 = |Delta x^T|^2 and cap = kappa exp(running mean of log(L(competitor, y) / g2)).  Multiplying X or L by a constant
    changes no prediction.

    Parameters
    ----------
    kappa : float or None, default=None
        Factor of the cap; None is 0.3 for queries of documents, and 1 for everything else.
    replay : bool, default=True
        Whether `partial_fit` trains again on recent rows, for classes, ranks and label sets.  After round t, up to round 6,000,
        it draws min(9, 2000 / t) of the last 256 rows, for steps of 0.3 times the weight, unless the average shows drift.  A row
        of w > 1 times the mean weight is met about w times.  False trains on each row once, as `loss_bound` requires.

    See Also
    --------
    PassiveAggressive : A given cap, or none.
    LossAugmented : The algorithm with Theorem 1's step.

    Notes
    -----
    `loss_bound` is D^2 R^2 C_L^2 / (min(1, kappa) c_L gamma^2): Theorem 1's bound, without the need to know R or c_L.

    Rounds that use a row again count in no loss, and the recorded scores are those before the first use.  Which rows are drawn
    depends on the number of the round alone, so a stream has the same result however it is split into calls.  At most 256 rounds
    of heavy rows wait for their turn.  Rows of more than 8,192 values, queries, batches, sequences, label rankings, kernels and
    custom problems are used once.  A copy or saved model of a stream contains the rows: the last 256 up to round 6,000, and the
    last 256 above the mean weight.

    Examples
    --------
    >>> from sklearn_predtron.updates import Adaptive
    >>> Adaptive(kappa=0.3)
    Adaptive(kappa=0.3)

    Weights in a stream: 3 % of the rows follow another rule and weigh 100.  The weighted error on new rows, with and without
    `replay`, beside a batch model:

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, heavy = rng.standard_normal((20_000, 5)), rng.random(20_000) < 0.03
    >>> y = np.where(heavy, X[:, 0], X[:, 1]) + 0.5 * rng.standard_normal(20_000) > 0
    >>> w = np.where(heavy, 100.0, 1.0)
    >>> train, new = slice(0, 5000), slice(5000, None)
    >>> for replay in (True, False):
    ...     model = PredtronBinaryClassifier(update=Adaptive(replay=replay))
    ...     model = model.partial_fit(X[train], y[train], classes=[False, True], sample_weight=w[train])
    ...     print(replay, round(1 - model.score(X[new], y[new], sample_weight=w[new]), 2))
    True 0.22
    False 0.39
    >>> batch = LogisticRegression().fit(X[train], y[train], sample_weight=w[train])
    >>> round(1 - batch.score(X[new], y[new], sample_weight=w[new]), 2)
    0.22
    """

    alias = "adaptive"
    _parameter_constraints = {"kappa": [POSITIVE, None], "replay": ["boolean"]}

    def __init__(self, kappa: float | None = None, replay: bool = True):
        self.kappa = kappa
        self.replay = replay

    def build(self, problem: Problem) -> Rule:
        self._validate_params()
        return core.AdaptiveRule(self._factor(problem), self.replay)

    def _factor(self, problem: Problem) -> float:
        return problem.kappa if self.kappa is None else self.kappa

    def theorem(self, problem: Problem) -> str:
        return "the adaptive update's bound"

    def loss_bound(self, problem: Problem, margin: float, radius: float, c_L: float) -> float:
        return problem.C_L**2 * self.unit_margin_bound(problem, margin, radius, c_L)

    def unit_margin_bound(self, problem: Problem, unit_margin: float, radius: float, c_L: float) -> float:
        kappa = min(1.0, self._factor(problem))
        return problem.D2 * radius**2 / (kappa * least_loss(problem, c_L) * unit_margin**2)


class Subgradient(Update):
    """Subgradient steps on the penalised hinge (alias "subgradient").

    It is the generalised hinge with an L2 penalty.

    Each round sets W <- (1 - eta alpha) W, and steps by eta if the hinge of equation (2) is positive.  The intercept is one
    more weight and is penalised with the others.

    Parameters
    ----------
    alpha : float, default=1e-4
        The penalty is alpha / 2 |W|^2; 0 is subgradient descent without a penalty, and then eta must be a number.
    eta : float or "pegasos", default="pegasos"
        The step; "pegasos" is 1 / (alpha t) in round t.  A number must be below 1 / alpha.

    See Also
    --------
    PassiveAggressive : Steps of the size that the round needs.
    sklearn.linear_model.SGDClassifier : Subgradient steps for two classes; one-vs-rest for more.

    Notes
    -----
    For T rows of lengths up to R and weights of norms up to B (Shalev-Shwartz and Ben-David 2014), ``alpha=0`` with
    eta = B / (2 R sqrt(T + 1)) and average="uniform" is Corollary 17.2; alpha = 4 sqrt(2) R / (B sqrt(T)) is Corollary 17.1.

    Examples
    --------
    >>> from sklearn_predtron.updates import Subgradient
    >>> Subgradient(alpha=1e-3)
    Subgradient(alpha=0.001)
    """

    alias = "subgradient"
    synonyms = ("sgd", "pegasos", "hinge", "svm")
    _parameter_constraints = {"alpha": [Interval(Real, 0, None, closed="left")], "eta": [POSITIVE, StrOptions({"pegasos"})]}

    def __init__(self, alpha: float = 1e-4, eta: types.PegasosName | float = "pegasos"):
        self.alpha = alpha
        self.eta: Any = eta

    def build(self, problem: Problem) -> Rule:
        self._validate_params()
        if self.eta == "pegasos":
            if self.alpha == 0:
                raise ValueError("eta='pegasos' is 1 / (alpha t), and alpha=0; give eta as a number.")
            return core.SubgradientRule(self.alpha, 0.0)
        if self.eta * self.alpha >= 1:
            raise ValueError(f"eta={self.eta} must be below 1 / alpha = {1 / self.alpha:g}, or the penalty undoes all weights.")
        return core.SubgradientRule(self.alpha, self.eta)
