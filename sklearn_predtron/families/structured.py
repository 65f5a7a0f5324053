"""Prediction problems written in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from sklearn_predtron._core.problem import Labels
from sklearn_predtron._core.rows import Rows
from sklearn_predtron._support import types
from sklearn_predtron._support.compat import HasMethods
from sklearn_predtron._support.encoding import check_lengths
from sklearn_predtron.families import _joint
from sklearn_predtron.families._docstrings import documented
from sklearn_predtron.families._joint import JointProblem, JudgedProblem, is_joint, objects_of
from sklearn_predtron.families.estimator.attributes import read_only
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.families.input.reading import Columns, LabelsOf, RowReader, TrainingInput, check_labels_given
from sklearn_predtron.families.labels._codec import Codec
from sklearn_predtron.families.labels.objects import AnyLabels, entries_of
from sklearn_predtron.families.model.model import Model
from sklearn_predtron.families.training.patience import Patience
from sklearn_predtron.features import FeatureMap
from sklearn_predtron.metrics._means import mean_loss
from sklearn_predtron.norms import Norm
from sklearn_predtron.norms._joint import ObjectRows
from sklearn_predtron.problems._joint import PythonJointProblem
from sklearn_predtron.problems._user import Objects, PythonProblem
from sklearn_predtron.updates import Update

__all__ = ["JointProblem", "Predtron", "Problem"]

METHODS = ["decode", "loss", "representation", "augmented_decode", "correct"]


class Problem(JudgedProblem):
    """Base of the prediction problems written in Python.

    A subclass sets `n_scores` and defines `decode`, `loss`, `representation` and `augmented_decode`.  If predictions and labels
    are of different types it also defines `correct`.  If several predictions have the largest score, the loss of a round is that
    of the prediction that `decode` returns.

    Each round checks the results of the methods, as far as that is cheap.  Losses are numbers from 0 to 1e100 that agree with c_L
    and C_L; representations are finite, of length 1 (to within 1e-6) and no further apart than D2; `correct` has no loss; no
    other prediction of the round beats the result of `decode` or `augmented_decode` beyond rounding (1e-9).  A violation raises
    ValueError, and leaves the model as it was after the last complete round.  `estimator_checks.check_problem` checks more.

    Attributes
    ----------
    n_scores : int
        Dimension d of the scores and of the representation.
    c_L, C_L : float or None
        The least positive loss and the largest loss; required for the theorems' steps and bounds.
    D2 : float or None
        The largest |rep(sigma) - rep(sigma')|^2, for bounds tighter than with 4, the maximum for unit vectors.
    predictions : iterable
        Optional: all predictions, if they are few enough to be listed, for `estimator_checks.check_problem`.

    See Also
    --------
    JointProblem : Base of the problems whose features depend on the prediction as well.
    sklearn_predtron.estimator_checks.check_problem : Checks of all requirements of a problem.

    Examples
    --------
    An hour predicted on a clock of twelve hours, with the distance on the circle as its loss:

    >>> import numpy as np
    >>> from sklearn_predtron import Predtron, Problem
    >>> class Clock(Problem):
    ...     n_scores, c_L, C_L = 2, 1.0, 6.0
    ...     code = np.column_stack([np.cos(np.arange(12) * np.pi / 6), np.sin(np.arange(12) * np.pi / 6)])
    ...     def decode(self, t):
    ...         return int((self.code @ t).argmax())
    ...     def loss(self, prediction, y):
    ...         way = abs(prediction - y) % 12
    ...         return float(min(way, 12 - way))
    ...     def representation(self, prediction):
    ...         return self.code[prediction]
    ...     def augmented_decode(self, t, y):
    ...         return int((self.code @ t + [self.loss(hour, y) for hour in range(12)]).argmax())
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 2))
    >>> y = np.floor(np.arctan2(X[:, 1], X[:, 0]) * 6 / np.pi).astype(int) % 12
    >>> model = Predtron(Clock(), max_iter=5, random_state=0).fit(X, y)
    >>> bool(model.sample_loss(X, y).mean() < 1)
    True
    """

    n_scores: int
    D2: float | None = None

    def decode(self, t: NDArray) -> Any:
        """Predict from scores.

        The prediction is a maximiser of <rep(sigma), t>, equation (1) of Jain et al. (2015).

        Parameters
        ----------
        t : ndarray of shape (n_scores,)
            Scores.

        Returns
        -------
        object
            The prediction.
        """
        raise TypeError(f"{type(self).__name__} does not define decode(t); a problem must.")

    def representation(self, prediction: Any) -> NDArray:
        """Represent a prediction by a unit vector.

        Parameters
        ----------
        prediction : object
            A prediction.

        Returns
        -------
        ndarray of shape (n_scores,)
            rep(sigma).
        """
        raise TypeError(f"{type(self).__name__} does not define representation(prediction); a problem must.")

    def augmented_decode(self, t: NDArray, y: Any) -> Any:
        """Find the loss-augmented competitor.

        It is a maximiser of L(sigma, y) + <rep(sigma), t>, equation (2) of Jain et al. (2015).

        Parameters
        ----------
        t : ndarray of shape (n_scores,)
            Scores.
        y : object
            A label.

        Returns
        -------
        object
            A prediction.
        """
        raise TypeError(f"{type(self).__name__} does not define augmented_decode(t, y); a problem must.")


@documented(d="n_scores")
class Predtron(BasePredtron):
    """Estimator for a prediction problem written in Python.

    It has the same loop, updates and averages as the other estimators, at the speed of Python.

    With a `JointProblem`, X is a sequence of objects of any type, ``norm`` is "l2", and there is no intercept, whatever
    `fit_intercept` says: a feature of 1 cancels in the difference of two predictions.
    {in_order}

    Parameters
    ----------
    problem : Problem or JointProblem
        The prediction space with its loss, its representation or joint features, and its decoders.
    {features}
    {norm}
    {update}
    {average}
    {max_iter}
    {random_state}
    {tol}
    {shuffle}
    {warm_start}
    {fit_intercept}
    {intercept_scaling}

    Attributes
    ----------
    coef_ : ndarray of shape (n_scores, n_features), or (n_features,) with joint features
        Weights that predict.
    intercept_ : ndarray of shape (n_scores,), or (1,) with joint features
        Offsets of the scores; 0 with joint features.
    {features_}
    {feature_importances_}
    {norm_}
    {last_coef_}
    {last_intercept_}
    {dual_coef_}
    {t_}
    {n_mistakes_}
    {n_updates_}
    {cumulative_loss_}
    {loss_curve_}
    {n_iter_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    Problem : Base of the problems to define.
    JointProblem : Base of problems whose features depend on the prediction as well.

    Examples
    --------
    See `Problem` and `JointProblem`.
    """

    _keeps_sparse = False
    _codec = AnyLabels
    _parameter_constraints: dict[str, list] = {
        **BasePredtron._parameter_constraints,
        "problem": [HasMethods(METHODS), HasMethods(_joint.METHODS)],
    }

    def __init__(
        self,
        problem: Any,
        *,
        features: types.FeaturesName | FeatureMap | None = None,
        norm: types.NormName | Norm = "auto",
        update: types.UpdateName | Update = "adaptive",
        average: types.AverageName | float | None = None,
        max_iter: int | None = None,
        random_state: Any = None,
        tol: Patience | float | None = None,
        shuffle: bool = True,
        warm_start: bool = False,
        fit_intercept: bool = True,
        intercept_scaling: types.AutoName | float = "auto",
    ):
        self.problem = problem
        self.features = features
        self.norm = norm
        self.update = update
        self.average = average
        self.max_iter = max_iter
        self.random_state = random_state
        self.tol = tol
        self.shuffle = shuffle
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling

    def _reader(self) -> RowReader:
        return self._own_reader()

    def _own_reader(self) -> OwnReader:
        name = type(self).__name__
        if not is_joint(self.problem):
            return OwnReader(name, self.problem)
        if self.features is not None:
            raise ValueError(
                f"features={self.features!r} does not go with a JointProblem, whose own features(x, prediction) are used; "
                "accepted is None."
            )
        return ObjectReader(name, self.problem)

    def _read_labels(self, y: Any, classes: Any, known: Any, *, partial: bool) -> tuple[Codec, Labels]:
        codec = known or AnyLabels()
        return codec, codec.encode(y)

    def _build_problem(self, labels: Any) -> Any:
        return PythonJointProblem(self.problem) if is_joint(self.problem) else PythonProblem(self.problem)

    def _check_has_scores(self) -> bool:
        """Return True; raise AttributeError if the features are joint."""
        if is_joint(self.problem):
            raise AttributeError(
                "decision_function is there for a Problem, which has scores; under a JointProblem the score of a prediction is "
                "features(x, prediction) @ coef_."
            )
        return True

    @types.keeping_type(available_if(_check_has_scores))
    def decision_function(self, X: Any) -> NDArray:
        """Compute the scores t = W x + b.

        Joint features have none.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_scores)
            Scores.
        """
        model = self._fitted_model()
        self._own_reader().check_features(model)
        return model.scores(X)

    def predict(self, X: Any) -> NDArray:
        """Predict.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or sequence of n_samples objects
            Inputs.

        Returns
        -------
        ndarray of length n_samples
            The results of the problem's `decode`, as an array (of dtype object if they do not form a regular array).
        """
        predictions = self._raw_predict(X)
        try:
            return np.asarray(predictions)
        except ValueError:
            array = np.empty(len(predictions), dtype=object)
            array[:] = predictions
            return array

    def sample_loss(self, X: Any, y: Sequence[Any]) -> NDArray:
        """Compute the problem's loss of each prediction.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or sequence of n_samples objects
            Inputs.
        y : sequence of length n_samples
            Labels.

        Returns
        -------
        ndarray of shape (n_samples,)
            L(sigma, y).
        """
        return self._loss_of(self._raw_predict(X), y)

    def _raw_predict(self, X: Any) -> list[Any]:
        """Return the problem's predictions."""
        model = self._fitted_model()
        self._own_reader().check_features(model)
        problem: Any = model.problem
        if model.columns.n is None:
            w = model.learner.read(lambda weights: weights.mean()[0])
            return problem.decode(read_only(w), objects_of(X))
        return problem.decode(model.scores(X))

    def _loss_of(self, predicted: list[Any], y: Sequence[Any]) -> NDArray:
        """Return the problem's loss of each prediction."""
        check_labels_given(y, type(self).__name__)
        labels, loss_of = entries_of(y), self._build_problem(None).loss_of
        check_lengths(len(predicted), len(labels))
        return np.array(
            [loss_of(prediction, label) for prediction, label in zip(predicted, labels, strict=True)], dtype=np.float64
        )

    def score(self, X: Any, y: Sequence[Any], sample_weight: Any = None) -> float:
        """Compute 1 - the mean loss of the problem.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or sequence of n_samples objects
            Inputs.
        y : sequence of length n_samples
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the mean.

        Returns
        -------
        float
            At most 1, which is perfect.
        """
        return 1 - mean_loss(self.sample_loss(X, y), sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if is_joint(self.problem):
            tags.input_tags.two_d_array = tags.input_tags.sparse = False
        return tags


class OwnReader(RowReader):
    """Reads rows for a user-defined problem.

    Its number of joint features cannot change.

    Parameters
    ----------
    name : str
        The estimator's name in error messages.
    problem : Problem or JointProblem
        The problem.
    """

    def __init__(self, name: str, problem: Any):
        super().__init__(name)
        self.problem = problem

    def read(self, X: Any, y: Any, labels_of: LabelsOf, known: Any, **given: Any) -> TrainingInput:
        """Return the input of a training call."""
        if known is not None:
            self.check_features(known)
        return super().read(X, y, labels_of, known, **given)

    def features(self) -> int:
        """Return the problem's number of joint features; it is 0 if the problem has scores."""
        return 0

    def check_features(self, model: Model) -> None:
        """Raise ValueError if the number of joint features has changed."""
        # The learner's own problem may have changed as well.
        before, now = model.learner.weights.p if model.columns.n is None else 0, self.features()
        if before != now:
            have = [f"{n} joint features" if n else "scores of the rows of X" for n in (now, before)]
            raise ValueError(
                f"problem={self.problem!r} has {have[0]} and the weights so far are of {have[1]}; call fit to start from scratch."
            )


class ObjectReader(OwnReader):
    """Reads objects for a joint-feature problem; a round is an object with its label."""

    def __init__(self, name: str, problem: Any):
        super().__init__(name, problem)
        self.no_rows_because = (
            f"problem={problem!r} has joint features: margins over all predictions and lengths of rows are not known.  "
            "The radius of its bounds is the largest distance of the features of two predictions for an x."
        )

    def _rows(self, X: Any, columns: Columns | None) -> tuple[Any, Rows, Columns]:
        """Return the objects, and their joint features as rows."""
        X = objects_of(X)
        return X, ObjectRows(X, self.features()), Columns(None)

    def read(self, X: Any, y: Any, labels_of: LabelsOf, known: Any, **given: Any) -> TrainingInput:
        """Return the input of a training call."""
        reading = super().read(X, y, labels_of, known, **given)
        batch = reading.batch
        return reading._replace(batch=batch._replace(labels=in_pairs(batch.X, batch.labels)))

    def labelled(self, X: Any, y: Any, model: Any, *ids: Any) -> tuple[Any, Labels]:
        """Return objects, and each with its label."""
        self.check_features(model)
        X, labels = objects_of(X), model.labels.encode(y)
        check_lengths(len(X), labels.n)
        return X, in_pairs(X, labels)

    def features(self) -> int:
        """Return the number of joint features of the problem."""
        return PythonJointProblem(self.problem).n_features


def in_pairs(X: list[Any], labels: Any) -> Objects:
    """Return the rounds: objects with their labels. The problem has joint features."""
    return Objects(zip(X, labels.values, strict=True))
