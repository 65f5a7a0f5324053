"""The learners that are compared, one small adapter each."""

from benchmarks.peers.linear_svc import SklearnLinearSVC
from benchmarks.peers.logistic_regression import SklearnLogisticRegression
from benchmarks.peers.ours import Ours, OursOneVsRest, OursPerceptron
from benchmarks.peers.perceptron import SklearnPerceptron
from benchmarks.peers.river import River
from benchmarks.peers.sgd_averaged import SGDAveraged
from benchmarks.peers.sgd_hinge import SGDHinge
from benchmarks.peers.sgd_pa1 import SGDPassiveAggressive
from benchmarks.peers.vowpal_wabbit import VowpalWabbit

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
