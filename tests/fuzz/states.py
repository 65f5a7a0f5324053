"""Fuzz what models are unpickled from: states with anything anywhere end in an exception, or in a model that works."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from sklearn_predtron.callbacks import LossHistory

from .damage import bound_memory
from .lessons import Count, Lesson
from .models import Case, draw, draw_case
from .watch import Watch

SMALL = 40  # rounds at most
FORKED = True  # a case may ruin the memory of its process
TIMEOUT = 10.0  # seconds of a case, of which some hang


def prepare() -> None:
    bound_memory(3 * 2**30)


def run(seed: int) -> str:
    """Draw a fitted model, change a leaf of its state, and use what can be made of it."""
    random = np.random.default_rng(seed)
    found = draw_fitted(random)
    if found is None:
        return "refused"
    case, model = found
    tree = Tree(random)
    parts = tree.take_apart(model._model.learner)
    for _ in range(1 + (random.random() < 0.3)):
        tree.tamper(parts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            learner = put_together(parts)
        except Exception:  # the constructors may refuse as they like; only signals count
            return "refused"
        model._model = model._model.replace(learner=learner)
        use(model, case.lesson, random)
    return "used"


def draw_fitted(random: np.random.Generator) -> tuple[Case, Any] | None:
    """Draw a case and a model that has learned it; None if the estimator refuses the case."""
    case = draw_case(random)
    if case.lesson.wild or case.lesson.n > SMALL:
        return None
    model = clone(case.estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            (case.lesson.fit if random.random() < 0.5 else case.lesson.partial_fit)(model)
            if random.random() < 0.15:
                LossHistory(4).watch(model)
                case.lesson.part(0, 1).partial_fit(model)
        except ValueError:
            return None
    return case, model


def use(model: Any, lesson: Lesson, random: np.random.Generator) -> None:
    """Predict with a model, let it learn on, read its attributes and copy it; exceptions are as good as results."""
    calls = [
        lambda: lesson.predict(model),
        lambda: lesson.part(0, 1).partial_fit(model),
        lambda: lesson.partial_fit(model),
        lambda: lesson.predict(model),
        lambda: (model.coef_, model.intercept_, model.last_coef_),
        lambda: (model.dual_coef_, model.support_),
        lambda: model.margin(lesson.X, lesson.y),
        lambda: (model.score(lesson.X, lesson.y), model.sample_loss(lesson.X, lesson.y)),
        lambda: clone(model).set_params(warm_start=True),
        lambda: put_together(Tree(random).take_apart(model._model.learner)),
        lambda: model.set_params(warm_start=True).fit(lesson.X, lesson.y, **lesson.given()),
    ]
    for i in [0, 1, 2, *random.permutation(np.arange(3, len(calls)))[:4]]:
        Count.learned += i in (1, 2, 10)
        try:
            calls[i]()
        except Exception:  # any will do
            continue


class Made:
    """Hold what makes an object: a function, its arguments, and a state."""

    def __init__(self, function: Any, arguments: Any, state: Any):
        self.parts = [function, arguments, state]


class Tree:
    """Take objects apart into containers and leaves, and change some of them."""

    def __init__(self, random: np.random.Generator):
        self.random = random
        self.places: list[tuple[Any, Any, str]] = []  # containers, keys and owners, of everything but functions
        self.objects: list[Made] = []
        self.changed = ""

    def take_apart(self, value: Any, owner: str = "model") -> Any:
        """Turn an object of the package, and what it consists of, into `Made` and lists."""
        if isinstance(value, (tuple, list)):
            parts: Any = [self.take_apart(one, f"{owner}.{i}") for i, one in enumerate(value)]
            self.places += [(parts, i, owner) for i in range(len(parts))]
            return Sequence(type(value), parts)
        if isinstance(value, dict):
            parts = {key: self.take_apart(one, f"{owner}.{key}") for key, one in value.items()}
            self.places += [(parts, key, owner) for key in parts]
            return parts
        if not type(value).__module__.startswith("sklearn_predtron"):
            return value
        reduced = value.__reduce_ex__(2)
        state = reduced[2] if len(reduced) > 2 else None
        name = type(value).__name__
        made = Made(reduced[0], self.take_apart(reduced[1], f"{name}()"), self.take_apart(state, f"{name}.state"))
        self.places += [(made.parts, 1, name), (made.parts, 2, name)]
        self.objects.append(made)
        return made

    def tamper(self, whole: Any) -> None:
        if not self.places:
            return
        container, key, owner = self.places[self.random.integers(len(self.places))]
        old = container[key]
        container[key] = self.strange(old)
        self.changed += f"{owner}[{key!r}] {shown(old)} became {shown(container[key])}; "
        Watch.note(self.changed)

    def strange(self, value: Any) -> Any:
        """Draw something else to put in the place of a value."""
        random = self.random
        if isinstance(value, np.ndarray) and random.random() < 0.7:
            return strange_array(random, value)
        if isinstance(value, Sequence) and random.random() < 0.6:
            return strange_sequence(random, value)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and random.random() < 0.7:
            near = [-value, value + 1, value - 1, 2 * value]
            return draw(random, [*near, 0, 1, -1, 2**31, 2**62, np.nan, np.inf, 1e308, 5e-324, 3])
        other = self.places[random.integers(len(self.places))]
        anything = [None, -1, 0, 2**62, -(2**62), np.nan, "text", b"", Sequence(tuple, []), []]
        anything += [{}, np.zeros(0), np.zeros(3), True]
        return draw(random, [*anything, *self.objects[:8], other[0][other[1]], other[0][other[1]]])


def shown(value: Any, deep: bool = True) -> str:
    """Show a value in a few words."""
    if isinstance(value, Made):
        return f"an object of {getattr(value.parts[0], '__name__', '?')}"
    if isinstance(value, Sequence):
        inner = ", ".join(shown(one, False)[:12] for one in value.parts) if deep else "..."
        return f"{value.kind.__name__} of {len(value.parts)} ({inner})"[:80]
    if isinstance(value, dict):
        return f"dict of {len(value)}"
    text = f"{value.dtype}{value.shape} {value.ravel()[:4]}" if isinstance(value, np.ndarray) else repr(value)
    return " ".join(text.split())[:60]


class Sequence:
    """Hold the type and the parts of a tuple or a list."""

    def __init__(self, kind: type, parts: list[Any]):
        self.kind, self.parts = kind, parts


def strange_array(random: np.random.Generator, array: np.ndarray) -> Any:
    flat = array.ravel()
    how = random.integers(9)
    if how == 0:
        return flat[: len(flat) // 2].copy()
    if how == 1:
        return np.concatenate([flat, flat, flat[:1]])
    if how == 2:
        return array.astype(draw(random, [np.float32, np.int32, np.int64, np.uint8, object, np.complex128, ">f8", "U3"]))
    if how == 3:
        return array[None] if random.random() < 0.5 else array.reshape(-1, 1)
    if how == 4:
        return flat[:0].copy()
    if how == 5:
        return np.repeat(flat, 2)[::2]
    changed = array.copy()
    if changed.size and changed.dtype.kind in "iuf":
        values = [-1, 0, 1, 2, 7, 127] + ([2**31 - 1, -(2**31)] if changed.dtype.itemsize > 2 else [])
        values += [2**62, -(2**62)] if changed.dtype.itemsize == 8 else []
        values += [np.nan, np.inf, -np.inf, 1e300, 5e-324] if changed.dtype.kind == "f" else []
        where = random.integers(changed.size) if how < 8 else slice(None)
        with np.errstate(all="ignore"):
            try:
                changed.reshape(-1)[where] = draw(random, values)
            except OverflowError:
                return None
    return changed


def strange_sequence(random: np.random.Generator, sequence: Sequence) -> Sequence:
    """Leave out, repeat, swap or nest the parts of a sequence."""
    parts = list(sequence.parts)
    how = random.integers(5)
    if how == 0:
        parts = parts[:-1]
    elif how == 1:
        parts = parts + parts[-1:]
    elif how == 2:
        parts = [parts[i] for i in random.permutation(len(parts))]
    elif how == 3 and len(parts) > 1:
        i, j = random.permutation(len(parts))[:2]
        parts[i] = parts[j]
    elif parts:
        parts[random.integers(len(parts))] = Sequence(tuple, parts[:2])
    return Sequence(sequence.kind, parts)


def put_together(value: Any, depth: int = 0) -> Any:
    """Make an object of its parts, as unpickling does."""
    if depth > 30:
        raise ValueError("an object that holds itself")
    if isinstance(value, Sequence):
        return value.kind(put_together(one, depth + 1) for one in value.parts)
    if isinstance(value, dict):
        return {key: put_together(one, depth + 1) for key, one in value.items()}
    if not isinstance(value, Made):
        return value
    function, arguments, state = (put_together(one, depth + 1) for one in value.parts)
    made = function(*arguments)
    if state is not None:
        if hasattr(made, "__setstate__"):
            made.__setstate__(state)
        else:
            made.__dict__.update(state)
    return made
