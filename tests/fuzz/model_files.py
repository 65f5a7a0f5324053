"""Fuzz model files: a damaged one is refused by name, a forged one too, or it is a model, which predicts or raises ValueError."""

from __future__ import annotations

import copy
import json
import os
import resource
import tempfile
import warnings
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

import sklearn_predtron
from sklearn_predtron import predictor
from sklearn_predtron._support.array_file import SUM, check_sum_of
from sklearn_predtron.families.estimator.model_file import MAGIC, public_classes
from sklearn_predtron.predictor._compiled_parts import compiled

from .damage import bound_memory, damaged
from .lessons import Lesson
from .models import draw
from .notes import add_note
from .states import TIMEOUT, draw_fitted, strange_array, use
from .tables import draw_table
from .watch import Watch

__all__ = ["TIMEOUT", "prepare", "run"]

OF_ONE_MODEL = 50  # files that are damaged
START = len(MAGIC) + SUM
NUMBERS: list[Any] = [0, 1, -1, 2, 3, 7, 255, 2**31 - 1, 2**31, 2**40, 2**62, -(2**62), 2**63, 2**70, 0.5, -0.0, 1e308, 5e-324]
THINGS = [
    *NUMBERS,
    None,
    True,
    "",
    "text",
    "predict",
    "__class__",
    "\x1b[31m",
    "zeros",
    "\ud800",
    [],
    {},
    [[]],
    [None],
    [1.0] * 9,
]
FORMS = ["float", "dict", "tuple", "scalar", "array", "mixed", "sparse", "object", "class", "custom", "eval"]
KINDS = ["<f4", ">f8", "|O", "<U9", "<U0", "V8", "<i8", "|b1", "|u1", "<M8[s]", "<c16", 3]
SHAPES: list[Any] = [[3], [-1], [0, 2**62], [2**40, 2**40], [1] * 70, [0] * 3, 5, ["1"]]

MEMORY = 2**29  # bytes of addresses beyond those that the process has

Drawn = tuple[bytes, Lesson]


def prepare() -> None:
    """Bound the memory of this process, unless a sanitizer needs the addresses."""
    sanitized = any(name in os.environ for name in ["ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LD_PRELOAD"])
    statistics = Path("/proc/self/statm")
    if not sanitized and statistics.exists():
        public_classes(), compiled()  # the imports count among what there is
        bound_memory(int(statistics.read_text().split()[0]) * resource.getpagesize() + MEMORY)


