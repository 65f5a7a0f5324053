"""From the parameters of a call to a model: problem, weights, update and average."""

from __future__ import annotations

import copy
from types import CodeType, FunctionType
from typing import Any

import joblib
import numpy as np

from sklearn_predtron._core.averages import Average, ChoosingAverage, LinearAverage
from sklearn_predtron._core.learner import Learner, Observer
from sklearn_predtron._core.problem import Problem
from sklearn_predtron._core.rows import Rows
from sklearn_predtron._core.weights import Weights
from sklearn_predtron._support.parts import Part, resolve
from sklearn_predtron.families.input.reading import TrainingInput, begin_as_table, warn_of_scales
from sklearn_predtron.families.input.tables import map_of
from sklearn_predtron.families.model.model import Model, evaluation_interval, set_recording_interval
from sklearn_predtron.features import FeatureMap
from sklearn_predtron.norms import L2, RKHS, Auto, Norm
from sklearn_predtron.norms._norms import MonotoneL2
from sklearn_predtron.norms._opposite import OppositeMap
from sklearn_predtron.problems._finite import FiniteProblem
from sklearn_predtron.updates import Update, build_rule

BEGAN, MEAN = "a model", "folds"  # recorded for weights that started from a model, or are the mean of several
FIXED_AVERAGES = {"linear": LinearAverage, "uniform": Average}


class LearnerFactory:
    """The learners of one configuration, whose parts are made once from the parameters of a call.

    Each learner gets copies of the parts, because several may be trained side by side.

    Parameters
    ----------
    estimator : BasePredtron
        The parameters.
    labels : Codec
        How labels are read and written.
    problem : Problem
        The problem of these labels.
    rows : Rows
        Rows like those to come.
    norm : str or Norm
        The norm of the weights.
    partial : bool, default=False
        Whether the learners are of streams.
    """

    def __init__(self, estimator: Any, labels: Any, problem: Problem, rows: Rows, norm: Any, *, partial: bool = False):
        self.problem, self.rows, self.norm = problem, rows, resolve(Norm, norm, "norm")
        self.update, self.average = update_of(estimator, problem), average_of(estimator, problem, rows, partial=partial)
        self.intercept = estimator._intercept(labels)

    def weights(self, problem: Problem) -> Weights:
        """Return weights that are zeros."""
        averaged, intercept, orders = self.average is not None, copy.copy(self.intercept), self.rows.orders
        norm = self.norm if orders is None else MonotoneL2(orders * [1, 1, 1, 1, 1, direction_of(problem)])
        weights = problem.score_map.build(norm, self.rows.p, intercept, sparse=self.rows.sparse, average=averaged)
        weights.keep_averages(kept_by(self.average, weights))
        weights.reserve(self.rows)
        return weights

    def of_rows(self, rows: Rows) -> LearnerFactory:
        """Return a factory of learners for other rows, of any number of features, with the same parts."""
        other = copy.copy(self)
        other.rows = rows
        return other

    def learner(self, observer: Observer | None = None) -> Learner:
        """Return an untrained learner with the parts themselves."""
        return Learner(self.weights(self.problem), self.problem, self.update, self.average or Average(), observer)

    def another(self, labels: Any) -> Learner:
        """Return an untrained learner with copied parts; it is for labels like these."""
        problem = copy.copy(self.problem)  # a user's own problem is the same object
        problem.prepare(labels)
        update, average = copy.deepcopy((self.update, self.average))
        return Learner(self.weights(problem), problem, update, average or Average(), None)


# ---------------------------------------------------------------------------------------------------------------- models


def new_model(estimator: Any, reading: TrainingInput, *, partial: bool, sparse: bool | None = None) -> Model:
    """Return an untrained model for rows and labels.

    Where the format of new rows, and their columns' scales, do not tell whether they are `sparse`, it is given.
    """
    rows, labels = reading.batch.rows, reading.labels
    mapped = isinstance(reading.columns.features, FeatureMap)
    automatic = isinstance(estimator._part(Norm, "norm"), Auto) and reading.columns.features is None
    if sparse is None and rows.sparse and automatic and begin_as_table(reading.batch):
        sparse = False
    norm = norm_for(estimator, sparse=mapped or (rows.sparse if sparse is None else sparse))
    if norm != norm_for(estimator, sparse=mapped or rows.sparse):
        labels = labels.standardised()
    problem: Problem = estimator._build_problem(labels)
    problem.prepare(reading.batch.labels)
    if reading.columns.features is not None:
        check_takes_features(estimator, norm_for(estimator, sparse=True), problem)
    # Rows of a table that are stored as CSR are of both formats, and none is another.
    first_sparse = rows.sparse if automatic and sparse in (None, rows.sparse) else None
    if first_sparse:
        warn_of_scales(rows.matrix())
    observer = observer_of(estimator, labels, problem, None, partial=partial)
    learner = LearnerFactory(estimator, labels, problem, rows, norm, partial=partial).learner(observer)
    set_recording_interval(learner, rows.p)
    fixed, name = fixed_parameters(estimator, norm), type(estimator).__name__
    training_parts = fingerprint(problem, learner.update)
    loss = loss_of(estimator)
    known = {"first_sparse": first_sparse, "call_metadata": reading.call_metadata}
    return Model(name, learner, labels, reading.columns, norm, loss, fixed, training_parts, **known)


