"""Callbacks for `fit`."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from math import isnan
from numbers import Integral, Real
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.metrics import check_scoring, get_scorer
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.loss_curve import LossCurve
from sklearn_predtron._support.pipelines import final
from sklearn_predtron._support.queries import ids_taken, number_of_rows, shortened
from sklearn_predtron.families.estimator.base import BasePredtron

__all__ = ["EarlyStopping", "LossHistory"]


class LossHistory:
    """Cumulative loss by round, in bounded memory.

    When `size` points have been recorded, every other one is dropped and later points are taken half as often; the remaining
    ones are exact.  The record belongs to the fitted estimator: each clone, fold and process has its own, and it is pickled with
    the estimator.  Without the callback a round costs nothing extra; with it, a few instructions.

    Parameters
    ----------
    size : int, default=1000
        Maximum number of points kept, at least 4.

    See Also
    --------
    sklearn_predtron.inspection.OnlineLossDisplay : Draws the curve.

    Notes
    -----
    If `fit` trains several fold models (see the parameter `cv`), one point is recorded after each epoch, over the rounds of all.

    Set the callback on the Predtron estimator itself, also within a pipeline or a search.  `fit` and `partial_fit` then record;
    if it is set in mid-stream, recording starts there.  An estimator has one record, so setting two of these callbacks with
    different sizes raises ValueError.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.callbacks import LossHistory
    >>> X, y = load_iris(return_X_y=True)
    >>> history = LossHistory(size=100)
    >>> model = PredtronClassifier(cv=0, random_state=0).set_callbacks(history).fit(X, y)
    >>> rounds, losses = history.curve(model)
    >>> model.t_, len(rounds) <= 100, bool(losses[-1] == model.cumulative_loss_)
    (1500, True, True)
    >>> stream = PredtronClassifier().set_callbacks(history).partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    >>> for i in range(1, 60):
    ...     stream = stream.partial_fit(X[i : i + 1], y[i : i + 1])
    >>> int(history.curve(stream)[0].max())
    60
    """

    runs_without_callbacks = True  # of scikit-learn, which has them from 1.9 on

    def __init__(self, size: int = 1000):
        check_count("size", size, least=4)
        self.size: int = size

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"

    def watch(self, estimator: Any) -> LossHistory:
        """Record the rounds of a fitted estimator from now on.

        Parameters
        ----------
        estimator : estimator
            A fitted Predtron estimator.  If it is already recorded at this `size`, the record continues; at another size the
            record restarts.

        Returns
        -------
        LossHistory
            The callback.

        Raises
        ------
        ValueError
            If a `LossHistory` of another size is set on the estimator.
        """
        learner = check_predtron(estimator)._model.learner
        self._check_only_size(estimator)
        with learner.lock.reading():
            present, anew = learner.history, LossCurve(self.size, learner.t, learner.cumulative_loss)
        if present is None or present.size != self.size:
            learner.record(anew)
        return self

    def _check_only_size(self, estimator: Any) -> None:
        for other in getattr(estimator, "_skl_callbacks", ()):
            if isinstance(other, LossHistory) and other.size != self.size:
                raise ValueError(
                    f"{self!r} and {other!r} are for the same {type(estimator).__name__}, which has one record; set one of them."
                )

    @staticmethod
    def curve(estimator: Any) -> tuple[NDArray, NDArray]:
        """Return the recorded loss curve of an estimator.

        Parameters
        ----------
        estimator : estimator
            A Predtron estimator fitted with this callback or passed to `watch`, a pipeline that ends with one, or a search.

        Returns
        -------
        rounds : ndarray of shape (n_points,)
            Round numbers in ascending order, from the start of the record (0 in `fit`) to the last round.
        losses : ndarray of shape (n_points,)
            `cumulative_loss_` after each of these rounds.
        """
        estimator = check_predtron(final(estimator))
        learner = estimator._model.learner
        with learner.lock.reading():
            if learner.history is not None:
                return learner.history.curve()
        raise ValueError(
            f"The loss of this {type(estimator).__name__} was not recorded; call set_callbacks(LossHistory()) before fit or "
            "partial_fit, or LossHistory().watch(estimator) to record from here on."
        )

    # --------------------------------------------------------------------------------------------------------------- hooks

    def setup(self, estimator: Any, context: Any) -> None:
        """Raise ValueError if the estimator is not of this package.

        Parameters
        ----------
        estimator : estimator
            The estimator that the callback is set on.
        context : sklearn.callback.CallbackContext
            State of the fit.
        """
        check_kind(estimator, "rounds to record")

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing after a fit.

        Parameters
        ----------
        estimator : estimator
            The estimator that the callback is set on.
        context : sklearn.callback.CallbackContext
            State of the fit.
        """

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Record from here on.

        Parameters
        ----------
        estimator : estimator
            The estimator that the callback is set on.
        context : sklearn.callback.CallbackContext
            State of the fit.
        """
        self.watch(estimator)

    def on_stream_begin(self, estimator: Any) -> None:
        """Record from here on, in `partial_fit`.

        Parameters
        ----------
        estimator : estimator
            The estimator that the callback is set on.
        """
        self.watch(estimator)

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Do nothing after an epoch.

        Parameters
        ----------
        estimator : estimator
            The estimator that the callback is set on.
        context : sklearn.callback.CallbackContext
            State of the fit.
        """


