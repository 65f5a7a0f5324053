"""Scorers of rankings for ``scoring=``: means over queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn import config_context
from sklearn.metrics import make_scorer

from sklearn_predtron._support import types
from sklearn_predtron._support.compat import Scorer, asked_of_any
from sklearn_predtron._support.queries import ONE, shortened, split_ids
from sklearn_predtron.metrics._means import mean_over_queries
from sklearn_predtron.metrics._ranking_measures import average_precision, kendall_tau, ndcg, precision_at_k, reciprocal_rank
from sklearn_predtron.metrics._scorers import requesting

NO_QID = (
    "qid=None is ambiguous to a scorer: several queries would be scored as one. Accepted are query ids, which arrive as "
    "`groups` with metadata routing on: sklearn.set_config(enable_metadata_routing=True), then cross_validate(..., "
    "params={'groups': qid}) or GridSearchCV(...).fit(X, y, groups=qid), or in a column 'qid' of a data frame X. For rows that "
    "are one list make the scorer with one_query=True."
)


def make_query_scorer(
    measure: Callable[..., Any],
    *,
    one_query: bool = False,
    response_method: str | Sequence[str] = ("decision_function", "predict"),
    **params: Any,
) -> Callable[..., float]:
    """Make a scorer of a measure's mean over queries.

    It requests the query ids under the name ``groups``, which splitters such as `GroupKFold` read as well, and `sample_weight`
    (see `mean_over_queries`), both by metadata routing.  `set_score_request` of the scorer asks for others.
    Without routing it reads the ids from a column ``qid`` of X, if X is a data frame that has one, or takes them in a direct
    call.

    Parameters
    ----------
    measure : callable
        One of this module, or any ``measure(y_true, scores, qid=None, **params)`` with a value per query.
    one_query : bool, default=False
        Whether rows that come without query ids are one list (such as a test fold of `LeaveOneGroupOut`).  False raises,
        because without metadata routing scikit-learn passes no ids to scorers, and different queries would be ranked together.
    response_method : str or sequence of str, default=("decision_function", "predict")
        The methods that may give the scores; the first that the estimator has is used.
    **params : dict
        Parameters of the measure.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, *, qid=None, sample_weight=None)``; larger is better.

    Raises
    ------
    ValueError
        If the measure does not accept its parameters.

    See Also
    --------
    mean_over_queries : Averages a measure over queries.
    token_scorer : Makes a scorer of sequences.
    sklearn.metrics.make_scorer : Makes a scorer of rows.

    Notes
    -----
    With 2-d y each row is a list: routing is not needed, and ``groups`` serve the splitter only.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn import config_context
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.model_selection import GroupKFold, cross_validate
    >>> from sklearn_predtron.metrics import make_query_scorer, ndcg
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(60, 3)), np.arange(60) // 6
    >>> y = (X[:, 0] > 0) + (X[:, 0] > 1)
    >>> with config_context(enable_metadata_routing=True):
    ...     found = cross_validate(
    ...         LinearRegression(), X, y, params={"groups": qid}, cv=GroupKFold(), scoring=make_query_scorer(ndcg, k=3)
    ...     )
    >>> bool(found["test_score"].mean() > 0.9)
    True
    """
    if not callable(measure):
        raise ValueError(f"measure={shortened(measure)} must be a function of y_true, scores and qid.")
    if not isinstance(one_query, (bool, np.bool_)):
        raise ValueError(f"one_query={shortened(one_query)} must be True or False.")
    # A search would turn the error of a wrong parameter into a score of nan.
    measure(np.zeros(1), np.zeros(1), np.zeros(1, dtype=np.intp), **params)
    plain = make_scorer(mean_of_lists, response_method=response_method, measure=measure, one_query=bool(one_query), **params)
    return requesting(QueryScorer, plain, qid="groups", sample_weight=True)


class QueryScorer(Scorer):
    """A scorer that finds the queries' ids in X or arguments."""

    def __call__(self, estimator: Any, X: Any, y_true: Any, *, sample_weight: Any = None, **ids: Any) -> float:
        with config_context(**({"enable_metadata_routing": True} if ids else {})):  # a scorer takes ids with it alone
            return super().__call__(estimator, X, y_true, sample_weight=sample_weight, **ids)

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any) -> float:
        _, ids = split_ids(X, kwargs.get("qid", kwargs.get("groups")))
        if ids is not None:
            kwargs["qid"] = ids
        return super()._score(asked_of_any(method_caller), estimator, X, y_true, **kwargs)


