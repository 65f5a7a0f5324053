"""Updates: when to change the weights, towards which competitor, and how far."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

import sklearn_predtron._core.ranking_updates as ranking
import sklearn_predtron._core.updates as core
from sklearn_predtron._bounds import (
    bound_of_fixed_step,
    bound_of_step,
    check_fixed_competitor,
    check_fixed_step,
    counts_thresholds,
    largest_total,
    least_loss,
    theory_step,
)
from sklearn_predtron._compat import Interval, StrOptions
from sklearn_predtron._competitor import Competitor
from sklearn_predtron._core.ordinal import PRank as PRankUpdate
from sklearn_predtron._core.problem import Problem
from sklearn_predtron._core.ranking import Ranking
from sklearn_predtron._parts import Part

__all__ = [
    "MMP",
    "Adaptive",
    "ListNet",
    "LossAugmented",
    "LossDriven",
    "MaxPair",
    "PRank",
    "PassiveAggressive",
    "PerceptronUpdate",
    "Slam",
    "Subgradient",
    "Update",
]

POSITIVE = Interval(Real, 0, None, closed="neither")


class Update(Part):
    """Base of the updates W <- W + eta (rep(sigma_y) - rep(competitor)) x^T.

    `auto_scaling` is what intercept_scaling="auto" stands for under the update; `pairwise` says that its margin is that of
    pairs of items.
    """

    auto_scaling: Any = "auto"
    pairwise = False
    _parameter_constraints: dict[str, list] = {}

    def build(self, problem: Problem, kappa: float) -> core.Update:
        """Make the compiled update.

        Parameters
        ----------
        problem : Problem
            The compiled problem, for its c_L and C_L.
        kappa : float
            The family's factor of the adaptive cap.

        Returns
        -------
        update : Update
            The compiled update, with nothing learned.
        """
        raise TypeError(f"{type(self).__name__} does not define build(); an update must.")

    def theorem(self, problem: Problem) -> str:
        """Name the theorem behind `loss_bound`.

        Parameters
        ----------
        problem : Problem
            The compiled problem.

        Returns
        -------
        theorem : str
            Its name, and the paper that has it.
        """
        raise ValueError(f"No loss bound is proven for update={self}.")

    def loss_bound(self, problem: Problem, kappa: float, margin: float, radius: float, c_L: float) -> float:
        """Bound the loss suffered online on data that are separable with a margin, where `theorem` names one that says so.

        Parameters
        ----------
        problem : Problem
            The compiled problem.
        kappa : float
            The family's factor of the adaptive cap.
        margin : float
            Margin gamma of unit-norm weights on the data.
        radius : float
            The largest length R of an input, with its intercept feature.
        c_L : float
            The least positive loss, not finite where it is not known.

        Returns
        -------
        bound : float
            What the sum of the losses cannot exceed.
        """
        raise TypeError(f"{type(self).__name__} does not define loss_bound(); an update with a theorem must.")

    def competitor_bound(self, problem: Problem, against: Competitor, c_L: float) -> float:
        """Bound the loss suffered online on any data by that of given weights, where such a bound is proven.

        Parameters
        ----------
        problem : Problem
            The compiled problem.
        against : Competitor
            The given weights U: their length, their surrogate losses on the rows, and the radius R of these.
        c_L : float
            The least positive loss, not finite where it is not known.

        Returns
        -------
        bound : float
            What the sum of the losses cannot exceed.
        """
        raise ValueError(f"No bound against given weights is proven for update={self}.")


class LossAugmented(Update):
    """Algorithm 1 of paper 000 (alias "predtron").

    On a mistake the competitor is argmax_sigma L(sigma, y) + <rep(sigma), t>, equation (2), and the step is eta.  For 0-1
    losses this is the perceptron.

    Parameters
    ----------
    eta : float or "theory", default=1.0
        The step; "theory" is Theorem 1's c_L / (D^2 R^2), with R the largest length of an input so far.  Under a norm of dual
        exponent q, R^2 has the factor q - 1 (Theorem 15); for rankings c_L is that of the lists that lost so far.

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

    def __init__(self, eta: Any = 1.0):
        self.eta = eta

    def build(self, problem: Problem, kappa: float) -> core.Update:
        self._validate_params()
        if self.eta != "theory":
            return core.LossAugmented(self.eta)
        if isinstance(problem, Ranking) and problem.unproven is None:
            return ranking.RankingLossAugmented()
        step = problem.c_L / problem.D2 if problem.D2 > 0 else 0.0  # lists of one document are all at one place
        return core.LossAugmented(0.0, theory_step("LossAugmented", problem, step))

    def theorem(self, problem: Problem) -> str:
        return "Theorem 1 (paper 000)"

    def loss_bound(self, problem: Problem, kappa: float, margin: float, radius: float, c_L: float) -> float:
        """D^2 R^2 C_L^2 / (c_L gamma^2) for eta = "theory", with D^2 = max |rep(sigma) - rep(sigma')|^2.

        For a number below 2 c_L / (D R)^2 the same proof gives C_L^2 / (eta gamma^2 (2 - eta D^2 R^2 / c_L)).  For rankings,
        whose c_L depends on the lists, a number makes at most (2 C_L / eta + D^2 R^2) / gamma^2 mistakes.
        """
        C = problem.C_L
        if self.eta != "theory" and isinstance(problem, Ranking):
            return C * (2 * C / self.eta + problem.D2 * radius**2) / margin**2
        c = least_loss(problem, c_L)
        return bound_of_step(self.eta, c, C, margin, problem.D2 * radius**2)

    def competitor_bound(self, problem: Problem, against: Competitor, c_L: float) -> float:
        """(|U|^2 + 2 eta sum phi(U x, y)) / (eta (2 - eta D^2 R^2 / c_L)), phi being the surrogate of equation (2)."""
        check_fixed_competitor(self, problem)
        check_fixed_step(self)
        excess = float(against.hinges().sum())
        return bound_of_fixed_step(self.eta, least_loss(problem, c_L), against.length, excess, problem.D2 * against.radius**2)


