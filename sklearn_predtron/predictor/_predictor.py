"""Predictions of saved models, on NumPy alone.

A predictor starts in a tenth of the time of an estimator: it imports NumPy and the compiled core, not scikit-learn, SciPy or
pandas.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.problem import Problem
from sklearn_predtron._core.rows import Rows, csr_rows, dense_rows, sparse_rows
from sklearn_predtron._core.state import accept, array, between, whole
from sklearn_predtron._support.array_file import read_file
from sklearn_predtron._support.queries import SID, Queries, is_one, shortened, shortened_list
from sklearn_predtron._support.row_costs import (
    Capacity,
    classes_of_least_cost,
    costs_by_row,
    costs_of_labels,
    sets_of_least_cost,
)
from sklearn_predtron.decisions._base import PLAIN, Decision
from sklearn_predtron.decisions._calibration import Calibrated
from sklearn_predtron.decisions._expected_cost import AnswerUpTo, ByCosts, BySets
from sklearn_predtron.decisions._fixed_threshold import CutAt
from sklearn_predtron.decisions._saved_values import LARGEST, LEAST, check_sizes, checked_tempered, decision_of
from sklearn_predtron.decisions._tempered import TemperatureScaling
from sklearn_predtron.features._columns import Array, as_floats
from sklearn_predtron.features._made_rows import MadeRows
from sklearn_predtron.features._row_map import FourierMap, PiecewiseMap
from sklearn_predtron.features._table import matrix_of, warn_of_cells
from sklearn_predtron.predictor._answers import SequenceScores, positions_of, scores_of_classes
from sklearn_predtron.predictor._compiled_parts import (
    build_compiled,
    check_format,
    check_part_sizes,
    compiled_for_predictions,
    resolve_references,
)
from sklearn_predtron.predictor._file_values import MAGIC, Values, checked_path, reading
from sklearn_predtron.predictor._scoring import Scorer
from sklearn_predtron.problems._chain import ChainProblem
from sklearn_predtron.problems._finite import FiniteProblem
from sklearn_predtron.problems._label_sets import LabelSets
from sklearn_predtron.problems._preferences import PreferencesProblem
from sklearn_predtron.problems._ranking import RankingProblem

__all__ = ["ModelPredictor", "load"]

OF_FILES = ("svmlight_", "file_format_")  # how the names of attributes begin that the command line gives to estimators

ROW_MAPS: dict[str, Any] = {"PiecewiseLinear": PiecewiseMap, "Auto": PiecewiseMap, "RandomFourier": FourierMap}
ACCEPTED = "an array of shape (n, {p}), a tuple (data, indices, indptr) of CSR rows, or a dict of columns"


def load(path: str | os.PathLike[str]) -> ModelPredictor:
    """Load the predictor of an estimator from a file that its method `save` wrote.

    The file is data: loading it runs no code of it.  The predictions are, to the last bit, those of the estimator.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    ModelPredictor
        The predictor.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file is no model file of this version or is damaged, or if its estimator has no predictor: with kernels, custom
        problems and losses, losses at k of batches, before training, before 500 rows of a stream have made the map of
        `features`, and with a certificate that has lapsed.  `sklearn_predtron.load` loads these estimators.

    See Also
    --------
    sklearn_predtron.load : Loads the estimator.

    Examples
    --------
    >>> import os, tempfile
    >>> import sklearn_predtron.predictor
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = sklearn_predtron.PredtronClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "iris.predtron")
    ...     model.save(path)
    ...     predictor = sklearn_predtron.predictor.load(path)
    >>> predictor.predict([[5.1, 3.5, 1.4, 0.2], [6.7, 3.1, 5.6, 2.4]])
    array([0, 2])
    >>> predictor.predict_proba([[5.1, 3.5, 1.4, 0.2], [6.7, 3.1, 5.6, 2.4]]).round(2)
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    path = checked_path(path)
    with reading(path):
        about, arrays = read_file(path, MAGIC)
        values = Values(arrays)
        values.forms["object"] = lambda number: OfTraining()
        answers = values.decoded(about.get("predictor"))
    if answers is None:
        raise ValueError(
            f"{path!r} is a model without a predictor, as with kernels, custom problems and losses, before training, and "
            "after the certificate of Reject(risk=...) has lapsed; use sklearn_predtron.load, which loads the estimator."
        )
    with reading(path), np.errstate(all="ignore"):
        entry = about["objects"][about["estimator"]["object"]]
        learner, columns = read_model(values, entry["state"]["_model"])
        found = ModelPredictor(entry["class"], learner, columns, answers)
        for name, value in entry["state"].items():
            if name.startswith(OF_FILES):
                setattr(found, name, values.decoded(value))
        return found


