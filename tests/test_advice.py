"""What messages advise on columns, labels, ids and costs, where another estimator, or another form, is meant."""

import inspect
import warnings
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import MultiLabelBinarizer

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron.datasets import token_features
from sklearn_predtron.losses import Reject
from sklearn_predtron.losses.reject import largest_gain
from sklearn_predtron.mixing import ParameterMixing

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 3))
TWO, THREE = np.arange(30) % 2, np.arange(30) % 3
QUERY, SIZES = np.repeat(np.arange(6), 5), [5] * 6


def refusal(call, error=ValueError):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


# ------------------------------------------------------------------------------------------------------------- columns

WHEN = pd.date_range("2020-01-01", periods=30)
TEXTS = {
    "strings": pd.Series(["a", "b", "c"] * 10),
    "categories": pd.Series(["a", "b", "c"] * 10, dtype="category"),
    "objects": pd.Series([1.0, "b", None] * 10, dtype=object),
}
DATES = {"date": pd.Series(WHEN), "zone": pd.Series(WHEN.tz_localize("UTC")), "time": pd.Series(WHEN - WHEN[0])}


def table(column):
    return pd.DataFrame({"age": X[:, 0], "place": column, "income": X[:, 1]})


@pytest.mark.parametrize("kind", TEXTS)
def test_a_column_of_texts_is_named_with_the_maps_that_take_it(kind):
    frame = table(TEXTS[kind])
    message = refusal(lambda: PredtronClassifier().fit(frame, TWO))
    assert message.startswith("X has values in column 'place', of type ") and "features='piecewise' and 'auto'" in message
    assert message == refusal(lambda: PredtronClassifier().partial_fit(frame, TWO, classes=[0, 1]))
    assert PredtronClassifier(features="piecewise", cv=0, max_iter=1).fit(frame, TWO).t_ == 30


@pytest.mark.parametrize("kind", DATES)
def test_a_column_of_dates_is_named_and_what_to_make_of_it(kind):
    frame = table(DATES[kind])
    for features in (None, "piecewise"):
        message = refusal(lambda features=features: PredtronClassifier(features=features).fit(frame, TWO))
        assert message.startswith("X has a column 'place' of type ")
        assert "accepted are numbers" in message and message.endswith((".dt.days.", ".dt.total_seconds()."))
    days = frame.assign(place=(DATES[kind] - DATES[kind].min()).dt.days)
    assert PredtronClassifier(cv=0, max_iter=1).fit(days, TWO).t_ == 30


def test_a_column_of_an_array_of_objects_is_numbered():
    values = np.array([[1.0, "a"], [2.0, "b"]] * 15, dtype=object)
    assert "in column 1, of type object" in refusal(lambda: PredtronClassifier().fit(values, TWO))


def test_a_table_of_pyarrow():
    pa = pytest.importorskip("pyarrow")
    rows = pa.table({"age": X[:, 0], "place": ["a", "b", "c"] * 10})
    assert "in column 'place', of type string" in refusal(lambda: PredtronClassifier().fit(rows, TWO))


def test_columns_that_are_missing_are_named_first():
    model = PredtronClassifier(cv=0).fit(table(X[:, 2]), TWO)
    assert "in column 'place'" in refusal(lambda: model.predict(table(TEXTS["strings"])))
    other = table(TEXTS["strings"]).rename(columns={"place": "city"})
    assert refusal(lambda: model.predict(other)).startswith("The feature names should match")


# -------------------------------------------------------------------------------------------------------------- losses


@pytest.mark.parametrize("family", [PredtronClassifier, PredtronBinaryClassifier, PredtronOrdinalClassifier])
def test_an_unknown_loss_says_that_costs_are_accepted(family):
    message = refusal(lambda: family(loss="cost").fit(X, TWO))
    assert "'zero_one', 'absolute', 'squared', a matrix of costs (rows = true, columns = predicted), a dict" in message
    for costs in ([[0, 1], [5, 0]], {(1, 0): 5}):
        assert family(loss=costs, cv=0, max_iter=1).fit(X, TWO).t_ == 30


