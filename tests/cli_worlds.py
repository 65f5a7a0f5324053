"""Formats and tasks of the command line: how rounds are written to files, and what the estimator learns of the same arrays."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron.datasets import token_features
from tests.cli_cases import NAMES

WIDTH = 4096  # of hashed features
RULE = np.random.default_rng(99).standard_normal((6, 3))
NO_ID = "expected qid:ID, with an integer of 64 bits, after the label"


class Data(NamedTuple):
    """Rows, the numbers of their labels and of their rounds."""

    X: np.ndarray
    codes: np.ndarray
    group: np.ndarray

    @property
    def n(self):
        """Return the number of rounds."""
        return int(self.group[-1]) + 1

    def of(self, rounds):
        """Return some rounds, in the order of their numbers."""
        rows = np.concatenate([np.flatnonzero(self.group == i) for i in rounds])
        lengths = [np.sum(self.group == i) for i in rounds]
        return Data(self.X[rows], self.codes[rows], np.repeat(np.arange(len(lengths)), lengths))


def draw(n, seed, longest):
    """Draw n rounds of 1 to `longest` rows, with a rule that all seeds share."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n), rng.integers(1, longest + 1, n))
    X = rng.standard_normal((len(group), 6)).round(3)
    return Data(X, (X @ RULE + 0.5 * rng.standard_normal((len(group), 3))).argmax(axis=1), group)


def stored(data):
    """Return rows as a file has them: zeros that are written are stored."""
    n, p = data.X.shape
    return sparse.csr_matrix((data.X.ravel(), np.tile(np.arange(p), n), np.arange(0, n * p + 1, p)), shape=(n, p))


class World(NamedTuple):
    """A format and a task."""

    estimator: Callable[[], Any]
    labels: list  # as the estimator has them, by their numbers
    line: Callable[..., str]  # (label or None, row, number of the round)
    rows: Callable[[Data], Any] = stored
    options: tuple = ()
    ending: str = "svm"
    ids: str | None = None  # the parameter of the estimator that has those of the rounds
    broken: tuple = ("1 1:2 oops", "at 'oops': expected INDEX:VALUE")  # a line, and what is said of it
    weights: Callable[[int], float] | None = None  # of a row, by its place
    form: tuple = ("--features", 6)

    def draw(self, n, seed):
        return draw(n, seed, 5 if self.ids else 1)

    def text(self, data, *, labelled=True):
        """Return the text of a file; sentences end with an empty line."""
        y, lines = self.target(data) if labelled else [None] * len(data.codes), []
        for i, (label, x, group) in enumerate(zip(y, data.X.tolist(), data.group.tolist(), strict=True)):
            lines.append(self.line(label, x, group) + "\n")
            if self.ending == "conll" and group != (*data.group, -1)[i + 1]:
                lines.append("\n")
        return {"csv": ",".join("abcdef") + ",y" * labelled + "\n"}.get(self.ending, "") + "".join(lines)

    def target(self, data):
        if "multilabel" in self.options:
            return (data.X[:, :3] > 0).astype(int)
        return np.array(self.labels)[data.codes % len(self.labels)]

    def given(self, data):
        """Return what is passed beside X and y."""
        return {} if self.ids is None else {self.ids: data.group}

    @property
    def classes(self):
        """Return what the first training call takes."""
        has_none = self.ids == "qid" or "multilabel" in self.options
        return {} if has_none else {"classes": self.labels}

    def learn(self, model, data):
        """Train on the rounds in their order."""
        more = {**self.given(data), **({} if hasattr(model, "t_") else self.classes)}
        if self.weights is not None:
            more["sample_weight"] = np.array([self.weights(x) for x in data.X.tolist()])
        return model.partial_fit(self.rows(data), self.target(data), **more)

    def predictions(self, model, data):
        """Return the predictions as the command line writes them."""
        predicted = model.predict(self.rows(data), **({} if self.ids != "sid" else self.given(data)))
        if self.ids == "qid":
            return predicted.tolist()
        if "multilabel" in self.options:
            sets = predicted.toarray() if sparse.issparse(predicted) else predicted
            return [",".join(f"{self.labels[j]}" for j in np.flatnonzero(row)) for row in sets]
        return [label if isinstance(label, str) else f"{label:g}" for label in predicted.tolist()]

    def read(self, text):
        """Return the predictions of a file; empty lines of conll files are of no token."""
        lines = text.splitlines()
        return [float(line) for line in lines] if self.ids == "qid" else [line for line in lines if line or self.ending == "svm"]

    def write(self, path, data, **how):
        """Write a file, with the ending of the format."""
        path = path.with_name(f"{path.name}.{self.ending}")
        path.write_text(self.text(data, **how), encoding="utf-8")
        return path


