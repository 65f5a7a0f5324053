from sklearn_predtron._core.score_map import ScoreMap

class SharedMap(ScoreMap):
    def __init__(self, d: int) -> None: ...
