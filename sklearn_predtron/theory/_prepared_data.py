"""A data set as an estimator reads it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from sklearn_predtron._support.dicts import refuse_lazy
from sklearn_predtron._support.encoding import check_lengths
from sklearn_predtron._support.parts import resolve
from sklearn_predtron._support.queries import Queries, read_document_relevances
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.families.input.tables import always_maps
from sklearn_predtron.families.label_ranking import PredtronLabelRanker
from sklearn_predtron.families.ranking import PredtronRanker
from sklearn_predtron.families.sequences import PredtronSequenceTagger
from sklearn_predtron.problems._relevance import Relevances
from sklearn_predtron.updates import Update


class PreparedData(NamedTuple):
    """A data set as an estimator reads it."""

    model: Any
    problem: Any
    X: Any
    labels: Any
    feature: float  # of the intercept; 0 is none
    pairwise: bool


def as_features(estimator: Any, X: Any) -> Any:
    """Return rows in double precision, after the feature map."""
    if estimator._model.columns.features is not None:
        return estimator._model.features_of(X)
    return validate_data(estimator, X, reset=False, accept_sparse="csr", dtype=np.float64)


def prepare(estimator: Any, X: Any, y: Any, qid: Any, classes: Any) -> PreparedData:
    """Read a data set as the estimator does, without changes."""
    if not isinstance(estimator, BasePredtron):
        raise ValueError(f"estimator={estimator!r} must be an estimator of sklearn_predtron.")
    fitted = estimator._model is not None
    model: Any = estimator if fitted else clone(estimator)
    model._validate_params()
    model._check_rows_known()
    refuse_lazy(X)
    if fitted and model._model.columns.features is not None:
        X = as_features(model, X)
    elif not always_maps(model.features):
        X = check_array(X, accept_sparse="csr", dtype=np.float64)
    else:
        raise ValueError(f"features={model.features!r} makes features as fit tells it to; accepted is a fitted estimator.")
    if isinstance(model, PredtronSequenceTagger):
        raise ValueError("Margins of given weights are not for sequences; a fitted tagger has `margin`, and theory.unit_margin.")
    update = resolve(Update, model.update, "update")
    if model._intercept(None).fitted and model._scaling() == "auto":
        raise ValueError("intercept_scaling='auto' moves with the inputs; margins are for a number or fit_intercept=False.")
    feature = float(model._scaling()) if model._intercept(None).fitted else 0.0
    if classes is not None and isinstance(model, (PredtronRanker, PredtronLabelRanker)):
        raise ValueError(f"classes={classes!r} is for classifiers; {type(model).__name__} takes None.")
    if isinstance(model, PredtronRanker):
        codec = model._read_labels(y, None, None, partial=False)[0]
        X, labels = queries_of(X, y, qid)
    elif qid is not None:
        raise ValueError(f"qid is for PredtronRanker; {type(model).__name__} takes None.")
    else:
        known = model._model.labels if fitted else None
        codec, labels = model._read_labels(y, classes, known, partial=fitted or classes is not None)
        check_lengths(X.shape[0], labels.n)
    problem = model._build_problem(codec)
    problem.prepare(labels)
    if not problem.predictions_known:
        raise ValueError(f"estimator={estimator!r} has a problem of the user's own, whose predictions are not known.")
    return PreparedData(model, problem, X, labels, feature, update.pairwise)


def queries_of(X: Any, y: Any, qid: Any) -> tuple[Any, Relevances]:
    """Return documents and relevances, query by query."""
    y = read_document_relevances(y)
    check_lengths(X.shape[0], len(y))
    queries = Queries(qid, len(y))
    return queries.take(X), Relevances(queries.take(y), queries.start)
