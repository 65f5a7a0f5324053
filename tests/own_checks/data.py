"""Labelled rows in every form, and calls that must fail."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from sklearn_predtron.losses import RankingLoss, list_of, ranking_loss

N_ROWS, N_FEATURES, N_CLASSES, N_LABELS, N_QUERIES = 32, 11, 3, 4, 20
ALL = slice(None)
GRADES = ((0, 1, 2, 3), (0, 2), (0, 1))  # of which the first that a loss takes are drawn
STEEP = [0, 2, 31]  # relevances of three grades, of a range that not every loss takes


@dataclass(frozen=True)
class Data:
    """Labelled rows that no linear predictor separates.

    A round is a row, and rows go to the estimator by rounds.
    """

    X: NDArray
    y: NDArray
    weight: NDArray
    by_row: ClassVar[tuple[str, ...]] = ("X", "y", "weight")

    @property
    def n(self) -> int:
        """Return the number of rounds."""
        return len(self.y)

    def rows(self, rounds: Any) -> Any:
        """Return the index of the rows of some rounds."""
        return rounds

    def id_kwargs(self, rounds: Any = ALL) -> dict[str, Any]:
        """Return the id arguments for some rounds."""
        return {}

    def first_call_kwargs(self) -> dict[str, Any]:
        """Return the extra arguments of the first `partial_fit`."""
        return {}

    def map(self, change: Any) -> Any:
        """Return the data with every row-wise array changed."""
        return replace(self, **{name: change(getattr(self, name)) for name in self.by_row})

    def call(self, method: Any, rounds: Any = ALL, *, X: Any = None, weight: Any = None, **more: Any) -> Any:
        """Call a method with some rounds.

        X in another form, and weights, are those of all rows.
        """
        X, y = self.X if X is None else X, self.y
        if weight is not None:
            more["sample_weight"] = weight[self.rows(rounds)]
        if rounds != ALL:
            X, y = X[self.rows(rounds)], y[self.rows(rounds)]
        return method(X, y, **self.id_kwargs(rounds), **more)

    def fit(self, estimator: Any, rounds: Any = ALL, *, X: Any = None, weight: Any = None) -> Any:
        """Return a clone fitted to some rounds with seed 0."""
        return self.call(seeded(estimator).fit, rounds, X=X, weight=weight)

    def learn(self, model: Any, rounds: Any = ALL, *, X: Any = None, weight: Any = None) -> Any:
        """Update a model on some rounds and return it."""
        first = {} if hasattr(model, "n_features_in_") else self.first_call_kwargs()
        return self.call(model.partial_fit, rounds, X=X, weight=weight, **first)

    def stream(self, estimator: Any, rounds: Any = ALL, *, X: Any = None, weight: Any = None) -> Any:
        """Return a clone trained on some rounds in one call."""
        return self.learn(seeded(estimator), rounds, X=X, weight=weight)

    def predict(self, model: Any, rounds: Any = ALL, *, X: Any = None) -> Any:
        """Predict some rounds with a model."""
        X = self.X if X is None else X
        return model.predict(X if rounds == ALL else X[self.rows(rounds)])

    def round_weights(self, weight: NDArray) -> NDArray:
        """Return the weights of rows for the estimator."""
        return weight

    def measures(self, model: Any, *, X: Any = None, weight: Any = None) -> dict[str, Any]:
        """Return score, losses and margin, where available."""
        names = [name for name in ["score", "sample_loss", "margin"] if hasattr(model, name)]
        return {name: self.call(getattr(model, name), X=X, weight=weight if name == "score" else None) for name in names}

    def bad_labels(self) -> list[BadCall]:
        """Return calls with invalid labels."""
        return []


@dataclass(frozen=True)
class ClassData(Data):
    """Rows with one class each."""

    classes: NDArray

    def first_call_kwargs(self) -> dict[str, Any]:
        return {"classes": self.classes}

    def bad_labels(self) -> list[BadCall]:
        X, y, label = self.X, self.y, self.classes[-1] + 7
        unknown = f"y contains labels .*{label}.*accepted are"
        return [
            BadCall("2-d y", X, np.column_stack([y, y]), "1d array"),
            BadCall("an unknown label", X, corrupted(y, label), unknown, in_fit=False),
            BadCall("an unknown label of a single row", X[:1], [label], unknown, in_fit=False),
            BadCall("a label that is text", X[:1], ["0"], "y contains labels .*'0'.*accepted are", in_fit=False),
            BadCall("labels that are no classes", X, y + 0.5, "Unknown label type: continuous|not in"),
            BadCall("NaN in y", X, np.where(y == y[0], np.nan, y), "y contains NaN"),
            BadCall(
                "labels of several types", X, np.resize(np.array([1, "a", 2.5], dtype=object), len(y)), "[Uu]nknown label|not in"
            ),
            BadCall("other classes", X, y, f"classes=.*{label}", {"classes": [*self.classes, label]}, in_fit=False),
        ]


class GroupedData(Data):
    """Rows grouped by ids; a round is a group."""

    ids_name: ClassVar[str]

    @property
    def ids(self) -> NDArray:
        """Return the id of each row."""
        return getattr(self, self.ids_name)

    @property
    def start(self) -> NDArray:
        """Return the start of each round, and the end."""
        return np.concatenate([[0], np.flatnonzero(np.diff(self.ids)) + 1, [len(self.ids)]])

    @property
    def n(self) -> int:
        return len(self.start) - 1

    def rows(self, rounds: Any) -> Any:
        start, (first, end, _) = self.start, rounds.indices(self.n)
        return slice(start[first], start[end])

    def id_kwargs(self, rounds: Any = ALL) -> dict[str, Any]:
        """Return the ids, unless there is one round."""
        ids = self.ids[self.rows(rounds)]
        return {self.ids_name: ids} if (ids != ids[0]).any() else {}

    def bad_ids(self) -> list[BadCall]:
        """Return calls with invalid ids."""
        X, y, ids, name = self.X, self.y, self.ids, self.ids_name

        def bad(what: str, ids: Any, says: str) -> BadCall:
            return BadCall(what, X, y, says, {name: ids})

        return [
            BadCall("2-d y", X, np.column_stack([y, y]), "1d array"),
            bad(f"{name} too short", ids[1:], f"{name} has {len(y) - 1} entries and X has {len(y)} rows"),
            bad(f"{name} too long", [*ids, 0], f"{name} has {len(y) + 1} entries and X has {len(y)} rows"),
            bad(f"an empty {name}", [], f"{name} has 0 entries and X has {len(y)} rows"),
            bad(f"NaN in {name}", corrupted(ids.astype(float), np.nan), f"{name}.*nan.*without missing values"),
            bad(f"None in {name}", [*ids[1:], None], f"{name}.*None.*without missing values"),
            bad(
                f"NaT in {name}", np.append(np.datetime64("2020-01-01") + ids[1:], np.datetime64("NaT")), f"{name}.*NaT.*missing"
            ),
            bad(
                f"NA of pandas in {name}", pd.Series([*ids[1:].tolist(), None], dtype="Int64"), f"{name}.*without missing values"
            ),
            *(
                bad(
                    f"NA in {kind} {name}",
                    pd.Series(["a"] * (len(y) - 1) + [pd.NA], dtype=kind),
                    f"{name}.*without missing values",
                )
                for kind in ("string", "category", "object")
            ),
            bad(f"dicts as {name}", [{}] * len(y), f"{name}.* without a hash"),
            bad(f"2-d {name}", np.column_stack([ids, ids]), f"{name} has shape"),
            bad(f"{name} that is a number", 3, f"{name} has shape"),
        ]


@dataclass(frozen=True)
class GroupData(GroupedData, ClassData):
    """Rows of two classes; a round is a group."""

    groups: NDArray
    by_row: ClassVar[tuple[str, ...]] = ("X", "y", "weight", "groups")
    ids_name: ClassVar[str] = "groups"

    def id_kwargs(self, rounds: Any = ALL) -> dict[str, Any]:
        return {"groups": self.groups[self.rows(rounds)]}

    def predict(self, model: Any, rounds: Any = ALL, *, X: Any = None) -> Any:
        X = self.X if X is None else X
        return model.predict(X if rounds == ALL else X[self.rows(rounds)], **self.id_kwargs(rounds))

    def bad_labels(self) -> list[BadCall]:
        return [*super().bad_labels(), *self.bad_ids()]


class SetData(Data):
    """Rows with a label set each."""

    def bad_labels(self) -> list[BadCall]:
        X, y, label_by_label = self.X, self.y, "learning began with"
        return [
            BadCall("a 2 in y", X, corrupted(y, 2), "zeros and ones.*2"),
            BadCall("NaN in y", X, corrupted(y.astype(float), np.nan), "zeros and ones.*nan"),
            BadCall("a -1 in sparse y", X, sparse.csr_array(corrupted(y, -1)), "zeros and ones.*-1"),
            BadCall("text in y", X, y.astype(str), "zeros and ones.*'0'"),
            BadCall("a half in y", X, y + 0.5, r"zeros and ones.*\[[01]\.5"),
            BadCall("complex y", X, y + 1j, "zeros and ones"),
            BadCall("a label twice in sparse y", X, sparse.csr_array((np.ones(2), [1, 1], [0] + [2] * len(y)), y.shape), "twice"),
            BadCall(
                "one label twice in COO y", X, sparse.coo_array((np.ones(2), ([0, 0], [1, 1])), y.shape), r"zeros and ones.*2"
            ),
            BadCall("no labels", X, y[:, :0], "shape"),
            BadCall("3-d y", X, y[:, :, None], "shape"),
            BadCall("too few labels", X, y[:, 1:], label_by_label, in_fit=False),
            BadCall("too many labels of a single row", X[:1], np.hstack([y, y])[:1], label_by_label, in_fit=False),
            BadCall("1-d y", X, y[:, 0], label_by_label, in_fit=False),
            BadCall("other classes", X, y, "classes=.*7", {"classes": [0, 1, 7]}, in_fit=False),
        ]


@dataclass(frozen=True)
class RelevanceData(Data):
    """Rows with relevances of labels.

    `refusal` is the loss's error message for relevances like 0, 2 and 31, if any.
    """

    refusal: str | None

    def bad_labels(self) -> list[BadCall]:
        X, y, numbers = self.X, self.y, self.y.astype(float)
        calls = [
            BadCall("a negative relevance", X, corrupted(y, -1), "relevance -1"),
            BadCall("a negative relevance in a single round", X[:1], -1 - y[:1], "relevance -", in_fit=False),
            BadCall("NaN in y", X, corrupted(numbers, np.nan), "y contains NaN"),
            BadCall("NaN in y of a single round", X[:1], corrupted(numbers[:1], np.nan), "y contains NaN", in_fit=False),
            BadCall("infinity in y", X, corrupted(numbers, np.inf), "y contains infinity"),
            BadCall("text in y", X, np.full(y.shape, "high"), "could not convert"),
            BadCall("complex y", X, y + 1j, "Complex data"),
            BadCall("3-d y", X, numbers.reshape(len(y), -1, 1), "shape|1d array|dim"),
        ]
        if self.refusal is not None:
            y = y.copy()
            y.reshape(-1)[-3:] = STEEP
            calls.append(BadCall("relevances that the loss does not take", X, y, self.refusal))
            last = self.rows(slice(self.n - 1, self.n))
            calls.append(BadCall("the same in a single round", X[last], y[last], self.refusal, in_fit=False, alone=True))
        return calls


class LabelListData(RelevanceData):
    """The relevances are those of a fixed set of labels."""

    def bad_labels(self) -> list[BadCall]:
        X, y, began = self.X, self.y, f"learning began with {N_LABELS}"
        return [
            *super().bad_labels(),
            BadCall("1-d y", X, y[:, 0], r"shape \(n_samples, n_labels\)"),
            BadCall("no labels", X, y[:, :0], r"shape \(n_samples, n_labels\)|0 feature"),
            BadCall("too few labels", X, y[:, 1:], began, in_fit=False),
            BadCall("too few labels of a single row", X[:1], y[:1, 1:], began, in_fit=False),
            BadCall("too many labels of a single row", X[:1], np.hstack([y, y])[:1].tolist(), began, in_fit=False),
            BadCall("too many labels in sparse y", X, sparse.csr_array(np.hstack([y, y])), began, in_fit=False),
        ]


@dataclass(frozen=True)
class QueryData(GroupedData, RelevanceData):
    """Documents with relevances; a round is a query."""

    qid: NDArray
    by_row: ClassVar[tuple[str, ...]] = ("X", "y", "weight", "qid")
    ids_name: ClassVar[str] = "qid"

    def predict(self, model: Any, rounds: Any = ALL, *, X: Any = None) -> Any:
        X = self.X if X is None else X
        return model.rank(X if rounds == ALL else X[self.rows(rounds)], **(self.id_kwargs(rounds) or {"qid": "one"}))

    def bad_labels(self) -> list[BadCall]:
        return [*super().bad_labels(), *self.bad_ids()]


@dataclass(frozen=True)
class SequenceData(GroupedData):
    """Tokens with labels; a round is a sequence."""

    classes: NDArray
    sid: NDArray
    by_row: ClassVar[tuple[str, ...]] = ("X", "y", "weight", "sid")
    ids_name: ClassVar[str] = "sid"

    def first_call_kwargs(self) -> dict[str, Any]:
        return {"classes": self.classes}

    def predict(self, model: Any, rounds: Any = ALL, *, X: Any = None) -> Any:
        X = self.X if X is None else X
        return model.predict(X[self.rows(rounds)], sid=self.sid[self.rows(rounds)])

    def round_weights(self, weight: NDArray) -> NDArray:
        return np.repeat(weight[self.start[:-1]], np.diff(self.start))

    def bad_labels(self) -> list[BadCall]:
        X, y, label = self.X, self.y, self.classes[-1] + 7
        unknown, uneven = f"y contains labels .*{label}.*accepted are", {"sample_weight": corrupted(self.weight, 9)}
        return [
            *self.bad_ids(),
            BadCall("an unknown label", X, corrupted(y, label), unknown, in_fit=False),
            BadCall("an unknown label of a single row", X[:1], [label], unknown, in_fit=False),
            BadCall("a label that is text", X[:1], ["0"], "y contains labels .*'0'.*accepted are", in_fit=False),
            BadCall("other classes", X, y, f"classes=.*{label}", {"classes": [*self.classes, label]}, in_fit=False),
            BadCall("tokens of a sequence that weigh differently", X, y, "sample_weight.*a sequence weighs as one", uneven),
        ]


def make_data(estimator: Any, seed: int = 0) -> Data:
    """Make rows labelled by a noisy linear predictor."""
    tags = estimator.__sklearn_tags__()
    if tags.estimator_type == "ranker":
        return make_relevances(estimator, seed)
    if tags.estimator_type == "tagger":
        return make_sequences(seed)
    random = np.random.default_rng(seed)
    X, weight = make_rows(random, N_ROWS)
    if tags.classifier_tags is None:
        truth = random.standard_normal((N_FEATURES, estimator.problem.n_scores))
        y = np.empty(N_ROWS, dtype=object)
        for i, t in enumerate(X @ truth + 2 * random.standard_normal((N_ROWS, truth.shape[1]))):
            y[i] = estimator.problem.decode(t)
        return Data(X, y, weight)
    if tags.classifier_tags.multi_label:
        truth = random.standard_normal((N_FEATURES, N_LABELS))
        y = (X @ truth + 2 * random.standard_normal((N_ROWS, N_LABELS)) > 1).astype(np.int64)
        y[0], y[1] = 0, 1
        return SetData(X, y, weight)
    k = N_CLASSES if tags.classifier_tags.multi_class else 2
    y = (X @ random.standard_normal((N_FEATURES, k)) + 2 * random.standard_normal((N_ROWS, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    if "groups" in signature(estimator.fit).parameters:
        return make_groups(random, X, weight, y)
    return ClassData(X, y, weight, np.arange(k))


def make_groups(random: np.random.Generator, X: NDArray, weight: NDArray, y: NDArray) -> GroupData:
    """Group rows of two classes, some of them alone."""
    size = random.choice([1, 2, 3, 5], N_ROWS)
    groups = np.repeat(random.permutation(N_ROWS), size)[:N_ROWS]
    return GroupData(X, y, weight, np.arange(2), groups)


def make_rows(random: np.random.Generator, n: int) -> tuple[NDArray, NDArray]:
    """Make rows with some zeros, and weights."""
    X = random.standard_normal((n, N_FEATURES)) * random.uniform(0.2, 3, N_FEATURES) + 0.3
    X[random.random(X.shape) < 0.3] = 0
    return X, random.uniform(0.1, 2, n)


def make_relevances(estimator: Any, seed: int) -> RelevanceData:
    """Make relevances that the loss accepts."""
    random, loss = np.random.default_rng(seed), ranking_loss(estimator.loss)
    refusal = rejection_of(loss, STEEP)
    grades = np.array(next(grades for grades in GRADES if loss.takes(grades)))
    of_labels = estimator.__sklearn_tags__().target_tags.multi_output
    size = np.concatenate([[3], random.choice([1, 2, 3, 5, 12], N_QUERIES - 2), [4]])
    X, weight = make_rows(random, N_ROWS if of_labels else size.sum())
    t = X @ random.standard_normal((N_FEATURES, N_LABELS if of_labels else 1))
    t += 2 * random.standard_normal(t.shape)
    y = grades[np.digitize(t, np.quantile(t, np.linspace(0, 1, len(grades) + 1)[1:-1]))]
    if of_labels:
        y[5] = y[5, 0]
        return LabelListData(X, y, weight, refusal)
    y[size[0] : size[0] + size[1]] = grades[0]
    y[:2, 0] = grades[:2]
    return QueryData(X, y[:, 0], weight, refusal, np.repeat(random.permutation(N_QUERIES), size))


def make_sequences(seed: int) -> SequenceData:
    """Make sequences whose labels often repeat."""
    random = np.random.default_rng(seed)
    size = np.concatenate([[3], random.choice([1, 2, 3, 5, 12], N_QUERIES - 2), [4]])
    sid = np.repeat(random.permutation(N_QUERIES), size)
    X, weight = make_rows(random, len(sid))
    y = (X @ random.standard_normal((N_FEATURES, N_CLASSES)) + 2 * random.standard_normal((len(X), N_CLASSES))).argmax(axis=1)
    stays = random.random(len(y)) < 0.4
    for i in range(1, len(y)):
        y[i] = y[i - 1] if stays[i] else y[i]
    y[:N_CLASSES] = np.arange(N_CLASSES)
    return SequenceData(X, y, weight[sid], np.arange(N_CLASSES), sid)


def rejection_of(loss: RankingLoss, relevances: Sequence[float]) -> str | None:
    """Return the pattern of a loss's error for a list.

    None if the loss accepts the list.
    """
    try:
        loss.gain_table(list_of(relevances))
    except ValueError as error:
        return re.escape(str(error))
    return None


def seeded(estimator: Any) -> Any:
    return clone(estimator).set_params(random_state=0)


def forms_of(X: NDArray) -> dict[str, Any]:
    """Return equal rows: dense and sparse, double and single precision."""
    X = X.astype(np.float32).astype(np.float64)
    forms: dict[str, Any] = {"float64": X, "float32": X.astype(np.float32)}
    for name, dense in list(forms.items()):
        forms[f"CSR {name}"] = sparse.csr_array(dense)
    return forms


def splits(n: int) -> Iterator[list[slice]]:
    """Yield splits: single rows, and at random."""
    yield [slice(i, i + 1) for i in range(n)]
    cuts = [0, *np.flatnonzero(np.random.default_rng(0).random(n) < 0.2).tolist(), n]
    yield [slice(a, b) for a, b in pairwise(cuts) if a < b]


@dataclass(frozen=True)
class BadCall:
    """An invalid call: fault, arguments and expected message.

    `in_predict` is whether `predict` fails on X too, `in_fit` whether `fit` does, which starts from scratch.  `alone` says that
    the rows are one round.
    """

    what: str
    X: Any
    y: Any
    says: str
    more: dict[str, Any] = field(default_factory=dict)
    in_predict: bool = False
    in_fit: bool = True
    alone: bool = False


def corrupted(array: NDArray, value: float) -> NDArray:
    """Return a copy whose last row is the value."""
    array = array.copy()
    array[-1] = value
    return array


def bad_calls(data: Data) -> list[BadCall]:
    """Return calls that must fail after training on `data`."""
    X, y, weight = data.X, data.y, data.weight
    n = len(X)
    S = sparse.csr_array(X)
    with_nan = sparse.csr_array((corrupted(S.data, np.nan), S.indices, S.indptr), shape=S.shape)
    last = data.rows(slice(data.n - 1, data.n))
    absent = {"sample_weight": np.where(np.isin(np.arange(n), np.arange(n)[last]), 0, weight)}
    calls = [
        BadCall("NaN in X", corrupted(X, np.nan), y, "X contains NaN", in_predict=True),
        BadCall("infinity in X", corrupted(X, np.inf), y, "X contains infinity", in_predict=True),
        BadCall("infinity in float32 X", corrupted(X.astype(np.float32), -np.inf), y, "X contains infinity", in_predict=True),
        BadCall("NaN in sparse X", with_nan, y, "X contains NaN", in_predict=True),
        BadCall("NaN in a row of weight 0", corrupted(X, np.nan), y, "X contains NaN", absent),
        BadCall("NaN in a single row", np.full((1, X.shape[1]), np.nan), y[:1], "X contains NaN", in_predict=True, in_fit=False),
        BadCall("NaN in a single round", corrupted(X[last], np.nan), y[last], "X contains NaN", in_fit=False, alone=True),
        BadCall("y too long for a single round", X[last][1:], y[last], "rows|0 sample", in_fit=False, alone=True),
        BadCall("too many features", np.hstack([X, X]), y, "features", in_predict=True, in_fit=False),
        BadCall("too few features of a single row", X[:1, 1:], y[:1], "features", in_predict=True, in_fit=False),
        BadCall("too few features of sparse X", S[:, 1:], y, "features", in_predict=True, in_fit=False),
        BadCall("1-d X", X[0], y[:1], "Expected 2D array", in_predict=True),
        BadCall("no X", None, y[:1], "Expected 2D array", in_predict=True),
        BadCall("no rows", X[:0], y[:0], "0 sample", in_predict=True),
        BadCall("no sparse rows", S[:0], y[:0], "0 sample", in_predict=True),
        BadCall("text in X", [["a"] * X.shape[1]], y[:1], "could not convert", in_predict=True),
        *(BadCall(f"CSR with {kind}", broken, y, "CSR|index", in_predict=True) for kind, broken in malformed(X).items()),
        BadCall("no y", X, None, "requires y"),
        BadCall("y too short", X, y[1:], f"{n} rows and y has {n - 1}"),
        BadCall("y too long", X[1:], y, f"{n - 1} rows and y has {n}"),
        BadCall("y too long for a single row", X[:1], y[:2], "1 rows and y has 2", in_fit=False),
        BadCall("a negative weight", X, y, "Negative values .*sample_weight", {"sample_weight": corrupted(weight, -1)}),
        BadCall("a weight that is NaN", X, y, "sample_weight contains NaN", {"sample_weight": corrupted(weight, np.nan)}),
        BadCall("too few weights", X, y, "sample_weight.shape == .*expected", {"sample_weight": weight[1:]}),
        BadCall("2-d weights", X, y, "Sample weights must be 1D", {"sample_weight": weight[:, None]}),
        *data.bad_labels(),
    ]
    alone = [call.alone or np.shape(call.y)[:1] == (1,) for call in calls]
    return [
        call if one else replace(call, more={**data.id_kwargs(), **call.more}) for call, one in zip(calls, alone, strict=True)
    ]


def malformed(X: NDArray) -> dict[str, Any]:
    """Return malformed CSR matrices of X's shape."""
    broken = {}
    for kind in ["an index too high", "a negative index", "offsets that fall", "offsets that leap", "offsets that go too far"]:
        S = sparse.csr_array(X)
        S.indices, S.indptr = S.indices.copy(), S.indptr.copy()
        if kind == "an index too high":
            S.indices[3] = 10**8
        elif kind == "a negative index":
            S.indices[3] = -1
        elif kind == "offsets that fall":
            S.indptr[1], S.indptr[2] = S.indptr[2] + 3, S.indptr[1]
        elif kind == "offsets that leap":
            S.indptr[1] = 10**8
        else:
            S.indptr[-1] = 10**8
        broken[kind] = S
    return broken


