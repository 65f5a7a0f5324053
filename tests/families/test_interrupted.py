"""An interrupt at any instruction leaves the estimator as it was, or complete rounds that every method can use."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from stopped import instructions_of, stopped_at

from sklearn_predtron import PredtronBinaryClassifier, PredtronMultilabelClassifier, PredtronSequenceTagger
from sklearn_predtron.decisions import AtMost, ExpectedCost
from sklearn_predtron.norms import RKHS
from tests.own_checks import is_same

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((560, 3))
Y = (X @ RANDOM.standard_normal((3, 3)) + 0.5 * RANDOM.standard_normal((560, 3)) > 0).astype(int)
BOUNDED = ExpectedCost(subject_to=[AtMost("predicted_rate", 0.7, label=1)])
FEW = slice(0, 60)
CURVE = (np.abs(X[FEW, 0]) > 0.7).astype(int)
FITS = {
    "folds": (PredtronBinaryClassifier(features="auto", loss={(1, 0): 5}, reject=0.2, random_state=0), Y[FEW, 0], {}),
    "a cut": (PredtronBinaryClassifier(features="auto", decision="f1", random_state=0), Y[FEW, 0], {}),
    "bounds": (PredtronBinaryClassifier(features="auto", decision=BOUNDED, random_state=0), Y[FEW, 0], {}),
    "maps": (PredtronBinaryClassifier(features="auto", random_state=0), CURVE, {}),
    "columns": (PredtronBinaryClassifier(features=None, random_state=0), Y[FEW, 0], {}),
    "a map of one model": (PredtronBinaryClassifier(features="auto", average="auto", random_state=0), Y[FEW, 0], {}),
    "a kernel": (PredtronBinaryClassifier(norm=RKHS(), random_state=0), Y[FEW, 0], {"sample_weight": 1.0 + np.arange(60) % 3}),
    "label sets": (PredtronMultilabelClassifier(loss="f1", random_state=0), Y[FEW], {}),
    "refit": (PredtronSequenceTagger(random_state=0), Y[FEW, 0], {"sid": np.arange(60) // 2}),
}


def state_of(model):
    return pickle.dumps(model.__getstate__())


def drawn_places(call, n_draws):
    """Some of the instructions, and the last ones, where a model is handed over."""
    n = instructions_of(call)
    return [*np.random.default_rng(1).integers(1, n, n_draws(12, 60)).tolist(), *range(n - n_draws(40, 300), n, 4)]


@pytest.mark.filterwarnings("ignore")  # of few rows
@pytest.mark.parametrize("fitted_before", [False, True])
@pytest.mark.parametrize("model, y, given", FITS.values(), ids=FITS)
def test_fit_leaves_a_model_that_answers(model, y, given, fitted_before, n_draws):
    start = clone(model).fit(X[FEW][::-1], y[::-1], **given) if fitted_before else model
    whole, before = clone(model).fit(X[FEW], y, **given), state_of(start)
    ids = {name: value for name, value in given.items() if name == "sid"}
    methods = [name for name in ("predict", "predict_proba", "decision_function") if hasattr(whole, name)]
    for place in drawn_places(lambda: clone(model).fit(X[FEW], y, **given), n_draws):
        other = copy.deepcopy(start)
        stopped_at(lambda other=other: other.fit(X[FEW], y, **given), place)
        if not is_same(state_of(other), before):
            for one in (other, copy.deepcopy(other)):
                for name in methods:
                    assert len(getattr(one, name)(X[FEW], **ids)) == 60, place


@pytest.mark.parametrize("rows_before", [0, 300, 499, 520])
def test_a_stream_continues_after_an_interrupt(rows_before, n_draws):
    """Also while its feature map is made, after 500 rows."""
    y, start = Y[:, 0], PredtronBinaryClassifier(features="piecewise")
    if rows_before:
        start.partial_fit(X[:rows_before], y[:rows_before], classes=[0, 1])
    whole = copy.deepcopy(start).partial_fit(X[rows_before:], y[rows_before:], classes=[0, 1])
    for place in drawn_places(
        lambda: copy.deepcopy(start).partial_fit(X[rows_before:], y[rows_before:], classes=[0, 1]), n_draws
    ):
        other = copy.deepcopy(start)
        stopped_at(lambda other=other: other.partial_fit(X[rows_before:], y[rows_before:], classes=[0, 1]), place)
        done = other.t_ if other.__sklearn_is_fitted__() else 0
        other = pickle.loads(pickle.dumps(other))
        if done < len(X):
            other.partial_fit(X[done:], y[done:], classes=[0, 1])
        assert is_same(state_of(other), state_of(whole)), place
