"""`EarlyStopping`: the estimator that `fit` leaves is that of the epoch that held-out rows liked best, to the last bit."""

import copy
import gc
import pickle
import weakref

import joblib
import numpy as np
import pytest
from cases import Hours, make_data, needs_callbacks, one_learner
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sklearn_predtron
from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronRanker, PredtronSequenceTagger
from sklearn_predtron._support.compat import OwnCallbackSupport
from sklearn_predtron.callbacks import EarlyStopping, LossHistory
from sklearn_predtron.datasets import make_ranking_queries, make_sequences
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.families.training import runs, trainer
from sklearn_predtron.losses import Reject
from sklearn_predtron.metrics import ndcg_scorer, token_scorer
from sklearn_predtron.norms import RKHS
from sklearn_predtron.updates import PerceptronUpdate
from tests.own_checks import data as labelled

# A cut is fitted once the epochs are over, and so is not that of the validation between them.
GIVEN = {"Predtron": {"problem": Hours()}, "PredtronBipartiteClassifier": {"decision": 0}}
FAMILIES = [
    getattr(sklearn_predtron, name)(**GIVEN.get(name, {})) for name in sklearn_predtron.__all__ if name.startswith("Predtron")
]
NORMS = ["l1", "group", "trace", "scaled", "rkhs", RKHS(budget=10)]


class Own(OwnCallbackSupport):
    """Runs callbacks as where scikit-learn has none."""


class OwnClassifier(Own, PredtronClassifier):
    """A classifier whose callbacks are run by this package."""


def parts(estimator):
    """Rounds to learn from, and rounds that are held out."""
    data = labelled.make_data(estimator)
    cut = 2 * data.n // 3
    held_out = data.rows(slice(cut, data.n))
    beside = [data.ids[held_out]] if isinstance(data, labelled.GroupedData) else []
    return data, slice(0, cut), (data.X[held_out], data.y[held_out], *beside)


def of_epochs(estimator, data, rounds, n, validation):
    """The estimators of 1, ..., n epochs and their mean losses on held-out rows."""
    models = [data.fit(clone(estimator).set_params(max_iter=i + 1), rounds) for i in range(n)]
    beside = {data.ids_name: validation[2]} if len(validation) > 2 else {}
    return models, [float(np.mean(model.sample_loss(*validation[:2], **beside))) for model in models]


def expected_end(values, patience, tol=0.0):
    """The numbers of the epochs at which the fit ends and of the best one, from the values alone, of which least is best."""
    best = 0
    for i, value in enumerate(values):
        if value < values[best] - tol:
            best = i
        if i - best >= patience:
            return i + 1, best + 1
    return len(values), best + 1


def noisy(n=150, seed=0):
    X, y = make_data(n=2 * n, p=20, noise=8.0, seed=seed)
    return X[:n], y[:n], (X[n:], y[n:])


def check_is_of_best_epoch(estimator, patience=2, epochs=12):
    data, rounds, validation = parts(estimator)
    estimator = one_learner(clone(estimator)).set_params(max_iter=epochs)
    models, losses = of_epochs(estimator, data, rounds, epochs, validation)
    model = data.fit(clone(estimator).set_callbacks(EarlyStopping(validation, patience=patience)), rounds)
    end, best = expected_end(losses[: models[-1].n_iter_], patience)
    assert (model.n_iter_, model.best_iter_) == (end, best)
    assert model.validation_scores_ == losses[:end] and model.best_score_ == losses[best - 1]
    assert model.loss_curve_ == models[end - 1].loss_curve_
    assert model.t_ == models[best - 1].t_
    np.testing.assert_array_equal(data.predict(model), data.predict(models[best - 1]))
    for one in (model, models[best - 1]):
        data.learn(one, slice(0, 3))
    np.testing.assert_array_equal(data.predict(model), data.predict(models[best - 1]))
    assert model.cumulative_loss_ == models[best - 1].cumulative_loss_
    return end, best


@pytest.mark.parametrize("estimator", FAMILIES, ids=lambda estimator: type(estimator).__name__)
def test_every_family(estimator):
    assert isinstance(estimator, BasePredtron)
    check_is_of_best_epoch(estimator)