class RowColumns(NamedTuple):
    """The columns of the rows, and the map of their features."""

    n: int
    names: list[str] | None
    first: int | None  # how many there were before others were added, which rows may lack
    table: MappedTable | None


class ModelPredictor:
    """A fitted estimator that only predicts.

    `load` makes it from a file.  Rows have one of these forms:

    - an array-like of shape (n, n_features);
    - a tuple ``(data, indices, indptr)``, the arrays of a CSR matrix, unless the model has `features`;
    - a dict or data frame of columns by their names, if the model was fitted on a table with names; each column is array-like
      of shape (n,), or for one row its value.

    A predictor does not change, and several threads may use it.  It computes in one thread unless joblib has been imported.
    CSR rows that hold a feature twice, and models under ``norm="trace"``, import SciPy.

    Parameters
    ----------
    name : str
        The class of the estimator.
    learner : Learner
        The weights, and all that was trained with them.
    columns : RowColumns
        The columns of the rows.
    answers : Answers
        What becomes of scores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.  Rankers have none.
    n_features_in_ : int
        Number of columns of the rows.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table had names.

    See Also
    --------
    load : Loads a predictor.
    sklearn_predtron.load : Loads the estimator, which can also be trained.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn_predtron import PredtronBinaryClassifier, predictor
    >>> X = pd.DataFrame({"size": np.arange(60.0), "colour": ["red", "green", "blue"] * 20})
    >>> model = PredtronBinaryClassifier(features="piecewise", random_state=0).fit(X, X["size"] > 30)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "sizes.predtron")
    ...     model.save(path)
    ...     loaded = predictor.load(path)
    >>> loaded.predict({"size": [3, 55], "colour": ["red", "blue"]})
    array([False,  True])
    >>> loaded.predict({"size": 55, "colour": "blue"}, costs={(False, True): 1.0, (True, False): 5.0})
    array([ True])
    """

    def __init__(self, name: str, learner: Learner, columns: RowColumns, answers: dict[str, Any]) -> None:
        self._name, self._learner, self._columns = name, learner, columns
        family = answers["family"]
        if family not in FAMILIES:
            raise ValueError(f"it has answers of {shortened(family)}, which this version does not know")
        self._answers = FAMILIES[family](learner, answers)
        self.n_features_in_ = columns.n
        if columns.names is not None:
            self.feature_names_in_ = np.array(columns.names, dtype=object)
        if self._answers.classes is not None:
            self.classes_ = self._answers.classes

    def predict(self, X: Any, sid: Any = None, *, costs: Any = None) -> NDArray:
        """Predict the answer of each row, as the estimator does.

        Parameters
        ----------
        X : array-like, tuple or dict
            Rows, in one of the forms of the class.
        sid : array-like of shape (n_tokens,), default=None
            For taggers, the sequence of each token.  None is one sequence, and raises ValueError after training on several
            sequences; "one" is one sequence.
        costs : array-like, data frame or dict, default=None
            Costs of the predictions, in the forms of the estimator's `predict`.  For one row the costs of a dict are numbers:
            ``{(True, False): 120.5}``.  The prediction is the one with the lowest expected cost.  For taggers, importing
            scikit-learn is needed to read them.

        Returns
        -------
        ndarray
            As the estimator's `predict`; sets of labels are always arrays, and scores of documents are those of a ranker.

        Raises
        ------
        ValueError
            If X or the costs are invalid, or the estimator's `predict` does not accept costs.
        """
        if costs is None:
            return self._answer("predict", X, sid)
        self._answers.check_costs(self._name, costs)
        return self._answer("predict", X, sid, costs=costs)

    def predict_proba(self, X: Any, sid: Any = None) -> NDArray:
        """Compute the calibrated probabilities, as the estimator does.

        Parameters
        ----------
        X : array-like, tuple or dict
            Rows, in one of the forms of the class.
        sid : array-like of shape (n_tokens,), default=None
            For taggers, the sequence of each token, as for `predict`.

        Returns
        -------
        ndarray
            As the estimator's `predict_proba`.

        Raises
        ------
        AttributeError
            If the estimator has no probabilities.
        """
        return self._answer("probabilities", X, sid)

    def decision_function(self, X: Any, sid: Any = None) -> NDArray:
        """Compute the scores, as the estimator does.

        Parameters
        ----------
        X : array-like, tuple or dict
            Rows, in one of the forms of the class.
        sid : array-like of shape (n_tokens,), default=None
            For taggers, the sequence of each token, as for `predict`.

        Returns
        -------
        ndarray
            As the estimator's `decision_function`.

        Raises
        ------
        AttributeError
            If the estimator has no such method.
        """
        return self._answer("scores", X, sid)

    def _answer(self, method: str, X: Any, sid: Any, **costs: Any) -> NDArray:
        """Return the answers of a method of the family."""
        answer: Callable[..., NDArray] | None = getattr(self._answers, method, None)
        if answer is None or (method == "probabilities" and not self._answers.calibrated):
            what = "probabilities" if method == "probabilities" else "decision_function"
            raise AttributeError(f"the {self._name} was saved without {what}.")
        rows = self._rows(X)
        scorer = Scorer(self._learner, None, rows, lambda: check_finite(rows))
        if isinstance(self._answers, SequenceAnswers):
            return answer(scorer, self._answers.sequences(sid, rows.n), **costs)
        if sid is not None:
            raise ValueError(f"sid={shortened(sid)} is for taggers, and this is the predictor of a {self._name}.")
        return answer(scorer, **costs)

    def _rows(self, X: Any) -> Rows:
        """Return the rows of X, read in place if possible."""
        columns = self._columns
        if isinstance(X, tuple):
            return self._csr_rows(X)
        if isinstance(X, Mapping) or (columns.names is not None and hasattr(X, "columns")):  # a dict, or a data frame
            table = ColumnDict(X, columns.names)
            return dense_rows(table.matrix()) if columns.table is None else columns.table.rows(table)
        try:
            given = np.asarray(X)
        except ValueError:
            raise ValueError(f"X={shortened(X)} has rows of different lengths; {self._accepted()}.") from None
        of_texts = columns.table is not None and given.dtype.kind in "OUT"
        if given.ndim != 2 or (given.dtype.kind not in "biuf" and not of_texts):
            raise ValueError(f"X has shape {given.shape} and type {given.dtype}; {self._accepted()}.")
        least = columns.n if columns.first is None else columns.first
        if not least <= given.shape[1] <= columns.n or len(given) == 0:
            raise ValueError(f"X has shape {given.shape}; {self._accepted()}.")
        if not of_texts:
            given = np.require(given, np.float32 if given.dtype == np.float32 else np.float64, ["C", "A"])
        if given.shape[1] < columns.n:
            given = np.pad(given, ((0, 0), (0, columns.n - given.shape[1])))
        return dense_rows(given) if columns.table is None else columns.table.rows(Array(given))

    def _csr_rows(self, X: tuple[Any, ...]) -> Rows:
        """Return the rows of the three arrays of a CSR matrix."""
        if len(X) != 3 or self._columns.table is not None:
            raise ValueError(f"X is a tuple of {len(X)}; {self._accepted()}.")
        data, indices, indptr = map(np.asarray, X)
        if not data.ndim == indices.ndim == indptr.ndim == 1 or data.dtype.kind not in "biuf" or len(indptr) < 2:
            shapes = f"{data.shape}, {indices.shape} and {indptr.shape}"
            raise ValueError(f"X is a tuple of arrays of shapes {shapes}; {self._accepted()}.")
        if indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu":
            raise ValueError(f"X has indices of type {indices.dtype} and {indptr.dtype}; accepted are whole numbers.")
        data = np.ascontiguousarray(data, dtype=np.float32 if data.dtype == np.float32 else np.float64)
        indices = np.ascontiguousarray(indices, dtype=np.int32 if indices.dtype == np.int32 else np.int64)
        p, start = self._columns.n, np.ascontiguousarray(indptr, dtype=np.intp)
        rows: Any = sparse_rows(data, indices, start, p)
        if len(rows.repeating()) == 0:
            return rows
        from scipy.sparse import csr_matrix  # which sums up the values of a feature that a row has twice

        return csr_rows(csr_matrix((data, indices, start), shape=(len(start) - 1, p)))

    def _accepted(self) -> str:
        """Return the accepted forms of rows, for errors."""
        return f"accepted is {ACCEPTED.format(p=self._columns.n)}"


