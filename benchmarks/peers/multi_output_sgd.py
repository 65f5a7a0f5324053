"""scikit-learn's SGDClassifier, averaged, one for each label."""

from sklearn.multioutput import MultiOutputClassifier

from benchmarks.peers.base import PerLabelPeer
from benchmarks.peers.sgd_averaged import SGDAveraged


class MultiOutputSGDAveraged(PerLabelPeer):
    name = "MultiOutputClassifier(SGDClassifier), averaged"
    wrapper = MultiOutputClassifier
    single = SGDAveraged()
