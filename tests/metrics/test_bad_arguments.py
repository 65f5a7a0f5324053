"""Whatever is passed, a function of this folder or of decisions accepts it or raises ValueError."""

import inspect

import pandas as pd
import pytest

from sklearn_predtron import decisions, metrics

BAD = {
    "huge": 10**400,
    "huge entries": [10**400, 1],
    "nan": float("nan"),
    "nan entries": [float("nan"), 1.0],
    "NA": pd.NA,
    "NA entries": [pd.NA, 1],
    "text with NA": pd.array(["a", pd.NA], dtype="string"),
    "NaT": pd.NaT,
    "None": None,
    "nested": [[1]],
    "ragged": [[1], [2, 3]],
    "object": [object(), 1],
    "dict": {},
    "text": "x",
    "complex": 1j,
    "empty": [],
    "bool": True,
}
Y, SCORES = [0, 1], [0.2, 0.7]
COSTS = [[0, 1], [1, 0]]
GROUPED = metrics.CostMonitor(0.1, groups=["a"])
REQUIRED = {
    metrics.CostMonitor: {"limit": 0.1},
    metrics.CostMonitor(0.1).update: {"cost": 0.1},
    GROUPED.update: {"cost": 0.1, "group": "a"},
    GROUPED.get: {},
    GROUPED.interval: {"group": "a"},
    metrics.savings_score: {"y_true": Y, "y_pred": Y, "costs": COSTS},
    metrics.mean_over_queries: {"measure": metrics.ndcg, "y_true": Y, "scores": SCORES},
    metrics.make_query_scorer: {"measure": metrics.ndcg},
    metrics.classwise_calibration_error: {"y_true": Y, "y_prob": SCORES},
    metrics.risk_coverage_auc: {"y_true": Y, "y_pred": Y, "confidence": SCORES},
    metrics.precision_at_k: {"y_true": Y, "scores": SCORES, "k": 1},
    metrics.chunk_f1_score: {"y_true": ["B-a", "O"], "y_pred": ["B-a", "O"]},
    metrics.chunk_precision_recall_fscore_support: {"y_true": ["B-a", "O"], "y_pred": ["B-a", "O"]},
    decisions.AtMost: {"measure": "recall", "bound": 0.1, "label": 1},
    decisions.AtLeast: {"measure": "risk", "bound": 0.1, "group": "a"},
    decisions.ExpectedCost: {},
    **{
        getattr(metrics, name): {"y_true": Y, "scores": SCORES}
        for name in ("ndcg", "average_precision", "kendall_tau", "reciprocal_rank")
    },
    **{
        getattr(metrics, name): {}
        for name in metrics.__all__
        if name.endswith("_scorer") and name not in ("make_query_scorer", "token_scorer")
    },
}
REQUIRED |= {metrics.cost_scorer: {"costs": COSTS}, metrics.reject_scorer: {"cost": 0.1}, metrics.subset_scorer: {"loss": "f1"}}
REQUIRED |= {metrics.precision_at_k_scorer: {"k": 1}}
CASES = [
    pytest.param(function, name, id=f"{getattr(function, '__qualname__', function)}-{name}")
    for function in REQUIRED
    for name, parameter in inspect.signature(function).parameters.items()
    if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL) and name != "loss"
]


@pytest.mark.always  # each takes milliseconds
@pytest.mark.parametrize(("function", "name"), CASES)
@pytest.mark.filterwarnings("ignore")
def test_bad_values_are_accepted_or_raise_value_errors(function, name):
    for value in BAD.values():
        try:
            made = function(**REQUIRED[function] | {name: value})
            if isinstance(made, decisions.DecisionRule):
                made._validate_params()
        except ValueError as error:
            assert str(error)
