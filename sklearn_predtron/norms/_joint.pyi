from sklearn_predtron.norms._l2 import L2Weights

class JointWeights(L2Weights):
    def __init__(self, p: int, averaging: int = ...) -> None: ...
