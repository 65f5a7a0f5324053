"""Callbacks for `fit`."""

from __future__ import annotations

import copy
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
from sklearn_predtron.families._estimator import BasePredtron

__all__ = ["EarlyStopping", "LossHistory"]


class LossHistory:
    """Record the cumulative loss against rounds, of streams and within the epochs too, in bounded memory.

    Where `size` points have been recorded every other one is dropped, and from then on half as many are taken; those that
    stay are exact.  The record belongs to the fitted estimator: clones, folds and processes have each their own, and it is
    pickled with the estimator.  A round without the callback costs nothing more, one with it a few instructions.

    Parameters
    ----------
    size : int, default=1000
        The most points that are kept, at least 4.

    See Also
    --------
    sklearn_predtron.inspection.OnlineLossDisplay : Draws the curve.

    Notes
    -----
    Where `fit` has several learners (see the parameter `cv`), a point is taken after each epoch, of all their rounds.

    Set it on the Predtron estimator itself, also within a pipeline or a search.  `fit` and `partial_fit` then record; set in
    mid-stream it records from there.  An estimator has one record, so that two of these callbacks of different sizes on it are
    refused.

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
        """Record the rounds of a fitted estimator from now on, without setting the callback on it.

        Parameters
        ----------
        estimator : estimator
            A fitted Predtron estimator.  One that is recorded at this `size` already goes on as it is; at another size its record
            begins anew.

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
            A Predtron estimator that was fitted with this callback, or watched; a pipeline that ends with one, or a search.

        Returns
        -------
        rounds : ndarray of shape (n_points,)
            Rounds, rising, from where the record begins (0 in `fit`) to the last.
        losses : ndarray of shape (n_points,)
            `cumulative_loss_` after each of them.
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
        """Refuse estimators of other kinds.

        Parameters
        ----------
        estimator : estimator
            What the callback is set on.
        context : sklearn.callback.CallbackContext
            Where the fit stands.
        """
        check_kind(estimator, "rounds to record")

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing after a fit.

        Parameters
        ----------
        estimator : estimator
            What the callback is set on.
        context : sklearn.callback.CallbackContext
            Where the fit stands.
        """

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Record from here on.

        Parameters
        ----------
        estimator : estimator
            What the callback is set on.
        context : sklearn.callback.CallbackContext
            Where the fit stands.
        """
        self.watch(estimator)

    def on_stream_begin(self, estimator: Any) -> None:
        """Record from here on: the hook of `partial_fit`, which scikit-learn's callbacks do not have.

        Parameters
        ----------
        estimator : estimator
            What the callback is set on.
        """
        self.watch(estimator)

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Do nothing after an epoch.

        Parameters
        ----------
        estimator : estimator
            What the callback is set on.
        context : sklearn.callback.CallbackContext
            Where the fit stands.
        """


class EarlyStopping:
    """Stop `fit` when held-out rows, queries or sequences are predicted no better, and leave the estimator of the best epoch.

    After each epoch what predicts (the average) is evaluated on the held-out part.  When `patience` epochs in a row were not
    better than the best so far, `fit` stops.  However it ends, by itself or by `max_iter`, the estimator is then that of the best
    epoch: weights, averages and counts.  `n_iter_` stays the number of epochs run, and `loss_curve_` has all of them.

    Parameters
    ----------
    validation : tuple (X, y), (X, y, qid) for a ranker of queries or (X, y, sid) for a tagger of sequences
        The held-out part, as the estimator takes it: within a pipeline X is what comes out of the steps before.
    scoring : str, callable or None, default=None
        None is the mean of the estimator's own `sample_loss`, of which less is better; else a scorer of scikit-learn's, by name
        or as ``scorer(estimator, X, y)``, of which more is better.  Ids are passed on by metadata routing, which scorers of this
        package ask for (`metrics.ndcg_scorer`, `metrics.token_scorer`).
    patience : int, default=5
        After how many epochs in a row without an improvement `fit` stops, at least 1.
    tol : float, default=0.0
        By how much an epoch has to be better than the best so far, at least 0.

    Raises
    ------
    ValueError
        If a parameter is none of these; in `fit`, before anything is learned, if the held-out part does not fit the estimator.

    See Also
    --------
    sklearn_predtron.Patience : Stops by the loss suffered on the rows that are learned, as the parameter `tol` of an estimator.

    Notes
    -----
    `fit` gives the estimator three attributes, which a later `fit` without the callback removes: `best_iter_`, the best epoch,
    from 1; `best_score_`, the mean loss or the score after it; and `validation_scores_`, a list of those of all epochs.

    An epoch that improves costs a deep copy of what was learned (with kernels also of the rows that are kept), and each epoch
    an evaluation.  One copy is kept, until `fit` ends.  An estimator's own folds (`cv`) then choose nothing.  Where its decision
    asks for scores of rows that are held out, the epochs are compared by what the predictions of the first tell, as in a stream;
    then folds are learned, for as many epochs as were best, so that the fitted estimator may score otherwise than `best_score_`.
    An interrupted fit leaves what was learned so far, not the best epoch.  The default `max_iter` is a small number of epochs;
    give it a larger one.

    The callback may be shared by clones, folds and threads.  It acts in `fit` alone.  A pickled estimator has its callbacks with
    it, and so the held-out part, unless ``set_callbacks()`` has removed them.  It works with scikit-learn 1.6 to 1.8 as well.

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
    """

    chooses_epochs = True  # so that no folds do
    runs_without_callbacks = True  # of scikit-learn, which has them from 1.9 on

    def __init__(
        self,
        validation: Any,
        *,
        scoring: str | Callable[..., float] | None = None,
        patience: int = 5,
        tol: float = 0.0,
    ):
        check_count("patience", patience, least=1)
        if not isinstance(tol, Real) or isinstance(tol, bool) or not 0 <= tol < float("inf"):
            raise ValueError(f"tol={tol!r} must be a finite number of at least 0.")
        if scoring is not None and not isinstance(scoring, str) and not callable(scoring):
            raise ValueError(f"scoring={scoring!r} must be None, the name of a scorer or a callable.")
        if scoring is not None:
            get_scorer(scoring)
        self.validation: tuple[Any, ...] = checked_validation(validation)
        self.scoring: str | Callable[..., float] | None = scoring
        self.patience: int = patience
        self.tol: float = tol
        self._best: WeakKeyDictionary[Any, Learner] = WeakKeyDictionary()

    def __repr__(self) -> str:
        shown = {"scoring": self.scoring, "patience": self.patience, "tol": self.tol}
        usual = {"scoring": None, "tol": 0.0}
        given = [f"{name}={value!r}" for name, value in shown.items() if name not in usual or value != usual[name]]
        return f"{type(self).__name__}({', '.join(given)})"

    def __getstate__(self) -> dict[str, Any]:
        """Return the parameters: what a fit has put aside belongs to this process."""
        return {name: value for name, value in vars(self).items() if name != "_best"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over the parameters."""
        self.__dict__.update(state)
        self._best = WeakKeyDictionary()

    # --------------------------------------------------------------------------------------------------------------- hooks

    def setup(self, estimator: Any, context: Any) -> None:
        """Refuse estimators of other kinds, and what does not fit this one.

        Parameters
        ----------
        estimator : estimator
            What the callback is set on.
        context : sklearn.callback.CallbackContext
            Where the fit stands.
        """
        check_kind(estimator, "epochs to stop")
        alike = [callback for callback in getattr(estimator, "_skl_callbacks", ()) if isinstance(callback, EarlyStopping)]
        if len(alike) > 1:
            raise ValueError(f"{alike[0]!r} and {alike[1]!r} are for the same {type(estimator).__name__}; set one of them.")
        self._check_fits(estimator)
        self._best.pop(estimator, None)
        estimator._model.record["validation_scores_"] = []

    def teardown(self, estimator: Any, context: Any) -> None:
        """Discard the best epoch's learner when the fit ends.

        Parameters
        ----------
        estimator : estimator
            What the callback is set on.
        context : sklearn.callback.CallbackContext
            Where the fit stands.
        """
        self._best.pop(estimator, None)

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing before an epoch.

        Parameters
        ----------
        estimator : estimator
            What the callback is set on.
        context : sklearn.callback.CallbackContext
            Where the fit stands.
        """

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """Evaluate an epoch; after the last one go back to the best.

        Parameters
        ----------
        estimator : estimator
            What the callback is set on.
        context : sklearn.callback.CallbackContext
            Where the fit stands.

        Returns
        -------
        bool
            Whether the fit is to end.
        """
        if context.task_name == "epoch":
            return self._is_over(estimator)
        best = self._best.pop(estimator)
        if estimator.best_iter_ < estimator.n_iter_:
            estimator._model.learner = best
        return False

    # ---------------------------------------------------------------------------------------------------------- evaluation

    def _is_over(self, estimator: Any) -> bool:
        """Evaluate what was learned so far, put it aside if it is the best, and return whether patience is at an end."""
        score = self._evaluate(estimator)
        estimator.validation_scores_.append(score)
        if estimator not in self._best or self._gain(score, estimator.best_score_) > self.tol:
            self._best[estimator] = copy.deepcopy(estimator._model.learner)
            estimator._model.record |= {"best_iter_": estimator.n_iter_, "best_score_": score}
        return estimator.n_iter_ - estimator.best_iter_ >= self.patience

    def _gain(self, score: float, best: float) -> float:
        """Return by how much a score is better than the best; losses count the other way round."""
        return best - score if self.scoring is None else score - best

    def _evaluate(self, estimator: Any) -> float:
        """Return the mean loss, or the score, of the held-out part."""
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
        """Refuse a held-out part that is not of the kind that the estimator learns."""
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
    """Refuse several rows without ids, for an estimator that would take them for one query or sequence."""
    reader = estimator._reader()
    if reader.misses_ids and reader.apart(X, None)[1] is None and number_of_rows(X) > 1:
        name, group = reader.ids.name, reader.ids.group
        raise ValueError(
            f"validation has no {name}, the {group} of each row; accepted are (X, y, {name}), a column {name!r} of a data frame "
            f"X, and (X, y, 'one') for rows that are one {group}."
        )


def checked_validation(validation: Any) -> tuple[Any, ...]:
    """Return a held-out part that has the right number of entries."""
    accepted = "accepted is a tuple (X, y), (X, y, qid) for queries or (X, y, sid) for sequences"
    if not isinstance(validation, (tuple, list)):
        raise ValueError(f"validation={shortened(validation)} is no tuple; {accepted}.")
    if len(validation) not in (2, 3):
        raise ValueError(f"validation has {len(validation)} entr{'y' if len(validation) == 1 else 'ies'}; {accepted}.")
    return tuple(validation)


def check_count(name: str, value: Any, *, least: int) -> None:
    """Refuse what is no integer or too small."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r} must be an integer of at least {least}.")


def check_kind(estimator: Any, what: str) -> None:
    """Refuse what is no estimator of this package, and so has not what a callback is for."""
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
