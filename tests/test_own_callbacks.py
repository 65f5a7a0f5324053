"""`LossHistory` where scikit-learn has no callbacks, as before 1.9: the stand-in is tested under all versions."""

import copy
import pickle

import numpy as np
import pytest
from cases import make_data
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_predtron import PredtronClassifier
from sklearn_predtron._support.compat import OwnCallbackSupport
from sklearn_predtron.callbacks import LossHistory


class Own(OwnCallbackSupport):
    """Goes before what the classifier has, under old versions the same once more."""


class Classifier(Own, PredtronClassifier):
    """A classifier whose callbacks are run by this package."""


def make_model(history=None):
    model = Classifier(random_state=0, max_iter=3)
    return model if history is None else model.set_callbacks(history)


def curve_of_scikit_learn(X, y):
    return LossHistory.curve(PredtronClassifier(random_state=0, max_iter=3).set_callbacks(LossHistory(40)).fit(X, y))


@pytest.mark.parametrize("copied", [lambda model: model, clone, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_fit_is_recorded(copied):
    X, y = make_data(noise=1.0)
    model = copied(make_model(LossHistory(40))).fit(X, y)
    np.testing.assert_array_equal(LossHistory.curve(model), curve_of_scikit_learn(X, y))
    np.testing.assert_array_equal(model.coef_, make_model().fit(X, y).coef_)
    with pytest.raises(ValueError, match="was not recorded"):
        LossHistory.curve(clone(model).set_callbacks().fit(X, y))


def test_tools_hand_the_callback_on():
    X, y = make_data(noise=1.0)
    pipeline = make_pipeline(StandardScaler(), make_model(LossHistory()).set_params(cv=0))
    best = GridSearchCV(pipeline, {"classifier__average": ["linear", False]}, cv=2).fit(X, y).best_estimator_[-1]
    rounds, losses = LossHistory.curve(best)
    assert rounds[-1] == 3 * len(X) and losses[-1] == best.cumulative_loss_


def test_streams_are_recorded():
    X, y = make_data(noise=1.0)
    model = make_model(LossHistory()).partial_fit(X[:1], y[:1], classes=[0, 1, 2]).partial_fit(X[1:], y[1:])
    assert len(LossHistory.curve(model)[0]) == len(X) + 1


def test_sizes_that_differ_are_refused():
    X, y = make_data()
    model = make_model().set_callbacks(LossHistory(10), LossHistory(20))
    with pytest.raises(ValueError, match="are for the same Classifier, which has one record"):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


class Stopping(LossHistory):
    """Its hook at the end of an epoch would not be called."""

    def on_fit_task_end(self, estimator, context):
        return True


@pytest.mark.parametrize("callback", [Stopping(), object(), LossHistory, None], ids=["subclass", "object", "class", "None"])
def test_other_callbacks_need_scikit_learn_1_9(callback):
    history = LossHistory()
    model = make_model(history)
    with pytest.raises(ImportError, match=r"needs scikit-learn 1\.9 or later.*EarlyStopping and LossHistory of"):
        model.set_callbacks(LossHistory(), callback)
    assert model._skl_callbacks == [history]
