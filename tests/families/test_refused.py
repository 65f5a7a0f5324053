"""Parameters that a family refuses: the error names the parameter, the value and what is accepted, and nothing changes."""

import copy
from functools import cache

import numpy as np
import pytest
from cases import make_data, random_code
from ranking_cases import make_data as make_queries
from ranking_cases import make_labels, plain
from reference.sets import wavy
from refusals import frozen
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

from sklearn_predtron import (
    Patience,
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron.decisions import Cut, ExpectedCost
from sklearn_predtron.losses import NDCG, CostMatrix, CountLoss, FBeta, PrecisionAtK, RecallAtK, Reject
from sklearn_predtron.norms import RKHS, Group, PNorm, Trace
from sklearn_predtron.representations import PowerRank
from sklearn_predtron.updates import (
    MMP,
    Adaptive,
    ListNet,
    LossAugmented,
    LossDriven,
    MaxPair,
    PassiveAggressive,
    PerceptronUpdate,
    Slam,
    Subgradient,
)
from tests.families.test_bipartite import rows
from tests.families.test_changed_parts import CHANGED_NORMS
from tests.families.test_estimators import ESTIMATORS
from tests.families.test_multilabel import make_data as make_sets
from tests.own_checks import assert_same_bits, is_same
from tests.own_checks.comparisons import assert_fails
from tests.own_checks.comparisons import frozen as own_frozen
from tests.own_checks.data import ClassData, SequenceData, bad_calls
from tests.own_checks.data import make_data as own_data

X, Y = make_data()
X2, Y2 = make_data(2)
SETS, INDICATORS = make_sets()
DOCUMENTS, RELEVANCES, QID = make_queries(grades=(0, 1))
BATCHES, SIDES, _ = rows(100)
TWO, THREE = {"classes": [0, 1]}, {"classes": [0, 1, 2]}
VOTES = {"loss": "kendall_tau", "representation": "pairwise"}
WORLDS = {  # an estimator that learns from the rows and labels, and what its calls, and its first `partial_fit`, need beside
    "classes": (PredtronClassifier(), X, Y, {}, THREE),
    "two": (PredtronBinaryClassifier(), X2, Y2, {}, TWO),
    "two of several": (PredtronClassifier(), X2, Y2, {}, TWO),
    "ranks": (PredtronOrdinalClassifier(), X, Y, {}, THREE),
    "two ranks": (PredtronOrdinalClassifier(), X2, Y2, {}, TWO),
    "sets": (PredtronMultilabelClassifier(), SETS, INDICATORS, {}, {}),
    "one label": (PredtronMultilabelClassifier(), SETS, INDICATORS[:, 0], {}, TWO),
    "graded documents": (PredtronRanker(cv=0), *make_queries()[:2], {"qid": make_queries()[2]}, {}),
    "graded lists": (PredtronLabelRanker(cv=0), *make_labels(), {}, {}),
    "batches": (PredtronBipartiteClassifier(), BATCHES, SIDES, {}, TWO),
    "batches of counts": (PredtronBipartiteClassifier(balance=0), BATCHES, SIDES, {}, TWO),
    "documents": (PredtronRanker(cv=0), DOCUMENTS, RELEVANCES, {"qid": QID}, {}),
    "lists": (PredtronLabelRanker(cv=0), *make_labels(grades=(0, 1)), {}, {}),
    "votes": (PredtronLabelRanker(cv=0, **VOTES), *make_labels(m=3, grades=(0, 1)), {}, {}),
    "tokens": (PredtronSequenceTagger(cv=0), X, Y, {"sid": np.arange(90) // 5}, THREE),
}
FIT_ALONE = {"cv", "max_iter", "tol"}  # parameters that a stream does not read

COSTS = np.array([[0, 2, 7], [1, 0, 3], [4, 5, 0]])
REJECT_COST = r"reject\.cost=.*(above 0 and at most|does not hold numbers)"
NO_REJECT = r"^reject(=|\.cost=).*(accepted are None, a cost and|is a class; pass an instance|above 0 and at most)"
LEARNED = r"^decision=Learned\(\) does not go with reject\.\w+=0\.1; accepted are None and 'ex"
OF_RANKINGS = r"update=.* needs rankings .*PredtronLabelRanker\); accepted here are 'predtron'"
SHARED = r"update='prank' needs ordered thresholds .* with representation='shared'\)"
WORKS = "accepted with it is loss='kendall_tau' of PredtronLabelRanker"
ACCEPTED = "accepted here are 'predtron', 'loss_driven', 'perceptron', 'passive_aggressive', 'adaptive', 'subgradient' and"
SCALING = r"intercept_scaling=.* must be a number from 1e-140 to 1e\+140|^intercept_scaling cannot change"
REFUSED = {
    ("classes", "loss"): [
        ([[0, 1], [1, 0]], r"loss must be a \(3, 3\) cost matrix for the 3 classes \[0, 1, 2\], got shape \(2, 2\)"),
        ([0, 1, 1], r"loss must be a \(3, 3\) cost matrix .* got shape \(3,\)"),
        ([[0, 1, -2], [1, 0, 1], [1, 1, 0]], r"loss must hold finite costs that are not negative, got \[-2.0\]"),
        ([[0, 1, np.nan], [1, 0, 1], [1, 1, 0]], r"loss must hold finite costs .* got \[nan\]"),
        ([[0, 1, np.inf], [1, 0, 1], [1, 1, 0]], r"loss must hold finite costs .* got \[inf\]"),
        ([[0, 1, 1], [1, 5, 1], [1, 1, 0]], r"loss must cost nothing on its diagonal, got \[0.0, 5.0, 0.0\]"),
        (np.zeros((3, 3)), "loss must hold at least one positive cost"),
        ([["a", "b", "c"]] * 3, r"loss=\[\['a'.* does not hold numbers; accepted is a cost matrix of shape \(3, 3\)"),
        ([[0, 1, 1], [1, 0], [1, 1, 0]], "loss=.* does not hold numbers; accepted is a cost matrix"),
        ({(0, 1): -1}, r"loss must hold finite costs that are not negative, got \[-1.0\]"),
        ({(0, 1): "dear"}, r"loss\[\(0, 1\)\]='dear' does not hold numbers"),
        ({(0, 0): 1}, r"loss must cost nothing on its diagonal, got \[1.0, 0.0, 0.0\]"),
        ({0: 1}, r"loss must have keys \(true label, predicted label\), got 0"),
        ("hinge", "loss='hinge' is not known; accepted are 'zero_one', 'absolute', 'squared', a matrix"),
        (None, "The 'loss' parameter of PredtronClassifier must be .* Got None"),
        (CostMatrix(COSTS, labels=[0, 1, 1]), r"labels=\[0, 1, 1\] must be a list of at least two .*, each once"),
        (CostMatrix(COSTS, labels=[0, 1, 1.0]), "labels=.* each once"),
        (CostMatrix(COSTS, labels=[0]), r"labels=\[0\] must be a list"),
        (CostMatrix(COSTS, labels="abc"), "labels='abc' must be a list"),
        (CostMatrix(COSTS, labels=3), "labels=3 must be a list"),
        (CostMatrix(COSTS, labels=[[0, 1, 2]]), "labels=.* must be a list"),
        (CostMatrix(COSTS, labels=[[0], [1, 2]]), "labels=.* must be a list"),
        (CostMatrix(COSTS, labels=[0, 1]), r"loss must be a \(2, 2\) cost matrix for the 2 labels \[0, 1\], got shape \(3, 3\)"),
        (
            CostMatrix(COSTS, labels=[0, 1, 3]),
            r"labels=\[0, 1, 3\] of the costs lacks the class\(es\) \[2\]; every class must be",
        ),
        (CostMatrix(COSTS, labels=["0", "1", "2"]), r"labels=\['0', '1', '2'\] of the costs lacks the class\(es\) \[0, 1, 2\]"),
        (
            CostMatrix({(0, 1): 2}, labels=["0", "1", "2"]),
            r"loss names the label 0, which is not among its labels=\['0', '1', '2'\]",
        ),
        (CostMatrix({(0, 5): 2}, labels=[0, 1, 2, 3]), r"loss names the label 5, which is not among its labels=\[0, 1, 2, 3\]"),
        (CostMatrix({0: 2}, labels=[0, 1, 2]), "loss must have keys"),
        (CostMatrix({(0, 3): -1}, labels=[0, 1, 2, 3]), "loss must hold finite costs that are not negative"),
        (CostMatrix({(3, 3): 1}, labels=[0, 1, 2, 3]), "loss must cost nothing on its diagonal"),
        (
            CostMatrix([[0, 0, 0, 5]] * 3 + [[0] * 4], labels=[0, 1, 2, 3]),
            r"loss must hold at least one positive cost, got \[\[0.0, 0.0, 0.0\]",
        ),
    ],
    ("classes", "representation"): [
        ("sign", "representation='sign' is for two predictions, there are 3; 'onehot' takes any number"),
        ("binary", "representation='binary' is not known; accepted are 'onehot', 'simplex'.* and instances of"),
        (np.eye(2), r"representation must be a code matrix of shape \(3, d\), got shape \(2, 2\)"),
        ([1, 2, 3], r"representation must be a code matrix of shape \(3, d\), got shape \(3,\)"),
        ([[1, 0], [0, 1], [0, 0]], "representation must not hold a row of zeros, as row 2 is"),
        ([[1, 0], [0, 1], [0, 1]], "representation must have rows that point in different directions"),
        ([[1, 0], [0, 1], [0, np.nan]], r"representation must hold finite numbers, got \[nan\]"),
        ([["a"], ["b"], ["c"]], r"representation=\[\['a'\].* does not hold numbers"),
        (None, "The 'representation' parameter of PredtronClassifier must be .* Got None"),
    ],
    ("classes", "class_weight"): [
        ({7: 2.0}, r"class_weight names \[7\], not in classes_: \[0, 1, 2\]"),
        ({0: 1.0, 1: 2.0, 7: 2.0}, r"class_weight names \[7\], not in classes_: \[0, 1, 2\]"),
        ({"0": 1.0}, r"class_weight names \['0'\], not in classes_"),
        ({0: -1.0}, r"class_weight=\{0: -1.0\} must hold finite weights that are not negative"),
        ({0: np.nan}, "class_weight=.*must hold finite weights"),
        ({0: "much"}, r"class_weight=\['much', 1.0, 1.0\] does not hold numbers"),
        ("auto", "The 'class_weight' parameter of PredtronClassifier must be .*'balanced'.* Got 'auto'"),
    ],
    ("classes", "update"): [
        ("sgd", "update='sgd' is not known; accepted are .*'passive_aggressive'.* and instances of Update"),
        (1, "The 'update' parameter of PredtronClassifier must be .* Got 1"),
        (PassiveAggressive(C=-1), r"The 'C' parameter of PassiveAggressive must be .*\(0.0, inf\]?.* Got -1"),
        (PassiveAggressive(variant="pa3"), "The 'variant' parameter of PassiveAggressive .* Got 'pa3'"),
        (PassiveAggressive(C=1, variant="pa"), "C=1 has no effect with variant='pa'; use 'pa1' or 'pa2'"),
        (LossAugmented(eta=0), "The 'eta' parameter of LossAugmented must be .* Got 0"),
        (Adaptive(kappa="big"), "The 'kappa' parameter of Adaptive must be .* Got 'big'"),
        (Subgradient(alpha=1.0, eta=1.0), "eta=1.0 must be below 1 / alpha = 1"),
        (Subgradient(alpha=0), r"eta='pegasos' is 1 / \(alpha t\), and alpha=0; give eta as a number"),
        *(
            (update, f"The '{parameter}' parameter of {type(update).__name__} must be")
            for parameter, update in [
                ("eta", LossAugmented(eta="often")),
                ("eta", LossDriven(eta=-1.0)),
                ("eta", PerceptronUpdate(eta="theory")),
                ("C", PassiveAggressive(C=0.0)),
                ("competitor", PassiveAggressive(competitor="best")),
                ("target", PassiveAggressive(target="none")),
                ("delta", PassiveAggressive(delta=-1)),
                ("kappa", Adaptive(kappa=0)),
                ("eta", Subgradient(eta="optimal")),
                *(("alpha", Subgradient(alpha=alpha, eta=0.1)) for alpha in (-1e-3, "theory", None, np.nan)),
            ]
        ),
    ],
    ("classes", "norm"): [
        ("l7", "norm='l7' is not known; accepted are 'auto', 'l2'.* and instances of Norm"),
        *(
            (kind(q=q), f"The 'q' parameter of {kind.__name__} must be|^norm cannot change")
            for kind in (PNorm, Group, Trace)
            for q in ["practice", "4", 1.9, 0, -1, np.nan, np.inf, True]
        ),
        *(
            (RKHS(**{parameter: value}), f"The '{parameter}' parameter of RKHS|^norm cannot change")
            for parameter, values in {
                "kernel": ["gauss"],
                "gamma": [0, -1.0],
                "degree": [-1],
                "coef0": [np.nan],
                "budget": [0, 2.5],
            }.items()
            for value in values
        ),
        (RKHS(kernel=lambda A, B: np.ones(3)), r"returned shape \(3,\) for 16 and 16 rows|^norm cannot change"),
    ],
    ("classes", "average"): [
        ("median", "The 'average' parameter of PredtronClassifier must be .*'linear'.* Got 'median'"),
        (True, "average=True is ambiguous; accepted are None, 'auto', 'linear', 'uniform', a half-life in rounds and False"),
        (np.True_, "average=True is ambiguous"),
        (-3.0, "The 'average' parameter of PredtronClassifier must be .* Got -3.0"),
    ],
    ("classes", "max_iter"): [
        (0, r"The 'max_iter' parameter of PredtronClassifier must be an int in the range \[1, inf\).* Got 0")
    ],
    ("classes", "tol"): [
        (-1e-3, "The 'tol' parameter of PredtronClassifier must be .* Got -0.001"),
        (Patience(-1), r"^tol=Patience\(tol=-1\) has tol=-1; accepted is a finite number of at least 0\.$"),
        (Patience("low"), r"has tol='low'; accepted is a finite number of at least 0"),
        (Patience(np.nan), "has tol=nan; accepted is a finite number"),
        (Patience(np.inf), "has tol=inf; accepted is a finite number"),
        (True, "^tol=True is ambiguous"),
        (Patience(0.1, 0), "has n_iter_no_change=0; accepted is an integer of at least 1"),
        (Patience(0.1, 2.5), r"has n_iter_no_change=2\.5; accepted is an integer"),
        (Patience, r"^tol=Patience is a class; pass an instance"),
        ("never", "The 'tol' parameter of PredtronClassifier must be .*Patience"),
    ],
    ("classes", "intercept_scaling"): [
        (-1, "The 'intercept_scaling' parameter of PredtronClassifier must be .* Got -1"),
        *((value, SCALING) for value in (1e-200, 1e-141, 1e141, 1e200)),
    ],
    ("classes", "reject"): [
        ("never", r"reject='never' is not known; accepted are None, a cost and instances of Reject, as Reject\("),
        (Reject(0.2, 9, confidence=2), r"reject\.confidence=2 must be a number from 0\.5 to below 1"),
        (Reject, "reject=Reject is a class; pass an instance"),
        *(
            (value, REJECT_COST)
            for value in [
                Reject(0.0, -1),
                Reject(-0.1, -1),
                Reject(1.01, -1),
                Reject([0.1, 0.2], -1),
                Reject([0.1, 0.2, 0.0], -1),
                Reject([[0.1, 0.2, 0.3]], -1),
                Reject(np.nan, -1),
                Reject(["a", "b", "c"], -1),
            ]
        ),
        *((value, NO_REJECT) for value in [True, 0.0, -0.2, np.nan, "margin", Reject, (0.2, -1), {"cost": 0.2}]),
    ],
    ("classes", "cv"): [
        *((value, "'cv' parameter") for value in [1, -1, "five"]),
        (len(X) + 1, f"cv={len(X) + 1} is more than the {len(X)} units"),
        (ShuffleSplit(3, random_state=0), "cv=ShuffleSplit.* (tests a row twice|never tests some rows)"),
        (ShuffleSplit(1, random_state=0), "never tests some rows"),
        (GroupKFold(3), "cv=GroupKFold.*splitters that need groups are not supported here"),
        (KFold, "cv=KFold is a class"),
    ],
    ("classes", "several"): [
        ({"cv": 3, "warm_start": True}, "warm_start=True"),
        ({"cv": 3, "average": "auto"}, "average='auto'"),
        ({"cv": 3, "norm": RKHS()}, "norm='rkhs'"),
        *(
            ({"update": update}, OF_RANKINGS)
            for update in ("slam", "max_pair", "listnet", "mmp", Slam(eta=0.1), MMP(weights="max"))
        ),
    ],
    ("two", "reject"): [
        (Reject(), r"reject.cost=None, reject.risk=None, reject.rate=None; accepted is exactly one"),
        (Reject(0.1, rate=0.1), r"reject.cost=0.1, reject.risk=None, reject.rate=0.1; accepted is exactly one"),
        (Reject(risk=0.1, rate=0.1), "accepted is exactly one"),
        (Reject(rate=0), r"reject.rate=0 must be a number above 0"),
        (Reject(rate=1), r"reject.rate=1 must be a number above 0 and below 1"),
        (Reject(rate="few"), r"reject.rate='few' must be a number"),
        (Reject(rate=float("nan")), "reject.rate=nan must be"),
        (Reject(), "exactly one of them"),
        (Reject(cost=0.1, risk=0.1), r"reject\.cost=0\.1, reject\.risk=0\.1, reject\.rate=None; accepted is exactly one"),
        (Reject(risk=0), r"reject\.risk=0 must be a number above 0"),
        (Reject(risk="low"), r"reject\.risk='low' must be a number"),
        (Reject(risk=1.0), r"reject\.risk=1\.0 must be below the largest loss, 1: any model keeps it"),
        (Reject(risk=0.1, confidence=0.3), r"reject\.confidence=0\.3 must be a number from 0\.5 to below 1"),
        (Reject(risk=0.1, confidence=1), r"reject\.confidence=1 must be"),
    ],
    ("two", "several"): [
        ({"reject": Reject(risk=0.1), "decision": "learned"}, "does not go with reject.risk=0.1; accepted are None"),
        ({"reject": Reject(risk=0.1), "decision": 0.3}, "does not go with"),
        *(({"decision": "learned", "reject": reject}, LEARNED) for reject in (0.1, Reject(rate=0.1), Reject(risk=0.1))),
        (
            {"decision": "f1", "reject": Reject(0.1, -1)},
            r"decision=Cut\(at='f1'\) does not go with reject=Reject\(.*accepted are",
        ),
        ({"decision": 0.5, "reject": 0.1}, r"decision=Cut\(at=0.5\) does not go with reject=0.1"),
        *(({"update": update}, OF_RANKINGS) for update in ("slam", "max_pair", "listnet", "mmp")),
    ],
    ("two", "decision"): [
        ("recall", r"decision='recall' is not known; accepted are None, 'learned', 'expected_cost', 'f1', 'balanced', E"),
        (Cut("recall"), r"decision='recall' is not known; accepted are 'f1', 'balanced', a loss of counts and a"),
        ("cost", r"decision='cost' is not known"),
        ("macro_f1", r"decision='macro_f1' is not known"),
        (np.nan, r"decision=nan is not known"),
        (np.inf, r"decision=inf is not known"),
        (True, r"[Tt]he 'decision' parameter of PredtronBinaryClassifier must be|decision=True is not known"),
        (Cut(True), r"decision=True is not known"),
        (Cut(np.nan), r"decision=nan is not known"),
        (Cut(None), r"decision=None is not known; accepted are 'f1', 'balanced'"),
        (Cut([0.1, 0.2]), r"decision=\[0.1, 0.2\] is not known"),
        (Cut, r"decision=Cut is a class; pass an instance|The 'decision' parameter"),
        (ExpectedCost(smoothing=2.0), r"The 'smoothing' parameter of ExpectedCost must be"),
        (Cut(FBeta), r"decision=FBeta is a class; pass an instance"),
        (Cut(PrecisionAtK(k=1)), r"decision=Cut\(at=PrecisionAtK\(\)\) is for sets of k labels"),
        (Cut(lambda a, b, c, d: np.nan), r"decision=.* must return finite numbers; at \(a, b, c, d\) = \(2, 0, 0, 2\)"),
        (Cut("roc_auc"), r"decision='roc_auc' is not known"),
        (Cut(roc_auc_score), r"must be a function of four counts .* it raised TypeError"),
        (Cut(lambda a, b, c, d: 1.0), r"is 1 for right and for wrong predictions"),
        (Cut(lambda a, b, c, d: (a + d) / (a + b + c + d)), r"is 1 for right predictions and 0 for wrong ones"),
    ],
    ("ranks", "several"): [
        (
            {"representation": "shared", "fit_intercept": False},
            r"fit_intercept=False .*representation='shared'.*accepted is True|^fit_intercept cannot change",
        ),
        *(
            ({"representation": representation, "update": "prank"}, SHARED)
            for representation in ("thermometer", "onehot", "simplex", random_code(3, 2))
        ),
    ],
    ("sets", "loss"): [
        (PrecisionAtK(k=5), r"loss=PrecisionAtK\(k=5\) predicts 5 labels of each row, and there are 4; k must be at most 4"),
        (RecallAtK(k=5), r"loss=RecallAtK\(k=5\) predicts 5 labels"),
        (PrecisionAtK(k=0), r"'k' parameter of PrecisionAtK must be an int in the range \[1, inf\) or a float in .* Got 0"),
        (RecallAtK(k=1.5), r"'k' parameter of RecallAtK must be an int .* Got 1.5"),
        (FBeta(beta=0), r"'beta' parameter of FBeta must be a float in the range \(0.0, inf\). Got 0"),
        (FBeta(beta=-1.0), "'beta' parameter of FBeta must be .* Got -1.0"),
        (FBeta(beta=np.nan), "'beta' parameter of FBeta must be .* Got nan"),
        ("f2", "loss='f2' is not known; accepted are 'hamming', .*, functions of .* and instances of SubsetLoss"),
        (3, "'loss' parameter of PredtronMultilabelClassifier must be .* Got 3"),
        (None, "'loss' parameter of PredtronMultilabelClassifier must be .* Got None"),
        (CountLoss(3), "'function' parameter of CountLoss must be a callable"),
        (CountLoss(len, c_L=0), "'c_L' parameter of CountLoss must be"),
        (CountLoss(len, c_L=2.0, C_L=1.0), "c_L=2.0 is the least positive loss and must be at most C_L=1.0"),
        (FBeta(1e200), r"beta=1e\+200 must have a positive finite square"),
        (FBeta, "loss=FBeta is a class; pass an instance"),
    ],
    ("sets", "representation"): [
        ("onehot", "representation='onehot' is not known; accepted are 'sign_vector' and instances of"),
        (np.eye(4), "'representation' parameter of PredtronMultilabelClassifier must be"),
    ],
    ("sets", "norm"): [("l7", "norm='l7' is not known; accepted are")],
    ("sets", "update"): [
        ("prank", "update='prank' needs ordered thresholds .* with representation='shared'.; accepted here are")
    ],
    ("sets", "decision"): [
        ("f1", r"decision='f1' is not known; accepted are None, 'learned', 'expected_cost', 'macro_f1', 'micro_f1', E"),
        (Cut("f1"), r"decision='f1' is not known; accepted are 'macro_f1', 'micro_f1', a finite number and one"),
        (Cut([0.1, 0.2]), r"decision=Cut\(\[0.1, 0.2\]\) must hold a finite number, or one for each of the 4 labels"),
        (Cut([0.1, np.nan, 0, 0, 0]), r"decision=.* must hold a finite number"),
    ],
    ("sets", "several"): [
        (
            {"decision": "micro_f1", "loss": PrecisionAtK(k=2)},
            r"decision=Cut\(at='micro_f1'\) does not go with loss=PrecisionAtK\(k=2\)",
        ),
        ({"decision": 0.1, "loss": "recall_at_k"}, r"decision=Cut\(at=0.1\) does not go with loss=recall_at_k"),
        (
            {"decision": "expected_cost", "loss": lambda a, b, c, d: float(b + c > 0)},
            r"decision=ExpectedCost\(\) does not go with",
        ),
    ],
    ("one label", "loss"): [
        ("error_set_size", "loss='error_set_size' is about pairs of labels, and there is 1 label; 'hamming'")
    ],
    ("batches", "loss"): [("f3", "loss='f3' is not known; accepted are .*'balanced'.*Of batches also 'auc', 'ap', 'break_even'")],
    ("batches", "several"): [
        ({"loss": PrecisionAtK(k=50), "batch_size": 20}, r"PrecisionAtK\(k=50\) predicts 50 rows of each group or batch; number"),
        ({"loss": PrecisionAtK(k=2), "balance": 0.5}, "balance=0.5 does not go with loss=PrecisionAtK"),
        ({"loss": "auc", "balance": 1}, "balance=1 does not go with loss='auc'; accepted are 'auto' and 0"),
    ],
    ("batches", "balance"): [(1.5, "'balance' parameter .* Got 1.5")],
    ("batches", "decision"): [
        (np.nan, r"decision=nan is not known; accepted are None, 'learned', 'fitted', Cut\(\.\.\.\) and numbers"),
        ("best", "decision='best' is not known; accepted are None, 'learned', 'fitted'"),
        (True, "decision=True is not known"),
        (Cut(True), r"decision=Cut\(at=True\) is not for batches, which lose as a whole; accepted are None, 'fit"),
        (Cut("f1"), r"decision=Cut\(at='f1'\) is not for batches"),
        (Cut([0.1, 0.2]), r"decision=Cut\(at=\[0.1, 0.2\]\) is not for batches"),
        (Cut(np.array([0.1, 0.2])), r"decision=Cut\(at=array\(\[0.1, 0.2\]\)\) is not for batches"),
        ("expected_cost", "decision='expected_cost' is not for batches, which lose as a whole"),
    ],
    ("batches", "batch_size"): [(0, "'batch_size' parameter .* Got 0")],
    ("documents", "update"): [
        ("mmp", r"update='mmp' needs rankings by one score a label \(PredtronLabelRanker\); accepted here .*'max_pair'"),
        ("prank", "update='prank' needs ordered thresholds .* with representation='shared'.; accepted here are"),
        (Slam(eta="large"), "'eta' parameter of Slam must be"),
        (Slam(eta=0), "'eta' parameter of Slam must be"),
        (MaxPair(eta=-1), "'eta' parameter of MaxPair must be"),
        (MaxPair(weighted="no"), "'weighted' parameter of MaxPair must be"),
        (ListNet(eta="theory"), "'eta' parameter of ListNet must be"),
        (PassiveAggressive(C=0), "'C' parameter of PassiveAggressive must be"),
    ],
    ("documents", "several"): [
        ({"update": "slam", "loss": "kendall_tau"}, "update='slam' needs a loss with weights .*, which 'ndcg' and 'ap' have"),
        ({"update": "slam", "loss": "swapped_pairs"}, "update='slam' needs .* have; accepted here are .*'max_pair'"),
        ({"update": LossAugmented(eta="theory"), "loss": "kendall_tau"}, r"LossAugmented\(eta='theory'\) has no theorem for"),
        ({"update": LossDriven(eta="theory"), "loss": "kendall_tau"}, r"LossDriven\(eta='theory'\) has no theorem for"),
    ],
    ("documents", "loss"): [
        ("zero_one", "loss='zero_one' is not known; accepted are 'ndcg', 'ap', .* instances of RankingLoss"),
        (3, "'loss' parameter of PredtronRanker must be .* Got 3"),
        (NDCG, r"loss=NDCG is a class; pass an instance, loss=NDCG\(\)"),
        (NDCG(k=0), "'k' parameter of NDCG must be"),
        (NDCG(k=1.5), "'k' parameter of NDCG must be"),
        (NDCG(gain="quadratic"), "'gain' parameter of NDCG must be"),
        (NDCG(discount="linear"), "'discount' parameter of NDCG must be"),
    ],
    ("documents", "representation"): [
        ("onehot", "representation='onehot' is not known; accepted are 'log', .*RankingRepresentation"),
        (PowerRank, "representation=PowerRank is a class; pass an instance"),
        (PowerRank(alpha=0), "'alpha' parameter of PowerRank must be"),
        (PowerRank(alpha=1e-17), r"representation=PowerRank\(alpha=1e-17\) must fall strictly"),
        (PowerRank(alpha=1000.0), r"representation=PowerRank\(alpha=1000.0\) is not finite"),
        (np.arange(3), "'representation' parameter of PredtronRanker must be"),
    ],
    ("graded documents", "representation"): [("auto", "representation='auto'")],
    ("votes", "loss"): [*((value, WORKS) for value in ["ndcg", "ap", "swapped_pairs", "ranking_zero_one"])],
    ("votes", "update"): [*((value, ACCEPTED) for value in ["slam", "max_pair", "listnet", "mmp", "prank"])],
    ("tokens", "several"): [
        *(
            ({"norm": norm}, r"norm=.* is not for sequences; accepted are 'auto', 'l2', 'scaled' and 'rkhs'|^norm cannot change")
            for norm in ("l1", "group", "trace")
        )
    ],
    ("batches of counts", "loss"): [
        (CountLoss(lambda a, b, c, d: 1.0), "loss must be 0 without a mistake"),
        (CountLoss(lambda a, b, c, d: np.nan), "loss must be finite"),
    ],
}

# ------------------------------------------------------------------------------------------------------- functions of users

ODD = [lambda j: np.where(j > 1, np.nan, -j), lambda j: 3.0, lambda j: -np.arange(len(j) + 1), lambda j: np.stack([j, j], axis=1)]
FUNCTIONS = {  # what they may not be: not as long as their argument, not finite, and not falling or rising as they should
    "representation": [*ODD, lambda j: j, lambda j: np.ones(len(j)), lambda j: np.where(j > 1, -np.inf, -j)],
    "gain": [*ODD, lambda y: np.ones(len(y)), np.negative, lambda y: np.where(y > 0, np.inf, 0), lambda y: y - 1],
    "discount": [*ODD, lambda j: j, lambda j: 0 * j, lambda j: -j, lambda j: 1 / (j - 1.5)],
}


def failing(j):
    raise KeyError("broken")


def textual(j):
    return np.array(["high"] * len(j))


def user_functions():
    """Settings by functions that are refused by the name of the parameter, give text, or raise an error of their own."""
    for parameter, functions in FUNCTIONS.items():
        refused = [(function, ValueError, f"^{parameter}=") for function in functions]
        refused += [(textual, ValueError, "could not convert|textual|numbers"), (failing, KeyError, "broken")]
        for function, error, message in refused:
            given = {parameter: function}
            yield given if parameter == "representation" else {"loss": NDCG(**given)}, error, message


def cases():
    """World, settings, error and message of each refusal."""
    for (world, parameter), table in REFUSED.items():
        for setting, message in table:
            settings = setting if parameter == "several" else {parameter: setting}
            yield world, settings, ValueError, message
            if world == "documents" and settings != {"update": "mmp"}:
                yield "lists", settings, ValueError, message.replace("PredtronRanker", "PredtronLabelRanker")
    for world in ("graded documents", "graded lists"):
        for settings, error, message in user_functions():
            yield world, settings, error, message


@cache
def learners(world):
    """An estimator that has learned nothing, one by `fit` and one by a stream."""
    model, X, y, given, first = WORLDS[world]
    model = model.set_params(random_state=0)
    return model, copy.deepcopy(model).fit(X, y, **given), copy.deepcopy(model).partial_fit(X, y, **given, **first)


@pytest.mark.always
@pytest.mark.parametrize(
    ("world", "settings", "error", "message"), [pytest.param(*case, id=f"{case[0]}-{plain(case[1])}"[:80]) for case in cases()]
)
def test_what_no_parameter_can_be(world, settings, error, message):
    """In each call of a fresh, a fitted and a streaming estimator."""
    _, X, y, given, first = WORLDS[world]
    for model in map(copy.deepcopy, learners(world)):
        model.set_params(**settings)
        before = frozen(model)
        calls = [lambda model=model: model.fit(X, y, **given)]
        if not FIT_ALONE & settings.keys():
            calls.append(lambda model=model: model.partial_fit(X, y, **given, **first))
        if settings.keys() <= {"decision", "reject"} and model.__sklearn_is_fitted__():
            calls.append(lambda model=model: model.predict(X))
        for call in calls:
            with np.errstate(all="ignore"), pytest.raises(error, match=message):
                call()
            assert is_same(frozen(model), before)


# -------------------------------------------------------------------------------------------- what cannot change in a stream

WEIGHTS = "representation='{}' has .* and the weights so far have .*call fit"
CHANGES = [  # world, parameters of the start, what they are set to, and message
    (
        "classes",
        {},
        {"fit_intercept": False},
        "fit_intercept cannot change from True to False after the first training call; call",
    ),
    (
        "classes",
        {},
        {"intercept_scaling": 2.0},
        "intercept_scaling cannot change from 'auto' to 2.0 after the first training call",
    ),
    ("classes", {}, {"representation": "simplex"}, "'simplex' has 2 scores and the weights so far have 3 scores; call fit"),
    *(
        (world, {"representation": one}, {"representation": other}, WEIGHTS.format(other))
        for world in ("ranks", "two ranks")
        for one, other in (("thermometer", "shared"), ("shared", "thermometer"), ("shared", "onehot"))
    ),
    *(  # PRank takes "auto" for 1, the other updates for the running mean
        ("ranks", {"representation": "shared", "update": one}, {"update": other}, "intercept_scaling cannot change from")
        for one, other in (("adaptive", "prank"), ("prank", "adaptive"))
    ),
    (
        "votes",
        {"representation": "log"},
        {"representation": "pairwise"},
        "has 3 scores of pairs and the weights so far have 3 sc",
    ),
    ("votes", {}, {"representation": "log"}, "'log' has 3 scores and the weights so far have 3 scores of pairs; call fit"),
    *(
        (world, {"norm": one}, {"norm": other}, rf"norm cannot change from .* to {named}\(.*\) .*; call fit to start")
        for world in ("classes", "documents")
        for one, other, named in CHANGED_NORMS
    ),
]


@pytest.mark.always
@pytest.mark.parametrize(("world", "start", "changed", "message"), CHANGES, ids=plain)
def test_what_cannot_change_in_mid_stream(world, start, changed, message):
    """In batches, single rows and warm starts; the stream goes on if it is set back, and `fit` starts from scratch."""
    model, X, y, given, first = WORLDS[world]
    model = clone(model).set_params(random_state=0, **start)
    stream, warm = clone(model).partial_fit(X, y, **given, **first), clone(model).set_params(warm_start=True).fit(X, y, **given)
    undisturbed = copy.deepcopy(stream)
    for learner, call in [
        (stream, lambda: stream.partial_fit(X, y, **given)),
        (stream, lambda: stream.partial_fit(X[:1], y[:1])),
        (warm, lambda: warm.fit(X, y, **given)),
    ]:
        old = {name: getattr(learner, name) for name in changed}
        learner.set_params(**changed)
        before = frozen(learner)
        with pytest.raises(ValueError, match=message):
            call()
        assert is_same(frozen(learner), before)
        learner.set_params(**old)
    assert_same_bits(stream.partial_fit(X, y, **given), undisturbed.partial_fit(X, y, **given), "set back, or never set")
    assert stream.set_params(**changed).fit(X, y, **given).t_ > 0


# ------------------------------------------------------------------------------------------------- bounds that are not proven

OF_BATCHES = {"intercept_scaling": 1.0, "update": "perceptron"}
UNSTATED = CountLoss(wavy)
NO_BOUND = [  # world, parameters, arguments, and message
    ("classes", {"update": Subgradient(), "fit_intercept": False}, {}, "No loss bound is proven for update=Subgradient"),
    *(
        (world, {"norm": "scaled", "intercept_scaling": 1.0, **parts}, {}, "No loss bound is proven for norm='scaled'")
        for world, parts in [("classes", {}), ("ranks", {"representation": "shared"})]
    ),
    (
        "classes",
        {"update": "loss_driven", "fit_intercept": False},
        {"radius": None},
        "radius=None is known only after an update w",
    ),
    ("batches", OF_BATCHES, {}, r"No loss bound is proven for representations that weigh the classes \(balance > 0\)"),
    ("batches", {"loss": "break_even", **OF_BATCHES}, {}, "No loss bound is proven for losses at k"),
    ("batches of counts", {**OF_BATCHES, "update": "adaptive"}, {}, "a loss of batches does not state"),
    ("batches of counts", {"update": "perceptron"}, {}, "intercept_scaling='auto'"),
    (
        "batches of counts",
        OF_BATCHES,
        {"margin": None, "comparator": np.ones((1, 6)), "X": BATCHES, "y": SIDES},
        "No bound against given weights is known for batches",
    ),
    *(("sets", {"loss": loss, "fit_intercept": False}, {}, "losses at k") for loss in (PrecisionAtK(k=1), RecallAtK(k=2))),
    ("sets", {"loss": UNSTATED, "fit_intercept": False}, {}, r"needs c_L and C_L, .*which CountLoss\(<function wavy"),
    ("documents", {"update": Slam(eta="invsqrt")}, {}, "No loss bound is proven for update="),
    ("documents", {"update": Slam(eta=1e6)}, {}, r"for the step eta=1e\+06 unless eta < 2 c_L / \(D R\)\^2"),
    *(("documents", {"update": update}, {}, "No loss bound is proven for update=") for update in ("listnet", "subgradient")),
    *(("documents", {"update": update}, {}, "needs c_L and C_L") for update in ("adaptive", "passive_aggressive")),
    ("documents", {"update": "loss_driven", "loss": "kendall_tau"}, {}, "No loss bound is proven for"),
]


@pytest.mark.always
@pytest.mark.parametrize(("world", "settings", "arguments", "message"), NO_BOUND, ids=plain)
def test_bounds_that_are_not_proven(world, settings, arguments, message):
    model, X, y, given, first = WORLDS[world]
    model = clone(model).set_params(**{"norm": "l2", **settings}).partial_fit(X, y, **given, **first)
    before = frozen(model)
    with pytest.raises(ValueError, match=message):
        model.loss_bound(**{"margin": 0.1, "radius": 1.0, **arguments})
    assert is_same(frozen(model), before)


@pytest.mark.parametrize("update", [LossAugmented(eta="theory"), LossDriven(eta="theory")], ids=plain)
def test_steps_of_the_theory_need_a_theorem_and_constants(update):
    for loss, message in [
        *((loss, r"\(eta='theory'\) has no theorem for losses at k") for loss in (PrecisionAtK(k=1), RecallAtK(k=2))),
        (UNSTATED, r"needs c_L and C_L, .*which CountLoss\(<function wavy"),
    ]:
        with pytest.raises(ValueError, match=message):
            PredtronMultilabelClassifier(update=update, loss=loss).fit(SETS, INDICATORS)


# ---------------------------------------------------------------------------------------------------- what measures refuse


LENGTHS = "rows and y has|inconsistent numbers|entries and X has|start must rise"


@pytest.mark.always
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_measures_refuse_rows_labels_ids_and_weights(estimator):
    """As training does, but for relevances that its loss does not take; the accuracy is scikit-learn's and has its words."""
    data = own_data(estimator)
    model = data.fit(estimator)
    before, n = own_frozen(model), len(data.y)
    weights = [np.zeros(n), np.ones(n - 1), np.where(np.arange(n) == 3, np.nan, 1.0), np.where(np.arange(n) == 3, -1.0, 1.0)]
    for bad in bad_calls(data):
        if (
            bad.alone
            or len(np.atleast_1d(bad.y)) == 1
            or {"classes", "sample_weight"} & bad.more.keys()
            or "does not" in bad.what
        ):
            continue
        for measure in ("sample_loss", "margin", *(() if isinstance(data, (ClassData, SequenceData)) else ("score",))):
            if hasattr(model, measure):
                says = LENGTHS if bad.what.startswith("y too") else bad.says
                assert_fails(f"{measure}: {bad.what}", says, getattr(model, measure), bad.X, bad.y, **bad.more)
    for weight in weights:
        given = {"sample_weight": weight, **data.id_kwargs()}
        assert_fails("score: weights", "[Ww]eight|inconsistent numbers", model.score, data.X, data.y, **given)
    assert is_same(own_frozen(model), before)
