"""Rows with weights from their classes and from their own costs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.problem import Codes
from sklearn_predtron._support.numbers import as_numbers
from sklearn_predtron._support.queries import shortened_list
from sklearn_predtron._support.row_costs import are_of_predictions
from sklearn_predtron.families.input.reading import LabelsOf, RowReader, TrainingInput
from sklearn_predtron.families.labels.classes import Classes, ClassReader
from sklearn_predtron.families.labels.label_readers import LabelReader
from sklearn_predtron.losses._row_costs import (
    KnownCosts,
    RowCosts,
    SetCosts,
    are_realised,
    check_not_revealing,
    check_sets_not_revealing,
)


def weighed(reading: TrainingInput, costs: RowCosts | SetCosts, *, partial: bool) -> TrainingInput:
    """Return a training input with rows weighted by costs.

    A row in which no mistake costs anything has weight 0.  A stream skips it.  `fit` does not train on it, but fits probabilities
    to it if it is held out.  Both count it in the mean costs.
    """
    batch = reading.batch.weighted_by(costs)
    weight: Any = batch.weight
    if not partial and not weight.any():
        raise ValueError("costs has no row of positive weight in which a mistake costs something; at least one must.")
    if partial and not weight.all():
        batch = batch._replace(order=np.flatnonzero(weight))
    return reading._replace(batch=batch, call_metadata=with_costs(reading, costs.table))


def with_costs(reading: TrainingInput, table: NDArray) -> KnownCosts:
    """Return the sums of costs with those of further rows."""
    known = reading.call_metadata if reading.call_metadata is not None else KnownCosts.none(table.shape[1:])
    if known.total.shape != table.shape[1:]:  # there are now more labels, or a reject option
        known = KnownCosts.none(table.shape[1:], known.class_weight)
    return known.plus(table, reading.batch.frequency)


class WeighedSets(RowReader):
    """Reads rows of sets of labels, weighted by their costs.

    Parameters
    ----------
    name : str
        The estimator's name in errors.
    by_row : callable
        Returns the costs of the labels in each row, given the costs of a call, the codec and the number of rows.
    """

    def __init__(self, name: str, by_row: Callable[[Any, Any, int], NDArray]):
        super().__init__(name)
        self.by_row = by_row

    def saved_metadata(self, value: Any) -> KnownCosts | None:
        """Return the saved sums of costs, checked; raise ValueError for other values."""
        return KnownCosts.restored(value)

    def read(
        self,
        X: Any,
        y: Any,
        labels_of: LabelsOf,
        known: Any,
        *,
        partial: bool,
        classes: Any = None,
        sample_weight: Any = None,
        costs: Any = None,
    ) -> TrainingInput:
        """Return the training input, weighted by `costs`; Rows are weighted if costs are given."""
        reading = super().read(X, y, labels_of, known, partial=partial, classes=classes, sample_weight=sample_weight)
        if costs is None:
            return reading
        on: Any = reading.batch.labels
        table = self.by_row(costs, reading.labels, on.n)
        check_sets_not_revealing(table, on.dense())
        return weighed(reading, SetCosts(table, on.dense()), partial=partial)


class WeighedClasses(RowReader):
    """Reads rows whose classes have weights.

    Parameters
    ----------
    name : str
        The estimator's name in errors.
    class_weight : dict, "balanced" or None
        The weights, by class.
    by_costs : callable
        Returns the weight of each class that follows from its costs, or None.
    by_row : callable
        Returns the costs of the predictions in each row, given the costs of a call, the classes, the number of rows and the
        numbers of their labels.
    """

    def __init__(
        self,
        name: str,
        class_weight: Any,
        by_costs: Callable[[NDArray], NDArray | None],
        by_row: Callable[[Any, NDArray, int, NDArray], NDArray],
    ):
        super().__init__(name)
        self.class_weight, self.by_costs, self.by_row = class_weight, by_costs, by_row

    def saved_metadata(self, value: Any) -> KnownCosts | None:
        """Return the saved sums of costs, checked; raise ValueError for other values."""
        return KnownCosts.restored(value)

    def read(
        self,
        X: Any,
        y: Any,
        labels_of: LabelsOf,
        known: Any,
        *,
        partial: bool,
        classes: Any = None,
        sample_weight: Any = None,
        costs: Any = None,
    ) -> TrainingInput:
        """Return the training input, weighted by `costs` if they are given.

        They replace the weights of classes by the costs of the loss, unless they are known with the true label.
        """
        reader = self
        if costs is not None and not are_of_predictions(costs):
            reader = copy.copy(self)
            reader.by_costs = no_weights
        given = {"partial": partial, "classes": classes, "sample_weight": sample_weight}
        reading = RowReader.read(reader, X, y, labels_of, known, **given)
        codec: Any = reading.labels
        among, codes = codec.classes, reading.batch.labels.array
        if isinstance(self.class_weight, str):
            weights = self.balanced(codec, codes, reading.batch.frequency)
            reading = reading._replace(call_metadata=KnownCosts.none((len(among), len(among)), weights))
        if costs is None:
            return reading
        table = self.by_row(costs, among, len(codes), codes)
        check_not_revealing(table, codes)
        if are_realised(table):  # weights by them would depend on the labels, and change the probabilities
            return reading._replace(call_metadata=with_costs(reading, table))
        return weighed(reading, RowCosts(table, codes), partial=partial)

    def weights(self, codec: Classes, labels: Codes, weight: NDArray | None, *, partial: bool) -> NDArray | None:
        """Return each row's weight by its class."""
        codes = labels.array
        if not isinstance(self.class_weight, str):
            found = self.of_classes(codec)
            return None if found is None else found[codes]
        if partial:
            raise ValueError(
                "class_weight 'balanced' is not supported for partial_fit, which sees a part of the data; pass a dict."
            )
        return product(self.balanced(codec, codes, weight), self.by_costs(codec.classes))[codes]

    def balanced(self, codec: Classes, codes: NDArray, frequency: NDArray | None) -> NDArray:
        """Return class weights that balance the classes; the classes become equally frequent."""
        relative = None if frequency is None or not frequency.any() else frequency / frequency.max()  # no sum overflows
        counts = np.bincount(codes, weights=relative, minlength=len(codec.classes))
        return counts.sum() / (len(counts) * np.where(counts > 0, counts, 1.0))

    def of_classes(self, codec: Classes) -> NDArray | None:
        """Return the weight of each class, or None.

        None if there are no weights; "balanced" weights are not known without rows.
        """
        given = self.by_class(codec) if isinstance(self.class_weight, Mapping) else None
        by_costs = self.by_costs(codec.classes)
        return by_costs if given is None else product(given, by_costs)

    def by_class(self, codec: Classes) -> NDArray:
        """Return the class weights given as a dict.

        A label that is not a class may be missing from a fold, or be a typo: it is accepted if every class has a weight.
        """
        classes = codec.classes.tolist()
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

    def short(self, codec: Any) -> LabelReader | None:
        """Return the fast path's reader with the weights; None for "balanced"."""
        return None if isinstance(self.class_weight, str) else ClassReader(codec.classes, self.of_classes(codec))


def no_weights(classes: NDArray) -> None:
    """Return no weights of classes."""


def product(weight: NDArray, other: NDArray | None) -> NDArray:
    """Return products of class weights; the second ones may be None."""
    return weight if other is None else weight * other