@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize(
    "estimator", [PredtronClassifier(cv=0), PredtronRanker(cv=0)], ids=lambda estimator: type(estimator).__name__
)
def test_every_norm(estimator, norm):
    check_is_of_best_epoch(clone(estimator).set_params(norm=norm), epochs=8)


def test_reject():
    check_is_of_best_epoch(PredtronClassifier(reject=Reject(0.2, -1)))


@pytest.mark.parametrize("settings", [{"decision": "f1"}, {"reject": Reject(0.2, -1)}], ids=str)
def test_folds_learn_the_epochs_that_were_best(monkeypatch, settings):
    """What predicts, and what is on record, is as after a fit of as many epochs as were best."""
    X, y, (X_held, y_held) = noisy()
    y, y_held = (y > 0).astype(int), (y_held > 0).astype(int)
    model, learned = PredtronBinaryClassifier(max_iter=40, random_state=0, **settings), []
    learn = trainer.learn_epoch

    def counted(model, learner, *given, **how):
        learned.append(learner)
        return learn(model, learner, *given, **how)

    for module in [trainer, runs]:
        monkeypatch.setattr(module, "learn_epoch", counted)
    model.set_callbacks(EarlyStopping((X_held, y_held), patience=2)).fit(X, y)
    assert model.best_iter_ < model.n_iter_ < 40 and model.best_score_ == min(model.validation_scores_)
    assert len(learned) == model.n_iter_ + 3 * model.best_iter_
    never = EarlyStopping((X_held, y_held), patience=50)
    short = clone(model).set_callbacks(never).set_params(max_iter=model.best_iter_).fit(X, y)
    np.testing.assert_array_equal(model.predict(X_held), short.predict(X_held))
    assert pickle.dumps(model._model.learner.observer) == pickle.dumps(short._model.learner.observer)


@pytest.mark.parametrize(("patience", "tol"), [(1, 0.0), (3, 0.0), (50, 0.0), (2, 0.02), (1, 1.0)])
def test_patience_and_tol(patience, tol):
    X, y, validation = noisy()
    model = PredtronClassifier(max_iter=30, random_state=0, cv=0)
    plain = [clone(model).set_params(max_iter=i).fit(X, y).sample_loss(*validation).mean() for i in range(1, 31)]
    model.set_callbacks(EarlyStopping(validation, patience=patience, tol=tol)).fit(X, y)
    end, best = expected_end(plain, patience, tol)
    assert (model.n_iter_, model.best_iter_) == (end, best)
    short = clone(model).set_callbacks().set_params(max_iter=best).fit(X, y)
    np.testing.assert_array_equal(model.coef_, short.coef_)
    assert (end, best) == {(1, 1.0): (2, 1)}.get((patience, tol), (end, best))


def test_it_stops_where_held_out_rows_gain_no_more():
    X, y, validation = noisy()
    plain = PredtronClassifier(max_iter=100, random_state=0).fit(X, y)
    stopped = clone(plain).set_callbacks(EarlyStopping(validation)).fit(X, y)
    assert stopped.n_iter_ < 30 and stopped.best_iter_ == stopped.n_iter_ - 5
    assert stopped.sample_loss(*validation).mean() == stopped.best_score_ == min(stopped.validation_scores_)


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss of none", lambda model, X, y: model.score(X, y)])
def test_scorers(scoring):
    """A scorer's larger values are better."""
    X, y, validation = noisy()
    if scoring == "neg_log_loss of none":
        with pytest.raises(ValueError, match="'neg_log_loss of none' is not a valid scoring value"):
            EarlyStopping(validation, scoring=scoring)
        return
    model = PredtronClassifier(max_iter=20, random_state=0).set_callbacks(EarlyStopping(validation)).fit(X, y)
    scored = clone(model).set_callbacks(EarlyStopping(validation, scoring=scoring)).fit(X, y)
    np.testing.assert_allclose(scored.validation_scores_, 1 - np.array(model.validation_scores_))
    assert scored.best_iter_ == model.best_iter_ and scored.best_score_ == max(scored.validation_scores_)


