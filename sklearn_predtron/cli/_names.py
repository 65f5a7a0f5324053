"""Names that the options accept.

They are written out here, so that help and errors do not import the parts.  A test compares them with the parts.
"""

from __future__ import annotations

FORMATS = ["svmlight", "csv", "conll", "json", "vw"]
NORMS = ["auto", "l2", "l1", "group", "trace", "scaled", "rkhs"]
MAPS = ["piecewise", "auto", "fourier"]
DECISIONS = ["learned", "expected_cost", "f1", "balanced", "macro_f1", "micro_f1", "fitted"]
MOST_FEATURES = 2**31 - 1

CLASS_LOSSES = ["zero_one", "absolute", "squared"]
BATCH_LOSSES = ["hamming", "subset_zero_one", "error_set_size", "f1", "jaccard", "balanced", "g_mean"]
LOSSES = {
    "binary": CLASS_LOSSES,
    "multiclass": CLASS_LOSSES,
    "ordinal": CLASS_LOSSES,
    "multilabel": [*BATCH_LOSSES, "precision_at_k", "recall_at_k"],
    "rank": ["ndcg", "ap", "swapped_pairs", "ranking_zero_one", "kendall_tau"],
    "sequence": ["hamming", "zero_one"],
    "bipartite": BATCH_LOSSES,
}
