"""Files: parsing text, and learning while files are read, beside the former parser and Vowpal Wabbit."""

import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from io import BytesIO
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from benchmarks.measure import Case, Measured, interleave, ratios
from benchmarks.report import Table, spread
from benchmarks.suites.fits import verdict
from benchmarks.tasks import Options
from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.datasets import ParquetReader, SvmlightReader, read_svmlight

ROWS, WIDTH, ENTRIES = 100_000, 50_000, 76
CHUNK = 2_000
CLASSES = (-1, 1)
FORM: dict[str, Any] = {"n_features": WIDTH, "zero_based": False}
FORMER, READER, LEARNING, MEMORY = "former reader", "reader", "reader + learning", "learning, in memory"
WHOLE, SKLEARN, WABBIT = "read_svmlight", "scikit-learn", "Vowpal Wabbit"
WRITING, EPOCH, CACHED = "reader + learning + cache", "second epoch, from the cache", "second run, from the cache"
BINARY, FORMER_BINARY = f"{LEARNING}, binary", f"{FORMER} + learning, binary"
WABBIT_CACHED, PLAIN, PACKED = "Vowpal Wabbit, from its cache", "Parquet + learning", "Parquet (zstd) + learning"
PAIRS: list[tuple[str, str, float | None]] = [
    (READER, SKLEARN, None),
    (WHOLE, SKLEARN, None),
    (LEARNING, f"{FORMER} + learning", 10.0),
    (LEARNING, WABBIT, 1.4),
    (BINARY, FORMER_BINARY, None),
    (BINARY, WABBIT, None),
    *((f"{LEARNING}, n_jobs={n_jobs}", f"{LEARNING}, n_jobs=None", 1.5) for n_jobs in (1, 2)),
    (LEARNING, MEMORY, None),
    (WRITING, LEARNING, None),
    (EPOCH, MEMORY, 0.8),
    (CACHED, MEMORY, 0.8),
    (CACHED, LEARNING, None),
    (CACHED, WABBIT_CACHED, None),
    (PLAIN, MEMORY, None),
    (PACKED, MEMORY, None),
]
FEWER = 10  # the former parser reads a part of the rows: it is slow


def run(options: Options) -> list[Table]:
    """Parse, learn from memory, and do both."""
    with tempfile.TemporaryDirectory() as folder:
        found, facts = measure(Path(folder), options)
    rates = Table(
        "Text files",
        ["what", "cores", "rows", "MB", "seconds", "MB/s", "rows/s", "to learning in memory (ratio)"],
        note=(
            f"Rows of {ENTRIES} of {WIDTH:,} features, two classes, values of six decimals; the file is cached.  The "
            "former reader is scikit-learn's parser on chunks of lines.  Vowpal Wabbit reads the same rows from its own format "
            "in one pass, with hinge loss.  Caches and Parquet hold indices of 32 bits and doubles.  What takes one core is kept "
            "on it and has its CPU time counted, what may take two the time of day.  Learning is `partial_fit` on the reader's "
            "chunks with the average that chooses itself, by `PredtronClassifier` or, where it says binary, by "
            "`PredtronBinaryClassifier`, which the command line takes for two labels."
        ),
    )
    fastest = facts[MEMORY][1] / found[MEMORY].seconds
    for name, (cores, rows, size) in facts.items():
        seconds = found[name].seconds
        rate = rows / seconds
        rates.rows.append([name, cores, rows, size / 1e6, seconds, size / seconds / 1e6, rate, rate / fastest])
    beside = Table("Text files, rows a second", ["what", "beside", "times as many (ratio)", "goal", "met"])
    for name, other, goal in PAIRS:
        if name in found and other in found:
            share = facts[name][1] / facts[other][1]
            faster = [share * ratio for ratio in ratios(found[other], found[name])]
            beside.rows.append([name, other, spread(faster), *verdict(faster, goal)])
    return [rates, beside]