def test_scorers_of_queries():
    X, y, qid = make_ranking_queries(60, std=1.0, random_state=0)
    train, test = qid < 30, qid >= 30
    validation = X[test], y[test], qid[test]
    model = PredtronRanker(max_iter=6, random_state=0).set_callbacks(EarlyStopping(validation, scoring=ndcg_scorer(k=3)))
    model.fit(X[train], y[train], qid=qid[train])
    short = PredtronRanker(max_iter=model.best_iter_, random_state=0, cv=0).fit(X[train], y[train], qid=qid[train])
    np.testing.assert_array_equal(model.coef_, short.coef_)
    assert len(set(model.validation_scores_)) > 1 and max(model.validation_scores_) == model.best_score_


def test_scorers_of_sequences():
    X, y, sid = make_sequences(60, noise=0.5, random_state=0)
    train, test = sid < 30, sid >= 30
    validation = X[test], y[test], sid[test]
    model = PredtronSequenceTagger(max_iter=12, random_state=0)
    model.set_callbacks(EarlyStopping(validation, scoring=token_scorer(accuracy_score), patience=3))
    model.fit(X[train], y[train], sid=sid[train])
    short = PredtronSequenceTagger(max_iter=model.best_iter_, random_state=0).fit(X[train], y[train], sid=sid[train])
    np.testing.assert_array_equal(model.coef_, short.coef_)
    assert short.score(X[test], y[test], sid=sid[test]) == model.best_score_ == max(model.validation_scores_)
    assert len(set(model.validation_scores_)) > 1


def test_sequences_in_a_column():
    pandas = pytest.importorskip("pandas")
    X, y, sid = make_sequences(40, random_state=0)
    frame = pandas.DataFrame(X).rename(columns=str).assign(sid=sid)
    train, test = sid < 20, sid >= 20
    by_column = PredtronSequenceTagger(random_state=0).set_callbacks(EarlyStopping((frame[test], y[test])))
    by_ids = PredtronSequenceTagger(random_state=0).set_callbacks(EarlyStopping((X[test], y[test], sid[test])))
    by_column.fit(frame[train], y[train])
    by_ids.fit(X[train], y[train], sid=sid[train])
    assert by_column.validation_scores_ == by_ids.validation_scores_


def test_ids_in_a_column():
    pandas = pytest.importorskip("pandas")
    X, y, qid = make_ranking_queries(40, random_state=0)
    frame = pandas.DataFrame(X).rename(columns=str).assign(qid=qid)
    train, test = qid < 20, qid >= 20
    by_column = PredtronRanker(random_state=0).set_callbacks(EarlyStopping((frame[test], y[test])))
    by_ids = PredtronRanker(random_state=0).set_callbacks(EarlyStopping((X[test], y[test], qid[test])))
    by_column.fit(frame[train], y[train])
    by_ids.fit(X[train], y[train], qid=qid[train])
    assert by_column.validation_scores_ == by_ids.validation_scores_


def test_a_later_fit_forgets():
    X, y, validation = noisy()
    model = PredtronClassifier(max_iter=20, random_state=0).set_callbacks(EarlyStopping(validation)).fit(X, y)
    model.set_callbacks().fit(X, y)
    for name in ("best_iter_", "best_score_", "validation_scores_"):
        assert not hasattr(model, name)


def test_warm_starts_count_anew():
    X, y, validation = noisy()
    model = PredtronClassifier(max_iter=20, random_state=0, warm_start=True).set_callbacks(EarlyStopping(validation, patience=2))
    first = model.fit(X, y)
    rounds = first.t_
    assert rounds == first.best_iter_ * len(X)
    again = model.fit(X, y)
    assert again.t_ == rounds + again.best_iter_ * len(X) and len(again.validation_scores_) == again.n_iter_


def test_the_record_is_that_of_the_best_epoch():
    X, y, validation = noisy()
    model = PredtronClassifier(max_iter=20, random_state=0).set_callbacks(LossHistory(), EarlyStopping(validation)).fit(X, y)
    rounds, losses = LossHistory.curve(model)
    assert model.best_iter_ < model.n_iter_
    assert rounds[-1] == model.t_ == model.best_iter_ * len(X) and losses[-1] == model.cumulative_loss_


