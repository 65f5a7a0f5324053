"""Costs that come with the rows: what is predicted and paid by them, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronMultilabelClassifier, PredtronOrdinalClassifier
from sklearn_predtron.families.training.runs import Checkpoint, Result, RowLosses, Score, select
from sklearn_predtron.losses import Reject
from sklearn_predtron.losses._row_costs import check_not_revealing, check_sets_not_revealing
from sklearn_predtron.metrics import cost_scorer, savings_score
from sklearn_predtron.mixing import ParameterMixing
from tests.own_checks import frozen, is_same

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
    "negative": ({("a", "b"): -0.5}, r"costs has -0.5 for the pair \('a', 'b'\) in row 0; accepted are numbers from 0 to"),
    "infinite": ({("b", "c"): np.where(np.arange(60) == 9, np.inf, 1)}, r"costs has inf for the pair \('b', 'c'\) in row 9"),
    "NaN": (np.full((60, 3, 3), np.nan), r"costs has nan for the pair \('a', 'a'\) in row 0"),
    "plain columns": (pd.DataFrame({"amount": np.ones(60)}), "names 'amount', which is no pair"),
    "twice": (pd.DataFrame(np.ones((60, 2)), columns=[("a", "b"), ("a", "b")]), r"names the pair \('a', 'b'\) twice"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_wrong_costs_are_refused_by_pair_and_row(what):
    X, y, _ = drawn(["a", "b", "c"])
    check_refused(PredtronClassifier(random_state=0).fit(X, y), X, y, *REFUSED[what])


def check_refused(model, X, y, costs, message):
    before = frozen(model)
    for call in (model.predict, model.sample_loss, model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=message):
            call(*((X,) if call == model.predict else (X, y)), costs=costs)
        assert is_same(frozen(model), before)


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


# ---------------------------------------------------------------------------------------------------------- costs of label sets

N_SETS, M = 240, 4


@pytest.fixture(scope="module")
def set_rows():
    X, Y = make_multilabel_classification(N_SETS, n_classes=M, random_state=0)
    random = np.random.default_rng(0)
    return X + 5 * random.standard_normal(X.shape), Y, random.lognormal(sigma=1.0, size=(N_SETS, M, 2))


@pytest.fixture(scope="module")
def fitted_sets(set_rows):
    return PredtronMultilabelClassifier(random_state=0).fit(*set_rows[:2])


def test_the_set_that_costs_least_in_expectation_is_predicted_and_paid(fitted_sets, set_rows):
    """By a loop over all sets."""
    X, Y, costs = set_rows
    P, predicted = fitted_sets.predict_proba(X), fitted_sets.predict(X, costs=costs)
    sets = [np.array([s >> j & 1 for j in range(M)]) for s in range(2**M)]

    def realised(i, chosen, true):
        return sum(costs[i, j, 0] * (true[j] > chosen[j]) + costs[i, j, 1] * (true[j] < chosen[j]) for j in range(M))

    for i in range(0, N_SETS, 7):
        weights = [np.prod(np.where(true, P[i], 1 - P[i])) for true in sets]
        expected = [sum(w * realised(i, chosen, true) for w, true in zip(weights, sets, strict=True)) for chosen in sets]
        assert_array_equal(predicted[i], sets[int(np.argmin(expected))])
    assert_allclose(fitted_sets.sample_loss(X, Y, costs=costs), [realised(i, predicted[i], Y[i]) for i in range(N_SETS)])
    assert (predicted != fitted_sets.predict(X)).any()
    assert_array_equal([fitted_sets.predict(X[[i]], costs=costs[[i]])[0] for i in range(20)], predicted[:20])


def test_all_forms_of_costs_of_sets_say_the_same(set_rows):
    X, Y, costs = set_rows
    named = PredtronMultilabelClassifier(random_state=0).fit(X, pd.DataFrame(Y, columns=list("abcd")))
    numbered = PredtronMultilabelClassifier(random_state=0).fit(X, Y)
    for model, labels in ((named, "abcd"), (numbered, range(M))):
        pairs = {(label, side): costs[:, i, j] for i, label in enumerate(labels) for j, side in enumerate(["missed", "false"])}
        for form in (pairs, pd.DataFrame(pairs)):
            assert_array_equal(model.predict(X, costs=form), model.predict(X, costs=costs))
    of_sparse = PredtronMultilabelClassifier(random_state=0).fit(X, sparse.csr_array(Y))
    assert_array_equal(of_sparse.predict(X, costs=costs).toarray(), numbered.predict(X, costs=costs))
    assert_array_equal(of_sparse.sample_loss(X, sparse.csr_array(Y), costs=costs), numbered.sample_loss(X, Y, costs=costs))


def equal(a, b, c, d):
    return 2.0 * (b + c)


def misses(a, b, c, d):
    return b + 5 * c


def test_sides_left_out_cost_what_the_loss_says(set_rows):
    X, Y, _ = set_rows
    model = PredtronMultilabelClassifier(loss=misses, random_state=0).fit(X, Y)
    assert_array_equal(model.predict(X, costs={}), model.predict(X))
    assert_allclose(model.sample_loss(X, Y, costs={}), model.sample_loss(X, Y))
    f1 = PredtronMultilabelClassifier(loss="f1", random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"costs does not name \(0, 'false'\), and loss is no sum of costs of labels"):
        f1.predict(X, costs={(0, "missed"): 2})


def test_rows_weigh_the_root_of_what_mistakes_cost(set_rows):
    X, Y, costs = set_rows
    weight = np.sqrt([np.mean([costs[i, j, side] for j in range(M) for side in (0, 1)]) for i in range(N_SETS)])
    by_costs, by_weights = (PredtronMultilabelClassifier(cv=0, random_state=0) for _ in range(2))
    assert_allclose(by_costs.fit(X, Y, costs=costs).coef_, by_weights.fit(X, Y, weight).coef_, rtol=1e-12)
    stream, parts = PredtronMultilabelClassifier().partial_fit(X, Y, costs=costs), PredtronMultilabelClassifier()
    for part in (slice(0, 3), slice(3, N_SETS)):
        parts.partial_fit(X[part], Y[part], costs=costs[part])
    assert_array_equal(parts.coef_, stream.coef_)
    assert_array_equal(parts.predict_proba(X), stream.predict_proba(X))
    assert_array_equal(stream._model.learner.observer.rows()[2], np.ones(N_SETS))
    assert_allclose(stream.coef_, PredtronMultilabelClassifier().partial_fit(X, Y, sample_weight=weight).coef_, rtol=1e-12)


def test_a_power_is_chosen_by_what_is_paid():
    random = np.random.default_rng(0)
    V, dear = random.standard_normal((2000, 4)), random.random(2000) < 0.1
    labels = np.column_stack([np.where(dear, V[:, 0], V[:, 1]), V[:, 2]]) + 0.3 * random.standard_normal((2000, 2)) > 0
    costs = np.repeat(np.where(dear, 100.0, 1.0), 4).reshape(2000, 2, 2)
    first, rest = slice(0, 1000), slice(1000, 2000)
    model = PredtronMultilabelClassifier(random_state=0).fit(V[first], labels[first].astype(int), costs=costs[first])
    plain = PredtronMultilabelClassifier(random_state=0).fit(V[first], labels[first].astype(int))
    assert model.cost_power_ == 1
    paid, before = (one.sample_loss(V[rest], labels[rest].astype(int), costs=costs[rest]).mean() for one in (model, plain))
    assert paid < 0.8 * before
    assert pickle.loads(pickle.dumps(model)).cost_power_ == 1


@pytest.mark.parametrize("how", ["fit", "stream"])
@pytest.mark.parametrize("loss", ["hamming", equal])
def test_probabilities_are_of_rows_as_they_came_and_sets_follow_them(how, loss):
    random = np.random.default_rng(0)
    X = random.standard_normal((4000, 4))
    Y = (X[:, :2] + 1.5 * random.standard_normal((4000, 2)) > 2).astype(int)
    costs = np.ones((4000, 2, 2))
    costs[:, :, 0] = 100
    model = PredtronMultilabelClassifier(loss=loss, random_state=0)
    model = model.fit(X, Y, costs=costs) if how == "fit" else model.partial_fit(X, Y, costs=costs).partial_fit(X[:1], Y[:1])
    model = pickle.loads(pickle.dumps(model))
    p = model.predict_proba(X)
    assert_allclose(p.mean(axis=0), Y.mean(axis=0), atol=0.03)
    assert_array_equal(model.predict(X), 100 * p > 1 - p)  # by the mean costs
    assert_array_equal(model.predict(X, costs={}), p > 0.5)
    assert_array_equal(model.set_params(decision=0.0).predict(X), model.decision_function(X) > 0)


REFUSED_OF_SETS = {
    "shape": (np.ones((N_SETS, M)), r"costs has shape \(240, 4\); accepted here is \(240, 4, 2\), rows, labels, and missed"),
    "text": ("dear", "costs='dear' does not hold numbers"),
    "negative": (-np.ones((N_SETS, M, 2)), r"costs has -1 for the pair \(0, 'missed'\) in row 0"),
    "nan": ({(1, "false"): np.full(N_SETS, np.nan)}, r"costs has nan for the pair \(1, 'false'\) in row 0"),
    "label": ({(4, "missed"): 1}, r"the pair \(4, 'missed'\); accepted are pairs of one of the labels \[0, 1, 2, 3\]"),
    "side": ({(1, "wrong"): 1}, r"one of \['missed', 'false'\]"),
    "no pair": ({"missed": 1}, "costs names 'missed', which is no pair; accepted are an array of shape"),
    "rows": ({(0, "missed"): np.ones(3)}, r"costs\[\(0, 'missed'\)\] is an array of shape \(3,\)"),
}


@pytest.mark.parametrize("what", REFUSED_OF_SETS)
def test_wrong_costs_of_sets_are_refused(fitted_sets, set_rows, what):
    check_refused(pickle.loads(pickle.dumps(fitted_sets)), *set_rows[:2], *REFUSED_OF_SETS[what])


# --------------------------------------------------------------------------------- what rows weigh and which power folds choose

N_LEARNED = 300
CLASSIFIERS = [(PredtronBinaryClassifier, 2), (PredtronClassifier, 3), (PredtronOrdinalClassifier, 4)]


def drawn_ranks(k, seed=0, n=N_LEARNED):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 5))
    y = np.digitize(X[:, 0] + random.standard_normal(n), np.linspace(-1, 1, k + 1)[1:-1])
    costs = random.lognormal(sigma=1, size=(n, k, k))
    costs[:, range(k), range(k)] = 0
    return X, y, costs


def weights(costs, power=0.5):
    """The mean cost of a mistake in each row, whatever its class, by a loop."""
    k = costs.shape[1]
    return np.array([np.mean([of_row[t, j] for t in range(k) for j in range(k) if j != t]) for of_row in costs]) ** power


@pytest.mark.parametrize(("kind", "k"), CLASSIFIERS)
def test_without_folds_rows_weigh_the_root_of_what_mistakes_cost(kind, k):
    X, y, costs = drawn_ranks(k)
    beside = np.random.default_rng(1).random(N_LEARNED)
    for sample_weight, weight in ((None, weights(costs)), (beside, weights(costs) * beside)):
        by_costs = kind(cv=0, random_state=0).fit(X, y, sample_weight, costs=costs)
        by_weights = kind(cv=0, random_state=0).fit(X, y, weight)
        assert_allclose(by_costs.coef_, by_weights.coef_, rtol=1e-12)
        stream = kind().partial_fit(X, y, classes=range(k), sample_weight=sample_weight, costs=costs)
        assert_allclose(stream.coef_, kind().partial_fit(X, y, classes=range(k), sample_weight=weight).coef_, rtol=1e-12)


def test_these_costs_take_the_place_of_those_of_the_loss():
    X, y, costs = drawn_ranks(2)
    for loss in ("zero_one", {(1, 0): 30}):
        models = PredtronBinaryClassifier(loss=loss).partial_fit(X, y, classes=[0, 1], costs=costs)
        assert_allclose(models.coef_, PredtronBinaryClassifier().partial_fit(X, y, [0, 1], weights(costs)).coef_, rtol=1e-9)
        assert_allclose(models._model.learner.observer.rows()[2], 1, rtol=1e-12)  # as frequent as they came


def test_a_power_is_chosen_by_what_is_paid_on_rows_held_out():
    """Where dear rows follow another rule than cheap ones, they weigh more; where all cost the same, nothing is to choose."""
    random = np.random.default_rng(0)
    X = random.standard_normal((2000, 4))
    dear = random.random(2000) < 0.1
    y = (np.where(dear, X[:, 0], X[:, 1]) + 0.3 * random.standard_normal(2000) > 0).astype(int)
    costs = np.zeros((2000, 2, 2))
    costs[:, 0, 1] = costs[:, 1, 0] = np.where(dear, 100.0, 1.0)
    model = PredtronBinaryClassifier(random_state=0).fit(X[:1000], y[:1000], costs=costs[:1000])
    plain = PredtronBinaryClassifier(random_state=0).fit(X[:1000], y[:1000])
    assert model.cost_power_ == 1
    paid, paid_plain = (one.sample_loss(X[1000:], y[1000:], costs=costs[1000:]).mean() for one in (model, plain))
    assert paid < 0.8 * paid_plain
    same = PredtronBinaryClassifier(random_state=0, max_iter=3).fit(X, y, costs=np.where(costs > 0, 7.0, 0.0))
    assert same.cost_power_ == 0
    assert_allclose(same.coef_, PredtronBinaryClassifier(random_state=0, max_iter=3).fit(X, y).coef_)
    assert not hasattr(plain, "cost_power_")
    assert pickle.loads(pickle.dumps(model)).cost_power_ == 1


def test_a_stream_is_the_same_for_any_split():
    X, y, costs = drawn_ranks(3)
    whole = PredtronClassifier().partial_fit(X, y, classes=range(3), costs=costs)
    parts = PredtronClassifier()
    for part in (slice(0, 1), slice(1, 77), slice(77, N_LEARNED)):
        parts.partial_fit(X[part], y[part], classes=range(3), costs=costs[part])
    assert_array_equal(parts.coef_, whole.coef_)
    assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))
    assert_array_equal(whole._model.learner.observer.rows()[2], np.ones(N_LEARNED))


@pytest.mark.parametrize("sets", [False, True])
def test_free_rows_count_in_the_mean_costs_of_a_stream_in_any_split(sets):
    X, y, costs = drawn_ranks(2)
    costs[::3] = 0
    y = np.column_stack([y, 1 - y]) if sets else y
    whole, single = (PredtronMultilabelClassifier() if sets else PredtronBinaryClassifier() for _ in range(2))
    whole.partial_fit(X, y, classes=[0, 1], costs=costs)
    for i in range(N_LEARNED):
        single.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1], costs=costs[i : i + 1])
    assert_allclose(whole._model.call_metadata.means(np.ones((2, 2))), costs.mean(axis=0), rtol=1e-12)
    assert pickle.dumps(single._model.call_metadata) == pickle.dumps(whole._model.call_metadata)
    assert_array_equal(single.predict(X), whole.predict(X))


def test_rows_whose_mistakes_cost_nothing_are_as_if_absent():
    X, y, costs = drawn_ranks(2)
    costs[::3] = 0
    there = np.arange(N_LEARNED) % 3 > 0
    model = PredtronBinaryClassifier().partial_fit(X, y, classes=[0, 1], costs=costs)
    assert_array_equal(model.coef_, PredtronBinaryClassifier().partial_fit(X[there], y[there], [0, 1], costs=costs[there]).coef_)
    before = pickle.dumps(model)
    model.partial_fit(X, y, costs=np.zeros_like(costs))
    assert model.t_ == pickle.loads(before).t_
    with pytest.raises(ValueError, match="costs has no row of positive weight in which a mistake costs something"):
        PredtronBinaryClassifier().fit(X, y, costs=np.zeros_like(costs))


@pytest.mark.parametrize("n", [15, 12_000])
def test_few_rows_and_many_have_a_power_too(n):
    X, y, costs = drawn_ranks(2, n=n)
    model = PredtronBinaryClassifier(random_state=0, max_iter=2).fit(X, y, costs=costs)
    assert 0 < model.sample_loss(X, y, costs=costs).mean() < min(costs[y == c, c].sum() / n for c in (0, 1))


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_first_epoch_records_rows_as_they_came(shuffle):
    """The share of the dear class is that of the rows, whatever they weigh in learning: a shuffled epoch is a sample of them."""
    X, y, costs = drawn_ranks(2, n=2000)
    costs[:, 1, 0] *= 30
    mixing = ParameterMixing(PredtronBinaryClassifier(cv=0, shuffle=shuffle), shards=1, rounds=1, random_state=0)
    labels, weight = mixing.fit(X, y, costs=costs).estimator_._model.learner.observer.rows()[1:3]
    assert_allclose(np.average(labels[:, 0], weights=weight), y.mean(), rtol=0.15 if shuffle else 0.03)


def dear_positives(n=2000, seed=2):
    """One row in ten is positive, and costs twenty times as much as an alarm, and now and then far more."""
    X, y = make_classification(n, n_informative=6, flip_y=0.1, class_sep=0.8, weights=[0.9], random_state=seed)
    return X, y, {(1, 0): np.random.default_rng(seed).lognormal(3, 1, n), (0, 1): 1.0}


def part_of(costs, rows):
    return {pair: cost if np.ndim(cost) == 0 else cost[rows] for pair, cost in costs.items()}


def learned_by_costs(how, model, X, y, costs):
    """Return a model that has learned by costs: a fit, a stream, one in which costs came late, or that is saved, or goes on."""
    first, rest = slice(0, len(y) // 2), slice(len(y) // 2, None)
    if how == "fit":
        return model.fit(X, y, costs=costs)
    if how == "warm":
        return model.set_params(warm_start=True).fit(X, y, costs=costs).fit(X, y)
    if how == "late":
        model.partial_fit(X[first], y[first], classes=np.unique(y)).predict(X[first])
        return model.partial_fit(X[rest], y[rest], costs=part_of(costs, rest))
    model.partial_fit(X[first], y[first], classes=np.unique(y), costs=part_of(costs, first))
    model = pickle.loads(pickle.dumps(model)) if how == "saved" else model
    return model.partial_fit(X[rest], y[rest])


@pytest.mark.parametrize("how", ["fit", "stream", "saved", "late", "warm"])
def test_probabilities_are_of_rows_as_they_came_and_predictions_follow_them(how):
    """The scores lean to dear classes: their sign is no bound of probabilities, nor what costs least without costs."""
    X, y, costs = dear_positives()
    test = slice(1000, 2000)
    model = learned_by_costs(how, PredtronBinaryClassifier(random_state=0), X[:1000], y[:1000], part_of(costs, slice(0, 1000)))
    plain = PredtronBinaryClassifier(random_state=0).fit(X[:1000], y[:1000])
    second = model.predict_proba(X[test])[:, 1]
    assert_allclose(second.mean(), y[test].mean(), atol=0.08)
    rows = {"fit": slice(0, 1000), "warm": slice(0, 1000), "late": slice(500, 1000)}.get(how, slice(0, 500))  # with costs
    missed = costs[1, 0][rows].mean()
    assert_array_equal(model.predict(X[test]), second * missed > 1 - second)
    assert_array_equal(model.decision_function(X[test]) > 0, second * missed > 1 - second)
    assert_array_equal(model.predict(X[test]), model.predict(X[test], costs={(1, 0): missed}))
    assert_array_equal(model.predict(X[test], costs={}), second > 0.5)
    assert plain.score(X[test], y[test]) > 0.8
    assert model.threshold_ != 0 and plain.threshold_ == 0


@pytest.mark.parametrize(("kind", "k"), CLASSIFIERS[1:])
@pytest.mark.parametrize("how", ["fit", "stream"])
def test_several_classes_follow_their_probabilities_too(kind, k, how):
    X, y, costs = drawn_ranks(k, n=1500)
    costs[:, k - 1] *= 30
    given = {(i, j): costs[:, i, j] for i in range(k) for j in range(k) if i != j}
    model = learned_by_costs(how, kind(random_state=0), X, y, given)
    p = model.predict_proba(X)
    assert_allclose(p.mean(axis=0), np.bincount(y) / len(y), atol=0.08)
    half = costs if how == "fit" else costs[: len(y) // 2]
    means = half.mean(axis=0)
    assert_array_equal(model.predict(X), (p @ means).argmin(axis=1))


def test_a_large_fit_has_probabilities_of_rows_as_they_came():
    X, y, costs = dear_positives(12_000)
    model = PredtronBinaryClassifier(random_state=0, max_iter=2).fit(X, y, costs=costs)
    assert_allclose(model.predict_proba(X)[:, 1].mean(), y.mean(), atol=0.02)


def test_what_is_set_later_decides_nonetheless():
    X, y, costs = dear_positives()
    model = PredtronBinaryClassifier(random_state=0).fit(X, y, costs=costs)
    plain = PredtronBinaryClassifier(random_state=0).fit(X, y)
    second = model.predict_proba(X)[:, 1]
    missed = costs[1, 0].mean()
    assert_array_equal(model.predict(X), second * missed > 1 - second)
    assert_array_equal(model.set_params(loss={(1, 0): 4}).predict(X), second > 0.2)  # a loss with costs of its own
    model.set_params(loss="zero_one")
    raw = model.set_params(decision="learned").decision_function(X)
    assert_array_equal(model.predict(X), raw > 0)
    assert_array_equal(model.set_params(decision=None).predict(X), second * missed > 1 - second)
    assert_array_equal(model.set_params(class_weight={1: 4}).predict(X), model.predict(X, costs={(1, 0): 4 * missed}))
    model.set_params(class_weight=None).fit(X, y)
    assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert_array_equal(model.predict(X), plain.predict(X))


def test_scores_without_probabilities_are_decoded_as_they_are():
    X, y, costs = dear_positives()
    model = PredtronBinaryClassifier(decision="learned", random_state=0).fit(X, y, costs=costs)
    learned = model.predict(X)
    assert_array_equal(model.set_params(decision=None).predict(X), learned)


def test_monitors_take_costs_where_they_are_routed():
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    X, y, costs = drawn_ranks(2)
    table = pd.DataFrame({(1, 0): costs[:, 1, 0], (0, 1): costs[:, 0, 1]})
    plain = PredtronBinaryClassifier(random_state=0).fit(X, y, costs=table)
    for routing, scoring in ((False, "accuracy"), (True, cost_scorer())):
        with config_context(enable_metadata_routing=routing):
            model = PredtronBinaryClassifier(random_state=0).set_callbacks(callback.ScoringMonitor(scoring=scoring))
            assert_array_equal(model.fit(X, y, costs=table).coef_, plain.coef_)


def test_a_gain_is_weighed_against_its_standard_error():
    """By a loop over the rows, in any order; a mean of equal gains has no error.  Rows that one of both lacks do not count."""
    random = np.random.default_rng(0)
    for _ in range(50):
        usual, other, weight = random.lognormal(size=9), random.lognormal(size=9), random.integers(1, 4, 9).astype(float)
        rows, order = random.permutation(20)[:9], random.permutation(9)
        later = RowLosses(usual[order], weight[order], rows[order])
        gain, error = RowLosses(other, weight, rows).gain_over(later if order[0] % 2 else RowLosses(usual, weight, rows))
        total = sum(weight)
        mean = sum(w * (u - o) for w, u, o in zip(weight, usual, other, strict=True)) / total
        squares = sum((w / total * (u - o - mean)) ** 2 for w, u, o in zip(weight, usual, other, strict=True))
        assert_allclose((gain, error), (mean, squares**0.5))
    rows = np.arange(4)
    ones = RowLosses(np.ones(4), np.ones(4), rows)
    assert RowLosses(np.zeros(4), np.ones(4), rows).gain_over(ones) == (1.0, 0.0)
    assert RowLosses(np.array([0.0, 9, 0]), np.ones(3), np.array([3, 7, 0])).gain_over(ones) == (1.0, 0.0)


def test_another_power_is_taken_for_a_gain_beyond_its_error_alone():
    rows = np.arange(4)
    checkpoint = Checkpoint(3, Score(0.5, RowLosses(np.full(4, 0.5), np.ones(4), rows)), None, [], rows)
    results = [
        Result(None, checkpoint, {}, [], None, cost=RowLosses(np.array(cost), np.ones(4), rows))
        for cost in ([1.0, 1, 1, 1], [0.0, 3, 0, 0], [0.5, 0.5, 0.6, 0.4])
    ]
    assert select(results) is results[2]
    assert select(results[:2]) is results[0]


@pytest.mark.parametrize("learn", ["power 0", "power 1", "one pass", "stream", "class_weight"])
@pytest.mark.parametrize("kind", [PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier])
def test_free_mistakes_do_not_bend_probabilities(kind, learn):
    """In half of the rows a false alarm, or any mistake, costs nothing: the classes are as likely there as elsewhere."""
    random = np.random.default_rng(0)
    X = random.standard_normal((6000, 4))
    free = X[:, 0] > 0
    y = (random.random(6000) < 1 / (1 + np.exp(-(X[:, 1] - 1.4)))).astype(int)
    for missed in (10.0, np.where(free, 0.0, 10.0)):
        costs = {(1, 0): np.broadcast_to(missed, 6000)[:4000], (0, 1): np.where(free, 0.0, 5.0)[:4000]}
        model = kind(random_state=0, class_weight={1: 3} if learn == "class_weight" else None)
        if learn == "stream":
            model.partial_fit(X[:4000], y[:4000], classes=[0, 1], costs=costs)
        elif learn == "one pass":
            model.set_params(cv=0, max_iter=1).fit(X[:4000], y[:4000], costs=costs)
        else:
            with pytest.MonkeyPatch.context() as patch:
                if learn.startswith("power"):
                    patch.setattr("sklearn_predtron.families.training.plan.POWERS", (float(learn[-1]),))
                model.fit(X[:4000], y[:4000], costs=costs)
        p = model.predict_proba(X[4000:])[:, 1]
        for rows in (free[4000:], ~free[4000:]):
            assert abs(p[rows].mean() - y[4000:][rows].mean()) < 0.04
        assert log_loss(y[4000:], p) < 0.9 * log_loss(y[4000:], np.full(2000, y[4000:].mean()))


def test_class_weights_multiply_costs_under_every_decision_by_expected_cost():
    X, y, _ = dear_positives()
    for loss in ("zero_one", {(1, 0): 5}):
        for weight in ({1: 10}, "balanced"):
            model = PredtronBinaryClassifier(loss=loss, class_weight=weight, decision="expected_cost", random_state=0).fit(X, y)
            factor = 10 if weight != "balanced" else np.mean(y == 0) / np.mean(y == 1)
            second = model.predict_proba(X)[:, 1]
            missed = factor * (1 if loss == "zero_one" else 5)
            assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), missed * second > 1 - second)


def test_mean_costs_of_classes_so_far_stay_when_classes_come():
    X, y, costs = drawn_ranks(3, n=900)
    costs[:, 2] *= 9
    model = PredtronClassifier().partial_fit(X, y + 1, classes=[1, 2, 3], costs=costs).widen(classes=[0, 4])
    model.partial_fit(X[:50], np.arange(50) % 5)
    means = 1 - np.eye(5)
    places = np.searchsorted(model.classes_, [1, 2, 3])
    means[np.ix_(places, places)] = costs.mean(axis=0)
    assert_array_equal(model.predict(X), model.classes_[(model.predict_proba(X) @ means).argmin(axis=1)])


@pytest.mark.parametrize("shards", [1, 2])
def test_mixtures_of_learners_take_costs_too(shards):
    """Of one shard, which folds are held out of, nothing is chosen: a round is a task."""
    X, y, costs = drawn_ranks(2)
    mixing = ParameterMixing(PredtronBinaryClassifier(), shards=shards, rounds=2, random_state=0).fit(X, y, costs=costs)
    assert len(mixing.loss_curve_) == 2
