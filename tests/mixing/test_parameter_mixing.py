"""The meta-estimator: what it is to scikit-learn, and what a call leaves behind."""

import copy
import pickle
import signal
import sys

import joblib
import numpy as np
import pytest
import sklearn
from cases import make_data, needs_scikit_learn, one_learner
from mixing_cases import families, joint, lesson_for, made
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import dump_svmlight_file
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

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
from sklearn_predtron.callbacks import LossHistory
from sklearn_predtron.losses import Reject
from sklearn_predtron.mixing import ParameterMixing
from sklearn_predtron.updates import PassiveAggressive
from tests.mixing.test_shards import bits, functions

CHECKED = [
    ParameterMixing(PredtronClassifier(), shards=2),
    ParameterMixing(PredtronBinaryClassifier(norm="l1"), shards=3),
    ParameterMixing(PredtronMultilabelClassifier(norm="scaled"), shards=4),
    ParameterMixing(PredtronOrdinalClassifier(), shards=1),
]


@pytest.mark.always(each="estimator")
@parametrize_with_checks(CHECKED)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("family", families(), ids=lambda family: family.__name__)
def test_one_shard_is_the_learner(family):
    """To the last bit, whatever is observed; and of many shards the mixture is another learner."""
    lesson = lesson_for(family)
    for parameters in ({}, {"norm": "scaled"}, {"norm": "l1", "average": "uniform"}):
        if family is PredtronSequenceTagger and parameters.get("norm") == "l1":
            continue  # no norm of sequences
        alone = one_learner(made(family, max_iter=6, random_state=3, **parameters)).fit(lesson.X, lesson.y, **lesson.given)
        for rounds, passes in ((6, 1), (3, 2)):
            estimator = one_learner(made(family, **parameters))
            mixed = ParameterMixing(estimator, rounds=rounds, passes=passes, shards=1, random_state=3)
            mixed.fit(lesson.X, lesson.y, **lesson.given)
            found = [mixed.estimator_._model.learner, alone._model.learner]
            first, second = ([*learner.weights.last(), *learner.weights.mean()] for learner in found)
            assert all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))
            assert mixed.mixed_loss_ == alone.cumulative_loss_
            assert mixed.loss_curve_ == pytest.approx(np.reshape(alone.loss_curve_, (-1, passes)).mean(axis=1).tolist())
            assert str(mixed.estimator_.get_params()) == str(
                {**estimator.get_params(), "average": parameters.get("average", "linear")}
            )


def test_a_search_over_parts_of_the_estimator():
    X, y = make_data(n=120)
    mixed = ParameterMixing(PredtronClassifier(update=PassiveAggressive()), shards=3, rounds=3, random_state=0)
    assert mixed.set_params(estimator__update__C=0.5).estimator.update.C == 0.5
    search = GridSearchCV(mixed, {"estimator__update__C": [1e-6, 1.0], "shards": [2]}, cv=2).fit(X, y)
    assert search.best_params_["estimator__update__C"] == search.best_estimator_.estimator_.update.C
    assert search.best_estimator_.n_shards_ == 2
    assert repr(clone(mixed)) == repr(mixed)
    assert "update=PassiveAggressive(C=0.5)" in repr(mixed)
    assert is_classifier(mixed)
    assert not is_classifier(ParameterMixing(PredtronRanker()))
    assert mixed.estimator.get_params()["update__C"] == 0.5
    assert not hasattr(mixed, "classes_")


def test_copies_and_pickles_go_on():
    X, y = make_data(n=120)
    mixed = ParameterMixing(PredtronClassifier(), shards=3, rounds=2, random_state=0).fit(X, y)
    others = [copy.deepcopy(mixed), pickle.loads(pickle.dumps(mixed))]
    mixed.partial_fit(X, y)
    for other in others:
        assert bits(other.partial_fit(X, y)) == bits(mixed)
    model = pickle.loads(pickle.dumps(mixed.estimator_))
    np.testing.assert_array_equal(model.partial_fit(X, y).predict(X), mixed.estimator_.partial_fit(X, y).predict(X))


