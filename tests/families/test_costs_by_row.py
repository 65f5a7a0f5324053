"""Costs that come with the rows: what is predicted and paid by them, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
)
from sklearn_predtron.losses import Reject
from sklearn_predtron.losses._row_costs import check_not_revealing, check_sets_not_revealing
from sklearn_predtron.metrics import cost_scorer, savings_score

N = 60
FAMILIES = {
    "binary": (PredtronBinaryClassifier, ["no", "yes"]),
    "many": (PredtronClassifier, ["a", "b", "c"]),
    "ranks": (PredtronOrdinalClassifier, [1, 2, 3, 4]),
}


def drawn(labels, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((N, 4))
    codes = np.digitize(X[:, 0] + random.standard_normal(N), np.linspace(-1, 1, len(labels) + 1)[1:-1])
    return X, np.array(labels)[codes], random.lognormal(size=(N, len(labels), len(labels)))


def without_diagonal(costs):
    costs = costs.copy()
    k = costs.shape[1]
    costs[:, range(k), range(k)] = 0
    return costs


def as_pairs(costs, labels, answers):
    return {(true, answer): costs[:, i, j] for i, true in enumerate(labels) for j, answer in enumerate(answers)}


@pytest.mark.parametrize("reject", [None, 0.2])
@pytest.mark.parametrize("family", FAMILIES)
def test_what_costs_least_in_expectation_is_predicted_and_paid(family, reject):
    """By a loop over rows and answers."""
    kind, labels = FAMILIES[family]
    X, y, costs = drawn(labels)
    model = kind(reject=reject, random_state=0).fit(X, y)
    answers = list(labels)
    if reject is not None:
        answers.append(-1 if family == "ranks" else "reject")
        costs = np.dstack([costs, np.full((N, len(labels)), 0.3)])
    given = without_diagonal(costs)
    P = model.predict_proba(X)
    expected = [[sum(P[n, i] * given[n, i, j] for i in range(len(labels))) for j in range(len(answers))] for n in range(N)]
    predicted = np.array(answers)[np.argmin(expected, axis=1)]
    assert_array_equal(model.predict(X, costs=given), predicted)
    paid = [given[n, labels.index(y[n]), answers.index(predicted[n])] for n in range(N)]
    assert_allclose(model.sample_loss(X, y, costs=given), paid)
    assert reject is None or answers[-1] in predicted
    assert (predicted != model.predict(X)).any()


@pytest.mark.parametrize("family", FAMILIES)
def test_all_forms_say_the_same(family):
    kind, labels = FAMILIES[family]
    X, y, costs = drawn(labels)
    model = kind(random_state=0).fit(X, y)
    costs = without_diagonal(costs)
    pairs = as_pairs(costs, labels, labels)
    of_rows = model.predict(X, costs=costs)
    for form in (pairs, pd.DataFrame(pairs), costs.tolist(), costs.astype(np.float32).astype(np.float64) * 0 + costs):
        assert_array_equal(model.predict(X, costs=form), of_rows)
    # each row for itself, to the last bit
    alone = [model.predict(X[[i]], costs=costs[[i]])[0] for i in range(N)]
    assert_array_equal(alone, of_rows)


def test_pairs_left_out_cost_what_the_loss_says():
    X, y, _ = drawn([0, 1, 2])
    loss = {(0, 1): 4.0, (2, 0): 0.5}
    model = PredtronClassifier(loss=loss, random_state=0).fit(X, y)
    table = np.array([[0, 4.0, 1], [1, 0, 1], [0.5, 1, 0]])
    amount = np.random.default_rng(1).lognormal(size=N)
    costs = np.repeat(table[None], N, axis=0)
    costs[:, 1, 2] = amount
    assert_array_equal(model.predict(X, costs={(1, 2): amount}), model.predict(X, costs=costs))
    assert_array_equal(model.predict(X, costs={}), model.predict(X))
    assert_allclose(model.sample_loss(X, y, costs={}), model.sample_loss(X, y))


def test_right_answers_may_cost_something_where_a_pair_says_so():
    X, y, _ = drawn([0, 1])
    model = PredtronBinaryClassifier(random_state=0).fit(X, y)
    amount = np.random.default_rng(1).lognormal(1, 1, N)
    costs = {(1, 0): amount, (0, 1): 3.0, (1, 1): 3.0}
    p = model.predict_proba(X)[:, 1]
    alarm = model.predict(X, costs=costs)
    assert_array_equal(alarm, (p * amount > 3).astype(int))
    assert_allclose(model.sample_loss(X, y, costs=costs), np.where(alarm, 3.0, y * amount))


def test_streams_take_costs_too():
    X, y, _ = drawn([0, 1])
    model = PredtronBinaryClassifier().partial_fit(X, y, classes=[0, 1])
    costs = without_diagonal(drawn([0, 1], seed=3)[2])
    expected = model.predict_proba(X)[:, ::-1] * costs[:, [1, 0], [0, 1]]
    assert_array_equal(model.predict(X, costs=costs), (expected[:, 1] < expected[:, 0]).astype(int))


REFUSED = {
    "no numbers": ("dear", "does not hold numbers; accepted are an array of shape"),
    "a number": (5.0, r"costs has shape \(\); accepted here is \(60, 3, 3\)"),
    "a matrix for all": (np.ones((3, 3)), r"costs has shape \(3, 3\)"),
    "too few rows": (np.zeros((59, 3, 3)), r"costs has shape \(59, 3, 3\); accepted here is \(60, 3, 3\)"),
    "a column too many": (np.zeros((60, 3, 4)), r"rows, true labels \['a', 'b', 'c'\] and answers \['a', 'b', 'c'\]"),
    "right answers": (np.ones((60, 3, 3)), r"costs has 1 for the right answer \('a', 'a'\) in row 0; accepted is 0, and"),
    "a label": ({("a", "d"): 1}, r"costs names the pair \('a', 'd'\); accepted are pairs of one of the labels"),
    "a reject": ({("a", "reject"): 1}, r"the pair \('a', 'reject'\)"),
    "no pair": ({"a": 1}, "names 'a', which is no pair"),
    "three labels": ({("a", "b", "c"): 1}, "which is no pair"),
    "a short column": (
        {("a", "b"): [1.0] * 7},
        r"costs\[\('a', 'b'\)\] is an array of shape \(7,\); .* a search give a pandas data",
    ),
    "text": ({("a", "b"): "much"}, r"costs\[\('a', 'b'\)\] is 'much'"),
    "negative": (
        {("a", "b"): -0.5},
        r"costs has -0.5 for the pair \('a', 'b'\) in row 0; accepted are numbers from 0 to",
    ),
    "infinite": ({("b", "c"): np.where(np.arange(60) == 9, np.inf, 1)}, r"costs has inf for the pair \('b', 'c'\) in row 9"),
    "NaN": (np.full((60, 3, 3), np.nan), r"costs has nan for the pair \('a', 'a'\) in row 0"),
    "plain columns": (pd.DataFrame({"amount": np.ones(60)}), "names 'amount', which is no pair"),
    "twice": (pd.DataFrame(np.ones((60, 2)), columns=[("a", "b"), ("a", "b")]), r"names the pair \('a', 'b'\) twice"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_wrong_costs_are_refused_by_pair_and_row(what):
    costs, message = REFUSED[what]
    X, y, _ = drawn(["a", "b", "c"])
    model = PredtronClassifier(random_state=0).fit(X, y)
    for call in (lambda: model.predict(X, costs=costs), lambda: model.sample_loss(X, y, costs=costs)):
        with pytest.raises(ValueError, match=message):
            call()


def test_without_probabilities_there_is_no_expectation():
    X, y, costs = drawn(["a", "b", "c"])
    model = PredtronClassifier(decision="learned", random_state=0).fit(X, y)
    with pytest.raises((AttributeError, ValueError), match="predict_proba needs scores of held-out rows"):
        model.predict(X, costs=without_diagonal(costs))


@pytest.mark.parametrize("kind", [PredtronBinaryClassifier, LogisticRegression])
def test_searches_cut_costs_into_folds_and_route_them(kind):
    """The scores are those of a loop over the folds, of any classifier with probabilities."""
    X, y, _ = drawn([0, 1])
    costs = pd.DataFrame({(1, 0): np.random.default_rng(2).lognormal(size=N), (0, 1): 1.0})
    folds = [(np.arange(20, N), np.arange(20)), (np.arange(40), np.arange(40, N))]
    model = make_pipeline(StandardScaler(), kind(random_state=0))
    with config_context(enable_metadata_routing=True):
        found = cross_validate(model, X, y, cv=folds, scoring=cost_scorer(), params={"costs": costs})["test_score"]
        search = GridSearchCV(model, {"standardscaler__with_mean": [True]}, cv=folds, scoring=cost_scorer())
        assert_allclose(search.fit(X, y, costs=costs).cv_results_["mean_test_score"], np.mean(found))
    for (train, test), score in zip(folds, found, strict=True):
        step = kind.__name__.lower()
        given = {f"{step}__costs": costs.iloc[train]} if kind is PredtronBinaryClassifier else {}  # which it asks for
        p = model.fit(X[train], y[train], **given).predict_proba(X[test])[:, 1]
        missed, alarm = costs.to_numpy()[test].T
        paid = np.where(p * missed > (1 - p) * alarm, (y[test] == 0) * alarm, (y[test] == 1) * missed)
        assert_allclose(score, -paid.mean())


def test_scorers_of_rows_need_costs():
    X, y, _ = drawn([0, 1])
    model = PredtronBinaryClassifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="costs=None: this scorer needs the costs of the rows"):
        cost_scorer()(model, X, y)
    with pytest.raises(ValueError, match="labels and reject_cost go with costs of all rows"):
        cost_scorer(labels=[0, 1])


def test_rejections_of_rows():
    """A reject column may differ by row, and its pairs are named by the label of a rejection."""
    X, y, _ = drawn(["a", "b", "c"])
    model = PredtronClassifier(reject=Reject(cost=0.3, label="ask"), random_state=0).fit(X, y)
    busy = np.where(np.arange(N) % 2, 100.0, 0.0)
    predicted = model.predict(X, costs={(true, "ask"): busy for true in "abc"})
    assert_array_equal(predicted == "ask", np.arange(N) % 2 == 0)
    assert_allclose(model.sample_loss(X, y, costs={(true, "ask"): busy for true in "abc"})[::2], 0)
    assert savings_score(y, predicted, {(true, "ask"): busy for true in "abc"}, reject_label="ask") > 0.5


def test_a_class_that_a_fold_lacks_is_declared():
    """What the error says helps: ranks have categories, and streams classes."""
    X, y, _ = drawn(["a", "b", "c"])
    few, costs = y != "c", pd.DataFrame({("c", "a"): np.ones(len(y)), ("a", "b"): 2.0})
    with pytest.raises(ValueError, match=r"\('c', 'a'\); accepted .* as from a fold, .*`categories` of ranks, by `classes` of"):
        PredtronClassifier().fit(X[few], y[few], costs=costs[few])
    ranks = PredtronOrdinalClassifier(categories=["a", "b", "c"], random_state=0).fit(X[few], y[few], costs=costs[few])
    stream = PredtronClassifier().partial_fit(X[few], y[few], classes=["a", "b", "c"], costs=costs[few])
    assert list(ranks.classes_) == list(stream.classes_) == ["a", "b", "c"]


@pytest.mark.parametrize("package", ["polars", "pyarrow"])
def test_frames_whose_columns_have_texts_as_names_are_refused(package):
    module = pytest.importorskip(package)
    X, y, _ = drawn(["a", "b", "c"])
    frame = (module.DataFrame if package == "polars" else module.table)({"amount": np.ones(len(y))})
    for kind, labels in ((PredtronClassifier, y), (PredtronMultilabelClassifier, np.column_stack([y == "a", y == "b"]) * 1)):
        with pytest.raises(ValueError, match=f"costs is a {package} .*, whose columns cannot have pairs as names; .* a pandas"):
            kind(random_state=0).fit(X, labels).predict(X, costs=frame)


def test_one_number_a_row_is_answered_with_the_dict_that_is_wanted():
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(ValueError, match=r"shape \(4,\).*One number for each row is the cost of one.*\{\(1, 0\): costs\}"):
        PredtronBinaryClassifier().fit(X, y, costs=np.ones(4))
    with pytest.raises(ValueError, match=r"\{\(0, 'missed'\): costs\}"):
        PredtronMultilabelClassifier().fit(X, np.eye(4, 2), costs=np.ones(4))


@pytest.mark.parametrize("reject", [None, 0.2])
@pytest.mark.parametrize("family", FAMILIES)
def test_costs_that_reveal_the_true_label_are_refused(family, reject):
    """Costs that are known only afterwards are 0 for the labels that did not turn out to be true."""
    kind, labels = FAMILIES[family]
    X, y, costs = drawn(labels)
    costs, own = without_diagonal(costs), np.array(labels) == y[:, None]
    fair = np.where(own[:, :, None] | (np.arange(N) % 4 > 0)[:, None, None], costs, 0)  # a row may know them only afterwards
    revealing = np.where(own[:, :, None], costs, 0)
    if reject is not None:
        fair, revealing = (np.dstack([table, np.full((N, len(labels)), 0.3)]) for table in (fair, revealing))
    model = kind(reject=reject, random_state=0).fit(X, y, costs=fair)
    calls = [
        lambda: kind(reject=reject).fit(X, y, costs=revealing),
        lambda: kind(reject=reject).partial_fit(X, y, classes=labels, costs=revealing),
        lambda: model.sample_loss(X, y, costs=revealing),
        lambda: cost_scorer()(model, X, y, costs=revealing[:, :, : len(labels)]),
    ]
    for call in calls:
        with config_context(enable_metadata_routing=True), pytest.raises(ValueError, match="they reveal y"):
            call()
    model.partial_fit(X[:2], y[:2], costs=revealing[:2])  # so few may be so by chance


def test_costs_of_sets_that_reveal_the_labels_are_refused():
    X, _, costs = drawn([0, 1])
    on = costs[:, 0] > np.median(costs[:, 0])
    revealing = np.where(np.dstack([on, ~on]), costs, 0)
    free_alarms = costs * [1, 0]
    model = PredtronMultilabelClassifier(random_state=0).fit(X, on, costs=free_alarms)
    assert model.sample_loss(X, on, costs=free_alarms).shape == (N,)
    for call in (lambda: model.fit(X, on, costs=revealing), lambda: model.sample_loss(X, on, costs=revealing)):
        with pytest.raises(ValueError, match="they reveal y"):
            call()


def test_costs_of_one_kind_of_mistake_reveal_nothing():
    X, y, costs = drawn(["no", "yes"])
    for free in (0, 1):
        given = without_diagonal(costs)
        given[:, free] = 0
        assert PredtronBinaryClassifier(random_state=0).fit(X, y, costs=given).sample_loss(X, y, costs=given).shape == (N,)


def rows_of_frauds(random, n=3000):
    """Return rows, frauds and amounts, which are larger in frauds."""
    X = random.standard_normal((n, 3))
    y = (X[:, 0] + random.standard_normal(n) > 1.5).astype(int)
    return X, y, random.lognormal(3 + y, 1)


def test_losses_known_for_frauds_alone_warn():
    """A constant fee of the other rows hides from the error that no other label has costs."""
    random = np.random.default_rng(0)
    X, y, amount = rows_of_frauds(random)
    known = np.where(y == 1, np.where(random.random(len(y)) < 0.02, 0, amount), 0)
    model = PredtronBinaryClassifier(max_iter=2, random_state=0)
    said = r"costs\[:, 1, 0\] are one number in all rows that are not of label 1 and larger in rows of this label, so they tell"
    with pytest.warns(UserWarning, match=said):
        model.fit(X, y, costs={(0, 1): 5, (1, 0): known})
    with pytest.warns(UserWarning, match=said):
        model.sample_loss(X, y, costs={(0, 1): 5, (1, 0): known})
    with pytest.warns(UserWarning, match=r"costs\[:, 0, 1\] .* not of label 0"):
        model.fit(X, y, costs={(0, 1): np.where(y == 0, amount, 1e-3), (1, 0): 5})
    sets = PredtronMultilabelClassifier(max_iter=2, random_state=0)
    with pytest.warns(
        UserWarning, match=r"costs\[:, 1, 0\] are one number in all rows without label 1 and larger in rows with it"
    ):
        sets.fit(X, np.column_stack([1 - y, y]), costs={(0, "missed"): 1, (0, "false"): 1, (1, "missed"): known, (1, "false"): 5})
    with pytest.warns(
        UserWarning, match=r"costs\[:, 0, 1\] are one number in all rows with label 0 and larger in rows without it"
    ):
        sets.fit(X, np.column_stack([1 - y, y]), costs={(0, "missed"): 1, (0, "false"): known, (1, "missed"): 1, (1, "false"): 5})


HONEST = {
    "amounts": lambda random, y, amount: amount,
    "many equal amounts": lambda random, y, amount: random.choice([10, 10, 10, 10, 20, 50], len(y)),
    "mostly one amount": lambda random, y, amount: np.where(random.random(len(y)) < 0.95, 10, amount),
    "mostly free": lambda random, y, amount: np.maximum(amount - np.quantile(amount, 0.95), 0),
    "equal in all rows": lambda random, y, amount: np.full(len(y), 7.0),
    "two values": lambda random, y, amount: np.where(amount > 50, 100, 1),
    "two values that separate": lambda random, y, amount: np.where(y == 1, 100, 1),
    "mean where unknown": lambda random, y, amount: np.where(y == 1, amount, amount[y == 1].mean()),
    "median where unknown": lambda random, y, amount: np.where(y == 1, amount, np.median(amount[y == 1])),
    "capped": lambda random, y, amount: np.minimum(amount, 20),
    "with a least cost": lambda random, y, amount: np.maximum(amount, 100),
}


@pytest.mark.parametrize("n", [50, 130, 3000])
@pytest.mark.parametrize("design", HONEST)
def test_costs_known_before_the_label_do_not_warn(design, n):
    for seed in range(20):
        random = np.random.default_rng(seed)
        _, y, amount = rows_of_frauds(random, n)
        costs = np.zeros((n, 2, 2))
        costs[:, 0, 1], costs[:, 1, 0] = 5, HONEST[design](random, y, amount)
        check_not_revealing(costs, y)
        check_not_revealing(costs[:, ::-1, ::-1], 1 - y)
        check_sets_not_revealing(costs[:, 1:, :], y[:, None])