class EarlyStopping:
    """Early stopping of `fit` on held-out data, restoring the best epoch, or after some seconds.

    After each epoch the model that predicts (the average) is evaluated on the held-out data.  `fit` stops after `patience`
    consecutive epochs without an improvement on the best so far.  Whether it stops early or at `max_iter`, the estimator then has
    the weights, averages and counts of the best epoch.  `n_iter_` stays the number of epochs run; `loss_curve_` has them all.

    Parameters
    ----------
    validation : tuple (X, y), (X, y, qid) for a ranker of queries or (X, y, sid) for a tagger of sequences, default=None
        The held-out data in the form the estimator takes.  Within a pipeline, X is the output of the preceding steps.  None
        evaluates nothing, and needs `seconds`.
    scoring : str, callable or None, default=None
        None (default) is the mean of the estimator's own `sample_loss`; lower is better.  A scikit-learn scorer, by name or as
        ``scorer(estimator, X, y)``, can be given instead; higher is better.  Ids are passed by metadata routing to the scorers of
        this package that request them (`metrics.ndcg_scorer`, `metrics.token_scorer`).
    patience : int, default=5
        Number of consecutive epochs without an improvement after which `fit` stops, at least 1.
    tol : float, default=0.0
        An epoch counts as an improvement if it is better than the best so far by more than this; at least 0.
    seconds : float, default=None
        Wall time after which `fit` stops at the end of an epoch, above 0; None is no limit.  Times differ between runs, and so do
        the results.

    Raises
    ------
    ValueError
        If a parameter is invalid; in `fit`, before training starts, if the held-out data do not fit the estimator.

    See Also
    --------
    sklearn_predtron.Patience : Stops by the progressive loss on the training rows; value of an estimator's parameter `tol`.

    Notes
    -----
    `fit` sets three attributes of the estimator, which a later `fit` without the callback removes: `best_iter_`, the best epoch,
    counted from 1; `best_score_`, its mean loss or score; and `validation_scores_`, the list of these values for all epochs.

    Each epoch costs one evaluation, and each improvement a deep copy of the learned state (with kernels also of the kept rows).
    One copy is kept, until `fit` ends.  The estimator's own folds (`cv`) then select nothing.  If its decision needs scores of
    held-out rows, epochs are compared with the decision that the first epoch's predictions give, as in a stream.  Fold models are
    then trained for `best_iter_` epochs, so the fitted estimator's score may differ from `best_score_`.  An interrupted fit keeps
    the weights at the interruption, not those of the best epoch.  The default `max_iter` is small; set a larger one.

    Clones, folds and threads may share the callback.  It acts only in `fit`.  A pickled estimator includes its callbacks, and so
    the held-out data, unless ``set_callbacks()`` has removed them.  It works with scikit-learn 1.6 to 1.8 as well.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.callbacks import EarlyStopping
    >>> X_train, X_rest, y_train, y_rest = train_test_split(*load_digits(return_X_y=True), test_size=0.5, random_state=0)
    >>> X_held, X_test, y_held, y_test = train_test_split(X_rest, y_rest, test_size=0.5, random_state=0)
    >>> stopping = EarlyStopping((X_held, y_held), patience=3)
    >>> model = PredtronClassifier(max_iter=100, random_state=0).set_callbacks(stopping).fit(X_train, y_train)
    >>> model.n_iter_, model.best_iter_, round(model.best_score_, 3)
    (9, 6, 0.033)

    A fit that stops after the epoch in which the time is over:

    >>> model = PredtronClassifier(max_iter=100_000, cv=0, tol=None, random_state=0).set_callbacks(EarlyStopping(seconds=0.2))
    >>> model.fit(X_train, y_train).n_iter_ < 100_000
    True
    """

    runs_without_callbacks = True  # of scikit-learn, which has them from 1.9 on

    def __init__(
        self,
        validation: Any = None,
        *,
        scoring: str | Callable[..., float] | None = None,
        patience: int = 5,
        tol: float = 0.0,
        seconds: float | None = None,
    ):
        check_count("patience", patience, least=1)
        if not isinstance(tol, Real) or isinstance(tol, bool) or not 0 <= tol < float("inf"):
            raise ValueError(f"tol={tol!r} must be a finite number of at least 0.")
        if scoring is not None and not isinstance(scoring, str) and not callable(scoring):
            raise ValueError(f"scoring={scoring!r} must be None, the name of a scorer or a callable.")
        if scoring is not None:
            get_scorer(scoring)
        if seconds is not None and (not isinstance(seconds, Real) or isinstance(seconds, bool) or not 0 < seconds < float("inf")):
            raise ValueError(f"seconds={seconds!r} must be a finite number above 0, or None.")
        if validation is None and seconds is None:
            raise ValueError("validation=None and seconds=None never stop a fit; accepted is one of them, or both.")
        self.validation: tuple[Any, ...] | None = None if validation is None else checked_validation(validation)
        self.scoring: str | Callable[..., float] | None = scoring
        self.patience: int = patience
        self.tol: float = tol
        self.seconds: float | None = seconds
        self._best: WeakKeyDictionary[Any, Learner] = WeakKeyDictionary()
        self._end: WeakKeyDictionary[Any, float] = WeakKeyDictionary()

    @property
    def chooses_epochs(self) -> bool:
        """Whether the held-out data choose the epoch, so that no folds do."""
        return self.validation is not None

    def __repr__(self) -> str:
        shown = {"scoring": self.scoring, "patience": self.patience, "tol": self.tol, "seconds": self.seconds}
        usual = {"scoring": None, "tol": 0.0, "seconds": None}
        given = [f"{name}={value!r}" for name, value in shown.items() if name not in usual or value != usual[name]]
        return f"{type(self).__name__}({', '.join(given)})"

    def __getstate__(self) -> dict[str, Any]:
        """Return the parameters, without the best epoch's learner and the end of a fit."""
        return {name: value for name, value in vars(self).items() if name not in ("_best", "_end")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over the parameters."""
        self.__dict__.update(state)
        self._best, self._end = WeakKeyDictionary(), WeakKeyDictionary()

    # --------------------------------------------------------------------------------------------------------------- hooks

    def setup(self, estimator: Any, context: Any) -> None:
        """Raise ValueError if estimator and held-out data do not fit.

        Parameters
        ----------
        estimator : estimator
            The estimator that the callback is set on.
        context : sklearn.callback.CallbackContext
            State of the fit.
        """
        check_kind(estimator, "epochs to stop")
        alike = [callback for callback in getattr(estimator, "_skl_callbacks", ()) if isinstance(callback, EarlyStopping)]
        if len(alike) > 1:
            raise ValueError(f"{alike[0]!r} and {alike[1]!r} are for the same {type(estimator).__name__}; set one of them.")
        if self.seconds is not None:
            self._end[estimator] = time.monotonic() + self.seconds
        if self.validation is not None:
            self._check_fits(estimator)
            self._best.pop(estimator, None)
            estimator._model.fit_record["validation_scores_"] = []

    def teardown(self, estimator: Any, context: Any) -> None:
        """Discard the best epoch's learner and the limit of the time when the fit ends.

        Parameters
        ----------
        estimator : estimator
            The estimator that the callback is set on.
        context : sklearn.callback.CallbackContext
            State of the fit.
        """
        self._best.pop(estimator, None)
        self._end.pop(estimator, None)

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing before an epoch.

        Parameters
        ----------
        estimator : estimator
            The estimator that the callback is set on.
        context : sklearn.callback.CallbackContext
            State of the fit.
        """

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """Evaluate an epoch; after the last one, restore the best.

        Parameters
        ----------
        estimator : estimator
            The estimator that the callback is set on.
        context : sklearn.callback.CallbackContext
            State of the fit.

        Returns
        -------
        bool
            Whether the fit should stop.
        """
        if context.task_name == "epoch":
            late = self.seconds is not None and time.monotonic() >= self._end[estimator]
            return (self.validation is not None and self._is_over(estimator)) or late
        if self.validation is None:
            return False
        best = self._best.pop(estimator)
        if estimator.best_iter_ < estimator.n_iter_:
            estimator._model.learner = best
        return False

    # ---------------------------------------------------------------------------------------------------------- evaluation

    def _is_over(self, estimator: Any) -> bool:
        """Evaluate the learner; return whether `patience` has run out."""
        score = self._evaluate(estimator)
        estimator.validation_scores_.append(score)
        if estimator not in self._best or self._gain(score, estimator.best_score_) > self.tol:
            self._best[estimator] = copy.deepcopy(estimator._model.learner)
            estimator._model.fit_record |= {"best_iter_": estimator.n_iter_, "best_score_": score}
        return estimator.n_iter_ - estimator.best_iter_ >= self.patience

    def _gain(self, score: float, best: float) -> float:
        """Return the improvement of a score over the best one."""
        return best - score if self.scoring is None else score - best

    def _evaluate(self, estimator: Any) -> float:
        """Return the mean loss, or the score, of the held-out part."""
        assert self.validation is not None
        X, y, *ids = self.validation
        taken = ids_taken(estimator.sample_loss)
        beside = {taken.name: ids[0]} if ids and taken else {}
        if self.scoring is None:
            return float(np.mean(estimator.sample_loss(X, y, **beside)))
        with config_context(enable_metadata_routing=bool(ids)):  # a scorer takes ids with it alone
            score = check_scoring(estimator, self.scoring)(estimator, X, y, **beside)
        if not isinstance(score, Real) or isnan(score):
            raise ValueError(f"scoring={self.scoring!r} returned {score!r} for the held-out part; accepted is a number.")
        return float(score)

    def _check_fits(self, estimator: Any) -> None:
        """Raise ValueError if the held-out data do not fit the estimator."""
        assert self.validation is not None
        X, y, *ids = self.validation
        if ids and ids_taken(estimator.sample_loss) is None:
            raise ValueError(f"validation has 3 entries, and {type(estimator).__name__} takes no ids; accepted is (X, y).")
        if not ids:
            check_ids_given(estimator, X)
        try:
            estimator._reader().labelled(X, y, estimator._model, *ids)
        except ValueError as error:
            raise ValueError(f"validation: {error}") from None


def check_ids_given(estimator: Any, X: Any) -> None:
    """Raise ValueError for several rows without ids."""
    reader = estimator._reader()
    if reader.misses_ids and reader.split_ids(X, None)[1] is None and number_of_rows(X) > 1:
        name, group = reader.ids.name, reader.ids.group
        raise ValueError(
            f"validation has no {name}, the {group} of each row; accepted are (X, y, {name}), a column {name!r} of a data frame "
            f"X, and (X, y, 'one') for rows that are one {group}."
        )


def checked_validation(validation: Any) -> tuple[Any, ...]:
    """Return the held-out data, checked."""
    accepted = "accepted is a tuple (X, y), (X, y, qid) for queries or (X, y, sid) for sequences"
    if not isinstance(validation, (tuple, list)):
        raise ValueError(f"validation={shortened(validation)} is no tuple; {accepted}.")
    if len(validation) not in (2, 3):
        raise ValueError(f"validation has {len(validation)} entr{'y' if len(validation) == 1 else 'ies'}; {accepted}.")
    return tuple(validation)


def check_count(name: str, value: Any, *, least: int) -> None:
    """Raise ValueError unless a value is a large enough integer."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r} must be an integer of at least {least}.")


def check_kind(estimator: Any, what: str) -> None:
    """Raise ValueError if the estimator is not of this package."""
    if not isinstance(estimator, BasePredtron):
        raise ValueError(
            f"estimator={shortened(estimator)} has no {what}; accepted are Predtron estimators.  In a pipeline or a search set "
            "the callback on them."
        )


def check_predtron(estimator: Any) -> Any:
    """Return a fitted estimator of this package."""
    check_kind(estimator, "rounds to record")
    check_is_fitted(estimator)
    return estimator
