"""River's estimators of every family: copies, failed calls, and rounds of several dicts, which are those of the estimator."""

import copy
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

from sklearn_predtron import (
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron.norms import RKHS
from sklearn_predtron.river import to_river

pytest.importorskip("river.base", reason="river is not installed")
pd = pytest.importorskip("pandas", reason="missing values may be those of pandas")
from river import base, checks, datasets, evaluate, metrics  # noqa: E402

NAMES = ["c", "a", ("a", 2), 7, "b"]
OF_ONE_DICT = ("shuffle_features", "emerging", "disappearing", "aliasing")  # checks that change the names of a dict
W = np.random.default_rng(1).standard_normal((len(NAMES), 3))


def rounds(n=60, seed=0):
    """Rounds of one to six dicts, of names that turn up over time, and a label of three for each dict."""
    random = np.random.default_rng(seed)
    for i in range(n):
        known = min(2 + i // 10, len(NAMES))
        values = random.standard_normal((random.integers(1, 7), len(NAMES))).round(3)
        values[:, known:] = 0
        values[random.random(values.shape) < 0.3] = 0
        yield (
            [{name: v for name, v in zip(NAMES, row, strict=True) if v} for row in values.tolist()],
            (values @ W).argmax(axis=1).tolist(),
        )


def queries(n=60, seed=0):
    yield from rounds(n, seed)


def sentences(n=60, seed=0):
    """Labels "x" and "y" first, and "z" later."""
    for i, (x, y) in enumerate(rounds(n, seed)):
        yield x, ["xyz"[k] if i > 30 else "xy"[k % 2] for k in y]


def lists(n=60, seed=0):
    for x, y in rounds(n, seed):
        yield {"every": 0.5, **x[0]}, {"p": float(y[0] == 0), "q": 0.5, 3: float(y[0] == 1)}


def classes(n=100, seed=0):
    for x, y in rounds(n, seed):
        yield from (({"every": 0.5, **one}, label) for one, label in zip(x, y, strict=True))


def labelled(n=100, seed=0):
    yield from ((x, "no" if label else "yes") for x, label in classes(n, seed))


def sets(n=30, seed=0):
    yield from ((x, {"odd": label % 2 == 1, "large": label > 1}) for x, label in classes(n, seed))


def rows_of(block, names):
    """Dicts as a CSR matrix, the entries in the order of the dicts; names that are not known are left out."""
    block = [{name: v for name, v in x.items() if name in names} for x in block]
    starts = np.cumsum([0] + [len(x) for x in block])
    columns = [names.index(name) for x in block for name in x]
    return csr_array(
        ([v for x in block for v in x.values()], columns, starts), shape=(len(block), max(len(names), 1)), dtype=float
    )


def learned(model, stream):
    for x, y in stream:
        model.learn_one(x, y)
    return model


def bits(model):
    """All that predicts and counts, to be compared bit by bit."""
    arrays = (model.coef_, model.intercept_, model.last_coef_, getattr(model, "transitions_", 0))
    return [np.asarray(array).tobytes() for array in arrays] + [model.t_, model.n_updates_, model.cumulative_loss_]


KINDS = {
    "classes": (PredtronClassifier(), classes, None),
    "scaled classes": (PredtronClassifier(norm="scaled"), classes, None),
    "sets": (PredtronMultilabelClassifier(), sets, None),
    "queries": (PredtronRanker(), queries, None),
    "scaled queries": (PredtronRanker(norm="scaled", loss="kendall_tau"), queries, None),
    "sentences": (PredtronSequenceTagger(), sentences, ["x", "y", "z"]),
    "labels": (PredtronLabelRanker(norm="scaled"), lists, None),
    "batches": (PredtronBipartiteClassifier(loss="auc", batch_size=7), labelled, ["no", "yes"]),
}
OF_ROUNDS = [
    name for name in KINDS if name not in ("classes", "scaled classes", "sets")
]  # the others are checked in test_river.py
CASES = pytest.mark.parametrize(("estimator", "stream", "classes"), KINDS.values(), ids=KINDS)


# ------------------------------------------------------------------------------------------------------------ river's checks


@pytest.mark.parametrize(("estimator", "stream", "classes"), [KINDS[name] for name in OF_ROUNDS], ids=OF_ROUNDS)
def test_checks(estimator, stream, classes, monkeypatch):
    if stream is not labelled:  # of whose kind river has streams
        monkeypatch.setattr(checks, "_yield_datasets", lambda model, scale=1: [list(stream(20 * scale))])
    model, names, of_blocks = to_river(estimator), set(), stream in (queries, sentences)
    for check in checks.yield_checks(model):
        name = check.__name__
        if not (of_blocks and any(part in name for part in OF_ONE_DICT)):
            check(model.clone())
            names.add(name)
    assert of_blocks or "check_emerging_features" in names
    assert {"check_learn_one", "check_pickling", "check_predict_one_pure", "check_clone_is_independent", "check_repr"} <= names


def test_kinds():
    assert isinstance(to_river(PredtronBipartiteClassifier()), base.Classifier)
    assert not to_river(PredtronBipartiteClassifier())._multiclass
    assert isinstance(to_river(PredtronRanker()), base.Estimator)


# ------------------------------------------------------------------------------------------------------ the same as the core


@pytest.mark.parametrize("norm", ["l2", "scaled", RKHS(gamma=0.5)], ids=str)
def test_queries_are_those_of_the_estimator(norm):
    model, stream = learned(to_river(PredtronRanker(norm=norm)), queries()), list(queries())
    names, alone = model.feature_names, PredtronRanker(norm=norm)
    for x, y in stream:
        alone.partial_fit(rows_of(x, names), np.array(y, dtype=float), qid="one")
    if isinstance(norm, RKHS):
        np.testing.assert_allclose(model.model.dual_coef_, alone.dual_coef_, rtol=1e-9, atol=1e-12)
    else:
        assert bits(model.model) == bits(alone)
    for x, _ in queries(20, seed=3):
        scores = alone.predict(rows_of(x, names))
        np.testing.assert_allclose(model.predict_one(x), scores, rtol=1e-9 if isinstance(norm, RKHS) else 0)
        assert alone.rank(rows_of(x, names), qid="one")[model.rank_one(x)].tolist() == list(range(1, len(x) + 1))


def test_sentences_are_those_of_the_estimator():
    stream, model = list(sentences()), learned(to_river(PredtronSequenceTagger()), sentences())
    begin = next(i for i, (_, y) in enumerate(stream) if set(y) | set(stream[0][1]) >= {"x", "y"})  # before there is one label
    first, names = next(i for i, (_, y) in enumerate(stream) if "z" in y), model.feature_names
    alone = PredtronSequenceTagger()
    for i, (x, y) in enumerate(stream[begin:], begin):
        if i == first:
            alone.widen(classes=["z"])
        alone.partial_fit(rows_of(x, names), y, sid="one", **({"classes": ["x", "y"]} if i == begin else {}))
    assert bits(model.model) == bits(alone) and model.model.classes_.tolist() == ["x", "y", "z"]
    for x, _ in sentences(20, seed=3):
        assert model.predict_one(x) == alone.predict(rows_of(x, names), sid="one").tolist()


def test_labels_are_those_of_the_estimator():
    stream, model = list(lists()), learned(to_river(PredtronLabelRanker()), lists())
    X, Y = rows_of([x for x, _ in stream], model.feature_names), np.array([list(y.values()) for _, y in stream])
    alone = PredtronLabelRanker().partial_fit(X, Y)
    assert bits(model.model) == bits(alone) and model.label_names == ["p", "q", 3]
    positions = [dict(zip(["p", "q", 3], row, strict=True)) for row in alone.predict(X).tolist()]
    assert [model.predict_one(x) for x, _ in stream] == positions


@pytest.mark.parametrize("loss", ["auc", "f1"])
def test_batches_are_those_of_the_estimator(loss):
    estimator = PredtronBipartiteClassifier(loss=loss, batch_size=7)
    stream, model = list(labelled()), learned(to_river(estimator, classes=["yes", "no"]), labelled())
    full = len(stream) // 7 * 7
    assert len(stream) > full  # some rows wait
    X, y = rows_of([x for x, _ in stream], model.feature_names), [y for _, y in stream]
    alone = PredtronBipartiteClassifier(loss=loss, batch_size=7).partial_fit(X[:full], y[:full], classes=["no", "yes"])
    assert bits(model.model) == bits(alone) and model.model.t_ == full // 7
    assert [model.predict_one(x) for x, _ in stream] == alone.predict(X).tolist()
    found = [model.predict_proba_one(x) for x, _ in stream]
    assert [list(p.values()) for p in found] == alone.predict_proba(X).tolist() and list(found[0]) == ["no", "yes"]


def test_auc_of_a_stream():
    auc = evaluate.progressive_val_score(
        datasets.Phishing(), to_river(PredtronBipartiteClassifier(loss="auc", batch_size=20, norm="scaled")), metrics.ROCAUC()
    )
    assert auc.get() > 0.88


# ---------------------------------------------------------------------------------------- clones, copies, what is not known yet


@CASES
def test_clones_and_copies(estimator, stream, classes):
    whole = list(stream())
    half = len(whole) // 2 + 1  # for batches in the midst of one
    model = learned(to_river(estimator), whole[:half])
    expected = bits(learned(to_river(estimator), whole).model)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert bits(learned(other, whole[half:]).model) == expected
    fresh = model.clone()
    assert fresh.model is None and fresh.feature_names == [] and bits(learned(fresh, whole).model) == expected


@CASES
def test_what_is_given_is_kept_apart(estimator, stream, classes):
    """A row that waits is not the caller's dict, and the estimator does not learn."""
    model, other = to_river(estimator), learned(to_river(estimator), stream())
    for x, y in stream():
        model.learn_one(x, y)
        for row in [x] if isinstance(x, dict) else x:
            row.clear()
        if isinstance(y, (dict, list)):
            y.clear()
    assert bits(model.model) == bits(other.model) and not hasattr(estimator, "n_features_in_")


def test_before_anything_is_learned():
    x = [{"a": 1.0}, {"b": 2.0}]
    ranker, tagger = to_river(PredtronRanker()), to_river(PredtronSequenceTagger())
    assert ranker.predict_one(x) == [0.0, 0.0] and ranker.rank_one(x) == [0, 1] and ranker.predict_one([]) == []
    assert tagger.predict_one(x) == [None, None] and to_river(PredtronLabelRanker()).predict_one(x[0]) == {}
    tagger.learn_one(x, ["O", "O"])  # a single label: there is nothing to learn yet
    assert tagger.model is None and tagger.predict_one(x) == ["O", "O"] and tagger.predict_one([]) == []
    tagger.learn_one([], [])
    tagger.learn_one(x, ["O", "B"])
    assert tagger.model.t_ == 1 and tagger.model.classes_.tolist() == ["B", "O"]
    batches = to_river(PredtronBipartiteClassifier(batch_size=3))
    assert batches.predict_one(x[0]) is None and batches.predict_proba_one(x[0]) == {False: 0.5, True: 0.5}
    batches.learn_one(x[0], "yes")
    assert batches.predict_one(x[0]) == "yes" and batches.predict_proba_one(x[0]) == {"yes": 1.0}
    batches.learn_one(x[0], "no")
    assert batches.predict_proba_one(x[0]) == {"yes": 0.5, "no": 0.5} and batches.model is None


def test_names_nobody_knows_count_for_nothing():
    model, x = learned(to_river(PredtronRanker()), queries()), [{"a": 1.0}, {"b": 2.0}]
    assert model.predict_one([{"a": 1.0, "unheard of": 9.0}, {"b": 2.0, "new": 1.0}]) == model.predict_one(x)


# ----------------------------------------------------------------------------------------------------------------- refusals

NEW = {"new": 1.0}
BAD_ROWS = [
    ({"a": "red"}, "x has 'a': 'red', which is no number; river.preprocessing.OneHotEncoder"),
    ({"a": "1.5"}, "x has 'a': '1.5', which is no number"),
    ({"a": [1.0]}, "x has 'a'"),
    ({"new": "red"}, "x has 'new': 'red', which is no number; river.preprocessing.OneHotEncoder"),
    ({"a": np.complex128(1 + 2j)}, "x has 'a': .*1\\+2j.*, which is no number"),
    ({"new": 1j}, "x has 'new': 1j, which is no number"),
    ({"new": pd.NA, "b": "2"}, "x has 'b': '2', which is no number"),
    ({"new": 10**400}, "x has 'new': .*, which is no number"),
    ({"new": float("inf"), "a": 1.0}, "x has 'new': inf; accepted are finite numbers, and NaN or None for none"),
    ({"a": float("inf")}, "inf"),
    ({"new": 1e200}, "has the length"),
    ([1.0, 2.0], "must be a dict"),
]
BAD_LABELS = [None, float("nan"), 2.5, pd.NA, (1, 2), [1], b"a", 2**63, 10**400]
NO_LABEL = "y=.* is no label; accepted is a string, an integer or a bool"
REFUSED = {
    "classes": [(x, label, message) for x, message in BAD_ROWS for label in (0, 17)]
    + [(NEW, label, NO_LABEL) for label in BAD_LABELS]
    + [({"new": "red"}, "z", "x has 'new': 'red'"), (NEW, "z", "of the type of those known")],
    "sets": [
        *((x, y, "has fewer than two labels") for x in ({}, NEW) for y in ({}, {"only": True})),
        (NEW, {"odd": True, "b": 2}, "y has 'b': 2; accepted are True and False"),
        (NEW, {"odd": pd.NA, "b": True}, "y has 'odd': <NA>; accepted are True and False"),
        (NEW, {"odd": np.array([0, 1]), "b": True}, r"y has 'odd': array\(\[0, 1\]\); accepted are"),
        (NEW, None, "y=None is no label; accepted is a dict"),
        (NEW, ["a", "b"], "is no label; accepted is a dict"),
    ],
    "queries": [
        (NEW, [1], "x={'new': 1.0} must be a list of dicts, one for each document"),
        ([NEW, 3], [1, 2], "x=3 must be a dict"),
        ([NEW, {"a": "red"}], [1, 2], "x has 'a': 'red', which is no number"),
        ([NEW, {"a": float("inf")}], [1, 2], "x has 'a': inf"),
        ([NEW, {"a": 1e200}], [1, 2], "has the length"),
        ([NEW], [1, 2], r"y=\[1, 2\] must be a list of 1, one for each document"),
        ([NEW], 1, "y=1 must be a list of 1"),
        ([NEW], "1", "y='1' must be a list of 1"),
        ([NEW, NEW], [1, -1], r"y=\[1, -1\] must hold the relevance of each document"),
        ([NEW, NEW], [1, None], "must hold the relevance"),
        ([NEW, NEW], [1, float("nan")], "must hold the relevance"),
        ([NEW, NEW], [31, 0], "31"),
        ([{"a": 1.0}, {"a": 2.0}], [31, 0], "31"),
    ],
    "sentences": [
        (NEW, ["x"], "must be a list of dicts, one for each token"),
        ([NEW, {"a": "red"}], ["x", "y"], "x has 'a': 'red'"),
        ([NEW], ["x", "y"], "must be a list of 1, one for each token"),
        ([NEW, NEW], ["x", None], "y=None is no label"),
        ([NEW, NEW], ["x", ["y"]], "is no label; accepted is a string, an integer or a bool"),
        ([NEW, NEW], ["x", 3], "are not of the type of those known"),
    ],
    "labels": [
        ({"new": "red"}, {"p": 1}, "x has 'new': 'red'"),
        (NEW, ["p"], r"y=\['p'\] is no label; accepted is a dict, the relevance of each label"),
        (NEW, {"p": 1, "r": 2}, r"y has the label 'r'; accepted are \['p', 'q', 3\]"),
        (NEW, {"p": -1}, "y has 'p': -1; accepted are finite numbers of at least 0"),
        (NEW, {"p": 31}, "31"),
        ({"new": 1e200}, {"p": 1}, "has the length"),
    ],
    "batches": [
        ({"new": "red"}, "yes", "x has 'new': 'red'"),
        ([NEW], "yes", "must be a dict"),
        ({"new": 1e200}, "yes", "has the length"),
        (NEW, "maybe", r"y='maybe' is no label; accepted is one of the two"),
        (NEW, None, "y=None is no label"),
    ],
}


OF_FIRST = "has fewer than two labels"  # which is refused of a first row alone


@pytest.mark.parametrize(
    ("kind", "x", "y", "message"),
    [(kind, *case) for kind, cases in REFUSED.items() for case in cases if case[2] != OF_FIRST],
    ids=str,
)
def test_a_failed_call_changes_nothing(kind, x, y, message):
    estimator, stream, _ = KINDS[kind]
    whole = list(stream())
    model, same = (learned(to_river(estimator), whole[:40]) for _ in range(2))
    with pytest.raises(ValueError, match=message):
        model.learn_one(x, y)
    assert bits(model.model) == bits(same.model) and model.feature_names == same.feature_names
    more = [
        *whole[40:],
        ([NEW, NEW], whole[0][1][:1] * 2) if kind in ("queries", "sentences") and isinstance(x, list) else whole[0],
    ]
    assert bits(learned(model, more).model) == bits(learned(same, more).model) and model.feature_names == same.feature_names


@pytest.mark.parametrize("kind", REFUSED)
def test_a_failed_first_call_changes_nothing(kind):
    estimator, stream, _ = KINDS[kind]
    for x, y, message in REFUSED[kind]:
        if any(text in message for text in ("those known", "the label 'r'", "one of the two")):
            continue  # it is in what was learned before that there are others
        if kind == "classes" and message == "has the length":
            continue  # nothing is learned of a first class alone
        model = to_river(estimator)
        with pytest.raises(ValueError, match=f"{message}|fewer than two labels|one of the type of the label"):
            model.learn_one(x, y)
        assert model.model is None and model.feature_names == []
        assert bits(learned(model, stream()).model) == bits(learned(to_river(estimator), stream()).model)


def test_a_constraint_is_heeded():
    model = to_river(PredtronSequenceTagger(constraint="bio"))
    learned(model, [([{"a": 1.0}, {"b": 1.0}], ["B-x", "I-x"]), ([{"a": 1.0}], ["O"])] * 3)
    with pytest.raises(ValueError, match="O -> I-x"):
        model.learn_one([{"new": 1.0}, {"b": 1.0}], ["O", "I-x"])
    assert model.feature_names == ["a", "b"] and model.model.n_features_in_ == 2
    assert model.predict_one([{"b": 1.0}] * 2)[0] != "I-x"
    with pytest.raises(ValueError, match="constraint='observed' is not for partial_fit"):
        to_river(PredtronSequenceTagger(constraint="observed")).learn_one([{"a": 1.0}] * 2, ["x", "y"])


def test_what_is_no_estimator_of_rows_is_refused():
    for loss in ("precision_at_k", "recall_at_k", "break_even"):
        with pytest.raises(ValueError, match=f"loss='{loss}' predicts some rows of a batch"):
            to_river(PredtronBipartiteClassifier(loss=loss))
    with pytest.raises(ValueError, match="batch_size"):
        to_river(PredtronBipartiteClassifier(batch_size=0)).learn_one({"a": 1.0}, True)
    with pytest.raises(ValueError, match="Only binary classification"):
        to_river(PredtronBipartiteClassifier(), classes=[1, 2, 3]).learn_one({"a": 1.0}, 1)
    with pytest.raises(ValueError, match="fewer than two labels"):
        to_river(PredtronLabelRanker()).learn_one({"a": 1.0}, {"only": 1.0})
    model = to_river(PredtronLabelRanker(), classes=["a", "b", "c"])
    model.learn_one({"x": 1.0}, {"b": 1})
    assert model.label_names == ["a", "b", "c"] and sorted(model.predict_one({"x": 1.0}).values()) == [1, 2, 3]
