"""A tagger's probabilities of token labels, and decisions of least expected cost under them."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.decisions._tempered import MOST_TOKENS, Tempered, fitted
from sklearn_predtron.families._scored_sequences import scored_sequences
from sklearn_predtron.families.estimator.attributes import learned, read_only
from sklearn_predtron.families.estimator.model import Model
from sklearn_predtron.families.labels.transitions import check_labels_allowed, possible
from sklearn_predtron.losses.sequence import SequenceHamming, sequence_loss

LEAST_TOKENS, MOST_WORK = 1_000, 2**19  # tokens, and tokens times pairs of labels
MOST_PATHS = 1000  # of which the time grows with the square


def is_calibrated(tagger: Any) -> bool:
    """Return True; raise NotFittedError, which is an AttributeError, where nothing says what scores mean."""
    tempered(tagger._model)
    return True


@learned
def temperature_(tagger: Any) -> float:
    """What `fit` or `calibrate` has found that scores are divided by."""
    return tempered(tagger._model).temperature


@learned
def biases_(tagger: Any) -> NDArray:
    """What `fit` or `calibrate` has found that is added to the scores of labels before, of shape (n_classes,)."""
    return read_only(tempered(tagger._model).biases)


def calibrate(tagger: Any, X: Any, y: Any, sid: Any) -> None:
    """Calibrate a tagger's scores on held-out sequences, and store the result in its model."""
    found = meaning_of_scores(tagger, X, y, sid)()
    tagger._model.settled = {**(tagger._model.settled or {}), **found}


def meaning_of_scores(tagger: Any, X: Any, y: Any, sid: Any, most: int = MOST_TOKENS) -> Callable[[], dict[str, Any]]:
    """Return a function that calibrates the scores on unseen sequences of at most `most` tokens."""
    model, scores, queries, table = scored_sequences(tagger, X, sid, "calibrate")
    classes, allowed = model.labels.classes, model.learner.problem.allowed
    n = max(1, int(np.searchsorted(queries.start, most, side="right")) - 1)
    labels = tagger._reader().labels_of_blocks(y, queries, model)
    if allowed is not None:
        check_labels_allowed(labels, queries, allowed, classes, tagger.constraint)
    labels = type(labels)(labels.array[: labels.starts[n]], labels.starts[: n + 1])
    problem, scores = model.learner.problem, scores[: labels.starts[-1]].copy()

    def find() -> dict[str, Any]:
        found = fitted(problem, scores, labels, table)
        return {"tempered": (found.temperature, tuple(found.biases.tolist()))}

    return find


def few_tokens(n_classes: int) -> int:
    """Return by how many tokens `fit` finds what scores mean, so that it takes no longer than a look."""
    return min(max(LEAST_TOKENS, MOST_WORK // n_classes**2), MOST_TOKENS)


def tempered(model: Model | None) -> Tempered:
    """Return the temperature and biases of the scores; raise NotFittedError if they are not fitted."""
    settled = (model.settled or {}) if model is not None else {}
    if "tempered" not in settled:
        raise NotFittedError(
            "what scores mean is known after a fit that holds sequences out (cv), or calibrate(X, y, sid=...) of such: "
            "probabilities, temperature_ and biases_ are there from then on."
        )
    temperature, biases = settled["tempered"]
    return Tempered(temperature, np.array(biases))


def token_probabilities(tagger: Any, X: Any, sid: Any, method: str) -> tuple[Model, NDArray, Any]:
    """Return the model, the probabilities of labels by sequence, and the sequences."""
    model, scores, queries, table = scored_sequences(tagger, X, sid, method)
    found, whole = tempered(model).probabilities(model.learner.problem, scores, queries.start, table)
    return model, possible(found, bool(np.isfinite(whole).all())), queries


def best_paths(tagger: Any, X: Any, sid: Any, n: Any) -> tuple[NDArray, NDArray]:
    """Return the labels of the n best sequences, and their scores."""
    if not isinstance(n, Integral) or isinstance(n, bool) or not 1 <= int(n) <= MOST_PATHS:
        raise ValueError(f"n={n!r} must be a whole number from 1 to {MOST_PATHS}.")
    model, scores, queries, table = scored_sequences(tagger, X, sid, "predict_best")
    codes, found = model.learner.problem.best_paths(int(n), scores, queries.start, *table)
    possible(codes, bool(np.isfinite(found[0]).all()))
    for r in range(1, len(codes)):
        codes[r] = np.where(codes[r] < 0, codes[r - 1], codes[r])
    return model.labels.classes[np.stack([queries.put_back(path) for path in codes])], found


def table_of(costs: Any, classes: NDArray) -> NDArray | None:
    """Return the cost table of tokens, validated as by `SequenceHamming`."""
    try:
        return sequence_loss(SequenceHamming(costs)).table(classes)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"costs={shortened(costs)} are no costs of tokens, as SequenceHamming(costs) has them: {error}"
        ) from None


def least_expected_cost(tagger: Any, X: Any, sid: Any, costs: Any) -> tuple[Model, NDArray]:
    """Return the numbers of the labels, among the sequences that are allowed, whose tokens are expected to cost least."""
    model, probabilities, queries = token_probabilities(tagger, X, sid, "predict")
    table = table_of(costs, model.labels.classes)
    k = probabilities.shape[1]
    expected = 1 - probabilities if table is None else probabilities @ table
    nothing = np.zeros((k, k)), np.zeros(k), np.zeros(k)
    codes = possible(*model.learner.problem.predict(np.ascontiguousarray(-expected), queries.start, *nothing))
    return model, queries.put_back(codes)
