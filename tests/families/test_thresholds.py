"""Where the scores are cut."""

import itertools
import warnings

import numpy as np
import pytest
from cases import make_data
from ranking_cases import plain
from sklearn.base import clone
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.metrics import balanced_accuracy_score, f1_score

from sklearn_predtron import PredtronBinaryClassifier, PredtronMultilabelClassifier
from sklearn_predtron.decisions import Cut
from sklearn_predtron.decisions._threshold import CutBy, best_cut
from sklearn_predtron.losses import BalancedError, CountLoss, FBeta, Jaccard
from sklearn_predtron.norms import RKHS


def rare(n=400, seed=0):
    """Rows of which a tenth is positive, with noise."""
    return make_classification(n, 8, n_informative=4, weights=[0.9], flip_y=0.05, random_state=seed)


def sets(n=300, seed=0):
    return make_multilabel_classification(n, 10, n_classes=5, n_labels=2, random_state=seed)


def missing_is_worse(a, b, c, d):
    return b + 3 * c


def share_wrong(a, b, c, d):
    return (b + c) / (a + b + c + d)


def loss_at(loss, cut, scores, positive, negative):
    above = scores > cut
    sides = positive[above].sum(), negative[above].sum(), positive[~above].sum(), negative[~above].sum()
    return float(np.asarray(loss(*(np.array([side]) for side in sides))).item())


LOSSES = [
    FBeta().of_counts,
    FBeta(beta=2.0).of_counts,
    Jaccard().of_counts,
    BalancedError().of_counts,
    missing_is_worse,
    share_wrong,
]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_no_cut_loses_less(loss, weighted, tied):
    for seed in range(40):
        random = np.random.default_rng(seed)
        n = random.integers(1, 12)
        scores = random.integers(-2, 3, n).astype(float) if tied else random.standard_normal(n)
        weight = random.integers(0, 4, n).astype(float) if weighted else np.ones(n)
        weight[0] += 1
        on = random.random(n) < (0.0, 0.3, 0.7, 1.0)[seed % 4]
        cut = best_cut(loss, scores, on * weight, ~on * weight)
        places = np.unique(scores)
        middles = [places[0] - 1, *((places[1:] + places[:-1]) / 2), places[-1] + 1]
        found = loss_at(loss, cut, scores, on * weight, ~on * weight)
        assert found == pytest.approx(
            min(loss_at(loss, other, scores, on * weight, ~on * weight) for other in middles), abs=1e-12
        )
        assert np.isfinite(cut) and (cut not in scores[weight > 0] or len(places) == 1)


def test_of_cuts_alike_the_nearest_to_zero():
    on = np.array([True, False])
    assert best_cut(lambda a, b, c, d: 0.0 * a, np.array([3.0, 1.0]), on, ~on) in (2.0, pytest.approx(0.0, abs=1.0))
    assert best_cut(share_wrong, np.array([3.0, 1.0]), on, ~on) == 2.0
    assert best_cut(share_wrong, np.zeros(0), np.zeros(0), np.zeros(0)) == 0
    near = np.array([1.0, np.nextafter(1.0, 2)])
    assert best_cut(share_wrong, near, ~on, on) == 1.0  # no number lies between


def cut(at):
    """Return the decision that cuts there."""
    return at if at is None or isinstance(at, (str, float)) else Cut(at)


def held_out_of(monkeypatch, model, X, y, weight=None):
    """What `fit` has kept of rows held out: the scores that are cut and the sides on which they should be."""
    noted = []
    fit = CutBy.fit

    def noting(self, problem, held):
        given = np.ones(len(held.values)) if held.weight is None else held.weight
        noted.append((self.of.scores(problem, held.scores), held.values == 1, given))
        return fit(self, problem, held)

    monkeypatch.setattr(CutBy, "fit", noting)
    model.fit(X, y, sample_weight=weight)
    return noted[-1]  # of the look that was best