def changed_model(estimator: Any, model: Model, reading: TrainingInput, *, partial: bool) -> Model:
    """Return a model that continues with the present parameters; raise ValueError if one changed that cannot."""
    learner, labels, rows = model.learner, reading.labels, reading.batch.rows
    problem: Problem = estimator._build_problem(labels)
    problem.prepare(reading.batch.labels)
    problem.go_on_from(learner.problem)
    with learner.lock.changing():  # others may be reading the observer, which gets the parameters
        observer = observer_of(estimator, labels, problem, learner.observer, partial=partial)
    update, average = update_of(estimator, problem), average_of(estimator, problem, rows, partial=partial)
    check_fixed(estimator, model)
    if not can_go_on(learner, problem):
        start = "call fit with warm_start=False" if estimator.warm_start else "call fit"
        raise ValueError(
            f"{estimator._parameter_of_scores()} has {number_of_scores(problem)} and the weights so far have "
            f"{number_of_scores(learner.problem)}; {start} to start from scratch."
        )
    if update.kind == learner.update.kind:
        update.__setstate__(learner.update.state())
    kept = kept_by(average, learner.weights)
    if learner.weights.averaging > kept:
        learner = copy.deepcopy(learner)  # others may be reading the averages
        if average is not None and average.keep < 1:
            learner.weights.swap_average(2)  # the candidate that forgets continues
    if learner.weights.averaging != kept:  # one that begins takes no copy of weights, which may be wide
        with learner.lock.changing():
            learner.weights.keep_averages(kept)
    if type(average) is type(learner.average) is ChoosingAverage:
        average = learner.average
    fitted_decision = model.fitted_decision if observer is learner.observer else None
    training_parts = "several" if learner.t > 0 and differs(model, problem, update) else model.training_parts
    learner = learner.with_parts(problem, update, average, observer)
    known = {"labels": labels, "columns": reading.columns, "call_metadata": reading.call_metadata}
    return model.replace(
        learner=learner, loss=loss_of(estimator), fitted_decision=fitted_decision, training_parts=training_parts, **known
    )


# ----------------------------------------------------------------------------------------------------------------- parts


def update_of(estimator: Any, problem: Problem) -> Any:
    """Return the rule of the parameter `update`."""
    return build_rule(resolve(Update, estimator.update, "update", lambda update: build_rule(update, problem)), problem)


def average_of(estimator: Any, problem: Problem, rows: Rows, *, partial: bool) -> Average | None:
    """Return the average of a stream or epochs; None if the last iterate predicts."""
    average = estimator.average
    if isinstance(average, (bool, np.bool_)) and not average:
        return None
    if isinstance(average, (bool, np.bool_)):
        raise ValueError(
            "average=True is ambiguous; accepted are None, 'auto', 'linear', 'uniform', a half-life in rounds and False."
        )
    if average is None:
        average = "auto" if partial else "linear"
    if average == "auto":
        return ChoosingAverage(evaluation_interval(problem, rows.p))
    return FIXED_AVERAGES[average]() if isinstance(average, str) else Average(float(average))


def observer_of(estimator: Any, labels: Any, problem: Problem, present: Observer | None, *, partial: bool) -> Observer | None:
    """Return the decision's observer of rounds; None if the decision needs none and averages would be summed for it."""
    decision, average = estimator._decision(labels), estimator.average
    chooses = average == "auto" or (partial and average is None)
    if not decision.needs_scores and not chooses and average is not False:
        return None
    return decision.observer(problem, present)


def loss_of(estimator: Any) -> Any:
    """Return the parameter `loss`, without later changes; None for tables of costs, which problems hold."""
    loss = getattr(estimator, "loss", None)
    return copy.copy(loss) if isinstance(loss, (str, Part)) or callable(loss) else None


def norm_for(estimator: Any, *, sparse: bool) -> Any:
    """Return the parameter `norm`, with "auto" replaced by the norm for sparse or for dense rows."""
    norm = estimator._part(Norm, "norm")
    return norm.for_rows(sparse=sparse).alias if isinstance(norm, Auto) else estimator.norm


# ------------------------------------------------------------------------------------- parameters that stay while weights live


def fixed_parameters(estimator: Any, norm: Any) -> dict[str, Any]:
    """Return the parameters that cannot change while the weights live."""
    part = resolve(Norm, norm, "norm")
    own = {"norm": part_parameters(part), "features": part_parameters(map_of(estimator.features))}
    return {**own, **estimator._fixed_parameters()}


