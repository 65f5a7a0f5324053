"""Rankers: relevances in every form, margins and bounds."""

import itertools

import numpy as np
import pandas as pd
import pytest
from cases import state
from ranking_cases import label_ranker, make_data, make_labels, plain, ranker, refuses
from reference.ranking import diameter2
from scipy import sparse
from worlds import POSITIONS

from sklearn_predtron import PredtronMultilabelClassifier
from sklearn_predtron.losses import NDCG
from sklearn_predtron.updates import LossAugmented, LossDriven, MaxPair


def multilabel_classifier():
    return PredtronMultilabelClassifier(random_state=0)


# ------------------------------------------------------------------------------------------------------ relevances in every form


def relevances_of_every_form(y):
    dtypes = (np.int8, np.uint8, np.int16, np.int32, np.uint64, np.longlong, np.float16, np.float32, np.float64, object)
    return {
        **{np.dtype(dtype).name: y.astype(dtype) for dtype in dtypes},
        **{f"other byte order {kind}": y.astype(np.dtype(kind).newbyteorder()) for kind in (np.int32, np.int64, np.float64)},
        "list": y.tolist(),
        "tuple": tuple(y.tolist()),
        "columns first": np.asfortranarray(y),
        "strides": np.repeat(y, 2, axis=0)[::2],
        "backwards": y[::-1].copy()[::-1],
        "pandas": pd.DataFrame(y) if y.ndim > 1 else pd.Series(y, index=range(100, 100 + len(y))),
    }


RELEVANCES = list(relevances_of_every_form(np.zeros(1)))


@pytest.mark.parametrize("form", RELEVANCES)
def test_relevances_of_every_form(form):
    X, y, qid = make_data()
    relevance = relevances_of_every_form(y)[form]
    model = ranker().fit(X, y, qid)
    assert state(ranker().fit(X, relevance, qid)) == state(model)
    assert state(ranker().partial_fit(X, relevance, qid)) == state(ranker().partial_fit(X, y, qid))
    np.testing.assert_array_equal(model.sample_loss(X, relevance, qid), model.sample_loss(X, y, qid))
    assert model.score(X, relevance, qid) == model.score(X, y, qid)


def forms_of_labels(y):
    kinds = (sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_matrix, sparse.lil_matrix)
    explicit = sparse.csr_matrix(y + 1)
    explicit.data -= 1  # zeros that are stored
    named = pd.DataFrame(y, columns=[f"label {i}" for i in range(y.shape[1])])
    return {
        **relevances_of_every_form(y),
        **{f"{kind.__name__} {of}": kind(y.astype(of)) for kind in kinds for of in (int, float, bool)},
        "bool": y > 0,
        "list of bool": (y > 0).tolist(),
        "explicit zeros": explicit,
        "named columns": named,
        "columns of different types": named.astype({"label 0": float, "label 1": np.uint8}),
    }


LABELS = list(forms_of_labels(np.zeros((1, 2), dtype=int)))


@pytest.mark.parametrize("form", LABELS)
@pytest.mark.parametrize("make", [label_ranker, multilabel_classifier])
def test_labels_of_every_form(make, form):
    """fit, batches, and the short and the long way for single rows; sets are predicted in the form of the labels."""
    sets = make is multilabel_classifier
    X, y = make_labels(n=25, grades=(0, 1) if sets or "bool" in form else (0, 1, 2, 3))
    labels = forms_of_labels(y)[form]
    model, whole, other = make().fit(X, y), state(make().partial_fit(X, y)), make().fit(X, labels)
    assert state(other) == state(model)
    assert state(make().partial_fit(X, labels)) == whole
    np.testing.assert_array_equal(model.sample_loss(X, labels), model.sample_loss(X, y))
    assert (model.score(X, labels), model.margin(X, labels)) == (model.score(X, y), model.margin(X, y))
    rows = labels.tocsr() if sparse.issparse(labels) else labels.iloc if hasattr(labels, "iloc") else labels
    short, long = make(), make()
    for i in range(len(y)):
        short.partial_fit(X[i : i + 1], rows[i : i + 1])
        long.partial_fit(X[i : i + 1].tolist(), rows[i : i + 1], sample_weight=[1.0])
    assert state(short) == state(long) == whole
    if sets:
        predicted = other.predict(X)
        assert sparse.issparse(predicted) == sparse.issparse(labels)
        if form not in ("columns of different types", "object"):  # which have no type of one number
            assert predicted.dtype == getattr(labels, "dtype", np.asarray(labels).dtype)
        np.testing.assert_array_equal(predicted.toarray() if sparse.issparse(predicted) else predicted, model.predict(X))