BINARY = [
    {},
    {"representation": "onehot"},
    {"representation": [[1.0, 0.0], [0.6, 0.8]]},
    {"fit_intercept": False},
    {"average": False},
    {"norm": "scaled"},
    {"norm": RKHS()},
    {"class_weight": "balanced"},
    {"shuffle": False},
]


@pytest.mark.parametrize("settings", BINARY, ids=plain)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_cut_of_a_fit_is_the_best_of_rows_held_out(monkeypatch, settings, weighted):
    X, y = rare()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float) if weighted else None
    for threshold, loss in [
        ("f1", FBeta().of_counts),
        ("balanced", BalancedError().of_counts),
        (missing_is_worse, missing_is_worse),
    ]:
        model = PredtronBinaryClassifier(decision=cut(threshold), random_state=0, **settings)
        scores, on, given = held_out_of(monkeypatch, model, X, y, weight)
        given = given / given.max()
        sides = scores[:, 0], on[:, 0] * given, ~on[:, 0] * given
        found = loss_at(loss, model.threshold_, *sides)
        tries = (scores[:, 0][:, None] + np.array([-1e-9, 1e-9])).ravel()
        assert found <= min(loss_at(loss, other, *sides) for other in tries) + 1e-12


@pytest.mark.parametrize("settings", BINARY, ids=plain)
@pytest.mark.parametrize("threshold", ["f1", "balanced", -0.25, FBeta(beta=2.0), CountLoss(share_wrong)], ids=plain)
def test_zero_stays_the_boundary_and_learning_knows_nothing(settings, threshold):
    X, y = rare()
    plain = PredtronBinaryClassifier(random_state=0, max_iter=3, **settings).fit(X, y)
    model = PredtronBinaryClassifier(decision=cut(threshold), random_state=0, max_iter=3, **settings).fit(X, y)
    for _ in range(2):
        score = model.decision_function(X)
        np.testing.assert_allclose(score, plain.decision_function(X) - model.threshold_, atol=1e-12)
        np.testing.assert_array_equal(model.predict(X), score > 0)
        np.testing.assert_array_equal(model.last_intercept_, plain.last_intercept_)
        assert model.margin(X, y) == pytest.approx(plain.margin(X, y), nan_ok=True)
        np.testing.assert_array_equal(model.sample_loss(X, y), model.predict(X) != y)
        if "norm" not in settings:
            np.testing.assert_array_equal(model.coef_, plain.coef_)
            t = X @ model.coef_.T + model.intercept_
            np.testing.assert_allclose(
                score, t[:, 0] if t.shape[1] == 1 else model._model.problem.decision(t) @ [-1, 1], atol=1e-9
            )
        if settings.get("class_weight") == "balanced":
            return
        plain, model = plain.partial_fit(X[:50], y[:50]), model.partial_fit(X[:50], y[:50])


