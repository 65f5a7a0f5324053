"""Progressive validation is a loop of `sample_loss` and `partial_fit`, in little more than their bare calls."""

from collections import deque

import numpy as np
import pytest
from cases import Hours, make_data
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import accuracy_score, zero_one_loss

import sklearn_predtron
from sklearn_predtron import (
    Predtron,
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron.datasets import SvmlightReader, make_ranking_queries, make_sequences
from sklearn_predtron.losses import Reject
from sklearn_predtron.metrics import _progressive, ndcg, progressive_val_score
from tests.own_checks import data as labelled

FAMILIES = [
    Predtron(Hours()) if name == "Predtron" else getattr(sklearn_predtron, name)()
    for name in sklearn_predtron.__all__
    if name.startswith("Predtron")
]


def expected(model, items, delay, first):
    """The losses one by one, and the number of rounds: items wait in a queue."""
    losses, waiting = [], deque()
    for X, y in [*items, *[(None, None)] * delay]:
        if X is not None:
            if model.__sklearn_is_fitted__():
                ids = {PredtronRanker: {"qid": "one"}, PredtronSequenceTagger: {"sid": "one"}}
                losses.extend(model.sample_loss(X, y, **ids.get(type(model), {})))
            waiting.append((X, y))
        if len(waiting) > delay or X is None:
            model.partial_fit(*waiting.popleft(), **first)
            first = {}
    return np.mean(losses)


@pytest.mark.parametrize("many", [3, 1024])
@pytest.mark.parametrize("delay", [0, 1, 5])
@pytest.mark.parametrize("estimator", FAMILIES, ids=lambda estimator: type(estimator).__name__)
def test_every_family(estimator, delay, many, monkeypatch):
    monkeypatch.setattr(_progressive, "MANY", many)
    data = labelled.make_data(estimator)
    parts = [data.rows(slice(i, i + 1)) for i in range(data.n)]
    items, first = [(data.X[rows], data.y[rows]) for rows in parts], data.first_call_kwargs()
    model, slow = clone(estimator), clone(estimator)
    found = progressive_val_score(model, items, delay, **first)
    assert found == pytest.approx(expected(slow, items, delay, first), rel=1e-12) and found > 0
    np.testing.assert_array_equal(data.predict(model), data.predict(slow))
    assert (model.t_, model.cumulative_loss_) == (slow.t_, slow.cumulative_loss_) and model.t_ == data.n
    again = progressive_val_score(model, items, delay)  # fitted: all are predicted
    assert again == pytest.approx(expected(slow, items, delay, {}), rel=1e-12) and model.t_ == 2 * data.n


def batches(X, y, size):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]


@pytest.mark.parametrize("estimator", [PredtronClassifier(), PredtronClassifier(loss="zero_one", reject=Reject(0.3, -1))])
def test_forms_of_rows(estimator):
    estimator = clone(estimator).set_params(norm="l2")  # of dense rows, too
    X, y = make_data(noise=2.0)
    S, scores = sparse.csr_matrix(X), []
    forms = [
        zip(X, y, strict=True),
        zip(X.tolist(), y.tolist(), strict=True),
        batches(X, y, 1),
        batches(X.tolist(), y.tolist(), 1),
        ((S[i], y[i]) for i in range(len(y))),
        zip(sparse.csr_array(X)[:, :], y, strict=True),
        ((X[i : i + 1], y[i], None) for i in range(len(y))),
        iter([(X[i : i + 1], (int(y[i]),)) for i in range(len(y))]),
    ]
    for stream in forms:
        model = clone(estimator)
        scores.append(progressive_val_score(model, stream, classes=[0, 1, 2]))
        assert model.t_ == len(y)
        np.testing.assert_allclose(model.coef_, clone(estimator).partial_fit(X, y, classes=[0, 1, 2]).coef_, rtol=1e-9)
    assert len(scores) == 8 and np.ptp(scores) < 1e-12


