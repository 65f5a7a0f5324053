"""Fuzz the svmlight reader: what it reads of any text, and its cache holds, is what scikit-learn's `load_svmlight_file` reads."""

import os
import re
from contextlib import suppress
from io import BytesIO
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from sklearn_predtron.datasets import BrokenLineError, SvmlightReader, read_svmlight

from .watch import one_case

# What the reader documents otherwise than scikit-learn: it refuses, and scikit-learn accepts.
DIFFERENCES = {
    "label is not finite": "a label is a class or a relevance, and nan is none",
    "value is not a finite": "no estimator learns from nan or infinity, and the line is known here",
    "relevance is negative": "with query ids labels are relevances, at least 0",
    "expected qid:ID": "with query ids each row must say its query; scikit-learn reads an absent one as it likes",
    "is longer than": "memory is bounded by chunk_bytes",
}
WIDEST = 2**31 - 1


def run(seed: int) -> str:
    random = np.random.default_rng(seed)
    how = draw_how(random)
    text = draw_text(random, how)
    if random.random() < 0.6:
        text = mutated(random, text)
    with one_case((how, text), "error") as folder:
        path = folder / "file.svm"
        path.write_bytes(text)
        return compare(random, str(path), text, how)


def draw_how(random: np.random.Generator) -> dict[str, Any]:
    kind = random.integers(5)
    return {
        "multilabel": bool(kind == 1),
        "query_id": bool(kind == 2),
        "sequence_id": bool(kind == 3),
        "zero_based": [True, False, "auto"][random.integers(3)],
        "n_features": None if random.random() < 0.6 else int(random.integers(1, 30)),
        "dtype": np.float32 if random.random() < 0.3 else np.float64,
    }


def has_ids(how: dict[str, Any]) -> bool:
    """Tell whether rows have the id of a query or of a sequence."""
    return how["query_id"] or how["sequence_id"]


# ---------------------------------------------------------------------------------------------------------------- texts


def draw_text(random: np.random.Generator, how: dict[str, Any]) -> bytes:
    lines, qid = [], 0
    for _ in range(random.choice([0, 1, 2, 5, 12, 40], p=[0.02, 0.08, 0.2, 0.3, 0.3, 0.1])):
        qid = int(random.choice([qid, qid + 1, random.integers(-3, 9)], p=[0.6, 0.3, 0.1]))
        lines.append(draw_line(random, how, qid))
    end = b"\r\n" if random.random() < 0.2 else b"\n"
    return end.join(lines) + (end if random.random() < 0.7 else b"")


def draw_line(random: np.random.Generator, how: dict[str, Any], qid: int) -> bytes:
    """Draw a line: a row, or now and then a comment or nothing."""
    odd = random.random()
    if odd < 0.08:
        return [b"", b"   ", b"# all of it 1:2", b"\t"][random.integers(4)]
    first = 0 if how["zero_based"] is True or random.random() < 0.1 else 1
    indices = np.flatnonzero(random.random(random.choice([4, 12, 29])) < 0.4) + first
    if random.random() < 0.02:
        indices = np.append(indices, random.choice([10**6, 2**31 - 2, 2**31, 2**40]))
    fields = [draw_label(random, how)]
    if has_ids(how) or random.random() < 0.05:
        fields.append(b"qid:%d" % qid if random.random() < 0.97 else b"qid:%d" % (2**62 + qid))
    fields += [b"%d:%s" % (index, draw_number(random)) for index in indices]
    space = [b" ", b" ", b"  ", b"\t"][random.integers(4)]
    line = space.join(fields) if fields[0] or not how["multilabel"] else space.join(fields[1:])
    tail = [b"", b"", b"", b" ", b" # a comment 3:4", b"#x"][random.integers(6)]
    return line + tail


def draw_label(random: np.random.Generator, how: dict[str, Any]) -> bytes:
    """Draw a label, or with `multilabel` labels with commas between them."""
    if how["multilabel"]:
        return b",".join(b"%d" % label for label in random.integers(0, 6, random.integers(0, 4)))
    if random.random() < 0.9:
        return b"%d" % random.integers(0, 4)
    return [b"-1", b"+1", b"1.5", b"2e0", b"1e300", b"-0"][random.integers(6)]


