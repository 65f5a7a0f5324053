from sklearn_predtron._core.score_map import ScoreMap

class ChainMap(ScoreMap):
    transition_scaling: float
    def __init__(self, d: int, transition_scaling: float, p: int = ...) -> None: ...
