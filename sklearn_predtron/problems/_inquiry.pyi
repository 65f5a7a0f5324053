from typing import Any

from sklearn_predtron._core.problem import Labels, Problem

def ask(problem: Problem, labels: Labels, i: int, t: Any, augmented: bool) -> Any: ...
