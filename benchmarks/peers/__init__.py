"""The learners that are compared, one small adapter each."""

from benchmarks.peers.assignment import AssignmentSolver
from benchmarks.peers.classifier_chain import SklearnClassifierChain
from benchmarks.peers.lightgbm_ranker import LightGBMRanker
from benchmarks.peers.linear_svc import SklearnLinearSVC
from benchmarks.peers.logistic_regression import SklearnLogisticRegression
from benchmarks.peers.mord_lad import MordLAD
from benchmarks.peers.mord_logistic_at import MordLogisticAT
from benchmarks.peers.multi_output_perceptron import MultiOutputPerceptron
from benchmarks.peers.multi_output_sgd import MultiOutputSGDAveraged
from benchmarks.peers.nystroem import NystroemOurs
from benchmarks.peers.one_vs_rest_logistic import OneVsRestLogistic
from benchmarks.peers.ordered_model import StatsmodelsOrderedModel
from benchmarks.peers.our_rankers import OursLabelRanker, OursRanker
from benchmarks.peers.ours import (
    Ours,
    OursMultilabel,
    OursMultilabelPerceptron,
    OursOneVsRest,
    OursOrdinal,
    OursPerceptron,
)
from benchmarks.peers.pairwise_logistic import PairwiseLogistic
from benchmarks.peers.pairwise_sgd import PairwiseSGD
from benchmarks.peers.perceptron import SklearnPerceptron
from benchmarks.peers.rank_svm import RankSVM
from benchmarks.peers.ridge_relevance import RidgeRelevance
from benchmarks.peers.ridge_round import RidgeRound
from benchmarks.peers.river import River
from benchmarks.peers.sgd_averaged import SGDAveraged
from benchmarks.peers.sgd_hinge import SGDHinge
from benchmarks.peers.sgd_pa1 import SGDPassiveAggressive
from benchmarks.peers.skordinal import Skordinal
from benchmarks.peers.svc import GaussianSVC
from benchmarks.peers.vowpal_wabbit import VowpalWabbit
from benchmarks.peers.xgboost_ranker import XGBoostRanker
from sklearn_predtron.norms import RKHS
from sklearn_predtron.updates import ListNet, MaxPair, Slam

PEERS = [
    Ours(),
    OursPerceptron(),
    OursOneVsRest(),
    SklearnPerceptron(),
    SGDHinge(),
    SGDAveraged(),
    SGDPassiveAggressive(),
    SklearnLinearSVC(),
    SklearnLogisticRegression(),
    River("LogisticRegression"),
    River("Perceptron"),
    VowpalWabbit(),
]

ORDINAL_PEERS = [
    OursOrdinal(),
    MordLogisticAT(),
    MordLAD(),
    Skordinal("LogisticAT"),
    Skordinal("POM"),
    StatsmodelsOrderedModel(),
    RidgeRound(),
]

MULTILABEL_PEERS = [
    OursMultilabel(),
    OursMultilabel("ours, f1", loss="f1"),
    OursMultilabel("ours, jaccard", loss="jaccard"),
    OursMultilabel("ours, subset_zero_one", loss="subset_zero_one"),
    OursMultilabelPerceptron(),
    MultiOutputPerceptron(),
    MultiOutputSGDAveraged(),
    SklearnClassifierChain(),
    OneVsRestLogistic(),
]

RANKING_PEERS = [
    OursRanker(),
    OursRanker("ours, representation linear", representation="linear"),
    OursRanker("ours, representation reciprocal", representation="reciprocal"),
    OursRanker("ours, SLAM", update=Slam()),
    OursRanker("ours, SLAM, invsqrt", update=Slam(eta="invsqrt")),
    OursRanker("ours, max-pair", update=MaxPair()),
    OursRanker("ours, ListNet", update=ListNet()),
    RidgeRelevance(),
    RankSVM(),
    PairwiseSGD(),
    LightGBMRanker(),
    XGBoostRanker(),
]

LABEL_RANKING_PEERS = [
    OursLabelRanker(),
    OursLabelRanker("ours, kendall_tau", loss="kendall_tau", representation="linear"),
    PairwiseLogistic(),
]

KERNEL_PEERS = [Ours("ours, RKHS", norm=RKHS()), NystroemOurs(), GaussianSVC()]

SOLVERS = [AssignmentSolver()]
