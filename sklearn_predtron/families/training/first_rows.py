"""Streams of tables; the first rows are used as they are, and once more when they have made the feature map."""

from __future__ import annotations

from typing import Any

from sklearn_predtron.families.input.reading import BlockReader, RowReader
from sklearn_predtron.families.input.tables import WarmupBuffer, part_of, rows_with_weight, takes_map
from sklearn_predtron.families.training import trainer
from sklearn_predtron.families.training.trainer import Trainer, with_model
from sklearn_predtron.features import ROWS_OF_STREAMS


def partial_fit(estimator: Any, X: Any, y: Any, given: dict[str, Any], learn: Any) -> None:
    """Train on rows in their order.

    Once 500 rows are there, the estimator gets a model whose feature map is fitted to them.

    These rows count once: the model is the same as if the map had been known before them.
    """
    known = estimator._model
    if known is None and not takes_map(estimator, X):
        trainer.partial_fit(estimator, X, y, given, learn)
        return
    first = WarmupBuffer(estimator.features, estimator._has_labels) if known is None else known.columns.features
    if not isinstance(first, WarmupBuffer):
        trainer.partial_fit(estimator, X, y, given, learn)
        return
    if learn is not None:
        raise ValueError(f"features={estimator.features!r} does not go with learners side by side, whose maps would differ.")
    with Trainer(estimator, known) as call:
        learn_first(call.estimator, first, X, y, given)


def learn_first(estimator: Any, first: WarmupBuffer, X: Any, y: Any, given: dict[str, Any]) -> None:
    """Train on a call with some first rows.

    The estimator gets each model when its rows and its columns agree, so that an interrupt leaves no other one.
    """
    reader: RowReader = estimator._reader()
    if isinstance(reader, BlockReader):
        X, given[reader.ids.name] = reader.split_ids(X, given.get(reader.ids.name))
    there = rows_with_weight(X, given)
    columns = first.columns_so_far(X)
    learner = with_model(estimator, None)
    if estimator._model is not None:
        learner._model = estimator._model.in_progress()
        learner._model.columns = learner._model.columns._replace(features=first.learning())
    if not there.all():
        # Lengths are compared before rows are left out: y may have as many entries as there are rows of positive weight.
        trainer.read(learner, X, y, dict(given), learner._model, partial=True, columns=columns)
    part = part_of(X, y, given, there)
    mine = reader.warmup_mask(part[0], part[2], ROWS_OF_STREAMS - first.n)
    if mine is None or not len(mine):  # no good, or nothing to learn, which the reader says
        trainer.partial_fit(learner, X, y, given, None, columns)
        learner._model.columns = learner._model.columns._replace(features=first)
        estimator._model = learner._model
        return
    if not mine.all():
        trainer.read(learner, X, y, dict(given), learner._model, partial=True, columns=columns)  # all rows, or an error
    head = part_of(*part, mine)
    if learner._model is not None and first.n == 0 and hasattr(learner, "classes_") and "classes" in head[2]:
        head[2]["classes"] = learner.classes_  # of a call before that had nothing to train on, and is not repeated
    trainer.partial_fit(learner, *head, None, columns)
    first = first.with_call(*head)
    if first.n < ROWS_OF_STREAMS:
        learner._model.columns = learner._model.columns._replace(features=first)
        estimator._model = learner._model
        return
    columns, parts = first.columns()
    learner._model = None
    for part_of_first in parts:
        trainer.partial_fit(learner, *part_of_first, None, columns)
    estimator._model = learner._model
    if not mine.all():
        trainer.partial_fit(estimator, *part_of(*part, ~mine), None)