class LossDriven(Update):
    """Predtron.LD, Algorithm 2 of paper 001 (alias "loss_driven").

    On a mistake the competitor is the best prediction outside Sigma_y, which is the prediction made, and the step is
    eta L(sigma, y).

    Parameters
    ----------
    eta : float or "theory", default=1.0
        Factor of the loss in the step; "theory" is Theorem 14's 1 / (C_L D^2 R^2), for queries
        with D^2 = 4.  The predictions do not depend on it.

    Examples
    --------
    >>> from sklearn_predtron.updates import LossDriven
    >>> LossDriven(eta=0.5)
    LossDriven(eta=0.5)
    """

    alias = "loss_driven"
    synonyms = ("predtron_ld",)
    _parameter_constraints = {"eta": [POSITIVE, StrOptions({"theory"})]}

    def __init__(self, eta: Any = 1.0):
        self.eta = eta

    def build(self, problem: Problem, kappa: float) -> core.Update:
        self._validate_params()
        if self.eta == "theory":
            most = 4.0 if problem.block else problem.D2  # the longest list is not known beforehand, and any step will do
            return core.LossDriven(0.0, theory_step("LossDriven", problem, 1 / (most * problem.C_L)))
        return core.LossDriven(self.eta)

    def theorem(self, problem: Problem) -> str:
        return "Theorem 14 (paper 001)"

    def loss_bound(self, problem: Problem, kappa: float, margin: float, radius: float, c_L: float) -> float:
        """D^2 R^2 C_L / gamma^2, for any constant eta."""
        return problem.D2 * radius**2 * problem.C_L / margin**2

    def competitor_bound(self, problem: Problem, against: Competitor, c_L: float) -> float:
        """The largest S with S - C_L E <= D R |U| sqrt(C_L S), where E = sum max(0, 1 - margin of U)."""
        check_fixed_competitor(self, problem)
        excess = problem.C_L * float(against.shortfalls().sum())
        return largest_total(excess, problem.C_L * problem.D2 * (against.radius * against.length) ** 2)