def svmlight(label, x, group):
    label = ",".join(str(10 * j + 10) for j in np.flatnonzero(label)) if isinstance(label, np.ndarray) else label
    return " ".join([*([] if label is None else [str(label)]), *(f"{j}:{value}" for j, value in enumerate(x, 1))])


def with_id(label, x, group):
    return " ".join([*([] if label is None else [str(label)]), f"qid:{10 + group}", svmlight(None, x, group)])


def named(x):
    return {"a": x[0], "b": x[1], "ä b": round(x[2]), "word": ["red", "green", "blue"][round(abs(x[3])) % 3], "old": x[4] > 0}


def hashed(rows, number=lambda value: value):
    pairs = [[(name, number(value)) for name, value in row.items()] for row in rows]
    return FeatureHasher(WIDTH, input_type="pair", alternate_sign=False).transform(pairs)


def example(label, x, group):
    return f"{'' if label is None else f'{label} {1 + abs(round(x[5]))}'} |f a:{x[0]} b:{x[1]} |g w{round(x[2])}"


def token(x):
    return [f"w{round(2 * x[0])}", f"t{round(x[1])}"]


def tokens(data):
    return token_features(np.array([token(x) for x in data.X.tolist()]), data.group, n_features=WIDTH)


def scaled(kind, **parameters):
    return lambda: kind(norm="scaled", **parameters)


HASHED = ("--features", WIDTH)
WORLDS = {
    "classes": World(scaled(PredtronClassifier), [0, 1, 2], svmlight),
    "two classes": World(scaled(PredtronBinaryClassifier), [-1, 1], svmlight),
    "words": World(scaled(PredtronClassifier), sorted(NAMES), svmlight, broken=("ham oops", "at 'oops': expected INDEX:VALUE")),
    "ranks": World(scaled(PredtronOrdinalClassifier), [0, 1, 2], svmlight, options=("--task", "ordinal")),
    "sets": World(
        scaled(PredtronMultilabelClassifier),
        [10, 20, 30],
        svmlight,
        options=("--task", "multilabel"),
        broken=("10,50 1:2", "at '10,50': the label is not one of the classes [10, 20, 30]"),
    ),
    "queries": World(
        scaled(PredtronRanker), [0, 1, 2], with_id, ids="qid", broken=("-1 qid:999 1:2", "at '-1': the relevance is negative")
    ),
    "sentences": World(
        scaled(PredtronSequenceTagger),
        [-1, 2, 7],
        with_id,
        options=("--task", "sequence"),
        ids="sid",
        broken=("2 qid:999 1:1 oops", "at 'oops': expected INDEX:VALUE"),
    ),
    "numbers": World(
        PredtronClassifier,
        [0, 1, 2],
        lambda label, x, group: ",".join([*map(str, x), *([] if label is None else [str(label)])]),
        rows=lambda data: data.X,
        ending="csv",
        broken=("1,2,0", "the row has 3 columns, and the first one has 7"),
        form=(),
    ),
    "objects": World(
        lambda: PredtronBinaryClassifier(norm="l2"),
        ["no", "yes"],
        lambda label, x, group: json.dumps({**named(x), "gone": None, **({} if label is None else {"label": label})}),
        rows=lambda data: hashed(map(named, data.X.tolist())),
        options=HASHED,
        ending="jsonl",
        broken=("[1, 2]", "the line is [1, 2]; accepted are objects, of features by name"),
        form=(),
    ),
    "examples": World(
        lambda: PredtronBinaryClassifier(norm="l2"),
        [-1, 1],
        lambda label, x, group: (
            f"{'' if label is None else f'{label} {1 + abs(round(x[5]))}'} |f a:{x[0]} b:{x[1]} |g w{round(x[2])}"
        ),
        rows=lambda data: hashed({"f^a": x[0], "f^b": x[1], f"g^w{round(x[2])}": 1} for x in data.X.tolist()),
        options=HASHED,
        ending="vw",
        broken=("1 a b", "there is no |, behind which features are"),
        weights=lambda x: 1.0 + abs(round(x[5])),
        form=(),
    ),
    "tokens": World(
        lambda: PredtronSequenceTagger(norm="l2"),
        ["B-x", "I-x", "O"],
        lambda label, x, group: " ".join([*token(x), *([] if label is None else [label])]),
        rows=tokens,
        options=HASHED,
        ending="conll",
        ids="sid",
        broken=("a b", "the token has 2 columns, and those before it have 3"),
        form=(),
    ),
}