def measure(folder: Path, options: Options) -> tuple[dict[str, Measured], dict[str, tuple]]:
    """Times of all cases, and of each its cores, rows and bytes."""
    n = options.rows(ROWS)
    few = max(n // FEWER, 100)
    text, wabbit = write(folder, n)
    part = folder / "part.svm"
    with open(text, "rb") as file:
        part.write_bytes(b"".join(islice(file, few)))
    chunks = list(SvmlightReader(text, **FORM))
    sizes = {path: path.stat().st_size for path in (text, wabbit, part)}
    cases: dict[str, tuple[int, int, int, Callable]] = {
        "the bytes": (1, n, sizes[text], partial(read_bytes, text)),
        SKLEARN: (1, few, sizes[part], partial(load_svmlight_file, str(part), **FORM)),
        FORMER: (1, few, sizes[part], partial(use, partial(former, part))),
        f"{FORMER} + learning": (1, few, sizes[part], partial(learn, partial(former, part))),
        READER: (1, n, sizes[text], partial(use, partial(SvmlightReader, text, **FORM))),
        WHOLE: (1, n, sizes[text], partial(read_svmlight, text, **FORM)),
        FORMER_BINARY: (1, few, sizes[part], partial(learn, partial(former, part), PredtronBinaryClassifier)),
        MEMORY: (1, n, sizes[text], partial(learn, lambda: chunks)),
        LEARNING: (1, n, sizes[text], partial(learn, partial(SvmlightReader, text, **FORM))),
        BINARY: (1, n, sizes[text], partial(learn, partial(SvmlightReader, text, **FORM), PredtronBinaryClassifier)),
    }
    for n_jobs in (None, 1, 2):
        read = partial(SvmlightReader, text, **FORM, n_jobs=n_jobs)
        cases[f"{LEARNING}, n_jobs={n_jobs}"] = (2, n, sizes[text], partial(learn, read))
    if find_spec("vowpalwabbit"):
        cases[WABBIT] = (1, n, sizes[wabbit], partial(learn_by_wabbit, wabbit))
    for name, path, run in binary_files(folder, text, wabbit, chunks):
        cases[name] = (1, n, path.stat().st_size, run)
    found: dict[str, Measured] = {}
    for cores, clock in {1: process_time, 2: perf_counter}.items():
        some = [Case(name, partial(on_cores, cores, run)) for name, (wanted, _, _, run) in cases.items() if wanted == cores]
        found |= interleave(some, options.repeats, clock)
    return found, {name: case[:3] for name, case in cases.items()}


def binary_files(folder: Path, text: Path, wabbit: Path, chunks: list[tuple]) -> Iterator[tuple[str, Path, Callable]]:
    """What learns from files that are not text, or writes them, by name, with the files."""
    cache = folder / "text.cache"
    read = partial(SvmlightReader, text, **FORM, cache=cache)
    reader = read()
    use(lambda: reader)
    yield EPOCH, cache, partial(learn, lambda: reader)
    yield CACHED, cache, partial(learn, read)
    yield WRITING, text, partial(learn_and_cache, text, folder / "new.cache")
    if find_spec("vowpalwabbit"):
        known = folder / "wabbit.cache"
        learn_by_wabbit(wabbit, known)
        yield WABBIT_CACHED, known, partial(learn_by_wabbit, wabbit, known)
    if find_spec("pyarrow"):
        lists = {"label": "y", "indices": "index", "values": "value", "n_features": WIDTH}
        for name, compression in ((PLAIN, "none"), (PACKED, "zstd")):
            path = folder / f"{compression}.parquet"
            write_parquet(path, chunks, compression)
            yield name, path, partial(learn, partial(ParquetReader, path, **lists))


def write_parquet(path: Path, chunks: list[tuple], compression: str) -> None:
    """Write chunks as lists of indices and of values, each as a row group."""
    import pyarrow as pa
    import pyarrow.parquet

    names = ["index", "value", "y"]
    tables = [
        pa.table([pa.ListArray.from_arrays(X.indptr, X.indices), pa.ListArray.from_arrays(X.indptr, X.data), y], names)
        for X, y, _ in chunks
    ]
    with pa.parquet.ParquetWriter(path, tables[0].schema, compression=compression) as file:
        for table in tables:
            file.write_table(table)


def on_cores(cores: int, run: Callable, _: None) -> None:
    """Run on so many cores, where the system lets us choose."""
    if not hasattr(os, "sched_setaffinity"):
        run()
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[-cores:])
    try:
        run()
    finally:
        os.sched_setaffinity(0, before)


def write(folder: Path, n: int) -> tuple[Path, Path]:
    """Write the rows, labelled by a linear model, in both formats."""
    rng = np.random.default_rng(0)
    weights = rng.standard_normal(WIDTH + 1)
    paths = folder / "text.svm", folder / "text.vw"
    with open(paths[0], "w") as file, open(paths[1], "w") as other:
        for _ in range(n):
            indices = np.unique(rng.integers(1, WIDTH + 1, ENTRIES + 1))[:ENTRIES]
            values = np.abs(rng.standard_normal(len(indices))) / np.sqrt(len(indices))
            label = 1 if weights[indices] @ values > 0 else -1
            row = " ".join(f"{i}:{value:.6f}" for i, value in zip(indices.tolist(), values.tolist(), strict=True))
            file.write(f"{label} {row}\n")
            other.write(f"{label} | {row}\n")
    return paths


def read_bytes(path: Path) -> None:
    """Read a file, and do nothing with it."""
    buffer = bytearray(2**18)
    with open(path, "rb") as file:
        while file.readinto(buffer):
            pass


def former(path: Path) -> Iterator[tuple]:
    """Yield the chunks as the reader of 0.1 did: lines that are joined, by scikit-learn's parser."""
    with open(path, "rb") as file:
        while lines := list(islice(file, CHUNK)):
            yield (*load_svmlight_file(BytesIO(b"".join(lines)), **FORM), 0)


def use(read: Callable) -> None:
    """Take all chunks."""
    for _ in read():
        pass


def learn(read: Callable, family: type = PredtronClassifier) -> None:
    """Learn from all chunks."""
    model = family()
    for X, y, _ in read():
        model.partial_fit(X, y, classes=CLASSES)


def learn_and_cache(text: Path, cache: Path) -> None:
    """Learn from text, and write the cache."""
    cache.unlink(missing_ok=True)
    learn(partial(SvmlightReader, text, **FORM, cache=cache))


def learn_by_wabbit(path: Path, cache: Path | None = None) -> None:
    """Learn in one pass over a text file, or over its cache, which is written if it is not there."""
    from vowpalwabbit import Workspace

    cached = "" if cache is None else f" --cache_file {cache}"
    Workspace(f"--quiet --loss_function hinge --binary -b 18 -d {path}{cached}").finish()
