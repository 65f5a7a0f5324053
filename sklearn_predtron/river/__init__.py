"""Classifiers as river's estimators, which learn from dicts, one after the other."""

from __future__ import annotations

from typing import Any

from sklearn_predtron.families.classification import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.families.multilabel import PredtronMultilabelClassifier
from sklearn_predtron.families.ordinal import PredtronOrdinalClassifier

__all__ = ["to_river"]

OF_CLASSES = (PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier)


def to_river(estimator: Any, classes: Any = None) -> Any:
    """Make a river estimator that learns as a classifier of this package does.

    A dict is a sparse row: each key is a feature, keys that are missing are zeros, and those never seen before make the model
    wider (see `widen`).  So do labels never seen before, if loss and representation take new classes.  As for sparse rows,
    norm="auto" is "l2", for words, counts and flags; give norm="scaled" for numbers of different units, as of sensors.

    Parameters
    ----------
    estimator : PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier or PredtronMultilabelClassifier
        Its parameters are taken over, and what it may have learned is not.
    classes : list, default=None
        Labels that are known from the start, in any order; others are added when they occur.  None waits for the second label,
        because a single class leaves nothing to learn: until then rows are not learned from, and the label seen so far is
        predicted.  If the first label is a bool the classes are False and True.  `PredtronOrdinalClassifier` needs all its ranks
        here or as its `categories`, and `classes` must be None for `PredtronMultilabelClassifier`.

    Returns
    -------
    river.base.MiniBatchClassifier or river.base.MultiLabelClassifier
        With `learn_one`, `predict_one` and `predict_proba_one`, and for classes `learn_many`, `predict_many` and
        `predict_proba_many`.  Its attribute `model` is the estimator that has learned; `feature_names` are the names of its
        columns.

    Raises
    ------
    ImportError
        If river is not installed.
    ValueError
        If the estimator or `classes` are not as described.

    See Also
    --------
    sklearn_predtron.PredtronClassifier.partial_fit : What learns.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from sklearn_predtron.families.classification import PredtronBinaryClassifier
    >>> from sklearn_predtron.river import to_river
    >>> model = to_river(PredtronBinaryClassifier(norm="scaled"))
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: ...
    """
    try:
        from sklearn_predtron.river._wrappers import RiverClassifier, RiverMultiLabelClassifier
    except ImportError as error:
        raise ImportError("to_river needs river: pip install 'sklearn_predtron[river]'.") from error
    if isinstance(estimator, PredtronOrdinalClassifier) and classes is None and estimator.categories is None:
        raise ValueError("classes=None leaves PredtronOrdinalClassifier without its ranks; give them here or as its categories.")
    if isinstance(estimator, OF_CLASSES):
        return RiverClassifier(estimator, classes)
    if not isinstance(estimator, PredtronMultilabelClassifier):
        raise ValueError(
            f"estimator={estimator!r} has no river estimator; accepted are "
            f"{', '.join(kind.__name__ for kind in OF_CLASSES)} and PredtronMultilabelClassifier."
        )
    if classes is not None:
        raise ValueError(f"classes={classes!r} must be None for PredtronMultilabelClassifier, whose labels have names.")
    return RiverMultiLabelClassifier(estimator)
