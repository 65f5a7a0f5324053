"""Fuzz checkpoints: a damaged file is refused by name, or does as the whole one does; a forged one teaches nothing strange."""

import os
import pickle
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_predtron.mixing._checkpoint import MAGIC

from . import array_files
from .array_files import forged
from .damage import damaged
from .mixing import Mixture, draw_mixture, state_of
from .models import draw
from .watch import Watch, one_case

OF_ONE_FIT = 20  # files that are damaged
NUMBERS = [*array_files.NUMBERS, np.nan, np.inf, -np.inf]
THINGS = [*array_files.THINGS, *NUMBERS[-3:], ["a"], {"fit": 1}]
NAMES = ["x", "", "sum/x", "sum/weights.total", "sum/weights.mass", "mean/", "moments/x/rows"]


@dataclass(frozen=True)
class Kept:
    """Hold a fit, the files of some of its rounds and of another's, and what it comes to."""

    case: Mixture
    whole: bytes
    other: bytes
    expected: bytes

    def go_on(self, path: str) -> Any:
        return self.case.fit(self.case.new(checkpoint=path))


def run(seed: int) -> str:
    about: list[Any] = []
    with one_case(about) as folder:
        kept = kept_of(seed // OF_ONE_FIT)
        if kept is None:
            return "refused"
        random, path = np.random.default_rng(seed), str(folder / "state")
        what, damage = draw(random, DAMAGES)
        about += [kept.case, what]
        Path(path).write_bytes(damage(random, kept))
        Watch.note(what)
        return check(kept, path, is_forged=what == "forged")


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
    return pickle.dumps(state_of(mixed))


def check(kept: Kept, path: str, *, is_forged: bool) -> str:
    """Go on from a file: it is refused, or the result is the right one; of a file with a right sum it is finite."""
    before = Path(path).read_bytes()
    try:
        mixed = kept.go_on(path)
    except ValueError as error:
        assert is_forged or f"checkpoint={path!r}" in str(error), f"the file is not named: {error}"
        assert str(error).isprintable() and len(str(error)) < 2000, f"a message of {len(str(error))} characters: {error}"
        if f"checkpoint={path!r}" in str(error):
            assert Path(path).read_bytes() == before, "a file that was refused was changed"
        return "refused by name"
    finally:
        assert os.listdir(os.path.dirname(path)) == ["state"], "a part is left"
    if is_forged:
        model = mixed.estimator_._model.learner.weights
        values = [*model.last(), *model.mean(), mixed.loss_curve_, mixed.mixed_loss_]
        assert all(np.isfinite(value).all() for value in values), "the model is not finite"
        return "taken"
    assert result(mixed) == kept.expected, "another result than that of the whole file"
    return "gone on from"


def spliced(random: np.random.Generator, kept: Kept) -> bytes:
    """Continue with another file in the middle."""
    at = int(random.integers(min(len(kept.whole), len(kept.other))))
    return kept.whole[:at] + kept.other[at:]


def blank(random: np.random.Generator, kept: Kept) -> bytes:
    """Put zeros where a block of the disk was not written."""
    first, second = np.sort(random.integers(len(kept.whole), size=2))
    return kept.whole[:first] + bytes(second - first) + kept.whole[second:]


DAMAGES: list[tuple[str, Callable[[np.random.Generator, Kept], bytes]]] = [
    *[("damaged", lambda random, kept: damaged(random, kept.whole))] * 5,
    *[("forged", lambda random, kept: forged(random, MAGIC, kept.whole, kept.other, change, share=0.7))] * 11,
    ("a part is zeros", blank),
    ("another file follows", spliced),
    ("bytes follow", lambda random, kept: kept.whole + random.bytes(int(random.integers(1, 20)))),
    ("it is another fit's", lambda random, kept: kept.other),
    ("it is as it was", lambda random, kept: kept.whole),
    ("it is a pickle", lambda random, kept: pickle.dumps({"losses": [0.5]})),
]


def change(random: np.random.Generator, whole: Any, arrays: list[Any]) -> None:
    """Change a word of the fit or a loss; leave out, rename, permute or scale an array."""
    how, place, about = random.integers(8), random.integers(len(arrays)), whole["about"]
    if how == 0:
        about["fit"] = {**about["fit"], draw(random, list(about["fit"])): draw(random, THINGS)}
    elif how == 1:
        about["losses"] = [*about["losses"], draw(random, NUMBERS)]
    elif how == 2:
        del arrays[place], whole["arrays"][place]
    elif how == 3:
        whole["arrays"][place][0] = draw(random, [*NAMES, f"{whole['arrays'][place][0]}x"])
    elif how == 4:
        arrays[place] = random.permutation(arrays[place].ravel()).reshape(arrays[place].shape)
    elif how == 5 and arrays[place].dtype.kind == "f":
        with np.errstate(all="ignore"):
            arrays[place] = arrays[place] * draw(random, [-1, 0, 1e300, 1e-300, 1e8, np.nan, np.inf])