def test_an_unknown_loss_of_sets_says_that_functions_are_accepted():
    sets = np.eye(3, dtype=int)[THREE]
    message = refusal(lambda: PredtronMultilabelClassifier(loss="dice").fit(X, sets))
    assert "functions of the true positives, false positives, false negatives and true negatives" in message
    assert PredtronMultilabelClassifier(loss=lambda a, b, c, d: b + c, cv=0, max_iter=1).fit(X, sets).t_ == 30


# -------------------------------------------------------------------------------------------------------------- labels


@pytest.mark.parametrize("family", [PredtronBinaryClassifier, PredtronBipartiteClassifier])
def test_three_classes_name_the_classifier_that_takes_them(family):
    message = refusal(lambda: family().fit(X, THREE))
    assert message.startswith("Only binary classification is supported. The type of the target is multiclass")
    assert message.endswith("the classes are [0, 1, 2]; PredtronClassifier takes more than two.")
    assert message == refusal(lambda: family().partial_fit(X, THREE, classes=[0, 1, 2]))


SETS = {
    "sets": [{"a"}, {"a", "b"}, set()] * 10,
    "lists": [["a"], ["a", "b"], []] * 10,
    "tuples of one length": [("a", "b"), ("b", "c")] * 15,
    "series": pd.Series([["a"], ["a", "b"], []] * 10),
    "objects": np.array([{"a"}, {"a", "b"}, set()] * 10, dtype=object),
}
OF_ONE_LABEL = [PredtronClassifier, PredtronBinaryClassifier, PredtronOrdinalClassifier, PredtronBipartiteClassifier]


@pytest.mark.parametrize("form", SETS)
@pytest.mark.parametrize("family", OF_ONE_LABEL)
def test_sets_of_labels_name_the_classifier_of_sets_and_the_binarizer(family, form):
    messages = [refusal(lambda: family().fit(X, SETS[form]))]
    if family is not PredtronOrdinalClassifier:
        messages.append(refusal(lambda: family().partial_fit(X, SETS[form], classes=["a", "b"])))
    for message in messages:
        assert message.startswith(f"y holds a {type(SETS[form][0]).__name__} for a row, such as ")
        assert "PredtronMultilabelClassifier takes sets" in message and "sklearn.preprocessing.MultiLabelBinarizer" in message


@pytest.mark.parametrize("form", SETS)
@pytest.mark.parametrize("family", [PredtronMultilabelClassifier, PredtronLabelRanker])
def test_sets_of_labels_name_the_binarizer_of_which_they_are_accepted(family, form):
    assert "sklearn.preprocessing.MultiLabelBinarizer makes of sets" in refusal(lambda: family().fit(X, SETS[form]))
    assert family(cv=0, max_iter=1).fit(X, MultiLabelBinarizer().fit_transform(SETS[form])).t_ == 30


@pytest.mark.parametrize("form", ["sets", "lists", "series"])
def test_lists_by_sequence_or_query_name_the_ids(form):
    assert "datasets.stack_sequences" in refusal(lambda: PredtronSequenceTagger().fit(X, SETS[form], sid=QUERY))
    assert "its query in qid" in refusal(lambda: PredtronRanker().fit(X, SETS[form], qid=QUERY))


def test_other_faults_of_lists_are_told_as_before():
    assert "NaN" in refusal(lambda: PredtronLabelRanker().fit(X, [[0.0, np.nan], [1.0, 0.0]] * 15))
    assert "1d array" in refusal(lambda: PredtronClassifier().fit(X, np.eye(3)[THREE]))


# ----------------------------------------------------------------------------------------------------------------- ids

OF_IDS = [
    (PredtronRanker, "qid", ["group", "groups", "group_id", "query", "sid"]),
    (PredtronSequenceTagger, "sid", ["lengths", "group", "groups", "qid"]),
    (PredtronBipartiteClassifier, "groups", ["group", "qid", "sid"]),
]


