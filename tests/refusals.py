"""Data and models on which a user's part is refused, and what must be as before then."""

import numpy as np
import pytest

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from tests import own_checks

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
y3 = np.arange(60) % 3
Y = (X @ RNG.standard_normal((4, 3)) > 0).astype(int)
RELEVANCE = RNG.integers(0, 3, (60, 3))
QID = np.repeat(np.arange(12), 5)
TABLES = (PredtronClassifier, PredtronBinaryClassifier, PredtronOrdinalClassifier)


def frozen(model):
    """All that a model has; its parameters, which need not pickle, are replaced by the identities of their values."""
    other = object.__new__(type(model))
    vars(other).update(vars(model), **{name: id(value) for name, value in model.get_params(deep=False).items()})
    return own_checks.frozen(other)


def refused(make, setting, message, X=X, y=y3, **more):
    """A fresh, a fitted and a streaming model refuse the setting in every call, and stay as they were."""
    with np.errstate(all="ignore"):
        for model in [make(), make().fit(X, y, **more), make().partial_fit(X, y, **more, **first(make, y))]:
            model.set_params(**setting)
            before = frozen(model)
            for learn in [model.fit, model.partial_fit]:
                given = first(make, y) if learn == model.partial_fit else {}
                with pytest.raises(ValueError, match=message):
                    learn(X, y, **more, **given)
                assert own_checks.is_same(frozen(model), before)


def first(make, y):
    """What the first `partial_fit` of a classifier needs."""
    return {"classes": np.unique(y)} if isinstance(make(), TABLES) and np.ndim(y) == 1 else {}


def rankers():
    yield PredtronRanker, X, RELEVANCE[:, 0], {"qid": QID}
    yield PredtronLabelRanker, X, RELEVANCE, {}
