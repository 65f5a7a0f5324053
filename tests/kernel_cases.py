"""Every family with every update, to be learned with kernels."""

import numpy as np
import pytest
from cases import data, name, updates
from euclidean import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)

from sklearn_predtron.updates import MMP, ListNet, MaxPair, PRank, Slam


def families():
    """Estimators of every family on rows X, with their labels."""
    X, y = data(n=45, p=9, k=4)
    sets = (X @ np.random.default_rng(1).standard_normal((X.shape[1], 5)) > 0).astype(int)
    relevances = sets * np.random.default_rng(2).integers(1, 4, sets.shape)
    qid = np.repeat(np.arange(9), 5)
    general = [
        (PredtronClassifier, y),
        (PredtronBinaryClassifier, y > 1),
        (PredtronOrdinalClassifier, y),
        (PredtronMultilabelClassifier, sets),
        (PredtronLabelRanker, relevances),
    ]
    found = [(kind(update=update), labels, {}) for kind, labels in general for update in updates()]
    found += [(PredtronOrdinalClassifier(representation="shared", update=update), y, {}) for update in [*updates(), PRank()]]
    found += [(PredtronLabelRanker(update=MMP()), sets, {})]
    found += [(PredtronRanker(update=update), y, {"qid": qid}) for update in [*updates(), Slam(), MaxPair(), ListNet()]]
    return X, found


X, FAMILIES = families()


def families_from(start, step):
    """Every so many of the families with their updates; what one test leaves out, another does not."""
    return pytest.mark.parametrize("number", range(start, len(FAMILIES), step), ids=lambda i: name(FAMILIES[i][0])[8:60])


def scores_of(model, rows):
    return getattr(model, "decision_function", model.predict)(rows)
