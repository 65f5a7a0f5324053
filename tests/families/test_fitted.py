"""What was learned, as attributes: arrays that cannot be written, as a write would change a copy and no prediction."""

import copy
import pickle

import numpy as np
import pytest
from cases import FAMILIES, Hours, lesson, make_data
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier

from sklearn_predtron import (
    Predtron,
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronOrdinalClassifier,
    PredtronSequenceTagger,
)
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.norms import RKHS, Norm

NORMS = [kind.alias for kind in kinds(Norm)]
COEF = ["coef_", "intercept_", "last_coef_", "last_intercept_"]
EXPANSION = ["intercept_", "last_intercept_", "dual_coef_", "last_dual_coef_", "support_"]
COUNTS = ["t_", "n_mistakes_", "n_updates_", "cumulative_loss_"]


def fitted(norm="l2", average="linear"):
    """Rows, and models of each family with their labels."""
    X, _ = make_data(2, noise=1.0)
    settings = {"norm": norm, "average": average, "random_state": 0, "max_iter": 2}
    models = [(Predtron(Hours(), **settings).fit(X, lesson(PredtronClassifier, X)[0]), lesson(PredtronClassifier, X)[0])]
    for kind in FAMILIES:
        if kind is not PredtronSequenceTagger or norm in ("l2", "scaled"):
            y, given, _ = lesson(kind, X[:, :3])
            ways = ({}, {"representation": "shared"}) if kind is PredtronOrdinalClassifier else ({},)
            models += [(kind(**settings, **how).fit(X, y, **given), y) for how in ways]
    return X, models


@pytest.mark.parametrize("average", ["linear", False])
@pytest.mark.parametrize("norm", NORMS)
def test_arrays_cannot_be_written(norm, average):
    X, models = fitted(norm, average)
    for model, y in models:
        for name in EXPANSION if norm == "rkhs" else COEF:
            values = getattr(model, name)
            if isinstance(values, float):  # a ranker's offset
                continue
            before = values.copy()
            with pytest.raises(ValueError, match="read-only"):
                values[0] = 1
            with pytest.raises(ValueError, match="read-only"):
                values *= 2
            np.testing.assert_array_equal(getattr(model, name), before)
            values.copy()[0] = 1  # a copy is the reader's own
        model.partial_fit(X[:3], y[:3])  # and it learns on


def test_attributes_cannot_be_set():
    for norm in ("l2", RKHS(budget=20)):
        for model, _ in fitted(norm)[1]:
            before = pickle.dumps(model)
            for name in {*COEF, *EXPANSION, *COUNTS, "budget_loss_"}:
                with pytest.raises(AttributeError, match=name):
                    setattr(model, name, np.ones(3))
                with pytest.raises(AttributeError, match=name):
                    delattr(model, name)
            assert pickle.dumps(model) == before


def test_what_was_read_stays_as_it_was():
    X, (_, (model, _), *_) = fitted()
    coef = model.coef_
    before = coef.copy()
    model.partial_fit(X[:20], np.zeros(20, dtype=int))
    np.testing.assert_array_equal(coef, before)
    assert (model.coef_ != before).any()
    for other in (copy.deepcopy(coef), pickle.loads(pickle.dumps(coef))):
        np.testing.assert_array_equal(other, before)


@pytest.mark.slow
def test_tools_that_read_coefficients():
    X, y = make_data(3, noise=1.0)
    Y = np.eye(3, dtype=int)[y]
    for model in (PredtronClassifier(random_state=0), PredtronBinaryClassifier(random_state=0)):
        labels = y if isinstance(model, PredtronClassifier) else y > 0
        chosen = SelectFromModel(model, threshold="median").fit(X, labels)
        assert chosen.transform(X).shape[1] >= X.shape[1] // 2
        assert SelectFromModel(model, max_features=2, importance_getter="last_coef_").fit(X, labels).get_support().sum() <= 2
        assert RFE(model, n_features_to_select=2).fit(X, labels).n_features_ == 2
        assert RFECV(clone(model), cv=3).fit(X, labels).n_features_ >= 1
        assert CalibratedClassifierCV(model, cv=3).fit(X, labels).predict_proba(X).shape == (len(X), len(np.unique(labels)))
        assert BaggingClassifier(model, n_estimators=3, random_state=0).fit(X, labels).score(X, labels) > 0.5
    assert OneVsRestClassifier(PredtronBinaryClassifier()).fit(X, y).score(X, y) > 0.5
    assert MultiOutputClassifier(PredtronBinaryClassifier()).fit(X, Y).predict(X).shape == Y.shape
