"""Scorers of tokens, which pass sequence ids to `predict`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.metrics import make_scorer
from sklearn.utils.metadata_routing import MetadataRouter, get_routing_for_object

from sklearn_predtron._support.compat import Scorer
from sklearn_predtron._support.queries import SID, split_ids
from sklearn_predtron.metrics._scorers import requesting

NO_SID = (
    "sid=None is ambiguous to a scorer: several sequences would be scored as one. Accepted are sequence ids, which arrive as "
    "`groups` with metadata routing on: sklearn.set_config(enable_metadata_routing=True), then cross_validate(..., "
    "params={'groups': sid}) or GridSearchCV(...).fit(X, y, groups=sid), or in a column 'sid' of a data frame X. For rows that "
    "are one sequence make the scorer with one_sequence=True."
)


def token_scorer(
    score_func: Callable[..., Any],
    *,
    greater_is_better: bool = True,
    one_sequence: bool = False,
    response_method: str = "predict",
    **params: Any,
) -> Callable[..., float]:
    """Make a scorer of tokens that passes sequence ids.

    scikit-learn's own scorers call ``predict(X)``, without ids.  This one requests them under the name ``groups``, which
    splitters such as `GroupKFold` read as well, and `sample_weight` if the measure has it, both by metadata routing.
    `set_score_request` of the scorer asks for others.  Without routing the ids may be a column ``sid`` of X, if X is a data
    frame, or be passed in a direct call.

    Parameters
    ----------
    score_func : callable
        ``score_func(y_true, y_pred, **params)`` of the tokens, such as `accuracy_score` of scikit-learn.  If it has a parameter
        `sid`, like `chunk_f1_score`, it receives the ids, too.
    greater_is_better : bool, default=True
        Whether larger is better; the sign of a loss is reversed.
    one_sequence : bool, default=False
        Whether rows that come without ids are one sequence; False raises.
    response_method : str, default="predict"
        The method that gives `y_pred`: ``"decision_function"`` for a measure of scores.
    **params : dict
        Parameters of the measure.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, *, sid=None, sample_weight=None)``; larger is better.  Estimators that take no `sid` are
        called without it.

    Raises
    ------
    ValueError
        If `response_method` is unknown; when it scores, if the ids are missing.
    TypeError
        If the measure has no such parameter.

    See Also
    --------
    make_query_scorer : Scorers of rankings.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_predtron.datasets import make_sequences
    >>> from sklearn_predtron.metrics import chunk_f1_score, token_scorer
    >>> X, y, sid = make_sequences(n_labels=3, bio=True, random_state=0)
    >>> scorer = token_scorer(chunk_f1_score)
    >>> round(scorer(LogisticRegression().fit(X, y), X, y, sid=sid), 2)
    0.31
    """
    if not isinstance(response_method, str):
        raise ValueError(f"response_method={response_method!r} must be the name of a method.")
    inspect.signature(score_func).bind_partial(**params)  # a search would turn the error of a wrong one into a score of nan
    plain = make_scorer(
        score_func,
        greater_is_better=greater_is_better,
        response_method=response_method,
        one_sequence=bool(one_sequence),
        **params,
    )
    weighted = {"sample_weight": True} if has_parameter(score_func, "sample_weight") else {}
    return requesting(TokenScorer, plain, sid="groups", **weighted)


class TokenScorer(Scorer):
    """A scorer that passes sequence ids to estimator and measure."""

    def __call__(self, estimator: Any, X: Any, y_true: Any, *, sample_weight: Any = None, **ids: Any) -> float:
        if sample_weight is not None:
            ids["sample_weight"] = sample_weight
        return self._score(None, estimator, X, y_true, **ids)

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any) -> float:
        # `score` of a search with several scorers passes the ids by the name under which they were requested.
        groups = kwargs.pop("groups", None)
        given = kwargs.pop("sid", groups)
        params = {**self._kwargs, **kwargs}
        _, sid = split_ids(X, given, SID)
        if not params.pop("one_sequence") and sid is None:
            raise ValueError(NO_SID)
        if has_parameter(self._score_func, "sid"):
            params["sid"] = sid
        predicted = respond(estimator, self._response_method, X, given)
        return self._sign * self._score_func(y_true, predicted, **params)


def has_parameter(function: Callable[..., Any], name: str) -> bool:
    """Return whether a function has this parameter."""
    return name in inspect.signature(function).parameters


def respond(estimator: Any, method: str, X: Any, sid: ArrayLike | None) -> Any:
    """Return a method's output for the tokens of sequences."""
    estimator = getattr(estimator, "best_estimator_", estimator)  # a search hands no ids on to it
    call = getattr(estimator, method)
    if sid is None:
        return call(X)
    return call(X, **dict.fromkeys(names_of_ids(estimator, method), sid))


def names_of_ids(estimator: Any, method: str) -> set[str]:
    """Return the names of ids that the method accepts."""
    if get_config()["enable_metadata_routing"] and hasattr(estimator, "get_metadata_routing"):
        routing = get_routing_for_object(estimator)
        if isinstance(routing, MetadataRouter):
            return set(routing.consumes(method, {"sid", "groups"}))
    last = estimator
    while hasattr(last, "steps"):
        last = last.steps[-1][1]
    return {"sid"} & set(inspect.signature(getattr(last, method)).parameters)
