"""Promises: what they measure, their p-values, the order of the tests, and how often a promise is broken."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom
from sklearn.metrics import precision_score, recall_score

from sklearn_predtron.decisions import AtLeast, AtMost
from sklearn_predtron.decisions._expected_values import least_expected_costs
from sklearn_predtron.decisions._promises import (
    EvaluatedRows,
    chains_of,
    coded,
    first_limit,
    losses_if_answered,
    p_of_bets,
    p_values,
    passed,
)
from sklearn_predtron.decisions._reject_at_risk import CertifiedReject, result_of

COSTS = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
CLASSES = np.array(["a", "b", "c"])


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    p = random.dirichlet([1.0, 0.6, 0.3], 400)
    codes = np.array([random.choice(3, p=one) for one in p])
    return EvaluatedRows(*least_expected_costs(p, COSTS), codes, random.choice(["x", "y"], 400).tolist()), p


def one(promise, costs=COSTS):
    return coded([promise], CLASSES, costs, "promises")[0]


def test_measures(rows):
    rows, p = rows
    limit = float(np.median(rows.cost))
    assert_allclose(rows.cost, (p @ COSTS).min(axis=1))
    answered, true = rows.cost <= limit, CLASSES[rows.codes]
    given = np.where(answered, CLASSES[rows.best], "none")
    loss, in_y = COSTS[rows.codes, rows.best], np.array(rows.groups) == "y"
    measures = {
        AtMost("risk", 0.5): loss[answered].mean(),
        AtMost("risk", 0.5, predicted="b"): loss[given == "b"].mean(),
        AtMost("risk", 0.5, label="a"): loss[answered & (true == "a")].mean(),
        AtMost("risk", 0.5, group="y"): loss[answered & in_y].mean(),
        AtLeast("risk", 0.5): loss[answered].mean(),
        AtLeast("precision", 0.5, label="b"): precision_score(true == "b", given == "b"),
        AtMost("precision", 0.5, label="b", group="y"): precision_score((true == "b")[in_y], (given == "b")[in_y]),
        AtLeast("recall", 0.5, label="b"): recall_score(true == "b", given == "b"),
        AtMost("false_positive_rate", 0.5, label="b"): (given[true != "b"] == "b").mean(),
        AtMost("abstention_rate", 0.5): (~answered).mean(),
        AtLeast("abstention_rate", 0.5, label="c"): (~answered)[true == "c"].mean(),
    }
    for promise, value in measures.items():
        assert_allclose(result_of(one(promise), rows, COSTS, limit, 0.05, kept=True)[2], value, err_msg=repr(promise))


def test_p_values_are_those_of_binomial_tests(rows):
    rows, _ = rows
    unit = 1.0 - np.eye(3)
    limits = np.quantile(rows.cost, [0.0, 0.3, 0.7, 1.0])
    for limit in limits:
        of_b, answered = (rows.best == 1) & (rows.cost <= limit), rows.cost <= limit
        wrong, n = (rows.codes != 1)[of_b].sum(), of_b.sum()
        found = p_values(one(AtMost("risk", 0.3, predicted="b"), unit), rows, unit, limits, 0.05)[limits == limit]
        assert_allclose(found, binom.cdf(wrong, n, 0.3) if n else 1.0)
        found = p_values(one(AtLeast("precision", 0.7, label="b"), unit), rows, unit, limits, 0.05)[limits == limit]
        assert_allclose(found, binom.sf(n - wrong - 1, n, 0.7) if n else 1.0)
        found = p_values(one(AtMost("abstention_rate", 0.4)), rows, COSTS, limits, 0.05)[limits == limit]
        assert_allclose(found, binom.cdf((~answered).sum(), len(answered), 0.4))


def test_unequal_costs_are_tested_by_bets_on_the_losses_alone(rows):
    """In units of which the p-value does not depend."""
    rows, _ = rows
    limits = np.quantile(rows.cost, [0.3, 1.0])
    assert {1.0, 2.0} <= set(losses_if_answered(one(AtMost("risk", 0.5, predicted="a")), rows, COSTS)[0])
    found = [p_values(one(AtMost("risk", 0.5 * unit), unit * COSTS), rows, unit * COSTS, limits, 0.05) for unit in (1.0, 8.0)]
    assert_allclose(found[0], found[1])
    assert found[0][0] < 0.01


def test_bets_are_placed_before_their_row_is_seen():
    """So the capital is linear in the last loss."""
    losses = np.linspace(0.7, 0, 500)
    first, second, third = (1 / p_of_bets(np.append(losses, last), 0.5, 0.05) for last in (0.0, 0.2, 0.4))
    assert first > second
    assert_allclose(first - second, second - third, rtol=1e-9)


def test_a_sequence_at_its_end_leaves_its_level():
    assert passed([np.array([0.02, 0.04, 0.01])], 0.05) == [3]
    assert passed([np.array([0.02, 0.06, 0.01])], 0.05) == [1]
    assert passed([np.array([0.04]), np.array([0.04])], 0.05) == [0, 0]
    assert passed([np.array([0.02]), np.array([0.01, 0.04])], 0.05) == [1, 2]
    assert passed([np.array([0.02, 0.5]), np.array([0.01, 0.04])], 0.05) == [1, 1]


def test_chains(rows):
    rows, _ = rows
    separate = [AtMost("risk", 0.5, predicted="a"), AtLeast("precision", 0.6, label="b"), AtLeast("precision", 0.5, label="a")]
    chains = chains_of(coded(separate, CLASSES, COSTS, "promises"), rows, COSTS)
    assert [(chain.answer, len(chain.promises)) for chain in chains] == [(0, 2), (1, 1)]
    chains = chains_of(coded([*separate, AtLeast("recall", 0.5, label="b")], CLASSES, COSTS, "promises"), rows, COSTS)
    assert [(chain.answer, len(chain.promises)) for chain in chains] == [(None, 4)]
    assert all((np.diff(chain.limits) > 0).all() for chain in chains)


@pytest.mark.parametrize("n", [250, 600])
def test_the_first_limit_has_the_fewest_rows_for_its_mistakes(n):
    """A test with more rows and no more mistakes is passed less often.  Labels are not read, so that the tests stay valid."""
    random = np.random.default_rng(0)
    (p, codes, _), (p_recorded, codes_recorded, _) = draw(2, n, random), draw(2, 500, random)
    rows = EvaluatedRows(*least_expected_costs(p, 1 - np.eye(2)), codes)
    recorded = EvaluatedRows(*least_expected_costs(p_recorded, 1 - np.eye(2)), codes_recorded)
    promised = coded([AtMost("risk", 0.05, predicted="a")], CLASSES[:2], 1 - np.eye(2), "promises")
    (chain,) = chains_of(promised, recorded, 1 - np.eye(2))
    first = first_limit(chain, rows, recorded, 1 - np.eye(2), 0.05)
    assert first == first_limit(chain, rows._replace(codes=1 - codes), recorded, 1 - np.eye(2), 0.05)
    before, now = (((rows.best == 0) & (rows.cost <= limit)).sum() for limit in chain.limits[[first - 1, first]])
    most = [next(k for k in range(n) if binom.cdf(k, count, 0.05) > 0.05) for count in (before, now)]
    assert most[0] < most[1]


TRUTHS = {
    "two classes": (2, 500, [AtMost("risk", 0.02, predicted="a")], None),
    "two promises": (3, 500, [AtMost("risk", 0.1, predicted="a"), AtLeast("precision", 0.85, label="b")], None),
    "groups": (2, 600, [AtMost("risk", 0.05, group="x"), AtMost("risk", 0.08, group="y")], None),
    "unequal costs": (3, 400, [AtMost("risk", 0.3)], COSTS),
}


def draw(k, n, random):
    """Return probabilities, and labels that do not quite follow them."""
    p = random.dirichlet(np.full(k, 0.15), n)
    right = 0.97 * p + 0.03 / k
    codes = np.minimum((np.cumsum(right, axis=1) < random.random((n, 1))).sum(axis=1), k - 1)
    return p, codes, random.choice(["x", "y"], n).tolist()


@pytest.mark.parametrize("name", TRUTHS)
def test_promises_are_broken_as_seldom_as_promised(name, n_draws):
    """Of draws of the held-out rows at most 1 - confidence, but for the chance of as many draws, by very many rows."""
    k, n, promises, costs = TRUTHS[name]
    times = n_draws(12, 60)
    costs = 1.0 - np.eye(k) if costs is None else costs
    random, broken, answered = np.random.default_rng(0), 0, 0.0
    promised = coded(promises, CLASSES[:k], costs, "promises")
    certified = CertifiedReject(None, costs, promised, 0.95, "reject.risk")
    p, codes, groups = draw(k, 60_000, random)
    all_rows = EvaluatedRows(*least_expected_costs(p, costs), codes, groups)
    p, codes, _ = draw(k, 500, random)
    recorded = EvaluatedRows(*least_expected_costs(p, costs), codes)
    for _ in range(times):
        p_new, codes, groups = draw(k, n, random)
        limits, results = certified.tested(promised, EvaluatedRows(*least_expected_costs(p_new, costs), codes, groups), recorded)
        here = all_rows.cost <= limits[all_rows.best]
        answered += here.mean() / times
        for promise, result in zip(promised, results, strict=True):
            losses = losses_if_answered(promise, all_rows, costs)[0][here]
            losses = losses[~np.isnan(losses)]
            bound = 1 - promise.bound if promise.at_least else promise.bound
            if len(losses) and losses.mean() > bound:
                broken += 1
                break
            assert result[1] == (len(losses) > 0)
    assert broken <= binom.ppf(0.999, times, 0.05)
    assert answered > 0.3


WRONG = [
    (("accuracy", 0.9), {}, r"measure='accuracy' is not known; accepted are 'risk', 'precision'"),
    (("risk", 0), {}, r"bound=0 of 'risk' must be a number above 0"),
    (("recall", 1.0), {"label": 1}, r"bound=1\.0 of 'recall' must be a number above 0 and below 1"),
    (("risk", "low"), {}, r"bound='low' of 'risk' must be a number"),
    ((lambda matrix: 1.0, 0.9), {}, "has no name, by which a model recognises its measure; accepted is a function that is"),
    ((recall_score, 0.9), {"label": 1}, "label=1 does not go with the function recall_score, which gets the confusion matrix"),
    ((recall_score, "high"), {}, "bound='high' of recall_score must be a finite number"),
    (("precision", 0.9), {}, "label=None does not go with 'precision'"),
    (("recall", 0.9), {"label": 1, "predicted": 1}, "predicted=1 does not go with 'recall'; accepted is None"),
    (("risk", 0.1), {"label": 1, "predicted": 0}, "label=1 does not go with predicted=0"),
]


@pytest.mark.parametrize(("values", "conditions", "message"), WRONG)
def test_wrong_promises(values, conditions, message):
    with pytest.raises(ValueError, match=message):
        AtMost(*values, **conditions)


def test_promises_are_frozen_values():
    promise = AtMost("risk", 0.02, predicted="well")
    assert promise == AtMost("risk", 0.02, predicted="well") != AtLeast("risk", 0.02, predicted="well")
    assert eval(repr(promise)) == promise
    assert len({promise, AtMost("risk", 0.02, predicted="well")}) == 1
    with pytest.raises(AttributeError):
        promise.bound = 0.1
