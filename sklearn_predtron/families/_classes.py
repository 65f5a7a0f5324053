"""Classification over an explicit table of predictions: what its families share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import column_or_1d

from sklearn_predtron._compat import StrOptions
from sklearn_predtron._parts import as_numbers, checked_build
from sklearn_predtron._queries import shortened, shortened_list
from sklearn_predtron.families._base import BasePredtron
from sklearn_predtron.families._fitted import AfterFit
from sklearn_predtron.families._labels import ClassReader, class_list, encode, find_classes, one_dimensional
from sklearn_predtron.families._linear_models import Linear, encoder, is_one_direction, of_each_class
from sklearn_predtron.families._sparse_coef import SparseCoef
from sklearn_predtron.families._validation import MissingClasses, check_lengths
from sklearn_predtron.losses import CostTableLoss, ZeroOne, costs_of, table_loss
from sklearn_predtron.problems._base import Codes, Labels
from sklearn_predtron.problems._finite import FiniteProblem
from sklearn_predtron.representations import CodeRepresentation, table_representation


class ClassLabelled(ClassifierMixin, SparseCoef):
    """Labels are classes, which are numbered."""

    classes_: Any = AfterFit()

    def _read_labels(self, y: Any, classes: Any, *, fresh: bool, partial: bool) -> Labels:
        given = self._given_classes(y)
        if not fresh:
            self._check_same_classes(classes, given)
            return self._build_reader().labels(y)
        codes = None
        if given is not None:
            self._check_same_set(classes, given, "in categories")
            found = given
        elif not partial:
            found, codes = self._find_classes(one_dimensional(y))  # one search finds the classes and their numbers
        elif classes is None:
            raise MissingClasses()
        else:
            found = self._find_classes(class_list(classes), targets=False)[0]
        labels = ClassReader(found).labels(y) if codes is None else Codes(codes)
        self._check_classes(found, ordered=given is not None)
        self.classes_ = found
        return labels

    def _find_classes(self, y: NDArray, *, targets: bool = True) -> tuple[NDArray, NDArray]:
        return find_classes(y, targets=targets)

    def _build_reader(self) -> ClassReader:
        return ClassReader(self.classes_)

    def _given_classes(self, y: Any) -> NDArray | None:
        """Return the classes in their order, if they are known without a look at the rows."""
        return None

    def _check_same_classes(self, classes: Any, given: NDArray | None) -> None:
        self._check_same_set(classes, self.classes_, "on the first call")

    def _check_same_set(self, classes: Any, known: NDArray, where: str) -> None:
        if classes is None:
            return
        found = class_list(classes).tolist()
        if set(found) != set(known.tolist()):
            raise ValueError(f"classes={shortened_list(found)} is not the same as {where}: {shortened_list(known.tolist())}.")

    def _check_classes(self, classes: NDArray, *, ordered: bool) -> None:
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class.")

    def _read_linear(self, model: Any) -> Linear:
        scores = self._of_classes(model)
        self._begin_classes(model.classes_)
        return scores

    def _begin_classes(self, classes: Any) -> None:
        """Take over the classes of a model that has learned them."""
        self._check_classes(classes, ordered=True)
        self.classes_ = np.array(classes)

    def _true_codes(self, predicted: NDArray, y: Any) -> NDArray:
        """Return the numbers of the labels, one for each prediction."""
        codes = encode(column_or_1d(y), self.classes_)
        check_lengths(len(predicted), len(codes))
        return codes


class BaseTableClassifier(ClassLabelled):
    """Predictions are the labels, and the loss is a table of both."""

    _parameter_constraints: dict[str, list] = {
        **BasePredtron._parameter_constraints,
        "loss": [str, "array-like", dict, CostTableLoss],
        "representation": [str, "array-like", CodeRepresentation],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }
    loss: Any
    representation: Any
    class_weight: Any

    def _add_classes(self, classes: Any) -> list[int]:
        loss, representation = table_loss(self.loss), table_representation(self.representation)
        for name, part, accepted in [
            ("loss", loss, "'zero_one' and dicts of costs"),
            ("representation", representation, "'onehot'"),
        ]:
            if not part.takes_new_classes:
                raise ValueError(
                    f"classes={shortened(classes)}: {name}={shortened(getattr(self, name))} does not take more classes than it "
                    f"began with; accepted is {name}={accepted}."
                )
        known, given = self.classes_, class_list(classes)
        refused = f"classes={shortened(classes)} are not of the type of those known, {shortened_list(known.tolist())}."
        if are_texts(given) != are_texts(known):  # NumPy would make texts of both
            raise ValueError(refused)
        if are_texts(known):
            given = given.astype(known.dtype.kind)
        found = find_classes(np.concatenate([known, given]), targets=False)[0]
        if found.dtype.kind != known.dtype.kind or not set(known.tolist()) <= set(found.tolist()):
            raise ValueError(refused)
        self._check_classes(found, ordered=True)
        self.classes_ = found
        return encode(known, found).tolist()

    def _label_weight(self, labels: Any, weight: NDArray | None, *, partial: bool) -> NDArray | None:
        if self.class_weight is None:
            return None
        codes = labels.array
        if self.class_weight != "balanced":
            return self._class_weights()[codes]
        if partial:
            raise ValueError(
                "class_weight 'balanced' is not supported for partial_fit, which sees a part of the data; pass a dict."
            )
        relative = None if weight is None or not weight.any() else weight / weight.max()  # so that no sum overflows
        counts = np.bincount(codes, weights=relative, minlength=len(self.classes_))
        return (counts.sum() / (len(counts) * np.where(counts > 0, counts, 1.0)))[codes]

    def _class_weights(self) -> NDArray:
        """Return the weight of each class, if they are given as a dict.

        A label that is no class may be a class that is missing from a fold, or a typo, which leaves a class without a weight.
        """
        classes = self.classes_.tolist()
        known = set(classes)
        unknown = [label for label in self.class_weight if label not in known]
        if unknown and not known.issubset(self.class_weight):
            raise ValueError(
                f"class_weight names {shortened_list(unknown)}, not in classes_: {shortened_list(classes)}; accepted where each "
                "class has a weight of its own."
            )
        given = [self.class_weight.get(label, 1.0) for label in classes]
        weights = as_numbers(given, "class_weight", "a dict of finite weights that are not negative")
        if not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise ValueError(f"class_weight={self.class_weight} must hold finite weights that are not negative.")
        return weights

    def _stream_reader(self) -> ClassReader | None:
        if self.class_weight == "balanced":
            return None
        return ClassReader(self.classes_, None if self.class_weight is None else self._class_weights())

    # ------------------------------------------------------------------------------------------------------------ problem

    def _build_problem(self) -> FiniteProblem:
        loss, classes = table_loss(self.loss), self.classes_
        representation = table_representation(self.representation, lambda part: loss.build(part, classes))
        return checked_build(loss, loss.build(representation, classes), FiniteProblem, k=len(classes))

    def _costs(self) -> NDArray:
        """Return L(sigma, y), a row for each true class and a column for each prediction, as the parameters have it now."""
        cost = costs_of(table_loss(self.loss), self.classes_)
        return 1.0 - np.eye(len(self.classes_)) if cost is None else cost

    def _counts_mistakes(self) -> bool:
        """Return whether the loss is 0-1: with many classes a table of costs is worth avoiding."""
        loss = table_loss(self.loss)
        return isinstance(loss, ZeroOne) and type(loss).matrix is ZeroOne.matrix

    def _encoded(self, problem: Any, scores: Linear) -> Linear:
        k = len(self.classes_)
        scores = of_each_class(scores, 1.0 if problem.d == 1 else 0.5)  # as decision_function has it
        encode = encoder(problem.decision, problem.d, k)
        if encode is None:
            raise ValueError(f"representation={shortened(self.representation)} has no scores for any {k} decoded ones.")
        weights = Linear(encode @ scores.coef, encode @ scores.intercept)
        if problem.score_map.offsets_apart and not is_one_direction(weights):
            raise ValueError(
                f"representation={self.representation!r} has one direction with ordered thresholds, and the model has several, "
                "or others; accepted is another representation, and for ranks a model with `theta_`, as mord's."
            )
        return weights

    # --------------------------------------------------------------------------------------------------------- prediction

    def decision_function(self, X: Any) -> NDArray:
        """Compute the decoded scores <rep(sigma), t> of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            For two classes the score of the second: t or -t where d = 1, else the difference of the two.
        """
        now = self._as_of_now()
        scores = now._scores(X)
        decision = now._learner.problem.decision(scores)[:, : len(now.classes_)]
        if len(now.classes_) > 2:
            return decision
        difference = decision[:, 1] - decision[:, 0]
        return difference / 2 if scores.shape[1] == 1 else difference

    def predict(self, X: Any) -> NDArray:
        """Predict the class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels of `classes_`.
        """
        now = self._as_of_now()
        predicted = now._predict_codes(X)
        return now.classes_[predicted]

    def _predict_codes(self, X: Any) -> NDArray:
        """Return the numbers of the predictions, of shape (n_samples,)."""
        return self._decoded(X)

    def sample_loss(self, X: Any, y: Any) -> NDArray:
        """Compute the estimator's own loss L(sigma, y) of each prediction.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels, of `classes_`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Costs of `loss`; a rejected row costs ``reject.cost``, that of its true class.
        """
        now = self._as_of_now()
        return now._loss_of(now._raw_predict(X), y)

    def _raw_predict(self, X: Any) -> NDArray:
        return self._predict_codes(X)

    def _loss_of(self, predicted: NDArray, y: Any) -> NDArray:
        codes = self._true_codes(predicted, y)
        if self._counts_mistakes():
            return (predicted != codes).astype(np.float64)
        return self._costs()[codes, predicted]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the accuracy, whatever the loss, its costs and the reject option: a rejected row is not right.

        Searches over losses compare by it; `metrics.cost_scorer` and `metrics.reject_scorer` make scorers of costs, and
        `sample_loss` has the estimator's own loss.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the mean.

        Returns
        -------
        float
            At most 1, which is perfect.
        """
        return super().score(X, y, sample_weight)

    def margin(self, X: Any, y: Any) -> float:
        """Measure the margin of the weights, at unit norm, on a data set.

        The least, over the rows, of <rep(sigma_y), t> less the best score of a prediction that loses (Jain et al. 2015, section
        2.2), or of any that is ahead of sigma_y.  Positive only if every row is predicted without loss.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            True labels, of `classes_`.

        Returns
        -------
        float
            The margin gamma, for `loss_bound`; nan where the weights are zero.

        Examples
        --------
        >>> from sklearn_predtron import PredtronClassifier
        >>> X = [[2.0, 1.0], [1.0, 2.0], [-1.0, -1.0], [-2.0, 0.0]]
        >>> y = ["a", "a", "b", "b"]
        >>> model = PredtronClassifier(norm="l2", fit_intercept=False, random_state=0).fit(X, y)
        >>> round(model.margin(X, y), 2)
        1.96
        """
        return float(self._margins(X, y).min())

    def _margins(self, X: Any, y: Any) -> NDArray:
        scores = self._scores(X, shifted=False)
        codes = encode(column_or_1d(y), self.classes_)
        check_lengths(len(scores), len(codes))
        return self._at_unit_norm(self._learner.problem.margins(scores, Codes(codes)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags


def are_texts(classes: NDArray) -> bool:
    """Return whether all classes are texts, in an array of texts or of objects."""
    return all(isinstance(label, str) for label in classes.tolist())


def check_two(classes: NDArray) -> None:
    """Refuse more classes than two, as scikit-learn does."""
    if len(classes) > 2:
        raise ValueError("Only binary classification is supported. The type of the target is multiclass.")
