"""Scores of the tokens of sequences, and the best labels by them."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from sklearn_predtron._support.queries import Queries
from sklearn_predtron.families.estimator.model import Model
from sklearn_predtron.families.labels.transitions import possible


def scored_sequences(tagger: Any, X: Any, sid: Any, method: str) -> tuple[Model, NDArray, Queries, tuple]:
    """Return the model, the tokens' scores by sequence, the sequences, and the scores of transitions, all of one moment."""
    model, reader = tagger._fitted_model(), tagger._reader()
    X, sid = reader.apart(X, sid)
    with model.learner.lock.reading():
        table = model.learner.read(lambda weights: weights.transitions(True))
        scores = model.scores(X)
    if len(scores) > 1:
        reader.check_ids_given(sid, method, model)
    queries = reader.blocks(sid, len(scores))
    return model, queries.take(scores), queries, table


def predicted_codes(tagger: Any, X: Any, sid: Any, method: str) -> tuple[Model, NDArray]:
    """Return the numbers of the predicted labels, of shape (n_tokens,)."""
    model, scores, queries, table = scored_sequences(tagger, X, sid, method)
    return model, queries.put_back(possible(*model.learner.problem.predict(scores, queries.start, *table)))