@pytest.mark.parametrize("make", [label_ranker, multilabel_classifier])
def test_names_of_the_labels(make):
    X, y = make_labels(grades=(0, 1))
    names = ["sun", "rain", "wind", "snow", "fog"]
    frame = pd.DataFrame(y, columns=names)
    model = make().fit(X, frame)
    np.testing.assert_array_equal(model.label_names_, names)
    for labels in (y, pd.DataFrame(y)):
        assert not hasattr(make().fit(X, frame).fit(X, labels), "label_names_")
    turned = frame[names[::-1]]
    for call, n in ((model.partial_fit, None), (model.score, None), (model.margin, None), (model.partial_fit, 1)):
        refuses(
            model,
            lambda call=call, n=n: call(X[:n], turned[:n]),
            r"y has the columns \['fog', .*\], and learning began with \['sun'",
        )
    one = make().partial_fit(X, frame).partial_fit(X[:1], frame[:1])
    assert state(one) == state(make().partial_fit(X, y).partial_fit(X[:1], y[:1]))
    assert state(model.partial_fit(X, frame)) == state(make().fit(X, y).partial_fit(X, y))


def test_two_labels_of_one_name_are_refused_by_name():
    y = pd.DataFrame(np.eye(20, 3), columns=["a", "b", "a"])
    with pytest.raises(
        ValueError, match="y has several columns of the name 'a'; accepted are frames whose columns have different"
    ):
        label_ranker().fit(np.eye(20), y)


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        ("ap", [0, 1, 2], "y holds the relevance 2; loss='ap' takes 0 and 1"),
        ("ap", [0, 0.5, 1], "y holds the relevance 0.5; loss='ap' takes 0 and 1"),
        ("swapped_pairs", [0, 1, 2], "y has a list of 3 different relevances; loss='swapped_pairs' takes two a list"),
        (NDCG(k=2), [0, 1, 30.5], "y holds the relevance 30.5; .*at most 30"),
        (NDCG(gain=np.negative), [0, 1, 2], "gain=<ufunc 'negative'> must give .*larger for the larger relevance"),
    ],
)
def test_relevances_that_the_loss_does_not_take(loss, y, message):
    X, before = np.eye(3), ranker().partial_fit(np.eye(3), [0, 1, 1])
    for model in (ranker(loss=loss), before.set_params(loss=loss)):
        refuses(model, lambda model=model: model.partial_fit(X, y), message)
        refuses(model, lambda model=model: model.fit(X, y, "one"), message)
    labels = label_ranker().partial_fit([[1.0]], [[0, 1, 1]]).set_params(loss=loss)
    refuses(labels, lambda: labels.partial_fit([[1.0]], [y]), message)


def test_a_list_of_two_grades_each():
    """Grades may be others in each list."""
    model = ranker(loss="swapped_pairs").fit(np.eye(4), [0, 1, 5, 3], [0, 0, 1, 1])
    np.testing.assert_array_equal(model.rank(np.eye(4), [0, 0, 1, 1]), [2, 1, 1, 2])


# ----------------------------------------------------------------------------------------------------------- margins and bounds


PAIRS = ("slam", "max_pair", "mmp")
F = {"log": lambda j: 1 / np.log2(1 + j), "linear": lambda j: -j, "reciprocal": lambda j: 1 / j}


def margin_by_hand(lists, f, length, pairwise):
    leads = [np.inf]
    for t, y in lists:
        values = f(np.arange(1.0, len(t) + 1))
        step = 1.0 if pairwise else -np.diff(values).max(initial=-np.inf) / np.linalg.norm(values)
        leads += [step * (t[i] - t[j]) for i, j in itertools.permutations(range(len(t)), 2) if y[i] > y[j]]
    return min(leads) / length


