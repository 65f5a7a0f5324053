"""CertifiedReject abstention: promises that are tested on held-out rows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._support.warning import warn
from sklearn_predtron.decisions._base import Decision, UnseenRows
from sklearn_predtron.decisions._expected_cost import AnswerUpTo, ByCosts, LeastCost
from sklearn_predtron.decisions._expected_values import least_expected_costs
from sklearn_predtron.decisions._promises import (
    BEYOND,
    NEVER,
    EncodedPromise,
    EvaluatedRows,
    Promise,
    bound_of,
    chains_of,
    first_limit,
    losses_if_answered,
    p_of_chain,
    p_values,
    passed,
)

LEAST_SHOWN = 1e-4  # p-value
STEPS_TO_BOUND = 5  # in search of the strictest bound that rows show
NEARLY_ALL = 0.9  # of the largest loss: wider bounds are worth nothing
MORE_ROWS = 2, 3, 5  # times as many, that may show a promise
LEAST_LIKE = 200  # rows, by which to judge how many like them would do


class PromiseResult(NamedTuple):
    """Result of testing one promise.

    Parameters
    ----------
    promise : AtMost or AtLeast
        The promise.
    kept : bool
        Whether the tests showed that it is kept.  If not, the answers that it depends on are not given.
    n_rows : int
        Number of held-out rows in the measure, at the last limit that was passed; at the first limit if none was.
    value : float
        The measure on these rows; nan if there are none.
    p_value : float
        The p-value of the hypothesis that the promise is broken.

    Examples
    --------
    >>> from sklearn_predtron.decisions import AtMost, PromiseResult
    >>> PromiseResult(AtMost("risk", 0.1), kept=True, n_rows=200, value=0.05, p_value=0.008)
    PromiseResult(promise=AtMost('risk', 0.1), kept=True, n_rows=200, value=0.05, p_value=0.008)
    """

    promise: Promise
    kept: bool
    n_rows: int
    value: float
    p_value: float


class Supported(NamedTuple):
    """What held-out rows say about a promise that they do not show.

    Parameters
    ----------
    promise : EncodedPromise or None
        The promise with about the strictest bound that they do show, without the other promises.
    answered : float
        The share of the rows that are answered under it.
    n_rows : int or None
        How many rows like these would show the promise as it is, if any number tried does.
    """

    promise: EncodedPromise | None
    answered: float
    n_rows: int | None

    def advice(self, classes: NDArray) -> str:
        """Return the bound and the number of rows in words."""
        found = []
        if self.promise is not None:
            found.append(f"these rows show {self.promise.named(classes)!r}, with {100 * self.answered:.0f} % answered")
        if self.n_rows is not None:
            found.append(f"about {self.n_rows:,} rows like these would show it as it is")
        return ", and ".join(found)


class Certificate(NamedTuple):
    """Result of `certify`: what was promised, tested and found.

    With probability `confidence` over the draw of the held-out rows, all promises are kept on later rows of their distribution,
    by the answers that are still given.  ``print`` shows the certificate as text.

    Parameters
    ----------
    confidence : float
        Probability that all promises are kept.
    n_rows : int
        Number of held-out rows.
    n_answered : int
        Number of held-out rows that the model answers.
    results : tuple of PromiseResult
        The promises and their tests.
    limits : dict
        Largest expected cost of an answer, by label; -1 if the answer is never given.  Labels without a promise have the largest
        possible cost.

    See Also
    --------
    AtMost, AtLeast : Promises.
    sklearn_predtron.losses.Reject : Abstention under a risk.
    sklearn_predtron.metrics.CostMonitor : Alarm if the average cost in use exceeds a limit.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.losses import Reject
    >>> X, y = make_classification(6000, class_sep=0.5, random_state=0)
    >>> model = PredtronBinaryClassifier(reject=Reject(risk=0.1), random_state=0).fit(X[:2000], y[:2000])
    >>> certificate = model.certify(X[2000:4000], y[2000:4000]).certificate_
    >>> print(certificate)
    Certificate of 2000 held-out rows, 1129 answered, with 0.95 confidence
    - AtMost('risk', 0.1) is kept: 0.085 on 1129 rows, p = 0.049
    Answers by expected cost: 0 up to 0.148, 1 up to 0.148
    It lapses with more training, another loss, decision or reject, and for rows of another distribution.
    >>> predicted = model.predict(X[4000:])
    >>> answered = predicted != -1
    >>> round(float((predicted != y[4000:])[answered].mean()), 3), round(float(answered.mean()), 2)
    (0.1, 0.57)
    """

    confidence: float
    n_rows: int
    n_answered: int
    results: tuple[PromiseResult, ...]
    limits: dict[Any, float]

    def __str__(self) -> str:
        """Return the certificate as text."""
        lines = [f"Certificate of {self.n_rows} held-out rows, {self.n_answered} answered, with {self.confidence:.3g} confidence"]
        for promise, kept, n_rows, value, p_value in self.results:
            found = f"{value:.3g} on {n_rows} rows, p {'= ' + format(p_value, '.2g') if p_value >= LEAST_SHOWN else '< 0.0001'}"
            lines.append(f"- {promise!r} is {'kept' if kept else 'not shown'}: {found}")
        limits = [f"{name!r} {'never' if most < 0 else f'up to {most:.3g}'}" for name, most in self.limits.items()]
        lines.append(f"Answers by expected cost: {', '.join(limits)}")
        lines.append("It lapses with more training, another loss, decision or reject, and for rows of another distribution.")
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return the certificate as JSON.

        Returns
        -------
        str
            An object with the fields of the certificate; a promise has its kind, measure, bound and conditions, and a limit its
            label.
        """
        results = [
            {"promise": {"kind": type(one.promise).__name__, **vars(one.promise)}, **dict(list(one._asdict().items())[1:])}
            for one in self.results
        ]
        for one in results:
            one["value"] = one["value"] if one["value"] == one["value"] else None  # JSON has no nan
        limits = [{"label": name, "largest_expected_cost": most} for name, most in self.limits.items()]
        return json.dumps({**self._asdict(), "results": results, "limits": limits}, default=str)


