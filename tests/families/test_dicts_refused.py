"""Dicts where rows are expected: every estimator says what makes rows of them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer

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
from sklearn_predtron.features import PiecewiseLinear, RandomFourier
from sklearn_predtron.mixing import ParameterMixing

ROWS = [{"a": float(i), "b": i % 3 - 1.0} for i in range(12)]
LABELS, SETS = np.arange(12) % 2, np.eye(2)[np.arange(12) % 2]
CALLS = {
    PredtronBinaryClassifier(): (LABELS, {}, {"classes": [0, 1]}),
    PredtronClassifier(): (LABELS, {}, {"classes": [0, 1]}),
    PredtronClassifier(features="piecewise"): (LABELS, {}, {"classes": [0, 1]}),
    PredtronClassifier(features="fourier"): (LABELS, {}, {"classes": [0, 1]}),
    PredtronOrdinalClassifier(): (LABELS, {}, {"classes": [0, 1]}),
    PredtronMultilabelClassifier(): (SETS, {}, {}),
    PredtronLabelRanker(): (SETS, {}, {}),
    PredtronRanker(): (LABELS, {"qid": "one"}, {"qid": "one"}),
    PredtronBipartiteClassifier(): (LABELS, {}, {"classes": [0, 1]}),
    PredtronSequenceTagger(): (LABELS, {"sid": "one"}, {"sid": "one", "classes": [0, 1]}),
    ParameterMixing(PredtronClassifier()): (LABELS, {}, {"classes": [0, 1]}),
}
FORMS = {"dicts": ROWS, "a dict": ROWS[0], "sentences": [ROWS], "an array": np.array(ROWS), "a tuple": tuple(ROWS)}
REFUSED = r"X holds dicts; .*DictVectorizer and FeatureHasher .*sklearn_predtron\.river\.to_river"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("estimator", CALLS, ids=str)
def test_dicts_are_refused(estimator, form):
    y, fitted, streamed = CALLS[estimator]
    X, n = FORMS[form], len(FORMS[form])
    for method, given in [("fit", fitted), ("partial_fit", streamed)]:
        with pytest.raises(ValueError, match=REFUSED):
            getattr(estimator, method)(X, y[:n], **given)
    assert not hasattr(estimator, "n_features_in_")


@pytest.mark.parametrize("estimator", CALLS, ids=str)
def test_dicts_are_refused_once_rows_were_learned(estimator):
    y, fitted, _ = CALLS[estimator]
    X = DictVectorizer(sparse=False).fit_transform(ROWS)
    estimator = clone(estimator).fit(X, y, **fitted)
    for form in FORMS.values():
        with pytest.raises(ValueError, match=REFUSED):
            estimator.predict(form, **({"sid": "one"} if "sid" in fitted else {}))
        with pytest.raises(ValueError, match=REFUSED):
            estimator.partial_fit(form, y[: len(form)], **fitted)


@pytest.mark.parametrize("made", [PiecewiseLinear(), RandomFourier()], ids=str)
def test_maps_of_features_refuse_them(made):
    for form in FORMS.values():
        with pytest.raises(ValueError, match=REFUSED):
            made.fit(form, LABELS[: len(form)])
