"""Parameter mixing as a meta-estimator, over threads."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from joblib import hash as hash_of
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron._parts import resolve
from sklearn_predtron._queries import shortened
from sklearn_predtron._typing import keeping_type
from sklearn_predtron._warning import warn
from sklearn_predtron.datasets._counts import check_counts
from sklearn_predtron.families._base import BasePredtron
from sklearn_predtron.families._validation import Batch
from sklearn_predtron.mixing._algebra import Contribution
from sklearn_predtron.mixing._checkpoint import Checkpoint, described
from sklearn_predtron.mixing._dask import on_cluster
from sklearn_predtron.mixing._rounds import Course, Plan, Progress, Task, in_threads
from sklearn_predtron.mixing._shards import Found, deal, is_shards, look_through, open_shards
from sklearn_predtron.norms import RKHS, Norm
from sklearn_predtron.norms._rkhs import UNMIXED

if TYPE_CHECKING:
    from sklearn_predtron._typing import Self

FIXED = ("linear", "uniform")
DEALING = 2**31  # a number that no shard has, for what deals rows to shards
ROUTED = ("fit", "partial_fit", "predict", "decision_function", "score")


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
    is that shards have a thousand rows or more, and that rows are shuffled over them.

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
    cluster : str, default=None
        The address of a Dask scheduler, as "tcp://127.0.0.1:8786", on whose workers lists of files and functions are learned
        (extra `cluster`).  Workers read the files, which must have the same path everywhere, in every round; what functions
        return stays in their memory.  Lost workers are replaced: a round is tried again three times.  Dask sends pickles: let
        nobody reach its ports who may not run programs on its machines.
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
    0.92
    >>> alone = PredtronClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> round(alone.score(X[1000:], y[1000:]), 2)
    0.93
    """

    _zero_based = False  # whether the files so far counted from 0

    def __init__(
        self,
        estimator: Any,
        *,
        rounds: int = 10,
        passes: int = 1,
        shards: int = 8,
        n_jobs: int | None = None,
        cluster: str | None = None,
        checkpoint: Any = None,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.rounds = rounds
        self.passes = passes
        self.shards = shards
        self.n_jobs = n_jobs
        self.cluster = cluster
        self.checkpoint = checkpoint
        self.random_state = random_state

    # --------------------------------------------------------------------------------------------------------- learning

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        classes: Any = None,
        n_features: int | None = None,
        zero_based: Any = "auto",
        **params: Any,
    ) -> Self:
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
        zero_based : bool or "auto", default="auto"
            With a list of files, whether indices count from 0; "auto" looks in a first pass whether any file has the index 0.
        **params : dict
            What else the estimator's `fit` takes of a data set in memory: `sample_weight`, `qid`, `sid`, `groups`; by the names
            that the estimator requests, if scikit-learn's metadata routing is on.

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
        model, given = self._mixable(), self._routed("fit", params)
        seed = int(check_random_state(self.random_state).randint(2**31))
        course = self._course(seed, self.rounds)
        shards = self._shards_given(X, y, given)
        learn: Callable[[], Any]
        if shards is not None:
            found = look_through(model, shards, classes, n_features, zero_based, self.n_jobs)
            learn = partial(self._learn_shards, course, model, shards, found)
        else:
            self._refuse_alone(classes=classes, n_features=n_features, cluster=self.cluster)
            if self.shards == 1 and self.checkpoint is None:
                return self._fit_alone(model, seed, X, y, given)
            data = None if self.checkpoint is None else hash_of([X, y, given])
            model._mixing = partial(self._learn_dealt, course, data)
            learn = partial(model.fit, X, y, **given)
        return self._run(learn, course, model)

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        classes: Any = None,
        n_features: int | None = None,
        zero_based: Any = "auto",
        **params: Any,
    ) -> Self:
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
        zero_based : bool or "auto", default="auto"
            As for `fit`.
        **params : dict
            As for `fit`.

        Returns
        -------
        self : object
            The meta-estimator.
        """
        first, given = not hasattr(self, "estimator_"), self._routed("partial_fit", params)
        model = self._mixable() if first else copy.deepcopy(self.estimator_)
        before = None if first else Progress(model._learner.export(), tuple(self.loss_curve_), self.mixed_loss_)
        seed = int(check_random_state(self.random_state).randint(2**31)) if first else self._seed
        course = self._course(seed, 1, before)
        shards = self._shards_given(X, y, given)
        learn: Callable[[], Any]
        if shards is None:
            self._refuse_alone(n_features=n_features, cluster=self.cluster)
            model._mixing = partial(self._learn_dealt, course, None)
            learn = partial(model.partial_fit, X, y, **({} if classes is None else {"classes": classes}), **given)
        else:
            if first:
                found = look_through(model, shards, classes, n_features, zero_based, self.n_jobs)
            else:
                found = self._found_before(model, classes, n_features, zero_based)
            learn = partial(self._learn_shards, course, model, shards, found)
        return self._run(learn, course, model)

    def _shards_given(self, X: Any, y: Any, given: dict[str, Any]) -> list[Any] | None:
        """Return the shards that X lists, if it does."""
        if not is_shards(X):
            return None
        if y is not None or given:
            raise ValueError("y and its like are not accepted beside a list of shards, which have their own.")
        return list(X)

    def _found_before(self, model: BasePredtron, classes: Any, n_features: int | None, zero_based: Any) -> Found:
        """Return what is known of all rows since the first call; refuse what differs."""
        known = Found(getattr(model, "classes_", None), model.n_features_in_, bool(self._zero_based))
        if classes is not None and not np.array_equal(np.unique(classes), known.classes):
            raise ValueError(f"classes={shortened(classes)} is not the same as on the first call: {shortened(known.classes)}.")
        if n_features not in (None, known.n_features):
            raise ValueError(f"n_features={n_features} is not the same as on the first call: {known.n_features}.")
        if zero_based not in ("auto", known.zero_based):
            raise ValueError(f"zero_based={zero_based!r} is not the same as on the first call: {known.zero_based}.")
        return known

    def _mixable(self) -> BasePredtron:
        """Return a clone of the estimator, ready to be mixed; refuse what cannot be."""
        check_counts(rounds=self.rounds, passes=self.passes, shards=self.shards)
        if self.checkpoint is not None and not isinstance(self.random_state, Integral):
            raise ValueError(
                f"random_state={self.random_state!r} cannot be told from others when a fit goes on from its checkpoint; accepted "
                "with one are integers."
            )
        if not isinstance(self.estimator, BasePredtron):
            raise ValueError(f"estimator={self.estimator!r} is not an estimator of this package.")
        average = self.estimator.average
        if not (average is None or average is False or (isinstance(average, str) and average in FIXED)):
            raise ValueError(
                f"average={average!r} cannot be mixed, for shards have no order; accepted are None, 'linear', 'uniform' and "
                "False."
            )
        model = clone(self.estimator)
        if isinstance(resolve(Norm, model.norm, "norm"), RKHS):
            raise ValueError(UNMIXED)
        model.average = "linear" if average is None else average
        if getattr(self.estimator, "_skl_callbacks", None):
            model.__dict__.pop("_skl_callbacks", None)
            warn("callbacks of the estimator are not called: they watch the epochs of one learner, and shards have one each.")
        return model

    def _refuse_alone(self, **given: Any) -> None:
        """Refuse what is said of shards about a data set in memory."""
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"{name}={shortened(value)} is for a list of shards, and X is a data set in memory.")

    def _course(self, seed: int, rounds: int, before: Progress | None = None) -> Course:
        """Return the rounds of a call."""
        return Course(Plan(seed, self.passes, bool(self.estimator.shuffle)), rounds, before)

    def _fit_alone(self, model: BasePredtron, seed: int, X: Any, y: Any, given: dict[str, Any]) -> Self:
        """Let the one shard of a data set in memory be learned as the estimator itself does."""
        own = {name: getattr(model, name) for name in ("max_iter", "tol", "random_state")}
        model.set_params(max_iter=self.rounds * self.passes, tol=None, random_state=self.random_state)
        model.fit(X, y, **given)
        model.set_params(**own)
        epochs = model.loss_curve_
        model.loss_curve_ = [float(np.mean(epochs[i : i + self.passes])) for i in range(0, len(epochs), self.passes)]
        return self._keep(model, seed, model.loss_curve_, model.cumulative_loss_, 1)

    def _learn_dealt(self, course: Course, data: str | None, model: BasePredtron, batch: Batch) -> None:
        """Let shards of a data set in memory learn."""
        model._check_rows(batch.X, batch.rows)
        before = course.before
        random = np.random.default_rng([course.plan.seed, len(before.losses) if before else 0, DEALING])
        shards = deal(model, batch, self.shards, random)
        course.take(model, shards, None if data is None else self._checkpoint_of(model, shards, data))
        if before is None:
            model._after_epochs(batch)

    def _learn_shards(self, course: Course, model: BasePredtron, given: list[Any], found: Found) -> None:
        """Let files and functions be learned from."""
        fresh, course.zero_based = course.before is None, found.zero_based
        shards = open_shards(model, given, found, fresh=fresh)
        kept = self.checkpoint is not None and fresh
        course.take(model, shards, self._checkpoint_of(model, shards, None) if kept else None)
        model._after_shards()
        if hasattr(model, "_several"):  # queries or sequences, whichever shard they are in
            model._several |= model._learner.t > self.passes * len(model.loss_curve_)

    def _run(self, learn: Callable[[], Any], course: Course, model: BasePredtron) -> Self:
        """Learn, and take over the model; after an interrupt that of the last complete round."""
        try:
            with Parallel(n_jobs=self.n_jobs, require="sharedmem") as workers:
                course.engine = partial(in_threads, partial(self._side_by_side, workers))
                if self.cluster is not None:
                    course.engine = partial(on_cluster, self.cluster)
                learn()
        except KeyboardInterrupt:
            if course.progress is not None:
                self._keep_course(model, course)
            raise
        return self._keep_course(model, course)

    def _keep_course(self, model: BasePredtron, course: Course) -> Self:
        """Take over the model of a course."""
        assert course.progress is not None
        self._zero_based = course.zero_based
        return self._keep(model, course.plan.seed, course.progress.losses, course.progress.mixed_loss, course.n_shards)

    def _keep(self, model: BasePredtron, seed: int, losses: Iterable[float], mixed_loss: float, n: int) -> Self:
        """Take over a fitted model."""
        self.estimator_, self._seed = model, seed
        self.loss_curve_, self.mixed_loss_, self.n_shards_ = list(losses), mixed_loss, n
        return self

    def _side_by_side(self, workers: Parallel, tasks: Iterable[Task]) -> list[Contribution]:
        """Run the tasks of a round, and return what they contribute in their order."""
        return workers(delayed(task)(*arguments) for task, arguments in tasks)

    def _checkpoint_of(self, model: BasePredtron, shards: list[Any], data: str | None) -> Checkpoint:
        """Return the checkpoint of a fit."""
        parameters = {name: described(value) for name, value in sorted(model.get_params().items())}
        own = {"estimator": type(model).__name__, **parameters, "passes": self.passes, "mixing's random_state": self.random_state}
        width = getattr(model, "n_features_in_", None)
        about = {**own, "n_features": width, "shards": [[shard.name, shard.size] for shard in shards], "hash of the data": data}
        return Checkpoint(self.checkpoint, about)

    # ------------------------------------------------------------------------------------------------------- prediction

    def _fitted(self) -> Any:
        """Return the fitted estimator."""
        check_is_fitted(self, "estimator_")
        return self.estimator_

    def _routed(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return what a method of the estimator is given beside rows and labels."""
        if not get_config()["enable_metadata_routing"] or method not in ROUTED:
            return params
        return dict(process_routing(self, method, **params).estimator[method])

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what metadata the estimator requests.

        Returns
        -------
        routing : MetadataRouter
            The routing.
        """
        mapping = MethodMapping()
        for method in ROUTED:
            mapping.add(caller=method, callee=method)
        return MetadataRouter(owner=type(self).__name__).add(estimator=self.estimator, method_mapping=mapping)

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
        return self._fitted().predict(X, **self._routed("predict", params))

    @keeping_type(available_if(offered("decision_function")))
    def decision_function(self, X: Any, **params: Any) -> Any:
        """Compute the scores of the fitted estimator.

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
        return self._fitted().decision_function(X, **self._routed("decision_function", params))

    @keeping_type(available_if(offered("rank")))
    def rank(self, X: Any, **params: Any) -> NDArray:
        """Rank the documents of each query as the fitted ranker does.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        **params : dict
            What else its `rank` takes.

        Returns
        -------
        positions : ndarray
            What its `rank` returns.
        """
        return self._fitted().rank(X, **self._routed("rank", params))

    @keeping_type(available_if(offered("sample_loss")))
    def sample_loss(self, X: Any, y: Any, **params: Any) -> NDArray:
        """Compute the fitted estimator's own loss of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like
            Labels.
        **params : dict
            What else its `sample_loss` takes.

        Returns
        -------
        loss : ndarray
            What its `sample_loss` returns.
        """
        return self._fitted().sample_loss(X, y, **self._routed("sample_loss", params))

    @keeping_type(available_if(offered("margin")))
    def margin(self, X: Any, y: Any, **params: Any) -> float:
        """Measure the margin of the weights that predict.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like
            Labels.
        **params : dict
            What else its `margin` takes.

        Returns
        -------
        margin : float
            What its `margin` returns.
        """
        return self._fitted().margin(X, y, **self._routed("margin", params))

    @keeping_type(available_if(offered("loss_bound")))
    def loss_bound(self, margin: float | None = None, radius: float | None = None, **params: Any) -> float:
        """Bound the loss suffered online, if the theory of the parts has a bound.

        It is the bound of one learner, and of a mixture it is `mixed_loss_` that it bounds, the mean of the shards' losses
        summed over the rounds; `estimator_.cumulative_loss_` is the sum over all shards, which may be as many times larger.

        Parameters
        ----------
        margin : float, default=None
            Margin of some weights of length 1.
        radius : float, default=None
            Largest length of a row, as the fitted estimator's `loss_bound` takes it.
        **params : dict
            What else its `loss_bound` takes.

        Returns
        -------
        bound : float
            A bound on `mixed_loss_`.
        """
        return float(self._fitted().loss_bound(margin, radius, **params))

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
        return self._fitted().score(X, y, **self._routed("score", params))

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
