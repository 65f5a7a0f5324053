"""Fuzz checkpoints: a damaged file is refused by name, or does as the whole one does; a forged one teaches nothing strange."""

from __future__ import annotations

import json
import os
import pickle
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_predtron._support.array_file import SUM, check_sum_of, read_file, write_file
from sklearn_predtron.mixing._checkpoint import MAGIC

from .mixing import Mixture, draw_mixture, state_of
from .models import draw
from .notes import add_note
from .states import strange_array
from .watch import Watch

OF_ONE_FIT = 20  # files that are damaged
START = len(MAGIC) + SUM
NUMBERS = [0, 1, -1, 2**31, 2**62, 2**70, 0.5, -0.0, 1e308, 5e-324, np.nan, np.inf, -np.inf]
THINGS = [*NUMBERS, None, True, "", "text", "\x1b[31m", [], {}, [[]], [None], ["a"], {"fit": 1}, [1.0] * 9]

FORMS = ["<f4", ">f8", "|O", "<U9", "V8", "sum/x", [3], [-1], [0, 2**62], [2**40, 2**40], [1] * 70]
NAMES = ["x", "", "sum/x", "sum/weights.total", "sum/weights.mass", "mean/", "moments/x/rows"]

Fields = dict[str, Any]


@dataclass(frozen=True)
class Kept:
    """Hold a fit, the files of some of its rounds and of another's, and what it comes to."""

    case: Mixture
    whole: bytes
    other: bytes
    expected: bytes

    def go_on(self, path: str) -> Any:
        """Fit a mixture, from the file if there is one."""
        return self.case.fit(self.case.new(checkpoint=path))


