"""Forge files of JSON and arrays, as model files and checkpoints are: other words and numbers, with the right check sum."""

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from sklearn_predtron._support.array_file import SUM, check_sum_of
from sklearn_predtron.families.estimator.model_file import public_classes

from .damage import damaged
from .models import draw
from .states import strange_array

Change = Callable[[np.random.Generator, Any, list[Any]], None]
NUMBERS: list[Any] = [0, 1, -1, 2, 3, 7, 255, 2**31 - 1, 2**31, 2**40, 2**62, -(2**62), 2**63, 2**70, 0.5, -0.0, 1e308, 5e-324]
WORDS = ["", "text", "predict", "__class__", "\x1b[31m", "zeros", "\ud800"]
THINGS = [*NUMBERS, None, True, *WORDS, [], {}, [[]], [None], [1.0] * 9]
FORMS = ["float", "dict", "tuple", "scalar", "array", "mixed", "sparse", "object", "class", "custom", "eval"]
KINDS = ["<f4", ">f8", "|O", "<U9", "<U0", "V8", "<i8", "|b1", "|u1", "<M8[s]", "<c16", 3]
SHAPES: list[Any] = [[3], [-1], [0, 2**62], [2**40, 2**40], [1] * 70, [0] * 3, 5, ["1"]]


def forged(
    random: np.random.Generator, magic: bytes, content: bytes, other: bytes, change: Change | None = None, share: float = 0.35
) -> bytes:
    """Change what a file says, a share of times in its arrays, and write it with the check sum of that."""
    start = len(magic) + SUM
    if random.random() < 0.15:
        return summed(magic, damaged(random, content[start:]))
    (whole, arrays), (whole_of_other, arrays_of_other) = taken_apart(content[start:]), taken_apart(other[start:])
    if change is not None:
        change(random, whole, arrays)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        if random.random() < share and arrays:
            tamper_with_arrays(random, arrays, arrays_of_other)
        else:
            tamper(random, whole["about"], whole_of_other["about"])
    return summed(magic, put_together(random, whole, arrays))


def summed(magic: bytes, content: bytes) -> bytes:
    """Return the file of a content."""
    return magic + check_sum_of([content]) + content


def taken_apart(content: bytes) -> tuple[Any, list[Any]]:
    at = content.index(b"\n") + 1
    whole, arrays = json.loads(content[:at]), []
    for _, kind, shape in whole["arrays"]:
        arrays.append(np.frombuffer(content, kind, int(np.prod(shape)), at).reshape(shape).copy())
        at += arrays[-1].nbytes
    return whole, arrays


def put_together(random: np.random.Generator, whole: Any, arrays: list[Any]) -> bytes:
    """Return the content of some JSON and arrays, whose table may say something else."""
    names = [row[0] for row in whole["arrays"]]
    table: list[Any] = [[name, array.dtype.str, list(array.shape)] for name, array in zip(names, arrays, strict=True)]
    data = b"".join(array.tobytes() for array in arrays)
    if table and random.random() < 0.1:
        row = table[random.integers(len(table))]
        where = random.integers(3)
        row[where] = draw(random, [["x", "0", "1"], KINDS, SHAPES][where])
    return json.dumps({"about": whole["about"], "arrays": table}).encode() + b"\n" + data


def tamper_with_arrays(random: np.random.Generator, arrays: list[Any], others: list[Any]) -> None:
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