def test_only_what_the_estimator_has():
    X, y = make_data(n=90)
    mixed = ParameterMixing(PredtronClassifier(), shards=3, rounds=2, random_state=0)
    assert not hasattr(mixed, "rank")
    assert not hasattr(ParameterMixing(PredtronRanker()), "decision_function")
    assert hasattr(ParameterMixing(PredtronRanker()), "rank")
    mixed.fit(X, y)
    model = mixed.estimator_
    np.testing.assert_array_equal(mixed.predict(X), model.predict(X))
    np.testing.assert_array_equal(mixed.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(mixed.sample_loss(X, y), model.sample_loss(X, y))
    np.testing.assert_array_equal(mixed.classes_, [0, 1, 2])
    assert mixed.margin(X, y) == model.margin(X, y)
    assert mixed.score(X, y) == model.score(X, y)
    lesson = lesson_for(PredtronSequenceTagger)
    tagger = ParameterMixing(PredtronSequenceTagger(), shards=3, rounds=2, random_state=0).fit(lesson.X, lesson.y, **lesson.given)
    np.testing.assert_array_equal(tagger.predict(lesson.X, **lesson.given), tagger.estimator_.predict(lesson.X, **lesson.given))


@needs_scikit_learn("1.8", "scorers route what a meta-estimator's score asks for")
@pytest.mark.parametrize(("family", "name"), [(PredtronRanker, "qid"), (PredtronSequenceTagger, "sid")])
def test_searches_and_pipelines_route_ids(family, name):
    lesson = lesson_for(family)
    X, y, ids = lesson.X, lesson.y, lesson.given[name]
    mixed = ParameterMixing(family(), shards=3, rounds=2, random_state=0)
    alone = copy.deepcopy(mixed).fit(StandardScaler().fit_transform(X), y, **{name: ids})
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), mixed).fit(X, y, groups=ids)
        assert bits(pipeline[-1]) == bits(alone)
        assert pipeline.score(X, y, groups=ids) == alone.estimator_.score(StandardScaler().fit_transform(X), y, **{name: ids})
        search = GridSearchCV(mixed, {"rounds": [1, 2]}, cv=GroupKFold(3)).fit(X, y, groups=ids)
        assert search.best_score_ > 0.2
        with pytest.raises(TypeError, match=name):
            mixed.fit(X, y, **{name: ids})
        weighted = ParameterMixing(PredtronClassifier().set_fit_request(sample_weight=True), rounds=2, random_state=0)
        Z, z = make_data(n=60)
        assert make_pipeline(weighted).fit(Z, z, sample_weight=np.arange(60) % 2)[-1].estimator_.t_ == 60
    found = cross_val_predict(ParameterMixing(PredtronClassifier(), rounds=2), Z, z, cv=2)
    assert found.shape == (60,)


def test_several_calls():
    """Each call is a round over new rows."""
    X, y = make_data(n=120)
    mixed = ParameterMixing(PredtronClassifier(norm="scaled"), shards=3, random_state=0)
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        mixed.partial_fit(X[:40], y[:40])
    assert vars(mixed).keys() == clone(mixed).__dict__.keys()
    mixed.partial_fit(X[:40], y[:40], classes=range(3)).partial_fit(X[40:80], y[40:80]).partial_fit(functions_of(X[80:], y[80:]))
    assert (mixed.estimator_.t_, len(mixed.loss_curve_), mixed.n_shards_) == (120, 3, 1)
    (moments,) = mixed.estimator_._model.learner.export()["moments"].values()
    assert moments.rows == 120


def test_parameters_that_change_between_calls_are_taken_up_or_refused():
    """As those of the estimator alone are."""
    X, y = make_data(n=120)
    mixed = ParameterMixing(PredtronClassifier(), shards=1, rounds=1, random_state=0).partial_fit(X, y, classes=range(3))
    other = copy.deepcopy(mixed)
    other.set_params(estimator__update="perceptron").partial_fit(X, y)
    assert bits(other) != bits(copy.deepcopy(mixed).partial_fit(X, y))
    assert other.estimator_.update == "perceptron"
    for changed, message in [
        ({"estimator__norm": "l1"}, "norm cannot change from"),
        ({"estimator__average": 20.0}, "average=20.0 cannot be mixed"),
        ({"estimator": PredtronBinaryClassifier()}, "PredtronBinaryClassifier.* cannot continue a fitted PredtronClassifier"),
    ]:
        other, before = clone(mixed).set_params(**changed), bits(mixed)
        vars(other).update({name: value for name, value in vars(mixed).items() if name not in vars(other)})
        with pytest.raises(ValueError, match=message):
            other.partial_fit(X, y)
        assert bits(other) == before
        assert other.estimator_ is mixed.estimator_


