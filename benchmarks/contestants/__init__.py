"""The learners that are compared, one small adapter each."""

from benchmarks.contestants.assignment import AssignmentSolver
from benchmarks.contestants.calibrated import Calibrated as Calibrated
from benchmarks.contestants.classifier_chain import SklearnClassifierChain
from benchmarks.contestants.crfsuite import CRFsuite
from benchmarks.contestants.explainable_boosting import ExplainableBoosting
from benchmarks.contestants.hist_gradient_boosting import HistGradientBoosting
from benchmarks.contestants.lightgbm_classifier import LightGBMClassifier as LightGBMClassifier
from benchmarks.contestants.lightgbm_ranker import LightGBMRanker
from benchmarks.contestants.linear_svc import SklearnLinearSVC
from benchmarks.contestants.logistic_regression import BalancedLogisticRegression as BalancedLogisticRegression
from benchmarks.contestants.logistic_regression import SklearnLogisticRegression
from benchmarks.contestants.logistic_regression_cv import SklearnLogisticRegressionCV as SklearnLogisticRegressionCV
from benchmarks.contestants.mord_lad import MordLAD
from benchmarks.contestants.mord_logistic_at import MordLogisticAT
from benchmarks.contestants.multi_output_perceptron import MultiOutputPerceptron
from benchmarks.contestants.multi_output_sgd import MultiOutputSGDAveraged
from benchmarks.contestants.nystroem import NystroemOurs
from benchmarks.contestants.one_vs_rest import OneVsRest as OneVsRest
from benchmarks.contestants.one_vs_rest_logistic import OneVsRestLogistic
from benchmarks.contestants.ordered_model import StatsmodelsOrderedModel
from benchmarks.contestants.our_rankers import OursLabelRanker, OursRanker
from benchmarks.contestants.our_tables import OursOnColumns, OursOnMadeRows
from benchmarks.contestants.our_taggers import OursTagger
from benchmarks.contestants.ours import (
    Ours,
    OursMultilabel,
    OursMultilabelPerceptron,
    OursOneVsRest,
    OursOrdinal,
    OursPerceptron,
)
from benchmarks.contestants.ours import OursBipartite as OursBipartite
from benchmarks.contestants.pairwise_logistic import PairwiseLogistic
from benchmarks.contestants.pairwise_sgd import PairwiseSGD
from benchmarks.contestants.perceptron import SklearnPerceptron
from benchmarks.contestants.rank_svm import RankSVM
from benchmarks.contestants.ridge_relevance import RidgeRelevance
from benchmarks.contestants.ridge_round import RidgeRound
from benchmarks.contestants.river import River
from benchmarks.contestants.river_trees import RiverTrees as RiverTrees
from benchmarks.contestants.sgd_averaged import SGDAveraged
from benchmarks.contestants.sgd_hinge import SGDHinge
from benchmarks.contestants.sgd_pa1 import SGDPassiveAggressive
from benchmarks.contestants.skordinal import Skordinal
from benchmarks.contestants.svc import GaussianSVC
from benchmarks.contestants.tuned_logistic import TunedLogistic as TunedLogistic
from benchmarks.contestants.vowpal_wabbit import VowpalWabbit
from benchmarks.contestants.xgboost_ranker import XGBoostRanker
from sklearn_predtron.norms import RKHS
from sklearn_predtron.updates import ListNet, MaxPair, Slam

CONTESTANTS = [
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

ORDINAL_CONTESTANTS = [
    OursOrdinal(),
    MordLogisticAT(),
    MordLAD(),
    Skordinal("LogisticAT"),
    Skordinal("POM"),
    StatsmodelsOrderedModel(),
    RidgeRound(),
]

MULTILABEL_CONTESTANTS = [
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

RANKING_CONTESTANTS = [
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

LABEL_RANKING_CONTESTANTS = [
    OursLabelRanker(),
    OursLabelRanker("ours, kendall_tau", loss="kendall_tau", representation="linear"),
    OursLabelRanker("ours, pairwise", loss="kendall_tau", representation="pairwise"),
    PairwiseLogistic("pairwise LogisticRegression, votes", counted=True),
    PairwiseLogistic(),
]

TAGGING_CONTESTANTS = [
    OursTagger(),
    OursTagger("ours, perceptron", update="perceptron"),
    OursTagger("ours, zero_one", loss="zero_one"),
    OursTagger("ours, zero_one, perceptron", loss="zero_one", update="perceptron"),
    CRFsuite(),
]

KERNEL_CONTESTANTS = [Ours("ours, RKHS", norm=RKHS()), NystroemOurs(), GaussianSVC()]

TABLE_CONTESTANTS = [
    OursOnColumns(),
    Ours("ours, piecewise", features="piecewise"),
    Ours("ours, auto", features="auto"),
    OursOnMadeRows(),
    LightGBMClassifier(),
    HistGradientBoosting(),
    ExplainableBoosting(),
]

SOLVERS = [AssignmentSolver()]
