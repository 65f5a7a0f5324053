from sklearn_predtron._core.weights import Weights

class WrappedWeights(Weights):
    inner: Weights