def test_rounds_of_joint_features_of_shards_go_on():
    model, lesson = joint()
    mixed = ParameterMixing(model, rounds=1, shards=2, random_state=0).fit(lesson.X, lesson.y)
    other = copy.deepcopy(mixed).partial_fit([lambda: (lesson.X, lesson.y)])
    assert bits(mixed.set_params(shards=1).partial_fit(lesson.X, lesson.y))[:1] != bits(other)[:1]
    assert other.estimator_.t_ == mixed.estimator_.t_ == 2 * len(lesson.X)


def test_shards_without_rows_leave_no_dust():
    """Sums that are carried by a mean, or by an exponent, do not come back to the last bit."""
    X, y = make_data(n=90)
    random = np.random.default_rng(0)
    parts = [lambda: (X[:31], y[:31], {"sample_weight": random_weight[:31]}), lambda: (X[31:], y[31:])]
    random_weight = random.random(90)
    found = []
    for n in (0, 2):
        empty = [lambda: (X[:0], y[:0])] * n
        mixed = ParameterMixing(PredtronClassifier(intercept_scaling="auto"), rounds=3, random_state=0)
        found.append(mixed.fit([*parts, *empty], classes=range(3)).estimator_._model.learner.export())
    assert joblib.hash(found[0]) == joblib.hash(found[1])


def test_classes_may_be_named_again_in_any_order():
    X, y = make_data(n=90)
    mixed = ParameterMixing(PredtronOrdinalClassifier(categories=[2, 0, 1]), rounds=1, random_state=0)
    mixed.partial_fit(functions_of(X, y), classes=[0, 1, 2])
    other = copy.deepcopy(mixed).partial_fit(functions_of(X, y))
    assert bits(mixed.partial_fit(functions_of(X, y), classes=[1, 2, 0])) == bits(other)


def test_files_after_arrays_are_looked_through(tmp_path):
    """Whether their indices count from 0 was not known before."""
    X, y = make_data(n=60)
    path = str(tmp_path / "part.svm")
    dump_svmlight_file(X, y, path, zero_based=True)
    mixed = ParameterMixing(PredtronClassifier(), rounds=1, random_state=0).fit(X, y)
    known = copy.deepcopy(mixed).partial_fit([path], zero_based=True)
    assert bits(copy.deepcopy(mixed).partial_fit([path])) == bits(known)
    with pytest.raises(ValueError, match="zero_based=False is not the same as on the first call: True"):
        known.partial_fit([path], zero_based=False)


