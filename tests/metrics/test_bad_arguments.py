"""Whatever is passed, a function of this folder or of decisions accepts it or raises ValueError, which says what is wrong."""

import inspect

import numpy as np
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


RANDOM = np.random.default_rng(0)
N = 80
P = RANDOM.dirichlet(np.ones(3), N)
NAMES = RANDOM.choice(["a", "b", "c"], N)
TABLES = RANDOM.lognormal(size=(N, 3, 3)) * (1 - np.eye(3))
RANKED = ([0, 1, 1], [0.1, 0.2, 0.3])
BAD_K = [0, -1, 1.5, "3", True, np.nan]
OF_GAIN = [
    ({"gain": gain}, "gain=.* is not known; accepted are 'exponential' and 'linear'") for gain in ("log", None, 2, ["linear"])
]


def of_k(values, also):
    return [({"k": k}, rf"k=.*; accepted are integers of at least 1{also}") for k in values]


# Of a function, arguments that it takes, and what is refused in their place.
REFUSED = {
    (metrics.chunk_precision_recall_fscore_support, "y_true y_pred"): [
        (["O", "O"], ["O", "O"]),
        ({"y_pred": ["O", "X"]}, "The label 'X' is none of chunks; accepted are 'O', 'B-x' and 'I-x'"),
        ({"y_true": ["O", "BX"]}, "The label 'BX' is none"),
        ({"y_true": ["O-X", "O"]}, "The label 'O-X' is none"),
        ({"y_true": ["", "O"]}, "The label '' is none"),
        ({"y_true": [1, 2]}, "The label 1 is none"),
        ({"y_true": ["O", None]}, "The label None is none"),
        ({"y_pred": ["O"]}, "y_pred has 1 labels and y_true has 2"),
        ({"y_true": [["O"], ["O"]]}, "y_true=.* is no list of labels.*datasets.stack_sequences"),
        ({"y_pred": np.array([["O"], ["O"]])}, "y_pred=.* is no list of labels"),
        ({"y_true": [{}, "O"]}, "are not strings"),
        ({"sid": [1]}, "sid has 1 entries and y_true has 2"),
        ({"sid": [1, np.nan]}, r"sid\[1\]=nan"),
        ({"sample_weight": [1, 2]}, r"sample_weight\[1\]=2 is not the weight of its sequence's first token"),
        ({"sample_weight": [3, 3, 3]}, "sample_weight"),
        ({"sample_weight": [-1, -1]}, "[Nn]egative"),
        ({"average": "macro"}, "average='macro' is not known; accepted are None and 'micro'"),
        ({"labels": "X"}, "labels='X' is one type; accepted is a list of types"),
    ],
    (metrics.classwise_calibration_error, "y_true y_prob"): [
        (NAMES, P),
        ({"n_bins": 0}, "n_bins=0 must be an int"),
        ({"y_prob": P * 2}, "must hold probabilities"),
        ({"y_prob": P[:, :2]}, "2 columns for 3 labels"),
        ({"y_prob": P[1:]}, "79 rows, and y_true 80"),
        ({"labels": ["a", "b", "x"]}, "y_true contains labels"),
        ({"y_true": np.full((N, 3), 2)}, "must hold 0 and 1 alone"),
        ({"y_true": np.ones((N, 3)), "labels": [0, 1, 2]}, "must be None if y_true holds indicators"),
        ({"sample_weight": np.zeros(N)}, "sample_weight is zero for every row"),
    ],
    (metrics.risk_coverage_auc, "y_true y_pred confidence"): [
        (NAMES, NAMES, P[:, 0]),
        ({"y_pred": NAMES[1:]}, r"y_pred has shape \(79,\)"),
        ({"confidence": P[1:, 0]}, r"confidence has shape \(79,\)"),
        ({"confidence": np.full(N, np.nan)}, "confidence contains NaN"),
        ({"y_pred": np.zeros(N)}, "y_pred holds labels of another type"),
        ({"sample_weight": np.zeros(N)}, "sample_weight is zero for every row"),
    ],
    (metrics.mean_over_queries, "measure y_true scores qid"): [
        (metrics.ndcg, *RANKED, "one"),
        ({"sample_weight": [1, 1]}, r"sample_weight has shape \(2,\); accepted is \(3,\)"),
        ({"sample_weight": [1, -1, 1]}, r"sample_weight\[1\]=-1.0; accepted are weights, finite and not negative"),
        ({"sample_weight": [1, np.nan, 1]}, r"sample_weight\[1\]=nan"),
        ({"sample_weight": [1, 1, np.inf]}, r"sample_weight\[2\]=inf"),
        ({"sample_weight": [0, 0, 0]}, "sample_weight is zero for every row; at least one weight must be positive"),
        ({"sample_weight": "abc"}, "sample_weight='abc' does not hold numbers"),
    ],
    (metrics.average_precision, "y_true scores"): [
        RANKED,
        *(
            ({"y_true": y, "scores": np.reshape([1, 2, 3], np.shape(y))}, rf"y_true holds {grade}; average precision is for rel")
            for y, grade in (([0, 2, 1], 2), ([0.5, 1, 0], 0.5), ([[0, 1, 3]], 3))
        ),
    ],
    (metrics.precision_at_k, "y_true scores k"): [(*RANKED, np.int64(2)), *of_k([*BAD_K, None], "")],
    (metrics.precision_at_k_scorer, "k"): [(1,), *of_k([*BAD_K, None], "")],
    (metrics.ndcg, "y_true scores"): [RANKED, *of_k(BAD_K, " and None"), *OF_GAIN],
    (metrics.ndcg_scorer, ""): [(), *of_k(BAD_K, " and None"), *OF_GAIN],
    (metrics.savings_score, "y_true y_pred costs"): [
        (NAMES, NAMES, TABLES),
        ({"y_pred": NAMES[:5]}, "y_pred has 5 entries, and y_true 80"),
        ({"y_true": [], "y_pred": []}, "y_true has no rows"),
        ({"costs": TABLES[:5]}, r"costs has shape \(5, 3, 3\); accepted here is \(80, 3, 3\)"),
        ({"labels": ["a", "a", "b", "c"]}, "must hold each label once"),
        ({"labels": ["a", "b"], "costs": {}}, "y_pred contains labels that are not in"),
        ({"costs": "zero_one", "reject_label": "?"}, "costs of all rows do not say what a rejection costs"),
        ({"costs": {("a", "z"): 1}}, r"costs names the pair \('a', 'z'\)"),
        ({"sample_weight": np.zeros(N)}, "sample_weight is zero for every row"),
        ({"reject_label": "a"}, "reject_label='a' must be one label that is none of y_true"),
        ({"reject_label": ["?"]}, "must be one label that is none of y_true"),
        ({"y_true": [None, *NAMES[1:]]}, "y_true holds None or NaN"),
    ],
}


@pytest.mark.always
@pytest.mark.parametrize(
    ("function", "good", "given", "message"),
    [
        (function, dict(zip(names.split(), good, strict=True)), *row)
        for (function, names), (good, *refused) in REFUSED.items()
        for row in refused
    ],
)
def test_what_is_wrong_is_said(function, good, given, message):
    function(**good)
    with pytest.raises(ValueError, match=message):
        function(**good | given)