class RejectAbove(LeastCost):
    """Abstain if the lowest expected cost is too high.

    Otherwise predict the label with the lowest expected cost.

    Parameters
    ----------
    calibration : Calibration
        Calibrates probabilities.
    costs : ndarray of shape (k, k)
        costs[y, sigma] of predicting sigma for y.
    weights : ndarray of shape (k,), default=None
        Training weights of the classes, which stand for their costs.
    """

    def __init__(self, calibration: Any, costs: NDArray, weights: NDArray | None = None):
        super().__init__(calibration, costs, weights)
        self.shifts = False

    def answering(self, found: Any, threshold: float) -> ByCosts:
        """Return the decision that answers below a threshold.

        It answers rows whose lowest expected cost is at most the threshold.
        """
        return ByCosts(self.calibration.of, found, self.with_rejects(threshold))

    def with_rejects(self, threshold: float) -> NDArray:
        """Return the costs with a column for abstention; abstention costs the threshold for every class."""
        return np.column_stack([self.costs, np.full(len(self.costs), threshold)])


class CertifiedReject(RejectAbove):
    """Abstain where promises would not be kept.

    Otherwise predict the label with the lowest expected cost.

    Parameters
    ----------
    calibration : Calibration
        Calibrates probabilities.
    costs : ndarray of shape (k, k)
        costs[y, sigma] of predicting sigma for y.
    promises : tuple of EncodedPromise
        The promises of the reject option.
    confidence : float
        The probability that they are kept.
    name : str
        The reject option's risk, for errors.
    weights : ndarray of shape (k,), default=None
        Training weights of the classes, which stand for their costs.
    """

    def __init__(
        self,
        calibration: Any,
        costs: NDArray,
        promises: tuple[EncodedPromise, ...],
        confidence: float,
        name: str,
        weights: NDArray | None = None,
    ):
        super().__init__(calibration, costs, weights)
        self.promises, self.confidence, self.name = promises, confidence, name

    def fitted(self, unseen: UnseenRows) -> Decision:
        """Return the certified decision, or before `certify` that of the recorded rows; a certificate that lapsed is an error."""
        map, certificate = self.calibration.map(unseen), self.found(unseen)
        limits = self.estimated(unseen, map) if certificate is None else np.asarray(certificate[-1])
        return AnswerUpTo(self.calibration.of, map, self.costs, limits)

    def warn_unless_certified(self, unseen: UnseenRows) -> None:
        """Warn if a prediction is by an estimate."""
        if self.found(unseen) is None:
            warn(
                f"{self.name} is estimated on the held-out rows of training; certify(X, y) with rows not seen before promises it."
            )

    def found(self, unseen: UnseenRows) -> Any:
        """Return the saved certificate of the present model, or None."""
        known = unseen.values.get("certificate")
        return known if known is not None and known[0] == unseen.t and self.once_for(known, self.certified_by) else None

    def certified_by(self, saved: Any) -> bool:
        """Return whether a saved certificate is of this decision."""
        same = saved[1] == self.calibration.smoothing and np.array_equal(saved[2], self.costs.ravel())
        return same and saved[3:5] == (self.confidence, tuple(one.terms for one in self.promises))

    def estimated(self, unseen: UnseenRows, map: Any) -> NDArray:
        """Return the limits by the recorded rows, if `certify` was never called."""
        if "certificate" in unseen.values:
            raise ValueError(
                f"{self.name} needs a certificate from held-out rows: call certify(X, y) again after more training or a change "
                "of loss, decision or reject."
            )
        if unseen.values.get("first_epoch") == unseen.observer.recorded:
            raise ValueError(
                f"{self.name} needs scores of held-out rows, and cv=0 with several epochs has none.  Call fit with cv=None or "
                "max_iter=1, or continue with partial_fit."
            )
        return self.once_for(map, lambda map: self.tested(self.promises, *[self.recorded(unseen, map)] * 2)[0])

    def recorded(self, unseen: UnseenRows, map: Any) -> EvaluatedRows:
        """Return the recorded rows."""
        (scores, labels, _, _), of = unseen.observer.marked(), self.calibration.of
        probabilities = of.probabilities(map, of.scores(unseen.problem, scores.astype(np.float64)))
        best, cost = least_expected_costs(probabilities, self.costs)
        return EvaluatedRows(best, cost, labels[:, 0])

    def certified(
        self,
        unseen: UnseenRows,
        probabilities: NDArray,
        codes: NDArray,
        promises: tuple[EncodedPromise, ...] | None = None,
        groups: list[Any] | None = None,
    ) -> tuple[Any, ...]:
        """Return the certificate fitted on held-out rows, as it is saved; their probabilities, classes and groups are given."""
        promises = self.promises if promises is None else promises
        rows, recorded = self.evaluated(unseen, probabilities, codes, groups)
        limits, results = self.tested(promises, rows, recorded)
        n_answered = int((rows.cost <= limits[rows.best]).sum())
        promised = tuple(one.terms for one in self.promises)
        terms = unseen.t, self.calibration.smoothing, self.costs.ravel(), self.confidence, promised
        return *terms, len(codes), n_answered, results, limits

    def evaluated(
        self, unseen: UnseenRows, probabilities: NDArray, codes: NDArray, groups: list[Any] | None
    ) -> tuple[EvaluatedRows, EvaluatedRows]:
        """Return held-out rows in random order, and the recorded rows."""
        recorded = self.recorded(unseen, self.calibration.map(unseen))
        drawn = np.random.default_rng(0).permutation(len(codes))  # bets are in the order of rows, which may be sorted
        best, cost = least_expected_costs(probabilities[drawn], self.costs)
        return EvaluatedRows(best, cost, codes[drawn], None if groups is None else [groups[i] for i in drawn]), recorded

    def supported(
        self,
        unseen: UnseenRows,
        probabilities: NDArray,
        codes: NDArray,
        promise: EncodedPromise,
        groups: list[Any] | None = None,
    ) -> Supported:
        """Return the strictest bound that held-out rows show, and how many rows would show the promise as it is."""
        rows, recorded = self.evaluated(unseen, probabilities, codes, groups)
        times = MORE_ROWS if len(codes) >= LEAST_LIKE else ()
        n_rows = next((n * len(codes) for n in times if self.tested((promise,), rows.repeated(n), recorded)[1][0][1]), None)
        broken, largest, _ = bound_of(promise, self.costs)
        shown, found, answered = NEARLY_ALL * largest, None, 0.0
        for bound in (shown, *[None] * STEPS_TO_BOUND):
            middle = math.sqrt(broken * shown) if bound is None else bound
            other = promise._replace(bound=float(f"{largest - middle if promise.at_least else middle:.3g}"))
            limits, ((_, kept, *_),) = self.tested((other,), rows, recorded)
            if kept:
                shown, found, answered = middle, other, float((rows.cost <= limits[rows.best]).mean())
            elif found is None:
                break
            else:
                broken = middle
        return Supported(found, answered, n_rows)

    def tested(self, promises: tuple[EncodedPromise, ...], rows: EvaluatedRows, recorded: EvaluatedRows) -> tuple[NDArray, Any]:
        """Return the limits of answers that pass the tests, and the result of each promise.

        Learn then Test (Angelopoulos et al. 2021): limits are tested one after the other, from a first one that is chosen by the
        recorded rows, until a test fails.
        """
        level = 1 - self.confidence
        chains = chains_of(promises, recorded, self.costs)
        own = level / len(chains)
        first = [first_limit(chain, rows, recorded, self.costs, own) for chain in chains]
        p = [p_of_chain(chain, rows, self.costs, own, at) for chain, at in zip(chains, first, strict=True)]
        limits, results = BEYOND * self.costs.max(axis=0), dict[EncodedPromise, Any]()
        for chain, at, n in zip(chains, first, passed(p, level), strict=True):
            limits[slice(None) if chain.answer is None else chain.answer] = chain.limits[at + n - 1] if n else NEVER
            at_last = chain.limits[at + max(n - 1, 0)]
            results |= {promise: result_of(promise, rows, self.costs, at_last, own, kept=n > 0) for promise in chain.promises}
        return limits, tuple((promise.terms, *results[promise]) for promise in promises)