class PerceptronUpdate(Update):
    """The perceptron: on a mistake, a constant step away from the prediction made (alias "perceptron").

    Parameters
    ----------
    eta : float, default=1.0
        The step.  It scales the weights and changes no prediction.

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

    def build(self, problem: Problem, kappa: float) -> core.Update:
        self._validate_params()
        return core.Perceptron(self.eta)

    def theorem(self, problem: Problem) -> str:
        return "Corollary 3 (paper 003)" if counts_thresholds(problem) else "the perceptron's bound (Novikoff 1962)"

    def loss_bound(self, problem: Problem, kappa: float, margin: float, radius: float, c_L: float) -> float:
        """At most D^2 R^2 / gamma^2 mistakes (Novikoff), so D^2 R^2 C_L / gamma^2.

        For ordered thresholds on one direction, and losses up to the absolute, Corollary 3's R^2 / delta^2 with the least
        distance delta = sqrt(r - 1) gamma / 2 from a threshold: 4 R^2 / ((r - 1) gamma^2).
        """
        return problem.D2 * radius**2 / margin**2 * (1 / problem.d if counts_thresholds(problem) else problem.C_L)

    def competitor_bound(self, problem: Problem, against: Competitor, c_L: float) -> float:
        """C_L times the largest M with M - E <= D R |U| sqrt(M), where E = sum max(0, 1 - margin of U)."""
        check_fixed_competitor(self, problem)
        excess = float(against.shortfalls().sum())
        return problem.C_L * largest_total(excess, problem.D2 * (against.radius * against.length) ** 2)


class PassiveAggressive(Update):
    """Passive-aggressive updates: the least change that meets a target margin (Crammer et al. 2006).

    With Delta = rep(sigma_y) - rep(competitor) and h = delta L - <Delta, t> (or delta - <Delta, t>), a step where h > 0:
    eta = h / |Delta x^T|^2, capped by C ("pa1") or softened by it ("pa2").

    Parameters
    ----------
    C : float, default=inf
        Aggressiveness; the step of "pa1" is at most C, that of "pa2" is h / (|Delta x^T|^2 + 1 / (2 C)).
    variant : {"pa", "pa1", "pa2"}, default="pa1"
        Which of the three; "pa" takes no C.
    competitor : {"augmented", "predicted"}, default="augmented"
        The loss-augmented competitor, or the prediction made (then a step on mistakes only).
    target : {"loss", "constant"}, default="loss"
        Whether the target margin is delta times the competitor's loss, or delta.
    delta : float, default=1.0
        Scale of the target margin.

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
        variant: str = "pa1",
        competitor: str = "augmented",
        target: str = "loss",
        delta: float = 1.0,
    ):
        self.C = C
        self.variant = variant
        self.competitor = competitor
        self.target = target
        self.delta = delta

    def build(self, problem: Problem, kappa: float) -> core.Update:
        self._validate_params()
        if self.variant == "pa" and np.isfinite(self.C):
            raise ValueError(f"C={self.C} has no effect with variant='pa'; use 'pa1' or 'pa2'.")
        softened = {"pa": 0, "pa1": 1, "pa2": 2}[self.variant]
        return core.PassiveAggressive(self.C, softened, self.competitor == "predicted", self.target == "constant", self.delta)

    def theorem(self, problem: Problem) -> str:
        if self.competitor == "augmented" and (self.target, self.delta) != ("loss", 1.0):
            return super().theorem(problem)
        return "the passive-aggressive bound (Crammer et al. 2006)"

    def loss_bound(self, problem: Problem, kappa: float, margin: float, radius: float, c_L: float) -> float:
        """Bound the loss by delta C_L^2 / (gamma^2 eta), eta being the least step of a mistake.

        It is min(C, delta c_L / (D R)^2) for "pa" and "pa1", and delta c_L / ((D R)^2 + 1 / (2 C)) for "pa2".  With
        target="constant" delta C_L / (gamma^2 eta), with 1 in the place of c_L in eta.  Proven for the prediction made as
        competitor, and for the loss-augmented one with target="loss" and delta = 1.
        """
        C, constant = problem.C_L, self.target == "constant"
        h = self.delta * (1.0 if constant else least_loss(problem, c_L))  # of a mistake, at least
        longest2 = problem.D2 * radius**2  # of a change of the weights by a step of 1
        step = h / (longest2 + 1 / (2 * self.C)) if self.variant == "pa2" else min(self.C, h / longest2)
        return self.delta * C * (1 if constant else C) / (margin**2 * step)

    def competitor_bound(self, problem: Problem, against: Competitor, c_L: float) -> float:
        """Bound the loss by the surrogates phi(U x, y) of equation (2), for target="loss" and delta = 1.

        (|U|^2 + 2 C sum phi) / min(C, c_L / (D R)^2) for "pa1" with a finite C, and
        ((D R)^2 + 1 / (2 C)) (|U|^2 + 2 C sum phi^2) / c_L for "pa2" (Crammer et al. 2006, Theorems 4 and 5).
        """
        if (self.target, self.delta) != ("loss", 1.0) or self.variant == "pa" or not np.isfinite(self.C):
            return super().competitor_bound(problem, against, c_L)
        check_fixed_competitor(self, problem)
        phi, longest2, c = against.hinges(), problem.D2 * against.radius**2, least_loss(problem, c_L)
        if self.variant == "pa2":
            return float((longest2 + 1 / (2 * self.C)) * (against.length**2 + 2 * self.C * (phi**2).sum()) / c)
        return float((against.length**2 + 2 * self.C * phi.sum()) / min(self.C, c / longest2))


