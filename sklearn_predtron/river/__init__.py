"""Estimators of this package for river, trained on dicts."""

from __future__ import annotations

from typing import Any

from sklearn_predtron.families.bipartite import PredtronBipartiteClassifier, is_at_k
from sklearn_predtron.families.classification import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.families.label_ranking import PredtronLabelRanker
from sklearn_predtron.families.multilabel import PredtronMultilabelClassifier
from sklearn_predtron.families.ordinal import PredtronOrdinalClassifier
from sklearn_predtron.families.ranking import PredtronRanker
from sklearn_predtron.families.sequences import PredtronSequenceTagger

__all__ = ["to_river"]

OF_CLASSES = (PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier)
WITH_CLASSES = (*OF_CLASSES, PredtronBipartiteClassifier, PredtronLabelRanker, PredtronSequenceTagger)
WITHOUT = (PredtronMultilabelClassifier, PredtronRanker)


def to_river(estimator: Any, classes: Any = None) -> Any:
    """Make a river estimator from one of this package.

    A dict is a sparse row: each key is a feature; missing keys, None and NaN are zeros.  Keys never seen before widen the model
    (see `widen`); so do new labels, if loss and representation take new classes.  As for sparse rows, norm="auto" is "l2",
    which suits words, counts and flags; give norm="scaled" for numbers of different units, as from sensors.

    With `features` a dict is a row of a table: the keys of the first training row are its columns, and anything missing is a
    missing value.

    Parameters
    ----------
    estimator : estimator of this package
        Any but `Predtron`.  A trained or loaded one is continued, on a copy.  The keys are the names of its columns, or the
        numbers 0, 1, ... if they have none; so are labels of sets and label rankings.
    classes : list, default=None
        Labels known from the start, in any order; others are added when they occur.  A trained estimator has its own.  None
        waits for the second label, because there is nothing to learn from a single class.  Until then rows are not trained on,
        and the label seen so far is predicted.  If the first label is a bool, the classes are False and True.
        `PredtronOrdinalClassifier` needs all its ranks here or as its `categories`; with None `PredtronLabelRanker` takes the
        labels of the first row, and no others later; `classes` must be None for `PredtronMultilabelClassifier` and
        `PredtronRanker`.

    Returns
    -------
    river.base.Estimator
        With `learn_one`, which takes the weight of a row as `w`, and `predict_one`.  Its attribute `model` is the trained
        estimator; `feature_names` are the names of its columns.  It is a

        - `river.base.MiniBatchClassifier` for classes, with `predict_proba_one`, `learn_many`, `predict_many` and
          `predict_proba_many`;
        - `river.base.MultiLabelClassifier` for sets of labels, with `predict_proba_one`;
        - `river.base.Classifier` for `PredtronBipartiteClassifier`, with `predict_proba_one`: rows wait until they are
          `batch_size`, which are learned as a batch;
        - for `PredtronRanker`, learns a query: a list of dicts, its documents, and a list of relevances; `predict_one` has the
          scores of documents and `rank_one` their numbers, the best one first;
        - for `PredtronLabelRanker`, learns from a dict of relevances by label, and predicts a dict of positions, from 1;
        - for `PredtronSequenceTagger`, learns a sentence: a list of dicts, its tokens, and a list of labels, as it predicts.

    Raises
    ------
    ImportError
        If river is not installed.
    ValueError
        If the estimator or `classes` are not as described, or the loss is one at k, which has no prediction for a single row.

    See Also
    --------
    sklearn_predtron.PredtronClassifier.partial_fit : Trains the model.

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
        from sklearn_predtron.river._batches import RiverBatchClassifier
        from sklearn_predtron.river._rankings import RiverLabelRanker, RiverRanker
        from sklearn_predtron.river._sequences import RiverSequenceTagger
        from sklearn_predtron.river._wrappers import RiverClassifier, RiverMultiLabelClassifier
    except ImportError as error:
        raise ImportError("to_river needs river: pip install river") from error
    check(estimator, classes)
    if isinstance(estimator, PredtronMultilabelClassifier):
        return RiverMultiLabelClassifier(estimator)
    if isinstance(estimator, PredtronRanker):
        return RiverRanker(estimator)
    if isinstance(estimator, PredtronBipartiteClassifier):
        return RiverBatchClassifier(estimator, classes)
    if isinstance(estimator, PredtronLabelRanker):
        return RiverLabelRanker(estimator, classes)
    return (
        RiverSequenceTagger(estimator, classes)
        if isinstance(estimator, PredtronSequenceTagger)
        else RiverClassifier(estimator, classes)
    )


def check(estimator: Any, classes: Any) -> None:
    """Raise ValueError for estimators and labels unfit for dicts."""
    if not isinstance(estimator, WITH_CLASSES + WITHOUT):
        names = ", ".join(kind.__name__ for kind in WITH_CLASSES + WITHOUT)
        raise ValueError(f"estimator={estimator!r} has no river estimator; accepted are those of the classes {names}.")
    if isinstance(estimator, WITHOUT) and classes is not None:
        what = "labels have names" if isinstance(estimator, PredtronMultilabelClassifier) else "documents have relevances"
        raise ValueError(f"classes={classes!r} must be None for {type(estimator).__name__}, whose {what}.")
    if (
        isinstance(estimator, PredtronOrdinalClassifier)
        and classes is None
        and estimator.categories is None
        and not estimator.__sklearn_is_fitted__()
    ):
        raise ValueError("classes=None leaves PredtronOrdinalClassifier without its ranks; give them here or as its categories.")
    if isinstance(estimator, PredtronBipartiteClassifier) and is_at_k(estimator.loss):
        raise ValueError(
            f"loss={estimator.loss!r} predicts some rows of a batch, and a row by itself has no such prediction; accepted are "
            "losses that are not at k."
        )
    if not estimator.__sklearn_is_fitted__():
        return
    if classes is not None:
        raise ValueError(f"classes={classes!r} must be None for a trained estimator, which has its labels; new ones may follow.")
    if isinstance(estimator, PredtronMultilabelClassifier) and estimator._model.labels.n_labels < 2:
        raise ValueError(f"estimator={estimator!r} was trained on one label; accepted are estimators of two labels or more.")
    features = estimator._model.columns.features
    if features is not None and not getattr(features, "of_numbers_", True):
        raise ValueError(
            f"estimator={estimator!r} was trained on a table with categories, and dicts have numbers; accepted are estimators of "
            "tables of numbers."
        )
