from sklearn_predtron._core.score_map import ScoreMap
from sklearn_predtron.norms._wrapped import WrappedWeights

class OppositeMap(ScoreMap):
    def __init__(self) -> None: ...

class OppositeWeights(WrappedWeights): ...
