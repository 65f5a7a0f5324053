"""scikit-learn's Perceptron: one-vs-rest, last iterate."""

from sklearn.linear_model import Perceptron

from benchmarks.peers.base import OnlinePeer


class SklearnPerceptron(OnlinePeer):
    name = "Perceptron"
    estimator = Perceptron