def ndcg_scorer(*, k: int | None = None, gain: types.GainName = "exponential", one_query: bool = False) -> Callable[..., float]:
    """Make a scorer of the mean `ndcg`; see `make_query_scorer`.

    Parameters
    ----------
    k : int, default=None
        Only the first k ranks count; None is all.
    gain : {"exponential", "linear"}, default="exponential"
        G(y) = 2^y - 1, or y.
    one_query : bool, default=False
        Whether rows that come without query ids are one list; False raises.

    Returns
    -------
    callable
        For ``scoring=``.

    Raises
    ------
    ValueError
        If a parameter is not as above.

    See Also
    --------
    ndcg : Measures each query.
    make_query_scorer : Makes a scorer of any measure, and says how it is given the queries.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_predtron.metrics import ndcg_scorer
    >>> X, y = [[0.0], [1.0], [2.0]], [0, 1, 2]
    >>> ndcg_scorer(k=2, one_query=True)(LinearRegression().fit(X, y), X, y)
    1.0
    """
    return make_query_scorer(ndcg, one_query=one_query, k=k, gain=gain)


def average_precision_scorer(*, one_query: bool = False) -> Callable[..., float]:
    """Make a scorer of the mean `average_precision` (MAP); see `make_query_scorer`.

    Parameters
    ----------
    one_query : bool, default=False
        Whether rows that come without query ids are one list; False raises.

    Returns
    -------
    callable
        For ``scoring=``.

    See Also
    --------
    average_precision : Measures each query.
    make_query_scorer : Makes a scorer of any measure, and says how it is given the queries.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_predtron.metrics import average_precision_scorer
    >>> X, y = [[3.0], [2.0], [1.0], [0.0]], [1, 0, 1, 0]
    >>> round(average_precision_scorer(one_query=True)(LinearRegression().fit(X, y), X, y), 3)
    0.833
    """
    return make_query_scorer(average_precision, one_query=one_query)


def kendall_tau_scorer(*, one_query: bool = False) -> Callable[..., float]:
    """Make a scorer of the mean `kendall_tau`; see `make_query_scorer`.

    Parameters
    ----------
    one_query : bool, default=False
        Whether rows that come without query ids are one list; False raises.

    Returns
    -------
    callable
        For ``scoring=``.

    See Also
    --------
    kendall_tau : Measures each query.
    make_query_scorer : Makes a scorer of any measure, and says how it is given the queries.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_predtron.metrics import kendall_tau_scorer
    >>> X, y = [[3.0], [2.0], [1.0], [0.0]], [1, 0, 1, 0]
    >>> kendall_tau_scorer(one_query=True)(LinearRegression().fit(X, y), X, y)
    0.5
    """
    return make_query_scorer(kendall_tau, one_query=one_query)


def reciprocal_rank_scorer(*, one_query: bool = False) -> Callable[..., float]:
    """Make a scorer of the mean `reciprocal_rank` (MRR); see `make_query_scorer`.

    Parameters
    ----------
    one_query : bool, default=False
        Whether rows that come without query ids are one list; False raises.

    Returns
    -------
    callable
        For ``scoring=``.

    See Also
    --------
    reciprocal_rank : Measures each query.
    make_query_scorer : Makes a scorer of any measure, and says how it is given the queries.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_predtron.metrics import reciprocal_rank_scorer
    >>> X, y = [[3.0], [2.0], [1.0], [0.0]], [0, 1, 0, 0]
    >>> reciprocal_rank_scorer(one_query=True)(LinearRegression().fit(X, y), X, y)
    0.5
    """
    return make_query_scorer(reciprocal_rank, one_query=one_query)


def precision_at_k_scorer(*, k: int, one_query: bool = False) -> Callable[..., float]:
    """Make a scorer of the mean `precision_at_k`; see `make_query_scorer`.

    Parameters
    ----------
    k : int
        Ranks that count, at least 1.
    one_query : bool, default=False
        Whether rows that come without query ids are one list; False raises.

    Returns
    -------
    callable
        For ``scoring=``.

    Raises
    ------
    ValueError
        If k is below 1.

    See Also
    --------
    precision_at_k : Measures each query.
    make_query_scorer : Makes a scorer of any measure, and says how it is given the queries.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_predtron.metrics import precision_at_k_scorer
    >>> X, y = [[3.0], [2.0], [1.0], [0.0]], [1, 0, 1, 0]
    >>> precision_at_k_scorer(k=2, one_query=True)(LinearRegression().fit(X, y), X, y)
    0.5
    """
    return make_query_scorer(precision_at_k, one_query=one_query, k=k)


def mean_of_lists(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    /,
    *,
    measure: Callable[..., Any],
    one_query: bool,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    **params: Any,
) -> float:
    """Average the measure over the queries, as a scorer calls it."""
    # `score` of a search with several scorers passes the ids by the name under which they were requested.
    qid = groups if qid is None else qid
    if np.ndim(y_true) == 2:
        qid = None
    elif qid is None:
        if not one_query:
            raise ValueError(NO_QID)
        qid = ONE
    return mean_over_queries(measure, y_true, y_pred, qid, sample_weight=sample_weight, **params)