class Adaptive(Update):
    """Passive-aggressive with a cap that scales itself: the default, free of step sizes (alias "adaptive").

    A step min(cap, h / g2) wherever the hinge h = L(competitor, y) - <Delta, t> of equation (2) is positive, with
    g2 = |Delta x^T|^2 and cap = kappa exp(running mean of log(L(competitor, y) / g2)).  Multiplying X or L by a constant
    changes no prediction.

    Parameters
    ----------
    kappa : float or None, default=None
        Factor of the cap; None is the family's own (1 for the classifiers).

    Examples
    --------
    >>> from sklearn_predtron.updates import Adaptive
    >>> Adaptive(kappa=0.3)
    Adaptive(kappa=0.3)
    """

    alias = "adaptive"
    _parameter_constraints = {"kappa": [POSITIVE, None]}

    def __init__(self, kappa: float | None = None):
        self.kappa = kappa

    def build(self, problem: Problem, kappa: float) -> core.Update:
        self._validate_params()
        return core.Adaptive(kappa if self.kappa is None else self.kappa)

    def theorem(self, problem: Problem) -> str:
        return "the adaptive update's bound"

    def loss_bound(self, problem: Problem, kappa: float, margin: float, radius: float, c_L: float) -> float:
        """D^2 R^2 C_L^2 / (min(1, kappa) c_L gamma^2): Theorem 1's bound, without knowing R or c_L."""
        kappa = kappa if self.kappa is None else self.kappa
        return problem.D2 * radius**2 * problem.C_L**2 / (min(1.0, kappa) * least_loss(problem, c_L) * margin**2)


class Subgradient(Update):
    """Subgradient steps on the generalised hinge with an L2 penalty (alias "subgradient").

    Each round W <- (1 - eta alpha) W, and a step eta wherever the hinge of equation (2) is positive.  The intercept is one
    more weight and is penalised with the others.

    Parameters
    ----------
    alpha : float, default=1e-4
        The penalty alpha / 2 |W|^2; 0 is subgradient descent without one, for which eta must be a number.
    eta : float or "pegasos", default="pegasos"
        The step; "pegasos" is 1 / (alpha t) in round t.  A number must be below 1 / alpha.

    Notes
    -----
    Shalev-Shwartz and Ben-David (2014): for T rows of lengths up to R and weights of norms up to B, ``alpha=0`` with
    eta = B / (2 R sqrt(T + 1)) and average="uniform" is Corollary 17.2, alpha = 4 sqrt(2) R / (B sqrt(T)) Corollary 17.1.

    Examples
    --------
    >>> from sklearn_predtron.updates import Subgradient
    >>> Subgradient(alpha=1e-3)
    Subgradient(alpha=0.001)
    """

    alias = "subgradient"
    synonyms = ("sgd", "pegasos", "hinge", "svm")
    _parameter_constraints = {"alpha": [Interval(Real, 0, None, closed="left")], "eta": [POSITIVE, StrOptions({"pegasos"})]}

    def __init__(self, alpha: float = 1e-4, eta: Any = "pegasos"):
        self.alpha = alpha
        self.eta = eta

    def build(self, problem: Problem, kappa: float) -> core.Update:
        self._validate_params()
        if self.eta == "pegasos":
            if self.alpha == 0:
                raise ValueError("eta='pegasos' is 1 / (alpha t), and alpha=0; give eta as a number.")
            return core.Subgradient(self.alpha, 0.0)
        if self.eta * self.alpha >= 1:
            raise ValueError(f"eta={self.eta} must be below 1 / alpha = {1 / self.alpha:g}, or the penalty undoes all weights.")
        return core.Subgradient(self.alpha, self.eta)