def run(seed: int) -> str:
    """Damage a file or forge one, and use what can be loaded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (content, lesson), (other, _) = drawn_of(seed // OF_ONE_MODEL), drawn_of(seed // OF_ONE_MODEL + 1)
        random = np.random.default_rng(seed)
        is_forged = random.random() < 0.7
        found = forged(random, content[START:], other[START:]) if is_forged else damaged(random, content)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            path.write_bytes(found)
            try:
                return check(random, path, lesson, is_forged=is_forged)
            except BaseException as error:
                add_note(error, f"a {'forged' if is_forged else 'damaged'} file of {len(found)} bytes")
                raise


@lru_cache(maxsize=2)
def drawn_of(seed: int) -> Drawn:
    """Draw fitted models until one can be saved, and return its file and its lesson."""
    random = np.random.default_rng(seed)
    while (found := draw_file(random)) is None:
        pass
    return found


def draw_file(random: np.random.Generator) -> Drawn | None:
    """Draw a fitted model; None if it cannot be saved."""
    found = draw_fitted(random)
    if found is None:
        return None
    case, model = found
    lesson = case.lesson
    maps = lesson.calm and "features" in model.get_params(deep=False) and model.norm in ("auto", "l2", "scaled")
    if maps and random.random() < 0.5:
        model = clone(model).set_params(features=draw(random, ["piecewise", "auto", "fourier"]))
        lesson = Lesson(draw_table(random, np.asarray(lesson.X, dtype=float)), lesson.y, qid=lesson.qid, ids=lesson.ids)
        try:
            lesson.fit(model)
        except (TypeError, ValueError):  # such as columns of times
            return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        try:
            model.save(path)
        except ValueError as error:  # of custom objects
            assert "cannot be saved in a model file" in str(error)
            return None
        return path.read_bytes(), lesson


def check(random: np.random.Generator, path: Path, lesson: Lesson, *, is_forged: bool) -> str:
    """Load a file: it is refused by name, or forged and a model, which predicts or raises ValueError, and does not crash."""
    Watch.note("loading a predictor")
    answers = loaded(predictor.load, path)
    if answers is not None:
        assert is_forged, "a damaged file is loaded"
        Watch.note("predicting")
        ask(answers, lesson)
    Watch.note("loading")
    model = loaded(sklearn_predtron.load, path)
    if model is None:
        return "refused by name" if answers is None else "predicted"
    assert is_forged, "a damaged file is loaded"
    assert type(model) in public_classes().values()
    with suppress(Exception):  # as of parameters that no estimator takes
        model.set_params(max_iter=2)  # forged, it may be more than there is time for
    Watch.note("predicting with a model")
    with suppress(ValueError, MemoryError):
        lesson.predict(model)
    Watch.note("using")
    use(model, lesson, random)
    return "used"


def loaded(load: Any, path: Path) -> Any:
    """Load a file; None if it is refused by name."""
    try:
        return load(path)
    except ValueError as error:
        text = str(error)
        assert repr(str(path)) in text, f"the file is not named: {text}"
        assert text.isprintable() and len(text) < 2000, f"a message of {len(text)} characters"
        assert "MemoryError" not in text, f"a file of {path.stat().st_size} bytes fills the memory: {text}"
        return None


def ask(answers: Any, lesson: Lesson) -> None:
    """Ask a predictor for all that it may know; ValueError is as good as a result."""
    forms: list[Any] = [lesson.X]
    if sparse.issparse(lesson.X) or (isinstance(lesson.X, np.ndarray) and lesson.X.dtype.kind in "biuf"):
        some = sparse.csr_matrix(lesson.X)
        forms = [some.toarray(), (some.data, some.indices, some.indptr)]
    for rows in forms:
        for method in ("predict", "predict_proba", "decision_function"):
            for sid in (None, "one"):
                try:
                    getattr(answers, method)(rows, sid=sid)
                except (ValueError, MemoryError):
                    continue
                except AttributeError as error:
                    assert "was saved without" in str(error), error


# ---------------------------------------------------------------------------------------------------- files with a right sum


def forged(random: np.random.Generator, content: bytes, other: bytes) -> bytes:
    """Change what a file says, and write it with the check sum of that."""
    if random.random() < 0.15:
        return summed(damaged(random, content))
    (whole, arrays), (whole_of_other, arrays_of_other) = taken_apart(content), taken_apart(other)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        if random.random() < 0.35 and arrays:
            tamper_with_arrays(random, arrays, arrays_of_other)
        else:
            tamper(random, whole["about"], whole_of_other["about"])
    return put_together(random, whole, arrays)


def summed(content: bytes) -> bytes:
    """Return the file of a content."""
    return MAGIC + check_sum_of([content]) + content


def taken_apart(content: bytes) -> tuple[Any, list[Any]]:
    """Return the JSON and the arrays of a content."""
    at = content.index(b"\n") + 1
    whole, arrays = json.loads(content[:at]), []
    for _, kind, shape in whole["arrays"]:
        arrays.append(np.frombuffer(content, kind, int(np.prod(shape)), at).reshape(shape).copy())
        at += arrays[-1].nbytes
    return whole, arrays


def put_together(random: np.random.Generator, whole: Any, arrays: list[Any]) -> bytes:
    """Return the file of some JSON and arrays."""
    table: list[Any] = [[str(i), array.dtype.str, list(array.shape)] for i, array in enumerate(arrays)]
    data = b"".join(array.tobytes() for array in arrays)
    if table and random.random() < 0.1:
        row = table[random.integers(len(table))]
        where = random.integers(3)
        row[where] = draw(random, [["x", "0", "1"], KINDS, SHAPES][where])
    return summed(json.dumps({"about": whole["about"], "arrays": table}).encode() + b"\n" + data)


def tamper_with_arrays(random: np.random.Generator, arrays: list[Any], others: list[Any]) -> None:
    """Change an array, or take another one in its place."""
    place = random.integers(len(arrays))
    if random.random() < 0.3:
        arrays[place] = draw(random, arrays + others)
        return
    if arrays[place].dtype.kind == "U":
        arrays[place] = arrays[place][:-1]
        return
    strange = strange_array(random, arrays[place])
    if isinstance(strange, np.ndarray) and strange.dtype.kind != "O":
        arrays[place] = strange


def nodes(value: Any) -> list[tuple[Any, Any]]:
    """Return all containers of JSON, with each of their keys."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        for key in one if isinstance(one, dict) else range(len(one)):
            found.append((one, key))
            if isinstance(one[key], (dict, list)):
                waiting.append(one[key])
    return found


def tamper(random: np.random.Generator, about: Any, other: Any) -> None:
    """Change something that the JSON says."""
    places = nodes(about)
    container, key = places[random.integers(len(places))]
    how, old = random.integers(10), container[key]
    if how == 0:
        del container[key]
    elif how == 1 and isinstance(container, list):
        container.insert(key, old)
    elif how == 2:
        another, at = places[random.integers(len(places))]
        container[key], another[at] = json.loads(json.dumps(another[at])), json.loads(json.dumps(old))
    elif how == 3:
        another, at = draw(random, nodes(other))
        container[key] = copy.deepcopy(another[at])
    elif how == 4:
        container[key] = copy.deepcopy({draw(random, FORMS): draw(random, [old, *THINGS])})
    elif how == 5 and isinstance(old, str):
        container[key] = draw(random, [*public_classes(), "Learner", "L2Weights", "Captured"])
    elif how < 8 and isinstance(old, (int, float)) and not isinstance(old, bool):
        container[key] = draw(random, [-old, old + 1, old - 1, 2 * old, old * 1000, *NUMBERS])
    else:
        container[key] = copy.deepcopy(draw(random, THINGS))  # what is drawn next must not change it