def check_takes_features(estimator: Any, norm: Any, problem: Problem) -> None:
    """Raise ValueError for kernels of mapped features, and for monotone curves of other norms or problems."""
    part, constraints = resolve(Norm, norm, "norm"), getattr(map_of(estimator.features), "monotonic_cst", None)
    if constraints is not None and not isinstance(part, L2):
        raise ValueError(
            f"monotonic_cst={constraints!r} does not go with norm={estimator.norm!r}; accepted are 'auto' and 'l2', under which "
            "weights are replaced by the nearest ones of monotone curves."
        )
    if constraints is not None and direction_of(problem) == 0:
        raise ValueError(
            f"monotonic_cst={constraints!r} does not go with {number_of_scores(problem)} of a {type(estimator).__name__}; "
            "accepted are classifiers of two classes, and of ranks with representation='shared'."
        )
    if isinstance(part, RKHS):
        raise ValueError(
            f"norm={estimator.norm!r} does not go with features={estimator.features!r}, whose rows are not kept; "
            "accepted are the other norms, and for kernels a pipeline with the map before the estimator."
        )


def direction_of(problem: Problem) -> int:
    """Return 1 if the only score rises towards the last class, -1 if it falls, and 0 if there is no such score."""
    is_opposite = isinstance(problem.score_map, OppositeMap)
    if not isinstance(problem, FiniteProblem) or not (is_opposite or problem.score_map.n_directions == 1):
        return 0
    change = np.array([[1.0, -1.0]]) if is_opposite else np.ones((1, problem.d))
    rise = np.diff(problem.decision(change)[0])
    return int((rise > 0).all()) - int((rise < 0).all())


def check_fixed(estimator: Any, model: Model) -> None:
    """Raise ValueError for changed parameters that must not change."""
    for name, value in fixed_parameters(estimator, estimator._norm_of_weights()).items():
        if value != model.fixed[name]:
            raise ValueError(
                f"{name} cannot change from {readable(model.fixed[name])} to {readable(value)} after the first "
                "training call; call fit to start from scratch."
            )


def readable(value: Any) -> str:
    """Return a fixed parameter for a message, parts as calls."""
    if not isinstance(value, tuple):
        return repr(value)
    name, params = value
    return f"{name.rpartition('.')[2]}({', '.join(f'{key}={given!r}' for key, given in params.items())})"


def part_parameters(part: Part | None) -> Any:
    """Return a part's class and parameters; they are the same for an alias and an instance."""
    if part is None:
        return None
    params = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in part.get_params().items()}
    return f"{type(part).__module__}.{type(part).__qualname__}", params


def kept_by(average: Average | None, weights: Weights) -> int:
    """Return the number of averages for `average`; the weights keep them."""
    return 0 if average is None else min(average.kept, weights.most_averages)


def can_go_on(learner: Learner, problem: Problem) -> bool:
    """Return whether weights also suit another problem; it must have as many scores, of the same meaning."""
    of_pairs, were_of_pairs = (each.of_one_score is not None for each in (problem, learner.problem))
    return problem.d == learner.problem.d and problem.score_map.is_of(learner.weights.score_map) and of_pairs == were_of_pairs


def number_of_scores(problem: Problem) -> str:
    """Return the number of scores of a problem, in words."""
    of_one, of_pairs = problem.score_map.offsets_apart, problem.of_one_score is not None
    which = " of one direction" if of_one else " of pairs" if of_pairs else problem.score_map.relation
    return f"{problem.d} score{'s' * (problem.d > 1)}{which}"


def differs(model: Model, problem: Problem, update: Any) -> bool:
    """Return whether rounds had other parts; they are the loss, the representation and the update."""
    return model.training_parts not in (None, MEAN, fingerprint(problem, update))


def fingerprint(problem: Any, update: Any) -> str:
    """Return text that identifies a compiled problem and update."""
    return joblib.hash([made_of(problem), made_of(update)])


def made_of(value: Any) -> Any:
    """Return plain values that identify a part; user-defined objects, which can change, are identified by class."""
    if value is None or isinstance(value, (str, bytes, bool, int, float, np.generic, np.ndarray)):
        return value
    if isinstance(value, (list, tuple)):
        return [made_of(item) for item in value]
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, FunctionType):
        return [kind, value.__qualname__, made_of(value.__code__)]
    if isinstance(value, CodeType):
        return [kind, value.co_code, made_of(value.co_consts), made_of(value.co_names)]
    if hasattr(value, "get_params") and not isinstance(value, type):
        return [kind, sorted((name, made_of(item)) for name, item in value.get_params(deep=False).items())]
    if hasattr(type(value), "__pyx_vtable__"):
        return [kind, made_of(value.__reduce__()[1])]
    return [kind, getattr(value, "__qualname__", "")]
