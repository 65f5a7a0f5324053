"""Draw tables of columns of any type, with words and gaps among numbers, maps of their columns, and costs of rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from importlib.util import find_spec
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from sklearn_predtron import PredtronMultilabelClassifier
from sklearn_predtron.families._cost_classifier import TableClassifier
from sklearn_predtron.families.input.tables import always_maps
from sklearn_predtron.families.training import first_rows
from sklearn_predtron.features import Auto, PiecewiseLinear, RandomFourier

from .models import Case, draw

WORDS = ["-", "n/a", "?", "", "None", "1,5", "$ 3", "12 %", "1 000", "1_0", "inf.", "out of order"]
NUMBERS = ["float64", "float32", "float16", "int8", "Int64", "Float32", "boolean", "bool", "decimal", "texts", "string", "words"]
OTHERS = ["category", "categories of numbers", "object", "datetime64[s]"]
FIRST_ROWS = [1, 2, 8, 500]  # of a stream, that make its map


def draw_column(random: np.random.Generator, values: np.ndarray) -> pd.Series:
    """Draw a column of some type: numbers with gaps, perhaps with words among them, or categories."""
    n, kind = len(values), draw(random, NUMBERS if random.random() < 0.8 else OTHERS)
    if kind == "datetime64[s]" and random.random() < 0.9:
        kind = "double[pyarrow]" if find_spec("pyarrow") else "category"
    gaps = random.random(n) < draw(random, [0.0, 0.0, 0.1, 0.5])
    codes = np.array(["low", "high", "ä", ""], dtype=object)[np.digitize(values, [-1, 0, 1])]
    if kind in ("category", "object"):
        return pd.Series(np.where(gaps, None, codes), dtype=kind)
    if kind == "categories of numbers":
        return pd.Series(pd.Categorical(np.round(values)))
    column = pd.Series(np.where(gaps, np.nan, values))
    if kind == "datetime64[s]":
        return pd.to_datetime(column.round(), unit="s")
    if kind in ("int8", "bool", "Int64", "boolean"):
        small = column.clip(-9, 9).round()
        small = small if kind[0].isupper() or kind == "boolean" else small.fillna(0)
        return ((small > 0).where(small.notna(), None) if kind.startswith("bool") else small).astype(kind)
    if kind == "decimal":
        return column.map(lambda value: Decimal(repr(value)), na_action="ignore").astype(object)
    if kind in ("texts", "string"):
        return column.map(repr, na_action="ignore").astype("string" if kind == "string" else object)
    if kind == "words":
        found = column.astype(object)
        found[random.random(n) < draw(random, [0.05, 0.3])] = draw(random, WORDS)
        return found
    return column.astype(kind)


def draw_table(random: np.random.Generator, X: np.ndarray) -> Any:
    """Draw a table in place of rows of numbers: a data frame, an array of objects, or numbers with gaps."""
    how = random.integers(6)
    if how == 0:
        return np.where(random.random(X.shape) < 0.2, np.nan, X)
    frame = pd.DataFrame({f"column {j}": draw_column(random, X[:, j]) for j in range(X.shape[1])})
    return frame.to_numpy(dtype=object) if how == 1 else frame


def draw_map(random: np.random.Generator) -> Any:
    """Draw the parameter `features`."""
    if random.random() < 0.5:
        return draw(random, ["piecewise", "auto", "fourier"])
    knots = {"n_knots": draw(random, [2, 3, 12]), "n_pairs": draw(random, [0, 2, 100])}
    return draw(random, [PiecewiseLinear(**knots), Auto(**knots), RandomFourier(n_features=draw(random, [2, 50]))])


def with_table(random: np.random.Generator, case: Case) -> Case:
    """Return a case whose estimator makes features of a table."""
    settings = {"features": draw_map(random), "norm": draw(random, ["auto", "auto", "l2", "l1", "scaled"])}
    X = draw_table(random, np.asarray(case.lesson.X)) if random.random() < 0.8 else case.lesson.X
    if not always_maps(settings["features"]):  # a stream of numbers keeps its columns, and takes no later gaps
        X = case.lesson.X
    return Case(case.new().set_params(**settings), replace(case.lesson, X=X, values="table"))


@contextmanager
def drawn_first_rows(random: np.random.Generator) -> Iterator[None]:
    """Let few rows of a stream make its map."""
    with patch.object(first_rows, "ROWS_OF_STREAMS", draw(random, FIRST_ROWS)):
        yield


def with_costs(random: np.random.Generator, case: Case) -> Case:
    """Return a case with costs of rows, of which some mistakes or all are free in some rows; the case, if it takes none."""
    lesson, estimator = case.lesson, case.estimator
    n = lesson.X.shape[0]
    if isinstance(estimator, TableClassifier) and getattr(estimator, "reject", None) is None and len(lesson.classes) < 10:
        shape: tuple[int, ...] = (n, len(lesson.classes), len(lesson.classes))
    elif isinstance(estimator, PredtronMultilabelClassifier):
        shape = (*lesson.y.shape, 2)
    else:
        return case
    costs = random.integers(0, 9, shape) / 4.0 * (random.random(shape) < 0.7)
    costs[random.random(n) < draw(random, [0, 0.3])] = 0
    if isinstance(estimator, TableClassifier):
        costs[:, range(shape[1]), range(shape[1])] = 0
    return Case(estimator, replace(lesson, costs=costs))
