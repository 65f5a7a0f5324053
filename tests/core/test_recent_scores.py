"""The record of the last scores: what it holds after some rounds, beside what was predicted before each of them."""

import copy
import pickle

import numpy as np
import pytest
from cases import make_data

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
)
from sklearn_predtron.decisions._recent_scores import RecentScores
from sklearn_predtron.problems._finite import OneHotProblem
from sklearn_predtron.problems._label_sets import HammingProblem

N, LAST = 700, 3000
X, Y = make_data(3, n=N, noise=2.0)
SETS = (X[:, :3] + np.random.default_rng(1).standard_normal((N, 3)) > 0.5).astype(int)
FAMILIES = [
    (PredtronBinaryClassifier, (Y > 0).astype(int), {"classes": [0, 1]}),
    (PredtronClassifier, Y, {"classes": [0, 1, 2]}),
    (PredtronOrdinalClassifier, Y, {"classes": [0, 1, 2]}),
    (PredtronMultilabelClassifier, SETS, {}),
]
families = pytest.mark.parametrize(("kind", "y", "known"), FAMILIES, ids=lambda part: getattr(part, "__name__", ""))


def record_of(model):
    observer = model._model.learner.observer
    assert type(observer) is RecentScores
    return observer


def streamed(model, y, known, size, first=0, end=N, **more):
    """Learn rows in parts of some size; more is given row by row."""
    for start in range(first, end, size):
        part = slice(start, min(start + size, end))
        model.partial_fit(X[part], y[part], **known, **{name: values[part] for name, values in more.items()})
    return model


def marks(n):
    """Where marks are, of n rows: after each of the first ten, and then after a tenth more."""
    found = [1]
    while found[-1] + max(1, found[-1] // 10) <= n:
        found.append(found[-1] + max(1, found[-1] // 10))
    return found


@families
@pytest.mark.parametrize(("average", "every"), [(False, 1), ("auto", 1), ("linear", 8), (50.0, 8)])
def test_scores_are_those_predicted_before_each_round(kind, y, known, average, every):
    """Of all rows, or where they would be computed for this alone of more and more seldom ones, one in eight at last."""
    model, alone = (kind(norm="l2", average=average) for _ in range(2))
    streamed(model, y, known, 100)
    scores = []
    for t in range(N):
        scores.append(np.zeros(record_of(model).problem.d) if t == 0 else alone._model.scores(X[t : t + 1])[0])
        alone.partial_fit(X[t : t + 1], y[t : t + 1], **known)
    there = [t for t in range(N) if t % min(every, 1 + t // 256) == 0]
    found, labels, weight, number = record_of(model).rows()
    assert record_of(model).recorded == len(there) and number.tolist() == list(range(len(there)))
    np.testing.assert_allclose(found, np.array(scores)[there], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(labels.reshape(y[there].shape), y[there])
    assert (weight == 1).all()


def test_rows_of_batches_are_recorded_one_by_one():
    y = (Y > 0).astype(int)
    model = PredtronBipartiteClassifier(loss="balanced", batch_size=20).partial_fit(X, y, classes=[0, 1])
    scores, labels, _, number = record_of(model).rows()
    assert scores.shape == (N, 1) and number.tolist() == list(range(N))
    np.testing.assert_array_equal(labels[:, 0], y)
    ranked = PredtronBipartiteClassifier(loss="auc", batch_size=20).partial_fit(X, y, classes=[0, 1])
    np.testing.assert_array_equal(record_of(ranked).rows()[1][:, 0], y)


def test_marks_are_seldom_and_hold_what_was_there():
    model, passed = PredtronClassifier(norm="l2"), marks(N)
    assert passed[:12] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] and len(passed) < 70
    for n in range(1, 200):
        streamed(model, Y, FAMILIES[1][2], 1, n - 1, n)
        record = record_of(model)
        assert record.recorded == n and record.marked_at == max(mark for mark in passed if mark <= n)
        rows, marked = record.rows(), record.marked()
        assert len(marked[3]) == record.marked_at
        for now, then in zip(rows, marked, strict=True):
            np.testing.assert_array_equal(now[: record.marked_at], then)


def test_the_oldest_rows_go():
    random = np.random.default_rng(0)
    rows, y = random.standard_normal((LAST + 500, 2)), random.integers(0, 2, LAST + 500)
    model = PredtronBinaryClassifier(norm="l2").partial_fit(rows, y, classes=[0, 1])
    _, labels, _, number = record_of(model).rows()
    assert number.tolist() == list(range(500, LAST + 500))
    np.testing.assert_array_equal(labels[:, 0], y[500:])
    scores, labels, _, number = record_of(model).marked()
    assert len(scores) == LAST and number[-1] + 1 == record_of(model).marked_at > 500 + LAST * 0.9
    np.testing.assert_array_equal(labels[:, 0], y[number])


@families
@pytest.mark.parametrize("average", ["auto", "linear", False])
def test_any_split_of_a_stream_has_the_same_record(kind, y, known, average):
    saved, predicted = [], []
    for size in (1, 7, 100, N):
        model = streamed(kind(norm="l2", average=average), y, known, size, end=350)
        saved.append(pickle.dumps(record_of(model).__reduce__()[2]))
        predicted.append(model.predict_proba(X))
        np.testing.assert_array_equal(predicted[-1], predicted[0])
    assert saved == [saved[0]] * 4


@families
@pytest.mark.parametrize("at", [3, 95, 104, 333])  # at a mark, and between two
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))], ids=["copy", "pickle"])
def test_what_is_saved_goes_on_the_same(kind, y, known, at, copied):
    model = streamed(kind(norm="l2"), y, known, 50, end=at)
    other = copied(model)
    for one in (model, other):
        streamed(one, y, known, 10, at, 400)
    assert pickle.dumps(record_of(model).__reduce__()[2]) == pickle.dumps(record_of(other).__reduce__()[2])
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))


