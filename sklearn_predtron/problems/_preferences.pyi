from sklearn_predtron._core.problem import Problem

class PreferencesProblem(Problem):
    n_labels: int
    def __init__(self, n_labels: int) -> None: ...
