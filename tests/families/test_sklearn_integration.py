"""Classifiers among the tools of scikit-learn and pandas: searches, pipelines, callbacks, data frames."""

import pickle
import warnings

import joblib
import numpy as np
import pytest
import sklearn
from cases import EachEpoch, Hours, make_data, needs_callbacks
from reference.sets import wavy
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import (
    Patience,
    Predtron,
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron.losses import FBeta, PrecisionAtK, Reject
from sklearn_predtron.norms import L2
from sklearn_predtron.representations import Code, SharedThermometer, SignVector
from sklearn_predtron.updates import Adaptive, LossAugmented, LossDriven, PassiveAggressive

# ------------------------------------------------------------------------------------------------------------------ pandas


@pytest.fixture
def frame():
    pandas = pytest.importorskip("pandas")
    X, y = make_data()
    return pandas.DataFrame(X, columns=list("abcdef")), pandas.Series(np.array(["low", "mid", "top"])[y])


def test_frames(frame):
    X, y = frame
    model = PredtronClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.feature_names_in_, list("abcdef"))
    plain = PredtronClassifier(random_state=0).fit(X.to_numpy(), y.to_numpy())
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert model.score(X, y) == plain.score(X.to_numpy(), y)
    categories = PredtronClassifier(random_state=0).fit(X, y.astype("category"))
    np.testing.assert_array_equal(categories.coef_, plain.coef_)
    with pytest.warns(UserWarning, match="X does not have valid feature names, but PredtronClassifier was fitted with"):
        model.predict(X.to_numpy())
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.partial_fit(X.to_numpy()[:1], y[:1].to_numpy())
    with pytest.warns(UserWarning, match="X has feature names, but PredtronClassifier was fitted without"):
        plain.predict(X)
    with pytest.raises(ValueError, match="feature names should match those that were passed during fit"):
        model.predict(X[list("fedcba")])
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(X.rename(columns={"a": "z"}), y)
    with pytest.raises(ValueError, match="X has 5 features, but PredtronClassifier is expecting 6"):
        plain.predict(X.to_numpy()[:, 1:])


def test_frames_as_streams(frame):
    X, y = frame
    whole = PredtronClassifier().partial_fit(X, y, classes=y.unique())
    stream = PredtronClassifier().partial_fit(X[:1], y[:1], classes=y.unique())
    for i in range(1, len(X)):
        stream.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_array_equal(stream.coef_, whole.coef_)


# ------------------------------------------------------------------------------------------- parameters, search, pipelines


GRIDS = {
    "classes": {
        "update": [PassiveAggressive(), PassiveAggressive(variant="pa2")],
        "update__C": [0.01, 1.0],
        "representation": ["onehot", "simplex", Code([[1, 0, 0], [0, 1, 0], [0, 0, 1]])],
        "norm": ["l2", L2()],
        "average": ["linear", "uniform", 10.0, False],
    },
    "updates": {"update": ["adaptive", "predtron", LossAugmented(eta="theory"), LossDriven(), Adaptive(kappa=0.3)]},
    "ranks": {
        "representation": ["thermometer", "shared", SharedThermometer(), "onehot", "simplex"],
        "norm": ["l2", L2()],
        "update__C": [1e-3, 1.0],
        "loss": ["absolute", "squared", "zero_one"],
    },
    "sets": {
        "loss": ["hamming", "f1", FBeta(beta=2), "subset_zero_one", PrecisionAtK(k=2), wavy],
        "representation": ["sign_vector", SignVector()],
        "norm": ["auto", L2()],
        "update__C": [0.01, 1.0],
    },
    "lists": {"update": ["adaptive", "mmp", "slam"], "representation": ["log", "linear"]},
}


@pytest.mark.parametrize("scoring", [None, "f1_samples"])
@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_searches_over_all_parts_in_a_pipeline(name, scoring):
    X, y = make_data(n=60)
    how = {"cv": 0, "max_iter": 2, "random_state": 0, "update": PassiveAggressive(C=1.0)}
    model = {
        "ranks": PredtronOrdinalClassifier(**how),
        "sets": PredtronMultilabelClassifier(**how, decision="learned"),
        "lists": PredtronLabelRanker(**how),
    }.get(name, PredtronClassifier(**how))
    y = y if name not in ("sets", "lists") else np.digitize(X[:, :4], [0.3] if name == "sets" else [-0.5, 0.5])
    pipeline = make_pipeline(StandardScaler(), model)
    grid = {f"{pipeline.steps[-1][0]}__{key}": values for key, values in GRIDS[name].items()}
    scoring = scoring if name == "sets" else None
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise", scoring=scoring).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert len(scores) == np.prod([len(values) for values in grid.values()]) and np.isfinite(scores).all()
    assert len(np.unique(np.round(scores, 12))) > (1 if name == "updates" else 3)
    assert search.best_params_.keys() == grid.keys() and search.predict(X).shape == y.shape
    if scoring is None:
        assert search.score(X, y) == search.best_estimator_.score(X, y) > 0.5
    assert model.update.C == 1.0


