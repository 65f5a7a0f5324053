"""scikit-learn's Perceptron: one-vs-rest, last iterate."""

from sklearn.linear_model import Perceptron

from benchmarks.contestants.base import OnlineContestant


class SklearnPerceptron(OnlineContestant):
    name = "Perceptron"
    estimator = Perceptron