def test_batches_count_by_their_rows():
    X, y = make_data(noise=2.0)
    items = [(X[:10], y[:10]), (X[10:11], y[10:11]), (X[11:], y[11:])]
    model = PredtronOrdinalClassifier()
    found = progressive_val_score(model, items, classes=[0, 1, 2])
    first = PredtronOrdinalClassifier().partial_fit(*items[0], classes=[0, 1, 2])
    losses = [first.sample_loss(*items[1])]
    losses.append(first.partial_fit(*items[1]).sample_loss(*items[2]))
    assert found == pytest.approx(np.concatenate(losses).mean())


def test_sets_of_labels_in_every_form():
    random = np.random.default_rng(0)
    X, Y = random.standard_normal((60, 5)), random.integers(0, 2, (60, 4))
    rows = zip(X, Y, strict=True)
    sparse_rows = ((X[i : i + 1], sparse.csr_array(Y[i : i + 1])) for i in range(60))
    scores = [progressive_val_score(PredtronMultilabelClassifier(), stream) for stream in (rows, sparse_rows, batches(X, Y, 1))]
    assert scores[0] == pytest.approx(scores[1]) and scores[0] == pytest.approx(scores[2])


GROUPED = {
    "qid": (PredtronRanker, make_ranking_queries(40, std=0.5, random_state=0), {}),
    "sid": (PredtronSequenceTagger, make_sequences(40, random_state=0), {"classes": range(5)}),
}
grouped = pytest.mark.parametrize(("family", "data", "first", "name"), [(*GROUPED[name], name) for name in GROUPED], ids=GROUPED)


