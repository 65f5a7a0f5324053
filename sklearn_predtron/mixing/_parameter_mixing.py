"""Parameter mixing as a meta-estimator, over threads."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._queries import shortened
from sklearn_predtron._typing import keeping_type
from sklearn_predtron.datasets._counts import check_counts
from sklearn_predtron.families._base import BasePredtron
from sklearn_predtron.families._validation import Batch
from sklearn_predtron.mixing._algebra import Contribution
from sklearn_predtron.mixing._checkpoint import Checkpoint
from sklearn_predtron.mixing._rounds import Plan, Progress, Task, take_round
from sklearn_predtron.mixing._shards import deal, is_shards, open_shards

if TYPE_CHECKING:
    from sklearn_predtron._typing import Self

FIXED = ("linear", "uniform")
DEALING = 2**31  # a number that no shard has, for what deals rows to shards


def offered(name: str) -> Callable[[Any], bool]:
    """Return a check of whether the estimator that is mixed has a method."""
    return lambda mixing: hasattr(getattr(mixing, "estimator_", mixing.estimator), name)


class ParameterMixing(MetaEstimatorMixin, BaseEstimator):
    """Mixes learners of shards: in each round every shard learns from the mixture so far.

    A round is a pass of every shard over its own rows, from the same weights; the mixture is the mean of what the shards have
    come to, by the rounds they took, of dual weights where the norm has them (McDonald, Hall and Mann 2010; for any norm, since
    the potential of a Predtron is convex in them).  The loss bounds of one learner hold for the mixture, with `mixed_loss_` in
    the place of the cumulative loss.  The averages of all shards are pooled, and predict.

    It is for data that one machine cannot hold or read in time; small sets learn as well, and as fast, by `fit`.  What matters
    is that shards have 500 rows or more, and that rows are shuffled over them.

    Parameters
    ----------
    estimator : BasePredtron
        Any estimator of the package, of any norm but RKHS, whose `average` is None, "linear", "uniform" or False: a stream has
        an order, and shards have none.  It is cloned; `max_iter` and `tol` say nothing here.
    rounds : int, default=10
        Rounds of mixing.
    passes : int, default=1
        Passes of a shard over its rows in a round.  More of them make a round worth more where mixing is dear, and help norms
        that take small steps (l1, group, trace).
    shards : int, default=8
        How many shards a data set in memory is cut into; a list of files or functions has its own number.  The result depends
        on it, and not on `n_jobs`.
    n_jobs : int, default=None
        Threads, as joblib has it; the loop holds no lock of Python's.
    checkpoint : str or path-like, default=None
        A file that is written after each round.  Where it is there, `fit` goes on from it, to the same bits, or refuses it by
        the first thing that differs.
    random_state : int, RandomState instance or None, default=None
        Deals rows to shards, and shuffles them.

    Attributes
    ----------
    estimator_ : BasePredtron
        The fitted estimator, as any other.
    loss_curve_ : list of float
        The mean loss of each round, each prediction made by a shard's last iterate before it learned the row.
    mixed_loss_ : float
        The sum over rounds of the shards' cumulative losses, averaged by the rounds they took: what `loss_bound` bounds.
    n_shards_ : int
        Shards.
    classes_ : ndarray of shape (n_classes,)
        The classes of a classifier.
    n_features_in_ : int
        Features of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.

    See Also
    --------
    SvmlightReader : Reads a file in chunks, for `partial_fit` of one learner.

    References
    ----------
    .. [1] R. McDonald, K. Hall and G. Mann, "Distributed training strategies for the structured perceptron", NAACL-HLT, 2010.
    .. [2] P. Jain et al., "Predtron: a family of online algorithms for general prediction problems", NIPS, 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.mixing import ParameterMixing
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ParameterMixing(PredtronClassifier(), shards=4, random_state=0).fit(X[:1000], y[:1000])
    >>> round(model.score(X[1000:], y[1000:]), 2)
    0.91
    >>> alone = PredtronClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> round(alone.score(X[1000:], y[1000:]), 2)
    0.91
    """

    def __init__(
        self,
        estimator: Any,
        *,
        rounds: int = 10,
        passes: int = 1,
        shards: int = 8,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.rounds = rounds
        self.passes = passes
        self.shards = shards
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.random_state = random_state

    # --------------------------------------------------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any = None, *, classes: Any = None, n_features: int | None = None, **params: Any) -> Self:
        """Learn from a data set, or from shards, in rounds of mixing.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or list of path or callable
            A data set in memory, which is cut into shards and not copied; or a shard each: svmlight files, read in every round,
            or functions that return (X, y) or (X, y, {"qid": ..., "sample_weight": ...}).
        y : array-like, default=None
            Labels as the estimator takes them; None with a list of shards, which have theirs.
        classes : array-like of shape (n_classes,), default=None
            With a list of shards, all labels; None looks for them in a first pass over files, and is refused for functions.
        n_features : int, default=None
            With a list of files, their width; None looks for it in a first pass.
        **params : dict
            What else the estimator's `fit` takes of a data set in memory: `sample_weight`, `qid`, `sid`, `groups`.

        Returns
        -------
        self : object
            The fitted meta-estimator.

        Raises
        ------
        ShardError
            A shard cannot be learned from; nothing was learned.
        ValueError
            A parameter is not known, or the estimator cannot be mixed.
        """
        model = self._mixable()
        if is_shards(X):
            if y is not None or params:
                raise ValueError("y and its like are not accepted beside a list of shards, which have their own.")
            self._learn_shards(model, X, classes, n_features)
        else:
            self._refuse_alone(classes=classes, n_features=n_features)
            model._mixing = self._mix
            model.fit(X, y, **params)
        return self._keep(model)

    def partial_fit(self, X: Any, y: Any = None, *, classes: Any = None, n_features: int | None = None, **params: Any) -> Self:
        """Take one round of mixing over rows that were not learned from before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or list of path or callable
            As for `fit`.
        y : array-like, default=None
            As for `fit`.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever occur, as the estimator's `partial_fit` asks for them.
        n_features : int, default=None
            As for `fit`.
        **params : dict
            As for `fit`.

        Returns
        -------
        self : object
            The meta-estimator.
        """
        first = not hasattr(self, "estimator_")
        model = self._mixable() if first else copy.deepcopy(self.estimator_)
        before = None if first else self._progress_of(model)
        if is_shards(X):
            if y is not None or params:
                raise ValueError("y and its like are not accepted beside a list of shards, which have their own.")
            self._learn_shards(model, X, classes, n_features, before=before, rounds=1)
        else:
            self._refuse_alone(n_features=n_features)
            model._mixing = partial(self._mix, before=before, rounds=1)
            model.partial_fit(X, y, **({} if classes is None else {"classes": classes}), **params)
        return self._keep(model)

    def _mixable(self) -> BasePredtron:
        """Return a clone of the estimator, ready to be mixed; refuse what cannot be."""
        check_counts(rounds=self.rounds, passes=self.passes, shards=self.shards)
        if not isinstance(self.estimator, BasePredtron):
            raise ValueError(f"estimator={self.estimator!r} is not an estimator of this package.")
        average = self.estimator.average
        if not (average is None or average is False or (isinstance(average, str) and average in FIXED)):
            raise ValueError(
                f"average={average!r} cannot be mixed, for shards have no order; accepted are None, 'linear', 'uniform' and "
                "False."
            )
        model = clone(self.estimator)
        model.average = "linear" if average is None else average
        return model

    def _refuse_alone(self, **given: Any) -> None:
        """Refuse what is said of shards about a data set in memory."""
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"{name}={shortened(value)} is for a list of shards; X and y say it themselves.")

    def _mix(self, model: BasePredtron, batch: Batch, *, before: Progress | None = None, rounds: int | None = None) -> None:
        """Let shards of a data set in memory learn."""
        model._check_rows(batch.X, batch.rows)
        seed = self._seed(before)
        dealt = np.random.default_rng([seed, len(before.losses) if before else 0, DEALING])
        shards = deal(model, batch, self.shards, dealt)
        self._take_rounds(model, shards, seed, before, rounds)
        model._settle(batch)

    def _learn_shards(
        self,
        model: BasePredtron,
        given: list[Any],
        classes: Any,
        n_features: int | None,
        before: Progress | None = None,
        rounds: int | None = None,
    ) -> None:
        """Let files and functions be learned from."""
        shards = open_shards(model, given, classes, n_features, fresh=before is None)
        self._take_rounds(model, shards, self._seed(before), before, rounds)

    def _seed(self, before: Progress | None) -> int:
        """Return what all is drawn from."""
        if before is None:
            self._drawn = int(check_random_state(self.random_state).randint(2**31))
        return self._drawn

    def _progress_of(self, model: BasePredtron) -> Progress:
        """Return the rounds that a fitted mixture has come from."""
        return Progress(model._learner.export(), tuple(self.loss_curve_), self.mixed_loss_)

    def _take_rounds(
        self, model: BasePredtron, shards: list[Any], seed: int, before: Progress | None, rounds: int | None
    ) -> None:
        """Take all rounds, or go on from a checkpoint, and give the model what they come to."""
        learner, plan = model._learner, Plan(seed, self.passes, bool(model.shuffle))
        checkpoint = None if self.checkpoint is None else Checkpoint(self.checkpoint, self._about(model, shards, seed))
        progress = None if checkpoint is None or before is not None else checkpoint.load()
        progress = progress or before or Progress(learner.export(), (), 0.0)
        start = 0 if before is None else len(before.losses)
        try:
            for turn in range(len(progress.losses), start + (self.rounds if rounds is None else rounds)):
                progress = take_round(learner, shards, plan, self._side_by_side, progress, turn, fresh=turn == start)
                if checkpoint is not None:
                    checkpoint.save(progress)
        except KeyboardInterrupt:
            self._adopt(model, progress, len(shards))
            raise
        self._adopt(model, progress, len(shards))

    def _adopt(self, model: BasePredtron, progress: Progress, n: int) -> None:
        """Let a model be the mixture."""
        model._learner.adopt(progress.state, True)
        model.loss_curve_, model.n_iter_ = list(progress.losses), len(progress.losses)
        self._mixed = progress.losses, progress.mixed_loss, n

    def _keep(self, model: BasePredtron) -> Self:
        """Take over a fitted model."""
        losses, self.mixed_loss_, self.n_shards_ = self.__dict__.pop("_mixed")
        self.estimator_, self.loss_curve_ = model, list(losses)
        return self

    def _side_by_side(self, tasks: Iterable[Task]) -> list[Contribution]:
        """Run the tasks of a round, and return what they contribute in their order."""
        return Parallel(n_jobs=self.n_jobs, require="sharedmem")(delayed(task)(*arguments) for task, arguments in tasks)

    def _about(self, model: BasePredtron, shards: list[Any], seed: int) -> dict[str, Any]:
        """Return what a checkpoint has to be about."""
        own = {"estimator": repr(sorted(model.get_params().items(), key=itemgetter(0))), "passes": self.passes, "seed": seed}
        return {**own, "n_features": model.n_features_in_, "shards": [[shard.name, shard.size] for shard in shards]}

    # ------------------------------------------------------------------------------------------------------- prediction

    def _fitted(self) -> Any:
        """Return the fitted estimator."""
        check_is_fitted(self, "estimator_")
        return self.estimator_

    def predict(self, X: Any, **params: Any) -> Any:
        """Predict as the fitted estimator does.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        **params : dict
            What else its `predict` takes.

        Returns
        -------
        predictions : ndarray
            What its `predict` returns.
        """
        return self._fitted().predict(X, **params)

    @keeping_type(available_if(offered("decision_function")))
    def decision_function(self, X: Any, **params: Any) -> Any:
        """Return the scores of the fitted estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        **params : dict
            What else its `decision_function` takes.

        Returns
        -------
        scores : ndarray
            What its `decision_function` returns.
        """
        return self._fitted().decision_function(X, **params)

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Return the score of the fitted estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like
            Labels.
        **params : dict
            What else its `score` takes.

        Returns
        -------
        score : float
            What its `score` returns.
        """
        return self._fitted().score(X, y, **params)

    @property
    def classes_(self) -> NDArray:
        """Classes of the fitted estimator."""
        return self._fitted().classes_

    @property
    def n_features_in_(self) -> int:
        """Features of X."""
        return self._fitted().n_features_in_

    @property
    def feature_names_in_(self) -> NDArray:
        """Names of the features, where X had them."""
        return self._fitted().feature_names_in_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)
