"""What promises are worth: how often certified ones are broken, costs within bounds, and alarms of a monitor."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.report import Table
from benchmarks.suites.promises_bounds import cost_table, time_table
from benchmarks.suites.promises_monitor import monitor_table
from benchmarks.suites.promises_peers import Rule, peers
from benchmarks.suites.promises_settings import ABSTAINED, CONFIDENCE, Pool, Setting, Truth, in_group, settings
from benchmarks.tasks import Options
from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.decisions import AtMost
from sklearn_predtron.losses import Reject

DRAWS, LEARNED, OF_POOL = 1000, 1000, 50_000
OURS = "certify"
CLINIC_DRAWS, FEW, CLINIC_ROWS, RISK = 200, 250, 20_000, 0.02
APART = (1.8, 2.5)  # how far apart the ill and the well are
PROMISED = 1 - CONFIDENCE


def run(options: Options) -> list[Table]:
    """Broken promises, the clinic, costs within bounds, their times, and alarms."""
    return [draw_table(options), clinic_table(options), cost_table(options), time_table(options), monitor_table(options)]


# --------------------------------------------------------------------------------------------------------------- known truth


def draw_table(options: Options) -> Table:
    """Return how often promises are broken, by setting."""
    draws = options.rows(DRAWS)
    table = Table(
        "Broken promises",
        ["setting", "promises", "held-out rows", "method", "broken", "at most", "met", "answered", "oracle", "nothing"],
        note=f"{draws} draws of the held-out rows for one model, learned from {LEARNED} rows of mixtures of Gaussians, whose "
        "conditional probabilities are known.  Broken: the share of draws in which a promise that was called kept is broken on "
        f"{options.rows(OF_POOL)} rows.  Answered: the share of these rows with an answer that has a promise, beside the "
        "largest share at which the same limits keep the promises (oracle).  Nothing: draws without such answers.  MAPIE has its "
        "default thresholds and correction, or tests the same thresholds in a fixed sequence from 0.01 on.",
    )
    for setting in settings():
        for row in of_setting(setting, draws, options):
            table.rows.append([setting.name, setting.promised, setting.n, *row])
    return table


def of_setting(setting: Setting, draws: int, options: Options) -> list[list]:
    """Return the cells of each method."""
    random = np.random.default_rng(7)
    model = learned(setting, *setting.truth.rows(LEARNED, random))
    pool, probabilities = Pool.drawn(setting, model, options.rows(OF_POOL))
    oracle = pool.oracle(setting)
    methods: dict[str, Callable[[Any, NDArray, NDArray], Rule | None]] = {OURS: lambda *rows: certified(setting, *rows)}
    cells = []
    for name, method in (methods | peers(setting)).items():
        random, broken, shares = np.random.default_rng(8), 0, []
        for _ in range(draws):
            rule = method(model, *setting.truth.rows(setting.n, random))
            given = np.full(len(pool.best), ABSTAINED) if rule is None else rule(probabilities).astype(int)
            kept = setting.promises if not isinstance(rule, CertifiedReject) else rule.kept
            broken += rule is not None and not all(pool.keeps(promise, given) for promise in kept)
            shares.append(pool.share(setting, given))
        share, nothing = float(np.mean(shares)), float(np.mean(np.array(shares) == 0))
        goal = [PROMISED, broken / draws <= PROMISED] if name == OURS else [None, None]
        cells.append([name, broken / draws, *goal, share, oracle, nothing])
    return cells


def learned(setting: Setting, X: NDArray, y: NDArray) -> Any:
    """Return a classifier that was fitted to rows."""
    kind = PredtronBinaryClassifier if setting.k == 2 else PredtronClassifier
    loss = {} if setting.costs is None else {"loss": setting.costs}
    return kind(reject=setting.reject(), random_state=0, **loss).fit(X, y)


class CertifiedReject:
    """The rule of a certificate: answers up to limits of their expected costs."""

    def __init__(self, setting: Setting, certificate: Any):
        self.costs = setting.table
        self.limits = np.array([certificate.limits[label] for label in range(setting.k)])
        self.kept = [result.promise for result in certificate.results if result.kept]

    def __call__(self, P: NDArray) -> NDArray:
        """Return the answers."""
        expected = P @ self.costs
        best = expected.argmin(axis=1)
        return np.where(expected.min(axis=1) <= self.limits[best], best, ABSTAINED)


def certified(setting: Setting, model: Any, X: NDArray, y: NDArray) -> CertifiedReject:
    """Return the rule that the promises allow."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about promises that are not shown
        model.certify(
            X, y, list(setting.promises), groups=in_group(X) if any(one.group is not None for one in setting.promises) else None
        )
    return CertifiedReject(setting, model.certificate_)