def run(seed: int) -> str:
    """Damage a file, or forge one, and go on from it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept = kept_of(seed // OF_ONE_FIT)
        if kept is None:
            return "refused"
        random = np.random.default_rng(seed)
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "state")
            what = damaged(random, kept, path) if random.random() < 0.5 else forged(random, kept, path)
            Watch.note(what)
            try:
                return check(kept, path, forged="forged" in what)
            except BaseException as error:
                add_note(error, f"in {kept.case!r}: {what}")
                raise


@lru_cache(maxsize=1)
def kept_of(seed: int) -> Kept | None:
    """Draw a fit of some rounds that were kept; None if the estimator refuses it."""
    random = np.random.default_rng(seed)
    case = draw_mixture(random)
    if case.lesson.wild:
        return None
    rounds, contents = case.estimator.rounds, []
    try:
        with tempfile.TemporaryDirectory() as folder:
            for seed_of_fit in (case.estimator.random_state, case.estimator.random_state + 1):
                path = Path(folder) / f"state {seed_of_fit}"
                how = {"checkpoint": str(path), "random_state": seed_of_fit}
                case.fit(case.new(**how, rounds=int(random.integers(1, rounds + 1))))
                contents.append(path.read_bytes())
            fitted = case.fit(case.new(checkpoint=str(Path(folder) / "whole")))
    except ValueError:
        return None
    return Kept(case, *contents, result(fitted))


def result(mixed: Any) -> bytes:
    """Return what a mixture has learned, to the last bit."""
    return pickle.dumps(state_of(mixed))


def check(kept: Kept, path: str, *, forged: bool) -> str:
    """Go on from a file: it is refused, or the result is the right one; of a file with a right sum it is finite."""
    before = Path(path).read_bytes()
    try:
        mixed = kept.go_on(path)
    except ValueError as error:
        assert forged or f"checkpoint={path!r}" in str(error), f"the file is not named: {error}"
        assert str(error).isprintable() and len(str(error)) < 2000, f"a message of {len(str(error))} characters: {error}"
        if f"checkpoint={path!r}" in str(error):
            assert Path(path).read_bytes() == before, "a file that was refused was changed"
        return "refused by name"
    finally:
        assert os.listdir(os.path.dirname(path)) == ["state"], "a part is left"
    if forged:
        model = mixed.estimator_._model.learner.weights
        values = [*model.last(), *model.mean(), mixed.loss_curve_, mixed.mixed_loss_]
        assert all(np.isfinite(value).all() for value in values), "the model is not finite"
        return "taken"
    assert result(mixed) == kept.expected, "another result than that of the whole file"
    return "gone on from"


# --------------------------------------------------------------------------------------------------------------- damages


def damaged(random: np.random.Generator, kept: Kept, path: str) -> str:
    """Write a file with some bytes changed, and say how."""
    kind = draw(random, list(DAMAGES))
    Path(path).write_bytes(bytes(DAMAGES[kind](random, bytearray(kept.whole), kept.other)))
    return kind


def places(random: np.random.Generator, data: bytearray, size: int = 1) -> tuple[int, int]:
    """Draw two places of so many bytes, in order; more often near the start, where the words are."""
    most = max(1, (min(len(data), 600) if random.random() < 0.3 else len(data)) - size)
    first, second = sorted(random.integers(0, most, 2).tolist())
    return first, second


def flipped(random: np.random.Generator, data: bytearray, other: bytes) -> bytearray:
    for _ in range(random.integers(1, 6)):
        data[places(random, data)[0]] ^= 1 << int(random.integers(8))
    return data


def swapped(random: np.random.Generator, data: bytearray, other: bytes) -> bytearray:
    """Let two words of the arrays, or of the whole, change places."""
    start = data.index(b"\n", START) + 1 if random.random() < 0.7 else 0
    n = (len(data) - start) // 8
    if n > 1:
        i, j = (start + 8 * int(k) for k in random.permutation(n)[:2])
        data[i : i + 8], data[j : j + 8] = data[j : j + 8], data[i : i + 8]
    return data


def cut(random: np.random.Generator, data: bytearray, other: bytes) -> bytearray:
    return data[: int(random.integers(len(data)))]


def without(random: np.random.Generator, data: bytearray, other: bytes) -> bytearray:
    first, second = places(random, data)
    return data[:first] + data[second:]


def repeated(random: np.random.Generator, data: bytearray, other: bytes) -> bytearray:
    first, second = places(random, data)
    return data[:second] + data[first:]


def blank(random: np.random.Generator, data: bytearray, other: bytes) -> bytearray:
    """Put zeros where a block of the disk was not written."""
    first, second = places(random, data)
    data[first:second] = bytes(second - first)
    return data


def spliced(random: np.random.Generator, data: bytearray, other: bytes) -> bytearray:
    """Go on with another file in the middle."""
    at = int(random.integers(min(len(data), len(other))))
    return data[:at] + other[at:]


DAMAGES: dict[str, Callable[[np.random.Generator, bytearray, bytes], bytearray]] = {
    "bits are flipped": flipped,
    "words change places": swapped,
    "the end is missing": cut,
    "a part is missing": without,
    "a part is repeated": repeated,
    "a part is zeros": blank,
    "another file follows": spliced,
    "bytes follow": lambda random, data, other: data + random.bytes(int(random.integers(1, 20))),
    "it is another fit's": lambda random, data, other: bytearray(other),
    "it is as it was": lambda random, data, other: data,
    "it is a pickle": lambda random, data, other: bytearray(pickle.dumps({"losses": [0.5]})),
}


# --------------------------------------------------------------------------------------------------- files with a right sum


def forged(random: np.random.Generator, kept: Kept, path: str) -> str:
    """Write a file that says something else with a sum that is right, and say what."""
    Path(path).write_bytes(kept.whole)
    about, arrays = read_file(path, MAGIC)
    Path(path).write_bytes(kept.other)
    others = read_file(path, MAGIC)[1]
    said = "forged:"
    for _ in range(random.integers(1, 4)):
        said += f" {tamper_with_words(random, about) if random.random() < 0.3 else tamper_with_arrays(random, arrays, others)};"
    arrays = {name: np.asarray(value) for name, value in arrays.items()}
    if any(value.dtype.kind not in "biuf" for value in arrays.values()) or random.random() < 0.2:
        return f"{said} {write_anything(random, path, about, arrays)}"
    write_file(path, MAGIC, about, arrays)
    return said


def tamper_with_words(random: np.random.Generator, about: Any) -> str:
    """Change what the line of JSON says."""
    name = draw(random, list(about) or ["losses"])
    if name == "fit" and isinstance(about.get("fit"), dict) and random.random() < 0.8:
        name = draw(random, list(about["fit"]) or ["format"])
        about["fit"] = {**about["fit"], name: draw(random, THINGS)}
    elif random.random() < 0.2:
        about.pop(name, None)
    elif name == "losses" and random.random() < 0.5:
        about[name] = [*about.get(name, []), draw(random, NUMBERS)] if isinstance(about.get(name, []), list) else []
    else:
        about[name] = draw(random, THINGS)
    return name


def tamper_with_arrays(random: np.random.Generator, arrays: Fields, others: Fields) -> str:
    """Change a field, or leave it out, or take another fit's."""
    name, how = draw(random, list(arrays) or ["mean/x"]), random.integers(8)
    value = np.asarray(arrays.get(name, 0.0))
    if how == 0:
        arrays.pop(name, None)
    elif how == 1:
        arrays[draw(random, [*NAMES, f"{name}x"])] = value
    elif how == 2:
        arrays[name] = others.get(name, value)
    elif how == 3:
        arrays[name] = arrays.get(draw(random, list(arrays) or [name]), value)
    elif how == 4 and value.size:
        flat = value.ravel().copy()
        arrays[name] = flat[random.permutation(flat.size)].reshape(value.shape)
    elif how == 5 and value.dtype.kind == "f":
        with np.errstate(all="ignore"):
            arrays[name] = value * draw(random, [-1, 0, 1e300, 1e-300, 1e8, np.nan, np.inf])
    else:
        strange = strange_array(random, value)
        arrays[name] = value if strange is None else strange
    return name


def write_anything(random: np.random.Generator, path: str, about: Any, arrays: Fields) -> str:
    """Write a file whose table of arrays says something else than they are."""
    kept = {name: value for name, value in arrays.items() if value.dtype.kind in "biuf"}
    write_file(path, MAGIC, about, kept)
    content = Path(path).read_bytes()
    at = content.index(b"\n", START) + 1
    found, data = json.loads(content[START:at]), content[at:]
    table = found["arrays"]
    if table:
        row = table[random.integers(len(table))]
        row[random.integers(3)] = draw(random, [*THINGS, *FORMS])
    if random.random() < 0.2:
        found = draw(random, THINGS)
    if random.random() < 0.2:
        data = data[: int(random.integers(len(data) + 1))] + random.bytes(int(random.integers(9)))
    content = json.dumps(found).encode() + b"\n" + data
    Path(path).write_bytes(MAGIC + check_sum_of([content]) + content)
    return "and a table of something else"