def bad_parameters(estimator: Any) -> dict[str, Any]:
    """Return an invalid value for each parameter."""
    values = {
        "average": "median",
        "class_weight": "heavy",
        "constraint": "no such constraint",
        "decision": "no such decision",
        "fit_intercept": "yes",
        "intercept_scaling": 0,
        "loss": "no such loss",
        "max_iter": 0,
        "norm": "no such norm",
        "reject": "no such option",
        "transition_scaling": -0.1,
        "representation": "no such representation",
        "random_state": "seed",
        "shuffle": "no",
        "tol": -1.0,
        "update": "no such update",
        "warm_start": "no",
    }
    return {parameter: value for parameter, value in values.items() if parameter in estimator.get_params()}


def stored(X: Any) -> list[Any]:
    """Return the arrays behind X."""
    return [getattr(X, part) for part in ["data", "indices", "indptr", "row", "col", "rows"] if hasattr(X, part)]


def disordered(S: Any, *, duplicates: bool) -> Any:
    """Return a CSR matrix with the entries of each row backwards, with `duplicates` each value in two halves."""
    times = 2 if duplicates else 1
    order = [i for a, b in pairwise(S.indptr) for i in list(range(b - 1, a - 1, -1)) * times]
    order = np.array(order, dtype=np.intp)
    return type(S)((S.data[order] / np.asarray(times, S.dtype), S.indices[order], S.indptr * times), shape=S.shape)
