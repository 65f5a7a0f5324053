"""Calls of other packages with estimators of this one: each test runs where its package is installed.

A job of each week installs them all (the step neighbours of .ci/full).
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier

X, Y = make_classification(600, n_informative=6, n_classes=2, weights=[0.8], random_state=0)
TRAIN, TEST = slice(0, 400), slice(400, None)


def needs(name):
    return pytest.importorskip(name, reason=f"{name} is not installed, as in most environments")


def fitted(**parameters):
    return PredtronBinaryClassifier(random_state=0, **parameters).fit(X[TRAIN], Y[TRAIN])


def test_mapie_makes_sets_of_labels():
    classification = needs("mapie.classification")
    conformal = classification.SplitConformalClassifier(fitted(), confidence_level=0.9, prefit=True)
    _, sets = conformal.conformalize(X[400:500], Y[400:500]).predict_set(X[500:])
    assert sets[np.arange(100), Y[500:], 0].mean() > 0.8


def test_crepes_calibrates_sets_of_labels():
    crepes = needs("crepes")
    wrapped = crepes.WrapClassifier(PredtronBinaryClassifier(random_state=0))
    wrapped.fit(X[TRAIN], Y[TRAIN])
    wrapped.calibrate(X[400:500], Y[400:500])
    sets = wrapped.predict_set(X[500:], confidence=0.9)
    assert np.mean([label in found for label, found in zip(Y[500:], sets, strict=True)]) > 0.8


@pytest.mark.filterwarnings("ignore:Setting an?")  # by fairlearn itself
def test_fairlearn_measures_groups_and_reduces_differences():
    metrics, reductions = needs("fairlearn.metrics"), needs("fairlearn.reductions")
    group = np.where(X[:, 0] > 0, "a", "b")
    frame = metrics.MetricFrame(
        metrics=metrics.selection_rate, y_true=Y[TEST], y_pred=fitted().predict(X[TEST]), sensitive_features=group[TEST]
    )
    assert frame.by_group.shape == (2,)
    fair = reductions.ExponentiatedGradient(
        PredtronBinaryClassifier(decision="learned", random_state=0), reductions.DemographicParity(), max_iter=3
    )
    fair.fit(X[TRAIN], Y[TRAIN], sensitive_features=group[TRAIN])
    assert set(fair.predict(X[TEST], random_state=0)) <= {0, 1}


def test_imbalanced_learn_resamples_before_a_fit():
    over_sampling, pipeline = needs("imblearn.over_sampling"), needs("imblearn.pipeline")
    model = pipeline.make_pipeline(over_sampling.RandomOverSampler(random_state=0), PredtronBinaryClassifier(random_state=0))
    assert model.fit(X[TRAIN], Y[TRAIN]).score(X[TEST], Y[TEST]) > 0.7


def test_shap_explains_the_score():
    shap = needs("shap")
    model = fitted(features=None)
    explained = shap.Explainer(model.decision_function, X[:50], algorithm="permutation", seed=0)(X[400:403])
    total = explained.values.sum(axis=1) + explained.base_values
    np.testing.assert_allclose(total, model.decision_function(X[400:403]), rtol=1e-6, atol=1e-6)


def test_skrub_makes_tables_of_numbers():
    skrub = needs("skrub")
    table = pd.DataFrame(X[:, :4], columns=list("abcd")).assign(kind=np.where(X[:, 0] > 0, "up", "down"))
    model = make_pipeline(skrub.TableVectorizer(), PredtronBinaryClassifier(random_state=0))
    assert model.fit(table[TRAIN], Y[TRAIN]).score(table[TEST], Y[TEST]) > 0.6


def test_skore_reports():
    skore = needs("skore")
    report = skore.EstimatorReport(fitted(), X_test=X[TEST], y_test=Y[TEST])
    assert report.metrics.accuracy() == pytest.approx(fitted().score(X[TEST], Y[TEST]))


def test_empulse_decides_by_our_probabilities():
    models = needs("empulse.models")
    threshold = models.CSThresholdClassifier(PredtronBinaryClassifier(random_state=0), calibrator=None, random_state=0)
    threshold.fit(X[TRAIN], Y[TRAIN])
    found = threshold.predict(X[TEST], fn_cost=np.full(200, 20.0), fp_cost=np.ones(200))
    by_costs = fitted().predict(X[TEST], costs={(1, 0): 20.0, (0, 1): 1.0})
    assert (found == by_costs).mean() > 0.95


def test_scikit_activeml_asks_for_labels():
    pool, classifier = needs("skactiveml.pool"), needs("skactiveml.classifier")
    labels = Y[TRAIN].astype(float).copy()
    labels[60:] = np.nan
    model = classifier.SklearnClassifier(PredtronClassifier(random_state=0), classes=[0, 1])
    asked = pool.UncertaintySampling(random_state=0).query(X[TRAIN], labels, clf=model)
    assert 60 <= asked[0] < 400


def test_polars_frames_are_tables():
    polars = needs("polars")
    table = polars.DataFrame(X[:, :4], schema=list("abcd"))
    model = PredtronBinaryClassifier(random_state=0).fit(table[:400], Y[TRAIN])
    assert list(model.feature_names_in_) == list("abcd")
    assert model.score(table[400:], Y[TEST]) > 0.6