def assert_not_set(model, message, **parameters):
    with pytest.raises(ValueError, match=message):
        model.set_params(**parameters)


def test_parameters_inside_an_alias():
    X, y = make_data()
    message = r"update__C=3 cannot be set in an alias; pass update=PassiveAggressive\(C=3\) in place of 'passive_aggressive'"
    assert_not_set(PredtronClassifier(update="passive_aggressive"), message, update__C=3)
    with pytest.raises(ValueError, match=message):
        GridSearchCV(PredtronClassifier(update="passive_aggressive"), {"update__C": [3]}).fit(X, y)
    assert_not_set(
        PredtronClassifier(update=PassiveAggressive()), "update__kappa=1 cannot be", update="adaptive", update__kappa=1
    )
    assert_not_set(PredtronClassifier(update=PassiveAggressive()), "Invalid parameter 'kappa' for estimator Pa", update__kappa=1)
    assert_not_set(PredtronRanker(), r"loss__k=3 cannot be set in an alias; pass loss=NDCG\(k=3\)", loss__k=3)
    assert_not_set(
        PredtronClassifier(), "reject__cost=.* reject=None has no parameters; pass an instance of Re", reject__cost=0.3
    )
    assert_not_set(
        PredtronClassifier(tol=0.1),
        r"cannot be set: tol=0\.1 has no parameters; pass an instance of Pat",
        tol__n_iter_no_change=3,
    )
    model = PredtronClassifier(update="adaptive").set_params(update=PassiveAggressive(), update__C=3)
    assert model.update.C == 3


def test_booleans_of_numpy():
    X, y = make_data()
    model = PredtronClassifier(average=np.False_, fit_intercept=np.True_, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, PredtronClassifier(average=False, random_state=0).fit(X, y).coef_)


def test_changes_in_mid_stream_that_take_effect():
    X, y = make_data()
    for parameters in [
        {"loss": {(0, 1): 5.0}, "decision": "learned"},
        {"class_weight": {0: 4.0}},
        {"update": "loss_driven"},
        {"average": 5.0},
    ]:
        for one_by_one in [False, True]:
            model = PredtronClassifier().partial_fit(X[:40], y[:40], classes=[0, 1, 2])
            unchanged = PredtronClassifier().partial_fit(X, y, classes=[0, 1, 2])
            model.set_params(**parameters)
            if one_by_one:
                for i in range(40, len(X)):
                    model.partial_fit(X[i : i + 1], y[i : i + 1])
            else:
                model.partial_fit(X[40:], y[40:])
            assert model.t_ == unchanged.t_ and not np.array_equal(model.coef_, unchanged.coef_), parameters


def test_warm_start():
    X, y = make_data(noise=3.0)
    once = PredtronClassifier(norm="l2", max_iter=6, shuffle=False, cv=0).fit(X, y)
    twice = PredtronClassifier(norm="l2", max_iter=3, shuffle=False, warm_start=True, cv=0).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(twice.coef_, once.coef_)
    assert (twice.t_, twice.n_iter_, len(twice.loss_curve_)) == (once.t_, 3, 3)
    assert twice.loss_curve_ == once.loss_curve_[3:]
    anew = twice.set_params(warm_start=False, max_iter=6).fit(X, y)
    np.testing.assert_array_equal(anew.coef_, once.coef_)
    with pytest.raises(ValueError, match="y contains labels that are not in classes_"):
        twice.set_params(warm_start=True).fit(X, y + 1)
    with pytest.raises(ValueError, match="X has 5 features, but PredtronClassifier is expecting 6"):
        twice.fit(X[:, 1:], y)