def test_f1_of_a_frequent_class_is_said():
    X, y = rare()
    spotter = PredtronBinaryClassifier(decision="f1", random_state=0)
    with pytest.warns(UserWarning, match=r"for F1 of 'good', the second of classes_ by the alphabet, which 8\d% of"):
        spotter.fit(X, np.where(y == 1, "bad", "good"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for quiet in (y, 1 - y, np.where(y == 1, "yes", "no")):
            spotter.fit(X, quiet)
        clone(spotter).partial_fit(X[:1], ["spam"], classes=["ham", "spam"])  # one row says nothing of a stream


def test_a_threshold_finds_rare_rows():
    X, y = rare(4000)
    scores = {}
    for threshold in (None, "f1", "balanced"):
        model = PredtronBinaryClassifier(decision=cut(threshold), random_state=0).fit(X[:2000], y[:2000])
        predicted = model.predict(X[2000:])
        scores[threshold] = f1_score(y[2000:], predicted), balanced_accuracy_score(y[2000:], predicted)
    assert scores["f1"][0] > scores[None][0] + 0.02
    assert scores["balanced"][1] > scores[None][1]


@pytest.mark.parametrize("kind", [PredtronBinaryClassifier, PredtronMultilabelClassifier])
def test_a_stream_has_the_same_cut_however_it_is_split(kind):
    X, y = rare() if kind is PredtronBinaryClassifier else sets()
    names = ("f1", "balanced") if y.ndim == 1 else ("macro_f1", "micro_f1")
    known = {"classes": [0, 1]} if y.ndim == 1 else {}
    for name in names:
        cuts = []
        for size in (1, 7, len(y)):
            model = kind(decision=name, average=200.0)
            for first in range(0, len(y), size):
                model.partial_fit(X[first : first + size], y[first : first + size], **known)
                if size == 7:
                    assert np.isfinite(model.threshold_).all()
            cuts.append(model.threshold_)
        np.testing.assert_array_equal(cuts[0], cuts[1])
        np.testing.assert_array_equal(cuts[0], cuts[2])
        assert np.abs(cuts[0]).max() > 0
        np.testing.assert_array_equal(model.last_coef_, kind(average=200.0).partial_fit(X, y, **known).last_coef_)


@pytest.mark.parametrize("average", ["linear", "uniform", 300.0])
def test_the_cut_of_a_stream_is_the_best_of_what_was_predicted(average):
    """Of the recorded rows up to the last mark but the first quarter; marks are a tenth apart."""
    X, y = rare(1500)
    model = PredtronBinaryClassifier(decision="f1", average=average, norm="l2")
    alone = PredtronBinaryClassifier(average=average, norm="l2")
    scores = np.zeros(len(y))
    for i in range(len(y)):
        scores[i] = 0 if i == 0 else alone.decision_function(X[i : i + 1])[0]
        alone.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
    model.partial_fit(X, y, classes=[0, 1])
    mark = 1
    every = model._model.learner.observer.every
    recorded = np.array([t for t in range(len(y)) if t % min(every, 1 + t // 256) == 0])
    while mark + max(1, mark // 10) <= len(recorded):
        mark += max(1, mark // 10)
    some = recorded[mark // 4 : mark]
    expected = best_cut(FBeta().of_counts, scores[some].astype(np.float32).astype(float), y[some] == 1, y[some] == 0)
    assert model.threshold_ == pytest.approx(expected, rel=1e-6)
    assert model.partial_fit(X[:1], y[:1]).threshold_ == pytest.approx(expected, rel=1e-6)


def test_another_measure_after_learning():
    X, y = rare(2000)
    model = PredtronBinaryClassifier(decision="f1", random_state=0).fit(X, y)
    balanced = PredtronBinaryClassifier(decision="balanced", random_state=0).fit(X, y)
    assert model.threshold_ != balanced.threshold_
    assert model.set_params(decision="balanced").threshold_ == pytest.approx(balanced.threshold_, abs=0.2)
    assert model.set_params(decision=0.5).threshold_ == 0.5 and model.set_params(decision=None).threshold_ == 0.0
    with pytest.raises(ValueError, match=r"^decision='f1' is chosen while the estimator learns; call fit or partial_fit"):
        PredtronBinaryClassifier(decision="learned", random_state=0).fit(X, y).set_params(decision="f1").predict(X)
    part = FBeta(beta=0.5)
    model = PredtronBinaryClassifier(decision=Cut(part), random_state=0).fit(X, y)
    precise = model.threshold_
    part.beta = 4.0
    assert model.threshold_ < precise


@pytest.mark.parametrize("threshold", ["macro_f1", "micro_f1", -0.1, [0.1, -0.2, 0, 0.3, 0.5]], ids=plain)
@pytest.mark.parametrize("settings", [{}, {"loss": "f1"}, {"norm": RKHS()}, {"loss": share_wrong}], ids=plain)
def test_sets_of_labels(monkeypatch, threshold, settings):
    X, Y = sets()
    plain = PredtronMultilabelClassifier(random_state=0, max_iter=3, **settings).fit(X, Y)
    model = PredtronMultilabelClassifier(decision=cut(threshold), random_state=0, max_iter=3, **settings)
    if isinstance(threshold, str):
        scores, on, _ = held_out_of(monkeypatch, model, X, Y)
        columns = [(scores.ravel(), on.ravel())] if threshold == "micro_f1" else list(zip(scores.T, on.T, strict=True))
        best = [best_cut(FBeta().of_counts, column, inside, ~inside) for column, inside in columns]
        np.testing.assert_array_equal(model.threshold_, np.broadcast_to(best, 5))
    else:
        np.testing.assert_array_equal(model.fit(X, Y).threshold_, np.broadcast_to(threshold, 5))
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X) - model.threshold_, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)
    np.testing.assert_allclose(model.intercept_, plain.intercept_ - model.threshold_)
    assert model.margin(X, Y) == plain.margin(X, Y)
    np.testing.assert_array_equal(model.partial_fit(X, Y).last_intercept_, plain.partial_fit(X, Y).last_intercept_)


def test_the_f1_of_rare_labels():
    X, Y = sets(2000)
    f1 = {}
    for threshold in (None, "macro_f1", "micro_f1"):
        model = PredtronMultilabelClassifier(decision=cut(threshold), random_state=0).fit(X[:1000], Y[:1000])
        f1[threshold] = [f1_score(Y[1000:], model.predict(X[1000:]), average=average) for average in ("macro", "micro")]
    assert f1["macro_f1"][0] > f1[None][0] and f1["micro_f1"][1] > f1[None][1]


def test_one_label_of_two_classes():
    X, y = rare()
    names = np.array(["no", "yes"])[y]
    model = PredtronMultilabelClassifier(decision="macro_f1", random_state=0).fit(X, names)
    np.testing.assert_array_equal(model.predict(X) == "yes", model.decision_function(X) > 0)
    assert model.threshold_.shape == (1,) and model.threshold_[0] != 0


@pytest.mark.parametrize(("n_rows", "moved"), [(0, False), (1, False), (2, True)])
def test_one_row_of_a_label_moves_no_cut(n_rows, moved):
    """The fold model that scores the row has not seen the label, so its score says nothing."""
    X, Y = sets()
    Y[:, 2] = 0
    Y[:n_rows, 2] = 1
    model = PredtronMultilabelClassifier(decision="macro_f1", random_state=0).fit(X, Y)
    assert (model.threshold_[2] != 0) == moved and (model.threshold_[[0, 1, 3, 4]] != 0).all()
    if n_rows:
        two = PredtronBinaryClassifier(decision="f1", random_state=0).fit(X, Y[:, 2])
        assert (two.threshold_ != 0) == moved


def test_labels_that_never_are():
    X, y = make_data(2, n=60)
    model = PredtronBinaryClassifier(decision="f1").partial_fit(X, np.zeros(60, dtype=int), classes=[0, 1])
    assert not model.predict(X).any() and np.isfinite(model.threshold_)
    Y = np.column_stack([y, 0 * y, 0 * y + 1])
    model = PredtronMultilabelClassifier(decision="macro_f1", random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X)[:, 1:], Y[:, 1:])


@pytest.mark.parametrize("kind", [PredtronBinaryClassifier, PredtronMultilabelClassifier])
def test_a_call_reads_the_threshold_once(kind):
    """Another thread may set it in between; here every other reading finds another one."""

    class Flipping(kind):
        flips = None

        def __getattribute__(self, name):
            flips = super().__getattribute__("flips")
            return next(flips) if name == "decision" and flips is not None else super().__getattribute__(name)

    X = np.random.default_rng(0).standard_normal((50, 3))
    y = X[:, 0] > 0 if kind is PredtronBinaryClassifier else (X[:, :2] > 0).astype(int)
    of = {threshold: kind(max_iter=1, random_state=0, decision=cut(threshold)).fit(X, y) for threshold in (0.5, None)}
    for first in (0, 1):
        model = Flipping(max_iter=1, random_state=0).fit(X, y)
        model.flips = itertools.islice(itertools.cycle(of), first, None)
        for read in (lambda model: model.predict(X), lambda model: model.threshold_, lambda model: model.intercept_):
            found, expected = read(model), [read(other) for other in of.values()]
            assert any(np.array_equal(found, one) for one in expected)
