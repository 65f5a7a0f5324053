"""Parameter mixing as a meta-estimator."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from joblib import hash as hash_of
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags

from sklearn_predtron._support import types
from sklearn_predtron._support.compat import BaseEstimator, CallbackSupport, MetaEstimatorMixin, with_callbacks
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.warning import warn
from sklearn_predtron.datasets._counts import check_counts
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.families.input.reading import Batch
from sklearn_predtron.families.training.factory import made_of
from sklearn_predtron.mixing._callbacks import EpochsAsRounds, NoCallbacks, RoundCallbacks
from sklearn_predtron.mixing._checkpoint import MixingCheckpoint, check_path, stable_description
from sklearn_predtron.mixing._dask import client_in_scope, map_on_cluster, on_cluster
from sklearn_predtron.mixing._dask_blocks import DaskBlock, blocks_of, is_collection, is_delayed
from sklearn_predtron.mixing._delegation import Delegating
from sklearn_predtron.mixing._rounds import MixingRun, Progress, RoundSettings, Task, in_threads, learner_of
from sklearn_predtron.mixing._shards import (
    SHARDS,
    MapTasks,
    Schema,
    cut_single_file,
    map_in_threads,
    open_shards,
    path_of,
    scan_schema,
    shards_in,
    split_into_shards,
)
from sklearn_predtron.norms import RKHS
from sklearn_predtron.norms._rkhs import UNMIXED

if TYPE_CHECKING:
    from sklearn_predtron._support.types import Self

FIXED = ("linear", "uniform")
PARTITION_SEED = 2**31  # seeds the partition of rows; no shard has this number


class ParameterMixing(Delegating, MetaEstimatorMixin, CallbackSupport, BaseEstimator):
    """Parameter mixing: shards train in parallel and are averaged.

    In a round every shard makes a pass over its own rows, from the same weights.  The mixture is the mean of the shards'
    weights, weighted by the rounds they took; norms with dual weights average these (McDonald, Hall and Mann 2010; for any
    norm, since the potential of a Predtron is convex in them).  The loss bounds of one learner hold for the mixture, with
    `mixed_loss_` in place of the cumulative loss.  Predictions use the pooled averages of all shards.

    Use it for data that one machine cannot hold or read in time; for small data sets the estimator's own `fit` is as good and
    as fast.  Shards should have a thousand rows or more, and rows should be shuffled over them.

    Parameters
    ----------
    estimator : BasePredtron
        Any estimator of the package with any norm but RKHS.  Its `average` is None, "linear", "uniform" or False, because
        shards have no order.  It is cloned; its own `max_iter`, `tol`, `warm_start`, `random_state` and callbacks have no
        effect here.
    rounds : int, default=10
        Rounds of mixing.
    passes : int, default=1
        Passes of a shard over its rows in a round.  More passes help where mixing is costly, and with norms that take small
        steps (l1, group, trace).
    shards : int, default=8
        Number of shards into which a data set in memory, or a single file, is cut.  Each item of a list and each block of a
        Dask collection is one shard.  The result depends on the number of shards, and not on `n_jobs`.
    n_jobs : int, default=None
        Number of threads, as in joblib; the training loop does not hold Python's global lock.
    cluster : str, default=None
        The address of a Dask scheduler, such as "tcp://127.0.0.1:8786", whose workers train on lists of files and functions
        (extra `cluster`).  Workers read the files in every round; a file must have the same path everywhere.  Results of
        functions stay in their memory.  Dask collections go to the client in scope, if there is one.  Lost workers are replaced:
        a round is retried three times.  Dask sends pickles: only users who may run programs on its machines should reach its
        ports.
    checkpoint : str or path-like, default=None
        A file that is written after each round.  If it exists, `fit` resumes from it, with bit-identical results, or raises an
        error that names the first difference: a parameter, a shard, or its rows.  If it cannot be written, a warning is given
        and training continues.
    random_state : int, RandomState instance or None, default=None
        Deals rows to shards, and shuffles them.

    Attributes
    ----------
    estimator_ : BasePredtron
        The fitted estimator, usable like any other.
    loss_curve_ : list of float
        The mean loss of each round; a shard's last iterate predicts each row before it is updated on the row.
    mixed_loss_ : float
        The sum over rounds of the shards' mean cumulative loss, weighted by the rounds they took; `loss_bound` bounds it.
    n_shards_ : int
        Shards.
    classes_ : ndarray of shape (n_classes,)
        The classes of a classifier.
    n_features_in_ : int
        Features of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had them.

    See Also
    --------
    sklearn_predtron.datasets.SvmlightReader : Reads a file in chunks, for `partial_fit` of one learner.

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
    0.93
    >>> alone = PredtronClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> round(alone.score(X[1000:], y[1000:]), 2)
    0.94
    """

    loss_curve_: list[float]
    mixed_loss_: float
    n_shards_: int
    _seed: int
    _zero_based: bool | None = None  # whether the files so far counted from 0; None is that there were none

    def __init__(
        self,
        estimator: Any,
        *,
        rounds: int = 10,
        passes: int = 1,
        shards: int = SHARDS,
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

    @types.keeping_type(with_callbacks)
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        classes: Any = None,
        n_features: int | None = None,
        zero_based: bool | types.AutoName = "auto",
        **params: Any,
    ) -> Self:
        """Train on a data set, or on shards, in rounds.

        Each round starts all shards from the mixture so far.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), Dask collection, or list of path or callable
            A data set in memory, which is cut into shards and not copied; or one shard each: svmlight files, read in every
            round; functions (or delayed calls) that return (X, y) or (X, y, {"qid": ..., "sample_weight": ...}); or the blocks
            of rows of a Dask array or data frame.  A single file is cut into shards, unless it is compressed.
        y : array-like or Dask collection, default=None
            Labels as for the estimator, in the row chunks of a Dask X; None with a list of shards, which hold their own labels.
        classes : array-like of shape (n_classes,), default=None
            With shards, all labels; None finds them in a first pass over files or blocks, and raises ValueError for functions.
        n_features : int, default=None
            With a list of files, the number of features; None finds it in a first pass.
        zero_based : bool or "auto", default="auto"
            With a list of files, whether indices count from 0; "auto" checks in a first pass whether any file has the index 0.
        **params : dict
            Other arguments of the estimator's `fit`, for a data set in memory or Dask collections: `sample_weight`, `qid`,
            `sid`, `groups`.  With scikit-learn's metadata routing, use the names that the estimator requests.

        Returns
        -------
        Self
            The fitted meta-estimator.

        Raises
        ------
        ShardError
            A shard cannot be learned from; nothing was learned.
        ValueError
            A parameter is not known, the estimator cannot be mixed, or the checkpoint is damaged, or of another fit.
        """
        model, given = self._mixable(), self._routed("fit", params)
        seed = int(check_random_state(self.random_state).randint(2**31))
        run = self._mixing_run(seed, self.rounds, None, RoundCallbacks(self, X, y, given))
        shards = self._shards_given(X, y, given)
        learn: Callable[[], Any]
        if shards is not None:
            found = scan_schema(model, shards, Schema(classes, n_features, zero_based), self._map_tasks(shards))
            learn = partial(self._fit_shards, run, model, shards, found, whole=True)
        else:
            self._check_in_memory_options(classes=classes, n_features=n_features, cluster=self.cluster)
            if self.shards == 1 and self.checkpoint is None:
                return self._fit_single_shard(run, model, X, y, given)
            data = None if self.checkpoint is None else hash_of([X, y, given])
            learn = partial(model._fit, X, y, partial(self._fit_partitioned, run, data), **given)
        return self._run(learn, run, model, self._cluster_target(shards))

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        classes: Any = None,
        n_features: int | None = None,
        zero_based: bool | types.AutoName = "auto",
        **params: Any,
    ) -> Self:
        """Run one round of mixing over unseen rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), Dask collection, or list of path or callable
            As for `fit`.
        y : array-like or Dask collection, default=None
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
        Self
            The meta-estimator.
        """
        first, given = not hasattr(self, "estimator_"), self._routed("partial_fit", params)
        model = self._mixable() if first else self._resumed_estimator()
        before = None if first else Progress(learner_of(model).export(), tuple(self.loss_curve_), self.mixed_loss_)
        seed = int(check_random_state(self.random_state).randint(2**31)) if first else self._seed
        run = self._mixing_run(seed, 1, before, NoCallbacks())
        shards = self._shards_given(X, y, given)
        learn: Callable[[], Any]
        if shards is None:
            self._check_in_memory_options(n_features=n_features, cluster=self.cluster)
            labels = {} if classes is None else {"classes": classes}
            learn = partial(model._partial_fit, X, y, partial(self._fit_partitioned, run, None), **labels, **given)
        else:
            known = Schema(classes, n_features, zero_based)
            found = scan_schema(model, shards, known if first else self._checked_schema(model, known), self._map_tasks(shards))
            learn = partial(self._fit_shards, run, model, shards, found)
        return self._run(learn, run, model, self._cluster_target(shards))

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks of `fit`, whose tasks are rounds.

        Requires scikit-learn 1.9 or later.

        Parameters
        ----------
        *callbacks : callback instances
            Callbacks in place of those set before, as `sklearn.callback.ProgressBar`; none removes them.

        Returns
        -------
        Self
            The meta-estimator.

        Raises
        ------
        ImportError
            If scikit-learn is older, and so has no callbacks.
        """
        return super().set_callbacks(*callbacks)

    def _shards_given(self, X: Any, y: Any, given: dict[str, Any]) -> list[Any] | None:
        """Return the shards that X lists, if any."""
        if is_collection(X):
            return blocks_of(X, y, given)
        shards = shards_in(X)
        if shards is None:
            return None
        if y is not None or given:
            raise ValueError("y and its like are not accepted beside a list of shards, which have their own.")
        return cut_single_file([DaskBlock((x,), None) if is_delayed(x) else x for x in shards], self.shards)

    def _cluster_target(self, shards: list[Any] | None) -> Any:
        """Return the address or client of the cluster; None for none."""
        from_dask = any(isinstance(shard, DaskBlock) for shard in shards or [])
        client = client_in_scope(self.cluster) if from_dask else None
        return self.cluster if client is None else client

    def _map_tasks(self, shards: list[Any]) -> MapTasks:
        """Return the function that scans shards in parallel."""
        where = self._cluster_target(shards)
        return partial(map_in_threads, self.n_jobs) if where is None else partial(map_on_cluster, where)

    def _resumed_estimator(self) -> BasePredtron:
        """Return a copy to continue with the present parameters."""
        model, given = copy.deepcopy(self.estimator_), self._mixable()
        if type(given) is not type(model):
            raise ValueError(
                f"estimator={given!r} cannot continue a fitted {type(model).__name__}; call fit to start from scratch."
            )
        return model.set_params(**given.get_params(deep=False))

    def _checked_schema(self, model: BasePredtron, given: Schema) -> Schema:
        """Return the schema of earlier calls; raise ValueError for another one."""
        known = Schema(getattr(model, "classes_", None), getattr(model, "n_features_in_", None), self._zero_based)
        for name, value, other in zip(Schema._fields, given, known, strict=True):
            if name == "classes" and value is not None and other is not None:
                same = set(np.unique(value).tolist()) == set(other.tolist())
            else:
                same = value is None or value == other or (name == "zero_based" and (value == "auto" or other is None))
            if not same:
                raise ValueError(f"{name}={shortened(value)} is not the same as on the first call: {shortened(other)}.")
        return known._replace(zero_based=given.zero_based if known.zero_based is None else known.zero_based)

    def _mixable(self) -> BasePredtron:
        """Return a validated clone of the estimator."""
        check_counts(rounds=self.rounds, passes=self.passes, shards=self.shards)
        if self.checkpoint is not None:
            check_path(self.checkpoint)
        if self.checkpoint is not None and not isinstance(self.random_state, Integral):
            raise ValueError(
                f"random_state={self.random_state!r} cannot be compared when a fit resumes from its checkpoint; accepted with "
                "a checkpoint are integers."
            )
        if not isinstance(self.estimator, BasePredtron):
            raise ValueError(f"estimator={self.estimator!r} is not an estimator of this package.")
        average = self.estimator.average
        if not (average is None or average is False or (isinstance(average, str) and average in FIXED)):
            raise ValueError(
                f"average={average!r} cannot be mixed, for shards have no order; accepted are None, 'linear', 'uniform' and "
                "False."
            )
        cv = getattr(self.estimator, "cv", None)
        if not (cv is None or (isinstance(cv, Integral) and cv == 0)):
            raise ValueError(f"cv={cv!r}: shards have one learner each, and no folds; accepted are None and 0.")
        model = clone(self.estimator)
        if isinstance(model._norm_of_weights(), RKHS):
            raise ValueError(UNMIXED)
        model.average = "linear" if average is None else average
        if getattr(self.estimator, "_skl_callbacks", None):
            model.set_callbacks()
            warn("callbacks of the estimator are not called: they watch the epochs of one learner, and shards have one each.")
        return model

    def _check_in_memory_options(self, **given: Any) -> None:
        """Raise ValueError for shard options with data in memory."""
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"{name}={shortened(value)} is for a list of shards, and X is a data set in memory.")

    def _mixing_run(self, seed: int, rounds: int, before: Progress | None, tasks: NoCallbacks) -> MixingRun:
        """Return the mixing run of a call."""
        run = MixingRun(RoundSettings(seed, self.passes, bool(self.estimator.shuffle)), rounds, before, tasks)
        run.zero_based, run.fitted = self._zero_based if before else None, partial(self._fitted_attributes, run)
        return run

    def _fitted_attributes(self, run: MixingRun, model: BasePredtron, progress: Progress) -> dict[str, Any]:
        """Return the attributes of a fitted mixture."""
        learned = {"estimator_": model, "loss_curve_": list(progress.losses), "mixed_loss_": progress.mixed_loss}
        return {**learned, "n_shards_": run.n_shards, "_seed": run.settings.seed, "_zero_based": run.zero_based}

    def _fit_single_shard(self, run: MixingRun, model: BasePredtron, X: Any, y: Any, given: dict[str, Any]) -> Self:
        """Fit the estimator itself on a single shard in memory."""
        own = {name: getattr(model, name) for name in ("max_iter", "tol", "random_state")}
        model.set_params(max_iter=self.rounds * self.passes, tol=None, random_state=self.random_state)
        model.set_callbacks(EpochsAsRounds(run.tasks, self.rounds, self.passes, partial(self._single_shard_attributes, run, own)))
        model.fit(X, y, **given)
        self.__dict__.update(self._single_shard_attributes(run, own, model))
        return self

    def _single_shard_attributes(self, run: MixingRun, own: dict[str, Any], model: BasePredtron) -> dict[str, Any]:
        """Return the fitted attributes for a single shard."""
        model.set_callbacks().set_params(**own)
        learned: Any = model._model
        epochs, run.n_shards = model.loss_curve_, 1
        losses = [float(np.mean(epochs[i : i + self.passes])) for i in range(0, len(epochs), self.passes)]
        learned.fit_record = {**learned.fit_record, "loss_curve_": losses}
        return self._fitted_attributes(run, model, Progress({}, tuple(losses), model.cumulative_loss_))

    def _fit_partitioned(self, run: MixingRun, data: str | None, model: BasePredtron, batch: Batch) -> None:
        """Train on a partition of a data set in memory."""
        learned: Any = model._model
        learned.check_rows(batch.X, batch.rows)
        before = run.before
        random = np.random.default_rng([run.settings.seed, len(before.losses) if before else 0, PARTITION_SEED])
        shards = split_into_shards(model, batch, self.shards, random)
        checkpoint = None if data is None else self._checkpoint_of(model, shards, run, data)

        def finish(model: BasePredtron) -> None:
            if before is None:
                learned.fit_decision_on_rows(learned.decision_of(model._decision), batch)

        run.take(model, shards, checkpoint, finish)

    def _fit_shards(self, run: MixingRun, model: BasePredtron, given: list[Any], found: Schema, *, whole: bool = False) -> None:
        """Train on files and functions, validating their labels."""
        fresh = run.before is None
        if any(path_of(x) is not None for x in given):
            run.zero_based = found.zero_based
        shards = open_shards(model, given, found, fresh=fresh)
        kept = self.checkpoint is not None and fresh

        def finish(model: Any) -> None:
            learned = model._model
            if isinstance(learned.call_metadata, bool):  # queries or sequences, whichever shard they are in
                learned.call_metadata |= learned.learner.t > self.passes * len(model.loss_curve_)

        run.take(model, shards, self._checkpoint_of(model, shards, run, None) if kept else None, finish)
        learned: Any = model._model
        if model._decision(learned.labels).on_rows:
            decision = model.get_params(deep=False)["decision"]
            warn(
                f"decision={decision!r} fits the cut to rows in memory, and uses 0 for shards; pass a number that was chosen on "
                "held-out rows."
            )
        if whole and learned.learner.t == 0:
            raise ValueError("sample_weight is zero for every row of the shards; at least one weight must be positive.")

    def _run(self, learn: Callable[[], Any], run: MixingRun, model: BasePredtron, where: Any) -> Self:
        """Run, and adopt the model of the last complete round."""
        try:
            with Parallel(n_jobs=self.n_jobs, require="sharedmem") as workers:
                run.engine = partial(in_threads, partial(self._run_in_parallel, workers))
                if where is not None:
                    run.engine = partial(on_cluster, where)
                learn()
        except KeyboardInterrupt:
            if run.progress is not None:
                self.__dict__.update(self._fitted_attributes(run, model, run.progress))
            raise
        assert run.progress is not None
        self.__dict__.update(self._fitted_attributes(run, model, run.progress))
        return self

    def _run_in_parallel(self, workers: Parallel, tasks: Iterable[Task]) -> None:
        """Run the tasks of a round in parallel."""
        workers(delayed(task)(*arguments) for task, arguments in tasks)

    def _checkpoint_of(self, model: BasePredtron, shards: list[Any], run: MixingRun, data: str | None) -> MixingCheckpoint:
        """Return the checkpoint of a fit."""
        parameters = dict(sorted(model.get_params().items()))
        own = {"estimator": type(model).__name__, **{name: stable_description(value) for name, value in parameters.items()}}
        mixing = {"passes": int(self.passes), "mixing's random_state": int(self.random_state)}
        classes = getattr(model, "classes_", None)
        rows = {
            "n_features": getattr(model, "n_features_in_", None),
            "classes": None if classes is None else [repr(label) for label in classes.tolist()],
            "zero_based": run.zero_based,
            "shards": [[shard.name, shard.size] for shard in shards],
            "hash of the data": data,
        }
        code = hash_of([made_of(value) for value in parameters.values()])
        return MixingCheckpoint(self.checkpoint, {**own, **mixing, **rows, "hash of the parameters": code})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)
