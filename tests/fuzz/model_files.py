"""Fuzz model files: a damaged one is refused by name, a forged one too, or it is a model, which predicts or raises ValueError."""

import resource
import tempfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

import sklearn_predtron
from sklearn_predtron import predictor
from sklearn_predtron.families.estimator.model_file import MAGIC, public_classes
from sklearn_predtron.predictor._compiled_parts import compiled

from .array_files import forged
from .damage import bound_memory, damaged
from .lessons import Lesson
from .models import draw
from .states import TIMEOUT, draw_fitted, use
from .tables import draw_table
from .watch import Watch, one_case

__all__ = ["TIMEOUT", "prepare", "run"]

OF_ONE_MODEL = 50  # files that are damaged
MEMORY = 2**29  # bytes of addresses beyond those that the process has

Drawn = tuple[bytes, Lesson]


def prepare() -> None:
    statistics = Path("/proc/self/statm")
    if statistics.exists():
        public_classes(), compiled()  # the imports count among what there is
        bound_memory(int(statistics.read_text().split()[0]) * resource.getpagesize() + MEMORY)


def run(seed: int) -> str:
    """Damage a file or forge one, and use what can be loaded."""
    random = np.random.default_rng(seed)
    is_forged = random.random() < 0.7
    with one_case("a forged file" if is_forged else "a damaged file") as folder:
        (content, lesson), (other, _) = drawn_of(seed // OF_ONE_MODEL), drawn_of(seed // OF_ONE_MODEL + 1)
        path = folder / "model"
        path.write_bytes(forged(random, MAGIC, content, other) if is_forged else damaged(random, content))
        return check(random, path, lesson, is_forged=is_forged)


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
