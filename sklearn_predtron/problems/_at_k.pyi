from sklearn_predtron.problems._label_sets import LabelSets

class AtKProblem(LabelSets):
    k: float
    recall: bool
    loose: bool
    share: float
    def __init__(self, m: int, k: float, recall: bool, loose: bool = ...) -> None: ...