@grouped
def test_queries_and_sequences(family, data, first, name):
    X, y, ids = data
    one_by_one = [(X[ids == i], y[ids == i]) for i in range(40)]
    in_pairs = [(X[ids // 2 == i], y[ids // 2 == i], ids[ids // 2 == i]) for i in range(20)]
    learner = family()
    found = progressive_val_score(learner, one_by_one, **first)
    assert learner.t_ == 40 and found == pytest.approx(expected(family(), one_by_one, 0, first))
    model, total = family(), []
    for i, (rows, labels, of_rows) in enumerate(in_pairs):
        total.extend(model.sample_loss(rows, labels, **{name: of_rows}) if i else [])
        model.partial_fit(rows, labels, **{name: of_rows}, **(first if i == 0 else {}))
    paired = family()
    assert progressive_val_score(paired, in_pairs, **first) == pytest.approx(np.mean(total)) and paired.t_ == 40
    if family is PredtronRanker:
        by_measure = progressive_val_score(family(), one_by_one, metric=ndcg)
        assert by_measure == pytest.approx(1 - found)  # the default loss is 1 - NDCG
    else:
        wrong = progressive_val_score(family(), in_pairs, **first, metric=lambda y, predicted: np.sum(y != predicted))
        assert wrong == pytest.approx(2 * np.mean(total))


@grouped
def test_a_column_of_ids(family, data, first, name):
    pandas = pytest.importorskip("pandas")
    X, y, ids = data
    frame = pandas.DataFrame(X).rename(columns=str).assign(**{name: ids})
    cuts = [ids // 3 == i for i in range(13)]
    for metric in (None, zero_one_loss) if name == "sid" else (None,):
        how = {**first, "metric": metric}
        by_column = progressive_val_score(family(), [(frame[cut], y[cut]) for cut in cuts], **how)
        assert by_column == pytest.approx(progressive_val_score(family(), [(X[cut], y[cut], ids[cut]) for cut in cuts], **how))


@pytest.mark.parametrize("metric", [None, zero_one_loss])
def test_a_sequence_without_ids_after_several(metric):
    pandas = pytest.importorskip("pandas")
    X, y, sid = make_sequences(20, random_state=0)
    several, one = sid < 10, sid == 11
    scores = []
    for form in (np.asarray, pandas.DataFrame):
        model = PredtronSequenceTagger().partial_fit(form(X[several]), y[several], sid=sid[several], classes=range(5))
        scores.append(progressive_val_score(model, [(form(X[one]), y[one])], metric=metric))
    assert scores[0] == scores[1]


def test_metrics_of_items():
    X, y = make_data(noise=2.0)
    items = batches(X, y, 10)
    loss = progressive_val_score(PredtronClassifier(), items, classes=[0, 1, 2])
    accuracy = progressive_val_score(PredtronClassifier(), items, classes=[0, 1, 2], metric=accuracy_score)
    wrong = progressive_val_score(PredtronClassifier(), items, classes=[0, 1, 2], metric=lambda y, predicted: y != predicted)
    assert 1 - accuracy == pytest.approx(loss) and wrong == pytest.approx(loss)


def test_other_learners_beside_ours():
    X, y = make_data(2, n=300, noise=1.0)
    peer = progressive_val_score(SGDClassifier(random_state=0), zip(X, y, strict=True), 3, classes=[0, 1], metric=zero_one_loss)
    ours = progressive_val_score(PredtronBinaryClassifier(), zip(X, y, strict=True), 3, classes=[0, 1], metric=zero_one_loss)
    assert 0 < ours < peer < 0.5
    with pytest.raises(ValueError, match="metric=None is the estimator's own loss, which SGDClassifier does not have"):
        progressive_val_score(SGDClassifier(), zip(X, y, strict=True), classes=[0, 1])


def test_a_file_by_chunks(tmp_path):
    from sklearn.datasets import dump_svmlight_file

    X, y = make_data(noise=2.0)
    dump_svmlight_file(X, y, str(tmp_path / "rows.svm"))
    reader = SvmlightReader(tmp_path / "rows.svm", chunk_rows=20)
    found = progressive_val_score(PredtronClassifier(norm="l2"), reader, classes=[0, 1, 2])
    assert found == pytest.approx(progressive_val_score(PredtronClassifier(norm="l2"), batches(X, y, 20), classes=[0, 1, 2]))


def test_labels_that_are_overwritten_after_they_were_learned():
    X, y = make_data(noise=2.0)
    label, row = np.empty(1, dtype=y.dtype), np.empty((1, X.shape[1]))

    def overwriting():
        for i in range(len(y)):
            label[0], row[0] = y[i], X[i]
            yield row, label

    found = progressive_val_score(PredtronClassifier(), overwriting(), classes=[0, 1, 2])
    assert found == progressive_val_score(PredtronClassifier(), batches(X, y, 1), classes=[0, 1, 2])


def test_a_delay_longer_than_the_stream():
    X, y = make_data()
    model = PredtronClassifier()
    with pytest.raises(ValueError, match=r"no item that was predicted, with delay=90; accepted are at least 92 items"):
        progressive_val_score(model, zip(X, y, strict=True), 90, classes=[0, 1, 2])
    assert model.t_ == 90
    before = model.sample_loss(X, y).mean()
    assert progressive_val_score(model, zip(X, y, strict=True), 1000) == pytest.approx(before)
    assert model.t_ == 180
    with pytest.raises(ValueError, match="no item that was predicted, with delay=0"):
        progressive_val_score(model, [])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"delay": -1}, "delay=-1 must be an integer of at least 0"),
        ({"delay": 1.0}, "delay=1.0 must be an integer of at least 0"),
        ({"delay": True}, "delay=True must be an integer of at least 0"),
        ({"metric": "accuracy"}, "metric='accuracy' must be None or a callable"),
        ({"stream": [3]}, r"stream holds 3; accepted are items \(X, y\), \(X, y, qid\) for queries and \(X, y, sid\)"),
        ({"stream": [([[0.0]],)]}, r"stream holds .*; accepted are items \(X, y\)"),
        ({"stream": [(1, 2, 3, 4)]}, r"stream holds \(1, 2, 3, 4\); accepted"),
        ({"classes": None}, "classes must be passed on the first call to partial_fit"),
    ],
)
def test_what_is_refused(given, message):
    X, y = make_data()
    model = PredtronClassifier()
    with pytest.raises(ValueError, match=message):
        progressive_val_score(model, **{"stream": zip(X, y, strict=True), "classes": [0, 1, 2], **given})
    assert not model.__sklearn_is_fitted__()


def test_a_bad_item_ends_the_stream_after_those_before_it():
    X, y = make_data()
    X[50, 2] = np.nan
    model = PredtronClassifier()
    with pytest.raises(ValueError, match="NaN"):
        progressive_val_score(model, zip(X, y, strict=True), classes=[0, 1, 2])
    assert model.t_ == 50
    with pytest.raises(ValueError, match="y contains labels that are not in classes_"):
        progressive_val_score(model, [(X[0], 7)])
    assert model.t_ == 50