def test_epochs_and_loss_curve():
    X, y = make_data(noise=3.0)
    model = PredtronClassifier(random_state=0, cv=0).fit(X, y)
    assert model.n_iter_ == len(model.loss_curve_) == 10
    assert model.t_ == 10 * len(X)
    assert sum(model.loss_curve_) * len(X) == pytest.approx(model.cumulative_loss_)
    assert model.cumulative_loss_ == model.n_mistakes_ <= model.n_updates_ <= model.t_
    assert PredtronClassifier(max_iter=3, cv=0).fit(X, y).n_iter_ == 3
    X, y = make_data(noise=0.0, n=20)
    done = PredtronClassifier(update="perceptron", max_iter=1000, random_state=0, cv=0).fit(X, y)
    assert done.n_iter_ < 1000 and done.loss_curve_[-1] == 0 < done.loss_curve_[0]


def test_tol():
    X, y = make_data(noise=3.0, n=300)
    long = PredtronClassifier(max_iter=50, random_state=0).fit(X, y)
    curve = long.loss_curve_
    for tol, patience in [(0.02, 5), (0.005, 5), (0.0, 5), (0.0, 1), (0.0, 3), (0.02, 2)]:
        given = tol if patience == 5 else Patience(tol, n_iter_no_change=patience)
        short = PredtronClassifier(max_iter=50, tol=given, random_state=0).fit(X, y)
        better = [i == 0 or curve[i] < min(curve[:i]) - tol for i in range(50)]
        ends = [i + 1 for i in range(patience, 50) if not any(better[i - patience + 1 : i + 1])]
        assert short.n_iter_ == ends[0] < 50
        assert short.loss_curve_ == curve[: short.n_iter_]
    assert PredtronClassifier(max_iter=50, tol=1.0).fit(X, y).n_iter_ == 6
    assert PredtronClassifier(max_iter=50, tol=Patience(1.0, 1)).fit(X, y).n_iter_ == 2


def test_a_search_over_patience():
    X, y = make_data(noise=3.0)
    model = PredtronClassifier(tol=Patience(0.01), max_iter=20, random_state=0)
    epochs = [clone(model).set_params(tol__n_iter_no_change=n).fit(X, y).n_iter_ for n in (1, 3, 5)]
    assert epochs == sorted(epochs) and epochs[0] < epochs[-1]


def test_shuffle_and_seeds():
    X, y = make_data(noise=3.0)
    coef = [PredtronClassifier(random_state=seed, cv=0).fit(X, y).coef_ for seed in (0, 0, 1, np.random.RandomState(0))]
    np.testing.assert_array_equal(coef[0], coef[1])
    np.testing.assert_array_equal(coef[0], coef[3])
    assert not np.array_equal(coef[0], coef[2])
    in_order = PredtronClassifier(norm="l2", shuffle=False, max_iter=1, cv=0).fit(X, y)
    stream = PredtronClassifier(norm="l2", average="linear", cv=0).partial_fit(X, y, classes=[0, 1, 2])
    np.testing.assert_array_equal(in_order.coef_, stream.coef_)


def test_pipelines_and_cross_validation():
    X, y = make_data(noise=0.3, n=300)
    pipeline = make_pipeline(StandardScaler(), PredtronClassifier(random_state=0))
    assert pipeline.fit(X, y).score(X, y) > 0.8
    scores = cross_val_score(pipeline, X, y, cv=3)
    assert scores.shape == (3,) and scores.min() > 0.75
    sparsely = make_pipeline(StandardScaler(with_mean=False), PredtronClassifier(random_state=0))
    np.testing.assert_allclose(cross_val_score(sparsely, sparse.csr_array(X), y, cv=3), cross_val_score(sparsely, X, y, cv=3))
    with joblib.parallel_config(backend="threading", n_jobs=2):
        in_parallel = cross_val_score(PredtronClassifier(random_state=0), X, y, cv=3)
    np.testing.assert_array_equal(in_parallel, cross_val_score(PredtronClassifier(random_state=0), X, y, cv=3))


def test_calibrated_probabilities():
    X, y = make_data(n=300)
    for kind, labels in [(PredtronClassifier, y), (PredtronBinaryClassifier, y > 0), (PredtronClassifier, y > 0)]:
        calibrated = CalibratedClassifierCV(kind(random_state=0), cv=3).fit(X, labels)
        probability = calibrated.predict_proba(X)
        assert probability.shape == (len(X), len(np.unique(labels)))
        np.testing.assert_allclose(probability.sum(axis=1), 1)
        assert calibrated.score(X, labels) > 0.6