@pytest.mark.parametrize("representation", F)
@pytest.mark.parametrize("update", ["adaptive", "listnet", *PAIRS])
def test_margin(update, representation):
    f, pairwise = F[representation], update in PAIRS
    if update != "mmp":
        X, y, qid = make_data()
        model = ranker(norm="l2", update=update, representation=representation, max_iter=2).fit(X, y, qid)
        t = model.predict(X)
        lists = [(t[qid == query], y[qid == query]) for query in np.unique(qid)]
        expected = margin_by_hand(lists, f, np.linalg.norm(model.coef_), pairwise)
        assert model.margin(X, y, qid) == pytest.approx(expected, rel=1e-9)
    X, y = make_labels()
    model = label_ranker(norm="l2", update=update, representation=representation, max_iter=2, intercept_scaling=1.5).fit(X, y)
    length = np.sqrt((model.coef_**2).sum() + (model.intercept_**2).sum() / 1.5**2)
    expected = margin_by_hand(list(zip(model.decision_function(X), y, strict=True)), f, length, pairwise)
    assert model.margin(X, y) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("update", "bound"),
    [
        (MaxPair(), lambda R, gamma, D2, pairs: pairs * R**2 / gamma**2),
        (MaxPair(weighted=False, eta=3.0), lambda R, gamma, D2, pairs: pairs * R**2 / gamma**2),
        (LossDriven(), lambda R, gamma, D2, pairs: D2 * R**2 / gamma**2),
        (LossDriven(eta=0.3), lambda R, gamma, D2, pairs: D2 * R**2 / gamma**2),
        ("perceptron", lambda R, gamma, D2, pairs: D2 * R**2 / gamma**2),
        (LossAugmented(eta=0.1), lambda R, gamma, D2, pairs: (2 / 0.1 + D2 * R**2) / gamma**2),
    ],
    ids=plain,
)
def test_bounds(update, bound):
    X, y, qid = make_data()
    of_queries, of_labels = diameter2(POSITIONS["log"][1], 7), diameter2(POSITIONS["log"][1], 5, 5)
    model = ranker(norm="l2", update=update).fit(X, y, qid)
    for R, gamma in ((1.0, 0.5), (3.0, 0.02)):
        assert model.loss_bound(gamma, R) == pytest.approx(bound(R, gamma, of_queries, 4), rel=1e-9)
    X, y = make_labels()
    labels = label_ranker(norm="l2", update=update, intercept_scaling=2.0).fit(X, y)
    assert labels.loss_bound(0.5, 1.5) == pytest.approx(bound(1.5, 0.5, of_labels, 2), rel=1e-9)


def test_arguments_of_a_bound():
    X, y, qid = make_data()
    model = ranker(norm="l2", update="max_pair").fit(X, y, qid)
    refuses(model, lambda: model.loss_bound(0.1), "radius=None is known only after an update with eta='theory'")
    same = ranker(norm="l2", update="max_pair").fit(X, y, qid, np.full(len(y), 2.0))
    assert same.loss_bound(0.1, 1.0) == model.loss_bound(0.1, 1.0)
    weighed = ranker(norm="l2", update="max_pair").partial_fit(X, y, qid, 1.0 + qid)
    refuses(weighed, lambda: weighed.loss_bound(0.1, 1.0), "No loss bound is proven for rounds of different weights")
    theory = ranker(norm="l2", update=LossDriven(eta="theory")).fit(X, y, qid)
    assert theory.loss_bound(0.1) > 0
    adaptive = ranker(norm="l2").fit(X, y, qid)
    for c_L in (0, -1.0, 1.5, np.nan):
        refuses(adaptive, lambda c_L=c_L: adaptive.loss_bound(0.1, 1.0, c_L), "c_L=.* must be positive, and at most the largest")
    right = ranker(norm="l2", update="slam").fit([[1.0], [2.0]], [1, 1], "one")
    refuses(right, lambda: right.loss_bound(0.1, 1.0), "least weight v with update='slam' only after a mistake")
    X, y = make_labels()
    auto = label_ranker(norm="l2", update="max_pair").fit(X, y)
    refuses(auto, lambda: auto.loss_bound(0.1, 1.0), "No loss bound is proven for intercept_scaling='auto'")