def draw_number(random: np.random.Generator) -> bytes:
    """Draw a number, in any way of writing it."""
    if random.random() < 0.7:
        return f"{random.standard_normal():.{random.integers(1, 20)}g}".encode()
    if random.random() < 0.6:
        digits = str(int(random.integers(10 ** random.integers(1, 19))) * 10 ** int(random.integers(3)))
        point = int(random.integers(len(digits) + 1))
        exponent = f"{'eE'[random.integers(2)]}{random.integers(-40, 30)}" * int(random.integers(2))
        return f"{'-' * int(random.integers(2))}{digits[:point]}.{digits[point:]}{exponent}".encode()
    odd = [
        "9007199254740993",
        "9007199254740993e-22",
        "9007199254740995e23",
        "1_0.2_5",
        "0",
        "-0.0",
        "1e-320",
        "1e308",
        "3.5e38",
        "1E5",
        "+.5",
        "5.",
        "00012",
        "1e-400",
        "0.1000000000000000055511151231257827",
    ]
    return odd[random.integers(len(odd))].encode()


def mutated(random: np.random.Generator, text: bytes) -> bytes:
    """Change some bytes, or cut and join lines."""
    data = bytearray(text)
    signs = b"0123456789:,.-+#eE \t\r\n\x00\x0b\x0c\xffqidnafx_"
    for _ in range(random.integers(1, 4)):
        if not data:
            break
        at, how = int(random.integers(len(data))), random.integers(5)
        if how < 2:
            data[at] = signs[random.integers(len(signs))]
        elif how == 2:
            data.insert(at, signs[random.integers(len(signs))])
        elif how == 3:
            del data[at : at + int(random.integers(1, 6))]
        else:
            data[at:at] = [b"nan", b"inf", b"1e999", b"-1", b"qid:", b"::", b"1:1 1:1", b"0:1 ", b"0x1p3", b"1_0"][
                random.integers(10)
            ]
    return bytes(data)


# ----------------------------------------------------------------------------------------------------------- comparison


def compare(random: np.random.Generator, path: str, text: bytes, how: dict[str, Any]) -> str:
    """Read the text by both, at once and in small chunks, now and then on threads."""
    rows, error = read(path, how, chunk_rows=10_000)
    n_jobs = int(random.integers(1, 4)) if random.random() < 0.1 else None
    rows_by_chunks, error_by_chunks = read(path, how, chunk_rows=int(random.integers(1, 7)), n_jobs=n_jobs)
    check_same_rows(rows_by_chunks, rows, "in chunks of another size")
    assert str(error_by_chunks) == str(error), f"{error_by_chunks} in chunks of another size, or {error}"
    if random.random() < 0.1:
        check_cache(random, path, how)
    if error is None:
        check_same_rows(rows, oracle(text, how), "by scikit-learn")
        check_whole(path, rows, how)
        return "read"
    assert re.search(r"line \d+: .*\w", str(error)), f"no line and no reason: {error}"
    assert 1 <= error.line_number <= text.count(b"\n") + 1
    if how["zero_based"] != "auto":
        check_refusal(rows, error, text, how)
    return "refused"


def check_whole(path: str, rows: Any, how: dict[str, Any]) -> None:
    """Check that the file as a whole has the rows of its chunks."""
    X, y, *third = read_svmlight(path, **how)
    if rows is None:
        assert X.shape[0] == len(third[0] if has_ids(how) else np.arange(y.shape[0])) == 0
        return
    check_same_rows((X, labels(third[0], y) if how["multilabel"] else y, third[0] if has_ids(how) else None), rows, "in chunks")


def check_cache(random: np.random.Generator, path: str, how: dict[str, Any]) -> None:
    """Check that a cache holds what is parsed, also for another width and base, and that a damaged one is refused."""
    chunks = {"chunk_rows": int(random.integers(1, 7)), "n_jobs": 1 if random.random() < 0.1 else None}
    other = {**how, "zero_based": [True, False, "auto"][random.integers(3)], "n_features": [None, 4, 29][random.integers(3)]}
    for form in (how, other, how):
        expected, error = read(path, form, **chunks)
        rows, cached_error = read(path, form, **chunks, cache=True)
        check_same_rows(rows, expected, "without a cache")
        assert str(cached_error) == str(error), f"{cached_error} with a cache, {error} without"
    cache = f"{path}.cache"
    if os.path.exists(cache):
        whole = os.path.getsize(cache)
        os.truncate(cache, int(random.integers(whole)))
        try:
            read(path, how, **chunks, cache=True)
        except ValueError as refused:
            assert "is damaged" in str(refused), refused
        else:
            raise AssertionError(f"a cache of {whole} bytes is read though it was cut to {os.path.getsize(cache)}")
        os.unlink(cache)
    assert not [name for name in os.listdir(os.path.dirname(path)) if name.endswith(".part")], "a part is left"