def test_clone_repr_and_html():
    model = PredtronClassifier(update=PassiveAggressive(C=0.1), loss=np.array([[0, 2], [1, 0]]), reject=Reject(0.1, -1))
    copy = clone(model)
    assert copy.update is not model.update and copy.update.C == 0.1
    assert repr(model).startswith("PredtronClassifier(loss=array([[0, 2],")
    for estimator in [model, Predtron(Hours()), make_pipeline(StandardScaler(), PredtronClassifier())]:
        html = estimator._repr_html_()
        assert "Predtron" in html and "<div" in html
    assert "PassiveAggressive" in model._repr_html_()


def test_metadata_routing():
    X, y = make_data(n=120)
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        model = PredtronClassifier(random_state=0, cv=0).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        model.set_partial_fit_request(sample_weight=True, classes=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model).fit(X, y, sample_weight=weight)
        scaled = StandardScaler().fit_transform(X)
        alone = PredtronClassifier(random_state=0, cv=0).fit(scaled, y, sample_weight=weight)
        np.testing.assert_array_equal(pipeline[-1].coef_, alone.coef_)
        assert pipeline.score(X, y, sample_weight=weight) == alone.score(scaled, y, sample_weight=weight)
        search = GridSearchCV(model, {"average": ["linear", False]}, cv=2).fit(X, y, sample_weight=weight)
        assert search.best_estimator_.t_ == search.best_estimator_.n_iter_ * np.sum(weight > 0)


# --------------------------------------------------------------------------------------------------------------- callbacks


@needs_callbacks
def test_callbacks_see_every_epoch():
    X, y = make_data(noise=3.0)
    seen = []
    watcher = EachEpoch(lambda model: seen.append((model.n_iter_, len(model.loss_curve_))))
    model = PredtronClassifier(random_state=0, cv=0).set_callbacks(watcher).fit(X, y)
    assert seen == [(i, i) for i in range(1, 11)]
    np.testing.assert_array_equal(model.coef_, PredtronClassifier(random_state=0, cv=0).fit(X, y).coef_)


@needs_callbacks
def test_a_callback_may_stop_the_fit():
    X, y = make_data(noise=3.0)
    model = PredtronClassifier(random_state=0).set_callbacks(EachEpoch(lambda model: model.n_iter_ == 3)).fit(X, y)
    short = PredtronClassifier(random_state=0, max_iter=3).fit(X, y)
    assert model.n_iter_ == len(model.loss_curve_) == 3
    np.testing.assert_array_equal(model.coef_, short.coef_)


def fail_in_the_second(model):
    if model.n_iter_ == 2:
        raise RuntimeError("enough")


@needs_callbacks
def test_a_callback_that_fails_leaves_a_usable_model():
    X, y = make_data(noise=3.0)
    model = PredtronClassifier(random_state=0).fit(X + 1, 2 - y)
    with pytest.raises(RuntimeError, match="enough"):
        model.set_callbacks(EachEpoch(fail_in_the_second)).fit(X, y)
    short = PredtronClassifier(random_state=0, max_iter=2).fit(X, y)
    np.testing.assert_array_equal(model.coef_, short.coef_)
    for learner in [model, short]:
        for i in range(len(X)):
            learner.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_array_equal(model.coef_, short.coef_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), short.predict(X))
    assert model.set_callbacks().fit(X, y).n_iter_ == 10


@needs_callbacks
def test_progress_bar(capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    X, y = make_data()
    model = PredtronClassifier(random_state=0).set_callbacks(ProgressBar()).fit(X, y)
    assert "PredtronClassifier" in capsys.readouterr().out
    np.testing.assert_array_equal(model.coef_, PredtronClassifier(random_state=0).fit(X, y).coef_)


@needs_callbacks
def test_scoring_monitor():
    from sklearn.callback import ScoringMonitor

    X, y = make_data(noise=2.0)
    monitor = ScoringMonitor(scoring="accuracy")
    model = PredtronClassifier(random_state=0, max_iter=4).set_callbacks(monitor).fit(X, y)
    scores = [entry["accuracy"] for entry in monitor.get_logs().data if entry["task_name"] == "epoch"]
    by_epochs = [PredtronClassifier(random_state=0, max_iter=n).fit(X, y).score(X, y) for n in (1, 2, 3, 4)]
    assert scores == by_epochs and len(set(by_epochs)) > 1
    assert model.n_iter_ == 4


def test_no_warnings_from_ordinary_use():
    X, y = make_data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for form in [X, X.astype(np.float32), sparse.csr_array(X), sparse.csr_matrix(X)]:
            for kind, labels in [(PredtronClassifier, y), (PredtronBinaryClassifier, y > 0)]:
                model = kind(random_state=0).fit(form, labels)
                model.partial_fit(form, labels).predict(form)
                model.score(form, labels)
