"""Every value of a parameter that `fit` accepts survives each way of saving, at the ends of its range."""

import copy
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from golden.write import FAMILIES, data
from sklearn.base import clone

import sklearn_predtron
from sklearn_predtron import PredtronSequenceTagger
from sklearn_predtron._support.parts import Part
from sklearn_predtron.decisions import AtLeast, AtMost, ExpectedCost
from sklearn_predtron.decisions._promises import CONDITIONS
from sklearn_predtron.families.estimator.model_file import content_of

NUMBERS = [0, 1, 2, -1, 7, 40, 2**31, 2**62, 0.0, -0.0, 0.1, 0.5, 1.0, 3.5, 5e-324, 1e-300, 1e-100, 1e-9, 1e9, 1e100, 1e300]
NUMBERS += [1.7e308, -1e-300, np.float32(0.25), np.longdouble(2), Fraction(1, 3), Decimal("0.2"), np.nextafter(1, 0)]
OTHERS = [None, True, False, np.True_, "auto", "theory", "invsqrt", "pegasos", "balanced", "linear", "uniform", "fitted", "f1"]


def missed_minus_false(matrix):
    """A measure of two classes that may be below 0."""
    return float(matrix[1, 0] - matrix[0, 1])


OWN = {"missed_minus_false": missed_minus_false}


def rows_of(family):
    if family == "sequences":
        X, y, _ = data("multiclass")
        return X, y, {"sid": np.repeat(np.arange(10), 4)}
    return data(family)


def parts(kind=Part):
    """All parts that need no arguments."""
    for child in kind.__subclasses__():
        yield from parts(child)
        try:
            if child.__module__.startswith("sklearn_predtron."):  # not of other tests
                yield child()
        except (TypeError, ValueError):
            continue


def settings(model):
    """The parameters of an estimator, and those of each part that may be one of its parameters."""
    own = [name for name in model.get_params(deep=False) if name not in ("random_state", "problem")]
    found = [(None, None, name) for name in own]
    for name in own:
        fitting = [part for part in parts() if isinstance(part, tuple(model._parts_of(name)))]
        found += [(name, part, inner) for part in fitting for inner in part.get_params(deep=False)]
    return found


def drawn_decision(random):
    measure = random.choice([*CONDITIONS, "missed_minus_false"])
    bound = NUMBERS[random.integers(len(NUMBERS))]
    label = [None, 0, 1][random.integers(3)]
    kind = [AtMost, AtLeast][random.integers(2)]
    promise = kind(OWN.get(measure, str(measure)), bound, label=None if measure in OWN else label)
    return ExpectedCost(subject_to=[promise], confidence=[None, 0.5, 0.9][random.integers(3)])


def drawn(random, kind):
    """An estimator with a value of a parameter."""
    model = kind(random_state=0)
    value = (NUMBERS + OTHERS)[random.integers(len(NUMBERS + OTHERS))]
    if "reject" in model.get_params(deep=False) and random.random() < 0.2:
        return model.set_params(decision=drawn_decision(random)), "decision"
    place, part, name = (found := settings(model))[random.integers(len(found))]
    if name == "max_iter" and isinstance(value, (int, np.integer)):
        value = min(value, 40)  # not that many epochs
    if part is None:
        return model.set_params(**{name: value}), f"{name}={value!r}"
    part = clone(part)
    setattr(part, name, value)
    return model.set_params(**{place: part}), f"{place}={part!r}"


def filed(model, path):
    model.save(path, custom=OWN)
    return sklearn_predtron.load(path, custom=OWN)


def written(model):
    """All that a model file has."""
    about, arrays = content_of(model, OWN)
    return about, {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}


WAYS = {
    "pickle": lambda model, path: pickle.loads(pickle.dumps(model)),
    "deepcopy": lambda model, path: copy.deepcopy(model),
    "model file": filed,
}


@pytest.mark.filterwarnings("ignore")  # of values that are accepted, and strange
@pytest.mark.parametrize("family", [*FAMILIES, "sequences"])
def test_what_fit_accepts_is_saved(family, tmp_path, n_draws):
    X, y, given = rows_of(family)
    random, accepted = np.random.default_rng(0), 0
    for _ in range(n_draws(20, 150)):
        try:
            model, what = drawn(random, FAMILIES.get(family, PredtronSequenceTagger))
            model.fit(X, y, **given)
        except (TypeError, ValueError):
            continue
        accepted += 1
        state = written(model)
        for way, save in WAYS.items():
            assert written(save(model, tmp_path / "model")) == state, f"{what}: {way}"
        assert written(clone(model).fit(X, y, **given)) == state, f"{what}: clone"
    assert accepted > 2