def check_finite(rows: Rows) -> None:
    """Raise ValueError for NaN and infinity."""
    if not rows.finite():
        raise ValueError("X contains NaN or infinity; accepted are finite numbers.")


# ------------------------------------------------------------------------------------------------------------------- tables


class ColumnDict:
    """RowColumns by name, in the order of the columns that the model was fitted on."""

    def __init__(self, X: Any, names: list[str] | None) -> None:
        if names is None:
            raise ValueError("X is a dict, and the model was fitted on columns without names; accepted are arrays.")
        missing, others = [name for name in names if name not in X], [name for name in X if name not in names]
        if missing or others:
            wrong = f"lacks the columns {shortened_list(missing)}" if missing else f"has other columns, {shortened_list(others)}"
            raise ValueError(f"X {wrong}; accepted are the columns {shortened_list(names)}.")
        self.names: list[Any] = names
        self.columns = [np.atleast_1d(X[name]) for name in names]  # numbers and strings alone are one row
        for name, column in zip(names, self.columns, strict=True):
            if column.ndim != 1 or len(column) == 0 or len(column) != len(self.columns[0]) or column.dtype.kind not in "biufOUT":
                raise ValueError(
                    f"X has a column {name!r} of shape {np.shape(X[name])} and type {column.dtype}; accepted are numbers and "
                    f"text, of shape ({len(self.columns[0])},) like the first column."
                )
        self.n, self.p = len(self.columns[0]), len(names)

    def matrix(self) -> NDArray:
        """Return the columns as a matrix of numbers."""
        for name, column in zip(self.names, self.columns, strict=True):
            if column.dtype.kind not in "biuf":
                raise ValueError(f"X has a column {name!r} of type {column.dtype}; accepted are numbers.")
        single = all(column.dtype == np.float32 for column in self.columns)
        return np.stack(self.columns, axis=1).astype(np.float32 if single else np.float64, order="C")

    def name(self, j: int) -> str:
        return repr(self.names[j])

    def dtype(self, j: int) -> str:
        kind = self.columns[j].dtype
        return str(kind).lower() if kind.kind in "biuf" else "object"

    def objects(self, j: int) -> Any:
        column = self.columns[j]
        return column if column.dtype == np.float32 else column.tolist()

    def floats(self, j: int) -> NDArray:
        return as_floats(self.columns[j])