@pytest.mark.parametrize("duplicate", [clone, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies(duplicate):
    X, y, validation = noisy()
    model = PredtronClassifier(max_iter=20, random_state=0).set_callbacks(EarlyStopping(validation)).fit(X, y)
    other = duplicate(model)
    if hasattr(other, "coef_"):
        np.testing.assert_array_equal(other.coef_, model.coef_)
        assert (other.best_iter_, other.best_score_) == (model.best_iter_, model.best_score_)
    np.testing.assert_array_equal(other.fit(X, y).coef_, model.coef_)
    assert other.best_iter_ == model.best_iter_


def test_searches_share_the_callback():
    X, y, validation = noisy()
    callback = EarlyStopping(validation, patience=2)
    model = PredtronClassifier(max_iter=20, random_state=0).set_callbacks(callback)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        search = GridSearchCV(model, {"average": ["linear", False]}, cv=3).fit(X, y)
    best = search.best_estimator_
    alone = PredtronClassifier(max_iter=20, random_state=0, **search.best_params_).set_callbacks(callback).fit(X, y)
    np.testing.assert_array_equal(best.coef_, alone.coef_)
    assert best.best_iter_ == alone.best_iter_ and len(callback._best) == 0


def test_in_a_pipeline_the_rows_are_those_of_the_estimator():
    X, y, (X_test, y_test) = noisy()
    scaler = StandardScaler().fit(X)
    stopping = EarlyStopping((scaler.transform(X_test), y_test), patience=2)
    pipeline = make_pipeline(StandardScaler(), PredtronClassifier(max_iter=20, random_state=0).set_callbacks(stopping)).fit(X, y)
    assert pipeline[-1].best_score_ == pytest.approx(1 - pipeline.score(X_test, y_test))


class InterruptedAt:
    """Interrupts a fit after some epochs."""

    def __init__(self, epoch):
        self.epoch = epoch

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        if estimator.n_iter_ == self.epoch:
            raise KeyboardInterrupt


@needs_callbacks
def test_an_interrupt_leaves_what_was_learned():
    X, y, validation = noisy()
    stopping = EarlyStopping(validation, patience=50)
    model = PredtronClassifier(max_iter=20, random_state=0, cv=0).set_callbacks(stopping, InterruptedAt(15))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.n_iter_ == len(model.validation_scores_) == 15 > model.best_iter_
    np.testing.assert_array_equal(model.coef_, PredtronClassifier(max_iter=15, random_state=0, cv=0).fit(X, y).coef_)
    gc.collect()
    assert len(stopping._best) == 0


def test_the_copy_is_let_go():
    X, y, validation = noisy()
    stopping = EarlyStopping(validation)
    model = PredtronClassifier(max_iter=20, random_state=0).set_callbacks(stopping).fit(X, y)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert len(stopping._best) == 0 and gone() is None


def test_rows_that_do_not_fit_are_refused_before_anything_is_learned():
    X, y, (X_test, y_test) = noisy()
    bad = X_test.copy()
    bad[3, 2] = np.nan
    refused = [
        ((X_test[:, 1:], y_test), "validation: X has 19 features, but PredtronClassifier is expecting 20"),
        ((X_test, y_test[1:]), "validation: X has 150 rows and y has 149"),
        ((X_test, y_test + 7), "validation: y contains labels"),
        ((bad, y_test), "validation: Input X contains NaN"),
        ((X_test[:0], y_test[:0]), "validation: .*0 sample"),
        ((X_test, y_test, y_test), "validation has 3 entries, and PredtronClassifier takes no ids; accepted is"),
    ]
    fitted = PredtronClassifier(random_state=0).fit(X + 1, y)
    before = fitted.coef_
    for validation, message in refused:
        for model in (PredtronClassifier(random_state=0), fitted):
            with pytest.raises(ValueError, match=message):
                model.set_callbacks(EarlyStopping(validation)).fit(X, y)
        np.testing.assert_array_equal(fitted.coef_, before)
        assert not hasattr(fitted, "validation_scores_")
    X, y, qid = make_ranking_queries(20, random_state=0)
    with pytest.raises(ValueError, match=r"validation has no qid, the query of each row; accepted are \(X, y, qid\), a column"):
        PredtronRanker().set_callbacks(EarlyStopping((X, y))).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="validation: qid has 3 entries and X has"):
        PredtronRanker().set_callbacks(EarlyStopping((X, y, qid[:3]))).fit(X, y, qid=qid)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda X, y, sid: (X, y),
            r"validation has no sid, the sequence of each row; accepted are \(X, y, sid\), a column 'sid' of",
        ),
        (lambda X, y, sid: (X, y, sid[:3]), "validation: sid has 3 entries and X has"),
        (lambda X, y, sid: (X, y[1:], sid), "validation: X has .* rows and y has"),
        (lambda X, y, sid: (X, y + 7, sid), "validation: y contains labels"),
        (lambda X, y, sid: (X * np.nan, y, sid), "validation: Input X contains NaN"),
    ],
)
def test_sequences_that_do_not_fit_are_refused_before_anything_is_learned(change, message):
    X, y, sid = make_sequences(20, random_state=0)
    model = PredtronSequenceTagger(random_state=0).set_callbacks(EarlyStopping(change(X, y, sid)))
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, sid=sid)
    assert not hasattr(model, "coef_") and not hasattr(model, "classes_")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"validation": None}, "^validation=None and seconds=None never stop a fit; accepted is one of them, or both"),
        ({"validation": 3}, r"validation=3 .* accepted is a tuple \(X, y\), \(X, y, qid\) for queries or \(X, y, sid\)"),
        ({"seconds": 0}, "^seconds=0 must be a finite number above 0, or None"),
        ({"seconds": "3"}, "^seconds='3' must be a finite number above 0, or None"),
        ({"validation": ([[1.0]],)}, r"validation has 1 entry; accepted is a tuple \(X, y\)"),
        ({"validation": [0, 1, 2, 3]}, r"validation has 4 entries"),
        ({"patience": 0}, "patience=0 must be an integer of at least 1"),
        ({"patience": 2.0}, "patience=2.0 must be an integer of at least 1"),
        ({"patience": True}, "patience=True must be an integer of at least 1"),
        ({"tol": -1e-3}, "tol=-0.001 must be a finite number of at least 0"),
        ({"tol": float("nan")}, "tol=nan must be a finite number of at least 0"),
        ({"tol": None}, "tol=None must be a finite number of at least 0"),
        ({"scoring": 3}, "scoring=3 must be None, the name of a scorer or a callable"),
    ],
)
def test_what_the_constructor_refuses(given, message):
    with pytest.raises(ValueError, match=message):
        EarlyStopping(**{"validation": ([[0.0], [1.0]], [0, 1]), **given})


