"""The training plan: everything that a fit is going to do, decided before anything is trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._support.compat import CvObject, Options
from sklearn_predtron._support.names import refuse_class
from sklearn_predtron._support.queries import shortened
from sklearn_predtron.decisions._base import Decision
from sklearn_predtron.families.input.reading import Batch, Columns, ResamplingUnits, RowReader
from sklearn_predtron.families.input.tables import map_of
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.model.model import Model
from sklearn_predtron.families.training.factory import LearnerFactory, kept_by
from sklearn_predtron.features import Auto, FeatureMap, PiecewiseLinear, RandomFourier
from sklearn_predtron.features._knots import LARGEST
from sklearn_predtron.features._pairs import PairRanking
from sklearn_predtron.losses._row_costs import POWERS

ACCEPTED: list[Any] = [CvObject(), Options(Integral, {0})]  # by the parameter `cv`
MOST_COLUMNS = 300  # of numbers that are compared with maps: pixels and embeddings have more, and gain little for much time
LEAST_ROWS, LEAST_UNITS = 6, 20  # from which on validation pays: rows as they are, and other units
SPARSE = 0.1  # of the values of sparse rows, at most, are not 0
MOST_WEIGHTS = 2**21  # of a model of which five may be kept side by side
LARGEST_SPLIT, SHARE = 5_000, 5  # a validation split has one unit in five, and at most so many
FOLDS_SEED, FEW_SEED = 5, 7  # of what draws the folds, and the rows of a first comparison, beside the seed of the fit
FIRST_EPOCHS, FIRST_ROWS = 3, 3_000  # of the first comparison of feature maps, at most

Finish = Literal["keep", "average", "refit"]
Kind = Literal["rows", "sparse sets", "rankings", "tables", "sequences", "large", "single", "kernels", "nothing"]


class Shape(NamedTuple):
    """The plan of a fit by its sizes alone.

    Parameters
    ----------
    n_models : int
        The number of models from which rows are held out: 0, 1 with a validation split, or the number of folds.
    evaluate_after : tuple of int
        The epochs after which held-out rows are scored and candidates compared; () scores them once, at the end.
    finish : {"keep", "average", "refit"}
        The final model: one that is trained on all rows before the held-out rows are scored by others, the mean of the fold
        models, or the best candidate trained on all rows.
    n_folds : int, default=0
        The number of folds if some have no model, and 0 otherwise.
    """

    n_models: int
    evaluate_after: tuple[int, ...] = ()
    finish: Finish = "keep"
    n_folds: int = 0


def default_shape(kind: Kind, n: int) -> Shape:
    """Return the plan of ``cv=None`` for n units (rows, queries, sequences).

    Its cost, the epochs of all models, grows smoothly with n: no size costs more than about twice a slightly larger one.

    Parameters
    ----------
    kind : str
        "rows", as they are; "sparse sets", label sets of sparse rows; "rankings", of documents and of labels; "tables", whose
        features are computed in each epoch; "sequences"; "large", models of more than two million weights; "single", models that
        cannot be averaged, as under ``average="auto"``, ``warm_start=True`` and callbacks that choose the epochs; "kernels";
        "nothing", where no held-out score is needed.
    n : int
        How many there are to train on.
    """
    if kind == "nothing" or n < 2:
        return Shape(0)
    if kind in ("single", "kernels"):
        many = 10_000 if kind == "single" else 2_000
        return Shape(3 if n <= many else 2) if n <= 2 * many else Shape(1)
    if n < (LEAST_ROWS if kind in ("rows", "sparse sets") else LEAST_UNITS):
        return Shape(0)
    if kind == "sequences":
        return Shape(1, (10, 25), "refit")
    if kind == "large":
        return Shape(1, (1, 3, 10), "refit")
    if kind == "tables":
        epochs = checkpoints(n, 1_000, min(100, max(10, min(31, 1_000_000 // n), 100_000 // n)))
        n_models = max(1, min(5, 4_000 // n))  # each is trained on four rows in five, and some 800 rows are held out
        if n_models == 1:
            return Shape(1, epochs, "refit" if n <= 60_000 else "average")  # of more rows those held out are few
        return Shape(n_models, epochs, "average" if n_models > 2 else "refit", 5)
    n_models = max(2, min(5, 1 + 120_000 // n))
    epochs = checkpoints(n, 2_000, max(3, min(100, int(100 * (3_000 / n) ** 0.5))))
    if kind == "rankings":  # the losses of few epochs are noisy, and ten were nearly always better
        epochs = tuple(mark for mark in epochs if mark >= 10) or epochs[-1:]
    # The scores of a mean are smaller for rare features, which not all models know: it predicts too few labels.
    return Shape(n_models, epochs, "refit" if kind == "sparse sets" else "average")


def checkpoints(n: int, few: int, last: int) -> tuple[int, ...]:
    """Return the epochs after which n rows are evaluated: few rows not after the first epoch, and at most `last` epochs."""
    return *(epochs for epochs in (1, 3, 10, 31) if (epochs > 1 or n > few) and 3 * epochs <= 2 * last), last


class Validation(NamedTuple):
    """Which units are held out of which fold model.

    Parameters
    ----------
    units : ResamplingUnits
        The units: rows, or blocks of rows.
    fold : ndarray of shape (n_units,)
        The number of the model that each unit is held out of; other numbers are held out of none, and units of negative ones
        are not trained on either.
    n_models : int
        The number of models.
    """

    units: ResamplingUnits
    fold: NDArray
    n_models: int

    def trained(self, number: int) -> NDArray:
        """Return the numbers of the units that a model is trained on."""
        return self.units.numbers[(self.fold != number) & (self.fold >= 0)]

    def rows_trained(self, number: int) -> NDArray:
        """Return the rows that a model is trained on."""
        return self.units.rows_of((self.fold != number) & (self.fold >= 0))


class Candidate(NamedTuple):
    """A configuration: the rows and their weights, and what reads the labels and the columns."""

    batch: Batch
    labels: Codec
    columns: Columns
    norm: Any
    ranking: PairRanking | None = None  # of the pairs of columns that the map may have products of

    @property
    def late(self) -> bool:
        """Whether its features need some epochs before they are at their best."""
        return isinstance(self.columns.features, RandomFourier)

    @property
    def has_one_map(self) -> bool:
        """Whether the map does not depend on labels."""
        features = self.columns.features
        return self.ranking is None or not isinstance(features, PiecewiseLinear) or features._pairs_of(self.ranking) is None

    def by_labels_of(self, rows: NDArray | None) -> Candidate:
        """Return the candidate whose map depends on the labels of these rows alone; None is all rows."""
        return self if self.has_one_map else self.with_map(self.columns.features._with_pairs(self.ranking, rows))

    def with_map(self, features: FeatureMap) -> Candidate:
        """Return the same configuration with another map."""
        rows = self.batch.rows.remade(features.rows)
        return self._replace(batch=self.batch._replace(rows=rows), columns=self.columns._replace(features=features))

    def refinements(self) -> list[Candidate]:
        """Return the candidates to compare with the best one.

        They have other powers of the costs of rows, or other representations of the labels.
        """
        powers = () if self.batch.costs is None else POWERS[1:]
        others = [self._replace(batch=self.batch.by_power(power)) for power in powers]
        return [*others, *(self._replace(labels=labels) for labels in self.labels.refinements())]

    def factory(self, estimator: Any) -> LearnerFactory:
        """Return the factory of its learners."""
        return LearnerFactory(estimator, self.labels, estimator._build_problem(self.labels), self.batch.rows, self.norm)


@dataclass(frozen=True)
class TrainingPlan:
    """What a fit is going to do.

    Parameters
    ----------
    validation : Validation or None
        Which units are held out of which model.
    evaluate_after : tuple of int
        The epochs after which candidates are evaluated on their held-out units; () chooses nothing.
    finish : {"keep", "average", "refit"}
        What the final model is made of, as for `Shape`.
    epochs : int
        The number of epochs where nothing is chosen, and otherwise the largest number.
    seed : int or None
        The seed of all that is drawn; None draws nothing.
    candidates : tuple of Candidate, default=()
        The configurations to compare, the default first.
    maps : TrainingPlan, default=None
        The plan by which feature maps are compared with the columns as they are, after this one.
    """

    validation: Validation | None
    evaluate_after: tuple[int, ...]
    finish: Finish
    epochs: int
    seed: int | None
    candidates: tuple[Candidate, ...] = ()
    maps: TrainingPlan | None = None

    def first_comparison(self) -> TrainingPlan:
        """Return the plan of the first comparison of feature maps.

        It has few epochs of few rows.  It is this plan if that begins in the same way.
        """
        validation = self.validation
        assert validation is not None
        epochs, units = min(FIRST_EPOCHS, self.epochs), validation.units
        most = max(LEAST_UNITS, FIRST_ROWS * len(units.numbers) // len(units.rows))
        trained = np.flatnonzero(validation.fold >= validation.n_models)
        if len(trained) > most:
            random = generator_of(self.seed, FEW_SEED)
            fold = validation.fold.copy()
            fold[trained] = -1
            few = np.arange(most) * len(trained) // most if random is None else random.permutation(len(trained))[:most]
            fold[trained[few]] = validation.n_models
            validation = validation._replace(fold=fold)
        elif epochs in self.evaluate_after:
            return self
        return replace(self, validation=validation, evaluate_after=(epochs,), epochs=epochs)

    def evaluated_once(self, epochs: int) -> TrainingPlan:
        """Return the same plan with one evaluation, after some epochs."""
        return replace(self, evaluate_after=(epochs,), epochs=epochs)

    def without_validation(self, epochs: int) -> TrainingPlan:
        """Return the plan of one model of all rows."""
        return TrainingPlan(None, (), "keep", epochs, self.seed)

    @property
    def shape(self) -> Shape:
        """The plan without the data."""
        return Shape(0 if self.validation is None else self.validation.n_models, self.evaluate_after, self.finish)


def plan_training(
    estimator: Any, model: Model, reader: RowReader, batch: Batch, decision: Decision, seed: int | None, *, fresh: bool
) -> TrainingPlan:
    """Return the plan of a fit: the only place that reads `cv`, `max_iter`, `warm_start` and sizes.

    Parameters
    ----------
    estimator : BasePredtron
        The parameters.
    model : Model
        The model in progress, which was not trained yet if it is `fresh`.
    reader : RowReader
        What makes rounds of rows.
    batch : Batch
        The data.
    decision : Decision
        Says which scores are needed.
    seed : int or None
        Of what is drawn.
    fresh : bool
        Whether the model starts from scratch.
    """
    cv, given = getattr(estimator, "cv", None), estimator.max_iter
    single = why_single_model(estimator, model)
    n = batch.rows.n if batch.order is None else len(batch.order)
    epochs = given or usual_epochs(estimator, n, model.learner)
    nothing = TrainingPlan(None, (), "keep", epochs, seed)
    if isinstance(cv, Integral) and cv == 0:
        return nothing
    if cv is not None:
        if single is not None:
            raise ValueError(f"cv={shortened(cv)} does not go with {single}; accepted are cv=None and cv=0.")
        units = reader.units(batch, model.labels)
        fold, n_models = given_folds(cv, units, seed, reader, batch, model.labels)
        sets = usual_kind(model, batch) == "sparse sets"
        usual = default_shape("tables" if batch.rows.made else "rows", max(len(fold), LEAST_UNITS)).evaluate_after
        evaluate_after = usual if given is None else (given,)
        candidates = candidates_of(estimator, model, batch)
        finish: Finish = "refit" if sets else "average"
        plan = TrainingPlan(Validation(units, fold, n_models), evaluate_after, finish, evaluate_after[-1], seed, candidates)
        return replace(plan, maps=plan) if compares_maps(estimator, model, batch) else plan
    if not fresh:
        return nothing
    kind = kind_of_plan(estimator, model, decision, batch, single)
    if kind == "nothing":
        return nothing
    units = reader.units(batch, model.labels)
    shape = default_shape(kind, len(units.numbers))
    evaluate_after = (given,) if shape.evaluate_after and given is not None else shape.evaluate_after
    validation = drawn_validation(shape, units, reader, batch, seed)
    if validation is None:
        return nothing
    if not evaluate_after:
        return replace(nothing, validation=validation, finish=shape.finish)
    candidates = candidates_of(estimator, model, batch)
    plan = TrainingPlan(validation, evaluate_after, shape.finish, evaluate_after[-1], seed, candidates)
    if not compares_maps(estimator, model, batch):
        return plan
    if model.columns.features is not None:
        return replace(plan, maps=plan)
    shape = default_shape("sequences" if kind == "sequences" else "tables", len(units.numbers))
    validation = drawn_validation(shape, units, reader, batch, seed)
    if validation is None:
        return plan
    evaluate_after = shape.evaluate_after if given is None else (given,)
    return replace(plan, maps=TrainingPlan(validation, evaluate_after, shape.finish, evaluate_after[-1], seed))


def compares_maps(estimator: Any, model: Model, batch: Batch) -> bool:
    """Return whether feature maps are compared: those of a table, or under "auto" those of numbers with the numbers."""
    features = model.columns.features
    if features is not None:
        return len(features.choices()) > 1
    X = batch.X
    if not isinstance(map_of(estimator.features), Auto) or not isinstance(X, np.ndarray):
        return False
    return 0 < X.shape[1] <= MOST_COLUMNS and float(np.abs(X).max()) < LARGEST


def usual_kind(model: Model, batch: Batch) -> Literal["rows", "sparse sets", "sequences"]:
    """Return the kind of a plan for such labels.

    Rows are sparse if most values are 0, in CSR and in arrays, so that both train alike.
    """
    kind = model.labels.plan_kind
    if kind != "sets":
        return kind
    if batch.rows.made:
        return "rows"
    n_values = np.count_nonzero(batch.X if isinstance(batch.X, np.ndarray) else batch.X.data)
    return "sparse sets" if n_values < SPARSE * batch.X.shape[0] * batch.X.shape[1] else "rows"


def kind_of_plan(estimator: Any, model: Model, decision: Decision, batch: Batch, single: str | None) -> Kind:
    """Return the kind of a fit under ``cv=None``."""
    kernel = model.learner.weights.expansion is not None
    chooses = hasattr(estimator, "cv") and single is None and (decision.needs_scores or decision.calibration is None)
    if not chooses:
        if not decision.needs_scores:
            return "nothing"
        return "kernels" if kernel else "single"
    usual = usual_kind(model, batch)
    if usual == "sequences":
        return usual
    if model.problem.d * batch.rows.p > MOST_WEIGHTS:
        return "large"
    if batch.rows.made:
        return "tables"
    return "rankings" if decision.calibration is None else usual


def why_single_model(estimator: Any, model: Model) -> str | None:
    """Return why several models cannot be averaged or compared; None if they can."""
    learner = model.learner
    if estimator.warm_start:
        return "warm_start=True, which continues with one model"
    if learner.weights.expansion is not None:
        return "norm='rkhs', whose expansions have no mean"
    if kept_by(learner.average, learner.weights) > 1:
        return f"average={estimator.average!r}, which chooses among several; accepted is also average=None"
    if any(getattr(callback, "chooses_epochs", False) for callback in getattr(estimator, "_skl_callbacks", ())):
        return "a callback that chooses the epochs"
    return None


def drawn_validation(
    shape: Shape, units: ResamplingUnits, reader: RowReader, batch: Batch, seed: int | None
) -> Validation | None:
    """Return the folds or the split of a plan; None where it has none, or too little is left to train on."""
    n = len(units.numbers)
    n_folds = shape.n_folds or (shape.n_models if shape.n_models > 1 else -(-n // min(LARGEST_SPLIT, max(1, n // SHARE))))
    if shape.n_models == 0 or not reader.has_enough_rows(n - -(-n // n_folds), batch):
        return None
    fold = folds_of(units.strata, generator_of(seed, FOLDS_SEED), n_folds)
    return Validation(units, np.minimum(fold, shape.n_models), shape.n_models)


def given_folds(
    cv: Any, units: ResamplingUnits, seed: int | None, reader: RowReader, batch: Batch, codec: Any
) -> tuple[NDArray, int]:
    """Return the fold of each unit by the parameter `cv`, and the number of folds."""
    n = len(units.numbers)
    if isinstance(cv, Integral):
        if int(cv) > n:
            raise ValueError(f"cv={cv} is more than the {n} units that are held out in turn; accepted is at most that.")
        fold, n_folds = folds_of(units.strata, generator_of(seed, FOLDS_SEED), int(cv)), int(cv)
    else:
        fold, n_folds = folds_of_splitter(cv, reader.units(batch._replace(order=None), codec))
        fold = fold[units.numbers]
    if n_folds < 2 or not reader.has_enough_rows(n - int(np.bincount(fold).max()), batch):
        raise ValueError(f"cv={shortened(cv)} leaves too little to train on of {n} units that are held out in turn.")
    return fold, n_folds


def folds_of_splitter(cv: Any, units: ResamplingUnits) -> tuple[NDArray, int]:
    """Return the fold of each unit by a splitter, also of those with zero weight, and the number of folds."""
    n = len(units.numbers)
    refuse_class("cv", cv)
    try:
        splits = list(check_cv(cv).split(np.zeros((n, 1)), units.strata))
    except ValueError as error:
        raise ValueError(f"cv={shortened(cv)}: splitters that need groups are not supported here: {error}") from error
    fold = np.full(n, -1)
    for number, (_, tested) in enumerate(splits):
        if (fold[tested] >= 0).any():
            raise ValueError(f"cv={shortened(cv)} tests a row twice; accepted are splitters that test each row once.")
        fold[tested] = number
    if (fold < 0).any():
        raise ValueError(f"cv={shortened(cv)} never tests some rows; accepted are splitters that test each row once.")
    return fold, len(splits)


def usual_epochs(estimator: Any, n: int, learner: Learner) -> int:
    """Return the number of epochs for n rows of positive weight, if `max_iter` is None."""
    # Measured: ten under-fit some thousand clean rows; fewer rows, and kernels, over-fit by more, and many rows need no more.
    if not estimator._more_epochs or learner.weights.expansion is not None:
        return estimator._epochs
    return max(estimator._epochs, int(min(n / 100, 100_000 / n)))


# --------------------------------------------------------------------------------------------------------- candidates


def present_candidate(model: Model, batch: Batch) -> Candidate:
    """Return the configuration of the model in progress."""
    return Candidate(batch, model.labels, model.columns, model.norm)


def candidates_of(estimator: Any, model: Model, batch: Batch) -> tuple[Candidate, ...]:
    """Return the configurations to compare, the default first: feature maps, or label representations.

    Rows with costs of their own have the first power of them; the others are refinements of the best configuration.
    """
    labels, *others = model.labels.choices()
    default = present_candidate(model, batch)._replace(labels=labels)
    if batch.costs is not None:
        default = default._replace(batch=batch.by_power(POWERS[0]))
    if batch.costs is not None:
        return (default,)
    return default, *(default._replace(labels=other) for other in others if fits(estimator, model, batch, other))


def fits(estimator: Any, model: Model, batch: Batch, labels: Codec) -> bool:
    """Return whether a representation of the labels goes with the other parameters and is small enough to be averaged."""
    problem = estimator._build_problem(labels)
    if problem.d * batch.rows.p > MOST_WEIGHTS:
        return False
    try:
        LearnerFactory(estimator, labels, problem, batch.rows, model.norm).learner()
    except ValueError:
        return False
    return True


# -------------------------------------------------------------------------------------------------------- draws


def seed_of(estimator: Any) -> int | None:
    """Return the seed of a fit's random draws; None if the fit draws nothing."""
    return check_random_state(estimator.random_state).randint(2**31) if estimator.shuffle else None


def generator_of(seed: int | None, *what: int) -> np.random.Generator | None:
    """Return the random generator for a seed; different purposes have different generators."""
    return None if seed is None else np.random.default_rng([seed, *what] if what else seed)


def folds_of(codes: NDArray, random: np.random.Generator | None, n_folds: int) -> NDArray:
    """Return the fold number of each row; folds have about the same size, with about as many rows of each class."""
    order = np.arange(len(codes)) if random is None else random.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(len(codes), dtype=np.intp)
    fold[order] = np.arange(len(codes)) % n_folds
    return fold