class MappedTable:
    """A table under the map of its features.

    Parameters
    ----------
    kind : str
        The class of the map.
    state : dict
        The fitted attributes of the map.
    """

    def __init__(self, kind: str, state: dict[str, Any]) -> None:
        self.row_map = ROW_MAPS[kind](*state["_state"])
        self.categories, self.hashed = list(state["_categories"]), list(state["_hashed"])
        self.missing = bool(state.get("missing", True))
        if not all(type(places) is int for places in self.hashed) or not all(map(are_categories, self.categories)):
            raise ValueError("a map has categories that are no text")
        if not len(self.categories) == len(self.hashed) == self.row_map.p:
            raise ValueError("a map has categories of other columns")
        sizes = [(0 if own is None else len(own)) + places for own, places in zip(self.categories, self.hashed, strict=True)]
        known = self.row_map.description.n_categories.tolist() if kind != "RandomFourier" else [0] * len(sizes)
        if sizes != known:
            raise ValueError("a map has other categories than its columns")

    @property
    def of_numbers(self) -> bool:
        """Whether no column has categories."""
        return all(known is None for known in self.categories)

    def rows(self, table: Any) -> Rows:
        """Return the rows of a table's features."""
        matrix, words = matrix_of(table, self.categories, self.hashed, missing=self.missing)
        warn_of_cells(table, words)
        return MadeRows(self.row_map, matrix)