def test_scores_that_are_no_numbers():
    X, y, validation = noisy()
    for value, said in [(float("nan"), "nan"), ("good", "'good'"), ({"a": 1.0}, "'a'")]:
        model = PredtronClassifier(random_state=0).set_callbacks(EarlyStopping(validation, scoring=lambda *_, v=value: v))
        with pytest.raises(ValueError, match=f"scoring=.* returned .*{said}.*; accepted is a number"):
            model.fit(X, y)


def test_one_is_enough():
    X, y, validation = noisy()
    one, other = EarlyStopping(validation), EarlyStopping(validation, patience=3)
    with pytest.raises(ValueError, match=r"EarlyStopping\(patience=5\) and EarlyStopping\(patience=3\) are for the same"):
        PredtronClassifier().set_callbacks(one, other).fit(X, y)
    with pytest.raises(ValueError, match=r"are for the same PredtronClassifier; set one of them"):
        PredtronClassifier().set_callbacks(one, one).fit(X, y)


@needs_callbacks
def test_other_estimators_are_not_accepted():
    X, y, validation = noisy()
    with pytest.raises(ValueError, match=r"has no epochs to stop; accepted are Predtron estimators"):
        make_pipeline(StandardScaler(), PredtronClassifier()).set_callbacks(EarlyStopping(validation)).fit(X, y)
    with pytest.raises(ValueError, match=r"has no epochs to stop"):
        EarlyStopping(validation).setup(LogisticRegression(), None)


@needs_callbacks
def test_protocol():
    from sklearn.callback import FitCallback

    assert isinstance(EarlyStopping(([[0.0]], [0])), FitCallback)