class PRank(Update):
    """PRank as printed: each threshold on the wrong side of <u, x>, or on it, moves by 1 (Crammer and Singer 2001).

    Where the predicted rank is not the label, tau_j = +1 for the thresholds below the label that <u, x> does not exceed and -1
    for those above it that <u, x> reaches; u <- u + (sum of tau) x, and threshold j falls by tau_j.  For
    representation="shared" only.  The loss decides nothing; intercept_scaling="auto" is 1.

    Examples
    --------
    >>> from sklearn_predtron import PredtronOrdinalClassifier
    >>> from sklearn_predtron.updates import PRank
    >>> model = PredtronOrdinalClassifier(representation="shared", update=PRank(), average=False, shuffle=False, max_iter=1)
    >>> model.fit([[1.0], [2.0], [4.0]], [0, 1, 2]).intercept_
    array([1., 0.])
    """

    alias = "prank"
    auto_scaling = 1.0

    def build(self, problem: Problem, kappa: float) -> core.Update:
        if not problem.shared:
            raise ValueError(
                "update='prank' moves ordered thresholds and needs representation='shared'; with other representations "
                "update='perceptron' is the nearest."
            )
        return PRankUpdate()

    def theorem(self, problem: Problem) -> str:
        return "PRank's bound (Crammer and Singer 2001)" if counts_thresholds(problem) else super().theorem(problem)

    def loss_bound(self, problem: Problem, kappa: float, margin: float, radius: float, c_L: float) -> float:
        """4 R^2 / ((r - 1) gamma^2) for the absolute loss and any that is nowhere larger, with R^2 = (r - 1) |x|^2 + s^2.

        Crammer and Singer's theorem, (r - 1) (|x|^2 + 1) / gamma'^2 with the least distance gamma' = sqrt(r - 1) gamma / 2 from
        a threshold, for s = 1; their proof gives the R^2 above.
        """
        return 4 * radius**2 / (problem.d * margin**2)

    def competitor_bound(self, problem: Problem, against: Competitor, c_L: float) -> float:
        """The largest S with S - E <= R |U| sqrt(S), where E sums max(0, 1 - distance) over rows and thresholds."""
        excess = float(against.threshold_shortfalls().sum())
        return largest_total(excess, (against.radius * against.length) ** 2)


def check_ranking(update: Update, problem: Problem) -> None:
    """These updates know pairs of items, and nothing else."""
    if not isinstance(problem, Ranking):
        raise ValueError(
            f"update={update} is for rankings (PredtronRanker, PredtronLabelRanker); update='adaptive' works for every family."
        )


