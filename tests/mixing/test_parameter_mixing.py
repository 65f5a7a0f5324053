"""The meta-estimator: what it is to scikit-learn, and what a call leaves behind."""

import copy
import pickle
import signal
import sys

import numpy as np
import pytest
import sklearn
from cases import make_data, needs_scikit_learn
from mixing_cases import families, lesson_for, made
from sklearn.base import clone, is_classifier
from sklearn.linear_model import Perceptron
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
from sklearn_predtron.norms import RKHS
from sklearn_predtron.updates import PassiveAggressive
from tests.mixing.test_shards import bits, functions

CHECKED = [
    ParameterMixing(PredtronClassifier(), shards=2),
    ParameterMixing(PredtronBinaryClassifier(norm="l1"), shards=3),
    ParameterMixing(PredtronMultilabelClassifier(norm="scaled"), shards=4),
    ParameterMixing(PredtronOrdinalClassifier(), shards=1),
]


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
        alone = made(family, max_iter=6, random_state=3, **parameters).fit(lesson.X, lesson.y, **lesson.given)
        for rounds, passes in ((6, 1), (3, 2)):
            estimator = made(family, **parameters)
            mixed = ParameterMixing(estimator, rounds=rounds, passes=passes, shards=1, random_state=3)
            mixed.fit(lesson.X, lesson.y, **lesson.given)
            found = [mixed.estimator_._learner, alone._learner]
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


def test_several_calls_and_a_call_that_fails():
    """Each call is a round over new rows; one that fails changes nothing."""
    X, y = make_data(n=120)
    mixed = ParameterMixing(PredtronClassifier(norm="scaled"), shards=3, random_state=0)
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        mixed.partial_fit(X[:40], y[:40])
    assert vars(mixed).keys() == clone(mixed).__dict__.keys()
    mixed.partial_fit(X[:40], y[:40], classes=range(3)).partial_fit(X[40:80], y[40:80]).partial_fit(functions_of(X[80:], y[80:]))
    assert (mixed.estimator_.t_, len(mixed.loss_curve_), mixed.n_shards_) == (120, 3, 1)
    (moments,) = mixed.estimator_._learner.export()["moments"].values()
    assert moments.rows == 120
    before, model = bits(mixed), mixed.estimator_
    for wrong, message in [
        (lambda: mixed.partial_fit(X, y + 5), "y"),
        (lambda: mixed.partial_fit(X[:, :3], y), "features"),
        (lambda: mixed.partial_fit(X, y, classes=range(4)), "classes"),
        (lambda: mixed.partial_fit(functions_of(X, y), classes=range(4)), "classes=.* is not the same as on the first call"),
        (lambda: mixed.partial_fit(functions_of(X, y), n_features=7), "n_features=7 is not the same as on the first call: 6"),
        (lambda: mixed.partial_fit(functions_of(X, y), y), "y and its like are not accepted beside a list of shards"),
        (lambda: mixed.partial_fit(X, y, n_features=6), "n_features=6 is for a list of shards"),
        (lambda: mixed.fit(X, y, classes=range(3)), "classes=range.* is for a list of shards"),
        (lambda: mixed.set_params(rounds=0).fit(X, y), "rounds=0 must be an integer of at least 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            wrong()
        assert bits(mixed) == before
        assert mixed.estimator_ is model


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


def test_an_interrupt_within_arrays(monkeypatch):
    X, y = make_data(n=90)
    expected = bits(ParameterMixing(PredtronClassifier(), rounds=2, shards=3, random_state=0).fit(X, y))
    mixed, calls = ParameterMixing(PredtronClassifier(), rounds=5, shards=3, random_state=0), []
    round_of = mixed._side_by_side

    def interrupted(*given):
        calls.append(0)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return round_of(*given)

    monkeypatch.setattr(mixed, "_side_by_side", interrupted)
    with pytest.raises(KeyboardInterrupt):
        mixed.fit(X, y)
    assert bits(mixed) == expected
    assert mixed.estimator_.n_iter_ == 2


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (PredtronClassifier(average=20.0), "average=20.0 cannot be mixed, for shards have no order; accepted are None, 'linear'"),
        (PredtronClassifier(average="auto"), "average='auto' cannot be mixed"),
        (PredtronClassifier(average=True), "average=True cannot be mixed"),
        (PredtronClassifier(norm="rkhs"), "norm='rkhs' cannot be mixed: its support grows with every shard"),
        (PredtronClassifier(norm=RKHS(budget=5)), "norm='rkhs' cannot be mixed"),
        (Perceptron(), r"estimator=Perceptron\(\) is not an estimator of this package"),
    ],
)
def test_what_cannot_be_mixed(estimator, message):
    X, y = make_data(n=30)
    mixed = ParameterMixing(estimator)
    for learn in (lambda: mixed.fit(X, y), lambda: mixed.partial_fit(X, y, classes=range(3))):
        with pytest.raises(ValueError, match=message):
            learn()
    assert not hasattr(mixed, "estimator_")


def test_thresholds_are_found_of_all_shards():
    """The observers of all shards are pooled; a cut that `fit` chooses by its rows is chosen by all of them."""
    X, y = make_data(k=2, n=400, noise=2.0)
    y = ((y == 0) & (np.arange(400) % 3 == 0)).astype(int)
    for estimator in (
        PredtronBinaryClassifier(threshold="f1"),
        PredtronBinaryClassifier(reject=Reject(0.2, -1)),
        PredtronBipartiteClassifier(loss="f1", batch_size=40),
    ):
        for shards in (1, 4):
            mixed = ParameterMixing(estimator, shards=shards, random_state=0).fit(X, y)
            assert len(np.unique(mixed.predict(X))) > 1
        learner = mixed.estimator_._learner
        if learner.observer is not None:
            # Round t of a shard weighs t, as in the average that predicts.
            assert learner.observer.export()["sum"]["seen"].sum() == pytest.approx(4 * 100 * 101 / 2)


def test_labels_with_room_of_their_own():
    """Grades of relevance and sparse sets, which a round writes down, are written by each thread for itself."""
    from scipy import sparse

    random = np.random.default_rng(0)
    X, Y = random.standard_normal((400, 5)), (random.random((400, 30)) < 0.1).astype(int)
    estimator = PredtronMultilabelClassifier()
    found = [
        bits(ParameterMixing(estimator, rounds=2, n_jobs=n_jobs, random_state=0).fit(X, sparse.csr_matrix(Y)))
        for n_jobs in (1, 3)
    ]
    assert found[0] == found[1]
    ranked = [
        bits(ParameterMixing(PredtronLabelRanker(), rounds=2, n_jobs=n_jobs, random_state=0).fit(X, Y)) for n_jobs in (1, 3)
    ]
    assert ranked[0] == ranked[1]


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
    with pytest.raises(ImportError, match=r"cluster= needs dask.distributed: pip install 'sklearn_predtron\[cluster\]'"):
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
    with pytest.warns(UserWarning, match="threshold='auto'"):
        ParameterMixing(model, rounds=1).fit(parts, classes=[0, 1], n_features=X.shape[1])