@pytest.mark.parametrize("settings", [{"decision": "f1"}, {"reject": Reject(0.2, -1)}], ids=str)
def test_a_stream_goes_on_with_what_fit_has_shown_of_rows_held_out(settings):
    """They are on record, each once."""
    X, y, (X_held, y_held) = noisy()
    stopping = EarlyStopping((X_held, (y_held > 0).astype(int)))
    model = PredtronBinaryClassifier(max_iter=20, random_state=0, **settings).set_callbacks(stopping)
    model.fit(X, (y > 0).astype(int))
    assert model.best_iter_ < model.n_iter_
    assert model._model.learner.observer.recorded == len(X)
    assert model.partial_fit(X[:50], (y[:50] > 0).astype(int))._model.learner.observer.recorded > len(X)


def test_streams_take_no_notice():
    X, y, validation = noisy()
    model = PredtronClassifier().set_callbacks(EarlyStopping(validation)).partial_fit(X, y, classes=[0, 1, 2])
    np.testing.assert_array_equal(model.coef_, PredtronClassifier().partial_fit(X, y, classes=[0, 1, 2]).coef_)


@pytest.mark.parametrize("cv", [0, None])
def test_a_limit_of_the_time(monkeypatch, cv):
    """The fit ends with the epoch in which the time is over, with or without folds, and has the bits of that epoch."""
    clock = iter(range(1000))
    monkeypatch.setattr("sklearn_predtron.callbacks.time.monotonic", lambda: next(clock))
    X, y = make_data()
    model = PredtronClassifier(max_iter=50, tol=None, cv=cv, features=None, random_state=0)
    timed = clone(model).set_callbacks(EarlyStopping(seconds=3)).fit(X, y)
    assert timed.n_iter_ <= 3 and not hasattr(timed, "best_iter_")
    assert len(timed.loss_curve_) == timed.n_iter_
    if cv == 0:
        assert timed.n_iter_ == 3
        assert (timed.coef_ == clone(model).set_params(max_iter=3).fit(X, y).coef_).all()


def test_a_limit_of_the_time_beside_held_out_rows(monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr("sklearn_predtron.callbacks.time.monotonic", lambda: next(clock))
    X, y = make_data()
    stopping = EarlyStopping((X[:50], y[:50]), patience=50, seconds=4)
    model = PredtronClassifier(max_iter=50, tol=None, features=None, random_state=0).set_callbacks(stopping).fit(X[50:], y[50:])
    assert model.n_iter_ == 4 >= model.best_iter_ == 1 + np.argmin(model.validation_scores_)


def test_repr():
    assert repr(EarlyStopping(([[0.0]], [0]))) == "EarlyStopping(patience=5)"
    said = repr(EarlyStopping(([[0.0]], [0]), scoring="accuracy", patience=2, tol=0.1))
    assert said == "EarlyStopping(scoring='accuracy', patience=2, tol=0.1)"


@pytest.mark.parametrize("kind", [OwnClassifier, pytest.param(PredtronClassifier, marks=needs_callbacks)])
def test_with_and_without_scikit_learns_callbacks(kind):
    X, y, validation = noisy()
    stopping = EarlyStopping(validation, patience=3)
    history = LossHistory()
    model = kind(max_iter=20, random_state=0).set_callbacks(stopping, history).fit(X, y)
    end, best = expected_end(model.validation_scores_, 3)
    assert (model.n_iter_, model.best_iter_) == (end, best) and best < end < 20
    short = PredtronClassifier(max_iter=best, random_state=0, cv=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, short.coef_)
    assert len(stopping._best) == 0 and LossHistory.curve(model)[0][-1] == model.t_
    np.testing.assert_array_equal(clone(model).fit(X, y).coef_, short.coef_)


def test_steps_that_overflow_are_refused_as_ever():
    X, y, validation = noisy()
    model = PredtronBinaryClassifier(update=PerceptronUpdate(eta=1e200), random_state=0)
    with pytest.raises(ValueError, match="overflow"):
        model.set_callbacks(EarlyStopping((validation[0], validation[1] > 0))).fit(1e120 * X, y > 0)
    assert not hasattr(model, "coef_")