def test_weights_of_rows_stay_and_those_of_classes_are_taken_out():
    weight = np.random.default_rng(0).uniform(0.5, 2, N)
    for given in ({}, {"class_weight": {0: 5.0, 1: 0.25, 2: 1.0}}):
        model = streamed(PredtronClassifier(**given), Y, FAMILIES[1][2], 30, sample_weight=weight)
        _, _, recorded, number = record_of(model).rows()
        np.testing.assert_allclose(recorded, weight[number], rtol=1e-12)
    costs = PredtronBinaryClassifier(loss=[[0, 1], [9, 0]])
    for i in range(100):  # the fast path, too
        costs.partial_fit(X[i : i + 1], Y[i : i + 1] > 0, classes=[False, True])
    np.testing.assert_allclose(record_of(costs).rows()[2], 1, rtol=1e-12)


def test_rows_of_weight_zero_are_not_recorded():
    weight = (np.arange(N) % 3 > 0).astype(float)
    model = streamed(PredtronClassifier(), Y, FAMILIES[1][2], 30, sample_weight=weight)
    assert record_of(model).recorded == weight.sum() and (record_of(model).rows()[2] == 1).all()
    np.testing.assert_array_equal(record_of(model).rows()[1][:, 0], Y[weight > 0])


def test_more_classes_and_labels_have_had_scores_of_0():
    model = PredtronClassifier(norm="l2").partial_fit(X, np.array([10, 30, 50])[Y], classes=[10, 30, 50])
    scores, labels, weight, number = record_of(model).rows()
    model.widen(classes=[20, 5])
    after = record_of(model).rows()
    assert model.classes_.tolist() == [5, 10, 20, 30, 50]
    np.testing.assert_array_equal(after[0][:, [1, 3, 4]], scores)
    assert not after[0][:, [0, 2]].any()
    np.testing.assert_array_equal(model.classes_[after[1][:, 0]], np.array([10, 30, 50])[labels[:, 0]])
    np.testing.assert_array_equal(after[2], weight)
    np.testing.assert_array_equal(after[3], number)
    sets = PredtronMultilabelClassifier(norm="l2").partial_fit(X, SETS)
    scores, labels = record_of(sets).rows()[:2]
    sets.widen(classes=range(5))
    after = record_of(sets).rows()
    np.testing.assert_array_equal(after[0], np.hstack([scores, np.zeros((len(scores), 2))]))
    np.testing.assert_array_equal(after[1], np.hstack([labels, np.zeros((len(scores), 2))]))


def test_a_record_is_bounded_in_bytes():
    assert RecentScores(OneHotProblem(3), "codes").size == LAST
    for k in (1000, 100_000):
        size = RecentScores(OneHotProblem(k), "codes").size
        assert 50 <= size < LAST and size * k <= max(1 << 20, 50 * k)


def taken(n, k=3, **more):
    record = RecentScores(OneHotProblem(k), "codes")
    scores = np.arange(n * k, dtype=float).reshape(n, k)
    record.take(scores, (np.arange(n) % k).astype(np.intc)[:, None], **more)
    return record, scores


@pytest.mark.parametrize("n", [1, 10, LAST, LAST + 1, 10_000])
def test_rows_that_were_held_out_are_evenly_spaced_if_they_are_too_many(n):
    record, scores = taken(n, weight=np.arange(n) + 1.0)
    found, labels, weight, number = record.rows()
    assert record.recorded == record.marked_at == n and len(found) == min(n, LAST)
    np.testing.assert_array_equal(found, scores[number].astype(np.float32))
    np.testing.assert_array_equal(labels[:, 0], number % 3)
    np.testing.assert_array_equal(weight, number + 1.0)
    assert number[0] == 0 and np.ptp(np.diff(number)) <= 1 if n > 1 else True
    for now, then in zip(record.rows(), record.marked(), strict=True):
        np.testing.assert_array_equal(now, then)