def are_categories(found: Any) -> bool:
    """Return whether they are the categories of a column, or None for a column of numbers."""
    return found is None or (isinstance(found, np.ndarray) and found.ndim == 1 and found.dtype.kind == "U")


# ------------------------------------------------------------------------------------------------------------------ answers


class Answers:
    """Answers of a family of estimators, given scores.

    Parameters
    ----------
    learner : Learner
        The learner.
    saved : dict
        The values that the estimator has saved for its predictor.
    """

    classes: Any = None
    calibrated: Any = None  # the decision of probabilities, if there are any
    problems: Any = Problem  # the class of the problem
    kinds: tuple[type, ...] = (Decision,)  # the accepted decisions
    takes_costs = False  # whether `predict` accepts costs
    otherwise: Any = None  # the costs of pairs that are not named, or why no costs are accepted

    def __init__(self, learner: Learner, saved: dict[str, Any]) -> None:
        self.problem: Any = learner.problem
        if not isinstance(self.problem, self.problems):
            raise ValueError(f"it has a problem of other answers, {shortened(self.problem)}")
        self.decision: Decision = decision_of(saved["decision"], self.problem) if "decision" in saved else PLAIN
        if saved.get("probabilities") is not None:
            self.calibrated = decision_of(saved["probabilities"], self.problem)
        if type(self.decision) not in self.kinds or type(self.calibrated) not in (type(None), Calibrated):
            raise ValueError("it has a decision of other answers")
        if "classes" in saved:
            self.classes = saved_labels(saved["classes"])
        for decision in (self.decision, self.calibrated):
            check_sizes(decision, self.problem, len(saved.get("labels", ())))

    def check_costs(self, name: str, costs: Any) -> None:
        """Raise ValueError if costs are not accepted; `name` is the class of the estimator."""
        if not self.takes_costs:
            raise ValueError(f"costs={shortened(costs)} are not accepted by the predictor of a {name}; accepted is costs=None.")
        if isinstance(self.otherwise, str):
            raise ValueError(self.otherwise)
        if not self.calibrated:
            raise ValueError(f"costs need probabilities, and the {name} was saved without them; accepted is costs=None.")

    def _read_costs(self, saved: Any, *shape: int) -> None:
        """Read the costs of pairs that are not named."""
        self.otherwise = saved if isinstance(saved, str) else array(saved, np.dtype(np.float64), shape)


class ClassAnswers(Answers):
    """Classes, and a label of abstention behind them if there is one."""

    problems: Any = FiniteProblem
    kinds: tuple[type, ...] = (Decision, CutAt, ByCosts, AnswerUpTo)
    takes_costs = True

    def __init__(self, learner: Learner, saved: dict[str, Any]) -> None:
        super().__init__(learner, saved)
        self.labels = saved_labels(saved["labels"])
        check_count(self.classes, self.n_classes)
        if len(self.labels) not in (len(self.classes), len(self.classes) + 1):
            raise ValueError(f"it has {len(self.labels)} labels of {len(self.classes)} classes")
        if self.takes_costs and saved["costs"] is not None:
            self._read_costs(saved["costs"], len(self.classes), len(self.labels))
        self.capacity = saved_capacity(saved.get("capacity"), len(self.labels))

    @property
    def n_classes(self) -> int:
        """The number of classes of the problem."""
        return int(self.problem.k)

    def predict(self, scorer: Scorer, costs: Any = None) -> NDArray:
        if costs is None:
            return self.labels[scorer.decoded(self.decision)]
        probabilities = self.probabilities(scorer)
        otherwise = 1.0 - np.eye(len(self.classes)) if self.otherwise is None else self.otherwise
        table = costs_by_row(costs, self.classes, self.labels.tolist(), otherwise, len(probabilities))
        return self.labels[classes_of_least_cost(probabilities, table, self.capacity)]

    def probabilities(self, scorer: Scorer) -> NDArray:
        found: NDArray = scorer.decoded(self.calibrated)
        return found

    def scores(self, scorer: Scorer) -> NDArray:
        return scores_of_classes(self.problem, scorer.scores(self.decision), len(self.classes))


