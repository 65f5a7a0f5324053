"""What must be as before after a refusal is all that a model has."""

import numpy as np
import pytest
from refusals import X, frozen, y3

from sklearn_predtron import PredtronClassifier
from tests.own_checks import is_same

CHANGES = {
    "weights": lambda model: model.partial_fit(X[:1], [(model.predict(X[:1])[0] + 1) % 3]),
    "loss of the model": lambda model: setattr(model._model, "loss", "absolute"),
    "norm of the model": lambda model: setattr(model._model, "norm", "l2"),
    "record": lambda model: model._model.fit_record.update(n_iter_=3),
    "parameter": lambda model: model.set_params(loss="absolute"),
    "value of a parameter": lambda model: model.set_params(loss=np.array(model.loss)),
    "attribute": lambda model: setattr(model, "more_", 1),
}


@pytest.mark.always
@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_noticed(change):
    model = PredtronClassifier(loss=1 - np.eye(3)).partial_fit(X, y3, classes=[0, 1, 2])
    before = frozen(model)
    assert is_same(frozen(model), before)
    CHANGES[change](model)
    assert not is_same(frozen(model), before)
