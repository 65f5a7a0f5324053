"""What tests look at behind the public attributes of a fitted estimator."""

from typing import Any

from numpy.typing import NDArray


def predicting_scores(model: Any, X: Any, *, shifted: bool = True) -> NDArray:
    """Return the scores under the weights that predict, less what the decision takes off."""
    learned = model._model
    return learned.scores(X, *([model._decision(learned.labels)] if shifted else []))


def reading_of(model: Any, X: Any, y: Any, **given: Any) -> Any:
    """Return what a fitted estimator reads of a call of its stream."""
    return model._reader().read(X, y, model._read_labels, model._model, partial=True, **given)


def problem_of(model: Any) -> Any:
    """Return the problem that the present parameters of a fitted estimator make."""
    return model._build_problem(model._model.labels)


def weights_of(model):
    """Return the weights of a model; of two classes those of the one score that is learned."""
    weights = model._model.learner.weights
    return getattr(weights, "inner", weights)
