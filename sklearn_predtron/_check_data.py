"""Labelled rows for the estimator checks, in every form, and calls that must fail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

N_ROWS, N_FEATURES, N_CLASSES, N_LABELS = 32, 11, 3, 4


@dataclass(frozen=True)
class Data:
    """Labelled rows that no linear predictor separates; `classes` is what the first `partial_fit` of a classifier needs."""

    X: NDArray
    y: NDArray
    weight: NDArray
    classes: NDArray | None

    def fit(self, estimator: Any, rows: Any = slice(None), *, X: Any = None, **more: Any) -> Any:
        """A clone of the estimator with seed 0, fitted to some rows."""
        model = seeded(estimator)
        return model.fit((self.X if X is None else X)[rows], self.y[rows], **more)

    def learn(self, model: Any, rows: Any = slice(None), *, X: Any = None, **more: Any) -> Any:
        """Let a model go on with some rows."""
        if self.classes is not None and not hasattr(model, "classes_"):
            more["classes"] = self.classes
        return model.partial_fit((self.X if X is None else X)[rows], self.y[rows], **more)

    def stream(self, estimator: Any, rows: Any = slice(None), *, X: Any = None, **more: Any) -> Any:
        """A clone of the estimator that has learned some rows in one call."""
        return self.learn(seeded(estimator), rows, X=X, **more)


def make_data(estimator: Any, seed: int = 0) -> Data:
    """Rows whose labels are those of a noisy linear predictor."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((N_ROWS, N_FEATURES)) * random.uniform(0.2, 3, N_FEATURES) + 0.3
    X[random.random(X.shape) < 0.3] = 0
    weight = random.uniform(0.1, 2, N_ROWS)
    tags = estimator.__sklearn_tags__()
    if tags.classifier_tags is None:
        truth = random.standard_normal((N_FEATURES, estimator.problem.n_scores))
        y = np.empty(N_ROWS, dtype=object)
        for i, t in enumerate(X @ truth + 2 * random.standard_normal((N_ROWS, truth.shape[1]))):
            y[i] = estimator.problem.decode(t)
        return Data(X, y, weight, None)
    if tags.classifier_tags.multi_label:
        truth = random.standard_normal((N_FEATURES, N_LABELS))
        y = (X @ truth + 2 * random.standard_normal((N_ROWS, N_LABELS)) > 1).astype(np.int64)
        y[0], y[1] = 0, 1
        return Data(X, y, weight, None)
    k = N_CLASSES if tags.classifier_tags.multi_class else 2
    y = (X @ random.standard_normal((N_FEATURES, k)) + 2 * random.standard_normal((N_ROWS, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return Data(X, y, weight, np.arange(k))


def seeded(estimator: Any) -> Any:
    return clone(estimator).set_params(random_state=0)


def forms_of(X: NDArray) -> dict[str, Any]:
    """The same rows dense and sparse, in double and single precision (values that single precision holds)."""
    X = X.astype(np.float32).astype(np.float64)
    forms: dict[str, Any] = {"float64": X, "float32": X.astype(np.float32)}
    for name, dense in list(forms.items()):
        forms[f"CSR {name}"] = sparse.csr_array(dense)
    return forms


def splits(n: int) -> Iterator[list[slice]]:
    """Row by row, and at random."""
    yield [slice(i, i + 1) for i in range(n)]
    cuts = [0, *np.flatnonzero(np.random.default_rng(0).random(n) < 0.2).tolist(), n]
    yield [slice(a, b) for a, b in pairwise(cuts) if a < b]


@dataclass(frozen=True)
class BadCall:
    """What is wrong, arguments, and what the error must say; whether `predict` fails on X too, and `fit`, which starts anew."""

    what: str
    X: Any
    y: Any
    says: str
    more: dict[str, Any] = field(default_factory=dict)
    in_predict: bool = False
    in_fit: bool = True


def bad_calls(data: Data) -> list[BadCall]:
    """Calls that must fail once the rows of `data` are learned."""
    X, y, weight = data.X, data.y, data.weight
    n = len(X)

    def spoiled(array: NDArray, value: float) -> NDArray:
        array = array.copy()
        array[-1] = value
        return array

    S = sparse.csr_array(X)
    with_nan = sparse.csr_array((spoiled(S.data, np.nan), S.indices, S.indptr), shape=S.shape)
    calls = [
        BadCall("NaN in X", spoiled(X, np.nan), y, "X contains NaN", in_predict=True),
        BadCall("infinity in X", spoiled(X, np.inf), y, "X contains infinity", in_predict=True),
        BadCall("infinity in float32 X", spoiled(X.astype(np.float32), -np.inf), y, "X contains infinity", in_predict=True),
        BadCall("NaN in sparse X", with_nan, y, "X contains NaN", in_predict=True),
        BadCall("NaN in a single row", np.full((1, X.shape[1]), np.nan), y[:1], "X contains NaN", in_predict=True, in_fit=False),
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
        BadCall("a negative weight", X, y, "Negative values .*sample_weight", {"sample_weight": spoiled(weight, -1)}),
        BadCall("a weight that is NaN", X, y, "sample_weight contains NaN", {"sample_weight": spoiled(weight, np.nan)}),
        BadCall("too few weights", X, y, "sample_weight.shape == .*expected", {"sample_weight": weight[1:]}),
        BadCall("2-d weights", X, y, "Sample weights must be 1D", {"sample_weight": weight[:, None]}),
    ]
    if data.classes is not None:
        label = data.classes[-1] + 7
        unknown = f"y contains labels .*{label}.*accepted are"
        calls += [
            BadCall("2-d y", X, np.column_stack([y, y]), "1d array"),
            BadCall("an unknown label", X, spoiled(y, label), unknown, in_fit=False),
            BadCall("an unknown label of a single row", X[:1], [label], unknown, in_fit=False),
            BadCall("a label that is text", X[:1], ["0"], "y contains labels .*'0'.*accepted are", in_fit=False),
            BadCall("other classes", X, y, f"classes=.*{label}", {"classes": [*data.classes, label]}, in_fit=False),
        ]
    elif y.ndim == 2:
        label_by_label = "learning began with"
        calls += [
            BadCall("a 2 in y", X, spoiled(y, 2), "zeros and ones.*2"),
            BadCall("NaN in y", X, spoiled(y.astype(float), np.nan), "zeros and ones.*nan"),
            BadCall("a -1 in sparse y", X, sparse.csr_array(spoiled(y, -1)), "zeros and ones.*-1"),
            BadCall("text in y", X, y.astype(str), "zeros and ones.*'0'"),
            BadCall("3-d y", X, y[:, :, None], "shape"),
            BadCall("too few labels", X, y[:, 1:], label_by_label, in_fit=False),
            BadCall("too many labels of a single row", X[:1], np.hstack([y, y])[:1], label_by_label, in_fit=False),
            BadCall("1-d y", X, y[:, 0], label_by_label, in_fit=False),
            BadCall("other classes", X, y, "classes=.*7", {"classes": [0, 1, 7]}, in_fit=False),
        ]
    return calls


def malformed(X: NDArray) -> dict[str, Any]:
    """CSR matrices of the shape of X that are none."""
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
    """A value that is not accepted, for each parameter the estimator has."""
    values = {
        "average": "median",
        "class_weight": "heavy",
        "fit_intercept": "yes",
        "intercept_scaling": 0,
        "loss": "no such loss",
        "max_iter": 0,
        "norm": "no such norm",
        "reject_cost": -1.0,
        "reject_rule": "no such rule",
        "representation": "no such representation",
        "random_state": "seed",
        "shuffle": "no",
        "tol": -1.0,
        "update": "no such update",
        "warm_start": "no",
    }
    return {parameter: value for parameter, value in values.items() if parameter in estimator.get_params()}


def stored(X: Any) -> list[Any]:
    """The arrays that X consists of."""
    return [getattr(X, part) for part in ["data", "indices", "indptr", "row", "col", "rows"] if hasattr(X, part)]


def disordered(S: Any, duplicates: bool) -> Any:
    """The same CSR matrix with each row's entries backwards, and each value in two halves."""
    data, indices, indptr = [], [], [0]
    for start, stop in pairwise(S.indptr):
        times = 2 if duplicates else 1
        data.append(np.tile(S.data[start:stop][::-1], times) / times)
        indices.append(np.tile(S.indices[start:stop][::-1], times))
        indptr.append(indptr[-1] + times * (stop - start))
    return sparse.csr_array((np.concatenate(data), np.concatenate(indices), np.array(indptr)), shape=S.shape)
