from sklearn_predtron._core.score_map import ScoreMap
from sklearn_predtron._core.weights import Weights

class OppositeMap(ScoreMap):
    def __init__(self) -> None: ...

class OppositeWeights(Weights):
    inner: Weights