@pytest.mark.parametrize(
    ("fit", "model", "last"),
    [
        (lambda mixed: mixed.fit(*make_data(k=2, n=120)), PredtronBipartiteClassifier(loss="f1", batch_size=30), 1),
        (lambda mixed: mixed.fit(functions(lesson_for(PredtronRanker), [40])), PredtronRanker(), 1),
        (lambda mixed: mixed.fit(*make_data(n=90)), PredtronClassifier(), 2),
    ],
    ids=["cut", "queries", "arrays"],
)
def test_an_interrupt_between_rounds(fit, model, last, monkeypatch):
    """The mixture is that of the rounds so far: what all rows choose, and whether there were several queries, is known."""
    expected = fit(ParameterMixing(copy.deepcopy(model), rounds=last, shards=3, random_state=0))
    mixed, calls = ParameterMixing(model, rounds=5, shards=3, random_state=0), []
    round_of = mixed._run_in_parallel

    def interrupted(*given):
        calls.append(0)
        if len(calls) > last:
            raise KeyboardInterrupt
        return round_of(*given)

    monkeypatch.setattr(mixed, "_run_in_parallel", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fit(mixed)
    expected.estimator_._model.importances = None  # which are computed when a fit ends
    found, other = ({**mixture.estimator_.__getstate__()} for mixture in (mixed, expected))
    assert joblib.hash(found) == joblib.hash(other) and bits(mixed) == bits(expected)


def functions_of(X, y):
    return [lambda: (X, y)]


class Interrupted:
    """Rows whose third reading is interrupted."""

    def __init__(self, X, y, at):
        self.rows, self.at, self.read = (X, y), at, 0

    def __call__(self):
        self.read += 1
        if self.read == self.at:
            signal.raise_signal(signal.SIGINT)
        return self.rows


@pytest.mark.usefixtures("keyboard")
def test_an_interrupt_leaves_the_last_complete_round():
    X, y = make_data(n=90)
    whole = [Interrupted(X[part], y[part], 0) for part in np.split(np.arange(90), [30, 60])]
    expected = bits(ParameterMixing(PredtronClassifier(), rounds=2, random_state=0).fit(whole, classes=range(3)))
    for at, rounds in ((4, 2), (1, None), (2, None)):  # the first reading is for the learner that all begin with
        shards = [Interrupted(X[:30], y[:30], at), *whole[1:]]
        mixed = ParameterMixing(PredtronClassifier(), rounds=5, random_state=0)
        with pytest.raises(KeyboardInterrupt):
            mixed.fit(shards, classes=range(3))
        assert hasattr(mixed, "estimator_") == (rounds is not None)
        if rounds is not None:
            assert bits(mixed) == expected
            assert mixed.score(X, y) > 0.6


def test_thresholds_are_found_of_all_shards():
    """The observers of all shards are pooled; a cut that `fit` chooses by its rows is chosen by all of them."""
    X, y = make_data(k=2, n=400, noise=2.0)
    y = ((y == 0) & (np.arange(400) % 3 == 0)).astype(int)
    for estimator in (
        PredtronBinaryClassifier(decision="f1"),
        PredtronBinaryClassifier(reject=Reject(0.2, -1)),
        PredtronBipartiteClassifier(loss="f1", batch_size=40),
    ):
        for shards in (1, 4):
            mixed = ParameterMixing(estimator, shards=shards, random_state=0).fit(X, y)
            assert len(np.unique(mixed.predict(X))) > 1
        if not isinstance(estimator, PredtronBipartiteClassifier):
            assert mixed.estimator_._model.learner.observer.recorded == 400


@pytest.mark.parametrize(
    "model",
    [
        PredtronClassifier(reject=Reject(0.3, -1), norm="l2"),
        PredtronBinaryClassifier(decision="f1", norm="l2"),
        PredtronMultilabelClassifier(decision="macro_f1", norm="l2"),
    ],
)
def test_rounds_of_new_rows_judge_the_average_of_all(model):
    """As in a stream; shards that began an average of their own would look worse than the average that predicts."""
    X, y = make_data(k=4, n=400, noise=2.0)
    y = {"PredtronClassifier": y, "PredtronBinaryClassifier": y > 1}.get(type(model).__name__, np.eye(4, dtype=int)[y])
    model.set_params(average="linear", shuffle=False)
    known = {} if y.ndim == 2 else {"classes": np.unique(y)}
    mixed, alone = ParameterMixing(model, random_state=0), clone(model)
    for part in np.split(np.arange(400), 10):
        mixed.partial_fit([lambda part=part: (X[part], y[part])], **known)
        alone.partial_fit(X[part], y[part], **known)
    found, expected = (one._model.learner.observer.rows() for one in (mixed.estimator_, alone))
    for value, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-5, atol=1e-5)
    assert mixed.estimator_.n_mistakes_ == alone.n_mistakes_


def test_labels_with_room_of_their_own():
    """Grades of relevance and sparse sets, which a round writes down, are written by each thread for itself."""
    random = np.random.default_rng(0)
    X, Y = random.standard_normal((400, 5)), (random.random((400, 30)) < 0.1).astype(int)
    for estimator, labels in ((PredtronMultilabelClassifier(), sparse.csr_matrix(Y)), (PredtronLabelRanker(), Y)):
        one, more = (ParameterMixing(estimator, rounds=2, n_jobs=n, random_state=0).fit(X, labels) for n in (1, 3))
        assert bits(one) == bits(more)


def test_shards_are_read_beside_each_other_by_one_estimator():
    """What reading leaves behind, as whether there were several queries, is each shard's own."""
    lesson = lesson_for(PredtronRanker)
    estimator = PredtronRanker()
    mixed = ParameterMixing(estimator, rounds=2, n_jobs=3, random_state=0).fit(functions(lesson, [4, 8, 80]))
    with pytest.raises(ValueError, match="without qid on an estimator that was fitted with several"):
        mixed.score(lesson.X, lesson.y)


def test_a_cluster_needs_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    X, y = make_data(n=30)
    mixed = ParameterMixing(PredtronClassifier(), cluster="tcp://127.0.0.1:1")
    with pytest.raises(ImportError, match=r"^cluster= needs dask.distributed: pip install distributed$"):
        mixed.fit(functions_of(X, y), classes=range(3))
    assert not hasattr(mixed, "estimator_")