# ----------------------------------------------------------------------------------------------------------------- the clinic


def clinic_table(options: Options) -> Table:
    """Return whom a clinic sends home, with few rows."""
    draws = options.rows(CLINIC_DRAWS)
    table = Table(
        "A clinic with few rows",
        ["apart", "method", "sent home", "nobody", "broken", "at most", "met", "ill of those sent home"],
        note=f"{draws} draws of {FEW} rows to learn from and {FEW} to test promises on; at most {RISK:.0%} of those sent home "
        f"are ill, with {CONFIDENCE:.0%} confidence.  The rest of {CLINIC_ROWS} rows, 15 % of them ill, is sent home or not.  "
        "Tested thresholds: probabilities by the first model or logistic regression, and exact binomial tests from the first "
        "number of rows at which a test without a mistake is passed.",
    )
    for apart in APART:
        X, y = make_classification(
            options.rows(CLINIC_ROWS), n_informative=8, weights=[0.85], class_sep=apart, flip_y=0, random_state=2
        )
        found = [one_clinic(X, y, np.random.default_rng(draw)) for draw in range(draws)]
        for name in found[0]:
            share, ill = np.array([one[name] for one in found]).T
            broken = float((ill > RISK).mean())
            goal = [PROMISED, broken <= PROMISED] if name == OURS else [None, None]
            nobody, mean_ill = float((share == 0).mean()), float(ill[share > 0].mean()) if share.any() else None
            table.rows.append([apart, name, float(share.mean()), nobody, broken, *goal, mean_ill])
    return table


def one_clinic(X: NDArray, y: NDArray, random: np.random.Generator) -> dict[str, tuple[float, float]]:
    """Return the share sent home and the share of ill ones among them, by method."""
    rows = random.permutation(len(y))
    few = min(FEW, len(y) // 3)
    train, test, later = rows[:few], rows[few : 2 * few], rows[2 * few :]
    ours = PredtronBinaryClassifier(reject=Reject(risk={0: RISK}, label=ABSTAINED), random_state=0).fit(X[train], y[train])
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X[train], y[train])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        home = {OURS: ours.certify(X[test], y[test]).predict(X[later]) == 0}
    one = Setting("clinic", Truth.drawn(2, 1, 1.0), few, (AtMost("risk", RISK, predicted=0),))
    for name, model in (("predict_proba", ours), ("logistic regression", logistic)):
        ill = model.predict_proba(X)[:, 1]
        home[f"{name}, tested thresholds"] = ill[later] < tested(ill[test], y[test])
    methods = {f"logistic regression, {name}": method for name, method in peers(one).items()}
    for name, method in methods.items():
        rule = method(logistic, X[test], y[test])
        home[name] = np.zeros(len(later), bool) if rule is None else rule(logistic.predict_proba(X[later])) == 0
    return {name: (float(sent.mean()), float(y[later][sent].mean()) if sent.any() else 0.0) for name, sent in home.items()}


def tested(ill: NDArray, y: NDArray) -> float:
    """Return the largest threshold that is passed in a row of tests."""
    order = np.argsort(ill, kind="stable")
    p = binom.cdf(np.cumsum(y[order]), np.arange(1, len(y) + 1), RISK)
    first = int(np.ceil(np.log(PROMISED) / np.log(1 - RISK)))
    fails = np.append(np.flatnonzero(p[first - 1 :] > PROMISED), max(len(p) - first + 1, 0))
    return float(np.append(ill[order], np.inf)[first - 1 + fails[0]]) if fails[0] else -1.0