def test_scores_that_single_precision_does_not_hold():
    record = RecentScores(OneHotProblem(2), "codes")
    record.take(np.array([[1e300, -1e300], [np.inf, np.nan]]), np.zeros((2, 1), dtype=np.intc))
    found = record.rows()[0]
    assert np.isfinite(found).all() and found[0, 0] > 1e36 and found[0, 1] < -1e36 and found[1, 1] == 0


def test_what_does_not_go_together_is_refused():
    with pytest.raises(ValueError, match="labels of kind 'words' are not known"):
        RecentScores(OneHotProblem(3), "words")
    record = taken(10)[0]
    for scores, labels in [
        (np.zeros((4, 2)), np.zeros((4, 1))),
        (np.zeros((4, 3)), np.zeros((3, 1))),
        (np.zeros((4, 3)), np.zeros((4, 2))),
    ]:
        with pytest.raises(ValueError, match="scores must have shape"):
            record.take(scores, labels.astype(np.intc))
    model = PredtronClassifier().partial_fit(X, Y, classes=[0, 1, 2])
    learner = model._model.learner
    with pytest.raises(ValueError, match="of another problem"):
        learner.with_parts(learner.problem, learner.update, learner.average, RecentScores(HammingProblem(4), "sets"))


def test_states_that_contradict_themselves_are_refused():
    mark = next(mark for mark in marks(N) if mark > 100)
    streams = [record_of(streamed(PredtronClassifier(), Y, FAMILIES[1][2], 50, end=end)) for end in (mark, mark + 1)]
    for record in streams:
        kind, arguments, state = record.__reduce__()
        every, size, recorded, marked_at, next_mark, marked, rows, *more = state
        good = kind(*arguments)
        good.__setstate__(state)
        for found, expected in zip((*good.rows(), *good.marked()), (*record.rows(), *record.marked()), strict=True):
            np.testing.assert_array_equal(found, expected)
        others = streams[1 - streams.index(record)].__reduce__()[2]
        for bad in [
            (every, size, recorded, marked_at, next_mark, marked, others[6], *more),
            (every, size - 1, recorded, marked_at, next_mark, marked, rows, *more),
            (0, size, recorded, marked_at, next_mark, marked, rows, *more),
            (every, size, recorded, recorded + 1, next_mark, marked, marked, *more),
            (every, size, recorded, marked_at, recorded, marked, rows, *more),
            (every, size, -1, marked_at, next_mark, marked, rows, *more),
            (every, size, recorded, marked_at, next_mark, marked[:3], rows, *more),
            (every, size, recorded, marked_at, next_mark, tuple(np.repeat(part, 40, axis=0) for part in marked), rows, *more),
            (every, size, recorded, marked_at, next_mark, (marked[0], marked[1] + 3, *marked[2:]), rows, *more),
            (every, size, recorded, marked_at, next_mark, (marked[0] * np.nan, *marked[1:]), rows, *more),
            (every, size, recorded, marked_at, next_mark, (*marked[:2], -marked[2], marked[3]), rows, *more),
            state[:-1],
            None,
        ]:
            with pytest.raises(ValueError, match="saved state of a RecentScores is damaged"):
                kind(*arguments).__setstate__(bad)


@pytest.mark.parametrize("rate", [0.02, 0.2])
def test_more_rows_are_kept_where_a_class_is_rare(rate):
    """Up to 300 of the rarest class, or 30,000 in all; in any split, through copies, and no more once it is frequent."""
    random = np.random.default_rng(2)
    n = 18_000
    rows, y = random.standard_normal((2 * n, 2)), (random.random(2 * n) < rate).astype(int)
    y[n:] = random.random(n) < 0.5
    whole = PredtronBinaryClassifier().partial_fit(rows[:n], y[:n], classes=[0, 1])
    split = PredtronBinaryClassifier()
    for first, last in ((0, 2990), (2990, 3010), (3010, 9000), (9000, n)):
        split.partial_fit(rows[first:last], y[first:last], classes=[0, 1])
        split = pickle.loads(pickle.dumps(split))
    record = record_of(whole)
    for found, expected in zip(record_of(split).rows(), record.rows(), strict=True):
        np.testing.assert_array_equal(found, expected)
    kept = record.rows()[1][:, 0]
    np.testing.assert_array_equal(kept, y[n - len(kept) : n])
    assert (record.size, len(kept) > 15_000) == ((3000, False) if rate == 0.2 else (24_000, True))
    assert kept.sum() >= 300
    whole.partial_fit(rows[n:], y[n:])
    assert record_of(whole).size == 3000 and len(record_of(whole).rows()[0]) == 3000


def test_held_out_rows_of_a_fit_are_kept_as_those_of_a_stream():
    random = np.random.default_rng(3)
    rows = random.standard_normal((9000, 2))
    for rate, size in ((0.3, 3000), (0.05, 7500), (0.01, 30_000)):
        y = (random.random(9000) < rate).astype(int)
        model = PredtronBinaryClassifier(loss={(1, 0): 9.0, (0, 1): 1.0}, random_state=0).fit(rows, y)
        assert record_of(model).size == size
        assert len(record_of(model).rows()[0]) == min(size, 9000)