def test_what_shards_leave_out_is_said():
    """Callbacks, and the cut of a measure."""
    X, y = make_data(k=2)
    watched = PredtronClassifier().set_callbacks(LossHistory())
    with pytest.warns(UserWarning, match="callbacks"):
        ParameterMixing(watched, shards=2, rounds=1).fit(X, y)
    parts = [lambda: (X[:45], y[:45]), lambda: (X[45:], y[45:])]
    model = PredtronBipartiteClassifier(loss="f1", batch_size=15)
    with pytest.warns(UserWarning, match="decision=None fits the cut"):
        ParameterMixing(model, rounds=1).fit(parts, classes=[0, 1], n_features=X.shape[1])


def noisy(k, n, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 5))
    return X, (X @ np.random.default_rng(1).standard_normal((5, k)) + 1.5 * random.standard_normal((n, k))).argmax(axis=1)


@pytest.mark.parametrize("shards", [2, 5])
@pytest.mark.parametrize(
    ("model", "k"),
    [
        (PredtronBinaryClassifier(loss=[[0, 1], [5, 0]]), 2),
        (PredtronClassifier(reject=0.3), 3),
        (PredtronOrdinalClassifier(loss="squared"), 3),
        (PredtronMultilabelClassifier(), 3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_probabilities_of_a_mixture_are_about_those_of_one_learner(model, k, shards):
    """By log loss and by what decisions cost, on rows that neither has seen; a map that knows nothing loses more."""
    X, y = noisy(k, 3000)
    shown = np.eye(k, dtype=int)[y] if isinstance(model, PredtronMultilabelClassifier) else y
    train, test = slice(0, 1500), slice(1500, None)
    mixed = ParameterMixing(model, shards=shards, rounds=3, random_state=0).fit(X[train], shown[train])
    alone = clone(model).set_params(random_state=0).fit(X[train], shown[train])

    def lost(estimator):
        P = np.asarray(estimator.predict_proba(X[test]))
        assert (np.exp(estimator.predict_log_proba(X[test])) == pytest.approx(P)) and P.min() > 0
        on = shown[test] if shown.ndim == 2 else np.eye(k)[y[test]]
        return -np.log(np.where(on == 1, P, 1 - P) if shown.ndim == 2 else P[on == 1]).mean()

    share = shown[train].mean() if shown.ndim == 2 else np.bincount(y[train]) / 1500
    knows_nothing = (
        -(share * np.log(share)).sum() if shown.ndim == 1 else -(share * np.log(share) + (1 - share) * np.log(1 - share))
    )
    assert lost(mixed) < 1.06 * lost(alone) < 1.06 * knows_nothing
    costs = [estimator.sample_loss(X[test], shown[test]).mean() for estimator in (mixed.estimator_, alone)]
    assert costs[0] < 1.08 * costs[1]


@pytest.mark.parametrize("model", [PredtronBinaryClassifier(loss=[[0, 1], [5, 0]]), PredtronClassifier(reject=0.3)])
def test_probabilities_have_the_same_bits_whoever_learns(model, tmp_path):
    """With one worker and with two, and resumed from a checkpoint after the first of three rounds."""
    X, y = noisy(2 if isinstance(model, PredtronBinaryClassifier) else 3, 600)
    how = {"shards": 3, "random_state": 0}
    expected = ParameterMixing(model, rounds=3, n_jobs=1, **how).fit(X, y)
    ParameterMixing(model, rounds=1, checkpoint=tmp_path / "state", **how).fit(X, y)
    resumed = ParameterMixing(model, rounds=3, checkpoint=tmp_path / "state", **how).fit(X, y)
    for other in (ParameterMixing(model, rounds=3, n_jobs=2, **how).fit(X, y), resumed, pickle.loads(pickle.dumps(expected))):
        np.testing.assert_array_equal(other.predict_proba(X), expected.predict_proba(X))
        np.testing.assert_array_equal(other.predict(X), expected.predict(X))


def test_each_shard_has_an_order_of_its_own_in_each_round(monkeypatch):
    seeds, generator = [], np.random.default_rng
    monkeypatch.setattr("numpy.random.default_rng", lambda seed=None: (seeds.append(seed), generator(seed))[1])
    X, y = make_data()
    ParameterMixing(PredtronClassifier(), shards=3, rounds=4, random_state=0).fit(X, y)
    of_rounds = [tuple(seed) for seed in seeds if isinstance(seed, list)]
    assert len(set(of_rounds)) == len(of_rounds) >= 12