@pytest.mark.parametrize(("family", "name", "others"), OF_IDS)
def test_ids_by_another_name_name_the_right_one(family, name, others):
    for other in others:
        message = refusal(lambda other=other: family().fit(X, TWO, **{other: SIZES}), TypeError)
        assert message.startswith(f"{family.__name__}.fit() got an unexpected keyword argument {other!r}; accepted is {name}=")
        assert "np.repeat(np.arange(len(sizes)), sizes)" in message
    ids = eval("np.repeat(np.arange(len(sizes)), sizes)", {"np": np, "sizes": SIZES})
    assert np.array_equal(ids, QUERY) and family(max_iter=1).fit(X, TWO, **{name: ids}).t_ > 0


@pytest.mark.parametrize(("family", "name", "others"), OF_IDS)
def test_sizes_in_the_place_of_ids_are_told_of(family, name, others):
    message = refusal(lambda: family().fit(X, TWO, **{name: SIZES}))
    assert f"{name} has 6 entries and X has 30 rows" in message and "np.repeat(np.arange(len(sizes)), sizes)" in message
    assert "np.repeat" not in refusal(lambda: family().fit(X, TWO, **{name: [1] * 6}))


@pytest.mark.parametrize(("family", "name", "others"), OF_IDS)
def test_other_keywords_and_the_signature_are_as_ever(family, name, others):
    assert "np.repeat" not in refusal(lambda: family().fit(X, TWO, weights=TWO), TypeError)
    assert list(inspect.signature(family.fit).parameters) == ["self", "X", "y", name, "sample_weight"]


@pytest.mark.filterwarnings("ignore:qid=None")
def test_a_mixture_names_the_ids_of_its_estimator():
    assert "accepted is qid=" in refusal(lambda: ParameterMixing(PredtronRanker()).fit(X, TWO, group=SIZES), TypeError)


# ------------------------------------------------------------------------------------------------------------- rejects


def grid(k, n=60):
    """All probabilities of k classes in steps of 1 / n."""
    return np.array([(*p, n - sum(p)) for p in product(range(n + 1), repeat=k - 1) if sum(p) <= n]) / n


def test_the_largest_gain_of_a_rejection_is_that_of_all_probabilities():
    probabilities = grid(3)
    for _ in range(20):
        costs = np.column_stack([RNG.random((3, 3)) * (1 - np.eye(3)), RNG.uniform(0.1, 0.6, 3)])
        expected = probabilities @ costs
        best = (expected[:, :-1].min(axis=1) - expected[:, -1]).max()
        found = largest_gain(costs)
        assert (found > 0) == (best > 0) or abs(best) < 0.02
        if best <= 0:
            assert best <= found + 1e-9 and found <= best + 0.05  # the grid misses the best probabilities by little


NEVER = [
    (PredtronBinaryClassifier, TWO, {"reject": 0.6}, "a guess is expected to cost 0.5 at most"),
    (PredtronClassifier, THREE, {"reject": Reject(0.7)}, "a guess is expected to cost 0.667 at most"),
    (PredtronBinaryClassifier, TWO, {"reject": 0.9, "loss": {(1, 0): 5}}, "a guess is expected to cost 0.833 at most"),
    (PredtronOrdinalClassifier, THREE, {"reject": 1.1}, "a guess is expected to cost 1 at most"),
    (PredtronBinaryClassifier, TWO, {"reject": Reject([0.6, 0.7])}, "a guess is expected to cost no more"),
]


@pytest.mark.parametrize(("family", "y", "settings", "message"), NEVER)
def test_a_cost_of_a_rejection_above_that_of_a_guess(family, y, settings, message):
    model = family(**settings, cv=3, max_iter=2, random_state=0)
    with pytest.warns(UserWarning, match=message):
        model.fit(X, y)
    assert set(model.predict(X)) <= set(y)
    with pytest.warns(UserWarning, match=message):
        family(**settings).partial_fit(X, y, classes=np.unique(y))


def test_a_cost_of_a_rejection_that_may_be_paid_is_taken_without_a_warning():
    for family, y, settings, _ in NEVER:
        cost = settings["reject"] if isinstance(settings["reject"], float) else 0.45
        for less in (0.5 * cost, 0.3):
            family(**{**settings, "reject": less}, cv=0, max_iter=1).fit(X, y)


