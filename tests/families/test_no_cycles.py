"""What an estimator holds is freed with it: its weights may be gigabytes, and the collector of cycles comes when it likes."""

import gc
import weakref

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
)
from tests.cases import make_data

X, Y = make_data(k=3, n=60)
SETS = np.eye(3, dtype=int)[Y]
COSTS = [[0, 1, 5], [1, 0, 1], [2, 1, 0]]
CASES = [
    (PredtronClassifier(), Y),
    (PredtronClassifier(loss=COSTS), Y),
    (PredtronClassifier(reject=0.2, class_weight={0: 1, 1: 2, 2: 3}), Y),
    (PredtronClassifier(decision="learned"), Y),
    (PredtronBinaryClassifier(decision="f1"), Y > 0),
    (PredtronBinaryClassifier(loss=[[0, 1], [5, 0]], class_weight="balanced"), Y > 0),
    (PredtronOrdinalClassifier(loss="squared"), Y),
    (PredtronMultilabelClassifier(loss="f1"), SETS),
    (PredtronMultilabelClassifier(decision="macro_f1"), SETS),
    (PredtronBipartiteClassifier(), Y > 0),
]


@pytest.mark.parametrize(("model", "y"), CASES, ids=lambda part: repr(part)[:60] if hasattr(part, "fit") else "")
def test_a_model_goes_with_its_estimator(model, y):
    model = clone(model).set_params(max_iter=2, random_state=0)
    gc.collect()
    gc.disable()
    try:
        model.fit(X, y)
        model.predict(X)
        kept = weakref.ref(model._model)
        del model
        assert kept() is None
    finally:
        gc.enable()
