"""Fuzz the readers of `open_rows`: rows do not depend on chunks, are those of a plain parse, or the line is named."""

import csv
import io
import json
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher

from sklearn_predtron.datasets import BrokenLineError, Conll, JsonLines, VowpalWabbit, open_rows

from .files import mutated
from .watch import one_case

WIDTH = 64  # of hashed rows
NAMES = ["a", "b", "größe", "c d"]
Read = tuple[np.ndarray | None, list[Any], str | None]


def run(seed: int) -> str:
    random = np.random.default_rng(seed)
    ending, text, expected = [draw_csv, draw_json, draw_vw, draw_conll, draw_svmlight][random.integers(5)](random)
    data = text.encode()
    if changed := random.random() < 0.6:
        data = mutated(random, data)
    with one_case((ending, data)) as folder:
        path = folder / f"rows.{ending}"
        path.write_bytes(data)
        return compare(random, str(path), None if changed else expected)


def compare(random: np.random.Generator, path: str, expected: Any) -> str:
    """Read the file at once and in small chunks, and compare with a plain parse, if there is one."""
    X, y, error = read(path, 10_000)
    X_parts, y_parts, error_parts = read(path, int(random.integers(1, 7)))
    assert error == error_parts, f"{error_parts} in small chunks, {error} in large ones"
    assert y == y_parts and (X is None) == (X_parts is None), "other labels in small chunks"
    if X is not None and X_parts is not None:
        assert X.shape == X_parts.shape and np.array_equal(X.astype(str), X_parts.astype(str)), "other rows in small chunks"
        numbers = [value for value in X.ravel().tolist() if isinstance(value, float)]
        assert not np.isinf(numbers).any(), "an infinite value"
    if expected is not None:
        assert error is None and X is not None, f"a good file is refused: {error}"
        values, labels = expected
        assert y == labels, "other labels than a plain parse"
        assert np.array_equal(X.astype(str), np.asarray(values).astype(str)), "other rows than a plain parse"
    return "read" if error is None else "refused"


def read(path: str, chunk_rows: int) -> Read:
    """Return the rows and labels before an error, and the error."""
    kind = {"jsonl": JsonLines, "vw": VowpalWabbit, "conll": Conll}.get(path.rpartition(".")[2])
    rows, labels, error = [], [], None
    try:
        for chunk in open_rows(path, chunk_rows=chunk_rows, format=kind and kind(n_features=WIDTH)):
            assert chunk.y is None or len(chunk.y) == chunk.X.shape[0]
            rows.append(chunk.X.toarray() if sparse.issparse(chunk.X) else chunk.X)
            labels += [] if chunk.y is None else chunk.y.tolist()
    except BrokenLineError as broken:
        assert broken.path == path and broken.line_number >= 1 and broken.reason
        error = str(broken)
    except ValueError as refused:
        error = str(refused)
        assert error and error.isprintable()
    return (np.vstack(rows) if rows else None), labels, error


def draw_labels(random: np.random.Generator, n: int) -> list[str]:
    """Draw labels, two of which differ."""
    return [["yes", "no"][i] for i in [0, 1, *random.integers(0, 2, n)]]


def draw_csv(random: np.random.Generator) -> tuple[str, str, Any]:
    """Draw a table of numbers, text and missing cells, as the csv module writes it."""
    labels = draw_labels(random, int(random.integers(0, 12)))
    numbers = [f"{value:.{random.integers(1, 17)}g}" for value in random.standard_normal(len(labels))]
    text = [["red", 'a "b", c', "x\ny"][i] for i in random.integers(0, 3, len(labels))]
    page = io.StringIO()
    writer = csv.writer(page, lineterminator=["\n", "\r\n"][random.integers(2)])
    writer.writerows([["n", "größe", "y"], *zip(numbers, text, labels, strict=True)])
    values = np.array([[float(number), word] for number, word in zip(numbers, text, strict=True)], dtype=object)
    return "csv", page.getvalue(), (values, labels)


def draw_pairs(random: np.random.Generator) -> dict[str, float]:
    return {name: round(float(random.standard_normal()), 3) for name in NAMES if random.random() < 0.6}


def hashed(rows: list[dict[str, float]]) -> np.ndarray:
    return FeatureHasher(WIDTH, input_type="pair", alternate_sign=False).transform([row.items() for row in rows]).toarray()


def draw_json(random: np.random.Generator) -> tuple[str, str, Any]:
    labels = draw_labels(random, int(random.integers(0, 12)))
    rows = [draw_pairs(random) for _ in labels]
    lines = [json.dumps({**row, "label": label}, ensure_ascii=False) for row, label in zip(rows, labels, strict=True)]
    return "jsonl", "\n".join(lines) + "\n", (hashed(rows), labels)


def draw_vw(random: np.random.Generator) -> tuple[str, str, Any]:
    labels = [float(label == "yes") for label in draw_labels(random, int(random.integers(0, 12)))]
    rows = [{name.replace(" ", "_"): value for name, value in draw_pairs(random).items()} for _ in labels]
    lines = [
        f"{y:g} | " + " ".join(f"{name}:{value}" for name, value in row.items()) for y, row in zip(labels, rows, strict=True)
    ]
    return "vw", "\n".join(lines) + "\n", (hashed(rows), labels)


def draw_conll(random: np.random.Generator) -> tuple[str, str, Any]:
    labels = draw_labels(random, int(random.integers(0, 12)))
    ends = random.random(len(labels)) < 0.3
    lines = [f"w{i % 3} X {y}\n" + ("\n" if end else "") for i, (y, end) in enumerate(zip(labels, ends, strict=True))]
    return "conll", "".join(lines), None


def draw_svmlight(random: np.random.Generator) -> tuple[str, str, Any]:
    """Draw svmlight rows whose labels are text."""
    labels = draw_labels(random, int(random.integers(0, 12)))
    values = random.integers(0, 4, (len(labels), 5)).astype(float)
    values[0] = 1
    lines = [
        f"{y} " + " ".join(f"{j + 1}:{value:g}" for j, value in enumerate(row) if value)
        for y, row in zip(labels, values, strict=True)
    ]
    return "svm", "\n".join(lines) + "\n", (values, labels)