def test_a_search_over_costs_of_rejections_says_which_never_pay():
    search = GridSearchCV(PredtronBinaryClassifier(random_state=0, max_iter=1), {"reject": [0.1, 0.6]}, cv=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, TWO)
    assert {str(warning.message).partition(" is never paid")[0] for warning in caught} == {"reject.cost=0.6"}


def test_texts_and_sentences_are_no_rows():
    """Texts in a list or an array, and lists of tokens: the message says what makes rows of them."""
    texts = ["a good film", "a bad film"]
    for X in (texts, np.array(texts), np.array(texts, dtype=object), tuple(texts)):
        with pytest.raises(ValueError, match=r"^X holds texts; accepted are rows of numbers, which TfidfVectorizer and Hashing"):
            PredtronClassifier().fit(X, [0, 1])
    for X in ([["a", "b"], ["c"]], [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 1.0]]]):
        with pytest.raises(ValueError, match=r"^X holds lists of different lengths; .* datasets\.stack_sequences makes one list"):
            PredtronSequenceTagger().fit(X, [0, 1], sid=[0, 1])
    with pytest.raises(ValueError, match=r"accepted is text; datasets\.stack_sequences makes one list of a list of sentences\.$"):
        token_features([["Ada", "sees"], ["Bob"]])


# -------------------------------------------------------------------------------------------------- types that libraries have


@pytest.mark.parametrize("features", [None, "piecewise"])
@pytest.mark.parametrize("method", ["fit", "predict", "partial_fit", "score", "sample_loss"])
def test_a_lazy_frame_is_named_before_anything_is_computed(method, features):
    frame = pl.DataFrame({"a": np.arange(30.0), "b": np.arange(30.0) % 7})
    for kind in (PredtronClassifier, PredtronOrdinalClassifier):
        model = kind(features=features, cv=0, max_iter=1).fit(frame, TWO)
        arguments = [frame.lazy()] if method == "predict" else [frame.lazy(), TWO]
        assert "X is a LazyFrame" in refusal(lambda model=model, given=arguments: getattr(model, method)(*given))
    ids = {"qid": np.arange(30) // 5} if features is None else {}
    assert "pass X.collect()" in refusal(lambda: PredtronRanker(features=features).fit(frame.lazy(), TWO, **ids))


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 1 has no such type")
@pytest.mark.parametrize("missing", [{}, {"na_object": None}])
def test_labels_and_columns_of_string_dtype(missing):
    kind = np.dtypes.StringDType(**missing)
    names = np.where(TWO > 0, "yes", "no")
    typed = names.astype(kind)
    model, expected = (PredtronClassifier(cv=0, random_state=0).fit(X, y) for y in (typed, names))
    assert model.classes_.tolist() == ["no", "yes"] and model.classes_.dtype == expected.classes_.dtype
    assert model.score(X, typed) == expected.score(X, names)
    assert (model.sample_loss(X, typed) == expected.sample_loss(X, names)).all()
    streamed = [PredtronClassifier().partial_fit(X, y, classes=known) for y, known in ((typed, typed[:2]), (names, names[:2]))]
    assert (streamed[0].coef_ == streamed[1].coef_).all()
    tagger = PredtronSequenceTagger(cv=0).fit(X, typed, sid=np.arange(30) // 5)
    assert tagger.score(X, typed, sid=np.arange(30) // 5) == tagger.score(X, names, sid=np.arange(30) // 5)
    rows = np.array([["a", "1.5"], ["b", "2"], ["a", "7"]] * 10)
    mapped = [
        PredtronClassifier(features="piecewise", cv=0, random_state=0).fit(given, names) for given in (rows.astype(kind), rows)
    ]
    assert (mapped[0].decision_function(rows.astype(kind)) == mapped[1].decision_function(rows)).all()
    if missing:
        typed[3] = None
        assert "y contains NaN: None at place 3 is a missing label" in refusal(lambda: PredtronClassifier().fit(X, typed))