class ColumnAnswers(ClassAnswers):
    """Two classes by the sign of one score."""

    problems, kinds = Problem, (Decision, CutAt)
    takes_costs, n_classes = False, 2

    def __init__(self, learner: Learner, saved: dict[str, Any]) -> None:
        super().__init__(learner, {**saved, "labels": saved["classes"]})

    def predict(self, scorer: Scorer, costs: Any = None) -> NDArray:
        return self.classes[(self.scores(scorer) > 0).astype(np.intp)]

    def scores(self, scorer: Scorer) -> NDArray:
        return scorer.scores(self.decision)[:, 0]


class SetAnswers(Answers):
    """Sets of labels."""

    problems, kinds = LabelSets, (Decision, CutAt, BySets)
    takes_costs = True

    def __init__(self, learner: Learner, saved: dict[str, Any]) -> None:
        super().__init__(learner, saved)
        self.one, self.dtype = bool(saved["one"]), np.dtype(saved["dtype"])
        if self.dtype.kind not in "iufb":
            raise ValueError(f"it has sets of the type {self.dtype}")
        m = self.problem.n_labels
        check_count(self.classes, 2 if self.one else m)
        if self.one and m != 1:
            raise ValueError(f"it has {m} labels for one")
        self.names = list(range(m)) if saved["names"] is None else saved_labels(saved["names"]).tolist()
        check_count(self.names, m)
        self._read_costs(saved["costs"], m, 2)

    def predict(self, scorer: Scorer, costs: Any = None) -> NDArray:
        found: NDArray = scorer.decoded(self.decision if costs is None else self.calibrated)
        if costs is not None:
            found = sets_of_least_cost(found, costs_of_labels(costs, self.names, self.otherwise, len(found)))
        return self.classes[found[:, 0]] if self.one else found.astype(self.dtype)

    def probabilities(self, scorer: Scorer) -> NDArray:
        found: NDArray = scorer.decoded(self.calibrated)
        return np.hstack([1 - found, found]) if self.one else found

    def scores(self, scorer: Scorer) -> NDArray:
        found = scorer.scores(self.decision)
        return found[:, 0] if self.one else found


class DocumentAnswers(Answers):
    """Scores of documents."""

    def predict(self, scorer: Scorer) -> NDArray:
        return scorer.scores()[:, 0]


class RankingAnswers(Answers):
    """Rankings of labels."""

    problems = RankingProblem, PreferencesProblem

    def predict(self, scorer: Scorer) -> NDArray:
        return positions_of(self.scores(scorer))

    def scores(self, scorer: Scorer) -> NDArray:
        found: NDArray = self.problem.label_scores(scorer.scores())
        return found


class SequenceAnswers(Answers):
    """Labels of the tokens of sequences."""

    problems, takes_costs = ChainProblem, True

    def __init__(self, learner: Learner, saved: dict[str, Any]) -> None:
        super().__init__(learner, saved)
        check_count(self.classes, self.problem.d)
        self.learner, self.several = learner, bool(saved["several"])
        self.transitions = learner.read(lambda weights: weights.transitions(True))
        self.calibrated = None
        if saved["tempered"] is not None:
            temperature, biases, limit = checked_tempered(saved["tempered"], self.problem)
            self.calibrated = TemperatureScaling(temperature, np.array(biases), limit)

    def sequences(self, sid: Any, n: int) -> Queries:
        """Return the sequences of n tokens."""
        if sid is None and self.several and n > 1:
            raise ValueError("sid is missing, and the model was trained on several sequences; for one sequence pass sid='one'.")
        return Queries(None if is_one(sid) else sid, n, SID)

    def predict(self, scorer: Scorer, sequences: Queries, costs: Any = None) -> NDArray:
        scored = self._scored(scorer, sequences)
        if costs is None:
            return self.classes[scored.best_codes()]
        from sklearn_predtron.losses.sequence import cost_table  # which imports scikit-learn

        return self.classes[scored.codes_by_costs(scored.calibrated(self.calibrated), cost_table(costs, self.classes))]

    def probabilities(self, scorer: Scorer, sequences: Queries) -> NDArray:
        return sequences.put_back(self._scored(scorer, sequences).calibrated(self.calibrated))

    def scores(self, scorer: Scorer, sequences: Queries) -> NDArray:
        return self._scored(scorer, sequences).marginals()

    def _scored(self, scorer: Scorer, sequences: Queries) -> SequenceScores:
        return SequenceScores(self.learner, sequences.take(scorer.scores()), sequences, self.transitions)