def check_refusal(rows: Any, error: BrokenLineError, text: bytes, how: dict[str, Any]) -> None:
    """Check that scikit-learn refuses the line too, or that the difference is documented, and accepts those before it."""
    lines = text.split(b"\n")[: error.line_number]
    before = b"".join(line + b"\n" for line in lines[:-1])
    good = oracle(before, how)
    if not has_ids(how):
        check_same_rows(rows, good, "before the broken line")
    if not any(reason in str(error) for reason in DIFFERENCES):
        try:
            oracle(before + lines[-1], how)
        except (ValueError, OverflowError):
            return
        raise AssertionError(f"scikit-learn accepts what is refused: {error}")


def read(path: str, how: dict[str, Any], **chunks: Any) -> tuple[Any, BrokenLineError | None]:
    """Read all rows by chunks: X, the labels as lists, the queries; and what the first broken line raised."""
    found = SvmlightReader(path, **how, **chunks).scan()
    classes = found.classes
    if found.error is not None:
        # A scan ends there: what it finds of width and labels is of the rows before, and may not hold for the broken one.
        how = {**how, "n_features": how["n_features"] or WIDEST, "zero_based": bool(how["zero_based"])}
        classes = labels_in(path)
    reader, parts, error = SvmlightReader(path, **how, **chunks, classes=classes if how["multilabel"] else None), [], None
    try:
        parts.extend(reader)
    except BrokenLineError as broken:
        error = broken
    if how["n_features"] in (None, WIDEST):
        assert str(found.error) == str(error), f"scan says {found.error}, and iteration {error}"
        assert found.n_rows == sum(X.shape[0] for X, _, _ in parts)
    if not parts:
        return None, error
    X = sparse.vstack([X for X, _, _ in parts], format="csr")
    y = [labels(reader.classes, part) for _, part, _ in parts] if how["multilabel"] else [y for _, y, _ in parts]
    if not has_ids(how):
        return (X, np.concatenate(y), None), error
    ids = [part for _, _, part in parts]
    assert all(before[-1] != after[0] for before, after in pairwise(ids)), "a query or sequence is in two chunks"
    if how["n_features"] in (None, WIDEST):
        check_number(found, np.concatenate(ids), how)
    return (X, np.concatenate(y), np.concatenate(ids)), error


def check_number(found: Any, ids: np.ndarray, how: dict[str, Any]) -> None:
    """Check that a scan counts the queries, or the sequences, that are read."""
    n, none = (found.n_queries, found.n_sequences) if how["query_id"] else (found.n_sequences, found.n_queries)
    assert none is None
    assert n == 1 + np.count_nonzero(np.diff(ids)), f"the scan counts {n} of {ids}"


def labels_in(path: str) -> list[float]:
    """List all that may be a label in a file."""
    found = set()
    with open(path, "rb") as file:
        for token in re.findall(rb"[^\s,:#]+", file.read()):
            with suppress(ValueError):
                found.add(float(token))
    return [label for label in found if np.isfinite(label)]


def labels(classes: np.ndarray, indicators: Any) -> np.ndarray:
    """List the labels of each row."""
    rows = np.empty(indicators.shape[0], dtype=object)
    for i in range(indicators.shape[0]):
        rows[i] = tuple(classes[indicators[[i]].indices].tolist())
    return rows


def oracle(text: bytes, how: dict[str, Any]) -> Any:
    """Read all rows by scikit-learn; None where there are none."""
    known = {name: how[name] for name in ["multilabel", "zero_based", "n_features", "dtype"]}
    found = load_svmlight_file(BytesIO(text), query_id=has_ids(how), **known)
    X, y, qid = found if has_ids(how) else (*found, None)
    if how["multilabel"]:
        sets = np.empty(len(y), dtype=object)
        sets[:] = [tuple(sorted(set(row))) for row in y]
        y = sets
    return (X, y, qid) if X.shape[0] else None


def check_same_rows(rows: Any, others: Any, what: str) -> None:
    """Check that the rows, labels and queries are the same, to the last bit."""
    assert (rows is None) == (others is None), f"there are rows, or none, {what}"
    if rows is None:
        return
    (X, y, qid), (Z, z, other_qid) = rows, others
    assert X.shape[0] == Z.shape[0], f"{X.shape[0]} rows, and {Z.shape[0]} {what}"
    assert X.dtype == Z.dtype
    for part in ["data", "indices", "indptr"]:
        assert getattr(X, part).astype(getattr(Z, part).dtype).tobytes() == getattr(Z, part).tobytes(), (
            f"{part} of X differ {what}"
        )
    assert all(a == b for a, b in zip(y, z, strict=True)), f"labels differ {what}: {y}, {z}"
    assert qid is None or np.array_equal(qid, other_qid), f"queries differ {what}: {qid}, {other_qid}"