class Slam(Update):
    """SLAM perceptron: the subgradient of a large-margin surrogate that bounds the list's loss (alias "slam").

    On a mistake t <- t - eta sum_i v_i (e_k(i) - e_i) over the items with a less relevant one whose score is not 1 below, k(i)
    being the best of those.  The weights v are those of loss="ndcg" (also with k) or loss="ap", averaged within each grade
    (paper 002, eq. 9 to 11 and 16, Algorithm 1).

    Parameters
    ----------
    eta : float, "theory" or "invsqrt", default="theory"
        The step; "theory" is v / (D^2 R^2), with the least positive weight v, the largest length R of a document so far and
        D^2 = 4, or 2 for rankings of labels, whose R is that of a row;
        "invsqrt" is 1 / sqrt(t) in round t.

    Examples
    --------
    >>> from sklearn_predtron import PredtronRanker
    >>> from sklearn_predtron.updates import Slam
    >>> PredtronRanker(update=Slam(eta=0.1)).get_params()["update__eta"]
    0.1
    """

    alias = "slam"
    synonyms = ("slam_perceptron",)
    pairwise = True
    _parameter_constraints = {"eta": [POSITIVE, StrOptions({"theory", "invsqrt"})]}

    def __init__(self, eta: Any = "theory"):
        self.eta = eta

    def build(self, problem: Problem, kappa: float) -> core.Update:
        self._validate_params()
        check_ranking(self, problem)
        if not problem.weighing:
            raise ValueError(f"update='slam' has weights for loss='ndcg' and 'ap', not for {problem.measure}.")
        number = 1.0 if isinstance(self.eta, str) else self.eta
        return ranking.Slam(number, self.eta == "invsqrt", self.eta == "theory")

    def theorem(self, problem: Problem) -> str:
        if self.eta == "invsqrt":
            return super().theorem(problem)
        return f"{'Corollary 7' if getattr(problem.measure, 'k', None) is None else 'Theorem 8'} (paper 002)"

    def loss_bound(self, problem: Problem, kappa: float, margin: float, radius: float, c_L: float) -> float:
        """D^2 R^2 / (v gamma^2) for eta = "theory", with the least positive weight v (for c_L) of the lists that lost.

        R is the largest length of a document, and D^2 = 4, or that of a row of ranked labels, and D^2 = 2; gamma is the margin
        of pairs.  For a number below 2 v / (D R)^2 the same proof gives 1 / (eta gamma^2 (2 - eta D^2 R^2 / v)).
        """
        if not np.isfinite(c_L):
            raise ValueError("loss_bound knows the least weight v with update='slam' only after a mistake; there was none.")
        return bound_of_step(self.eta, c_L, 1.0, margin, problem.D2_of_pairs * radius**2)

    def competitor_bound(self, problem: Problem, against: Competitor, c_L: float) -> float:
        """(|U|^2 + 2 eta sum f(U)) / (eta (2 - eta D^2 R^2 / v)), f being the surrogate (Chaudhuri, Tewari 2015, Theorem 6)."""
        check_fixed_step(self)
        if not np.isfinite(c_L):
            raise ValueError("c_L=None is the least weight v with update='slam', known only after a mistake; there was none.")
        excess = float(against.slam_surrogates().sum())
        return bound_of_fixed_step(self.eta, c_L, against.length, excess, problem.D2_of_pairs * against.radius**2)


class MaxPair(Update):
    """The pair of items that is furthest from the right order, on a mistake (alias "max_pair").

    t <- t + eta L (e_i - e_j), with (i, j) = argmax t_j - t_i over pairs in which i is more relevant (paper 002, section 4).

    Parameters
    ----------
    eta : float, default=1.0
        The step.  It scales the weights and changes no ranking.
    weighted : bool, default=True
        Whether the step is multiplied by the list's loss L.

    Examples
    --------
    >>> from sklearn_predtron.updates import MaxPair
    >>> MaxPair(weighted=False)
    MaxPair(weighted=False)
    """

    alias = "max_pair"
    pairwise = True
    _parameter_constraints = {"eta": [POSITIVE], "weighted": ["boolean"]}

    def __init__(self, eta: float = 1.0, weighted: bool = True):
        self.eta = eta
        self.weighted = weighted

    def build(self, problem: Problem, kappa: float) -> core.Update:
        self._validate_params()
        check_ranking(self, problem)
        return ranking.MaxPair(self.eta, self.weighted)

    def theorem(self, problem: Problem) -> str:
        return "Theorem 10 (paper 002)"

    def loss_bound(self, problem: Problem, kappa: float, margin: float, radius: float, c_L: float) -> float:
        """4 R^2 / gamma^2, with the largest length R of a document and gamma over pairs; 2 R^2 / gamma^2 for ranked labels."""
        return problem.D2_of_pairs * radius**2 / margin**2

    def competitor_bound(self, problem: Problem, against: Competitor, c_L: float) -> float:
        """The largest S with S - E <= D R |U| sqrt(S), where E = sum max(0, 1 - margin of U) over lists."""
        excess = float(against.shortfalls().sum())
        return largest_total(excess, problem.D2_of_pairs * (against.radius * against.length) ** 2)


