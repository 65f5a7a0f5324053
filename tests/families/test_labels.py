"""Codecs of labels as objects: what they read and write, what they refuse, and how they grow; none knows an estimator."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronSequenceTagger,
)
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.classes import Classes, MissingClasses, TwoClasses, find_classes
from sklearn_predtron.families.labels.objects import AnyLabels
from sklearn_predtron.families.labels.ranks import Ranks, checked_categories
from sklearn_predtron.families.labels.relevances import DocumentRelevances, LabelRelevances
from sklearn_predtron.families.labels.sets import Sets
from sklearn_predtron.families.labels.tokens import Tokens
from sklearn_predtron.families.labels.transitions import bio_transitions, given_transitions
from sklearn_predtron.families.model.model_parts import CODECS, state_of

LABELS = {
    "numbers": np.array([3, 1, 3, 7]),
    "floats": np.array([3.0, 1.0, 3.0, 7.0]),
    "names": np.array(["c", "a", "c", "g"]),
    "objects": np.array(["c", "a", "c", "g"], dtype=object),
}
CODES = [1, 0, 1, 2]
SETS = np.array([[1, 0, 0], [0, 1, 1], [1, 1, 0], [0, 0, 0]])


def sets_of(y, names=None, classes=None, *, partial=False):
    return Sets.first(y, names, classes, partial=partial)


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("kind", [Classes, Tokens], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("partial", [False, True])
def test_classes_are_numbered_in_their_order(y, kind, partial):
    codec, labels = kind.first(y, sorted(set(y.tolist()), reverse=True) if partial else None, partial=partial)
    assert codec.classes.tolist() == sorted(set(y.tolist()))
    codes = getattr(labels, "array", labels)
    np.testing.assert_array_equal(codes, CODES)
    for form in (y, y.tolist(), pd.Series(y), y.astype(object)):
        again = codec.encode(form)
        np.testing.assert_array_equal(getattr(again, "array", again), CODES)
    np.testing.assert_array_equal(codec.decode(codes), y)
    assert codec.decode(codes).dtype == codec.classes.dtype
    with pytest.raises(ValueError, match=r"^y contains labels that are not in classes_"):
        codec.encode(np.array(["zz"]) if y.dtype.kind in "UO" else np.array([99]))


@pytest.mark.parametrize("kind", [Classes, TwoClasses, Ranks, Tokens])
def test_a_stream_must_be_told_its_classes(kind):
    with pytest.raises(MissingClasses, match="classes must be passed on the first call to partial_fit"):
        kind.first([0, 1], None, partial=True)
    codec, _ = kind.first([0, 1], [0, 1], partial=True)
    codec.check_same(None)
    codec.check_same([1, 0])
    with pytest.raises(ValueError, match=r"classes=\[0, 2\] is not the same as on the first call: \[0, 1\]"):
        codec.check_same([0, 2])


@pytest.mark.parametrize("kind", [Classes, TwoClasses, Ranks])
def test_one_class_is_none(kind):
    with pytest.raises(ValueError, match="number of classes has to be greater than one; got 1 class"):
        kind.first([5, 5], None, partial=False)


def test_three_classes_are_not_two():
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        TwoClasses.first([0, 1, 2], None, partial=False)
    with pytest.raises(ValueError, match="PredtronBinaryClassifier has two classes"):
        TwoClasses(np.arange(2)).extended([2])


@pytest.mark.parametrize("known", [[10, 50], [10.0, 50.0], ["b", "d"]], ids=str)
def test_more_classes(known):
    codec = Classes(np.array(known))
    new = ["a", "c"] if isinstance(known[0], str) else [type(known[0])(1), type(known[0])(20)]
    wider, places = codec.extended(new)
    assert wider.classes.tolist() == sorted({*known, *new}) and type(wider) is Classes
    assert wider.classes[places].tolist() == known == codec.classes.tolist()  # which does not change
    for wrong in ([1] if isinstance(known[0], str) else ["a"], [], 3):
        with pytest.raises(ValueError, match=r"^classes="):
            codec.extended(wrong)


def test_ranks_that_are_declared():
    given = np.array(["low", "mid", "high"])
    codec, labels = Ranks.first(["high", "low"], None, partial=False, given=given)
    np.testing.assert_array_equal(labels.array, [2, 0])
    codec.check_order(np.array(["low", "high"]), whole=False)
    for wrong, whole, message in [
        (["high", "low"], False, "are not in the order in which learning began"),
        (["low", "high"], True, "cannot change from"),
        (["low", "top"], False, "categories contains labels that are not in classes_"),
    ]:
        with pytest.raises(ValueError, match=message):
            codec.check_order(np.array(wrong), whole=whole)
    with pytest.raises(ValueError, match="does not take more ranks than it began with"):
        codec.extended(["top"])
    with pytest.raises(ValueError, match="not the same as in categories"):
        Ranks.first(["low"], ["low", "top"], partial=True, given=given)
    with pytest.warns(UserWarning, match="order is that of the alphabet"):
        Ranks.first(["high", "low"], None, partial=False)
    with pytest.raises(ValueError, match="declare them: categories="):
        Ranks.first([0.5, 1.25], None, partial=False)
    assert checked_categories([1, 1.5]).tolist() == [1, 1.5]
    for wrong in ([1], [1, 1], [1, "a"], [[1, 2]], [1, np.nan], "ab"):
        with pytest.raises(ValueError, match="must be a list of at least two different labels of one type"):
            checked_categories(wrong)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix], ids=lambda form: form.__name__)
@pytest.mark.parametrize("dtype", [np.int64, np.float32, bool])
def test_sets_come_back_as_they_were_given(form, dtype):
    y = form(SETS.astype(dtype))
    codec = sets_of(y)
    np.testing.assert_array_equal(codec.encode(y).dense(), SETS)
    found = codec.decode(codec.pack(SETS.astype(np.uint8)))
    assert type(found) is type(y) and found.dtype == dtype
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, SETS)
    assert codec.classes.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="y must hold zeros and ones"):
        codec.encode(form(SETS * 2.0))
    with pytest.raises(ValueError, match=r"y has shape \(4, 2\), and learning began with 3 label"):
        codec.encode(y[:, :2])
    with pytest.raises(ValueError, match="a single row has shape"):
        codec.encode(SETS[0])


def test_one_label_of_two_values():
    y = np.array(["no", "yes", "yes"])
    codec = sets_of(y)
    np.testing.assert_array_equal(codec.encode(y).dense(), [[0], [1], [1]])
    np.testing.assert_array_equal(codec.decode(np.array([[0], [1], [1]])), y)
    assert codec.classes.tolist() == ["no", "yes"]
    with pytest.raises(MissingClasses, match="where y is one label"):
        sets_of(y, partial=True)
    for wrong, what in [(["a", "b", "c"], "multiclass"), (["a", "a"], "a single class")]:
        with pytest.raises(ValueError, match=what):
            sets_of(np.array(wrong))
    with pytest.raises(ValueError, match="one label's"):
        codec.extended(["no", "yes", "more"])


def test_more_labels_of_sets_are_the_last_ones():
    wider, places = sets_of(SETS).extended(range(5))
    assert (wider.n_labels, places) == (5, [0, 1, 2])
    named = sets_of(SETS, np.array(["x", "y", "z"], dtype=object))
    wider, places = named.extended(["x", "y", "z", "w"])
    assert (wider.names.tolist(), places, named.n_labels) == (["x", "y", "z", "w"], [0, 1, 2], 3)
    for codec, wrong in [(sets_of(SETS), [0, 1]), (sets_of(SETS), [0, 1, 3]), (sets_of(SETS), "abcd"), (sets_of(SETS), 4)]:
        with pytest.raises(ValueError, match=r"must be numbers 0, 1, \.\.\. of all labels to come, at least 3"):
            codec.extended(wrong)
    for wrong in (["x", "z", "y"], ["x", "y", "z", "x"], ["x", "y", "z", 3], range(4)):
        with pytest.raises(ValueError, match="must be different names of all labels to come"):
            named.extended(wrong)
    frame = pd.DataFrame(SETS, columns=["x", "z", "y"])
    for codec in (named, LabelRelevances(3, named.names)):
        with pytest.raises(ValueError, match="y has the columns"):
            codec.encode(frame)


def test_strata():
    """The class of a row; of sets the rarest label, and where there is none a stratum of the others."""
    codec, labels = Classes.first(LABELS["names"], None, partial=False)
    np.testing.assert_array_equal(codec.strata(labels, np.arange(len(CODES))), CODES)
    np.testing.assert_array_equal(codec.strata(labels, np.array([2, 0])), np.asarray(CODES)[[2, 0]])
    found = sets_of(SETS).strata(sets_of(SETS).encode(SETS), np.arange(len(SETS)))
    assert found.tolist() == [0, 2, 0, 0]
    assert not AnyLabels().strata(AnyLabels().encode(["a", None]), np.arange(2)).any()


def test_relevances():
    codec = LabelRelevances(2, None)
    for form in (np.asarray, sparse.csr_matrix, pd.DataFrame):
        labels = codec.encode(form(np.array([[0.0, 2.0], [1.0, 0.0]])))
        np.testing.assert_array_equal(labels.relevances, [0, 2, 1, 0])
        assert labels.starts.tolist() == [0, 2, 4]
    with pytest.raises(ValueError, match="learning began with 2 label"):
        codec.encode([[1.0]])
    for wrong in ([[-1.0, 0.0]], [[np.nan, 0.0]]):
        with pytest.raises(ValueError, match=r"relevance|NaN|y"):
            codec.encode(wrong)
    np.testing.assert_array_equal(DocumentRelevances().encode([0, 2, 1]), [0, 2, 1])
    with pytest.raises(ValueError, match="y"):
        DocumentRelevances().encode([0, -1])


def test_labels_of_any_kind():
    for y, n in [(["a", {}], 2), (np.arange(3), 3), (pd.DataFrame({"a": [1, 2]}), 2), ("ab", 2), (7, 1)]:
        assert AnyLabels().encode(y).n == n
    for wrong in ({}, {1, 2}):
        with pytest.raises(ValueError, match="accepted are sequences of labels"):
            AnyLabels().encode(wrong)


def test_transitions():
    tags = np.array(["B-a", "B-b", "I-a", "O"])
    allowed = bio_transitions(tags)
    assert [(i, j) for i, j in np.argwhere(~allowed).tolist()] == [(1, 2), (3, 2), (4, 2)]  # I-a after B-a and I-a alone
    with pytest.raises(ValueError, match="constraint='bio' is for the labels"):
        bio_transitions(np.array(["X"]))
    assert given_transitions(np.ones((3, 2)), np.arange(2)).dtype == bool
    for wrong in (np.ones((2, 2)), np.full((3, 2), 2), np.full((3, 2), "a")):
        with pytest.raises(ValueError, match="accepted are None, 'bio', 'observed' and a boolean"):
            given_transitions(wrong, np.arange(2))


MADE = [
    Classes(np.array([1, 5])),
    TwoClasses(np.array(["a", "b"])),
    Ranks(np.arange(3)),
    sets_of(SETS),
    LabelRelevances(3, None),
    DocumentRelevances(),
    Tokens(np.array(["a", "b"]), np.ones((3, 2), dtype=bool)),
    AnyLabels(),
]


@pytest.mark.parametrize("codec", MADE, ids=lambda codec: type(codec).__name__)
def test_a_codec_keeps_what_it_was_made_of_and_nothing_else(codec):
    codec.short()  # makes a reader, which is not saved
    state = state_of(codec)
    assert not [name for name in state if name.startswith("_")]
    again = pickle.loads(pickle.dumps(codec))
    assert type(again) is type(codec) and again.__getstate__().keys() == state.keys()
    assert (again.short() is None) == (codec.short() is None) == (type(codec) is AnyLabels)


def test_every_codec_is_saved_by_name():
    assert {type(codec) for codec in MADE} == set(CODECS)


def test_what_a_codec_must_define():
    with pytest.raises(TypeError, match="Codec does not define encode"):
        Codec().encode([1])
    with pytest.raises(ValueError, match=r"classes=\[1\]: these labels do not take more classes"):
        Codec().extended([1])


@pytest.mark.parametrize("y", [np.array(y) for y in ([5, -3, 5], [10**9, -(10**9)], [True, False], [2.0**60, 0])])
def test_classes_are_found_as_by_a_sort(y):
    classes, codes = find_classes(y)
    expected = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, expected[0])
    np.testing.assert_array_equal(codes, expected[1])
    with pytest.raises(ValueError, match="y is empty"):
        find_classes(y[:0])


# --------------------------------------------------------------------------------------------------------------- missing labels

X = np.random.default_rng(0).standard_normal((12, 3))
TEXTS = ["a", "b"] * 6
MAKERS = {
    "binary": PredtronBinaryClassifier,
    "several": PredtronClassifier,
    "ranks": lambda: PredtronOrdinalClassifier(categories=["a", "b"]),
    "one of a set": PredtronMultilabelClassifier,
    "bipartite": PredtronBipartiteClassifier,
    "tokens": PredtronSequenceTagger,
}
HOLDERS = {
    "list": list,
    "objects": lambda y: np.array(y, dtype=object),
    "series": lambda y: pd.Series(y, dtype=object),
    "strings": lambda y: pd.Series([None if pd.isna(label) else label for label in y], dtype="string"),
    "categories": lambda y: pd.Series(y, dtype="category"),
}


@pytest.mark.parametrize("missing", [None, np.nan, pd.NaT, pd.NA], ids=str)
@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
@pytest.mark.parametrize("family", MAKERS)
def test_a_missing_label_is_named(family, holder, missing):
    make = MAKERS[family]
    more = {"sid": np.repeat([0, 1, 2, 3], 3)} if family == "tokens" else {}
    y, fitted = holder([*TEXTS[:9], missing, *TEXTS[:2]]), make().fit(X, TEXTS, **more)
    calls = [
        lambda: make().fit(X, y, **more),
        lambda: make().partial_fit(X, y, classes=["a", "b"], **more),
        lambda: fitted.partial_fit(X, y, **more),
        lambda: fitted.score(X, y, **more),
    ]
    calls += [lambda: fitted.certify(X, y)] if hasattr(fitted, "certify") else []
    for call in calls:
        with pytest.raises(ValueError, match=r"y contains NaN: .* at place 9 is a missing label; accepted are"):
            call()
    with pytest.raises(ValueError, match=r"classes contains NaN: .* at place 2"):
        make().partial_fit(X, TEXTS, classes=["a", "b", missing], **more)


# ------------------------------------------------------------------------------------------------------------ readers of labels

NUMBERS = np.arange(12) % 3
POSITIVE = (X > 0).astype(int)
CASES = {
    "numbers": (PredtronClassifier, NUMBERS - 1),
    "names": (PredtronClassifier, np.array(["a", "b", "c"])[NUMBERS]),
    "floats": (PredtronOrdinalClassifier, NUMBERS + 0.0),
    "truths": (PredtronClassifier, NUMBERS > 0),
    "sets": (PredtronMultilabelClassifier, POSITIVE),
    "sets of floats": (PredtronMultilabelClassifier, POSITIVE.astype(float)),
    "one label": (PredtronMultilabelClassifier, POSITIVE[:, 0]),
    "relevances": (PredtronLabelRanker, POSITIVE * NUMBERS[:, None]),
}


def content(labels):
    """What labels hold, whatever they are called."""
    names = [name for name in ("array", "dense", "relevances", "start") if hasattr(labels, name)]
    found = [getattr(labels, name) for name in names]
    assert found
    return [type(labels).__name__, *(np.asarray(part() if callable(part) else part).tolist() for part in found)]


@pytest.mark.parametrize("name", CASES)
def test_both_ways_read_the_same(name):
    kind, y = CASES[name]
    reader = kind(random_state=0).fit(X, y)._model.labels.short()
    expected = content(reader.labels(y))
    assert content(reader.read_any(y)) == expected
    forms = [list(y), pd.Series(y) if y.ndim == 1 else pd.DataFrame(y), np.asfortranarray(y), y.astype(object)]
    forms += [sparse.csr_matrix(y).toarray()] if y.ndim == 2 else []
    assert [content(reader.labels(form)) for form in forms] == [expected] * len(forms)


@pytest.mark.parametrize("name", CASES)
def test_both_ways_refuse_the_same(name):
    """In `partial_fit` and in `sample_loss` alike, by one message."""
    kind, y = CASES[name]
    model = kind(random_state=0).fit(X, y)
    wrong = np.full_like(y, "d" if y.dtype.kind == "U" else 7) if y.dtype != bool else np.full(12, 2)
    wrong = -wrong if kind is PredtronLabelRanker else wrong
    messages = []
    for call in (model.partial_fit, model.fit(X, y).set_params(warm_start=True).fit, model.sample_loss):
        with pytest.raises(ValueError, match=r"^y ") as refused:
            call(X, wrong)
        messages.append(str(refused.value))
    assert len(set(messages)) == 1, messages


@pytest.mark.parametrize("y", [np.array(1), 1, None, {}], ids=str)
def test_what_is_no_list_of_labels(y):
    for name in ("numbers", "sets", "relevances"):
        kind, right = CASES[name]
        model = kind(random_state=0).fit(X, right)
        before = model.t_
        with pytest.raises((ValueError, TypeError)):
            model.partial_fit(X, y)
        assert model.t_ == before


@pytest.mark.parametrize(
    "model",
    [
        PredtronClassifier(),
        PredtronClassifier(class_weight={-3: 2, 4: 1, 5: 1}),
        PredtronClassifier(class_weight={-3: 0, 4: 1, 5: 1}),
        PredtronOrdinalClassifier(),
        PredtronSequenceTagger(constraint=np.vstack([np.eye(3)[[2, 0, 1]], np.ones(3)]) == 1),
    ],
)
@pytest.mark.filterwarnings("ignore:sid")
def test_many_labels_are_read_as_a_list_of_them(model):
    """Of an array only the distinct labels are looked up; the cycle 5, 4, -3 is the reverse of their order."""
    rows, y = np.random.default_rng(0).standard_normal((1200, 3)), np.tile([5, 4, -3], 400)
    one, other = (clone(model).partial_fit(rows, y, classes=[-3, 4, 5]) for _ in range(2))
    for labels in (y, np.roll(y, 3)):
        one.partial_fit(rows, labels)
        other.partial_fit(rows, labels.tolist())
    assert_array_equal(one.coef_, other.coef_)
    wrong = y.copy()
    wrong[700] = 6
    before = pickle.dumps(one)
    for labels, words in ((wrong, "not in classes_: \\[6\\]"), (y[1:], "1199")):
        with pytest.raises(ValueError, match=words):
            one.partial_fit(rows, labels)
    assert pickle.dumps(one) == before
