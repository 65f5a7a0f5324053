"""Measures of rankings, chunks, confidence and probabilities, scorers, progressive validation, and a monitor of costs.

Of every measure of rankings:

- ``y_true`` and ``scores`` hold a number per document, and ``qid`` the query of each (``qid=None`` is one query).  The documents
  of a query need not be adjacent, and the values are in the order in which the queries first appear.  With ``y_true`` and
  ``scores`` of shape (n, m), as in label ranking, each row is a list, and ``qid`` is None.
- A list is ranked by descending score.  If scores are equal, the value is the expectation over all orders of their documents
  (for `kendall_tau`: a pair of equal scores is half right).  The order of the rows changes no value.
- If no ranking is wrong (no document is relevant, all are equally relevant, or there is one) `ndcg`, `average_precision` and
  `kendall_tau` are 1.  `reciprocal_rank` and `precision_at_k` count relevant documents: without relevant documents they are 0.
"""

from sklearn_predtron.metrics._calibration_error import classwise_calibration_error
from sklearn_predtron.metrics._chunks import chunk_f1_score, chunk_precision_recall_fscore_support
from sklearn_predtron.metrics._cost_monitor import CostMonitor
from sklearn_predtron.metrics._means import mean_over_queries
from sklearn_predtron.metrics._progressive import progressive_val_score
from sklearn_predtron.metrics._query_scorers import (
    average_precision_scorer,
    kendall_tau_scorer,
    make_query_scorer,
    ndcg_scorer,
    precision_at_k_scorer,
    reciprocal_rank_scorer,
)
from sklearn_predtron.metrics._ranking_measures import average_precision, kendall_tau, ndcg, precision_at_k, reciprocal_rank
from sklearn_predtron.metrics._risk_coverage import risk_coverage_auc
from sklearn_predtron.metrics._savings import savings_score
from sklearn_predtron.metrics._scorers import cost_scorer, reject_scorer, subset_scorer
from sklearn_predtron.metrics._token_scorer import token_scorer

__all__ = [
    "CostMonitor",
    "average_precision",
    "average_precision_scorer",
    "chunk_f1_score",
    "chunk_precision_recall_fscore_support",
    "classwise_calibration_error",
    "cost_scorer",
    "kendall_tau",
    "kendall_tau_scorer",
    "make_query_scorer",
    "mean_over_queries",
    "ndcg",
    "ndcg_scorer",
    "precision_at_k",
    "precision_at_k_scorer",
    "progressive_val_score",
    "reciprocal_rank",
    "reciprocal_rank_scorer",
    "reject_scorer",
    "risk_coverage_auc",
    "savings_score",
    "subset_scorer",
    "token_scorer",
]

# Pickles name these by the public path, whatever module defines them.
for name in __all__:
    globals()[name].__module__ = __name__
del name