def result_of(
    promise: EncodedPromise, rows: EvaluatedRows, costs: NDArray, limit: float, level: float, *, kept: bool
) -> tuple[bool, int, float, float]:
    """Return whether a promise is kept, on how many rows it was tested, its measure there, and the p-value."""
    answered, abstained = losses_if_answered(promise, rows, costs)
    losses = np.where(rows.cost <= limit, answered, abstained)
    losses = losses[~np.isnan(losses)]
    value = float(losses.mean()) if len(losses) else float("nan")
    if promise.at_least:
        value = float(promise.possible(costs).max()) - value
    return kept, len(losses), value, float(p_values(promise, rows, costs, np.array([limit]), level)[0])


def certificate_of(saved: tuple[Any, ...], classes: NDArray) -> Certificate:
    """Return a saved certificate with the names of the classes."""
    confidence, (n_rows, n_answered, results, limits) = saved[3], saved[5:]
    named = tuple(PromiseResult(EncodedPromise(*promise).named(classes), *rest) for promise, *rest in results)
    by_label = dict(zip(classes.tolist(), limits.tolist(), strict=True))
    return Certificate(confidence, n_rows, n_answered, named, by_label)


def fewest_rows(saved: tuple[Any, ...], costs: NDArray) -> int:
    """Return the fewest rows that can show the promises.

    They are those of a measure, without a mistake, and of the promises that were not shown; 0 if all tests are by bets.
    """
    level, found = 1 - saved[3], [0]
    for promise, kept, *_ in saved[7]:
        bound, largest, exact = bound_of(EncodedPromise(*promise), costs)
        if exact and not kept:
            found.append(math.ceil(math.log(level) / math.log1p(-bound / largest)))
    return max(found)


