"""Streams that grow: what a model learns after `widen` is what one learns that has known the width from the start."""

import pickle
import threading
from copy import deepcopy

import numpy as np
import pytest
from cases import BUSY, FAMILIES, lesson, name, threads_of, updates
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

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
from sklearn_predtron.decisions import Cut
from sklearn_predtron.decisions._threshold import CutBy
from sklearn_predtron.families.model.model import Model
from sklearn_predtron.losses import CostMatrix, Reject
from sklearn_predtron.mixing import ParameterMixing
from sklearn_predtron.norms import L2, RKHS, Group, PNorm, Scaled, Trace
from sklearn_predtron.predictor import _scoring as scoring
from tests.inside import predicting_scores

N, WIDTHS = 120, (5, 7, 40)  # rows, and what they have of features in turn
LAYOUTS = {"dense": np.ascontiguousarray, "csr": sparse.csr_array}
NORMS = [L2(), Scaled(), PNorm(q=8), PNorm(q=3.3), Group(q=4), Group(q=20)]


def rows(seed=0):
    """Rows of which features appear in three steps."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((N, WIDTHS[-1])) * (random.random((N, WIDTHS[-1])) < 0.6)
    for step, width in enumerate(WIDTHS):
        X[step * N // 3 : (step + 1) * N // 3, width:] = 0
    return X


def parts(X):
    """The three steps, of the width that is known in each."""
    return [X[step * N // 3 : (step + 1) * N // 3, :width] for step, width in enumerate(WIDTHS)]


def scores_of(X, k=3):
    return X @ np.random.default_rng(1).standard_normal((X.shape[1], k))


def classes_of(X, k):
    return scores_of(X, k).argmax(axis=1)


def state(model):
    """All that predicts and counts, of the features that are known, to be compared bit by bit."""
    arrays = (model.coef_, model.intercept_, model.last_coef_, model.last_intercept_)
    counts = (model.t_, model.n_mistakes_, model.n_updates_, model.cumulative_loss_)
    return [np.asarray(array).tobytes() for array in arrays] + list(counts)


def learn(model, X, y, given, first, layout, *, grow, between=lambda model: model):
    """Learn three steps, of the last width or of their own."""
    begin = 0
    for part in parts(X):
        end = begin + len(part)
        if begin and grow:
            model = between(model.widen(part.shape[1]))
        more = {name: ids[begin:end] for name, ids in given.items()} | (first if begin == 0 else {})
        model.partial_fit(layout(part if grow else X[begin:end]), y[begin:end], **more)
        begin = end
    return model


def both(estimator, layout, between=lambda model: model):
    """A model that has grown, and one that has known the width."""
    X = rows()
    lesson_of = lesson(type(estimator), scores_of(X))
    kind, parameters = type(estimator), estimator.get_params(deep=False)
    known = learn(kind(**parameters), X, *lesson_of, layout, grow=False)
    return learn(kind(**parameters), X, *lesson_of, layout, grow=True, between=between), known


def assert_same(grown, known):
    assert state(grown) == state(known)
    assert grown.n_features_in_ == known.n_features_in_ == WIDTHS[-1]
    X = rows(seed=5)
    if not isinstance(known, PredtronSequenceTagger):
        assert (predicting_scores(grown, X) == predicting_scores(known, X)).all()


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("norm", NORMS, ids=name)
@pytest.mark.parametrize("kind", FAMILIES, ids=lambda kind: kind.__name__)
def test_same_bits_as_if_the_width_had_been_known(kind, norm, layout):
    if kind is PredtronSequenceTagger and not norm.of_sequences:
        return
    assert_same(*both(kind(norm=norm, average="linear"), layout))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("norm", [L2(), Scaled(), PNorm(q=8)], ids=name)
@pytest.mark.parametrize("update", updates(), ids=name)
def test_every_update(update, norm, layout):
    assert_same(*both(PredtronClassifier(norm=norm, update=update, average=50.0), layout))


@pytest.mark.parametrize("average", ["auto", "uniform", 20.0, False])
@pytest.mark.parametrize("norm", NORMS, ids=name)
def test_every_average(norm, average):
    grown, known = both(PredtronBinaryClassifier(norm=norm, average=average), LAYOUTS["csr"])
    assert_same(grown, known)
    assert grown.average_ == known.average_


@pytest.mark.parametrize("norm", NORMS, ids=name)
@pytest.mark.parametrize("kind", [PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier])
def test_models_are_saved_in_between(kind, norm):
    assert_same(*both(kind(norm=norm), LAYOUTS["csr"], between=lambda model: pickle.loads(pickle.dumps(model))))


@pytest.mark.parametrize("norm", [*NORMS, Trace(q=4), RKHS("linear")], ids=name)
def test_models_are_saved_with_room_to_grow(norm):
    X, y = np.eye(5), [0, 1, 0, 1, 1]
    model = PredtronClassifier(norm=norm).partial_fit(X[:3, :3], y[:3], classes=[0, 1]).widen(n_features=5)
    copies = [pickle.loads(pickle.dumps(model)), deepcopy(model)]
    expected = model.partial_fit(X, y).decision_function(X)
    for copied in copies:
        np.testing.assert_allclose(copied.partial_fit(X, y).decision_function(X), expected, rtol=1e-13)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("norm", [Trace(q=4), RKHS(gamma=0.1), RKHS("linear"), RKHS(gamma=0.1, budget=15)], ids=name)
def test_other_norms_but_for_rounding(norm, layout):
    grown, known = both(PredtronClassifier(norm=norm, average="linear"), layout)
    X = rows(seed=5)
    np.testing.assert_allclose(grown.decision_function(X), known.decision_function(X), rtol=1e-9, atol=1e-9)
    assert (grown.t_, grown.n_mistakes_, grown.n_updates_) == (known.t_, known.n_mistakes_, known.n_updates_)


@pytest.mark.parametrize("norm", NORMS, ids=name)
def test_a_feature_a_row(norm):
    X = rows()[:, :40]
    y = classes_of(X, 3)
    known, grown = PredtronClassifier(norm=norm), PredtronClassifier(norm=norm)
    for i in range(40):
        row = X[i : i + 1] * (np.arange(40) <= i)
        known.partial_fit(row, y[i : i + 1], classes=[0, 1, 2])
        if i:
            grown.widen(i + 1)
        grown.partial_fit(row[:, : i + 1], y[i : i + 1], classes=[0, 1, 2])
    assert state(grown) == state(known)


def test_room_grows_geometrically():
    model = PredtronClassifier(norm="l2", average="linear").partial_fit([[1.0]], [0], classes=[0, 1])
    rooms = {model.widen(width)._model.learner.weights.p for width in range(1, 10_000)}
    assert len(rooms) < 30
    assert model.coef_.shape == (2, 9_999)
    assert len(pickle.dumps(model)) < 8 * 2 * 2 * 10_000 + 10_000  # without the room


def test_mixed_layouts_and_statistics_of_scaled():
    X = rows()
    y = classes_of(X, 3)
    models = [PredtronClassifier(norm="scaled"), PredtronClassifier(norm="scaled")]
    for model, grow in zip(models, (False, True), strict=True):
        for i, part in enumerate(parts(X)):
            rest = part if grow else X[i * N // 3 : (i + 1) * N // 3]
            if i and grow:
                model.widen(part.shape[1])
            for j, layout in enumerate([*LAYOUTS.values()] * 2):
                some = slice(10 * j, 10 * j + 10)
                model.partial_fit(layout(rest[some]), y[i * N // 3 :][some], classes=[0, 1, 2])
    assert state(models[0]) == state(models[1])


def test_fitted_models_go_on():
    X = rows()
    y = classes_of(X, 3)
    models = [PredtronClassifier(random_state=0, reject=Reject(0.1, -1)) for _ in range(2)]
    models[0].fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    models[1].fit(X[:40, :5], y[:40]).widen(40).partial_fit(X[40:], y[40:])
    assert state(models[0]) == state(models[1])
    assert (models[0].predict(X) == models[1].predict(X)).all()


# ------------------------------------------------------------------------------------------------------------- new classes


def seen(n_classes=2, layout=np.ascontiguousarray, **parameters):
    X = rows()[:40, :7]
    y = np.array([10, 30, 50])[classes_of(X, 3)]
    known = [10, 50] if n_classes == 2 else [10, 30, 50]
    there = np.isin(y, known)
    model = PredtronClassifier(**parameters)
    model.partial_fit(layout(X[there]), y[there], classes=known)
    return model, X, y


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("norm", [*NORMS, Trace(q=4), RKHS("linear"), RKHS("linear", budget=9)], ids=name)
@pytest.mark.parametrize("average", ["auto", "linear", False])
def test_a_new_class_begins_at_zero_in_its_sorted_place(norm, layout, average):
    model, X, _ = seen(norm=norm, layout=layout, average=average)
    scores, before = predicting_scores(model, X), state(model)
    old = [np.array(part) for part in (model.coef_, model.last_coef_, model.intercept_, model.last_intercept_)]
    model.widen(classes=[30, 70])
    assert model.classes_.tolist() == [10, 30, 50, 70]
    new = (model.coef_, model.last_coef_, model.intercept_, model.last_intercept_)
    for was, part in zip(old, new, strict=True):
        np.testing.assert_allclose(part[[0, 2]], was, rtol=1e-12, atol=1e-15)
        assert not part[[1, 3]].any()
    found = predicting_scores(model, X)
    np.testing.assert_allclose(found[:, [0, 2]], scores, rtol=1e-12, atol=1e-12)
    assert not found[:, [1, 3]].any()
    assert state(model)[4:] == before[4:]


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("norm", [*NORMS, Trace(q=4), RKHS("linear")], ids=name)
def test_what_is_learned_with_a_new_class_does_not_depend_on_when_it_was_added(norm, layout):
    one, X, y = seen(norm=norm, layout=layout)
    other, *_ = seen(norm=norm, layout=layout)
    one.widen(classes=[30])
    one.partial_fit(layout(X), y).widen(9, classes=[70])
    other = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(other)).widen(7, [10, 30])))
    other.partial_fit(layout(X), y).widen(9).widen(classes=[10, 30, 50, 70])
    assert state(one) == state(other)
    wide = np.hstack([X, np.zeros((len(X), 2))])
    one.partial_fit(layout(wide), np.where(X[:, 0] > 0, 70, y))
    other.partial_fit(layout(wide), np.where(X[:, 0] > 0, 70, y))
    assert state(one) == state(other)
    assert set(one.predict(wide)) <= {10, 30, 50, 70}


def test_costs_and_weights_are_named_by_labels():
    model, X, y = seen(loss={(10, 50): 3.0}, decision="learned", class_weight={30: 2.0, 10: 1.0, 50: 1.0, 70: 5.0})
    model.widen(classes=[30])
    assert model._model.problem.cost_matrix.tolist() == [[0, 1, 3], [1, 0, 1], [1, 1, 0]]
    model.partial_fit(X, y)
    assert model.t_ == len(y) + np.isin(y, [10, 50]).sum()


@pytest.mark.parametrize("loss", ["hamming", "f1", "subset_zero_one"])
@pytest.mark.parametrize("threshold", [None, "macro_f1", "micro_f1"])
def test_new_labels_are_the_last_columns(loss, threshold):
    X = rows()[:, :7]
    Y = (X[:, :4] > 0).astype(int)
    model = PredtronMultilabelClassifier(norm="l2", loss=loss, decision=threshold).partial_fit(X[:60], Y[:60, :3])
    before, cuts = model.predict(X), model.threshold_
    model.widen(classes=range(4))
    assert model.threshold_.tolist() == [*cuts, max(cuts[0], 0) if threshold == "micro_f1" else 0]
    assert (model.predict(X)[:, :3] == before).all()
    assert not model.predict(X)[:, 3].any()
    model.partial_fit(X[60:], Y[60:])
    assert model.predict(X)[:, 3].any()


def test_cuts_of_a_fit_are_kept():
    X = rows()[:, :7]
    Y = (X[:, :4] > 0.5).astype(int)
    for threshold in ("macro_f1", "micro_f1"):
        model = PredtronMultilabelClassifier(decision=threshold, random_state=0).fit(X, Y[:, :3])
        cuts = model.threshold_
        assert model.widen(9, range(4)).threshold_.tolist() == [*cuts, max(cuts[0], 0) if threshold == "micro_f1" else 0]


def test_labels_with_names():
    pandas = pytest.importorskip("pandas")
    X = rows()[:, :3]
    Y = pandas.DataFrame((X > 0).astype(int), columns=["a", "b", "c"])
    model = PredtronMultilabelClassifier().partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"classes=\[0, 1, 2, 3\] must be different names of all labels"):
        model.widen(classes=[0, 1, 2, 3])
    model.widen(classes=["a", "b", "c", "d"]).partial_fit(X, Y.assign(d=1))
    assert model.label_names_.tolist() == ["a", "b", "c", "d"]


# ------------------------------------------------------------------------------------------------------------- what is refused

REFUSED = [
    (PredtronClassifier(), {"n_features": 6}, "n_features=6 must be an integer of at least 7"),
    (PredtronClassifier(), {"n_features": 8.0}, "n_features=8.0 must be an integer"),
    (PredtronClassifier(), {"n_features": True}, "n_features=True must be an integer"),
    (PredtronClassifier(), {"n_features": 2**63}, "n_features=9223372036854775808 must be an integer of at least 7"),
    (PredtronClassifier(), {"n_features": ["a"]}, "must be an integer"),
    (PredtronClassifier(norm="l1"), {"n_features": 99}, "norm='l1' has q=2 for the 7 features so far, and would have q=8"),
    (PredtronClassifier(norm="group"), {"n_features": 99}, "norm='group' has q=2"),
    (PredtronClassifier(norm=PNorm(q="theory")), {"n_features": 99}, "has q=2 for the 7"),
    (PredtronClassifier(norm="trace"), {"n_features": 9, "classes": [7]}, "has q=2"),
    (PredtronClassifier(norm="trace"), {"classes": range(20)}, "for the 3 scores of 7 features so far, and would have q="),
    (PredtronClassifier(norm="rkhs"), {"n_features": 8}, "has gamma=0.142857 for the 7 features so far"),
    (PredtronClassifier(norm=RKHS("precomputed")), {"n_features": 8}, "has kernel=7"),
    (PredtronClassifier(representation="simplex"), {"classes": [7]}, "representation='simplex' does not take more classes"),
    (PredtronClassifier(representation=np.eye(3)), {"classes": [7]}, "does not take more classes"),
    (PredtronClassifier(loss=1.0 - np.eye(3)), {"classes": [7]}, "than it began with; accepted is loss="),
    (PredtronClassifier(loss="absolute"), {"classes": [7]}, "loss='absolute' does not take more classes"),
    (PredtronClassifier(), {"classes": ["b"]}, "are not of the type of those known"),
    (PredtronClassifier(), {"classes": []}, "must be a list of all labels"),
    (PredtronClassifier(reject=Reject(0.1, 7)), {"classes": [7]}, "7"),
    (PredtronBinaryClassifier(), {"classes": [7]}, "PredtronBinaryClassifier has two classes; PredtronClassifier takes"),
    (PredtronBinaryClassifier(representation="onehot"), {"classes": [7]}, "PredtronBinaryClassifier has two classes"),
    (PredtronOrdinalClassifier(), {"classes": [7]}, "does not take more ranks"),
    (PredtronOrdinalClassifier(representation="onehot", loss="zero_one"), {"classes": [7]}, "does not take more ranks"),
    (PredtronMultilabelClassifier(), {"classes": [7]}, "numbers 0, 1, ... of all labels to come, at least 3"),
    (PredtronMultilabelClassifier(), {"classes": range(2)}, "numbers 0, 1, ... of all labels to come, at least 3"),
    (PredtronMultilabelClassifier(decision=Cut([0, 0, 1])), {"classes": range(4)}, "decision="),
    (PredtronRanker(), {"classes": [7]}, "PredtronRanker does not take more classes"),
    (PredtronLabelRanker(), {"classes": range(4)}, "PredtronLabelRanker does not take more classes"),
    (PredtronBipartiteClassifier(), {"classes": [7]}, "PredtronBipartiteClassifier does not take more classes"),
    (PredtronSequenceTagger(), {"classes": ["b"]}, "are not of the type of those known"),
    (PredtronSequenceTagger(constraint=np.ones((4, 3), dtype=bool)), {"classes": [7]}, "a boolean array of shape (5, 4)"),
]


@pytest.mark.parametrize(("estimator", "arguments", "message"), REFUSED, ids=lambda part: name(part)[:40])
def test_what_is_refused_changes_nothing(estimator, arguments, message):
    X = rows()[:7, :7]
    y, given, first = lesson(type(estimator), scores_of(X), block=7)
    model = clone(estimator).partial_fit(X, y, **given, **first)
    before = pickle.dumps(model)
    with pytest.raises(ValueError) as error:
        model.widen(**arguments)
    assert message in str(error.value)
    assert pickle.dumps(model) == before
    if not estimator.__sklearn_tags__().input_tags.pairwise:
        model.partial_fit(X, y, **given)


def test_nothing_is_changed_where_there_is_no_memory():
    model, X, y = seen()
    before = pickle.dumps(model)
    with pytest.raises(MemoryError):
        model.widen(2**50)
    assert pickle.dumps(model) == before
    model.partial_fit(X, np.where(y == 30, 10, y))


def test_widening_to_the_same_is_nothing():
    model, *_ = seen()
    learner, before = model._model.learner, pickle.dumps(model)
    assert model.widen() is model.widen(7, [10]) is model
    assert model._model.learner is learner
    assert pickle.dumps(model) == before


def test_names_of_features_are_wanted_where_there_are_some():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(rows()[:, :3], columns=["a", "b", "c"])
    y = classes_of(X.to_numpy(), 2)
    model = PredtronClassifier().fit(X, y)
    for given in (4, ["a", "c", "b", "d"], ["a", "b", "c", "c"], ["a", "b", "c", 4]):
        with pytest.raises(ValueError, match="learning began with named features"):
            model.widen(given)
    model.widen(["a", "b", "c", "d"]).partial_fit(X.assign(d=1.0), y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert model.n_features_in_ == 4


def test_the_short_way_goes_on():
    model, *_ = seen()
    stream = model._model.stream
    model.widen(9)
    assert model._model.stream is not stream
    row = np.ones((1, 9))
    assert model._model.stream.take(row, [10])
    assert not stream.take(row[:, :7], [10])
    assert model.widen(10)._model.stream.take(np.ones((1, 10)), [10])
    assert not model.widen(classes=[30])._model.stream.take(row, [10])


def test_parameters_that_changed_take_effect_at_the_next_call():
    one, X, y = seen()
    other, *_ = seen()
    wide = np.hstack([X, np.zeros((len(X), 5))])
    y = np.where(y == 30, 10, y)
    one.set_params(update="passive_aggressive").widen(12).partial_fit(wide, y)
    other.widen(12).set_params(update="passive_aggressive").partial_fit(wide, y)
    assert state(one) == state(other)


def test_a_model_that_learns_is_busy():
    model, *_ = seen()
    with model._lock, pytest.raises(RuntimeError, match=BUSY):
        model.widen(9)
    assert model.n_features_in_ == 7


@pytest.mark.parametrize("norm", [L2(), Scaled(), PNorm(q=8)], ids=name)
def test_others_may_predict_meanwhile(norm):
    model, X, y = seen(norm=norm)
    y = np.where(y == 30, 10, y)

    def grow():
        for width in range(8, 300, 3):
            model.widen(width)
            model.partial_fit(np.hstack([X, np.ones((len(X), width - 7))]), y)

    def predict():
        for _ in range(300):
            width = model.n_features_in_
            try:
                assert np.isfinite(model.decision_function(np.ones((3, width)))).all()
            except ValueError as error:
                assert "features" in str(error)

    threads_of(grow, predict, predict)


NO_TEXTS = [[1], [1.5], [True], [b"d"], [None], np.array(["d", None]), np.array(["d", 1], dtype=object)]
TEXTS = [["d"], np.array(["d"], dtype=object), np.array(["d"])]


@pytest.mark.parametrize("new", TEXTS, ids=["list", "objects", "array"])
@pytest.mark.parametrize("known", [str, object])
def test_new_texts_in_any_array(known, new):
    """The unique values of a column of texts are an array of objects."""
    X = rows()[:30, :7]
    y = np.array(["a", "b", "c"])[classes_of(X, 3)].astype(known)
    model = PredtronClassifier().partial_fit(X, y, classes=np.array(["a", "b", "c"], dtype=known)).widen(classes=new)
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    assert model.classes_.dtype.kind == np.dtype(known).kind
    assert model.partial_fit(X, np.where(y == "c", "d", y)).t_ == 60


@pytest.mark.parametrize("new", NO_TEXTS, ids=repr)
@pytest.mark.parametrize("known", [str, object])
def test_what_is_no_text_does_not_become_one(known, new):
    X = rows()[:30, :7]
    y = np.array(["a", "b", "c"])[classes_of(X, 3)]
    model = PredtronClassifier().partial_fit(X, y, classes=np.array(["a", "b", "c"], dtype=known))
    with pytest.raises(ValueError, match=r"classes=.* are not of the type of those known, \['a', 'b', 'c'\]|contains NaN"):
        model.widen(classes=new)
    assert model.classes_.tolist() == ["a", "b", "c"]


def meeting(monkeypatch, place, name, meanwhile, *, after):
    """Let something happen, once, before or after a function of a module or class does its work."""
    whole, pending = getattr(place, name), [meanwhile]

    def met(*given, **how):
        found = whole(*given, **how) if after else None
        while pending:
            pending.pop()()
        return found if after else whole(*given, **how)

    monkeypatch.setattr(place, name, met)


def beside(model, classes):
    """Return a thread that adds classes, and what begins it."""
    widening = threading.Thread(target=model.widen, kwargs={"classes": classes})

    def begin():
        widening.start()
        widening.join(0.05)  # it may have to wait for a reader

    return widening, begin


@pytest.mark.parametrize("reject", [None, Reject(0.2, -1)])
@pytest.mark.parametrize("ask", ["predict", "decision_function", "sample_loss", "margin"])
@pytest.mark.parametrize("blocks", [False, True])
def test_what_is_predicted_is_of_one_moment_while_classes_are_added(ask, reject, blocks, monkeypatch):
    """Between scoring rows and what is made of the scores, and in the midst of the call that adds the classes."""
    monkeypatch.setattr(scoring, "BLOCK", 32 if blocks else scoring.BLOCK)
    model = PredtronClassifier(reject=reject)
    X = rows()[:40, :7]
    y = np.array([10, 50])[classes_of(X, 2)]
    model.partial_fit(X, y, classes=[10, 50])

    def asked():
        return getattr(model, ask)(X, y) if ask in ("sample_loss", "margin") else getattr(model, ask)(X)

    before, during = asked(), []
    widening, begin = beside(model, [30])
    meeting(monkeypatch, scoring.Scorer, "fill", begin, after=True)
    assert np.all(asked() == before)
    widening.join()
    assert model.classes_.tolist() == [10, 30, 50]

    before = asked()
    meeting(monkeypatch, PredtronClassifier, "_wider_learner", lambda: during.append(asked()), after=False)
    model.widen(classes=[20])
    assert np.all(during[0] == before)
    assert model.classes_.tolist() == [10, 20, 30, 50]


@pytest.mark.parametrize("ask", ["predict", "decision_function", "intercept_", "threshold_"])
def test_cuts_are_of_one_moment_while_labels_are_added(ask, monkeypatch):
    X = rows()[:, :7]
    model = PredtronMultilabelClassifier(decision="macro_f1", random_state=0).fit(X, (X[:, :3] > 0.5).astype(int))

    def asked():
        found = getattr(model, ask)
        return found(X) if callable(found) else found

    before, (widening, begin) = asked(), beside(model, range(4))
    meeting(monkeypatch, CutBy, "fitted", begin, after=False)
    assert (asked() == before).all()
    widening.join()
    assert asked().shape[-1] == 4


def test_bounds_hold_for_more_features_and_not_for_more_classes():
    model, *_ = seen(norm="l2", update="perceptron", intercept_scaling=1.0)
    bound = model.loss_bound(margin=1.0, radius=9.0)
    assert model.widen(9).loss_bound(margin=1.0, radius=9.0) == bound
    with pytest.raises(ValueError, match="rounds of different losses, representations or updates"):
        model.widen(classes=[30]).loss_bound(margin=1.0, radius=9.0)


def test_progressive_loss_goes_on():
    grown, known = both(PredtronBinaryClassifier(), LAYOUTS["csr"])
    assert grown.progressive_loss_ == known.progressive_loss_


def test_candidates_of_many_weights_are_charged_less_often():
    model = PredtronBinaryClassifier().partial_fit([[1.0], [-1.0]], [0, 1], classes=[0, 1])
    assert model._model.learner.average.every == 1
    loss = model.progressive_loss_
    model.widen(100_000)
    assert model._model.learner.average.every == 8
    assert model.progressive_loss_ == loss


def test_only_what_has_learned_rows_is_widened():
    with pytest.raises(NotFittedError):
        PredtronClassifier().widen(3)


def test_a_matrix_that_declares_all_labels_takes_new_classes():
    X, costs = np.random.default_rng(0).standard_normal((60, 3)), np.array([[0, 1, 2], [3, 0, 1], [9, 5, 0]])
    y, pairs = (
        np.array(["a", "b", "c"] * 20),
        {(t, p): costs["abc".index(t), "abc".index(p)] for t in "abc" for p in "abc" if t != p},
    )
    grown = []
    for loss in (CostMatrix(costs, labels=["a", "b", "c"]), CostMatrix(pairs, labels=["a", "b", "c"])):
        model = PredtronClassifier(loss=loss, decision="learned")
        model.partial_fit(X[:40], np.array(["a", "b"] * 20), classes=["a", "b"]).widen(classes=["c"]).partial_fit(X, y)
        grown.append(model)
    np.testing.assert_array_equal(grown[0].coef_, grown[1].coef_)
    with pytest.raises(ValueError, match="d"):
        grown[0].widen(classes=["d"])


# -------------------------------------------------------------------------------------------------------- rows of the old width

OLD, NEW, N_NARROW = 4, 7, 60
X = np.random.default_rng(0).standard_normal((N_NARROW, NEW))
SCORES = scores_of(X)
CLASSES = SCORES.argmax(axis=1)
FORMS = {"dense": np.ascontiguousarray, "csr": sparse.csr_array, "csc": sparse.csc_array, "list": np.ndarray.tolist}
KINDS = {
    **{kind: [L2(), Scaled()] for kind in FAMILIES},
    PredtronClassifier: [L2(), Scaled(), PNorm(q=8), Group(q=4), RKHS(gamma=0.1)],
}
CASES = [(kind, norm) for kind, norms in KINDS.items() for norm in norms]


def with_zeros(rows):
    """The rows with zeros in the features that they lack."""
    return np.hstack([rows, np.zeros((len(rows), NEW - rows.shape[1]))])


def begun(kind, norm):
    """A model that has learned from narrow rows, and then from wide ones."""
    y, given, first = lesson(kind, SCORES)
    more = dict.fromkeys(given, "one")
    model = kind(norm=norm).partial_fit(X[:20, :OLD], y[:20], **more, **first)
    return model.widen(n_features=NEW).partial_fit(X[20:40], y[20:40], **more), y, more


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(("kind", "norm"), CASES, ids=str)
@pytest.mark.filterwarnings("ignore:X is CSR, and the first rows were dense")
def test_as_rows_with_zeros(kind, norm, form):
    model, y, more = begun(kind, norm)
    shown = more if kind is PredtronSequenceTagger else {}
    known = deepcopy(model)
    for width in (OLD, NEW - 1, NEW):
        rows = X[40:, :width]
        given, wide = form(rows), sparse.csr_array(with_zeros(rows)) if "sparse" in str(form) else with_zeros(rows)
        np.testing.assert_array_equal(model.predict(given, **shown), known.predict(wide, **shown))
        model.partial_fit(given, y[40:], **more)
        known.partial_fit(wide, y[40:], **more)
    if isinstance(norm, RKHS):
        np.testing.assert_array_equal(model.dual_coef_, known.dual_coef_)
    else:
        np.testing.assert_array_equal(model.coef_, known.coef_)
        np.testing.assert_array_equal(model.last_intercept_, known.last_intercept_)
    assert (model.t_, model.cumulative_loss_) == (known.t_, known.cumulative_loss_)


@pytest.mark.parametrize("width", [1, OLD - 1, NEW + 1])
def test_other_widths_are_refused_as_before(width):
    model, *_ = begun(PredtronClassifier, "l2")
    before, rows = state(model), np.ones((3, width))
    for call in (lambda: model.predict(rows), lambda: model.partial_fit(rows, [0, 1, 2]), lambda: model.explain(rows)):
        with pytest.raises(ValueError, match=f"X has {width} features, but PredtronClassifier is expecting 7 features"):
            call()
    assert state(model) == before


def test_narrow_rows_are_refused_of_a_model_that_was_never_widened():
    model = PredtronClassifier().fit(X, CLASSES).widen(n_features=NEW)
    with pytest.raises(ValueError, match="X has 4 features, but PredtronClassifier is expecting 7"):
        model.predict(X[:, :OLD])
    model, *_ = begun(PredtronClassifier, "l2")
    model.fit(X, CLASSES)  # which begins anew
    with pytest.raises(ValueError, match="X has 4 features, but PredtronClassifier is expecting 7"):
        model.predict(X[:, :OLD])
    with pytest.raises(ValueError, match="expecting 5"):
        PredtronClassifier().fit(X[:, :5], CLASSES).widen(classes=[9]).predict(X[:, :OLD])


def test_what_is_saved_or_copied_reads_them_too():
    model, *_ = begun(PredtronClassifier, "l2")
    expected = model.predict(X[:, :OLD])
    for other in (pickle.loads(pickle.dumps(model)), deepcopy(model)):
        np.testing.assert_array_equal(other.predict(X[:, :OLD]), expected)
        assert state(other.partial_fit(X[:, :OLD], CLASSES)) == state(deepcopy(model).partial_fit(X[:, :OLD], CLASSES))
        np.testing.assert_array_equal(other.widen(n_features=NEW + 2).predict(X[:, :OLD]), other.predict(X[:, :OLD]))
    with pytest.raises(ValueError, match="expecting 7"):
        clone(model).fit(X, CLASSES).predict(X[:, :OLD])


@pytest.mark.parametrize("first", [0, NEW, "4", True])
def test_a_saved_number_of_columns_that_cannot_be_is_refused(first):
    packed = begun(PredtronClassifier, "l2")[0]._model.packed()
    last = dict(packed["parts"][-1])
    last["state"] = [[name, [*value[:-1], first] if name == "columns" else value] for name, value in last["state"]]
    with pytest.raises(ValueError, match="damaged: TypeError: where a number of columns below 7 is expected"):
        Model.unpacked({**packed, "parts": [*packed["parts"][:-1], last]})


def test_a_fit_goes_on_with_narrow_rows():
    start = PredtronClassifier(norm="l2", warm_start=True, random_state=0, cv=0).fit(X, CLASSES).widen(n_features=NEW + 1)
    known = deepcopy(start).fit(np.hstack([X, np.zeros((N_NARROW, 1))]), CLASSES)
    assert state(start.fit(X, CLASSES)) == state(known)


def test_a_mean_of_learners_reads_them():
    mixed = ParameterMixing(PredtronClassifier(norm="l2"), n_jobs=1).fit(X[:, :OLD], CLASSES).estimator_
    expected = mixed.predict(X[:, :OLD])
    np.testing.assert_array_equal(mixed.widen(n_features=NEW).predict(X[:, :OLD]), expected)


def test_measures_and_explanations_read_them():
    model, *_ = begun(PredtronClassifier, "l2")
    narrow, wide = X[:, :OLD], with_zeros(X[:, :OLD])
    assert model.score(narrow, CLASSES) == model.score(wide, CLASSES) and model.margin(narrow, CLASSES) == model.margin(
        wide, CLASSES
    )
    np.testing.assert_array_equal(model.explain(narrow).values, model.explain(wide).values)


def test_single_precision_and_the_rows_given_are_kept():
    model, *_ = begun(PredtronClassifier, "l2")
    rows = sparse.csr_matrix(X[:, :OLD].astype(np.float32))
    before = rows.copy()
    wide = sparse.csr_matrix(with_zeros(rows.toarray()).astype(np.float32))
    np.testing.assert_array_equal(model.decision_function(rows), model.decision_function(wide))
    assert rows.shape == before.shape and (rows != before).nnz == 0


def test_names_of_columns_are_wanted_as_before():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdefg"))
    model = PredtronClassifier().fit(frame[list("abcd")], CLASSES).widen(list("abcdefg")).partial_fit(frame, CLASSES)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[list("abcd")])
    plain, *_ = begun(PredtronClassifier, "l2")
    with pytest.warns(UserWarning, match="X has feature names, but PredtronClassifier was fitted without"):
        found = plain.predict(frame[list("abcd")])
    np.testing.assert_array_equal(found, plain.predict(X[:, :OLD]))
