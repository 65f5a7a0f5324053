"""Streams that learn from rows again, against plain Python; what they promise of weights, splits, copies and theorems."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, SGDClassifier

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronMultilabelClassifier, PredtronOrdinalClassifier
from sklearn_predtron.updates import Adaptive, PassiveAggressive

pytestmark = pytest.mark.default_replay
N, P, K = 700, 4, 3


def rows_of(seed, n=N, p=P):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p))
    return X, np.argmax(X[:, :K] + random.gumbel(size=(n, K)), axis=1), np.exp(1.5 * random.standard_normal(n))


# -------------------------------------------------------------------------------------------------------- in plain Python


def uniform(t, number, low=2**64 - 1):
    z = (t * 0x9E3779B97F4A7C15 + number * 0xD1B54A32D192ED03) & low
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & low
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & low
    return ((z ^ (z >> 31)) >> 11) / 2**53


class Window:
    """The places of the last 256 rows that were kept, and their shares."""

    def __init__(self):
        self.rows, self.shares, self.head = [None] * 256, np.zeros(256), 0

    def keep(self, row, share):
        self.rows[self.head], self.shares[self.head] = row, share
        self.head = (self.head + 1) % 256

    def draw(self, u):
        return self.rows[np.searchsorted(np.cumsum(self.shares), u * self.shares.sum(), side="right")]


class Learner:
    """Multiclass weights without intercepts that take the steps of the default update, on rows that come back."""

    def __init__(self):
        self.W, self.logs, self.again = np.zeros((K, P)), [], []

    def step(self, x, y, weight):
        t = self.W @ x
        hinges = 1.0 * (np.arange(K) != y) + t - t[y]
        competitor = np.argmax(hinges)
        hinge, g2 = hinges[competitor], 2 * x @ x
        if hinge > 1e-12 * (2 + abs(hinge)):  # beyond rounding: rows that come back have met their margin
            self.logs.append(np.log(1 / g2))
            size = min(weight * np.exp(np.mean(self.logs)), hinge / g2)
            self.W[competitor] -= size * x
            self.W[y] += size * x

    def stream(self, X, y, given):
        recent, heavy, of_recent, of_heavy, mean = Window(), Window(), 0.0, 0.0, 0.0
        for i, (x, label, w) in enumerate(zip(X, y, given, strict=True)):
            t = i + 1
            mean += (w - mean) / t
            weight = w / mean
            self.step(x, label, min(weight, 1))
            again = min(9, 2000 / t) if t <= 6000 else 0
            recent.keep((x, label, min(weight, 1) * 0.3), 1)
            of_recent += again
            rounds = [recent] * int(of_recent)
            of_recent -= int(of_recent)
            if weight > 1:
                heavy.keep((x, label, 1), weight - 1)
                of_heavy = min(of_heavy + (weight - 1) * (1 + again), 256)
            rounds += [heavy] * min(int(of_heavy), 100)
            of_heavy -= min(int(of_heavy), 100)
            for number, window in enumerate(rounds, 1):
                self.step(*window.draw(uniform(t, number)))
            self.again.append(len(rounds))
        return self


@pytest.mark.parametrize("weighted", [False, True])
def test_which_rows_are_learned_again(weighted):
    X, y, w = rows_of(0)
    w = w if weighted else np.ones(N)
    expected = Learner().stream(X, y, w)
    model = PredtronClassifier(norm="l2", fit_intercept=False, average="linear")
    model.partial_fit(X, y, classes=range(K), sample_weight=w)
    assert_allclose(model.last_coef_, expected.W, rtol=1e-9, atol=1e-12)
    assert model._model.learner.replay.rounds == sum(expected.again) > 9 * 200
    assert model.t_ == N and model.n_updates_ <= N


def test_after_some_thousand_rows_none_comes_back():
    X, y, w = rows_of(1, n=6100)
    model = PredtronClassifier().partial_fit(X[:6000], y[:6000], classes=range(K))
    replay = model._model.learner.replay
    before = replay.rounds
    assert replay.recent.n == 256 and replay.heavy.n == 0
    model.partial_fit(X[6000:], y[6000:])
    assert replay.rounds == before and replay.recent.n == 0
    model.partial_fit(X[6000:], y[6000:], sample_weight=w[6000:])  # but those of high weights do
    assert replay.rounds > before and replay.heavy.n > 0


def test_recent_rows_of_a_stream_that_drifts_do_not_come_back():
    """Labels that stay for a while are predicted best by the last iterate; and who asks for it knows."""
    random = np.random.default_rng(8)
    X, y = random.standard_normal((2000, 3)), np.repeat(random.integers(2, size=100), 20)
    model = PredtronBinaryClassifier().partial_fit(X, y, classes=[0, 1])
    assert model.average_ is False
    before = model._model.learner.replay.rounds
    assert model.partial_fit(X[:20], y[:20])._model.learner.replay.rounds == before
    last = PredtronBinaryClassifier(average=False).partial_fit(X, y, classes=[0, 1])
    assert last._model.learner.replay.rounds == 0 and not last._model.learner.replayed


def test_fit_learns_from_no_row_again():
    X, y, _ = rows_of(2)
    model = PredtronClassifier(random_state=0).fit(X, y)
    once = PredtronClassifier(update=Adaptive(replay=False), random_state=0).fit(X, y)
    assert_array_equal(model.coef_, once.coef_)
    model.partial_fit(X, y).set_params(warm_start=True, max_iter=1).fit(X, y)
    assert not model._model.learner.replayed
    assert PredtronClassifier(update=PassiveAggressive()).partial_fit(X, y, classes=range(K))._model.learner.replay is None


# ------------------------------------------------------------------------------------------------- the same in any split

FAMILIES = [
    PredtronBinaryClassifier(),
    PredtronClassifier(norm="l1"),
    PredtronClassifier(norm="scaled"),
    PredtronOrdinalClassifier(),
    PredtronOrdinalClassifier(representation="shared", norm="scaled"),
    PredtronMultilabelClassifier(),
    PredtronMultilabelClassifier(loss="f1", norm="trace"),
]


@pytest.mark.parametrize("model", FAMILIES, ids=str)
@pytest.mark.parametrize("wide", [P, 600])
def test_any_split_copy_and_format_gives_the_same(model, wide):
    X, y, w = rows_of(3, n=400, p=wide)
    X, first = X.astype(np.float32), {"classes": [0, 1, 2]}
    if isinstance(model, PredtronBinaryClassifier):
        y, first = y % 2, {"classes": [0, 1]}
    elif isinstance(model, PredtronMultilabelClassifier):
        y, first = (np.arange(K) <= y[:, None]).astype(int), {}
    for rows in (X, sparse.csr_matrix(X), X.astype(np.float64)):
        whole = clone(model).partial_fit(rows, y, sample_weight=w, **first)
        split = clone(model)
        for begin, end in ((0, 1), (1, 2), (2, 57), (57, 300), (300, 400)):
            split.partial_fit(rows[begin:end], y[begin:end], sample_weight=w[begin:end], **first)
            split = pickle.loads(pickle.dumps(split))
        assert split._model.learner.replay.heavy.n > 0
        for name in ("coef_", "intercept_", "last_coef_", "progressive_loss_", "n_updates_", "average_"):
            assert_array_equal(getattr(split, name), getattr(whole, name))
        assert pickle.dumps(split) == pickle.dumps(pickle.loads(pickle.dumps(whole)))


def test_rows_that_are_kept_follow_more_classes_and_features():
    X, y, w = rows_of(4)
    sets = (np.arange(K) <= y[:, None]).astype(int)
    for rows in (X, sparse.csr_matrix(X)):
        for kind, labels, first in (
            (PredtronClassifier, y, {"classes": ["b", "c", "d"]}),
            (PredtronMultilabelClassifier, sets, {}),
        ):
            labels = np.array(["b", "c", "d"])[labels] if first else labels
            model = kind(norm="l2").partial_fit(rows, labels, sample_weight=w, **first)
            kept = model._model.learner.replay.__reduce__()[2][0]
            model.widen(classes=["a", "b", "c", "d"] if first else None, n_features=P + 3)
            moved = model._model.learner.replay.__reduce__()[2][0]
            assert_array_equal(moved[2].reshape(len(kept[1]), -1)[:, :P], kept[2].reshape(len(kept[1]), -1))
            if first:
                assert_array_equal(moved[4].view(np.intp), kept[4].view(np.intp) + 1)
            wide = sparse.hstack([rows, sparse.csr_matrix((N, 3))]).tocsr()
            wide = wide if sparse.issparse(rows) else wide.toarray()
            assert model.partial_fit(wide, labels).score(wide, labels) > 0.3


@pytest.mark.parametrize("kind", [PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier])
def test_more_features_alone_leave_the_labels_as_they_are(kind):
    X, y, w = rows_of(9)
    y = y % 2 if kind is PredtronBinaryClassifier else y
    model = kind(norm="l2").partial_fit(X, y, classes=np.unique(y), sample_weight=w)
    kept = model._model.learner.replay.__reduce__()[2][0]
    moved = model.widen(n_features=P + 40)._model.learner.replay.__reduce__()[2][0]
    for before, now in zip(kept[4:], moved[4:], strict=True):
        assert_array_equal(now, before)
    assert_array_equal(moved[2].reshape(-1, P + 40), np.pad(kept[2].reshape(-1, P), [(0, 0), (0, 40)]))


@pytest.mark.parametrize("norm", ["l2", "scaled"])
def test_rows_of_a_stream_that_gets_features_are_those_of_the_width_from_the_start(norm):
    X, y, w = rows_of(10, p=12)
    y[0] = 0
    X[:300, 6:] = 0
    how = {"norm": norm, "average": "linear", "intercept_scaling": 1.0}
    for form in (np.asarray, sparse.csr_matrix):
        known = PredtronClassifier(**how).partial_fit(form(X[:300]), y[:300], classes=range(K), sample_weight=w[:300])
        grown = PredtronClassifier(**how)
        grown.partial_fit(form(X[:300, :6]), y[:300], classes=range(K), sample_weight=w[:300]).widen(n_features=12)
        for first in range(300, 700, 100):
            part = slice(first, first + 100)
            for model in (known, grown):
                model.partial_fit(form(X[part]), y[part], sample_weight=w[part])
            grown = copy.deepcopy(pickle.loads(pickle.dumps(grown)))
        assert_array_equal(grown.last_coef_, known.last_coef_)


def test_rows_that_are_too_long_are_learned_once_and_owe_nothing():
    random = np.random.default_rng(11)
    rows, y = sparse.csr_matrix(random.standard_normal((20, 8193))), random.integers(2, size=20)
    model = PredtronBinaryClassifier().partial_fit(rows, y, classes=[0, 1])
    model = copy.deepcopy(model)
    assert not model._model.learner.replayed
    short = sparse.random(2, 8193, 0.01, format="csr", random_state=0)
    model.partial_fit(short, [0, 1])
    assert model._model.learner.replay.rounds == 18


def test_a_call_that_fails_keeps_no_row():
    X, y, _ = rows_of(5)
    model = PredtronClassifier().partial_fit(X, y, classes=range(K))
    before = pickle.dumps(model)
    for bad in (np.full((1, P), np.nan), X[:2, :3]):
        with pytest.raises(ValueError, match=r"NaN|features"):
            model.partial_fit(bad, y[: len(bad)])
    assert pickle.dumps(model) == before


def test_damaged_windows_are_refused():
    X, y, w = rows_of(6, n=40)
    model = PredtronClassifier().partial_fit(sparse.csr_matrix(X), y, classes=range(K), sample_weight=w)
    kind, arguments, (recent, heavy, *numbers) = model._model.learner.replay.__reduce__()
    forms, lengths, values, places, labels, weight, share, head = recent
    for bad in [
        (forms + 6, *recent[1:]),
        (forms * 0, *recent[1:]),
        (forms, lengths + 1, *recent[2:]),
        (forms, lengths, values * np.nan, *recent[3:]),
        (forms, lengths, values, places + 1, *recent[4:]),
        (forms, lengths, values, places, labels + np.uint8(3), *recent[5:]),
        (forms, lengths, values, places, labels, -weight, share, head),
        (forms, lengths, values, places, labels, weight, share - 2, head),
        (*recent[:-1], head + 1),
        recent[:-1],
    ]:
        with pytest.raises(ValueError, match="damaged"):
            kind(*arguments).__setstate__((bad, heavy, *numbers))


# ----------------------------------------------------------------------------------------------- weights, and the theorems


@pytest.mark.parametrize("seed", [0, 1])
def test_weights_count_as_rows(seed):
    """A few rows that weigh much follow another rule: the weighted error is that of logistic regression, not of rows alone."""
    random = np.random.default_rng(seed)
    rules = random.standard_normal((2, 10))

    def draw(n):
        X, heavy = random.standard_normal((n, 10)), random.random(n) < 0.03
        truth = np.where(heavy[:, None], rules[1], rules[0])
        return X, ((X * truth).sum(axis=1) + random.standard_normal(n) > 0).astype(int), np.where(heavy, 100.0, 1.0)

    X, y, w = draw(10_000)
    rows, labels, weight = draw(20_000)
    model = PredtronBinaryClassifier().partial_fit(X, y, classes=[0, 1], sample_weight=w)
    once = PredtronBinaryClassifier(update=Adaptive(replay=False)).partial_fit(X, y, classes=[0, 1], sample_weight=w)
    error = {
        name: 1 - one.score(rows, labels, sample_weight=weight)
        for name, one in {
            "again": model,
            "once": once,
            "batch": LogisticRegression().fit(X, y, sample_weight=w),
            "sgd": SGDClassifier(random_state=0).partial_fit(X, y, classes=[0, 1], sample_weight=w),
        }.items()
    }
    assert error["again"] < 1.15 * error["batch"] and error["again"] < min(error["sgd"], 0.8 * error["once"]), error


def test_theorems_are_of_streams_that_learn_once():
    X, y, _ = rows_of(7)
    how = {"norm": "l2", "intercept_scaling": 1.0}
    model = PredtronClassifier(**how).partial_fit(X, y, classes=range(K))
    with pytest.raises(ValueError, match=r"learned again; update=Adaptive\(replay=False\)"):
        model.loss_bound(1.0, 4.0)
    once = PredtronClassifier(update=Adaptive(replay=False), **how).partial_fit(X, y, classes=range(K))
    assert once.loss_bound(1.0, 4.0) > 0