def warn_of_certificate(certificate: Certificate, given: str | None, fewest: int, supported: Callable[[int], str]) -> None:
    """Warn if a promise was not shown to be kept.

    The given one has its name.  A function returns what the rows say about the promise of a number, in words.
    """
    broken = [result.promise for result in certificate.results if not result.kept]
    if not broken:
        return
    never = [name for name, most in certificate.limits.items() if most == NEVER]
    what = given if given is not None else " and ".join(map(repr, broken))
    so = "all are rejected" if len(never) == len(certificate.limits) else f"{' and '.join(map(repr, never))} is never predicted"
    least = f" (at least {fewest} in its measure, even without a mistake)" if fewest else ""
    others = [supported(number) for number, result in enumerate(certificate.results) if not result.kept]
    shown = "; ".join(other for other in others if other)
    advice = f": {shown}.  Certify another bound with new rows" if shown else " of the promise"
    warn(
        f"no share of the {certificate.n_rows} rows was found to keep {what}, and {so}: it takes more rows{least}, or another "
        f"bound{advice}."
    )


def warn_if_free(decision: CertifiedReject, classes: NDArray, predicted: NDArray) -> None:
    """Warn if all answers are a prediction that never costs anything; one past the last class abstains."""
    free, answers = np.flatnonzero(decision.costs.max(axis=0) == 0), predicted[predicted < len(classes)]
    if len(answers) and np.isin(answers, free).all():
        warn(
            f"{decision.name} is kept by predicting {classes[free[0]].tolist()!r} for all rows that are answered, a prediction "
            "that never costs anything under `loss`: the certificate promises nothing about it.  Give that mistake a cost."
        )