FAMILIES: dict[str, type[Answers]] = {
    "classes": ClassAnswers,
    "column": ColumnAnswers,
    "sets": SetAnswers,
    "documents": DocumentAnswers,
    "rankings": RankingAnswers,
    "sequences": SequenceAnswers,
}


def check_count(labels: Any, n: int) -> None:
    """Raise ValueError unless there are n labels."""
    if labels is None or len(labels) != n:
        raise ValueError(f"where {n} labels are expected there is {shortened(labels)}")


def saved_capacity(saved: Any, n_labels: int) -> Capacity | None:
    """Return a saved capacity, if there is one; raise ValueError for other values."""
    if saved is None:
        return None
    answer, share, limit = accept(saved, (whole(0, n_labels - 1), between(LEAST, 1), lambda value: value))
    return Capacity(answer, share, None if limit is None else between(0, LARGEST)(limit))


def saved_labels(saved: Any) -> NDArray:
    """Return saved labels; raise ValueError for anything but an array of them."""
    if not isinstance(saved, np.ndarray) or saved.ndim != 1 or len(saved) == 0:
        raise ValueError(f"where labels are expected there is {shortened(saved)}")
    return saved


# -------------------------------------------------------------------------------------------------------------------- files


class OfTraining:
    """Stands for a loss or a representation of rankings, which only training asks."""

    def table(self, m: int) -> NDArray:
        """Return values of positions, which no prediction depends on."""
        return np.arange(m, 0, -1.0)

    discount_table = table


def read_model(values: Values, saved: Any) -> tuple[Learner, RowColumns]:
    """Return the learner and the columns of a saved model, given as JSON.

    Other parts of it are not built: they are for training.
    """
    model = fields_of(saved)
    check_format({name: values.decoded(model[name]) for name in ("format", "version")})
    *parts, last = map(fields_of, model["parts"])
    made: list[Any] = []
    compiled = [values.decoded({"dict": [*part.items()]}) if "arguments" in part else None for part in parts]
    check_part_sizes([part for part in compiled if part is not None])
    for part, found in zip(parts, compiled, strict=True):
        made.append(part if found is None else build_compiled(compiled_for_predictions(found["kind"]), found, made))
    state = dict(last["state"])
    learner = resolve_references(values.decoded(state["learner"]), made)
    n, names, features, first = resolve_references(values.decoded(state["columns"]), made)
    if type(learner) is not Learner or learner.weights.expansion is not None:
        raise ValueError(f"where a learner is expected there is {shortened(learner)}")
    if type(n) is not int or not (first is None or (type(first) is int and 0 < first < n)):
        raise ValueError(f"it has {shortened(n)} columns, of which {shortened(first)} were the first")
    table = None
    if features is not None:
        attributes = {name: resolve_references(values.decoded(value), made) for name, value in features["state"]}
        table = MappedTable(values.decoded(features["kind"]), attributes)
    known = (n, n) if table is None else (table.row_map.p, table.row_map.width)
    if known != (n, learner.weights.n_features):
        raise ValueError("its weights are of other columns")
    return learner, RowColumns(n, None if names is None else list(names), first, table)


def fields_of(saved: Any) -> dict[str, Any]:
    """Return the values of a dict, as JSON, by their names."""
    return {name: value for name, value in saved["dict"] if isinstance(name, str)}