class ListNet(Update):
    """Online ListNet: the gradient of the cross entropy of softmax(relevance) and softmax(scores), every round.

    t <- t - eta (softmax(t) - softmax(y)) (alias "listnet"; paper 002, section 6).  There is no bound on the loss.

    Parameters
    ----------
    eta : float or "invsqrt", default="invsqrt"
        The step; "invsqrt" is 1 / sqrt(t) in round t.  It depends on the scale of X.

    Examples
    --------
    >>> from sklearn_predtron.updates import ListNet
    >>> ListNet(eta=0.01)
    ListNet(eta=0.01)
    """

    alias = "listnet"
    _parameter_constraints = {"eta": [POSITIVE, StrOptions({"invsqrt"})]}

    def __init__(self, eta: Any = "invsqrt"):
        self.eta = eta

    def build(self, problem: Problem, kappa: float) -> core.Update:
        self._validate_params()
        check_ranking(self, problem)
        fading = isinstance(self.eta, str)
        return ranking.ListNet(1.0 if fading else self.eta, fading)


class MMP(Update):
    """Multiclass multilabel perceptron for the ranking of labels (alias "mmp"; Crammer and Singer 2003).

    E are the pairs of labels of which the more relevant one does not lead.  Where there are any, a total weight c is spread
    over E, and t <- t + eta sum of the weights times (e_i - e_j).

    Parameters
    ----------
    cost : {"is_error", "error_set", "normalised"}, default="is_error"
        c: 1, |E|, or the share of E among all pairs of different relevance.
    weights : {"uniform", "max", "random"}, default="uniform"
        How c is spread: evenly, on the pair that is furthest from the right order, or at random (always the same numbers).
    eta : float, default=1.0
        The step.  It scales the weights and changes no ranking.

    Examples
    --------
    >>> from sklearn_predtron import PredtronLabelRanker
    >>> from sklearn_predtron.updates import MMP
    >>> PredtronLabelRanker(update=MMP(weights="max")).get_params()["update__weights"]
    'max'
    """

    alias = "mmp"
    pairwise = True
    _parameter_constraints = {
        "cost": [StrOptions({"is_error", "error_set", "normalised"})],
        "weights": [StrOptions({"uniform", "max", "random"})],
        "eta": [POSITIVE],
    }

    def __init__(self, cost: str = "is_error", weights: str = "uniform", eta: float = 1.0):
        self.cost = cost
        self.weights = weights
        self.eta = eta

    def build(self, problem: Problem, kappa: float) -> core.Update:
        self._validate_params()
        check_ranking(self, problem)
        if problem.block:
            raise ValueError("update='mmp' ranks labels (PredtronLabelRanker); update='max_pair' is the nearest for queries.")
        return ranking.MMP(self.eta, self.cost, self.weights)

    def theorem(self, problem: Problem) -> str:
        return "the bound of MMP (Crammer and Singer 2003)"

    def loss_bound(self, problem: Problem, kappa: float, margin: float, radius: float, c_L: float) -> float:
        """2 R^2 C / gamma^2, with gamma over pairs of labels: C is 1 for "is_error", else the number m (m - 1) / 2 of pairs.

        The costs c sum to 2 R^2 / gamma^2 times the largest c.  The losses are at most 1, and so at most c, except that
        "normalised" may be as small as 2 / (m (m - 1)).
        """
        pairs = 1 if self.cost == "is_error" else problem.d * (problem.d - 1) / 2
        return 2 * radius**2 * pairs / margin**2

    def competitor_bound(self, problem: Problem, against: Competitor, c_L: float) -> float:
        """The largest S with S - C E <= R |U| sqrt(2 C S), E = sum max(0, 1 - margin of U); for "normalised" m (m - 1) / 2 times.

        C is 1, and m (m - 1) / 2 for "error_set".
        """
        pairs, excess = problem.d * (problem.d - 1) / 2, float(against.shortfalls().sum())
        most = pairs if self.cost == "error_set" else 1.0
        found = largest_total(most * excess, 2 * most * (against.radius * against.length) ** 2)
        return found * (pairs if self.cost == "normalised" else 1.0)
