"""sklearn_predtron's classifier on tables: columns as they are, and the features of a map made beforehand."""

from typing import Any

from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from benchmarks.contestants.ours import Ours
from benchmarks.tasks import Task
from sklearn_predtron.features import PiecewiseLinear


class OursOnColumns(Ours):
    """Columns as they are; an indicator for each category of a data frame."""

    def __init__(self, name: str = "ours, columns", **params: Any):
        super().__init__(name, features=None, **params)

    def fit(self, model: Any, X: Any, y: NDArray) -> Any:
        return (_with_indicators(model) if hasattr(X, "columns") else model).fit(X, y)


class OursOnMadeRows(Ours):
    """The features of all rows as a CSR matrix, of which the classifier learns."""

    def __init__(self, name: str = "ours, CSR", **params: Any):
        super().__init__(name, **params)

    def make(self, task: Task) -> Any:
        return make_pipeline(PiecewiseLinear(), super().make(task).set_params(norm="l2"))


def _with_indicators(model: Any) -> Any:
    of_categories = make_column_selector(dtype_include="category")
    indicators = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(make_column_transformer((indicators, of_categories), remainder="passthrough"), model)
